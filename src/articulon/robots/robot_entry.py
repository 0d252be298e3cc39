"""The public functions that read robot descriptions into models."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from articulon.building import ModelBuilder
from articulon.errors import ModelError
from articulon.inputs import flag, shown
from articulon.model import Model
from articulon.robots.mjcf_reading import mjcf_robot
from articulon.robots.robot import UNITS, Robot
from articulon.robots.urdf_reading import Root, urdf_robot

NO_PACKAGES: Mapping[str, str] = {}


def read_urdf(
    path: str | Path,
    *,
    root: Root = "fixed",
    forces: Iterable[Any] = (),
    packages: Mapping[str, str | Path] = NO_PACKAGES,
    limits: bool = True,
    meshes: bool = True,
) -> Model:
    """Read a URDF file as a model, in the units ``"kg-m-s"``.

    Each link is a body of the same name. Bodies are in the order of their joints in the file, but each after its
    parent; ``model.joint_names`` has the names of the joints. A link's frame is that of its joint, as in the file.

    Parameters
    ----------
    path
        The URDF file.
    root
        Whether the root link, which is no joint's child, is fixed to the ground or free. A free root comes first in the
        coordinates: position, then Euler parameters.
    forces
        Further forces of ``articulon.forces``, besides those that the file gives for joints. Gravity is one of them:
        URDF does not contain it.
    packages
        Folders of packages by the names in ``package://NAME/``. Other packages are looked for in the folders above the
        file.
    limits
        Whether joint limits become stops.
    meshes
        Whether to look for meshes; otherwise they are not drawn.

    Returns
    -------
    Model
        ``model.inferred`` lists by name what was assumed and what of the file is left out: there are no contacts, for
        example. It begins with a warning if there are mimic joints, because they move freely and independently here.

    Raises
    ------
    ModelError
        With file, line and element, for a file that is not URDF; with the name of the file, for a missing mesh.
    """
    _checked(path, "read_urdf")
    if root not in ("fixed", "free"):
        raise ModelError(f"read_urdf, root: expected 'fixed' or 'free', got {shown(root)}")
    places = {name: str(folder) for name, folder in packages.items()}
    stops, drawn = flag(limits, "read_urdf, limits"), flag(meshes, "read_urdf, meshes")
    return _model(urdf_robot(str(path), root=root, packages=places, limits=stops, meshes=drawn), forces)


def read_mjcf(path: str | Path, *, forces: Iterable[Any] = (), limits: bool = True, meshes: bool = True) -> Model:
    """Read an MJCF file as a model, in the units ``"kg-m-s"``; MuJoCo compiles it (the extra ``robots``).

    Bodies are in the order of the file; coordinates and speeds are MuJoCo's, in its order. A body with several joints
    has massless bodies before it, one for each joint but the last. ``model.joint_names`` has the names of the joints.
    The frame of a body has the axes of the file and its origin at the anchor of its (last) joint. This is the origin in
    the file too, unless ``pos`` of the joint says otherwise.

    Parameters
    ----------
    path
        The MJCF file.
    forces
        Further forces of ``articulon.forces``, besides gravity and the joint forces of the file.
    limits
        Whether joint limits become stops.
    meshes
        Whether meshes are drawn; otherwise only those that determine the mass of a body are read.

    Returns
    -------
    Model
        The model with gravity, with damping, springs, friction, stops and armatures of joints, and with loops for
        equalities between bodies. ``model.inferred`` lists by name what was assumed and what of the file is left out,
        such as actuators and contacts. It begins with a warning if the file couples joints, because they move freely
        and independently here.

    Raises
    ------
    ModelError
        With line and element, for a file that is not MJCF; with the name of the file, for a missing mesh.
    """
    _checked(path, "read_mjcf")
    stops, drawn = flag(limits, "read_mjcf, limits"), flag(meshes, "read_mjcf, meshes")
    return _model(mjcf_robot(str(path), limits=stops, meshes=drawn), forces)


def _checked(path: Any, what: str) -> None:
    if not isinstance(path, str | Path):
        raise ModelError(f"{what}: expected the path of a file, got {shown(path)}")


def _model(robot: Robot, forces: Iterable[Any]) -> Model:
    builder = ModelBuilder(units=UNITS)
    robot.populate(builder)
    for force in forces:
        builder.add_force(force)
    try:
        return builder.build()
    except ModelError as error:  # loops that cannot be closed, for example
        raise ModelError(f"{robot.file}: {error}") from None
