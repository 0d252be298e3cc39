"""Description of residues without parameters in a force field, with their differences from known residues."""

from collections import Counter
from contextlib import suppress
from typing import Any

from articulon.molecules.force_field_files import Reader, fresh
from articulon.molecules.structure import Residue, Structure

SHOWN = 20
"""Largest number of residues in a message."""
PLACEHOLDER = "without parameters"
"""Name of the empty templates that are added during the search for residues without parameters."""
CLOSE = 0.7
"""Fraction of common heavy atoms above which a message names a template as similar."""


def unmatched(reader: Reader, topology: Any) -> list[int]:
    """Return the indices of all residues that no template fits, even with patches.

    In a separate copy of the force field, an empty template is added for each of these residues, so that OpenMM
    continues with the next one.
    """
    force_field = fresh(reader.own, reader.brought)
    force_field.registerTemplateGenerator(_add_placeholder)
    # The empty templates cause an error at the end, when all residues have been visited.
    with suppress(Exception):
        force_field.createSystem(topology)
    bonded = force_field._buildBondedToAtomList(topology)
    found = []
    for residue in topology.residues():
        try:
            template, _ = force_field._getResidueTemplateMatches(residue, bonded)
        except Exception:  # several templates fit, which is reported elsewhere
            continue
        if template is not None and template.name.startswith(PLACEHOLDER):
            found.append(residue.index)
    return found


def _add_placeholder(force_field: Any, residue: Any) -> bool:
    """Add an empty template, without parameters, for a residue to a force field. Return True, which tells OpenMM that a
    template was added."""
    kind = type(force_field)
    template = kind._TemplateData(f"{PLACEHOLDER} {residue.index}")
    place = {}
    for k, atom in enumerate(residue.atoms()):
        name = f"{PLACEHOLDER} {atom.element.symbol if atom.element else 'site'}"
        if name not in force_field._atomTypes:
            known = {"element": atom.element.symbol} if atom.element else {}
            force_field.registerAtomType({"name": name, "class": name, "mass": "1", **known})
        template.addAtom(kind._TemplateAtomData(f"{atom.name} {k}", name, atom.element))
        place[atom.index] = k
    for one, other in residue.internal_bonds():
        template.addBond(place[one.index], place[other.index])
    for one, other in residue.external_bonds():
        template.addExternalBond(place[one.index if one.residue is residue else other.index])
    force_field.registerResidueTemplate(template)
    return True


def described(reader: Reader, structure: Structure, residues: list[int], name: str) -> str:
    """Return a message about residues without parameters, with one line for each."""
    templates = reader.force_field._templates
    lines = [f"{structure.source}: {_line(structure, k, templates, name)}" for k in residues[:SHOWN]]
    if len(residues) > SHOWN:
        lines.append(f"{structure.source}: and {len(residues) - SHOWN} more")
    advice = (
        "supply their parameters (force_field_files = ['file.xml']), leave residues out (leave_out = ['NAME']), or "
        "correct their atoms and bonds"
    )
    return "\n".join([f"model.force_field: {name} has no parameters for {len(residues)} residues", *lines, advice])


def _line(structure: Structure, k: int, templates: dict[str, Any], name: str) -> str:
    residue = structure.residues[k]
    nearest = _nearest(structure, residue, templates)
    if nearest is None:
        return f"{residue.label}: {name} has no template of this residue, and no similar one"
    template, differences = nearest
    known = residue.name in (template.name, template.name[1:])
    like = f"the template {template.name}" if known else f"{template.name}, the most similar template"
    if not differences:
        return f"{residue.label}: has the atoms of {template.name}, but other bonds to the next residues"
    return f"{residue.label}: differs from {like}: {'; '.join(differences)}"


def _nearest(structure: Structure, residue: Residue, templates: dict[str, Any]) -> tuple[Any, list[str]] | None:
    """Return the template with the fewest differences, and the differences. Templates with the name of the residue are
    preferred."""
    heavy = {structure.names[a] for a in range(residue.start, residue.stop) if structure.elements[a] != "H"}
    own = {residue.name, residue.standard, *(f"{end}{residue.name}" for end in "NC")} - {"", "N", "C"}
    named = [templates[word] for word in sorted(own) if word in templates]
    pool = named or [
        template
        for template in templates.values()
        if len(heavy & _heavy(template)) >= CLOSE * max(len(heavy), len(_heavy(template)), 1) and len(heavy) > 1
    ]
    found = [(template, _differences(structure, residue, template)) for template in pool]
    return min(found, key=lambda pair: (sum(part.count(",") + 1 for part in pair[1]), pair[0].name), default=None)


def _heavy(template: Any) -> set[str]:
    return {atom.name for atom in template.atoms if atom.element is not None and atom.element.symbol != "H"}


def _differences(structure: Structure, residue: Residue, template: Any) -> list[str]:
    """Return the differences of a residue from a template: heavy atoms by name, hydrogens by number."""
    inside = range(residue.start, residue.stop)
    heavy = {structure.names[a]: a for a in inside if structure.elements[a] != "H"}
    known = _heavy(template)
    found = []
    if lost := sorted(known - set(heavy)):
        found.append(f"it lacks {', '.join(lost)}")
    if extra := sorted(set(heavy) - known):
        found.append(f"it has the extra atoms {', '.join(extra)}")
    number = {atom.name: k for k, atom in enumerate(template.atoms)}
    partners: dict[str, list[str]] = {atom.name: [] for atom in template.atoms}
    for a, b in template.bonds:
        one, other = template.atoms[a], template.atoms[b]
        partners[one.name].append(other.name)
        partners[other.name].append(one.name)
    hydrogen = {atom.name for atom in template.atoms if atom.element is not None and atom.element.symbol == "H"}
    outside = Counter(template.externalBonds)
    for atom_name in sorted(set(heavy) & known):
        atom = heavy[atom_name]
        around = structure.neighbours[atom]
        have = sum(structure.elements[b] == "H" for b in around)
        expected = sum(word in hydrogen for word in partners[atom_name])
        if have != expected:
            found.append(f"{atom_name} has {have} hydrogens of {expected}")
        bonds = {structure.names[b] for b in around if b in inside and structure.elements[b] != "H"}
        wanted = {word for word in partners[atom_name] if word not in hydrogen}
        found.extend(f"{atom_name} is not bonded to {word}" for word in sorted((wanted - bonds) & set(heavy)))
        found.extend(f"{atom_name} is bonded to {word}" for word in sorted((bonds - wanted) & known))
        elsewhere = [b for b in around if b not in inside]
        if len(elsewhere) < outside[number[atom_name]]:
            found.append(f"{atom_name} is bonded to no other residue")
        elif len(elsewhere) > outside[number[atom_name]]:
            found.append(f"{atom_name} is bonded to {', '.join(structure.label(b) for b in elsewhere)}")
    return list(dict.fromkeys(found))
