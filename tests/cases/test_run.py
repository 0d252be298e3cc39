"""What a run computes, what it keeps of it, and what it says of itself."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import numba
import numpy as np
import pytest
from scipy.special import ellipj, ellipk

import articulon as ar
from articulon import kernel_cache, kernels
from articulon.errors import ArticulonError, CaseError, DivergenceError
from articulon.forces.brownian import fastest_relaxation
from articulon.model.state import CHANNELS
from articulon.simulation.preparation import first_state, prepare
from articulon.simulation.threshold_search import SAMPLES
from articulon.storage.checkpoint import read_checkpoint
from tests.support.remembering import assert_same_state
from tests.support.run_cases import BALL, CHAIN, Shown, bits, case_of, ran, universe
from tests.support.threads import on_threads

RTOL = 1e-6
QUIET = {"forces.brownian.temperature": 0.0}
VARIANTS = [None, "constant", "two-factor", "threshold"]


# The ledger


@pytest.mark.slow
@pytest.mark.parametrize("variant", VARIANTS)
def test_the_energy_balances_within_ten_tolerances_with_noise(tmp_path, variant):
    summary = ran(tmp_path, CHAIN, variant=variant, report=True).summary
    assert 0.0 < summary["energy_balance_error_relative"] < 10.0 * RTOL
    scaled = summary["energy_balance_error_relative"] * summary["largest_work"]
    assert summary["energy_balance_error"] == pytest.approx(scaled, rel=1e-12)


@pytest.mark.slow
def test_the_balance_falls_with_the_tolerance(tmp_path):
    errors = [
        ran(tmp_path, CHAIN, {"integrator.rtol": rtol}).summary["energy_balance_error_relative"]
        for rtol in (1e-4, 1e-6, 1e-8)
    ]
    assert errors[0] > 10.0 * errors[1] > 100.0 * errors[2]


@pytest.mark.slow
@pytest.mark.parametrize("variant", VARIANTS)
def test_the_work_of_conservative_channels_is_minus_their_factor_times_the_change_of_energy(tmp_path, variant):
    done = ran(tmp_path, CHAIN, variant=variant)
    works, look = done.summary["conservative_works"], done.observables
    assert set(works) == {"potential", "conformational", "external"}
    for name, check in works.items():
        assert np.ptp(look[f"energy_{name}"]) > 1e-3
        if variant == "threshold":  # its factors vary
            continue
        factor = {None: 1.0, "constant": 0.1, "two-factor": 0.05}[variant]
        error = look[f"work_{name}"] + factor * (look[f"energy_{name}"] - look[f"energy_{name}"][0])
        assert check["error"] == pytest.approx(np.abs(error).max(), rel=1e-12)
        assert check["error"] < 10.0 * RTOL * done.summary["largest_work"]


VARYING = {
    "threshold": {"policy": "threshold-adaptive", "a2": 0.1, "threshold": 0.06},
    "smooth": {"policy": "smooth-adaptive", "a2": 0.1, "threshold": 0.06, "width": 0.004},
    "error-controlled": {"policy": "error-controlled", "tolerance": 5.0, "minimum": 0.3},
}


@pytest.mark.slow
@pytest.mark.parametrize("rule", ["explicit", "implicit"])
@pytest.mark.parametrize("policy", VARYING)
def test_the_energy_that_changes_of_a_factor_bring_in_is_booked(tmp_path, policy, rule):
    """W = −(sΦ − s₀Φ₀) + J with J = ΣΦ Δs over the changes of s, speeds kept: here with J from the factors and energies
    of the frames, which is exact but for what s and Φ do between two of them."""
    changes = {"scaling": VARYING[policy], "run.frames": 400, "integrator.step": 2.5e-4, **QUIET}
    if rule == "explicit":
        changes.pop("integrator.step")
    if policy == "error-controlled":  # it scales nothing while a body turns on without drag
        changes["forces.stokes-drag.rotational"] = 4.0
    implicit = rule == "implicit"  # whose reports are drawn: of every policy
    done = ran(tmp_path, CHAIN, changes, "implicit" if implicit else None, report=implicit)
    look, works = done.observables, done.summary["conservative_works"]
    for name in ("potential", "conformational", "external"):
        s, energy, check = look[f"factor_{name}"], look[f"energy_{name}"], works[name]
        assert np.ptp(s) > 0.1 or (name != "potential" and policy != "error-controlled"), "the factor never changed"
        jumps = np.diff(s) * 0.5 * (energy[1:] + energy[:-1])
        between = 0.5 * np.abs(np.diff(s)) @ np.abs(np.diff(energy))
        assert abs(check["jumps"] - jumps.sum()) <= between + check["error"] + 1e-12
        # Bare works are those that the tolerance is for, over the least factor; the friction-implicit rule books
        # conservative works to second order in its step.
        allowed = 10.0 * RTOL / 0.1 if rule == "explicit" else 1e-3
        assert check["error"] <= allowed * max(done.summary["largest_work"], np.abs(energy).max())


@pytest.mark.slow
def test_the_conservative_works_of_the_friction_implicit_rule_are_second_order_in_the_step(tmp_path):
    def errors(step: float) -> np.ndarray:
        summary = ran(tmp_path, CHAIN, {**QUIET, "integrator.step": step}, "implicit").summary
        assert summary["step"] == pytest.approx(step, rel=1e-12)
        works = [check["error"] for check in summary["conservative_works"].values()]
        return np.array([summary["energy_balance_error"], *works])

    ratio = errors(2e-3) / errors(1e-3)
    assert (ratio[1:] > 3.5).all() and (ratio[1:] < 4.5).all()
    assert ratio[0] > 1.9, "the balance closes with the step"


@pytest.mark.slow
def test_a_pendulum_moves_as_its_elliptic_function_and_keeps_its_energy(tmp_path):
    text = """
