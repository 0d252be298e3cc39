"""Read PDB and mmCIF files, plain or gzip-compressed, with gemmi."""

import gzip
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

import numpy as np

from articulon.errors import ModelError
from articulon.inputs import clipped, flag, path_of, shown, whole, word, words
from articulon.molecules.bond_perception import bonded
from articulon.molecules.boxes import box_of_file, check_overlaps
from articulon.molecules.elements import ANGSTROM, gemmi, masses, metal
from articulon.molecules.ligand_hydrogens import checked_ligands
from articulon.molecules.protonation import checked_protonation
from articulon.molecules.sequences import unresolved
from articulon.molecules.structure import Residue, Structure
from articulon.molecules.structure_faults import accepted, faults_of, refuse
from articulon.molecules.templates import ATOM_NAMES, ION_NAMES, kind_and_template

PLACES = slice(30, 38), slice(38, 46), slice(46, 54)
"""Columns of x, y and z in a line of a PDB file."""
READ = frozenset((b"ATOM", b"HETATM", b"CONECT", b"LINK", b"SSBOND", b"SEQRES", b"MODEL", b"TER"))
"""Records of a PDB file that are read."""
FARTHEST = 1e6
"""Largest coordinate of an atom [nm]: a millimetre."""
LIMIT = 256 * 1024 * 1024
"""Largest size of a file after decompression [bytes]: two million atoms as PDB."""


def read_structure(
    path: str | Path,
    *,
    model: int | None = None,
    altloc: str | None = None,
    chains: Sequence[str] | None = None,
    leave_out: Sequence[str] = (),
    add_missing: bool = False,
    accept: Sequence[str] = (),
    box: Literal["file"] | None = None,
    protonation: Mapping[str, str] | None = None,
    ligands: Mapping[str, str] | None = None,
    limit: int = LIMIT,
) -> Structure:
    """Read the structure from a PDB or mmCIF file, which may be compressed (``.gz``).

    Nothing is repaired unless requested, and inferences are listed in ``Structure.inferred``.

    Parameters
    ----------
    path
        The file.
    model
        Number of the model, if the file has several.
    altloc
        Alternative location to take, such as ``"A"``, or ``"highest"`` for the one with the highest occupancy in each
        residue.
    chains
        The chains to take; all by default.
    leave_out
        Residue names to leave out, such as ``("HOH", "SO4")``.
    add_missing
        Whether to add missing heavy atoms of residues (by PDBFixer, ``pip install 'articulon[completion]'``), the
        second oxygen of the last residue of a chain, and hydrogens (by OpenMM's modeller at pH 7).
    accept
        Kinds of faults to list instead of rejecting: "missing-atoms", "missing-hydrogens", "extra-hydrogens",
        "missing-ends", "gaps", "bond-lengths" or "clashes".
    box
        ``"file"`` for the periodic box in the CRYST1 record or cell of the file, which must be a simulation box with
        its complete contents. By default there is no box.
    protonation
        With ``add_missing``, protonation states that differ from those at pH 7, such as ``{"A:HIS12": "HID", "A:CYS5":
        "CYM"}``. By default, cysteine and histidine are deprotonated at an atom that coordinates a metal.
    ligands
        With ``add_missing``, SMILES of residues, such as ``{"BNZ": "c1ccccc1"}``, to which RDKit adds hydrogens
        (``pip install 'articulon[ligands]'``).
    limit
        Largest number of bytes to read, after decompression.

    Raises
    ------
    ModelError
        For a file that cannot be read, and for every fault that the user must decide about or repair first. The message
        names chain, residue and atom.
    """
    path = path_of(path, "read_structure, path")
    model = None if model is None else whole(model, f"{path}: model")
    if not (altloc is None or isinstance(altloc, str)):
        raise ModelError(f"{path}: altloc: expected a letter or 'highest', got {shown(altloc)}")
    chains = None if chains is None else words(chains, f"{path}: chains")
    leave_out, accept = words(leave_out, f"{path}: leave_out"), accepted(accept, str(path))
    protonation, ligands = checked_protonation(protonation, str(path)), checked_ligands(ligands, str(path))
    if (protonation or ligands) and not add_missing:
        key = "protonation" if protonation else "ligands"
        raise ModelError(f"{path}: {key} applies to added hydrogens; give add_missing = true too, or leave it out")
    if box is not None:
        word(box, ("file",), f"{path}: box")
    limit, add_missing = whole(limit, f"{path}: limit", least=1), flag(add_missing, f"{path}: add_missing")
    file = parsed_structure(path, content_of(path, limit))
    chosen = _model(path, file, model)
    structure, serials = atoms_of(path, chosen, altloc, chains, leave_out)
    if box is not None:
        structure = replace(structure, box=box_of_file(file, str(path)))
    structure = bonded(structure, _records(file, structure, serials))
    absent, ends = unresolved(file, structure)
    structure = replace(structure, inferred=(*structure.inferred, *ends))
    found = faults_of(structure, absent)
    if add_missing:
        from articulon.molecules.added_atoms import with_missing_added

        structure = with_missing_added(structure, found, protonation=protonation, ligands=ligands)
        found = faults_of(structure, absent)
    whole_file = refuse(structure, found, accept, add_missing)
    if whole_file.box is not None and "clashes" not in accept:
        check_overlaps(whole_file)
    return whole_file


