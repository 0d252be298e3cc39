"""The force ``openmm`` beside our own forces and beside OpenMM itself."""

from __future__ import annotations

import copy
import pickle
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import openmm
import pytest
from openmm import app, unit

import articulon as ar
from articulon import molecules
from articulon.adaptive.coarsening import locked_model
from articulon.forces import OpenMM
from articulon.forces.sites.openmm_force import Evaluation
from articulon.forces.sites.site_positions import site_positions
from articulon.units import unit_system
from tests.support.openmm_peer import bonded_pair, carbon_model

DOUBLE, SINGLE = 1e-10, 1e-5
"""Of the largest force, and of the energy: sums of ten thousands of terms of both signs, in either precision."""


@cache
def peptide() -> tuple[Any, Any]:
    structure = molecules.peptide("AKMAEFARQS")
    return structure, molecules.perceive(structure)


@cache
def system_xml(field: str = "amber14", solvent: str = "vacuum") -> str:
    """With Coulomb's constant to all its digits, of which OpenMM writes nine to the terms of its implicit solvents."""
    system = molecules.openmm_system(peptide()[0], field, solvent=solvent)
    text = openmm.XmlSerializer.serialize(system)
    if solvent == "obc2":
        assert "138.935485*" in text
    return text.replace("138.935485*", f"{unit_system('Da-nm-ps').coulomb!r}*")


def with_openmm(field: str = "amber14", solvent: str = "vacuum", **options: Any) -> Any:
    return molecules.build(*peptide(), forces=[OpenMM(system=system_xml(field, solvent), **options)])


def turned(model: Any, size: float = 0.2) -> np.ndarray:
    q = np.array(model.q0)
    q[7:] += size * np.random.default_rng(5).normal(size=q.size - 7)
    return q


@pytest.mark.parametrize(
    ("field", "solvent", "platform", "bound"),
    [
        ("amber14", "vacuum", "Reference", DOUBLE),
        ("amber14", "vacuum", "CPU", SINGLE),
        ("amber14", "obc2", "Reference", DOUBLE),
        ("amber14", "obc2", "CPU", SINGLE),
        pytest.param("charmm36", "vacuum", "Reference", DOUBLE, marks=pytest.mark.slow),  # it takes seconds to read
    ],
)
def test_forces_and_energy_are_those_of_our_own_force_field(field, solvent, platform, bound):
    ours = molecules.build(*peptide(), **_own(field, solvent))
    theirs = with_openmm(field, solvent, platform=platform)
    q, still = turned(ours), np.zeros(ours.nu)
    mine, other = (ar.generalized_forces(model, q, still) for model in (ours, theirs))
    assert np.abs(mine).max() > 10.0
    assert np.abs(other - mine).max() <= bound * np.abs(mine).max()
    energies = [ar.potential_energy(model, q) for model in (ours, theirs)]
    # Bonds and planes of standard geometry have hardly any energy, and the parts of the rest cancel: what counts is
    # the size of the parts, which is that of the energy of the charges.
    scale = abs(ar.potential_energy(ours, q)) + 1e3
    assert abs(energies[1] - energies[0]) <= bound * scale


def _own(field: str, solvent: str) -> dict[str, Any]:
    structure, articulation = peptide()
    found = molecules.from_system(openmm.XmlSerializer.deserialize(system_xml(field, solvent)), articulation)
    constant = molecules.force_field(structure, field, solvent=solvent, articulation=articulation).forces[-1]
    return {"charges": found.charges, "kinds": found.kinds, "forces": (*found.forces, constant)}


