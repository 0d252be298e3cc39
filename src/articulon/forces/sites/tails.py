"""Contribution of pairs beyond the cutoff, for a uniform density there."""

import math
from collections.abc import Sequence

import numpy as np

from articulon.errors import ModelError
from articulon.forces.sites.between import pair_counts
from articulon.forces.sites.site_terms import InBox
from articulon.model import Model
from articulon.model.box import volume_of


def check_tails(model: Model, where: str) -> None:
    """Raises ModelError if the density beyond the cutoff is not uniform."""
    if model.box is None or not model.box.periodic.all():
        raise ModelError(
            f"{where}.tail_correction: needs a box that is periodic in all directions; without one there is no uniform "
            "density beyond the cutoff"
        )


def tails_in_box(model: Model, constant: tuple[float, float]) -> InBox:
    """Return a function of the box: tails, energy and trace of the virial, which scale inversely with the volume."""
    assert model.box is not None
    volume = model.box.volume

    def in_box(edges: np.ndarray) -> tuple[None, tuple[float, float]]:
        s = volume / volume_of(edges)
        return None, (s * constant[0], s * constant[1])

    return in_box


def power_tails(
    model: Model,
    powers: Sequence[tuple[int, np.ndarray]],
    cutoff: float,
    switch_start: float | None = None,
    groups: Sequence[tuple[int, int]] | None = None,
) -> tuple[float, float]:
    """Energy and trace of the virial that the cutoff removes from U = Σ_n c_n/rⁿ, with g(r) = 1 beyond it [energy].

    U_tail = (2π/V) Σ_ab N_a N_b ∫ u_ab r² dr and W_tail = −(2π/V) Σ_ab N_a N_b ∫ u'_ab r³ dr over the omitted part of
    u: all beyond r_c, and a fraction 1 − S between r_s and r_c (Allen and Tildesley, Computer Simulation of Liquids,
    2nd ed., 2.144 to 2.147, for all pairs of kinds). LAMMPS counts pairs in the same way; OpenMM uses N(N + 1)/2 pairs
    of one kind, which differs by 1/N for several kinds.

    Parameters
    ----------
    powers
        Exponent n > 3 and c_n of every ordered pair of kinds [energy lengthⁿ], shape (kinds²,).
    cutoff
        r_c [length].
    switch_start
        r_s, None for a law without a switch [length].
    groups
        Pairs of groups of sites that interact; all by default.
    """
    box = model.box
    assert box is not None
    weight = (2.0 * math.pi / box.volume) * pair_counts(model, groups)
    energy = virial = 0.0
    for n, coefficient in powers:
        total = float(weight @ coefficient)
        beyond = cutoff ** (3 - n) / (n - 3)
        energy += total * beyond
        virial += total * n * beyond
        if switch_start is not None:
            # The integrand is smooth: the error of the quadrature falls below rounding well before 100 points.
            x, w = np.polynomial.legendre.leggauss(100)
            x, w = 0.5 * (x + 1.0), 0.5 * (cutoff - switch_start) * w
            r = switch_start + (cutoff - switch_start) * x
            off = x**3 * (10.0 - x * (15.0 - 6.0 * x))
            slope = 30.0 * (x * (1.0 - x)) ** 2 / (cutoff - switch_start)
            energy += total * float(w @ (off * r ** (2 - n)))
            virial += total * float(w @ (n * off * r ** (2 - n) - slope * r ** (3 - n)))
    return energy, virial
