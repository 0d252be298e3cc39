"""How late a scaled run is, as it is predicted without a run, against the exact motions of small systems.

Each system is integrated by SciPy from its equations, scaled and unscaled; the lateness of a coordinate x is then
−∫ (x_scaled − x) x' dt / ∫ x'² dt, which the prediction is of, to first order.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import articulon as ar
from articulon.analysis.approach import approach_of
from articulon.analysis.relaxation import predict
from articulon.analysis.slow_motion import SlowMotion
from articulon.cases import Case, load_case

HEADER = """
[case]
units = "lj"
"""

BALL = """
[[model.bodies]]
name = "ball"
mass = 1.0
joint = "xyz"
q = [3.0, 0.0, 0.0]
"""

DRAG = """
[[forces]]
kind = "stokes-drag"
translational = 1.0
rotational = 2.0
"""

SPRING = """
[[forces]]
kind = "point-spring"
bodies = ["ground", "ball"]
points = [[0, 0, 0], [0, 0, 0]]
stiffness = 0.04
rest_length = 0.0
"""

PULL = """
[[forces]]
kind = "gravity"
acceleration = [0.5, 0, 0]
"""

ARM = """
[[model.bodies]]
name = "arm"
mass = 1.0
inertia = 5.0
joint = "revolute"
axis = [0, 0, 1]
q = 1.0

[[forces]]
kind = "torsional-springs"
stiffness = { arm = 0.1 }
"""


def case_of(folder: Path, *parts: str, duration: float = 100.0) -> Case:
    text = "".join([HEADER, *parts, f"\n[run]\nduration = {duration}\nframes = 10\n"])
    (folder / "case.toml").write_text(text, encoding="utf-8")
    return load_case(folder / "case.toml")


def motion_of(case: Case) -> SlowMotion:
    found = approach_of(case)
    assert found is not None and found.motion is not None
    return found.motion


def lateness(
    rate: Callable[[float, np.ndarray, float], list[float]], start: list[float], end: float, a2: float
) -> float:
    """Of y[0], where y' = rate(t, y, a2)."""
    times = np.linspace(0.0, end, 20001)
    runs = [
        solve_ivp(lambda t, y, a=a: rate(t, y, a), (0.0, end), start, "Radau", times, rtol=1e-9, atol=1e-12)
        for a in (a2, 1.0)
    ]
    scaled, true = (run.y[0] for run in runs)
    velocity = np.gradient(true, times)
    return float(-np.trapezoid((scaled - true) * velocity, times) / np.trapezoid(velocity**2, times))


@pytest.mark.parametrize("a2", [0.5, 0.1, 0.02])
def test_under_a_steady_force_a_body_is_late_by_its_relaxation_time(tmp_path: Path, a2: float) -> None:
    """From rest it loses τ/a2 instead of τ."""
    motion = motion_of(case_of(tmp_path, BALL, DRAG, PULL, duration=2000.0))
    assert motion.arrival(a2) == pytest.approx(1.0 / a2 - 1.0, rel=1e-2)


@pytest.mark.slow
@pytest.mark.parametrize("a2", [0.5, 0.2])
def test_a_body_that_comes_to_rest_in_a_well_does_not_get_later_and_later(tmp_path: Path, a2: float) -> None:
    """x'' + a2 x' + a2 k x = 0: the force falls all the time, and what it loses at first it regains. The slow motion
    lasts for 1/k = 25, and τ is 1."""
    case = case_of(tmp_path, BALL, DRAG, SPRING, duration=400.0)
    expected = lateness(lambda _, y, a: [y[1], -a * (y[1] + 0.04 * y[0])], [3.0, 0.0], 400.0, a2)
    # Of first order in k τ/a2.
    assert motion_of(case).delays(a2)["ball"] == pytest.approx(expected, rel=0.05 + 0.04 / a2)
    found = predict(case, 0.02)
    assert found is not None
    late = lateness(lambda _, y, a: [y[1], -a * (y[1] + 0.04 * y[0])], [3.0, 0.0], 400.0, found.a2)
    assert abs(late) / 400.0 == pytest.approx(0.02, rel=0.35), "the factor that is called safe for 2 % errs by 2 %"
    assert found.worst == "ball"


