"""Look-up of atoms and torsions by the names that a force declares."""

import numpy as np

from articulon.declaration import nearest
from articulon.errors import ModelError
from articulon.forces.sites.atom_positions import atom_positions, atoms_of
from articulon.model import Model
from articulon.model.atom_selection import selected_atoms


def sites_of_atoms(model: Model, labels: tuple[str, ...], where: str) -> list[int]:
    """Sites of atoms given by chain, residue and name, ``A:LYS12:CB``; raises ModelError if a name matches no atom or
    several."""
    atoms = atoms_of(model, where)
    known: dict[str, list[int]] = {}
    for k in range(len(atoms)):
        known.setdefault(atoms.label(k), []).append(k)
    found = []
    for k, label in enumerate(labels):
        if label not in known:
            raise ModelError(f"{where}[{k}]: there is no atom '{label}'{nearest(label, list(known))}")
        if len(known[label]) > 1:
            raise ModelError(f"{where}[{k}]: {len(known[label])} atoms are called '{label}'; name sites instead")
        found.append(int(atoms.site[known[label][0]]))
    return found


def sites_of_torsion(model: Model, name: str, where: str) -> tuple[int, ...]:
    """The four sites that define the dihedral angle of a torsion such as ``phi:A:TRP2``; raises ModelError if the name
    matches no torsion or those of several joints."""
    atoms = atoms_of(model, where)
    bodies = [body for body, torsion in atoms.torsions.items() if torsion == name]
    if not bodies:
        raise ModelError(f"{where}: there is no torsion '{name}'{nearest(name, list(atoms.torsions.values()))}")
    if len(bodies) > 1:
        raise ModelError(f"{where}: {len(bodies)} torsions are called '{name}'; name four atoms or sites instead")
    return tuple(int(site) for site in atoms.site[list(atoms.dihedrals[bodies[0]])])


def sites_selected(model: Model, selection: str, where: str) -> list[int]:
    """Sites of the atoms that an MDAnalysis selection chooses in the initial coordinates; raises ModelError if it
    chooses none."""
    atoms, box = atoms_of(model, where), model.box
    edges = None if box is None or not box.periodic.all() else box.vectors
    chosen = selected_atoms(atoms, np.asarray(atom_positions(model, model.q0)), selection, where, edges)
    return [int(site) for site in atoms.site[chosen]]
