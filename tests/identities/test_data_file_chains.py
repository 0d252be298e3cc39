"""Polymer chains of LAMMPS data files: which molecules are chains by their bonds, and in which order."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import articulon as ar
from articulon.chains.chain_statistics import chain_statistics
from articulon.chains.model_chains import chain_frames
from articulon.lammps.bonded_chains import KINDS, bonded_chains
from tests.support.lammps_files import SMALL, melt, written

COMMANDS = ["pair_style lj/cut/coul/cut 2.5 3.0", "special_bonds fene", "pair_modify shift yes mix arithmetic"]


def path(count: int) -> list[tuple[int, int]]:
    return [(k, k + 1) for k in range(count - 1)]


def star(*arms: int) -> list[tuple[int, int]]:
    """An atom 0 amid arms of so many atoms."""
    found, start = [], 1
    for arm in arms:
        found += [(0, start), *((start + k, start + k + 1) for k in range(arm - 1))]
        start += arm
    return found


MOLECULES: dict[str, tuple[list[tuple[int, int]], str | None]] = {
    "a pair": (path(2), None),
    "water": (path(3), None),
    "water with its hydrogens held": ([*path(3), (0, 2)], None),
    "four beads": (path(4), "linear chain"),
    "a long chain": (path(11), "linear chain"),
    "a ring of three": ([*path(3), (2, 0)], None),
    "a ring of four": ([*path(4), (3, 0)], "ring"),
    "a ring of nine": ([*path(9), (8, 0)], "ring"),
    "a bond that is listed twice": ([*path(5), (1, 0), (2, 3)], "linear chain"),
    "a nitrate ion": (star(1, 1, 1), None),
    "methane": (star(1, 1, 1, 1), None),
    "a chain with a side group": (star(3, 3, 1), None),
    "a star": (star(2, 2, 2), "star"),
    "a star of four unequal arms": (star(2, 5, 3, 4), "star"),
    "two branching points": ([*path(6), (1, 6), (6, 7), (4, 8), (8, 9)], None),
    "a ring with a tail": ([*path(6), (5, 0), (2, 6), (6, 7)], None),
    "a star with a ring": ([*star(2, 2, 2), (2, 4)], None),
    "two rings": ([*path(6), (5, 0), (0, 3)], None),
}
"""Bonds between the atoms of a molecule, and what it is."""


@pytest.mark.parametrize("name", MOLECULES)
def test_a_molecule_is_what_its_bonds_make_of_it(name: str) -> None:
    """Whatever its atoms are called, and whatever lies beside it."""
    bonds, kind = MOLECULES[name]
    atoms = max(map(max, bonds)) + 1
    rng = np.random.default_rng(len(name))
    for _ in range(10):
        called = rng.permutation(atoms + 6)
        # Beside it are single atoms, and a chain of four.
        pairs = np.concatenate([np.array(bonds), [[atoms, atoms + 1], [atoms + 1, atoms + 2], [atoms + 2, atoms + 3]]])
        found = bonded_chains(rng.permuted(called[rng.permutation(pairs)], axis=1), atoms + 6)
        sets = [set(found.site[a:b].tolist()) for a, b in zip(found.first[:-1], found.first[1:], strict=True)]
        kinds = dict(zip(map(frozenset, sets), (KINDS[k] for k in found.kind), strict=True))
        own, beside = frozenset(called[:atoms].tolist()), frozenset(called[atoms : atoms + 4].tolist())
        assert kinds == {beside: "linear chain"} | ({} if kind is None else {own: kind})
        assert found.others == (kind is None and atoms >= 4)
        assert [min(one) for one in sets] == sorted(min(one) for one in sets)
        bonded = {frozenset(pair) for pair in called[pairs].tolist()}
        for chain, a, b in zip(found.kind, found.first[:-1], found.first[1:], strict=True):
            beads = found.site[a:b].tolist()
            if KINDS[chain] == "star":
                assert beads == sorted(beads)
                continue
            assert all(frozenset(pair) in bonded for pair in pairwise(beads))
            if KINDS[chain] == "ring":
                assert beads[0] == min(beads) and beads[1] < beads[-1] and frozenset((beads[-1], beads[0])) in bonded
            else:
                assert beads[0] < beads[-1]


GROWN: dict[str, dict[str, Any]] = {
    "rods": {"beads": [6, 9, 4]},
    "springs": {"beads": 8, "bonds": "fene", "bond_stiffness": 30.0, "bond_extent": 1.5},
    "rings": {"beads": 9, "architecture": "ring", "bonds": "harmonic", "bond_stiffness": 100.0},
    "stars of rods": {"beads": [9, 17, 13], "architecture": "star", "arms": 4},
    "stars": {"beads": 10, "architecture": "star", "arms": 3, "bonds": "harmonic", "bond_stiffness": 50.0},
}


def grown(tmp_path: Path, changes: dict[str, Any]) -> ar.Model:
    keys = {"builder": "polymers", "chains": 3, "bond_length": 0.97, "mass": 1.0, "number_density": 0.3} | changes
    lines = ['[case]\nunits = "lj"\n[model]', *(f"{key} = {value!r}" for key, value in keys.items())]
    return ar.load_case(written(tmp_path / "grown.toml", "\n".join([*lines, "[run]\nduration = 1.0"]))).build_model()


def statistics(model: ar.Model) -> dict[str, Any]:
    """Of the initial state."""
    given = chain_frames(model, np.zeros(1), model.q0[None])
    assert given is not None
    return chain_statistics(*given, skip=0.0, unwrapped=True).summary()


def numbers(table: dict[str, Any], start: str = "") -> dict[str, float]:
    """All numbers of nested tables and lists by dotted keys."""
    found = {}
    for key, value in table.items():
        inner = dict(enumerate(value)) if isinstance(value, list) else value
        if isinstance(inner, dict):
            found |= numbers(inner, f"{start}{key}.")
        elif isinstance(inner, int | float):
            found[f"{start}{key}"] = float(inner)
    return found


@pytest.mark.parametrize("name", GROWN)
def test_chains_that_are_written_are_read_with_the_same_statistics(tmp_path: Path, name: str) -> None:
    model = grown(tmp_path, GROWN[name])
    ar.lammps.write_data(model, model.q0, model.u0, tmp_path / "grown.data")
    rigid = {"rigid_bonds": [1]} if "bonds" not in GROWN[name] else {}
    commands = ["pair_style zero 1.0"]
    read = ar.lammps.read_data(tmp_path / "grown.data", commands=commands, leave_out=["pairs"], **rigid)
    assert model.chains is not None and read.chains is not None
    for one in ("site", "first", "ring", "branched"):
        assert np.array_equal(getattr(read.chains, one), getattr(model.chains, one)), one
    before, after = numbers(statistics(model)), numbers(statistics(read))
    asked = [key for key in before if key.startswith("mean_square_") and key.endswith(".mean")]
    assert (
        len(asked) == {"rings": 2, "stars": 1, "stars of rods": 1}.get(name, 3)
        and min(before[key] for key in asked) > 0.1
    )
    assert before.keys() == after.keys()
    for key, value in before.items():
        # Positions of some 5 σ are wrapped, written to the last bit, and put together by rods again.
        assert after[key] == pytest.approx(value, rel=1e-12, abs=1e-13), key


def test_what_is_inferred_is_said_and_can_be_declined(tmp_path: Path) -> None:
    file = written(tmp_path / "melt.data", melt().text)
    model = ar.lammps.read_data(file, commands=COMMANDS)
    assert model.chains is not None and np.array_equal(model.chains.first, np.arange(0, 33, 8))
    assert np.array_equal(model.chains.site, np.arange(32))
    said = "polymer chains by their bonds: 4 linear chains of 8 beads (chains = false for none)"
    assert said in ar.lammps.inferred(model)
    without = ar.lammps.read_data(file, commands=COMMANDS, chains=False)
    assert without.chains is None and not any("chains" in line for line in ar.lammps.inferred(without))
    with pytest.raises(ar.ModelError, match="chains: expected True or False, got 'all'"):
        ar.lammps.read_data(file, commands=COMMANDS, chains="all")  # type: ignore[arg-type]


def test_small_molecules_are_no_chains_and_branched_ones_are_counted(tmp_path: Path) -> None:
    small = ar.lammps.read_data(written(tmp_path / "small.data", SMALL), leave_out=["pairs"])
    assert small.chains is None and not any("polymer" in line for line in ar.lammps.inferred(small))
    found = bonded_chains(np.array([*path(5), *(np.array(path(7)) + 5), *(np.array(star(1, 1, 1, 1)) + 12)]), 17)
    assert found.notes == [
        "polymer chains by their bonds: 2 linear chains of 5 to 7 beads (chains = false for none)",
        "molecules of 4 beads or more that are not linear chains, rings or stars, and have no chain statistics: 1",
    ]


def test_a_case_of_a_data_file_has_statistics_of_its_chains(tmp_path: Path) -> None:
    written(tmp_path / "melt.data", melt().text)
    case = ar.load_case(
        written(
            tmp_path / "melt.toml",
            '[case]\nunits = "lj"\n[model]\nbuilder = "lammps-data"\nfile = "melt.data"\nleave_out = ["pairs"]\n'
            '[integrator]\nrule = "velocity-verlet"\nstep = 0.001\n[run]\nduration = 0.02\nframes = 4\n',
        )
    )
    assert ar.run(case, tmp_path / "run", report=False).summary["polymers"]["chains"] == 4
    declined = ar.run(case, tmp_path / "declined", overrides={"model.chains": False}, report=False)
    assert "polymers" not in declined.summary
