"""Spheres that collide, in plain NumPy: slow, written from the equations, and sharing no line with the engine.

The law is that of Hertz and Mindlin with memory (Lee and Gardner, equations 4 to 16; Silbert et al., Phys. Rev. E 64,
051302 (2001)), the rule velocity Verlet, whose forces are evaluated at the new positions with the velocities of the
half step. A contact has an elastic normal force ``4/3 E* a δ`` with ``a = √(R* δ)``, a tangential one ``−8 G* a ξ``,
and viscous parts in proportion to the relative velocity; Coulomb's limit holds for all that is tangential.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from scipy.spatial import cKDTree


@dataclass(frozen=True)
class Law:
    """Parameters of one pair of materials, and the options of the law."""

    young: float = 1.0
    """E* of the pair [pressure]."""
    shear: float = 1.0
    """G* of the pair [pressure]."""
    static_friction: float = 0.0
    kinetic_friction: float = 0.0
    restitution: float | None = None
    """Prescribed; None for ``viscous_damping``."""
    viscous_damping: float = 0.0
    """γ_n of equation 15 [frequency]."""
    tangential_damping: float = 0.0
    """γ_t of equation 16 [frequency]; with a prescribed restitution, the ratio of tangential to normal damping."""
    stiffness: float | None = None
    """Of a linear spring [force/length], in place of Hertz's."""
    tangential_stiffness: float | None = None
    """Of a linear spring [force/length], in place of Mindlin's."""
    attractive_tail: bool = True
    convention: str = "consistent"
    """``consistent``: both arms end at one point, and the displacement turns with the pair about the normal."""
    slack: float = 0.0
    """A displacement that leaves the tangent plane by less than this part of Coulomb's limit is not turned into it."""

    def of(self, i: np.ndarray, j: np.ndarray) -> Law:
        """The law of pairs of spheres."""
        return self


@dataclass(frozen=True)
class Mixture:
    """Spheres of several kinds."""

    laws: Sequence[Sequence[Law]]
    """Of each two kinds; they differ in numbers alone."""
    kinds: np.ndarray
    """Of each sphere."""

    @property
    def convention(self) -> str:
        """That of all laws."""
        return self.laws[0][0].convention

    def of(self, i: np.ndarray, j: np.ndarray) -> Law:
        """A law whose parameters are arrays, one for each pair of spheres."""
        names = ("young", "shear", "static_friction", "kinetic_friction", "restitution", "tangential_damping")
        tables = {name: np.array([[getattr(law, name) for law in row] for row in self.laws]) for name in names}
        own = {name: table[self.kinds[i], self.kinds[j]] for name, table in tables.items()}
        return replace(self.laws[0][0], **own)


def pair_moduli(young: tuple[float, float], poisson: tuple[float, float]) -> tuple[float, float]:
    """E* and G* of two materials (Lee and Gardner, after equation 10)."""
    (ei, ej), (pi, pj) = young, poisson
    e = 1.0 / ((1.0 - pi * pi) / ei + (1.0 - pj * pj) / ej)
    g = 1.0 / (2.0 * (2.0 - pi) * (1.0 + pi) / ei + 2.0 * (2.0 - pj) * (1.0 + pj) / ej)
    return e, g


def decrement(restitution: float | np.ndarray) -> np.ndarray:
    """β = −ln e / √(π² + ln² e)."""
    log = np.log(restitution)
    return -log / np.sqrt(np.pi**2 + log * log)


@dataclass(frozen=True)
class Plane:
    """A wall through ``point`` with a unit ``normal`` towards the spheres."""

    point: Sequence[float]
    normal: Sequence[float]
    law: Law
    velocity: Sequence[float] = (0.0, 0.0, 0.0)


