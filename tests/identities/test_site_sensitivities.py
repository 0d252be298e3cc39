"""Derivatives of runs through forces between sites: laws of pairs, bonds, angles and dihedrals.

Differences of fourth order with the step h of a number err by h⁴ of the change, and by rounding of the runs over h.
"""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest

import articulon as ar
from articulon.sensitivities.parameters import parameter_of
from tests.support.forced_models import add_sites, description_of
from tests.support.random_models import builder_of, random_situation
from tests.support.run_derivatives import check_methods_and_checkpoints, weighed

f = ar.forces
RUN: dict[str, Any] = {"rule": "rk4", "step": 0.02, "frames": 1}
DURATION, STEP, BOUND = 0.1, 2e-4, 1e-9
CHARGE = 5e13
"""So many elementary charges that two of them act on each other by about a joule at a metre."""
KINDS = {"A": {"epsilon": 0.5, "sigma": 1.3}, "B": {"epsilon": 0.8, "sigma": 1.1}}
LJ = "forces.lennard-jones.parameters"
BONDS = ((0, 2), (3, 4), (1, 8))
CASES: dict[str, tuple[list[Any], list[str]]] = {
    "all": ([f.LennardJones(parameters=KINDS), f.Coulomb()], [f"{LJ}.A.sigma", f"{LJ}.B.epsilon", "sites[3].charge"]),
    "force-shifted": (
        [
            f.LennardJones(parameters=KINDS, cutoff=4.0, truncation="force-shifted"),
            f.Coulomb(cutoff=5.0, truncation="reaction-field", relative_permittivity=2.0, reaction_permittivity=80.0),
        ],
        [f"{LJ}.A.epsilon", "forces.coulomb.relative_permittivity", "sites[10].charge"],
    ),
    "switched": (
        [
            f.LennardJones(parameters=KINDS, cutoff=4.0, truncation="switched", switch_start=2.0),
            f.Coulomb(cutoff=5.0, truncation="force-shifted", damping=0.3, relative_permittivity=3.0),
        ],
        [f"{LJ}.B.sigma", "forces.coulomb.relative_permittivity", "sites[0].charge"],
    ),
    "morse": (
        [f.Morse(parameters={k: {"depth": 0.7, "width": 1.0, "distance": 1.5} for k in "AB"}, between=(("A", "B"),))],
        ["forces.morse.parameters.A.depth"],
    ),
    "mixed": (
        [f.SitePairs(parameters=KINDS)],
        ["forces.site-pairs.parameters.B.sigma", "forces.site-pairs.parameters.A.epsilon"],
    ),
    "bonds": (
        [
            f.HarmonicBonds(bonds=BONDS, stiffness=(2.0, 1.0, 1.5), length=1.0),
            f.FeneBonds(bonds=((2, 5), (7, 10)), stiffness=1.0, extent=20.0),
            f.ListedPairs(pairs=((0, 11), (5, 6)), epsilon=0.5, sigma=1.2, charges=(2e27, -1e27)),
        ],
        [
            "forces.harmonic-bonds.stiffness[1]",
            "forces.harmonic-bonds.length",
            "forces.fene-bonds.stiffness",
            "forces.listed-pairs.sigma",
            "forces.listed-pairs.charges",
        ],
    ),
    "angles": (
        [
            f.HarmonicAngles(angles=((0, 2, 5), (1, 6, 11)), stiffness=(2.0, 1.0), angle=1.2),
            f.CosineAngles(angles=((3, 4, 8),), stiffness=0.7),
            f.PeriodicDihedrals(dihedrals=((0, 3, 5, 6), (1, 2, 7, 10)), stiffness=(0.8, -0.5), multiplicity=(3, 1)),
            f.HarmonicDihedrals(dihedrals=((0, 2, 4, 9),), stiffness=1.3, angle=0.4),
        ],
        [
            "forces.harmonic-angles.stiffness[0]",
            "forces.harmonic-angles.angle",
            "forces.cosine-angles.stiffness",
            "forces.periodic-dihedrals.stiffness",
            "forces.harmonic-dihedrals.stiffness",
            "forces.harmonic-dihedrals.angle",
        ],
    ),
    "scaled": (
        [
            f.LennardJones(parameters=KINDS, cutoff=4.0),
            f.Coulomb(relative_permittivity=2.0),
            f.HarmonicBonds(bonds=((0, 2), (2, 4), (4, 6)), stiffness=1.0, length=1.0),
            f.Exclusions(scaled_14={"lennard_jones": 0.5, "coulomb": 0.8}),
        ],
        [f"{LJ}.A.sigma", "forces.coulomb.relative_permittivity", "sites[0].charge", "sites[3].charge"],
    ),
    "restraints": (
        [
            f.DistanceRestraint(sites=(2, 5), stiffness=2.0, distance=1.0, tolerance=0.1),
            f.DihedralRestraint(sites=(1, 3, 4, 11), stiffness=1.5, angle=0.3, tolerance=0.2),
        ],
        ["forces[0].stiffness", "forces[0].distance", "forces[1].stiffness", "forces[1].angle"],
    ),
    "initial": (
        [f.DistanceRestraint(sites=(2, 5), stiffness=2.0), f.DihedralRestraint(sites=(2, 3, 4, 6), stiffness=1.5)],
        ["forces[0].stiffness", "forces[1].stiffness"],
    ),
}


