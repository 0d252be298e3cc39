"""What locked joints merge: the coarse model is the fine one without the motions that are locked, in every table."""

from __future__ import annotations

from typing import Literal

import numpy as np
import pytest

import articulon as ar
from articulon.adaptive import locked_model
from articulon.adaptive.coarse_model import Coarse
from articulon.adaptive.coarsening import can_be_coarsened
from articulon.adaptive.lockable import joints_of, whole_joints
from articulon.adaptive.merged_bodies import merged
from articulon.adaptive.momentum_exchange import Space, canonical, lock, relative_to
from articulon.adaptive.tried_locks import try_locks
from articulon.dynamics.multibody_functions import moved
from articulon.forces.base import Force
from articulon.forces.evaluation import Evaluator
from articulon.forces.model_tables import force_tables
from articulon.integrate.feature_conflicts import CONFLICTS
from tests.support.random_models import random_coordinates, random_forest, to_articulon

ROUNDING = 1e-12
"""Of numbers of size one after some hundred operations."""


def random_lock(seed, bodies=20):
    """A random forest of every joint, at a random state, with about half of its joints locked."""
    rng = np.random.default_rng(seed)
    description = random_forest(rng, bodies)
    model = to_articulon(description, random_coordinates(description, rng))
    joints = joints_of(model)
    locked = (rng.random(joints.degrees_of_freedom.size) < 0.5) & (joints.degrees_of_freedom > 0)
    if locked.all():
        locked[0] = False
    return model, np.array(model.q0), rng.normal(size=model.nu), locked, joints


@pytest.mark.parametrize("seed", range(20))
def test_the_coarse_model_is_the_fine_one_without_what_is_locked(seed):
    model, q, u, locked, joints = random_lock(seed)
    coarse, merging = locked_model(model, q, locked[joints.u])
    assert coarse.nu == (~locked[joints.u]).sum()
    M, own = ar.mass_matrix(model, q), ar.mass_matrix(coarse, merging.coarse(q))
    np.testing.assert_allclose(own, M[np.ix_(merging.u, merging.u)], rtol=0, atol=ROUNDING * np.abs(M).max())
    # Where everything is, also after the joints that are left have moved.
    slow = merging.coarse(u)
    there = moved(coarse, merging.coarse(q), slow)
    fine = moved(model, q, merging.fine_speeds(slow))
    np.testing.assert_allclose(there, merging.coarse(fine), rtol=0, atol=ROUNDING)
    for ours, theirs in zip(ar.body_poses(coarse, there), ar.body_poses(model, fine), strict=True):
        sign = np.sign((ours * theirs).sum(axis=1, keepdims=True)) if ours.shape[1] == 4 else 1.0
        np.testing.assert_allclose(sign * ours, theirs, rtol=0, atol=1e-10)


@pytest.mark.parametrize("seed", range(20))
def test_locking_keeps_the_momentum_and_releasing_gives_the_speeds_back(seed):
    model, q, u, locked, joints = random_lock(seed)
    M = ar.mass_matrix(model, q)
    fine, coarse = Space(model, joints, q, np.zeros_like(locked)), Space(model, joints, q, locked)
    done, left = lock(fine, coarse, u), coarse.merging.u
    size = np.abs(M @ u).max()
    np.testing.assert_allclose((M @ done.speeds)[left], (M @ u)[left], rtol=0, atol=1e-11 * size)
    lost = 0.5 * u @ M @ u - 0.5 * done.speeds @ M @ done.speeds
    assert done.energies.sum() == pytest.approx(lost, abs=1e-11 * (u @ M @ u))
    again = done.speeds + relative_to(coarse, fine, done.relative)
    # M⁻¹ magnifies the rounding of M u by the condition of M.
    np.testing.assert_allclose(again, u, rtol=0, atol=1e-14 * np.linalg.cond(M) * np.abs(u).max())
    drawn = canonical(coarse, fine, 1.0, seed, 3, 5)
    np.testing.assert_allclose((M @ drawn)[left], 0.0, rtol=0, atol=1e-10 * np.abs(M).max())