@pytest.mark.slow
def test_units_of_the_model_are_converted():
    """The same system on bodies in micrometres and femtograms: one quantity, two numbers."""
    system = openmm.System()
    bond = openmm.HarmonicBondForce()
    for mass in (12.0, 16.0):
        system.addParticle(mass)
    bond.addBond(0, 1, 0.1, 5e4)
    system.addForce(bond)
    found = {}
    for name in ("Da-nm-ps", "fg-um-us", "kg-m-s"):
        units = unit_system(name)
        builder = ar.ModelBuilder(units=name)
        nanometre, dalton = units.value("1 nm", "length", ""), units.value("1 Da", "mass", "")
        places = nanometre * np.array([[0.0, 0.0, 0.0], [0.03, 0.04, 0.12]])
        builder.add_particles(2, mass=dalton * np.array([12.0, 16.0]), positions=places)
        builder.add_force(OpenMM(system=system, platform="Reference"))
        model = builder.build()
        scale = units.ratio("energy", unit_system("Da-nm-ps"))
        energy = scale * ar.potential_energy(model, model.q0)
        pull = scale / units.ratio("length", unit_system("Da-nm-ps"))
        found[name] = energy, pull * ar.generalized_forces(model, model.q0, model.u0)
    stretch = 0.13 - 0.1
    for energy, forces in found.values():
        assert energy == pytest.approx(0.5 * 5e4 * stretch**2, rel=1e-12)
        expected = 5e4 * stretch * np.array([0.03, 0.04, 0.12]) / 0.13
        assert np.allclose(forces, [*expected, *-expected], rtol=1e-12)


def water_box() -> tuple[Any, Any, np.ndarray]:
    """Rigid water on a lattice under particle-mesh sums: OpenMM's system, the model of rigid bodies, the places."""
    edge, per_side = 1.9, 3
    rng = np.random.default_rng(4)
    local = np.array([[0.0, 0.0, 0.0], [0.09572, 0.0, 0.0], [-0.023999, 0.092663, 0.0]])
    builder = ar.ModelBuilder(units="Da-nm-ps", box=ar.Box(lengths=(edge, edge, edge)))
    topology = app.Topology()
    chain = topology.addChain()
    masses = np.array([15.99943, 1.007947, 1.007947])
    centre = masses @ local / masses.sum()
    arms = local - centre
    inertia = sum(m * (a @ a * np.eye(3) - np.outer(a, a)) for m, a in zip(masses, arms, strict=True))
    for k in range(per_side**3):
        residue = topology.addResidue("HOH", chain)
        atoms = [topology.addAtom(n, app.Element.getBySymbol(n[0]), residue) for n in ("O", "H1", "H2")]
        topology.addBond(atoms[0], atoms[1])
        topology.addBond(atoms[0], atoms[2])
        # Some molecules stand whole boxes away: coordinates are never wrapped.
        at = edge / per_side * np.array(np.unravel_index(k, (per_side,) * 3)) + edge * (k % 3 - 1)
        e = rng.normal(size=4)
        name = f"water {k}"
        body = builder.add_body(
            name, mass=masses.sum(), inertia=inertia, com=centre, joint=ar.Free(), q=[*at, *(e / np.linalg.norm(e))]
        )
        for place in local:
            builder.add_site(body, place)
    topology.setPeriodicBoxVectors(edge * np.eye(3) * unit.nanometer)
    field = app.ForceField("amber14/tip3p.xml")
    system = field.createSystem(
        topology, nonbondedMethod=app.PME, nonbondedCutoff=0.9 * unit.nanometer, rigidWater=True
    )
    builder.add_force(OpenMM(system=system, platform="Reference"))
    model = builder.build()
    return system, model, site_positions(model, model.q0)


def test_water_in_a_periodic_box_feels_what_openmm_says():
    """Particle-mesh sums, constraints within the molecules, and molecules that stand in other images."""
    system, model, places = water_box()
    context = openmm.Context(system, openmm.VerletIntegrator(0.001), openmm.Platform.getPlatformByName("Reference"))
    context.setPositions(places)
    state = context.getState(energy=True, forces=True)
    energy, pull = state.getPotentialEnergy()._value, state.getForces(asNumpy=True)._value
    assert ar.potential_energy(model, model.q0) == pytest.approx(energy, rel=1e-12)
    positions, _ = ar.body_poses(model, model.q0)
    wrenches = np.zeros((model.bodies, 6))
    np.add.at(wrenches[:, :3], model.sites.body, pull)
    np.add.at(wrenches[:, 3:], model.sites.body, np.cross(places - positions[model.sites.body], pull))
    still = np.zeros(model.nu)
    expected = -ar.inverse_dynamics(model, model.q0, still, still, wrenches=wrenches)
    found = ar.generalized_forces(model, model.q0, still)
    assert np.abs(found - expected).max() <= 1e-12 * np.abs(wrenches).max()
    # OpenMM gives no virial, and Σ F r is not that of a box.
    for name, ask in (("virial", lambda: ar.virial(model, model.q0)),
                      ("pressure", lambda: ar.pressure(model, model.q0, model.u0))):  # fmt: skip
        with pytest.raises(ar.ModelError, match=f"{name}: the virial of 'openmm' is unknown"):
            ask()


