"""Forward dynamics with closed loops against the equations with multipliers in extended precision, and against itself.

Bounds: the error of u' is at most ten times what relative errors ε of the data cause, to first order
(``ConstrainedReference.accelerations``): without loops that is 10 ε cond(M). What holds exactly, J u' + J̇ u = 0 and
M u' + c − τ in the range of Jᵀ, may be off by as much as that error of u' can bring about, and no more.
"""

from __future__ import annotations

import functools
import platform
from typing import Any

import numpy as np
import pytest

import articulon as ar
from tests.support import bounds
from tests.support.constrained_reference import Constrained, ConstrainedReference, RankInDoubtError
from tests.support.loop_models import (
    LOOP_KINDS,
    SOLVERS,
    FourBar,
    Loop,
    Mechanism,
    bricard,
    closing_loop,
    lengths,
    random_mechanism,
    scaled,
    to_articulon,
)
from tests.support.random_models import (
    Description,
    Situation,
    chain,
    quaternion_product,
    random_body,
    random_forest,
    random_situation,
    rotation_matrix,
)
from tests.support.reference import EXTENDED, norm

# Apple's processors have no floating-point format beyond double: there a reference cannot be better than the engine.
pytestmark = pytest.mark.skipif(
    np.finfo(EXTENDED).eps > 1e-18, reason=f"no extended precision on {platform.system()} {platform.machine()}"
)

MODELS, QUICK = 300, 40

every_solver = pytest.mark.parametrize("solver", SOLVERS)
every_model = pytest.mark.parametrize(
    "seed", [pytest.param(seed, marks=() if seed < QUICK else pytest.mark.slow) for seed in range(MODELS)]
)


class Case:
    """A mechanism at a closed state, and what the reference says of it."""

    def __init__(self, mechanism: Mechanism, situation: Situation) -> None:
        self.mechanism = mechanism
        self.reference = ConstrainedReference(mechanism)
        u = self.reference.admissible(situation.q, situation.u).astype(float)
        self.s = Situation(situation.q, u, situation.tau, situation.wrenches, situation.gravity)
        s = self.s
        self.expected: Constrained = self.reference.accelerations(s.q, s.u, s.tau, s.wrenches, s.gravity)

    @functools.cached_property
    def model(self) -> Any:
        return to_articulon(self.mechanism, self.s.q)

    def accelerations(self, solver: str, model: Any = None) -> np.ndarray:
        s, model = self.s, self.model if model is None else model
        return ar.forward_dynamics(model, s.q, s.u, tau=s.tau, wrenches=s.wrenches, gravity=s.gravity, solver=solver)


@functools.cache
def random_case(seed: int) -> Case:
    """Up to 20 bodies, depth up to 10, up to three loops. Models whose rank cannot be told are drawn again."""
    rng = np.random.default_rng([seed, 11])
    while True:
        n = int(rng.integers(2, 21))
        mechanism, q = random_mechanism(rng, n, int(rng.integers(0, 4)))
        try:
            return Case(mechanism, random_situation(mechanism.forest, rng, q))
        except RankInDoubtError:
            continue


def moved(description: Description, q: np.ndarray, u: np.ndarray, time: float) -> np.ndarray:
    """Coordinates after the time at constant speeds, in extended precision."""
    result = q.astype(EXTENDED)
    for i, body in enumerate(description.bodies):
        here = slice(description.q_starts[i], description.q_starts[i + 1])
        step = u[description.u_starts[i] : description.u_starts[i + 1]].astype(EXTENDED) * time
        x = result[here]
        if body.kind in ("spherical", "free"):
            e, turn = x[-4:].copy(), step[-3:]
            angle = np.sqrt(turn @ turn)
            half = np.sin(angle / 2) / angle if angle else EXTENDED(0.5)
            x[-4:] = quaternion_product(e, np.concatenate([[np.cos(angle / 2)], half * turn]))
            x[:-4] += step[:-3]
        else:
            x += step
    return result


def derivative(values: list[np.ndarray], step: float) -> np.ndarray:
    """Central difference of sixth order from values at −3, −2, −1, 1, 2, 3 steps."""
    return (values[5] - values[0] - 9 * (values[4] - values[1]) + 45 * (values[3] - values[2])) / (60 * step)


