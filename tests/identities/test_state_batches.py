"""A batch of states gives for each what the state gives by itself, whatever lies beside it and however many threads."""

from __future__ import annotations

import math
import multiprocessing
from typing import Any

import numpy as np
import pytest

import articulon as ar
from articulon.forces.evaluation import Evaluator, own_forces
from articulon.lane_functions import sine_and_cosine
from articulon.lane_registers import load_rows, total
from articulon.lanes import WIDTH, LaneArray
from articulon.passes import Program, pass_of
from tests.support import bounds
from tests.support.flexible_models import FlexibleCase
from tests.support.random_models import Situation, random_forest, random_situation, to_articulon
from tests.support.threads import on_one_and_two

SEEDS = range(8)
STATES = 2 * WIDTH + 3
"""Two full blocks and one that is not."""


class Many:
    """A random forest with every kind of joint, in many states."""

    def __init__(self, seed: int) -> None:
        rng = np.random.default_rng([seed, 23])
        self.description = random_forest(rng, int(rng.integers(1, 25)), max_depth=8)
        self.each = [random_situation(self.description, rng) for _ in range(STATES)]
        self.model: Any = to_articulon(self.description)
        self.q, self.u, self.tau, self.wrenches = (
            np.array([getattr(one, name) for one in self.each]) for name in ("q", "u", "tau", "wrenches")
        )
        self.gravity = self.each[0].gravity

    def allowed(self, one: Situation, udot: np.ndarray) -> float:
        """How far two computations of the same accelerations may lie apart."""
        matrix = ar.mass_matrix(self.model, one.q)
        bias = ar.inverse_dynamics(self.model, one.q, one.u, 0 * one.u, one.wrenches, self.gravity)
        return bounds.forward(float(np.linalg.cond(matrix)), udot) + bounds.forward_of_forces(matrix, one.tau, bias)


@pytest.mark.parametrize("seed", SEEDS)
def test_each_state_moves_as_it_does_alone(seed: int) -> None:
    many = Many(seed)
    found = ar.forward_dynamics(many.model, many.q, many.u, many.tau, many.wrenches, many.gravity)
    assert found.shape == (STATES, many.model.nu)
    for one, udot in zip(many.each, found, strict=True):
        alone = ar.forward_dynamics(many.model, one.q, one.u, one.tau, one.wrenches, many.gravity)
        assert np.linalg.norm(udot - alone) <= many.allowed(one, alone)


@pytest.mark.parametrize("seed", SEEDS)
def test_forces_energies_and_matrices_of_each_state(seed: int) -> None:
    many = Many(seed)
    udot = np.random.default_rng(seed).normal(size=many.u.shape)
    tau = ar.inverse_dynamics(many.model, many.q, many.u, udot, many.wrenches, many.gravity)
    matrices, energies = ar.mass_matrix(many.model, many.q), ar.kinetic_energy(many.model, many.q, many.u)
    positions, rotations = ar.body_poses(many.model, many.q)
    bodies = len(many.description)
    for k, one in enumerate(many.each):
        alone = ar.inverse_dynamics(many.model, one.q, one.u, udot[k], one.wrenches, many.gravity)
        assert np.linalg.norm(tau[k] - alone) <= bounds.backward(bodies, alone, matrices[k] @ udot[k])
        matrix = ar.mass_matrix(many.model, one.q)
        assert np.abs(matrices[k] - matrix).max() <= 1e-13 * np.abs(matrix).max()
        assert (matrices[k] == matrices[k].T).all()
        energy = ar.kinetic_energy(many.model, one.q, one.u)
        assert energies[k] == pytest.approx(energy, rel=1e-13)
        places, turns = ar.body_poses(many.model, one.q)
        assert np.abs(positions[k] - places).max() <= 1e-13 * max(1.0, np.abs(places).max())
        assert np.abs(rotations[k] - turns).max() <= 1e-14 * len(many.description)


def test_neighbours_and_threads_change_no_bit() -> None:
    many = Many(3)

    def found() -> np.ndarray:
        return ar.forward_dynamics(many.model, many.q, many.u, many.tau, many.wrenches, many.gravity)

    one, two = on_one_and_two(found)
    assert (one == two).all()
    order = np.random.default_rng(0).permutation(STATES)
    mixed = ar.forward_dynamics(
        many.model, many.q[order], many.u[order], many.tau[order], many.wrenches[order], many.gravity
    )
    assert (mixed == one[order]).all()
    for k in range(3):
        single = ar.forward_dynamics(
            many.model, many.q[[k]], many.u[[k]], many.tau[[k]], many.wrenches[[k]], many.gravity
        )
        assert (single[0] == one[k]).all()


