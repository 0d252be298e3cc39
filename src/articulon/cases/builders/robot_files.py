"""Models of the descriptions of others: URDF and MJCF."""

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
    """What both formats have."""

    error_class: ClassVar = ModelError

    file: str
    """The description, a path beside the case."""
    sha256: str | None = None
    """Of the file, so that a run does not go on with another; found when the case is read."""
    limits: Flag = True
    """Whether limits of joints are stops."""
    meshes: Flag = True
    """Whether meshes are looked for, and drawn."""

    _inferred: tuple[str, ...] = PrivateAttr(default=())

    def resolved(self, units: UnitSystem, where: str = "model") -> Self:
        """A copy in the given units; raises CaseError where these are not those of descriptions of robots."""
        if units.name != UNITS:
            raise CaseError(
                f"{where}.builder: descriptions of robots are in kilograms, metres and seconds; write '{UNITS}' in "
                "case.units"
            )
        return super().resolved(units, where)

    def beside(self, source: str) -> Self:
        """A copy with the file found beside a case file and its contents marked; raises CaseError for one that is not
        there or has changed."""
        return marked(self, "file", source, "model")

    def populate(self, builder: ModelBuilder) -> None:
        """Add the bodies, loops and forces."""
        robot = self._read()
        robot.populate(builder)
        self._inferred = tuple(robot.inferred)

    def _read(self) -> Robot:
        raise NotImplementedError  # of a subclass

    @property
    def inferred(self) -> tuple[str, ...]:
        """What was inferred when the model was last populated, a line each."""
        return self._inferred


class UrdfFile(RobotFile):
    """The links and joints of a URDF file; see :func:`articulon.read_urdf`."""

    builder: Literal["urdf"] = "urdf"
    root: Literal["fixed", "free"] = "fixed"
    """Whether the link that is no joint's child is fixed to the ground or free."""
    packages: dict[str, str] = {}
    """Folders of packages by the names in ``package://NAME/``, from the folder of the case; others are sought in the
    folders above the file."""

    def beside(self, source: str) -> Self:
        """See :class:`RobotFile`; folders of packages are found beside the case, too."""
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
