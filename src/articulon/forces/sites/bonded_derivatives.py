"""Derivatives of bonds, angles and dihedrals of listed sites.

The force of an internal coordinate ξ is −U'(ξ) ∇ξ. It changes by −U''(ξ) δξ ∇ξ − U'(ξ) δ∇ξ with the positions of the
sites, and by −δU' ∇ξ with the parameters of its law.
"""

import math
from typing import Any

from articulon.algebra.vectors import ZERO, add, cross, dot, scale, sub
from articulon.forces.site_pair_law import pair_change
from articulon.forces.sites.nearest_images import minimum_image
from articulon.forces.sites.term_derivatives import (
    TermPasses,
    add_column,
    between_columns,
    column_of,
    take_column,
)
from articulon.kernel_variants import leaf_variant
from articulon.kernels import jit
from articulon.passes import Pass


@jit
def no_law(at, rows, m):
    """Do nothing."""
    return 0.0, 0.0, 0.0


BOND = no_law
"""Placeholder for the law of a bond."""


@jit
def bond_at(sites, table, m):
    """Return the two sites of a bond, and d from the second to the first."""
    particles = sites.particles
    x, y, z, place = particles.x, particles.y, particles.z, particles.place
    s, o = table.members[m, 0], table.members[m, 1]
    i, j = place[s], place[o]
    return s, o, minimum_image(sites.cell, x[i] - x[j], y[i] - y[j], z[i] - z[j])


@jit
def bond_adjoint(sites, total, terms, refresh, which, ends, moved, rows, charges, found):
    """Add the adjoint of bonds."""
    table, of_law = sites.tables[which], ends[0]
    for m in range(table.members.shape[0]):
        s, o, d = bond_at(sites, table, m)
        r2, change = dot(d, d), between_columns(moved, s, o)
        _, g, L = BOND(r2, table.rows, m)
        by_x = pair_change(g, L, d, change)
        add_column(found, s, by_x)
        take_column(found, o, by_x)
        for c in range(of_law.columns.size):
            at = 2 * (m * of_law.columns.size + c)
            rise = BOND(r2, of_law.rows, at)[1] - BOND(r2, of_law.rows, at + 1)[1]
            rows[m, of_law.columns[c]] += rise / of_law.size[m, c] * dot(d, change)


@jit
def bond_tangent(sites, total, terms, refresh, which, ends, moved, rows, charges, found):
    """Add the tangent of bonds."""
    table, of_law = sites.tables[which], ends[0]
    for m in range(table.members.shape[0]):
        s, o, d = bond_at(sites, table, m)
        r2, more = dot(d, d), 0.0
        _, g, L = BOND(r2, table.rows, m)
        for c in range(of_law.columns.size):
            at = 2 * (m * of_law.columns.size + c)
            rise = BOND(r2, of_law.rows, at)[1] - BOND(r2, of_law.rows, at + 1)[1]
            more += rise / of_law.size[m, c] * rows[m, of_law.columns[c]]
        changed = add(pair_change(g, L, d, between_columns(moved, s, o)), scale(more, d))
        add_column(found, s, changed)
        take_column(found, o, changed)


@jit
def no_pair_law(r2, rows, k, charges):
    """Do nothing."""
    return 0.0, 0.0, 0.0


LAW = no_pair_law
"""Placeholder for the law of listed pairs whose interaction is scaled (``exclusions.py``)."""


@jit
def scaled_adjoint(sites, total, terms, refresh, which, ends, moved, rows, charges, found):
    """Add the adjoint of listed pairs whose interaction is scaled."""
    table, of_law = sites.tables[which], ends[0]
    factor, coulomb = table.constants[0], table.constants[table.constants.size - 1]
    for m in range(table.members.shape[0]):
        s, o, d = bond_at(sites, table, m)
        r2, change, t, qq = dot(d, d), between_columns(moved, s, o), table.members[m, 2], table.constants[m + 1]
        if r2 >= table.rows[t, 0]:
            continue
        _, g, L = LAW(r2, table.rows, t, qq)
        by_x, power = scale(factor, pair_change(g, L, d, change)), factor * dot(d, change)
        add_column(found, s, by_x)
        take_column(found, o, by_x)
        for c in range(of_law.columns.size):
            at = 2 * (t * of_law.columns.size + c)
            rise = LAW(r2, of_law.rows[at:], 0, qq)[1] - LAW(r2, of_law.rows[at + 1 :], 0, qq)[1]
            rows[t, of_law.columns[c]] += rise / of_law.size[t, c] * power
        unit = coulomb * (LAW(r2, table.rows, t, 1.0)[1] - LAW(r2, table.rows, t, 0.0)[1]) * power
        charges[s] += sites.charges[o] * unit
        charges[o] += sites.charges[s] * unit


