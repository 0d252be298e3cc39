"""Walls that repel sites: the non-periodic faces of the box."""

from functools import cache
from typing import Any, Literal, Self, TypeAlias

import numpy as np
from pydantic import model_validator

from articulon.declaration import nearest
from articulon.errors import ModelError
from articulon.forces.sites.laws.cutoffs import CutPairs, Truncation, cut_rows, ends_of
from articulon.forces.sites.laws.lennard_jones import LEAVES, lennard_jones
from articulon.forces.sites.listed_members import add_virial
from articulon.forces.sites.mixing import LennardJonesKind
from articulon.forces.sites.site_positions import site_positions
from articulon.forces.sites.site_tables import ENERGY, LAPLACIAN, SiteTable
from articulon.forces.sites.site_terms import SumTerm
from articulon.kernel_variants import specialised
from articulon.kernels import jit
from articulon.model import Model
from articulon.thermostats.total_momentum import OUTSIDE

Face = Literal["x-", "x+", "y-", "y+", "z-", "z+"]
Faces: TypeAlias = tuple[Face, ...] | Literal["all"]
FACES: tuple[Face, ...] = ("x-", "x+", "y-", "y+", "z-", "z+")


class LennardJonesWall(CutPairs):
    """U = 4ε[(σ/d)¹² − (σ/d)⁶] for every site, with d its distance from a face of the box (Guy 2018, 3.10).

    The two faces of a direction are named after it: ``x-`` passes through the corner where the box starts. A site
    beyond a face has no defined energy, and ends the run.
    """

    kind: Literal["lennard-jones-wall"] = "lennard-jones-wall"
    faces: Faces = "all"
    """Faces that act as walls; by default all of the non-periodic directions."""
    parameters: dict[str, LennardJonesKind]
    """Parameters by kind of site."""

    @model_validator(mode="after")
    def _once(self) -> Self:
        check_faces(self.faces)
        return self

    def check(self, model: Model, where: str) -> None:
        """Raises ModelError without a box, for faces of periodic directions or with walls from another declaration, for
        kinds that do not exist or have no parameters, and for a site that is not inside the walls at the start."""
        self.check_switch(where)
        for k, other in enumerate(model.forces):
            if other is self:
                break
            if isinstance(other, LennardJonesWall):
                for face in set(self.faces_of(model, where)) & set(other.faces_of(model, f"forces[{k}]")):
                    raise ModelError(f"{where}.faces: forces[{k}] has a wall at {face} already; leave one of them out")
        table = self.table(model, where)
        kinds = model.sites.kinds
        for kind in self.parameters:
            if kind not in kinds:
                raise ModelError(f"{where}.parameters: there are no sites of the kind '{kind}'{nearest(kind, kinds)}")
        sites = table.members[:, 0]
        x = site_positions(model, model.q0)[sites]
        for face, wall in zip(self.faces_of(model, where), table.constants.reshape(-1, 4), strict=True):
            distance = x @ wall[:3] + wall[3]
            beyond = np.flatnonzero(~(distance > 0.0))
            if beyond.size:
                s = int(sites[beyond[0]])
                body = model.names[int(model.sites.body[s])]
                raise ModelError(
                    f"{where}: site {s} on body '{body}' is {-distance[beyond[0]]:.6g} beyond the face {face} at the "
                    "start; move it inside, or make the box larger"
                )

    def table(self, model: Model, where: str) -> SiteTable:
        """Return a row of the law for each kind, (site, kind) as members, and inward normal and offset of each face."""
        sites = model.sites
        walls = np.array([face_plane(model, face) for face in self.faces_of(model, where)])
        moving = np.flatnonzero(sites.body >= 0)
        powers = []
        for k, kind in enumerate(sites.kinds):
            if kind not in self.parameters and (sites.kind[moving] == k).any():
                raise ModelError(f"{where}.parameters: the kind '{kind}' is missing")
            well = self.parameters.get(kind)
            epsilon, sigma = (0.0, 0.0) if well is None else (float(well.epsilon), float(well.sigma))
            powers.append((4.0 * epsilon * sigma**12, 4.0 * epsilon * sigma**6))
        A, B = np.array(powers).reshape(-1, 2).T
        truncation, rc, start, _ = ends_of(self)
        energy, slope = A / rc**12 - B / rc**6, -12.0 * A / rc**13 + 6.0 * B / rc**7
        rows = cut_rows(np.stack([A, B], axis=1), rc, truncation, start, energy, slope)
        members = np.full((moving.size, 4), -1, dtype=np.int64)
        members[:, 0], members[:, 1] = moving, sites.kind[moving]
        return SiteTable(rows, members, walls.ravel())

    def momentum_changes(self, model: Model) -> str | None:
        """See ``site_terms.py``."""
        return OUTSIDE

    def site_terms(self, model: Model) -> list[SumTerm]:
        """Return the walls as terms of the site forces."""
        forces, measure = _kernels(self.truncation)
        return [SumTerm(forces, measure, self.table(model, self.kind))]

    def distances(self, model: Model, point: np.ndarray) -> list[tuple[Face, float]]:
        """Distance of a point (3,) from every wall, positive inside [length]."""
        planes = [(face, face_plane(model, face)) for face in self.faces_of(model)]
        return [(face, float(plane[:3] @ point + plane[3])) for face, plane in planes]

    def faces_of(self, model: Model, where: str = "") -> tuple[Face, ...]:
        """Return the faces that act as walls in a model."""
        return faces_of_box(model, self.faces, where)