def test_another_box_is_refused_with_both():
    system, model, _ = water_box()
    force = OpenMM(system=system)
    wrong = copy.deepcopy(system)
    wrong.setDefaultPeriodicBoxVectors(*(2.0 * np.eye(3)))
    with pytest.raises(ar.ModelError, match=r"box vectors \(2, 0, 0\).*and the model \(1\.9, 0, 0\)"):
        OpenMM(system=wrong).check(model, "forces[0]")
    free = openmm.System()
    for k in range(system.getNumParticles()):
        free.addParticle(system.getParticleMass(k))
    free.addForce(openmm.CustomNonbondedForce("r"))
    for _ in range(free.getNumParticles()):
        free.getForce(0).addParticle([])
    with pytest.raises(ar.ModelError, match="its CustomNonbondedForce does not use periodic boundaries and the model"):
        OpenMM(system=free).check(model, "forces[0]")
    builder = ar.ModelBuilder(units="Da-nm-ps")
    count = system.getNumParticles()
    masses = [system.getParticleMass(k)._value for k in range(count)]
    builder.add_particles(count, mass=masses, positions=np.random.default_rng(1).normal(size=(count, 3)))
    builder.add_force(force)
    with pytest.raises(ar.ModelError, match=r"constraint connects site 0 of body .* and site 1 of body"):
        builder.build()
    for k in reversed(range(wrong.getNumConstraints())):
        wrong.removeConstraint(k)
    builder = ar.ModelBuilder(units="Da-nm-ps")
    builder.add_particles(count, mass=masses, positions=np.random.default_rng(1).normal(size=(count, 3)))
    builder.add_force(OpenMM(system=wrong))
    with pytest.raises(ar.ModelError, match=r"it is periodic, with the box vectors .* and the model has no box"):
        builder.build()


@pytest.mark.parametrize("others", [False, True])
def test_bonds_alone_need_no_periodic_boundaries(others):
    """Positions are not wrapped, so that bonds are whole in any image, also where lists of neighbours wrap them."""
    builder = ar.ModelBuilder(units="Da-nm-ps", box=ar.Box(lengths=(1.0, 1.0, 1.0)))
    builder.add_particles(2, mass=12.0, positions=[[0.95, 0.5, 0.5], [3.15, 0.5, 0.5]])
    builder.add_force(OpenMM(system=bonded_pair(), platform="Reference"))
    if others:  # whose nearest image is 0.2 nm away, beyond the cutoff
        builder.add_force(ar.forces.LennardJones(parameters={"particle": {"epsilon": 1.0, "sigma": 0.05}}, cutoff=0.15))
    model = builder.build()
    assert ar.potential_energy(model, model.q0) == pytest.approx(0.5 * 100.0 * (2.2 - 0.1) ** 2, rel=1e-12)
    forces = ar.generalized_forces(model, model.q0, model.u0)
    assert np.allclose(forces, [210.0, 0.0, 0.0, -210.0, 0.0, 0.0], rtol=1e-12, atol=1e-12)


