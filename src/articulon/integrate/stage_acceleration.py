"""Anderson's acceleration of the iteration for stages, tree by tree (J. ACM 12, 547, 1965).

A sweep maps rates x to g(x), and the stages are solved if g(x) = x. With the residual r = g(x) − x and the changes Δg,
Δr from each sweep to the next, the iteration continues from the rates

    g − Σ_j γ_j Δg_j,    with γ that minimises |r − Σ_j γ_j Δr_j|.

For a linear g this is equivalent to GMRES (Walker and Ni, SIAM J. Numer. Anal. 49, 1715, 2011): the few directions in
which sweeps converge slowly, or diverge, are identified and solved for. Trees that exert no forces on each other are
independent, so that every tree has its own coefficients γ, and many chains converge as fast as one.

No data are kept from step to step.
"""

from typing import NamedTuple

import numpy as np

from articulon.integrate.tableaux import Pair
from articulon.kernels import jit, routine
from articulon.model import Forest

SLOW = 0.5
"""Ratio of the change of the coordinates to that of the sweep before. If the mean of two ratios exceeds it, sweeps are
mixed. Iterations that converge faster end before mixing pays."""
DEPTH = 8
"""Most changes that are mixed. With 3, a free chain of 16 bodies takes 1.5 times as many sweeps at its longest steps;
with 20, few sweeps fewer."""
DEPENDENT = 1e-7
"""Square of the sine of the angle to later changes below which a change is left out as linearly dependent."""
ROUNDED = 2.0**-48
"""Residual, relative to the rates, below which it is rounding and is not mixed."""
MEANS = 2.0**-36
"""Change of a tree's rates, relative to the rates, above which it is used to estimate eigenvalues, far above
rounding."""
POWERS = 100
"""Most iterations for the largest eigenvalue."""


class Sweeps(NamedTuple):
    """Data of the sweeps of a step; they may be discarded between steps. Rates are scaled and ordered by tree. For each
    tree they are the rates that the group depends on, stage by stage, those of coordinates before those of momenta."""

    order: np.ndarray
    """Coordinates, tree by tree, shape (nq,)."""
    tree: np.ndarray
    """Start of each tree in ``order``, and the length of ``order``, shape (trees + 1,)."""
    place: np.ndarray
    """Places of the rates of a stage's coordinates and of its momenta among those that the group depends on, or −1,
    shape (stages, 2)."""
    start: np.ndarray
    """Rates of the coordinates and of the momenta at the step's start, shape (2, nq)."""
    length: np.ndarray
    """The largest length on a body for a translation, 1 for a rotation, tree by tree, shape (nq,)."""
    scale: np.ndarray
    """Scaling factors of the rates, tree by tree: a length makes rates of translations comparable with those of
    rotations, and a weight of each tree makes rates of its momenta comparable with those of its coordinates, shape (2,
    nq)."""
    value: np.ndarray
    """Result g of the sweep, shape (2 · stages · nq,)."""
    residual: np.ndarray
    """Residual r, of the same shape."""
    mixed: np.ndarray
    """Correction Σ γ Δg, of the same shape."""
    value_change: np.ndarray
    """Changes Δg; the latest replaces the oldest, shape (DEPTH, 2 · stages · nq)."""
    residual_change: np.ndarray
    """Changes Δr, of the same shape."""
    products: np.ndarray
    """Products Δr_j · Δr_k of each tree, shape (trees, DEPTH, DEPTH)."""
    factor: np.ndarray
    """Cholesky factor of the cosines, with the inverses of its diagonal, and zeros for changes that are left out, shape
    (DEPTH, DEPTH)."""
    norm: np.ndarray
    """Inverse lengths of the changes, the latest first, shape (DEPTH,)."""
    cosines: np.ndarray
    """Cosines between the changes, the latest first, shape (DEPTH, DEPTH)."""
    image: np.ndarray
    """Products Δx · Δg over the lengths of Δx, the latest first, shape (DEPTH, DEPTH)."""
    mixing: np.ndarray
    """Coefficients γ, the latest first, shape (DEPTH,)."""
    right: np.ndarray
    """Products Δr · r, the latest first, shape (DEPTH,)."""
    slow: np.ndarray
    """The value ``SLOW``, or infinity for plain iteration, shape (1,)."""


