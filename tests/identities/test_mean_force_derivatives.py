"""Derivatives of the mean force of thermal speeds, ½ kT ∂ ln det M, of overdamped runs with noise and joints, and of
runs with Fixman's potential.

Differences of fourth order with the step h err by h⁴ f⁽⁵⁾/30 and by rounding of f over h. With h = 1e-4 and numbers f
of size one both are below 1e-10; random forests have f⁽⁵⁾ up to 1e6 and some digits less.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import articulon as ar
from articulon.dynamics.derivatives.determinant_adjoint import (
    determinant_changes,
    determinant_force_adjoint,
    determinant_force_by_links,
)
from articulon.dynamics.derivatives.determinant_derivatives import determinant_force_tangent, displaced_links
from articulon.dynamics.mass_determinant import determinant_arrays, log_determinant_at
from articulon.dynamics.multibody_functions import moved
from articulon.model import Forest, kernel_tables, workspace
from articulon.model.array_rotations import exponentials, quaternion_product
from articulon.passes import Program
from tests.support.random_models import random_coordinates, random_forest, to_articulon

Numbers = tuple[np.ndarray, ...]


class MeanForce:
    """The force ½ kT ∂ ln det M of a random forest, and its derivatives."""

    def __init__(self, seed: int) -> None:
        self.rng = np.random.default_rng(seed)
        description = random_forest(self.rng, 9)
        self.q, self.model = random_coordinates(description, self.rng), to_articulon(description)
        self.forest, self.kT = kernel_tables(self.model).forest, np.array([1.3])

    def changes(self) -> Numbers:
        """Random changes of the numbers of links and of their joint frames."""
        f = self.forest
        numbers = f.mass, f.moment, f.inertia, f.position, f.position
        return tuple(self.rng.normal(size=one.shape) for one in numbers)

    def gradient(self, forest: Forest, q: np.ndarray) -> np.ndarray:
        """The gradient of ln det M."""
        arrays = determinant_arrays(forest.mass.size, self.model.nu)
        log_determinant_at(forest, q, workspace(forest), arrays)
        return arrays.gradient.copy()

    def at(self, s: float, shift: np.ndarray, changes: Numbers, energy: float) -> np.ndarray:
        """The force of changed links at displaced coordinates."""
        mass, moment, inertia, position, turn = (s * one for one in changes)
        f = self.forest
        forest = f._replace(
            mass=f.mass + mass,
            moment=f.moment + moment,
            inertia=f.inertia + inertia,
            position=f.position + position,
            rotation=quaternion_product(exponentials(turn), f.rotation),
        )
        return 0.5 * (self.kT + s * energy) * self.gradient(forest, moved(self.model, self.q, s * shift))

    def tangent(self, forest: Forest, q: np.ndarray, shift: np.ndarray, changes: Numbers, energy: float) -> np.ndarray:
        """The change of the force."""
        found, links = np.zeros(self.model.nu), displaced_links(forest, self.model.nq, self.model.nu)
        of = 0.5, self.kT, np.array([energy])
        Program([determinant_force_tangent.bind(forest, q, shift, changes, *of, links, found)])()
        return found

    def adjoint(self, weight: np.ndarray) -> tuple[np.ndarray, Numbers, float]:
        """The derivatives of the power of the force by coordinates, links and kT."""
        f, links, nu = self.forest, self.forest.mass.size, self.model.nu
        ws, arrays, changes = workspace(f), determinant_arrays(links, nu), determinant_changes(links, nu)
        log_determinant_at(f, self.q, ws, arrays)
        by_q, by_energy, by = np.zeros(nu), np.zeros(1), tuple(np.zeros_like(x) for x in self.changes())
        adjoint = determinant_force_adjoint.bind(f, ws, weight, 0.5, self.kT, arrays, changes, by_q, by_energy)
        by_links = determinant_force_by_links.bind(f, ws, 0.5, self.kT, changes, by)
        Program([adjoint, by_links])()
        return by_q, by, float(by_energy[0])


@pytest.mark.parametrize("seed", range(6))
def test_the_tangent_of_the_mean_force_is_its_difference(seed: int) -> None:
    force, h = MeanForce(seed), 1e-4
    along = force.rng.normal(size=force.model.nu), force.changes(), 0.7
    found = force.tangent(force.forest, force.q, *along)
    at = {s: force.at(s * h, *along) for s in (-2, -1, 1, 2)}
    expected = (8.0 * (at[1] - at[-1]) - (at[2] - at[-2])) / (12.0 * h)
    assert np.abs(found - expected).max() <= 1e-9 * np.abs(expected).max()


@pytest.mark.parametrize("seed", range(6))
def test_the_adjoint_of_the_mean_force_is_the_transposed_tangent(seed: int) -> None:
    force = MeanForce(seed)
    shift, weight, changes, energy = *force.rng.normal(size=(2, force.model.nu)), force.changes(), 0.7
    by_q, by, by_energy = force.adjoint(weight)
    parts = [by_q * shift, *(a * b for a, b in zip(by, changes, strict=True)), np.array([by_energy * energy])]
    forward = weight @ force.tangent(force.forest, force.q, shift, changes, energy)
    assert abs(sum(one.sum() for one in parts) - forward) <= 1e-12 * sum(np.abs(one).sum() for one in parts)


def test_numbers_of_any_size_are_small_steps() -> None:
    """Changes of size one of masses of 1e-25, as in SI units, and weights of 1e27, which are speeds at unit forces."""
    force, m = MeanForce(3), 1e-25
    f, shift = force.forest, np.zeros(force.model.nu)
    of_links = tuple(one * (k < 3) for k, one in enumerate(force.changes()))
    light = f._replace(mass=m * f.mass, moment=m * f.moment, inertia=m * f.inertia)
    found, expected = (force.tangent(one, force.q, shift, of_links, 0.0) for one in (light, f))
    assert np.abs(m * found - expected).max() <= 1e-11 * np.abs(expected).max()
    weight = force.rng.normal(size=force.model.nu)
    found, expected = (force.adjoint(size * weight)[0] for size in (1e27, 1.0))
    assert np.abs(1e-27 * found - expected).max() <= 1e-11 * np.abs(expected).max()


def chain(numbers: dict[str, Any], fixman: bool = False, of_bath: bool = False) -> ar.Model:
    """A free body that carries a spherical joint and two hinges, in a medium at rest, with noise; ``fixman`` adds
    Fixman's potential, at the temperature of the noise or ``of_bath`` without one of its own."""
    builder = ar.ModelBuilder(units="kg-m-s")
    turned = (0.8, 0.6, 0.0, 0.0)
    builder.add_body("head", mass=numbers["head"], inertia=(0.2, 0.3, 0.4), com=numbers["com"], joint=ar.Free())
    body: dict[str, Any] = {"mass": 1.0, "inertia": (0.1, 0.2, 0.25), "com": (0.3, 0.1, -0.2)}
    builder.add_body("neck", parent="head", position=(0.3, 0.4, 0.1), joint=ar.Spherical(), q=turned, **body)
    arm = ar.Revolute(axis=(0.0, 0.6, 0.8))
    builder.add_body("arm", parent="neck", position=(0.5, -0.1, 0.2), joint=arm, q=0.4, **body)
    body["inertia"] = np.array(numbers["inertia"])[[0, 1, 2, 1, 3, 4, 2, 4, 5]].reshape(3, 3)
    hand = ar.Revolute(axis=(1, 0, 0))
    builder.add_body("hand", parent="arm", position=numbers["position"], joint=hand, q=-0.7, **body)
    builder.add_force(ar.forces.TorsionalSprings(stiffness={"arm": 2.0, "hand": 1.0}))
    builder.add_force(ar.forces.StokesDrag(translational=numbers["drag"], rotational=0.3))
    builder.add_force(ar.forces.Brownian(temperature=numbers["temperature"]))
    if fixman:
        builder.add_force(ar.forces.Fixman(None if of_bath else numbers["temperature"]))
    return builder.build()


