"""Lists of neighbours that depend on the kinds of two sites, and sums over them, against all pairs one by one."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import articulon as ar
from articulon.forces.sites.site_evaluation import SiteForces
from tests.support.particle_models import box_vectors, particles, scattered

LENGTHS, TILTS = (6.0, 7.0, 6.5), (1.5, -1.0, 2.0)
COUNT, FAR, NEAR = 240, 2.6, 1.4
"""Sites, and the cutoffs of Lennard-Jones forces and of charges."""
WELLS = {"both": (0.6, 1.0), "charge": (0.7, 0.0), "well": (0.65, 0.5), "other": (0.55, 1.4)}
"""σ and ε of each kind: one has charges alone, one a well alone."""


def configuration() -> tuple[np.ndarray, list[str], np.ndarray]:
    rng = np.random.default_rng(5)
    positions = scattered(rng, COUNT, box_vectors(LENGTHS, TILTS), 0.6)
    kinds = [list(WELLS)[k] for k in rng.integers(0, 4, COUNT)]
    charges = np.where([kind == "well" for kind in kinds], 0.0, rng.uniform(-1.0, 1.0, COUNT))
    return positions, kinds, charges


def bonds(positions: np.ndarray) -> tuple[tuple[int, int], ...]:
    """Pairs to leave out: a star, whose middle has many, and pairs far apart and near."""
    return (*((7, k) for k in (8, 50, 90, 130, 170)), (0, 1), (2, 3), (3, 4))


def model_of(*more: Any, near: float = NEAR) -> ar.Model:
    positions, kinds, charges = configuration()
    wells = {kind: {"sigma": s, "epsilon": e} for kind, (s, e) in WELLS.items()}
    laws = (
        ar.forces.LennardJones(parameters=wells, cutoff=FAR),
        ar.forces.Coulomb(cutoff=near, truncation="force-shifted"),
    )
    box = ar.Box(lengths=LENGTHS, tilts=TILTS)
    return particles(positions, *laws, *more, box=box, kinds=kinds, charges=charges)


def pairs() -> tuple[np.ndarray, np.ndarray]:
    """Displacements by nearest images and distances of all pairs, shapes (n, n, 3) and (n, n)."""
    positions, _, _ = configuration()
    edges = box_vectors(LENGTHS, TILTS)
    d = positions[:, None] - positions[None]
    for a in (2, 1, 0):  # as the engine: those of neighbours within half of a width are the shortest
        d = d - np.rint(d[..., a : a + 1] / edges[a, a]) * edges[a]
    r = np.linalg.norm(d, axis=-1)
    np.fill_diagonal(r, np.inf)
    return d, r


def one_by_one(near: float, left_out: tuple[tuple[int, int], ...] = ()) -> tuple[np.ndarray, float]:
    """Forces and energy."""
    _, kinds, charges = configuration()
    d, r = pairs()
    for i, j in left_out:
        r[i, j] = r[j, i] = np.inf
    sigma, epsilon = np.array([WELLS[kind] for kind in kinds]).T
    s, e = 0.5 * (sigma[:, None] + sigma), np.sqrt(epsilon[:, None] * epsilon)
    x6 = (s / r) ** 6
    inside, charged = r < FAR, r < near
    energy = np.where(inside, 4.0 * e * (x6**2 - x6), 0.0)
    slope = np.where(inside, 4.0 * e * (12.0 * x6**2 - 6.0 * x6) / r**2, 0.0)
    qq = charges[:, None] * charges
    energy += np.where(charged, qq * (1.0 / r - 2.0 / near + np.minimum(r, near) / near**2), 0.0)
    slope += np.where(charged, qq * (1.0 / r**2 - 1.0 / near**2) / r, 0.0)
    return (slope[..., None] * d).sum(axis=1), 0.5 * float(energy.sum())


@pytest.mark.parametrize("loop", ["gather", "packed-4", "packed-8"])
@pytest.mark.parametrize("near", [NEAR, 2.8])
def test_sums_are_those_over_all_pairs(loop, near, monkeypatch):
    monkeypatch.setenv("ARTICULON_PAIR_LOOP", loop)
    left_out = bonds(configuration()[0])
    model = model_of(ar.forces.Exclusions(bonds=(), pairs=left_out), near=near)
    sites, x = SiteForces(model), model.q0.reshape(-1, 3)
    forces, energy = one_by_one(near, left_out)
    # Roots and quotients are exact to some units in the last place.
    assert np.abs(sites.evaluate(x) - forces).max() < 1e-12 * np.abs(forces).max()
    assert sites.measure(x)[0] == pytest.approx(energy, rel=1e-12)


def test_lists_hold_what_is_within_the_reach_of_two_kinds_and_no_more():
    left_out = bonds(configuration()[0])
    model = model_of(ar.forces.Exclusions(bonds=(), pairs=left_out))
    sites = SiteForces(model)
    sites.evaluate(model.q0.reshape(-1, 3))
    _, kinds, _ = configuration()
    skin = sites.listing.skin
    parts, lists = sites.system.particles, sites.system.neighbours
    _, r = pairs()
    for i, j in left_out:
        r[i, j] = r[j, i] = np.inf
    well, charge = (np.array([kind != without for kind in kinds]) for without in ("charge", "well"))
    plain, both = well[:, None] & well, charge[:, None] & charge
    reach = np.where(plain, FAR + skin, np.where(both, NEAR + skin, 0.0))
    far, seen = parts.x.size - 1, 0
    for p in range(COUNT):
        row, site = lists.places[p, : lists.number[p]].astype(int), parts.order[p]
        first, rest = row[: lists.first[p]], row[lists.first[p] :]
        named = []
        for part, wanted in ((first, plain[site]), (rest, ~plain[site])):
            part = part[part != far]
            owners = parts.order[np.where(part < COUNT, part, parts.parent[np.maximum(part - COUNT, 0)])]
            assert wanted[owners].all()
            named.extend(owners.tolist())
        # In this box nothing has two images within reach that count.
        assert lists.first[p] % 8 == 0
        assert sorted(set(named)) == np.flatnonzero(r[site] < reach[site]).tolist()
        seen += len(named)
    assert 0 < seen < 0.8 * (r < FAR + skin).sum()


def test_what_is_treated_alike_has_no_sorts():
    positions, _, charges = configuration()
    wells = {"A": {"sigma": 0.6, "epsilon": 1.0}}
    laws = ar.forces.LennardJones(parameters=wells, cutoff=FAR), ar.forces.Coulomb(cutoff=FAR, truncation="shifted")
    box = ar.Box(lengths=LENGTHS, tilts=TILTS)
    assert SiteForces(particles(positions, *laws, box=box, charges=charges)).listing.sorts is None
    assert SiteForces(model_of()).listing.sorts is not None
