"""Steps of the friction-implicit integrator, and their adjoints.

A step h from (q, u, a), where a is the acceleration of the latest kick, is (``integrate/friction_implicit.py``)

    v = u + ¼ h a,            a' = k(q, v),       u₁ = u + ½ h a'          a kick,
    (q₁, u₂) = drift(q, u₁),  u₃ = u₂ + h x(q₁, u₂),  (q₂, u₄) = drift(q₁, u₃),
    p = k(q₂, u₄),            v' = u₄ + ¼ h p,
    a″ = k(q₂, v'),           u₅ = u₄ + ½ h a″                             a kick,

and ends with (q₂, u₅, a″). Here k are the accelerations of a kick, and x the accelerations by friction. In the first
step of a run, a is k(q, u). The adjoint takes weights λ of the final state back through the step. Let g_q and g_u be
the derivatives of μ·k with respect to q and to the speeds at which k is evaluated. Each kick adds g_q to λ_q and g_u to
λ_u. The stages of the adjoint are, in this order,

    the second kick, with μ = λ_a + ½ h λ_u at (q₂, v'),
    its prediction p, with μ = ¼ h g_u at (q₂, u₄),
    the second drift,
    the friction x at (q₁, u₂), with the weights h λ_u,
    the first drift,
    the first kick, with μ = ½ h λ_u at (q, v), after which λ_a = ¼ h g_u.

Weights of coordinates are in their tangent space, as Euler parameters have unit length at the end of every drift. A
step ends at the coordinates at which the next step starts. The adjoint of the forces of all kicks there is computed
only once, when the earlier step is reversed. The derivatives of k are in ``kick_adjoint.py``, the derivatives of the
drift in ``drift_derivatives.py``, and the derivatives of x in ``friction_derivatives.py``.
"""

from typing import Any, NamedTuple

import numpy as np

from articulon.algebra.vectors import copy_into
from articulon.dynamics.derivatives.inverse_mass import ARTICULATED
from articulon.dynamics.motion_passes import solve_and_keep
from articulon.forces.evaluation import Evaluator
from articulon.forces.joint_friction import resistance_of
from articulon.integrate.friction_implicit import predict_middle, push, rub
from articulon.integrate.friction_implicit_passes import Passes, parts
from articulon.integrate.friction_implicit_scratch import Scratch
from articulon.kernels import jit
from articulon.model.state import EXTERNAL
from articulon.passes import Program, pass_of, run
from articulon.sensitivities.acting_forces import Acting
from articulon.sensitivities.drift_derivatives import drift_adjoint
from articulon.sensitivities.friction_derivatives import Rubbed, friction_adjoint, has_friction, rubbed
from articulon.sensitivities.kick_adjoint import Kicks, kick_passes, kicks
from articulon.sensitivities.table_gradients import Tables


class Kept(NamedTuple):
    """Intermediate results kept from a step; they can be recomputed."""

    q: np.ndarray
    """Coordinates at the beginning, in the middle and at the end, shape (3, nq)."""
    u: np.ndarray
    """Speeds at the beginning, before and after the first drift, and before and after the second, shape (5, nu)."""
    middle: np.ndarray
    """Speeds at which the accelerations of the two kicks are evaluated, shape (2, nu)."""
    rotation: np.ndarray
    """Orientations of the links at the beginning, in the middle and at the end, shape (3, links, 9)."""
    twist: np.ndarray
    """Velocities of the links before and after the two drifts, shape (4, links, 6)."""
    end: np.ndarray
    """Time at the end of the step [time], shape (1,)."""
    rate: np.ndarray
    """Four accelerations: at the initial speeds (first step of a run only), of the first kick, of the prediction for
    the second kick, and of the second kick, shape (4, nu)."""
    began: np.ndarray
    """Acceleration of the latest kick before the step, shape (nu,)."""
    latest: np.ndarray
    """Articulated inertias of the links that the latest solution for accelerations has stored, shape (links, 21)."""
    heavier: np.ndarray
    """Articulated inertias with drag added, in the middle of the step, shape (links, 21)."""
    articulated: np.ndarray
    """Articulated inertias at the start of the step, shape (links, 21)."""
    joint: np.ndarray
    """Scaled joint forces at the start and at the end, shape (2, nu)."""
    wrench: np.ndarray
    """Scaled wrenches on the links at the start and at the end, shape (2, links, 6)."""


