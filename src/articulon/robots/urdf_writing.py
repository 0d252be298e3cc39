"""Writes a model whose bodies form a tree as a URDF file."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any
from xml.sax.saxutils import quoteattr

import numpy as np

from articulon.dynamics.multibody_functions import check_model
from articulon.errors import CaseError, ModelError
from articulon.forces import JointDamping, JointFriction, JointLimits
from articulon.inputs import shown, words
from articulon.model import Model
from articulon.model.joints import Free, Prismatic, Revolute, Weld
from articulon.model.placed_bodies import joint_frame
from articulon.model.shapes import Box, Capsule, Cylinder, Mesh, Shape, Sphere
from articulon.robots.robot import NEGLIGIBLE, SMOOTHING_SPEED, UNITS
from articulon.robots.robot_rotations import rpy_of
from articulon.storage.atomic_writing import write_text
from articulon.units import unit_system

WORLD = "world"
"""Name of the link that represents the ground if the model does not have a single root at the world's origin."""
UNKNOWN = 1e9
"""Limits of effort and velocity in the file, which the format requires and a model does not have."""
DIMENSIONS = ("length", "mass", "inertia", "rotational_drag", "translational_drag", "torque", "force")
"""Dimensions of the numbers in a file."""
NOT_WRITABLE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
"""Characters that are not allowed in XML."""


def write_urdf(model: Model, path: str | Path, *, name: str = "robot", leave_out: Iterable[str] = ()) -> Path:
    """Write a model as a URDF file, which :func:`articulon.read_urdf` reads as an equal model.

    If the model has a single root that is welded to the ground or free, with its joint frame at the world's origin,
    this body is the root link. The file does not state which of the two it is; pass ``root`` to ``read_urdf``. For
    other models, the roots are joined to a link ``world``. Meshes are named by their paths relative to the folder of
    the file.

    Parameters
    ----------
    model
        Model of rigid bodies on fixed, revolute, prismatic and free joints, not in reduced units.
    path
        File to write.
    name
        Name of the robot.
    leave_out
        Parts to leave out on purpose because the format cannot express them: kinds of forces such as ``"gravity"``,
        ``"armature"``, ``"loops"``, ``"sites"``, ``"initial state"``.

    Returns
    -------
    pathlib.Path
        The written file.

    Raises
    ------
    ModelError
        For anything that the format cannot express; the message names the body, joint or force.
    """
    check_model(model, "write_urdf")
    file = Path(path)
    text = _Writing(model, file, name, set(words(list(leave_out), "write_urdf, leave_out"))).text()
    write_text(file, text)
    return file


