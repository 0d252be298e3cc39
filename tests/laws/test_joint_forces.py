"""Forces of joints: damping and friction against closed forms, actuation by tables and functions, and their books.

A run at rtol = 1e-10 follows its equation to ``CLOSE`` of the largest value; tables and functions are smooth, or the
steps end on their corners.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

import numba
import numpy as np
import pytest

import articulon as ar
from articulon.forces.base import Force
from articulon.model import CHANNELS
from articulon.passes import pass_of
from articulon.runs.entry import simulate
from articulon.simulation.ledger import without_energy

CLOSE = 1e-8
DAMPING, EXTERNAL = CHANNELS.index("damping"), CHANNELS.index("external")
Z = (0.0, 0.0, 1.0)
INERTIA, MASS = 0.5, 2.0


def one(joint: Any, *forces: Any, u: Any = None, q: Any = None, inertia: Any = INERTIA) -> ar.Model:
    """One body on a joint through its centre of mass."""
    builder = ar.ModelBuilder("kg-m-s")
    builder.add_body("body", mass=MASS, inertia=inertia, joint=joint, q=q, u=u)
    for force in forces:
        builder.add_force(force)
    return builder.build()


def disc(*forces: Any, u: float = 0.0, q: float = 0.0) -> ar.Model:
    return one(ar.Revolute(axis=Z), *forces, u=u, q=q)


def run(model: ar.Model, duration: float, **options: Any) -> Any:
    return simulate(model, duration, **{"rule": "dormand-prince", "rtol": 1e-10, "atol": 1e-12} | options)


def assert_books(r: Any) -> None:
    """T − T₀ is the sum of the works."""
    works = np.asarray(r.works)
    scale = max(np.abs(works).max(), r.kinetic_energy[0])
    assert np.abs(r.kinetic_energy - r.kinetic_energy[0] - works.sum(axis=1)).max() <= CLOSE * scale


def forces_at(model: ar.Model, u: Any, channel: str = "damping") -> np.ndarray:
    return ar.generalized_forces(model, model.q0, np.asarray(u, dtype=float), [channel])


def test_a_constant_torque_is_one_number() -> None:
    """u = τ t/I, of a rule that integrates it exactly but for rounding, before, within and beyond any table."""
    for value, torque in ((5, 5.0), ("5 N m", 5.0), (np.float64(-2.5), -2.5)):
        r = run(disc(ar.forces.JointActuation(body="body", values=value)), 3.0, frames=6)
        np.testing.assert_allclose(r.u[:, 0], torque * r.times / INERTIA, rtol=1e-12)
        assert_books(r)


def test_a_constant_torque_has_no_table() -> None:
    for wrong in ({"interpolation": "linear"}, {"beyond": "hold"}, {"times": (0.0, 1.0)}):
        with pytest.raises(ar.ModelError, match=r"JointActuation(\.values)?: "):
            ar.forces.JointActuation(body="body", values=5, **wrong)
    with pytest.raises(ar.ModelError, match=r"values.*got True"):
        ar.forces.JointActuation(body="body", values=True)


def test_a_damped_oscillator_decays_as_it_must() -> None:
    k, c, start = 3.0, 0.4, 0.7
    model = disc(
        ar.forces.TorsionalSprings(stiffness={"body": k}), ar.forces.JointDamping(rotational={"bo*": c}), q=start
    )
    r = run(model, 5.0)
    decay = c / (2 * INERTIA)
    omega = np.sqrt(k / INERTIA - decay**2)
    exact = start * np.exp(-decay * r.times) * (np.cos(omega * r.times) + decay / omega * np.sin(omega * r.times))
    assert np.abs(r.q[:, 0] - exact).max() <= CLOSE
    assert_books(r)
    energy = r.kinetic_energy + r.potential_energy
    assert np.abs(energy - energy[0] - np.asarray(r.works)[:, DAMPING]).max() <= CLOSE * energy[0]


@pytest.mark.parametrize("solver", ["articulated", "kane", "divide-and-conquer"])
def test_a_damped_slide_loses_its_speed_exponentially(solver: str) -> None:
    model = one(ar.Prismatic(axis=(1, 2, 2)), ar.forces.JointDamping(translational="3 N s/m"), u=2.0)
    r = run(model, 1.5, solver=solver)
    assert np.abs(r.u[:, 0] - 2.0 * np.exp(-3.0 * r.times / MASS)).max() <= CLOSE
    assert_books(r)


@pytest.mark.parametrize("rule", ["implicit-midpoint", "rk4", "adams-bashforth-moulton"])
def test_every_family_of_rules_takes_damping(rule: str) -> None:
    model = disc(ar.forces.JointDamping(rotational=0.25), u=2.0)
    r = simulate(model, 1.0, rule=rule, step=1e-3, frames=2)
    # Second order: (c h/I)² of the speed, at the worst.
    assert r.u[-1, 0] == pytest.approx(2.0 * np.exp(-0.5), rel=1e-6)


def test_friction_stops_a_spinning_disc_at_the_right_time() -> None:
    """I u' = −μ tanh(u/u_s) has the solution sinh(u/u_s) = sinh(u₀/u_s) exp(−μ t/(I u_s)): a straight line to rest."""
    mu, width, start = 0.4, 0.01, 0.5
    model = disc(ar.forces.JointFriction(rotational=mu, rotational_speed=width), u=start)
    stop = INERTIA * start / mu
    r = run(model, 1.1 * stop, frames=110)
    exact = width * np.arcsinh(np.sinh(start / width) * np.exp(-mu * r.times / (INERTIA * width)))
    assert np.abs(r.u[:, 0] - exact).max() <= CLOSE
    # Coulomb's law itself, where the speed is far above u_s; and rest after the time that it gives.
    moving = r.times < 0.9 * stop
    assert np.abs(r.u[moving, 0] - (start - mu * r.times[moving] / INERTIA)).max() <= 2 * width * np.exp(-10.0)
    assert abs(r.u[-1, 0]) <= 2 * width * np.exp(-mu * 0.1 * stop / (INERTIA * width))
    assert_books(r)
    assert r.works[-1, DAMPING] == pytest.approx(-0.5 * INERTIA * start**2, rel=1e-3)


