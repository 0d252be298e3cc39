"""Friction-implicit steps of closed mechanisms and driven joints: order, constraints, books, and temperature."""

from __future__ import annotations

import math
from functools import cache
from typing import Any

import numpy as np
import pytest

import articulon as ar
from articulon.dynamics.kinematics import place
from articulon.dynamics.loops.constrained_articulated import at_rest
from articulon.dynamics.loops.loop_jacobians import loop_equations
from articulon.dynamics.loops.loop_passes import factoring, responding
from articulon.dynamics.momentum_sampling import draw_arrays, draw_speeds
from articulon.dynamics.motion_passes import move_links
from articulon.forces.evaluation import Evaluator
from articulon.integrate import Explicit, FrictionImplicit
from articulon.integrate.choice import driver
from articulon.integrate.friction_implicit_loops import project_speeds
from articulon.integrate.problem import Problem
from articulon.integrate.status import DIVERGED
from articulon.kernels import kernel
from articulon.model import State, kernel_tables
from articulon.model.state import EXTERNAL, STEPS
from articulon.passes import Program
from articulon.rng import normal_pair
from tests.support.loop_models import FourBar, add_loops, bricard
from tests.support.random_models import builder_of
from tests.support.running import Running

DRAG = {"translational": 0.5, "rotational": 0.2, "flow": (0.0, 0.3, 0.0)}
HALF = math.sqrt(0.5)


def ring(driven: bool = False, drag: dict[str, Any] | None = None, noise: float = 0.0, weight: float = 1.0) -> Any:
    """A free ring of five bodies on hinges and ball joints, closed by a ball joint; ``driven`` has a crank on it."""
    builder = ar.ModelBuilder("lj")
    hexagon = (math.cos(math.pi / 6), 0.0, 0.0, math.sin(math.pi / 6))
    inertia = {"inertia": (0.2, 0.3, 0.35), "com": (0.5, 0.1, -0.05)}
    builder.add_body("0", joint=ar.Free(), mass=2.0, **inertia, u=(0.1, 0.2, 0.3, 0.5, -0.4, 0.3))
    joints = [ar.Revolute(axis=(0.3, 0.4, 0.866)), ar.Spherical(), ar.Universal(), ar.Spherical()]
    for k, joint in enumerate(joints):
        given = {"u": 0.6} if k == 0 else {}
        at = {"position": (1.0, 0.0, 0.0), "rotation": hexagon}
        builder.add_body(str(k + 1), parent=str(k), joint=joint, mass=1.0 + 0.2 * k, **inertia, **at, **given)
    # Five sides of a hexagon leave the sixth: the first body reaches back to the end of the last.
    builder.add_loop("ring", joint=ar.Spherical(), parent="0", child="4", position=(-0.5, HALF**2 * 3**0.5, 0.0),
                     child_position=(1.0, 0.0, 0.0))  # fmt: skip
    if driven:
        hinge = ar.Revolute(axis=(0.0, 1.0, 0.0))
        builder.add_body("crank", parent="0", joint=hinge, mass=0.5, **inertia, position=(0.0, 0.5, 0.0))
        builder.add_drive("crank", times=(0.0, 1.0, 2.0, 3.0), values=(0.0, 0.7, 0.2, 0.0))
    if drag:
        builder.add_force(ar.forces.StokesDrag(**drag))
    if noise:
        builder.add_force(ar.forces.Brownian(temperature=noise))
    if weight:
        builder.add_force(ar.forces.Gravity(acceleration=(0.0, 0.0, -weight)))
        spring = {"points": ((0.3, 0.2, 0.1), (1.0, 0.0, 0.0)), "stiffness": 2.0}
        builder.add_force(ar.forces.PointSpring(bodies=("ground", "2"), **spring))
    return builder.build()


def linkage(mechanism: Any, q: np.ndarray | None = None, forces: tuple[Any, ...] = ()) -> Any:
    builder = builder_of(mechanism.forest, q, None)
    add_loops(builder, mechanism)
    for force in forces:
        builder.add_force(force)
    return builder.build()


def four_bar(*forces: Any) -> Any:
    return linkage(FourBar().mechanism(), FourBar().coordinates(1.0), forces)


FALLING = ar.forces.Gravity(acceleration=(0.0, -9.81, 0.0))
MODELS = {
    "ring": lambda: ring(drag=DRAG),
    "ring without drag": ring,
    "driven": lambda: ring(driven=True, drag=DRAG),
    "four-bar": lambda: four_bar(FALLING, ar.forces.StokesDrag(translational=0.3, rotational=0.1)),
    "bricard": lambda: linkage(bricard(), None, (ar.forces.Gravity(acceleration=(0.0, -0.5, 0.0)),)),
}


