"""Derivation of a tree of rigid clusters that are connected by torsions, from bonds and a requested resolution."""

import math
from collections.abc import Sequence
from typing import Literal

import numpy as np

from articulon.errors import ModelError
from articulon.inputs import word, words
from articulon.molecules.articulation import LEVELS, Articulation, Level
from articulon.molecules.clusters import ClusterGraph
from articulon.molecules.domains import domain_atoms
from articulon.molecules.locked_parts import Locked, locked_parts
from articulon.molecules.polymer_parts import backbone, side_chain
from articulon.molecules.rigidity import rigidity
from articulon.molecules.ring_loops import close_disulfides, close_domains, disulfides_of, refuse_rings
from articulon.molecules.structure import Structure, check_structure
from articulon.molecules.torsion_names import torsion_of

NO_OMEGA = {
    "side-chains": "peptide bonds are part of the rigid backbone",
    "residue": "the spherical joint between two residues also rotates about their peptide bond",
}
"""Levels that determine whether peptide bonds rotate, each with the reason."""
ON_LINE = 1e-4
"""Largest distance from a line for which an atom counts as lying on the line [nm]."""
HEAVY_SHARE = 0.25
"""Fraction of the mass of a molecule above which a cluster becomes its root. Without such a cluster, the root is the
middle of the tree, which keeps the tree shallow."""


def perceive(
    structure: Structure,
    *,
    level: Level = "all-atom-torsion",
    omega: Literal["rigid", "free"] = "rigid",
    disulfides: Literal["loops", "welds"] = "loops",
    domains: Sequence[str] = (),
    rings: Literal["refuse", "rigid", "loops"] = "refuse",
    locked: Sequence[str] = (),
) -> Articulation:
    """Divide a structure into rigid clusters with torsions between them.

    Rings of at most eight atoms, double bonds and conjugated bonds are rigid. Every other single bond is a torsion if
    its rotation moves an atom. A molecule is one tree, with its root on a free joint. A single ion can only translate.

    Parameters
    ----------
    structure
        Structure from :func:`read_structure`.
    level
        ``all-atom-torsion``: all torsions; ``side-chains``: the backbone is rigid; ``rigid-side-chains``: the backbone
        moves, and each side chain is rigid together with its backbone atoms; ``residue``: residues are rigid, and
        connected by spherical joints at the bonds between them; ``domain``: ``domains`` are rigid, with all torsions
        elsewhere.
    omega
        Whether peptide bonds rotate. The levels ``side-chains`` and ``residue`` determine this themselves.
    disulfides
        ``loops``: the three torsions of a disulfide bridge rotate, and a loop constraint closes the bridge; ``welds``:
        the bridge is rigid.
    domains
        For the level ``domain``: chains and ranges of residue numbers, such as ``"A:1-29,60-117"``. Residues between
        two domains belong to neither. Domains without residues between them are connected by a peptide bond.
    rings
        Treatment of rings of more than eight atoms (without disulfides), which must be cut to give a tree: reject them,
        make them rigid, or close them by a loop constraint.
    locked
        Parts without torsions, given by the words of :func:`locked_bodies`, such as ``"side-chains"``, ``"A:10-20"`` or
        ``"residue LIG"``. They are welded, so they cost no computing time.

    Raises
    ------
    ModelError
        For an unknown word, or a word that selects nothing; for a ring that must be cut, for invalid domains, and for a
        linear molecule. The message names the residues.
    """
    check_structure(structure, "perceive")
    for name, value, choices in (
        ("level", level, LEVELS),
        ("omega", omega, ("rigid", "free")),
        ("disulfides", disulfides, ("loops", "welds")),
        ("rings", rings, ("refuse", "rigid", "loops")),
    ):
        word(value, choices, f"perceive, {name}")
    domains = words(domains, "perceive, domains")
    if (level == "domain") != bool(domains):
        raise ModelError("domains: the level 'domain' needs a list of domains, and no other level accepts one")
    if omega == "free" and level in NO_OMEGA:
        raise ModelError(
            f"perceive, omega: 'free' has no effect at the level '{level}': {NO_OMEGA[level]}; leave it out"
        )
    parts = locked_parts(structure, words(locked, "perceive, locked"), "perceive, locked")
    known = rigidity(structure, omega)
    inferred = [*structure.inferred, *known.inferred]
    turns = known.turns.copy()
    pieces = domain_atoms(structure, domains)
    bridges = disulfides_of(structure)
    turns = _at_level(structure, level, turns, bridges if disulfides == "loops" else [])
    if disulfides == "welds":
        turns &= ~_of_bridges(structure, bridges)
    turns &= ~_held(structure, parts, turns, level)
    pieces += [list(atoms) for part in parts for atoms in part.rigid]
    names = (*domains, *(part.word for part in parts for _ in part.rigid))
    graph = ClusterGraph(structure, turns)
    for atoms in pieces:
        for a in atoms[1:]:
            graph.join(atoms[0], a)
    if level != "residue":
        graph.drop_idle()
    close_disulfides(graph, bridges, level, inferred)
    close_domains(graph, names, pieces, inferred)
    refuse_rings(graph, rings, inferred)
    return _tree(graph, level, inferred)


def _at_level(structure: Structure, level: Level, turns: np.ndarray, bridges: list[tuple[int, int]]) -> np.ndarray:
    """Return which of the rotatable bonds rotate at a level."""
    ends = structure.bonds
    if level == "side-chains":
        return turns & ~backbone(structure)
    if level == "rigid-side-chains":
        return turns & ~(side_chain(structure) & ~_of_bridges(structure, bridges, reach=2))
    if level == "residue":
        return structure.residue[ends[:, 0]] != structure.residue[ends[:, 1]]
    return turns


