"""Kernels and leaves made from existing code by replacing some of its global names, such as one law by another."""

from collections.abc import Callable
from types import FunctionType
from typing import Any

from articulon.kernel_cache import files_of
from articulon.kernels import jit, kernel, routine, routine_that_allocates


def specialised(
    function: Callable,
    name: str,
    parallel: bool = False,
    allocates: bool = False,
    cached: bool = True,
    called: str = "either",
    **replaced: Any,
) -> Any:
    """A kernel made from a function's code, with some of its global names replaced, such as one law by another.

    A function in a closure would make every process compile the kernel again. With a global, the kernel is cached,
    under the given name.
    """
    found = copied(function, name, **replaced)
    return kernel(found, parallel=parallel, allocates=allocates, cached=cached, called=called)


def part(function: Callable, name: str, parallel: bool = False, **replaced: Any) -> Any:
    """Like :func:`specialised`, for a part that only kernels call, and which may call dense algebra or threads."""
    if parallel:
        return specialised(function, name, parallel=True, called="address", **replaced)
    return routine_that_allocates(copied(function, name, **replaced))


def variant(function: Any, name: str, **replaced: Any) -> Any:
    """A ``routine`` or leaf that kernels call, with other values for some of its globals."""
    return routine(copied(function.py_func, name, **replaced))


def leaf_variant(function: Any, name: str, **replaced: Any) -> Any:
    """A leaf with other values for some of its globals; it is compiled into every kernel that calls it."""
    return jit(copied(function.py_func, name, **replaced))


def copied(function: Callable, name: str, **replaced: Any) -> FunctionType:
    """A function's code under another name, with some of its global names replaced. Its cache key covers the sources of
    all of them: an edit of a law counts as an edit of every loop that contains the law."""
    copy = FunctionType(function.__code__, {**function.__globals__, **replaced}, name)
    copy.__qualname__, copy.__module__ = name, function.__module__
    files = {file for one in (function, *replaced.values()) if callable(one) for file in files_of(one)}
    copy.made_of = tuple(sorted(files))  # type: ignore[attr-defined]
    instead = ", ".join(f"{name}={_named(one)}" for name, one in sorted(replaced.items()))
    copy.replaced = instead  # type: ignore[attr-defined]
    return copy


def _named(value: Any) -> str:
    """A description of a replacement value: a function's name, and the replacements within that function."""
    function = getattr(value, "py_func", value)
    if not callable(function):
        return repr(value)
    return f"{function.__module__}.{function.__qualname__}({getattr(function, 'replaced', '')})"
