"""Reads MJCF, MuJoCo's format: MuJoCo compiles the file, and a robot is made from MuJoCo's tables."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from articulon.inputs import clipped, shown
from articulon.model.array_rotations import quaternion_product
from articulon.model.joints import Free, Joint, Prismatic, Revolute, Spherical, Weld
from articulon.robots.mjcf_compiling import compiled
from articulon.robots.mjcf_flags import Flags
from articulon.robots.mjcf_shapes import GeomShapes
from articulon.robots.robot import SMOOTHING_SPEED, Robot, RobotBody, RobotLoop, listed, unique
from articulon.robots.robot_rotations import about, matrix_of

UPRIGHT = np.array([1.0, 0.0, 0.0, 0.0])
FREE, BALL, SLIDE, HINGE = range(4)
CONNECT, WELD_EQUALITY, JOINT_EQUALITY, TENDON_EQUALITY = range(4)
"""MuJoCo's numbers of joint types and of equality types."""
WORLD = 0
SITE = 6
"""MuJoCo's number of the object type site."""
TORQUE_SCALE = 10
"""Index of the rotational factor of a weld in the weld's data."""


def mjcf_robot(path: str, *, limits: bool, meshes: bool) -> Robot:
    """Reads the robot in an MJCF file; see :func:`articulon.read_mjcf`."""
    return _Reading(path, limits, meshes).robot


class _End(NamedTuple):
    """One side of an equality constraint: a frame with its position [m] and Euler parameters in MuJoCo's frame of a
    body."""

    body: int
    position: np.ndarray
    rotation: np.ndarray


