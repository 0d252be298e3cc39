"""Functions that fill registers of lanes from memory, from one number or from bits, and that sum their lanes."""

from typing import Any

from llvmlite import ir
from numba import types
from numba.extending import intrinsic
from numba.np.arrayobj import populate_array

from articulon.lanes import WIDTH, Choices, Lanes, splat, vector_type


@intrinsic
def load_rows(typingctx: Any, like: Any, table: Any, numbers: Any, at: Any) -> Any:
    """Rows of a table (n, 4) as four registers of lanes, one for each column; ``like`` sets the number of rows. The row
    numbers (uint32) are consecutive in ``numbers`` from index ``at`` on. Each row is loaded as a whole, because loading
    a column would need an address for each lane; moves between registers then form the columns."""
    width = like.width

    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        rows_of, numbers_of = (
            context.make_array(kind)(context, builder, value).data
            for kind, value in zip(signature.args[1:3], values[1:3], strict=True)
        )
        four, long = vector_type(ir.DoubleType(), 4), ir.IntType(64)
        base, first = builder.bitcast(rows_of, four.as_pointer()), builder.gep(numbers_of, [values[3]])
        rows = []
        for lane in range(width):
            number = builder.zext(builder.load(builder.gep(first, [ir.Constant(long, lane)])), long)
            rows.append(builder.load(builder.gep(base, [number]), align=32))

        def mixed(a: Any, b: Any, order: list[int]) -> Any:
            return builder.shuffle_vector(a, b, ir.Constant(vector_type(ir.IntType(32), len(order)), order))

        # Form four registers: register m holds row m and, with eight lanes, row m + 4 after it. Then form pairs of
        # columns.
        if width == 8:
            rows = [mixed(rows[m], rows[m + 4], list(range(8))) for m in range(4)]
        starts = range(0, width, 4)
        even = [k for h in starts for k in (h, width + h, h + 2, width + h + 2)]
        odd = [k + 1 for k in even]
        low, high = ([mixed(rows[0], rows[1], by), mixed(rows[2], rows[3], by)] for by in (even, odd))
        front = [k for h in starts for k in (h, h + 1, width + h, width + h + 1)]
        back = [k + 2 for k in front]
        pairs = [(low, front), (high, front), (low, back), (high, back)]
        columns = [mixed(halves[0], halves[1], order) for halves, order in pairs]
        return context.make_tuple(builder, signature.return_type, columns)

    return types.UniTuple(like, 4)(like, table, numbers, types.int64), generate


@intrinsic
def in_all(typingctx: Any, x: Any, width: Any) -> Any:
    """A register that holds the same number in each of ``width`` lanes; the width is a constant of the kernel."""
    if not isinstance(width, types.IntegerLiteral):
        return None
    lanes = Lanes(width.literal_value)

    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        return splat(builder, values[0], lanes.width)

    return lanes(types.float64, width), generate


@intrinsic
def total(typingctx: Any, x: Any) -> Any:
    """Sum of the lanes, added one after the other."""

    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        found = builder.extract_element(values[0], ir.IntType(32)(0))
        for lane in range(1, x.width):
            found = builder.fadd(found, builder.extract_element(values[0], ir.IntType(32)(lane)))
        return found

    return types.float64(x), generate


@intrinsic
def some_lanes(typingctx: Any, bits: Any) -> Any:
    """A condition that holds in the lanes whose bits are set in an integer."""

    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        truth = builder.trunc(values[0], ir.IntType(WIDTH))
        return builder.bitcast(truth, vector_type(ir.IntType(1), WIDTH))

    return Choices(WIDTH)(types.int64), generate


@intrinsic
def lanes_of(typingctx: Any, numbers: Any, start: Any, rows: Any, columns: Any) -> Any:
    """Numbers of a flat array, from index ``start`` on, as an array of lanes (rows, columns). Their address must be a
    multiple of the size of a register."""
    kind = types.Array(Lanes(WIDTH), 2, "C")

    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        long, size = ir.IntType(64), 8 * WIDTH
        given = context.make_array(signature.args[0])(context, builder, values[0])
        found = context.make_array(kind)(context, builder)
        data = builder.bitcast(builder.gep(given.data, [values[1]]), context.get_data_type(kind.dtype).as_pointer())
        count = builder.mul(values[2], values[3])
        strides = [builder.mul(values[3], long(size)), long(size)]
        itemsize = context.get_constant(types.intp, size)
        populate_array(found, data, [values[2], values[3]], strides, itemsize, meminfo=None, parent=None)
        found.nitems = count
        return found._getvalue()

    return kind(numbers, types.int64, types.int64, types.int64), generate


@intrinsic
def folded(typingctx: Any, x: Any) -> Any:
    """Sum of the lanes: the upper half is added to the lower half until one number is left."""

    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        found, width = values[0], x.width
        while width > 1:
            width //= 2
            nothing, numbers = ir.Constant(found.type, ir.Undefined), vector_type(ir.IntType(32), width)
            low, high = (
                builder.shuffle_vector(found, nothing, ir.Constant(numbers, list(range(begin, begin + width))))
                for begin in (0, width)
            )
            found = builder.fadd(low, high)
        return builder.extract_element(found, ir.IntType(32)(0))

    return types.float64(x), generate


@intrinsic
def load_run(typingctx: Any, like: Any, numbers: Any, at: Any) -> Any:
    """Consecutive numbers of a flat array from index ``at`` on, at any alignment; ``like`` sets how many."""

    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        data = context.make_array(signature.args[1])(context, builder, values[1]).data
        kind = vector_type(ir.DoubleType(), like.width)
        return builder.load(builder.bitcast(builder.gep(data, [values[2]]), kind.as_pointer()), align=8)

    return like(like, numbers, types.int64), generate


@intrinsic
def store_run(typingctx: Any, numbers: Any, at: Any, lanes: Any) -> Any:
    """Writes lanes to a flat array from index ``at`` on, at any alignment."""

    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        data = context.make_array(signature.args[0])(context, builder, values[0]).data
        kind = vector_type(ir.DoubleType(), lanes.width)
        builder.store(values[2], builder.bitcast(builder.gep(data, [values[1]]), kind.as_pointer()), align=8)
        return context.get_dummy_value()

    return types.void(numbers, types.int64, lanes), generate
