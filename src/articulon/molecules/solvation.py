"""Structures in water: boxes, water and ions, set up by OpenMM's modeller."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Literal

import numpy as np

from articulon.errors import ArticulonError, ModelError
from articulon.inputs import flag, shown, whole, word
from articulon.model.box import Box
from articulon.molecules.boxes import check_images, shown_box
from articulon.molecules.force_field_files import WATERS, check_words, reader
from articulon.molecules.openmm_exchange import from_openmm, openmm_app, seeded, to_openmm
from articulon.molecules.structure import Structure, check_structure
from articulon.molecules.system_making import UNITS, openmm_system, total_charge
from articulon.molecules.water_geometry import with_geometry
from articulon.units import unit_system

SHAPES = ("cube", "octahedron", "dodecahedron")
POSITIVE = ("Cs+", "K+", "Li+", "Na+", "Rb+")
NEGATIVE = ("Br-", "Cl-", "F-", "I-")
"""Ions that OpenMM's modeller adds."""
MOST = 3_000_000
"""Atoms of a box; more would take days to set up."""
PER_VOLUME = 100.0
"""Atoms of water [1/nm³]."""

BoxShape = Literal["cube", "octahedron", "dodecahedron"]


def solvate(
    structure: Structure,
    water: str = "tip3p",
    *,
    padding: float | str | None = None,
    box: Any = None,
    box_shape: BoxShape = "cube",
    ionic_strength: float = 0.0,
    neutralise: bool = True,
    positive_ion: str = "Na+",
    negative_ion: str = "Cl-",
    force_field: str = "amber14",
    files: Sequence[str] = (),
    seed: int = 1,
) -> Structure:
    """The structure in a periodic box of water and ions, by OpenMM's modeller.

    Water of the modeller's equilibrated boxes is filled in wherever it does not overlap with the solute, gets the bond
    length and angle of the water model, and molecules of it are replaced by ions. The same input gives the same box.

    Parameters
    ----------
    structure
        With all its atoms, hydrogens too, and all its residues known to the force field. Its water and ions stay.
    water
        The model of water: ``tip3p``, ``tip3pfb``, ``spce``, ``opc3``, ``tip4pew``, ``tip4pfb``, ``opc`` or
        ``tip4p2005``.
    padding
        Least distance between the solute and its periodic images: the box is as wide as the sphere around the solute
        and this [nm].
    box
        Instead of it, three lengths, or an :class:`articulon.Box` [nm].
    box_shape
        With ``padding``: ``cube``, truncated ``octahedron`` (77 % of its volume) or rhombic ``dodecahedron`` (71 %).
    ionic_strength
        Of pairs of ions beside those that neutralise [mol/l].
    neutralise
        Whether ions are added until the box has no charge. Without it a charged structure is refused.
    positive_ion, negative_ion
        Which: ``Cs+``, ``K+``, ``Li+``, ``Na+``, ``Rb+``; ``Br-``, ``Cl-``, ``F-``, ``I-``.
    force_field, files
        As for :func:`force_field`; they say how large atoms are, and what charge the solute has.
    seed
        Chooses which molecules of water become ions.

    Returns
    -------
    Structure
        The atoms of the given one first, in their order, then water in a chain ``W`` and ions in a chain ``I``, or in
        the next letters that are free.

    Raises
    ------
    ModelError
        For words that are not known, both or none of ``padding`` and ``box``, a box in which the solute meets its
        images, one too small for the ions, and residues without parameters, each by name.
    """
    check_structure(structure, "solvate")
    word(water, tuple(WATERS), "solvate, water")
    check_words(force_field, water)
    word(box_shape, SHAPES, "solvate, box_shape")
    word(positive_ion, POSITIVE, "solvate, positive_ion")
    word(negative_ion, NEGATIVE, "solvate, negative_ion")
    neutralise, seed = flag(neutralise, "solvate, neutralise"), whole(seed, "solvate, seed", least=0)
    strength = _strength(ionic_strength)
    if (padding is None) == (box is None):
        raise ModelError("solvate: give either padding, a distance, or box, three lengths")
    if box is not None and box_shape != "cube":
        raise ModelError(f"solvate, box_shape: '{box_shape}' is of a padding; a box has its own shape; leave it out")
    size = _size(structure, padding, box, box_shape)
    check_size_of(size, structure)
    known = reader(structure, force_field, water, files)
    bare = replace(structure, box=None)
    # Before the modeller, which would name residues by numbers from zero.
    charge = total_charge(openmm_system(bare, force_field, solvent=water, files=files))
    if not neutralise and abs(charge) > 0.5:
        raise ModelError(
            f"solvate, neutralise: {structure.source} has a charge of {charge:+.0f} e, and a periodic box must have "
            "none; leave neutralise out"
        )
    modeller = openmm_app().Modeller(*to_openmm(bare))
    filled = _filled(
        modeller,
        known.force_field,
        model=WATERS[water].filled_from,
        boxVectors=_vectors(size),
        ionicStrength=strength,
        neutralize=neutralise,
        positiveIon=positive_ion,
        negativeIon=negative_ion,
        seed=seed,
        source=structure.source,
    )
    whole_box = _joined(structure, filled, size, water)
    check_images(whole_box, len(structure))
    return with_geometry(whole_box, water, force_field, said=False)