def kept(e: Evaluator) -> Kept:
    """Allocate the arrays for a model."""
    nq, nu, links = e.model.nq, e.model.nu, e.system.forest.mass.size
    shapes = (3, nq), (5, nu), (2, nu), (3, links, 9), (4, links, 6), (1,), (4, nu), (nu,)
    inertias = (links, ARTICULATED), (links, ARTICULATED), (links, ARTICULATED)
    return Kept(*(np.zeros(shape) for shape in (*shapes, *inertias, (2, nu), (2, links, 6))))


def keeping(e: Evaluator, arrays: Scratch, passes: Passes, held: Kept) -> tuple[Passes, list[Program]]:
    """Return the passes of a step, and the programs that the caller must keep alive. When the passes solve for
    accelerations, they store the articulated inertias in ``held``. Work is not recorded."""
    forest, ws, channels = e.system.forest, e.ws, e.channels
    sums, fall = (channels.total_joint, channels.total_wrench, e.system.forces.gravity), arrays.factor[EXTERNAL:]
    found = parts(e, arrays, flight=False)
    solving = solve_and_keep.bind(forest, *sums, fall, ws, arrays.acceleration, held.latest)
    programs = [Program([*found.solve[:-1], solving])]
    passes = passes._replace(solve=programs[0].code)
    if found.friction and resistance_of(e.system.forces.terms) is None:
        heavier = forest._replace(mass=arrays.mass, moment=arrays.moment, inertia=arrays.inertia)
        still = ws._replace(twist=arrays.still, bias=arrays.no_bias)
        loads = arrays.no_torque, arrays.total, np.zeros(3), fall
        rubbing = solve_and_keep.bind(heavier, *loads, still, arrays.udot, held.heavier)
        programs.append(Program([*found.friction[:-1], rubbing]))
        passes = passes._replace(friction=programs[1].code)
    return passes, programs


def ending_of(e: Evaluator, passes: Passes) -> Passes:
    """Return the programs for the end of a step whose forces there are known. They compute these again only if
    derivatives read more than the scaled sums, or if forces depend on speeds too."""
    forces, nothing = e.system.forces, np.zeros((0, 2), dtype=np.int64)
    again = bool(forces.sites.kinds.size) or any(
        kind.adjoint_reads_fill or kind.reads_speeds(table) for kind, table in forces.terms
    )
    return passes if again else passes._replace(fill=nothing, scale=nothing)


@jit
def keep_forces(channels, place, kept):
    """Keep the scaled forces."""
    copy_into(kept.joint[place], channels.total_joint)
    copy_into(kept.wrench[place].reshape(-1), channels.total_wrench.reshape(-1))


@jit
def keep_turned(ws, place, speed, kept):
    """Keep the orientations and velocities of the links."""
    for i in range(ws.rotation.shape[0]):
        for k in range(9):
            kept.rotation[place, i, k] = ws.rotation[i, k]
        for k in range(6):
            kept.twist[speed, i, k] = ws.twist[i, k]


@jit
def start_step(clock, number, arrays):
    """Select the step that the passes take; return whether it is the first."""
    arrays.span[0], arrays.clock[0], arrays.clock[1] = 0.5 * clock[1], clock[0], clock[1]
    arrays.time[0], arrays.window[0], arrays.number[0] = clock[0], number[0], number[0]
    return number[0] == 0


@pass_of
def fill_forces(passes, clock, number, arrays):
    """Compute the forces at the start of a step."""
    start_step(clock, number, arrays)
    run(passes.locate)
    run(passes.fill)


