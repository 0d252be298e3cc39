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
    """The atoms of a LAMMPS data file as free points, except for those declared rigid.

    The file is in LAMMPS units ``lj`` if the case's units are ``"lj"``, and in ``real`` units if they are
    ``"Da-nm-ps"``. Site k is the k-th atom in the order of ids; its kind is the label or number of its type.
    """

    error_class: ClassVar = ModelError

    builder: Literal["lammps-data"] = "lammps-data"
    file: str
    """Path of the data file, relative to the case."""
    sha256: str | None = None
    """SHA-256 of the file, so that a run does not continue with a different file; computed when the case is read."""
    atom_style: Literal["atomic", "bond", "angle", "molecular", "charge", "full"] | None = None
    """LAMMPS atom style, if the file does not state it."""
    boundary: str = "p p p"
    """LAMMPS boundary: ``p`` for a periodic direction; any other letter is open."""
    commands: tuple[str, ...] = ()
    """Commands of an input script that define forces, such as ``"pair_style lj/cut 2.5"``; see
    ``articulon.lammps.read_data``."""
    rigid_bonds: tuple[Identity | str, ...] = ()
    """Types of the bonds that are rigid, by number or label. A rigid bond is a joint with two degrees of freedom
    between two points."""
    rigid_groups: tuple[Identity | tuple[Identity, ...], ...] = ()
    """Groups of atoms that form one rigid body each: molecules by id, or lists of atom ids."""
    leave_out: tuple[str, ...] = ()
    """Parts of the file that articulon does not support and that are left out on purpose, such as ``"pairs"``,
    ``"impropers"`` or ``"angle 2"``."""
    chains: Flag = True
    """Whether molecules of at least four beads that form a linear chain, a ring or a star are treated as polymer
    chains, for which a run computes statistics."""

    _inferred: tuple[str, ...] = PrivateAttr(default=())

    def resolved(self, units: UnitSystem, where: str = "model") -> Self:
        """Return a copy in the given units; raises CaseError if these are not units of data files."""
        if units.name not in STYLE_OF:
            known = " or ".join(f"'{one}'" for one in STYLE_OF)
            raise CaseError(
                f"{where}.builder: LAMMPS data files need the units {known}; set case.units to one of these"
            )
        return super().resolved(units, where)

    def beside(self, source: str) -> Self:
        """Return a copy whose file is located beside a case file and recorded by a digest; raises CaseError if it is
        missing or has changed."""
        return marked(self, "file", source, "model")

    def populate(self, builder: ModelBuilder) -> None:
        """Add the bodies, sites, forces and the box; quantities are in the builder's units."""
        data = read_data_file(self.file, atom_style=self.atom_style)
        given = self.commands, self.rigid_bonds, self.rigid_groups, self.leave_out, self.chains
        self._inferred = populate(builder, data, unit_style(STYLE_OF[builder.units.name]), self.boundary, *given)

    @property
    def inferred(self) -> tuple[str, ...]:
        """Assumptions made when the model was last populated, one line each."""
        return self._inferred
