"""Forces of sites are minus the gradient of their energy, the virial its answer to strain, the Laplacian its curvature.

Each term alone and all together, in open space, in boxes straight and tilted, and on jointed bodies.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numba
import numpy as np
import pytest

import articulon as ar
from articulon.dynamics.momenta import momentum
from articulon.forces.sites.site_evaluation import SiteForces
from articulon.forces.sites.site_tables import ENERGY, LAPLACIAN, W_XX, W_YZ
from tests.support.pair_sums import pairs_within
from tests.support.particle_models import (
    box_vectors,
    derivative,
    displaced,
    particles,
    scattered,
    second_derivative,
    wandered,
)

COUNT = 16
CUTOFF = 2.3
START = 1.6
FENE_SIGMA = 1.8
KINDS = list("ABC" * COUNT)[:COUNT]
PARAMETERS = {
    "A": {"epsilon": 1.0, "sigma": 1.0},
    "B": {"epsilon": 0.5, "sigma": 0.85},
    "C": {"epsilon": 1.4, "sigma": 0.9},
}
MEETINGS = [("A", "A"), ("A", "B"), ("A", "C"), ("B", "B"), ("B", "C"), ("C", "C")]
PLACES = {
    "open": None,
    "periodic": ((5.0, 5.4, 4.9), (0.0, 0.0, 0.0), ("periodic", "periodic", "periodic")),
    "triclinic": ((6.0, 5.6, 5.2), (1.6, -1.1, 2.0), ("periodic", "periodic", "periodic")),
    "slab": ((5.0, 5.4, 4.9), (0.0, 0.0, 0.0), ("periodic", "periodic", "open")),
}
STEP = 3e-4
BOUND = 1e-8
"""Of the largest force: a difference of fourth order with this step is off by h⁴E⁽⁵⁾/30, where the twelfth power of a
site at 0.8σ has E⁽⁵⁾ = 1e6 times its force, and by ε|E|/h."""


@numba.njit
def gaussian(r2, parameters):
    u = parameters[0] * np.exp(-r2 * parameters[1])
    return u, 2.0 * parameters[1] * u, u * (4.0 * r2 * parameters[1] ** 2 - 6.0 * parameters[1])


def table(**values: tuple[float, ...]) -> list[dict[str, Any]]:
    """A row for each pair of kinds, each with its own parameters."""
    return [
        {"kinds": kinds, **{name: base * (1.0 + 0.1 * n) for name, base in values.items()}}
        for n, kinds in enumerate(MEETINGS)
    ]


def members(length: int) -> list[tuple[int, ...]]:
    """Chains through all sites, in no order of theirs."""
    order = np.random.default_rng(3).permutation(COUNT).tolist()
    return [tuple(order[i : i + length]) for i in range(COUNT - length + 1)]


def lennard_jones(truncation: str, **more: Any) -> Callable[[], list[Any]]:
    start = {"switch_start": START} if truncation == "switched" else {}
    return lambda: [
        ar.forces.LennardJones(parameters=PARAMETERS, cutoff=CUTOFF, truncation=truncation, **start, **more)
    ]


def coulomb(truncation: str, **more: Any) -> Callable[[], list[Any]]:
    return lambda: [ar.forces.Coulomb(cutoff=CUTOFF, truncation=truncation, relative_permittivity=1.5, **more)]


TERMS: dict[str, Callable[[], list[Any]]] = {
    "lennard-jones": lennard_jones("truncated"),
    "lennard-jones shifted": lennard_jones("shifted", mixing="geometric"),
    "lennard-jones force-shifted": lennard_jones("force-shifted", mixing="sixth-power"),
    "lennard-jones switched": lennard_jones("switched"),
    "lennard-jones of pairs": lambda: [
        ar.forces.LennardJones(
            parameters=PARAMETERS, pairs=[{"kinds": ("A", "B"), "epsilon": 2.0, "sigma": 0.8}], cutoff=CUTOFF
        )
    ],
    "twelve-six": lambda: [ar.forces.TwelveSix(table=table(A=1.0, B=2.0, C=-1.0), cutoff=CUTOFF)],
    "twelve-six force-shifted": lambda: [
        ar.forces.TwelveSix(table=table(A=1.0, B=2.0, C=-1.0), cutoff=CUTOFF, truncation="force-shifted")
    ],
    "twelve-six switched": lambda: [
        ar.forces.TwelveSix(table=table(A=1.0, B=2.0, C=-1.0), cutoff=CUTOFF, truncation="switched", switch_start=START)
    ],
    "coulomb": coulomb("truncated"),
    "coulomb shifted": coulomb("shifted"),
    "coulomb reaction-field": coulomb("reaction-field", reaction_permittivity=20.0),
    "coulomb force-shifted": coulomb("force-shifted", damping=0.5),
    "coulomb wolf": coulomb("wolf", damping=0.9),
    "weeks-chandler-andersen": lambda: [ar.forces.WeeksChandlerAndersen(parameters=PARAMETERS)],
    "morse": lambda: [ar.forces.Morse(pairs=table(depth=1.5, width=3.0, distance=1.1), cutoff=CUTOFF)],
    "morse force-shifted": lambda: [
        ar.forces.Morse(pairs=table(depth=1.5, width=3.0, distance=1.1), cutoff=CUTOFF, truncation="force-shifted")
    ],
    "user-pair": lambda: [ar.forces.UserPair(function=gaussian, parameters=(2.0, 0.9), cutoff=CUTOFF)],
    "harmonic-bonds": lambda: [
        ar.forces.HarmonicBonds(bonds=members(2), stiffness=np.linspace(3.0, 9.0, COUNT - 1), length=1.3)
    ],
    "fene-bonds": lambda: [
        ar.forces.FeneBonds(bonds=members(2), stiffness=3.0, extent=6.0, epsilon=1.5, sigma=FENE_SIGMA)
    ],
    "harmonic-angles": lambda: [
        ar.forces.HarmonicAngles(angles=members(3), stiffness=np.linspace(3.0, 9.0, COUNT - 2), angle=1.9)
    ],
    "periodic-dihedrals": lambda: [
        ar.forces.PeriodicDihedrals(
            dihedrals=members(4), stiffness=2.0, multiplicity=[1, 2, 3, 4, 6, 1, 2, 3, 4, 6, 1, 2, 3], phase=0.4
        )
    ],
    "harmonic-dihedrals": lambda: [ar.forces.HarmonicDihedrals(dihedrals=members(4), stiffness=2.0, angle=2.0)],
    "scaled and left out": lambda: [
        ar.forces.LennardJones(parameters=PARAMETERS, cutoff=CUTOFF, truncation="shifted"),
        ar.forces.Coulomb(cutoff=CUTOFF, truncation="force-shifted", damping=0.4),
        ar.forces.Exclusions(
            bonds=members(2), bonds_apart=2, pairs=[(0, 9)], scaled_14={"lennard_jones": 0.5, "coulomb": 0.8}
        ),
    ],
    "together": lambda: [
        *TERMS["lennard-jones switched"](),
        *TERMS["coulomb force-shifted"](),
        *TERMS["harmonic-bonds"](),
        *TERMS["harmonic-angles"](),
        *TERMS["periodic-dihedrals"](),
        *TERMS["harmonic-dihedrals"](),
        ar.forces.Exclusions(bonds=members(2), bonds_apart=2, scaled_14={"lennard_jones": 0.5, "coulomb": 0.8}),
    ],
}


def box_of(place: str, strain: np.ndarray | None = None) -> Any:
    """The box of a place, its edges strained."""
    if PLACES[place] is None:
        return None
    lengths, tilts, boundaries = PLACES[place]
    vectors = box_vectors(lengths, tilts)
    vectors = vectors if strain is None else vectors @ (np.eye(3) + strain).T
    return ar.Box(
        lengths=vectors.diagonal(),
        tilts=(vectors[1, 0], vectors[2, 0], vectors[2, 1]),
        boundaries=boundaries,
    )


def is_clear(positions: np.ndarray, vectors: np.ndarray | None, periodic: tuple[bool, bool, bool]) -> bool:
    """Whether no distance is so near to where some law ends or changes that a difference would reach across."""
    pairs = pairs_within(positions, CUTOFF + 0.1, vectors, periodic)
    r = np.sqrt((pairs.separation**2).sum(axis=1))
    sigma = np.array([PARAMETERS[kind]["sigma"] for kind in KINDS])
    minima = 2 ** (1 / 6) * np.array([(sigma[pairs.first] + sigma[pairs.second]) / 2, np.full(r.size, FENE_SIGMA)])
    return bool(min(np.abs(r - CUTOFF).min(), np.abs(r - START).min(), np.abs(r - minima).min()) > 8.0 * STEP)


def positions_in(place: str) -> tuple[np.ndarray, np.random.Generator]:
    rng = np.random.default_rng([7, *map(ord, place)])
    lengths, tilts, boundaries = PLACES[place] or ((4.0, 4.0, 4.0), (0.0, 0.0, 0.0), ("open",) * 3)
    vectors = box_vectors(lengths, tilts)
    periodic = tuple(kind == "periodic" for kind in boundaries)
    positions = scattered(rng, COUNT, vectors, 0.85)
    while not is_clear(positions, vectors, periodic):
        positions = scattered(rng, COUNT, vectors, 0.85)
    if boundaries.count("periodic") == 3:
        positions = wandered(rng, positions, vectors)
    return positions, rng


def model_in(place: str, term: str, positions: np.ndarray | None = None, strain: np.ndarray | None = None) -> Any:
    charges = np.where(np.arange(COUNT) % 2, 1.0, -1.0)
    positions = positions_in(place)[0] if positions is None else positions
    return particles(positions, *TERMS[term](), box=box_of(place, strain), kinds=KINDS, charges=charges)


def forces_of(model: Any, q: np.ndarray) -> np.ndarray:
    return np.asarray(ar.generalized_forces(model, q, np.zeros(model.nu)))


@pytest.mark.slow
@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("term", TERMS)
def test_forces_are_minus_the_gradient_of_the_energy(term, place):
    model, (_, rng) = model_in(place, term), positions_in(place)
    forces = forces_of(model, model.q0)
    size = np.abs(forces).max()
    assert size > 0.0
    # The steepest direction, a random one, and each direction of one site.
    directions = [forces / np.linalg.norm(forces), rng.normal(size=model.nu) / np.sqrt(model.nu)]
    directions += list(np.eye(model.nu)[21:24])
    for direction in directions:
        slope = derivative(lambda s, d=direction: ar.potential_energy(model, model.q0 + s * d), STEP)
        scale = max(np.linalg.norm(forces) / np.sqrt(model.nu), size)
        assert abs(slope + forces @ direction) <= BOUND * scale * max(1.0, np.abs(direction).max() * 4.0)


def quick(term: str, place: str) -> Any:
    """Pair laws alone are held against other engines and sums as well; all of this in every place takes a minute."""
    alone = ("lennard-jones", "twelve-six", "coulomb", "morse", "weeks-chandler-andersen", "user-pair")
    beside = place == "open" and term.partition(" ")[0] in alone
    marks = [pytest.mark.slow] if beside or place in ("periodic", "slab") else []
    return pytest.param(term, place, marks=marks)


TWICE = ("open", "triclinic")
"""Where a law of the user's is put into the loops that all laws share: it is compiled anew for each place."""
EVERYWHERE = [quick(term, place) for term in TERMS for place in PLACES if term != "user-pair" or place in TWICE]


