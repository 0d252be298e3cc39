"""Friction-implicit steps of flexible bodies: the scheme's own equation with the damping of modes, its order with all
that goes with it, noise on modes, and modes that lock."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import articulon as ar
from articulon.adaptive import Adaptive, Group, Schedule
from articulon.adaptive.coarsening import locked_model
from articulon.dynamics.momenta import momentum
from articulon.forces.evaluation import Evaluator
from articulon.integrate import FrictionImplicit, friction_implicit_scratch
from articulon.model import kernel_tables, workspace
from tests.laws.test_flexible_motion import cantilever, tip
from tests.laws.test_friction_implicit_springs import friction_of
from tests.laws.test_thermostats import drawn
from tests.support.flexible_bodies import random_modes
from tests.support.flexible_models import FlexibleCase
from tests.support.remembering import assert_joined
from tests.support.resisting_models import assert_second_order
from tests.support.running import Running
from tests.support.transition_models import null_space

DAMPING = np.diag([0.4, 0.3, 0.6])
RESISTANCES: dict[str, Any] = {
    "modes": (),
    "drag": (ar.forces.StokesDrag(translational=0.8, rotational=0.3, flow=(0.5, 0.0, -0.4)),),
    "joint damping": (ar.forces.JointDamping(rotational=0.7),),
    "dashpot": (
        ar.forces.PointSpring(
            bodies=("rod", "arm"), points=((0.2, 0.1, 0.0), (0.0, 0.3, 0.1)), stiffness=2.0, damping=1.5
        ),
    ),
}
RESISTANCES["all"] = tuple(force for forces in RESISTANCES.values() for force in forces)


def rod(*forces: Any, damping: np.ndarray = DAMPING) -> Any:
    """A free flexible body that carries a rigid one on one node and a flexible one on another."""
    rng = np.random.default_rng(5)
    shapes = random_modes(rng, nodes=6, modes=3)
    builder = ar.ModelBuilder(units="lj")
    soft = ar.Modes(
        shapes.positions, shapes.masses, 0.2 * np.asarray(shapes.shapes), stiffness=np.diag([4.0, 6.0, 9.0]),
        damping=damping, rotations=shapes.rotations, handle=shapes.handle, largest=1e3,
    )  # fmt: skip
    u = 0.4 * rng.normal(size=(3, 9))
    parent = builder.add_body("rod", joint=ar.Free(), modes=soft, u=u[0])
    builder.add_body(
        "bead", joint=ar.Spherical(), parent=parent, node=(shapes.handle + 2) % 6, mass=1.0, inertia=(0.3, 0.4, 0.5),
        com=(0.2, 0, 0), u=u[1, :3],
    )  # fmt: skip
    hinge = ar.Revolute(axis=(0, 0, 1))
    builder.add_body("arm", joint=hinge, parent=parent, node=(shapes.handle + 3) % 6, modes=soft, u=u[2, :4])
    for force in forces:
        builder.add_force(force)
    return builder.build()


def four_bar(*forces: Any, driven: bool = False) -> Any:
    """A crank, a beam that bends and a rocker on its end, which closes a loop to the ground."""
    hinge, modes = ar.Revolute(axis=(0, 0, 1)), cantilever(bending=(2, 0), bending_stiffness=0.5, damping_ratio=0.05)
    builder = ar.ModelBuilder(units="lj")
    bar = {"joint": hinge, "mass": 1.0, "inertia": 0.05}
    crank = builder.add_body("crank", **bar, com=(0.15, 0, 0), q=1.2, **({} if driven else {"u": 1.2}))
    coupler = builder.add_body("coupler", joint=hinge, modes=modes, parent=crank, position=(0.3, 0, 0), q=-1.0)
    rocker = builder.add_body("rocker", **bar, com=(0.35, 0, 0), parent=coupler, node=tip(modes), q=-1.5)
    builder.add_loop("closure", joint=hinge, child=rocker, child_position=(0.7, 0, 0), position=(1.0, 0, 0))
    if driven:
        builder.add_drive("crank", times=(0.0, 0.2, 0.4, 0.6), values=(1.2, 1.5, 1.9, 2.0))
    for force in forces:
        builder.add_force(force)
    return builder.build()


MODELS = {
    **{name: lambda forces=forces: rod(*forces) for name, forces in RESISTANCES.items()},
    "loop": four_bar,
    "loop and joint damping": lambda: four_bar(ar.forces.JointDamping(rotational=0.4)),
    "loop and dashpot": lambda: four_bar(
        ar.forces.PointSpring(
            bodies=("crank", "rocker"), points=((0.1, 0.2, 0), (0.3, 0.1, 0)), stiffness=1.0, damping=0.8
        )
    ),
    "loop and drag": lambda: four_bar(ar.forces.StokesDrag(translational=0.2, rotational=0.1)),
    "drive": lambda: four_bar(driven=True),
}


@pytest.mark.parametrize("name", MODELS)
def test_halving_the_step_quarters_the_error_of_motion_works_and_books(name: str) -> None:
    assert_second_order(MODELS[name]())


@pytest.mark.parametrize("name", [name for name in MODELS if name != "drive"])
@pytest.mark.parametrize("step", [0.02, 5.0])
def test_resistance_is_the_midpoint_step_of_its_own_equation(name: str, step: float) -> None:
    """Zᵀ(M u' + D (u + h/2 u')) = Zᵀ D·flow with Z a basis of the speeds that loops leave free, by dense algebra: M of
    the deformed bodies, and D u from the forces at the middle speeds, which are linear in them."""
    model, rng = MODELS[name](), np.random.default_rng(3)
    q, u = model.q0.copy(), rng.normal(size=model.nu)
    if not model.loops.kind.size:
        q[7:10] = rng.normal(size=3)
    J = ar.loop_jacobian(model, q) if model.loops.kind.size else np.zeros((0, model.nu))
    Z = null_space(J).T
    u = Z @ (Z.T @ u)
    M, udot = ar.mass_matrix(model, q), friction_of(model, q, u, step)
    gamma = ar.generalized_forces(model, q, u + 0.5 * step * udot, ["damping"])
    size = max(np.abs(M @ udot).max(), np.abs(gamma).max())
    assert np.abs(J @ udot).max(initial=0.0) <= 1e-11 * max(np.abs(udot).max(), 1.0)
    assert np.abs(Z.T @ (M @ udot - gamma)).max() <= 1e-10 * size
    still = gamma - ar.generalized_forces(model, q, u, ["damping"])
    assert np.abs(still).max() > 1e-6 * size, "the middle speeds do nothing"


@pytest.mark.parametrize("factor", [0.0, 0.3])
def test_the_factor_of_damping_scales_that_of_modes(factor: float) -> None:
    q, u = rod().q0, np.random.default_rng(3).normal(size=rod().nu)
    expected = friction_of(rod(damping=factor * DAMPING), q, u, 0.1)
    found = friction_of(rod(), q, u, 0.1, factor)
    if factor:
        np.testing.assert_allclose(found, expected, rtol=1e-11, atol=1e-13)
    else:
        assert np.abs(found).max() < 1e-14


@pytest.mark.parametrize("name", ["modes", "loop"])
def test_a_run_of_flexible_bodies_goes_on_to_the_same_bits(name: str) -> None:
    model, bath = MODELS[name](), ar.thermostats.Langevin(temperature=1.0, friction=1.0)
    common: dict[str, Any] = {"rule": "friction-implicit", "step": 0.002, "thermostat": bath}
    first = ar.simulate(model, 0.1, frames=1, **common)
    assert_joined(ar.simulate(model, 0.2, frames=2, **common), first, ar.resume(first, 0.1, frames=1))


def test_a_damped_mode_decays_by_the_midpoint_factor() -> None:
    """η'⁺/η' = (1 − x)/(1 + x), x = h d/2m, of a mode without stiffness on a body that is held, in steps of a hundred
    relaxation times as well."""
    for ratio in (0.1, 1.0, 100.0):
        shapes = cantilever(bending=(1, 0), bending_stiffness=1e-30)
        mass = float(np.einsum("n,nc,nc->", shapes.masses, *[np.asarray(shapes.shapes)[:, :, 0]] * 2))
        damping, h = 0.7, ratio * mass / 0.7
        modes = ar.Modes(
            shapes.positions, shapes.masses, shapes.shapes, [[1e-30]], damping=[[damping]], rotations=shapes.rotations,
            handle=shapes.handle, largest=1e9,
        )  # fmt: skip
        builder = ar.ModelBuilder(units="lj")
        builder.add_body("beam", joint=ar.Weld(), modes=modes, u=[1.3])
        run = Running(builder.build(), FrictionImplicit(step=h)).to(6 * h)
        assert run.u[0] == pytest.approx(1.3 * ((1.0 - 0.5 * ratio) / (1.0 + 0.5 * ratio)) ** 6, rel=1e-9)
        assert run.work("damping") == pytest.approx(0.5 * mass * (run.u[0] ** 2 - 1.3**2), rel=1e-9)


@pytest.mark.parametrize("seed", range(8))
def test_speeds_are_drawn_with_the_covariance_of_the_inverse_mass_matrix(seed: int) -> None:
    """u = G ξ with GᵀMG = 1 for joints and modes of a random tree. More draws than G has entries leave no other G."""
    c = FlexibleCase(seed)
    forest, M = kernel_tables(c.model).forest, ar.mass_matrix(c.model, c.q)
    arrays = friction_implicit_scratch.scratch(Evaluator(c.model))
    ws, normals, speeds, numbers = workspace(forest), np.empty(c.model.nu), [], []
    for count in range(c.model.nu + 5):
        drawn(forest, c.q, c.u, 11, count, ws, arrays, normals)
        speeds.append(arrays.draw.speeds.copy())
        numbers.append(normals.copy())
    U, Z = np.array(speeds).T, np.array(numbers).T
    G = np.linalg.lstsq(Z.T, U.T, rcond=None)[0].T
    scale = np.linalg.cond(Z) * np.linalg.cond(M) * 1e-15
    assert np.abs(G @ Z - U).max() <= 10.0 * scale * np.abs(U).max()
    assert np.abs(G.T @ M @ G - np.eye(c.model.nu)).max() <= 100.0 * scale


@pytest.mark.slow
@pytest.mark.parametrize("bath", ["langevin", "brownian"])
def test_modes_are_as_warm_as_the_bath(bath: str) -> None:
    """⟨½ k η²⟩ of 200 beams' modes is kT/2, by Langevin's thermostat, which BAOAB samples exactly at any step of an
    oscillator, and by Brownian forces on a ball at the tip, whose drag is what the modes lose heat by."""
    kT, stiffness, step = 1.5, 4.0, 0.05
    shapes = cantilever(bending=(1, 0))
    modes = ar.Modes(
        shapes.positions, shapes.masses, shapes.shapes, [[stiffness]], rotations=shapes.rotations, handle=shapes.handle,
        largest=1e3,
    )  # fmt: skip
    builder, balls = ar.ModelBuilder(units="lj"), {}
    for k in range(200):
        beam = builder.add_body(f"beam{k}", joint=ar.Weld(), modes=modes, position=(0.0, 3.0 * k, 0.0))
        builder.add_body(f"ball{k}", joint=ar.Weld(), parent=beam, node=tip(modes), mass=0.3, inertia=0.01)
        balls |= {f"beam{k}": 0.0, f"ball{k}": 1.0}
    options: dict[str, Any] = {}
    if bath == "langevin":
        options["thermostat"] = ar.thermostats.Langevin(temperature=kT, friction=1.0)
    else:
        builder.add_force(
            ar.forces.StokesDrag(translational=balls, rotational={name: 0.1 * drag for name, drag in balls.items()})
        )
        builder.add_force(ar.forces.Brownian(temperature=kT, window=step))
    run = ar.simulate(builder.build(), 160.0, rule="friction-implicit", step=step, frames=40, **options)
    means = 0.5 * stiffness * (run.q[8:] ** 2).mean(axis=0)
    error = means.std(ddof=1) / math.sqrt(means.size)
    assert error < 0.02 * kT
    assert means.mean() == pytest.approx(0.5 * kT, abs=4.0 * error)


def test_locked_modes_and_joints_move_as_those_of_the_model_without_them() -> None:
    """Two modes and a joint that are at rest lock at the start and nothing else changes: the run is that of the coarse
    model, and after the release, which gives them no energy, momentum is still that of the start, to second order."""
    model = rod(*RESISTANCES["joint damping"])
    u = model.u0.copy()
    first = int(model.forest.u_start[model.link[model.body("bead")]])
    locked = np.zeros(model.nu, dtype=bool)
    locked[[6, 8, first, first + 1, first + 2]] = True
    u[locked] = 0.0
    away, back = Schedule(times=(0.0,)), Schedule(times=(0.2,))
    groups = (
        Group(bodies=("rod",), modes=(1, 3), lock=away, release=back),
        Group(bodies=("bead",), lock=away, release=back),
    )
    common: dict[str, Any] = {"rule": "friction-implicit", "step": 0.002}
    plan = Adaptive(every=0.1, groups=groups)
    run = ar.simulate(model, 0.4, adaptive=plan, u=u, frames=4, **common)
    coarse, _ = locked_model(model, model.q0, locked)
    alone = ar.simulate(coarse, 0.1, u=u[~locked], frames=1, **common)
    assert not run.u[1][locked].any() and run.u[-1].all()
    np.testing.assert_allclose(run.u[1][~locked], alone.u[-1], rtol=0, atol=1e-12)
    errors = []
    for one in (ar.simulate(model, 0.4, adaptive=plan, u=u, frames=4, rule="friction-implicit", step=0.004), run):
        momenta = [momentum(model, q, u)[:6] for q, u in zip(one.q, one.u, strict=True)]
        errors.append(max(np.abs(now - momenta[0]).max() for now in momenta))
    assert math.log2(errors[0] / errors[1]) == pytest.approx(2.0, abs=0.1)


@pytest.mark.parametrize("rule", ["canonical", "geodesic"])
def test_rules_of_canonical_momenta_take_rigid_bodies(rule: str) -> None:
    options: dict[str, Any] = (
        {"rule": "verlet"} if rule == "canonical" else {"rule": "friction-implicit", "drift": rule}
    )
    with pytest.raises(
        ar.CaseError, match=r"integrator.rule: .*available for rigid bodies only, and body 'rod' is flexible"
    ):
        ar.simulate(rod(), 0.1, step=0.01, **options)
