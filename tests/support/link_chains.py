"""Many chains of links in one model, none of which feels the others: as many samples in each step."""

from __future__ import annotations

from typing import Any

import articulon as ar
from articulon.cases.builders.link_chain import LinkChain


class Named:
    """A builder that begins the names of bodies with those of their chain."""

    def __init__(self, builder: ar.ModelBuilder, chain: str) -> None:
        self.builder, self.chain = builder, chain

    def add_body(self, name: str, *, parent: str | None, **options: Any) -> Any:
        """A link of this chain."""
        return self.builder.add_body(
            self.chain + name, parent=None if parent is None else self.chain + parent, **options
        )


def floating_chains(count: int, links: int, radius: float, stiffness: float, fixman: bool) -> Any:
    """Floating chains of links of length and mass 1 on spherical joints with springs, at kT = 1: bodies ``0-link-1``,
    ``0-link-2``, …, ``1-link-1``, …"""
    builder = ar.ModelBuilder(units="lj")
    for k in range(count):
        chain: Any = Named(builder, f"{k}-")
        LinkChain(links=links, length=1.0, radius=radius, mass=1.0).populate(chain)
    jointed = [f"{k}-link-{j}" for k in range(count) for j in range(2, links + 1)]
    builder.add_force(ar.forces.TorsionalSprings(stiffness=dict.fromkeys(jointed, stiffness)))
    if fixman:
        builder.add_force(ar.forces.Fixman(temperature=1.0))
    return builder.build()
