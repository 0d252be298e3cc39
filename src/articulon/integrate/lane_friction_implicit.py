"""Friction-implicit steps of many states of a model, side by side in the lanes of vector registers.

A step has the same passes as in ``friction_implicit.py``, but works are not recorded and the factors of the channels
are constant.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from numba import prange

from articulon.dynamics.kinematics import move
from articulon.dynamics.momentum_sampling import draw_normals, find_random_speeds
from articulon.dynamics.state_batches import in_lanes
from articulon.errors import ModelError
from articulon.forces.lane_tables import LaneTables
from articulon.integrate import friction_implicit_scratch, geodesic
from articulon.integrate.combination import resists
from articulon.integrate.friction_implicit_passes import parts
from articulon.integrate.friction_implicit_scratch import Scratch
from articulon.integrate.lane_blocks import (
    Blocks,
    Present,
    Steps,
    begin_block,
    begin_step,
    find_failed,
    present,
)
from articulon.kernels import jit, kernel
from articulon.lanes import LaneArray, choose
from articulon.model import Model
from articulon.passes import Bound, Program, pass_of, run
from articulon.thermostats.base import EFFECT, KICKS, STREAM
from articulon.thermostats.langevin import langevin_speeds

COMMON = {"mass", "moment", "inertia", "factor", "powers", "power", "kinetic", "work", "bath"}
"""Arrays of a step that are the same for all states, or not used."""


def check_in_lanes(model: Model, where: str) -> None:
    """Raise ModelError for forces that friction-implicit steps can only solve state by state."""
    if any(kind.resistance == "dashpots" for kind in resists(model)):
        k = next(k for k, force in enumerate(model.forces) if getattr(force, "resistance", "") == "dashpots")
        raise ModelError(
            f"{where}: forces[{k}].damping: 'friction-implicit' steps need a separate matrix for each state "
            "for the damping of springs; use an explicit rule, or simulate one by one"
        )


@pass_of
def find_middle_speeds(u, acceleration, span, middle):
    """Compute speeds in the middle of a time ``span`` (1,) from accelerations."""
    for k in range(u.shape[0]):
        middle[k] = u[k] + 0.5 * span[0] * acceleration[k]


@pass_of
def advance_speeds(u, acceleration, span):
    """Compute speeds after a time ``span`` (1,) from accelerations."""
    for k in range(u.shape[0]):
        u[k] += span[0] * acceleration[k]


@pass_of
def draw_normals_of_states(seeds, stream, count, one, normals):
    """Draw standard normal numbers of a step for states with seeds (width,), into lanes (nu, width); ``one`` is
    scratch."""
    for lane in range(seeds.shape[0]):
        draw_normals(seeds[lane], stream, count[0], one)
        for k in range(one.size):
            normals[k, lane] = one[k]


@pass_of
def langevin_states(forest, bath, clock, u, ws, still, draw):
    """Apply Langevin friction and noise over the time ``clock[1]`` from ``clock[0]`` on, at links whose poses are
    known."""
    find_random_speeds(forest, 1.0, still, draw)
    langevin_speeds(bath, clock, u, draw.speeds)
    move(forest, u, ws, 0, forest.mass.size)


@pass_of
def fly_states(forest, q, u, span, ws, flight, no_torque, status):
    """Free flight over a time ``span`` (1,). The coordinates of a state whose flight does not converge become NaN."""
    moving, _ = geodesic.fly(forest, q, u, span[0], ws, flight, no_torque)
    lost = choose(moving > 0.0, np.nan, 0.0)
    for k in range(q.shape[0]):
        q[k] += lost
    status[0] = choose(moving > 0.0, 1.0, status[0])


def scratch_in_lanes(tables: LaneTables, now: Present) -> Scratch:
    """Arrays of a step for the states of a block, for the thread with the row ``now``."""
    plain = friction_implicit_scratch.scratch(tables)
    named = {name: array for name, array in plain._asdict().items() if isinstance(array, np.ndarray)}
    lanes: dict[str, Any] = {name: LaneArray.zeros(one.shape) for name, one in named.items() if name not in COMMON}
    times = {"time": now.time[:1], "clock": now.time[1:3], "span": now.time[3:]}
    numbers = {"window": now.number[:1], "number": now.number[1:2]}
    own = {"position": tables.ws.position, "rotation": tables.ws.rotation}
    return plain._replace(**(lanes | times | numbers | own), draw=in_lanes(plain.draw))


def programs_of(
    tables: LaneTables, factor: np.ndarray, flight: bool, state: tuple[LaneArray, LaneArray, LaneArray], now: Present
) -> tuple[Program, Program, Program]:
    """Three programs: one that evaluates forces at (q, u), one that then computes the first accelerations, and a
    step.

    Parameters
    ----------
    tables
        The model, with its forces and its thermostat.
    factor
        Factors of the channels, shape (8,).
    flight
        Whether bodies drift along geodesics.
    state
        Coordinates and speeds (nq + nu,), accelerations (nu,), and whether a free flight did not converge (1,).
    now
        The row of the thread.
    """
    nq, (y, acceleration, lost) = tables.model.nq, state
    held: dict[str, Any] = {"q": y[:nq], "u": y[nq:], "acceleration": acceleration, "factor": factor, "status": lost}
    arrays = scratch_in_lanes(tables, now)._replace(**held)
    part = parts(tables, arrays, flight, fly_states, in_lanes=True)
    u, half, whole = arrays.u, arrays.span, arrays.clock[1:]
    kick = [
        find_middle_speeds.bind(u, acceleration, half, arrays.middle),
        *part.solve,
        advance_speeds.bind(u, acceleration, half),
    ]
    friction_step = [*part.move, *part.friction, advance_speeds.bind(u, arrays.udot, whole)] if part.friction else []
    fill = [*part.locate, *part.fill, *part.scale]
    step = [
        *kick,
        *part.move,
        *part.drift,
        *friction_step,
        *part.move,
        *langevin_passes(tables, arrays, now),
        *part.arrive,
    ]
    return Program(fill), Program(part.predict), Program([*step, *fill, *part.predict, *kick])


def langevin_passes(tables: LaneTables, arrays: Scratch, now: Present) -> list[Bound]:
    """The passes of a Langevin thermostat; empty without one."""
    bath, ws = tables.system.bath, tables.ws
    if bath.choice[EFFECT] != KICKS:
        return []
    still, one = ws._replace(twist=arrays.still, bias=arrays.no_bias), np.zeros(tables.model.nu)
    normals: Any = arrays.draw.normal
    return [
        draw_normals_of_states.bind(now.seeds, int(bath.choice[STREAM]), arrays.number, one, normals.numbers),
        langevin_states.bind(tables.system.forest, bath, arrays.clock, arrays.u, ws, still, arrays.draw),
    ]


@jit
def take_steps(codes, state, now, steps, fresh, blocks, t, b):
    """Take the steps of block b in thread t; ``fresh`` is true unless the previous steps were of this kind too."""
    y, acceleration, own_y, own_acceleration = blocks.y[b], blocks.acceleration[b], state[0][t], state[1][t]
    own_lost = state[2][t]
    for lane in range(own_lost.shape[1]):
        own_lost[0, lane] = 0.0
    begin_block(now, blocks, t, b)
    copy_lanes(own_y, y)
    copy_lanes(own_acceleration, acceleration)
    begin_step(now, t, steps, 0)
    now.time[t, 0] = now.time[t, 1]
    run(codes[0][t])
    if fresh:
        run(codes[1][t])
    for n in range(steps.lengths.size):
        begin_step(now, t, steps, n)
        run(codes[2][t])
        find_failed(own_y, blocks.failed[b], steps.first + n + 1)
        for lane in range(own_lost.shape[1]):
            if blocks.failed[b, lane] == steps.first + n + 1 and own_lost[0, lane] > 0.0:
                blocks.lost[b, lane] = 1
    copy_lanes(y, own_y)
    copy_lanes(acceleration, own_acceleration)


@jit
def copy_lanes(to, numbers):
    """Copy numbers (n, width)."""
    for k in range(to.shape[0]):
        for lane in range(to.shape[1]):
            to[k, lane] = numbers[k, lane]


@kernel(parallel=True)
def advance_blocks(codes, state, now, steps, fresh, blocks):
    """Take the steps of all blocks of states, distributed over threads."""
    threads, count = codes[0].shape[0], blocks.y.shape[0]
    for t in prange(threads):
        for b in range(t * count // threads, (t + 1) * count // threads):
            take_steps(codes, state, now, steps, fresh, blocks, t, b)
    blocks.taken[0] = steps.first + steps.lengths.size


@kernel
def advance_blocks_alone(codes, state, now, steps, fresh, blocks):
    """Take the steps of all blocks of states in one thread."""
    for b in range(blocks.y.shape[0]):
        take_steps(codes, state, now, steps, fresh, blocks, 0, b)
    blocks.taken[0] = steps.first + steps.lengths.size


class FrictionImplicitLanes:
    """Stepper of friction-implicit steps, for a given largest number of threads.

    Parameters
    ----------
    make_tables
        Makes the tables of a thread from its number and its row of ``Present``.
    factor
        Factors of the channels, shape (8,).
    flight
        Whether bodies drift along geodesics.
    threads
        Largest number of threads.
    """

    def __init__(
        self, make_tables: Callable[[int, Present], LaneTables], factor: np.ndarray, flight: bool, threads: int
    ) -> None:
        self.threads, self._now = threads, present(threads)
        self._programs: list[tuple[Program, Program, Program]] = []
        self._noise: list[Any] = []
        for t in range(threads):
            now = Present(*(one[t] for one in self._now))
            tables = make_tables(t, now)
            if not t:
                nq, nu = tables.model.nq, tables.model.nu
                lanes = [LaneArray.zeros((threads, size)) for size in (nq + nu, nu, 1)]
                self._state = lanes[0].numbers, lanes[1].numbers, lanes[2].numbers
            own = lanes[0][t], lanes[1][t], lanes[2][t]
            self._programs.append(programs_of(tables, factor, flight, own, now))
            self._noise.append(tables.system.forces.noise)

    def take(self, threads: int, steps: Steps, fresh: bool, blocks: Blocks) -> None:
        """Take steps of one length on a number of threads; noise is constant within a step."""
        for noise in self._noise:
            noise.window[0] = steps.lengths[0] / max(1, noise.choice[1])
        codes = tuple(np.stack([p[k].code for p in self._programs[:threads]]) for k in range(3))
        kernel = advance_blocks if threads > 1 else advance_blocks_alone
        kernel(codes, self._state, self._now, steps, fresh, blocks)
