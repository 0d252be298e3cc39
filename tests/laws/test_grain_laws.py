"""Grains on a floor, in closed form: bounces, sliding, rolling, stacks, slopes, what resists rolling and twisting."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import articulon as ar
from articulon.time_scales.contact_durations import hertz_time
from tests.support import grain_models as gm
from tests.support.contact_reference import pair_moduli

G, RADIUS, DENSITY = 9.81, 0.01, 2500.0
MASS = 4.0 / 3.0 * math.pi * DENSITY * RADIUS**3
SOFT = {"young": 1e7, "poisson": 0.3, "static_friction": 0.3, "restitution": 0.5}
FLOOR = {"point": (0.0, 0.0, 0.0), "normal": (0.0, 0.0, 1.0), "kind": "grain"}
DOWN = (0.0, 0.0, -G)


def stiffness(material: dict[str, Any], radius: float) -> float:
    """k of k δ^{3/2} for two of a material, of reduced radius ``radius``."""
    young, poisson = material["young"], material["poisson"]
    return 4.0 / 3.0 * pair_moduli((young, young), (poisson, poisson))[0] * math.sqrt(radius)


def sunk(material: dict[str, Any]) -> float:
    """How deep its weight presses one into the floor."""
    return (MASS * G / stiffness(material, RADIUS)) ** (2.0 / 3.0)


def on_floor(material: dict[str, Any], **options: Any) -> Any:
    """One grain that lies where its weight presses it."""
    return gm.grains(
        [[0, 0, RADIUS - sunk(material)]], RADIUS, ar.forces.Plane(**FLOOR), material=material, gravity=DOWN, **options
    )


@pytest.mark.slow
def test_bounces_rise_to_r_plus_e_squared_of_the_fall() -> None:
    """The k-th height is r + e^{2k} (h₀ − r), but for the weight during a contact: g t_c by the speed."""
    e, height = 0.8, 0.2
    material = {"young": 5e8, "poisson": 0.3, "restitution": e}
    model = gm.grains([[0, 0, height]], RADIUS, ar.forces.Plane(**FLOOR), material=material, gravity=DOWN)
    modulus = pair_moduli((5e8, 5e8), (0.3, 0.3))[0]
    slowest = e**2 * math.sqrt(2.0 * G * (height - RADIUS))
    lasts = hertz_time(MASS, RADIUS, modulus, slowest)
    found = gm.run(model, lasts / 100.0, 220_000, frames=300)
    z = np.array([gm.motion(found, k).positions[0, 2] for k in range(301)])
    v = np.array([gm.motion(found, k).velocities[0, 2] for k in range(301)])
    flying = z > RADIUS
    tops = z[flying] + v[flying] ** 2 / (2.0 * G)
    expected = RADIUS + e ** (2.0 * np.arange(4)) * (height - RADIUS)
    bound = 3.0 * G * lasts / slowest + 2e-3
    for k in range(4):
        near = np.abs(tops - expected[k]) <= bound * (expected[k] - RADIUS)
        assert near.sum() > 5, f"bounce {k}"
    assert np.all(np.diff(tops) <= 1e-9 * height)


@pytest.mark.slow
@pytest.mark.parametrize(("e", "tail"), [(1.0, True), (0.9, True), (0.9, False), (0.5, False), (0.2, False)])
def test_gross_sliding_takes_mu_times_the_normal_momentum(e: float, tail: bool) -> None:
    """v'ₓ = vₓ − μ (1 + e) v_z and ω = 5/2 μ (1 + e) v_z/r; the arm is shorter by the overlap, 1 % at most here.

    Friction is μ times the size of the normal force, also where damping makes that attractive. Where it does not, every
    kick along the floor is μ times the one against it, however strong the damping along the floor would be.
    """
    friction, down, along = 0.2, 1.0, 3.0
    material = {"young": 1e9, "poisson": 0.3, "static_friction": friction, "restitution": e}
    model = gm.grains(
        [[0, 0, RADIUS]],
        RADIUS,
        ar.forces.Plane(**FLOOR),
        velocities=[[along, 0, -down]],
        material=material,
        attractive_tail=tail,
    )
    modulus = pair_moduli((1e9, 1e9), (0.3, 0.3))[0]
    lasts = hertz_time(MASS, RADIUS, modulus, down)
    found = gm.run(model, lasts / 200.0, 300)
    assert len(found.state.contacts.pairs) == 0
    now = gm.motion(found)
    up = now.velocities[0, 2]
    assert up == pytest.approx(e * down, abs=1e-3) if tail else up > e * down - 1e-3
    lost = along - now.velocities[0, 0]
    if not tail or e == 1.0:
        assert lost == pytest.approx(friction * (up + down), rel=1e-12)
    if tail:
        assert lost == pytest.approx(friction * (1.0 + e) * down, rel=1e-4 if e == 1.0 else 0.003)
    assert now.spins[0, 1] == pytest.approx(2.5 * lost / RADIUS, rel=0.012)
    assert found.kinetic_energy[-1] - found.kinetic_energy[0] == pytest.approx(found.works[-1].sum(), rel=1e-12)


def test_a_bowled_ball_rolls_with_five_sevenths_of_its_speed() -> None:
    """It slides for 2 u₀/(7 μ g), losing μ g t, and then keeps 5/7 u₀; of an arm A in place of r, with a = A/r,
    2.5 a²/(1 + 2.5 a²) of it."""
    speed = 1.0
    model = on_floor(SOFT, velocities=[[speed, 0, 0]])
    depth = sunk(SOFT)
    slides = 2.0 * speed / (7.0 * 0.3 * G)
    step = 2e-5
    half = gm.motion(gm.run(model, step, round(0.5 * slides / step)))
    assert half.velocities[0, 0] == pytest.approx(speed - 0.3 * G * step * round(0.5 * slides / step), rel=1e-3)
    found = gm.run(model, step, round(3.0 * slides / step))
    now = gm.motion(found)
    a = 1.0 - depth / RADIUS
    rolling = speed * 2.5 * a**2 / (1.0 + 2.5 * a**2)
    assert rolling == pytest.approx(5.0 / 7.0 * speed, rel=2e-3)
    assert now.velocities[0, 0] == pytest.approx(rolling, rel=1e-4)
    assert now.spins[0, 1] * (RADIUS - depth) == pytest.approx(rolling, rel=1e-4)


def test_a_stack_rests_where_each_contact_carries_what_is_above() -> None:
    """δ = (W/k)^{2/3} with the weight above, between spheres (R* = r/2) and on the floor (R* = r)."""
    count = 5
    material = {**SOFT, "restitution": 0.2}
    z = RADIUS + 2.0 * RADIUS * 0.9999 * np.arange(count)
    model = gm.grains(
        np.stack([0 * z, 0 * z, z], axis=1), RADIUS, ar.forces.Plane(**FLOOR), material=material, gravity=DOWN
    )
    found = gm.run(model, 2e-5, 40_000)
    held = gm.contacts(found)
    assert held.pairs.tolist() == [[0, 1], [0, count], [1, 2], [2, 3], [3, 4]]
    above = np.array([4.0, 5.0, 3.0, 2.0, 1.0]) * MASS * G
    k = np.full(count, stiffness(material, 0.5 * RADIUS))
    k[1] = stiffness(material, RADIUS)
    assert held.overlaps == pytest.approx((above / k) ** (2.0 / 3.0), rel=1e-6)
    assert held.elastic == pytest.approx(above, rel=1e-6)
    assert found.kinetic_energy[-1] < 1e-12 * MASS * G * RADIUS


@pytest.mark.slow
def test_what_resists_rolling_slows_a_ball_by_five_sevenths_of_mu_g() -> None:
    """The couple μ_r r m g: u' = −(5/7) μ_r g."""
    friction, speed = 0.02, 0.5
    material = {**SOFT, "rolling_friction": friction}
    depth = sunk(SOFT)
    model = on_floor(material, rolling="spring", velocities=[[speed, 0, 0]], spins=[[0, speed / (RADIUS - depth), 0]])
    found = gm.run(model, 2e-5, 20_000, frames=4)
    speeds = np.array([gm.motion(found, k).velocities[0, 0] for k in range(5)])
    assert np.diff(speeds)[1:] == pytest.approx(np.full(3, -5.0 / 7.0 * friction * G * 0.1), rel=5e-3)
    stopped = gm.motion(gm.run(model, 2e-5, 200_000))
    assert np.abs(stopped.velocities[0]).max() < 1e-6 * speed
    change = found.kinetic_energy - found.kinetic_energy[0]
    assert change == pytest.approx(found.works.sum(axis=1), abs=1e-11 * found.kinetic_energy[0])


