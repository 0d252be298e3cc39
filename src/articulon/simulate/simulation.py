"""Integrating a model from Python, in memory: what a researcher does before there is a case."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from articulon.adaptive import Adaptive, AdaptiveDriver
from articulon.baths.base import BaseThermostat
from articulon.building import cartesian
from articulon.building.closing import checked_state
from articulon.declaration import Declaration
from articulon.dynamics import kinetic_energy
from articulon.dynamics.deformation import deformation_notes
from articulon.dynamics.functions import check_model
from articulon.dynamics.motions import check_motions
from articulon.errors import CaseError
from articulon.forces.evaluation import Evaluator, potential_energy
from articulon.forces.joint_actuation import check_actuations
from articulon.inputs import seed as checked_seed
from articulon.inputs import shown, word
from articulon.integrate import Integrator
from articulon.integrate.drivers import DIVERGED, Driver, driver
from articulon.integrate.thermostatting import check_thermostat
from articulon.kernels import one_blas_thread
from articulon.model import Model, State
from articulon.scaling import NoScaling
from articulon.scaling.base import ScalingPolicy
from articulon.simulate.contact_steps import check_contact_step
from articulon.simulate.divergence import diagnosis
from articulon.simulate.noise_windows import windows_of
from articulon.simulate.observers import users_errors
from articulon.simulate.starting import check_start
from articulon.sizes import NUMBER, check_size
from articulon.units import UnitSystem

MOST_STEPS = 2**40


class Trajectory(NamedTuple):
    """States of a model over time, at equal intervals from zero on."""

    times: np.ndarray
    """[time], shape (frames,)."""
    q: np.ndarray
    """Coordinates, shape (frames, nq)."""
    u: np.ndarray
    """Speeds, shape (frames, nu)."""
    works: np.ndarray
    """Work done by each channel since the start [energy], in the order of ``articulon.model.CHANNELS``, shape
    (frames, 8)."""
    kinetic_energy: np.ndarray
    """[energy], shape (frames,)."""
    potential_energy: np.ndarray
    """Energy of all potential and conformational terms and of gravity [energy], shape (frames,)."""
    bath: np.ndarray
    """The thermostat's own variables, ζ of each member of its chain [1/time] and the energy of its reservoir [energy],
    shape (frames, variables); no variables for those without."""
    loop_drift: np.ndarray
    """How far steps have led from the loops, before they were moved back: the largest error of any condition, and of
    its rate, since the start, shape (frames, 2)."""
    state: State
    """Everything from which the run would go on."""
    model: Model
    """What was integrated: the given model, or its Cartesian form."""

    def __repr__(self) -> str:
        time = "" if self.model.units.time is None else f" {self.model.units.symbols[2]}"
        frames, end = self.times.size, f"{self.times[-1]:g}{time}"
        return f"Trajectory({frames} frames to {end}, {self.model.bodies} bodies: {', '.join(self._fields)})"

    @property
    def notes(self) -> list[str]:
        """What is to be known of the run: flexible bodies that were deformed beyond the range of their modes."""
        return deformation_notes(self.model, self.times, self.q)


@dataclass(frozen=True)
class _Times:
    """Equal intervals."""

    duration: float
    frames: int

    def frame_times(self) -> list[float]:
        return [self.duration * k / self.frames for k in range(self.frames + 1)]


class _Choice(Declaration):
    """A rule with its settings, as in a case."""

    integrator: Integrator


@dataclass(frozen=True)
class _Plan:
    """What windows of time are made from."""

    integrator: Any
    scaling: ScalingPolicy
    run: _Times
    units: UnitSystem
    source: str = field(default="simulate")


def simulate(
    model: Model,
    duration: float | str,
    *,
    rule: str = "dormand-prince",
    frames: int = 100,
    solver: str = "articulated",
    rotations: str = "speeds",
    coordinates: str = "relative",
    scaling: ScalingPolicy | None = None,
    thermostat: BaseThermostat | None = None,
    adaptive: Adaptive | None = None,
    seed: int = 1,
    q: Sequence[float] | np.ndarray | None = None,
    u: Sequence[float] | np.ndarray | None = None,
    **options: Any,
) -> Trajectory:
    """Integrate a model with its own forces and loops.

    Parameters
    ----------
    model
        The model.
    duration
        Simulated time [time]; a string carries its unit.
    rule
        Name of an integration rule; ``options`` are its settings, as in ``[integrator]`` of a case: ``step`` for fixed
        steps, ``rtol`` and ``atol`` for steps that their error estimate chooses, and so on.
    frames
        Number of equal intervals between the states that are kept.
    solver
        Name of the equation-of-motion algorithm: ``"articulated"``, ``"kane"`` or ``"divide-and-conquer"``.
    rotations
        ``"speeds"`` integrates angular velocities and Euler parameters of unit length; ``"euler-parameters"`` the
        accelerations of Euler parameters by constraint embedding (Guy 2018, appendix C).
    coordinates
        ``"relative"`` keeps the joints' coordinates; ``"cartesian"`` frees every body and keeps the joints by loops.
    scaling
        A policy that weighs the forces; none by default.
    thermostat
        One of ``articulon.thermostats``; none by default.
    adaptive
        Joints that lock and release while it goes on, an ``articulon.adaptive.Adaptive``; none by default.
    seed
        Chooses the random numbers.
    q, u
        Initial coordinates (nq,) and speeds (nu,), those of the model by default. They must fulfil its loops; see
        :func:`articulon.close_loops`, which moves them there.

    Raises
    ------
    CaseError
        For a rule, solver or option that does not exist or does not fit.
    ModelError
        For a state of the wrong shape, Euler parameters without unit length, or a state off the loops.
    DivergenceError
        Where the numbers stop meaning anything.

    Examples
    --------
    >>> import articulon as ar
    >>> builder = ar.ModelBuilder(units="kg-m-s")
    >>> hinge = ar.Revolute(axis=(0, 1, 0))
    >>> rod = builder.add_body("rod", mass=1, inertia=(0.1, 0.1, 0), com=(0, 0, -0.5), joint=hinge, q=1)
    >>> builder.add_force(ar.forces.Gravity(acceleration=(0, 0, -9.81)))
    >>> run = ar.simulate(builder.build(), 1.0, rtol=1e-9, atol=1e-12)
    >>> float(abs(run.kinetic_energy + run.potential_energy - run.potential_energy[0]).max()) < 1e-7
    True
    """
    check_model(model, "simulate")
    seed = checked_seed(seed, "simulate: seed", CaseError)
    policy = NoScaling() if scaling is None else scaling
    if not isinstance(policy, ScalingPolicy):
        raise CaseError(f"simulate: scaling must be a policy of articulon.scaling, got {shown(scaling)}")
    if thermostat is not None:
        if not isinstance(thermostat, BaseThermostat):
            given = shown(thermostat)
            raise CaseError(f"simulate: thermostat must be one of articulon.thermostats, got {given}")
        thermostat = thermostat.resolved(model.units, "simulate: thermostat")
    if adaptive is not None:
        if not isinstance(adaptive, Adaptive):
            raise CaseError(f"simulate: adaptive must be an articulon.adaptive.Adaptive, got {shown(adaptive)}")
        adaptive = adaptive.resolved(model.units, "simulate: adaptive")
    word(coordinates, ("relative", "cartesian"), "simulate: unknown coordinates", CaseError)
    start = checked_state(model, q, u)
    run = _Run(model, _integrator(rule, options, model), policy, _times(model, duration, frames), thermostat, adaptive)
    run.prepare(solver, rotations, coordinates, *start, seed)
    with one_blas_thread():
        return run.integrate()


def _times(model: Model, duration: Any, frames: Any) -> _Times:
    """The frames of a simulation; raises CaseError for a duration or a number of frames that cannot be."""
    length = model.units.value(duration, "time", "simulate: duration")
    if not length > 0.0:
        raise CaseError(f"simulate: duration must be positive, got {shown(duration)}")
    if not isinstance(frames, int | np.integer) or isinstance(frames, bool) or frames < 1:
        raise CaseError(f"simulate: frames must be a whole number of at least 1, got {shown(frames)}")
    kept = NUMBER * (model.nq + model.nu + 8) + 500
    check_size(int(frames), kept, "frames", "simulate: frames", "keep fewer, or run a case into a folder")
    return _Times(length, int(frames))


def _integrator(rule: str, options: dict[str, Any], model: Model) -> Any:
    """The declaration of a rule; raises CaseError with what is wrong with it."""
    choice = _Choice.from_mapping({"integrator": {"rule": rule, **options}}, "simulate")
    return choice.integrator.resolved(model.units, "simulate: integrator")


class _Run:
    """A simulation on its way."""

    def __init__(
        self,
        model: Model,
        integrator: Any,
        policy: ScalingPolicy,
        times: _Times,
        thermostat: BaseThermostat | None,
        adaptive: Adaptive | None = None,
    ) -> None:
        self.model, self.integrator, self.policy, self.times = model, integrator, policy, times
        self.thermostat, self.adaptive = thermostat, adaptive

    def prepare(self, solver: str, rotations: str, coordinates: str, q: np.ndarray, u: np.ndarray, seed: int) -> None:
        if coordinates == "cartesian" and self.model.modes:
            name = self.model.names[next(iter(self.model.modes))]
            raise CaseError(f"simulate: coordinates 'cartesian' take rigid bodies only, and '{name}' is flexible")
        if coordinates == "cartesian":
            self.model = cartesian(self.model, q, u)
            q, u = self.model.q0, self.model.u0
        elif coordinates != "relative":
            given = shown(coordinates)
            raise CaseError(f"simulate: unknown coordinates {given}; choose 'relative' or 'cartesian'")
        check_motions(self.model, self.times.duration)
        check_actuations(self.model, self.times.duration)
        try:
            check_thermostat(self.thermostat, self.integrator, self.policy, self.model, self.times.duration)
        except CaseError as error:
            raise CaseError(f"simulate: {error}") from None
        windows = windows_of(_Plan(self.integrator, self.policy, self.times, self.model.units), self.model)
        if windows.step is not None:
            self.integrator = self.integrator.model_copy(update={"step": windows.step})
        check_contact_step(self.model, self.integrator, getattr(self.integrator, "step", None), "simulate")
        self.evaluator = Evaluator(
            self.model,
            seed,
            windows.window,
            windows.average,
            solver,
            rotations,
            self.thermostat,
            self.policy.target_factor(),
        )
        parameters = self.policy.parameters(0.0)
        arguments = self.evaluator, self.integrator, self.policy, parameters, self.evaluator.initial_state()
        if self.adaptive is None or not self.adaptive.on:
            self.driver: Driver = driver(*arguments)
        else:
            self.driver = AdaptiveDriver(*arguments, self.adaptive, seed)
        self.state = self.evaluator.initial_state(self.driver.history, memory=self.driver.memory)
        if isinstance(self.driver, AdaptiveDriver):
            self.state = self.driver.sized(self.state)
        self.evaluator.start(self.state, q, u, self.policy.speed_factor())
        check_start(self.evaluator, self.state, getattr(self.integrator, "step", None))

    def integrate(self) -> Trajectory:
        rows: list[tuple[np.ndarray, ...]] = [self._row()]
        for time in self.times.frame_times()[1:]:
            with users_errors(self.evaluator, self.state):
                status = self.driver.advance(self.state, time, MOST_STEPS)
            if status == DIVERGED:
                step = getattr(self.integrator, "step", None)
                raise diagnosis(self.evaluator, step, self.state, None, self.driver.failure, self.driver.culprit)
            rows.append(self._row())
        q, u, works, bath, drift = (np.array(column) for column in zip(*rows, strict=True))
        return Trajectory(
            times=np.array(self.times.frame_times()),
            q=q,
            u=u,
            works=works,
            kinetic_energy=np.array([kinetic_energy(self.model, *pair) for pair in zip(q, u, strict=True)]),
            potential_energy=np.array([potential_energy(self.model, coordinates) for coordinates in q]),
            bath=bath,
            loop_drift=drift,
            state=self.state,
            model=self.model,
        )

    def _row(self) -> tuple[np.ndarray, ...]:
        state = self.state
        return state.q.copy(), state.u.copy(), state.work.copy(), state.bath.copy(), state.drift.copy()
