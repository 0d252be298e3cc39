"""A row of four-bar linkages (IFToMM library of computational benchmark problems, A02)."""

import math
from typing import Annotated, Any, Literal

from pydantic import Field

from articulon.building import ModelBuilder
from articulon.cases.builders.builder_base import BaseBuilder
from articulon.declaration import Dimension, Quantity, Whole
from articulon.model import Revolute
from articulon.sizes import BODY, check_size


class FourBars(BaseBuilder):
    """``loops`` + 1 cranks in a row along x on the ground, with rods between the ends of neighbours.

    All cranks and couplers are thin rods of equal length on revolute joints about z. Cranks are upright at the start,
    and their angles are measured from x. Bodies are named ``crank-0`` to ``crank-n`` and ``coupler-1`` to
    ``coupler-n``. Coupler k leads from crank k − 1 to crank k, where a revolute joint closes the loop.
    """

    builder: Literal["four-bars"] = "four-bars"
    loops: Annotated[Whole, Field(ge=1)]
    """Number of linkages."""
    length: Annotated[Quantity, Dimension("length", minimum=0, exclusive=True)]
    """Length of a rod [length]."""
    mass: Annotated[Quantity, Dimension("mass", minimum=0, exclusive=True)]
    """Mass of a rod [mass]."""
    speed: Annotated[Quantity, Dimension("velocity")]
    """Initial velocity of the ends of the cranks along x [length/time]."""

    def populate(self, builder: ModelBuilder) -> None:
        """Add rods and loops; quantities are in the builder's units."""
        check_size(2 * self.loops, BODY, "rods", "model.loops")
        length, mass = float(self.length), float(self.mass)
        hinge, rod = Revolute(axis=(0, 0, 1)), mass * length**2 / 12.0
        thin: dict[str, Any] = {
            "inertia": (0.0, rod, rod),
            "com": (0.5 * length, 0.0, 0.0),
            "mass": mass,
            "joint": hinge,
        }
        upright, turning, end = 0.5 * math.pi, -float(self.speed) / length, (length, 0.0, 0.0)
        for k in range(self.loops + 1):
            builder.add_body(f"crank-{k}", position=(k * length, 0.0, 0.0), q=upright, u=turning, **thin)
        for k in range(1, self.loops + 1):
            before = f"crank-{k - 1}"
            builder.add_body(f"coupler-{k}", parent=before, position=end, q=-upright, u=-turning, **thin)
            builder.add_loop(
                f"loop-{k}",
                joint=hinge,
                parent=f"crank-{k}",
                child=f"coupler-{k}",
                position=end,
                child_position=end,
            )