def test_many_states_are_shared_out_among_threads_with_the_same_bits() -> None:
    many = Many(1)
    q, u = np.tile(many.q, (300, 1)), np.tile(many.u, (300, 1))
    one, two = on_one_and_two(lambda: ar.forward_dynamics(many.model, q, u))
    assert (one == two).all()
    assert (one.reshape(300, STATES, -1) == one[:STATES]).all()


def test_what_has_no_leading_axis_is_the_same_for_all_states() -> None:
    many = Many(2)
    tau, wrench = many.tau[0], many.wrenches[0]
    found = ar.forward_dynamics(many.model, many.q, many.u[0], tau, wrench, many.gravity)
    given = [np.broadcast_to(one, (STATES, *one.shape)) for one in (many.u[0], tau, wrench)]
    assert (found == ar.forward_dynamics(many.model, many.q, *given, many.gravity)).all()
    lists = ar.forward_dynamics(many.model, many.q.tolist(), many.u[0].tolist(), tau, wrench, many.gravity)
    assert (found == lists).all()
    assert ar.forward_dynamics(many.model, many.q[0], many.u).shape == many.u.shape


def test_no_states_give_none() -> None:
    many = Many(2)
    assert ar.forward_dynamics(many.model, many.q[:0], many.u[:0]).shape == (0, many.model.nu)
    assert ar.mass_matrix(many.model, many.q[:0]).shape == (0, many.model.nu, many.model.nu)
    assert ar.kinetic_energy(many.model, many.q[:0], many.u[:0]).shape == (0,)


def test_no_states_give_none_where_they_are_not_side_by_side_either() -> None:
    model, flexible = closed(), FlexibleCase(0, n=4).model
    for solver in ("articulated", "kane"):
        assert ar.forward_dynamics(model, np.zeros((0, 3)), model.u0, solver=solver).shape == (0, 3)
    assert ar.forward_dynamics(model, np.zeros((0, 3)), model.u0, forces=True).shape == (0, 3)
    none = np.zeros((0, flexible.nq))
    assert ar.mass_matrix(flexible, none).shape == (0, flexible.nu, flexible.nu)
    assert ar.body_poses(flexible, none)[1].shape == (0, flexible.bodies, 4)
    many = Many(2)
    assert ar.forward_dynamics(many.model, many.q[:0], many.u[:0], wrenches=many.wrenches[0]).shape == many.u[:0].shape


def test_arrays_that_are_read_only_or_not_in_one_piece_are_taken_as_they_are() -> None:
    many = Many(4)
    expected = ar.forward_dynamics(many.model, many.q[0], many.u[0], gravity=many.gravity)
    frozen = many.q[0].copy()
    frozen.flags.writeable = False
    apart = np.asfortranarray(many.u)[0]
    assert not apart.flags.c_contiguous or apart.size < 2
    for gravity in (many.gravity, tuple(many.gravity.tolist()), many.gravity.tolist()):
        found = ar.forward_dynamics(many.model, frozen, apart, gravity=gravity)
        assert (found == expected).all()
        kept = found.copy()
        ar.forward_dynamics(many.model, many.q[1], many.u[1])
        assert (found == kept).all()  # a later call writes elsewhere


def test_a_forked_process_solves_batches_too() -> None:
    """Of a process that has shared work among threads, which its children have not."""
    many = Many(1)
    q, u = np.tile(many.q, (50, 1)), np.tile(many.u, (50, 1))
    expected = ar.forward_dynamics(many.model, q, u)
    with multiprocessing.get_context("fork").Pool(1) as pool:
        found = pool.apply_async(_solved, (1, q, u)).get(timeout=60)
    assert (found == expected).all()


def _solved(seed: int, q: np.ndarray, u: np.ndarray) -> np.ndarray:
    return np.asarray(ar.forward_dynamics(Many(seed).model, q, u))


