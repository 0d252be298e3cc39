"""What can be added to a structure: hydrogens by OpenMM's modeller, and the second oxygen of a last residue."""

from dataclasses import replace

import numpy as np

from articulon.errors import ModelError
from articulon.molecules.openmm_exchange import from_openmm, openmm_app, to_openmm
from articulon.molecules.structure import Structure
from articulon.molecules.structure_faults import Fault

FORCE_FIELD = ("amber14-all.xml", "amber14/tip3p.xml")
"""By which OpenMM's modeller knows the residues, and places the hydrogens."""


def with_missing_added(structure: Structure, faults: list[Fault], pH: float = 7.0) -> Structure:
    """A copy with hydrogens and terminal oxygens added, each listed in ``inferred``.

    Raises
    ------
    ModelError
        For residues that OpenMM's modeller cannot complete: heavy atoms are missing, or it does not know them.
    """
    kinds = {fault.kind for fault in faults}
    if "missing-atoms" in kinds:
        lost = "; ".join(fault.text for fault in faults if fault.kind == "missing-atoms")
        raise ModelError(
            f"{structure.source}: {lost}; OpenMM's modeller adds hydrogens, not heavy atoms: build these with PDBFixer "
            "or a modelling program, or accept = ['missing-atoms'] without add_missing"
        )
    if "missing-ends" in kinds:
        structure = _with_ends(structure)
    if "missing-hydrogens" not in kinds:
        return structure
    app = openmm_app()
    modeller = app.Modeller(*to_openmm(structure))
    try:
        modeller.addHydrogens(app.ForceField(*FORCE_FIELD), pH=pH)
    except ValueError as error:
        raise ModelError(f"{structure.source}: OpenMM's modeller cannot add hydrogens: {error}") from None
    whole = from_openmm(modeller.topology, modeller.positions, structure.source, structure.inferred)
    residues = tuple(
        new._replace(chain=old.chain, kind=old.kind, standard=old.standard)
        for new, old in zip(whole.residues, structure.residues, strict=True)
    )
    count = len(whole) - len(structure)
    line = f"{count} hydrogens were added by OpenMM's modeller for pH {pH:g}, its choice of protonation included"
    return replace(whole, residues=residues, inferred=(*whole.inferred, line))


def _with_ends(structure: Structure) -> Structure:
    """A copy with OXT on each amino acid whose C has but two neighbours: across the C from the O."""
    names, elements, weights = list(structure.names), list(structure.elements), structure.masses.tolist()
    places, residues, inferred = structure.positions.tolist(), [], list(structure.inferred)
    moved = np.arange(len(structure))
    bonds, shift = [], 0
    for k, residue in enumerate(structure.residues):
        moved[residue.start : residue.stop] += shift
        start, stop = residue.start + shift, residue.stop + shift
        c, o, ca = (structure.atom(k, name) for name in ("C", "O", "CA"))
        if residue.kind == "amino-acid" and min(c, o, ca) >= 0 and len(structure.neighbours[c]) == 2:
            names.insert(stop, "OXT")
            elements.insert(stop, "O")
            weights.insert(stop, float(structure.masses[o]))
            places.insert(stop, _mirrored(structure.positions[[ca, c, o]]))
            bonds.append((int(moved[c]), stop))
            inferred.append(f"{residue.label}:OXT: added, in the plane of CA, C and O")
            stop, shift = stop + 1, shift + 1
        residues.append(residue._replace(start=start, stop=stop))
    pairs = sorted([*bonds, *((int(a), int(b)) for a, b in moved[structure.bonds])])
    return replace(
        structure,
        names=tuple(names),
        elements=tuple(elements),
        residues=tuple(residues),
        positions=np.array(places),
        masses=np.array(weights),
        bonds=np.array(pairs, dtype=np.int64).reshape(-1, 2),
        inferred=tuple(inferred),
    )


def _mirrored(places: np.ndarray) -> list[float]:
    """O mirrored in the line through CA and C."""
    ca, c, o = places
    axis, arm = (c - ca) / np.linalg.norm(c - ca), o - c
    along = (arm @ axis) * axis
    return [float(value) for value in c + 2.0 * along - arm]
