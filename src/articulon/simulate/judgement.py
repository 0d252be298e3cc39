"""The verdict on a run, of a case or in memory: what it is made from."""

from typing import TYPE_CHECKING, Any

import numpy as np

from articulon.adaptive import AdaptiveDriver
from articulon.errors import CaseError
from articulon.fidelity.judge import fidelity_of
from articulon.fidelity.record import Record, Settings
from articulon.fidelity.verdict import TOLERANCE
from articulon.forces.brownian import brownian_of
from articulon.forces.evaluation import Evaluator
from articulon.forces.model_tables import channels_of
from articulon.inputs import number, shown
from articulon.model import CHANNELS, State
from articulon.model.state import DAMPING, EVALUATIONS
from articulon.scaling import NoScaling
from articulon.simulate.observers import slowest_tree
from articulon.simulate.preparation import Prepared
from articulon.simulate.results import Run

if TYPE_CHECKING:
    from articulon.simulate.in_memory import Trajectory


def judged(
    prepared: Prepared, state: State, run: Run, found: dict[str, Any] | None, wall_seconds: float, with_pairs: bool
) -> dict[str, Any]:
    """The :func:`articulon.fidelity.judge.fidelity_of` a scaled run of a case that has come to a state."""
    observer = prepared.observer
    return fidelity_of(
        record_of(prepared, state, run),
        found,
        observer.relaxation,
        observer.residual.seconds,
        wall_seconds,
        with_pairs,
    )


def record_of(prepared: Prepared, state: State, run: Run) -> Record:
    """What a verdict on a run is made from."""
    case, settings = prepared.case, prepared.case.fidelity
    stop = None
    if prepared.observer.stop is not None:
        stop = (*prepared.observer.stop, float(case.run.stop.advance))
    return Record(
        prepared.model,
        prepared.evaluator,
        case.integrator,
        prepared.policy,
        run.coordinates,
        run.speeds,
        run.observables,
        int(state.counters[EVALUATIONS]),
        int(case.run.seed),
        prepared.windows.window,
        stop,
        isinstance(prepared.driver, AdaptiveDriver),
        Settings(_tolerance(settings.tolerance, prepared.policy), settings.error, float(settings.budget)),
    )


def judged_in_memory(
    trajectory: "Trajectory", tolerance: float | str | None, error: str, budget: float
) -> dict[str, Any] | None:
    """The same of a simulation in memory; None where nothing was scaled.

    Raises
    ------
    CaseError
        For a tolerance, a budget or a kind of error that cannot be.
    """
    policy = trajectory.setup.scaling.policy
    if isinstance(policy, NoScaling):
        return None
    if error not in ("time", "position"):
        raise CaseError(f"fidelity: error must be 'time' or 'position', got {shown(error)}")
    if tolerance is not None:
        given = trajectory.model.units.value(tolerance, "dimensionless", "fidelity: tolerance")
        if not given > 0.0:
            raise CaseError(f"fidelity: tolerance must be positive, got {shown(tolerance)}")
        tolerance = given
    budget = number(budget, "fidelity: budget", CaseError)
    if budget < 0.0:
        raise CaseError(f"fidelity: budget must be at least 0, got {budget:g}")
    settings = Settings(TOLERANCE, error, budget)
    record = record_in_memory(trajectory, settings._replace(tolerance=_tolerance(tolerance, policy)))
    _, relaxation = slowest_tree(trajectory.model, record.evaluator)
    return fidelity_of(record, None, relaxation, 0.0, 0.0, True)


def record_in_memory(trajectory: "Trajectory", settings: Settings) -> Record:
    """What a verdict on a simulation in memory is made from."""
    setup, model = trajectory.setup, trajectory.model
    windows = setup.windows
    evaluator = Evaluator(
        model,
        setup.seed,
        windows.window,
        windows.average,
        thermostat=setup.thermostat,
        target_factor=setup.scaling.policy.target_factor(),
    )
    evaluator.overdamped = evaluator.overdamped or getattr(setup.integrator, "rule", "") == "overdamped"
    noise, factors = brownian_of(model), trajectory.factors
    observables = {"time": trajectory.times, "kinetic_energy": trajectory.kinetic_energy}
    for name in channels_of(model, evaluator.system.bath):
        observables[f"factor_{name}"] = factors[:, CHANNELS.index(name)]
    thermal = model.units.boltzmann * evaluator.degrees_of_freedom * factors[:, DAMPING]
    heat = np.full_like(thermal, np.nan)
    if noise is not None and not evaluator.overdamped:
        np.divide(2.0 * trajectory.kinetic_energy, thermal, out=heat, where=thermal > 0.0)
    observables["temperature_kinetic"] = heat
    return Record(
        model,
        evaluator,
        setup.integrator,
        setup.scaling.policy,
        trajectory.q,
        trajectory.u,
        observables,
        int(trajectory.state.counters[EVALUATIONS]),
        setup.seed,
        windows.window,
        None,
        setup.adaptive is not None and setup.adaptive.on,
        settings,
    )


def _tolerance(given: float | None, policy: Any) -> float:
    """The relative error that is trusted: the one that is given, or that of the policy, or 2 %."""
    found = getattr(policy, "tolerance", None) if given is None else given
    return TOLERANCE if found is None else float(found)
