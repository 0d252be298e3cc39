"""Adjustment of water molecules to the bond length and angle of a water model."""

from dataclasses import replace
from functools import cache

import numpy as np

from articulon.errors import ModelError
from articulon.inputs import word
from articulon.molecules.force_field_files import FILES, WATERS, check_words, fresh
from articulon.molecules.openmm_exchange import openmm_app, to_openmm
from articulon.molecules.structure import Residue, Structure, check_structure

SAME = 1e-6
"""Difference below which lengths count as equal [nm]."""
FAR = 0.02
"""Largest displacement of a hydrogen by the adjustment [nm]; a molecule that needs a larger one is rejected."""


def as_water_model(structure: Structure, water: str, *, force_field: str = "amber14") -> Structure:
    """Return the structure with every water molecule in the geometry of a water model. Only hydrogens move, parallel
    and perpendicular to the symmetry axis of the molecule.

    This is needed because rigid water keeps its initial geometry, on which its dipole depends. Coordinates in files are
    rounded, and the geometries of water models differ by some hundredths of an ångström.

    Parameters
    ----------
    structure
        The structure, whose water must have all hydrogens. Atoms move, but no atom is added.
    water
        The water model: ``tip3p``, ``spce``, ``tip4pew`` …
    force_field
        Force field whose parameters of the model are used.

    Raises
    ------
    ModelError
        For an unknown water model, and for a molecule that is not water with two hydrogens or whose geometry is far
        from that of the model; the message names the molecule.
    """
    check_structure(structure, "as_water_model")
    word(water, tuple(WATERS), "as_water_model, water")
    check_words(force_field, water)
    return with_geometry(structure, water, force_field, listed=True)


def with_geometry(structure: Structure, water: str, force_field: str, *, listed: bool) -> Structure:
    """Return the structure of :func:`as_water_model`. ``listed`` tells whether a line is added to ``inferred``, which
    is not needed for newly added water."""
    molecules = [residue for residue in structure.residues if residue.kind == "water"]
    if not molecules:
        return structure
    rows = np.array([_atoms(structure, residue) for residue in molecules])
    bond, across = _geometry(force_field, water)
    x = structure.positions
    o, arms = x[rows[:, 0]], x[rows[:, 1:]] - x[rows[:, :1]]
    axis, side = arms.sum(axis=1), arms[:, 0] - arms[:, 1]
    axis /= np.linalg.norm(axis, axis=1)[:, None]
    side -= np.einsum("ki,ki->k", side, axis)[:, None] * axis
    side /= np.linalg.norm(side, axis=1)[:, None]
    half, along = 0.5 * across, np.sqrt(bond**2 - 0.25 * across**2)
    wanted = np.stack([o + along * axis + half * side, o + along * axis - half * side], axis=1)
    moved = np.linalg.norm(wanted - x[rows[:, 1:]], axis=2).max(axis=1)
    far = int(np.argmax(np.where(np.isfinite(moved), moved, np.inf)))
    if not moved[far] < FAR:
        raise ModelError(
            f"{structure.source}: {molecules[far].label}: its hydrogens are {moved[far]:.3f} nm from their positions "
            f"in {water}; correct the coordinates, or leave it out"
        )
    if moved.max() < SAME:
        return structure
    places = x.copy()
    places[rows[:, 1:]] = wanted
    line = (
        f"{len(molecules)} molecules of water got the geometry of {water}, O-H of {bond:.5g} nm; their hydrogens were "
        f"moved by at most {moved.max():.2g} nm"
    )
    return replace(structure, positions=places, inferred=(*structure.inferred, line) if listed else structure.inferred)


def _atoms(structure: Structure, residue: Residue) -> tuple[int, int, int]:
    """Return the indices of O and both H of a water molecule."""
    inside = range(residue.start, residue.stop)
    oxygen = [a for a in inside if structure.elements[a] == "O"]
    hydrogen = [a for a in inside if structure.elements[a] == "H"]
    if len(oxygen) != 1 or len(hydrogen) != 2:
        raise ModelError(
            f"{structure.source}: {residue.label}: has {len(oxygen)} oxygen and {len(hydrogen)} hydrogen atoms, but "
            "water has one and two; add_missing = true adds hydrogens"
        )
    return oxygen[0], hydrogen[0], hydrogen[1]


@cache
def _geometry(force_field: str, water: str) -> tuple[float, float]:
    """Return the O–H and H–H distances of a water model, taken from OpenMM's constraints on one molecule [nm]."""
    app = openmm_app()
    symbols = ("O", "H", "H")
    one = Structure(
        water,
        ("O", "H1", "H2"),
        symbols,
        (Residue("HOH", 1, "", "W", "water", "", 0, 3),),
        np.array([[0.0, 0.0, 0.0], [0.0757, 0.0586, 0.0], [-0.0757, 0.0586, 0.0]]),
        np.array([16.0, 1.0, 1.0]),
        np.array([[0, 1], [0, 2]]),
    )
    known = fresh((WATERS[water].files[force_field],), ()) if force_field in FILES else None
    assert known is not None
    modeller = app.Modeller(*to_openmm(one))
    modeller.addExtraParticles(known)
    system = known.createSystem(modeller.topology, rigidWater=True)
    atoms = [atom.element.symbol if atom.element else "" for atom in modeller.topology.atoms()]
    found = {}
    for k in range(system.getNumConstraints()):
        i, j, length = system.getConstraintParameters(k)
        found["".join(sorted((atoms[i], atoms[j])))] = float(length._value)
    return found["HO"], found["HH"]
