"""What resists rolling and twisting: spheres that come to rest as the couples say, momentum and books kept."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import articulon as ar
from articulon.dynamics.momenta import momentum

G, R = 9.81, 0.003
MATERIAL = {
    "young": 25e6,
    "poisson": 0.25,
    "static_friction": 0.6,
    "restitution": 0.4,
    "rolling_friction": 0.2,
    "rolling_damping": 0.3,
    "twisting_friction": 2e-4,
    "twisting_stiffness": 1e-3,
    "twisting_damping": 1e-7,
}


def material(law: dict[str, Any]) -> dict[str, float]:
    """With what the law makes use of."""
    return {
        k: v for k, v in MATERIAL.items() if k.split("_")[0] not in ("rolling", "twisting") or k.split("_")[0] in law
    }


# The depth at which a sphere of this material rests: 4/3 E* √R δ^{3/2} = m g.
MASS = 4 / 3 * np.pi * R**3 * 2500.0
DEPTH = (0.75 * MASS * G * (1 - 0.25**2) * 2 / (25e6 * np.sqrt(R))) ** (2 / 3)


def on_a_floor(law: dict[str, Any], **motion: Any) -> ar.Model:
    builder = ar.ModelBuilder(units="kg-m-s")
    builder.add_grain("ball", radius=R, density=2500.0, position=(0, 0, R - DEPTH), **motion)
    builder.add_force(ar.forces.Gravity(acceleration=(0, 0, -G)))
    wall = ar.forces.Plane(point=(0, 0, 0), normal=(0, 0, 1), kind="grain")
    builder.add_force(ar.forces.Contact(materials={"grain": material(law)}, walls=[wall], **law))
    return builder.build()


def balance(run: Any) -> np.ndarray:
    return np.asarray(run.kinetic_energy - run.kinetic_energy[0] - run.works.sum(axis=1))


@pytest.mark.slow
def test_a_rolling_ball_is_slowed_by_its_couple() -> None:
    """μ_r R m g turns against it: m a = F, 2/5 m R² α = −F R − μ_r R m g and a = α R give a = −5/7 μ_r g. The bounds
    are the overlap by the radius, and what the spring takes until it gives way."""
    model = on_a_floor({"rolling": "spring"}, velocity=(0.5, 0, 0), spin=(0, 0.5 / (R - DEPTH), 0))
    run = ar.simulate(model, 0.5, rule="velocity-verlet", step=1e-5, frames=50)
    slowed = 0.5 - 5 / 7 * 0.2 * G * run.times
    rolling = slowed > 0.02
    np.testing.assert_allclose(run.u[rolling, 0], slowed[rolling], atol=2e-3 * 0.5)
    np.testing.assert_allclose(run.u[rolling, 4] * R, slowed[rolling], atol=4e-3 * 0.5)
    assert np.abs(run.u[-1]).max() < 1e-3 * 0.5 / R
    assert np.abs(balance(run)).max() < 1e-9 * run.kinetic_energy.max()


@pytest.mark.slow
def test_a_spinning_ball_is_slowed_by_its_couple() -> None:
    """2/5 m R² α = −μ_t m g about the normal."""
    model = on_a_floor({"twisting": "spring"}, spin=(0, 0, 100.0))
    run = ar.simulate(model, 0.3, rule="velocity-verlet", step=1e-5, frames=30)
    slowed = 100.0 - 2e-4 * G / (0.4 * R**2) * run.times
    turning = slowed > 2.0
    assert 5 < turning.sum() < 30
    np.testing.assert_allclose(run.u[turning, 5], slowed[turning], rtol=5e-3)
    assert abs(run.u[-1, 5]) < 1.0


@pytest.mark.parametrize("law", [{"rolling": "spring"}, {"rolling": "spring", "twisting": "spring"}])
def test_couples_between_spheres_keep_momentum_and_books(law: dict[str, Any]) -> None:
    builder = ar.ModelBuilder(units="kg-m-s")
    places = np.array([[0, 0, 0], [2.001, 0, 0], [1.0, 1.75, 0], [1.0, 0.6, 1.65]]) * R
    rng = np.random.default_rng(5)
    speeds = -40.0 * (places - places.mean(axis=0)) + 0.01 * rng.normal(size=(4, 3))
    builder.add_grains(places, R, density=2500.0, velocities=speeds, spins=50.0 * rng.normal(size=(4, 3)))
    builder.add_force(ar.forces.Contact(materials={"grain": material(law)}, **law))
    model = builder.build()
    run = ar.simulate(model, 4e-3, rule="velocity-verlet", step=1e-6, frames=20)
    found = np.array([momentum(model, q, u) for q, u in zip(run.q, run.u, strict=True)])
    scale = found[:, 6:].max(axis=0)
    assert np.abs(found[:, :3] - found[0, :3]).max() < 1e-13 * scale[0]
    assert np.abs(found[:, 3:6] - found[0, 3:6]).max() < 1e-12 * scale[1]
    kinetic = run.kinetic_energy
    assert kinetic[-1] < 0.9 * kinetic[0]
    assert np.abs(balance(run)).max() < 1e-10 * kinetic.max()
