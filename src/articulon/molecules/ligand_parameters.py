"""Ligand parameters of the general AMBER force field: AmberTools computes them, and ParmEd writes them as OpenMM
XML."""

import shutil
import subprocess
import sys
import tempfile
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Literal
from xml.etree import ElementTree

from articulon.announcements import announce
from articulon.errors import ModelError
from articulon.inputs import clipped, exists, one_word, path_of, shown, word
from articulon.molecules.ligand_hydrogens import chemistry, rdkit_chemistry
from articulon.molecules.structure import Structure, check_structure

ChargeMethod = Literal["am1-bcc", "gasteiger"]
METHODS = {"am1-bcc": "bcc", "gasteiger": "gas"}
"""Antechamber's name of each charge method."""
MISSING = "this needs AmberTools and ParmEd: pip install 'articulon[ligands]', or AmberTools by conda"
LONGEST = 24 * 3600.0
"""Time limit of a program [s]; AM1 for a hundred atoms takes ten minutes."""


def write_ligand_parameters(
    structure: Structure,
    name: str,
    smiles: str,
    path: str | Path,
    *,
    charges: ChargeMethod = "am1-bcc",
) -> None:
    """Write the parameters of a ligand as an OpenMM force field file, which can be named in ``force_field_files``.

    Atom types and bonded parameters are those of GAFF2 (Wang et al., J. Comput. Chem. 25, 1157, 2004); parmchk2
    estimates missing parameters. Charges are AM1-BCC charges (Jakalian, Jack and Bayly, J. Comput. Chem. 23, 1623,
    2002) for the relaxed geometry of the ligand in the structure, or Gasteiger charges, which are fast to compute and
    less accurate. The parameters are compatible with ``amber14``.

    Parameters
    ----------
    structure
        The structure with the ligand and its hydrogens.
    name
        Name of the residue; the parameters are those of the first residue of this name.
    smiles
        SMILES of the ligand, which defines its bond orders and charge.
    path
        A new file.
    charges
        Charge method: ``am1-bcc``, which takes minutes, or ``gasteiger``.

    Raises
    ------
    ModelError
        If AmberTools, ParmEd or RDKit is not installed or fails, for a ligand that is bonded to other residues or lacks
        hydrogens, and for an existing file.
    """
    check_structure(structure, "write_ligand_parameters")
    one_word(name, "write_ligand_parameters, name")
    one_word(smiles, "write_ligand_parameters, smiles")
    word(charges, tuple(METHODS), "write_ligand_parameters, charges")
    path = path_of(path, "write_ligand_parameters, path")
    if exists(path):
        raise ModelError(f"{clipped(path)}: the file exists; choose another name, or move it away")
    text = ligand_parameters(structure, name, smiles, charges)
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise ModelError(f"{clipped(path)}: cannot be written: {error.strerror}") from None


def ligand_parameters(structure: Structure, name: str, smiles: str, charges: str) -> str:
    """Return the text of the file of :func:`write_ligand_parameters`."""
    chosen = [k for k, residue in enumerate(structure.residues) if residue.name == name]
    if not chosen:
        raise ModelError(f"{structure.source}: there is no residue {shown(name)}")
    k = chosen[0]
    residue = structure.residues[k]
    where = f"{structure.source}: {residue.label}"
    inside = range(residue.start, residue.stop)
    if any(structure.residue[b] != k for a in inside for b in structure.neighbours[a]):
        raise ModelError(f"{where}: is bonded to other residues; these parameters are for separate molecules")
    molecule, heavy = chemistry(structure, k, smiles)
    have = sum(structure.elements[a] == "H" for a in inside)
    wanted = molecule.GetNumAtoms() - len(heavy)
    if have != wanted:
        raise ModelError(
            f"{where}: has {have} hydrogens, but {shown(smiles)} has {wanted}; read it with add_missing = true and "
            f"ligands = {{{name} = '{smiles}'}}"
        )
    chem = rdkit_chemistry()
    charge = int(chem.GetFormalCharge(molecule))
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        chem.MolToMolFile(molecule, str(place / "ligand.sdf"))
        announce(f"{residue.label}: AmberTools computes {charges} charges and GAFF2 parameters, which may take minutes")
        _run(
            "antechamber",
            ["-i", "ligand.sdf", "-fi", "sdf", "-o", "ligand.mol2", "-fo", "mol2", "-c", METHODS[charges]]
            + ["-at", "gaff2", "-nc", str(charge), "-rn", "LIG", "-s", "0", "-dr", "no", "-pf", "y"],
            place,
            where,
        )
        _run(
            "parmchk2",
            ["-i", "ligand.mol2", "-f", "mol2", "-o", "ligand.frcmod", "-s", "gaff2", "-a", "Y"],
            place,
            where,
        )
        return _written(place, name, charge, charges)