def closed() -> Any:
    """A four-bar linkage."""
    builder = ar.ModelBuilder(units="kg-m-s")
    last = None
    for k, length in enumerate((1.0, 1.0, 1.0)):
        place = (0.0, 0.0, 0.0) if last is None else (length, 0.0, 0.0)
        angle = (0.5 * math.pi, -0.5 * math.pi, -0.5 * math.pi)[k]
        inertia = (0.1, 0.2, 0.2)
        joint = ar.Revolute((0, 0, 1))
        last = builder.add_body(
            f"bar-{k}", parent=last, mass=1, com=(0.5, 0, 0), inertia=inertia, joint=joint, position=place, q=[angle]
        )
    builder.add_loop("closing", joint=ar.Revolute((0, 0, 1)), child=last, position=(1, 0, 0), child_position=(1, 0, 0))
    return builder.build()


@pytest.mark.parametrize("solver", ["articulated", "kane", "divide-and-conquer"])
def test_models_with_loops_and_other_solvers_take_many_states_too(solver: str) -> None:
    model = closed()
    rates = np.random.default_rng(0).normal(size=(5, 1)) * np.array([1.0, -1.0, 1.0])
    found = ar.forward_dynamics(model, model.q0, rates, gravity=(0, -9.81, 0), solver=solver)
    for u, udot in zip(rates, found, strict=True):
        alone = ar.forward_dynamics(model, model.q0, u, gravity=(0, -9.81, 0), solver=solver)
        assert (udot == alone).all()


def test_flexible_models_take_many_states_too() -> None:
    case = FlexibleCase(0, n=4)
    model, rng = case.model, np.random.default_rng(0)
    assert model.modes
    q = np.tile(case.q, (4, 1))
    u = 0.1 * rng.normal(size=(4, model.nu))
    for function in (ar.forward_dynamics, lambda *a: ar.inverse_dynamics(*a, u[0]), ar.kinetic_energy):
        many = function(model, q, u)
        for k in range(4):
            assert (many[k] == function(model, q[k], u[k])).all()
    assert (ar.mass_matrix(model, q)[1] == ar.mass_matrix(model, q[1])).all()
    assert (ar.body_poses(model, q)[0][1] == ar.body_poses(model, q[1])[0]).all()


def test_bad_input_is_named_by_its_row() -> None:
    many = Many(0)
    q = many.q.copy()
    q[5, 0] = np.nan
    with pytest.raises(ar.ModelError, match=r"q: row 5 is not finite: nan at \[0\]"):
        ar.forward_dynamics(many.model, q, many.u)
    wrenches = many.wrenches.copy()
    wrenches[2, 0, 3] = np.inf
    with pytest.raises(ar.ModelError, match=r"wrenches: row 2 is not finite: inf at \[0, 3\]"):
        ar.inverse_dynamics(many.model, many.q, many.u, many.u, wrenches)
    with pytest.raises(ar.ModelError, match=rf"u: 4 states, but q has {STATES}"):
        ar.kinetic_energy(many.model, many.q, many.u[:4])
    with pytest.raises(ar.ModelError, match=r"tau: expected shape .* or \(states, \d+\) for many states, got"):
        ar.forward_dynamics(many.model, many.q, many.u, many.u[:, :-1])
    with pytest.raises(ar.ModelError, match="q: "):
        ar.mass_matrix(many.model, [["a"] * many.model.nq])
    for function in (ar.mass_matrix, ar.body_poses, ar.potential_energy):
        with pytest.raises(ar.ModelError, match="q: expected numbers in lists of equal lengths"):
            function(many.model, [[1.0, 2.0], [3.0]])
    with pytest.raises(ar.ModelError, match=rf"tau: 3 states, but q has {STATES}"):
        ar.forward_dynamics(many.model, many.q, many.u, many.tau[:3], forces=True)
    masked = np.ma.masked_array(many.q[0], mask=[True] + [False] * (many.model.nq - 1))
    with pytest.raises(ar.ModelError, match="q: expected numbers, got an array with some of them masked"):
        ar.forward_dynamics(many.model, masked, many.u[0])


def test_euler_parameters_that_are_no_rotation_are_named_by_their_row() -> None:
    builder = ar.ModelBuilder(units="kg-m-s")
    builder.add_body("ball", mass=1, inertia=0.1, joint=ar.Spherical())
    model = builder.build()
    q = np.tile(model.q0, (4, 1))
    q[2] = 0.0
    with pytest.raises(ar.ModelError, match="q: row 2: the Euler parameters of body 'ball' are all zero"):
        ar.forward_dynamics(model, q, model.u0)
    ar.forward_dynamics(model, model.q0, model.u0)
    with pytest.raises(ar.ModelError, match="q: the Euler parameters of body 'ball' are all zero"):
        ar.forward_dynamics(model, q[2], model.u0)


