"""Sums over pairs on a device are those of the CPU: forces, energy, virial and Laplacian, on Warp's own CPU device."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import articulon as ar
from articulon.forces.evaluation import Evaluator
from articulon.forces.sites.site_evaluation import SiteForces
from tests.support.particle_models import box_vectors, particles, scattered, wandered

pytest.importorskip("warp")

from articulon.gpu import particle_engine, particle_moves, particle_pairs, particle_places
from articulon.gpu.devices import WARP_CPU, load_warp
from articulon.gpu.particle_on_device import engine_of

CUTOFF, START = 2.3, 1.6
KINDS = ("A", "B", "C")
PARAMETERS = {
    "A": {"epsilon": 1.0, "sigma": 1.0},
    "B": {"epsilon": 0.5, "sigma": 0.85},
    "C": {"epsilon": 1.4, "sigma": 0.9},
}
PERIODIC = ("periodic",) * 3
PLACES: dict[str, tuple[Any, ...]] = {
    "dense": ((9.0, 8.1, 8.6), (0.0, 0.0, 0.0), PERIODIC, 300, 0.8),
    "as small as the cutoff allows": ((4.6, 4.7, 4.6), (0.0, 0.0, 0.0), PERIODIC, 40, 0.8),
    "triclinic": ((8.0, 7.6, 7.2), (2.1, -1.7, 2.9), PERIODIC, 180, 0.8),
    "small triclinic": ((6.0, 5.6, 5.2), (1.6, -1.1, 2.0), PERIODIC, 50, 0.8),
    "one narrow direction": ((5.0, 30.0, 14.0), (0.0, 0.0, 0.0), PERIODIC, 400, 0.8),
    "slab": ((8.0, 7.4, 9.0), (0.0, 0.0, 0.0), ("periodic", "periodic", "open"), 150, 0.8),
    "reflecting": ((8.0, 7.4, 9.0), (0.0, 0.0, 0.0), ("reflecting", "periodic", "reflecting"), 150, 0.8),
    "gas": ((60.0, 70.0, 50.0), (0.0, 0.0, 0.0), PERIODIC, 300, 0.8),
    "open": ((9.0, 8.1, 8.6), (0.0, 0.0, 0.0), None, 300, 0.8),
    "open and far apart": ((9.0, 8.1, 8.6), (0.0, 0.0, 0.0), None, 300, 0.8),
}
TRUNCATIONS = ("truncated", "shifted", "force-shifted", "switched")
ROUNDING = 1e-12
"""Sums of a hundred terms, each of a displacement that is rounded to 1e-16 of the box."""
MIXED = 2e-5
"""Of the largest force: in single precision a displacement is off by 6e-8 of itself some times over, the fourteenth
power of it that a force is by 5e-6, and pairs that nearly cancel are larger than their sum."""


def model_of(place: str, force: Any, kinds: tuple[str, ...] = KINDS, seed: int = 5) -> ar.Model:
    """Particles in a place, some of them boxes away."""
    lengths, tilts, boundaries, count, distance = PLACES[place]
    rng = np.random.default_rng(seed)
    vectors = box_vectors(lengths, tilts)
    x = scattered(rng, count, vectors, distance)
    box = None
    if boundaries is not None:
        box = ar.Box(lengths=lengths, tilts=tilts, boundaries=boundaries)
        if boundaries == PERIODIC:
            x = wandered(rng, x, vectors)
    if place == "open and far apart":
        x[: count // 2] += (300.0, -90.0, 20.0)
    names = [kinds[k] for k in rng.integers(0, len(kinds), count)]
    return particles(x, force, box=box, kinds=names, masses=rng.uniform(0.5, 2.0, count))


def lennard_jones(truncation: str = "truncated", kinds: tuple[str, ...] = KINDS, **more: Any) -> Any:
    start = {"switch_start": START} if truncation == "switched" else {}
    parameters = {kind: PARAMETERS[kind] for kind in kinds}
    return ar.forces.LennardJones(parameters=parameters, cutoff=CUTOFF, truncation=truncation, **start, **more)


def worst(model: ar.Model, precision: str, x: np.ndarray | None = None) -> tuple[float, float]:
    """Largest differences of forces, by the largest force, and of measures, by the largest sum of this dimension."""
    evaluator = Evaluator(model)
    here = SiteForces(model)
    there = engine_of(evaluator, WARP_CPU, precision)
    x = model.q0.reshape(-1, 3) if x is None else x
    expected, found = here.evaluate(x), there.forces(x)
    scale = np.abs(expected).max()
    assert scale > 0.0
    measured, given = here.measure(x), there.measure(x)
    measured[0] -= here.constant[0]
    measured[1:4] -= here.constant[1] / 3.0
    energies = max(np.abs(measured[:7]).max(), scale)
    off = np.abs(given - measured) / np.array([energies] * 7 + [max(abs(measured[7]), scale)])
    return float(np.abs(found - expected).max() / scale), float(off.max())


@pytest.mark.parametrize("place", PLACES)
def test_sums_are_those_of_the_cpu_in_every_box(place: str) -> None:
    model = model_of(place, lennard_jones())
    assert max(worst(model, "double")) <= ROUNDING
    assert max(worst(model, "mixed")) <= MIXED


@pytest.mark.parametrize("kinds", [KINDS, ("A",)])
@pytest.mark.parametrize("truncation", TRUNCATIONS)
def test_sums_are_those_of_the_cpu_for_every_truncation(truncation: str, kinds: tuple[str, ...]) -> None:
    model = model_of("dense", lennard_jones(truncation, kinds), kinds)
    assert max(worst(model, "double")) <= ROUNDING
    assert max(worst(model, "mixed")) <= MIXED


@pytest.mark.parametrize("mixing", ["geometric", "sixth-power"])
def test_sums_are_those_of_the_cpu_for_every_mixture(mixing: str) -> None:
    own = ({"kinds": ("A", "B"), "epsilon": 0.0, "sigma": 1.0},)
    model = model_of("dense", lennard_jones(mixing=mixing, pairs=own, tail_correction=True))
    assert max(worst(model, "double")) <= ROUNDING


def test_forces_add_up_and_keep_to_their_groups() -> None:
    rng = np.random.default_rng(2)
    vectors = box_vectors((9.0, 8.1, 8.6))
    x = scattered(rng, 200, vectors, 0.8)
    builder = ar.ModelBuilder(units="lj", box=ar.Box(lengths=(9.0, 8.1, 8.6)))
    for group in ("left", "right"):
        some = x[:100] if group == "left" else x[100:]
        builder.add_particles(100, mass=1.0, positions=some, kind="A", group=group, names=group)
    builder.add_force(lennard_jones("shifted", ("A",), between=(("left", "right"),)))
    builder.add_force(
        ar.forces.WeeksChandlerAndersen(parameters={"A": {"epsilon": 0.7, "sigma": 1.1}}, between=(("left", "left"),))
    )
    assert max(worst(builder.build(), "double")) <= ROUNDING


def test_a_list_stays_good_while_particles_move_within_the_skin() -> None:
    """Forces on the lists of elsewhere, which hold pairs that are beyond the cutoff and all that may come within."""
    model = model_of("small triclinic", lennard_jones())
    evaluator = Evaluator(model)
    engine = engine_of(evaluator, WARP_CPU, "double")
    x = model.q0.reshape(-1, 3)
    engine.forces(x)
    way = np.random.default_rng(8).normal(size=x.shape)
    skin = evaluator.sites.listing.skin
    moved = x + 0.499 * skin * way / np.linalg.norm(way, axis=1)[:, None]
    found = engine.forces(moved)
    assert engine.lists.rebuilds == 1
    expected = SiteForces(model).evaluate(moved)
    assert np.abs(found - expected).max() <= ROUNDING * np.abs(expected).max()
    engine.forces(x + 0.51 * skin * way / np.linalg.norm(way, axis=1)[:, None])
    assert engine.lists.rebuilds == 2


@pytest.mark.parametrize("precision", ["double", "mixed"])
def test_the_sum_does_not_depend_on_how_many_threads_share_a_particle(
    precision: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """But for rounding: many share one where there are few, which the tests above have, and one does where there are
    many."""
    model = model_of("dense", lennard_jones())
    evaluator, x = Evaluator(model), model.q0.reshape(-1, 3)
    many = engine_of(evaluator, WARP_CPU, precision)
    monkeypatch.setattr(particle_engine, "MOST_LANES", 1)
    one = engine_of(evaluator, WARP_CPU, precision)
    assert (many.lanes, one.lanes) == (8, 1)
    a, b = many.forces(x), one.forces(x)
    assert np.abs(a - b).max() <= (ROUNDING if precision == "double" else MIXED) * np.abs(b).max()
    assert many.forces(x).tobytes() == a.tobytes()


def test_momentum_is_conserved_by_pairs() -> None:
    """Both ends of a pair compute the same force: the sum over all is rounding of the largest."""
    model = model_of("triclinic", lennard_jones("force-shifted"))
    forces = engine_of(Evaluator(model), WARP_CPU, "double").forces(model.q0.reshape(-1, 3))
    assert np.abs(forces.sum(axis=0)).max() <= 1e-13 * np.abs(forces).sum()


def test_what_is_not_finite_has_forces_that_are_not() -> None:
    model = model_of("gas", lennard_jones())
    engine = engine_of(Evaluator(model), WARP_CPU, "double")
    x = model.q0.reshape(-1, 3).copy()
    before = engine.forces(x)
    x[7, 1] = np.nan
    assert np.isnan(engine.forces(x)).all()
    assert np.isnan(engine.measure(x)).all()
    assert np.array_equal(engine.forces(model.q0.reshape(-1, 3)), before)


def test_sums_are_those_of_the_cpu_where_its_lists_have_to_grow() -> None:
    """Particles in a drop have many more neighbours than as many that are spread over the box."""
    rng = np.random.default_rng(7)
    x = scattered(rng, 150, box_vectors((6.0, 6.0, 6.0)), 0.8)
    model = particles(x, lennard_jones(kinds=("A",)), box=ar.Box(lengths=(60.0,) * 3), kinds="A")
    assert max(worst(model, "double")) <= ROUNDING


def shortest(d: np.ndarray, vectors: np.ndarray) -> np.ndarray:
    """The shortest image of a displacement, by all images around."""
    whole = np.stack(np.meshgrid(*[np.arange(-2, 3)] * 3, indexing="ij"), -1).reshape(-1, 3) @ vectors
    images = d + whole
    return images[np.argmin((images**2).sum(axis=1))]


@pytest.mark.parametrize("precision", ["double", "mixed"])
def test_a_list_has_neighbours_whose_image_is_not_the_nearest_by_whole_edges(precision: str) -> None:
    """Where lists reach beyond half of the box, taking whole edges off a displacement may miss its shortest image, by
    which two particles come within the cutoff before lists are made anew."""
    lengths, tilts = (8.3, 7.6, 4.7), (-0.4, 3.0, 2.9)
    vectors = box_vectors(lengths, tilts)
    box, skin = ar.Box(lengths=lengths, tilts=tilts), 1.0
    half = 0.5 / np.linalg.norm(np.linalg.inv(vectors), axis=0).max()
    law = ar.forces.LennardJones(parameters={"A": PARAMETERS["A"]}, cutoff=half * (1.0 - 1e-9), skin=skin)
    rng, tried = np.random.default_rng(1), 0
    for _ in range(20_000):
        way = rng.normal(size=3)
        apart = way * (half + 0.3 * rng.random()) / np.linalg.norm(way)
        by_edges = apart - np.rint(apart[2] / lengths[2]) * vectors[2]
        by_edges = by_edges - np.rint(by_edges[1] / lengths[1]) * vectors[1]
        by_edges = by_edges - np.rint(by_edges[0] / lengths[0]) * vectors[0]
        by_parts = (apart @ np.linalg.inv(vectors) - np.rint(apart @ np.linalg.inv(vectors))) @ vectors
        missed = by_edges if precision == "double" else by_parts
        if np.linalg.norm(shortest(apart, vectors) - apart) > 1e-9 or np.linalg.norm(missed) < half + skin:
            continue
        tried += 1
        x = np.array([[1.0, 1.0, 1.0], [1.0, 1.0, 1.0] + apart])
        model = particles(x, law, box=box, kinds="A")
        engine = engine_of(Evaluator(model), WARP_CPU, precision)
        engine.forces(x)
        moved = x + 0.08 * np.array([apart, -apart])
        assert np.linalg.norm(0.08 * apart) < 0.5 * skin
        expected, found = SiteForces(model).evaluate(moved), engine.forces(moved)
        assert engine.lists.rebuilds == 1
        assert np.abs(expected).max() > 0.0
        assert np.abs(found - expected).max() <= MIXED * np.abs(expected).max()
        if tried == 5:
            break
    assert tried


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "darwin", reason="Warp has no compiler for NVIDIA's GPUs on macOS")
@pytest.mark.parametrize("precision", ["double", "mixed"])
def test_what_runs_here_compiles_for_a_gpu(precision: str, tmp_path: Path) -> None:
    """The compiler needs no GPU; compute capability 7.5 is the oldest that Warp has code for."""
    places = particle_places.places(precision)
    law = particle_pairs.pair_kernels(precision, "lennard-jones-switched", False)[0]
    for module in (particle_moves, places.load.module, law.module):
        compiled = load_warp().compile_aot_module(module, arch=75, module_dir=str(tmp_path), use_ptx=True)
        assert all(Path(file).stat().st_size > 1000 for file in compiled)
        assert any(str(file).endswith(".ptx") for file in compiled)
