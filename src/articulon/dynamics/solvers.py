"""The equation-of-motion algorithms behind one door: their scratch, and one call from Python.

A solver is a kernel ``(forest, loops, motions, functions, time, q, u, tau, wrench, gravity, ws, scratch, udot)`` and a
named tuple of its scratch, which has the scratch of the loops as ``loops``.
"""

from typing import Any, NamedTuple

import numpy as np

from articulon.dynamics import kane
from articulon.dynamics.dca import constrained_assembly
from articulon.dynamics.embedding import embedding_scratch
from articulon.dynamics.loops import constrained_articulated
from articulon.dynamics.loops.conditions import LoopScratch, loop_scratch
from articulon.dynamics.loops.given_motions import check_time, motion_functions, prepared
from articulon.errors import ModelError
from articulon.inputs import shown
from articulon.kernels import one_blas_thread
from articulon.model import Model, Workspace, kernel_tables

SOLVERS = ("articulated", "kane", "divide-and-conquer")
"""Names of the algorithms."""
ROTATIONS = ("speeds", "euler-parameters")
"""How rotations are integrated: by angular velocities and normalised Euler parameters, or by these' accelerations."""


class ArticulatedScratch(NamedTuple):
    """What the articulated-body algorithm needs beside the workspace: nothing but what the loops need."""

    loops: LoopScratch


def solver_scratch(model: Model, solver: str, rotations: str = "speeds") -> Any:
    """Scratch of a solver for a model; raises ModelError for what does not exist, or does not go together."""
    if not isinstance(solver, str) or solver not in SOLVERS:
        raise ModelError(f"unknown solver {shown(solver)}; choose one of {', '.join(SOLVERS)}")
    if not isinstance(rotations, str) or rotations not in ROTATIONS:
        raise ModelError(f"unknown rotations {shown(rotations)}; choose one of {', '.join(ROTATIONS)}")
    if rotations == "euler-parameters":
        if solver != "articulated":
            raise ModelError(f"rotations 'euler-parameters' go with the solver 'articulated', not with {solver!r}")
        return embedding_scratch(model)
    loops = loop_scratch(*kernel_tables(model), model.nu)
    if solver == "kane":
        return kane.kane_scratch(loops, model.nu)
    if solver == "divide-and-conquer":
        return constrained_assembly.divided_scratch(kernel_tables(model).forest, loops, model.nu)
    return ArticulatedScratch(loops)


def solver_kernel(model: Model, solver: str) -> Any:
    """The kernel of a solver for a model."""
    if solver == "kane":
        return kane.kane_forward_dynamics
    if solver == "divide-and-conquer":
        parallel = model.forest.mass.size >= constrained_assembly.PARALLEL_LINKS and model.forest.flexible is None
        return (
            constrained_assembly.divided_forward_dynamics_parallel
            if parallel
            else constrained_assembly.divided_forward_dynamics
        )
    return constrained_articulated.constrained_forward_dynamics


def accelerations(
    model: Model,
    solver: str,
    time: float,
    q: np.ndarray,
    u: np.ndarray,
    tau: np.ndarray,
    wrench: np.ndarray,
    gravity: np.ndarray,
    ws: Workspace,
) -> np.ndarray:
    """u' (nu,) under generalised forces (nu,) and wrenches on the links (links, 6), with the loops kept."""
    check_time(model, float(time))
    udot, tables = np.empty(model.nu), (*kernel_tables(model), motion_functions(model))
    arguments = (*tables, float(time), q, u, tau, wrench, gravity, ws, solver_scratch(model, solver), udot)
    kernel = prepared(solver_kernel(model, solver), arguments, model)
    with one_blas_thread():
        kernel(*arguments)
    return udot
