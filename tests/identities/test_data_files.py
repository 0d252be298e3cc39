"""LAMMPS data files: what is read is what was written, and faults are named by line."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import articulon as ar
from articulon.forces.sites.site_positions import site_positions
from articulon.lammps.described_models import described
from articulon.lammps.model_writing import _site_velocities
from articulon.lammps.unit_styles import unit_style
from tests.support.lammps_files import COEFFICIENTS, SMALL, line_of, melt, written

COMMANDS = ["pair_style lj/cut/coul/cut 2.5 3.0", "special_bonds fene", "pair_modify shift yes mix arithmetic"]
EPS = np.finfo(float).eps


def without_style(text: str) -> str:
    """The small file without what says its atom style."""
    return text.replace("Atoms # molecular", "Atoms")


@pytest.fixture
def melt_file(tmp_path) -> Path:
    return written(tmp_path / "melt.data", melt().text)


# What is read


def test_atoms_come_in_the_order_of_ids_and_terms_by_row(tmp_path):
    data = ar.lammps.read_data_file(written(tmp_path / "small.data", SMALL))
    assert data.ids.tolist() == [1, 2, 3, 7, 9] and data.types.tolist() == [1, 2, 1, 2, 1]
    assert data.molecules.tolist() == [1, 1, 1, 2, 2] and data.masses.tolist() == [1.5, 2.0]
    assert data.positions[3].tolist() == [5.0, 5.0, 0.0] and data.velocities[3].tolist() == [0.3, 0.0, 0.0]
    assert data.images[1].tolist() == [1, 0, 0]
    assert data.terms["bond"].atoms.tolist() == [[0, 1], [1, 2], [3, 4]]
    assert data.terms["bond"].type.tolist() == [1, 1, 2]
    assert data.coefficients["bond"].style == "harmonic" and data.coefficients["bond"].rows[2,] == ("50.0", "1.1")


@pytest.mark.parametrize("images", [True, False])
@pytest.mark.parametrize("tilts", [(0.0, 0.0, 0.0), (1.0, -0.7, 1.3)])
def test_molecules_are_put_together_by_image_flags_or_along_bonds(tmp_path, tilts, images):
    made = melt(tilts=tilts, images=images)
    model = ar.lammps.read_data(written(tmp_path / "melt.data", made.text), commands=COMMANDS)
    x = site_positions(model, model.q0)
    if not images:  # each chain is where its first bead is in the box
        x = x + np.repeat(made.positions[::8] - x[::8], 8, axis=0)
        assert any("image flags" in line for line in ar.lammps.inferred(model))
    # Adding three edges to a number of their size rounds three times.
    assert np.abs(x - made.positions).max() <= 8 * EPS * np.abs(made.positions).max()
    assert images == (not any("image flags" in line for line in ar.lammps.inferred(model)))


def test_labels_of_types_name_kinds(tmp_path):
    labels = "Atom Type Labels\n\n1 C\n2 N\n\nBond Type Labels\n\n1 C-N\n2 far\n\nMasses"
    text = SMALL.replace("Masses", labels).replace("7 2 2 5.0", "7 2 N 5.0").replace("3 2 7 9", "3 far 7 9")
    path = written(tmp_path / "labels.data", text)
    model = ar.lammps.read_data(path, rigid_bonds=["far"])
    assert model.sites.kinds == ("C", "N") and len(model.joints) == 5
    plain = ar.lammps.read_data_file(written(tmp_path / "plain.data", SMALL))
    assert np.array_equal(plain.types, ar.lammps.data_of(model).types)


@pytest.mark.parametrize(
    ("columns", "style"),
    [("1 5.0 5.0 5.0", "atomic"), ("1 5.0 5.0 5.0 0 0 0", "atomic"), ("1 1 0.5 5.0 5.0 5.0", "full")],
)
def test_the_atom_style_is_guessed_where_one_is_possible(tmp_path, columns, style):
    head = "one\n\n1 atoms\n1 atom types\n0 9 xlo xhi\n0 9 ylo yhi\n0 9 zlo zhi\n\nMasses\n\n1 1\n\nAtoms\n\n1 "
    assert ar.lammps.read_data_file(written(tmp_path / "one.data", f"{head}{columns}\n")).style == style


def test_the_atom_style_follows_from_bonds_or_must_be_given(tmp_path):
    path = written(tmp_path / "small.data", without_style(SMALL))
    assert ar.lammps.read_data_file(path).style == "molecular"
    text = without_style(SMALL)
    text = text.replace("3 bonds\n1 angles\n", "").partition("\nBonds\n")[0]
    path = written(tmp_path / "open.data", text)
    with pytest.raises(ar.ModelError, match=r"open\.data, line 26.*9 columns fit charge or bond or angle or molecular"):
        ar.lammps.read_data_file(path)
    assert ar.lammps.read_data_file(path, atom_style="bond").molecules[0] == 1


# What is written


@pytest.mark.parametrize("tilts", [(0.0, 0.0, 0.0), (1.0, -0.7, 1.3)])
def test_a_file_that_is_read_written_and_read_is_the_same(tmp_path, tilts):
    data = ar.lammps.read_data_file(written(tmp_path / "melt.data", melt(tilts=tilts).text))
    ar.lammps.write_data_file(data, tmp_path / "again.data")
    again = ar.lammps.read_data_file(tmp_path / "again.data")
    assert data.same(again) and again.same(data)
    changed = melt(tilts=tilts).text.replace("1 30.0 1.5", "1 30.5 1.5")
    assert not data.same(ar.lammps.read_data_file(written(tmp_path / "other.data", changed)))


@pytest.mark.parametrize("rigid", [[], [1, 2]], ids=["free", "rigid"])
def test_a_model_that_is_read_written_and_read_is_the_same(tmp_path, melt_file, rigid):
    """Free atoms to the last bits of their sums with edges; rods by the rounding of turns."""
    model = ar.lammps.read_data(melt_file, commands=COMMANDS, rigid_bonds=rigid)
    ar.lammps.write_data(model, model.q0, model.u0, tmp_path / "again.data")
    again = ar.lammps.read_data(tmp_path / "again.data", commands=COMMANDS, rigid_bonds=rigid)
    bound = (4 if not rigid else 100) * EPS
    x, y = (site_positions(one, one.q0) for one in (model, again))
    assert np.abs(x - y).max() <= bound * np.abs(x).max()
    v, w = (_site_velocities(one, one.q0, one.u0) for one in (model, again))
    assert np.abs(v - w).max() <= bound * np.abs(v).max()
    first, second = ar.lammps.data_of(model), ar.lammps.data_of(again)
    assert all(np.array_equal(first.terms[one].atoms, second.terms[one].atoms) for one in first.terms)
    assert first.coefficients.keys() == second.coefficients.keys()
    assert np.array_equal(first.molecules, second.molecules) and np.array_equal(first.masses, second.masses)


def test_a_model_made_by_hand_is_written_with_what_its_forces_say(tmp_path):
    builder = ar.ModelBuilder(units="lj", box=ar.Box(lengths=(6.0, 6.0, 6.0)))
    builder.add_particles(
        4, mass=[1.0, 1.0, 2.0, 2.0], positions=[[1, 1, 1], [2, 1, 1], [2, 2, 1], [7, 2, 1]], kind=list("ABBA")
    )
    builder.add_force(ar.forces.FeneBonds(bonds=[(0, 1), (1, 2)], stiffness=30.0, extent=1.5, epsilon=1.0, sigma=1.0))
    builder.add_force(ar.forces.CosineAngles(angles=[(0, 1, 2)], stiffness=2.0))
    builder.add_force(ar.forces.WeeksChandlerAndersen(parameters={k: {"epsilon": 1.0, "sigma": 1.0} for k in "AB"}))
    model = builder.build()
    ar.lammps.write_data(model, model.q0, None, tmp_path / "made.data")
    data = ar.lammps.read_data_file(tmp_path / "made.data")
    # A kind of which two masses are given is two types.
    assert data.type_counts["atom"] == 4 and data.velocities is None
    assert data.molecules.tolist() == [1, 1, 1, 2] and data.images[3].tolist() == [1, 0, 0]
    assert data.coefficients["bond"].rows[1,] == ("30.0", "1.5", "1.0", "1.0")
    again = ar.lammps.read_data(data, commands=["pair_modify shift yes", "special_bonds lj/coul 1 1 1"])
    assert ar.potential_energy(again, again.q0) == pytest.approx(ar.potential_energy(model, model.q0), rel=1e-14)


def test_nothing_is_overwritten_and_what_does_not_fit_is_refused(tmp_path, melt_file):
    model = ar.lammps.read_data(melt_file, commands=COMMANDS)
    text = melt_file.read_text()
    for call in (
        lambda: ar.lammps.write_data(model, model.q0, model.u0, melt_file),
        lambda: ar.lammps.write_data_file(ar.lammps.data_of(model), melt_file),
    ):
        with pytest.raises(ar.ModelError, match="exists; choose another name"):
            call()
    assert melt_file.read_text() == text
    with pytest.raises(ar.ModelError, match="style: 'molecular' does not support charges"):
        ar.lammps.write_data(model, model.q0, model.u0, tmp_path / "new.data", style="molecular")
    with pytest.raises(ar.ModelError, match="no folder"):
        ar.lammps.write_data(model, model.q0, model.u0, tmp_path / "nowhere" / "new.data")
    small = written(tmp_path / "small.data", SMALL)
    with pytest.raises(ar.ModelError, match=r"the 5 atoms of .* do not match the 32 sites"):
        ar.lammps.write_data(model, model.q0, model.u0, tmp_path / "new.data", like=small)
    assert not (tmp_path / "new.data").exists()
    builder = ar.ModelBuilder(units="kg-m-s")
    builder.add_particles(1, mass=1.0, positions=[[0, 0, 0]])
    stone = builder.build()
    with pytest.raises(ar.ModelError, match="kg-m-s"):
        ar.lammps.write_data(stone, stone.q0, None, tmp_path / "new.data")


# Faults

FAULTS: dict[str, tuple[str, str, str, str]] = {
    "cut short": ("3 2 7 9\n\nAngles\n\n1 1 1 2 3\n", "3 2 7", "3 2 7", "expected 4 columns"),
    "a line is missing": (
        "9 2 1 5.0 6.1 0.0 0 0 0\n",
        "",
        "3 1 1 0.5",
        "ends after 4 lines, but the header gives 5 atoms",
    ),
    "a line too many": ("3 2 7 9\n", "3 2 7 9\n4 2 1 9\n", "4 2 1 9", "the header gives 3 bonds"),
    "no number": ("2 1 2 0.5 1.0", "2 1 2 zero 1.0", "2 1 2 zero", "expected a finite number, got 'zero'"),
    "not finite": ("7 0.3 0.0", "7 nan 0.0", "7 nan", "expected a finite number"),
    "an underscore": ("7 0.3 0.0", "7 1_0 0.0", "7 1_0", "expected a finite number"),
    "no whole id": ("7 2 2 5.0", "7.5 2 2 5.0", "7.5 2 2", "expected a whole number, got '7.5'"),
    "two of one id": ("9 2 1 5.0", "2 2 1 5.0", "2 2 1 5.0", "atom 2 is already defined in line 32"),
    "image flags missing": ("7 2 2 5.0 5.0 0.0 0 0 0", "7 2 2 5.0 5.0 0.0", "7 2 2 5.0", "has no image flags"),
    "no image flags first": ("1 1 1 9.5 1.0 0.0 0 0 0", "1 1 1 9.5 1.0 0.0", "7 2 2 5.0", "has image flags"),
    "a bond to no atom": ("3 2 7 9", "3 2 7 8", "3 2 7 8", "there is no atom 8"),
    "a bond to itself": ("3 2 7 9", "3 2 7 7", "3 2 7 7", "listed twice"),
    "a bond twice": ("3 2 7 9", "3 2 2 1", "3 2 2 1", "is already defined in line"),
    "a type beyond": ("3 2 7 9", "3 3 7 9", "3 3 7 9", "from 1 to 2, as the header says, got 3"),
    "an atom type beyond": ("9 2 1 5.0", "9 2 3 5.0", "9 2 3", "from 1 to 2, as the header says, got 3"),
    "a label of none": ("9 2 1 5.0", "9 2 C 5.0", "9 2 C", "no section of atom type labels"),
    "an unknown style": (
        "Atoms # molecular",
        "Atoms # sphere",
        "Atoms # sphere",
        "the atom style 'sphere' is not supported",
    ),
    "an unknown section": (
        "Angles\n\n1 1",
        "Angels\n\n1 1",
        "Angels",
        "unknown section 'Angels'; did you mean 'Angles'",
    ),
    "a section of shapes": ("Angles\n\n1 1", "Ellipsoids\n\n1 1", "Ellipsoids", "atoms have no shape here"),
    "class2": ("Angles\n\n1 1", "BondBond Coeffs\n\n1 1", "BondBond Coeffs", "class2"),
    "a section twice": ("Angles\n\n1 1", "Bonds\n\n1 1", "Bonds", "occurs twice, first in line"),
    "a mass of nothing": ("2 2.0\n", "2 -2.0\n", "2 -2.0", "a mass must be positive"),
    "a mass twice": ("2 2.0\n", "1 2.0\n", "1 2.0", "type 1 has a mass already"),
    "masses of some": ("2 2.0\n", "", "1 1.5", "ends after 1 lines, but the header gives 2 atom types"),
    "coefficients twice": ("2 50.0 1.1", "1 50.0 1.1", "1 50.0", "has coefficients already"),
    "a box the wrong way": ("0.0 10.0 xlo xhi", "10.0 0.0 xlo xhi", "10.0 0.0 xlo", "the lower and the upper bound"),
    "a count twice": ("1 angles", "3 bonds", "3 bonds", "the header contains this line twice"),
    "a general box": ("0.0 10.0 xlo xhi", "10.0 0.0 0.0 avec", "10.0 0.0 0.0 avec", "general triclinic"),
    "an unknown header": ("1 angles", "1 angels", "1 angels", "expected a line of the header"),
    "a style without room": ("Atoms # molecular", "Atoms # bond", "Atoms # bond", "does not support angles"),
}
"""What is replaced by what, what stands in the line that is named, and what is said of it."""


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_is_named_by_its_line(tmp_path, name):
    old, new, line, said = FAULTS[name]
    text = SMALL.replace(old, new, 1)
    assert text != SMALL
    number = line_of(text, line)
    with pytest.raises(ar.ModelError) as caught:
        ar.lammps.read_data_file(written(tmp_path / "faulty.data", text))
    message = str(caught.value)
    assert said in message, message
    if "ends after" not in said:  # what is missing is missing at the end of a section
        assert f"faulty.data, line {number}: " in message, message


def test_sections_out_of_order_are_named_by_line(tmp_path):
    head, _, rest = SMALL.partition("Velocities\n")
    velocities, _, rest = rest.partition("Bonds\n")
    before, atoms = head.split("Atoms # molecular\n")
    text = f"{before}Velocities\n{velocities}Atoms # molecular\n{atoms}Bonds\n{rest}"
    with pytest.raises(ar.ModelError, match=r"line 28: the section 'Velocities' precedes 'Atoms'"):
        ar.lammps.read_data_file(written(tmp_path / "order.data", text))
    # Coefficients and masses may stand behind the atoms, as LAMMPS allows.
    masses = "Masses\n\n1 1.5\n2 2.0\n"
    moved = SMALL.replace(masses, "") + "\n" + masses
    found = ar.lammps.read_data_file(written(tmp_path / "moved.data", moved))
    assert found.same(ar.lammps.read_data_file(written(tmp_path / "small.data", SMALL)))


def test_whole_sections_and_headers_that_are_missing_are_named(tmp_path):
    for old, new, said in (
        ("Bonds\n\n1 1 1 2\n2 1 2 3\n3 2 7 9\n\n", "", "the header gives 3 bonds, but there is no section 'Bonds'"),
        ("5 atoms\n", "", "the header gives no number of atoms"),
        ("0.0 10.0 ylo yhi\n", "", "no bounds of the box along y"),
        ("two molecules\n\n", "", "is the title, which LAMMPS skips"),
    ):
        with pytest.raises(ar.ModelError, match=said):
            ar.lammps.read_data_file(written(tmp_path / "part.data", SMALL.replace(old, new, 1)))
    for text in ("", "only a title\n"):
        with pytest.raises(ar.ModelError, match="along x"):
            ar.lammps.read_data_file(written(tmp_path / "empty.data", text))
    with pytest.raises(ar.ModelError, match="cannot be read"):
        ar.lammps.read_data_file(tmp_path / "nothing.data")
    (tmp_path / "packed.data").write_bytes(b"\x1f\x8b\x08\xff\xfe")
    with pytest.raises(ar.ModelError, match="it is not text"):
        ar.lammps.read_data_file(tmp_path / "packed.data")


def test_every_way_to_cut_a_file_short_is_an_error(tmp_path):
    """Whatever line it ends after."""
    lines = SMALL.rstrip("\n").split("\n")
    for k in range(len(lines)):
        with pytest.raises(ar.ModelError, match=r"short\.data"):
            ar.lammps.read_data_file(written(tmp_path / "short.data", "\n".join(lines[:k]) + "\n"))


ARGUMENTS: dict[str, tuple[dict[str, Any], str]] = {
    "a rigid type of none": ({"rigid_bonds": [3]}, r"rigid_bonds\[0\]: there are no bonds of the type 3"),
    "a molecule of none": ({"rigid_groups": [5]}, r"rigid_groups\[0\]: there is no molecule 5"),
    "an atom of none": ({"rigid_groups": [[1, 4]]}, r"rigid_groups\[0\]\[1\]: there is no atom 4"),
    "one atom": ({"rigid_groups": [[1]]}, "a point, which cannot rotate"),
    "an atom in two": ({"rigid_groups": [1, [3, 7]]}, "atom 3 is already in 'molecule-1'"),
    "two groups on a rod": (
        {"rigid_groups": [[1, 2], [3, 7]], "rigid_bonds": [1]},
        "spin about its own axis has no inertia",
    ),
    "no such family": ({"leave_out": ["bends"]}, "leave_out"),
    "nothing to leave out": ({"leave_out": ["dihedrals"]}, "there are no dihedrals"),
    "an unknown command": ({"commands": ["run 100"]}, "'run 100': is not supported"),
    "a style without counterpart": (
        {"commands": ["bond_style morse", "bond_coeff * 1 2 3"]},
        "'morse' has no counterpart",
    ),
    "a pair style likewise": ({"commands": ["pair_style eam", "pair_coeff * * 1 2"]}, "leave_out=\\['pairs'\\]"),
    "no cutoff": ({"commands": ["pair_style lj/cut", "pair_coeff * * 1 1"]}, "the cutoff is not given"),
    "no coefficients": (
        {"commands": ["pair_style lj/cut 2", "pair_coeff 1 1 1 1"]},
        "type 2 have no pair coefficients",
    ),
    "few coefficients": ({"commands": ["bond_style harmonic", "bond_coeff 1 5"]}, "expected the numbers K r0"),
    "a type beyond": ({"commands": ["bond_style harmonic", "bond_coeff 3 5 1"]}, "there are 2"),
    "special bonds": ({"commands": ["special_bonds lj/coul 0 0.5 1"]}, "has no counterpart"),
    "a factor beyond": ({"commands": ["special_bonds lj/coul 0 0 2"]}, "from 0 to 1"),
    "units": ({"units": "metal"}, "expected 'lj' or 'real'"),
    "boundary": ({"boundary": "p p"}, "expected three words"),
    "image flags where nothing repeats": ({"boundary": "f p p"}, r"atom 2 \(line 32\) has image flags"),
}


@pytest.mark.parametrize("name", ARGUMENTS)
def test_what_cannot_be_is_refused_by_name(tmp_path, name):
    arguments, said = ARGUMENTS[name]
    with pytest.raises(ar.ModelError, match=said):
        ar.lammps.read_data(written(tmp_path / "small.data", SMALL), **arguments)


def test_types_without_coefficients_or_masses_are_named(tmp_path):
    bare = SMALL.replace("Bond Coeffs # harmonic\n\n1 100.0 1.0\n2 50.0 1.1   # not so stiff\n\n", "")
    path = written(tmp_path / "bare.data", bare)
    said = rf"line {line_of(bare, '2 1 2 3') - 1}: bonds of the type 1 have no coefficients.*leave_out=\['bond 1'\]"
    with pytest.raises(ar.ModelError, match=said):
        ar.lammps.read_data(path)
    ar.lammps.read_data(path, leave_out=["bonds"])
    light = written(tmp_path / "light.data", SMALL.replace("Masses\n\n1 1.5\n2 2.0\n\n", ""))
    with pytest.raises(ar.ModelError, match="type 1 have no mass"):
        ar.lammps.read_data(light)
    assert ar.lammps.read_data(light, commands=["mass * 3.0"]).masses.tolist() == [3.0] * 5
    nameless = written(tmp_path / "nameless.data", SMALL.replace("Bond Coeffs # harmonic", "Bond Coeffs"))
    with pytest.raises(ar.ModelError, match="the style is not given"):
        ar.lammps.read_data(nameless)


def test_a_rigid_bond_whose_image_flags_are_wrong_is_refused(tmp_path):
    path = written(tmp_path / "wrong.data", SMALL.replace("2 1 2 0.5 1.0 0.0 1 0 0", "2 1 2 0.5 1.0 0.0 0 0 0"))
    said = rf"line {line_of(SMALL, '2 1 2 3') - 1}: the rigid bond between atom 1 .* crosses a face of the box"
    with pytest.raises(ar.ModelError, match=said):
        ar.lammps.read_data(path, rigid_bonds=[1])
    ar.lammps.read_data(path)  # flexible ones act by nearest images


def test_a_model_of_several_sites_on_a_body_needs_its_file(melt_file, tmp_path):
    model = ar.lammps.read_data(melt_file, commands=COMMANDS, rigid_groups=[1])
    with pytest.raises(ar.ModelError, match=r"body 'molecule-1' has several sites.*like="):
        described(model, unit_style("lj"))
    ar.lammps.write_data(model, model.q0, model.u0, tmp_path / "like.data", like=melt_file)
    assert ar.lammps.read_data_file(tmp_path / "like.data").coefficients.keys() == {
        title.split()[0].lower() for title in COEFFICIENTS
    }
