"""The public function: derivatives of what a run ends with."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Literal

import numpy as np

from articulon.cases.case import Case
from articulon.errors import CaseError
from articulon.inputs import whole, word
from articulon.integrate.rules import ESTIMATING
from articulon.model import Model
from articulon.sensitivities.adjoint_run import by_adjoint
from articulon.sensitivities.differentiable_models import DifferentiableRun, run_of
from articulon.sensitivities.end_of_run import Derivatives, Steps
from articulon.sensitivities.objectives import objective_of
from articulon.sensitivities.parameters import Parameter, changes_by
from articulon.sensitivities.run_parameters import all_parameters
from articulon.sensitivities.tangent_run import by_tangent

WHERE = "sensitivity"
CHECKPOINTS = 100
"""States that are kept by default, at most."""


@dataclass(frozen=True)
class Sensitivity:
    """An objective and its derivatives."""

    value: float
    """The objective."""
    gradient: dict[str, Any]
    """Its derivative by every parameter, as these were called: a number, or an array like the parameter's."""
    q: np.ndarray
    """Coordinates at the end, shape (nq,)."""
    u: np.ndarray
    """Speeds at the end, shape (nu,)."""
    steps: int
    """Steps of the run."""
    checkpoints: int
    """States that were kept at most; none by the forward method."""


def sensitivity(
    model: Model | Case | str | Path,
    objective: str | Callable[..., Any],
    parameters: str | Sequence[str],
    method: Literal["adjoint", "forward"] = "adjoint",
    *,
    checkpoints: int | None = None,
    duration: float | str | None = None,
    rule: str | None = None,
    frames: int | None = None,
    q: Sequence[float] | np.ndarray | None = None,
    u: Sequence[float] | np.ndarray | None = None,
    stop: Mapping[str, Any] | None = None,
    seed: int | None = None,
    scaling: Any = None,
    thermostat: Any = None,
    allow_code: bool = False,
    **options: Any,
) -> Sensitivity:
    """Derivatives of what a run ends with by its parameters.

    ``adjoint`` is the discrete adjoint of steps of a given length: one sweep back through the run gives the derivatives
    by any number of parameters, those of what is computed and not of what it approximates. States are kept on the way
    and the steps between them taken once more, by binomial checkpointing (Griewank and Walther, ACM Trans. Math. Softw.
    26, 19, 2000), which changes no bit of the result. ``forward`` takes the changes by every parameter along: its cost
    grows with their number, and its steps may be chosen by their error.

    Parameters
    ----------
    model
        A model, or a case, which may be given by its name or path.
    objective
        The name of an observable at the end: ``"kinetic_energy"``, ``"potential_energy"``, a coordinate or speed such
        as ``"rod.angle"``, ``"position.BODY.x"`` or ``"distance.BODY.BODY"`` of centres of mass. Or a function
        ``objective(q, u)`` of the coordinates (nq,) and speeds (nu,) at the end: its value, its derivatives by the
        coordinates, (nq,) or in their tangent space (nu,), and those by the speeds (nu,).
    parameters
        Dotted names: keys of a case's model, such as ``"model.core.mass"``, whatever its builder makes of them; and
        of models ``"q"``, the initial coordinates in their tangent space (see :func:`articulon.derivatives`),
        ``"u"``, the initial speeds, numbers of forces as in a case, ``"forces[0].stiffness.rod"`` or
        ``"forces.gravity.acceleration"``, of bodies: ``"bodies.rod.mass"``, ``com``, ``inertia`` about it (xx, xy, xz,
        yy, yz, zz), ``position``, the place of its joint in its parent, and ``rotation``, a turn of its joint frame
        there [rad]; and of sites: ``"sites[0].position"`` in the body's frame, and ``charge``.
    method
        ``"adjoint"``, or ``"forward"`` for few parameters.
    checkpoints
        Of the adjoint, how many states are kept at most, the initial one among them: the memory that it takes, beside
        two more, and two numbers for each step. By default one for each step up to 100.
    duration, rule, frames, q, u, options
        Of a model: what :func:`articulon.simulate` is asked for, by default with the rule ``rk4``. The adjoint
        needs a fixed ``step``. A case has them in itself.
    stop
        Of a model: ``body``, ``direction`` and ``advance`` as in ``[run.stop]`` of a case: the run ends when the body's
        centre of mass has come so far. The objective ``"stop_time"`` is that time; others are those at it.
    scaling
        Of a model: a policy of ``articulon.scaling`` whose factors are constant; none by default.
    thermostat
        Of a model: Langevin's, of free particles under ``velocity-verlet``, whose noise is held with the ``seed``.
    allow_code
        Whether functions that a case names may run: they are code, of whoever wrote the case.

    Returns
    -------
    Sensitivity
        ``value`` and ``gradient``, a dictionary by the names of the parameters.

    Raises
    ------
    CaseError
        For a parameter that does not exist or is a choice, and for a rule or part of a case without derivatives.
    ModelError
        For a model with flexible bodies or swing joints, with loops or driven joints where the rule is no explicit
        one, or a force whose derivatives are not known.
    DivergenceError
        Where the numbers stop meaning anything.

    Examples
    --------
    >>> import articulon as ar, numpy as np
    >>> builder = ar.ModelBuilder(units="kg-m-s")
    >>> rod = builder.add_body("rod", mass=1, inertia=0.1, com=(0, 0, -1), joint=ar.Revolute((0, 1, 0)), q=0.1)
    >>> builder.add_force(ar.forces.Gravity(acceleration=(0, 0, -9.81)))
    >>> model = builder.build()
    >>> def angle(q, u):
    ...     return q[0], np.array([1.0]), np.array([0.0])
    >>> s = ar.sensitivity(model, angle, ["q", "forces.gravity.acceleration"], duration=0.5, step=0.01)
    >>> bool(abs(s.gradient["q"][0] - np.cos(0.5 * np.sqrt(9.81 / 1.1))) < 0.01)        # swings as cos ωt
    True
    """
    word(method, ("adjoint", "forward"), f"{WHERE}: unknown method", CaseError)
    run = run_of(
        model,
        WHERE,
        duration=duration,
        rule=rule,
        frames=frames,
        q=q,
        u=u,
        stop=stop,
        seed=seed,
        scaling=scaling,
        allow_code=allow_code,
        options=options,
        thermostat=thermostat,
    )
    return differentiated_run(run, objective, all_parameters(run, parameters, WHERE), method, checkpoints)


