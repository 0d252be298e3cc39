"""Evaluator: a model's tables, compiled right-hand side and scratch; and its forces and energies for Python."""

import threading
from collections.abc import Collection, Sequence
from functools import cached_property
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from articulon.dynamics import embedding, newton_euler
from articulon.dynamics.kinetic_energies import find_kinetic_energy
from articulon.dynamics.multibody_functions import check_model, inverse_dynamics, vector
from articulon.dynamics.state_functions import function_of
from articulon.dynamics.state_rows import is_batch, one_by_one, rows_of
from articulon.errors import ModelError
from articulon.forces.capacity import with_capacity
from articulon.forces.contact.contact_columns import KEPT
from articulon.forces.derivatives import Closing, RightHandSide, call, call_closing, closing, right_hand_side
from articulon.forces.energies import energy_passes
from articulon.forces.evaluation_tables import ModelTables
from articulon.forces.filling import summing
from articulon.forces.model_tables import force_tables
from articulon.forces.sites.list_sizes import has_site_forces
from articulon.forces.sites.site_evaluation import SiteForces
from articulon.forces.sites.site_positions import only_particles, site_positions
from articulon.forces.sites.site_tables import ENERGY, LAPLACIAN, MEASURES, W_XX, W_YZ, W_ZZ
from articulon.forces.state_forces import OWN_FORCES, POTENTIAL_ENERGY, side_by_side
from articulon.inputs import number, shown, words
from articulon.model import CHANNELS, Model, State, kernel_tables, workspace
from articulon.model.state import CONFORMATIONAL, EXTERNAL, POTENTIAL
from articulon.passes import Program
from articulon.thermostats.base import GAIN, variables_of
from articulon.thermostats.total_momentum import without_momentum


