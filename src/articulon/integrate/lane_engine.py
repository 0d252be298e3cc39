"""Steps of explicit Runge–Kutta rules for many states of a model, side by side in the lanes of vector registers."""

from typing import NamedTuple

import numpy as np
from numba import prange

from articulon.dynamics.motion_passes import rate_coordinates, solve
from articulon.dynamics.state_batches import in_lanes
from articulon.forces.brownian import noise_of_window, noise_wrenches
from articulon.forces.state_forces import StateForces
from articulon.integrate.tableaux import Tableau
from articulon.kernels import jit, kernel, threads_to_share
from articulon.lanes import WIDTH, LaneArray
from articulon.model import Model, kernel_tables, workspace
from articulon.model.state import EXTERNAL
from articulon.passes import Program, pass_of, run


@pass_of
def draw_for_states(noise, seeds, window, drawn, held):
    """Noise of a window (1,) of states with seeds (width,) into lanes ``held`` (bodies, 6, width), where ``drawn`` (1,)
    is another window."""
    if drawn[0] == window[0]:
        return
    drawn[0] = window[0]
    for lane in range(seeds.shape[0]):
        for k in range(held.shape[0]):
            force, torque = noise_of_window(noise, seeds[lane], window[0], k)
            for c in range(3):
                held[k, c, lane] = force[c]
                held[k, 3 + c, lane] = torque[c]


@pass_of
def push_by_noise(drag, ws, held, wrench):
    """Adds held forces and torques, in lanes, to the wrenches on the links."""
    noise_wrenches(drag, ws, held, 1.0, wrench)


class Scratch(NamedTuple):
    """What threads read and write, each its own row; lanes as plain numbers, states last."""

    trial: np.ndarray
    """(q, u) of a stage, shape (threads, nq + nu, width)."""
    rates: np.ndarray
    """Their rates, shape (threads, nq + nu, width)."""
    stages: np.ndarray
    """Those of all stages of a step, shape (threads, stages, nq + nu, width)."""
    window: np.ndarray
    """Number of the window of noise, shape (threads, 1)."""
    drawn: np.ndarray
    """The one that has been drawn, −1 for none, shape (threads, 1)."""
    seeds: np.ndarray
    """Seeds of the noise, shape (threads, width)."""


def right_hand_side(
    model: Model, factor: np.ndarray, window: float, average: int, scratch: Scratch, thread: int
) -> Program:
    """The rates of (q, u) of a model under its own forces times factors (8,), with noise whose fine windows have a
    length [time], as the program of a thread."""
    forest, nq = kernel_tables(model).forest, model.nq
    y, rates, ws = LaneArray(scratch.trial[thread]), LaneArray(scratch.rates[thread]), in_lanes(workspace(forest))
    number, drawn, seeds = scratch.window[thread], scratch.drawn[thread], scratch.seeds[thread]
    q, u = y[:nq], y[nq:]
    own = StateForces(model, LaneArray.zeros, ws, q, u, np.zeros(1), number, window=window, average=average)
    forces, noise = own.forces, []
    if forces.noise.choice[0]:
        held = LaneArray.zeros((forces.drag.link.size, 6))
        noise.append(draw_for_states.bind(forces.noise, seeds, number, drawn, held.numbers))
        noise.append(push_by_noise.bind(forces.drag, ws, held, own.at.stochastic))
    inertias = forest.mass, forest.moment, forest.inertia
    gravity, pull = forces.gravity, factor[EXTERNAL:]
    solved = solve.bind(forest, *inertias, own.joint, own.wrench, gravity, pull, ws, rates[nq:])
    return Program([*own.passes(factor, noise), solved, rate_coordinates.bind(forest, q, u, rates[:nq])])


@jit
def add_stages(y, stages, weights, count, h, out):
    """out = y + h Σ weights_i k_i over the first ``count`` stages, of all lanes."""
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
def finish(y, quaternions, failed, step):
    """Euler parameters of the norm 1, and the first step after which a state is not finite."""
    for k in range(quaternions.size):
        at = quaternions[k]
        for lane in range(y.shape[1]):
            a, b, c, d = y[at, lane], y[at + 1, lane], y[at + 2, lane], y[at + 3, lane]
            s = 1.0 / np.sqrt(a * a + b * b + c * c + d * d)
            y[at, lane], y[at + 1, lane], y[at + 2, lane], y[at + 3, lane] = s * a, s * b, s * c, s * d
    for lane in range(y.shape[1]):
        if failed[lane] == 0:
            wrong = 0.0
            for v in range(y.shape[0]):
                wrong += 0.0 * y[v, lane]
            if wrong != 0.0:
                failed[lane] = step