@pytest.mark.parametrize("kind", LOOP_KINDS)
@pytest.mark.parametrize("seed", range(4))
def test_reference_has_the_derivatives_of_its_own_constraints(seed: int, kind: str) -> None:
    """J u and J̇ u are the rates of the residuals and of J u along any motion, admissible or not."""
    rng = np.random.default_rng([seed, 12])
    forest = random_forest(rng, 8)
    s = random_situation(forest, rng)
    child, parent = int(rng.integers(1, 8)), None if seed == 0 else 0
    mechanism = Mechanism(forest, (closing_loop(forest, s.q, rng, kind, parent, child),))
    reference = ConstrainedReference(mechanism)
    elsewhere = moved(forest, s.q, rng.normal(size=forest.nu), 0.3)  # not closed there
    step = EXTENDED(2e-3)
    line = [moved(forest, elsewhere, s.u, k * step) for k in (-3, -2, -1, 1, 2, 3)]
    place = reference.placement(elsewhere)
    J = reference.jacobian(place)
    rate = derivative([reference.residuals(q) for q in line], step)
    scale = 10 * norm(s.u) ** 7 * step**6  # h⁶ f⁽⁷⁾/140, where f has lengths of up to ten units
    assert norm(rate - J @ s.u) <= scale
    second = derivative([reference.jacobian(reference.placement(q)) @ s.u for q in line], step)
    assert norm(second - reference.drift(place, s.u)[0]) <= scale * norm(s.u)
    assert norm(J @ s.u) > 1e4 * scale  # so that the comparison says something


@pytest.mark.parametrize("seed", range(30))
def test_reference_solves_its_own_equations(seed: int) -> None:
    case = random_case(seed)
    s, reference, expected = case.s, case.reference, case.expected
    place = reference.placement(s.q)
    J, (drift, sizes) = reference.jacobian(place), reference.drift(place, s.u)
    speed = norm(random_situation(case.mechanism.forest, np.random.default_rng(seed)).u)
    assert norm(reference.residuals(s.q)) <= 1e-14
    assert norm(J @ s.u) <= 1e-14 * speed
    bias = reference.bias(s.q, s.u, s.wrenches, s.gravity)
    left = reference.mass_matrix(s.q) @ expected.udot + bias - s.tau - expected.forces
    assert norm(left) <= 1e-14 * (norm(s.tau) + norm(bias) + norm(expected.forces))
    # Loops placed by rounded numbers are redundant to rounding only, so this is not smaller.
    assert norm(J @ expected.udot + drift) <= 1e-12 * (norm(J) * norm(expected.udot) + norm(sizes) + speed**2)
    # The forces of loops do no work in an admissible motion.
    assert abs(expected.forces @ s.u) <= 1e-13 * norm(expected.forces) * speed


@pytest.mark.slow
@pytest.mark.parametrize("count", [QUICK, pytest.param(MODELS, marks=pytest.mark.slow)])
def test_random_models_have_every_joint_in_loops_and_redundant_loops_among_them(count: int) -> None:
    cases = [random_case(seed) for seed in range(count)]
    assert {loop.kind for case in cases for loop in case.mechanism.loops} == set(LOOP_KINDS)
    assert {len(case.mechanism.loops) for case in cases} == {0, 1, 2, 3}
    assert max(max(case.mechanism.forest.depths) for case in cases) == 10
    moving = [case for case in cases if 0 < case.expected.rank < case.mechanism.nu]
    redundant = [case for case in moving if case.expected.rank < case.reference.rows]
    assert len(moving) > count // 2 and len(redundant) > count // 20


@every_model
def test_solvers_agree_with_the_reference_and_with_each_other(seed: int) -> None:
    case = random_case(seed)
    found = {solver: case.accelerations(solver) for solver in SOLVERS}
    errors = {solver: norm(udot - case.expected.udot) / case.expected.forward for solver, udot in found.items()}
    assert max(errors.values()) <= 1, errors
    # Each is that near to the truth: two may differ by both errors.
    for solver in SOLVERS[1:]:
        assert norm(found[solver] - found["articulated"]) <= 2 * case.expected.forward


