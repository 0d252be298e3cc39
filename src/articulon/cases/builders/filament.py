"""A filament of flexible links, free or clamped at one end."""

from typing import Annotated, Literal, Self

from pydantic import Field

from articulon.building import ModelBuilder
from articulon.cases.builders.builder_base import BaseBuilder
from articulon.cases.builders.explicit_joints import JointName, Vector, joint_of
from articulon.declaration import Dimension, Number, Quantity, Whole
from articulon.errors import CaseError
from articulon.model import Free, Weld
from articulon.model.joints import BY_NAME
from articulon.modes import beam
from articulon.sizes import BODY, check_size
from articulon.units import UnitSystem


class Filament(BaseBuilder):
    """``links`` equal beams along x, each joined to the last node of its predecessor.

    The modes of the links can transmit moments (``ar.modes.beam(boundary="loaded")``), so that links that are welded
    together form one beam with large bending and rotation. At the start each link is an arc about z with an equal part
    of the angle ``curl``. Bodies are named ``link-1`` to ``link-n``.
    """

    builder: Literal["filament"] = "filament"
    links: Annotated[Whole, Field(ge=1)]
    """Number of links."""
    length: Annotated[Quantity, Dimension("length", minimum=0, exclusive=True)]
    """Length of the filament [length]."""
    mass: Annotated[Quantity, Dimension("mass", minimum=0, exclusive=True)]
    """Mass of the filament [mass]."""
    radius: Annotated[Quantity, Dimension("length", minimum=0, exclusive=True)]
    """Radius of the circular cross-section [length]."""
    bending_stiffness: Annotated[Quantity, Dimension("energy_length", minimum=0, exclusive=True)]
    """Bending stiffness EI; for a polymer kT times the persistence length [energy length]."""
    bending: Annotated[Whole, Field(ge=2)] = 2
    """Number of bending modes of a link in each of the two planes. With two, links are cubic beam elements."""
    joint: JointName = "weld"
    """Joint between a link and the next."""
    base: Literal["free", "held"] = "free"
    """Whether the first link is free or held at its start."""
    damping_ratio: Annotated[Number, Field(ge=0)] = 0.0
    """Damping ratio of the modes of a link, relative to critical damping."""
    largest: Annotated[Number, Field(gt=0)] = 0.1
    """Largest displacement in a link for which the linear theory is assumed to be valid, relative to the length of the
    link."""
    curl: Annotated[Quantity, Dimension("angle")] = 0.0
    """Angle by which the filament is bent at the start [rad]."""
    spin: Annotated[Vector, Dimension("angular_velocity")] = (0.0, 0.0, 0.0)
    """Initial angular velocity of a free first link, and so of the whole filament, world frame [rad/time]."""

    def resolved(self, units: UnitSystem, where: str = "model") -> Self:
        """Return a copy in the given units; raises CaseError for a joint that does not hold links together, or a spin
        of a held link."""
        if not BY_NAME[self.joint]().rows():
            raise CaseError(f"{where}.joint: a {self.joint} joint does not hold links together; choose another joint")
        filament = super().resolved(units, where)
        if self.base == "held" and any(filament.spin):
            raise CaseError(f"{where}.spin: the first link is held; only a free one can be given a spin")
        return filament

    def populate(self, builder: ModelBuilder) -> None:
        """Add the links; quantities are in the builder's units."""
        check_size(self.links, BODY * self.bending, "links", "model.links")
        length = float(self.length) / self.links
        modes = beam(
            length=length,
            mass=float(self.mass) / self.links,
            bending=self.bending,
            bending_stiffness=float(self.bending_stiffness),
            gyration=0.5 * float(self.radius),
            boundary="loaded",
            damping_ratio=self.damping_ratio,
            largest=self.largest,
        )
        # The end of an arc of angle a and length L is displaced from the tangent at its start by aL/2, and rotated by
        # a.
        angle = float(self.curl) / self.links
        eta = (0.5 * angle * length, angle * length, *(0.0,) * (2 * self.bending - 2))
        joint = joint_of(self.joint, None)
        # The last node on the axis. Each cross-section has four more nodes, so that a fifth of all nodes are on the
        # axis.
        tip = len(modes.masses) // 5 - 1
        for k in range(self.links):
            own = (Free() if self.base == "free" else Weld()) if k == 0 else joint
            builder.add_body(
                f"link-{k + 1}",
                parent=f"link-{k}" if k else None,
                node=tip if k else None,
                joint=own,
                modes=modes,
                q=(*own.zero(), *eta),
                u=(0.0, 0.0, 0.0, *self.spin, *(0.0,) * len(eta)) if k == 0 and self.base == "free" else None,
            )
