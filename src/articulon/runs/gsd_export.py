"""The spheres of a run as a GSD file, which OVITO, freud and HOOMD-blue read.

A particle is a contact sphere; a body without any is left out. Of each it has the diameter, the place of the centre,
its velocity, and the orientation, mass, moment of inertia, angular momentum and number of the body that carries it (so
the masses of spheres on one body are not to be added up). GSD has no field for angular velocities and forces; they are
logged, as OVITO reads them: ``particles/angular_velocity`` in every frame, and in the last one, of which the run's
checkpoint has them, ``particles/contact_force``, the sum of the contact forces on a sphere, ``particles/contacts``, how
many those are, and a bond of the type ``contact`` for each contact between two spheres, with ``bonds/normal_force`` and
``bonds/tangential_force``; before that both are NaN. Space in a GSD file repeats in all
directions about the origin. Where the model's box is periodic the file's box is that one, moved so that its middle is
the origin, and centres are in it, with the number of boxes that they have left behind as images; in any other direction
coordinates are those of the run, and the box reaches far enough that no two spheres see each other through a face.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from articulon.cases.case import Case
from articulon.errors import ArticulonError
from articulon.forces.contact.sphere_motion import angular_velocities, sphere_centres, sphere_velocities
from articulon.model import Model
from articulon.model.array_rotations import matrices
from articulon.simulation.contact_statistics import ContactRecords, saved_contacts
from articulon.simulation.results import Run
from articulon.storage.atomic_writing import replacing

FILE = "spheres.gsd"
ROOM = 2.0
"""Free space beyond the outermost sphere along a direction that is not periodic, in largest diameters."""


def write_gsd(results: Path | Run, file: Path | None = None) -> Path:
    """Write the contact spheres of a run, also of one that is still going.

    Parameters
    ----------
    results
        The folder of the run, or the run as it is at hand, whose case is not read and whose model is not built again.
    file
        The file; ``spheres.gsd`` in the folder by default. It is replaced.

    Returns
    -------
    Path
        The file.

    Raises
    ------
    ArticulonError
        Where the package gsd is not installed, the folder holds no run, or the run has no spheres.
    """
    hoomd = _hoomd()
    run = results if isinstance(results, Run) else Run(results, Case.read(results / "case.toml"))
    folder = run.folder
    model: Model = run.case.build_model(run_code=False) if run.known_model is None else run.known_model
    spheres = np.flatnonzero(model.sites.radius > 0.0)
    if not spheres.size:
        raise ArticulonError(f"{folder}: the run has no contact spheres to be written; give bodies sites with a radius")
    target = folder / FILE if file is None else file
    constant = _constant(model, spheres)
    edges, middle, periodic = _box(model, spheres, run)
    saved = saved_contacts(folder, model)
    with replacing(target) as stream, hoomd.open(str(stream.name), mode="w") as out:
        for k, time in enumerate(run.times):
            frame = _frame(hoomd, model, spheres, run, k)
            for name, value in constant.items():
                setattr(frame.particles, name, value)
            if saved is not None and k == 0:
                # What a frame does not have is read from the first one.
                frame.log["particles/contact_force"] = np.full((spheres.size, 3), np.nan, dtype=np.float32)
                frame.log["particles/contacts"] = np.full(spheres.size, np.nan, dtype=np.float32)
                frame.log["bonds/normal_force"] = np.zeros(0, dtype=np.float32)
                frame.log["bonds/tangential_force"] = np.zeros(0, dtype=np.float32)
            if saved is not None and k == len(run.times) - 1 and abs(saved[0] - time) <= 1e-9 * abs(time):
                _add_contacts(frame, spheres, saved[1])
            frame.particles.position, frame.particles.image = _wrapped(
                frame.particles.position - middle, edges, periodic
            )
            frame.configuration.box = _hoomd_box(edges)
            frame.configuration.step = k
            frame.log["time"] = np.array([time])
            out.append(frame)
    return target


def _hoomd() -> Any:
    try:
        import gsd.hoomd
    except ImportError:
        raise ArticulonError("GSD files are written by the package gsd: pip install 'articulon[grains]'") from None
    return gsd.hoomd


def _constant(model: Model, spheres: np.ndarray) -> dict[str, Any]:
    """What is the same in every frame."""
    sites = model.sites
    body = sites.body[spheres]
    carried = body >= 0
    inertia = np.where(carried[:, None], model.inertias[np.where(carried, body, 0)][:, [0, 3, 5]], 0.0)
    return {
        "N": spheres.size,
        "types": list(sites.kinds),
        "typeid": sites.kind[spheres].astype(np.uint32),
        "diameter": 2.0 * sites.radius[spheres],
        "mass": np.where(carried, model.masses[np.where(carried, body, 0)], 0.0),
        "moment_inertia": inertia,
        "charge": sites.charge[spheres],
        "body": body.astype(np.int32),
    }


def _frame(hoomd: Any, model: Model, spheres: np.ndarray, run: Run, k: int) -> Any:
    """Where the spheres are at a frame, and how they move."""
    frame, sites = hoomd.Frame(), model.sites
    centres = sphere_centres(model, run.positions[k], run.rotations[k])
    velocity = sphere_velocities(model, run.q[k], run.u[k], centres)[spheres]
    body, turn = sites.body[spheres], np.tile([1.0, 0.0, 0.0, 0.0], (spheres.size, 1))
    turn[body >= 0] = run.rotations[k][body[body >= 0]]
    frame.particles.position, frame.particles.velocity, frame.particles.orientation = centres[spheres], velocity, turn
    spin = np.where((body >= 0)[:, None], angular_velocities(model, run.q[k], run.u[k])[body], 0.0)
    frame.particles.angmom = _angular_momentum(model, body, turn, spin)
    frame.log["particles/angular_velocity"] = spin.astype(np.float32)
    return frame


def _angular_momentum(model: Model, body: np.ndarray, turn: np.ndarray, spin: np.ndarray) -> np.ndarray:
    """2 q S with the angular momentum S of the bodies about their centres of mass in their own frame, as HOOMD-blue has
    it (Kamberaj, Li and Hansen, J. Chem. Phys. 122, 224114, 2005), shape (spheres, 4)."""
    xx, xy, xz, yy, yz, zz = np.where((body >= 0)[:, None], model.inertias[body], 0.0).T
    inertia = np.stack([xx, xy, xz, xy, yy, yz, xz, yz, zz], axis=1).reshape(-1, 3, 3)
    inside = np.einsum("kji,kj->ki", matrices(turn), spin)
    S = np.einsum("kij,kj->ki", inertia, inside)
    scalar, vector = turn[:, :1], turn[:, 1:]
    product = np.concatenate([-np.sum(vector * S, axis=1, keepdims=True), scalar * S + np.cross(vector, S)], axis=1)
    return np.asarray(2.0 * product)


def _add_contacts(frame: Any, spheres: np.ndarray, contacts: ContactRecords) -> None:
    """The contacts of a frame: what they sum up to on each sphere, and a bond for each between two spheres."""
    place = np.full(int(spheres.max()) + 1, -1)
    place[spheres] = np.arange(spheres.size)
    first, second, pairs = place[contacts.first], place[contacts.second], contacts.between_spheres
    total = np.zeros((spheres.size, 3))
    np.add.at(total, first, contacts.force)
    np.subtract.at(total, second[pairs], contacts.force[pairs])
    count = np.bincount(np.concatenate([first, second[pairs]]), minlength=spheres.size)
    frame.log["particles/contact_force"] = total.astype(np.float32)
    frame.log["particles/contacts"] = count.astype(np.float32)
    if not pairs.any():
        return
    frame.bonds.N, frame.bonds.types = int(pairs.sum()), ["contact"]
    frame.bonds.typeid = np.zeros(frame.bonds.N, dtype=np.uint32)
    frame.bonds.group = np.stack([first, second], axis=1)[pairs].astype(np.int32)
    frame.log["bonds/normal_force"] = contacts.normal_force[pairs].astype(np.float32)
    frame.log["bonds/tangential_force"] = np.linalg.norm(contacts.tangential[pairs], axis=1).astype(np.float32)


def _box(model: Model, spheres: np.ndarray, run: Run) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Edges of the file's box as rows (3, 3), what becomes its origin (3,), and where it is periodic (3,)."""
    largest = 2.0 * float(model.sites.radius[spheres].max())
    reach = np.zeros(3)
    for k in range(len(run.times)):
        centres = sphere_centres(model, run.positions[k], run.rotations[k])[spheres]
        reach = np.maximum(reach, np.abs(centres).max(axis=0))
    edges = np.diag(2.0 * (reach + (0.5 + ROOM) * largest))
    if model.box is None:
        return edges, np.zeros(3), np.zeros(3, dtype=bool)
    periodic, own = model.box.periodic, model.box.vectors
    edges[periodic] = own[periodic]
    corner = np.array([float(x) for x in model.box.origin])
    return edges, np.where(periodic, corner + 0.5 * own.sum(axis=0), 0.0), periodic


def _wrapped(places: np.ndarray, edges: np.ndarray, periodic: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Places in the box about the origin, and how many edges they had left it by."""
    image = np.where(periodic, np.rint(places @ np.linalg.inv(edges)), 0.0)
    return places - image @ edges, image.astype(np.int32)


def _hoomd_box(edges: np.ndarray) -> list[float]:
    """Lengths and tilt factors, as HOOMD-blue has them."""
    (lx, _, _), (xy, ly, _), (xz, yz, lz) = edges.tolist()
    return [lx, ly, lz, xy / ly, xz / lz, yz / lz]
