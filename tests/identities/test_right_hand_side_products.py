"""The whole right-hand side's adjoint and tangent: against each other, and the tangent against differences."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import articulon as ar
from articulon.forces.evaluation import Evaluator
from articulon.model.array_rotations import exponentials, quaternion_product
from articulon.model.joints import SPHERICAL
from articulon.sensitivities.adjoint_program import adjoint_program
from articulon.sensitivities.table_gradients import arrays_of, differentiated, in_one
from articulon.sensitivities.tangent_program import tangent_program
from tests.support.forced_models import resisted_model
from tests.support.looped_models import looped_model

SEEDS = range(12)


def products_at(
    model: ar.Model, seed: int
) -> tuple[Evaluator, Any, np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """A model, its state beside Euler parameters of unit length, δy, its δy', weights w and wᵀ J, of changes of the
    tables too; the last numbers of δy and of wᵀ J are those of the tables."""
    rng = np.random.default_rng([seed, 7])
    e = Evaluator(model)
    nq, nu = model.nq, model.nu
    y = np.concatenate([model.q0 * (1.0 + 0.01 * rng.normal()), model.u0])
    (changes, changed), (gradients, gradient) = (in_one(differentiated(*e.system[:3])) for _ in range(2))
    for one in arrays_of(changes):
        one[...] = rng.normal(size=one.shape)
    tables = differentiated(*e.system[:3])
    for table, here in zip(changes.terms, tables.terms, strict=True):
        # Knots and rest orientations have no derivatives, and friction begins at zero.
        if hasattr(table, "friction"):
            table.friction[here.friction == 0.0] = 0.0
        if hasattr(table, "tables"):
            table.tables.knots[...] = 0.0
        if hasattr(table, "rest"):
            table.rest[:, 1:] = 0.0
            table.rest[e.system.forest.kind[here.link] == SPHERICAL] = 0.0
    for one in (changes.mass, changes.moment, changes.inertia):  # small beside those of the bodies
        one *= 0.05
    for name in ("mass", "moment", "inertia"):  # of implicit steps alone
        getattr(changes.drag, name)[...] = 0.0
    dy, w, time = rng.normal(size=nq + nu), rng.normal(size=nq + nu), 0.3
    (point, program), tangent = tangent_program(e, changes)
    back, adjoint = adjoint_program(e, gradients)
    for at in (tangent, adjoint):
        at.q[:], at.u[:], at.time[0] = y[:nq], y[nq:], time
    tangent.q_change[:], tangent.u_change[:] = dy[:nq], dy[nq:]
    point()
    program()
    adjoint.q_weight[:], adjoint.u_weight[:] = w[:nq], w[nq:]
    back()
    forward = np.concatenate([tangent.q_rate, tangent.u_rate])
    backward = np.concatenate([adjoint.by_q, adjoint.by_u, gradient])
    return e, changes, y, np.concatenate([dy, changed]), forward, w, backward


def check_transposed(model: ar.Model, seed: int) -> None:
    *_, dy, forward, w, backward = products_at(model, seed)
    size = np.abs(w) @ np.abs(forward) + np.abs(backward) @ np.abs(dy)
    assert abs(w @ forward - backward @ dy) <= 1e-12 * size


def check_differences(model: ar.Model, seed: int) -> None:
    """With h = 3e-4 fourth-order differences err by some 1e-9 of the largest change, through the twelfth powers of the
    forces between sites, and rounding is below."""
    e, changes, y, dy, forward, _, _ = products_at(model, seed)
    tables, h, ny = differentiated(*e.system[:3]), 3e-4, y.size
    before, frames = [one.copy() for one in arrays_of(tables)], e.system.forest.rotation.copy()

    def rates(step: float) -> np.ndarray:
        for one, at, change in zip(arrays_of(tables), before, arrays_of(changes), strict=True):
            one[...] = at + step * change
        e.system.forest.rotation[...] = quaternion_product(exponentials(step * changes.turn), frames)
        found = np.zeros(ny + 8)
        e.rates(np.ones(8), 0.3, 0, np.concatenate([y + step * dy[:ny], np.zeros(8)]), found)
        return found[:ny]

    expected = (8.0 * (rates(h) - rates(-h)) - (rates(2.0 * h) - rates(-2.0 * h))) / (12.0 * h)
    assert np.abs(forward - expected).max() <= 1e-7 * (1.0 + np.abs(expected).max())


@pytest.mark.parametrize("seed", SEEDS)
def test_the_adjoint_is_the_transposed_tangent(seed: int) -> None:
    check_transposed(resisted_model(seed), seed)


@pytest.mark.parametrize("seed", SEEDS)
def test_the_tangent_is_a_difference(seed: int) -> None:
    check_differences(resisted_model(seed), seed)


@pytest.mark.parametrize("seed", range(6))
def test_the_adjoint_with_loops_is_the_transposed_tangent(seed: int) -> None:
    """By the points and directions of the loops' rows too."""
    check_transposed(looped_model(seed), seed)


@pytest.mark.parametrize("seed", range(6))
def test_the_tangent_with_loops_is_a_difference(seed: int) -> None:
    """Off the loops too, where a joint frame or a point of a loop is moved."""
    check_differences(looped_model(seed), seed)