@pytest.mark.parametrize(("term", "place"), EVERYWHERE)
def test_the_virial_is_what_strain_of_box_and_positions_costs(term, place):
    """∂E/∂ε_ab = −W_ab for r → (1 + ε)r, edges included; the trace is −3V∂E/∂V."""
    model, (positions, _) = model_in(place, term), positions_in(place)
    virial = np.asarray(ar.virial(model, model.q0))
    assert virial.shape == (3, 3)
    scale = max(np.abs(virial).max(), np.abs(forces_of(model, model.q0)).max())
    assert np.abs(virial - virial.T).max() <= 1e-13 * scale
    for a, b in ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2)):

        def energy(s: float, a: int = a, b: int = b) -> float:
            strain = np.zeros((3, 3))
            strain[a, b] = s
            strained = model_in(place, term, positions @ (np.eye(3) + strain).T, strain)
            return ar.potential_energy(strained, strained.q0)

        assert abs(derivative(energy, STEP) + virial[a, b]) <= 10 * BOUND * scale


@pytest.mark.parametrize(("term", "place"), EVERYWHERE)
def test_the_laplacian_is_the_curvature_of_the_energy_along_every_coordinate(term, place):
    model = model_in(place, term)
    laplacian = ar.configurational_laplacian(model, model.q0)
    parts = np.array(
        [
            second_derivative(lambda s, k=k: ar.potential_energy(model, model.q0 + s * np.eye(model.nu)[k]), 1e-3)
            for k in range(model.nu)
        ]
    )
    # Off by h⁴E⁽⁶⁾/90 and by ε|E|/h².
    energy = abs(ar.potential_energy(model, model.q0))
    assert abs(laplacian - parts.sum()) <= BOUND * np.abs(parts).sum() + 1e-15 * model.nu * energy / 1e-6


