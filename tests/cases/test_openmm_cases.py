"""Runs under the force ``openmm``: from a case file, resumed, adaptive, and beside our own forces."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import openmm
import pytest
from typer.testing import CliRunner

import articulon as ar
from articulon import molecules
from articulon.adaptive import Adaptive, Elapsed, Group, Random
from articulon.cli.commands import app
from articulon.forces import OpenMM
from articulon.simulation import loop
from tests.cases.test_resume import interrupt
from tests.support.run_cases import Shown, bits

CASE = """
[case]
units = "Da-nm-ps"

[model]
builder = "molecule"
sequence = ["ACE", "ALA", "NME"]

[[forces]]
kind = "openmm"
system = "system.xml"
platform = "{platform}"

[integrator]
rule = "friction-implicit"
step = "1 fs"

[run]
duration = "0.1 ps"
frames = 10
"""


@cache
def dipeptide() -> tuple[Any, Any]:
    structure = molecules.peptide(["ACE", "ALA", "NME"], phi=-80.0, psi=70.0)
    return structure, molecules.perceive(structure)


@cache
def xml(solvent: str = "vacuum", cutoff: float | None = None) -> str:
    return str(openmm.XmlSerializer.serialize(molecules.openmm_system(dipeptide()[0], solvent=solvent, cutoff=cutoff)))


def case_in(folder: Path, platform: str = "Reference", cutoff: float | None = None) -> Path:
    (folder / "system.xml").write_text(xml(cutoff=cutoff))
    file = folder / "case.toml"
    file.write_text(CASE.format(platform=platform))
    return file


def models() -> tuple[Any, Any]:
    """Alanine dipeptide under our own force field, and under OpenMM's double precision."""
    structure, articulation = dipeptide()
    ours = molecules.force_field_model(structure, articulation)
    return ours, molecules.build(structure, articulation, forces=[OpenMM(system=xml(), platform="Reference")])


@pytest.mark.slow
@pytest.mark.parametrize("rule", ["friction-implicit", "rk4"])
def test_a_short_run_is_that_of_our_own_forces(rule: str):
    """Rounding differences of the forces grow along a trajectory; over a hundred steps to less than 1e-9."""
    options: dict[str, Any] = {"step": "0.5 fs", "frames": 5, "rule": rule}
    ours, theirs = (ar.simulate(model, "0.05 ps", u=speeds(model), **options) for model in models())
    assert np.abs(ours.q[-1] - ours.q[0]).max() > 1e-2
    assert np.abs(theirs.q - ours.q).max() <= 1e-9
    assert np.abs(theirs.u - ours.u).max() <= 1e-9 * np.abs(ours.u).max()


@pytest.mark.slow
@pytest.mark.parametrize("rule", ["velocity-verlet", "r-respa"])
def test_atoms_that_are_free_move_as_under_our_own_forces(rule: str):
    """Models of particles keep their coordinates in another order than those of bodies on joints."""
    structure, _ = dipeptide()
    found = molecules.from_system(openmm.XmlSerializer.deserialize(xml()))
    runs = []
    for forces in (found.forces, [OpenMM(system=xml(), platform="Reference")]):
        builder = ar.ModelBuilder(units="Da-nm-ps")
        builder.add_particles(
            len(structure), mass=structure.masses, positions=structure.positions, kind=list(found.kinds),
            charge=found.charges,
        )  # fmt: skip
        for force in forces:
            builder.add_force(force)
        # All of OpenMM's forces are long-range ones to r-RESPA, and ours are split: with one inner step all is one.
        inner = {"bonded_steps": 1} if rule == "r-respa" else {}
        runs.append(ar.simulate(builder.build(), "0.02 ps", rule=rule, step="0.25 fs", frames=4, **inner))
    ours, theirs = runs
    assert np.abs(ours.q[-1] - ours.q[0]).max() > 1e-3
    assert np.abs(theirs.q - ours.q).max() <= 1e-9
    energies = [run.observables["energy_potential"] for run in runs]
    assert np.abs(energies[1] - energies[0]).max() <= 1e-6


def speeds(model: Any) -> np.ndarray:
    return 3.0 * np.random.default_rng(3).normal(size=model.nu)


def total(run: Any) -> np.ndarray:
    observables = run.observables
    return observables["kinetic_energy"] + observables["energy_potential"]


