"""Steps of the friction-implicit rule, and their adjoints.

A step h from (q, u, a), a being the acceleration of the latest kick, is (``integrate/friction_implicit.py``)

    v = u + ¼ h a,            a' = k(q, v),       u₁ = u + ½ h a'          a kick,
    (q₁, u₂) = drift(q, u₁),  u₃ = u₂ + h x(q₁, u₂),  (q₂, u₄) = drift(q₁, u₃),
    p = k(q₂, u₄),            v' = u₄ + ¼ h p,
    a″ = k(q₂, v'),           u₅ = u₄ + ½ h a″                             a kick,

and ends with (q₂, u₅, a″); in the first step of a run a is k(q, u). Weights of that go back through it: with
g = kᵀ μ those of q and of the speeds that k is found at,

    μ = λ_a + ½ h λ_u at (q₂, v'), then ¼ h g_u at (q₂, u₄), each of which adds g_q to λ_q and g_u to λ_u,
    the drift, h λ_u of x at (q₁, u₂), the drift,
    μ = ½ h λ_u at (q, v), which adds g_q and g_u too, and leaves λ_a = ¼ h g_u.

Weights of coordinates are those in their tangent space, as Euler parameters have unit length at the end of every drift.
k is found as in ``adjoint_program.py``, with what ``spin_derivatives.py`` adds, the drift in ``drift_derivatives.py``
and x in ``friction_derivatives.py``.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from articulon.algebra.vectors import copy_into
from articulon.forces.evaluation import Evaluator
from articulon.integrate.friction_implicit import predict_middle, push, rub
from articulon.integrate.friction_implicit_passes import Passes
from articulon.integrate.friction_implicit_scratch import Scratch
from articulon.kernels import jit
from articulon.passes import Bound, Program, pass_of, run
from articulon.sensitivities.acting_forces import Acting
from articulon.sensitivities.adjoint_program import Weighed, weighing
from articulon.sensitivities.drift_derivatives import drift_adjoint
from articulon.sensitivities.friction_derivatives import Rubbed, friction_adjoint, rubbed
from articulon.sensitivities.spin_derivatives import keeps_spins, spin_adjoint
from articulon.sensitivities.table_gradients import Tables


class Kept(NamedTuple):
    """What is kept of a step; deleting it changes nothing."""

    q: np.ndarray
    """Coordinates at the beginning, in the middle and at the end, shape (3, nq)."""
    u: np.ndarray
    """Speeds at the beginning, before and after the first drift, and before and after the second, shape (5, nu)."""
    middle: np.ndarray
    """Speeds at which the two kicks find their accelerations, shape (2, nu)."""
    rotation: np.ndarray
    """Orientations of the links, as the coordinates, shape (3, links, 9)."""
    twist: np.ndarray
    """Their velocities before and after the two drifts, shape (4, links, 6)."""
    end: np.ndarray
    """When the step ends [time], shape (1,)."""


def kept(e: Evaluator) -> Kept:
    """Arrays for a model."""
    nq, nu, links = e.model.nq, e.model.nu, e.system.forest.mass.size
    shapes = (3, nq), (5, nu), (2, nu), (3, links, 9), (4, links, 6), (1,)
    return Kept(*(np.zeros(shape) for shape in shapes))


@jit
def keep_turned(ws, place, speed, kept):
    """Keeps the orientations and velocities of the links."""
    for i in range(ws.rotation.shape[0]):
        for k in range(9):
            kept.rotation[place, i, k] = ws.rotation[i, k]
        for k in range(6):
            kept.twist[speed, i, k] = ws.twist[i, k]


@jit
def start_step(clock, number, arrays):
    """Makes a step the one that the passes take; whether it is the first."""
    arrays.span[0], arrays.clock[0], arrays.clock[1] = 0.5 * clock[1], clock[0], clock[1]
    arrays.time[0], arrays.window[0], arrays.number[0] = clock[0], number[0], number[0]
    return number[0] == 0


@pass_of
def fill_forces(passes, clock, number, arrays):
    """Forces at the beginning of a step."""
    start_step(clock, number, arrays)
    run(passes.locate)
    run(passes.fill)


@pass_of
def take_step(passes, clock, number, arrays):
    """A step whose forces at the beginning have been filled; those at its end are filled after it."""
    first, h = start_step(clock, number, arrays), clock[1]
    predict_middle(passes, 0.5 * h, first, arrays)
    push(passes, 0.5 * h, arrays)
    run(passes.move)
    run(passes.drift)
    if passes.friction.shape[0] > 0:
        run(passes.move)
        rub(passes, h, arrays)
    run(passes.move)
    run(passes.arrive)
    arrays.time[0] = clock[0] + h
    run(passes.locate)
    run(passes.fill)
    predict_middle(passes, 0.5 * h, True, arrays)
    push(passes, 0.5 * h, arrays)


@jit
def keep_step(passes, clock, number, arrays, ws, kept):
    """The same step with what its derivatives read; whether it is the first of a run."""
    first, h = start_step(clock, number, arrays), clock[1]
    run(passes.locate)
    run(passes.fill)
    copy_into(kept.q[0], arrays.q)
    copy_into(kept.u[0], arrays.u)
    predict_middle(passes, 0.5 * h, first, arrays)
    copy_into(kept.middle[0], arrays.middle)
    push(passes, 0.5 * h, arrays)
    copy_into(kept.u[1], arrays.u)
    run(passes.move)
    keep_turned(ws, 0, 0, kept)
    run(passes.drift)
    keep_turned(ws, 1, 1, kept)
    copy_into(kept.q[1], arrays.q)
    copy_into(kept.u[2], arrays.u)
    if passes.friction.shape[0] > 0:
        run(passes.move)
        rub(passes, h, arrays)
    copy_into(kept.u[3], arrays.u)
    run(passes.move)
    keep_turned(ws, 1, 2, kept)
    run(passes.arrive)
    keep_turned(ws, 2, 3, kept)
    copy_into(kept.q[2], arrays.q)
    copy_into(kept.u[4], arrays.u)
    arrays.time[0] = kept.end[0] = clock[0] + h
    run(passes.locate)
    run(passes.fill)
    predict_middle(passes, 0.5 * h, True, arrays)
    copy_into(kept.middle[1], arrays.middle)
    push(passes, 0.5 * h, arrays)
    return first


class Reversing(NamedTuple):
    """The programs of an adjoint step, and the arrays through which they are called."""

    kick: Any
    """Weights of the accelerations of a kick to those of the state, and to the tables."""
    friction: Any
    """The same of the friction; empty where there is none."""
    first: Any
    """The adjoint of the first drift."""
    second: Any
    """That of the second."""
    at: Weighed
    """Of a kick."""
    rubbed: Rubbed
    """Of the friction."""


def reversing(
    e: Evaluator, arrays: Scratch, held: Kept, weight: np.ndarray, gradients: Tables, bodies: bool, acting: Acting
) -> tuple[Reversing, list[Program]]:
    """The programs of a model, which are to be kept; ``weight`` are those of a state, in place."""
    nq, nu, forest = e.model.nq, e.model.nu, e.system.forest
    at = Weighed(np.zeros(1), np.zeros(nq), *(np.zeros(nu) for _ in range(4)))
    middle = rubbed(e)
    rubs = bool(e.system.forces.drag.link.size)
    scratch = (np.zeros((forest.mass.size, 6)), np.zeros((forest.mass.size, 6)))
    programs = [
        Program(_kicking(e, at, gradients, bodies, acting)),
        Program(friction_adjoint(e, arrays, middle, gradients, bodies, acting) if rubs else ()),
    ]
    for n in range(2):
        before, after = ((held.rotation[n + k], held.twist[2 * n + k]) for k in range(2))
        drifting = forest, held.u[2 * n + 1], arrays.span, before, after, *scratch, weight[:nu], weight[nu : 2 * nu]
        programs.append(Program([drift_adjoint.bind(*drifting)]))
    kick, friction, first, second = (program.code for program in programs)
    return Reversing(kick, friction, first, second, at, middle), programs


def _kicking(e: Evaluator, at: Weighed, gradients: Tables, bodies: bool, acting: Acting) -> Iterator[Bound]:
    yield from weighing(e, at, gradients, bodies, acting._replace(resistance=False))
    forest = e.system.forest
    if keeps_spins(forest):
        links = forest.mass.size
        turning = np.zeros((links, 3)), np.zeros((links, 6)), np.zeros((links, 3))
        yield spin_adjoint.bind(forest, e.ws, at.u, at.u_weight, *turning, at.by_coordinate, at.by_speed)


@jit
def weigh_kick(reversing, time, q, u, weight):
    """What weights (3 nu,) gain by those of the accelerations of a kick, ``reversing.at.u_weight``."""
    at, nu = reversing.at, u.size
    at.time[0] = time
    copy_into(at.q, q)
    copy_into(at.u, u)
    run(reversing.kick)
    for k in range(nu):
        weight[k] += at.by_coordinate[k]
        weight[nu + k] += at.by_speed[k]


@pass_of
def reverse_step(passes, reversing, clock, number, arrays, ws, kept, weight):
    """Weights (3 nu,) of the state at the end of a step, in place, to those of the state that it begins with."""
    first, h = keep_step(passes, clock, number, arrays, ws, kept), clock[1]
    at, middle, nu = reversing.at, reversing.rubbed, arrays.u.size
    for k in range(nu):
        at.u_weight[k] = weight[2 * nu + k] + 0.5 * h * weight[nu + k]
    weigh_kick(reversing, kept.end[0], kept.q[2], kept.middle[1], weight)
    for k in range(nu):
        at.u_weight[k] = 0.25 * h * at.by_speed[k]
    weigh_kick(reversing, kept.end[0], kept.q[2], kept.u[4], weight)
    run(reversing.second)
    if reversing.friction.shape[0] > 0:
        copy_into(middle.q, kept.q[1])
        copy_into(middle.u, kept.u[2])
        for k in range(nu):
            middle.weight[k] = h * weight[nu + k]
        run(reversing.friction)
        for k in range(nu):
            weight[k] += middle.by_coordinate[k]
            weight[nu + k] += middle.by_speed[k]
    run(reversing.first)
    for k in range(nu):
        at.u_weight[k] = 0.5 * h * weight[nu + k]
    weigh_kick(reversing, clock[0], kept.q[0], kept.middle[0], weight)
    for k in range(nu):
        weight[2 * nu + k] = 0.25 * h * at.by_speed[k]
    if first:
        for k in range(nu):
            at.u_weight[k] = weight[2 * nu + k]
            weight[2 * nu + k] = 0.0
        weigh_kick(reversing, clock[0], kept.q[0], kept.u[0], weight)


def step_arguments(passes: Passes, clock: np.ndarray, number: np.ndarray, arrays: Scratch) -> tuple[Any, ...]:
    """What the passes of a step are bound to; works are not booked."""
    nothing = np.zeros((0, 2), dtype=np.int64)
    return passes._replace(book=nothing, book_friction=nothing), clock, number, arrays
