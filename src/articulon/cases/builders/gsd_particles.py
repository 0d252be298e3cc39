"""Particles from a GSD file, the format of HOOMD-blue."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Literal, Self

import numpy as np
from pydantic import Field, PrivateAttr

from articulon.building import ModelBuilder
from articulon.cases.builders.builder_base import BaseBuilder
from articulon.declaration import Flag, Whole, marked
from articulon.errors import CaseError, ModelError
from articulon.gsd_files import opened_gsd
from articulon.inputs import clipped
from articulon.model import Free, Xyz
from articulon.model.array_rotations import quaternion_product
from articulon.model.box import Boundary, Box
from articulon.model.shapes import Particle

REPEATS: tuple[Boundary, Boundary, Boundary] = ("periodic", "periodic", "periodic")
ROUND = ("Sphere", "Undefined", "")
"""GSD shapes that become contact spheres."""
ROUNDED = 1e-3
"""Largest error of the norm of an orientation that is accepted as a rounding error of single precision."""


class GsdParticles(BaseBuilder):
    """The particles of one frame of a GSD file: positions, orientations, velocities, masses, moments of inertia,
    charges, diameters, types and the box. The numbers of the file are in the units of the case.

    A particle with moments of inertia is a free body; any other is a point that translates but does not rotate. Site k
    is at the centre of particle k; its kind is the type of the particle.
    """

    error_class: ClassVar = ModelError

    builder: Literal["gsd"] = "gsd"
    file: str
    """Path of the GSD file, relative to the case."""
    sha256: str | None = None
    """SHA-256 of the file, so that a run does not continue with a different file; computed when the case is read."""
    frame: Annotated[Whole, Field(ge=0)] | None = None
    """Index of the frame, from 0; by default the last."""
    boundaries: tuple[Boundary, Boundary, Boundary] = REPEATS
    """Boundary in the direction of each edge of the box: periodic, open, or reflecting."""
    spheres: Flag = True
    """Whether particles are contact spheres with their diameters."""

    _inferred: tuple[str, ...] = PrivateAttr(default=())

    def beside(self, source: str) -> Self:
        """Return a copy whose file is located beside a case file and recorded by a digest; raises CaseError if it is
        missing or has changed."""
        return marked(self, "file", source, "model")

    @property
    def inferred(self) -> tuple[str, ...]:
        """Assumptions made when the model was last populated, one line each."""
        return self._inferred

    def populate(self, builder: ModelBuilder) -> None:
        """Add the bodies, their sites and the box."""
        frame = self._read()
        particles, where = frame.particles, clipped(self.file)
        self._check(frame)
        builder.box = self._box(frame, builder)
        inertia = np.array(particles.moment_inertia, dtype=float)
        turns = np.asarray((inertia > 0.0).any(axis=1))
        orientation = _unit(np.array(particles.orientation, dtype=float), where)
        spin = _spins(orientation, np.array(particles.angmom, dtype=float), inertia)
        place, velocity = np.array(particles.position, dtype=float), np.array(particles.velocity, dtype=float)
        types = [str(particles.types[k]) for k in particles.typeid]
        q = [np.r_[place[k], orientation[k]] if turns[k] else place[k] for k in range(len(types))]
        u = [np.r_[velocity[k], spin[k]] if turns[k] else velocity[k] for k in range(len(types))]
        joints = [Free() if free else Xyz() for free in turns]
        names = [f"{kind}-{k}" for k, kind in enumerate(types)]
        mass, shapes = np.array(particles.mass, dtype=float), self._shapes(particles)
        if shapes:
            bodies = np.arange(len(types))
            for k, kind in enumerate(types):
                start = {"q": q[k], "u": u[k]}
                shape = shapes.get(kind)
                builder.add_body(names[k], mass=mass[k], inertia=inertia[k], joint=joints[k], shape=shape, **start)
        else:
            start = {"q": np.concatenate([*q, []]), "u": np.concatenate([*u, []])}
            added = builder.add_bodies(len(types), mass=mass, inertia=inertia, joint=joints, names=names, **start)
            bodies = np.arange(added.start, added.stop)
        builder.add_sites(
            bodies,
            positions=np.zeros(3),
            charge=np.array(particles.charge, dtype=float),
            kind=types,
            radius=0.5 * np.array(particles.diameter, dtype=float) if self.spheres else 0.0,
        )
        self._inferred = _left_out(frame, where)

    def _read(self) -> Any:
        with opened_gsd(self.file, "model.file: ") as frames:
            count = len(frames)
            number = count - 1 if self.frame is None else self.frame
            if not 0 <= number < count:
                raise CaseError(f"model.frame: {clipped(self.file)} has {count} frames, counted from 0; got {number}")
            return frames[number]

    def _check(self, frame: Any) -> None:
        """Raise ModelError for features of the particles in a file that are not supported."""
        where = f"model.file: {clipped(self.file)}"
        if int(frame.configuration.dimensions) != 3:
            raise ModelError(f"{where} is two-dimensional; only three-dimensional files are supported")
        body = np.array(frame.particles.body, dtype=np.int64)
        numbers, count = np.unique(body[body >= 0], return_counts=True)
        if (count > 1).any():
            shared = numbers[count > 1][0]
            first, second = np.flatnonzero(body == shared)[:2].tolist()
            raise ModelError(
                f"{where}: particles {first} and {second} are parts of one rigid body, {shared}; only files of single "
                "particles are supported; define rigid bodies under [[model.bodies]]"
            )

    def _box(self, frame: Any, builder: ModelBuilder) -> Box:
        """Box of the file, centred on the origin."""
        if builder.box is not None:
            raise ModelError(
                f"box: {clipped(self.file)} has its own box, and the case has a section [box]; leave it out"
            )
        lx, ly, lz, xy, xz, yz = (float(x) for x in frame.configuration.box)
        tilts = xy * ly, xz * lz, yz * lz
        corner = [-0.5 * float(x) for x in np.array([[lx, 0, 0], [tilts[0], ly, 0], [*tilts[1:], lz]]).sum(axis=0)]
        try:
            return Box(lengths=(lx, ly, lz), tilts=tilts, boundaries=self.boundaries, origin=tuple(corner)).resolved(
                builder.units, "box"
            )
        except ValueError as error:
            raise ModelError(f"model.file: {clipped(self.file)}: its box is invalid: {clipped(error)}") from None

    def _shapes(self, particles: Any) -> dict[str, Particle]:
        """Shapes of the types that are not represented by a sphere."""
        given = zip(particles.types, particles.type_shapes or (), strict=False)
        return {
            str(kind): Particle(file=self.file, type=str(kind))
            for kind, shape in given
            if str((shape or {}).get("type", "")) not in ROUND
        }


def _unit(orientation: np.ndarray, where: str) -> np.ndarray:
    """Return Euler parameters normalised to 1 (n, 4), from those of a file in single precision."""
    norm = np.linalg.norm(orientation, axis=1)
    wrong = np.flatnonzero(~(np.abs(norm - 1.0) < ROUNDED))
    if wrong.size:
        k = int(wrong[0])
        raise ModelError(f"model.file: {where}: particle {k}: its orientation has the norm {norm[k]:.6g}, not 1")
    return np.asarray(orientation / norm[:, None])


def _spins(orientation: np.ndarray, angmom: np.ndarray, inertia: np.ndarray) -> np.ndarray:
    """Angular velocities in the frames of the particles (n, 3), from HOOMD-blue's angular momenta p = 2 q S (Kamberaj,
    Li and Hansen, J. Chem. Phys. 122, 224114, 2005). Here q is the orientation and S = q* p / 2 the angular momentum in
    the frame of the particle."""
    momentum = 0.5 * quaternion_product(orientation * [1.0, -1.0, -1.0, -1.0], angmom)[:, 1:]
    return np.asarray(np.divide(momentum, inertia, out=np.zeros_like(momentum), where=inertia > 0.0))


def _left_out(frame: Any, where: str) -> tuple[str, ...]:
    """Return the contents of the file that are left out, one line each."""
    found = []
    for name in ("bonds", "angles", "dihedrals", "impropers", "constraints", "pairs"):
        count = int(getattr(frame, name).N or 0)
        if count:
            found.append(f"{where}: {count} {name} are left out: a GSD file does not contain their force laws")
    return tuple(found)
