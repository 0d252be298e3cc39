"""Boxes that change so that the pressure is the one that is asked for."""

import numpy as np
import pytest

import articulon as ar
from articulon.errors import ArticulonError, CaseError

MONTE_CARLO = ar.barostats.MonteCarlo(pressure=0.5, every=1, compressibility=2.0)
RESCALING = ar.barostats.StochasticCellRescaling(pressure=0.5, every=1, compressibility=2.0, relaxation=2.0)
LANGEVIN = ar.thermostats.Langevin(temperature=1.0, friction=2.0)
STEPS = {"rule": "velocity-verlet", "step": 0.05}


def ideal(count: int = 30) -> ar.Model:
    """Particles without forces in a periodic box."""
    builder = ar.ModelBuilder("lj", box=ar.Box((5.0, 4.0, 3.0)))
    places = np.random.default_rng(1).uniform(size=(count, 3)) * (5.0, 4.0, 3.0)
    builder.add_particles(count, mass=1.0, positions=places)
    return builder.build()


def liquid(count: int = 64, **options) -> ar.Model:
    """A Lennard-Jones liquid on a lattice, dense as near its triple point."""
    side = round(count ** (1 / 3))
    edge = (count / 0.8) ** (1 / 3)
    builder = ar.ModelBuilder("lj", box=ar.Box((edge,) * 3))
    grid = np.stack(np.meshgrid(*[np.arange(side)] * 3), axis=-1).reshape(-1, 3) * edge / side
    builder.add_particles(count, mass=1.0, positions=grid, kind="A")
    cut = {"cutoff": 1.6, "truncation": "force-shifted", **options}
    builder.add_force(ar.forces.LennardJones(parameters={"A": {"epsilon": 1.0, "sigma": 1.0}}, **cut))
    return builder.build()


def dumbbells(count: int = 8) -> ar.Model:
    """Rigid pairs of sites on free joints."""
    builder = ar.ModelBuilder("lj", box=ar.Box((6.0,) * 3))
    rng = np.random.default_rng(2)
    corners = np.stack(np.meshgrid(*[np.arange(2)] * 3), axis=-1).reshape(-1, 3) * 3.0
    for k in range(count):
        e = rng.normal(size=4)
        q = (*corners[k], *(e / np.linalg.norm(e)))
        body = builder.add_body(f"{k}", mass=2.0, inertia=(0.5, 0.5, 0.1), joint=ar.Free(), q=q, u=rng.normal(size=6))
        for x in (-0.5, 0.5):
            builder.add_site(body, (0.0, 0.0, x), kind="A")
    parameters = {"A": {"epsilon": 1.0, "sigma": 1.0}}
    builder.add_force(ar.forces.LennardJones(parameters=parameters, cutoff=2.0, truncation="force-shifted"))
    return builder.build()


@pytest.mark.parametrize(
    ("barostat", "count", "bias"),
    [(MONTE_CARLO, 3, 0.0), (RESCALING, 4, 0.0125)],
    ids=["monte-carlo", "rescaling"],
)
@pytest.mark.slow
def test_volumes_of_an_ideal_gas_are_distributed_as_they_must_be(barostat, count: int, bias: float) -> None:
    """p(V) ∝ V^N exp(−PV/kT): the mean is (N + 1) kT/P, the variance (N + 1) (kT/P)².

    Few particles tell this law from its neighbours: with changes that are drawn as wide as the volume of the moment
    asks for, its mean is off by more than half a particle. Rescaling takes Euler steps, whose variance is too large
    by half of what a step takes off a deviation: κ P h / τ = 0.025.
    """
    unit, duration, frames = 1.0 / 0.5, 600.0, 1200
    model = ideal(count)
    run = ar.simulate(model, duration, thermostat=LANGEVIN, barostat=barostat, speeds="thermal", frames=frames, **STEPS)
    volumes = run.observables["volume"][-(frames - 100) :]
    mean, variance = (count + 1) * unit, (count + 1) * unit**2
    blocks = np.array([block.mean() for block in np.array_split(volumes, 20)])
    error = blocks.std(ddof=1) / np.sqrt(20)
    assert 4.0 * error < unit
    assert abs(volumes.mean() - mean) < 4.0 * error
    # The variance of so many independent volumes, which a gamma law distributes, is known to √((2 + 6/(N + 1))/n).
    independent = variance / error**2
    spread = np.sqrt((2.0 + 6.0 / (count + 1)) / independent)
    assert abs(volumes.var() / variance - 1.0) < 4.0 * spread + bias


