"""Places for spheres that do not touch: on a loose grid, or thrown in one by one."""

import math
from collections.abc import Iterator

import numpy as np

from articulon.errors import ModelError

MOST = 1e15
"""Places of a grid along an edge, beyond which nobody counts."""
AT_ONCE = 2**16
"""Places of a grid that are looked at in one go."""
ROUNDS = 400
"""How often places are drawn for the spheres that have found none yet."""
BATCHES = 25
"""Groups of spheres that find their places one after the other: the large ones find none once the small ones stand."""

DENSEST = np.pi / np.sqrt(18.0)
"""Part of space that equal spheres can fill; those of several sizes fill more, but are not thrown in so densely."""
Region = tuple[np.ndarray, ...]
"""The two corners of a box, or the ends of a cylinder's axis [length], each of shape (3,)."""


def sizes(count: int, smallest: float, largest: float, distribution: str, rng: np.random.Generator) -> np.ndarray:
    """Radii (count,) between two [length]: ``uniform``, or with ``equal-volumes`` of each size, p(R) ∝ 1/R³."""
    if largest == smallest:
        return np.full(count, smallest)
    share = rng.random(count)
    if distribution == "uniform":
        return smallest + (largest - smallest) * share
    # The inverse of the cumulated density (1/a² − 1/R²)/(1/a² − 1/b²).
    return np.asarray(1.0 / np.sqrt(smallest**-2 - share * (smallest**-2 - largest**-2)))


def grid_places(
    region: Region, around: float | None, radius: float, gap: float, rng: np.random.Generator, count: int | None = None
) -> np.ndarray:
    """Centres (n, 3) on a cubic grid for spheres of at most a radius, the lowest along z first: all, or ``count`` and
    some more where there are as many.

    Neighbours are 2 radius (1 + gap) apart, and each is moved at random by less than half of what is free.
    """
    low, high = _hull(region, around)
    spacing = 2.0 * radius * (1.0 + gap)
    counts = np.minimum(_grid(region, around, radius, gap), MOST).astype(np.int64)
    if (counts < 1).any():
        return np.zeros((0, 3))
    left = high - low - 2.0 * radius - (counts - 1) * spacing
    # Layers begin on the floor; across they stand in the middle.
    corner = low + radius + 0.5 * left * np.array([1.0, 1.0, 0.0])
    wide, deep, _ = counts.tolist()
    laid_out, looked, found, kept = (
        layers_of(region, around, radius, gap, count) * deep * wide,
        0,
        [np.zeros((0, 3))],
        0,
    )
    # Of a large region that few spheres lie in no more is looked at than they need.
    while looked < laid_out and (count is None or kept < count):
        index = np.arange(looked, min(looked + AT_ONCE, laid_out))
        steps = np.stack([index % wide, index // wide % deep, index // (wide * deep)], axis=1)
        places = corner + spacing * steps + radius * gap * rng.uniform(-1.0, 1.0, (len(steps), 3))
        places = np.clip(places, low + radius, high - radius)
        found.append(places[_inside(places, region, around, np.full(len(places), radius))])
        looked, kept = looked + len(steps), kept + len(found[-1])
    # What is drawn later does not depend on how many places were looked at.
    rng.bit_generator.advance(3 * (math.prod(counts.tolist()) - looked))  # type: ignore[attr-defined]
    return np.concatenate(found)


def grid_count(region: Region, around: float | None, radius: float, gap: float, count: int | None = None) -> float:
    """How many places of a grid are laid out for a number of spheres, or for as many as there is room for."""
    x, y, _ = np.maximum(_grid(region, around, radius, gap), 0.0).tolist()
    return x * y * layers_of(region, around, radius, gap, count)


def layers_of(region: Region, around: float | None, radius: float, gap: float, count: int | None) -> int:
    """Layers of a grid that a number of spheres needs; all of them where there is no number, or the region is round."""
    x, y, z = np.clip(_grid(region, around, radius, gap), 0.0, MOST).tolist()
    if count is None or around is not None or x * y < 1.0:
        return int(z)
    return int(min(z, -(-count // (x * y))))


def _grid(region: Region, around: float | None, radius: float, gap: float) -> np.ndarray:
    """Places of a grid along x, y and z."""
    low, high = _hull(region, around)
    # Even one place needs only the sphere itself; each further one a spacing.
    return np.floor((high - low - 2.0 * radius) / (2.0 * radius * (1.0 + gap)) * (1.0 + 1e-12)) + 1.0


def check_room(region: Region, around: float | None, count: int, radius: float, where: str) -> None:
    """Raises ModelError where spheres of at least a radius have no room in a region, however they lie."""
    sides = np.abs(region[1] - region[0])
    volume = float(np.prod(sides)) if around is None else np.pi * around**2 * float(np.linalg.norm(sides))
    filled = count * 4.0 / 3.0 * np.pi * radius**3
    if filled > DENSEST * volume:
        raise ModelError(
            f"{where}: {count} grains of a radius of {radius:g} and more fill {filled:.3g}, and the region has the "
            f"volume {volume:.3g}: there is no more room in it; enlarge it, or ask for fewer"
        )


def random_places(region: Region, around: float | None, radii: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Centres (n, 3) for spheres of these radii, in their order, wherever there is room (random sequential addition).

    Fewer than there are radii where no room is found any more.
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
    """Places for some spheres beside those that have theirs."""
    # SciPy's trees take time to import, which no other model needs.
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
    """Corners of the smallest box with edges along the axes that holds a region."""
    low, high = np.minimum(*region), np.maximum(*region)
    if around is None:
        return low, high
    along = (region[1] - region[0]) / np.linalg.norm(region[1] - region[0])
    # A disc of a radius reaches out by its sine along each axis.
    reach = around * np.sqrt(np.maximum(1.0 - along**2, 0.0))
    return low - reach, high + reach


def _inside(places: np.ndarray, region: Region, around: float | None, radii: np.ndarray) -> np.ndarray:
    """Whether spheres lie wholly in a region, shape (n,)."""
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
