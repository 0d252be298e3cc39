"""Beads on rods side by side in lanes: the steps of the same rule on joints, whatever the chains are and however a run
is cut."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import articulon as ar
from articulon.integrate import bead_driver, choice
from articulon.integrate.bead_driver import BeadDriver
from articulon.integrate.bead_lanes import shortest_from_z
from articulon.kernels import kernel
from tests.identities.test_swing_joints import SHAPES, places, velocities
from tests.support.threads import on_one_and_two

STEPS: dict[str, Any] = {"rule": "friction-implicit", "drift": "geodesic", "step": 0.01}
BATH = ar.thermostats.Langevin(temperature=1.3, friction=0.7)
EDGE = 9.0


def melt(shapes: list[str], seed: int = 0, hanging: bool = False, repel: float = 1.0) -> ar.Model:
    """Trees of beads of different masses, on rods of different lengths, that repel each other in a box."""
    rng = np.random.default_rng(seed)
    builder = ar.ModelBuilder("lj", box=ar.Box((EDGE, EDGE, EDGE)))
    for t, shape in enumerate(shapes):
        lengths = np.zeros(len(SHAPES[shape]))
        for k, p in enumerate(SHAPES[shape]):
            mass, name = float(rng.uniform(0.5, 2.0)), f"{t}-{k}"
            if p < 0 and not hanging:
                at = 2.1 * np.array([t // 9, t // 3 % 3, t % 3]) + rng.normal(scale=0.05, size=3)
                builder.add_body(name, mass=mass, joint=ar.Xyz(), q=at, u=rng.normal(size=3))
                builder.add_site(name, (0.0, 0.0, 0.0), kind="bead")
                continue
            lengths[k] = rng.uniform(1.02, 1.3) * (-1 if k % 3 == 2 else 1)
            e = rng.normal(size=4)
            where = (2.1 * (t // 3), 2.1 * (t % 3), 0.5) if p < 0 else (0.0, 0.0, lengths[p])
            start = {"q": e / np.linalg.norm(e), "u": rng.normal(size=2), "position": where}
            rod = {"com": (0.0, 0.0, lengths[k]), "joint": ar.Swing(), **start}
            builder.add_body(name, parent=None if p < 0 else f"{t}-{p}", mass=mass, **rod)
            builder.add_site(name, (0.0, 0.0, lengths[k]), kind="bead")
    law = {"parameters": {"bead": {"epsilon": repel, "sigma": 0.9}}}
    builder.add_force(ar.forces.WeeksChandlerAndersen(**law))
    model = builder.build()
    return model if not repel else _apart(model)


def _apart(model: ar.Model) -> ar.Model:
    """The same where beads no longer overlap."""
    return replace(model, q0=ar.minimise(model, temperature=1.0))


MELTS = {
    "one chain": ["chain"],
    "eleven chains": ["chain"] * 11,
    "a mixture": ["chain", "star", "tree", "chain", "tree", "star", "chain", "tree", "chain", "tree"],
}


@pytest.fixture
def on_joints(monkeypatch: pytest.MonkeyPatch) -> Any:
    """What has the same rule take its steps in the coordinates of joints."""
    return lambda: monkeypatch.setattr(choice, "moves_beads", lambda _: False)


def driver_of(run: ar.Run) -> Any:
    return run.memory.prepared.driver


@pytest.mark.parametrize("bath", [None, "still"], ids=["alone", "still bath"])
@pytest.mark.parametrize("hanging", [False, True], ids=["free", "hanging"])
@pytest.mark.parametrize("which", MELTS)
def test_steps_are_those_of_the_same_rule_on_joints(which: str, hanging: bool, bath: Any, on_joints: Any) -> None:
    """Places, velocities and works over fifty steps, but for rounding, which grows by e in a unit of time or so. A bath
    whose friction is next to nothing stirs by nothing."""
    model = melt(MELTS[which], seed=3, hanging=hanging)
    still = None if bath is None else ar.thermostats.Langevin(temperature=1.0, friction=1e-30)
    lanes = ar.simulate(model, 0.5, frames=5, thermostat=still, **STEPS)
    assert isinstance(driver_of(lanes), BeadDriver)
    on_joints()
    joints = ar.simulate(model, 0.5, frames=5, thermostat=still, **STEPS)
    assert not isinstance(driver_of(joints), BeadDriver)
    for f in range(6):
        x, v = places(model, lanes.q[f]), velocities(model, lanes.q[f], lanes.u[f])
        np.testing.assert_allclose(x, places(model, joints.q[f]), atol=1e-10)
        np.testing.assert_allclose(v, velocities(model, joints.q[f], joints.u[f]), atol=1e-9)
    assert len(MELTS[which]) == 1 or np.abs(joints.works[-1]).max() > 0.1
    np.testing.assert_allclose(lanes.works, joints.works, atol=1e-9)
    np.testing.assert_allclose(lanes.observables["energy_balance"], joints.observables["energy_balance"], atol=1e-9)


@pytest.mark.parametrize("bath", [None, BATH], ids=["alone", "Langevin"])
def test_a_run_has_the_same_bits_however_it_is_cut(bath: Any) -> None:
    model = melt(MELTS["a mixture"], seed=5)
    whole = ar.simulate(model, 0.4, frames=2, thermostat=bath, **STEPS)
    cut = ar.simulate(model, 0.4, frames=20, thermostat=bath, **STEPS)
    parts = ar.simulate(model, 0.2, frames=1, thermostat=bath, **STEPS)
    parts.extend(0.2, frames=1)
    np.testing.assert_array_equal(whole.q, cut.q[::10])
    np.testing.assert_array_equal(whole.u, cut.u[::10])
    np.testing.assert_array_equal(whole.q, parts.q)
    np.testing.assert_array_equal(whole.works, parts.works)


def test_a_case_that_is_killed_goes_on_to_the_same_bits(tmp_path: Path) -> None:
    case = ar.load_case("polymer-melt", {"model.chains": 5, "run.duration": 0.4, "run.frames": 4})
    ar.run(case, tmp_path / "whole", report=False)
    first = case.with_overrides({"run.duration": 0.2, "run.frames": 2})
    ar.run(first, tmp_path / "parts", report=False)
    ar.run(case, tmp_path / "parts", True, overrides={"run.duration": 0.4}, report=False)
    for name in ("checkpoint.npz", "trajectory.h5"):
        assert (tmp_path / "whole" / name).read_bytes() == (tmp_path / "parts" / name).read_bytes()


def test_bits_do_not_depend_on_the_number_of_threads() -> None:
    case = ar.load_case("polymer-melt", {"model.chains": 140, "run.minimise": False})
    model = case.build_model()
    model = replace(model, q0=ar.minimise(model, temperature=1.0))
    run = ar.simulate(model, 0.05, frames=1, speeds="thermal", temperature=1.0, **STEPS)
    assert isinstance(driver_of(run), BeadDriver) and driver_of(run).evaluator.sites.parallel

    def end() -> np.ndarray:
        return ar.simulate(model, 0.05, frames=1, speeds="thermal", temperature=1.0, **STEPS).q[-1]

    np.testing.assert_array_equal(*on_one_and_two(end))


@pytest.mark.parametrize("bath", [None, BATH], ids=["alone", "Langevin"])
def test_groups_that_threads_share_take_the_same_steps(bath: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """To the bit, on one thread and on two: sums over groups have one order."""
    model = melt(MELTS["a mixture"] * 2, seed=9)

    def end() -> np.ndarray:
        run = ar.simulate(model, 0.2, frames=1, thermostat=bath, **STEPS)
        return np.concatenate([run.q[-1], run.u[-1], run.works[-1]])

    alone = end()
    monkeypatch.setattr(bead_driver, "SHARED", 1)
    for shared in on_one_and_two(end):
        np.testing.assert_array_equal(shared, alone)


def test_halving_the_step_quarters_the_error() -> None:
    """Against steps of Runge and Kutta in the coordinates of joints."""
    model = melt(MELTS["a mixture"], seed=7)
    exact = ar.simulate(model, 0.25, rule="rk4", step=2.5e-4, frames=1)
    errors = []
    for steps in (50, 100):
        run = ar.simulate(model, 0.25, **{**STEPS, "step": 0.25 / steps}, frames=1)
        errors.append(np.linalg.norm(places(model, run.q[-1]) - places(model, exact.q[-1])))
    assert errors[1] > 1e-7
    assert math.log2(errors[0] / errors[1]) == pytest.approx(2.0, abs=0.15)


@pytest.mark.slow  # seconds: an equilibrium of many freedoms
def test_speeds_under_langevin_are_of_their_temperature() -> None:
    """½kT for each of 3 N freedoms less one for each rod."""
    model = melt(["chain", "star", "tree"] * 4, seed=8)
    bath = ar.thermostats.Langevin(temperature=1.3, friction=2.0)
    run = ar.simulate(model, 600.0, frames=1200, thermostat=bath, seed=4, **STEPS)
    assert isinstance(driver_of(run), BeadDriver)
    kinetic = run.observables["kinetic_energy"][200:]
    blocks = kinetic[1:].reshape(20, -1).mean(axis=1)
    error = blocks.std(ddof=1) / np.sqrt(20)
    freedoms = 3 * model.bodies - (model.bodies - 12)
    assert 4.0 * error < 0.5 * 1.3 * 5  # five freedoms more or less would be seen
    # Steps of 0.01 at rates up to 20 in the unit of time: (hω)²/12 of the mean may be wrong.
    assert abs(kinetic.mean() - 0.5 * 1.3 * freedoms) < 4.0 * error + 0.5 * 1.3 * freedoms * 0.04 / 12


@pytest.mark.slow  # seconds: two laws that differ by a tenth
def test_trimers_bend_as_they_must() -> None:
    """p(cos θ) ∝ √(4 − cos²θ) for two rods between equal masses (Go and Scheraga, Macromolecules 9, 535, 1976)."""
    builder, rng = ar.ModelBuilder("lj", box=ar.Box((90.0, 90.0, 90.0))), np.random.default_rng(1)
    for t in range(300):
        for k in range(3):
            if not k:
                builder.add_body(f"{t}-0", mass=1.0, joint=ar.Xyz(), q=9.0 * np.array([t // 100, t // 10 % 10, t % 10]))
            else:
                e = rng.normal(size=4)
                rod = {"com": (0.0, 0.0, 1.0), "joint": ar.Swing(), "q": e / np.linalg.norm(e)}
                at = (0.0, 0.0, 1.0 if k > 1 else 0.0)
                builder.add_body(f"{t}-{k}", parent=f"{t}-{k - 1}", mass=1.0, position=at, **rod)
            builder.add_site(f"{t}-{k}", (0.0, 0.0, 1.0 if k else 0.0), kind="bead")
    builder.add_force(ar.forces.WeeksChandlerAndersen(parameters={"bead": {"epsilon": 1e-6, "sigma": 1e-3}}))
    model = builder.build()
    bath = ar.thermostats.Langevin(temperature=1.0, friction=1.0)
    run = ar.simulate(model, 200.0, frames=200, thermostat=bath, speeds="thermal", **{**STEPS, "step": 0.05})
    assert isinstance(driver_of(run), BeadDriver)
    squares = []
    for q in run.q[20:]:
        x = places(model, q).reshape(300, 3, 3)
        a, b = x[:, 1] - x[:, 0], x[:, 2] - x[:, 1]
        squares.append(((a * b).sum(axis=1) ** 2).mean())
    blocks = np.array(squares[: len(squares) // 10 * 10]).reshape(10, -1).mean(axis=1)
    error = blocks.std(ddof=1) / np.sqrt(10)
    c = np.linspace(-1.0, 1.0, 2001)
    weight = np.sqrt(4.0 - c * c)
    expected = float(np.trapezoid(c * c * weight, c) / np.trapezoid(weight, c))
    assert 5.0 * error < 1.0 / 3.0 - expected, "an even law would not be seen"
    assert abs(blocks.mean() - expected) < 4.0 * error


def test_what_stops_a_run_stops_it_as_on_joints(tmp_path: Path, on_joints: Any) -> None:
    changes = {"model.chains": 3, "run.duration": 3.0, "run.frames": 3, "checks": []}
    changes["run.stop"] = {"body": "2:4", "direction": [0.0, 0.0, 1.0], "advance": 0.3}
    case = ar.load_case("polymer-melt", changes)
    lanes = ar.run(case, tmp_path / "lanes", report=False)
    on_joints()
    joints = ar.run(case, tmp_path / "joints", report=False)
    assert lanes.summary["stop_time"] == pytest.approx(joints.summary["stop_time"], abs=1e-8)
    assert 0.0 < lanes.summary["stop_time"] < 3.0


def test_steps_that_are_too_long_say_so() -> None:
    model = melt(["chain"] * 3, seed=2)
    with pytest.raises(ar.DivergenceError, match=r"the free flight of the bodies does not converge in steps of 2"):
        ar.simulate(model, 20.0, frames=1, **{**STEPS, "step": 2.0})


@pytest.mark.parametrize(
    "change",
    [
        {"thermostat": ar.thermostats.StochasticVelocityRescaling(temperature=1.0, time=1.0)},
        {"thermostat": ar.thermostats.NoseHoover(temperature=1.0, period=1.0)},
        {"scaling": ar.scaling.Constant(a2=0.5)},
        {"forces": (ar.forces.Gravity(acceleration=(0.0, 0.0, -1.0)),)},
        {"forces": (ar.forces.Fixman(temperature=1.0),)},
        {"forces": (ar.forces.StokesDrag(translational=1.0, rotational=1.0),)},
        {"forces": (ar.forces.PositionRestraint(bodies=("0-1",), stiffness=1.0),)},
        {"forces": (ar.forces.JointActuation("0-0", 1.0),)},
    ],
    ids=["rescaling", "nose-hoover", "scaling", "gravity", "fixman", "drag", "restraint", "actuation"],
)
def test_what_lanes_do_not_know_is_done_on_joints(change: dict[str, Any]) -> None:
    model = melt(["chain"] * 2, seed=2)
    model = replace(model, forces=(*model.forces, *change.pop("forces", ())))
    run = ar.simulate(model, 0.02, frames=1, **{**STEPS, **change})
    assert not isinstance(driver_of(run), BeadDriver)


def test_rods_that_begin_beside_a_bead_are_no_beads() -> None:
    """A joint off its parent's bead: its rod does not begin there."""
    builder = ar.ModelBuilder("lj")
    builder.add_body("a", mass=1.0, joint=ar.Xyz())
    rod = {"mass": 1.0, "com": (0.0, 0.0, 1.0), "joint": ar.Swing(), "u": (0.1, 0.2)}
    builder.add_body("b", parent="a", position=(0.5, 0.0, 0.0), **rod)
    for body, at in (("a", (0.0, 0.0, 0.0)), ("b", (0.0, 0.0, 1.0))):
        builder.add_site(body, at, kind="bead")
    builder.add_force(ar.forces.WeeksChandlerAndersen(parameters={"bead": {"epsilon": 1.0, "sigma": 0.5}}))
    with pytest.raises(ar.CaseError, match="does not move body 'b' on its swing joint"):
        ar.simulate(builder.build(), 0.02, frames=1, **STEPS)


