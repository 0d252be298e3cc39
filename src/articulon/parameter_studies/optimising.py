"""Parameters with which a run ends as it is to: torques that swing a pendulum up, springs that hold it there.

Departures of observables at the end from their targets, over their scales, are brought to zero by steps of least size
(``least_change.py``). Where there are many numbers for each target the Jacobian is that of adjoints, one run there and
back for each target whatever the number of parameters; else that of forward sensitivities.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from articulon.cases.case import Case
from articulon.cases.loading import load_case
from articulon.cases.study_sections import Optimise, Target
from articulon.errors import ArticulonError, CaseError, DivergenceError
from articulon.inputs import flag, number
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
"""Numbers for each target above which adjoints cost less than changes by each number."""


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
    """Find parameters of a case with which its run ends as it is to.

    Parameters
    ----------
    case
        A case, its name, or its file; its ``[optimise]`` says what is sought unless that is given here.
    targets
        Values of observables at the end, by name, in the units of the case: ``{"rod.angle": 3.14, "rod.rate": 0}``.
    parameters
        Keys of the case, or a dictionary from keys to where the search begins, or to ``(start, least, largest)``.
    tolerance
        The largest departure, over the scale of its target, at which the search ends; that of the case by default.
    overrides
        Changes to the case by dotted key.
    allow_code
        Whether functions that the case names may run: they are code, of whoever wrote the case.
    out
        A folder for ``optimum.json``, ``case.toml`` with what was found, and a page, ``optimum.html``; none by default.

    Returns
    -------
    Optimum
        ``values`` by key, and ``case``, the case with what was found, to be run.

    Raises
    ------
    CaseError
        For keys and observables that are not there, and for a run without derivatives.
    ArticulonError
        Where the search comes to an end too far from the targets: it says how far, and where.
    """
    if not isinstance(case, Case):
        case = load_case(case, overrides, allow_code=flag(allow_code, f"{WHERE}, allow_code"))
    elif overrides:
        case = case.with_overrides(overrides)
    asked = Optimise() if case.optimise is None else case.optimise
    if targets is not None:
        given = tuple(
            Target(observable=name, value=number(value, f"{WHERE}: targets: {name}", CaseError))
            for name, value in targets.items()
        )
        asked = asked.model_copy(update={"targets": given})
    if tolerance is not None:
        asked = asked.model_copy(update={"tolerance": number(tolerance, f"{WHERE}: tolerance", CaseError)})
    if not asked.targets:
        raise CaseError(f"{case.source}: {WHERE}.targets: say what the run is to end with, 'rod.angle' say")
    sought = sought_parameters(case, asked.parameters, parameters, f"{case.source}: {WHERE}")
    found = _Search(sought, asked).found()
    if out is not None:
        write_optimum(found, Path(out))
    return found


class _Search:
    """A search that is going on."""

    def __init__(self, sought: SoughtParameters, asked: Optimise) -> None:
        self.sought, self.asked, self.runs = sought, asked, 0
        self.names = [one.observable for one in asked.targets]
        self.goal = np.array([one.value for one in asked.targets], dtype=np.float64)
        self.scale = np.array([one.scale for one in asked.targets], dtype=np.float64)
        self.ends, self.departures = self.goal, list[float]()

    def found(self) -> Optimum:
        """What is found; raises ArticulonError where the targets are not reached."""
        why = "no step leads nearer"
        for numbers in approach(self.at, self.sought.start, self.sought.bounds):
            self.ends = self.last
            self.departures.append(float(np.abs((self.ends - self.goal) / self.scale).max()))
            if self.departures[-1] <= self.asked.tolerance:
                return self._optimum(numbers)
            if self.runs >= self.asked.runs:
                why = "it is out of runs"
                break
        worst = int(np.argmax(np.abs(self.ends - self.goal) / self.scale))
        raise ArticulonError(
            f"{WHERE}: after {self.runs} runs the nearest run ends with {self.names[worst]} = {self.ends[worst]:.6g}, "
            f"and {self.goal[worst]:.6g} was asked ({why}); begin elsewhere, by 'start', give wider bounds, more "
            "parameters, or more runs"
        )

    def _optimum(self, numbers: np.ndarray) -> Optimum:
        case = replace(self.sought.with_numbers(numbers), changes=dict(self.sought.case.changes))
        return Optimum(case, self.sought, numbers, self.asked.targets, self.ends, tuple(self.departures), self.runs)

    def at(self, numbers: np.ndarray) -> tuple[np.ndarray, np.ndarray] | None:
        """Departures over their scales and their Jacobian; None for a run that cannot be, unless it is the first."""
        first, self.runs = self.runs == 0, self.runs + 1
        try:
            run = run_of_case(self.sought.with_numbers(numbers), WHERE)
            by_adjoint = run.integrator.step is not None and numbers.size > SWEEPS * self.goal.size
            self.last, jacobian = (self._by_adjoint if by_adjoint else self._by_changes)(run)
        except (DivergenceError, CaseError):  # it diverges, or the case may have no such numbers
            if first or self.runs >= self.asked.runs:
                raise
            return None
        return (self.last - self.goal) / self.scale, jacobian / self.scale[:, None]

    def _by_changes(self, run: DifferentiableRun) -> tuple[np.ndarray, np.ndarray]:
        place = f"{self.sought.case.source}: {WHERE}"
        observables = [objective_of(run.model, name, place, stops=False) for name in self.names]
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
