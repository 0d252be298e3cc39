"""A run is shown of itself only where a person is looking and once it has taken a while."""

from __future__ import annotations

import io
from typing import Any

import pytest
from rich.console import Console

from articulon.runs import progress
from articulon.runs.progress import RunProgress, shown_by
from articulon.simulation.run_request import Silent


class Clock:
    """A clock that is set by hand."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    made = Clock()
    monkeypatch.setattr(progress, "monotonic", made)
    return made


def run(clock: Clock, seconds: float, patience: float) -> str:
    """What a terminal shows of a run of a hundred steps that take so long together [s]."""
    screen = io.StringIO()
    shown = RunProgress(Console(file=screen, force_terminal=True, width=100, highlight=False), patience)
    shown.start(1.0, "us")
    for step in range(100):
        clock.now += seconds / 100
        shown.update((step + 1) / 100, 0.01, step + 1)
    shown.finish("complete: 1 us")
    return screen.getvalue()


def test_what_ends_soon_is_not_shown(clock: Clock) -> None:
    assert run(clock, 0.9, 1.0) == ""


def test_what_takes_longer_is_shown_from_then_on_and_to_its_end(clock: Clock) -> None:
    text = run(clock, 10.0, 1.0)
    assert "1 of 1 us" in text and "100 %" in text and text.rstrip().endswith("complete: 1 us")


def test_a_bar_is_not_drawn_at_every_step(clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    drawn: list[float] = []
    draw = RunProgress._draw
    monkeypatch.setattr(RunProgress, "_draw", lambda self, *now: drawn.append(now[0]) or draw(self, *now))
    run(clock, 0.5, 0.0)
    assert len(drawn) <= 12 and drawn[-1] == 1.0


@pytest.mark.parametrize(("terminal", "jupyter"), [(True, False), (False, True), (False, False)])
def test_a_person_who_looks_is_shown_a_bar(terminal: bool, jupyter: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    console = Console(file=io.StringIO(), force_terminal=terminal, force_jupyter=jupyter)
    monkeypatch.setattr(progress, "standard_error", lambda: console)
    assert isinstance(shown_by(None), RunProgress if terminal or jupyter else Silent)
    assert isinstance(shown_by(False), Silent) and isinstance(shown_by(True), RunProgress)
    told: Any = Silent()
    assert shown_by(told) is told
