"""Detection of missing terms in a user's force field. OpenMM silently skips bonds, angles and torsions of unknown
types."""

from collections.abc import Iterable, Iterator
from typing import Any
from xml.etree import ElementTree

from articulon.errors import ModelError
from articulon.molecules.force_field_files import Reader
from articulon.molecules.structure import Structure

SHOWN = 20
"""Largest number of terms in a message."""


class Captured:
    """A force generator for OpenMM that adds no force, but stores OpenMM's data on the atoms."""

    def __init__(self) -> None:
        self.data: Any = None

    def createForce(self, system: Any, data: Any, *_: Any) -> None:
        """Store the data; OpenMM calls this method."""
        self.data = data


def check_terms(reader: Reader, captured: Captured, structure: Structure, name: str) -> None:
    """Raise ModelError, naming the atoms, for each charge, bond, angle and torsion without parameters.

    Only residues that the user's files describe are checked.

    Parameters
    ----------
    reader
        The force field for which a system was made or attempted.
    captured
        OpenMM's data on the atoms.
    structure
        The atoms.
    name
        Name of the force field in messages.
    """
    if captured.data is None or not reader.brought:
        return
    terms = _Terms(reader, captured.data, structure)
    lines = [*terms.nonbonded(), *terms.bonded()]
    if not lines:
        return
    shown = [f"{structure.source}: {line}" for line in lines[:SHOWN]]
    if len(lines) > SHOWN:
        shown.append(f"{structure.source}: and {len(lines) - SHOWN} more")
    raise ModelError(
        "\n".join(
            [
                f"model.force_field: {name} with the given files lacks {len(lines)} terms",
                *shown,
                "add them to a file of force_field_files: OpenMM would treat missing terms as zero",
            ]
        )
    )


class _Terms:
    """Terms of the atoms that a user's files describe."""

    def __init__(self, reader: Reader, data: Any, structure: Structure) -> None:
        self.force_field, self.data, self.structure = reader.force_field, data, structure
        self.types = [data.atomType.get(atom) for atom in data.atoms]
        self.place = _places(data, structure)
        brought = {one.get("name") for text in reader.brought for one in ElementTree.fromstring(text).iter("Residue")}
        self.asked: set[int] = set()
        for residue in dict.fromkeys(atom.residue for atom in data.atoms):
            template, _ = self.force_field._getResidueTemplateMatches(residue, data.bondedToAtom)
            if template is not None and template.name in brought:
                self.asked.update(atom.index for atom in residue.atoms())

    def nonbonded(self) -> Iterator[str]:
        """Yield a line for each atom whose type has no Lennard-Jones parameters."""
        found = _generators(self.force_field, "NonbondedGenerator")
        known = {kind for one in found for kind in one.params.paramsForType}
        for k in sorted(self.asked) if found else ():
            if self.types[k] not in known:
                yield f"{self._atoms((k,))}: no charge and no Lennard-Jones parameters of the type {self.types[k]}"

    def bonded(self) -> Iterator[str]:
        """Yield a line for each bond, angle and torsion without parameters."""
        data = self.data
        given: list[tuple[str, list[tuple[Any, ...]], Iterator[tuple[int, ...]]]] = [
            (
                "bond",
                _rows(_generators(self.force_field, "HarmonicBondGenerator"), 2),
                ((bond.atom1, bond.atom2) for bond in data.bonds if not bond.isConstrained),
            ),
            (
                "angle",
                _rows(_generators(self.force_field, "HarmonicAngleGenerator"), 3),
                (three for three, held in zip(data.angles, data.isAngleConstrained, strict=True) if not held),
            ),
            (
                "torsion",
                [
                    (one.types1, one.types2, one.types3, one.types4)
                    for kind in ("PeriodicTorsionGenerator", "RBTorsionGenerator")
                    for generator in _generators(self.force_field, kind)
                    for one in generator.proper
                ],
                iter(data.propers),
            ),
        ]
        for what, rows, groups in given:
            known: dict[tuple[Any, ...], bool] = {}
            for atoms in groups:
                if not rows or self.asked.isdisjoint(atoms):
                    continue
                kinds = tuple(self.types[k] for k in atoms)
                if kinds not in known:
                    known[kinds] = any(_is(row, way) for row in rows for way in (kinds, kinds[::-1]))
                if not known[kinds]:
                    yield f"{self._atoms(atoms)}: no {what} of the types {', '.join(map(str, kinds))}"

    def _atoms(self, indices: Iterable[int]) -> str:
        return ", ".join(self.structure.label(self.place[k]) for k in indices)


def _rows(generators: list[Any], count: int) -> list[tuple[Any, ...]]:
    """Return the atom types of each row of parameters in OpenMM's generators of one kind of force."""
    keys = [f"types{k + 1}" for k in range(count)]
    return [row for one in generators for row in zip(*(getattr(one, key) for key in keys), strict=True)]


def _is(row: tuple[Any, ...], types: tuple[Any, ...]) -> bool:
    return all(kind in allowed for kind, allowed in zip(types, row, strict=True))


def _places(data: Any, structure: Structure) -> list[int]:
    """Return the structure's atom for each of OpenMM's atoms; −1 for massless sites, which are not atoms of a
    structure."""
    if len(data.atoms) == len(structure):
        return list(range(len(structure)))
    found, k = [], 0
    for atom in data.atoms:
        found.append(k if atom.element is not None else -1)
        k += atom.element is not None
    return found


def _generators(force_field: Any, kind: str) -> list[Any]:
    return [one for one in force_field.getGenerators() if type(one).__name__ == kind]
