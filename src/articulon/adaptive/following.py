"""Forces that follow when joints are locked: as declarations, and as the tables that kernels read."""

from typing import Any

import numpy as np

from articulon.adaptive.merging import Merging
from articulon.dynamics.mass_determinant import determinant_arrays
from articulon.errors import ModelError
from articulon.forces.brownian import Brownian
from articulon.forces.contact.declarations import Contact
from articulon.forces.fixman import Fixman
from articulon.forces.gravity import Gravity
from articulon.forces.joint_actuation import JointActuation
from articulon.forces.joint_friction import JointDamping, JointFriction, binds
from articulon.forces.point_springs import GROUND, PointSpring
from articulon.forces.selection import matching
from articulon.forces.site_pairs import SitePairs
from articulon.forces.sites.exclusions import Exclusions
from articulon.forces.stokes_drag import StokesDrag
from articulon.forces.tables import Actuations, Drag, Forces, JointFrictions, Noise, Pairs, PointSprings, Springs
from articulon.forces.torsional_springs import TorsionalSprings
from articulon.forces.user import UserForce
from articulon.model import Model

FOLLOW = (
    *(SitePairs, TorsionalSprings, PointSpring, StokesDrag, Brownian, Gravity, Fixman, UserForce, Contact),
    *(JointActuation, JointDamping, JointFriction),
)
"""Forces of which it is known here what becomes of them when joints are locked, beside those of ``site_terms``, which
act on sites alone. What is not known would go on with the link numbers of the fine model."""
SAME = 4
"""Bodies with drag that a merged body can have before they are put together: four points have any drag."""


def check_forces_follow(model: Model) -> None:
    """Raises ModelError for a force of a kind of which nothing says how it follows when joints are locked."""
    for k, force in enumerate(model.forces):
        if not isinstance(force, FOLLOW) and not hasattr(force, "site_terms"):
            kind = getattr(force, "kind", type(force).__name__)
            raise ModelError(
                f"forces[{k}]: nothing says how a force of the kind '{kind}' follows bodies that are merged; leave it "
                "out, or lock no joints"
            )


def following(model: Model, coarse: Model) -> tuple[Any, ...]:
    """The declared forces of a model as they are in its coarse one.

    Raises
    ------
    ModelError
        For a force that cannot follow: a user's function of all joints, pairs of sites left out by the number of joints
        between them where forces between sites have no list of pairs, or a kind that is not known here.
    """
    check_forces_follow(model)
    result: list[Any] = []
    for k, force in enumerate(model.forces):
        where = f"forces[{k}]"
        if isinstance(force, TorsionalSprings):
            rows = [row for row in force.table(model, where) if _moves(model, coarse, row[0])]
            if rows:
                result.append(
                    TorsionalSprings(
                        stiffness={model.names[body]: k for body, k, _ in rows},
                        rest={
                            model.names[body]: tuple(rest) if model.joints[body].nq == 4 else float(rest[0])
                            for body, _, rest in rows
                        },
                    )
                )
        elif isinstance(force, JointDamping | JointFriction):
            left = _by_body(model, coarse, force, where)
            if left is not None:
                result.append(left)
        elif isinstance(force, JointActuation):
            if force.function is not None:
                raise ModelError(
                    f"{where}: a function that acts on all joints cannot know which of them are locked; give tables "
                    "for bodies, or lock nothing"
                )
            assert force.body is not None
            if _moves(model, coarse, model.body(force.body)):
                result.append(force)
        elif isinstance(force, PointSpring):
            links = [-1 if name == GROUND else int(coarse.link[coarse.body(name)]) for name in force.bodies]
            if links[0] != links[1]:
                result.append(force)
        elif isinstance(force, SitePairs) and force.excluded_joints:
            raise ModelError(
                f"{where}.excluded_joints: the number of joints between two sites changes when joints are locked; "
                "leave pairs out by `between`, or use forces between sites with [[forces]] kind = 'exclusions'"
            )
        elif isinstance(force, Exclusions) and force.excluded_joints:
            result.append(force.model_copy(update={"excluded_joints": 0, "pairs": (*force.pairs, *_near(model))}))
        else:
            result.append(force)
    return tuple(result)


