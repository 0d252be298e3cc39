"""Duration of contacts, and travel time of waves across a grain. Both limit the step of a run with contacts.

A head-on collision of elastic spheres lasts ``t_c = 2.868 (m*²/(R* E*² v))^{1/5}``, with the effective mass m*, radius
R* and modulus E* and the approach speed v (Hertz; Landau and Lifshitz, Theory of Elasticity, section 9). A Rayleigh
wave crosses half of a sphere's circumference in ``π R √(ρ/G)/(0.1631 ν + 0.8766)``, with the density ρ, the shear
modulus G and Poisson's ratio ν (Thornton and Randall, 1988). If a wave crossed a grain within one step, the other
contacts of the grain would have to react within this step.
"""

import math

SMALLER = 20.0
"""Number of recommended steps in the shorter of the two times: duration of a contact, and travel time of a wave."""

_SPAN = math.sqrt(math.pi) * math.gamma(1.4) / math.gamma(0.9)
"""∫₀¹ dx/√(1 − x^{5/2}): half the duration of a collision, times its approach speed, divided by its largest overlap."""


def deepest_overlap(mass: float, radius: float, modulus: float, speed: float) -> float:
    """Compute the largest overlap of an elastic collision, (15 m* v²/(16 E* √R*))^{2/5} [length].

    Parameters
    ----------
    mass, radius, modulus
        m*, R* and E* of the pair [mass], [length], [pressure].
    speed
        Approach speed along the line of centres [velocity].
    """
    return (15.0 * mass * speed**2 / (16.0 * modulus * math.sqrt(radius))) ** 0.4


def peak_force(mass: float, radius: float, modulus: float, speed: float) -> float:
    """Compute the largest force of an elastic collision, 4/3 E* √R* δ^{3/2} at the deepest overlap [force]."""
    return 4.0 / 3.0 * modulus * math.sqrt(radius) * deepest_overlap(mass, radius, modulus, speed) ** 1.5


def hertz_time(mass: float, radius: float, modulus: float, speed: float) -> float:
    """Compute the duration of an elastic collision of spheres, 2.868 (m*²/(R* E*² v))^{1/5} [time]; infinity at
    rest."""
    if speed <= 0.0:
        return math.inf
    return 2.0 * _SPAN * deepest_overlap(mass, radius, modulus, speed) / speed


def linear_time(mass: float, stiffness: float, damping: float = 0.0) -> float:
    """Compute the duration of a collision on a linear spring, π/√(k/m* − (η/2m*)²) [time]; infinity if overdamped.

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
    """Compute the time of a Rayleigh wave across a sphere, π R √(ρ/G)/(0.1631 ν + 0.8766) [time]."""
    return math.pi * radius * math.sqrt(density / shear_modulus) / (0.1631 * poisson + 0.8766)


def stable_step(mass: float, stiffness: float) -> float:
    """Compute the step 2 √(m*/k) above which velocity Verlet is unstable for a pair with the effective mass m* on a
    spring k [time]."""
    return 2.0 * math.sqrt(mass / stiffness)
