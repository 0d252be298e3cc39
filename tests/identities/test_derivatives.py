"""Derivatives of forward and inverse dynamics: against differences, against each other, and what is refused.

Fourth-order differences with the step h err by h⁴ f⁽⁵⁾/30 and by rounding of f, some 1e-16 cond(M) |f|/h: with h = 1e-3
both are below 1e-9 of the largest derivative for the models here.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import articulon as ar
from articulon.dynamics.multibody_functions import moved
from tests.support.random_models import random_forest, random_situation, to_articulon

STEP, BOUND, ROUNDING = 1e-3, 1e-9, 1e-11
SEEDS = range(40)


def differences(function: Callable[[np.ndarray], np.ndarray], n: int) -> np.ndarray:
    """The matrix of derivatives of a function of changes (n,) at zero, to fourth order."""
    columns = []
    for e in STEP * np.eye(n):
        near, far = function(e) - function(-e), function(2.0 * e) - function(-2.0 * e)
        columns.append((8.0 * near - far) / (12.0 * STEP))
    return np.transpose(columns)


def close(found: np.ndarray, expected: np.ndarray, bound: float) -> bool:
    return bool(np.abs(found - expected).max() <= bound * (1.0 + np.abs(expected).max()))


def swinging() -> ar.Model:
    """A star of rods on swing joints, beside a particle."""
    builder = ar.ModelBuilder("lj")
    centre = builder.add_body("centre", mass=1.0, joint=ar.Xyz(), q=(0.1, 0.2, 0.3), u=(0.5, -0.2, 0.1))
    rod = {"mass": 1.3, "com": (0.0, 0.0, 0.9), "joint": ar.Swing()}
    ends = [
        builder.add_body(f"arm {k}", parent=centre, q=e, u=(0.4, -0.7 * k), **rod)
        for k, e in enumerate([(0.8, 0.6, 0.0, 0.0), (0.6, 0.0, 0.8, 0.0), (0.1, 0.7, -0.7, 0.1)])
    ]
    builder.add_body("tip", parent=ends[1], position=(0.0, 0.0, 0.9), q=(0.96, 0.28, 0.0, 0.0), u=(0.2, 0.3), **rod)
    return builder.build()


def situation(seed: int) -> tuple[ar.Model, np.ndarray, np.ndarray, dict[str, np.ndarray]]:
    """A model, a state, and what acts; every other without wrenches."""
    if seed == 0:
        model, rng = swinging(), np.random.default_rng(1)
        given = {"tau": rng.normal(size=model.nu), "wrenches": rng.normal(size=(model.bodies, 6))}
        return model, model.q0.copy(), model.u0.copy(), {**given, "gravity": rng.normal(size=3)}
    rng = np.random.default_rng([seed, 5])
    description = random_forest(rng, int(rng.integers(1, 13)), max_depth=6)
    s = random_situation(description, rng)
    given = {"tau": s.tau, "gravity": s.gravity, **({"wrenches": s.wrenches} if seed % 2 else {})}
    return to_articulon(description), s.q, s.u, given


@pytest.mark.parametrize("seed", SEEDS)
def test_derivatives_of_accelerations_are_differences(seed: int) -> None:
    model, q, u, given = situation(seed)
    tau = given.pop("tau")

    def accelerations(dq: np.ndarray | float = 0.0, du: np.ndarray | float = 0.0, dtau: np.ndarray | float = 0.0):
        return ar.forward_dynamics(model, moved(model, q, dq + np.zeros(model.nu)), u + du, tau + dtau, **given)

    found = ar.derivatives(model, q, u, tau, **given)
    assert close(found.q, differences(accelerations, model.nu), BOUND)
    assert close(found.u, differences(lambda e: accelerations(du=e), model.nu), BOUND)
    assert close(found.tau, differences(lambda e: accelerations(dtau=e), model.nu), BOUND)


@pytest.mark.parametrize("seed", SEEDS)
def test_derivatives_of_forces_are_differences(seed: int) -> None:
    model, q, u, given = situation(seed)
    udot = given.pop("tau")

    def forces(dq: np.ndarray | float = 0.0, du: np.ndarray | float = 0.0) -> np.ndarray:
        return ar.inverse_dynamics(model, moved(model, q, dq + np.zeros(model.nu)), u + du, udot, **given)

    found = ar.force_derivatives(model, q, u, udot, **given)
    assert close(found.q, differences(forces, model.nu), BOUND)
    assert close(found.u, differences(lambda e: forces(du=e), model.nu), BOUND)
    assert np.array_equal(found.udot, ar.mass_matrix(model, q))


@pytest.mark.parametrize("seed", SEEDS)
def test_products_are_those_of_the_matrices(seed: int) -> None:
    """Both ways, to rounding: ⟨w, J v⟩ = ⟨Jᵀ w, v⟩ among it."""
    model, q, u, given = situation(seed)
    rng = np.random.default_rng(seed)
    w, *changes = rng.normal(size=(4, model.nu))
    dense = ar.derivatives(model, q, u, **given)
    rows = ar.vector_jacobian(model, q, u, w, **given)
    change = ar.jacobian_vector(model, q, u, *changes, **given)
    for row, matrix in zip(rows, dense, strict=True):
        assert close(row, w @ matrix, ROUNDING)
    assert close(change, sum(m @ c for m, c in zip(dense, changes, strict=True)), ROUNDING)
    there, back = float(w @ change), float(sum(r @ c for r, c in zip(rows, changes, strict=True)))
    size = float(np.abs(w) @ np.abs(change))
    assert abs(there - back) <= 1e-12 * max(size, float(sum(np.abs(r) @ np.abs(c) for r, c in zip(rows, changes))))


@pytest.mark.parametrize("bodies", [1, 7, 8, 9, 40, 200])
def test_the_inverse_mass_matrix_of_chains_of_any_length(bodies: int) -> None:
    """Blocks of columns that are full or not, multiplied or solved; M⁻¹ M = 1 to the condition of M."""
    builder = ar.ModelBuilder("kg-m-s")
    rng, last = np.random.default_rng(bodies), None
    for k in range(bodies):
        joint = ar.Revolute(np.eye(3)[k % 3])
        place = {"parent": last, "position": (0.0, 0.0, 1.0)} if k else {}
        last = builder.add_body(f"{k}", mass=1.0, inertia=0.1, com=(0.1, 0.0, 0.5), joint=joint, **place)
    model = builder.build()
    q, u, tau = rng.normal(size=(3, model.nu))
    found, matrix = ar.derivatives(model, q, u, tau), ar.mass_matrix(model, q)
    one = np.eye(model.nu)
    assert np.abs(found.tau @ matrix - one).max() <= 1e-14 * np.linalg.cond(matrix)
    forces = ar.force_derivatives(model, q, u, ar.forward_dynamics(model, q, u, tau))
    for by_state, by_force in ((found.q, forces.q), (found.u, forces.u)):
        assert close(matrix @ by_state, -by_force, 1e-14 * np.linalg.cond(matrix))
    w = rng.normal(size=model.nu)
    assert close(ar.vector_jacobian(model, q, u, w, tau).q, w @ found.q, 1e-12 * bodies)


def test_wrenches_of_earlier_calls_are_forgotten() -> None:
    model, q, u, given = situation(1)
    before = ar.derivatives(model, q, u)
    ar.derivatives(model, q, u, **given)
    again = ar.derivatives(model, q, u)
    assert all(np.array_equal(one, other) for one, other in zip(before, again, strict=True))


def test_many_states_have_the_derivatives_of_each() -> None:
    model, q, u, given = situation(3)
    rng = np.random.default_rng(0)
    several, tau = u + rng.normal(size=(4, model.nu)), given.pop("tau")
    together = ar.derivatives(model, q, several, tau, **given), ar.force_derivatives(model, q, several, tau, **given)
    assert together[0].q.shape == together[1].udot.shape == (4, model.nu, model.nu)
    for k, row in enumerate(several):
        one = ar.derivatives(model, q, row, tau, **given), ar.force_derivatives(model, q, row, tau, **given)
        for whole, part in zip((*together[0], *together[1]), (*one[0], *one[1]), strict=True):
            assert np.array_equal(whole[k], part)


def test_numbers_of_any_kind_are_taken() -> None:
    """Lists and whole numbers go the careful way, to the same bits."""
    model, q, u, _ = situation(2)
    w, whole = np.arange(model.nu, dtype=float), list(range(model.nu))
    assert np.array_equal(ar.derivatives(model, q.tolist(), u.tolist()).q, ar.derivatives(model, q, u).q)
    quick, careful = ar.vector_jacobian(model, q, u, w), ar.vector_jacobian(model, q, u, whole)
    assert all(np.array_equal(one, other) for one, other in zip(quick, careful, strict=True))
    assert np.array_equal(ar.jacobian_vector(model, q, u, dq=w), ar.jacobian_vector(model, q, u, dq=whole))


def test_forces_of_loops_have_no_derivatives_by_themselves() -> None:
    model = ar.load_case("n-four-bar").build_model()
    with pytest.raises(
        ar.ModelError, match=r"force_derivatives: models with loops are not supported here; use ar.derivatives"
    ):
        ar.force_derivatives(model, model.q0, model.u0, model.u0)


def test_wrong_arrays_are_named() -> None:
    model, q, u, _ = situation(2)
    with pytest.raises(ar.ModelError, match=r"w: expected shape"):
        ar.vector_jacobian(model, q, u, np.zeros(model.nu + 1))
    with pytest.raises(ar.ModelError, match=r"dq: expected shape"):
        ar.jacobian_vector(model, q, u, dq=np.zeros(model.nu + 1))
    with pytest.raises(ar.ModelError, match=r"u"):
        ar.derivatives(model, q, np.full(model.nu, np.nan))
    with pytest.raises(ar.ModelError, match=r"derivatives: expected a model"):
        ar.derivatives(None, q, u)  # type: ignore[arg-type]
