"""Brownian dynamics of articulated bodies: ζ(q) u = Γ(q) + noise, by the articulated recursion in O(n).

Inertia is neglected. ζ = Jᵀ B J, with B the bodies' drag, is solved as M would be, with each body's inertia replaced by
its drag matrix. The noise is drawn in body space, f of covariance 2 kT B/h, and F = Jᵀ f then has the covariance 2 kT
ζ/h that the fluctuation–dissipation theorem requires. A step is that of Fixman (J. Chem. Phys. 69, 1527, 1978): with μ
= ζ⁻¹ and the same F in both halves

    u = μ(q) (Γ(q) + F),   q' = q + h/2 u,   u' = μ(q') (Γ(q') + F),   q⁺ = q + h u',

where + moves joints at constant speeds. The mean of u' then contains kT ∇·μ, the drift due to a mobility that depends
on q, without computing the derivative of μ; without noise this is the midpoint rule, of order 2.

Without a correction, such steps sample e^{−Φ/kT} dq, with Φ the potential energy. Bodies with inertia have the density
√det M e^{−Φ/kT} for any friction, with M the mass matrix including armatures. Γ therefore includes +½ kT ∂ ln det M,
the mean force of the neglected thermal speeds (``dynamics/mass_determinant.py``, ``dynamics/armature_determinant.py``);
its work is recorded in the channel ``stochastic``. The works of a step add up to zero, since there is no kinetic
energy.

Steps that are too long are detected by the speeds u' in their middle. Along a harmonic mode of rate λ, u' − u = −½hλ u,
and the motion grows if hλ > 2, the bound of the midpoint rule. So ⟨(u' − u)²⟩ ≤ (½hλ)² ⟨u²⟩ for each speed under noise
and for any coupling, because the noise has the covariance of the mobility. If the mean of (u' − u)² over WATCHED steps
exceeds that of u², forces or mobility change too fast for the step.
"""

import math
from typing import NamedTuple

import numpy as np

from articulon.algebra.vectors import copy_into, dot, load
from articulon.dynamics.armature_determinant import armatures_of, gradient_with_armatures
from articulon.dynamics.kinematics import drift
from articulon.dynamics.mass_determinant import Determinant, determinant_arrays, log_determinant_gradient
from articulon.dynamics.motion_passes import move_links, place_links, scaled, solve
from articulon.dynamics.newton_euler import project
from articulon.forces.base import At
from articulon.forces.evaluation import Evaluator
from articulon.forces.filling import booking, clear, fill_drag, fill_friction, filling, scaling
from articulon.forces.gravity import gravity_wrenches
from articulon.forces.linear_flow import flowing
from articulon.integrate.law_inputs import ask, book_unscaled_works
from articulon.integrate.status import DIVERGED, REACHED, STOPPED, TOO_LONG, stop_reached
from articulon.integrate.variables import ANGULAR_VELOCITY, blocks
from articulon.kernels import jit, kernel
from articulon.model.state import DAMPING, EVALUATIONS, EXTERNAL, STEPS, STOCHASTIC, WINDOW
from articulon.passes import Bound, Program, compile_passes, pass_of, run

WATCHED = 32
"""Number of steps over which changes of speeds are compared with the speeds; a single step counts as too long if a
change exceeds √32 times the speed."""
RESOLVED = 1e-6
"""Smallest changes in a step that are checked, in radians and relative to the largest distance from the world's origin;
smaller changes are regarded as rest or rounding."""


class Watch(NamedTuple):
    """Statistics of the changes of speeds within steps."""

    speeds: np.ndarray
    """u at the start of the step, shape (nu,)."""
    squares: np.ndarray
    """Sum of u² over the steps since the watch began, shape (nu,)."""
    changes: np.ndarray
    """Sum of (u' − u)² over the steps since the watch began, shape (nu,)."""
    turns: np.ndarray
    """Whether each speed is angular, shape (nu,)."""
    steps: np.ndarray
    """Number of steps since the watch began, shape (1,)."""
    worst: np.ndarray
    """The speed that changes too much, shape (1,)."""
    ratio: np.ndarray
    """½hλ of that speed, shape (1,)."""


