"""Laws of hard spheres from impact to impact: momentum, energy, pressure, cooling, and no way through each other."""

from __future__ import annotations

import numpy as np
import pytest

from articulon.integrate.hard_sphere_tables import OPEN, PERIODIC, WALL
from articulon.integrate.sphere_gas import SphereBox, SphereGas
from tests.support.hard_sphere_gases import lattice_gas, mixture


def carnahan_starling(packing: float) -> float:
    """Z of the fluid of equal hard spheres (Journal of Chemical Physics 51, 635, 1969)."""
    return (1.0 + packing + packing**2 - packing**3) / (1.0 - packing) ** 3


def pair(restitution: float, masses: tuple[float, float] = (1.0, 3.0)) -> SphereGas:
    """Two spheres of diameters 1 and 2 in the open."""
    box = SphereBox(np.zeros(3), np.zeros(3), np.full(3, OPEN))
    table = np.array([[restitution]])
    return SphereGas(np.array([0.5, 1.0]), np.array(masses), np.zeros(2, int), table, box)


def test_momentum_and_energy_of_an_elastic_gas_are_kept_to_rounding() -> None:
    """A random walk of roundings: √impacts ε of what one impact exchanges."""
    start = lattice_gas(5, 0.3)
    energy, momentum = float((start.velocities**2).sum()), start.velocities.sum(axis=0)
    found = start.gas.advance(start.positions, start.velocities, 20.0)
    assert found is not None and found.impacts > 40_000
    assert found.loss == 0.0
    size = float(np.abs(start.velocities).sum())
    assert np.abs(start.velocities.sum(axis=0) - momentum).max() < 1e-13 * size
    assert float((start.velocities**2).sum()) == pytest.approx(energy, rel=1e-13)
    assert start.gas.overlap(start.positions)[0] < 1e-13


@pytest.mark.parametrize("restitution", [0.0, 0.3, 1.0])
def test_an_impact_takes_what_the_restitution_says_along_the_line_of_centres_alone(restitution: float) -> None:
    """½ μ (1 − e²) v_n², with v_n⁺ = −e v_n⁻ and the speed across unchanged."""
    gas = pair(restitution)
    x, v = np.array([[-4.0, 0.9, 0.0], [0.0, 0.0, 0.0]]), np.array([[2.0, 0.1, -0.05], [-0.5, 0.0, 0.0]])
    before, energy = v.copy(), float((gas.mass[:, None] * v**2).sum()) / 2.0
    b, w = x[1] - x[0], v[1] - v[0]
    a, half, c = w @ w, b @ w, b @ b - 1.5**2
    tau = (-half - np.sqrt(half**2 - a * c)) / a
    normal = (b + w * tau) / 1.5
    approach = float(-w @ normal)
    found = gas.advance(x, v, 2.0 * tau)
    assert found is not None and found.impacts == 1
    assert float((v[1] - v[0]) @ normal) == pytest.approx(restitution * approach, abs=1e-14)
    np.testing.assert_allclose(v[1] - v[0] - ((v[1] - v[0]) @ normal) * normal, w + approach * normal, atol=1e-14)
    np.testing.assert_allclose(gas.mass @ v, gas.mass @ before, rtol=0, atol=1e-14)
    loss = 0.5 * 0.75 * (1.0 - restitution**2) * approach**2
    assert found.loss == pytest.approx(loss, rel=1e-13, abs=1e-30)
    assert energy - float((gas.mass[:, None] * v**2).sum()) / 2.0 == pytest.approx(loss, rel=1e-12, abs=1e-14)
    assert found.impulse == pytest.approx((1.0 + restitution) * 0.75 * approach, rel=1e-13)
    assert found.virial == pytest.approx(1.5 * found.impulse, rel=1e-13)


def test_the_ledger_of_a_lossy_mixture_closes() -> None:
    start = mixture()
    energy = float((start.gas.mass[:, None] * start.velocities**2).sum()) / 2.0
    found = start.gas.advance(start.positions, start.velocities, 5.0)
    assert found is not None and found.impacts > 40
    left = float((start.gas.mass[:, None] * start.velocities**2).sum()) / 2.0
    assert left < energy
    assert left + found.loss == pytest.approx(energy, rel=1e-14)


@pytest.mark.parametrize("speed", [1.0, 1e4, 1e8])
def test_nothing_goes_through_at_any_speed(speed: float) -> None:
    """A sphere that crosses ten thousand diameters and more, and one in its way."""
    gas, x = pair(1.0, (1.0, 1.0)), np.array([[-1e4, 0.0, 0.0], [1e4, 0.0, 0.0]])
    v = np.array([[speed, 0.0, 0.0], [0.0, 0.0, 0.0]])
    found = gas.advance(x, v, 4e4 / speed)
    assert found is not None and found.impacts == 1
    np.testing.assert_allclose(v, [[0.0, 0.0, 0.0], [speed, 0.0, 0.0]], rtol=0, atol=1e-15 * speed)
    np.testing.assert_allclose(x[:, 0], [1e4 - 1.5, 1e4 + 2e4 + 1.5], rtol=1e-12)


