"""Free particles on plain arrays, and particles beside bodies on joints: the same physics by every way."""

import numpy as np
import pytest

import articulon as ar

EDGE = 6.0
GRID = (np.stack(np.meshgrid(*[np.arange(4)] * 3, indexing="ij"), -1).reshape(-1, 3) + 0.5) * EDGE / 4
SPEEDS = np.random.default_rng(3).normal(0.0, 0.9, GRID.shape)
SMOOTH = ar.forces.LennardJones(
    parameters={"A": {"epsilon": 1.0, "sigma": 1.0}}, cutoff=2.5, truncation="switched", switch_start=2.0
)


def fluid(*more, boundaries=("periodic",) * 3, lengths=(EDGE,) * 3):
    builder = ar.ModelBuilder(units="lj", box=ar.Box(lengths=lengths, boundaries=boundaries))
    builder.add_particles(len(GRID), mass=1.0, positions=GRID, velocities=SPEEDS - SPEEDS.mean(0), kind="A")
    for force in (SMOOTH, *more):
        builder.add_force(force)
    return builder.build()


def energy(run):
    return run.kinetic_energy + run.potential_energy


def test_velocity_verlet_is_of_second_order_and_books_what_the_forces_do():
    """Halving the step divides the excursions of the energy by four; the work of the potential is the energy it gives
    to the particles, to the rounding of a sum of 64 kinetic energies of order one in 400 steps."""
    model = fluid()
    errors = []
    for step in (0.004, 0.002):
        run = ar.simulate(model, 0.8, rule="velocity-verlet", step=step, frames=20)
        errors.append(np.abs(energy(run) - energy(run)[0]).max())
        gained = run.kinetic_energy - run.kinetic_energy[0] - run.works[:, 0]
        assert np.abs(gained).max() < 400 * 64 * 10 * np.finfo(float).eps
    assert errors[0] / errors[1] == pytest.approx(4.0, abs=0.5)


def test_plain_arrays_and_trees_give_one_trajectory():
    """Velocity Verlet against an explicit rule of high order in the recursive solver."""
    model = fluid()
    plain = ar.simulate(model, 0.1, rule="velocity-verlet", step=1e-4, frames=2)
    trees = ar.simulate(model, 0.1, rule="dormand-prince", rtol=1e-10, atol=1e-10, frames=2)
    assert plain.q[-1] == pytest.approx(trees.q[-1], abs=2e-6)


def test_time_can_be_reversed():
    """The state after going there and back, to rounding that chaos has let grow for 200 steps."""
    model = fluid()
    there = ar.simulate(model, 0.4, rule="velocity-verlet", step=0.004, frames=1)
    back = ar.simulate(model, 0.4, rule="velocity-verlet", step=0.004, frames=1, q=there.q[-1], u=-there.u[-1])
    assert back.q[-1] == pytest.approx(model.q0, abs=1e-10)


def test_respa_with_one_part_is_velocity_verlet():
    model = fluid(ar.forces.HarmonicBonds(bonds=[(0, 1), (1, 2)], stiffness=200.0, length=1.4))
    runs = [
        ar.simulate(model, 0.2, frames=2, **options)
        for options in (
            {"rule": "velocity-verlet", "step": 0.002},
            {"rule": "r-respa", "step": 0.002, "pair_steps": 1, "bonded_steps": 1},
        )
    ]
    assert runs[0].q[-1] == pytest.approx(runs[1].q[-1], abs=1e-11)


def test_respa_conserves_where_the_bonds_are_far_too_stiff_for_its_step():
    """ω = √(2 · 20000) = 200, so that velocity Verlet is unstable beyond h = 0.01; the bonded step is 0.001."""
    model = fluid(ar.forces.HarmonicBonds(bonds=[(0, 1), (5, 6)], stiffness=20000.0, length=1.5))
    run = ar.simulate(model, 2.0, rule="r-respa", step=0.008, pair_steps=1, bonded_steps=8, frames=50)
    assert np.abs(energy(run) - energy(run)[0]).max() < 0.02 * run.kinetic_energy.mean()


def test_reflecting_walls_keep_particles_and_energy():
    model = fluid(boundaries=("reflecting", "periodic", "reflecting"))
    run = ar.simulate(model, 4.0, rule="velocity-verlet", step=0.002, frames=100)
    x = run.q.reshape(len(run.q), -1, 3)
    assert x[..., [0, 2]].min() >= 0.0 and x[..., [0, 2]].max() <= EDGE
    assert np.abs(x[..., 1]).max() > EDGE  # the periodic direction is not wrapped
    assert np.abs(energy(run) - energy(run)[0]).max() < 5e-3 * run.kinetic_energy.mean() * len(GRID) ** 0.5
    with pytest.raises(ar.CaseError, match="reflecting"):
        ar.simulate(model, 0.1, rule="dormand-prince")


def test_an_ideal_gas_flies_straight_between_reflecting_walls():
    """No force at all: each coordinate is the triangle wave of free flight, to the rounding of 1,000 steps."""
    box = ar.Box(lengths=(EDGE,) * 3, boundaries=("reflecting",) * 3)
    builder = ar.ModelBuilder(units="lj", box=box)
    builder.add_particles(len(GRID), mass=1.0, positions=GRID, velocities=SPEEDS, kind="A")
    run = ar.simulate(builder.build(), 10.0, rule="velocity-verlet", step=0.01, frames=4)
    flown = (GRID + 10.0 * SPEEDS) % (2.0 * EDGE)
    assert run.q[-1].reshape(-1, 3) == pytest.approx(EDGE - np.abs(EDGE - flown), abs=1e-10)
    assert run.kinetic_energy == pytest.approx(run.kinetic_energy[0], rel=1e-12)


