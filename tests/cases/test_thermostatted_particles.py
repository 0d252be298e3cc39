"""Cases of thermostatted particles from their file to their report: builders, minimising, checks, temperatures,
scaling, sweeps over the thermostat's constants, and ``articulon analyse``.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

import articulon as ar
from articulon import cli
from articulon.analysis.scales import Terms, oscillation_period
from articulon.comparisons.comparison import compare
from articulon.comparisons.comparison_page import figures as comparison_figures
from articulon.comparisons.comparison_page import tables
from articulon.report.figures import figures

CASE = """
[case]
title = "Repelling particles"
units = "lj"

[model]
builder = "lattice"
structure = "simple-cubic"
cells = 3
number_density = 0.7
temperature = 1.5

[model.species.A]
mass = 1.0

[[forces]]
kind = "weeks-chandler-andersen"
parameters = { A = { epsilon = 1.0, sigma = 1.0 } }

[thermostat]
kind = "modified-nose-hoover"
temperature = 1.0
mass = 10.0
derivative_gain = 0.5

[integrator]
rule = "velocity-verlet"
step = 0.004

[run]
duration = 8.0
frames = 100

[[checks]]
kind = "observable"
observable = "temperature_kinetic"
take = "mean"
after = 2.0
reference = 1.0
tolerance = 0.05

[[checks]]
kind = "observable"
observable = "temperature_kinetic"
take = "standard-deviation"
after = 2.0
reference = 0.0
tolerance = 0.1