def test_forces_on_virtual_sites_act_on_what_these_are_made_of():
    """Three bodies whose particles carry a virtual site: forces are the slopes of the energy, and where the model has
    the site does not matter."""
    system = openmm.System()
    for mass in (16.0, 12.0, 14.0, 0.0, 20.0):
        system.addParticle(mass)
    system.setVirtualSite(3, openmm.ThreeParticleAverageSite(0, 1, 2, 0.5, 0.3, 0.2))
    charges = openmm.NonbondedForce()
    for q in (0.3, -0.2, 0.4, -1.0, 1.0):
        charges.addParticle(q, 0.3, 0.5)
    system.addForce(charges)
    places = np.array([[0.0, 0.0, 0.0], [0.4, 0.0, 0.1], [0.1, 0.5, 0.0], [9.0, 9.0, 9.0], [0.5, 0.5, 0.6]])
    builder = ar.ModelBuilder(units="Da-nm-ps")
    bodies = [
        builder.add_body(f"b{k}", mass=m, inertia=0.1, joint=ar.Free(), q=[*places[k], 1.0, 0.0, 0.0, 0.0])
        for k, m in ((0, 16.0), (1, 12.0), (2, 14.0), (4, 20.0))
    ]
    for body, place in ((0, 0.0), (1, 0.0), (2, 0.0), (0, 9.0), (3, 0.0)):
        builder.add_site(bodies[body], [place] * 3)
    builder.add_force(OpenMM(system=system, platform="Reference"))
    model = builder.build()
    forces = ar.generalized_forces(model, model.q0, model.u0)
    assert np.abs(forces[[0, 1, 2]]).min() > 1.0
    h = 1e-5
    for body in range(4):
        for axis in range(3):
            up, down = model.q0.copy(), model.q0.copy()
            up[7 * body + axis] += h
            down[7 * body + axis] -= h
            slope = (ar.potential_energy(model, up) - ar.potential_energy(model, down)) / (2.0 * h)
            assert forces[6 * body + axis] == pytest.approx(-slope, abs=1e-6 * np.abs(forces).max())
    on_cpu = OpenMM(system=system, platform="CPU")
    positions, result = site_positions(model, model.q0), np.zeros(3 * 5 + 3)
    Evaluation(on_cpu, model).forces(0.0, positions, result)
    pulls = result[: 3 * 5].reshape(5, 3)
    assert np.abs(pulls[[0, 1, 2, 4]] - forces.reshape(4, 6)[:, :3]).max() <= SINGLE * np.abs(forces).max()
    assert not pulls[3].any()


@pytest.mark.slow
def test_the_force_follows_bodies_that_are_merged():
    model = with_openmm(platform="Reference")
    q = turned(model)
    names = [model.names[k] for k in range(1, model.bodies, 2)]
    coarse, merging = locked_model(model, q, names)
    assert ar.potential_energy(coarse, coarse.q0) == pytest.approx(ar.potential_energy(model, q), rel=1e-9)
    fine = ar.generalized_forces(model, q, np.zeros(model.nu))[merging.moves]
    found = ar.generalized_forces(coarse, coarse.q0, np.zeros(coarse.nu))
    assert np.abs(np.sort(np.abs(found)) - np.sort(np.abs(fine))).max() <= 1e-9 * np.abs(fine).max()


@pytest.mark.slow
def test_forces_bend_flexible_bodies():
    """A site on a node of a beam, one on an arm that hangs on its end, and one that is free: as by our own bonds."""
    system = openmm.System()
    for mass in (3.0, 1.0, 2.0):
        system.addParticle(mass)
    bonds = openmm.HarmonicBondForce()
    bonds.addBond(0, 1, 0.1, 40.0)
    bonds.addBond(0, 2, 0.1, 30.0)
    system.addForce(bonds)
    own = [
        ar.forces.HarmonicBonds(bonds=((0, 1),), stiffness=40.0, length=0.1),
        ar.forces.HarmonicBonds(bonds=((0, 2),), stiffness=30.0, length=0.1),
    ]
    found = []
    for forces in (own, [OpenMM(system=system, platform="Reference")]):
        rod = ar.modes.beam(
            length="2 nm", mass="3 Da", gyration="0.1 nm", bending=2, bending_stiffness=20.0, units="Da-nm-ps"
        )
        builder = ar.ModelBuilder(units="Da-nm-ps")
        beam = builder.add_body("rod", joint=ar.Free(), modes=rod)
        arm = builder.add_body(
            "arm", parent=beam, node=15, joint=ar.Revolute(axis=(0, 1, 0)), mass=1.0, inertia=0.1, com=(0.1, 0.0, 0.0)
        )
        bead = builder.add_body("bead", joint=ar.Free(), mass=2.0, inertia=0.2, q=[1.0, 1.0, 1.0, 1.0, 0.0, 0.0, 0.0])
        builder.add_site(beam, (0.0, 0.1, 0.0), node=10)
        builder.add_site(arm, (0.2, 0.0, 0.3))
        builder.add_site(bead, (0.1, 0.0, 0.0))
        for force in forces:
            builder.add_force(force)
        model = builder.build()
        q = np.array(model.q0)
        q[7:9] += 0.05  # modes
        found.append((ar.potential_energy(model, q), ar.generalized_forces(model, q, model.u0)))
    (energy, pull), (other, others) = found
    assert other == pytest.approx(energy, rel=DOUBLE)
    assert np.abs(others - pull).max() <= DOUBLE * np.abs(pull).max()
    assert np.abs(pull[6:8]).max() > 1.0


