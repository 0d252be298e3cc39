"""Structure files: what is read, and what is refused, by chain, residue and atom."""

import gzip
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("gemmi")

import articulon as ar
from articulon.errors import CaseError, ModelError
from articulon.molecules import build, peptide, perceive, read_structure, write_structure

PDB_DIGITS = 5.1e-5
"""Half of the last digit of a PDB file's coordinates [nm]."""
ALANINES = ["ACE", "ALA", "SER", "NME"]


@pytest.fixture
def whole():
    return peptide(ALANINES)


def lines_of(structure, path):
    write_structure(structure, path)
    return [line for line in path.read_text().splitlines() if not line.startswith("END")]


def rewritten(path, lines):
    path.write_text("\n".join(lines) + "\n")
    return path


def atom_lines(path, structure, edit):
    """The file of a structure, each atom's line put through a function that may return several or none."""
    lines = []
    for line in lines_of(structure, path):
        lines.extend(edit(line) if line.startswith(("ATOM", "HETATM")) else [line])
    return rewritten(path, lines)


def hetatm(serial, name, residue, number, place, element, chain="B"):
    x, y, z = (10.0 * np.asarray(place)).tolist()
    label = name if len(name) == 4 else f" {name:<3}"
    return (
        f"HETATM{serial:5d} {label} {residue:>3} {chain}{number:4d}    {x:8.3f}{y:8.3f}{z:8.3f}  1.00  0.00"
        f"          {element:>2}"
    )


@pytest.mark.parametrize("ending", ["pdb", "cif", "pdb.gz", "cif.gz"])
def test_a_structure_survives_its_file(whole, tmp_path, ending):
    plain = tmp_path / f"a.{ending.removesuffix('.gz')}"
    write_structure(whole, plain)
    path = tmp_path / f"b.{ending}"
    path.write_bytes(gzip.compress(plain.read_bytes()) if ending.endswith(".gz") else plain.read_bytes())
    read = read_structure(path)
    assert read.names == whole.names and read.elements == whole.elements and read.residues == whole.residues
    assert np.array_equal(read.bonds, whole.bonds)
    assert np.abs(read.positions - whole.positions).max() < PDB_DIGITS
    assert read.inferred == ()


def test_compressed_input_is_bounded(tmp_path):
    """A megabyte of blanks compresses to a kilobyte."""
    path = tmp_path / "bomb.pdb.gz"
    path.write_bytes(gzip.compress(b" " * 1_000_000))
    assert path.stat().st_size < 2000
    with pytest.raises(ModelError, match=r"bomb.pdb.gz: holds more than 100000 bytes when decompressed"):
        read_structure(path, limit=100_000)


@pytest.mark.parametrize(
    "name, content, message",
    [
        ("a.pdb", b"", "contains no atoms"),
        ("a.cif", b"data_x\n", "contains no atoms"),
        ("a.cif", b"no such thing", "a.cif: "),
        ("a.cif", b"", "a.cif: contains no data block"),
        ("a.pdb.gz", b"not compressed", "cannot be read"),
        ("a.pdb.gz", gzip.compress(b"ATOM" * 1000, mtime=0)[:20], "is not a complete gzip file"),
        ("a.xyz", b"2\n", "expected a .pdb or a .cif file"),
    ],
)
def test_what_is_no_structure_is_refused(tmp_path, name, content, message):
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(ModelError, match=message):
        read_structure(path)


def test_a_file_that_is_not_there(tmp_path):
    with pytest.raises(ModelError, match=r"none\.pdb: cannot be read: No such file"):
        read_structure(tmp_path / "none.pdb")


def without_hydroxyl(line):
    return [] if line[12:20] in (" OG  SER", " HG  SER") else [line]


def test_missing_heavy_atoms_are_listed(whole, tmp_path):
    path = atom_lines(tmp_path / "a.pdb", whole, without_hydroxyl)
    with pytest.raises(ModelError, match=r"A:SER3: OG: missing") as error:
        read_structure(path)
    assert "PDBFixer" in str(error.value) and "accept = ['missing-atoms']" in str(error.value)