[[checks]]
kind = "configurational-temperature"
after = 2.0
reference = 1.0
tolerance = 0.25
"""


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("particles") / "fluid.toml"
    path.write_text(CASE, encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def done(file: Path) -> ar.Run:
    return ar.run(ar.load_case(file), file.parent / "run", report=False)


def test_a_case_of_particles_passes_its_checks(done: ar.Run) -> None:
    checks = {check["what"]: check for check in done.summary["checks"]}
    assert set(checks) == {
        "mean of the temperature kinetic",
        "standard deviation of the temperature kinetic",
        "mean of the configurational temperature",
    }
    assert all(check["passed"] for check in checks.values())


def test_the_summary_says_what_the_temperatures_are(done: ar.Run) -> None:
    found, seen = done.summary["temperatures"], done.observables
    late = slice(25, None)
    assert found["kinetic"] == pytest.approx(seen["temperature_kinetic"][late].mean())
    assert found["canonical_standard_deviation"] == pytest.approx(found["kinetic"] * np.sqrt(2 / 81))
    assert found["target"] == 1.0 and found["not_defined"] is None
    assert found["configurational"] == pytest.approx(
        seen["gradient_squared"][late].mean() / seen["laplacian"][late].mean()
    )
    ratio = ar.analysis.configurational_temperature(done, skip=0.25)
    assert ratio.mean == pytest.approx(found["configurational"], rel=0.05)
    assert found["pressure"] == pytest.approx(seen["pressure"][late].mean())


def test_the_pressure_is_the_engines_own(done: ar.Run) -> None:
    model = ar.load_case(done.folder / "case.toml").build_model()

    q, u = done.q[-1], done.u[-1]
    assert done.observables["pressure"][-1] == pytest.approx(ar.pressure(model, q, u), rel=1e-10)


@pytest.mark.slow
def test_the_spread_of_the_temperature_is_what_the_gain_says(file: Path, tmp_path: Path) -> None:
    """σ_T = T Q σ(q'ᵀΓ/q'ᵀMq')/(kd N k T) where 2 kd N k T/Q, here 324, is well above the fastest frequency."""
    run = ar.run(ar.load_case(file, {"thermostat.derivative_gain": 20.0, "checks": []}), tmp_path / "run", report=False)
    predicted = ar.analysis.isokinetic_spread(run, 20.0, 10.0, skip=0.25)
    measured = ar.analysis.temperature_spread(run, skip=0.25)
    assert measured.measured == pytest.approx(predicted, rel=0.1)
    assert measured.measured < 0.2 * measured.canonical


def test_the_report_shows_temperatures_energies_and_phase(done: ar.Run) -> None:
    drawn = figures(done)
    wanted = {"temperature", "configurational_temperature", "thermostat_energies", "thermostat_phase"}
    assert wanted <= set(drawn)
    labels = [text.get_text() for text in drawn["temperature"].axes[0].get_legend().get_texts()]
    assert any("canonical" in label for label in labels) and "target" in labels


SMOOTH = {"parameters": {"A": {"epsilon": 1, "sigma": 0.2}}, "cutoff": 0.5, "truncation": "force-shifted"}
CUT = {"kind": "lennard-jones", "parameters": {"A": {"epsilon": 1, "sigma": 1}}, "cutoff": 1.6}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("rough", "reason"),
    [
        (
            {"forces[0]": {"kind": "lennard-jones", "parameters": {"A": {"epsilon": 1, "sigma": 1}}, "cutoff": 1.6}},
            "jumps",
        ),
        (
            {
                "box": {"lengths": [9, 9, 9], "boundaries": ["open"] * 3},
                "model.number_density": 0.7,
            },
            "nothing confines",
        ),
        (
            {
                "box": {"lengths": [9, 9, 9], "boundaries": ["open"] * 3},
                "model.number_density": 0.7,
                "forces": [{"kind": "lennard-jones-wall", "faces": ["x-", "x+", "y-", "z-", "z+"], **SMOOTH}],
            },
            "nothing confines the bodies along y",
        ),
    ],
)
def test_where_it_is_not_defined_no_configurational_temperature_is_given(
    file: Path, rough: dict[str, Any], reason: str, tmp_path: Path
) -> None:
    case = ar.load_case(file, {**rough, "run.duration": 0.2, "checks": []})
    run = ar.run(case, tmp_path / "run", report=False)
    assert "laplacian" not in run.observables
    assert reason in run.summary["temperatures"]["not_defined"]
    with pytest.raises(ar.ArticulonError, match=reason):
        ar.analysis.configurational_temperature(run)
    with pytest.raises(ar.CaseError, match=f"checks\\[2\\].*{reason}"):
        ar.run(ar.load_case(file, {**rough, "run.duration": 0.2}), tmp_path / "checked", report=False)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("scaling", "verdict", "note"),
    [
        ({"policy": "atomistic", "a2": 0.2}, "violated", "positions are sampled at 5 times that"),
        ({"policy": "atomistic-clock", "a2": 0.25}, None, "no gain"),
    ],
)
def test_a_scaled_run_is_judged_by_its_positions(
    file: Path, scaling: dict[str, Any], verdict: str | None, note: str, tmp_path: Path
) -> None:
    run = ar.run(
        ar.load_case(file, {"scaling": scaling, "checks": [], "run.duration": 12.0}), tmp_path / "run", report=False
    )
    found = run.summary["fidelity"]
    assert verdict is None or found["verdict"] == verdict
    assert found["premises"]["configuration"]["expected_over_target"] == pytest.approx(
        {"atomistic": 5.0, "atomistic-clock": 1.0}[scaling["policy"]], rel=0.1
    )
    assert "lag" not in found["premises"]
    expected = {"atomistic": 5.0, "atomistic-clock": 1.0}[scaling["policy"]]
    assert found["premises"]["configuration"]["measured_over_target"] == pytest.approx(expected, rel=0.3)
    assert any(note in text for text in run.summary["notes"])


@pytest.mark.slow
def test_a_sweep_over_the_gains_draws_responses_and_costs(file: Path, tmp_path: Path) -> None:
    case = ar.load_case(file, {"run.duration": 0.4, "run.frames": 20, "checks": []})
    swept = compare(
        case,
        vary={"thermostat.mass": [5.0, 50.0], "thermostat.derivative_gain": [0.05, 0.5]},
        out=tmp_path / "sweep",
    )
    drawn = comparison_figures(swept)
    assert {"response_to_gains", "cost_of_gains"} <= set(drawn)
    assert len(drawn["response_to_gains"].axes) == 2
    assert set(tables(swept)) == {"Cost", "Temperature"}