def content_of(path: Path, limit: int) -> bytes:
    """Return the bytes of a file, decompressed; raise ModelError if there are more than the limit."""
    try:
        if path.suffix == ".gz":
            with gzip.open(path) as stream:
                content = stream.read(limit + 1)
        else:
            with path.open("rb") as stream:
                content = stream.read(limit + 1)
    except (OSError, ValueError) as error:
        raise ModelError(f"{clipped(path)}: cannot be read: {getattr(error, 'strerror', None) or error}") from None
    except (EOFError, zlib.error) as error:
        raise ModelError(f"{path}: is not a complete gzip file: {error}") from None
    if len(content) > limit:
        raise ModelError(f"{path}: holds more than {limit} bytes when decompressed; give a higher limit to read it")
    return content


def parsed_structure(path: Path, content: bytes) -> Any:
    """Parse a file with gemmi, in the format that its name indicates."""
    package = gemmi()
    suffix = next((s for s in reversed(path.suffixes) if s != ".gz"), "").lower()
    _check_text(path, content, whole_file=suffix not in (".pdb", ".ent"))
    try:
        if suffix in (".cif", ".mmcif", ".pdbx"):
            document = package.cif.read_string(content)
            if not len(document):
                raise ModelError(f"{path}: contains no data block, and therefore no atoms")
            file = package.make_structure_from_block(document[0])
        elif suffix in (".pdb", ".ent"):
            _check_places(path, content)
            file = package.read_pdb_string(content)
        else:
            raise ModelError(f"{path}: expected a .pdb or a .cif file, or one of these with .gz")
    except (ValueError, RuntimeError, IndexError) as error:
        raise ModelError(f"{path}: {clipped(error)}") from None
    if not len(file) or not any(len(chain) for chain in file[0]):
        raise ModelError(f"{path}: contains no atoms")
    return file


def _check_text(path: Path, content: bytes, whole_file: bool) -> None:
    """Raise ModelError, naming the line, if a record that is read is not valid text. Remarks of a PDB file, which are
    not read, may have any encoding."""
    if content.isascii():
        return
    for number, line in enumerate(content.splitlines(), start=1):
        if whole_file or line[:6].rstrip().upper() in READ:
            try:
                line.decode("utf-8")
            except UnicodeDecodeError as error:
                raise ModelError(f"{path}, line {number}: is not UTF-8 text: {error.reason}") from None


def _check_places(path: Path, content: bytes) -> None:
    """Raise ModelError, naming the atom, for PDB coordinates that are not numbers; gemmi would read them as 0."""
    for line in content.splitlines():
        if line[:4].upper() not in (b"ATOM", b"HETA") or len(line) < PLACES[-1].stop:
            continue
        try:
            for part in PLACES:
                float(line[part])
        except ValueError:
            chain, number, residue, atom = (
                line[part].decode("utf-8", "replace").strip()
                for part in (slice(21, 22), slice(22, 27), slice(17, 20), slice(12, 16))
            )
            found = line[PLACES[0].start : PLACES[-1].stop].decode("utf-8", "replace")
            raise ModelError(
                f"{path}: {chain}:{residue}{number}:{atom}: {found!r} is not three coordinates, in columns 31 to 54; "
                "correct the file"
            ) from None


def _model(path: Path, file: Any, number: int | None) -> Any:
    """Return the model with the given number, or the only model of the file."""
    numbers = [int(model.num) for model in file]
    if number is None:
        if len(numbers) > 1:
            raise ModelError(f"{path}: contains {len(numbers)} models; choose one, such as model = {numbers[0]}")
        return file[0]
    if number not in numbers:
        raise ModelError(f"{path}: there is no model {number} (there are {numbers[0]} to {numbers[-1]})")
    return file[numbers.index(number)]


