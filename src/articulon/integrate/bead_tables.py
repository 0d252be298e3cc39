"""Tables of the beads of identical trees in the lanes of vector registers."""

from typing import Any, NamedTuple

import numpy as np

from articulon.integrate.rod_flights import Rods, rods_of
from articulon.lanes import WIDTH, LaneArray
from articulon.model import Forest


class Beads(NamedTuple):
    """Beads in the lanes of groups of identical trees; a row is one bead of each tree of a group.

    Lane arrays have the shape (rows, ...), with all lanes of a row as one number. If a group has fewer trees than
    lanes, the other lanes are copies of one of its trees and have no weight.
    """

    parent: np.ndarray
    """Row of each bead's parent, −1 for the ground, shape (rows,)."""
    group: np.ndarray
    """First row of each group, and the number of rows, shape (groups + 1,)."""
    rods: Rods
    """The rods of the rows; its trees are the groups, its numbers are lane vectors."""
    position: np.ndarray
    """Positions of joints on the ground [length], lanes (rows, 3)."""
    mass: np.ndarray
    """Masses of the beads, zero in lanes of no weight [mass], lanes (rows,)."""
    weight: np.ndarray
    """Weights of the lanes, one or zero, lanes (rows,)."""
    thermal: np.ndarray
    """1/√m [mass^−½], lanes (rows,)."""
    force: np.ndarray
    """Forces on the beads, lanes (rows, 3)."""
    noise: np.ndarray
    """Noise of N(0, 1/m), lanes (rows, 3)."""
    place_numbers: np.ndarray
    """``rods.place`` as plain numbers, shape (rows, 3, width)."""
    speed_numbers: np.ndarray
    """``rods.speed`` as plain numbers, shape (rows, 3, width)."""
    force_numbers: np.ndarray
    """``force`` as plain numbers, shape (rows, 3, width)."""
    noise_numbers: np.ndarray
    """``noise`` as plain numbers, shape (rows, 3, width)."""
    link: np.ndarray
    """Links of these beads, of all trees or of some, in order, shape (beads,)."""
    row: np.ndarray
    """Row of each link of the forest, −1 if its bead is not among these rows, shape (links,)."""
    lane: np.ndarray
    """Lane of each link of the forest, shape (links,)."""
    copied: np.ndarray
    """Rows and lanes of no weight, each with the link that it copies, shape (copies, 3)."""


def lanes_for(shape: tuple[int, ...]) -> Any:
    """Zeros in lanes, which kernels take for an array of the given shape."""
    return LaneArray.zeros(shape)


def beads_of(forest: Forest, some: range | None = None) -> Beads:
    """The beads of a forest that has only trees of beads (see ``rod_flights.are_beads``), of all trees or of some."""
    some = range(forest.tree.size - 1) if some is None else some
    lanes = _lanes_of_trees(forest, some)
    by_lane = [_trees(forest, trees) for trees in zip(*lanes, strict=True)]
    first = by_lane[0]
    rows, start = first.mass.size, forest.tree
    each = [rods_of(one) for one in by_lane]

    def stacked(arrays: list[np.ndarray]) -> Any:
        made = LaneArray.zeros(arrays[0].shape)
        made.numbers[:] = np.stack(arrays, axis=-1)
        return made

    weight = lanes_for((rows,))
    row, lane = np.full(forest.mass.size, -1, dtype=np.int64), np.zeros(forest.mass.size, dtype=np.int64)
    copied: list[tuple[int, int, int]] = []
    for g, trees in enumerate(lanes):
        low = int(first.tree[g])
        for k, tree in enumerate(trees):
            links = np.arange(start[tree], start[tree + 1])
            here = low + np.arange(links.size)
            if k and tree == trees[k - 1]:
                copied += [(int(r), k, int(i)) for r, i in zip(here, links, strict=True)]
                continue
            weight.numbers[here, k] = 1.0
            row[links], lane[links] = here, k
    place, speed, force, noise = (lanes_for((rows, 3)) for _ in range(4))
    empty = each[0]
    rods = empty._replace(
        length=stacked([one.length for one in each]),
        inverse_mass=stacked([one.inverse_mass for one in each]),
        factor=stacked([one.factor for one in each]),
        values=lanes_for(empty.values.shape),
        diagonal=lanes_for(empty.diagonal.shape),
        tension=lanes_for(empty.tension.shape),
        along=lanes_for(empty.along.shape),
        before=lanes_for((rows, 3)),
        place=place,
        speed=speed,
    )
    mass = stacked([one.mass for one in by_lane])
    thermal = lanes_for((rows,))
    thermal.numbers[:] = 1.0 / np.sqrt(mass.numbers)
    mass.numbers[:] *= weight.numbers
    return Beads(
        first.parent.copy(),
        first.tree.copy(),
        rods,
        stacked([one.position for one in by_lane]),
        mass,
        weight,
        thermal,
        force,
        noise,
        place.numbers,
        speed.numbers,
        force.numbers,
        noise.numbers,
        np.arange(start[some.start], start[some.stop]),
        row,
        lane,
        np.array(copied, dtype=np.int64).reshape(-1, 3),
    )


def _lanes_of_trees(forest: Forest, some: range) -> list[list[int]]:
    """Groups of lanes of identical trees. The last group of a kind is filled up with copies of its last tree."""
    kinds: dict[bytes, list[int]] = {}
    for t in some:
        a, b = int(forest.tree[t]), int(forest.tree[t + 1])
        parent = forest.parent[a:b]
        shape = np.where(parent < 0, -1, parent - a), forest.kind[a:b]
        kinds.setdefault(shape[0].tobytes() + b"|" + shape[1].tobytes(), []).append(t)
    found: list[list[int]] = []
    for trees in kinds.values():
        for k in range(0, len(trees), WIDTH):
            few = trees[k : k + WIDTH]
            found.append(few + [few[-1]] * (WIDTH - len(few)))
    return found


def _trees(forest: Forest, trees: tuple[int, ...]) -> Forest:
    """Some trees of a forest, as a forest of their own."""
    parts = [np.arange(forest.tree[t], forest.tree[t + 1]) for t in trees]
    starts = np.concatenate([[0], np.cumsum([part.size for part in parts])])
    links = np.concatenate(parts)
    moved = np.concatenate(
        [np.full(part.size, start - part[0]) for part, start in zip(parts, starts[:-1], strict=True)]
    )
    parent = forest.parent[links]
    arrays: dict[str, Any] = {
        name: np.ascontiguousarray(getattr(forest, name)[links])
        for name in Forest._fields
        if name not in ("tree", "flexible", "parent")
    }
    arrays["parent"] = np.where(parent < 0, -1, parent + moved)
    return Forest(**arrays, tree=starts.astype(np.int64))
