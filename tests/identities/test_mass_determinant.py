"""ln det M and its gradient by the articulated recursion, against the dense matrix and differences."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import articulon as ar
from articulon.dynamics.armature_determinant import armatures_of, log_determinant_with_armatures
from articulon.dynamics.mass_determinant import determinant_arrays, log_determinant_at
from articulon.dynamics.poses import displace
from articulon.model import kernel_tables, workspace
from tests.support.random_models import (
    CHAIN_KINDS,
    CHAIN_SHAPES,
    KINDS,
    Description,
    builder_of,
    chain,
    random_coordinates,
    random_forest,
    to_articulon,
)

EPS = float(np.finfo(float).eps)


class Determinant:
    """ln det M of a model and its gradient, with armatures (nu,) or without."""

    def __init__(self, model: Any, armature: np.ndarray | None = None) -> None:
        self.armatures = None if armature is None else armatures_of(armature)
        self.model, self.ws = model, workspace(kernel_tables(model).forest)
        self.arrays = determinant_arrays(model.forest.mass.size, model.nu)
        self.arrays = type(self.arrays)(*(np.full_like(a, np.nan) for a in self.arrays))  # what is read must be written
        self.arrays.torque[:] = 0.0

    def __call__(self, q: np.ndarray) -> float:
        if self.armatures is not None:
            forest = kernel_tables(self.model).forest
            return log_determinant_with_armatures(forest, q, self.ws, self.armatures, self.arrays)
        return log_determinant_at(kernel_tables(self.model).forest, q, self.ws, self.arrays)

    def gradient(self, q: np.ndarray) -> np.ndarray:
        self(q)
        return self.arrays.gradient.copy()

    def difference(self, q: np.ndarray, k: int, h: float = 2e-3) -> tuple[float, float]:
        """Derivative along speed k, of the fourth order in h, and its error: 1/15 of what twice the step changes (here
        twice that), and rounding of numbers of the size of Σ |ln D|."""
        fine, coarse = self._difference(q, k, h), self._difference(q, k, 2.0 * h)
        return fine, 2.0 * abs(fine - coarse) / 15.0 + 10.0 * EPS * self.model.nu / h

    def _difference(self, q: np.ndarray, k: int, h: float) -> float:

        def at(time: float) -> float:
            moved, u = q.copy(), np.zeros(self.model.nu)
            u[k] = 1.0
            displace(kernel_tables(self.model).forest, moved, u, time)
            return self(moved)

        return (8.0 * (at(h) - at(-h)) - (at(2 * h) - at(-2 * h))) / (12.0 * h)


def models() -> list[tuple[str, Description, np.ndarray]]:
    rng = np.random.default_rng(12)
    found = []
    for k in range(12):
        forest = random_forest(rng, 14)
        found.append((f"forest-{k}", forest, random_coordinates(forest, rng)))
    for kind in KINDS[1:]:
        forest = random_forest(rng, 6, kinds=(kind, "revolute"), root_chance=0.0)
        found.append((kind, forest, random_coordinates(forest, rng)))
    return found


MODELS = models()


@pytest.mark.parametrize(("description", "q"), [m[1:] for m in MODELS], ids=[m[0] for m in MODELS])
def test_the_recursion_gives_the_dense_determinant_and_its_gradient(description: Description, q: np.ndarray) -> None:
    """ln det M to rounding; the gradient to h⁴ of the differences."""
    model = to_articulon(description)
    determinant = Determinant(model)
    M = ar.mass_matrix(model, q)
    sign, dense = np.linalg.slogdet(M)
    assert sign == 1.0
    assert determinant(q) == pytest.approx(dense, abs=100 * EPS * model.nu * np.linalg.cond(M))
    gradient = determinant.gradient(q)
    for k in range(model.nu):
        expected, error = determinant.difference(q, k)
        assert error < 1e-6 * max(1.0, np.abs(gradient).max()), "the differences tell too little"
        assert abs(gradient[k] - expected) < error


@pytest.mark.parametrize(("description", "q"), [m[1:] for m in MODELS], ids=[m[0] for m in MODELS])
def test_armatures_add_to_the_determinant_and_its_gradient(description: Description, q: np.ndarray) -> None:
    """ln det (M + diag(a)), some armatures being zero, against the dense matrix and its differences."""
    model = to_articulon(description)
    rng = np.random.default_rng(model.nu)
    armature = rng.uniform(0.1, 2.0, model.nu) * (rng.random(model.nu) < 0.7)
    determinant = Determinant(model, armature)
    M = ar.mass_matrix(model, q) + np.diag(armature)
    assert determinant(q) == pytest.approx(np.linalg.slogdet(M)[1], abs=100 * EPS * model.nu * np.linalg.cond(M))
    gradient = determinant.gradient(q)
    for k in range(model.nu):
        expected, error = determinant.difference(q, k)
        assert error < 1e-6 * max(1.0, np.abs(gradient).max()), "the differences tell too little"
        assert abs(gradient[k] - expected) < error


@pytest.mark.parametrize("shape", CHAIN_SHAPES)
@pytest.mark.parametrize("joints", CHAIN_KINDS)
def test_long_chains_keep_the_determinant_and_its_gradient(joints: str, shape: str) -> None:
    """A chain of 60 links, also where it is straight and the gradient vanishes by symmetry or cancels."""
    description, q = chain(np.random.default_rng(5), 60, joints, shape)
    model = to_articulon(description)
    determinant = Determinant(model)
    M = ar.mass_matrix(model, q)
    dense = np.linalg.slogdet(M)[1]
    assert determinant(q) == pytest.approx(dense, abs=10 * EPS * np.linalg.cond(M))
    gradient = determinant.gradient(q)
    for k in range(0, model.nu, 19):
        expected, error = determinant.difference(q, k)
        assert error < 1e-5 * max(1.0, np.abs(gradient).max()), "the differences tell too little"
        assert abs(gradient[k] - expected) < error


def dimers() -> Any:
    """Four equal point masses, equal bonds and bond angles of 90°, two and two on bodies that share the middle bond."""
    builder = ar.ModelBuilder(units="lj")
    first = builder.add_body("first", mass=2.0, inertia=(0.5, 0.0, 0.5), com=(0.0, 0.5, 0.0), joint=ar.Free())
    builder.add_body(
        "second",
        parent=first,
        mass=2.0,
        inertia=(0.5, 0.0, 0.5),
        com=(0.0, 0.5, 0.0),
        position=(1.0, 0.0, 0.0),
        joint=ar.Revolute(axis=(1.0, 0.0, 0.0)),
    )
    return builder.build()


@pytest.mark.parametrize("seed", range(4))
def test_fixmans_potential_is_half_kT_of_it_and_its_force_the_gradient(seed: int) -> None:
    """U = ½ kT (ln det M(q) − ln det M(q₀)), and −½ kT times the gradient in the channel ``conformational``."""
    rng, temperature = np.random.default_rng(seed), 310.0
    forest = random_forest(rng, 9)
    builder = builder_of(forest, random_coordinates(forest, rng))
    builder.add_force(ar.forces.Fixman(temperature=temperature))
    model = builder.build()
    kT = model.units.boltzmann * temperature
    start, q = model.q0.copy(), random_coordinates(forest, rng)
    determinants = [np.linalg.slogdet(ar.mass_matrix(model, x))[1] for x in (start, q)]
    assert ar.potential_energy(model, start) == pytest.approx(0.0, abs=1e-10 * kT)
    assert ar.potential_energy(model, q) == pytest.approx(0.5 * kT * (determinants[1] - determinants[0]), abs=1e-9 * kT)
    force = ar.generalized_forces(model, q, np.zeros(model.nu), ["conformational"])
    assert force == pytest.approx(-0.5 * kT * Determinant(model).gradient(q), rel=1e-12, abs=1e-12 * kT)


def test_fixmans_potential_refuses_what_has_no_free_coordinates() -> None:
    def hinged() -> Any:
        builder = ar.ModelBuilder(units="lj")
        builder.add_body("arm", mass=1.0, inertia=1.0, joint=ar.Revolute())
        builder.add_force(ar.forces.Fixman(temperature=1.0))
        return builder

    driven = hinged()
    driven.add_drive("arm", times=(0.0, 1.0, 2.0, 3.0), values=(0.0, 0.1, 0.2, 0.0), name="motor")
    with pytest.raises(ar.ModelError, match=r"forces\[0\]: .* drive 'motor' constrains"):
        driven.build()
    twice = hinged()
    twice.add_force(ar.forces.Fixman(temperature=1.0))
    with pytest.raises(ar.ModelError, match=r"forces\[1\]: this fixman force is already declared as forces\[0\]"):
        twice.build()
    with pytest.raises(ar.CaseError, match="temperature"):
        ar.forces.Fixman(temperature=-1.0).resolved(hinged().units, "fixman")


def test_four_point_masses_have_the_determinant_of_the_right_angled_chain() -> None:
    """det M ∝ 35 + 4 cos α − 16 cos² α + cos⁴ α with α = π − dihedral. Point masses are taken as they are: of the two
    singular inertias neither is singular as a part of the chain, since the other body does not lie on its axis."""
    model = dimers()
    determinant = Determinant(model)
    q = model.q0.copy()
    dihedrals = np.linspace(-np.pi, np.pi, 25)
    found = []
    for angle in dihedrals:
        q[7] = angle
        found.append(np.exp(determinant(q)))
    c = np.cos(np.pi - dihedrals)
    assert found == pytest.approx(2.0 * (35.0 + 4.0 * c - 16.0 * c**2 + c**4), rel=1e-12)