@pytest.mark.parametrize("barostat", [MONTE_CARLO, RESCALING], ids=["monte-carlo", "rescaling"])
def test_the_books_balance(barostat) -> None:
    """The energy that changes of the box put in is booked: what is left is the error of the steps."""
    model = liquid(tail_correction=False)
    run = ar.simulate(
        model,
        2.0,
        thermostat=LANGEVIN,
        barostat=barostat,
        rule="velocity-verlet",
        step=0.002,
        frames=20,
        speeds="thermal",
    )
    observed = run.observables
    assert np.ptp(observed["volume"]) > 1.0 and np.abs(observed["barostat_energy"]).max() > 1.0
    # Velocity Verlet at this step moves the energy of 64 particles by thousandths of kT.
    assert np.abs(observed["energy_balance"]).max() < 0.05
    assert run.summary["conservative_works"]["potential"]["error"] < 0.05
    np.testing.assert_allclose(observed["density"], 64.0 / observed["volume"], rtol=1e-14)


@pytest.mark.parametrize("make", [liquid, dumbbells], ids=["particles", "rigid bodies"])
def test_a_box_changed_is_another_model_in_that_box(make) -> None:
    """Energy and pressure at the last frame are those of a model that is built with the last box."""
    from dataclasses import replace

    model = make()
    rule = (
        {"rule": "velocity-verlet", "step": 0.002} if make is liquid else {"rule": "friction-implicit", "step": 0.002}
    )
    run = ar.simulate(model, 0.5, thermostat=LANGEVIN, barostat=RESCALING, frames=2, speeds="thermal", **rule)
    edge = float(run.observables["volume"][-1]) ** (1 / 3)
    assert abs(edge - model.box.lengths[0]) > 1e-4
    other = replace(model, box=ar.Box((edge,) * 3))
    energy, pressure = ar.potential_energy(other, run.q[-1]), ar.pressure(other, run.q[-1], run.u[-1])
    assert run.observables["energy_potential"][-1] == pytest.approx(energy, rel=1e-12)
    assert run.observables["pressure"][-1] == pytest.approx(pressure, rel=1e-10)


def test_molecules_move_as_wholes() -> None:
    """A change of the box moves centres of mass and turns nothing."""
    model = dumbbells()
    run = ar.simulate(
        model, 0.002, thermostat=LANGEVIN, barostat=RESCALING, frames=1, rule="friction-implicit", step=0.002
    )
    still = ar.simulate(model, 0.002, thermostat=LANGEVIN, frames=1, rule="friction-implicit", step=0.002)
    q, q0 = run.q[-1].reshape(-1, 7), still.q[-1].reshape(-1, 7)
    u, u0 = run.u[-1].reshape(-1, 6), still.u[-1].reshape(-1, 6)
    s = (float(run.observables["volume"][-1]) / 216.0) ** (1 / 3)
    assert abs(s - 1.0) > 1e-5
    np.testing.assert_allclose(q[:, :3], s * q0[:, :3], rtol=1e-12)
    np.testing.assert_array_equal(q[:, 3:], q0[:, 3:])
    np.testing.assert_allclose(u[:, :3], u0[:, :3] / s, rtol=1e-12)
    np.testing.assert_array_equal(u[:, 3:], u0[:, 3:])


