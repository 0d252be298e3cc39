"""Reports where something is not defined: what has no meaning is not drawn, and the page says so, without a traceback.

A rule without inertia has no speeds, and so no kinetic energy and no kinetic temperature. A model on which nothing acts
has no works. A trajectory that holds numbers that are none is refused by frame and body.
"""

from __future__ import annotations

import shutil
from dataclasses import replace
from html import unescape
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest
from typer.testing import CliRunner

import articulon as ar
from articulon import cli
from articulon.comparisons import comparison as comparing
from articulon.comparisons import reference_cache, timed_runs
from articulon.comparisons.variant_runs import Entry
from articulon.report.fidelity_words import verdict_sentences
from articulon.report.figures import figures
from articulon.report.view import View
from articulon.storage import seals
from articulon.studio.run_report import write_report
from tests.support.run_cases import BALL, ran

WARM = """
[case]
title = "A warm sphere that is pulled"
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

[[forces]]
kind = "brownian"
temperature = 300

[scaling]
policy = "constant"
a2 = 0.1

[integrator]
rule = "kutta-merson"

[run]
duration = 0.1
frames = 40
"""

OVERDAMPED = {"scaling": {"policy": "none"}, "integrator": {"rule": "overdamped", "step": 0.0005}}

BATH = """
[case]
title = "Beads without inertia on springs"
units = "lj"

[model]
builder = "particles"
species = { A = { mass = 1.0 } }
kinds = ["A", "A", "A"]
positions = [[0, 0, 0], [1.1, 0, 0], [2.3, 0, 0]]

[[forces]]
kind = "harmonic-bonds"
bonds = [[0, 1], [1, 2]]
stiffness = 100.0
length = 1.0

[thermostat]
kind = "overdamped"
temperature = 1.0
friction = 10.0

[integrator]
rule = "ermak-mccammon"
step = 0.001

[run]
duration = 1.0
frames = 40
"""


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reference_cache, "references_folder", lambda: tmp_path / "references")
    # Comparisons draw their own page; those of their runs take three times as long, and are drawn here by themselves.
    monkeypatch.setattr(comparing, "write_report", lambda folder: folder)


def page(run: ar.Run) -> str:
    return write_report(run.folder).read_text(encoding="utf-8")


@pytest.mark.slow
def test_a_noisy_run_without_inertia_has_a_report_that_names_what_it_has_not(tmp_path: Path) -> None:
    run = ran(tmp_path, WARM, OVERDAMPED)
    assert not np.isfinite(run.observables["temperature_kinetic"]).any()
    text = page(run)
    assert "Not defined, and not drawn: the kinetic temperature" in text
    assert "'overdamped' has no speeds" in text.replace("&#x27;", "'")
    drawn = figures(run)
    assert "temperature" not in drawn and "kinetic_energy" not in drawn
    assert "position" in drawn and "forces" in drawn


@pytest.mark.slow
def test_particles_under_a_thermostat_without_inertia_have_a_report(tmp_path: Path) -> None:
    run = ran(tmp_path, BATH)
    assert "'ermak-mccammon' has no speeds" in page(run).replace("&#x27;", "'")
    assert "temperature" not in figures(run)


@pytest.mark.slow
def test_what_is_defined_is_not_said_to_be_undefined(tmp_path: Path) -> None:
    text = page(ran(tmp_path, WARM))
    assert "Not defined" not in text
    assert "Kinetic temperature" in text


@pytest.mark.slow
@pytest.mark.parametrize("speed", ["[0, 0, 0, 0, 0, 0]", "[1, 0, 0, 0, 0, 2]"])
def test_a_case_without_forces_has_a_report(tmp_path: Path, speed: str) -> None:
    run = ran(tmp_path, BALL.replace('joint = "free"', f'joint = "free"\nu = {speed}'))
    assert "<h1>" in page(run)
    assert ("kinetic_energy" in figures(run)) == ("1" in speed)


@pytest.mark.slow
def test_a_noisy_scaled_case_is_compared_with_its_rivals(tmp_path: Path) -> None:
    """The rival without inertia that the comparison adds has no temperature."""
    text = WARM + '\n[variants.half]\nscaling = { policy = "constant", a2 = 0.5 }\n'
    (tmp_path / "warm.toml").write_text(text, encoding="utf-8")
    done = comparing.compare(ar.load_case(tmp_path / "warm.toml"), out=tmp_path / "runs")
    assert (done.folder / "comparison.html").is_file()
    assert {"case", "half", "overdamped"} <= set(done.views)
    result = CliRunner().invoke(cli.app, ["report", str(done.folder / "overdamped")])
    assert result.exit_code == 0, result.output


