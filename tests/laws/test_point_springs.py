"""Springs between points: forces are the gradient of their energy, damping takes what it takes along the line, and what
acts between bodies changes no momentum."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import articulon as ar
from articulon.dynamics.momenta import momentum
from articulon.dynamics.multibody_functions import moved


def two_trees(**spring: Any) -> Any:
    builder = ar.ModelBuilder(units="kg-m-s")
    builder.add_body(
        "base", joint=ar.Free(), mass=2.0, inertia=(0.2, 0.3, 0.4), com=(0.1, 0.0, -0.2),
        q=(0.3, -0.2, 0.5, 0.5, 0.5, -0.5, 0.5), u=(0.3, 0.2, -0.1, 1.0, -2.0, 0.5),
    )  # fmt: skip
    builder.add_body(
        "arm", parent="base", joint=ar.Revolute(axis=(1, 2, 0)), mass=1.0, inertia=0.1, com=(0.0, 0.2, 0.0),
        position=(0.4, 0.1, 0.0), q=0.7, u=3.0,
    )  # fmt: skip
    builder.add_body("pad", parent="arm", joint=ar.Weld(), mass=0.5, inertia=0.1, position=(0.1, 0.0, 0.2))
    builder.add_body("bob", joint=ar.Xyz(), mass=1.5, q=(1.0, 1.0, -1.0), u=(-1.0, 0.4, 1.2))
    builder.add_force(ar.forces.PointSpring(**spring))
    return builder.build()


BETWEEN = {"bodies": ("pad", "bob"), "points": ((0.1, 0.2, -0.1), (0, 0, 0)), "stiffness": 40.0}
TO_GROUND = {"bodies": ("ground", "pad"), "points": ((1.0, -1.0, 2.0), (0.1, 0.2, -0.1)), "stiffness": 40.0}
both = pytest.mark.parametrize("spring", [BETWEEN, TO_GROUND], ids=["two bodies", "ground"])


@both
@pytest.mark.parametrize("rest_length", [0.0, 0.6])
def test_force_is_minus_the_gradient_of_the_energy(spring: dict[str, Any], rest_length: float) -> None:
    model = two_trees(**spring, rest_length=rest_length)
    forces = ar.generalized_forces(model, model.q0, model.u0)
    h = 1e-3
    for k, direction in enumerate(np.eye(model.nu)):
        E = [ar.potential_energy(model, moved(model, model.q0, s * h * direction)) for s in (-2, -1, 1, 2)]
        slope = (8.0 * (E[2] - E[1]) - (E[3] - E[0])) / (12.0 * h)
        # The difference errs by h⁴/30 of the fifth derivative, and by rounding over h.
        assert abs(forces[k] + slope) <= 1e-10 * E[0], k


def length(model: Any, q: np.ndarray) -> float:
    x, e = ar.body_poses(model, q)
    pad, bob = model.body("pad"), model.body("bob")
    w, v, p = e[pad, 0], e[pad, 1:], np.array(BETWEEN["points"][0])
    end = x[pad] + p + 2.0 * np.cross(v, np.cross(v, p) + w * p)
    return float(np.linalg.norm(x[bob] - end))


def test_damping_takes_the_power_of_the_rate_of_its_length() -> None:
    c, h = 0.7, 1e-4
    model = two_trees(**BETWEEN, damping=c)
    damping = ar.generalized_forces(model, model.q0, model.u0, ["damping"])
    r = [length(model, moved(model, model.q0, model.u0, s * h)) for s in (-2, -1, 1, 2)]
    rate = (8.0 * (r[2] - r[1]) - (r[3] - r[0])) / (12.0 * h)
    assert abs(rate) > 0.1
    assert damping @ model.u0 == pytest.approx(-c * rate**2, rel=1e-9)


def test_what_acts_between_bodies_changes_no_momentum() -> None:
    model = two_trees(**BETWEEN, rest_length=0.5, damping=0.7)
    udot = ar.forward_dynamics(model, model.q0, model.u0, ar.generalized_forces(model, model.q0, model.u0))
    at = [
        momentum(model, moved(model, model.q0, model.u0 + 0.5 * t * udot, t), model.u0 + t * udot)
        for t in (-1e-4, 1e-4)
    ]
    start = momentum(model, model.q0, model.u0)
    np.testing.assert_allclose((at[1] - at[0])[:6] / 2e-4, 0.0, atol=1e-5 * start[6:].max())


def test_momenta_of_a_rigid_motion_give_twice_its_energy() -> None:
    """P·v + L·ω = 2 T about the same point."""
    builder = ar.ModelBuilder(units="kg-m-s")
    builder.add_body(
        "body", joint=ar.Free(), mass=2.0, inertia=(0.2, 0.3, 0.4), com=(0.1, 0.0, -0.2),
        u=(0.3, 0.2, -0.1, 1.0, -2.0, 0.5),
    )  # fmt: skip
    model = builder.build()
    found = momentum(model, model.q0, model.u0)
    assert found[:6] @ model.u0 == pytest.approx(2.0 * ar.kinetic_energy(model, model.q0, model.u0), rel=1e-14)
    np.testing.assert_allclose(found[6:], [np.linalg.norm(found[:3]), np.linalg.norm(found[3:6])], rtol=1e-14)


@pytest.mark.parametrize(
    "wrong, said",
    [
        ({"bodies": ("pda", "bob")}, r"forces\[0\]\.bodies\[0\]: there is no body 'pda'; did you mean 'pad'"),
        ({"bodies": ("arm", "pad")}, r"forces\[0\]\.bodies: 'arm' and 'pad' do not move relative to each other"),
        ({"stiffness": -1.0}, r"forces\[0\]\.stiffness: must be at least 0"),
        ({"rest_length": "3 s"}, r"forces\[0\]\.rest_length: expected a length"),
    ],
)
def test_springs_that_cannot_be_are_refused_by_their_key(wrong: dict[str, Any], said: str) -> None:
    with pytest.raises(ar.ArticulonError, match=said):
        two_trees(**{**BETWEEN, **wrong})
