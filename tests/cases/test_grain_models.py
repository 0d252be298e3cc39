"""Models of grains in case files: single ones, filled regions and chains."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.spatial import cKDTree

import articulon as ar
from articulon.cases.builders.grain_models import Chain, Fill, Grains, SingleGrain
from articulon.cases.builders.packings import grid_places, sizes
from articulon.errors import CaseError, ModelError
from articulon.units import unit_system
from tests.support.run_cases import case_of

BOX = {"low": (0.0, 0.0, 0.0), "high": (1.0, 1.2, 1.5)}


def built(**parts: Any) -> ar.Model:
    builder = ar.ModelBuilder(units="kg-m-s")
    Grains(**parts).resolved(builder.units).populate(builder)
    return builder.build()


def populated(table: dict[str, Any]) -> None:
    builder = ar.ModelBuilder(units="kg-m-s")
    Grains.from_mapping(table).resolved(unit_system("kg-m-s")).populate(builder)


@pytest.mark.parametrize("arrangement", ["grid", "random"])
@pytest.mark.parametrize("shape", ["box", "cylinder"])
def test_grains_of_a_fill_touch_neither_each_other_nor_the_regions_faces(arrangement: str, shape: str) -> None:
    count = 300 if arrangement == "random" else None
    region = {"cylinder_radius": 0.5, "low": (0.0, -0.6, 1.0), "high": (0.0, 0.9, 1.0)} if shape == "cylinder" else BOX
    fill = Fill(
        radius=0.04,
        largest_radius=0.06,
        density=1000.0,
        shape=shape,
        arrangement=arrangement,
        count=count,
        **region,
    )
    model = built(fills=(fill,))
    places, radii = model.q0.reshape(-1, 7)[:, :3], model.sites.radius
    pairs = cKDTree(places).query_pairs(0.14, output_type="ndarray")
    gaps = np.linalg.norm(places[pairs[:, 0]] - places[pairs[:, 1]], axis=1) - radii[pairs].sum(axis=1)
    assert len(places) > 200 and gaps.min() > 0.0
    assert radii.min() >= 0.04 and radii.max() <= 0.06
    if shape == "cylinder":
        off, along = np.hypot(places[:, 0], places[:, 2] - 1.0), places[:, 1]
        assert (off + radii <= 0.5 + 1e-12).all() and (along - radii >= -0.6 - 1e-12).all()
        assert (along + radii <= 0.9 + 1e-12).all()
    else:
        assert (places - radii[:, None] >= -1e-12).all()
        assert (places + radii[:, None] <= np.array(BOX["high"]) + 1e-12).all()


def test_of_a_large_region_no_more_places_are_looked_at_than_grains_need() -> None:
    """The places, and all that is drawn after them, are those that looking at the whole region gives."""
    region = (np.array([0.0, 0.0, 0.0]), np.array([0.0, 3.0, 4.0]))
    for around in (None, 1.5):
        corners = (region[0], region[1] + [2.0, 0.0, 0.0]) if around is None else region
        few, whole = np.random.default_rng(1), np.random.default_rng(1)
        found = grid_places(corners, around, 0.02, 0.1, few, 40_000)
        every = grid_places(corners, around, 0.02, 0.1, whole)
        assert 40_000 <= len(found) < 0.6 * len(every)
        np.testing.assert_array_equal(found, every[: len(found)])
        assert few.random() == whole.random()


def test_radii_of_equal_volumes_share_the_volume_evenly() -> None:
    """With p(R) ∝ 1/R³ each interval of radii holds the same volume; the bound is four standard errors."""
    radii = sizes(200_000, 1.0, 3.0, "equal-volumes", np.random.default_rng(1))
    volume, _ = np.histogram(radii, bins=8, range=(1.0, 3.0), weights=radii**3)
    counts, _ = np.histogram(radii, bins=8, range=(1.0, 3.0))
    np.testing.assert_allclose(volume / volume.sum(), 0.125, rtol=4.0 / np.sqrt(counts.min()))


def test_seed_chooses_a_fill() -> None:
    def places(seed: int) -> np.ndarray:
        return built(fills=(Fill(radius=0.1, mass=1.0, seed=seed, arrangement="random", count=20, **BOX),)).q0

    np.testing.assert_array_equal(places(3), places(3))
    assert (places(3) != places(4)).any()


def test_chain_is_straight_and_its_spheres_are_apart_by_the_gap() -> None:
    chain = Chain(links=4, radius=0.1, gap=0.05, density=1000.0, start=(1.0, 2.0, 3.0), direction=(0.0, 3.0, 4.0))
    model = built(chains=(chain,), grains=(SingleGrain(name="pebble", radius=0.3, mass=2.0),))
    assert model.names == ("chain-0", "chain-1", "chain-2", "chain-3", "pebble") and model.trees == 2
    places, _ = ar.body_poses(model, model.q0)
    centres = places[model.sites.body] + model.sites.position
    expected = np.array([1.0, 2.0, 3.0]) + 0.25 * np.arange(4)[:, None] * np.array([0.0, 0.6, 0.8])
    np.testing.assert_allclose(centres[:4], expected, atol=1e-15)
    np.testing.assert_allclose(model.masses[:4], 4 / 3 * np.pi * 1e-3 * 1000.0, rtol=1e-15)


def test_a_model_of_grains_takes_bodies_that_are_written_out() -> None:
    bodies = [{"name": "clump", "joint": "free", "mass": 1.0, "inertia": 1.0}]
    sites = [{"body": "clump", "position": (s, 0.0, 0.0), "radius": "20 cm"} for s in (-0.1, 0.1)]
    model = built(bodies=bodies, sites=sites, fills=(Fill(radius=0.2, density=1.0, **BOX),))
    assert model.names[0] == "clump" and model.bodies > 10
    np.testing.assert_array_equal(model.sites.radius[:2], 0.2)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"count": 10_000}, "fills\\[0\\]: the region holds .* grains"),
        ({"count": 2000, "arrangement": "random"}, "they cannot fit"),
        ({"high": (1.0, -1.0, 1.0)}, "high: each coordinate must be larger than that of low"),
        ({"largest_radius": 0.01}, "largest_radius: 0.01 is smaller"),
        ({"arrangement": "random"}, "count: is required"),
        ({"mass": 1.0}, "fills\\[0\\]: give either a density or a mass"),
        ({"shape": "cylinder"}, "cylinder_radius"),
        ({"radius": 5.0}, "holds 0 grains"),
    ],
)
def test_impossible_fill_is_refused(change: dict[str, Any], words: str) -> None:
    with pytest.raises((CaseError, ModelError), match=words):
        populated({"fills": [{"radius": 0.08, "density": 1.0, **BOX, **change}]})


def test_a_fault_in_a_fill_is_found_under_its_key_in_a_whole_case() -> None:
    # The builder is called as one of its keys is: model.builder = "grains", model.grains.
    with pytest.raises(CaseError, match=r"model\.fills\[0\]: give either a density or a mass"):
        ar.load_case("box-packing", {"model.fills[0].mass": "1 g"})


COLLISION = """
[case]
units = "kg-m-s"

