"""Definitions of the public functions of a state: their passes, bound to the arrays of one state or the lanes of
many."""

import math
import threading
import weakref
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numba
import numpy as np
from numba import types

from articulon.dynamics.armatures import open_solution
from articulon.dynamics.kinetic_energies import find_kinetic_energy
from articulon.dynamics.mass_matrix import find_mass_matrix
from articulon.dynamics.motion_passes import move_links, place_links
from articulon.dynamics.newton_euler import find_joint_forces
from articulon.dynamics.poses import find_poses
from articulon.dynamics.state_batches import Batch
from articulon.kernels import jit, kernel, prepare, preparing_together
from articulon.lane_registers import in_all, load_run, store_run, total
from articulon.lanes import WIDTH, LaneArray, fused
from articulon.model import Forest, Model, Workspace, kernel_tables, workspace
from articulon.passes import Bound, Pass, Program, run

Shape = tuple[int, ...]
_NO_GRAVITY, _ARRAY, _FLOAT = np.zeros(3), np.ndarray, np.dtype(np.float64)
PARALLEL_LINKS = 4096
"""From this many links on, trees run in parallel threads; below it, starting threads costs more. The kernel is chosen
by this fixed rule and not by the number of threads, so that results do not depend on the threads in any bit."""


class Shared(NamedTuple):
    """Arrays that all states of a call share."""

    gravity: np.ndarray
    """Acceleration of free fall, shape (3,)."""
    time: np.ndarray
    """Time at which forces are evaluated [time], shape (1,)."""
    factor: np.ndarray
    """Scaling factors of the channels, shape (8,)."""


class At(NamedTuple):
    """Arrays that the passes of a function read and write."""

    model: Model
    forest: Forest
    given: tuple[Any, ...]
    """Inputs of one state, or of states side by side."""
    shared: Shared
    """Arrays that all states share."""
    ws: Workspace
    """Scratch of the dynamics."""
    found: tuple[Any, ...]
    """Arrays for the results."""

    @property
    def in_lanes(self) -> bool:
        """Whether the states are side by side in lanes."""
        return isinstance(self.given[0], LaneArray)

    def zeros(self, shape: Shape) -> Any:
        """Additional scratch of a shape, as an array or as lanes."""
        return LaneArray.zeros(shape) if self.in_lanes else np.zeros(shape)


@dataclass(frozen=True, eq=False)
class Definition:
    """A function of states: the shapes of its inputs and results, and its passes."""

    given: Callable[[Model], list[Shape]]
    """Shapes of the inputs of a state."""
    found: Callable[[Model], list[Shape]]
    """Shapes of the results."""
    passes: Callable[[At], Iterator[Bound]]
    """The passes that compute the results."""


@jit
def clear(rows):
    """Zeroes an array (n, m), or lanes."""
    for i in range(rows.shape[0]):
        for k in range(rows.shape[1]):
            rows[i, k] = 0.0


clear_rows = Pass(clear)
"""The pass of :func:`clear`."""


@jit
def take_numbers(numbers, kept, at):
    """Copies numbers to ``kept``, from index ``at`` on. Returns 0 if all are finite, otherwise NaN."""
    for k in range(numbers.size):
        kept[at + k] = numbers[k]
    wrong = 0.0
    for k in range(numbers.size):
        wrong += 0.0 * numbers[k]
    return wrong


@kernel
def run_state(code, sizes, kept, q, u, x, gravity, found, result):
    """Runs a program on the numbers of one state and on gravity. They are stored consecutively in ``kept``, with zeros
    for wrenches before gravity. Returns whether the inputs have the sizes in ``sizes`` and inputs and results are
    finite. The last entry of ``sizes`` tells whether ``kept`` may hold the wrenches of an earlier call."""
    if q.size != sizes[0] or u.size != sizes[1] or x.size != sizes[2] or gravity.size != 3:
        return False
    wrong = take_numbers(q, kept, 0) + take_numbers(u, kept, q.size) + take_numbers(x, kept, q.size + u.size)
    begin, end = q.size + u.size + x.size, kept.size - 3
    if sizes[3] != 0:  # the previous call had wrenches
        for k in range(begin, end):
            kept[k] = 0.0
        sizes[3] = 0
    if wrong + take_numbers(gravity, kept, end) != 0.0:
        return False
    run(code)
    nothing = in_all(0.0, WIDTH)
    # Two independent sums, so that the processor can add them in parallel.
    a, b = nothing, nothing
    whole = result.size - result.size % (2 * WIDTH)
    for k in range(0, whole, 2 * WIDTH):
        x, y = load_run(nothing, found, k), load_run(nothing, found, k + WIDTH)
        store_run(result, k, x)
        store_run(result, k + WIDTH, y)
        a, b = fused(nothing, x, a), fused(nothing, y, b)
    for k in range(whole, result.size):
        result[k] = found[k]
        wrong += 0.0 * found[k]
    return wrong + total(a + b) == 0.0


