"""Kernels and leaves of one code in which some global names stand for others: a law for another law."""

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
    """A kernel of a function's code in which some of its global names stand for others, a law for another law.

    A function that is closed over would have the kernel compiled anew in every process; a global is cached, under the
    name that is given here.
    """
    found = copied(function, name, **replaced)
    return kernel(found, parallel=parallel, allocates=allocates, cached=cached, called=called)


def part(function: Callable, name: str, parallel: bool = False, **replaced: Any) -> Any:
    """The same for a part of kernels, which they alone call, and which may call dense algebra or threads."""
    if parallel:
        return specialised(function, name, parallel=True, called="address", **replaced)
    return routine_that_allocates(copied(function, name, **replaced))


def variant(function: Any, name: str, **replaced: Any) -> Any:
    """The same of a ``routine`` or leaf that kernels call: its code with other values for some of its globals."""
    return routine(copied(function.py_func, name, **replaced))


def leaf_variant(function: Any, name: str, **replaced: Any) -> Any:
    """The same of a leaf, which is compiled into every kernel that calls it."""
    return jit(copied(function.py_func, name, **replaced))


def copied(function: Callable, name: str, **replaced: Any) -> FunctionType:
    """A function's code under another name, in which some of its global names stand for others. It is kept by the
    sources of all of them: an edit of a law is one of every loop that the law has been put into."""
    copy = FunctionType(function.__code__, {**function.__globals__, **replaced}, name)
    copy.__qualname__, copy.__module__ = name, function.__module__
    files = {file for one in (function, *replaced.values()) if callable(one) for file in files_of(one)}
    copy.made_of = tuple(sorted(files))  # type: ignore[attr-defined]
    instead = ", ".join(f"{name}={_named(one)}" for name, one in sorted(replaced.items()))
    copy.replaced = instead  # type: ignore[attr-defined]
    return copy


def _named(value: Any) -> str:
    """A value that stands in a function for another, in words: a function's name, and what stands in that."""
    function = getattr(value, "py_func", value)
    if not callable(function):
        return repr(value)
    return f"{function.__module__}.{function.__qualname__}({getattr(function, 'replaced', '')})"
