"""The generalised Born model of pairs of sites, summed over runs of the partners of a site.

A *place* is the index of a site in the order of cells.

A site i of radius ρ_i has the offset radius o_i = ρ_i − 0.009 nm, and it screens other sites from the solvent like a
sphere of radius s_i = (scale) o_i. This screening of i by sphere j, here called its descreening, is (Hawkins,
Cramer and Truhlar, Chem. Phys. Lett. 246, 122, 1995)

    I_ij = ½ [1/L − 1/U + ¼ (r − s_j²/r)(1/U² − 1/L²) + ½ ln(L/U)/r],  L = max(o_i, |r − s_j|),  U = r + s_j.

It is zero if U ≤ o_i. If i lies completely inside j, 1/o_i − 1/L is added. With ψ = o_i Σ_j I_ij the Born radius is
(Onufriev, Bashford and Case, Proteins 55, 383, 2004, with α = 1, β = 0.8 and γ = 4.85)

    1/B_i = 1/o_i − tanh(α ψ − β ψ² + γ ψ³)/ρ_i,

and the energy, with f² = r² + B_i B_j exp(−r²/4B_iB_j) and K = C (1/ε_in − 1/ε_out) (Still et al., J. Am. Chem. Soc.
112, 6127, 1990; Schaefer, Bartels and Karplus, J. Mol. Biol. 284, 835, 1998, for the surface),

    U = −K [Σ_{i<j} q_i q_j (1/f_ij − 1/r_c) + ½ Σ_i q_i²/B_i] + Σ_i A (ρ_i + p)² (ρ_i/B_i)⁶.

I_ij is stationary with respect to L = |r − s_j| and U = r + s_j, so that dI_ij/dr equals ∂I_ij/∂r at constant L and U.
The logarithm is −2 artanh t with t = (U − L)/(U + L), computed by a polynomial in t². For distant pairs, r > o_i + s_j,
with x = s_j/r

    2 I_ij = [x/(1 − x²) − artanh x]/r,   −2 dI_ij/dr = [x/(1 − x²) − artanh x + 2x³/(1 − x²)²]/r²,

and both are x³ times polynomials in x². Roots, quotients and the exponential are computed by additions and products as
well, so that the compiler vectorises all loops.
"""

import numpy as np

from articulon.forces.sites.quotients import inverse, inverse_root
from articulon.kernels import jit
from articulon.lanes import choose

TERMS = 16
"""Number of coefficients of each polynomial."""
CUTOFF2, COUPLING, SHIFT, SURFACE, PROBE, ALPHA, BETA, GAMMA, BOUND, LOG = range(10)
"""Constants: r_c², K, 1/r_c (or 0), A, p, α, β, γ, 2/t²_max, and the first coefficient for the logarithm."""
INTEGRAL, INTEGRAL_SLOPE = LOG + TERMS, LOG + 2 * TERMS
"""First coefficients for the descreening of distant pairs and its slope."""
(
    SITE_OFFSET,
    SITE_SCREENING_RADIUS,
    SITE_RADIUS,
    OFFSET,
    SCREENING_RADIUS,
    RADIUS,
    CHARGE,
    BORN,
    INVERSE,
    SLOPE,
    ENERGY_SLOPE,
    OWN,
    FX,
    FY,
    FZ,
    ROWS,
) = range(16)
"""Rows of the table. The first three are parameters in the order of the sites; all others are scratch in the order of
the places: o, s, ρ, q, B, 1/B, dB/dΣI, dU/dB and later dU/dΣI, a site's part of the energy, and forces."""


@jit
def decay(x):
    """exp(−x) for x ≥ 0 as (exp(−x/256))²⁵⁶, from its series about the middle of [0, ¼]. It is constant beyond 64,
    where its value 1.6e-28 is below rounding."""
    x = choose(x < 64.0, x, 64.0)
    z = 0.125 - x * (1.0 / 256.0)
    y = 1.0 / 362880.0
    y = y * z + 1.0 / 40320.0
    y = y * z + 1.0 / 5040.0
    y = y * z + 1.0 / 720.0
    y = y * z + 1.0 / 120.0
    y = y * z + 1.0 / 24.0
    y = y * z + 1.0 / 6.0
    y = y * z + 0.5
    y = y * z + 1.0
    y = 0.8824969025845955 * (y * z + 1.0)  # exp(−⅛)
    y *= y
    y *= y
    y *= y
    y *= y
    y *= y
    y *= y
    y *= y
    return y * y


