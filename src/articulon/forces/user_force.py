"""A force written by the user, jitted or in plain Python (POEMS, 5.3)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, ClassVar, Literal, NamedTuple, Self

import numpy as np
from pydantic import ConfigDict

from articulon.algebra.vectors import add, apply, cross, load, load_from, load_matrix, store_from
from articulon.declaration import Flag, Number
from articulon.forces.base import AdjointAt, At, Force, Merging, TangentAt
from articulon.forces.user_bodies import body_states
from articulon.forces.user_force_bridges import (
    ADJOINT,
    ADJOINT_ARGUMENTS,
    FORCE,
    FORCE_ARGUMENTS,
    TANGENT,
    TANGENT_ARGUMENTS,
    adjoint_bridge,
    force_bridge,
    tangent_bridge,
)
from articulon.forces.user_force_derivatives import (
    adjoint_by_tangent,
    call,
    differenced_adjoint,
    differenced_tangent,
    given_adjoint,
    given_tangent,
    tangent_by_adjoint,
)
from articulon.forces.user_functions import CODE_KEYS, UserFunctions, loaded_function
from articulon.model import CHANNELS, Model
from articulon.passes import Bound, Function, functions, pass_of


class Bodies(NamedTuple):
    """Forces written by a user, and the positions of the bodies on their links."""

    functions: tuple[Function, ...]
    """The functions."""
    adjoints: tuple[Function, ...]
    """Adjoints of some of them, as given by users."""
    tangents: tuple[Function, ...]
    """Tangents of some of them, as given by users."""
    adjoint: np.ndarray
    """Index of each function's adjoint, −1 if none is given, shape (functions,)."""
    tangent: np.ndarray
    """Index of each function's tangent, −1 if none is given, shape (functions,)."""
    reads: np.ndarray
    """1 if a function reads velocities, shape (functions,)."""
    link: np.ndarray
    """Link of each body, shape (bodies,)."""
    offset_position: np.ndarray
    """Position of each body in its link's frame [length], shape (bodies, 3)."""
    offset_rotation: np.ndarray
    """Rotation of each body in its link's frame, Euler parameters, shape (bodies, 4)."""
    channel: np.ndarray
    """Channel of each function, shape (functions,)."""
    parameters: np.ndarray
    """Parameters of the functions, concatenated."""
    start: np.ndarray
    """Start of each function's parameters, shape (functions + 1,)."""
    position: np.ndarray
    """Scratch: origins of the bodies [length], shape (bodies, 3)."""
    rotation: np.ndarray
    """Scratch: Euler parameters of the bodies, shape (bodies, 4)."""
    velocity: np.ndarray
    """Scratch: velocity of the origin and angular velocity, world frame, shape (bodies, 6)."""
    written: np.ndarray
    """Scratch: output of a function, shape (bodies, 6)."""
    rest: np.ndarray
    """Zeros, which functions that do not read velocities get, shape (bodies, 6)."""


class Own(NamedTuple):
    """Scratch that a user's derivatives read or write."""

    by_place: np.ndarray
    """Derivatives by displacements and rotations, or changes of these, shape (bodies, 6)."""
    by_velocity: np.ndarray
    """Derivatives by velocities, or changes of these, shape (bodies, 6)."""
    by_parameters: np.ndarray
    """Derivatives by parameters, or changes of these, shape (parameters,)."""


