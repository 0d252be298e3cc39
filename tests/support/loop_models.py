"""Descriptions of mechanisms with closed loops that belong to no engine, and generators of them.

A :class:`Mechanism` is a forest and the joints that close its loops, in the words of the engine's public face: the
joint frame is fixed in the parent (None: the ground) at ``position`` and ``rotation``, the joint's moving side in the
child at ``child_position`` and ``child_rotation``.

Random loops are closed by construction: the moving side is put anywhere in the child, the joint is given any
coordinates, and its fixed side is put where the forest's present pose then needs it.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

import numpy as np

from tests.support.random_models import (
    Body,
    Description,
    builder_of,
    quaternion_product,
    random_coordinates,
    random_direction,
    random_forest,
    random_quaternion,
    rotation_by,
    rotation_matrix,
)
from tests.support.reference import EXTENDED, Reference

SOLVERS = ("articulated", "kane", "divide-and-conquer")
LOOP_KINDS = ("weld", "revolute", "prismatic", "spherical", "xyz", "universal")
ROWS = {"weld": 6, "revolute": 5, "prismatic": 5, "spherical": 3, "xyz": 3, "universal": 4}
"""Constraints that each joint imposes: six less its degrees of freedom."""
IDENTITY = np.array([1.0, 0.0, 0.0, 0.0])
X, Y, Z = np.eye(3)


@dataclasses.dataclass(frozen=True)
class Loop:
    """A joint that closes a loop."""

    name: str
    kind: str
    """A key of ``ROWS``."""
    parent: int | None
    """Index of the body that has the joint frame; None is the ground."""
    child: int
    axis: np.ndarray = dataclasses.field(default_factory=lambda: Z)
    """Unit axis of a revolute or prismatic joint, in the joint frame."""
    position: np.ndarray = dataclasses.field(default_factory=lambda: np.zeros(3))
    rotation: np.ndarray = dataclasses.field(default_factory=lambda: IDENTITY)
    child_position: np.ndarray = dataclasses.field(default_factory=lambda: np.zeros(3))
    child_rotation: np.ndarray = dataclasses.field(default_factory=lambda: IDENTITY)


@dataclasses.dataclass(frozen=True)
class Mechanism:
    """A forest with loops."""

    forest: Description
    loops: tuple[Loop, ...]

    @property
    def nu(self) -> int:
        return self.forest.nu

    def __len__(self) -> int:
        return len(self.forest)

    def without_loops(self) -> Mechanism:
        return Mechanism(self.forest, ())

    def doubled(self) -> Mechanism:
        """Every loop twice: the same physics, every constraint redundant."""
        again = tuple(dataclasses.replace(loop, name=f"{loop.name}-again") for loop in self.loops)
        return Mechanism(self.forest, self.loops + again)


def engine_joint(kind: str, axis: np.ndarray) -> Any:
    import articulon as ar

    if kind in ("revolute", "prismatic"):
        return getattr(ar, kind.capitalize())(axis=tuple(axis))
    return getattr(ar, kind.capitalize())()


def add_loops(builder: Any, mechanism: Mechanism) -> None:
    for loop in mechanism.loops:
        builder.add_loop(
            loop.name,
            joint=engine_joint(loop.kind, loop.axis),
            parent=None if loop.parent is None else mechanism.forest.bodies[loop.parent].name,
            child=mechanism.forest.bodies[loop.child].name,
            position=loop.position,
            rotation=loop.rotation,
            child_position=loop.child_position,
            child_rotation=loop.child_rotation,
        )


def to_articulon(mechanism: Mechanism, q: np.ndarray | None = None, u: np.ndarray | None = None) -> Any:
    """The mechanism as an articulon model in SI units; q and u become its initial coordinates and speeds."""
    builder = builder_of(mechanism.forest, q, u)
    add_loops(builder, mechanism)
    return builder.build()


def quaternion_of(matrix: np.ndarray) -> np.ndarray:
    """Unit quaternion of a rotation matrix, from the largest of its four squares."""
    (a, b, c), (d, e, f), (g, h, i) = matrix
    one = np.ones((), matrix.dtype)
    candidates = np.array(
        [
            [one + a + e + i, h - f, c - g, d - b],
            [h - f, one + a - e - i, b + d, c + g],
            [c - g, b + d, one - a + e - i, f + h],
            [d - b, c + g, f + h, one - a - e + i],
        ]
    )
    best = candidates[int(np.argmax(np.diagonal(candidates)))]
    return best / np.sqrt(best @ best)


def random_joint_motion(kind: str, axis: np.ndarray, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Displacement and turn (a quaternion) of a joint at random coordinates, in the joint frame."""
    still = np.zeros(3)
    if kind == "revolute":
        return still, rotation_by(axis, rng.uniform(-np.pi, np.pi))
    if kind == "prismatic":
        return axis * rng.uniform(-1, 1), IDENTITY
    if kind == "spherical":
        return still, random_quaternion(rng)
    if kind == "xyz":
        return rng.uniform(-1, 1, size=3), IDENTITY
    if kind == "universal":
        first, second = rng.uniform(-1.2, 1.2, size=2)
        return still, quaternion_product(rotation_by(X, first), rotation_by(Y, second))
    return still, IDENTITY


