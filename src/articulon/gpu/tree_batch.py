"""Batches of states of one model on a device: their accelerations under given forces, and under the model's own."""

from typing import Any

import numpy as np

from articulon.dynamics.multibody_functions import check_model
from articulon.dynamics.state_rows import rows_of
from articulon.ensembles.state_ensemble import constant_factors, held_window, seeds_of, states_of
from articulon.errors import ModelError
from articulon.forces.brownian import brownian_of
from articulon.gpu import tree_forces, tree_kernels
from articulon.gpu.devices import device as device_of
from articulon.gpu.devices import load_warp
from articulon.gpu.tree_force_tables import ForceTables, check_forces, tables_of
from articulon.gpu.tree_tables import check_tree_model, forest_of, real_of, reals, work_of
from articulon.inputs import shown, whole
from articulon.model import Model
from articulon.model.state import CONFORMATIONAL, DAMPING, EXTERNAL, POTENTIAL, STOCHASTIC
from articulon.scaling.base import ScalingPolicy

wp = load_warp()

STATES_IN_BLOCK = 32
"""Threads per block of a GPU, where each thread takes a state: the smallest number that runs at once, so that a
thousand states keep all processors busy. More would not fit anyway, as a state fills the registers of a thread."""
THREADS_IN_BLOCK = 256
"""Threads per block for many small threads."""


