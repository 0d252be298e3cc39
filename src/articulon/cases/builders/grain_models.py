"""Models of grains: single grains, filled regions, chains of spheres, and bodies that are written out one by one."""

from typing import Annotated, Literal, Self

import numpy as np
from pydantic import Field, model_validator

from articulon.building import ModelBuilder
from articulon.cases.builders.explicit_joints import Vector
from articulon.cases.builders.packings import check_room, grid_count, grid_places, random_places, sizes
from articulon.cases.builders.written_model import WrittenOut
from articulon.declaration import Declaration, Dimension, Quantity, Seed, Whole
from articulon.errors import CaseError, ModelError
from articulon.model import Free, Spherical
from articulon.sizes import BODY, PARTICLE, check_size
from articulon.units import UnitSystem

Radius = Annotated[Quantity, Dimension("length", minimum=0, exclusive=True)]
Density = Annotated[Quantity | None, Dimension("mass_density", minimum=0, exclusive=True)]
Mass = Annotated[Quantity | None, Dimension("mass", minimum=0, exclusive=True)]
STILL: Vector = (0.0, 0.0, 0.0)
GRID_PLACE = 300
"""Memory for one grid place while grains are placed [bytes]."""


class DensityOrMass(Declaration):
    """A declaration with either a density or a mass."""

    density: Density = None
    """Density of solid spheres [mass/length³]."""
    mass: Mass = None
    """Mass of each sphere, instead of a density [mass]."""

    @model_validator(mode="after")
    def _one_way(self) -> Self:
        if (self.density is None) == (self.mass is None):
            raise ValueError("give either a density or a mass")
        return self

    def weight(self, radius: float) -> float:
        """Mass of a sphere [mass], for a resolved declaration."""
        if self.density is not None:
            return 4.0 / 3.0 * float(np.pi) * radius**3 * float(self.density)
        return float(self.mass or 0.0)


class SingleGrain(DensityOrMass):
    """One grain at a given place."""

    name: Annotated[str, Field(min_length=1)]
    """Name, unique among the bodies."""
    kind: str = "grain"
    """Kind of the grain, which selects its material."""
    radius: Radius
    """Radius of the grain [length]."""
    position: Annotated[Vector, Dimension("length")] = STILL
    """Initial position of its centre, world frame [length]."""
    velocity: Annotated[Vector, Dimension("velocity")] = STILL
    """Initial velocity of its centre, world frame [velocity]."""
    spin: Annotated[Vector, Dimension("angular_velocity")] = STILL
    """Initial angular velocity, world frame [angle/time]."""


