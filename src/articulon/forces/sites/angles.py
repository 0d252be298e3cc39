"""Angles between three sites."""

import math
from typing import Annotated, ClassVar, Literal

from pydantic import Field

from articulon.algebra.vectors import cross, dot
from articulon.declaration import Declaration, Dimension, Quantity, Whole
from articulon.forces.sites.bonded_derivatives import COSINE_ANGLES, HARMONIC_ANGLES
from articulon.forces.sites.listed_members import add_virial, member_table, refuse_twins
from articulon.forces.sites.nearest_images import minimum_image
from articulon.forces.sites.site_tables import ENERGY, LAPLACIAN, SiteTable
from articulon.forces.sites.site_terms import SumTerm
from articulon.kernel_variants import specialised
from articulon.kernels import jit
from articulon.model import Model


class HarmonicAngles(Declaration):
    """U = ½ k (θ − θ₀)² for each angle θ at the middle of three sites."""

    positional: ClassVar[tuple[str, ...]] = ("angles",)
    kind: Literal["harmonic-angles"] = "harmonic-angles"
    angles: Annotated[tuple[tuple[Whole, Whole, Whole], ...], Field(min_length=1)]
    """Three sites of each angle, by index; the middle one is the vertex."""
    stiffness: Annotated[Quantity | tuple[Quantity, ...], Dimension("torsional_stiffness", minimum=0)]
    """k, one number for all angles or one for each [energy/rad²]."""
    angle: Annotated[Quantity | tuple[Quantity, ...], Dimension("angle", minimum=0)]
    """θ₀, one number for all angles or one for each [rad]."""

    def check(self, model: Model, where: str) -> None:
        """Raises ModelError for sites that do not exist, parameters that do not match, and angles listed twice."""
        self.table(model, where)
        refuse_twins(model, where, self, "angles")

    def table(self, model: Model, where: str) -> SiteTable:
        """A row (k, θ₀) for each angle."""
        return member_table(model, f"{where}.angles", self.angles, stiffness=self.stiffness, angle=self.angle)

    def site_terms(self, model: Model) -> list[SumTerm]:
        """Return the angles as terms of the site forces."""
        table = self.table(model, self.kind)
        return [SumTerm(harmonic_forces, harmonic_measure, table, derivatives=HARMONIC_ANGLES)]


class CosineAngles(Declaration):
    """U = k (1 + cos θ) for each angle θ at the middle of three sites: zero if they are collinear (Everaers et al.,
    Macromolecules 53, 1901, 2020, eq. 3)."""

    positional: ClassVar[tuple[str, ...]] = ("angles",)
    kind: Literal["cosine-angles"] = "cosine-angles"
    angles: Annotated[tuple[tuple[Whole, Whole, Whole], ...], Field(min_length=1)]
    """Three sites of each angle, by index; the middle one is the vertex."""
    stiffness: Annotated[Quantity | tuple[Quantity, ...], Dimension("energy")]
    """k, one number for all angles or one for each [energy]."""

    def check(self, model: Model, where: str) -> None:
        """Raises ModelError for sites that do not exist, parameters that do not match, and angles listed twice."""
        self.table(model, where)
        refuse_twins(model, where, self, "angles")

    def table(self, model: Model, where: str) -> SiteTable:
        """A row (k,) for each angle."""
        return member_table(model, f"{where}.angles", self.angles, stiffness=self.stiffness)

    def site_terms(self, model: Model) -> list[SumTerm]:
        """Return the angles as terms of the site forces."""
        return [SumTerm(cosine_forces, cosine_measure, self.table(model, self.kind), derivatives=COSINE_ANGLES)]


