"""How trees with flexible bodies move: energy, momentum and frequencies, sites on nodes, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest

import articulon as ar
from articulon.dynamics.momenta import momentum
from articulon.errors import CaseError, ModelError
from articulon.forces.sites.site_positions import site_positions
from articulon.model import CHANNELS
from tests.support.flexible_bodies import random_modes
from tests.support.flexible_models import FlexibleCase, flexible_builder

SI = "kg-m-s"


def cantilever(**options: object) -> ar.Modes:
    given = {"length": 1.0, "mass": 2.0, "bending": (3, 2), "bending_stiffness": 40.0, "gyration": 0.05, **options}
    return ar.modes.beam(**given)


def tip(modes: ar.Modes) -> int:
    """The node on the axis at the end."""
    positions = np.asarray(modes.positions)
    return int(np.argmax(positions[:, 0] - np.abs(positions[:, 1:]).sum(axis=1)))


def flying_rod(rng: np.random.Generator, **forces: object) -> ar.Model:
    """A free flexible body that carries a rigid one on one node and a flexible one on another."""
    modes = random_modes(rng, nodes=6, modes=3)
    builder = ar.ModelBuilder(units=SI)
    options = {"stiffness": np.diag([4.0, 6.0, 9.0]), "damping": forces.get("damping", 0.0)}
    soft = ar.Modes(
        modes.positions, modes.masses, 0.2 * np.asarray(modes.shapes), **options, rotations=modes.rotations,
        handle=modes.handle, largest=1e3,
    )  # fmt: skip
    u = rng.normal(size=(3, 9))
    rod = builder.add_body("rod", joint=ar.Free(), modes=soft, u=u[0])
    builder.add_body(
        "bead", joint=ar.Spherical(), parent=rod, node=(modes.handle + 2) % 6, mass=1.0, inertia=(0.3, 0.4, 0.5),
        com=(0.2, 0, 0), u=u[1, :3],
    )  # fmt: skip
    builder.add_body(
        "arm", joint=ar.Revolute(axis=(0, 0, 1)), parent=rod, node=(modes.handle + 3) % 6, modes=soft, u=u[2, :4]
    )
    return builder.build()


def test_energy_and_momenta_are_kept_to_the_order_of_the_rule():
    model = flying_rod(np.random.default_rng(5))
    errors = []
    for step in (4e-3, 2e-3):
        run = ar.simulate(model, 0.4, rule="rk4", step=step, frames=4)
        energy = run.kinetic_energy + run.potential_energy
        first, last = (momentum(model, run.q[k], run.u[k])[:6] for k in (0, -1))
        errors.append((np.abs(energy - energy[0]).max() / energy[0], np.abs(last - first).max()))
        # What the springs of the modes have given is booked as theirs.
        work = run.works[-1, CHANNELS.index("conformational")]
        assert work == pytest.approx(run.potential_energy[0] - run.potential_energy[-1], abs=1e-4 * energy[0])
    (energy_coarse, momentum_coarse), (energy_fine, momentum_fine) = errors
    assert energy_fine < 1e-6
    # Fourth order: a factor of 16, less what is left of the next term.
    assert 12.0 < energy_coarse / energy_fine < 40.0
    assert 12.0 < momentum_coarse / momentum_fine < 40.0


@pytest.mark.slow
def test_momenta_change_at_no_rate():
    """Σ ∂p/∂q q' + M-part of u' is zero to rounding: by a central difference along the motion, whose error falls as the
    square of its time."""
    for seed in range(10):
        model = flying_rod(np.random.default_rng(seed))
        udot = ar.forward_dynamics(model, model.q0, model.u0, ar.generalized_forces(model, model.q0, model.u0))
        rates = []
        for h in (2e-3, 1e-3):
            before, after = (
                momentum(model, moved_along(model, s * h, udot), model.u0 + s * h * udot)[:6] for s in (-1.0, 1.0)
            )
            rates.append((after - before) / (2.0 * h))
        size = momentum(model, model.q0, model.u0)[6:].max()
        assert np.abs((4.0 * rates[1] - rates[0]) / 3.0).max() < 1e-6 * size


def moved_along(model: ar.Model, h: float, udot: np.ndarray) -> np.ndarray:
    from articulon.dynamics.multibody_functions import moved

    return moved(model, model.q0, model.u0 + 0.5 * h * udot, h)


def test_a_clamped_beam_swings_at_the_frequencies_of_its_modes():
    """A body that is welded to the ground is a set of springs: η_j = η_j(0) cos ω_j t, whatever the others do."""
    modes = cantilever()
    masses = np.einsum("i,iaj,iaj->j", modes.masses, modes.shapes, modes.shapes)
    omega = np.sqrt(np.asarray(modes.stiffness) / masses)
    start = 1e-2 * np.array([1.0, -0.3, 0.1, 0.7, 0.2])
    builder = ar.ModelBuilder(units=SI)
    builder.add_body("beam", joint=ar.Weld(), modes=modes, q=start)
    time = 2.0 * np.pi / omega[0]
    run = ar.simulate(builder.build(), time, rule="dormand-prince", rtol=1e-10, atol=1e-14, frames=7)
    exact = start * np.cos(omega * run.times[:, None])
    assert np.abs(run.q - exact).max() < 1e-6 * np.abs(start).max()


def test_a_beam_sags_by_its_weight_as_euler_and_bernoulli_say():
    """m g L³/(8 EI) at the end, less what the modes that were left out would add: below the next one's part, 1/β⁴."""
    g, L, m, EI = 2.0, 1.0, 2.0, 40.0
    modes = cantilever(bending=(0, 4))
    builder = ar.ModelBuilder(units=SI)
    builder.add_body("beam", joint=ar.Weld(), modes=modes)
    builder.add_force(ar.forces.Gravity(acceleration=(0.0, 0.0, -g)))
    model = builder.build()
    force = ar.generalized_forces(model, np.zeros(4), np.zeros(4))
    eta = force / np.asarray(modes.stiffness)
    sag = float(np.asarray(modes.shapes)[tip(modes), 2] @ eta)
    assert sag == pytest.approx(-m * g * L**3 / (8.0 * EI), rel=2e-4)
    # Gravity's energy falls by twice what the springs take up.
    assert ar.potential_energy(model, eta) - ar.potential_energy(model, 0 * eta) == pytest.approx(0.5 * force @ -eta)


