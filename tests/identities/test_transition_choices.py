"""Which released speeds are taken: optimality on the ellipsoid of one energy, the stated rule where several are as
good, and uniform draws."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from scipy import optimize, stats
from scipy.linalg import eigh

from articulon.errors import TransitionError
from articulon.rng import fill_normals
from articulon.transitions import choices
from tests.support.transition_models import dense_nearest

seeds = pytest.mark.parametrize("seed", range(25))


def positive(rng: np.random.Generator, m: int, condition: float = 1e3) -> np.ndarray:
    axes = np.linalg.qr(rng.normal(size=(m, m)))[0]
    result = axes @ np.diag(condition ** rng.uniform(size=m)) @ axes.T
    return (result + result.T) / 2


def energy_of(S: np.ndarray, b: np.ndarray, x: np.ndarray) -> float:
    return float(b @ x + 0.5 * x @ S @ x)


def best_of_many(objective: Callable, surface: choices.Ellipsoid, rng: np.random.Generator, starts: int = 20) -> float:
    """The least of an objective of x that SLSQP finds from random starts."""
    best = np.inf
    for _ in range(starts):
        start = rng.normal(size=len(surface.centre))
        found = optimize.minimize(
            lambda z: objective(surface.point(z)),
            start / np.linalg.norm(start),
            method="SLSQP",
            constraints={"type": "eq", "fun": lambda z: z @ z - 1.0},
            options={"ftol": 1e-14, "maxiter": 300},
        )
        best = min(best, objective(surface.point(found.x)))
    return float(best)


@seeds
def test_the_nearest_is_a_minimum_and_has_the_energy(seed: int) -> None:
    rng = np.random.default_rng(seed)
    m = int(rng.integers(1, 9))
    G, S, b, wanted = positive(rng, m), positive(rng, m), rng.normal(size=m), rng.normal(size=m)
    energy = choices.least_energy(S, b) + float(rng.uniform(0.01, 30.0))
    surface = choices.ellipsoid(S, b, energy)
    x = choices.nearest(G, surface, wanted)
    assert energy_of(S, b, x) == pytest.approx(energy, rel=1e-12, abs=1e-12)
    np.testing.assert_allclose(x, dense_nearest(G, S, b, energy, wanted), rtol=0, atol=1e-9 * np.abs(x).max())

    def objective(x: np.ndarray) -> float:
        return float((x - wanted) @ G @ (x - wanted))

    assert objective(x) <= best_of_many(objective, surface, rng, 5) * (1 + 1e-9)


@seeds
def test_other_units_choose_the_same_speeds(seed: int) -> None:
    rng = np.random.default_rng([seed, 1])
    m = int(rng.integers(2, 9))
    G, S, b, wanted = positive(rng, m), positive(rng, m), rng.normal(size=m), rng.normal(size=m)
    unit = 10.0 ** rng.uniform(-6, 6, size=m)
    for reference in (wanted, np.zeros(m)):
        here = choices.ellipsoid(S, b, 2.0)
        there = choices.ellipsoid(S / np.outer(unit, unit), b / unit, 2.0)
        expected = choices.nearest(G, here, reference)
        found = choices.nearest(G / np.outer(unit, unit), there, unit * reference) / unit
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-11 * np.abs(expected).max())
    np.testing.assert_allclose(
        choices.nearest_by_mass(there, unit * wanted) / unit, choices.nearest_by_mass(here, wanted), rtol=1e-11
    )


@seeds
def test_a_reference_of_the_right_energy_is_taken(seed: int) -> None:
    rng = np.random.default_rng([seed, 2])
    m = int(rng.integers(1, 9))
    G, S, b, wanted = positive(rng, m), positive(rng, m, 1e6), rng.normal(size=m), rng.normal(size=m)
    surface = choices.ellipsoid(S, b, energy_of(S, b, wanted))
    for x in (choices.nearest(G, surface, wanted), choices.nearest_by_mass(surface, wanted)):
        np.testing.assert_allclose(x, wanted, rtol=0, atol=1e-12 * np.abs(wanted).max())


@seeds
def test_published_is_the_eigenvector_of_the_smallest_eigenvalue(seed: int) -> None:
    rng = np.random.default_rng([seed, 3])
    m = int(rng.integers(1, 9))
    G, S, none = positive(rng, m), positive(rng, m), np.zeros(m)
    _, vectors = eigh(G, S)
    x = choices.published(G, choices.ellipsoid(S, none, 0.7))
    mode = vectors[:, 0] * np.sqrt(1.4)
    mode *= np.sign((S @ mode)[0])
    np.testing.assert_allclose(x, mode, rtol=0, atol=1e-9 * np.abs(mode).max())
    assert (S @ x)[0] > 0.0


def test_of_equal_modes_that_with_most_momentum_at_the_first_released_speed_is_taken() -> None:
    rng = np.random.default_rng(4)
    S, none = positive(rng, 5), np.zeros(5)
    surface = choices.ellipsoid(S, none, 1.0)
    # All modes are equal: the change is as large in any direction, and (S x)₁ is largest along the first axis.
    expected = np.eye(5)[0] * np.sqrt(2.0 / S[0, 0])
    np.testing.assert_allclose(choices.published(3.0 * S, surface), expected, rtol=0, atol=1e-12)
    # The equal modes have nothing at the first axis: then it is the second's.
    surface = choices.ellipsoid(np.diag([1.0, 4.0, 1.0]), np.zeros(3), 2.0)
    np.testing.assert_allclose(choices.published(np.diag([2.0, 4.0, 1.0]), surface), [0.0, 1.0, 0.0], atol=1e-14)


@seeds
def test_the_hard_case(seed: int) -> None:
    """The reference has nothing along the nearest axis and is too near to the centre for the others alone."""
    rng = np.random.default_rng([seed, 5])
    m = int(rng.integers(2, 9))
    # Axes are known to their rounding times λₘ/λ₁, which has to stay below what counts as nothing along the nearest.
    G, S, none = positive(rng, m, 30.0), positive(rng, m, 30.0), np.zeros(m)
    values, vectors = eigh(G, S)
    # ζᵢ = λᵢ pᵢ/(λᵢ − λ₁) with Σ ζ² below the radius.
    zeta = np.concatenate([[0.0], rng.normal(size=m - 1)])
    radius = float(np.linalg.norm(zeta)) * rng.uniform(1.1, 3.0)
    p = zeta * (values - values[0]) / values
    surface = choices.ellipsoid(S, none, 0.5 * radius**2)
    x = choices.nearest(G, surface, vectors @ p)
    expected = zeta.copy()
    expected[0] = np.sqrt(radius**2 - zeta @ zeta)
    expected[0] *= np.sign((S @ vectors[:, 0])[0])
    # The rule decides, and the answer solves the equations of a least value with μ = −λ₁.
    np.testing.assert_allclose(x, vectors @ expected, rtol=0, atol=1e-8 * np.abs(x).max())
    residual = (G - values[0] * S) @ x - G @ (vectors @ p)
    assert np.abs(residual).max() <= 1e-8 * np.abs(G @ x).max()


@pytest.mark.parametrize("size", [1e-2, 1e-6, 1e-9, 1e-12, 1e-20, 0.0])
@pytest.mark.parametrize("sign", [-1.0, 1.0])
def test_near_the_hard_case_the_answer_is_as_good_as_any(size: float, sign: float) -> None:
    """On either side: the nearest answer leans to where the reference leans, as long as that is more than rounding."""
    rng = np.random.default_rng(6)
    ratios, first = np.array([1.0, 1.5, 4.0, 1e3]), np.array([True, False, False, False])
    p = np.array([sign * size, 0.1, 0.3, -0.2])
    zeta = choices.nearest_on_sphere(ratios, first, p, 1.0, np.ones(1))
    assert np.linalg.norm(zeta) == pytest.approx(1.0, rel=1e-14)
    if size > 1e-12:
        assert zeta[0] * sign > 0.0
    mirrored = zeta * np.array([-1.0, 1.0, 1.0, 1.0])
    others = rng.normal(size=(2000, 4))
    others = np.vstack([others / np.linalg.norm(others, axis=1, keepdims=True), mirrored])
    # Points around the answer, too.
    around = zeta + 1e-4 * rng.normal(size=(2000, 4))
    others = np.vstack([others, around / np.linalg.norm(around, axis=1, keepdims=True)])
    objective = (ratios * (np.vstack([zeta, others]) - p) ** 2).sum(axis=1)
    assert objective[0] <= objective[1:].min() * (1 + 1e-12)


def test_the_least_energy_leaves_one_answer() -> None:
    rng = np.random.default_rng(7)
    G, S, b = positive(rng, 4), positive(rng, 4), rng.normal(size=4)
    surface = choices.ellipsoid(S, b, choices.least_energy(S, b))
    centre = -np.linalg.solve(S, b)
    for x in (
        choices.nearest(G, surface, rng.normal(size=4)),
        choices.nearest_by_mass(surface, rng.normal(size=4)),
        choices.published(G, surface),
        choices.on_sphere(surface, rng.normal(size=4)),
        choices.optimised(lambda x: float(x @ x), surface, np.zeros(4)),
    ):
        # ρ² is the rounding of b S⁻¹ b.
        np.testing.assert_allclose(x, centre, rtol=0, atol=1e-6)


def test_the_mass_metric_without_a_reference_is_refused() -> None:
    surface = choices.ellipsoid(np.eye(3), np.zeros(3), 1.0)
    with pytest.raises(TransitionError, match=r"metric 'mass': .* so that a reference is needed; give"):
        choices.nearest_by_mass(surface, np.zeros(3))


def test_the_mass_metric_scales_the_reference() -> None:
    rng = np.random.default_rng(8)
    S, wanted = positive(rng, 5), rng.normal(size=5)
    x = choices.nearest_by_mass(choices.ellipsoid(S, np.zeros(5), 3.0), wanted)
    np.testing.assert_allclose(x / wanted, np.full(5, np.sqrt(6.0 / (wanted @ S @ wanted))), rtol=1e-13)


@pytest.mark.filterwarnings("ignore:invalid value encountered:RuntimeWarning")  # of the objective that has no value
def test_an_objective_of_the_users_own_finds_the_nearest() -> None:
    rng = np.random.default_rng(9)
    G, S, b, wanted = positive(rng, 4, 10.0), positive(rng, 4, 10.0), rng.normal(size=4), rng.normal(size=4)
    surface = choices.ellipsoid(S, b, 5.0)

    def objective(x: np.ndarray) -> float:
        return float((x - wanted) @ G @ (x - wanted))

    x = choices.optimised(objective, surface, wanted)
    assert objective(x) <= objective(choices.nearest(G, surface, wanted)) * (1 + 1e-8)
    with pytest.raises(TransitionError, match="no finite value"):
        choices.optimised(lambda x: np.nan, surface, wanted)


def draws(m: int, count: int, stretch: float) -> np.ndarray:
    """Directions z (count, m) of draws, the normals stretched along the first axis."""
    rng = np.random.default_rng(10)
    S, b = positive(rng, m), rng.normal(size=m)
    surface = choices.ellipsoid(S, b, 4.0)
    found, normals = np.empty((count, m)), np.empty(m)
    for k in range(count):
        fill_normals(1, 3, k, normals)
        normals[0] *= stretch
        found[k] = surface.whitened(choices.on_sphere(surface, normals)) / surface.radius
    return found


def worst_probability(z: np.ndarray) -> float:
    """The smallest of the p-values, times their number, of every component's distribution on the sphere, of a random
    direction's, and of the octants."""
    m = z.shape[1]
    direction = np.ones(m) / np.sqrt(m)
    marginal = stats.beta((m - 1) / 2, (m - 1) / 2, loc=-1, scale=2)
    values = [stats.kstest(c, marginal.cdf).pvalue for c in (*z.T, z @ direction)]
    values += [stats.kstest(c**2, stats.beta(0.5, (m - 1) / 2).cdf).pvalue for c in z.T]
    octant = (z[:, :3] > 0) @ np.array([1, 2, 4])
    values.append(stats.chisquare(np.bincount(octant, minlength=8)).pvalue)
    return float(min(values)) * len(values)


@pytest.mark.parametrize("m", [3, 5])
def test_draws_are_uniform_on_the_sphere(m: int) -> None:
    assert worst_probability(draws(m, 10_000, 1.0)) > 1e-3


def test_the_test_of_uniform_draws_sees_a_bias_of_a_tenth() -> None:
    assert worst_probability(draws(3, 10_000, 1.1)) < 1e-3
