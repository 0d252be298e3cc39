"""Grains and contact spheres as the builder takes them."""

import numpy as np
import pytest

import articulon as ar
from articulon.errors import ModelError


def test_grain_is_a_solid_sphere_of_its_density():
    builder = ar.ModelBuilder(units="kg-m-s")
    grain = builder.add_grain(
        "pebble",
        radius="5 mm",
        position=(0, 0, "1 cm"),
        density="2.5 g/cm^3",
        velocity=(1, 2, 3),
        spin=(4, 5, 6),
        kind="glass",
    )
    model = builder.build()
    mass = 4 / 3 * np.pi * 0.005**3 * 2500.0
    assert grain.index == 0 and model.names == ("pebble",) and model.sites.kinds == ("glass",)
    np.testing.assert_allclose(model.masses, mass, rtol=1e-15)
    np.testing.assert_allclose(model.inertias[0, [0, 3, 5]], 0.4 * mass * 0.005**2, rtol=1e-15)
    np.testing.assert_array_equal(model.q0, [0, 0, 0.01, 1, 0, 0, 0])
    np.testing.assert_array_equal(model.u0, [1, 2, 3, 4, 5, 6])
    np.testing.assert_array_equal(model.sites.radius, 0.005)


def test_grains_in_bulk_are_the_grains_one_by_one():
    rng = np.random.default_rng(1)
    places, radii = rng.random((6, 3)), rng.uniform(0.01, 0.02, 6)
    velocities, spins, kinds = rng.normal(size=(6, 3)), rng.normal(size=(6, 3)), ["a", "b", "a", "c", "b", "a"]
    bulk, single = ar.ModelBuilder(units="kg-m-s"), ar.ModelBuilder(units="kg-m-s")
    bulk.add_grains(places, radii, kind=kinds, density=1500.0, velocities=velocities, spins=spins)
    for k in range(6):
        single.add_grain(
            f"grain-{k}",
            radius=radii[k],
            position=places[k],
            kind=kinds[k],
            density=1500.0,
            velocity=velocities[k],
            spin=spins[k],
        )
    a, b = bulk.build(), single.build()
    assert a.names == b.names
    for name in ("masses", "inertias", "q0", "u0"):
        np.testing.assert_array_equal(getattr(a, name), getattr(b, name))
    for x, y in zip(a.sites, b.sites, strict=True):
        np.testing.assert_array_equal(x, y)


def test_spheres_sit_on_any_body_and_points_have_no_radius():
    builder = ar.ModelBuilder(units="kg-m-s")
    clump = builder.add_body("clump", mass=1.0, inertia=1.0, joint=ar.Free())
    builder.add_site(clump, position=(1, 0, 0), radius=0.5)
    builder.add_site(clump, kind="charge")
    builder.add_site(None, radius="2 cm")
    builder.add_particles(2, mass=1.0, positions=np.eye(2, 3))
    model = builder.build()
    np.testing.assert_array_equal(model.sites.radius, [0.5, 0.0, 0.02, 0.0, 0.0])
    np.testing.assert_array_equal(model.sites.body, [0, 0, -1, 1, 2])


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"radius": 0.0}, "body 'p', radius: a grain's radius must be positive"),
        ({"density": None}, "grain 'p': give it either a density or a mass"),
        ({"mass": 1.0}, "either a density or a mass"),
        ({"density": -1.0}, "body 'p', density: a grain's density must be positive, got -1"),
        ({"position": (0, 0)}, "grain 'p', position: expected shape"),
        ({"radius": "5 kg"}, "grain 'p', radius"),
    ],
)
def test_impossible_grain_is_named(change, words):
    builder = ar.ModelBuilder(units="kg-m-s")
    with pytest.raises(ModelError, match=words):
        builder.add_grain("p", **{"radius": 1.0, "position": (0, 0, 0), "density": 1.0, **change})


def test_sphere_of_negative_radius_is_refused():
    builder = ar.ModelBuilder(units="kg-m-s")
    with pytest.raises(ModelError, match="site 0 on the ground, radius"):
        builder.add_site(None, radius=-1.0)