@pytest.mark.parametrize(("term", "place"), EVERYWHERE)
def test_nothing_changes_under_translation_and_the_forces_add_up_to_nothing(term, place):
    model = model_in(place, term)
    forces = forces_of(model, model.q0).reshape(-1, 3)
    size = np.abs(forces).sum()
    assert np.abs(forces.sum(axis=0)).max() <= 1e-14 * size
    aside = (model.q0.reshape(-1, 3) + np.array([1.234, -0.777, 2.345])).ravel()
    assert ar.potential_energy(model, aside) == pytest.approx(ar.potential_energy(model, model.q0), rel=1e-12)
    assert np.abs(forces_of(model, aside).reshape(-1, 3) - forces).max() <= 1e-12 * size
    assert np.abs(np.asarray(ar.virial(model, aside)) - ar.virial(model, model.q0)).max() <= 1e-12 * size


@pytest.mark.parametrize("term", TERMS)
def test_in_open_space_rotation_changes_nothing_and_no_term_makes_a_torque(term):
    model = model_in("open", term)
    x, forces = model.q0.reshape(-1, 3), forces_of(model, model.q0).reshape(-1, 3)
    assert np.abs(np.cross(x, forces).sum(axis=0)).max() <= 1e-13 * np.abs(forces).sum() * np.abs(x).max()
    turn, _ = np.linalg.qr(np.random.default_rng(4).normal(size=(3, 3)))
    turn *= np.sign(np.linalg.det(turn))
    q = np.ascontiguousarray(x @ turn.T).ravel()
    assert ar.potential_energy(model, q) == pytest.approx(ar.potential_energy(model, model.q0), rel=1e-12)
    assert np.abs(forces_of(model, q).reshape(-1, 3) - forces @ turn.T).max() <= 1e-12 * np.abs(forces).sum()


