"""Derivatives of velocity Verlet where nothing turns: explicit, and implicit where forces read speeds."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pytest

import articulon as ar
from tests.support.run_derivatives import fourth_order
from tests.support.single_steps import changed, numbers_of, stepped, stepping, weighed

RUN: dict[str, Any] = {"rule": "velocity-verlet", "step": 0.02, "frames": 1}
DURATION, STEP, BOUND = 0.2, 3e-4, 1e-9


def particles(first: float = 0.5) -> ar.Model:
    """Beads that repel and attract each other, with a bond: in ``ar.simulate`` those of plain arrays."""
    builder = ar.ModelBuilder(units="lj")
    rng = np.random.default_rng(5)
    for k in range(5):
        place = tuple(1.2 * np.array([k % 2, k // 2, 0.3 * k]) + 0.05 * rng.normal(size=3))
        what = {"mass": first if k == 0 else 1.0 + 0.2 * k, "u": tuple(rng.normal(size=3))}
        body = builder.add_body(f"bead-{k}", joint=ar.Xyz(), q=place, **what)
        builder.add_site(body, kind="A", charge=0.2 * (-1.0) ** k)
    builder.add_force(ar.forces.LennardJones(parameters={"A": {"epsilon": 1.0, "sigma": 1.0}}, cutoff=6.0))
    builder.add_force(ar.forces.Coulomb(cutoff=6.0, truncation="force-shifted"))
    return builder.build()


def sliders(*forces: Any) -> ar.Model:
    """A rail on the ground with a cart on it and a bead on that: the mass matrix is full, and constant."""
    builder = ar.ModelBuilder(units="kg-m-s")
    builder.add_body("rail", mass=2.0, inertia=0.1, joint=ar.Prismatic((0.6, 0.0, 0.8)), q=0.2, u=0.5)
    turn = {"position": (0.1, 0.2, 0.3), "rotation": (0.8, 0.6, 0.0, 0.0)}
    builder.add_body("cart", parent="rail", mass=1.0, joint=ar.Prismatic((0.0, 1.0, 0.0)), q=-0.3, u=0.4, **turn)
    builder.add_body("bead", parent="cart", mass=0.7, joint=ar.Xyz(), q=(0.4, 0.1, -0.2), u=(0.3, -0.6, 0.1))
    builder.add_force(ar.forces.Gravity(acceleration=(0.3, 0.2, -1.0)))
    builder.add_force(ar.forces.PositionRestraint(bodies=("bead",), stiffness=3.0, to=(0.4, 0.2, 0.1)))
    for one in forces:
        builder.add_force(one)
    return builder.build()


def dragged() -> ar.Model:
    """The same with forces that read speeds: drag in a flow, a damped spring and damped joints."""
    drag = ar.forces.StokesDrag(translational={"rail": 0.5, "cart": 0.9, "bead": 1.4}, flow=(0.1, 0.2, 0.3))
    spring = ar.forces.PointSpring(name="damper", bodies=("rail", "bead"), stiffness=1.0, rest_length=0.2, damping=0.6)
    return sliders(drag, spring, ar.forces.JointDamping(translational={"cart": 0.8}))


MODELS = {"particles": particles, "sliders": sliders, "dragged": dragged, "thermostatted": particles}
WARM = ar.thermostats.Langevin(temperature=1.3, friction=0.8)


def run_of(name: str) -> dict[str, Any]:
    """How a model is run."""
    return {**RUN, "thermostat": WARM, "seed": 4} if name == "thermostatted" else dict(RUN)


@pytest.mark.parametrize("number", [0, 1])
@pytest.mark.parametrize("name", MODELS)
def test_the_adjoint_of_a_step_is_the_transposed_tangent(name: str, number: int) -> None:
    """The fixed point is found to 1e-12 of its size at least, and to rounding where it converges as here."""
    scaling = {} if name == "thermostatted" else {"scaling": ar.scaling.Constant(a2=0.7)}
    steps, rng = stepping(MODELS[name](), duration=0.06, **scaling, **run_of(name)), np.random.default_rng(3)
    size, y = steps.start.size, stepped(steps, 0, steps.start)
    v, w, p = rng.normal(size=size), rng.normal(size=size), rng.normal(size=numbers_of(steps)[1].size)
    forward = w @ changed(steps, number, y, v[None], p[None])[0]
    by_state, by_tables = weighed(steps, number, y, w)
    scale = np.abs(by_state * v).sum() + np.abs(by_tables * p).sum()
    assert abs(by_state @ v + by_tables @ p - forward) <= 1e-12 * scale


@pytest.mark.parametrize("name", MODELS)
def test_steps_are_those_of_simulations(name: str) -> None:
    """The driver's in canonical momenta or on plain arrays: to rounding, and to that of its stages."""
    model = MODELS[name]()
    found = ar.sensitivity(model, "kinetic_energy", "u", duration=DURATION, **run_of(name))
    run = ar.simulate(model, DURATION, **run_of(name))
    assert np.abs(found.q - run.q[-1]).max() <= 1e-12 and np.abs(found.u - run.u[-1]).max() <= 1e-11


PARAMETERS = {
    "particles": ["forces.lennard-jones.parameters.A.sigma", "bodies.bead-1.mass", "sites[2].charge"],
    "thermostatted": ["forces.lennard-jones.parameters.A.epsilon", "bodies.bead-3.mass"],
    "sliders": ["forces.gravity.acceleration", "forces[1].stiffness", "bodies.cart.mass", "bodies.cart.rotation"],
    "dragged": ["forces.stokes-drag.flow", "forces.joint-damping.translational.cart", "forces[3].damping"],
}


