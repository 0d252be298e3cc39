"""The public function: derivatives of what a run ends with."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, Literal

import numpy as np

from articulon.cases.case import Case
from articulon.errors import CaseError, DivergenceError
from articulon.forces.evaluation import Evaluator
from articulon.inputs import whole, word
from articulon.integrate.rules import ESTIMATING, EXPLICIT
from articulon.integrate.variables import blocks
from articulon.model import Model, kernel_tables
from articulon.model.state import STEPS
from articulon.sensitivities.adjoint_program import adjoint_program
from articulon.sensitivities.adjoint_steps import ADVANCE, REVERSE, advance_steps, follow_schedule, scratch
from articulon.sensitivities.checkpoint_schedule import schedule
from articulon.sensitivities.differentiable_models import DifferentiableRun, given_steps, run_of
from articulon.sensitivities.objectives import objective_of
from articulon.sensitivities.parameters import Parameter, parameters_of
from articulon.sensitivities.table_gradients import arrays_of, differentiated, flat, zeros_like
from articulon.sensitivities.tangent_spaces import in_coordinates, in_tangent_space
from articulon.simulation.divergence import diagnosis

WHERE = "sensitivity"
ACTIONS = 4096
"""Actions of a schedule that are handed over at once."""
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
    """States that were kept at most."""


def sensitivity(
    model: Model | Case | str | Path,
    objective: Callable[..., Any],
    parameters: str | Sequence[str],
    method: Literal["adjoint"] = "adjoint",
    *,
    checkpoints: int | None = None,
    duration: float | str | None = None,
    rule: str | None = None,
    frames: int | None = None,
    q: Sequence[float] | np.ndarray | None = None,
    u: Sequence[float] | np.ndarray | None = None,
    allow_code: bool = False,
    **options: Any,
) -> Sensitivity:
    """Derivatives of what a run ends with by its parameters.

    The discrete adjoint of the steps that are taken: one sweep back through the run gives the derivatives by any
    number of parameters, those of what is computed and not of what it approximates. States are kept on the way and
    the steps between them taken once more, by binomial checkpointing (Griewank and Walther, ACM Trans. Math. Softw. 26,
    19, 2000), which changes no bit of the result.

    Parameters
    ----------
    model
        A model, or a case, which may be given by its name or path.
    objective
        ``objective(q, u)`` of the coordinates (nq,) and speeds (nu,) at the end: its value, its derivatives by the
        coordinates, (nq,) or in their tangent space (nu,), and those by the speeds (nu,).
    parameters
        Dotted names: ``"q"``, the initial coordinates in their tangent space (see :func:`articulon.derivatives`),
        ``"u"``, the initial speeds, and numbers of forces as in a case, ``"forces[0].stiffness.rod"`` or
        ``"forces.gravity.acceleration"``.
    method
        ``"adjoint"``.
    checkpoints
        How many states are kept at most, the initial one among them: the memory that it takes. By default one for each
        step up to 100.
    duration, rule, frames, q, u, options
        Of a model: what :func:`articulon.simulate` is asked for, by default with the rule ``rk4``. A fixed ``step``
        is needed. A case has them in itself.
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
        For a model with loops, driven joints, flexible bodies or swing joints, or a force whose derivatives are not
        known.
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
    word(method, ("adjoint",), f"{WHERE}: unknown method", CaseError)
    run = run_of(
        model,
        WHERE,
        duration=duration,
        rule=rule,
        frames=frames,
        q=q,
        u=u,
        allow_code=allow_code,
        options=options,
    )
    found = parameters_of(run.model, parameters, WHERE)
    goal = objective_of(run.model, objective, WHERE)
    if run.integrator.step is None:
        raise CaseError(
            f"{WHERE}: integrator.step: the adjoint is that of steps of a given length, and the error estimate chooses "
            f"those of this run; give a step with one of {', '.join(ESTIMATING)}, or with rk4"
        )
    if checkpoints is not None:
        checkpoints = whole(checkpoints, f"{WHERE}: checkpoints", least=1, error=CaseError)
    return _by_adjoint(run, goal, found, checkpoints)


def _by_adjoint(run: DifferentiableRun, objective: Any, parameters: list[Parameter], kept: int | None) -> Sensitivity:
    model, tableau = run.model, EXPLICIT[run.integrator.rule]
    nq, nu = model.nq, model.nu
    evaluator = Evaluator(model)
    gradients = zeros_like(differentiated(evaluator.system.forces))
    program, adjoint = adjoint_program(evaluator, gradients)
    times, lengths = given_steps(run)
    count = min(times.size, CHECKPOINTS if kept is None else kept)
    states, arrays = np.zeros((count + 2, nq + nu)), scratch(nq + nu, tableau)
    quaternion = blocks(kernel_tables(model).forest, nq, nu).quaternion
    common = tableau, quaternion, times, lengths
    states[0, :nq], states[0, nq:] = model.q0, model.u0
    actions, first = schedule(times.size, count), []
    for action in actions:
        first.append(action)
        if action[0] == REVERSE:
            break
    # The end of the run comes first: the step that is reversed first leads there.
    _, place, last, _, _ = first.pop()
    first.append((ADVANCE, place, last, last + 1, count + 1))
    weight = np.zeros(nq + nu)
    follow_schedule(evaluator.rhs, adjoint, *common, np.array(first), states, arrays, weight)
    end = states[count + 1]
    if not np.isfinite(end).all():
        raise _divergence(evaluator, common, arrays)
    value, by_q, by_u = objective(end[:nq].copy(), end[nq:].copy())
    weight[:nq], weight[nq:] = in_coordinates(model, end[:nq], by_q), by_u
    for one in arrays_of(gradients):
        one[...] = 0.0
    block: list[Any] = [(REVERSE, place, last, 0, 0)]
    while block:
        follow_schedule(evaluator.rhs, adjoint, *common, np.array(block), states, arrays, weight)
        block = list(islice(actions, ACTIONS))
    of_state = {"q": in_tangent_space(model, model.q0, weight[:nq]), "u": weight[nq:].copy()}
    of_tables = flat(gradients)
    gradient = {
        one.name: of_state[one.name] if one.columns is None else _shaped(of_tables @ one.columns, one.shape)
        for one in parameters
    }
    del program
    return Sensitivity(value, gradient, end[:nq].copy(), end[nq:].copy(), times.size, count)


def _divergence(evaluator: Evaluator, common: tuple[Any, ...], arrays: Any) -> DivergenceError:
    """The error for a run that diverges, whose steps are taken once more, one by one."""
    state, nq = evaluator.initial_state(), evaluator.model.nq
    _, _, times, lengths = common
    arrays.y[:nq], arrays.y[nq:] = state.q, state.u
    for k in range(times.size):
        advance_steps(evaluator.rhs, *common, k, k + 1, arrays)
        if not np.isfinite(arrays.y).all():
            break
        state.q[:], state.u[:] = arrays.y[:nq], arrays.y[nq:]
        state.time[0] = times[k] + lengths[k]
        state.counters[STEPS] += 1
    return diagnosis(evaluator, float(lengths[0]), state, "")


def _shaped(numbers: np.ndarray, shape: tuple[int, ...]) -> Any:
    """A derivative in the shape of its parameter."""
    return numbers.reshape(shape) if shape else float(numbers[0])