def test_overdamped_steps_book_the_work_of_the_forces_between_reflecting_walls():
    """Energy lost is work done, here to 0.06 kT and less with the step, by the trapezoidal rule along a random walk; a
    walk booked as if the walls threw nothing back is 1.3 ± 0.6 kT off, whatever the step."""
    model = fluid(boundaries=("reflecting",) * 3)
    bath = ar.thermostats.Overdamped(temperature=1.0, friction=10.0)
    errors = []
    for seed in (1, 2, 3):
        run = ar.simulate(model, 1.0, rule="ermak-mccammon", step=1e-4, frames=1, thermostat=bath, seed=seed)
        errors.append(run.works[-1, 0] - (run.potential_energy[0] - run.potential_energy[-1]))
    assert abs(np.mean(errors)) < 0.2


def mixture(*more):
    """Ions about a chain of two rods that carry charged sites off their joints, in a tilted box."""
    box = ar.Box(lengths=(8.0, 8.0, 8.0), tilts=(1.0, -0.5, 0.8))
    builder = ar.ModelBuilder(units="lj", box=box)
    rod = builder.add_body("rod", mass=3.0, inertia=(1.0, 1.2, 0.5), joint=ar.Free(), q=[4, 4, 4, 1, 0, 0, 0])
    arm = builder.add_body(
        "arm", parent=rod, mass=2.0, inertia=0.6, com=(0.4, 0, 0), joint=ar.Spherical(), position=(0.8, 0.0, 0.0)
    )
    for body, place, charge in ((rod, (-0.5, 0.2, 0.0), 1.0), (rod, (0.3, 0.3, 0.1), -1.0), (arm, (0.9, 0, 0.1), 1.0)):
        builder.add_site(body, position=place, charge=charge, kind="P")
    ions = np.array([[1, 1, 1], [7, 2, 6], [2, 6.5, 3], [6, 6, 1], [1.5, 3, 6.5]], dtype=float)
    builder.add_particles(5, mass=1.0, positions=ions, charge=[-1.0, 1.0, -1.0, 1.0, -1.0], kind="I")
    well = {"epsilon": 1.0, "sigma": 1.0}
    law = {"cutoff": 3.0, "truncation": "force-shifted"}
    builder.add_force(ar.forces.LennardJones(parameters={"P": well, "I": well}, **law))
    builder.add_force(ar.forces.Coulomb(damping=0.3, **law))
    for force in more:
        builder.add_force(force)
    return builder.build()


def test_forces_on_a_mixture_are_the_gradient_of_its_energy():
    """Along random motions of all joints: −dU/dt by fourth-order differences of the energy, error h⁴ U⁗ ~ 1e-9."""
    model, rng = mixture(), np.random.default_rng(5)
    for _ in range(4):
        u = rng.normal(0.0, 0.3, model.nu)
        run = ar.simulate(model, 0.2, rule="rk4", step=0.01, u=u, frames=4)
        q, speeds = run.q[-1], run.u[-1]
        power = ar.generalized_forces(model, q, speeds) @ speeds
        h = 1e-3
        energies = [ar.potential_energy(model, moved(model, q, speeds, k * h)) for k in (-2, -1, 1, 2)]
        slope = (energies[0] - 8 * energies[1] + 8 * energies[2] - energies[3]) / (12 * h)
        assert power == pytest.approx(-slope, rel=1e-7, abs=1e-8)


def moved(model, q, u, time):
    """Coordinates after a time at constant speeds in the joints, Euler parameters turned exactly."""
    q = q.copy()
    place, speed = 0, 0
    for joint in model.joints:
        shift = joint.translations
        q[place : place + shift] += time * u[speed : speed + shift]
        if joint.quaternion is not None:
            w = time * u[speed + shift : speed + shift + 3]
            angle = np.linalg.norm(w)
            turn = np.array([np.cos(angle / 2), *(np.sinc(angle / 2 / np.pi) / 2 * w)])
            e = q[place + shift : place + shift + 4].copy()
            e0, ev, t0, tv = e[0], e[1:], turn[0], turn[1:]
            q[place + shift] = e0 * t0 - ev @ tv
            q[place + shift + 1 : place + shift + 4] = e0 * tv + t0 * ev + np.cross(ev, tv)
        place, speed = place + joint.nq, speed + joint.nu
    return q


def test_a_mixture_conserves_energy_and_takes_a_thermostat():
    model = mixture()
    u = np.random.default_rng(6).normal(0.0, 0.3, model.nu)
    run = ar.simulate(model, 2.0, rule="dormand-prince", rtol=1e-9, atol=1e-9, u=u, frames=10)
    assert np.abs(energy(run) - energy(run)[0]).max() < 1e-5
    bath = ar.thermostats.Langevin(temperature=0.5, friction=2.0)
    kept = ar.simulate(model, 40.0, rule="friction-implicit", step=0.005, u=u, frames=200, thermostat=bath)
    # ½ N k T of 24 degrees of freedom; some 40 independent samples of relative deviation √(2/24).
    assert kept.kinetic_energy[50:].mean() == pytest.approx(0.5 * model.nu * 0.5, rel=4 * (2 / 24 / 40) ** 0.5)
