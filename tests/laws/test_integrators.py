"""Orders of convergence, the energy balance of Guy (2018), 5.18, the works of conservative channels, and the landing on
the times that were asked for.

Reference solutions are SciPy's eighth-order rule on the accelerations of the public functions.
"""

from __future__ import annotations

from typing import Any

import numba
import numpy as np
import pytest
from scipy.integrate import solve_ivp

import articulon as ar
from articulon.dynamics.state_functions import PARALLEL_LINKS
from articulon.integrate import Explicit, FrictionImplicit
from articulon.integrate.rules import EXPLICIT
from articulon.integrate.status import DIVERGED, PAUSED, REACHED
from articulon.model.state import REJECTED, WINDOW
from articulon.scaling import Constant, NoScaling, ThresholdAdaptive, TwoFactor
from tests.support.docking import CORE_DRAG, FASTEST, small_docking
from tests.support.running import Running
from tests.support.threads import on_one_and_two

EPS = float(np.finfo(float).eps)


def pendulum(kind: str) -> Any:
    """Two or three bodies that swing widely under gravity, springs and drag; none is symmetric or centred."""
    rng = np.random.default_rng(81)
    joints = {
        "double pendulum": (ar.Revolute(axis=(0.0, 1.0, 0.0)), ar.Revolute(axis=(0.0, 1.0, 0.3))),
        "spherical chain": (ar.Spherical(), ar.Spherical(), ar.Spherical()),
        "floating tree": (ar.Free(), ar.Spherical(), ar.Prismatic(axis=(1.0, 0.0, 1.0))),
    }[kind]
    builder = ar.ModelBuilder(units="lj")
    parent = None
    for k, joint in enumerate(joints):
        parent = builder.add_body(
            f"link-{k}",
            parent=parent,
            joint=joint,
            mass=1.0 + 0.3 * k,
            inertia=(0.1, 0.15, 0.2),
            com=(0.1, 0.05, -0.5),
            position=(0.0, 0.1, -1.0 if k else 0.0),
            u=1.5 * rng.normal(size=joint.nu),
        )
    if kind != "floating tree":
        builder.add_force(ar.forces.TorsionalSprings(stiffness={"link-*": 1.5}))
    builder.add_force(ar.forces.Gravity(acceleration=(2.0, 1.0, -6.0)))
    builder.add_force(ar.forces.StokesDrag(translational=0.3, rotational=0.1, flow=(1.0, 0.0, 0.0)))
    return builder.build()


PENDULA = ("double pendulum", "spherical chain", "floating tree")
PENDULA_IN_TURN = [PENDULA[0], *(pytest.param(kind, marks=pytest.mark.slow) for kind in PENDULA[1:])]
"""The same, one of them quick."""


def reference(model: Any, until: float) -> np.ndarray:
    """(q, u) at a time, to some 1e-12."""
    starts, k = [], 0
    for body in range(model.bodies):
        name = model.joint_name(body)
        starts.append(k)
        k += {"revolute": 1, "prismatic": 1, "spherical": 4, "free": 7}[name]

    def derivative(_: float, y: np.ndarray) -> np.ndarray:
        q, u = y[: model.nq], y[model.nq :]
        rates, j = np.empty(model.nq), 0
        for body, start in enumerate(starts):
            name = model.joint_name(body)
            straight = {"revolute": 1, "prismatic": 1, "spherical": 0, "free": 3}[name]
            rates[start : start + straight] = u[j : j + straight]
            j += straight
            if name in ("spherical", "free"):
                e, w = q[start + straight : start + straight + 4], u[j : j + 3]
                # e' = ½ e (0, ω)
                rates[start + straight] = -0.5 * e[1:] @ w
                rates[start + straight + 1 : start + straight + 4] = 0.5 * (e[0] * w + np.cross(e[1:], w))
                j += 3
        tau = ar.generalized_forces(model, q, u)
        return np.concatenate([rates, ar.forward_dynamics(model, q, u, tau=tau)])

    start = np.concatenate([model.q0, model.u0])
    solved = solve_ivp(derivative, (0.0, until), start, method="DOP853", rtol=1e-12, atol=1e-13)
    y = solved.y[:, -1]
    for body, start_q in enumerate(starts):
        name = model.joint_name(body)
        if name in ("spherical", "free"):
            k = start_q + (3 if name == "free" else 0)
            y[k : k + 4] /= np.linalg.norm(y[k : k + 4])
    return y


