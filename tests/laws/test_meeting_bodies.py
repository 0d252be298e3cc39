"""Runs that end when two bodies are within a distance of each other."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import articulon as ar
from articulon.analysis.approach import approach_of
from articulon.errors import CaseError

SLIDERS = """
[case]
units = "kg-m-s"

[model]
builder = "explicit"

[[model.bodies]]
name = "left"
mass = 1.0
inertia = 0.1
com = [0.25, 0.0, 0.0]
joint = "prismatic"
axis = [1, 0, 0]
u = 1.0

[[model.bodies]]
name = "right"
mass = 2.0
inertia = 0.1
joint = "prismatic"
axis = [1, 0, 0]
position = [5.25, 0.0, 0.0]
u = -2.0

[run]
duration = 4.0
frames = 8

[run.stop]
body = "left"
to = "right"
distance = 0.5
label = "met"
"""
"""Centres of mass 5 m apart, which approach each other at 3 m/s."""
MEETING = 1.5
"""Time at which they are 0.5 m apart [s]."""


def case_of(tmp_path: Path, text: str = SLIDERS, **changes: Any) -> ar.Case:
    (tmp_path / "meeting.toml").write_text(text)
    return ar.load_case(tmp_path / "meeting.toml", {key.replace("__", "."): value for key, value in changes.items()})


def ended(case: ar.Case, tmp_path: Path) -> ar.Run:
    return ar.run(case, tmp_path / "run", report=False)


@pytest.mark.parametrize(
    "integrator",
    [
        {"rule": "rk4", "step": 0.01},
        {"rule": "dormand-prince"},
        {"rule": "velocity-verlet", "step": 0.01},
        {"rule": "friction-implicit", "step": 0.01},
        {"rule": "scipy-radau"},
    ],
    ids=lambda given: given["rule"],
)
def test_two_sliders_stop_where_they_meet(tmp_path: Path, integrator: dict[str, Any]) -> None:
    """Their speeds are constant, so the extrapolated time has no error but rounding."""
    done = ended(case_of(tmp_path, integrator=integrator), tmp_path)
    assert done.summary["status"] == "met"
    assert done.summary["stop_time"] == pytest.approx(MEETING, rel=1e-8)
    distance = done.observables["distance"]
    assert distance[0] == pytest.approx(5.0, rel=1e-14) and "advance" not in done.observables
    np.testing.assert_allclose(distance, 5.0 - 3.0 * done.times, rtol=1e-8)
    assert done.times[-1] >= MEETING * (1.0 - 1e-8)


def test_a_step_that_passes_the_closest_approach_stops_at_the_first_meeting(tmp_path: Path) -> None:
    """One body at rest, and a step at whose end both are at one place: they are 0.5 m apart at 4.5 m / (2 m/s)."""
    text = SLIDERS.replace("u = 1.0\n", "")
    done = ended(case_of(tmp_path, text, integrator={"rule": "rk4", "step": 0.5}), tmp_path)
    assert done.summary["stop_time"] == pytest.approx(2.25, rel=1e-9)


PARTICLES = """
[case]
units = "kg-m-s"

[[model.bodies]]
name = "one"
mass = 1.0
joint = "xyz"
u = [1.0, 0.0, 0.0]

[[model.bodies]]
name = "other"
mass = 1.0
joint = "xyz"
q = [5.0, 0.5, 0.0]
u = [-2.0, 0.0, 0.0]

[[model.sites]]
body = "one"
kind = "A"

[[model.sites]]
body = "other"
kind = "A"

[[forces]]
kind = "lennard-jones"
cutoff = 0.1
parameters = { A = { epsilon = 1e-6, sigma = 0.03 } }

[integrator]
rule = "velocity-verlet"
step = 0.01

