"""Slow forces in every n-th step, n times as strong: steps of a symplectic rule about the fast ones."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import articulon as ar
from articulon.errors import CaseError

FLIGHT: dict[str, Any] = {"rule": "friction-implicit", "drift": "geodesic"}
SOLVENT: dict[str, Any] = {"scales": 0.8, "radii": "0.17 nm"}


def ions(fast: bool = False) -> ar.Model:
    """Charged particles in a solvent, which is a slow force, and on springs that are fast, or not."""
    rng = np.random.default_rng(2)
    builder = ar.ModelBuilder("Da-nm-ps")
    at = 0.3 * np.array([[i, j, k] for i in range(2) for j in range(2) for k in range(2)], dtype=float)
    charges = np.where(np.arange(8) % 3 == 0, 0.4, -0.3)
    u = rng.normal(scale=0.3, size=(8, 3))
    builder.add_particles(8, mass=20.0, positions=at, velocities=u, kind="ion", charge=charges)
    builder.add_force(ar.forces.GeneralizedBorn(**SOLVENT))
    if fast:
        bonds = tuple((k, k + 1) for k in range(7))
        builder.add_force(ar.forces.HarmonicBonds(bonds=bonds, stiffness=2e4, length=0.3))
    return builder.build()


def peptide() -> ar.Model:
    """Alanine dipeptide about its torsions, in an implicit solvent."""
    from articulon import molecules

    structure = molecules.peptide(["ACE", "ALA", "NME"], phi=-75.0, psi=145.0)
    model = molecules.force_field_model(structure, molecules.perceive(structure), solvent="obc2")
    from dataclasses import replace

    return replace(model, u0=np.random.default_rng(1).normal(scale=1.0, size=model.nu))


@pytest.mark.parametrize("every", [2, 5])
def test_slow_forces_alone_make_one_long_step_of_many(every: int) -> None:
    """Particles fly straight on between two impulses, whether in one flight or in many."""
    model, h = ions(), 0.002
    turns = ar.simulate(model, 40 * h, frames=40 // every, step=h, long_range_every=every, **FLIGHT)
    whole = ar.simulate(model, 40 * h, frames=40 // every, step=every * h, **FLIGHT)
    np.testing.assert_allclose(turns.q, whole.q, atol=1e-12)
    np.testing.assert_allclose(turns.u, whole.u, atol=1e-11)
    np.testing.assert_allclose(turns.works, whole.works, atol=1e-9)
    other = ar.simulate(model, 40 * h, frames=40 // every, step=h, **FLIGHT)
    assert np.abs(other.q - whole.q).max() > 1e-7, "steps of both lengths are the same, and nothing would be seen"


def test_fast_forces_act_in_every_step() -> None:
    """With springs whose error is that of the step: a quarter at half the step, and not that of the time between two
    evaluations of slow forces, which is 16 times as large where that is four steps."""
    model = ions(fast=True)
    exact = ar.simulate(model, 0.24, frames=1, step=1e-4, **FLIGHT).q[-1]

    def error(step: float, every: int) -> float:
        return np.abs(
            ar.simulate(model, 0.24, frames=1, step=step, long_range_every=every, **FLIGHT).q[-1] - exact
        ).max()

    turns = error(0.005, 4)
    assert math.log2(turns / error(0.0025, 4)) == pytest.approx(2.0, abs=0.25)
    assert error(0.02, 1) > 4.0 * turns


@pytest.mark.slow  # seconds: kernels of a peptide
def test_halving_the_step_quarters_the_error_on_a_tree() -> None:
    model = peptide()
    exact = ar.simulate(model, 0.096, frames=1, step=0.0003, **FLIGHT)
    errors = []
    for step in (0.004, 0.002):
        run = ar.simulate(model, 0.096, frames=1, step=step, long_range_every=3, **FLIGHT)
        errors.append(np.linalg.norm(run.q[-1] - exact.q[-1]))
    assert errors[1] > 1e-6
    assert math.log2(errors[0] / errors[1]) == pytest.approx(2.0, abs=0.25)


@pytest.mark.slow
def test_a_tree_goes_back_the_way_it_came() -> None:
    model = peptide()
    there = ar.simulate(model, 0.24, frames=1, step=0.004, long_range_every=3, **FLIGHT)
    back = ar.simulate(model, 0.24, frames=1, step=0.004, q=there.q[-1], u=-there.u[-1], long_range_every=3, **FLIGHT)
    np.testing.assert_allclose(back.q[-1], model.q0, atol=1e-9)


def test_one_step_in_turn_is_the_plain_rule() -> None:
    one = ar.simulate(ions(True), 0.02, frames=2, step=0.002, long_range_every=1, **FLIGHT)
    plain = ar.simulate(ions(True), 0.02, frames=2, step=0.002, **FLIGHT)
    np.testing.assert_array_equal(one.q, plain.q)


def test_a_run_that_is_cut_between_two_evaluations_has_the_same_bits(tmp_path: Path) -> None:
    how = {"step": 0.002, "long_range_every": 4, **FLIGHT}
    whole = ar.simulate(ions(True), 0.06, frames=1, **how)
    parts = ar.simulate(ions(True), 0.022, frames=1, **how)
    parts.extend(0.038, frames=1)
    np.testing.assert_array_equal(parts.q[-1], whole.q[-1])
    np.testing.assert_array_equal(parts.works[-1], whole.works[-1])


def test_what_does_not_go_together_is_refused() -> None:
    builder = ar.ModelBuilder("lj")
    builder.add_particles(2, mass=1.0, positions=[(0, 0, 0), (1.5, 0, 0)], kind="A")
    builder.add_force(ar.forces.LennardJones(parameters={"A": {"epsilon": 1.0, "sigma": 1.0}}))
    with pytest.raises(CaseError, match=r"integrator\.long_range_every: the model has no slow forces"):
        ar.simulate(builder.build(), 0.1, step=0.01, long_range_every=2, **FLIGHT)
    scaled = ar.scaling.Constant(a2=0.5)
    with pytest.raises(CaseError, match=r"integrator\.long_range_every: 'constant' needs the forces at each moment"):
        ar.simulate(ions(), 0.1, step=0.01, long_range_every=2, scaling=scaled, **FLIGHT)
    with pytest.raises(CaseError, match="long_range_every"):
        ar.simulate(ions(), 0.1, step=0.01, long_range_every=0, **FLIGHT)