class TreeBatch:
    """A model's tables and the workspace of a batch of its states on a device.

    Parameters
    ----------
    model
        The model.
    states
        Number of states.
    device
        Name of the device; see :func:`articulon.gpu.devices.device`.
    precision
        Precision of all numbers, ``"double"`` or ``"single"``.
    where
        Prefix of messages.

    Raises
    ------
    ModelError
        For models without kernels, and states that do not fit into memory.
    """

    def __init__(self, model: Model, states: int, device: str, precision: str, where: str) -> None:
        if not isinstance(model, Model):
            raise ModelError(f"{where}: expected a model from a ModelBuilder, got {shown(model)}")
        check_tree_model(model, where)
        self.model, self.states, self.where = model, states, where
        self.device, self.real = device_of(device), real_of(precision)
        self.forest = forest_of(model, self.real, self.device)
        self.work = work_of(model, states, self.real, self.device)
        self.links = model.forest.mass.size
        self.forces: ForceTables | None = None
        self.wrenches: Any = None

    def take_forces(self, scaling: ScalingPolicy | None, held: float | None, seeds: Any) -> None:
        """Enable the model's own forces, times the factors of a policy; ``held`` is how long each noise value is held
        [time], by default :func:`held_window`, and ``seeds`` are those of the states."""
        check_forces(self.model, self.where)
        factor = constant_factors(scaling, self.where)
        window = held_window(self.model, scaling, held, self.where)
        noisy = brownian_of(self.model) is not None
        self.take_tables(factor, window, seeds_of(seeds, self.states, self.where, noisy))

    def take_tables(self, factor: np.ndarray, window: float, seeds: np.ndarray) -> None:
        """Enable the model's own forces, times factors of the channels (8,), with noise of seeds (states,) that is held
        for windows [time]."""
        self.factor = [self.real(float(f)) for f in factor]
        self.forces = tables_of(self.model, window, self.real, self.device)
        noisy = self.forces.noise is not None
        self.clock = wp.zeros(1, dtype=wp.int64, device=self.device)
        bodies, states = (self.forces.dragged, self.states) if noisy else (0, 0)
        self.held = self.zeros(6 * bodies, states)
        self.drawn = wp.full((bodies, states), -1, dtype=wp.int64, device=self.device)
        self.seeds = wp.array(seeds.astype(np.uint64), dtype=wp.uint64, device=self.device)
        self.places, self.on_sites = self.zeros(3 * self.forces.sites), self.zeros(3 * self.forces.sites)
        self.give(gravity=self.forces.gravity)

    def zeros(self, rows: int, states: int | None = None) -> Any:
        """Return an array (rows, states) of zeros on the device."""
        return wp.zeros((rows, self.states if states is None else states), dtype=self.real, device=self.device)

    def rows(self, values: np.ndarray) -> Any:
        """Return an array (states, ...) as rows on the device, with the states last."""
        return reals(values.reshape(self.states, -1).T, self.real, self.device)

    def give(self, tau: Any = None, wrenches: Any = None, gravity: Any = None) -> None:
        """Set joint forces, wrenches on bodies and gravity; None is zero. Each is the same for all states, or given for
        each state."""
        N = self.states
        if tau is not None:
            self.work.tau = self.rows(per_state(tau, N, (self.model.nu,), "tau"))
        if gravity is not None:
            self.work.gravity = self.rows(per_state(gravity, N, (3,), "gravity"))
        given = None if wrenches is None else per_state(wrenches, N, (self.model.bodies, 6), "wrenches")
        self.wrenches = None if given is None else self.rows(given)

    def launch(self, kernel: Any, dim: Any, *arguments: Any) -> None:
        """Launch a kernel, with a thread for each of ``dim``."""
        block = STATES_IN_BLOCK if isinstance(dim, int) else THREADS_IN_BLOCK
        wp.launch(kernel, dim=dim, inputs=list(arguments), device=self.device, block_dim=block)

    def accelerate(self, y: Any, dy: Any) -> None:
        """Compute u' of every state y (nq + nu, states) under the given forces, into the last rows of ``dy``."""
        N, nq = self.states, self.model.nq
        self.move(y)
        if self.wrenches is not None:
            self.work.wrench.zero_()
            self.launch(tree_kernels.gather_wrenches, N, self.forest, self.work, self.wrenches)
        self.launch(tree_kernels.solve, N, self.forest, self.work, nq, self.real(1.0), dy)

    def move(self, y: Any) -> None:
        """Compute poses and velocities of the links of every state y."""
        self.launch(tree_kernels.place_and_move, self.states, self.forest, self.work, y)

    def poses(self) -> tuple[np.ndarray, np.ndarray]:
        """Return origins (states, bodies, 3) and Euler parameters (states, bodies, 4) of bodies after :meth:`move`."""
        bodies = self.model.bodies
        found = self.zeros(3 * bodies), self.zeros(4 * bodies)
        self.launch(tree_kernels.body_poses, (bodies, self.states), self.forest, self.work, *found)
        positions, rotations = (by_state(one).reshape(self.states, bodies, -1) for one in found)
        return positions, rotations

    def kinetic_energies(self) -> np.ndarray:
        """Return the kinetic energies T after :meth:`move`, (states,)."""
        found = self.zeros(1)
        self.launch(tree_kernels.kinetic_energies, self.states, self.forest, self.work, found)
        return by_state(found)[:, 0]

    def draw(self) -> None:
        """Draw the Brownian forces of the window ``clock[0]``."""
        f = self.forces
        if f is not None and f.noise is not None:
            to = self.drawn, self.held
            self.launch(tree_forces.draw_noise, (f.dragged, self.states), f.noise, self.seeds, self.clock, *to)

    def evaluate(self, y: Any, dy: Any) -> None:
        """Compute the whole right-hand side, q' and u', under the model's own forces and the drawn noise."""
        N, f, work, factor = self.states, self.forces, self.work, self.factor
        assert f is not None
        self.move(y)
        if f.pairs is not None or f.drag is not None:
            work.wrench.zero_()
        if f.pairs is not None:
            self.launch(tree_forces.place_sites, (f.sites, N), f.pairs, work, self.places)
            self.launch(tree_forces.pair_forces, (f.sites, N), f.pairs, self.places, self.on_sites)
            self.launch(
                tree_forces.site_wrenches,
                (f.carriers, N),
                f.pairs,
                work,
                self.places,
                self.on_sites,
                factor[POTENTIAL],
            )
        if f.springs is not None:
            work.tau.zero_()
            self.launch(tree_forces.spring_torques, N, f.springs, y, work, factor[CONFORMATIONAL])
        if f.drag is not None:
            factors = factor[DAMPING], factor[STOCHASTIC], self.real(f.thermal)
            self.launch(tree_forces.friction, N, self.forest, f.drag, work, self.held, *factors)
        self.launch(tree_kernels.solve, N, self.forest, work, self.model.nq, factor[EXTERNAL], dy)
        self.launch(tree_kernels.coordinate_rates, (self.links, N), self.forest, y, dy)


