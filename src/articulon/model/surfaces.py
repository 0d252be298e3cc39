"""Triangle surfaces: reading them, checking that they are closed, numbering their edges, and their enclosed volume."""

import io
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from articulon.errors import ModelError
from articulon.inputs import clipped

FLAT = 1e-10
"""Largest ratio of area to squared longest edge for which a triangle counts as having no area, and so no normal."""


class Surface(NamedTuple):
    """A closed surface."""

    vertices: np.ndarray
    """Vertices, each only once [length], shape (vertices, 3)."""
    triangles: np.ndarray
    """Vertex indices of each triangle, with consistent orientation, shape (triangles, 3)."""
    edges: np.ndarray
    """Numbers of the edges ``ab``, ``bc`` and ``ca`` of each triangle with vertices a, b and c, shape (triangles, 3);
    two triangles share each edge."""

    @property
    def volume(self) -> float:
        """Enclosed volume [length³]; negative if the triangles are clockwise as seen from outside."""
        a, b, c = (self.vertices[self.triangles[:, k]] for k in range(3))
        return float(np.einsum("ij,ij->", a, np.cross(b, c))) / 6.0


def surface(vertices: np.ndarray, triangles: np.ndarray, where: str) -> Surface:
    """Return a surface of triangles after checking that it is closed.

    Vertices with the same coordinates are merged. Files of separate triangles contain every vertex several times.

    Parameters
    ----------
    vertices, triangles
        Vertices [length], shape (vertices, 3), and the three vertex indices of each triangle, shape (triangles, 3).
    where
        Name of the mesh in messages: a file or a key.

    Raises
    ------
    ModelError
        For a triangle without area, a vertex that does not exist or is not finite, an edge that does not belong to
        exactly two triangles, or an edge along which both triangles run in the same direction; the message names it.
    """
    vertices = np.asarray(vertices, dtype=np.float64)
    triangles = np.asarray(triangles)
    if vertices.ndim != 2 or vertices.shape[1] != 3 or triangles.ndim != 2 or triangles.shape[1] != 3:
        raise ModelError(
            f"{where}: expected vertices (n, 3) and triangles (m, 3), got {vertices.shape} and {triangles.shape}"
        )
    if triangles.shape[0] < 4:
        raise ModelError(f"{where}: {triangles.shape[0]} triangles cannot enclose a volume; it takes at least four")
    if not np.isfinite(vertices).all():
        bad = int(np.flatnonzero(~np.isfinite(vertices).all(axis=1))[0])
        raise ModelError(f"{where}: vertex {bad} is not finite")
    if triangles.min() < 0 or triangles.max() >= vertices.shape[0]:
        bad = int(np.flatnonzero(((triangles < 0) | (triangles >= vertices.shape[0])).any(axis=1))[0])
        raise ModelError(f"{where}: triangle {bad} has a vertex that does not exist: {triangles[bad].tolist()}")
    vertices, welded = np.unique(vertices + 0.0, axis=0, return_inverse=True)  # −0 and 0 are the same coordinate
    triangles = welded.reshape(-1)[triangles].astype(np.int64)
    _check_areas(vertices, triangles, where)
    return Surface(vertices, triangles, _edges(vertices, triangles, where))


def _check_areas(vertices: np.ndarray, triangles: np.ndarray, where: str) -> None:
    a, b, c = (vertices[triangles[:, k]] for k in range(3))
    area = 0.5 * np.linalg.norm(np.cross(b - a, c - a), axis=1)
    longest = np.max([np.linalg.norm(d, axis=1) for d in (b - a, c - b, a - c)], axis=0)
    flat = np.flatnonzero(area <= FLAT * longest**2)
    if flat.size:
        k = int(flat[0])
        more = f" (and {flat.size - 1} more)" if flat.size > 1 else ""
        raise ModelError(
            f"{where}: triangle {k}, with a corner at {_point(vertices[triangles[k, 0]])}, has no area{more}; "
            "remove it and join its neighbours"
        )


