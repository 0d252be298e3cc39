"""Checks of granular packings: slope of a heap, tilt of the filling of a drum, packing fraction."""

from collections.abc import Mapping
from typing import Annotated, Literal

import numpy as np

from articulon.declaration import Dimension, Quantity
from articulon.errors import CaseError
from articulon.model import Model
from articulon.simulation.checks.check_base import Frames, ValueCheck
from articulon.simulation.grain_surfaces import filling_tilt, has_spheres, heap_slope, over_frames

_Place = tuple[Quantity, Quantity, Quantity]
SLICES = 32
"""Number of quadrature points for the volume of a ball that is cut by a box."""


class SpheresCheck(ValueCheck):
    """Base of the checks on the positions of spheres."""

    def dimension(self, model: Model, observables: Mapping[str, str], where: str) -> str:
        """See :class:`ValueCheck`."""
        if not has_spheres(model):
            raise CaseError(f"{where}: no body of the model carries contact spheres")
        return self.of()

    def of(self) -> str:
        """Dimension of the quantity."""
        raise NotImplementedError

    def series(self, frames: Frames) -> np.ndarray:
        """See :class:`ValueCheck`."""
        return over_frames(frames.model, frames.q, self.measured)

    def measured(self, places: np.ndarray, radii: np.ndarray) -> float:
        """Compute the quantity for spheres with these centres (n, 3) and radii (n,)."""
        raise NotImplementedError


class HeapAngleCheck(SpheresCheck):
    """Angle between the surface of a heap and the horizontal plane along an axis [angle]. Heights are averaged across
    the axis, and a straight line is fitted between 0.2 and 0.8 of the largest height."""

    kind: Literal["heap-angle"]
    """Which check this is."""
    along: Literal["x", "y"] = "x"
    """Horizontal axis along which the heap slopes."""
    floor: Annotated[Quantity, Dimension("length")] = 0.0
    """Height of the floor [length]."""

    def of(self) -> str:
        """See :class:`SpheresCheck`."""
        return "angle"

    def measured(self, places: np.ndarray, radii: np.ndarray) -> float:
        """See :class:`SpheresCheck`."""
        return heap_slope(places, radii, "xy".index(self.along), float(self.floor))

    def name(self) -> str:
        """See :class:`ValueCheck`."""
        return "slope of the heap"


class DrumAngleCheck(SpheresCheck):
    """Angle by which the centre of all spheres is rotated about the horizontal axis of a drum, from the point straight
    below the axis [angle]. If the surface of the filling is plane, this is its slope."""

    kind: Literal["drum-angle"]
    """Which check this is."""
    axis: Literal["x", "y"] = "y"
    """Direction of the axis of the drum."""
    centre: Annotated[_Place, Dimension("length")] = (0.0, 0.0, 0.0)
    """A point on the axis of the drum [length]."""

    def of(self) -> str:
        """See :class:`SpheresCheck`."""
        return "angle"

    def measured(self, places: np.ndarray, radii: np.ndarray) -> float:
        """See :class:`SpheresCheck`."""
        centre = np.array([float(x) for x in self.centre])
        return filling_tilt(places, radii, centre, "xy".index(self.axis))

    def name(self) -> str:
        """See :class:`ValueCheck`."""
        return "tilt of the drum's filling"


class PackingFractionCheck(SpheresCheck):
    """Solid volume fraction of the spheres in a box, whose faces may cut spheres. The box should not be close to walls,
    because spheres pack less densely there."""

    kind: Literal["packing-fraction"]
    """Which check this is."""
    low: Annotated[_Place, Dimension("length")]
    """Corner of the box that has the smallest coordinates [length]."""
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

    The volume is ∫ A(z) dz, where A is the exact area of a circle in a rectangle. It is integrated over t with z = R
    sin t, R the radius. If an edge of the box along z crosses the ball, the relative error is 1e-4; otherwise there are
    only rounding errors.
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
    """Return the area of the part X < x, Y < y of circles of radius r about the origin.

    It is the integral over X, up to x, of the lengths of the chords along Y. A chord with |X| < w = √(r² − y²) ends at
    y; other chords are complete or empty.
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
