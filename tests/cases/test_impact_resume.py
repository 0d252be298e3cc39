"""A run with impacts and resting contacts goes on from a kill to the same bits, on any number of threads."""

from __future__ import annotations

import signal
from pathlib import Path

import numpy as np
import pytest

import articulon as ar
from articulon.forces.impacts.impact_memory import MEMORY
from articulon.simulation import loop
from articulon.storage.checkpoint import read_checkpoint
from tests.support.run_cases import Shown, bits, case_of, goes_on_after_kills
from tests.support.threads import on_one_and_two

TUMBLING = """
[case]
title = "Three jointed balls and a loose one that fall into a corner"
units = "kg-m-s"

[[model.bodies]]
name = "head"
joint = "free"
mass = 1
inertia = 0.01
q = [0.1, 0.2, 1.0, 1, 0, 0, 0]
u = [0.3, -0.2, 0, 1, 2, 3]

[[model.bodies]]
name = "middle"
parent = "head"
joint = "spherical"
position = [0.3, 0, 0]
mass = 0.5
inertia = 0.01

[[model.bodies]]
name = "tail"
parent = "middle"
joint = "revolute"
axis = [0, 1, 0]
position = [0.3, 0, 0]
mass = 0.5
inertia = 0.01

[[model.bodies]]
name = "loose"
joint = "free"
mass = 0.3
inertia = 0.002
q = [0.35, 0.25, 1.5, 1, 0, 0, 0]

[[model.sites]]
body = "head"
kind = "ball"
radius = 0.1

[[model.sites]]
body = "middle"
kind = "ball"
radius = 0.1

[[model.sites]]
body = "tail"
position = [0.2, 0, 0]
kind = "ball"
radius = 0.1

[[model.sites]]
body = "loose"
kind = "ball"
radius = 0.15

[[forces]]
kind = "gravity"
acceleration = [0, 0, -9.81]

[[forces]]
kind = "impacts"
restitution = 0.6
friction = 0.3
resting_speed = "1 cm/s"

[[forces.walls]]
shape = "plane"
kind = "floor"
point = [0, 0, 0]
normal = [0, 0, 1]

[[forces.walls]]
shape = "plane"
kind = "wall"
point = [1.2, 0, 0]
normal = [-1, 0, 0]

[[forces]]
kind = "joint-limits"
lower = {tail = "-60 deg"}
upper = {tail = "60 deg"}
restitution = 0.3
rotational_resting_speed = "0.1 rad/s"

[integrator]
rule = "dormand-prince"
rtol = 1e-6

[run]
duration = 1.1
frames = 3
checkpoint_interval = 0.1
"""


def interrupt() -> None:
    signal.raise_signal(signal.SIGINT)


def test_a_run_that_is_stopped_amid_impacts_goes_on_to_the_same_bits(tmp_path: Path, monkeypatch) -> None:
    case = case_of(tmp_path, TUMBLING)
    whole = ar.run(case, tmp_path / "unbroken", report=False)
    assert whole.summary["impacts"]["impacts"] > 10
    assert whole.summary["energy_balance_error_relative"] < 1e-4
    monkeypatch.setattr(loop, "CHUNK_SECONDS", 0.0)
    folder = tmp_path / "broken"
    seen = []
    for part, at in enumerate((25, 15, 20)):
        with pytest.raises(KeyboardInterrupt, match="resume"):
            ar.run(case, folder, resume=part > 0, progress=Shown(at, interrupt), report=False)
        seen.append(read_checkpoint(folder)[0]["state_rule.history"][MEMORY.impacts])
    monkeypatch.undo()
    done = ar.run(case, folder, resume=True, report=False)
    assert seen[0] > 0
    assert bits(folder) == bits(tmp_path / "unbroken")
    assert done.summary["impacts"] == whole.summary["impacts"]


def test_impacts_have_the_same_bits_on_one_thread_and_on_two(tmp_path: Path) -> None:
    case = case_of(tmp_path, TUMBLING, {"run.duration": 0.8})
    one, two = on_one_and_two(lambda: ar.simulate(case.build_model(), 0.8, rule="dormand-prince", frames=4))
    assert np.array_equal(one.q, two.q)
    assert np.array_equal(one.u, two.u)
    assert np.array_equal(one.state.rule.history, two.state.rule.history)


