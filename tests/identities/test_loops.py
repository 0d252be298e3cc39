"""What must hold of closed loops in any model: residuals, their Jacobian, closing, and refusals."""

from __future__ import annotations

import dataclasses
import functools
import re
from typing import Any

import numpy as np
import pytest

import articulon as ar
from tests.support.constrained_reference import ConstrainedReference, RankInDoubtError
from tests.support.loop_models import (
    LOOP_KINDS,
    ROWS,
    SOLVERS,
    FourBar,
    Loop,
    Mechanism,
    bricard,
    closing_loop,
    link,
    random_mechanism,
    scaled,
    to_articulon,
)
from tests.support.random_models import (
    Description,
    quaternion_product,
    random_forest,
    random_situation,
    rotation_by,
)

SEEDS = range(16)
Z = np.array([0.0, 0.0, 1.0])


def moved(description: Description, q: np.ndarray, change: np.ndarray) -> np.ndarray:
    """q after a motion of this much of every speed: rotations turn about axes of the body."""
    result = np.array(q, dtype=float)
    for i, body in enumerate(description.bodies):
        x = result[description.q_starts[i] : description.q_starts[i + 1]]
        step = change[description.u_starts[i] : description.u_starts[i + 1]]
        if body.kind in ("spherical", "free"):
            angle = np.linalg.norm(step[-3:])
            axis = step[-3:] / angle if angle else Z
            x[-4:] = quaternion_product(x[-4:].copy(), rotation_by(axis, angle))
            x[:-4] += step[:-3]
        else:
            x += step
    return result


@functools.cache
def closed(seed: int) -> tuple[Mechanism, np.ndarray, np.ndarray, Any, int]:
    """A random mechanism, coordinates and speeds that satisfy its loops, its model, and its constraints' rank."""
    rng = np.random.default_rng([seed, 41])
    while True:
        mechanism, q = random_mechanism(rng, int(rng.integers(4, 14)), int(rng.integers(1, 4)))
        reference = ConstrainedReference(mechanism)
        s = random_situation(mechanism.forest, rng, q)
        try:
            u = reference.admissible(q, s.u).astype(float)
            rank = reference.accelerations(q, u, s.tau).rank
        except RankInDoubtError:
            continue
        if 0 < rank < mechanism.nu:
            return mechanism, q, u, to_articulon(mechanism, q), rank


@pytest.mark.parametrize("seed", SEEDS)
def test_residuals_are_zero_at_closed_states_and_not_elsewhere(seed: int) -> None:
    mechanism, q, _, model, _ = closed(seed)
    residuals = ar.loop_residuals(model, q)
    assert residuals.shape == (sum(ROWS[loop.kind] for loop in mechanism.loops),)
    assert np.abs(residuals).max() <= 1e-14 * len(mechanism)
    open_q = moved(mechanism.forest, q, 0.1 * np.random.default_rng(seed).normal(size=mechanism.nu))
    gaps = ConstrainedReference(mechanism).gaps(open_q)
    start = 0
    for loop, gap in zip(mechanism.loops, gaps, strict=True):
        rows = ar.loop_residuals(model, open_q)[start : start + ROWS[loop.kind]]
        start += ROWS[loop.kind]
        # Sines of turns and lengths of displacements: the same size as the gap, to a factor.
        assert 0.05 * gap - 1e-14 <= np.linalg.norm(rows) <= 5 * gap + 1e-14 * len(mechanism)


@pytest.mark.parametrize("away", [0.0, 0.2])
@pytest.mark.parametrize("kind", LOOP_KINDS)
@pytest.mark.parametrize("seed", range(3))
def test_jacobian_is_the_derivative_of_the_residuals(seed: int, kind: str, away: float) -> None:
    """Along every speed, spherical and free joints by angular velocity in the body frame; also where loops are open.

    Differences of fourth order with step h err by h⁴ f⁽⁵⁾/30 and ε f/h.
    """
    rng = np.random.default_rng([seed, 42])
    forest = random_forest(rng, 7, kinds=("revolute", "prismatic", "spherical", "xyz", "free"))
    s = random_situation(forest, rng)
    loop = closing_loop(forest, s.q, rng, kind, None if seed == 0 else 0, int(rng.integers(1, 7)))
    model = to_articulon(Mechanism(forest, (loop,)), s.q)
    q = moved(forest, s.q, away * rng.normal(size=forest.nu))
    J = ar.loop_jacobian(model, q)
    assert J.shape == (ROWS[kind], forest.nu)
    step = 1e-3
    for k, unit in enumerate(np.eye(forest.nu)):
        f = [ar.loop_residuals(model, moved(forest, q, step * m * unit)) for m in (-2, -1, 1, 2)]
        difference = (f[0] - f[3] + 8 * (f[2] - f[1])) / (12 * step)
        np.testing.assert_allclose(J[:, k], difference, rtol=0, atol=1e-11 * len(forest))
    assert np.abs(J).max() > 1e-3


