"""Gases of hard spheres, and a second way to move them: every pair is looked at after every impact."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from articulon.integrate.hard_sphere_tables import PERIODIC, WALL
from articulon.integrate.sphere_gas import SphereBox, SphereGas

BASIS = np.array([[0.0, 0.0, 0.0], [0.5, 0.5, 0.0], [0.5, 0.0, 0.5], [0.0, 0.5, 0.5]])


@dataclass
class Start:
    """A gas with where it begins."""

    gas: SphereGas
    positions: np.ndarray
    velocities: np.ndarray


def lattice_gas(cells: int, packing: float, restitution: float = 1.0, seed: int = 1) -> Start:
    """Equal spheres of unit diameter and mass on a face-centred cubic lattice, of temperature 1."""
    n = 4 * cells**3
    edge = (n * np.pi / 6.0 / packing) ** (1.0 / 3.0)
    corners = np.indices((cells,) * 3).reshape(3, -1).T
    positions = (corners[:, None, :] + BASIS + 0.25).reshape(-1, 3) * edge / cells
    velocities = np.random.default_rng(seed).normal(size=positions.shape)
    velocities -= velocities.mean(axis=0)
    velocities *= np.sqrt((3.0 * n - 3.0) / (velocities**2).sum())
    box = SphereBox(np.zeros(3), np.full(3, edge), np.full(3, PERIODIC))
    gas = SphereGas(np.full(n, 0.5), np.ones(n), np.zeros(n, int), np.array([[restitution]]), box)
    return Start(gas, positions, velocities)


def mixture(faces: int = PERIODIC, gravity: tuple[float, float, float] = (0.0, 0.0, 0.0), seed: int = 2) -> Start:
    """Thirty spheres of two kinds, of other sizes and masses, thrown into a box with room to spare."""
    rng = np.random.default_rng(seed)
    n, edge = 30, 4.2
    kind = np.arange(n) % 2
    radius = np.where(kind == 0, 0.5, 0.3) * rng.uniform(0.8, 1.0, n)
    positions = np.zeros((0, 3))
    while len(positions) < n:
        at, R = rng.uniform(0.5, edge - 0.5, 3), radius[len(positions)]
        way = positions - at
        if faces == PERIODIC:
            way -= edge * np.rint(way / edge)
        if (np.linalg.norm(way, axis=1) > radius[: len(positions)] + R).all():
            positions = np.vstack([positions, at])
    restitution = np.array([[1.0, 0.9], [0.9, 0.7]])
    box = SphereBox(np.zeros(3), np.full(3, edge), np.full(3, faces))
    gas = SphereGas(radius, 8.0 * radius**3, kind, restitution, box, np.array(gravity))
    return Start(gas, positions, rng.normal(size=(n, 3)))


def by_all_pairs(start: Start, duration: float) -> tuple[np.ndarray, np.ndarray, int]:
    """Positions, velocities and impacts after a time, by looking for the first impact of all pairs and walls again and
    again: slow, and without cells, queues or local times."""
    gas, x, v = start.gas, start.positions.copy(), start.velocities.copy()
    edge, g, now, impacts = gas.box.high, gas.gravity, 0.0, 0
    first, second = np.triu_indices(len(x), 1)
    apart = gas.radius[first] + gas.radius[second]
    images = [np.zeros(3)]
    if (gas.box.faces == PERIODIC).all():
        images = [edge * (np.array(k) - 1.0) for k in np.ndindex(3, 3, 3)]
    while True:
        if len(images) > 1:
            x %= edge
        best, who = duration - now, None
        w = v[second] - v[first]
        for image in images:
            r = x[second] - x[first] + image
            b, a, c = (r * w).sum(axis=1), (w * w).sum(axis=1), (r * r).sum(axis=1) - apart**2
            discriminant = b * b - a * c
            meets = (b < 0.0) & (discriminant >= 0.0) & (c > -1e-9)
            when = np.full(len(b), np.inf)
            when[meets] = c[meets] / (np.sqrt(discriminant[meets]) - b[meets])
            k = int(np.argmin(when))
            if when[k] < best:
                best, who = max(float(when[k]), 0.0), ("pair", k, image)
        if (gas.box.faces == WALL).all():
            for i, axis, side in np.ndindex(len(x), 3, 2):
                gap = edge[axis] - gas.radius[i] - x[i, axis] if side else x[i, axis] - gas.radius[i]
                speed, push = (1 if side else -1) * v[i, axis], (1 if side else -1) * g[axis]
                roots = np.roots([0.5 * push, speed, -gap]) if push else np.array([gap / speed if speed else np.inf])
                for root in roots:
                    if (
                        abs(root.imag) == 0.0
                        and root.real > 1e-12
                        and speed + push * root.real > 0.0
                        and root.real < best
                    ):
                        best, who = float(root.real), ("wall", i, axis)
        x += v * best + 0.5 * g * best**2
        v += g * best
        now += best
        if who is None:
            return x, v, impacts
        impacts += 1
        if who[0] == "wall":
            v[who[1], who[2]] *= -1.0
            continue
        i, j = first[who[1]], second[who[1]]
        normal = x[j] - x[i] + who[2]
        normal /= np.linalg.norm(normal)
        e = gas.restitution[gas.kind[i], gas.kind[j]]
        mu = gas.mass[i] * gas.mass[j] / (gas.mass[i] + gas.mass[j])
        impulse = (1.0 + e) * mu * float((v[i] - v[j]) @ normal)
        v[i] -= impulse / gas.mass[i] * normal
        v[j] += impulse / gas.mass[j] * normal


def copy_of(start: Start) -> Start:
    """The same with arrays of its own."""
    return replace(start, positions=start.positions.copy(), velocities=start.velocities.copy())
