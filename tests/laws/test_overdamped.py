"""Brownian dynamics of articulated bodies against exact results: free diffusion, equilibria by quadrature, and the
limit of vanishing mass. Statistical bounds are five standard errors."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numba
import numpy as np
import pytest

import articulon as ar
from articulon.dynamics.armatures import without_armature
from articulon.dynamics.multibody_functions import moved
from articulon.integrate import BrownianDynamics, Explicit, FrictionImplicit
from articulon.scaling import Constant
from tests.support.chains import Chain, mean_and_error
from tests.support.docking import CORE_DRAG, small_docking
from tests.support.remembering import assert_same_state
from tests.support.running import Running, body_axes

SIGMAS = 5.0
KT = 1.3
EPS = float(np.finfo(float).eps)
DRAG, TURNING = 2.0, 0.7


def spheres(count: int, com: tuple[float, float, float] = (0.0, 0.0, 0.0)) -> Any:
    builder = ar.ModelBuilder(units="lj")
    builder.add_bodies(count, mass=1.5, inertia=0.3, com=com, joint=ar.Free())
    builder.add_force(ar.forces.StokesDrag(translational=DRAG, rotational=TURNING))
    builder.add_force(ar.forces.Brownian(temperature=KT))
    return builder.build()


def test_free_spheres_diffuse_exactly_in_place_and_turn_as_the_steps_say() -> None:
    """⟨Δx²⟩ = 2 D n h; each step turns by a Gaussian rotation vector of variance s² = 2 D_r h a component, which keeps
    (1 + 2 (1 − s²) e^{−s²/2})/3 of an axis: e^{−2 D_r h} but for s⁴/12."""
    count, h, steps = 4000, 0.05, 12
    run = Running(spheres(count), BrownianDynamics(step=h), seed=4, window=h)
    for n in (1, steps):
        run.to(n * h)
        q = run.q.reshape(count, 7)
        assert abs((q[:, :3] ** 2).mean() / (2.0 * KT / DRAG * n * h) - 1.0) < SIGMAS * np.sqrt(2.0 / (3 * count))
        s2 = 2.0 * KT / TURNING * h
        kept = ((1.0 + 2.0 * (1.0 - s2) * np.exp(-0.5 * s2)) / 3.0) ** n
        assert kept == pytest.approx(np.exp(-2.0 * KT / TURNING * n * h), abs=n * s2**2 / 10.0)
        cosines = np.trace(body_axes(q[:, 3:]), axis1=-2, axis2=-1) / 3.0
        assert abs(cosines.mean() - kept) < SIGMAS * cosines.std() / np.sqrt(count)


@pytest.mark.slow
def test_a_body_diffuses_by_its_centre_wherever_its_origin_is() -> None:
    """Coordinates of an origin off the centre of drag have a mobility that turns with the body. Without the drift that
    the midpoint brings, kT ∇·μ, the centre would be drawn along the body: by 2 kT/β_ω times its distance in each unit
    of time, ten times the bound here."""
    count, h, steps, arm = 6000, 0.01, 20, np.array([0.4, 0.1, -0.3])
    run = Running(spheres(count, tuple(arm)), BrownianDynamics(step=h), seed=5, window=h).to(steps * h)
    q, t = run.q.reshape(count, 7), steps * h
    centre = q[:, :3] + body_axes(q[:, 3:]) @ arm
    width = np.sqrt(2.0 * KT / DRAG * t)
    assert 2.0 * KT / TURNING * np.linalg.norm(arm) * t > 10.0 * SIGMAS * width / np.sqrt(count)
    assert np.abs(centre.mean(axis=0) - arm).max() < SIGMAS * width / np.sqrt(count)
    variance = ((centre - arm) ** 2).mean() / width**2
    # Within a step the centre moves on an arc: its way is longer by a weak error of order h.
    assert abs(variance - 1.0) < SIGMAS * np.sqrt(2.0 / (3 * count)) + KT / TURNING * h


@pytest.mark.slow
@pytest.mark.parametrize("fixman", [False, True], ids=["as-inertia-would", "flat"])
@pytest.mark.parametrize("spherical", [False, True], ids=["revolute", "spherical"])
def test_chains_reach_the_equilibrium_of_bodies_with_inertia(spherical: bool, fixman: bool) -> None:
    """⟨½ k φ²⟩ of every joint under √det M e^{−U/kT} by quadrature, and under e^{−U/kT} with Fixman's potential, where
    that of a hinge is ½ kT. In chains of hinges the two differ by more than seven errors."""
    chain, samples = Chain(spherical, links=2 if spherical else 3, kT=1.3, stiffness=2.0), 16
    count = 700 if spherical else 1500
    model = chain.forest(count, fixman=fixman)
    slowest, fastest = rates(chain)
    h, between = (0.03 if spherical else 0.12) / fastest, 0.5 / slowest
    rng = np.random.default_rng(7)
    q, _ = chain.draw(count, rng)
    run = Running(model, BrownianDynamics(step=h), seed=8, window=h, q=q)
    every = max(1, round(between / h))
    found = np.array([chain.spring_energies(run.to((k + 1) * every * h).q) for k in range(samples)])
    mean, error = mean_and_error(found[samples // 4 :])
    expected = chain.mean_spring_energies()
    flat = np.full(chain.links, 0.5 if not spherical else expected[0])
    if fixman:
        expected, flat = flat, expected
    assert (error < 0.02 * expected).all(), "too few chains"
    assert spherical or (np.abs(flat - expected) / error).max() > 1.4 * SIGMAS, "the chain cannot tell"
    # The rule's own error: for a harmonic spring (h k/ζ)²/4 of its energy; for one that turns a ball it is of order
    # h, 0.4 h k/ζ as measured with steps four times as long.
    own = 0.012 if spherical else 2e-3
    assert (np.abs(mean - expected) < SIGMAS * error + own).all()


def rates(chain: Chain) -> tuple[float, float]:
    """Slowest and fastest rate of relaxation of the straight chain, eigenvalues of ζ⁻¹ K."""
    model = chain.forest(1, noise=False)
    zeta = -np.array([ar.generalized_forces(model, model.q0, u, ["damping"]) for u in np.eye(model.nu)])
    found = np.linalg.eigvals(np.linalg.inv(zeta)).real * chain.stiffness * chain.kT
    return float(found.min()), float(found.max())


@numba.njit
def constant_wrench(time, positions, rotations, velocities, parameters, wrenches):  # type: ignore[no-untyped-def]
    for k in range(positions.shape[0]):
        for i in range(6):
            wrenches[k, i] += parameters[i]


def pulled_chain(mass: float, turned: float = 0.4) -> Any:
    """Three bodies on joints of several kinds, none symmetric, under springs, a flow and the same force on each,
    whatever their mass."""
    rng = np.random.default_rng(71)
    builder = ar.ModelBuilder(units="lj")
    joints = (ar.Free(), ar.Revolute(axis=(1.0, 0.5, 0.0)), ar.Spherical(), ar.Universal())
    parent = None
    for k, joint in enumerate(joints):
        parent = builder.add_body(
            f"link-{k}",
            parent=parent,
            joint=joint,
            mass=mass * (1.0 + 0.2 * k),
            inertia=mass * np.array((0.1, 0.15, 0.2)),
            com=0.3 * rng.normal(size=3),
            position=(0.0, 0.0, -1.0 if k else 0.0),
            q={"Revolute": [turned], "Universal": [turned, -turned]}.get(type(joint).__name__),
        )
    builder.add_force(ar.forces.TorsionalSprings(stiffness={"link-1": 2.0, "link-2": 1.5}))
    builder.add_force(ar.forces.UserForce(function=constant_wrench, parameters=(0.5, 0.1, -0.8, 0.1, 0.2, -0.1)))
    builder.add_force(ar.forces.StokesDrag(translational=1.0, rotational=0.3, flow=(0.0, 0.5, 0.0)))
    return builder.build()


def test_the_mean_force_of_thermal_speeds_counts_armatures() -> None:
    """½ kT ∂ ln det (M + diag(a)) at the coordinates where the step has last evaluated it, by fourth-order differences
    of the dense determinant, for joints of several kinds."""
    model = replace(pulled_chain(1.0), forces=(*pulled_chain(1.0).forces, ar.forces.Brownian(temperature=KT)))
    model = replace(model, armature=np.random.default_rng(3).uniform(0.0, 0.5, model.nu))
    run, h = Running(model, BrownianDynamics(step=1e-3), seed=2, window=1e-3), 1e-3
    run.to(1e-3)
    scratch = run.driver.scratch

    def slope(k: int, armature: np.ndarray) -> float:
        def at(way: float) -> float:
            q = moved(model, scratch.middle, way * np.eye(model.nu)[k])
            return float(np.linalg.slogdet(ar.mass_matrix(without_armature(model), q) + np.diag(armature))[1])

        return 0.5 * KT * (8.0 * (at(h) - at(-h)) - (at(2 * h) - at(-2 * h))) / (12.0 * h)

    found = [slope(k, model.armature) for k in range(model.nu)]
    assert scratch.metric == pytest.approx(found, abs=1e-9)
    assert np.abs(scratch.metric - [slope(k, np.zeros(model.nu)) for k in range(model.nu)]).max() > 0.01


def test_errors_are_of_second_order_without_noise() -> None:
    model, until = pulled_chain(1.0), 1.0
    exact = Running(model, BrownianDynamics(step=until / 4000)).to(until)
    errors = [
        float(np.linalg.norm(Running(model, BrownianDynamics(step=until / n)).to(until).q - exact.q))
        for n in (100, 200)
    ]
    assert errors[-1] > 1e-9, "rounding hides the order"
    assert np.log2(errors[0] / errors[1]) == pytest.approx(2.0, abs=0.1)


def test_motion_with_inertia_becomes_overdamped_as_mass_vanishes() -> None:
    """The difference is of first order in the mass."""
    until = 1.0
    overdamped = Running(pulled_chain(1.0), BrownianDynamics(step=until / 1000)).to(until)
    left = []
    for mass in (4e-3, 2e-3):
        inertial = Running(pulled_chain(mass), Explicit(rule="dormand-prince", rtol=1e-8, atol=1e-9)).to(until)
        left.append(float(np.linalg.norm(inertial.q - overdamped.q)))
    assert np.log2(left[0] / left[1]) == pytest.approx(1.0, abs=0.1)


def test_the_docking_particle_drifts_as_it_does_with_inertia() -> None:
    """Without noise, from rest, under a constant force in a flow: inertia costs once the way v τ, τ = m/β of the core,
    and the drift is the same afterwards."""
    pull = ar.forces.UserForce(function=constant_wrench, parameters=(0.05, 0.0, -0.1, 0.0, 0.0, 0.0))
    model, until, step = small_docking(noise=False, pull=pull), 0.05, 8e-6
    runs = [Running(model, rule(step=step)) for rule in (FrictionImplicit, BrownianDynamics)]
    late = [runs[1].to(t).q[:3] - runs[0].to(t).q[:3] for t in (0.5 * until, until)]
    velocity, relaxation = (runs[1].q[:3] - model.q0[:3]) / until, 10.72 / CORE_DRAG
    speed = np.linalg.norm(velocity)
    assert until > 10.0 * relaxation
    assert np.abs(late[0] - velocity * relaxation).max() < 0.03 * speed * relaxation
    assert np.abs(late[1] - late[0]).max() < 1e-3 * speed * until / 2.0


@pytest.mark.parametrize("noise", [False, True])
def test_works_add_up_to_nothing_and_pay_for_the_energy(noise: bool) -> None:
    """ΣW = 0 to rounding, as there is no kinetic energy; −W of the conservative channels is the change of their energy
    functions, to the order of the steps."""
    chain = Chain(True, links=3, kT=1.3, stiffness=2.0)
    model = chain.forest(20, noise=noise)
    _, fastest = rates(chain)
    q, _ = chain.draw(20, np.random.default_rng(9))
    errors = []
    for h in (0.04 / fastest, 0.01 / fastest):
        run = Running(model, BrownianDynamics(step=h), seed=10, window=h, q=q).to(8.0 / fastest)
        works = np.abs(run.state.work)
        assert works.max() > 5.0 * chain.kT
        assert abs(run.state.work.sum()) <= run.steps * 10 * EPS * works.max()
        errors.append(abs(run.work("conformational") + (run.energies() - run.start_energies).sum()) / works.max())
    # Of order 2 without noise, of order 1 with it.
    assert errors[1] < (0.25 if not noise else 0.6) * errors[0]
    assert errors[1] < 0.02


def test_all_of_a_run_is_in_its_state() -> None:
    """Going on from a state in another driver gives the bits of an unbroken run."""
    h, model = 8e-6, small_docking()
    whole = Running(model, BrownianDynamics(step=h), seed=3, window=h).to(40 * h)
    first = Running(model, BrownianDynamics(step=h), seed=3, window=h).to(17 * h)
    second = Running(model, BrownianDynamics(step=h), seed=3, window=h)
    second.state.take(first.state)
    second.to(40 * h)
    assert_same_state(second.state, whole.state)
    assert np.abs(whole.q[:3] - model.q0[:3]).max() > 0.0


def test_scaling_all_forces_alike_changes_nothing() -> None:
    """a2 on drag, potential and noise falls out of ζ u = Γ + noise."""
    h, model = 8e-6, small_docking()
    runs = [
        Running(model, BrownianDynamics(step=h), seed=3, window=h, policy=policy).to(50 * h)
        for policy in (None, Constant(a2=0.01))
    ]
    moved = np.abs(runs[0].q - model.q0).max()
    assert np.abs(runs[1].q - runs[0].q).max() < 1e-9 * moved


def test_the_noise_is_that_of_the_inertial_rules() -> None:
    """Pairs of runs share a noise path: a sphere's centre follows, and with little mass it is the same path."""
    h, steps = 0.02, 50
    model = spheres(50)
    overdamped = Running(model, BrownianDynamics(step=h), seed=6, window=h).to(steps * h)
    light = ar.ModelBuilder(units="lj")
    light.add_bodies(50, mass=1e-4, inertia=0.3, joint=ar.Free())
    light.add_force(ar.forces.StokesDrag(translational=DRAG, rotational=TURNING))
    light.add_force(ar.forces.Brownian(temperature=KT))
    inertial = Running(light.build(), FrictionImplicit(step=h), seed=6, window=h).to(steps * h)
    places = [run.q.reshape(-1, 7)[:, :3] for run in (overdamped, inertial)]
    assert np.corrcoef(places[0].ravel(), places[1].ravel())[0, 1] > 0.98