@pytest.mark.parametrize("barostat", [MONTE_CARLO, RESCALING], ids=["monte-carlo", "rescaling"])
def test_a_run_goes_on_to_the_same_bits(barostat, tmp_path) -> None:
    model = liquid(27, cutoff=1.4)
    settings = {"thermostat": LANGEVIN, "barostat": barostat, "speeds": "thermal", "rule": "velocity-verlet"}
    whole = ar.simulate(model, 0.4, step=0.01, frames=4, **settings)
    part = ar.simulate(model, 0.2, step=0.01, frames=2, **settings)
    part.extend(0.2)
    np.testing.assert_array_equal(part.q[-1], whole.q[-1])
    np.testing.assert_array_equal(part.observables["volume"], whole.observables["volume"])


@pytest.mark.parametrize("sum_of", ["ewald", "mesh"])
def test_tails_and_waves_follow_the_box(sum_of: str) -> None:
    """Sums over waves and tail corrections in a box that has changed are those of a model built in it."""
    from dataclasses import replace

    from articulon.forces.evaluation import Evaluator

    builder = ar.ModelBuilder("lj", box=ar.Box((5.0,) * 3))
    places = np.random.default_rng(1).uniform(0.0, 5.0, size=(20, 3))
    builder.add_particles(20, mass=1.0, positions=places, kind="A", charge=[1.0, -1.0] * 10)
    parameters = {"A": {"epsilon": 1.0, "sigma": 0.3}}
    builder.add_force(ar.forces.LennardJones(parameters=parameters, cutoff=2.0, tail_correction=True))
    if sum_of == "ewald":
        # Enough waves for rounding in both boxes: which ones there are follows from the box that is built.
        builder.add_force(ar.forces.Ewald(cutoff=2.0, damping=2.5, waves=(12, 12, 12)))
    else:
        builder.add_force(ar.forces.ParticleMeshEwald(cutoff=2.0, damping=2.5, mesh=(20, 20, 20), order=6))
    model = builder.build()
    box = ar.Box((5.1,) * 3)
    other = replace(model, box=box)
    evaluator, built = Evaluator(model), Evaluator(other)
    evaluator.sites.put_box(box.vectors)
    np.testing.assert_allclose(evaluator.measure(model.q0), built.measure(model.q0), rtol=1e-10)
    evaluator.sites.put_box(model.box.vectors)
    np.testing.assert_allclose(evaluator.measure(model.q0), Evaluator(model).measure(model.q0), rtol=1e-13)


def test_what_cannot_keep_a_pressure_is_refused() -> None:
    model = liquid()
    with pytest.raises(CaseError, match="constant pressure needs a temperature"):
        ar.simulate(model, 1.0, barostat=MONTE_CARLO, **STEPS)
    barostat = ar.barostats.MonteCarlo(pressure=1.0)
    with pytest.raises(CaseError, match="compressibility: is required in the units 'lj'"):
        ar.simulate(model, 1.0, barostat=barostat, thermostat=LANGEVIN, **STEPS)
    builder = ar.ModelBuilder("lj")
    builder.add_particles(2, mass=1.0, positions=np.eye(3)[:2])
    with pytest.raises(CaseError, match="only a box that is periodic"):
        ar.simulate(builder.build(), 1.0, barostat=MONTE_CARLO, thermostat=LANGEVIN, **STEPS)
    hoover = ar.thermostats.NoseHoover(temperature=1.0, period=1.0)
    with pytest.raises(CaseError, match="barostat: scaling changes the pressure"):
        ar.simulate(model, 1.0, barostat=MONTE_CARLO, thermostat=hoover, scaling=ar.scaling.Constant(a2=0.5), **STEPS)
    with pytest.raises(CaseError, match="'dormand-prince' integrates rates of change"):
        ar.simulate(model, 1.0, barostat=MONTE_CARLO, thermostat=hoover)
    builder = ar.ModelBuilder("lj", box=ar.Box((5.0,) * 3))
    builder.add_body("hinge", mass=1.0, inertia=1.0, joint=ar.Revolute(axis=(0, 0, 1)))
    with pytest.raises(CaseError, match="'hinge' is on a joint with the ground"):
        ar.simulate(builder.build(), 1.0, barostat=MONTE_CARLO, thermostat=LANGEVIN, rule="friction-implicit", step=0.1)
    squeezed = ar.barostats.StochasticCellRescaling(pressure=1e4, compressibility=0.05, relaxation=0.1, every=1)
    with pytest.raises(ArticulonError, match="the box has shrunk to a width"):
        ar.simulate(model, 1.0, barostat=squeezed, thermostat=LANGEVIN, **STEPS)