def closing_loop(
    description: Description,
    q: np.ndarray,
    rng: np.random.Generator,
    kind: str,
    parent: int | None,
    child: int,
    name: str = "loop",
) -> Loop:
    """A joint between two bodies that is closed at q, its frames anywhere else random."""
    place = Reference(description).placement(q)
    axis = random_direction(rng)
    child_position, child_rotation = rng.uniform(-0.5, 0.5, size=3), random_quaternion(rng)
    moved, turn = random_joint_motion(kind, axis, rng)
    outer, origin = np.eye(3, dtype=EXTENDED), np.zeros(3, EXTENDED)
    if parent is not None:
        outer, origin = place.rotation[parent], place.position[parent]
    moving = place.rotation[child] @ rotation_matrix(child_rotation.astype(EXTENDED))
    fixed = moving @ rotation_matrix(turn.astype(EXTENDED)).T
    at = place.position[child] + place.rotation[child] @ child_position.astype(EXTENDED)
    return Loop(
        name=name,
        kind=kind,
        parent=parent,
        child=child,
        axis=axis,
        position=(outer.T @ (at - fixed @ moved.astype(EXTENDED) - origin)).astype(float),
        rotation=quaternion_of(outer.T @ fixed).astype(float),
        child_position=child_position,
        child_rotation=child_rotation,
    )


def random_mechanism(
    rng: np.random.Generator, n: int, loops: int, max_depth: int = 10, kinds: Sequence[str] = LOOP_KINDS
) -> tuple[Mechanism, np.ndarray]:
    """A random forest of n bodies with loops between any two bodies or the ground, and coordinates that close them."""
    forest = random_forest(rng, n, max_depth)
    q = random_coordinates(forest, rng)
    made = []
    for k in range(loops):
        child = int(rng.integers(n))
        others = [None, *(i for i in range(n) if i != child)]
        parent = others[int(rng.integers(len(others)))]
        made.append(closing_loop(forest, q, rng, str(rng.choice(kinds)), parent, child, f"loop-{k}"))
    return Mechanism(forest, tuple(made)), q


def lengths(description: Description, of_coordinates: bool) -> np.ndarray:
    """1 for each coordinate (or speed) that is a length, 0 for each that is an angle or a part of a rotation."""
    marks = {
        "weld": ("", ""),
        "revolute": ("0", "0"),
        "prismatic": ("1", "1"),
        "universal": ("00", "00"),
        "spherical": ("0000", "000"),
        "xyz": ("111", "111"),
        "free": ("1110000", "111000"),
    }
    text = "".join(marks[body.kind][0 if of_coordinates else 1] for body in description.bodies)
    return np.array([int(mark) for mark in text])


def scaled(mechanism: Mechanism, length: float, mass: float) -> Mechanism:
    """The same mechanism in other units."""
    bodies = [
        dataclasses.replace(
            body,
            position=body.position * length,
            com=body.com * length,
            mass=body.mass * mass,
            inertia=body.inertia * (mass * length**2),
        )
        for body in mechanism.forest.bodies
    ]
    loops = [
        dataclasses.replace(loop, position=loop.position * length, child_position=loop.child_position * length)
        for loop in mechanism.loops
    ]
    return Mechanism(Description(tuple(bodies)), tuple(loops))


def link(
    name: str,
    parent: int | None,
    axis: np.ndarray,
    position: Sequence[float],
    com: Sequence[float],
    mass: float = 1.0,
    inertia: Sequence[float] = (0.01, 0.01, 0.01),
) -> Body:
    """A body on a revolute joint whose frame has its parent's axes."""
    return Body(
        name=name,
        parent=parent,
        kind="revolute",
        axis=np.asarray(axis, dtype=float),
        position=np.asarray(position, dtype=float),
        rotation=IDENTITY,
        mass=mass,
        com=np.asarray(com, dtype=float),
        inertia=np.diag(inertia),
    )


