"""Checks that everything a swing joint's body carries lies on the body's z axis, because the joint excludes rotation
about it."""

from collections.abc import Callable

import numpy as np

from articulon.errors import ModelError
from articulon.model.forest_tables import Forest
from articulon.model.joints import FREE, SPHERICAL, SPINLESS

ON_AXIS = 1e-12
"""Distance from the axis that counts as zero, relative to the largest length on the body."""


def check_swinging(
    forest: Forest, name: Callable[[int], str], site_link: np.ndarray, site_position: np.ndarray
) -> None:
    """Raises ModelError, naming the body, if a link on a swing joint carries anything off its z axis.

    Parameters
    ----------
    forest
        Forest of links.
    name
        Function that returns the name of the body whose joint moves a link.
    site_link, site_position
        Link of each site, −1 for the ground, shape (sites,), and the site's position in the link's frame [length],
        (sites, 3).
    """
    swings = np.isin(forest.kind, SPINLESS)
    if not swings.any():
        return
    about_z, across = forest.inertia[:, 5], np.abs(forest.inertia[:, [0, 3]]).max(axis=1)
    heavy = np.flatnonzero(swings & (about_z > ON_AXIS * np.maximum(across, 1e-300)))
    if heavy.size:
        raise ModelError(
            f"body '{name(int(heavy[0]))}': a swing joint lets no body spin about its z axis, so its mass must lie on "
            "that axis, for example com = (0, 0, length) and inertia = 0; give the body a spherical joint, or place "
            "its mass there"
        )
    carried = np.flatnonzero((forest.parent >= 0) & swings[forest.parent])
    turning = np.isin(forest.kind[carried], (*SPINLESS, SPHERICAL, FREE))
    held = carried[~turning]
    if held.size:
        raise ModelError(
            f"body '{name(int(held[0]))}': its joint has an axis fixed in '{name(int(forest.parent[held[0]]))}', whose "
            "spin about its rod is undefined; connect it by a swing, spherical or free joint"
        )
    _check_on_axis(forest.position[carried], [f"body '{name(int(i))}': its joint" for i in carried.tolist()])
    on = np.flatnonzero((site_link >= 0) & swings[site_link])
    _check_on_axis(site_position[on], [f"site {k} of body '{name(int(site_link[k]))}'" for k in on.tolist()])


def _check_on_axis(places: np.ndarray, names: list[str]) -> None:
    beside = np.hypot(places[:, 0], places[:, 1])
    far = np.flatnonzero(beside > ON_AXIS * np.maximum(np.abs(places).max(axis=1, initial=0.0), 1e-300))
    if far.size:
        raise ModelError(
            f"{names[int(far[0])]} lies {beside[far[0]]:.6g} off the z axis of a body on a swing joint, which "
            "excludes spin about that axis; place it on the axis, (0, 0, length)"
        )
