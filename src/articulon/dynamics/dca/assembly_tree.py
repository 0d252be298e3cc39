"""The assembly tree of the divide-and-conquer algorithm: the order in which the links of a forest are assembled.

Every tree of links is cut into *heavy paths*. A path continues from a link to the child that carries most links; every
other child is the head of another path. A path is cut into *blocks* of links, and one thread solves the links of a
block one after the other. A binary tree joins the blocks of a path. It is balanced by weight: the heavier the subtrees
on a block, the nearer the block is to the top (Sleator and Tarjan 1983). A light child with few links is part of the
block of its parent. All other subtrees that a link carries are assembled before the link. If there are several, another
balanced tree sums their loads. The depth is O(log n) for any shape: chains, combs, stars. A flexible body is in one
block with its nodes, because its modes move all of them.
"""

from typing import NamedTuple

import numpy as np

from articulon.model.forest_tables import Forest

BLOCK, JOIN, SUM = 0, 1, 2
"""Kinds of nodes: a block of links; a join of two assemblies, of which one carries the other; a sum of two loads on the
same link."""

LINKS_PER_BLOCK = 128
"""Largest number of links in a block. At this size, joins are a fifteenth of the work of a chain."""

JOIN_COST = 10
"""Work of a join, in units of the work of a link."""

PARALLEL_COST = 80
"""Work of a level [links] from which its nodes are shared out among threads. Below it, starting threads costs more than
it saves. The choice does not depend on the number of threads."""


class AssemblyTree(NamedTuple):
    """Nodes of the assembly, and the links of every block. A node is attached to its *carrier*, a link or the ground.
    Its *tip*, which is its last link on the path, may carry other nodes."""

    kind: np.ndarray
    """BLOCK, JOIN or SUM, shape (nodes,)."""
    inboard: np.ndarray
    """For a join, the node nearer to the ground; for a sum, one of the two; −1 otherwise, shape (nodes,)."""
    outboard: np.ndarray
    """For a join, the node farther from the ground; for a sum, the other; −1 otherwise, shape (nodes,)."""
    start: np.ndarray
    """First of a block's links in ``link``, shape (nodes,)."""
    end: np.ndarray
    """One past the last of a block's links in ``link``, shape (nodes,)."""
    carrier: np.ndarray
    """Link to which the node is attached, −1 for the ground, shape (nodes,)."""
    tip: np.ndarray
    """Link of the node that carries the next node of the path, −1 if there is none, shape (nodes,)."""
    whole: np.ndarray
    """1 if the node is complete, which means that its tip carries no other node and that its carrier is the ground or a
    link of another path; otherwise 0, shape (nodes,)."""
    order: np.ndarray
    """Nodes by level, from the first that can be assembled, shape (nodes,)."""
    level: np.ndarray
    """First node of every level in ``order``, and the number of nodes, shape (levels + 1,)."""
    joins: np.ndarray
    """Number of joins, shape (1,)."""
    parallel: np.ndarray
    """1 if a level is shared out among threads, shape (levels,)."""
    link: np.ndarray
    """Links block by block, parents first within a block, shape (links,)."""
    inside: np.ndarray
    """1 if the link's parent is in the same block, shape (links,)."""
    spine: np.ndarray
    """1 if the link is on the path from its block's carrier to the block's tip, shape (links,)."""
    carries: np.ndarray
    """1 if the link has children in its own block, shape (links,)."""
    first: np.ndarray
    """1 if the link is the first of its siblings in the same block to be eliminated, shape (links,)."""
    carries_load: np.ndarray
    """1 if links of a block carry loads of other nodes, shape (nodes,)."""
    load: np.ndarray
    """Node whose load the link carries in addition to its children in the same block, −1 for none, shape (links,)."""

    @property
    def depth(self) -> int:
        """Number of consecutive steps, each of O(1) work."""
        return self.parallel.size


def assembly_tree(forest: Forest, links_per_block: int = LINKS_PER_BLOCK) -> AssemblyTree:
    """Return the assembly tree of a forest, with at most ``links_per_block`` links in a block."""
    nodes = np.zeros(forest.parent.size, dtype=bool) if forest.flexible is None else forest.flexible.node >= 0
    return _Builder(forest.parent.tolist(), nodes.tolist(), links_per_block).tree()