def test_friction_of_a_spherical_joint_is_against_its_spin_whatever_the_axis() -> None:
    model = one(ar.Spherical(), ar.forces.JointFriction(rotational=2.0, rotational_speed=0.1))
    u = np.array([0.3, -0.4, 1.2])
    np.testing.assert_allclose(forces_at(model, u), -2.0 * np.tanh(13.0) * u / 1.3, rtol=1e-14)
    assert np.array_equal(forces_at(model, np.zeros(3)), np.zeros(3))


def test_the_hinges_of_a_universal_joint_rub_each_for_itself() -> None:
    model = one(ar.Universal(), ar.forces.JointFriction(rotational=2.0, rotational_speed=0.1))
    np.testing.assert_allclose(forces_at(model, [0.3, -0.02]), [-2 * np.tanh(3.0), 2 * np.tanh(0.2)], rtol=1e-14)


def test_a_number_is_for_the_joints_that_bind_and_a_free_one_is_named() -> None:
    builder = ar.ModelBuilder("kg-m-s")
    builder.add_body("ship", mass=1.0, inertia=1.0, joint=ar.Free())
    builder.add_body("arm", mass=1.0, inertia=1.0, parent="ship", joint=ar.Revolute(axis=Z))
    builder.add_body("hand", mass=1.0, inertia=1.0, parent="arm", joint=ar.Weld())
    builder.add_force(ar.forces.JointDamping(rotational=2.0))
    builder.add_force(ar.forces.JointDamping(translational={"ship": 3.0}))
    builder.add_force(ar.forces.JointFriction(translational={"*": 4.0}, translational_speed=0.1))
    builder.add_force(ar.forces.JointDamping(rotational={"*": 5.0, "arm": 0.5}))
    u = np.array([3.0, 4.0, 0.0, 1.0, 1.0, 1.0, 2.0])
    expected = [-9.0 - 2.4, -12.0 - 3.2, 0.0, -5.0, -5.0, -5.0, -4.0 - 1.0]
    np.testing.assert_allclose(forces_at(builder.build(), u), expected, rtol=1e-14)