@pass_of
def sines(x, s, c):
    """sin and cos of lanes."""
    for k in range(x.shape[0]):
        s[k], c[k] = sine_and_cosine(x[k])


@pytest.mark.parametrize("width", [4, 8])
def test_sine_and_cosine_of_lanes_are_exact_to_two_ulps(width: int) -> None:
    x, s, c = (LaneArray.zeros((3000,), width) for _ in range(3))
    rng = np.random.default_rng(0)
    size = 10.0 ** rng.uniform(-9, 9, size=x.numbers.shape)
    x.numbers[:] = size * rng.normal(size=size.shape)
    # Multiples of π/2, where most is lost, and what is no angle.
    x.numbers[:200] = 0.5 * math.pi * rng.integers(-(10**6), 10**6, size=(200, width))
    x.numbers[-1] = np.resize([0.0, np.nan, np.inf, -1e300], width)
    Program([sines.bind(x, s, c)])()
    with np.errstate(invalid="ignore"):
        for found, exact in ((s.numbers, np.sin(x.numbers)), (c.numbers, np.cos(x.numbers))):
            known = np.isfinite(exact)
            assert (np.isnan(found) == ~known).all()
            assert (np.abs(found - exact)[known] <= 2.0 * np.spacing(np.abs(exact[known]))).all()


@pass_of
def rows_of_a_table(table, numbers, out):
    """Columns of the rows of a table that are named one after another, and the sum of the last one's lanes."""
    x, y, z, w = load_rows(out[0], table, numbers, 1)
    out[0], out[1], out[2], out[3] = x, y, z, w
    out[4] = out[4] + total(w)


@pytest.mark.parametrize("width", [4, 8])
def test_rows_are_loaded_into_lanes_of_their_columns(width: int) -> None:
    rng = np.random.default_rng(0)
    table, out = LaneArray.zeros((50,), 4).numbers, LaneArray.zeros((5,), width)
    table[:] = rng.normal(size=table.shape)
    numbers = rng.permutation(50).astype(np.uint32)
    Program([rows_of_a_table.bind(table, numbers, out)])()
    assert (out.numbers[:4] == table[numbers[1 : 1 + width]].T).all()
    assert out.numbers[4] == pytest.approx(out.numbers[3].sum(), rel=1e-14)


def forced(kind: str) -> Any:
    """A tree on the ground under the forces that states side by side know, or, beside them, one that they do not."""
    builder = ar.ModelBuilder(units="kg-m-s")
    base = builder.add_body("base", mass=1, inertia=0.2, joint=ar.Free(), q=(0, 0, 0, 1, 0, 0, 0))
    arm = builder.add_body("arm", parent=base, mass=0.7, inertia=0.1, com=(0, 0, 0.3), joint=ar.Revolute((0, 1, 0)))
    hand = builder.add_body("hand", parent=arm, mass=0.4, inertia=0.1, joint=ar.Spherical(), position=(0, 0, 0.8))
    for body, place in ((base, (0.1, 0, 0)), (arm, (0, 0.2, 0.3)), (hand, (0, 0, 0.4)), (None, (0, 0, -2))):
        builder.add_site(body, position=place, kind="A", charge=1e-6)
    builder.add_force(ar.forces.Gravity((0, 0.3, -9.81)))
    shear = [[0, 0.5, 0], [0, 0, 0], [0, 0, 0]]
    drag = {"translational": 0.3, "rotational": 0.2}
    builder.add_force(ar.forces.StokesDrag(**drag, flow=(0.1, 0, 0.2), velocity_gradient=shear))
    builder.add_force(ar.forces.TorsionalSprings(stiffness={"arm": 3.0, "hand": 2.0}))
    builder.add_force(ar.forces.PositionRestraint(bodies=("base",), stiffness=(5, 0, 2)))
    builder.add_force(ar.forces.SitePairs(parameters={"A": {"epsilon": 0.1, "sigma": 0.2}}))
    if kind == "others":
        builder.add_force(ar.forces.JointDamping(rotational=0.1))
    return builder.build()


