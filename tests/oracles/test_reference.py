"""The extended-precision reference against itself and Pinocchio: an oracle must be right before it may judge."""

from __future__ import annotations

import numpy as np
import pytest

from tests.support import bounds
from tests.support.pinocchio_model import PinocchioModel
from tests.support.random_models import random_forest, random_situation
from tests.support.reference import EXTENDED, Reference, norm

ROUNDING = float(np.finfo(EXTENDED).eps)


@pytest.mark.parametrize("seed", range(25))
def test_reference_formulations_agree_in_extended_precision_and_with_pinocchio_in_double(seed: int) -> None:
    rng = np.random.default_rng([seed, 3])
    description = random_forest(rng, int(rng.integers(1, 20)))
    n = len(description)
    s = random_situation(description, rng)
    reference, pinocchio = Reference(description), PinocchioModel(description)

    # Composite bodies and projected bodies are two ways to M; recursion and matrix are two ways to tau.
    matrix = reference.mass_matrix(s.q)
    assert norm(matrix - reference.mass_matrix_by_projection(s.q)) <= 20 * n * ROUNDING * norm(matrix)
    bias = reference.bias(s.q, s.u, s.wrenches, s.gravity)
    udot, condition = reference.forward_dynamics(s.q, s.u, s.tau, s.wrenches, s.gravity)
    tau = reference.inverse_dynamics(s.q, s.u, udot, s.wrenches, s.gravity)
    assert norm(tau - s.tau) <= 40 * n * ROUNDING * (norm(s.tau) + norm(bias))
    energy = reference.kinetic_energy(s.q, s.u)
    assert abs(s.u @ matrix @ s.u / 2 - energy) <= 20 * n * ROUNDING * energy

    assert norm(pinocchio.mass_matrix(s.q) - matrix) <= 1e-14 * n * norm(matrix)
    assert norm(pinocchio.inverse_dynamics(s, np.zeros(description.nu)) - bias) <= bounds.backward(n, bias)
    assert norm(pinocchio.forward_dynamics(s) - udot) <= bounds.forward(condition, udot)
