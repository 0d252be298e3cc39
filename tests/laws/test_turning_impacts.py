"""No speed of rotation passes a contact by: times of impact of arms and chains that turn by radians in a step."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.optimize import brentq

import articulon as ar
from articulon.integrate import friction_implicit_impact_driver, impact_settling
from articulon.integrate.impact_settling import book_impacts

RULES = [
    {"rule": "rk4", "step": 0.1},
    {"rule": "dormand-prince"},
    {"rule": "friction-implicit", "step": 0.1},
]
Z = (0, 0, 1)

rules = pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule["rule"])


class Times(list[float]):
    """The times of all impacts of the runs of a test."""

    def check(self, model: Any, time: float, rule: dict[str, Any], tolerance: float = 1e-12) -> None:
        """The first impact of a run of whole steps without frames on its way is at a time, and none adds energy."""
        self.clear()
        run = ar.simulate(model, 0.1 * np.ceil(time / 0.1 + 0.5), frames=1, **rule)
        assert run.summary["impacts"]["impacts"] >= len(self) > 0
        assert self[0] == pytest.approx(time, abs=tolerance)
        assert run.kinetic_energy[-1] < (1.0 + 1e-9) * run.kinetic_energy[0]


@pytest.fixture
def times(monkeypatch: pytest.MonkeyPatch) -> Times:
    found = Times()

    def book(engine: Any, state: Any, time: float, *others: Any) -> Any:
        found.append(time)
        return book_impacts(engine, state, time, *others)

    for module in (impact_settling, friction_implicit_impact_driver):
        monkeypatch.setattr(module, "book_impacts", book)
    return found


def first_zero(gap: Callable[[Any], Any], duration: float, spacing: float) -> float:
    """The first zero of a gap, a function of an array of times, from samples at a spacing below its variations."""
    times = np.arange(0.0, duration, spacing)
    k = int(np.argmax(gap(times) < 0.0))
    assert k > 0
    return float(brentq(lambda t: float(gap(np.array([t]))[0]), times[k - 1], times[k], xtol=1e-16, rtol=1e-15))


def at_angle(length: float, angle: Any) -> np.ndarray:
    """Points of a plane at a distance from the origin, shape (n, 2)."""
    return length * np.stack([np.cos(angle), np.sin(angle)], axis=-1)


def arm(b: Any, name: str, speed: float, radius: float, at: Any = (0, 0, 0), length: float = 1.0, q: float = 0) -> None:
    """An arm on a hinge of the ground, balanced, with a sphere at its tip."""
    b.add_body(name, mass=1.0, inertia=0.1, joint=ar.Revolute(axis=Z), position=at, u=speed, q=q)
    b.add_site(name, kind=name, position=(length, 0, 0), radius=radius)


def ball(b: Any, x: Any, v: Any, radius: float) -> None:
    b.add_body("ball", mass=0.01, inertia=1e-6, joint=ar.Free(), q=(*x, 1, 0, 0, 0), u=(*v, 0, 0, 0))
    b.add_site("ball", kind="ball", radius=radius)


@pytest.mark.parametrize("speed", [10.0, 40.0, 314.0, 5000.0])
@rules
def test_an_arm_that_swings_hits_the_ball_on_its_way(times: Times, rule: dict[str, Any], speed: float) -> None:
    """The centres are 2 r apart when the arm is 2 asin(r/l) before the ball; up to 80 turns in a step of 0.1."""
    b = ar.ModelBuilder("kg-m-s")
    arm(b, "arm", speed, 0.05)
    ball(b, (np.cos(2.5), np.sin(2.5), 0.0), (0, 0, 0), 0.05)
    b.add_force(ar.forces.Impacts())
    times.check(b.build(), (2.5 - 2.0 * np.arcsin(0.05)) / speed, rule)


@rules
def test_a_ball_that_comes_late_does_not_slip_through_a_whirling_arm(times: Times, rule: dict[str, Any]) -> None:
    """The arm has made hundreds of turns, without a change of speed to shorten a step, when the ball falls through its
    circle; the gap is known at all times."""
    speed, fall, radius = 700.0, 1.0, 0.02
    b = ar.ModelBuilder("kg-m-s")
    arm(b, "arm", speed, radius)
    ball(b, (np.cos(1.0), np.sin(1.0), 3.7), (0, 0, -fall), radius)
    b.add_force(ar.forces.Impacts())

    def gap(t: Any) -> Any:
        apart = np.linalg.norm(at_angle(1.0, speed * t) - at_angle(1.0, 1.0), axis=-1)
        return np.hypot(apart, 3.7 - fall * t) - 2.0 * radius

    times.check(b.build(), first_zero(gap, 4.0, 1e-6), rule)


@pytest.mark.parametrize("angle", [0.9, 5.0])
@rules
def test_two_arms_that_whirl_meet_where_their_circles_cross(times: Times, rule: dict[str, Any], angle: float) -> None:
    speeds, radius, apart = (130.0, -170.3), 0.03, 1.3
    b = ar.ModelBuilder("kg-m-s")
    arm(b, "one", speeds[0], radius)
    arm(b, "two", speeds[1], radius, at=(apart, 0, 0), q=angle)
    b.add_force(ar.forces.Impacts())

    def gap(t: Any) -> Any:
        two = np.array([apart, 0.0]) + at_angle(1.0, angle + speeds[1] * t)
        return np.linalg.norm(at_angle(1.0, speeds[0] * t) - two, axis=-1) - 2.0 * radius

    time = first_zero(gap, 3.0, 1e-6)
    times.check(b.build(), time, rule)


def wheels(speeds: tuple[float, ...], lengths: tuple[float, ...], radius: float) -> Any:
    """Balanced links on parallel hinges, each at the rim of the one before, with a sphere at the last rim: nothing
    changes their speeds."""
    b = ar.ModelBuilder("kg-m-s")
    for k, speed in enumerate(speeds):
        parent = {"parent": f"wheel{k - 1}", "position": (lengths[k - 1], 0, 0)} if k else {}
        # A weight opposite the next hinge balances the mass of all later wheels, so that nothing acts about its own.
        weight = (-lengths[k] * (len(speeds) - 1 - k), 0, 0)
        b.add_body(f"wheel{k}", mass=1.0, inertia=0.5, com=weight, joint=ar.Revolute(axis=Z), u=speed, **parent)
    b.add_site(f"wheel{len(speeds) - 1}", kind="rim", position=(lengths[-1], 0, 0), radius=radius)
    return b


def on_wheels(t: Any, speeds: tuple[float, ...], lengths: tuple[float, ...]) -> np.ndarray:
    return np.asarray(sum(at_angle(r, w * t) for r, w in zip(lengths, np.cumsum(speeds), strict=True)))


@pytest.mark.parametrize("speeds", [(60.0, 45.0, -220.0), (-90.0, 190.0, 77.0)])
@rules
def test_a_chain_of_wheels_hits_what_its_rim_comes_to(
    times: Times, rule: dict[str, Any], speeds: tuple[float, ...]
) -> None:
    """The rim goes along a curve with loops and cusps, by up to ten radians about each hinge in a step."""
    lengths, radius = (1.0, 0.4, 0.3), 0.02
    hit = on_wheels(np.array([0.317]), speeds, lengths)[0] + [0.01, 0.005]
    b = wheels(speeds, lengths, radius)
    b.add_site(None, kind="post", position=(*hit, 0.0), radius=radius)
    b.add_force(ar.forces.Impacts(excluded_joints=0))

    def gap(t: Any) -> Any:
        return np.linalg.norm(on_wheels(t, speeds, lengths) - hit, axis=-1) - 2.0 * radius

    time = first_zero(gap, 1.0, 1e-6)
    assert time > 0.02
    times.check(b.build(), time, rule)


WALLS = {
    "plane": ({"shape": "plane", "point": (0, 0.8, 0), "normal": (0, -1, 0)}, np.arcsin(0.78)),
    "post": (
        {"shape": "cylinder", "point": (np.cos(2.0), np.sin(2.0), 0), "axis": Z, "radius": 0.01, "inside": False},
        2.0 - 2.0 * np.arcsin(0.5 * 0.03),
    ),
    # A triangle across the arm's circle, in the plane y = x tan 1.3 that contains the axis.
    "mesh": (None, 1.3 - np.arcsin(0.02)),
}


@pytest.mark.parametrize("wall", WALLS)
@pytest.mark.parametrize("rule", [RULES[0], RULES[2]], ids=["rk4", "friction-implicit"])
def test_an_arm_hits_walls_at_the_angle_that_they_stand_at(times: Times, rule: dict[str, Any], wall: str) -> None:
    speed, radius = 500.0, 0.02
    shape, angle = WALLS[wall]
    if shape is None:
        out, up = np.array([np.cos(1.3), np.sin(1.3), 0.0]), np.array([0.0, 0.0, 1.0])
        across = np.array([-np.sin(1.3), np.cos(1.3), 0.0])
        # A thin wedge, whose front face contains the axis.
        front = [0.8 * out - 0.2 * up, 1.2 * out - 0.2 * up, out + 0.3 * up]
        vertices = [*front, out + 1e-3 * across]
        triangles = [(0, 1, 2), (0, 3, 1), (1, 3, 2), (2, 3, 0)]
        shape = {"shape": "mesh", "vertices": [x.tolist() for x in vertices], "triangles": triangles}
    b = ar.ModelBuilder("kg-m-s")
    arm(b, "arm", speed, radius)
    b.add_force(ar.forces.Impacts(walls=[{**shape, "kind": "wall"}]))
    times.check(b.build(), float(angle) / speed, rule)


@rules
def test_a_dumbbell_that_tumbles_hits_the_ball_beside_it(times: Times, rule: dict[str, Any]) -> None:
    """A free body turns by six radians in a step about its axis of symmetry, while it flies on."""
    speed, radius, flight = 60.0, 0.05, 2.0
    b = ar.ModelBuilder("kg-m-s")
    u = (flight, 0, 0, 0, 0, speed)
    b.add_body("body", mass=1.0, inertia=(0.1, 0.1, 0.15), joint=ar.Free(), q=(0, 0, 0, 1, 0, 0, 0), u=u)
    for x in (1.0, -1.0):
        b.add_site("body", kind="end", position=(x, 0, 0), radius=radius)
    post = np.array([0.9, 0.55])
    b.add_site(None, kind="post", position=(*post, 0), radius=radius)
    b.add_force(ar.forces.Impacts())

    def gap(t: Any) -> Any:
        centre = np.stack([flight * t, 0.0 * t], axis=-1)
        ends = [np.linalg.norm(centre + at_angle(x, speed * t) - post, axis=-1) for x in (1.0, -1.0)]
        return np.minimum(*ends) - 2.0 * radius

    # Quaternions are integrated by the rule, to its error in the steps that it takes: at most 0.5 radians here.
    tolerance = {"friction-implicit": 1e-12, "dormand-prince": 1e-7}.get(rule["rule"], 1e-4)
    times.check(b.build(), first_zero(gap, 1.0, 1e-6), rule, tolerance)


def test_a_double_pendulum_that_whirls_hits_when_an_event_search_says() -> None:
    """Equations of the pendulum by hand, with SciPy's events, beside articulated bodies with impacts."""
    l, radius, g = 1.0, 0.01, 9.81  # noqa: E741
    post, start = np.array([0.35, 1.2]), np.array([0.3, 1.1, 35.0, -20.0])

    def tip(y: Any) -> Any:
        return l * np.array([np.cos(y[0]) + np.cos(y[1]), np.sin(y[0]) + np.sin(y[1])])

    def rates(t: float, y: Any) -> Any:
        # Absolute angles from x, unit masses at the ends, gravity along −y.
        c, s = np.cos(y[0] - y[1]), np.sin(y[0] - y[1])
        M = l * l * np.array([[2.0, c], [c, 1.0]])
        right = np.array([-l * l * s * y[3] ** 2, l * l * s * y[2] ** 2])
        right -= g * l * np.array([2.0 * np.cos(y[0]), np.cos(y[1])])
        return [*y[2:], *np.linalg.solve(M, right)]

    def gap(t: float, y: Any) -> float:
        return float(np.linalg.norm(tip(y) - post) - 2.0 * radius)

    gap.terminal, gap.direction = True, -1  # type: ignore[attr-defined]
    exact = solve_ivp(rates, (0.0, 20.0), start, "DOP853", events=gap, rtol=1e-13, atol=1e-13, max_step=1e-3)
    time = float(exact.t_events[0][0])
    b = ar.ModelBuilder("kg-m-s")
    hinge = ar.Revolute(axis=Z)
    point = {"mass": 1.0, "inertia": 1e-12, "com": (l, 0, 0), "joint": hinge}
    b.add_body("upper", q=start[0], u=start[2], **point)
    b.add_body("lower", parent="upper", position=(l, 0, 0), q=start[1] - start[0], u=start[3] - start[2], **point)
    b.add_site("lower", kind="tip", position=(l, 0, 0), radius=radius)
    b.add_site(None, kind="post", position=(*post, 0), radius=radius)
    b.add_force(ar.forces.Gravity((0, -g, 0)))
    b.add_force(ar.forces.Impacts(excluded_joints=0))
    run = ar.simulate(b.build(), time + 1e-3, rule="dormand-prince", rtol=1e-12, atol=1e-12, frames=1)
    assert run.summary["impacts"]["impacts"] == 1
    assert run.summary["impacts"]["largest_impulse_time"] == pytest.approx(time, abs=1e-8)


