"""Compiled functions of a run by address, with their types at hand: a frame then costs a fraction of a millisecond.

Numba asks for the type of every argument of a call, and builds that of a function anew each time, which takes longer
than a hundred steps of a small model.
"""

from typing import Any

import numba
from numba.core.dispatcher import Dispatcher
from numba.extending import typeof_impl

from articulon.adaptive.direct import Direct
from articulon.forces.evaluation import Evaluator, derivative_signature, settle_signature
from articulon.integrate.drivers import Driver

HANDED_OVER = ("law", "follower")
"""What drivers hold and hand to their kernels, beside what the evaluator has."""


class _Typed(Direct):
    """One compilation of a jitted function that knows its type."""

    def __init__(self, function: Any, signature: Any) -> None:
        super().__init__(function, signature)
        self.numba_type = numba.types.FunctionType(signature)


class _Functions(tuple[Any, ...]):
    """Functions, and functions of functions, that know their type."""

    numba_type: Any


@typeof_impl.register(_Typed)
def _typeof_typed(value: _Typed, context: Any) -> Any:
    return value.numba_type


@typeof_impl.register(_Functions)
def _typeof_functions(value: _Functions, context: Any) -> Any:
    return value.numba_type


def hold_by_address(evaluator: Evaluator, driver: Driver) -> None:
    """Has an evaluator and a driver hold what they have compiled by address; nothing changes where a user's function is
    among it, whose errors come through calls of the other kind alone.

    Parameters
    ----------
    evaluator
        The forces of a run.
    driver
        What advances it, made for this evaluator.
    """
    if evaluator.particles or not _ours(evaluator.functions):
        return
    *_, functions = evaluator.types[:2]
    evaluator.functions = _held(evaluator.functions, functions)
    # Every frame is looked at by the right-hand side; what drivers have no use for is not compiled for this.
    wanted = [("derivative", derivative_signature)]
    if hasattr(driver, "follower") or "settle" in evaluator.__dict__:
        wanted.append(("settle", settle_signature))
    for name, signature in wanted:
        function = getattr(evaluator, name)
        if isinstance(function, Dispatcher):
            setattr(evaluator, name, _Typed(function, signature(evaluator)))
    for name in HANDED_OVER:
        function = getattr(driver, name, None)
        if isinstance(function, Dispatcher) and _ours(function) and len(function.nopython_signatures) == 1:
            setattr(driver, name, _Typed(function, function.nopython_signatures[0]))


def entry(kernel: Any, *arguments: Any) -> Any:
    """The compilation of a kernel for arguments of the types of these, at which it does not look when it is called. The
    kernel must have been called with such before."""
    return kernel.overloads[tuple(map(numba.typeof, arguments))].entry_point


def _ours(function: Any) -> bool:
    """Whether functions are all of this package."""
    if isinstance(function, tuple):
        return all(map(_ours, function))
    return isinstance(function, Dispatcher) and function.py_func.__module__.startswith("articulon.")


def _held(function: Any, kind: Any) -> Any:
    if not isinstance(function, tuple):
        return _Typed(function, kind.signature)
    found = _Functions(_held(one, part) for one, part in zip(function, kind, strict=True))
    found.numba_type = kind
    return found
