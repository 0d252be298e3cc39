"""The passes of a friction-implicit step."""

from typing import Any, NamedTuple

import numpy as np

from articulon.algebra.vectors import ZERO, add, copy_into, load, load_from, scale, store, store_from
from articulon.dynamics.armatures import adding_armatures, open_solution
from articulon.dynamics.kinematics import move
from articulon.dynamics.kinetic_energies import find_kinetic_energy, kinetic_energy
from articulon.dynamics.loops.conditions import LoopScratch
from articulon.dynamics.loops.loop_passes import OpenForest, factoring, responding
from articulon.dynamics.momentum_sampling import MOST, draw_speeds
from articulon.dynamics.motion_passes import move_links, place_links
from articulon.dynamics.threaded_forests import TREES, draw_in_parallel
from articulon.forces.base import At
from articulon.forces.evaluation import Evaluator
from articulon.forces.evaluation_tables import ModelTables
from articulon.forces.filling import booking, filling, scaling
from articulon.integrate import geodesic
from articulon.integrate.flights import flights
from articulon.integrate.forces_of_speeds import forces_of_speeds
from articulon.integrate.free_rotors import SHARED
from articulon.integrate.friction_implicit_loops import (
    book_drives,
    departure,
    drifting_tangent,
    langevin_tangent,
    solving_tangent,
)
from articulon.integrate.friction_implicit_resistance import resisting
from articulon.integrate.friction_implicit_rotors import (
    adding_energy,
    book_rotors,
    drawing_rotors,
    keep_rotors,
    keeps_spins,
)
from articulon.integrate.friction_implicit_scratch import Scratch
from articulon.integrate.status import DIVERGED, NOT_CONVERGED
from articulon.integrate.steady_drift import drift
from articulon.model import Forest, Workspace
from articulon.model.joints import FREE, SPHERICAL
from articulon.model.state import EXTERNAL, THERMOSTAT
from articulon.passes import Bound, Pass, Program, compile_passes, pass_of
from articulon.thermostats.base import EFFECT, KICKS, SCALES, SEED, STREAM
from articulon.thermostats.chains import chain_rates
from articulon.thermostats.langevin import langevin_speeds
from articulon.thermostats.schedule import target


@pass_of
def keep_spins(forest, ws, turning):
    """Compute the velocity-product accelerations of a kick, without those that ``drift`` accounts for.

    ``turning`` is the angular acceleration g of each link in the drift: zero if the link keeps its angular velocity,
    otherwise g_p + ω_p × ω_J with its parent p and the joint's angular velocity ω_J. If a link keeps its angular
    velocity on a rotating parent, its joint has the bias −g_p.
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
def rate_thermostat(bath, kinetic, time, variables, rates):
    """Compute a thermostat's variables and their rates (2, variables), for a policy's law."""
    copy_into(rates[0], variables)
    chain_rates(bath, 2.0 * kinetic[0], target(bath, time[0]), rates[0], rates[1])


@pass_of
def draw_noise(forest, bath, count, still, draw):
    """Draw Langevin noise at links whose poses are known: speeds of N(0, M⁻¹) into ``draw.speeds``."""
    draw_speeds(forest, bath.choice[SEED], bath.choice[STREAM], count[0], 1.0, still, draw)


@pass_of
def draw_noise_of_many(forest, bath, count, still, draw, D):
    """Draw the Langevin noise of many trees, distributed over threads; ``D`` (groups of trees, 6, 6) is scratch."""
    draw_in_parallel(forest, bath.choice[SEED], bath.choice[STREAM], count[0], 1.0, still, draw, D)


@pass_of
def apply_langevin(forest, bath, clock, u, ws, noise, work):
    """Apply Langevin friction and noise over the time ``clock[1]`` from ``clock[0]`` on, at links whose poses and
    velocities are known; add its work."""
    before = kinetic_energy(forest, ws)
    langevin_speeds(bath, clock, u, noise)
    move(forest, u, ws, 0, forest.mass.size)
    work[THERMOSTAT] += kinetic_energy(forest, ws) - before


@pass_of
def fly(forest, q, u, span, ws, flight, no_torque, status):
    """Free flight over a time ``span`` (1,); ``status`` (1,) keeps the worst status."""
    moving, began = geodesic.fly(forest, q, u, span[0], ws, flight, no_torque)
    if moving > 0.0:
        status[0] = max(status[0], NOT_CONVERGED if began else DIVERGED)


class Passes(NamedTuple):
    """Programs of a step, as kernels take them or as lists of passes. Programs that a run does not need are empty."""

    locate: Any
    """Computes poses and velocities of the links at q and u."""
    fill: Any
    """Computes the forces of the channels, without noise and without the resistance that is treated implicitly."""
    scale: Any
    """Sums the channels with their factors."""
    predict: Any
    """Computes accelerations at u, with speed-dependent forces at u."""
    solve: Any
    """Computes accelerations at the middle speeds, with speed-dependent forces there; the links are at rest if flights
    treat the velocity products."""
    book: Any
    """Computes the power at the middle speeds."""
    move: Any
    """Computes the velocities of the links at u."""
    drift: Any
    """Drift or flight over ``arrays.span`` in the first half of the step."""
    arrive: Any
    """Drift or flight over ``arrays.span`` in the second half of the step."""
    friction: Any
    """Computes accelerations by drag, noise, joint friction and the damping of springs."""
    book_friction: Any
    """Computes the power of these forces at the middle speeds."""
    kinetic: Any
    """Computes the kinetic energy at u."""
    rate: Any
    """Computes the thermostat's variables that a law reads, and speed-dependent forces if the law reads them."""
    apply_langevin: Any
    """Applies Langevin friction and noise."""


