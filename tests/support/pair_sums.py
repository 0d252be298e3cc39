"""Energies, forces, virials and Laplacians of pair potentials by looking at every pair: slow, short and independent.

A potential here is a function of distance that returns U, U' and U''. What a cutoff does to it is written once, for all
of them, from the definitions; nothing is shared with the engine.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from typing import NamedTuple

import numpy as np
from scipy.special import erfc

Triple = tuple[np.ndarray, np.ndarray, np.ndarray]
Potential = Callable[[np.ndarray], Triple]


class Sums(NamedTuple):
    """What a configuration adds up to."""

    energy: float
    forces: np.ndarray
    """Shape (n, 3)."""
    virial: np.ndarray
    """W_ab = Σ F_a r_b, shape (3, 3)."""
    laplacian: float
    """Σ_i ∇_i² U."""

    def __add__(self, other: object) -> Sums:
        assert isinstance(other, Sums)
        return Sums(*(a + b for a, b in zip(self, other, strict=True)))


class Pairs(NamedTuple):
    """Pairs of sites within reach of each other, each once."""

    first: np.ndarray
    second: np.ndarray
    separation: np.ndarray
    """r_first − r_second of the images that meet, shape (pairs, 3)."""


# Potentials


def twelve_six(A: np.ndarray | float, B: np.ndarray | float, C: np.ndarray | float = 0.0) -> Potential:
    """A/r¹² − B/r⁶ + C/r."""

    def law(r: np.ndarray) -> Triple:
        return (
            A / r**12 - B / r**6 + C / r,
            -12 * A / r**13 + 6 * B / r**7 - C / r**2,
            156 * A / r**14 - 42 * B / r**8 + 2 * C / r**3,
        )

    return law


def lennard_jones(epsilon: np.ndarray | float, sigma: np.ndarray | float) -> Potential:
    """4ε((σ/r)¹² − (σ/r)⁶)."""
    return twelve_six(4 * epsilon * sigma**12, 4 * epsilon * sigma**6)


def coulomb(product_of_charges: np.ndarray | float) -> Potential:
    """Qq/r."""
    return twelve_six(0.0, 0.0, product_of_charges)


def damped_coulomb(product_of_charges: np.ndarray | float, alpha: float) -> Potential:
    """``Qq erfc(αr)/r``."""

    def law(r: np.ndarray) -> Triple:
        qq = product_of_charges
        c, g = erfc(alpha * r), 2 * alpha / np.sqrt(np.pi) * np.exp(-((alpha * r) ** 2))
        return qq * c / r, -qq * (c / r**2 + g / r), qq * (2 * c / r**3 + 2 * g / r**2 + 2 * alpha**2 * g)

    return law


def reaction_field(product_of_charges: np.ndarray | float, cutoff: float, permittivity: float) -> Potential:
    """Qq(1/r + k r² − c), with k = (ε − 1)/((2ε + 1) r_c³) and c = 3ε/((2ε + 1) r_c) (Tironi et al. 1995)."""
    inverse = 0.0 if np.isinf(permittivity) else 1 / permittivity
    k = (1 - inverse) / (2 + inverse) / cutoff**3
    c = 3 / (2 + inverse) / cutoff

    def law(r: np.ndarray) -> Triple:
        qq = product_of_charges
        return qq * (1 / r + k * r**2 - c), qq * (2 * k * r - 1 / r**2), qq * (2 * k + 2 / r**3)

    return law


def morse(depth: np.ndarray | float, width: np.ndarray | float, distance: np.ndarray | float) -> Potential:
    """D(e^{−2a(r−r₀)} − 2e^{−a(r−r₀)})."""

    def law(r: np.ndarray) -> Triple:
        e = np.exp(-width * (r - distance))
        return (
            depth * (e * e - 2 * e),
            -2 * depth * width * (e * e - e),
            2 * depth * width**2 * (2 * e * e - e),
        )

    return law


# What becomes of them at a cutoff; beyond it all are zero


def shifted(law: Potential, cutoff: np.ndarray | float) -> Potential:
    """U(r) − U(r_c)."""

    def changed(r: np.ndarray) -> Triple:
        u, du, ddu = law(r)
        return u - law(cutoff + 0 * r)[0], du, ddu

    return changed


def force_shifted(law: Potential, cutoff: np.ndarray | float) -> Potential:
    """U(r) − U(r_c) − (r − r_c)U'(r_c)."""

    def changed(r: np.ndarray) -> Triple:
        u, du, ddu = law(r)
        end, slope, _ = law(cutoff + 0 * r)
        return u - end - (r - cutoff) * slope, du - slope, ddu

    return changed