class Scratch(NamedTuple):
    """Arrays of a step; they may be discarded between steps, which only delays the detection of too long steps."""

    q: np.ndarray
    """Coordinates of the unfinished step, shape (nq,)."""
    middle: np.ndarray
    """Coordinates in the middle of the step, shape (nq,)."""
    u: np.ndarray
    """Speeds of half a step, shape (nu,)."""
    no_speeds: np.ndarray
    """Zeros, shape (nu,)."""
    noise: np.ndarray
    """F, scaled, shape (nu,)."""
    metric: np.ndarray
    """½ kT ∂ ln det M, scaled, shape (nu,)."""
    work: np.ndarray
    """Works of the unfinished step, shape (8,)."""
    mass: np.ndarray
    """Drag of the links in the form of a mass, scaled, shape (links,)."""
    moment: np.ndarray
    """First moment of the drag, shape (links, 3)."""
    inertia: np.ndarray
    """Drag in the form of a moment of inertia, shape (links, 6)."""
    friction: np.ndarray
    """Drag and noise on the links, shape (2, links, 6)."""
    still: np.ndarray
    """Zero twists, shape (links, 6)."""
    no_bias: np.ndarray
    """Zero velocity-product accelerations, shape (links, 6)."""
    factor: np.ndarray
    """Factors of the channels, shape (8,)."""
    time: np.ndarray
    """Time of the latest evaluation [time], shape (1,)."""
    window: np.ndarray
    """Window of the noise, shape (1,)."""
    spans: np.ndarray
    """Half the step and the step [time], shape (2,)."""
    power: np.ndarray
    """Powers of the channels, unscaled, shape (8,)."""
    position: np.ndarray
    """Origins of the links, shape (links, 3)."""
    rotation: np.ndarray
    """Orientations of the links, row-major matrices, shape (links, 9)."""
    kT: np.ndarray
    """kT of the metric force, 0 without it [energy], shape (1,)."""
    determinant: Determinant
    """Arrays of the metric force."""
    watch: Watch
    """Detection of steps that are too long."""


def scratch(e: Evaluator, kT: float) -> Scratch:
    """Arrays for a model whose metric force has the given kT [energy]."""
    forest, nq, nu = e.system.forest, e.model.nq, e.model.nu
    turns = np.zeros(nu, dtype=np.bool_)
    split = blocks(forest, nq, nu)
    for start, end, kind in zip(split.start, split.end, split.kind, strict=True):
        if kind == ANGULAR_VELOCITY:
            turns[start - nq : end - nq] = True
    sums, counts = np.zeros((3, nu)), np.zeros((2, 1), dtype=np.int64)
    watch = Watch(sums[0], sums[1], sums[2], turns, counts[0], counts[1], np.zeros(1))
    n = forest.mass.size
    coordinates, speeds, still = np.zeros((2, nq)), np.zeros((4, nu)), np.zeros((2, n, 6))
    return Scratch(
        coordinates[0],
        coordinates[1],
        speeds[0],
        speeds[1],
        speeds[2],
        speeds[3],
        np.zeros(8),
        np.zeros(n),
        np.zeros((n, 3)),
        np.zeros((n, 6)),
        np.zeros((2, n, 6)),
        still[0],
        still[1],
        np.ones(8),
        np.zeros(1),
        np.zeros(1, dtype=np.int64),
        np.zeros(2),
        e.channels.power,
        e.ws.position,
        e.ws.rotation,
        np.array([kT]),
        determinant_arrays(n, nu),
        watch,
    )


@pass_of
def project_noise(forest, ws, wrench, factor, noise):
    """Compute F of the Brownian wrenches (links, 6), scaled."""
    project(forest, ws, wrench, noise)
    for k in range(noise.size):
        noise[k] *= factor[STOCHASTIC]


@pass_of
def add_weight(forest, gravity, factor, ws, wrench):
    """Add gravity to the wrenches on the links."""
    gravity_wrenches(forest, scaled(gravity, factor), ws, wrench)


@jit
def weigh_gradient(determinant, kT, factor, metric):
    """Compute ½ kT, scaled, times a gradient that has been found."""
    # Noise and drag with different factors correspond to another temperature.
    half_kT = 0.5 * kT[0] * factor[STOCHASTIC] ** 2 / factor[DAMPING]
    for k in range(metric.size):
        metric[k] = half_kT * determinant.gradient[k]