def _edges(vertices: np.ndarray, triangles: np.ndarray, where: str) -> np.ndarray:
    """Return the number of the edge for each side of each triangle; raises ModelError if an edge does not belong to
    exactly two triangles."""
    ends = np.stack([triangles, np.roll(triangles, -1, axis=1)], axis=2).reshape(-1, 2)
    low, high = ends.min(axis=1), ends.max(axis=1)
    pairs, number, count = np.unique(np.stack([low, high], axis=1), axis=0, return_inverse=True, return_counts=True)
    number = number.reshape(-1)
    for wrong, what in (
        (count < 2, "it is not closed: the edge from {} to {} belongs to one triangle only (there are {} such edges)"),
        (count > 2, "the edge from {} to {} belongs to more than two triangles, as do {} such edges in all"),
    ):
        bad = np.flatnonzero(wrong)
        if bad.size:
            ends_of = (_point(vertices[v]) for v in pairs[bad[0]])
            raise ModelError(f"{where}: {what.format(*ends_of, bad.size)}; close the mesh")
    forward = np.bincount(number, weights=(ends[:, 0] == low))
    bad = np.flatnonzero(forward != 1.0)
    if bad.size:
        first, second = np.flatnonzero(number == bad[0]) // 3
        raise ModelError(
            f"{where}: triangles {first} and {second} run along their common edge from "
            f"{_point(vertices[pairs[bad[0], 0]])} to {_point(vertices[pairs[bad[0], 1]])} in the same direction, so "
            "one of them is inside out; order the corners of all triangles counterclockwise as seen from outside"
        )
    return number.reshape(-1, 3)


def _point(x: np.ndarray) -> str:
    return "(" + ", ".join(f"{v:.6g}" for v in x) + ")"


def volume_integrals(vertices: np.ndarray, triangles: np.ndarray) -> tuple[float, np.ndarray, np.ndarray]:
    """Volume [length³], its centre [length] (3,), and the inertia about the centre for density 1 [length⁵] (3, 3).

    These are sums over tetrahedra: each has a triangle of the closed surface and the mean of all vertices as its
    corners. With the triangle's corners a, b and c relative to the mean, the volume of a tetrahedron is V = a·(b ×
    c)/6, and its integral of x xᵀ is V/20 (a aᵀ + b bᵀ + c cᵀ + s sᵀ), where s = a + b + c.
    """
    amid = vertices.mean(axis=0)  # with a distant point instead, rounding errors of large tetrahedra would remain
    a, b, c = (vertices[triangles[:, k]] - amid for k in range(3))
    parts = np.einsum("ij,ij->i", a, np.cross(b, c)) / 6.0
    volume = float(parts.sum())
    if volume == 0.0:
        return 0.0, amid, np.zeros((3, 3))
    s = a + b + c
    centre = 0.25 * parts @ s / volume
    second = sum(np.einsum("i,ij,ik->jk", parts, x, x) for x in (a, b, c, s)) / 20.0
    about = second - volume * np.outer(centre, centre)
    return volume, amid + centre, np.trace(about) * np.eye(3) - about


FORMATS = ("stl", "obj", "ply", "off", "dae")
"""File name extensions of the supported formats."""


def read_mesh(file: str, where: str) -> tuple[np.ndarray, np.ndarray]:
    """Return vertices (n, 3) in the units of the file and triangles (m, 3) of an STL, OBJ, PLY, OFF or COLLADA file.

    No other file is opened, even if this file names materials or textures.

    Raises
    ------
    ModelError
        If the file cannot be read or contains no triangles, or if ``trimesh`` is not installed; the message begins with
        ``where``.
    """
    try:
        import trimesh
    except ImportError:
        raise ModelError(
            f"{where}: reading a mesh needs trimesh; install it with pip install 'articulon[grains]', or give vertices "
            "and triangles"
        ) from None
    path = Path(file)
    if not path.is_file():
        raise ModelError(f"{where}: there is no file {path}")
    ending = path.suffix.lower().removeprefix(".")
    if ending not in FORMATS:
        raise ModelError(f"{where}: {path} cannot be read as a mesh: it must end in {', '.join(FORMATS)}")
    if ending == "dae" and find_spec("collada") is None:
        raise ModelError(
            f"{where}: reading {path.name} needs pycollada; install it with pip install 'articulon[robots]', or "
            "convert it to STL"
        )
    try:
        # Read from memory, because trimesh would open further files that a file given by its path names.
        given = io.BytesIO(path.read_bytes())
        loaded: Any = trimesh.load(given, file_type=ending, force="mesh", process=False)
    except Exception as error:
        raise ModelError(f"{where}: {path} cannot be read as a mesh: {clipped(error)}") from None
    faces = np.asarray(getattr(loaded, "faces", ()))
    if faces.ndim != 2 or faces.shape[0] == 0:
        raise ModelError(f"{where}: {path} holds no triangles")
    return np.asarray(loaded.vertices, dtype=np.float64), faces.astype(np.int64)