@pytest.mark.parametrize("kind", ["known", "others"])
def test_own_forces_and_energies_of_each_state(kind: str) -> None:
    model = forced(kind)
    rng = np.random.default_rng(0)
    turns = rng.normal(size=(STATES, 2, 4))
    # A spring of a joint that has turned by less than 1e-8, and one whose Euler parameters have the other sign.
    turns[0] = [1, 0, 0, 0], [1, 1e-10, 0, 0]
    turns[1, 1, 0] = -abs(turns[1, 1, 0])
    turns /= np.linalg.norm(turns, axis=2, keepdims=True)
    q = np.hstack([0.3 * rng.normal(size=(STATES, 3)), turns[:, 0], rng.normal(size=(STATES, 1)), turns[:, 1]])
    u, tau = rng.normal(size=(STATES, model.nu)), rng.normal(size=(STATES, model.nu))
    forces, energies = ar.generalized_forces(model, q, u), ar.potential_energy(model, q)
    damped = ar.generalized_forces(model, q, u, ["damping"])
    moving = ar.forward_dynamics(model, q, u, tau, forces=True)
    needed = ar.inverse_dynamics(model, q, u, moving, forces=True)
    # What batches promise: 1e-12, a hundred times the rounding of the some fifty operations of each force.
    for k in range(STATES):
        alone = ar.generalized_forces(model, q[k], u[k])
        assert np.abs(forces[k] - alone).max() <= 1e-12 * np.abs(alone).max()
        alone = ar.generalized_forces(model, q[k], u[k], ["damping"])
        assert np.abs(damped[k] - alone).max() <= 1e-12 * np.abs(alone).max()
        parts = sum(abs(ar.potential_energy(model, one)) for one in (q[k], model.q0))
        assert abs(energies[k] - ar.potential_energy(model, q[k])) <= 1e-13 * parts
        alone = ar.forward_dynamics(model, q[k], u[k], tau[k], forces=True)
        assert np.abs(moving[k] - alone).max() <= 1e-12 * np.abs(alone).max()
        assert np.abs(needed[k] - tau[k]).max() <= 1e-11 * np.abs(forces[k]).max()


def test_forces_on_joints_and_fixmans_potential_side_by_side() -> None:
    builder = ar.ModelBuilder(units="kg-m-s")
    last = builder.add_body("base", mass=1, inertia=0.2, joint=ar.Free())
    for k, joint in enumerate((ar.Revolute((0, 1, 0)), ar.Spherical(), ar.Prismatic((1, 0, 0)))):
        form: dict[str, Any] = {"mass": 0.7, "inertia": (0.1, 0.1, 0.05), "com": (0, 0, 0.3), "joint": joint}
        last = builder.add_body(f"arm-{k}", parent=last, position=(0, 0, 0.5), **form)
    builder.add_force(ar.forces.Fixman(0.02 / 1.380649e-23))
    builder.add_force(ar.forces.JointDamping(translational=0.1))
    builder.add_force(ar.forces.JointFriction(rotational=0.3, rotational_speed=0.1))
    times, values = (0.0, 0.1, 0.2), (0.0, 5.0, -5.0)
    builder.add_force(ar.forces.JointActuation(body="arm-0", times=times, values=values, interpolation="linear"))
    model = builder.build()
    rng = np.random.default_rng(5)
    Q, U = np.tile(model.q0, (11, 1)), rng.normal(size=(11, model.nu))
    Q[:, 7] = rng.normal(size=11)
    U[3] = 0.0  # at rest friction is a quotient of zeros
    found, energies = ar.generalized_forces(model, Q, U, time=0.15), ar.potential_energy(model, Q)
    for q, u, force, energy in zip(Q, U, found, energies, strict=True):
        one = ar.generalized_forces(model, q, u, time=0.15)
        assert np.abs(force - one).max() <= 1e-13 * max(1.0, np.abs(one).max())
        assert abs(energy - ar.potential_energy(model, q)) <= 1e-14
    evaluator = Evaluator(model)
    for q, u, force in zip(Q, U, found, strict=True):
        assert np.abs(force - own_forces(evaluator, q, u, 0.15)).max() <= 1e-13 * max(1.0, np.abs(force).max())
    assert np.isfinite(found).all() and np.ptp(energies) > 1e-4