@dataclass
class Contacts:
    """What the contacts of one evaluation were, sorted by pair; ``j`` counts the walls after the spheres."""

    pairs: np.ndarray = field(default_factory=lambda: np.zeros((0, 2), dtype=np.int64))
    displacements: np.ndarray = field(default_factory=lambda: np.zeros((0, 3)))
    overlaps: np.ndarray = field(default_factory=lambda: np.zeros(0))
    normals: np.ndarray = field(default_factory=lambda: np.zeros((0, 3)))
    elastic: np.ndarray = field(default_factory=lambda: np.zeros(0))
    """Elastic normal forces."""
    viscous: np.ndarray = field(default_factory=lambda: np.zeros(0))
    """Viscous normal forces."""
    tangential: np.ndarray = field(default_factory=lambda: np.zeros((0, 3)))
    """Tangential forces on i."""
    sliding: np.ndarray = field(default_factory=lambda: np.zeros(0, dtype=bool))
    closing: np.ndarray = field(default_factory=lambda: np.zeros(0))
    """Relative velocities along the normals."""


@dataclass
class Grains:
    """Spheres, their motion, and the memory of their contacts."""

    radii: np.ndarray
    masses: np.ndarray
    positions: np.ndarray
    velocities: np.ndarray
    spins: np.ndarray
    law: Law | Mixture
    planes: Sequence[Plane] = ()
    gravity: Sequence[float] = (0.0, 0.0, 0.0)
    lengths: Sequence[float] | None = None
    """Of a box that is periodic in all directions."""
    contacts: Contacts = field(default_factory=Contacts)
    forces: np.ndarray = field(init=False)
    torques: np.ndarray = field(init=False)
    time: float = 0.0

    def __post_init__(self) -> None:
        n = len(self.radii)
        for name in ("positions", "velocities", "spins"):
            setattr(self, name, np.array(getattr(self, name), dtype=float).reshape(n, 3))
        self.evaluate(0.0)

    def advance(self, step: float, steps: int) -> None:
        """So many steps of velocity Verlet."""
        inertia = 0.4 * self.masses * self.radii**2
        for _ in range(steps):
            self.velocities += 0.5 * step * (self.forces / self.masses[:, None])
            self.spins += 0.5 * step * (self.torques / inertia[:, None])
            self.positions += step * self.velocities
            self.time += step
            self.evaluate(step)
            self.velocities += 0.5 * step * (self.forces / self.masses[:, None])
            self.spins += 0.5 * step * (self.torques / inertia[:, None])

    def evaluate(self, step: float) -> None:
        """Forces and torques on the spheres; a step of 0 leaves the memory as it is."""
        self.forces = self.masses[:, None] * np.asarray(self.gravity, dtype=float)
        self.torques = np.zeros_like(self.forces)
        found = [self._between_spheres(step)]
        found += [self._at_plane(k, plane, step) for k, plane in enumerate(self.planes)]
        pairs = np.concatenate([c.pairs for c in found])
        order = np.lexsort((pairs[:, 1], pairs[:, 0]))
        names = Contacts.__dataclass_fields__
        self.contacts = Contacts(**{k: np.concatenate([getattr(c, k) for c in found])[order] for k in names})

    def energy(self) -> float:
        """Kinetic energy of translation and spin."""
        linear = 0.5 * np.sum(self.masses[:, None] * self.velocities**2)
        return float(linear + 0.5 * np.sum(0.4 * (self.masses * self.radii**2)[:, None] * self.spins**2))

    def _separations(self) -> tuple[np.ndarray, np.ndarray]:
        """Pairs that touch, i < j, and x_i − x_j."""
        reach = 2.0 * self.radii.max()
        if self.lengths is None:
            tree = cKDTree(self.positions)
        else:
            box = np.asarray(self.lengths, dtype=float)
            wrapped = np.mod(self.positions, box)
            tree = cKDTree(np.where(wrapped >= box, 0.0, wrapped), boxsize=box)
        pairs = tree.query_pairs(reach, output_type="ndarray").astype(np.int64).reshape(-1, 2)
        pairs.sort(axis=1)
        apart = self.positions[pairs[:, 0]] - self.positions[pairs[:, 1]]
        if self.lengths is not None:
            apart -= box * np.round(apart / box)
        touching = np.einsum("ij,ij->i", apart, apart) < self.radii[pairs].sum(axis=1) ** 2
        return pairs[touching], apart[touching]

    def _between_spheres(self, step: float) -> Contacts:
        pairs, apart = self._separations()
        i, j = pairs.T
        ri, rj, mi, mj = self.radii[i], self.radii[j], self.masses[i], self.masses[j]
        r = np.sqrt(np.einsum("ij,ij->i", apart, apart))
        normals, overlaps = apart / r[:, None], ri + rj - r
        if self.law.convention == "lammps":
            arms = (ri, rj)
            levers = (ri - 0.5 * overlaps, rj - 0.5 * overlaps)
        else:
            arms = levers = (ri * r / (ri + rj), rj * r / (ri + rj))
        turning = arms[0][:, None] * self.spins[i] + arms[1][:, None] * self.spins[j]
        relative = self.velocities[i] - self.velocities[j] - np.cross(turning, normals)
        made = _law(
            self.law.of(i, j),
            step,
            overlaps,
            normals,
            relative,
            self._remembered(pairs, self.contacts.displacements),
            self._remembered(pairs, self.contacts.closing[:, None], np.nan)[:, 0],
            0.5 * (self.spins[i] + self.spins[j]),
            ri * rj / (ri + rj),
            mi * mj / (mi + mj),
        )
        made.pairs = pairs
        total = (made.elastic + made.viscous)[:, None] * normals + made.tangential
        np.add.at(self.forces, i, total)
        np.add.at(self.forces, j, -total)
        couple = -np.cross(normals, made.tangential)
        np.add.at(self.torques, i, levers[0][:, None] * couple)
        np.add.at(self.torques, j, levers[1][:, None] * couple)
        return made

    def _at_plane(self, k: int, plane: Plane, step: float) -> Contacts:
        n = np.asarray(plane.normal, dtype=float)
        point = np.asarray(plane.point, dtype=float) + self.time * np.asarray(plane.velocity, dtype=float)
        distance = (self.positions - point) @ n
        i = np.flatnonzero(distance < self.radii)
        pairs = np.stack([i, np.full_like(i, len(self.radii) + k)], axis=1)
        normals, radii = np.broadcast_to(n, (len(i), 3)), self.radii[i]
        overlaps = radii - distance[i]
        relative = self.velocities[i] - np.asarray(plane.velocity, dtype=float)
        arm = radii if plane.law.convention == "lammps" else radii - overlaps
        relative = relative - np.cross(arm[:, None] * self.spins[i], normals)
        mean = 0.5 * self.spins[i]
        slid = self._remembered(pairs, self.contacts.displacements)
        before = self._remembered(pairs, self.contacts.closing[:, None], np.nan)[:, 0]
        made = _law(plane.law, step, overlaps, normals, relative, slid, before, mean, radii, self.masses[i])
        made.pairs = pairs
        self.forces[i] += (made.elastic + made.viscous)[:, None] * normals + made.tangential
        self.torques[i] -= arm[:, None] * np.cross(normals, made.tangential)
        return made

    def _remembered(self, pairs: np.ndarray, values: np.ndarray, new: float = 0.0) -> np.ndarray:
        """What the contacts of these pairs had, rows of ``values``; ``new`` for those that are."""
        known, size = self.contacts.pairs, len(self.radii) + len(self.planes)
        keys, wanted = known @ [size, 1], pairs @ np.array([size, 1])
        if not len(keys):
            return np.full((len(pairs), values.shape[1]), new)
        at = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
        return np.where((keys[at] == wanted)[:, None], values[at], new)