NUMBERS: dict[str, Any] = {
    "head": 2.0,
    "com": (0.1, 0.2, -0.1),
    "inertia": (0.2, 0.01, 0.02, 0.3, 0.03, 0.25),
    "position": (0.2, 0.6, -0.3),
    "drag": 0.7,
    "temperature": 2e22,
}
"""In the given units k T is 0.28, as much as the torques of the springs."""
NAMES = {
    "head": "bodies.head.mass",
    "com": "bodies.head.com",
    "inertia": "bodies.hand.inertia",
    "position": "bodies.hand.position",
    "drag": "forces.stokes-drag.translational",
    "temperature": "forces.brownian.temperature",
}
RUN: dict[str, Any] = {"rule": "overdamped", "step": 0.005, "seed": 5}


def check_run(numbers: dict[str, Any], names: dict[str, str], fixman: bool, **run: Any) -> None:
    """Both methods, any number of checkpoints, and differences of runs with the same noise agree; names are those of
    parameters by their keys in ``numbers``."""
    model = chain(numbers, fixman)
    of_q = np.random.default_rng(2).normal(size=model.nq)

    def objective(q: np.ndarray, u: np.ndarray) -> Any:
        return of_q @ q, of_q, np.zeros(model.nu)

    every = ["q", *names.values()]
    found = ar.sensitivity(model, objective, every, duration=0.05, **run)
    few = ar.sensitivity(model, objective, every, duration=0.05, checkpoints=2, **run)
    forward = ar.sensitivity(model, objective, every, "forward", duration=0.05, **run)
    for name in every:
        size = np.abs(found.gradient[name]).max()
        assert np.array_equal(found.gradient[name], few.gradient[name]), name
        assert np.abs(found.gradient[name] - forward.gradient[name]).max() <= 1e-11 * size, name
    assert found.value == pytest.approx(of_q @ ar.simulate(model, 0.05, **run).q[-1], rel=1e-13)
    for key, name in names.items():
        value = np.atleast_1d(np.array(numbers[key], dtype=float))
        h = 2e-3 * np.abs(value).max()  # at half of it, rounding of the runs reaches the bound
        expected = np.zeros(value.size)
        for k, unit in enumerate(np.eye(value.size)):

            def at(s: float, key: str = key, value: np.ndarray = value, unit: np.ndarray = unit, h: float = h) -> float:
                changed = value + s * h * unit
                given = tuple(changed.tolist()) if changed.size > 1 else float(changed[0])
                return float(of_q @ ar.simulate(chain({**numbers, key: given}, fixman), 0.05, **run).q[-1])

            expected[k] = (8.0 * (at(1) - at(-1)) - (at(2) - at(-2))) / (12.0 * h)
        size = np.abs(expected).max()
        assert size * np.abs(value).max() > 1e-4, name
        assert np.abs(np.atleast_1d(found.gradient[name]) - expected).max() <= 1e-9 * size, name