def jointed(tail: bool = True, spring: bool = False) -> ar.Model:
    """Bodies with an arm each in a box of a liquid's gas."""
    builder = ar.ModelBuilder("lj", box=ar.Box((6.0,) * 3))
    corners, rng = np.stack(np.meshgrid(*[np.arange(2)] * 3), axis=-1).reshape(-1, 3) * 3.0, np.random.default_rng(1)
    arm = {"mass": 1.0, "inertia": 0.3, "joint": ar.Revolute(axis=(0.0, 0.0, 1.0)), "com": (0.5, 0.0, 0.0)}
    for k in range(8):
        u = 0.3 * rng.normal(size=6)
        builder.add_body(f"root{k}", mass=2.0, inertia=0.5, joint=ar.Free(), q=(*corners[k], 1, 0, 0, 0), u=u)
        builder.add_body(f"arm{k}", parent=f"root{k}", position=(0.5, 0.0, 0.0), **arm)
        builder.add_site(f"root{k}", (0.0, 0.0, 0.0), kind="A")
        builder.add_site(f"arm{k}", (1.0, 0.0, 0.0), kind="A")
    parameters = {"A": {"epsilon": 1.0, "sigma": 1.0}}
    builder.add_force(ar.forces.LennardJones(parameters=parameters, cutoff=2.0, tail_correction=tail))
    if spring:
        builder.add_force(ar.forces.PointSpring(bodies=("root0", "root1"), stiffness=1.0))
    return builder.build()


def test_trees_that_loops_join_are_one_molecule() -> None:
    """The pressure of jointed bodies is that of the same bodies with each joint as a loop between two trees."""
    model = jointed(tail=False)
    turned = np.where(np.arange(model.q0.size) % 8 == 7, 0.4, model.q0)
    apart = ar.cartesian(model, turned, model.u0)
    tree, loops = ar.pressure(model, turned, model.u0), ar.pressure(apart, apart.q0, apart.u0)
    assert loops == pytest.approx(tree, rel=1e-12)


@pytest.mark.parametrize("barostat", [MONTE_CARLO, RESCALING], ids=["monte-carlo", "rescaling"])
@pytest.mark.parametrize("how", ["free", "locked", "released"])
def test_tails_follow_the_box_whatever_is_locked(barostat, how: str) -> None:
    """Energy and pressure at the end are those of a model that is built in the last box."""
    from dataclasses import replace

    from articulon.adaptive import Adaptive, Group, Random

    model, options = jointed(), {}
    if how == "locked":
        options["locked"] = ("arm0", "arm3")
    elif how == "released":
        by_chance = Group(bodies=("arm*",), lock=Random(probability=0.4), release=Random(probability=0.4))
        options["adaptive"] = Adaptive(every=0.02, groups=(by_chance,))
    steps = {"rule": "friction-implicit", "step": 0.002, "frames": 2}
    run = ar.simulate(model, 0.2, thermostat=LANGEVIN, barostat=barostat, **steps, **options)
    volume = float(run.observables["volume"][-1])
    assert abs(volume - 216.0) > 1.0
    other = replace(model, box=ar.Box((volume ** (1 / 3),) * 3))
    energy = ar.potential_energy(other, run.q[-1])
    assert run.observables["energy_potential"][-1] == pytest.approx(energy, rel=1e-11)
    if how == "free":
        pressure = ar.pressure(other, run.q[-1], run.u[-1])
        assert run.observables["pressure"][-1] == pytest.approx(pressure, rel=1e-9)
    assert run.summary["barostat"]["tried"] == 100
    assert run.summary["conservative_works"]["potential"]["error"] < 0.05