class Evaluator(ModelTables):
    """A model prepared for evaluation: its tables, and the programs of its right-hand side, energies and sums."""

    @cached_property
    def _right_hand_side(self) -> tuple[Program, RightHandSide]:
        return right_hand_side(self)

    @property
    def rhs(self) -> RightHandSide:
        """The right-hand side, for kernels."""
        return self._right_hand_side[1]

    @cached_property
    def _closing(self) -> tuple[Program, Closing]:
        return closing(self, self.rhs)

    @property
    def closing(self) -> Closing:
        """The projection after every step, for kernels."""
        return self._closing[1]

    def rates(self, factor: np.ndarray, time: float, window: int, y: np.ndarray, dy: np.ndarray) -> None:
        """Evaluate the right-hand side from Python; a neighbour list that exceeds its capacity grows."""

        def attempt() -> bool | None:
            call(self.rhs, time, window, factor, y, dy)
            return None if self.sites.overflowed else True

        with_capacity(attempt, self.grow)

    def close(self, time: float, y: np.ndarray) -> None:
        """Project q and u of y onto loop constraints and driven motions."""
        call_closing(self.closing, self.rhs, time, y)

    @property
    def energy_channels(self) -> list[int]:
        """Return the channels that have an energy function."""
        forces = self.system.forces
        found = {kind.energy_channel for kind, _ in forces.terms}
        if forces.sites.kinds.size:
            found.add(POTENTIAL)
        if self.model.modes:
            found.add(CONFORMATIONAL)
        if forces.gravity.any():
            found.add(EXTERNAL)
        return sorted(c for c in found if c is not None)

    def energies(self, q: np.ndarray, measures: np.ndarray | None = None) -> np.ndarray:
        """Unscaled energies of the channels at coordinates q [energy], shape (8,).

        ``measures`` are those of the site forces at q, if already computed.
        """
        result = np.zeros(8)
        if not self.particles:
            program, at, found = self._energies
            at[:], found[:] = q, 0.0
            program()
            result += found
        if self.sites.sites:
            result[POTENTIAL] += (self.measure(q) if measures is None else measures)[ENERGY]
        return result

    @cached_property
    def _energies(self) -> tuple[Program, np.ndarray, np.ndarray]:
        """Return the program of energies, its input coordinates and its output."""
        q, result = np.zeros(self.model.nq), np.zeros(8)
        forest, forces = self.system.forest, self.system.forces
        return Program(energy_passes(forest, forces, self.ws, q, result)), q, result

    def kinetic_and_force_sums(self) -> tuple[float, np.ndarray]:
        """Kinetic energy and Σ|F| by channel (8,) at the latest evaluation."""
        program, kinetic, sums = self._sums
        program()
        return float(kinetic[0]), sums

    @cached_property
    def _sums(self) -> tuple[Program, np.ndarray, np.ndarray]:
        kinetic, sums = np.zeros(1), np.zeros(8)
        moving = find_kinetic_energy.bind(self.system.forest, self.ws, kinetic)
        return Program([moving, *summing(self, sums)]), kinetic, sums

    def measure(self, q: np.ndarray) -> np.ndarray:
        """Energy, virial (xx, yy, zz, xy, xz, yz) and Laplacian of the site forces at coordinates q, shape (8,)."""
        measures = self.sites.measure(site_positions(self.model, q))
        self._take_lists()
        return measures

    def on_sites(self, positions: np.ndarray) -> np.ndarray:
        """Forces on the sites from the site forces, at given positions (sites, 3) [force], shape (sites, 3)."""
        forces = self.sites.evaluate(positions)
        self._take_lists()
        return forces

    def variables(self, state: State) -> np.ndarray:
        """Return the part of a state that the right-hand side reads: (q, u, works, thermostat variables), with q' in
        place of u if Euler parameters are integrated by their accelerations."""
        speeds = state.u
        if self.rotations == "euler-parameters":
            speeds = np.zeros(self.model.nq)
            self.solver.dependent[:] = 0
            embedding.begin(self.system.forest, state.q, state.u, speeds, self.solver.dependent)
        return np.concatenate([state.q, speeds, state.work, state.bath])

    def initial_state(self, history: int = 0, speed_factor: float = 1.0, memory: int = 0) -> State:
        """Return the state at time zero. Its total momentum is removed if the thermostat requires it, and its speeds
        are multiplied by ``speed_factor``; ``history`` and ``memory`` are the sizes of these arrays, given by the
        integrator."""
        spheres, columns = (0, 0) if self.contacts is None else (self.contacts.spheres, KEPT.width)
        edges = self.model.box.vectors if self.changing_box and self.model.box is not None else None
        state = self.model.initial_state(
            history, variables_of(self.system.bath), self.sites.listed, memory, spheres, columns, edges
        )
        self.start(state, state.q, state.u, speed_factor)
        return state

    def start(self, state: State, q: np.ndarray, u: np.ndarray, speed_factor: float = 1.0) -> None:
        """Write the model's initial coordinates and speeds into a state at time zero, as :meth:`initial_state` does."""
        if self.thermostat is not None and self.thermostat.centre_of_mass == "removed":
            u = without_momentum(self.model, q, u)
        if self.overdamped:
            u = np.zeros_like(u)
        state.q[:], state.u[:] = q, speed_factor * u

    def thermostat_rates(self) -> tuple[float, float]:
        """ζ and kd ζ' of the thermostat at the latest evaluation [1/time]; zeros without a thermostat."""
        if not self.bath.size:
            return 0.0, 0.0
        return float(self.bath[0, 0]), float(self.system.bath.constants[GAIN] * self.bath[1, 0])

    @property
    def degrees_of_freedom(self) -> int:
        """Number of degrees of freedom that share the kinetic energy."""
        return (
            self.model.degrees_of_freedom if self.thermostat is None else self.thermostat.degrees_of_freedom(self.model)
        )


def potential_energy(model: Model, q: np.ndarray) -> Any:
    """Energy of all potential and conformational terms, and of gravity, at q [energy].

    Forces written by a user have no energy function. Coordinates (states, nq) give energies (states,).

    Parameters
    ----------
    model
        The model.
    q
        Coordinates (nq,), or (states, nq) of many states.
    """
    check_model(model, "potential_energy")
    if is_batch((q, 1)):
        found = rows_of(("q", q, (model.nq,)))
        if side_by_side(model):
            return function_of(model, POTENTIAL_ENERGY).many(found.states, found.rows)[0][:, 0]
        return one_by_one(found, lambda q: potential_energy(model, q), (model.nq,))
    coordinates, result = vector(q, model.nq, "q"), np.zeros(8)
    if only_particles(model):
        return float(sites_of(model).measure(coordinates.reshape(-1, 3))[ENERGY])
    if side_by_side(model):
        return float(function_of(model, POTENTIAL_ENERGY).of(coordinates)[0][0])
    tables = force_tables(model)
    forest = kernel_tables(model).forest
    Program(energy_passes(forest, tables, workspace(forest), coordinates, result))()
    if has_site_forces(model):
        result[POTENTIAL] += sites_of(model).measure(site_positions(model, coordinates))[ENERGY]
    return float(result.sum())