class _Writing:
    """A URDF file that is being written."""

    def __init__(self, model: Model, file: Path, name: str, leave_out: set[str]) -> None:
        self.model, self.file, self.name, self.leave_out = model, file, name, leave_out
        try:
            si = unit_system(UNITS)
            self.to_si = {dimension: model.units.ratio(dimension, si) for dimension in DIMENSIONS}
        except CaseError:
            raise ModelError(
                f"write_urdf: the units '{model.units.name}' are reduced, and the format is in SI; build it in others"
            ) from None
        self.limits: dict[int, dict[str, float]] = {}
        self.damping: dict[int, float] = {}
        self.friction: dict[int, float] = {}
        self._check()
        self._take_forces()
        self._check_start()

    def _refuse(self, what: str, message: str) -> None:
        """Raises ModelError, unless ``what`` is left out on purpose."""
        if what not in self.leave_out:
            raise ModelError(f"write_urdf: {message}; leave it out of the model, or name {shown(what)} in leave_out")

    def _check(self) -> None:
        model = self.model
        if model.modes:
            raise ModelError(f"write_urdf: body '{model.names[next(iter(model.modes))]}' is flexible")
        for body, joint in enumerate(model.joints):
            if not isinstance(joint, Weld | Revolute | Prismatic | Free):
                raise ModelError(
                    f"write_urdf: body '{model.names[body]}' has a {model.joint_name(body)} joint, which the format "
                    "does not have"
                )
        if model.loop_joints:
            self._refuse("loops", f"loop '{model.loop_joints[0].name}': the format has trees only")
        if model.drives:
            self._refuse("drives", f"drive '{model.drives[0].name}': the format has no motions")
        if model.armature is not None:
            self._refuse("armature", "joints have armatures, and the format has none")
        if model.sites.body.size:
            self._refuse("sites", "the model has sites, and the format has none")
        for what, names in (("bodies", model.names), ("joints", model.joint_names)):
            for one in names:
                if NOT_WRITABLE.search(one):
                    raise ModelError(f"write_urdf: {what}: an XML file cannot contain the name {shown(one)}")
            twins = [one for one in names if names.count(one) > 1] if len(set(names)) < len(names) else []
            if twins:
                raise ModelError(f"write_urdf: several {what} are called {shown(twins[0])}")

    def _take_forces(self) -> None:
        model = self.model
        for k, force in enumerate(model.forces):
            where = f"forces[{k}] ({force.kind})"
            if isinstance(force, JointLimits):
                speeds = {force.rotational_resting_speed, force.translational_resting_speed}
                if float(force.restitution) != 0.0 or speeds != {SMOOTHING_SPEED}:
                    self._refuse("restitution", f"{where}: the format has no restitution and no resting speed")
                for limit in force.limits(model, where):
                    # If a joint has several stops on one side, it reaches only the innermost.
                    key, inner = ("lower", max) if limit.side > 0.0 else ("upper", min)
                    found = self.limits.setdefault(limit.body, {})
                    found[key] = inner(found.get(key, limit.bound), limit.bound)
            elif isinstance(force, JointDamping):
                self._take_rows(force, self.damping, "damping", where)
            elif isinstance(force, JointFriction):
                if {force.rotational_speed, force.translational_speed} - {None, SMOOTHING_SPEED}:
                    self._refuse("friction speeds", f"{where}: the format has no speed at which friction fades")
                self._take_rows(force, self.friction, "friction", where)
            else:
                self._refuse(force.kind, f"{where}: the format has no such force")
        for body, found in self.limits.items():
            if len(found) == 1:
                raise ModelError(
                    f"write_urdf: the joint of body '{model.names[body]}' has one stop, and the format has two or none"
                )
            if not found["lower"] < found["upper"]:
                raise ModelError(
                    f"write_urdf: the stops of the joint of body '{model.names[body]}' leave no range of motion: lower "
                    f"{found['lower']:g}, upper {found['upper']:g}"
                )

    def _take_rows(self, force: Any, table: dict[int, float], key: str, where: str) -> None:
        """Adds the coefficients of a force to a table, by the body whose joint the coefficient applies to."""
        model = self.model
        starts = model.forest.u_start
        for row in force.rows(model, where):
            body = int(model.head[int(np.flatnonzero(starts <= row.start)[np.argmax(starts[starts <= row.start])])])
            if isinstance(model.joints[body], Free):
                raise ModelError(f"write_urdf: {where}: the format has no {key} of a free body, '{model.names[body]}'")
            table[body] = table.get(body, 0.0) + getattr(row, key)

    def _check_start(self) -> None:
        """Raises ModelError if the initial state differs from the one that a reader assumes: zero, or the nearest
        stop."""
        model = self.model
        expected = np.zeros(model.nq)
        for link, body in enumerate(model.head.tolist()):
            start, joint = int(model.forest.q_start[link]), model.joints[body]
            if isinstance(joint, Free):
                expected[start + 3] = 1.0
            elif body in self.limits:
                expected[start] = min(max(0.0, self.limits[body]["lower"]), self.limits[body]["upper"])
        if model.u0.any() or not np.array_equal(model.q0, expected):
            self._refuse("initial state", "the model has an initial state, and the format has none")

    def text(self) -> str:
        """Return the text of the file."""
        model = self.model
        roots = np.flatnonzero(model.parents < 0).tolist()
        self.root = roots[0] if len(roots) == 1 and self._may_be_root(roots[0]) else None
        lines = ['<?xml version="1.0"?>', f"<robot name={quoteattr(self.name)}>"]
        if self.root is None:
            if WORLD in model.names:
                raise ModelError(f"write_urdf: a body is called '{WORLD}', which is the ground's name here; rename it")
            lines.append(f'  <link name="{WORLD}"/>')
        self.massless = self._massless()
        for body in range(model.bodies):
            lines += self._link(body)
        for body in range(model.bodies):
            if body != self.root:
                lines += self._joint(body)
        return "\n".join([*lines, "</robot>", ""])

    def _may_be_root(self, body: int) -> bool:
        """Whether a body may be the root: welded or free at the world's origin."""
        position, rotation = joint_frame(self.model, body)
        return isinstance(self.model.joints[body], Weld | Free) and not position.any() and rotation[0] == 1.0

    def _massless(self) -> np.ndarray:
        """Whether each body has the mass that represents a massless body, shape (bodies,)."""
        masses = self.model.masses
        least = masses.min()
        others = masses[masses > least]
        none = bool(others.size) and least == NEGLIGIBLE * others.min()
        return np.asarray((masses == least) & none)

    def _link(self, body: int) -> list[str]:
        model = self.model
        xx, xy, xz, yy, yz, zz = (self.to_si["inertia"] * model.inertias[body]).tolist()
        lines = [f"  <link name={quoteattr(model.names[body])}>"]
        if not self.massless[body] or model.inertias[body].any():
            mass = 0.0 if self.massless[body] else self.to_si["mass"] * float(model.masses[body])
            lines += [
                "    <inertial>",
                f"      {_origin(self.to_si['length'] * model.centres[body])}",
                f'      <mass value="{mass!r}"/>',
                f'      <inertia ixx="{xx!r}" ixy="{xy!r}" ixz="{xz!r}" iyy="{yy!r}" iyz="{yz!r}" izz="{zz!r}"/>',
                "    </inertial>",
            ]
        for shape in model.shapes[body]:
            lines += [
                "    <visual>",
                f"      {_origin(self.to_si['length'] * shape.place, shape.turn)}",
                f"      <geometry>{self._geometry(shape, body)}</geometry>",
                "    </visual>",
            ]
        return [*lines, "  </link>"]

    def _geometry(self, shape: Shape, body: int) -> str:
        unit = self.to_si["length"]
        if isinstance(shape, Sphere):
            return f'<sphere radius="{unit * float(shape.radius)!r}"/>'
        if isinstance(shape, Box):
            return f'<box size="{_numbers([unit * float(edge) for edge in shape.size])}"/>'
        if isinstance(shape, Cylinder | Capsule):
            return f'<{shape.kind} radius="{unit * float(shape.radius)!r}" length="{unit * float(shape.length)!r}"/>'
        if isinstance(shape, Mesh):
            given = shape.scale if isinstance(shape.scale, tuple) else (shape.scale,) * 3
            scale = _numbers([unit * float(part) for part in given])
            place = os.path.relpath(shape.file, self.file.resolve().parent)
            return f'<mesh filename={quoteattr(place)} scale="{scale}"/>'
        raise ModelError(f"write_urdf: body '{self.model.names[body]}': the format has no shape {shape.kind}")

    def _joint(self, body: int) -> list[str]:
        model, joint = self.model, self.model.joints[body]
        parent = WORLD if model.parents[body] < 0 else model.names[int(model.parents[body])]
        position, rotation = joint_frame(model, body)
        kinds = {Weld: "fixed", Free: "floating", Prismatic: "prismatic"}
        revolute = "revolute" if body in self.limits else "continuous"
        lines = [
            f'  <joint name={quoteattr(model.joint_names[body])} type="{kinds.get(type(joint), revolute)}">',
            f"    {_origin(self.to_si['length'] * position, rotation)}",
            f"    <parent link={quoteattr(parent)}/>",
            f"    <child link={quoteattr(model.names[body])}/>",
        ]
        if isinstance(joint, Prismatic) and body not in self.limits:
            raise ModelError(
                f"write_urdf: the prismatic joint of body '{model.names[body]}' has no stops, which the format "
                "requires; add joint-limits"
            )
        if isinstance(joint, Revolute | Prismatic):
            slides = isinstance(joint, Prismatic)
            lines.append(f'    <axis xyz="{_numbers(joint.axis)}"/>')
            if body in self.limits:
                unit = self.to_si["length"] if slides else 1.0
                low, high = (unit * self.limits[body][key] for key in ("lower", "upper"))
                lines.append(
                    f'    <limit lower="{low!r}" upper="{high!r}" effort="{UNKNOWN!r}" velocity="{UNKNOWN!r}"/>'
                )
            c = self.damping.get(body, 0.0) * self.to_si["translational_drag" if slides else "rotational_drag"]
            mu = self.friction.get(body, 0.0) * self.to_si["force" if slides else "torque"]
            if c or mu:
                lines.append(f'    <dynamics damping="{c!r}" friction="{mu!r}"/>')
        return [*lines, "  </joint>"]


def _numbers(values: Iterable[float]) -> str:
    return " ".join(repr(float(value)) for value in values)


def _origin(place: np.ndarray, turn: np.ndarray | None = None) -> str:
    rpy = (0.0, 0.0, 0.0) if turn is None else rpy_of(turn)
    return f'<origin xyz="{_numbers(place)}" rpy="{_numbers(rpy)}"/>'
