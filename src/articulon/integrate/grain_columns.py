"""The columns in which a group of grains is kicked and drifts, and how rows of tables come there and go back."""

import numpy as np

from articulon.forces.contact.contact_columns import LOAD
from articulon.forces.contact.row_exchange import LANES as FOUR
from articulon.forces.contact.row_exchange import put_columns, take_columns
from articulon.integrate.grain_passes import GROUP, PLACE, PLACED, PUSHED, ROW, TURN, WRAP
from articulon.kernels import jit

WHERE, SHIFT = ROW + PLACE, ROW + WRAP
"""Columns of a group behind those of ``Grains.row``: those of ``Grains.place``."""
LOADS = ROW + PLACED
"""What contacts have added up."""
VELOCITY, INVERSE_MASS, TURNING, CENTRE = (
    LOADS + LOAD.width,
    LOADS + LOAD.width + 3,
    LOADS + LOAD.width + 4,
    LOADS + LOAD.width + 8,
)
"""As in rows of ``Spheres.motion``: velocity and inverse mass, angular velocity and kind, coordinates and radius."""
PUSH = CENTRE + 4
TWIST = PUSH + 3
"""Acceleration and angular acceleration."""
FORCE = PUSH + PUSHED
TORQUE = FORCE + 3
"""What walls and drag do."""
DRAG_FORCE = FORCE + 6
DRAG_TORQUE = DRAG_FORCE + 3
COSINE, SINE, FAR = DRAG_FORCE + 6, DRAG_FORCE + 7, DRAG_FORCE + 8
"""Of half the angle, the latter by the angle; and the square of the longest way, of each place in a group."""
LEAST, MOST = FAR + 1, FAR + 4
"""The least and the most that a grain in each place has gone along each axis since the last list."""
COLUMNS = FAR + 7
PULL, PULL_TORQUE = LOADS + LOAD.force, LOADS + LOAD.torque
VECTOR = TURN + 1
"""Named, since a loop whose indices have sums of constants in them does not become a vector loop."""


@jit
def get(columns, column, k):
    """A value of the k-th grain."""
    return columns[np.uint64(column * GROUP) + np.uint64(k)]


@jit
def put(columns, column, k, value):
    """Sets a value of the k-th grain."""
    columns[np.uint64(column * GROUP) + np.uint64(k)] = value


@jit
def get3(columns, column, k):
    """A vector of the k-th grain."""
    return columns[column * GROUP + k], columns[(column + 1) * GROUP + k], columns[(column + 2) * GROUP + k]


@jit
def put3(columns, column, k, v):
    """Sets a vector of the k-th grain."""
    columns[column * GROUP + k], columns[(column + 1) * GROUP + k], columns[(column + 2) * GROUP + k] = v


@jit
def copy(source, first, target, into, count):
    """Copies some numbers that lie one behind the other."""
    for k in range(count):
        target[np.uint64(into) + np.uint64(k)] = source[np.uint64(first) + np.uint64(k)]


@jit
def take_rows(table, width, first, columns, column, rows, begin, count):
    """Four columns of a table, in rows from ``begin`` on."""
    full = count - count % FOUR
    for k in range(0, full, FOUR):
        take_columns(table, width, rows, k, first, columns, column * GROUP + k, GROUP)
    for k in range(full, count):
        for a in range(FOUR):
            put(columns, column + a, k, table[begin + k, first + a])


@jit
def put_rows(table, width, first, columns, column, rows, begin, count):
    """Gives them back."""
    full = count - count % FOUR
    for k in range(0, full, FOUR):
        put_columns(table, width, rows, k, first, columns, column * GROUP + k, GROUP)
    for k in range(full, count):
        for a in range(FOUR):
            table[begin + k, first + a] = get(columns, column + a, k)
