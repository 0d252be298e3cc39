"""Amber14 and CHARMM36 as our own forces: OpenMM's Reference platform to 1e-6, term by term, at turned torsions."""

from __future__ import annotations

import sys
from functools import cache
from itertools import product
from typing import Any

import numpy as np
import openmm
import pytest

import articulon as ar
from articulon import molecules
from articulon.forces import Coulomb, Exclusions, GeneralizedBorn, LennardJones, ListedPairs, TwelveSix
from articulon.forces.sites.site_evaluation import SiteForces
from articulon.forces.sites.site_positions import site_positions

BOUND = 1e-6
TURN = {"helix": 0.2, "trpzip2": 0.6, "adenylate kinase": 0.02}
"""Standard deviation of the random turns [rad]. Those of the long chain move its ends by a nanometre, and a helix that
is turned farther runs into itself, so that beside two atoms all else would be rounding."""
BONDED = {
    "HarmonicBondForce": "harmonic-bonds",
    "HarmonicAngleForce": "harmonic-angles",
    "PeriodicTorsionForce": "periodic-dihedrals",
    "CustomTorsionForce": "harmonic-dihedrals",
    "CMAPTorsionForce": "correction-maps",
    "CustomBondForce": "listed-pairs",
}
QUICK = (("helix", "amber14", 1.0), ("trpzip2", "amber14", None), ("helix", "charmm36", None))
LONG = (("adenylate kinase", "amber14", None), ("adenylate kinase", "charmm36", 1.0))
"""The protein takes ten seconds each time: every force field and every cutoff once."""
CASES = [
    *(
        pytest.param(*case, marks=[] if case in QUICK else [pytest.mark.slow])
        for case in product(("helix", "trpzip2"), ("amber14", "charmm36"), (None, 1.0))
    ),
    *(pytest.param(*case, marks=pytest.mark.slow) for case in LONG),
]


@cache
def structure_of(name: str) -> Any:
    if name == "helix":
        return molecules.peptide("AKMAEFARQS")
    if name == "trpzip2":
        return molecules.peptide("SWTWENGKWTWK", phi=-120.0, psi=135.0)
    files = pytest.importorskip("MDAnalysisTests.datafiles")
    return molecules.read_structure(files.PDB_small)


@cache
def turned(name: str) -> tuple[Any, Any, Any, np.ndarray]:
    """The structure, its articulation, its model, and coordinates with every torsion turned at random."""
    structure = structure_of(name)
    articulation = molecules.perceive(structure)
    tree = molecules.build(structure, articulation)
    q = tree.q0.copy()
    q[7:] += TURN[name] * np.random.default_rng(5).normal(size=q.size - 7)
    q.setflags(write=False)
    return structure, articulation, tree, q


@cache
def system_of(name: str, field: str, cutoff: float | None) -> Any:
    """OpenMM's system of a structure in water."""
    return molecules.openmm_system(structure_of(name), field, solvent="obc2", cutoff=cutoff)


@pytest.fixture(autouse=True)
def systems_are_made_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """OpenMM takes seconds to find the parameters of a protein: our models are made of the systems that they are
    compared with."""
    module = sys.modules[molecules.ForceField.__module__]
    made = module.openmm_system

    def known(structure: Any, field: str, *, solvent: str, cutoff: float | None, **options: Any) -> Any:
        for name in TURN if solvent == "obc2" else ():
            if structure is structure_of(name):
                return system_of(name, field, cutoff)
        return made(structure, field, solvent=solvent, cutoff=cutoff, **options)

    monkeypatch.setattr(module, "openmm_system", known)


def peer(system: Any, places: np.ndarray) -> dict[str, tuple[float, np.ndarray]]:
    """Energy and forces of each kind of force of a system."""
    groups: dict[str, set[int]] = {}
    for k in range(system.getNumForces()):
        force = system.getForce(k)
        force.setForceGroup(k)
        groups.setdefault(type(force).__name__, set()).add(k)
    platform = openmm.Platform.getPlatformByName("Reference")
    context = openmm.Context(system, openmm.VerletIntegrator(0.001), platform)
    context.setPositions(places)
    states = {name: context.getState(energy=True, forces=True, groups=mine) for name, mine in groups.items()}
    return {
        name: (state.getPotentialEnergy()._value, np.array(state.getForces(asNumpy=True)._value))
        for name, state in states.items()
    }


def atoms(structure: Any, found: Any, forces: list[Any]) -> SiteForces:
    """Some forces on atoms that are free."""
    builder = ar.ModelBuilder(units="Da-nm-ps")
    builder.add_particles(
        len(structure), mass=structure.masses, positions=structure.positions, kind=list(found.kinds),
        charge=found.charges,
    )  # fmt: skip
    for force in forces:
        builder.add_force(force)
    return SiteForces(builder.build())


