"""The benchmark of transitions: what it says is what it has measured. No timing is checked here."""

import io
import json

import pytest
from rich.console import Console

import benchmarks
from benchmarks import tables, transitions


def test_the_exponent_of_a_power_is_its_power():
    sizes = (16, 64, 256, 1024)
    assert transitions.exponent(sizes, [3e-4 * n**1.25 for n in sizes]) == pytest.approx(1.25, abs=1e-3)
    assert transitions.exponent(sizes, [1e-9 * n**3 for n in sizes], least=64) == pytest.approx(3.0, abs=1e-3)
    assert transitions.exponent(sizes, [1.0, None, None, 2.0]) is None


def test_the_crossover_of_two_powers_is_where_they_meet():
    sizes = (16, 64, 256, 1024)
    linear = [1e-2 * n for n in sizes]
    assert transitions.crossover(sizes, linear, [1e-4 * n**2 for n in sizes]) == pytest.approx(100, rel=1e-3)
    assert transitions.crossover(sizes, linear, [1.0 * n for n in sizes]) == 16
    assert transitions.crossover(sizes, linear, [1e-3 * n for n in sizes]) is None
    assert transitions.crossover(sizes, linear, [None] * 4) is None


@pytest.mark.slow
def test_the_benchmark_measures_and_prints():
    figures = transitions.measure(sizes=(16, 32, 48), seconds=0.01)
    assert figures == json.loads(json.dumps(figures, allow_nan=False))
    for name in ("lock_ms", "release_ms", "dense_ms"):
        assert all(taken > 0.0 for taken in figures[name])
    assert max(figures["difference"]) <= 1e-9 and max(figures["momentum"]) <= 1e-12
    out = Console(file=io.StringIO(), width=tables.LEAST_WIDTH, highlight=False, markup=False)
    transitions.show(figures, out)
    text = out.file.getvalue()
    for word in ("dense release", "crossover", "exponent", "48"):
        assert word in text
    assert "transitions" in benchmarks.BENCHMARKS
