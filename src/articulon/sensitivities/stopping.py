"""Early end of a run: a body has advanced by a distance, or two bodies are near each other.

Let φ be the length by which the condition is exceeded. The last step is shortened so that φ = 0 at its end. The
final state depends on the length of this step. With respect to a parameter p, the final time T has the derivative
−(∂φ/∂p)/φ', and an objective J at time T has the derivative ∂J/∂p − J' (∂φ/∂p)/φ'. Primes are derivatives with respect
to the length of the last step.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from articulon.cases.schema import Stop
from articulon.dynamics.motion_passes import place_links
from articulon.errors import CaseError
from articulon.integrate.stop_conditions import Advance, StopCondition, stop_of
from articulon.model import Model, kernel_tables
from articulon.passes import Program
from articulon.sensitivities.objectives import pulled_centres
from articulon.sensitivities.stepping import Stepping, take_steps, take_until

PART = 1e-3
"""Step of the fourth-order differences with respect to the length of the last time step, as a fraction of a full
step."""
SHORTEST = 1e-14
"""Shortest last step, and the largest error of its length, as a fraction of a full step."""


@dataclass(frozen=True)
class Passage:
    """The point at which a run stops early, and its last step."""

    model: Model
    """Model that is run."""
    condition: StopCondition
    """Condition that ends the run."""
    times: tuple[np.ndarray, np.ndarray]
    """Start times and lengths of the steps, with the last step shortened [time]."""
    step: Callable[[float], np.ndarray]
    """Function that returns the state (ny,) at the end of a last step of a given length [time]."""
    whole: float
    """Full length of the last step [time]."""
    programs: Sequence[Program]
    """Programs that ``step`` runs."""

    def beyond(self, model: Model, q: np.ndarray) -> float:
        """Return φ for a model at coordinates (nq,), counted from its own initial coordinates [length]."""
        return self.condition.started(model, model.q0).beyond(model, q)

    def along(self, q: np.ndarray) -> np.ndarray:
        """Return the derivative of φ with respect to the coordinates, in their tangent space (nu,)."""
        return pulled_centres(self.model, q, self.condition.pulls(self.model, q))

    def along_start(self, q: np.ndarray) -> np.ndarray:
        """Return minus the derivative of φ with respect to the initial coordinates, from which an advance is counted,
        in their tangent space (nu,)."""
        return self.along(q) if isinstance(self.condition, Advance) else np.zeros(self.model.nu)

    def rate(self, function: Callable[[np.ndarray], float]) -> float:
        """Return the derivative of a function of the final state (ny,) with respect to the length of the last step."""
        h, length = PART * self.whole, float(self.times[1][-1])
        near, far = (function(self.step(length + k * h)) - function(self.step(length - k * h)) for k in (1, 2))
        return (8.0 * near - far) / (12.0 * h)

    @property
    def rate_of_stop(self) -> float:
        """Derivative φ' of φ with respect to the length of the last step."""
        return self.rate(lambda y: self.beyond(self.model, y[: self.model.nq]))


def passage_of(stepping: Stepping, stop: Stop) -> Passage:
    """Find the point at which a run stops early; raises CaseError if the run does not stop early."""
    from scipy.optimize import brentq

    model, (begins, lengths) = stepping.model, stepping.times
    condition = stop.condition(model, "stop", stepping.evaluator.sites.cell)
    stepper, _programs = stepping.taking()
    ws = stepping.evaluator.ws
    before = stepping.start.copy()
    looking = Program([place_links.bind(kernel_tables(model).forest, stepper.y[: model.nq], ws)])
    stepper.y[:] = stepping.start
    last = int(
        take_until(stepper, looking.code, stop_of(model, condition, ws), ws, begins, lengths, 0, begins.size, before)
    )
    if last == begins.size:
        raise CaseError(
            f"sensitivity: stop.advance: '{stop.body}' does not advance so far before the run ends; choose a longer "
            "duration, or a shorter distance"
            if stop.to is None
            else f"sensitivity: stop.distance: '{stop.body}' does not come so near to '{stop.to}' before the run ends; "
            "choose a longer duration, or a larger distance"
        )

    def stepped(h: float) -> np.ndarray:
        cut = lengths[: last + 1].copy()
        stepper.y[:], cut[last] = before, h
        take_steps(stepper, begins, cut, last, last + 1)
        return stepper.y.copy()

    whole, times = float(lengths[last]), (begins[: last + 1], lengths[: last + 1].copy())
    passage = Passage(model, condition, times, stepped, whole, _programs)

    def beyond(h: float) -> float:
        return passage.beyond(model, passage.step(h)[: model.nq])

    if beyond(whole) > 0.0:  # otherwise the step ends exactly at the stop
        least = SHORTEST * whole  # the step before may have ended at the stop, to rounding
        times[1][-1] = brentq(beyond, 0.0, whole, xtol=least, rtol=1e-14) if beyond(0.0) < 0.0 else least
    return passage
