"""Steps of a run, and the error for a run that diverges; the adjoint and the forward method share them."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from articulon.errors import CaseError, DivergenceError
from articulon.model import Model
from articulon.model.state import STEPS
from articulon.sensitivities.differentiable_models import DifferentiableRun
from articulon.sensitivities.differentiated_rules import stepping_of
from articulon.sensitivities.objectives import Objective
from articulon.sensitivities.stepping import Stepping, take_steps
from articulon.sensitivities.stopping import Passage, passage_of
from articulon.sensitivities.tangent_spaces import in_coordinates
from articulon.simulation.divergence import diagnosis


class Derivatives(NamedTuple):
    """The final state of a run, its objective, and the derivatives of the objective."""

    value: float
    q: np.ndarray
    """Coordinates, shape (nq,)."""
    u: np.ndarray
    """Speeds, shape (nu,)."""
    by_q: np.ndarray
    """Derivatives with respect to the initial coordinates, in their tangent space, shape (nu,)."""
    by_u: np.ndarray
    """Derivatives with respect to the initial speeds, shape (nu,)."""
    by_tables: np.ndarray
    """Derivatives with respect to the numbers of the tables, or with respect to the parameters that change these
    numbers."""


@dataclass(frozen=True)
class Steps:
    """A run that is prepared for differentiation."""

    run: DifferentiableRun
    """The run."""
    objective: Objective
    """Objective at the end of the run."""

    @cached_property
    def stepping(self) -> Stepping:
        """Stepping of the run's integrator."""
        return stepping_of(self.run)

    @cached_property
    def times(self) -> tuple[np.ndarray, np.ndarray]:
        """Start times and lengths of the steps, (steps,) each [time]."""
        return self.stepping.times if self.passage is None else self.passage.times

    @cached_property
    def passage(self) -> Passage | None:
        """The early stop of the run; None if the run does not stop early."""
        if self.run.stop is None:
            return None
        return passage_of(self.stepping, self.run.stop)

    def after(self, times: np.ndarray) -> list[int]:
        """Return the number of steps from the start to each time; raises CaseError for a time at which no step ends."""
        begins, lengths = self.times
        ends = np.concatenate([[0.0], begins + lengths])
        found = np.clip(np.searchsorted(ends, times), 1, ends.size - 1)
        found -= times - ends[found - 1] < ends[found] - times
        off = np.abs(ends[found] - times) > 1e-6 * float(lengths.max())
        if off.any():
            raise CaseError(
                f"no step ends at the time {times[off][0]:g}, at which values are needed: all steps have the length "
                f"{lengths[0]:g}; give a step of which all times are multiples, or an explicit rule"
            )
        return [int(k) for k in found]

    @property
    def of_model(self) -> Callable[[Model, np.ndarray, np.ndarray], float] | None:
        """Return the objective as a function of the model at fixed initial and final states, up to a constant; None if
        it does not depend on the model at fixed states."""
        own, passage = self.objective.of_model, self.passage
        if passage is None:
            return own
        rate = self._rate(passage)

        def of(model: Model, q: np.ndarray, u: np.ndarray) -> float:
            later = -rate * passage.beyond(model, q) / passage.rate_of_stop
            return later if own is None else own(model, q, u) + later

        return of

    @cached_property
    def by_start(self) -> tuple[np.ndarray, np.ndarray]:
        """Return derivatives that arise because the advance of a body is measured from its initial position. The rest
        of the run is held fixed. They are with respect to the initial coordinates, shape (nu,), and to the numbers of
        the tables, shape (0,) if these numbers do not change the initial position."""
        if self.passage is None:
            return np.zeros(self.run.model.nu), np.zeros(0)
        rate = self._rate(self.passage) / self.passage.rate_of_stop
        return self.stepping.of_closed_start(rate * self.passage.along_start(self.run.model.q0))

    def _rate(self, passage: Passage) -> float:
        """Return the derivative of the objective with respect to the time at which the run stops."""
        if self.objective.is_time:
            return 1.0
        return passage.rate(lambda y: self.objective.of(*self.stepping.split(y))[0])

    def weigh(self, end: np.ndarray) -> tuple[float, np.ndarray, np.ndarray]:
        """Return the objective at the end and its derivatives. Raises DivergenceError if the final state is not finite,
        and any exception that a user's function raised."""
        self.check_finite(end)
        nq = self.run.model.nq
        value, by_q, by_u = self.objective.of(*self.stepping.split(end))
        if self.passage is None:
            return value, by_q, by_u
        if self.objective.is_time:
            value = float(self.times[0][-1] + self.times[1][-1])
        model, sooner = self.run.model, self._rate(self.passage) / self.passage.rate_of_stop
        by_stop = in_coordinates(model, end[:nq], self.passage.along(end[:nq]))
        return value, in_coordinates(model, end[:nq], by_q) - sooner * by_stop, by_u

    def check_finite(self, state: np.ndarray) -> None:
        """Raise DivergenceError if a state (nq + nu,) is not finite, and any exception that a user's function
        raised."""
        self.check_functions()
        if not np.isfinite(state).all():
            raise self._divergence()

    def check_derivatives(self, found: np.ndarray) -> None:
        """Raise CaseError for derivatives that are not finite because the iterations of a step do not converge."""
        if self.stepping.iterates and not np.isfinite(found).all():
            raise CaseError(
                f"sensitivity: integrator.step: the iterations for derivatives of implicit stages do not converge "
                f"in steps of {self.times[1][0]:.6g}; choose a shorter step, or an explicit Runge-Kutta rule"
            )

    def check_functions(self) -> None:
        """Raise the exception that a user's function raised, if there is one."""
        error = self.stepping.evaluator.users.error
        if error is not None:
            raise error

    def _divergence(self) -> DivergenceError:
        """Return the error for a run that diverges. The steps are repeated one by one to find the step that
        diverges."""
        stepping, (times, lengths) = self.stepping, self.times
        state, (stepper, _programs) = stepping.evaluator.initial_state(), stepping.taking()
        stepper.y[:] = stepping.start
        for k in range(times.size):
            take_steps(stepper, times, lengths, k, k + 1)
            if not np.isfinite(stepper.y).all():
                break
            state.q[:], state.u[:] = stepping.split(stepper.y)
            state.time[0] = times[k] + lengths[k]
            state.counters[STEPS] += 1
        return diagnosis(stepping.evaluator, float(lengths[0]), state, "", stepping.failure)