def check_size_of(box: Box, structure: Structure) -> None:
    """Raises ModelError for a box that would hold more atoms than can be set up."""
    atoms = box.volume * PER_VOLUME
    if atoms > MOST:
        raise ModelError(
            f"{structure.source}: a box of {shown_box(box)} would hold about {atoms:.2g} atoms, and {MOST} are the "
            "most; give a smaller padding or box"
        )


def _strength(value: Any) -> float:
    try:
        strength = float(value) if not isinstance(value, str | bool) else np.nan
    except (TypeError, ValueError, OverflowError):
        strength = np.nan
    if not 0.0 <= strength <= 10.0:
        raise ModelError(f"solvate, ionic_strength: expected mol/l from 0 to 10, a number, got {shown(value)}")
    return strength


def _size(structure: Structure, padding: Any, box: Any, shape: str) -> Box:
    """The box that is to be filled."""
    units = unit_system(UNITS)
    try:
        if padding is None:
            if isinstance(box, str | bytes):
                raise ModelError(f"solvate, box: expected three lengths or an ar.Box, got {shown(box)}")
            made = box if isinstance(box, Box) else Box(lengths=tuple(box))
            made = made.resolved(units, "solvate, box")
            if not made.periodic.all():
                raise ModelError("solvate, box: water is filled into boxes that are periodic in all directions")
            return made
        width = units.value(padding, "length", "solvate, padding")
        if not width > 0.0:
            raise ModelError(f"solvate, padding: must be positive, got {shown(padding)}")
        x = structure.positions
        radius = np.linalg.norm(x - 0.5 * (x.min(axis=0) + x.max(axis=0)), axis=1).max()
        a = max(2.0 * radius + width, 2.0 * width)
        edges = {
            "cube": ((a, a, a), (0.0, 0.0, 0.0)),
            "octahedron": (
                (a, a * np.sqrt(8.0) / 3.0, a * np.sqrt(6.0) / 3.0),
                (a / 3.0, -a / 3.0, a * np.sqrt(2.0) / 3.0),
            ),
            "dodecahedron": ((a, a, a * np.sqrt(0.5)), (0.0, 0.5 * a, 0.5 * a)),
        }
        lengths, tilts = edges[shape]
        return Box(lengths=tuple(map(float, lengths)), tilts=tuple(map(float, tilts)))
    except ModelError:
        raise
    except (ArticulonError, TypeError, ValueError) as error:
        raise ModelError(f"solvate: {error}") from None


def _vectors(box: Box) -> Any:
    import openmm

    return tuple(openmm.Vec3(*row) for row in box.vectors.tolist())


def _filled(modeller: Any, force_field: Any, *, ionicStrength: float, seed: int, source: str, **options: Any) -> Any:
    """OpenMM's modeller after it has added the solvent; its random choices are those of the seed alone."""
    from openmm import unit

    try:
        with seeded(seed):
            modeller.addSolvent(force_field, ionicStrength=ionicStrength * unit.molar, **options)
    except IndexError:
        raise ModelError(f"{source}: the box has too little water for so many ions; give a larger one") from None
    except Exception as error:
        if type(error) is Exception and "neutralize" in str(error):
            raise ModelError(f"{source}: the box has too little water to be neutralised; give a larger one") from None
        if isinstance(error, ValueError):
            raise ModelError(f"{source}: OpenMM's modeller cannot add the solvent: {error}") from None
        raise
    return modeller


def _joined(structure: Structure, modeller: Any, box: Box, water: str) -> Structure:
    """The given atoms as they are, and what was added in chains of their own."""
    made = from_openmm(modeller.topology, modeller.positions, structure.source, sites_too=False)
    used = {residue.chain for residue in structure.residues}
    free = [letter for letter in "WIXYZVUTSRQPONMLKJHGFEDCBA" if letter not in used]
    letter = {"water": free[0] if free else "W", "ion": free[1] if len(free) > 1 else "I"}
    count = len(structure)
    added, number = [], {"water": 0, "ion": 0}
    for residue in made.residues[len(structure.residues) :]:
        number[residue.kind] += 1
        added.append(residue._replace(chain=letter[residue.kind], number=number[residue.kind], insertion=""))
    return replace(
        structure,
        names=(*structure.names, *made.names[count:]),
        elements=(*structure.elements, *made.elements[count:]),
        residues=(*structure.residues, *added),
        positions=np.concatenate([structure.positions, made.positions[count:]]),
        masses=np.concatenate([structure.masses, made.masses[count:]]),
        bonds=np.concatenate([structure.bonds, made.bonds[made.bonds[:, 0] >= count]]),
        box=box,
        inferred=(
            *structure.inferred,
            f"{number['water']} molecules of {water} and {number['ion']} ions were added by OpenMM's modeller in a box "
            f"of {shown_box(box)}, {box.volume:.4g} nm³",
        ),
    )
