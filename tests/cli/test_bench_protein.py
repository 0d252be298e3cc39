"""The benchmark of a protein: what it says is what it has measured. No timing is checked here."""

import io
import json

import numpy as np
import pytest
from rich.console import Console

from articulon.molecules import peptide
from benchmarks import protein, tables


@pytest.mark.slow
def test_the_benchmark_measures_and_prints(monkeypatch):
    pytest.importorskip("openmm")
    small = peptide("AAAAAAAAAA")
    monkeypatch.setattr(protein, "read_structure", lambda path: small)
    monkeypatch.setattr(protein, "SETTLING", 0.1)
    figures = protein.measure(steps=3, rounds=1, candidates=(1.0,), duration=0.4, starts=2, protein="a peptide")
    assert figures == json.loads(json.dumps(figures, allow_nan=False))
    assert figures["atoms"] == len(small)
    assert figures["step"] == 1.0
    for figure in figures["speed"].values():
        for engine, length in (("ours", 1.0), ("2 fs", 2.0), ("4 fs, heavy hydrogen", 4.0)):
            assert figure[engine] == pytest.approx(86.4 * length / figure["milliseconds"][engine], rel=1e-12)
        assert (
            0.02
            < figure["output"]
            == pytest.approx(
                0.02 + (figure["frame"]["observed"] + figure["frame"]["atoms"]) * 1e-3 / figure["milliseconds"]["ours"]
            )
        )
    out = Console(file=io.StringIO(), width=tables.LEAST_WIDTH)
    protein.show(figures, out)
    text = out.file.getvalue()
    assert "OpenMM, 2 fs, bonds to hydrogen kept" in text
    assert "ours, torsions, 1 fs, heavy hydrogen" in text


def test_the_slope_of_a_line_is_found_beside_a_wave():
    """Of a line and a wave of ten periods, which adds less than its size over the time."""
    t = 0.05 * np.arange(protein.LOOKS)
    wave = 0.3 * np.sin(2.0 * np.pi * t)
    with_line = protein._drift((2.0 * t + wave).tolist(), 0.05, 1.0, 1000)
    alone = protein._drift(wave.tolist(), 0.05, 1.0, 1000)
    assert with_line["drift"] - alone["drift"] == pytest.approx(2.0, rel=1e-9)
    assert abs(alone["drift"]) < 0.3 / t[-1]
    assert alone["fluctuation"] == pytest.approx(0.3 / np.sqrt(2.0), rel=0.1)
    assert protein._drift([np.nan] * protein.LOOKS, 0.05, 1.0, 1000)["drift"] is None


def test_limits_hold_the_mean_as_often_as_they_say():
    rng = np.random.default_rng(5)
    held = []
    for _ in range(2000):
        found = protein._limits([{"drift": d, "fluctuation": 1.0} for d in 0.3 + rng.normal(size=4)])
        held.append(abs(found["drift"] - 0.3) <= found["uncertainty"])
        assert found["limit"] == abs(found["drift"]) + found["uncertainty"]
    assert abs(np.mean(held) - protein.CONFIDENCE) < 4.0 * np.sqrt(0.95 * 0.05 / 2000)
    assert protein._limits([{"drift": None, "fluctuation": None}])["limit"] is None


def test_the_largest_step_is_below_the_first_that_drifts_more():
    limits = {"4.0": 0.01, "5.0": 0.02, "8.0": 0.05, "10.0": 0.01}
    ours = {step: {"limit": limit} for step, limit in limits.items()}
    assert protein._largest(ours, 0.03) == 5.0
    assert protein._largest(ours, 0.06) == 10.0
    assert protein._largest(ours, 0.001) == 4.0
    assert protein._largest({"4.0": {"limit": None}}, 1.0) == 4.0