@every_model
def test_accelerations_satisfy_the_loops_and_the_loads(seed: int) -> None:
    """J u' + J̇ u = 0, and M u' + c − τ in the range of Jᵀ."""
    case = random_case(seed)
    s, reference, expected = case.s, case.reference, case.expected
    place = reference.placement(s.q)
    J, (drift, sizes) = reference.jacobian(place), reference.drift(place, s.u)
    matrix, bias = reference.mass_matrix(s.q), reference.bias(s.q, s.u, s.wrenches, s.gravity)
    # Orthonormal basis of the range of Jᵀ.
    basis = np.linalg.qr((reference.effective(matrix, J) @ J.astype(float)).T)[0]
    double = matrix.astype(float)
    for solver in SOLVERS:
        udot = case.accelerations(solver)
        rounding = bounds.EPS * (norm(J) * norm(udot) + norm(sizes) + norm(s.u) ** 2)
        assert norm(J @ udot + drift) <= norm(J) * expected.forward + 10 * rounding, solver
        unbalanced = (matrix @ udot + bias - s.tau).astype(float)
        unbalanced -= basis @ (basis.T @ unbalanced)
        loads = norm(s.tau) + norm(bias) + norm(expected.forces)
        allowed = np.linalg.norm(double, 2) * expected.forward if case.mechanism.nu else 0.0
        assert norm(unbalanced) <= allowed + 10 * bounds.EPS * loads, solver


@pytest.mark.parametrize("seed", range(8))
@every_solver
def test_calling_twice_gives_the_same_bits(solver: str, seed: int) -> None:
    """Also on a new model, and after another solver has used the same workspace."""
    case = random_case(seed)
    first = case.accelerations(solver)
    for other in SOLVERS:
        case.accelerations(other)
    assert np.array_equal(first, case.accelerations(solver))
    assert np.array_equal(first, case.accelerations(solver, to_articulon(case.mechanism, case.s.q)))


@pytest.mark.parametrize("seed", range(12))
@every_solver
def test_a_loop_added_twice_changes_nothing(solver: str, seed: int) -> None:
    case = random_case(seed)
    twice = Case(case.mechanism.doubled(), case.s)
    assert norm(twice.expected.udot - case.expected.udot) <= case.expected.forward
    assert norm(twice.accelerations(solver) - case.accelerations(solver)) <= 2 * case.expected.forward


def test_drift_and_constraint_rows_span_what_the_engine_reports() -> None:
    """The engine may write its rows as it likes: they must span the reference's, at the same closed state."""
    for seed in range(QUICK):
        case = random_case(seed)
        J = case.reference.jacobian(case.reference.placement(case.s.q)).astype(float)
        rows = ar.loop_jacobian(case.model, case.s.q)
        assert rows.shape == (case.reference.rows, case.mechanism.nu)
        if not case.expected.rank:
            continue
        for one, other in ((J, rows), (rows, J)):
            _, values, right = np.linalg.svd(other, full_matrices=False)
            kept = right[values > 1e-10 * values[0]]
            assert len(kept) == case.expected.rank
            outside = one - one @ kept.T @ kept
            smallest = values[len(kept) - 1] / values[0]
            assert np.linalg.norm(outside) <= 1e-14 * len(case.mechanism) / smallest * np.linalg.norm(one)


@pytest.mark.parametrize("kind", LOOP_KINDS)
@every_solver
def test_a_loop_between_bodies_welded_together_changes_nothing(solver: str, kind: str) -> None:
    """Its rows are zero but for rounding, and must not be taken for constraints at any scale."""
    for seed in range(3):
        rng = np.random.default_rng([seed, 13])
        forest = random_forest(rng, 4, root_chance=0.0, kinds=("revolute", "spherical", "free"))
        welded = random_body(rng, "welded", 2, "weld")
        forest = Description((*forest.bodies, welded))
        s = random_situation(forest, rng)
        case = Case(Mechanism(forest, (closing_loop(forest, s.q, rng, kind, 2, 4),)), s)
        assert case.expected.rank == 0
        np.testing.assert_array_equal(case.s.u, s.u)
        assert norm(case.accelerations(solver) - case.expected.udot) <= case.expected.forward


