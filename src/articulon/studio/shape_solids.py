"""Solids for the shapes that a model gives to its bodies."""

from __future__ import annotations

import numpy as np

from articulon.errors import ModelError
from articulon.inputs import clipped
from articulon.model import Model, shapes
from articulon.model.array_rotations import matrices
from articulon.studio import colours
from articulon.studio.drawn_meshes import MOST_TRIANGLES, MeshSolids, drawn
from articulon.studio.solids import Solids


class ShapeSolids:
    """Balls, rods, boxes and surfaces of a model's shapes.

    Parameters
    ----------
    model
        The model.
    colour
        Red, green and blue of each body, shape (bodies, 3).

    Raises
    ------
    ModelError
        For a mesh that does not exist or cannot be read; the message names the file and the body.
    """

    def __init__(self, model: Model, colour: np.ndarray) -> None:
        self.balls: list[Solids] = []
        self.rods: list[Solids] = []
        self.boxes: list[Solids] = []
        self._meshes: dict[tuple[object, ...], list[tuple[int, shapes.Mesh | shapes.Particle]]] = {}
        self._model, self._colour = model, colour
        for body, several in enumerate(model.shapes):
            for shape in several:
                self._add(body, shape)

    def _add(self, body: int, shape: shapes.Shape) -> None:
        place, turn = shape.place, shape.turn
        one, colour = np.array([body]), self._colour[body]
        if isinstance(shape, shapes.Sphere):
            self.balls.append(Solids.at(one, place, np.array([float(shape.radius)]), colour))
        elif isinstance(shape, shapes.Box):
            edges = np.array([[float(edge) for edge in shape.size]])
            self.boxes.append(Solids.at(one, place, edges, colour, turn[None]))
        elif isinstance(shape, shapes.Cylinder | shapes.Capsule):
            radius, length = float(shape.radius), float(shape.length)
            if length > 0.0:
                self.rods.append(Solids.at(one, place, np.array([[radius, radius, length]]), colour, turn[None]))
            if isinstance(shape, shapes.Capsule):
                half = 0.5 * length * matrices(turn)[:, 2]
                ends = np.stack([place - half, place + half])
                self.balls.append(Solids.at(np.array([body, body]), ends, np.full(2, radius), colour))
        elif isinstance(shape, shapes.Mesh):
            self._meshes.setdefault((shape.file, shape.scale), []).append((body, shape))
        elif isinstance(shape, shapes.Particle):
            form = shape.form(self._where(body, shape))
            if len(form.radii):
                self._add_balls(body, shape, form.centres, form.radii, colour)
            else:
                self._meshes.setdefault((shape.file, shape.scale, shape.type), []).append((body, shape))
        elif isinstance(shape, shapes.Atoms):
            from articulon.molecules.atom_balls import balls_of_atoms

            atoms = balls_of_atoms(shape.file, shape.age, self._where(body, shape))
            middle = atoms.places.mean(axis=0) if shape.centred else 0.0
            radii = np.repeat(shape.unit * atoms.radii[:, None], 3, axis=1)
            painted = colours.of_elements(atoms.elements)
            self._add_balls(body, shape, shape.unit * (atoms.places - middle), radii, painted)

    def _where(self, body: int, shape: shapes.FileShape) -> str:
        """Return the name of a shape for messages."""
        word = "mesh" if isinstance(shape, shapes.Mesh) else type(shape).__name__.lower()
        return f"body '{self._model.names[body]}', shape: {word} {clipped(shape.file)}"

    def _add_balls(
        self, body: int, shape: shapes.Shape, centres: np.ndarray, radii: np.ndarray, colour: np.ndarray
    ) -> None:
        """Add ellipsoids with centres and radii in the frame of a shape [length], both (n, 3)."""
        places = shape.place + centres @ matrices(shape.turn).T
        turns = np.tile(shape.turn, (len(radii), 1))
        self.balls.append(Solids.at(np.full(len(radii), body), places, radii, colour, turns))

    def meshes(self) -> tuple[MeshSolids, ...]:
        """Return the meshes of files, one batch for each file and scale."""
        read = []
        for members in self._meshes.values():
            body, shape = members[0]
            where = self._where(body, shape)
            vertices, triangles = shape.triangles(where)
            if not np.isfinite(vertices).all():
                raise ModelError(f"{where}: has corners that are not finite")
            read.append((members, vertices, triangles))
        total = sum(len(triangles) for _, _, triangles in read)
        part = min(1.0, MOST_TRIANGLES / total) if total else 1.0
        found = []
        for members, vertices, triangles in read:
            mesh, middle, half = drawn(vertices, triangles, max(int(part * len(triangles)), 12))
            bodies = np.array([body for body, _ in members])
            turns = np.array([shape.turn for _, shape in members])
            places = np.array([shape.place for _, shape in members]) + matrices(turns) @ middle
            solids = Solids.at(bodies, places, np.ones(len(members)), np.zeros(3), turns)
            found.append(MeshSolids(mesh, half, solids._replace(colour=self._colour[bodies].astype(np.uint8))))
        return tuple(found)