@pass_of
def find_metric(forest, ws, determinant, kT, factor, metric):
    """Compute ½ kT ∂ ln det M, scaled."""
    log_determinant_gradient(forest, ws, determinant)
    weigh_gradient(determinant, kT, factor, metric)


@pass_of
def find_metric_with_armatures(forest, ws, armatures, determinant, kT, factor, metric):
    """Compute ½ kT ∂ ln det (M + diag(a)), scaled."""
    gradient_with_armatures(forest, ws, armatures, determinant)
    weigh_gradient(determinant, kT, factor, metric)


@pass_of
def scale_drag(drag, factor, noise, metric, mass, moment, inertia, tau):
    """Write the scaled drag of the links as their inertias; add noise and metric force to τ."""
    s = factor[DAMPING]
    for k in range(tau.size):
        tau[k] += metric[k] + noise[k]
    for i in range(mass.size):
        mass[i] = s * drag.mass[i]
        for k in range(3):
            moment[i, k] = s * drag.moment[i, k]
        for k in range(6):
            inertia[i, k] = s * drag.inertia[i, k]


@pass_of
def move_joints(forest, q, u, span):
    """Move joints for a time ``span`` (1,) at constant speeds."""
    drift(forest, q, u, span[0])


class Passes(NamedTuple):
    """Programs of a step."""

    push: np.ndarray
    """Computes poses of the links at q, and forces in the channels, at rest."""
    push_middle: np.ndarray
    """Computes poses of the links, and forces in the channels, at the middle of the step."""
    shake: np.ndarray
    """Computes F; empty without noise."""
    balance: np.ndarray
    """Solves ζ u = Γ + F for u."""
    drift_middle: np.ndarray
    """Moves the coordinates to the middle of the step."""
    drift: np.ndarray
    """Moves the coordinates to the end of the step."""
    book: np.ndarray
    """Computes the power at u."""
    place: np.ndarray
    """Computes poses of the links at q."""


def passes(e: Evaluator, arrays: Scratch) -> tuple[Passes, list[Program]]:
    """The programs of a model's steps: in the form for kernels, and the objects that must be kept alive."""
    forest, forces, channels, ws = e.system.forest, e.system.forces, e.channels, e.ws
    still = ws._replace(twist=arrays.still, bias=arrays.no_bias)
    friction, factor, none = arrays.friction, arrays.factor, np.zeros(3)
    fall, span = factor[EXTERNAL:], (arrays.spans[:1], arrays.spans[1:])
    at = At(forest, still, arrays.q, arrays.no_speeds, arrays.time, arrays.window, channels, *friction)
    place = place_links.bind(forest, arrays.q, ws)
    drag = channels.wrench[DAMPING]

    def push(q: np.ndarray) -> list[Bound]:
        flow = [fill_drag.bind(forces.drag, still, drag), *flowing(e.linear_flow, still, drag)]
        return [place_links.bind(forest, q, ws), *filling(e, at._replace(q=q)), *flow]

    noisy, metric = forces.noise.choice[0] != 0, arrays.kT[0] > 0.0
    shake = [clear.bind(friction), *fill_friction(e, at)]
    shake.append(project_noise.bind(forest, ws, friction[1], factor, arrays.noise))
    inertias, tau, wrench = (arrays.mass, arrays.moment, arrays.inertia), channels.total_joint, channels.total_wrench
    balance = [*scaling(e, channels, factor)]
    if forces.gravity.any():
        balance.append(add_weight.bind(forest, forces.gravity, fall, ws, wrench))
    if metric:
        of_links = arrays.determinant, arrays.kT, factor, arrays.metric
        if e.model.armature is None:
            balance.append(find_metric.bind(forest, ws, *of_links))
        else:
            balance.append(find_metric_with_armatures.bind(forest, ws, armatures_of(e.model.armature), *of_links))
    balance.append(scale_drag.bind(forces.drag, factor, arrays.noise, arrays.metric, *inertias, tau))
    balance.append(solve.bind(forest, *inertias, tau, wrench, none, fall, still, arrays.u))
    moving = at._replace(ws=ws, u=arrays.u)
    book = [move_links.bind(forest, arrays.u, ws), clear.bind(drag), fill_drag.bind(forces.drag, ws, drag)]
    book.extend(flowing(e.linear_flow, ws, drag))
    programs = [
        Program(one)
        for one in (
            push(arrays.q),
            push(arrays.middle),
            shake if noisy else (),
            balance,
            (move_joints.bind(forest, arrays.middle, arrays.u, span[0]),),
            (move_joints.bind(forest, arrays.q, arrays.u, span[1]),),
            [*book, *booking(e, moving)],
            (place,),
        )
    ]
    compile_passes(one for program in programs for one in program.passes)
    return Passes(*(program.code for program in programs)), programs