def differentiated_run(
    run: DifferentiableRun,
    objective: str | Callable[..., Any],
    found: list[Parameter],
    method: str = "adjoint",
    checkpoints: int | None = None,
) -> Sensitivity:
    """What :func:`sensitivity` finds, of a run and parameters that have been checked."""
    steps = Steps(run, objective_of(run.model, objective, WHERE, stops=run.stop is not None))
    if method == "forward":
        if checkpoints is not None:
            raise CaseError(f"{WHERE}: checkpoints: the forward method keeps no states; leave them out")
        names = {one.name for one in found}
        derivatives = by_tangent(steps, *changes_by(found, run.model), of_q="q" in names, of_u="u" in names)
        return _result(steps, found, derivatives, derivatives.by_tables, 0)
    if run.integrator.step is None:
        raise CaseError(
            f"{WHERE}: integrator.step: the adjoint is that of steps of a given length, and the error estimate chooses "
            f"those of this run; give a step with one of {', '.join(ESTIMATING)}, or with rk4, or choose method = "
            "'forward'"
        )
    kept = CHECKPOINTS
    if checkpoints is not None:
        kept = whole(checkpoints, f"{WHERE}: checkpoints", least=1, error=CaseError)
    kept = min(kept, steps.times[0].size)
    derivatives = by_adjoint(steps, kept, any(one.of_bodies for one in found))
    of_start = np.concatenate([derivatives.by_q, derivatives.by_u])
    by_parameters = [
        derivatives.by_tables @ one.columns + one.start @ of_start for one in found if one.changed is not None
    ]
    return _result(steps, found, derivatives, np.concatenate([*by_parameters, np.zeros(0)]), kept)


def _result(
    steps: Steps, parameters: list[Parameter], derivatives: Derivatives, by_parameters: np.ndarray, kept: int
) -> Sensitivity:
    """The derivatives by the names of the parameters; those by parameters of tables are one behind the other."""
    by_start, by_tables = steps.by_start
    of_state, gradient, begin = {"q": derivatives.by_q + by_start, "u": derivatives.by_u}, {}, 0
    of_model, end_q, end_u = steps.of_model, derivatives.q, derivatives.u
    for one in parameters:
        if one.changed is None:
            gradient[one.name] = of_state[one.name]
            continue
        found = by_parameters[begin : begin + one.numbers.size]
        if by_tables.size:
            found = found + by_tables @ one.columns
        if of_model is not None:  # what the objective changes by with the parameter where the state stays
            found = found + one.of(partial(_value, of_model, end_q, end_u))
        gradient[one.name] = _shaped(found, one.numbers.shape)
        begin += one.numbers.size
    return Sensitivity(derivatives.value, gradient, end_q, end_u, steps.times[0].size, kept)


def _value(of_model: Callable[..., float], q: np.ndarray, u: np.ndarray, model: Model) -> float:
    return of_model(model, q, u)


def _shaped(numbers: np.ndarray, shape: tuple[int, ...]) -> Any:
    """A derivative in the shape of its parameter."""
    return numbers.reshape(shape) if shape else float(numbers[0])
