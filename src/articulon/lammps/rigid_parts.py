"""Divide atoms into bodies and connect them: trees of rigid bonds, and rigid groups of atoms."""

from collections.abc import Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from articulon.declaration import nearest as nearest_word
from articulon.errors import ModelError
from articulon.inputs import shown, whole
from articulon.lammps.data_file import DataFile
from articulon.lammps.molecule_images import nearest, partners


class Group(NamedTuple):
    """Atoms that form one rigid body."""

    name: str
    atoms: np.ndarray


class Step(NamedTuple):
    """Next element of a tree: an atom at the end of a rigid bond, or a root, which is an atom or a group."""

    atom: int
    """The atom, or the first atom of the group."""
    parent: int
    """The atom at the other end of the bond, −1 for a root."""
    group: int
    """The group, −1 for a single atom."""


class Parts(NamedTuple):
    """Trees of atoms and groups, parents first, and the bonds that close rings."""

    steps: list[Step]
    rings: list[tuple[int, int]]
    """Rigid bonds that are not part of a tree; the second atom is in no group."""
    groups: list[Group]
    group_of: np.ndarray
    """Group of each atom, −1 for none, shape (atoms,)."""


def rigid_types(given: Any, data: DataFile) -> list[int]:
    """Return types of rigid bonds, given by number or label; raise ModelError for types without bonds."""
    if isinstance(given, str | int | np.integer):
        given = (given,)
    if not isinstance(given, Sequence | range | np.ndarray | set | frozenset):
        raise ModelError(f"rigid_bonds: expected types of bonds, as in [1], got {shown(given)}")
    labels, count = data.labels.get("bond", ()), data.type_counts["bond"]
    found = []
    for k, one in enumerate(given):
        where = f"rigid_bonds[{k}]"
        if isinstance(one, str):
            if one not in labels:
                raise ModelError(f"{where}: there is no bond type {shown(one)}{nearest_word(one, list(labels))}")
            number = labels.index(one) + 1
        else:
            number = whole(one, where, least=1)
        if number > count or not (data.terms["bond"].type == number).any():
            raise ModelError(f"{where}: there are no bonds of the type {shown(one)} in {data.path} (types: {count})")
        found.append(number)
    return found


def rigid_groups(given: Any, data: DataFile) -> list[Group]:
    """Return groups of atoms, given by the id of a molecule or by atom ids; raise ModelError for unknown ids, groups of
    fewer than two atoms, and atoms in two groups."""
    if isinstance(given, int | np.integer | str) or not hasattr(given, "__iter__"):
        raise ModelError(f"rigid_groups: expected a list of molecules or of lists of atoms, got {shown(given)}")
    found: list[Group] = []
    owner = np.full(len(data), -1)
    for k, one in enumerate(given):
        where = f"rigid_groups[{k}]"
        if isinstance(one, int | np.integer) and not isinstance(one, bool):
            atoms, name = np.flatnonzero(data.molecules == int(one)), f"molecule-{int(one)}"
            if not atoms.size:
                raise ModelError(f"{where}: there is no molecule {int(one)} in {data.path}")
        else:
            atoms, name = _listed(one, data, where), f"group-{k + 1}"
        if atoms.size < 2:
            raise ModelError(f"{where}: a single atom is a point, which cannot rotate; leave the group out")
        taken = atoms[owner[atoms] >= 0]
        if taken.size:
            other = found[owner[taken[0]]].name
            raise ModelError(f"{where}: atom {data.ids[taken[0]]} is already in '{other}'; use it once")
        owner[atoms] = len(found)
        found.append(Group(name, atoms))
    return found


def _listed(given: Any, data: DataFile, where: str) -> np.ndarray:
    if isinstance(given, str) or not isinstance(given, Sequence | range | np.ndarray):
        raise ModelError(f"{where}: expected the id of a molecule, or a list of ids of atoms, got {shown(given)}")
    ids = np.array([whole(one, f"{where}[{k}]", least=1) for k, one in enumerate(given)], dtype=np.int64)
    at = np.minimum(np.searchsorted(data.ids, ids), len(data) - 1)
    for k in np.flatnonzero(data.ids[at] != ids)[:1].tolist():
        raise ModelError(f"{where}[{k}]: there is no atom {ids[k]} in {data.path}")
    if np.unique(at).size != at.size:
        raise ModelError(f"{where}: an atom is listed twice")
    return np.sort(at)


