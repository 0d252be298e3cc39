"""Convert structures to and from OpenMM's topologies, for its force fields and its modeller."""

import random
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from articulon.errors import ModelError
from articulon.molecules.boxes import box_of
from articulon.molecules.elements import masses
from articulon.molecules.structure import Residue, Structure
from articulon.molecules.templates import kind_and_template


def openmm_app() -> Any:
    """Return the package ``openmm.app``; raise ModelError, saying what to install, if it is missing."""
    try:
        import openmm.app as package
    except ImportError:
        raise ModelError("this needs OpenMM: pip install 'articulon[molecules]'") from None
    return package


@contextmanager
def seeded(seed: int) -> Iterator[None]:
    """Seed Python's random numbers, which OpenMM's modeller uses, within a context; restore their state afterwards."""
    before = random.getstate()
    random.seed(seed)
    try:
        yield
    finally:
        random.setstate(before)


def to_openmm(structure: Structure) -> tuple[Any, Any]:
    """Return OpenMM's topology of a structure, with atoms in the same order, and their positions as a quantity.

    Parameters
    ----------
    structure
        The structure.
    """
    import openmm
    from openmm import unit

    app = openmm_app()
    topology = app.Topology()
    chain, name, atoms = None, None, []
    for residue in structure.residues:
        if chain is None or residue.chain != name:
            chain, name = topology.addChain(residue.chain or "A"), residue.chain
        group = topology.addResidue(residue.name, chain, str(residue.number), residue.insertion)
        for k in range(residue.start, residue.stop):
            element = app.Element.getBySymbol(structure.elements[k])
            atoms.append(topology.addAtom(structure.names[k], element, group))
    for a, b in structure.bonds.tolist():
        topology.addBond(atoms[a], atoms[b])
    if structure.box is not None:
        topology.setPeriodicBoxVectors(
            unit.Quantity([openmm.Vec3(*row) for row in structure.box.vectors], unit.nanometer)
        )
    places = [openmm.Vec3(*place) for place in structure.positions.tolist()]
    return topology, unit.Quantity(places, unit.nanometer)


def from_openmm(
    topology: Any,
    positions: Any,
    source: str = "topology",
    inferred: tuple[str, ...] = (),
    *,
    sites_too: bool = True,
) -> Structure:
    """Return the structure of OpenMM's topology and positions, with its periodic box.

    Parameters
    ----------
    topology
        An ``openmm.app.Topology``.
    positions
        Positions of its atoms, as a quantity.
    source
        Name of the structure in messages.
    inferred
        Properties of the structure that were inferred so far, one line each.
    sites_too
        Whether a massless site is an error; if False, such sites are left out.
    """
    from openmm import unit

    names: list[str] = []
    elements: list[str] = []
    residues: list[Residue] = []
    kept: list[int] = []
    for group in topology.residues():
        start = len(names)
        for atom in group.atoms():
            if atom.element is None and not sites_too:
                continue
            if atom.element is None:
                raise ModelError(f"{source}: {group.name}{group.id}:{atom.name}: a massless site; leave it out")
            names.append(atom.name)
            elements.append(atom.element.symbol)
            kept.append(atom.index)
        kind, standard = kind_and_template(group.name)
        residues.append(
            Residue(
                group.name,
                int(group.id),
                group.insertionCode.strip(),
                group.chain.id,
                kind or ("ion" if len(names) - start == 1 else "ligand"),  # type: ignore[arg-type]
                standard,
                start,
                len(names),
            )
        )
    place = {index: k for k, index in enumerate(kept)}
    ends = [(place[a.index], place[b.index]) for a, b in topology.bonds() if a.index in place and b.index in place]
    pairs = sorted((min(pair), max(pair)) for pair in ends)
    places = positions.value_in_unit(unit.nanometer) if unit.is_quantity(positions) else positions
    return Structure(
        source,
        tuple(names),
        tuple(elements),
        tuple(residues),
        np.array([list(places[k]) for k in kept], dtype=float).reshape(-1, 3),
        masses(elements),
        np.array(sorted(set(pairs)), dtype=np.int64).reshape(-1, 2),
        inferred,
        box_of(vectors.value_in_unit(unit.nanometer)) if (vectors := topology.getPeriodicBoxVectors()) else None,
    )