def test_the_pressure_is_that_of_ideal_gas_and_virial():
    model, (positions, rng) = model_in("triclinic", "together"), positions_in("triclinic")
    u = rng.normal(size=model.nu)
    expected = (u @ u + np.trace(ar.virial(model, model.q0))) / (3.0 * model.box.volume)
    assert ar.pressure(model, model.q0, u) == pytest.approx(expected, rel=1e-13)
    assert positions.shape == (COUNT, 3)


@pytest.mark.parametrize("place", ["open", "triclinic"])
@pytest.mark.parametrize("term", ["lennard-jones", "weeks-chandler-andersen", "together"])
def test_what_is_not_a_number_survives(term, place):
    """A pair's distance that is not a number is not beyond the cutoff: a run that diverges must be seen to."""
    model = model_in(place, term)
    sites, x = SiteForces(model), model.q0.reshape(-1, 3).copy()
    x[1, 0] = np.nan
    measures = sites.measure(x)
    assert np.isnan(measures[ENERGY])
    assert np.isnan(measures[LAPLACIAN])
    assert np.isnan(measures[W_XX : W_YZ + 1]).any()
    assert np.isnan(sites.evaluate(x)[1]).any()


def test_the_pressure_of_bodies_is_what_a_change_of_volume_costs_that_moves_them_whole():
    """Free dumbbells of two links on a hinge: strain moves their centres of mass and turns and bends nothing."""
    rng, law = np.random.default_rng(5), {"A": {"epsilon": 1.0, "sigma": 1.0}}
    turns = rng.normal(size=(8, 4))
    speeds = rng.normal(size=(8, 7))

    def model_of(scale: float) -> Any:
        builder = ar.ModelBuilder(units="lj", box=ar.Box(lengths=(7.0 * scale,) * 3))
        for k in range(8):
            centre = 3.5 * np.array([k & 1, k >> 1 & 1, k >> 2]) + 0.5
            turn = turns[k] / np.linalg.norm(turns[k])
            inertia = (0.3, 0.4, 0.5)
            one = builder.add_body(
                f"a{k}", mass=2.0, inertia=inertia, com=(0.1, 0.0, 0.0), joint=ar.Free(),
                q=(*centre, *turn), u=speeds[k, :6],
            )  # fmt: skip
            two = builder.add_body(
                f"b{k}", parent=one, mass=1.0, inertia=inertia, joint=ar.Revolute(axis=(0, 0, 1)),
                position=(0.5, 0.0, 0.0), q=0.3, u=speeds[k, 6],
            )  # fmt: skip
            builder.add_site(one, position=(-0.4, 0.2, 0.0), kind="A")
            builder.add_site(two, position=(0.5, 0.0, 0.1), kind="A")
        builder.add_force(ar.forces.LennardJones(parameters=law, cutoff=3.0, truncation="force-shifted"))
        builder.add_force(ar.forces.Exclusions(excluded_joints=1))
        return builder.build()

    model = model_of(1.0)
    volume = model.box.volume
    energy = [_scaled_energy(model_of, model, scale) for scale in (1 - 2e-4, 1 - 1e-4, 1 + 1e-4, 1 + 2e-4)]
    slope = (energy[0] - 8.0 * energy[1] + 8.0 * energy[2] - energy[3]) / 12e-4
    still = ar.pressure(model, model.q0, np.zeros(model.nu))
    assert still == pytest.approx(-slope / (3.0 * volume), rel=1e-8)
    # One dumbbell's momentum alone, by the momentum of the whole model.
    kinetic = 0.0
    for k in range(8):
        u = np.zeros(model.nu)
        u[7 * k : 7 * k + 7] = model.u0[7 * k : 7 * k + 7]
        kinetic += 0.5 * float((momentum(model, model.q0, u)[:3] ** 2).sum()) / 3.0
    assert ar.pressure(model, model.q0, model.u0) - still == pytest.approx(2.0 * kinetic / (3.0 * volume), rel=1e-12)