@pass_of
def take_step(passes, clock, number, arrays):
    """Take a step with known initial forces, and compute the forces at its end."""
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
def keep_step(passes, ending, clock, number, arrays, ws, channels, kept, known):
    """Take a step and keep the results that its derivatives read. ``known`` means that ``kept`` holds the following
    step; the last kick is then not repeated, and the forces at the end are those at the start of that step, which the
    programs ``ending`` complete. Return whether the step is the first of a run."""
    first, h = start_step(clock, number, arrays), clock[1]
    if known:
        copy_into(kept.rate[3], kept.began)
        copy_into(kept.joint[1], kept.joint[0])
        copy_into(kept.wrench[1].reshape(-1), kept.wrench[0].reshape(-1))
    copy_into(kept.began, arrays.acceleration)
    run(passes.locate)
    run(passes.fill)
    copy_into(kept.q[0], arrays.q)
    copy_into(kept.u[0], arrays.u)
    predict_middle(passes, 0.5 * h, first, arrays)
    keep_forces(channels, 0, kept)
    copy_into(kept.rate[0], arrays.acceleration)
    copy_into(kept.middle[0], arrays.middle)
    push(passes, 0.5 * h, arrays)
    copy_into(kept.rate[1], arrays.acceleration)
    copy_into(kept.articulated.reshape(-1), kept.latest.reshape(-1))
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
    if known:
        copy_into(channels.total_joint, kept.joint[1])
        copy_into(channels.total_wrench.reshape(-1), kept.wrench[1].reshape(-1))
        run(ending.fill)
        predict_middle(ending, 0.5 * h, True, arrays)
    else:
        run(passes.fill)
        predict_middle(passes, 0.5 * h, True, arrays)
    keep_forces(channels, 1, kept)
    copy_into(kept.rate[2], arrays.acceleration)
    copy_into(kept.middle[1], arrays.middle)
    if not known:
        push(passes, 0.5 * h, arrays)
        copy_into(kept.rate[3], arrays.acceleration)
    return first


class Reversing(NamedTuple):
    """Programs of an adjoint step, and the arrays for their arguments and results."""

    place: Any
    """Program that places the links for kicks."""
    fill: Any
    """Program that places the links and computes the forces on them."""
    kick: Any
    """Program for the derivatives of the weighted accelerations of the first kick at a place."""
    another: Any
    """Program for the derivatives of the weighted accelerations of another kick at the same place."""
    forces: Any
    """Program for the derivatives of the forces of all kicks at a place."""
    friction: Any
    """Program for the derivatives of the friction; empty if there is no friction."""
    first: Any
    """Program for the adjoint of the first drift."""
    second: Any
    """Program for the adjoint of the second drift."""
    last: np.ndarray
    """Number of the step that was reversed last, shape (1,); -1 before the first reversal."""
    at: Kicks
    """Arrays of kicks."""
    rubbed: Rubbed
    """Arrays of the friction."""


def reversing(
    e: Evaluator, arrays: Scratch, held: Kept, weight: np.ndarray, gradients: Tables, bodies: bool, acting: Acting
) -> tuple[Reversing, list[Program]]:
    """Build the programs of a model; the caller must keep the returned programs alive. ``weight`` holds the weights of
    a state and is changed in place."""
    nu, forest, at, middle = e.model.nu, e.system.forest, kicks(e), rubbed(e)
    scratch = (np.zeros((forest.mass.size, 6)), np.zeros((forest.mass.size, 6)))
    programs = [Program(one) for one in kick_passes(e, at, gradients, bodies, acting)]
    rubs = has_friction(e)
    rubbing = friction_adjoint(e, arrays, middle, held.heavier, gradients, bodies, acting) if rubs else ()
    programs.append(Program(rubbing))
    for n in range(2):
        before, after = ((held.rotation[n + k], held.twist[2 * n + k]) for k in range(2))
        drifting = forest, held.u[2 * n + 1], arrays.span, before, after, *scratch
        by = weight[:nu], weight[nu : 2 * nu], gradients.turn
        programs.append(Program([drift_adjoint.bind(*drifting, *by)]))
    place, fill, kick, another, forces, friction, first, second = (program.code for program in programs)
    return Reversing(place, fill, kick, another, forces, friction, first, second, np.full(1, -1), at, middle), programs


