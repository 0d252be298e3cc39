"""``articulon advise``: the recommendation first, a command that runs it, and errors that name what to change."""

from __future__ import annotations

import json
import shlex
from pathlib import Path

import pytest
from typer.testing import CliRunner

from articulon.advice import advising
from articulon.cli import EXIT_ERROR, EXIT_INTERRUPTED, app

PULLED = """
[case]
title = "A ball in a liquid"
units = "fg-um-us"
[[model.bodies]]
name = "ball"
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
rule = "kutta-merson"
[run]
duration = "50 us"
frames = 50
"""


def made(folder: Path) -> str:
    file = folder / "pulled.toml"
    file.write_text(PULLED, encoding="utf-8")
    return str(file)


def test_the_recommendation_comes_first_and_its_command_runs(tmp_path: Path) -> None:
    file, runner = made(tmp_path), CliRunner()
    found = runner.invoke(app, ["advise", file, "--seconds", "2"])
    assert found.exit_code == 0, found.output
    lines = [line for line in found.stdout.splitlines() if line.strip()]
    assert lines[0] == "A ball in a liquid" and lines[1].startswith("Run it ")
    assert all(len(line) <= 100 for line in lines if "articulon run" not in line)
    command = next(line.strip() for line in lines if line.strip().startswith("articulon run"))
    words = shlex.split(command)[1:]
    assert words[:2] == ["run", file]
    run = runner.invoke(app, [*words, "--out", str(tmp_path / "run")])
    assert run.exit_code == 0, run.output


def test_the_figures_as_json_are_those_of_the_options(tmp_path: Path) -> None:
    found = CliRunner().invoke(app, ["advise", made(tmp_path), "--seconds", "2", "--json"])
    assert found.exit_code == 0, found.output
    data = json.loads(found.stdout)
    assert data["time_unit"] == "us" and data["duration"] == 50.0
    assert [option["name"] for option in data["options"]] == [
        "explicit",
        "friction-implicit",
        "overdamped",
        "scaled",
        "adaptive",
    ]
    best = next(option for option in data["options"] if option["name"] == data["recommended"])
    assert best["feasible"] and best["wall_seconds"] > 0.0 and best["steps"] > 0
    assert data["command"].startswith("articulon run ")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--probe", "1 ps"], "probe: 1 ps is too short to advise: it takes at least"),
        (["--set", "run.duration=0"], "run.duration"),
        (["--set", "model.bodies[0].mass=-1"], "mass"),
        (["--tolerance", "3"], "tolerance: expected a fraction between 0 and 1"),
        (["--seconds", "0"], "seconds: expected at least 1 s"),
    ],
)
def test_what_cannot_be_advised_on_is_refused_with_its_key(tmp_path: Path, arguments: list[str], words: str) -> None:
    found = CliRunner().invoke(app, ["advise", made(tmp_path), *arguments])
    assert found.exit_code == EXIT_ERROR
    assert words in " ".join(found.output.split())


def test_an_unknown_case_is_told_with_the_nearest_name() -> None:
    found = CliRunner().invoke(app, ["advise", "double-pendulun"])
    assert found.exit_code == EXIT_ERROR and "did you mean 'double-pendulum'?" in " ".join(found.output.split())


def test_after_an_interruption_what_was_found_is_printed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(self: object) -> object:
        raise KeyboardInterrupt

    monkeypatch.setattr(advising.Measuring, "overdamped", interrupted)
    found = CliRunner().invoke(app, ["advise", made(tmp_path), "--seconds", "2"])
    assert found.exit_code == EXIT_INTERRUPTED
    assert "Run it " in found.stdout and "interrupted" in found.stdout
