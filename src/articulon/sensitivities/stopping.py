"""Where a run stops before its time: when a body's centre of mass has come as far as it is to.

The last step is so short that φ, how far it is beyond that, is zero at its end. With its length changes what the run
ends with, so that the time T has the derivative −(∂φ/∂p)/φ' and an objective J(T) the derivative ∂J/∂p − J' (∂φ/∂p)/φ',
where primes are derivatives by the length of the last step.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from articulon.cases.schema import Stop
from articulon.errors import CaseError
from articulon.model import Model
from articulon.sensitivities.adjoint_steps import advance_steps, scratch
from articulon.sensitivities.objectives import centre, pulled

PART = 1e-3
"""Of a step, over which the last one is differenced, to fourth order."""


@dataclass(frozen=True)
class Passage:
    """Where a run stops."""

    model: Model
    """What is run."""
    body: int
    """The body that is watched."""
    direction: np.ndarray
    """Unit vector, world frame, shape (3,)."""
    advance: float
    """How far its centre of mass is to come [length]."""
    times: tuple[np.ndarray, np.ndarray]
    """Times at which the steps begin, and their lengths, the last one cut short [time]."""
    step: Callable[[float], np.ndarray]
    """The end (nq + nu,) of a last step of another length [time]."""
    whole: float
    """Its length if it were not cut short [time]."""

    def beyond(self, model: Model, q: np.ndarray) -> float:
        """φ: how far the body of a model is beyond where it is to come, from its initial place [length]."""
        way = centre(model, q, self.body)[0] - centre(model, model.q0, self.body)[0]
        return float(self.direction @ way) - self.advance

    def along(self, q: np.ndarray) -> np.ndarray:
        """Derivative of its way by the coordinates, in their tangent space (nu,)."""
        return pulled(self.model, q, [(self.body, centre(self.model, q, self.body)[1], self.direction)])

    def rate(self, function: Callable[[np.ndarray], float]) -> float:
        """Derivative of a function of the end (nq + nu,) by the length of the last step."""
        h, length = PART * self.whole, float(self.times[1][-1])
        near, far = (function(self.step(length + k * h)) - function(self.step(length - k * h)) for k in (1, 2))
        return (8.0 * near - far) / (12.0 * h)

    @property
    def rate_of_stop(self) -> float:
        """φ'."""
        return self.rate(lambda y: self.beyond(self.model, y[: self.model.nq]))


def passage_of(
    model: Model, stop: Stop, start: np.ndarray, times: tuple[np.ndarray, np.ndarray], common: tuple[Any, ...]
) -> Passage:
    """Where a run stops, whose steps begin at ``times`` and are so long; raises CaseError where it does not."""
    from scipy.optimize import brentq

    rhs, tableau, quaternion = common
    arrays, y = scratch(start.size, tableau), start.copy()
    body, direction = model.body(stop.body), np.array([float(x) for x in stop.direction])
    direction /= np.linalg.norm(direction)
    begins, lengths = times

    def stepped(k: int, h: float) -> np.ndarray:
        arrays.y[:] = y
        one = begins[k : k + 1].copy(), np.array([h])
        advance_steps(rhs, tableau, quaternion, *one, 0, 1, arrays)
        return arrays.y.copy()

    for k in range(begins.size):
        passage = Passage(
            model,
            body,
            direction,
            float(stop.advance),
            (begins[: k + 1], lengths[: k + 1].copy()),
            lambda h, k=k: stepped(k, h),  # type: ignore[misc]
            float(lengths[k]),
        )
        end = stepped(k, float(lengths[k]))

        def beyond(h: float, passage: Passage = passage) -> float:
            return passage.beyond(model, passage.step(h)[: model.nq])

        if passage.beyond(model, end[: model.nq]) >= 0.0:
            tiny = 1e-14 * float(lengths[k])
            passage.times[1][-1] = brentq(beyond, 0.0, float(lengths[k]), xtol=tiny, rtol=1e-14)
            return passage
        y[:] = end
    raise CaseError(
        f"sensitivity: stop.advance: '{stop.body}' does not come so far before the run ends; let it last longer, or "
        "give a shorter way"
    )