[model]
builder = "grains"

[[model.grains]]
name = "heavy"
radius = "10 mm"
density = "2500 kg/m^3"
position = [0, 0, "60 mm"]
velocity = [0, 0, "SPEED m/s"]

[[model.grains]]
name = "light"
radius = "5 mm"
density = "2500 kg/m^3"
position = [0, 0, "80 mm"]

[[forces]]
kind = "contact"

[forces.materials.grain]
young = "10 MPa"
poisson = 0.25
static_friction = 0.5
restitution = 0.5

[[forces.walls]]
name = "floor"
shape = "plane"
point = [0, 0, 0]
normal = [0, 0, 1]
kind = "grain"

[integrator]
rule = "velocity-verlet"
step = "2 us"

[run]
duration = "0.02 s"
frames = 1
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    "speed, pair", [("5", "'heavy' and 'light'|'light' and 'heavy'"), ("-5", "'heavy' and .*floor")]
)
def test_the_deepest_overlap_is_named_though_it_falls_between_frames(tmp_path: Path, speed: str, pair: str) -> None:
    done = ar.run(case_of(tmp_path, COLLISION.replace("SPEED", speed)), tmp_path / "run", report=False)
    notes = [note for note in done.summary["notes"] if "largest overlap" in note]
    assert len(notes) == 1 and re.search(pair, notes[0]), notes
