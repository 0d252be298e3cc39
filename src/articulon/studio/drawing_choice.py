"""Choices for the drawing of a scene: the material of surfaces, and balls as instances of one mesh, which can be
clicked on, or as points."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np

from articulon.studio.solids import Solids
from articulon.studio.stage import Stage

if TYPE_CHECKING:
    import viser

AUTOMATIC, BALLS, POINTS = WISHES = ("automatic", "balls", "points")
"""Ways to draw balls that a page may request."""
FINENESS = ((100, 4), (400, 3), (4_000, 2), (40_000, 1))
"""Pairs of a number of balls, and the number of subdivisions of the triangles of a ball for up to this number of balls,
on a graphics card. More balls are drawn as points; browsers can draw millions of points."""
COARSENESS = ((25, 3), (100, 2), (400, 1))
"""The same pairs as in ``FINENESS``, for a browser that draws by software. In such a browser, the triangles of a frame
take far more time than its pixels."""
COARSEST = 0
"""Number of subdivisions if a page requests balls, but there are more balls than in the last pair of the table."""
LARGE, FEW_LARGE, FINE = 0.3, 25, 3
"""Three numbers for large balls, which look angular with coarse triangles. They are the radius above which a ball is
large [units of the page], the largest number of large balls that are drawn with finer triangles, and the number of
subdivisions for them."""
HINT = "points are drawn if there are too many balls; points cannot be clicked on"
"""Hint for the choice of points."""
MOST_SIZES = 8
"""Largest number of sizes of points; if balls have more sizes, each gets the nearest size of a point."""


class Drawing(NamedTuple):
    """Choices that decide how a scene is drawn."""

    wish: str = AUTOMATIC
    """Requested way to draw balls, one of ``WISHES``."""
    by_software: bool = False
    """Whether a page draws without a graphics card."""

    @property
    def material(self) -> Literal["standard", "toon5"]:
        """Material of surfaces. If a browser draws by software, the standard material takes seconds for each picture;
        the material ``toon5``, with only five brightnesses, is then used."""
        return "toon5" if self.by_software else "standard"

    def divisions(self, count: int) -> int | None:
        """Return the number of subdivisions of the triangles for ``count`` balls; None if points are drawn."""
        if self.wish == POINTS:
            return None
        table = COARSENESS if self.by_software else FINENESS
        found = next((parts for most, parts in table if count <= most), None)
        return COARSEST if found is None and self.wish == BALLS else found


def choosable(count: int) -> bool:
    """Return whether there are so many balls that they may be drawn as points, unless a page requests balls."""
    return count > COARSENESS[-1][0]


def wish_of(control: Any) -> str:
    """Return the choice of a control of a page; automatic if the page sends an unknown choice."""
    return str(control.value) if control.value in WISHES else AUTOMATIC


def by_fineness(balls: Solids, divisions: int, factor: float) -> list[tuple[Solids, int]]:
    """Return balls with their numbers of subdivisions. A few large balls among many small balls get more subdivisions.

    Parameters
    ----------
    balls
        The balls.
    divisions
        Number of subdivisions for the small balls, or for all balls if none is large.
    factor
        Scale of the page [1/length].
    """
    large = factor * balls.size.max(axis=1, initial=0.0) > LARGE
    if divisions >= FINE or not 0 < np.count_nonzero(large) <= FEW_LARGE or large.all():
        return [(balls, divisions)]
    return [(balls.some(~large), divisions), (balls.some(large), FINE)]


class Points:
    """Balls as shaded points, one cloud for each size.

    Parameters
    ----------
    server
        Server of the page.
    balls
        The balls.
    stage
        Scale of the scene.
    places
        Centres of the balls on the page, shape (n, 3), single precision.
    colours
        Colours of the balls, shape (n, 3), uint8.
    """

    def __init__(
        self, server: viser.ViserServer, balls: Solids, stage: Stage, places: np.ndarray, colours: np.ndarray
    ) -> None:
        self._clouds: list[tuple[np.ndarray, Any]] = []
        radii = np.asarray(stage.factor * balls.size.mean(axis=1))
        sizes = point_sizes(radii)
        nearest = np.abs(radii[:, None] - sizes).argmin(axis=1)
        for k, size in enumerate(sizes.tolist()):
            own = np.flatnonzero(nearest == k)
            handle = server.scene.add_point_cloud(
                f"/points-{k}", places[own], colours[own], point_size=size, point_shape="circle", precision="float32"
            )
            self._clouds.append((own, handle))

    def show(self, places: np.ndarray, colours: np.ndarray | None) -> None:
        """Move the points to new places (n, 3). ``colours`` (n, 3) is None if the colours do not change."""
        for own, handle in self._clouds:
            # If all points have one size, no copy is needed.
            handle.points = places if len(self._clouds) == 1 else np.take(places, own, axis=0)
            if colours is not None:
                handle.colors = colours[own]

    def remove(self) -> None:
        """Remove the points from the pages."""
        for _, handle in self._clouds:
            handle.remove()


def point_sizes(radii: np.ndarray) -> np.ndarray:
    """Return the sizes of points for balls with these radii: the radii themselves if there are few different radii,
    otherwise quantiles of the radii. A point of size r is as wide as a ball of radius r."""
    own = np.unique(radii.astype(np.float32)).astype(float)
    if len(own) <= MOST_SIZES:
        return own
    return np.unique(np.quantile(radii, (np.arange(MOST_SIZES) + 0.5) / MOST_SIZES))
