"""Tables that kernels read: a forest of links, the joints between them, and the position of every body on its link.

A *link* is a moving rigid body of the solver: a body with all bodies that are welded to it.
"""

from typing import NamedTuple

import numpy as np

from articulon.model.mode_tables import Flexible, ModalWorkspace, modal_workspace


class Forest(NamedTuple):
    """A forest of links, parents first; the links of a tree are contiguous."""

    parent: np.ndarray
    """Parent link, −1 for the ground, shape (links,)."""
    kind: np.ndarray
    """Joint kind, shape (links,)."""
    q_start: np.ndarray
    """First coordinate of the joint, shape (links,)."""
    u_start: np.ndarray
    """First speed of the joint, shape (links,)."""
    position: np.ndarray
    """Origin of the joint frame in the parent's frame [length], shape (links, 3)."""
    rotation: np.ndarray
    """Joint frame to parent's frame, Euler parameters, shape (links, 4)."""
    axis: np.ndarray
    """Joint axis in the joint frame, shape (links, 3)."""
    mass: np.ndarray
    """Mass of each link [mass], shape (links,)."""
    moment: np.ndarray
    """First moment of mass m c about the link's origin, link frame [mass length], shape (links, 3)."""
    inertia: np.ndarray
    """Inertia about the link's origin, link frame, (xx, xy, xz, yy, yz, zz) [mass length²], shape (links, 6)."""
    slot: np.ndarray
    """Slot in which the articulated inertia of the link's children is accumulated, −1 for a leaf, shape (links,)."""
    first: np.ndarray
    """1 if the link is the first child that adds its inertia to the parent's slot, otherwise 0, shape (links,)."""
    tree: np.ndarray
    """First link of every tree, and the number of links at the end, shape (trees + 1,)."""
    flexible: Flexible | None = None
    """Tables of the flexible bodies; None if there are none, so that the compiler sees a different type."""


class Loops(NamedTuple):
    """Constraints on a forest, one per row. A row belongs to a joint that closes a loop, or to a coordinate that
    follows a prescribed motion.

    Link ``a`` carries the joint frame and link ``b`` the joint's moving side; ``joints/base.py`` defines the condition
    of a row.
    """

    kind: np.ndarray
    """TRANSLATION, ROTATION or DRIVE, shape (rows,)."""
    loop: np.ndarray
    """Loop of each row; drives are numbered after the loops, shape (rows,)."""
    link_a: np.ndarray
    """Link a, −1 for the ground, shape (rows,)."""
    link_b: np.ndarray
    """Link b, which for a DRIVE is the driven link, −1 for the ground, shape (rows,)."""
    point_a: np.ndarray
    """Origin of the joint frame in link a's frame [length], shape (rows, 3)."""
    point_b: np.ndarray
    """Origin of the moving side in link b's frame [length], shape (rows, 3)."""
    fixed: np.ndarray
    """Direction in link a's frame, shape (rows, 3)."""
    moving: np.ndarray
    """Direction in link b's frame, shape (rows, 3)."""
    coordinate: np.ndarray
    """Coordinate of a DRIVE, otherwise −1, shape (rows,)."""
    speed: np.ndarray
    """Speed of a DRIVE, otherwise −1, shape (rows,)."""
    motion: np.ndarray
    """Motion of a DRIVE, otherwise −1, shape (rows,)."""
    path: np.ndarray
    """Links between the ground and any link of a row, outermost first, shape (path,)."""
    place: np.ndarray
    """Index of each link in ``path``, −1 for a link that is not in ``path``, shape (links,)."""
    size: np.ndarray
    """Scale by which the error of each row is divided: the model's length for rows that are lengths, 1 for others,
    shape (rows,)."""
    rank: np.ndarray
    """Largest number of rows that solvers treat as independent: the number of independent rows in the closed initial
    state, shape (1,). After a step, coordinates satisfy the constraints only within the error of the step, so that
    redundant rows contradict each other slightly. If they counted as independent, they would seem to lock the
    mechanism."""
    column: np.ndarray
    """First speed of each link on ``path``, numbered among the speeds of these links only; the last entry is their
    total number, shape (path + 1,)."""


class Motions(NamedTuple):
    """Prescribed motions of coordinates, each given by a piecewise cubic table or by a function."""

    start: np.ndarray
    """First knot of each motion, and the number of knots at the end, shape (motions + 1,)."""
    knots: np.ndarray
    """Times of the knots of all motions [time], shape (knots,)."""
    coefficients: np.ndarray
    """Coefficients of the cubic polynomial from each knot on, highest power first, shape (knots, 4)."""
    function: np.ndarray
    """Function of each motion, −1 for a table, shape (motions,)."""


class KernelTables(NamedTuple):
    """Tables of a model in the form that kernels take."""

    forest: Forest
    """Forest of links."""
    loops: Loops
    """Loop constraints and drives."""
    motions: Motions
    """Prescribed motions."""


class Workspace(NamedTuple):
    """Scratch arrays of the dynamics, which are not part of the state; in world axes unless a link frame is named."""

    quaternion: np.ndarray
    """Rotation from link to world frame, Euler parameters, shape (links, 4)."""
    rotation: np.ndarray
    """Rotation from link to world frame, row-major matrix, shape (links, 9)."""
    position: np.ndarray
    """Origin of the link [length], shape (links, 3)."""
    reach: np.ndarray
    """Vector from the parent's origin to the link's origin [length], shape (links, 3)."""
    twist: np.ndarray
    """Velocity of the link's origin [length/time], then angular velocity [rad/time], shape (links, 6)."""
    bias: np.ndarray
    """Velocity-product acceleration of the joint, angular then linear, shape (links, 6)."""
    gathered: np.ndarray
    """Articulated inertia and bias force accumulated from children, shape (slots, 27)."""
    record: np.ndarray
    """Results of the inward pass, for each eliminated joint, that the outward pass uses, shape (links, 12)."""
    acceleration: np.ndarray
    """Angular acceleration, then acceleration of the origin, shape (links, 6)."""
    modal: ModalWorkspace | None = None
    """Scratch arrays of the flexible bodies; None if there are none."""


def workspace(forest: Forest) -> Workspace:
    """Scratch arrays for a forest."""
    n = forest.parent.size
    slots = max(int(forest.slot.max(initial=-1)) + 1, 1)
    widths = {"quaternion": 4, "rotation": 9, "twist": 6, "bias": 6, "record": 12, "acceleration": 6}
    return Workspace(
        **{
            name: np.zeros((slots, 27)) if name == "gathered" else np.zeros((n, widths.get(name, 3)))
            for name in Workspace._fields
            if name != "modal"
        },
        modal=None if forest.flexible is None else modal_workspace(forest.flexible, forest.moment, forest.inertia),
    )
