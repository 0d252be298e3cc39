"""What the force ``openmm`` refuses, which platform it takes, and what becomes of code in a system."""

from __future__ import annotations

import pickle
import sys
from pathlib import Path
from typing import Any

import numpy as np
import openmm
import pytest
from openmm import app, unit

import articulon as ar
from articulon import molecules
from articulon.forces import OpenMM
from articulon.forces.sites.openmm_force import Evaluation
from articulon.forces.sites.openmm_system import platforms
from articulon.molecules.openmm_exchange import to_openmm
from tests.support.openmm_peer import bonded_pair, carbon_model


@pytest.mark.parametrize("name", ["AndersenThermostat", "MonteCarloBarostat"])
def test_what_moves_atoms_by_itself_is_refused(name):
    system = bonded_pair()
    system.addForce(
        openmm.AndersenThermostat(300, 1) if name == "AndersenThermostat" else openmm.MonteCarloBarostat(1, 300)
    )
    with pytest.raises(ar.ModelError, match=rf"forces\[0\]\.system: its {name} would change"):
        OpenMM(system=system).check(carbon_model(), "forces[0]")


def test_what_removes_the_momentum_is_left_out_and_that_is_said():
    system = bonded_pair()
    system.addForce(openmm.CMMotionRemover())
    model = carbon_model()
    force = OpenMM(system=system, platform="CPU")
    force.check(model, "forces[0]")
    notes = force.notes(model)
    assert f"OpenMM {openmm.__version__} on the platform CPU" in notes[0] and "CMMotionRemover is ignored" in notes[1]
    evaluation = Evaluation(force, model)
    assert [type(one).__name__ for one in evaluation.context.getSystem().getForces()] == ["HarmonicBondForce"]


def test_a_system_of_other_atoms_is_refused():
    with pytest.raises(ar.ModelError, match="has 2 particles and the model 3 sites"):
        OpenMM(system=bonded_pair()).check(carbon_model(3), "forces[0]")
    with pytest.raises(ar.ModelError, match=r"of body 'particle-1.* have 12 Da together and the body has 14 Da"):
        OpenMM(system=bonded_pair()).check(carbon_model(mass=[12.0, 14.0]), "forces[0]")
    with pytest.raises(ar.ModelError, match="reduced units"):
        OpenMM(system=bonded_pair()).check(carbon_model(units="lj"), "forces[0]")


def test_masses_that_are_shared_otherwise_within_a_body_are_welcome():
    """Hydrogen-mass repartitioning: what a body has together counts."""
    structure = molecules.peptide(["ACE", "ALA", "NME"])
    articulation = molecules.perceive(structure)
    topology, _ = to_openmm(structure)
    system = app.ForceField("amber14-all.xml").createSystem(topology, hydrogenMass=3.0 * unit.dalton)
    assert molecules.build(structure, articulation, forces=[OpenMM(system=system)]).bodies


def test_a_platform_that_is_not_there_is_refused_with_those_that_are():
    with pytest.raises(ar.ModelError, match=r"no platform 'Abacus' here; those available: .*CPU.*Reference"):
        OpenMM(system=bonded_pair(), platform="Abacus").check(carbon_model(), "forces[0]")


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"platform": "Reference", "precision": "double"}, r"precision: the platform Reference has one precision only"),
        ({"precision": "mixed"}, r"precision: needs a platform, but none is named"),
        ({"properties": {"Threads": "2"}}, r"properties: needs a platform, but none is named"),
        ({"platform": "CPU", "properties": {"Thread": "2"}}, r"no property 'Thread' \(known: .*Threads"),
    ],
)
def test_what_a_platform_has_not_is_refused(options, said):
    with pytest.raises(ar.ModelError, match=said):
        OpenMM(system=bonded_pair(), **options).check(carbon_model(), "forces[0]")


def test_a_platform_that_fails_says_why():
    """The system has charges for one particle of two, which OpenMM sees when it begins."""
    system = bonded_pair()
    charges = openmm.NonbondedForce()
    charges.addParticle(1.0, 0.1, 0.0)
    system.addForce(charges)
    force = OpenMM(system=system, platform="CPU")
    builder = ar.ModelBuilder(units="Da-nm-ps")
    builder.add_particles(2, mass=12.0, positions=[[0.0, 0.0, 0.0], [0.2, 0.0, 0.0]])
    builder.add_force(force)
    model = builder.build()
    with pytest.raises(
        ar.ArticulonError, match=r"no OpenMM Context can be created \(CPU: .*as many.*platforms.*Reference"
    ):
        ar.potential_energy(model, model.q0)


