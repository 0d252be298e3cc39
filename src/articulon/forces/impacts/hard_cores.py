"""Hard cores of sites: spheres with impacts that replace the repulsion A/r¹² of a pair potential.

The size of a core follows from the pair potential: the spheres touch at the distance σ at which U = A/r¹² − B/r⁶ + C/r
crosses zero from above. This is the closest approach of two sites that come from infinity at zero speed. With B alone σ
is (A/B)^(1/6), as in the Lennard-Jones potential. The remaining potential −B/r⁶ + C/r acts outside the core. (S. Guy,
2018, section 5.9, names impacts in place of the repulsion as future work; neither a size nor a restitution is given
there.)
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np

from articulon.errors import ModelError
from articulon.forces.impacts.impacts import check_restitution, within_one
from articulon.model import Model

Law = tuple[float, float, float]


class HardCores(NamedTuple):
    """Pairs of sites with hard cores."""

    pair: np.ndarray
    """Two sites per pair, shape (pairs, 2)."""
    size: np.ndarray
    """Distance at which the cores touch [length], shape (pairs,)."""
    restitution: float
    """Coefficient of restitution e."""
    resting_speed: float
    """Approach speed below which cores come to rest against each other, −1 for never [length/time]."""


NO_CORES = HardCores(np.zeros((0, 2), dtype=np.int64), np.zeros(0), 0.0, -1.0)


def check_core_keys(force: Any) -> None:
    """Raises ValueError for hard-core keys that are out of bounds or that a force of site pairs does not have."""
    within_one(force.core_restitution)
    if force.repulsion == "soft":
        for key, usual in (("core_restitution", 0.0), ("core_resting_speed", None)):
            if getattr(force, key) != usual:
                raise ValueError(f"{key}: applies to hard cores only; set repulsion = 'impact', or leave it out")


def core_size(A: float, B: float, C: float) -> float | None:
    """Distance at which A/r¹² − B/r⁶ + C/r, A > 0, first falls to zero [length]; None if it never does."""
    guesses = [(A / B) ** (1.0 / 6.0)] if B > 0.0 else []
    if C < 0.0:
        guesses.append((A / -C) ** (1.0 / 11.0))
    if not guesses:
        return None
    unit = min(guesses)
    # f(x) = U r¹²/A with r = x times the length unit: 1 at x = 0.
    b, c = B * unit**6 / A, C * unit**11 / A
    roots = np.roots([c, 0.0, 0.0, 0.0, 0.0, -b, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0])
    real = roots.real[(abs(roots.imag) < 1e-9 * abs(roots)) & (roots.real > 0.0)]
    if not real.size:
        return None
    x = float(real.min())
    for _ in range(3):  # to machine precision
        x -= (1.0 - b * x**6 + c * x**11) / (-6.0 * b * x**5 + 11.0 * c * x**10)
    return x * unit if math.isfinite(x) else None


def gather_cores(model: Model, laws: Iterable[tuple[int, int, Law]], force: Any, where: str) -> HardCores:
    """Return the hard cores of site pairs with given law (A, B, C); a pair may occur twice.

    Raises
    ------
    ModelError
        If a repulsion defines no size, if nothing repels, or if the restitution is not in [0, 1].
    """
    check_restitution(float(force.core_restitution), where)
    found: dict[tuple[int, int], float] = {}
    known: dict[Law, float | None] = {}
    for i, j, law in laws:
        # If the parameters are given by kind, σ is declared and does not depend on the charges.
        own = law if force.table else (law[0], law[1], 0.0)
        if own[0] <= 0.0:
            continue
        if own not in known:
            known[own] = core_size(*own)
        size = known[own]
        if size is None:
            one, two = (model.sites.kinds[model.sites.kind[k]] for k in (i, j))
            raise ModelError(
                f"{where}.repulsion: {one} and {two} repel each other at every distance, which defines no hard-core "
                "size; give their law an attraction, leave A out, or set repulsion = 'soft'"
            )
        found[min(int(i), int(j)), max(int(i), int(j))] = size
    if not found:
        raise ModelError(f"{where}.repulsion: no law has a repulsion A for hard cores to replace; set it to 'soft'")
    pairs = sorted(found)
    resting = -1.0 if force.core_resting_speed is None else float(force.core_resting_speed)
    return HardCores(
        np.array(pairs, dtype=np.int64), np.array([found[p] for p in pairs]), float(force.core_restitution), resting
    )


def has_cores(model: Model) -> bool:
    """Whether sites of a model have hard cores."""
    return any(getattr(force, "repulsion", "soft") == "impact" for force in model.forces)


def cores_of(model: Model) -> HardCores:
    """Return the hard cores of a model's sites."""
    for k, force in enumerate(model.forces):
        if getattr(force, "repulsion", "soft") == "impact":
            cores: HardCores = force.hard_cores(model, f"forces[{k}]")
            return cores
    return NO_CORES


def core_classes(model: Model, spheres: np.ndarray, cores: HardCores) -> tuple[np.ndarray, np.ndarray]:
    """Return the classes of spheres (spheres,), which are sites, and the sizes of their cores (classes, classes)."""
    if not cores.size.size:
        return np.zeros(spheres.size, dtype=np.int64), np.zeros((1, 1))
    sites = model.sites
    alike = np.stack([sites.group[spheres], sites.kind[spheres], sites.charge[spheres]], axis=1)
    core = np.unique(alike, axis=0, return_inverse=True)[1].reshape(-1).astype(np.int64)
    place = np.zeros(sites.radius.size, dtype=np.int64)
    place[spheres] = core
    size = np.zeros((int(core.max()) + 1,) * 2)
    one, two = place[cores.pair].T
    size[one, two] = size[two, one] = cores.size
    return core, size
