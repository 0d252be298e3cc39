"""Step limits of a run with contacts, from its materials, its spheres, and their expected speeds.

The recommended step is a twentieth of the shorter of two times: the duration of a collision, and the time of a Rayleigh
wave across a grain. With Hertz's law, the time of the wave is the shorter one. The error of a collision without damping
is then below a thousandth; for damped collisions it is larger, see docs/grains.md. Above the limit, velocity Verlet is
unstable for the stiffest contact spring, with angular frequency ω, at 2/ω, or a wave crosses a whole grain in a step.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from articulon.errors import CaseError
from articulon.forces.contact.contact_columns import LAW
from articulon.forces.contact.contact_engine import carrying_masses, contact_of
from articulon.forces.contact.materials import Contact
from articulon.model import Model
from articulon.time_scales.contact_durations import (
    SMALLER,
    deepest_overlap,
    hertz_time,
    linear_time,
    rayleigh_time,
    stable_step,
)
from articulon.time_scales.contact_speeds import expected_speed
from articulon.units import UnitSystem

ROLLS = 3.5
"""Inverse effective mass of a sphere's surface in rolling, times the mass: a tangential force moves the surface like
2/7 of the sphere's mass."""


@dataclass(frozen=True)
class PairScale:
    """Time scales of a pair of materials, for their lightest spheres."""

    kinds: tuple[str, str]
    """The two materials."""
    wall: bool
    """Whether the second material is that of a wall."""
    mass: float
    """Effective mass m* [mass]."""
    radius: float
    """Effective radius R* [length]."""
    modulus: float
    """Effective modulus E* of Hertz's law [pressure], 0 for a linear spring."""
    stiffness: float
    """Stiffness k of a linear spring [force/length], 0 with Hertz's law."""
    speed: float
    """Expected collision speed [velocity]."""
    collision: float
    """Duration of a collision at the expected speed [time]."""
    overlap: float
    """Largest overlap at the expected speed, relative to the radius of the smaller sphere."""
    limit: float
    """Step above which the stiffest contact spring is unstable [time]."""

    def collision_at(self, speed: float) -> float:
        """Return the duration of a collision at another speed [time]."""
        if self.modulus:
            return hertz_time(self.mass, self.radius, self.modulus, speed)
        return self.collision


@dataclass(frozen=True)
class GrainScale:
    """Rayleigh time of a material, for its sphere with the shortest Rayleigh time."""

    kind: str
    """The material."""
    radius: float
    """Radius of this sphere [length]."""
    density: float
    """Density [mass/length³]: mass of the body that carries the sphere, divided by the volume of the sphere."""
    time: float
    """Rayleigh time [time]; infinity for linear springs, which have no waves."""


@dataclass(frozen=True, repr=False)
class ContactScales:
    """Time scales that limit the step of a model with contacts."""

    speed: float
    """Largest expected collision speed [velocity], from the initial speeds, the speed of walls, and the gain of speed
    by gravity down to the lowest sphere or wall."""
    grains: tuple[GrainScale, ...]
    """Scales by material of the spheres."""
    pairs: tuple[PairScale, ...]
    """Scales by pair of materials."""
    overlap_allowed: float
    """``largest_overlap`` of the contact law, relative to the radius of the smaller sphere."""
    units: UnitSystem
    """Units of the numbers."""

    def __repr__(self) -> str:
        """Return a text with the step, the speed and the overlap, with units."""
        unit, velocity = unit_symbols(self.units)
        return (
            f"ContactScales(step: {with_unit(self.recommended, unit)} recommended, "
            f"{with_unit(self.limit, unit)} at most; "
            f"overlap: {self.overlap:.2g} of the radius predicted at {with_unit(self.speed, velocity)}, "
            f"{self.overlap_allowed:.2g} allowed)"
        )

    @property
    def overlap(self) -> float:
        """Largest overlap of all pairs at the expected speed, relative to the radius of the smaller sphere."""
        return max((one.overlap for one in self.pairs), default=0.0)

    @property
    def recommended(self) -> float:
        """Recommended step, a twentieth of the shortest time scale [time]."""
        return min(*(one.time for one in self.grains), *(one.collision for one in self.pairs), math.inf) / SMALLER

    @property
    def limit(self) -> float:
        """Largest allowed step [time]."""
        return min(*(one.time for one in self.grains), *(one.limit for one in self.pairs), math.inf)

    def binding(self, velocity_unit: str = "") -> str:
        """Describe the time scale that sets the limit.

        Parameters
        ----------
        velocity_unit
            Symbol of the unit of velocity, which is written after the speed.
        """
        grain = min(self.grains, key=lambda one: one.time)
        pair = min(self.pairs, key=lambda one: one.limit)
        if grain.time <= pair.limit:
            return f"the time of a Rayleigh wave across a grain of '{grain.kind}'"
        return (
            f"2/ω of the stiffest spring between {_named(pair)} that meet at {with_unit(pair.speed, velocity_unit, 4)}"
        )