class _Reading:
    """An MJCF file that is being read."""

    def __init__(self, path: str, limits: bool, meshes: bool) -> None:
        self.path, self.limits = path, limits
        self.found = compiled(path, meshes=meshes)
        self.spec, self.m = self.found.spec, self.found.model
        self.flags = Flags(self.m)
        down = np.array(self.m.opt.gravity) if self.flags.has("gravity") else None
        self.robot = Robot(clipped(path), gravity=down)
        self.robot.inferred += [f"MuJoCo says: {clipped(words)}" for words in self.found.warnings]
        self.left: dict[str, list[str]] = {}
        self.shapes = GeomShapes(self.found, Path(path), meshes, self._leave)
        self.names = self._body_names()
        self.offset = np.zeros((self.m.nbody, 3))
        """Origin of each body's frame in articulon, which is at its last joint, in MuJoCo's frame of the body [m]."""
        for body in range(1, self.m.nbody):
            self._add(body)
        self._equalities()
        self._note_others()
        self._infer()

    def _leave(self, what: str, which: str) -> None:
        self.left.setdefault(what, []).append(which)

    def _body_names(self) -> list[str]:
        names: dict[str, None] = {}
        for body in range(self.m.nbody):
            names[unique(self.m.body(body).name or f"body {body}", names)] = None
        return list(names)

    def _parent(self, body: int) -> str | None:
        parent = int(self.m.body_parentid[body])
        return None if parent == WORLD else self.names[parent]

    def _add(self, body: int) -> None:
        """Adds a body. If it has several joints, adds a massless body for each joint except the last; the last joint
        moves the body itself."""
        m = self.m
        parent = self._parent(body)
        place = np.array(m.body_pos[body]) - self.offset[int(m.body_parentid[body])]
        turn = np.array(m.body_quat[body])
        first, count = int(m.body_jntadr[body]), int(m.body_jntnum[body])
        R = matrix_of(turn)
        at = np.zeros(3)
        for j in range(first, first + count):
            name = m.joint(j).name or f"joint {j}"
            anchor = np.array(m.jnt_pos[j])
            kind = int(m.jnt_type[j])
            # The frame of the first joint is the body's frame, moved to the joint's anchor. The frames of later joints
            # are only translated relative to it.
            position = place + R @ anchor if j == first else anchor - at
            made, position, rotation, q = self._joint(j, kind, position, turn if j == first else UPRIGHT)
            last = j == first + count - 1
            step = self.names[body] if last else unique(f"{self.names[body]} {name}", self.names)
            if not last:
                self.names.append(step)
            robot_body = RobotBody(step, made, parent, position, rotation, joint_name=name, q=q)
            self._resist(robot_body, j, kind)
            if last:
                self.offset[body] = anchor
                self._fill(robot_body, body)
            self.robot.bodies.append(robot_body)
            parent, at = step, anchor
        if not count:
            robot_body = RobotBody(self.names[body], Weld(), parent, place, turn)
            if m.body_mocapid[body] >= 0:
                self._leave("motion of mocap bodies, which do not move here", self.names[body])
            self._fill(robot_body, body)
            self.robot.bodies.append(robot_body)

    def _joint(
        self, j: int, kind: int, position: np.ndarray, rotation: np.ndarray
    ) -> tuple[Joint, np.ndarray, np.ndarray, Any]:
        """A joint, the position and rotation of its frame, and its initial coordinates, as given in the file."""
        m = self.m
        start = int(m.jnt_qposadr[j])
        axis = np.array(m.jnt_axis[j])
        if kind == FREE:
            return Free(), np.zeros(3), UPRIGHT, m.qpos0[start : start + 7].tolist()
        if kind == BALL:
            return Spherical(), position, rotation, m.qpos0[start : start + 4].tolist()
        # In the pose in which the file gives the body, the joint coordinate is `ref`.
        ref = float(m.qpos0[start])
        if kind == SLIDE:
            back = matrix_of(rotation) @ (ref * axis)
            return Prismatic(axis=tuple(axis)), position - back, rotation, ref
        return Revolute(axis=tuple(axis)), position, quaternion_product(rotation, about(axis, -ref)), ref

    def _resist(self, body: RobotBody, j: int, kind: int) -> None:
        """Adds the stops, damping, friction, spring and armature of a joint."""
        m = self.m
        name, dof = body.joint_name, int(m.jnt_dofadr[j])
        has = self.flags.has
        if has("dampers"):
            body.damping = float(m.dof_damping[dof])
        if has("dry friction"):
            body.friction = float(m.dof_frictionloss[dof])
        body.armature = float(m.dof_armature[dof])
        stiffness = float(m.jnt_stiffness[j]) if has("springs") else 0.0
        if stiffness and kind == FREE:
            self._leave("springs of free joints", name)
        elif stiffness:
            start = int(m.jnt_qposadr[j])
            body.stiffness = stiffness
            rest = m.qpos_spring[start : start + (4 if kind == BALL else 1)].tolist()
            body.rest = tuple(rest) if kind == BALL else rest[0]
        for key, part in (("jnt_stiffnesspoly", "springs"), ("dof_dampingpoly", "dampers")):
            poly = getattr(m, key, None)
            if poly is not None and has(part) and np.any(poly[j if key.startswith("jnt") else dof]):
                self._leave("nonlinear terms of springs and dampers", name)
        if m.jnt_limited[j] and has("limits"):
            if kind not in (SLIDE, HINGE):
                self._leave("limits of ball joints", name)
            elif not self.limits:
                self._leave("stops, as requested", name)
            else:
                body.lower, body.upper = (float(x) for x in m.jnt_range[j])
                if not body.lower <= float(body.q) <= body.upper:
                    body.q = min(max(float(body.q), body.lower), body.upper)
                    self._leave(
                        "joints that start at a stop, because the file places them beyond it", f"{name} at {body.q:g}"
                    )
        if m.jnt_actfrclimited[j]:
            self._leave("limits of actuator forces", name)

    def _fill(self, made: RobotBody, body: int) -> None:
        """Sets mass, inertia and shapes of a body."""
        m = self.m
        made.mass = float(m.body_mass[body])
        R = matrix_of(np.array(m.body_iquat[body]))
        made.inertia = R @ np.diag(m.body_inertia[body]) @ R.T
        made.inertia = 0.5 * (made.inertia + made.inertia.T)
        made.com = np.array(m.body_ipos[body]) - self.offset[body]
        made.shapes = self.shapes.of_body(body, self.names[body], self.offset[body])
        if m.body_gravcomp[body]:
            self._leave("compensation of gravity", self.names[body])

    def _equalities(self) -> None:
        """Converts equality constraints between bodies to loop constraints."""
        import mujoco

        m = self.m
        kinds = {int(kind): kind.name.removeprefix("mjEQ_").lower() for kind in mujoco.mjtEq.__members__.values()}
        taken: dict[str, None] = {}
        for k in range(m.neq):
            kind = int(m.eq_type[k])
            name = unique(m.equality(k).name or f"equality {k}", taken)
            taken[name] = None
            if not m.eq_active0[k] or not self.flags.has("equalities"):
                self._leave("equalities that are not active", name)
                continue
            if kind in (JOINT_EQUALITY, TENDON_EQUALITY):
                self.robot.coupled.append(self._coupling(k, name, "joint" if kind == JOINT_EQUALITY else "tendon"))
                continue
            if kind not in (CONNECT, WELD_EQUALITY):
                self._leave(f"equalities of {kinds.get(kind, 'other')}s, which have no effect here", name)
                continue
            one, other = self._ends(k)
            if one.body == other.body == WORLD:
                self._leave("equalities between two points of the world", name)
                continue
            # A weld whose rotational factor is zero constrains positions only.
            turns = kind == CONNECT or float(m.eq_data[k, TORQUE_SCALE]) == 0.0
            self._loop(name, Spherical() if turns else Weld(), one, other)

    def _coupling(self, k: int, name: str, what: str) -> str:
        """The relation that an equality requires, between two joints or tendons, or between one of them and a
        constant."""
        m = self.m
        one, other = ("" if n < 0 else getattr(m, what)(n).name or f"number {n}" for n in self._sides(k))
        terms = ["", f" ({other})", *(f" ({other})^{power}" for power in range(2, 5))] if other else [""]
        given = [f"{float(a):g}{term}" for a, term in zip(m.eq_data[k], terms, strict=False) if a]
        tendon = "tendon " if what == "tendon" else ""
        return f"{tendon}{one} (= {' + '.join(given) or '0'}, each measured from its initial value; equality {name})"

    def _sides(self, k: int) -> tuple[int, int]:
        return int(self.m.eq_obj1id[k]), int(self.m.eq_obj2id[k])

    def _ends(self, k: int) -> tuple[_End, _End]:
        """The two frames, one on each body, that an equality constraint makes coincide."""
        m = self.m
        one, other = self._sides(k)
        if int(m.eq_objtype[k]) == SITE:
            one_end, other_end = (
                _End(int(m.site_bodyid[site]), np.array(m.site_pos[site]), np.array(m.site_quat[site]))
                for site in (one, other)
            )
            return one_end, other_end
        data = np.array(m.eq_data[k])
        if int(m.eq_type[k]) == CONNECT:
            return _End(one, data[:3], UPRIGHT), _End(other, data[3:6], UPRIGHT)
        # data[:3] is the common point in the second body's frame, and data[3:6] is the same point in the first body's
        # frame, for any origins that `relpose` refers to.
        turn = data[6:10]
        norm = np.linalg.norm(turn)
        return _End(one, data[3:6], UPRIGHT if norm == 0.0 else turn / norm), _End(other, data[:3], UPRIGHT)

    def _loop(self, name: str, joint: Joint, one: _End, other: _End) -> None:
        # The moving side of a loop joint must be on a body, so if one side is the ground, it becomes the parent.
        if other.body == WORLD:
            one, other = other, one
        self.robot.loops.append(
            RobotLoop(
                name,
                joint,
                None if one.body == WORLD else self.names[one.body],
                self.names[other.body],
                one.position - self.offset[one.body],
                one.rotation,
                other.position - self.offset[other.body],
                other.rotation,
            )
        )

    def _note_others(self) -> None:
        """Lists the names of elements that the model does not include."""
        spec, m = self.spec, self.m
        for what, elements in (
            ("actuators", spec.actuators),
            ("sensors", spec.sensors),
            ("tendons", spec.tendons),
            ("keyframes", spec.keys),
            ("flexes", spec.flexes),
            ("pairs of contacts", spec.pairs),
            ("excluded pairs of contacts", spec.excludes),
            ("sites", spec.sites),
            ("cameras", spec.cameras),
            ("lights", spec.lights),
        ):
            for k, element in enumerate(elements):
                self._leave(what, element.name or f"number {k}")
        for name in self.found.skins:
            self._leave("skins", name)
        for key in ("density", "viscosity"):
            if getattr(m.opt, key):
                self._leave("forces of a medium", f"{key} {getattr(m.opt, key):g}")
        if np.any(m.opt.wind):
            self._leave("forces of a medium", "wind")
        for geom in range(m.ngeom):
            if int(m.geom_bodyid[geom]) == WORLD:
                self._leave("geoms of the world, because there are no contacts", m.geom(geom).name or f"number {geom}")

    def _infer(self) -> None:
        """Adds lines to the robot's ``inferred``, one for each assumption and each omission."""
        bodies, lines = self.robot.bodies, []
        unnamed = [name for k, name in enumerate(self.names[1 : self.m.nbody], 1) if not self.m.body(k).name]
        if unnamed:
            lines.append(f"bodies without a name: {', '.join(unnamed)}")
        moved = [shown(self.names[body]) for body in range(1, self.m.nbody) if self.offset[body].any()]
        if moved:
            lines.append(
                f"frames whose origin was moved to the anchor of the joint, with unchanged axes: {', '.join(moved)}"
            )
        steps = [shown(body.name) for body in bodies if body.name in self.names[self.m.nbody :]]
        if steps:
            lines.append(f"massless bodies between the joints of one body: {', '.join(steps)}")
        if any(body.lower is not None for body in bodies):
            lines.append(
                "limits of joints, which are soft constraints in MuJoCo, are stops without restitution (joint-limits); "
                f"a joint that reaches a stop more slowly than {SMOOTHING_SPEED:g} rad/s or m/s rests there"
            )
        if any(body.friction for body in bodies):
            lines.append(
                f"'frictionloss' is Coulomb friction, smoothed below {SMOOTHING_SPEED:g} rad/s or m/s (joint-friction)"
            )
        if self.robot.loops:
            lines.append("equalities between bodies, which are soft constraints in MuJoCo, are exact loop constraints")
        if self.flags.switches:
            lines.append(f"switched off by the flags of the file's <option>: {', '.join(self.flags.switches)}")
        if self.flags.others:
            lines.append(f"flags of the file's <option> that have no effect here: {', '.join(self.flags.others)}")
        lines += [f"left out: {what}: {', '.join(map(listed, which))}" for what, which in self.left.items()]
        lines.append("left out: contacts between geoms")
        self.robot.infer(lines)