@pytest.mark.parametrize("size", [3.0, {"*": 3.0}], ids=["number", "table"])
@pytest.mark.parametrize("kind", ["damping", "friction"])
def test_a_number_leaves_particles_alone_and_a_table_does_not(kind: str, size: Any) -> None:
    """An xyz joint holds no bodies together: a particle would be damped against the ground."""
    builder = ar.ModelBuilder("kg-m-s")
    builder.add_particles(1, mass=1.0, positions=[(0.0, 0.0, 0.0)])
    builder.add_body("carriage", mass=1.0, joint=ar.Prismatic(axis=Z))
    builder.add_body("load", mass=1.0, joint=ar.Xyz(), parent="carriage")
    if kind == "damping":
        builder.add_force(ar.forces.JointDamping(translational=size))
        expected = np.array([-3.0, -6.0, -9.0, -12.0, -3.0, -6.0, -9.0])
    else:
        builder.add_force(ar.forces.JointFriction(translational=size, translational_speed=1e-6))
        one = -3.0 * np.array([1.0, 2.0, 3.0]) / np.sqrt(14.0)
        expected = np.array([*one, -3.0, *one])
    if not isinstance(size, dict):
        expected[[0, 1, 2, 4, 5, 6]] = 0.0
    found = forces_at(builder.build(), [1.0, 2.0, 3.0, 4.0, 1.0, 2.0, 3.0])
    np.testing.assert_allclose(found, expected, rtol=1e-14)


def test_a_number_for_particles_alone_is_refused() -> None:
    builder = ar.ModelBuilder("kg-m-s")
    builder.add_particles(1, mass=1.0, positions=[(0.0, 0.0, 0.0)])
    builder.add_force(ar.forces.JointDamping(translational=1.0))
    with pytest.raises(
        ar.ModelError, match=r"forces\[0\]\.translational: .*connects it to others; name the bodies of free and xyz"
    ):
        builder.build()


def test_a_constant_torque_spins_a_disc_up_and_its_work_is_booked() -> None:
    model = disc(ar.forces.JointActuation(body="body", times=(0, 1), values=(1.5, "150 N cm"), interpolation="linear"))
    r = run(model, 1.0)
    assert np.abs(r.u[:, 0] - 1.5 * r.times / INERTIA).max() <= CLOSE
    assert np.abs(np.asarray(r.works)[:, EXTERNAL] - 1.5 * r.q[:, 0]).max() <= CLOSE
    assert_books(r)
    assert without_energy(model) == {"external"}
    assert without_energy(disc(ar.forces.JointDamping(rotational=1.0))) == set()


@pass_of
def blow(strength: Any, joint: Any) -> None:
    joint[0] += strength[0]


class Wind(Force):
    """A constant torque, of which nobody has said that it has an energy."""

    kind: Literal["wind-of-a-test"] = "wind-of-a-test"
    strength: float

    @classmethod
    def gather(cls, model: Any, declared: Any, users: Any) -> Any:
        return np.array([sum(force.strength for _, force in declared)])

    @classmethod
    def channels(cls, table: Any) -> Any:
        return (), (EXTERNAL,)

    @classmethod
    def fill(cls, table: Any, at: Any) -> Any:
        yield blow.bind(table, at.channels.joint[EXTERNAL])


def test_a_force_that_has_no_energy_function_is_held_against_none() -> None:
    """Whoever has written it."""
    model = disc(Wind(strength=1.5))
    assert without_energy(model) == {"external"}
    r = run(model, 1.0)
    assert np.abs(r.u[:, 0] - 1.5 * r.times / INERTIA).max() <= CLOSE
    found = r.summary["conservative_works"]["external"]
    assert found["error"] is None and "without an energy function" in found["reason"]


def test_a_cubic_table_is_a_cubic_where_its_values_are() -> None:
    """τ = 1 − 6 t² + 4 t³ through five unequal times; the speed is its integral."""
    times = np.array([-0.5, 0.0, 0.3, 0.4, 1.0])
    table = ar.forces.JointActuation(body="body", times=times, values=1 - 6 * times**2 + 4 * times**3)
    r = run(disc(table), 1.0)
    assert np.abs(r.u[:, 0] - (r.times - 2 * r.times**3 + r.times**4) / INERTIA).max() <= CLOSE


def test_a_linear_table_is_integrated_between_its_corners() -> None:
    times, values = np.array([0.0, 0.25, 0.5, 1.0]), np.array([0.0, 2.0, -1.0, 1.0])
    table = ar.forces.JointActuation(body="body", times=times, values=values, interpolation="linear", beyond="hold")
    r = simulate(disc(table), 2.0, rule="rk4", step=0.05, frames=40)
    fine = np.linspace(0.0, 2.0, 8001)
    area = np.concatenate([[0.0], np.cumsum(np.diff(fine) * np.interp(0.5 * (fine[1:] + fine[:-1]), times, values))])
    # After the table the last value holds.
    assert np.abs(r.u[:, 0] - np.interp(r.times, fine, area) / INERTIA).max() <= 1e-12


