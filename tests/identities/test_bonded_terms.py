"""Bonds, angles, dihedrals and walls: forces, virials and Laplacians are those of their energies."""

import math

import numpy as np
import pytest

import articulon as ar
from articulon.forces.sites.correction_maps import patches
from articulon.forces.sites.site_evaluation import SiteForces

LENGTH = 12.0
RNG = np.random.default_rng(4)
# Two crooked chains of five, one of which crosses the upper faces of the box.
CHAIN = np.cumsum(RNG.normal(0.0, 0.55, (5, 3)) + [0.35, 0.2, 0.3], axis=0)
PLACES = np.concatenate([CHAIN + 2.0, CHAIN[::-1] * [1.0, -1.0, 1.0] + [11.0, 11.5, 10.5]])
BONDS = [(0, 1), (1, 2), (2, 3), (3, 4), (5, 6), (6, 7), (7, 8), (9, 8)]
ANGLES = [(0, 1, 2), (4, 3, 2), (5, 6, 7), (6, 7, 8)]
DIHEDRALS = [(0, 1, 2, 3), (1, 2, 3, 4), (9, 8, 7, 6)]
WALLS = {"parameters": {"A": {"epsilon": 0.7, "sigma": 1.3}, "B": {"epsilon": 0.4, "sigma": 1.0}}}

TERMS = {
    "harmonic bonds": ar.forces.HarmonicBonds(bonds=BONDS, stiffness=np.linspace(1.0, 2.0, 8), length=0.9),
    "fene bonds": ar.forces.FeneBonds(bonds=BONDS, stiffness=3.0, extent=2.5),
    "fene bonds that repel": ar.forces.FeneBonds(bonds=BONDS, stiffness=3.0, extent=2.5, epsilon=1.0, sigma=0.8),
    "harmonic angles": ar.forces.HarmonicAngles(angles=ANGLES, stiffness=2.0, angle=[1.9, 2.0, math.pi, 0.3]),
    "cosine angles": ar.forces.CosineAngles(angles=ANGLES, stiffness=[2.0, -1.0, 0.7, 3.0]),
    "periodic dihedrals": ar.forces.PeriodicDihedrals(
        dihedrals=DIHEDRALS, stiffness=[1.0, -0.4, 0.7], multiplicity=[1, 2, 3], phase=0.4
    ),
    "harmonic dihedrals": ar.forces.HarmonicDihedrals(dihedrals=DIHEDRALS, stiffness=1.5, angle=[3.1, -1.0, 0.5]),
    "listed pairs": ar.forces.ListedPairs(pairs=BONDS, epsilon=np.linspace(0.1, 0.8, 8), sigma=0.6, charges=0.5),
    "correction maps": ar.forces.CorrectionMaps(
        maps=[RNG.normal(size=(6, 6)), RNG.normal(size=(8, 8))],
        first=[(0, 1, 2, 3), (5, 6, 7, 8)],
        second=[(1, 2, 3, 4), (9, 8, 7, 6)],
        map=[1, 0],
    ),
    "walls": ar.forces.LennardJonesWall(**WALLS),
    "smooth walls": ar.forces.LennardJonesWall(**WALLS, cutoff=3.0, truncation="switched", switch_start=2.0),
    "two walls": ar.forces.LennardJonesWall(**WALLS, faces=("y+", "x-"), cutoff=6.0, truncation="force-shifted"),
}