def test_a_hydrogen_that_has_lost_its_atom_is_named(whole, tmp_path):
    path = atom_lines(tmp_path / "a.pdb", whole, lambda line: [] if line[12:20] == " OG  SER" else [line])
    with pytest.raises(ModelError, match=r"A:SER3:HG is 0\.\d+ nm from the nearest .* A:SER3: OG: missing"):
        read_structure(path)


def test_missing_hydrogens_are_listed_by_their_carbon(whole, tmp_path):
    path = atom_lines(tmp_path / "a.pdb", whole, lambda line: [] if line[12:20] == " HB2 ALA" else [line])
    with pytest.raises(ModelError, match=r"A:ALA2:CB has 2 hydrogens of 3") as error:
        read_structure(path)
    assert "add_missing = true" in str(error.value)
    read = read_structure(path, accept=["missing-hydrogens"])
    assert read.inferred == ("A:ALA2:CB has 2 hydrogens of 3 (accepted)",)


def test_openmm_adds_what_it_can(whole, tmp_path):
    pytest.importorskip("openmm")
    path = atom_lines(tmp_path / "a.pdb", whole, lambda line: [] if line[76:78] == " H" else [line])
    with pytest.raises(ModelError, match="there are no hydrogens") as error:
        read_structure(path)
    assert "add_missing = true" in str(error.value)
    read = read_structure(path, add_missing=True)
    assert sorted(read.names) == sorted(whole.names)
    assert len(read.bonds) == len(whole.bonds)
    assert any("hydrogens were added by OpenMM's modeller" in line for line in read.inferred)


def test_a_last_residue_gets_its_oxygen(tmp_path):
    pytest.importorskip("openmm")
    chain = peptide("GA")
    path = atom_lines(tmp_path / "a.pdb", chain, lambda line: [] if line[12:16] == " OXT" else [line])
    with pytest.raises(ModelError, match="A:ALA2: the chain ends here without OXT or a cap"):
        read_structure(path)
    read = read_structure(path, add_missing=True)
    assert sorted(read.names) == sorted(chain.names) and len(read.bonds) == len(chain.bonds)
    oxygen, place = read.atom(1, "OXT"), chain.positions[chain.atom(1, "OXT")]
    assert np.linalg.norm(read.positions[oxygen] - place) < 0.002
    assert "A:ALA2:OXT: added, in the plane of CA, C and O" in read.inferred


def test_heavy_atoms_are_not_offered(whole, tmp_path):
    path = atom_lines(tmp_path / "a.pdb", whole, lambda line: [] if line[12:20] == " CB  ALA" else [line])
    with pytest.raises(ModelError, match=r"hydrogen|heavy atoms"):
        read_structure(path, add_missing=True)


def test_missing_residues_are_named(tmp_path):
    chain = peptide("GAGSGAG")
    sequence = "SEQRES   1 A    7  GLY ALA GLY SER GLY ALA GLY"
    lines = [sequence, *(line for line in lines_of(chain, tmp_path / "a.pdb") if line[22:26].strip() not in "45")]
    with pytest.raises(ModelError) as error:
        read_structure(rewritten(tmp_path / "a.pdb", lines))
    assert "2 residues are missing between A:GLY3 and A:ALA6" in str(error.value)
    assert "SER GLY of the file's sequence" in str(error.value)


def test_an_unknown_atom_is_named(whole, tmp_path):
    path = atom_lines(
        tmp_path / "a.pdb", whole, lambda line: [line.replace(" OG  SER", " OX  SER") if " OG " in line else line]
    )
    with pytest.raises(ModelError, match="A:SER3:OX: no atom of this name is in the template"):
        read_structure(path)


