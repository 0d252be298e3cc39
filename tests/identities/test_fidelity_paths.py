"""How far two paths are apart: what moves together, whole turns, and errors that are known beforehand."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import articulon as ar
from articulon.fidelity.motion import PART, Motion, compare
from articulon.fidelity.paths import (
    Group,
    Path,
    between,
    groups_of,
    offsets,
    path_distance,
    path_of,
    ranges,
    rough_groups,
    rough_path,
    scales,
)
from articulon.fidelity.record import Settings
from articulon.fidelity.verdict import Bounds
from articulon.integrate.lag_groups import LEAST_ANGLE
from articulon.model.joints import BY_KIND
from tests.support.random_models import random_direction, random_forest, rotation_by, to_articulon

BALL = [Group("ball: translation", 0, 3, 0, False, False)]
TURNING = [Group("ball: rotation", 0, 3, 0, True, True)]


# What moves together


def test_free_bodies_are_split_and_every_motion_has_its_name() -> None:
    builder = ar.ModelBuilder(units="lj")
    core = builder.add_body("core", mass=1.0, inertia=1.0, joint=ar.Free())
    arm = builder.add_body("arm", parent=core, mass=1.0, inertia=1.0, joint=ar.Revolute(axis=(0, 0, 1)))
    builder.add_body("tip", parent=arm, mass=1.0, inertia=1.0, joint=ar.Spherical())
    builder.add_body("rail", parent=core, mass=1.0, inertia=1.0, joint=ar.Prismatic(axis=(1, 0, 0)))
    builder.add_body("badge", parent=core, mass=1.0, inertia=1.0, joint=ar.Weld())
    builder.add_body("ball", mass=1.0, joint=ar.Xyz())
    builder.add_body("knee", parent=core, mass=1.0, inertia=1.0, joint=ar.Universal())
    found = {group.name: group for group in groups_of(builder.build())}
    assert set(found) == {
        "core: translation",
        "core: rotation",
        "arm: rotation about its hinge",
        "tip: rotation",
        "rail: slide along its axis",
        "ball: translation",
        "knee: rotation",
    }
    assert {name for name, group in found.items() if group.angular} == {n for n in found if "rotation" in n}
    assert {name for name, group in found.items() if group.turns} == {"core: rotation", "tip: rotation"}


@pytest.mark.parametrize("seed", range(5))
def test_every_speed_belongs_to_one_group_and_its_coordinates_go_with_it(seed: int) -> None:
    model = to_articulon(random_forest(np.random.default_rng(seed), 12))
    groups = groups_of(model)
    speeds = [k for group in groups for k in range(group.start, group.end)]
    coordinates = [
        group.coordinate + k for group in groups for k in range(4 if group.turns else group.end - group.start)
    ]
    assert speeds == list(range(model.nu)) and sorted(coordinates) == list(range(model.nq))
    for i, kind in enumerate(model.forest.kind.tolist()):
        u, joint = int(model.forest.u_start[i]), BY_KIND[kind]
        mine = [group for group in groups if u <= group.start < u + joint.nu]
        assert len(mine) == (joint.translations > 0) + (joint.nu > joint.translations)


# Rotations


def spinning(axis: np.ndarray, angles: np.ndarray, times: np.ndarray, rate: float) -> Path:
    """A body that turns about an axis fixed in space, with a body frame that is turned already."""
    start = np.array([0.5, 0.5, -0.5, 0.5])
    q = []
    for angle in angles:
        s, v = np.cos(angle / 2), np.sin(angle / 2) * axis
        q.append(
            np.concatenate([[s * start[0] - v @ start[1:]], s * start[1:] + start[0] * v + np.cross(v, start[1:])])
        )
    e = np.array(q)
    # Speeds are components in the body frame.
    w, x = e[:, :1], -e[:, 1:]
    turned = axis + 2.0 * np.cross(x, np.cross(x, axis) + w * axis)
    return path_of(TURNING, times, e, rate * turned)


@pytest.mark.parametrize("between_frames", [0.3, 3.0, 7.3, -20.0])
def test_whole_turns_between_two_frames_are_counted_by_the_speed(between_frames: float) -> None:
    axis = random_direction(np.random.default_rng(4))
    times = np.linspace(0.0, 2.0, 21)
    path = spinning(axis, between_frames * np.arange(21), times, between_frames / 0.1)
    expected = between_frames * np.arange(21)[:, None] * axis
    # Twenty sums of angles that are rounded, the largest 400.
    np.testing.assert_allclose(path.place, expected, atol=1e-11 + 1e-14 * np.abs(expected).max())
    np.testing.assert_allclose(path.velocity, np.tile(between_frames / 0.1 * axis, (21, 1)), rtol=1e-12, atol=1e-12)


def test_a_body_that_is_a_whole_turn_ahead_is_not_where_it_should_be() -> None:
    axis, times = np.array([0.0, 0.6, 0.8]), np.linspace(0.0, 1.0, 51)
    true = spinning(axis, 2.0 * np.pi * times, times, 2.0 * np.pi)
    ahead = spinning(axis, 4.0 * np.pi * times, times, 4.0 * np.pi)
    offset = offsets(TURNING, ahead, true)
    np.testing.assert_allclose(offset, 2.0 * np.pi * times[:, None] * axis, atol=1e-12)


def test_small_turns_are_judged_by_an_angle_and_lengths_by_themselves() -> None:
    assert scales(TURNING, np.array([1e-6])) == LEAST_ANGLE and scales(TURNING, np.array([1.0])) == 1.0
    assert scales(BALL, np.array([1e-6])) == 1e-6


def test_the_axes_of_a_body_under_noise_move_by_the_angle_that_it_turns_by() -> None:
    """√2 of a small angle in all nine components, which is taken out; a running mean of a steady turn is the turn."""
    angles, times = 1e-4 * np.arange(101), np.linspace(0.0, 1.0, 101)
    e = np.array([rotation_by(np.array([0.0, 0.0, 1.0]), angle) for angle in angles])
    groups = rough_groups(TURNING)
    path = rough_path(groups, times, e, 5)
    assert groups[0].end == 9 and path.times.size == 97 and path.times[0] == pytest.approx(times[:5].mean())
    # cos φ of the largest angle is 5e-5 away from 1.
    np.testing.assert_allclose(np.linalg.norm(path.place, axis=1), 1e-2 * path.times, rtol=5e-5)


# Errors of known paths


def circle(times: np.ndarray, turns: float, radius: float = 0.5) -> Path:
    """A steady way around a circle, whose range is its diameter."""
    a = 2.0 * np.pi * turns * times
    zero = np.zeros_like(a)
    place = radius * np.stack([np.cos(a), np.sin(a), zero], axis=1)
    rate = 2.0 * np.pi * turns * radius * np.stack([-np.sin(a), np.cos(a), zero], axis=1)
    return Path(times, place, rate, np.zeros((times.size, 3)))


def straight(times: np.ndarray, place: Any, rate: Any) -> Path:
    x, v = np.zeros((2, times.size, 3))
    x[:, 0], v[:, 0] = place, rate
    return Path(times, x, v, x)


TIMES = np.linspace(0.0, 1.0, 201)
EARLIER, WHOLE = np.linspace(-0.5, 1.5, 2001), np.linspace(0.0, 1.0, 1001)


def errors(path: Path, truth: Path, reach: float) -> Any:
    return path_distance(path, truth, offsets(BALL, path, truth), BALL[0], reach, 1.0)


@pytest.mark.parametrize("late", [0.01, -0.01, 0.04])
@pytest.mark.parametrize("turns", [1.0, 3.0])
def test_a_path_that_is_late_by_the_same_time_everywhere_is_wrong_by_that(late: float, turns: float) -> None:
    path, truth = circle(TIMES - late, turns)._replace(times=TIMES), circle(EARLIER, turns)
    found = errors(path, truth, 1.0)
    # Chords between two points of the true path, an eighth of 1e-3 apart, lie within h²v²/8R.
    np.testing.assert_allclose(found.error, abs(late), atol=1e-6)
    np.testing.assert_allclose(found.delay, late, atol=1e-6)
    # On the circle it is off by the chord of the angle that it is late by.
    np.testing.assert_allclose(found.position_error, abs(np.sin(np.pi * turns * late)), rtol=1e-6)


@pytest.mark.parametrize("width", [0.1, 0.02, 0.004])
def test_where_a_body_is_fast_it_is_far_off_in_place_and_late_by_little(width: float) -> None:
    """A way of length 1 that is done about t = 0.5, within a time that gets short: x = ½ (1 + tanh((t − ½)/w))."""
    late = 0.01

    def onset(t: np.ndarray) -> Path:
        z = (t - 0.5) / width
        return straight(t, 0.5 * (1.0 + np.tanh(z)), 0.5 / width / np.cosh(z) ** 2)

    path, truth = onset(TIMES - late)._replace(times=TIMES), onset(EARLIER)
    found = errors(path, truth, 1.0)
    assert found.error.max() == pytest.approx(late, rel=1e-3)
    assert found.error.max() <= late * (1.0 + 1e-6), "moving back in time by the delay is always enough"
    # The two are farthest apart halfway between them.
    assert found.position_error.max() == pytest.approx(np.tanh(0.5 * late / width), rel=0.01)
    # Where both are at rest it does not matter when they got there.
    assert found.error[0] == pytest.approx(found.position_error[0], rel=1e-6) and found.error[-1] < 1e-3


def test_a_slow_body_is_wrong_by_the_place_and_not_by_the_time() -> None:
    """It has come to 0.99 of its way and creeps: late by a tenth of the run, and 1e-4 of the way off."""

    def creep(t: np.ndarray) -> Path:
        return straight(t, 0.99 + 1e-3 * t, 1e-3)

    found = errors(creep(TIMES - 0.1)._replace(times=TIMES), creep(EARLIER), 1.0)
    np.testing.assert_allclose(found.error, 1e-4, rtol=1e-6)
    np.testing.assert_allclose(found.position_error, 1e-4, rtol=1e-6)


def test_a_path_beside_the_true_one_is_wrong_by_its_distance() -> None:
    truth = straight(EARLIER, EARLIER, 1.0)
    path = straight(TIMES, TIMES, 1.0)
    path.place[:, 1] = 0.03
    found = errors(path, truth, 1.0)
    np.testing.assert_allclose(found.error, 0.03, rtol=1e-9)
    np.testing.assert_allclose(found.delay, 0.0, atol=1e-9)


def test_a_cubic_between_moments_is_followed_and_straight_on_behind_them() -> None:
    t = np.linspace(0.0, 1.0, 6)
    path = straight(t, t**3 - t, 3.0 * t**2 - 1.0)
    at = np.array([0.0, 0.03, 0.5, 0.99, 1.0])
    place, rate = between(path, at)
    np.testing.assert_allclose(place[:, 0], at**3 - at, atol=1e-14)
    np.testing.assert_allclose(rate[:, 0], 3.0 * at**2 - 1.0, atol=1e-13)
    assert between(path, np.array([1.5]))[0][0, 0] == pytest.approx(1.0)


# Errors of a run


def judged(path: Path, truth: Path, error: str = "time", known: float = 0.0, noisy: bool = False) -> Any:
    width = max(1, round(PART * (path.times.size - 1)))
    motion = Motion(BALL, path, ranges(BALL, path.place), np.array([known]), width, noisy)
    record = SimpleNamespace(duration=1.0, settings=Settings(0.02, error, 0.0))
    return compare(record, motion, truth)  # type: ignore[arg-type]


def test_what_lasts_for_a_moment_counts_by_its_part_of_a_twentieth_of_the_run_and_the_end_counts_whole() -> None:
    truth = straight(WHOLE, WHOLE, 1.0)
    path = straight(TIMES, TIMES, 1.0)
    path.place[100, 1] = 0.2
    wrong = judged(path, truth)[0]
    assert wrong.time == pytest.approx(0.2 * 1.0 / 10.0) and wrong.position == pytest.approx(0.2, rel=1e-3)
    assert wrong.at == pytest.approx(0.5, abs=0.05)
    # Around a circle, faster than its range in the run, so that what is behind is behind in time.
    late = circle(TIMES, 1.0)
    late.place[-1] = circle(TIMES[-1:] - 0.04, 1.0).place[0]
    found = judged(late, circle(WHOLE, 1.0))[0]
    assert found.time == pytest.approx(0.04, abs=1e-5) and found.delay == pytest.approx(0.04, abs=1e-5)


def test_what_places_are_not_known_to_is_no_error() -> None:
    truth, path = straight(WHOLE, WHOLE, 1.0), straight(TIMES, TIMES, 1.0)
    path.place[:, 1] = 0.01
    # Its range is √(1 + 0.01²).
    assert judged(path, truth)[0].time == pytest.approx(0.01, rel=1e-4)
    assert judged(path, truth, known=0.004)[0].time == pytest.approx(0.006, rel=1e-4)
    assert judged(path, truth, known=2.0) == [], "it has not moved by more than its places are known to"


def test_what_inertia_does_to_the_true_path_is_no_error_of_the_run() -> None:
    """A path without inertia is beside the run by all that inertia does; the true one by what scaling adds to it."""
    truth, path = straight(WHOLE, WHOLE, 1.0), straight(TIMES, TIMES - 0.04, 1.0)
    motion = Motion(BALL, path, np.array([1.0]), np.zeros(1), 10, False)
    record: Any = SimpleNamespace(duration=1.0, settings=Settings(0.02, "time", 0.0))
    found = compare(record, motion, truth, np.full((TIMES.size, 1), 0.25))[0]
    assert found.time == pytest.approx(0.03, rel=1e-6) and found.position == pytest.approx(0.03, rel=1e-6)
    assert found.since("time", TIMES, Bounds(0.02, 0.1), "suspect") == pytest.approx(0.0)