@pytest.mark.parametrize("seed", SEEDS)
def test_closing_reaches_rounding_from_a_perturbed_state(seed: int) -> None:
    mechanism, q, _, model, _ = closed(seed)
    reference, rng = ConstrainedReference(mechanism), np.random.default_rng([seed, 43])
    size = 1e-2
    perturbed = moved(mechanism.forest, q, size * rng.normal(size=mechanism.nu))
    speeds = rng.normal(size=mechanism.nu)
    new_q, new_u = ar.close_loops(model, perturbed, speeds)
    # By the reference's own measure, in which half a turn is not closed.
    assert max(reference.gaps(new_q)) <= 1e-13 * len(mechanism)
    J = ar.loop_jacobian(model, new_q)
    assert np.linalg.norm(J @ new_u) <= 1e-13 * np.linalg.norm(J) * np.linalg.norm(speeds)
    for i, body in enumerate(mechanism.forest.bodies):
        if body.kind in ("spherical", "free"):
            e = new_q[mechanism.forest.q_starts[i + 1] - 4 : mechanism.forest.q_starts[i + 1]]
            assert abs(np.linalg.norm(e) - 1) <= 1e-14
    # A projection finds a closed state near by: nothing is thrown about.
    assert np.linalg.norm(new_q - perturbed) <= 100 * size * np.sqrt(mechanism.nu)


@pytest.mark.parametrize("length", [2.0**-30, 2.0**-10, 2.0**30])
def test_closing_reaches_rounding_in_any_unit_of_length(length: float) -> None:
    """A mechanism of nanometres in metres is closed to the last digits of its own size."""
    bar = FourBar()
    mechanism = scaled(bar.mechanism("spherical"), length, 1.0)
    model = to_articulon(mechanism, bar.coordinates(0.7))
    q, _ = ar.close_loops(model, bar.coordinates(0.7) + [0.0, 0.1, -0.1], np.zeros(3))
    assert max(ConstrainedReference(mechanism).gaps(q)) <= 1e-14 * length


@pytest.mark.parametrize("seed", SEEDS)
def test_closing_leaves_closed_states_alone(seed: int) -> None:
    mechanism, q, u, model, _ = closed(seed)
    new_q, new_u = ar.close_loops(model, q, u)
    assert np.linalg.norm(new_q - q) <= 1e-13 * len(mechanism)
    assert np.linalg.norm(new_u - u) <= 1e-11 * max(1.0, np.linalg.norm(u))
    again_q, again_u = ar.close_loops(model, new_q, new_u)
    assert np.linalg.norm(again_q - new_q) <= 1e-14 * len(mechanism)
    assert np.linalg.norm(again_u - new_u) <= 1e-13 * max(1.0, np.linalg.norm(u))


@pytest.mark.parametrize("seed", range(10))
def test_given_states_are_not_written_to(seed: int) -> None:
    mechanism, q, _, model, _ = closed(seed)
    perturbed = moved(mechanism.forest, q, np.full(mechanism.nu, 1e-3))
    speeds = np.ones(mechanism.nu)
    kept = perturbed.copy()
    ar.close_loops(model, perturbed, speeds)
    assert np.array_equal(perturbed, kept) and np.array_equal(speeds, np.ones(mechanism.nu))


@pytest.mark.parametrize("seed", range(10))
def test_building_closes_the_initial_state(seed: int) -> None:
    mechanism, q, _, _, _ = closed(seed)
    perturbed = moved(mechanism.forest, q, 1e-3 * np.random.default_rng(seed).normal(size=mechanism.nu))
    model = to_articulon(mechanism, perturbed)
    assert max(ConstrainedReference(mechanism).gaps(model.q0)) <= 1e-13 * len(mechanism)