class _Builder:
    """Builds the nodes, from the leaves of the forest to its roots."""

    def __init__(self, parent: list[int], nodes: list[bool], limit: int) -> None:
        n = len(parent)
        self.parent, self.is_node, self.limit = parent, nodes, limit
        self.size, self.children = [1] * n, [[] for _ in range(n)]  # type: list[int], list[list[int]]
        for i in range(n - 1, -1, -1):
            if parent[i] >= 0:
                self.size[parent[i]] += self.size[i]
                self.children[parent[i]].append(i)
        for children in self.children:
            children.sort(key=lambda i: (-self.size[i], i))
        self.nodes: dict[str, list[int]] = {
            name: []
            for name in ("kind", "inboard", "outboard", "start", "end", "carrier", "tip", "whole", "carries_load")
        }
        self.height: list[int] = []
        self.cost: list[int] = []
        self.link: list[int] = []
        self.inside, self.spine, self.carries, self.first = [0] * n, [0] * n, [0] * n, [0] * n
        self.load = [-1] * n

    def tree(self) -> AssemblyTree:
        roots = [i for i, p in enumerate(self.parent) if p < 0]
        self._bundles([i for i in roots if self.size[i] <= self.limit])
        roots = [i for i in roots if self.size[i] > self.limit]
        # Heads of long paths, those nearer to the ground first. Paths are assembled in reverse order, so that the
        # subtrees on a path are built before the path.
        heads, pending = [], roots[::-1]
        while pending:
            head = pending.pop()
            heads.append(head)
            for i in self._path(head):
                pending.extend(c for _, light in self._beside(i) for c in light if self.size[c] > self.limit)
        loads: dict[int, list[tuple[int, int]]] = {}
        for head in reversed(heads):
            node = self._assemble_path(head, loads)
            if self.parent[head] >= 0:
                loads.setdefault(self.parent[head], []).append((node, self.size[head]))
        order = sorted(range(len(self.height)), key=lambda node: self.height[node])
        heights = np.array([self.height[node] for node in order], dtype=np.int64)
        levels = int(heights.max(initial=-1)) + 1
        level = np.searchsorted(heights, np.arange(levels + 1)).astype(np.int64)
        cost = np.add.reduceat([self.cost[node] for node in order], level[:-1]) if levels else np.empty(0)
        tables = {**self.nodes, "order": order, "level": level, "joins": [self.nodes["kind"].count(JOIN)]}
        tables["parallel"] = (cost >= PARALLEL_COST) & (np.diff(level) > 1)
        for name in ("link", "inside", "spine", "carries", "first", "load"):
            tables[name] = getattr(self, name)
        return AssemblyTree(**{name: np.array(values, dtype=np.int64) for name, values in tables.items()})

    def _path(self, head: int) -> list[int]:
        path = [head]
        while self.children[path[-1]]:
            path.append(self.children[path[-1]][0])
        return path

    def _beside(self, i: int) -> list[tuple[int, list[int]]]:
        """Return the children of a link off the path, and those of its nodes off the path, each with the link or
        node."""
        light = self.children[i][1:]
        nodes = [c for c in light if self.is_node[c]]
        return [(i, [c for c in light if not self.is_node[c]]), *((c, self.children[c]) for c in nodes)]

    def _assemble_path(self, head: int, loads: dict[int, list[tuple[int, int]]]) -> int:
        """Make the blocks along the path from ``head`` and join them. Return the node of the whole path."""
        path = self._path(head)
        work, weight, kept = [], [], []
        for i in path:
            beside, heads = self._beside(i), []  # type: list[tuple[int, list[int]]], list[int]
            for carrier, light in beside:
                small = [c for c in light if self.size[c] <= self.limit]
                if sum(self.size[c] for c in small) > self.limit:  # too many links for the block of their carrier
                    loads.setdefault(carrier, []).extend(self._bundles(small))
                    small = []
                if carrier in loads:
                    self.load[carrier] = self._balanced(loads.pop(carrier), SUM)
                heads += small
            kept.append([carrier for carrier, _ in beside[1:]] + self._subtrees(heads))
            work.append(1 + len(kept[-1]))
            weight.append(1 + sum(self.size[c] for c in self.children[i][1:]))
        # A node of a flexible body on the path stays in the block of the body.
        units: list[list[int]] = []
        for k, i in enumerate(path):
            if self.is_node[i]:
                units[-1].append(k)
            else:
                units.append([k])
        nodes = []
        for run in _pack([sum(work[k] for k in unit) for unit in units], self.limit):
            here = [k for unit in run for k in units[unit]]
            spine = [path[k] for k in here]
            links = spine + [c for k in here for c in kept[k]]
            node = self._block(sorted(links), spine if here[-1] + 1 < len(path) else [], False)
            nodes.append((node, sum(weight[k] for k in here)))
        node = self._balanced(nodes, JOIN)
        self.nodes["whole"][node] = 1
        return node

    def _bundles(self, heads: list[int]) -> list[tuple[int, int]]:
        """Make blocks of several small subtrees each. Return each block with its number of links."""
        if not heads:
            return []
        runs = [self._subtrees([heads[k] for k in run]) for run in _pack([self.size[i] for i in heads], self.limit)]
        return [(self._block(links, [], True), len(links)) for links in runs]

    def _subtrees(self, heads: list[int]) -> list[int]:
        """All links of the given subtrees, parents first."""
        links, pending = [], list(heads)
        while pending:
            i = pending.pop()
            links.append(i)
            pending.extend(self.children[i])
        return sorted(links)

    def _node(self, kind: int, height: int, cost: int, **values: int) -> int:
        for name, column in self.nodes.items():
            column.append(kind if name == "kind" else values.get(name, -1))
        self.height.append(height)
        self.cost.append(cost)
        return len(self.height) - 1

    def _block(self, links: list[int], spine: list[int], whole: bool) -> int:
        members, start = set(links), len(self.link)
        self.link += links
        for i in spine:
            self.spine[i] = 1
        for i in reversed(links):  # children before parents, as in the elimination
            p = self.parent[i]
            if p in members:
                self.inside[i] = 1
                self.first[i] = 1 - self.carries[p]
                self.carries[p] = 1
        heights = [self.height[self.load[i]] for i in links if self.load[i] >= 0]
        return self._node(
            BLOCK,
            1 + max(heights, default=-1),
            len(links),
            start=start,
            end=len(self.link),
            carrier=self.parent[links[0]],
            tip=spine[-1] if spine else -1,
            whole=int(whole),
            carries_load=int(bool(heights)),
        )

    def _balanced(self, parts: list[tuple[int, int]], kind: int) -> int:
        """Combine several nodes in a row, each with its weight, into one. They are split again and again at the middle
        of the weight."""
        ends = np.cumsum([weight for _, weight in parts])
        # Ranges (left end, right end) that must still be split or, when both halves exist, be combined.
        pending, done = [(0, len(parts), False)], []  # type: list[tuple[int, int, bool]], list[int]
        while pending:
            left, right, ready = pending.pop()
            if right - left == 1:
                done.append(parts[left][0])
            elif ready:
                b, a = done.pop(), done.pop()
                height = 1 + max(self.height[a], self.height[b])
                carrier, tip = self.nodes["carrier"][a], self.nodes["tip"][b]
                done.append(
                    self._node(
                        kind,
                        height,
                        JOIN_COST,
                        inboard=a,
                        outboard=b,
                        carrier=carrier,
                        tip=tip,
                        whole=0,
                        carries_load=0,
                    )
                )
            else:
                before = int(ends[left - 1]) if left else 0
                middle = before + (int(ends[right - 1]) - before) / 2
                cut = int(np.searchsorted(ends[left:right], middle)) + left
                # The part that contains the middle goes to the half that is lighter without this part.
                cut += int(ends[cut] - middle < middle - (int(ends[cut - 1]) if cut > left else before))
                cut = min(max(cut, left + 1), right - 1)
                pending += [(left, right, True), (cut, right, False), (left, cut, False)]
        return done[0]


def _pack(sizes: list[int], limit: int) -> list[range]:
    """Divide the sizes into consecutive ranges with nearly equal totals. Each total is at most ``limit``, unless a
    single size exceeds it."""
    total = sum(sizes)
    goal = total / max(1, -(-total // limit))
    runs, begin, held = [], 0, 0
    for k, size in enumerate(sizes):
        if k > begin and (held >= goal or held + size > limit):
            runs.append(range(begin, k))
            begin, held = k, 0
        held += size
    runs.append(range(begin, len(sizes)))
    return runs
