"""What the runs of a comparison are measured from: an unscaled run of the same physics, or else the comparison says
that there is none.

A sphere of mass m and drag β that is pulled by m g is at g τ (t − τ (1 − exp(−t/τ))), τ = m/β; scaled by a2 it is at
g τ (t − τ' (1 − exp(−t/τ'))) with τ' = τ/a2.
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.optimize import brentq

import articulon as ar
from articulon.comparisons import comparison as comparing
from articulon.comparisons import reference_cache, reference_run
from articulon.comparisons.baselines import sentence, sentences
from articulon.comparisons.comparison_page import looks, tables
from articulon.comparisons.variant_runs import entries
from articulon.report import style
from articulon.simulation.run_request import Silent

TAU = 10.0 / (6.0 * math.pi * 890.0 * 0.2)

PULLED = """
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

[scaling]
policy = "constant"
a2 = 0.05

[integrator]
rule = "kutta-merson"
rtol = 1e-8
atol = 1e-12

[run]
duration = 0.4
frames = 80
stop = { body = "sphere", direction = [1, 0, 0], advance = 0.0003, label = "arrived" }

[variants.tenth]
scaling = { policy = "constant", a2 = 0.1 }
"""

IMPLICIT = """
[variants.implicit]
scaling = { policy = "none" }
integrator = { rule = "friction-implicit", step = "1 ns" }
"""

ELSEWHERE = """
[variants.elsewhere]
"forces.gravity.acceleration" = [2.0, 0, 0]
scaling = { policy = "constant", a2 = 0.1 }

