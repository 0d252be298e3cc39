"""Dispatch on the kind of joint, over all joints.

Each dispatcher is a chain of functions, one for each kind, that the compiler turns into one switch.
"""

from collections.abc import Callable
from typing import Any

from articulon.kernels import jit
from articulon.model.joints import MODULES, mask

MOVING = [(joint.kind, module) for joint, module in MODULES.items() if joint.nu]
"""Kind and module of each joint that moves: all except the weld, whose bodies are merged when a model is built."""

FRAMED, TRANSLATES, MIXED = mask("framed"), mask("translates"), mask("mixed")
DEGREES_OF_FREEDOM = tuple(joint.nu for joint in MODULES)
QUATERNION = tuple(-1 if joint.quaternion is None else joint.quaternion for joint in MODULES)
FIXED_IN_BODY = tuple(sum(1 << k for k, fixed in enumerate(joint.fixed_in_body) if fixed) for joint in MODULES)


def _chain(functions: list[tuple[int, Callable[..., Any]]]) -> Callable[..., Any]:
    """A function ``chain(kind, *arguments)`` that calls the function of the kind."""
    (kind, function), *others = functions
    if not others:

        @jit
        def last(_, *arguments):
            return function(*arguments)

        return last
    rest = _chain(others)

    @jit
    def choose(which, *arguments):
        if which == kind:
            return function(*arguments)
        return rest(which, *arguments)

    return choose


def _dispatcher(name: str) -> Callable[..., Any]:
    return _chain([(kind, getattr(module, name)) for kind, module in MOVING])


place = _dispatcher("place")
"""place(kind, axis, q, k, frame): see ``model/joints/__init__.py`` for this function and the next ones."""
velocity = _dispatcher("velocity")
column = _dispatcher("column")
eliminate = _dispatcher("eliminate")
accelerate = _dispatcher("accelerate")
rates = _dispatcher("rates")
"""``rates(kind, q, k, u, j, qdot)``: q' at the joint's first coordinate k and first speed j."""
drift = _dispatcher("drift")
"""drift(kind, q, k, u, j, time): moves the joint for ``time`` at constant speeds."""


@jit
def degrees_of_freedom(kind):
    """Number of speeds of the joint."""
    return DEGREES_OF_FREEDOM[kind]


@jit
def quaternion(kind):
    """Index of the first Euler parameter among the joint's coordinates, −1 if it has none."""
    return QUATERNION[kind]


@jit
def framed(kind):
    """Whether the joint's columns need the joint frame as well as the body frame."""
    return (FRAMED >> kind) & 1


@jit
def translates(kind):
    """Whether the joint moves the body's origin."""
    return (TRANSLATES >> kind) & 1


@jit
def mixed(kind):
    """Whether one rotation of the joint rotates the axis of another."""
    return (MIXED >> kind) & 1


@jit
def fixed_in_body(kind, k):
    """Whether the k-th column of the motion subspace is fixed in the body; otherwise it is fixed in the joint frame."""
    return (FIXED_IN_BODY[kind] >> k) & 1
