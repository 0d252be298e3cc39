"""Systems under thermostats, samples of their ensembles, and how far these are off, by physical_validation (Merz and
Shirts, PLOS ONE 13, e0202764, 2018).

Samples are independent: its own analysis cuts off the start of a series and thins it by its statistical inefficiency.
Deviations are counted in standard errors.
"""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

import articulon as ar

kinetic = pytest.importorskip("physical_validation.util.kinetic_energy")
ensemble = pytest.importorskip("physical_validation.util.ensemble")
integrator = pytest.importorskip("physical_validation.util.integrator")

THERMOSTATS = ar.thermostats
PLANTED = 1.03
"""A temperature that is wrong by 3 %."""
BEYOND = 4.0
"""Standard errors that a right result may be off: one in 16,000."""


def particles():
    """A dense gas of soft spheres, tethered by nothing: 64 in a periodic box."""
    rng = np.random.default_rng(1)
    places = 1.25 * np.stack(np.meshgrid(*[np.arange(4.0)] * 3, indexing="ij"), axis=-1).reshape(-1, 3)
    builder = ar.ModelBuilder(units="lj", box=ar.Box(lengths=(5.0, 5.0, 5.0)))
    builder.add_particles(64, mass=1.0, positions=places, velocities=rng.normal(size=(64, 3)), kind="A")
    builder.add_force(
        ar.forces.LennardJones(parameters={"A": {"epsilon": 1, "sigma": 1}}, cutoff=2.0, truncation="force-shifted")
    )
    return builder.build(), {"rule": "velocity-verlet", "step": 0.004}, 0.4