def _of_bridges(structure: Structure, bridges: list[tuple[int, int]], reach: int = 1) -> np.ndarray:
    """Return the bonds of disulfides: bonds of the sulfur atoms and, with a reach of 2, bonds of their neighbours."""
    atoms = {sulfur for bridge in bridges for sulfur in bridge}
    for _ in range(reach - 1):
        atoms |= {b for a in atoms for b in structure.neighbours[a]}
    heavy = np.array([symbol != "H" for symbol in structure.elements])
    of = np.isin(structure.bonds, sorted(atoms)).any(axis=1)
    return np.asarray(of & heavy[structure.bonds].all(axis=1))


def _held(structure: Structure, parts: Sequence[Locked], turns: np.ndarray, level: Level) -> np.ndarray:
    """Return the locked bonds; raise ModelError for a word that locks no bond."""
    held = np.zeros(len(turns), dtype=bool)
    for part in parts:
        here = part.bonds & turns
        if not here.any():
            raise ModelError(
                f"perceive, locked: '{part.word}': selects no torsion at the level '{level}'; leave it out"
            )
        held |= here
    return held


def _tree(graph: ClusterGraph, level: Level, inferred: list[str]) -> Articulation:
    """Return the clusters in depth-first order from the root of each molecule."""
    structure, members, edges = graph.structure, graph.members(), graph.edges()
    number: dict[int, int] = {}
    parents: list[int] = []
    joints: list[str] = []
    axes: list[tuple[int, int]] = []
    for seed in sorted(members, key=lambda c: members[c][0]):
        if seed in number:
            continue
        tree = _reach(edges, seed)
        root = _root(structure, members, edges, tree)
        stack: list[tuple[int, int, tuple[int, int]]] = [(root, -1, (-1, -1))]
        while stack:
            cluster, parent, axis = stack.pop()
            number[cluster] = len(parents)
            parents.append(parent)
            axes.append(axis)
            if parent >= 0:
                joints.append("spherical" if level == "residue" else "revolute")
            else:
                joints.append("xyz" if len(members[cluster]) == 1 and len(tree) == 1 else "free")
            below = [(to, number[cluster], bond) for to, bond in edges[cluster] if to not in number]
            stack.extend(sorted(below, key=lambda item: item[2], reverse=True))
        _refuse_lines(structure, members[root], len(tree))
    home = np.array([number[graph.of(a)] for a in range(len(structure))], dtype=np.int64)
    torsions = tuple(
        torsion_of(structure, *axes[k], parents[k], k) for k in range(len(parents)) if joints[k] == "revolute"
    )
    loops = tuple(torsion_of(structure, a, b, int(home[a]), int(home[b])) for a, b in graph.cuts if home[a] != home[b])
    return Articulation(
        level,
        home,
        np.array(parents, dtype=np.int64),
        tuple(joints),
        np.array(axes, dtype=np.int64).reshape(-1, 2),
        torsions,
        loops,
        tuple(inferred),
    )


def _reach(edges: dict[int, list[tuple[int, tuple[int, int]]]], seed: int) -> list[int]:
    """Return all clusters of a tree, breadth first from the cluster ``seed``."""
    found, seen = [seed], {seed}
    for cluster in found:
        for partner, _ in edges[cluster]:
            if partner not in seen:
                seen.add(partner)
                found.append(partner)
    return found


def _root(
    structure: Structure,
    members: dict[int, list[int]],
    edges: dict[int, list[tuple[int, tuple[int, int]]]],
    tree: list[int],
) -> int:
    """Return a cluster with a large share of the mass, or, if there is none, the middle of the longest path."""
    mass = {cluster: structure.masses[members[cluster]].sum() for cluster in tree}
    heaviest = max(tree, key=lambda cluster: (mass[cluster], -cluster))
    if mass[heaviest] > HEAVY_SHARE * sum(mass.values()):
        return heaviest
    one = _reach(edges, tree[0])[-1]
    order = _reach(edges, one)
    came = {one: one}
    for cluster in order:
        for partner, _ in edges[cluster]:
            came.setdefault(partner, cluster)
    path = [order[-1]]
    while path[-1] != one:
        path.append(came[path[-1]])
    # The root must have several atoms, so that the body on the free joint has rotational inertia.
    middle = sorted(range(len(path)), key=lambda k: (abs(2 * k - len(path)), k))
    return next((path[k] for k in middle if len(members[path[k]]) > 2), path[middle[0]])


def _refuse_lines(structure: Structure, atoms: list[int], clusters: int) -> None:
    """Raise ModelError for a molecule of collinear atoms, which has no inertia about its line."""
    if clusters > 1 or len(atoms) == 1:
        return
    if _on_one_line(structure.positions[atoms].tolist()):
        raise ModelError(
            f"{structure.source}: {structure.residues[structure.residue[atoms[0]]].label}: its atoms lie on one line, "
            "and have no inertia about it; leave it out, or build it by hand"
        )


def _on_one_line(x: list[list[float]]) -> bool:
    """Whether all positions lie within 1e-4 nm of a line through two of them."""
    first = x[0]
    arms = [[c - o for c, o in zip(place, first, strict=True)] for place in x[1:]]
    along = max(arms, key=lambda arm: sum(c * c for c in arm))
    length = math.hypot(*along)
    return length == 0.0 or all(math.hypot(*_cross(arm, along)) < ON_LINE * length for arm in arms)


def _cross(a: list[float], b: list[float]) -> tuple[float, float, float]:
    return a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]