def passes(
    e: Evaluator, arrays: Scratch, flight: bool, turn: np.ndarray | None = None, asked: bool = False
) -> tuple[Passes, list[Program]]:
    """The programs of a model's steps: in the form for kernels, and the objects that must be kept alive. For ``turn``
    see ``filling``, and for ``asked`` see :func:`parts`."""
    programs = [Program(one) for one in parts(e, arrays, flight, turn=turn, asked=asked)]
    compile_passes(one for program in programs for one in program.passes)
    return Passes(*(program.code for program in programs)), programs


def parts(
    e: ModelTables,
    arrays: Scratch,
    flight: bool,
    flying: Pass = fly,
    in_lanes: bool = False,
    turn: np.ndarray | None = None,
    asked: bool = False,
) -> Passes:
    """The passes of each program, with the iteration of flights if the drift follows geodesics. ``in_lanes`` is for
    several states side by side; ``asked`` is for a policy whose law reads the forces of every step."""
    forest, forces, channels, ws = e.system.forest, e.system.forces, e.channels, e.ws
    loops, looped, driven = e.system.loops, bool(e.system.loops.kind.size), bool(e.model.drives)
    still = ws._replace(twist=arrays.still, bias=arrays.no_bias)
    q, u, middle, udot, factor = arrays.q, arrays.u, arrays.middle, arrays.acceleration, arrays.factor
    gravity, fall = forces.gravity, factor[EXTERNAL:]
    at = At(forest, ws, q, u, arrays.time, arrays.window, channels, *arrays.friction)
    sums = channels.total_joint, channels.total_wrench
    move_u, move_middle = move_links.bind(forest, u, ws), move_links.bind(forest, middle, ws)
    locate = [place_links.bind(forest, q, ws), move_u]
    kept = keep_spins.bind(forest, ws, arrays.turning)
    adding = adding_armatures(e.model, arrays.no_torque)
    summed = list(scaling(e, channels, factor))
    of_speeds = forces_of_speeds(e, at)

    def felt(speeds: np.ndarray) -> list[Bound]:
        """Speed-dependent forces at speeds at which the links' velocities are known; no passes if there are none."""
        return [*of_speeds.at(speeds), *summed] if of_speeds.kinds else []

    def solving(inertias: Forest, forces: tuple[Any, Any, Any], moved: Workspace, found: np.ndarray) -> list[Bound]:
        """The passes that solve for accelerations under forces, including gravity."""
        if looped:
            return solving_tangent(inertias, loops, (*forces, fall), moved, e.solver.loops, found, adding)
        return [open_solution(e.model, inertias, (*forces, fall), moved, found)]

    def driving(span: np.ndarray, found: LoopScratch) -> list[Bound]:
        """The passes that book the work of drives over a time."""
        return [book_drives.bind(loops, middle, found.multiplier, span, arrays.work)] if driven else []

    rotors: list[Bound] = []
    if e.model.armature is not None and keeps_spins(forest):
        pushed = e.zeros((e.model.nu,))
        rotors = [keep_rotors.bind(forest, ws, arrays.turning, e.model.armature.copy(), sums[0], pushed)]
        sums = pushed, sums[1]
    accelerate = [*rotors, *solving(forest, (*sums, gravity), still if flight else ws, udot)]
    # With flights, kicks have no velocity products, and need the links' velocities only if forces read speeds.
    moves, spins = not flight or bool(of_speeds.kinds), [] if flight else [kept]
    solve_middle = [*([move_middle] if moves else []), *felt(middle), *spins, *accelerate]
    predict = [move_u, *felt(u), *spins, *accelerate] if moves else []
    book = [move_middle, *booking(e, at._replace(u=middle)), *driving(arrays.span, e.solver.loops)]
    friction, rubbed = resisting(e, arrays, at, solving, driving)
    effect, bath = e.system.bath.choice[EFFECT], e.system.bath
    kinetic: list[Bound] = []
    rate: list[Bound] = []
    langevin: list[Bound] = []
    if effect == SCALES or arrays.bath.size > 0:
        kinetic = [move_u, find_kinetic_energy.bind(forest, ws, arrays.kinetic), *adding_energy(e.model, u, arrays)]
    if arrays.bath.size > 0:
        rate = [*kinetic, rate_thermostat.bind(bath, arrays.kinetic, arrays.time, arrays.bath, channels.bath)]
    if asked and of_speeds.kinds:
        rate += felt(u) if rate else [move_u, *felt(u)]
    if effect == KICKS:
        noise, of_links = arrays.draw.speeds, (bath, arrays.clock, u, ws)
        langevin = _drawing(e, arrays, still)
        if looped:
            kept_rows = arrays.work, Program([move_u]), factoring(forest, loops, ws, e.solver.loops, adding)
            answer = responding(forest, ws, e.solver.loops, adding)
            langevin += [langevin_tangent.bind(forest, loops, *of_links, noise, e.solver.loops, *kept_rows, answer)]
        else:
            langevin += [apply_langevin.bind(forest, *of_links, noise, arrays.work)]
        if e.model.armature is not None:
            rotor = e.model.armature.copy(), u, arrays.work
            langevin = [book_rotors.bind(*rotor, -1.0), *langevin, book_rotors.bind(*rotor, 1.0)]
    travelling = flights(e, arrays, flying, in_lanes) if flight else None
    first, second = _drifting(e, arrays, travelling, adding)
    return Passes(
        locate,
        [*filling(e, at, resistance=False, turn=turn, of_speeds=False), *of_speeds.begin()],
        summed,
        predict,
        solve_middle,
        book,
        [move_u],
        first,
        second,
        friction,
        rubbed,
        kinetic if effect == SCALES else [],
        rate,
        langevin,
    )