def test_modal_damping_takes_energy_and_is_booked():
    run = ar.simulate(
        flying_rod(np.random.default_rng(5), damping=0.5), 0.5, rule="dormand-prince", rtol=1e-9, atol=1e-10
    )
    energy = run.kinetic_energy + run.potential_energy
    lost = run.works[:, CHANNELS.index("damping")]
    assert lost[-1] < -1e-3 * energy[0] and (np.diff(lost) <= 0.0).all()
    assert np.abs(energy - energy[0] - lost).max() < 1e-6 * energy[0]


@pytest.mark.slow
def test_sites_on_nodes_follow_them_and_their_forces_bend_the_body():
    """Positions are the oracle's; with pairs between nodes, the ground and a rigid body the energy stays."""
    c = FlexibleCase(3, n=5, part=1.0)
    builder, handles = flexible_builder(*c.tree)
    where = [(i, k) for i, shapes in enumerate(c.reference.shapes) for k in (0, shapes.masses.size - 1)]
    local = np.random.default_rng(1).normal(size=(len(where), 3))
    for (i, k), place in zip(where, local, strict=True):
        builder.add_site(handles[i], place, node=k)
    builder.add_site(handles[0], (0.1, 0.2, 0.3))
    found = site_positions(builder.build(), c.q)
    for (i, k), place, position in zip(where, local, found, strict=False):
        node = c.reference.node(i, k, c.q, c.u)
        assert np.abs(node.position + node.rotation @ place - position).max() < 1e-13 * 10

    modes = cantilever(bending=(2, 1))
    builder = ar.ModelBuilder(units=SI)
    beam = builder.add_body("beam", joint=ar.Revolute(axis=(0, 0, 1)), modes=modes, u=0.3)
    builder.add_body("ball", joint=ar.Free(), mass=0.5, inertia=0.01, q=(1.2, 0.6, 0.05, 1, 0, 0, 0))
    builder.add_site(beam, node=tip(modes), kind="charged", charge=1.0)
    builder.add_site("ball", position=(0.05, 0.0, 0.0), kind="charged", charge=1.0)
    builder.add_site(None, position=(1.2, -0.5, 0.0), kind="charged", charge=-1.0)
    builder.add_force(ar.forces.SitePairs(table=({"kinds": ("charged", "charged"), "C": 2.0},)))
    model = builder.build()
    run = ar.simulate(model, 0.3, rule="dormand-prince", rtol=1e-10, atol=1e-12, frames=3)
    energy = run.kinetic_energy + run.potential_energy
    assert np.abs(run.q[-1, 1:4]).max() > 1e-4
    assert np.abs(energy - energy[0]).max() < 1e-7 * np.abs(energy).max()


def test_a_run_says_which_body_left_the_range_of_its_modes_and_when():
    modes = cantilever(bending=(1, 0), largest=0.05)
    builder = ar.ModelBuilder(units=SI)
    builder.add_body("beam", joint=ar.Weld(), modes=modes, u=(1.0,))
    run = ar.simulate(builder.build(), 0.4, rule="dormand-prince", frames=40)
    (note,) = run.notes
    largest = 0.05 * modes.resolved(ar.units.unit_system(SI), "beam").length
    first = run.times[np.flatnonzero(np.abs(run.q[:, 0]) > largest)[0]]
    assert "body 'beam'" in note and f"t = {first:.9g} s" in note
    assert not ar.simulate(builder.build(), 0.01, rule="dormand-prince", frames=4).notes


