"""Impacts as events: a ball comes back as high as it should, and balls, trees and stops do what their laws say."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import articulon as ar

G = 9.81
FLOOR = {"shape": "plane", "kind": "floor", "point": (0, 0, 0), "normal": (0, 0, 1)}
RULES = [{"rule": "rk4", "step": 0.05}, {"rule": "dormand-prince"}]


def ball(height: float = 1.0, **law: Any) -> Any:
    b = ar.ModelBuilder("kg-m-s")
    b.add_body("ball", mass=1.0, inertia=0.1, joint=ar.Free(), q=(0, 0, 0.5 + height, 1, 0, 0, 0))
    b.add_site("ball", kind="steel", radius=0.5)
    b.add_force(ar.forces.Gravity((0, 0, -G)))
    b.add_force(ar.forces.Impacts(walls=[FLOOR], **law))
    return b.build()


def bounced(height: float, e: float, time: float) -> float:
    """Height of a ball that is dropped, above where it touches."""
    flight, speed = np.sqrt(2.0 * height / G), np.sqrt(2.0 * height * G)
    if time < flight:
        return height - 0.5 * G * time**2
    while True:
        speed *= e
        if time < flight + 2.0 * speed / G:
            since = time - flight
            return speed * since - 0.5 * G * since**2
        flight += 2.0 * speed / G


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule["rule"])
def test_a_ball_bounces_as_the_closed_form_says(rule: dict[str, Any]) -> None:
    """Rules of order four follow a parabola exactly, so all that is left is rounding, bounce after bounce."""
    run = ar.simulate(ball(restitution=0.8), 3.0, frames=30, **rule)
    exact = [0.5 + bounced(1.0, 0.8, time) for time in run.times]
    assert np.abs(run.q[:, 2] - exact).max() < 1e-13
    # The books: what impacts took is the loss ½ m (1 − e²) v² of each, and T − T₀ = ΣW.
    lost = sum(0.5 * (1.0 - 0.64) * 2.0 * G * 0.64**k for k in range(6))
    assert run.state.work[6] == pytest.approx(-lost, rel=1e-13)
    assert np.abs(run.kinetic_energy - run.kinetic_energy[0] - run.works.sum(axis=1)).max() < 1e-12 * G


def row_of_balls(n: int, radius: float = 0.5, gap: float = 0.0, speed: float = 2.0, **law: Any) -> Any:
    """Balls in a line, the first on its way to the others."""
    b = ar.ModelBuilder("kg-m-s")
    for k in range(n):
        x = k * (2.0 * radius + gap) - (1.0 if k == 0 else 0.0)
        u = (speed if k == 0 else 0.0, 0, 0, 0, 0, 0)
        b.add_body(f"ball{k}", mass=1.0, inertia=0.1, joint=ar.Free(), q=(x, 0, 0, 1, 0, 0, 0), u=u)
        b.add_site(f"ball{k}", kind="steel", radius=radius)
    b.add_force(ar.forces.Impacts(**law))
    return b.build()


@pytest.mark.parametrize("gap", [0.0, 1e-3])
def test_of_a_row_of_balls_the_last_flies_on(gap: float) -> None:
    """One impact after the other: (v, 0, 0) becomes (0, 0, v), touching or not."""
    run = ar.simulate(row_of_balls(3, gap=gap), 1.0, rule="rk4", step=0.1, frames=1)
    assert np.abs(run.u[-1, ::6] - [0.0, 0.0, 2.0]).max() < 1e-14
    assert run.state.rule.history[1] == 2


@pytest.mark.parametrize("speed", [1e2, 1e6])
@pytest.mark.parametrize("rule", [*RULES, {"rule": "friction-implicit", "step": 0.05}], ids=lambda rule: rule["rule"])
def test_no_speed_passes_a_ball_by(speed: float, rule: dict[str, Any]) -> None:
    """A bullet that goes ten to a hundred thousand diameters in a step hits the ball in its way (for bodies that turn,
    see ``test_turning_impacts.py``)."""
    run = ar.simulate(row_of_balls(2, radius=0.05, speed=speed, gap=1.0), 0.1, frames=1, **rule)
    assert np.abs(run.u[-1, ::6] - [0.0, speed]).max() < 1e-13 * speed
    assert run.state.rule.history[1] == 1


def test_a_stop_of_a_hinge_gives_back_what_its_restitution_says() -> None:
    """A wheel without forces goes to and fro between its stops, e times slower after each."""
    b = ar.ModelBuilder("kg-m-s")
    b.add_body("wheel", mass=1.0, inertia=0.1, joint=ar.Revolute(axis=(0, 0, 1)), q=0.0, u=2.0)
    b.add_force(ar.forces.JointLimits(lower={"wheel": -0.5}, upper={"wheel": 1.0}, restitution=0.5))
    run = ar.simulate(b.build(), 3.0, rule="rk4", step=0.5, frames=1)
    # 0.5 s to the upper stop, 1.5 s at 1 to the lower one, then 0.5 for the last second.
    assert run.q[-1, 0] == pytest.approx(-0.5 + 0.5 * 1.0, abs=1e-14)
    assert run.u[-1, 0] == pytest.approx(0.5, abs=1e-15)
    assert run.state.work[6] == pytest.approx(0.5 * 0.1 * (0.25 - 4.0), rel=1e-14)
    # I (1 + e) ω at the first stop, in angular momentum.
    figures = run.summary["impacts"]
    assert figures["largest_impulse"] == pytest.approx(0.1 * 1.5 * 2.0, rel=1e-14)
    assert figures["largest_impulse_dimension"] == "angular_momentum"


def test_a_stop_in_a_chain_moves_the_whole_chain() -> None:
    """The elbow of a double pendulum in free fall of its shoulder: angular momentum about the shoulder is kept, and the
    loss is ½ (1 − e²) u²/(M⁻¹)₂₂."""
    b = ar.ModelBuilder("kg-m-s")
    z = (0, 0, 1)
    b.add_body("upper", mass=1.0, inertia=0.1, joint=ar.Revolute(axis=z), com=(0.5, 0, 0), u=0.3)
    b.add_body(
        "fore", parent="upper", position=(1, 0, 0), mass=2.0, inertia=0.2, joint=ar.Revolute(axis=z), com=(0.4, 0, 0),
        q=0.5, u=-3.0,
    )  # fmt: skip
    b.add_force(ar.forces.JointLimits(lower={"fore": 0.0}, restitution=0.4))
    model = b.build()
    run = ar.simulate(model, 0.4, rule="dormand-prince", rtol=1e-12, frames=400)
    T = run.kinetic_energy
    k = int(np.argmin(np.diff(T)))
    q = run.q[k]
    M = ar.mass_matrix(model, np.array([q[0], 0.0]))
    u_hit = float(run.u[k, 1])
    assert T[-1] - T[0] == pytest.approx(-0.5 * (1 - 0.16) * u_hit**2 / np.linalg.inv(M)[1, 1], rel=2e-3)
    assert T[-1] - T[0] == pytest.approx(run.state.work[6], rel=1e-9)
    spin = [float(ar.mass_matrix(model, q)[0] @ u) for q, u in zip(run.q, run.u, strict=True)]
    assert np.ptp(spin) < 1e-9


@pytest.mark.parametrize("e", [1.0, 0.3])
def test_no_frame_has_an_overlap_and_energy_never_rises(e: float) -> None:
    """A hundred impacts of balls between the walls of a box."""
    rng = np.random.default_rng(2)
    box = ar.Box(lengths=(4.0, 4.0, 4.0), boundaries=("open",) * 3)
    b = ar.ModelBuilder("kg-m-s", box=box)
    grid = np.stack(np.meshgrid(*(np.arange(2) * 2.0 + 1.0,) * 3), axis=-1).reshape(-1, 3)
    for k, x in enumerate(grid):
        b.add_body(
            f"b{k}", mass=1.0, inertia=0.1, joint=ar.Free(), q=(*x, 1, 0, 0, 0), u=(*rng.normal(size=3), 0, 0, 0)
        )
        b.add_site(f"b{k}", kind="ball", radius=0.4)
    b.add_force(ar.forces.Impacts(restitution=e, walls=[{"shape": "box", "kind": "wall"}]))
    run = ar.simulate(b.build(), 12.0, rule="rk4", step=0.2, frames=60)
    x = run.q.reshape(len(run.q), -1, 7)[:, :, :3]
    apart = np.linalg.norm(x[:, :, None] - x[:, None], axis=-1) + 10.0 * np.eye(8)
    assert apart.min() > 0.8 - 1e-11
    assert np.abs(x - 2.0).max() < 1.6 + 1e-11
    assert run.state.rule.history[1] > (60 if e == 1.0 else 15)
    gain = np.diff(run.kinetic_energy)
    assert gain.max() < 1e-13 * run.kinetic_energy[0]
    if e == 1.0:
        assert abs(run.kinetic_energy[-1] / run.kinetic_energy[0] - 1.0) < 1e-13