def sweeps_of(forest: Forest, turning: np.ndarray, length: float, pair: Pair) -> Sweeps:
    """Arrays for the sweeps of a scheme over a model.

    Parameters
    ----------
    forest
        The bodies.
    turning
        1 if a coordinate belongs to a rotation, else 0, shape (nq,).
    length
        The largest length on a body, or zero.
    pair
        The scheme.
    """
    stages, nq, trees = pair.b.size, turning.size, max(forest.tree.size - 1, 0)
    by_start = np.argsort(forest.q_start, kind="stable")
    starts = forest.q_start[by_start]
    link = by_start[np.searchsorted(starts, np.arange(nq), side="right") - 1]
    of_tree = np.searchsorted(forest.tree, link, side="right") - 1
    order, size = np.argsort(of_tree, kind="stable"), 2 * stages * nq
    by_length = np.where(turning[order] == 1, 1.0, length if length > 0.0 else 1.0)
    return Sweeps(
        order,
        np.searchsorted(of_tree[order], np.arange(trees + 1)),
        np.zeros((stages, 2), dtype=np.int64),
        np.zeros((2, nq)),
        by_length,
        np.zeros((2, nq)),
        np.zeros(size),
        np.zeros(size),
        np.zeros(size),
        np.zeros((DEPTH, size)),
        np.zeros((DEPTH, size)),
        np.zeros((trees, DEPTH, DEPTH)),
        np.zeros((DEPTH, DEPTH)),
        np.zeros(DEPTH),
        np.zeros((DEPTH, DEPTH)),
        np.zeros((DEPTH, DEPTH)),
        np.zeros(DEPTH),
        np.zeros(DEPTH),
        np.array([SLOW]),
    )


@jit
def find_places(pair, first, end, sweeps):
    """Find the rates that the stages of a group depend on; return their number for each coordinate."""
    parts = 0
    for j in range(first, end):
        of_q, of_p = False, False
        for i in range(first, end):
            of_q, of_p = of_q or pair.a[i, j] != 0.0, of_p or pair.ahat[i, j] != 0.0
        sweeps.place[j, 0] = parts if of_q else -1
        parts += of_q
        sweeps.place[j, 1] = parts if of_p else -1
        parts += of_p
    return parts


@routine
def note_stage(noted, i, arrays, sweeps):
    """Store the fresh rates of stage i, after ``noted`` sweeps, and the changes of these and of their residual since
    the last sweep."""
    tree, stages, slot = sweeps.tree, arrays.rate_q.shape[0], noted % DEPTH
    if noted == 0:
        for v in range(arrays.q.size):
            sweeps.scale[0, v], sweeps.scale[1, v] = 1.0 / sweeps.length[v], sweeps.length[v]
    for part in range(2):
        if sweeps.place[i, part] < 0:
            continue
        fresh, rate = arrays.fresh, arrays.rate_q[i]
        if part == 1:
            fresh, rate = arrays.fresh_p, arrays.rate_p[i]
        for t in range(tree.size - 1):
            first, size = tree[t], tree[t + 1] - tree[t]
            begin = 2 * stages * first + sweeps.place[i, part] * size
            order, scale = sweeps.order[first : first + size], sweeps.scale[part, first : first + size]
            values, residuals = sweeps.value[begin : begin + size], sweeps.residual[begin : begin + size]
            value_changes = sweeps.value_change[slot, begin : begin + size]
            residual_changes = sweeps.residual_change[slot, begin : begin + size]
            for m in range(size):
                v = order[m]
                value, residual = scale[m] * fresh[v], scale[m] * (fresh[v] - rate[v])
                value_changes[m], residual_changes[m] = value - values[m], residual - residuals[m]
                values[m], residuals[m] = value, residual