def virial(model: Model, q: np.ndarray) -> np.ndarray:
    """Virial W_ab = Σ F_a r_b of the site forces at coordinates q, including the tail correction [energy], shape (3,
    3).

    r are the positions of the sites, also on bodies with several sites; see :func:`articulon.pressure` for the pressure
    of such bodies.

    Parameters
    ----------
    model
        The model.
    q
        Coordinates (nq,).

    Raises
    ------
    ModelError
        For a force whose virial is unknown, such as that of OpenMM in a periodic box.
    """
    check_model(model, "virial")
    check_virial_is_known(model, "virial")
    xx, yy, zz, xy, xz, yz = _measures(model, q)[W_XX : W_YZ + 1]
    return np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])


def without_virial(model: Model) -> str | None:
    """Return the kind of a force whose virial is unknown; None if all are known."""
    forces = (force for force in model.forces if hasattr(force, "virial_known") and not force.virial_known(model))
    return next((force.kind for force in forces), None)


def check_virial_is_known(model: Model, where: str) -> None:
    """Raises ModelError for a force whose virial is unknown."""
    kind = without_virial(model)
    if kind is not None:
        raise ModelError(f"{where}: the virial of '{kind}' is unknown in this box, and therefore the pressure too")


def configurational_laplacian(model: Model, q: np.ndarray) -> float:
    """Σ ∇² U of the site forces over the positions of all sites at coordinates q [energy/length²].

    Parameters
    ----------
    model
        The model.
    q
        Coordinates (nq,).
    """
    check_model(model, "configurational_laplacian")
    return float(_measures(model, q)[LAPLACIAN])


def site_sums(model: Model, q: np.ndarray) -> tuple[np.ndarray, np.ndarray, float]:
    """Forces on the sites from the site forces [force] and the positions of the sites [length], both (sites, 3), and
    the trace of the virial [energy], at coordinates q."""
    if not has_site_forces(model):
        return np.zeros((0, 3)), np.zeros((0, 3)), 0.0
    sites, positions = sites_of(model), site_positions(model, q)
    trace = float(sites.measure(positions)[W_XX : W_ZZ + 1].sum())
    return sites.evaluate(positions), positions, trace


def _measures(model: Model, q: np.ndarray) -> np.ndarray:
    coordinates = vector(q, model.nq, "q")
    if not has_site_forces(model):
        return np.zeros(MEASURES)
    return sites_of(model).measure(site_positions(model, coordinates))


_SITES: WeakKeyDictionary[Model, SiteForces] = WeakKeyDictionary()


def sites_of(model: Model) -> SiteForces:
    """Return the site forces of a model, kept because its energy is evaluated repeatedly."""
    if model not in _SITES:
        _SITES[model] = SiteForces(model)
    return _SITES[model]


def generalized_forces(
    model: Model,
    q: np.ndarray,
    u: np.ndarray,
    channels: Sequence[str] | str | None = None,
    time: float = 0.0,
) -> np.ndarray:
    """Generalised forces (nu,) of the model's own terms, unscaled; for xyz bodies, the Cartesian forces.

    Parameters
    ----------
    model
        The model.
    q, u
        Coordinates (nq,) and speeds (nu,); a leading axis of states is kept in the result.
    channels
        Names of the channels to sum; all except the stochastic one by default. If the stochastic channel is named, its
        forces are those of the first noise window with seed 0, one unit of time long.
    time
        Time at which time-dependent forces are evaluated [time].

    Raises
    ------
    ModelError
        For an unknown channel or arrays of the wrong shape.
    """
    check_model(model, "generalized_forces")
    named = set(CHANNELS) - {"stochastic"} if channels is None else set(words(channels, "channels"))
    unknown = sorted(named - set(CHANNELS))
    if unknown:
        raise ModelError(f"unknown channel {shown(unknown[0])}; the channels are {', '.join(CHANNELS)}")
    function = None
    if side_by_side(model) and "stochastic" not in named:
        function = function_of(model, OWN_FORCES)
        function.shared.time[0] = number(time, "time")
        function.shared.factor[:] = [name in named for name in CHANNELS]
    if is_batch((q, 1), (u, 1)):
        found = rows_of(("q", q, (model.nq,)), ("u", u, (model.nu,)))
        if function is not None:
            return function.many(found.states, found.rows)[0]
        evaluator = kept_evaluator(model)
        shapes = (model.nq,), (model.nu,)
        return one_by_one(found, lambda q, u: own_forces(evaluator, q, u, time, named), *shapes, result=(model.nu,))
    if function is not None:
        return function.of(vector(q, model.nq, "q"), vector(u, model.nu, "u"))[0]
    return own_forces(kept_evaluator(model), q, u, time, named)


