"""Runs of free particles on a device follow those of the CPU, to the same bits however they are cut, and what does not
go on a device is refused by name. On Warp's own CPU device, which runs the kernels of a GPU."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

import articulon as ar
from articulon.simulation import loop
from tests.support.particle_models import box_vectors, particles, scattered

pytest.importorskip("warp")

from articulon.gpu import particle_engine, particle_lists
from articulon.gpu.devices import WARP_CPU

STEP, STEPS = 0.004, 300
LENGTHS = (6.2, 5.9, 6.5)
WELL = {"A": {"epsilon": 1.0, "sigma": 1.0}, "B": {"epsilon": 0.6, "sigma": 0.9}}


def fluid(*forces: Any, count: int = 130, charges: float = 0.0, **box: Any) -> ar.Model:
    """Two kinds of particles, at a temperature near one."""
    rng = np.random.default_rng(4)
    x = scattered(rng, count, box_vectors(LENGTHS), 0.88)
    v = rng.normal(size=x.shape)
    v -= v.mean(axis=0)
    kinds = ["AB"[k % 2] for k in range(count)]
    given = forces or (ar.forces.LennardJones(parameters=WELL, cutoff=2.5, truncation="force-shifted"),)
    return particles(x, *given, box=ar.Box(lengths=LENGTHS, **box), kinds=kinds, charges=charges, velocities=v)


def run(model: ar.Model, steps: int = STEPS, frames: int = 3, **more: Any) -> ar.Run:
    asked: dict[str, Any] = {"rule": "velocity-verlet", "step": STEP, "frames": frames, "device": WARP_CPU, **more}
    return ar.simulate(model, steps * STEP, **asked)


def bits(found: ar.Run, frame: int = -1) -> dict[str, bytes]:
    """Of a frame: coordinates, speeds and all that was looked at."""
    looked = {name: values[frame].tobytes() for name, values in found.observables.items()}
    return {"q": found.q[frame].tobytes(), "u": found.u[frame].tobytes(), **looked}


@pytest.fixture(scope="module")
def model() -> ar.Model:
    return fluid()


@pytest.fixture(scope="module")
def on_device(model: ar.Model) -> ar.Run:
    return run(model)


@pytest.fixture(scope="module")
def on_cpu(model: ar.Model) -> ar.Run:
    return run(model, device="cpu")


def test_a_run_follows_that_of_the_cpu_as_far_as_rounding_lets_it(model, on_device, on_cpu):
    """Trajectories part as fast as those from starts that are 1e-13 apart, some hundred times what rounding does."""
    q = model.q0 + 1e-13 * np.random.default_rng(1).normal(size=model.nq)
    beside = np.abs(run(model, device="cpu", q=q).q - on_cpu.q).max(axis=1)
    apart = np.abs(on_device.q - on_cpu.q).max(axis=1)
    assert apart[-1] <= beside[-1] < 1e-6
    assert on_device.q[-1].tobytes() != on_cpu.q[-1].tobytes()  # it is another sum


def test_what_is_looked_at_is_what_the_cpu_sees(on_device, on_cpu):
    assert set(on_device.observables) == set(on_cpu.observables)
    for name, values in on_cpu.observables.items():
        scale = max(np.abs(values).max(), np.abs(on_cpu.observables["kinetic_energy"]).max())
        assert np.abs(on_device.observables[name] - values).max() <= 1e-9 * scale, name
    assert {"pressure", "laplacian", "energy_potential", "work_potential"} <= set(on_device.observables)


@pytest.mark.parametrize("precision", ["double", "mixed"])
def test_energy_and_momentum_are_kept_as_on_the_cpu(model, on_cpu, precision):
    """The energy swings by the second order of the step, the same on both; in single precision a force is off by 2e-6
    of itself at random, which moves the energy of a particle by less than 1e-6 of kT in as many steps."""
    found = run(model, precision=precision)
    energy, there = (r.observables["kinetic_energy"] + r.observables["energy_potential"] for r in (found, on_cpu))
    bound = 1e-10 if precision == "double" else 1e-6
    kinetic = on_cpu.observables["kinetic_energy"][0]
    assert np.abs(energy - there).max() <= bound * kinetic
    assert np.abs(energy - energy[0]).max() <= 5e-3 * kinetic
    momentum = found.u[-1].reshape(-1, 3).sum(axis=0)
    assert np.abs(momentum).max() <= 1e-11


def test_work_is_the_kinetic_energy_that_forces_have_given(on_device):
    kinetic = on_device.observables["kinetic_energy"]
    gained, work = kinetic - kinetic[0], on_device.observables["work_potential"]
    assert np.abs(work - gained).max() <= 1e-13 * kinetic.max()
    assert np.abs(work).max() > 1.0
    assert on_device.observables["work_potential"][0] == 0.0


def test_a_run_has_the_same_bits_again_and_however_it_is_cut(model, on_device, monkeypatch):
    whole = bits(on_device)
    assert bits(run(model)) == whole
    monkeypatch.setattr(loop, "CHUNK_SECONDS", 0.0)  # Python has control after every step
    assert bits(run(model)) == whole
    monkeypatch.undo()
    for batch in (1, 7):
        monkeypatch.setattr(particle_engine, "BATCH", batch)
        assert bits(run(model)) == whole


def test_batches_that_are_sent_as_graphs_change_no_bit(model, on_device, monkeypatch):
    """A GPU takes them so, and Warp's CPU device can."""
    sent = []

    class WithGraphs(particle_engine.ParticleEngine):
        def __init__(self, *arguments: Any) -> None:
            super().__init__(*arguments)
            self.graphs = True

        def _send(self, steps: int, h: float, factor: float) -> None:
            super()._send(steps, h, factor)
            sent.append(self._graph[1] is not None)

    monkeypatch.setattr(particle_engine, "ParticleEngine", WithGraphs)
    assert bits(run(model)) == bits(on_device)
    assert any(sent)