def _drawing(e: ModelTables, arrays: Scratch, still: Workspace) -> list[Bound]:
    """The passes that draw Langevin noise. The choice between two such passes depends on the model alone, because they
    round differently."""
    forest = e.system.forest
    trees = forest.tree.size - 1
    drawn = forest, e.system.bath, arrays.number, still, arrays.draw
    if trees < SHARED or forest.flexible is not None or e.system.loops.kind.size:
        draw = draw_noise.bind(*drawn)
    else:
        draw = draw_noise_of_many.bind(*drawn, np.zeros((-(-trees // TREES), MOST, MOST)))
    return [draw, *drawing_rotors(e, arrays, still)]


def _drifting(
    e: ModelTables, arrays: Scratch, flying: list[Bound] | None, adding: OpenForest
) -> tuple[list[Bound], list[Bound]]:
    """The drifts of the two halves of a step: flights, or drifts at constant speeds."""
    forest, ws = e.system.forest, e.ws
    moved = arrays.q, arrays.u
    travelling = [drift.bind(forest, *moved, ws, arrays.span)] if flying is None else flying
    if not e.system.loops.kind.size:
        return travelling, travelling
    ends = departure(e.model.nq, e.model.nu, e.system.loops.kind.size), arrays.work, arrays.status
    constraints = e.system.loops, e.system.motions, e.motion_functions
    first, second = (
        drifting_tangent(
            forest,
            constraints,
            (part, arrays.clock, arrays.span),
            *moved,
            ws,
            e.solver.loops,
            ends,
            travelling,
            adding,
        )
        for part in (0.5, 1.0)
    )
    return [first], [second]
