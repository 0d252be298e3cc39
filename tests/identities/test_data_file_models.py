"""Models of LAMMPS data files: rigid parts keep atoms in place and momentum as it is, in Python and in cases."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import articulon as ar
from articulon.dynamics.multibody_functions import body_velocities
from articulon.forces.sites.site_positions import site_positions
from articulon.lammps.model_writing import _site_velocities
from tests.support.lammps_files import COEFFICIENTS, SMALL, melt, written

COMMANDS = ["pair_style lj/cut/coul/cut 2.5 3.0", "special_bonds fene", "pair_modify shift yes mix arithmetic"]
EPS = np.finfo(float).eps


@pytest.fixture
def melt_file(tmp_path) -> Path:
    return written(tmp_path / "melt.data", melt().text)


# What is rigid

RIGID: dict[str, dict[str, Any]] = {
    "bonds": {"rigid_bonds": [1, 2]},
    "bonds of one type": {"rigid_bonds": [2]},
    "a molecule": {"rigid_groups": [1]},
    "groups": {"rigid_groups": [[9, 10, 11, 12], [1, 2], [25, 26, 27]]},
    "bonds and a group": {"rigid_bonds": [1, 2], "rigid_groups": [[10, 11, 12], [17, 18]]},
}


@pytest.mark.parametrize("name", RIGID)
def test_rigid_parts_keep_atoms_and_masses_where_they_are(melt_file, name):
    made = melt()
    model = ar.lammps.read_data(melt_file, commands=COMMANDS, **RIGID[name])
    # A rod stands in the frame of the one before, so that its turn gathers their roundings.
    assert np.abs(site_positions(model, model.q0) - made.positions).max() <= 40 * EPS * 20.0
    assert model.masses.sum() == pytest.approx(made.masses.sum(), rel=1e-14)


@pytest.mark.parametrize("name", RIGID)
def test_velocities_are_the_nearest_that_are_allowed(melt_file, name):
    """Against a dense solution: v less what the rows (x_i − x_j)·(v_i − v_j) = 0 take off, least in the metric of m."""
    made = melt()
    model = ar.lammps.read_data(melt_file, commands=COMMANDS, **RIGID[name])
    rows = [pair for k, pair in enumerate(made.bonds.tolist()) if k % 2 + 1 in RIGID[name].get("rigid_bonds", ())]
    for group in RIGID[name].get("rigid_groups", ()):
        atoms = list(range(8)) if group == 1 else [i - 1 for i in group]
        rows += [[i, j] for i in atoms for j in atoms if i < j]
    G = np.zeros((len(rows), 32, 3))
    for k, (i, j) in enumerate(rows):
        G[k, i] = made.positions[i] - made.positions[j]
        G[k, j] = -G[k, i]
    G, m = G.reshape(len(rows), -1), np.repeat(made.masses, 3)
    v = made.velocities.ravel()
    expected = v - (G / m).T @ np.linalg.lstsq((G / m) @ G.T, G @ v, rcond=None)[0]
    found = _site_velocities(model, model.q0, model.u0).ravel()
    # The rows of a group of eight are of rank 18 out of 28, which least squares find to 1e-12.
    assert np.abs(found - expected).max() <= 1e-11
    assert ar.kinetic_energy(model, model.q0, model.u0) == pytest.approx(0.5 * (m * expected**2).sum(), rel=1e-12)


def test_energies_of_a_rigid_model_are_those_of_what_acts(melt_file):
    """Chains of rods have the terms of free beads but their bonds, for all interact by the same exclusions."""
    rigid = ar.lammps.read_data(melt_file, commands=COMMANDS, rigid_bonds=[1, 2])
    free = ar.lammps.read_data(melt_file, commands=COMMANDS, leave_out=["bonds"])
    assert ar.potential_energy(rigid, rigid.q0) == pytest.approx(ar.potential_energy(free, free.q0), rel=1e-12)


@pytest.mark.parametrize("group", [[1, 2], [9, 10, 11]], ids=["in line", "a triangle"])
def test_atoms_of_a_rigid_group_do_not_interact(melt_file, group):
    """Where no bonds exclude anything, the pairs of the group are what its energy lacks."""
    made, commands = melt(), ["pair_style lj/cut 2.5", "special_bonds lj/coul 1 1 1"]
    left_out = ["bonds", "angles", "dihedrals", "impropers"]
    rigid, free = (
        ar.lammps.read_data(melt_file, commands=commands, leave_out=left_out, rigid_groups=groups)
        for groups in ([group], [])
    )
    lacking = 0.0
    kinds = {(0, 0): (1.0, 1.0), (1, 1): (0.6, 0.9), (0, 1): (0.6**0.5, 0.9**0.5)}
    for i in group:
        for j in group:
            if i < j:
                epsilon, sigma = kinds[tuple(sorted(((i - 1) % 2, (j - 1) % 2)))]
                power = (sigma / np.linalg.norm(made.positions[i - 1] - made.positions[j - 1])) ** 6
                lacking += 4.0 * epsilon * (power**2 - power)
    found = ar.potential_energy(free, free.q0) - ar.potential_energy(rigid, rigid.q0)
    # Some hundred pairs, each rounded to the sum of all.
    assert abs(found - lacking) <= 1e-11 and abs(lacking) > 0.1


def ring(count: int) -> str:
    """A crooked ring of rods through a corner of the box, with velocities."""
    turn = np.linspace(0.0, 2.0 * np.pi, count, endpoint=False)
    x = np.stack([np.cos(turn), np.sin(turn), 0.2 * np.cos(2.0 * turn)], axis=1) % 10.0
    v = np.random.default_rng(3).normal(size=(count, 3))
    lines = ["ring", "", f"{count} atoms", f"{count} bonds", "1 atom types", "1 bond types"]
    lines += [*(f"0 10 {axis}lo {axis}hi" for axis in "xyz"), "", "Masses", "", "1 2.0", "", "Atoms # bond", ""]
    lines += [f"{k + 1} 1 1 {' '.join(map(repr, x[k].tolist()))}" for k in range(count)]
    lines += ["", "Velocities", "", *(f"{k + 1} {' '.join(map(repr, v[k].tolist()))}" for k in range(count))]
    return (
        "\n".join([*lines, "", "Bonds", "", *(f"{k + 1} 1 {k + 1} {(k + 1) % count + 1}" for k in range(count))]) + "\n"
    )


def test_a_ring_of_rods_is_closed_by_a_loop_and_keeps_its_bonds(tmp_path):
    model = ar.lammps.read_data(written(tmp_path / "ring.data", ring(6)), rigid_bonds=1)
    assert len(model.loop_joints) == 1 and model.masses.sum() == pytest.approx(12.0)
    order = np.arange(6)

    def arms(q: np.ndarray) -> np.ndarray:
        x = site_positions(model, q)
        return x - x[np.roll(order, 1)]

    v = _site_velocities(model, model.q0, model.u0)
    assert np.abs((arms(model.q0) * (v - v[np.roll(order, 1)])).sum(axis=1)).max() < 1e-14
    run = ar.simulate(model, 0.2, step=0.01)
    lengths = [np.linalg.norm(arms(q), axis=1) for q in (model.q0, run.q[-1])]
    # Loops are closed to 1e-13 in units of the model's size.
    assert np.abs(lengths[0] - lengths[1]).max() < 1e-12
    ar.lammps.write_data(model, run.q[-1], run.u[-1], tmp_path / "after.data", style="bond")
    after = ar.lammps.read_data(tmp_path / "after.data", rigid_bonds=1)
    assert np.abs(site_positions(after, after.q0) - site_positions(model, run.q[-1])).max() < 1e-13


def test_a_free_rigid_group_flies_as_one(tmp_path, melt_file):
    model = ar.lammps.read_data(melt_file, rigid_groups=[1, 2, 3, 4], leave_out=["pairs"])
    assert model.bodies == 4 and body_velocities(model, model.q0, model.u0).shape == (4, 6)
    before = site_positions(model, model.q0)
    run = ar.simulate(model, 0.1, step=0.01)
    after = site_positions(model, run.q[-1])
    for k in range(0, 32, 8):
        one, two = (x[k : k + 8, None] - x[None, k : k + 8] for x in (before, after))
        assert np.abs(np.linalg.norm(one, axis=2) - np.linalg.norm(two, axis=2)).max() < 1e-13


# The builder

CASE = """[case]
units = "lj"
[model]
builder = "lammps-data"
file = "small.data"
rigid_bonds = [1]
commands = ["pair_style lj/cut 2.5", "pair_coeff * * 1.0 0.5"]
[integrator]
rule = "rk4"
step = 0.001
[run]
duration = 0.01
"""


def test_a_case_reads_its_file_and_marks_it(tmp_path):
    written(tmp_path / "small.data", SMALL)
    case = ar.load_case(written(tmp_path / "small.toml", CASE))
    model = case.build_model()
    direct = ar.lammps.read_data(
        tmp_path / "small.data", rigid_bonds=[1], commands=["pair_style lj/cut 2.5", "pair_coeff * * 1.0 0.5"]
    )
    assert np.array_equal(model.q0, direct.q0) and np.array_equal(model.u0, direct.u0)
    assert case.inferred == ar.lammps.inferred(direct)
    run = ar.run(case, out=tmp_path / "run", report=False)
    assert run.summary["status"] == "complete"
    ar.lammps.write_data(run.model, run.q[-1], run.u[-1], tmp_path / "end.data", like=tmp_path / "small.data")
    written(tmp_path / "small.data", SMALL.replace("7 0.3", "7 0.4"))
    with pytest.raises(ar.CaseError, match=r"does not match model\.sha256"):
        ar.open_run(tmp_path / "run").case.build_model()


def test_a_case_in_other_units_is_refused(tmp_path):
    written(tmp_path / "small.data", SMALL)
    with pytest.raises(ar.CaseError, match=r"model\.builder: LAMMPS data files need the units 'lj' or 'Da-nm-ps'"):
        ar.load_case(written(tmp_path / "small.toml", CASE.replace('"lj"', '"fg-um-us"')))
    with pytest.raises(ar.CaseError, match=r"small\.toml.*cannot be read"):
        ar.load_case(written(tmp_path / "small.toml", CASE.replace("small.data", "other.data")))


def test_the_examples_of_the_page_run_as_they_are_printed(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    page = (Path(__file__).parents[2] / "docs" / "lammps.md").read_text(encoding="utf-8")
    given = {**COEFFICIENTS, "Pair Coeffs # lj/cut": ["1 1.0 1.0", "2 1.0 1.0"]}
    del given["Pair Coeffs # lj/cut/coul/cut"]
    written(tmp_path / "melt.data", melt(coefficients=given).text)
    names: dict[str, Any] = {}
    exec(re.findall(r"```python\n(.*?)```", page, re.DOTALL)[0], names)
    case = re.findall(r"```toml\n(.*?)```", page, re.DOTALL)[0]
    run = ar.run(ar.load_case(written(tmp_path / "page.toml", case)), out=tmp_path / "run")
    assert np.array_equal(run.q[-1], names["run"].q[-1])
    assert (tmp_path / "after.data").is_file()


# Through the faces of the box


def line_of_beads(order: list[int], images: bool, start: float = 0.2) -> str:
    """Eight beads in line along x, 1 apart, in a box of 10; the k-th has the id ``order[k]``, and all are wrapped."""
    rows = sorted((order[k], (start + k) % 10.0) for k in range(8))
    flags = " 0 0 0" if images else ""
    atoms = [f"{atom} 1 1 {x!r} 5.0 5.0{flags}" for atom, x in rows]
    bonds = [f"{k + 1} 1 {order[k]} {order[k + 1]}" for k in range(7)]
    head = "beads\n\n8 atoms\n7 bonds\n1 atom types\n1 bond types\n0 10 xlo xhi\n0 10 ylo yhi\n0 10 zlo zhi\n"
    body = "\n".join(["\nMasses\n", "1 1.0", "\nAtoms # bond\n", *atoms, "\nBonds\n", *bonds])
    return head + body + "\n"


FAR = [1, 8, 2, 7, 3, 6, 4, 5]
"""Ids that follow each other belong to beads far apart."""
ALONE = {"commands": ["special_bonds lj/coul 0 0 0"], "leave_out": ["pairs", "bonds"]}


def ends(model: ar.Model, order: list[int]) -> float:
    x = site_positions(model, model.q0)
    return float(np.linalg.norm(x[order[7] - 1] - x[order[0] - 1]))


def test_a_rigid_group_is_put_together_along_its_bonds(tmp_path):
    """Without image flags, though its ids lead another way by nearest images."""
    path = written(tmp_path / "line.data", line_of_beads(FAR, images=False, start=6.2))
    for how in ({}, {"rigid_groups": [1]}):
        assert ends(ar.lammps.read_data(path, **how, **ALONE), FAR) == pytest.approx(7.0, abs=1e-12)


def test_wrong_image_flags_within_a_rigid_group_are_named(tmp_path):
    path = written(tmp_path / "line.data", line_of_beads(list(range(1, 9)), images=True, start=6.2))
    with pytest.raises(ar.ModelError, match=r"line \d+: the rigid bond between .* without matching image flags"):
        ar.lammps.read_data(path, rigid_groups=[1], **ALONE)


def test_wrong_image_flags_of_flexible_chains_leave_out_their_statistics(tmp_path):
    order = list(range(1, 9))
    whole = ar.lammps.read_data(written(tmp_path / "whole.data", line_of_beads(order, images=True)), **ALONE)
    assert whole.chains is not None
    torn = ar.lammps.read_data(written(tmp_path / "torn.data", line_of_beads(order, True, start=6.2)), **ALONE)
    assert torn.chains is None
    assert any("without matching image flags (1 such bonds)" in note for note in ar.lammps.inferred(torn))


def test_every_command_for_special_bonds_begins_anew(tmp_path):
    """As LAMMPS does: what the last command does not name is left out, whatever was said before."""
    path = written(tmp_path / "melt.data", melt().text)
    both = ["special_bonds lj 0 1 1 coul 0 1 1"]
    assert ar.lammps.read_data(path, commands=[*COMMANDS, *both]).forces
    with pytest.raises(ar.ModelError, match="special_bonds lj 0 0 0 coul 0 1 1 has no counterpart"):
        ar.lammps.read_data(path, commands=[*COMMANDS, *both, "special_bonds coul 0 1 1"])
