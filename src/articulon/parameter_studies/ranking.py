"""Rank the parameters that influence the end of a run by derivatives with respect to their relative changes.

For an objective J and a parameter p, the effect p ∂J/∂p is the first-order change of J per relative change of p.
The effect divided by J is the elasticity ∂ln J/∂ln p.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from articulon.cases.case import Case
from articulon.cases.loading import given_case
from articulon.cases.study_sections import Sensitivities
from articulon.errors import ArticulonError, CaseError
from articulon.inputs import flag, word
from articulon.parameter_studies.influences import Influence, Ranking
from articulon.parameter_studies.ranking_page import write_ranking
from articulon.sensitivities.case_parameters import keys_of_numbers
from articulon.sensitivities.differentiable_models import DifferentiableRun, run_of_case
from articulon.sensitivities.objectives import STOP_TIME
from articulon.sensitivities.parameters import Parameter
from articulon.sensitivities.run_parameters import all_parameters
from articulon.sensitivities.sensitivity_functions import differentiated_run

WHERE = "sensitivities"


def rank_parameters(
    case: Case | str | Path,
    objective: str | None = None,
    parameters: str | Sequence[str] | None = None,
    method: str | None = None,
    *,
    overrides: Mapping[str, Any] | None = None,
    allow_code: bool = False,
    out: str | Path | None = None,
) -> Ranking:
    """Rank the parameters of a case by the change of its objective for a change of each parameter by one percent.

    Parameters
    ----------
    case
        A case, its name, or its file; its ``[sensitivities]`` section defines the ranking, unless arguments override
        it.
    objective
        An observable at the end, by a name that :func:`articulon.sensitivity` accepts; by default ``"stop_time"`` for a
        run with a stop condition.
    parameters
        Keys of the case; by default all non-zero numbers of its model and forces. The numbers of a key with several
        numbers are ranked separately.
    method
        ``"adjoint"``: one forward and backward run for all parameters. ``"forward"``: derivatives are computed during
        the run, which is suitable for few parameters.
    overrides
        Changes to the case by dotted key.
    allow_code
        Whether Python functions that the case names may run. They are code by the author of the case.
    out
        A folder for ``sensitivities.json`` and a page, ``sensitivities.html``; none by default.

    Raises
    ------
    CaseError
        For an unknown objective or key, and for a run without derivatives.
    """
    case = given_case(case, overrides, flag(allow_code, f"{WHERE}, allow_code", CaseError))
    asked = Sensitivities() if case.sensitivities is None else case.sensitivities
    chosen_method = word(method or asked.method, ("adjoint", "forward"), f"{WHERE}: unknown method", CaseError)
    objective = objective or asked.objective or (STOP_TIME if case.run.stop is not None else None)
    if objective is None:
        raise CaseError(
            f"{case.source}: {WHERE}.objective: name the observable to differentiate, such as 'kinetic_energy' or a "
            "coordinate; a run with a stop condition has its 'stop_time'"
        )
    run = run_of_case(case, WHERE)
    chosen = asked.parameters if parameters is None else parameters
    left_out: dict[str, str] = {}
    if chosen:
        found = all_parameters(run, chosen, f"{case.source}: {WHERE}")
    else:
        found = list(_all_of(case, run, left_out))
    sensitivity = differentiated_run(run, objective, found, chosen_method)
    influences = []
    for one in found:
        for index in np.ndindex(*one.numbers.shape):
            derivative = float(np.asarray(sensitivity.gradient[one.name])[index])
            value = float(one.numbers[index])
            effect = value * derivative
            name = one.name + "".join(f"[{k}]" for k in index)
            elasticity = effect / sensitivity.value if sensitivity.value else None
            influences.append(Influence(name, value, derivative, effect, elasticity))
    influences.sort(key=lambda one: (-abs(one.effect), one.parameter))
    ranking = Ranking(case, objective, sensitivity.value, tuple(influences), left_out, chosen_method, sensitivity.steps)
    if out is not None:
        write_ranking(ranking, Path(out))
    return ranking


def _all_of(case: Case, run: DifferentiableRun, left_out: dict[str, str]) -> Iterator[Parameter]:
    """Yield the parameters of a case that have derivatives; add to ``left_out`` why others have none."""
    for key in keys_of_numbers(case):
        try:
            (one,) = all_parameters(run, [key], WHERE)
            if one.columns.any() or one.start.any():
                yield one
            else:
                left_out[key] = "it does not affect the run"
        except ArticulonError as error:
            left_out[key] = str(error).removeprefix(f"{WHERE}: parameters: {key}: ").replace(f"{case.source}: ", "")