DOCKING = """
[case]
title = "A jointed pair that docks on a hard core"
units = "kg-m-s"

[[model.bodies]]
name = "tip"
joint = "free"
mass = 1
inertia = 0.1
q = [1.4, 0.3, 0.1, 1, 0, 0, 0]

[[model.bodies]]
name = "tail"
parent = "tip"
joint = "spherical"
position = [0, 1, 0]
mass = 0.5
inertia = 0.05
com = [0, 0.3, 0]

[[model.sites]]
body = "tip"
kind = "ligand"
group = "moves"

[[model.sites]]
body = "tail"
position = [0, 0.3, 0]
kind = "ligand"
group = "moves"

[[model.sites]]
body = "ground"
kind = "receptor"
group = "stands"
position = [0, 0, 0]

[[forces]]
kind = "site-pairs"
between = [["moves", "stands"]]
repulsion = "impact"
table = [{ kinds = ["ligand", "receptor"], A = 10, B = 10 }]

[[forces]]
kind = "stokes-drag"
viscosity = 0.3
radius = { tip = 0.3, tail = 0.3 }

[integrator]
rule = "friction-implicit"
step = 0.02

[run]
duration = 1.4
frames = 7
checkpoint_interval = 0.1
"""


def test_friction_implicit_steps_are_stopped_and_go_on_to_the_same_bits(tmp_path: Path, monkeypatch) -> None:
    """Stopped before, amid and after impacts, with steps that are halved; on one thread and on two."""
    case = case_of(tmp_path, DOCKING)
    whole = ar.run(case, tmp_path / "unbroken", report=False)
    assert whole.summary["impacts"]["resting"] == ["'tip' and site 2 on the ground"]
    assert whole.summary["evaluations"] > whole.summary["steps"]
    monkeypatch.setattr(loop, "CHUNK_SECONDS", 0.0)
    folder = tmp_path / "broken"
    for part, at in enumerate((18, 6, 12)):
        with pytest.raises(KeyboardInterrupt, match="resume"):
            ar.run(case, folder, resume=part > 0, progress=Shown(at, interrupt), report=False)
    monkeypatch.undo()
    ar.run(case, folder, resume=True, report=False)
    assert bits(folder) == bits(tmp_path / "unbroken")
    settings = {"rule": "friction-implicit", "step": 0.0175, "frames": 4}
    one, two = on_one_and_two(lambda: ar.simulate(case.build_model(), 1.4, **settings))
    assert np.array_equal(one.q, two.q)
    assert np.array_equal(one.u, two.u)


WHIRLING = """
[case]
title = "An arm that whirls between the two sides of a post, by four radians in a step"
units = "kg-m-s"

[[model.bodies]]
name = "arm"
joint = "revolute"
axis = [0, 0, 1]
mass = 1
inertia = 0.1
u = 40

[[model.sites]]
body = "arm"
position = [1, 0, 0]
kind = "tip"
radius = 0.05

[[model.sites]]
body = "ground"
position = [-1, 0, 0]
kind = "post"
radius = 0.05

[[forces]]
kind = "impacts"
excluded_joints = 0

[integrator]
rule = "rk4"
step = 0.1

[run]
duration = 2.0
frames = 4
checkpoint_interval = 0.1
"""


@pytest.mark.parametrize("rule", ["rk4", "friction-implicit"])
def test_steps_halved_because_bodies_turn_far_are_the_same_in_pieces(tmp_path: Path, monkeypatch, rule: str) -> None:
    case = case_of(tmp_path, WHIRLING, {"integrator.rule": rule, "integrator.step": 0.1})
    whole = ar.run(case, tmp_path / "unbroken", report=False)
    # It goes π − 2 asin(0.05) to the first impact, and 2π − 4 asin(0.05) from each to the next, at 40 rad/s.
    free = np.pi - 2.0 * np.arcsin(0.05)
    assert whole.summary["impacts"]["impacts"] == 1 + int((80.0 - free) / (2.0 * free))
    monkeypatch.setattr(loop, "CHUNK_SECONDS", 0.0)
    folder = tmp_path / "broken"
    with pytest.raises(KeyboardInterrupt, match="resume"):
        ar.run(case, folder, progress=Shown(7, interrupt), report=False)
    ar.run(case, folder, resume=True, report=False)
    assert bits(folder) == bits(tmp_path / "unbroken")
    one, two = on_one_and_two(lambda: ar.simulate(case.build_model(), 2.0, rule=rule, step=0.1, frames=4))
    assert np.array_equal(one.q, two.q)


@pytest.mark.slow
def test_killed_runs_with_impacts_go_on_to_the_same_bits(tmp_path: Path) -> None:
    goes_on_after_kills(tmp_path, TUMBLING, np.random.default_rng(4).uniform(0.05, 0.4, 3))