def test_every_joint_is_late_by_itself_and_the_worst_is_named(tmp_path: Path) -> None:
    """The arm's own relaxation time I/β_ω = 2.5 is longer than the ball's, and its spring is another."""
    case = case_of(tmp_path, BALL, ARM, DRAG, PULL, duration=200.0)
    motion = motion_of(case)
    assert [part.name for part in motion.moving_parts] == ["ball", "arm"]
    a2 = 0.25
    expected = lateness(lambda _, y, a: [y[1], -a * (2.0 * y[1] + 0.1 * y[0]) / 5.0], [1.0, 0.0], 200.0, a2)
    late = motion.delays(a2)
    assert late["arm"] == pytest.approx(expected, rel=0.15) and abs(expected) > 1.0
    assert late["ball"] == pytest.approx(1.0 / a2 - 1.0, rel=0.05)
    found = approach_of(case)
    assert found is not None
    name, worst = found.worst(a2)
    assert name == max(late, key=lambda one: abs(late[one])) and worst == late[name]


def test_a_moving_target_makes_late_what_follows_it(tmp_path: Path) -> None:
    """The ball hangs on the arm's tip by a spring: with the joints kept it would hang on a point that stands still."""
    ends = 'bodies = ["arm", "ball"]\npoints = [[2, 0, 0], [0, 0, 0]]\nstiffness = 0.05\nrest_length = 0.0\n'
    parts = (BALL, ARM, DRAG, f'\n[[forces]]\nkind = "point-spring"\n{ends}')
    free = approach_of(case_of(tmp_path, *parts, duration=150.0))
    kept = approach_of(case_of(tmp_path, *parts, duration=150.0), keep_joints=True)
    assert free is not None and kept is not None and kept.motion is None
    angle = free.motion.coordinates[:, -1]
    assert np.ptp(angle) > 0.5, "the arm swings back"
    ball, tip_now = free.motion.coordinates[-1, :3], 2.0 * np.array([np.cos(angle[-1]), np.sin(angle[-1]), 0.0])
    assert np.linalg.norm(ball - tip_now) < 0.1 * np.linalg.norm([3.0, 0.0, 0.0] - 2.0 * np.array([0.54, 0.84, 0.0]))


@pytest.mark.slow
def test_a_lead_that_stands_still_leaves_the_others_their_errors(tmp_path: Path) -> None:
    """A heavy ball on which nothing acts is the slowest tree; the arm is late as it is without it."""
    still = '\n[[model.bodies]]\nname = "still"\nmass = 50.0\njoint = "xyz"\nq = [0.0, 90.0, 0.0]\n'
    spring = SPRING.replace("stiffness = 0.04", "stiffness = 0.02")
    motion = motion_of(case_of(tmp_path, BALL, still, ARM, DRAG, spring, duration=200.0))
    assert motion.lead.name == "still" and [part.name for part in motion.moving_parts] == ["ball", "arm"]
    late = motion.delays(0.5)
    for name, mass, drag, stiffness, start in (("ball", 1.0, 1.0, 0.02, 3.0), ("arm", 5.0, 2.0, 0.1, 1.0)):

        def rate(_: float, y: np.ndarray, a: float, m=mass, d=drag, k=stiffness) -> list[float]:
            return [y[1], -a * (d * y[1] + k * y[0]) / m]

        # Of first order in the relaxation time τ/a2 over the time d/k of the slow motion.
        bound = 0.05 + stiffness * mass / (0.5 * drag**2)
        assert late[name] == pytest.approx(lateness(rate, [start, 0.0], 200.0, 0.5), rel=bound), name


def test_what_cannot_be_followed_keeps_its_joints(tmp_path: Path) -> None:
    """Where a joint has no drag there is no slow motion."""
    drag = DRAG.replace("rotational = 2.0", 'bodies = ["ball"]')
    found = approach_of(case_of(tmp_path, BALL, ARM, drag, PULL, duration=50.0))
    assert found is not None and found.motion is None
    assert found.worst(0.5)[0] == ""


@pytest.mark.slow
def test_the_receptor_is_as_late_as_is_predicted(tmp_path: Path) -> None:
    """1.6 ns of the published chapter 2, in which the particle comes to rest before the side chains: what is predicted
    for the particle and the bulk is what a scaled run and an unscaled one differ by. Slow: both runs take half a
    minute."""
    short = {"run.duration": "1.6 ns", "run.frames": 800}
    case = ar.load_case("ebola-receptor", short)
    late = motion_of(case).delays(1e-3)
    scaled = ar.run(case, tmp_path / "scaled", report=False)
    true = ar.run(case.variant("friction-implicit"), tmp_path / "true", report=False)
    for name, columns in (("bulk", slice(0, 1)), ("drug", slice(20, 23))):
        x, y = (run.q[:, columns] for run in (true, scaled))
        velocity = np.gradient(x, true.times, axis=0)
        measured = -((y - x) * velocity).sum() / (velocity**2).sum()
        assert late[name] == pytest.approx(measured, rel=0.15), name
