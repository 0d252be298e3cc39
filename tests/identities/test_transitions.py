"""Locking and releasing by impulse and momentum: what must hold for any model and any choice.

Bounds: the coarse problem is solved with a backward error of some ε for each body, so momentum and energies close to
1e-12; the dense solution goes through M⁻¹ and agrees to 1e-9.
"""

from __future__ import annotations

import threading
from functools import partial
from typing import Any

import numpy as np
import pytest
from scipy.linalg import eigh
from scipy.optimize import minimize

import articulon as ar
from articulon.dynamics.dca import masked_impulses
from articulon.dynamics.dca.assembly_tree import assembly_tree
from articulon.transitions.dense_relations import dense_relations
from articulon.transitions.relations import Relations, generalised_momentum, relations
from tests.support.random_models import CHAIN_SHAPES, chain, to_articulon
from tests.support.transition_models import Situation, dense_nearest, random_situation

COUNT = 20
TINY = float(np.finfo(float).tiny)
CHOICES = ("published", "nearest", "mass", "canonical")


def arguments(choice: str) -> dict[str, Any]:
    return {"choice": "nearest", "metric": "mass"} if choice == "mass" else {"choice": choice, "seed": 5}


def lock(s: Situation) -> Any:
    return ar.lock(s.model, s.q, s.u, s.changed, locked=s.held)


def change_of_momentum(s: Situation, before: np.ndarray, after: np.ndarray) -> float:
    """Of the momentum projected on the coarse motions, relative to the momentum."""
    change = s.allowed(s.locked) @ s.matrix @ (after - before)
    return float(np.linalg.norm(change) / max(np.linalg.norm(s.matrix @ before), np.linalg.norm(s.matrix @ after)))


def least_found(d: Relations, placed: float, wanted: np.ndarray, starts: int, rng: np.random.Generator) -> float:
    """The least ‖u_f − (u_c + W x₀)‖² with the energy that SLSQP finds from random starts, by the dense relations."""
    size = np.sqrt(2.0 * placed)
    to_x = size * np.linalg.inv(np.linalg.cholesky(d.schur)).T

    def objective(z: np.ndarray) -> tuple[float, np.ndarray]:
        away = to_x @ z - wanted
        return float(away @ d.metric @ away), 2.0 * to_x.T @ d.metric @ away

    best = np.inf
    for _ in range(starts):
        z = rng.normal(size=len(wanted))
        found = minimize(
            objective,
            z / np.linalg.norm(z),
            jac=True,
            method="SLSQP",
            constraints={"type": "eq", "fun": lambda z: z @ z - 1.0, "jac": lambda z: 2.0 * z},
            options={"maxiter": 200, "ftol": 1e-13},
        )
        best = min(best, objective(found.x / np.linalg.norm(found.x))[0])
    return best


def check(s: Situation, rng: np.random.Generator, starts: int) -> dict[str, float]:
    """Locks and releases by every choice. How far off it was: the projected momentum, energies, the speeds of before
    and those of the dense way, and by how much a search from some starts was better, each relative."""
    model, worst = s.model, dict.fromkeys(("momentum", "energy", "back", "dense", "search"), 0.0)

    def within(what: str, off: float, bound: float, where: str = "") -> None:
        worst[what] = max(worst[what], off)
        assert off <= bound, (what, where)

    locked = lock(s)
    scale = np.abs(s.u).max()
    # The coarse model: still where it is locked, closed, with the momentum that it had.
    assert not locked.speeds[s.locked].any()
    assert np.array_equal(locked.locked, s.locked)
    assert np.abs(s.jacobian @ locked.speeds).max(initial=0.0) <= 1e-12 * scale * max(
        1, np.abs(s.jacobian).max(initial=0)
    )
    within("momentum", change_of_momentum(s, s.u, locked.speeds), 1e-12)
    lost = locked.energy_before - locked.energy_after
    within("energy", abs(locked.kept.energy - lost) / max(locked.energy_before, TINY), 1e-12)
    assert locked.kept.energy >= -1e-12 * locked.energy_before
    # And back.
    back = ar.release(model, s.q, locked.speeds, s.changed, reservoir=locked.kept, locked=locked.locked)
    within("back", float(np.abs(back.speeds - s.u).max()) / max(scale, TINY), 1e-12)
    assert np.array_equal(back.locked, s.held)
    # The relations themselves.
    fast, dense = relations(model, s.q, s.locked, s.changed), dense_relations(model, s.q, s.locked, s.changed)
    for name in ("columns", "schur", "metric"):
        expected = getattr(dense, name)
        assert np.abs(getattr(fast, name) - expected).max() <= 1e-9 * np.abs(expected).max(), name
    # Every choice.
    energy = locked.energy_after + rng.uniform(0.1, 3.0) * max(locked.kept.energy, 1e-3 * locked.energy_before)
    reference = rng.normal(size=model.nu) * s.changed
    for choice in CHOICES:
        t = ar.release(
            *(model, s.q, locked.speeds, s.changed),
            **arguments(choice),
            energy=energy,
            reference=reference,
            locked=locked.locked,
        )
        within("energy", abs(0.5 * t.speeds @ s.matrix @ t.speeds - energy) / energy, 1e-12, choice)
        within("energy", abs(t.energy_after - energy) / energy, 1e-12, choice)
        within("momentum", change_of_momentum(s, locked.speeds, t.speeds), 1e-12, choice)
        assert not t.speeds[s.held].any()
        if choice in ("published", "nearest"):
            wanted = reference[s.changed] if choice == "nearest" else np.zeros(int(s.changed.sum()))
            d, x = dense, t.speeds[s.changed]
            placed = energy - 0.5 * locked.speeds @ s.matrix @ locked.speeds
            ours = float((x - wanted) @ d.metric @ (x - wanted))
            if starts:
                within("search", ours / least_found(d, placed, wanted, starts, rng) - 1.0, 1e-9, choice)
            expected = locked.speeds + dense_nearest(d.metric, d.schur, 0 * x, placed, wanted) @ d.columns
            # An eigenvector turns by the rounding over the gap to the next eigenvalue.
            values = eigh(d.metric, d.schur, eigvals_only=True)
            others = values[values > values[0] * (1 + 1e-10)]
            gap = (others[0] - values[0]) / values[-1] if len(others) else 1.0
            off = float(np.abs(t.speeds - expected).max() / np.abs(t.speeds).max())
            within("dense", off, 1e-9 + 1e-13 / gap, choice)
    return worst


