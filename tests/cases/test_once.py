"""What a run does once: its case is resolved, its model built, and compiling announced."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

import articulon as ar
from articulon import announcements, cli
from articulon.announcements import announce
from articulon.building import ModelBuilder
from articulon.cases import case as cases
from articulon.cases import loading
from articulon.comparisons.timed_runs import Stopwatch
from articulon.simulation import case_run as running
from articulon.simulation.folder_run import announcing_once
from articulon.simulation.run_request import Silent
from tests.support.run_cases import BALL

GRAINS = """
[case]
units = "kg-m-s"

[model]
builder = "explicit"

[[model.bodies]]
name = "low"
mass = 1.0
inertia = 0.004
joint = "free"

[[model.bodies]]
name = "high"
mass = 1.0
inertia = 0.004
joint = "free"
q = [0.0, 0.0, 0.1999, 1.0, 0.0, 0.0, 0.0]

[[model.sites]]
body = "low"
kind = "glass"
radius = 0.1

[[model.sites]]
body = "high"
kind = "glass"
radius = 0.1

[[forces]]
kind = "contact"
materials = { glass = { young = 1e7, poisson = 0.3, static_friction = 0.3, restitution = 0.8 } }

[integrator]
rule = "velocity-verlet"
step = "10 us"

[run]
duration = "1 ms"
frames = 4
gsd = true
"""


@pytest.fixture
def counted(monkeypatch: pytest.MonkeyPatch) -> Iterator[Counter[str]]:
    """How often a case is resolved and a model is built."""
    counts: Counter[str] = Counter()

    def watched(name: str, function: Any) -> Any:
        def call(*arguments: Any, **options: Any) -> Any:
            counts[name] += 1
            return function(*arguments, **options)

        return call

    resolve = watched("resolved", cases.resolve)
    monkeypatch.setattr(cases, "resolve", resolve)
    monkeypatch.setattr(loading, "resolve", resolve)
    monkeypatch.setattr(cases.Case, "build_model", watched("built by the case", cases.Case.build_model))
    monkeypatch.setattr(ModelBuilder, "build", watched("built", ModelBuilder.build))
    return counts


ONCE = {"resolved": 1, "built by the case": 1, "built": 1}


@pytest.mark.slow
@pytest.mark.parametrize("text", [BALL, GRAINS], ids=["ball", "grains"])
def test_a_case_is_resolved_and_its_model_built_once_by_a_run_and_its_report(
    tmp_path: Path, counted: Counter[str], text: str
) -> None:
    (tmp_path / "a.toml").write_text(text)
    run = ar.run(tmp_path / "a.toml", tmp_path / "run")
    assert (run.folder / "report.html").is_file()
    assert counted == ONCE
    run.report(tmp_path / "again.html")
    assert run.model.bodies and counted == ONCE


@pytest.mark.slow
@pytest.mark.parametrize("text", [BALL, GRAINS], ids=["ball", "grains"])
def test_the_command_resolves_and_builds_once_too(tmp_path: Path, counted: Counter[str], text: str) -> None:
    (tmp_path / "a.toml").write_text(text)
    done = CliRunner().invoke(cli.app, ["run", str(tmp_path / "a.toml"), "--out", str(tmp_path / "run")])
    assert done.exit_code == 0, done.output
    assert (tmp_path / "run" / "report.html").is_file()
    assert counted == ONCE


@pytest.fixture
def compiles_in_batches(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A case whose run announces three batches of kernels."""
    prepare = running.prepare

    def in_batches(*arguments: Any) -> Any:
        for batch in range(3):
            announce(f"compiling {batch} kernels")
        return prepare(*arguments)

    monkeypatch.setattr(running, "prepare", in_batches)
    monkeypatch.setattr(announcements, "_TOLD", set())
    (tmp_path / "a.toml").write_text(BALL)
    return tmp_path / "a.toml"


def test_compiling_is_announced_once_however_many_batches_there_are(compiles_in_batches: Path, tmp_path: Path) -> None:
    class Listener:
        said: list[str] = []

        def start(self, *_: Any) -> None: ...
        def update(self, *_: Any) -> None: ...
        def finish(self, *_: Any) -> None: ...
        def message(self, text: str) -> None:
            self.said.append(text)

    listener = Listener()
    ar.run(compiles_in_batches, tmp_path / "run", progress=listener, report=False)
    assert [text for text in listener.said if "compiling" in text] == ["compiling 0 kernels"]


def test_a_comparison_without_a_terminal_is_told_of_compiling_too(
    capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(announcements, "_TOLD", set())
    with announcing_once(Stopwatch(Silent(announces=True))):
        announce("compiling 2 kernels")
        announce("compiling 3 kernels")
    assert capfd.readouterr().err == "articulon: compiling 2 kernels\n"


@pytest.mark.parametrize(("progress", "said"), [(None, "articulon: compiling 0 kernels\n"), (False, "")])
def test_a_script_without_a_terminal_is_told_of_compiling_alone(
    compiles_in_batches: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str], progress: bool | None, said: str
) -> None:
    """Unless it wants to be told nothing."""
    ar.run(compiles_in_batches, tmp_path / "run", progress=progress, report=False)
    assert capfd.readouterr() == ("", said)
