"""LAMMPS on the same random configurations: every potential that both have, to 1e-10."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pytest
from scipy.special import erfc

import articulon as ar
from tests.support.lammps_peer import lammps_sums
from tests.support.pair_sums import (
    Potential,
    Sums,
    coulomb,
    damped_coulomb,
    force_shifted,
    lennard_jones,
    morse,
    pair_sums,
    pairs_within,
    shifted,
    switched,
    twelve_six,
)
from tests.support.particle_models import (
    assert_same,
    box_vectors,
    chain,
    engine_sums,
    particles,
    scattered,
    wandered,
)

CUTOFF = 2.4
START = 1.8
BOUND = 1e-10
COUNT = 60


class Place(NamedTuple):
    """A box and how it ends."""

    lengths: tuple[float, float, float]
    tilts: tuple[float, float, float]
    periodic: tuple[bool, bool, bool]


PLACES = {
    "periodic": Place((5.5, 6.0, 7.0), (0.0, 0.0, 0.0), (True, True, True)),
    "triclinic": Place((6.5, 6.0, 7.0), (1.5, -1.0, 2.0), (True, True, True)),
    "slab": Place((5.5, 6.0, 7.0), (0.0, 0.0, 0.0), (True, True, False)),
    "open": Place((5.5, 6.0, 7.0), (0.0, 0.0, 0.0), (False, False, False)),
}
ORIGIN = (-1.0, 0.5, 3.0)


class Configuration(NamedTuple):
    """Random sites of two kinds, with charges that add up to nothing."""

    place: Place
    vectors: np.ndarray
    positions: np.ndarray
    kinds: np.ndarray
    charges: np.ndarray

    def model(self, forces: list[Any], rng: np.random.Generator | None = None) -> Any:
        boundaries = tuple("periodic" if p else "open" for p in self.place.periodic)
        box = ar.Box(lengths=self.place.lengths, tilts=self.place.tilts, boundaries=boundaries, origin=ORIGIN)
        positions = self.positions
        if rng is not None and all(self.place.periodic):
            positions = wandered(rng, positions, self.vectors)
        return particles(
            positions,
            *forces,
            box=box if any(self.place.periodic) else None,
            kinds=["AB"[k] for k in self.kinds],
            charges=self.charges,
        )

    def lammps(self, folder: Any, commands: list[str], **members: Any) -> Sums:
        return lammps_sums(
            folder,
            commands,
            self.positions,
            self.vectors,
            origin=ORIGIN,
            periodic=self.place.periodic,
            kinds=self.kinds,
            charges=self.charges,
            **members,
        )

    def numpy(self, law: Callable[[np.ndarray, np.ndarray, np.ndarray], Potential], cutoff: float) -> Sums:
        """``law`` takes the kinds of both sites, and the product of their charges, of every pair."""
        pairs = pairs_within(self.positions, cutoff, self.vectors, self.place.periodic)
        a, b = self.kinds[pairs.first], self.kinds[pairs.second]
        qq = self.charges[pairs.first] * self.charges[pairs.second]
        return pair_sums(len(self.positions), pairs, law(np.minimum(a, b), np.maximum(a, b), qq), cutoff)


def configured(name: str) -> Configuration:
    place = PLACES[name]
    rng = np.random.default_rng(list(PLACES).index(name))
    vectors = box_vectors(place.lengths, place.tilts)
    charges = rng.normal(size=COUNT)
    return Configuration(
        place,
        vectors,
        scattered(rng, COUNT, vectors, 0.85) + ORIGIN,
        np.repeat([0, 1], COUNT // 2),
        charges - charges.mean(),
    )


@pytest.fixture(params=PLACES)
def configuration(request) -> Configuration:
    return configured(request.param)


# Pairs: the engine's declaration, LAMMPS's commands and the same by numpy

EPSILON, SIGMA = np.array([1.0, 0.4]), np.array([1.0, 0.8])
PARAMETERS = {"A": {"epsilon": 1.0, "sigma": 1.0}, "B": {"epsilon": 0.4, "sigma": 0.8}}
SAME = ["pair_coeff 1 1 1.0 1.0", "pair_coeff 2 2 0.4 0.8"]
TABLE = (
    {"kinds": ("A", "A"), "A": 4.0, "B": 4.0, "C": 1.0},
    {"kinds": ("A", "B"), "A": 3.0, "B": 1.0, "C": -2.0},
    {"kinds": ("B", "B"), "A": 2.0, "B": 0.5, "C": 0.7},
)
A, B, C = (np.array([[TABLE[0][k], TABLE[1][k]], [TABLE[1][k], TABLE[2][k]]]) for k in ("A", "B", "C"))


def mixed(rule: str) -> Callable[[np.ndarray, np.ndarray], Potential]:
    """Lennard-Jones of two kinds each, combined."""

    def law(a: np.ndarray, b: np.ndarray) -> Potential:
        e, f, s, t = EPSILON[a], EPSILON[b], SIGMA[a], SIGMA[b]
        if rule == "sixth-power":
            return lennard_jones(2 * np.sqrt(e * f) * s**3 * t**3 / (s**6 + t**6), ((s**6 + t**6) / 2) ** (1 / 6))
        return lennard_jones(np.sqrt(e * f), (s + t) / 2 if rule == "lorentz-berthelot" else np.sqrt(s * t))

    return law


class Law(NamedTuple):
    declared: Callable[[], list[Any]]
    commands: list[str]
    numpy: Callable[[np.ndarray, np.ndarray, np.ndarray], Potential]


def lennard_jones_law(truncation: str, rule: str, commands: list[str], change: Callable[..., Potential]) -> Law:
    def declared() -> list[Any]:
        start = {"switch_start": START} if truncation == "switched" else {}
        return [
            ar.forces.LennardJones(parameters=PARAMETERS, mixing=rule, cutoff=CUTOFF, truncation=truncation, **start)
        ]

    return Law(declared, commands, lambda a, b, qq: change(mixed(rule)(a, b)))


MORSE = (1.3, 3.1, 1.1)
CUT = f"pair_style lj/cut {CUTOFF}"
LAWS = {
    "lennard-jones": lennard_jones_law(
        "truncated",
        "lorentz-berthelot",
        [CUT, *SAME, "pair_modify mix arithmetic"],
        lambda u: u,
    ),
    "lennard-jones geometric": lennard_jones_law(
        "truncated", "geometric", [CUT, *SAME, "pair_modify mix geometric"], lambda u: u
    ),
    "lennard-jones sixth-power": lennard_jones_law(
        "truncated", "sixth-power", [CUT, *SAME, "pair_modify mix sixthpower"], lambda u: u
    ),
    "lennard-jones shifted": lennard_jones_law(
        "shifted",
        "lorentz-berthelot",
        [CUT, *SAME, "pair_modify mix arithmetic shift yes"],
        lambda u: shifted(u, CUTOFF),
    ),
    "lennard-jones force-shifted": lennard_jones_law(
        "force-shifted",
        "lorentz-berthelot",
        [f"pair_style lj/sf {CUTOFF}", *SAME, "pair_modify mix arithmetic"],
        lambda u: force_shifted(u, CUTOFF),
    ),
    "lennard-jones switched": lennard_jones_law(
        "switched",
        "lorentz-berthelot",
        [f"pair_style lj/mdf {START} {CUTOFF}", *SAME, "pair_modify mix arithmetic"],
        lambda u: switched(u, START, CUTOFF),
    ),
    "twelve-six switched": Law(
        lambda: [
            ar.forces.TwelveSix(
                table=[{**row, "C": 0.0} for row in TABLE], cutoff=CUTOFF, truncation="switched", switch_start=START
            )
        ],
        [
            f"pair_style lennard/mdf {START} {CUTOFF}",
            "pair_coeff 1 1 4.0 4.0",
            "pair_coeff 1 2 3.0 1.0",
            "pair_coeff 2 2 2.0 0.5",
        ],
        lambda a, b, qq: switched(twelve_six(A[a, b], B[a, b]), START, CUTOFF),
    ),
    "twelve-six": Law(
        lambda: [ar.forces.TwelveSix(table=TABLE, cutoff=CUTOFF)],
        [
            f"pair_style lepton {CUTOFF}",
            'pair_coeff 1 1 "4.0/r^12-4.0/r^6+1.0/r"',
            'pair_coeff 1 2 "3.0/r^12-1.0/r^6-2.0/r"',
            'pair_coeff 2 2 "2.0/r^12-0.5/r^6+0.7/r"',
        ],
        lambda a, b, qq: twelve_six(A[a, b], B[a, b], C[a, b]),
    ),
    "coulomb": Law(
        lambda: [ar.forces.Coulomb(cutoff=CUTOFF)],
        [f"pair_style coul/cut {CUTOFF}", "pair_coeff * *"],
        lambda a, b, qq: coulomb(qq),
    ),
    "coulomb in a medium": Law(
        lambda: [ar.forces.Coulomb(cutoff=CUTOFF, relative_permittivity=2.5)],
        [f"pair_style coul/cut {CUTOFF}", "pair_coeff * *", "dielectric 2.5"],
        lambda a, b, qq: coulomb(qq / 2.5),
    ),
    "lennard-jones and coulomb": Law(
        lambda: [
            ar.forces.LennardJones(parameters=PARAMETERS, cutoff=2.0, truncation="shifted"),
            ar.forces.Coulomb(cutoff=CUTOFF, truncation="shifted"),
        ],
        [
            f"pair_style hybrid/overlay lj/cut 2.0 lepton/coul {CUTOFF}",
            "pair_coeff 1 1 lj/cut 1.0 1.0",
            "pair_coeff 2 2 lj/cut 0.4 0.8",
            f"pair_coeff 1 2 lj/cut {0.4**0.5!r} 0.9",
            f'pair_coeff * * lepton/coul "qi*qj*(1/r-1/{CUTOFF})"',
            "pair_modify pair lj/cut shift yes",
        ],
        lambda a, b, qq: _sum_of(
            _within(shifted(mixed("lorentz-berthelot")(a, b), 2.0), 2.0), shifted(coulomb(qq), CUTOFF)
        ),
    ),
    "morse": Law(
        lambda: [_morse("truncated")],
        [f"pair_style morse {CUTOFF}", f"pair_coeff * * {MORSE[0]} {MORSE[1]} {MORSE[2]}"],
        lambda a, b, qq: morse(*MORSE),
    ),
    "morse force-shifted": Law(
        lambda: [_morse("force-shifted")],
        [f"pair_style morse/smooth/linear {CUTOFF}", f"pair_coeff * * {MORSE[0]} {MORSE[1]} {MORSE[2]}"],
        lambda a, b, qq: force_shifted(morse(*MORSE), CUTOFF),
    ),
    "weeks-chandler-andersen": Law(
        lambda: [ar.forces.WeeksChandlerAndersen(parameters=PARAMETERS)],
        [
            "pair_style lj/cut 1.5",
            f"pair_coeff 1 1 1.0 1.0 {2 ** (1 / 6)!r}",
            f"pair_coeff 2 2 0.4 0.8 {0.8 * 2 ** (1 / 6)!r}",
            f"pair_coeff 1 2 {0.4**0.5!r} 0.9 {0.9 * 2 ** (1 / 6)!r}",
            "pair_modify shift yes",
        ],
        lambda a, b, qq: _purely_repulsive(a, b),
    ),
}


def _morse(truncation: str) -> Any:
    law = dict(zip(("depth", "width", "distance"), MORSE, strict=True))
    pairs = [{"kinds": kinds, **law} for kinds in (("A", "A"), ("A", "B"), ("B", "B"))]
    return ar.forces.Morse(pairs=pairs, cutoff=CUTOFF, truncation=truncation)


def _within(law: Potential, cutoff: np.ndarray | float) -> Potential:
    return lambda r: tuple(np.where(r < cutoff, value, 0.0) for value in law(r))  # type: ignore[return-value]


def _sum_of(*laws: Potential) -> Potential:
    return lambda r: tuple(sum(values) for values in zip(*(law(r) for law in laws), strict=True))  # type: ignore[return-value]


def _purely_repulsive(a: np.ndarray, b: np.ndarray) -> Potential:
    sigma = (SIGMA[a] + SIGMA[b]) / 2
    reach = 2 ** (1 / 6) * sigma
    return _within(shifted(lennard_jones(np.sqrt(EPSILON[a] * EPSILON[b]), sigma), reach), reach)


@pytest.mark.parametrize("name", LAWS)
def test_lammps_and_a_sum_over_all_pairs_agree(tmp_path, configuration, name):
    """An oracle must be right before it may judge."""
    law = LAWS[name]
    peer = configuration.lammps(tmp_path, law.commands)
    assert_same(configuration.numpy(law.numpy, CUTOFF), peer, 1e-13 * COUNT)


@pytest.mark.slow
@pytest.mark.parametrize("name", LAWS)
def test_pairs_are_those_of_lammps(tmp_path, configuration, name):
    law = LAWS[name]
    found = engine_sums(configuration.model(law.declared(), np.random.default_rng(5)))
    assert_same(found, configuration.lammps(tmp_path, law.commands), BOUND)
    assert_same(found, configuration.numpy(law.numpy, CUTOFF), BOUND)


@pytest.mark.parametrize("damping", [0.0, 0.6])
def test_wolf_energies_and_damped_shifted_forces_are_those_of_lammps(tmp_path, configuration, damping):
    """LAMMPS's coul/wolf adds up Wolf's energy (with its self term) and the forces of Fennell and Gezelter."""
    peer = configuration.lammps(tmp_path, [f"pair_style coul/wolf {damping} {CUTOFF}", "pair_coeff * *"])
    wolf, shifted_force = (
        engine_sums(configuration.model([ar.forces.Coulomb(cutoff=CUTOFF, truncation=truncation, damping=damping)]))
        for truncation in ("wolf", "force-shifted")
    )
    assert wolf.energy == pytest.approx(peer.energy, rel=BOUND)
    assert_same(shifted_force._replace(energy=peer.energy), peer, BOUND)

    law = configuration.numpy(lambda a, b, qq: shifted(damped_coulomb(qq, damping), CUTOFF), CUTOFF)
    own = erfc(damping * CUTOFF) / (2 * CUTOFF) + damping / np.sqrt(np.pi)
    squares = (configuration.charges**2).sum()
    assert_same(wolf, law._replace(energy=law.energy - own * squares), BOUND)
    law = configuration.numpy(lambda a, b, qq: force_shifted(damped_coulomb(qq, damping), CUTOFF), CUTOFF)
    assert_same(shifted_force, law, BOUND)
    # LAMMPS's coul/dsf has the same forces, and a charge's energy with itself, which the engine leaves to wolf; it
    # takes erfc from Abramowitz and Stegun, 7.1.26, good to 1.5e-7.
    dsf = configuration.lammps(tmp_path, [f"pair_style coul/dsf {damping} {CUTOFF}", "pair_coeff * *"])
    slope = erfc(damping * CUTOFF) / CUTOFF**2
    slope += 2 * damping / np.sqrt(np.pi) * np.exp(-((damping * CUTOFF) ** 2)) / CUTOFF
    itself = (own + slope * CUTOFF / 2) * squares
    assert shifted_force.energy - itself == pytest.approx(dsf.energy, rel=1e-6)


@pytest.mark.parametrize("name", ["periodic", "triclinic"])
def test_tail_corrections_are_those_of_lammps(tmp_path, name):
    configuration = configured(name)
    law = ar.forces.LennardJones(parameters=PARAMETERS, cutoff=CUTOFF, tail_correction=True)
    commands = [CUT, *SAME, "pair_modify mix arithmetic tail yes"]
    found = engine_sums(configuration.model([law]))
    assert_same(found._replace(laplacian=float("nan")), configuration.lammps(tmp_path, commands), BOUND)


@pytest.mark.parametrize("name", ["truncated", "shifted"])
def test_walls_are_those_of_lammps(tmp_path, name):
    """fix wall/lj126, which is shifted to nothing at its cutoff; a wall for each kind."""
    place = PLACES["open"]
    rng = np.random.default_rng(9)
    vectors = box_vectors(place.lengths)
    inner = box_vectors([length - 1.6 for length in place.lengths])
    configuration = Configuration(
        place, vectors, scattered(rng, 30, inner, 0.85) + ORIGIN + 0.8, np.repeat([0, 1], 15), np.zeros(30)
    )
    walls = ar.forces.LennardJonesWall(faces="all", parameters=PARAMETERS, cutoff=CUTOFF, truncation=name)
    boundaries = ("reflecting",) * 3
    box = ar.Box(lengths=place.lengths, origin=ORIGIN, boundaries=boundaries)
    model = particles(configuration.positions, walls, box=box, kinds=["AB"[k] for k in configuration.kinds])
    faces = ("xlo", "xhi", "ylo", "yhi", "zlo", "zhi")
    commands = ["pair_style zero 1.0", "pair_coeff * *"]
    for kind in (1, 2):
        commands += [
            f"group kind{kind} type {kind}",
            f"fix wall{kind} kind{kind} wall/lj126 "
            + " ".join(f"{face} EDGE {EPSILON[kind - 1]} {SIGMA[kind - 1]} {CUTOFF}" for face in faces),
            f"fix_modify wall{kind} energy yes virial no",
        ]
    peer = configuration.lammps(tmp_path, commands)
    found = engine_sums(model)
    assert np.abs(found.forces - peer.forces).max() <= BOUND * np.abs(peer.forces).max()
    low = configuration.positions - ORIGIN
    distances = np.concatenate([low, np.array(place.lengths) - low], axis=1)
    ratio = (SIGMA[configuration.kinds] / CUTOFF) ** 6
    at_cutoff = 4 * EPSILON[configuration.kinds] * (ratio**2 - ratio)
    offset = (at_cutoff[:, None] * (distances < CUTOFF)).sum() if name == "truncated" else 0.0
    assert found.energy == pytest.approx(peer.energy + offset, rel=BOUND)


# Bonded terms, on chains


def _chain(configuration: Configuration) -> Configuration:
    """The same box with a chain in it, which crosses the periodic faces."""
    rng = np.random.default_rng(8)
    positions = chain(rng, 20) + np.asarray(ORIGIN) + 0.5 * configuration.vectors.sum(axis=0)
    if not all(configuration.place.periodic):
        low, high = positions.min(axis=0), positions.max(axis=0)
        fits = np.maximum(configuration.vectors.diagonal(), high - low + 0.2)
        place = configuration.place._replace(lengths=tuple(fits.tolist()))
        corner = np.where(configuration.place.periodic, positions.min(axis=0), np.asarray(ORIGIN) + 0.1)
        positions = positions - low + corner
        return Configuration(place, np.diag(fits), positions, np.arange(20) % 2, configuration.charges[:20])
    return configuration._replace(positions=positions, kinds=np.arange(20) % 2, charges=configuration.charges[:20])


def _runs(length: int, count: int = 20) -> list[tuple[int, ...]]:
    return [tuple(range(i, i + length)) for i in range(count - length + 1)]


NOTHING = ["pair_style zero 2.4", "pair_coeff * *", "comm_modify cutoff 5.0"]
BONDS, ANGLES, DIHEDRALS = _runs(2), _runs(3), _runs(4)
RNG = np.random.default_rng(12)
STIFF, LENGTHS = RNG.uniform(20.0, 30.0, 19).tolist(), RNG.uniform(0.9, 1.1, 19).tolist()
BEND, BENT = RNG.uniform(5.0, 9.0, 18).tolist(), RNG.uniform(90.0, 170.0, 18).tolist()
TWIST, FOLD = RNG.uniform(1.0, 3.0, 17).tolist(), RNG.integers(1, 5, 17).tolist()
PHASE = RNG.integers(-180, 181, 17).tolist()


def test_harmonic_bonds_are_those_of_lammps(tmp_path, configuration):
    placed = _chain(configuration)
    commands = [*NOTHING, "bond_style harmonic"]
    commands += [f"bond_coeff {i + 1} {STIFF[i] / 2!r} {LENGTHS[i]!r}" for i in range(19)]
    peer = placed.lammps(tmp_path, commands, bonds=BONDS)
    found = engine_sums(placed.model([ar.forces.HarmonicBonds(bonds=BONDS, stiffness=STIFF, length=LENGTHS)]))
    assert_same(found._replace(laplacian=float("nan")), peer, BOUND)


@pytest.mark.parametrize("epsilon", [0.0, 1.2])
def test_fene_bonds_are_those_of_lammps(tmp_path, configuration, epsilon):
    placed = _chain(configuration)
    commands = [*NOTHING, "special_bonds fene", "bond_style fene"]
    commands += [f"bond_coeff {i + 1} {STIFF[i]!r} 1.5 {epsilon} {LENGTHS[i]!r}" for i in range(19)]
    peer = placed.lammps(tmp_path, commands, bonds=BONDS)
    bonds = ar.forces.FeneBonds(bonds=BONDS, stiffness=STIFF, extent=1.5, epsilon=epsilon, sigma=LENGTHS)
    assert_same(engine_sums(placed.model([bonds])), peer, BOUND)


def test_harmonic_angles_are_those_of_lammps(tmp_path, configuration):
    placed = _chain(configuration)
    commands = [*NOTHING, "angle_style harmonic"]
    commands += [f"angle_coeff {i + 1} {BEND[i] / 2!r} {BENT[i]!r}" for i in range(18)]
    peer = placed.lammps(tmp_path, commands, angles=ANGLES)
    found = engine_sums(placed.model([ar.forces.HarmonicAngles(angles=ANGLES, stiffness=BEND, angle=np.radians(BENT))]))
    assert_same(found, peer, BOUND)


def test_periodic_dihedrals_are_those_of_lammps(tmp_path, configuration):
    """Both measure φ from cis, so that trans is π."""
    placed = _chain(configuration)
    commands = [*NOTHING, "dihedral_style charmm"]
    commands += [f"dihedral_coeff {i + 1} {TWIST[i]!r} {FOLD[i]} {PHASE[i]} 0.0" for i in range(17)]
    peer = placed.lammps(tmp_path, commands, dihedrals=DIHEDRALS)
    term = ar.forces.PeriodicDihedrals(dihedrals=DIHEDRALS, stiffness=TWIST, multiplicity=FOLD, phase=np.radians(PHASE))
    assert_same(engine_sums(placed.model([term])), peer, BOUND)


def test_harmonic_dihedrals_are_those_of_lammps(tmp_path, configuration):
    placed = _chain(configuration)
    # Lepton's φ is in radians, between −π and π: the target is where no dihedral is half a turn from it.
    target = 0.1
    commands = [*NOTHING, "dihedral_style lepton"]
    wrapped = f"k/2*(d-6.283185307179586*floor(d/6.283185307179586+0.5))^2;d=phi-({target})"
    commands += [f'dihedral_coeff {i + 1} "{wrapped};k={TWIST[i]!r}"' for i in range(17)]
    peer = placed.lammps(tmp_path, commands, dihedrals=DIHEDRALS)
    term = ar.forces.HarmonicDihedrals(dihedrals=DIHEDRALS, stiffness=TWIST, angle=target)
    assert_same(engine_sums(placed.model([term])), peer, BOUND)


# What pairs leave out


@pytest.mark.parametrize(
    ("exclusions", "special"),
    [
        ({"bonds_apart": 2}, "special_bonds lj/coul 0.0 0.0 1.0"),
        ({"bonds_apart": 3}, "special_bonds lj/coul 0.0 0.0 0.0"),
        (
            {"bonds_apart": 2, "scaled_14": {"lennard_jones": 0.5, "coulomb": 0.8333}},
            "special_bonds lj 0.0 0.0 0.5 coul 0.0 0.0 0.8333",
        ),
    ],
)
def test_excluded_and_scaled_pairs_are_those_of_lammps(tmp_path, configuration, exclusions, special):
    """A pair that is scaled acts at any distance here, and below its cutoff there: all of them are nearer."""
    placed = _chain(configuration)
    commands = ["bond_style zero", "bond_coeff *", special, f"pair_style lj/cut/coul/cut {CUTOFF}", *SAME]
    commands += ["pair_modify mix arithmetic"]
    peer = placed.lammps(tmp_path, commands, bonds=BONDS)
    forces = [
        ar.forces.LennardJones(parameters=PARAMETERS, cutoff=CUTOFF),
        ar.forces.Coulomb(cutoff=CUTOFF),
        ar.forces.Exclusions(bonds=BONDS, **exclusions),
    ]
    assert_same(engine_sums(placed.model(forces)), peer, BOUND)


@pytest.mark.slow
def test_everything_together_is_that_of_lammps(tmp_path, configuration):
    placed = _chain(configuration)
    commands = ["bond_style harmonic", "angle_style harmonic", "dihedral_style charmm", "special_bonds lj/coul 0 0 0.5"]
    commands += [f"pair_style lj/cut/coul/cut {CUTOFF}", *SAME, "pair_modify mix arithmetic"]
    commands += ["bond_coeff * 40.0 1.0", "angle_coeff * 4.0 110.0", "dihedral_coeff * 1.5 3 0 0.0"]
    peer = placed.lammps(tmp_path, commands, bonds=BONDS, angles=ANGLES, dihedrals=DIHEDRALS)
    forces = [
        ar.forces.LennardJones(parameters=PARAMETERS, cutoff=CUTOFF),
        ar.forces.Coulomb(cutoff=CUTOFF),
        ar.forces.Exclusions(bonds=BONDS, bonds_apart=2, scaled_14={"lennard_jones": 0.5, "coulomb": 0.5}),
        ar.forces.HarmonicBonds(bonds=BONDS, stiffness=80.0, length=1.0),
        ar.forces.HarmonicAngles(angles=ANGLES, stiffness=8.0, angle=np.radians(110.0)),
        ar.forces.PeriodicDihedrals(dihedrals=DIHEDRALS, stiffness=1.5, multiplicity=3, phase=0.0),
    ]
    assert_same(engine_sums(placed.model(forces)), peer, BOUND)
