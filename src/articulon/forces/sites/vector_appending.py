"""The innermost loop of a neighbour list, in vector instructions that the compiler does not generate from plain loops.

Of eight candidates at a time, those within reach are written contiguously; a scalar loop takes several times as long.
"""

from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from articulon.forces.sites.vector_packing import store_chosen

LANES = 8
"""Number of candidates processed together; the arrays of candidates have as many further entries at their end."""

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
    """Append to ``row``, from ``number`` on, those places from begin to end whose point lies within the distance
    √reach2 of (xp, yp, zp), except the place ``own``.

    Return the new number of entries. It may exceed ``room``, but only ``room`` entries are stored; the row must be
    eight entries longer.
    """
    whole, real = types.int64, types.float64
    return whole(*(_LINE,) * 3, *(whole,) * 2, *(real,) * 4, whole, _PLACES, whole, whole), _generate


@intrinsic
def append_sorted(
    typing: Any,
    x: Any,
    y: Any,
    z: Any,
    limits: Any,
    begin: Any,
    end: Any,
    xp: Any,
    yp: Any,
    zp: Any,
    own: Any,
    row: Any,
    number: Any,
    other: Any,
    others: Any,
    room: Any,
) -> Any:
    """Append places within a squared distance, which is given for each place in ``limits`` from the given index on.
    Places within a positive distance go to ``row``, from ``number`` on. If the distance is negative, places within its
    magnitude go to ``other``, from ``others`` on. Return the new number of entries in each."""
    whole, real = types.int64, types.float64
    arguments = (*(_LINE,) * 4, *(whole,) * 2, *(real,) * 3, whole, _PLACES, whole, _PLACES, whole, whole)
    return types.UniTuple(whole, 2)(*arguments), _generate_sorted


def _data(context: Any, builder: Any, kind: Any, value: Any) -> Any:
    return context.make_array(kind)(context, builder, value).data


def _splat(builder: Any, value: Any, kind: Any) -> Any:
    first = builder.insert_element(ir.Constant(kind, ir.Undefined), value, ir.Constant(_WORD, 0))
    return builder.shuffle_vector(first, ir.Constant(kind, ir.Undefined), ir.Constant(_WORDS, [0] * LANES))


def _eight(builder: Any, column: Any, k: Any) -> Any:
    """Eight numbers of a column from an index on."""
    return builder.load(builder.bitcast(builder.gep(column, [k]), _DOUBLES.as_pointer()), align=8)


def _squares(builder: Any, columns: list[Any], centre: list[Any], k: Any) -> Any:
    """Squared distances of eight places from a point."""
    found = None
    for column, middle in zip(columns, centre, strict=True):
        d = builder.fsub(_eight(builder, column, k), middle)
        square = builder.fmul(d, d)
        found = square if found is None else builder.fadd(found, square)
    return found


def _keep(builder: Any, names: Any, chosen: Any, out: Any, found: Any, room: Any) -> None:
    """Append the chosen numbers to the existing ones, whose count is in memory."""
    kind = ir.FunctionType(_BYTE, [_BYTE])
    ones = cgutils.get_or_insert_function(builder.module, kind, f"llvm.ctpop.i{LANES}")
    n = builder.load(found)
    # Beyond the capacity, all values are written to the same entries, and the count shows the overflow.
    at = builder.select(builder.icmp_signed("<", n, room), n, room)
    store_chosen(builder, names, chosen, builder.gep(out, [at]))
    more = builder.zext(builder.call(ones, [builder.bitcast(chosen, _BYTE)]), _LONG)
    builder.store(builder.add(n, more), found)


def _generate_sorted(context: Any, builder: Any, signature: Any, args: Any) -> Any:
    x, y, z, limits, begin, end, xp, yp, zp, own, row, number, other, others, room = args
    columns = [_data(context, builder, _LINE, value) for value in (x, y, z, limits)]
    outs = [_data(context, builder, _PLACES, value) for value in (row, other)]
    centre = [_splat(builder, value, _DOUBLES) for value in (xp, yp, zp)]
    self_, last = (_splat(builder, builder.trunc(value, _WORD), _WORDS) for value in (own, end))
    counts = [cgutils.alloca_once_value(builder, value) for value in (number, others)]
    with cgutils.for_range_slice(builder, begin, end, ir.Constant(_LONG, LANES)) as (k, _):
        squares, limit = _squares(builder, columns[:3], centre, k), _eight(builder, columns[3], k)
        names = builder.add(_splat(builder, builder.trunc(k, _WORD), _WORDS), ir.Constant(_WORDS, list(range(LANES))))
        there = builder.icmp_unsigned("<", names, last)
        there = builder.and_(there, builder.icmp_unsigned("!=", names, self_))
        opposite = builder.fsub(ir.Constant(_DOUBLES, [-0.0] * LANES), limit)
        for most, out, found in zip((limit, opposite), outs, counts, strict=True):
            inside = builder.and_(builder.fcmp_ordered("<", squares, most), there)
            _keep(builder, names, inside, out, found, room)
    return context.make_tuple(builder, signature.return_type, [builder.load(found) for found in counts])


def _generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
    x, y, z, begin, end, xp, yp, zp, reach2, own, row, number, room = args
    columns, out = [_data(context, builder, _LINE, value) for value in (x, y, z)], _data(context, builder, _PLACES, row)
    centre = [_splat(builder, value, _DOUBLES) for value in (xp, yp, zp)]
    limit = _splat(builder, reach2, _DOUBLES)
    self_, last = (_splat(builder, builder.trunc(value, _WORD), _WORDS) for value in (own, end))
    found = cgutils.alloca_once_value(builder, number)
    with cgutils.for_range_slice(builder, begin, end, ir.Constant(_LONG, LANES)) as (k, _):
        squares = _squares(builder, columns, centre, k)
        names = builder.add(_splat(builder, builder.trunc(k, _WORD), _WORDS), ir.Constant(_WORDS, list(range(LANES))))
        inside = builder.fcmp_ordered("<", squares, limit)
        inside = builder.and_(inside, builder.icmp_unsigned("<", names, last))
        inside = builder.and_(inside, builder.icmp_unsigned("!=", names, self_))
        _keep(builder, names, inside, out, found, room)
    return builder.load(found)
