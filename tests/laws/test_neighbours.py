"""Neighbour lists drop no pair, whatever the box, the density and the number of threads."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numba
import numpy as np
import pytest

import articulon as ar
from articulon.forces.sites.cells import IMAGES
from articulon.forces.sites.pair_sums import PARALLEL_SITES
from articulon.forces.sites.site_evaluation import SiteForces
from articulon.integrate.particle_passes import PARALLEL_PARTICLES
from tests.support.pair_sums import (
    Potential,
    Triple,
    lennard_jones,
    nearest_images,
    pair_sums,
    pairs_within,
    verlet_trajectory,
)
from tests.support.particle_models import assert_same, box_vectors, engine_sums, particles, scattered
from tests.support.run_cases import Shown, bits, case_of, goes_on_after_kills
from tests.support.threads import on_one_and_two

STEP = 0.004
CUTOFF = 2.2
PERIODIC = ("periodic",) * 3
PLACES = {
    "periodic": ((6.0, 6.6, 7.0), (0.0, 0.0, 0.0), PERIODIC),
    "triclinic": ((7.0, 6.6, 6.4), (2.0, -1.7, 2.4), PERIODIC),
    "slab": ((6.0, 6.6, 7.0), (0.0, 0.0, 0.0), ("periodic", "open", "periodic")),
    "thin": ((4.5, 4.6, 40.0), (0.0, 0.0, 0.0), PERIODIC),
    "open": None,
}


def fluid(**more: Any) -> Any:
    parameters = {"A": {"epsilon": 1.0, "sigma": 1.0}}
    return ar.forces.LennardJones(parameters=parameters, cutoff=CUTOFF, truncation="force-shifted", **more)


def started(place: str, count: int, temperature: float = 1.5) -> tuple[np.ndarray, np.ndarray, Any, np.ndarray | None]:
    """Positions, velocities, box and edges."""
    rng = np.random.default_rng([11, count])
    given = PLACES[place]
    vectors = box_vectors(*(given or PLACES["periodic"])[:2])
    positions = scattered(rng, count, vectors, 0.95)
    velocities = rng.normal(size=(count, 3)) * np.sqrt(temperature)
    velocities -= velocities.mean(axis=0)
    if given is None:
        return positions, velocities, None, None
    return positions, velocities, ar.Box(lengths=given[0], tilts=given[1], boundaries=given[2]), vectors


def run(model: Any, steps: int, frames: int = 10, **more: Any) -> Any:
    return ar.simulate(model, steps * STEP, rule="velocity-verlet", step=STEP, frames=frames, **more)


@pytest.mark.slow
@pytest.mark.parametrize("drift", [0.0, 1.0])
@pytest.mark.parametrize("place", PLACES)
def test_a_run_with_rebuilds_follows_one_that_looks_at_every_pair(place, drift):
    """Roundings part as e^{λt}, λ of about 1 to 3 per time in such a fluid; a pair that is missed once makes a
    difference of its force, which is cut off where it is strong, times a step squared: 1e-6 and more."""
    count, steps = 130, 500
    cutoff = CUTOFF if place == "thin" else 1.5
    positions, velocities, box, vectors = started(place, count)
    periodic = (True,) * 3 if box is None else tuple(kind == "periodic" for kind in box.boundaries)
    flow = drift * np.array([6.0, -4.0, 2.0])  # through the box and beyond: coordinates are never wrapped
    force = ar.forces.LennardJones(parameters={"A": {"epsilon": 1.0, "sigma": 1.0}}, cutoff=cutoff)
    found = run(particles(positions, force, box=box, velocities=velocities + flow), steps)
    bare = lennard_jones(1.0, 1.0)
    x, v = verlet_trajectory(positions, velocities + flow, bare, cutoff, STEP, steps, vectors, periodic)
    every = steps // 10
    moved = np.sqrt(((x[-1] - x[0] - steps * STEP * flow) ** 2).sum(axis=1))
    assert np.median(moved) > 0.5, "nothing has changed neighbours"
    assert np.abs(found.q.reshape(11, count, 3) - x[::every]).max() <= 1e-9
    assert np.abs(found.u.reshape(11, count, 3) - v[::every]).max() <= 1e-8


@pytest.mark.parametrize("moving", [0, 31, 62, 63])
def test_one_particle_that_moves_alone_meets_all_on_its_way(moving):
    """Whichever it is, the first and the last included."""
    grid = 1.5 * np.stack(np.meshgrid(*(np.arange(4),) * 3, indexing="ij"), -1).reshape(-1, 3)
    velocities = np.zeros((64, 3))
    grid[moving] += [0.75, 0.71, 0.0]
    velocities[moving] = [0.0, 0.0, 6.0]
    box = ar.Box(lengths=(6.0, 6.0, 6.0))
    force = ar.forces.LennardJones(parameters={"A": {"epsilon": 1.0, "sigma": 1.0}}, cutoff=1.4)
    found = run(particles(grid, force, box=box, velocities=velocities), 250)
    x, _ = verlet_trajectory(grid, velocities, lennard_jones(1.0, 1.0), 1.4, STEP, 250, 6.0 * np.eye(3))
    assert x[-1, moving, 2] - x[0, moving, 2] > 3.0
    assert np.abs(found.q.reshape(11, 64, 3) - x[::25]).max() <= 1e-11


@pytest.mark.parametrize("skin", [0.02, 0.5, 1.0])
def test_the_skin_changes_roundings_only(skin):
    positions, velocities, box, _ = started("periodic", 100)
    chosen, given = (
        run(particles(positions, fluid(**more), box=box, velocities=velocities), 200) for more in ({}, {"skin": skin})
    )
    assert np.abs(chosen.q - given.q).max() <= 1e-10


def test_frames_leave_the_bits_of_a_run():
    positions, velocities, box, _ = started("triclinic", 100)
    model = particles(positions, fluid(), box=box, velocities=velocities)
    once, often = run(model, 120, frames=1), run(model, 120, frames=40)
    assert once.q[-1].tobytes() == often.q[-1].tobytes()
    assert once.u[-1].tobytes() == often.u[-1].tobytes()


BATHS: dict[str, Callable[[], Any]] = {
    "none": lambda: None,
    "nose-hoover-chain": lambda: ar.thermostats.NoseHooverChain(temperature=1.5, period=0.5),
    "langevin": lambda: ar.thermostats.Langevin(temperature=1.5, friction=2.0),
    "stochastic-velocity-rescaling": lambda: ar.thermostats.StochasticVelocityRescaling(temperature=1.5, time=0.2),
}


def crowd(place: str, count: int) -> Any:
    """A charged liquid."""
    edge = (count / 0.7) ** (1 / 3)
    side = int(np.ceil(count ** (1 / 3)))
    grid = np.stack(np.meshgrid(*(np.arange(side),) * 3, indexing="ij"), -1).reshape(-1, 3)[:count] / side
    rng = np.random.default_rng(4)
    vectors = box_vectors((edge, edge, edge), (0.2 * edge, -0.3 * edge, 0.4 * edge))
    positions = grid @ vectors + 0.05 * rng.normal(size=(count, 3))
    box = None if place == "open" else ar.Box(lengths=vectors.diagonal(), tilts=vectors[[1, 2, 2], [0, 0, 1]])
    charges = np.where(np.arange(count) % 2, 0.3, -0.3)
    forces = (fluid(), ar.forces.Coulomb(cutoff=CUTOFF, truncation="force-shifted", damping=0.5))
    return particles(positions, *forces, box=box, charges=charges, velocities=rng.normal(size=(count, 3)))


SIZES = [
    ("triclinic", 120, 100),
    ("triclinic", PARALLEL_SITES + 300, 60),
    ("open", PARALLEL_SITES + 300, 60),
    ("triclinic", PARALLEL_PARTICLES + 300, 24),
]


SHARED = [(SIZES[1], "none"), *((SIZES[3], bath) for bath in BATHS)]
"""Loops over pairs are shared out, which no bath has a part in, and then over particles too, with every bath."""


@pytest.mark.slow
@pytest.mark.parametrize(("size", "bath"), [(SIZES[0], "none"), (SIZES[2], "none"), *SHARED])
def test_one_and_two_threads_give_the_same_bits(size, bath):
    """Below and above the sizes from which pairs and particles are shared out among threads."""
    place, count, steps = size
    model = crowd(place, count)
    one, two = on_one_and_two(lambda: run(model, steps, frames=2, thermostat=BATHS[bath]()))
    for name in ("q", "u", "works", "potential_energy"):
        assert getattr(one, name).tobytes() == getattr(two, name).tobytes(), name
    assert np.abs(one.q[-1] - one.q[0]).max() > 0.3


# Breaking off


RULES = {
    "velocity-verlet": f'rule = "velocity-verlet"\nstep = {STEP}',
    "r-respa": f'rule = "r-respa"\nstep = {STEP}',
    "kutta-merson": 'rule = "kutta-merson"\nrtol = 1e-6\natol = 1e-6',
    "dormand-prince": 'rule = "dormand-prince"\nrtol = 1e-7\natol = 1e-7',
}


def melt(tmp_path: Path, thermostat: str, rule: str = "velocity-verlet") -> str:
    positions, velocities, _, _ = started("triclinic", 90)
    arrays = tmp_path / "melt.npz"
    np.savez(arrays, positions=positions, velocities=velocities, kinds=np.array(["A"] * 90))
    lengths, tilts, _ = PLACES["triclinic"]
    return f"""
