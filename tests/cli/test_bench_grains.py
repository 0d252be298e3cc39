"""The benchmark of grains: its beds lie where they should, and it says what it has measured. No timing is checked."""

import io
import json

import numpy as np
import pytest
from rich.console import Console

from benchmarks import beds, grains, tables


@pytest.mark.parametrize("start", [beds.loose, beds.dense])
def test_a_bed_lies_between_its_walls(start):
    """No sphere of the loose one touches anything; those of the dense one overlap by less than contacts allow."""
    bed = start(1000)
    assert bed.positions.shape == (1000, 3)
    outside = np.minimum(bed.positions, bed.length - bed.positions)[:, :2] - bed.radii[:, None]
    apart = np.linalg.norm(bed.positions[:, None] - bed.positions, axis=2) - bed.radii[:, None] - bed.radii
    np.fill_diagonal(apart, 1.0)
    least = min(outside.min(), (bed.positions[:, 2] - bed.radii).min(), apart.min()) / bed.radii.min()
    assert least > (0.0 if start is beds.loose else -0.05)
    assert (np.sum(apart < 0.0) > 2000) == (start is beds.dense)


def test_a_bed_goes_on_from_where_it_has_come_to():
    """As LAMMPS gets it: positions, velocities and spins about the world's axes, with which a new one starts."""
    running = beds.Running(beds.dense(216))
    running.advance(1, 100)
    bed = running.now()
    again = beds.Running(bed)
    assert np.array_equal(again.now().positions, bed.positions)
    assert np.array_equal(again.now().spins, bed.spins)
    assert np.abs(bed.spins).max() > 1.0
    inertia = 0.4 * 4.0 / 3.0 * np.pi * beds.DENSITY * bed.radii**5
    before = running.state.u.reshape(-1, 6)[:, 3:]
    assert np.sum(inertia[:, None] * bed.spins**2) == pytest.approx(np.sum(inertia[:, None] * before**2))


@pytest.mark.slow
def test_the_benchmark_measures_and_prints():
    figures = grains.measure(spheres=1000, settling=50, steps=20, rounds=1, scaling=((512, 5, 1, 2),))
    assert figures == json.loads(json.dumps(figures, allow_nan=False))
    assert figures["spheres"] == 1000
    assert figures["scaling"]["spheres"] == [512]
    assert all(of > 1.0 for of in figures["scaling"]["contacts_per_sphere"])
    for peer in ("lammps", "lammps_same_law"):
        for threads, speed in figures[peer].items():
            if speed is not None and figures["ours"][threads] is not None:
                assert figures["ratios"][peer][threads] == pytest.approx(figures["ours"][threads] / speed, rel=1e-2)
    assert figures["lammps"]["1"] is None or figures["lammps"]["1"] >= figures["lammps_same_law"]["1"]
    out = Console(file=io.StringIO(), width=tables.LEAST_WIDTH)
    grains.show(figures, out)
    assert "1,000 spheres that settle in a box" in out.file.getvalue()