def switched(law: Potential, start: float, cutoff: np.ndarray | float) -> Potential:
    """S(x)U with S = 1 − 10x³ + 15x⁴ − 6x⁵, x = (r − r_s)/(r_c − r_s) from r_s on."""

    def changed(r: np.ndarray) -> Triple:
        u, du, ddu = law(r)
        width = cutoff - start
        x = np.maximum(0.0, (r - start) / width)
        s = 1 - 10 * x**3 + 15 * x**4 - 6 * x**5
        ds = (-30 * x**2 + 60 * x**3 - 30 * x**4) / width
        dds = (-60 * x + 180 * x**2 - 120 * x**3) / width**2
        return s * u, ds * u + s * du, dds * u + 2 * ds * du + s * ddu

    return changed


# Sums


def pairs_within(
    positions: np.ndarray,
    reach: float,
    vectors: np.ndarray | None = None,
    periodic: tuple[bool, bool, bool] = (True, True, True),
    excluded: set[tuple[int, int]] | None = None,
) -> Pairs:
    """Every pair, image by image, that is nearer than ``reach``.

    No site may meet two images of another, or its own: that is asserted.
    """
    n = len(positions)
    first, second = np.triu_indices(n, 1)
    if excluded:
        keep = np.array([(int(i), int(j)) not in excluded for i, j in zip(first, second, strict=True)])
        first, second = first[keep], second[keep]
    separation = positions[first] - positions[second]
    if vectors is not None:
        free = np.array(periodic)
        turns = np.rint(separation @ np.linalg.inv(vectors)) * free
        separation = separation - turns @ vectors
    shifts = [(0, 0, 0)]
    if vectors is not None:
        shifts = [s for s in product((-1, 0, 1), repeat=3) if all(f or not k for f, k in zip(periodic, s, strict=True))]
    found: list[tuple[np.ndarray, np.ndarray, np.ndarray]] = []
    for shift in shifts:
        moved = separation if vectors is None else separation + np.array(shift) @ vectors
        near = (moved**2).sum(axis=1) < reach**2
        found.append((first[near], second[near], moved[near]))
    i, j, d = (np.concatenate(column) for column in zip(*found, strict=True))
    assert np.unique(i * n + j).size == i.size, "a site meets two images of another; shorten the cutoff"
    return Pairs(i, j, d)


def pair_sums(n: int, pairs: Pairs, law: Potential, cutoff: np.ndarray | float = np.inf) -> Sums:
    """The sums of a potential whose parameters, and cutoff, may be arrays over the pairs."""
    r = np.sqrt((pairs.separation**2).sum(axis=1))
    inside = r < cutoff
    u, du, ddu = (np.where(inside, value, 0.0) for value in law(r))
    pull = -(du / r)[:, None] * pairs.separation
    forces = np.zeros((n, 3))
    np.add.at(forces, pairs.first, pull)
    np.add.at(forces, pairs.second, -pull)
    return Sums(u.sum(), forces, pull.T @ pairs.separation, 2 * (ddu + 2 * du / r).sum())


# Motion


def nearest_images(
    separation: np.ndarray, vectors: np.ndarray | None, periodic: tuple[bool, bool, bool] = (True, True, True)
) -> np.ndarray:
    """Separations less whole edges, last edge first: right for all nearer than half of the smallest width."""
    if vectors is None:
        return separation
    result = separation.copy()
    for axis in (2, 1, 0):
        if periodic[axis]:
            result -= np.rint(result[:, axis : axis + 1] / vectors[axis, axis]) * vectors[axis]
    return result


def verlet_trajectory(
    positions: np.ndarray,
    velocities: np.ndarray,
    law: Potential,
    cutoff: float,
    step: float,
    steps: int,
    vectors: np.ndarray | None = None,
    periodic: tuple[bool, bool, bool] = (True, True, True),
) -> tuple[np.ndarray, np.ndarray]:
    """Positions (steps + 1, n, 3) and velocities after each step of velocity Verlet with unit masses and every pair."""
    n = len(positions)
    first, second = np.triu_indices(n, 1)

    def forces(x: np.ndarray) -> np.ndarray:
        separation = nearest_images(x[first] - x[second], vectors, periodic)
        near = np.flatnonzero((separation**2).sum(axis=1) < cutoff**2)
        i, j, d = first[near], second[near], separation[near]
        r = np.sqrt((d**2).sum(axis=1))
        pull = -(law(r)[1] / r)[:, None] * d
        result = np.zeros_like(x)
        for axis in range(3):
            result[:, axis] += np.bincount(i, pull[:, axis], n) - np.bincount(j, pull[:, axis], n)
        return result

    x, v = np.array(positions), np.array(velocities)
    found = [(x.copy(), v.copy())]
    force = forces(x)
    for _ in range(steps):
        v += 0.5 * step * force
        x += step * v
        force = forces(x)
        v += 0.5 * step * force
        found.append((x.copy(), v.copy()))
    return np.array([pair[0] for pair in found]), np.array([pair[1] for pair in found])
