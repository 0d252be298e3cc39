"""Comparisons of variants, held against the exact motion of a sphere that is pulled through a fluid.

A sphere of mass m and drag β under the force m g moves by x = v (t − τ (1 − exp(−t/τ))) with τ = m/β and v = g τ.
Scaled by a2 its relaxation time is τ/a2 and its speed v is the same, so that it comes (1/a2 − 1) τ later to any place
that is far on the scale of v τ/a2. The friction-implicit rule has the lag τ exactly, at any step: each step falls short
of the steady drift by a geometric series whose sum is v τ.
"""

from __future__ import annotations

import json
import math
import os
import re
import shlex
import shutil
import signal
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest
from typer.testing import CliRunner

import articulon as ar
from articulon import cli
from articulon.cases import Case
from articulon.comparisons import comparison as comparing
from articulon.comparisons import reference_cache, timed_runs
from articulon.comparisons.baselines import sentence, with_baselines
from articulon.comparisons.comparison_page import figures, saving_text, tables
from articulon.comparisons.path_measures import clock, deviation
from articulon.comparisons.variant_runs import Entry, entries, held_windows, on_one_noise_path
from articulon.fidelity.lag import UNCERTAIN
from articulon.forces.brownian import brownian_of
from articulon.simulation import loop
from articulon.simulation.run_request import Silent

MASS, RADIUS, VISCOSITY, PULL = 10.0, 0.2, 890.0, 1.0
TAU = MASS / (6.0 * math.pi * VISCOSITY * RADIUS)
SPEED = PULL * TAU
RTOL, ATOL = 1e-8, 1e-12