def test_the_fastest_platform_that_works_is_taken_where_none_is_named(monkeypatch):
    """The library of a GPU's platform may be there, and no GPU."""
    model, force = carbon_model(), OpenMM(system=bonded_pair())
    assert Evaluation(force, model).context.getPlatform().getName() == platforms()[0]
    made = openmm.Context

    def without_the_fastest(system: Any, integrator: Any, platform: Any, properties: Any) -> Any:
        if platform.getName() == platforms()[0]:
            raise openmm.OpenMMException("No compatible device is available")
        return made(system, integrator, platform, properties)

    monkeypatch.setattr(openmm, "Context", without_the_fastest)
    assert Evaluation(force, model).context.getPlatform().getName() == platforms()[1]
    with pytest.raises(ar.ArticulonError, match=rf"{platforms()[0]}: No compatible device .*{platforms()[1]}"):
        _ = Evaluation(OpenMM(system=bonded_pair(), platform=platforms()[0]), model).context


def test_forces_that_are_no_numbers_end_the_run():
    """√(0.3 − x), which a particle leaves the range of after 0.3 ps."""
    system, pull = bonded_pair(), openmm.CustomExternalForce("1e-3*sqrt(0.3 - x)")
    pull.addParticle(0)
    system.addForce(pull)
    builder = ar.ModelBuilder(units="Da-nm-ps")
    builder.add_particles(
        2, mass=12.0, positions=[[0.0, 0.0, 0.0], [0.0, 0.1, 0.0]], velocities=[[1.0, 0.0, 0.0], [1.0, 0.0, 0.0]]
    )
    builder.add_force(OpenMM(system=system, platform="CPU"))
    with pytest.raises(ar.DivergenceError, match=r"diverged at t = 0\.[23]"):
        ar.simulate(builder.build(), 1.0, rule="velocity-verlet", step=0.01, frames=10)


def test_without_openmm_the_error_says_what_to_install(monkeypatch):
    force, model = OpenMM(system=bonded_pair()), carbon_model()
    monkeypatch.setitem(sys.modules, "openmm", None)
    with pytest.raises(ar.ModelError, match=r"pip install 'articulon\[molecules\]'"):
        force.check(model, "forces[0]")


def zero(state: Any) -> tuple[float, np.ndarray]:
    return 0.0, np.zeros((2, 3))


class Ran:
    """A pickle that leaves a file behind when it is read."""

    def __init__(self, file: Path) -> None:
        self.file = file

    def __reduce__(self) -> Any:
        return Path.touch, (self.file,)


@pytest.mark.skipif(not hasattr(openmm, "PythonForce"), reason="this OpenMM has no PythonForce")
@pytest.mark.parametrize("written", ["PythonForce", "&#80;ythonForce", "&#x50;ythonForce", "&#336;ythonForce"])
def test_code_in_a_system_is_refused_before_it_is_read(tmp_path: Path, written: str):
    system = bonded_pair()
    system.addForce(openmm.PythonForce(zero, {}))
    with pytest.raises(ar.ModelError, match="a PythonForce, which is code and not data"):
        OpenMM(system=system)
    ran = tmp_path / "ran"
    honest = pickle.dumps(zero, protocol=4).hex()
    text = openmm.XmlSerializer.serialize(system)
    start = text.index('function="') + len('function="')
    text = text[:start] + pickle.dumps(Ran(ran)).hex() + text[text.index('"', start) :]
    assert honest not in text
    text = text.replace('type="PythonForce"', f'type="{written}"').replace('name="PythonForce"', "")
    with pytest.raises(ar.ModelError, match=r"forces\[0\]\.system: .*(PythonForce|&#)"):
        OpenMM(system=text).check(carbon_model(), "forces[0]")
    assert not ran.exists()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("<System", "cannot read the text"),
        ("nowhere.xml", "nowhere.xml cannot be read: No such file"),
        (openmm.XmlSerializer.serialize(openmm.VerletIntegrator(0.001)), "holds a VerletIntegrator of OpenMM, not a"),
    ],
)
def test_what_is_no_system_is_refused(text, said):
    with pytest.raises(ar.ModelError, match=rf"forces\[0\]\.system: .*{said}"):
        OpenMM(system=text).check(carbon_model(), "forces[0]")


def test_what_cannot_be_a_system_is_refused_at_once():
    with pytest.raises(ar.ModelError, match=r"OpenMM\.system: expected an openmm\.System or the path"):
        OpenMM(system=3)
    with pytest.raises(ar.ModelError, match="sha256 belongs to a file"):
        OpenMM(system=bonded_pair(), sha256="0" * 64)
