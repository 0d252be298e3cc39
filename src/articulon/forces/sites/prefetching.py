"""Prefetch hints to the processor.

The rows of a neighbour list are longer than the page within which the processor prefetches by itself, and the positions
that they name are spread over several planes of cells. Prefetched some rows ahead, they arrive as fast from the memory
of millions of sites as from the cache of a few thousand.
"""

from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

LINE = 64
"""Bytes of a cache line."""

_BYTES, _WORD = ir.IntType(8).as_pointer(), ir.IntType(32)


@intrinsic
def prefetch(typing: Any, array: Any, item: Any) -> Any:
    """Prefetch the cache line of an item of a contiguous array, by its flat index; this reads and changes nothing."""
    return types.void(array, types.int64), _generate


def _generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
    data = context.make_array(signature.args[0])(context, builder, args[0]).data
    arguments = ir.FunctionType(ir.VoidType(), [_BYTES, _WORD, _WORD, _WORD])
    hint = cgutils.get_or_insert_function(builder.module, arguments, "llvm.prefetch.p0i8")
    # Arguments: for reading, with the highest locality, into the data cache.
    how = [ir.Constant(_WORD, value) for value in (0, 3, 1)]
    builder.call(hint, [builder.bitcast(builder.gep(data, [args[1]]), _BYTES), *how])
    return context.get_dummy_value()
