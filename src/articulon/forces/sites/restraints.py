"""Restraints of dihedral angles and distances: flat-bottomed and harmonic beyond."""

import math
from typing import Annotated, Any, ClassVar, Literal, Self

import numpy as np
from pydantic import model_validator

from articulon.declaration import Declaration, Dimension, Quantity, Whole
from articulon.forces.atom_names import sites_of_atoms, sites_of_torsion
from articulon.forces.sites.bonded_derivatives import bond_passes, dihedral_passes
from articulon.forces.sites.bonds import bond_forces, bond_measure
from articulon.forces.sites.dihedrals import dihedral, dihedral_forces, dihedral_measure
from articulon.forces.sites.listed_members import member_table, nearest_image
from articulon.forces.sites.nearest_images import cell_of
from articulon.forces.sites.site_positions import site_positions
from articulon.forces.sites.site_tables import SiteTable
from articulon.forces.sites.site_terms import SumTerm
from articulon.kernel_variants import specialised
from articulon.kernels import jit
from articulon.model import Model

INITIAL = "initial"
"""Word for the value in the model's initial coordinates."""


class DihedralRestraint(Declaration):
    """U = ½ k max(0, |φ − φ₀| − w)² for each dihedral angle φ, with the difference wrapped into [−π, π].

    Without a tolerance w the restraint is harmonic; with a tolerance, no force acts while |φ − φ₀| ≤ w.
    """

    positional: ClassVar[tuple[str, ...]] = ("torsion",)
    kind: Literal["dihedral-restraint"] = "dihedral-restraint"
    not_differentiated: ClassVar[tuple[str, ...]] = ("tolerance",)
    torsion: str | tuple[str, ...] = ()
    """Torsions that are joint coordinates, by name: ``"phi:A:TRP2"``, or a list of them."""
    atoms: tuple[str, str, str, str] | None = None
    """In place of a torsion, four atoms by chain, residue and name: ``"A:TRP2:CA"`` and so on; the two middle atoms are
    the axis."""
    sites: tuple[Whole, Whole, Whole, Whole] | None = None
    """In place of a torsion, four sites, by index."""
    angle: Literal["initial"] | Annotated[Quantity, Dimension("angle")] = INITIAL
    """φ₀, by default the angle in the model's initial coordinates [rad]."""
    tolerance: Annotated[Quantity, Dimension("angle", minimum=0)] = 0.0
    """Tolerance w [rad]."""
    stiffness: Annotated[Quantity, Dimension("torsional_stiffness", minimum=0)]
    """k [energy/rad²]."""

    @model_validator(mode="after")
    def _one_way(self) -> Self:
        if sum(bool(given) for given in (self.torsion, self.atoms, self.sites)) != 1:
            raise ValueError("give one of torsion, atoms and sites")
        return self

    def check(self, model: Model, where: str) -> None:
        """Raises ModelError for torsions, atoms or sites that do not exist."""
        self.table(model, where)

    def table(self, model: Model, where: str) -> SiteTable:
        """A row (k, φ₀, w) for each dihedral."""
        members, key = self._members(model, where)
        given = {"stiffness": self.stiffness, "angle": 0.0, "tolerance": self.tolerance}
        table = member_table(model, f"{where}.{key}", members, **given)
        table.rows[:, 1] = dihedral_angles(model, table.members) if self.angle == INITIAL else float(self.angle)
        return table

    def _members(self, model: Model, where: str) -> tuple[list[tuple[int, ...]], str]:
        if self.sites is not None:
            return [self.sites], "sites"
        if self.atoms is not None:
            return [tuple(sites_of_atoms(model, self.atoms, f"{where}.atoms"))], "atoms"
        names = (self.torsion,) if isinstance(self.torsion, str) else self.torsion
        return [sites_of_torsion(model, name, f"{where}.torsion") for name in names], "torsion"

    def site_terms(self, model: Model) -> list[SumTerm]:
        """Return the restraints as terms of the site forces."""
        table = self.table(model, self.kind)
        return [SumTerm(flat_dihedral_forces, flat_dihedral_measure, table, derivatives=FLAT_DIHEDRAL)]


