"""Armatures: inertias that belong to joint speeds and to no link. They form a diagonal a of the mass matrix.

In (M + diag(a)) u' = f, the diagonal has the same effect as implicit joint damping, so the recursion is that of
``damped_articulated.py``. All other effects of armatures are sums over speeds: a u' in inverse dynamics, and ½ a u² in
the kinetic energy. The momentum of the links does not contain armatures.
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
"""Cache: a model with armatures → the same model without them."""


@pass_of
def solve_with_armatures(forest, tau, wrench, gravity, factor, ws, armatures, udot, articulated):
    """Compute the accelerations (nu,) of placed and moved links, with armatures. The articulated inertias are stored in
    ``articulated`` (links, 21), unless this array is empty."""
    links = forest.mass.size
    eliminate_damped(forest, forest.moment, forest.inertia, tau, wrench, ws, armatures, 0, links, articulated)
    accelerate_damped(forest, scaled(gravity, factor), ws, armatures, udot, 0, links)


@pass_of
def factor_rows_with_armatures(forest, loops, ws, armatures, arrays):
    """Compute the factors of J (M + diag(a))⁻¹ Jᵀ, for links whose articulated inertias have been stored."""
    row_wrenches(loops, ws, arrays.wrench)
    mark_live_rows(forest, loops, ws, arrays)
    multiply_damped_rows(forest, loops, ws, armatures, arrays)
    arrays.rank[0] = factorise_semidefinite(arrays.matrix, arrays.live, loops.rank[0], arrays.scale, arrays.pivot)


def armature_arrays(armature: np.ndarray, like: Any) -> JointDampings:
    """Return armatures (nu,) with the scratch that a solution needs, as arrays or lanes like ``like``."""
    nu = armature.size
    if isinstance(like, LaneArray):
        lanes: Any = LaneArray.zeros((nu,))
        lanes.numbers[:] = armature[:, None]
        record: Any = LaneArray.zeros((nu, 7))
        return JointDampings(lanes, record)
    return joint_dampings(nu)._replace(diagonal=armature.copy())


def adding_armatures(model: Model, like: Any) -> OpenForest:
    """Return the functions and arrays that solve the trees of a model without its loops, with armatures if it has any.
    ``like`` are the joint forces, as arrays or as lanes."""
    if model.armature is None:
        return BARE
    return OpenForest(solve_with_armatures, factor_rows_with_armatures, (armature_arrays(model.armature, like),))


def kept_solution(
    model: Model, forest: Any, loads: tuple[Any, ...], ws: Any, udot: Any, articulated: np.ndarray
) -> Bound:
    """Return the pass of :func:`open_solution` that also stores the articulated inertias (links, 21)."""
    if model.armature is None:
        return solve_and_keep.bind(forest, *loads, ws, udot, articulated)
    return solve_with_armatures.bind(forest, *loads, ws, armature_arrays(model.armature, loads[0]), udot, articulated)


def open_solution(model: Model, forest: Any, loads: tuple[Any, ...], ws: Any, udot: Any) -> Bound:
    """Return the pass that finds u' of placed and moved links, for trees without loops. It uses the inertias of
    ``forest`` and the armatures of the model.

    ``loads`` are the joint forces τ, wrenches, gravity and the factor of gravity, as arrays or as lanes.
    """
    if model.armature is None:
        return solve.bind(forest, forest.mass, forest.moment, forest.inertia, *loads, ws, udot)
    arrays = armature_arrays(model.armature, loads[0])
    return solve_with_armatures.bind(forest, *loads, ws, arrays, udot, ws.gathered[:0])


def armature_energy(model: Model, u: np.ndarray) -> Any:
    """Return ½ Σ a u² for speeds (..., nu) [energy], shape (...)."""
    if model.armature is None:
        return 0.0
    return 0.5 * np.asarray(u, dtype=float) ** 2 @ model.armature


def without_armature(model: Model) -> Model:
    """Return the same model without armatures. It is cached, so that functions that are compiled for it are reused."""
    found = _BARE.get(model)
    if found is None:
        found = _BARE[model] = replace(model, armature=None)
    return found


def refuse_armature(model: Model, where: str) -> None:
    """Raises ModelError for a model with armatures. ``where`` names the feature that does not support them."""
    if model.armature is None:
        return
    first = int(np.flatnonzero(model.armature)[0])
    starts = model.forest.u_start
    body = int(model.head[int(np.flatnonzero(starts <= first)[np.argmax(starts[starts <= first])])])
    raise ModelError(
        f"{where}: the joint of body '{model.names[body]}' has an armature, which is not taken into account here; "
        "leave the armatures out"
    )
