"""Rankings, fits and runs that end as they are to: against closed forms of a sled that friction slows."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

import articulon as ar
from articulon import cli
from articulon.errors import ArticulonError, CaseError, DivergenceError
from articulon.parameter_studies import fitting
from articulon.parameter_studies.fit_page import fit_page
from tests.support.run_cases import case_of

SLED = """
[case]
title = "A sled that is pulled and rubs"
units = "kg-m-s"

[[model.bodies]]
name = "sled"
joint = "prismatic"
axis = [1, 0, 0]
mass = 2.0

[[forces]]
kind = "gravity"
acceleration = [3.0, 0, 0]

[[forces]]
kind = "joint-damping"
translational = { sled = 0.5 }

[integrator]
rule = "rk4"
step = 0.01

[run]
duration = 2.0
frames = 10
"""
AXIS = "model.bodies.sled.axis[1]"
PULL, RUB, MASS = "forces.gravity.acceleration", "forces.joint-damping.translational.sled", "model.bodies.sled.mass"


def way(t: Any, a: float = 3.0, c: float = 0.5, m: float = 2.0) -> Any:
    """How far the sled has come."""
    rate = c / m
    return a / rate * (t + np.expm1(-rate * t) / rate)


def derivative(function: Any, x: float) -> float:
    h = 1e-3 * x
    near, far = function(x + h) - function(x - h), function(x + 2 * h) - function(x - 2 * h)
    return float((8.0 * near - far) / (12.0 * h))


def sled(folder: Path, overrides: dict[str, Any] | None = None) -> Any:
    return case_of(folder, SLED, overrides or {})


def test_parameters_are_ranked_by_what_one_percent_changes(tmp_path: Path) -> None:
    found = ar.rank_parameters(sled(tmp_path), "sled.distance")
    end = way(2.0)
    expected = {
        f"{PULL}[0]": 1.0,
        MASS: 2.0 * derivative(lambda m: way(2.0, m=m), 2.0) / end,
        RUB: 0.5 * derivative(lambda c: way(2.0, c=c), 0.5) / end,
    }
    assert found.value == pytest.approx(end, rel=1e-9)
    assert {one.parameter: one.elasticity for one in found.influences} == pytest.approx(expected, rel=1e-6)
    assert found.influences[0].parameter == f"{PULL}[0]"
    sizes = [abs(one.effect) for one in found.influences]
    assert sizes == sorted(sizes, reverse=True)
    assert "model.bodies.sled.axis[0]" in found.left_out
    forward = ar.rank_parameters(sled(tmp_path), "sled.distance", method="forward")
    assert {one.parameter: one.derivative for one in forward.influences} == pytest.approx(
        {one.parameter: one.derivative for one in found.influences}, rel=1e-9
    )


def test_the_time_of_a_stop_is_ranked_by_default(tmp_path: Path) -> None:
    stop = {"body": "sled", "direction": [1, 0, 0], "advance": 2.0, "label": "there"}
    found = ar.rank_parameters(sled(tmp_path, {"run.stop": stop}), parameters=[f"{PULL}[0]", MASS])
    assert found.objective == "stop_time"
    assert way(found.value) == pytest.approx(2.0, rel=1e-8)
    speed = derivative(way, found.value)
    by_pull = -derivative(lambda a: way(found.value, a=a), 3.0) / speed
    assert {one.parameter: one.derivative for one in found.influences}[f"{PULL}[0]"] == pytest.approx(by_pull, rel=1e-6)


def test_what_a_builder_makes_of_a_key_is_differentiated() -> None:
    """Places, initial coordinates, masses and inertias of the particle that docks, beside runs with other keys."""
    short = {"run.duration": "0.8 ns", "run.frames": 2, "model.ligands": 2}
    keys = ["model.gap", "model.spheres.A.mass", "model.core.radius", "model.ring_angle"]
    case = ar.load_case("nanoparticle-docking", short).with_overrides({"run.stop": None})
    by = ar.sensitivity(case, "position.A1.x", keys)
    forward = ar.sensitivity(case, "position.A1.x", keys, method="forward")
    for key in keys:
        own = {"model.gap": 0.044, "model.spheres.A.mass": 3.91e-5, "model.ring_angle": np.radians(30.0)}.get(key, 0.2)

        def end(x: float, key: str = key) -> float:
            return ar.sensitivity(case.with_overrides({key: x}), "position.A1.x", ["u"], method="adjoint").value

        assert by.gradient[key] == pytest.approx(forward.gradient[key], rel=1e-8, abs=1e-12)
        assert by.gradient[key] == pytest.approx(derivative(end, own), rel=1e-6, abs=1e-9)


def test_a_fit_without_errors_finds_the_numbers_again(tmp_path: Path) -> None:
    start = {f"{PULL}[0]": 5.0, RUB: (2.0, 0.0, 10.0)}
    found = ar.fit(sled(tmp_path, {"fit": {"observables": ["sled.distance", "sled.speed"]}}), parameters=start)
    assert found.values == pytest.approx({f"{PULL}[0]": 3.0, RUB: 0.5}, rel=1e-6)
    assert found.recovered and found.synthetic
    assert found.case.forces[0].acceleration == pytest.approx((3.0, 0.0, 0.0), rel=1e-6)


def test_steps_that_an_error_estimate_chooses_end_on_the_times_of_measurements(tmp_path: Path) -> None:
    times = np.array([0.0, 0.3, 0.7, 1.9])
    chosen = sled(tmp_path, {"integrator": {"rule": "dormand-prince", "rtol": 1e-10, "atol": 1e-12}})
    found = ar.fit(chosen, {"time": times, "sled.distance": way(times)}, [f"{PULL}[0]", RUB])
    assert found.values == pytest.approx({f"{PULL}[0]": 3.0, RUB: 0.5}, rel=1e-6)


def test_the_covariance_of_a_linear_fit_is_exact(tmp_path: Path) -> None:
    """The way is proportional to the pull, so that its variance is σ²/Σ (x/a)²."""
    times = np.linspace(0.1, 2.0, 40)
    noise = 0.01 * np.random.default_rng(3).standard_normal(times.size)
    data = {"time": times, "sled.distance": way(times) + noise}
    unit = way(times) / 3.0
    least = float(unit @ (way(times) + noise) / (unit @ unit))
    known = ar.fit(sled(tmp_path), data, [f"{PULL}[0]"], errors=0.01)
    assert known.numbers == pytest.approx([least], rel=1e-7)
    assert known.standard_errors == pytest.approx([0.01 / np.sqrt(unit @ unit)], rel=1e-6)
    assert not known.synthetic and known.recovered is None
    taken = ar.fit(sled(tmp_path), data, [f"{PULL}[0]"])
    left = way(times) + noise - least * unit
    s = np.sqrt(left @ left / (times.size - 1))
    assert taken.standard_errors == pytest.approx([s / np.sqrt(unit @ unit)], rel=1e-6)
    assert taken.residual_error == pytest.approx(s, rel=1e-6)
    from scipy.stats import t

    half = t.ppf(0.95, 39) * s / np.sqrt(unit @ unit)
    assert taken.intervals(0.9) == pytest.approx(np.array([[least - half, least + half]]), rel=1e-6)


def test_measurements_from_a_file_with_gaps(tmp_path: Path) -> None:
    times = np.linspace(0.2, 2.0, 19)
    speed = (way(times + 1e-6) - way(times - 1e-6)) / 2e-6
    rows = ["time,sled.distance,sled.speed", "# measured twice"]
    for k, (t, x, v) in enumerate(zip(times, way(times), speed, strict=True)):
        rows.append(f"{float(t)!r},{'' if k % 3 == 0 else repr(float(x))},{float(v)!r}")
    (tmp_path / "measured.csv").write_text("\n".join(rows))
    asked = {
        "data": "measured.csv",
        "parameters": [{"key": f"{PULL}[0]", "start": 4.0}, {"key": RUB, "start": "1 kg/s"}],
    }
    found = ar.fit(sled(tmp_path, {"fit": asked}), out=tmp_path / "fit")
    assert found.values == pytest.approx({f"{PULL}[0]": 3.0, RUB: 0.5}, rel=1e-5)
    assert found.degrees_of_freedom == 19 + 12 - 2
    told = json.loads((tmp_path / "fit" / "fit.json").read_text())
    assert told["parameters"][0]["found"] == found.numbers[0]
    again = ar.load_case(tmp_path / "fit" / "case.toml")
    assert again.forces[0].acceleration[0] == found.numbers[0]
    refitted = ar.fit(again, tmp_path / "fit" / "measurements.csv")
    assert refitted.numbers == pytest.approx(found.numbers, rel=1e-8)
    with pytest.raises(ArticulonError, match=r"case.toml exists and belongs to another study"):
        ar.fit(sled(tmp_path, {"fit": asked}), out=tmp_path / "fit")


def test_a_run_ends_as_it_is_to(tmp_path: Path) -> None:
    """One number and one target, the pull with which the sled comes 1 m far, by changes; and by adjoints a table of
    many values that brings it there and to rest."""
    found = ar.optimise(sled(tmp_path), {"sled.distance": 1.0}, [f"{PULL}[0]"], tolerance=1e-10)
    assert found.numbers == pytest.approx([3.0 / way(2.0)], rel=1e-8)
    times = np.linspace(0.0, 2.0, 12).tolist()
    table = {"kind": "joint-actuation", "body": "sled", "times": times, "values": [0.0] * 12}
    targets = {"sled.distance": 1.0, "sled.speed": 0.0}
    pulled = sled(tmp_path, {"forces": [table]})
    found = ar.optimise(pulled, targets, ["forces[0].values"], out=tmp_path / "optimum")
    run = ar.run(ar.load_case(tmp_path / "optimum" / "case.toml"), tmp_path / "run", report=False)
    assert (run.q[-1, 0], run.u[-1, 0]) == pytest.approx((1.0, 0.0), abs=1e-6)
    assert found.numbers.size == 12 and found.ends == pytest.approx([1.0, 0.0], abs=1e-6)
    assert list(found.departures) == sorted(found.departures, reverse=True)


@pytest.mark.parametrize(
    ("study", "match"),
    [
        (lambda case: ar.fit(case), r"fit.parameters: name keys of the case"),
        (lambda case: ar.fit(case, parameters=[MASS]), r"fit.observables: name what is measured"),
        (lambda case: ar.fit(case, {"time": [1.0]}, [MASS]), r"there is no column"),
        (lambda case: ar.fit(case, {"sled.distance": [1.0]}, [MASS]), r"no column 'time'"),
        (lambda case: ar.fit(case, {"time": [1.0, 1.0], "x": [1, 2]}, [MASS]), r"negative and must increase"),
        (lambda case: ar.fit(case, {"time": [1.0, 9.0], "x": [1, 2]}, [MASS]), r"increase run.duration"),
        (lambda case: ar.fit(case, {"time": [1.0, 2.0], "x": [1, 2]}, [MASS]), r"no observable 'x'"),
        (lambda case: ar.fit(case, {"time": [1.0], "sled.speed": [1]}, [MASS]), r"1 measurements do not determine"),
        (lambda case: ar.fit(case, {"time": [1.0]}, ["model.bodies.sled.weight"]), r"weight: there is no model"),
        (lambda case: ar.fit(case, {"time": [1.0]}, ["model.bodies.sled.joint"]), r"not a number; name a key"),
        (lambda case: ar.fit(case, {"time": [1.0]}, {MASS: {"start": 9.0}}), r"mass: expected a mass"),
        (lambda case: ar.fit(case, {"time": [1.0]}, {MASS: (9.0, 0.0, 5.0)}), r"not between the least and the largest"),
        (lambda case: ar.fit(case, {"time": [1.0]}, [MASS], errors=0.0), r"fit: errors.*greater than 0"),
        (lambda case: ar.optimise(case, {"sled.distance": 1.0}, [MASS], tolerance=0), r"tolerance.*greater than 0"),
        (lambda case: ar.optimise(case.with_overrides({"optimise.runs": 1}), {"sled.distance": 1.0}, [f"{PULL}[0]"]),
         r"after 1 runs .*the limit of runs is reached"),
        (lambda case: ar.optimise(case), r"optimise.targets: give the targets at the run.s end"),
        (lambda case: ar.optimise(case, {"sled.place": 1.0}, [f"{PULL}[0]"]), r"no observable 'sled.place'"),
        (lambda case: ar.optimise(case, {"sled.distance": -1.0}, {RUB: (0.5, 0.1, 9.0)}), r"closest run ends with"),
        (lambda case: ar.rank_parameters(case, "sled.distance", [AXIS]), r"the axes of joints change"),
        (lambda case: ar.rank_parameters(case), r"objective: name the observable to differentiate"),
        (lambda case: ar.rank_parameters(case, "sled.distance", ["run.seed"]), r"there is no parameter 'run.seed'"),
        (lambda case: ar.rank_parameters(case, "sled.distance", method="both"), r"unknown method"),
    ],
)  # fmt: skip
def test_what_cannot_be_asked_is_refused_by_name(study: Any, match: str, tmp_path: Path) -> None:
    with pytest.raises(ArticulonError, match=match):
        study(sled(tmp_path))


@pytest.mark.parametrize(
    ("text", "match"),
    [
        ("", "is empty"),
        ("time,x,x\n1,2,3", "occurs twice"),
        ("time,x\n1", "row 2 has 1 cells"),
        ("time,x\n1,one", "row 2: 'one' is not a number"),
    ],
)
def test_files_of_measurements_that_cannot_be_read_are_named(text: str, match: str, tmp_path: Path) -> None:
    (tmp_path / "bad.csv").write_text(text)
    with pytest.raises(CaseError, match=match) as error:
        ar.fit(sled(tmp_path), tmp_path / "bad.csv", [MASS])
    assert "bad.csv" in str(error.value)


def test_numbers_that_measurements_do_not_determine_are_named(tmp_path: Path) -> None:
    """Only pull, and friction over mass, are seen in how the sled moves."""
    times = np.linspace(0.1, 2.0, 20)
    with pytest.raises(ArticulonError, match=rf"only a combination of {MASS}, {RUB}"):
        ar.fit(sled(tmp_path), {"time": times, "sled.distance": way(times)}, [MASS, RUB])


def test_a_search_that_begins_where_the_run_diverges_says_so(tmp_path: Path) -> None:
    times = np.linspace(0.1, 2.0, 20)
    with pytest.raises(DivergenceError):
        ar.fit(sled(tmp_path), {"time": times, "sled.distance": way(times)}, {RUB: 1e7})


def test_numbers_that_are_not_found_again_fail_the_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = {"observables": ["sled.distance"], "errors": [0.01], "parameters": [{"key": MASS, "start": 3.0}]}
    case = sled(tmp_path, {"fit": asked})
    found = ar.fit(case)
    assert found.recovered and "were recovered" in fit_page(found)
    wrong = replace(found, numbers=found.numbers + 6.0 * found.standard_errors)
    assert not wrong.recovered and "were not recovered" in fit_page(wrong)
    (tmp_path / "sled.toml").write_text(case.to_toml())
    command = ["fit", str(tmp_path / "sled.toml"), "--out"]
    done = CliRunner().invoke(cli.app, [*command, str(tmp_path / "right")])
    assert done.exit_code == 0 and "95 % interval" in done.output and MASS in done.output
    monkeypatch.setattr(fitting, "_searched", lambda *_: wrong)
    assert CliRunner().invoke(cli.app, [*command, str(tmp_path / "wrong")]).exit_code == cli.EXIT_CHECK


def test_rankings_and_optima_from_the_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    target = {"observable": "sled.distance", "value": 1.0}
    asked = {"targets": [target], "parameters": [{"key": f"{PULL}[0]", "maximum": 10}]}
    (tmp_path / "sled.toml").write_text(sled(tmp_path, {"optimise": asked, "case.name": "sled"}).to_toml())
    for command in (["sensitivities", "sled.toml", "--objective", "sled.distance"], ["optimise", "sled.toml"]):
        for _ in range(2):
            done = CliRunner().invoke(cli.app, command)
            assert done.exit_code == 0, done.output
    names = sorted(path.name for path in (tmp_path / "studies").iterdir())
    assert names == ["sled-optimum", "sled-optimum-2", "sled-sensitivities", "sled-sensitivities-2"]
    for folder, page in (("sled-optimum", "optimum.html"), ("sled-sensitivities", "sensitivities.html")):
        assert (tmp_path / "studies" / folder / page).read_text().count("<svg") == 1


@pytest.mark.slow  # the searches of the built-in cases, ten runs and seventy
def test_the_built_in_cases_check_themselves(tmp_path: Path) -> None:
    found = ar.fit("fitted-springs")
    assert found.recovered
    inside = (found.intervals()[:, 0] <= found.sought.own) & (found.sought.own <= found.intervals()[:, 1])
    assert inside.all()
    swung = ar.optimise("swing-up", out=tmp_path / "up")
    run = ar.run(ar.load_case(tmp_path / "up" / "case.toml"), tmp_path / "run")
    assert np.r_[run.q[-1], run.u[-1]] == pytest.approx([np.pi, 0.0, 0.0, 0.0], abs=1e-5)
    assert swung.departures[-1] <= 1e-6
