"""Quantities at a decision on which conditions depend. The lockable joints and modes are called *parts*
(``lockable.py``)."""

from collections.abc import Callable

import numpy as np

from articulon.adaptive.lockable import Joints
from articulon.adaptive.momentum_exchange import Space
from articulon.forces.evaluation import Evaluator
from articulon.model import State
from articulon.model.state import WINDOW

STREAM = 11
"""Random number stream of the decisions."""


class DecisionState:
    """A state at a decision. Each quantity that conditions need is computed at most once.

    Parameters
    ----------
    evaluator
        Forces of the fine model.
    joints
        Parts of the model.
    state
        The fine state.
    number
        Number of the decision.
    every
        Time between decisions [time].
    seed
        Seed of the run.
    space
        Function of a truth value. It returns the space of the current motions for True, and the space of all motions of
        the model for False.
    changed
        Function that returns the time of the last change of each part [time], shape (parts,).
    """

    def __init__(
        self,
        evaluator: Evaluator,
        joints: Joints,
        state: State,
        number: int,
        every: float,
        seed: int,
        space: Callable[[bool], Space],
        changed: Callable[[], np.ndarray],
    ) -> None:
        self.space, self.changed = space, changed
        self.evaluator, self.joints, self.state = evaluator, joints, state
        self.every, self.time = every, number * every
        self.random = np.random.Generator(np.random.Philox(key=np.array([seed, STREAM]), counter=[0, 0, number, 0]))
        self._rates: np.ndarray | None = None

    def sizes(self, values: np.ndarray) -> np.ndarray:
        """Return the norm of a vector over the speeds of each joint and mode, shape (parts,). The vector has a value
        for every speed of the model."""
        return np.sqrt(np.bincount(self.joints.u, values * values, minlength=self.joints.degrees_of_freedom.size))

    def rates(self) -> np.ndarray:
        """Accelerations u' if every joint were free, shape (nu,)."""
        if self._rates is None:
            e, state = self.evaluator, self.state
            y = e.variables(state)
            dy = np.empty_like(y)
            e.rates(state.factor, float(state.time[0]), int(state.counters[WINDOW]), y, dy)
            self._rates = dy[e.model.nq : e.model.nq + e.model.nu]
        return self._rates
