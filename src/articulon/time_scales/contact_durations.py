"""How long contacts last and how fast waves cross a grain: what bounds the step of a run with contacts.

A head-on collision of elastic spheres lasts ``t_c = 2.868 (m*²/(R* E*² v))^{1/5}`` (Hertz; Landau and Lifshitz, Theory
of Elasticity, section 9), and a Rayleigh wave crosses half of a sphere's circumference in ``π R √(ρ/G)/(0.1631 ν +
0.8766)`` (Thornton and Randall, 1988). A force that reaches the other side of a grain within a step would have to act
on the grain's other contacts within it.
"""

import math

SMALLER = 20.0
"""Recommended steps in the shorter of the two times."""

_SPAN = math.sqrt(math.pi) * math.gamma(1.4) / math.gamma(0.9)
"""∫₀¹ dx/√(1 − x^{5/2}): half a collision in units of its deepest overlap over its speed."""


def deepest_overlap(mass: float, radius: float, modulus: float, speed: float) -> float:
    """Overlap at which an elastic collision turns, (15 m* v²/(16 E* √R*))^{2/5} [length].

    Parameters
    ----------
    mass, radius, modulus
        m*, R* and E* of the pair [mass], [length], [pressure].
    speed
        With which the two approach along the line of centres [velocity].
    """
    return (15.0 * mass * speed**2 / (16.0 * modulus * math.sqrt(radius))) ** 0.4


def peak_force(mass: float, radius: float, modulus: float, speed: float) -> float:
    """Largest force of an elastic collision, 4/3 E* √R* δ^{3/2} at the deepest overlap [force]."""
    return 4.0 / 3.0 * modulus * math.sqrt(radius) * deepest_overlap(mass, radius, modulus, speed) ** 1.5


def hertz_time(mass: float, radius: float, modulus: float, speed: float) -> float:
    """How long an elastic collision of spheres lasts, 2.868 (m*²/(R* E*² v))^{1/5} [time]; infinity at no speed."""
    if speed <= 0.0:
        return math.inf
    return 2.0 * _SPAN * deepest_overlap(mass, radius, modulus, speed) / speed


def linear_time(mass: float, stiffness: float, damping: float = 0.0) -> float:
    """How long a collision on a linear spring lasts, π/√(k/m* − (η/2m*)²) [time]; infinity where it creeps.

    Parameters
    ----------
    mass, stiffness
        m* [mass] and k [force/length].
    damping
        η [force time/length].
    """
    square = stiffness / mass - (0.5 * damping / mass) ** 2
    return math.pi / math.sqrt(square) if square > 0.0 else math.inf


def rayleigh_time(radius: float, density: float, shear_modulus: float, poisson: float) -> float:
    """In which a Rayleigh wave runs from one side of a sphere to the other, π R √(ρ/G)/(0.1631 ν + 0.8766) [time]."""
    return math.pi * radius * math.sqrt(density / shear_modulus) / (0.1631 * poisson + 0.8766)


def stable_step(mass: float, stiffness: float) -> float:
    """2 √(m*/k), beyond which velocity Verlet makes the oscillation of a pair on a spring k grow [time]."""
    return 2.0 * math.sqrt(mass / stiffness)
