"""Derivatives of forward dynamics against Pinocchio's ``computeABADerivatives``, on 100 random forests.

Universal joints are left out: Pinocchio's derivatives leave out that one of such a joint's axes moves with the other,
and differ from its own differences (``test_pinocchio_differs_from_its_own_differences`` sees that it is so).
``tests/identities/test_derivatives.py`` compares them with differences.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pinocchio as pin
import pytest

import articulon as ar
from articulon.model.joints import FREE
from tests.support.pinocchio_model import PinocchioModel
from tests.support.random_models import KINDS, random_forest, random_situation, to_articulon

BOUND = 1e-9
"""Relative to the largest number of a matrix: rounding by the condition of M, up to some 1e6 here."""


@pytest.mark.parametrize("seed", range(100))
def test_derivatives_of_random_forests(seed: int) -> None:
    rng = np.random.default_rng([seed, 11])
    kinds = [kind for kind in KINDS if kind != "universal"]
    description = random_forest(rng, int(rng.integers(1, 31)), max_depth=10, kinds=kinds)
    s = random_situation(description, rng)
    model = to_articulon(description)
    ours = ar.derivatives(model, s.q, s.u, s.tau, gravity=s.gravity)
    theirs = PinocchioModel(description).acceleration_derivatives(s)
    for own, expected in zip(ours, theirs, strict=True):
        assert np.abs(own - expected).max() <= BOUND * max(1.0, np.abs(expected).max())


def test_pinocchio_differs_from_its_own_differences() -> None:
    """With universal joints, by far more than differences of 1e-5 are off."""
    model, last = pin.Model(), 0
    inertia = pin.Inertia(1.0, np.array([0.1, 0.2, 0.3]), np.diag([0.3, 0.4, 0.5]))
    for k in range(2):
        joint = pin.JointModelUniversal(*np.eye(3)[:2])
        last = model.addJoint(last, joint, pin.SE3(np.eye(3), np.array([0.0, 0.0, 1.0])), f"{k}")
        model.appendBodyToJoint(last, inertia, pin.SE3.Identity())
    data, (q, v, tau) = model.createData(), np.random.default_rng(0).normal(size=(3, 4))
    pin.computeABADerivatives(model, data, q, v, tau)
    found, h = data.ddq_dq.copy(), 1e-5
    steps = h * np.eye(4)
    differences = [
        (pin.aba(model, data, q + e, v, tau).copy() - pin.aba(model, data, q - e, v, tau)) / (2.0 * h) for e in steps
    ]
    assert np.abs(found - np.transpose(differences)).max() > 0.1


@pytest.mark.parametrize("seed", range(20))
def test_derivatives_with_armatures(seed: int) -> None:
    """Free joints have none: Pinocchio's would act along axes of the body."""
    rng = np.random.default_rng([seed, 12])
    kinds = [kind for kind in KINDS if kind != "universal"]
    description = random_forest(rng, int(rng.integers(1, 31)), max_depth=10, kinds=kinds)
    s = random_situation(description, rng)
    bare = to_articulon(description)
    armature = rng.uniform(0.1, 3.0, bare.nu)
    for kind, start in zip(bare.forest.kind, bare.forest.u_start, strict=True):
        if kind == FREE:
            armature[start : start + 6] = 0.0
    model, peer = replace(bare, armature=armature), PinocchioModel(description)
    order = np.zeros(bare.nu)
    order[peer.u_index] = armature
    peer.model.armature = order
    peer.data = peer.model.createData()
    ours = ar.derivatives(model, s.q, s.u, s.tau, gravity=s.gravity)
    theirs = peer.acceleration_derivatives(s)
    for own, expected in zip(ours, theirs, strict=True):
        assert np.abs(own - expected).max() <= BOUND * max(1.0, np.abs(expected).max())
    if armature.any():
        assert np.abs(ours.tau - ar.derivatives(bare, s.q, s.u, s.tau).tau).max() > 1e-3
