"""Graph of rigid clusters and the rotatable bonds between them."""

from collections import deque
from collections.abc import Sequence

import numpy as np

from articulon.molecules.structure import Structure

ON_AXIS = 1e-3
"""Largest sine of the angle to an axis for which an atom counts as lying on the axis. A body whose atoms all lie on the
axis has no inertia about it."""


class ClusterGraph:
    """Graph whose nodes are clusters of atoms and whose edges are rotatable bonds.

    Parameters
    ----------
    structure
        Atoms and bonds.
    turns
        Whether each bond is rotatable, shape (bonds,). All other bonds join their atoms into one cluster.
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
        """Remove a bond from the tree; it becomes a bond that closes a loop."""
        self._cut.add((min(bond), max(bond)))
        self._forget()

    def of(self, atom: int) -> int:
        """Return the cluster of an atom, represented by one of its atoms."""
        while self._root[atom] != atom:
            self._root[atom] = self._root[self._root[atom]]
            atom = self._root[atom]
        return atom

    def join(self, a: int, b: int) -> None:
        """Merge the clusters of two atoms."""
        a, b = self.of(a), self.of(b)
        self._root[max(a, b)] = min(a, b)
        self._forget()

    def _forget(self) -> None:
        """Clear cached results after a change of the graph."""
        self._known_edges: dict[int, list[tuple[int, tuple[int, int]]]] | None = None
        self._known_members: dict[int, list[int]] | None = None

    def bonds(self) -> list[tuple[int, int]]:
        """The uncut bonds between different clusters."""
        self._bonds = [(a, b) for a, b in self._bonds if self.of(a) != self.of(b)]
        return [bond for bond in self._bonds if bond not in self._cut]

    def edges(self) -> dict[int, list[tuple[int, tuple[int, int]]]]:
        """Neighbours of each cluster, one for each bond: the cluster across the bond, and the bond, with the cluster's
        own atom first."""
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
        """Return whether at least one of the atoms lies off the axis of a bond."""
        x = self.structure.positions
        origin, axis = x[bond[0]], x[bond[1]] - x[bond[0]]
        arms = x[list(atoms)] - origin
        lengths = np.linalg.norm(arms, axis=1) * np.linalg.norm(axis)
        return bool(np.any(np.linalg.norm(np.cross(arms, axis), axis=1) > ON_AXIS * lengths + 1e-12))

    def drop_idle(self) -> None:
        """Merge clusters between which a rotation has no effect.

        Such clusters are end clusters whose atoms lie on the axis of their only bond, and clusters whose atoms lie on
        one line with two of their bonds, as in an alkyne; both bonds would rotate about the same axis.
        """
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
        """Return the bonds of a shortest path between two clusters, without using one given bond; None if there is no
        path."""
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
        """Return the bonds of a cycle, the shortest cycle through its first bond; None if there is no cycle."""
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
        """Return whether both clusters of a bond can still rotate about their other bonds after the bond is cut."""
        members, edges = self.members(), self.edges()
        for end in bond:
            cluster = self.of(end)
            left = [other for _, other in edges[cluster] if set(other) != set(bond)]
            if not left or (len(left) == 1 and not self.off_axis(members[cluster], left[0])):
                return False
        return True
