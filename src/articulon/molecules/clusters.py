"""The graph of rigid clusters and of the bonds between them that turn."""

from collections import deque
from collections.abc import Sequence

import numpy as np

from articulon.molecules.structure import Structure

ON_AXIS = 1e-3
"""Sine of the angle to an axis below which an atom counts as on it: a body of such atoms has no inertia about it."""


class ClusterGraph:
    """Clusters of atoms as a graph whose edges are the bonds that turn.

    Parameters
    ----------
    structure
        Atoms and bonds.
    turns
        Which bonds may turn, shape (bonds,). All other bonds hold their atoms in one cluster.
    """

    def __init__(self, structure: Structure, turns: np.ndarray) -> None:
        self.structure = structure
        self._root = list(range(len(structure)))
        self._forget()
        for a, b in structure.bonds[~turns].tolist():
            self.join(a, b)
        self._bonds = [(a, b) for a, b in structure.bonds[turns].tolist()]
        self._cut: set[tuple[int, int]] = set()

    @property
    def cuts(self) -> list[tuple[int, int]]:
        """The bonds that close loops, the smaller atom first."""
        return sorted(self._cut)

    def cut(self, bond: tuple[int, int]) -> None:
        """Let a bond close a loop instead of holding the tree."""
        self._cut.add((min(bond), max(bond)))
        self._forget()

    def of(self, atom: int) -> int:
        """The cluster of an atom, by one of its atoms."""
        while self._root[atom] != atom:
            self._root[atom] = self._root[self._root[atom]]
            atom = self._root[atom]
        return atom

    def join(self, a: int, b: int) -> None:
        """Make one cluster of those of two atoms."""
        a, b = self.of(a), self.of(b)
        self._root[max(a, b)] = min(a, b)
        self._forget()

    def _forget(self) -> None:
        """What was found out about the graph, once it changes."""
        self._known_edges: dict[int, list[tuple[int, tuple[int, int]]]] | None = None
        self._known_members: dict[int, list[int]] | None = None

    def bonds(self) -> list[tuple[int, int]]:
        """The bonds between different clusters that are not cut."""
        self._bonds = [(a, b) for a, b in self._bonds if self.of(a) != self.of(b)]
        return [bond for bond in self._bonds if bond not in self._cut]

    def edges(self) -> dict[int, list[tuple[int, tuple[int, int]]]]:
        """Of each cluster, the clusters across its bonds and the bonds, its own atom first."""
        if self._known_edges is not None:
            return self._known_edges
        found: dict[int, list[tuple[int, tuple[int, int]]]] = {self.of(a): [] for a in range(len(self.structure))}
        for a, b in self.bonds():
            found[self.of(a)].append((self.of(b), (a, b)))
            found[self.of(b)].append((self.of(a), (b, a)))
        self._known_edges = found
        return found

    def members(self) -> dict[int, list[int]]:
        """Atoms of each cluster."""
        if self._known_members is not None:
            return self._known_members
        found: dict[int, list[int]] = {}
        for a in range(len(self.structure)):
            found.setdefault(self.of(a), []).append(a)
        self._known_members = found
        return found

    def off_axis(self, atoms: Sequence[int], bond: tuple[int, int]) -> bool:
        """Whether any of some atoms is off the axis of a bond."""
        x = self.structure.positions
        origin, axis = x[bond[0]], x[bond[1]] - x[bond[0]]
        arms = x[list(atoms)] - origin
        lengths = np.linalg.norm(arms, axis=1) * np.linalg.norm(axis)
        return bool(np.any(np.linalg.norm(np.cross(arms, axis), axis=1) > ON_AXIS * lengths + 1e-12))

    def drop_idle(self) -> None:
        """Join the clusters between which nothing would turn: ends that lie on the axis of their only bond, and
        clusters on one line with two of their bonds, as in an alkyne, which would turn about the same axis twice."""
        changed = True
        while changed:
            changed = False
            members = self.members()
            for cluster, edges in self.edges().items():
                idle = [bond for _, bond in edges if not self.off_axis(members[cluster], bond)]
                if len(edges) == 1 and idle:
                    self.join(*idle[0])
                    changed = True
                    continue
                ends = [b for _, (_, b) in edges]
                twice = [bond for bond in idle if sum(not self.off_axis([end], bond) for end in ends) > 1]
                if twice:
                    self.join(*twice[-1])
                    changed = True

    def path(self, start: int, end: int, without: tuple[int, int] | None = None) -> list[tuple[int, int]] | None:
        """Bonds of a shortest path between two clusters, without one of them; None where there is none."""
        edges = self.edges()
        came: dict[int, tuple[int, tuple[int, int]]] = {start: (start, (-1, -1))}
        queue = deque([start])
        while queue:
            cluster = queue.popleft()
            if cluster == end:
                found = []
                while cluster != start:
                    cluster, bond = came[cluster]
                    found.append(bond)
                return found[::-1]
            for partner, bond in edges[cluster]:
                if partner not in came and without not in (bond, bond[::-1]):
                    came[partner] = (cluster, bond)
                    queue.append(partner)
        return None

    def cycle(self) -> list[tuple[int, int]] | None:
        """Bonds of one cycle, the shortest through its last bond; None where there is none."""
        edges = self.edges()
        seen: set[int] = set()
        for first in edges:
            if first in seen:
                continue
            queue = deque([(first, (-1, -1))])
            seen.add(first)
            while queue:
                cluster, came = queue.popleft()
                for partner, bond in edges[cluster]:
                    if bond in (came, came[::-1]):
                        continue
                    if partner in seen:
                        rest = self.path(self.of(bond[1]), self.of(bond[0]), without=bond)
                        assert rest is not None
                        return [bond, *rest]
                    seen.add(partner)
                    queue.append((partner, bond))
        return None

    def may_be_cut(self, bond: tuple[int, int]) -> bool:
        """Whether both of a bond's clusters could still turn about what is left to them."""
        members, edges = self.members(), self.edges()
        for end in bond:
            cluster = self.of(end)
            left = [other for _, other in edges[cluster] if set(other) != set(bond)]
            if not left or (len(left) == 1 and not self.off_axis(members[cluster], left[0])):
                return False
        return True
