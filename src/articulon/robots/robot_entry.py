"""Models of the descriptions of others."""

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
    """The model of a URDF file, in the units ``"kg-m-s"``.

    Links are bodies of their names, in the order of their joints in the file, but each after its parent;
    ``model.joint_names`` has the names of the joints. A link's frame is that of its joint, as the file has it.

    Parameters
    ----------
    path
        The file.
    root
        Whether the link that is no joint's child is fixed to the ground or free. A free one comes first in the
        coordinates: place, then Euler parameters.
    forces
        Those of ``articulon.forces`` that act beside what the file says of joints, such as gravity, of which it says
        nothing.
    packages
        Folders of packages by the names in ``package://NAME/``; others are sought in the folders above the file.
    limits
        Whether limits are stops.
    meshes
        Whether meshes are looked for; where not, they are not drawn.

    Returns
    -------
    Model
        ``model.inferred`` says by name what was assumed and what of the file is left out: nothing touches anything, for
        example. It begins with a warning where there are mimic joints, which move freely, each on its own.

    Raises
    ------
    ModelError
        With file, line and element, for what is not URDF; naming the file, for a mesh that is not there.
    """
    _checked(path, "read_urdf")
    if root not in ("fixed", "free"):
        raise ModelError(f"read_urdf, root: expected 'fixed' or 'free', got {shown(root)}")
    places = {name: str(folder) for name, folder in packages.items()}
    stops, drawn = flag(limits, "read_urdf, limits"), flag(meshes, "read_urdf, meshes")
    return _model(urdf_robot(str(path), root=root, packages=places, limits=stops, meshes=drawn), forces)


def read_mjcf(path: str | Path, *, forces: Iterable[Any] = (), limits: bool = True, meshes: bool = True) -> Model:
    """The model of an MJCF file, in the units ``"kg-m-s"``; MuJoCo compiles it (the extra ``robots``).

    Bodies are in the order of the file, and coordinates and speeds are MuJoCo's, in its order. A body with several
    joints has bodies without mass before it, one for each joint but the last. ``model.joint_names`` has the names of
    the joints. The frame of a body has the axes of the file's and its origin on the anchor of its (last) joint, which
    is where the file has it unless ``pos`` of the joint says otherwise.

    Parameters
    ----------
    path
        The file.
    forces
        Those of ``articulon.forces`` that act beside what the file says of gravity and joints.
    limits
        Whether limits are stops.
    meshes
        Whether meshes are drawn; where not, only those are read from which the mass of a body follows.

    Returns
    -------
    Model
        With gravity, damping, springs, friction, stops and armatures of joints, and loops for equalities between
        bodies; ``model.inferred`` says by name what was assumed and what of the file is left out, such as actuators
        and contacts. It begins with a warning where the file couples joints, which move freely, each on its own.

    Raises
    ------
    ModelError
        With line and element, for what is not MJCF; naming the file, for a mesh that is not there.
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