[case]
units = "lj"

[box]
lengths = {list(lengths)}
tilts = {list(tilts)}

[model]
builder = "particles"
file = "{arrays}"
species = {{A = {{mass = 1.0}}}}

[[forces]]
kind = "lennard-jones"
parameters = {{A = {{epsilon = 1.0, sigma = 1.0}}}}
cutoff = {CUTOFF}
truncation = "force-shifted"
{thermostat}
[integrator]
{RULES[rule]}

[run]
duration = 0.8
frames = 4
"""


SECTIONS = {
    "none": "",
    "nose-hoover-chain": '[thermostat]\nkind = "nose-hoover-chain"\ntemperature = 1.5\nperiod = 0.5\n',
    "langevin": '[thermostat]\nkind = "langevin"\ntemperature = 1.5\nfriction = 2.0\n',
    "stochastic-velocity-rescaling": (
        '[thermostat]\nkind = "stochastic-velocity-rescaling"\ntemperature = 1.5\ntime = 0.2\n'
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("rule", "bath"),
    [
        ("velocity-verlet", "none"),
        ("velocity-verlet", "langevin"),
        ("dormand-prince", "nose-hoover-chain"),
        pytest.param("velocity-verlet", "nose-hoover-chain", marks=pytest.mark.slow),
        pytest.param("velocity-verlet", "stochastic-velocity-rescaling", marks=pytest.mark.slow),
        pytest.param("kutta-merson", "none", marks=pytest.mark.slow),
    ],
)
def test_a_run_that_is_broken_off_between_rebuilds_goes_on_to_the_same_bits(tmp_path, monkeypatch, rule, bath):
    from articulon.simulation import loop

    def interrupt() -> None:  # which saves the state between two frames
        os.kill(os.getpid(), signal.SIGINT)

    case = case_of(tmp_path, melt(tmp_path, SECTIONS[bath], rule))
    whole = ar.run(case, tmp_path / "whole", report=False)
    assert whole.summary["steps"] > 100
    monkeypatch.setattr(loop, "CHUNK_SECONDS", 0.0)
    for part, at in enumerate((2, 7, 13)):
        with pytest.raises(KeyboardInterrupt):
            ar.run(case, tmp_path / "broken", resume=part > 0, progress=Shown(at, interrupt), report=False)
    assert ar.run(case, tmp_path / "broken", resume=True, report=False).summary["status"] == "complete"
    assert bits(tmp_path / "broken") == bits(tmp_path / "whole")


@pytest.mark.slow
def test_a_killed_run_goes_on_to_the_same_bits(tmp_path):
    text = melt(tmp_path, SECTIONS["langevin"]).replace("duration = 0.8", "duration = 24.0\ncheckpoint_interval = 0.02")
    goes_on_after_kills(tmp_path, text, (0.05, 0.2, 0.4))


# Density


@numba.njit
def soft(r2, parameters):
    """A hill that particles can cross."""
    u = parameters[0] * np.exp(-r2 * parameters[1])
    return u, 2.0 * parameters[1] * u, u * (4.0 * r2 * parameters[1] ** 2 - 6.0 * parameters[1])


def soft_law(height: float, inverse: float) -> Potential:
    def law(r: np.ndarray) -> Triple:
        u = height * np.exp(-inverse * r**2)
        return u, -2.0 * inverse * r * u, u * (4.0 * inverse**2 * r**2 - 2.0 * inverse)

    return law


@pytest.mark.slow
@pytest.mark.parametrize("place", ["open", "periodic"])
def test_a_cluster_that_forms_during_a_run_drops_no_pair(place):
    """250 particles, at first with few neighbours each, fly into one place where all are neighbours of all, and out
    again."""
    rng = np.random.default_rng(5)
    count, steps, edge = 250, 250, 22.0
    positions = scattered(rng, count, edge * np.eye(3), 1.0)
    velocities = -0.5 * (positions - edge / 2) + 0.02 * rng.normal(size=(count, 3))
    force = ar.forces.UserPair(function=soft, parameters=(0.05, 2.0), cutoff=CUTOFF)
    box = ar.Box(lengths=(edge,) * 3) if place == "periodic" else None
    model = particles(positions, force, box=box, velocities=velocities)
    found = ar.simulate(model, 2.5, rule="velocity-verlet", step=0.01, frames=10)
    vectors = None if box is None else edge * np.eye(3)
    x, v = verlet_trajectory(positions, velocities, soft_law(0.05, 2.0), CUTOFF, 0.01, steps, vectors)

    def neighbours(at: np.ndarray) -> float:
        return 2 * len(pairs_within(at, CUTOFF).first) / count

    assert neighbours(x[0]) < 3
    assert max(neighbours(x[k]) for k in range(150, 250, 10)) > 200
    assert np.abs(found.q.reshape(11, count, 3) - x[::25]).max() <= 1e-10
    assert np.abs(found.u.reshape(11, count, 3) - v[::25]).max() <= 1e-9


@pytest.mark.parametrize("count", [2, 3, 700])
def test_a_dense_cluster_far_from_everything_else_is_summed_whole(count):
    """In open space one particle a million lengths away must not make the cells of the others too large or too many."""
    rng = np.random.default_rng(count)
    positions = rng.normal(size=(count, 3))
    positions[0] = [1e6, -1e6, 2e6]
    law = ar.forces.UserPair(function=soft, parameters=(1.0, 0.5), cutoff=CUTOFF)
    expected = pair_sums(count, pairs_within(positions, CUTOFF), soft_law(1.0, 0.5), CUTOFF)
    found = engine_sums(particles(positions, law))
    assert found.energy == pytest.approx(expected.energy, rel=1e-12)
    assert np.abs(found.forces - expected.forces).max() <= 1e-12 * np.abs(expected.forces).max()
    assert (found.forces[0] == 0.0).all()


# Boxes


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("cutoff", [0.6, 1.4, 2.2])
def test_every_pair_of_a_dense_box_is_there(place, cutoff):
    """Random points, some of them very near to each other and to the faces; the law is soft."""
    rng = np.random.default_rng(8)
    count = 500
    given = PLACES[place]
    lengths, tilts, boundaries = given or (*PLACES["periodic"][:2], ())
    vectors = box_vectors(lengths, tilts)
    fractions = rng.random((count, 3))
    fractions[:40] = np.rint(fractions[:40])  # corners
    fractions[40:80, 0] = np.rint(fractions[40:80, 0])  # faces
    fractions += 1e-3 * rng.normal(size=(count, 3))
    periodic = tuple(kind == "periodic" for kind in boundaries)
    fractions += rng.integers(-3, 4, (count, 3)) * np.array(periodic or (0, 0, 0))
    positions = fractions @ vectors
    box = None if given is None else ar.Box(lengths=lengths, tilts=tilts, boundaries=boundaries)
    law = ar.forces.UserPair(function=soft, parameters=(1.0, 0.5), cutoff=cutoff)
    pairs = pairs_within(positions, cutoff, None if box is None else vectors, periodic or (False,) * 3)
    expected = pair_sums(count, pairs, soft_law(1.0, 0.5), cutoff)
    assert_same(engine_sums(particles(positions, law, box=box)), expected, 1e-12)
    near = nearest_images(
        positions[pairs.first] - positions[pairs.second], None if box is None else vectors, periodic or (False,) * 3
    )
    assert np.abs(near - pairs.separation).max() <= 1e-12


def test_the_origin_of_a_periodic_box_means_nothing():
    positions, _, box, _ = started("triclinic", 100)
    found = engine_sums(particles(positions, fluid(), box=box))
    elsewhere = box.model_copy(update={"origin": (-17.3, 2.2, 1000.0)})
    assert_same(engine_sums(particles(positions, fluid(), box=elsewhere)), found, 1e-11)


def test_another_choice_of_edges_of_the_same_lattice_means_nothing():
    """b and b + a span the same lattice, and so do boxes that stand for two of another."""
    lengths, positions = (6.0, 6.6, 7.0), started("periodic", 100)[0]
    found = engine_sums(particles(positions, fluid(), box=ar.Box(lengths=lengths, tilts=(3.0, 0.0, 0.0))))
    other = engine_sums(particles(positions, fluid(), box=ar.Box(lengths=lengths, tilts=(-3.0, 0.0, 0.0))))
    assert_same(other, found, 1e-12)
    doubled = np.vstack([positions, positions + [6.0, 0.0, 0.0]])
    straight = engine_sums(particles(positions, fluid(), box=ar.Box(lengths=lengths)))
    double = engine_sums(particles(doubled, fluid(), box=ar.Box(lengths=(12.0, *lengths[1:]))))
    assert double.energy == pytest.approx(2 * straight.energy, rel=1e-12)
    assert np.abs(double.forces[:100] - straight.forces).max() <= 1e-12 * np.abs(straight.forces).max()


def test_a_reflecting_box_throws_particles_back_and_changes_no_energy():
    """Free flight between walls is a triangle wave, whatever the step."""
    lengths, origin = np.array([3.0, 4.0, 5.0]), np.array([-1.0, 2.0, 0.5])
    rng = np.random.default_rng(3)
    positions = origin + rng.random((20, 3)) * lengths
    velocities = 4.0 * rng.normal(size=(20, 3))
    box = ar.Box(lengths=lengths, origin=origin, boundaries=("reflecting",) * 3)
    # A law whose range is far below any distance that occurs: nothing but the walls acts.
    law = ar.forces.WeeksChandlerAndersen(parameters={"A": {"epsilon": 1.0, "sigma": 1e-6}})
    found = ar.simulate(
        particles(positions, law, box=box, velocities=velocities), 6.0, rule="velocity-verlet", step=0.01, frames=12
    )
    for time, q, u in zip(found.times, found.q, found.u, strict=True):
        phase = np.mod(positions + velocities * time - origin, 2 * lengths)
        expected = origin + np.where(phase < lengths, phase, 2 * lengths - phase)
        assert np.abs(q.reshape(-1, 3) - expected).max() <= 1e-11
        assert np.abs(np.abs(u.reshape(-1, 3)) - np.abs(velocities)).max() == 0.0
        back = np.where(phase < lengths, 1.0, -1.0)
        clear = np.minimum(phase % lengths, lengths - phase % lengths) > 1e-9
        assert (np.sign(u.reshape(-1, 3)) == back * np.sign(velocities))[clear].all()
    assert np.ptp(found.kinetic_energy) <= 1e-12 * found.kinetic_energy[0]


def test_a_particle_that_would_cross_a_reflecting_box_in_a_step_ends_the_run():
    """Its way is not resolved: nothing comes out of the box unseen."""
    positions, velocities = np.array([[0.3, 0.4, 0.5], [0.6, 0.7, 0.8]]), np.array([[123.0, -77, 31], [5, 60, -99]])
    law = ar.forces.WeeksChandlerAndersen(parameters={"A": {"epsilon": 1.0, "sigma": 1e-6}})
    box = ar.Box(lengths=(1.0, 1.0, 1.0), boundaries=("reflecting",) * 3)
    model = particles(positions, law, box=box, velocities=velocities)
    with pytest.raises(ar.DivergenceError):
        ar.simulate(model, 1.0, rule="velocity-verlet", step=0.1, frames=2)


def test_a_periodic_box_lets_particles_fly_on():
    positions = np.array([[0.5, 0.5, 0.5], [3.0, 3.0, 3.0]])
    velocities = np.array([[7.0, -9.0, 11.0], [7.0, -9.0, 11.0]])
    model = particles(positions, fluid(), box=ar.Box(lengths=(6.0, 6.0, 6.0)), velocities=velocities)
    found = run(model, 1000)
    centre = found.q.reshape(-1, 2, 3).mean(axis=1)
    assert np.abs(centre - positions.mean(axis=0) - found.times[:, None] * velocities[0]).max() <= 1e-11


@pytest.mark.parametrize("runner", [0, 1, 63])
def test_a_list_is_renewed_whichever_particle_alone_has_gone_too_far(runner):
    """Also when it is the first, whose place is what asks for a new list: shot at the others, it must meet them."""
    places = 3.0 * np.stack(np.meshgrid(*[np.arange(4.0)] * 3, indexing="ij"), axis=-1).reshape(-1, 3)
    velocities = np.zeros((64, 3))
    places[runner], velocities[runner] = (-12.0, 3.1, 3.2), (4.0, 0.0, 0.0)
    builder = ar.ModelBuilder(units="lj")
    builder.add_particles(64, mass=1.0, positions=places, velocities=velocities, kind="A")
    builder.add_force(
        ar.forces.LennardJones(parameters={"A": {"epsilon": 1.0, "sigma": 1.0}}, cutoff=2.5, truncation="force-shifted")
    )
    done = ar.simulate(builder.build(), 4.0, rule="velocity-verlet", step=0.001, frames=40)
    assert np.ptp(done.kinetic_energy) > 1.0  # it did
    energy = done.kinetic_energy + done.potential_energy
    assert np.ptp(energy) < 1e-3


@pytest.mark.parametrize("far", [1e17, 3e20, 1.7e25])
def test_a_site_beyond_all_digits_of_the_box_ends_no_list(far: float) -> None:
    rng = np.random.default_rng(3)
    builder = ar.ModelBuilder(units="lj", box=ar.Box(lengths=(6.0, 6.6, 7.0), tilts=(2.0, -1.7, 2.4)))
    positions = 6.0 * rng.random((50, 3))
    builder.add_particles(50, mass=1.0, positions=positions, kind="A")
    builder.add_force(fluid())
    terms = SiteForces(builder.build())
    positions[7] *= far
    terms.evaluate(positions)
    assert terms.system.particles.counts[IMAGES] < 50 * 27


@pytest.mark.parametrize(
    ("lengths", "skin", "count"),
    [((0.001, 200.0, 200.0), 40.0, 2), ((0.1, 0.1, 1000.0), 2.5, 20)],
    ids=["many of a site", "many blocks"],
)
def test_thin_boxes_with_long_skins_have_all_their_images(lengths: Any, skin: float, count: int) -> None:
    """More images of a site across one axis than a short integer counts, and more blocks of images than cells."""
    rng = np.random.default_rng(1)
    builder = ar.ModelBuilder(units="lj", box=ar.Box(lengths=lengths))
    x = rng.random((count, 3)) * lengths
    x[1] = x[0] + [0.0003, 0.0, 0.0]
    builder.add_particles(count, mass=1.0, positions=x, kind="A")
    parameters = {"A": {"epsilon": 0.1, "sigma": 0.0001}}
    builder.add_force(ar.forces.LennardJones(parameters=parameters, cutoff=0.0004, skin=skin))
    terms = SiteForces(builder.build())
    forces = terms.evaluate(x)
    assert np.isfinite(forces).all() and forces[0, 0] != 0.0
    assert np.abs(forces.sum(axis=0)).max() <= 1e-12 * np.abs(forces).max()