def atoms_of(
    path: Path, model: Any, altloc: str | None, chains: Sequence[str] | None, leave_out: Sequence[str]
) -> tuple[Structure, dict[int, int]]:
    """Return atoms and residues without bonds, and the index of each atom by its serial number."""
    known = list(dict.fromkeys(chain.name for chain in model))
    absent = [chain for chain in chains or () if chain not in known]
    if absent:
        raise ModelError(f"{path}: there is no chain '{absent[0]}' (there are: {', '.join(known)})")
    present = list(dict.fromkeys(group.name for chain in model for group in chain))
    absent = [name for name in leave_out if name not in present]
    if absent:
        raise ModelError(
            f"{path}: leave_out: there is no residue '{clipped(absent[0])}' (there are: {', '.join(present[:40])})"
        )
    letters = sorted({atom.altloc for chain in model for group in chain for atom in group if atom.has_altloc()})
    if altloc not in (None, "highest", *letters):
        have = f"there are: {', '.join(letters)}" if letters else "it has one location of each atom: leave altloc out"
        raise ModelError(f"{path}: altloc: there is no alternative '{clipped(altloc)}' ({have})")
    names: list[str] = []
    elements: list[str] = []
    places: list[list[float]] = []
    residues: list[Residue] = []
    serials: dict[int, int] = {}
    undecided: list[str] = []
    inferred: dict[str, list[str]] = {}
    for chain in model:
        if chains is not None and chain.name not in chains:
            continue
        for group, members in [(one, part) for one in chain for part in _copies(one)]:
            if group.name in leave_out:
                continue
            kind, standard = kind_and_template(group.name)
            if group.seqid.num is None:
                raise ModelError(
                    f"{path}: a residue {group.name} of the chain '{chain.name}' has no number; a PDB file has it in "
                    "columns 23 to 26"
                )
            residue = Residue(
                group.name,
                int(group.seqid.num),
                group.seqid.icode.strip(),
                chain.name.strip(),
                kind or ("ion" if len(members) == 1 else "ligand"),  # type: ignore[arg-type]
                standard,
                len(names),
                len(names),
            )
            atoms, several = _conformer(members, altloc)
            if several:
                undecided.append(f"{residue.label} ({', '.join(several)})")
            for atom in atoms:
                element = _ion(group.name, atom.name, len(members)) or _element(atom, kind)
                if element == "X" and kind == "water" and atom.name[:1] in "ME":
                    line = f"{atom.name} of {residue.name} is a site without mass, left out"
                    inferred.setdefault(line, []).append(residue.label)
                    continue
                if element == "X":
                    raise ModelError(f"{path}: {residue.label}:{atom.name}: the file does not say which element it is")
                serials[int(atom.serial)] = len(names)
                names.append(_name(atom.name, standard, residue, inferred))
                elements.append(element)
                places.append([atom.pos.x, atom.pos.y, atom.pos.z])
            residue = residue._replace(stop=len(names))
            twins = [n for n in names[residue.start :] if names[residue.start :].count(n) > 1]
            if twins and not several:
                raise ModelError(f"{path}: {residue.label}:{twins[0]}: occurs twice; remove one from the file")
            residues.append(residue)
    if undecided:
        first = ", ".join(undecided[:8]) + (", ..." if len(undecided) > 8 else "")
        raise ModelError(
            f"{path}: alternative locations in {len(undecided)} residues: {first}; choose one: altloc = 'A', or "
            "'highest' for the highest occupancy in each residue"
        )
    if not names:
        raise ModelError(f"{path}: the chosen chains and residues have no atoms")
    positions = ANGSTROM * np.array(places)
    if not np.isfinite(positions).all():
        atom = int(np.argmin(np.isfinite(positions).all(axis=1)))
        where = next(residue.label for residue in residues if residue.start <= atom < residue.stop)
        raise ModelError(f"{path}: {where}:{names[atom]}: its coordinates are not finite")
    if np.abs(positions).max() > FARTHEST:
        atom = int(np.abs(positions).max(axis=1).argmax())
        where = next(residue.label for residue in residues if residue.start <= atom < residue.stop)
        raise ModelError(f"{path}: {where}:{names[atom]}: has coordinates too large for a molecule; correct the file")
    structure = Structure(
        str(path),
        tuple(names),
        tuple(elements),
        tuple(residues),
        positions,
        masses(elements),
        np.zeros((0, 2), dtype=np.int64),
        tuple(f"{line}: {_shown(labels)}" for line, labels in inferred.items()),
    )
    return structure, serials


