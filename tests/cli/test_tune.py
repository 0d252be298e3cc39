"""What ``articulon tune`` says: a lag as a part and as a time, and ties as ties."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from articulon.analysis.tuned_constants import rival_words, tune
from articulon.cases import Case, load_case

PULLED = """
[case]
units = "fg-um-us"
[[model.bodies]]
name = "sphere"
mass = 10.0
joint = "xyz"
[[forces]]
kind = "gravity"
acceleration = [1.0, 0, 0]
[[forces]]
kind = "stokes-drag"
viscosity = 890.0
radius = 0.2
[integrator]
rule = "friction-implicit"
step = 0.001
[run]
duration = 0.5
frames = 50
"""


def pulled(folder: Path) -> Case:
    (folder / "pulled.toml").write_text(PULLED, encoding="utf-8")
    return load_case(folder / "pulled.toml")


def test_the_lag_is_a_part_of_the_run_and_a_time(tmp_path: Path) -> None:
    """ "0.02 of 0.5 us" says 4 % to anyone who reads it."""
    found = tune(pulled(tmp_path), 0.02)
    note = found.notes[0]
    told = re.match(r"a2 = (\S+): 'sphere' is predicted to be (\S+) % late, (\S+) us of 0\.5 us, by ", note)
    assert told is not None, note
    part, late = float(told[2]) / 100.0, float(told[3])
    assert part == pytest.approx(0.02, rel=0.06)
    assert late == pytest.approx(part * 0.5, rel=0.03)
    assert note in found.case.notes[-1] and "Tuned for a lag of 2 %." in found.case.notes[-1]


@pytest.mark.parametrize(
    ("ratio", "words"),
    [
        (1.02, "need as many evaluations and cause no delay: scaling gains nothing."),
        (0.97, "need as many evaluations and cause no delay: scaling gains nothing."),
        (3.0, "need 3 times fewer evaluations and cause no delay: scaling gains nothing."),
        (0.25, "need 4 times more."),
    ],
)
def test_a_tie_with_friction_implicit_steps_is_called_one(ratio: float, words: str) -> None:
    text = rival_words(ratio, "8 ps")
    assert text.endswith(words), text
    assert "1 times" not in text and text.startswith("Unscaled friction-implicit steps of 8 ps ")
