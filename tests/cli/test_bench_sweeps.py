"""The benchmark of sweeps says what it has measured. No timing is checked."""

import io
import json

import pytest
from rich.console import Console

import benchmarks
from benchmarks import sweeps


@pytest.mark.slow  # starts three workers
def test_sweeps_are_measured_and_shown():
    figures = sweeps.measure(members=2, seconds=0.05)
    json.dumps(figures, allow_nan=False)
    one, two = figures["1 workers"], figures["2 workers"]
    assert all(0.0 < found["running"] <= found["wall"] and found["each"] > 0.0 for found in (one, two))
    assert figures["speed-up"] == one["running"] / two["running"]
    out = io.StringIO()
    sweeps.show(figures, Console(file=out, width=120))
    assert "by two workers" in out.getvalue() and "throughput of two workers relative to one" in out.getvalue()
    assert "sweeps" in benchmarks.BENCHMARKS
