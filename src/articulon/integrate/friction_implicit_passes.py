"""The passes of a friction-implicit step, and the arrays through which they are called."""

from typing import Any, NamedTuple

import numpy as np

from articulon.algebra.vectors import ZERO, add, copy_into, load, load_from, scale, store, store_from
from articulon.dynamics.kinematics import move
from articulon.dynamics.kinetic_energies import kinetic_energy
from articulon.dynamics.loops.conditions import LoopScratch
from articulon.dynamics.loops.loop_passes import factoring, responding
from articulon.dynamics.momentum_sampling import Draw, draw_arrays, draw_speeds
from articulon.dynamics.motion_passes import move_links, place_links, solve
from articulon.forces.base import At
from articulon.forces.energies import find_kinetic_energy
from articulon.forces.evaluation import Evaluator
from articulon.forces.filling import booking, clear, fill_friction, filling, scaling
from articulon.forces.joint_friction import no_frictions, resistance_of
from articulon.forces.linear_flow import booking_flow
from articulon.forces.stokes_drag import drag_wrenches
from articulon.integrate import canonical, geodesic
from articulon.integrate.friction_implicit_joints import book_rubbing, rubbing, solve_rubbed, solve_rubbed_tangent
from articulon.integrate.friction_implicit_loops import (
    book_drives,
    departure,
    drifting_tangent,
    solving_tangent,
    stir_tangent,
)
from articulon.integrate.friction_implicit_modes import add_modal_damping, book_modal_damping, damp_modes, is_damped
from articulon.integrate.friction_implicit_springs import book_dashpots, dashpots_of, place_dashpots, solve_dashpots
from articulon.integrate.steady_drift import drift
from articulon.kernels import jit
from articulon.model import Forest, Workspace
from articulon.model.joints import FREE, SPHERICAL
from articulon.model.state import DAMPING, EXTERNAL, STOCHASTIC, THERMOSTAT
from articulon.passes import Bound, Program, compile_passes, pass_of
from articulon.thermostats.base import FRICTION, KICKS, SCALES, SEED, STREAM, WAY
from articulon.thermostats.chains import chain_rates
from articulon.thermostats.langevin import decay_and_noise
from articulon.thermostats.schedule import target


class Scratch(NamedTuple):
    """Arrays of a step; deleting them changes nothing."""

    mass: np.ndarray
    """Masses of the links with h/2 of their drag added, shape (links,)."""
    moment: np.ndarray
    """First moments, likewise, shape (links, 3)."""
    inertia: np.ndarray
    """Inertias, likewise, shape (links, 6)."""
    udot: np.ndarray
    """Accelerations, shape (nu,)."""
    middle: np.ndarray
    """Speeds at the middle of a kick, shape (nu,)."""
    friction: np.ndarray
    """Drag and noise on the links, shape (2, links, 6)."""
    total: np.ndarray
    """Their scaled sum, shape (links, 6)."""
    no_torque: np.ndarray
    """Zeros, shape (nu,)."""
    still: np.ndarray
    """Zero twists, shape (links, 6)."""
    turning: np.ndarray
    """Angular accelerations of the links while they drift, shape (links, 3)."""
    no_bias: np.ndarray
    """Zero velocity-product accelerations, shape (links, 6)."""
    factor: np.ndarray
    """Factors of the channels, shape (8,)."""
    time: np.ndarray
    """Of the latest evaluation [time], shape (1,)."""
    window: np.ndarray
    """Of the noise, shape (1,)."""
    clock: np.ndarray
    """Time at the start of the step, and its length [time], shape (2,)."""
    span: np.ndarray
    """Half of it [time], shape (1,)."""
    number: np.ndarray
    """Number of the step, shape (1,)."""
    status: np.ndarray
    """Of free flights, shape (1,)."""
    kinetic: np.ndarray
    """Kinetic energy [energy], shape (1,)."""
    powers: np.ndarray
    """Of noise and drag, shape (2,)."""
    power: np.ndarray
    """Of the channels, unscaled, shape (8,)."""
    position: np.ndarray
    """Origins of the links, shape (links, 3)."""
    rotation: np.ndarray
    """Their orientations, row-major matrices, shape (links, 9)."""
    q: np.ndarray
    """Coordinates of a step not yet finished, shape (nq,)."""
    u: np.ndarray
    """Speeds, likewise, shape (nu,)."""
    work: np.ndarray
    """Works, likewise, shape (8,)."""
    acceleration: np.ndarray
    """Accelerations of the latest kick, likewise, shape (nu,)."""
    bath: np.ndarray
    """A thermostat's variables, likewise."""
    draw: Draw
    """Of Langevin's noise."""
    flight: canonical.Scratch
    """Of free flights."""