def _moves(model: Model, coarse: Model, body: int) -> bool:
    return coarse.kinds[body] == model.kinds[body]


def _by_body(model: Model, coarse: Model, force: Any, where: str) -> Any:
    """Damping or friction of the joints that still move, by body; None where there is none left."""
    update: dict[str, Any] = {}
    for key, nature in (("rotational", "turns"), ("translational", "slides")):
        value = getattr(force, key)
        if value is None:
            continue
        able = [k for k in model.head.tolist() if _does(model, k, nature)]
        if isinstance(value, dict):
            chosen = {k: c for name, c in value.items() for k in matching(model, name, where)}
        else:
            chosen = {k: value for k in able if binds(model, k)}
        left = {model.names[k]: c for k, c in chosen.items() if k in set(able) and _moves(model, coarse, k)}
        update[key] = left or None
    return force.model_copy(update=update) if any(update.values()) else None


def _does(model: Model, body: int, nature: str) -> bool:
    joint = model.joints[body]
    return joint.nu > joint.translations if nature == "turns" else joint.translations > 0


def _near(model: Model) -> tuple[tuple[int, int], ...]:
    """Pairs of sites that are left out by the number of joints between them."""
    from scipy.sparse import coo_array

    from articulon.forces.sites.exclusions import _same_link, declared_exclusions

    declared = declared_exclusions(model)
    assert declared is not None
    near = coo_array(_same_link(model, declared.excluded_joints))
    once = near.row < near.col
    return tuple(zip(near.row[once].tolist(), near.col[once].tolist(), strict=True))


def followed(fine: Forces, merging: Merging, links: int, speeds: int, sites: Any) -> Forces:
    """The kernels' tables of the coarse model with so many links and speeds, from those of the fine one.

    ``sites`` are those of the site forces, already moved.
    """
    drag, noise = _drag(fine.drag, fine.noise, merging, links)
    fixman = fine.fixman
    if fixman.half_kT.size:
        fixman = fixman._replace(arrays=determinant_arrays(links, speeds))
    bodies = fine.bodies
    if bodies.link.size:
        bodies = bodies._replace(
            link=_on(merging, bodies.link),
            offset_position=merging.points(bodies.link, bodies.offset_position),
            offset_rotation=_turned(merging, bodies.link, bodies.offset_rotation),
        )
    return fine._replace(
        pairs=_pairs(fine.pairs, merging) if fine.pairs.link.size else fine.pairs,
        springs=_springs(fine.springs, merging),
        point_springs=_point_springs(fine.point_springs, merging),
        drag=drag,
        noise=noise,
        bodies=bodies,
        joint_frictions=_frictions(fine.joint_frictions, merging),
        actuations=_actuations(fine.actuations, merging),
        fixman=fixman,
        sites=sites,
    )


def _on(merging: Merging, links: np.ndarray) -> np.ndarray:
    """The coarse links of fine ones, −1 for the ground."""
    return np.where(links < 0, -1, merging.link[links])


def _turned(merging: Merging, links: np.ndarray, rotation: np.ndarray) -> np.ndarray:
    from articulon.model.rotations import quaternion_product

    turned = quaternion_product(merging.rotation[np.where(links < 0, 0, links)], rotation)
    return np.where((links < 0)[:, None], rotation, turned)


def _springs(springs: Springs, merging: Merging) -> Springs:
    if not springs.link.size:
        return springs
    left = ~merging.locked[springs.link]
    return Springs(merging.link[springs.link[left]], springs.stiffness[left], springs.rest[left])


