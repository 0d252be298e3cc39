"""Euler parameters by their own accelerations (Guy 2018, appendices B and C), against angular velocities."""

from __future__ import annotations

import math

import numba
import numpy as np
import pytest

import articulon as ar
from articulon.dynamics.embedding import embedded_acceleration
from articulon.forces.evaluation import Evaluator
from articulon.integrate import Explicit
from articulon.integrate.choice import driver
from articulon.integrate.problem import Problem
from articulon.integrate.status import PAUSED, REACHED
from articulon.model.state import SWITCHES
from articulon.scaling import NoScaling
from tests.support.remembering import assert_same_state

EPS = np.finfo(float).eps


@numba.njit
def accelerate(M, g, e, edot, p):
    return embedded_acceleration(M, g, e, edot, p)


def product(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    scalar = a[0] * b[0] - a[1:] @ b[1:]
    return np.concatenate([[scalar], a[0] * b[1:] + b[0] * a[1:] + np.cross(a[1:], b[1:])])


def random_rotation(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """e, ω and ω' in the body frame, and e' and e'' by differentiating e' = ½ e (0, ω)."""
    e = rng.normal(size=4)
    e /= np.linalg.norm(e)
    w, wdot = rng.normal(size=3), rng.normal(size=3)
    edot = 0.5 * product(e, np.array([0.0, *w]))
    eddot = 0.5 * product(edot, np.array([0.0, *w])) + 0.5 * product(e, np.array([0.0, *wdot]))
    return e, w, wdot, edot, eddot


def random_inertia(rng: np.random.Generator) -> np.ndarray:
    a = rng.normal(size=(3, 3))
    return a @ a.T + 0.5 * np.eye(3)


@pytest.mark.slow
@pytest.mark.parametrize("p", range(4))
def test_embedding_gives_the_second_derivative_of_the_rotation_whatever_depends(p):
    rng = np.random.default_rng(p)
    for _ in range(100):
        e, _, wdot, edot, eddot = random_rotation(rng)
        if abs(e[p]) < 0.25:
            continue
        M = random_inertia(rng)
        found = np.array(accelerate(tuple(M[np.triu_indices(3)]), tuple(M @ wdot), tuple(e), tuple(edot), p))
        # The reduced matrix has at most cond(M) |A|² with |A| ≤ 4 entries below 4 (C.2 with |e_p| ≥ 1/4).
        bound = 100 * EPS * np.linalg.cond(M) / e[p] ** 2 * (1.0 + np.abs(eddot).max())
        assert np.abs(found - eddot).max() < bound
        assert abs(e @ found + edot @ edot) < bound  # (C.6): the constraint's own second derivative


def test_a_turn_about_one_axis_is_that_of_half_the_angle():
    # e = (cos θ/2, n sin θ/2), so that e'' = −(θ'²/4) e at constant θ' and any θ.
    n = np.array([2.0, -1.0, 2.0]) / 3.0
    for theta in np.linspace(0.1, 6.2, 13):
        e = np.array([math.cos(theta / 2), *(math.sin(theta / 2) * n)])
        edot = 0.5 * 1.7 * np.array([-math.sin(theta / 2), *(math.cos(theta / 2) * n)])
        p = int(np.argmax(np.abs(e)))
        found = np.array(accelerate((1.0, 0.0, 0.0, 2.0, 0.0, 3.0), (0.0, 0.0, 0.0), tuple(e), tuple(edot), p))
        assert np.abs(found + 0.25 * 1.7**2 * e).max() < 50 * EPS


def tumbling_tree(loop: bool = False) -> ar.Model:
    builder = ar.ModelBuilder(units="kg-m-s")
    core = builder.add_body(
        "core", mass=2.0, inertia=(1.0, 2.0, 3.0), joint=ar.Free(), u=(0.1, 0.2, 0.0, 0.01, 2.0, 0.02)
    )
    arm = builder.add_body(
        "arm",
        parent=core,
        mass=1.0,
        inertia=(0.1, 0.2, 0.15),
        com=(0.3, 0.1, 0.0),
        joint=ar.Spherical(),
        position=(0.5, 0.0, 0.1),
        u=None if loop else (0.3, -1.0, 0.5),
    )
    builder.add_body(
        "hand",
        parent=arm,
        mass=0.5,
        inertia=(0.1, 0.2, 0.15),
        com=(0.3, 0.1, 0.0),
        joint=ar.Revolute(axis=(0, 1, 0)),
        position=(0.5, 0.0, 0.1),
    )
    builder.add_force(ar.forces.TorsionalSprings(stiffness={"arm": 2.0, "hand": 1.0}))
    if loop:
        builder.add_loop(
            "tie",
            joint=ar.Spherical(),
            parent="core",
            child="hand",
            position=(0.8, 0.3, 0.4),
            child_position=(0.3, 0.1, 0.0),
        )
    return builder.build()


@pytest.mark.parametrize("loop", [False, True], ids=["tree", "loop"])
def test_both_treatments_of_rotations_take_the_same_path_through_a_full_tumble(loop):
    model = tumbling_tree(loop)

    def end(rotations: str, rtol: float) -> tuple[np.ndarray, ar.Run]:
        run = ar.simulate(model, 12.0, rule="kutta-merson", rtol=rtol, atol=rtol, frames=12, rotations=rotations)
        return np.hstack(ar.body_poses(model, run.q[-1])), run

    coarse, fine = end("speeds", 1e-8)[0], end("speeds", 1e-10)[0]
    ours, run = end("euler-parameters", 1e-8)
    # Kutta–Merson's global error at one tolerance is what a run at a hundredth of it shows; e and −e are one rotation.
    error = np.abs(coarse - fine).max()
    same = np.minimum(
        np.abs(ours - fine).max(), np.abs(ours[:, 3:] + fine[:, 3:]).max() + np.abs((ours - fine)[:, :3]).max()
    )
    assert same < 10 * error
    turned = np.abs(run.q[:, 3:7])
    assert (
        turned.max(axis=0).min() > 0.6
    )  # every parameter of the core has been large, so that none could stay dependent
    assert run.state.counters[SWITCHES] >= 4
    # The constraint is embedded, not restored: it holds to rounding.
    assert np.abs(np.linalg.norm(run.q[:, 3:7], axis=1) - 1.0).max() < 4 * EPS


def test_what_does_not_go_together_is_refused():
    model = tumbling_tree()
    with pytest.raises(ar.CaseError, match="'euler-parameters' needs the solver 'articulated'"):
        ar.simulate(model, 1.0, rule="kutta-merson", rotations="euler-parameters", solver="kane")
    with pytest.raises(ar.ModelError, match="unknown rotations: expected one of 'speeds', 'euler-parameters', got"):
        ar.simulate(model, 1.0, rule="kutta-merson", rotations="quaternions")
    with pytest.raises(ar.CaseError, match="'friction-implicit' integrates speeds, not the accelerations of Euler"):
        ar.simulate(model, 1.0, rule="friction-implicit", step=0.1, rotations="euler-parameters")


@pytest.mark.parametrize("rule", ["verlet", "friction-implicit"])
def test_rules_that_have_their_own_way_of_solving_refuse_another_solver(rule):
    builder = ar.ModelBuilder(units="kg-m-s")
    builder.add_body("top", mass=1.0, inertia=(1.0, 2.0, 3.0), joint=ar.Free())
    with pytest.raises(ar.CaseError, match=f"'{rule}' works by the articulated-body algorithm.*solver 'kane'"):
        ar.simulate(builder.build(), 1.0, rule=rule, step=0.1, solver="kane")


@pytest.mark.parametrize("rotations", ["speeds", "euler-parameters"])
def test_chunks_of_steps_change_no_bit(rotations):
    model = tumbling_tree(loop=True)
    evaluator = Evaluator(model, rotations=rotations)
    policy = NoScaling()
    ends = []
    for chunk in (10_000, 3):
        state = model.initial_state()
        advance = driver(Problem(evaluator, Explicit(rtol=1e-6, atol=1e-6), policy), state)
        status = PAUSED
        while status == PAUSED:
            status = advance.advance(state, 3.0, chunk)
            state = state.copy()  # what a checkpoint would hold, and nothing else
        assert status == REACHED
        ends.append(state)
    assert_same_state(*ends)
