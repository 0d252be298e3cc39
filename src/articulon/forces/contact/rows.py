"""Adding what contacts do to the rows of the two spheres, in vector instructions: four columns at a time."""

from typing import Any

from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from articulon.forces.contact.tables import LOAD, SPRING_TORQUE

LANES = 4
"""Columns that are added together."""

_TABLE = types.Array(types.float64, 2, "C")
_LONG, _WORD = ir.IntType(64), ir.IntType(32)
_DOUBLES = ir.VectorType(ir.DoubleType(), LANES)


@intrinsic
def add_loads(typing: Any, load: Any, i: Any, j: Any, loads: Any, k: Any, arm: Any, other_arm: Any) -> Any:
    """Adds row k of ``loads`` to row i of ``load``, with its torques times ``arm``; and to row j its torques times
    ``other_arm``, and its forces with the other sign. The two rows differ."""
    whole, real = types.uint64, types.float64
    return types.void(_TABLE, whole, whole, _TABLE, whole, real, real), _generate


def _generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
    load, i, j, loads, k, arm, other_arm = args

    def row(table: Any, at: Any) -> Any:
        data = context.make_array(_TABLE)(context, builder, table).data
        return builder.gep(data, [builder.mul(at, ir.Constant(_LONG, LOAD))])

    def columns(start: Any, first: int) -> Any:
        return builder.bitcast(builder.gep(start, [ir.Constant(_LONG, first)]), _DOUBLES.as_pointer())

    def splat(value: Any) -> Any:
        undefined = ir.Constant(_DOUBLES, ir.Undefined)
        first = builder.insert_element(undefined, value, ir.Constant(_WORD, 0))
        zeros = ir.Constant(ir.VectorType(_WORD, LANES), [0] * LANES)
        return builder.shuffle_vector(first, undefined, zeros)

    mine, others, given = row(load, i), row(load, j), row(loads, k)
    arms = splat(arm), splat(other_arm)
    sums = []
    for first in range(0, LOAD, LANES):
        value = builder.load(columns(given, first), align=8)
        here, there = columns(mine, first), columns(others, first)
        a, b = builder.load(here, align=8), builder.load(there, align=8)
        if first < SPRING_TORQUE:
            sums += [(here, builder.fadd(a, value)), (there, builder.fsub(b, value))]
        else:
            for where, old, lever in ((here, a, arms[0]), (there, b, arms[1])):
                product = builder.fmul(value, lever, flags=("contract",))
                sums.append((where, builder.fadd(old, product, flags=("contract",))))
    for where, value in sums:
        builder.store(value, where, align=8)
    return context.get_dummy_value()
