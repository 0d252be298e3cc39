"""Preparation of a case for a run: its model, forces, scaling policy, windows and stepper."""

from contextlib import nullcontext
from dataclasses import dataclass
from typing import Any

import numpy as np

from articulon.adaptive import AdaptiveDriver
from articulon.dynamics.loops.given_motions import check_motions
from articulon.errors import CaseError, ModelError
from articulon.forces.base import check_durations
from articulon.forces.bath_temperatures import at_bath
from articulon.forces.evaluation import Evaluator
from articulon.forces.selection import body_index
from articulon.forces.sites.list_sizes import check_listing
from articulon.forces.stokes_drag import StokesDrag
from articulon.gpu.particle_on_device import device_driver
from articulon.integrate import FIXED
from articulon.integrate.base import Driver
from articulon.integrate.choice import driver
from articulon.integrate.event_driver import EventDrivenDriver
from articulon.integrate.problem import CPU, Problem
from articulon.integrate.stop_conditions import stop_of
from articulon.integrate.thermostatting import check_thermostat
from articulon.kernels import preparing_together
from articulon.model import Model, State
from articulon.scaling.base import INPUTS, ZETA, ZETA_RATE
from articulon.simulation.kept_atoms import atoms_of_case
from articulon.simulation.minimisation import minimise
from articulon.simulation.observers import Observer, survey
from articulon.simulation.run_request import Description
from articulon.simulation.starting import bath_temperature, check_start, thermal_start
from articulon.simulation.threshold_search import Threshold, find_threshold
from articulon.time_scales.contact_step_limit import check_contact_step
from articulon.time_scales.noise_windows import Timed, Windows, windows_of


@dataclass
class Prepared:
    """All that a run needs, except its state."""

    case: Description
    """The case."""
    model: Model
    """The model that is simulated."""
    evaluator: Evaluator
    """The forces of the model."""
    windows: Windows
    """The time windows of the run."""
    policy: Any
    """The scaling policy with its threshold."""
    damping: float
    """The core's translational drag coefficient β [mass/time], 0 without drag."""
    parameters: np.ndarray
    """Parameters of the policy's scaling law."""
    driver: Driver
    """The stepper that advances the state."""
    observer: Observer
    """The observer of the frames."""
    threshold: Threshold | None
    """The threshold and how it was found; None if the case gives it."""
    adaptive: AdaptiveDriver | None = None
    """The stepper that locks and releases joints; None if the run is not adaptive."""


def core_drag(model: Model, core: str | None, source: str = "") -> float:
    """Return the translational drag coefficient β of the body ``core``, or the largest β of all bodies if ``core`` is
    None [mass/time]; 0 without drag.

    Raises
    ------
    CaseError
        For a body that does not exist.
    """
    found: dict[int, float] = {}
    for k, force in enumerate(model.forces):
        if isinstance(force, StokesDrag):
            bodies, translational, _ = force.coefficients(model, f"forces[{k}]")
            found.update(zip(bodies.tolist(), translational.tolist(), strict=True))
    if core is None:
        return max(found.values(), default=0.0)
    try:
        return found.get(body_index(model, core, "scaling.core"), 0.0)
    except ModelError as error:
        raise CaseError(f"{source}: {error}") from None


def checked(case: Description, windows: Windows | None = None, model: Model | None = None) -> tuple[Model, Windows]:
    """Build the model of a case and its time windows, unless they are given. Make all checks that need no compiled
    kernels.

    Raises
    ------
    CaseError
        If the case cannot be run.
    """
    model = at_bath(case.build_model() if model is None else model, case.thermostat)
    policy, duration = case.scaling, float(case.run.duration)
    try:
        check_listing(model)
        check_motions(model, duration)
        check_durations(model, duration)
    except ModelError as error:
        raise CaseError(f"{case.source}: {error}") from None
    _drag_of_core(case, model)
    try:
        check_thermostat(case.thermostat, case.integrator, policy, model, duration, case.barostat)
    except CaseError as error:
        raise CaseError(f"{case.source}: {error}") from None
    windows = windows_of(case, model) if windows is None else windows
    atoms_of_case(case, model)
    check_contact_step(model, case.integrator, windows.step or getattr(case.integrator, "step", None), case.source)
    return model, windows


def _drag_of_core(case: Timed, model: Model) -> float:
    """Return the drag coefficient of a policy's core; raise CaseError if the policy needs drag and the model has
    none."""
    policy = case.scaling
    damping = core_drag(model, getattr(policy, "core", None), case.source)
    if policy.switches and damping <= 0.0:
        whose = "no body" if policy.core is None else f"not the body '{policy.core}'"
        raise CaseError(
            f"{case.source}: scaling: {policy.policy} divides by the drag of the core, and {whose} has any; "
            "add stokes-drag to the forces, or choose another scaling.core"
        )
    return damping


@dataclass(frozen=True)
class Scaling:
    """A scaling policy with all data that its law needs."""

    policy: Any
    """The scaling policy with its threshold."""
    damping: float
    """The core's translational drag coefficient β [mass/time], 0 without drag."""
    parameters: np.ndarray
    """Parameters of the law."""
    threshold: Threshold | None
    """The threshold and how it was found; None if it is given."""


