"""Marks by which a thread tells others that data have been written.

A thread that sees a mark also sees all data that the marking thread wrote before: setting a mark is a store with
release semantics, reading one is a load with acquire semantics.
"""

from typing import Any

from llvmlite import ir
from numba import types
from numba.extending import intrinsic

_LONG = ir.IntType(64)


@intrinsic
def mark(typing: Any, marks: Any, k: Any) -> Any:
    """Set the k-th mark of an int64 array."""
    return types.void(marks, types.int64), _mark


@intrinsic
def is_marked(typing: Any, marks: Any, k: Any) -> Any:
    """Whether the k-th mark is set (not zero)."""
    return types.boolean(marks, types.int64), _is_marked


def _place(context: Any, builder: Any, signature: Any, args: Any) -> Any:
    data = context.make_array(signature.args[0])(context, builder, args[0]).data
    return builder.gep(data, [args[1]])


def _mark(context: Any, builder: Any, signature: Any, args: Any) -> Any:
    place = _place(context, builder, signature, args)
    builder.store_atomic(ir.Constant(_LONG, 1), place, "release", 8)
    return context.get_dummy_value()


def _is_marked(context: Any, builder: Any, signature: Any, args: Any) -> Any:
    value = builder.load_atomic(_place(context, builder, signature, args), "acquire", 8)
    return builder.icmp_signed("!=", value, ir.Constant(_LONG, 0))
