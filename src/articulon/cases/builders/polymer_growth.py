"""Growth of chains at the density of a melt, as self-avoiding random walks, followed by a soft push-off.

Beads are added to all chains in parallel. Several random directions are tried for each new bead, and the one with the
largest distance to the nearest bead is used. A soft repulsion removes remaining overlaps while bonds keep their lengths
(a fast push-off: Auhl et al., J. Chem. Phys. 119, 12718, 2003). Rings are closed walks, made from regular polygons by
crankshaft rotations, which preserve every bond length.
"""

from typing import NamedTuple

import numpy as np

from articulon.errors import ModelError

DIRECTIONS = 24
"""Number of random directions tried for a new bead."""
TURNS = 20
"""Number of crankshaft rotations per bead of a ring."""
PUSHES, SWEEPS, RELIST = 4000, 6, 8
"""Maximum number of pushes, number of sweeps of bond corrections after each push, and number of pushes between two
neighbour lists."""
REACH = 0.4
"""Extra range of the neighbour list beyond the requested distance, relative to that distance."""
STRENGTH = 0.4
"""Fraction of an overlap that one push removes."""
CLOSING_SWEEPS, CLOSED = 100_000, 1e-13
"""Maximum number of sweeps that correct the bonds of rings, and the relative error of bond lengths at which they
end."""
ENOUGH = 0.95
"""Fraction of the requested distance at which beads count as far enough apart."""


class Skeleton(NamedTuple):
    """Connectivity of molecules before positions are assigned; beads are stored molecule after molecule."""

    molecule: np.ndarray
    """Molecule of each bead, shape (beads,)."""
    parent: np.ndarray
    """For each bead, the bead with a smaller number to which it is bonded, or −1 for the first bead of a molecule,
    shape (beads,)."""
    closing: np.ndarray
    """Bonds that close rings, last bead and first bead, shape (rings, 2)."""

    @property
    def bonds(self) -> np.ndarray:
        """All bonds, smaller number first, shape (bonds, 2)."""
        child = np.flatnonzero(self.parent >= 0)
        return np.vstack([np.stack([self.parent[child], child], axis=1), self.closing[:, ::-1]])


def grown(
    skeleton: Skeleton, bond: float, distance: float, edges: np.ndarray | None, volume: np.ndarray, seed: int
) -> np.ndarray:
    """Grow the molecules, and return the unwrapped positions of the beads [length], shape (beads, 3).

    Parameters
    ----------
    skeleton
        Connectivity of the beads.
    bond
        Length of all bonds [length].
    distance
        Minimum distance of beads that are not bonded [length].
    edges
        Edges of the periodic box [length], shape (3,); None without a box.
    volume
        Edges of the region in which chains begin [length], shape (3,).
    seed
        Seed of the random numbers.

    Raises
    ------
    ModelError
        If beads stay closer than ``distance``; the message names the molecule.
    """
    rng = np.random.Generator(np.random.PCG64([seed, 7]))
    x = _walked(skeleton, bond, edges, volume, rng)
    if skeleton.closing.size:
        _close_rings(x, skeleton, bond, volume, rng)
    return _pushed(x, skeleton, bond, distance, edges)


def _walked(
    skeleton: Skeleton, bond: float, edges: np.ndarray | None, volume: np.ndarray, rng: np.random.Generator
) -> np.ndarray:
    """Grow all molecules in parallel, bead by bead."""
    from scipy.spatial import cKDTree

    parent = skeleton.parent
    first = np.flatnonzero(parent < 0)
    rank = np.arange(parent.size) - first[skeleton.molecule]
    x = np.full((parent.size, 3), np.nan)
    x[first] = rng.uniform(size=(first.size, 3)) * volume
    done = first
    for step in range(1, int(rank.max(initial=0)) + 1):
        new = np.flatnonzero(rank == step)
        ways = rng.standard_normal((new.size, DIRECTIONS, 3))
        ways *= bond / np.linalg.norm(ways, axis=2, keepdims=True)
        tried = x[parent[new], None] + ways
        if edges is None:
            near, _ = cKDTree(x[done]).query(tried)
        else:
            near, _ = cKDTree(x[done] % edges, boxsize=edges).query(tried % edges)
        x[new] = tried[np.arange(new.size), np.argmax(near, axis=1)]
        done = np.concatenate([done, new])
    return x


def _close_rings(x: np.ndarray, skeleton: Skeleton, bond: float, volume: np.ndarray, rng: np.random.Generator) -> None:
    """Replace the open walks of rings by random closed walks."""
    for last, first in skeleton.closing.tolist():
        n = last - first + 1
        angle = 2.0 * np.pi * np.arange(n) / n
        radius = 0.5 * bond / np.sin(np.pi / n)
        ring = radius * np.stack([np.cos(angle), np.sin(angle), np.zeros(n)], axis=1)
        for _ in range(TURNS * n if n > 3 else 0):
            i, j = sorted(rng.choice(n, size=2, replace=False).tolist())
            if 2 <= j - i <= n - 2:
                ring[i + 1 : j] = _turned(ring[i + 1 : j], ring[i], ring[j], float(rng.uniform(0.0, 2.0 * np.pi)))
        x[first : last + 1] = ring - ring[0] + rng.uniform(size=3) * volume