def rigid_bodies():
    """Rigid bodies without symmetry that are held by springs to points nearby and parted by charges of their
    ends: they tumble over each other, and energy spreads."""
    rng = np.random.default_rng(2)
    builder = ar.ModelBuilder(units="lj")
    for k in range(6):
        place = np.array([2.0 * (k % 3), 2.0 * (k // 3), 0.5 * k])
        builder.add_body(
            f"b{k}",
            joint=ar.Free(),
            mass=1.0 + 0.2 * k,
            inertia=(0.3, 0.4, 0.5),
            com=(0.1, -0.05, 0.2),
            q=(*place.tolist(), 1.0, 0.0, 0.0, 0.0),
            u=rng.normal(size=6).tolist(),
        )
        for side in (-0.6, 0.6):
            builder.add_site(f"b{k}", position=(side, 0.2, 0.0), kind="end", group=f"g{k}")
        points = (tuple(0.6 * place + (0.8, 0.4, 0.5)), (0.1, 0.2, 0.3))
        builder.add_force(ar.forces.PointSpring(name=f"s{k}", bodies=("ground", f"b{k}"), points=points, stiffness=1.0))
    between = [(f"g{a}", f"g{b}") for a in range(6) for b in range(a)]
    builder.add_force(ar.forces.SitePairs(between=between, table=[{"kinds": ("end", "end"), "A": 0.05, "C": 1.0}]))
    return builder.build(), {"rule": "friction-implicit", "step": 0.02}, 1.0


def jointed_chains():
    """Four chains of four bodies on spherical, universal and revolute joints, with springs to the ground and between
    chains, over which energy spreads."""
    rng = np.random.default_rng(3)
    builder = ar.ModelBuilder(units="lj")
    for c in range(4):
        parent = None
        joints = [ar.Spherical(), ar.Universal(), ar.Revolute(axis=(0, 0.6, 0.8)), ar.Spherical()]
        for k, joint in enumerate(joints):
            parent = builder.add_body(
                f"c{c}-{k}",
                parent=parent,
                joint=joint,
                mass=1.0,
                inertia=(0.3, 0.4, 0.5),
                com=(0.4, 0.1, 0.0),
                position=(0.0, 0.0, 0.0) if k == 0 else (0.8, 0.0, 0.1),
                u=rng.normal(size=joint.nu).tolist() if joint.nu > 1 else float(rng.normal()),
            )
        for k, place in ((1, (1.0, 0.5, 0.0)), (3, (1.5, -1.0, 1.0))):
            builder.add_force(
                ar.forces.PointSpring(
                    name=f"s{c}{k}",
                    bodies=("ground", f"c{c}-{k}"),
                    points=(place, (0.5, 0.1, 0.2)),
                    stiffness=3.0,
                    rest_length=0.3,
                )
            )
        if c:
            for k in (1, 2, 3):
                ends = (f"c{c - 1}-{k}", f"c{c}-{k}")
                points = ((0.5, 0.2, 0.0), (0.1, 0.4, 0.3))
                builder.add_force(
                    ar.forces.PointSpring(name=f"n{c}{k}", bodies=ends, points=points, stiffness=2.0, rest_length=1.0)
                )
    return builder.build(), {"rule": "friction-implicit", "step": 0.04}, 2.0


SYSTEMS = {"particles": particles, "rigid bodies": rigid_bodies, "jointed chains": jointed_chains}
CANONICAL = ("chain", "rescaling", "langevin")
EVERY = (*CANONICAL, "modified")
FRAMES = {"particles": 1000, "rigid bodies": 6000, "jointed chains": 3000}
RUNS = {"particles": 1, "rigid bodies": 20, "jointed chains": 20}
"""Among how many runs the frames are shared. Bodies whose spins keep their energy for thousands of τ start anew from
Langevin's thermostat, which reaches every freedom: one that scales all speeds alike then has to keep what it finds."""


def thermostat_of(system, name, T):
    """Particles in a periodic box keep their momentum under any thermostat without noise, so it is taken out."""
    kept = {"centre_of_mass": "removed"} if system == "particles" and name != "langevin" else {}
    match name:
        case "chain":
            return THERMOSTATS.NoseHooverChain(temperature=T, period=2.0, length=3, **kept)
        case "rescaling":
            return THERMOSTATS.StochasticVelocityRescaling(temperature=T, time=0.5, **kept)
        case "langevin":
            return THERMOSTATS.Langevin(temperature=T, friction=1.0)
    return THERMOSTATS.ModifiedNoseHoover(temperature=T, mass=100.0, derivative_gain=2000.0, **kept)


@cache
def built(system):
    return SYSTEMS[system]()


@cache
def sampled(system, name, temperature):
    """Kinetic energies, potential energies and twice the kinetic energies of parts, after a start that is left out."""
    (model, rule, interval), runs = built(system), RUNS[system]
    thermostat, frames = thermostat_of(system, name, temperature), FRAMES[system] // runs
    first = thermostat if runs == 1 else THERMOSTATS.Langevin(temperature=temperature, friction=1.0)
    kinetic, potential, shares = [], [], []
    for k in range(runs):
        start = ar.simulate(model, 50.0 * interval, frames=1, seed=7 + 2 * k, thermostat=first, **rule)
        run = ar.simulate(
            model,
            frames * interval,
            frames=frames,
            seed=8 + 2 * k,
            thermostat=thermostat,
            q=start.q[-1],
            u=start.u[-1],
            **rule,
        )
        kinetic.append(run.kinetic_energy[1:])
        potential.append(run.potential_energy[1:])
        pairs = zip(run.q[1:], run.u[1:], strict=True)
        shares.append(np.array([u * (ar.mass_matrix(model, q) @ u) for q, u in pairs]))
    return np.concatenate(kinetic), np.concatenate(potential), np.concatenate(shares)


def freedoms_of(system, name):
    return thermostat_of(system, name, 1.0).degrees_of_freedom(built(system)[0])


def kinetic_deviations(energies, temperature, degrees_of_freedom):
    """How far the mean and the width of kinetic energies are off, in standard errors (mean and σ of Maxwell's)."""
    mean, width = kinetic.check_mean_std(
        energies, temperature, degrees_of_freedom, 1.0, 0, 200, 1, False, None, None, None, False
    )
    return abs(mean), abs(width)


def slope_deviation(first, second, T1, T2):
    """How far ln P₂(U)/P₁(U) is off the slope 1/kT₁ − 1/kT₂, in standard errors (Shirts 2013)."""
    worst = ensemble.check_1d(
        first,
        second,
        T1,
        T2,
        1.0,
        "U",
        True,
        False,
        False,
        None,
        None,
        40,
        0.001,
        1,
        False,
        0,
        0,
        False,
        None,
        "U",
        None,
        False,
    )
    return max(worst)


def second_temperature(system):
    """Some 1.5 standard deviations of U away, about where the check is sharpest (Shirts 2013)."""
    return {"particles": 1.7, "rigid bodies": 2.7, "jointed chains": 2.7}[system]


def check_isokinetic(system):
    """Of the modified thermostat: a right mean of the kinetic energy, and next to no width."""
    energies, degrees_of_freedom = sampled(system, "modified", 1.5)[0], freedoms_of(system, "modified")
    assert energies.mean() == pytest.approx(0.5 * degrees_of_freedom * 1.5, rel=1e-2)
    assert kinetic_deviations(energies, 1.5, degrees_of_freedom)[1] > 10.0
    assert energies.std() < 0.1 * 1.5 * np.sqrt(0.5 * degrees_of_freedom)


def share_deviations(system, name):
    """Equipartition, ⟨u_i p_i⟩ = kT of every freedom, each with its own error from blocks or runs: the largest
    deviation, the mean square of all, and what the latter may be. In such errors deviations are those of Student's t,
    whose second and fourth moments bound the mean square over all degrees of freedom."""
    shares, degrees_of_freedom = sampled(system, name, 1.5)[2], freedoms_of(system, name)
    count = 40 if RUNS[system] == 1 else RUNS[system]
    blocks = shares[: len(shares) // count * count].reshape(count, -1, shares.shape[1]).mean(axis=1)
    error = blocks.std(axis=0, ddof=1) / np.sqrt(count)
    off = np.abs(blocks.mean(axis=0) - 1.5 * degrees_of_freedom / shares.shape[1]) / error
    second = (count - 1) / (count - 3)
    fourth = 3.0 * (count - 1) ** 2 / ((count - 3) * (count - 5))
    return off.max(), (off**2).mean(), second + BEYOND * np.sqrt((fourth - second**2) / off.size)


def boltzmann_deviation(system, name):
    """Of potential energies at two temperatures from the ratio of Boltzmann."""
    T1, T2 = 1.5, second_temperature(system)
    first, second = sampled(system, name, T1)[1], sampled(system, name, T2)[1]
    if name == "modified":
        # At constant K positions have the weight e^{−(N − 1) U/2K}, and 2K = N k T: they are those of T N/(N − 1).
        T1, T2 = (T / (1.0 - 1.0 / freedoms_of(system, name)) for T in (T1, T2))
    return slope_deviation(first, second, T1, T2)


def reservoir(run, bath):
    """Energy that the thermostat has taken: by its own variables where it has some, else by its work."""
    if not run.memory.bath().shape[1]:
        return -run.works[:, 4]
    return 0.5 * run.memory.bath()[:, :-1] ** 2 @ bath.masses + run.memory.bath()[:, -1] - run.works[:, 5]