@pytest.mark.slow
def test_a_rival_that_nobody_asks_for_and_that_fails_is_left_out_and_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A step that begins well may diverge on another noise path; what was asked for is still compared."""
    short = timed_runs.run_short

    def failing(entry: Entry, steps: float) -> Any:
        if entry.rule == "overdamped":
            where = {"body": "sphere", "joint": "xyz", "channel": "stochastic", "checkpoint": "scratch/checkpoint.npz"}
            raise ar.DivergenceError("steps are too long", time=0.0024, step=32, time_unit="us", **where)
        return short(entry, steps)

    for module in (comparing, timed_runs):
        monkeypatch.setattr(module, "run_short", failing)
    (tmp_path / "warm.toml").write_text(WARM, encoding="utf-8")
    done = comparing.compare(ar.load_case(tmp_path / "warm.toml"), out=tmp_path / "runs")
    assert "overdamped" not in {row["name"] for row in done.rows} and "case" in done.views
    said = "overdamped: left out: it diverged at t = 0.0024 us: steps are too long at body 'sphere'"
    assert said in capsys.readouterr().out
    assert said in unescape((done.folder / "comparison.html").read_text(encoding="utf-8"))
    assert done.data["left_out"] == {"overdamped": said.removeprefix("overdamped: left out: ")}
    asked = WARM + '\n[variants.none]\nscaling = { policy = "none" }\n'
    asked += 'integrator = { rule = "overdamped", step = 0.0005 }\n'
    (tmp_path / "warm.toml").write_text(asked, encoding="utf-8")
    with pytest.raises(ar.DivergenceError):
        comparing.compare(ar.load_case(tmp_path / "warm.toml"), against=["none"], out=tmp_path / "asked")


@pytest.mark.slow
def test_beads_without_inertia_are_compared(tmp_path: Path) -> None:
    (tmp_path / "bath.toml").write_text(BATH, encoding="utf-8")
    case = ar.load_case(tmp_path / "bath.toml")
    done = comparing.compare(case, vary={"run.seed": [1, 2]}, out=tmp_path / "runs")
    assert "–" in [row[1] for row in done_rows(done)]


def done_rows(done: comparing.Comparison) -> list[list[str]]:
    from articulon.comparisons.comparison_page import tables

    return tables(done)["Temperature"][1]


@pytest.mark.slow
@pytest.mark.parametrize("element", ["particles/bodies/position", "coordinates"])
def test_positions_that_are_no_numbers_are_refused_by_frame_and_body(tmp_path: Path, element: str) -> None:
    run = ran(tmp_path, BALL.replace('joint = "free"', 'joint = "free"\nu = [1, 0, 0, 0, 0, 0]'))
    broken = tmp_path / "broken"
    shutil.copytree(run.folder, broken)
    with h5py.File(broken / "trajectory.h5", "r+") as file:
        names: list[str] = []
        file.visit(names.append)
        found = [name for name in names if name.endswith("value") and element in name]
        assert found, names
        values = file[found[0]]
        row = values[4]
        row[...] = np.nan
        values[4] = row
    with (broken / "trajectory.h5").open("r+b") as stream:
        seals.write_seal(stream)  # by whoever wrote them; else the digest of the file tells first
    result = CliRunner().invoke(cli.app, ["report", str(broken)])
    assert result.exit_code == cli.EXIT_ERROR, result.output
    assert isinstance(result.exception, SystemExit)
    said = " ".join(result.stderr.split())
    assert "trajectory.h5" in said and "frame 4" in said and "not a number" in said
    with pytest.raises(ar.ArticulonError, match="frame 4"):
        View.of_folder(broken)


@pytest.mark.slow
def test_the_page_says_what_is_worst(tmp_path: Path) -> None:
    view = View.of(ran(tmp_path, WARM))
    found = view.summary["fidelity"]
    worst = {"words": "core: rotation 19 % late since 2.1 us"}
    with_it, without = (
        verdict_sentences(replace(view, summary={**view.summary, "fidelity": {**found, "worst": one}}))
        for one in (worst, None)
    )
    assert "Core: rotation 19 % late since 2.1 us." in with_it
    assert len(with_it) == len(without) + 1