def _law(
    law: Law,
    step: float,
    overlaps: np.ndarray,
    normals: np.ndarray,
    relative: np.ndarray,
    displacements: np.ndarray,
    before: np.ndarray,
    mean_spins: np.ndarray,
    radii: np.ndarray,
    masses: np.ndarray,
) -> Contacts:
    """Forces of contacts on i, and their memory after them; radii and masses are the reduced ones."""
    a = np.sqrt(radii * overlaps)
    elastic = 4.0 / 3.0 * law.young * a * overlaps if law.stiffness is None else law.stiffness * overlaps
    kt = 8.0 * law.shear * a if law.tangential_stiffness is None else np.full_like(a, law.tangential_stiffness)
    if law.restitution is None:
        eta_n, eta_t = law.viscous_damping * masses, law.tangential_damping * masses
    elif law.stiffness is None:
        eta_n = 2.0 * np.sqrt(5.0 / 6.0) * decrement(law.restitution) * np.sqrt(2.0 * law.young * a * masses)
        eta_t = law.tangential_damping * eta_n
    else:
        eta_n = 2.0 * decrement(law.restitution) * np.sqrt(law.stiffness * masses)
        eta_t = law.tangential_damping * eta_n
    along = np.einsum("ij,ij->i", relative, normals)
    across = relative - along[:, None] * normals
    # At the end of the step, as far as this half step and the one before it say; LAMMPS takes that of the half step.
    ends = along if law.convention == "lammps" else np.where(np.isnan(before), along, 1.5 * along - 0.5 * before)
    viscous = -eta_n * ends
    if not law.attractive_tail:
        viscous = np.maximum(viscous, -elastic)
    pressing = np.abs(elastic + viscous)

    xi = np.array(displacements)
    if step > 0.0:
        length = np.linalg.norm(xi, axis=1)
        if law.convention == "consistent":
            about = np.einsum("ij,ij->i", mean_spins, normals)
            xi = xi + step * about[:, None] * np.cross(normals, xi)
        out = np.einsum("ij,ij->i", xi, normals)
        turned = np.abs(out) * kt >= law.slack * law.static_friction * pressing
        flat = xi - out[:, None] * normals
        now = np.linalg.norm(flat, axis=1)
        flat *= np.divide(length, now, out=np.zeros_like(now), where=now > 0.0)[:, None]
        xi = np.where(turned[:, None], flat, xi)
        xi = xi + step * across
    resisting = -eta_t[:, None] * across
    tangential = -kt[:, None] * xi + resisting
    size = np.linalg.norm(tangential, axis=1)
    sliding = size > law.static_friction * pressing
    capped = (
        tangential
        * np.divide(law.kinetic_friction * pressing, size, out=np.zeros_like(size), where=size > 0.0)[:, None]
    )
    if law.convention == "lammps":  # without a displacement there is no friction: of the first evaluation only
        capped = np.where(np.any(xi != 0.0, axis=1)[:, None], capped, 0.0)
    # Where it slips, spring and damper stretch together and give what friction leaves: −k ξ' − η (ξ' − ξ)/h, with ξ
    # before the way of this step. In LAMMPS the damper has all of the slip, and the spring makes up for it.
    held, stiff = eta_t[:, None] * (xi - step * across) - step * capped, step * kt + eta_t
    if law.convention == "lammps":
        held, stiff = resisting - capped, kt
    slid = np.divide(held, stiff[:, None], out=np.zeros_like(xi), where=stiff[:, None] > 0.0)
    slid = np.where(np.any(xi != 0.0, axis=1)[:, None], slid, xi) if law.convention == "lammps" else slid
    tangential = np.where(sliding[:, None], capped, tangential)
    xi = np.where(sliding[:, None], slid, xi)
    empty = np.zeros((len(a), 2), dtype=np.int64)
    return Contacts(empty, xi, overlaps, np.array(normals), elastic, viscous, tangential, sliding, along)