[case]
units = "kg-m-s"
[[model.bodies]]
name = "bob"
mass = 1.0
com = [1.0, 0.0, 0.0]
joint = "revolute"
axis = [0.0, 1.0, 0.0]
[[forces]]
kind = "gravity"
acceleration = [0.0, 0.0, -9.81]
[integrator]
rtol = 1e-10
atol = 1e-12
[run]
duration = 3.0
frames = 30
"""
    done = ran(tmp_path, text)
    # Released at rest from the horizontal, a right angle from where it hangs.
    k = np.sin(np.pi / 4)
    sn = ellipj(ellipk(k * k) - np.sqrt(9.81) * done.times, k * k)[0]
    np.testing.assert_allclose(np.pi / 2 - done.q[:, 0], 2.0 * np.arcsin(k * sn), atol=1e-7)
    look = done.observables
    energy = look["kinetic_energy"] + look["energy_external"]
    np.testing.assert_allclose(energy, energy[0], atol=1e-8)
    np.testing.assert_allclose(look["net_force_3"], -9.81)
    assert set(done.summary["scaling_factors"]) == {"external"}


# The frames


@pytest.mark.parametrize("variant", [None, "constant", "implicit"])
def test_looking_leaves_no_trace(tmp_path, variant):
    case = case_of(tmp_path, CHAIN, variant=variant)
    states = []
    for looks in (0, 3):
        prepared = prepare(case)
        state = first_state(prepared)
        for steps in (1, 2, 40):
            prepared.driver.advance(state, 1.0, steps)
            for _ in range(looks):
                prepared.observer.frame(state)
        states.append(state)
    assert_same_state(*states)


@pytest.mark.slow
def test_the_observables_are_those_of_the_model_at_the_frames(tmp_path):
    done = ran(tmp_path, CHAIN)
    model, look = case_of(tmp_path, CHAIN).build_model(), done.observables
    assert done.times.tolist() == pytest.approx([k / 20 for k in range(21)], rel=1e-15)
    for k in (0, 7, 20):
        q, u = done.q[k], done.u[k]
        kinetic = ar.kinetic_energy(model, q, u)
        assert look["kinetic_energy"][k] == pytest.approx(kinetic, rel=1e-14)
        assert look["temperature_kinetic"][k] == pytest.approx(2 * kinetic / (10 * model.units.boltzmann), rel=1e-14)
        energies = sum(look[f"energy_{name}"][k] for name in ("potential", "conformational", "external"))
        assert energies == pytest.approx(ar.potential_energy(model, q), rel=1e-12)
        positions, rotations = ar.body_poses(model, q)
        np.testing.assert_array_max_ulp(done.positions[k], positions, maxulp=2)
        np.testing.assert_array_equal(done.rotations[k], rotations)
        # The site's force and the weight are all that pulls at the whole: of a free tree's first three forces, the sum.
        forces = ar.generalized_forces(model, q, u, ["potential", "external"])
        np.testing.assert_allclose([look[f"net_force_{i}"][k] for i in (1, 2, 3)], forces[:3], rtol=1e-12, atol=1e-14)


@pytest.mark.slow
def test_the_kinetic_temperature_is_that_of_the_unscaled_motion(tmp_path):
    done = ran(tmp_path, CHAIN, variant="constant")
    kinetic, factor = done.observables["kinetic_energy"], done.observables["factor_damping"]
    assert (factor == 0.1).all(), "the first frame too"
    boltzmann = case_of(tmp_path, CHAIN).units.boltzmann
    np.testing.assert_allclose(
        done.observables["temperature_kinetic"], 2 * kinetic / (10 * boltzmann * 0.1), rtol=1e-14
    )


@pytest.mark.slow
def test_mdanalysis_opens_the_folder_with_times_in_ps_and_positions_in_angstrom(tmp_path):
    done = ran(tmp_path, CHAIN)
    opened = universe(done.folder)
    assert opened.atoms.names.tolist() == ["core", "arm", "hand"]
    assert [sorted(bond.indices.tolist()) for bond in opened.bonds] == [[0, 1], [1, 2]]
    for moment, time, positions in zip(opened.trajectory, done.times, done.positions, strict=True):
        assert moment.time == pytest.approx(1e6 * time, rel=1e-12)
        np.testing.assert_allclose(moment.positions, 1e4 * positions, rtol=1e-6, atol=1e-3)
    opened.trajectory.close()


# Threads

THREADS = """
import sys
from dataclasses import replace
from pathlib import Path
from typing import Literal
import articulon as ar
from articulon.cases.builders import BaseBuilder
from articulon.dynamics.state_functions import PARALLEL_LINKS

