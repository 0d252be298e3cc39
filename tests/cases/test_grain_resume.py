"""A run of grains that is killed in the middle of its contacts goes on to the same bits."""

from __future__ import annotations

import signal
from pathlib import Path

import numpy as np
import pytest

import articulon as ar
from articulon.simulation import loop
from articulon.storage.checkpoint import read_checkpoint
from tests.support.run_cases import Shown, bits, case_of, goes_on_after_kills

POURED = """
[case]
title = "Beads of several sizes that fall into a box"
units = "kg-m-s"

[model]
builder = "grains"

[[model.fills]]
count = 45
radius = "4 mm"
largest_radius = "5 mm"
density = "2500 kg/m^3"
low = [0, 0, 0]
high = ["40 mm", "40 mm", "60 mm"]
velocity_spread = "0.3 m/s"

[box]
lengths = ["40 mm", "40 mm", "0.2 m"]
boundaries = ["open", "open", "open"]

[[forces]]
kind = "gravity"
acceleration = [0, 0, "-9.81 m/s^2"]

[[forces]]
kind = "contact"

[forces.materials.grain]
young = "10 MPa"
poisson = 0.25
static_friction = 0.5
restitution = 0.5

[[forces.walls]]
shape = "box"
kind = "grain"
faces = "all"

[integrator]
rule = "velocity-verlet"
step = "20 us"

[run]
duration = "0.03 s"
frames = 3
checkpoint_interval = 0.2
"""


def interrupt() -> None:
    signal.raise_signal(signal.SIGINT)


@pytest.mark.slow
def test_a_run_that_is_stopped_while_grains_touch_goes_on_to_the_same_bits(tmp_path: Path, monkeypatch) -> None:
    case = case_of(tmp_path, POURED)
    whole = ar.run(case, tmp_path / "unbroken", report=False)
    monkeypatch.setattr(loop, "CHUNK_SECONDS", 0.0)
    folder = tmp_path / "broken"
    for part, at in enumerate((1000, 100)):
        with pytest.raises(KeyboardInterrupt, match="resume"):
            ar.run(case, folder, resume=part > 0, progress=Shown(at, interrupt), report=False)
        held = read_checkpoint(folder)[0]["state_contacts.memory"]
        assert len(held) > 3
        assert np.abs(held[:, :3]).max() > 0.0
    monkeypatch.undo()
    done = ar.run(case, folder, resume=True, report=False)
    assert done.summary["status"] == "complete"
    assert bits(folder) == bits(tmp_path / "unbroken")
    assert done.summary["steps"] == whole.summary["steps"] == 1_500


@pytest.mark.slow
def test_killed_runs_of_grains_go_on_to_the_same_bits(tmp_path: Path) -> None:
    goes_on_after_kills(tmp_path, POURED, np.random.default_rng(8).uniform(0.1, 1.0, 4))