@pytest.mark.slow
def test_the_energy_of_a_torsion_run_is_conserved_to_the_order_of_the_rule():
    """A symplectic rule of second order: a step half as long, a quarter of the error."""
    _, model = models()
    errors = []
    for step in ("1 fs", "0.5 fs"):
        run = ar.simulate(
            model, "0.1 ps", u=speeds(model), rule="friction-implicit", drift="geodesic", step=step, frames=50
        )
        energy = total(run)
        errors.append(np.abs(energy - energy[0]).max())
    assert 3.0 < errors[0] / errors[1] < 5.0
    assert errors[1] < 0.01 * np.abs(np.ptp(run.observables["kinetic_energy"]))


@pytest.mark.slow
def test_joints_lock_and_release_under_it_as_under_our_own_forces():
    names = tuple(dipeptide_joints())
    adaptive = Adaptive(
        every=0.01, groups=(Group(bodies=names, lock=Random(probability=0.3), release=Elapsed(time=0.01)),)
    )
    runs = [
        ar.simulate(
            model, "0.1 ps", u=speeds(model), rule="friction-implicit", step="0.5 fs", frames=10, adaptive=adaptive
        )
        for model in models()
    ]
    ours, theirs = runs
    assert theirs.state.counters.tolist() == ours.state.counters.tolist()
    assert (np.diff(theirs.q[:, 7:], axis=0) == 0.0).any()  # some were locked
    assert np.abs(theirs.q - ours.q).max() <= 1e-8


def dipeptide_joints() -> list[str]:
    structure, articulation = dipeptide()
    return list(molecules.build(structure, articulation).names[1:])


@pytest.mark.slow
def test_a_case_runs_from_the_command_line_and_says_what_it_left_out(tmp_path: Path):
    file = case_in(tmp_path)
    done = CliRunner().invoke(app, ["run", str(file), "--out", str(tmp_path / "out")])
    assert done.exit_code == 0, done.output
    run = ar.open_run(tmp_path / "out")
    assert run.summary["status"] == "complete"
    assert any("CMMotionRemover is ignored" in note for note in run.summary["notes"])
    assert run.observables["energy_potential"][0] == pytest.approx(energy_of(xml()), rel=1e-10)
    assert "sha256" in (tmp_path / "out" / "case.toml").read_text()


def energy_of(text: str) -> float:
    context = openmm.Context(
        openmm.XmlSerializer.deserialize(text),
        openmm.VerletIntegrator(0.001),
        openmm.Platform.getPlatformByName("Reference"),
    )
    model = molecules.build(*sequence_model())
    context.setPositions(molecules.site_positions(model, model.q0))
    return float(context.getState(energy=True).getPotentialEnergy()._value)


@cache
def sequence_model() -> tuple[Any, Any]:
    structure = molecules.peptide(["ACE", "ALA", "NME"])
    return structure, molecules.perceive(structure)


@pytest.mark.parametrize(("platform", "cutoff"), [("Reference", None), ("CPU", None), ("CPU", 0.5)])
def test_a_run_that_was_broken_off_goes_on_to_the_same_bits(tmp_path: Path, monkeypatch, platform: str, cutoff):
    case = ar.load_case(case_in(tmp_path, platform, cutoff))
    ar.run(case, tmp_path / "unbroken", report=False)
    monkeypatch.setattr(loop, "CHUNK_SECONDS", 0.0)
    broken = tmp_path / "broken"
    with pytest.raises(KeyboardInterrupt, match="resume"):
        ar.run(case, broken, progress=Shown(30, lambda: interrupt(signal.SIGINT)), report=False)
    ar.run(case, broken, resume=True, report=False)
    assert bits(broken) == bits(tmp_path / "unbroken")


def test_a_run_does_not_go_on_with_another_system(tmp_path: Path, monkeypatch):
    file = case_in(tmp_path)
    monkeypatch.setattr(loop, "CHUNK_SECONDS", 0.0)
    with pytest.raises(KeyboardInterrupt, match="resume"):
        ar.run(file, tmp_path / "out", progress=Shown(30, lambda: interrupt(signal.SIGINT)), report=False)
    (tmp_path / "system.xml").write_text(xml(solvent="obc2"))
    with pytest.raises(ar.CaseError, match=r"forces\[0\]\.sha256"):
        ar.run(file, tmp_path / "out", resume=True, report=False)
    with pytest.raises(ar.CaseError, match=r"forces\[0\]\.system: .* does not match forces\[0\]\.sha256"):
        ar.open_run(tmp_path / "out").case.build_model()