def model_of(forces: list[Any]) -> ar.Model:
    """A random forest of five bodies with two sites each, and two on the ground."""
    description, rng = description_of(4, 5)
    state = random_situation(description, rng)
    builder = builder_of(description, state.q, 0.5 * state.u)
    add_sites(builder, 4, charge=CHARGE)
    for force in forces:
        builder.add_force(force)
    return builder.build()


@pytest.mark.parametrize("case", CASES)
def test_derivatives_through_forces_between_sites(case: str) -> None:
    """The adjoint is the forward method, a difference of runs, and the same for few checkpoints."""
    forces, numbers = CASES[case]
    model = model_of(forces)
    places = ["sites[2].position"] if case == "initial" else ["sites[2].position", "sites[11].position", "q"]
    names = [*numbers, *places, "u"]
    w = np.random.default_rng(8).normal(size=model.nu)

    def objective(q: np.ndarray, u: np.ndarray) -> Any:
        return w @ u, np.zeros(model.nu), w

    def value(changed: ar.Model) -> float:
        return float(w @ ar.simulate(changed, DURATION, **RUN).u[-1])

    adjoint = ar.sensitivity(model, objective, names, duration=DURATION, **RUN)
    forward = ar.sensitivity(model, objective, names, "forward", duration=DURATION, **RUN)
    few = ar.sensitivity(model, objective, names, checkpoints=1, duration=DURATION, **RUN)
    assert adjoint.value == pytest.approx(value(model), rel=1e-12)
    for parameter in (parameter_of(model, name, "") for name in names):
        name, number = parameter.name, parameter.numbers
        found, size = adjoint.gradient[name], np.abs(forward.gradient[name]).max()
        assert np.abs(np.subtract(found, forward.gradient[name])).max() <= 1e-11 * size, name
        assert np.array_equal(few.gradient[name], found), name
        unit = np.abs(number).max(initial=0.0) or 1.0
        assert size * unit > 1e-6, name
        if parameter.changed is None:
            continue

        def at(h: float, parameter: Any = parameter, number: Any = number, unit: float = unit) -> float:
            moved = np.array(number, dtype=float)
            moved.flat[0] += h * unit
            return value(parameter.changed(moved))

        near, far = at(STEP) - at(-STEP), at(2.0 * STEP) - at(-2.0 * STEP)
        expected = (8.0 * near - far) / (12.0 * STEP)
        assert abs(np.ravel(found)[0] * unit - expected) <= BOUND * (1.0 + abs(expected)), name


@pytest.mark.parametrize("count", [1, 4, 7])
def test_site_pairs_have_derivatives_for_any_number_of_partners(count: int) -> None:
    """The adjoint takes four partners of a site at a time, on a body or on the ground, and then those that are left."""
    rng = np.random.default_rng(count)
    builder = ar.ModelBuilder(units="kg-m-s")
    for name, x in (("one", 0.0), ("two", 3.0)):
        builder.add_body(name, mass=1.0, inertia=(0.4, 0.5, 0.6), joint=ar.Free(), position=(x, 0.0, 0.0))
    builder.add_site("one", (0.1, 0.2, -0.1), kind="A")
    for _ in range(count):
        builder.add_site("two", tuple(rng.uniform(-0.5, 0.5, 3)), kind="B")
        builder.add_site(None, tuple(rng.uniform(-0.5, 0.5, 3) + (0.0, 2.5, 0.0)), kind="C")
    laws = [{"kinds": ("A", kind), "A": 0.4, "B": 0.9, "C": c} for kind, c in (("B", 0.4), ("C", -0.5))]
    laws.append({"kinds": ("B", "C"), "A": 0.2, "B": 0.3, "C": 0.1})
    between = (("A", "B"), ("A", "C"), ("B", "C"))
    builder.add_force(f.SitePairs(table=tuple(laws), between=between))
    model = builder.build()
    names = [f"sites[{k}].position" for k in range(2 * count + 1)]
    names += [f"forces.site-pairs.table[{k}].{key}" for k in range(3) for key in "ABC"]
    _, objective = weighed(model, count)
    check_methods_and_checkpoints(model, objective, ["q", "u", *names], duration=DURATION, **RUN)