class DistanceRestraint(Declaration):
    """U = ½ k max(0, |r − r₀| − w)² of two sites at a distance r; in a periodic box, r is the distance of the nearest
    images.

    Without a tolerance w the restraint is harmonic; with a tolerance, no force acts while |r − r₀| ≤ w.
    """

    kind: Literal["distance-restraint"] = "distance-restraint"
    not_differentiated: ClassVar[tuple[str, ...]] = ("tolerance",)
    atoms: tuple[str, str] | None = None
    """Two atoms by chain, residue and name: ``("A:TRP2:CA", "A:TRP11:CA")``."""
    sites: tuple[Whole, Whole] | None = None
    """In place of atoms, two sites, by index."""
    distance: Literal["initial"] | Annotated[Quantity, Dimension("length", minimum=0)] = INITIAL
    """r₀, by default the distance in the model's initial coordinates [length]."""
    tolerance: Annotated[Quantity, Dimension("length", minimum=0)] = 0.0
    """Tolerance w [length]."""
    stiffness: Annotated[Quantity, Dimension("stiffness", minimum=0)]
    """k [energy/length²]."""

    @model_validator(mode="after")
    def _one_way(self) -> Self:
        if (self.atoms is None) == (self.sites is None):
            raise ValueError("give either atoms or sites")
        return self

    def check(self, model: Model, where: str) -> None:
        """Raises ModelError for atoms or sites that do not exist."""
        self.table(model, where)

    def table(self, model: Model, where: str) -> SiteTable:
        """A row (k, r₀, w)."""
        key: str = "sites" if self.atoms is None else "atoms"
        pair: Any = self.sites if self.atoms is None else tuple(sites_of_atoms(model, self.atoms, f"{where}.atoms"))
        given = {"stiffness": self.stiffness, "distance": 0.0, "tolerance": self.tolerance}
        table = member_table(model, f"{where}.{key}", [pair], **given)
        table.rows[:, 1] = separation(model, pair) if self.distance == INITIAL else float(self.distance)
        return table

    def site_terms(self, model: Model) -> list[SumTerm]:
        """Return the restraint as a term of the site forces."""
        table = self.table(model, self.kind)
        return [SumTerm(flat_distance_forces, flat_distance_measure, table, derivatives=FLAT_DISTANCE)]


def separation(model: Model, pair: tuple[int, int]) -> float:
    """Distance of two sites by their nearest images, in the model's initial coordinates [length]."""
    x = site_positions(model, model.q0)
    return float(np.linalg.norm(nearest_image(cell_of(model), (x[pair[0]] - x[pair[1]])[:, None])))


def dihedral_angles(model: Model, members: np.ndarray) -> np.ndarray:
    """Dihedral angles of four sites each, with IUPAC's sign, in the model's initial coordinates [rad], shape
    (rows,)."""
    x, cell = site_positions(model, model.q0), cell_of(model)
    i, j, k, l = (x[members[:, a]] for a in range(4))  # noqa: E741
    b1, b2, b3 = (nearest_image(cell, (to - start).T).T for start, to in ((i, j), (j, k), (k, l)))
    p, q = np.cross(b1, b2), np.cross(b2, b3)
    return np.arctan2(np.linalg.norm(b2, axis=1) * np.sum(b1 * q, axis=1), np.sum(p * q, axis=1))


@jit
def beyond(away, width):
    """Signed amount by which a deviation exceeds a tolerance; 0 within it."""
    over = abs(away) - width
    over = 0.0 if over < 0.0 else over
    return over if away >= 0.0 else -over


@jit
def flat_dihedral(phi, rows, m):
    """½ k max(0, |φ − φ₀| − w)² with the difference wrapped into [−π, π]: U, U' and U''."""
    k, turn = rows[m, 0], phi - rows[m, 1]
    turn -= 2.0 * math.pi * math.floor(turn / (2.0 * math.pi) + 0.5)
    over = beyond(turn, rows[m, 2])
    return 0.5 * k * over * over, k * over, 0.0 if over == 0.0 and rows[m, 2] > 0.0 else k


@jit
def flat_distance(r2, rows, m):
    """½ k max(0, |r − r₀| − w)²: U, −U'/r and U'' + 2U'/r."""
    k, r = rows[m, 0], math.sqrt(r2)
    over = beyond(r - rows[m, 1], rows[m, 2])
    g = -k * over / r
    curvature = 0.0 if over == 0.0 and rows[m, 2] > 0.0 else k
    return 0.5 * k * over * over, g, curvature - 2.0 * g


flat_dihedral_forces = specialised(dihedral_forces, "flat_dihedral_forces", called="value", TORSION=flat_dihedral)
flat_dihedral_measure = specialised(dihedral_measure, "flat_dihedral_measure", called="value", TORSION=flat_dihedral)
flat_distance_forces = specialised(bond_forces, "flat_distance_forces", called="value", BOND=flat_distance)
flat_distance_measure = specialised(bond_measure, "flat_distance_measure", called="value", BOND=flat_distance)
FLAT_DIHEDRAL = dihedral_passes("flat", dihedral, flat_dihedral, 0, 1)
FLAT_DISTANCE = bond_passes("flat", flat_distance, 0, 1)
