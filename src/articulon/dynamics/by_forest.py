"""Leaf functions that are one for forests of rigid bodies and another for forests with flexible ones.

Which of the two a kernel holds is settled when it is compiled, by the type of the forest that it is compiled for: rigid
models run the code that they would run if there were no other.
"""

import inspect
from collections.abc import Callable
from typing import Any

from numba import types
from numba.extending import overload

from articulon.kernels import LEAF, jit


def by_forest(function: Callable[..., Any]) -> Any:
    """A leaf function whose first argument is the forest: this one for rigid forests, the one that ``for_flexible``
    marks for others. The one for rigid forests stays callable, from leaves, as ``.rigid``."""
    versions = {"rigid": function}

    def choose(forest: Any, *_: Any) -> Callable[..., Any]:
        at = forest.fields.index("flexible")
        return versions["rigid" if forest.types[at] == types.none else "flexible"]

    def stub(*arguments: Any) -> Any:
        raise TypeError(f"{function.__name__} is a leaf of kernels")

    # Numba compares the names of the arguments with those of what it is given.
    vars(choose)["__signature__"] = inspect.signature(function)
    overload(stub, jit_options={**LEAF, "forceinline": True})(choose)
    named: Any = stub
    named.__name__, named.versions, named.rigid = function.__name__, versions, jit(function)
    return named


def for_flexible(stub: Any) -> Callable[[Callable[..., Any]], Any]:
    """Marks what a ``by_forest`` function is for forests with flexible bodies."""

    def register(function: Callable[..., Any]) -> Any:
        stub.versions["flexible"] = function
        return jit(function)

    return register