def _point_springs(springs: PointSprings, merging: Merging) -> PointSprings:
    if not springs.link.size:
        return springs
    link = _on(merging, springs.link)
    left = link[:, 0] != link[:, 1]
    ends = [
        merging.points(springs.link[left, k].copy(), springs.point[left, 3 * k : 3 * k + 3].copy()) for k in range(2)
    ]
    return PointSprings(np.ascontiguousarray(link[left]), np.hstack(ends), springs.constants[left])


def _speed_map(merging: Merging) -> np.ndarray:
    free = np.zeros(merging.u_of.size, dtype=bool)
    free[merging.u] = True
    return free


def _frictions(frictions: JointFrictions, merging: Merging) -> JointFrictions:
    if not frictions.start.size:
        return frictions
    left = _speed_map(merging)[frictions.start]
    start = merging.u_of[frictions.start[left]]
    width = frictions.end[left] - frictions.start[left]
    return JointFrictions(start, start + width, *(column[left] for column in frictions[2:]))


def _actuations(actuations: Actuations, merging: Merging) -> Actuations:
    if not actuations.speed.size:
        return actuations
    left = np.flatnonzero(_speed_map(merging)[actuations.speed])
    pieces = [slice(actuations.start[k], actuations.start[k + 1]) for k in left.tolist()]
    return actuations._replace(
        speed=merging.u_of[actuations.speed[left]],
        start=np.cumsum([0, *(piece.stop - piece.start for piece in pieces)]).astype(np.int64),
        knots=np.concatenate([np.zeros(0), *(actuations.knots[piece] for piece in pieces)]),
        coefficients=np.concatenate([np.zeros((0, 4)), *(actuations.coefficients[piece] for piece in pieces)]),
    )


def _drag(drag: Drag, noise: Noise, merging: Merging, links: int) -> tuple[Drag, Noise]:
    """Drag on the coarse links. Where more than four bodies are merged, four points of equal drag take their place:
    with the same centre of drag and the same second moments they have the same drag on any motion, and so the same
    Brownian forces."""
    if not drag.link.size:
        empty = np.zeros(links), np.zeros((links, 3)), np.zeros((links, 6))
        return drag._replace(mass=empty[0], moment=empty[1], inertia=empty[2]), noise
    link, centre = _on(merging, drag.link), merging.points(drag.link, drag.centre)
    moving = link >= 0
    rows = [link[moving], centre[moving], drag.translational[moving], drag.rotational[moving], drag.flow[moving]]
    sizes = noise.amplitude[moving]
    silent = noise.choice[0] != 0 and not drag.translational.any() and not drag.rotational.any()
    if not silent:
        rows, sizes = _put_together(rows, sizes, links)
    at, where, translational, rotational, flow = rows
    mass, moment, inertia = np.zeros(links), np.zeros((links, 3)), np.zeros((links, 6))
    x, y, z = where.T
    spread = np.stack([y * y + z * z, -x * y, -x * z, x * x + z * z, -y * z, x * x + y * y], axis=1)
    np.add.at(mass, at, translational)
    np.add.at(moment, at, translational[:, None] * where)
    turning = rotational[:, None] * np.array([1.0, 0.0, 0.0, 1.0, 0.0, 1.0])
    np.add.at(inertia, at, translational[:, None] * spread + turning)
    merged = Drag(at, np.ascontiguousarray(where), translational, rotational, flow, mass, moment, inertia)
    return merged, noise._replace(amplitude=np.ascontiguousarray(sizes))


_CORNERS = np.array([[1.0, 1.0, 1.0], [1.0, -1.0, -1.0], [-1.0, 1.0, -1.0], [-1.0, -1.0, 1.0]])
"""Of a tetrahedron: their mean is zero and their second moments are the unit matrix."""


