"""Setup of lag tracking: which speeds form a group, how fast groups relax, and which models are refused."""

from typing import Any

import numpy as np

from articulon.errors import CaseError
from articulon.forces.brownian import brownian_of
from articulon.forces.evaluation import Evaluator
from articulon.integrate.drift_velocity import DriftVelocity
from articulon.integrate.integrators import Controlled
from articulon.integrate.lag_tracking import Followed
from articulon.integrate.variables import POSITION, ROTATION
from articulon.model import Model
from articulon.model.joints import BY_KIND, FREE, UNBOUND

ITERATIONS, SETTLED = 50, 1e-3
"""Most iterations of the power method for the longest relaxation time, and the relative change that ends it."""
WITHOUT = 1e-12
"""Drag on a speed, relative to the largest drag on a speed of its kind, below which the drag counts as zero."""
LEAST_ANGLE = 0.05
"""Range of a rotation below which the lag is taken relative to this angle [rad]."""
RESOLVED = 150.0
"""Ratio of a range to the error of a step below which the range is unreliable and does not count."""


def group_starts(model: Model) -> np.ndarray:
    """First speed of each group, and the number of speeds. Each joint is a group; the translation and the rotation of a
    free body are separate groups."""
    forest = model.forest
    free = forest.u_start[forest.kind == FREE] + 3
    return np.unique(np.concatenate([forest.u_start, free, [model.nu]])).astype(np.int64)


def check_followed(evaluator: Evaluator, policy: str) -> None:
    """Raise CaseError, naming a body, if a floating tree or the whole model has no drag, or if a loop binds trees to
    each other or to the ground, because the forces of the model then do not determine their motion."""
    model, drag = evaluator.model, evaluator.system.forces.drag
    forest = model.forest
    for t in range(model.trees):
        start, end = int(forest.tree[t]), int(forest.tree[t + 1])
        if int(forest.kind[start]) in UNBOUND and not drag.mass[start:end].any():
            raise CaseError(
                f"scaling.policy: '{policy}' bounds how far bodies lag behind the forces on them by their relaxation "
                f"times m/β, and there is no drag on '{model.names[int(model.head[start])]}' or the bodies that it "
                "carries; add stokes-drag, or choose another policy (without drag, scaling only slows down the "
                "motion)"
            )
    if not drag.mass.any() and not drag.inertia.any():
        raise CaseError(
            f"scaling.policy: '{policy}' bounds how far bodies lag behind the forces on them by their relaxation "
            "times, and there is no drag; add stokes-drag, or choose another policy (without drag, scaling only slows "
            "down the motion)"
        )
    for row, (a, b) in enumerate(zip(model.loops.link_a.tolist(), model.loops.link_b.tolist(), strict=True)):
        if a < 0 or b < 0 or model.tree_of_link[a] != model.tree_of_link[b]:
            raise CaseError(
                f"scaling.policy: '{policy}' follows the forces on bodies, and {model.loop_name(row)} binds some to "
                "others or to the ground by forces of its own; choose another policy, such as constant"
            )


def followed_groups(evaluator: Evaluator, integrator: Any, aim: float) -> Followed:
    """Groups to track in a model, from its drag and masses at its initial coordinates.

    Groups without drag and joints with damping of their own are left out. If loops bind the bodies of a tree, the loop
    forces are in no channel, and only whole trees are tracked.
    """
    model, drag = evaluator.model, evaluator.system.forces.drag
    start, nu, links = group_starts(model), model.nu, model.forest.mass.size
    bare = _without_drag(evaluator)
    motion = DriftVelocity(evaluator, bare)
    wholes = model.forest.tree.copy() if model.loops.kind.size else np.zeros(0, dtype=np.int64)
    relaxation = np.zeros(start.size - 1)
    damped = _damped_joints(evaluator)
    for g, (a, b) in enumerate(zip(start[:-1].tolist(), start[1:].tolist(), strict=True)):
        if bare[a:b].any() or damped[a:b].any():
            continue
        relaxation[g] = max(float(motion.lost(model.q0, _unit(nu, k))[k]) for k in range(a, b))
    if wholes.size:
        relaxation[:] = 0.0
        for root, end in zip(wholes[:-1].tolist(), wholes[1:].tolist(), strict=True):
            if int(model.forest.kind[root]) in UNBOUND:
                g = int(np.searchsorted(start, model.forest.u_start[root]))
                relaxation[g] = model.forest.mass[root:end].sum() / drag.mass[root:end].sum()
        slowest = float(relaxation.max())
    else:
        slowest = max(float(relaxation.max()), _slowest(motion, model, ~bare))
    return Followed(
        start,
        relaxation,
        _stiffness(motion, start),
        model.forest.parent[_links(model, start)] >= 0,
        _least_ranges(model, integrator, start),
        wholes,
        np.array([slowest, float(brownian_of(model) is not None), aim]),
        motion.inertia,
        np.zeros((links, 6)),
        np.zeros(nu),
        np.zeros(nu),
        np.zeros((links, 6)),
        np.zeros((links, 6)),
        np.zeros((links, 6)),
        np.zeros((links, 6)),
    )