@jit
def scaled_tangent(sites, total, terms, refresh, which, ends, moved, rows, charges, found):
    """Add the tangent of listed pairs whose interaction is scaled."""
    table, of_law = sites.tables[which], ends[0]
    factor, coulomb = table.constants[0], table.constants[table.constants.size - 1]
    for m in range(table.members.shape[0]):
        s, o, d = bond_at(sites, table, m)
        r2, t, qq = dot(d, d), table.members[m, 2], table.constants[m + 1]
        if r2 >= table.rows[t, 0]:
            continue
        _, g, L = LAW(r2, table.rows, t, qq)
        more = coulomb * (LAW(r2, table.rows, t, 1.0)[1] - LAW(r2, table.rows, t, 0.0)[1])
        more *= sites.charges[o] * charges[s] + sites.charges[s] * charges[o]
        for c in range(of_law.columns.size):
            at = 2 * (t * of_law.columns.size + c)
            rise = LAW(r2, of_law.rows[at:], 0, qq)[1] - LAW(r2, of_law.rows[at + 1 :], 0, qq)[1]
            more += rise / of_law.size[t, c] * rows[t, of_law.columns[c]]
        changed = add(pair_change(g, L, d, between_columns(moved, s, o)), scale(more, d))
        add_column(found, s, scale(factor, changed))
        take_column(found, o, scale(factor, changed))


@jit
def angle_at(sites, table, m):
    """Return the three sites of an angle, and the arms from the second to the others."""
    particles = sites.particles
    x, y, z, place, members = particles.x, particles.y, particles.z, particles.place, table.members
    i, j, k = place[members[m, 0]], place[members[m, 1]], place[members[m, 2]]
    a = minimum_image(sites.cell, x[i] - x[j], y[i] - y[j], z[i] - z[j])
    b = minimum_image(sites.cell, x[k] - x[j], y[k] - y[j], z[k] - z[j])
    return members[m, 0], members[m, 1], members[m, 2], a, b


@jit
def turning_angle(a, b, da, db):
    """Return the angle θ between two arms a and b, its gradients with respect to a and b, and the changes of these
    gradients with the changes ``da`` and ``db``; NaN for a straight angle."""
    n, aa, bb = cross(a, b), dot(a, a), dot(b, b)
    dn = add(cross(da, b), cross(a, db))
    sine = math.sqrt(dot(n, n))
    along = dot(n, dn) / sine
    s, t = -1.0 / (sine * aa), -1.0 / (sine * bb)
    f, h = cross(n, a), cross(b, n)
    df, dh = add(cross(dn, a), cross(n, da)), add(cross(db, n), cross(b, dn))
    ds, dt = -s * (along / sine + 2.0 * dot(a, da) / aa), -t * (along / sine + 2.0 * dot(b, db) / bb)
    by_a, by_b = scale(s, f), scale(t, h)
    changes = add(scale(ds, f), scale(s, df)), add(scale(dt, h), scale(t, dh))
    return math.atan2(sine, dot(a, b)), (by_a, by_b), changes


@jit
def cosine_of_angle(a, b, da, db):
    """Return cos θ of the angle between two arms a and b, its gradients with respect to a and b, and the changes of
    these gradients with the changes ``da`` and ``db``."""
    aa, bb = dot(a, a), dot(b, b)
    per = 1.0 / math.sqrt(aa * bb)
    c = dot(a, b) * per
    fall_a, fall_b = dot(a, da) / aa, dot(b, db) / bb
    by_a, by_b = sub(scale(per, b), scale(c / aa, a)), sub(scale(per, a), scale(c / bb, b))
    dper, dc = -per * (fall_a + fall_b), dot(by_a, da) + dot(by_b, db)
    change_a = sub(add(scale(dper, b), scale(per, db)), scale(c / aa, da))
    change_a = sub(change_a, scale(dc / aa - 2.0 * c * fall_a / aa, a))
    change_b = sub(add(scale(dper, a), scale(per, da)), scale(c / bb, db))
    change_b = sub(change_b, scale(dc / bb - 2.0 * c * fall_b / bb, b))
    return c, (by_a, by_b), (change_a, change_b)