@routine
def mix_sweeps(noted, parts, first, end, arrays, sweeps):
    """Replace the rates that a sweep has found, after ``noted`` other sweeps, by the rates from which the iteration
    continues."""
    tree, stages = sweeps.tree, arrays.rate_q.shape[0]
    for t in range(tree.size - 1):
        size = tree[t + 1] - tree[t]
        begin = 2 * stages * tree[t]
        some = slice(begin, begin + parts * size)
        if noted == 0:
            weigh(t, begin, size, first, end, sweeps)
            continue
        kept = min(noted, DEPTH)
        multiply_changes(t, noted, kept, some, sweeps)
        if not is_rounding(some, sweeps):
            find_mixing(noted, kept, sweeps.products[t], sweeps)
            mix(t, noted, kept, some, begin, first, end, arrays, sweeps)


@jit
def weigh(t, begin, size, first, end, sweeps):
    """Scale the residuals of a tree's momenta to the size of those of its coordinates: both describe the same motion in
    different units."""
    squares_q, squares_p = 0.0, 0.0
    for i in range(first, end):
        for m in range(size):
            if sweeps.place[i, 0] >= 0:
                squares_q += sweeps.residual[begin + sweeps.place[i, 0] * size + m] ** 2
            if sweeps.place[i, 1] >= 0:
                squares_p += sweeps.residual[begin + sweeps.place[i, 1] * size + m] ** 2
    weight = np.sqrt(squares_q / squares_p)
    if not 0.0 < weight < np.inf:
        return
    for m in range(sweeps.tree[t], sweeps.tree[t + 1]):
        sweeps.scale[1, m] *= weight
    for i in range(first, end):
        if sweeps.place[i, 1] >= 0:
            for k in range(begin + sweeps.place[i, 1] * size, begin + (sweeps.place[i, 1] + 1) * size):
                sweeps.value[k] *= weight
                sweeps.residual[k] *= weight


@jit
def multiply_changes(t, noted, kept, some, sweeps):
    """Compute the products of the latest change of a tree's residual with earlier changes, and of all changes with the
    residual."""
    latest, products = noted % DEPTH, sweeps.products[t]
    residual, newest = sweeps.residual[some], sweeps.residual_change[latest, some]
    for a in range(kept):
        j = (noted - a) % DEPTH
        change, with_newest, with_residual = sweeps.residual_change[j, some], 0.0, 0.0
        for k in range(residual.size):
            with_newest += newest[k] * change[k]
            with_residual += residual[k] * change[k]
        products[latest, j] = products[j, latest] = with_newest
        sweeps.right[a] = with_residual


@jit
def is_rounding(some, sweeps):
    """Whether the residual of a tree is only rounding, which mixing would spread."""
    residual, value, of_residual, of_value = sweeps.residual[some], sweeps.value[some], 0.0, 0.0
    for k in range(residual.size):
        of_residual += residual[k] ** 2
        of_value += value[k] ** 2
    return of_residual <= ROUNDED**2 * of_value


@jit
def find_mixing(noted, kept, products, sweeps):
    """Compute γ by the normal equations of unit vectors along the changes."""
    norm, cosines, y = sweeps.norm, sweeps.cosines, sweeps.mixing
    for a in range(kept):
        i = (noted - a) % DEPTH
        square = products[i, i]
        norm[a] = 1.0 / np.sqrt(square) if square > 0.0 else 0.0
        y[a] = sweeps.right[a] * norm[a]
        for b in range(a + 1):
            cosines[a, b] = products[i, (noted - b) % DEPTH] * norm[a] * norm[b]
    factorise(kept, cosines, sweeps.factor)
    solve(kept, sweeps.factor, y)
    for a in range(kept):
        y[a] *= norm[a]


@jit
def factorise(kept, cosines, L):
    """Compute the Cholesky factor, from the latest change to the oldest. A change that depends on later ones is left
    out, so that coefficients stay small."""
    for a in range(kept):
        pivot = cosines[a, a]
        for b in range(a):
            found = cosines[a, b]
            for c in range(b):
                found -= L[a, c] * L[b, c]
            L[a, b] = found * L[b, b]
            pivot -= L[a, b] * L[a, b]
        L[a, a] = 1.0 / np.sqrt(pivot) if pivot > DEPENDENT else 0.0


