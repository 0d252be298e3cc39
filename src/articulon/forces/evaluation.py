"""All forces of a model, channel by channel, and what they do to it.

``derivative`` is the whole right-hand side: kinematics places the links and their sites, forces fill the channels,
scaling weighs them, dynamics turns them into accelerations.
"""

import math
from collections.abc import Iterable
from typing import Any, NamedTuple

import numba
import numpy as np
from numba import prange, types

from articulon.algebra.vectors import load_from
from articulon.dynamics import energy, recursive
from articulon.dynamics.articulated import accelerate, eliminate
from articulon.dynamics.functions import PARALLEL_LINKS, vector
from articulon.dynamics.kinematics import coordinate_rates, move, place
from articulon.errors import ModelError
from articulon.forces.brownian import brownian_of, draw, noise_table, noise_wrenches
from articulon.forces.gravity import Gravity, gravity_energy, gravity_power
from articulon.forces.site_pairs import pair_energy, pair_table, pair_wrenches, place_sites
from articulon.forces.stokes_drag import drag_table, drag_wrenches
from articulon.forces.tables import ChannelForces, Forces, channel_forces
from articulon.forces.torsional_springs import spring_energy, spring_table, spring_torques
from articulon.forces.user import SIGNATURE, UserFunctions, body_table, user_wrenches
from articulon.kernels import jit, kernel, prepare
from articulon.model import CHANNELS, Forest, Model, Workspace, workspace
from articulon.model.state import CONFORMATIONAL, DAMPING, EXTERNAL, POTENTIAL, STOCHASTIC


