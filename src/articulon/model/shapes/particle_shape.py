"""Shape of a particle type in a GSD file, as HOOMD-blue writes it and OVITO shows it.

The supported forms are defined by the GSD schema, ``particles/type_shapes``.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Annotated, Any, ClassVar, Literal, NamedTuple

import numpy as np

from articulon.declaration import Dimension, Quantity, nearest
from articulon.errors import ModelError
from articulon.gsd_files import opened_gsd
from articulon.inputs import clipped
from articulon.model.shapes.file_shape import FileShape
from articulon.model.surfaces import surface, volume_integrals

KEPT = 128
"""Number of forms that are kept in memory after they are read."""


class Form(NamedTuple):
    """Form of a particle type, in the units of its file: ellipsoids, or a surface."""

    centres: np.ndarray
    """Centres of the ellipsoids, shape (n, 3)."""
    radii: np.ndarray
    """Radii along the axes of the particle, shape (n, 3)."""
    vertices: np.ndarray
    """Vertices of the surface, shape (m, 3)."""
    triangles: np.ndarray
    """Vertex indices of each triangle, counter-clockwise as seen from outside, shape (k, 3)."""


class Particle(FileShape):
    """A particle type of a GSD file: a sphere, an ellipsoid, a union of spheres, a convex polyhedron or a mesh. A type
    without a shape is a sphere with the diameter of its particles."""

    positional: ClassVar[tuple[str, ...]] = ("file",)
    noun: ClassVar[str] = "GSD file"
    kind: Literal["particle"] = "particle"
    file: str
    """Path, relative to the folder of the case file; in Python, relative to the working directory."""
    type: str | None = None
    """Name of the type. The default is for a file with a single type."""
    scale: Annotated[Quantity, Dimension("length", minimum=0, exclusive=True)] = 1.0
    """Length of one unit in the file [length]."""
    sha256: str | None = None
    """SHA-256 of the file, written by the program to detect changes."""

    def form(self, where: str = "") -> Form:
        """Return the ellipsoids or the surface in the shape's frame [length]. Raises ModelError if the file cannot be
        read, has no such type, or gives the type an unsupported shape; the message names the file after ``where``."""
        try:
            found = _form(self.file, self.age, self.type)
        except ModelError as error:
            raise ModelError(f"{where or f'particle {clipped(self.file)}'}: {error}") from None
        unit = self._number("scale", self.scale)
        return Form(unit * found.centres, unit * found.radii, unit * found.vertices, found.triangles.copy())

    def triangles(self, where: str = "") -> tuple[np.ndarray, np.ndarray]:
        """Return the vertices of the surface in the shape's frame [length], shape (n, 3), and the vertex indices of
        each triangle, shape (m, 3); empty for ellipsoids. Raises ModelError in the cases of :meth:`form`."""
        form = self.form(where)
        return form.vertices, form.triangles

    def _measures(self) -> tuple[float, np.ndarray, np.ndarray]:
        where = f"particle {clipped(self.file)}"
        form = self.form(where)
        if len(form.triangles):
            closed = surface(form.vertices, form.triangles, where)
            return volume_integrals(closed.vertices, closed.triangles)
        # Overlapping volumes of spheres count twice; so do overlapping shapes of a body.
        volumes = 4.0 / 3.0 * np.pi * form.radii.prod(axis=1)
        volume = float(volumes.sum())
        centre = volumes @ form.centres / volume
        inertia = np.zeros((3, 3))
        for part, place, radii in zip(volumes, form.centres - centre, form.radii, strict=True):
            squares = radii**2
            inertia += part / 5.0 * np.diag(squares.sum() - squares)
            inertia += part * (place @ place * np.eye(3) - np.outer(place, place))
        return volume, centre, inertia


@lru_cache(KEPT)
def _form(file: str, age: int, word: str | None) -> Form:
    with opened_gsd(file) as frames:
        particles = frames[0].particles
        types, shapes = list(particles.types), list(particles.type_shapes or ())
        kinds, diameters = np.array(particles.typeid), np.array(particles.diameter, dtype=float)
    if word is None and len(types) > 1:
        raise ModelError(f"type: the file has several, {', '.join(types)}; choose one")
    if word is not None and word not in types:
        raise ModelError(f"type: {clipped(file)} has no particles '{clipped(word)}'{nearest(word, types)}")
    number = 0 if word is None else types.index(word)
    shape = shapes[number] if number < len(shapes) else {}
    if isinstance(shape, Mapping) and shape.get("type"):
        return _form_of(shape, f"type '{types[number]}'")
    found = np.unique(diameters[kinds == number])
    if found.size != 1:
        raise ModelError(
            f"type '{types[number]}' has no shape, and {found.size or 'no'} diameters; write its type_shapes "
            "into the file, or give the body a sphere"
        )
    return _form_of({"type": "Sphere", "diameter": float(found[0])}, f"type '{types[number]}'")


def _form_of(shape: Mapping[str, Any], where: str) -> Form:
    """Convert a shape of the GSD schema to a form."""
    kind = str(shape["type"])
    none, no_triangles = np.zeros((0, 3)), np.zeros((0, 3), dtype=np.int64)

    def numbers(key: str, size: tuple[int, ...], default: Any = None) -> np.ndarray:
        try:
            found = np.array(shape.get(key, default), dtype=float)
        except (TypeError, ValueError):
            found = np.zeros(0)
        fits = found.ndim == len(size) and all(b in (-1, a) for a, b in zip(found.shape, size, strict=True))
        if not fits or not found.size or not np.isfinite(found).all():
            raise ModelError(f"{where}: {kind}: '{key}' is missing or has invalid numbers")
        return found

    def positive(values: np.ndarray) -> np.ndarray:
        if not (values > 0.0).all():
            raise ModelError(f"{where}: {kind}: its sizes must be positive, got {clipped(values.tolist())}")
        return values

    if kind == "Sphere":
        radii = np.full((1, 3), 0.5 * positive(numbers("diameter", ())))
        return Form(np.zeros((1, 3)), radii, none, no_triangles)
    if kind == "Ellipsoid":
        radii = positive(np.array([[float(numbers(key, ())) for key in "abc"]]))
        return Form(np.zeros((1, 3)), radii, none, no_triangles)
    if kind == "SphereUnion":
        centres, diameters = numbers("centers", (-1, 3)), positive(numbers("diameters", (-1,)))
        if len(centres) != len(diameters):
            raise ModelError(f"{where}: {kind}: has {len(centres)} centers and {len(diameters)} diameters")
        return Form(centres, np.repeat(0.5 * diameters[:, None], 3, axis=1), none, no_triangles)
    if kind == "Mesh":
        vertices, corners = numbers("vertices", (-1, 3)), numbers("indices", (-1, 3))
        triangles = corners.astype(np.int64)
        if (triangles != corners).any() or triangles.min() < 0 or triangles.max() >= len(vertices):
            raise ModelError(f"{where}: {kind}: 'indices' names vertices that do not exist")
        return Form(np.zeros((0, 3)), none, vertices, triangles)
    if kind == "ConvexPolyhedron":
        if float(numbers("rounding_radius", (), 0.0)) > 0.0:
            raise ModelError(f"{where}: {kind}: a rounding_radius is not supported; give the body another shape")
        return Form(np.zeros((0, 3)), none, *_hull(numbers("vertices", (-1, 3)), where))
    raise ModelError(
        f"{where}: {clipped(kind)} is not supported; use Sphere, Ellipsoid, SphereUnion, ConvexPolyhedron and Mesh"
    )


def _hull(points: np.ndarray, where: str) -> tuple[np.ndarray, np.ndarray]:
    """Vertices and triangles of the convex hull of points (n, 3), counter-clockwise as seen from outside."""
    from scipy.spatial import ConvexHull, QhullError

    try:
        hull = ConvexHull(points)
    except (QhullError, ValueError) as error:
        raise ModelError(f"{where}: ConvexPolyhedron: its vertices lie in a plane, or are too few") from error
    triangles = hull.simplices.astype(np.int64)
    a, b, c = (points[triangles[:, k]] for k in range(3))
    inwards = np.einsum("ij,ij->i", np.cross(b - a, c - a), hull.equations[:, :3]) < 0.0
    triangles[inwards] = triangles[inwards][:, ::-1]
    used, corner = np.unique(triangles, return_inverse=True)
    return points[used], corner.reshape(-1, 3)
