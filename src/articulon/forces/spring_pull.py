"""The spring by which a user pulls on a body during a run."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple, Self

import numpy as np

from articulon.algebra.vectors import load, sub
from articulon.forces.base import At, Force
from articulon.forces.point_springs import arm_of, place_of, pull_at, velocity_of
from articulon.kernels import jit
from articulon.model import Model
from articulon.model.state import EXTERNAL
from articulon.passes import Bound, pass_of


class Pull(NamedTuple):
    """A damped spring from a point of a body to a position in the world. The arrays are written between two chunks of
    steps."""

    link: np.ndarray
    """Link that is pulled, shape (1,)."""
    local: np.ndarray
    """The point in the link's frame [length], shape (1, 3)."""
    target: np.ndarray
    """Target position, world frame [length], shape (1, 3)."""
    constants: np.ndarray
    """Stiffness and damping [force/length, force time/length], shape (1, 2); zeros exert no force."""


class SpringPull(Force):
    """−k (x − x₀) − c v at a point of a body, with x its position and v its velocity.

    No case declares it: it is added to the model of a run on which a user pulls. Its work is recorded in the channel
    ``external``, as work done from outside. It has no energy function, because the target x₀ is moved by hand.
    """

    @classmethod
    def gather(cls, model: Model, declared: Sequence[tuple[str, Self]], users: Any) -> Pull:
        """See :class:`Force`."""
        return Pull(np.zeros(1, dtype=np.int64), np.zeros((1, 3)), np.zeros((1, 3)), np.zeros((1, 2)))

    @classmethod
    def channels(cls, table: Pull) -> tuple[Iterable[int], Iterable[int]]:
        """See :class:`Force`."""
        return (EXTERNAL,), ()

    @classmethod
    def fill(cls, table: Pull, at: At) -> Iterator[Bound]:
        """See :class:`Force`."""
        yield spring_pull_wrench.bind(table, at.ws, at.channels.wrench[EXTERNAL])


@jit
def pull_of(table, ws):
    """Return the arm of the point and the force on it, world axes."""
    i, k, c = table.link[0], table.constants[0, 0], table.constants[0, 1]
    arm = arm_of(i, load(table.local, 0), ws)
    d, v = sub(place_of(i, arm, ws), load(table.target, 0)), velocity_of(i, arm, ws)
    return arm, (-k * d[0] - c * v[0], -k * d[1] - c * v[1], -k * d[2] - c * v[2])


@pass_of
def spring_pull_wrench(table, ws, wrench):
    """Add −k (x − x₀) − c v to the wrench of the link that is pulled."""
    arm, force = pull_of(table, ws)
    pull_at(wrench, table.link[0], arm, force)
