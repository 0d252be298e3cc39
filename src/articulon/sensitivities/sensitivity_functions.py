"""The public function :func:`sensitivity`: derivatives of the final state of a run."""

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
from articulon.integrate.rules import ESTIMATING, EXPLICIT
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
"""Default for the largest number of states that are kept."""
WITHOUT_STEP = (
    f"{WHERE}: integrator.step: the adjoint needs steps of a given length; give a step with rk4 or one of "
    f"{', '.join(ESTIMATING)}, or choose method = 'forward' with one of the latter, which can choose their steps by an "
    "error estimate"
)


@dataclass(frozen=True)
class Sensitivity:
    """An objective and its derivatives."""

    value: float
    """The objective."""
    gradient: dict[str, Any]
    """Derivative with respect to every parameter, by the parameter's name: a number, or an array in the parameter's
    shape."""
    q: np.ndarray
    """Coordinates at the end, shape (nq,)."""
    u: np.ndarray
    """Speeds at the end, shape (nu,)."""
    steps: int
    """Number of steps of the run."""
    checkpoints: int
    """Largest number of states that were kept; zero for the forward method."""


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
    """Compute derivatives of an objective at the end of a run with respect to parameters.

    ``adjoint`` is the discrete adjoint of steps of a given length: one sweep back through the run gives the derivatives
    with respect to any number of parameters. They are the derivatives of the computed trajectory, not of the exact
    trajectory. Some states are kept during the run, and the steps between them are repeated. This is binomial
    checkpointing (Griewank and Walther, ACM Trans. Math. Softw. 26, 19, 2000); the result does not depend on the number
    of kept states, bit for bit. ``forward`` propagates the change due to every parameter along the run. Its cost grows
    with the number of parameters. Its step lengths may be chosen by an error estimate.

    Parameters
    ----------
    model
        A model, a case, or the name or path of a case.
    objective
        The name of an observable at the end: ``"kinetic_energy"``, ``"potential_energy"``, a coordinate or speed such
        as ``"rod.angle"``, ``"position.BODY.x"`` or ``"distance.BODY.BODY"`` of centres of mass. Or a function
        ``objective(q, u)`` of the coordinates (nq,) and speeds (nu,) at the end. It returns its value, the derivatives
        with respect to the coordinates, (nq,) or in their tangent space (nu,), and the derivatives with respect to the
        speeds (nu,).
    parameters
        Dotted names. For a case: keys of its model, such as ``"model.core.mass"``; the case's builder may use them in
        any way. For a model: ``"q"``, the initial coordinates in their tangent space (see
        :func:`articulon.derivatives`), and ``"u"``, the initial speeds. Numbers of forces, as in a case:
        ``"forces[0].stiffness.rod"`` or ``"forces.gravity.acceleration"``. Numbers of bodies: ``"bodies.rod.mass"``,
        ``com``, ``inertia`` about the centre of mass (xx, xy, xz, yy, yz, zz), ``position`` of the joint in the parent,
        and ``rotation``, a small rotation vector of the joint frame in the parent [rad]. Numbers of sites:
        ``"sites[0].position"`` in the body's frame, and ``charge``.
    method
        ``"adjoint"``, or ``"forward"`` for few parameters.
    checkpoints
        Largest number of states that the adjoint keeps, including the initial state. The adjoint needs memory for these
        states, for two more states and for two numbers per step. The default is one state for each step, up to 100.
    duration, rule, frames, q, u, options
        For a model: arguments of :func:`articulon.simulate`; the default rule is ``rk4``. The adjoint needs a fixed
        ``step``. Do not give these arguments for a case, which contains them.
    stop
        For a model: ``body``, ``direction`` and ``advance``, or ``body``, ``to`` and ``distance``, as in ``[run.stop]``
        of a case. The run ends when the body's centre of mass has advanced so far, or is so near to that of the other
        body. The objective ``"stop_time"`` is that time; other objectives are evaluated then.
    scaling
        For a model: a policy of ``articulon.scaling`` with constant factors; none by default.
    thermostat
        For a model: the Langevin thermostat, for free particles with ``velocity-verlet``; ``seed`` fixes its noise.
    allow_code
        Whether functions that a case names may run. They are code from the author of the case.

    Returns
    -------
    Sensitivity
        ``value``, and ``gradient``, a dictionary with the names of the parameters as keys.

    Raises
    ------
    CaseError
        For a parameter that does not exist or is not a number, and for an integrator or a part of a case without
        derivatives.
    ModelError
        For a model with swing joints, with both flexible bodies and loops, or with a force that has no derivatives.
        Also for a model with flexible bodies, loops or driven joints, unless the integrator is explicit.
    DivergenceError
        If the state is no longer finite.

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
    if isinstance(model, Model) and method == "adjoint" and (rule or "rk4") in EXPLICIT and options.get("step") is None:
        raise CaseError(WITHOUT_STEP)
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
    """Return the result of :func:`sensitivity` for a run and parameters that have been checked."""
    stops = run.stop is not None
    steps = Steps(run, objective_of(run.model, objective, WHERE, stops=stops, integrator=run.integrator))
    if method == "forward":
        if checkpoints is not None:
            raise CaseError(f"{WHERE}: checkpoints: the forward method keeps no states; leave them out")
        names = {one.name for one in found}
        derivatives = by_tangent(steps, *changes_by(found, run.model), of_q="q" in names, of_u="u" in names)
        return _result(steps, found, derivatives, derivatives.by_tables, 0)
    if run.integrator.step is None:
        raise CaseError(WITHOUT_STEP)
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
    """Return the derivatives in a dictionary with the names of the parameters as keys; ``by_parameters`` holds the
    derivatives with respect to parameters of tables, one after the other."""
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
        if of_model is not None:  # derivative of the objective with respect to the parameter at a fixed state
            found = found + one.of(partial(_value, of_model, end_q, end_u))
        gradient[one.name] = _shaped(found, one.numbers.shape)
        begin += one.numbers.size
    return Sensitivity(derivatives.value, gradient, end_q, end_u, steps.times[0].size, kept)


def _value(of_model: Callable[..., float], q: np.ndarray, u: np.ndarray, model: Model) -> float:
    return of_model(model, q, u)


def _shaped(numbers: np.ndarray, shape: tuple[int, ...]) -> Any:
    """Return a derivative in the shape of its parameter."""
    return numbers.reshape(shape) if shape else float(numbers[0])