def _turned(x: np.ndarray, a: np.ndarray, b: np.ndarray, angle: float) -> np.ndarray:
    """Return positions rotated about the line from a to b; they are unchanged if a and b coincide."""
    size = float(np.linalg.norm(b - a))
    if size < 1e-9:
        return x
    n = (b - a) / size
    r = x - a
    along = (r @ n)[:, None] * n
    return np.asarray(a + along + np.cos(angle) * (r - along) + np.sin(angle) * np.cross(n, r))


def _pushed(x: np.ndarray, skeleton: Skeleton, bond: float, distance: float, edges: np.ndarray | None) -> np.ndarray:
    """Return positions pushed apart until beads that are not bonded are far enough from each other."""
    bonds = skeleton.bonds
    colours = _coloured(bonds)
    bonded = set(map(tuple, np.sort(bonds, axis=1).tolist()))
    pairs = np.zeros((0, 2), dtype=np.int64)
    for push in range(PUSHES):
        if push % RELIST == 0:
            pairs = _pairs(x, distance * (1.0 + REACH), edges, bonded)
        d = x[pairs[:, 1]] - x[pairs[:, 0]]
        if edges is not None:
            d -= edges * np.rint(d / edges)
        r = np.linalg.norm(d, axis=1)
        if not (r < ENOUGH * distance).any():
            if push % RELIST == 0:
                return _exact(x, skeleton, bond) if not skeleton.closing.size else _closed(x, colours, bond)
            pairs = _pairs(x, distance * (1.0 + REACH), edges, bonded)
            continue
        close = r < distance
        i, j, gap = pairs[close, 0], pairs[close, 1], distance - r[close]
        way = np.where(r[close, None] > 1e-9 * distance, d[close] / np.maximum(r[close, None], 1e-300), (1.0, 0.0, 0.0))
        moved = 0.5 * STRENGTH * gap[:, None] * way
        np.add.at(x, j, moved)
        np.add.at(x, i, -moved)
        for _ in range(SWEEPS):
            _correct(x, colours, bond)
    worst = int(np.argmin(r))
    a, b = (int(skeleton.molecule[k]) + 1 for k in pairs[worst])
    raise ModelError(
        f"model: no space is found for the beads of chain {a}: one is {r[worst]:.3g} from a bead of chain {b}, closer "
        f"than the bead_distance of {distance:g}; lower model.number_density or model.bead_distance"
    )


def _pairs(x: np.ndarray, reach: float, edges: np.ndarray | None, bonded: set[tuple[int, int]]) -> np.ndarray:
    """Pairs of beads closer than a distance that are not bonded, shape (pairs, 2)."""
    from scipy.spatial import cKDTree

    tree = cKDTree(x) if edges is None else cKDTree(x % edges, boxsize=edges)
    found = tree.query_pairs(reach, output_type="ndarray")
    if not bonded or not found.size:
        return np.asarray(found).reshape(-1, 2)
    n = len(x)
    known = np.array([a * n + b for a, b in bonded])
    return np.asarray(found[~np.isin(found[:, 0] * n + found[:, 1], known)])


def _coloured(bonds: np.ndarray) -> list[np.ndarray]:
    """Group the bonds so that no two bonds of a group share a bead."""
    used: dict[int, set[int]] = {}
    groups: list[list[tuple[int, int]]] = []
    for a, b in bonds.tolist():
        taken = used.setdefault(a, set()) | used.setdefault(b, set())
        colour = next(k for k in range(len(taken) + 1) if k not in taken)
        used[a].add(colour)
        used[b].add(colour)
        if colour == len(groups):
            groups.append([])
        groups[colour].append((a, b))
    return [np.array(group) for group in groups]


def _correct(x: np.ndarray, colours: list[np.ndarray], bond: float) -> None:
    """Set every bond to its length, group by group. Later groups partly undo the correction of neighbouring bonds."""
    for group in colours:
        a, b = group[:, 0], group[:, 1]
        d = x[b] - x[a]
        r = np.maximum(np.linalg.norm(d, axis=1), 1e-9 * bond)[:, None]
        shift = 0.5 * (1.0 - bond / r) * d
        x[a] += shift
        x[b] -= shift


def _closed(x: np.ndarray, colours: list[np.ndarray], bond: float) -> np.ndarray:
    """Correct the bonds of rings until their lengths are exact to rounding."""
    bonds = np.vstack(colours)
    for sweep in range(CLOSING_SWEEPS):
        _correct(x, colours, bond)
        if sweep % 50 == 0:
            length = np.linalg.norm(x[bonds[:, 1]] - x[bonds[:, 0]], axis=1)
            if np.abs(length / bond - 1.0).max() < CLOSED:
                return x
    raise ModelError(
        "model: no rings of these bonds are found in which the beads keep their distance; lower "
        "model.number_density or model.bead_distance"
    )


def _exact(x: np.ndarray, skeleton: Skeleton, bond: float) -> np.ndarray:
    """Rebuild the molecules, bead by bead from the first one, with exact bond lengths."""
    parent = skeleton.parent
    result, rank = x.copy(), np.arange(parent.size) - np.flatnonzero(parent < 0)[skeleton.molecule]
    for step in range(1, int(rank.max(initial=0)) + 1):
        new = np.flatnonzero(rank == step)
        d = x[new] - x[parent[new]]
        result[new] = result[parent[new]] + bond * d / np.linalg.norm(d, axis=1, keepdims=True)
    return result
