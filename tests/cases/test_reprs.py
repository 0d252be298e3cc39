"""What users see of models, cases and runs: one line in a terminal, a small table in a notebook."""

from __future__ import annotations

from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

import articulon as ar
from tests.support.run_cases import BALL, case_of


class Cells(HTMLParser):
    """The texts of a table by the names of its rows, and the tags that were opened and not closed."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.cells: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.cells.append(data)


def rows_of(thing: Any) -> dict[str, str]:
    """The rows of what a notebook shows."""
    found = Cells(thing._repr_html_())
    assert not found.open
    return dict(zip(found.cells[1::2], found.cells[2::2], strict=True))


@pytest.mark.parametrize("name", ["nanoparticle-docking", "rotating-drum", "bricard", "flexible-filament"])
def test_models_and_cases_are_shown_in_one_line(name: str) -> None:
    case = ar.load_case(name)
    model = case.build_model()
    for shown in (repr(case), repr(model)):
        assert "\n" not in shown and len(shown) < 200
    assert repr(model).startswith(f"Model({model.bodies} bodies, {model.nu} speeds") and name in repr(case)
    assert rows_of(case)["units"] == model.units.name


def test_one_of_a_kind_is_said_in_the_singular() -> None:
    builder = ar.ModelBuilder(units="kg-m-s")
    builder.add_body("rod", mass=1, inertia=0.1, joint=ar.Revolute(axis=(0, 1, 0)))
    assert repr(builder.build()) == "Model(1 body, 1 speed; no forces; kg-m-s)"


def test_runs_and_states_are_shown_in_one_line(tmp_path: Path) -> None:
    case = case_of(tmp_path, BALL)
    here, there = ar.simulate(case.build_model(), 1.0, frames=2), ar.run(case, tmp_path / "run")
    assert repr(here) == "Run(3 frames to 1 us, 1 body, complete, in memory)"
    assert repr(here.state).startswith("State(time 1, step ") and "\n" not in repr(here.state)
    assert repr(there) == f"Run({str(tmp_path / 'run')!r})"
    for run in (here, there):
        rows = rows_of(run)
        assert rows["status"] == "complete" and rows["simulated"] == "1 us"
        assert rows["steps"] == f"{run.summary['steps']:,}"


def test_what_a_case_is_called_cannot_write_into_a_notebook(tmp_path: Path) -> None:
    case = case_of(tmp_path, BALL, {"case.title": "<script>alert(1)</script>"})
    assert "<script>" not in case._repr_html_() and rows_of(case)["title"] == "<script>alert(1)</script>"