def _links(model: Model, start: np.ndarray) -> np.ndarray:
    """The link whose joint each group belongs to, shape (groups,)."""
    order = np.argsort(model.forest.u_start, kind="stable")
    return order[np.searchsorted(model.forest.u_start[order], start[:-1], side="right") - 1]


def _unit(size: int, k: int) -> np.ndarray:
    unit = np.zeros(size)
    unit[k] = 1.0
    return unit


def _without_drag(evaluator: Evaluator) -> np.ndarray:
    """Whether each speed is without drag at the initial coordinates, shape (nu,)."""
    model = evaluator.model
    motion = DriftVelocity(evaluator, np.zeros(model.nu, dtype=bool))
    held = np.array([motion.held_back(model.q0, _unit(model.nu, k))[k] for k in range(model.nu)])
    angular = np.zeros(model.nu, dtype=bool)
    for kind, u in zip(model.forest.kind.tolist(), model.forest.u_start.tolist(), strict=True):
        angular[u + BY_KIND[kind].translations : u + BY_KIND[kind].nu] = True
    largest = np.where(angular, held[angular].max(initial=0.0), held[~angular].max(initial=0.0))
    return ~(held > WITHOUT * largest)


def _damped_joints(evaluator: Evaluator) -> np.ndarray:
    """Whether each speed has damping or friction of its joint, shape (nu,)."""
    found = np.zeros(evaluator.model.nu, dtype=bool)
    for kind, table in evaluator.system.forces.terms:
        if kind.resistance == "joints":
            for a, b in zip(table.start.tolist(), table.end.tolist(), strict=True):
                found[a:b] = True
    return found


def _stiffness(motion: DriftVelocity, start: np.ndarray) -> np.ndarray:
    """Lower bounds of the rates at which springs restore joints: their stiffness divided by the drag on all bodies that
    the joint carries [1/time], shape (groups,)."""
    model, terms = motion.model, motion.evaluator.system.forces.terms
    found = np.zeros(start.size - 1)
    for link, stiffness in (pair for term in terms for pair in term.kind.joint_stiffness(term.table)):
        g = int(np.searchsorted(start, model.forest.u_start[link], side="right")) - 1
        speeds = range(int(start[g]), int(start[g + 1]))
        found[g] = stiffness / max(float(motion.held_back(model.q0, _unit(model.nu, k))[k]) for k in speeds)
    return found


def _slowest(motion: DriftVelocity, model: Model, held: np.ndarray) -> float:
    """The largest eigenvalue of ζ⁻¹ M on the speeds with drag."""
    change, before = held.astype(np.float64), 0.0
    for _ in range(ITERATIONS):
        size = float(np.linalg.norm(change))
        if not size > 0.0:
            return 0.0
        change = np.where(held, motion.lost(model.q0, change / size), 0.0)
        found = float(np.linalg.norm(change))
        if abs(found - before) <= SETTLED * found:
            break
        before = found
    return found


def _least_ranges(model: Model, integrator: Any, start: np.ndarray) -> np.ndarray:
    """Ranges of the groups that the integrator's tolerances resolve [length or rad], shape (groups,)."""
    tolerances: list[tuple[float, float]] = []
    if isinstance(integrator, Controlled) and getattr(integrator, "step", None) is None:
        tolerances = [(float(relative), float(absolute)) for _, relative, absolute in integrator.tolerances()]
    least = np.zeros(start.size - 1)
    for kind, q, u in zip(
        model.forest.kind.tolist(), model.forest.q_start.tolist(), model.forest.u_start.tolist(), strict=True
    ):
        joint = BY_KIND[kind]
        moves = joint.translations
        for first, at, wide, which in (
            (u, q, moves, POSITION),
            (u + moves, q + moves, joint.nq - moves, ROTATION),
        ):
            if not wide:
                continue
            relative, absolute = tolerances[which] if tolerances else (1e-12, 0.0)
            size = float(np.abs(model.q0[at : at + wide]).max(initial=0.0))
            resolved = RESOLVED * (absolute + relative * size)
            least[int(np.searchsorted(start, first))] = max(resolved, LEAST_ANGLE if which == ROTATION else 0.0)
    return least
