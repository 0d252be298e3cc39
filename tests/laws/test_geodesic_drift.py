"""Free flights between the kicks of the friction-implicit rule: symplectic, of second order, and back again in time."""

import math

import numpy as np
import pytest

import articulon as ar
from articulon.dynamics.momenta import momentum
from articulon.integrate import Explicit, FrictionImplicit
from articulon.integrate.status import DIVERGED, REACHED
from tests.laws.test_friction_implicit_trees import random_tree
from tests.support.running import WHOLE, Running, momenta


def geodesic(step: float) -> FrictionImplicit:
    return FrictionImplicit(step=step, drift="geodesic")


def arm(links: int = 3, root: bool = False) -> ar.Model:
    """Links that turn and slide about skew axes on springs, on the ground or floating, moving from the start."""
    builder = ar.ModelBuilder("lj")
    rng = np.random.default_rng(3)
    parent = None
    if root:
        speeds = (0.1, 0.2, -0.1, 0.5, -0.4, 0.3)
        parent = builder.add_body("root", mass=1.0, inertia=(1.0, 1.4, 2.0), joint=ar.Free(), u=speeds)
    for k in range(links):
        joint = ar.Prismatic(axis=(0.0, 0.6, 0.8)) if k == 1 else ar.Revolute(axis=rng.normal(size=3))
        parent = builder.add_body(
            f"link-{k}",
            parent=parent,
            joint=joint,
            mass=1.0 - 0.2 * k,
            inertia=(0.2, 0.3, 0.25),
            com=0.3 * rng.normal(size=3),
            position=(0.5, 0.2, 0.0),
            q=0.4 * rng.normal(size=1),
            u=rng.normal(size=1),
        )
    builder.add_force(ar.forces.TorsionalSprings(stiffness={f"link-{k}": 2.0 for k in range(links) if k != 1}))
    return builder.build()


@pytest.mark.parametrize("seed", range(4))
def test_halving_the_step_quarters_the_error(seed: int) -> None:
    """Of trees with any joints, drag and gravity."""
    model = random_tree(seed)
    exact = Running(model, Explicit(rule="rk4", step=1 / 2000)).to(1.0)
    errors = []
    for steps in (200, 400):
        run = Running(model, geodesic(1 / steps)).to(1.0)
        errors.append(float(np.linalg.norm(np.concatenate([run.q - exact.q, run.u - exact.u]))))
    assert errors[-1] > 1e-9, "rounding hides the order"
    assert math.log2(errors[0] / errors[1]) == pytest.approx(2.0, abs=0.05)


def broken_area(rule: FrictionImplicit) -> float:
    """By how much the map of (q, p) over some steps changes areas: ‖JᵀΩJ − Ω‖, J by central differences."""
    model = arm()
    n, eps = model.nq, 1e-5
    run = Running(model, rule)
    x0 = np.concatenate([model.q0, momenta(model, model.q0, model.u0)])

    def image(x: np.ndarray) -> np.ndarray:
        u = np.linalg.solve(ar.mass_matrix(model, x[:n]), x[n:])
        state = model.initial_state(run.driver.history)
        state.q[:], state.u[:] = x[:n], u
        assert run.driver.advance(state, 3 * float(rule.step), WHOLE) == REACHED
        return np.concatenate([state.q, momenta(model, state.q, state.u)])

    J = np.stack([(image(x0 + eps * e) - image(x0 - eps * e)) / (2.0 * eps) for e in np.eye(2 * n)], axis=1)
    Omega = np.block([[np.zeros((n, n)), np.eye(n)], [-np.eye(n), np.zeros((n, n))]])
    return float(np.abs(J.T @ Omega @ J - Omega).max())


def test_the_map_of_coordinates_and_momenta_is_symplectic() -> None:
    """To the error of the differences, eps² and 1e-11/eps; with steady drifts it is not."""
    assert broken_area(geodesic(0.2)) < 1e-6
    assert broken_area(FrictionImplicit(step=0.2)) > 1e-4


@pytest.mark.parametrize("seed", range(2))
def test_a_run_goes_back_the_way_it_came(seed: int) -> None:
    """To the iteration's 1e-11 a flight, which a motion of so few turns hardly enlarges."""
    model = arm(4, root=bool(seed))
    there = Running(model, geodesic(0.05)).to(5.0)
    back = Running(model, geodesic(0.05), q=there.q, u=-there.u).to(5.0)
    assert np.abs(there.q - model.q0).max() > 0.1
    assert np.abs(back.q - model.q0).max() < 1e-8
    assert np.abs(back.u + model.u0).max() < 1e-8


def test_momentum_is_kept_to_rounding() -> None:
    """A floating arm, its springs within: its momenta are quadratic in (q, p), which the midpoint rule keeps."""
    model = arm(4, root=True)
    run = Running(model, geodesic(0.1))
    before = momentum(model, run.q, run.u)
    run.to(50.0)
    after = momentum(model, run.q, run.u)
    assert np.abs(after[:6] - before[:6]).max() < 1e-8 * before[6:].max()


def energy_errors(rule: FrictionImplicit, looks: int, chunk: float) -> np.ndarray:
    run = Running(arm(4), rule)
    start, found = run.kinetic_energy() + run.energies().sum(), []
    for k in range(1, looks + 1):
        run.to(k * chunk)
        found.append(run.kinetic_energy() + run.energies().sum() - start)
    return np.array(found)


def test_the_energy_does_not_drift() -> None:
    """Over 20,000 steps that are too long to keep it well, it wanders off no farther than over the first 2,000."""
    error = energy_errors(geodesic(0.2), 400, 10.0)
    early = np.abs(error[:40]).max()
    assert early > 1e-3
    assert np.abs(error[40:]).max() < 2.0 * early
    assert abs(error[200:].mean() - error[:200].mean()) < 0.2 * early


def test_works_make_up_for_the_kinetic_energy() -> None:
    """ΔT of each kick is the work at the mean speed; a flight changes T by the rule's error alone."""
    residuals = [abs(Running(arm(4), geodesic(step)).to(2.0).imbalance()) for step in (0.02, 0.01)]
    assert math.log2(residuals[0] / residuals[1]) == pytest.approx(2.0, abs=0.3)


def test_a_flight_that_is_too_long_says_so() -> None:
    run = Running(arm(), geodesic(40.0))
    assert run.driver.advance(run.state, 400.0, WHOLE) == DIVERGED
    assert run.driver.failure is not None
    assert "integrator.step" in run.driver.failure