def refused(model: Any, what: str, **options: Any) -> None:
    with pytest.raises(ar.CaseError, match=what):
        ar.simulate(model, 1.0, rule="overdamped", step=0.1, frames=1, **options)


def test_what_has_no_overdamped_motion_is_refused_by_name() -> None:
    def arm(**drag: Any) -> Any:
        builder = ar.ModelBuilder(units="lj")
        builder.add_body("arm", mass=1.0, inertia=1.0, joint=ar.Revolute())
        builder.add_body("hand", parent="arm", mass=1.0, inertia=1.0, joint=ar.Revolute(), position=(1.0, 0.0, 0.0))
        if drag:
            builder.add_force(ar.forces.StokesDrag(**drag))
        return builder

    refused(arm().build(), "body 'arm' has no translational drag")
    refused(arm(translational=1.0, bodies=("arm",)).build(), "body 'hand' has no translational drag")
    refused(arm(translational=1.0).build(), "joint of body 'hand' .* without drag")
    rubbed = arm(translational=1.0, rotational=1.0)
    rubbed.add_force(ar.forces.JointDamping(rotational=1.0))
    refused(rubbed.build(), "damping and friction of joints")
    driven = arm(translational=1.0, rotational=1.0)
    driven.add_drive("arm", times=(0.0, 1.0, 2.0, 3.0), values=(0.0, 0.1, 0.2, 0.0), name="motor")
    refused(driven.build(), "drive 'motor'")
    silent = arm(translational=1.0, rotational=1.0)
    silent.add_force(ar.forces.Brownian(temperature=1.0, dissipation="none"))
    refused(silent.build(), "dissipation")
    following = arm(translational=1.0, rotational=1.0)
    following.add_force(ar.forces.Brownian(temperature=1.0, amplitude_from="instantaneous"))
    refused(following.build(), "amplitude_from")
    whole = arm(translational=1.0, rotational=1.0).build()
    refused(whole, "solver 'kane'", solver="kane")
    refused(whole, "stokes-drag and brownian", thermostat=ar.thermostats.Langevin(temperature=1.0, friction=1.0))
    refused(whole, "stokes-drag and brownian", thermostat=ar.thermostats.Overdamped(temperature=1.0, friction=1.0))