def test_openmm_follows_the_box() -> None:
    openmm = pytest.importorskip("openmm")
    edge, count = 3.0, 27
    system = openmm.System()
    system.setDefaultPeriodicBoxVectors(*(edge * np.eye(3)))
    force = openmm.NonbondedForce()
    force.setNonbondedMethod(force.CutoffPeriodic)
    force.setCutoffDistance(1.0)
    for _ in range(count):
        system.addParticle(20.0)
        force.addParticle(0.0, 0.34, 1.0)
    system.addForce(force)
    builder = ar.ModelBuilder("Da-nm-ps", box=ar.Box((edge,) * 3))
    grid = np.stack(np.meshgrid(*[np.arange(3)] * 3), axis=-1).reshape(-1, 3) + 0.3
    builder.add_particles(count, mass=20.0, positions=grid, kind="A")
    builder.add_force(ar.forces.OpenMM(system=system, platform="Reference"))
    barostat = ar.barostats.MonteCarlo(pressure="100 bar", every=5, compressibility="1e-3 1/bar")
    thermostat = ar.thermostats.Langevin(temperature="120 K", friction="1 1/ps")
    steps = {"rule": "velocity-verlet", "step": 0.005, "frames": 2, "speeds": "thermal"}
    run = ar.simulate(builder.build(), 0.2, thermostat=thermostat, barostat=barostat, **steps)
    last = float(run.observables["volume"][-1]) ** (1 / 3)
    assert abs(last - edge) > 0.01
    context = openmm.Context(system, openmm.VerletIntegrator(1e-3), openmm.Platform.getPlatformByName("Reference"))
    context.setPeriodicBoxVectors(*(last * np.eye(3)))
    context.setPositions(run.q[-1].reshape(-1, 3))
    energy = context.getState(energy=True).getPotentialEnergy()._value
    assert run.observables["energy_potential"][-1] == pytest.approx(energy, rel=1e-12)


def test_forces_on_bodies_have_no_virial_here() -> None:
    """Their part of the pressure is not known: no barostat reads it, and nothing says that it is observed."""
    model = jointed(tail=False, spring=True)
    steps = {"rule": "friction-implicit", "step": 0.002, "frames": 1}
    with pytest.raises(CaseError, match="that of 'point-spring' is not known; use the barostat 'monte-carlo'"):
        ar.simulate(model, 0.01, thermostat=LANGEVIN, barostat=RESCALING, **steps)
    with pytest.raises(ar.ModelError, match="'point-spring' acts on bodies"):
        ar.pressure(model, model.q0, model.u0)
    run = ar.simulate(model, 0.01, thermostat=LANGEVIN, barostat=MONTE_CARLO, **steps)
    assert "pressure" not in run.observables and "volume" in run.observables


def test_volumes_under_brownian_forces_follow_the_seed() -> None:
    builder = ar.ModelBuilder("lj", box=ar.Box((5.0,) * 3))
    for k in range(4):
        builder.add_body(f"{k}", mass=1.0, inertia=0.1, joint=ar.Free(), q=(k, 0, 0, 1, 0, 0, 0))
    builder.add_force(ar.forces.StokesDrag(translational=1.0, rotational=1.0))
    builder.add_force(ar.forces.Brownian(temperature=1.0))
    model, steps = builder.build(), {"rule": "friction-implicit", "step": 0.05, "frames": 1}
    ends = [
        ar.simulate(model, 0.5, barostat=MONTE_CARLO, seed=seed, **steps).observables["volume"][-1] for seed in (1, 2)
    ]
    assert ends[0] != ends[1]
