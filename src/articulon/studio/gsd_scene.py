"""Three-dimensional scene of the particles of a GSD file: balls or the shapes of particle types, bonds, and the box."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from articulon.building import ModelBuilder
from articulon.errors import ModelError
from articulon.gsd_files import opened_gsd
from articulon.model import Model
from articulon.model.box import Box
from articulon.model.joints import Free
from articulon.model.shapes import Particle
from articulon.studio.file_frames import FileFrames, chosen
from articulon.studio.scene import scene_of
from articulon.studio.solids import Springs
from articulon.studio.stage import Frame

UNITS = "lj"
"""Units of the model that represents the particles, because a GSD file does not name its units."""
BYTES = 28
"""Size of a particle in a frame [bytes]."""


def gsd_frames(file: Path) -> FileFrames:
    """Read a GSD file for the page that plays it.

    Types, diameters, shapes and bonds are taken from the first frame. All frames must have the same number of
    particles.

    Raises
    ------
    ModelError
        For a file that cannot be read, that has no frame or no particles, or in which the number of particles changes.
    """
    with opened_gsd(file) as content:
        count = len(content)
        if not count:
            raise ModelError(f"{file}: there is no frame in it yet; look again when the simulation has written one")
        first = content[0]
        particles = int(first.particles.N)
        if not particles:
            raise ModelError(f"{file}: there are no particles in its first frame, and so nothing to show")
        numbers = chosen(count, BYTES * particles)
        found = [(number, content[number]) for number in numbers]
        model = _model(file, first)
        edges = _edges(first)
        frames, steps, times = [], [], []
        for number, one in found:
            frames.append(_frame(file, number, one, particles, edges))
            steps.append(int(one.configuration.step or 0))
            times.append(np.ravel((one.log or {}).get("time", np.nan))[0])
        bonds = np.array(first.bonds.group if first.bonds.N else [], dtype=np.int64).reshape(-1, 2)
    if not (np.isfinite(times).all() and (np.diff(times) > 0.0).all()):
        times = [float(number) for number in numbers]
    frames = [frame._replace(time=float(time)) for frame, time in zip(frames, times, strict=True)]
    scene = scene_of(model, frames[0].positions, frames[0].rotations)
    origin = np.zeros(3)
    scene = replace(scene, springs=Springs.of([((a, origin), (b, origin)) for a, b in bonds.tolist()]))
    labels = [f"step {step:,}" for step in steps]
    return FileFrames(file.name, scene, frames, labels, f"{particles:,} particles", count)


def _edges(frame: Any) -> np.ndarray:
    """Return the edges of the box, as rows [length], shape (3, 3). Two-dimensional files have a box without height; it
    gets the height of the largest particle."""
    lx, ly, lz, xy, xz, yz = (float(x) for x in frame.configuration.box)
    if int(frame.configuration.dimensions or 3) == 2 or lz <= 0.0:
        lz = float(np.max(frame.particles.diameter))
    return np.array([[lx, 0.0, 0.0], [xy * ly, ly, 0.0], [xz * lz, yz * lz, lz]])


def _model(file: Path, frame: Any) -> Model:
    """Return a model that represents the particles: free bodies, each with a ball or a shape, and the box."""
    particles, edges = frame.particles, _edges(frame)
    types = [str(name) for name in particles.types]
    kinds = np.array(particles.typeid, dtype=np.int64)
    if kinds.size and not 0 <= kinds.min() <= kinds.max() < len(types):
        raise ModelError(f"{file}: its particles have types beyond the {len(types)} that it names; correct the file")
    diameters = np.array(particles.diameter, dtype=float)
    wrong = np.flatnonzero(~(np.isfinite(diameters) & (diameters >= 0.0)))
    if wrong.size:
        raise ModelError(f"{file}: particle {wrong[0]} has the diameter {diameters[wrong[0]]:.6g}; correct the file")
    if not (np.isfinite(edges).all() and (np.diag(edges) > 0.0).all()):
        raise ModelError(f"{file}: its box has the lengths {np.diag(edges).tolist()}, which must be positive")
    box = Box(lengths=tuple(np.diag(edges).tolist()), origin=tuple((-0.5 * edges.sum(axis=0)).tolist()))
    builder = ModelBuilder(units=UNITS, box=box)
    shaped = {
        k: Particle(file=str(file), type=types[k])
        for k, shape in enumerate((particles.type_shapes or [])[: len(types)])
        if str((shape or {}).get("type", "")) not in ("Sphere", "Undefined", "")
    }
    has_shape = np.isin(kinds, list(shaped))
    if shaped:
        for k, kind in enumerate(kinds.tolist()):
            shape = shaped.get(kind)
            builder.add_body(f"particle-{k}", mass=1.0, inertia=1.0, joint=Free(), shape=shape)
    else:
        builder.add_bodies(len(kinds), mass=1.0, inertia=1.0, joint=Free(), names="particle")
    round_ones = np.flatnonzero(~has_shape)
    if round_ones.size:
        builder.add_sites(
            round_ones,
            positions=np.zeros(3),
            kind=[types[k] for k in kinds[round_ones].tolist()],
            radius=0.5 * diameters[round_ones],
        )
    return builder.build()


def _frame(file: Path, number: int, frame: Any, particles: int, first: np.ndarray) -> Frame:
    """Return a frame. A GSD box is centred on the origin. It is shifted so that its lower corner is at the lower corner
    ``first`` of the first frame's box."""
    if int(frame.particles.N) != particles:
        raise ModelError(
            f"{file}: frame {number} has {frame.particles.N} particles and frame 0 has {particles}, and only files in "
            "which their number stays the same can be shown; write the frames with equal numbers into a file of their "
            "own"
        )
    places = np.array(frame.particles.position, dtype=float)
    turns = np.array(frame.particles.orientation, dtype=float)
    norms = np.linalg.norm(turns, axis=1, keepdims=True)
    edges = _edges(frame)
    wrong = np.flatnonzero(~np.isfinite(places).all(axis=1) | ~np.isfinite(norms[:, 0]) | (norms[:, 0] == 0.0))
    if wrong.size or not np.isfinite(edges).all():
        what = f"particle {wrong[0]}" if wrong.size else "the box"
        raise ModelError(f"{file}: frame {number}: {what} has a place or an orientation that is not a number")
    places += 0.5 * (edges - first).sum(axis=0)
    return Frame(places.astype(np.float32), (turns / norms).astype(np.float32), float(number), edges)