def model_of(*forces, places=PLACES, box=None):
    builder = ar.ModelBuilder(units="lj", box=box)
    builder.add_particles(len(places), mass=1.0, positions=places, kind=["A", "B"] * (len(places) // 2))
    for force in forces:
        builder.add_force(force)
    return builder.build()


def terms_of(name, boundary="open", scale=1.0, tilts=(0.0, 0.0, 0.0)):
    walls = "walls" in name
    origin = (-9.0, -9.0, -9.0) if walls else (0.0, 0.0, 0.0)
    box = ar.Box(
        lengths=(scale * (30.0 if walls else LENGTH),) * 3,
        boundaries=(boundary,) * 3,
        tilts=tilts,
        origin=tuple(scale * x for x in origin),
    )
    return SiteForces(model_of(TERMS[name], box=box, places=scale * PLACES))


def fourth_order(f, h):
    """df/dx and d²f/dx² at 0 by central differences of fourth order."""
    m2, m1, p1, p2 = f(-2 * h), f(-h), f(h), f(2 * h)
    return (8.0 * (p1 - m1) - (p2 - m2)) / (12.0 * h), (16.0 * (p1 + m1) - (p2 + m2) - 30.0 * f(0.0)) / (12.0 * h * h)


@pytest.mark.parametrize("name", TERMS)
def test_forces_and_laplacian_are_derivatives_of_the_energy(name):
    """Differences of fourth order with h = 5e-4: (h/r)⁴ U⁽⁵⁾ r⁴/30, 5e-10 of U' for r⁻¹² at 0.65, and rounding ε/h² of
    U, 1e-9."""
    terms = terms_of(name)
    forces, measures = terms.evaluate(PLACES), terms.measure(PLACES)
    laplacian = 0.0
    for s in range(len(PLACES)):
        for a in range(3):

            def energy(step, s=s, a=a):
                moved = PLACES.copy()
                moved[s, a] += step
                return terms.measure(moved)[0]

            slope, curvature = fourth_order(energy, 5e-4)
            laplacian += curvature
            assert abs(forces[s, a] + slope) < 2e-9 * (1.0 + abs(slope))
    assert abs(measures[7] - laplacian) < 1e-6 * (1.0 + abs(laplacian))


@pytest.mark.parametrize("name", [name for name in TERMS if "walls" not in name])
def test_virial_is_the_answer_to_strain(name):
    """W_ab = −dE/dε_ab for x_a → x_a + ε x_b, and the same in a box through whose faces the chain goes."""
    terms = terms_of(name)
    measures = terms.measure(PLACES)
    for m, (a, b) in enumerate(((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2))):

        def energy(strain, a=a, b=b):
            moved = PLACES.copy()
            moved[:, a] += strain * moved[:, b]
            return terms.measure(moved)[0]

        assert abs(measures[1 + m] + fourth_order(energy, 1e-3)[0]) < 1e-8 * (1.0 + abs(measures[1 + m]))
    for tilts in ((0.0, 0.0, 0.0), (3.0, -2.0, 1.0)):
        periodic = terms_of(name, "periodic", tilts=tilts)
        np.testing.assert_allclose(periodic.measure(PLACES), measures, rtol=1e-12, atol=1e-12)
        np.testing.assert_allclose(periodic.evaluate(PLACES), terms.evaluate(PLACES), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("name", [name for name in TERMS if "walls" in name])
def test_virial_of_walls_is_the_answer_to_a_box_that_grows(name):
    """tr W = −dE/d ln λ for box and positions times λ."""

    def energy(strain):
        return terms_of(name, scale=1.0 + strain).measure((1.0 + strain) * PLACES)[0]

    measures = terms_of(name).measure(PLACES)
    assert abs(measures[1:4].sum() + fourth_order(energy, 1e-3)[0]) < 1e-8 * (1.0 + abs(measures[1:4].sum()))


def test_walls_of_a_tilted_box_are_its_faces():
    """The distance to a face is along its normal; periodic edges lie in the faces, so that images are as far."""
    box = ar.Box(lengths=(9.0, 8.0, 7.0), tilts=(2.0, -1.0, 3.0), boundaries=("periodic", "open", "periodic"))
    wall = ar.forces.LennardJonesWall(parameters={"A": {"epsilon": 1.0, "sigma": 1.0}})
    builder = ar.ModelBuilder(units="lj", box=box)
    builder.add_particles(2, mass=1.0, positions=[[4.0, 4.0, 3.0], [4.0 - 9.0 + 1.0, 4.0 - 3.0, 3.0 - 7.0]], kind="A")
    builder.add_force(wall)
    terms = SiteForces(builder.build())
    normal = np.cross(box.vectors[2], box.vectors[0])
    normal /= np.linalg.norm(normal)
    d = np.array([normal @ [4.0, 4.0, 3.0], normal @ (box.vectors[1] - [4.0, 4.0, 3.0])])
    positions = np.array([[4.0, 4.0, 3.0], [-4.0, 1.0, -4.0]])
    assert math.isclose(terms.measure(positions)[0], 2.0 * np.sum(4.0 * (d**-12 - d**-6)), rel_tol=1e-12)
    f = 24.0 * (2.0 * d**-13 - d**-7)
    np.testing.assert_allclose(terms.evaluate(positions), np.outer([1, 1], (f[0] - f[1]) * normal), rtol=1e-10)


def test_a_correction_map_passes_through_its_points_and_is_smooth():
    """Between points h apart it is bicubic: a map of low harmonics is met to 5 h⁴/384 of its fourth derivatives, and
    its slopes are continuous from cell to cell."""
    n = 24
    angle, between = 2.0 * np.pi * np.arange(n) / n, 2.0 * np.pi * (np.arange(n) + 0.5) / n

    def exact(x):
        return np.cos(x)[:, None] * (1.0 + np.sin(2.0 * x))[None, :]

    cells = patches(exact(angle)).reshape(n, n, 4, 4)
    np.testing.assert_allclose(cells[:, :, 0, 0], exact(angle), atol=1e-14)
    half = 0.5 ** np.arange(4)
    middle = np.einsum("ijkl,k,l->ij", cells, half, half)
    assert np.abs(middle - exact(between)).max() < (2.0 + 16.0) * 5.0 * (2.0 * np.pi / n) ** 4 / 384.0
    ends = cells[:, :, 1, :] + 2.0 * cells[:, :, 2, :] + 3.0 * cells[:, :, 3, :]
    np.testing.assert_allclose(ends, np.roll(cells[:, :, 1, :], -1, axis=0), atol=1e-12)


def test_straight_angles_rest():
    """At θ = θ₀ = π force and virial vanish, and the Laplacian is its limit 2k(1/a + 1/b)²: nothing is not a number."""
    angle = ar.forces.HarmonicAngles(angles=[(0, 1, 2)], stiffness=3.0, angle=math.pi)
    places = np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [3.0, 0.0, 0.0], [9.0, 0.0, 0.0]])
    terms = SiteForces(model_of(angle, places=places))
    measures = terms.measure(places)
    np.testing.assert_array_equal(terms.evaluate(places), 0.0)
    np.testing.assert_array_equal(measures[:7], 0.0)
    expected = 2 * 3.0 * (1.0 + 0.25 + 1.0 / 2.0) + 3.0 * (2.0 * (1.0 + 0.25) + 2.0 / 2.0)
    assert math.isclose(measures[7], expected, rel_tol=1e-14)


def test_dihedral_angles_have_the_sign_of_the_field():
    """A far bond turned clockwise, seen along the axis, is positive: U = 1 + sin φ tells the two apart."""
    force = ar.forces.PeriodicDihedrals(dihedrals=[(0, 1, 2, 3)], stiffness=1.0, multiplicity=1, phase="90 deg")
    for turn in (0.3, -1.2, 2.9):
        # Seen along +z with x up, y is to the left, so that clockwise is towards −y.
        places = np.array([[1.0, 0, 0], [0, 0, 0], [0, 0, 1], [math.cos(turn), math.sin(turn), 1]])
        energy = SiteForces(model_of(force, places=places)).measure(places)[0]
        assert math.isclose(energy, 1.0 + math.sin(turn), rel_tol=1e-13)


def test_a_bond_beyond_its_extent_is_not_a_number():
    """Nothing pulls it back: the run must see it."""
    terms = terms_of("fene bonds")
    far = PLACES.copy()
    far[0] -= 3.0
    assert np.isnan(terms.measure(far)[0])
    assert np.isnan(terms.evaluate(far)[0]).all()


def test_a_site_beyond_a_wall_is_not_a_number():
    terms = terms_of("walls")
    far = PLACES.copy()
    far[3, 1] = 31.0
    assert np.isnan(terms.measure(far)[0])
    assert np.isnan(terms.evaluate(far)[3]).all()


@pytest.mark.parametrize(
    ("force", "boundary", "message"),
    [
        (lambda: ar.forces.HarmonicBonds(bonds=[(0, 1), (3, 10)], stiffness=1.0, length=1.0), "open",
         r"bonds\[1\]: there is no site 10; the model has 10"),
        (lambda: ar.forces.HarmonicBonds(bonds=[(2, 2)], stiffness=1, length=1), "open", r"listed twice in \(2, 2\)"),
        (lambda: ar.forces.HarmonicAngles(angles=ANGLES, stiffness=[1.0, 2.0], angle=2.0), "open",
         "stiffness: give one for all or 4, one for each, not 2"),
        (lambda: ar.forces.FeneBonds(bonds=[(0, 1), (0, 5)], stiffness=1.0, extent=1.5), "open",
         r"bonds\[1\]: sites 0 and 5 are .* beyond the extent 1.5"),
        (lambda: ar.forces.ListedPairs(pairs=[(0, 10)]), "open", r"pairs\[0\]: there is no site 10"),
        (lambda: ar.forces.CorrectionMaps(maps=[np.zeros((4, 5))], first=DIHEDRALS, second=DIHEDRALS, map=[0, 0, 0]),
         "open", r"maps\[0\]: a map is square"),
        (lambda: ar.forces.CorrectionMaps(maps=[np.zeros((4, 4))], first=DIHEDRALS, second=DIHEDRALS, map=[0, 1, 0]),
         "open", r"map\[1\]: there is no map 1; there are 1"),
        (lambda: ar.forces.CorrectionMaps(maps=[np.zeros((4, 4))], first=DIHEDRALS, second=DIHEDRALS[:1], map=[0]),
         "open", r"second: give 3"),
        (lambda: ar.forces.LennardJonesWall(**WALLS), "periodic", "periodic in all directions"),
        (lambda: ar.forces.LennardJonesWall(**WALLS), "reflecting", "site 5 on body .* is 0.718.* beyond the face x"),
        (lambda: ar.forces.LennardJonesWall(parameters={"A": WALLS["parameters"]["A"]}), "open", "kind 'B' is missing"),
    ],
)  # fmt: skip
def test_what_cannot_be_is_refused_by_name(force, boundary, message):
    with pytest.raises(ar.ModelError, match=message):
        model_of(force(), box=ar.Box(lengths=(LENGTH,) * 3, boundaries=(boundary,) * 3))