@pytest.mark.parametrize("seed", SEEDS)
def test_building_takes_admissible_speeds_as_they_are_given(seed: int) -> None:
    """All of them given, and right to rounding."""
    mechanism, q, u, _, _ = closed(seed)
    model = to_articulon(mechanism, q, u)
    assert np.linalg.norm(model.q0 - q) <= 1e-13 * len(mechanism)
    assert np.linalg.norm(model.u0 - u) <= 1e-11 * max(1.0, np.linalg.norm(u))


@pytest.mark.parametrize("seed", SEEDS)
def test_a_model_without_loops_has_no_rows(seed: int) -> None:
    mechanism, q, u, _, _ = closed(seed)
    model = to_articulon(mechanism.without_loops(), q, u)
    assert ar.loop_residuals(model, q).shape == (0,)
    assert ar.loop_jacobian(model, q).shape == (0, mechanism.nu)
    same_q, same_u = ar.close_loops(model, q, u)
    assert np.array_equal(same_q, q) and np.array_equal(same_u, u)


@pytest.mark.parametrize("seed", range(8))
def test_the_engine_ignores_loops_where_it_always_did(seed: int) -> None:
    """Inverse dynamics and energy are of the forest: τ is what the joints and the loops together must give."""
    mechanism, q, u, model, _ = closed(seed)
    forest = to_articulon(mechanism.without_loops(), q, u)
    udot = np.random.default_rng(seed).normal(size=mechanism.nu)
    assert np.array_equal(ar.inverse_dynamics(model, q, u, udot), ar.inverse_dynamics(forest, q, u, udot))
    assert np.array_equal(ar.mass_matrix(model, q), ar.mass_matrix(forest, q))
    assert ar.kinetic_energy(model, q, u) == ar.kinetic_energy(forest, q, u)


# A closure that the equations n·m = 0 alone would accept: the frames are half a turn apart.


def turned_over(kind: str) -> Mechanism:
    """A body on a spherical joint, and a loop about the same point that closes at the identity."""
    ball = dataclasses.replace(link("ball", None, Z, (1, 0, 0), (0.1, 0.2, 0.0)), kind="spherical")
    shut = Loop("shut", kind, None, 0, axis=Z, position=np.array([1.0, 0.0, 0.0]))
    return Mechanism(Description((ball,)), (shut,))


@pytest.mark.parametrize("kind", ["weld", "revolute", "prismatic", "xyz"])
@pytest.mark.parametrize("axis", np.eye(3))
def test_half_a_turn_is_not_closed(kind: str, axis: np.ndarray) -> None:
    """Turned by π or nearly: either truly closed or refused by name, never taken as it is."""
    mechanism = turned_over(kind)
    reference = ConstrainedReference(mechanism)
    for angle in (np.pi, 3.1, 2.5):
        refused = ""
        try:
            model = to_articulon(mechanism, rotation_by(axis, angle))
        except ar.ModelError as error:
            refused = str(error)
        assert "shut" in refused or (not refused and max(reference.gaps(model.q0)) <= 1e-13)


# Refusals.


def builder_with_arm(**arguments: Any) -> Any:
    builder = ar.ModelBuilder(units="kg-m-s")
    builder.add_body("arm", joint=ar.Revolute(axis=(0, 0, 1)), mass=1.0, inertia=0.1, com=(0.5, 0, 0), **arguments)
    return builder


def test_a_loop_that_cannot_close_is_refused_by_name_with_its_residual() -> None:
    """The arm is 1 long and must reach a point at 3: 2 are missing at best, 1.5811 or more in the given pose."""
    builder = builder_with_arm(q=0.5)
    builder.add_loop("out-of-reach", joint=ar.Spherical(), child="arm", child_position=(1, 0, 0), position=(3, 0, 0))
    with pytest.raises(ar.ModelError, match="out-of-reach") as caught:
        builder.build()
    numbers = [float(text) for text in re.findall(r"\d+\.?\d*(?:e[-+]?\d+)?", str(caught.value))]
    assert any(1.9 <= number <= 3.5 for number in numbers), str(caught.value)


def test_the_loop_that_fails_is_named_among_others() -> None:
    bar = FourBar()
    mechanism = bar.mechanism()
    far = Loop("out-of-reach", "spherical", None, 0, position=np.array([0.0, 0.0, 9.0]))
    with pytest.raises(ar.ModelError, match="out-of-reach"):
        to_articulon(Mechanism(mechanism.forest, (*mechanism.loops, far)), bar.coordinates(0.4))