@pytest.mark.parametrize("noise", [False, True])
def test_steps_too_long_for_a_spring_are_told(noise: bool) -> None:
    """The midpoint rule's bound is hλ = 2. Below it nothing is said, at rest neither; above, the body is named."""
    chain = Chain(False, links=3, kT=1.3, stiffness=2.0)
    model = chain.forest(5, noise=noise)
    _, fastest = rates(chain)
    rest = Running(model, BrownianDynamics(step=0.5 / fastest), seed=10, window=0.5 / fastest).to(640 * 0.5 / fastest)
    assert rest.steps == 640
    h = 2.4 / fastest
    with pytest.raises(ar.DivergenceError, match=r"steps of \S+ are too long.*shorten integrator.step") as caught:
        ar.simulate(model, 640 * h, rule="overdamped", step=h, frames=10, q=chain.draw(5, np.random.default_rng(3))[0])
    assert caught.value.body in model.names
    assert caught.value.step <= 160


@numba.njit
def steep_valley(time, positions, rotations, velocities, parameters, wrenches):  # type: ignore[no-untyped-def]
    k = positions.shape[0] - 1
    wrenches[k, 0] -= parameters[0] * np.tanh(parameters[1] * positions[k, 0])


def test_too_stiff_a_body_among_many_is_named_though_it_goes_nowhere() -> None:
    """A force that is bounded lets a body jump to and fro for ever, with speeds hardly above those of the noise."""
    count, h = 40, 0.05
    size = 4.0 * np.sqrt(2.0 * KT * DRAG / h)

    def valley(steepness: float) -> Any:
        builder = ar.ModelBuilder(units="lj")
        builder.add_bodies(count, mass=1.0, joint=ar.Xyz())
        builder.add_body("stuck", mass=1.0, joint=ar.Xyz())
        builder.add_force(ar.forces.StokesDrag(translational=DRAG))
        builder.add_force(ar.forces.Brownian(temperature=KT))
        builder.add_force(ar.forces.UserForce(function=steep_valley, parameters=(size, steepness)))
        return builder.build()

    ar.simulate(valley(0.2 * DRAG / h / size), 640 * h, rule="overdamped", step=h, frames=1)
    with pytest.raises(ar.DivergenceError, match="too long") as caught:
        ar.simulate(valley(8.0 * DRAG / h / size), 640 * h, rule="overdamped", step=h, frames=1)
    assert caught.value.body == "stuck"