def test_sites_beside_beads_are_moved_on_joints() -> None:
    builder = ar.ModelBuilder("lj")
    builder.add_body("a", mass=1.0, joint=ar.Xyz())
    builder.add_body("b", parent="a", mass=1.0, com=(0.0, 0.0, 1.0), joint=ar.Swing(), u=(0.1, 0.2))
    builder.add_site("b", (0.0, 0.0, 0.5), kind="bead")
    builder.add_force(ar.forces.WeeksChandlerAndersen(parameters={"bead": {"epsilon": 1.0, "sigma": 0.9}}))
    assert not isinstance(driver_of(ar.simulate(builder.build(), 0.02, frames=1, **STEPS)), BeadDriver)


@kernel
def shortest(d):
    return shortest_from_z((d[0], d[1], d[2]))


@pytest.mark.parametrize("far", [0.0, 1e-3, 1e-6, 1e-9, 1e-12])
def test_the_shortest_turn_is_exact_near_the_opposite_direction(far: float) -> None:
    d = np.array([math.sin(math.pi - far) * 0.6, math.sin(math.pi - far) * 0.8, math.cos(math.pi - far)])
    w, x, y, z = shortest(d / np.linalg.norm(d))
    assert w * w + x * x + y * y + z * z == pytest.approx(1.0, abs=1e-15)
    turned = np.array([2.0 * (x * z + w * y), 2.0 * (y * z - w * x), w * w - x * x - y * y + z * z])
    np.testing.assert_allclose(turned, d, atol=4e-16)
