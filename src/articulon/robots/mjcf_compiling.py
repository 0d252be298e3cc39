"""Compiles MJCF with MuJoCo, without the files that affect neither the motion nor the shapes of a robot."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from articulon.errors import ModelError
from articulon.inputs import LARGEST, clipped, is_file, shown
from articulon.robots.robot import unique
from articulon.robots.xml_tree import parse

NUMBERS = {
    "body": ("pos", "quat", "mass", "inertia", "ipos", "iquat"),
    "joint": ("pos", "axis", "range", "stiffness"),
    "geom": ("pos", "quat", "size"),
    "equality": ("data",),
}
"""Columns of MuJoCo's tables that are read."""


def check_finite(m: Any, path: str) -> None:
    """Raises ModelError, naming the element, for a number that is not finite; MuJoCo may accept such a number."""
    prefixes = {"body": "body", "joint": "jnt", "geom": "geom", "equality": "eq"}
    for what, keys in NUMBERS.items():
        for key in keys:
            table = np.asarray(getattr(m, f"{prefixes[what]}_{key}"))
            rows = table.reshape(len(table), -1 if table.size else 0)
            wrong = np.flatnonzero(~(np.abs(rows) <= LARGEST).all(axis=1))
            if wrong.size:
                named = getattr(m, what)(int(wrong[0])).name
                which = shown(named) if named else f"number {wrong[0]}"
                raise ModelError(f"{clipped(path)}: {what} {which}: {key}: not finite, or beyond {LARGEST:g}")
    for key, values in (("option gravity", m.opt.gravity), ("ref of joints", m.qpos0), ("springref", m.qpos_spring)):
        if not (np.abs(values) <= LARGEST).all():
            raise ModelError(f"{clipped(path)}: {key}: not finite, or beyond {LARGEST:g}")


@contextmanager
def _without_log(mujoco: Any) -> Iterator[None]:
    """Prevents MuJoCo from writing a log to the current folder."""
    before = mujoco.get_mju_user_warning()
    mujoco.set_mju_user_warning(lambda text: None)
    try:
        yield
    finally:
        mujoco.set_mju_user_warning(before)


class Compiled(NamedTuple):
    """Results of compiling a file with MuJoCo."""

    spec: Any
    """MuJoCo's specification of the file."""
    model: Any
    warnings: list[str]
    skins: list[str]
    """Names of skins, which are left out."""
    unread: dict[str, str]
    """Name of the mesh of each geom whose mesh is not read, by the name of the geom. Spheres without mass replace such
    geoms."""


def compiled(path: str, *, meshes: bool) -> Compiled:
    """Compiles a file with MuJoCo. Images of textures and height fields and files of skins are not opened.

    Parameters
    ----------
    path
        The MJCF file.
    meshes
        Whether to read meshes that do not determine the mass of a body.

    Raises
    ------
    ModelError
        For a file that is not MJCF; the message has MuJoCo's line and element. For a file that cannot be read, or if
        MuJoCo is not installed; the message names the file.
    """
    try:
        import mujoco
    except ImportError:
        raise ModelError(
            f"{clipped(path)}: reading MJCF needs MuJoCo; install it with pip install 'articulon[robots]'"
        ) from None
    top = parse(path)
    if top.tag == "robot":
        raise top.fault("is a URDF file; read it with read_urdf, or by the builder 'urdf'")
    if top.tag not in ("mujoco", "mujocoinclude"):
        raise top.fault("is not the <mujoco> that an MJCF file consists of")
    for element in top.walk():
        named = element.attributes.get("plugin")
        if element.tag == "plugin" or (element.tag == "extension" and element.children):
            raise element.fault(
                f"contains code{'' if named is None else ' (' + shown(named) + ')'}, which is not run; remove it"
            )
    try:
        with warnings.catch_warnings(record=True) as told, _without_log(mujoco):
            warnings.simplefilter("always")
            spec = mujoco.MjSpec.from_file(str(path))
            skins = _without_images(spec)
            unread = {} if meshes else _without_meshes(mujoco, spec)
            if not meshes:
                _check_meshes(spec, path)
            found = spec.compile()
        check_finite(found, path)
        return Compiled(spec, found, [" ".join(str(one.message).split()) for one in told], skins, unread)
    except ModelError:
        raise
    except Exception as error:  # MuJoCo raises ValueError, or other errors for files that the file names
        why = " ".join(str(error).split())
        raise ModelError(f"{clipped(path)}: MuJoCo cannot read it: {clipped(why)}") from None


def _without_images(spec: Any) -> list[str]:
    """Removes textures and skins from a specification and makes height fields flat; returns the names of the skins."""
    for texture in list(spec.textures):
        spec.delete(texture)
    for material in spec.materials:
        material.textures = [""] * len(material.textures)
    # The model has no contacts with height fields, and height fields have no mass.
    for field in spec.hfields:
        if field.file:
            field.file, field.nrow, field.ncol, field.userdata = "", 2, 2, [0.0] * 4
    skins = [skin.name or f"number {k}" for k, skin in enumerate(spec.skins)]
    for skin in list(spec.skins):
        spec.delete(skin)
    return skins


def _without_meshes(mujoco: Any, spec: Any) -> dict[str, str]:
    """Removes from a specification the meshes that do not determine the mass of a body; returns ``Compiled.unread``."""
    unread: dict[str, str] = {}
    taken = {geom.name for geom in spec.geoms if geom.name}
    for geom in spec.geoms:
        if geom.meshname and not _gives_mass(mujoco, spec, geom):
            # The geom stays, because contact pairs and sensors may refer to it by name.
            geom.name = geom.name or unique(f"of mesh {geom.meshname}", taken)
            taken.add(geom.name)
            unread[geom.name] = geom.meshname
            geom.type, geom.size, geom.meshname = mujoco.mjtGeom.mjGEOM_SPHERE, [1.0, 1.0, 1.0], ""
            geom.mass = geom.density = 0.0
    used = {geom.meshname for geom in spec.geoms}
    for mesh in list(spec.meshes):
        if _name(mesh) not in used:
            spec.delete(mesh)
    return unread


def _name(mesh: Any) -> str:
    return str(mesh.name or Path(mesh.file).stem)


def _gives_mass(mujoco: Any, spec: Any, geom: Any) -> bool:
    """Whether a geom determines the mass or the inertia of a body, by the rules of MuJoCo's ``inertiafromgeom``."""
    rule, (first, last) = spec.compiler.inertiafromgeom, spec.compiler.inertiagrouprange
    whether = mujoco.mjtInertiaFromGeom
    body = geom.parent
    if body.id == spec.worldbody.id or rule == whether.mjINERTIAFROMGEOM_FALSE or not first <= geom.group <= last:
        return False
    if rule == whether.mjINERTIAFROMGEOM_AUTO and body.explicitinertial:
        return False
    # The mass of a geom is NaN if the file does not give it; it then follows from the density.
    return bool(geom.density > 0.0 if np.isnan(geom.mass) else geom.mass > 0.0)


def _check_meshes(spec: Any, path: str) -> None:
    """Raises ModelError for a missing mesh that determines the mass of a body."""
    files = {_name(mesh): str(mesh.file) for mesh in spec.meshes if mesh.file}
    folder = Path(path).parent / (spec.meshdir or "")
    for geom in spec.geoms:
        file = files.get(geom.meshname)
        if file is not None and not is_file(folder / (Path(file).name if spec.strippath else file)):
            raise ModelError(
                f"{clipped(path)}: there is no mesh {shown(file)}, which determines the mass of body "
                f"{shown(geom.parent.name)}; add the file, or give the body an <inertial>"
            )