def box_inertia(mass: float, sides: Sequence[float]) -> np.ndarray:
    """Principal moments of a homogeneous box."""
    squares = np.square(sides)
    return mass / 12 * (squares.sum() - squares)


@dataclasses.dataclass(frozen=True)
class FourBar:
    """Crank, coupler and rocker in the plane z = 0 on a ground link along x, on revolute joints about z."""

    ground: float = 2.0
    crank: float = 0.6
    coupler: float = 1.9
    rocker: float = 1.4

    def rocker_angle(self, crank_angle: float) -> float:
        """ψ from x, of the open branch, by Freudenstein's equation for the crank's angle φ:

        (g/a) cos ψ − (g/c) cos φ + (a² − b² + c² + g²)/(2 a c) = cos(φ − ψ), with t = tan(ψ/2): A t² + B t + C = 0.
        """
        a, b, c, g = self.crank, self.coupler, self.rocker, self.ground
        r3 = (a * a - b * b + c * c + g * g) / (2 * a * c)
        A = np.cos(crank_angle) - g / a - g / c * np.cos(crank_angle) + r3
        B = -2 * np.sin(crank_angle)
        C = g / a - (g / c + 1) * np.cos(crank_angle) + r3
        return float(2 * np.arctan2(-B - np.sqrt(B * B - 4 * A * C), 2 * A))

    def coordinates(self, crank_angle: float) -> np.ndarray:
        """Joint angles of crank, coupler (relative to the crank) and rocker."""
        psi = self.rocker_angle(crank_angle)
        tip = self.crank * np.array([np.cos(crank_angle), np.sin(crank_angle)])
        end = np.array([self.ground + self.rocker * np.cos(psi), self.rocker * np.sin(psi)])
        direction = float(np.arctan2(*(end - tip)[::-1]))
        return np.array([crank_angle, direction - crank_angle, psi])

    def mechanism(self, kind: str = "revolute") -> Mechanism:
        """Closed between coupler and rocker by a joint of this kind; every kind leaves one freedom.

        A revolute joint leaves three of its five constraints redundant, since the links cannot leave the plane.
        """
        bodies = []
        for name, parent, at, length in (
            ("crank", None, 0.0, self.crank),
            ("coupler", 0, self.crank, self.coupler),
            ("rocker", None, self.ground, self.rocker),
        ):
            inertia = box_inertia(length, (length, 0.1, 0.1))
            bodies.append(link(name, parent, Z, (at, 0, 0), (length / 2, 0, 0), length, inertia))
        end, tip = np.array([self.rocker, 0, 0]), np.array([self.coupler, 0, 0])
        closure = Loop("closure", kind, parent=2, child=1, axis=Z, position=end, child_position=tip)
        return Mechanism(Description(tuple(bodies)), (closure,))


BRICARD_CORNERS = np.array([[0, 0, 0], [1, 0, 0], [1, -1, 0], [1, -1, 1], [0, -1, 1], [0, 0, 1]], dtype=float)
"""Where the six axes are initially: five rods of 1 m lead from each to the next, the sixth is the ground.

IFToMM library of computational benchmark problems, A04, as set up by the authors of MBS-BOS (Tagliapietra et al. 2015).
"""


def bricard(kind: str = "revolute") -> Mechanism:
    """Bricard's mechanism of the IFToMM benchmark A04: at each corner of a cube an axis normal to the rods that meet.

    The bodies' frames have the world's axes initially, so q = 0 is closed. Grübler's count gives no freedom, but there
    is one. A universal joint instead of the last revolute one leaves out one constraint, which the others imply.
    """
    corners = BRICARD_CORNERS
    axes = (Y, Z, X, Y, Z, X)
    bodies = []
    for i in range(5):
        rod = corners[i + 1] - corners[i]
        at = corners[i] - corners[i - 1] if i else corners[0]
        sides = np.where(rod != 0, 1.0, 0.1)
        bodies.append(link(f"rod-{i + 1}", i - 1 if i else None, axes[i], at, rod / 2, 1.0, box_inertia(1.0, sides)))
    end = corners[5] - corners[4]
    # The universal joint's axes: x of the frame on the ground, and y, along the revolute axis, in the rod.
    turn = rotation_by(Z, -np.pi / 2) if kind == "universal" else IDENTITY
    closure = Loop("closure", kind, None, 4, axes[5], corners[5], turn, child_position=end, child_rotation=turn)
    return Mechanism(Description(tuple(bodies)), (closure,))