def test_alternative_locations_must_be_chosen(whole, tmp_path):
    def doubled(line):
        if line[12:20] != " OG  SER":
            return [line]
        other = f"{line[:30]}{float(line[30:38]) + 0.3:8.3f}{line[38:]}"
        return [f"{line[:16]}A{line[17:56]}0.40{line[60:]}", f"{other[:16]}B{other[17:56]}0.60{other[60:]}"]

    path = atom_lines(tmp_path / "a.pdb", whole, doubled)
    with pytest.raises(ModelError, match=r"alternative locations in 1 residues: A:SER3 \(A, B\)"):
        read_structure(path)
    at = whole.atom(2, "OG")
    shift = {
        word: read_structure(path, altloc=word).positions[at] - whole.positions[at] for word in ("A", "B", "highest")
    }
    assert abs(shift["A"][0]) < 1e-4 and abs(shift["B"][0] - 0.03) < 1e-4
    assert np.array_equal(shift["highest"], shift["B"])


def test_models_must_be_chosen(whole, tmp_path):
    body = [line for line in lines_of(whole, tmp_path / "a.pdb") if line.startswith(("ATOM", "TER"))]
    path = rewritten(tmp_path / "a.pdb", ["MODEL        1", *body, "ENDMDL", "MODEL        7", *body, "ENDMDL", "END"])
    with pytest.raises(ModelError, match="contains 2 models; choose one"):
        read_structure(path)
    with pytest.raises(ModelError, match="there is no model 2"):
        read_structure(path, model=2)
    assert len(read_structure(path, model=7)) == len(whole)


def test_clashes_are_named(whole, tmp_path):
    """Water on top of a carbon."""
    at = whole.positions[whole.atom(1, "CB")] + [0.1, 0.0, 0.0]
    lines = [*lines_of(whole, tmp_path / "a.pdb"), hetatm(900, "O", "HOH", 1, at, "O"), "END"]
    with pytest.raises(ModelError, match=r"A:ALA2:\w+ and B:HOH1:O are 0\.\d+ nm apart and not bonded"):
        read_structure(rewritten(tmp_path / "a.pdb", lines), accept=["missing-hydrogens"])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("********", r"'.*' is not three coordinates, in columns 31 to 54"),
        ("   abc  ", r"'.*' is not three coordinates"),
        (" " * 8, r"'.*' is not three coordinates"),
        ("     nan", "its coordinates are not finite"),
    ],
)
def test_coordinates_that_are_no_numbers_are_named(whole, tmp_path, text, message):
    """Blanks and stars would count as 0."""

    def spoilt(line):
        return [f"{line[:38]}{text}{line[46:]}" if line[12:20] == " O   ALA" else line]

    with pytest.raises(ModelError, match=f"A:ALA2:O: {message}"):
        read_structure(atom_lines(tmp_path / "a.pdb", whole, spoilt))


def test_bonds_of_impossible_lengths_are_named(whole, tmp_path):
    """Standard residues are bonded by their templates, wherever their atoms are."""

    def moved(name, x):
        return lambda line: [f"{line[:30]}{x:8.3f}{line[38:]}" if line[12:20] == name else line]

    path = atom_lines(tmp_path / "a.pdb", whole, moved(" O   ALA", 500.0))
    with pytest.raises(ModelError, match=r"A:ALA2:C and A:ALA2:O are bonded and \d+\.\d+ nm apart") as error:
        read_structure(path)
    assert "bond-lengths: correct the coordinates" in str(error.value)
    at = whole.atom(2, "OG")
    onto = "".join(f"{10.0 * value:8.3f}" for value in whole.positions[at])
    path = atom_lines(
        tmp_path / "a.pdb",
        whole,
        lambda line: [f"{line[:30]}{onto}{line[54:]}" if line[12:20] == " HG  SER" else line],
    )
    with pytest.raises(ModelError, match=r"A:SER3:OG and A:SER3:HG are bonded and 0\.000 nm apart"):
        read_structure(path)
    assert any("(accepted)" in line for line in read_structure(path, accept=["bond-lengths"]).inferred)