@jit
def watch_speeds(h, step, arrays):
    """Whether the changes of some speed in the last WATCHED steps, up to this one, were larger than the speed
    itself."""
    watch, u, first = arrays.watch, arrays.u, arrays.watch.speeds
    if step % WATCHED == 0:
        watch.steps[0] = 0
        for k in range(u.size):
            watch.squares[k] = watch.changes[k] = 0.0
    for k in range(u.size):
        watch.squares[k] += first[k] ** 2
        watch.changes[k] += (u[k] - first[k]) ** 2
    watch.steps[0] += 1
    if (step + 1) % WATCHED != 0 or watch.steps[0] != WATCHED:
        return False
    far = 0.0
    for i in range(arrays.position.shape[0]):
        far = max(far, dot(load(arrays.position, i), load(arrays.position, i)))
    worst = 1.0
    for k in range(u.size):
        least = WATCHED * (RESOLVED / h) ** 2 * (1.0 if watch.turns[k] else far)
        if watch.changes[k] > worst * watch.squares[k] and watch.changes[k] > least:
            worst = watch.changes[k] / watch.squares[k] if watch.squares[k] > 0.0 else np.inf
            watch.worst[0] = k
    watch.ratio[0] = math.sqrt(worst)
    return worst > 1.0


@kernel
def advance(law, inputs, parameters, passes, h, stop, state, arrays, steps):
    """Advance the state by a number of steps of length h. Returns REACHED, STOPPED, DIVERGED if a number is no longer
    finite, or TOO_LONG if speeds change too much within steps; the state is then that of the last whole step."""
    counters, q, u, factor, work = state.counters, arrays.q, arrays.u, state.factor, arrays.work
    copy_into(q, state.q)
    copy_into(work, state.work)
    arrays.spans[0], arrays.spans[1] = 0.5 * h, h
    for k in range(u.size):
        state.u[k] = arrays.noise[k] = arrays.metric[k] = 0.0
    for _ in range(steps):
        step = counters[STEPS]
        arrays.time[0], arrays.window[0] = h * step, counters[WINDOW]
        run(passes.push)
        if stop_reached(stop, arrays):
            return STOPPED
        if ask(law, parameters, inputs, h * step, h, factor):
            copy_into(factor, inputs.factor)
        copy_into(arrays.factor, factor)
        run(passes.shake)
        run(passes.balance)
        copy_into(arrays.watch.speeds, u)
        copy_into(arrays.middle, q)
        run(passes.drift_middle)
        arrays.time[0] = h * (step + 0.5)
        run(passes.push_middle)
        run(passes.balance)
        run(passes.drift)
        run(passes.book)
        for c in range(8):
            work[c] += h * factor[c] * arrays.power[c]
        for k in range(u.size):
            work[STOCHASTIC] += h * (arrays.noise[k] + arrays.metric[k]) * u[k]
        total = 0.0
        for k in range(q.size):
            total += q[k] * q[k]
        for c in range(8):
            total += work[c] * work[c]
        if not total < np.inf:
            return DIVERGED
        if watch_speeds(h, step, arrays):
            return TOO_LONG
        counters[STEPS] = step + 1
        counters[WINDOW] += 1
        counters[EVALUATIONS] += 2
        state.time[0] = h * (step + 1)
        book_unscaled_works(state, state.work, work)
        copy_into(state.q, q)
        copy_into(state.work, work)
    run(passes.place)
    return STOPPED if stop_reached(stop, arrays) else REACHED
