"""The generalised Born model: forces and virial are those of its energy, by every way to sum, with the same bits by any
number of threads."""

import numpy as np
import pytest

import articulon as ar
from articulon.forces.sites import generalized_born
from articulon.forces.sites.site_evaluation import SiteForces
from tests.support.threads import on_one_and_two

COUNT = 40
RNG = np.random.default_rng(9)
PLACES = 0.2 * np.stack(np.meshgrid(*3 * [np.arange(4)]), axis=-1).reshape(-1, 3)[:COUNT] + RNG.uniform(
    -0.05, 0.05, (COUNT, 3)
)
CHARGES = RNG.normal(size=COUNT)
RADII, SCALES = RNG.uniform(0.12, 0.19, COUNT), RNG.uniform(0.7, 0.96, COUNT)
# A small site wholly inside the sphere that a large one casts, where the third regime of the integral applies.
RADII[:2], SCALES[:2], PLACES[1] = (0.19, 0.115), 1.0, PLACES[0] + [0.05, 0.02, 0.03]
LAWS = {"lennard-jones": {"parameters": {"A": {"epsilon": 0.1, "sigma": 0.2}}}}


def terms_of(cutoff=None, places=PLACES, others=()):
    builder = ar.ModelBuilder(units="Da-nm-ps")
    count = len(places)
    builder.add_particles(count, mass=1.0, positions=places, kind="A", charge=CHARGES[:count])
    builder.add_force(ar.forces.GeneralizedBorn(radii=RADII[:count], scales=SCALES[:count], cutoff=cutoff))
    for force in others:
        builder.add_force(force)
    return SiteForces(builder.build())


def fourth_order(f, h):
    return (8.0 * (f(h) - f(-h)) - (f(2.0 * h) - f(-2.0 * h))) / (12.0 * h)


@pytest.mark.parametrize("cutoff", [None, 5.0], ids=["all", "listed"])
def test_forces_and_virial_are_derivatives_of_the_energy(cutoff):
    """Fourth order with h = 2e-5 nm of lengths of 0.02 nm: (h/0.02)⁴ = 1e-12, and rounding 1e-16 U/h, 1e-8 of U = 2000;
    forces are some 1e3."""
    terms = terms_of(cutoff)
    forces, measures = terms.evaluate(PLACES), terms.measure(PLACES)
    scale = np.abs(forces).max()
    for s in (0, 1, 2, 17, 39):
        for a in range(3):

            def energy(step, s=s, a=a):
                moved = PLACES.copy()
                moved[s, a] += step
                return terms.measure(moved)[0]

            assert abs(forces[s, a] + fourth_order(energy, 2e-5)) < 1e-9 * scale
    for m, (a, b) in enumerate(((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2))):

        def strained(strain, a=a, b=b):
            moved = PLACES.copy()
            moved[:, a] += strain * moved[:, b]
            return terms.measure(moved)[0]

        assert abs(measures[1 + m] + fourth_order(strained, 1e-5)) < 1e-8 * np.abs(measures[1:7]).max()
    assert np.isnan(measures[7])


def test_every_way_to_sum_is_one_sum(monkeypatch):
    """Lists, gaps for excluded partners, and threads change the order of sums at most."""
    alone = terms_of()
    forces, energy = alone.evaluate(PLACES), alone.measure(PLACES)[0]
    pairs = tuple((i, j) for i in range(COUNT) for j in range(i))
    none = ar.forces.Exclusions(bonds=(), pairs=pairs)
    law = ar.forces.LennardJones(**LAWS["lennard-jones"])
    near = ar.forces.LennardJones(**LAWS["lennard-jones"], cutoff=0.5)
    monkeypatch.setattr(generalized_born, "PARALLEL", 10)
    for terms in (terms_of(), terms_of(5.0, others=(none, near)), terms_of(None, others=(none, law))):
        shift = 0.0 if terms.listing.cutoff != 5.0 else terms_shift()
        np.testing.assert_allclose(terms.evaluate(PLACES), forces, rtol=0.0, atol=1e-11 * np.abs(forces).max())
        assert abs(terms.measure(PLACES)[0] - energy - shift) < 1e-11 * abs(energy)


def terms_shift():
    """K Σ_{i<j} q_i q_j/r_c, which a cutoff adds."""
    builder = ar.ModelBuilder(units="Da-nm-ps")
    builder.add_particles(1, mass=1.0, positions=[[0, 0, 0]], kind="A")
    coupling = builder.build().units.coulomb * (1.0 - 1.0 / 78.5)
    return coupling * 0.5 * (CHARGES.sum() ** 2 - (CHARGES**2).sum()) / 5.0


def test_threads_do_not_change_the_bits(monkeypatch):
    monkeypatch.setattr(generalized_born, "PARALLEL", 10)
    terms = terms_of()
    one, two = on_one_and_two(lambda: terms.evaluate(PLACES))
    np.testing.assert_array_equal(one, two)


def test_one_ion_has_the_energy_of_born():
    """−½ C (1 − 1/ε) q²/(ρ − offset), and 4π a (ρ + p)² (ρ/(ρ − offset))⁶ for its surface."""
    terms = terms_of(places=PLACES[:1])
    model, own = terms.model, RADII[0] - 0.009
    charge = -0.5 * model.units.coulomb * (1.0 - 1.0 / 78.5) * CHARGES[0] ** 2 / own
    surface = 4.0 * np.pi * 2.25936 * (RADII[0] + 0.14) ** 2 * (RADII[0] / own) ** 6
    # A kilojoule per mole is 1 − 3e-10 Da nm²/ps² by the constants of nature.
    assert abs(terms.measure(PLACES[:1])[0] - charge - surface) < 1e-9 * surface
    np.testing.assert_array_equal(terms.evaluate(PLACES[:1]), 0.0)


def test_what_is_not_finite_is_seen():
    terms, lost = terms_of(), PLACES.copy()
    lost[3, 1] = np.nan
    assert np.isnan(terms.measure(lost)[0])
    assert np.isnan(terms.evaluate(lost)).all()


@pytest.mark.parametrize(
    ("given", "box", "message"),
    [
        ({"radii": 0.15, "scales": [0.8, 0.7]}, None, "scales: give one for all or 3, one for each site, not 2"),
        ({"radii": [0.15, 0.009, 0.2], "scales": 0.8}, None, r"radii\[1\]: 0.009 is no more than the offset 0.009"),
        ({"radii": 0.15, "scales": 0.8}, "periodic", "has no periodic images"),
        ({"radii": [0.01, 0.3, 0.3], "scales": 1.0}, None, "too large compared with the smallest"),
    ],
)  # fmt: skip
def test_what_cannot_be_is_refused(given, box, message):
    builder = ar.ModelBuilder(units="Da-nm-ps", box=None if box is None else ar.Box(lengths=(3.0, 3.0, 3.0)))
    builder.add_particles(3, mass=1.0, positions=PLACES[2:5] + 0.1, kind="A", charge=1.0)
    builder.add_force(ar.forces.GeneralizedBorn(**given))
    with pytest.raises(ar.ModelError, match=message):
        SiteForces(builder.build())
