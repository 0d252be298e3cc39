"""The spring by which a person pulls on a body, against the spring between a point and the ground."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import articulon as ar
from articulon.forces.evaluation import Evaluator, own_forces
from articulon.forces.selection import on_link
from articulon.forces.spring_pull import Pull, SpringPull
from articulon.model import Model
from articulon.model.array_rotations import matrices

POINT, TARGET = np.array([0.1, 0.2, -0.4]), np.array([0.5, -0.3, 0.7])
STIFFNESS, DAMPING = 3.5, 0.6


@pytest.fixture(scope="module")
def model() -> Model:
    """Two rods that turn all ways, of which the second is pulled on."""
    builder = ar.ModelBuilder(units="kg-m-s")
    turned = {"q": (0.8, 0.6, 0.0, 0.0), "u": (0.3, -0.2, 0.5)}
    first = builder.add_body(
        "first", mass=1.0, inertia=(0.1, 0.2, 0.3), com=(0, 0, -0.5), joint=ar.Spherical(), **turned
    )
    builder.add_body(
        "second", parent=first, position=(0, 0, -1), mass=2.0, inertia=(0.2, 0.2, 0.1), joint=ar.Spherical()
    )
    return builder.build()


def pulled(model: Model, stiffness: float, damping: float) -> Evaluator:
    """The model with the spring on its second body."""
    evaluator = Evaluator(replace(model, forces=(SpringPull(),)))
    ((_, table),) = evaluator.system.forces.terms
    assert isinstance(table, Pull)
    table.link[0], table.local[0], table.target[0] = model.link[1], on_link(model, 1, POINT), TARGET
    table.constants[0] = stiffness, damping
    return evaluator


def test_its_force_is_that_of_a_spring_to_the_ground_and_external(model: Model) -> None:
    spring = ar.forces.PointSpring(bodies=("second", "ground"), points=(POINT, TARGET), stiffness=STIFFNESS)
    expected = ar.generalized_forces(replace(model, forces=(spring,)), model.q0, model.u0)
    evaluator = pulled(model, STIFFNESS, 0.0)
    assert own_forces(evaluator, model.q0, model.u0) == pytest.approx(expected, abs=1e-13)
    assert not own_forces(evaluator, model.q0, model.u0, channels={"potential", "damping"}).any()
    assert np.abs(expected).max() > 0.1


def test_its_damping_takes_the_power_of_the_point(model: Model) -> None:
    """u·τ = −c v², v being how the point moves with the coordinates."""
    tau = own_forces(pulled(model, 0.0, DAMPING), model.q0, model.u0)

    def place(q: np.ndarray) -> np.ndarray:
        positions, rotations = ar.body_poses(model, q)
        return np.asarray(positions[1] + matrices(rotations[1][None])[0] @ POINT)

    # q' of Euler parameters e is ½ e ∘ (0, ω).
    w, x, y, z = model.q0[:4]
    a, b, c = model.u0[:3]
    rate = np.zeros(model.nq)
    rate[:4] = 0.5 * np.array(
        [-x * a - y * b - z * c, w * a + y * c - z * b, w * b + z * a - x * c, w * c + x * b - y * a]
    )
    small = 1e-6
    velocity = (place(model.q0 + small * rate) - place(model.q0 - small * rate)) / (2.0 * small)
    assert model.u0 @ tau == pytest.approx(-DAMPING * velocity @ velocity, rel=1e-8)


def test_it_pulls_on_nothing_until_somebody_pulls(model: Model) -> None:
    evaluator = Evaluator(replace(model, forces=(SpringPull(),)))
    assert not own_forces(evaluator, model.q0, model.u0).any()