def scratch(e: Evaluator, flight: canonical.Scratch | None = None) -> Scratch:
    """Arrays for a model, its thermostat and its forces; ``flight`` are those of flights, where there are none."""
    forest, nq, nu = e.system.forest, e.model.nq, e.model.nu
    n = forest.mass.size
    return Scratch(
        np.zeros(n),
        np.zeros((n, 3)),
        np.zeros((n, 6)),
        np.zeros(nu),
        np.zeros(nu),
        np.zeros((2, n, 6)),
        np.zeros((n, 6)),
        np.zeros(nu),
        np.zeros((n, 6)),
        np.zeros((n, 3)),
        np.zeros((n, 6)),
        np.ones(8),
        np.zeros(1),
        np.zeros(1, dtype=np.int64),
        np.zeros(2),
        np.zeros(1),
        np.zeros(1, dtype=np.int64),
        np.zeros(1, dtype=np.int64),
        np.zeros(1),
        np.zeros(2),
        e.channels.power,
        e.ws.position,
        e.ws.rotation,
        np.zeros(nq),
        np.zeros(nu),
        np.zeros(8),
        np.zeros(nu),
        np.zeros(e.bath.shape[1]),
        draw_arrays(nu),
        geodesic.scratch(forest, nq, nu) if flight is None else flight,
    )


@pass_of
def keep_spins(forest, ws, turning):
    """Velocity-product accelerations of a kick, which leaves to ``drift`` what that does.

    ``turning`` is the angular acceleration g of each link while it drifts: none where the spin is kept, and
    g_p + ω_p × ω_J elsewhere. A joint whose link keeps its spin on a parent that turns has the bias −g_p.
    """
    parent, kinds, bias = forest.parent, forest.kind, ws.bias
    for i in range(kinds.size):
        p, g = parent[i], ZERO
        if p >= 0:
            g = load(turning, p)
        if kinds[i] == SPHERICAL or kinds[i] == FREE:
            store_from(bias, i, 0, scale(-1.0, g))
            store(turning, i, ZERO)
        else:
            store(turning, i, add(g, load_from(bias, i, 0)))


@pass_of
def add_friction(own, drag, span, factor, friction, inertias, total):
    """Inertias of the links, mass, first moment and inertia, with half of a time ``span`` (1,) of their drag, and the
    sum of drag and noise."""
    mass, moment, inertia = inertias
    s = 0.5 * span[0] * factor[DAMPING]
    for i in range(mass.size):
        mass[i] = own[0][i] + s * drag.mass[i]
        for k in range(3):
            moment[i, k] = own[1][i, k] + s * drag.moment[i, k]
        for k in range(6):
            inertia[i, k] = own[2][i, k] + s * drag.inertia[i, k]
            total[i, k] = factor[DAMPING] * friction[0, i, k] + factor[STOCHASTIC] * friction[1, i, k]


@jit
def power_of(wrench, ws):
    """Σ f·v + n·ω."""
    one, twist = wrench.reshape(-1), ws.twist.reshape(-1)
    total = 0.0
    for k in range(one.size):
        total += one[k] * twist[k]
    return total


@pass_of
def book_friction(drag, ws, friction, powers):
    """Power of noise and of drag (2,) at links that have been moved."""
    powers[0] = power_of(friction[1], ws)
    friction[0] = 0.0
    drag_wrenches(drag, ws, friction[0])
    powers[1] = power_of(friction[0], ws)


@pass_of
def rate_thermostat(bath, kinetic, time, variables, rates):
    """A thermostat's variables and their rates (2, variables), for a policy's law."""
    copy_into(rates[0], variables)
    chain_rates(bath, 2.0 * kinetic[0], target(bath, time[0]), rates[0], rates[1])


@pass_of
def stir(forest, bath, clock, count, u, ws, still, draw, work):
    """Langevin's friction and noise over a time, ``clock[1]``, from ``clock[0]`` on, at links that have been placed and
    moved; adds its work."""
    time, h = clock[0], clock[1]
    before = kinetic_energy(forest, ws)
    c, s = decay_and_noise(bath.constants[FRICTION], h, target(bath, time + 0.5 * h))
    draw_speeds(forest, bath.choice[SEED], bath.choice[STREAM], count[0], 1.0, still, draw)
    for k in range(u.size):
        u[k] = c * u[k] + s * draw.speeds[k]
    move(forest, u, ws, 0, forest.mass.size)
    work[THERMOSTAT] += kinetic_energy(forest, ws) - before


