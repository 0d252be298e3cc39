"""OpenMM's Reference platform on the same random configurations, to 1e-6: molecules, in the units of proteins."""

from __future__ import annotations

from typing import Any, NamedTuple

import numba
import numpy as np
import openmm
import pytest

import articulon as ar
from tests.support.openmm_peer import openmm_sums
from tests.support.particle_models import box_vectors, chain, engine_sums, particles, scattered, wandered

BOUND = 1e-6
CUTOFF = 0.9
UNITS = "Da-nm-ps"
"""Its energies are kJ/mol."""
BOXES = {
    "open": None,
    "periodic": ((2.0, 2.2, 2.4), (0.0, 0.0, 0.0)),
    "triclinic": ((2.3, 2.2, 2.4), (0.5, -0.4, 0.7)),
}
SIGMA, EPSILON = {"A": 0.31, "B": 0.25}, {"A": 0.65, "B": 0.4}
PARAMETERS = {kind: {"sigma": SIGMA[kind], "epsilon": EPSILON[kind]} for kind in "AB"}
COUNT = 120


class Configuration(NamedTuple):
    """Charged sites of two kinds."""

    box: Any
    vectors: Any
    positions: np.ndarray
    kinds: list[str]
    charges: np.ndarray

    def found(self, *forces: Any) -> tuple[float, np.ndarray]:
        positions = self.positions
        if self.box is not None:
            positions = wandered(np.random.default_rng(3), positions, self.vectors)
        model = particles(positions, *forces, box=self.box, kinds=self.kinds, charges=self.charges, units=UNITS)
        sums = engine_sums(model)
        return sums.energy, sums.forces

    def nonbonded(self, method: int, *, charged: bool = True, attracted: bool = True) -> Any:
        force = openmm.NonbondedForce()
        for kind, charge in zip(self.kinds, self.charges.tolist(), strict=True):
            force.addParticle(charge if charged else 0.0, SIGMA[kind], EPSILON[kind] if attracted else 0.0)
        force.setNonbondedMethod(method)
        force.setCutoffDistance(CUTOFF)
        force.setUseDispersionCorrection(False)
        return force

    def cutoff_method(self) -> int:
        nonbonded = openmm.NonbondedForce
        return nonbonded.CutoffNonPeriodic if self.box is None else nonbonded.CutoffPeriodic

    def expected(self, *forces: Any) -> tuple[float, np.ndarray]:
        for force in forces:
            if hasattr(force, "setUsesPeriodicBoundaryConditions"):
                force.setUsesPeriodicBoundaryConditions(self.box is not None)
        return openmm_sums(self.positions, forces, self.vectors)