class Crowd(BaseBuilder):
    builder: Literal["crowd"] = "crowd"
    def populate(self, builder):
        for k in range(PARALLEL_LINKS // 2 + 1):
            core = builder.add_body(f"core{k}", mass=1 + k % 7, inertia=0.1, joint=ar.Free(), position=(k, 0, 0))
            builder.add_body(f"arm{k}", parent=core, mass=0.5, inertia=0.1, com=(0.1, 0, 0), joint=ar.Spherical())

case = replace(ar.load_case(sys.argv[1]), model_declaration=Crowd())
for threads in (1, 2):
    settings = case.run.model_copy(update={"threads": threads})
    ar.run(replace(case, run=settings), Path(sys.argv[2]) / str(threads), report=False)
"""


@pytest.mark.slow
def test_one_and_two_threads_give_the_same_bits(tmp_path):
    text = (
        BALL.replace("duration = 1.0\nframes = 10", "duration = 0.1\nframes = 2")
        + """
[[forces]]
kind = "stokes-drag"
translational = 10.0
rotational = 1.0
[[forces]]
kind = "brownian"
temperature = 300.0
window = 0.05
"""
    )
    case_of(tmp_path, text)
    program = [sys.executable, "-c", THREADS, str(tmp_path / "a-case.toml"), str(tmp_path)]
    subprocess.run(program, check=True, env={**os.environ, "NUMBA_NUM_THREADS": "2"})
    assert bits(tmp_path / "1") == bits(tmp_path / "2")


def test_a_run_that_names_no_number_of_threads_keeps_to_those_that_numba_has_been_told_of(tmp_path, monkeypatch):
    case_of(tmp_path, BALL)
    asked, tell = [], numba.set_num_threads

    def told(count):
        asked.append(count)
        tell(count)

    def run():
        monkeypatch.setattr(numba, "set_num_threads", told)
        ar.run(tmp_path / "a-case.toml", tmp_path / "run", report=False)
        monkeypatch.undo()

    on_threads(1, run)
    assert asked
    assert set(asked) == {1}


# Windows and steps


def test_windows_and_steps_fill_the_time_between_frames(tmp_path):
    quarter = fastest_relaxation(case_of(tmp_path, CHAIN).build_model()) / 4.0
    window = prepare(case_of(tmp_path, CHAIN)).windows.held
    assert window == 0.05 / 2 == pytest.approx(quarter, rel=1e-12), "rounding is no reason for a third"
    assert 0.05 / window == pytest.approx(round(0.05 / window), rel=1e-12)
    scaled = prepare(case_of(tmp_path, CHAIN, variant="constant")).windows.held
    assert scaled == 0.05, "at most the time between frames, though a quarter of the relaxation time is longer"


@pytest.mark.slow
def test_what_is_shortened_is_said(tmp_path):
    given = {"forces.brownian.window": 0.003, "forces.brownian.average": 2}
    summary = ran(tmp_path, CHAIN, given).summary
    assert summary["noise_window"] == pytest.approx(0.05 / 9, rel=1e-12)
    assert any(note.startswith("forces.brownian.window: noise is held for 0.00555") for note in summary["notes"])
    summary = ran(tmp_path, CHAIN, {"integrator.step": 0.003}, "implicit").summary
    assert summary["step"] == pytest.approx(0.05 / 17, rel=1e-12) == summary["noise_window"]
    assert summary["steps"] == 20 * 17
    assert any(note.startswith("integrator.step: 0.003 us shortened to 0.00294") for note in summary["notes"])
    summary = ran(tmp_path, CHAIN, {"run.frame_interval": 0.3, "run.frames": None}).summary
    assert summary["simulated_time"] == pytest.approx(0.9)
    assert any("last frame, 0.9 us" in note for note in summary["notes"])
    assert ran(tmp_path, CHAIN).summary["notes"] == []


def test_windows_that_are_not_the_implicit_steps_are_refused(tmp_path):
    case = case_of(tmp_path, CHAIN, {"forces.brownian.window": 0.002, "forces.brownian.average": 2}, "implicit")
    with pytest.raises(CaseError, match=r"brownian\.window.*0\.004 us.*integrator\.step is 0\.005 us"):
        ar.run(case, tmp_path / "run", report=False)
    assert not (tmp_path / "run").exists()


# The stop


@pytest.mark.slow
@pytest.mark.parametrize("integrator", ["", '[integrator]\nrule = "friction-implicit"\nstep = 0.001'])
def test_a_run_stops_when_its_body_has_advanced(tmp_path, integrator):
    """A ball in free fall has fallen h after √(2h/g)."""
    text = BALL.replace(
        "[run]", '[[forces]]\nkind = "gravity"\nacceleration = [0.0, 0.0, -2.0]\n' + integrator + "\n[run]"
    )
    text += '[run.stop]\nbody = "ball"\ndirection = [0.0, 0.0, -3.0]\nadvance = 0.4\nlabel = "fallen"\n'
    shown = Shown()
    case = case_of(tmp_path, text)
    summary = ar.run(case, tmp_path / "run", progress=shown, report=False).summary
    done = ar.open_run(tmp_path / "run")
    assert summary["status"] == "fallen"
    # Extrapolating back over less than a step h at constant speed errs by less than g h²/2v.
    bound = max(summary["mean_step"], done.observables["step_size"].max()) ** 2 * 2.0
    assert summary["stop_time"] == pytest.approx(np.sqrt(0.4), abs=min(bound, 0.1))
    assert done.times[-1] >= summary["stop_time"] > done.times[-2]
    np.testing.assert_allclose(done.observables["advance"], done.times**2, atol=1e-5)
    assert "fallen at 0.63" in shown.ended
    before = bits(tmp_path / "run")
    assert ar.run(case, tmp_path / "run", resume=True, report=False).summary["stop_time"] == summary["stop_time"]
    assert bits(tmp_path / "run") == before


# The threshold


@pytest.mark.slow
def test_the_threshold_is_found_recorded_and_kept_for_a_resumption(tmp_path):
    summary = ran(tmp_path, CHAIN, variant="threshold").summary
    found = summary["threshold"]
    assert found["channel"] in ("conformational", "damping", "stochastic", "external")
    assert found["value"] == pytest.approx(found["mean_force"] / 10.0) and summary["core_drag"] == 10.0
    assert summary["scaling"]["threshold"] == found["value"]
    assert f"{SAMPLES} samples" in found["how"]
    assert any(note.startswith("scaling.threshold") for note in summary["notes"])
    given = ran(tmp_path, CHAIN, {"scaling.threshold": found["value"]}, "threshold")
    assert given.summary["threshold"] is None and given.summary["steps"] == summary["steps"]
    factors = given.summary["scaling_factors"]
    assert factors["damping"]["min"] == factors["damping"]["max"] == 0.1
    assert factors["potential"]["max"] in (0.1, 1.0)


def test_the_core_must_have_drag(tmp_path):
    with pytest.raises(CaseError, match=r"scaling: threshold-adaptive .* no body has any"):
        ran(tmp_path, BALL, {"scaling": {"policy": "threshold-adaptive", "a2": 0.1}})
    with pytest.raises(CaseError, match=r"scaling\.core: there is no body 'crone'"):
        ran(tmp_path, CHAIN, {"scaling.core": "crone"}, "threshold")


# Fidelity

PULLED = """
[case]
units = "fg-um-us"
[[model.bodies]]
name = "ball"
mass = 2.0
joint = "xyz"
[[model.sites]]
body = "ball"
kind = "ball"
[[model.sites]]
body = "ground"
position = [0.0, 0.0, 1.0]
kind = "wall"
[[forces]]
kind = "site-pairs"
table = [{kinds = ["ball", "wall"], C = -20.0}]
between = [["ball", "wall"]]
[[forces]]
kind = "stokes-drag"
translational = 400.0
rotational = 0.0
[integrator]
rtol = 1e-8
atol = 1e-10
[run]
duration = 20.0
frames = 1000
[run.stop]
body = "ball"
direction = [0, 0, 1]
advance = 0.8
"""


@pytest.mark.slow  # nine runs of a ball by an explicit rule
@pytest.mark.parametrize("a2, verdict", [(0.4, "trusted"), (0.2, "trusted"), (0.05, "suspect"), (0.01, "violated")])
def test_constant_scaling_is_late_by_what_the_run_says(tmp_path, a2, verdict):
    truth = ran(tmp_path, PULLED).summary["stop_time"]
    summary = ran(tmp_path, PULLED, {"scaling": {"policy": "constant", "a2": a2}}).summary
    section = summary["fidelity"]
    late = 1.0 - truth / summary["stop_time"]
    worst, known = section["worst"], section["premises"]["paired"]["half_width"]
    assert abs(worst["time_error"] - late) < known + 1e-4 and worst["late"] > 0.0
    assert section["verdict"] == verdict
    if verdict != "trusted":
        assert 0.0 < section["since"] <= summary["stop_time"]


@pytest.mark.slow  # two scaled runs with the unscaled ones beside them
def test_scaling_drag_but_not_its_drivers_is_a_violation(tmp_path):
    """The published rule below its threshold, and the two-factor form: the drift is wrong by the ratio."""
    never = {"scaling": {"policy": "threshold-adaptive", "a2": 0.1, "threshold": 1e9}, "run.duration": 0.1}
    section = ran(tmp_path, PULLED, never).summary["fidelity"]
    assert section["premises"]["drift"]["speed_ratio"]["potential"]["mean"] == pytest.approx(10.0)
    assert section["verdict"] == section["premises"]["drift"]["verdict"] == "violated"
    slow = {"scaling": {"policy": "two-factor", "a2": 0.1, "b2": 0.95}, "run.duration": 10.0}
    section = ran(tmp_path, PULLED, slow).summary["fidelity"]
    assert section["premises"]["drift"]["speed_ratio"]["potential"]["mean"] == pytest.approx(0.95)
    assert section["premises"]["drift"]["verdict"] == section["verdict"] == "suspect"


@pytest.mark.slow
def test_unscaled_runs_and_runs_without_drag(tmp_path):
    assert ran(tmp_path, CHAIN).summary["fidelity"] is None
    falling = BALL + '[[forces]]\nkind = "gravity"\nacceleration = [0.0, 0.0, -2.0]\n'
    section = ran(tmp_path, falling, {"scaling": {"policy": "constant", "a2": 0.1}}).summary["fidelity"]
    assert section["verdict"] == "inconclusive" and "no drag holds back" in section["premises"]["lag"]["reason"]


# What goes wrong

TWO = (
    BALL.replace('joint = "free"', 'joint = "xyz"')
    + """
[[model.bodies]]
name = "dust"
mass = 1e-6
joint = "xyz"
u = [1e-3, 0.0, 0.0]
position = [1.0, 0.0, 0.0]
[[forces]]
kind = "stokes-drag"
translational = 1.0
rotational = 0.0
"""
)


def test_a_diverging_run_says_where_and_keeps_what_it_has(tmp_path):
    """An explicit Euler step of 10,000 relaxation times multiplies the speed of the dust by −9,999."""
    case = case_of(tmp_path, TWO, {"integrator": {"rule": "euler", "step": 0.01}, "run.frames": 50})
    with pytest.raises(DivergenceError) as caught:
        ar.run(case, tmp_path / "run")
    error = caught.value
    assert (error.body, error.joint, error.channel) == ("dust", "xyz", "damping")
    # 1e-3 · 9999ⁿ, and β/m times it, has no float from here on; the works are its squares.
    assert 30 < error.step < 100 and error.time == pytest.approx(0.01 * (error.step - 1), rel=1e-9)
    assert Path(error.checkpoint) == tmp_path / "run" / "checkpoint.npz"
    state = read_checkpoint(tmp_path / "run")[0]
    assert state["state_counters"][0] == error.step - 1 and np.isfinite(state["state_u"]).all()
    done = ar.open_run(tmp_path / "run")
    assert done.summary["status"] == "failed"
    assert len(done.times) == 1 + (error.step - 1) // 2


FUNCTIONS = """
import numba
import numpy

@numba.njit
def lost(time, positions, rotations, velocities, parameters, wrenches):
    wrenches[0, 0] = 1.0 if time < 0.5 else numpy.nan

@numba.njit
def divided(time, positions, rotations, velocities, parameters, wrenches):
    wrenches[0, 0] = 1.0 / parameters[0] if time < 0.5 else 1.0 / (parameters[0] - 1.0)

def wrong(time, positions, rotations, velocities, parameters, wrenches):
    if time > 0.5:
        raise ValueError("no such thing")
    wrenches[0, 0] = 1.0
"""


def user_case(tmp_path: Path, name: str) -> str:
    (tmp_path / "functions.py").write_text(FUNCTIONS, encoding="utf-8")
    return BALL + f'[[forces]]\nkind = "user"\nfunction = "functions.py:{name}"\nparameters = [1.0]\n'


def test_a_force_that_is_no_number_is_found_by_step_and_channel(tmp_path):
    with pytest.raises(DivergenceError) as caught:
        ran(tmp_path, user_case(tmp_path, "lost"), allow_code=True)
    assert (caught.value.body, caught.value.joint) == ("ball", "free")
    assert caught.value.time == pytest.approx(0.5, abs=1e-6)


@pytest.mark.parametrize("name, cause", [("wrong", ValueError), ("divided", ZeroDivisionError)])
def test_a_users_force_that_fails_is_named_with_its_error(tmp_path, name, cause):
    with pytest.raises(ArticulonError, match=rf"kind 'user' failed after t = 0\.[45].*{cause.__name__}: ") as caught:
        ran(tmp_path, user_case(tmp_path, name), allow_code=True)
    assert isinstance(caught.value.__cause__, cause)
    done = ar.open_run(tmp_path / "run0")
    assert done.summary["status"] == "failed"
    # The forces are those of the last whole chunk's state, which is that of a frame.
    assert read_checkpoint(done.folder)[0]["state_time"][0] == done.times[-1] == done.summary["simulated_time"]
    np.testing.assert_allclose(done.positions[:, 0, 0], done.times**2 / 4.0, rtol=1e-6, atol=1e-9)


# What is said


@pytest.mark.slow
def test_the_folder_and_its_summary(tmp_path):
    shown = Shown()
    done = ar.run(case_of(tmp_path, CHAIN), tmp_path / "deep" / "run", progress=shown)
    assert sorted(path.name for path in done.folder.iterdir()) == [
        *("case.toml", "checkpoint.npz", "checkpoint_prev.npz", "report.html", "summary.json", "topology.pdb"),
        "trajectory.h5",
    ]
    summary = json.loads((done.folder / "summary.json").read_text(encoding="utf-8"))
    assert summary == done.summary
    assert summary["status"] == "complete" and summary["frames"] == 21
    assert summary["channels"] == [name for name in CHANNELS if f"work_{name}" in done.observables]
    assert ar.load_case(done.folder / "case.toml").digest() == summary["digest"]
    assert shown.started == [(1.0, "us", 0.0)] and shown.updates > 0 and shown.ended == "complete: 1 us"


def test_compiling_is_announced(tmp_path, monkeypatch):
    for module in (kernels, kernel_cache):
        monkeypatch.setattr(module, "cache_folder", lambda: tmp_path / "cache")
    monkeypatch.setattr(kernels, "_READY", {})
    shown = Shown()
    ar.run(case_of(tmp_path, BALL), tmp_path / "run", progress=shown, report=False)
    assert "compiling" in shown.messages[0]


def test_a_file_in_the_folders_place_is_refused_and_kept(tmp_path):
    (tmp_path / "notes").write_text("mine")
    with pytest.raises(ArticulonError, match="is a file, not a folder"):
        ar.run(case_of(tmp_path, BALL), tmp_path / "notes", report=False)
    assert (tmp_path / "notes").read_text() == "mine"


def test_a_second_process_is_kept_out_of_a_running_folder(tmp_path):
    from articulon.storage.folder_claim import claimed

    case, out = case_of(tmp_path, BALL), tmp_path / "run"
    ar.run(case, out, report=False)
    with claimed(out, print), pytest.raises(ArticulonError, match="a run is active here"):
        ar.run(case, out, resume=True, report=False)


@pytest.mark.slow
def test_a_first_step_is_found_without_drag_in_units_of_any_size(tmp_path):
    text = """
    [case]
    title = "A pendulum of molecular size in units of everyday size"
    units = "kg-m-s"
    [[model.bodies]]
    name = "arm"
    mass = 1e-26
    inertia = 1e-46
    com = [0, 0, -1e-10]
    joint = "revolute"
    q = 0.3
    [[forces]]
    kind = "torsional-springs"
    stiffness = { arm = 1e-18 }
    [run]
    duration = 1e-12
    frames = 20
    """
    run = ar.run(case_of(tmp_path, text), tmp_path / "run", report=False)
    # An oscillator of inertia I and stiffness k.
    assert run.q[-1, 0] == pytest.approx(0.3 * np.cos(np.sqrt(1e-18 / 1e-46) * 1e-12), abs=3e-3)


def test_a_folder_without_a_run_is_refused(tmp_path):
    with pytest.raises(ArticulonError, match="holds no run"):
        ar.open_run(tmp_path)


def test_a_case_by_name_is_left_to_those_who_can_read_it(tmp_path):
    from articulon.cases import case_library_runs
    from articulon.simulation.case_run import run

    case_of(tmp_path, BALL)
    with pytest.raises(TypeError, match="load_case"):
        run(str(tmp_path / "a-case.toml"))  # type: ignore[arg-type]
    case_library_runs.run(tmp_path / "a-case.toml", tmp_path / "run", overrides={"run.frames": 3})
    opened = case_library_runs.open_run(tmp_path / "run")
    assert opened.case.run.frames == 3 and len(opened.times) == 4


WARM = """
import sys
import articulon as ar
from articulon import announcements
from articulon.dynamics import motion_passes as passes, poses
from articulon.integrate import explicit_runge_kutta as explicit
told = []
announcements._listener = told.append
ar.run(sys.argv[1], sys.argv[2])
used = (passes.solve.function, passes.place_links.function, explicit.advance, poses.body_poses)
print(len(told), sum(kernel.stats.cache_misses.total() for kernel in used))
"""


@pytest.mark.slow
def test_a_warm_run_compiles_no_kernel(tmp_path):
    """What makes the first step come quickly; how quickly is for the benchmark to say."""
    ran(tmp_path, CHAIN)  # compiles what is not there yet
    program = [sys.executable, "-c", WARM, str(tmp_path / "a-case.toml"), str(tmp_path / "again")]
    assert subprocess.run(program, check=True, capture_output=True, text=True).stdout.split() == ["0", "0"]