@pytest.mark.parametrize(("packing", "duration"), [(0.1, 120.0), (0.2, 60.0), (0.3, 30.0)])
def test_pressure_is_that_of_carnahan_and_starling(packing: float, duration: float) -> None:
    """Within three standard errors, from blocks that are much longer than the time between impacts; of 500 spheres, Z
    is lower by less than 1/N of what is above 1."""
    start = lattice_gas(5, packing)
    n, blocks = len(start.positions), []
    start.gas.advance(start.positions, start.velocities, 10.0)
    for _ in range(20):
        found = start.gas.advance(start.positions, start.velocities, duration / 20)
        assert found is not None
        blocks.append(1.0 + found.virial / (3.0 * n * duration / 20))
    wanted = carnahan_starling(packing)
    error = np.std(blocks, ddof=1) / np.sqrt(len(blocks))
    assert error < 0.01 * wanted
    assert abs(np.mean(blocks) - wanted) < 3.0 * error + (wanted - 1.0) / n


def test_a_gas_that_loses_energy_cools_by_haffs_law() -> None:
    """T = T₀/(1 + t/τ)² with 1/τ = (1 − e²) ω₀/6, of Enskog's rate of impacts ω₀ = 4 n σ² g √(π T₀/m): P. K. Haff,
    Journal of Fluid Mechanics 134, 401 (1983). While the gas stays even; speeds are no longer of Maxwell, which
    changes τ by less than 1 − e in all, and T of 2048 spheres fluctuates with the losses by a percent."""
    packing, e = 0.2, 0.95
    start = lattice_gas(8, packing, e)
    n = len(start.positions)
    density = 6.0 * packing / np.pi
    contact = (1.0 - packing / 2.0) / (1.0 - packing) ** 3
    start.gas.restitution = np.ones((1, 1))
    start.gas.advance(start.positions, start.velocities, 3.0)  # melts
    start.gas.restitution = np.array([[e]])
    tau = 6.0 / ((1.0 - e**2) * 4.0 * density * contact * np.sqrt(np.pi))
    for k in range(1, 5):
        start.gas.advance(start.positions, start.velocities, 0.5 * tau)
        temperature = float((start.velocities**2).sum()) / (3.0 * n - 3.0)
        assert temperature == pytest.approx(1.0 / (1.0 + 0.5 * k) ** 2, rel=0.05)


def test_a_ball_comes_to_rest_when_the_series_of_its_bounces_ends() -> None:
    """t = √(2 h/g) (1 + e)/(1 − e); the last bounces, in an instant, say that they have no end."""
    e, h, g, edge = 0.7, 2.0, 9.81, 20.0
    box = SphereBox(np.zeros(3), np.full(3, edge), np.full(3, WALL), np.full(6, e))
    gas = SphereGas(np.array([0.5]), np.ones(1), np.zeros(1, int), np.ones((1, 1)), box, np.array([0.0, 0.0, -g]))
    x, v = np.array([[5.0, 5.0, 0.5 + h]]), np.array([[1e-6, 0.0, 0.0]])
    assert gas.advance(x, v, 10.0) is None
    assert gas.collapsed == 0
    assert gas.collapse_time == pytest.approx(np.sqrt(2.0 * h / g) * (1.0 + e) / (1.0 - e), rel=1e-5)


def test_three_in_a_row_collapse_below_the_restitution_of_theory_and_not_above() -> None:
    """Two that squeeze a third one between them have endless impacts for e < 7 − 4 √3 ≈ 0.072 (B. Bernu and R.
    Mazighi, Journal of Physics A 23, 5745, 1990; S. McNamara and W. R. Young, Physics of Fluids A 4, 496, 1992)."""
    box = SphereBox(np.zeros(3), np.zeros(3), np.full(3, OPEN))
    for e, collapses in ((0.06, True), (0.09, False)):
        gas = SphereGas(np.full(3, 0.5), np.ones(3), np.zeros(3, int), np.array([[e]]), box)
        x, v = np.zeros((3, 3)), np.zeros((3, 3))
        x[:, 0], v[:, 0] = (-3.0, 0.0, 1.01), (1.0, 0.0, -1.0)
        assert (gas.advance(x, v, 100.0) is None) == collapses


