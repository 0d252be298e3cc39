"""Observables of every frame. Their computation writes only to scratch arrays that every step overwrites."""

from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np

from articulon.adaptive import AdaptiveDriver
from articulon.dynamics import body_poses
from articulon.dynamics.armatures import armature_energy
from articulon.errors import ArticulonError
from articulon.fidelity.residual_observer import ResidualObserver
from articulon.forces.evaluation import Evaluator
from articulon.forces.impacts.free_spheres import only_hard_spheres
from articulon.forces.impacts.joint_limits import has_impacts
from articulon.forces.model_tables import channels_of, working_channels
from articulon.forces.sites.site_positions import only_particles
from articulon.integrate.stop_conditions import StopCondition
from articulon.kernels import kernel
from articulon.model import CHANNELS, Model, State
from articulon.model.box import volume_of
from articulon.model.joints import UNBOUND
from articulon.model.state import (
    CONFORMATIONAL,
    CONTACT,
    DAMPING,
    EXTERNAL,
    POTENTIAL,
    STEPS,
    THERMOSTAT,
    THERMOSTAT_RATE,
    WINDOW,
)
from articulon.simulation.contact_statistics import ContactObserver
from articulon.simulation.hard_sphere_observer import HardSphereObserver
from articulon.simulation.impact_summary import DIMENSIONS, impact_observables
from articulon.simulation.ledger import without_energy
from articulon.simulation.site_observables import SiteObserver
from articulon.simulation.thermostat_observer import ThermostatObserver
from articulon.storage.trajectory import Frame
from articulon.thermostats.chains import chain_rates
from articulon.thermostats.schedule import target

NO_POSES = np.empty((0, 3)), np.empty((0, 4))
"""Poses of no bodies."""
NET_FORCE = ("net_force_1", "net_force_2", "net_force_3")
"""Net force on the slowest tree without noise and drag, by component."""


@kernel
def thermostat_rates(bath, kinetic, time, variables, rates):
    """Compute the rates of a thermostat's variables."""
    chain_rates(bath, 2.0 * kinetic, target(bath, time), variables, rates)


def slowest_tree(model: Model, evaluator: Evaluator) -> tuple[int, float]:
    """Return the tree with the longest relaxation time Σm/Σβ (mass over drag coefficient), and this time [time].
    Without drag, return tree 0 and infinity.

    If some trees float freely, only these trees are compared, because the ground carries part of the net force on other
    trees.
    """
    starts = model.forest.tree[:-1]
    if not starts.size:
        return 0, np.inf
    mass = np.add.reduceat(model.forest.mass, starts)
    drag = np.add.reduceat(evaluator.system.forces.drag.mass, starts)
    if not drag.any():
        return 0, np.inf
    floats = (drag > 0.0) & np.isin(model.forest.kind[starts], UNBOUND)
    times = np.divide(mass, drag, out=np.zeros_like(mass), where=floats if floats.any() else drag > 0.0)
    slowest = int(np.argmax(times))
    return slowest, float(times[slowest])


def survey(evaluator: Evaluator, state: State, start: int, end: int) -> np.ndarray:
    """Compute the kinetic energy, Σ|F| of each channel, and the net potential, contact and external force on the links
    from ``start`` to ``end``, at a state. The result has the shape (12,)."""
    result = np.zeros(12)
    if evaluator.particles:
        _survey_particles(evaluator, state, start, end, result)
    else:
        evaluate(evaluator, state)
        kinetic, sums = evaluator.kinetic_and_force_sums()
        result[0], result[1:9] = kinetic + armature_energy(evaluator.model, state.u), sums
        forest, forces = evaluator.system.forest, evaluator.system.forces
        net = evaluator.channels.wrench[[POTENTIAL, CONTACT, EXTERNAL], start:end, :3].sum(axis=(0, 1))
        result[9:12] = net + forest.mass[start:end].sum() * forces.gravity
    return result