def test_what_does_not_go_with_flexible_bodies_is_refused_by_name():
    builder = ar.ModelBuilder(units=SI)
    beam = builder.add_body("beam", joint=ar.Free(), modes=cantilever())
    model = builder.build()
    for options in (
        {"rule": "implicit-midpoint", "step": 1e-3},
        {"rule": "friction-implicit", "step": 1e-3, "drift": "geodesic"},
        {"rule": "velocity-verlet", "step": 1e-3},
        {"rule": "rk4", "step": 1e-3, "rotations": "euler-parameters"},
        {"rule": "rk4", "step": 1e-3, "coordinates": "cartesian"},
    ):
        with pytest.raises(CaseError, match="beam"):
            ar.simulate(model, 0.01, **options)
    with pytest.raises(ModelError, match="no node 1000"):
        builder.add_site(beam, node=1000)
    with pytest.raises(ModelError, match="the ground has no nodes"):
        builder.add_site(None, node=0)
    with pytest.raises(ModelError, match="mass"):
        builder.add_body("nothing", joint=ar.Free())


def test_a_node_without_rotations_carries_points_only():
    whole = random_modes(np.random.default_rng(0), nodes=5)
    shapes = ar.Modes(whole.positions, whole.masses, whole.shapes, 1.0 + np.arange(3.0), handle=whole.handle)
    builder = ar.ModelBuilder(units=SI)
    body = builder.add_body("blob", joint=ar.Free(), modes=shapes)
    builder.add_site(body, node=3)
    with pytest.raises(ModelError, match="rotation"):
        builder.add_site(body, (0.1, 0, 0), node=3)
    with pytest.raises(ModelError, match="rotation"):
        builder.add_body("rider", joint=ar.Weld(), parent=body, node=3, mass=1.0)
    model = builder.build()
    q = model.q0.copy()
    q[7:] = 0.1, -0.2, 0.3
    expected = np.asarray(whole.positions)[3] + np.asarray(whole.shapes)[3] @ q[7:]
    assert np.abs(site_positions(model, q)[0] - expected).max() < 1e-15 * 10


@pytest.mark.parametrize("solver", ["articulated", "divide-and-conquer"])
def test_a_four_bar_with_a_flexible_coupler_keeps_its_energy(solver):
    """A crank, a beam that bends, and a rocker that hangs on the beam's end and closes the loop to the ground."""
    hinge, modes = ar.Revolute(axis=(0, 0, 1)), cantilever(bending=(3, 0))
    builder = ar.ModelBuilder(units=SI)
    bar = {"joint": hinge, "mass": 1.0, "inertia": 0.05}
    crank = builder.add_body("crank", **bar, com=(0.15, 0, 0), q=1.2, u=4.0)
    coupler = builder.add_body("coupler", joint=hinge, modes=modes, parent=crank, position=(0.3, 0, 0), q=-1.0)
    rocker = builder.add_body("rocker", **bar, com=(0.35, 0, 0), parent=coupler, node=tip(modes), q=-1.5)
    builder.add_loop("closure", joint=hinge, child=rocker, child_position=(0.7, 0, 0), position=(1.0, 0, 0))
    model = builder.build()
    assert model.degrees_of_freedom == 4
    run = ar.simulate(model, 0.3, rule="dormand-prince", rtol=1e-9, atol=1e-11, frames=6, solver=solver)
    energy = run.kinetic_energy + run.potential_energy
    assert np.abs(run.q[:, 2:5]).max() > 1e-3
    assert np.abs(energy - energy[0]).max() < 1e-6 * energy[0]
    assert np.abs(ar.loop_residuals(model, run.q[-1])).max() < 1e-12


@pytest.mark.parametrize("given", [(0.0, None, None), (1.2, -1.0, -1.5)])
def test_loops_are_closed_by_turning_joints_rather_than_by_bending(given):
    """A ring of a crank, two soft beams and the ground that starts open: in the metric of the mass beams of small mass
    bend as easily as joints turn, and would by many times their length."""
    hinge, modes = ar.Revolute(axis=(0, 0, 1)), cantilever(mass=0.1)
    builder = ar.ModelBuilder(units=SI)
    turned = [{} if q is None else {"q": q} for q in given]
    crank = builder.add_body("crank", joint=hinge, mass=1.0, inertia=0.05, com=(0.15, 0, 0), **turned[0])
    options = {"joint": hinge, "modes": modes}
    first = builder.add_body("first", **options, parent=crank, position=(0.3, 0, 0), **turned[1])
    second = builder.add_body("second", **options, parent=first, node=tip(modes), **turned[2])
    builder.add_body("bead", joint=ar.Weld(), parent=second, node=tip(modes), mass=0.1, inertia=0.01)
    builder.add_loop("closure", joint=hinge, child="bead", position=(0.9, 0.2, 0))
    model = builder.build()
    assert np.abs(ar.loop_residuals(model, model.q0)).max() < 1e-12
    assert not model.q0[2:7].any() and not model.q0[8:].any()