class UserForce(Force):
    """Calls ``function(time, positions, rotations, velocities, parameters, wrenches)`` at every evaluation.

    The function reads the time [time], the bodies' origins (bodies, 3) and Euler parameters (bodies, 4), and their
    velocities (bodies, 6), velocity of the origin then angular velocity, all in the world frame, with its own
    ``parameters``. It adds force and moment about the body's origin to ``wrenches`` (bodies, 6), which are zero at the
    call. A function compiled with ``numba.njit`` runs at full speed on the arrays of the run itself: it must not change
    the arrays that it reads, and must not keep any array. A plain Python function costs some microseconds more and gets
    copies, which it may keep.

    Derivatives of runs (``ar.sensitivity``) use finite differences of the function's output, unless derivatives are
    given. With weights V of the wrenches, P = Σ V·wrenches,

    ``adjoint_function(time, positions, rotations, velocities, parameters, weights, by_place, by_velocity,
    by_parameters)`` adds the derivatives of P to three arrays: to ``by_place`` (bodies, 6) with respect to
    displacements of the bodies' origins and to rotations about the origins (rotation vectors in the world frame), to
    ``by_velocity`` (bodies, 6) with respect to velocities, and to ``by_parameters`` with respect to parameters;

    ``tangent_function(time, positions, rotations, velocities, parameters, moved, accelerated, parameter_changes,
    changes)`` adds the changes of the wrenches to ``changes`` (bodies, 6). These changes are due to displacements and
    rotations of the bodies, ``moved`` (bodies, 6), to changes of their velocities, ``accelerated`` (bodies, 6), and to
    ``parameter_changes``.

    The output arrays are zero at the call. One of the two functions suffices. The adjoint then follows from the tangent
    by one call for each component of displacement, rotation and velocity of each body and for each parameter, and the
    tangent follows from the adjoint by one call for each component of each wrench.
    """

    positional: ClassVar[tuple[str, ...]] = ("function",)
    model_config = ConfigDict(frozen=True, extra="forbid", arbitrary_types_allowed=True)

    kind: Literal["user"] = "user"
    function: Callable[..., None] | str
    """The function, or its location: ``"module:name"`` or ``"path/to/file.py:name"``."""
    parameters: tuple[Number, ...] = ()
    """Parameters passed to the function as an array."""
    channel: Literal[
        "potential", "conformational", "damping", "stochastic", "thermostat", "thermostat_rate", "contact", "external"
    ] = "external"
    """Channel of the force: its factor scales the force, and its ledger line records the work."""
    reads_velocities: Flag = True
    """Whether the function reads velocities; otherwise it gets zeros. With ``friction-implicit``, only functions that
    do not read velocities have derivatives, and these functions are called once per step instead of four times."""
    adjoint_function: Callable[..., None] | str | None = None
    """Adjoint of the function, or its location."""
    tangent_function: Callable[..., None] | str | None = None
    """Tangent of the function, or its location."""

    def check(self, model: Model, where: str) -> None:
        """Raises ModelError if a function cannot be found."""
        for key in CODE_KEYS:
            self.loaded(where, key)

    def loaded(self, where: str = "user force", key: str = "function") -> Callable[..., None] | None:
        """Return a function itself, by its key; None if there is none."""
        found = getattr(self, key)
        return found if found is None or callable(found) else loaded_function(found, where, key)

    @classmethod
    def gather(cls, model: Model, declared: Sequence[tuple[str, Self]], users: UserFunctions | None) -> Bodies:
        """See :class:`Force`."""

        def compiled(key: str, kind: Any, signature: Any, arguments: str, writes: int) -> tuple[Any, ...]:
            loaded = [(where, force.loaded(where, key)) for where, force in declared] if users is not None else []
            found = (
                users.compiled(function, signature, arguments, kind, f"{where}.{key}", writes)
                for where, function in loaded
                if function is not None and users is not None
            )
            return functions(tuple(found), signature)

        def numbers(key: str) -> np.ndarray:
            given = np.array([getattr(force, key) is not None for _, force in declared])
            return np.where(given, np.cumsum(given) - 1, -1).astype(np.int64)

        bodies = model.link.size
        return Bodies(
            compiled("function", force_bridge, FORCE, FORCE_ARGUMENTS, 1),
            compiled("adjoint_function", adjoint_bridge, ADJOINT, ADJOINT_ARGUMENTS, 3),
            compiled("tangent_function", tangent_bridge, TANGENT, TANGENT_ARGUMENTS, 1),
            numbers("adjoint_function"),
            numbers("tangent_function"),
            np.array([force.reads_velocities for _, force in declared], dtype=np.int64),
            model.link.copy(),
            model.offset_position.copy(),
            model.offset_rotation.copy(),
            np.array([CHANNELS.index(force.channel) for _, force in declared], dtype=np.int64),
            np.array([value for _, force in declared for value in force.parameters], dtype=np.float64),
            np.cumsum([0, *(len(force.parameters) for _, force in declared)]).astype(np.int64),
            np.zeros((bodies, 3)),
            np.zeros((bodies, 4)),
            np.zeros((bodies, 6)),
            np.zeros((bodies, 6)),
            np.zeros((bodies, 6)),
        )

    @classmethod
    def channels(cls, table: Bodies) -> tuple[Iterable[int], Iterable[int]]:
        """See :class:`Force`."""
        return table.channel.tolist(), ()

    @classmethod
    def reads_speeds(cls, table: Bodies) -> bool:
        """See :class:`Force`."""
        return bool(table.reads.any())

    @classmethod
    def fill(cls, table: Bodies, at: At) -> Iterator[Bound]:
        """See :class:`Force`."""
        yield user_wrenches.bind(table, at.time, at.ws, at.channels.wrench)

    @classmethod
    def adjoint(cls, table: Bodies, gradient: Bodies, at: AdjointAt) -> Iterator[Bound]:
        """See :class:`Force`."""
        bodies, own = table.link.size, _own(table)
        scratch = np.zeros((bodies, 6)), np.zeros((bodies, 12))
        into = gradient, at.time, at.ws, at.motion, *scratch, at.by_place, at.by_velocity
        for f in range(table.channel.size):
            if table.adjoint[f] >= 0:
                yield given_adjoint.bind(table, f, own, *into)
            elif table.tangent[f] >= 0:
                yield adjoint_by_tangent.bind(table, f, own, *into)
            else:
                yield differenced_adjoint.bind(table, f, *into)

    @classmethod
    def tangent(cls, table: Bodies, change: Bodies, at: TangentAt) -> Iterator[Bound]:
        """See :class:`Force`."""
        bodies, own = table.link.size, _own(table)
        read = change, at.time, at.ws, at.moved, at.twist, np.zeros((bodies, 12)), np.zeros((bodies, 6))
        for f in range(table.channel.size):
            if table.tangent[f] >= 0:
                yield given_tangent.bind(table, f, own, *read, at.wrench)
            elif table.adjoint[f] >= 0:
                yield tangent_by_adjoint.bind(table, f, own, *read, np.zeros((bodies, 6)), at.wrench)
            else:
                yield differenced_tangent.bind(table, f, *read, np.zeros(table.parameters.size), at.wrench)

    @classmethod
    def coarsen(cls, table: Bodies, merging: Merging, links: int, speeds: int) -> Bodies:
        """See :class:`Force`."""
        return table._replace(
            link=merging.carriers(table.link),
            offset_position=merging.points(table.link, table.offset_position),
            offset_rotation=merging.rotated(table.link, table.offset_rotation),
        )


def _own(table: Bodies) -> Own:
    bodies = table.link.size
    return Own(np.zeros((bodies, 6)), np.zeros((bodies, 6)), np.zeros(table.parameters.size))


@pass_of
def user_wrenches(bodies, time, ws, wrench):
    """Call each user's function and add its output to the wrenches (8, links, 6) of its channel."""
    links, offset_position, channel = bodies.link, bodies.offset_position, bodies.channel
    matrices, written = ws.rotation, bodies.written
    body_states(bodies, ws, bodies.position, bodies.rotation, bodies.velocity)
    for f in range(channel.size):
        call(bodies, f, time, written)
        mine = wrench[channel[f]]
        for k in range(links.size):
            i = links[k]
            if i >= 0:
                force = load_from(written, k, 0)
                arm = apply(load_matrix(matrices, i), load(offset_position, k))
                store_from(mine, i, 0, add(load_from(mine, i, 0), force))
                store_from(mine, i, 3, add(load_from(mine, i, 3), add(load_from(written, k, 3), cross(arm, force))))
