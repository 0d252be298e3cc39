"""Descriptions of multibody models that belong to no engine, and generators of random ones.

A :class:`Description` is a list of bodies, parents first. Converters make of it an articulon model (here), a Pinocchio
model (``pinocchio_model``) or the extended-precision reference (``reference``), so that every engine is given the same
numbers. Conventions are those of the engine's public face: the joint's fixed side sits in the parent's frame at
``position`` and ``rotation``; the body's frame is the joint's moving side; quaternions are scalar-first.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

import numpy as np

COORDINATES = {"weld": 0, "revolute": 1, "prismatic": 1, "universal": 2, "spherical": 4, "xyz": 3, "free": 7}
SPEEDS = {"weld": 0, "revolute": 1, "prismatic": 1, "universal": 2, "spherical": 3, "xyz": 3, "free": 6}
KINDS = tuple(COORDINATES)


@dataclasses.dataclass(frozen=True)
class Body:
    """One body and the joint that connects it to its parent."""

    name: str
    parent: int | None
    """Index of the parent; None is the ground."""
    kind: str
    """The joint, a key of ``COORDINATES``."""
    axis: np.ndarray
    """Unit axis of a revolute or prismatic joint, in the joint frame."""
    position: np.ndarray
    """Origin of the joint frame in the parent's frame."""
    rotation: np.ndarray
    """Unit quaternion from the joint frame to the parent's frame."""
    mass: float
    com: np.ndarray
    """Centre of mass in the body frame."""
    inertia: np.ndarray
    """(3, 3) inertia about the centre of mass, body frame."""


@dataclasses.dataclass(frozen=True)
class Description:
    """A forest of bodies, parents first."""

    bodies: tuple[Body, ...]

    @property
    def q_starts(self) -> np.ndarray:
        """First coordinate of each body, and the total, shape (n + 1,)."""
        return np.concatenate([[0], np.cumsum([COORDINATES[body.kind] for body in self.bodies])]).astype(int)

    @property
    def u_starts(self) -> np.ndarray:
        """First speed of each body, and the total, shape (n + 1,)."""
        return np.concatenate([[0], np.cumsum([SPEEDS[body.kind] for body in self.bodies])]).astype(int)

    @property
    def nq(self) -> int:
        return int(self.q_starts[-1])

    @property
    def nu(self) -> int:
        return int(self.u_starts[-1])

    def __len__(self) -> int:
        return len(self.bodies)

    @property
    def depths(self) -> list[int]:
        depths: list[int] = []
        for body in self.bodies:
            depths.append(1 if body.parent is None else depths[body.parent] + 1)
        return depths


