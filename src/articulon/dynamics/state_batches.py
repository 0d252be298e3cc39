"""Functions of many states of a model at once: side by side in the lanes of vector registers, distributed over threads.

A batch runs the passes that a single state runs, compiled for lanes (``lanes.py``). Blocks of states go through them
one after another: a block is read from the input rows, and its results are written to output rows. The result for a
state depends neither on its neighbours nor on the number of threads.
"""

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numba import prange

from articulon.kernels import jit, kernel, threads_to_share
from articulon.lanes import WIDTH, LaneArray
from articulon.model import Forest, workspace
from articulon.passes import Program, run

GIVEN, FOUND = 4, 2
"""Largest number of input arrays and of output arrays."""
ALONE = 64
"""Largest number of links in all blocks for which one thread does all of them: starting more threads takes longer."""


@jit
def take_states(rows, block, numbers, at):
    """Copies a block's states from rows (states, n) to lanes (..., width), from index ``at`` on; returns the next
    index. A single row is used for all states."""
    width = numbers.shape[1]
    last, begin = rows.shape[0] - 1, block * width
    for k in range(rows.shape[1]):
        for lane in range(width):
            numbers[at + k, lane] = rows[min(begin + lane, last), k]
    return at + rows.shape[1]


@jit
def give_states(numbers, block, rows, at):
    """Copies lanes (..., width), from index ``at`` on, to the rows (states, n) of a block; returns the next index."""
    width = numbers.shape[1]
    begin = block * width
    for lane in range(min(width, rows.shape[0] - begin)):
        for k in range(rows.shape[1]):
            rows[begin + lane, k] = numbers[at + k, lane]
    return at + rows.shape[1]


@jit
def run_block(code, b, given, found, q, u, tau, wrench, first, second):
    """Runs a worker's program on a block of states."""
    at = take_states(q, b, given, 0)
    at = take_states(u, b, given, at)
    at = take_states(tau, b, given, at)
    take_states(wrench, b, given, at)
    run(code)
    at = give_states(found, b, first, 0)
    give_states(found, b, second, at)


@kernel
def run_blocks(code, blocks, given, found, q, u, tau, wrench, first, second):
    """Runs the program of the first worker on all blocks of states."""
    for b in range(blocks):
        run_block(code[0], b, given[0], found[0], q, u, tau, wrench, first, second)


@kernel(parallel=True)
def run_blocks_in_parallel(code, blocks, given, found, q, u, tau, wrench, first, second):
    """Runs the programs on all blocks of states, distributed over the workers; ``code`` is (workers, passes, 2)."""
    workers = code.shape[0]
    for w in prange(workers):
        for b in range(w * blocks // workers, (w + 1) * blocks // workers):
            run_block(code[w], b, given[w], found[w], q, u, tau, wrench, first, second)


def in_lanes(table: Any) -> Any:
    """A named tuple of arrays as one of lanes, all zeros; None stays None."""
    return type(table)(*(None if one is None else LaneArray.zeros(one.shape) for one in table))


class Batch:
    """A function of a model's states, evaluated for many states at once.

    Parameters
    ----------
    forest
        The links of a model.
    given, found
        Shapes of the inputs and of the results of one state, up to ``GIVEN`` and ``FOUND`` of them.
    program
        Makes the program from the inputs, the scratch of the dynamics and the results, all in lanes.
    """

    def __init__(
        self,
        forest: Forest,
        given: Sequence[tuple[int, ...]],
        found: Sequence[tuple[int, ...]],
        program: Callable[..., Program],
    ) -> None:
        self._forest, self._shapes, self._program = forest, tuple(found), program
        self._layouts = _layout(given), _layout(found)
        self._grow(1)

    def _grow(self, workers: int) -> None:
        """Makes lanes and programs for ``workers`` threads."""
        self._lanes = [LaneArray.zeros((workers, layout[-1][1])) for layout in self._layouts]
        self._programs = []
        for w in range(workers):
            given, found = (
                tuple(
                    LaneArray(lanes.numbers[w, begin:end].reshape(*shape, lanes.width)) for begin, end, shape in layout
                )
                for lanes, layout in zip(self._lanes, self._layouts, strict=True)
            )
            self._programs.append(self._program(given, in_lanes(workspace(self._forest)), found))
        self._code = np.stack([program.code for program in self._programs])

    def __call__(self, states: int, given: Sequence[np.ndarray]) -> tuple[np.ndarray, ...]:
        """Results for every state, each (states, ...), from rows (states, n), or (1, n) for numbers that all states
        share."""
        found = tuple(np.empty((states, *shape)) for shape in self._shapes)
        blocks = -(-states // WIDTH)
        if not blocks:
            return found
        threads = min(threads_to_share(), blocks) if blocks * self._forest.mass.size > ALONE else 1
        if threads > len(self._programs):
            self._grow(threads)
        rows = [*given, *[_NOTHING] * (GIVEN - len(given))]
        rows += [*(one.reshape(states, -1) for one in found), *[_NOTHING] * (FOUND - len(found))]
        lanes = (one.numbers for one in self._lanes)
        (run_blocks if threads == 1 else run_blocks_in_parallel)(self._code[:threads], blocks, *lanes, *rows)
        return found


_NOTHING = np.zeros((1, 0))
"""Rows of a missing array."""


def _layout(shapes: Sequence[tuple[int, ...]]) -> list[tuple[int, int, tuple[int, ...]]]:
    """Begin, end and shape of each array when the arrays are stored consecutively."""
    ends = np.cumsum([math.prod(shape) for shape in shapes]).tolist()
    return list(zip([0, *ends[:-1]], ends, shapes, strict=True))