def chain(links=9, forces=(), **options):
    """A chain on springs, with a drag on each link, two sites and a spring to the ground."""
    builder = ar.ModelBuilder(units="kg-m-s")
    rng = np.random.default_rng(5)
    for k in range(links):
        builder.add_body(
            f"link-{k}",
            parent=f"link-{k - 1}" if k else None,
            joint=ar.Free() if k == 0 else ar.Revolute(axis=(0, 1, 0)) if k % 3 == 0 else ar.Spherical(),
            mass=1 + 0.1 * k,
            com=(0.1, 0.0, -0.5),
            inertia=(0.2, 0.3, 0.1),
            position=(0, 0, -1) if k else (0, 0, 0),
        )
        builder.add_site(f"link-{k}", rng.normal(size=3) * 0.2, kind="a" if k % 2 else "b", charge=0.3 * (k - 4))
    for force in forces:
        builder.add_force(force)
    model = builder.build()
    return model, moved(model, model.q0, 0.7 * rng.normal(size=model.nu)), rng.normal(size=model.nu)


FORCES = (
    ar.forces.TorsionalSprings(stiffness={f"link-{k}": 1.0 + k for k in range(1, 9)}, rest={"link-3": 0.4}),
    ar.forces.StokesDrag(translational={f"link-{k}": 0.3 + 0.1 * k for k in range(9)}, rotational=0.2),
    ar.forces.Gravity(acceleration=(0, 0, -9.81)),
    ar.forces.JointDamping(rotational=0.3),
    *(ar.forces.JointDrive(f"link-{k}", 0.4 * k, stiffness=2.0 * k, damping=0.2) for k in (3, 6)),
    ar.forces.JointDrive("link-7", component=1, speeds=3.0, damping=0.5, max_torque=1.2, max_speed=4.0, speed_band=2.0),
    ar.forces.PointSpring(bodies=("link-1", "link-2"), points=((0.3, 0, 0), (0, 0.2, 0)), stiffness=3, damping=0.1),
    ar.forces.PointSpring(bodies=("link-7", "ground"), points=((0.3, 0, 0), (1, 0.2, 0)), stiffness=2, rest_length=0.4),
    ar.forces.SitePairs(
        parameters={"a": {"epsilon": 0.3, "sigma": 0.4}, "b": {"epsilon": 0.2, "sigma": 0.3}},
        relative_permittivity=1e9,
    ),
)
LOCKED = {"some": (1, 2, 5, 6), "almost all": (1, 2, 3, 4, 5, 6, 8), "the root": (0, 4, 5)}


@pytest.mark.parametrize("which", LOCKED)
def test_forces_follow_the_bodies(which):
    """Accelerations of the coarse model by its tables and by its declarations are those that the fine model has with
    the locked speeds held at zero."""
    model, q, u = chain(forces=FORCES)
    names = [f"link-{k}" for k in LOCKED[which]]
    coarse, merging = locked_model(model, q, names)
    y, dy = np.zeros(model.nq + model.nu + 8), np.zeros(model.nq + model.nu + 8)
    fine = Evaluator(model)
    speeds = merging.fine_speeds(merging.coarse(u))
    y[: model.nq], y[model.nq : model.nq + model.nu] = q, speeds
    fine.rates(np.ones(8), 0.0, 0, y, dy)
    M = ar.mass_matrix(model, q)
    # M u' + C = Q: held at zero, the locked accelerations take forces of their own and the others lose what they gave.
    whole = M @ dy[model.nq : model.nq + model.nu]
    expected = np.linalg.solve(M[np.ix_(merging.u, merging.u)], whole[merging.u])
    state = fine.initial_state()
    state.q[:] = q
    driver, made = ar_driver(fine, state), merged(model, joints_of(model), q, merging.locked)
    lean = Coarse(fine, driver, state, merging.locked, made)
    for evaluator in (Evaluator(coarse), lean.evaluator):
        own, rates = np.zeros(coarse.nq + coarse.nu + 8), np.zeros(coarse.nq + coarse.nu + 8)
        own[: coarse.nq], own[coarse.nq : coarse.nq + coarse.nu] = merging.coarse(q), merging.coarse(u)
        evaluator.rates(np.ones(8), 0.0, 0, own, rates)
        got = rates[coarse.nq : coarse.nq + coarse.nu]
        np.testing.assert_allclose(got, expected, rtol=0, atol=1e-9 * np.abs(expected).max())
        # The works by channel are those of the same forces on the same motion.
        np.testing.assert_allclose(rates[-8:], dy[-8:], rtol=0, atol=1e-10 * np.abs(dy[-8:]).max())