def test_lists_that_are_too_short_change_no_bit(model, on_device, monkeypatch):
    monkeypatch.setattr(particle_lists, "FIRST_ROOM", 1)
    assert bits(run(model)) == bits(on_device)


@pytest.mark.parametrize("precision", ["double", "mixed"])
def test_a_run_goes_on_to_the_bits_of_an_unbroken_one(model, precision):
    whole = run(model, frames=30, precision=precision)
    first = run(model, 110, frames=11, precision=precision)
    second = ar.resume(first, 190 * STEP)
    assert second.q[1:].tobytes() == whole.q[12:].tobytes()
    assert bits(second) == bits(whole)


def test_reflecting_walls_turn_particles_as_on_the_cpu():
    model = fluid(boundaries=("reflecting", "periodic", "reflecting"))
    found, there = run(model), run(model, device="cpu")
    assert np.abs(found.q - there.q).max() < 1e-9
    places = found.q.reshape(len(found.q), -1, 3)
    assert (places[..., 0] >= 0.0).all() and (places[..., 0] <= LENGTHS[0]).all()
    free = run(fluid(boundaries=("open", "periodic", "open")))
    assert np.abs(found.q[-1] - free.q[-1]).max() > 0.1  # walls were met


def test_constant_factors_scale_the_forces(model):
    asked = {"scaling": ar.scaling.Constant(a2=0.25), "steps": 120}
    found, there = run(model, **asked), run(model, device="cpu", **asked)
    assert np.abs(found.q - there.q).max() < 1e-10
    for name in ("work_potential", "factor_potential", "energy_balance"):
        assert np.abs(found.observables[name] - there.observables[name]).max() < 1e-8


WARMED = ar.thermostats.Langevin(temperature=1.3, friction=0.8)
HEATED = {
    interpolation: ar.thermostats.Langevin(
        temperature={"times": (0.0, 0.5, 5.0), "values": (0.2, 2.0, 1.0), "interpolation": interpolation}, friction=2.0
    )
    for interpolation in ("steps", "linear")
}


@pytest.mark.parametrize("thermostat", [WARMED, *HEATED.values()], ids=["constant", *HEATED])
def test_langevins_thermostat_shakes_particles_as_on_the_cpu(model, thermostat):
    """Random numbers are a function of seed, step and particle, so that the trajectories are the same."""
    asked = {"thermostat": thermostat, "seed": 11, "steps": 180}
    found, there = run(model, **asked), run(model, device="cpu", **asked)
    assert np.abs(found.q - there.q).max() < 1e-10
    for name in ("work_thermostat", "work_potential", "conserved_energy", "temperature_target", "energy_balance"):
        assert np.abs(found.observables[name] - there.observables[name]).max() < 1e-9, name
    assert abs(found.observables["work_thermostat"][-1]) > 1.0


@pytest.mark.parametrize("thermostat", [WARMED, HEATED["linear"]], ids=["constant", "heated"])
def test_a_shaken_run_has_the_same_bits_however_it_is_cut(model, thermostat, monkeypatch):
    whole = run(model, frames=6, thermostat=thermostat)
    first = run(model, 100, frames=2, thermostat=thermostat)
    assert bits(ar.resume(first, 200 * STEP)) == bits(whole)
    monkeypatch.setattr(loop, "CHUNK_SECONDS", 0.0)
    assert bits(run(model, frames=6, thermostat=thermostat)) == bits(whole)
    other = run(model, frames=6, thermostat=thermostat, seed=2)
    assert np.abs(other.q[-1] - whole.q[-1]).max() > 0.1


