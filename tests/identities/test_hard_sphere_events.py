"""Events of hard spheres: roots, the calendar, cells, and the same motion as by looking at all pairs."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from articulon.integrate import hard_spheres, sphere_gas
from articulon.integrate.event_calendar import day_frequency, earliest_of_all, open_calendar
from articulon.integrate.hard_sphere_tables import (
    COUNT,
    EVENT,
    LINK,
    MOTION,
    NOBODY,
    PERIODIC,
    SUM,
    WALL,
    with_slots,
)
from articulon.integrate.hard_spheres import bring_together, find_events, take_events
from articulon.integrate.sphere_flights import exit_time, impact_time
from tests.support.hard_sphere_gases import by_all_pairs, copy_of, lattice_gas, mixture

EPS = np.finfo(float).eps
earliest_by_looking = earliest_of_all.py_func


def test_two_meet_where_their_distance_is_the_sum_of_their_radii() -> None:
    """The gap at the root, in numbers of more digits, is that of the rounding of the time, |w| τ eps, and of b² − a c,
    whose error moves the root by eps b²/(a √(b² − a c))."""
    rng, worst, met = np.random.default_rng(1), 0.0, 0
    for _ in range(4000):
        r = rng.normal(size=3)
        r *= (1.0 + 10.0 ** rng.uniform(-12, 2)) / np.linalg.norm(r)
        w = rng.normal(size=3) * 10.0 ** rng.uniform(-3, 3)
        a, b, c = float(w @ w), float(r @ w), float(r @ r) - 1.0
        tau = impact_time.py_func(c, b, a, 1.0)
        if not np.isfinite(tau):
            assert b >= 0.0 or b * b < a * c or b * b < 1e-19 * a * (c + 1.0)
            continue
        met += 1
        wide = [np.longdouble(x) for x in (a, b, c)]
        gap = wide[0] * tau**2 + 2 * wide[1] * tau + wide[2]  # r² − σ² at the root
        root = np.sqrt(b * b - a * c)
        bound = 8 * EPS * (c + abs(b) * tau + b * b / max(root, 1e-300) * (root + EPS * abs(b)) * tau / max(-b, 1e-300))
        worst = max(worst, float(abs(gap)) / (bound + 1e-300))
    assert met > 200
    assert worst < 1.0


def test_spheres_that_touch_and_approach_hit_at_once_and_those_that_part_never_do() -> None:
    assert impact_time.py_func(-1e-16, -0.5, 1.0, 1.0) == 0.0
    assert impact_time.py_func(0.0, -0.5, 1.0, 1.0) == 0.0
    assert impact_time.py_func(0.0, 0.5, 1.0, 1.0) == np.inf
    assert impact_time.py_func(0.0, -1e-17, 1.0, 1.0) == np.inf  # a graze by rounding alone
    assert impact_time.py_func(3.0, 0.0, 0.0, 1.0) == np.inf


@pytest.mark.parametrize("acceleration", [0.0, 1e-9, 2.0, -1e-9, -2.0])
def test_what_leaves_through_a_face_is_there_and_moves_outwards(acceleration: float) -> None:
    rng = np.random.default_rng(3)
    for _ in range(500):
        distance, speed = 10.0 ** rng.uniform(-12, 1), rng.normal()
        tau = exit_time.py_func(distance, speed, acceleration)
        if np.isfinite(tau):
            reached = speed * tau + 0.5 * acceleration * tau * tau
            size = abs(speed) * tau + 0.5 * abs(acceleration) * tau * tau
            assert abs(reached - distance) <= 8 * EPS * size
            assert speed + acceleration * tau >= -8 * EPS * abs(speed)
        else:
            assert (speed <= 0.0 and acceleration <= 0.0) or speed**2 + 2 * acceleration * distance < 0.0


def test_what_has_come_in_through_a_face_does_not_go_out_where_it_came_in() -> None:
    assert exit_time.py_func(0.0, -2.0, 0.0) == np.inf
    assert exit_time.py_func(0.0, -2.0, 4.0) == 1.0
    assert exit_time.py_func(-1e-17, 2.0, -4.0) == 0.0


def _prepared(start: Any, impacts: int) -> Any:
    spheres, _, _ = start.gas._placed(start.positions, start.velocities)
    find_events(spheres)
    open_calendar(spheres, day_frequency(spheres, 0.0), 0.0)
    while spheres.counts[COUNT.impacts] < impacts:
        status = take_events(spheres, np.inf, 7)
        if status == hard_spheres.REPLAN:
            now = float(spheres.sums[SUM.now])
            open_calendar(spheres, day_frequency(spheres, now), now)
        if status == hard_spheres.CELL_FULL:
            spheres = with_slots(spheres, 2 * spheres.grid.slots.shape[1])
    return spheres


@pytest.mark.parametrize("impacts", [0, 50, 3000])
def test_calendar_partners_and_cells_agree_after_any_number_of_impacts(impacts: int) -> None:
    spheres = _prepared(lattice_gas(4, 0.35), impacts)
    links, events, motion = spheres.links, spheres.events, spheres.motion
    n = len(links)
    # A partner has a sphere for its own partner, at the same time.
    partner = links[:, LINK.partner]
    paired = np.flatnonzero(partner != NOBODY)
    assert paired.size > n // 4
    assert np.array_equal(partner[partner[paired]], paired)
    assert np.array_equal(motion[partner[paired], MOTION.impact], motion[paired, MOTION.impact])
    # The calendar holds each sphere once, on its day, with the earlier of its two events.
    assert np.array_equal(events[:, EVENT.first], np.minimum(motion[:, MOTION.impact], events[:, EVENT.crossing]))
    listed = []
    for day, head in enumerate(spheres.days.tolist()):
        while head != NOBODY:
            assert links[head, LINK.day] == day
            listed.append(head)
            head = int(links[head, LINK.later])
    assert sorted(listed) == list(range(n))
    assert events[earliest_by_looking(spheres), EVENT.first] == events[:, EVENT.first].min()
    assert events[:, EVENT.first].min() >= spheres.sums[SUM.now]
    # Each sphere is in one cell, which it is in until it crosses a face.
    grid = spheres.grid
    held = [i for cell, count in enumerate(grid.filled.tolist()) for i in grid.slots[cell, :count].tolist()]
    assert sorted(held) == list(range(n))
    bring_together(spheres, float(spheres.sums[SUM.now]))
    number = np.stack(np.unravel_index(links[:, LINK.cell], grid.cells), axis=1)
    inside = (motion[:, MOTION.place : MOTION.place + 3] - grid.low) / grid.edge - number
    assert inside.min() > -1e-12 and inside.max() < 1.0 + 1e-12


@pytest.mark.parametrize(
    ("faces", "gravity"), [(PERIODIC, (0.0, 0.0, 0.0)), (WALL, (0.0, 0.0, 0.0)), (WALL, (0.1, 0.0, -0.7))]
)
def test_spheres_move_as_by_looking_at_all_pairs(faces: int, gravity: tuple[float, float, float]) -> None:
    """Spheres of several sizes, masses and kinds. Both ways round alike, and each impact multiplies a difference by the
    path between impacts over the radius, here 5 and more: 10⁻¹⁵ grows to some 10⁻¹⁰ over six impacts of each."""
    start = mixture(faces, gravity)
    x, v, impacts = by_all_pairs(start, 2.0)
    found = start.gas.advance(start.positions, start.velocities, 2.0)
    assert found is not None
    assert found.impacts + found.wall_impacts == impacts > 30
    way = start.positions - x
    if faces == PERIODIC:
        way -= start.gas.box.high * np.rint(way / start.gas.box.high)
    assert np.abs(way).max() < 1e-9
    assert np.abs(start.velocities - v).max() < 1e-9


def test_the_bits_do_not_depend_on_the_calendar_or_on_slots(monkeypatch: pytest.MonkeyPatch) -> None:
    start = lattice_gas(4, 0.3)
    other = copy_of(start)
    start.gas.advance(start.positions, start.velocities, 3.0)
    monkeypatch.setattr(sphere_gas, "day_frequency", lambda *_: 7.3)
    monkeypatch.setattr(sphere_gas, "IMPACTS", 13)
    monkeypatch.setattr(sphere_gas, "FIRST_SLOTS", 32)
    other.gas.advance(other.positions, other.velocities, 3.0)
    assert np.array_equal(start.positions, other.positions)
    assert np.array_equal(start.velocities, other.velocities)


def test_an_elastic_gas_goes_back_to_where_it_came_from() -> None:
    """Each impact multiplies a difference by some 3 at this density: ten digits are left after six of each sphere."""
    start = lattice_gas(3, 0.2)
    x, v = start.positions.copy(), start.velocities.copy()
    there = start.gas.advance(start.positions, start.velocities, 1.0)
    start.velocities *= -1.0
    back = start.gas.advance(start.positions, start.velocities, 1.0)
    assert there is not None and back is not None
    assert there.impacts == back.impacts > 2 * len(x)
    assert np.abs(start.positions - x).max() < 1e-9
    assert np.abs(start.velocities + v).max() < 1e-9


def test_a_cell_that_is_full_gets_more_slots() -> None:
    """A cell is as wide as the one large sphere, and holds eight of the others, and at times more."""
    start = lattice_gas(5, 0.3)
    start.gas.radius[1:], start.gas.radius[0] = 0.45, 1.1
    edge, way = start.gas.box.high, start.positions - start.positions[0]
    far = np.linalg.norm(way - edge * np.rint(way / edge), axis=1) > 1.56
    keep = far | (np.arange(len(far)) == 0)
    start.gas.radius, start.gas.mass, start.gas.kind = (
        a[keep] for a in (start.gas.radius, start.gas.mass, start.gas.kind)
    )
    x, v = start.positions[keep].copy(), start.velocities[keep].copy()
    energy = float((v**2).sum())
    found = start.gas.advance(x, v, 1.0)
    assert found is not None and found.impacts > 300
    assert float((v**2).sum()) == pytest.approx(energy, rel=1e-13)
    assert start.gas.overlap(x)[0] < 1e-12
