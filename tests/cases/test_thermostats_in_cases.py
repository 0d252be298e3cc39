"""``[thermostat]`` in a case file: what it may be, what is refused before anything is compiled, what a run shows."""

from __future__ import annotations

import numpy as np
import pytest

import articulon as ar
from articulon.errors import CaseError

CASE = """
[case]
units = "lj"

[[model.bodies]]
name = "core"
mass = 2.0
inertia = [0.3, 0.4, 0.5]
joint = "free"
u = [0.5, -0.4, 0.3, 1.0, 0.5, -0.2]

[[model.bodies]]
name = "arm"
parent = "core"
mass = 1.0
inertia = [0.02, 0.03, 0.02]
com = [0.1, 0.0, 0.02]
position = [0.2, 0.0, 0.0]
joint = "spherical"
q = [0.8, 0.6, 0.0, 0.0]
u = [1.0, 0.0, 0.5]

[[forces]]
kind = "torsional-springs"
stiffness = {arm = 5.0}

[thermostat]
kind = "modified-nose-hoover"
temperature = 1.5
mass = 8.0
derivative_gain = 0.1

[integrator]
rule = "dormand-prince"
rtol = 1e-9
atol = 1e-9

[run]
duration = 2.0
frames = 10
"""
IMPLICIT = {"integrator": {"rule": "friction-implicit", "step": 0.002}}


def case_of(folder, overrides=None, text=CASE):
    file = folder / "case.toml"
    file.write_text(text)
    return ar.load_case(file, overrides or {})