def test_a_step_through_half_of_the_box_ends_the_run_with_its_particle():
    builder = ar.ModelBuilder(units="lj", box=ar.Box(lengths=(10.0,) * 3))
    velocities = [[0, 0, 0], [0, 6.0 / STEP, 0], [0, 0, 0]]
    places = [[1, 1, 1], [2.5, 1, 1], [1, 4, 1]]
    builder.add_particles(3, mass=1.0, positions=places, velocities=velocities, kind="A", names=list("abc"))
    builder.add_force(ar.forces.LennardJones(cutoff=2.5, parameters={"A": WELL["A"]}))
    model = builder.build()
    said = []
    for device in ("cpu", WARP_CPU):
        with pytest.raises(
            ar.DivergenceError, match=r"step 1: .* half of the periodic box is only 5 at body 'b'"
        ) as caught:
            run(model, device=device)
        said.append(str(caught.value))
    assert said[0] == said[1]


def test_numbers_that_are_not_finite_end_the_run_with_the_last_state_that_was_good():
    """Two fly at each other and feel nothing until the eighth step puts one upon the other: there is no other number
    in it than whole parts of two, so that they meet in one point."""
    builder = ar.ModelBuilder(units="lj", box=ar.Box(lengths=(10.0,) * 3, boundaries=("open",) * 3))
    velocities = [[16.0, 0, 0], [-16.0, 0, 0]]
    builder.add_particles(2, mass=1.0, positions=[[0, 0, 0], [1, 0, 0]], velocities=velocities, kind="A")
    builder.add_force(ar.forces.LennardJones(cutoff=2.5, parameters={"A": {"epsilon": 1e-30, "sigma": 1e-3}}))
    model = builder.build()
    said = []
    for device in ("cpu", WARP_CPU):
        with pytest.raises(ar.DivergenceError) as caught:
            ar.simulate(model, 1.0, rule="velocity-verlet", step=1.0 / 256.0, frames=1, device=device)
        said.append(caught.value.step)
    assert said[0] == said[1]
    assert said[0] in (7, 8)


WHAT = "lennard-jones, weeks-chandler-andersen, and twelve-six without C"


def refused(message: str) -> Any:
    return pytest.raises(ar.CaseError, match=re.escape(message))


def test_forces_that_a_device_does_not_know_are_refused(model):
    lj = ar.forces.LennardJones(parameters=WELL, cutoff=2.5)
    with refused(f"run.device: a device supports {WHAT}, but forces[1] is 'coulomb'; leave it out, or set"):
        run(fluid(lj, ar.forces.Coulomb(cutoff=2.5), charges=1.0))
    with refused("forces[0], 'lennard-jones', has none; give forces[0].cutoff, or set run.device = 'cpu'"):
        run(fluid(ar.forces.LennardJones(parameters=WELL), boundaries=("open",) * 3))
    free = particles(np.zeros((1, 3)))
    with refused("but the model has no forces; set run.device = 'cpu'"):
        run(free)


@pytest.mark.parametrize(
    "thermostat",
    [
        ar.thermostats.NoseHoover(temperature=1.0, period=0.5),
        ar.thermostats.StochasticVelocityRescaling(temperature=1.0, time=1.0),
    ],
)
def test_other_thermostats_are_refused_by_name(model, thermostat):
    with refused(
        f"with Langevin's thermostat, and '{thermostat.kind}' needs the kinetic energy of all particles twice"
    ):
        run(model, thermostat=thermostat)


def test_other_rules_and_models_are_refused(model):
    what = "run.device: a device such as 'cuda' supports only velocity-verlet for free particles; set it to"
    for rule in ("verlet", "r-respa", "implicit-midpoint"):
        with refused(what):
            run(model, rule=rule)
    builder = ar.ModelBuilder(units="lj")
    builder.add_body("rod", mass=1, inertia=(0.1, 0.1, 0), com=(0, 0, -0.5), joint=ar.Revolute(axis=(0, 1, 0)), q=1)
    with refused(what):
        run(builder.build())


def test_a_device_that_is_not_there_is_refused_with_those_that_are(model):
    with refused("run.device: there is no 'cuda:99' on this machine; available: 'cpu', 'warp-cpu'"):
        run(model, device="cuda:99")
    with refused("device: expected 'cpu', 'cuda', 'cuda:1' and so on, or 'warp-cpu', got 'gpu'"):
        run(model, device="gpu")
    with refused("precision = 'mixed' needs a device such as 'cuda'; the device 'cpu' computes in double precision"):
        run(model, device="cpu", precision="mixed")