@pass_of
def fly(forest, q, u, span, ws, flight, no_torque, status):
    """Free flight over a time ``span`` (1,); the worst ``status`` (1,) stands."""
    status[0] = max(status[0], geodesic.fly(forest, q, u, span[0], ws, flight, no_torque))


class Passes(NamedTuple):
    """Programs of a step. One that a run does not need is empty."""

    locate: np.ndarray
    """Places and moves the links at q and u."""
    fill: np.ndarray
    """Fills the channels but for noise and for the resistance that is taken implicitly."""
    scale: np.ndarray
    """Sums them with their factors."""
    predict: np.ndarray
    """Accelerations at u."""
    solve: np.ndarray
    """Accelerations at the middle speeds; at rest, where flights have the velocity products."""
    book: np.ndarray
    """Power at the middle speeds."""
    move: np.ndarray
    """Moves the links at u."""
    drift: np.ndarray
    """Drift or flight over ``arrays.span``, in the first half of the step."""
    arrive: np.ndarray
    """The same in the second half."""
    friction: np.ndarray
    """Accelerations by drag, noise, the friction of joints and the damping of springs."""
    book_friction: np.ndarray
    """Their power at the middle speeds."""
    kinetic: np.ndarray
    """Kinetic energy at u."""
    rate: np.ndarray
    """What a law reads of a thermostat."""
    stir: np.ndarray
    """Langevin's friction and noise."""


def passes(e: Evaluator, arrays: Scratch, flight: bool) -> tuple[Passes, list[Program]]:
    """The programs of a model's steps: as kernels take them, and to be kept."""
    forest, forces, channels, ws = e.system.forest, e.system.forces, e.channels, e.ws
    loops, looped, driven = e.system.loops, bool(e.system.loops.kind.size), bool(e.model.drives)
    still = ws._replace(twist=arrays.still, bias=arrays.no_bias)
    q, u, middle, udot, factor = arrays.q, arrays.u, arrays.middle, arrays.acceleration, arrays.factor
    gravity, fall, none = forces.gravity, factor[EXTERNAL:], np.zeros(3)
    at = At(forest, ws, q, u, arrays.time, arrays.window, channels, *arrays.friction)
    sums = channels.total_joint, channels.total_wrench
    move_u, move_middle = move_links.bind(forest, u, ws), move_links.bind(forest, middle, ws)
    locate = [place_links.bind(forest, q, ws), move_u]
    kept = keep_spins.bind(forest, ws, arrays.turning)

    def solving(inertias: Forest, forces: tuple[Any, Any, Any], moved: Workspace, found: np.ndarray) -> list[Bound]:
        """The solution for accelerations under forces, those of gravity among them."""
        if looped:
            return solving_tangent(inertias, loops, (*forces, fall), moved, e.solver.loops, found)
        return [solve.bind(inertias, inertias.mass, inertias.moment, inertias.inertia, *forces, fall, moved, found)]

    def driving(span: np.ndarray, found: LoopScratch) -> list[Bound]:
        """The work of drives over a time."""
        return [book_drives.bind(loops, middle, found.multiplier, span, arrays.work)] if driven else []

    accelerate = solving(forest, (*sums, gravity), still if flight else ws, udot)
    book = [move_middle, *booking(e, at._replace(u=middle)), *driving(arrays.span, e.solver.loops)]
    rows, dashpots = resistance_of(forces.terms), dashpots_of(forces.terms, forest, loops, e.system.motions, e.model.nu)
    resists = rows is not None or dashpots is not None
    flexes = is_damped(forest.flexible)
    rubs = forces.drag.link.size > 0 or forces.noise.choice[0] != 0 or resists or flexes
    inertias, over, pushed = (arrays.mass, arrays.moment, arrays.inertia), (arrays.clock[1:], factor), arrays.no_torque
    heavier, laden = _with_inertias(forest, still, inertias)
    friction = [
        clear.bind(arrays.friction),
        *fill_friction(e, at),
        add_friction.bind(inertias_of(forest, ws), forces.drag, *over, arrays.friction, inertias, arrays.total),
    ]
    resisted: list[Bound] = []
    if flexes:
        assert heavier.flexible is not None
        pushed, spare = np.zeros(e.model.nu), np.zeros(e.model.nu)
        friction.append(add_modal_damping.bind(forest.flexible, *over, heavier.flexible.mass))
        friction.append(damp_modes.bind(forest, factor, u, pushed))
        resisted.append(book_modal_damping.bind(forest, middle, spare, arrays.powers))
    if not resists:
        friction.extend(solving(heavier, (pushed, arrays.total, none), laden, arrays.udot))
    else:
        own = rubbing(pushed)
        rubbed_by = (no_frictions() if rows is None else rows, *over, u, arrays.total, laden, own)
        if dashpots is not None:
            springs, found = dashpots.springs, dashpots.arrays
            rigid = loops.kind.size
            friction.append(place_dashpots.bind(forest, loops, springs, *over, ws, found))
            friction.append(solve_dashpots.bind(heavier, dashpots.rows, rigid, *rubbed_by, found, arrays.udot))
            resisted.append(book_dashpots.bind(springs, ws, arrays.powers))
        elif looped:
            friction.append(solve_rubbed_tangent.bind(heavier, loops, *rubbed_by, e.solver.loops, arrays.udot))
        else:
            friction.append(solve_rubbed.bind(heavier, *rubbed_by, np.zeros((0, 21)), arrays.udot))
        if rows is not None:
            resisted.append(book_rubbing.bind(own, middle, arrays.powers))
    rubbed = [
        move_middle,
        book_friction.bind(forces.drag, ws, arrays.friction, arrays.powers),
        *booking_flow(e.linear_flow, ws, arrays.friction[0], arrays.powers),
        *resisted,
        *driving(arrays.clock[1:], e.solver.loops if dashpots is None else dashpots.arrays),
    ]
    way, bath = e.system.bath.choice[WAY], e.system.bath
    kinetic: list[Bound] = []
    rate: list[Bound] = []
    stirring: list[Bound] = []
    if way == SCALES or arrays.bath.size > 0:
        kinetic = [move_u, find_kinetic_energy.bind(forest, ws, arrays.kinetic)]
    if arrays.bath.size > 0:
        rate = [*kinetic, rate_thermostat.bind(bath, arrays.kinetic, arrays.time, arrays.bath, channels.bath)]
    if way == KICKS:
        stirred = bath, arrays.clock, arrays.number, u, ws, still, arrays.draw
        if looped:
            kept_rows = arrays.work, Program([move_u]), factoring(forest, loops, ws, e.solver.loops)
            answer = responding(forest, ws, e.solver.loops)
            stirring = [stir_tangent.bind(forest, loops, *stirred, e.solver.loops, *kept_rows, answer)]
        else:
            stirring = [stir.bind(forest, *stirred, arrays.work)]
    first, second = _drifting(e, arrays, flight)
    programs = [
        Program(one)
        for one in (
            locate,
            filling(e, at, resistance=False),
            scaling(e, channels, factor),
            () if flight else (move_u, kept, *accelerate),
            accelerate if flight else (move_middle, kept, *accelerate),
            book,
            (move_u,),
            (first,),
            (second,),
            friction if rubs else (),
            rubbed if rubs else (),
            kinetic if way == SCALES else (),
            rate,
            stirring,
        )
    ]
    compile_passes(one for program in programs for one in program.passes)
    return Passes(*(program.code for program in programs)), programs


