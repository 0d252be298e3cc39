"""Which pairs the sums leave out, and what scaled pairs add."""

import itertools
import math

import numpy as np
import pytest

import articulon as ar
from articulon.forces.sites.exclusions import exclusion_table, scaled_pairs
from articulon.forces.sites.site_evaluation import SiteForces

RNG = np.random.default_rng(1)
# A ring of six with a tail of four, and two sites that are free.
BONDS = [(k, (k + 1) % 6) for k in range(6)] + [(2, 6), (6, 7), (7, 8), (8, 9)]
PLACES = np.cumsum(RNG.normal(0.0, 0.6, (12, 3)) + [0.4, 0.3, 0.2], axis=0)
CHARGES = np.linspace(-1.0, 1.5, 12)
WELL = {"A": {"epsilon": 0.3, "sigma": 0.9}, "B": {"epsilon": 0.5, "sigma": 0.8}}


def model_of(*forces, box=None, places=PLACES):
    builder = ar.ModelBuilder(units="lj", box=box)
    builder.add_particles(12, mass=1.0, positions=places, kind=["A", "B", "B"] * 4, charge=CHARGES)
    for force in forces:
        builder.add_force(force)
    return builder.build()


def excluded(model):
    """As a set of pairs, smaller first; each must stand in the rows of both."""
    start, partners = exclusion_table(model)
    rows = np.repeat(np.arange(start.size - 1), np.diff(start))
    both = set(zip(rows.tolist(), partners.tolist(), strict=True))
    assert both == {(j, i) for i, j in both}
    assert all((np.diff(partners[a:b]) > 0).all() for a, b in itertools.pairwise(start))
    return {(i, j) for i, j in both if i < j}


def apart(bonds, sites=12):
    """Number of bonds between all pairs, by walking."""
    distance = np.full((sites, sites), 99)
    np.fill_diagonal(distance, 0)
    for i, j in bonds:
        distance[i, j] = distance[j, i] = 1
    for k in range(sites):
        distance = np.minimum(distance, distance[:, k : k + 1] + distance[k])
    return distance


def pairs_where(mask):
    return {(i, j) for i, j in np.argwhere(mask).tolist() if i < j}


@pytest.mark.parametrize("depth", [0, 1, 2, 3])
def test_pairs_near_by_bonds_are_left_out(depth):
    """Against shortest paths; ring members are near both ways round."""
    model = model_of(ar.forces.Exclusions(bonds=BONDS, bonds_apart=depth, pairs=[(10, 11), (5, 0)]))
    distance = apart(BONDS)
    assert excluded(model) == pairs_where((distance > 0) & (distance <= depth)) | {(10, 11), (0, 5)}


def test_bonds_are_those_declared_as_forces_unless_given():
    bonds = ar.forces.HarmonicBonds(bonds=BONDS[:6], stiffness=1.0, length=1.0)
    fene = ar.forces.FeneBonds(bonds=BONDS[6:], stiffness=1.0, extent=9.0)
    assert excluded(model_of(bonds, fene, ar.forces.Exclusions())) == pairs_where(
        (apart(BONDS) > 0) & (apart(BONDS) < 3)
    )
    assert not excluded(model_of(bonds, fene))
    given = ar.forces.Exclusions(bonds=[(0, 1)])
    assert excluded(model_of(bonds, fene, given)) == {(0, 1)}


def test_scaled_pairs_are_three_bonds_apart_and_no_nearer():
    """Pairs left out for another reason are not among them; the sums leave them out too."""
    model = model_of(ar.forces.Exclusions(bonds=BONDS, scaled_14={"coulomb": 0.5}, pairs=[(9, 6)]))
    distance = apart(BONDS)
    expected = pairs_where(distance == 3) - {(6, 9)}
    assert set(map(tuple, scaled_pairs(model).tolist())) == expected
    assert excluded(model) == pairs_where((distance > 0) & (distance <= 3))