[variants.shorter]
"run.stop.advance" = 0.0001
"""


@pytest.fixture(autouse=True)
def quick(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reference_cache, "references_folder", lambda: tmp_path / "references")
    monkeypatch.setattr(comparing, "write_report", lambda folder: folder)
    monkeypatch.setattr("articulon.comparisons.comparison_page.figures", lambda done: {})


def case_of(folder: Path, text: str, overrides: dict[str, Any] | None = None) -> ar.Case:
    (folder / "pulled.toml").write_text(text, encoding="utf-8")
    return ar.load_case(folder / "pulled.toml", overrides or {})


def arrival(a2: float = 1.0, advance: float = 3e-4) -> float:
    """When the sphere has come so far."""
    tau = TAU / a2

    def beyond(t: float) -> float:
        return TAU * (t + tau * math.expm1(-t / tau)) - advance

    return float(brentq(beyond, 0.0, 1.0, xtol=1e-14))


def lateness(a2: float) -> Any:
    """The implicit rule errs in the transient by (h/τ)²/12 of the speed that decays, over a time τ."""
    return pytest.approx(arrival(a2) - arrival(), rel=1e-3)


def labels(done: comparing.Comparison) -> list[str]:
    return [row[0] for row in tables(done)["Cost"][1]]


@pytest.mark.slow
def test_scaled_runs_are_measured_from_an_unscaled_one_that_is_made(tmp_path: Path) -> None:
    """Nothing in the case is unscaled: what the others are late by must not be told against a run that is late."""
    case = case_of(tmp_path, PULLED[: PULLED.index("[variants")])
    done = comparing.compare(case, vary={"scaling.a2": [0.1, 0.05]}, out=tmp_path / "runs")
    first = done.rows[0]
    assert (first["name"], first["scaling"]["policy"], first["rule"]) == (
        "friction-implicit",
        "none",
        "friction-implicit",
    )
    assert [row["is_reference"] for row in done.rows] == [True, False, False]
    for name, a2 in (("a2=0.1", 0.1), ("a2=0.05", 0.05)):
        assert done.row(name)["lateness"] == lateness(a2)
    assert labels(done)[0] == "friction-implicit (reference)"


@pytest.mark.slow
def test_a_scaled_variant_that_is_asked_for_is_measured_from_the_unscaled_one_of_the_case(tmp_path: Path) -> None:
    case = case_of(tmp_path, PULLED + IMPLICIT)
    done = comparing.compare(case, against=["tenth"], out=tmp_path / "runs")
    assert [(row["name"], row["is_reference"]) for row in done.rows] == [
        ("implicit", True),
        ("tenth", False),
        ("case", False),
    ]
    assert done.row("tenth")["lateness"] == lateness(0.1)


def test_the_reference_that_a_case_names_is_taken_where_others_are_asked_for(tmp_path: Path) -> None:
    fine = IMPLICIT.replace("variants.implicit", "variants.fine").replace("1 ns", "0.5 ns")
    case = case_of(tmp_path, PULLED + IMPLICIT + fine + '\n[compare]\nreference = "fine"\n')
    for asked, reference in (("tenth", "fine"), ("implicit", "implicit")):
        first = entries(case, [asked], None)[0]
        assert (first.name, first.is_reference) == (reference, True)


@pytest.mark.slow
def test_where_no_unscaled_run_can_be_made_the_comparison_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(reference_run, "longest_step", lambda *_: None)
    monkeypatch.setattr(reference_run, "PATIENCE", -1.0)
    case = case_of(tmp_path, PULLED)
    done = comparing.compare(case, vary={"scaling.a2": [0.1]}, out=tmp_path / "runs")
    assert done.row("case")["is_reference"] and done.row("case")["verdict"] == "violated"
    assert labels(done)[0] == "case (reference, scaled)"
    said = done.sentences[0]
    assert said.startswith("No run here is unscaled: it would take about ")
    assert "'case'" in said and "verdict is 'violated'" in said and "would take about" in said
    assert said[:40] in " ".join(capsys.readouterr().out.split())
    assert said in (done.folder / "comparison.html").read_text(encoding="utf-8").replace("&#x27;", "'")
    assert done.data["baselines"][0] == said


def test_an_unscaled_run_by_the_rule_of_the_case_is_made_where_friction_cannot_be_implicit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reference_run, "longest_step", lambda *_: None)
    case = case_of(tmp_path, PULLED)
    (first, *_) = reference_run.with_reference(entries(case, None, {"scaling.a2": [0.1]}), Silent())
    assert (first.name, first.rule, first.unscaled, first.is_reference) == ("unscaled", "kutta-merson", True, True)


@pytest.mark.slow
def test_a_reference_that_the_case_names_stays_and_is_said_to_be_scaled(tmp_path: Path) -> None:
    named = PULLED + '\n[compare]\nreference = "tenth"\nvariants = ["tenth"]\n'
    done = comparing.compare(case_of(tmp_path, named), vary={"scaling.a2": [0.05]}, out=tmp_path / "runs")
    assert done.row("tenth")["is_reference"]
    assert any("'tenth', the reference of the others, is scaled" in text for text in done.sentences)


# Seeds


@pytest.mark.slow
def test_seeds_have_labels_of_their_own_and_none_is_a_reference(tmp_path: Path) -> None:
    noisy = PULLED.replace("[scaling]", '[[forces]]\nkind = "brownian"\ntemperature = 300\n\n[scaling]')
    case = case_of(tmp_path, noisy, {"scaling": {"policy": "none"}, "variants": {}, "run.duration": 0.05})
    done = comparing.compare(case, vary={"run.seed": list(range(1, 9))}, out=tmp_path / "runs")
    assert labels(done) == [f"seed={seed}" for seed in range(1, 9)]
    assert all(row["reference"] is None for row in done.rows)
    drawn = [str(sorted(look.items())) for look in looks(done).values()]
    assert len(set(drawn)) == 8, "each line can be told from the others"
    assert style.REFERENCE_STYLE not in looks(done).values()


@pytest.mark.slow
def test_each_seed_has_a_reference_of_its_own_where_other_values_vary_too(tmp_path: Path) -> None:
    case = case_of(tmp_path, PULLED + IMPLICIT)
    done = comparing.compare(case, vary={"run.seed": [1, 2], "scaling.a2": [0.1]}, out=tmp_path / "runs")
    assert labels(done) == [
        "implicit-seed=1 (reference)",
        "seed=1-a2=0.1",
        "implicit-seed=2 (reference)",
        "seed=2-a2=0.1",
    ]
    assert [row["reference"] for row in done.rows] == [None, "implicit-seed=1", None, "implicit-seed=2"]


# Other physics


@pytest.mark.slow
def test_a_variant_of_other_physics_is_not_late(tmp_path: Path) -> None:
    """Twice the pull arrives early by far more than scaling errs: nothing follows from that for the scaling."""
    done = comparing.compare(case_of(tmp_path, PULLED + IMPLICIT + ELSEWHERE), out=tmp_path / "runs")
    elsewhere, shorter, tenth = (done.row(name) for name in ("elsewhere", "shorter", "tenth"))
    for key in ("largest_deviation", "standard_deviation", "lateness", "lateness_relative"):
        assert elsewhere[key] is None, key
    assert any("forces[0].acceleration" in note and "no deviation" in note for note in elsewhere["notes"])
    assert not any("'elsewhere'" in text for text in done.sentences)
    # Another place to stop at is another time, along the same path.
    assert shorter["lateness"] is None and shorter["largest_deviation"] is not None
    assert any("run.stop.advance" in note for note in shorter["notes"])
    assert tenth["lateness"] == lateness(0.1) and tenth["notes"] == []


def test_an_unscaled_run_of_other_physics_is_not_offered_as_a_rival(tmp_path: Path) -> None:
    """The first unscaled explicit variant says what others save, if it shows the same motion."""
    heavy = '\n[variants.heavy]\n"model.bodies.sphere.mass" = 20.0\nscaling = { policy = "none" }\n'
    plain = '\n[variants.plain]\nscaling = { policy = "none" }\n\n[compare]\nvariants = ["tenth"]\n'
    found = entries(case_of(tmp_path, PULLED + heavy + plain), None, None)
    assert [entry.name for entry in found if entry.optional] == ["plain"]
    assert "heavy" not in [entry.name for entry in found]
    implicit = IMPLICIT.replace("[variants.implicit]", '[variants.heavy]\n"model.bodies.sphere.mass" = 20.0')
    asked = entries(case_of(tmp_path, PULLED + implicit), ["tenth"], None)
    assert "heavy" not in [entry.name for entry in asked], "nor measured from"


# Ties


@pytest.mark.parametrize(("wall", "word"), [(40.0, "as fast as"), (38.9, "as fast as"), (41.5, "as fast as")])
def test_a_tie_is_no_victory(wall: float, word: str) -> None:
    row = {"name": "scaled", "wall_seconds": wall, "physical_time": 1.0, "verdict": "trusted"}
    rival = {"name": "fair", "rule": "friction-implicit", "wall_seconds": 40.0, "physical_time": 1.0}
    rival |= {"wall_seconds_are": "measured", "lateness_relative": None}
    text = sentence(row, rival)
    assert text.startswith(f"'scaled' is {word} the unscaled friction-implicit rule ('fair'; ")
    assert "gains nothing" not in text and "1 times" not in text
    assert "gains nothing" in sentence({**row, "wall_seconds": 43.0}, rival)
    assert "1.1 times as fast" in sentence({**row, "wall_seconds": 37.0}, rival)


def test_a_slower_clock_is_named_where_it_decides() -> None:
    row = {"name": "two", "wall_seconds": 40.0, "physical_time": 0.5, "simulated_time": 1.0, "verdict": "violated"}
    rival = {"name": "fair", "rule": "friction-implicit", "wall_seconds": 40.0, "physical_time": 1.0}
    rival |= {"wall_seconds_are": "measured", "lateness_relative": None, "simulated_time": 1.0}
    text = sentence(row, rival)
    assert "2 times as fast" in text and "clock of 'two' runs at 0.5 of the true rate" in text


@pytest.mark.slow
def test_no_sentence_counts_a_scaled_run_as_a_rival(tmp_path: Path) -> None:
    done = comparing.compare(case_of(tmp_path, PULLED + IMPLICIT), out=tmp_path / "runs")
    assert {row["name"] for row in done.rows} == {"implicit", "tenth", "case", "overdamped"}
    assert len(sentences(done)) == 4
    assert np.isfinite([row["wall_seconds"] for row in done.rows]).all()