def test_hydrogens_too_many_are_named_by_their_carbon(whole, tmp_path):
    at = whole.positions[whole.atom(1, "CA")] - [0.06, 0.06, 0.06]

    def doubled(line):
        other = f"{line[:12]} HX {line[16:30]}" + "".join(f"{10.0 * x:8.3f}" for x in at) + line[54:76] + " H"
        return [line, other] if line[12:20] == " CA  ALA" else [line]

    with pytest.raises(ModelError, match=r"A:ALA2:CA has 2 hydrogens of 1") as error:
        read_structure(atom_lines(tmp_path / "a.pdb", whole, doubled))
    assert "extra-hydrogens: remove the extra ones" in str(error.value)


def test_a_chain_that_is_not_there_and_residues_left_out(whole, tmp_path):
    lines = [*lines_of(whole, tmp_path / "a.pdb"), hetatm(900, "NA", "NA", 1, [3.0, 0.0, 0.0], "NA"), "END"]
    path = rewritten(tmp_path / "a.pdb", lines)
    with pytest.raises(ModelError, match=r"there is no chain 'C' \(there are: A, B\)"):
        read_structure(path, chains=["C"])
    assert len(read_structure(path, chains=["A"])) == len(whole) == len(read_structure(path, leave_out=["NA"]))
    ion = perceive(read_structure(path))
    assert sorted(ion.joint).count("xyz") == 1


def ring(count, length=0.153):
    """Places of a ring of atoms in a plane."""
    angles = 2.0 * np.pi * np.arange(count) / count
    radius = 0.5 * length / np.sin(np.pi / count)
    return np.stack([radius * np.cos(angles), radius * np.sin(angles), np.zeros(count)], axis=1)


@pytest.mark.slow
@pytest.mark.parametrize("atoms, rigid", [(6, True), (8, True), (12, False)])
def test_a_large_ring_would_have_to_break(tmp_path, atoms, rigid):
    """Two hydrogens on each carbon: a cycloalkane."""
    lines, serial = [], 0
    for k, place in enumerate(ring(atoms)):
        out = place / np.linalg.norm(place)
        for name, element, where in (
            (f"C{k}", "C", place),
            (f"H{k}A", "H", place + 0.06 * out + [0, 0, 0.09]),
            (f"H{k}B", "H", place + 0.06 * out - [0, 0, 0.09]),
        ):
            serial += 1
            lines.append(hetatm(serial, name, "RNG", 1, where, element))
    structure = read_structure(rewritten(tmp_path / "ring.pdb", [*lines, "END"]))
    assert structure.inferred == (f"B:RNG1: bonds are inferred from distances ({atoms} between heavy atoms)",)
    if rigid:
        assert len(perceive(structure).parent) == 1
        return
    with pytest.raises(ModelError, match=r"a ring with 12 rotatable bonds \(B:RNG1:C\d+-C\d+, .*would have to be cut"):
        perceive(structure)
    held = perceive(structure, rings="rigid")
    assert len(held.parent) == 1 and any("is held rigid" in line for line in held.inferred)
    closed = perceive(structure, rings="loops")
    assert len(closed.torsions) == 11 and len(closed.loops) == 1
    assert build(structure, closed).closing.residual < 1e-12


def test_a_ligand_by_conect_records(whole, tmp_path):
    """Butane: its middle and its methyl groups turn. A record of a bond that is far too long is left out."""
    places = {"C1": (0, 0, 0), "C2": (0.153, 0, 0), "C3": (0.204, 0.144, 0), "C4": (0.357, 0.144, 0)}
    hydrogens = {
        "C1": [(-0.036, -0.05, 0.09), (-0.036, -0.05, -0.09), (-0.036, 0.103, 0)],
        "C2": [(0.19, -0.05, 0.09), (0.19, -0.05, -0.09)],
        "C3": [(0.168, 0.196, 0.09), (0.168, 0.196, -0.09)],
        "C4": [(0.393, 0.196, 0.09), (0.393, 0.196, -0.09), (0.393, 0.041, 0)],
    }
    shift = np.array([5.0, 0.0, 0.0])
    lines = [hetatm(801 + k, n, "BUT", 1, shift + p, "C") for k, (n, p) in enumerate(places.items())]
    every = [place for atom in hydrogens.values() for place in atom]
    lines += [hetatm(811 + k, f"H{k}", "BUT", 1, shift + p, "H") for k, p in enumerate(every)]
    lines += ["CONECT  801  802", "CONECT  802  803", "CONECT  803  804", "CONECT  801    1"]
    path = rewritten(tmp_path / "a.pdb", [*lines_of(whole, tmp_path / "a.pdb"), *lines, "END"])
    structure = read_structure(path)
    assert any("B:BUT1: bonds are from the file's records (3" in line for line in structure.inferred)
    assert any("is left out: the atoms are" in line for line in structure.inferred)
    names = [t.name for t in perceive(structure).torsions if structure.residues[t.residue].name == "BUT"]
    assert sorted(names) == ["C1-C2", "C2-C3", "C3-C4"]