class _Kept(threading.local):
    """Evaluator that a thread keeps between calls."""

    evaluator: Evaluator | None = None


_kept = _Kept()


def kept_evaluator(model: Model) -> Evaluator:
    """Return an evaluator of the model. Every thread keeps the evaluator of the latest model, unless a user's function
    has failed in it, because the failure would be reported at every later call."""
    latest = _kept.evaluator
    if latest is None or latest.model is not model or latest.users.error is not None:
        latest = _kept.evaluator = Evaluator(model)
    return latest


def own_forces(
    evaluator: Evaluator, q: np.ndarray, u: np.ndarray, time: float = 0.0, channels: Collection[str] | None = None
) -> np.ndarray:
    """Generalised forces (nu,) of a model's own terms in some channels at a time [time], unscaled; by default all
    channels except the stochastic one."""
    model = evaluator.model
    named = set(CHANNELS) - {"stochastic"} if channels is None else channels
    factor = np.array([1.0 if name in named else 0.0 for name in CHANNELS])
    tau = np.empty(model.nu)
    y, wrench = _own_wrenches(evaluator, q, u, time, factor)
    tables = evaluator.system.forces
    if model.forest.flexible is not None:  # gravity acts on every node of a flexible body
        weight = tables.gravity * factor[EXTERNAL]
        still = np.zeros(model.nu)
        pulled = inverse_dynamics(model, q, still, still) - inverse_dynamics(model, q, still, still, gravity=weight)
        newton_euler.project_wrenches(evaluator.system.forest, y[: model.nq].copy(), evaluator.ws, wrench, tau)
        return tau + pulled + evaluator.channels.total_joint
    weights = tables.gravity * factor[EXTERNAL]
    if weights.any():
        forest = model.forest
        arms = np.einsum("kij,kj->ki", evaluator.ws.rotation.reshape(-1, 3, 3), forest.moment)
        wrench[:, :3] += forest.mass[:, None] * weights
        wrench[:, 3:] += np.cross(arms, weights)
    newton_euler.project_wrenches(evaluator.system.forest, y[: model.nq].copy(), evaluator.ws, wrench, tau)
    return tau + evaluator.channels.total_joint


def _own_wrenches(
    evaluator: Evaluator, q: np.ndarray, u: np.ndarray, time: float, factor: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Variables (q, u, works), and forces and moments about the links' origins without gravity, world frame, shape
    (links, 6), multiplied by the factors of the channels."""
    model = evaluator.model
    y = np.concatenate([vector(q, model.nq, "q"), vector(u, model.nu, "u"), np.zeros(8)])
    evaluator.rates(factor, number(time, "time"), 0, y, np.empty_like(y))
    if evaluator.users.error is not None:
        raise evaluator.users.error
    return y, evaluator.channels.total_wrench.copy()


def forces_on_bodies(model: Model, q: np.ndarray, u: np.ndarray, time: float = 0.0) -> np.ndarray:
    """Sum of the model's own unscaled forces on each body, with gravity, but without random forces and the forces that
    joints transmit, world frame [force], shape (bodies, 3). For bodies welded together, the row of the first one
    contains all forces except gravity.

    Parameters
    ----------
    model
        The model.
    q, u
        Coordinates (nq,) and speeds (nu,).
    time
        Time at which time-dependent forces are evaluated [time].
    """
    evaluator = kept_evaluator(model)
    factor = np.array([float(name != "stochastic") for name in CHANNELS])
    _, wrench = _own_wrenches(evaluator, q, u, time, factor)
    found = np.zeros((model.bodies, 3))
    found[model.head] = wrench[:, :3]
    found += model.masses[:, None] * evaluator.system.forces.gravity
    return found