@jit
def go_to(reversing, time, q, articulated, joint, wrench):
    """Set the time, the coordinates and the forces for the kicks that follow."""
    at = reversing.at
    copy_into(at.articulated.reshape(-1), articulated.reshape(-1))
    at.time[0] = time
    copy_into(at.q, q)
    copy_into(at.joint, joint)
    copy_into(at.wrench.reshape(-1), wrench.reshape(-1))


@jit
def weigh_kick(at, program, u, rate, weight):
    """Add the derivatives of the accelerations of a kick, weighted by ``at.weight``, to the weights (3 nu,);
    derivatives of the forces are not included."""
    nu = u.size
    copy_into(at.u, u)
    copy_into(at.rate, rate)
    run(program)
    for k in range(nu):
        weight[k] += at.by_coordinate[k]
        weight[nu + k] += at.by_speed[k]


@jit
def weigh_forces(reversing, weight):
    """Add the derivatives of the forces of the kicks at a place to weights (3 nu,)."""
    run(reversing.forces)
    for k in range(reversing.at.weight.size):
        weight[k] += reversing.at.by_coordinate[k]


@pass_of
def reverse_step(passes, ending, reversing, clock, number, arrays, ws, channels, kept, weight):
    """Convert weights (3 nu,) of the state at the end of a step into weights of the state at its start, in place. The
    adjoint of the forces at the start is not included: the reversal of the preceding step adds it, or ``finish_step``
    for the first step of a run."""
    known, h = reversing.last[0] == number[0] + 1, clock[1]
    first = keep_step(passes, ending, clock, number, arrays, ws, channels, kept, known)
    at, middle, nu = reversing.at, reversing.rubbed, arrays.u.size
    for k in range(nu):
        at.weight[k] = weight[2 * nu + k] + 0.5 * h * weight[nu + k]
    if known:  # the kicks of the step reversed before were at this place
        weigh_kick(at, reversing.another, kept.middle[1], kept.rate[3], weight)
    else:
        go_to(reversing, kept.end[0], kept.q[2], kept.latest, kept.joint[1], kept.wrench[1])
        weigh_kick(at, reversing.kick, kept.middle[1], kept.rate[3], weight)
    for k in range(nu):
        at.weight[k] = 0.25 * h * at.by_speed[k]
    weigh_kick(at, reversing.another, kept.u[4], kept.rate[2], weight)
    weigh_forces(reversing, weight)
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
        at.weight[k] = 0.5 * h * weight[nu + k]
    go_to(reversing, clock[0], kept.q[0], kept.articulated, kept.joint[0], kept.wrench[0])
    run(reversing.place)
    weigh_kick(at, reversing.kick, kept.middle[0], kept.rate[1], weight)
    for k in range(nu):
        weight[2 * nu + k] = 0.25 * h * at.by_speed[k]
    if first:
        for k in range(nu):
            at.weight[k] = weight[2 * nu + k]
            weight[2 * nu + k] = 0.0
        weigh_kick(at, reversing.another, kept.u[0], kept.rate[0], weight)
    reversing.last[0] = number[0]


@pass_of
def finish_step(reversing, weight):
    """Add the derivatives of the forces at the start of a run to the weights; its first step must be the step reversed
    last."""
    reversing.last[0] = -1
    run(reversing.fill)
    weigh_forces(reversing, weight)


def step_arguments(passes: Passes, clock: np.ndarray, number: np.ndarray, arrays: Scratch) -> tuple[Any, ...]:
    """Return the arguments that the passes of a step are bound to; work is not recorded."""
    nothing = np.zeros((0, 2), dtype=np.int64)
    return passes._replace(book=nothing, book_friction=nothing), clock, number, arrays
