"""Find parameters for which a run ends at targets, such as torques that swing a pendulum up, or springs that hold it
up.

Departures are differences between observables at the end and their targets, divided by scales. Minimum-norm steps
reduce them to zero (``least_change.py``). If there are many parameters for each target, the Jacobian comes from
adjoints: one forward and backward run for each target, for any number of parameters. Otherwise it comes from forward
sensitivities.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from articulon.cases.case import Case
from articulon.cases.loading import given_case
from articulon.cases.study_sections import Optimise
from articulon.errors import ArticulonError, CaseError, DivergenceError
from articulon.inputs import flag
from articulon.parameter_studies.least_change import approach
from articulon.parameter_studies.optimum import Optimum
from articulon.parameter_studies.optimum_page import write_optimum
from articulon.parameter_studies.sought_parameters import SoughtParameters, sought_parameters
from articulon.sensitivities.differentiable_models import DifferentiableRun, run_of_case
from articulon.sensitivities.objectives import objective_of
from articulon.sensitivities.observed_paths import observed_path
from articulon.sensitivities.run_parameters import all_parameters
from articulon.sensitivities.sensitivity_functions import differentiated_run

WHERE = "optimise"
SWEEPS = 4
"""Number of parameters per target above which adjoints are cheaper than forward sensitivities."""


def optimise(
    case: Case | str | Path,
    targets: Mapping[str, float] | None = None,
    parameters: Mapping[str, Any] | Sequence[str] | None = None,
    *,
    tolerance: float | None = None,
    overrides: Mapping[str, Any] | None = None,
    allow_code: bool = False,
    out: str | Path | None = None,
) -> Optimum:
    """Find parameters of a case for which its run ends at targets.

    Parameters
    ----------
    case
        A case, its name, or its file; its ``[optimise]`` section defines the search, unless arguments override it.
    targets
        Target values of observables at the end, by name, in the units of the case: ``{"rod.angle": 3.14, "rod.rate":
        0}``.
    parameters
        Keys of the case; or a dictionary with a start value, or ``(start, least, largest)``, for each key.
    tolerance
        Largest departure, divided by the scale of its target, at which the search ends; by default, that of the case.
    overrides
        Changes to the case by dotted key.
    allow_code
        Whether Python functions that the case names may run. They are code by the author of the case.
    out
        A folder for ``optimum.json``, ``case.toml`` with the found values, and a page, ``optimum.html``; none by
        default.

    Returns
    -------
    Optimum
        ``values`` by key, and ``case``, the case with the found values.

    Raises
    ------
    CaseError
        For unknown keys and observables, and for a run without derivatives.
    ArticulonError
        If the search ends too far from the targets; the message says how far, and where.
    """
    case = given_case(case, overrides, flag(allow_code, f"{WHERE}, allow_code", CaseError))
    asked = Optimise() if case.optimise is None else case.optimise
    given: dict[str, Any] = {}
    if targets is not None:
        given["targets"] = [{"observable": name, "value": value} for name, value in targets.items()]
    if tolerance is not None:
        given["tolerance"] = tolerance
    asked = Optimise.from_mapping({**asked.model_dump(), **given}, WHERE)
    if not asked.targets:
        raise CaseError(f"{case.source}: {WHERE}.targets: give the targets at the run's end, such as 'rod.angle'")
    sought = sought_parameters(case, asked.parameters, parameters, f"{case.source}: {WHERE}")
    found = _Search(sought, asked).found()
    if out is not None:
        write_optimum(found, Path(out))
    return found


class _Search:
    """State of a search."""

    def __init__(self, sought: SoughtParameters, asked: Optimise) -> None:
        self.sought, self.asked, self.runs = sought, asked, 0
        self.names = [one.observable for one in asked.targets]
        self.goal = np.array([one.value for one in asked.targets], dtype=np.float64)
        self.scale = np.array([one.scale for one in asked.targets], dtype=np.float64)

    def found(self) -> Optimum:
        """Return the result; raise ArticulonError if the targets are not reached."""
        departures: list[float] = []
        for numbers, departure in approach(self.at, self.sought.start, self.sought.bounds):
            ends = self.goal + self.scale * departure
            departures.append(float(np.abs(departure).max()))
            if departures[-1] <= self.asked.tolerance:
                case = replace(self.sought.with_numbers(numbers), changes=dict(self.sought.case.changes))
                return Optimum(case, self.sought, numbers, self.asked.targets, ends, tuple(departures), self.runs)
        worst = int(np.argmax(np.abs(departure)))
        why = "no step comes closer" if self.runs < self.asked.runs else "the limit of runs is reached"
        raise ArticulonError(
            f"{WHERE}: after {self.runs} runs the closest run ends with {self.names[worst]} = {ends[worst]:.6g}, but "
            f"the target is {self.goal[worst]:.6g} ({why}); choose another 'start', wider bounds, more parameters, or "
            "more runs"
        )

    def at(self, numbers: np.ndarray) -> tuple[np.ndarray, np.ndarray] | None:
        """Return scaled departures and their Jacobian; None if a run fails, unless it is the first, or if no more runs
        are allowed."""
        if self.runs >= self.asked.runs:
            return None
        self.runs += 1
        try:
            run = run_of_case(self.sought.with_numbers(numbers), WHERE)
            by_adjoint = run.integrator.step is not None and numbers.size > SWEEPS * self.goal.size
            ends, jacobian = (self._by_adjoint if by_adjoint else self._by_changes)(run)
        except (DivergenceError, CaseError):  # the run diverges, or the case rejects these values
            if self.runs == 1:
                raise
            return None
        return (ends - self.goal) / self.scale, jacobian / self.scale[:, None]

    def _by_changes(self, run: DifferentiableRun) -> tuple[np.ndarray, np.ndarray]:
        place = f"{self.sought.case.source}: {WHERE}"
        given: dict[str, Any] = {"stops": False, "integrator": run.integrator}
        observables = [objective_of(run.model, name, place, **given) for name in self.names]
        parameters = all_parameters(run, self.sought.keys, place)
        path = observed_path(run, np.array([float(run.times[-1])]), observables, parameters)
        return path.values[0], path.derivatives[0]

    def _by_adjoint(self, run: DifferentiableRun) -> tuple[np.ndarray, np.ndarray]:
        parameters = all_parameters(run, self.sought.keys, f"{self.sought.case.source}: {WHERE}")
        ends, rows = [], []
        for name in self.names:
            found = differentiated_run(replace(run, stop=None), name, parameters)
            ends.append(found.value)
            rows.append(np.concatenate([np.ravel(found.gradient[one.name]) for one in parameters]))
        return np.array(ends), np.array(rows)
