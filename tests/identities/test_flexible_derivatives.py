"""Derivatives of the dynamics of flexible bodies: against differences, and against each other.

Fourth-order differences with the step h err by h⁴ f⁽⁵⁾/30 and by rounding of f, some 1e-16 ``cond`` |f|/h. The first is
measured: those with 2 h differ from them by 15 times their error.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import numpy as np
import pytest

import articulon as ar
from articulon.dynamics.multibody_functions import moved
from articulon.model.joints import MODULES
from tests.support.flexible_models import FlexibleCase, looped_model

STEP, ROUNDING = 5e-4, 1e-9
SEEDS, LOOPED = range(24), 8


def difference(function: Callable[[np.ndarray], np.ndarray], e: np.ndarray, step: float) -> np.ndarray:
    near, far = function(step * e) - function(-step * e), function(2.0 * step * e) - function(-2.0 * step * e)
    return (8.0 * near - far) / (12.0 * step)


def check(function: Callable[[np.ndarray], np.ndarray], matrix: np.ndarray, directions: np.ndarray) -> None:
    """A matrix of derivatives along directions, to the error that its differences show, and rounding of what they are
    differences of."""
    for e in directions:
        fine, coarse = (difference(function, e, step) for step in (STEP, 2.0 * STEP))
        size = np.abs(function(0.0 * e)).max() + np.abs(fine).max()
        error = np.abs(fine - coarse).max() + ROUNDING * (1.0 + size)
        assert np.abs(matrix @ e - fine).max() <= error
        assert error <= 1e-4 * (1.0 + size), "differences that tell nothing"


def check_accelerations(
    model: ar.Model, q: np.ndarray, u: np.ndarray, given: dict[str, np.ndarray], allowed: np.ndarray, time: float = 0.0
) -> None:
    """All of ``ar.derivatives``, by q and u along the rows of ``allowed``, and both products of them."""
    rest, tau = np.zeros(model.nu), given["tau"]
    others = {name: one for name, one in given.items() if name != "tau"} | {"time": time}

    def accelerations(dq: np.ndarray = rest, du: np.ndarray = rest, dtau: np.ndarray = rest) -> np.ndarray:
        return ar.forward_dynamics(model, moved(model, q, dq), u + du, tau + dtau, **others)

    found = ar.derivatives(model, q, u, tau, **others)
    check(lambda e: accelerations(dq=e), found.q, allowed)
    check(lambda e: accelerations(du=e), found.u, allowed)
    check(lambda e: accelerations(dtau=e), found.tau, np.eye(model.nu))
    w, *changes = np.random.default_rng(0).normal(size=(4, model.nu))
    rows = ar.vector_jacobian(model, q, u, w, tau, **others)
    change = ar.jacobian_vector(model, q, u, *changes, tau, **others)
    parts = [m @ c for m, c in zip(found, changes, strict=True)]
    assert np.abs(change - sum(parts)).max() <= 1e-11 * max(np.abs(one).max() for one in parts)
    for row, matrix in zip(rows, found, strict=True):
        assert np.abs(row - w @ matrix).max() <= 1e-11 * np.abs(matrix).max() * np.abs(w).max()


@pytest.mark.parametrize("seed", SEEDS)
def test_derivatives_of_accelerations_are_differences(seed: int) -> None:
    c = FlexibleCase(seed, n=4)
    given = {"tau": c.tau, "gravity": c.gravity, **({"wrenches": c.wrenches} if seed % 2 else {})}
    check_accelerations(c.model, c.q, c.u, given, np.eye(c.model.nu))


@pytest.mark.parametrize("seed", SEEDS)
def test_derivatives_of_forces_are_differences(seed: int) -> None:
    c = FlexibleCase(seed)
    udot, rest = np.random.default_rng(seed).normal(size=c.model.nu), np.zeros(c.model.nu)

    def forces(dq: np.ndarray = rest, du: np.ndarray = rest) -> np.ndarray:
        return ar.inverse_dynamics(c.model, moved(c.model, c.q, dq), c.u + du, udot, c.wrenches, c.gravity)

    found = ar.force_derivatives(c.model, c.q, c.u, udot, c.wrenches, c.gravity)
    check(lambda e: forces(dq=e), found.q, np.eye(c.model.nu))
    check(lambda e: forces(du=e), found.u, np.eye(c.model.nu))
    assert np.array_equal(found.udot, ar.mass_matrix(c.model, c.q))


def test_the_population_has_every_joint_on_the_ground_on_rigid_bodies_and_on_nodes() -> None:
    seen = set()
    for seed in SEEDS:
        for n in (4, None):
            c = FlexibleCase(seed, n=n)
            description, modes, nodes = c.tree
            for body, own, node in zip(description.bodies, modes, nodes, strict=True):
                seen.add((body.kind, own is not None, node is not None))
    kinds = {joint.__name__.lower() for joint in MODULES} - {"swing", "welded"}
    assert kinds <= {kind for kind, _, _ in seen}
    assert kinds <= {kind for kind, flexible, _ in seen if flexible}
    assert kinds <= {kind for kind, _, on_node in seen if on_node}


@cache
def looped() -> list[tuple[FlexibleCase, ar.Model, np.ndarray]]:
    """Trees with closed loops whose joints move together, and motions that the loops allow."""
    found, seed = [], 0
    while len(found) < LOOPED:
        seed += 1
        rng = np.random.default_rng([seed, 5])
        c = FlexibleCase(seed, n=int(rng.integers(3, 7)))
        model = looped_model(rng, c, int(rng.integers(1, 3)))
        if model is None:
            continue
        jacobian = ar.loop_jacobian(model, model.q0)
        _, sizes, rows = np.linalg.svd(jacobian)
        rank = int((sizes > 1e-9 * sizes[0]).sum())
        # Loops that hold one joint at rest put no force anywhere else.
        together = (np.abs(jacobian) > 1e-9).sum(axis=1).max() > rank
        if together and sizes[rank - 1] > 1e-2 * sizes[0] and rank < model.nu:
            found.append((c, model, rows[rank:]))
    return found


@pytest.mark.parametrize("k", range(LOOPED))
def test_derivatives_with_loops_are_differences(k: int) -> None:
    c, model, allowed = looped()[k]
    u = np.random.default_rng(k).normal(size=len(allowed)) @ allowed
    given = {"tau": c.tau, "gravity": c.gravity, **({"wrenches": c.wrenches} if k % 2 else {})}
    check_accelerations(model, model.q0, u, given, allowed)


def test_driven_joints_that_carry_flexible_bodies() -> None:
    """No change of state or force moves the acceleration of the crank."""
    model = _driven()
    rng = np.random.default_rng(1)
    q, u = model.q0.copy(), model.u0 + rng.normal(size=model.nu)
    given = {"tau": rng.normal(size=model.nu), "gravity": rng.normal(size=3)}
    check_accelerations(model, q, u, given, np.eye(model.nu), time=0.7)
    assert max(np.abs(one[0]).max() for one in ar.derivatives(model, q, u, time=0.7)) <= 1e-12


def _driven() -> ar.Model:
    """A crank that is driven, with a flexible body on it and a rigid one on a node of that."""
    shapes = FlexibleCase(3, n=6)
    modes = next(one for one in shapes.tree[1] if one is not None and one.boundary == "clamped")
    builder = ar.ModelBuilder(units=shapes.model.units.name)
    crank = builder.add_body("crank", mass=1.0, inertia=0.1, com=(0.5, 0.0, 0.0), joint=ar.Revolute((0.0, 0.0, 1.0)))
    beam = builder.add_body("beam", parent=crank, modes=modes, joint=ar.Spherical())
    builder.add_body("tip", parent=beam, node=2, mass=0.5, inertia=0.2, com=(0.1, 0.2, 0.0), joint=ar.Universal())
    builder.add_drive("crank", times=(0.0, 1.0, 2.0, 3.0), values=(0.0, 0.3, 0.1, 0.7))
    return builder.build()


def test_many_states_have_the_derivatives_of_each() -> None:
    c = FlexibleCase(1, n=3)
    several = c.u + np.random.default_rng(0).normal(size=(3, c.model.nu))
    together = ar.derivatives(c.model, c.q, several, c.tau)
    for k, row in enumerate(several):
        one = ar.derivatives(c.model, c.q, row, c.tau)
        assert all(np.array_equal(whole[k], part) for whole, part in zip(together, one, strict=True))


def test_wrong_arrays_are_named() -> None:
    c = FlexibleCase(1, n=3)
    with pytest.raises(ar.ModelError, match=r"q: expected shape"):
        ar.derivatives(c.model, c.q[1:], c.u)
    with pytest.raises(ar.ModelError, match=r"wrenches: expected shape"):
        ar.force_derivatives(c.model, c.q, c.u, c.u, np.zeros((1, 6)))
    with pytest.raises(ar.ModelError, match=r"dtau: expected shape"):
        ar.jacobian_vector(c.model, c.q, c.u, dtau=np.zeros(1))