def rigid_parts(data: DataFile, bonds: np.ndarray, groups: list[Group]) -> Parts:
    """Return the trees of rigid bonds (bonds, 2) and of groups; raise ModelError if rigid bonds connect two groups."""
    count = len(data)
    group_of = owners(groups, count)
    # Bonds within a group are removed, because the group is rigid anyway.
    bonds = bonds[(group_of[bonds[:, 0]] < 0) | (group_of[bonds[:, 0]] != group_of[bonds[:, 1]])]
    beside = partners(bonds, count)
    done = np.zeros(count, dtype=bool)
    steps: list[Step] = []
    rings: list[tuple[int, int]] = []
    crossed: set[tuple[int, int]] = set()

    def grow(members: list[int], step: Step) -> None:
        """Add a root atom or group, and everything attached to it, breadth first."""
        steps.append(step)
        done[members] = True
        waiting = list(members)
        for i in waiting:  # the loop body appends to this list
            for j in beside[i]:
                way = (min(i, j), max(i, j))
                if way in crossed:
                    continue
                crossed.add(way)
                if group_of[j] >= 0 and group_of[j] != step.group:
                    names = f"'{groups[step.group].name}' and '{groups[group_of[j]].name}'"
                    raise ModelError(
                        f"{data.path}: rigid bonds join the rigid groups {names}: the bond between atoms {data.ids[i]} "
                        f"and {data.ids[j]} would be a link with a spherical joint at both ends, whose spin about its "
                        "own axis has no inertia; make both one group, or the bond flexible"
                    )
                if done[j]:
                    rings.append((i, j) if group_of[j] < 0 else (j, i))
                    continue
                done[j] = True
                steps.append(Step(j, i, -1))
                waiting.append(j)

    for k, group in enumerate(groups):
        grow(group.atoms.tolist(), Step(int(group.atoms[0]), -1, k))
    # The root of a chain is an end atom. A part without ends is a ring, whose root is its first atom.
    ends = [i for i in range(count) if len(beside[i]) <= 1]
    for i in (*ends, *range(count)):
        if not done[i]:
            grow([i], Step(i, -1, -1))
    return Parts(steps, rings, groups, group_of)


def check_lengths(
    data: DataFile, x: np.ndarray, bonds: np.ndarray, lines: np.ndarray, edges: np.ndarray, periodic: np.ndarray
) -> None:
    """Raise ModelError, naming the line, for rigid bonds of zero length and for those that :func:`check_beside`
    rejects."""
    check_beside(data, x, bonds, lines, edges, periodic)
    length = np.linalg.norm(x[bonds[:, 1]] - x[bonds[:, 0]], axis=1)
    for k in np.flatnonzero(~(length > 0.0))[:1].tolist():
        raise ModelError(f"{_rigid_bond(data, bonds, lines, k)} has no length; a rod has two ends")


def check_beside(
    data: DataFile, x: np.ndarray, bonds: np.ndarray, lines: np.ndarray, edges: np.ndarray, periodic: np.ndarray
) -> None:
    """Raise ModelError, naming the line, for rigid bonds between atoms on opposite sides of the box: either their image
    flags are wrong, or a ring spans the whole box."""
    for k in through_faces(x, bonds, edges, periodic)[:1].tolist():
        where = _rigid_bond(data, bonds, lines, k)
        if data.images is None:
            raise ModelError(f"{where} closes a ring through the whole periodic box, which rigid bodies cannot form")
        raise ModelError(
            f"{where} crosses a face of the box without matching image flags; correct them, or remove them from all "
            "atoms, and molecules are made whole along their bonds"
        )


def _rigid_bond(data: DataFile, bonds: np.ndarray, lines: np.ndarray, k: int) -> str:
    i, j = bonds[k].tolist()
    return f"{data.path}, line {lines[k]}: the rigid bond between {data.where(i)} and {data.where(j)}"


def owners(groups: Sequence[Group], count: int) -> np.ndarray:
    """Return the group of each of ``count`` atoms, or −1, shape (atoms,)."""
    found = np.full(count, -1)
    for k, group in enumerate(groups):
        found[group.atoms] = k
    return found


def through_faces(x: np.ndarray, bonds: np.ndarray, edges: np.ndarray, periodic: np.ndarray) -> np.ndarray:
    """Return the indices of the bonds (n, 2) whose atoms are neighbours only through a periodic image."""
    d = x[bonds[:, 1]] - x[bonds[:, 0]]
    return np.flatnonzero(np.abs(d - nearest(d, edges, periodic)).max(axis=1, initial=0.0) > 1e-6 * np.abs(edges).max())


def on_a_line(places: np.ndarray) -> np.ndarray | None:
    """Return the direction of collinear atoms (n, 3) from the first atom to the farthest; None if an atom is off the
    line by more than a millionth of their extent."""
    arms = places - places[0]
    far = int(np.argmax((arms**2).sum(axis=1)))
    length = float(np.linalg.norm(arms[far]))
    if length == 0.0:
        return None
    direction = arms[far] / length
    beside = arms - np.outer(arms @ direction, direction)
    return direction if np.abs(beside).max() <= 1e-6 * length else None


def pairs_of(group: Group) -> list[tuple[int, int]]:
    """Return all pairs of a group's atoms."""
    atoms = group.atoms.tolist()
    return [(i, j) for k, i in enumerate(atoms) for j in atoms[k + 1 :]]


def group_chain(group: Group) -> np.ndarray:
    """Return pairs that connect the atoms of a group in sequence, shape (atoms − 1, 2)."""
    return np.array(list(pairwise(group.atoms.tolist())), dtype=np.int64).reshape(-1, 2)
