"""What the derivatives of forces between sites are made of: passes of a term, and its law by the numbers of its rows.

Of every term there are two passes, sums over what its forces are sums over. Both add what the forces on the sites
change by where these are displaced: since the matrix of second derivatives is symmetric, that is what the virtual power
changes by with the places of the sites too. The *adjoint* of a term adds what the virtual power changes by with its
rows, and with the charges of the sites; the *tangent* adds what the forces change by with these.

Laws are straight lines in each number of their rows by which they have derivatives, if the others stay, so that two of
their values tell the slope: at the number itself and at zero.
"""

from typing import NamedTuple

import numpy as np

from articulon.algebra.vectors import sub
from articulon.kernels import jit
from articulon.passes import Pass


class TermPasses(NamedTuple):
    """The passes of a term.

    Each takes what ``Evaluator.bind_sites`` gives, and then the number of the term's table; ``Ends`` of its law, or
    laws; displacements of the sites, or their virtual velocities (3, sites); an array like the table's rows, and one of
    the charges of the sites, in which are their changes, or to which derivatives are added; and that to which changes
    of the forces on the sites are added (3, sites).
    """

    adjoint: Pass
    tangent: Pass
    columns: tuple[tuple[int, ...], ...]
    """Columns of the rows by which there are derivatives: of the law, or of each of two laws that share a loop, in
    the law's own rows."""


class Ends(NamedTuple):
    """Rows between whose values the slopes of a law by its numbers lie."""

    columns: np.ndarray
    """The numbers' columns, shape (columns,)."""
    rows: np.ndarray
    """For each row and column the row itself, and with zero there; where it is zero, with one in the first, shape
    (2 rows columns, width)."""
    size: np.ndarray
    """How far the two are apart, shape (rows, columns)."""


def ends_of(rows: np.ndarray, columns: tuple[int, ...]) -> Ends:
    """The ends for the rows (n, width) of a law."""
    n, count = len(rows), len(columns)
    both = np.repeat(rows, 2 * count, axis=0).reshape(n, count, 2, rows.shape[1])
    size = np.zeros((n, count))
    for c, column in enumerate(columns):
        size[:, c] = np.where(rows[:, column] == 0.0, 1.0, rows[:, column])
        both[:, c, 0, column], both[:, c, 1, column] = size[:, c], 0.0
    return Ends(np.array(columns, dtype=np.int64), np.ascontiguousarray(both.reshape(-1, rows.shape[1])), size)


@jit
def column_of(array, s):
    return (array[0, s], array[1, s], array[2, s])


@jit
def add_column(array, s, a):
    array[0, s] += a[0]
    array[1, s] += a[1]
    array[2, s] += a[2]


@jit
def take_column(array, s, a):
    array[0, s] -= a[0]
    array[1, s] -= a[1]
    array[2, s] -= a[2]


@jit
def between_columns(array, s, t):
    return sub(column_of(array, s), column_of(array, t))