[run]
duration = 4.0
frames = 8
stop = { body = "one", to = "other", distance = 1.0, label = "met" }
"""
"""Free particles that pass each other at 0.5 m."""


@pytest.mark.parametrize("rule", [{"rule": "velocity-verlet"}, {"rule": "r-respa", "bonded_steps": 2}])
def test_free_particles_stop_too(tmp_path: Path, rule: dict[str, Any]) -> None:
    """Their drivers have arrays of their own, and no kernel that looks for the condition."""
    done = ended(case_of(tmp_path, PARTICLES, integrator={"step": 0.01, **rule}), tmp_path)
    assert done.summary["status"] == "met"
    assert done.summary["stop_time"] == pytest.approx((5.0 - np.sqrt(0.75)) / 3.0, rel=1e-9)


def test_the_predicted_motion_ends_where_bodies_meet(tmp_path: Path) -> None:
    """Two spheres that a spring pulls together: x − 1 = 2 exp(−k t/(γ/2)) is 1 at t = γ ln 2/(2 k)."""
    found = approach_of(case_of(tmp_path, DROPS))
    assert found is not None and found.arrives
    drag = 6.0 * np.pi * 1.0 * 0.5
    assert found.times[-1] == pytest.approx(drag * np.log(2.0) / (2.0 * 0.5), rel=1e-3)


def test_a_run_that_does_not_meet_goes_to_its_end(tmp_path: Path) -> None:
    done = ended(case_of(tmp_path, run__duration=1.0), tmp_path)
    assert done.summary["status"] == "complete" and done.times[-1] == 1.0


FREE = """
[case]
units = "kg-m-s"

[box]
lengths = [10.0, 10.0, 10.0]

[model]
builder = "explicit"

[[model.bodies]]
name = "one"
mass = 1.0
inertia = 0.1
joint = "free"
q = [1.0, 1.0, 1.0, 1, 0, 0, 0]
u = [-1.0, 0, 0, 0, 0, 0]

[[model.bodies]]
name = "other"
mass = 1.0
inertia = 0.1
joint = "free"
q = [9.0, 1.0, 9.5, 1, 0, 0, 0]
u = [0, 0, 1.0, 0, 0, 0]

[integrator]
rule = "rk4"
step = 0.01