@jit
def harmonic_bend(table, cell, particles, m):
    """Return the arms a and b from the vertex to the ends, forces on the ends, U, and the sum of ∇²U over the three
    sites.

    ∇_i θ = â × n̂/a and ∇_k θ = n̂ × b̂/b with n = a × b. Over the three sites, Σ|∇θ|² = 2/a² + 2/b² − 2 cos θ/(ab) and
    Σ∇²θ = [2 cos θ (1/a² + 1/b²) − 2/(ab)]/sin θ. For a straight angle the direction of n̂ is arbitrary, and the force
    is zero.
    """
    x, y, z, place, members = particles.x, particles.y, particles.z, particles.place, table.members
    i, j, k = place[members[m, 0]], place[members[m, 1]], place[members[m, 2]]
    a = minimum_image(cell, x[i] - x[j], y[i] - y[j], z[i] - z[j])
    b = minimum_image(cell, x[k] - x[j], y[k] - y[j], z[k] - z[j])
    n = cross(a, b)
    aa, bb, sine, cosine = dot(a, a), dot(b, b), math.sqrt(dot(n, n)), dot(a, b)
    theta, ab = math.atan2(sine, cosine), math.sqrt(aa * bb)
    stiffness, bent = table.rows[m, 0], theta - table.rows[m, 1]
    slope = stiffness * bent
    per = slope / sine if sine > 0.0 else 0.0 * slope
    f = cross(n, a)
    h = cross(b, n)
    s, t = per / aa, per / bb
    fi, fk = (s * f[0], s * f[1], s * f[2]), (t * h[0], t * h[1], t * h[2])
    # For a straight angle with θ₀ = 0 or π, U' and sin θ are both zero, and U'/sin θ is ±k.
    ratio = slope * ab / sine if sine > 0.0 or slope != 0.0 else math.copysign(stiffness, cosine)
    inverse, c = 1.0 / aa + 1.0 / bb, cosine / ab
    laplacian = stiffness * (2.0 * inverse - 2.0 * c / ab) + ratio * (2.0 * c * inverse - 2.0 / ab)
    return i, j, k, a, b, fi, fk, 0.5 * slope * bent, laplacian


@jit
def cosine_bend(table, cell, particles, m):
    """Return the quantities of :func:`harmonic_bend` for k (1 + cos θ).

    ∇_i cos θ = (b̂ − cos θ â)/a, and over the three sites Σ∇² cos θ = 2(1 + cos²θ)/(ab) − 4 cos θ (1/a² + 1/b²).
    """
    x, y, z, place, members = particles.x, particles.y, particles.z, particles.place, table.members
    i, j, k = place[members[m, 0]], place[members[m, 1]], place[members[m, 2]]
    a = minimum_image(cell, x[i] - x[j], y[i] - y[j], z[i] - z[j])
    b = minimum_image(cell, x[k] - x[j], y[k] - y[j], z[k] - z[j])
    stiffness, aa, bb = table.rows[m, 0], dot(a, a), dot(b, b)
    per = 1.0 / math.sqrt(aa * bb)
    c = dot(a, b) * per
    s, t, w = stiffness * c / aa, stiffness * c / bb, stiffness * per
    fi = (s * a[0] - w * b[0], s * a[1] - w * b[1], s * a[2] - w * b[2])
    fk = (t * b[0] - w * a[0], t * b[1] - w * a[1], t * b[2] - w * a[2])
    laplacian = stiffness * (2.0 * (1.0 + c * c) * per - 4.0 * c * (1.0 / aa + 1.0 / bb))
    return i, j, k, a, b, fi, fk, stiffness * (1.0 + c), laplacian


BEND = harmonic_bend
"""Placeholder for the law of an angle in the loops below."""


def angle_forces(table, cell, particles, neighbours):
    """Add −∇U of each angle to its three sites."""
    fx, fy, fz = particles.fx, particles.fy, particles.fz
    for m in range(table.members.shape[0]):
        i, j, k, _, _, fi, fk, _, _ = BEND(table, cell, particles, m)
        fx[i] += fi[0]
        fy[i] += fi[1]
        fz[i] += fi[2]
        fx[k] += fk[0]
        fy[k] += fk[1]
        fz[k] += fk[2]
        fx[j] -= fi[0] + fk[0]
        fy[j] -= fi[1] + fk[1]
        fz[j] -= fi[2] + fk[2]


def angle_measure(table, cell, particles, neighbours, result):
    """Add energy, virial and Laplacian of each angle."""
    for m in range(table.members.shape[0]):
        _, _, _, a, b, fi, fk, U, laplacian = BEND(table, cell, particles, m)
        result[ENERGY] += U
        result[LAPLACIAN] += laplacian
        add_virial(result, fi[0], fi[1], fi[2], a[0], a[1], a[2])
        add_virial(result, fk[0], fk[1], fk[2], b[0], b[1], b[2])


harmonic_forces = specialised(angle_forces, "harmonic_angle_forces", called="value", BEND=harmonic_bend)
harmonic_measure = specialised(angle_measure, "harmonic_angle_measure", called="value", BEND=harmonic_bend)
cosine_forces = specialised(angle_forces, "cosine_angle_forces", called="value", BEND=cosine_bend)
cosine_measure = specialised(angle_measure, "cosine_angle_measure", called="value", BEND=cosine_bend)