def _survey_particles(evaluator: Evaluator, state: State, start: int, end: int, result: np.ndarray) -> None:
    """Fill ``result`` as :func:`survey` does, for a model of free particles."""
    masses, bath = evaluator.model.masses, evaluator.system.bath
    velocities = state.u.reshape(-1, 3)
    result[0] = kinetic = 0.5 * float(masses @ (velocities**2).sum(axis=1))
    if evaluator.sites.sites:  # hard spheres have no sites
        forces = evaluator.on_sites(state.q.reshape(-1, 3))
        result[1 + POTENTIAL] = np.linalg.norm(forces, axis=1).sum()
        result[9:12] = forces[start:end].sum(axis=0)
    if evaluator.bath.size:
        evaluator.bath[0] = state.bath
        thermostat_rates(bath, kinetic, float(state.time[0]), state.bath, evaluator.bath[1])
        momenta = float(masses @ np.linalg.norm(velocities, axis=1))
        zeta, rate = evaluator.thermostat_rates()
        result[1 + THERMOSTAT], result[1 + THERMOSTAT_RATE] = abs(zeta) * momenta, abs(rate) * momenta


def evaluate(evaluator: Evaluator, state: State, factor: np.ndarray | None = None) -> np.ndarray:
    """Evaluate the channels at a state; return the derivative of (q, u, works).

    Raises
    ------
    ArticulonError
        If a user's force fails.
    """
    y = evaluator.variables(state)
    dy = np.empty_like(y)
    with users_errors(evaluator, state):
        factors = state.factor if factor is None else factor
        evaluator.rates(factors, float(state.time[0]), int(state.counters[WINDOW]), y, dy)
    return dy


@contextmanager
def users_errors(evaluator: Evaluator, state: State) -> Iterator[None]:
    """Re-raise the error of a user's force, compiled or in plain Python, as an ArticulonError."""
    error: BaseException | None = None
    try:
        yield
    except Exception as raised:
        # Only users' forces raise errors in kernels.
        if evaluator.users.error is None and not evaluator.users.present:
            raise
        error = evaluator.users.error or raised
    error = error or evaluator.users.error
    if error is None:
        return
    time = f"{state.time[0]:.9g} {evaluator.model.units.symbols[2]}"
    place = "".join(f" ({note})" for note in getattr(error, "__notes__", []))
    kind = (evaluator.users.failed or evaluator.users).kind
    raise ArticulonError(
        f"a force of kind '{kind}' failed after t = {time}, step {state.counters[STEPS]}: {type(error).__name__}: "
        f"{error}{place}"
    ) from error


