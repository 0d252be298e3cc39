"""Data files through LAMMPS: the energy terms that it reports of a file, and of what we wrote, are those of the model.

Both read the same doubles and add up the same terms in another order: some hundred of them, each to a few roundings of
its value, so that sums without much cancellation agree to 1e-13.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import articulon as ar
from articulon.lammps.described_models import described
from articulon.lammps.unit_styles import unit_style
from tests.support.lammps_files import COEFFICIENTS, REAL_COEFFICIENTS, STYLES, melt
from tests.support.lammps_peer import _library

BOUND = 1e-12
TERMS = {"evdwl": "pair", "ebond": "bond", "eangle": "angle", "edihed": "dihedral", "eimp": "improper"}
PAIR = "pair_style lj/cut/coul/cut 2.5 3.0"
BESIDE = ["special_bonds fene", "dielectric 2.0", "pair_modify shift yes mix arithmetic"]


def lammps_terms(
    path: Path, pair: str = PAIR, beside: list[str] = BESIDE, styles: tuple[str, ...] = STYLES, units: str = "lj"
) -> dict[str, float]:
    """Energy terms as LAMMPS finds them, those of charges with the pairs; and what it writes, as ``lammps.data``."""
    engine = _library().lammps(cmdargs=["-screen", "none", "-log", "none"])
    try:
        special = [one for one in beside if not one.startswith("pair_")]
        later = [one for one in beside if one.startswith("pair_")]
        for command in (
            *(f"units {units}", "atom_style full", pair, *styles, *special),
            f"read_data {path} extra/special/per/atom 20",
            *later,
            "thermo_modify norm no",
            "run 0 post no",
            f"write_data {path.parent / 'lammps.data'}",
        ):
            engine.command(command)
        found = {name: engine.get_thermo(name) for name in (*TERMS, "ecoul", "ke")}
    finally:
        engine.close()
    found["evdwl"] += found.pop("ecoul")
    return found


def our_terms(path: Path, commands: list[str], units: str = "lj") -> dict[str, float]:
    """The same, each by leaving out all others."""
    data, energy = ar.lammps.read_data_file(path), unit_style(units).energy
    families = [f"{family}s" for family in TERMS.values()]
    found = {}
    for name, family in TERMS.items():
        others = [one for one in families if one != f"{family}s" and (one == "pairs" or data.terms[one[:-1]].type.size)]
        model = ar.lammps.read_data(data, units=units, commands=commands, leave_out=others)
        found[name] = ar.potential_energy(model, model.q0) / energy
    whole = ar.lammps.read_data(data, units=units, commands=commands)
    assert ar.potential_energy(whole, whole.q0) / energy == pytest.approx(sum(found.values()), rel=BOUND)
    return found


def assert_terms(found: dict[str, float], peer: dict[str, float]) -> None:
    for name in TERMS:
        assert found[name] == pytest.approx(peer[name], rel=BOUND), name


def written(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize("tilts", [(0.0, 0.0, 0.0), (1.0, -0.7, 1.3)], ids=["orthogonal", "triclinic"])
def test_the_terms_of_a_file_are_those_of_lammps(tmp_path, tilts):
    path = written(tmp_path / "melt.data", melt(tilts=tilts).text)
    peer = lammps_terms(path)
    assert all(abs(peer[name]) > 0.1 for name in TERMS)
    assert_terms(our_terms(path, [PAIR, *BESIDE]), peer)


SPECIAL = {
    "default": [],
    "all act": ["special_bonds lj/coul 1.0 1.0 1.0"],
    "three apart act": ["special_bonds lj/coul 0.0 0.0 1.0"],
    "weakened": ["special_bonds lj 0.0 0.0 0.5 coul 0.0 0.0 0.8", "pair_modify mix sixthpower"],
}


@pytest.mark.parametrize("name", SPECIAL)
def test_special_bonds_are_those_of_lammps(tmp_path, name):
    """Pairs three bonds apart are nearer than the cutoff: those that are weakened have none here."""
    path, pair = written(tmp_path / "melt.data", melt(2).text), "pair_style lj/cut/coul/cut 3.4"
    assert_terms(our_terms(path, [pair, *SPECIAL[name]]), lammps_terms(path, pair, SPECIAL[name]))


def test_pairs_of_types_with_cutoffs_of_their_own_are_those_of_lammps(tmp_path):
    given = dict(COEFFICIENTS)
    del given["Pair Coeffs # lj/cut/coul/cut"]
    given["PairIJ Coeffs # lj/cut"] = ["1 1 1.0 1.0 1.122462048309373", "1 2 0.8 1.1 2.0", "2 2 0.5 1.0"]
    path, pair = written(tmp_path / "melt.data", melt(3, coefficients=given).text), "pair_style lj/cut 2.5"
    beside = ["pair_modify shift yes", "special_bonds fene"]
    assert_terms(our_terms(path, [pair, *beside]), lammps_terms(path, pair, beside))


def test_coefficients_of_an_input_script_are_those_of_lammps(tmp_path):
    path = written(tmp_path / "melt.data", melt(4, coefficients={}).text)
    commands = [
        *("pair_coeff 1 1 1.0 1.0", "pair_coeff 2*2 2 0.6 0.9", "bond_coeff * 400.0 0.97", "angle_coeff * 2.0 100.0"),
        *("angle_coeff 2 1.0 120.0", "dihedral_coeff * 0.5 1 2", "improper_coeff 1 0.3 1 1"),
    ]
    styles = ("bond_style harmonic", "angle_style harmonic", "dihedral_style harmonic", "improper_style cvff")
    pair, beside = "pair_style lj/cut/coul/cut 2.5", ["special_bonds lj/coul 0 1 1"]
    engine = _library().lammps(cmdargs=["-screen", "none", "-log", "none"])
    try:
        for command in (
            *("units lj", "atom_style full", pair, *styles, *beside, f"read_data {path}", *commands),
            *("thermo_modify norm no", "run 0 post no"),
        ):
            engine.command(command)
        peer = {name: engine.get_thermo(name) for name in (*TERMS, "ecoul")}
    finally:
        engine.close()
    peer["evdwl"] += peer.pop("ecoul")
    assert_terms(our_terms(path, [pair, *styles, *beside, *commands]), peer)


def test_the_terms_of_a_file_in_real_units_are_those_of_lammps(tmp_path):
    """In kcal/mol, with LAMMPS's constant of Coulomb; velocities in Å/fs."""
    path = written(tmp_path / "melt.data", melt(5, unit=3.6, coefficients=REAL_COEFFICIENTS).text)
    # Three bonds reach no further than 3 × 3.71.
    pair = "pair_style lj/cut/coul/cut 11.5 12.0"
    styles = ("bond_style harmonic", "angle_style harmonic", "dihedral_style opls", "improper_style cvff")
    beside = ["special_bonds amber", "pair_modify mix arithmetic"]
    peer = lammps_terms(path, pair, beside, styles, "real")
    assert_terms(our_terms(path, [pair, *beside], "real"), peer)
    model = ar.lammps.read_data(path, units="real", commands=[pair, *beside])
    # LAMMPS's factor from g/mol Å²/fs² to kcal/mol has ten digits.
    energy = ar.kinetic_energy(model, model.q0, model.u0) / unit_style("real").energy
    assert energy == pytest.approx(peer["ke"], rel=1e-8)