def _scaled_energy(model_of: Callable[[float], Any], model: Any, scale: float) -> float:
    """The energy of the dumbbells where their centres of mass have moved with the box, and nothing else has."""
    q = model.q0.copy()
    positions, rotations = ar.body_poses(model, q)
    for k in range(8):
        w, v, c = rotations[2 * k, 0], rotations[2 * k, 1:], np.array([0.1, 0.0, 0.0])
        first = positions[2 * k] + c + 2.0 * np.cross(v, np.cross(v, c) + w * c)
        q[8 * k : 8 * k + 3] += (scale - 1.0) * (2.0 * first + positions[2 * k + 1]) / 3.0
    return float(ar.potential_energy(model_of(scale), q))


def test_a_position_without_a_number_leaves_no_trace_in_what_is_asked_next():
    model = model_in("triclinic", "together")
    sites, x = SiteForces(model), model.q0.reshape(-1, 3)
    before, forces, broken = sites.measure(x).copy(), sites.evaluate(x).copy(), x.copy()
    broken[3, 1] = np.nan
    assert np.isnan(sites.measure(broken)[: W_YZ + 1]).all()
    np.testing.assert_array_equal(sites.measure(x), before)
    assert np.isnan(sites.evaluate(broken)).any()
    np.testing.assert_array_equal(sites.evaluate(x), forces)


