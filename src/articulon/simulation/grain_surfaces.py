"""Slopes of granular surfaces, from the positions of spheres: the side of a heap, the filling of a rotating drum.

Gravity points along −z.
"""

from collections.abc import Callable, Iterator

import numpy as np

from articulon.dynamics import body_poses
from articulon.forces.contact.sphere_motion import sphere_centres
from articulon.model import Model
from articulon.model.box import Box

UPPER, LOWER = 0.8, 0.2
"""Fractions of the height of a heap. The slope is fitted between them, because the top is rounded and the foot is
flat."""
MESH = 0.5
"""Spacing of the grid on which the surface of a heap is sampled, relative to the mean radius of the spheres."""


def has_spheres(model: Model) -> bool:
    """Whether the bodies of a model carry contact spheres."""
    return bool(_carried(model).size)


def sphere_frames(model: Model, q: np.ndarray) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Yield, for each frame of the coordinates q (frames, nq), the centres (n, 3) and radii (n,) of the contact spheres
    on bodies [length]. Centres are in the world frame, wrapped into the box in its periodic directions."""
    spheres = _carried(model)
    for one in q:
        places = sphere_centres(model, *body_poses(model, one))[spheres]
        yield _wrapped(model.box, places), model.sites.radius[spheres]


def over_frames(model: Model, q: np.ndarray, quantity: Callable[[np.ndarray, np.ndarray], float]) -> np.ndarray:
    """Evaluate a function of the centres (n, 3) and radii (n,) of the spheres on bodies at each frame of the
    coordinates q (frames, nq). The result has the shape (frames,)."""
    return np.array([quantity(places, radii) for places, radii in sphere_frames(model, q)])


def heap_slope(places: np.ndarray, radii: np.ndarray, along: int, floor: float) -> float:
    """Return the angle between a heap's surface and the horizontal plane [angle], NaN if there is no slope.

    Parameters
    ----------
    places
        Centres of the spheres, world frame [length], shape (n, 3).
    radii
        Their radii [length], shape (n,).
    along
        Axis along which the heap slopes, 0 for x and 1 for y.
    floor
        Height of the floor [length].

    Returns
    -------
    float
        The angle arctan |dz/dx|. Heights z of the surface are averaged across the axis, and a straight line is fitted
        to the heights between 0.2 and 0.8 of the largest height. If the heap has two sides, the longer side is used.
    """
    step = MESH * float(radii.mean())
    height = _surface(places - [0.0, 0.0, floor], radii, step).mean(axis=1 - along)
    peak = int(np.argmax(height))
    side = slice(peak, None) if height.size - peak > peak else slice(None, peak + 1)
    x, z = step * np.arange(height.size)[side], height[side]
    sloping = (z < UPPER * height[peak]) & (z > LOWER * height[peak])
    if sloping.sum() < 2:
        sloping = z > 0.0
    if sloping.sum() < 2:
        return float("nan")
    return float(np.arctan(abs(np.polyfit(x[sloping], z[sloping], 1)[0])))


def filling_tilt(places: np.ndarray, radii: np.ndarray, centre: np.ndarray, axis: int) -> float:
    """Return the angle by which the centre of mass of spheres of one density is rotated about the horizontal axis of a
    drum, from the point straight below the axis [angle], from 0 to π. If the surface of the filling is plane, this is
    its slope: the filling is then symmetric about the normal of its surface through the axis.

    Parameters
    ----------
    places
        Centres of the spheres, world frame [length], shape (n, 3).
    radii
        Their radii [length], shape (n,).
    centre
        A point on the axis of the drum [length], shape (3,).
    axis
        Direction of the axis, 0 for x and 1 for y.
    """
    middle = np.average(places, axis=0, weights=radii**3) - centre
    return float(np.arctan2(abs(middle[1 - axis]), -middle[2]))


def _carried(model: Model) -> np.ndarray:
    """Return the indices of the sites that are contact spheres on bodies."""
    return np.flatnonzero((model.sites.radius > 0.0) & (model.sites.body >= 0))


def _wrapped(box: Box | None, places: np.ndarray) -> np.ndarray:
    """Return points (n, 3) wrapped into a box in its periodic directions; unchanged if there is no box."""
    if box is None or not box.periodic.any():
        return places
    corner = np.array([float(x) for x in box.origin])
    cells = np.floor((places - corner) @ np.linalg.inv(box.vectors))
    return places - np.where(box.periodic, cells, 0.0) @ box.vectors


def _surface(places: np.ndarray, radii: np.ndarray, step: float) -> np.ndarray:
    """Return the height of the surface of the spheres above each point of a square grid [length], shape (along x, along
    y). The height is 0 at points without a sphere, and at points where the surface is below 0."""
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
