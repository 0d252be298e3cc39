"""Reads URDF, the Unified Robot Description Format of ROS."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Literal

import numpy as np

from articulon.errors import ModelError
from articulon.inputs import clipped, shown
from articulon.model.joints import Free, Joint, Prismatic, Revolute, Spherical, Weld
from articulon.model.shapes import Box, Capsule, Cylinder, Mesh, Shape, Sphere
from articulon.model.surfaces import FORMATS
from articulon.robots.mesh_places import mesh_path
from articulon.robots.robot import SMOOTHING_SPEED, Robot, RobotBody, listed, unique
from articulon.robots.robot_rotations import about_axis, matrix_of, of_rpy
from articulon.robots.xml_tree import Element, parse

Root = Literal["fixed", "free"]

KNOWN = {
    "robot": {"link", "joint", "material"},
    "link": {"inertial", "visual", "collision"},
    "joint": {"origin", "parent", "child", "axis", "limit", "dynamics", "mimic", "safety_controller", "calibration"},
    "inertial": {"origin", "mass", "inertia"},
    "visual": {"origin", "geometry", "material"},
    "collision": {"origin", "geometry", "material"},
    "geometry": {"box", "cylinder", "sphere", "capsule", "mesh"},
}
"""Elements that are read, and elements that are left out on purpose, by their parent element."""
LEFT_OUT = ("safety_controller", "calibration")
JOINTS = ("fixed", "revolute", "continuous", "prismatic", "floating", "planar", "spherical")


def urdf_robot(path: str, *, root: Root, packages: Mapping[str, str], limits: bool, meshes: bool) -> Robot:
    """Reads the robot in a URDF file; see :func:`articulon.read_urdf`."""
    return _Reading(path, root, packages, limits, meshes).robot


class _Reading:
    """A URDF file that is being read."""

    def __init__(self, path: str, root: Root, packages: Mapping[str, str], limits: bool, meshes: bool) -> None:
        self.path, self.root, self.packages, self.limits, self.meshes = path, root, packages, limits, meshes
        self.robot = Robot(clipped(path))
        top = parse(path)
        if top.tag != "robot":
            raise top.fault("is not the <robot> that a URDF file consists of")
        self.links = self._named(top, "link")
        self.joints = self._named(top, "joint")
        if not self.links:
            raise top.fault("has no link")
        self.left: dict[str, list[str]] = {}
        self._note_unknown(top, top)
        self._bodies(top)
        self._infer()

    def _named(self, top: Element, tag: str) -> dict[str, Element]:
        found: dict[str, Element] = {}
        for element in top.all(tag):
            name = element.text("name")
            if name in found:
                raise element.fault(f"there is a {tag} of this name already, in line {found[name].line}")
            found[name] = element
        return found

    def _note_unknown(self, top: Element, element: Element) -> None:
        """Lists the children of an element that this reader does not know."""
        for child in element.children:
            if child.tag not in KNOWN[element.tag]:
                name = child.attributes.get("name", "" if element is top else element.attributes.get("name", ""))
                self._leave(f"<{child.tag}>", f"{listed(name)} (line {child.line})".strip())
            elif child.tag in KNOWN:
                self._note_unknown(top, child)

    def _leave(self, what: str, which: str) -> None:
        self.left.setdefault(what, []).append(which)

    def _bodies(self, top: Element) -> None:
        """Adds links with their joints, in the order of the joints, except that a link always comes after its
        parent."""
        parents: dict[str, tuple[Element, str]] = {}
        for joint in self.joints.values():
            ends = []
            for role in ("parent", "child"):
                end = joint.one(role)
                if end is None:
                    raise joint.fault(f"has no <{role}>")
                link = end.text("link")
                if link not in self.links:
                    raise end.fault(f"there is no link {shown(link)}")
                ends.append(link)
            parent, child = ends
            if child in parents:
                raise joint.fault(
                    f"link {shown(child)} is the child of {parents[child][0].label} already; a link has one joint"
                )
            parents[child] = (joint, parent)
        roots = [link for link in self.links if link not in parents]
        if not roots:
            raise top.fault("has no root: the joints form a ring")
        if len(roots) > 1:
            raise self.links[roots[1]].fault(f"is a second root beside {self.links[roots[0]].label}; join them")
        base = roots[0]
        body = RobotBody(base, Weld() if self.root == "fixed" else Free())
        self._fill(body, self.links[base])
        self.robot.bodies.append(body)
        placed = {base}
        for child in parents:
            path = []
            link = child
            while link not in placed:
                if link in path:
                    raise parents[link][0].fault("is part of a ring of joints")
                path.append(link)
                link = parents[link][1]
            for link in reversed(path):
                self._add(link, *parents[link])
                placed.add(link)

    def _add(self, link: str, joint: Element, parent: str) -> None:
        """Adds the link of a joint. If several joints replace the joint of the file, massless bodies come before the
        link."""
        kind = joint.text("type")
        if kind not in JOINTS:
            raise joint.fault(f"type: expected one of {', '.join(JOINTS)}, got {shown(kind)}")
        position, rotation = self._origin(joint)
        name = joint.attributes["name"]
        made: Joint
        if kind == "planar":
            parent, position, rotation, made = self._planar(link, joint, parent, position, rotation)
        elif kind in ("revolute", "continuous"):
            made = Revolute(axis=self._axis(joint))
        elif kind == "prismatic":
            made = Prismatic(axis=self._axis(joint))
        else:
            made = {"fixed": Weld, "floating": Free, "spherical": Spherical}[kind]()
        body = RobotBody(link, made, parent, position, rotation, joint_name=name)
        self._fill(body, self.links[link])
        self._limit(body, joint, kind)
        dynamics = joint.one("dynamics")
        if dynamics is not None:
            body.damping, body.friction = (self._positive(dynamics, key) for key in ("damping", "friction"))
            if kind in ("fixed", "floating") and (body.damping or body.friction):
                body.damping = body.friction = 0.0
                self._leave("dynamics of fixed and floating joints", name)
        for tag in LEFT_OUT:
            if joint.one(tag) is not None:
                self._leave(f"<{tag}>", name)
        mimic = joint.one("mimic")
        if mimic is not None:
            leader = mimic.text("joint")
            if leader not in self.joints:
                raise mimic.fault(f"there is no joint {shown(leader)}")
            factor, offset = mimic.number("multiplier", 1.0), mimic.number("offset", 0.0)
            self.robot.coupled.append(f"{name} (= {factor:g} {leader} + {offset:g}, a mimic joint)")
        self.robot.bodies.append(body)

    def _positive(self, element: Element, key: str) -> float:
        value = element.number(key, 0.0)
        if value < 0.0:
            raise element.fault(f"{key}: must not be negative, got {value:g}")
        return value

    def _origin(self, element: Element) -> tuple[np.ndarray, np.ndarray]:
        """Position and Euler parameters of an <origin>."""
        origin = element.one("origin")
        if origin is None:
            return np.zeros(3), np.array([1.0, 0.0, 0.0, 0.0])
        zero = (0.0, 0.0, 0.0)
        return np.array(origin.numbers("xyz", 3, zero)), of_rpy(*origin.numbers("rpy", 3, zero))

    def _axis(self, joint: Element) -> tuple[float, float, float]:
        axis = joint.one("axis")
        x, y, z = (1.0, 0.0, 0.0) if axis is None else axis.numbers("xyz", 3)
        if axis is not None and not math.hypot(x, y, z) > 0.0:
            raise axis.fault("xyz: an axis needs a length")
        return x, y, z

    def _planar(
        self, link: str, joint: Element, parent: str, position: np.ndarray, rotation: np.ndarray
    ) -> tuple[str, np.ndarray, np.ndarray, Joint]:
        """Adds two slides in the plane; returns parent, position, rotation and joint for the hinge about the plane's
        normal."""
        normal = np.array(self._axis(joint))
        normal /= np.linalg.norm(normal)
        # As in Pinocchio and other programs, the slides of a plane with the normal z are along x and y.
        turned = matrix_of(about_axis(normal))
        for k, axis in enumerate(turned.T[:2]):
            step = unique(f"{link} slide {'xy'[k]}", self.links)
            called = f"{joint.attributes['name']} {'xy'[k]}"
            slide = Prismatic(axis=tuple(axis))
            self.robot.bodies.append(RobotBody(step, slide, parent, position, rotation, joint_name=called))
            parent, position, rotation = step, np.zeros(3), np.array([1.0, 0.0, 0.0, 0.0])
        self._leave("planar joints, which become two prismatic joints and a revolute joint", joint.attributes["name"])
        return parent, position, rotation, Revolute(axis=tuple(normal))

    def _limit(self, body: RobotBody, joint: Element, kind: str) -> None:
        limit = joint.one("limit")
        if limit is None:
            if kind in ("revolute", "prismatic"):
                raise joint.fault(
                    f"a {kind} joint needs a <limit>; without limits, use the type 'continuous', or give a large range"
                )
            return
        for key in ("effort", "velocity"):
            if limit.number(key, 0.0):
                self._leave(f"limits of {key}", body.joint_name)
        lower, upper = limit.number("lower", 0.0), limit.number("upper", 0.0)
        if kind not in ("revolute", "prismatic"):
            if lower < upper and kind in ("floating", "planar", "spherical"):
                self._leave("limits of joints for which limits are not supported", body.joint_name)
            return
        if lower > upper:
            raise limit.fault(f"lower, {lower:g}, lies above upper, {upper:g}")
        if not self.limits:
            self._leave("stops, as requested", body.joint_name)
        elif lower == upper:
            self._leave("stops with equal lower and upper limits", body.joint_name)
        else:
            body.lower, body.upper = lower, upper
            start = min(max(0.0, lower), upper)
            if start != 0.0:
                body.q = start
                self._leave(
                    "joints that start at a stop, because zero lies beyond it", f"{body.joint_name} at {start:g}"
                )

    def _fill(self, body: RobotBody, link: Element) -> None:
        """Sets mass, inertia and shapes of a link."""
        inertial = link.one("inertial")
        if inertial is not None:
            mass = inertial.one("mass")
            inertia = inertial.one("inertia")
            if mass is None:
                raise inertial.fault("has no <mass>")
            body.mass = self._positive(mass, "value")
            body.com, turn = self._origin(inertial)
            if inertia is None:
                raise inertial.fault("has no <inertia>")
            xx, yy, zz = (inertia.number(key) for key in ("ixx", "iyy", "izz"))
            xy, xz, yz = (inertia.number(key, 0.0) for key in ("ixy", "ixz", "iyz"))
            R = matrix_of(turn)
            given = R @ np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]) @ R.T
            body.inertia = 0.5 * (given + given.T)
        body.shapes = tuple(shape for visual in link.all("visual") for shape in self._shapes(visual, link))
        if not body.shapes:
            body.shapes = tuple(shape for c in link.all("collision") for shape in self._shapes(c, link))

    def _shapes(self, visual: Element, link: Element) -> list[Shape]:
        geometry = visual.one("geometry")
        if geometry is None:
            raise visual.fault(f"of {link.label} has no <geometry>")
        place, turn = self._origin(visual)
        known = [child for child in geometry.children if child.tag in KNOWN["geometry"]]
        at = {"position": tuple(place.tolist()), "rotation": tuple(turn.tolist())}
        found: list[Shape] = []
        for element in known:
            try:
                if element.tag == "box":
                    found.append(Box(size=element.numbers("size", 3), **at))
                elif element.tag == "sphere":
                    found.append(Sphere(radius=element.number("radius"), **at))
                elif element.tag == "mesh":
                    found += self._mesh(element, link, at)
                else:
                    kind = Cylinder if element.tag == "cylinder" else Capsule
                    found.append(kind(radius=element.number("radius"), length=element.number("length"), **at))
            except ModelError as error:
                if str(error).startswith(element.file):
                    raise
                raise element.fault(str(error)) from None
        return found

    def _mesh(self, element: Element, link: Element, at: dict[str, tuple[float, ...]]) -> list[Shape]:
        name = element.text("filename")
        if not self.meshes:
            self._leave("meshes, as requested", name)
            return []
        scale = element.numbers("scale", 3, (1.0, 1.0, 1.0))
        if 0.0 in scale:
            raise element.fault(f"scale: must not be zero, got {scale}")
        path = mesh_path(name, self.path, self.packages)
        if path is None:
            raise element.fault(
                f"there is no mesh {shown(name)}, of link {shown(link.attributes['name'])}; add the file, or give in "
                "packages the folder of its package, or leave meshes out with meshes=False"
            )
        if path.suffix.lower().removeprefix(".") not in FORMATS:
            self._leave("meshes that cannot be drawn", name)
            return []
        uniform = scale[0] if scale[0] == scale[1] == scale[2] and scale[0] > 0.0 else scale
        return [Mesh(file=str(path), scale=uniform, **at)]

    def _infer(self) -> None:
        """Adds lines to the robot's ``inferred``, one for each assumption and each omission."""
        robot = self.robot
        bodies = robot.bodies
        massless = [shown(body.name) for body in bodies if not body.mass]
        lines = []
        if massless:
            lines.append(f"links without mass: {', '.join(massless)}")
        if any(body.lower is not None for body in bodies):
            lines.append(
                "limits of joints are stops without restitution (joint-limits); a joint that reaches a stop more "
                f"slowly than {SMOOTHING_SPEED:g} rad/s or m/s rests there"
            )
        if any(body.friction for body in bodies):
            lines.append(
                f"friction of joints is Coulomb friction, smoothed below {SMOOTHING_SPEED:g} rad/s or m/s "
                "(joint-friction)"
            )
        lines += [f"left out: {what}: {', '.join(map(listed, which))}" for what, which in self.left.items()]
        lines.append("left out: contacts between links, and between links and the ground")
        robot.infer(lines)
