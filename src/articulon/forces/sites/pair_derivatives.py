"""Derivatives of pair laws that are summed over neighbours: the neighbours in the current list count, up to the cutoff.

The loops are templates as in ``pair_sums.py``.
"""

from functools import cache

import numpy as np

from articulon.algebra.vectors import ZERO, add, dot, scale
from articulon.forces.site_pair_law import pair_change
from articulon.forces.sites.packed_sums import no_law
from articulon.forces.sites.pair_sums import Combination, gaps, near, run_end
from articulon.forces.sites.term_derivatives import TermPasses, add_column, between_columns, column_of
from articulon.kernel_variants import leaf_variant
from articulon.kernels import jit
from articulon.passes import Pass

LAW = CHARGED_LAW = no_law
ONE_KIND = CHARGED = EVERYTHING = False
WITHIN = near


@jit
def site_at(particles, p):
    """Return the site at a place, also for an image."""
    n = particles.order.size
    return particles.order[p if p < n else np.int64(particles.parent[p - n])]


@jit
def slope_of(law, r2, rows, t, qq, value, ends, c):
    """Return the derivative of a law's −φ'/r, which is ``value`` in row t, by the parameter in column c of ``ends``."""
    at = 2 * (t * ends.columns.size + c)
    raised = value if rows[t, ends.columns[c]] != 0.0 else law(r2, ends.rows[at:], 0, qq)[1]
    return (raised - law(r2, ends.rows[at + 1 :], 0, qq)[1]) / ends.size[t, c]


@jit
def pair_adjoint(sites, total, terms, refresh, which, ends, moved, rows, charges, found):
    """Add the adjoint of a loop over pairs."""
    particles, neighbours, table = sites.particles, sites.neighbours, sites.tables[which]
    x, y, z, kind, charge = particles.x, particles.y, particles.z, particles.kind, particles.charge
    width, kinds, coulomb = int(table.constants[0]), int(table.constants[1]), table.constants[2]
    first_rows, second_rows, n = table.rows, table.rows[:, width:], particles.fx.size
    for i in range(n):
        s, by_x = particles.order[i], ZERO
        V = column_of(moved, s)
        row = neighbours.places[0 if EVERYTHING else i]
        begin, (start, count) = 0, gaps(neighbours, i, EVERYTHING)
        for gap in range(count + 1):
            end = run_end(neighbours, i, EVERYTHING, start, gap, count, n)
            for k in range(begin, end):
                j = np.int64(k) if EVERYTHING else np.int64(row[k])
                d = (x[i] - x[j], y[i] - y[j], z[i] - z[j])
                r2 = dot(d, d)
                t = 0 if ONE_KIND else kinds * np.int64(kind[i]) + np.int64(kind[j])
                plain = WITHIN(r2, first_rows, t, i, j)
                charged = CHARGED and WITHIN(r2, second_rows, t, i, j)
                if not (plain or charged):
                    continue
                o, qq = site_at(particles, j), coulomb * charge[i] * charge[j]
                change, power, g, L = between_columns(moved, s, o), 0.0, 0.0, 0.0
                # A pair is visited from both sites, with the same slopes: one visit (j > i) adds both. With an image,
                # always j > i.
                by_rows = 1 if j > i else 0
                if by_rows:
                    power = dot(d, change) if j < n else dot(d, V)
                if plain:
                    _, g, L = LAW(r2, first_rows, t, qq)
                    plain_ends = ends[0]
                    for c in range(plain_ends.columns.size * by_rows):
                        slope = slope_of(LAW, r2, first_rows, t, qq, g, plain_ends, c)
                        rows[t, plain_ends.columns[c]] += slope * power
                if charged:
                    _, h, M = CHARGED_LAW(r2, second_rows, t, qq)
                    g, L = g + h, L + M
                    charged_ends = ends[1]
                    for c in range(charged_ends.columns.size * by_rows):
                        slope = slope_of(CHARGED_LAW, r2, second_rows, t, qq, h, charged_ends, c)
                        rows[t, width + charged_ends.columns[c]] += slope * power
                    unit = CHARGED_LAW(r2, second_rows, t, 1.0)[1]
                    charges[s] += coulomb * charge[j] * unit * dot(d, change)
                by_x = add(by_x, pair_change(g, L, d, change))
            begin = end + 1
        add_column(found, s, by_x)


@jit
def pair_tangent(sites, total, terms, refresh, which, ends, moved, rows, charges, found):
    """Add the tangent of a loop over pairs."""
    particles, neighbours, table = sites.particles, sites.neighbours, sites.tables[which]
    x, y, z, kind, charge = particles.x, particles.y, particles.z, particles.kind, particles.charge
    width, kinds, coulomb = int(table.constants[0]), int(table.constants[1]), table.constants[2]
    first_rows, second_rows, n = table.rows, table.rows[:, width:], particles.fx.size
    for i in range(n):
        s, changed = particles.order[i], ZERO
        row = neighbours.places[0 if EVERYTHING else i]
        begin, (start, count) = 0, gaps(neighbours, i, EVERYTHING)
        for gap in range(count + 1):
            end = run_end(neighbours, i, EVERYTHING, start, gap, count, n)
            for k in range(begin, end):
                j = np.int64(k) if EVERYTHING else np.int64(row[k])
                d = (x[i] - x[j], y[i] - y[j], z[i] - z[j])
                r2 = dot(d, d)
                t = 0 if ONE_KIND else kinds * np.int64(kind[i]) + np.int64(kind[j])
                plain = WITHIN(r2, first_rows, t, i, j)
                charged = CHARGED and WITHIN(r2, second_rows, t, i, j)
                if not (plain or charged):
                    continue
                o, qq, more, g, L = site_at(particles, j), coulomb * charge[i] * charge[j], 0.0, 0.0, 0.0
                if plain:
                    _, g, L = LAW(r2, first_rows, t, qq)
                    plain_ends = ends[0]
                    for c in range(plain_ends.columns.size):
                        slope = slope_of(LAW, r2, first_rows, t, qq, g, plain_ends, c)
                        more += slope * rows[t, plain_ends.columns[c]]
                if charged:
                    _, h, M = CHARGED_LAW(r2, second_rows, t, qq)
                    g, L = g + h, L + M
                    charged_ends = ends[1]
                    for c in range(charged_ends.columns.size):
                        slope = slope_of(CHARGED_LAW, r2, second_rows, t, qq, h, charged_ends, c)
                        more += slope * rows[t, width + charged_ends.columns[c]]
                    unit = CHARGED_LAW(r2, second_rows, t, 1.0)[1]
                    more += coulomb * unit * (charge[j] * charges[s] + charge[i] * charges[o])
                found_here = pair_change(g, L, d, between_columns(moved, s, o))
                changed = add(changed, add(found_here, scale(more, d)))
            begin = end + 1
        add_column(found, s, changed)


@cache
def pair_passes(laws: Combination, columns: tuple[tuple[int, ...], ...]) -> TermPasses:
    """Return the passes of a combination of laws."""
    stand_ins = {name: one for name, one in laws.stand_ins.items() if name != "cached"}
    adjoint = leaf_variant(pair_adjoint, f"pair_adjoint_{laws.label}", **stand_ins)
    return TermPasses(
        Pass(adjoint), Pass(leaf_variant(pair_tangent, f"pair_tangent_{laws.label}", **stand_ins)), columns
    )
