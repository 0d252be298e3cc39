"""Forces by LAMMPS in the place of ours, by itself and shared out among the ranks of MPI.

Both add up the same terms in another order, so that forces agree to rounding, some 1e-15 of the largest. Neighbouring
trajectories of a melt part by a factor of e in about a unit of time: over 80 steps of 0.005 what is rounding in one
step stays below 1e-10, and the bounds are those that a user is promised.
"""

from __future__ import annotations

import os
import pickle
import re
import subprocess
import sys
from dataclasses import replace
from functools import cache
from pathlib import Path
from shutil import which
from typing import Any

import numpy as np
import pytest

import articulon as ar
from articulon.forces import Lammps
from articulon.forces.sites.site_positions import site_positions
from tests.support.lammps_files import COEFFICIENTS, REAL_COEFFICIENTS
from tests.support.lammps_files import melt as bead_spring_melt
from tests.support.lammps_peer import _library
from tests.support.rank_program import BEADS, CHAINS, RULE, STEP, STEPS, found, melt, stirred

pytest.importorskip("lammps", reason="LAMMPS is not installed: pip install 'articulon[lammps]'")
ROUNDING, APART, RELATIVE = 1e-13, 1e-9, 1e-10
"""Of forces, energies and virials at one state; of coordinates, and of energies and pressures, along a run."""
ROOT = Path(__file__).parents[2]
RANKS = 3
COMMANDS = ("pair_style lj/cut/coul/cut 2.5 3.0", "pair_modify shift yes mix arithmetic")


@cache
def native() -> tuple[ar.Model, np.ndarray, np.ndarray, dict[str, np.ndarray]]:
    """The melt, the state that all begin from, and what our own forces make of it."""
    model = melt()
    begun = ar.simulate(model, 0.1, frames=1, minimise=True, temperature=1.0, seed=3, **RULE)
    q, u = begun.q[-1], begun.u[-1]
    return model, q, u, found(model, q, u)


