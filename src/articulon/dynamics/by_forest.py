"""Functions for kernels with one version for forests of rigid bodies and another for forests with flexible bodies.

The type of the forest selects the version when a kernel is compiled. Rigid models therefore run the same code as if
there were no flexible bodies.
"""

import inspect
from collections.abc import Callable
from typing import Any

from numba import types
from numba.extending import overload

from articulon.kernels import LEAF, jit


def by_forest(function: Callable[..., Any]) -> Any:
    """Return a function for kernels whose first argument is the forest. The decorated version is for rigid forests, and
    the version marked by ``for_flexible`` is for all others. Kernels can call the rigid version as ``.rigid``."""
    versions = {"rigid": function}

    def choose(forest: Any, *_: Any) -> Callable[..., Any]:
        at = forest.fields.index("flexible")
        return versions["rigid" if forest.types[at] == types.none else "flexible"]

    def stub(*arguments: Any) -> Any:
        raise TypeError(f"{function.__name__} is a leaf of kernels")

    # Numba compares argument names: those of the overload must equal those of the stub.
    vars(choose)["__signature__"] = inspect.signature(function)
    overload(stub, jit_options={**LEAF, "forceinline": True})(choose)
    named: Any = stub
    named.__name__, named.versions, named.rigid = function.__name__, versions, jit(function)
    return named


def for_flexible(stub: Any) -> Callable[[Callable[..., Any]], Any]:
    """Marks the version of a ``by_forest`` function for forests with flexible bodies."""

    def register(function: Callable[..., Any]) -> Any:
        stub.versions["flexible"] = function
        return jit(function)

    return register