class System(NamedTuple):
    """A model as kernels see it."""

    forest: Forest
    forces: Forces


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
    """

    def __init__(self, model: Model, seed: int = 0, window: float = 1.0, average: int = 1) -> None:
        self.model = model
        self.users = UserFunctions(model)
        self.functions = self.users.functions
        self.system = System(model.forest, force_tables(model, seed, window, average))
        self.ws: Workspace = workspace(model.forest)
        self.channels: ChannelForces = channel_forces(self.system.forces, model.nu)
        self.derivative: Any = compiled_derivative(self)

    @property
    def types(self) -> tuple[Any, ...]:
        """Numba types of (system, functions, workspace, channels)."""
        functions = types.UniTuple(types.FunctionType(SIGNATURE), len(self.functions))
        return numba.typeof(self.system), functions, numba.typeof(self.ws), numba.typeof(self.channels)


def force_tables(model: Model, seed: int = 0, window: float = 1.0, average: int = 1) -> Forces:
    """The kernels' tables of a model's forces."""
    drag = drag_table(model)
    pairs, springs, bodies = pair_table(model), spring_table(model), body_table(model)
    gravity = np.zeros(3)
    for force in model.forces:
        if isinstance(force, Gravity):
            gravity += [float(g) for g in force.acceleration]
    wrench_channels = set(bodies.channel.tolist())
    if pairs.link.size:
        wrench_channels.add(POTENTIAL)
    if drag.link.size:
        wrench_channels.add(DAMPING)
    if brownian_of(model) is not None:
        wrench_channels.add(STOCHASTIC)
    return Forces(
        pairs,
        springs,
        drag,
        noise_table(model, drag, seed, window, average),
        gravity,
        bodies,
        np.array(sorted(wrench_channels), dtype=np.int64),
        np.array([CONFORMATIONAL] if springs.link.size else [], dtype=np.int64),
    )


def channels_of(model: Model) -> tuple[str, ...]:
    """Names of the channels that the model has forces in."""
    tables = force_tables(model)
    present = {*tables.wrench_channels.tolist(), *tables.joint_channels.tolist()}
    if tables.gravity.any():
        present.add(EXTERNAL)
    return tuple(CHANNELS[c] for c in sorted(present))


@jit
def fill_positions(system, functions, time, q, u, ws, channels):
    """Forces of all channels but drag and Brownian motion, at links that have been placed and moved."""
    forest, forces = system.forest, system.forces
    wrench, joint = channels.wrench, channels.joint
    for c in forces.wrench_channels:
        one = wrench[c].reshape(-1)
        for k in range(one.size):
            one[k] = 0.0
    for c in forces.joint_channels:
        for k in range(u.size):
            joint[c, k] = 0.0
    if forces.pairs.link.size > 0:
        place_sites(forces.pairs, ws, channels.site)
        pair_wrenches(forces.pairs, ws, channels.site, wrench[POTENTIAL])
    if forces.springs.link.size > 0:
        spring_torques(forest, forces.springs, q, joint[CONFORMATIONAL])
    user_wrenches(
        functions,
        forces.bodies,
        time,
        ws,
        channels.body_position,
        channels.body_rotation,
        channels.body_velocity,
        channels.body_wrench,
        wrench,
    )


@jit
def fill_friction(system, window, u, ws, channels, damping, stochastic):
    """Drag, and the Brownian forces of a window, added to their wrenches (links, 6)."""
    forest, forces = system.forest, system.forces
    if forces.drag.link.size > 0:
        drag_wrenches(forces.drag, ws, damping)
    if forces.noise.choice[0] != 0:
        if channels.held_window[0] != window:
            draw(forces.noise, window, channels.held)
            channels.held_window[0] = window
        size = 1.0
        if forces.noise.choice[4] != 0:
            size = math.sqrt(2.0 * energy.kinetic_energy(forest, ws) / (u.size * forces.noise.bath[0]))
        noise_wrenches(forces.drag, ws, channels.held, size, stochastic)


@jit
def fill(system, functions, time, window, q, u, ws, channels):
    """Forces of every channel at links that have been placed and moved."""
    fill_positions(system, functions, time, q, u, ws, channels)
    fill_friction(system, window, u, ws, channels, channels.wrench[DAMPING], channels.wrench[STOCHASTIC])


@jit
def weigh(system, factor, u, channels):
    """Sums the channels with their factors."""
    forces, wrench, joint = system.forces, channels.wrench, channels.joint
    total, tau = channels.total_wrench.reshape(-1), channels.total_joint
    for k in range(total.size):
        total[k] = 0.0
    for c in forces.wrench_channels:
        s, one = factor[c], wrench[c].reshape(-1)
        for k in range(total.size):  # a vector loop
            total[k] += s * one[k]
    for k in range(u.size):
        tau[k] = 0.0
    for c in forces.joint_channels:
        s = factor[c]
        for k in range(u.size):
            tau[k] += s * joint[c, k]


@jit
def book_powers(system, u, ws, channels):
    """Power of each channel, unscaled, at links that have been moved."""
    forest, forces = system.forest, system.forces
    wrench, joint, power = channels.wrench, channels.joint, channels.power
    twist = ws.twist.reshape(-1)
    for c in range(power.size):
        power[c] = 0.0
    for c in forces.wrench_channels:
        p, one = 0.0, wrench[c].reshape(-1)
        for k in range(twist.size):  # a vector loop
            p += one[k] * twist[k]
        power[c] = p
    for c in forces.joint_channels:
        p = 0.0
        for k in range(u.size):
            p += joint[c, k] * u[k]
        power[c] += p
    g = forces.gravity
    if g[0] != 0.0 or g[1] != 0.0 or g[2] != 0.0:
        power[EXTERNAL] += gravity_power(forest.mass, forest.moment, g, ws)


@jit
def force_sums(system, channels, ws, sums):
    """Σ |F| over the bodies by channel, unscaled; of joint forces, Σ |torque| over the joints' freedoms."""
    forest, forces = system.forest, system.forces
    for c in range(sums.size):
        sums[c] = 0.0
    for c in forces.wrench_channels:
        for i in range(forest.mass.size):
            f = load_from(channels.wrench[c], i, 0)
            sums[c] += math.sqrt(f[0] * f[0] + f[1] * f[1] + f[2] * f[2])
    for c in forces.joint_channels:
        for k in range(channels.joint.shape[1]):
            sums[c] += abs(channels.joint[c, k])
    g = forces.gravity
    sums[EXTERNAL] += forest.mass.sum() * math.sqrt(g[0] * g[0] + g[1] * g[1] + g[2] * g[2])