# Sums over images


def test_ewald_sums_are_the_gradient_and_the_strain_of_one_energy():
    """With its parameters fixed, so that a strain does not choose others."""

    def model_of(positions: np.ndarray, strain: np.ndarray | None = None) -> Any:
        law = ar.forces.Ewald(cutoff=2.4, damping=2.0, waves=(20, 20, 20))
        charges = np.where(np.arange(COUNT) % 2, 1.0, -1.0)
        return particles(positions, law, box=box_of("triclinic", strain), kinds=KINDS, charges=charges)

    positions, rng = positions_in("triclinic")
    model = model_of(positions)
    forces = forces_of(model, model.q0)
    size = np.abs(forces).max()
    for direction in (forces / np.linalg.norm(forces), rng.normal(size=model.nu) / np.sqrt(model.nu)):
        slope = derivative(lambda s, d=direction: ar.potential_energy(model, model.q0 + s * d), STEP)
        assert abs(slope + forces @ direction) <= 4.0 * BOUND * size
    virial = np.asarray(ar.virial(model, model.q0))
    for a, b in ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2)):

        def energy(s: float, a: int = a, b: int = b) -> float:
            strain = np.zeros((3, 3))
            strain[a, b] = s
            strained = model_of(positions @ (np.eye(3) + strain).T, strain)
            return ar.potential_energy(strained, strained.q0)

        assert abs(derivative(energy, STEP) + virial[a, b]) <= 10 * BOUND * max(size, np.abs(virial).max())
    # A sum of 1/r is homogeneous: the trace of the virial is the energy.
    assert np.trace(virial) == pytest.approx(ar.potential_energy(model, model.q0), rel=1e-9)


# Walls


@pytest.mark.parametrize("truncation", ["truncated", "shifted", "force-shifted"])
def test_walls_push_along_minus_the_gradient(truncation):
    """Guy 3.10, A/r¹² − B/r⁶ of the distance to each face."""
    rng = np.random.default_rng(2)
    lengths = np.array([4.0, 4.4, 5.0])
    positions = scattered(rng, COUNT, np.diag(lengths - 1.6), 0.5) + 0.8
    walls = ar.forces.LennardJonesWall(faces="all", parameters=PARAMETERS, cutoff=2.2, truncation=truncation)
    box = ar.Box(lengths=lengths, boundaries=("reflecting",) * 3)
    model = particles(positions, walls, box=box, kinds=KINDS)
    forces = forces_of(model, model.q0)
    for direction in (forces / np.linalg.norm(forces), rng.normal(size=model.nu) / np.sqrt(model.nu)):
        slope = derivative(lambda s, d=direction: ar.potential_energy(model, model.q0 + s * d), STEP)
        assert abs(slope + forces @ direction) <= 4.0 * BOUND * np.abs(forces).max()
    parts = [
        second_derivative(lambda s, k=k: ar.potential_energy(model, model.q0 + s * np.eye(model.nu)[k]), 1e-3)
        for k in range(model.nu)
    ]
    assert abs(ar.configurational_laplacian(model, model.q0) - sum(parts)) <= 10 * BOUND * np.abs(parts).sum()
    # By hand: what each face does to each site, along its own axis.
    x = model.q0.reshape(-1, 3)
    a = np.array([4.0 * PARAMETERS[k]["epsilon"] * PARAMETERS[k]["sigma"] ** 12 for k in KINDS])[:, None]
    b = np.array([4.0 * PARAMETERS[k]["epsilon"] * PARAMETERS[k]["sigma"] ** 6 for k in KINDS])[:, None]
    expected = np.zeros_like(x)
    for sign, r in ((1.0, x), (-1.0, lengths - x)):
        push = 12 * a / r**13 - 6 * b / r**7
        push -= (12 * a / 2.2**13 - 6 * b / 2.2**7) * (truncation == "force-shifted")
        expected += np.where(r < 2.2, sign * push, 0.0)
    assert np.abs(forces.reshape(-1, 3) - expected).max() <= 1e-13 * np.abs(expected).max()