@jit
def solve(kept, L, y):
    """Solve L Lᵀ y' = y in place, with zeros for changes that are left out."""
    for a in range(kept):
        for b in range(a):
            y[a] -= L[a, b] * y[b]
        y[a] *= L[a, a]
    for a in range(kept - 1, -1, -1):
        for b in range(a + 1, kept):
            y[a] -= L[b, a] * y[b]
        y[a] *= L[a, a]


@routine
def are_others(noted, parts, arrays, sweeps):
    """Whether the sweeps approach stages that are not the solution of short steps.

    As a step becomes longer, the real eigenvalues of ∂g/∂x grow from 0. If one reaches 1, the solution ends at a fold,
    where it meets another solution, which has an eigenvalue above 1. Plain sweeps are repelled by that other solution,
    but mixed sweeps may converge to it. The largest eigenvalue is estimated on the latest changes Δx = Δg − Δr, to
    within a tenth in coiled chains.
    """
    tree, stages, kept = sweeps.tree, arrays.rate_q.shape[0], min(noted, DEPTH)
    for t in range(tree.size - 1):
        begin = 2 * stages * tree[t]
        some = slice(begin, begin + parts * (tree[t + 1] - tree[t]))
        if largest_eigenvalue(noted, kept, some, sweeps) > 1.0:
            return True
    return False


@jit
def largest_eigenvalue(noted, kept, some, sweeps):
    """The largest eigenvalue of ∂g/∂x in the space of a tree's latest changes; 0 if it is not real."""
    norm, cosines, image, y, z = sweeps.norm, sweeps.cosines, sweeps.image, sweeps.mixing, sweeps.right
    value, least = sweeps.value[some], 0.0
    for k in range(value.size):
        least += value[k] ** 2
    least *= MEANS**2
    for a in range(kept):
        of_g, of_r = sweeps.value_change[(noted - a) % DEPTH, some], sweeps.residual_change[(noted - a) % DEPTH, some]
        for b in range(kept):
            to_g = sweeps.value_change[(noted - b) % DEPTH, some]
            to_r = sweeps.residual_change[(noted - b) % DEPTH, some]
            together, onto = 0.0, 0.0
            for k in range(value.size):
                together += (of_g[k] - of_r[k]) * (to_g[k] - to_r[k])
                onto += (of_g[k] - of_r[k]) * to_g[k]
            cosines[a, b], image[a, b] = together, onto
    for a in range(kept):
        norm[a] = 1.0 / np.sqrt(cosines[a, a]) if cosines[a, a] > least else 0.0
        y[a] = 1.0
    for a in range(kept):
        for b in range(kept):
            cosines[a, b] *= norm[a] * norm[b]
            image[a, b] *= norm[a] * norm[b]
    factorise(kept, cosines, sweeps.factor)
    found, error = 0.0, 0.0
    for _ in range(POWERS):
        squares, product, across = 0.0, 0.0, 0.0
        for a in range(kept):
            z[a] = 0.0
            for b in range(kept):
                z[a] += image[a, b] * y[b]
        solve(kept, sweeps.factor, z)
        for a in range(kept):
            squares, product, across = squares + y[a] * y[a], product + z[a] * z[a], across + z[a] * y[a]
        if not product > 0.0:
            return 0.0
        found = across / squares
        error = product / squares - found * found
        for a in range(kept):
            y[a] = z[a] / np.sqrt(product)
    return found if error < 0.01 * found * found else 0.0


@jit
def mix(t, noted, kept, some, begin, first, end, arrays, sweeps):
    """Subtract Σ γ Δg from the rates of a tree."""
    tree, mixed = sweeps.tree, sweeps.mixed[some]
    for k in range(mixed.size):
        mixed[k] = 0.0
    for a in range(kept):
        y, change = sweeps.mixing[a], sweeps.value_change[(noted - a) % DEPTH, some]
        for k in range(mixed.size):
            mixed[k] += y * change[k]
    size = tree[t + 1] - tree[t]
    for i in range(first, end):
        for part in range(2):
            if sweeps.place[i, part] < 0:
                continue
            rate = arrays.rate_q[i] if part == 0 else arrays.rate_p[i]
            at = sweeps.place[i, part] * size
            for m in range(size):
                v = sweeps.order[tree[t] + m]
                rate[v] -= mixed[at + m] / sweeps.scale[part, tree[t] + m]