def test_derivatives_of_a_noisy_overdamped_chain_are_differences_of_runs() -> None:
    """Gravity is off: only the mean force knows the masses."""
    check_run(NUMBERS, NAMES, False, **RUN)


@pytest.mark.parametrize("rule", ["rk4", "friction-implicit"])
def test_derivatives_of_runs_with_fixmans_potential_are_differences_of_runs(rule: str) -> None:
    names = {key: name for key, name in NAMES.items() if key not in ("temperature", "drag")}
    check_run(NUMBERS, names, True, **RUN | {"rule": rule})


def test_fixmans_potential_has_a_derivative_by_its_temperature() -> None:
    """That of the noise does not change with it, which a run would refuse: noise grows with the root of T, and the
    sum of both is the derivative along T."""
    names = ["forces.brownian.temperature", "forces.fixman.temperature"]
    T, run = NUMBERS["temperature"], RUN | {"rule": "friction-implicit", "duration": 0.05}
    found = ar.sensitivity(chain(NUMBERS, True), "hand.angle", names, **run)
    h = 1e-3 * T
    at = {s: ar.simulate(chain({**NUMBERS, "temperature": T + s * h}, True), **run).q[-1, -1] for s in (-2, -1, 1, 2)}
    expected = (8.0 * (at[1] - at[-1]) - (at[2] - at[-2])) / (12.0 * h)
    assert sum(found.gradient.values()) == pytest.approx(expected, rel=1e-9)
    assert abs(found.gradient[names[1]]) > 0.01 * abs(expected)
    left_out = ar.sensitivity(chain(NUMBERS, True, of_bath=True), "hand.angle", names, **run)
    assert left_out.gradient == found.gradient


def test_fixmans_potential_cancels_the_mean_force_with_its_derivatives() -> None:
    """Without gravity, masses then have no effect on overdamped motion."""
    found = ar.sensitivity(chain(NUMBERS, True), "hand.angle", ["bodies.head.mass", "q"], duration=0.05, **RUN)
    assert abs(found.gradient["bodies.head.mass"]) < 1e-14
    assert np.abs(found.gradient["q"]).max() > 0.1