def test_initial_speeds_of_a_structure_without_freedom_are_refused() -> None:
    """Welded at both ends, the arm cannot turn: a speed given for it is a mistake, not to be set to zero in silence."""
    builder = builder_with_arm(u=2.0)
    builder.add_loop("lock", joint=ar.Weld(), child="arm")
    with pytest.raises(ar.ModelError, match=r"lock|arm"):
        builder.build()


def test_a_structure_without_freedom_stands_still_under_any_load() -> None:
    builder = builder_with_arm()
    builder.add_loop("lock", joint=ar.Weld(), child="arm")
    model = builder.build()
    for solver in SOLVERS:
        udot = ar.forward_dynamics(model, model.q0, model.u0, tau=np.array([5.0]), solver=solver)
        assert np.abs(udot) <= 1e-13


def test_free_as_a_loop_joint_is_refused() -> None:
    """It constrains nothing."""
    builder = builder_with_arm()
    with pytest.raises(ar.ModelError, match="nothing"):  # noqa: PT012  either call may be the one to refuse
        builder.add_loop("nothing", joint=ar.Free(), child="arm")
        builder.build()


BAD_LOOPS: dict[str, dict[str, Any]] = {
    "unknown child": {"child": "nobody"},
    "unknown parent": {"parent": "nobody"},
    "to itself": {"parent": "arm"},
    "rotation not unit": {"rotation": (1.0, 0.1, 0.0, 0.0)},
    "child rotation zero": {"child_rotation": (0.0, 0.0, 0.0, 0.0)},
    "position of wrong shape": {"position": (0.0, 0.0)},
    "child position not finite": {"child_position": (0.0, float("nan"), 0.0)},
    "no joint": {"joint": None},
}


@pytest.mark.parametrize("fault", BAD_LOOPS)
def test_bad_loop_is_refused_by_name(fault: str) -> None:
    builder = builder_with_arm()
    with pytest.raises(ar.ModelError, match="offender") as caught:  # noqa: PT012  either call may be the one to refuse
        builder.add_loop("offender", **{"joint": ar.Spherical(), "child": "arm", **BAD_LOOPS[fault]})
        builder.build()
    if "unknown" in fault:
        assert "nobody" in str(caught.value)


def test_two_loops_of_the_same_name_are_refused() -> None:
    builder = builder_with_arm()
    with pytest.raises(ar.ModelError, match="twin"):  # noqa: PT012
        for _ in range(2):
            builder.add_loop("twin", joint=ar.Revolute(axis=(0, 0, 1)), child="arm")
        builder.build()


def test_loops_take_bodies_by_handle_and_by_name() -> None:
    rows = []
    for by_name in (False, True):
        builder = builder_with_arm()
        hand = builder.add_body("hand", parent="arm", joint=ar.Spherical(), position=(1, 0, 0), mass=1.0, inertia=0.1)
        child = "hand" if by_name else hand
        builder.add_loop("hold", joint=ar.Spherical(), child=child, position=(1, 0, 0))
        model = builder.build()
        rows.append(ar.loop_jacobian(model, model.q0))
    assert np.array_equal(rows[0], rows[1])


@pytest.mark.parametrize("solver", SOLVERS)
def test_bricard_stays_closed_when_it_is_closed_elsewhere(solver: str) -> None:
    """Far along its one freedom too, four of five constraints count, and closing converges at once."""
    mechanism = bricard()
    model, reference = to_articulon(mechanism), ConstrainedReference(mechanism)
    q, direction = np.zeros(5), np.ones(5)
    for _ in range(12):
        J = ar.loop_jacobian(model, q)
        values = np.linalg.svd(J)[1]
        assert values[3] > 1e-3 * values[0] and values[4] < 1e-12 * values[0]
        direction = direction - np.linalg.pinv(J, rcond=1e-9) @ (J @ direction)
        direction /= np.linalg.norm(direction)
        q, direction = ar.close_loops(model, q + 0.05 * direction, direction)
        assert max(reference.gaps(q)) <= 1e-13
    assert np.linalg.norm(q) > 0.3
    assert np.isfinite(ar.forward_dynamics(model, q, direction, solver=solver)).all()