def forward_dynamics(
    model: Model,
    Q: Any,
    U: Any,
    tau: Any = None,
    wrenches: Any = None,
    gravity: Any = None,
    device: str = "cuda",
    *,
    precision: str = "double",
) -> np.ndarray:
    """Compute accelerations of many states under the given forces, M u' = τ + Jᵀ w − bias (Featherstone 2008, table
    7.1).

    It is :func:`articulon.forward_dynamics` with a leading axis for the states: only the given forces act. Gravity may
    differ between states, too.

    Parameters
    ----------
    model
        The model: rigid bodies on joints of any kind, without loops and driven joints.
    Q, U
        Coordinates (N, nq) and speeds (N, nu).
    tau
        Generalised forces of the joints, (nu,) for all states or (N, nu); None is zero.
    wrenches
        Force, then moment about the body's origin, world frame, (bodies, 6) or (N, bodies, 6); None is zero.
    gravity
        Gravitational acceleration, world frame [length/time²], (3,) or (N, 3); None is zero.
    device
        ``"cuda"``, ``"cuda:1"``, or ``"warp-cpu"`` for Warp's own CPU device.
    precision
        ``"double"``, or ``"single"`` for 24 bits in every number: relative errors of about 1e-6, more if the
        mass matrix is ill-conditioned.

    Returns
    -------
    numpy.ndarray
        u' (N, nu), in the order of ``model.u0``; in double precision, whatever ``precision``.

    Raises
    ------
    ModelError
        For a state that cannot be computed, which the message names, and for a model without kernels, with the reason.
    ArticulonError
        For a device that does not exist.
    """
    check_model(model, "forward_dynamics")
    q, u = states_of(model, Q, U, unit=False)
    batch = TreeBatch(model, q.shape[0], device, precision, "forward_dynamics")
    batch.give(tau, wrenches, gravity)
    dy = batch.zeros(model.nq + model.nu)
    batch.accelerate(batch.rows(np.hstack([q, u])), dy)
    return _speeds(dy, model)


def accelerations(
    model: Model,
    Q: Any,
    U: Any,
    *,
    device: str = "cuda",
    seeds: Any = None,
    window: int = 0,
    held: float | None = None,
    scaling: ScalingPolicy | None = None,
    precision: str = "double",
) -> np.ndarray:
    """Compute accelerations of many states under the model's own forces: the u' that a run integrates.

    Parameters
    ----------
    model, Q, U, device, precision
        See :func:`forward_dynamics`. The model's forces may be gravity, Stokes drag, Brownian forces, site pairs and
        torsional springs.
    seeds
        Seed of each state's Brownian forces, (N,); required if the model has such forces. The same seed and window give
        the same numbers as a run on the CPU.
    window
        Number of the noise window.
    held
        Time for which each noise value is held [time]; see :class:`Ensemble` for the default.
    scaling
        A policy with constant factors, such as ``ar.scaling.Constant(0.01)``; none by default.

    Returns
    -------
    numpy.ndarray
        u' (N, nu).

    Raises
    ------
    ModelError
        As for :func:`forward_dynamics`, and for a force without a kernel; the message names this force, and the forces
        that have kernels.
    """
    check_model(model, "accelerations")
    q, u = states_of(model, Q, U, unit=False)
    batch = TreeBatch(model, q.shape[0], device, precision, "accelerations")
    batch.take_forces(scaling, held, seeds)
    batch.clock.fill_(whole(window, "window", least=0))
    batch.draw()
    dy = batch.zeros(model.nq + model.nu)
    batch.evaluate(batch.rows(np.hstack([q, u])), dy)
    return _speeds(dy, model)


def body_poses(
    model: Model, Q: Any, device: str = "cuda", *, precision: str = "double"
) -> tuple[np.ndarray, np.ndarray]:
    """Compute the poses of the bodies in many states.

    Parameters
    ----------
    model, Q, device, precision
        See :func:`forward_dynamics`.

    Returns
    -------
    positions, rotations
        Origins [length], (N, bodies, 3), and Euler parameters, scalar first, body to world, (N, bodies, 4); world
        frame.

    Raises
    ------
    ModelError, ArticulonError
        As for :func:`forward_dynamics`.
    """
    check_model(model, "body_poses")
    q, u = states_of(model, Q, None, unit=False)
    batch = TreeBatch(model, q.shape[0], device, precision, "body_poses")
    batch.move(batch.rows(np.hstack([q, u])))
    return batch.poses()


def by_state(rows: Any) -> np.ndarray:
    """Return rows (rows, states) on a device as an array of doubles (states, rows)."""
    return np.array(rows.numpy().T, dtype=np.float64, order="C")  # copy: on a CPU it is the device's own memory


def _speeds(dy: Any, model: Model) -> np.ndarray:
    return np.ascontiguousarray(by_state(dy)[:, model.nq :])


def per_state(value: Any, states: int, shape: tuple[int, ...], name: str) -> np.ndarray:
    """Return finite numbers, given for all states or for each, as (states, *shape); raise ModelError naming the row."""
    found = rows_of((name, value, shape)).rows[0]
    if len(found) not in (1, states):
        raise ModelError(f"{name}: {len(found)} states, but Q has {states}")
    return np.broadcast_to(found, (states, found.shape[1])).reshape(states, *shape)