def test_an_alkyne_turns_once_about_its_line(tmp_path):
    """But-2-yne: two methyl groups on one line turn against each other, about one axis."""
    rows = [("C1", -0.207, 0.0), ("C2", -0.060, 0.0), ("C3", 0.060, 0.0), ("C4", 0.207, 0.0)]
    lines = [hetatm(k + 1, name, "BTY", 1, (x, 0.0, 0.0), "C") for k, (name, x, _) in enumerate(rows)]
    angles = 2.0 * np.pi * np.arange(3) / 3.0
    for side, x in ((0, -0.243), (1, 0.243)):
        for k, angle in enumerate(angles):
            place = (x, 0.103 * np.cos(angle), 0.103 * np.sin(angle))
            lines.append(hetatm(11 + 3 * side + k, f"H{side}{k}", "BTY", 1, place, "H"))
    articulation = perceive(read_structure(rewritten(tmp_path / "a.pdb", [*lines, "END"])))
    assert len(articulation.torsions) == 1
    first, _, _, last = articulation.torsions[0].atoms
    assert min(first, last) >= 4


def test_molecules_on_a_line_are_refused(tmp_path):
    lines = [
        hetatm(k + 1, name, "CO2", 1, (x, 0.0, 0.0), name[0])
        for k, (name, x) in enumerate([("O1", -0.116), ("C", 0.0), ("O2", 0.116)])
    ]
    with pytest.raises(ModelError, match="B:CO21: its atoms lie on one line"):
        perceive(read_structure(rewritten(tmp_path / "a.pdb", [*lines, "END"])))


def test_water_is_one_rigid_body_and_an_ion_does_not_turn(tmp_path):
    water = [("O", (0, 0, 0), "O"), ("H1", (0.0957, 0, 0), "H"), ("H2", (-0.024, 0.0927, 0), "H")]
    lines = [hetatm(k + 1, n, "HOH", 1, p, e) for k, (n, p, e) in enumerate(water)]
    lines.append(hetatm(9, "ZN", "ZN", 2, (1.0, 0.0, 0.0), "ZN"))
    articulation = perceive(read_structure(rewritten(tmp_path / "a.pdb", [*lines, "END"])))
    assert articulation.joint == ("free", "xyz")


@pytest.mark.parametrize(
    "arguments, message",
    [
        (("AXA",), "residue 2, 'X'"),
        ((["ALA", "ACE"],), "a cap must be at the end"),
        ((["ACE", "NME"],), "at least one amino acid"),
    ],
)
def test_impossible_peptides_are_refused(arguments, message):
    with pytest.raises(ModelError, match=message):
        peptide(*arguments)


def test_a_peptide_that_overlaps_is_refused():
    with pytest.raises(ModelError, match=r"are 0\.\d+ nm apart and not bonded"):
        peptide("A" * 6, phi=0.0, psi=0.0)


CASE = """
[case]
units = "Da-nm-ps"
[model]
builder = "molecule"
structure = "a.pdb"
{}
[run]
duration = "1 fs"
"""