def contact_scales(model: Model, speed: float | None = None) -> ContactScales | None:
    """Compute the time scales of a model's contacts; None for a model that cannot have contacts.

    Parameters
    ----------
    model
        The model.
    speed
        Collision speed [velocity]; by default the speed expected for the model.

    Raises
    ------
    CaseError
        For a speed that is not positive.
    """
    if speed is not None and not 0.0 < speed < math.inf:
        raise CaseError(f"speed: the collision speed must be positive, got {speed:g}")
    law = contact_of(model)
    if law is None or ((model.sites.radius > 0.0).sum() < 2 and not law.walls):
        return None
    expected = expected_speed(model, law) if speed is None else speed
    names, rows = law.names(model), law.rows(model)
    spheres = {name: _spheres(model, name) for name in names}
    grains = tuple(
        _grain_scale(law, name, radius, mass) for name, (radius, mass) in spheres.items() if np.isfinite(mass).any()
    )
    pairs = tuple(_pair_scales(law, names, rows, spheres, expected))
    return ContactScales(expected, grains, pairs, float(law.largest_overlap), model.units)


def _spheres(model: Model, kind: str) -> tuple[np.ndarray, np.ndarray]:
    """Return the radii of the spheres of a material, and the masses of their bodies; the mass of the ground is
    infinite."""
    sites = model.sites
    if kind not in sites.kinds:
        return np.zeros(0), np.zeros(0)
    own = (sites.kind == sites.kinds.index(kind)) & (sites.radius > 0.0)
    return sites.radius[own], carrying_masses(model, sites.body[own])


def _grain_scale(law: Contact, kind: str, radius: np.ndarray, mass: np.ndarray) -> GrainScale:
    # For one material, the Rayleigh time is proportional to R √ρ, and so to √(m/R).
    least = int(np.argmin(mass / radius))
    R = float(radius[least])
    density = float(mass[least]) / (4.0 / 3.0 * math.pi * R**3)
    material = law.materials[kind]
    if law.normal != "hertz" or material.young is None or material.poisson is None:
        return GrainScale(kind, R, density, math.inf)
    poisson = float(material.poisson)
    shear = float(material.young) / (2.0 * (1.0 + poisson))
    return GrainScale(kind, R, density, rayleigh_time(R, density, shear, poisson))


def _pair_scales(
    law: Contact, names: tuple[str, ...], rows: np.ndarray, spheres: dict[str, Any], speed: float
) -> Iterator[PairScale]:
    for i, first in enumerate(names):
        radius, mass = spheres[first]
        if not np.isfinite(mass).any():
            continue
        a = int(np.argmin(mass**2 / radius))
        for j, second in enumerate(names):
            other_radius, other_mass = spheres[second]
            movable, wall = bool(np.isfinite(other_mass).any()), not other_radius.size
            if movable and j < i:
                continue
            if wall:
                R, m, smaller = float(radius[a]), float(mass[a]), float(radius[a])
            else:
                b = int(np.argmin(np.where(np.isfinite(other_mass), other_mass**2 / other_radius, np.inf)))
                R = float(radius[a] * other_radius[b] / (radius[a] + other_radius[b]))
                m = float(1.0 / (1.0 / mass[a] + 1.0 / other_mass[b]))
                smaller = float(min(radius[a], other_radius[b]))
            row = rows[i * len(names) + j]
            yield _pair_scale(law, (first, second), wall, m, R, smaller, row, speed)


def _pair_scale(
    law: Contact,
    kinds: tuple[str, str],
    wall: bool,
    mass: float,
    radius: float,
    smaller: float,
    row: np.ndarray,
    speed: float,
) -> PairScale:
    if law.normal == "hertz":
        modulus = 0.75 * float(row[LAW.stiffness])
        depth = deepest_overlap(mass, radius, modulus, speed)
        a = math.sqrt(radius * depth)
        normal, tangential = 2.0 * modulus * a, float(row[LAW.shear]) * a
        collision, stiffness = hertz_time(mass, radius, modulus, speed), 0.0
    else:
        modulus, stiffness = 0.0, float(row[LAW.stiffness])
        normal, tangential = stiffness, float(row[LAW.shear])
        collision, depth = linear_time(mass, stiffness), speed * math.sqrt(mass / stiffness)
    stiffest = max(normal, ROLLS * tangential)
    limit = stable_step(mass, stiffest) if stiffest > 0.0 else math.inf
    return PairScale(kinds, wall, mass, radius, modulus, stiffness, speed, collision, depth / smaller, limit)


def check_contact_step(model: Model, integrator: Any, step: float | None, source: str) -> None:
    """Raise CaseError for a fixed step above the limit, unless ``integrator.force_step`` allows it."""
    if step is None or getattr(integrator, "force_step", None):
        return
    scales = contact_scales(model)
    if scales is None or step <= scales.limit:
        return
    unit, velocity = unit_symbols(model.units)
    raise CaseError(
        f"{source}: integrator.step: {with_unit(step, unit, 6)} is beyond {with_unit(scales.limit, unit, 4)}, "
        f"{scales.binding(velocity)}: a run is not stable there; take {with_unit(scales.recommended, unit)} or less "
        "(articulon.analysis.analyse_contacts says why), or set integrator.force_step = true"
    )


def unit_symbols(units: UnitSystem) -> tuple[str, str]:
    """Return the symbols of the units of time and velocity; empty for reduced units."""
    return ("", "") if units.time is None else (units.symbols[2], units.label("velocity"))


def with_unit(value: float, symbol: str, digits: int = 3) -> str:
    """Format a number with this many significant digits, and its unit, if it has a unit."""
    return f"{value:.{digits}g} {symbol}".rstrip()


def _named(pair: PairScale) -> str:
    first, second = pair.kinds
    return f"spheres of '{first}' and {'a wall' if pair.wall else 'spheres'} of '{second}'"
