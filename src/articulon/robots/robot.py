"""The content of a robot description in SI units, independent of its format, and the model made from it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from articulon import forces
from articulon.building import ModelBuilder
from articulon.errors import CaseError, ModelError
from articulon.inputs import shown
from articulon.model.joints import Joint
from articulon.model.shapes import Shape

UNITS = "kg-m-s"
"""Units of all descriptions, and of their models."""
NEGLIGIBLE = 2.0**-60
"""Ratio to the smallest mass of the robot, for the mass that massless links get. It is so small that rounding removes
it in a sum with any other mass, so that the dynamics do not change."""
SMOOTHING_SPEED = 1e-3
"""Speed below which dry friction is smoothed [rad/s or m/s]."""
COUPLED = (
    "WARNING: this is not the mechanism of the file: joints that the file couples move freely and independently here"
)
"""Warning before the names of joints that the file couples; it is the first line of ``inferred``."""
STAR_IN_NAME = "its name ends in *, which in forces selects all bodies whose names begin like this; rename it"


@dataclass
class RobotBody:
    """A link, or a massless body between several joints of one link."""

    name: str
    joint: Joint
    parent: str | None = None
    """Name of the parent; None is the ground."""
    position: np.ndarray = field(default_factory=lambda: np.zeros(3))
    rotation: np.ndarray = field(default_factory=lambda: np.array([1.0, 0.0, 0.0, 0.0]))
    """Rotation of the joint frame in the parent's frame, Euler parameters; ``position`` is the origin of this frame
    [m]."""
    joint_name: str = ""
    """Name of the joint in the file."""
    mass: float = 0.0
    """Mass [kg]; 0 for a massless body."""
    inertia: np.ndarray = field(default_factory=lambda: np.zeros((3, 3)))
    """Inertia about the centre of mass, body axes [kg m²], shape (3, 3)."""
    com: np.ndarray = field(default_factory=lambda: np.zeros(3))
    """Centre of mass [m]."""
    shapes: tuple[Shape, ...] = ()
    q: Any = None
    """Initial coordinates; None if all are zero."""
    lower: float | None = None
    upper: float | None = None
    """Upper stop; ``lower`` is the lower stop [rad or m]."""
    damping: float = 0.0
    """Damping [N m s/rad or N s/m]."""
    friction: float = 0.0
    """Dry friction [N m or N]."""
    stiffness: float = 0.0
    """Stiffness of the spring [N m/rad or N/m]."""
    rest: Any = 0.0
    """Coordinate at which the spring has no force [rad or m]; Euler parameters for a ball joint."""
    armature: float = 0.0
    """Armature [kg m² or kg]."""


@dataclass
class RobotLoop:
    """A joint that closes a loop."""

    name: str
    joint: Joint
    parent: str | None
    child: str | None
    position: np.ndarray
    rotation: np.ndarray
    child_position: np.ndarray
    child_rotation: np.ndarray


@dataclass
class Robot:
    """The content of one file."""

    file: str
    bodies: list[RobotBody] = field(default_factory=list)
    loops: list[RobotLoop] = field(default_factory=list)
    gravity: np.ndarray | None = None
    """Acceleration of gravity [m/s²], shape (3,); None if the file does not give it."""
    coupled: list[str] = field(default_factory=list)
    """Joints that the file couples to other joints, each with its coupling. They move freely in the model."""
    inferred: list[str] = field(default_factory=list)
    """Assumptions and omissions, one line each."""

    def infer(self, lines: list[str]) -> None:
        """Adds lines to ``inferred``; a warning about coupled joints becomes its first line."""
        warning = [f"{COUPLED}: {', '.join(map(listed, self.coupled))}"] if self.coupled else []
        self.inferred = [*warning, *self.inferred, *lines]

    def populate(self, builder: ModelBuilder) -> None:
        """Adds bodies, loops and forces to a builder in SI units; raises ModelError, naming the file and the body."""
        if builder.units.name != UNITS:
            raise ModelError(
                f"{self.file}: descriptions of robots are in kilograms, metres and seconds; take the units '{UNITS}', "
                f"not '{builder.units.name}'"
            )
        masses = [body.mass for body in self.bodies if body.mass > 0.0]
        if not masses:
            raise ModelError(f"{self.file}: no link has a mass, so that nothing can move")
        self._check_carried()
        placeholder_mass = NEGLIGIBLE * min(masses)
        builder.any_inertia = True
        try:
            self._add(builder, placeholder_mass)
        except (CaseError, ModelError) as error:
            raise ModelError(f"{self.file}: {error}") from None
        builder.inferred += self.inferred

    def _add(self, builder: ModelBuilder, placeholder_mass: float) -> None:
        """Adds bodies, loops and forces; ``placeholder_mass`` is the mass of massless bodies [kg]."""
        for body in self.bodies:
            builder.add_body(
                body.name,
                joint=body.joint,
                parent=body.parent,
                mass=body.mass or placeholder_mass,
                inertia=body.inertia,
                com=body.com,
                position=body.position,
                rotation=body.rotation,
                q=body.q,
                shape=body.shapes or None,
                joint_name=body.joint_name or None,
                armature=body.armature or None,
            )
        for loop in self.loops:
            builder.add_loop(
                loop.name,
                joint=loop.joint,
                parent=loop.parent,
                child=loop.child,
                position=loop.position,
                rotation=loop.rotation,
                child_position=loop.child_position,
                child_rotation=loop.child_rotation,
            )
        for force in self._forces():
            builder.add_force(force)

    def _check_carried(self) -> None:
        """Raises ModelError for a joint that carries neither mass nor inertia."""
        heavy = {body.name: body.mass > 0.0 or bool(body.inertia.any()) for body in self.bodies}
        for body in reversed(self.bodies):
            if heavy[body.name] and body.parent is not None:
                heavy[body.parent] = True
        for body in self.bodies:
            if not heavy[body.name] and body.joint.nu:
                raise ModelError(
                    f"{self.file}: body {shown(body.name)}: its {type(body.joint).__name__.lower()} joint carries "
                    "neither mass nor inertia; give the body a mass or an inertia, or a fixed joint"
                )
        self._note_inertias()

    def _note_inertias(self) -> None:
        """Checks for inertias that no real body can have and lists them. They are used unchanged, because many files
        have such inertias."""
        strange = []
        for body in self.bodies:
            low, middle, high = np.linalg.eigvalsh(body.inertia)
            if low < -1e-9 * high or high > (low + middle) + 1e-9 * high:
                strange.append(f"{shown(body.name)} ({low:.3g}, {middle:.3g}, {high:.3g})")
        if strange:
            self.inferred.append(
                "used unchanged: principal moments that no body can have, because they are negative or the largest "
                f"exceeds the sum of the other two: {', '.join(strange)}"
            )

    def _forces(self) -> list[Any]:
        """Gravity, stops, damping, friction and springs."""
        found: list[Any] = []
        if self.gravity is not None and self.gravity.any():
            found.append(forces.Gravity(acceleration=tuple(self.gravity.tolist())))
        lower = {body.name: body.lower for body in self.bodies if body.lower is not None}
        upper = {body.name: body.upper for body in self.bodies if body.upper is not None}
        if lower or upper:
            resting = {"rotational_resting_speed": SMOOTHING_SPEED, "translational_resting_speed": SMOOTHING_SPEED}
            found.append(forces.JointLimits(lower=lower, upper=upper, restitution=0.0, **resting))
        for kind, key in ((forces.JointDamping, "damping"), (forces.JointFriction, "friction")):
            tables = self._by_motion(key)
            if not tables:
                continue
            smoothing = {f"{motion}_speed": SMOOTHING_SPEED for motion in tables} if key == "friction" else {}
            found.append(kind(**tables, **smoothing))
        turning = [body for body in self.bodies if body.stiffness > 0.0 and not body.joint.translations]
        if turning:
            found.append(
                forces.TorsionalSprings(
                    stiffness={body.name: body.stiffness for body in turning},
                    rest={body.name: body.rest for body in turning},
                )
            )
        for body in self.bodies:
            if body.stiffness > 0.0 and body.joint.translations:
                found.append(forces.JointDrive(body=body.name, positions=body.rest, stiffness=body.stiffness))
        named = [*lower, *upper, *(b.name for b in self.bodies if b.damping or b.friction or b.stiffness)]
        for name in named:
            if name.endswith("*"):
                raise ModelError(f"{self.file}: body {shown(name)}: {STAR_IN_NAME}")
        return found

    def _by_motion(self, key: str) -> dict[str, dict[str, float]]:
        """Coefficients of rotational and of translational joints, by body; ``key`` is the attribute of the body."""
        tables: dict[str, dict[str, float]] = {}
        for body in self.bodies:
            value = getattr(body, key)
            if value > 0.0:
                if body.joint.nu > body.joint.translations:
                    tables.setdefault("rotational", {})[body.name] = value
                if body.joint.translations:
                    tables.setdefault("translational", {})[body.name] = value
        return tables


def unique(name: str, taken: Sequence[str] | set[str] | dict[str, Any]) -> str:
    """The name itself; if it is already taken, the name with a number appended."""
    if name not in taken:
        return name
    k = 2
    while f"{name} {k}" in taken:
        k += 1
    return f"{name} {k}"


def listed(name: str) -> str:
    """The name in the form for a list: escaped if it has unprintable characters."""
    return name if name.isprintable() else shown(name)
