"""Checks of granular packings: slope of a heap, tilt of the filling of a drum, packing fraction."""

from collections.abc import Mapping
from typing import Annotated, Literal

import numpy as np

from articulon.declaration import Dimension, Quantity
from articulon.dynamics import body_poses
from articulon.errors import CaseError
from articulon.forces.contact.sphere_motion import sphere_centres
from articulon.model import Model
from articulon.simulation.checks.check_base import Frames, ValueCheck

_Place = tuple[Quantity, Quantity, Quantity]
UPPER, LOWER = 0.8, 0.2
"""Fractions of the height of a heap between which its slope is fitted, because the top is rounded and the foot is
flat."""
MESH = 0.5
"""Spacing of the grid on which the surface of a heap is sampled, in mean radii."""
SLICES = 32
"""Number of quadrature points for the volume of a ball that is cut by a box."""


class SpheresCheck(ValueCheck):
    """Base of the checks on the positions of spheres."""

    def dimension(self, model: Model, observables: Mapping[str, str], where: str) -> str:
        """See :class:`ValueCheck`."""
        if not (model.sites.radius > 0.0).any():
            raise CaseError(f"{where}: the model has no contact spheres")
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
        """Compute the quantity for spheres with these centres (n, 3) and radii (n,)."""
        raise NotImplementedError


class HeapAngleCheck(SpheresCheck):
    """Angle between the surface of a heap and the horizontal plane along an axis [angle]. Heights are averaged across
    the axis, and a straight line is fitted between 0.2 and 0.8 of the largest height."""

    kind: Literal["heap-angle"]
    """Which check this is."""
    along: Literal["x", "y"] = "x"
    """Axis down which the heap slopes."""
    floor: Annotated[Quantity, Dimension("length")] = 0.0
    """Height of the floor [length]."""

    def of(self) -> str:
        """See :class:`SpheresCheck`."""
        return "angle"

    def measured(self, places: np.ndarray, radii: np.ndarray) -> float:
        """See :class:`SpheresCheck`."""
        along = "xy".index(self.along)
        step = MESH * float(radii.mean())
        height = _surface(places - [0.0, 0.0, float(self.floor)], radii, step).mean(axis=1 - along)
        peak = int(np.argmax(height))
        # If the heap has two sides, the longer one is used.
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
    """Return the height of the surface of the spheres above each point of a square grid [length], shape (along x, along
    y). It is 0 where there is no sphere, or where the surface is below 0."""
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
    """Angle by which the centre of all spheres is rotated about the axis of a drum, along y, from the point straight
    below the axis [angle]. If the surface of the filling is plane, this is its slope."""

    kind: Literal["drum-angle"]
    """Which check this is."""
    centre: Annotated[_Place, Dimension("length")] = (0.0, 0.0, 0.0)
    """A point on the axis of the drum [length]."""

    def of(self) -> str:
        """See :class:`SpheresCheck`."""
        return "angle"

    def measured(self, places: np.ndarray, radii: np.ndarray) -> float:
        """See :class:`SpheresCheck`."""
        middle = np.average(places, axis=0, weights=radii**3) - np.array([float(x) for x in self.centre])
        return float(np.arctan2(abs(middle[0]), -middle[2]))

    def name(self) -> str:
        """See :class:`ValueCheck`."""
        return "tilt of the drum's filling"


class PackingFractionCheck(SpheresCheck):
    """Solid volume fraction of the spheres in a box, whose faces may cut spheres. The box should not be close to walls,
    because spheres pack less densely there."""

    kind: Literal["packing-fraction"]
    """Which check this is."""
    low: Annotated[_Place, Dimension("length")]
    """Corner of the box with the smallest coordinates [length]."""
    high: Annotated[_Place, Dimension("length")]
    """The opposite corner [length]."""

    def of(self) -> str:
        """See :class:`SpheresCheck`."""
        return "dimensionless"

    def measured(self, places: np.ndarray, radii: np.ndarray) -> float:
        """See :class:`SpheresCheck`."""
        low, high = (np.array([float(x) for x in corner]) for corner in (self.low, self.high))
        near = ((places + radii[:, None] > low) & (places - radii[:, None] < high)).all(axis=1)
        solid = _volume_in_box(low - places[near], high - places[near], radii[near])
        return float(solid.sum() / np.prod(high - low))

    def name(self) -> str:
        """See :class:`ValueCheck`."""
        return "solid fraction"


def _volume_in_box(low: np.ndarray, high: np.ndarray, radius: np.ndarray) -> np.ndarray:
    """Return the volume of balls about the origin inside boxes with the corners ``low`` and ``high``, shape (n, 3)
    each.

    It is ∫ A(z) dz with z = R sin t, where the area A of a circle in a rectangle is exact. The error is that of
    rounding if no edge along z crosses the ball, and otherwise 1e-4 of the volume.
    """
    R = radius[:, None]
    first, last = (np.arcsin(np.clip(face[:, 2:] / R, -1.0, 1.0)) for face in (low, high))
    points, weights = np.polynomial.legendre.leggauss(SLICES)
    t = 0.5 * (first + last) + 0.5 * (last - first) * points
    r = R * np.cos(t)
    (x0, y0), (x1, y1) = (np.hsplit(face[:, :2], 2) for face in (low, high))
    area = _circle_below(x1, y1, r) - _circle_below(x0, y1, r) - _circle_below(x1, y0, r) + _circle_below(x0, y0, r)
    return 0.5 * (last - first)[:, 0] * ((area * r) @ weights)


def _circle_below(x: np.ndarray, y: np.ndarray, r: np.ndarray) -> np.ndarray:
    """Return the area of circles of radius r about the origin whose points have coordinates below both x and y.

    It integrates chords along y up to X = x. For |X| < w a chord ends at y; otherwise it is complete or empty.
    """
    x, y = np.clip(x, -r, r), np.clip(y, -r, r)
    w = np.sqrt(r**2 - y**2)

    def half_chords(X: np.ndarray) -> np.ndarray:
        """Return ∫ √(r² − X²) dX from 0 to X."""
        return 0.5 * (X * np.sqrt(np.maximum(r**2 - X**2, 0.0)) + r**2 * np.arcsin(np.clip(X / r, -1.0, 1.0)))

    m = np.clip(x, -w, w)
    reached = half_chords(m) - half_chords(-w)
    beyond = half_chords(x) - half_chords(-r) - reached
    return y * (m + w) + reached + np.where(y > 0.0, 2.0 * beyond, 0.0)