def test_derivatives_in_a_periodic_box_are_differences_of_runs() -> None:
    """Of a fluid whose neighbours, and images of them, come and go at the cutoff, where force and energy are zero."""
    rng, edge = np.random.default_rng(2), 7.0
    builder = ar.ModelBuilder(units="lj", box=ar.Box(lengths=(edge,) * 3))
    lattice = np.stack(np.meshgrid(*[np.arange(4) * edge / 4.0] * 3), axis=-1).reshape(-1, 3)
    places, speeds = lattice + rng.normal(scale=0.05, size=lattice.shape), rng.normal(size=lattice.shape)
    kinds = ["A" if k % 3 else "B" for k in range(len(places))]
    builder.add_particles(len(places), mass=1.0, positions=places, velocities=speeds, kind=kinds)
    kinds_of = {"A": {"epsilon": 1.0, "sigma": 1.0}, "B": {"epsilon": 0.7, "sigma": 1.1}}
    builder.add_force(f.LennardJones(parameters=kinds_of, cutoff=2.5, truncation="switched", switch_start=2.0))
    model = builder.build()
    w = np.random.default_rng(3).normal(size=model.nu)
    run: dict[str, Any] = {"rule": "rk4", "step": 0.01, "frames": 1}

    def objective(q: np.ndarray, u: np.ndarray) -> Any:
        return w @ u, np.zeros(model.nq), w

    def value(epsilon: float, u: np.ndarray) -> float:
        force = f.LennardJones(
            parameters={**kinds_of, "A": {"epsilon": epsilon, "sigma": 1.0}},
            cutoff=2.5,
            truncation="switched",
            switch_start=2.0,
        )
        changed = dataclasses.replace(model, forces=(force,))
        return float(w @ ar.simulate(changed, 0.2, u=u, **run).u[-1])

    names = [f"{LJ}.A.epsilon", "u"]
    found = ar.sensitivity(model, objective, names, duration=0.2, **run)
    few = ar.sensitivity(model, objective, names, checkpoints=2, duration=0.2, **run)
    assert np.array_equal(found.gradient["u"], few.gradient["u"])
    assert found.gradient[names[0]] == few.gradient[names[0]]
    direction, h = rng.normal(size=model.nu), 1e-4
    for by, at in (
        (found.gradient[names[0]], lambda x: value(1.0 + x, model.u0)),
        (found.gradient["u"] @ direction, lambda x: value(1.0, model.u0 + x * direction)),
    ):
        expected = (8.0 * (at(h) - at(-h)) - (at(2.0 * h) - at(-2.0 * h))) / (12.0 * h)
        assert abs(by - expected) <= 1e-8 * (1.0 + abs(expected))


def test_friction_implicit_steps_have_derivatives_through_forces_between_sites() -> None:
    drag = f.StokesDrag(translational=0.8, rotational=0.5, flow=(0.5, -0.2, 0.3))
    laws, numbers = CASES["switched"]
    model = model_of([*laws, drag, f.Brownian(temperature=1e22)])
    w = np.random.default_rng(9).normal(size=model.nu)

    def objective(q: np.ndarray, u: np.ndarray) -> Any:
        return w @ u, np.zeros(model.nu), w

    names = [*numbers, "sites[2].position", "forces.stokes-drag.translational", "q", "u"]
    run: dict[str, Any] = {"rule": "friction-implicit", "step": 0.02, "frames": 1, "duration": 0.2, "seed": 4}
    adjoint = ar.sensitivity(model, objective, names, **run)
    forward = ar.sensitivity(model, objective, names, "forward", **run)
    few = ar.sensitivity(model, objective, names, checkpoints=2, **run)
    for name in names:
        found, size = adjoint.gradient[name], np.abs(forward.gradient[name]).max()
        assert np.abs(np.subtract(found, forward.gradient[name])).max() <= 1e-11 * size, name
        assert np.array_equal(few.gradient[name], found), name

    def value(h: float) -> float:
        kinds = {**KINDS, "B": {"epsilon": 0.8, "sigma": 1.1 + h}}
        force = f.LennardJones(parameters=kinds, cutoff=4.0, truncation="switched", switch_start=2.0)
        changed = model_of([force, *laws[1:], drag, f.Brownian(temperature=1e22)])
        return float(w @ ar.simulate(changed, **run).u[-1])

    expected = (8.0 * (value(STEP) - value(-STEP)) - (value(2.0 * STEP) - value(-2.0 * STEP))) / (12.0 * STEP)
    assert abs(adjoint.gradient[f"{LJ}.B.sigma"] - expected) <= 1e-8 * (1.0 + abs(expected))
