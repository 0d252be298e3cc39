"""Checks of what grains do together: the slope of a heap, the tilt of what lies in a drum, how densely it lies."""

from collections.abc import Mapping
from typing import Annotated, Literal

import numpy as np

from articulon.declaration import Dimension, Quantity
from articulon.dynamics import body_poses
from articulon.errors import CaseError
from articulon.model import Model
from articulon.simulate.check_base import Frames, ValueCheck
from articulon.simulate.contact_statistics import sphere_centres

_Place = tuple[Quantity, Quantity, Quantity]
UPPER, LOWER = 0.8, 0.2
"""The slope of a heap is that between these parts of its height: tops are round, and feet run out."""
MESH = 0.5
"""Distance of the points at which the surface of a heap is looked at, in mean radii."""


class SpheresCheck(ValueCheck):
    """Base of the checks that look at where spheres are."""

    def dimension(self, model: Model, observables: Mapping[str, str], where: str) -> str:
        """See :class:`ValueCheck`."""
        if not (model.sites.radius > 0.0).any():
            raise CaseError(f"{where}: the model has no contact spheres to be looked at")
        return self.of()

    def of(self) -> str:
        """Dimension of the quantity."""
        raise NotImplementedError

    def series(self, frames: Frames) -> np.ndarray:
        """See :class:`ValueCheck`."""
        sites = frames.model.sites
        spheres = np.flatnonzero((sites.radius > 0.0) & (sites.body >= 0))
        centres = (sphere_centres(frames.model, *body_poses(frames.model, q))[spheres] for q in frames.q)
        return np.array([self.measured(places, sites.radius[spheres]) for places in centres])

    def measured(self, places: np.ndarray, radii: np.ndarray) -> float:
        """The quantity of spheres with these centres (n, 3) and radii (n,)."""
        raise NotImplementedError


class HeapAngleCheck(SpheresCheck):
    """Slope of a heap's surface against the horizontal plane along an axis: of the straight line through its height,
    averaged across the axis, where that is between 0.2 and 0.8 of the largest [angle]."""

    kind: Literal["heap-angle"]
    """Which check this is."""
    along: Literal["x", "y"] = "x"
    """Axis down which it slopes."""
    floor: Annotated[Quantity, Dimension("length")] = 0.0
    """Height of what it stands on [length]."""

    def of(self) -> str:
        """See :class:`SpheresCheck`."""
        return "angle"

    def measured(self, places: np.ndarray, radii: np.ndarray) -> float:
        """See :class:`SpheresCheck`."""
        along = "xy".index(self.along)
        step = MESH * float(radii.mean())
        height = _surface(places - [0.0, 0.0, float(self.floor)], radii, step).mean(axis=1 - along)
        peak = int(np.argmax(height))
        # Of a heap with two sides the one that reaches further.
        side = slice(peak, None) if height.size - peak > peak else slice(None, peak + 1)
        x, z = step * np.arange(height.size)[side], height[side]
        sloping = (z < UPPER * height[peak]) & (z > LOWER * height[peak])
        if sloping.sum() < 2:
            sloping = z > 0.0
        if sloping.sum() < 2:
            return float("nan")
        return float(np.arctan(abs(np.polyfit(x[sloping], z[sloping], 1)[0])))

    def name(self) -> str:
        """See :class:`ValueCheck`."""
        return "slope of the heap"


def _surface(places: np.ndarray, radii: np.ndarray, step: float) -> np.ndarray:
    """Height of the highest sphere above each point of a square grid over the spheres, 0 where there is none or it lies
    lower [length], shape (along x, along y)."""
    cell = (places[:, :2] - places[:, :2].min(axis=0)) / step
    nearest = np.rint(cell).astype(np.int64)
    result = np.zeros(nearest.max(axis=0) + 1)
    reach = int(np.ceil(radii.max() / step))
    for shift in np.ndindex(2 * reach + 1, 2 * reach + 1):
        point = nearest + np.array(shift) - reach
        below = radii**2 - step**2 * ((point - cell) ** 2).sum(axis=1)
        seen = (below > 0.0) & (point >= 0).all(axis=1) & (point < result.shape).all(axis=1)
        np.maximum.at(result, tuple(point[seen].T), places[seen, 2] + np.sqrt(below[seen]))
    return result


class DrumAngleCheck(SpheresCheck):
    """How far the common centre of the spheres is turned, about the axis of a drum along y, from straight below it: the
    slope of the surface of what it is filled with, where that is plane [angle]."""

    kind: Literal["drum-angle"]
    """Which check this is."""
    centre: Annotated[_Place, Dimension("length")] = (0.0, 0.0, 0.0)
    """A point of the axis [length]."""

    def of(self) -> str:
        """See :class:`SpheresCheck`."""
        return "angle"

    def measured(self, places: np.ndarray, radii: np.ndarray) -> float:
        """See :class:`SpheresCheck`."""
        middle = np.average(places, axis=0, weights=radii**3) - np.array([float(x) for x in self.centre])
        return float(np.arctan2(abs(middle[0]), -middle[2]))

    def name(self) -> str:
        """See :class:`ValueCheck`."""
        return "tilt of what lies in the drum"


class PackingFractionCheck(SpheresCheck):
    """Part of a region that spheres fill. Its upper and lower faces may cut spheres; across, it must hold them whole,
    as it does from wall to wall."""

    kind: Literal["packing-fraction"]
    """Which check this is."""
    low: Annotated[_Place, Dimension("length")]
    """Corner of the region with the least coordinates [length]."""
    high: Annotated[_Place, Dimension("length")]
    """The opposite corner [length]."""

    def of(self) -> str:
        """See :class:`SpheresCheck`."""
        return "dimensionless"

    def measured(self, places: np.ndarray, radii: np.ndarray) -> float:
        """See :class:`SpheresCheck`."""
        low, high = (np.array([float(x) for x in corner]) for corner in (self.low, self.high))
        across = ((places[:, :2] >= low[:2]) & (places[:, :2] <= high[:2])).all(axis=1)
        z, R = places[across, 2], radii[across]
        top, bottom = np.clip(high[2] - z, -R, R), np.clip(low[2] - z, -R, R)
        # π ∫ (R² − z²) dz between the two planes.
        solid = np.pi * (R**2 * (top - bottom) - (top**3 - bottom**3) / 3.0)
        return float(solid.sum() / np.prod(high - low))

    def name(self) -> str:
        """See :class:`ValueCheck`."""
        return "solid fraction"
