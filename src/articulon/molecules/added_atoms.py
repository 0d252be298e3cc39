"""Addition of missing atoms to a structure: heavy atoms by PDBFixer, hydrogens by OpenMM's modeller, atoms at the ends
of chains, and hydrogens of ligands."""

import io
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from articulon.errors import ModelError
from articulon.inputs import clipped
from articulon.molecules.editing import NewAtom, edited
from articulon.molecules.ligand_hydrogens import with_ligand_hydrogens
from articulon.molecules.openmm_exchange import from_openmm, openmm_app, seeded, to_openmm
from articulon.molecules.protonation import variants_of
from articulon.molecules.structure import Structure
from articulon.molecules.structure_faults import Fault
from articulon.molecules.templates import template

FORCE_FIELD = ("amber14-all.xml", "amber14/tip3p.xml")
"""Force field by which OpenMM's modeller recognises residues and places hydrogens."""
SEED = 1
"""Seed of PDBFixer's search for positions without overlap, and of the modeller's initial guesses."""


def with_missing_added(
    structure: Structure,
    faults: list[Fault],
    pH: float = 7.0,
    *,
    protonation: Mapping[str, str] | None = None,
    ligands: Mapping[str, str] | None = None,
) -> Structure:
    """Return a copy with heavy atoms, terminal oxygens and hydrogens added, each listed in ``inferred``.

    Raises
    ------
    ModelError
        For residues that cannot be completed, and for a required package that is not installed.
    """
    kinds = {fault.kind for fault in faults}
    if "missing-atoms" in kinds:
        structure = _with_heavy_atoms(structure)
        kinds.add("missing-hydrogens")
    if "missing-ends" in kinds:
        structure = _with_ends(structure)
    if ligands:
        structure = with_ligand_hydrogens(structure, ligands)
    if "missing-hydrogens" not in kinds and not protonation:
        return structure
    app = openmm_app()
    modeller = app.Modeller(*to_openmm(structure))
    variants, chosen = variants_of(structure, protonation or {})
    try:
        force_field = app.ForceField(*FORCE_FIELD)
        # If the modeller uses its own forces to place hydrogens, residues that the force field does not know need no
        # templates.
        unknown = force_field.getUnmatchedResidues(modeller.topology) if _has_others(structure) else []
        by = None if unknown else force_field
        with seeded(SEED):
            modeller.addHydrogens(by, pH=pH, variants=variants, platform=_reference())
    except ValueError as error:
        raise ModelError(f"{structure.source}: OpenMM's modeller cannot add hydrogens: {clipped(error)}") from None
    whole = from_openmm(modeller.topology, modeller.positions, structure.source, structure.inferred)
    residues = tuple(
        new._replace(chain=old.chain, kind=old.kind, standard=old.standard)
        for new, old in zip(whole.residues, structure.residues, strict=True)
    )
    count = len(whole) - len(structure)
    line = f"{count} hydrogens were added by OpenMM's modeller for pH {pH:g}, which also chose protonation states"
    return replace(whole, residues=residues, inferred=(*whole.inferred, line, *chosen), box=structure.box)


def _has_others(structure: Structure) -> bool:
    """Whether there are residues that OpenMM's own force fields may not know."""
    return any(not residue.standard and residue.kind not in ("water", "ion") for residue in structure.residues)


def _reference() -> Any:
    """Return the OpenMM platform whose results are the same on every machine."""
    import openmm

    return openmm.Platform.getPlatformByName("Reference")