def test_sites_of_one_body_and_of_near_bodies():
    """A chain of three bodies by joints, one welded to the first, and a body that floats: sites of one link never
    meet, and ``excluded_joints`` counts the joints that bind."""
    builder = ar.ModelBuilder(units="lj")
    hinge = ar.Revolute(axis=(0, 0, 1))
    one = builder.add_body("one", mass=1.0, inertia=1.0, joint=ar.Free())
    welded = builder.add_body("welded", mass=1.0, inertia=1.0, joint=ar.Weld(), parent=one)
    two = builder.add_body("two", mass=1.0, inertia=1.0, joint=hinge, parent=one, position=(1, 0, 0))
    three = builder.add_body("three", mass=1.0, inertia=1.0, joint=hinge, parent=two, position=(1, 0, 0))
    other = builder.add_body("other", mass=1.0, inertia=1.0, joint=ar.Free())
    for body in (one, two, three, other, welded, one, None, None):
        builder.add_site(body, kind="A")
    none = builder.build()
    own = {(0, 4), (0, 5), (4, 5), (6, 7)}
    assert excluded(none) == own
    builder.add_force(ar.forces.Exclusions(excluded_joints=1))
    assert excluded(builder.build()) == own | {(0, 1), (1, 4), (1, 5), (1, 2)}


def lennard_jones(i, j, places=PLACES):
    one, two = (WELL["ABB"[k % 3]] for k in (i, j))
    s6 = (0.5 * (one["sigma"] + two["sigma"]) / np.linalg.norm(places[i] - places[j])) ** 6
    return 4.0 * math.sqrt(one["epsilon"] * two["epsilon"]) * (s6 * s6 - s6)


def coulomb(i, j, places=PLACES):
    return CHARGES[i] * CHARGES[j] / np.linalg.norm(places[i] - places[j])


FACTORS = {"lennard_jones": 0.5, "coulomb": 0.8333}


@pytest.mark.parametrize("cut", [False, True])
def test_energy_is_the_sum_over_pairs_by_their_factors(cut):
    """Nearer than three bonds nothing, at three the law without its cutoff times its factor, beyond all of it."""
    box = ar.Box(lengths=(40.0, 40.0, 40.0)) if cut else None
    ends = {"cutoff": 2.0, "truncation": "shifted"} if cut else {}
    model = model_of(
        ar.forces.LennardJones(parameters=WELL, **ends),
        ar.forces.Coulomb(**ends),
        ar.forces.Exclusions(bonds=BONDS, scaled_14=FACTORS),
        box=box,
    )
    distance, expected = apart(BONDS), 0.0
    for i, j in itertools.combinations(range(12), 2):
        r = np.linalg.norm(PLACES[i] - PLACES[j])
        if distance[i, j] == 3:
            expected += 0.5 * lennard_jones(i, j) + 0.8333 * coulomb(i, j)
        elif distance[i, j] > 3 and (not cut or r < 2.0):
            at = PLACES.copy()
            at[j] = PLACES[i] + (PLACES[j] - PLACES[i]) * 2.0 / r
            shift = lennard_jones(i, j, at) + coulomb(i, j, at) if cut else 0.0
            expected += lennard_jones(i, j) + coulomb(i, j) - shift
    assert math.isclose(SiteForces(model).measure(PLACES)[0], expected, rel_tol=1e-12)


SCALED = {
    "lennard-jones": ar.forces.LennardJones(parameters=WELL, cutoff=0.01),
    "twelve-six": ar.forces.TwelveSix(
        table=[{"kinds": k, "A": 0.4, "B": 0.3, "C": 0.8} for k in (("A", "A"), ("A", "B"), ("B", "B"))], cutoff=0.01
    ),
    "coulomb": ar.forces.Coulomb(cutoff=0.01, truncation="shifted"),
    "morse": ar.forces.Morse(parameters={k: {"depth": 1.0, "width": 2.0, "distance": 1.5} for k in "AB"}, cutoff=0.01),
    "wca": ar.forces.WeeksChandlerAndersen(parameters={k: {"epsilon": 1.0, "sigma": 3.3} for k in "AB"}),
}