# Jointed bodies


@pytest.mark.parametrize("place", ["open", "triclinic"])
@pytest.mark.parametrize("term", ["lennard-jones switched", "coulomb wolf", "harmonic-angles", "together"])
def test_on_jointed_bodies_the_generalised_forces_are_minus_the_gradient(term, place):
    """Every joint; two sites on each body, off its origin, and particles between: all as one list of sites."""
    joints = (ar.Free(), ar.Revolute(axis=(0.0, 0.6, 0.8)), ar.Spherical(), ar.Prismatic(axis=(1.0, 0.0, 0.0)))
    joints = (*joints, ar.Free(), ar.Universal())
    builder = ar.ModelBuilder(units="lj", box=box_of(place))
    body = None
    spots = np.array([[0.4, 0.3, 0.0], [-0.4, 0.2, 0.5]])
    for k, joint in enumerate(joints):
        moving = {"free": [*(0.9, 1.0, 1.1), *(0.5, 0.5, -0.5, 0.5)], "spherical": [0.8, 0.6, 0.0, 0.0]}
        body = builder.add_body(
            f"body-{k}",
            joint=joint,
            parent=None if isinstance(joint, ar.Free) else body,
            mass=2.0,
            inertia=(0.3, 0.4, 0.5),
            com=(0.1, 0.0, 0.1),
            position=(0.0, 0.0, 0.0) if k == 0 else (0.3, 1.1, 3.0) if k == 4 else (1.2, 0.2, 0.1),
            q=moving.get(type(joint).__name__.lower(), 0.2 * np.ones(joint.nq)),
        )
        for n, spot in enumerate(spots):
            builder.add_site(body, spot, charge=(-1.0) ** n, kind="ABC"[(k + n) % 3])
    builder.add_particles(
        4,
        mass=1.0,
        positions=[[3.5, 3.6, 1.2], [4.1, 2.1, 4.2], [1.9, 4.2, 1.3], [3.1, 0.3, 4.4]],
        charge=[1.0, -1.0, 1.0, -1.0],
        kind=list("ABCA"),
    )
    for force in TERMS[term]():
        builder.add_force(force)
    model = builder.build()
    forces = forces_of(model, model.q0)
    assert forces.shape == (model.nu,)
    for direction in (forces / np.linalg.norm(forces), *np.eye(model.nu)):
        slope = derivative(lambda s, d=direction: ar.potential_energy(model, displaced(model, model.q0, d, s)), STEP)
        assert abs(slope + forces @ direction) <= 10 * BOUND * np.abs(forces).max()


def test_sites_of_one_body_never_meet():
    """Two sites almost on top of each other: the energy is that of the distances between bodies."""
    builder = ar.ModelBuilder(units="lj")
    for k in range(2):
        body = builder.add_body(
            f"body-{k}", joint=ar.Free(), mass=1.0, inertia=1.0, q=[2.0 * k, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0]
        )
        for height in (0.0, 1e-3):
            builder.add_site(body, (0.0, 0.0, height), kind="A")
    builder.add_force(ar.forces.LennardJones(parameters={"A": PARAMETERS["A"]}))
    model = builder.build()
    r = np.array([2.0, 2.0, np.hypot(2.0, 1e-3), np.hypot(2.0, 1e-3)])
    expected = (4.0 / r**12 - 4.0 / r**6).sum()
    assert ar.potential_energy(model, model.q0) == pytest.approx(expected, rel=1e-12)
