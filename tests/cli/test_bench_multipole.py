"""The benchmark of the fast multipole method: what it says is what it has measured. No timing is checked here."""

import io
import json

import pytest
from rich.console import Console

import benchmarks
from benchmarks import multipole, tables


def test_the_crossover_of_two_powers_is_where_they_meet():
    sizes = (1_000, 4_000, 16_000, 64_000)
    direct = [1e-9 * n**2 for n in sizes]
    assert multipole.crossover(sizes, direct, [2e-5 * n for n in sizes]) == pytest.approx(20_000)
    assert multipole.crossover(sizes, direct, [1e-3 * n for n in sizes]) is None
    assert multipole.crossover(sizes, direct, [1e-9 * n for n in sizes]) is None
    assert multipole.crossover(sizes, direct, [None] * 4) is None
    # From there on, not by luck at one size below it.
    assert multipole.crossover((1, 2, 4, 8), [1.0, 3.0, 1.0, 4.0], [2.0, 2.0, 2.0, 2.0]) == pytest.approx(4 * 2**0.5)


def test_the_benchmark_measures_and_prints():
    pytest.importorskip("fmm3dpy")
    figures = multipole.measure(sizes=(60, 120), precisions=(1e-3, 1e-6), seconds=0.01)
    assert figures == json.loads(json.dumps(figures, allow_nan=False))
    assert all(taken > 0.0 for taken in (*figures["direct"]["1"], *figures["multipole"]["1e-03"]))
    for name, errors in figures["error"].items():
        assert max(errors) < float(name)
    out = Console(file=io.StringIO(), width=tables.LEAST_WIDTH, highlight=False, markup=False)
    multipole.show(figures, out)
    text = out.file.getvalue()
    for word in ("120", "1e-06", "sum over all pairs", "fmm3dpy"):
        assert word in text
    assert "multipole" in benchmarks.BENCHMARKS


def test_without_the_library_the_sum_over_pairs_is_measured_alone(monkeypatch):
    monkeypatch.setattr(multipole, "find_spec", lambda name: None)
    figures = multipole.measure(sizes=(20, 40), precisions=(1e-3,), seconds=0.01)
    assert figures["multipole"] == {"1e-03": [None, None]} and figures["crossover"]["1"] == {"1e-03": None}
    assert all(taken > 0.0 for taken in figures["direct"]["1"])
    multipole.show(figures, Console(file=io.StringIO()))
