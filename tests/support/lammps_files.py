"""Small LAMMPS data files of melts, written by hand."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import numpy as np

from tests.support.particle_models import box_vectors


class Melt(NamedTuple):
    """A melt of bead–spring chains as a data file, and what is in it."""

    text: str
    positions: np.ndarray
    """Unwrapped, in the order of ids, shape (atoms, 3)."""
    velocities: np.ndarray
    bonds: np.ndarray
    """By index, shape (bonds, 2)."""
    masses: np.ndarray


COEFFICIENTS = {
    "Pair Coeffs # lj/cut/coul/cut": ["1 1.0 1.0", "2 0.6 0.9"],
    "Bond Coeffs # fene": ["1 30.0 1.5 1.0 1.0", "2 25.0 1.6 0.8 0.95"],
    "Angle Coeffs # hybrid": ["1 harmonic 3.0 110.0", "2 cosine 1.3"],
    "Dihedral Coeffs # hybrid": [
        "1 harmonic 0.7 -1 3",
        "2 opls 0.4 -0.3 0.8 0.1",
        "3 charmm 0.9 2 35 0.0",
        "4 quadratic 0.4 -80.0",
    ],
    "Improper Coeffs # cvff": ["1 0.6 -1 2"],
}
"""Every bonded style that has a counterpart but the harmonic bond."""
REAL_COEFFICIENTS = {
    "Pair Coeffs # lj/cut/coul/cut": ["1 0.1 3.4", "2 0.07 3.1"],
    "Bond Coeffs # harmonic": ["1 300.0 3.6", "2 250.0 3.5"],
    "Angle Coeffs # harmonic": ["1 50.0 110.0", "2 40.0 105.0"],
    "Dihedral Coeffs # opls": [f"{k} 1.3 -0.2 0.3 0.0" for k in (1, 2, 3, 4)],
    "Improper Coeffs # cvff": ["1 0.6 -1 2"],
}
"""Of common styles, for beads 3.6 Å apart, in kcal/mol."""
STYLES = (
    "bond_style fene",
    "angle_style hybrid harmonic cosine",
    "dihedral_style hybrid harmonic opls charmm quadratic",
    "improper_style cvff",
)
LOW = (-1.0, 0.5, 2.0)


def melt(
    seed: int = 1,
    *,
    chains: int = 4,
    beads: int = 8,
    tilts: tuple[float, float, float] = (1.0, -0.7, 1.3),
    unit: float = 1.0,
    images: bool = True,
    coefficients: dict[str, list[str]] | None = None,
) -> Melt:
    """Chains in a box of edges of about nine, lines of all sections in random order; ``unit`` is the length of 1 σ."""
    rng = np.random.default_rng(seed)
    lengths = (9.0, 8.5, 9.5)
    vectors = box_vectors(lengths, tilts)
    places: list[np.ndarray] = []
    while len(places) < chains * beads:
        chain = _chain(rng, beads, vectors, places)
        places += chain if len(chain) == beads else []
    x, n = np.array(places), chains * beads
    image = np.floor((x - LOW) @ np.linalg.inv(vectors)).astype(int)
    inside = (x - image @ vectors) * unit
    velocities, charges = rng.normal(size=(n, 3)), rng.choice([-0.5, 0.0, 0.5], n)
    members = {"Bonds": (2, 2), "Angles": (3, 2), "Dihedrals": (4, 4), "Impropers": (4, 1)}
    first = [c * beads + b for c in range(chains) for b in range(beads)]
    listed = {
        title: [[i + j for j in range(size)] for i in first if i % beads + size <= beads]
        for title, (size, _) in members.items()
    }
    lines = ["a melt", "", f"{n} atoms", *(f"{len(rows)} {title.lower()}" for title, rows in listed.items())]
    lines += ["2 atom types", *(f"{types} {title[:-1].lower()} types" for title, (_, types) in members.items())]
    for axis, low, length in zip("xyz", LOW, lengths, strict=True):
        lines.append(f"{low * unit!r} {(low + length) * unit!r} {axis}lo {axis}hi")
    lines += [f"{' '.join(repr(tilt * unit) for tilt in tilts)} xy xz yz"] if any(tilts) else []
    sections = {"Masses": ["1 1.0", "2 1.7"], **(COEFFICIENTS if coefficients is None else coefficients)}
    for title, rows in sections.items():
        lines += ["", title, "", *rows]
    flags = [f" {' '.join(map(str, row))}" if images else "" for row in image.tolist()]
    lines += ["", "Atoms # full", ""]
    lines += [
        f"{i + 1} {i // beads + 1} {1 + i % 2} {float(charges[i])!r} {_numbers(inside[i])}{flags[i]}"
        for i in rng.permutation(n).tolist()
    ]
    lines += ["", "Velocities", "", *(f"{i + 1} {_numbers(velocities[i])}" for i in rng.permutation(n).tolist())]
    for title, (_, types) in members.items():
        rows = enumerate(listed[title])
        lines += ["", title, ""]
        lines += [f"{k + 1} {k % types + 1} {' '.join(str(i + 1) for i in row)}" for k, row in rows]
    masses = np.where(np.arange(n) % 2 == 0, 1.0, 1.7)
    return Melt("\n".join(lines) + "\n", x * unit, velocities, np.array(listed["Bonds"]), masses)


def _chain(rng: np.random.Generator, beads: int, vectors: np.ndarray, others: list[np.ndarray]) -> list[np.ndarray]:
    """A random walk that keeps off itself and others; shorter where it has run into them."""
    inverse = np.linalg.inv(vectors)

    def clear(place: np.ndarray, taken: list[np.ndarray]) -> bool:
        if not taken:
            return True
        apart = (np.array(taken) - place) @ inverse
        apart = (apart - np.rint(apart)) @ vectors
        return bool((apart**2).sum(axis=1).min() > 0.95**2)

    chain: list[np.ndarray] = []
    for _ in range(600):
        if not chain:
            new = rng.random(3) @ vectors + LOW
        else:
            step = rng.normal(size=3)
            new = chain[-1] + step * (rng.uniform(0.93, 1.03) / np.linalg.norm(step))
        if clear(new, others + chain[:-1]):
            chain.append(new)
        if len(chain) == beads:
            break
    return chain


def _numbers(values: np.ndarray) -> str:
    return " ".join(repr(float(value)) for value in values)


SMALL = """two molecules

5 atoms
3 bonds
1 angles
2 atom types
2 bond types
1 angle types

0.0 10.0 xlo xhi
0.0 10.0 ylo yhi
-5.0 5.0 zlo zhi

Masses

1 1.5
2 2.0

Bond Coeffs # harmonic

1 100.0 1.0
2 50.0 1.1   # not so stiff

Angle Coeffs # harmonic

1 5.0 109.5

Atoms # molecular

1 1 1 9.5 1.0 0.0 0 0 0
7 2 2 5.0 5.0 0.0 0 0 0
2 1 2 0.5 1.0 0.0 1 0 0
3 1 1 0.5 2.0 0.0 1 0 0
9 2 1 5.0 6.1 0.0 0 0 0

Velocities

1 0.0 0.0 0.1
2 0.0 0.2 0.0
3 0.0 0.0 0.0
7 0.3 0.0 0.0
9 0.0 0.0 0.0

Bonds

1 1 1 2
2 1 2 3
3 2 7 9

Angles

1 1 1 2 3
"""
"""A chain of three through a face of the box and a pair, of two types of bonds."""


def written(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


def line_of(text: str, start: str) -> int:
    """Number of the last line that starts so."""
    return max(k for k, line in enumerate(text.split("\n"), start=1) if line.startswith(start))
