"""Sums over all pairs that meet each pair once: the forces of a plain sum, by any number of sites and threads."""

from __future__ import annotations

import numpy as np
import pytest

import articulon as ar
from articulon.forces.sites import generalized_born, site_evaluation
from articulon.forces.sites.pairs_once import BLOCK, MOST_SHARES
from articulon.forces.sites.site_evaluation import SiteForces
from articulon.lanes import WIDTH
from tests.support.threads import on_one_and_two

WELLS, LENGTHS = np.array([0.2, 0.5, 1.1]), np.array([0.20, 0.24, 0.28])
"""Of three kinds [kJ/mol, nm]."""
COUNTS = (1, 2, WIDTH - 1, WIDTH, WIDTH + 1, BLOCK, BLOCK + 1, 3 * BLOCK - 5)


def places(count: int) -> np.ndarray:
    """Some sites, none nearer than 0.15 nm to another."""
    edge = int(np.ceil(count ** (1.0 / 3.0)))
    grid = np.stack(np.meshgrid(*3 * [np.arange(edge)]), axis=-1).reshape(-1, 3)[:count]
    return 0.25 * grid + np.random.default_rng(count).uniform(-0.05, 0.05, (count, 3))


def drawn(count: int) -> tuple[np.ndarray, np.ndarray, list[tuple[int, int]]]:
    """Kinds and charges of the sites, and pairs that are excluded: next to each other, and across groups and blocks."""
    rng = np.random.default_rng(count + 1)
    pairs = {tuple(sorted(pair)) for pair in rng.integers(0, count, (2 * count, 2)).tolist() if pair[0] != pair[1]}
    pairs |= {(i, i + 1) for i in range(0, count - 1, 3)}
    return rng.integers(0, 3, count), rng.normal(size=count), sorted(pairs)


def built(count: int, kinds: bool, charged: bool) -> SiteForces:
    kind, charge, pairs = drawn(count)
    builder = ar.ModelBuilder(units="Da-nm-ps")
    names = [f"K{k}" for k in kind] if kinds else ["K0"] * count
    builder.add_particles(count, mass=1.0, positions=places(count), kind=names, charge=charge if charged else 0.0)
    used = sorted(set(names))
    table = {name: {"epsilon": WELLS[int(name[1])], "sigma": LENGTHS[int(name[1])]} for name in used}
    builder.add_force(ar.forces.LennardJones(parameters=table))
    if charged:
        builder.add_force(ar.forces.Coulomb())
    if pairs:
        builder.add_force(ar.forces.Exclusions(pairs=pairs))
    return SiteForces(builder.build())


def plain_sum(count: int, kinds: bool, charged: bool, coulomb: float) -> np.ndarray:
    kind, charge, pairs = drawn(count)
    kind = kind if kinds else np.zeros(count, dtype=int)
    x = places(count)
    d = x[:, None] - x[None, :]
    r2 = (d * d).sum(axis=2) + np.eye(count)
    sigma = 0.5 * (LENGTHS[kind][:, None] + LENGTHS[kind][None, :])
    epsilon = np.sqrt(WELLS[kind][:, None] * WELLS[kind][None, :])
    s6 = sigma**6 / r2**3
    f = epsilon * (48.0 * s6 * s6 - 24.0 * s6) / r2
    if charged:
        f += coulomb * charge[:, None] * charge[None, :] / r2**1.5
    f[np.eye(count, dtype=bool)] = 0.0
    for a, b in pairs:
        f[a, b] = f[b, a] = 0.0
    found: np.ndarray = (f[:, :, None] * d).sum(axis=1)
    return found


@pytest.mark.parametrize("count", COUNTS)
@pytest.mark.parametrize("charged", [False, True], ids=["neutral", "charged"])
@pytest.mark.parametrize("kinds", [False, True], ids=["one", "three"])
def test_forces_are_those_of_a_plain_sum(kinds: bool, charged: bool, count: int) -> None:
    terms = built(count, kinds, charged)
    expected = plain_sum(count, kinds, charged, terms.model.units.coulomb)
    found = terms.evaluate(places(count))
    # A sum of n terms of one size: n roundings, and some ten in each term.
    assert np.abs(found - expected).max() <= 1e-15 * (count + 30) * max(np.abs(expected).max(), 1e-30)
    assert (built(count, kinds, charged).another().evaluate(places(count)) == found).all()


def born(count: int, cutoff: float | None) -> SiteForces:
    rng = np.random.default_rng(count)
    builder = ar.ModelBuilder(units="Da-nm-ps")
    charge = rng.normal(size=count)
    builder.add_particles(count, mass=1.0, positions=places(count), kind="A", charge=charge)
    radii, scales = rng.uniform(0.12, 0.19, count), rng.uniform(0.7, 0.96, count)
    builder.add_force(ar.forces.GeneralizedBorn(radii=radii, scales=scales, cutoff=cutoff))
    return SiteForces(builder.build())


@pytest.mark.parametrize("count", COUNTS)
def test_born_forces_are_those_of_listed_pairs(count: int) -> None:
    """With a cutoff beyond all pairs, whose shift of the energy no force knows of."""
    found, expected = born(count, None).evaluate(places(count)), born(count, 40.0).evaluate(places(count))
    # Polynomials and quotients to some ten roundings, and sums of n terms.
    assert np.abs(found - expected).max() <= 1e-15 * (count + 300) * max(np.abs(expected).max(), 1e-30)


def test_more_blocks_than_shares_and_any_number_of_threads_give_the_same_bits(monkeypatch: pytest.MonkeyPatch) -> None:
    count = BLOCK * MOST_SHARES + BLOCK + 3
    x = places(count)

    def forces() -> np.ndarray:
        return built(count, True, True).evaluate(x) + born(count, None).evaluate(x)

    one, two = on_one_and_two(forces)
    assert (one == two).all()
    monkeypatch.setattr(site_evaluation, "PARALLEL_ALL", 10**9)
    monkeypatch.setattr(generalized_born, "PARALLEL", 10**9)
    assert (forces() == one).all()  # a kernel without threads
    monkeypatch.undo()
    expected = plain_sum(count, True, True, built(2, True, True).model.units.coulomb)
    found = built(count, True, True).evaluate(x)
    assert np.abs(found - expected).max() <= 1e-15 * count * np.abs(expected).max()


def test_a_position_that_is_no_number_is_not_hidden() -> None:
    x = places(30)
    x[11, 2] = np.nan
    for terms in (built(30, True, True), born(30, None)):
        assert np.isnan(terms.evaluate(x)).any()


def test_pairs_without_a_cutoff_are_met_once_and_others_are_not() -> None:
    assert any("forces_of_pairs" in one.__name__ for one in built(9, True, True).forces)
    builder = ar.ModelBuilder(units="Da-nm-ps")
    builder.add_particles(9, mass=1.0, positions=places(9), kind="A")
    builder.add_force(ar.forces.Morse(parameters={"A": {"depth": 1.0, "width": 10.0, "distance": 0.2}}))
    assert not any("forces_of_pairs" in one.__name__ for one in SiteForces(builder.build()).forces)