@jit
def finish(system, factor, y, nq, nu, channels, dy):
    """q' and the scaled powers, beside the accelerations."""
    coordinate_rates(system.forest, y[:nq], y[nq : nq + nu], dy[:nq])
    for c in range(8):
        dy[nq + nu + c] = factor[c] * channels.power[c]


@jit
def scaled_gravity(forces, factor):
    s = factor[EXTERNAL]
    return (s * forces.gravity[0], s * forces.gravity[1], s * forces.gravity[2])


@kernel
def derivative(system, functions, factor, time, window, y, ws, channels, dy):
    """dy/dt of y = (q, u, works of the 8 channels)."""
    forest = system.forest
    links = forest.mass.size
    nq, nu = y.size - channels.total_joint.size - 8, channels.total_joint.size
    q, u = y[:nq], y[nq : nq + nu]
    place(forest, q, ws, 0, links)
    move(forest, u, ws, 0, links)
    fill(system, functions, time, window, q, u, ws, channels)
    weigh(system, factor, u, channels)
    book_powers(system, u, ws, channels)
    wrench, tau = channels.total_wrench, channels.total_joint
    eliminate(forest, forest.mass, forest.moment, forest.inertia, tau, wrench, ws, 0, links)
    accelerate(forest, scaled_gravity(system.forces, factor), ws, dy[nq : nq + nu], 0, links)
    finish(system, factor, y, nq, nu, channels, dy)


@kernel(parallel=True)
def locate_parallel(forest, q, u, ws):
    """Places and moves all links, tree by tree."""
    for t in prange(forest.tree.size - 1):
        place(forest, q, ws, forest.tree[t], forest.tree[t + 1])
        move(forest, u, ws, forest.tree[t], forest.tree[t + 1])


@kernel(parallel=True)
def solve_parallel(forest, tau, wrench, gravity, ws, udot):
    """Accelerations of links that have been placed and moved, tree by tree."""
    for t in prange(forest.tree.size - 1):
        start, end = forest.tree[t], forest.tree[t + 1]
        eliminate(forest, forest.mass, forest.moment, forest.inertia, tau, wrench, ws, start, end)
        accelerate(forest, gravity, ws, udot, start, end)


@kernel
def derivative_parallel(system, functions, factor, time, window, y, ws, channels, dy):
    """The same with the trees shared out among the threads."""
    nq, nu = y.size - channels.total_joint.size - 8, channels.total_joint.size
    q, u = y[:nq], y[nq : nq + nu]
    locate_parallel(system.forest, q, u, ws)
    fill(system, functions, time, window, q, u, ws, channels)
    weigh(system, factor, u, channels)
    book_powers(system, u, ws, channels)
    gravity = scaled_gravity(system.forces, factor)
    solve_parallel(system.forest, channels.total_joint, channels.total_wrench, gravity, ws, dy[nq : nq + nu])
    finish(system, factor, y, nq, nu, channels, dy)


def derivative_signature(evaluator: Evaluator) -> Any:
    """Numba signature of ``derivative`` for a model's tables."""
    system, functions, ws, channels = evaluator.types
    line = types.float64[::1]
    return types.void(system, functions, line, types.float64, types.int64, line, ws, channels, line)


def compiled_derivative(evaluator: Evaluator) -> Any:
    """The kernel for this model, compiled or loaded from the cache."""
    model = evaluator.model
    chosen = derivative_parallel if model.trees > 1 and model.forest.mass.size >= PARALLEL_LINKS else derivative
    return prepare(chosen, derivative_signature(evaluator))


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
    energies(System(model.forest, tables), vector(q, model.nq, "q"), workspace(model.forest), site, result)
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
        evaluator.system, evaluator.functions, factor, 0.0, 0, y, evaluator.ws, evaluator.channels, np.empty_like(y)
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
