"""Coarsened forces of a model with locked joints, as declarations and as tables for kernels."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from articulon.adaptive.lockable import check_loops, joints_of, links_named, whole_joints
from articulon.adaptive.merged_bodies import Merging, merged
from articulon.dynamics.multibody_functions import check_model, vector
from articulon.errors import ModelError
from articulon.forces.base import Force, Term
from articulon.forces.brownian import Brownian
from articulon.forces.contact.materials import Contact
from articulon.forces.gravity import Gravity
from articulon.forces.solver_tables import Drag, Forces, Noise
from articulon.forces.stokes_drag import StokesDrag
from articulon.inputs import shown
from articulon.model import Model

SAME = 4
"""Maximum number of bodies with drag in one merged body that keep their own drag. More bodies are replaced by four
points, which can represent any drag."""


def check_coarsening(model: Model) -> None:
    """Raise ModelError for a force that cannot be coarsened, or whose kind does not define its coarsened form."""
    for k, force in enumerate(model.forces):
        if not can_be_coarsened(type(force)):
            kind = getattr(force, "kind", type(force).__name__)
            raise ModelError(
                f"forces[{k}]: a force of the kind '{kind}' does not define how it acts on merged bodies; leave it "
                "out, or lock no joints"
            )
        if isinstance(force, Force):
            force.check_follows(f"forces[{k}]")


def can_be_coarsened(kind: Any) -> bool:
    """Return whether a kind of force can be coarsened. It can if it defines its coarsened form, or if it acts only
    between sites."""
    if issubclass(kind, Force):
        return kind.coarsen is not None
    return issubclass(kind, StokesDrag | Brownian | Gravity | Contact) or hasattr(kind, "site_terms")


def coarsened_declarations(model: Model, coarse: Model) -> tuple[Any, ...]:
    """Return the declared forces of a model, coarsened for its coarse model.

    Raises
    ------
    ModelError
        For a force that cannot be coarsened: a user's function of all joints, or a kind of force without a coarsened
        form. Also if pairs of sites are excluded by the number of joints between them and the site forces have no pair
        list.
    """
    check_coarsening(model)
    found = [
        force.on_coarse(model, coarse, f"forces[{k}]") if hasattr(force, "on_coarse") else force
        for k, force in enumerate(model.forces)
    ]
    return tuple(force for force in found if force is not None)


def followed(fine: Forces, merging: Merging, links: int, speeds: int, sites: Any) -> Forces:
    """Return the kernel tables of the forces of a coarse model, converted from those of the fine model.

    ``links`` and ``speeds`` are the sizes of the coarse model. ``sites`` are the site forces, already moved to the
    coarse links.
    """
    drag, noise = _drag(fine.drag, fine.noise, merging, links)
    terms = (Term(kind, kind.coarsen(table, merging, links, speeds)) for kind, table in fine.terms)
    left = tuple(term for term in terms if term.table is not None)
    return fine._replace(drag=drag, noise=noise, sites=sites, terms=left)


def _drag(drag: Drag, noise: Noise, merging: Merging, links: int) -> tuple[Drag, Noise]:
    """Return the drag and the noise on the coarse links.

    If more than four bodies with drag are merged, four points of equal drag replace them. The points have the same
    centre of drag and the same second moments. Therefore they have the same drag in any motion, and the same Brownian
    forces.
    """
    if not drag.link.size:
        empty = np.zeros(links), np.zeros((links, 3)), np.zeros((links, 6))
        return drag._replace(mass=empty[0], moment=empty[1], inertia=empty[2]), noise
    link, centre = merging.carriers(drag.link), merging.points(drag.link, drag.centre)
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
"""Corners of a tetrahedron. Their mean is zero, and their second moments form the unit matrix."""


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
    # Variances of the Brownian forces add up like the drag coefficients.
    variance = np.stack([np.bincount(link, sizes[:, k] ** 2, minlength=links)[chosen] for k in range(2)], axis=1)
    left = [column[~inside] for column in rows]
    result = [np.concatenate(pair) for pair in zip(left, new, strict=True)]
    return result, np.concatenate([sizes[~inside], np.repeat(np.sqrt(0.25 * variance), 4, axis=0)])


def locked_model(model: Model, q: np.ndarray, locked: Sequence[str | int] | np.ndarray) -> tuple[Model, Merging]:
    """Return the coarse model in which locked joints are welds at coordinates q and locked modes keep their values, and
    the map between the two models.

    Sites, drag, springs between points, users' forces, loops and pair exclusions stay on their bodies. Springs, damping
    and actuation of locked joints are left out, and so are springs within one merged body. The remaining modes of a
    flexible body deform it about the shape given by the locked modes. A body without remaining modes is rigid, and
    sites and joints on its nodes are attached to the body. The potential energy of the coarse model is that of the fine
    model minus the part that is constant while joints and modes are locked.

    Parameters
    ----------
    model
        The fine model.
    q
        Coordinates of the fine model (nq,).
    locked
        Names or indices of the bodies whose joints are locked, or a mask over the speeds (nu,). Modes can be locked
        only by a mask.

    Returns
    -------
    coarse, map
        The coarse model, whose initial state has the coordinates q and the initial speeds of the fine model, and the
        map.

    Raises
    ------
    ModelError
        For bodies that do not exist, joints that are only partly locked, and a joint that a loop needs.
    """
    check_model(model, "locked_model")
    joints = joints_of(model)
    parts = np.zeros(joints.degrees_of_freedom.size, dtype=bool)
    if isinstance(locked, np.ndarray) and locked.dtype == bool:
        if locked.shape != (model.nu,):
            raise ModelError(f"locked_model, locked: expected a mask of {model.nu} speeds, got shape {locked.shape}")
        parts = whole_joints(model, locked)
    elif isinstance(locked, list | tuple) or (isinstance(locked, np.ndarray) and locked.ndim == 1):
        named = [one.item() if isinstance(one, np.generic) else one for one in locked]
        for one in named:
            if not isinstance(one, str | int) or isinstance(one, bool):
                raise ModelError(f"locked_model, locked: expected names or indices of bodies, got {shown(one)}")
        parts[links_named(model, named)] = True
    else:
        raise ModelError(f"locked_model, locked: expected bodies or a mask over the speeds, got {shown(locked)}")
    coordinates = vector(q, model.nq, "q")
    check_loops(model, joints, coordinates, parts)
    coarse, merging = merged(model, joints, coordinates, parts)
    return replace(coarse, forces=coarsened_declarations(model, coarse)), merging
