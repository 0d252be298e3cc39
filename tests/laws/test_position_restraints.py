"""Restraints of positions: energy, forces, equilibrium, frequency, what they refuse, and joints that lock."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import articulon as ar
from articulon.adaptive.coarsening import locked_model
from articulon.dynamics.multibody_functions import moved
from articulon.model.array_rotations import matrices

STIFFNESS = (3.0, 0.0, 7.0)
TARGET = (0.4, -0.2, 1.1)


def tree(*forces: Any, sites: bool = False) -> Any:
    """A free body with an arm on a ball joint, bent, off-centre; a site on each."""
    builder = ar.ModelBuilder(units="lj")
    core = builder.add_body(
        "core", mass=2.0, inertia=(0.5, 0.6, 0.7), com=(0.1, 0.2, -0.1), joint=ar.Free(), q=(0.3, 0.1, 0.2, 1, 0, 0, 0)
    )
    arm = builder.add_body(
        "arm",
        parent=core,
        mass=1.0,
        inertia=(0.1, 0.2, 0.2),
        com=(0.5, 0.0, 0.1),
        joint=ar.Spherical(),
        position=(0.7, 0.0, 0.0),
        q=(0.8, 0.0, 0.6, 0.0),
    )
    if sites:
        builder.add_site(core, position=(0.2, 0.0, 0.0), kind="A", group="held")
        builder.add_site(arm, position=(1.0, 0.1, 0.0), kind="A", group="free")
    for force in forces:
        builder.add_force(force)
    return builder.build()


def held(**given: Any) -> Any:
    return ar.forces.PositionRestraint(**{"bodies": ("arm",), "stiffness": STIFFNESS, "to": TARGET, **given})


def centre(model: Any, q: np.ndarray, body: int) -> np.ndarray:
    positions, rotations = ar.body_poses(model, q)
    return positions[body] + matrices(rotations[body]) @ model.centres[body]


def test_the_energy_is_that_of_springs_along_the_axes() -> None:
    model = tree(held())
    away = centre(model, model.q0, 1) - np.array(TARGET)
    assert ar.potential_energy(model, model.q0) == pytest.approx(0.5 * float(np.array(STIFFNESS) @ away**2), rel=1e-14)


@pytest.mark.parametrize(
    ("given", "sites"),
    [
        ({}, False),
        ({"point": (0.3, -0.4, 0.2)}, False),
        ({"bodies": ("*",), "stiffness": 2.0}, False),
        ({"bodies": (), "sites": (0, 1)}, True),
        ({"bodies": (), "groups": ("free",)}, True),
        ({"bodies": ("core",), "sites": (1,)}, True),
    ],
    ids=["centre", "point", "all bodies", "sites", "group", "both"],
)
def test_the_forces_are_the_gradient_of_the_energy(given: dict[str, Any], sites: bool) -> None:
    """Central differences of the energy of a quadratic function along rotations: exact to h², 1e-5² of the scale."""
    model = tree(held(**given), sites=sites)
    rng = np.random.default_rng(4)
    u, h = rng.normal(size=model.nu), 1e-5
    q = model.q0.copy()
    energies = [ar.potential_energy(model, moved(model, q, way * h * u)) for way in (-1.0, 1.0)]
    force = ar.generalized_forces(model, q, np.zeros(model.nu), channels="potential")
    assert -(energies[1] - energies[0]) / (2.0 * h) == pytest.approx(float(force @ u), rel=1e-8)


def test_initial_places_are_without_force() -> None:
    model = tree(held(bodies=("*",), to="initial", stiffness=100.0))
    assert ar.potential_energy(model, model.q0) == pytest.approx(0.0, abs=1e-25)
    assert np.abs(ar.generalized_forces(model, model.q0, np.zeros(model.nu))).max() < 1e-12


def test_a_held_ball_swings_at_the_frequencies_of_its_springs() -> None:
    """x = x₀ cos √(k/m) t along each axis; the free one drifts. Tolerances of 1e-10 over ten periods."""
    builder = ar.ModelBuilder(units="lj")
    builder.add_body("ball", mass=2.0, joint=ar.Xyz(), q=(0.5, 0.3, -0.2), u=(0.0, 0.7, 0.0))
    builder.add_force(ar.forces.PositionRestraint(bodies=("ball",), stiffness=STIFFNESS, to=(0.0, 0.0, 0.0)))
    run = ar.simulate(builder.build(), 20.0, rule="dormand-prince", rtol=1e-10, atol=1e-12, frames=40)
    t = run.times
    np.testing.assert_allclose(run.q[:, 0], 0.5 * np.cos(math.sqrt(1.5) * t), atol=1e-8)
    np.testing.assert_allclose(run.q[:, 1], 0.3 + 0.7 * t, atol=1e-8)
    np.testing.assert_allclose(run.q[:, 2], -0.2 * np.cos(math.sqrt(3.5) * t), atol=1e-8)


def test_a_coarse_model_has_the_energy_and_the_forces_of_the_fine_one() -> None:
    """On what still moves: the restraint of a merged body stays on the body that carries it."""
    model = tree(held(bodies=("*",), stiffness=(1.0, 2.0, 3.0)))
    coarse, merging = locked_model(model, model.q0, ["arm"])
    assert ar.potential_energy(coarse, coarse.q0) == pytest.approx(ar.potential_energy(model, model.q0), rel=1e-13)
    fine = ar.generalized_forces(model, model.q0, np.zeros(model.nu))
    mine = ar.generalized_forces(coarse, coarse.q0, np.zeros(coarse.nu))
    np.testing.assert_allclose(mine, fine[merging.u], atol=1e-12)


def test_an_adaptive_run_keeps_its_energy_with_it() -> None:
    """The arm locks at once and the whole goes on: with no release the energy of what moves is kept."""
    model = tree(held(bodies=("*",), stiffness=5.0))
    group = ar.adaptive.Group(name="arm", bodies=("arm",), lock=ar.adaptive.Speed(below=1e9))
    adaptive = ar.adaptive.Adaptive(every=0.05, groups=(group,))
    run = ar.simulate(model, 2.0, rule="dormand-prince", rtol=1e-9, atol=1e-11, frames=20, adaptive=adaptive)
    q, u = run.q[5:], run.u[5:]
    total = [ar.kinetic_energy(model, a, b) + ar.potential_energy(model, a) for a, b in zip(q, u, strict=True)]
    assert np.ptp(total) < 1e-6 * abs(total[0])


def test_it_is_read_from_a_case() -> None:
    changes = {"forces.position-restraint": {"bodies": ["core"], "stiffness": "2 pN/nm"}}
    model = ar.load_case("nanoparticle-docking", changes).build_model()
    (force,) = (force for force in model.forces if force.kind == "position-restraint")
    # 1 pN/nm is 1e-3 N/m, and the unit of stiffness fg/us² is 1e-6 N/m.
    assert force.stiffness == pytest.approx(2000.0, rel=1e-12)
    wrong = {"forces.position-restraint": {"bodies": ["Core"], "stiffness": "1 pN/nm"}}
    with pytest.raises(ar.ArticulonError, match=r"forces\[\d\].bodies: there is no body 'Core'; did you mean 'core'"):
        ar.load_case("nanoparticle-docking", wrong).build_model()


@pytest.mark.parametrize(
    ("given", "sites", "said"),
    [
        ({"bodies": ("leg",)}, False, "there is no body 'leg'"),
        ({"bodies": (), "sites": (2,)}, True, "there is no site 2; the model has 2"),
        ({"bodies": (), "groups": ("hold",)}, True, "there is no group 'hold'; did you mean 'held'"),
        ({"bodies": (), "sites": (0,), "groups": ("held",)}, True, "site 0 is named twice"),
    ],
)
def test_what_is_not_there_is_refused(given: dict[str, Any], sites: bool, said: str) -> None:
    with pytest.raises(ar.ModelError, match=said):
        tree(held(**given), sites=sites)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"bodies": ()}, "give bodies, sites, groups or select"),
        ({"stiffness": -1.0}, "stiffness"),
        ({"bodies": (), "sites": (0,), "point": (0.0, 0.0, 0.0)}, "point refers to bodies"),
    ],
)
def test_what_cannot_be_is_refused(given: dict[str, Any], said: str) -> None:
    with pytest.raises((ValueError, ar.ArticulonError), match=said):
        tree(held(**given))


def test_what_stands_on_the_ground_is_refused() -> None:
    builder = ar.ModelBuilder(units="lj")
    builder.add_body("wall", mass=1.0, inertia=1.0, joint=ar.Weld())
    builder.add_body("ball", mass=1.0, joint=ar.Xyz())
    builder.add_force(held(bodies=("wall",)))
    with pytest.raises(ar.ModelError, match="'wall' is welded to the ground"):
        builder.build()
