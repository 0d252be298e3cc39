"""No speed of rotation passes a contact by: times of impact of arms and chains that turn by radians in a step."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.optimize import brentq

import articulon as ar

RULES = [
    {"rule": "rk4", "step": 0.1},
    {"rule": "dormand-prince"},
    {"rule": "kutta-merson"},
    {"rule": "friction-implicit", "step": 0.1},
]
Z = (0, 0, 1)

rules = pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule["rule"])


def met(model: Any, duration: float, rule: dict[str, Any]) -> dict[str, Any]:
    """The impacts of a run without frames on its way."""
    run = ar.simulate(model, duration, frames=1, **rule)
    figures: dict[str, Any] = run.summary["impacts"]
    gain = run.kinetic_energy[-1] - run.kinetic_energy[0]
    assert abs(gain) < 1e-11 * run.kinetic_energy[0]
    return figures


def first_zero(gap: Callable[[Any], Any], duration: float, spacing: float) -> float:
    """The first zero of a gap, a function of an array of times, from samples at a spacing below its variations."""
    times = np.arange(0.0, duration, spacing)
    k = int(np.argmax(gap(times) < 0.0))
    assert k > 0
    return float(brentq(lambda t: float(gap(np.array([t]))[0]), times[k - 1], times[k], xtol=1e-16, rtol=1e-15))


def at_angle(length: float, angle: Any) -> np.ndarray:
    """Points of a plane at a distance from the origin, shape (n, 2)."""
    return length * np.stack([np.cos(angle), np.sin(angle)], axis=-1)


def arm(b: Any, name: str, speed: float, radius: float, at: Any = (0, 0, 0), length: float = 1.0, q: float = 0) -> None:
    """An arm on a hinge of the ground, balanced, with a sphere at its tip."""
    b.add_body(name, mass=1.0, inertia=0.1, joint=ar.Revolute(axis=Z), position=at, u=speed, q=q)
    b.add_site(name, kind=name, position=(length, 0, 0), radius=radius)


def ball(b: Any, x: Any, v: Any, radius: float) -> None:
    b.add_body("ball", mass=0.01, inertia=1e-6, joint=ar.Free(), q=(*x, 1, 0, 0, 0), u=(*v, 0, 0, 0))
    b.add_site("ball", kind="ball", radius=radius)


@pytest.mark.parametrize("speed", [10.0, 40.0, 314.0, 5000.0])
@rules
def test_an_arm_that_swings_hits_the_ball_on_its_way(rule: dict[str, Any], speed: float) -> None:
    """The centres are 2 r apart when the arm is 2 asin(r/l) before the ball; up to 80 turns in a step of 0.1."""
    b = ar.ModelBuilder("kg-m-s")
    arm(b, "arm", speed, 0.05)
    ball(b, (np.cos(2.5), np.sin(2.5), 0.0), (0, 0, 0), 0.05)
    b.add_force(ar.forces.Impacts())
    found = met(b.build(), 0.3, rule)
    assert found["impacts"] >= 1
    # The largest impulse is that of the first impact, by which the arm loses speed.
    time = (2.5 - 2.0 * np.arcsin(0.05)) / speed
    assert found["largest_impulse_time"] == pytest.approx(time, abs=1e-12 / speed**0.5, rel=1e-12)