def inertias_of(forest: Forest, ws: Workspace) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Masses, first moments and inertias of the links, those of deformed bodies at links that have been placed."""
    own = forest if ws.modal is None else ws.modal
    return forest.mass, own.moment, own.inertia


def _with_inertias(
    forest: Forest, ws: Workspace, inertias: tuple[np.ndarray, np.ndarray, np.ndarray]
) -> tuple[Forest, Workspace]:
    """The links with other inertias, and a workspace in which these are those of deformed bodies."""
    mass, moment, inertia = inertias
    forest = forest._replace(mass=mass, moment=moment, inertia=inertia)
    if forest.flexible is None or ws.modal is None:
        return forest, ws
    modal = ws.modal._replace(moment=moment, inertia=inertia)
    flexible = forest.flexible._replace(mass=forest.flexible.mass.copy())
    return forest._replace(flexible=flexible), ws._replace(modal=modal)


def _drifting(e: Evaluator, arrays: Scratch, flight: bool) -> tuple[Bound, Bound]:
    """The drifts of the two halves of a step."""
    forest, ws = e.system.forest, e.ws
    moved = arrays.q, arrays.u
    if flight:
        travelling = fly.bind(forest, *moved, arrays.span, ws, arrays.flight, arrays.no_torque, arrays.status)
    else:
        travelling = drift.bind(forest, *moved, ws, arrays.span)
    if not e.system.loops.kind.size:
        return travelling, travelling
    ends = departure(e.model.nq, e.model.nu, e.system.loops.kind.size), arrays.work, arrays.status
    constraints = e.system.loops, e.system.motions, e.motion_functions
    first, second = (
        drifting_tangent(
            forest, constraints, (part, arrays.clock, arrays.span), *moved, ws, e.solver.loops, ends, travelling
        )
        for part in (0.5, 1.0)
    )
    return first, second
