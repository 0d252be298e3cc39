"""Write a state of a model as a LAMMPS data file."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from articulon.dynamics import body_poses
from articulon.dynamics.multibody_functions import body_velocities, check_model, vector
from articulon.errors import ModelError
from articulon.forces.sites.site_positions import site_positions
from articulon.inputs import path_of
from articulon.lammps.data_file import DataFile
from articulon.lammps.data_models import source_of
from articulon.lammps.data_reading import read_data_file
from articulon.lammps.data_writing import check_new, checked_style, write_data_file
from articulon.lammps.described_models import described
from articulon.lammps.molecule_images import wrapped
from articulon.lammps.unit_styles import UnitStyle, unit_style
from articulon.model import Model
from articulon.model.array_rotations import matrices

STYLE_OF = {"lj": "lj", "Da-nm-ps": "real"}
"""LAMMPS's unit style for each of our unit systems."""


def write_data(
    model: Model,
    q: np.ndarray,
    u: np.ndarray | None,
    path: str | Path,
    *,
    style: str = "full",
    like: DataFile | str | Path | None = None,
) -> None:
    """Write a state as a LAMMPS data file, which LAMMPS's ``read_data`` and ours can read.

    Positions are wrapped into the box, with image flags. A model from :func:`read_data` is written with the types,
    molecules, terms and coefficients of its file. For other models these are derived from the kinds of sites, the
    joints and the forces; rigid bonds get a type of LAMMPS's style ``zero``, which exerts no force. Only pair, bond,
    angle and dihedral forces can be written.

    Parameters
    ----------
    model
        A model in the units ``lj``, or ``Da-nm-ps``, which are written as LAMMPS's ``real``.
    q, u
        Coordinates (nq,) and speeds (nu,); None for no velocities.
    path
        A new file.
    style
        Atom style, which must support all contents.
    like
        A data file, or its path, whose types and terms are used; for a model that another process has read. Site k
        must be the k-th atom of this file in the order of ids.

    Raises
    ------
    ModelError
        If the file exists, the style does not support the contents, ``like`` does not describe the model, or no data
        file can hold the model's units, masses or sites.
    """
    check_model(model, "write_data")
    path = path_of(path, "write_data, path")
    check_new(path, "write_data")
    q = vector(q, model.nq, "q")
    if model.units.name not in STYLE_OF:
        raise ModelError(
            f"write_data: only models in the units {' and '.join(STYLE_OF)} can be written, but this one has "
            f"{model.units.name}"
        )
    units = unit_style(STYLE_OF[model.units.name])
    data = _described(model, units, like)
    checked_style(data, style, "write_data")
    data = _with_box(model, data, units)
    x, v = site_positions(model, q) * units.divisor, None
    if u is not None:
        v = _site_velocities(model, q, vector(u, model.nu, "u")) / units.velocity
    images: Any = None
    if model.box is not None and model.box.periodic.any():
        x, images = wrapped(x, data.bounds[:, 0], data.edges, model.box.periodic)
    write_data_file(replace(data, positions=x, images=images, velocities=v), path, style=style)


def _described(model: Model, units: UnitStyle, like: DataFile | str | Path | None) -> DataFile:
    data = source_of(model) if like is None else like if isinstance(like, DataFile) else read_data_file(like)
    if data is None:
        return described(model, units)
    names = data.labels.get("atom") or tuple(map(str, range(1, data.type_counts["atom"] + 1)))
    kinds = [model.sites.kinds[k] for k in model.sites.kind]
    if kinds != [names[k - 1] for k in data.types.tolist()]:
        raise ModelError(
            f"write_data, like: the {len(data)} atoms of {data.path} do not match the {len(kinds)} sites of the "
            "model, kind by kind; give the file from which it was read"
        )
    return data


def _with_box(model: Model, data: DataFile, units: UnitStyle) -> DataFile:
    """Return the data with the box of the model, if the box has changed."""
    if model.box is None:
        return data
    edges = model.box.vectors * units.divisor
    if np.allclose(edges, data.edges, rtol=1e-14, atol=0.0):
        return data
    low = np.array([float(value) for value in model.box.origin]) * units.divisor
    tilts = np.array([edges[1, 0], edges[2, 0], edges[2, 1]])
    return replace(
        data, bounds=np.stack([low, low + np.diag(edges)], axis=1), tilts=tilts if tilts.any() else data.tilts
    )


def _site_velocities(model: Model, q: np.ndarray, u: np.ndarray) -> np.ndarray:
    """Velocities of the sites, world frame [length/time], shape (sites, 3)."""
    body, twists = model.sites.body, body_velocities(model, q, u)
    turns = matrices(body_poses(model, q)[1])[body]
    turning = np.einsum("kij,kj->ki", turns, np.cross(twists[body, 3:], model.sites.position))
    return np.asarray(twists[body, :3] + turning)