def on_ranks(number: int, *command: str, code: int = 0) -> subprocess.CompletedProcess[str]:
    """A command on a number of ranks, of one thread each. Those that wait yield their processor to the others."""
    pytest.importorskip("mpi4py", reason="mpi4py is not installed: pip install 'articulon[lammps]'")
    beside = Path(sys.executable).with_name("mpiexec")
    launcher = str(beside) if beside.exists() else which("mpiexec")
    if launcher is None:
        pytest.skip("mpiexec is not installed: pip install 'articulon[lammps]'")
    waiting = {"MPIR_CVAR_POLLS_BEFORE_YIELD": "1"}
    threads = {"OMP_NUM_THREADS": "1", "NUMBA_NUM_THREADS": "1", "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [launcher, "-n", str(number), sys.executable, *command],
        env={**os.environ, **threads, **waiting},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == code, done.stderr
    return done


@pytest.fixture(scope="module")
def of_ranks(tmp_path_factory):
    """What each of three ranks has found; two, of which none is in the middle, take the command below."""
    folder = tmp_path_factory.mktemp("ranks")
    _, q, u, _ = native()
    np.savez(folder / "start.npz", q=q, u=u)
    on_ranks(RANKS, "-m", "tests.support.rank_program", str(folder))
    return [dict(np.load(folder / f"rank-{k}.npz")) for k in range(RANKS)]


def assert_like_native(results: dict[str, np.ndarray]) -> None:
    own = native()[3]
    for name in ("q", "u"):
        assert np.abs(results[name] - own[name]).max() <= APART
    for name in ("potential_energy", "kinetic_energy", "pressure"):
        assert np.abs(results[name] / own[name] - 1.0)[1:].max() <= RELATIVE


def test_a_run_by_lammps_is_the_native_run():
    model, q, u, _ = native()
    assert_like_native(found(ar.lammps.through_lammps(model), q, u))


def test_a_run_on_several_ranks_is_the_native_run(of_ranks):
    assert_like_native(of_ranks[0])


def test_all_ranks_have_the_same_bits_in_every_run(of_ranks):
    first, *others = of_ranks
    assert first["size"] == RANKS
    for other in others:
        assert all(np.array_equal(first[name], other[name]) for name in ("q", "u", "potential_energy", "pressure"))
    assert all(np.array_equal(one["again"], first["once_more"]) for one in (first, *others))
    assert all(np.array_equal(one["uneven"], first["q"]) for one in (first, *others))


def test_chains_are_shared_out_among_ranks(of_ranks):
    """Each rank moves its chains in every step of a run that all take, with the noise of a run by itself."""
    each = of_ranks
    model, q, u, _ = native()
    own = stirred(model, q, u)
    assert sum(int(one["own_beads"]) for one in each) == CHAINS * BEADS
    for one in each:
        assert one["own_beads"] == CHAINS * BEADS // RANKS and one["shared_steps"] == 2 * STEPS + 40
        assert np.abs(one["stirred_q"] - own["stirred_q"]).max() <= APART
        for name in ("thermostat_work", "potential_work"):
            assert np.abs(one[name] - own[name]).max() <= APART * np.abs(own["potential_work"]).max()
            assert np.array_equal(one[name], each[0][name])


def test_the_first_rank_moves_all_chains_where_others_only_serve_it(of_ranks):
    first = of_ranks[0]
    assert np.abs(first["alone"] - first["again"]).max() <= APART and not np.array_equal(first["alone"], first["q"])


def test_a_rank_that_goes_another_way_is_named_by_all(of_ranks):
    """Rank 1 begins with speeds that are 1e-12 off; a right run after that is one again."""
    for one in of_ranks:
        assert "the MPI ranks have diverged: rank 1 of 3 has other coordinates" in str(one["astray"])
        assert np.array_equal(one["after"], of_ranks[0]["after"])


def test_more_ranks_than_chains_are_refused(of_ranks):
    assert "there are 3 MPI ranks but only 2 chains" in str(of_ranks[0]["too_many"])


OPTIONS = ("--set", f"model.chains={CHAINS}", "--set", f"model.beads={BEADS}", "--set", "run.frame_interval=0.1")


def test_the_command_runs_on_ranks_and_goes_on_with_others(tmp_path):
    """Rank 0 alone writes and prints; two ranks begin, one goes on."""
    folder = tmp_path / "run"
    command = ("-m", "articulon", "run", "polymer-melt", *OPTIONS, "--out", str(folder), "--engine", "lammps")
    done = on_ranks(2, *command, "--set", "run.duration=0.2")
    assert done.stdout.count("\nstatus ") == 1 and "LAMMPS" in done.stdout and "2 ranks of MPI" in done.stdout
    options = {"model.chains": CHAINS, "model.beads": BEADS, "run.frame_interval": 0.1}
    longer = {**options, "run.duration": 0.4}
    run = ar.run("polymer-melt", folder, resume=True, overrides={**longer, "run.engine": "lammps"}, report=False)
    own = ar.run("polymer-melt", tmp_path / "own", overrides=longer, report=False)
    # Downhill from where the chains have grown, both come to within rounding of the same place.
    assert run.q.shape == own.q.shape and np.abs(run.q - own.q).max() <= 1e-6
    with pytest.raises(ar.CaseError, match=r"run\.engine"):
        ar.run("polymer-melt", folder, resume=True, overrides=longer, report=False)


def test_a_run_goes_on_to_the_same_bits():
    """Neighbours are listed where they were before the break, which is part of the state."""
    model, q, u, _ = native()
    model = ar.lammps.through_lammps(model)
    whole = ar.simulate(model, 60 * STEP, frames=6, q=q, u=u, **RULE)
    # Pickled, so that LAMMPS and its lists are new and the state is all that is known.
    begun = pickle.loads(pickle.dumps(ar.simulate(model, 30 * STEP, frames=3, q=q, u=u, **RULE)))
    part = ar.resume(begun, 30 * STEP)
    assert np.array_equal(part.q[1:], whole.q[4:])


def assert_same_forces(model: ar.Model, q: np.ndarray | None = None) -> None:
    """At a state, and with all of it moved through the faces of the box."""
    by_lammps, q = ar.lammps.through_lammps(model), np.array(model.q0 if q is None else q)
    energy, pull = ar.potential_energy(model, q), ar.generalized_forces(model, q, model.u0)
    assert ar.potential_energy(by_lammps, q) == pytest.approx(energy, rel=ROUNDING)
    assert np.abs(ar.generalized_forces(by_lammps, q, model.u0) - pull).max() <= ROUNDING * np.abs(pull).max()
    own, other = ar.virial(model, q), ar.virial(by_lammps, q)
    assert np.abs(other - own).max() <= ROUNDING * np.abs(own).max()
    if model.box is not None:
        assert ar.pressure(by_lammps, q, model.u0) == pytest.approx(ar.pressure(model, q, model.u0), rel=10 * ROUNDING)


ORTHOGONAL, TRICLINIC = (0.0, 0.0, 0.0), (1.0, -0.7, 1.3)


@pytest.mark.parametrize(
    ("tilts", "rigid", "special"),
    [
        pytest.param(ORTHOGONAL, [], "fene", id="orthogonal-free-fene"),
        pytest.param(ORTHOGONAL, [2], "lj/coul 0 0 0", id="orthogonal-half rigid-000"),
        pytest.param(ORTHOGONAL, [1, 2], "lj/coul 0 0 1", id="orthogonal-rigid-001"),
        pytest.param(TRICLINIC, [], "lj/coul 0 0 1", id="triclinic-free-001"),
        pytest.param(TRICLINIC, [2], "fene", id="triclinic-half rigid-fene"),
        pytest.param(TRICLINIC, [1, 2], "lj/coul 0 0 0", id="triclinic-rigid-000"),
    ],
)
def test_every_force_with_a_counterpart_is_that_of_lammps(tmp_path, tilts, rigid, special):
    """Pairs, charges, bonds, angles, dihedrals, exclusions, and the pressure of molecules that bonds hold together. In
    each box, each kind of bonds and each kind of exclusions comes once."""
    path = tmp_path / "melt.data"
    path.write_text(bead_spring_melt(tilts=tilts).text)
    assert_same_forces(ar.lammps.read_data(path, commands=[*COMMANDS, f"special_bonds {special}"], rigid_bonds=rigid))


def test_forces_in_real_units_are_those_of_lammps(tmp_path):
    path = tmp_path / "melt.data"
    path.write_text(bead_spring_melt(5, unit=3.6, coefficients=REAL_COEFFICIENTS).text)
    commands = ["pair_style lj/cut/coul/cut 11.5 12.0", "pair_modify mix arithmetic"]
    assert_same_forces(ar.lammps.read_data(path, units="real", commands=commands))


@pytest.mark.parametrize("case", ["polymer-melt-springs", "rings", "open"])
def test_other_polymers_are_those_of_lammps(case):
    changes: dict[str, Any] = {"model.chains": CHAINS, "model.beads": BEADS}
    if case == "rings":
        changes |= {"model.architecture": "ring", "model.bending_stiffness": 1.0, "model.dihedral_stiffness": 0.3}
    if case == "open":
        changes |= {"model.number_density": None}
    name = case if case.startswith("polymer") else "polymer-melt"
    assert_same_forces(ar.load_case(name, changes).build_model())


def test_pairs_that_no_special_bonds_leave_out_are_left_out():
    """Two of each chain that are five bonds apart; LAMMPS has a bond between them that exerts nothing."""
    model, q, _, _ = native()
    exclusions = next(force for force in model.forces if force.kind == "exclusions")
    some = tuple((BEADS * k, BEADS * k + 5) for k in range(CHAINS))
    forces = [force for force in model.forces if force is not exclusions]
    assert_same_forces(replace(model, forces=(*forces, exclusions.model_copy(update={"pairs": some}))), q)


def test_a_barostat_changes_the_box_of_lammps_too():
    model, q, u, _ = native()
    barostat = ar.barostats.MonteCarlo(pressure=5.0, every=5, compressibility=0.1)
    bath = ar.thermostats.StochasticVelocityRescaling(temperature=1.0, time=0.1)
    runs = [
        ar.simulate(one, 40 * STEP, frames=4, q=q, u=u, barostat=barostat, thermostat=bath, **RULE)
        for one in (model, ar.lammps.through_lammps(model))
    ]
    volumes = [run.observables["volume"] for run in runs]
    assert len(set(volumes[0].tolist())) > 1
    assert np.abs(volumes[1] / volumes[0] - 1.0).max() <= APART and np.abs(runs[1].q - runs[0].q).max() <= APART


def live(tmp_path: Path, q: np.ndarray, u: np.ndarray, *commands: str) -> Any:
    """An instance of LAMMPS, as a user may have one."""
    path = tmp_path / "melt.data"
    ar.lammps.write_data(native()[0], q, u, path)
    engine = _library().lammps(cmdargs=["-screen", "none", "-log", "none"])
    for command in (
        *("units lj", "atom_style full", "bond_style zero", "special_bonds lj/coul 0 1 1"),
        *("pair_style lj/cut 1.122462048309373", "pair_modify shift yes", f"read_data {path}", *commands),
    ):
        engine.command(command)
    return engine


def test_chains_move_inside_of_an_instance_of_the_users(tmp_path):
    """In two runs that follow each other; the atoms are then where the chains are, with their velocities."""
    model, q, u, own = native()
    engine = live(tmp_path, q, u)
    coupled = ar.lammps.Coupled(engine, model)
    first = coupled.run(STEPS // 2 * STEP, frames=2, **RULE, q=q, u=u)
    second = coupled.run(STEPS // 2 * STEP, frames=2, **RULE)
    assert np.abs(np.concatenate([first.q, second.q[1:]]) - own["q"]).max() <= APART
    x = np.array(engine.gather_atoms("x", 1, 3)).reshape(-1, 3)
    wanted = site_positions(model, own["q"][-1])
    boxes = (x - wanted) / np.diag(model.box.vectors)
    assert np.abs(boxes - np.rint(boxes)).max() <= APART
    engine.command("run 0 post no")
    assert engine.numpy.extract_compute("thermo_pe", 0, 0) == pytest.approx(own["potential_energy"][-1], rel=RELATIVE)
    assert engine.get_thermo("ke") * len(x) == pytest.approx(own["kinetic_energy"][-1], rel=RELATIVE)
    with pytest.raises(ar.ArticulonError, match=r"written|instance"):
        first.save(tmp_path / "saved")
    engine.close()


def test_an_instance_whose_atoms_move_by_themselves_is_refused(tmp_path):
    model, q, u, _ = native()
    engine = live(tmp_path, q, u, "fix 1 all nve")
    with pytest.raises(ar.ArticulonError, match="a fix of the instance moves its atoms"):
        ar.lammps.Coupled(engine, model).run(10 * STEP, **RULE, q=q, u=u)
    engine.close()


def by_commands(command: str, beside: str = "") -> Lammps:
    """The melt's, with another command in the place of that of the same name, or before the one called ``beside``."""
    force = ar.lammps.through_lammps(melt()).forces[-1]
    name, found = beside or command.split()[0], []
    for known in force.commands:
        same = known.split()[0] == name
        found += [command] * same + [known] * (not same or bool(beside))
    return Lammps(tuple(found), data=force.data)


def model_with(force: Lammps) -> ar.Model:
    return replace(melt(), forces=(force,))


@pytest.mark.parametrize(
    ("command", "said"),
    [
        ("pair_style lj/cutt 2.5", "'pair_style lj/cutt 2.5': ERROR: Unrecognized pair style 'lj/cutt'"),
        ("pair_style lj/cut", "'pair_style lj/cut': ERROR: .*pair_style"),
        ("boundary p p s", "LAMMPS's box is periodic along x, y, and the model's along x, y, z"),
    ],
)
def test_what_lammps_says_is_passed_on(command, said):
    with pytest.raises(ar.ArticulonError, match=said):
        ar.potential_energy(model_with(by_commands(command)), melt().q0)
    model, q, _, _ = native()  # the process goes on
    assert_same_forces(model, q)


@pytest.mark.parametrize(
    ("command", "said"),
    [
        ("shell touch here", r"is not one of those that define interactions"),
        ("pair_style python 2.5", "'python' runs code"),
        ("pair_style 'python' 2.5", "without variables, quotes and comments"),
        ('pair_style "mliap" unified x.pkl', "without variables, quotes and comments"),
        ("pair_style zero # python", "without variables, quotes and comments"),
        ("pair_style ${style}", "without variables"),
        ("processors * * * file elsewhere", "'file' makes LAMMPS write a file"),
        ("dihedral_style table/cut CHECKU elsewhere", "'CHECKU' makes LAMMPS write a file"),
        ("read_data", "write 'read_data {data}'"),
        ("read_data elsewhere.data", "write 'read_data {data}'"),
        ("read_data {data} add append", "write 'read_data {data}'"),
    ],
)
def test_commands_that_do_more_than_say_what_acts_are_refused(command, said):
    with pytest.raises(ar.ArticulonError, match=said.replace("{", r"\{").replace("}", r"\}")):
        by_commands(command, beside="pair_style")


def test_what_has_no_counterpart_is_named():
    builder = ar.ModelBuilder(units="lj", box=ar.Box(lengths=(8.0, 8.0, 8.0)))
    builder.add_particles(2, mass=1.0, positions=np.array([[0.0, 0.0, 0.0], [1.2, 0.0, 0.0]]))
    builder.add_force(
        ar.forces.Morse(parameters={"particle": {"depth": 1.0, "width": 2.0, "distance": 1.0}}, cutoff=2.5)
    )
    with pytest.raises(ar.ModelError, match=r"forces\[0\], 'morse' has no counterpart in LAMMPS"):
        ar.lammps.through_lammps(builder.build())
    with pytest.raises(ar.CaseError, match=r"run\.engine"):
        ar.load_case("polymer-melt", {"run.engine": "gromacs"})
    with pytest.raises(ar.CaseError, match="no forces between sites"):
        ar.load_case("double-pendulum", {"run.engine": "lammps"}).build_model()


def test_a_case_file_may_say_what_lammps_is_told(tmp_path):
    """Atoms of a data file whose pairs LAMMPS alone knows."""
    path, given = tmp_path / "melt.data", dict(COEFFICIENTS)
    del given["Bond Coeffs # fene"]
    path.write_text(bead_spring_melt(coefficients=given).text)
    (tmp_path / "case.toml").write_text(
        """
[case]
units = "lj"

[model]
builder = "lammps-data"
file = "melt.data"
rigid_bonds = [1, 2]
leave_out = ["pairs", "angles", "dihedrals", "impropers"]

[[forces]]
kind = "lammps"
data = "melt.data"
commands = [
    "units lj", "atom_style full", "bond_style zero", "angle_style hybrid harmonic cosine",
    "dihedral_style hybrid harmonic opls charmm quadratic", "improper_style cvff",
    "pair_style lj/cut/coul/cut 2.5 3.0", "pair_modify shift yes mix arithmetic", "special_bonds fene",
    "read_data {data}", "bond_coeff * 1.0",
]

[integrator]
rule = "friction-implicit"
drift = "geodesic"
step = 0.002

[run]
duration = 0.02
frames = 2
"""
    )
    own = ar.lammps.read_data(path, commands=[*COMMANDS, "special_bonds fene"], rigid_bonds=[1, 2])
    model = ar.load_case(tmp_path / "case.toml").build_model()
    assert ar.potential_energy(model, model.q0) == pytest.approx(ar.potential_energy(own, own.q0), rel=ROUNDING)
    run = ar.run(tmp_path / "case.toml", tmp_path / "run", report=False)
    assert any("LAMMPS" in note for note in run.notes)
    other = ar.simulate(own, 0.02, rule="friction-implicit", drift="geodesic", step=0.002, frames=2)
    assert np.abs(run.q - other.q).max() <= APART


INPUT = """units lj
atom_style full
bond_style zero
special_bonds fene
pair_style lj/cut 1.122462048309373
pair_modify shift yes
read_data melt.data
"""
AROUND = """[case]
units = "lj"

[model]
builder = "lammps-data"
file = "melt.data"
rigid_bonds = [1]
leave_out = ["pairs"]

[integrator]
rule = "friction-implicit"
drift = "geodesic"
step = 0.005

[run]
duration = 0.05
frames = 2

"""


def test_the_examples_of_the_page_run_as_they_are_printed(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    page = (ROOT / "docs" / "lammps.md").read_text(encoding="utf-8")
    model, q, u, _ = native()
    ar.lammps.write_data(model, q, u, "melt.data")
    Path("in.melt").write_text(INPUT)
    names: dict[str, Any] = {}
    exec(re.findall(r"```python\n(.*?)```", page, re.DOTALL)[1].replace("coupled.run(10.0", "coupled.run(0.1"), names)
    own = ar.simulate(model, 0.1, q=q, u=u, **{**RULE, "step": 0.01})
    assert np.abs(names["run"].potential_energy / own.potential_energy - 1.0).max() <= RELATIVE
    # Bonds through the faces of the box, whose image flags LAMMPS writes.
    after = ar.lammps.read_data("after.data", commands=["special_bonds fene"], leave_out=["pairs", "bonds"])
    x = site_positions(after, after.q0).reshape(CHAINS, BEADS, 3)
    assert np.linalg.norm(np.diff(x, axis=1), axis=2) == pytest.approx(0.97, abs=1e-6)
    Path("page.toml").write_text(AROUND + re.findall(r"```toml\n(.*?)```", page, re.DOTALL)[1])
    assert ar.run("page.toml", out="run", report=False).potential_energy[0] > 0.0
