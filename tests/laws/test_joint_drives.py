"""Drives of joints with limits: closed forms of a disc, the books, cases, and what is refused.

A run at rtol = 1e-10 follows its equation to ``CLOSE`` of the largest value, over corners of the law too, where its
error control shortens the steps.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import articulon as ar
from articulon.forces.joint_drive import OF_DRIVES, JointDrive, drive_adjoint, drive_joints, drive_tangent
from articulon.model import CHANNELS
from articulon.model.model import kernel_tables
from articulon.passes import Program
from articulon.runs.entry import simulate
from tests.identities.test_sensitivities import close, difference

CLOSE = 1e-8
EXTERNAL = CHANNELS.index("external")
Z = (0.0, 0.0, 1.0)
INERTIA = 0.5


def disc(*forces: Any, u: float = 0.0, q: float = 0.0) -> ar.Model:
    builder = ar.ModelBuilder("kg-m-s")
    builder.add_body("disc", mass=2.0, inertia=INERTIA, joint=ar.Revolute(axis=Z), q=q, u=u)
    for force in forces:
        builder.add_force(force)
    return builder.build()


def drive(**fields: Any) -> Any:
    return ar.forces.JointDrive(**{"body": "disc"} | fields)


def run(model: ar.Model, duration: float, **options: Any) -> Any:
    return simulate(model, duration, **{"rule": "dormand-prince", "rtol": 1e-10, "atol": 1e-12} | options)


def torque(force: Any, q: float, u: float) -> float:
    model = disc(force)
    return float(ar.generalized_forces(model, np.array([q]), np.array([u]), ["external"])[0])


LIMITED: dict[str, Any] = {"damping": 100.0, "max_torque": 2.0, "max_speed": 3.0, "speed_band": 1.0}


def test_a_limited_drive_spins_a_disc_up_to_its_largest_speed_and_books_its_work() -> None:
    """u = τ t/I to u_max − w, and from there u_max − w exp(−τ (t − t₁)/(I w)): it asks for more than it may have."""
    r = run(disc(drive(speeds=50.0, **LIMITED)), 2.0, frames=40)
    most, limit, band = 2.0, 3.0, 1.0
    corner = INERTIA * (limit - band) / most
    after = limit - band * np.exp(-most * (r.times - corner) / (INERTIA * band))
    exact = np.where(r.times < corner, most * r.times / INERTIA, after)
    assert np.abs(r.u[:, 0] - exact).max() <= CLOSE * limit
    # All of its work is the kinetic energy that the disc has gained.
    gained = r.kinetic_energy - r.kinetic_energy[0]
    assert gained[-1] > 0.99 * 0.5 * INERTIA * limit**2
    assert np.abs(np.asarray(r.works)[:, EXTERNAL] - gained).max() <= CLOSE * gained[-1]


@pytest.mark.parametrize("way", [1.0, -1.0])
def test_the_torque_is_clipped_by_its_own_speed_alone(way: float) -> None:
    """It drives no further beyond u_max, and brakes with all it has at any speed."""
    force = drive(speeds=way * 50.0, **LIMITED)
    found = [torque(force, 0.0, way * u) for u in (-9.0, 0.0, 2.0, 2.25, 2.9, 3.0, 40.0, 49.99, 50.005, 60.0)]
    expected = way * np.array([2.0, 2.0, 2.0, 1.5, 0.2, 0.0, 0.0, 0.0, -0.5, -2.0])
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-12)
    slow = drive(speeds=way * 2.5, **LIMITED | {"damping": 0.1})  # wants less than it may have
    assert torque(slow, 0.0, way * 2.4) == pytest.approx(way * 0.01, rel=1e-9)


def test_a_drive_follows_a_slow_table_with_its_lag() -> None:
    """Behind q_d = a t²/2 by I a/k, with speeds from the table; behind q_d = v t by d v/k where it damps against rest.
    Started on that path, it stays on it."""
    k, d, a, v = 40.0, 5.0, 0.3, 0.7
    times = np.linspace(0.0, 2.0, 5)
    r = run(disc(drive(times=times, positions=0.5 * a * times**2, stiffness=k, damping=d), q=-INERTIA * a / k), 2.0)
    assert np.abs(r.q[:, 0] - (0.5 * a * r.times**2 - INERTIA * a / k)).max() <= CLOSE
    assert np.abs(r.u[:, 0] - a * r.times).max() <= CLOSE
    against_rest = drive(times=times, positions=v * times, speeds=np.zeros(5), stiffness=k, damping=d)
    r = run(disc(against_rest, q=-d * v / k, u=v), 2.0)
    assert np.abs(r.q[:, 0] - (v * r.times - d * v / k)).max() <= CLOSE


def test_positions_that_have_ended_are_held_at_rest() -> None:
    """From (t − 1) for t < 1 to 0 after: a damped oscillation that a jump of the speed it follows begins."""
    k, d = 8.0, 1.0
    force = drive(times=(0, 1), positions=(-1, 0), stiffness=k, damping=d, interpolation="linear", beyond="hold")
    r = simulate(disc(force, q=-1.0, u=1.0), 3.0, rule="rk4", step=0.002, frames=30)
    decay = d / (2.0 * INERTIA)
    omega = np.sqrt(k / INERTIA - decay**2)
    late = np.maximum(r.times - 1.0, 0.0)
    exact = np.where(r.times < 1.0, r.times - 1.0, np.exp(-decay * late) * np.sin(omega * late) / omega)
    # One of six stages of the step that begins on the corner sees the speed before it: d v h/(6 I) of the speed.
    assert np.abs(r.q[:, 0] - exact).max() <= d * 0.002 / (6.0 * INERTIA * omega)
    assert torque(force, 0.2, 0.0) == pytest.approx(-k * 1.2 + d, rel=1e-12)


def test_a_slide_is_driven_by_a_force_and_a_ball_by_speeds() -> None:
    builder = ar.ModelBuilder("kg-m-s")
    builder.add_body("slide", mass=2.0, joint=ar.Prismatic(axis=Z), q=0.1)
    builder.add_body("ball", mass=2.0, inertia=INERTIA, joint=ar.Free())
    builder.add_force(ar.forces.JointDrive("slide", "20 cm", stiffness="3 N/cm", max_torque="12 N"))
    builder.add_force(ar.forces.JointDrive("ball", component=2, positions=0.5, stiffness=2.0))
    builder.add_force(ar.forces.JointDrive("ball", component=4, speeds="3 rad/s", damping="2 N m s"))
    model = builder.build()
    found = ar.generalized_forces(model, model.q0, model.u0, ["external"])
    np.testing.assert_allclose(found, [12.0, 0.0, 0.0, 1.0, 0.0, 6.0, 0.0], rtol=1e-14)


def test_a_drive_that_damps_is_for_rules_with_speeds_and_a_spring_for_all() -> None:
    with pytest.raises(ar.CaseError, match=r"integrator\.rule"):
        simulate(disc(drive(speeds=1.0, damping=2.0)), 1.0, rule="overdamped", step=0.1)
    held = disc(drive(positions=0.0, stiffness=2.0), q=0.1)
    r = simulate(held, 1.0, rule="friction-implicit", step=1e-3, frames=1)
    # Second order: (ω h)² t ω/24 of the amplitude.
    assert r.q[-1, 0] == pytest.approx(0.1 * np.cos(2.0), abs=1e-7)


@pytest.mark.parametrize("rule", ["rk4", "friction-implicit"])
def test_a_drive_goes_on_to_the_same_bits(rule: str) -> None:
    times = np.linspace(0.0, 1.0, 6)
    model = disc(drive(times=times, positions=np.sin(5.0 * times), stiffness=30.0, **LIMITED | {"damping": 2.0}))
    options: dict[str, Any] = {"rule": rule, "step": 0.01}
    whole = simulate(model, 1.0, frames=10, **options)
    half = simulate(model, 0.5, frames=5, **options)
    rest = ar.resume(half, 0.5)
    assert np.array_equal(rest.q[-1], whole.q[-1]) and np.array_equal(rest.u[-1], whole.u[-1])
    assert np.array_equal(np.asarray(rest.works)[-1], np.asarray(whole.works)[-1])


def test_a_case_file_drives(tmp_path: Path) -> None:
    (tmp_path / "case.toml").write_text(
        """