@pytest.mark.slow
@pytest.mark.parametrize("overrides", [{}, IMPLICIT], ids=["explicit", "split"])
def test_a_run_shows_the_thermostat_and_what_it_conserves(tmp_path, overrides):
    seen = ar.run(case_of(tmp_path, overrides), tmp_path / "run", report=False).observables
    assert np.ptp(seen["temperature_target"]) == 0.0
    assert seen["temperature_target"][0] == 1.5
    kinetic, kd, N, Q = seen["kinetic_energy"], 0.1, 9, 8.0
    np.testing.assert_allclose(seen["thermostat_rate"], kd * (2.0 * kinetic - N * 1.5) / Q, rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(seen["temperature_kinetic"], 2.0 * kinetic / N, rtol=1e-12)
    bound = 1e-6 if not overrides else 5e-3
    assert np.ptp(seen["conserved_energy"]) < bound
    assert np.abs(seen["energy_balance"]).max() < bound
    assert np.abs(seen["work_thermostat_rate"]).max() > 0.01
    assert np.abs(np.gradient(seen["thermostat_zeta"], 0.2) * kd - seen["thermostat_rate"])[2:-2].max() < 0.1


@pytest.mark.slow
def test_an_atomistic_clock_scales_the_target_and_the_start(tmp_path):
    """a2 Td, shown as Td, and with initial speeds times √a2 the unscaled motion in a slower clock."""
    a2 = 0.25
    plain = ar.run(case_of(tmp_path), tmp_path / "plain", report=False).observables
    scaled = {"scaling": {"policy": "atomistic-clock", "a2": a2}, "run.duration": 2.0 / np.sqrt(a2)}
    slow = ar.run(case_of(tmp_path, scaled), tmp_path / "slow", report=False).observables
    np.testing.assert_allclose(slow["temperature_target"], plain["temperature_target"], rtol=1e-12)
    np.testing.assert_allclose(slow["temperature_kinetic"], plain["temperature_kinetic"], rtol=1e-6)
    np.testing.assert_allclose(slow["energy_conformational"], plain["energy_conformational"], atol=1e-7)


@pytest.mark.slow
def test_a_case_reads_back_and_goes_on_to_the_same_bits(tmp_path, monkeypatch):
    from articulon.simulation import loop

    bath = {"kind": "nose-hoover-chain", "temperature": {"times": [0, 2], "values": [1, 2]}, "period": 0.7}
    case = case_of(tmp_path, {"thermostat": bath, **IMPLICIT})
    whole = ar.run(case, tmp_path / "whole", report=False)
    assert ar.load_case(tmp_path / "whole" / "case.toml") == case
    np.testing.assert_allclose(whole.observables["temperature_target"], np.linspace(1, 2, 11), rtol=1e-12)

    class Interrupting:
        updates = 0

        def start(self, *_):
            pass

        def message(self, _):
            pass

        def finish(self, *_):
            pass

        def update(self, *_):
            self.updates += 1
            if self.updates == 5:
                import os
                import signal

                os.kill(os.getpid(), signal.SIGINT)

    monkeypatch.setattr(loop, "CHUNK_SECONDS", 0.0)
    with pytest.raises(KeyboardInterrupt):
        ar.run(case, tmp_path / "broken", progress=Interrupting(), report=False)
    broken = ar.run(case, tmp_path / "broken", resume=True, report=False)
    for name, values in whole.observables.items():
        np.testing.assert_array_equal(broken.observables[name], values, err_msg=name)


@pytest.mark.parametrize(
    ("overrides", "words"),
    [
        ({"thermostat.kind": "nose-hover"}, ["thermostat.kind", "nose-hoover"]),
        ({"thermostat": {"kind": "nose-hoover", "temperature": 1}}, ["thermostat", "mass or period"]),
        ({"thermostat": {"kind": "nose-hoover", "temperature": 1, "mass": 1, "period": 1}}, ["mass or period"]),
        ({"thermostat": {"kind": "nose-hoover", "temperature": -1, "mass": 1}}, ["thermostat.temperature", "at least"]),
        ({"thermostat": {"kind": "nose-hoover", "temperature": 0, "period": 1}}, ["thermostat.period", "give Q"]),
        (
            {"thermostat.temperature": {"times": [0, 1], "values": [1, 2]}},
            ["thermostat.temperature.times", "ends at 1", "run's duration of 2"],
        ),
        (
            {"thermostat.temperature": {"times": [0, 1], "values": [1, 2], "interpolation": "steps"}},
            ["thermostat.temperature.times", "ends at 1"],
        ),
        ({"thermostat.temperature": {"times": [1, 2], "values": [1, 2]}}, ["temperature.times", "begin at 0"]),
        ({"thermostat.temperature": {"times": [0, 3, 3], "values": [1, 2, 3]}}, ["times[2]", "not later"]),
        ({"thermostat.temperature": {"times": [0, 3], "values": [1, 2, 3]}}, ["2 times and 3 values"]),
        (
            {"thermostat": {"kind": "langevin", "temperature": 1, "friction": 1}},
            ["integrator.rule", "'dormand-prince'", "langevin", "friction-implicit"],
        ),
        (
            {"thermostat": {"kind": "overdamped", "temperature": 1, "friction": 1}},
            ["overdamped", "ermak-mccammon"],
        ),
        ({"integrator": {"rule": "implicit-midpoint", "step": 0.01}}, ["'implicit-midpoint'", "choose"]),
        ({"thermostat.centre_of_mass": "removed"}, None),
        (
            {"thermostat.centre_of_mass": "removed", "forces": [{"kind": "gravity", "acceleration": [0, 0, -1]}]},
            ["thermostat.centre_of_mass", "gravity", "'free'"],
        ),
        (
            {
                "thermostat": {
                    "kind": "langevin",
                    "temperature": 1,
                    "friction": 1,
                    "centre_of_mass": "removed",
                },
                **IMPLICIT,
            },
            ["thermostat.centre_of_mass", "noise"],
        ),
        (
            {
                "thermostat": {"kind": "stochastic-velocity-rescaling", "temperature": 1, "time": 1},
                "scaling": {"policy": "constant", "a2": 0.1},
                **IMPLICIT,
            },
            ["scaling.policy", "stochastic-velocity-rescaling"],
        ),
    ],
)
def test_what_cannot_be_is_refused_by_name_before_anything_is_compiled(tmp_path, monkeypatch, overrides, words):
    from articulon.simulation import preparation

    def reached(*_, **__):
        raise RuntimeError("compiled")

    monkeypatch.setattr(preparation, "Evaluator", reached)
    if words is None:
        with pytest.raises(RuntimeError, match="compiled"):
            ar.run(case_of(tmp_path, overrides), tmp_path / "run", report=False)
        return
    with pytest.raises(CaseError) as caught:
        ar.run(case_of(tmp_path, overrides), tmp_path / "run", report=False)
    message = str(caught.value)
    assert "case.toml" in message
    for word in words:
        assert word in message


def test_a_scaling_of_thermostatted_systems_needs_its_thermostat(tmp_path):
    lines = CASE.split("[thermostat]")
    without = lines[0] + "[integrator]" + lines[1].split("[integrator]")[1]
    case = case_of(tmp_path, {"scaling": {"policy": "atomistic", "a2": 0.1}}, without)
    with pytest.raises(CaseError, match=r"scaling\.policy: 'atomistic'.*there is none"):
        ar.run(case, tmp_path / "run", report=False)


def test_a_thermostat_on_no_degrees_of_freedom_is_refused():
    builder = ar.ModelBuilder(units="lj")
    builder.add_particles(1, mass=1.0, positions=np.zeros((1, 3)), velocities=np.ones((1, 3)))
    thermostat = ar.thermostats.NoseHoover(temperature=1, mass=1, centre_of_mass="removed")
    with pytest.raises(CaseError, match=r"thermostat: the model has no degrees of freedom .* once its total momentum"):
        ar.simulate(builder.build(), 1.0, thermostat=thermostat)


def test_a_driven_model_has_no_temperature():
    builder = ar.ModelBuilder(units="lj")
    builder.add_body("crank", mass=1, inertia=1, joint=ar.Revolute(axis=(0, 0, 1)))
    builder.add_body("free", mass=1, inertia=1, joint=ar.Revolute(axis=(0, 0, 1)))
    builder.add_drive("crank", times=[0, 1, 2, 3], values=[0, 1, 2, 3])
    with pytest.raises(CaseError, match=r"thermostat: .* follows a given motion"):
        ar.simulate(builder.build(), 1.0, thermostat=ar.thermostats.NoseHoover(temperature=1, mass=1))


@pytest.mark.slow
def test_a_total_momentum_that_nothing_samples_is_noted(tmp_path):
    case = case_of(tmp_path, {"run.duration": 0.02, "run.frames": 1, **IMPLICIT})
    notes = ar.run(case, tmp_path / "free", report=False).summary["notes"]
    assert any(note.startswith("thermostat.centre_of_mass") for note in notes)
    removed = case.with_overrides({"thermostat.centre_of_mass": "removed"})
    notes = ar.run(removed, tmp_path / "removed", report=False).summary["notes"]
    assert not any(note.startswith("thermostat.centre_of_mass") for note in notes)