@cache
def model_of(name: str) -> Any:
    return MODELS[name]()


def variables(run: Running) -> np.ndarray:
    return np.concatenate([run.q, run.u, run.state.work])


@cache
def exact(name: str) -> np.ndarray:
    return variables(Running(model_of(name), Explicit(rule="dormand-prince", rtol=1e-11, atol=1e-12)).to(0.5))


def off(run: Running) -> tuple[float, float]:
    """The largest error of a row and of its rate."""
    found = loop_equations(run.model, run.q, run.u, float(run.state.time[0]))
    return float(np.abs(found.residual).max()), float(np.abs(found.rate).max())


@pytest.mark.slow
@pytest.mark.parametrize("drift", ["steady", "geodesic"])
@pytest.mark.parametrize("name", MODELS)
def test_halving_the_step_quarters_the_error_of_motion_and_works(name: str, drift: str) -> None:
    errors = []
    for steps in (100, 200):
        run = Running(model_of(name), FrictionImplicit(step=0.5 / steps, drift=drift)).to(0.5)
        errors.append(float(np.linalg.norm(variables(run) - exact(name))))
        placed, moved = off(run)
        assert placed < 1e-12
        assert moved < 1e-11
    assert errors[-1] > 1e-9, "rounding hides the order"
    assert math.log2(errors[0] / errors[1]) == pytest.approx(2.0, abs=0.1)


@pytest.mark.parametrize("name", ["ring", "driven", "four-bar"])
def test_the_books_close_to_second_order(name: str) -> None:
    """The works are exact where positions stand still; drifts keep the energy of the motion to second order."""
    errors = []
    for steps in (50, 100):
        run = Running(model_of(name), FrictionImplicit(step=0.5 / steps)).to(0.5)
        errors.append(abs(run.imbalance()))
    assert errors[1] < 2e-3 * abs(run.state.work).max()
    assert errors[1] < 0.3 * errors[0]


def test_drives_do_the_work_that_explicit_rules_find() -> None:
    model = model_of("driven")
    index = model.nq + model.nu + EXTERNAL
    run = Running(model, FrictionImplicit(step=0.001)).to(0.5)
    weights = float(run.energies()[EXTERNAL] - run.start_energies[EXTERNAL])
    driven = variables(run)[index] + weights
    assert abs(driven) > 0.01, "the drive does nothing"
    assert driven == pytest.approx(exact("driven")[index] + weights, abs=1e-4 * abs(driven))


def test_a_flow_carries_a_closed_ring_in_steps_far_above_its_relaxation() -> None:
    """β h/m is 20 to 40, where explicit rules are stable below 2.8."""
    beta, step, speed = 2000.0, 0.02, 0.5
    model = ring(drag={"translational": beta, "rotational": beta, "flow": (0.0, 0.0, speed)}, weight=0.0)
    assert step * beta / model.masses.max() >= 20.0
    still = np.zeros(model.nu)
    run = ar.simulate(model, 2.0, rule="friction-implicit", step=step, frames=4, u=still)
    moved = run.positions[1:, :, 2] - run.positions[0, :, 2]
    np.testing.assert_allclose(moved.mean(axis=1), speed * run.times[1:], rtol=0.02)
    assert np.abs(ar.loop_residuals(model, run.q[-1])).max() < 1e-12


@kernel
def drawn(forest, loops, q, seed, count, ws, arrays, draw, speeds, normals, work, moving, factoring, responding):
    """Speeds that the loops leave free, drawn at q; what they were drawn from is left in ``normals``."""
    place(forest, q, ws, 0, forest.mass.size)
    draw_speeds(forest, seed, 2, count, 1.0, at_rest(ws, arrays), draw)
    for k in range(speeds.size):
        speeds[k] = draw.speeds[k]
        normals[k], _ = normal_pair(seed, 2, count, k)
    project_speeds(loops, speeds, ws, arrays, work, moving, factoring, responding)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["ring", "four-bar", "bricard"])
def test_noise_has_the_covariance_of_the_speeds_that_loops_leave_free(name: str) -> None:
    """G Gᵀ = Z (ZᵀMZ)⁻¹ Zᵀ of the speeds G ξ, with Z a basis of the null space of J."""
    model = model_of(name)
    q = model.q0
    M, J = ar.mass_matrix(model, q), ar.loop_jacobian(model, q)
    _, sizes, rows = np.linalg.svd(J)
    Z = rows[(sizes > 1e-6).sum() :].T
    assert Z.shape[1] == model.degrees_of_freedom
    expected = Z @ np.linalg.inv(Z.T @ M @ Z) @ Z.T
    e = Evaluator(model)
    speeds, normals, work = np.zeros(model.nu), np.zeros(model.nu), np.zeros(8)
    columns, numbers = [], []
    tables, arrays = kernel_tables(model), e.solver.loops
    programs = (
        Program([move_links.bind(tables.forest, speeds, e.ws)]),
        factoring(tables.forest, tables.loops, e.ws, arrays),
        responding(tables.forest, e.ws, arrays),
    )
    codes = [program.code for program in programs]
    for count in range(model.nu + 5):
        drawn(tables.forest, tables.loops, q, 11, count, e.ws, arrays, draw_arrays(model.nu), speeds, normals, work,
              *codes)  # fmt: skip
        columns.append(speeds.copy())
        numbers.append(normals.copy())
    G = np.linalg.lstsq(np.array(numbers), np.array(columns), rcond=None)[0].T
    np.testing.assert_allclose(G @ G.T, expected, rtol=0, atol=1e-9 * np.abs(expected).max())


