"""The factor of all forces as a parameter, beside those of the model."""

from typing import Any

import numpy as np

from articulon.errors import CaseError
from articulon.inputs import words
from articulon.sensitivities.differentiable_models import DifferentiableRun
from articulon.sensitivities.parameters import Parameter, flat_tables, parameters_of

FACTOR = "scaling.a2"
"""The name of the factor."""


class FactorParameter(Parameter):
    """The factor that the run's policy multiplies all forces by."""

    @property
    def columns(self) -> np.ndarray:
        """See :class:`Parameter`."""
        assert self.changed is not None
        found = np.zeros((flat_tables(self.changed(self.numbers)).size, 1))
        found[0] = 1.0
        return found

    def of(self, function: Any) -> np.ndarray:
        """See :class:`Parameter`: no objective depends on the factor but by the motion."""
        return np.zeros(1)


def all_parameters(run: DifferentiableRun, names: Any, where: str) -> list[Parameter]:
    """The parameters of a run with these names.

    Raises
    ------
    CaseError
        For one that does not exist, or has no derivatives since it is a choice and no number.
    """
    wanted = list(dict.fromkeys(words(names, f"{where}: parameters", CaseError)))
    if not wanted:
        return parameters_of(run.model, names, where)
    return [one for name in wanted for one in _named(run, name, where)]


def _named(run: DifferentiableRun, name: str, where: str) -> list[Parameter]:
    if name != FACTOR:
        return parameters_of(run.model, name, where)
    if not run.acting.scaled:
        raise CaseError(
            f"{where}: parameters: {name}: the forces of this run are not scaled; give it the policy 'constant', with "
            "a2 = 1 say"
        )
    return [FactorParameter(name, np.array(run.acting.factor), lambda _: run.model)]
