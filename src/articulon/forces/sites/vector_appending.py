"""The innermost loop of a list of neighbours, in the vector instructions that no plain loop compiles to.

Of eight candidates at a time those within reach are written one behind the other; a scalar loop takes several times as
long.
"""

from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from articulon.forces.sites.vector_packing import store_chosen

LANES = 8
"""Candidates that are looked at together; arrays of them go on for as many beyond their end."""

_LINE, _PLACES = types.Array(types.float64, 1, "C"), types.Array(types.uint32, 1, "C")
_BYTE, _WORD, _LONG = (ir.IntType(bits) for bits in (LANES, 32, 64))
_DOUBLES, _WORDS = (ir.VectorType(kind, LANES) for kind in (ir.DoubleType(), _WORD))


@intrinsic
def append_near(
    typing: Any,
    x: Any,
    y: Any,
    z: Any,
    begin: Any,
    end: Any,
    xp: Any,
    yp: Any,
    zp: Any,
    reach2: Any,
    own: Any,
    row: Any,
    number: Any,
    room: Any,
) -> Any:
    """Writes into ``row``, from ``number`` on, those of the places from begin to end whose point lies within the
    distance √reach2 of (xp, yp, zp), but for the place ``own``.

    Returns how many there are in the row then. That may be more than ``room``, which is what is written to; the row
    must be longer by eight.
    """
    whole, real = types.int64, types.float64
    return whole(*(_LINE,) * 3, *(whole,) * 2, *(real,) * 4, whole, _PLACES, whole, whole), _generate


def _generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
    x, y, z, begin, end, xp, yp, zp, reach2, own, row, number, room = args

    def data(kind: Any, value: Any) -> Any:
        return context.make_array(kind)(context, builder, value).data

    def splat(value: Any, kind: Any) -> Any:
        first = builder.insert_element(ir.Constant(kind, ir.Undefined), value, ir.Constant(_WORD, 0))
        return builder.shuffle_vector(first, ir.Constant(kind, ir.Undefined), ir.Constant(_WORDS, [0] * LANES))

    def intrinsic_of(result: Any, arguments: list[Any], name: str) -> Any:
        return cgutils.get_or_insert_function(builder.module, ir.FunctionType(result, arguments), f"llvm.{name}")

    columns, out = [data(_LINE, value) for value in (x, y, z)], data(_PLACES, row)
    centre = [splat(value, _DOUBLES) for value in (xp, yp, zp)]
    limit = splat(reach2, _DOUBLES)
    self_, last = (splat(builder.trunc(value, _WORD), _WORDS) for value in (own, end))
    ones = intrinsic_of(_BYTE, [_BYTE], f"ctpop.i{LANES}")
    found = cgutils.alloca_once_value(builder, number)
    with cgutils.for_range_slice(builder, begin, end, ir.Constant(_LONG, LANES)) as (k, _):
        squares = None
        for column, middle in zip(columns, centre, strict=True):
            points = builder.load(builder.bitcast(builder.gep(column, [k]), _DOUBLES.as_pointer()), align=8)
            d = builder.fsub(points, middle)
            square = builder.fmul(d, d)
            squares = square if squares is None else builder.fadd(squares, square)
        names = builder.add(splat(builder.trunc(k, _WORD), _WORDS), ir.Constant(_WORDS, list(range(LANES))))
        inside = builder.fcmp_ordered("<", squares, limit)
        inside = builder.and_(inside, builder.icmp_unsigned("<", names, last))
        inside = builder.and_(inside, builder.icmp_unsigned("!=", names, self_))
        n = builder.load(found)
        # Beyond the room all goes to one place, and the count says that it was too small.
        at = builder.select(builder.icmp_signed("<", n, room), n, room)
        store_chosen(builder, names, inside, builder.gep(out, [at]))
        more = builder.zext(builder.call(ones, [builder.bitcast(inside, _BYTE)]), _LONG)
        builder.store(builder.add(n, more), found)
    return builder.load(found)
