"""Comparisons of runs at constant energy, held against the exact motion of velocity Verlet in a harmonic well.

With z = hω the rule keeps H' = ½mv² + ½kx²(1 − z²/4) at the ends of its steps, so that the energy there is that of the
start less ⅛ z² k (A² − x²), with x = A cos φ of a phase that grows by arccos(1 − z²/2) in a step. It diverges for
z > 2.
"""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

import articulon as ar
from articulon import cli
from articulon.comparisons import comparison as comparing
from articulon.comparisons import reference_cache, timed_runs
from articulon.comparisons.comparison_page import figures, tables
from articulon.comparisons.energy_comparison import ENERGY, crossing, may_keep_energy
from articulon.comparisons.variant_runs import Entry

MASS, STIFFNESS, AMPLITUDE, FRAMES, INTERVAL = 2.0, 8.0, 0.3, 160, 6.0
OMEGA = math.sqrt(STIFFNESS / MASS)
WANTED = 0.01

WELL = f"""
[case]
title = "A ball in a harmonic well"
units = "lj"

[[model.bodies]]
name = "ball"
mass = {MASS}
joint = "xyz"
q = [{AMPLITUDE}, 0, 0]

[[forces]]
kind = "position-restraint"
bodies = ["ball"]
stiffness = {STIFFNESS}
to = [0, 0, 0]

[integrator]
rule = "velocity-verlet"
step = 0.02

[run]
duration = {FRAMES * INTERVAL}
frames = {FRAMES}

[compare]
reference = "short"
energy_spread = {WANTED}

[variants.short]
"integrator.step" = 0.02

[variants."well-0.1"]
"integrator.step" = 0.1

[variants."well-0.2"]
"integrator.step" = 0.2

[variants."well-6"]
"integrator.step" = 6.0

[variants.warm]
thermostat = {{ kind = "nose-hoover", temperature = 0.1, period = 1.0 }}
integrator = {{ rule = "rk4", step = 0.1 }}

[variants.drag]
forces = [{{ kind = "stokes-drag", translational = 0.1 }}, {{ kind = "gravity", acceleration = [0, 0, -1.0] }}]

[variants."heavy-0.1"]
"model.bodies.ball.mass" = {4.0 * MASS}
"integrator.step" = 0.1

[variants."heavy-0.3"]
"model.bodies.ball.mass" = {4.0 * MASS}
"integrator.step" = 0.3
"""
STEPS = {"short": 0.02, "well-0.1": 0.1, "well-0.2": 0.2}


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("case") / "well.toml"
    path.write_text(WELL, encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def done(file: Path, tmp_path_factory: pytest.TempPathFactory) -> comparing.Comparison:
    """All variants, one of which diverges."""
    folder = tmp_path_factory.mktemp("runs")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(reference_cache, "references_folder", lambda: folder / "references")
        patch.setattr(comparing, "write_report", lambda place: place)
        return comparing.compare(ar.load_case(file), out=folder / "compare")


def exact(step: float, mass: float = MASS) -> dict[str, float]:
    """The figures of velocity Verlet with this step at the frames."""
    z = step * math.sqrt(STIFFNESS / mass)
    each = round(INTERVAL / step) * np.arange(FRAMES + 1)
    x = AMPLITUDE * np.cos(math.acos(1.0 - 0.5 * z * z) * each)
    start = 0.5 * STIFFNESS * AMPLITUDE**2
    energy = start - 0.125 * z * z * STIFFNESS * (AMPLITUDE**2 - x**2)
    kinetic = energy - 0.5 * STIFFNESS * x**2
    return {
        "step": step,
        "standard_deviation": energy.std(),
        "over_kinetic_energy": energy.std() / kinetic.mean(),
        "over_total_energy": energy.std() / energy.mean(),
        "largest_departure": np.abs(energy - start).max(),
    }


@pytest.mark.parametrize("name", STEPS)
def test_the_spread_of_the_energy_is_that_of_the_exact_steps(done: comparing.Comparison, name: str) -> None:
    found = dict(done.row(name)["energy"])
    row = done.row(name)
    assert found.pop("time_per_wall_second") == pytest.approx(row["simulated_time"] / row["wall_seconds"], rel=1e-12)
    # 48,000 steps round the energy of 0.36 to 2e-14 of it at random, and the least spread is 7e-5 of it.
    assert found == pytest.approx(exact(STEPS[name]), rel=1e-9)


def test_energy_that_is_exchanged_has_no_spread(done: comparing.Comparison) -> None:
    """A thermostat and drag change it by themselves."""
    assert [done.row(name)["energy"] for name in ("warm", "drag")] == [None, None]
    heads, rows = tables(done)["Energy"]
    assert tuple(heads) == ("run", *ENERGY)
    assert [row[0] for row in rows] == ["short", "well-0.1", "well-0.2", "well-6", "heavy-0.1", "heavy-0.3"]


def test_a_case_says_whether_its_energy_is_exchanged(file: Path) -> None:
    """Of a run that has diverged there is nothing else to go by."""
    case = ar.load_case(file)
    scaled = case.with_overrides({"scaling": {"policy": "constant", "a2": 0.5}})
    assert may_keep_energy(case) and may_keep_energy(case.variant("heavy-0.1"))
    assert not any(map(may_keep_energy, (case.variant("warm"), case.variant("drag"), scaled)))


def test_a_run_that_diverges_is_shown_as_such(done: comparing.Comparison) -> None:
    """z = 12: the amplitude grows by a factor of 142 at each step, until it is no number any more."""
    row = done.row("well-6")
    assert (row["status"], row["steps"], row["wall_seconds"]) == ("diverged", None, None)
    assert "well-6" not in done.views and done.left_out == {}
    assert row["notes"][0].startswith("it diverged at t = ") and "at body 'ball'" in row["notes"][0]
    assert row["saving_explicit"]["saving"] is None
    energies = {texts[0]: texts[1:] for texts in tables(done)["Energy"][1]}
    assert energies["well-6"] == ["6", "diverged", "–", "–", "–", "–"]
    assert next(texts for texts in tables(done)["Fidelity"][1] if texts[0] == "well-6")[-1] == "diverged"
    written = json.loads((done.folder / "comparison.json").read_text(encoding="utf-8"))
    assert next(one for one in written["variants"] if one["name"] == "well-6")["status"] == "diverged"


def test_what_others_are_measured_from_must_not_diverge(file: Path, tmp_path: Path) -> None:
    with pytest.raises(ar.DivergenceError):
        comparing.compare(ar.load_case(file, {"compare.reference": "well-6"}), out=tmp_path / "runs")


def test_runs_that_differ_in_their_step_alone_say_where_a_spread_is_reached(done: comparing.Comparison) -> None:
    """The spread is nearly (hω)²/√32 of the mean kinetic energy, so that a mass of four times allows twice the step."""
    assert {row["name"]: row["series"] for row in done.rows} == {
        "short": "short",
        "well-0.1": "short",
        "well-0.2": "short",
        "well-6": "short",
        "warm": None,
        "drag": None,
        "heavy-0.1": "heavy",
        "heavy-0.3": "heavy",
    }
    sentence = next(text for text in done.sentences if text.startswith("The standard"))
    assert "deviation of the total energy is 1\u00a0% of the mean kinetic energy" in sentence
    well, heavy = (
        crossing(steps, [exact(h, mass)["over_kinetic_energy"] for h in steps], WANTED).step
        for steps, mass in (([0.02, 0.1, 0.2], MASS), ([0.1, 0.3], 4.0 * MASS))
    )
    assert well is not None and heavy is not None
    assert f"'short' at a step of {well:.3g}, between 0.1 and 0.2" in sentence
    assert f"'heavy' at a step of {heavy:.3g}, between 0.1 and 0.3" in sentence
    assert f"the first step is {well / heavy:.3g} times the second" in sentence
    # At a phase that frames do not sample evenly it is another mean, by a few parts in a hundred.
    assert well == pytest.approx(math.sqrt(WANTED * math.sqrt(32.0)) / OMEGA, rel=0.05)


def test_a_spread_is_found_between_steps_by_a_power_law() -> None:
    steps = [0.01, 0.02, 0.04]
    assert crossing(steps, [1e-4, 4e-4, 16e-4], 9e-4).step == pytest.approx(0.03, rel=1e-12)
    assert crossing(steps, [1e-4, 4e-4, 16e-4], 1e-3)[1:] == (0.02, 0.04)
    assert crossing(steps, [1e-4, 4e-4, math.inf], 1e-3) == (None, 0.02, 0.04)
    assert crossing(steps, [1e-4, 4e-4, 16e-4], 1.0) == (None, 0.04, None)
    assert crossing(steps, [1e-4, 4e-4, 16e-4], 1e-6) == (None, None, 0.01)
    # What lies beyond the first step that is too long does not count.
    assert crossing(steps, [1e-4, 4e-3, 1e-4], 1e-3)[1:] == (0.01, 0.02)


def test_the_page_has_the_energies_and_their_figure(done: comparing.Comparison) -> None:
    page = (done.folder / "comparison.html").read_text(encoding="utf-8")
    for text in (
        ">Energy<",
        "mean kinetic energy",
        "diverged",
        "Standard deviation of the total energy",
        "short",
        "heavy",
    ):
        assert text in page
    (axes,) = figures(done)["energy_spread"].axes
    lines = {str(line.get_label()): np.array(line.get_xydata()) for line in axes.lines}
    assert lines["short"] == pytest.approx(
        np.array([(h, 100.0 * exact(h)["over_kinetic_energy"]) for h in (0.02, 0.1, 0.2)]), rel=1e-9
    )
    assert set(lines) == {"short", "heavy", "1\u00a0%"}


def test_a_comparison_is_printed_with_its_energies(file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(comparing, "write_report", lambda place: place)
    monkeypatch.setattr("articulon.comparisons.comparison_page.figures", lambda done: {})
    monkeypatch.setattr(reference_cache, "references_folder", lambda: tmp_path / "references")
    vary = ["--vary", "integrator.step=0.1,6", "--set", "compare.energy_spread=0.002"]
    result = CliRunner().invoke(cli.app, ["compare", str(file), *vary, "--out", str(tmp_path / "runs")])
    assert result.exit_code == 0, result.output
    assert "step=6: it diverged at t = " in result.output and "total energy" in result.output
    assert "total energy is 0.2" in result.output


def test_the_cost_of_a_short_run_is_estimated_from_a_part_of_it(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    taken: list[float] = []
    short = timed_runs.run_short

    def noting(entry: Entry, steps: float) -> tuple[dict[str, float], float]:
        taken.append(steps)
        return short(entry, steps)

    monkeypatch.setattr(timed_runs, "run_short", noting)
    case = ar.load_case(file, {"run.duration": 24.0, "run.frames": 4})
    _, sample = timed_runs.estimated(Entry("case", case, 0), 24.0)
    assert sample == pytest.approx(2.4, rel=1e-9)
    assert taken == pytest.approx([8.0, 24.0, 120.0])


@pytest.mark.parametrize("value", [0.0, -0.1, "much"])
def test_a_spread_that_cannot_be_is_refused(file: Path, value: object) -> None:
    with pytest.raises(ar.CaseError, match=r"compare\.energy_spread"):
        ar.load_case(file, {"compare.energy_spread": value})
