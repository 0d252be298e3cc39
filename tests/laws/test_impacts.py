"""Impacts as events: a ball comes back as high as it should, and balls, trees and stops do what their laws say."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import articulon as ar

G = 9.81
FLOOR = {"shape": "plane", "kind": "floor", "point": (0, 0, 0), "normal": (0, 0, 1)}
RULES = [{"rule": "rk4", "step": 0.05}, {"rule": "dormand-prince"}]


def ball(height: float = 1.0, **law: Any) -> Any:
    b = ar.ModelBuilder("kg-m-s")
    b.add_body("ball", mass=1.0, inertia=0.1, joint=ar.Free(), q=(0, 0, 0.5 + height, 1, 0, 0, 0))
    b.add_site("ball", kind="steel", radius=0.5)
    b.add_force(ar.forces.Gravity((0, 0, -G)))
    b.add_force(ar.forces.Impacts(walls=[FLOOR], **law))
    return b.build()


def bounced(height: float, e: float, time: float) -> float:
    """Height of a ball that is dropped, above where it touches."""
    flight, speed = np.sqrt(2.0 * height / G), np.sqrt(2.0 * height * G)
    if time < flight:
        return height - 0.5 * G * time**2
    while True:
        speed *= e
        if time < flight + 2.0 * speed / G:
            since = time - flight
            return speed * since - 0.5 * G * since**2
        flight += 2.0 * speed / G


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule["rule"])
def test_a_ball_bounces_as_the_closed_form_says(rule: dict[str, Any]) -> None:
    """Rules of order four follow a parabola exactly, so all that is left is rounding, bounce after bounce."""
    run = ar.simulate(ball(restitution=0.8), 3.0, frames=30, **rule)
    exact = [0.5 + bounced(1.0, 0.8, time) for time in run.times]
    assert np.abs(run.q[:, 2] - exact).max() < 1e-13
    # The books: what impacts took is the loss ½ m (1 − e²) v² of each, and T − T₀ = ΣW.
    lost = sum(0.5 * (1.0 - 0.64) * 2.0 * G * 0.64**k for k in range(6))
    assert run.state.work[6] == pytest.approx(-lost, rel=1e-13)
    assert np.abs(run.kinetic_energy - run.kinetic_energy[0] - run.works.sum(axis=1)).max() < 1e-12 * G
