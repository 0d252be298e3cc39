"""Derivatives of whole runs by turns of joint frames, against runs of models whose frames are turned.

Differences of fourth order with the step h err by h⁴ f⁽⁵⁾/30, f⁽⁵⁾ some 1e5 for forces between sites, and by rounding
of f over h: with h = 3e-4 both are below 1e-9 of the largest derivative.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import articulon as ar
from articulon.model import kernel_tables
from articulon.model.array_rotations import exponentials, quaternion_product, rotation_vectors
from articulon.model.joints import WELD
from tests.support.forced_models import dragged_model, resisted_model

STEP, BOUND = 3e-4, 1e-9


def model_for(rule: str, seed: int) -> ar.Model:
    """A random forest under forces that a rule takes."""
    return resisted_model(seed) if rule in ("rk4", "velocity-verlet") else dragged_model(seed)


def turned(model: ar.Model, body: int, vector: np.ndarray) -> ar.Model:
    """The model with the joint frame of a body turned in its parent's frame."""
    tables, link, parent = kernel_tables(model), int(model.link[body]), int(model.parents[body])
    turn = exponentials(vector)
    if parent >= 0:  # which may be welded to its link
        e = model.offset_rotation[parent]
        turn = quaternion_product(quaternion_product(e, turn), e * np.array([1.0, -1.0, -1.0, -1.0]))
    rotation = tables.forest.rotation.copy()
    rotation[link] = quaternion_product(turn, rotation[link])
    return replace(model, _tables=tables._replace(forest=tables.forest._replace(rotation=rotation)))


@pytest.mark.parametrize(
    ("rule", "seed"),
    [("rk4", 3), ("velocity-verlet", 3), ("friction-implicit", 1), ("friction-implicit", 5), ("overdamped", 1)],
)
def test_derivatives_by_turns_of_joint_frames_are_differences_of_runs(rule: str, seed: int) -> None:
    model, step = model_for(rule, seed), 0.002 if rule == "overdamped" else 0.02
    run: dict[str, Any] = {"rule": rule, "step": step, "seed": 7}
    weights = np.random.default_rng([seed, 3]).normal(size=model.nq + model.nu)
    weights[model.nq :] *= rule != "overdamped"  # whose speeds mean nothing
    of_q, of_u = weights[: model.nq], weights[model.nq :]

    def objective(q: np.ndarray, u: np.ndarray) -> Any:
        return of_q @ q + of_u @ u, of_q, of_u

    def value(model: ar.Model) -> float:
        end = ar.simulate(model, 10.0 * step, **run)
        return float(of_q @ end.q[-1] + of_u @ end.u[-1])

    bodies = np.flatnonzero(model.kinds != WELD)
    names = [f"bodies.{model.names[body]}.rotation" for body in bodies]
    found = ar.sensitivity(model, objective, names, duration=10.0 * step, **run)
    forward = ar.sensitivity(model, objective, names, "forward", duration=10.0 * step, **run)
    for body, name in zip(bodies, names, strict=True):
        expected = np.zeros(3)
        for k, axis in enumerate(np.eye(3)):
            at = {s: value(turned(model, body, s * STEP * axis)) for s in (-2, -1, 1, 2)}
            expected[k] = (8.0 * (at[1] - at[-1]) - (at[2] - at[-2])) / (12.0 * STEP)
        size = 1.0 + np.abs(expected).max()
        assert np.abs(found.gradient[name] - expected).max() <= BOUND * size, name
        assert np.abs(found.gradient[name] - forward.gradient[name]).max() <= 1e-12 * size, name
    assert max(np.abs(found.gradient[name]).max() for name in names) > 1e-2


def test_rotation_vectors_are_those_of_their_exponentials() -> None:
    """Up to half a turn, and of Euler parameters of either sign."""
    rng = np.random.default_rng(5)
    vectors = rng.normal(size=(40, 3))
    vectors *= rng.uniform(0.0, np.pi, size=(40, 1)) / np.linalg.norm(vectors, axis=1, keepdims=True)
    vectors[0] = 0.0
    e = exponentials(vectors)
    frames = exponentials(rng.normal(size=(40, 3)))
    others = quaternion_product(e, frames) * np.where(np.arange(40) % 2, 1.0, -1.0)[:, None]
    assert np.abs(rotation_vectors(others, of=frames) - vectors).max() <= 1e-14 * 20.0


def test_bodies_without_a_joint_frame_of_their_own_are_refused_by_name() -> None:
    builder = ar.ModelBuilder(units="kg-m-s")
    builder.add_body("A1", mass=1.0, inertia=1.0, joint=ar.Revolute())
    builder.add_body("A2", parent="A1", mass=1.0, inertia=1.0, position=(1.0, 0.0, 0.0), joint=ar.Revolute())
    builder.add_body("weight", parent="A2", mass=1.0, inertia=1.0, joint=ar.Weld())
    model = builder.build()
    with pytest.raises(ar.CaseError, match=r"bodies\.A\*\.rotation: each of the bodies 'A\*' has its own rotation"):
        ar.sensitivity(model, "kinetic_energy", "bodies.A*.rotation", duration=1.0, step=0.1)
    with pytest.raises(
        ar.CaseError, match=r"'weight' is welded, and derivatives with respect to frames of welds are not implemented"
    ):
        ar.sensitivity(model, "kinetic_energy", "bodies.weight.rotation", duration=1.0, step=0.1)
