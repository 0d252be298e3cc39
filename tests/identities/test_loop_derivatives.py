"""Derivatives of the accelerations of models with loops and driven joints, against differences.

A random mechanism's loops may hold each other's motion twice, so that only changes which the loops allow have a
derivative: q and u are changed along the null space of J. That closes the loops to second order, and central
differences see none of it. Fourth-order differences with the step h err by h⁴ and by rounding, some
1e-16 ``cond`` |u'|/h.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import articulon as ar
from articulon.dynamics.multibody_functions import moved
from tests.support.loop_models import random_mechanism, to_articulon

STEP, BOUND, REGULAR = 1e-4, 1e-6, 1e-3


def allowed(model: ar.Model, q: np.ndarray) -> tuple[np.ndarray, float]:
    """Changes that the loops allow, a column each, and the least singular value of J that is none, over the largest."""
    jacobian = ar.loop_jacobian(model, q)
    _, sizes, rows = np.linalg.svd(jacobian)
    rank = int((sizes > 1e-9 * sizes[0]).sum())
    return rows[rank:].T, float(sizes[rank - 1] / sizes[0])


def difference(function: Callable[[np.ndarray], np.ndarray], e: np.ndarray) -> np.ndarray:
    near, far = function(STEP * e) - function(-STEP * e), function(2.0 * STEP * e) - function(-2.0 * STEP * e)
    return (8.0 * near - far) / (12.0 * STEP)


def check(model: ar.Model, q: np.ndarray, u: np.ndarray, seed: int, time: float = 0.0) -> None:
    """The derivatives along all changes that the loops allow, and by all forces."""
    rng, n = np.random.default_rng(seed), model.nu
    tau, wrenches, gravity = rng.normal(size=n), rng.normal(size=(model.bodies, 6)), rng.normal(size=3)
    free, _ = allowed(model, q)

    def accelerations(dq: np.ndarray | float = 0.0, du: np.ndarray | float = 0.0, dtau: np.ndarray | float = 0.0):
        at = moved(model, q, dq + np.zeros(n))
        return ar.forward_dynamics(model, at, u + du, tau + dtau, wrenches, gravity, time=time)

    found = ar.derivatives(model, q, u, tau, wrenches, gravity, time)
    scale = 1.0 + np.abs(accelerations()).max()
    for function, matrix, changes in (
        (lambda e: accelerations(dq=e), found.q, free),
        (lambda e: accelerations(du=e), found.u, free),
        (lambda e: accelerations(dtau=e), found.tau, np.eye(n)),
    ):
        for e in changes.T:
            expected = difference(function, e)
            assert np.abs(matrix @ e - expected).max() <= BOUND * (scale + np.abs(expected).max())


def regular(seed: int) -> tuple[ar.Model, np.ndarray, np.ndarray]:
    """A mechanism that moves and is far from where its loops lose rank, at rest or moving as they allow."""
    for k in range(100):
        rng = np.random.default_rng([seed, k])
        mechanism, q = random_mechanism(rng, int(rng.integers(2, 9)), int(rng.integers(1, 4)))
        model = to_articulon(mechanism, q)
        free, least = allowed(model, q) if model.loops.kind.size else (np.zeros((0, 0)), 0.0)
        if free.shape[1] and least > REGULAR:
            return model, q, free @ rng.normal(size=free.shape[1])
    raise AssertionError("no mechanism that moves")


@pytest.mark.parametrize("seed", range(25))
def test_derivatives_of_random_mechanisms_are_differences(seed: int) -> None:
    model, q, u = regular(seed)
    check(model, q, u, seed)


def test_mechanisms_of_the_population_have_rows_of_both_kinds_between_moving_links() -> None:
    kinds, between = set(), 0
    for seed in range(25):
        model, _, _ = regular(seed)
        kinds |= set(model.loops.kind.tolist())
        between += int(((model.loops.link_a >= 0) & (model.loops.link_b >= 0)).any())
    assert kinds == {0, 1} and between >= 10


@pytest.mark.parametrize("case", ["n-four-bar", "bricard", "andrews-squeezer"])
def test_derivatives_of_built_in_mechanisms_are_differences(case: str) -> None:
    model = ar.load_case(case).build_model()
    run = ar.simulate(model, 0.01, rule="rk4", step=0.001, frames=1)
    check(model, run.q[-1], run.u[-1], 3)


def test_driven_joints_follow_their_motion_whatever_is_changed() -> None:
    """A crank that is driven, beside a pendulum on it: no change of state or force moves the crank's acceleration."""
    builder = ar.ModelBuilder("kg-m-s")
    crank = builder.add_body("crank", mass=1.0, inertia=0.1, com=(0.5, 0.0, 0.0), joint=ar.Revolute((0.0, 0.0, 1.0)))
    builder.add_body("rod", mass=2.0, inertia=0.2, com=(0.3, 0.1, 0.0), joint=ar.Spherical(), parent=crank)
    builder.add_drive("crank", times=(0.0, 1.0, 2.0, 3.0), values=(0.0, 0.3, 0.1, 0.7))
    model = builder.build()
    u = model.u0 + np.array([0.0, 0.4, -0.3, 0.8])
    check(model, model.q0, u, 5, time=0.7)
    found = ar.derivatives(model, model.q0, u, time=0.7)
    assert max(np.abs(one[0]).max() for one in found) <= 1e-14


def test_products_of_models_with_loops_and_drives_are_those_of_their_matrices() -> None:
    """Each twice: what a first call keeps of a model must not answer a second one past its loops."""
    rng = np.random.default_rng(2)
    model = ar.load_case("n-four-bar").build_model()
    w, v, tau = rng.normal(size=(3, model.nu))
    whole = ar.derivatives(model, model.q0, model.u0, tau)
    for _ in range(2):
        rows = ar.vector_jacobian(model, model.q0, model.u0, w, tau)
        assert all(np.array_equal(row, w @ one) for row, one in zip(rows, whole, strict=True))
        change = ar.jacobian_vector(model, model.q0, model.u0, v, 2.0 * v, 3.0 * v, tau)
        by = rows.q @ v + 2.0 * rows.u @ v + 3.0 * rows.tau @ v
        assert w @ change == pytest.approx(by, rel=1e-12, abs=1e-12 * np.abs(rows.q).sum())
    # Held on the ways that the loops leave it: no change of forces moves it off these.
    assert np.abs(ar.loop_jacobian(model, model.q0) @ whole.tau).max() <= 1e-12 * np.abs(whole.tau).max()
