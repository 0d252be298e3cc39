"""Columns of a group of grains, and transposition of table rows into columns and back."""

import numpy as np

from articulon.forces.contact.row_exchange import LANES as FOUR
from articulon.forces.contact.row_exchange import put_columns, take_columns
from articulon.integrate.grain_columns import GROUP
from articulon.kernels import jit


@jit
def get(columns, column, k):
    """A value of the k-th grain of a group."""
    return columns[np.uint64(column * GROUP) + np.uint64(k)]


@jit
def put(columns, column, k, value):
    """Set a value of the k-th grain of a group."""
    columns[np.uint64(column * GROUP) + np.uint64(k)] = value


@jit
def get3(columns, column, k):
    """A vector of the k-th grain of a group."""
    return columns[column * GROUP + k], columns[(column + 1) * GROUP + k], columns[(column + 2) * GROUP + k]


@jit
def put3(columns, column, k, v):
    """Set a vector of the k-th grain of a group."""
    columns[column * GROUP + k], columns[(column + 1) * GROUP + k], columns[(column + 2) * GROUP + k] = v


@jit
def copy(source, first, target, into, count):
    """Copy contiguous numbers."""
    for k in range(count):
        target[np.uint64(into) + np.uint64(k)] = source[np.uint64(first) + np.uint64(k)]


@jit
def take_rows(table, width, first, columns, column, rows, begin, count):
    """Read four columns of a table, in rows from ``begin`` on, into the columns of a group."""
    full = count - count % FOUR
    for k in range(0, full, FOUR):
        take_columns(table, width, rows, k, first, columns, column * GROUP + k, GROUP)
    for k in range(full, count):
        for a in range(FOUR):
            put(columns, column + a, k, table[begin + k, first + a])


@jit
def put_rows(table, width, first, columns, column, rows, begin, count):
    """Write four columns of a group back into the rows of a table."""
    full = count - count % FOUR
    for k in range(0, full, FOUR):
        put_columns(table, width, rows, k, first, columns, column * GROUP + k, GROUP)
    for k in range(full, count):
        for a in range(FOUR):
            table[begin + k, first + a] = get(columns, column + a, k)