@pytest.mark.parametrize("rigid", [[], [1, 2]], ids=["free", "rigid bonds"])
def test_lammps_reads_what_we_write(tmp_path, rigid):
    """The same energy terms and, as a rigid model's velocities are those of its joints, its kinetic energy."""
    path, commands = written(tmp_path / "melt.data", melt().text), [PAIR, *BESIDE]
    model = ar.lammps.read_data(path, commands=commands, rigid_bonds=rigid)
    ar.lammps.write_data(model, model.q0, model.u0, tmp_path / "ours.data")
    first, second = lammps_terms(path), lammps_terms(tmp_path / "ours.data")
    assert_terms(second, first)
    assert second["ke"] == pytest.approx(ar.kinetic_energy(model, model.q0, model.u0), rel=BOUND)
    assert rigid or second["ke"] == pytest.approx(first["ke"], rel=BOUND)


def test_we_read_what_lammps_writes(tmp_path):
    """LAMMPS leaves the coefficients of hybrid angles and dihedrals out of what it writes."""
    path = written(tmp_path / "melt.data", melt().text)
    peer = lammps_terms(path)
    lines = {"angle": COEFFICIENTS["Angle Coeffs # hybrid"], "dihedral": COEFFICIENTS["Dihedral Coeffs # hybrid"]}
    commands = [PAIR, *STYLES, *BESIDE, *(f"{name}_coeff {row}" for name, rows in lines.items() for row in rows)]
    assert_terms(our_terms(tmp_path / "lammps.data", commands), peer)


def test_lammps_reads_the_file_of_a_model_that_was_not_read_from_one(tmp_path):
    """Types and coefficients found from kinds and forces; bonds of rods are there, and exert nothing."""
    path, commands = written(tmp_path / "melt.data", melt().text), [PAIR, *BESIDE]
    model = ar.lammps.read_data(path, commands=commands, rigid_bonds=[2])
    file = tmp_path / "described.data"
    ar.lammps.write_data_file(described(model, unit_style("lj")), file)
    styles = (
        "bond_style hybrid fene zero",
        "angle_style hybrid harmonic cosine",
        "dihedral_style hybrid harmonic charmm quadratic",
        "improper_style none",
    )
    found, peer = lammps_terms(file, styles=styles), lammps_terms(path)
    # What is `cvff` in the file is a dihedral in the model.
    assert found["edihed"] == pytest.approx(peer["edihed"] + peer["eimp"], rel=BOUND)
    for name in ("evdwl", "eangle"):
        assert found[name] == pytest.approx(peer[name], rel=BOUND)
    flexible = ar.lammps.read_data(
        path, commands=commands, leave_out=["pairs", "bond 2", "angles", "dihedrals", "impropers"]
    )
    assert found["ebond"] == pytest.approx(ar.potential_energy(flexible, flexible.q0), rel=BOUND)
    again = ar.lammps.read_data_file(file)
    assert np.array_equal(again.molecules, ar.lammps.data_of(model).molecules)


def test_a_coefficient_that_is_off_is_seen(tmp_path):
    text = melt().text
    path = written(tmp_path / "melt.data", text)
    other = written(tmp_path / "other.data", text.replace("1 30.0 1.5 1.0 1.0", "1 30.0000000003 1.5 1.0 1.0"))
    peer, found = lammps_terms(path), our_terms(other, [PAIR, *BESIDE])
    assert abs(found["ebond"] / peer["ebond"] - 1.0) > BOUND