@jit
def harmonic_bend(theta, rows, m):
    """½ k (θ − θ₀)²: U, U' and U''."""
    bent = theta - rows[m, 1]
    return 0.5 * rows[m, 0] * bent * bent, rows[m, 0] * bent, rows[m, 0]


@jit
def cosine_bend(cosine, rows, m):
    """k (1 + cos θ): U, and its first two derivatives with respect to cos θ."""
    return rows[m, 0] * (1.0 + cosine), rows[m, 0], 0.0


ANGLE, BEND = turning_angle, harmonic_bend
"""Placeholders for the coordinate of an angle and its law."""


@jit
def angle_adjoint(sites, total, terms, refresh, which, ends, moved, rows, charges, found):
    """Add the adjoint of angles."""
    table, of_law = sites.tables[which], ends[0]
    for m in range(table.members.shape[0]):
        i, j, k, a, b = angle_at(sites, table, m)
        da, db = between_columns(moved, i, j), between_columns(moved, k, j)
        at, (by_a, by_b), (change_a, change_b) = ANGLE(a, b, da, db)
        _, slope, curvature = BEND(at, table.rows, m)
        along = dot(by_a, da) + dot(by_b, db)
        force_a = add(scale(-curvature * along, by_a), scale(-slope, change_a))
        force_b = add(scale(-curvature * along, by_b), scale(-slope, change_b))
        add_column(found, i, force_a)
        add_column(found, k, force_b)
        take_column(found, j, add(force_a, force_b))
        for c in range(of_law.columns.size):
            e = 2 * (m * of_law.columns.size + c)
            rise = BEND(at, of_law.rows, e)[1] - BEND(at, of_law.rows, e + 1)[1]
            rows[m, of_law.columns[c]] -= rise / of_law.size[m, c] * along


@jit
def angle_tangent(sites, total, terms, refresh, which, ends, moved, rows, charges, found):
    """Add the tangent of angles."""
    table, of_law = sites.tables[which], ends[0]
    for m in range(table.members.shape[0]):
        i, j, k, a, b = angle_at(sites, table, m)
        da, db = between_columns(moved, i, j), between_columns(moved, k, j)
        at, (by_a, by_b), (change_a, change_b) = ANGLE(a, b, da, db)
        _, slope, curvature = BEND(at, table.rows, m)
        more = curvature * (dot(by_a, da) + dot(by_b, db))
        for c in range(of_law.columns.size):
            e = 2 * (m * of_law.columns.size + c)
            rise = BEND(at, of_law.rows, e)[1] - BEND(at, of_law.rows, e + 1)[1]
            more += rise / of_law.size[m, c] * rows[m, of_law.columns[c]]
        force_a = add(scale(-more, by_a), scale(-slope, change_a))
        force_b = add(scale(-more, by_b), scale(-slope, change_b))
        add_column(found, i, force_a)
        add_column(found, k, force_b)
        take_column(found, j, add(force_a, force_b))


@jit
def dihedral_change(b1, b2, b3, db1, db2, db3):
    """Return the change of ∇φ at the four sites (``dihedrals.dihedral``) due to changes of the bond vectors."""
    p, q = cross(b1, b2), cross(b2, b3)
    dp, dq = add(cross(db1, b2), cross(b1, db2)), add(cross(db2, b3), cross(b2, db3))
    axis2, pp, qq = dot(b2, b2), dot(p, p), dot(q, q)
    daxis2 = 2.0 * dot(b2, db2)
    axis = math.sqrt(axis2)
    daxis = 0.5 * daxis2 / axis
    first, last = scale(-axis / pp, p), scale(axis / qq, q)
    rate_p, rate_q = daxis / axis - 2.0 * dot(p, dp) / pp, daxis / axis - 2.0 * dot(q, dq) / qq
    dfirst = add(scale(rate_p, first), scale(-axis / pp, dp))
    dlast = add(scale(rate_q, last), scale(axis / qq, dq))
    s, t = dot(b1, b2) / axis2, dot(b3, b2) / axis2
    ds = (dot(db1, b2) + dot(b1, db2) - s * daxis2) / axis2
    dt = (dot(db3, b2) + dot(b3, db2) - t * daxis2) / axis2
    dsecond = sub(add(scale(dt, last), scale(t, dlast)), add(scale(ds, first), scale(1.0 + s, dfirst)))
    dthird = sub(add(scale(ds, first), scale(s, dfirst)), add(scale(dt, last), scale(1.0 + t, dlast)))
    return dfirst, dsecond, dthird, dlast


