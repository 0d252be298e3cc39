"""The parameters of a run: parameters of its model and its case, and the factor of all forces."""

from typing import Any

import numpy as np

from articulon.cases.overrides import Part, parts
from articulon.errors import CaseError
from articulon.forces.brownian import Brownian
from articulon.forces.point_springs import PointSpring
from articulon.integrate.integrators import BrownianDynamics, FrictionImplicit
from articulon.model import Model
from articulon.sensitivities.case_parameters import MODEL, parameter_of_key
from articulon.sensitivities.differentiable_models import DifferentiableRun
from articulon.sensitivities.parameters import Parameter, flat_tables, force_index, names_of, parameter_of

FACTOR = "scaling.a2"
"""Name of the factor of all forces."""


class FactorParameter(Parameter):
    """The factor by which the run's scaling policy multiplies all forces."""

    @property
    def columns(self) -> np.ndarray:
        """See :class:`Parameter`."""
        assert self.changed is not None
        found = np.zeros((flat_tables(self.changed(self.numbers)).size, 1))
        found[0] = 1.0
        return found

    def of(self, function: Any) -> np.ndarray:
        """See :class:`Parameter`. Objectives depend on the factor only through the motion."""
        return np.zeros(1)


def all_parameters(run: DifferentiableRun, names: Any, where: str) -> list[Parameter]:
    """Return the parameters of a run with these names.

    Raises
    ------
    CaseError
        For a parameter that does not exist, or that has no derivatives because it is not a number.
    """
    wanted = names_of(names, where)
    for name in wanted:
        _check_noise(run, name, where)
        _check_damping(run, name, where)
    return [_named(run, name, where) for name in wanted]


def _check_noise(run: DifferentiableRun, name: str, where: str) -> None:
    """Raise CaseError for a temperature of zero: noise grows with its square root, which has no derivative at zero. The
    length of a noise window is also rejected: another window gives another noise path."""
    force, field = _force_and_field(run.model, name, where)
    if isinstance(force, Brownian) and field == "temperature" and not float(force.temperature) > 0.0:
        raise CaseError(
            f"{where}: parameters: {name}: it is 0, and noise grows with its square root, which has no derivative "
            "there; give a temperature above zero, or leave it out"
        )
    if isinstance(force, Brownian) and field == "window":
        raise CaseError(
            f"{where}: parameters: {name}: another window gives another path of the noise, not a small change of this "
            "one; leave it out"
        )


def _check_damping(run: DifferentiableRun, name: str, where: str) -> None:
    """Raise CaseError for the damping of point springs with integrators that have no derivatives for it."""
    force, field = _force_and_field(run.model, name, where)
    if not isinstance(force, PointSpring) or field != "damping":
        return
    if isinstance(run.integrator, FrictionImplicit):
        raise CaseError(
            f"{where}: parameters: {name}: the rule 'friction-implicit' solves for damped point springs together "
            "with the drag, and these derivatives are not implemented; leave it out, or choose an explicit "
            "Runge-Kutta rule"
        )
    if isinstance(run.integrator, BrownianDynamics):
        raise CaseError(
            f"{where}: parameters: {name}: the rule 'overdamped' does not take damped point springs; leave it out, or "
            "choose an explicit Runge-Kutta rule"
        )


def _force_and_field(model: Model, name: str, where: str) -> tuple[Any, Part | None]:
    """Return the force and the field to which a parameter belongs; (None, None) if the parameter is not of a force."""
    path = parts(name)
    if path[0] != "forces" or len(path) < 3:
        return None, None
    return model.forces[force_index(model, path[1], name, f"{where}: parameters")], path[2]


def _named(run: DifferentiableRun, name: str, where: str) -> Parameter:
    if name == FACTOR:
        if not run.acting.scaled:
            raise CaseError(
                f"{where}: parameters: {name}: the forces of this run are not scaled; give it the policy 'constant', "
                "with a2 = 1 for example"
            )
        return FactorParameter(name, np.array(run.acting.factor), lambda _: run.model)
    if run.case is not None and parts(name)[0] == MODEL:
        return parameter_of_key(run.case, run.model, name, f"{where}: parameters")
    return parameter_of(run.model, name, f"{where}: parameters")
