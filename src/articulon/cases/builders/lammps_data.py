"""The atoms of a LAMMPS data file."""

from typing import Annotated, ClassVar, Literal, Self

from pydantic import Field, PrivateAttr

from articulon.building import ModelBuilder
from articulon.cases.builders.builder_base import BaseBuilder
from articulon.declaration import Flag, Whole, marked
from articulon.errors import CaseError, ModelError
from articulon.lammps.data_models import populate
from articulon.lammps.data_reading import read_data_file
from articulon.lammps.model_writing import STYLE_OF
from articulon.lammps.unit_styles import unit_style
from articulon.units import UnitSystem

Identity = Annotated[Whole, Field(ge=1)]


class LammpsData(BaseBuilder):
    """The atoms of a LAMMPS data file as points that move freely, but for what is said to be rigid.

    The file is in LAMMPS's units ``lj`` where the case's units are ``"lj"``, and in ``real`` where they are
    ``"Da-nm-ps"``. Site k is the k-th atom in the order of ids; its kind is the label of its type, or the number.
    """

    error_class: ClassVar = ModelError

    builder: Literal["lammps-data"] = "lammps-data"
    file: str
    """The data file, a path beside the case."""
    sha256: str | None = None
    """Of the file, so that a run does not go on with another; found when the case is read."""
    atom_style: Literal["atomic", "bond", "angle", "molecular", "charge", "full"] | None = None
    """Where the file does not say it."""
    boundary: str = "p p p"
    """LAMMPS's: ``p`` for a direction that repeats; any other is open."""
    commands: tuple[str, ...] = ()
    """What an input script says of forces beside the file, such as ``"pair_style lj/cut 2.5"``; see
    ``articulon.lammps.read_data``."""
    rigid_bonds: tuple[Identity | str, ...] = ()
    """Types of bonds, by number or label, that are rigid: joints of two freedoms between points."""
    rigid_groups: tuple[Identity | tuple[Identity, ...], ...] = ()
    """Groups of atoms that are one body each: molecules by their ids, or lists of ids of atoms."""
    leave_out: tuple[str, ...] = ()
    """What has no counterpart and is left out on purpose: ``"pairs"``, ``"impropers"``, ``"angle 2"``."""
    chains: Flag = True
    """Whether molecules of at least four beads whose bonds make a linear chain, a ring or a star are polymer chains, of
    which a run has statistics."""

    _inferred: tuple[str, ...] = PrivateAttr(default=())

    def resolved(self, units: UnitSystem, where: str = "model") -> Self:
        """A copy in the given units; raises CaseError where these are not those of data files."""
        if units.name not in STYLE_OF:
            known = " or ".join(f"'{one}'" for one in STYLE_OF)
            raise CaseError(
                f"{where}.builder: data files of LAMMPS are read in the units {known}; write it in case.units"
            )
        return super().resolved(units, where)

    def beside(self, source: str) -> Self:
        """A copy with the file found beside a case file and its contents marked; raises CaseError for one that is not
        there or has changed."""
        return marked(self, "file", source, "model")

    def populate(self, builder: ModelBuilder) -> None:
        """Add the bodies, sites, forces and the box; quantities are in the builder's units."""
        data = read_data_file(self.file, atom_style=self.atom_style)
        given = self.commands, self.rigid_bonds, self.rigid_groups, self.leave_out, self.chains
        self._inferred = populate(builder, data, unit_style(STYLE_OF[builder.units.name]), self.boundary, *given)

    @property
    def inferred(self) -> tuple[str, ...]:
        """What was inferred when the model was last populated, a line each."""
        return self._inferred
