"""Models of the force and integrator tests, and a thin hand on the drivers."""

from __future__ import annotations

from typing import Any

import numpy as np

import articulon as ar
from articulon.forces.evaluation import Evaluator
from articulon.integrate import Integrator
from articulon.integrate.choice import driver
from articulon.integrate.problem import Problem
from articulon.integrate.status import REACHED
from articulon.model.state import CHANNELS, STEPS, WINDOW
from articulon.scaling import NoScaling

WHOLE = 10**9
"""More steps than any test takes."""


class Running:
    """A model under an integrator: a state that is advanced, and what is read off it."""

    def __init__(
        self,
        model: Any,
        integrator: Integrator,
        *,
        seed: int = 0,
        window: float = 1.0,
        average: int = 1,
        policy: Any = None,
        damping: float = 1.0,
        q: np.ndarray | None = None,
        u: np.ndarray | None = None,
    ) -> None:
        policy = NoScaling() if policy is None else policy
        self.model = model
        self.evaluator = Evaluator(model, seed, window, average)
        problem = Problem(self.evaluator, integrator, policy, damping)
        self.driver = driver(problem, model.initial_state())
        listed = self.evaluator.sites.listed
        self.state = model.initial_state(self.driver.history, memory=self.driver.memory, listed=listed)
        if q is not None:
            self.state.q[:] = q
        if u is not None:
            self.state.u[:] = u
        self.start_kinetic = self.kinetic_energy()
        self.start_energies = self.energies()

    def to(self, until: float) -> Running:
        """Advances to a time, which must be reached."""
        assert self.driver.advance(self.state, until, WHOLE) == REACHED
        return self

    def in_window(self, window: int) -> Running:
        """Moves a friction-implicit or a fresh run to the start of a numbered window of noise."""
        self.state.counters[WINDOW] = window
        return self

    @property
    def q(self) -> np.ndarray:
        return self.state.q

    @property
    def u(self) -> np.ndarray:
        return self.state.u

    @property
    def steps(self) -> int:
        return int(self.state.counters[STEPS])

    def work(self, channel: str) -> float:
        return float(self.state.work[CHANNELS.index(channel)])

    def kinetic_energy(self) -> float:
        return ar.kinetic_energy(self.model, self.state.q, self.state.u)

    def energies(self) -> np.ndarray:
        """Energy functions by channel, unscaled, shape (8,)."""
        return self.evaluator.energies(self.state.q)

    def imbalance(self) -> float:
        """T − T₀ − ΣW (Guy 2018, 5.18)."""
        return self.kinetic_energy() - self.start_kinetic - float(self.state.work.sum())


def momenta(model: Any, q: np.ndarray, u: np.ndarray) -> np.ndarray:
    """p = M u, from inverse dynamics at rest: no mass matrix of the whole forest is formed."""
    return ar.inverse_dynamics(model, q, np.zeros_like(u), u)


def turned(e: np.ndarray, rotation: np.ndarray) -> np.ndarray:
    """Euler parameters (n, 4) after the body-frame rotation vectors (n, 3)."""
    angle = np.linalg.norm(rotation, axis=-1, keepdims=True)
    half = 0.5 * np.sinc(0.5 * angle / np.pi) * rotation
    w, v = e[..., :1], e[..., 1:]
    c = np.cos(0.5 * angle)
    scalar = w * c - (v * half).sum(axis=-1, keepdims=True)
    return np.concatenate([scalar, w * half + c * v + np.cross(v, half)], axis=-1)


def body_axes(e: np.ndarray) -> np.ndarray:
    """Columns of the rotation matrices of Euler parameters (n, 4): [..., :, k] is the body's axis k in the world."""
    w, v = e[..., 0], e[..., 1:]
    outer = 2.0 * v[..., :, None] * v[..., None, :]
    x, y, z = v[..., 0], v[..., 1], v[..., 2]
    zero = np.zeros_like(w)
    skew = np.stack([zero, -z, y, z, zero, -x, -y, x, zero], axis=-1).reshape(*w.shape, 3, 3)
    return (w * w - (v * v).sum(axis=-1))[..., None, None] * np.eye(3) + outer + 2.0 * w[..., None, None] * skew
