"""The benchmark of batches on devices: what it compares agrees, and it runs where little is installed. No timing is
checked here."""

import io
import json
import subprocess
import sys

import pytest
from rich.console import Console

import benchmarks
from benchmarks import gpu, tables


@pytest.mark.slow
def test_the_benchmark_measures_and_prints():
    figures = gpu.measure(sizes=(1, 3), seconds=0.005)
    assert figures == json.loads(json.dumps(figures, allow_nan=False))
    assert figures["devices"]["warp-cpu"] == "Warp on the CPU, one core" and figures["left_out"] == []
    for engines in figures["forward_dynamics"].values():
        assert engines["CPU, one state a call"]["states_per_second"] > 0
        for precision, bound in (("double", 1e-12), ("single", 1e-4)):
            found = engines[f"warp-cpu, {precision}"]
            assert 0.0 < found["error"] <= bound
            assert all(rate > 0 for how in ("launched", "graph", "call") for rate in found[f"{how}_states_per_second"])
    for precision, bound in (("double", 1e-12), ("single", 1e-4)):
        found = figures["ensemble"][f"warp-cpu, {precision}"]
        assert 0.0 < found["error"] <= bound and len(found["steps_per_second"]) == 2
    out = Console(file=io.StringIO(), width=tables.LEAST_WIDTH, highlight=False, markup=False)
    gpu.show(figures, out)
    text = out.file.getvalue()
    for words in ("arm of 7 joints", "chain of 32 bodies", "cpu, double, graph", "a run on the CPU", "25 bodies"):
        assert words in text
    assert "gpu" in benchmarks.BENCHMARKS


@pytest.mark.slow
def test_what_there_is_no_time_for_is_left_out_and_named():
    figures = gpu.measure(sizes=(1,), seconds=0.001, budget=0.0)
    assert "arm of 7 joints, warp-cpu, double" in figures["left_out"]
    assert "ensembles, warp-cpu, single" in figures["left_out"]


def test_a_machine_with_a_gpu_needs_little_else():
    """Files, units in words, figures and tables are not asked for."""
    others = {"h5py", "pint", "matplotlib", "rich", "typer", "threadpoolctl"}
    program = f"import sys, benchmarks.gpu; print(sorted(set(sys.modules) & {others}))"
    found = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True).stdout
    assert found.strip() == "[]"
