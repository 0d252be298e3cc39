"""Positions for spheres that do not touch: on a loose grid, or by random insertion."""

import math
from collections.abc import Iterator

import numpy as np

from articulon.errors import ModelError

MOST = 1e15
"""Number of grid places along an edge above which places are not counted."""
AT_ONCE = 2**16
"""Number of grid places processed at once."""
ROUNDS = 400
"""Number of rounds; in each round, positions are drawn for all spheres that are not placed yet."""
BATCHES = 25
"""Number of groups into which spheres are divided by size. Groups are placed one after the other, the largest spheres
first, because large spheres find no space between small ones."""

DENSEST = np.pi / np.sqrt(18.0)
"""Largest volume fraction of equal spheres. Mixed sizes can be denser, but random insertion never reaches this
value."""
Region = tuple[np.ndarray, ...]
"""Two corners of a box, or the two ends of a cylinder's axis [length], each of shape (3,)."""


def sizes(count: int, smallest: float, largest: float, distribution: str, rng: np.random.Generator) -> np.ndarray:
    """Draw radii (count,) in a range [length], with a ``uniform`` distribution, or with ``equal-volumes`` of each size,
    p(R) ∝ 1/R³."""
    if largest == smallest:
        return np.full(count, smallest)
    share = rng.random(count)
    if distribution == "uniform":
        return smallest + (largest - smallest) * share
    # The inverse of the cumulative distribution (1/a² − 1/R²)/(1/a² − 1/b²).
    return np.asarray(1.0 / np.sqrt(smallest**-2 - share * (smallest**-2 - largest**-2)))


