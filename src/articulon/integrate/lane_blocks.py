"""Blocks of states that lie side by side in lanes, and what each thread keeps of the one that it advances."""

from typing import NamedTuple

import numpy as np

from articulon.kernels import jit
from articulon.lanes import WIDTH, LaneArray


class Blocks(NamedTuple):
    """States in lanes, block by block. What fills the last block up is another copy of the last state."""

    y: np.ndarray
    """Coordinates and speeds, shape (blocks, nq + nu, width)."""
    acceleration: np.ndarray
    """Accelerations of the latest kick, of rules that kick, shape (blocks, nu, width)."""
    seeds: np.ndarray
    """Seeds of the noise, shape (blocks, width)."""
    failed: np.ndarray
    """The first step after which a state was not finite, 0 where it is, shape (blocks, width)."""
    quaternions: np.ndarray
    """First of each set of four Euler parameters."""
    lost: np.ndarray
    """1 where a state failed because its free flight was not found, shape (blocks, width)."""
    taken: np.ndarray
    """Steps that have been taken, shape (1,)."""


def in_blocks(q: np.ndarray, u: np.ndarray, seeds: np.ndarray, quaternions: np.ndarray) -> Blocks:
    """Blocks of states: coordinates (N, nq), speeds (N, nu) and seeds (N,)."""
    count = -(-len(q) // WIDTH)
    chosen = np.minimum(np.arange(count * WIDTH), len(q) - 1).reshape(count, WIDTH)
    nq, nu = q.shape[1], u.shape[1]
    y, acceleration = LaneArray.zeros((count, nq + nu)).numbers, LaneArray.zeros((count, nu)).numbers
    y[:] = np.hstack([q, u])[chosen].swapaxes(1, 2)
    failed = np.zeros((count, WIDTH), dtype=np.int64)
    arrays = np.ascontiguousarray(seeds[chosen]), failed, quaternions.copy(), np.zeros_like(failed)
    return Blocks(y, acceleration, *arrays, np.zeros(1, dtype=np.int64))


class Steps(NamedTuple):
    """Steps to be taken."""

    lengths: np.ndarray
    """[time], shape (steps,)."""
    starts: np.ndarray
    """When they begin [time], shape (steps,)."""
    ends: np.ndarray
    """When they end [time], shape (steps,)."""
    windows: np.ndarray
    """Their windows of noise, shape (steps,)."""
    first: int
    """How many have been taken before."""


class Present(NamedTuple):
    """Where threads are: each has a row. Passes read parts of it."""

    time: np.ndarray
    """Time of the forces, that at the start of the step, its length, and half of it [time], shape (threads, 4)."""
    number: np.ndarray
    """Numbers of the window of noise, of the step, of the window that has been drawn, −1 for none, and of the block,
    shape (threads, 4)."""
    seeds: np.ndarray
    """Of the block, shape (threads, width)."""


WINDOW, STEP, DRAWN, BLOCK_NUMBER = range(4)
"""Places in ``Present.number``."""


def present(threads: int) -> Present:
    """Zeros for so many threads."""
    integers = (np.zeros((threads, width), dtype=np.int64) for width in (4, WIDTH))
    return Present(np.zeros((threads, 4)), *integers)


@jit
def begin_block(present, blocks, t, b):
    """Thread t turns to block b."""
    present.number[t, DRAWN], present.number[t, BLOCK_NUMBER] = -1, b
    for lane in range(present.seeds.shape[1]):
        present.seeds[t, lane] = blocks.seeds[b, lane]


@jit
def begin_step(present, t, steps, n):
    """Thread t begins step n of a plan; the forces that it finds are those at the end."""
    h = steps.lengths[n]
    present.time[t, 0], present.time[t, 1], present.time[t, 2] = steps.ends[n], steps.starts[n], h
    present.time[t, 3] = 0.5 * h
    present.number[t, WINDOW], present.number[t, STEP] = steps.windows[n], steps.first + n


@jit
def finish(y, quaternions, failed, step):
    """Euler parameters of the norm 1, and the first step after which a state is not finite."""
    for k in range(quaternions.size):
        at = quaternions[k]
        for lane in range(y.shape[1]):
            a, b, c, d = y[at, lane], y[at + 1, lane], y[at + 2, lane], y[at + 3, lane]
            s = 1.0 / np.sqrt(a * a + b * b + c * c + d * d)
            y[at, lane], y[at + 1, lane], y[at + 2, lane], y[at + 3, lane] = s * a, s * b, s * c, s * d
    find_failed(y, failed, step)


@jit
def find_failed(y, failed, step):
    """The first step after which a state is not finite."""
    for lane in range(y.shape[1]):
        if failed[lane] == 0:
            wrong = 0.0
            for v in range(y.shape[0]):
                wrong += 0.0 * y[v, lane]
            if wrong != 0.0:
                failed[lane] = step