def _coordinates(model: Model) -> list[Shape]:
    return [(model.nq,)]


def _state(model: Model) -> list[Shape]:
    return [(model.nq,), (model.nu,)]


def _loaded(model: Model) -> list[Shape]:
    return [*_state(model), (model.nu,), (model.forest.mass.size, 6)]


def _speeds(model: Model) -> list[Shape]:
    return [(model.nu,)]


def moving(at: At) -> Iterator[Bound]:
    """The passes that compute poses and velocities of links."""
    yield place_links.bind(at.forest, at.given[0], at.ws)
    yield move_links.bind(at.forest, at.given[1], at.ws)


def _accelerating(at: At) -> Iterator[Bound]:
    """Accelerations u' under generalised forces and wrenches on the links."""
    yield from moving(at)
    forest, tau, wrench = at.forest, *at.given[2:]
    yield open_solution(at.model, forest, (tau, wrench, at.shared.gravity, np.ones(1)), at.ws, at.found[0])


def _forcing(at: At) -> Iterator[Bound]:
    """Joint forces τ of given accelerations and wrenches on the links."""
    yield from moving(at)
    force = at.zeros((at.forest.mass.size, 6))
    yield find_joint_forces.bind(at.forest, *at.given[2:], at.shared.gravity, at.ws, force, at.found[0])


def _weighing(at: At) -> Iterator[Bound]:
    """Mass matrix M by composite rigid bodies."""
    composite = at.zeros((at.forest.mass.size, 21))
    yield place_links.bind(at.forest, at.given[0], at.ws)
    yield clear_rows.bind(composite)
    yield clear_rows.bind(at.found[0])
    yield find_mass_matrix.bind(at.forest, at.ws, composite, at.found[0])


def _energising(at: At) -> Iterator[Bound]:
    """Kinetic energy T."""
    yield from moving(at)
    yield find_kinetic_energy.bind(at.forest, at.ws, at.found[0])


def _posing(at: At) -> Iterator[Bound]:
    """Positions and rotations of the bodies."""
    model = at.model
    offsets = model.link.copy(), model.offset_position.copy(), model.offset_rotation.copy()
    yield place_links.bind(at.forest, at.given[0], at.ws)
    yield find_poses.bind(*offsets, at.ws, *at.found)


ACCELERATIONS = Definition(_loaded, _speeds, _accelerating)
"""Accelerations u' (nu,) from q, u, τ and wrenches on the links."""
JOINT_FORCES = Definition(_loaded, _speeds, _forcing)
"""Joint forces τ (nu,) from q, u, u' and wrenches on the links."""
MASS_MATRIX = Definition(_coordinates, lambda model: [(model.nu, model.nu)], _weighing)
"""Mass matrix M (nu, nu) from q."""
KINETIC_ENERGY = Definition(_state, lambda _: [(1,)], _energising)
"""Kinetic energy T (1,) from q and u."""
POSES = Definition(_coordinates, lambda model: [(model.bodies, 3), (model.bodies, 4)], _posing)
"""Positions (bodies, 3) and rotations (bodies, 4) from q."""