@jit
def take_steps(code, scratch, tableau, quaternions, lengths, windows, first, y, seeds, failed, thread):
    """Steps of one block of states, y (nq + nu, width), by a thread."""
    trial, rates, stages = scratch.trial[thread], scratch.rates[thread], scratch.stages[thread]
    scratch.drawn[thread, 0] = -1
    for lane in range(seeds.size):
        scratch.seeds[thread, lane] = seeds[lane]
    for n in range(lengths.size):
        scratch.window[thread, 0] = windows[n]
        for i in range(tableau.b.size):
            add_stages(y, stages, tableau.a[i], i, lengths[n], trial)
            run(code)
            for v in range(y.shape[0]):
                for lane in range(y.shape[1]):
                    stages[i, v, lane] = rates[v, lane]
        add_stages(y, stages, tableau.b, tableau.b.size, lengths[n], trial)
        for v in range(y.shape[0]):
            for lane in range(y.shape[1]):
                y[v, lane] = trial[v, lane]
        finish(y, quaternions, failed, first + n + 1)


@kernel(parallel=True)
def advance_blocks(code, scratch, tableau, quaternions, lengths, windows, first, y, seeds, failed):
    """Steps of all blocks of states, y (blocks, nq + nu, width), shared out among threads: they have lengths [time] and
    windows of noise, and ``first`` have been taken before."""
    threads, blocks = code.shape[0], y.shape[0]
    for t in prange(threads):
        for k in range(t * blocks // threads, (t + 1) * blocks // threads):
            take_steps(code[t], scratch, tableau, quaternions, lengths, windows, first, y[k], seeds[k], failed[k], t)


@kernel
def advance_blocks_alone(code, scratch, tableau, quaternions, lengths, windows, first, y, seeds, failed):
    """The same on one thread."""
    for k in range(y.shape[0]):
        take_steps(code[0], scratch, tableau, quaternions, lengths, windows, first, y[k], seeds[k], failed[k], 0)


class LaneEngine:
    """Many states on the CPU, and the steps that they take.

    Parameters
    ----------
    model
        The model; its forces are found side by side (``forces/state_forces.py``).
    q, u
        Coordinates (N, nq) and speeds (N, nu).
    factor
        Factors of the channels, shape (8,).
    window, average
        Length of a fine window of noise [time], and how many are averaged in each held one.
    seeds
        Seeds of the noise, shape (N,).
    """

    def __init__(
        self,
        model: Model,
        q: np.ndarray,
        u: np.ndarray,
        factor: np.ndarray,
        window: float,
        average: int,
        seeds: np.ndarray,
    ) -> None:
        self.model, self.states = model, len(q)
        blocks = -(-self.states // WIDTH)
        # What fills the last block up is another copy of the last state.
        chosen = np.minimum(np.arange(blocks * WIDTH), self.states - 1).reshape(blocks, WIDTH)
        self._y = LaneArray.zeros((blocks, model.nq + model.nu))
        self._y.numbers[:] = np.hstack([q, u])[chosen].swapaxes(1, 2)
        self._seeds, self._failed = np.ascontiguousarray(seeds[chosen]), np.zeros((blocks, WIDTH), dtype=np.int64)
        self._arguments = np.array(factor, dtype=np.float64), window, average
        self._quaternions = model.euler_parameters[0].copy()
        self._programs: list[Program] = []

    @property
    def name(self) -> str:
        """Where the states are."""
        return "the CPU"

    @property
    def y(self) -> np.ndarray:
        """Coordinates and speeds (N, nq + nu)."""
        return self._y.numbers.swapaxes(1, 2).reshape(-1, self._y.numbers.shape[1])[: self.states].copy()

    @property
    def failed(self) -> np.ndarray:
        """The step after which each state was no longer finite, 0 where it is, shape (N,)."""
        return self._failed.reshape(-1)[: self.states].copy()

    def take(self, tableau: Tableau, lengths: np.ndarray, windows: np.ndarray, first: int) -> None:
        """Takes steps of lengths [time] in windows of noise, ``first`` having been taken before."""
        threads = min(threads_to_share(), len(self._y.numbers))
        size, stages = self._y.numbers.shape[1], tableau.b.size
        if len(self._programs) < threads or self._scratch.stages.shape[1] < stages:
            self._make(max(threads, len(self._programs)), size, stages)
        code = np.stack([program.code for program in self._programs[:threads]])
        (advance_blocks if threads > 1 else advance_blocks_alone)(
            code,
            self._scratch,
            tableau,
            self._quaternions,
            lengths,
            windows,
            first,
            self._y.numbers,
            self._seeds,
            self._failed,
        )

    def _make(self, threads: int, size: int, stages: int) -> None:
        """Scratch and programs for so many threads."""
        shapes = (threads, size), (threads, size), (threads, stages, size)
        lanes = [LaneArray.zeros(shape).numbers for shape in shapes]
        counts = [np.zeros((threads, width), dtype=np.int64) for width in (1, 1, WIDTH)]
        self._scratch = Scratch(*lanes, *counts)
        self._programs = [right_hand_side(self.model, *self._arguments, self._scratch, t) for t in range(threads)]
