"""The benchmark of hard spheres: its fluids are as dense as they should be, and it says what it has measured."""

import io
import json

import numpy as np
import pytest
from rich.console import Console

from benchmarks import hard_spheres, sphere_gases, tables


@pytest.mark.parametrize("spheres", [500, 1000])
def test_a_fluid_has_the_packing_that_is_asked_for_and_no_overlap(spheres):
    made = sphere_gases.fluid(spheres, 0.3)
    assert made.positions.shape == made.velocities.shape == (spheres, 3)
    assert spheres * np.pi / 6.0 / np.prod(made.gas.box.high) == pytest.approx(0.3)
    assert made.gas.overlap(made.positions)[0] == 0.0
    assert made.temperature == pytest.approx(1.0)
    impacts, virial, taken = made.fly(2.0)
    assert impacts == pytest.approx(2.0 * spheres * sphere_gases.rate_of_impacts(0.3), rel=0.15)
    assert virial > impacts
    assert taken > 0.0


@pytest.mark.slow
def test_the_benchmark_measures_and_prints():
    figures = hard_spheres.measure(scaling=((200, 400, 1),))
    assert figures == json.loads(json.dumps(figures, allow_nan=False))
    assert figures["scaling"]["spheres"] == [200]
    assert all(of > 0 for of in figures["scaling"]["impacts_per_second"])
    out = Console(file=io.StringIO(), width=tables.LEAST_WIDTH)
    hard_spheres.show(figures, out)
    assert "packing fraction of 0.3" in out.file.getvalue()