def grid_places(
    region: Region, around: float | None, radius: float, gap: float, rng: np.random.Generator, count: int | None = None
) -> np.ndarray:
    """Return centres (n, 3) on a cubic grid for spheres up to a given radius, the lowest along z first.

    All centres in the region are returned. If ``count`` is given, the search ends as soon as this number is found.
    Neighbours on the grid are 2 radius (1 + gap) apart. Each centre is displaced at random by less than half of the
    free gap.
    """
    low, high = _hull(region, around)
    spacing = 2.0 * radius * (1.0 + gap)
    counts = np.minimum(_grid(region, around, radius, gap), MOST).astype(np.int64)
    if (counts < 1).any():
        return np.zeros((0, 3))
    left = high - low - 2.0 * radius - (counts - 1) * spacing
    # Layers begin on the floor; within a layer the grid is centred.
    corner = low + radius + 0.5 * left * np.array([1.0, 1.0, 0.0])
    wide, deep, _ = counts.tolist()
    laid_out, looked, found, kept = (
        layers_of(region, around, radius, gap, count) * deep * wide,
        0,
        [np.zeros((0, 3))],
        0,
    )
    # In a large region with few spheres, only as many places as needed are visited.
    while looked < laid_out and (count is None or kept < count):
        index = np.arange(looked, min(looked + AT_ONCE, laid_out))
        steps = np.stack([index % wide, index // wide % deep, index // (wide * deep)], axis=1)
        places = corner + spacing * steps + radius * gap * rng.uniform(-1.0, 1.0, (len(steps), 3))
        places = np.clip(places, low + radius, high - radius)
        found.append(places[_inside(places, region, around, np.full(len(places), radius))])
        looked, kept = looked + len(steps), kept + len(found[-1])
    # Advance the generator, so that later random numbers do not depend on the number of visited places.
    rng.bit_generator.advance(3 * (math.prod(counts.tolist()) - looked))  # type: ignore[attr-defined]
    return np.concatenate(found)


def grid_count(region: Region, around: float | None, radius: float, gap: float, count: int | None = None) -> float:
    """Return the number of grid places that are visited to place ``count`` spheres, or all that fit if it is None."""
    x, y, _ = np.maximum(_grid(region, around, radius, gap), 0.0).tolist()
    return x * y * layers_of(region, around, radius, gap, count)


def layers_of(region: Region, around: float | None, radius: float, gap: float, count: int | None) -> int:
    """Return the number of grid layers needed for ``count`` spheres. It is the number of all layers if ``count`` is
    None or the region is a cylinder."""
    x, y, z = np.clip(_grid(region, around, radius, gap), 0.0, MOST).tolist()
    if count is None or around is not None or x * y < 1.0:
        return int(z)
    return int(min(z, -(-count // (x * y))))


def _grid(region: Region, around: float | None, radius: float, gap: float) -> np.ndarray:
    """Number of grid places along x, y and z."""
    low, high = _hull(region, around)
    # The first place needs only the size of the sphere; each further place needs one spacing.
    return np.floor((high - low - 2.0 * radius) / (2.0 * radius * (1.0 + gap)) * (1.0 + 1e-12)) + 1.0


def check_room(region: Region, around: float | None, count: int, radius: float, where: str) -> None:
    """Raise ModelError if ``count`` spheres of at least the given radius cannot fit into a region in any
    arrangement."""
    sides = np.abs(region[1] - region[0])
    volume = float(np.prod(sides)) if around is None else np.pi * around**2 * float(np.linalg.norm(sides))
    filled = count * 4.0 / 3.0 * np.pi * radius**3
    if filled > DENSEST * volume:
        raise ModelError(
            f"{where}: {count} grains of a radius of {radius:g} and more have the volume {filled:.3g}, and the region "
            f"has the volume {volume:.3g}: they cannot fit; enlarge the region, or lower count"
        )


def random_places(region: Region, around: float | None, radii: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Return centres (n, 3) for spheres of the given radii, in their order, by random sequential addition.

    If no more space is found, there are fewer centres than radii.
    """
    low, high = _hull(region, around)
    places = np.zeros((0, 3))
    for start, stop in _batches(radii.size):
        found = _batch(places, radii[:start], radii[start:stop], low, high, region, around, rng)
        places = np.concatenate([places, found])
        if len(found) < stop - start:
            break
    return places


def _batch(
    before: np.ndarray,
    before_radii: np.ndarray,
    radii: np.ndarray,
    low: np.ndarray,
    high: np.ndarray,
    region: Region,
    around: float | None,
    rng: np.random.Generator,
) -> np.ndarray:
    """Positions for a group of spheres among those already placed."""
    # This import is slow, and only this kind of model needs it.
    from scipy.spatial import cKDTree

    result = np.full((radii.size, 3), np.nan)
    largest = float(max(before_radii.max(initial=0.0), radii.max()))
    for _ in range(ROUNDS):
        placed = np.isfinite(result[:, 0])
        waiting = np.flatnonzero(~placed)
        if not waiting.size:
            break
        R = radii[waiting]
        margin = R[:, None]
        drawn = low + margin + (high - low - 2.0 * margin) * rng.random((waiting.size, 3))
        free = _inside(drawn, region, around, R)
        others = np.concatenate([before, result[placed]])
        other_radii = np.concatenate([before_radii, radii[placed]])
        tree = cKDTree(drawn)
        if len(others):
            pairs = cKDTree(others).sparse_distance_matrix(tree, 2.0 * largest, output_type="ndarray")
            hit = pairs["v"] < other_radii[pairs["i"]] + R[pairs["j"]]
            free[pairs["j"][hit]] = False
        near = tree.query_pairs(2.0 * largest, output_type="ndarray")
        apart = np.linalg.norm(drawn[near[:, 0]] - drawn[near[:, 1]], axis=1)
        clash = near[apart < R[near[:, 0]] + R[near[:, 1]]]
        clash.sort(axis=1)
        for first, second in clash[np.lexsort((clash[:, 1], clash[:, 0]))].tolist():
            if free[first]:
                free[second] = False
        result[waiting[free]] = drawn[free]
    return result[np.isfinite(result[:, 0])]


def _batches(count: int) -> Iterator[tuple[int, int]]:
    size = max(count // BATCHES, 1)
    for start in range(0, count, size):
        yield start, min(start + size, count)


def _hull(region: Region, around: float | None) -> tuple[np.ndarray, np.ndarray]:
    """Corners of the smallest axis-aligned box that contains a region."""
    low, high = np.minimum(*region), np.maximum(*region)
    if around is None:
        return low, high
    along = (region[1] - region[0]) / np.linalg.norm(region[1] - region[0])
    # A disc extends along each axis by its radius times the sine of the angle to its normal.
    reach = around * np.sqrt(np.maximum(1.0 - along**2, 0.0))
    return low - reach, high + reach


def _inside(places: np.ndarray, region: Region, around: float | None, radii: np.ndarray) -> np.ndarray:
    """Whether spheres lie completely in a region, shape (n,)."""
    slack = 1e-9 * radii
    if around is None:
        low, high = region
        free = np.minimum((places - low).min(axis=1), (high - places).min(axis=1))
        return np.asarray(free >= radii - slack)
    length = float(np.linalg.norm(region[1] - region[0]))
    along = (region[1] - region[0]) / length
    height = (places - region[0]) @ along
    off = np.linalg.norm(places - region[0] - height[:, None] * along, axis=1)
    return (off <= around - radii + slack) & (height >= radii - slack) & (height <= length - radii + slack)
