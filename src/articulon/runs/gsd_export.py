"""Export of the contact spheres of a run as a GSD file, which OVITO, freud and HOOMD-blue read.

Each contact sphere is a particle; bodies without spheres are left out. A particle has the diameter, centre and velocity
of its sphere. Its orientation, mass, moment of inertia, angular momentum and body number are those of the body that
carries the sphere. The masses of several spheres on one body must therefore not be added up.

GSD has no fields for angular velocities and forces. They are stored as logged quantities in OVITO's format. Every frame
has ``particles/angular_velocity``. The last frame also has the contacts, which are in the checkpoint of the run:
``particles/contact_force``, the total contact force on a sphere; ``particles/contacts``, the number of its contacts;
and a bond of the type ``contact`` for each contact between two spheres, with ``bonds/normal_force`` and
``bonds/tangential_force``. In earlier frames the forces and numbers of contacts are NaN.

The box of a GSD file is periodic in all directions and centred at the origin. Along periodic directions of the model,
the box is that of the model, shifted so that its centre is the origin. Centres of spheres are wrapped into it, and the
images count the boxes that they have crossed. Along other directions, coordinates are those of the run, and the box is
so large that no two spheres interact through its faces.
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
"""Free space beyond the outermost sphere along non-periodic directions, as a multiple of the largest diameter."""


def write_gsd(results: Path | Run, file: Path | None = None) -> Path:
    """Write the contact spheres of a run, finished or not.

    Parameters
    ----------
    results
        The folder of the run, or an open run. The case and the model of an open run are used without changes.
    file
        The file, by default ``spheres.gsd`` in the folder. An existing file is replaced.

    Returns
    -------
    Path
        The file.

    Raises
    ------
    ArticulonError
        If the package gsd is not installed, the folder contains no run, or the run has no spheres.
    """
    hoomd = _hoomd()
    run = results if isinstance(results, Run) else Run(results, Case.read(results / "case.toml"))
    folder = run.folder
    model: Model = run.case.build_model(run_code=False) if run.known_model is None else run.known_model
    spheres = np.flatnonzero(model.sites.radius > 0.0)
    if not spheres.size:
        raise ArticulonError(f"{folder}: the run has no contact spheres to export; give bodies sites with a radius")
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
                # NaN must be written explicitly, because readers of GSD take missing fields from the first frame.
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
        raise ArticulonError("the export of GSD files needs the package gsd: pip install 'articulon[grains]'") from None
    return gsd.hoomd


def _constant(model: Model, spheres: np.ndarray) -> dict[str, Any]:
    """Return the fields that are equal in all frames."""
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
    """Positions and velocities of the spheres at a frame, as a GSD frame."""
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
    """Return the quaternion 2 q S, HOOMD-blue's form of the angular momentum (Kamberaj, Li and Hansen, J. Chem. Phys.
    122, 224114, 2005), shape (spheres, 4). q is the orientation, and S the angular momentum about the centre of mass in
    the body frame."""
    xx, xy, xz, yy, yz, zz = np.where((body >= 0)[:, None], model.inertias[body], 0.0).T
    inertia = np.stack([xx, xy, xz, xy, yy, yz, xz, yz, zz], axis=1).reshape(-1, 3, 3)
    inside = np.einsum("kji,kj->ki", matrices(turn), spin)
    S = np.einsum("kij,kj->ki", inertia, inside)
    scalar, vector = turn[:, :1], turn[:, 1:]
    product = np.concatenate([-np.sum(vector * S, axis=1, keepdims=True), scalar * S + np.cross(vector, S)], axis=1)
    return np.asarray(2.0 * product)


def _add_contacts(frame: Any, spheres: np.ndarray, contacts: ContactRecords) -> None:
    """Add the contacts of a frame: the total force on each sphere, and a bond for each contact between two spheres."""
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
    """Return the edges of the box in the file as rows (3, 3), the point that becomes its origin (3,), and its periodic
    directions (3,)."""
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
    """Wrap positions into the box about the origin; also return the numbers of edges crossed."""
    image = np.where(periodic, np.rint(places @ np.linalg.inv(edges)), 0.0)
    return places - image @ edges, image.astype(np.int32)


def _hoomd_box(edges: np.ndarray) -> list[float]:
    """Lengths and tilt factors of the box in HOOMD-blue's convention."""
    (lx, _, _), (xy, ly, _), (xz, yz, lz) = edges.tolist()
    return [lx, ly, lz, xy / ly, xz / lz, yz / lz]