def configured(name: str) -> Configuration:
    rng = np.random.default_rng(list(BOXES).index(name))
    given = BOXES[name] or BOXES["periodic"]
    vectors = box_vectors(*given)
    box = None if BOXES[name] is None else ar.Box(lengths=given[0], tilts=given[1])
    charges = rng.normal(size=COUNT) * 0.4
    return Configuration(
        box,
        None if box is None else vectors,
        scattered(rng, COUNT, vectors, 0.24),
        list("AB" * (COUNT // 2)),
        charges - charges.mean(),
    )


def chained(name: str) -> Configuration:
    """A chain of 20 that crosses the faces of the box."""
    positions, charges = 0.2 * chain(np.random.default_rng(8), 20), configured(name).charges[:20]
    return configured(name)._replace(positions=positions, kinds=list("AB" * 10), charges=charges - charges.mean())


@pytest.fixture(params=BOXES)
def configuration(request) -> Configuration:
    return configured(request.param)


@pytest.fixture(params=["periodic", "triclinic"])
def repeated(request) -> Configuration:
    return configured(request.param)


@pytest.fixture(params=BOXES)
def molecule(request) -> Configuration:
    return chained(request.param)


@pytest.fixture(params=["periodic", "triclinic"])
def repeated_molecule(request) -> Configuration:
    return chained(request.param)


def assert_same(found: tuple[float, np.ndarray], expected: tuple[float, np.ndarray], bound: float = BOUND) -> None:
    scale = np.abs(expected[1]).max()
    assert scale > 0.0
    assert np.abs(found[1] - expected[1]).max() <= bound * scale
    # An energy of both signs may vanish by chance; the forces, at a tenth of a nanometre, say how large its parts are.
    assert abs(found[0] - expected[0]) <= bound * max(abs(expected[0]), 0.1 * scale)


def test_truncated_lennard_jones(configuration):
    law = ar.forces.LennardJones(parameters=PARAMETERS, cutoff=CUTOFF)
    peer = configuration.nonbonded(configuration.cutoff_method(), charged=False)
    assert_same(configuration.found(law), configuration.expected(peer))


def test_switched_lennard_jones(configuration):
    law = ar.forces.LennardJones(parameters=PARAMETERS, cutoff=CUTOFF, truncation="switched", switch_start=0.6)
    peer = configuration.nonbonded(configuration.cutoff_method(), charged=False)
    peer.setUseSwitchingFunction(True)
    peer.setSwitchingDistance(0.6)
    assert_same(configuration.found(law), configuration.expected(peer))


@pytest.mark.parametrize("truncation", ["truncated", "switched"])
def test_dispersion_correction_of_lennard_jones(repeated, truncation):
    """Both integrate what lies beyond the cutoff, and what the switch took away before it.

    Of one kind only: OpenMM averages over kinds with every site paired with itself as well, a difference of 1/N.
    """
    configuration = repeated._replace(kinds=["A"] * COUNT)
    start = {"switch_start": 0.6} if truncation == "switched" else {}
    law = ar.forces.LennardJones(
        parameters={"A": PARAMETERS["A"]}, cutoff=CUTOFF, truncation=truncation, tail_correction=True, **start
    )
    peer = configuration.nonbonded(configuration.cutoff_method(), charged=False)
    peer.setUseDispersionCorrection(True)
    if start:
        peer.setUseSwitchingFunction(True)
        peer.setSwitchingDistance(0.6)
    assert_same(configuration.found(law), configuration.expected(peer))


def test_lennard_jones_and_coulomb_without_cutoff():
    configuration = configured("open")
    laws = ar.forces.LennardJones(parameters=PARAMETERS), ar.forces.Coulomb()
    peer = configuration.nonbonded(openmm.NonbondedForce.NoCutoff)
    assert_same(configuration.found(*laws), configuration.expected(peer))


@pytest.mark.parametrize("permittivity", [78.3, 1.0, 4.0])
def test_reaction_field(configuration, permittivity):
    law = ar.forces.Coulomb(cutoff=CUTOFF, truncation="reaction-field", reaction_permittivity=permittivity)
    peer = configuration.nonbonded(configuration.cutoff_method(), attracted=False)
    peer.setReactionFieldDielectric(permittivity)
    assert_same(configuration.found(law), configuration.expected(peer))


def test_reaction_field_of_a_conductor(configuration):
    law = ar.forces.Coulomb(cutoff=CUTOFF, truncation="reaction-field")
    peer = configuration.nonbonded(configuration.cutoff_method(), attracted=False)
    peer.setReactionFieldDielectric(1e12)
    assert_same(configuration.found(law), configuration.expected(peer))


@pytest.mark.slow
@pytest.mark.parametrize(("place", "method"), [("periodic", "Ewald"), ("periodic", "PME"), ("triclinic", "PME")])
def test_ewald_sums(place, method):
    repeated = configured(place)
    law = ar.forces.Ewald(precision=1e-7)
    peer = repeated.nonbonded(getattr(openmm.NonbondedForce, method), attracted=False)
    peer.setEwaldErrorTolerance(1e-7)
    # The law's own precision is the root of its mean square error over that of the forces.
    found, expected = repeated.found(law), repeated.expected(peer)
    error = np.sqrt(((found[1] - expected[1]) ** 2).mean() / (expected[1] ** 2).mean())
    assert error <= BOUND
    assert found[0] == pytest.approx(expected[0], rel=BOUND)


def _members(length: int) -> list[tuple[int, ...]]:
    return [tuple(range(i, i + length)) for i in range(20 - length + 1)]


def test_exceptions_and_scaled_pairs(molecule):
    """OpenMM's createExceptionsFromBonds, with the factors of AMBER; neither engine cuts off what it scales."""
    laws = (
        ar.forces.LennardJones(parameters=PARAMETERS, cutoff=CUTOFF),
        ar.forces.Coulomb(cutoff=CUTOFF, truncation="reaction-field", reaction_permittivity=1.0),
        ar.forces.Exclusions(bonds=_members(2), bonds_apart=2, scaled_14={"lennard_jones": 0.5, "coulomb": 1.0 / 1.2}),
    )
    peer = molecule.nonbonded(molecule.cutoff_method())
    peer.setReactionFieldDielectric(1.0)
    peer.createExceptionsFromBonds(_members(2), 1.0 / 1.2, 0.5)
    assert_same(molecule.found(*laws), molecule.expected(peer))


@pytest.mark.parametrize("factors", [(0.0, 0.0), (1.0, 1.0), (0.5, 0.8333)])
def test_excluded_and_scaled_pairs_without_cutoff(factors):
    molecule = chained("open")
    lennard_jones, coulomb = factors
    laws = (
        ar.forces.LennardJones(parameters=PARAMETERS),
        ar.forces.Coulomb(),
        ar.forces.Exclusions(
            bonds=_members(2), bonds_apart=2, scaled_14={"lennard_jones": lennard_jones, "coulomb": coulomb}
        ),
    )
    peer = molecule.nonbonded(openmm.NonbondedForce.NoCutoff)
    peer.createExceptionsFromBonds(_members(2), coulomb, lennard_jones)
    assert_same(molecule.found(*laws), molecule.expected(peer))


def test_ewald_sums_leave_out_excluded_pairs(repeated_molecule):
    molecule = repeated_molecule
    laws = ar.forces.Ewald(precision=1e-7), ar.forces.Exclusions(bonds=_members(2), bonds_apart=3)
    peer = molecule.nonbonded(openmm.NonbondedForce.PME, attracted=False)
    peer.setEwaldErrorTolerance(1e-7)
    peer.createExceptionsFromBonds(_members(2), 0.0, 0.0)
    assert_same(molecule.found(*laws), molecule.expected(peer))


@numba.njit
def gaussian(r2, parameters):
    height, inverse = parameters[0], parameters[1]
    u = height * np.exp(-r2 * inverse)
    return u, 2.0 * inverse * u, u * (4.0 * r2 * inverse * inverse - 6.0 * inverse)


def test_a_potential_of_ones_own(configuration):
    """CustomNonbondedForce: a soft Gaussian."""
    law = ar.forces.UserPair(function=gaussian, parameters=(3.0, 4.0), cutoff=CUTOFF)
    peer = openmm.CustomNonbondedForce("3.0*exp(-4.0*r^2)")
    for _ in range(COUNT):
        peer.addParticle([])
    custom = openmm.CustomNonbondedForce
    peer.setNonbondedMethod(custom.CutoffNonPeriodic if configuration.box is None else custom.CutoffPeriodic)
    peer.setCutoffDistance(CUTOFF)
    assert_same(configuration.found(law), configuration.expected(peer))


def test_harmonic_bonds_and_angles(molecule):
    bonds, angles = openmm.HarmonicBondForce(), openmm.HarmonicAngleForce()
    for i, j in _members(2):
        bonds.addBond(i, j, 0.19, 2000.0 + i)
    for i, j, k in _members(3):
        angles.addAngle(i, j, k, 1.9, 300.0 + i)
    laws = (
        ar.forces.HarmonicBonds(bonds=_members(2), stiffness=2000.0 + np.arange(19), length=0.19),
        ar.forces.HarmonicAngles(angles=_members(3), stiffness=300.0 + np.arange(18), angle=1.9),
    )
    expected = [molecule.expected(peer) for peer in (bonds, angles)]
    for law, alone in zip(laws, expected, strict=True):
        assert_same(molecule.found(law), alone)
    (stretched, pull), (bent, turn) = expected
    assert_same(molecule.found(*laws), (stretched + bent, pull + turn))


def test_periodic_torsions(molecule):
    rng = np.random.default_rng(6)
    stiffness, phase, fold = rng.uniform(1.0, 9.0, 17), rng.uniform(-3.0, 3.0, 17), rng.integers(1, 7, 17)
    peer = openmm.PeriodicTorsionForce()
    for row, k, n, shift in zip(_members(4), stiffness.tolist(), fold.tolist(), phase.tolist(), strict=True):
        peer.addTorsion(*row, n, shift, k)
    law = ar.forces.PeriodicDihedrals(
        dihedrals=_members(4), stiffness=stiffness, multiplicity=fold.tolist(), phase=phase
    )
    assert_same(molecule.found(law), molecule.expected(peer))


@pytest.mark.parametrize("angle", [0.1, 3.1, -2.0])
def test_harmonic_torsions(molecule, angle):
    peer = openmm.CustomTorsionForce(f"9.0*min(d, {2 * np.pi!r}-d)^2; d=abs(theta-({angle}))")
    for row in _members(4):
        peer.addTorsion(*row, [])
    law = ar.forces.HarmonicDihedrals(dihedrals=_members(4), stiffness=18.0, angle=angle)
    assert_same(molecule.found(law), molecule.expected(peer))
