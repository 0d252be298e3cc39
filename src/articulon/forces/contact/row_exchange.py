"""Transposition between table rows and the columns of vector loops, in blocks of four rows by four columns.

A loop over contiguous values of one field compiles to vector instructions. Memory locality, on the other hand, requires
the row of one sphere or contact to be contiguous. A transposition in registers converts sixteen values from one order
to the other in eight instructions.
"""

from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from articulon.forces.contact.contact_columns import LOAD
from articulon.forces.sites.vector_packing import store_chosen

LANES = 4
"""Number of rows, and of columns, that are transposed together."""

_LONG, _WORD, _BYTE = ir.IntType(64), ir.IntType(32), ir.IntType(8)
_DOUBLES, _LONGS = ir.VectorType(ir.DoubleType(), LANES), ir.VectorType(_LONG, LANES)


@intrinsic
def take_columns(
    typing: Any, table: Any, width: Any, rows: Any, k: Any, first: Any, columns: Any, at: Any, stride: Any
) -> Any:
    """Read four columns, starting at ``first``, of a table of width ``width``, from the four rows whose numbers are in
    ``rows`` from its k-th entry on. Write them at ``at``, ``at + stride``, … of ``columns``, each with its four values
    contiguous."""
    long = types.int64
    return types.void(table, long, rows, long, long, columns, long, long), _take


@intrinsic
def put_columns(
    typing: Any, table: Any, width: Any, rows: Any, k: Any, first: Any, columns: Any, at: Any, stride: Any
) -> Any:
    """Inverse of ``take_columns``: read the columns and write them to the rows."""
    long = types.int64
    return types.void(table, long, rows, long, long, columns, long, long), _put


@intrinsic
def find_near(
    typing: Any,
    motion: Any,
    width: Any,
    first: Any,
    second: Any,
    touches: Any,
    k: Any,
    end: Any,
    slots: Any,
    found: Any,
) -> Any:
    """Return a number whose lowest four bits tell which of four pairs overlap, from the k-th pair on and before
    ``end``. The rows of the spheres in ``motion``, of width ``width``, are given by ``first`` and ``second``;
    coordinates and radius come first in a row. The next four bits mark pairs whose ``touches`` is not zero. The numbers
    of the pairs marked in either way are appended to ``slots`` from ``found`` on, and their count is in the bits above.
    The input arrays must extend three entries beyond ``end``, and three more entries of ``slots`` are overwritten."""
    long = types.int64
    return types.int64(motion, long, first, second, touches, long, long, slots, long), _find_near


@intrinsic
def add_columns(
    typing: Any, load: Any, rows: Any, mine: Any, others: Any, columns: Any, at: Any, stride: Any, arm: Any, other: Any
) -> Any:
    """Add four rows of loads, whose columns are at ``at``, ``at + stride``, …, to the rows of ``load`` whose numbers
    begin at ``rows[mine]``, with torques multiplied by the values from ``arm`` on; and to those whose numbers begin at
    ``rows[others]``, with torques multiplied by the values from ``other`` on and forces negated."""
    long = types.int64
    return types.void(load, rows, long, long, columns, long, long, long, long), _add


@intrinsic
def add_row(typing: Any, load: Any, i: Any, j: Any) -> Any:
    """Add row j of ``load`` to row i, a different one, and reset row j to zero."""
    return types.void(load, types.uint64, types.uint64), _add_row


def _pointer(context: Any, builder: Any, kind: Any, array: Any) -> Any:
    return context.make_array(kind)(context, builder, array).data


def _four(builder: Any, data: Any, at: Any) -> Any:
    """Pointer to four numbers."""
    return builder.bitcast(builder.gep(data, [at]), _DOUBLES.as_pointer())


def _constant(value: int) -> Any:
    return ir.Constant(_LONG, value)


def _along(builder: Any, at: Any, stride: Any, column: int) -> Any:
    return builder.add(at, builder.mul(stride, _constant(column)))


def _splat(builder: Any, value: Any, kind: Any) -> Any:
    """Return a vector of four equal values."""
    undefined = ir.Constant(kind, ir.Undefined)
    one = builder.insert_element(undefined, value, ir.Constant(_WORD, 0))
    return builder.shuffle_vector(one, undefined, ir.Constant(ir.VectorType(_WORD, LANES), [0] * LANES))


def _numbers(builder: Any, rows: Any, k: Any) -> list[Any]:
    """Return four row numbers."""
    return [builder.load(builder.gep(rows, [builder.add(k, _constant(m))])) for m in range(LANES)]


def _exchange(builder: Any, rows: list[Any]) -> list[Any]:
    """Transpose four rows into four columns, or the reverse."""

    def mix(a: Any, b: Any, order: tuple[int, ...]) -> Any:
        return builder.shuffle_vector(a, b, ir.Constant(ir.VectorType(_WORD, LANES), list(order)))

    even, odd = (0, 4, 2, 6), (1, 5, 3, 7)
    low, high = (0, 1, 4, 5), (2, 3, 6, 7)
    a, b = mix(rows[0], rows[1], even), mix(rows[0], rows[1], odd)
    c, d = mix(rows[2], rows[3], even), mix(rows[2], rows[3], odd)
    return [mix(a, c, low), mix(b, d, low), mix(a, c, high), mix(b, d, high)]


def _take(context: Any, builder: Any, signature: Any, args: Any) -> Any:
    table, width, rows, k, first, columns, at, stride = args
    kinds = signature.args
    data, numbers = _pointer(context, builder, kinds[0], table), _pointer(context, builder, kinds[2], rows)
    out = _pointer(context, builder, kinds[5], columns)
    taken = [
        builder.load(_four(builder, data, builder.add(builder.mul(row, width), first)), align=8)
        for row in _numbers(builder, numbers, k)
    ]
    for column, value in enumerate(_exchange(builder, taken)):
        builder.store(value, _four(builder, out, _along(builder, at, stride, column)), align=8)
    return context.get_dummy_value()


