"""Building blocks of the derivatives of site forces: passes of a term, and derivatives of its law by its parameters.

Every term has two passes, which sum over the same members as its forces. Both add the change of the forces on the sites
for displacements of the sites. Because the matrix of second derivatives is symmetric, this is also the derivative of
the virtual power by the positions of the sites. The *adjoint* of a term also adds the derivatives of the virtual power
by its rows and by the charges of the sites; the *tangent* adds the change of the forces for changes of these rows and
charges.

Laws are linear in each parameter by which they have derivatives, at fixed values of the others, so that two values give
the slope: at the parameter itself and at zero.
"""

from typing import NamedTuple

import numpy as np

from articulon.algebra.vectors import sub
from articulon.kernels import jit
from articulon.passes import Pass


class TermPasses(NamedTuple):
    """The derivative passes of a term.

    Each pass takes the arguments from ``Evaluator.bind_sites``; then the index of the term's table; ``Ends`` of its
    law, or laws; displacements of the sites, or their virtual velocities (3, sites); an array like the table's rows and
    an array of the charges of the sites, which hold changes or receive derivatives; and the array that receives changes
    of the forces on the sites (3, sites).
    """

    adjoint: Pass
    tangent: Pass
    columns: tuple[tuple[int, ...], ...]
    """Columns of the rows with derivatives: of the law, or of each of two laws that share a loop, in the law's own
    rows."""


class Ends(NamedTuple):
    """Pairs of rows whose values give the slopes of a law by its parameters."""

    columns: np.ndarray
    """Columns of the parameters, shape (columns,)."""
    rows: np.ndarray
    """For each row and column, the row itself, and the row with zero in that column; if the column is zero already, the
    first of the two has 1 there, shape (2 rows columns, width)."""
    size: np.ndarray
    """Difference of the parameter between the two rows, shape (rows, columns)."""


def ends_of(rows: np.ndarray, columns: tuple[int, ...]) -> Ends:
    """Return the ends for the rows (n, width) of a law."""
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
