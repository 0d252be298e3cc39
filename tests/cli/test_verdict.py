"""The verdict on a scaled run: the last line that the command prints, and with --strict how it ends."""

from __future__ import annotations

import io
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from rich.console import Console
from typer.testing import CliRunner, Result

from articulon import cli
from articulon.cli.verdict_line import print_verdict, verdict_text

SPHERE = """
[case]
title = "A sphere that is pulled"
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

[run]
duration = 0.4
frames = 20
"""


def fidelity(verdict: str, **others: Any) -> dict[str, Any]:
    found = {"verdict": verdict, "broken": [], "since": None, "basis": "the premises of lag and drift alone"}
    return {"time_unit": "us", "fidelity": {**found, "premises": {}, "tolerance": 0.02, **others}}


def test_the_verdict_names_what_is_worst_its_premise_and_since_when() -> None:
    worst = {"words": "the steady drift is 100 times the true one"}
    found = fidelity("violated", broken=["drift"], since=0.25, worst=worst, premises={})
    assert str(verdict_text(found)) == (
        "verdict violated since 0.25 us: the steady drift is 100 times the true one (premise: drift)"
    )
    worst = "arm: rotation about its hinge 19 % late since 2.1 us"
    named = fidelity("violated", broken=["lag"], since=2.1, worst={"words": worst})
    assert str(verdict_text(named)) == f"verdict violated: {worst} (premise: lag)"


def test_without_words_the_premise_is_named() -> None:
    found = fidelity("suspect", broken=["lag", "paired"], since=0.0)
    said = "not met: bodies follow the forces; an unscaled run moves in the same way (premises: lag, paired)"
    assert str(verdict_text(found)) == f"verdict suspect from the start: {said}"


def test_an_undecided_run_says_why() -> None:
    premises = {
        "lag": {"verdict": "inconclusive", "reason": "the force varies from frame to frame by noise"},
        "clock": {"verdict": None, "reason": "nothing drives"},
    }
    found = fidelity("inconclusive", premises=premises)
    assert str(verdict_text(found)) == (
        "verdict inconclusive: not decided: the force varies from frame to frame by noise (premise: lag)"
    )


def test_a_trusted_run_says_within_what_and_by_what() -> None:
    premises = {"lag": {"verdict": "trusted", "reason": None}, "clock": {"verdict": None, "reason": None}}
    assert str(verdict_text(fidelity("trusted", premises=premises))) == (
        "verdict trusted: errors below 2 % (premise: lag)"
    )
    told = fidelity("trusted", premises=premises, worst={"words": "core: translation 0.4 % late"})
    assert str(verdict_text(told)) == "verdict trusted: core: translation 0.4 % late, below 2 % (premise: lag)"


def test_an_unscaled_run_has_none() -> None:
    assert verdict_text({"fidelity": None, "time_unit": "us"}) is None
    assert verdict_text({}) is None


@pytest.mark.parametrize(
    ("verdict", "code"), [("trusted", "32"), ("suspect", "33"), ("inconclusive", "33"), ("violated", "31")]
)
def test_the_verdict_has_a_colour_on_a_terminal_and_none_elsewhere(
    verdict: str, code: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    screen, file = io.StringIO(), io.StringIO()
    options: dict[str, Any] = {"force_terminal": True, "color_system": "standard"}
    print_verdict(fidelity(verdict), Console(file=screen, **options))
    print_verdict(fidelity(verdict), Console(file=file))
    assert f"\x1b[1;{code}m{verdict}" in screen.getvalue()
    assert "\x1b" not in file.getvalue() and file.getvalue().startswith(f"verdict {verdict}")
    assert len(file.getvalue().splitlines()) == 1


# The command


@pytest.fixture
def case(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    (tmp_path / "sphere.toml").write_text(SPHERE, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return "sphere.toml"


def invoke(*arguments: str) -> Result:
    return CliRunner().invoke(cli.app, list(arguments), env={"COLUMNS": "1000", "NO_COLOR": "1"})


@pytest.fixture
def verdict(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """What a run is made to say of itself instead of running."""
    summary: dict[str, Any] = {"steps": 12, **fidelity("trusted")}
    modules = {
        "articulon.runs.entry": SimpleNamespace(run=lambda *_, **__: SimpleNamespace(summary=summary)),
        "articulon.report.html": SimpleNamespace(write_report=lambda folder: Path("runs/sphere/report.html")),
    }
    for name, module in modules.items():
        monkeypatch.setitem(sys.modules, name, module)
    return summary


@pytest.mark.parametrize(
    ("said", "code"), [("trusted", 0), ("suspect", 3), ("violated", 3), ("inconclusive", 3), (None, 0)]
)
def test_strict_ends_with_3_unless_the_run_is_trusted(
    said: str | None, code: int, case: str, verdict: dict[str, Any]
) -> None:
    verdict["fidelity"] = None if said is None else fidelity(said)["fidelity"]
    strict, lenient = invoke("run", case, "--strict"), invoke("run", case)
    assert strict.exit_code == code, strict.output
    assert lenient.exit_code == 0
    last = strict.stdout.splitlines()[-1]
    assert last.startswith(f"verdict {said}" if said else "report  ")
    assert ("not trusted" in strict.stderr) == (code == 3)
    assert lenient.stdout.splitlines()[-1] == last


def test_a_check_that_fails_is_said_beside_the_verdict(case: str, verdict: dict[str, Any]) -> None:
    verdict["checks"] = [{"what": "energy", "value": 2.0, "bound": 1.0, "unit": "", "passed": False}]
    verdict["fidelity"] = fidelity("violated")["fidelity"]
    done = invoke("run", case, "--strict")
    assert done.exit_code == cli.EXIT_CHECK
    assert "check failed: energy" in done.stderr and "not trusted" in done.stderr
    assert done.stdout.splitlines()[-1].startswith("verdict violated")


def test_the_help_says_what_strict_counts() -> None:
    text = " ".join(invoke("run", "--help").stdout.split())
    assert "--strict" in text and "inconclusive" in text and "3" in text


@pytest.mark.slow
def test_a_scaled_run_ends_with_its_verdict(case: str) -> None:
    scaled = ("--set", "scaling.policy=constant", "--set", "scaling.a2=0.02")
    done = invoke("run", case, *scaled, "--strict")
    assert done.exit_code == cli.EXIT_CHECK, done.output
    assert done.stdout.splitlines()[-1].startswith("verdict violated")
    assert "verdict" not in invoke("run", case, "--out", "unscaled").stdout
