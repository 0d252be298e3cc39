"""A small docking: a core with two short chains, drawn to receptors on the ground, with Guy's (2018) parameters."""

from __future__ import annotations

from typing import Any

import articulon as ar

BODIES = {
    # mass [fg], inertia [fg μm²], radius [μm]: tables D.3 and D.4
    "core": (10.72, 0.29, 0.2),
    "A": (3.91e-5, 6.25e-11, 2e-3),
    "B": (9.31e-6, 8.38e-12, 1.5e-3),
}


def small_docking(*, noise: bool = True, shape: str = "normal", flow: float = 1e-3, pull: Any = None) -> Any:
    """Five bodies near three receptors [fg, μm, μs]: every channel of the docking case is at work. A force ``pull``
    takes the place of the receptors."""
    builder = ar.ModelBuilder(units="fg-um-us")
    mass, inertia, _ = BODIES["core"]
    core = builder.add_body("core", mass=mass, inertia=inertia, joint=ar.Free(), position=(0.0, 0.0, 0.2))
    for side in (-1.0, 1.0):
        parent, place = core, (0.02 * side, 0.0, -0.199)
        for name in ("A", "B"):
            mass, inertia, radius = BODIES[name]
            parent = builder.add_body(
                f"{name}{side:+.0f}",
                parent=parent,
                mass=mass,
                inertia=inertia,
                com=(0.0, 0.0, -radius),
                joint=ar.Spherical(),
                position=place,
            )
            place = (0.0, 0.0, -2.0 * radius)
            builder.add_site(parent, (0.0, 0.0, -radius), kind=name)
    for x in (-0.02, 0.0, 0.03):
        builder.add_site(None, (x, 0.004, -0.02), kind="receptor")
    builder.add_force(
        pull
        or ar.forces.SitePairs(
            table=(
                ar.forces.PairLaw(kinds=("A", "receptor"), A=4.23e-27, B=3.15e-11),
                ar.forces.PairLaw(kinds=("B", "receptor"), A=2.98e-29, B=1.31e-12, C=-2.66e-6),
            ),
            between=(("A", "receptor"), ("B", "receptor")),
        )
    )
    builder.add_force(ar.forces.TorsionalSprings(stiffness={"A*": 1e-3, "B*": 2e-3}))
    builder.add_force(
        ar.forces.StokesDrag(
            viscosity="0.89 mPa s",
            radius={"core": 0.2, "A*": BODIES["A"][2], "B*": BODIES["B"][2]},
            flow=(flow, 0.0, 0.0),
        )
    )
    if noise:
        builder.add_force(ar.forces.Brownian(temperature="300 K", shape=shape))
    return builder.build()


FASTEST = 8.38e-12 / (8.0 * 3.141592653589793 * 890.0 * 1.5e-3**3)
"""Rotational relaxation time of body B, 0.11 ps [μs]."""
CORE_DRAG = 6.0 * 3.141592653589793 * 890.0 * 0.2
