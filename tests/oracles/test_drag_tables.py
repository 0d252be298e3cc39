"""Guy (2018), tables D.3 and D.4: Stokes' formulas with η = 0.89 mPa s reproduce every printed drag coefficient.

The printed radius of bodies C and D, 1.3 nm, is 1.25 nm rounded: only the latter gives the printed drag and inertia.
"""

from __future__ import annotations

import math
from decimal import Decimal

import pytest

import articulon as ar

# Printed: radius, mass, inertia, translational and rotational drag [μm, fg, fg μm², fg/μs, fg μm²/μs].
TABLE = {
    "nanoparticle": ("0.2", "10.72", "0.29", "3.36e3", "178.95"),
    "A": ("2e-3", "3.91e-5", "6.25e-11", "33.55", "1.79e-4"),
    "B": ("1.5e-3", "9.31e-6", "8.38e-12", "25.16", "7.55e-5"),
    "C": ("1.25e-3", "1.66e-5", "1.04e-11", "20.97", "4.37e-5"),
    "D": ("1.25e-3", "1.63e-5", "1.02e-11", "20.97", "4.37e-5"),
}


def printed_digit(value: str) -> float:
    """The unit of the last printed digit."""
    exponent = Decimal(value).as_tuple().exponent
    assert isinstance(exponent, int)
    return 10.0**exponent


def as_printed(computed: float, value: str, inherited: float = 0.0) -> bool:
    """Whether a number rounds to the printed one; ``inherited`` is what the rounding of its own inputs may change."""
    return abs(computed - float(value)) <= 0.5 * printed_digit(value) * (1.0 + 1e-12) + inherited


def coefficients(radius: str) -> tuple[float, float]:
    """β and β_ω that the engine gives a sphere of this radius."""
    builder = ar.ModelBuilder(units="fg-um-us")
    builder.add_body("sphere", mass=1.0, inertia=1.0, joint=ar.Free())
    force = ar.forces.StokesDrag(viscosity="0.89 mPa s", radius=float(radius))
    builder.add_force(force)
    model = builder.build()
    _, translational, rotational = model.forces[0].coefficients(model)
    # The same numbers act: −β and −β_ω are the forces at unit speeds.
    forces = ar.generalized_forces(model, model.q0, [1.0, 0.0, 0.0, 0.0, 1.0, 0.0], ["damping"])
    assert forces.tolist() == [-translational[0], 0.0, 0.0, 0.0, -rotational[0], 0.0]
    return float(translational[0]), float(rotational[0])


@pytest.mark.parametrize("body", TABLE)
def test_translational_drag_is_that_of_the_tables(body: str) -> None:
    radius, _, _, printed, _ = TABLE[body]
    assert as_printed(coefficients(radius)[0], printed)


@pytest.mark.parametrize("body", TABLE)
def test_rotational_drag_is_that_of_the_tables(body: str) -> None:
    radius, _, _, _, printed = TABLE[body]
    assert as_printed(coefficients(radius)[1], printed)


@pytest.mark.parametrize("body", ["C", "D"])
def test_the_printed_radius_of_c_and_d_does_not_give_their_drag(body: str) -> None:
    """So 1.3 nm is a rounded number, and a case that used it would be 4 % off."""
    translational, rotational = coefficients("1.3e-3")
    assert not as_printed(translational, TABLE[body][3])
    assert not as_printed(rotational, TABLE[body][4])


@pytest.mark.parametrize("body", TABLE)
def test_inertias_are_those_of_spheres(body: str) -> None:
    """A solid sphere's (2/5) m R² for the proteins, a hollow shell's (2/3) m R² for the nanoparticle."""
    radius, mass, printed, _, _ = TABLE[body]
    share = 2.0 / 3.0 if body == "nanoparticle" else 2.0 / 5.0
    inherited = share * 0.5 * printed_digit(mass) * float(radius) ** 2
    assert as_printed(share * float(mass) * float(radius) ** 2, printed, inherited)


def test_drag_is_six_and_eight_pi_eta_r() -> None:
    translational, rotational = coefficients("0.2")
    assert translational == pytest.approx(6.0 * math.pi * 890.0 * 0.2, rel=1e-14)
    assert rotational == pytest.approx(8.0 * math.pi * 890.0 * 0.2**3, rel=1e-14)
