"""Trees of beads on rods: point masses connected by swing joints."""

from collections.abc import Sequence

import numpy as np

from articulon.building import ModelBuilder
from articulon.cases.builders.polymer_growth import Skeleton
from articulon.model.array_rotations import quaternion_product
from articulon.model.joints import Joint, Spherical, Xyz
from articulon.model.joints.swing import Swing

INVERSE = np.array([1.0, -1.0, -1.0, -1.0])


def add_rod_chains(
    builder: ModelBuilder, skeleton: Skeleton, places: np.ndarray, masses: np.ndarray, kinds: Sequence[str]
) -> np.ndarray:
    """Add beads on rods to a builder: a body and a site for each bead.

    The first bead of a molecule moves freely. A rod connects every other bead to the bead to which it is bonded. The
    length of the rod is the initial distance of the two beads. A ring is cut at the first bead, which is split into two
    halves at the same position. A rod connects the last bead to the second half, and a loop constraint holds the two
    halves together.

    Parameters
    ----------
    builder
        Builder that receives the sites and bodies. Bodies are named by the numbers of molecule and bead, counted from
        1, such as ``"3:16"``.
    skeleton
        Connectivity of the beads.
    places
        Positions of the beads [length], shape (beads, 3).
    masses
        Masses of the beads [mass], shape (beads,).
    kinds
        Kinds of the sites, one for each bead.

    Returns
    -------
    numpy.ndarray
        The body of each bead, shape (beads,).
    """
    n, parent = len(places), skeleton.parent
    first = np.flatnonzero(parent < 0)
    rank = np.arange(n) - first[skeleton.molecule]
    masses = masses.copy()
    halves = 0.5 * masses[skeleton.closing[:, 1]]
    masses[skeleton.closing[:, 1]] = halves
    swings = parent >= 0
    rods = np.where(swings[:, None], places - places[parent], 0.0)
    length = np.linalg.norm(rods, axis=1)
    frames = _frames(rods, length, parent, rank)
    own = frames.copy()
    own[swings] = quaternion_product(frames[parent[swings]] * INVERSE, frames[swings])
    start = builder.body_count
    position = np.zeros((n, 3))
    position[swings, 2] = length[parent[swings]]
    joints: list[Joint] = [Swing() if swing else Xyz() for swing in swings.tolist()]
    q = np.concatenate([own[k] if swings[k] else places[k] for k in range(n)])
    names = [f"{molecule + 1}:{bead + 1}" for molecule, bead in zip(skeleton.molecule, rank, strict=True)]
    com = np.stack([np.zeros(n), np.zeros(n), length], axis=1)
    parents = np.where(swings, start + parent, -1)
    bodies = np.array(
        builder.add_bodies(n, mass=masses, joint=joints, parents=parents, com=com, position=position, q=q, names=names)
    )
    builder.add_sites(bodies, positions=com, kind=list(kinds))
    for (last, head), mass in zip(skeleton.closing.tolist(), halves.tolist(), strict=True):
        rod = places[head] - places[last]
        size = float(np.linalg.norm(rod))
        frame = _turned(frames[last][None], (rod / size)[None])
        name = f"{skeleton.molecule[last] + 1}:closing"
        builder.add_body(
            name,
            parent=names[last],
            mass=mass,
            joint=Swing(),
            com=(0.0, 0.0, size),
            position=(0.0, 0.0, length[last]),
            q=quaternion_product((frames[last] * INVERSE)[None], frame)[0],
        )
        at = {"child_position": (0.0, 0.0, size)}
        ring = f"ring {skeleton.molecule[last] + 1}"
        builder.add_loop(ring, joint=Spherical(), parent=names[head], child=name, **at)
    return bodies


def _frames(rods: np.ndarray, length: np.ndarray, parent: np.ndarray, rank: np.ndarray) -> np.ndarray:
    """Return the world orientations of frames with z along the rods, as Euler parameters, shape (beads, 4). Each frame
    is the frame of the parent rotated by the smallest possible angle."""
    frames = np.tile([1.0, 0.0, 0.0, 0.0], (len(parent), 1))
    for step in range(1, int(rank.max(initial=0)) + 1):
        new = np.flatnonzero(rank == step)  # at most one bead of each molecule
        frames[new] = _turned(frames[parent[new]], rods[new] / length[new, None])
    return frames


def _turned(frames: np.ndarray, z: np.ndarray) -> np.ndarray:
    """Frames (n, 4) rotated by the smallest angle so that their z axes are the unit vectors z (n, 3)."""
    e0, e1, e2, e3 = frames.T
    old = np.stack([2.0 * (e1 * e3 + e0 * e2), 2.0 * (e2 * e3 - e0 * e1), e0**2 - e1**2 - e2**2 + e3**2], axis=1)
    turn = np.concatenate([1.0 + (old * z).sum(axis=1, keepdims=True), np.cross(old, z)], axis=1)
    size = np.linalg.norm(turn, axis=1, keepdims=True)
    opposite = size[:, 0] < 1e-6  # rotate about any perpendicular axis
    if opposite.any():
        axes = np.eye(3)[np.argmin(np.abs(old[opposite]), axis=1)]
        turn[opposite, 0], turn[opposite, 1:] = 0.0, np.cross(old[opposite], axes)
        size = np.linalg.norm(turn, axis=1, keepdims=True)
    return np.asarray(quaternion_product(turn / size, frames))