def found_program(program: str) -> str | None:
    """Return the path of an AmberTools program; None if it is not found. The search covers this environment, the
    command path and the package acpype."""
    own = Path(sys.executable).parent / program
    if own.is_file():
        return str(own)
    found = shutil.which(program)
    package = find_spec("acpype")
    if found is None and package is not None and package.origin is not None:
        system = "macos" if sys.platform == "darwin" else "linux"
        found = shutil.which(program, path=str(Path(package.origin).parent / f"amber_{system}" / "bin"))
    return found


def _run(program: str, options: list[str], folder: Path, where: str) -> None:
    """Run an AmberTools program in a folder; raise ModelError with its last output if it fails."""
    found = found_program(program)
    if found is None:
        raise ModelError(f"{program}: {MISSING}")
    path = f"{Path(found).parent}:/usr/bin:/bin"
    try:
        done = subprocess.run(
            [found, *options],
            cwd=folder,
            capture_output=True,
            text=True,
            timeout=LONGEST,
            check=False,
            env={"PATH": path, "HOME": str(folder), "OMP_NUM_THREADS": "1"},
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise ModelError(f"{where}: {program} cannot be run: {clipped(error)}") from None
    made = folder / options[options.index("-o") + 1]
    if done.returncode or not made.is_file():
        said = " ".join((done.stdout + done.stderr).split())[-300:]
        raise ModelError(f"{where}: {program} failed: ...{said}")


def _written(folder: Path, name: str, charge: int, method: str) -> str:
    """Convert the files of AmberTools to OpenMM's XML format. Names of types begin with the name of the residue."""
    try:
        import parmed
    except ImportError:
        raise ModelError(MISSING) from None
    molecule = parmed.load_file(str(folder / "ligand.mol2"))
    _check_substitutes((folder / "ligand.frcmod").read_text(), name)
    known = parmed.openmm.OpenMMParameterSet.from_parameterset(
        parmed.amber.AmberParameterSet(str(folder / "ligand.frcmod"))
    )
    # antechamber writes charges with six digits, so their sum may differ slightly from a whole number; this is
    # corrected.
    atoms = list(molecule.atoms)
    rest = (charge - sum(atom.charge for atom in atoms)) / len(atoms)
    if abs(rest) > 0.01:
        raise ModelError(f"{name}: AmberTools' charges do not add up to the charge of the SMILES, {charge:+d}")
    for atom in atoms:
        atom.charge += rest
    known.residues[molecule.name] = molecule
    known.write(str(folder / "ligand.xml"), write_unused=False)
    root = ElementTree.parse(folder / "ligand.xml").getroot()
    for info in root.findall("Info"):
        root.remove(info)
    root.insert(0, ElementTree.Comment(f" {name}: GAFF2 by AmberTools, charges by {method} "))
    for residue in root.iter("Residue"):
        residue.set("name", name)
    _prefixed(root, f"{name}-")
    ElementTree.indent(root)
    return ElementTree.tostring(root, encoding="unicode") + "\n"


def _prefixed(root: Any, prefix: str) -> None:
    """Make type names unique across files, and list each improper once."""
    for one in root.iter():
        for key, value in list(one.attrib.items()):
            of_type = one.tag == "Type" and key == "name"
            if value and (of_type or key.startswith(("class", "type"))):
                one.set(key, prefix + value)
    for force in root.findall("PeriodicTorsionForce"):
        seen = set()
        for improper in force.findall("Improper"):
            row = tuple(sorted(improper.attrib.items()))
            if row in seen:
                force.remove(improper)
            seen.add(row)


def _check_substitutes(text: str, name: str) -> None:
    """Raise ModelError for parameters that parmchk2 could not estimate."""
    bad = [line.split("  ")[0].strip() for line in text.splitlines() if "ATTN" in line]
    if bad:
        raise ModelError(
            f"{name}: GAFF2 has no parameters for {', '.join(bad[:8])}, nor similar ones; supply them in a file"
        )