@jit
def no_dihedral(table, cell, particles, m):
    """Do nothing."""
    return (0, 0, 0, 0), (ZERO, ZERO, ZERO), 0.0, (ZERO, ZERO, ZERO, ZERO)


DIHEDRAL, TORSION = no_dihedral, no_law
"""Placeholders for the geometry of a dihedral and its law."""


@jit
def dihedral_adjoint(sites, total, terms, refresh, which, ends, moved, rows, charges, found):
    """Add the adjoint of dihedrals."""
    table, of_law = sites.tables[which], ends[0]
    for m in range(table.members.shape[0]):
        members = table.members[m]
        _, (b1, b2, b3), phi, gradients = DIHEDRAL(table, sites.cell, sites.particles, m)
        _, slope, curvature = TORSION(phi, table.rows, m)
        moves = (
            between_columns(moved, members[1], members[0]),
            between_columns(moved, members[2], members[1]),
            between_columns(moved, members[3], members[2]),
        )
        changes = dihedral_change(b1, b2, b3, *moves)
        along = 0.0
        for k in range(4):
            along += dot(gradients[k], column_of(moved, members[k]))
        for k in range(4):
            take_column(found, members[k], add(scale(curvature * along, gradients[k]), scale(slope, changes[k])))
        for c in range(of_law.columns.size):
            e = 2 * (m * of_law.columns.size + c)
            rise = TORSION(phi, of_law.rows, e)[1] - TORSION(phi, of_law.rows, e + 1)[1]
            rows[m, of_law.columns[c]] -= rise / of_law.size[m, c] * along


@jit
def dihedral_tangent(sites, total, terms, refresh, which, ends, moved, rows, charges, found):
    """Add the tangent of dihedrals."""
    table, of_law = sites.tables[which], ends[0]
    for m in range(table.members.shape[0]):
        members = table.members[m]
        _, (b1, b2, b3), phi, gradients = DIHEDRAL(table, sites.cell, sites.particles, m)
        _, slope, curvature = TORSION(phi, table.rows, m)
        moves = (
            between_columns(moved, members[1], members[0]),
            between_columns(moved, members[2], members[1]),
            between_columns(moved, members[3], members[2]),
        )
        changes = dihedral_change(b1, b2, b3, *moves)
        more = 0.0
        for k in range(4):
            more += curvature * dot(gradients[k], column_of(moved, members[k]))
        for c in range(of_law.columns.size):
            e = 2 * (m * of_law.columns.size + c)
            rise = TORSION(phi, of_law.rows, e)[1] - TORSION(phi, of_law.rows, e + 1)[1]
            more += rise / of_law.size[m, c] * rows[m, of_law.columns[c]]
        for k in range(4):
            take_column(found, members[k], add(scale(more, gradients[k]), scale(slope, changes[k])))


def bond_passes(name: str, law: Any, *columns: int) -> TermPasses:
    """Return the passes of bonds with a law of r² that gives U, −U'/r and U'' + 2U'/r."""
    return _passes(bond_adjoint, bond_tangent, name, columns, BOND=law)


def scaled_passes(name: str, law: Any, *columns: int) -> TermPasses:
    """Return the passes of listed pairs whose interaction is scaled, with a pair law."""
    return _passes(scaled_adjoint, scaled_tangent, name, columns, LAW=law)


def dihedral_passes(name: str, geometry: Any, law: Any, *columns: int) -> TermPasses:
    """Return the passes of dihedrals with a law of φ that gives U, U' and U''."""
    return _passes(dihedral_adjoint, dihedral_tangent, name, columns, DIHEDRAL=geometry, TORSION=law)


def _passes(adjoint: Any, tangent: Any, name: str, columns: tuple[int, ...], **laws: Any) -> TermPasses:
    there, back = (Pass(leaf_variant(one, f"{name}_{one.__name__}", **laws)) for one in (adjoint, tangent))
    return TermPasses(there, back, (columns,))


HARMONIC_ANGLES = _passes(angle_adjoint, angle_tangent, "harmonic", (0, 1), ANGLE=turning_angle, BEND=harmonic_bend)
COSINE_ANGLES = _passes(angle_adjoint, angle_tangent, "cosine", (0,), ANGLE=cosine_of_angle, BEND=cosine_bend)
