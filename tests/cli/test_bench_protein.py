"""The benchmark of a protein: what it says is what it has measured. No timing is checked here."""

import io
import json

import pytest
from rich.console import Console

from articulon.benchmark import protein, tables
from articulon.molecules import peptide


@pytest.mark.slow
def test_the_benchmark_measures_and_prints(monkeypatch):
    pytest.importorskip("openmm")
    small = peptide("AAAAAAAAAA")
    monkeypatch.setattr(protein, "read_structure", lambda path: small)
    monkeypatch.setattr(protein, "SETTLING", 0.1)
    figures = protein.measure(steps=3, rounds=1, candidates=(1.0,), duration=0.4, protein="a peptide")
    assert figures == json.loads(json.dumps(figures, allow_nan=False))
    assert figures["atoms"] == len(small)
    assert figures["step"] == 1.0
    for figure in figures["speed"].values():
        for engine, length in (("ours", 1.0), ("2 fs", 2.0), ("4 fs, heavy hydrogen", 4.0)):
            assert figure[engine] == pytest.approx(86.4 * length / figure["milliseconds"][engine], rel=1e-12)
    out = Console(file=io.StringIO(), width=tables.LEAST_WIDTH)
    protein.show(figures, out)
    text = out.file.getvalue()
    assert "OpenMM, 2 fs, bonds to hydrogen kept" in text
    assert "ours, torsions, 1 fs" in text


def test_a_drift_is_told_from_what_a_fluctuation_feigns():
    """Of a line and a wave of ten periods: the slope is the line's, and the resolution is above what the wave adds."""
    import numpy as np

    t = 0.05 * np.arange(protein.LOOKS)
    wave = 0.3 * np.sin(2.0 * np.pi * t)
    with_line = protein._drift((2.0 * t + wave).tolist(), 0.05, 1.0, 1000)
    alone = protein._drift(wave.tolist(), 0.05, 1.0, 1000)
    assert with_line["drift"] - alone["drift"] == pytest.approx(2.0, rel=1e-9)
    assert abs(alone["drift"]) < alone["resolution"]
    assert protein._drift([np.nan] * protein.LOOKS, 0.05, 1.0, 1000)["drift"] is None