def test_the_virial_of_open_space_is_that_of_our_own_forces():
    """Of free atoms, all of whose terms act."""
    structure, _ = peptide()
    found = molecules.from_system(openmm.XmlSerializer.deserialize(system_xml()))
    virials = []
    for forces in (found.forces, [OpenMM(system=system_xml(), platform="Reference")]):
        builder = ar.ModelBuilder(units="Da-nm-ps")
        builder.add_particles(
            len(structure), mass=structure.masses, positions=structure.positions, kind=list(found.kinds),
            charge=found.charges,
        )  # fmt: skip
        for force in forces:
            builder.add_force(force)
        model = builder.build()
        virials.append(ar.virial(model, model.q0))
    assert np.abs(virials[1] - virials[0]).max() <= DOUBLE * np.abs(virials[0]).max() * 10.0


@pytest.mark.parametrize("cutoff", [None, 0.8])
def test_forces_have_the_same_bits_whatever_was_evaluated_before(cutoff):
    """The CPU platform, whose lists of neighbours would remember where the atoms came from."""
    structure, articulation = peptide()
    system = molecules.openmm_system(structure, solvent="obc2", cutoff=cutoff)
    model = molecules.build(structure, articulation, forces=[OpenMM(system=system, platform="CPU")])
    going = Evaluation(model.forces[0], model)
    q, rng = np.array(model.q0), np.random.default_rng(1)
    for _ in range(12):
        q[7:] += 0.02 * rng.normal(size=q.size - 7)
        places = site_positions(model, q)
        old, new = np.zeros((2, 3 * len(places) + 3))
        going.forces(0.0, places, old)
        Evaluation(model.forces[0], model).forces(0.0, places, new)
        assert np.array_equal(old, new)


def test_positions_that_are_no_numbers_give_forces_that_are_none():
    model = with_openmm(platform="CPU")
    q = np.array(model.q0)
    context, places = Evaluation(model.forces[0], model), site_positions(model, q)
    places[3, 1] = np.nan
    result = np.zeros(3 * len(places) + 3)
    context.forces(0.0, places, result)
    assert np.isnan(result).all()


def test_the_total_momentum_is_kept_where_forces_add_up_to_zero():
    """A thermostat that removes it asks: single precision, meshes and forces from outside do not keep it."""
    model, system = carbon_model(), bonded_pair()
    assert OpenMM(system=system, platform="Reference").momentum_changes(model) is None
    assert "single precision" in str(OpenMM(system=system, platform="CPU").momentum_changes(model))
    pull = openmm.CustomExternalForce("x")
    pull.addParticle(0)
    system.addForce(pull)
    assert "need not add up to zero" in str(OpenMM(system=system, platform="Reference").momentum_changes(model))
    mesh = water_box()[0]
    assert "need not add up to zero" in str(OpenMM(system=mesh, platform="Reference").momentum_changes(model))


def test_a_declaration_is_data_and_keeps_the_system_that_it_was_given(tmp_path: Path):
    system = openmm.XmlSerializer.deserialize(system_xml())
    force = OpenMM(system, platform="CPU")
    system.addParticle(1.0)
    for again in (copy.deepcopy(force), pickle.loads(pickle.dumps(force)), OpenMM.from_mapping(force.model_dump())):
        assert again == force and again._loaded().getNumParticles() == len(peptide()[0])
    assert len(repr(force)) < 200
    file = tmp_path / "system.xml"
    file.write_text(system_xml())
    assert OpenMM(system=file)._loaded().getNumParticles() == len(peptide()[0])