def scaling_of(
    case: Timed,
    model: Model,
    threshold: Threshold | None = None,
    start: tuple[np.ndarray, np.ndarray] | None = None,
) -> Scaling:
    """Return the scaling policy of a run with the drag of its core and its threshold. A missing threshold is
    determined.

    Parameters
    ----------
    case
        The run, with its policy in the units of the model.
    model
        The model of the run.
    threshold
        Threshold that an earlier part of the run has found. If it is None, it is searched for when the policy needs it.
    start
        Coordinates (nq,) and speeds (nu,) at the start of the search; by default the initial state of the model.

    Raises
    ------
    CaseError
        If the core does not exist or has no drag, or no threshold can be found.
    """
    policy, damping = case.scaling, _drag_of_core(case, model)
    if policy.switches and policy.threshold is None:
        threshold = threshold or find_threshold(case, model, damping, start)
        policy = policy.model_copy(update={"threshold": threshold.value})
    try:
        parameters = policy.parameters(damping)
    except ValueError as error:
        raise CaseError(f"{case.source}: scaling: {error}") from None
    return Scaling(policy, damping, parameters, threshold)


def prepare(
    case: Description,
    threshold: Threshold | None = None,
    windows: Windows | None = None,
    model: Model | None = None,
) -> Prepared:
    """Build the model and compile the kernels that are not in the cache.

    Parameters
    ----------
    case
        The case.
    threshold
        Threshold that an earlier part of the run has found. If it is None, it is searched for when the policy needs it.
    windows
        Time windows of an earlier part of the run, with which its steps and noise continue; None makes new windows.
    model
        The model of the case, if it is already built.

    Raises
    ------
    CaseError
        If the case cannot be run.
    """
    model, windows = checked(case, windows, model)
    scaling = scaling_of(case, model, threshold)
    policy = scaling.policy
    dynamics, integrator = case.dynamics, case.integrator
    if isinstance(integrator, FIXED):
        integrator = integrator.model_copy(update={"step": windows.step})
    adapts = case.adaptive is not None and case.adaptive.on  # these kernels also handle the coarse model
    with nullcontext() if adapts else preparing_together():
        evaluator = Evaluator(
            model,
            case.run.seed,
            windows.window,
            windows.average,
            dynamics.solver,
            dynamics.rotations,
            case.thermostat,
            policy.target_factor(),
            case.barostat is not None,
        )
        try:
            settings = case.run
            problem = Problem(
                evaluator, integrator, policy, scaling.damping, case.barostat, settings.device, settings.precision
            )
            blank = evaluator.initial_state()
            adaptive = AdaptiveDriver(problem, blank, case.adaptive, case.run.seed) if adapts else None
            advance: Driver = driver_of(problem, blank) if adaptive is None else adaptive
        except CaseError as error:
            raise CaseError(f"{case.source}: {error}") from None
    stop, by_events = None, isinstance(advance, EventDrivenDriver)
    if case.run.stop is not None:
        if by_events:
            raise CaseError(
                f"{case.source}: run.stop: 'event-driven' goes from frame to frame and checks no condition between "
                "frames; leave it out"
            )
        stop = case.run.stop.condition(model, cell=evaluator.sites.cell)
        advance.stop = stop_of(model, stop, evaluator.ws)
    step, scaled = windows.step or getattr(integrator, "step", None), policy.scales
    books = advance.books_unscaled_work
    observer = Observer(evaluator, step, stop, policy.varies, books, scaled, adaptive, by_events)
    return Prepared(
        case,
        model,
        evaluator,
        windows,
        policy,
        scaling.damping,
        scaling.parameters,
        advance,
        observer,
        scaling.threshold,
        adaptive,
    )


def driver_of(problem: Problem, blank: State) -> Driver:
    """Return the stepper of a problem on its device; raise CaseError for incompatible options."""
    return driver(problem, blank) if problem.device == CPU else device_driver(problem, blank)


def blank_state(prepared: Prepared) -> State:
    """Return a state at time zero in which all arrays of the run are allocated."""
    driver = prepared.driver
    state = prepared.evaluator.initial_state(driver.history, prepared.policy.speed_factor(), driver.memory)
    return state if prepared.adaptive is None else prepared.adaptive.sized(state)


def first_state(prepared: Prepared) -> State:
    """Return the state at time zero, with the policy's scaling factors at time zero."""
    try:
        return start_state(prepared)
    except ModelError as error:
        raise CaseError(f"{prepared.case.source}: {error}") from None


def start_state(prepared: Prepared) -> State:
    """Return the state at time zero; raise ModelError if no run can start from this state. The message does not name
    the file."""
    evaluator, state = prepared.evaluator, blank_state(prepared)
    run = prepared.case.run
    temperature = bath_temperature(evaluator) if run.temperature is None else float(run.temperature)
    if run.minimise:
        state.q[:] = minimise(prepared.model, state.q, temperature=temperature)
    if run.speeds == "thermal":
        state.u[:] = thermal_start(evaluator, state.q, run.seed, temperature)
    check_start(evaluator, state, prepared.observer.fixed_step)
    looked, sums = survey(evaluator, state, 0, 0), np.zeros(INPUTS)
    sums[:8] = looked[1:9]
    sums[ZETA], sums[ZETA_RATE] = evaluator.thermostat_rates()
    prepared.policy.law(prepared.parameters, sums, state.factor)
    return state