def quaternion_product(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Rotation b, then rotation a."""
    scalar = a[0] * b[0] - a[1:] @ b[1:]
    return np.concatenate([[scalar], a[0] * b[1:] + b[0] * a[1:] + np.cross(a[1:], b[1:])])


def rotation_matrix(e: np.ndarray) -> np.ndarray:
    """Matrix of the unit quaternion e: R = (e0² − e·e) 1 + 2 e eᵀ + 2 e0 [e]×, homogeneous, so divided by |e|²."""
    s, v = e[0], e[1:]
    skew = np.array([[0 * s, -v[2], v[1]], [v[2], 0 * s, -v[0]], [-v[1], v[0], 0 * s]])
    return ((s * s - v @ v) * np.eye(3, dtype=e.dtype) + 2 * np.outer(v, v) + 2 * s * skew) / (s * s + v @ v)


def random_direction(rng: np.random.Generator) -> np.ndarray:
    vector = rng.normal(size=3)
    return vector / np.linalg.norm(vector)


def random_quaternion(rng: np.random.Generator) -> np.ndarray:
    e = rng.normal(size=4)
    return e / np.linalg.norm(e)


def rotation_by(axis: np.ndarray, angle: float) -> np.ndarray:
    """Quaternion of a turn by ``angle`` about the unit ``axis``."""
    return np.concatenate([[np.cos(angle / 2)], np.sin(angle / 2) * np.asarray(axis)])


def random_inertia(rng: np.random.Generator, mass: float, size: float = 0.4) -> np.ndarray:
    """An inertia that some real body has: built from positive second moments, then turned at random."""
    second_moments = mass * size**2 * rng.uniform(0.2, 1.0, size=3)
    r = rotation_matrix(random_quaternion(rng))
    inertia = r @ np.diag(second_moments.sum() - second_moments) @ r.T
    return (inertia + inertia.T) / 2


def random_body(rng: np.random.Generator, name: str, parent: int | None, kind: str) -> Body:
    mass = float(rng.uniform(0.3, 3.0))
    return Body(
        name=name,
        parent=parent,
        kind=kind,
        axis=random_direction(rng),
        position=rng.uniform(-1.0, 1.0, size=3),
        rotation=random_quaternion(rng),
        mass=mass,
        com=rng.uniform(-0.5, 0.5, size=3),
        inertia=random_inertia(rng, mass),
    )


def random_forest(
    rng: np.random.Generator, n: int, max_depth: int = 10, kinds: Sequence[str] = KINDS, root_chance: float = 0.1
) -> Description:
    """Branching trees of n bodies in all, every kind of joint anywhere, no deeper than ``max_depth`` bodies.

    Half of the bodies continue from the one before, so that depth is reached; the others branch from any earlier body
    or, with ``root_chance``, stand on the ground. At least one joint moves.
    """
    bodies: list[Body] = []
    depths: list[int] = []
    for i in range(n):
        open_parents = [j for j in range(i) if depths[j] < max_depth]
        if not open_parents or rng.random() < root_chance:
            parent = None
        elif open_parents[-1] == i - 1 and rng.random() < 0.5:
            parent = i - 1
        else:
            parent = int(rng.choice(open_parents))
        kind = str(rng.choice(kinds))
        if i == n - 1 and kind == "weld" and all(body.kind == "weld" for body in bodies):
            kind = "spherical"
        bodies.append(random_body(rng, f"body-{i}", parent, kind))
        depths.append(1 if parent is None else depths[parent] + 1)
    return Description(tuple(bodies))


def floating_tree(rng: np.random.Generator, n: int, max_depth: int = 10) -> Description:
    """One tree of n bodies whose root is on a free joint, every kind of joint elsewhere."""
    forest = random_forest(rng, n, max_depth, root_chance=0.0)
    root = dataclasses.replace(forest.bodies[0], kind="free")
    return Description((root, *forest.bodies[1:]))


CHAIN_KINDS: dict[str, tuple[str, ...]] = {
    "revolute": ("revolute",),
    "spherical": ("spherical",),
    "mixed": ("spherical", "revolute", "prismatic", "universal", "weld", "free", "revolute", "xyz", "spherical"),
}
CHAIN_SHAPES = ("straight", "coiled", "nearly-straight")

SOLVED_CHAINS = [
    *((joints, shape, n) for n in (10, 30, 100, 300) for joints in CHAIN_KINDS for shape in CHAIN_SHAPES),
    ("revolute", "coiled", 1000),
    ("spherical", "nearly-straight", 500),
    ("mixed", "straight", 500),
]
"""Chains for which a dense matrix is solved in extended precision. The longest take seconds, so that each joint and
each shape come once, and those with several freedoms a joint have half as many bodies: what is not symmetric has lost
every digit by some hundred."""


def chain(rng: np.random.Generator, n: int, joints: str, shape: str) -> tuple[Description, np.ndarray]:
    """An unbranched chain of n links of unit length along x, and the coordinates that give it its shape.

    ``straight``: every coordinate zero; ``coiled``: every angle 0.3 rad about z (displacements 0.3);
    ``nearly-straight``: random angles and displacements up to 0.05. The shapes are those of Featherstone's accuracy
    study (1999).
    """
    cycle = CHAIN_KINDS[joints]
    bodies = []
    for i in range(n):
        mass = float(rng.uniform(0.5, 1.5))
        bodies.append(
            Body(
                name=f"link-{i}",
                parent=i - 1 if i else None,
                kind=cycle[i % len(cycle)],
                axis=np.array([0.0, 0.0, 1.0]) if shape == "coiled" else random_direction(rng),
                position=np.array([1.0 if i else 0.0, 0.0, 0.0]),
                rotation=np.array([1.0, 0.0, 0.0, 0.0]),
                mass=mass,
                com=np.array([0.5, 0.0, 0.0]) + rng.uniform(-0.1, 0.1, size=3),
                inertia=random_inertia(rng, mass, 0.3),
            )
        )

    def amount() -> float:
        return {"straight": 0.0, "coiled": 0.3}.get(shape, rng.uniform(-0.05, 0.05))

    q: list[float] = []
    for body in bodies:
        if body.kind in ("revolute", "prismatic", "universal"):
            q.extend(amount() for _ in range(COORDINATES[body.kind]))
        if body.kind in ("xyz", "free"):
            q.extend(amount() for _ in range(3))
        if body.kind in ("spherical", "free"):
            axis = np.array([0.0, 0.0, 1.0]) if shape == "coiled" else random_direction(rng)
            q.extend(rotation_by(axis, amount()))
    return Description(tuple(bodies)), np.array(q)


def random_coordinates(description: Description, rng: np.random.Generator) -> np.ndarray:
    q: list[np.ndarray] = [np.empty(0)]
    for body in description.bodies:
        if body.kind in ("revolute", "universal"):
            q.append(rng.uniform(-np.pi, np.pi, size=COORDINATES[body.kind]))
        if body.kind == "prismatic":
            q.append(rng.uniform(-1, 1, size=1))
        if body.kind in ("xyz", "free"):
            q.append(rng.uniform(-1, 1, size=3))
        if body.kind in ("spherical", "free"):
            q.append(random_quaternion(rng))
    return np.concatenate(q)


@dataclasses.dataclass(frozen=True)
class Situation:
    """Everything that the dynamics functions are given, at one instant."""

    q: np.ndarray
    u: np.ndarray
    tau: np.ndarray
    wrenches: np.ndarray
    gravity: np.ndarray


def random_situation(description: Description, rng: np.random.Generator, q: np.ndarray | None = None) -> Situation:
    """Random coordinates (unless given), speeds, joint forces, wrenches on every body, and gravity."""
    return Situation(
        q=random_coordinates(description, rng) if q is None else q,
        u=rng.normal(size=description.nu),
        tau=rng.normal(size=description.nu),
        wrenches=rng.normal(size=(len(description), 6)),
        gravity=rng.normal(size=3) * 3.0,
    )


def to_articulon(description: Description, q: np.ndarray | None = None, u: np.ndarray | None = None) -> Any:
    """The description as an articulon model in SI units; q and u become its initial coordinates and speeds."""
    return builder_of(description, q, u).build()


def builder_of(description: Description, q: np.ndarray | None = None, u: np.ndarray | None = None) -> Any:
    """The builder of that model, to which more can be added."""
    import articulon as ar

    builder = ar.ModelBuilder(units="kg-m-s")
    joints = {
        "weld": lambda axis: ar.Weld(),
        "revolute": lambda axis: ar.Revolute(axis=tuple(axis)),
        "prismatic": lambda axis: ar.Prismatic(axis=tuple(axis)),
        "universal": lambda axis: ar.Universal(),
        "spherical": lambda axis: ar.Spherical(),
        "xyz": lambda axis: ar.Xyz(),
        "free": lambda axis: ar.Free(),
    }
    handles: list[Any] = []
    for i, body in enumerate(description.bodies):
        initial = {}
        if q is not None:
            initial["q"] = q[description.q_starts[i] : description.q_starts[i + 1]]
        if u is not None:
            initial["u"] = u[description.u_starts[i] : description.u_starts[i + 1]]
        handles.append(
            builder.add_body(
                body.name,
                parent=None if body.parent is None else handles[body.parent],
                joint=joints[body.kind](body.axis),
                mass=body.mass,
                com=body.com,
                inertia=body.inertia,
                position=body.position,
                rotation=body.rotation,
                **initial,
            )
        )
    return builder
