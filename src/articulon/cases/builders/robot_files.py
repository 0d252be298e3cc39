"""Models from robot descriptions: URDF and MJCF."""

from __future__ import annotations

from pathlib import Path
from typing import ClassVar, Literal, Self

from pydantic import PrivateAttr

from articulon.building import ModelBuilder
from articulon.cases.builders.builder_base import BaseBuilder
from articulon.declaration import Flag, marked
from articulon.errors import CaseError, ModelError
from articulon.robots.mjcf_reading import mjcf_robot
from articulon.robots.robot import UNITS, Robot
from articulon.robots.urdf_reading import urdf_robot
from articulon.units import UnitSystem


class RobotFile(BaseBuilder):
    """Base of the builders that read a robot description, with the settings common to URDF and MJCF."""

    error_class: ClassVar = ModelError

    file: str
    """Path of the robot description, relative to the case."""
    sha256: str | None = None
    """SHA-256 of the file, so that a run does not continue with a different file; computed when the case is read."""
    limits: Flag = True
    """Whether joint limits act as stops."""
    meshes: Flag = True
    """Whether meshes are loaded and drawn."""

    _inferred: tuple[str, ...] = PrivateAttr(default=())

    def resolved(self, units: UnitSystem, where: str = "model") -> Self:
        """Return a copy in the given units; raises CaseError if these are not the units of robot descriptions."""
        if units.name != UNITS:
            raise CaseError(
                f"{where}.builder: robot descriptions are in kilograms, metres and seconds; write '{UNITS}' in "
                "case.units"
            )
        return super().resolved(units, where)

    def beside(self, source: str) -> Self:
        """Return a copy whose file is located beside a case file and recorded by a digest; raises CaseError if it is
        missing or has changed."""
        return marked(self, "file", source, "model")

    def populate(self, builder: ModelBuilder) -> None:
        """Add the bodies, loops and forces."""
        robot = self._read()
        robot.populate(builder)
        self._inferred = tuple(robot.inferred)

    def _read(self) -> Robot:
        raise NotImplementedError  # implemented by subclasses

    @property
    def inferred(self) -> tuple[str, ...]:
        """Assumptions made when the model was last populated, one line each."""
        return self._inferred


class UrdfFile(RobotFile):
    """The links and joints of a URDF file; see :func:`articulon.read_urdf`."""

    builder: Literal["urdf"] = "urdf"
    root: Literal["fixed", "free"] = "fixed"
    """Whether the root link, which is not the child of any joint, is fixed to the ground or free."""
    packages: dict[str, str] = {}
    """Folders of packages, relative to the case, by the name in ``package://NAME/``. Other packages are searched in the
    folders above the file."""

    def beside(self, source: str) -> Self:
        """Locate the file and the package folders beside a case file; see :class:`RobotFile`."""
        made = super().beside(source)
        folder = Path(source).parent
        places = {name: str((folder / place).resolve()) for name, place in self.packages.items()}
        return made.model_copy(update={"packages": places})

    def _read(self) -> Robot:
        return urdf_robot(self.file, root=self.root, packages=self.packages, limits=self.limits, meshes=self.meshes)


class MjcfFile(RobotFile):
    """The bodies and joints of an MJCF file, compiled by MuJoCo; see :func:`articulon.read_mjcf`."""

    builder: Literal["mjcf"] = "mjcf"

    def _read(self) -> Robot:
        return mjcf_robot(self.file, limits=self.limits, meshes=self.meshes)