def test_what_resists_twisting_slows_a_top() -> None:
    """The couple λ m g about the normal: ω' = −(5/2) λ g/r²."""
    arm, spin = 1e-5, 20.0
    material = {**SOFT, "twisting_friction": arm, "twisting_stiffness": 1e-3}
    model = on_floor(material, twisting="spring", spins=[[0, 0, spin]])
    found = gm.run(model, 2e-5, 20_000, frames=4)
    spins = np.array([gm.motion(found, k).spins[0, 2] for k in range(5)])
    assert np.diff(spins)[1:] == pytest.approx(np.full(3, -2.5 * arm * G / RADIUS**2 * 0.1), rel=5e-3)


def test_friction_holds_a_block_of_spheres_on_a_slope_up_to_its_angle() -> None:
    """Three spheres on one body on a floor, under a slanting gravity: it stays at tan α < μ, and beyond goes with
    g (sin α − μ cos α)."""
    for slope, moves in ((0.28, False), (0.34, True)):
        angle = math.atan(slope)
        builder = ar.ModelBuilder(units="kg-m-s")
        feet = np.array([[0.03, 0, 0], [-0.015, 0.026, 0], [-0.015, -0.026, 0]])
        block = builder.add_body("block", mass=0.1, inertia=1e-4, joint=ar.Free(), position=(0, 0, RADIUS))
        for foot in feet:
            builder.add_site(block, foot, kind="grain", radius=RADIUS)
        builder.add_force(
            ar.forces.Contact(materials={"grain": {**SOFT, "restitution": 0.2}}, walls=[ar.forces.Plane(**FLOOR)])
        )
        builder.add_force(ar.forces.Gravity(acceleration=(G * math.sin(angle), 0.0, -G * math.cos(angle))))
        found = ar.simulate(builder.build(), 0.4, rule="velocity-verlet", step=2e-5, frames=2)
        gained = (found.u[2, 0] - found.u[1, 0]) / 0.2
        if moves:
            assert gained == pytest.approx(G * (math.sin(angle) - 0.3 * math.cos(angle)), rel=1e-2)
        else:
            assert abs(gained) < 1e-3 * G


def test_free_grains_turn_as_far_as_they_spin() -> None:
    """Steps of any angle, large ones too, and a number of grains that is no multiple of those that move together."""
    count, h, steps = 37, 1e-5, 20
    rng = np.random.default_rng(3)
    spins = rng.normal(size=(count, 3)) * np.geomspace(1.0, 2e5, count)[:, None]  # up to some radians a step
    places = 0.01 * np.stack([np.arange(count), np.zeros(count), np.zeros(count)], axis=1)
    model = gm.moving(gm.Motion(places, np.zeros((count, 3)), spins), np.full(count, 1e-3))
    found = gm.run(model, h, steps)
    angle = h * np.linalg.norm(spins, axis=1)
    assert angle.min() < 0.01 < 1.0 < angle.max()
    turned = Rotation.from_rotvec(steps * h * spins)
    e = found.q[-1].reshape(-1, 7)[:, [4, 5, 6, 3]]  # scalar last
    off = (Rotation.from_quat(e).inv() * turned).magnitude()
    # Each step rounds the rates and the angle, and adds a few roundings of its own.
    assert np.all(off <= steps * (4.0 * angle + 8.0) * np.finfo(float).eps)
