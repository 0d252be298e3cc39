"""Check that spheres do not overlap too deeply at the start of a run."""

import numpy as np

from articulon.dynamics import body_poses
from articulon.errors import ModelError
from articulon.forces.contact.contact_engine import contact_of
from articulon.forces.contact.sphere_motion import sphere_centres, sphere_name
from articulon.forces.contact.wall_gaps import wall_gaps
from articulon.model import Model


def check_overlaps(model: Model, q: np.ndarray) -> None:
    """Raise ModelError if two spheres that can touch, or a sphere and a wall, overlap at coordinates q by more than
    ``largest_overlap`` of the smaller radius. The message names the pair."""
    law = contact_of(model)
    if law is None:
        return
    sites = model.sites
    spheres = np.flatnonzero(sites.radius > 0.0)
    R, limit = sites.radius[spheres], float(law.largest_overlap)
    centres = sphere_centres(model, *body_poses(model, q))[spheres]
    worst, pair, depth = limit, ("", ""), 0.0
    near, distance = _near(model, centres, 2.0 * float(R.max()))
    overlap = R[near].sum(axis=1) - distance
    part = overlap / R[near].min(axis=1)
    deep = np.flatnonzero(part > limit)
    for k in deep[np.argsort(-part[deep])].tolist():
        a, b = (int(s) for s in spheres[near[k]])
        if _can_touch(model, a, b, law.excluded_joints):
            worst, pair, depth = float(part[k]), (sphere_name(model, a), sphere_name(model, b)), float(overlap[k])
            break
    movable = sites.body[spheres] >= 0
    names, gaps = wall_gaps(model, law.walls, law.names(model), centres[movable], float(R.max()))
    for w, called in enumerate(names):
        overlap = np.zeros(R.size)
        overlap[movable] = R[movable] - gaps[:, w]
        part = overlap / R
        k = int(np.argmax(part))
        if part[k] > worst:
            worst, pair, depth = float(part[k]), (sphere_name(model, int(spheres[k])), called), float(overlap[k])
    if pair[0]:
        behind = (
            ""
            if worst < 2.0 or pair[1] not in names
            else " (a plane is solid on the side that its normal points away from)"
        )
        unit = "" if model.units.length is None else f" {model.units.symbols[1]}"
        raise ModelError(
            f"{pair[0]} and {pair[1]} overlap by {depth:.4g}{unit} at the start, {worst:.1%} of the smaller radius, "
            f"where at most {limit:.0%} is allowed: move them apart, or raise largest_overlap of the contacts{behind}"
        )


def _near(model: Model, centres: np.ndarray, reach: float) -> tuple[np.ndarray, np.ndarray]:
    """Return the pairs of points that are at most ``reach`` apart, shape (pairs, 2), and their distances. In a periodic
    box, pairs with periodic images are included."""
    # SciPy's trees take time to import, and models without contacts do not need them.
    from scipy.spatial import cKDTree

    points, own = centres, np.arange(len(centres))
    box = model.box
    if box is not None and box.periodic.any():
        origin, inverse = np.array([float(x) for x in box.origin]), np.linalg.inv(box.vectors)
        part = (centres - origin) @ inverse
        points = centres - (np.floor(part) * box.periodic) @ box.vectors
        margins = reach * np.linalg.norm(inverse, axis=0)
        for a in np.flatnonzero(box.periodic):  # for points near a face, add images beyond the opposite face
            part = (points - origin) @ inverse[:, a]
            low, high = part < margins[a], part > 1.0 - margins[a]
            points = np.concatenate([points, points[low] + box.vectors[a], points[high] - box.vectors[a]])
            own = np.concatenate([own, own[low], own[high]])
    pairs = cKDTree(points).query_pairs(reach, output_type="ndarray")
    # A pair of two images is left out, because the same pair also occurs with at least one original point. A point and
    # its own image are not counted as a pair.
    pairs = pairs[(pairs.min(axis=1) < len(centres)) & (own[pairs[:, 0]] != own[pairs[:, 1]])]
    return np.sort(own[pairs], axis=1), np.linalg.norm(points[pairs[:, 0]] - points[pairs[:, 1]], axis=1)


def _can_touch(model: Model, a: int, b: int, joints: int) -> bool:
    """Whether two spheres are on different bodies that are more than ``joints`` joints apart, or not connected by
    joints."""
    first, second = (int(model.site_links[site]) for site in (a, b))
    if first == second:
        return False
    parent = model.jointed
    ancestors = {}
    steps, at = 0, first
    while at >= 0:
        ancestors[at] = steps
        at, steps = int(parent[at]), steps + 1
    steps, at = 0, second
    while at >= 0:
        if at in ancestors:
            return ancestors[at] + steps > joints
        at, steps = int(parent[at]), steps + 1
    return True