def test_a_run_beyond_the_table_is_refused() -> None:
    model = disc(ar.forces.JointActuation(body="body", times=(0, 1, 2, 3), values=(0, 1, 2, 3)))
    with pytest.raises(ar.ModelError, match=r"forces\[0\]\.times: the table goes from 0 to 3, but the run from 0 to 4"):
        simulate(model, 4.0)


@pytest.mark.parametrize(("component", "direction"), [(0, 0), (2, 2)])
def test_a_component_is_one_of_the_speeds(component: int, direction: int) -> None:
    table = {"times": (0, 1), "values": (2.0, 2.0), "interpolation": "linear"}
    model = one(ar.Spherical(), ar.forces.JointActuation(body="body", component=component, **table))
    np.testing.assert_array_equal(forces_at(model, np.zeros(3), "external"), 2.0 * np.eye(3)[direction])


@numba.njit
def spring(time, q, u, parameters, tau):
    tau[0] += -parameters[0] * q[0] + parameters[1] * np.cos(3.0 * time)


def slow_spring(time, q, u, parameters, tau):
    tau[0] += -parameters[0] * q[0] + parameters[1] * np.cos(3.0 * time)


@pytest.mark.parametrize("function", [spring, slow_spring])
def test_a_function_forces_an_oscillator(function: Any) -> None:
    """I q'' = −k q + a cos 3t from rest: q = a/(k − 9 I) (cos 3t − cos ωt)."""
    k, a = 2.0, 0.3
    model = disc(ar.forces.JointActuation(function=function, parameters=(k, a)))
    r = run(model, 4.0, frames=20)
    omega = np.sqrt(k / INERTIA)
    exact = a / (k - 9 * INERTIA) * (np.cos(3 * r.times) - np.cos(omega * r.times))
    assert np.abs(r.q[:, 0] - exact).max() <= CLOSE
    assert_books(r)


def test_functions_add_up_and_see_zeros() -> None:
    def write(time: float, q: Any, u: Any, parameters: Any, tau: Any) -> None:
        assert not tau.any()
        tau[0] = parameters[0]

    model = disc(*(ar.forces.JointActuation(function=write, parameters=(p,)) for p in (1.0, 10.0)))
    assert forces_at(model, [0.0], "external")[0] == 11.0


def test_what_a_function_raises_is_raised() -> None:
    def broken(time: float, q: Any, u: Any, parameters: Any, tau: Any) -> None:
        raise RuntimeError("no such valve")

    model = disc(ar.forces.JointActuation(function=broken))
    with pytest.raises((RuntimeError, ar.ArticulonError), match="no such valve"):
        run(model, 1.0)


@numba.njit
def broken_torque(time: float, q: Any, u: Any, parameters: Any, tau: Any) -> None:
    if time > 0.5:
        raise ValueError("no such gear")
    tau[0] = 1.0


def test_what_a_compiled_function_raises_is_raised_with_the_step() -> None:
    model = disc(ar.forces.JointActuation(function=broken_torque))
    with pytest.raises(ar.ArticulonError, match=r"failed after t = 0\.\d+ s, step \d+: ValueError: no such gear"):
        run(model, 1.0)


def test_a_function_of_all_joints_is_refused_by_name_where_joints_lock() -> None:
    builder = ar.ModelBuilder("kg-m-s")
    builder.add_body("arm", mass=1.0, inertia=1.0, joint=ar.Revolute(axis=Z))
    builder.add_body("hand", parent="arm", mass=1.0, inertia=1.0, joint=ar.Revolute(axis=Z), position=(1.0, 0.0, 0.0))
    builder.add_force(ar.forces.JointActuation(function=broken_torque))
    speed = ar.adaptive.Speed(below=1.0)
    plan = ar.adaptive.Adaptive(every=0.1, groups=(ar.adaptive.Group(bodies=("hand",), lock=speed),))
    with pytest.raises(ar.CaseError, match=r"adaptive: forces\[0\]: a function that acts on all joints cannot know"):
        simulate(builder.build(), 1.0, rule="rk4", step=0.01, adaptive=plan)


def test_the_friction_implicit_rule_takes_actuation() -> None:
    table = ar.forces.JointActuation(body="body", times=(0, 1), values=(1.5, 1.5), interpolation="linear")
    r = simulate(disc(table), 1.0, rule="friction-implicit", step=0.1)
    assert r.u[-1, 0] == pytest.approx(1.5 / INERTIA, rel=1e-12)