def test_below_the_resting_speed_impacts_take_all_and_end() -> None:
    box = SphereBox(np.zeros(3), np.zeros(3), np.full(3, OPEN))
    gas = SphereGas(np.full(3, 0.5), np.ones(3), np.zeros(3, int), np.array([[0.06]]), box, resting_speed=1e-6)
    x, v = np.zeros((3, 3)), np.zeros((3, 3))
    x[:, 0], v[:, 0] = (-3.0, 0.0, 1.01), (1.0, 0.0, -1.0)
    energy = float((v**2).sum()) / 2.0
    found = gas.advance(x, v, 100.0)
    assert found is not None
    assert np.ptp(v[:, 0]) < 1e-5
    assert np.abs(v.sum(axis=0)).max() < 1e-15
    assert float((v**2).sum()) / 2.0 + found.loss == pytest.approx(energy, rel=1e-14)


@pytest.mark.parametrize("seed", range(5))
def test_rows_that_touch_and_are_pushed_come_to_the_end_of_their_impacts(seed: int) -> None:
    """Plastic impacts in a row that moves fast: each leaves a part of the speed, down to the last digits."""
    rng, n = np.random.default_rng(seed), 5
    way = rng.normal(size=3)
    way /= np.linalg.norm(way)
    x, v = np.arange(n)[:, None] * way, np.tile(10.0 * rng.normal(size=3), (n, 1))
    x[0] -= way
    v[0] += way
    box = SphereBox(np.zeros(3), np.zeros(3), np.full(3, OPEN))
    gas = SphereGas(np.full(n, 0.5), rng.uniform(0.5, 2.0, n), np.zeros(n, int), np.zeros((1, 1)), box, None, 1e-2)
    momentum, looks = gas.mass @ v, 0

    def too_long() -> bool:
        nonlocal looks
        looks += 1
        assert looks < 20, "endless impacts"
        return False

    assert gas.advance(x, v, 3.0, too_long) is not None
    np.testing.assert_allclose(gas.mass @ v, momentum, rtol=1e-13)
    assert np.ptp(v @ way) < 1e-12


def test_places_are_not_wrapped() -> None:
    """Two that cross a periodic box again and again and do not meet."""
    box = SphereBox(np.full(3, -1.0), np.full(3, 4.0), np.full(3, PERIODIC))
    gas = SphereGas(np.full(2, 0.2), np.ones(2), np.zeros(2, int), np.ones((1, 1)), box)
    x, v = np.array([[23.0, 0.0, -51.0], [0.5, 2.0, 3.0]]), np.array([[3.0, 0.0, -7.0], [-2.0, 0.0, 0.0]])
    expected = x + 9.7 * v
    assert gas.advance(x, v, 9.7) is not None
    np.testing.assert_allclose(x, expected, rtol=0, atol=1e-12)


def test_reflecting_walls_turn_surfaces_round() -> None:
    start = mixture(WALL)
    energy = float((start.gas.mass[:, None] * start.velocities**2).sum())
    start.gas.restitution = np.ones((2, 2))
    for _ in range(5):
        found = start.gas.advance(start.positions, start.velocities, 3.0)
        assert found is not None and found.wall_impacts > 10
        low, high = start.gas.radius[:, None], start.gas.box.high - start.gas.radius[:, None]
        assert (start.positions > low - 1e-12).all() and (start.positions < high + 1e-12).all()
    assert float((start.gas.mass[:, None] * start.velocities**2).sum()) == pytest.approx(energy, rel=1e-13)


def test_gravity_between_impacts_is_conserved_energy() -> None:
    start = mixture(WALL, (0.2, 0.0, -1.3))
    start.gas.restitution, g, m = np.ones((2, 2)), start.gas.gravity, start.gas.mass

    def energy() -> float:
        return float((m[:, None] * start.velocities**2).sum()) / 2.0 - float(m @ (start.positions @ g))

    before = energy()
    found = start.gas.advance(start.positions, start.velocities, 20.0)
    assert found is not None and found.impacts + found.wall_impacts > 300
    assert energy() == pytest.approx(before, rel=1e-12)


def test_a_drifting_gas_hits_as_a_resting_one_does() -> None:
    """The same impacts in a moving frame, over a few of each sphere; then rounding parts the two."""
    start, moving = lattice_gas(3, 0.2), lattice_gas(3, 0.2)
    drift = np.array([0.7, -0.3, 11.0])
    moving.velocities += drift
    found = start.gas.advance(start.positions, start.velocities, 0.7)
    other = moving.gas.advance(moving.positions, moving.velocities, 0.7)
    assert found is not None and other is not None and found.impacts == other.impacts > 100
    np.testing.assert_allclose(moving.positions - 0.7 * drift, start.positions, rtol=0, atol=1e-9)