[case]
units = "kg-m-s"
[[model.bodies]]
name = "disc"
mass = 2.0
inertia = 0.5
joint = "revolute"
[[forces]]
kind = "joint-drive"
body = "disc"
speeds = "3000 deg/s"
damping = "100 N m s"
max_torque = "200 N cm"
max_speed = 3
speed_band = "1000 mrad/s"
[integrator]
rule = "dormand-prince"
rtol = 1e-10
atol = 1e-12
[run]
duration = 2.0
frames = 4
"""
    )
    results = ar.run(ar.load_case(tmp_path / "case.toml"), tmp_path / "run", report=False)
    assert results.u[-1, 0] == pytest.approx(3.0 - np.exp(-4.0 * (2.0 - 0.5)), rel=CLOSE)
    assert results.summary["conservative_works"]["external"]["error"] is None
    assert results.summary["energy_balance_error_relative"] < CLOSE


FIELDS = ("stiffness", "damping", "max_torque", "max_speed", "speed_band")
PIECES = {"free": (50.0, 0.1), "clipped": (1.0, 0.1), "faded": (1.0, 2.2), "beyond": (1.0, 4.0), "braked": (1.0, -2.2)}
"""Largest torque and speed in each piece of the law, which is smooth there."""


def wanting(most: float, way: float) -> dict[str, Any]:
    """A drive that wants some twenty, one way or the other."""
    table = {"times": (0.0, 0.25, 0.5, 0.75, 1.0), "positions": tuple(way * np.array([1.0, 1.1, 1.3, 1.2, 1.0]))}
    return {**table, "stiffness": 20.0, "damping": 2.0, "max_torque": most, "max_speed": 3.0, "speed_band": 1.0}


@pytest.mark.parametrize("piece", PIECES)
@pytest.mark.parametrize("way", [1.0, -1.0])
def test_the_tangent_is_a_difference_and_the_adjoint_its_transpose(piece: str, way: float) -> None:
    """By the state and by all numbers of the table."""
    (most, speed), rng = PIECES[piece], np.random.default_rng(3)
    model = disc(drive(**wanting(most, way)))
    forest, (force,) = kernel_tables(model).forest, model.forces
    table, change, gradient = (JointDrive.gather(model, [("", force)], None) for _ in range(3))
    for name in (*OF_DRIVES[3:], "positions", "speeds"):
        getattr(change, name)[...] = rng.normal(size=getattr(change, name).shape)
        getattr(gradient, name)[...] = 0.0
    clock, q, u, found, weight = np.array([0.3]), np.array([0.1]), np.array([way * speed]), np.zeros(1), np.array([0.7])
    shift, faster, tau, by_q, by_u = np.array([0.4]), np.array([-1.3]), np.zeros(1), np.zeros(1), np.zeros(1)
    fill = Program([drive_joints.bind(forest, table, clock, q, u, tau)])
    Program([drive_tangent.bind(forest, table, change, clock, q, u, shift, faster, found)])()
    Program([drive_adjoint.bind(forest, table, gradient, clock, q, u, weight, by_q, by_u)])()
    moving = [(q, shift), (u, faster)]
    moving += [(getattr(table, name), getattr(change, name)) for name in (*OF_DRIVES[3:], "positions", "speeds")]
    before = [one.copy() for one, _ in moving]

    def torque_at(h: float) -> float:
        for (one, rate), start in zip(moving, before, strict=True):
            one[...] = start + h * rate
        tau[0] = 0.0
        fill()
        return float(tau[0])

    assert close(found[0], difference(torque_at))
    parts = [by_q @ shift, by_u @ faster]
    parts += [
        np.vdot(getattr(gradient, name), getattr(change, name)) for name in (*OF_DRIVES[3:], "positions", "speeds")
    ]
    assert sum(parts) == pytest.approx(weight[0] * found[0], rel=1e-13)


@pytest.mark.slow  # Compiles a run, its adjoint and its tangent: twenty seconds.
def test_derivatives_of_a_run_are_differences_of_runs() -> None:
    numbers = wanting(PIECES["faded"][0], 1.0)
    options: dict[str, Any] = {"rule": "rk4", "step": 0.01}

    def value(h: float, field: str, place: int = 0) -> float:
        given = dict(numbers)
        if field == "positions":
            given[field] = tuple(x + h * (k == place) for k, x in enumerate(given[field]))
        elif field in FIELDS:
            given[field] += h
        start = {"q": 0.1 + h * (field == "q"), "u": 2.2 + h * (field == "u")}
        r = simulate(disc(drive(**given), **start), 0.05, **options)
        return float(r.q[-1, 0] + 0.3 * r.u[-1, 0])

    def objective(q: Any, u: Any) -> Any:
        return q[0] + 0.3 * u[0], np.array([1.0]), np.array([0.3])

    model = disc(drive(**numbers), q=0.1, u=2.2)
    fields = ("positions", *FIELDS)
    names = ["q", "u", *(f"forces[0].{field}" for field in fields)]
    for method in ("adjoint", "forward"):
        found = ar.sensitivity(model, objective, names, method, duration=0.05, **options).gradient
        for name, field in zip(names, ("q", "u", *fields), strict=True):
            places = range(5 if field == "positions" else 1)
            expected = [difference(lambda h, field=field, k=k: value(h, field, k)) for k in places]
            assert close(np.ravel(found[name]), expected), name


FOUR = {"times": (0, 1, 2, 3), "positions": (0, 1, 2, 3), "stiffness": 1.0}


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"body": "disk", **FOUR}, r"forces\[0\]\.body: there is no body 'disk'; did you mean 'disc'"),
        ({"component": 1, **FOUR}, r"forces\[0\]\.component: body 'disc' has a revolute joint, with 1 speeds"),
        ({**FOUR, "times": (0, 1, 1, 2)}, r"forces\[0\]\.times: cubic interpolation needs at least 4 increasing"),
        ({**FOUR, "times": (0, 5e-324, 2, 3)}, r"forces\[0\]\.times: two of them are too close to each other"),
        ({**FOUR, "positions": (0, 1, 2)}, "positions and times must have the same length, got 3 and 4"),
        ({**FOUR, "positions": (0, 1, 2, "3 m")}, r"forces\[0\]\.positions.*an angle"),
        ({**FOUR, "stiffness": "3 N/m"}, r"forces\[0\]\.stiffness.*a torsional stiffness"),
        ({**FOUR, "stiffness": 0.0}, r"forces\[0\]\.stiffness: must be greater than 0, got 0"),
        ({**FOUR, "max_torque": -1.0}, r"forces\[0\]\.max_torque: must be greater than 0, got -1"),
        ({**FOUR, "max_torque": "3 N"}, r"forces\[0\]\.max_torque.*a torque"),
        ({**FOUR, "max_speed": 1.0, "max_torque": 1.0}, "max_speed and speed_band.* belong together"),
        ({**FOUR, "max_speed": 1.0, "speed_band": 1.0}, "max_torque is needed with max_speed"),
        (
            {**FOUR, **LIMITED, "speed_band": 4.0},
            r"forces\[0\]\.speed_band: must be at most max_speed, but 4 is more than 3",
        ),
        ({**FOUR, "stiffness": None}, "positions and stiffness belong together"),
        ({"speeds": 1.0}, "damping is needed with speeds"),
        ({"damping": 1.0}, "give positions or speeds to follow"),
        ({"positions": (1.0, 2.0), "stiffness": 1.0}, "times are needed"),
        (
            {"body": "ball", "positions": 1.0, "stiffness": 1.0},
            r"\.positions: body 'ball' has a spherical joint, whose",
        ),
        ({"max_torgue": 1.0, **FOUR}, "did you mean 'max_torque'"),
    ],
)
def test_what_a_drive_cannot_be_says_so(fields: dict[str, Any], said: str) -> None:
    builder = ar.ModelBuilder("kg-m-s")
    builder.add_body("disc", mass=1.0, inertia=1.0, joint=ar.Revolute(axis=Z))
    builder.add_body("ball", mass=1.0, inertia=1.0, joint=ar.Spherical())

    def declare_and_build() -> None:
        builder.add_force(drive(**fields))
        builder.build()

    with pytest.raises((ar.ModelError, ar.CaseError), match=said):
        declare_and_build()


def test_a_run_beyond_the_table_is_refused() -> None:
    with pytest.raises(ar.ModelError, match=r"forces\[0\]\.times: the table goes from 0 to 3, but the run from 0 to 4"):
        simulate(disc(drive(**FOUR)), 4.0)