@pytest.mark.parametrize("name", MODELS)
def test_runs_have_the_derivatives_of_re_runs(name: str) -> None:
    """By the initial state against re-runs; by all else, adjoint and forward, which are written down apart; and bits of
    any number of checkpoints."""
    model = MODELS[name]()
    names = ["q", "u", *PARAMETERS[name]]
    given: dict[str, Any] = {"duration": DURATION, **run_of(name)}
    adjoint = ar.sensitivity(model, "kinetic_energy", names, **given)
    forward = ar.sensitivity(model, "kinetic_energy", names, "forward", **given)
    few = ar.sensitivity(model, "kinetic_energy", names, checkpoints=2, **given)
    for one in names:
        size = 1.0 + np.abs(forward.gradient[one]).max()
        assert np.abs(np.subtract(adjoint.gradient[one], forward.gradient[one])).max() <= 1e-11 * size, one
        assert np.array_equal(few.gradient[one], adjoint.gradient[one]), one
        assert np.abs(adjoint.gradient[one]).max() > 1e-6, one
    along = np.random.default_rng(1).normal(size=model.nu)

    def value(q: np.ndarray, u: np.ndarray) -> float:
        run = ar.simulate(model, DURATION, **run_of(name), q=q, u=u)
        return ar.kinetic_energy(model, run.q[-1], run.u[-1])

    difference = partial(fourth_order, step=STEP)

    by_q = difference(lambda h: value(model.q0 + h * along, model.u0))
    by_u = difference(lambda h: value(model.q0, model.u0 + h * along))
    size = 1.0 + max(abs(by_q), abs(by_u))
    assert abs(adjoint.gradient["q"] @ along - by_q) <= BOUND * size
    assert abs(adjoint.gradient["u"] @ along - by_u) <= BOUND * size


def test_a_number_of_a_force_that_reads_speeds_against_re_runs() -> None:
    def value(h: float) -> float:
        model = dragged()
        spring = model.forces[3].model_copy(update={"damping": 0.6 + h})
        run = ar.simulate(replace(model, forces=(*model.forces[:3], spring, model.forces[4])), DURATION, **RUN)
        return ar.kinetic_energy(model, run.q[-1], run.u[-1])

    found = ar.sensitivity(dragged(), "kinetic_energy", "forces[3].damping", duration=DURATION, **RUN)
    expected = (8.0 * (value(STEP) - value(-STEP)) - (value(2.0 * STEP) - value(-2.0 * STEP))) / (12.0 * STEP)
    assert abs(found.gradient["forces[3].damping"] - expected) <= BOUND


def test_the_noise_of_a_mass_against_re_runs() -> None:
    """Whose speeds in the bath go with the root of it."""

    def value(h: float) -> float:
        model = particles(0.5 + h)
        run = ar.simulate(model, DURATION, **run_of("thermostatted"))
        return ar.kinetic_energy(particles(), run.q[-1], run.u[-1])

    def objective(q: np.ndarray, u: np.ndarray) -> Any:
        mass = np.repeat(particles().masses, 3)
        return 0.5 * float(mass @ u**2), np.zeros(q.size), mass * u

    name = "bodies.bead-0.mass"
    found = ar.sensitivity(particles(), objective, name, duration=DURATION, **run_of("thermostatted"))
    expected = (8.0 * (value(STEP) - value(-STEP)) - (value(2.0 * STEP) - value(-2.0 * STEP))) / (12.0 * STEP)
    assert abs(found.gradient[name] - expected) <= BOUND


def test_runs_that_stop_have_derivatives_of_their_time() -> None:
    model = sliders()
    stop = {"body": "cart", "direction": (1.0, 0.0, 0.0), "advance": 0.08}
    found = ar.sensitivity(model, "stop_time", "u", duration=2.0, stop=stop, **RUN)

    def time(h: float) -> float:
        u = model.u0 + h * np.eye(model.nu)[0]
        return ar.sensitivity(model, "stop_time", "q", duration=2.0, stop=stop, u=u, **RUN).value

    expected = (8.0 * (time(STEP) - time(-STEP)) - (time(2.0 * STEP) - time(-2.0 * STEP))) / (12.0 * STEP)
    # Times are those at which φ is zero to some 1e-12, and differences of these err by so much over their step.
    assert found.gradient["u"][0] == pytest.approx(expected, abs=1e-8)
    assert abs(expected) > 0.01


def test_what_has_no_derivatives_is_named() -> None:
    bath = ar.thermostats.NoseHoover(temperature=1.0, period=1.0)
    with pytest.raises(
        ar.CaseError, match=r"thermostat: runs have derivatives only with 'langevin', .* leave 'nose-hoover'"
    ):
        ar.sensitivity(particles(), "kinetic_energy", "u", duration=DURATION, thermostat=bath, **RUN)
    noisy = sliders(ar.forces.StokesDrag(translational=1.0), ar.forces.Brownian(temperature=1e20))
    with pytest.raises(ar.CaseError, match=r"forces\[3\]: 'velocity-verlet' cannot hold noise"):
        ar.sensitivity(noisy, "kinetic_energy", "u", duration=DURATION, **RUN)
    with pytest.raises(ar.CaseError, match=r"'implicit-midpoint' has no derivatives; choose one of .*velocity-verlet"):
        ar.sensitivity(sliders(), "kinetic_energy", "u", duration=DURATION, **{**RUN, "rule": "implicit-midpoint"})


def test_steps_whose_middle_is_not_found_diverge() -> None:
    stiff = sliders(ar.forces.StokesDrag(translational=500.0))
    with pytest.raises(ar.DivergenceError):
        ar.sensitivity(stiff, "kinetic_energy", "u", duration=DURATION, **RUN)