@pytest.mark.slow
@pytest.mark.parametrize("part", range(2))
def test_random_transitions(part: int) -> None:
    """The study of 500, each with a search from twenty starts, is ``python -m validation.transitions``."""
    rng = np.random.default_rng([part, 6])
    for _ in range(COUNT // 2):
        check(random_situation(rng), rng, starts=2)


@pytest.mark.slow
@pytest.mark.parametrize("links_per_block", [1, 3])
def test_small_blocks_join_to_the_same(links_per_block: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Small models have joins and sums of assemblies when their blocks are small."""
    monkeypatch.setattr(masked_impulses, "assembly_tree", partial(assembly_tree, links_per_block=links_per_block))
    rng = np.random.default_rng([links_per_block, 7])
    for _ in range(15):
        s = random_situation(rng)
        check(s, rng, starts=0)
        monkeypatch.setattr(masked_impulses, "_store", threading.local())  # trees are kept by model


@pytest.mark.parametrize("n", [300, 1000])
@pytest.mark.parametrize("shape", CHAIN_SHAPES)
@pytest.mark.parametrize("joints", ["revolute", "spherical", "mixed"])
def test_long_chains(joints: str, shape: str, n: int) -> None:
    """By inverse dynamics, since a dense mass matrix of such a chain has lost all digits."""
    rng = np.random.default_rng([n, *map(ord, joints + shape)])
    description, q = chain(rng, n, joints, shape)
    model = to_articulon(description, q)
    u = rng.normal(size=model.nu)
    axes = np.zeros(model.nu, dtype=bool)
    axes[rng.choice(model.nu, 8, replace=False)] = True
    locked = ar.lock(model, q, u, axes)
    back = ar.release(model, q, locked.speeds, axes, reservoir=locked.kept)
    assert np.abs(back.speeds - u).max() <= 1e-12 * np.abs(u).max()
    # As much as the axes had, times three: a share of the whole chain's energy would make speeds of which the rounding
    # alone is worth more than 1e-12 of it.
    energy = locked.energy_after + 3.0 * locked.kept.energy
    warm = ar.release(model, q, locked.speeds, axes, energy=energy)
    assert abs(warm.energy_after / energy - 1.0) <= 1e-12
    for before, after in ((u, locked.speeds), (locked.speeds, back.speeds), (locked.speeds, warm.speeds)):
        change = generalised_momentum(model, q, after - before)[~axes]
        size = np.linalg.norm(generalised_momentum(model, q, before))
        assert np.linalg.norm(change) <= 1e-12 * size


def test_many_axes_at_once() -> None:
    """More than are solved by one assembly."""
    rng = np.random.default_rng(8)
    description, q = chain(rng, 100, "spherical", "coiled")
    model, axes = to_articulon(description, q), np.arange(300) % 3 > 0
    u = rng.normal(size=300)
    locked = ar.lock(model, q, u, axes)
    back = ar.release(model, q, locked.speeds, axes, reservoir=locked.kept)
    assert np.abs(back.speeds - u).max() <= 1e-12 * np.abs(u).max()
    assert int(axes.sum()) > 2 * masked_impulses.COLUMNS_AT_ONCE
