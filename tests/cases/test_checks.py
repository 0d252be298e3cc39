"""Checks of a case: they measure what they say, fail what must fail, and end up in the summary, the report and the
command's exit code."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

import articulon as ar
from articulon import cli
from articulon.simulation.checks.check_base import Outcome, passages, taken
from tests.support.run_cases import case_of

PENDULUM = """
[case]
title = "A pendulum on a sled"
units = "kg-m-s"

[[model.bodies]]
name = "sled"
joint = "prismatic"
axis = [1, 0, 0]
mass = 2.0

[[model.bodies]]
name = "arm"
parent = "sled"
joint = "revolute"
axis = [0, 1, 0]
mass = 1.0
inertia = [0.1, 0.1, 0.01]
com = [0, 0, -0.5]
q = "90 deg"

[[forces]]
kind = "gravity"
acceleration = [0, 0, -9.81]

[integrator]
rule = "dormand-prince"
rtol = 1e-10
atol = 1e-10

[run]
duration = 1.0
frames = 50
"""


def checked(folder: Path, checks: list[dict[str, Any]], overrides: dict[str, Any] | None = None) -> list[Any]:
    """What the summary of a run says of the checks."""
    case = case_of(folder, PENDULUM, {"checks": checks, **(overrides or {})})
    number = sum(path.is_dir() for path in folder.iterdir())
    return ar.run(case, folder / f"run{number}", report=False).summary["checks"]


@pytest.mark.slow
def test_each_kind_of_check_measures_what_it_says(tmp_path: Path) -> None:
    found = checked(
        tmp_path,
        [
            {"kind": "energy", "tolerance": 1e-8},
            {"kind": "momentum", "tolerance": 1e-8, "direction": [2, 0, 0], "what": "momentum of the sled's way"},
            {"kind": "momentum", "tolerance": 1e-8},
            {"kind": "angular-momentum", "tolerance": 1e-8},
            {"kind": "degrees-of-freedom", "count": 2},
            {"kind": "coordinate", "body": "arm", "reference": "90 deg", "tolerance": "1 deg", "take": "largest"},
            {"kind": "speed", "body": "sled", "reference": 0, "tolerance": 1e-3},
            {"kind": "position", "body": "arm", "point": [0, 0, "-50 cm"], "axis": "z", "reference": 0.0,
             "tolerance": "1 mm", "take": "largest"},
            {"kind": "observable", "observable": "kinetic_energy", "reference": 0, "tolerance": 0, "take": "smallest"},
        ],
    )  # fmt: skip
    run = ar.open_run(tmp_path / "run0")
    model = run.case.build_model()
    energy = run.observables["kinetic_energy"] + run.observables["energy_external"]
    assert found[0]["value"] == pytest.approx(np.ptp(energy) / run.observables["kinetic_energy"].max(), rel=1)
    # Along the sled's way nothing acts; across it the track does.
    assert [check["passed"] for check in found] == [True, True, False, False, True, True, False, True, True]
    assert found[1]["what"] == "momentum of the sled's way" and found[1]["value"] < 1e-9
    x = [ar.body_poses(model, q)[0] for q in run.q]
    assert np.array(x)[:, 1, 0] == pytest.approx(run.q[:, 0], abs=1e-15)
    assert found[5]["measured"] == pytest.approx(np.pi / 2, abs=1e-12) == found[5]["reference"]
    assert (found[5]["unit"], found[5]["bound"]) == ("rad", pytest.approx(math.radians(1)))
    assert found[6]["measured"] == run.u[-1, 0] == found[6]["value"]
    assert found[7]["measured"] == pytest.approx(-0.5 * np.cos(run.q[:, 1]).min(), abs=1e-15)
    assert found[8] == {
        "what": "smallest kinetic energy", "value": 0.0, "bound": 0.0, "passed": True, "unit": "J",
        "measured": 0.0, "reference": 0.0,
    }  # fmt: skip


@pytest.mark.slow
def test_energy_that_is_dissipated_or_driven_is_accounted_for_by_its_work(tmp_path: Path) -> None:
    check = [{"kind": "energy", "tolerance": 1e-8, "scale": "1 J"}]
    damping = {"kind": "joint-damping", "rotational": {"arm": 0.3}, "translational": {"sled": 0.2}}
    spring = {"kind": "point-spring", "bodies": ["sled", "ground"], "points": [[0, 0, 0], [1, 0, 1]]}
    spring |= {"stiffness": 30.0, "rest_length": "50 cm", "damping": 2.0}
    gravity = {"kind": "gravity", "acceleration": [0, 0, -9.81]}
    (lossy,) = checked(tmp_path, check, {"forces": [gravity, damping, spring]})
    assert lossy["passed"]
    works = ar.open_run(tmp_path / "run0").observables
    assert works["work_damping"][-1] < -0.1 and works["energy_potential"][-1] > 0.1
    drive = {"body": "sled", "times": [0, 0.25, 0.5, 0.75, 1], "values": [0, 0.1, -0.2, 0.1, 0]}
    (driven,) = checked(tmp_path, check, {"model.drives": [drive]})
    works = ar.open_run(tmp_path / "run1").observables
    energy = works["kinetic_energy"] + works["energy_external"]
    assert driven["passed"] and np.ptp(energy) > 0.1


@pytest.mark.slow
def test_a_run_with_too_large_steps_fails_the_check_of_its_energy(tmp_path: Path) -> None:
    coarse = {"integrator": {"rule": "rk4", "step": 0.1}, "run.frames": 10}
    (found,) = checked(tmp_path, [{"kind": "energy", "tolerance": 1e-8}], coarse)
    assert not found["passed"] and found["value"] > 1e-5


@pytest.mark.slow
def test_loops_are_checked_by_positions_and_speeds(tmp_path: Path) -> None:
    checks = [
        {"kind": "loops", "tolerance": 1e-12},
        {"kind": "loops", "of": "speeds", "tolerance": 1e-12},
        {"kind": "loops", "tolerance": 0.0},
        {"kind": "degrees-of-freedom", "count": 2},
    ]
    loop = {"name": "slot", "joint": "prismatic", "child": "arm", "axis": [0, 0, 1], "position": [0, 0, 0.5]}
    turned = {"rotation": [math.sqrt(0.5), 0, math.sqrt(0.5), 0], "child_rotation": [1, 0, 0, 0]}
    found = checked(tmp_path, checks, {"model.loops": [{**loop, **turned}], "model.bodies.arm.position": [0, 0, 0.5]})
    assert [check["passed"] for check in found] == [True, True, False, False]
    assert found[3]["value"] == -1.0


@pytest.mark.parametrize("frames", [60, 240])
def test_a_period_is_that_of_the_passages_through_zero(frames: int) -> None:
    times = np.linspace(0.0, 10.0, frames + 1)
    values = np.cos(2.0 * np.pi * times / 1.7) + 0.2 * np.cos(4.0 * np.pi * times / 1.7)
    # A spline of fifth degree errs by the sixth power of the interval.
    assert taken("period", times, values) == pytest.approx(1.7, rel=2e-2 * (60 / frames) ** 6)
    assert len(passages(times, values)) == 12
    assert math.isnan(taken("period", times, values + 10.0))
    assert math.isnan(taken("period", times[:5], values[:5]))
    assert (taken("final", times, values), taken("largest", times, -values)) == (values[-1], -values.min())


def test_what_is_no_number_does_not_pass() -> None:
    assert not Outcome("period", math.nan, math.inf).passed
    assert Outcome("drift", -1.0, 1.0).passed and not Outcome("drift", -1.1, 1.0).passed


IMPOSSIBLE: dict[str, tuple[dict[str, Any], str, str]] = {
    "kind": ({"kind": "enrgy", "tolerance": 1}, "checks[0].kind", "did you mean 'energy'?"),
    "key": ({"kind": "energy", "tolerance": 1, "tolerence": 1}, "checks[0].tolerence", "did you mean 'tolerance'?"),
    "no tolerance": ({"kind": "momentum"}, "checks[0].tolerance", "is required"),
    "negative": ({"kind": "energy", "tolerance": -1}, "checks[0].tolerance", "at least 0"),
    "direction": (
        {"kind": "momentum", "tolerance": 1, "direction": [0, 0, 0]},
        "checks[0].direction",
        "not all zero",
    ),
    "no loops": ({"kind": "loops", "tolerance": 1}, "checks[0]", "no loop constraints and no driven joints"),
    "body": (
        {"kind": "coordinate", "body": "amr", "reference": 0, "tolerance": 1},
        "checks[0].body",
        "did you mean 'arm'?",
    ),
    "component": (
        {"kind": "speed", "body": "arm", "component": 1, "reference": 0, "tolerance": 1},
        "checks[0].component",
        "has 1 speeds",
    ),
    "dimension": (
        {"kind": "coordinate", "body": "arm", "reference": "1 m", "tolerance": 1},
        "checks[0].reference",
        "expected an angle",
    ),
    "period": (
        {"kind": "coordinate", "body": "arm", "reference": "1 rad", "tolerance": 1, "take": "period"},
        "checks[0].reference",
        "expected a time",
    ),
    "negative of a value": (
        {"kind": "coordinate", "body": "arm", "reference": 0, "tolerance": "-1 deg"},
        "checks[0].tolerance",
        "at least 0",
    ),
    "observable": (
        {"kind": "observable", "observable": "kinetic", "reference": 0, "tolerance": 1},
        "checks[0].observable",
        "did you mean 'kinetic_energy'?",
    ),
    "position": (
        {"kind": "position", "body": "arm", "axis": "w", "reference": 0, "tolerance": 1},
        "checks[0].axis",
        "'x', 'y' or 'z'",
    ),
}


@pytest.mark.parametrize("fault", IMPOSSIBLE)
def test_a_check_of_what_is_not_there_is_refused_before_the_run(tmp_path: Path, fault: str) -> None:
    check, key, hint = IMPOSSIBLE[fault]
    with pytest.raises(ar.CaseError) as caught:
        ar.run(case_of(tmp_path, PENDULUM, {"checks": [check]}), tmp_path / "run")
    line = str(caught.value)
    assert line.startswith(f"{tmp_path / 'a-case.toml'}: {key}") and hint in line, line
    assert not (tmp_path / "run").exists()


def test_a_joint_that_has_become_a_loop_has_no_coordinate_to_be_checked(tmp_path: Path) -> None:
    check = {"kind": "coordinate", "body": "arm", "reference": 0, "tolerance": 1}
    overrides = {"checks": [check], "dynamics.coordinates": "cartesian", "model.bodies.sled.inertia": 1.0}
    with pytest.raises(ar.CaseError, match=r"checks\[0\]: in Cartesian coordinates the joint of 'arm' is a loop"):
        ar.run(case_of(tmp_path, PENDULUM, overrides), tmp_path / "run")


def test_checks_change_no_number_and_are_written_with_the_case(tmp_path: Path) -> None:
    checks = [{"kind": "energy", "tolerance": 1e-8}, {"kind": "speed", "body": "arm", "reference": 1, "tolerance": 2}]
    case = case_of(tmp_path, PENDULUM, {"checks": checks})
    file = tmp_path / "case.toml"
    file.write_text(case.to_toml(), encoding="utf-8")
    assert ar.load_case(file).with_overrides({"case.name": case.name}) == case
    assert case.with_overrides({"checks": []}).digest() == case.digest()
    assert case.with_overrides({"checks.energy.tolerance": 1}).checks[0].tolerance == 1.0
    assert [check.kind for check in case.with_overrides({"checks.energy": False}).checks] == ["speed"]


@pytest.mark.slow
def test_the_command_shows_checks_and_says_by_its_exit_code_that_one_failed(tmp_path: Path) -> None:
    file, out = tmp_path / "sled.toml", tmp_path / "out"
    text = (
        PENDULUM + '[[checks]]\nkind = "energy"\ntolerance = 1e-8\n[[checks]]\nkind = "degrees-of-freedom"\ncount = 2\n'
    )
    file.write_text(text, encoding="utf-8")
    done = CliRunner().invoke(cli.app, ["run", str(file), "--out", str(out)])
    assert done.exit_code == 0
    assert "passed  drift of the energy" in done.stdout and "FAILED" not in done.stdout
    page = (out / "report.html").read_text(encoding="utf-8")
    assert "All 2 checks of the case passed." in page and "drift of the energy over the largest kinetic energy" in page
    # What is asked of the results may change afterwards; the run itself is not made again.
    before = (out / "trajectory.h5").read_bytes()
    again = CliRunner().invoke(
        cli.app, ["run", str(file), "--out", str(out), "--resume", "--set", "checks.degrees-of-freedom.count=3"]
    )
    assert again.exit_code == cli.EXIT_CHECK == 3
    assert "FAILED  degrees of freedom: 2, should be 3, error -1, allowed 0" in again.stdout
    assert "check failed: degrees of freedom" in again.stderr
    assert (out / "trajectory.h5").read_bytes() == before
    assert [check["passed"] for check in json.loads((out / "summary.json").read_text())["checks"]] == [True, False]
    assert "1 of 2 checks failed: degrees of freedom." in (out / "report.html").read_text(encoding="utf-8")


@pytest.mark.slow
def test_a_run_that_has_not_ended_has_not_been_checked(tmp_path: Path) -> None:
    class Shown:
        def start(self, *_: Any) -> None: ...
        def message(self, text: str) -> None: ...
        def finish(self, text: str = "") -> None: ...

        def update(self, *_: Any) -> None:
            import os
            import signal

            os.kill(os.getpid(), signal.SIGINT)

    case = case_of(tmp_path, PENDULUM, {"checks": [{"kind": "energy", "tolerance": 1e-8}]})
    with pytest.raises(KeyboardInterrupt):
        ar.run(case, tmp_path / "run", progress=Shown(), report=False)
    assert "checks" not in ar.open_run(tmp_path / "run").summary
    assert ar.run(case, tmp_path / "run", resume=True, report=False).summary["checks"][0]["passed"]