def _put(context: Any, builder: Any, signature: Any, args: Any) -> Any:
    table, width, rows, k, first, columns, at, stride = args
    kinds = signature.args
    data, numbers = _pointer(context, builder, kinds[0], table), _pointer(context, builder, kinds[2], rows)
    source = _pointer(context, builder, kinds[5], columns)
    named = _numbers(builder, numbers, k)
    taken = [
        builder.load(_four(builder, source, _along(builder, at, stride, column)), align=8) for column in range(LANES)
    ]
    for row, value in zip(named, _exchange(builder, taken), strict=True):
        builder.store(value, _four(builder, data, builder.add(builder.mul(row, width), first)), align=8)
    return context.get_dummy_value()


def _add(context: Any, builder: Any, signature: Any, args: Any) -> Any:
    load, rows, mine, others, columns, at, stride, arm, other = args
    kinds = signature.args
    data, numbers = _pointer(context, builder, kinds[0], load), _pointer(context, builder, kinds[1], rows)
    source = _pointer(context, builder, kinds[4], columns)

    def starts(k: Any) -> list[Any]:
        return [builder.mul(row, _constant(LOAD.width)) for row in _numbers(builder, numbers, k)]

    def splat(place: Any, m: int) -> Any:
        return _splat(builder, builder.load(builder.gep(source, [builder.add(place, _constant(m))])), _DOUBLES)

    here, there = starts(mine), starts(others)
    arms = [(splat(arm, m), splat(other, m)) for m in range(LANES)]
    for first in range(0, LOAD.width, LANES):
        taken = [
            builder.load(_four(builder, source, _along(builder, at, stride, first + column)), align=8)
            for column in range(LANES)
        ]
        # One contact after the other, because two contacts may have the same sphere.
        for m, value in enumerate(_exchange(builder, taken)):
            for start, lever, sign in ((here[m], arms[m][0], builder.fadd), (there[m], arms[m][1], builder.fsub)):
                where = _four(builder, data, builder.add(start, _constant(first)))
                old = builder.load(where, align=8)
                if first < LOAD.torque:
                    new = sign(old, value)
                else:
                    product = builder.fmul(value, lever, flags=("contract",))
                    new = builder.fadd(old, product, flags=("contract",))
                builder.store(new, where, align=8)
    return context.get_dummy_value()


def _add_row(context: Any, builder: Any, signature: Any, args: Any) -> Any:
    load, i, j = args
    data = _pointer(context, builder, signature.args[0], load)
    sums = []
    for first in range(0, LOAD.width, LANES):
        here, there = (
            _four(builder, data, builder.add(builder.mul(row, _constant(LOAD.width)), _constant(first)))
            for row in (i, j)
        )
        sums.append((here, there, builder.fadd(builder.load(here, align=8), builder.load(there, align=8))))
    for here, there, value in sums:
        builder.store(value, here, align=8)
        builder.store(ir.Constant(_DOUBLES, [0.0] * LANES), there, align=8)
    return context.get_dummy_value()


def _find_near(context: Any, builder: Any, signature: Any, args: Any) -> Any:
    motion, width, first, second, touches, k, end, slots, found = args
    kinds = signature.args
    data, sides = _pointer(context, builder, kinds[0], motion), []
    for kind, places in ((kinds[2], first), (kinds[3], second)):
        at = builder.gep(_pointer(context, builder, kind, places), [k])
        four = builder.load(builder.bitcast(at, ir.VectorType(_WORD, LANES).as_pointer()), align=4)
        taken = []
        for m in range(LANES):
            row = builder.sext(builder.extract_element(four, ir.Constant(_WORD, m)), _LONG)
            taken.append(builder.load(_four(builder, data, builder.mul(row, width)), align=8))
        sides.append(taken)
    ways = _exchange(builder, [builder.fsub(a, b) for a, b in zip(*sides, strict=True)])
    reaches = [builder.fadd(a, b) for a, b in zip(*sides, strict=True)]
    reach = _exchange(builder, reaches)[3]
    x2, y2, z2, reach2 = (builder.fmul(a, a, flags=("contract",)) for a in (*ways[:3], reach))
    distance2 = builder.fadd(builder.fadd(x2, y2, flags=("contract",)), z2, flags=("contract",))
    names = builder.add(_splat(builder, k, _LONGS), ir.Constant(_LONGS, list(range(LANES))))
    some = builder.icmp_signed("<", names, _splat(builder, end, _LONGS))
    near = builder.and_(builder.fcmp_ordered("<", distance2, reach2), some)
    states = builder.gep(_pointer(context, builder, kinds[4], touches), [k])
    four = builder.load(builder.bitcast(states, ir.VectorType(_BYTE, LANES).as_pointer()), align=1)
    touched = builder.and_(builder.icmp_unsigned("!=", four, ir.Constant(four.type, [0] * LANES)), some)
    either = builder.or_(near, touched)
    store_chosen(builder, names, either, builder.gep(_pointer(context, builder, kinds[7], slots), [found]))
    ones = cgutils.get_or_insert_function(builder.module, ir.FunctionType(_LONG, [_LONG]), "llvm.ctpop.i64")

    def bits(vector: Any) -> Any:
        return builder.zext(builder.bitcast(vector, ir.IntType(LANES)), _LONG)

    count = builder.call(ones, [bits(either)])
    both = builder.or_(bits(near), builder.shl(bits(touched), _constant(LANES)))
    return builder.or_(both, builder.shl(count, _constant(2 * LANES)))
