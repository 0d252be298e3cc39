"""Canonical momenta and the symplectic rules in them: the vector field, and what the rules conserve.

The bounds on rounding are ε times the size of what is conserved, times the number of steps where errors add up as they
come and its square root where they are as often up as down.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import articulon as ar
from articulon.integrate import Canonical, Explicit, canonical
from articulon.integrate.status import DIVERGED, REACHED
from articulon.integrate.variables import blocks
from articulon.kernels import kernel
from articulon.model import kernel_tables
from articulon.model.state import STEPS
from articulon.scaling import Constant
from tests.support.flying_tree import flying_tree, momenta_about_the_origin
from tests.support.random_models import builder_of, random_coordinates, random_forest
from tests.support.running import Running

EPS = float(np.finfo(float).eps)
RULES = ("verlet", "velocity-verlet", "lobatto-iiia-iiib-3", "implicit-midpoint")
"""``lobatto-iiia-iiib-2`` is velocity Verlet."""


# The vector field


@kernel
def rates(passes, factor, q, p, arrays, qdot, pdot, power):  # type: ignore[no-untyped-def]
    canonical.find_rates(passes, factor, 0.0, q, p, arrays, qdot, pdot, power)


class Field:
    """(q', p') and H of a model whose forces are its springs and gravity."""

    def __init__(self, model: Any) -> None:
        self.run = Running(model, Canonical(step=1.0))
        self.model, self.arrays = model, self.run.driver.scratch  # type: ignore[attr-defined]

    def rates(self, q: np.ndarray, p: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        qdot, pdot, power = np.full(q.size, np.nan), np.full(q.size, np.nan), np.empty(8)
        rates(self.run.driver.passes, np.ones(8), q, p, self.arrays, qdot, pdot, power)  # type: ignore[attr-defined]
        return qdot, pdot

    def hamiltonian(self, q: np.ndarray, p: np.ndarray) -> float:
        self.rates(q, p)
        kinetic = 0.5 * float(self.arrays.mu @ self.arrays.u)
        unit = self.arrays.unit.copy()
        # The speeds are M⁻¹ μ, and the kinetic energy is that of the bodies.
        assert kinetic == pytest.approx(ar.kinetic_energy(self.model, unit, self.arrays.u.copy()), rel=1e-10)
        return kinetic + ar.potential_energy(self.model, unit)


def gradient(function: Any, x: np.ndarray, h: float = 2e-3) -> np.ndarray:
    """Central differences of sixth order."""
    result = np.empty(x.size)
    for k in range(x.size):
        s = np.zeros(x.size)
        s[k] = h
        pairs = [function(x + n * s) - function(x - n * s) for n in (1, 2, 3)]
        result[k] = (45 * pairs[0] - 9 * pairs[1] + pairs[2]) / (60 * h)
    return result


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(6))
def test_the_rates_are_the_gradient_of_the_hamiltonian(seed: int) -> None:
    """Every joint, branches, off-centre bodies; Euler parameters of any norm, and momenta along them."""
    rng = np.random.default_rng(seed)
    description = random_forest(rng, 9)
    start = random_coordinates(description, rng)
    springs = {f"body-{k}": 1.3 for k, body in enumerate(description.bodies) if body.kind in ("revolute", "spherical")}
    builder = builder_of(description, start)
    if springs:
        builder.add_force(ar.forces.TorsionalSprings(stiffness=springs))
    builder.add_force(ar.forces.Gravity(acceleration=(2.0, 1.0, -6.0)))
    field = Field(builder.build())
    q, p = start.copy(), rng.normal(size=start.size)
    for k in field.arrays.quaternion:
        q[k] += np.copysign(0.1, q[k])  # a spring's energy has a kink at a half turn, e0 = 0
        q[k : k + 4] *= rng.uniform(0.6, 1.6)
    qdot, pdot = field.rates(q, p)
    scale = max(np.abs(qdot).max(), np.abs(pdot).max())
    np.testing.assert_allclose(qdot, gradient(lambda x: field.hamiltonian(q, x), p), rtol=0, atol=1e-9 * scale)
    np.testing.assert_allclose(pdot, -gradient(lambda x: field.hamiltonian(x, p), q), rtol=0, atol=1e-9 * scale)


def test_the_norm_of_euler_parameters_means_nothing() -> None:
    """H(c e, p/c) = H(e, p), and so are the rates: a symmetry of the field."""
    rng = np.random.default_rng(17)
    field = Field(flying_tree())
    q, p = field.model.q0.copy(), rng.normal(size=field.model.nq)
    scaled_q, scaled_p, factor = q.copy(), p.copy(), np.ones(q.size)
    for k in field.arrays.quaternion:
        factor[k : k + 4] = rng.uniform(0.5, 2.0)
    scaled_q *= factor
    scaled_p /= factor
    qdot, pdot = field.rates(q, p)
    scaled_qdot, scaled_pdot = field.rates(scaled_q, scaled_p)
    np.testing.assert_allclose(scaled_qdot / factor, qdot, rtol=0, atol=1e-13 * np.abs(qdot).max())
    np.testing.assert_allclose(scaled_pdot * factor, pdot, rtol=0, atol=1e-13 * np.abs(pdot).max())


# What the rules conserve


def energy(run: Running) -> float:
    return run.kinetic_energy() + float(run.energies().sum())


def energy_errors(run: Running, steps: int, samples: int) -> np.ndarray:
    """Of the total energy, at equal intervals."""
    start, errors = energy(run), np.empty(samples)
    for k in range(samples):
        run.driver.advance(run.state, 1e9, steps // samples)
        errors[k] = energy(run) - start
    assert run.steps == steps
    return errors


def drift(errors: np.ndarray, blocks: int = 20) -> tuple[float, float]:
    """Slope of the energy error times the length of the run, and its standard error, from means over blocks, which
    depend far less on each other than single samples do.

    The tree tumbles chaotically and has slow moods: over 24 starts the slope scattered by 1.25 of these errors.
    """
    means = errors.reshape(blocks, -1).mean(axis=1)
    x = (np.arange(blocks) + 0.5) / blocks
    (slope, _), covariance = np.polyfit(x, means, 1, cov=True)
    return float(slope), float(np.sqrt(covariance[0, 0]))


@pytest.mark.slow
@pytest.mark.parametrize("rule", RULES)
def test_the_energy_of_symplectic_rules_does_not_drift(rule: str) -> None:
    errors = energy_errors(Running(flying_tree(), Canonical(rule=rule, step=0.01)), 30_000, 3_000)
    slope, standard_error = drift(errors)
    assert abs(slope) < 4.0 * standard_error  # three times what it scatters by
    # Nor is it hidden in the noise: over all of the run less than the spread of the error itself.
    assert abs(slope) < errors.std()


def test_the_energy_of_an_explicit_rule_drifts() -> None:
    """The same measure finds the drift of RK4 at the same step, in a third of the time."""
    errors = energy_errors(Running(flying_tree(), Explicit(rule="rk4", step=0.01)), 10_000, 1_000)
    slope, standard_error = drift(errors)
    assert abs(slope) > 10.0 * standard_error


@pytest.mark.parametrize("rule", RULES)
def test_the_energy_error_is_of_the_rule_s_order(rule: str) -> None:
    order = 4 if rule == "lobatto-iiia-iiib-3" else 2
    coarse, fine = (
        np.abs(energy_errors(Running(flying_tree(), Canonical(rule=rule, step=0.4 / n)), n, n // 8)).max()
        for n in (64, 128)
    )
    assert np.log2(coarse / fine) == pytest.approx(order, abs=0.1)


def reversed_run(run: Running, steps: int) -> None:
    """Turns the speeds round and goes back."""
    run.driver.advance(run.state, 1e9, steps)
    run.state.u[:] = -run.state.u
    run.state.rule.history[:] = 0.0
    run.driver.advance(run.state, 1e9, steps)


def distance(run: Running, q: np.ndarray, u: np.ndarray) -> float:
    """Largest difference; e and −e are the same rotation."""
    at = run.q.copy()
    for k in blocks(kernel_tables(run.model).forest, run.model.nq, run.model.nu).quaternion:
        if at[k : k + 4] @ q[k : k + 4] < 0.0:
            at[k : k + 4] *= -1.0
    return float(max(np.abs(at - q).max(), np.abs(run.u + u).max()))


@pytest.mark.parametrize("rule", RULES)
def test_symplectic_rules_go_back_in_time_to_rounding(rule: str) -> None:
    """Back at the start after 500 steps each way. A difference at the start grows tenfold in that time, and each step
    adds rounding of some ε of the largest speed."""
    model, steps = flying_tree(), 500
    run = Running(model, Canonical(rule=rule, step=0.01))
    reversed_run(run, steps)
    assert distance(run, model.q0, model.u0) < 10.0 * np.sqrt(2 * steps) * 4.0 * EPS * np.abs(model.u0).max()
    assert run.steps == 2 * steps
    explicit = Running(model, Explicit(rule="rk4", step=0.01))
    reversed_run(explicit, steps)
    assert distance(explicit, model.q0, model.u0) > 1e-7


def momentum_errors(run: Running, steps: int, samples: int = 10) -> tuple[float, float]:
    """Largest errors of linear and angular momentum, relative to their initial magnitudes or that of the spin."""
    start = momenta_about_the_origin(run.model, run.q, run.u)
    worst = [0.0, 0.0]
    for _ in range(samples):
        run.driver.advance(run.state, 1e9, steps // samples)
        now = momenta_about_the_origin(run.model, run.q, run.u)
        for k in range(2):
            worst[k] = max(worst[k], float(np.linalg.norm(now[k] - start[k]) / np.linalg.norm(start[1])))
    return worst[0], worst[1]


@pytest.mark.slow
@pytest.mark.parametrize("rule", RULES)
def test_symplectic_rules_keep_momentum_and_angular_momentum_to_rounding(rule: str) -> None:
    """An isolated tree at rest as a whole. Each of some twenty sums in a step rounds by ε/2 at random."""
    steps = 10_000
    run = Running(flying_tree(resting=True), Canonical(rule=rule, step=0.02))
    linear, angular = momentum_errors(run, steps)
    assert linear < 20.0 * EPS
    assert angular < 20.0 * 0.5 * EPS * np.sqrt(steps)


@pytest.mark.parametrize("rule", RULES)
def test_a_tree_that_flies_off_keeps_its_momenta_to_rounding(rule: str) -> None:
    """The angular momentum about the origin is that of the spin plus x × P, and x grows to a hundred."""
    steps = 2_000
    model = flying_tree()
    run = Running(model, Canonical(rule=rule, step=0.02))
    linear, angular = momentum_errors(run, steps)
    assert linear < 20.0 * EPS
    P, L = momenta_about_the_origin(model, model.q0, model.u0)
    arm = np.linalg.norm(run.q[:3]) * np.linalg.norm(P) / np.linalg.norm(L)
    assert arm > 10.0
    assert angular < 20.0 * 0.5 * EPS * np.sqrt(steps) * arm


@pytest.mark.parametrize(("rule", "order"), [("rk4", 4), ("dormand-prince", 5)])
def test_explicit_rules_keep_momenta_only_to_their_order(rule: Any, order: int) -> None:
    errors = []
    for n in (100, 200):
        run = Running(flying_tree(resting=True), Explicit(rule=rule, step=2.0 / n))
        errors.append(momentum_errors(run, n))
    for coarse, fine in zip(*errors, strict=True):
        assert fine > 1e3 * EPS, "kept by accident"
        assert np.log2(coarse / fine) > order - 0.3


@pytest.mark.parametrize("rule", RULES)
def test_rounding_is_carried_on(rule: str) -> None:
    """What the sums of q and p cut off is kept, and is some ε/2 of them."""
    run = Running(flying_tree(), Canonical(rule=rule, step=0.01))
    run.driver.advance(run.state, 1e9, 10)
    nq = run.model.nq
    values, cut_off = run.state.rule.history[1 : 1 + 2 * nq], run.state.rule.history[1 + 2 * nq :]
    assert cut_off[:nq].any() and cut_off[nq:].any()
    assert np.all(np.abs(cut_off) <= 0.5 * np.spacing(np.abs(values)))


# Forces, works and steps


def test_works_are_those_of_the_energies() -> None:
    """T − T₀ − ΣW vanishes with the order of the rule, gravity, springs and drag among the works."""
    forces = (
        ar.forces.Gravity(acceleration=(2.0, 1.0, -6.0)),
        ar.forces.StokesDrag(translational=0.3, rotational=0.1, flow=(1.0, 0.0, 0.0)),
    )
    for rule in RULES:
        order = 4 if rule == "lobatto-iiia-iiib-3" else 2
        coarse, fine = (
            Running(flying_tree(forces=forces), Canonical(rule=rule, step=1.0 / n), policy=Constant(a2=0.5)).to(1.0)
            for n in (256, 512)
        )
        assert np.log2(abs(coarse.imbalance() / fine.imbalance())) == pytest.approx(order, abs=0.15), rule
        for channel in ("conformational", "external", "damping"):
            assert abs(fine.work(channel)) > 1e-3
        change = fine.energies() - fine.start_energies
        assert fine.work("external") == pytest.approx(-0.5 * change[7], abs=abs(0.02 * change[7]))


def test_drag_is_of_the_rule_s_order_too() -> None:
    model = flying_tree(forces=(ar.forces.StokesDrag(translational=0.6, rotational=0.2),))
    exact = Running(model, Explicit(rule="dormand-prince", rtol=1e-12, atol=1e-13)).to(1.0)
    for rule in RULES:
        order = 4 if rule == "lobatto-iiia-iiib-3" else 2
        errors = [
            np.linalg.norm(Running(model, Canonical(rule=rule, step=1.0 / n)).to(1.0).u - exact.u) for n in (64, 128)
        ]
        assert np.log2(errors[0] / errors[1]) == pytest.approx(order, abs=0.1), rule


def pendulum(length: float) -> Any:
    builder = ar.ModelBuilder(units="kg-m-s")
    builder.add_body("bob", joint=ar.Revolute(axis=(0.0, 1.0, 0.0)), mass=1.0, inertia=0.1, com=(0.0, 0.0, -length))
    builder.add_force(ar.forces.Gravity(acceleration=(0.0, 0.0, -9.81)))
    return builder.build()


@pytest.mark.parametrize("rule", RULES)
def test_what_rests_in_equilibrium_stays(rule: str) -> None:
    run = Running(pendulum(1.0), Canonical(rule=rule, step=0.05)).to(5.0)
    assert abs(run.q[0]) < 1e-12 and abs(run.u[0]) < 1e-12
    # Two bodies held apart by a spring that is not stretched, and nothing at all.
    still = Running(flying_tree(), Canonical(rule=rule, step=0.05), u=np.zeros(18)).to(5.0)
    np.testing.assert_allclose(still.q, still.model.q0, rtol=0, atol=1e-12)


@pytest.mark.parametrize("rule", RULES)
def test_a_step_too_long_for_its_stages_is_refused_with_the_remedy(rule: str) -> None:
    run = Running(flying_tree(), Canonical(rule=rule, step=1.0))
    before = [array.copy() for array in (run.q, run.u, run.state.work, run.state.time)]
    assert run.driver.advance(run.state, 10.0, 100) == DIVERGED
    assert run.driver.failure is not None
    assert "do not converge in steps of 1, so shorten integrator.step" in run.driver.failure
    # The state is that of the last whole step, the first.
    assert run.steps == 0
    for array, kept in zip((run.q, run.u, run.state.work, run.state.time), before, strict=True):
        np.testing.assert_allclose(array, kept, rtol=0, atol=1e-14)
    assert Running(flying_tree(), Canonical(rule=rule, step=0.01)).to(0.1).state.counters[STEPS] == 10


def test_a_simulation_names_the_step_that_is_too_long() -> None:
    with pytest.raises(ar.DivergenceError, match=r"do not converge in steps of 1, so shorten integrator\.step"):
        ar.simulate(flying_tree(), 2.0, rule="verlet", step=1.0, frames=2)


def test_momenta_of_a_state_changed_by_hand_are_found_anew() -> None:
    """As ``history`` says: zeroed, the rule begins anew from q and u."""
    run = Running(flying_tree(), Canonical(step=0.01)).to(0.2)
    other = Running(flying_tree(), Canonical(step=0.01), q=run.q, u=2.0 * run.u)
    run.state.u[:] = 2.0 * run.state.u
    run.state.rule.history[:] = 0.0
    assert run.driver.advance(run.state, 1e9, 20) != DIVERGED
    assert other.driver.advance(other.state, 0.2, 20) == REACHED
    np.testing.assert_allclose(run.u, other.u, rtol=0, atol=1e-13)
