"""Contacts that rest push and do not pull: what bounces comes to rest, slides, sticks, rolls, lifts off."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import articulon as ar
from articulon.forces.impacts.impact_memory import MEMORY

G = 9.81
FLOOR = {"shape": "plane", "kind": "floor", "point": (0, 0, 0), "normal": (0, 0, 1)}


def ball(height: float, u: tuple[float, ...] = (0, 0, 0, 0, 0, 0), **law: Any) -> Any:
    R = 0.5
    b = ar.ModelBuilder("kg-m-s")
    b.add_body("ball", mass=1.0, inertia=0.4 * R * R, joint=ar.Free(), q=(0, 0, R + height, 1, 0, 0, 0), u=u)
    b.add_site("ball", kind="steel", radius=R)
    b.add_force(ar.forces.Gravity((0, 0, -G)))
    b.add_force(ar.forces.Impacts(walls=[FLOOR], **law))
    return b.build()


def books(run: Any) -> float:
    """How far T − T₀ is from what the channels have done."""
    return float(np.abs(run.kinetic_energy - run.kinetic_energy[0] - run.works.sum(axis=1)).max())


@pytest.mark.parametrize("e", [0.5, 0.8])
def test_a_bouncing_ball_is_at_rest_when_the_series_says(e: float) -> None:
    """√(2h/g) (1 + e)/(1 − e), less at most 2 v/(g (1 − e)) for the bounces below the resting speed v."""
    slow = 1e-5
    run = ar.simulate(ball(1.0, restitution=e, resting_speed=slow), 6.0, rule="dormand-prince", frames=60)
    memory = run.state.rule.history
    end = np.sqrt(2.0 / G) * (1.0 + e) / (1.0 - e)
    assert end - 2.0 * slow / (G * (1.0 - e)) < memory[MEMORY.latest] < end
    assert memory[MEMORY.resting] == 1
    assert run.q[-1, 2] == pytest.approx(0.5, abs=1e-15)
    assert abs(run.u[-1, 2]) < 1e-15
    assert books(run) < 1e-12 * G


def test_impacts_without_end_are_named() -> None:
    with pytest.raises(ar.DivergenceError, match=r"endless impacts.*'ball' and walls\[0\].*resting_speed"):
        ar.simulate(ball(1.0, restitution=0.5), 6.0, rule="dormand-prince", frames=6)


@pytest.mark.parametrize("rule", [{"rule": "rk4", "step": 0.025}, {"rule": "dormand-prince"}], ids=["rk4", "dp"])
def test_a_sliding_ball_rolls_at_five_sevenths_of_its_speed(rule: dict[str, Any]) -> None:
    """It slows by μ g until 2 u₀/(7 μ g), then rolls; the friction has taken 2/7 of its energy. Parabolas: rounding."""
    mu, u0 = 0.2, 2.0
    model = ball(0.0, u=(1.2, 1.6, 0, 0, 0, 0), restitution=0.0, friction=mu)
    run = ar.simulate(model, 1.0, frames=20, **rule)
    rolls = 2.0 * u0 / (7.0 * mu * G)
    expected = np.where(run.times < rolls, u0 - mu * G * run.times, 5.0 / 7.0 * u0)
    assert np.abs(np.linalg.norm(run.u[:, :3], axis=1) - expected).max() < 1e-12
    assert run.state.work[6] == pytest.approx(-2.0 / 7.0 * 0.5 * u0**2, rel=1e-12)
    assert books(run) < 1e-12


def box_on(slope: float, mu: float) -> Any:
    """A box on four feet on an incline: one foot more than it needs."""
    n = (np.sin(slope), 0, np.cos(slope))
    b = ar.ModelBuilder("kg-m-s")
    turned = (np.cos(slope / 2), 0, np.sin(slope / 2), 0)
    b.add_body("box", mass=2.0, inertia=(0.1, 0.1, 0.1), joint=ar.Free(), q=(0.3 * n[0], 0, 0.3 * n[2], *turned))
    for x in (-0.4, 0.4):
        for y in (-0.4, 0.4):
            b.add_site("box", position=(x, y, -0.2), kind="foot", radius=0.1)
    b.add_force(ar.forces.Gravity((0, 0, -G)))
    b.add_force(ar.forces.Impacts(restitution=0, friction=mu, walls=[{**FLOOR, "normal": n}]))
    return b.build()


@pytest.mark.parametrize(("slope", "mu"), [(0.5, 0.3), (0.5, 0.0), (0.3, 0.5)])
def test_a_box_slides_down_or_sticks_as_coulomb_says(slope: float, mu: float) -> None:
    """a = g (sin α − μ cos α) where tan α > μ, and nothing otherwise."""
    run = ar.simulate(box_on(slope, mu), 1.0, rule="dormand-prince", frames=10)
    a = max(0.0, G * (np.sin(slope) - mu * np.cos(slope)))
    along = np.linalg.norm(run.q[:, :3] - run.q[0, :3], axis=1)
    assert np.abs(along - 0.5 * a * run.times**2).max() < 1e-12
    assert books(run) < 1e-12 * G


def test_what_is_pulled_harder_than_it_weighs_lifts_off() -> None:
    """A weight on its stop under a pull k m g t leaves at 1/k, amid a step, and is then k g (t − 1/k)³/6 above it."""
    k = 2.3
    b = ar.ModelBuilder("kg-m-s")
    b.add_body("weight", mass=2.0, joint=ar.Prismatic(axis=(0, 0, 1)), inertia=1.0)
    b.add_force(ar.forces.Gravity((0, 0, -G)))
    b.add_force(ar.forces.JointLimits(lower={"weight": 0.0}, restitution=0.0))
    b.add_force(ar.forces.JointActuation("weight", times=(0, 2), values=(0, 4 * k * G), interpolation="linear"))
    run = ar.simulate(b.build(), 1.0, rule="rk4", step=0.025, frames=20)
    expected = k * G * np.maximum(run.times - 1.0 / k, 0.0) ** 3 / 6.0
    # The force turns at a time that halving finds to 1e-9 of itself; the error of the height is its cube.
    assert np.abs(run.q[:, 0] - expected).max() < 1e-9
    memory = run.state.rule.history
    assert (memory[MEMORY.rests], memory[MEMORY.lifted], memory[MEMORY.impacts]) == (1, 1, 0)


def rod(mu: float, towards: float) -> Any:
    """A slender rod that slides on its lower end at the angle tan θ = 2, where least friction makes the paradox."""
    L, r, angle = 1.0, 1e-4, np.arctan(2.0)
    b = ar.ModelBuilder("kg-m-s")
    turned = (np.cos(angle / 2), 0, -np.sin(angle / 2), 0)
    height = L * np.sin(angle) + r
    inertia = L * L / 3.0
    b.add_body("rod", mass=1.0, inertia=(1e-3, inertia, inertia), joint=ar.Free(), q=(0, 0, height, *turned),
               u=(towards, 0, 0, 0, 0, 0))  # fmt: skip
    b.add_site("rod", position=(-L, 0, 0), kind="tip", radius=r)
    b.add_force(ar.forces.Gravity((0, 0, -G)))
    b.add_force(ar.forces.Impacts(restitution=0, friction=mu, walls=[FLOOR]))
    return b.build()


def test_the_paradox_of_painleve_is_named() -> None:
    """1 + 3 cos² θ < 3 μ sin θ cos θ, beyond μ = 4/3 at tan θ = 2: no force on the tip keeps it from going through."""
    for towards in (-1.0, 1.0):
        ar.simulate(rod(1.3, towards), 0.01, rule="dormand-prince", frames=2)
    said = []
    for towards in (-1.0, 1.0):
        try:
            ar.simulate(rod(1.4, towards), 0.01, rule="dormand-prince", frames=2)
        except ar.DivergenceError as error:
            said.append(str(error))
    assert len(said) == 1
    assert "Painlevé's paradox: 'rod' and walls[0]" in said[0]
