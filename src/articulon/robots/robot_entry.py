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

    Each link is a body of the same name. Bodies are in the order of their joints in the file, except that a body always
    comes after its parent; ``model.joint_names`` has the names of the joints. The frame of a link is the frame of its
    joint, as in the file.

    Parameters
    ----------
    path
        The URDF file.
    root
        Whether the root link, which is not the child of any joint, is fixed to the ground or free. The coordinates of a
        free root come first: position, then Euler parameters.
    forces
        Further forces of ``articulon.forces``, in addition to the forces on joints in the file. Add gravity here,
        because URDF does not contain it.
    packages
        Folders of packages by the names in ``package://NAME/``. Packages that are not listed are searched for in the
        folders above the file.
    limits
        Whether joint limits become stops.
    meshes
        Whether to look for meshes; otherwise they are not drawn.

    Returns
    -------
    Model
        ``model.inferred`` lists by name the assumptions and the omitted parts of the file, such as contacts. If there
        are mimic joints, it begins with a warning, because they move freely and independently in the model.

    Raises
    ------
    ModelError
        For a file that is not URDF; the message has file, line and element. For a missing mesh; the message names its
        file.
    """
    _checked(path, "read_urdf")
    if root not in ("fixed", "free"):
        raise ModelError(f"read_urdf, root: expected 'fixed' or 'free', got {shown(root)}")
    places = {name: str(folder) for name, folder in packages.items()}
    stops, drawn = flag(limits, "read_urdf, limits"), flag(meshes, "read_urdf, meshes")
    return _model(urdf_robot(str(path), root=root, packages=places, limits=stops, meshes=drawn), forces)


def read_mjcf(path: str | Path, *, forces: Iterable[Any] = (), limits: bool = True, meshes: bool = True) -> Model:
    """Read an MJCF file as a model, in the units ``"kg-m-s"``. MuJoCo, from the extra ``robots``, compiles the file.

    Bodies are in the order of the file; coordinates and speeds are MuJoCo's, in MuJoCo's order. Before a body with
    several joints come massless bodies, one for each joint except the last. ``model.joint_names`` has the names of the
    joints. The frame of a body has the axes of the file, and its origin is at the anchor of the body's last joint. This
    is also the origin in the file, unless the joint's ``pos`` differs from zero.

    Parameters
    ----------
    path
        The MJCF file.
    forces
        Further forces of ``articulon.forces``, in addition to gravity and the joint forces of the file.
    limits
        Whether joint limits become stops.
    meshes
        Whether meshes are drawn; otherwise only the meshes that determine the mass of a body are read.

    Returns
    -------
    Model
        The model with gravity, with damping, springs, friction, stops and armatures of joints, and with loop
        constraints for equalities between bodies. ``model.inferred`` lists by name the assumptions and the omitted
        parts of the file, such as actuators and contacts. If the file couples joints, the list begins with a warning,
        because these joints move freely and independently in the model.

    Raises
    ------
    ModelError
        For a file that is not MJCF; the message has line and element. For a missing mesh; the message names its file.
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
    except ModelError as error:  # for example, loop constraints that cannot be satisfied
        raise ModelError(f"{robot.file}: {error}") from None