def error(run: Running, exact: np.ndarray) -> float:
    return float(np.linalg.norm(np.concatenate([run.q, run.u]) - exact))


@pytest.mark.slow
@pytest.mark.parametrize("kind", PENDULA_IN_TURN)
@pytest.mark.parametrize(("rule", "order", "steps"), [("euler", 1, 4096), ("rk4", 4, 256), ("kutta-merson", 4, 128)])
def test_explicit_rules_converge_in_their_order(kind: str, rule: Any, order: int, steps: int) -> None:
    model, until = pendulum(kind), 0.8
    exact = reference(model, until)
    coarse, fine = (
        error(Running(model, Explicit(rule=rule, step=until / n)).to(until), exact) for n in (steps, 2 * steps)
    )
    assert fine > 1e-10, "the reference hides the order"
    assert np.log2(coarse / fine) == pytest.approx(order, abs=0.1)


def test_the_tableau_of_kutta_and_merson_is_of_fourth_order_with_an_estimate_for_linear_problems() -> None:
    """The eight conditions of order 4, and an error estimate that for y' = λ y is the error itself, z⁵/720 with
    z = λh: (e^z − R(z)) begins with z⁵/120 − z⁵/144 (Merson 1957)."""
    t = EXPLICIT["kutta-merson"]
    a, b, c, e = t.a, t.b, t.c, t.error
    one = np.ones(5)
    conditions = {
        "1": (b @ one, 1.0),
        "c": (b @ c, 1 / 2),
        "c²": (b @ c**2, 1 / 3),
        "a c": (b @ a @ c, 1 / 6),
        "c³": (b @ c**3, 1 / 4),
        "c (a c)": (b @ (c * (a @ c)), 1 / 8),
        "a c²": (b @ a @ c**2, 1 / 12),
        "a a c": (b @ a @ a @ c, 1 / 24),
    }
    for name, (value, expected) in conditions.items():
        assert value == pytest.approx(expected, abs=4 * EPS), name
    powers = [one]
    for _ in range(4):
        powers.append(a @ powers[-1])
    assert [abs(e @ p) < 4 * EPS for p in powers[:4]] == [True] * 4
    assert abs(e @ powers[4]) == pytest.approx(1 / 720, rel=1e-12)
    assert 1 / 120 - b @ powers[4] == pytest.approx(1 / 720, rel=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("kind", PENDULA_IN_TURN)
def test_the_error_follows_the_tolerance(kind: str) -> None:
    """An error-controlled rule of order 4 takes steps ∝ tolerance^(1/5): its global error falls as tolerance^(4/5)."""
    model, until = pendulum(kind), 2.0
    exact = reference(model, until)
    tolerances = np.array([1e-5, 1e-7, 1e-9])
    errors = np.array([error(Running(model, Explicit(rtol=t, atol=0.1 * t)).to(until), exact) for t in tolerances])
    assert np.all(errors < 100.0 * tolerances)
    slope = np.polyfit(np.log(tolerances), np.log(errors), 1)[0]
    assert 0.7 < slope < 1.1


@pytest.mark.parametrize("kind", PENDULA)
def test_the_energy_balance_closes_with_the_tolerance(kind: str) -> None:
    model = pendulum(kind)
    residuals = []
    for rtol in (1e-4, 1e-6, 1e-8):
        run = Running(model, Explicit(rtol=rtol, atol=0.1 * rtol)).to(4.0)
        residuals.append(abs(run.imbalance()) / np.abs(run.state.work).max())
        assert residuals[-1] < 10.0 * rtol
        assert run.kinetic_energy() != pytest.approx(run.start_kinetic, rel=0.05), "nothing moved"
    assert residuals[2] < 1e-2 * residuals[0]


POLICIES = {
    "none": NoScaling(),
    "constant": Constant(a2=0.05),
    "two-factor": TwoFactor(a2=0.05, b2=0.5),
    # Between the smallest and the largest velocity Γ_p/β that the run meets, so that it switches.
    "threshold-adaptive": ThresholdAdaptive(a2=0.05, threshold=1e-6, core="core"),
}


def docking_run(policy: Any, rtol: float, noise: bool, until: float, shape: str = "normal") -> Running:
    window = 0.25 * FASTEST / policy.least_factor()
    return Running(
        small_docking(noise=noise, shape=shape),
        Explicit(rule="kutta-merson", rtol=rtol, atol=0.1 * rtol),
        seed=3,
        window=window,
        policy=policy,
        damping=CORE_DRAG,
    ).to(until)


@pytest.mark.parametrize("name", POLICIES)
@pytest.mark.parametrize("noise", [True, False])
def test_the_energy_balance_of_a_docking_closes_in_every_variant(name: str, noise: bool) -> None:
    """|T − T₀ − ΣW| is below 10 times the relative tolerance of the largest work (Guy 2018, 5.18), and falls too."""
    residuals = []
    for rtol in (1e-4, 1e-6):
        run = docking_run(POLICIES[name], rtol, noise, 600 * FASTEST)
        residuals.append(abs(run.imbalance()) / np.abs(run.state.work).max())
        assert residuals[-1] <= 10.0 * rtol, (rtol, residuals)
        assert run.work("potential") != 0.0
        assert run.work("conformational") != 0.0
        assert (run.work("stochastic") != 0.0) == noise
    assert residuals[1] < 0.2 * residuals[0]


@pytest.mark.parametrize("name", ["none", "constant", "two-factor"])
@pytest.mark.parametrize("noise", [True, False])
def test_conservative_channels_do_the_work_that_their_energy_loses(name: str, noise: bool) -> None:
    """W_c = −factor_c ΔE_c with E_c the energy function, for the potential and the springs."""
    # Drag and noise do far more work than the springs; the tolerance is a share of the largest work.
    policy, rtol = POLICIES[name], 1e-8 if noise else 1e-6
    run = docking_run(policy, rtol, noise, 600 * FASTEST)
    factor = {"none": 1.0, "constant": 0.05, "two-factor": 0.025}[name]
    change = run.energies() - run.start_energies
    allowed = 10.0 * rtol * np.abs(run.state.work).max()
    assert abs(run.work("potential") + factor * change[0]) <= allowed
    assert abs(run.work("conformational") + factor * change[1]) <= allowed
    assert abs(factor * change[0]) > 10.0 * allowed
    assert abs(factor * change[1]) > 10.0 * allowed


@pytest.mark.parametrize("kind", PENDULA)
def test_gravity_does_the_work_that_its_energy_loses(kind: str) -> None:
    run = Running(pendulum(kind), Explicit(rtol=1e-8, atol=1e-9)).to(3.0)
    change = run.energies() - run.start_energies
    assert abs(change[7]) > 0.1
    assert run.work("external") == pytest.approx(-change[7], abs=1e-7 * np.abs(run.state.work).max())


def test_scaled_gravity_is_booked_scaled() -> None:
    run = Running(pendulum("spherical chain"), Explicit(rtol=1e-8, atol=1e-9), policy=Constant(a2=0.25)).to(3.0)
    change = run.energies() - run.start_energies
    assert run.work("external") == pytest.approx(-0.25 * change[7], abs=1e-7 * np.abs(run.state.work).max())
    assert abs(run.imbalance()) <= 1e-7 * np.abs(run.state.work).max()


def test_drag_only_takes_energy_from_a_still_medium() -> None:
    run = docking_run(NoScaling(), 1e-6, True, 100 * FASTEST)
    assert run.work("damping") < 0.0


@pytest.mark.parametrize("rule", [Explicit(), Explicit(rule="rk4", step=0.013), FrictionImplicit(step=0.1)])
def test_a_run_ends_exactly_when_it_should(rule: Any) -> None:
    run = Running(pendulum("spherical chain"), rule)
    for until in (0.1, 0.7, 0.8):
        run.to(until)
        # A multiple of a fixed step is rounded once.
        assert run.state.time[0] == pytest.approx(until, rel=2 * EPS)


def test_steps_land_on_the_boundaries_of_the_noise() -> None:
    """No step reaches across a boundary: with a longest step of many windows there is at least one step per window, and
    the window that is held is the one that the time lies in."""
    model, window = small_docking(), 0.25 * FASTEST
    run = Running(model, Explicit(rtol=1e-2, atol=1.0), seed=3, window=window)
    for k in range(1, 30):
        run.to((k - 0.5) * window)
        assert run.state.counters[WINDOW] == k - 1
        run.to(k * window)
        assert run.state.counters[WINDOW] == k
    whole = Running(model, Explicit(rtol=1e-2, atol=1.0), seed=3, window=window).to(29 * window)
    assert 29 <= whole.steps <= 2 * 29


def test_a_pause_leaves_the_state_between_steps() -> None:
    run = Running(pendulum("spherical chain"), Explicit())
    assert run.driver.advance(run.state, 5.0, 4) == PAUSED
    assert run.steps == 4
    assert 0.0 < run.state.time[0] < 5.0
    assert run.driver.advance(run.state, 5.0, 10**6) == REACHED


def test_the_longest_step_is_kept_to() -> None:
    free = Running(pendulum("double pendulum"), Explicit(rtol=1e-3, atol=1e-3)).to(2.0)
    bound = Running(pendulum("double pendulum"), Explicit(rtol=1e-3, atol=1e-3, max_step=0.01)).to(2.0)
    assert free.steps < 150
    assert bound.steps >= 200


@pytest.mark.slow
def test_steps_that_fail_are_tried_again_shorter() -> None:
    run = Running(pendulum("double pendulum"), Explicit(rtol=1e-8, atol=1e-9, first_step=1.0)).to(1.0)
    assert run.state.counters[REJECTED] > 0
    assert error(run, reference(pendulum("double pendulum"), 1.0)) < 1e-6


@pytest.mark.parametrize("rule", [Explicit(), Explicit(rule="euler", step=0.01), FrictionImplicit(step=0.01)])
def test_a_force_that_is_not_finite_ends_the_run(rule: Any) -> None:
    @numba.njit
    def broken(time, positions, rotations, velocities, parameters, wrenches):  # type: ignore[no-untyped-def]
        wrenches[0, 0] = np.nan if time > 0.5 else 0.0

    builder = ar.ModelBuilder(units="lj")
    builder.add_body("ion", mass=1.0, joint=ar.Xyz(), u=(1.0, 0.0, 0.0))
    builder.add_force(ar.forces.UserForce(function=broken))
    run = Running(builder.build(), rule)
    assert run.driver.advance(run.state, 1.0, 10**6) == DIVERGED
    # The state is the last good one.
    assert np.isfinite(run.q).all()
    assert 0.4 < run.state.time[0] <= 0.52


def crowd(count: int) -> Any:
    """Ions, and spherical chains, more than one thread's worth."""
    rng = np.random.default_rng(82)
    builder = ar.ModelBuilder(units="lj")
    builder.add_bodies(count, mass=1.0, joint=ar.Xyz(), q=rng.normal(size=3 * count), names="ion")
    first = builder.add_bodies(count, mass=1.0, inertia=0.1, joint=ar.Spherical(), com=(0.5, 0.0, 0.0), names="arm")
    builder.add_bodies(
        count,
        mass=1.0,
        inertia=0.1,
        joint=ar.Spherical(),
        parents=list(first),
        position=(1.0, 0.0, 0.0),
        com=(0.3, 0.1, 0.0),
        names="hand",
    )
    builder.add_force(ar.forces.TorsionalSprings(stiffness={"arm*": 1.0, "hand*": 0.5}))
    builder.add_force(ar.forces.StokesDrag(translational=1.0, rotational=0.2))
    builder.add_force(ar.forces.Brownian(temperature=1.0))
    return builder.build()


@pytest.mark.slow
@pytest.mark.parametrize("links", [300, PARALLEL_LINKS + 100])
@pytest.mark.parametrize("rule", [Explicit(rule="kutta-merson", step=0.05), Explicit(), FrictionImplicit(step=0.1)])
def test_one_and_two_threads_give_the_same_bits(links: int, rule: Any) -> None:
    """Below and above the size from which trees are shared out among threads."""
    model = crowd(links // 3 + 1)
    assert (model.forest.mass.size > PARALLEL_LINKS) == (links > PARALLEL_LINKS)
    one, two = on_one_and_two(lambda: Running(model, rule, seed=5, window=0.1).to(0.5))
    assert [array.tobytes() for array in one.state.arrays().values()] == [
        array.tobytes() for array in two.state.arrays().values()
    ]
    assert one.u.any()