def kinetic_means(model: Any, duration: float, step: float, frames: int, **options: Any) -> tuple[float, float]:
    """2K/(N kT) at kT = 1, averaged over a run but for its start, and its standard error by blocks."""
    run = ar.simulate(model, duration, rule="friction-implicit", step=step, frames=frames, **options)
    twice = 2.0 * run.kinetic_energy[frames // 20 :] / model.degrees_of_freedom
    blocks = np.array([block.mean() for block in np.array_split(twice, 40)])
    return float(twice.mean()), float(blocks.std(ddof=1) / math.sqrt(blocks.size))


THERMOSTATS = {
    "langevin": lambda: ar.thermostats.Langevin(temperature=1.0, friction=2.0),
    "rescaling": lambda: ar.thermostats.StochasticVelocityRescaling(temperature=1.0, time=0.2),
    "chain": lambda: ar.thermostats.NoseHooverChain(temperature=1.0, period=1.0),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", [*THERMOSTATS, "noise"])
def test_a_closed_ring_has_the_temperature_of_its_free_degrees_of_freedom(name: str) -> None:
    """Counted with those that the loop takes, 18 instead of 15, it would have 6/5 or 5/6 of it."""
    model = ring(weight=0.0, drag={"translational": 2.0, "rotational": 1.0} if name == "noise" else None,
                 noise=1.0 if name == "noise" else 0.0)  # fmt: skip
    options = {} if name == "noise" else {"thermostat": THERMOSTATS[name]()}
    assert model.degrees_of_freedom == model.nu - 3
    mean, error = kinetic_means(model, 400.0, 0.05, 2000, seed=4, **options)
    assert error < 0.02
    assert mean == pytest.approx(1.0, abs=4.0 * error + 0.01)


def test_langevin_keeps_what_a_drive_carries_at_its_temperature() -> None:
    """Rods that hang at their centres on a crank that turns as it is told feel nothing of it: their momenta ∂T/∂u are
    those of thermal motion in a bath at rest, N(0, kT M). The crank turns on, and the works of the drive and of the
    bath make up for the change of the energy."""
    rods, kT, rate = 100, 1.5, 2.0
    builder = ar.ModelBuilder("lj")
    hinge = ar.Revolute(axis=(0.0, 0.0, 1.0))
    crank = builder.add_body("crank", mass=3.0, inertia=2.0, joint=hinge, u=rate)
    rng = np.random.default_rng(2)
    for k in range(rods):
        at = (*rng.uniform(-1.0, 1.0, 2), 0.0)
        builder.add_body(f"rod{k}", parent=crank, mass=1.0, inertia=0.2, joint=hinge, position=at)
    builder.add_drive("crank", times=(0.0, 20.0, 40.0, 60.0), values=(0.0, 20.0 * rate, 40.0 * rate, 60.0 * rate))
    model = builder.build()
    bath = ar.thermostats.Langevin(temperature=kT, friction=2.0)
    run = ar.simulate(model, 40.0, rule="friction-implicit", step=0.02, frames=40, thermostat=bath)
    np.testing.assert_allclose(run.q[:, 0], rate * run.times, atol=1e-9)
    squares = [
        (M @ u)[1:] ** 2 / (kT * np.diag(M)[1:])
        for M, u in ((ar.mass_matrix(model, q), u) for q, u in zip(run.q[4:], run.u[4:], strict=True))
    ]
    # Momenta have forgotten e⁻² between frames, and their squares e⁻⁴.
    error = math.sqrt(2.0 / np.size(squares)) * 1.05
    assert np.mean(squares) == pytest.approx(1.0, abs=4.0 * error)
    assert error < 0.03
    # What turns about its own centre keeps its energy in a drift, so that the works close to rounding.
    total = run.kinetic_energy[-1] - run.kinetic_energy[0]
    assert run.works[-1].sum() == pytest.approx(total, abs=1e-11 * np.abs(run.works[-1]).max())


@pytest.mark.slow
def test_langevin_puts_a_crank_where_the_mass_of_its_loop_says() -> None:
    """A four-bar linkage on which nothing acts has the density √M(φ) of its crank's angle φ, with M = zᵀMz the mass
    that it has with the loop and z the speeds at φ' = 1. That is no uniform one: ⟨cos φ⟩ is 0.087."""
    bar = FourBar(ground=1.0, crank=0.5, coupler=1.0, rocker=0.55)
    model = linkage(bar.mechanism(), bar.coordinates(1.0))
    angles = np.linspace(0.0, 2.0 * np.pi, 240, endpoint=False)
    root = []
    for angle in angles:
        q = bar.coordinates(float(angle))
        z = np.linalg.svd(ar.loop_jacobian(model, q))[2][-1]
        root.append(math.sqrt(z @ ar.mass_matrix(model, q) @ z) / abs(z[0]))
    expected = float(np.cos(angles) @ root / np.sum(root))
    bath = ar.thermostats.Langevin(temperature=1.0 / model.units.boltzmann, friction=1.0)
    run = ar.simulate(model, 3000.0, rule="friction-implicit", step=0.05, frames=12000, thermostat=bath, seed=2)
    series = np.cos(run.q[100:, 0])
    blocks = np.array([block.mean() for block in np.array_split(series, 50)])
    error = float(blocks.std(ddof=1) / math.sqrt(blocks.size))
    assert 5.0 * error < expected
    assert series.mean() == pytest.approx(expected, abs=4.0 * error)


def test_a_step_in_which_a_mechanism_turns_far_ends_on_its_loops() -> None:
    """The impulse of a drift converges by the angle that the loops turn: here it takes more than sixty iterations."""
    bar = FourBar(ground=1.0, crank=0.5, coupler=1.0, rocker=0.55)
    model = linkage(bar.mechanism(), bar.coordinates(1.0))
    u = -8.4 * ar.close_loops(model, model.q0, np.ones(model.nu))[1]
    run = ar.simulate(model, 0.05, rule="friction-implicit", step=0.05, frames=1, u=u)
    assert -1.2 < run.q[-1, 0] - run.q[0, 0] < -0.6
    assert np.abs(ar.loop_residuals(model, run.q[-1])).max() < 1e-9


@pytest.mark.parametrize("name", ["driven", "ring"])
def test_a_closed_run_goes_on_to_the_same_bits(name: str) -> None:
    model, bath = model_of(name), None if name == "driven" else THERMOSTATS["langevin"]()

    def made() -> tuple[State, Any]:
        evaluator = Evaluator(model, 3, thermostat=bath)
        state = evaluator.initial_state()
        return state, driver(Problem(evaluator, FrictionImplicit(step=0.01)), state)

    whole, going = made()
    going.advance(whole, 0.2, 1000)
    half, going = made()
    going.advance(half, 0.2, 7)
    assert half.counters[STEPS] == 7
    _, going = made()
    going.advance(half, 0.2, 1000)
    for a, b in zip(whole.arrays().values(), half.arrays().values(), strict=True):
        np.testing.assert_array_equal(a, b)


def test_a_loop_that_a_step_takes_out_of_reach_ends_the_run_with_what_to_do() -> None:
    model = four_bar()
    evaluator = Evaluator(model)
    state = evaluator.initial_state()
    state.u[:] = 50.0 * ar.close_loops(model, model.q0, np.ones(model.nu))[1]
    going = driver(Problem(evaluator, FrictionImplicit(step=0.1)), state)
    assert going.advance(state, 1.0, 1000) == DIVERGED
    assert going.failure is not None
    assert "steps of 0.1 may be too long, or loop 'closure' cannot be closed after the next step" in going.failure


def test_noise_of_the_instantaneous_temperature_counts_what_loops_leave_free() -> None:
    """The size of the forces against those of the bath's temperature is √(2K/(N kT)), with N free speeds."""
    found = []
    for amplitude in ("bath", "instantaneous"):
        builder = builder_of(FourBar().mechanism().forest, FourBar().coordinates(1.0), None)
        add_loops(builder, FourBar().mechanism())
        builder.add_force(ar.forces.StokesDrag(translational=0.3, rotational=0.1))
        builder.add_force(ar.forces.Brownian(temperature=300.0, amplitude_from=amplitude))
        model = builder.build()
        u = ar.close_loops(model, model.q0, np.ones(model.nu))[1]
        found.append(ar.generalized_forces(model, model.q0, u, channels=["stochastic"]))
    assert model.degrees_of_freedom == 1
    expected = math.sqrt(2.0 * ar.kinetic_energy(model, model.q0, u) / (model.units.boltzmann * 300.0))
    np.testing.assert_allclose(found[1], expected * found[0], rtol=1e-12)
