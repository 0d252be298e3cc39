"""What ``articulon analyse`` says of a damped case before it is run is what happens when it is run."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from typer.testing import CliRunner

import articulon as ar
from articulon import cli
from articulon.analysis.approach import approach_of
from articulon.analysis.relaxation import analyse_relaxation, knudsen_numbers
from articulon.analysis.stiffness import stability_bound, stiffest
from articulon.analysis.tuned_constants import tune
from articulon.cases import Case, load_case
from articulon.integrate.rules import EXPLICIT

ION = """
[case]
units = "lj"
[[model.bodies]]
name = "ion"
mass = 1.0
joint = "xyz"
q = [13.0, 0.0, 0.0]
[[model.sites]]
body = "ion"
kind = "ion"
[[model.sites]]
body = "ground"
kind = "receptor"
[[forces]]
kind = "site-pairs"
between = [["ion", "receptor"]]
table = [{kinds = ["ion", "receptor"], C = -1.0}]
[[forces]]
kind = "stokes-drag"
translational = 1.0
[integrator]
rule = "friction-implicit"
step = 0.25
[run]
duration = 1000.0
frames = 10
stop = {body = "ion", direction = [-1, 0, 0], advance = 9.0}
"""


def ion(folder: Path) -> Case:
    file = folder / "ion.toml"
    file.write_text(ION, encoding="utf-8")
    return load_case(file)


def arrival(a2: float) -> float:
    """When x'' + a2 x' = −a2/x² comes from 13 to 4."""

    def arrives(_: float, y: np.ndarray) -> float:
        return float(y[0] - 4.0)

    arrives.terminal = True  # type: ignore[attr-defined]
    found = solve_ivp(
        lambda _, y: [y[1], -a2 * (y[1] + y[0] ** -2)],
        (0.0, 1e5),
        [13.0, 0.0],
        method="Radau",
        rtol=1e-9,
        atol=1e-12,
        events=arrives,
    )
    return float(found.t_events[0][0])


def test_the_way_without_inertia_and_what_scaling_is_late_on_it(tmp_path: Path) -> None:
    """x' = −1/x² takes (13³ − 4³)/3; a factor that is found safe for a tolerance is late by about that, to the second
    order of what it is late by."""
    found = approach_of(ion(tmp_path))
    assert found is not None and found.arrives and found.relaxation == 1.0
    assert found.duration == pytest.approx((13.0**3 - 4.0**3) / 3.0, rel=1e-3)
    truth = arrival(1.0)
    for tolerance in (0.02, 0.05):
        a2 = found.safe_factor(tolerance)
        assert arrival(a2) / truth - 1.0 == pytest.approx(tolerance, rel=3.0 * tolerance + 0.02)


def test_nothing_is_predicted_where_nothing_drives(tmp_path: Path) -> None:
    assert approach_of(ion(tmp_path).with_overrides({"forces.site-pairs": None})) is None


@pytest.mark.parametrize(("rule", "bound"), [("euler", 2.0), ("rk4", 2.785293563)])
def test_stable_steps_end_where_the_stability_function_passes_one(rule: str, bound: float) -> None:
    """Hairer and Wanner II, IV.2."""
    assert stability_bound(EXPLICIT[rule]) == pytest.approx(bound, rel=1e-8)


def test_the_stiffest_time_scales_of_a_rotor_are_those_of_its_spring_and_its_drag() -> None:
    builder = ar.ModelBuilder(units="lj")
    builder.add_body("rotor", mass=1.0, inertia=2.0, joint=ar.Revolute(axis=(0, 0, 1)))
    builder.add_force(ar.forces.TorsionalSprings(stiffness={"rotor": 8.0}))
    builder.add_force(ar.forces.StokesDrag(translational=1.0, rotational=50.0))
    found = stiffest(builder.build())
    assert list(found) == ["damping", "conformational"]
    assert found["damping"] == pytest.approx(2.0 / 50.0, rel=1e-6)
    assert found["conformational"] == pytest.approx((2.0 / 8.0) ** 0.5, rel=1e-6)


def test_knudsen_numbers_are_the_mean_free_path_over_the_diameter() -> None:
    """Guy (2018, 2.21)."""
    case = load_case("nanoparticle-docking")
    model = case.build_model()
    numbers = knudsen_numbers(model, "0.3 nm")
    assert numbers[int(model.link[model.body("core")])] == pytest.approx(0.3 / 400.0)
    assert numbers[int(model.link[model.body("A1")])] == pytest.approx(0.3 / 4.0)


def test_analyse_tells_it(tmp_path: Path) -> None:
    ion(tmp_path)
    told = CliRunner().invoke(cli.app, ["analyse", str(tmp_path / "ion.toml"), "--tolerance", "5%"])
    assert told.exit_code == 0, told.output
    found = analyse_relaxation(ion(tmp_path), 0.05)
    assert found.prediction is not None and f"a2 = {found.prediction.a2:.2g}" in told.output
    assert "ε = m/β" in told.output and "damping" in told.output and "error-controlled" in told.output
    refused = CliRunner().invoke(cli.app, ["analyse", str(tmp_path / "ion.toml"), "--tolerance", "5"])
    assert refused.exit_code == cli.EXIT_ERROR and "between 0 and 1" in " ".join(refused.output.split())


@pytest.mark.slow
def test_tune_finds_a_factor_that_keeps_the_tolerance_by_pairs(tmp_path: Path) -> None:
    """The pair is late by what was predicted, to the second order of it; the tuned case is late by less than allowed,
    and not by much less."""
    found = tune(ion(tmp_path), 0.05)
    a2 = float(found.case.scaling.a2)
    late = arrival(a2) / arrival(1.0) - 1.0
    assert 0.6 * 0.05 < late < 0.05 * 1.05
    for pair in found.pairs:
        assert pair.delay == pytest.approx(pair.predicted, rel=0.2)
    out = tmp_path / "tuned.toml"
    told = CliRunner().invoke(cli.app, ["tune", str(tmp_path / "ion.toml"), "--tolerance", "5%", "--out", str(out)])
    assert told.exit_code == 0, told.output
    assert load_case(out).scaling == found.case.scaling and load_case(out).integrator.rule == "kutta-merson"
    again = CliRunner().invoke(cli.app, ["tune", str(tmp_path / "ion.toml"), "--out", str(out)])
    assert again.exit_code == cli.EXIT_ERROR and "exists already" in " ".join(again.output.split())


def test_tune_refuses_what_has_no_lag(tmp_path: Path) -> None:
    with pytest.raises(ar.CaseError, match="no lag to tune"):
        tune(ion(tmp_path).with_overrides({"forces.site-pairs": None}), 0.01)