def test_a_system_that_is_not_there_is_named(tmp_path: Path):
    file = case_in(tmp_path)
    (tmp_path / "system.xml").unlink()
    with pytest.raises(ar.CaseError, match=r"case\.toml: forces\[0\]\.system: .*system\.xml cannot be read"):
        ar.load_case(file)


def test_a_molecule_has_its_force_field_evaluated_by_openmm(tmp_path: Path):
    file = tmp_path / "case.toml"
    text = CASE.format(platform="").partition("[[forces]]")[0] + 'force_field = "amber14"\nsolvent = "obc2"\n'
    file.write_text(text + "\n[run]\nduration = 1.0\n")
    ours = ar.load_case(file).build_model()
    with_openmm = {"model.evaluate": "openmm", "model.platform": "Reference"}
    case = ar.load_case(file, with_openmm)
    theirs = case.build_model()
    assert [force.kind for force in theirs.forces] == ["openmm"]
    # OpenMM's implicit solvents have nine digits of Coulomb's constant, 2e-7 off.
    assert ar.potential_energy(theirs, theirs.q0) == pytest.approx(ar.potential_energy(ours, ours.q0), rel=1e-5)
    assert "<System" not in case.to_toml()
    for changes, said in (
        (
            {"model.evaluate": "openmm", "model.force_field": None, "model.solvent": "vacuum"},
            "evaluate = 'openmm' needs a force_field",
        ),
        ({"model.platform": "CPU"}, "platform and precision apply to OpenMM"),
        ({**with_openmm, "model.platform": "Abacus"}, r"model\.platform: OpenMM has no platform 'Abacus' here"),
    ):
        with pytest.raises(ar.ArticulonError, match=said):
            ar.load_case(file, changes).build_model()


@pytest.mark.slow
def test_a_system_given_in_python_is_written_into_the_case_of_its_model(tmp_path: Path):
    """XML and all, and reads back as the same force."""
    _, model = models()
    run = ar.simulate(model, "2 fs", rule="friction-implicit", step="1 fs", frames=1)
    file = tmp_path / "case.toml"
    file.write_text(run.case.to_toml())
    again = ar.load_case(file).build_model()
    assert again.forces[0] == model.forces[0]
    q = np.array(model.q0)
    assert ar.potential_energy(again, q) == ar.potential_energy(model, q)


@pytest.mark.parametrize(
    "options",
    [
        {"minimise": True, "thermostat": ar.thermostats.Langevin(temperature=300.0, friction=1.0)},
        {"thermostat": ar.thermostats.NoseHoover(temperature=300.0, period=0.1, centre_of_mass="removed")},
        {"scaling": ar.scaling.Constant(a2=0.5)},
    ],
)
def test_what_goes_with_forces_between_sites_goes_with_it(options: dict[str, Any]):
    ours, theirs = (
        ar.simulate(model, "0.02 ps", u=speeds(model), rule="friction-implicit", step="0.5 fs", frames=4, **options)
        for model in models()
    )
    assert np.abs(ours.q[-1] - ours.q[0]).max() > 1e-3
    assert np.abs(theirs.q - ours.q).max() <= 1e-7


FORKING = """
import os, sys
import numpy as np
import openmm
import articulon as ar
builder = ar.ModelBuilder(units="Da-nm-ps")
builder.add_particles(2, mass=12.0, positions=[[0.0, 0.0, 0.0], [0.2, 0.0, 0.0]])
system, bond = openmm.System(), openmm.HarmonicBondForce()
system.addParticle(12.0), system.addParticle(12.0), bond.addBond(0, 1, 0.1, 100.0)
system.addForce(bond)
builder.add_force(ar.forces.OpenMM(system=system, platform=sys.argv[1], repeatable=False))
model = builder.build()
assert ar.potential_energy(model, model.q0) > 0.0
child = os.fork()
if child == 0 and sys.argv[2] == "evaluates":
    assert ar.potential_energy(model, model.q0) > 0.0
if child:
    _, status = os.waitpid(child, 0)
    assert status == 0, status
"""


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system cannot fork")
@pytest.mark.parametrize(("platform", "what"), [("Reference", "evaluates"), ("CPU", "evaluates"), ("CPU", "ends")])
def test_a_forked_process_has_a_context_of_its_own(platform: str, what: str):
    """It has none of the threads that the parent's waits for, neither when it is used nor when it is taken apart."""
    subprocess.run([sys.executable, "-c", FORKING, platform, what], check=True, timeout=100)
