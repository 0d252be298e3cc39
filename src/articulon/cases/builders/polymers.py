"""Polymers: chains, stars and rings of beads, with rigid bonds or springs."""

from typing import Annotated, Any, ClassVar, Literal, Self

import numpy as np
from pydantic import Field, model_validator

from articulon.building import ModelBuilder
from articulon.cases.builders.builder_base import BaseBuilder
from articulon.cases.builders.polymer_growth import Skeleton, grown
from articulon.cases.builders.rod_chains import add_rod_chains
from articulon.declaration import Dimension, Quantity, Seed, Whole
from articulon.errors import CaseError, ModelError
from articulon.forces.sites.angles import CosineAngles
from articulon.forces.sites.bonds import FeneBonds, HarmonicBonds
from articulon.forces.sites.dihedrals import PeriodicDihedrals
from articulon.forces.sites.exclusions import Exclusions
from articulon.model.box import Box
from articulon.sizes import PARTICLE, check_size

Beads = Annotated[Whole, Field(ge=2)]


class Polymers(BaseBuilder):
    """Polymers of beads, grown without overlaps in a periodic box or in open space.

    With ``bonds = "rigid"`` bonds are massless rods: each chain is a tree of beads on swing joints, and only the bond
    directions change. With ``"fene"`` or ``"harmonic"`` the beads move freely and the bonds are springs. Two beads
    that are bonded interact by their bond alone; ``[[forces]]`` defines the interactions of all other pairs.
    """

    error_class: ClassVar = ModelError

    builder: Literal["polymers"] = "polymers"
    chains: Annotated[Whole, Field(ge=1)]
    """Number of molecules."""
    beads: Beads | tuple[Beads, ...]
    """Number of beads per molecule: one number for all, or one each."""
    architecture: Literal["linear", "ring", "star"] = "linear"
    """Architecture of all molecules. A star has a central bead with ``arms`` of equal length."""
    arms: Annotated[Whole, Field(ge=3)] | None = None
    """Number of arms of a star."""
    bonds: Literal["rigid", "fene", "harmonic"] = "rigid"
    """Kind of bond between bonded beads."""
    bond_length: Annotated[Quantity, Dimension("length", minimum=0, exclusive=True)]
    """Length of rods, and initial length of springs [length]."""
    bond_stiffness: Annotated[Quantity | None, Dimension("stiffness", minimum=0, exclusive=True)] = None
    """Stiffness k of springs [energy/length²]."""
    bond_extent: Annotated[Quantity | None, Dimension("length", minimum=0, exclusive=True)] = None
    """Maximum extension R₀ of FENE bonds [length]."""
    bond_repulsion: Annotated[Quantity | None, Dimension("energy", minimum=0)] = None
    """Strength ε of the repulsion between beads joined by a FENE bond [energy]; none by default."""
    bond_diameter: Annotated[Quantity | None, Dimension("length", minimum=0, exclusive=True)] = None
    """Diameter σ of the repulsion between beads joined by a FENE bond [length]."""
    bending_stiffness: Annotated[Quantity, Dimension("energy", minimum=0)] = 0.0
    """Bending stiffness κ of U = κ (1 + cos θ) [energy], with the bond angle θ at the middle of three beads, which is π
    for a straight chain."""
    dihedral_stiffness: Annotated[Quantity, Dimension("energy")] = 0.0
    """Stiffness k of U = k [1 + cos(n φ − φ₀)] for the dihedral angles along the backbone [energy]."""
    dihedral_multiplicity: Annotated[Whole, Field(ge=1, le=6)] = 3
    """Multiplicity n of the dihedral potential."""
    dihedral_phase: Annotated[Quantity, Dimension("angle")] = 0.0
    """Phase φ₀ of the dihedral potential [rad]."""
    mass: Annotated[Quantity, Dimension("mass", minimum=0, exclusive=True)]
    """Mass of a bead [mass]."""
    kind: str = "bead"
    """Kind of all beads, which selects the forces between sites."""
    number_density: Annotated[Quantity | None, Dimension("number_density", minimum=0, exclusive=True)] = None
    """Number of beads per volume [1/length³], for a periodic cube; used if the case has no ``[box]``."""
    bead_distance: Annotated[Quantity | None, Dimension("length", minimum=0, exclusive=True)] = None
    """Minimum distance between non-bonded beads during growth [length]; by default the bond length."""
    seed: Seed = 1
    """Seed for the growth of the chains."""

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if isinstance(self.beads, tuple) and len(self.beads) != self.chains:
            raise ValueError(f"beads: one number, or one for each of the {self.chains} chains, got {len(self.beads)}")
        if (self.architecture == "star") != (self.arms is not None):
            raise ValueError("arms is required for architecture = 'star' and allowed only there")
        for count in set(self.counts):
            if self.arms is not None and (count - 1) % self.arms:
                raise ValueError(f"beads: a star with a centre and {self.arms} equal arms cannot have {count} beads")
            if self.architecture == "ring" and count < 3:
                raise ValueError(f"beads: a ring needs at least three beads, got {count}")
        if (self.bonds == "rigid") != (self.bond_stiffness is None):
            raise ValueError("bond_stiffness is required for spring bonds and allowed only for them")
        if (self.bonds == "fene") != (self.bond_extent is not None):
            raise ValueError("bond_extent is required for FENE bonds and allowed only for them")
        if (self.bond_repulsion is None) != (self.bond_diameter is None):
            raise ValueError("give bond_repulsion and bond_diameter together")
        if self.bond_repulsion is not None and self.bonds != "fene":
            raise ValueError("bond_repulsion applies to FENE bonds only; leave it out")
        return self

    @property
    def counts(self) -> tuple[int, ...]:
        """Number of beads of each molecule."""
        return self.beads if isinstance(self.beads, tuple) else (self.beads,) * self.chains

    def populate(self, builder: ModelBuilder) -> None:
        """Add the chains, their bonds, and a box if there is none; quantities are in the builder's units."""
        total = sum(self.counts)
        check_size(total, PARTICLE, "beads", "model.beads")
        edges, volume = self._space(builder, total)
        skeleton = self.skeleton()
        bond = float(self.bond_length)
        distance = bond if self.bead_distance is None else float(self.bead_distance)
        x = grown(skeleton, bond, distance, edges, volume, self.seed)
        first_site = builder.site_count
        if self.bonds == "rigid":
            add_rod_chains(builder, skeleton, x, np.full(total, float(self.mass)), [self.kind] * total)
        else:
            builder.add_particles(total, mass=float(self.mass), positions=x, kind=self.kind)
        starts = np.concatenate([[0], np.cumsum(self.counts)])
        sites = first_site + np.arange(total)
        flags = {"ring": self.architecture == "ring", "branched": self.architecture == "star"}
        builder.add_chains(sites, starts, **flags)
        for force in self._forces(skeleton, first_site):
            builder.add_force(force)

    def skeleton(self) -> Skeleton:
        """Connectivity of the beads."""
        parent: list[int] = []
        molecule: list[int] = []
        closing: list[tuple[int, int]] = []
        for number, count in enumerate(self.counts):
            start = len(parent)
            arm = None if self.arms is None else (count - 1) // self.arms
            for k in range(count):
                # The first bead of each arm is bonded to the central bead, all others to their predecessor.
                begins = arm is not None and k > 0 and (k - 1) % arm == 0
                parent.append(-1 if k == 0 else start if begins else start + k - 1)
                molecule.append(number)
            if self.architecture == "ring":
                closing.append((start + count - 1, start))
        return Skeleton(np.array(molecule), np.array(parent), np.array(closing, dtype=np.int64).reshape(-1, 2))

    def _space(self, builder: ModelBuilder, total: int) -> tuple[np.ndarray | None, np.ndarray]:
        """Return the edges of the periodic box, or None without one, and the edges of the region in which chains
        begin."""
        if self.number_density is not None:
            if builder.box is not None:
                raise CaseError("model.number_density: the case also has a [box]; leave one of them out")
            edge = float(np.cbrt(total / float(self.number_density)))
            builder.box = Box(lengths=(edge,) * 3)
        if builder.box is None:
            longest = float(self.bond_length) * max(self.counts)
            return None, np.full(3, longest * self.chains ** (1.0 / 3.0))
        box = builder.box
        if not box.periodic.all() or any(float(tilt) for tilt in box.tilts):
            raise CaseError("box: chains need a rectangular box that is periodic in all directions or in none")
        lengths = np.array([float(x) for x in box.lengths])
        return lengths, lengths

    def _forces(self, skeleton: Skeleton, first: int) -> list[Any]:
        """Bonds, angles and dihedrals, and the exclusion of bonded pairs from the forces between sites."""
        bonds: Any = _indices(first + skeleton.bonds)
        found: list[Any] = [Exclusions(bonds=bonds, bonds_apart=1)]
        if self.bonds == "harmonic" and self.bond_stiffness is not None:
            found.append(HarmonicBonds(bonds=bonds, stiffness=self.bond_stiffness, length=self.bond_length))
        elif self.bond_extent is not None and self.bond_stiffness is not None:
            repulsion: dict[str, Any] = {}
            if self.bond_repulsion is not None:
                repulsion = {"epsilon": self.bond_repulsion, "sigma": self.bond_diameter}
            found.append(FeneBonds(bonds=bonds, stiffness=self.bond_stiffness, extent=self.bond_extent, **repulsion))
        three, four = backbone(skeleton)
        if float(self.bending_stiffness) and len(three):
            angles: Any = _indices(first + three)
            found.append(CosineAngles(angles=angles, stiffness=self.bending_stiffness))
        if float(self.dihedral_stiffness) and len(four):
            dihedrals: Any = _indices(first + four)
            options = {"multiplicity": self.dihedral_multiplicity, "phase": self.dihedral_phase}
            found.append(PeriodicDihedrals(dihedrals=dihedrals, stiffness=self.dihedral_stiffness, **options))
        return found


def backbone(skeleton: Skeleton) -> tuple[np.ndarray, np.ndarray]:
    """The three beads of each angle and the four beads of each dihedral between consecutive bonds, shapes (angles, 3)
    and (dihedrals, 4)."""
    neighbours: dict[int, list[int]] = {}
    for a, b in skeleton.bonds.tolist():
        neighbours.setdefault(a, []).append(b)
        neighbours.setdefault(b, []).append(a)
    angles = [
        (a, middle, b)
        for middle, around in sorted(neighbours.items())
        for k, a in enumerate(around)
        for b in around[k + 1 :]
    ]
    dihedrals = [
        (before, a, b, after)
        for a, b in skeleton.bonds.tolist()
        for before in neighbours[a]
        for after in neighbours[b]
        if before != b and after not in (a, before)
    ]
    return np.array(angles, dtype=np.int64).reshape(-1, 3), np.array(dihedrals, dtype=np.int64).reshape(-1, 4)


def _indices(rows: np.ndarray) -> tuple[tuple[int, ...], ...]:
    return tuple(map(tuple, rows.tolist()))