def check_faces(faces: Faces) -> None:
    """Raises ValueError if no face is named, or a face is named twice."""
    if faces == ():
        raise ValueError("faces: the list is empty; name some, or leave the key out for all")
    if faces != "all" and len(set(faces)) != len(faces):
        raise ValueError("faces: one is given twice")


def faces_of_box(model: Model, faces: Faces, where: str) -> tuple[Face, ...]:
    """Return the named faces of a model's box; raises ModelError for faces that it does not have."""
    box = model.box
    if box is None:
        raise ModelError(f"{where}: such walls are faces of the box, and there is none; give the model a box")
    free = tuple(face for face in FACES if not box.periodic["xyz".index(face[0])])
    if not free:
        raise ModelError(f"{where}.faces: the box is periodic in all directions, so that it has no walls")
    if faces == "all":
        return free
    for face in faces:
        if face not in free:
            raise ModelError(f"{where}.faces: the box is periodic in {face[0]}, so that {face} is not a wall")
    return faces


def face_plane(model: Model, face: Face) -> np.ndarray:
    """Inward normal n and offset c of a face: a point r is n·r + c inside it, shape (4,)."""
    assert model.box is not None
    across = np.linalg.inv(model.box.vectors)[:, "xyz".index(face[0])]
    width = 1.0 / np.linalg.norm(across)
    normal = across * width
    low = -float(normal @ np.array([float(v) for v in model.box.origin]))
    return np.array([*normal, low]) if face[1] == "-" else np.array([*-normal, width - low])


WALL = lennard_jones
"""Placeholder for the law of a wall in the loops below."""


@jit
def square_inside(distance):
    """Squared distance from a face; NaN beyond the face, because a law would not see the sign."""
    return np.nan if distance < 0.0 else distance * distance


def wall_forces(table, cell, particles, neighbours):
    """Add −∇U of each site and face."""
    x, y, z, place = particles.x, particles.y, particles.z, particles.place
    fx, fy, fz, members, walls = particles.fx, particles.fy, particles.fz, table.members, table.constants
    rows = table.rows
    for m in range(members.shape[0]):
        p, k = place[members[m, 0]], members[m, 1]
        for w in range(0, walls.size, 4):
            d = walls[w] * x[p] + walls[w + 1] * y[p] + walls[w + 2] * z[p] + walls[w + 3]
            d2 = square_inside(d)
            g = WALL(d2, rows, k, 0.0)[1]
            f = 0.0 if d2 >= rows[k, 0] else g * d
            fx[p] += f * walls[w]
            fy[p] += f * walls[w + 1]
            fz[p] += f * walls[w + 2]


def wall_measure(table, cell, particles, neighbours, result):
    """Add the measures of each site and face; in the virial, the vector from the partner is the distance from the
    face."""
    x, y, z, place = particles.x, particles.y, particles.z, particles.place
    members, walls = table.members, table.constants
    rows = table.rows
    for m in range(members.shape[0]):
        p, k = place[members[m, 0]], members[m, 1]
        for w in range(0, walls.size, 4):
            d = walls[w] * x[p] + walls[w + 1] * y[p] + walls[w + 2] * z[p] + walls[w + 3]
            d2 = square_inside(d)
            if d2 >= rows[k, 0]:
                continue
            U, g, laplacian = WALL(d2, rows, k, 0.0)
            result[ENERGY] += U
            result[LAPLACIAN] += laplacian + 2.0 * g  # U'', because the distance depends on one coordinate
            dx, dy, dz = d * walls[w], d * walls[w + 1], d * walls[w + 2]
            add_virial(result, g * dx, g * dy, g * dz, dx, dy, dz)


@cache
def _kernels(truncation: Truncation) -> tuple[Any, Any]:
    leaf, name = LEAVES[truncation]
    return (
        specialised(wall_forces, f"wall_forces_{name}", called="value", WALL=leaf),
        specialised(wall_measure, f"wall_measure_{name}", called="value", WALL=leaf),
    )
