"""A satellite that unfolds booms of jointed segments."""

import math
from typing import Annotated, Literal

from pydantic import Field

from articulon.building import ModelBuilder
from articulon.cases.builders.builder_base import BaseBuilder
from articulon.cases.builders.explicit_joints import Vector
from articulon.declaration import Dimension, Quantity, Whole
from articulon.model import Free, Revolute
from articulon.sizes import BODY, check_size


class SatelliteWithBooms(BaseBuilder):
    """A free cylindrical hub with ``booms`` spaced evenly around its z axis, each folded in a zigzag against its side.

    A boom is a row of ``segments`` thin-walled boxes on revolute joints with tangential axes. If all angles are zero,
    the boom is straight in the radial direction. The segments of a folded boom are parallel to z, in alternating
    directions. Bodies are named ``hub`` and, for boom k, ``boom-k-1`` and so on from the hub outwards.
    """

    builder: Literal["satellite-with-booms"] = "satellite-with-booms"
    booms: Annotated[Whole, Field(ge=1)]
    """Number of booms."""
    segments: Annotated[Whole, Field(ge=1)]
    """Number of segments of a boom."""
    hub_mass: Annotated[Quantity, Dimension("mass", minimum=0, exclusive=True)]
    """Mass of the hub [mass]."""
    hub_radius: Annotated[Quantity, Dimension("length", minimum=0, exclusive=True)]
    """Radius of the hub [length]."""
    hub_height: Annotated[Quantity, Dimension("length", minimum=0, exclusive=True)]
    """Height of the hub along z [length]."""
    segment_mass: Annotated[Quantity, Dimension("mass", minimum=0, exclusive=True)]
    """Mass of a segment [mass]."""
    segment_length: Annotated[Quantity, Dimension("length", minimum=0, exclusive=True)]
    """Length of a segment [length]."""
    segment_width: Annotated[Quantity, Dimension("length", minimum=0, exclusive=True)]
    """Width of the square cross-section [length]."""
    fold: Annotated[Quantity, Dimension("angle")] = "90 deg"
    """Initial angle of the first joint; the following joints have twice this angle with alternating sign [rad]."""
    spin: Annotated[Vector, Dimension("angular_velocity")]
    """Initial angular velocity of the whole satellite, in the hub frame [rad/time]."""

    def populate(self, builder: ModelBuilder) -> None:
        """Add the bodies; quantities are in the builder's units."""
        check_size(float(self.booms) * self.segments, BODY, "segments", "model.booms, model.segments")
        M, R, H = float(self.hub_mass), float(self.hub_radius), float(self.hub_height)
        across = M * (3.0 * R**2 + H**2) / 12.0
        builder.add_body(
            "hub",
            mass=M,
            inertia=(across, across, 0.5 * M * R**2),
            joint=Free(),
            u=(0.0, 0.0, 0.0, *self.spin),
        )
        m, length, width = float(self.segment_mass), float(self.segment_length), float(self.segment_width)
        # The cross-section of a thin square tube of width w adds m w²/6 to the moment of inertia about a transverse
        # axis.
        beam = m * length**2 / 12.0 + m * width**2 / 6.0
        fold = float(self.fold)
        for k in range(self.booms):
            half = math.pi * k / self.booms
            outwards = (R * math.cos(2.0 * half), R * math.sin(2.0 * half), 0.5 * H)
            for s in range(self.segments):
                builder.add_body(
                    f"boom-{k + 1}-{s + 1}",
                    parent=f"boom-{k + 1}-{s}" if s else "hub",
                    mass=m,
                    inertia=(m * width**2 / 3.0, beam, beam),
                    com=(0.5 * length, 0.0, 0.0),
                    # x points outwards, y along the tangent, z along the axis of the hub: a positive angle folds
                    # towards −z.
                    joint=Revolute(axis=(0, 1, 0)),
                    position=(length, 0.0, 0.0) if s else outwards,
                    rotation=(1.0, 0.0, 0.0, 0.0) if s else (math.cos(half), 0.0, 0.0, math.sin(half)),
                    q=(fold if s == 0 else 2.0 * fold * (-1.0) ** s,),
                    u=(0.0,),
                )