@every_solver
def test_a_door_on_two_hinges_swings_as_on_one(solver: str) -> None:
    """The second hinge is on the axis of the first, whose direction is nothing round: five redundant constraints."""
    for seed in range(5):
        rng = np.random.default_rng([seed, 14])
        bodies = [random_body(rng, name, parent, "revolute") for name, parent in (("wall", None), ("door", 0))]
        forest = Description(tuple(bodies))
        s = random_situation(forest, rng)
        door = bodies[1]
        along = 0.7 * door.axis
        hinge = Loop(
            "second-hinge",
            "revolute",
            parent=0,
            child=1,
            axis=door.axis,
            position=door.position + rotation_matrix(door.rotation) @ along,
            rotation=door.rotation,
            child_position=along,
        )
        case = Case(Mechanism(forest, (hinge,)), s)
        assert case.expected.rank == 0
        assert norm(case.accelerations(solver) - case.expected.udot) <= case.expected.forward


@every_solver
@pytest.mark.parametrize("crank_angle", [-2.0, 0.3, 1.2, 2.5])
def test_planar_four_bar_has_the_same_accelerations_by_every_closing_joint(solver: str, crank_angle: float) -> None:
    """A spherical joint closes the plane linkage without, a revolute one with two more redundant constraints."""
    bar = FourBar()
    q, found = bar.coordinates(crank_angle), []
    tau, gravity = np.array([0.7, -0.2, 0.3]), np.array([0.5, -9.81, 0.0])
    for kind, rank in (("spherical", 2), ("revolute", 2)):
        mechanism = bar.mechanism(kind)
        case = Case(mechanism, Situation(q, np.array([1.5, 0.4, -0.2]), tau, np.zeros((3, 6)), gravity))
        assert case.expected.rank == rank
        udot = case.accelerations(solver)
        assert norm(udot - case.expected.udot) <= case.expected.forward
        found.append(udot)
    assert norm(found[0] - found[1]) <= 2 * case.expected.forward


@every_solver
def test_bricard_has_one_freedom_and_moves_by_it(solver: str) -> None:
    mechanism = bricard()
    rest = Situation(np.zeros(5), np.zeros(5), np.zeros(5), np.zeros((5, 6)), np.array([0.0, -9.81, 0.0]))
    case = Case(mechanism, rest)
    assert case.expected.rank == 4 and case.reference.rows == 5
    udot = case.accelerations(solver)
    assert norm(udot) > 1.0
    assert norm(udot - case.expected.udot) <= case.expected.forward
    moving = Case(mechanism, Situation(rest.q, np.ones(5), rest.tau, rest.wrenches, rest.gravity))
    assert norm(moving.s.u) > 0.1
    assert norm(moving.accelerations(solver) - moving.expected.udot) <= moving.expected.forward


@pytest.mark.parametrize("length", [2.0**-20, 2.0**20])
@pytest.mark.parametrize("seed", range(10))
@every_solver
def test_units_decide_nothing(solver: str, seed: int, length: float) -> None:
    """What is redundant may not depend on the unit of length, nor any digit but the last on a power of two."""
    case, mass = random_case(seed), 2.0**-30
    s, forest = case.s, case.mechanism.forest
    of_q, of_u = length ** lengths(forest, True), length ** lengths(forest, False)
    energy = mass * length**2
    model = to_articulon(scaled(case.mechanism, length, mass), s.q * of_q)
    found = ar.forward_dynamics(
        model,
        s.q * of_q,
        s.u * of_u,
        tau=s.tau * energy / of_u,
        wrenches=s.wrenches * energy / np.array([length] * 3 + [1.0] * 3),
        gravity=s.gravity * length,
        solver=solver,
    )
    assert norm(found / of_u - case.expected.udot) <= case.expected.forward


@pytest.mark.parametrize("n", [30, pytest.param(100, marks=pytest.mark.slow)])
@pytest.mark.parametrize("joints", ["revolute", "spherical"])
@every_solver
def test_long_chain_fixed_at_both_ends(solver: str, joints: str, n: int) -> None:
    rng = np.random.default_rng([n, len(joints)])
    description, q = chain(rng, n, joints, "coiled")
    loop = closing_loop(description, q, rng, "spherical", None, n - 1)
    case = Case(Mechanism(description, (loop,)), random_situation(description, rng, q))
    assert norm(case.accelerations(solver) - case.expected.udot) <= case.expected.forward