def ar_driver(evaluator, state):
    from articulon.integrate.choice import driver
    from articulon.integrate.integrators import Explicit
    from articulon.integrate.problem import Problem

    return driver(Problem(evaluator, Explicit()), state)


def test_the_potential_energy_differs_by_a_constant():
    model, q, _ = chain(forces=FORCES)
    coarse, merging = locked_model(model, q, ["link-1", "link-2", "link-5"])
    rng = np.random.default_rng(3)
    differences = []
    for _ in range(4):
        slow = 0.3 * rng.normal(size=coarse.nu)
        there = moved(coarse, merging.coarse(q), slow)
        fine = q.copy()
        fine[merging.q] = there
        differences.append(ar.potential_energy(model, fine) - ar.potential_energy(coarse, there))
    scale = abs(ar.potential_energy(model, q))
    np.testing.assert_allclose(differences, differences[0], rtol=0, atol=1e-12 * scale)


def test_drag_of_many_bodies_is_that_of_four_points():
    """Noise and drag of a merged body are those of all of its bodies."""
    model, q, _ = chain(forces=(FORCES[1],))
    links = np.ones(9, dtype=bool)
    links[[0, 4]] = False
    evaluator = Evaluator(model)
    state = evaluator.initial_state()
    state.q[:] = q
    driver = ar_driver(evaluator, state)
    lean = Coarse(evaluator, driver, state, links, merged(model, joints_of(model), q, links))
    coarse, _ = locked_model(model, q, [f"link-{k}" for k in np.flatnonzero(links)])
    ours, theirs = lean.evaluator.system.forces.drag, force_tables(coarse).drag
    assert ours.link.size == 4 + 4 and theirs.link.size == 9
    for name in ("mass", "moment", "inertia"):
        np.testing.assert_allclose(getattr(ours, name), getattr(theirs, name), rtol=0, atol=1e-12)


def test_a_joint_locked_in_part_is_refused_by_name():
    model, _, _ = chain()
    mask = np.zeros(model.nu, dtype=bool)
    mask[7] = True
    with pytest.raises(ar.ModelError, match=r"1 of the 3 axes of the spherical joint of body 'link-1'"):
        whole_joints(model, mask)


def test_a_joint_that_a_loop_needs_is_refused_by_name():
    builder = ar.ModelBuilder(units="kg-m-s")
    hinge = ar.Revolute(axis=(0, 1, 0))
    angles = (0.6, -0.9, 0.9)
    parent = None
    for name, angle in zip(("crank", "coupler", "rocker"), angles, strict=True):
        builder.add_body(
            name, parent=parent, joint=hinge, mass=1, com=(0.5, 0, 0), inertia=(0.1, 0.1, 0.1), q=angle,
            position=(1, 0, 0) if parent else (0, 0, 0),
        )  # fmt: skip
        parent = name
    builder.add_loop("frame", joint=hinge, child="rocker", child_position=(1, 0, 0), position=(1.5, 0, 0))
    model = builder.build()
    with pytest.raises(ar.ModelError, match=r"loop 'frame' needs the joint of body 'coupler'"):
        locked_model(model, model.q0, ["coupler"])


