"""Dihedral angles of four sites."""

import math
from typing import Annotated, ClassVar, Literal

from pydantic import Field

from articulon.algebra.vectors import add, cross, dot, scale, sub
from articulon.declaration import Declaration, Dimension, Quantity, Whole
from articulon.forces.sites.bonded_derivatives import dihedral_passes
from articulon.forces.sites.listed_members import add_virial, member_table, refuse_twins
from articulon.forces.sites.nearest_images import minimum_image
from articulon.forces.sites.site_tables import ENERGY, LAPLACIAN, SiteTable
from articulon.forces.sites.site_terms import SumTerm
from articulon.kernel_variants import specialised
from articulon.kernels import jit
from articulon.model import Model

Dihedrals = Annotated[tuple[tuple[Whole, Whole, Whole, Whole], ...], Field(min_length=1)]
Multiplicity = Annotated[Whole, Field(ge=1)]


class PeriodicDihedrals(Declaration):
    """U = k [1 + cos(nφ − φ₀)] for each dihedral angle φ of four sites. φ is 0 if the ends are on the same side (cis).
    It is positive if the far bond, seen along the axis, is rotated clockwise from the near one (IUPAC)."""

    positional: ClassVar[tuple[str, ...]] = ("dihedrals",)
    kind: Literal["periodic-dihedrals"] = "periodic-dihedrals"
    not_differentiated: ClassVar[tuple[str, ...]] = ("phase",)
    dihedrals: Dihedrals
    """Four sites of each dihedral, by index; the axis is between the two middle ones."""
    stiffness: Annotated[Quantity | tuple[Quantity, ...], Dimension("energy")]
    """k, one number for all dihedrals or one for each [energy]."""
    multiplicity: Multiplicity | tuple[Multiplicity, ...]
    """n, one number for all dihedrals or one for each."""
    phase: Annotated[Quantity | tuple[Quantity, ...], Dimension("angle")] = 0.0
    """φ₀, one number for all dihedrals or one for each [rad]."""

    def check(self, model: Model, where: str) -> None:
        """Raises ModelError for sites that do not exist, parameters that do not match, and dihedrals listed twice."""
        self.table(model, where)
        refuse_twins(model, where, self, "dihedrals", "multiplicity", "phase")

    def table(self, model: Model, where: str) -> SiteTable:
        """A row (k, n, φ₀) for each dihedral."""
        given = {"stiffness": self.stiffness, "multiplicity": self.multiplicity, "phase": self.phase}
        return member_table(model, f"{where}.dihedrals", self.dihedrals, **given)

    def site_terms(self, model: Model) -> list[SumTerm]:
        """Return the dihedrals as terms of the site forces."""
        return [SumTerm(periodic_forces, periodic_measure, self.table(model, self.kind), derivatives=PERIODIC)]


class HarmonicDihedrals(Declaration):
    """U = ½ k (φ − φ₀)² for each dihedral angle φ of four sites, with the difference wrapped into [−π, π]."""

    positional: ClassVar[tuple[str, ...]] = ("dihedrals",)
    kind: Literal["harmonic-dihedrals"] = "harmonic-dihedrals"
    dihedrals: Dihedrals
    """Four sites of each dihedral, by index; the axis is between the two middle ones."""
    stiffness: Annotated[Quantity | tuple[Quantity, ...], Dimension("torsional_stiffness", minimum=0)]
    """k, one number for all dihedrals or one for each [energy/rad²]."""
    angle: Annotated[Quantity | tuple[Quantity, ...], Dimension("angle")]
    """φ₀, one number for all dihedrals or one for each [rad]."""

    def check(self, model: Model, where: str) -> None:
        """Raises ModelError for sites that do not exist, parameters that do not match, and dihedrals listed twice."""
        self.table(model, where)
        refuse_twins(model, where, self, "dihedrals")

    def table(self, model: Model, where: str) -> SiteTable:
        """A row (k, φ₀) for each dihedral."""
        return member_table(model, f"{where}.dihedrals", self.dihedrals, stiffness=self.stiffness, angle=self.angle)

    def site_terms(self, model: Model) -> list[SumTerm]:
        """Return the dihedrals as terms of the site forces."""
        return [SumTerm(harmonic_forces, harmonic_measure, self.table(model, self.kind), derivatives=HARMONIC)]