def test_two_balls_that_pass_a_periodic_box_in_a_step_hit_each_others_images(times: Times) -> None:
    """Each goes by 1.9 of 4 in a step, so that the image which is nearest at its start is not the one that is hit."""
    radius, box, speed = 0.1, 4.0, 19.0
    x, y = np.array([0.5, 0.5, 1.0]), np.array([2.1, 3.2, 1.0])
    v, w = np.array([speed, 3.0, 0.0]), np.array([-speed, 0.0, 0.0])

    def gap(t: Any) -> Any:
        d = x - y + (v - w) * t[:, None]
        return np.linalg.norm(d - box * np.rint(d / box), axis=-1) - 2.0 * radius

    b = ar.ModelBuilder("kg-m-s", box=ar.Box(lengths=(box,) * 3, boundaries=("periodic",) * 3))
    for name, at, u in (("one", x, v), ("two", y, w)):
        b.add_body(name, mass=1.0, inertia=0.01, joint=ar.Free(), q=(*at, 1, 0, 0, 0), u=(*u, 0, 0, 0))
        b.add_site(name, kind="ball", radius=radius)
    b.add_force(ar.forces.Impacts())
    times.check(b.build(), first_zero(gap, 10.0, 1e-5), {"rule": "rk4", "step": 0.1})