def test_tries_in_a_row_are_locks_and_releases_one_after_the_other():
    """Each by the dense mass matrix of what moves at its turn."""
    model, q, u = chain(links=12)
    joints, M = joints_of(model), ar.mass_matrix(model, q)
    locked = np.zeros(12, dtype=bool)
    locked[[3, 4, 7, 8]] = True
    u = np.where(locked[joints.u], 0.0, u)
    links = np.array([5, 3, 2, 8, 9, 1])
    free = locked.copy()
    free[links] = False
    drawn = {3: np.array([0.3]), 8: np.array([0.1, 0.5, 0.3])}
    draws = {i: (lambda n, z=z: z) for i, z in drawn.items()}
    done = try_locks(Space(model, joints, q, free), links, locked, u, 1.5, draws, {})
    state = locked.copy()
    for i in links.tolist():
        own = np.flatnonzero(joints.u == i)
        state[i] = False
        moving = np.flatnonzero(~state[joints.u])
        inverse, at = np.linalg.inv(M[np.ix_(moving, moving)]), np.searchsorted(moving, own)
        block = inverse[np.ix_(at, at)]
        if locked[i]:
            u[moving] += inverse[:, at] @ np.linalg.solve(np.linalg.cholesky(block).T, drawn[i])
            assert done.given[i] == pytest.approx(0.5 * drawn[i] @ drawn[i])
            continue
        impulse = np.linalg.solve(block, u[own])
        energy = 0.5 * u[own] @ impulse
        if energy < 1.5:
            assert done.taken[i][1] == pytest.approx(energy)
            u[moving] -= inverse[:, at] @ impulse
            u[own], state[i] = 0.0, True
    assert done.locked.tolist() == state.tolist()
    np.testing.assert_allclose(done.speeds, u, rtol=0, atol=1e-11 * np.abs(u).max())


def test_damping_by_one_number_leaves_particles_alone_in_the_coarse_model_too():
    builder = ar.ModelBuilder(units="kg-m-s")
    slide = ar.Prismatic(axis=(0, 0, 1))
    builder.add_body("a", mass=1, joint=slide)
    builder.add_body("b", parent="a", mass=1, joint=slide)
    builder.add_particles(1, mass=1, positions=[(3.0, 0.0, 0.0)], names=["p"])
    builder.add_force(ar.forces.JointDamping(translational=2.0))
    model = builder.build()
    coarse, _ = locked_model(model, model.q0, ["b"])
    assert coarse.forces[0].translational == {"a": 2.0}
    u = np.ones(coarse.nu)
    np.testing.assert_array_equal(ar.generalized_forces(coarse, coarse.q0, u, ["damping"]), [-2.0, 0.0, 0.0, 0.0])


class Magnet(Force):
    """A force of a kind that the package does not know."""

    kind: Literal["magnet"] = "magnet"

    @classmethod
    def gather(cls, model, declared, users):
        """Nothing acts."""


def test_a_force_that_is_not_known_is_refused_by_name():
    """It would keep the link numbers of the fine model."""
    builder = ar.ModelBuilder(units="kg-m-s")
    hinge = ar.Revolute(axis=(0, 0, 1))
    builder.add_body("a", mass=1, inertia=1, joint=hinge)
    builder.add_body("b", parent="a", mass=1, inertia=1, joint=hinge, position=(1, 0, 0))
    builder.add_force(ar.forces.Gravity(acceleration=(0, -1, 0)))
    builder.add_force(Magnet())
    model = builder.build()
    with pytest.raises(ar.ModelError, match=r"forces\[1\]: .* 'magnet' does not define how it acts"):
        locked_model(model, model.q0, ["b"])
    group = ar.adaptive.Group(name="g", bodies=("b",), lock=ar.adaptive.Speed(below=1.0))
    adaptive = ar.adaptive.Adaptive(every=0.1, groups=(group,))
    with pytest.raises(ar.CaseError, match=r"adaptive: forces\[1\]: .* 'magnet' does not define how it acts"):
        ar.simulate(model, 1.0, adaptive=adaptive)


@pytest.mark.parametrize("kind", list(ar.forces.FORCES))
def test_every_force_says_how_it_follows(kind):
    """But for impacts and stops, which the table of what goes with what keeps from joints that lock."""
    if kind in (ar.forces.Impacts, ar.forces.JointLimits):
        assert ("adaptive", "impacts") in CONFLICTS
    else:
        assert can_be_coarsened(kind)
