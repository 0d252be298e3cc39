"""A chain of equal links, hanging or floating freely."""

import math
from typing import Annotated, Literal, Self

import numpy as np
from pydantic import Field

from articulon.building import ModelBuilder
from articulon.cases.builders.builder_base import BaseBuilder
from articulon.cases.builders.explicit_joints import JointName, Vector, axis_of, joint_of
from articulon.declaration import Dimension, Number, Quantity, Seed, Whole
from articulon.errors import CaseError
from articulon.model import Free
from articulon.model.joints import BY_NAME
from articulon.sizes import BODY, check_size
from articulon.units import UnitSystem


class LinkChain(BaseBuilder):
    """``links`` solid cylinders along −z of their frames, each on a joint at the end of its predecessor.

    The first link has its end at the origin of the world frame, where it is free or hangs from a joint of the same
    kind. At zero coordinates each link is rotated relative to its predecessor by ``curl`` about y. Bodies are named
    ``link-1`` to ``link-n``.
    """

    builder: Literal["link-chain"] = "link-chain"
    links: Annotated[Whole, Field(ge=1)]
    """Number of links."""
    joint: JointName = "spherical"
    """Kind of joint between links; any kind except a free joint."""
    axis: Annotated[Vector | None, Dimension("dimensionless")] = None
    """Direction of a revolute or prismatic joint, in the joint frame; (0, 0, 1) by default."""
    base: Literal["free", "hung"] = "free"
    """Whether the first link is free or hangs."""
    length: Annotated[Quantity, Dimension("length", minimum=0, exclusive=True)]
    """Length of a link [length]."""
    radius: Annotated[Quantity, Dimension("length", minimum=0, exclusive=True)]
    """Radius of a link [length]."""
    mass: Annotated[Quantity, Dimension("mass", minimum=0, exclusive=True)]
    """Mass of a link [mass]."""
    curl: Annotated[Quantity, Dimension("angle")] = 0.0
    """Angle between a link and the next at zero coordinates [rad]."""
    disorder: Annotated[Number, Field(ge=0)] = 0.0
    """Width σ of the distribution of initial rotations of spherical joints. Its density is exp(−φ²/2σ²) over all
    rotations of angle φ. This is the thermal equilibrium of torsional springs of stiffness kT/σ² with Fixman's
    potential."""
    disorder_seed: Seed = 1
    """Seed for the rotations of ``disorder``."""
    spin: Annotated[Vector, Dimension("angular_velocity")] = (0.0, 0.0, 0.0)
    """Initial angular velocity of a free first link, and so of the whole chain, world frame [rad/time]."""

    def resolved(self, units: UnitSystem, where: str = "model") -> Self:
        """Return a copy in the given units; raises CaseError for a joint that does not hold links together, or an
        invalid axis."""
        chain = super().resolved(units, where)
        if not BY_NAME[self.joint]().rows():
            raise CaseError(f"{where}.joint: a {self.joint} joint does not hold links together; choose another joint")
        if self.base == "hung" and any(chain.spin):
            raise CaseError(f"{where}.spin: the first link hangs; only a free one can be given a spin")
        if self.disorder and self.joint != "spherical":
            raise CaseError(f"{where}.disorder: random rotations need spherical joints; these are {self.joint} joints")
        return chain.model_copy(update={"axis": axis_of(self.joint, chain.axis, where)})

    def populate(self, builder: ModelBuilder) -> None:
        """Add the links; quantities are in the builder's units."""
        check_size(self.links, BODY, "links", "model.links")
        length, radius, mass = float(self.length), float(self.radius), float(self.mass)
        half, across = 0.5 * float(self.curl), mass * (3.0 * radius**2 + length**2) / 12.0
        turned = (math.cos(half), 0.0, math.sin(half), 0.0)
        joint = joint_of(self.joint, self.axis)
        drawn = rotations(self.links, self.disorder, self.disorder_seed) if self.disorder else None
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
                q=None if drawn is None or floating else drawn[k],
                u=(0.0, 0.0, 0.0, *self.spin) if floating else None,
            )


def rotations(count: int, sigma: float, seed: int) -> np.ndarray:
    """Draw random rotations as Euler parameters, shape (count, 4). Their axes are uniformly distributed, and their
    angles have the density sin²(φ/2) exp(−φ²/2σ²)."""
    random = np.random.default_rng(seed)
    angles = np.linspace(0.0, np.pi, 20001)
    below = np.concatenate([[0.0], np.cumsum(np.sin(0.5 * angles[1:]) ** 2 * np.exp(-0.5 * (angles[1:] / sigma) ** 2))])
    half = 0.5 * np.interp(random.random(count) * below[-1], below, angles)
    axes = random.standard_normal((count, 3))
    axes /= np.linalg.norm(axes, axis=1)[:, None]
    return np.concatenate([np.cos(half)[:, None], np.sin(half)[:, None] * axes], axis=1)
