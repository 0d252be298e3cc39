"""The benchmark of the melt on devices: one problem everywhere, and what it says it prints. No timing is checked."""

from __future__ import annotations

import io

import pytest
from rich.console import Console

pytest.importorskip("warp")

from articulon.gpu.devices import devices
from benchmarks import gpu_melt

CELLS = 4


def test_figures_are_of_every_device_and_agree_with_the_cpu():
    figures = gpu_melt.measure(sizes=(CELLS,), seconds=0.01, melting=20, tune=True)
    names = devices()[1:] or devices()
    labels = {f"{name}, {precision}" for name in names for precision in gpu_melt.PRECISIONS}
    assert set(figures["speeds"]) == labels | {"CPU, all threads"}
    assert figures["failed"] == []
    assert figures["atoms"] == [4 * CELLS**3]
    assert all(column[0] > 0.0 for column in figures["speeds"].values())
    assert set(figures["agreement"]) == labels
    for label, found in figures["agreement"].items():
        assert found["same_bits_again"] and found["same_bits_when_cut"]
        assert found["forces"] <= (1e-12 if label.endswith("double") else 2e-5)
        assert found["energy"] <= (1e-12 if label.endswith("double") else 1e-5)
    assert all(abs(column[0]) < 1e-2 for column in figures["drift"].values())
    assert set(next(iter(figures["tuned"].values()))) >= {"skin 0.3", "8 threads"}
    out = io.StringIO()
    gpu_melt.show(figures, Console(file=out, width=160))
    assert "million atom-steps per second" in out.getvalue()
    assert "| 256 atoms |" in out.getvalue()


def test_what_fails_is_named_and_leaves_the_others_alone(monkeypatch):
    def fails(*_):
        raise FloatingPointError("the melt did not come through")

    monkeypatch.setattr(gpu_melt, "timed", fails)
    figures = gpu_melt.measure(sizes=(CELLS,), seconds=0.01, melting=1)
    assert all("FloatingPointError: the melt did not come through" in what for what in figures["failed"])
    assert len(figures["failed"]) == 2
    assert figures["speeds"]["CPU, all threads"][0] > 0.0
    assert all(found["same_bits_again"] for found in figures["agreement"].values())
    out = io.StringIO()
    gpu_melt.show(figures, Console(file=out, width=160))
    assert "failed: 256 atoms" in out.getvalue()


def test_what_there_is_no_time_for_is_named():
    figures = gpu_melt.measure(sizes=(CELLS,), seconds=0.01, melting=1, budget=-1.0)
    assert all(column == [None] for column in figures["speeds"].values())
    assert any("256 atoms on the CPU" in what for what in figures["left_out"])
