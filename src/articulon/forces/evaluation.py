"""A model made ready for evaluation: its tables, its compiled right-hand side and scratch; and its forces and energies
for Python."""

from collections.abc import Iterable
from typing import Any, NamedTuple

import numba
import numpy as np
from numba import types

from articulon.dynamics import embedding, recursive
from articulon.dynamics.functions import vector
from articulon.dynamics.kinematics import place
from articulon.dynamics.motions import motion_functions, motion_type
from articulon.dynamics.solvers import solver_scratch
from articulon.errors import ModelError
from articulon.forces.brownian import brownian_of, noise_table
from articulon.forces.derivatives import derivative_kernel, settle_kernel
from articulon.forces.gravity import Gravity, gravity_energy
from articulon.forces.joint_actuation import ACTUATION, actuation_functions, actuation_table
from articulon.forces.joint_friction import joint_friction_table
from articulon.forces.point_springs import point_spring_energy, point_spring_table
from articulon.forces.site_pairs import pair_energy, pair_table, place_sites
from articulon.forces.stokes_drag import drag_table
from articulon.forces.tables import ChannelForces, Forces, channel_forces
from articulon.forces.torsional_springs import spring_energy, spring_table
from articulon.forces.user import ACTUATIONS, SIGNATURE, USERS, body_table, user_functions
from articulon.forces.user_functions import UserFunctions
from articulon.kernels import kernel, prepare
from articulon.model import CHANNELS, Forest, Loops, Model, Motions, State, Workspace, workspace
from articulon.model.state import CONFORMATIONAL, DAMPING, EXTERNAL, POTENTIAL, STOCHASTIC


class System(NamedTuple):
    """A model as kernels see it."""

    forest: Forest
    forces: Forces
    loops: Loops
    motions: Motions


class Evaluator:
    """A model made ready for evaluation: its tables, its users' functions and the scratch.

    Parameters
    ----------
    model
        The model.
    seed
        Of the Brownian forces.
    window
        Length of a fine window of noise [time]; needed where the model has Brownian forces.
    average
        Fine windows averaged in each held one.
    solver
        Name of the equation-of-motion algorithm.
    rotations
        ``"speeds"``, or ``"euler-parameters"`` for these by their accelerations.
    """

    def __init__(
        self,
        model: Model,
        seed: int = 0,
        window: float = 1.0,
        average: int = 1,
        solver: str = "articulated",
        rotations: str = "speeds",
    ) -> None:
        self.model, self.solver_name, self.rotations = model, solver, rotations
        self.users = UserFunctions()
        self.functions = (
            user_functions(model, self.users),
            motion_functions(model),
            actuation_functions(model, self.users),
        )
        self.system = System(model.forest, force_tables(model, seed, window, average), model.loops, model.motions)
        self.solver = solver_scratch(model, solver, rotations)
        self.settles = bool(model.loops.kind.size) or rotations == "euler-parameters"
        self.ws: Workspace = workspace(model.forest)
        self.channels: ChannelForces = channel_forces(self.system.forces, model.nu)
        self.derivative: Any = prepare(derivative_kernel(model, solver, rotations), derivative_signature(self))
        self.settle: Any = prepare(settle_kernel(model, rotations), settle_signature(self))

    def variables(self, state: State) -> np.ndarray:
        """What the derivative takes of a state: (q, u, works), or (q, q', works) with Euler parameters embedded."""
        speeds = state.u
        if self.rotations == "euler-parameters":
            speeds = np.zeros(self.model.nq)
            self.solver.dependent[:] = 0
            embedding.begin(self.model.forest, state.q, state.u, speeds, self.solver.dependent)
        return np.concatenate([state.q, speeds, state.work])

    @property
    def types(self) -> tuple[Any, ...]:
        """Numba types of (system, functions, workspace, channels, solver)."""
        users = types.UniTuple(types.FunctionType(SIGNATURE), len(self.functions[USERS]))
        actuations = types.UniTuple(types.FunctionType(ACTUATION), len(self.functions[ACTUATIONS]))
        functions = types.Tuple((users, motion_type(self.model), actuations))
        arrays = (numba.typeof(value) for value in (self.ws, self.channels, self.solver))
        return numba.typeof(self.system), functions, *arrays