@jit
def periodic(phi, rows, m):
    """k [1 + cos(nφ − φ₀)]: U, U' and U''."""
    k, n = rows[m, 0], rows[m, 1]
    angle = n * phi - rows[m, 2]
    c = k * math.cos(angle)
    return k + c, -n * k * math.sin(angle), -n * n * c


@jit
def harmonic(phi, rows, m):
    """½ k (φ − φ₀)² with the difference wrapped into [−π, π]: U, U' and U''."""
    turn = phi - rows[m, 1]
    turn -= 2.0 * math.pi * math.floor(turn / (2.0 * math.pi) + 0.5)
    return 0.5 * rows[m, 0] * turn * turn, rows[m, 0] * turn, rows[m, 0]


TORSION = periodic
"""Placeholder for the law of a dihedral in the loops below."""


@jit
def dihedral(table, cell, particles, m):
    """Return the places of the four sites, bonds b₁, b₂ and b₃, φ, and ∇φ at the four (Blondel and Karplus, J. Comput.
    Chem. 17, 1132, 1996, eq. 27)."""
    x, y, z, place, members = particles.x, particles.y, particles.z, particles.place, table.members
    i, j, k, l = place[members[m, 0]], place[members[m, 1]], place[members[m, 2]], place[members[m, 3]]  # noqa: E741
    b1 = minimum_image(cell, x[j] - x[i], y[j] - y[i], z[j] - z[i])
    b2 = minimum_image(cell, x[k] - x[j], y[k] - y[j], z[k] - z[j])
    b3 = minimum_image(cell, x[l] - x[k], y[l] - y[k], z[l] - z[k])
    p, q = cross(b1, b2), cross(b2, b3)
    axis2 = dot(b2, b2)
    axis = math.sqrt(axis2)
    phi = math.atan2(axis * dot(b1, q), dot(p, q))
    first, last = scale(-axis / dot(p, p), p), scale(axis / dot(q, q), q)
    s, t = dot(b1, b2) / axis2, dot(b3, b2) / axis2
    second = sub(scale(t, last), scale(1.0 + s, first))
    third = sub(scale(s, first), scale(1.0 + t, last))
    return (i, j, k, l), (b1, b2, b3), phi, (first, second, third, last)


def dihedral_forces(table, cell, particles, neighbours):
    """Add −∇U of each dihedral to its four sites."""
    fx, fy, fz = particles.fx, particles.fy, particles.fz
    for m in range(table.members.shape[0]):
        places, _, phi, gradients = dihedral(table, cell, particles, m)
        slope = TORSION(phi, table.rows, m)[1]
        for s in range(4):
            p, gradient = places[s], gradients[s]
            fx[p] -= slope * gradient[0]
            fy[p] -= slope * gradient[1]
            fz[p] -= slope * gradient[2]


def dihedral_measure(table, cell, particles, neighbours, result):
    """Add energy, virial and Laplacian of each dihedral; Σ∇²φ over the four sites is zero."""
    for m in range(table.members.shape[0]):
        _, (b1, b2, b3), phi, (first, second, third, last) = dihedral(table, cell, particles, m)
        U, slope, curvature = TORSION(phi, table.rows, m)
        result[ENERGY] += U
        squares = dot(first, first) + dot(second, second) + dot(third, third) + dot(last, last)
        result[LAPLACIAN] += curvature * squares
        # Positions of the other three, relative to the second.
        end = add(b2, b3)
        add_virial(result, *scale(slope, first), *b1)
        add_virial(result, *scale(-slope, third), *b2)
        add_virial(result, *scale(-slope, last), *end)


periodic_forces = specialised(dihedral_forces, "periodic_dihedral_forces", called="value", TORSION=periodic)
periodic_measure = specialised(dihedral_measure, "periodic_dihedral_measure", called="value", TORSION=periodic)
harmonic_forces = specialised(dihedral_forces, "harmonic_dihedral_forces", called="value", TORSION=harmonic)
harmonic_measure = specialised(dihedral_measure, "harmonic_dihedral_measure", called="value", TORSION=harmonic)
PERIODIC = dihedral_passes("periodic", dihedral, periodic, 0)
HARMONIC = dihedral_passes("harmonic", dihedral, harmonic, 0, 1)