def _with_heavy_atoms(structure: Structure) -> Structure:
    """Return a copy with the missing heavy atoms of residues, placed by PDBFixer; all other heavy atoms stay in place.

    The hydrogens of completed residues are removed, because the neighbours of their heavy atoms have changed.
    """
    try:
        from pdbfixer import PDBFixer
    except ImportError:
        raise ModelError(
            f"{structure.source}: heavy atoms are missing, which PDBFixer builds: pip install 'articulon[completion]'"
        ) from None
    lacking: dict[int, list[str]] = {}
    for k, residue in enumerate(structure.residues):
        if residue.standard and residue.kind in ("amino-acid", "nucleotide"):
            known = template(residue.standard)
            lost = known.atoms - known.optional - set(structure.names[residue.start : residue.stop])
            if lost:
                lacking[k] = sorted(lost)
    fixer = PDBFixer(
        pdbfile=io.StringIO("ATOM      1  CA  GLY A   1       0.000   0.000   0.000  1.00  0.00           C")
    )
    named = replace(
        structure,
        residues=tuple(
            residue._replace(name=_fixers_name(structure, k)) for k, residue in enumerate(structure.residues)
        ),
    )
    fixer.topology, fixer.positions = to_openmm(named)
    fixer.platform = _reference()
    fixer.missingResidues = {}
    fixer.findMissingAtoms()
    fixer.missingTerminals = {}
    wanted = {}
    for residue, atoms in fixer.missingAtoms.items():
        names = [atom for atom in atoms if atom.name in lacking.get(residue.index, ())]
        if names:
            wanted[residue] = names
    fixer.missingAtoms = wanted
    found = {residue.index: {atom.name for atom in atoms} for residue, atoms in wanted.items()}
    left = [structure.residues[k].label for k, names in lacking.items() if set(names) - found.get(k, set())]
    if left:
        raise ModelError(f"{structure.source}: {', '.join(left)}: PDBFixer does not know the missing atoms")
    fixer.addMissingAtoms(seed=SEED)
    places = np.array(fixer.positions.value_in_unit(fixer.positions.unit), dtype=float)
    added: dict[int, list[NewAtom]] = {}
    for k, residue in enumerate(fixer.topology.residues()):
        for atom in residue.atoms() if k in lacking else ():
            if atom.name in lacking[k]:
                added.setdefault(k, []).append(NewAtom(atom.name, atom.element.symbol, places[atom.index], ()))
    lines = []
    for k, atoms in added.items():
        residue = structure.residues[k]
        pairs = template(residue.standard).bonds
        mine = {atom.name for atom in atoms}
        added[k] = [
            atom._replace(bonded=tuple(b if a == atom.name else a for a, b in pairs if atom.name in (a, b)))
            for atom in atoms
        ]
        lines.append(f"{residue.label}: {', '.join(sorted(mine))}: added by PDBFixer")
    gone = [
        a
        for k in added
        for a in range(structure.residues[k].start, structure.residues[k].stop)
        if structure.elements[a] == "H"
    ]
    return replace(edited(structure, added, gone), inferred=(*structure.inferred, *lines))


def _fixers_name(structure: Structure, k: int) -> str:
    """Return the name of a residue in PDBFixer, where names of DNA residues begin with D."""
    residue = structure.residues[k]
    if residue.kind == "nucleotide":
        return residue.standard if structure.atom(k, "O2'") >= 0 else f"D{residue.standard}"
    return residue.standard or residue.name


def _with_ends(structure: Structure) -> Structure:
    """Return a copy in which each amino acid whose C has only two neighbours gets an atom OXT, opposite to O."""
    added, lines = {}, []
    for k, residue in enumerate(structure.residues):
        c, o, ca = (structure.atom(k, name) for name in ("C", "O", "CA"))
        if residue.kind == "amino-acid" and min(c, o, ca) >= 0 and len(structure.neighbours[c]) == 2:
            added[k] = [NewAtom("OXT", "O", _mirrored(structure.positions[[ca, c, o]]), ("C",))]
            lines.append(f"{residue.label}:OXT: added, in the plane of CA, C and O")
    return replace(edited(structure, added), inferred=(*structure.inferred, *lines))


def _mirrored(places: np.ndarray) -> np.ndarray:
    """Mirror O in the line through CA and C."""
    ca, c, o = places
    axis, arm = (c - ca) / np.linalg.norm(c - ca), o - c
    along = (arm @ axis) * axis
    return np.asarray(c + 2.0 * along - arm)
