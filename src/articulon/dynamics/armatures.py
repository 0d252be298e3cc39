"""Armatures: inertias that belong to speeds of joints, and to no link. They are a diagonal a of the mass matrix.

In (M + diag(a)) u' = f the diagonal is what damping of joints that is taken implicitly is, so that the recursion is
that of ``damped_articulated.py``. What else an armature adds is a sum over speeds: a u' to inverse dynamics, and
½ a u² to the kinetic energy. The momentum of links does not have it.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from articulon.dynamics.damped_articulated import (
    JointDampings,
    accelerate_damped,
    eliminate_damped,
    joint_dampings,
    multiply_damped_rows,
)
from articulon.dynamics.loops.conditions import mark_live_rows, row_wrenches
from articulon.dynamics.loops.loop_passes import BARE, OpenForest
from articulon.dynamics.loops.semidefinite import factorise_semidefinite
from articulon.dynamics.motion_passes import scaled, solve, solve_and_keep
from articulon.errors import ModelError
from articulon.lanes import LaneArray
from articulon.model import Model
from articulon.passes import Bound, pass_of

_BARE: WeakKeyDictionary[Model, Model] = WeakKeyDictionary()
"""Models without their armatures, by these models."""


@pass_of
def solve_with_armatures(forest, tau, wrench, gravity, factor, ws, armatures, udot, articulated):
    """Accelerations of links that have been placed and moved; their articulated inertias are kept in ``articulated``
    (links, 21), unless that is empty."""
    links = forest.mass.size
    eliminate_damped(forest, forest.moment, forest.inertia, tau, wrench, ws, armatures, 0, links, articulated)
    accelerate_damped(forest, scaled(gravity, factor), ws, armatures, udot, 0, links)


@pass_of
def factor_rows_with_armatures(forest, loops, ws, armatures, arrays):
    """Factors of J (M + diag(a))⁻¹ Jᵀ at links whose articulated inertias have been kept."""
    row_wrenches(loops, ws, arrays.wrench)
    mark_live_rows(forest, loops, ws, arrays)
    multiply_damped_rows(forest, loops, ws, armatures, arrays)
    arrays.rank[0] = factorise_semidefinite(arrays.matrix, arrays.live, loops.rank[0], arrays.scale, arrays.pivot)


def armature_arrays(armature: np.ndarray, like: Any) -> JointDampings:
    """Armatures (nu,) and the scratch of a solution with them, as arrays or as lanes, as ``like`` is."""
    nu = armature.size
    if isinstance(like, LaneArray):
        lanes: Any = LaneArray.zeros((nu,))
        lanes.numbers[:] = armature[:, None]
        record: Any = LaneArray.zeros((nu, 7))
        return JointDampings(lanes, record)
    return joint_dampings(nu)._replace(diagonal=armature.copy())


def adding_armatures(model: Model, like: Any) -> OpenForest:
    """How the forest of a model is solved before its loops are, with its armatures; ``like`` are forces of its joints,
    as arrays or as lanes."""
    if model.armature is None:
        return BARE
    return OpenForest(solve_with_armatures, factor_rows_with_armatures, (armature_arrays(model.armature, like),))


def kept_solution(
    model: Model, forest: Any, loads: tuple[Any, ...], ws: Any, udot: Any, articulated: np.ndarray
) -> Bound:
    """As :func:`open_solution`, with the articulated inertias (links, 21) kept."""
    if model.armature is None:
        return solve_and_keep.bind(forest, *loads, ws, udot, articulated)
    return solve_with_armatures.bind(forest, *loads, ws, armature_arrays(model.armature, loads[0]), udot, articulated)


def open_solution(model: Model, forest: Any, loads: tuple[Any, ...], ws: Any, udot: Any) -> Bound:
    """The pass that finds u' of links that have been placed and moved, of trees without loops, by the inertias of
    ``forest`` and with the model's armatures.

    ``loads`` are τ, wrenches, gravity and the factor of that, as arrays or as lanes.
    """
    if model.armature is None:
        return solve.bind(forest, forest.mass, forest.moment, forest.inertia, *loads, ws, udot)
    arrays = armature_arrays(model.armature, loads[0])
    return solve_with_armatures.bind(forest, *loads, ws, arrays, udot, ws.gathered[:0])


def armature_energy(model: Model, u: np.ndarray) -> Any:
    """½ Σ a u² of speeds (..., nu) [energy], shape (...)."""
    if model.armature is None:
        return 0.0
    return 0.5 * np.asarray(u, dtype=float) ** 2 @ model.armature


def without_armature(model: Model) -> Model:
    """The same model without armatures, which is kept: what is compiled for it is found again."""
    found = _BARE.get(model)
    if found is None:
        found = _BARE[model] = replace(model, armature=None)
    return found


def refuse_armature(model: Model, where: str) -> None:
    """Raises ModelError for a model with armatures, for what does not know them."""
    if model.armature is None:
        return
    first = int(np.flatnonzero(model.armature)[0])
    starts = model.forest.u_start
    body = int(model.head[int(np.flatnonzero(starts <= first)[np.argmax(starts[starts <= first])])])
    raise ModelError(
        f"{where}: the joint of body '{model.names[body]}' has an armature, which is not taken into account here; "
        "leave the armatures out"
    )
