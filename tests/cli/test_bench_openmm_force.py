"""The benchmark of the force ``openmm``: what it says is what it has measured. No timing is checked here."""

import io
import json

from rich.console import Console

import benchmarks
from benchmarks import openmm_force, tables


def test_the_benchmark_measures_and_prints():
    figures = openmm_force.measure({"alanine": ("ACE", "ALA", "NME")}, seconds=0.01)
    assert figures == json.loads(json.dumps(figures, allow_nan=False))
    for row in figures["rows"]:
        assert row["atoms"] == 22
        assert {"Reference", "CPU", "CPU, all cores"} <= set(row["openmm"])
        assert all(taken > 0.0 for taken in row["openmm_alone"].values())
    out = Console(file=io.StringIO(), width=tables.LEAST_WIDTH, highlight=False, markup=False)
    openmm_force.show(figures, out)
    text = out.file.getvalue()
    for word in ("alanine, obc2", "alanine, vacuum", "CPU, all cores", "Reference", "openmm"):
        assert word in text
    assert "openmm-force" in benchmarks.BENCHMARKS
