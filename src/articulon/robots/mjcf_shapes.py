"""Shapes of bodies from MuJoCo's geoms."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np

from articulon.model.array_rotations import quaternion_product
from articulon.model.shapes import Box, Capsule, Cylinder, Mesh, Shape, Sphere
from articulon.model.surfaces import FORMATS
from articulon.robots.mjcf_compiling import Compiled
from articulon.robots.robot_rotations import matrix_of

SEEN_GROUPS = 3
"""Number of geom groups, counted from the first, that MuJoCo's viewer shows by default."""


class GeomShapes:
    """The shapes of a model's geoms.

    Parameters
    ----------
    found
        Results of compiling the file with MuJoCo.
    path
        The MJCF file.
    meshes
        Whether meshes are drawn.
    leave
        Function that records an omission: its kind, and the name of the element.
    """

    def __init__(self, found: Compiled, path: Path, meshes: bool, leave: Callable[[str, str], None]) -> None:
        spec = found.spec
        self.m, self.unread, self.meshes, self._leave = found.model, found.unread, meshes, leave
        self.files: dict[str, tuple[Path, tuple[float, ...]]] = {}
        for mesh in spec.meshes:
            name = mesh.name or Path(mesh.file).stem
            if mesh.file:
                folder = path.parent / (spec.meshdir or "")
                self.files[name] = (folder / mesh.file, tuple(float(x) for x in mesh.scale))

    def of_body(self, body: int, name: str, offset: np.ndarray) -> tuple[Shape, ...]:
        """Shapes of a body whose frame has its origin at ``offset`` in MuJoCo's frame [m]. These are the shapes that
        MuJoCo's viewer shows by default, or all shapes of the body if the viewer shows none."""
        m = self.m
        first, count = int(m.body_geomadr[body]), int(m.body_geomnum[body])
        geoms = list(range(first, first + count))
        seen = [geom for geom in geoms if int(m.geom_group[geom]) < SEEN_GROUPS] or geoms
        return tuple(shape for geom in seen if (shape := self._shape(geom, name, offset)) is not None)

    def _shape(self, geom: int, body: str, offset: np.ndarray) -> Shape | None:
        import mujoco

        m = self.m
        kind = mujoco.mjtGeom(int(m.geom_type[geom])).name.removeprefix("mjGEOM_").lower()
        size = [float(x) for x in m.geom_size[geom]]
        place, turn = np.array(m.geom_pos[geom]) - offset, np.array(m.geom_quat[geom])
        label = m.geom(geom).name or f"number {geom} of {body}"
        if label in self.unread:
            self._leave("meshes, as requested", self.unread[label])
            return None
        if kind == "mesh":
            return self._mesh(int(m.geom_dataid[geom]), place, turn, label)
        at = {"position": tuple(place.tolist()), "rotation": tuple(turn.tolist())}
        if kind == "sphere":
            return Sphere(radius=size[0], **at)
        if kind == "capsule":
            return Capsule(radius=size[0], length=2.0 * size[1], **at)
        if kind == "cylinder":
            return Cylinder(radius=size[0], length=2.0 * size[1], **at)
        if kind == "box":
            return Box(size=tuple(2.0 * x for x in size), **at)
        self._leave("geoms that are not drawn", f"{label} ({kind})")
        return None

    def _mesh(self, mesh: int, place: np.ndarray, turn: np.ndarray, label: str) -> Shape | None:
        m = self.m
        name = m.mesh(mesh).name
        found = self.files.get(name)
        if not self.meshes:
            self._leave("meshes, as requested", name)
            return None
        if found is None or not found[0].is_file() or found[0].suffix.lower().removeprefix(".") not in FORMATS:
            self._leave("meshes that are not drawn", f"{name} of {label}")
            return None
        # MuJoCo moves a mesh to its centre of mass and rotates it to its principal axes. This is reversed here.
        at_file, of_file = np.array(m.mesh_pos[mesh]), np.array(m.mesh_quat[mesh])
        back = quaternion_product(turn, of_file * np.array([1.0, -1.0, -1.0, -1.0]))
        back /= np.linalg.norm(back)
        origin = place - matrix_of(back) @ at_file
        x, y, z = found[1]
        scale = x if x == y == z and x > 0.0 else (x, y, z)
        return Mesh(file=str(found[0]), scale=scale, position=tuple(origin.tolist()), rotation=tuple(back.tolist()))
