"""Locking and releasing axes and modes of trees with flexible bodies, by divide and conquer and by the mass matrix."""

from __future__ import annotations

import numpy as np
import pytest

import articulon as ar
from articulon.dynamics.dca import masked_impulses
from articulon.dynamics.dca.assembly_tree import assembly_tree
from articulon.transitions.dense_relations import dense_relations
from articulon.transitions.relations import relations
from tests.identities.test_transitions import check
from tests.support.flexible_models import FlexibleCase, random_flexible_situation
from tests.support.reference import norm


def masks(rng: np.random.Generator, nu: int) -> tuple[np.ndarray, np.ndarray]:
    """What is locked, and what of it is released: at least one of it."""
    locked = rng.random(nu) < 0.5
    locked[rng.integers(nu)] = True
    released = locked & (rng.random(nu) < 0.6)
    released[rng.choice(np.flatnonzero(locked))] = True
    return locked, released


@pytest.mark.parametrize("links_per_block", [None, 4])
def test_relations_are_those_of_the_mass_matrix(links_per_block, monkeypatch):
    if links_per_block is not None:
        monkeypatch.setattr(masked_impulses, "assembly_tree", lambda forest: assembly_tree(forest, links_per_block))
    for seed in range(25):
        rng = np.random.default_rng([seed, 3])
        c = FlexibleCase(seed, n=int(rng.integers(1, 20)))
        locked, released = masks(rng, c.model.nu)
        found, dense = (way(c.model, c.q, locked, released) for way in (relations, dense_relations))
        assert norm(found.columns - dense.columns) <= 1e-9 * norm(dense.columns)
        assert norm(found.schur - dense.schur) <= 1e-9 * norm(dense.schur)


def test_dropping_and_adding_modes_keeps_the_momentum_and_gives_the_speeds_back():
    for seed in range(25):
        rng = np.random.default_rng([seed, 4])
        c = FlexibleCase(seed, n=int(rng.integers(1, 12)))
        changed, _ = masks(rng, c.model.nu)
        matrix = np.asarray(c.reference.mass_matrix(c.q), dtype=np.float64)
        locked = ar.lock(c.model, c.q, c.u, changed)
        assert not locked.speeds[changed].any()
        change = (matrix @ (locked.speeds - c.u))[~changed]
        assert np.abs(change).max(initial=0.0) <= 1e-12 * np.abs(matrix @ c.u).max()
        back = ar.release(c.model, c.q, locked.speeds, changed, reservoir=locked.kept, locked=locked.locked)
        assert np.abs(back.speeds - c.u).max() <= 1e-12 * np.abs(c.u).max() * max(1.0, np.linalg.cond(matrix) / 1e3)


def test_modes_are_named():
    modes = ar.modes.beam(length=1.0, mass=2.0, bending=(2, 0), bending_stiffness=40.0, gyration=0.05)
    builder = ar.ModelBuilder(units="kg-m-s")
    builder.add_body("beam", joint=ar.Revolute(axis=(0, 0, 1)), modes=modes, u=(0.3, 0.2, -0.1))
    model = builder.build()
    found = ar.lock(model, model.q0, model.u0, ("beam", "mode2"))
    assert found.locked.tolist() == [False, False, True]
    assert ar.lock(model, model.q0, model.u0, "beam").locked.all()
    with pytest.raises(ar.TransitionError, match="mode 2 of 'beam' is already locked"):
        ar.lock(model, model.q0, found.speeds, ("beam", "mode2"), locked=found.locked)


@pytest.mark.slow
def test_locking_and_releasing_with_loops_as_of_rigid_bodies():
    """What must hold for any model, see ``test_transitions.py``; 500 of them are in ``validation/transitions.py``."""
    rng = np.random.default_rng(31)
    for _ in range(30):
        check(random_flexible_situation(rng), rng, starts=1)