def force_tables(model: Model, seed: int = 0, window: float = 1.0, average: int = 1) -> Forces:
    """The kernels' tables of a model's forces."""
    drag = drag_table(model)
    pairs, springs, bodies = pair_table(model), spring_table(model), body_table(model)
    point_springs = point_spring_table(model)
    gravity = np.zeros(3)
    for force in model.forces:
        if isinstance(force, Gravity):
            gravity += [float(g) for g in force.acceleration]
    wrench_channels = set(bodies.channel.tolist())
    if pairs.link.size or point_springs.link.size:
        wrench_channels.add(POTENTIAL)
    if drag.link.size or point_springs.constants[:, 2].any():
        wrench_channels.add(DAMPING)
    if brownian_of(model) is not None:
        wrench_channels.add(STOCHASTIC)
    friction, actuations = joint_friction_table(model), actuation_table(model)
    present = {
        CONFORMATIONAL: springs.link.size,
        DAMPING: friction.start.size,
        EXTERNAL: actuations.speed.size + actuations.function_start.size - 1,
    }
    joint_channels = sorted(c for c, count in present.items() if count)
    return Forces(
        pairs,
        springs,
        point_springs,
        drag,
        noise_table(model, drag, seed, window, average),
        gravity,
        bodies,
        friction,
        actuations,
        np.array(sorted(wrench_channels), dtype=np.int64),
        np.array(joint_channels, dtype=np.int64),
    )


def channels_of(model: Model) -> tuple[str, ...]:
    """Names of the channels that the model has forces in."""
    tables = force_tables(model)
    present = {*tables.wrench_channels.tolist(), *tables.joint_channels.tolist()}
    if tables.gravity.any():
        present.add(EXTERNAL)
    return tuple(CHANNELS[c] for c in sorted(present))


def derivative_signature(evaluator: Evaluator) -> Any:
    """Numba signature of the right-hand side for a model's tables."""
    system, functions, ws, channels, solver = evaluator.types
    line = types.float64[::1]
    return types.void(system, functions, line, types.float64, types.int64, line, ws, channels, solver, line)


def settle_signature(evaluator: Evaluator) -> Any:
    """Numba signature of the projection onto a model's loops."""
    system, functions, ws, channels, solver = evaluator.types
    return types.void(system, functions, types.float64, types.float64[::1], ws, channels, solver)


@kernel
def energies(system, q, ws, site, result):
    """Energy functions (8,) of the conservative channels, unscaled."""
    forest, forces = system.forest, system.forces
    place(forest, q, ws, 0, forest.mass.size)
    for c in range(result.size):
        result[c] = 0.0
    if forces.pairs.link.size > 0:
        place_sites(forces.pairs, ws, site)
        result[POTENTIAL] = pair_energy(forces.pairs, site)
    if forces.point_springs.link.size > 0:
        result[POTENTIAL] += point_spring_energy(forces.point_springs, ws)
    if forces.springs.link.size > 0:
        result[CONFORMATIONAL] = spring_energy(forest, forces.springs, q)
    result[EXTERNAL] = gravity_energy(forest.mass, forest.moment, forces.gravity, ws)


def potential_energy(model: Model, q: np.ndarray) -> float:
    """Energy of all potential and conformational terms at q, and of gravity [energy].

    Forces that a user writes have no energy function.
    """
    tables = force_tables(model)
    result = np.empty(8)
    site = channel_forces(tables, model.nu).site
    system = System(model.forest, tables, model.loops, model.motions)
    energies(system, vector(q, model.nq, "q"), workspace(model.forest), site, result)
    return float(result.sum())


def generalized_forces(model: Model, q: np.ndarray, u: np.ndarray, channels: Iterable[str] | None = None) -> np.ndarray:
    """Generalised forces (nu,) of the model's own terms, unscaled; for xyz bodies, the Cartesian forces.

    Parameters
    ----------
    model
        The model.
    q, u
        Coordinates (nq,) and speeds (nu,).
    channels
        Names of the channels to sum; all by default. The stochastic channel is that of the first window of seed 0, one
        unit of time long, and gives nothing unless it is named.

    Raises
    ------
    ModelError
        For an unknown channel or arrays of the wrong shape.
    """
    named = set(CHANNELS) - {"stochastic"} if channels is None else set(channels)
    unknown = sorted(named - set(CHANNELS))
    if unknown:
        raise ModelError(f"unknown channel {unknown[0]!r}; the channels are {', '.join(CHANNELS)}")
    factor = np.array([1.0 if name in named else 0.0 for name in CHANNELS])
    evaluator = Evaluator(model)
    tau = np.empty(model.nu)
    y = np.concatenate([vector(q, model.nq, "q"), vector(u, model.nu, "u"), np.zeros(8)])
    evaluator.derivative(
        evaluator.system,
        evaluator.functions,
        factor,
        0.0,
        0,
        y,
        evaluator.ws,
        evaluator.channels,
        evaluator.solver,
        np.empty_like(y),
    )
    if evaluator.users.error is not None:
        raise evaluator.users.error
    wrench = evaluator.channels.total_wrench.copy()
    tables = evaluator.system.forces
    weights = tables.gravity * factor[EXTERNAL]
    if weights.any():
        forest = model.forest
        arms = np.einsum("kij,kj->ki", evaluator.ws.rotation.reshape(-1, 3, 3), forest.moment)
        wrench[:, :3] += forest.mass[:, None] * weights
        wrench[:, 3:] += np.cross(arms, weights)
    recursive.project_wrenches(model.forest, y[: model.nq].copy(), evaluator.ws, wrench, tau)
    return tau + evaluator.channels.total_joint