@pytest.mark.slow
def test_a_run_may_begin_downhill(file: Path, tmp_path: Path) -> None:
    """Particles that overlap are refused, and parted where the case asks for it."""
    capacity_exceeded = {"model.jitter": 0.45, "run.duration": 0.1, "checks": []}
    with pytest.raises(ar.CaseError, match=r"overlap.*run\.minimise = true"):
        ar.run(ar.load_case(file, capacity_exceeded), tmp_path / "refused", report=False)
    run = ar.run(ar.load_case(file, {**capacity_exceeded, "run.minimise": True}), tmp_path / "parted", report=False)
    model = run.case.build_model()
    # Repelling particles at this density come to rest apart.
    assert run.observables["energy_potential"][0] < 1e-3 * ar.potential_energy(model, model.q0)
    assert run.observables["energy_potential"][0] < 0.1 * model.bodies


def test_the_period_of_a_swing_is_found_in_noise() -> None:
    times = np.linspace(0.0, 20.0, 400)
    values = 3.0 + np.sin(2 * np.pi * times / 7.0 + 0.4) + 0.3 * np.random.default_rng(9).normal(size=400)
    assert oscillation_period(times, values) == pytest.approx(7.0, rel=0.02)


def test_the_cases_are_those_of_the_table() -> None:
    """Guy (2018, table 4.1): orders of magnitude of 1/ζ and 1/(kd ζ') at a picosecond, a nanosecond, a microsecond."""
    assert Terms("1 ps", 1e-3, 1.0).case == "I"
    assert Terms("1 ns", 1.0, 1e3).case == "II"
    assert Terms("1 us", 1e3, 1e6).case == "III"
    assert Terms("1 ns", 1.0, 1e3).epsilon == pytest.approx(1e-3)


@pytest.mark.slow
def test_analyse_proposes_constants_and_warns(file: Path) -> None:
    result = CliRunner().invoke(cli.app, ["analyse", str(file), "--time-scale", "50", "--window", "6"])
    assert result.exit_code == 0, result.output
    text = result.output
    case = re.search(r"Case (I+) of Guy \(2018, table 4.1\) at 50", text)
    assert case is not None
    mass = float(re.search(r"thermostat.mass\s+= (\S+)", text)[1])  # type: ignore[index]
    gain = float(re.search(r"thermostat.derivative_gain = (\S+)", text)[1])  # type: ignore[index]
    # Without potentials Q = 2 N k T (P/2π)²; they take a part, so that Q is less.
    free = 2.0 * 81 * (6.0 / 3 / (2 * np.pi)) ** 2
    assert 0.3 * free < mass < 1.3 * free
    assert gain >= 6.0 / 3 / np.pi * 0.999
    if case[1] != "I":
        assert "positions at Td/a2" in text and "no gain" in text


@pytest.mark.slow
def test_analyse_says_of_other_cases_how_fast_their_bodies_relax() -> None:
    result = CliRunner().invoke(cli.app, ["analyse", "nanoparticle-docking"])
    assert result.exit_code == 0, result.output
    assert "B1" in result.output and "1.11e-07" in result.output.replace("1.112e-07", "1.11e-07")
    assert "there is no thermostat here" in result.output
    plain = CliRunner().invoke(cli.app, ["analyse", "double-pendulum"])
    assert plain.exit_code == 0 and "only changes the clock" in plain.output


def test_analyse_and_tune_say_of_thermostatted_bodies_that_nothing_is_to_scale() -> None:
    found = CliRunner().invoke(cli.app, ["analyse", "adaptive-chain"])
    assert found.exit_code == 0
    assert "'langevin' is not a force that a scaling policy could scale" in found.output
    assert "no thermostat" not in found.output
    refused = CliRunner().invoke(cli.app, ["tune", "adaptive-chain"])
    assert refused.exit_code == 2 and "no a2 to tune" in refused.output


