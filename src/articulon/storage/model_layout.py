"""Description of a model for the files of a run: names, units, topology."""

import os
from decimal import Decimal
from pathlib import Path

import numpy as np

from articulon import __version__
from articulon.dynamics import body_poses
from articulon.forces.sites.atom_positions import atom_positions
from articulon.model import Model
from articulon.model.box import Box
from articulon.model.coordinate_names import coordinate_names
from articulon.storage.atom_columns import AtomColumns
from articulon.storage.atom_topology import write_atom_topology
from articulon.storage.topology import write_topology
from articulon.storage.trajectory import TrajectoryLayout
from articulon.units import UnitSystem


def file_units(units: UnitSystem) -> tuple[tuple[str, float] | None, tuple[str, float] | None]:
    """Return the units of length and time in the trajectory, each with the factor that converts from the unit of the
    case.

    For unit systems with micrometres or smaller lengths, the units are nanometres and nanoseconds, which MDAnalysis
    knows. They are None in reduced units.
    """
    if units.length is None or units.time is None:
        return None, None
    if units.length > 1e-6:
        return (units.symbols[1], 1.0), (units.symbols[2], 1.0)
    # Powers of ten are exact as decimals, but not as floats.
    length, time = (float(Decimal(repr(value)) * 10**9) for value in (units.length, units.time))
    return ("nm", length), ("ns", time)


def label(units: UnitSystem, dimension: str) -> str:
    """Return the label of the unit of a dimension; empty if the dimension has no unit."""
    if not dimension or dimension == "dimensionless" or (units.mass is None and dimension != "angle"):
        return ""
    return units.label(dimension)


def trajectory_layout(
    model: Model, observables: dict[str, str], case: str, atoms: AtomColumns | None = None
) -> TrajectoryLayout:
    """Return the layout of a model's trajectory. ``observables`` gives the dimension of each observable by its name,
    ``case`` is the digest of the case, and ``atoms`` are the atoms that are stored in place of bodies."""
    units = model.units
    box = model.box if model.box is not None and model.box.periodic.any() else None
    length, time = file_units(units)
    coordinates, speeds = coordinate_names(model)
    spheres = np.flatnonzero(model.sites.radius > 0.0)
    return TrajectoryLayout(
        body_names=model.names,
        masses=model.masses,
        mass_unit=None if units.mass is None else units.symbols[0],
        nq=model.nq,
        nu=model.nu,
        coordinate_names=tuple(name for name, _ in coordinates),
        coordinate_units=tuple(label(units, dimension) for _, dimension in coordinates),
        speed_names=tuple(name for name, _ in speeds),
        speed_units=tuple(label(units, dimension) for _, dimension in speeds),
        observables={name: label(units, dimension) for name, dimension in observables.items()},
        length_unit=None if length is None else length[0],
        time_unit=None if time is None else time[0],
        length_factor=1.0 if length is None else length[1],
        time_factor=1.0 if time is None else time[1],
        sphere_bodies=model.sites.body[spheres] if spheres.size else None,
        sphere_positions=model.sites.position[spheres] if spheres.size else None,
        sphere_radii=model.sites.radius[spheres] if spheres.size else None,
        box_edges=None if box is None else box.vectors,
        boundaries=("periodic", "periodic", "periodic") if box is None else _boundaries(box),
        atoms=atoms,
        author=os.environ.get("USER") or os.environ.get("LOGNAME") or "unknown",
        creator_version=__version__,
        case=case,
    )


def _boundaries(box: Box) -> tuple[str, str, str]:
    """Return the boundaries of a box along its edges, as H5MD names them."""
    x, y, z = ("periodic" if repeats else "none" for repeats in box.periodic.tolist())
    return x, y, z


def write_model_topology(path: Path, model: Model, title: str, atoms: AtomColumns | None = None) -> None:
    """Write the stored atoms, or the bodies, at time zero, in the trajectory's unit of length."""
    if atoms is not None:
        write_atom_topology(path, model, atoms.atom, atom_positions(model, model.q0)[atoms.atom], title)
        return
    length, _ = file_units(model.units)
    unit, factor = (None, 1.0) if length is None else length
    positions, _ = body_poses(model, model.q0)
    # Bodies welded to the ground belong to no tree; they are shown as an additional tree.
    trees = np.append(model.tree_of_link, model.trees)[model.link]
    bonds = [(int(parent), body) for body, parent in enumerate(model.parents) if parent >= 0]
    radii = None
    if (model.sites.radius > 0.0).any():
        largest = np.zeros(model.bodies + 1)
        np.maximum.at(largest, model.sites.body, model.sites.radius)
        radii = factor * largest[:-1]
    write_topology(
        path, model.names, factor * positions, trees.tolist(), bonds, length_unit=unit, title=title, radii=radii
    )
