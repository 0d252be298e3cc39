"""What a comparison says of which run to trust: the cheapest of those that are unscaled or trusted, on the page's first
lines."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import articulon as ar
from articulon.comparisons import comparison as comparing
from articulon.comparisons import reference_cache
from articulon.comparisons.comparison import Comparison
from articulon.comparisons.trusted_runs import UNSCALED, run_verdicts, which_to_trust
from articulon.simulation.run_request import Silent
from tests.cases.test_compare import SPHERE


def compared(*runs: tuple[str, str, str | None, float]) -> Any:
    """A comparison of runs by name, policy, verdict and wall time [s]."""
    rows = [
        {
            "name": name,
            "scaling": {"policy": policy},
            "verdict": verdict,
            "wall_seconds": wall,
            "wall_seconds_are": "measured",
            "physical_time": 2.0,
            "stop_time": None,
            "evaluations": 100,
        }
        for name, policy, verdict, wall in runs
    ]
    found = {
        name: SimpleNamespace(summary={"fidelity": verdict and {"verdict": verdict, "premises": {}}, "time_unit": "s"})
        for name, _, verdict, _ in runs
    }
    case = SimpleNamespace(run=SimpleNamespace(stop=None))
    return Comparison(case, rows, Path("nowhere"), found, {})  # type: ignore[arg-type]


def test_nothing_is_said_where_nothing_is_scaled() -> None:
    done = compared(("a", "none", None, 3.0), ("b", "none", None, 1.0))
    assert which_to_trust(done) == ""
    assert run_verdicts(done) == []


def test_the_cheapest_run_that_can_be_trusted_is_named() -> None:
    done = compared(
        ("implicit", "none", None, 3.0),
        ("tenth", "constant", "violated", 0.1),
        ("half", "constant", "trusted", 1.0),
        ("third", "constant", "suspect", 0.5),
    )
    said = which_to_trust(done)
    assert said.startswith("Take 'half': its verdict is 'trusted', and it costs less than 'implicit'")
    assert said.endswith("Do not rely on 'tenth' and 'third'.")
    assert [one.verdict for one in run_verdicts(done)] == [UNSCALED, "violated", "trusted", "suspect"]


def test_an_unscaled_run_that_is_cheaper_is_named_instead() -> None:
    done = compared(("implicit", "none", None, 0.5), ("half", "constant", "trusted", 1.0))
    assert which_to_trust(done).startswith("Take 'implicit': nothing in it is scaled, and it costs less than 'half'")


def test_no_run_is_named_where_none_can_be_trusted() -> None:
    done = compared(("half", "constant", "inconclusive", 1.0), ("tenth", "constant", "violated", 0.1))
    assert which_to_trust(done).startswith("None of these runs can be trusted")


@pytest.mark.usefixtures("undrawn")
def test_the_page_begins_with_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reference_cache, "references_folder", lambda: tmp_path / "kept")
    monkeypatch.setattr(comparing, "write_report", lambda folder: folder)
    file = tmp_path / "sphere.toml"
    file.write_text(SPHERE, encoding="utf-8")
    done = ar.compare(ar.load_case(file), ["implicit", "half", "tenth"], out=tmp_path / "out", progress=Silent())
    page = (tmp_path / "out" / "comparison.html").read_text(encoding="utf-8")
    said = which_to_trust(done)
    assert "tenth" in said
    before = page.split("<h2>Cost</h2>")[0]
    assert all(f"{one.name}: " in before for one in run_verdicts(done))
    assert 'class="callout violated"' in before
    assert "evaluations of the forces" in before
    assert done.data["trust"] == said