SPHERE = f"""
[case]
title = "A sphere that is pulled"
units = "fg-um-us"

[[model.bodies]]
name = "sphere"
mass = {MASS}
joint = "xyz"

[[forces]]
kind = "gravity"
acceleration = [{PULL}, 0, 0]

[[forces]]
kind = "stokes-drag"
viscosity = {VISCOSITY}
radius = {RADIUS}

[integrator]
rtol = {RTOL}
atol = {ATOL}

[run]
duration = 0.4
frames = 80
stop = {{ body = "sphere", direction = [1, 0, 0], advance = {0.2 * SPEED}, label = "arrived" }}

[variants.explicit]
scaling = {{ policy = "none" }}

[variants.implicit]
scaling = {{ policy = "none" }}
integrator = {{ rule = "friction-implicit", step = "1 ns" }}

[variants.half]
scaling = {{ policy = "constant", a2 = 0.5 }}

[variants.tenth]
scaling = {{ policy = "constant", a2 = 0.1 }}

[compare]
reference = "implicit"
variants = ["half", "tenth"]
"""


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("case") / "sphere.toml"
    path.write_text(SPHERE, encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("references")


@pytest.fixture(autouse=True)
def own_cache(kept: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """References of these tests, and not of whoever runs them."""
    monkeypatch.setattr(reference_cache, "references_folder", lambda: kept)


@pytest.fixture(scope="module")
def done(file: Path, kept: Path, tmp_path_factory: pytest.TempPathFactory) -> comparing.Comparison:
    """The default comparison, made without any reference in the cache."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(reference_cache, "references_folder", lambda: kept)
        return comparing.compare(ar.load_case(file), out=tmp_path_factory.mktemp("runs") / "compare")


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """The figures of each run take longer to draw than these runs to make."""
    monkeypatch.setattr(comparing, "write_report", lambda folder: folder)
    monkeypatch.setattr("articulon.comparisons.comparison_page.figures", lambda done: {})


def exact(time: np.ndarray, a2: float = 1.0) -> np.ndarray:
    tau = TAU / a2
    return SPEED * (time + tau * np.expm1(-time / tau))


def integration_error(row: dict[str, Any]) -> float:
    """Bound on the relative error of a position: every accepted step may err by the tolerance."""
    return row["steps"] * RTOL


# What is run


def test_the_reference_comes_first_and_an_unscaled_explicit_run_is_offered(file: Path) -> None:
    found = entries(ar.load_case(file), None, None)
    # The case itself is the explicit variant, which is therefore asked for.
    assert [entry.name for entry in found] == ["implicit", "half", "tenth", "explicit"]
    assert [entry.is_reference for entry in found] == [True, False, False, False]
    assert [entry.name for entry in found if entry.unscaled and not entry.implicit] == ["explicit"]
    assert not any(entry.optional for entry in found)


def test_only_an_unscaled_explicit_run_that_nobody_asks_for_is_optional(file: Path) -> None:
    implicit = {"integrator": {"rule": "friction-implicit", "step": 0.001}}
    case = ar.load_case(file, {**implicit, "variants.explicit": {"integrator": {"rule": "kutta-merson"}}})
    assert {e.name: e.optional for e in entries(case, None, None)} == {
        "implicit": False,
        "half": False,
        "tenth": False,
        "explicit": True,
    }
    assert not any(entry.optional for entry in entries(case, ["explicit"], None))


def test_what_is_asked_for_is_what_the_case_is_measured_from(file: Path) -> None:
    case = ar.load_case(file, {"scaling": {"policy": "constant", "a2": 0.25}})
    found = entries(case, ["explicit"], None)
    assert [(entry.name, entry.is_reference) for entry in found] == [("explicit", True), ("case", False)]


def test_values_are_combined_and_have_the_reference_of_their_physics(file: Path) -> None:
    case = ar.load_case(file, {"scaling": {"policy": "constant", "a2": 0.25}})
    found = entries(case, None, {"scaling.a2": [0.5, 0.2], "run.seed": [1, 2]})
    assert [(entry.group, entry.name, entry.is_reference) for entry in found] == [
        (0, "implicit-seed=1", True),
        (0, "explicit-seed=1", False),
        (0, "a2=0.5-seed=1", False),
        (0, "a2=0.2-seed=1", False),
        (1, "implicit-seed=2", True),
        (1, "explicit-seed=2", False),
        (1, "a2=0.5-seed=2", False),
        (1, "a2=0.2-seed=2", False),
    ]
    assert [(entry.case.scaling.policy, entry.case.run.seed) for entry in found][4] == ("none", 2)
    assert [entry.case.scaling.a2 for entry in found if not entry.unscaled] == [0.5, 0.2, 0.5, 0.2]
    assert [(entry.name, entry.variant) for entry in found if entry.optional] == [
        ("explicit-seed=1", "explicit"),
        ("explicit-seed=2", "explicit"),
    ]
    asked = entries(case, ["implicit"], {"scaling.a2": [0.5]})
    assert [entry.name for entry in asked] == ["implicit", "a2=0.5"]


# Figures


def test_the_lateness_is_that_of_the_longer_relaxation_time(done: comparing.Comparison) -> None:
    for name, a2 in (("half", 0.5), ("tenth", 0.1)):
        row, reference = done.row(name), done.row("implicit")
        expected = (1.0 / a2 - 1.0) * TAU
        # What is left of the start-up, and the error of the integration.
        left = TAU / a2 * math.exp(-a2 * row["stop_time"] / TAU)
        assert row["lateness"] == pytest.approx(expected, rel=0, abs=left + integration_error(row) * row["stop_time"])
        assert row["lateness"] == row["stop_time"] - reference["stop_time"]
        assert row["lateness_relative"] == row["lateness"] / reference["stop_time"]
        # From rest the lag estimate depends on the frames, within what it says that it is known to.
        assert row["predicted_delay"] == pytest.approx(expected, rel=UNCERTAIN)
    assert done.row("implicit")["lateness"] is None
    assert done.row("explicit")["predicted_delay"] is None


def test_deviations_are_those_of_the_exact_motions(done: comparing.Comparison) -> None:
    end = done.row("implicit")["simulated_time"]
    times = np.append(np.arange(80) * 0.005, end)
    times = np.unique(times[times <= end * (1 + 1e-12)])
    for name, a2 in (("half", 0.5), ("tenth", 0.1)):
        row = done.row(name)
        distances = np.abs(exact(times) - exact(times, a2))
        # The implicit rule errs in the transient by (h/τ)²/12 of the velocity that decays, over a time τ.
        error = SPEED * TAU * (0.001 / TAU) ** 2 / 12.0 + integration_error(row) * SPEED * end
        assert row["largest_deviation"] == pytest.approx(distances.max(), rel=0, abs=error)
        assert row["standard_deviation"] == pytest.approx(np.sqrt(np.mean(distances**2)), rel=0, abs=error)


def test_figures_are_those_of_the_files(done: comparing.Comparison) -> None:
    table = json.loads((done.folder / "comparison.json").read_text(encoding="utf-8"))
    assert table["variants"] == done.rows
    walls = {row["name"]: row["wall_seconds"] for row in done.rows}
    assert all(wall > 0.0 for wall in walls.values())
    paths = {}
    for row in done.rows:
        folder = done.folder / row["name"]
        summary = json.loads((folder / "summary.json").read_text(encoding="utf-8"))
        for key in ("steps", "rejected", "evaluations", "simulated_time", "stop_time", "digest"):
            assert row[key] == summary[key], key
        assert row["wall_seconds_are"] == "measured"
        assert (folder / "report.html").is_file()
        with h5py.File(folder / "trajectory.h5") as stored:
            element = stored["particles/bodies/position"]
            paths[row["name"]] = element["time"][:] * 1e-3, element["value"][:, 0] * 1e-3
    reference_times, reference = paths["implicit"]
    for name in ("half", "tenth", "explicit"):
        row, (times, path) = done.row(name), paths[name]
        end = min(times[-1], reference_times[-1])
        common = np.unique(np.append(reference_times[reference_times <= end], end))
        apart = np.array([np.interp(common, times, path[:, k]) for k in range(3)])
        apart -= np.array([np.interp(common, reference_times, reference[:, k]) for k in range(3)])
        distances = np.sqrt((apart**2).sum(axis=0))
        # Files are in nanometres and nanoseconds, and so rounded once more.
        rounding = 1e-12 * SPEED * end
        assert row["largest_deviation"] == pytest.approx(distances.max(), rel=1e-9, abs=rounding)
        assert row["standard_deviation"] == pytest.approx(math.sqrt(np.mean(distances**2)), rel=1e-9, abs=rounding)
        for key, other in (("saving_explicit", "explicit"), ("saving_friction_implicit", "implicit")):
            if name == other:
                assert row[key]["saving"] is None and "it is the unscaled" in row[key]["reason"]
                continue
            assert row[key]["against"] == other
            assert row[key]["saving"] == pytest.approx(1.0 - walls[name] / walls[other], rel=1e-12)
            assert row[key]["ratio"] == pytest.approx(walls[other] / walls[name], rel=1e-12)
            simulated = row["simulated_time"] / done.row(other)["simulated_time"]
            assert row[key]["ratio_per_physical_time"] == pytest.approx(row[key]["ratio"] * simulated, rel=1e-12)


def test_the_table_says_it_in_words(done: comparing.Comparison, capsys: pytest.CaptureFixture[str]) -> None:
    found = tables(done)
    assert list(found) == ["Cost", "Fidelity", "Differences from the reference"]
    (cost_heads, cost), (fidelity_heads, fidelity), _ = found.values()
    assert cost[0][0] == "implicit (reference)"
    assert {len(row) for row in cost} == {len(cost_heads)} and {len(row) for row in fidelity} == {len(fidelity_heads)}
    assert "arrived at" in fidelity_heads
    tenth = fidelity[[row[0] for row in fidelity].index("tenth")]
    assert tenth[4].startswith(f"{9 * TAU * 1e3:.3g}".rstrip("0"))
    assert tenth[6] == "violated"
    from rich.console import Console

    Console(width=160).print(done.tables())
    printed = capsys.readouterr().out
    assert "saved of" in printed and "tenth" in printed and "comparison.html" in printed


def test_a_saving_says_when_there_is_none_and_when_it_is_estimated() -> None:
    found = {"saving": 0.75, "ratio": 4.0, "ratio_per_physical_time": 4.0, "is": "measured"}
    assert saving_text(found) == "75\u00a0% (4×)"
    assert saving_text({**found, "is": "estimated"}) == "about 75\u00a0% (4×)"
    # Less wall time for less physics is no gain.
    assert saving_text({**found, "ratio_per_physical_time": 0.9}) == "no gain (4×)"
    assert saving_text({**found, "saving": -1.0, "ratio": 0.5}) == "no gain (0.5×)"
    assert saving_text({**found, "saving": None}) == "–"


def test_without_drag_scaling_only_slows_the_clock(file: Path) -> None:
    scaled = {"scaling": {"policy": "constant", "a2": 0.25}}
    assert clock(ar.load_case(file, scaled)) == 1.0
    assert clock(ar.load_case(file, {**scaled, "forces.stokes-drag": False})) == 0.5
    two = {"scaling": {"policy": "two-factor", "a2": 0.25, "b2": 0.16}}
    assert clock(ar.load_case(file, two)) == 0.16
    assert clock(ar.load_case(file, {**two, "forces.stokes-drag": False})) == pytest.approx(0.2, rel=1e-15)


def test_paths_are_compared_until_the_earlier_end() -> None:
    times, reference_times = np.linspace(0.0, 1.0, 6), np.linspace(0.0, 3.0, 4)
    path = np.outer(times, [1.0, 0.0, 0.0])
    reference = np.outer(reference_times, [0.0, 1.0, 0.0])
    found = deviation(times, path, reference_times, reference)
    np.testing.assert_array_equal(found.times, [0.0, 1.0])
    assert (found.largest, found.standard) == (math.sqrt(2.0), pytest.approx(1.0, rel=1e-15))
    longer = deviation(reference_times, reference, times, path)
    np.testing.assert_array_equal(longer.times, times)
    np.testing.assert_allclose(longer.distances, math.sqrt(2.0) * times, rtol=1e-15)


# References that are kept, and runs that are left out


@pytest.mark.usefixtures("quick")
def test_a_kept_reference_is_used_again_and_the_table_says_so(
    done: comparing.Comparison, file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    again = comparing.compare(ar.load_case(file), against=["implicit"], out=tmp_path / "again")
    row, first = again.row("implicit"), done.row("implicit")
    assert row["wall_seconds_are"] == "cached" and row["wall_seconds"] == first["wall_seconds"]
    assert again.row("case")["wall_seconds_are"] == "cached", "the case itself is the explicit variant"
    assert "(cached)" in capsys.readouterr().out
    stored = [folder / "implicit" / "trajectory.h5" for folder in (done.folder, again.folder)]
    assert stored[0].read_bytes() == stored[1].read_bytes()
    assert ar.load_case(tmp_path / "again" / "implicit" / "case.toml").digest() == row["digest"]


def test_a_reference_is_of_one_case_and_one_engine(
    done: comparing.Comparison, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    case = ar.load_case(file).variant("implicit")
    assert reference_cache.kept_wall_seconds(case) == done.row("implicit")["wall_seconds"]
    assert reference_cache.kept_wall_seconds(case.with_overrides({"case.title": "Other"})) is not None
    assert reference_cache.kept_wall_seconds(case.with_overrides({"run.seed": 2})) is None
    mine = {"kind": "user", "function": "wind.py:blow"}
    assert not reference_cache.can_be_kept(case.with_overrides({"forces": [mine]}))
    monkeypatch.setattr(reference_cache, "engine", lambda: "another")
    assert reference_cache.kept_wall_seconds(case) is None


@pytest.mark.parametrize("part", reference_cache.MAKERS)
def test_a_reference_is_of_the_code_that_builds_models_and_runs(
    part: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = Path(reference_cache.__file__).parent.parent
    for folder in ("comparisons", *reference_cache.MAKERS):
        shutil.copytree(package / folder, tmp_path / folder, ignore=shutil.ignore_patterns("__pycache__"))
    monkeypatch.setattr(reference_cache, "__file__", str(tmp_path / "comparisons" / "reference_cache.py"))
    engine = reference_cache.engine.__wrapped__
    before = engine()
    assert engine() == before
    with next((tmp_path / part).glob("*.py")).open("a", encoding="utf-8") as file:
        file.write("# edited\n")
    assert engine() != before


def test_a_damaged_reference_is_made_again(done: comparing.Comparison, file: Path, tmp_path: Path) -> None:
    case = ar.load_case(file).variant("implicit")
    measured = reference_cache.place(case) / reference_cache.MEASURED
    text = measured.read_text(encoding="utf-8")
    measured.write_text(text[: len(text) // 2], encoding="utf-8")
    assert reference_cache.kept_wall_seconds(case) is None
    reference_cache.keep(case, done.folder / "implicit", 5.0)
    assert reference_cache.kept_wall_seconds(case) == 5.0
    measured.write_text(text, encoding="utf-8")


@pytest.mark.usefixtures("quick")
def test_an_expensive_run_that_nobody_asks_for_is_estimated(
    file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(comparing, "PATIENCE", 0.0)
    monkeypatch.setattr(timed_runs, "SAMPLE", 20.0)
    monkeypatch.setattr(reference_cache, "references_folder", lambda: tmp_path / "none")
    implicit = {"rule": "friction-implicit", "step": 0.001}
    case = ar.load_case(
        file,
        {
            "integrator": implicit,
            "variants.explicit": {"integrator": {"rule": "kutta-merson", "rtol": RTOL}},
            "compare.variants": ["implicit"],
        },
    )
    done = comparing.compare(case, out=tmp_path / "runs")
    row = done.row("explicit")
    assert (row["status"], row["wall_seconds_are"], row["steps"]) == ("not run", "estimated", None)
    assert not (done.folder / "explicit").exists()
    assert row["estimated_from"] == pytest.approx(20.0 * TAU, rel=1e-12)
    assert row["simulated_time"] == done.row("implicit")["simulated_time"]
    assert "estimated from" in row["notes"][0] and "against explicit" in row["notes"][0]
    found = done.row("implicit")["saving_explicit"]
    assert found["is"] == "estimated"
    assert found["ratio"] == pytest.approx(row["wall_seconds"] / done.row("implicit")["wall_seconds"], rel=1e-12)
    assert row["saving_explicit"]["saving"] is None and row["largest_deviation"] is None


@pytest.mark.slow
def test_a_sample_of_long_steps_ends_where_the_run_does() -> None:
    """16,000 overdamped steps of 0.625 ns are twice as long as the docking, behind which nothing holds the particle."""
    overdamped = {"rule": "overdamped", "step": "0.625 ns"}
    changes = {"integrator": overdamped, "scaling": {"policy": "none"}, "run.duration": "20 us"}
    case = ar.load_case("nanoparticle-docking", changes)
    figures, _ = timed_runs.run_short(Entry("overdamped", case, 0), 16000.0)
    assert figures["simulated_time"] == figures["stop_time"] < 0.5 * 16000.0 * 0.625e-3


@pytest.mark.slow
@pytest.mark.usefixtures("quick")
def test_varied_runs_have_an_estimated_rival_and_no_saving_where_they_take_the_same_steps(
    file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(comparing, "PATIENCE", 0.0)
    monkeypatch.setattr(timed_runs, "SAMPLE", 20.0)
    monkeypatch.setattr(reference_cache, "references_folder", lambda: tmp_path / "none")
    implicit = {"rule": "friction-implicit", "step": 0.001}
    changes = {
        "integrator": implicit,
        "run.stop": None,
        "variants.implicit": {"scaling": {"policy": "none"}},
        "variants.explicit": {"integrator": {"rule": "kutta-merson", "rtol": RTOL}},
        "scaling": {"policy": "constant", "a2": 0.5},
    }
    case = ar.load_case(file, changes).with_overrides({"variants.explicit.scaling": {"policy": "none"}})
    done = comparing.compare(case, vary={"scaling.a2": [0.5, 0.2]}, out=tmp_path / "runs")
    assert done.row("explicit")["wall_seconds_are"] == "estimated"
    assert "against explicit" in done.row("explicit")["notes"][0]
    for name in ("a2=0.5", "a2=0.2"):
        row = done.row(name)
        assert row["steps"] == done.row("implicit")["steps"] == 400
        same = row["saving_friction_implicit"]
        assert same["saving"] is None and same["against"] == "implicit" and saving_text(same) == "same steps"
        assert row["saving_explicit"]["is"] == "estimated"
        assert row["saving_explicit"]["against"] == "explicit"


@pytest.mark.usefixtures("quick")
def test_a_missing_reference_has_a_reason(file: Path, tmp_path: Path) -> None:
    case = ar.load_case(file, {"scaling": {"policy": "constant", "a2": 0.5}})
    done = comparing.compare(case, against=["implicit"], vary={"scaling.a2": [0.25]}, out=tmp_path / "runs")
    assert [row["name"] for row in done.rows] == ["implicit", "a2=0.25"]
    found = done.row("a2=0.25")
    assert found["saving_explicit"]["reason"] == "the comparison has no unscaled explicit run"
    assert found["saving_friction_implicit"]["reason"] is None
    assert found["lateness"] == pytest.approx(3.0 * TAU, rel=1e-5)


def test_a_folder_that_holds_other_runs_is_left_alone(
    done: comparing.Comparison, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(ar.ArticulonError, match=r"implicit holds another run .*out="):
        comparing.compare(ar.load_case(file, {"run.duration": 0.5}), out=done.folder)
    monkeypatch.setattr(reference_cache, "engine", lambda: "another")
    with pytest.raises(ar.ArticulonError, match=r"implicit holds this run as made by another version .*out="):
        comparing.compare(ar.load_case(file), out=done.folder)


class StopsAt:
    """Asks the run of a name to stop once it has taken some steps, as Ctrl-C does."""

    def __init__(self, name: str) -> None:
        self.name, self.here, self.messages = name, False, list[str]()

    def start(self, total_time: float, unit: str, resumed_from: float = 0.0) -> None:
        self.messages.append(f"starts at {resumed_from > 0.0}")

    def message(self, text: str) -> None:
        self.messages.append(text)
        self.here = text == f"{self.name}:"

    def update(self, time: float, step: float, steps: int) -> None:
        if self.here and steps > 20:
            self.here = False
            os.kill(os.getpid(), signal.SIGINT)

    def finish(self, text: str = "") -> None:
        pass


@pytest.mark.slow
@pytest.mark.usefixtures("quick")
def test_a_comparison_that_is_stopped_goes_on_by_the_same_command(
    done: comparing.Comparison, file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reference_cache, "references_folder", lambda: tmp_path / "none")
    folder = tmp_path / "compare"
    with monkeypatch.context() as patch:
        patch.setattr(loop, "CHUNK_SECONDS", 0.0)
        with pytest.raises(KeyboardInterrupt) as stopped:
            comparing.compare(ar.load_case(file), out=folder, progress=StopsAt("half"))
    assert f"complete runs in {folder}: implicit.\n" in str(stopped.value)
    assert "Run the same command again" in str(stopped.value)
    assert ar.open_run(folder / "half").summary["status"] == "interrupted"
    before = (folder / "implicit" / "trajectory.h5").stat().st_mtime_ns
    shown = StopsAt("nothing")
    again = comparing.compare(ar.load_case(file), out=folder, progress=shown)
    assert (folder / "implicit" / "trajectory.h5").stat().st_mtime_ns == before
    assert [text for text in shown.messages if text.startswith("starts")] == [
        "starts at True",
        *["starts at False"] * 3,
    ]
    assert [row["wall_seconds_are"] for row in again.rows] == ["cached", *["measured"] * 4]
    assert "was interrupted" in again.row("half")["notes"][0]
    for name in ("implicit", "half", "tenth", "explicit"):
        stored = [place / name / "trajectory.h5" for place in (done.folder, folder)]
        assert stored[0].read_bytes() == stored[1].read_bytes(), name
    whole = comparing.compare(ar.load_case(file), out=folder)
    assert {row["wall_seconds_are"] for row in whole.rows} == {"cached"}
    assert [row["wall_seconds"] for row in whole.rows] == [row["wall_seconds"] for row in again.rows]


def test_scaling_is_held_against_its_fair_rivals_unasked(done: comparing.Comparison, file: Path) -> None:
    rivals = {row["rule"]: row["name"] for row in done.rows if row["scaling"]["policy"] == "none"}
    assert rivals == {"friction-implicit": "implicit", "kutta-merson": "explicit", "overdamped": "overdamped"}
    # Without inertia the sphere has its speed at once, and is earlier by τ.
    early = done.row("overdamped")["lateness"]
    assert early == pytest.approx(-TAU, rel=1e-3)
    for name in ("half", "tenth"):
        assert sum(f"'{name}'" in text for text in done.sentences) == 2
        assert done.row(name)["saving_overdamped"]["against"] == "overdamped"
    assert done.data["baselines"] == done.sentences
    assert all(text in (done.folder / "comparison.html").read_text().replace("&#x27;", "'") for text in done.sentences)
    case = ar.load_case(file)
    alone = file.with_name("alone.toml")
    text = SPHERE[: SPHERE.index("[variants")] + SPHERE[SPHERE.index("[variants.half]") : SPHERE.index("[compare]")]
    alone.write_text(text, encoding="utf-8")
    without = ar.load_case(alone)
    made = with_baselines(without, entries(without, None, None), Silent())
    assert [(entry.name, entry.rule, entry.optional) for entry in made[-2:]] == [
        ("friction-implicit", "friction-implicit", True),
        ("overdamped", "overdamped", True),
    ]
    for untouched in (case.variant("explicit"), ar.load_case(file, {"forces.stokes-drag": False})):
        found = entries(untouched, None, None)
        assert with_baselines(untouched, found, Silent()) == found


def test_the_sentences_say_who_is_faster_in_equal_physical_times() -> None:
    row = {"name": "fast", "wall_seconds": 10.0, "physical_time": 1.0, "verdict": "violated"}
    rival = {"name": "fair", "rule": "friction-implicit", "wall_seconds": 40.0, "physical_time": 1.0}
    rival |= {"wall_seconds_are": "measured", "lateness_relative": None}
    assert sentence(row, rival).startswith("'fast' is 4 times as fast as the unscaled friction-implicit rule")
    assert sentence(row, rival).endswith("but its verdict is 'violated'.")
    slower = {**row, "physical_time": 0.1}
    assert sentence(slower, rival).startswith("Scaling gains nothing: the unscaled friction-implicit rule")
    assert "for 10 times the time" in sentence(slower, rival) and "times the time" not in sentence(row, rival)
    inertialess = {**rival, "rule": "overdamped", "lateness_relative": -0.015, "wall_seconds_are": "estimated"}
    assert sentence(slower, inertialess).endswith("It omits inertia, which makes it 1.5\u00a0% early.")
    assert "about 40" in sentence(slower, inertialess)
    assert sentence({**row, "wall_seconds": 0.0}, rival) == ""


def test_a_comparison_has_its_figures(done: comparing.Comparison) -> None:
    of_energies = {"energies", "potential_energy", "kinetic_energy", "works_normalised"}
    assert set(figures(done)) == {"position", *of_energies, "forces", "factors", "step_size"}
    text = (done.folder / "comparison.html").read_text(encoding="utf-8")
    assert 'href="tenth/report.html"' in text
    # What the page itself says; the run in three dimensions is a page in it, which asks for nothing either.
    own = re.sub(r'srcdoc="[^"]*"', "", text)
    assert "http" not in own and "<script" not in own


# One noise path


NOISY = {
    "forces": [
        {"kind": "stokes-drag", "viscosity": VISCOSITY, "radius": RADIUS},
        {"kind": "brownian", "temperature": 300.0},
    ]
}


def noisy(file: Path) -> Case:
    settings = {"run.stop": None, "run.duration": 0.1, "run.frames": 20}
    coarse = {"integrator": {"rule": "friction-implicit", "step": 0.003}}
    fine = {"integrator": {"rule": "friction-implicit", "step": 0.001}}
    variants = {"variants": {"coarse": coarse, "fine": fine}, "compare": {"reference": "fine"}}
    return ar.load_case(file, {**NOISY, **settings, "variants": None, "compare": None}).with_overrides(variants)


def test_held_windows_are_powers_of_two_that_share_their_fine_ones(file: Path) -> None:
    interval = 0.1 / 20
    found = {entry.name: entry for entry in on_one_noise_path(entries(noisy(file), None, None))}
    wanted = {"coarse": 0.003, "fine": 0.001, "case": TAU / 4.0}
    forces = {name: brownian_of(entry.case.build_model()) for name, entry in found.items()}
    assert set(forces) == set(wanted)
    fine_windows = {force.window for force in forces.values()}
    assert len(fine_windows) == 1
    for name, force in forces.items():
        count = held_windows(found[name].case, interval)
        held = force.window * force.average
        assert held * count == interval, "whole numbers of windows fill the time between frames, to the bit"
        assert count & (count - 1) == 0
        assert held <= wanted[name] < 2.0 * held
    assert found["coarse"].case.integrator.step == interval / 2
    assert found["fine"].case.integrator.step == interval / 8


@pytest.mark.slow
@pytest.mark.usefixtures("quick")
def test_runs_on_one_noise_path_have_the_same_impulses(file: Path, tmp_path: Path) -> None:
    """Of a free sphere m v + β x is the impulse of the noise so far, whatever the step: equal at every frame."""
    done = comparing.compare(noisy(file), against=["fine", "coarse"], out=tmp_path / "runs")
    impulses = {}
    for name in ("fine", "coarse", "case"):
        run = ar.open_run(done.folder / name)
        impulses[name] = MASS * run.u + MASS / TAU * run.q
    size = np.abs(impulses["fine"]).max()
    assert size > 0.0
    # The friction-implicit rule has this identity in each step; its error is rounding.
    np.testing.assert_allclose(impulses["coarse"], impulses["fine"], rtol=0, atol=1e-12 * size)
    steps = done.row("case")["steps"]
    np.testing.assert_allclose(impulses["case"], impulses["fine"], rtol=0, atol=2.0 * steps * RTOL * size)


def test_different_frames_have_no_noise_path_in_common(file: Path) -> None:
    case = noisy(file).with_overrides({"variants.coarse.run.frames": 30})
    with pytest.raises(ar.CaseError, match=r"different times between frames.*run\.frame_interval"):
        on_one_noise_path(entries(case, None, None))


# The command


@pytest.mark.parametrize(
    "vary, words",
    [
        (
            "scaling.a2=0.5,0.2",
            "constant, atomistic, two-factor, atomistic-clock, smooth-adaptive, threshold-adaptive, "
            "atomistic-two-factor",
        ),
        ("scaling.b2=0.5,0.2", "two-factor, atomistic-two-factor"),
        ("integrator.rtol=1e-5,1e-6", "kutta-merson, scipy-radau"),
    ],
)
def test_a_key_of_another_policy_is_answered_by_a_command_that_works(
    vary: str, words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls: list[Any] = []
    monkeypatch.setattr(comparing, "compare", lambda case, **named: calls.append((case, named)))
    runner = CliRunner()
    refused = runner.invoke(cli.app, ["compare", "nanoparticle-docking", "--vary", vary])
    key = vary.partition("=")[0]
    assert refused.exit_code == cli.EXIT_ERROR and not calls
    assert f"{key} is a key of {words};" in refused.stderr
    command = shlex.split(refused.stderr.splitlines()[-1])
    assert command[:3] == ["articulon", "compare", "nanoparticle-docking"]
    assert runner.invoke(cli.app, command[1:]).exit_code == 0
    ((case, named),) = calls
    assert list(named["vary"]) == [key]
    assert len({entry.name for entry in entries(case, None, named["vary"])}) >= 2
    unknown = runner.invoke(cli.app, ["compare", "nanoparticle-docking", "--vary", "scaling.nothing=1"])
    assert "unknown key" in unknown.stderr and "is a key of" not in unknown.stderr
