"""Solvation of structures: OpenMM's modeller sets up periodic boxes with water and ions."""

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
from articulon.molecules.system_making import UNITS, total_charge, unchecked_system
from articulon.molecules.water_geometry import with_geometry
from articulon.units import unit_system

SHAPES = ("cube", "octahedron", "dodecahedron")
POSITIVE = ("Cs+", "K+", "Li+", "Na+", "Rb+")
NEGATIVE = ("Br-", "Cl-", "F-", "I-")
"""Negative ions that OpenMM's modeller can add."""
MOST = 3_000_000
"""Largest number of atoms in a box; a larger box would take days to set up."""
PER_VOLUME = 100.0
"""Number density of atoms in water [1/nm³]."""

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
    """Return the structure in a periodic box of water and ions, set up by OpenMM's modeller.

    Water from the modeller's equilibrated boxes fills the space around the solute. It gets the bond length and angle of
    the water model. Ions then replace some of the water molecules. The same input always gives the same box.

    Parameters
    ----------
    structure
        The structure with all its atoms, including hydrogens, and with residues that the force field knows. Its water
        and ions are kept.
    water
        Water model: ``tip3p``, ``tip3pfb``, ``spce``, ``opc3``, ``tip4pew``, ``tip4pfb``, ``opc`` or ``tip4p2005``.
    padding
        Minimum distance between the solute and its periodic images [nm]. The width of the box is the diameter of the
        bounding sphere of the solute plus this distance.
    box
        Three lengths, or an :class:`articulon.Box` [nm], instead of ``padding``.
    box_shape
        With ``padding``: ``cube``, truncated ``octahedron`` (77 % of the volume) or rhombic ``dodecahedron`` (71 %).
    ionic_strength
        Concentration of ion pairs in addition to the neutralising ions [mol/l].
    neutralise
        Whether to add ions until the box has no charge. If False, a charged structure is an error.
    positive_ion, negative_ion
        Kinds of ions: ``Cs+``, ``K+``, ``Li+``, ``Na+``, ``Rb+``; ``Br-``, ``Cl-``, ``F-``, ``I-``.
    force_field, files
        See :func:`force_field`. The force field defines the sizes of atoms and the charge of the solute.
    seed
        Seed that chooses which water molecules become ions.

    Returns
    -------
    Structure
        The given atoms in their order, then water in a chain ``W`` and ions in a chain ``I``, or in the next free
        letters.

    Raises
    ------
    ModelError
        For unknown words; if both ``padding`` and ``box`` are given, or neither; for a box in which the solute comes
        too close to its images, or that is too small for the ions; and for residues without parameters, which are
        named.
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
        raise ModelError(f"solvate, box_shape: '{box_shape}' applies to padding only; leave it out with a box")
    size = _size(structure, padding, box, box_shape)
    check_size_of(size, structure)
    known = reader(structure, force_field, water, files)
    bare = replace(structure, box=None)
    # The charge is computed before the modeller runs, because its messages would name residues by numbers from zero.
    charge = total_charge(unchecked_system(bare, force_field, solvent=water, files=files))
    if not neutralise and abs(charge) > 0.5:
        raise ModelError(
            f"solvate, neutralise: {structure.source} has a charge of {charge:+.0f} e, but a periodic box must be "
            "neutral; leave neutralise out"
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
    return with_geometry(whole_box, water, force_field, listed=False)


def check_size_of(box: Box, structure: Structure) -> None:
    """Raise ModelError for a box that would contain more atoms than can be set up."""
    atoms = box.volume * PER_VOLUME
    if atoms > MOST:
        raise ModelError(
            f"{structure.source}: a box of {shown_box(box)} would hold about {atoms:.2g} atoms, more than the limit of "
            f"{MOST}; give a smaller padding or box"
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
    """Return the box that water and ions will fill."""
    units = unit_system(UNITS)
    try:
        if padding is None:
            if isinstance(box, str | bytes):
                raise ModelError(f"solvate, box: expected three lengths or an ar.Box, got {shown(box)}")
            made = box if isinstance(box, Box) else Box(lengths=tuple(box))
            made = made.resolved(units, "solvate, box")
            if not made.periodic.all():
                raise ModelError("solvate, box: the box must be periodic in all directions to be filled with water")
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
    """Return OpenMM's modeller with the solvent added; its random choices depend only on the seed."""
    from openmm import unit

    try:
        with seeded(seed):
            modeller.addSolvent(force_field, ionicStrength=ionicStrength * unit.molar, **options)
    except IndexError:
        raise ModelError(f"{source}: the box has too little water for this many ions; give a larger one") from None
    except Exception as error:
        if type(error) is Exception and "neutralize" in str(error):
            raise ModelError(f"{source}: the box has too little water to be neutralised; give a larger one") from None
        if isinstance(error, ValueError):
            raise ModelError(f"{source}: OpenMM's modeller cannot add the solvent: {error}") from None
        raise
    return modeller


def _joined(structure: Structure, modeller: Any, box: Box, water: str) -> Structure:
    """Return the given atoms unchanged, followed by the added atoms in separate chains."""
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
