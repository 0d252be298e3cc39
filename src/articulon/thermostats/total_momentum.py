"""Conservation of a model's total momentum, and its removal from the initial speeds."""

import numpy as np

from articulon.dynamics.momenta import momentum
from articulon.errors import CaseError
from articulon.model import Model
from articulon.model.array_rotations import matrices
from articulon.model.joints import UNBOUND

OUTSIDE = "acts from outside on the model"


def sites_on_ground(model: Model) -> bool:
    """Whether a site is fixed to the ground. The forces on such a site act on the ground and change the total
    momentum."""
    return bool((model.sites.body < 0).any()) or bool((model.link[model.sites.body] < 0).any())


def check_momentum_is_kept(model: Model, where: str) -> None:
    """Raise CaseError if a force or a constraint changes the total momentum of a model."""
    reason = _changed_by(model)
    if reason is not None:
        raise CaseError(f"{where}.centre_of_mass: {reason}, so the total momentum does not stay zero; use 'free'")


def keeps_momentum(model: Model) -> bool:
    """Whether the total momentum of a model is conserved."""
    return _changed_by(model) is None


def _changed_by(model: Model) -> str | None:
    forest = model.forest
    roots = forest.tree[:-1]
    for root in roots.tolist():
        if int(forest.kind[root]) not in UNBOUND:
            return f"the joint of '{model.names[int(model.head[root])]}' connects its tree to the ground"
        start = int(forest.u_start[root])
        if model.armature is not None and model.armature[start : start + 3].any():
            return f"the armature of '{model.names[int(model.head[root])]}' is an inertia against the ground"
    if model.loops.kind.size and ((model.loops.link_a < 0) | (model.loops.link_b < 0)).any():
        return "a loop is closed through the ground"
    if model.box is not None and "reflecting" in model.box.boundaries:
        return "the box has reflecting walls"
    on_ground = sites_on_ground(model)
    for k, force in enumerate(model.forces):
        if hasattr(force, "momentum_changes"):
            reason = force.momentum_changes(model)
        else:
            reason = None if hasattr(force, "site_terms") and not on_ground else OUTSIDE
        if reason is not None:
            return f"forces[{k}], '{force.kind}', {reason}"
    return None


def without_momentum(model: Model, q: np.ndarray, u: np.ndarray) -> np.ndarray:
    """Return speeds (nu,) with the centre-of-mass velocity subtracted from every tree; all trees must be free to
    move."""
    forest, result = model.forest, u.copy()
    velocity = momentum(model, q, u)[:3] / forest.mass.sum()
    roots = forest.tree[:-1]
    frames = matrices(forest.rotation[roots])
    for root, frame in zip(roots.tolist(), frames, strict=True):
        start = int(forest.u_start[root])
        result[start : start + 3] -= frame.T @ velocity
    return result
