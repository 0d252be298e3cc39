"""Times of contacts against closed forms and the motions that they are those of."""

import math

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from articulon.time_scales.contact_durations import (
    deepest_overlap,
    hertz_time,
    linear_time,
    peak_force,
    rayleigh_time,
    stable_step,
)


def collision(force, mass, speed):
    """Duration and depth of a collision along a line, by its equation of motion."""

    def parted(_, y):
        return y[0]

    parted.terminal, parted.direction = True, -1
    span = 1e3 * mass * speed / force(mass * speed)
    # Begun by an instant after touching, so that the first event is the second passage.
    found = solve_ivp(
        lambda _, y: [y[1], -force(max(y[0], 0.0)) / mass],
        (0.0, span),
        [1e-12, speed],
        method="DOP853",
        rtol=1e-12,
        atol=1e-16,
        events=parted,
        dense_output=True,
    )
    end = float(found.t_events[0][0])
    depth = found.sol(np.linspace(0.0, end, 20_001))[0].max()
    return end, depth


@pytest.mark.parametrize(
    ("mass", "radius", "modulus", "speed"), [(1.0, 0.5, 3.0, 0.2), (2.0, 0.1, 50.0, 1.5), (0.3, 1.0, 1.0, 0.01)]
)
def test_collision_of_spheres_lasts_and_goes_as_hertz_says(mass, radius, modulus, speed):
    stiffness = 4.0 / 3.0 * modulus * math.sqrt(radius)
    duration, depth = collision(lambda d: stiffness * d**1.5, mass, speed)
    assert hertz_time(mass, radius, modulus, speed) == pytest.approx(duration, rel=1e-6)
    assert deepest_overlap(mass, radius, modulus, speed) == pytest.approx(depth, rel=1e-7)
    assert peak_force(mass, radius, modulus, speed) == pytest.approx(stiffness * depth**1.5, rel=1e-7)


def test_hertz_time_has_the_constant_of_the_books():
    """t = 2.868 (m*²/(R* E*² v))^{1/5}: Johnson, Contact Mechanics (1985), 11.24, has 2.87."""
    assert hertz_time(1.0, 1.0, 1.0, 1.0) == pytest.approx(2.8683, abs=5e-5)


def test_collision_on_a_linear_spring_is_half_a_period():
    assert linear_time(2.0, 8.0) == pytest.approx(math.pi / 2.0)
    assert linear_time(2.0, 8.0, 4.0) == pytest.approx(math.pi / math.sqrt(3.0))
    assert linear_time(2.0, 8.0, 8.0) == math.inf


def test_rayleigh_time_is_that_of_its_wave_across_half_the_circumference():
    """The Rayleigh speed of Poisson's ratio 0.25 is 0.9194 of the transverse one (Landau and Lifshitz, Theory of
    Elasticity, section 24); the fit is good to a part in a thousand."""
    R, density, shear = 0.01, 2500.0, 28e9
    assert rayleigh_time(R, density, shear, 0.25) == pytest.approx(
        math.pi * R / (0.9194 * math.sqrt(shear / density)), rel=3e-3
    )


def test_stable_step_is_where_velocity_verlet_begins_to_grow():
    mass, stiffness = 0.7, 300.0

    def grown(h):
        x, v = 1.0, 0.0
        for _ in range(400):
            v -= 0.5 * h * stiffness / mass * x
            x += h * v
            v -= 0.5 * h * stiffness / mass * x
        return abs(x)

    assert grown(0.99 * stable_step(mass, stiffness)) < 10.0
    assert grown(1.01 * stable_step(mass, stiffness)) > 1e6