@pytest.mark.slow
def test_a_case_file_has_all_three(tmp_path: Path) -> None:
    (tmp_path / "motor.py").write_text("def torque(time, q, u, parameters, tau):\n    tau[0] += parameters[0]\n")
    (tmp_path / "case.toml").write_text(
        """
[case]
units = "kg-m-s"
[[model.bodies]]
name = "wheel"
mass = 1.0
inertia = 0.5
joint = "revolute"
[[forces]]
kind = "joint-actuation"
function = "motor.py:torque"
parameters = [3.0]
[[forces]]
kind = "joint-actuation"
body = "wheel"
times = ["0 ms", "0.5 s", 1, 2]
values = ["1 N m", 1, 1, 1]
[[forces]]
kind = "joint-damping"
rotational = 0.5
[[forces]]
kind = "joint-friction"
rotational = { "wheel" = "1 N m" }
rotational_speed = "1 mrad/s"
[run]
duration = 2.0
frames = 4
"""
    )
    case = ar.load_case(tmp_path / "case.toml", allow_code=True)
    results = ar.run(case, tmp_path / "run", report=False)
    # Against damping and friction of the size 1 the torque 4 spins it up to (4 − 1)/0.5 in a time of one.
    assert results.u[-1, 0] == pytest.approx(6.0 * (1.0 - np.exp(-2.0)), rel=2e-3)
    assert results.summary["conservative_works"]["external"]["error"] is None
    assert results.summary["energy_balance_error_relative"] < 1e-5


def actuation(**fields: Any) -> Any:
    return ar.forces.JointActuation(**{"body": "arm", "times": (0, 1, 2, 3), "values": (0, 1, 2, 3)} | fields)


@pytest.mark.parametrize(
    ("force", "said"),
    [
        (lambda: actuation(body="arn"), r"forces\[0\]\.body: there is no body 'arn'; did you mean 'arm'"),
        (lambda: actuation(component=1), r"\.component: body 'arm' has a revolute joint, with 1 speeds \(rate\)"),
        (lambda: actuation(body="hand"), r"\.component: body 'hand' has a weld joint, with 0 speeds \(none\)"),
        (lambda: actuation(times=(0, 1, 1, 2)), r"\.times: cubic interpolation needs at least 4 increasing times"),
        (lambda: actuation(times=(0, 1), values=(0, 1)), "cubic interpolation needs at least 4"),
        (lambda: actuation(times=(0, 5e-324, 1, 2)), r"forces\[0\]\.times: two of them are too close"),
        (lambda: actuation(values=(0, 1, 2)), "values and times differ in length: got 3 and 4"),
        (lambda: actuation(values=(0, 1, 2, "3 N")), r"forces\[0\]\.values.*a torque"),
        (lambda: actuation(function=spring), "give either body, times and values, or a function"),
        (lambda: ar.forces.JointActuation(body="arm"), "give either body, times and values, or a function"),
        (lambda: actuation(parameters=(1.0,)), "parameters belong to a function"),
        (lambda: ar.forces.JointActuation(function="math:pi"), r"forces\[0\]\.function: .*is not a function"),
        (lambda: ar.forces.JointDamping(), "give rotational or translational"),
        (lambda: ar.forces.JointDamping(rotational=-1.0), r"forces\[0\]\.rotational: must be at least 0"),
        (lambda: ar.forces.JointDamping(rotational={"leg*": 1.0}), r"\.rotational: no body's name begins with 'leg'"),
        (
            lambda: ar.forces.JointDamping(translational={"arm": 1.0}),
            r"forces\[0\]\.translational: body 'arm' has a revolute joint, not one that translates its body",
        ),
        (
            lambda: ar.forces.JointDamping(translational=1.0),
            r"\.translational: no joint of this model translates its body",
        ),
        (lambda: ar.forces.JointFriction(rotational=1.0), "rotational and rotational_speed, .*belong together"),
        (
            lambda: ar.forces.JointFriction(rotational=1.0, rotational_speed=0.0),
            r"\.rotational_speed: must be greater than 0",
        ),
    ],
)
def test_what_a_joint_force_cannot_be_says_so(force: Any, said: str) -> None:
    builder = ar.ModelBuilder("kg-m-s")
    builder.add_body("arm", mass=1.0, inertia=1.0, joint=ar.Revolute(axis=Z))
    builder.add_body("hand", parent="arm", mass=1.0, inertia=1.0, joint=ar.Weld())

    def declare_and_build() -> None:
        builder.add_force(force())
        builder.build()

    with pytest.raises((ar.ModelError, ar.CaseError), match=said):
        declare_and_build()