[run]
duration = 4.0
frames = 4
stop = { body = "one", to = "other", distance = 1.0 }
"""


def test_nearest_images_meet_across_the_edges_of_a_periodic_box(tmp_path: Path) -> None:
    """Apart by (2 − t, 0, 1.5 − t) across two edges: the distance is 1 where 2 t² − 7 t + 5.25 = 0."""
    done = ended(case_of(tmp_path, FREE), tmp_path)
    exact = (7.0 - np.sqrt(7.0)) / 4.0
    assert done.summary["stop_time"] == pytest.approx(exact, rel=1e-8)
    assert done.summary["status"] == "reached"


def test_a_body_meets_one_that_is_welded_to_the_ground(tmp_path: Path) -> None:
    text = SLIDERS.replace('joint = "prismatic"\naxis = [1, 0, 0]\nposition', 'joint = "weld"\nposition').replace(
        "u = -2.0\n", ""
    )
    done = ended(case_of(tmp_path, text, run__duration=6.0), tmp_path)
    assert done.summary["stop_time"] == pytest.approx(4.5, rel=1e-8)
    with pytest.raises(CaseError, match=r"run\.stop\.body: 'right' is welded to the ground; name it under to"):
        case_of(tmp_path, text, run__stop__body="right", run__stop__to="left").build_model()


@pytest.mark.parametrize("locked", ["left", "right"])
def test_a_body_whose_joint_is_locked_is_met_too(tmp_path: Path, locked: str) -> None:
    """The joint is locked at the start, so that only the other body moves."""
    near = {"when": "distance", "body": "left", "to": "right", "below": 100.0}
    adaptive = {"every": 0.5, "groups": [{"bodies": [locked], "lock": near}]}
    done = ended(case_of(tmp_path, adaptive=adaptive, run__duration=6.0), tmp_path)
    pace = {"left": 2.0, "right": 1.0}[locked]
    assert done.summary["stop_time"] == pytest.approx(4.5 / pace, rel=1e-8)


BAD = {
    "neither": ({"to": None, "distance": None}, "expected either direction and advance, or to and distance"),
    "both": ({"direction": [1, 0, 0], "advance": 1.0}, "expected either direction and advance, or to and distance"),
    "half": ({"distance": None}, "expected either direction and advance, or to and distance"),
    "itself": ({"to": "left"}, "'left' is the body itself"),
    "no such body": ({"to": "rihgt"}, r"run\.stop\.to: .*did you mean 'right'"),
    "near from the start": ({"distance": 5.0}, r"run\.stop\.distance: .* are 5 apart at the start"),
    "no distance": ({"distance": 0.0}, "must be greater than 0"),
}


@pytest.mark.parametrize(("changes", "message"), BAD.values(), ids=BAD)
def test_bad_input_is_named(tmp_path: Path, changes: dict[str, Any], message: str) -> None:
    with pytest.raises(CaseError, match=message):
        case_of(tmp_path, **{f"run.stop.{key}": value for key, value in changes.items()}).build_model()


def sliders() -> ar.Model:
    builder = ar.ModelBuilder(units="kg-m-s")
    builder.add_body("left", mass=1, inertia=0.1, com=(0.25, 0, 0), joint=ar.Prismatic(axis=(1, 0, 0)), u=1)
    joint = ar.Prismatic(axis=(1, 0, 0))
    builder.add_body("right", mass=2, inertia=0.1, joint=joint, position=(5.25, 0, 0), q=0.1, u=-2)
    builder.add_force(ar.forces.Gravity(acceleration=(0.5, 0, 0)))
    return builder.build()


@pytest.mark.parametrize("method", ["adjoint", "forward"])
def test_the_time_of_meeting_has_derivatives(method: str) -> None:
    """T = (d − D)/(v₁ + v₂), whatever field acts on both."""
    stop = {"body": "left", "to": "right", "distance": 0.5}
    parameters = ["q", "u", "bodies.left.com", "bodies.right.position"]
    found = ar.sensitivity(
        sliders(), "stop_time", parameters, method=method, duration=4.0, rule="rk4", step=0.05, stop=stop
    )
    time = 4.6 / 3.0
    assert found.value == pytest.approx(time, rel=1e-12)
    np.testing.assert_allclose(found.gradient["q"], [-1 / 3, 1 / 3], rtol=1e-10)
    np.testing.assert_allclose(found.gradient["u"], [-time / 3, time / 3], rtol=1e-9)
    np.testing.assert_allclose(found.gradient["bodies.left.com"], [-1 / 3, 0, 0], rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(found.gradient["bodies.right.position"], [1 / 3, 0, 0], rtol=1e-9, atol=1e-9)


def test_bodies_that_do_not_meet_have_no_time_of_meeting() -> None:
    stop = {"body": "left", "to": "right", "distance": 0.5}
    with pytest.raises(CaseError, match=r"stop\.distance: 'left' does not come so near to 'right'"):
        ar.sensitivity(sliders(), "stop_time", ["u"], duration=1.0, rule="rk4", step=0.05, stop=stop)


DROPS = """
[case]
units = "kg-m-s"

[model]
builder = "explicit"

[[model.bodies]]
name = "one"
mass = 1.0
inertia = 0.1
joint = "free"

[[model.bodies]]
name = "other"
mass = 1.0
inertia = 0.1
joint = "free"
q = [3.0, 0.0, 0.0, 1, 0, 0, 0]

[[forces]]
kind = "stokes-drag"
viscosity = 1.0
radius = 0.5

[[forces]]
kind = "point-spring"
bodies = ["one", "other"]
stiffness = 0.5
rest_length = 1.0

[integrator]
rule = "friction-implicit"
step = 0.001

[scaling]
policy = "constant"
a2 = 0.3

[run]
duration = 60.0
frames = 100
stop = { body = "one", to = "other", distance = 2.0, label = "met" }
"""


def test_the_verdict_on_a_scaled_run_compares_the_times_of_meeting(tmp_path: Path) -> None:
    """Two spheres in a viscous fluid that a spring pulls together."""
    done = ended(case_of(tmp_path, DROPS), tmp_path)
    assert done.summary["status"] == "met"
    motions = done.summary["fidelity"]["premises"]["paired"]["motions"]
    assert [one["what"] for one in motions if one["what"].startswith("arrival")] == ["arrival of one"]
    unscaled = ended(case_of(tmp_path, DROPS, scaling={"policy": "none"}), tmp_path / "unscaled")
    late = done.summary["stop_time"] - unscaled.summary["stop_time"]
    found = next(one for one in motions if one["what"].startswith("arrival"))
    # The verdict compares with motion without inertia, and accounts for inertia to first order.
    assert found["late"] == pytest.approx(late, rel=0.1)