@pytest.mark.slow
def test_analyse_names_each_body_once() -> None:
    found = CliRunner().invoke(cli.app, ["analyse", "ebola-receptor"])
    names = re.findall(r"^([A-Z]\d+-\w+) ", found.output, re.MULTILINE)
    assert len(names) == len(set(names)) == 12 and "and 9 more" in found.output


def test_files_of_particles_are_read_and_marked(tmp_path: Path) -> None:
    (tmp_path / "some.xyz").write_text("2\nno comment\nA 0 0 0 1 0 0\nB 2 0 0 -1 0 0\n", encoding="utf-8")
    text = """
[case]
units = "lj"
[model]
builder = "particles"
file = "some.xyz"
[model.species]
A = { mass = 1.0 }
B = { mass = 2.0, charge = -1.0 }
[run]
duration = 1.0
"""
    (tmp_path / "some.toml").write_text(text, encoding="utf-8")
    case = ar.load_case(tmp_path / "some.toml")
    model = case.build_model()
    assert model.q0.tolist() == [0, 0, 0, 2, 0, 0] and model.u0.tolist() == [1, 0, 0, -1, 0, 0]
    assert model.masses.tolist() == [1, 2] and model.sites.charge.tolist() == [0, -1]
    again = tmp_path / "again.toml"
    again.write_text(case.to_toml(), encoding="utf-8")
    np.savez(tmp_path / "some.npz", positions=np.eye(3), kinds=["A", "B", "A"])
    arrays = ar.load_case(tmp_path / "some.toml", {"model.file": "some.npz", "model.temperature": 2.0}).build_model()
    assert arrays.q0.tolist() == np.eye(3).ravel().tolist()
    assert 2 * ar.kinetic_energy(arrays, arrays.q0, arrays.u0) == pytest.approx(6 * 2.0)
    (tmp_path / "some.xyz").write_text("2\n\nA 0 0 0\nB 3 0 0\n", encoding="utf-8")
    with pytest.raises(ar.CaseError, match=r"model\.sha256"):
        ar.load_case(again)
    (tmp_path / "some.xyz").write_text("2\n\nA 0 0 0\nC 3 0 x\n", encoding="utf-8")
    with pytest.raises(ar.CaseError, match="line 4: expected a kind and numbers"):
        ar.load_case(tmp_path / "some.toml").build_model()


def test_the_molten_salts_are_those_of_the_paper() -> None:
    """Counts, masses, the cube of 157 nm³ and the start, whose temperature is that of all degrees of freedom."""
    for name, bodies, charge in (("molten-salt-100", 100, 0.0), ("molten-salt-1025", 1025, -10.0)):
        model = ar.load_case(name).build_model()
        assert model.bodies == bodies
        assert model.sites.charge.sum() == pytest.approx(charge)
        twice = 2.0 * ar.kinetic_energy(model, model.q0, model.u0)
        assert twice / (model.units.boltzmann * model.nu) == pytest.approx(873.0, rel=1e-9)
        speeds = np.linalg.norm(model.u0.reshape(-1, 3), axis=1)
        assert speeds[0] == 0.0 and np.ptp(speeds[1:]) < 1e-9 * speeds[1]
        x = model.q0.reshape(-1, 3)
        apart = np.linalg.norm(x[1:, None] - x[None, 1:], axis=-1) + 9.0 * np.eye(bodies - 1)
        assert apart.min() > 0.25
    assert ar.load_case("molten-salt-1025").build_model().box.volume == pytest.approx(157.0, abs=0.5)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"model.constant": 1.0}, "give either constant or number_density"),
        ({"model.structure": "rock-salt"}, "species: rock-salt needs 2, got 1"),
        ({"box.lengths": [3, 3, 3]}, "do not hold \\[3, 3, 3\\] whole cells"),
    ],
)
def test_lattices_that_cannot_be_are_refused(file: Path, change: dict[str, Any], message: str) -> None:
    with pytest.raises(ar.CaseError, match=message):
        ar.load_case(file, change).build_model()


def test_the_json_of_a_summary_holds_no_nan(done: ar.Run) -> None:
    json.loads((done.folder / "summary.json").read_text(encoding="utf-8"), parse_constant=pytest.fail)
