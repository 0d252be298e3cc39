"""Records of column numbers: those that are parts of others, and what kernels make of them."""

from __future__ import annotations

import numba
import numpy as np
import pytest

from articulon.columns import ColumnNumbers
from articulon.forces.contact.contact_columns import (
    BATCH,
    COUNTS,
    HISTORY,
    KEPT,
    LAW,
    LOAD,
    MEMORY,
    MOTION,
    RECORD,
    RESISTANCE,
    STATISTICS,
)
from articulon.forces.contact.contact_tables import WORKS
from articulon.integrate.grain_columns import (
    GRAIN,
    GRAIN_ACCELERATION,
    GRAIN_LINE,
    GRAIN_PARTIAL,
    GRAIN_PLACE,
    GRAIN_ROW,
    LINES,
)

WITHIN = {
    "first sphere of a batch": (BATCH, 0, MOTION, "{}_i"),
    "second sphere of a batch": (BATCH, MOTION.width, MOTION, "{}_j"),
    "history in a batch": (BATCH, BATCH.old, MEMORY, "old_{}"),
    "record in a batch": (BATCH, BATCH.new, RECORD, "new_{}"),
    "load in a batch": (BATCH, 0, LOAD, "load_{}"),
    "row of a group": (GRAIN, 0, GRAIN_ROW, "{}"),
    "place of a group": (GRAIN, GRAIN_ROW.width, GRAIN_PLACE, "{}"),
    "load of a group": (GRAIN, GRAIN.load, LOAD, "load_{}"),
    "acceleration of a group": (GRAIN, GRAIN.acceleration, GRAIN_ACCELERATION, "{}"),
    "memory": (RECORD, 0, MEMORY, "{}"),
}


@pytest.mark.parametrize("what", WITHIN)
def test_parts_have_their_columns_in_the_same_order(what) -> None:
    whole, first, part, name = WITHIN[what]
    for column in type(part).__annotations__:
        if column != "width" and not (whole is GRAIN and column.endswith("_spare")):
            assert getattr(whole, name.format(column)) == first + getattr(part, column), column


def test_what_lies_behind_a_part_begins_where_it_ends() -> None:
    assert HISTORY.since == MEMORY.width
    assert RECORD.width == KEPT.since
    assert KEPT.width - KEPT.resistance == RESISTANCE.width
    assert BATCH.width - BATCH.law == LAW.rolling
    assert STATISTICS.begun == WORKS
    assert GRAIN_PARTIAL.due - GRAIN_PARTIAL.done == GRAIN_PARTIAL.low - GRAIN_PARTIAL.due == LINES
    assert (
        MOTION.kind - MOTION.angular_velocity
        == MOTION.inverse_mass - MOTION.velocity
        == MOTION.radius - MOTION.position
        == 3
    )
    assert GRAIN_LINE.width == GRAIN_LINE.angular_velocity + 3


def test_kernels_take_members_for_constants() -> None:
    @numba.njit
    def speed(motion):
        total = 0.0
        for a in range(3):
            total += motion[MOTION.velocity + a]
        return total

    assert speed(np.arange(float(MOTION.width))) == 4.0 + 5.0 + 6.0
    (compiled,) = speed.overloads.values()
    kinds = compiled.type_annotation.typemap.values()
    assert any(isinstance(kind, ColumnNumbers) for kind in kinds)
    assert any(isinstance(kind, numba.types.IntegerLiteral) and kind.literal_value == 4 for kind in kinds)


def test_a_record_stays_as_it_is() -> None:
    with pytest.raises(AttributeError, match="compiled"):
        MOTION.velocity = 3


def test_loops_that_are_shared_out_take_them_too() -> None:
    @numba.njit(parallel=True)
    def fill(counts, motion):
        last = counts[COUNTS.listed]
        for p in numba.prange(last):
            motion[p, MOTION.velocity] = np.zeros(MOTION.width).size

    motion = np.zeros((4, MOTION.width))
    fill(np.array([3, 0]), motion)
    assert motion[:, MOTION.velocity].tolist() == [12.0, 12.0, 12.0, 0.0]


def test_kernels_name_columns_that_are_not_there() -> None:
    @numba.njit
    def wrong(motion):
        return motion[MOTION.force]

    with pytest.raises(numba.TypingError, match="force"):
        wrong(np.arange(float(MOTION.width)))