class Fill(DensityOrMass):
    """A region filled with grains that do not touch.

    The arrangement ``grid`` puts grains on a cubic grid, from the lowest places upwards. The spacing of the grid is the
    largest diameter plus a ``gap``, within which each grain is displaced at random. The arrangement ``random`` inserts
    grains one by one, the largest first, at random places with enough space (random sequential addition, which reaches
    a solid fraction of about 0.3).
    """

    name: str = "grain"
    """Name of the grains, to which their number is appended."""
    kind: str = "grain"
    """Kind of the grains, which selects their material."""
    count: Annotated[Whole, Field(ge=1)] | None = None
    """Number of grains; by default as many as fit on the grid."""
    radius: Radius
    """Radius of each grain, or of the smallest grain if radii differ [length]."""
    largest_radius: Annotated[Quantity | None, Dimension("length", minimum=0, exclusive=True)] = None
    """Radius of the largest grain, if the radii differ [length]."""
    distribution: Literal["uniform", "equal-volumes"] = "uniform"
    """Distribution of the radii between ``radius`` and ``largest_radius``: uniform, or with equal total volumes of each
    size, p(R) ∝ 1/R³."""
    low: Annotated[Vector, Dimension("length")]
    """Corner of the region with the smallest coordinates, or one end of the axis of a cylinder [length]."""
    high: Annotated[Vector, Dimension("length")]
    """The opposite corner, or the other end of the axis [length]."""
    shape: Literal["box", "cylinder"] = "box"
    """Shape of the region."""
    cylinder_radius: Annotated[Quantity | None, Dimension("length", minimum=0, exclusive=True)] = None
    """Radius of a cylindrical region [length]."""
    arrangement: Literal["grid", "random"] = "grid"
    """Arrangement of the grains: on a grid, or at random."""
    gap: Annotated[Quantity, Dimension("dimensionless", minimum=0)] = 0.1
    """Gap between the largest grains on the grid, relative to their diameter."""
    velocity: Annotated[Vector, Dimension("velocity")] = STILL
    """Initial velocity of all grains [velocity]."""
    velocity_spread: Annotated[Quantity, Dimension("velocity", minimum=0)] = 0.0
    """Standard deviation of each component of the velocities about ``velocity`` [velocity]."""
    seed: Seed = 1
    """Seed for radii, positions and velocities."""

    @model_validator(mode="after")
    def _possible(self) -> Self:
        if (self.shape == "cylinder") != (self.cylinder_radius is not None):
            raise ValueError("cylinder_radius: is required for shape = 'cylinder' and allowed only there")
        if self.arrangement == "random" and self.count is None:
            raise ValueError("count: is required for arrangement = 'random'")
        return self

    def resolved(self, units: UnitSystem, where: str = "") -> Self:
        """Return a copy in the given units; raises CaseError for an impossible region or impossible radii."""
        fill = super().resolved(units, where)
        low, high = (np.array([float(x) for x in corner]) for corner in (fill.low, fill.high))
        if fill.shape == "box" and not (high > low).all():
            raise CaseError(f"{where}.high: each coordinate must be larger than that of low, got {list(self.high)}")
        if fill.shape == "cylinder" and not (high != low).any():
            raise CaseError(f"{where}.high: expected an end of the axis different from low, got {list(self.high)}")
        if fill.largest_radius is not None and float(fill.largest_radius) < float(fill.radius):
            raise CaseError(f"{where}.largest_radius: {self.largest_radius!r} is smaller than radius, {self.radius!r}")
        return fill

    def populate(self, builder: ModelBuilder, where: str) -> None:
        """Add the grains; raises ModelError if they do not fit."""
        if self.count is not None:
            check_size(self.count, PARTICLE, "grains", f"{where}.count")
        rng = np.random.Generator(np.random.PCG64(self.seed))
        smallest = float(self.radius)
        largest = smallest if self.largest_radius is None else float(self.largest_radius)
        region = tuple(np.array([float(x) for x in corner]) for corner in (self.low, self.high))
        around = None if self.cylinder_radius is None else float(self.cylinder_radius)
        if self.arrangement == "grid":
            laid_out = grid_count(region, around, largest, float(self.gap), self.count)
            check_size(laid_out, GRID_PLACE, "places of a grid", f"{where}.radius")
            places = grid_places(region, around, largest, float(self.gap), rng, self.count)
            count = len(places) if self.count is None else self.count
            if not 0 < count <= len(places):
                raise ModelError(
                    f"{where}: the region holds {len(places)} grains on a grid for radii up to {largest:g}, and "
                    f"{count} are requested; enlarge the region, lower count or gap, or use arrangement = 'random'"
                )
            places, radii = places[:count], sizes(count, smallest, largest, self.distribution, rng)
        else:
            count = self.count or 0
            check_room(region, around, count, smallest, where)
            radii = np.sort(sizes(count, smallest, largest, self.distribution, rng))[::-1]
            places = random_places(region, around, radii, rng)
            if len(places) < count:
                raise ModelError(
                    f"{where}: after {len(places)} of {count} grains random placement finds no more space; "
                    "enlarge the region, lower count, or use arrangement = 'grid'"
                )
        velocities = np.tile([float(x) for x in self.velocity], (count, 1))
        velocities += float(self.velocity_spread) * rng.standard_normal((count, 3))
        builder.add_grains(
            places,
            radii,
            kind=self.kind,
            density=self.density,
            mass=self.mass,
            velocities=velocities if velocities.any() else None,
            name=self.name,
        )


