"""Declaration of joint stops: the range of a coordinate, and the restitution at its ends."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, ClassVar, Literal, NamedTuple, Self

from pydantic import model_validator

from articulon.declaration import BodyName, Declaration, Dimension, Quantity
from articulon.errors import ModelError
from articulon.forces.impacts.hard_cores import has_cores
from articulon.forces.impacts.impacts import check_restitution, impacts_of, within_one
from articulon.forces.selection import matching
from articulon.model import Model
from articulon.model.joints import PRISMATIC, REVOLUTE

ALLOWED = {REVOLUTE: "angle", PRISMATIC: "length"}
"""Joints that can have limits, and the dimension of their coordinate."""


class Limit(NamedTuple):
    """One stop of a joint."""

    body: int
    """Body that the joint carries."""
    coordinate: int
    """Index in the model's coordinates."""
    speed: int
    """Index in the model's speeds."""
    bound: float
    """Position of the stop [angle or length]."""
    side: float
    """1 for a lower limit, −1 for an upper one: the gap is side (q − bound)."""
    restitution: float
    """Coefficient of restitution e."""
    resting_speed: float
    """Speed below which the joint comes to rest at the stop [angular speed or speed]; −1 for never."""


class JointLimits(Declaration):
    """Stops of revolute and prismatic joints: q ≥ lower and q ≤ upper, with instantaneous impacts at the stops.

    Limits are tables with one number for each named body, which selects the joint that carries it. A name that ends in
    ``*`` means all bodies whose names begin so. If a body has two entries, the later one counts. Angles are not
    wrapped: limits of −400 and 400 degrees allow more than one turn to each side. Several simultaneous impacts follow
    the law declared in ``impacts``, if the model has them, and are sequential otherwise.
    """

    is_force: ClassVar[bool] = True
    on_joints: ClassVar[bool] = True
    foreign: ClassVar[Mapping[str, str]] = {
        "friction": "a stop acts on the only coordinate of a revolute or prismatic joint, so nothing slides: leave "
        "it out, and add a joint-friction for friction in the bearing"
    }
    kind: Literal["joint-limits"] = "joint-limits"
    lower: dict[BodyName, Quantity] = {}
    """Smallest coordinate by body [angle or length]."""
    upper: dict[BodyName, Quantity] = {}
    """Largest coordinate by body [angle or length]."""
    restitution: Annotated[Quantity, Dimension("dimensionless", minimum=0)] = 1.0
    """Coefficient of restitution e of the joint's speed, in [0, 1]."""
    rotational_resting_speed: Annotated[Quantity | None, Dimension("angular_velocity", minimum=0)] = None
    """Speed of a revolute joint below which it has no rebound from a stop, and then rests on the stop for as long as
    accelerations press it there [angular speed]; with None it never rests."""
    translational_resting_speed: Annotated[Quantity | None, Dimension("velocity", minimum=0)] = None
    """Speed of a prismatic joint below which it has no rebound from a stop, and then rests on the stop in the same way
    [speed]; with None it never rests."""

    @model_validator(mode="after")
    def _something(self) -> Self:
        if not self.lower and not self.upper:
            raise ValueError("give lower or upper, or both")
        within_one(self.restitution)
        return self

    def check(self, model: Model, where: str) -> None:
        """Raises ModelError for bodies that do not exist, joints that cannot have limits, empty ranges and numbers out
        of bounds."""
        self.limits(model, where)

    def limits(self, model: Model, where: str = "joint-limits") -> list[Limit]:
        """Return the stops, lower limits first, each in the order of the bodies."""
        check_restitution(float(self.restitution), where)
        bounds = {key: self._by_body(model, getattr(self, key), f"{where}.{key}") for key in ("lower", "upper")}
        for body, low in bounds["lower"].items():
            high = bounds["upper"].get(body)
            if high is not None and not low < high:
                raise ModelError(
                    f"{where}.upper: the joint of '{model.names[body]}' has no range between {low:g} and {high:g}; the "
                    "upper limit must be larger"
                )
        found: list[Limit] = []
        for key, side in (("lower", 1.0), ("upper", -1.0)):
            for body, bound in sorted(bounds[key].items()):
                link = int(model.link[body])
                q, u = int(model.forest.q_start[link]), int(model.forest.u_start[link])
                rotates = int(model.kinds[body]) == REVOLUTE
                resting = self.rotational_resting_speed if rotates else self.translational_resting_speed
                least = -1.0 if resting is None else float(resting)
                found.append(Limit(body, q, u, bound, side, float(self.restitution), least))
        return found

    def _by_body(self, model: Model, table: dict[str, Quantity], where: str) -> dict[int, float]:
        chosen: dict[int, float] = {}
        for pattern, value in table.items():
            for body in matching(model, pattern, where):
                dimension = ALLOWED.get(int(model.kinds[body]))
                if dimension is None:
                    raise ModelError(
                        f"{where}: body '{model.names[body]}' has a {model.joint_name(body)} joint; revolute and "
                        "prismatic joints can have limits"
                    )
                chosen[body] = model.units.value(value, dimension, f"{where}.{pattern}")
        return chosen


def limits_of(model: Model) -> list[Limit]:
    """Return all stops of a model, in the order of their declarations."""
    found: list[Limit] = []
    for k, force in enumerate(model.forces):
        if isinstance(force, JointLimits):
            found += force.limits(model, f"forces[{k}]")
    return found


def has_impacts(model: Model) -> bool:
    """Whether a model has any instantaneous impacts: of spheres, hard cores, or joints with their stops."""
    return (
        impacts_of(model) is not None
        or has_cores(model)
        or any(isinstance(force, JointLimits) for force in model.forces)
    )
