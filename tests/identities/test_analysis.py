"""What is measured on frames, held against sums written out and against closed forms."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import articulon as ar
from articulon.analysis.expected_temperatures import ratio_of_means
from articulon.analysis.scales import fastest_frequency
from articulon.errors import ArticulonError
from articulon.forces.evaluation import Evaluator
from articulon.simulation.results import Run


def a_run(positions: np.ndarray, speeds: np.ndarray | None = None, box: Any = None, kinds: Any = "A") -> Any:
    """Frames of particles at times 0, 0.5, 1, ..."""
    builder = ar.ModelBuilder(units="lj", box=box)
    builder.add_particles(positions.shape[1], mass=1.0, positions=positions[0], kind=kinds)
    run: Any = Run(Path("no folder"))  # what is known of a run is not read from its folder
    run.model, run.positions, run.u = builder.build(), positions, speeds
    run.boxes = None if box is None else np.tile(box.vectors, (len(positions), 1, 1))
    run.observables, run.summary = {"time": 0.5 * np.arange(len(positions))}, {}
    return run


def test_displacements_are_those_of_all_pairs_of_frames() -> None:
    walk = np.cumsum(np.random.default_rng(3).normal(size=(40, 7, 3)), axis=0) + 100.0
    found = ar.analysis.mean_square_displacement(a_run(walk))
    for lag in (0, 1, 13, 39):
        apart = walk[lag:] - walk[: 40 - lag]
        assert found.values[lag] == pytest.approx((apart**2).sum(axis=2).mean(), rel=1e-10, abs=1e-10)
    assert found.times[13] == 6.5


def test_displacements_are_of_the_bodies_that_are_named() -> None:
    walk = np.zeros((4, 3, 3))
    walk[:, 2, 0] = [0.0, 1.0, 2.0, 3.0]
    assert ar.analysis.mean_square_displacement(a_run(walk), "A-2").values.tolist() == [0.0, 1.0, 4.0, 9.0]
    with pytest.raises(ArticulonError, match="no body 'B\\*'"):
        ar.analysis.mean_square_displacement(a_run(walk), "B*")


def test_velocities_are_correlated_over_all_pairs_of_frames() -> None:
    v = np.random.default_rng(4).normal(size=(30, 5, 3))
    found = ar.analysis.velocity_autocorrelation(a_run(np.zeros((30, 5, 3)), v.reshape(30, 15)))
    for lag in (0, 2, 29):
        expected = (v[lag:] * v[: 30 - lag]).sum(axis=2).mean()
        assert found.values[lag] == pytest.approx(expected, rel=1e-10, abs=1e-10)


def test_correlated_samples_are_counted_as_fewer() -> None:
    """x' = φ x + noise has g = (1 + φ)/(1 − φ); its estimate from n samples errs by about √(4 g/n) of it."""
    phi, rng = 0.8, np.random.default_rng(5)
    noise, series = rng.normal(size=40_000), np.zeros(40_000)
    for k in range(1, series.size):
        series[k] = phi * series[k - 1] + noise[k]
    exact = (1.0 + phi) / (1.0 - phi)
    allowed = 3.0 * np.sqrt(4.0 * exact / series.size) * exact
    assert ar.analysis.statistical_inefficiency(series) == pytest.approx(exact, abs=allowed)
    assert ar.analysis.statistical_inefficiency(noise) < 1.1


@pytest.mark.slow
def test_a_crystal_has_its_neighbours_and_random_points_have_none() -> None:
    pytest.importorskip("freud")
    rng, lattice = np.random.default_rng(6), []
    for place in ((0, 0, 0), (0, 0.5, 0.5), (0.5, 0, 0.5), (0.5, 0.5, 0)):
        cells = np.stack(np.meshgrid(*[np.arange(5)] * 3), axis=-1).reshape(-1, 3)
        lattice.append(cells + np.array(place))
    box = ar.Box(lengths=(5, 5, 5), origin=(-1, 0, 2))
    # Unwrapped coordinates: each particle in another image of the box.
    places = np.concatenate(lattice)[None] + 5.0 * rng.integers(-3, 3, size=(1, 500, 3))
    found = ar.analysis.radial_distribution(a_run(places, box=box), bins=40, cutoff=2.0, skip=0.0)
    assert found.neighbours[np.searchsorted(found.distances, 0.85)] == pytest.approx(12.0)
    assert found.neighbours[np.searchsorted(found.distances, 1.1)] == pytest.approx(18.0)
    gas = a_run(rng.uniform(0.0, 5.0, size=(20, 500, 3)), box=box)
    flat = ar.analysis.radial_distribution(gas, bins=10, skip=0.0)
    # Pairs in a shell are counted with Poisson's error.
    pairs = np.diff(flat.neighbours, prepend=0.0) * 500 * 20 / 2
    assert (np.abs(flat.values[1:] - 1.0) < 4.5 / np.sqrt(pairs[1:])).all()


def test_a_distribution_needs_a_periodic_box() -> None:
    pytest.importorskip("freud")
    with pytest.raises(ArticulonError, match="no mean density"):
        ar.analysis.radial_distribution(a_run(np.zeros((3, 2, 3))))


def test_the_configurational_temperature_of_springs_is_that_of_their_distribution() -> None:
    """Φ = ½ k x² of n independent coordinates drawn at kT: |∇Φ|² = k² Σx², ∇²Φ = n k."""
    stiffness, thermal, rng = 3.0, 0.7, np.random.default_rng(7)
    x = rng.normal(size=(4000, 6)) * np.sqrt(thermal / stiffness)
    squares, laplacians = stiffness**2 * (x**2).sum(axis=1), np.full(4000, 6 * stiffness)
    found = ratio_of_means(squares, laplacians, 1.0)
    # Σx² has the relative variance 2/(6·4000).
    assert found.error == pytest.approx(thermal * np.sqrt(2.0 / 24_000), rel=0.15)
    assert abs(found.mean - thermal) < 3.5 * found.error


def test_the_fastest_vibration_is_that_of_the_stiffest_bond() -> None:
    """ω² = k (1/m + 1/m') for a bond, found among slower ones; and none where nothing pulls."""
    builder = ar.ModelBuilder(units="lj")
    positions = [(0.0, 0.0, 0.0), (1.0, 0.0, 0.0), (5.0, 0.0, 0.0), (5.0, 1.0, 0.0)]
    builder.add_particles(4, mass=(2.0, 3.0, 1.0, 1.0), positions=positions, kind="A")
    free = builder.build()
    assert fastest_frequency(Evaluator(free), free.q0) == 0.0
    builder.add_force(ar.forces.HarmonicBonds(bonds=((0, 1), (2, 3)), stiffness=(120.0, 10.0), length=1.0))
    model = builder.build()
    assert fastest_frequency(Evaluator(model), model.q0) == pytest.approx(10.0, rel=1e-6)


def test_a_quantity_that_is_not_there_is_named() -> None:
    run = a_run(np.zeros((3, 2, 3)))
    with pytest.raises(ArticulonError, match="no observable 'temperature'"):
        ar.analysis.average(run, "temperature")
    with pytest.raises(ArticulonError, match="not defined"):
        ar.analysis.configurational_temperature(run)
    with pytest.raises(ArticulonError, match="skip must be"):
        ar.analysis.mean_square_displacement(run, skip=1.0)
