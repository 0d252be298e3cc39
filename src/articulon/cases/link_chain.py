"""A chain of equal links, hung up or floating freely."""

import math
from typing import Annotated, Literal, Self

from pydantic import Field

from articulon.building import ModelBuilder
from articulon.cases.explicit_joints import JointName, Vector, axis_of, joint_of
from articulon.declaration import Declaration, Dimension, Quantity
from articulon.errors import CaseError
from articulon.model import Free
from articulon.model.joints import BY_NAME
from articulon.units import UnitSystem


class LinkChain(Declaration):
    """``links`` solid cylinders along −z of their frames, each on a joint at the end of the one before.

    The first is free, its end at the world's origin, or hangs there by a joint of the same kind. At zero coordinates
    each link is turned against the one before by ``curl`` about y. Bodies are called ``link-1`` to ``link-n``.
    """

    builder: Literal["link-chain"] = "link-chain"
    links: Annotated[int, Field(strict=True, ge=1)]
    """How many."""
    joint: JointName = "spherical"
    """Any joint but a free one."""
    axis: Annotated[Vector | None, Dimension("dimensionless")] = None
    """Direction of a revolute or prismatic joint, in the joint frame; (0, 0, 1) by default."""
    base: Literal["free", "hung"] = "free"
    """Whether the first link is free or hangs."""
    length: Annotated[Quantity, Dimension("length", minimum=0, exclusive=True)]
    """Of a link [length]."""
    radius: Annotated[Quantity, Dimension("length", minimum=0, exclusive=True)]
    """Of a link [length]."""
    mass: Annotated[Quantity, Dimension("mass", minimum=0, exclusive=True)]
    """Of a link [mass]."""
    curl: Annotated[Quantity, Dimension("angle")] = 0.0
    """Between a link and the next at zero coordinates [rad]."""
    spin: Annotated[Vector, Dimension("angular_velocity")] = (0.0, 0.0, 0.0)
    """Initial angular velocity of a free first link, and with it of the chain, world frame [rad/time]."""

    def resolved(self, units: UnitSystem, where: str = "model") -> Self:
        """A copy in the given units; raises CaseError for a joint that joins nothing or an axis that cannot be."""
        chain = super().resolved(units, where)
        if not BY_NAME[self.joint]().rows():
            raise CaseError(f"{where}.joint: a {self.joint} joint does not hold links together; choose another joint")
        if self.base == "hung" and any(chain.spin):
            raise CaseError(f"{where}.spin: the first link hangs; only a free one can be given a spin")
        return chain.model_copy(update={"axis": axis_of(self.joint, chain.axis, where)})

    def populate(self, builder: ModelBuilder) -> None:
        """Add the links; quantities are in the builder's units."""
        length, radius, mass = float(self.length), float(self.radius), float(self.mass)
        half, across = 0.5 * float(self.curl), mass * (3.0 * radius**2 + length**2) / 12.0
        turned = (math.cos(half), 0.0, math.sin(half), 0.0)
        joint = joint_of(self.joint, self.axis)
        for k in range(self.links):
            floating = k == 0 and self.base == "free"
            builder.add_body(
                f"link-{k + 1}",
                parent=f"link-{k}" if k else None,
                joint=Free() if floating else joint,
                mass=mass,
                inertia=(across, across, 0.5 * mass * radius**2),
                com=(0.0, 0.0, -0.5 * length),
                position=(0.0, 0.0, -length) if k else (0.0, 0.0, 0.0),
                rotation=turned if k else (1.0, 0.0, 0.0, 0.0),
                u=(0.0, 0.0, 0.0, *self.spin) if floating else None,
            )
