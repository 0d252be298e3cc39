"""NIST's Lennard-Jones reference calculations, configuration 4 (30 particles, L* = 8): every printed digit.

https://www.nist.gov/mml/csd/chemical-informatics-group/lennard-jones-fluid-reference-calculations-cuboid-cell
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import articulon as ar
from tests.support.pair_sums import force_shifted, lennard_jones, pair_sums, pairs_within
from tests.support.particle_models import assert_same, engine_sums, particles, wandered

LENGTH = 8.0
BOX = {"lengths": (LENGTH,) * 3, "origin": (-LENGTH / 2,) * 3}


FILE = Path(__file__).parents[1] / "data" / "nist" / "lj_sample_config_periodic4.txt"
"""Configuration 4 of NIST's Standard Reference Simulation Website."""


@pytest.fixture(scope="module")
def positions() -> np.ndarray:
    count, box, *rows = FILE.read_text(encoding="utf-8").splitlines()
    assert (int(count), box.split()[1:]) == (30, ["8.0", "8.0", "8.0"])
    return np.array([row.split()[1:] for row in rows], dtype=float)


def model_of(positions: np.ndarray, **settings: object) -> ar.Model:
    law = ar.forces.LennardJones(parameters={"A": {"epsilon": 1.0, "sigma": 1.0}}, **settings)
    return particles(positions, law, box=ar.Box(**BOX))


PRINTED = {
    # cutoff, truncation: U*, W* and the long-range correction of U*, half a unit of the last digit
    (3.0, "truncated"): ("-16.790", "-46.249", "-0.54517"),
    (4.0, "truncated"): ("-17.060", "-47.869", "-0.23008"),
    (3.0, "force-shifted"): ("-15.001", "-43.096", None),
}


def is_printed(value: float, digits: str) -> bool:
    return f"{value:.{len(digits.split('.')[1])}f}" == digits


@pytest.mark.parametrize(("cutoff", "truncation"), PRINTED)
def test_energy_and_virial_are_those_that_nist_prints(positions, cutoff, truncation):
    energy, virial, tail = PRINTED[cutoff, truncation]
    found = engine_sums(model_of(positions, cutoff=cutoff, truncation=truncation))
    assert is_printed(found.energy, energy)
    assert is_printed(np.trace(found.virial), virial)
    if tail is not None:
        corrected = engine_sums(model_of(positions, cutoff=cutoff, truncation=truncation, tail_correction=True))
        assert is_printed(corrected.energy - found.energy, tail)
        assert (corrected.forces == found.forces).all()


def test_the_pressure_tail_is_that_of_a_uniform_fluid_beyond_the_cutoff(positions):
    """Allen and Tildesley, Computer Simulation of Liquids, 2nd ed., 2.144: (32/9)πρ²(r_c⁻⁹ − (3/2)r_c⁻³)."""
    density = 30 / LENGTH**3
    with_tail, without = (
        np.trace(engine_sums(model_of(positions, cutoff=3.0, tail_correction=tail)).virial) for tail in (True, False)
    )
    tail = (with_tail - without) / (3 * LENGTH**3)
    assert tail == pytest.approx(32 / 9 * np.pi * density**2 * (3.0**-9 - 1.5 * 3.0**-3), rel=1e-12)


@pytest.mark.parametrize(("cutoff", "truncation"), PRINTED)
def test_more_digits_than_printed_are_those_of_a_sum_over_all_pairs(positions, cutoff, truncation):
    law = lennard_jones(1.0, 1.0)
    law = force_shifted(law, cutoff) if truncation == "force-shifted" else law
    vectors = LENGTH * np.eye(3)
    expected = pair_sums(30, pairs_within(positions, cutoff, vectors), law, cutoff)
    assert_same(engine_sums(model_of(positions, cutoff=cutoff, truncation=truncation)), expected, 1e-13)
    elsewhere = wandered(np.random.default_rng(4), positions, vectors)
    assert_same(engine_sums(model_of(elsewhere, cutoff=cutoff, truncation=truncation)), expected, 1e-13)
    if (cutoff, truncation) == (3.0, "truncated"):
        assert expected.energy == pytest.approx(-16.790321304625856, rel=1e-14)
        assert np.trace(expected.virial) == pytest.approx(-46.24919674630895, rel=1e-14)
