"""Steps of explicit Runge–Kutta schemes for many states of a model, side by side in the lanes of vector registers."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numba import prange

from articulon.dynamics.armatures import open_solution
from articulon.dynamics.motion_passes import move_links, place_links, rate_coordinates
from articulon.forces.filling import fill_all, scaling
from articulon.forces.lane_tables import LaneTables
from articulon.integrate.lane_blocks import Blocks, Present, Steps, begin_block, begin_step, finish, present
from articulon.integrate.tableaux import Tableau
from articulon.kernels import jit, kernel
from articulon.lanes import LaneArray
from articulon.model.state import EXTERNAL
from articulon.passes import Program, run


class Scratch(NamedTuple):
    """Arrays that threads read and write, each its own row; lanes as plain numbers, states last."""

    trial: np.ndarray
    """(q, u) of a stage, shape (threads, nq + nu, width)."""
    rates: np.ndarray
    """Rates of ``trial``, shape (threads, nq + nu, width)."""
    stages: np.ndarray
    """Rates of all stages of a step, shape (threads, stages, nq + nu, width)."""


def right_hand_side(tables: LaneTables, factor: np.ndarray, y: LaneArray, rates: LaneArray, now: Present) -> Program:
    """The rates of (q, u) of a model under its own forces times factors (8,), for the thread with the row ``now``."""
    forest, ws, nq = tables.system.forest, tables.ws, tables.model.nq
    q, u = y[:nq], y[nq:]
    at, forces, channels = tables.at(q, u, now.time[:1], now.number[:1]), tables.system.forces, tables.channels
    sums, gravity = (channels.total_joint, channels.total_wrench), (forces.gravity, factor[EXTERNAL:])
    return Program(
        [
            place_links.bind(forest, q, ws),
            move_links.bind(forest, u, ws),
            *fill_all(tables, at),
            *scaling(tables, channels, factor),
            open_solution(tables.model, forest, (*sums, *gravity), ws, rates[nq:]),
            rate_coordinates.bind(forest, q, u, rates[:nq]),
        ]
    )


@jit
def add_stages(y, stages, weights, count, h, out):
    """Compute out = y + h Σ weights_i k_i over the first ``count`` stages, for all lanes."""
    for v in range(y.shape[0]):
        for lane in range(y.shape[1]):
            out[v, lane] = y[v, lane]
    for i in range(count):
        w = h * weights[i]
        if w != 0.0:
            for v in range(y.shape[0]):
                for lane in range(y.shape[1]):
                    out[v, lane] += w * stages[i, v, lane]


@jit
def take_steps(code, scratch, now, tableau, steps, blocks, t, b):
    """Take the steps of block b in thread t."""
    y, trial, rates, stages = blocks.y[b], scratch.trial[t], scratch.rates[t], scratch.stages[t]
    begin_block(now, blocks, t, b)
    for n in range(steps.lengths.size):
        begin_step(now, t, steps, n)
        h = steps.lengths[n]
        for i in range(tableau.b.size):
            now.time[t, 0] = now.time[t, 1] + tableau.c[i] * h
            add_stages(y, stages, tableau.a[i], i, h, trial)
            run(code)
            for v in range(y.shape[0]):
                for lane in range(y.shape[1]):
                    stages[i, v, lane] = rates[v, lane]
        add_stages(y, stages, tableau.b, tableau.b.size, h, trial)
        for v in range(y.shape[0]):
            for lane in range(y.shape[1]):
                y[v, lane] = trial[v, lane]
        finish(y, blocks.quaternions, blocks.failed[b], steps.first + n + 1)


@kernel(parallel=True)
def advance_blocks(code, scratch, now, tableau, steps, blocks):
    """Take the steps of all blocks of states, distributed over threads."""
    threads, count = code.shape[0], blocks.y.shape[0]
    for t in prange(threads):
        for b in range(t * count // threads, (t + 1) * count // threads):
            take_steps(code[t], scratch, now, tableau, steps, blocks, t, b)
    blocks.taken[0] = steps.first + steps.lengths.size


@kernel
def advance_blocks_alone(code, scratch, now, tableau, steps, blocks):
    """Take the steps of all blocks of states in one thread."""
    for b in range(blocks.y.shape[0]):
        take_steps(code[0], scratch, now, tableau, steps, blocks, 0, b)
    blocks.taken[0] = steps.first + steps.lengths.size


class ExplicitLanes:
    """Stepper of explicit schemes, for given largest numbers of threads and stages.

    Parameters
    ----------
    make_tables
        Makes the tables of a thread from its number and its row of ``Present``.
    factor
        Factors of the channels, shape (8,).
    size
        Number of coordinates and speeds, nq + nu.
    threads, stages
        Largest numbers of threads and stages.
    """

    def __init__(
        self,
        make_tables: Callable[[int, Present], LaneTables],
        factor: np.ndarray,
        size: int,
        threads: int,
        stages: int,
    ) -> None:
        self.threads, self.stages = threads, stages
        shapes = (threads, size), (threads, size), (threads, stages, size)
        lanes = [LaneArray.zeros(shape) for shape in shapes]
        self._scratch, self._now = Scratch(*(one.numbers for one in lanes)), present(threads)
        self._programs = []
        for t in range(threads):
            now = Present(*(one[t] for one in self._now))
            self._programs.append(right_hand_side(make_tables(t, now), factor, lanes[0][t], lanes[1][t], now))

    def take(self, threads: int, tableau: Tableau, steps: Steps, blocks: Blocks) -> None:
        """Take steps on a number of threads."""
        code = np.stack([program.code for program in self._programs[:threads]])
        (advance_blocks if threads > 1 else advance_blocks_alone)(
            code, self._scratch, self._now, tableau, steps, blocks
        )
