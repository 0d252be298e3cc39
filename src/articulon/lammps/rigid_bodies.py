"""Build bodies from atoms: points, rods with a point mass at the end, and rigid groups."""

from typing import NamedTuple

import numpy as np

from articulon.building import ModelBuilder
from articulon.dynamics import body_poses, kinetic_energy
from articulon.errors import ModelError
from articulon.forces.accelerations import forward_dynamics
from articulon.lammps.data_file import DataFile
from articulon.lammps.rigid_parts import Parts, Step, on_a_line
from articulon.model import Free, Spherical, Xyz
from articulon.model.array_rotations import quaternion_product
from articulon.model.joints import Joint
from articulon.model.joints.swing import Swing

UNTURNED = np.array([1.0, 0.0, 0.0, 0.0])
HALF_TURN = np.array([0.0, 1.0, 0.0, 0.0])
POINT, ROD, SPHERICAL = Xyz(), Swing(), Spherical()


class _Body(NamedTuple):
    """Arguments of ``add_bodies`` for one body."""

    name: str
    parent: int
    joint: Joint
    mass: float
    com: np.ndarray
    inertia: np.ndarray
    position: np.ndarray
    q: np.ndarray


class Bodies:
    """The bodies of all trees, with the site of each atom, to be added to a builder.

    A single atom is a point on an ``Xyz`` joint. An atom at the end of a rigid bond is a body on a ``Swing`` joint: the
    body's origin is the atom at the other end, its z axis lies along the bond, and its mass is a point at the end of
    the axis. A group is one body on a ``Free`` joint. A group of collinear atoms has no inertia about its line, so its
    first atom is put on an ``Xyz`` joint and all others form a body on a ``Swing`` joint there. A bond that closes a
    ring is a rod with a part of the mass of the atom at its end; a spherical loop constraint attaches the rod to this
    atom.

    Parameters
    ----------
    data
        Data file, for names in messages.
    x
        Positions of the atoms, with whole molecules [length], shape (atoms, 3).
    masses
        Masses of the atoms [mass], shape (atoms,).
    """

    def __init__(self, data: DataFile, parts: Parts, x: np.ndarray, masses: np.ndarray) -> None:
        self.data, self.parts, self.x = data, parts, x
        count = len(x)
        self.home, self.local = np.zeros(count, dtype=np.int64), np.zeros((count, 3))
        """Body of each atom, and its position in that body's frame."""
        self.in_line: list[int] = []
        """Indices of the groups of collinear atoms."""
        self._bodies: list[_Body] = []
        self._rods: list[tuple[int, np.ndarray]] = []
        self._closures: list[tuple[str, int, int, float]] = []
        shares = 1.0 + np.bincount([b for _, b in parts.rings], minlength=count)
        self.masses, self._share = masses, masses / shares
        for step in parts.steps:
            self._step(step)
        for i, j in parts.rings:
            self._close(i, j)
        self.q = self._coordinates()
        """Joint coordinates of each body."""

    def add_to(self, builder: ModelBuilder, u: np.ndarray | None, charge: np.ndarray, kinds: list[str]) -> None:
        """Add bodies, sites and loop constraints; ``u`` are the speeds of all joints, None for rest."""
        first, bodies = len(builder._names), self._bodies
        parent = np.array([body.parent for body in bodies])
        builder.add_bodies(
            len(bodies),
            mass=np.array([body.mass for body in bodies]),
            joint=[body.joint for body in bodies],
            inertia=np.array([body.inertia for body in bodies]),
            parents=np.where(parent < 0, -1, parent + first),
            com=np.array([body.com for body in bodies]),
            position=np.array([body.position for body in bodies]),
            q=np.concatenate(self.q),
            u=u,
            names=[body.name for body in bodies],
        )
        builder.add_sites(self.home + first, positions=self.local, charge=charge, kind=kinds)
        for name, atom, body, length in self._closures:
            builder.add_loop(
                name,
                joint=SPHERICAL,
                parent=bodies[self.home[atom]].name,
                child=bodies[body].name,
                position=self.local[atom],
                child_position=(0.0, 0.0, length),
            )

    def speeds(self, units: str, velocities: np.ndarray) -> tuple[np.ndarray, float]:
        """Compute the speeds of all joints, and the fraction of the kinetic energy that is lost because rigid bonds and
        groups do not allow the motion.

        The speeds u are the admissible motion closest to the atoms' velocities v (atoms, 3) in the mass metric, which
        keeps momentum and angular momentum: M u = Jᵀ m v, with the mass matrix M and the Jacobian J of the atoms'
        velocities. Forward dynamics from rest solves this equation.
        """
        if all(isinstance(body.joint, Xyz) for body in self._bodies):
            order = np.argsort(self.home)
            return velocities[order].ravel(), 0.0
        builder = ModelBuilder(units=units)
        self.add_to(builder, None, np.zeros(len(self.x)), ["atom"] * len(self.x))
        model = builder.build()
        momenta = self.masses[:, None] * velocities
        origins, _ = body_poses(model, model.q0)
        wrenches = np.zeros((model.bodies, 6))
        np.add.at(wrenches, self.home, np.hstack([momenta, np.cross(self.x - origins[self.home], momenta)]))
        u = forward_dynamics(model, model.q0, np.zeros(model.nu), wrenches=wrenches)
        energy = 0.5 * float((momenta * velocities).sum())
        left = 1.0 - float(kinetic_energy(model, model.q0, u)) / energy if energy > 0.0 else 0.0
        return u, max(left, 0.0)

    def _add(self, body: _Body) -> int:
        self._bodies.append(body)
        return len(self._bodies) - 1

    def _coordinates(self) -> list[np.ndarray]:
        """Joint coordinates of all bodies: the rotations of points and groups are zero, and the rotations of rods are
        relative to their parents."""
        found = [body.q for body in self._bodies]
        if self._rods:
            rods = np.array([rod for rod, _ in self._rods])
            turns = np.tile(UNTURNED, (len(found), 1))
            turns[rods] = turns_to(np.array([direction for _, direction in self._rods]))
            behind = turns[[self._bodies[rod].parent for rod in rods.tolist()]]
            relative = quaternion_product(behind * [1.0, -1.0, -1.0, -1.0], turns[rods])
            for rod, q in zip(rods.tolist(), relative, strict=True):
                found[rod] = q
        return found

    def _step(self, step: Step) -> None:
        if step.group >= 0:
            self._group(step.group)
            return
        i = step.atom
        name = f"atom-{self.data.ids[i]}"
        if step.parent < 0:
            self.home[i] = self._point(i, name)
            return
        arm = self.x[i] - self.x[step.parent]
        length = float(np.linalg.norm(arm))
        self.home[i] = self._rod(step.parent, name, arm / length, np.array([0.0, 0.0, length]), 0.0, self._share[i])
        self.local[i] = 0.0, 0.0, length

    def _point(self, atom: int, name: str) -> int:
        """Add a body that translates only."""
        nothing = np.zeros(3)
        return self._add(_Body(name, -1, POINT, self._share[atom], nothing, np.zeros((3, 3)), nothing, self.x[atom]))

    def _rod(self, parent: int, name: str, direction: np.ndarray, com: np.ndarray, inertia: float, mass: float) -> int:
        """Add a body at an atom, with its z axis along a world direction and an inertia about x and y."""
        behind, matrix = int(self.home[parent]), np.diag([inertia, inertia, 0.0])
        body = self._add(_Body(name, behind, ROD, mass, com, matrix, self.local[parent], UNTURNED))
        self._rods.append((body, direction))
        return body

    def _group(self, number: int) -> None:
        group = self.parts.groups[number]
        atoms = group.atoms
        m, x = self.masses[atoms], self.x[atoms]
        direction = on_a_line(x)
        if direction is not None:
            self._line(number, direction)
            return
        if float(np.abs(x - x[0]).max()) == 0.0:
            raise ModelError(f"rigid_groups: all atoms of '{group.name}' are at the same point; a body needs an extent")
        centre = m @ x / m.sum()
        arms = x - centre
        inertia = (m * (arms**2).sum(axis=1)).sum() * np.eye(3) - np.einsum("k,ki,kj->ij", m, arms, arms)
        q = np.concatenate([centre, UNTURNED])
        nothing = np.zeros(3)
        self.home[atoms] = self._add(_Body(group.name, -1, Free(), float(m.sum()), nothing, inertia, nothing, q))
        self.local[atoms] = arms

    def _line(self, number: int, direction: np.ndarray) -> None:
        """Add a collinear group: a point for its first atom, and a rod there with all other atoms."""
        group = self.parts.groups[number]
        first, others = int(group.atoms[0]), group.atoms[1:]
        self.in_line.append(number)
        self.home[first] = self._point(first, f"{group.name}-end")
        m, z = self.masses[others], (self.x[others] - self.x[first]) @ direction
        centre = float(m @ z / m.sum())
        inertia = float(m @ (z - centre) ** 2)
        com = np.array([0.0, 0.0, centre])
        self.home[others] = self._rod(first, group.name, direction, com, inertia, float(m.sum()))
        self.local[others, 2] = z

    def _close(self, i: int, j: int) -> None:
        """Add the rod from atom i to atom j with a part of the mass of j, to close a ring."""
        arm = self.x[j] - self.x[i]
        length = float(np.linalg.norm(arm))
        name = f"ring-{self.data.ids[i]}-{self.data.ids[j]}"
        body = self._rod(i, name, arm / length, np.array([0.0, 0.0, length]), 0.0, self._share[j])
        self._closures.append((name, j, body, length))


def turns_to(directions: np.ndarray) -> np.ndarray:
    """Return Euler parameters (n, 4) of the shortest rotations from z to unit vectors (n, 3); for vectors with negative
    z, a half turn about x comes first."""
    x, y, z = directions.T
    side = np.where(z >= 0.0, 1.0, -1.0)
    found = np.stack([1.0 + side * z, -side * y, side * x, np.zeros(len(x))], axis=1)
    found /= np.linalg.norm(found, axis=1)[:, None]
    below = side < 0.0
    found[below] = quaternion_product(found[below], np.broadcast_to(HALF_TURN, (int(below.sum()), 4)))
    return found