def _put_together(rows: list[np.ndarray], sizes: np.ndarray, links: int) -> tuple[list[np.ndarray], np.ndarray]:
    link, centre, translational, rotational, flow = rows
    count = np.bincount(link, minlength=links)
    same = np.ones(links, dtype=bool)
    same[link[(flow != flow[0]).any(axis=1)]] = False
    beta = np.bincount(link, translational, minlength=links)
    many = (count > SAME) & same & (beta > 0.0)
    if not many.any():
        return rows, sizes
    chosen = np.flatnonzero(many)
    inside = many[link]
    moments = [np.bincount(link, translational * centre[:, k], minlength=links)[chosen] for k in range(3)]
    mean = np.stack(moments, axis=1) / beta[chosen, None]
    rank = np.full(links, -1)
    rank[chosen] = np.arange(chosen.size)
    at = rank[link[inside]]
    away = centre[inside] - mean[at]
    second = np.zeros((chosen.size, 3, 3))
    np.add.at(second, at, translational[inside, None, None] * away[:, :, None] * away[:, None, :])
    spread, axes = np.linalg.eigh(second / beta[chosen, None, None])
    corners = np.einsum("ck,nk,njk->ncj", _CORNERS, np.sqrt(np.maximum(spread, 0.0)), axes)
    turning = np.bincount(link, rotational, minlength=links)[chosen]
    new = [
        np.repeat(chosen, 4),
        (mean[:, None] + corners).reshape(-1, 3),
        np.repeat(0.25 * beta[chosen], 4),
        np.repeat(0.25 * turning, 4),
        np.tile(flow[0], (4 * chosen.size, 1)),
    ]
    # Variances of the Brownian forces add up as the drag does.
    variance = np.stack([np.bincount(link, sizes[:, k] ** 2, minlength=links)[chosen] for k in range(2)], axis=1)
    left = [column[~inside] for column in rows]
    result = [np.concatenate(pair) for pair in zip(left, new, strict=True)]
    return result, np.concatenate([sizes[~inside], np.repeat(np.sqrt(0.25 * variance), 4, axis=0)])


def _pairs(pairs: Pairs, merging: Merging) -> Pairs:
    """Runs of partners without those that have been merged with a site."""
    moving, fixed = pairs.link.size, len(pairs.ground)
    link = np.concatenate([merging.link[pairs.link], np.full(fixed, -1)])
    place = np.concatenate([merging.points(pairs.link, pairs.local), pairs.ground])
    order = np.concatenate([np.flatnonzero(link >= 0), np.flatnonzero(link < 0)])
    rank = np.empty(order.size, dtype=np.int64)
    rank[order] = np.arange(order.size)
    length = pairs.high - pairs.low
    run = np.repeat(np.arange(length.size), length)
    partner = np.arange(run.size) - np.repeat(np.cumsum(length) - length, length) + pairs.low[run]
    site = np.repeat(np.repeat(np.arange(moving), np.diff(pairs.start)), length)
    left = (link[site] != link[partner]) & (link[site] >= 0)
    site, partner, run = rank[site[left]], rank[partner[left]], run[left]
    by = np.lexsort((partner, run, site))
    site, partner, run = site[by], partner[by], run[by]
    # A run ends where the site, the law or the row of partners does.
    new = np.ones(site.size, dtype=bool)
    new[1:] = (site[1:] != site[:-1]) | (run[1:] != run[:-1]) | (partner[1:] != partner[:-1] + 1)
    begins = np.flatnonzero(new)
    ends = np.append(begins[1:], site.size) - 1
    count = int((link >= 0).sum())
    start = np.searchsorted(site[begins], np.arange(count + 1))
    return Pairs(
        link[order][:count],
        np.ascontiguousarray(place[order][:count]),
        np.ascontiguousarray(place[order][count:]),
        start.astype(np.int64),
        partner[begins] if begins.size else np.zeros(0, dtype=np.int64),
        partner[ends] + 1 if begins.size else np.zeros(0, dtype=np.int64),
        np.ascontiguousarray(pairs.law[run[begins]]),
    )