@jit
def reach(r, o, s):
    """1/L and 1/U of the descreening of o by s, and the argument t that gives ln(U/L)."""
    near = abs(r - s)
    L = choose(o > near, o, near)
    U = r + s
    both = U + L
    each = inverse(both * L * U)
    return each * U * both, each * L * both, (U - L) * each * L * U


@jit
def polynomial(y, first, constants):
    """Evaluate a polynomial in y = t² or x²."""
    w = y * constants[BOUND] - 1.0
    p = 0.0
    # Two loops, because the compiler does not unroll longer ones.
    for k in range(TERMS - 1, TERMS // 2 - 1, -1):
        p = p * w + constants[first + k]
    for k in range(TERMS // 2 - 1, -1, -1):
        p = p * w + constants[first + k]
    return p


@jit
def descreening(r, r1, o, s, constants):
    """2 I of a pair at the distance r = 1/r1."""
    l1, u1, t = reach(r, o, s)
    total = l1 - u1 + 0.25 * (r - s * s * r1) * (u1 * u1 - l1 * l1) - 0.5 * t * polynomial(t * t, LOG, constants) * r1
    inside = 2.0 * (1.0 / o - l1)
    total += choose(s - r > o, inside, 0.0)
    return choose(r + s > o, total, 0.0)


@jit
def descreening_slope(r, r1, o, s, constants):
    """2 dI/dr of a pair."""
    l1, u1, t = reach(r, o, s)
    x = s * r1
    slope = 0.25 * (1.0 + x * x) * (u1 * u1 - l1 * l1) + 0.5 * t * polynomial(t * t, LOG, constants) * r1 * r1
    return choose(r + s > o, slope, 0.0)


@jit
def partner(k, places, listed, n):
    """Return the place of the k-th partner, and the index of its parameters; the parameters of the padding place come
    last. The indices are unsigned, so that the compiler omits the check for negative indices, and the loops read
    contiguously."""
    j = np.uint64(places[k]) if listed else np.uint64(k)
    return j, min(j, np.uint64(n)) if listed else j


@jit
def distant_descreening(i, begin, end, listed, places, table, particles):
    """2 Σ_j I_ij over distant partners in a run of place i, and the number of partners that are near."""
    x, y, z, rows, constants, n = particles.x, particles.y, particles.z, table.rows, table.constants, particles.fx.size
    xi, yi, zi, o, limit = x[i], y[i], z[i], rows[OFFSET, i], constants[CUTOFF2]
    total, near = 0.0, 0.0
    for k in range(begin, end):  # the compiler vectorises this loop
        j, p = partner(k, places, listed, n)
        dx, dy, dz = xi - x[j], yi - y[j], zi - z[j]
        r2 = dx * dx + dy * dy + dz * dz
        r1, s = inverse_root(r2), rows[SCREENING_RADIUS, p]
        ratio = s * r1
        square = ratio * ratio
        found = r1 * ratio * square * polynomial(square, INTEGRAL, constants)
        far, within = r2 > (o + s) * (o + s), r2 < limit
        total += found if far & within else 0.0
        near += 0.0 if far else 1.0
    return total, near


@jit
def near_descreening(i, begin, end, listed, places, table, particles):
    """2 Σ_j I_ij over the near partners of a run."""
    x, y, z, rows, constants, n = particles.x, particles.y, particles.z, table.rows, table.constants, particles.fx.size
    xi, yi, zi, o, limit = x[i], y[i], z[i], rows[OFFSET, i], constants[CUTOFF2]
    total = 0.0
    for k in range(begin, end):  # the compiler vectorises this loop
        j, p = partner(k, places, listed, n)
        dx, dy, dz = xi - x[j], yi - y[j], zi - z[j]
        r2 = dx * dx + dy * dy + dz * dz
        r1, s = inverse_root(r2), rows[SCREENING_RADIUS, p]
        found = descreening(r2 * r1, r1, o, s, constants)
        total += found if (r2 <= (o + s) * (o + s)) & (r2 < limit) & (np.int64(j) != i) else 0.0
    return total


@jit
def screened(r2, b, b1, q, constants):
    """For a pair with b = B_i B_j = 1/b1 and q = −K q_i q_j: energy, −U'/r, and −2 B_i dU/dB_i, which is equal for i
    and j."""
    t = 0.25 * r2 * b1
    e = decay(t)
    each = e * b
    f1 = inverse_root(r2 + each)
    u = q * f1
    w = u * f1 * f1
    return u - q * constants[SHIFT], w * (1.0 - 0.25 * e), w * each * (1.0 + t)


@jit
def screened_coulomb(i, begin, end, listed, places, table, particles):
    """Energy of place i with a run of partners, B_i dU/dB_i, and the force at constant Born radii. If a run contains
    the place itself, at zero distance, this term is twice its self-energy."""
    x, y, z, rows, constants, n = particles.x, particles.y, particles.z, table.rows, table.constants, particles.fx.size
    xi, yi, zi, limit = x[i], y[i], z[i], constants[CUTOFF2]
    b, b1, q = rows[BORN, i], rows[INVERSE, i], -constants[COUPLING] * rows[CHARGE, i]
    energy, energy_slope, fx, fy, fz = 0.0, 0.0, 0.0, 0.0, 0.0
    for k in range(begin, end):  # the compiler vectorises this loop
        j, p = partner(k, places, listed, n)
        dx, dy, dz = xi - x[j], yi - y[j], zi - z[j]
        r2 = dx * dx + dy * dy + dz * dz
        # A pair beyond the cutoff is treated as uncharged at the cutoff: the compiler vectorises this loop, but not a
        # loop that skips each of the three results.
        qq = q * rows[CHARGE, p] if r2 < limit else 0.0
        u, g, v = screened(min(r2, limit), b * rows[BORN, p], b1 * rows[INVERSE, p], qq, constants)
        energy += u
        energy_slope += v
        fx += g * dx
        fy += g * dy
        fz += g * dz
    return energy, -0.5 * energy_slope, fx, fy, fz


@jit
def distant_radius_forces(i, begin, end, listed, places, table, particles):
    """Force on place i due to the change of its own and its partners' Born radii, over the distant partners of a run,
    and the number of partners that are near."""
    x, y, z, rows, constants, n = particles.x, particles.y, particles.z, table.rows, table.constants, particles.fx.size
    xi, yi, zi, limit = x[i], y[i], z[i], constants[CUTOFF2]
    oi, si, ci = rows[OFFSET, i], rows[SCREENING_RADIUS, i], 0.5 * rows[ENERGY_SLOPE, i]
    fx, fy, fz, near = 0.0, 0.0, 0.0, 0.0
    for k in range(begin, end):  # the compiler vectorises this loop
        j, p = partner(k, places, listed, n)
        dx, dy, dz = xi - x[j], yi - y[j], zi - z[j]
        r2 = dx * dx + dy * dy + dz * dz
        r1, sj = inverse_root(r2), rows[SCREENING_RADIUS, p]
        least = max(oi + sj, rows[OFFSET, p] + si)
        one, two = sj * r1, si * r1
        y1, y2 = one * one, two * two
        g = ci * one * y1 * polynomial(y1, INTEGRAL_SLOPE, constants)
        g += 0.5 * rows[ENERGY_SLOPE, p] * two * y2 * polynomial(y2, INTEGRAL_SLOPE, constants)
        far, within = r2 > least * least, r2 < limit
        g = g * r1 * r1 * r1 if far & within else 0.0
        near += 0.0 if far else 1.0
        fx += g * dx
        fy += g * dy
        fz += g * dz
    return fx, fy, fz, near


@jit
def near_radius_forces(i, begin, end, listed, places, table, particles):
    """Force on place i due to the change of the Born radii, over the near partners of a run."""
    x, y, z, rows, constants, n = particles.x, particles.y, particles.z, table.rows, table.constants, particles.fx.size
    xi, yi, zi, limit = x[i], y[i], z[i], constants[CUTOFF2]
    oi, si, ci = rows[OFFSET, i], rows[SCREENING_RADIUS, i], -0.5 * rows[ENERGY_SLOPE, i]
    fx, fy, fz = 0.0, 0.0, 0.0
    for k in range(begin, end):  # the compiler vectorises this loop
        j, p = partner(k, places, listed, n)
        dx, dy, dz = xi - x[j], yi - y[j], zi - z[j]
        r2 = dx * dx + dy * dy + dz * dz
        r1, oj, sj = inverse_root(r2), rows[OFFSET, p], rows[SCREENING_RADIUS, p]
        r, least = r2 * r1, max(oi + sj, oj + si)
        g = ci * descreening_slope(r, r1, oi, sj, constants) - 0.5 * rows[ENERGY_SLOPE, p] * descreening_slope(
            r, r1, oj, si, constants
        )
        g = g * r1 if (r2 <= least * least) & (r2 < limit) & (np.int64(j) != i) else 0.0
        fx += g * dx
        fy += g * dy
        fz += g * dz
    return fx, fy, fz