class StateFunction:
    """A function of the states of a model.

    Parameters
    ----------
    model
        The model.
    definition
        The definition of the function.
    ws
        Scratch of the dynamics for one state.
    """

    def __init__(self, model: Model, definition: Definition, ws: Workspace) -> None:
        self._model, self._definition = weakref.ref(model), definition  # a strong reference would keep it alive
        self._kept, parts = _in_one([*definition.given(model), (3,)])
        self.given, self.shared = parts[:-1], Shared(parts[-1], np.zeros(1), np.ones(8))
        self._found, self.found = _in_one(definition.found(model))
        self._program = self._bound(tuple(self.given), ws, tuple(self.found))
        sizes = [self.given[k].size if k < len(self.given) else 0 for k in range(3)]
        self._sizes, zeros = np.array([*sizes, 0]), np.zeros(max(sizes[1:]))
        self._zeros = zeros[: sizes[1]], zeros[: sizes[2]]
        self._code, self._size = self._program.addresses, self._found.size
        self._alone, self._careful = not in_parallel(model), False

    def is_of(self, model: Model) -> bool:
        """Whether this function belongs to the model."""
        return self._model() is model

    def _bound(self, given: tuple[Any, ...], ws: Workspace, found: tuple[Any, ...]) -> Program:
        model = self._model()
        assert model is not None
        return Program(self._definition.passes(At(model, kernel_tables(model).forest, given, self.shared, ws, found)))

    @cached_property
    def _run(self) -> Callable[..., bool]:
        """The kernel ``run_state``, compiled for contiguous arrays and for any others, writable or not."""
        line, other = numba.typeof(np.zeros(1)), types.Array(types.float64, 1, "A", readonly=True)
        code, sizes = numba.typeof(self._program.code), numba.typeof(self._sizes)
        with preparing_together():
            for given in (line, other):  # the type that is compiled first is found fastest
                prepare(run_state, (code, sizes, line, given, given, given, given, line, line))
        return run_state

    def at_once(self, q: Any, u: Any = None, x: Any = None, gravity: Any = None) -> np.ndarray | None:
        """All results for one state, in one row, from plain arrays without wrenches; None for any other input. The call
        adds one microsecond to the computation."""
        if u is None:
            u = self._zeros[0]
        if x is None:
            x = self._zeros[1]
        if type(gravity) is not _ARRAY:
            gravity = _NO_GRAVITY if gravity is None else _plain_vector(gravity)
        # A kernel that rejects its arguments takes a hundred times longer than this check.
        if type(q) is not _ARRAY or type(u) is not _ARRAY or type(x) is not _ARRAY or type(gravity) is not _ARRAY:
            return None
        if q.ndim + u.ndim + x.ndim + gravity.ndim != 4:
            return None
        if self._careful and not all(given.dtype is _FLOAT for given in (q, u, x, gravity)):
            return None
        result = np.empty(self._size)
        try:
            taken = self._run(self._code, self._sizes, self._kept, q, u, x, gravity, self._found, result)
        except TypeError:  # no floats
            self._careful = True
            return None
        return result if taken else None

    def of(self, *given: np.ndarray) -> list[np.ndarray]:
        """Results for one state."""
        for kept, value in zip(self.given, given, strict=True):
            kept[...] = value
        self._sizes[3] = 1
        self._program()
        return [one.copy() for one in self.found]

    @cached_property
    def many(self) -> Batch:
        """The same function for many states at once."""
        model = self._model()
        assert model is not None
        shapes = self._definition.given(model), self._definition.found(model)
        return Batch(kernel_tables(model).forest, *shapes, self._bound)


def _plain_vector(given: Any) -> np.ndarray | None:
    """A tuple of plain numbers as an array; None for anything else."""
    if type(given) is tuple and all(type(one) is float or type(one) is int for one in given):
        return np.array(given, dtype=np.float64)
    return None


def _in_one(shapes: list[Shape]) -> tuple[np.ndarray, list[np.ndarray]]:
    """Zeros in one array, and consecutive views of it with the given shapes."""
    ends = np.cumsum([math.prod(shape) for shape in shapes]).tolist()
    whole = np.zeros(ends[-1])
    parts = zip([0, *ends[:-1]], ends, shapes, strict=True)
    return whole, [whole[begin:end].reshape(shape) for begin, end, shape in parts]


def in_parallel(model: Model) -> bool:
    """Whether the trees of a model are solved by several threads."""
    return model.forest.mass.size >= PARALLEL_LINKS and model.trees > 1


class _Kept(threading.local):
    """What each thread keeps between calls."""

    def __init__(self) -> None:
        self.workspaces: Any = weakref.WeakKeyDictionary()
        """Workspace of each model, one for all functions."""
        self.functions: Any = weakref.WeakKeyDictionary()
        """Functions of each model, by definition."""
        self.latest: dict[Definition, StateFunction] = {}
        """The last used function of each definition: the look-up here takes a tenth of the time."""


_kept = _Kept()


def scratch(model: Model) -> Workspace:
    """This thread's workspace for a model, kept between calls."""
    found: Workspace | None = _kept.workspaces.get(model)
    if found is None:
        found = _kept.workspaces[model] = workspace(kernel_tables(model).forest)
    return found


def at_once(
    which: Definition, model: Any, q: Any, u: Any = None, x: Any = None, gravity: Any = None
) -> np.ndarray | None:
    """All results for one state, by :meth:`StateFunction.at_once`, if this thread used the same function last;
    otherwise None."""
    function = _kept.latest.get(which)
    if function is None or model is None or function._model() is not model or not function._alone:
        return None
    return function.at_once(q, u, x, gravity)


def function_of(model: Model, which: Definition) -> StateFunction:
    """This thread's function of a model; it is kept between calls."""
    found = _kept.latest.get(which)
    if found is None or not found.is_of(model):
        functions = _kept.functions.setdefault(model, {})
        if which not in functions:
            functions[which] = StateFunction(model, which, scratch(model))
        found = _kept.latest[which] = functions[which]
    return found