class Chain(DensityOrMass):
    """A row of equal spheres; neighbours are joined half-way between their centres."""

    name: str = "chain"
    """Name of the bodies, to which their number from 0 is appended."""
    kind: str = "grain"
    """Kind of the spheres, which selects their material."""
    links: Annotated[Whole, Field(ge=1)]
    """Number of spheres."""
    radius: Radius
    """Radius of each sphere [length]."""
    gap: Annotated[Quantity, Dimension("length", minimum=0)] = 0.0
    """Gap between neighbours while the chain is straight [length]."""
    start: Annotated[Vector, Dimension("length")]
    """Centre of the first sphere, world frame [length]."""
    direction: Annotated[Vector, Dimension("dimensionless")] = (0.0, 0.0, 1.0)
    """Direction from the first sphere to the last, world frame; a vector of any length except zero."""
    velocity: Annotated[Vector, Dimension("velocity")] = STILL
    """Initial velocity of the whole chain [velocity]."""

    def resolved(self, units: UnitSystem, where: str = "") -> Self:
        """Return a copy in the given units; raises CaseError for a direction of zero length."""
        chain = super().resolved(units, where)
        if not any(chain.direction):
            raise CaseError(f"{where}.direction: expected three numbers, not all zero, got {list(self.direction)}")
        return chain

    def populate(self, builder: ModelBuilder, where: str) -> None:
        """Add the bodies and their spheres: the first is free, the others are on spherical joints."""
        check_size(self.links, BODY, "spheres", f"{where}.links")
        R = float(self.radius)
        mass = self.weight(R)
        along = np.array([float(x) for x in self.direction])
        half = (R + 0.5 * float(self.gap)) * along / np.linalg.norm(along)
        parent = None
        for k in range(self.links):
            first = k == 0
            com = np.zeros(3) if first else half
            parent = builder.add_body(
                f"{self.name}-{k}",
                mass=mass,
                inertia=0.4 * mass * R**2,
                com=com,
                parent=parent,
                joint=Free() if first else Spherical(),
                position=(0.0, 0.0, 0.0) if first else (half if k == 1 else 2.0 * half),
                q=(*(float(x) for x in self.start), 1.0, 0.0, 0.0, 0.0) if first else None,
                u=(*(float(x) for x in self.velocity), 0.0, 0.0, 0.0) if first else None,
            )
            builder.add_site(parent, position=com, kind=self.kind, radius=R)


class Grains(WrittenOut):
    """Single grains, filled regions and chains of spheres, together with bodies, sites, loops and drives that are
    written out one by one."""

    builder: Literal["grains"] = "grains"
    grains: tuple[SingleGrain, ...] = ()
    """Single grains."""
    fills: tuple[Fill, ...] = ()
    """Regions filled with grains."""
    chains: tuple[Chain, ...] = ()
    """Chains of spheres."""

    @model_validator(mode="after")
    def _something(self) -> Self:
        if not (self.grains or self.fills or self.chains or self.bodies):
            raise ValueError("give it grains, fills, chains or bodies")
        return self

    def populate(self, builder: ModelBuilder) -> None:
        """Add the bodies of a resolved declaration, then its chains, single grains and fills."""
        super().populate(builder)
        for k, chain in enumerate(self.chains):
            chain.populate(builder, f"model.chains[{k}]")
        for grain in self.grains:
            builder.add_grain(
                grain.name,
                radius=grain.radius,
                position=grain.position,
                kind=grain.kind,
                density=grain.density,
                mass=grain.mass,
                velocity=grain.velocity,
                spin=grain.spin,
            )
        for k, fill in enumerate(self.fills):
            fill.populate(builder, f"model.fills[{k}]")