def parts(found: Any, system: Any) -> dict[str, list[Any]]:
    """OpenMM's forces by name, and those of ours that they have become."""
    forces = list(found.forces)
    start = next(k for k, force in enumerate(forces) if isinstance(force, LennardJones | TwelveSix))
    bonded, between = forces[:start], forces[start:]
    names = {type(force).__name__ for force in system.getForces()}
    result = {name: [f for f in bonded if f.kind == kind] for name, kind in BONDED.items() if name in names}
    exclusions = [f for f in between if isinstance(f, Exclusions)]
    tables = [f for f in between if isinstance(f, TwelveSix)]
    if tables:
        result["CustomNonbondedForce"] = tables + exclusions
    plain = (LennardJones, Coulomb, ListedPairs)
    result["NonbondedForce"] = [f for f in between if isinstance(f, plain)] + exclusions
    result["CustomGBForce"] = [f for f in between if isinstance(f, GeneralizedBorn)]
    assert sum(map(len, result.values())) == len(forces) + (len(exclusions) if tables else 0)
    return result


@pytest.mark.slow
@pytest.mark.parametrize(("name", "field", "cutoff"), CASES)
def test_every_term_is_that_of_the_reference_platform(name, field, cutoff):
    structure, _, tree, q = turned(name)
    # Bonds and planes of standard geometry have hardly any energy: every atom is moved a little too.
    places = site_positions(tree, q) + 0.004 * np.random.default_rng(6).normal(size=(len(structure), 3))
    system = system_of(name, field, cutoff)
    found = molecules.from_system(system)
    theirs = peer(system, places)
    for term, forces in parts(found, system).items():
        energy, pull = theirs[term]
        ours = atoms(structure, found, forces)
        size = np.linalg.norm(pull, axis=1)
        assert size.any(), term
        # Atom by atom, those that feel little beside the usual force: two that are near would hide the others.
        scale = np.maximum(size, np.median(size[size > 0.0]))
        assert (np.linalg.norm(ours.evaluate(places) - pull, axis=1) <= BOUND * scale).all(), term
        assert abs(ours.measure(places)[0] - energy) <= BOUND * abs(energy), term


@pytest.mark.slow
@pytest.mark.parametrize(("name", "field", "cutoff"), [case for case in CASES if case.values[2] is None])
def test_torsions_feel_what_the_reference_platform_has_them_feel(name, field, cutoff):
    """What lies within rigid bodies has a constant energy, and does nothing along a torsion: energies are those of all
    terms everywhere, and the forces along the coordinates are those of all atoms."""
    structure, articulation, _, q = turned(name)
    system = system_of(name, field, None)
    model = molecules.force_field_model(structure, articulation, field, solvent="obc2")
    # Of the protein, whose atoms the reference platform takes seconds for, the turned state alone.
    for at in (q.copy(), 0.5 * (q + model.q0))[: 1 if name == "adenylate kinase" else 2]:
        at[3:7] /= np.linalg.norm(at[3:7])
        places = site_positions(model, at)
        energies, pulls = zip(*peer(system, places).values(), strict=True)
        energy, pull = sum(energies), np.sum(pulls, axis=0)
        # Terms of both signs nearly cancel in the sum, and each is good to its own part.
        size = sum(map(abs, energies))
        assert abs(ar.potential_energy(model, at) - energy) <= BOUND * size
        positions, _ = ar.body_poses(model, at)
        body = model.sites.body
        wrenches = np.zeros((model.bodies, 6))
        np.add.at(wrenches[:, :3], body, pull)
        np.add.at(wrenches[:, 3:], body, np.cross(places - positions[body], pull))
        expected = -ar.inverse_dynamics(model, at, np.zeros(model.nu), np.zeros(model.nu), wrenches=wrenches)
        scale = np.abs(wrenches).max()
        found = ar.generalized_forces(model, at, np.zeros(model.nu))
        assert np.abs(found - expected).max() <= BOUND * scale


def test_terms_within_rigid_bodies_are_counted_and_only_their_energy_is_kept():
    """Of a capped alanine, bonds and most angles cannot change; without an articulation all stay."""
    structure = molecules.peptide(["ACE", "ALA", "NME"])
    every = molecules.force_field(structure)
    kept = molecules.force_field(structure, articulation=molecules.perceive(structure))
    assert every.terms["bonds"] == (21, 21)
    assert kept.terms["bonds"] == (21, 0)
    assert not every.left_out
    assert kept.left_out[0] == "bonds: 21 of 21 lie within rigid bodies and are constant"
    assert kept.terms["torsions"][0] == every.terms["torsions"][0] > kept.terms["torsions"][1] > 0


def test_what_has_no_counterpart_is_refused():
    structure = molecules.peptide(["ACE", "ALA", "NME"])
    with pytest.raises(ar.ModelError, match="there is no 'amber99'"):
        molecules.force_field(structure, "amber99")
    system = molecules.openmm_system(structure)
    system.addForce(openmm.CustomExternalForce("x"))
    with pytest.raises(ar.ModelError, match="CustomExternalForce has no counterpart"):
        molecules.from_system(system)
