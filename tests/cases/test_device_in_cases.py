"""``[run] device`` in a case: the run in its folder, how it goes on, and what its file says."""

from __future__ import annotations

import os
import signal
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import articulon as ar
from articulon.simulation import loop
from articulon.storage.checkpoint import read_checkpoint
from tests.support.run_cases import Shown, bits, case_of

pytest.importorskip("warp")

MELT = """
[case]
title = "A melt on a device"
units = "lj"

[model]
builder = "lattice"
structure = "face-centred-cubic"
cells = 3
number_density = 0.8442
temperature = 1.44

[model.species.A]
mass = 1.0

[[forces]]
kind = "lennard-jones"
parameters = { A = { epsilon = 1.0, sigma = 1.0 } }
cutoff = 2.5
truncation = "switched"
switch_start = 2.0

[integrator]
rule = "velocity-verlet"
step = 0.005

[run]
duration = 1.0
frames = 5
device = "warp-cpu"

[[checks]]
kind = "momentum"
tolerance = 1e-10

[[checks]]
kind = "energy"
what = "drift of the energy over the kinetic energy"
tolerance = 1e-3
"""


def plain(tmp_path: Path, **overrides: Any) -> ar.Run:
    case = case_of(tmp_path, MELT, {key.replace("_", ".", 1): value for key, value in overrides.items()})
    return ar.run(case, tmp_path / "-".join(["run", *map(str, overrides.values())]), report=False)


def test_a_case_on_a_device_gives_what_it_gives_on_the_cpu(tmp_path):
    there, here = plain(tmp_path), plain(tmp_path, run_device="cpu")
    assert there.summary["status"] == "complete"
    assert all(check["passed"] for check in there.summary["checks"])
    assert np.abs(there.q - here.q).max() < 1e-9
    mixed = plain(tmp_path, run_precision="mixed")
    assert 0.0 < np.abs(mixed.q[1] - here.q[1]).max() < 1e-4
    assert all(check["passed"] for check in mixed.summary["checks"])


def test_a_run_that_is_broken_off_goes_on_to_the_same_bits(tmp_path, monkeypatch):
    case = case_of(tmp_path, MELT)
    whole, broken = tmp_path / "whole", tmp_path / "broken"
    ar.run(case, whole, report=False)
    monkeypatch.setattr(loop, "CHUNK_SECONDS", 0.0)  # Python has control after every step
    for part, at in enumerate((7, 90)):
        shown = Shown(at, lambda: os.kill(os.getpid(), signal.SIGINT))
        with pytest.raises(KeyboardInterrupt, match="resume"):
            ar.run(case, broken, resume=part > 0, progress=shown, report=False)
        time = read_checkpoint(broken)[0]["state_time"][0]
        assert time % 0.2 > 1e-9  # between frames, so that what is not in a frame has to be in the checkpoint
    ar.run(case, broken, resume=True, report=False)
    assert bits(broken) == bits(whole)


def test_the_device_is_a_part_of_what_a_run_is(tmp_path):
    """Another device computes other bits, so that it is another run; the CPU, which there was before, is the same."""
    case = case_of(tmp_path, MELT, {"run.device": "cpu"})
    older = case_of(tmp_path, MELT.replace('device = "warp-cpu"\n', ""))
    assert case.digest() == older.digest()
    assert case.digest() != case_of(tmp_path, MELT).digest()
    assert case_of(tmp_path, MELT).differences(case) == ["run.device"]
    ar.run(case, tmp_path / "run", report=False)
    with pytest.raises(ar.CaseError, match=r"holds another run: run\.device differ"):
        ar.run(case_of(tmp_path, MELT), tmp_path / "run", resume=True, report=False)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"run.device": "gpu"}, r"run\.device: expected 'cpu', 'cuda', 'cuda:1' and so on, or 'warp-cpu', got 'gpu'"),
        ({"run.device": "cpu", "run.precision": "mixed"}, r"run: precision = 'mixed' needs a device such as 'cuda'"),
        ({"run.precision": "single"}, r"run\.precision: "),
    ],
)
def test_what_is_no_device_is_refused_where_it_stands(tmp_path, changes, message):
    with pytest.raises(ar.CaseError, match=rf"a-case\.toml: {message}"):
        case_of(tmp_path, MELT, changes)


def test_what_does_not_go_on_a_device_names_the_file(tmp_path):
    case = case_of(tmp_path, MELT, {"integrator": {"rule": "dormand-prince"}})
    with pytest.raises(
        ar.CaseError,
        match=r"a-case\.toml: run\.device: a device such as 'cuda' supports only velocity-verlet for free particles",
    ):
        ar.run(case, tmp_path / "run", report=False)
