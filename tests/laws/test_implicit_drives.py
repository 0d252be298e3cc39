"""Drives that resist speeds, in friction-implicit steps: the equation of a step, its order, its books."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import articulon as ar
from articulon.integrate import FrictionImplicit
from articulon.model import CHANNELS
from articulon.model.state import EXTERNAL
from tests.support.resisting_models import DAMPED, RUBBED, assert_second_order, four_bar, pendulum
from tests.support.running import Running

X = (1.0, 0.0, 0.0)
SLIDES = 5


def sliders(rng: np.random.Generator, *forces: Any) -> ar.Model:
    """Slides that carry each other: a constant mass matrix that is far from a diagonal, and no velocity products. Each
    has a drive whose limits are near what it does."""
    b = ar.ModelBuilder("kg-m-s")
    for k in range(SLIDES):
        carried = {"parent": f"slide{k - 1}"} if k else {}
        at = {"q": rng.normal(), "u": 2.0 * rng.normal()}
        b.add_body(f"slide{k}", mass=rng.uniform(0.2, 3.0), joint=ar.Prismatic(axis=X), **carried, **at)
        limits = {"max_torque": rng.uniform(0.5, 5.0), "max_speed": rng.uniform(0.5, 2.0)}
        numbers = {"stiffness": 10.0 ** rng.uniform(0, 2), "damping": 10.0 ** rng.uniform(-1, 4)}
        band = limits["max_speed"] * rng.uniform(0.01, 1.0)
        places = {"times": (0.0, 10.0), "positions": (0.0, rng.normal()), "speeds": (rng.normal(), 2.0 * rng.normal())}
        b.add_force(
            ar.forces.JointDrive(f"slide{k}", **places, interpolation="linear", **numbers, **limits, speed_band=band)
        )
    for force in forces:
        b.add_force(force)
    return b.build()


@pytest.mark.parametrize("rubbed", [False, True])
@pytest.mark.parametrize("seed", range(12))
def test_a_step_solves_for_the_torques_at_its_middle(seed: int, rubbed: bool) -> None:
    """M Δu = h τ(q + h/2 u, t + h/2, ū), ū = u + Δu/2, to rounding: with corners of limits on every joint, damping that
    one step outlasts by far, and Coulomb friction; and T − T₀ = ΣW."""
    rng, h = np.random.default_rng([seed, 5]), 0.3
    more = (ar.forces.JointFriction(translational=0.4, translational_speed=0.05),) if rubbed else ()
    model = sliders(rng, *more)
    run = Running(model, FrictionImplicit(step=h))
    q, u, M = run.q.copy(), run.u.copy(), ar.mass_matrix(model, run.q)
    for k in range(3):
        run.to(h * (k + 1))
        middle = 0.5 * (u + run.u)
        tau = ar.generalized_forces(model, q + 0.5 * h * u, middle, None, time=h * (k + 0.5))
        size = np.abs(tau).max() + np.abs(M @ (run.u - u)).max() / h
        assert M @ (run.u - u) == pytest.approx(h * tau, abs=1e-9 * h * size), k
        q, u = run.q.copy(), run.u.copy()
    assert abs(run.imbalance()) <= 1e-11 * (run.start_kinetic + np.abs(run.state.work).sum())
    assert run.state.work[EXTERNAL] != 0.0


TIMES = np.linspace(0.0, 1.0, 6)
FOLLOWED: dict[str, Any] = {"times": TIMES, "positions": np.sin(2.0 * TIMES), "stiffness": 4.0, "damping": 3.0}


@pytest.mark.parametrize(
    "model",
    [
        pendulum(
            ar.forces.JointDrive("hand", **FOLLOWED),
            ar.forces.JointDrive("upper", component=1, speeds=0.5, damping=2.0),
        ),
        pendulum(ar.forces.JointDrive("lower", speeds=9.0, damping=40.0, max_torque=1.0, max_speed=8, speed_band=8)),
        pendulum(ar.forces.JointDrive("hand", **FOLLOWED), *DAMPED, *RUBBED, drag=0.0),
        four_bar(ar.forces.JointDrive("crank", **FOLLOWED)),
    ],
    ids=["positions and speeds", "a direct-current motor", "with friction of joints", "in a loop"],
)
def test_steps_are_of_second_order(model: ar.Model) -> None:
    assert_second_order(model)


def test_no_step_is_too_long_for_a_damper() -> None:
    """u − u_d shrinks by |1 − x|/(1 + x), x = d h/2 I, in every step: never by less than all of it."""
    h, d, inertia = 0.5, 1e4, 0.5
    b = ar.ModelBuilder("kg-m-s")
    b.add_body("disc", mass=2.0, inertia=inertia, joint=ar.Revolute(axis=(0, 0, 1)), u=5.0)
    b.add_force(ar.forces.JointDrive("disc", speeds=2.0, damping=d))
    run, x = ar.simulate(b.build(), 20.0, rule="friction-implicit", step=h, frames=40), 0.5 * d * h / inertia
    assert run.u[:, 0] - 2.0 == pytest.approx(3.0 * ((1.0 - x) / (1.0 + x)) ** np.arange(41), abs=1e-9)
    work = np.asarray(run.works)[:, CHANNELS.index("external")]
    assert work == pytest.approx(run.kinetic_energy - run.kinetic_energy[0], abs=1e-10 * run.kinetic_energy[0])
