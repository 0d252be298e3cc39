"""Blocks of states in vector lanes, and the data that each thread keeps about its present block."""

from typing import NamedTuple

import numpy as np

from articulon.kernels import jit
from articulon.lanes import WIDTH, LaneArray


class Blocks(NamedTuple):
    """States in lanes, block by block. Copies of the last state fill up the last block."""

    y: np.ndarray
    """Coordinates and speeds, shape (blocks, nq + nu, width)."""
    acceleration: np.ndarray
    """Accelerations of the latest kick, for integrators with kicks, shape (blocks, nu, width)."""
    seeds: np.ndarray
    """Seeds of the noise, shape (blocks, width)."""
    failed: np.ndarray
    """The first step after which a state was not finite, 0 if all were, shape (blocks, width)."""
    quaternions: np.ndarray
    """First of each set of four Euler parameters."""
    lost: np.ndarray
    """1 if a state failed because its free flight did not converge, shape (blocks, width)."""
    taken: np.ndarray
    """Number of steps that have been taken, shape (1,)."""


def in_blocks(q: np.ndarray, u: np.ndarray, seeds: np.ndarray, quaternions: np.ndarray) -> Blocks:
    """Arrange states in blocks: coordinates (N, nq), speeds (N, nu) and seeds (N,)."""
    count = -(-len(q) // WIDTH)
    chosen = np.minimum(np.arange(count * WIDTH), len(q) - 1).reshape(count, WIDTH)
    nq, nu = q.shape[1], u.shape[1]
    y, acceleration = LaneArray.zeros((count, nq + nu)).numbers, LaneArray.zeros((count, nu)).numbers
    y[:] = np.hstack([q, u])[chosen].swapaxes(1, 2)
    failed = np.zeros((count, WIDTH), dtype=np.int64)
    arrays = np.ascontiguousarray(seeds[chosen]), failed, quaternions.copy(), np.zeros_like(failed)
    return Blocks(y, acceleration, *arrays, np.zeros(1, dtype=np.int64))


class Steps(NamedTuple):
    """A plan of steps to be taken."""

    lengths: np.ndarray
    """Lengths of the steps [time], shape (steps,)."""
    starts: np.ndarray
    """Start times of the steps [time], shape (steps,)."""
    ends: np.ndarray
    """End times of the steps [time], shape (steps,)."""
    windows: np.ndarray
    """Noise windows of the steps, shape (steps,)."""
    first: int
    """Number of steps taken before."""


class Present(NamedTuple):
    """Present step and block of each thread, a row each. Passes read parts of it."""

    time: np.ndarray
    """Time of the forces, start time of the step, its length, and half its length [time], shape (threads, 4)."""
    number: np.ndarray
    """Numbers of the noise window, of the step, of the window whose noise is drawn, −1 for none, and of the block,
    shape (threads, 4)."""
    seeds: np.ndarray
    """Seeds of the block's states, shape (threads, width)."""


WINDOW, STEP, DRAWN, BLOCK_NUMBER = range(4)
"""Places in ``Present.number``."""


def present(threads: int) -> Present:
    """Zeroed rows for a number of threads."""
    integers = (np.zeros((threads, width), dtype=np.int64) for width in (4, WIDTH))
    return Present(np.zeros((threads, 4)), *integers)


@jit
def begin_block(present, blocks, t, b):
    """Set block b as the present one of thread t."""
    present.number[t, DRAWN], present.number[t, BLOCK_NUMBER] = -1, b
    for lane in range(present.seeds.shape[1]):
        present.seeds[t, lane] = blocks.seeds[b, lane]


@jit
def begin_step(present, t, steps, n):
    """Set step n of a plan as the present one of thread t; forces are evaluated at its end."""
    h = steps.lengths[n]
    present.time[t, 0], present.time[t, 1], present.time[t, 2] = steps.ends[n], steps.starts[n], h
    present.time[t, 3] = 0.5 * h
    present.number[t, WINDOW], present.number[t, STEP] = steps.windows[n], steps.first + n


@jit
def finish(y, quaternions, failed, step):
    """Normalise Euler parameters, and note the first step after which a state is not finite."""
    for k in range(quaternions.size):
        at = quaternions[k]
        for lane in range(y.shape[1]):
            a, b, c, d = y[at, lane], y[at + 1, lane], y[at + 2, lane], y[at + 3, lane]
            s = 1.0 / np.sqrt(a * a + b * b + c * c + d * d)
            y[at, lane], y[at + 1, lane], y[at + 2, lane], y[at + 3, lane] = s * a, s * b, s * c, s * d
    find_failed(y, failed, step)


@jit
def find_failed(y, failed, step):
    """Note the first step after which a state is not finite."""
    for lane in range(y.shape[1]):
        if failed[lane] == 0:
            wrong = 0.0
            for v in range(y.shape[0]):
                wrong += 0.0 * y[v, lane]
            if wrong != 0.0:
                failed[lane] = step