@pytest.mark.parametrize("name", SCALED)
def test_scaled_pairs_have_the_derivatives_of_their_energy(name):
    """With a cutoff so short that nothing else acts (WCA keeps its own): differences of fourth order, h = 1e-3."""
    bonds = [(0, 1), (1, 2), (2, 3), (4, 5), (5, 6), (6, 7)]
    rest = [(i, j) for i, j in itertools.combinations(range(12), 2) if (i, j) not in ((0, 3), (4, 7))]
    scaled = ar.forces.Exclusions(bonds=bonds, scaled_14=FACTORS, pairs=rest)
    box = ar.Box(lengths=(14.0, 14.0, 14.0), tilts=(2.0, 1.0, -3.0))
    terms = SiteForces(model_of(SCALED[name], scaled, box=box))
    forces, measures = terms.evaluate(PLACES), terms.measure(PLACES)
    laplacian, h = 0.0, 1e-3
    for s, a in itertools.product(range(8), range(3)):
        energies = []
        for step in (-2 * h, -h, 0.0, h, 2 * h):
            moved = PLACES.copy()
            moved[s, a] += step
            energies.append(terms.measure(moved)[0])
        m2, m1, e, p1, p2 = energies
        assert abs(forces[s, a] + (8.0 * (p1 - m1) - (p2 - m2)) / (12.0 * h)) < 1e-9 * (1.0 + abs(forces[s, a]))
        laplacian += (16.0 * (p1 + m1) - (p2 + m2) - 30.0 * e) / (12.0 * h * h)
    assert np.abs(forces).max() > 1e-3
    assert abs(measures[7] - laplacian) < 1e-6 * (1.0 + abs(laplacian))
    virial = np.einsum("sa,sb->ab", forces[[0, 4]], PLACES[[0, 4]] - PLACES[[3, 7]])
    np.testing.assert_allclose(measures[1:7], virial[[0, 1, 2, 0, 0, 1], [0, 1, 2, 1, 2, 2]], rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"pairs": [(0, 12)]}, r"pairs\[0\]: there is no site 12"),
        ({"bonds": [(0, 1), (3, 3)]}, r"bonds\[1\]: a site is listed twice"),
        ({}, "nothing is excluded"),
        ({"scaled_14": FACTORS}, "scaled_14: there are no bonds"),
        ({"bonds": BONDS, "scaled_14": FACTORS, "bonds_apart": 3}, "requires bonds_apart = 2"),
        ({"bonds": BONDS, "scaled_14": {"lennard-jones": 0.5}}, "scaled_14.lennard-jones: unknown key; did you mean"),
    ],
)
def test_what_cannot_be_is_refused_by_name(fields, message):
    with pytest.raises(ar.ModelError, match=message):
        model_of(ar.forces.Exclusions(**fields))


def test_exclusions_are_declared_once():
    with pytest.raises(ar.ModelError, match="declared twice"):
        model_of(ar.forces.Exclusions(pairs=[(0, 1)]), ar.forces.Exclusions(pairs=[(0, 2)]))


def test_a_law_that_ends_keeps_its_end_beside_one_that_does_not():
    """Charges without a cutoff, and Lennard-Jones cut at 1.5, in open space."""
    model = model_of(ar.forces.LennardJones(parameters=WELL, cutoff=1.5), ar.forces.Coulomb())
    expected = 0.0
    for i, j in itertools.combinations(range(12), 2):
        expected += coulomb(i, j)
        if np.linalg.norm(PLACES[i] - PLACES[j]) < 1.5:
            expected += lennard_jones(i, j)
    assert math.isclose(SiteForces(model).measure(PLACES)[0], expected, rel_tol=1e-12)
