"""A hint to the processor that memory is about to be read.

The rows of a list of neighbours are longer than a page of what the processor guesses ahead, and the positions that they
name lie in several planes of cells; asked for some rows before they are needed, they come as fast from the memory of
millions of sites as from the cache of a few thousand.
"""

from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

LINE = 64
"""Bytes that come together."""

_BYTES, _WORD = ir.IntType(8).as_pointer(), ir.IntType(32)


@intrinsic
def prefetch(typing: Any, array: Any, item: Any) -> Any:
    """Asks for the memory of an item of a contiguous array, counted over all of it; reads nothing, and changes
    nothing."""
    return types.void(array, types.int64), _generate


def _generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
    data = context.make_array(signature.args[0])(context, builder, args[0]).data
    arguments = ir.FunctionType(ir.VoidType(), [_BYTES, _WORD, _WORD, _WORD])
    hint = cgutils.get_or_insert_function(builder.module, arguments, "llvm.prefetch.p0i8")
    # To be read, kept as long as may be, as data.
    how = [ir.Constant(_WORD, value) for value in (0, 3, 1)]
    builder.call(hint, [builder.bitcast(builder.gep(data, [args[1]]), _BYTES), *how])
    return context.get_dummy_value()