def poses_at(model: Model, q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the positions and Euler parameters of the bodies. For a model of free particles, tree kinematics is
    skipped."""
    if only_particles(model) or only_hard_spheres(model):
        return q.reshape(-1, 3).copy(), np.tile([1.0, 0.0, 0.0, 0.0], (model.bodies, 1))
    return body_poses(model, q)


def poses_of(model: Model, q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the positions (frames, bodies, 3) and Euler parameters (frames, bodies, 4) at coordinates of shape
    (frames, nq)."""
    positions, rotations = np.empty((len(q), model.bodies, 3)), np.empty((len(q), model.bodies, 4))
    for k, row in enumerate(q):
        positions[k], rotations[k] = poses_at(model, row)
    return positions, rotations


class Observer:
    """Takes the frames of a run.

    Parameters
    ----------
    evaluator
        The forces.
    fixed_step
        Length of a fixed step [time]; None if the state holds the length.
    stop
        Condition that ends the run early, whose advance or distance is observed, or None.
    varies
        Whether the scaling factors change along the run.
    books_unscaled_work
        Whether the integrator records unscaled works.
    scaled
        Whether the run scales any force.
    adaptive
        The stepper that locks and releases joints, or None.
    by_events
        Whether the run is event-driven.
    """

    def __init__(
        self,
        evaluator: Evaluator,
        fixed_step: float | None = None,
        stop: StopCondition | None = None,
        varies: bool = False,
        books_unscaled_work: bool = False,
        scaled: bool = False,
        adaptive: AdaptiveDriver | None = None,
        by_events: bool = False,
    ) -> None:
        self.evaluator, self.adaptive = evaluator, adaptive
        self.model = model = evaluator.model
        self.fixed_step = fixed_step
        self.stop = stop
        present = channels_of(model, evaluator.system.bath)
        self.channels = [CHANNELS.index(name) for name in present]
        self.working = [CHANNELS.index(name) for name in working_channels(model, evaluator.system.bath)]
        self.energies = evaluator.energy_channels
        # Channels with unscaled parts, such as a drive, are left out: their work is not their factor times unscaled
        # work.
        mixed, books = without_energy(model), varies and books_unscaled_work
        self.bare_works = [c for c in self.energies if books and CHANNELS[c] not in mixed]
        self.thermostat = ThermostatObserver(evaluator, present, [CHANNELS[c] for c in self.energies], varies)
        self.sites = SiteObserver(evaluator)
        self.contacts = None if evaluator.contacts is None else ContactObserver(model, evaluator.contacts)
        self.spheres = HardSphereObserver(model) if by_events else None
        self.impacts = has_impacts(model) and not by_events
        self.slowest, self.relaxation = slowest_tree(model, evaluator)
        tree = model.forest.tree
        self.slowest_range = (int(tree[self.slowest]), int(tree[self.slowest + 1])) if tree.size > 1 else (0, 0)
        self.residual = ResidualObserver(evaluator, self.channels, self.slowest_range[0], scaled)
        self._looked, self._energies = np.empty(12), np.empty(8)
        self.start_energy = 0.0

    @property
    def dimensions(self) -> dict[str, str]:
        """Dimension of every observable, by name."""
        names = {"kinetic_energy": "energy", "energy_balance": "energy", "temperature_kinetic": "temperature"}
        names["step_size"] = "time"
        for c in self.energies:
            names[f"energy_{CHANNELS[c]}"] = "energy"
        for c in self.bare_works:
            names[f"unscaled_work_{CHANNELS[c]}"] = "energy"
        for c in self.working:
            names[f"work_{CHANNELS[c]}"] = "energy"
        for c in self.channels:
            names[f"force_{CHANNELS[c]}"] = "force"
            names[f"factor_{CHANNELS[c]}"] = "dimensionless"
        names.update(dict.fromkeys(NET_FORCE, "force"))
        names.update(self.thermostat.dimensions)
        names.update(self.residual.dimensions)
        names.update(self.sites.dimensions)
        if self.evaluator.changing_box:
            names |= {"volume": "volume", "density": "mass_density", "barostat_energy": "energy"}
        if self.contacts is not None:
            names.update(self.contacts.dimensions)
        if self.spheres is not None:
            names.update(self.spheres.dimensions)
        if self.impacts:
            names |= DIMENSIONS
        if self.model.loops.kind.size:
            names["loop_drift"] = names["loop_drift_rate"] = "dimensionless"
        if self.stop is not None:
            names[self.stop.observable] = "length"
        if self.adaptive is not None:
            names["active_freedoms"] = names["transitions"] = "dimensionless"
            names["reservoir_energy"] = names["reservoir_potential"] = "energy"
        return names

    def begin(self, state: State) -> None:
        """Store the kinetic energy at which the energy balance starts."""
        self._survey(state)
        self.start_energy = float(self._looked[0])
        self.residual.warm_up()

    def _survey(self, state: State) -> None:
        self._looked = survey(self.evaluator, state, *self.slowest_range)

    def frame(self, state: State, with_poses: bool = True) -> Frame:
        """Return the frame of a state. Its positions and rotations are empty if they are neither requested nor
        needed."""
        evaluator, model = self.evaluator, self.model
        self._survey(state)
        kinetic = float(self._looked[0])
        # Scaled friction and noise scale the temperature; with a thermostat, the target temperature is scaled.
        scaled = float(state.factor[DAMPING]) if evaluator.thermostat is None else evaluator.target_factor
        if evaluator.overdamped:  # no speeds
            scaled = 0.0
        degrees_of_freedom = (
            evaluator.degrees_of_freedom if self.adaptive is None else self.adaptive.degrees_of_freedom(state)
        )
        thermal = model.units.boltzmann * degrees_of_freedom * scaled
        observables = {
            "kinetic_energy": kinetic,
            "energy_balance": kinetic
            - self.start_energy
            - float(state.work.sum())
            + float(state.resolution.reservoir[0]),
            "temperature_kinetic": 2.0 * kinetic / thermal if thermal else np.nan,
            "step_size": float(state.step[0]) if self.fixed_step is None else self.fixed_step,
        }
        for c in self.working:
            observables[f"work_{CHANNELS[c]}"] = float(state.work[c])
        for c in self.channels:
            observables[f"force_{CHANNELS[c]}"] = float(self._looked[1 + c])
            observables[f"factor_{CHANNELS[c]}"] = float(state.factor[c])
        for c in self.bare_works:
            observables[f"unscaled_work_{CHANNELS[c]}"] = float(state.unscaled_work[c])
        observables.update(self.residual.observe())
        observables.update(zip(NET_FORCE, self._looked[9:12].tolist(), strict=True))
        if evaluator.sites.sites:
            forces = self.sites.forces()
            measures = evaluator.measure(state.q)
            observables.update(self.sites.observables(state, forces, measures, kinetic, scaled or 1.0))
        if evaluator.changing_box:
            volume = volume_of(state.box.edges)
            observables |= {"volume": volume, "density": float(model.masses.sum()) / volume}
            observables["barostat_energy"] = float(state.box.work[0])
        if self.energies:
            self._energies[:] = evaluator.energies(state.q, measures if evaluator.sites.sites else None)
            if self.adaptive is not None:
                self._energies[CONFORMATIONAL] += self.adaptive.potential_shift(state)
            for c in self.energies:
                observables[f"energy_{CHANNELS[c]}"] = float(self._energies[c])
        observables.update(self.thermostat.observables(state, kinetic, self._energies))
        if self.adaptive is not None:
            observables.update(self._adaptive(state, degrees_of_freedom))
            if "conserved_energy" in observables:
                observables["conserved_energy"] += float(state.resolution.reservoir.sum())
        needed = with_poses or self.stop is not None or self.contacts is not None
        poses = poses_at(model, state.q) if needed else NO_POSES
        if self.impacts:
            observables |= impact_observables(state)
        if model.loops.kind.size:
            observables["loop_drift"], observables["loop_drift_rate"] = (float(value) for value in state.rule.drift)
        if self.stop is not None:
            beyond = self.stop.beyond(model, state.q, poses)
            observables[self.stop.observable] = self.stop.observed(beyond)
        if self.spheres is not None:
            observables.update(self.spheres.observables(state))
        if self.contacts is not None:
            observables.update(self.contacts.observables(state, kinetic, *poses))
            observables["force_contact"] = float(np.linalg.norm(self.contacts.forces(state), axis=1).sum())
        return Frame(
            step=int(state.counters[STEPS]),
            time=float(state.time[0]),
            positions=poses[0],
            rotations=poses[1],
            q=state.q.copy(),
            u=state.u.copy(),
            observables=observables,
            box=state.box.edges.copy() if state.box.edges.size else None,
        )

    def _adaptive(self, state: State, degrees_of_freedom: int) -> dict[str, float]:
        """Return the observables of locking and releasing so far, and the energy that locking has removed."""
        assert self.adaptive is not None
        return {
            "active_freedoms": float(degrees_of_freedom),
            "transitions": float(sum(self.adaptive.changes(state))),
            "reservoir_energy": float(state.resolution.reservoir[0]),
            "reservoir_potential": float(state.resolution.reservoir[1]),
        }

    def passage(self, state: State) -> float:
        """Return the time at which the stop condition was met [time]. The state is at most a step later; the time is
        extrapolated back from it at the present speed."""
        assert self.stop is not None
        rates = evaluate(self.evaluator, state)[: self.model.nq]
        return float(state.time[0]) - self.stop.elapsed(self.model, state.q, rates)