def test_a_case_reads_the_structure_beside_it(whole, tmp_path):
    write_structure(whole, tmp_path / "a.pdb")
    (tmp_path / "case.toml").write_text(CASE.format('viscosity = "0.89 mPa s"\nomega = "free"'))
    case = ar.load_case(tmp_path / "case.toml")
    model = case.build_model()
    assert model.sites.body.size == len(whole) and model.forces[0].kind == "stokes-drag"
    assert sum(kind == ar.Revolute.kind for kind in model.kinds) == 1 + 3 + 4 + 1 + 3
    assert case.model_declaration.sha256 in case.to_toml()
    write_structure(replace(whole, positions=whole.positions + 1.0), tmp_path / "a.pdb")
    (tmp_path / "again.toml").write_text(case.to_toml())
    with pytest.raises(CaseError, match=r"model.structure: .*a.pdb does not match model.sha256"):
        ar.load_case(tmp_path / "again.toml")


@pytest.mark.slow
def test_a_case_takes_a_force_field_and_lists_what_was_inferred(tmp_path):
    """The same forces as in Python, on the same sites; a terminal oxygen by another name is a note of the run."""
    pytest.importorskip("openmm")
    chain = peptide("AG")
    atom_lines(tmp_path / "a.pdb", chain, lambda line: [line.replace(" OXT GLY", " OT2 GLY")])
    (tmp_path / "case.toml").write_text(CASE.format('force_field = "amber14"\nsolvent = "obc2"'))
    case = ar.load_case(tmp_path / "case.toml")
    model = case.build_model()
    structure = read_structure(tmp_path / "a.pdb")
    same = build(structure, perceive(structure), force_field="amber14", solvent="obc2")
    assert np.array_equal(model.sites.charge, same.sites.charge) and model.sites.kinds == same.sites.kinds
    assert [force.kind for force in model.forces] == [force.kind for force in same.forces]
    assert "generalized-born" in {force.kind for force in model.forces}
    assert case.inferred[0] == "OT2 of GLY is taken for OXT: A:GLY2"


@pytest.mark.parametrize(
    "line, override, message",
    [
        ('solvent = "obc2"', {}, "solvent and cutoff need a force_field"),
        ('force_field = "amber"', {}, "model.force_field: expected 'amber14' or 'charmm36'"),
        ('level = "atoms"', {}, "model.level: expected"),
        ('level = "domain"', {}, "model: domains are required for the level 'domain'"),
        ('accept = ["all"]', {}, "unknown word 'all'"),
        ("", {"case.units": "zg-nm-ns"}, "molecules need the units 'Da-nm-ps'"),
        ("", {"model.structure": "b.pdb"}, "model.structure: b.pdb cannot be read"),
    ],
)
def test_a_case_refuses_what_cannot_be(whole, tmp_path, line, override, message):
    write_structure(whole, tmp_path / "a.pdb")
    (tmp_path / "case.toml").write_text(CASE.format(line))
    with pytest.raises(CaseError, match=message):
        ar.load_case(tmp_path / "case.toml", override)


def test_a_case_names_the_file_and_the_atoms(whole, tmp_path):
    atom_lines(tmp_path / "a.pdb", whole, without_hydroxyl)
    (tmp_path / "case.toml").write_text(CASE.format(""))
    with pytest.raises(CaseError, match=r"case.toml: .*a.pdb: A:SER3: OG: missing"):
        ar.load_case(tmp_path / "case.toml").build_model()


def test_the_example_of_the_documentation_runs(tmp_path, monkeypatch):
    """A turn of one χ₁ moves what lies beyond it and nothing else."""
    text = (Path(__file__).parents[2] / "docs" / "molecules.md").read_text(encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    names: dict = {}
    exec(re.findall(r"```python\n(.*?)```", text, re.DOTALL)[0], names)
    assert len(names["strand"]) == 220 and len(names["articulation"].torsions) == 55
    assert sorted(set(names["names"]))[-2:] == ["phi", "psi"]
    moved = np.linalg.norm(
        read_structure("turned.pdb", accept=["clashes"]).positions - names["structure"].positions, axis=1
    )
    torsion = names["articulation"].torsions[names["names"].index("chi1")]
    residue = names["structure"].residue == torsion.residue
    assert moved[~residue].max() < 2.0 * PDB_DIGITS < moved[residue].max()
