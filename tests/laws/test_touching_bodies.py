"""Spheres on clumps, trees and nodes of flexible bodies: the contacts are those of grains, momentum and books are kept,
and all of it goes on from a checkpoint to the same bits."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import articulon as ar
from articulon.cases.builders.grain_models import Chain
from articulon.dynamics.momenta import momentum
from articulon.errors import CaseError
from articulon.model.array_rotations import matrices

R, DENSITY, STEP = 0.01, 2500.0, 2e-6
MASS = 4.0 / 3.0 * np.pi * R**3 * DENSITY
MATERIAL = {"young": 1e8, "poisson": 0.3, "static_friction": 0.3, "restitution": 0.8}


def builder() -> Any:
    return ar.ModelBuilder(units="kg-m-s")


def touching(b: Any, **law: Any) -> Any:
    b.add_force(ar.forces.Contact(materials={"grain": MATERIAL}, **law))
    return b.build()


def run(model: Any, steps: int, frames: int = 1, **options: Any) -> Any:
    return ar.simulate(model, STEP * steps, rule="velocity-verlet", step=STEP, frames=frames, **options)


def pair(with_a_pendulum: bool) -> Any:
    """Two grains that meet off centre; a pendulum far away makes it a model of trees."""
    b = builder()
    b.add_grain("a", radius=R, position=(0, 0, 0), density=DENSITY, velocity=(0.5, 0.1, 0), spin=(1, 20, 3))
    b.add_grain("b", radius=R, position=(2 * R + 1e-4, 0, 0), density=DENSITY)
    if with_a_pendulum:
        hinge = ar.Revolute(axis=(0, 1, 0))
        b.add_body("pendulum", mass=1, inertia=0.1, com=(0, 0, -0.5), joint=hinge, position=(10, 0, 0))
    return touching(b)


def clump(velocity: tuple[float, float, float] = (0.4, 0.0, 0.0)) -> Any:
    """A dumbbell of two spheres that turns into a grain."""
    b = builder()
    across = 0.8 * MASS * R**2 + 2.0 * MASS * R**2
    body = b.add_body(
        "clump",
        mass=2 * MASS,
        inertia=(0.8 * MASS * R**2, across, across),
        joint=ar.Free(),
        q=(0, 0, 0, 1, 0, 0, 0),
        u=(*velocity, 5, 0, 10),
    )
    for x in (R, -R):
        b.add_site(body, position=(x, 0, 0), kind="grain", radius=R)
    b.add_grain("grain", radius=R, position=(3.1 * R, 0.3 * R, 0), density=DENSITY)
    return touching(b)


def momenta(model: Any, q: np.ndarray, u: np.ndarray) -> np.ndarray:
    """Linear and angular momentum of free bodies."""
    linear, angular = np.zeros(3), np.zeros(3)
    for k in range(model.bodies):
        x, e, v, w = q[7 * k : 7 * k + 3], q[7 * k + 3 : 7 * k + 7], u[6 * k : 6 * k + 3], u[6 * k + 3 : 6 * k + 6]
        m, inertia = model.masses[k], np.diag(model.inertias[k][[0, 3, 5]])
        linear += m * v
        angular += m * np.cross(x, v) + matrices(e) @ inertia @ w
    return np.concatenate([linear, angular])


def test_a_tree_beside_changes_nothing_for_grains() -> None:
    alone, beside = run(pair(False), 1500), run(pair(True), 1500)
    assert alone.state.contacts.times[0] == 1.0
    # Both take the same steps in another order of sums.
    np.testing.assert_allclose(beside.u[-1, :12], alone.u[-1], rtol=0, atol=1e-11)
    np.testing.assert_allclose(beside.q[-1, :14], alone.q[-1], rtol=0, atol=1e-14)
    np.testing.assert_allclose(beside.state.contacts.work[0], alone.state.contacts.work[0], rtol=1e-9, atol=1e-16)
    np.testing.assert_allclose(beside.works[-1], alone.works[-1], rtol=1e-9, atol=1e-16)


def test_a_clump_keeps_momentum_and_the_ledger() -> None:
    model = clump()
    result = run(model, 7000, frames=20)
    assert result.state.contacts.times[1] >= 1.0, "they never met"
    start = momenta(model, result.q[0], result.u[0])
    for q, u in zip(result.q, result.u, strict=True):
        now = momenta(model, q, u)
        assert np.abs(now[:3] - start[:3]).max() < 1e-13 * np.abs(start[:3]).max()
        # Of a body that is no sphere, the free motion keeps angular momentum to (h ω)⁵ a step: rounding.
        assert np.abs(now[3:] - start[3:]).max() < 1e-11 * np.abs(start[3:]).max()
    kinetic = result.kinetic_energy
    assert np.abs(kinetic - kinetic[0] - result.works.sum(axis=1)).max() < 1e-12 * kinetic[0]


def test_the_steps_converge_in_their_second_order() -> None:
    def end(step: float) -> np.ndarray:
        result = ar.simulate(clump(), 0.012, rule="velocity-verlet", step=step, frames=1)
        assert result.state.contacts.times[1] >= 1.0
        return result.u[-1]

    # Damping lags by half a step, as in every code that takes velocities of the half step: first order, but small.
    exact = end(2.5e-7)
    coarse, fine = np.abs(end(4e-6) - exact).max(), np.abs(end(1e-6) - exact).max()
    assert fine < coarse / 3.0
    assert fine < 2e-3 * np.abs(exact).max()


def chain(floor: bool) -> Any:
    """Six beads on spherical joints that turn and drop onto a floor, or fly into a grain."""
    b = builder()
    beads = {"links": 6, "radius": 0.4 * R, "gap": 0.1 * R, "density": DENSITY}
    along = (1, 0.2, 0.3) if floor else (0.1, 0, 1)
    Chain(**beads, start=(0, 0, R), direction=along, velocity=(1, 0, -1)).populate(b, "chain")
    walls = []
    if floor:
        b.add_force(ar.forces.Gravity(acceleration=(0, 0, -9.81)))
        walls = [ar.forces.Plane(point=(0, 0, 0), normal=(0, 0, 1), kind="grain")]
    else:
        b.add_grain("grain", radius=R, position=(1.6 * R, 0, 1.5 * R), density=DENSITY)
    return touching(b, walls=walls)


def test_the_books_of_a_jointed_chain_close() -> None:
    """Kicks take the forces' own work, and between them nothing does any, however the joints turn meanwhile: it grows
    with neither the step nor the number of collisions."""
    result = ar.simulate(chain(floor=True), 0.06, rule="velocity-verlet", step=4e-6, frames=30)
    assert result.state.contacts.times[1] >= 5.0, "too few collisions"
    kinetic, works = result.kinetic_energy, result.works.sum(axis=1)
    assert np.abs(kinetic - kinetic[0] - works).max() < 1e-11 * kinetic.max()


def test_a_jointed_chain_keeps_its_momenta() -> None:
    """Linear momentum and angular momentum about the origin of a chain and the grain that it meets."""
    model = chain(floor=False)
    result = run(model, 15_000, frames=10)
    assert result.state.contacts.times[1] >= 1.0, "they never met"
    found = np.array([momentum(model, q, u) for q, u in zip(result.q, result.u, strict=True)])
    for part in (found[:, :3], found[:, 3:6]):
        assert np.abs(part - part[0]).max() < 1e-11 * np.abs(part[0]).max()


def filament() -> Any:
    """A clamped beam on a hinge, with a sphere at its tip that a grain falls on."""
    b = builder()
    modes = ar.modes.beam(length=0.2, mass=0.05, bending=2, bending_stiffness=0.5, units="kg-m-s")
    beam = b.add_body("beam", joint=ar.Revolute(axis=(0, 0, 1)), modes=modes)
    b.add_site(beam, node=len(modes.positions) - 1, kind="grain", radius=R)
    b.add_grain("grain", radius=R, position=(0.2, 2 * R + 5e-4, 0), density=DENSITY, velocity=(0, -0.5, 0))
    return touching(b)


def test_a_grain_bends_a_beam_through_its_node() -> None:
    model = filament()
    result = run(model, 3000, frames=6)
    assert result.state.contacts.times[0] >= 1.0
    modal = result.q[-1, 1:5]
    assert np.abs(modal).max() > 1e-5, "the beam has not bent"
    kinetic = result.kinetic_energy
    assert np.abs(kinetic - kinetic[0] - result.works.sum(axis=1)).max() < 1e-12 * kinetic[0]
    # Momentum about the hinge goes over from the grain to the beam.
    assert result.u[-1, -5] > -0.5


@pytest.mark.parametrize("make", [clump, filament])
def test_chunks_change_no_bit(make: Any) -> None:
    model, steps = make(), 2400
    whole, parts = run(model, steps), run(model, steps, frames=7 if steps % 7 == 0 else 8)
    for name in (
        "q",
        "u",
        "work",
        "contacts.work",
        "contacts.times",
        "contacts.pairs",
        "contacts.memory",
        "rule.history",
    ):
        assert np.array_equal(whole.state.arrays()[name], parts.state.arrays()[name]), name


def test_neighbours_on_a_chain_do_not_touch_and_others_do() -> None:
    b = builder()
    parent = None
    for k in range(4):
        parent = b.add_body(
            f"bead{k}",
            parent=parent,
            mass=MASS,
            inertia=0.4 * MASS * R**2,
            joint=ar.Spherical() if k else ar.Free(),
            position=(1.5 * R if k else 0.0, 0, 0),
        )
        b.add_site(parent, position=(0, 0, 0), kind="grain", radius=R)
    b.add_grain("grain", radius=R, position=(0, 1.99 * R, 0), density=DENSITY)
    result = run(touching(b), 10)
    pairs = {tuple(row) for row in result.state.contacts.pairs.tolist()}
    # Beads 1.5 R apart overlap with their neighbours, which are one joint away, and with no others.
    assert pairs == {(0, 4)}


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"rule": "friction-implicit", "step": STEP}, "velocity-verlet"),
        ({"rule": "rk4", "step": STEP}, "velocity-verlet"),
        ({"rule": "velocity-verlet", "step": STEP, "scaling": "constant"}, "scaling"),
        ({"rule": "velocity-verlet", "step": STEP, "rotations": "euler-parameters"}, "rotations"),
    ],
)
def test_what_does_not_go_with_contacts_is_refused(options: dict[str, Any], words: str) -> None:
    if "scaling" in options:
        options = {**options, "scaling": ar.scaling.Constant(a2=0.5)}
    with pytest.raises(CaseError, match=words):
        ar.simulate(clump(), 1e-3, **options)


def plate(mass: float, driven: bool) -> Any:
    """A sphere on a slide that runs into a grain at 0.3, pushed by a drive or by its momentum."""
    b = builder()
    b.add_body("plate", mass=mass, inertia=1.0, joint=ar.Prismatic(axis=(1, 0, 0)), u=0.3)
    b.add_site("plate", kind="grain", radius=R)
    b.add_grain("grain", radius=R, position=(2.05 * R, 0, 0), density=DENSITY)
    if driven:
        b.add_drive("plate", times=(0, 1, 2, 3), values=(0, 0.3, 0.6, 0.9))
    return touching(b)


def test_a_driven_plate_throws_a_grain_as_a_heavy_one_does() -> None:
    """By (1 + e) times its speed, if it has 10⁶ times the mass; its drive gives what the grain and the contact take."""
    runs = {driven: run(plate(1e6 * MASS, driven), 2500) for driven in (True, False)}
    speeds = {driven: one.u[-1, 1] for driven, one in runs.items()}
    assert speeds[True] == pytest.approx(speeds[False], rel=3e-6)
    assert speeds[True] == pytest.approx(0.3 * 1.8, abs=3e-4)
    driven = runs[True]
    np.testing.assert_allclose(driven.u[-1, 0], 0.3, rtol=1e-12)
    np.testing.assert_allclose(driven.q[-1, 0], 0.3 * driven.times[-1], rtol=1e-12)
    gained = 0.5 * MASS * speeds[True] ** 2
    lost = 0.5 * MASS * (1.0 - 0.8**2) * 0.3**2
    assert driven.observables["work_external"][-1] == pytest.approx(gained + lost, rel=2e-3)
    assert np.abs(driven.observables["energy_balance"]).max() < 1e-9 * gained


def flail() -> Any:
    """Two spheres on links that a drive swings round, into a grain."""
    b = builder()
    hinge = ar.Revolute(axis=(0, 0, 1))
    link = {"mass": MASS, "inertia": 0.4 * MASS * R**2, "com": (3 * R, 0, 0), "joint": hinge}
    b.add_body("handle", **link)
    b.add_body("swipple", parent="handle", **link, position=(3 * R, 0, 0), q=0.3)
    for body in ("handle", "swipple"):
        b.add_site(body, position=(3 * R, 0, 0), kind="grain", radius=R)
    b.add_grain("grain", radius=R, position=(2.9 * R, 2.4 * R, 0), density=DENSITY)
    times = np.linspace(0.0, 0.1, 41)
    b.add_drive("handle", times=times, values=12.0 * times + 0.2 * np.sin(40.0 * times))
    return touching(b)


def test_the_books_of_a_drive_close_in_flight_and_in_contact() -> None:
    """Of a handle that speeds up, drags a link along and meets a grain."""
    found = run(flail(), 5000, frames=50)
    assert found.state.contacts.times[0] >= 1.0, "they never met"
    works = found.observables["work_external"]
    assert np.abs(works).max() > 0.1 * found.kinetic_energy.max()
    assert np.abs(found.observables["energy_balance"]).max() < 1e-11 * np.abs(works).max()
    t = found.times
    np.testing.assert_allclose(found.q[:, 0], 12.0 * t + 0.2 * np.sin(40.0 * t), rtol=0, atol=1e-6)
