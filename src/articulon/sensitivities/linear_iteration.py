"""Fixed points x = g(x) of linear maps, found by iteration.

The method takes the combination of all iterates so far that has the smallest residual g(x) − x. The image of this
combination is the next iterate. This is the generalised conjugate residual method (Eisenstat, Elman and Schultz, SIAM
J. Numer. Anal. 20, 345, 1983). It converges at least as fast as plain iteration, and can converge when plain iteration
diverges.

The length of the residual falls with every iterate if the symmetric part of 1 − g' is positive, which is true for
gyroscopic forces and for resistance. When the length no longer falls, the residual consists of rounding errors. This
also holds if the fixed point itself is zero to rounding.
"""

from typing import NamedTuple

import numpy as np

from articulon.algebra.vectors import copy_into
from articulon.kernels import jit

DEPTH = 20
"""Number of directions that are kept before the method starts again."""
ITERATIONS = 200
"""Largest number of evaluations for a fixed point."""
SETTLED = 1e-12
"""Relative residual below which an iteration has converged to rounding once its residuals no longer decrease."""
ROUNDING = 2.0**-52
"""Relative residual at which an iteration ends."""
STALLS = 5
"""An iteration ends after this number of iterates without a new smallest residual."""
DEPENDENT = 1e-24
"""Ratio of the squared lengths of a direction after and before it is made orthogonal, below which it is a rounding
error."""


class Iteration(NamedTuple):
    """Scratch arrays of an iteration."""

    found: np.ndarray
    """The iterate, shape (n,)."""
    image: np.ndarray
    """Its image g(x), shape (n,)."""
    residual: np.ndarray
    """g(x) − x, shape (n,)."""
    last: np.ndarray
    """Image and residual of the previous iterate, shape (2, n)."""
    directions: np.ndarray
    """Changes of images and of residuals; the changes of residuals are orthonormal, shape (2, DEPTH, n)."""
    metric: np.ndarray
    """Factors of the squared components in the squared length of a vector, shape (n,)."""
    scale: np.ndarray
    """Squared length of the smallest residual, and the largest magnitude of a component in all iterates, shape (2,)."""
    counts: np.ndarray
    """Number of kept directions, -1 before the first residual, and number of iterates since the smallest residual,
    shape (2,)."""


def iteration_arrays(n: int) -> Iteration:
    """Allocate the arrays for n numbers."""
    found, image, residual, metric = np.zeros((4, n))
    return Iteration(
        found,
        image,
        residual,
        np.zeros((2, n)),
        np.zeros((2, DEPTH, n)),
        metric,
        np.zeros(2),
        np.zeros(2, dtype=np.int64),
    )


@jit
def begin_iteration(arrays, start):
    """Begin at an estimate of the fixed point; ``arrays.metric`` has been set."""
    copy_into(arrays.found, start)
    arrays.counts[0], arrays.counts[1], arrays.scale[0], arrays.scale[1] = -1, 0, np.inf, 0.0


@jit
def product_of(metric, a, b):
    total = 0.0
    for k in range(metric.size):
        total += metric[k] * a[k] * b[k]
    return total


@jit
def add_to(target, s, source):
    for k in range(target.size):
        target[k] += s * source[k]


@jit
def keep_direction(arrays):
    """Keep the change since the previous iterate as a direction, unless it depends linearly on the kept directions."""
    metric, n = arrays.metric, arrays.counts[0]
    if n == arrays.directions.shape[1]:
        n = 0
    image, residual = arrays.directions[0, n], arrays.directions[1, n]
    for k in range(metric.size):
        image[k], residual[k] = arrays.image[k] - arrays.last[0, k], arrays.residual[k] - arrays.last[1, k]
    before = product_of(metric, residual, residual)
    for j in range(n):
        along = product_of(metric, arrays.directions[1, j], residual)
        add_to(residual, -along, arrays.directions[1, j])
        add_to(image, -along, arrays.directions[0, j])
    square = product_of(metric, residual, residual)
    if square > DEPENDENT * before:
        s = 1.0 / np.sqrt(square)
        for k in range(metric.size):
            image[k] *= s
            residual[k] *= s
        n += 1
    arrays.counts[0] = n


@jit
def next_iterate(arrays, base, factor, rate, before):
    """Replace the iterate, whose image is base + factor · rate, by the next one. Return the size of the residual of the
    old iterate relative to the iterates, or -1 if the iteration has converged. ``before`` is the value that the
    previous call returned."""
    found, image, residual = arrays.found, arrays.image, arrays.residual
    change, size = 0.0, arrays.scale[1]
    for k in range(found.size):
        image[k] = base[k] + factor * rate[k]
        residual[k] = image[k] - found[k]
        change, size = max(change, abs(residual[k])), max(size, max(abs(found[k]), abs(image[k])))
    arrays.scale[1] = size
    if size > 0.0:
        change /= size
    square = product_of(arrays.metric, residual, residual)
    if square < arrays.scale[0]:
        arrays.scale[0], arrays.counts[1] = square, 0
    elif square >= arrays.scale[0]:  # not NaN
        arrays.counts[1] += 1
    if change < ROUNDING or (change < SETTLED and change >= before) or arrays.counts[1] >= STALLS:
        copy_into(found, image)
        return -1.0
    if arrays.counts[0] < 0:
        arrays.counts[0] = 0
    else:
        keep_direction(arrays)
    copy_into(arrays.last[0], image)
    copy_into(arrays.last[1], residual)
    copy_into(found, image)
    for j in range(arrays.counts[0]):
        along = product_of(arrays.metric, arrays.directions[1, j], residual)
        add_to(residual, -along, arrays.directions[1, j])
        add_to(found, -along, arrays.directions[0, j])
    return change
