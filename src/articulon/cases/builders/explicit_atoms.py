"""Atoms of a model that is written out: which sites are atoms, with their names, elements, masses and residues."""

from typing import Annotated, ClassVar, Self

import numpy as np
from pydantic import Field

from articulon.building import ModelBuilder
from articulon.declaration import BodyName, Declaration, Dimension, Quantity, Whole
from articulon.errors import CaseError
from articulon.model.atoms import Atoms
from articulon.units import UnitSystem

Index = Annotated[Whole, Field(ge=0)]
OF_ATOMS = ("names", "elements", "masses", "residues")
"""Columns with one row per atom."""
OF_RESIDUES = ("residue_numbers", "insertions", "chains", "residue_kinds")
"""Columns with one row per residue, except for the residue names."""


class ExplicitTorsion(Declaration):
    """Name of the torsion that a revolute joint rotates."""

    body: BodyName
    """Body that the joint carries."""
    name: str
    """Name of the torsion, such as ``"phi:A:TRP2"``."""
    atoms: tuple[Index, Index, Index, Index]
    """The four atoms whose dihedral angle is the coordinate."""


class ExplicitAtoms(Declaration):
    """Atoms and residues, stored by columns; see ``Model.atoms``."""

    error_class: ClassVar = CaseError
    sites: tuple[Index, ...]
    """Index of the site of each atom."""
    names: tuple[str, ...]
    """Name of each atom, such as ``"CA"``."""
    elements: tuple[str, ...]
    """Chemical symbol of each atom."""
    masses: Annotated[tuple[Quantity, ...], Dimension("mass", minimum=0)]
    """Mass of each atom [mass]."""
    residues: tuple[Index, ...]
    """Residue index of each atom, in ascending order."""
    residue_names: tuple[str, ...]
    """Name of each residue."""
    residue_numbers: tuple[Whole, ...]
    """Number of each residue."""
    insertions: tuple[str, ...]
    """Insertion code of each residue, or ``""``."""
    chains: tuple[str, ...]
    """Chain of each residue, or ``""``."""
    residue_kinds: tuple[str, ...]
    """Kind of each residue: ``"amino-acid"``, ``"cap"``, ``"nucleotide"``, ``"water"``, ``"ion"`` or ``"ligand"``."""
    bonds: tuple[tuple[Index, Index], ...] = ()
    """Pairs of bonded atoms."""
    torsions: tuple[ExplicitTorsion, ...] = ()
    """Torsions of revolute joints."""

    def resolved(self, units: UnitSystem, where: str = "model.atoms") -> Self:
        """Return a copy in the given units; raises CaseError for columns of unequal length or indices out of range."""
        atoms = super().resolved(units, where)
        for columns, first in ((OF_ATOMS, "sites"), (OF_RESIDUES, "residue_names")):
            for name in columns:
                if len(getattr(self, name)) != len(getattr(self, first)):
                    raise CaseError(
                        f"{where}.{name}: expected {len(getattr(self, first))} entries, one for each of {first}, got "
                        f"{len(getattr(self, name))}"
                    )
        residues = np.array(self.residues, dtype=np.int64)
        if (np.diff(residues) < 0).any() or (residues.size and residues[-1] >= len(self.residue_names)):
            raise CaseError(f"{where}.residues: expected rows of residue_names in ascending order")
        named = [("bonds", pair) for pair in self.bonds] + [("torsions", turn.atoms) for turn in self.torsions]
        for key, members in named:
            if max(members) >= len(self.sites):
                raise CaseError(f"{where}.{key}: there is no atom {max(members)}; atoms are counted from 0")
        return atoms

    def populate(self, builder: ModelBuilder, bodies: dict[str, int], sites: int) -> None:
        """Add the atoms to a builder; ``sites`` is the index of the case's first site in the builder.

        Raises CaseError for a body or a site that does not exist.
        """
        if self.sites and max(self.sites) >= builder._site_count - sites:
            raise CaseError(f"model.atoms.sites: there is no site {max(self.sites)}; sites are counted from 0")
        for turn in self.torsions:
            if turn.body not in bodies:
                raise CaseError(f"model.atoms.torsions: there is no body '{turn.body}' that '{turn.name}' turns")
        builder.add_atoms(
            Atoms(
                site=np.array(self.sites, dtype=np.int64) + sites,
                names=self.names,
                elements=self.elements,
                masses=np.array(self.masses, dtype=np.float64),
                residue=np.array(self.residues, dtype=np.int64),
                residue_names=self.residue_names,
                residue_numbers=self.residue_numbers,
                insertions=self.insertions,
                chains=self.chains,
                residue_kinds=self.residue_kinds,
                bonds=np.array(self.bonds, dtype=np.int64).reshape(-1, 2),
                torsions={bodies[turn.body]: turn.name for turn in self.torsions},
                dihedrals={bodies[turn.body]: turn.atoms for turn in self.torsions},
            )
        )