def _copies(group: Any) -> list[list[Any]]:
    """Split a group of atoms into residues that have the same number because numbers start again, as the numbers of
    water do after 9999."""
    atoms = list(group)
    period = next((k for k in range(1, len(atoms)) if atoms[k].name == atoms[0].name), len(atoms))
    once = [atom.name for atom in atoms[:period]]
    repeated = len(atoms) % period == 0 and all(atom.name == once[k % period] for k, atom in enumerate(atoms))
    if not repeated or kind_and_template(group.name)[0] != "water" or any(atom.has_altloc() for atom in atoms):
        return [atoms]
    return [atoms[k : k + period] for k in range(0, len(atoms), period)]


def _shown(labels: list[str]) -> str:
    return ", ".join(labels) if len(labels) <= 12 else f"{', '.join(labels[:10])} and {len(labels) - 10} more"


def _conformer(group: list[Any], altloc: str | None) -> tuple[list[Any], list[str]]:
    """Return the atoms of one residue in the chosen alternative, and its alternatives if none is chosen."""
    letters = sorted({atom.altloc for atom in group if atom.has_altloc()})
    if not letters:
        return group, []
    if altloc is None:
        return group, letters
    if altloc == "highest":
        occupancy = {letter: sum(atom.occ for atom in group if atom.altloc == letter) for letter in letters}
        chosen = max(letters, key=lambda letter: (occupancy[letter], -ord(letter)))
    else:
        # If a residue does not have the chosen alternative, its first one is used.
        chosen = altloc if altloc in letters else letters[0]
    return [atom for atom in group if not atom.has_altloc() or atom.altloc == chosen], []


def _ion(residue: str, atom: str, count: int) -> str:
    """Return the chemical symbol of an ion from the names of its residue and atom, in any columns; empty if the residue
    is not an ion. Both NA and SOD in a residue of the same name are sodium."""
    if count != 1:
        return ""
    for name in (residue, atom):
        word = name.strip().upper().rstrip("+-0123456789")
        if (symbol := ION_NAMES.get(name.strip().upper()) or ION_NAMES.get(word)) is not None:
            return symbol
    symbol = word.capitalize()
    same = residue.strip().upper().rstrip("+-0123456789") == word
    return symbol if same and len(word) == 2 and (metal(symbol) or symbol in ("Cl", "Br")) else ""


def _element(atom: Any, kind: str) -> str:
    """Return the chemical symbol of an atom, or X if it is unknown.

    Standard residues contain no element of two letters. In them the first letter of the name is the symbol, in any
    column: CA is carbon, HG hydrogen.
    """
    letter = atom.name.lstrip("0123456789")[:1]
    if kind in ("amino-acid", "cap", "nucleotide", "water") and letter in ("C", "N", "O", "S", "P", "H", "D"):
        return "H" if letter == "D" else str(letter)
    return "H" if atom.element.name == "D" else str(atom.element.name)


def _name(name: str, standard: str, residue: Residue, inferred: dict[str, list[str]]) -> str:
    """Return the name of an atom in the template of its residue; it may differ from the name in the file."""
    own = ATOM_NAMES.get(standard, {}).get(name) if standard else None
    if own is None and residue.kind in ("amino-acid", "nucleotide"):
        own = ATOM_NAMES[residue.kind].get(name) or (name.replace("*", "'") if residue.kind == "nucleotide" else None)
    if own is None or own == name:
        return name
    inferred.setdefault(f"{name} of {residue.name} is taken for {own}", []).append(residue.label)
    return own


def _records(file: Any, structure: Structure, serials: dict[int, int]) -> list[tuple[int, int]]:
    """Return the pairs of atoms that CONECT, LINK, SSBOND or struct_conn records declare as bonded."""
    pairs: list[tuple[int, int]] = []
    for serial, partners in dict(file.conect_map).items():
        pairs.extend((serials[serial], serials[p]) for p in partners if serial in serials and p in serials)
    at = {
        (residue.chain, residue.number, residue.insertion, structure.names[k]): k
        for residue in structure.residues
        for k in range(residue.start, residue.stop)
    }
    kinds = gemmi().ConnectionType
    for link in file.connections:
        if link.type in (kinds.Covale, kinds.Disulf, kinds.MetalC):
            ends = [
                at.get((p.chain_name, p.res_id.seqid.num, p.res_id.seqid.icode.strip(), p.atom_name))
                for p in (link.partner1, link.partner2)
            ]
            if ends[0] is not None and ends[1] is not None:
                pairs.append((ends[0], ends[1]))
    return [(a, b) for a, b in pairs if a != b]
