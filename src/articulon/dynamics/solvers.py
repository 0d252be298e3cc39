"""A common interface to the equation-of-motion algorithms: their scratch, their passes, and one call from Python.

The scratch of a solver is a named tuple with the scratch of the loops as ``loops``.
"""

import threading
import weakref
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from articulon.dynamics import kane, motion_passes
from articulon.dynamics.armatures import adding_armatures, open_solution, refuse_armature
from articulon.dynamics.dca import constrained_assembly
from articulon.dynamics.embedding import embedding_scratch
from articulon.dynamics.loops.conditions import MOTION, LoopScratch, loop_scratch
from articulon.dynamics.loops.given_motions import check_time, motion_functions
from articulon.dynamics.loops.loop_passes import solving_with_loops
from articulon.errors import ModelError
from articulon.inputs import shown
from articulon.kernels import one_blas_thread
from articulon.model import Forest, Loops, Model, Motions, Workspace, kernel_tables, workspace
from articulon.passes import Bound, Function, Program, functions

SOLVERS = ("articulated", "kane", "divide-and-conquer")
"""Names of the algorithms."""
ROTATIONS = ("speeds", "euler-parameters")
"""How rotations are integrated: by angular velocities and normalised Euler parameters, or by the accelerations of Euler
parameters."""


class ArticulatedScratch(NamedTuple):
    """Scratch of the articulated-body algorithm in addition to the workspace: only that of the loops."""

    loops: LoopScratch


def solver_scratch(model: Model, solver: str, rotations: str = "speeds") -> Any:
    """Scratch of a solver for a model. Raises ModelError for unknown names and for combinations that are not
    supported."""
    if not isinstance(solver, str) or solver not in SOLVERS:
        raise ModelError(f"unknown solver {shown(solver)}; choose one of {', '.join(SOLVERS)}")
    if not isinstance(rotations, str) or rotations not in ROTATIONS:
        raise ModelError(f"unknown rotations {shown(rotations)}; choose one of {', '.join(ROTATIONS)}")
    if rotations == "euler-parameters":
        if solver != "articulated":
            raise ModelError(f"rotations 'euler-parameters' require the solver 'articulated', got {solver!r}")
        return embedding_scratch(model)
    loops = loop_scratch(*kernel_tables(model), model.nu)
    if solver == "kane":
        return kane.kane_scratch(loops, model.nu, model.armature)
    if solver == "divide-and-conquer":
        return constrained_assembly.divided_scratch(kernel_tables(model).forest, loops, model.nu)
    return ArticulatedScratch(loops)


class Loads(NamedTuple):
    """Forces on a model: generalised forces, wrenches and gravity."""

    tau: np.ndarray
    """Generalised forces, shape (nu,)."""
    wrench: np.ndarray
    """Force, then moment about the link's origin, world axes, shape (links, 6)."""
    gravity: np.ndarray
    """Acceleration of free fall, shape (3,)."""
    factor: np.ndarray
    """Factor of gravity, shape (1,)."""


class Constraints(NamedTuple):
    """The loops and driven joints of a model."""

    loops: Loops
    motions: Motions
    functions: tuple[Function, ...]
    """Functions of the given motions."""
    time: np.ndarray
    """Time at which the given motions are evaluated, shape (1,)."""


def divided_in_parallel(model: Model) -> bool:
    """Whether divide and conquer uses all threads for a model."""
    return model.forest.mass.size >= constrained_assembly.PARALLEL_LINKS and model.forest.flexible is None


def locating(
    model: Model, solver: str, forest: Forest, q: np.ndarray, u: np.ndarray, ws: Workspace, scratch: Any
) -> Iterator[Bound]:
    """The passes by which a solver computes poses and velocities of the links."""
    if solver == "divide-and-conquer" and divided_in_parallel(model):
        yield motion_passes.locate_blocks_in_parallel.bind(forest, scratch.tree, q, u, ws, scratch.blocks)
        return
    yield motion_passes.place_links.bind(forest, q, ws)
    yield motion_passes.move_links.bind(forest, u, ws)


def solving(
    model: Model,
    solver: str,
    forest: Forest,
    constraints: Constraints,
    loads: Loads,
    ws: Workspace,
    scratch: Any,
    udot: np.ndarray,
) -> Iterator[Bound]:
    """The passes by which a solver finds u' (nu,), including loops, for links with known poses and velocities."""
    c = constraints
    if model.armature is not None and solver == "divide-and-conquer":
        refuse_armature(model, f"solver {solver!r}")
    if solver == "articulated" and not c.loops.kind.size:
        yield open_solution(model, forest, loads, ws, udot)
        return
    yield motion_passes.find_motions.bind(c.motions, c.functions, c.time, scratch.loops.motion)
    if solver == "articulated":
        adding = adding_armatures(model, loads.tau)
        yield from solving_with_loops(
            forest, c.loops, (loads.tau, loads.wrench, loads.gravity, loads.factor), ws, scratch.loops, udot, adding
        )
        return
    if solver == "kane":
        yield motion_passes.solve_by_kane.bind(forest, c.loops, *loads, ws, scratch, udot)
        return
    yield from constrained_assembly.dividing(forest, c.loops, *loads, ws, scratch, udot, divided_in_parallel(model))


class _Call(NamedTuple):
    """A solver bound to its own arrays."""

    program: Program
    q: np.ndarray
    u: np.ndarray
    time: np.ndarray
    loads: Loads
    udot: np.ndarray


_kept = threading.local()


def _call(model: Model, solver: str) -> _Call:
    """This thread's call of a solver for a model; it is kept between calls."""
    if not hasattr(_kept, "calls"):
        _kept.calls = weakref.WeakKeyDictionary()
    calls = _kept.calls.setdefault(model, {})
    if solver not in calls:
        forest, loops, motions = kernel_tables(model)
        q, u, udot, time = np.zeros(model.nq), np.zeros(model.nu), np.zeros(model.nu), np.zeros(1)
        loads = Loads(np.zeros(model.nu), np.zeros((forest.mass.size, 6)), np.zeros(3), np.ones(1))
        constraints = Constraints(loops, motions, functions(motion_functions(model), MOTION), time)
        scratch, ws = solver_scratch(model, solver), workspace(forest)
        located = locating(model, solver, forest, q, u, ws, scratch)
        program = Program([*located, *solving(model, solver, forest, constraints, loads, ws, scratch, udot)])
        calls[solver] = _Call(program, q, u, time, loads, udot)
    found: _Call = calls[solver]
    return found


def accelerations(
    model: Model,
    solver: str,
    time: float,
    q: np.ndarray,
    u: np.ndarray,
    tau: np.ndarray,
    wrench: np.ndarray,
    gravity: np.ndarray,
) -> np.ndarray:
    """Accelerations u' (nu,) under generalised forces (nu,) and wrenches on the links (links, 6), with the loops
    satisfied."""
    check_time(model, float(time))
    call = _call(model, solver)
    call.q[:], call.u[:], call.time[0] = q, u, time
    call.loads.tau[:], call.loads.wrench[:], call.loads.gravity[:] = tau, wrench, gravity
    if solver == "kane":
        with one_blas_thread():
            call.program()
    else:
        call.program()
    return call.udot.copy()
