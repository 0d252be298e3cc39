"""Jointed chains whose equilibrium is known: drawn exactly, and averaged by quadrature.

At equilibrium a chain with joint coordinates q and speeds u has the density e^{−U/kT} √det M(q) over q (angles, and
rotations evenly), and Gaussian speeds of covariance kT M⁻¹. M is the only thing taken from the engine.
"""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np

import articulon as ar
from tests.support.running import momenta, turned

TAPER = 0.85
"""Size of a body over that of the one before."""
IDENTITY = np.array([1.0, 0.0, 0.0, 0.0])


@dataclasses.dataclass(frozen=True)
class Chain:
    """Bodies one after the other from the ground on, with a spring in every joint."""

    spherical: bool
    """Spherical joints; else revolute ones, with axes at 60° to each other."""
    links: int
    kT: float
    stiffness: float
    """In kT/rad²."""

    @property
    def joint_speeds(self) -> int:
        return 3 if self.spherical else 1

    @property
    def joint_coordinates(self) -> int:
        return 4 if self.spherical else 1

    def forest(self, count: int, noise: bool = True, fixman: bool = False) -> Any:
        """``count`` independent chains, without the bias of their rigidity if ``fixman``. Lighter bodies lie further
        out; none is symmetric or centred."""
        builder = ar.ModelBuilder(units="lj")
        axes = [(0.0, 0.0, 1.0), (0.0, np.sqrt(0.75), 0.5), (np.sqrt(0.75), 0.0, 0.5)]
        for c in range(count):
            parent: Any = None
            for k in range(self.links):
                size = TAPER**k
                parent = builder.add_body(
                    f"{c}-{k}",
                    parent=parent,
                    joint=ar.Spherical() if self.spherical else ar.Revolute(axis=axes[k % 3]),
                    mass=size**3,
                    inertia=size**5 * np.array([0.3, 0.4, 0.5]),
                    com=size * np.array([0.5, 0.1, 0.0]),
                    position=(0.0, 0.0, 0.0) if k == 0 else TAPER ** (k - 1) * np.array([1.0, 0.0, 0.2]),
                )
        builder.add_force(ar.forces.TorsionalSprings(stiffness={"*": self.stiffness * self.kT}))
        sizes = {f"*-{k}": TAPER**k for k in range(self.links)}
        by_body = {f"{c}{name[1:]}": size for c in range(count) for name, size in sizes.items()}
        builder.add_force(
            ar.forces.StokesDrag(
                translational={name: 2.0 * size for name, size in by_body.items()},
                rotational={name: 1.5 * size**3 for name, size in by_body.items()},
            )
        )
        if noise:
            builder.add_force(ar.forces.Brownian(temperature=self.kT))
        if fixman:
            builder.add_force(ar.forces.Fixman(temperature=self.kT))
        return builder.build()

    def fastest(self) -> float:
        """The shortest relaxation time of the straight chain, from the eigenvalues of M⁻¹D."""
        model = self.forest(1)
        D = -np.array([ar.generalized_forces(model, model.q0, u, ["damping"]) for u in np.eye(model.nu)])
        return float(1.0 / np.linalg.eigvals(np.linalg.solve(ar.mass_matrix(model, model.q0), D.T)).real.max())

    def coordinates(self, angles: np.ndarray) -> np.ndarray:
        """q of one chain from rotation vectors or angles of its joints, shape (links, 3 or 1)."""
        if not self.spherical:
            return angles.ravel()
        return turned(np.broadcast_to(IDENTITY, (self.links, 4)), angles).ravel()

    def measure(self, angles: np.ndarray) -> float:
        """Haar measure over that of the rotation vectors; 0 beyond half a turn, where they are no coordinates."""
        if not self.spherical:
            return 1.0
        angle = np.linalg.norm(angles, axis=-1)
        return float(np.prod(np.sinc(0.5 * angle / np.pi) ** 2 * (angle < np.pi)))

    def root_determinant(self, single: Any, angles: np.ndarray) -> float:
        return float(np.sqrt(np.linalg.det(ar.mass_matrix(single, self.coordinates(angles)))))

    def mean_spring_energies(self, points: int = 12) -> np.ndarray:
        """⟨½ k φ²⟩ of each joint in kT, by Gauss–Hermite quadrature over all joints but the first: M is free of it."""
        single, width = self.forest(1), 1.0 / np.sqrt(self.stiffness)
        x, w = np.polynomial.hermite_e.hermegauss(points)
        free = self.joint_speeds
        inner = np.stack(np.meshgrid(*[x] * (free * (self.links - 1)), indexing="ij"), axis=-1).reshape(
            -1, self.links - 1, free
        )
        weights = np.prod(
            np.stack(np.meshgrid(*[w] * (free * (self.links - 1)), indexing="ij"), axis=-1), axis=-1
        ).ravel()
        total, sums = 0.0, np.zeros(self.links - 1)
        for point, weight in zip(inner, weights, strict=True):
            if weight < 1e-14 * weights.max():
                continue
            angles = np.concatenate([np.zeros((1, free)), width * point])
            p = weight * self.measure(angles) * self.root_determinant(single, angles)
            total += p
            sums += p * 0.5 * (point**2).sum(axis=-1)
        first = 0.5
        if self.spherical:
            r = np.linspace(0.0, np.pi / width, 20001)
            p = np.exp(-0.5 * r**2) * np.sin(0.5 * width * r) ** 2
            first = float(0.5 * (p * r**2).sum() / p.sum())
        return np.concatenate([[first], sums / total])

    def draw(self, count: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        """q and u of ``count`` chains at equilibrium, by rejection."""
        single, width = self.forest(1), 1.0 / np.sqrt(self.stiffness)
        shape = (self.links, self.joint_speeds)
        # √det M is bounded; a scan that includes the extremes of the joints finds the bound, and no draw may exceed it.
        scan = [self.root_determinant(single, 2.0 * rng.normal(size=shape)) for _ in range(500)]
        bound = 1.1 * max(*scan, self.root_determinant(single, np.zeros(shape)))
        q, u = [], []
        while len(q) < count:
            angles = width * rng.normal(size=shape)
            if rng.random() >= self.measure(angles):
                continue
            root = self.root_determinant(single, angles)
            assert root <= bound
            if rng.random() * bound < root:
                q.append(self.coordinates(angles))
                L = np.linalg.cholesky(ar.mass_matrix(single, q[-1]))
                u.append(np.linalg.solve(L.T, rng.normal(size=single.nu)) * np.sqrt(self.kT))
        return np.concatenate(q), np.concatenate(u)

    def spring_energies(self, q: np.ndarray) -> np.ndarray:
        """½ k φ² of each joint in kT, shape (chains, links)."""
        joints = q.reshape(-1, self.links, self.joint_coordinates)
        if not self.spherical:
            return 0.5 * self.stiffness * joints[..., 0] ** 2
        half = np.arctan2(np.linalg.norm(joints[..., 1:], axis=-1), np.abs(joints[..., 0]))
        return 0.5 * self.stiffness * (2.0 * half) ** 2

    def equipartition(self, model: Any, q: np.ndarray, u: np.ndarray) -> np.ndarray:
        """u_i p_i in kT, shape (chains, speeds)."""
        return (u * momenta(model, q, u)).reshape(-1, self.links * self.joint_speeds) / self.kT


def mean_and_error(series: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Mean over times and chains of (times, chains, …), and its standard error.

    The error comes from the spread of the chains' own means, which are independent.
    """
    means = series.mean(axis=0)
    return means.mean(axis=0), means.std(axis=0, ddof=1) / np.sqrt(means.shape[0])
