"""Runs of hard spheres by the rule event-driven: ledger, figures, the same bits when resumed, and what is refused."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import articulon as ar
from articulon.integrate import event_driver
from tests.support.hard_sphere_gases import lattice_gas


def fluid(cells: int = 4, packing: float = 0.3, **law: Any) -> Any:
    """Hard spheres of unit mass and diameter in a periodic box."""
    start = lattice_gas(cells, packing)
    box = ar.Box(lengths=tuple(start.gas.box.high.tolist()))
    return spheres(start.positions, start.velocities, box, **law)


def spheres(
    positions: Any, velocities: Any, box: Any = None, radius: Any = 0.5, gravity: Any = None, **law: Any
) -> Any:
    builder = ar.ModelBuilder(units="lj", box=box)
    where = {"positions": positions, "velocities": velocities, "radius": radius}
    builder.add_particles(len(positions), mass=1.0, kind="A", **where)
    builder.add_force(ar.forces.Impacts(**law))
    if gravity is not None:
        builder.add_force(ar.forces.Gravity(acceleration=gravity))
    return builder.build()


def test_the_ledger_of_a_run_closes_and_its_figures_are_those_of_the_impacts() -> None:
    run = ar.simulate(fluid(restitution=0.9), 2.0, rule="event-driven", frames=4)
    found = run.observables
    assert np.abs(found["energy_balance"]).max() < 1e-13 * found["kinetic_energy"][0]
    assert (np.diff(found["work_contact"]) < 0.0).all()
    assert (np.diff(found["kinetic_energy"]) < 0.0).all()
    figures = run.summary["impacts"]
    assert figures["impacts"] == run.summary["steps"] == found["impacts"][-1] > 1000
    assert figures["wall_impacts"] == 0 and figures["largest_impulse"] > 1.0
    assert figures["energy_lost"] == -found["work_contact"][-1] > 0.0
    assert 0.0 < figures["largest_impulse_time"] < 2.0
    assert re.fullmatch(r"'A-\d+' and 'A-\d+'", figures["largest_impulse_between"])
    assert figures["largest_impulse_dimension"] == "momentum"
    np.testing.assert_allclose(found["impact_rate"][1:], np.diff(found["impacts"]) / 0.5, rtol=1e-12)
    # p V = N k T + ΔW/(3 t), and Z is p V over N k T.
    volume, n = run.model.box.volume, run.model.bodies
    thermal = 2.0 * found["kinetic_energy"][1:] / (3.0 * n - 3.0)
    pressure = found["compressibility_factor"][1:] * n * thermal / volume
    np.testing.assert_allclose(found["pressure"][1:], pressure, rtol=1e-12)
    assert np.isnan(found["pressure"][0]) and np.isnan(found["compressibility_factor"][0])
    virial = (found["compressibility_factor"][1:] - 1.0) * 3.0 * n * thermal * 0.5
    assert virial.sum() == pytest.approx(figures["collisional_virial"], rel=1e-12)


def test_gravity_is_booked_too() -> None:
    box = ar.Box(lengths=(6.0, 6.0, 12.0), boundaries=("periodic", "periodic", "reflecting"))
    places = 1.0 + 1.2 * np.indices((4, 4, 3)).reshape(3, -1).T
    speeds = np.random.default_rng(1).normal(size=places.shape)
    model = spheres(places, speeds, box, gravity=(0.0, 0.0, -1.0), restitution=0.95)
    run = ar.simulate(model, 3.0, rule="event-driven", frames=3)
    found, fallen = run.observables, run.q[:, 2::3]
    assert np.abs(found["energy_balance"]).max() < 1e-12 * found["kinetic_energy"].max()
    np.testing.assert_allclose(found["work_external"], fallen[0].sum() - fallen.sum(axis=1), rtol=0, atol=1e-11)
    assert run.summary["impacts"]["wall_impacts"] > 10
    assert "pressure" not in found
    assert fallen.min() > 0.5 - 1e-12 and fallen.max() < 11.5 + 1e-12


def test_a_resumed_run_has_the_bits_of_an_unbroken_one() -> None:
    model = fluid(restitution=0.97)
    whole = ar.simulate(model, 4.0, rule="event-driven", frames=8)
    first = ar.simulate(model, 1.0, rule="event-driven", frames=2)
    second = ar.resume(first, 3.0)
    assert np.array_equal(whole.q[2:], second.q) and np.array_equal(whole.u[2:], second.u)
    for name, array in whole.state.arrays().items():
        assert np.array_equal(array, second.state.arrays()[name]), name


def test_a_run_that_is_killed_between_impacts_goes_on_to_the_same_bits(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    case = ar.load_case("hard-spheres").with_overrides(
        {"model.cells": 4, "run.duration": 6.0, "run.frames": 6, "run.checkpoint_interval": 1e-9, "checks": []}
    )
    whole = ar.run(case, out=tmp_path / "whole", progress=False, report=False)
    plain, calls = event_driver.SphereGas.advance, []

    def broken(self: Any, positions: Any, velocities: Any, duration: float, asked: Any) -> Any:
        calls.append(duration)
        if len(calls) == 3:  # in the middle of the third frame
            plain(self, positions, velocities, 0.4 * duration, asked)
            raise RuntimeError("the power has failed")
        return plain(self, positions, velocities, duration, asked)

    monkeypatch.setattr(event_driver.SphereGas, "advance", broken)
    with pytest.raises(RuntimeError, match="power"):
        ar.run(case, out=tmp_path / "part", progress=False, report=False)
    monkeypatch.setattr(event_driver.SphereGas, "advance", plain)
    resumed = ar.run(case, out=tmp_path / "part", resume=True, progress=False, report=False)
    assert resumed.summary["status"] == "complete"
    assert np.array_equal(whole.q, resumed.q) and np.array_equal(whole.u, resumed.u)


def test_a_run_that_is_interrupted_between_impacts_ends_with_the_frame_before(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    model = fluid()
    whole = ar.simulate(model, 2.0, rule="event-driven", frames=4)
    plain, asked = event_driver.SphereGas.advance, []

    def interrupted(self: Any, positions: Any, velocities: Any, duration: float, _: Any) -> Any:
        def stop() -> bool:
            asked.append(True)
            return len(asked) == 3

        return plain(self, positions, velocities, duration, stop)

    with monkeypatch.context() as patch:
        patch.setattr("articulon.integrate.sphere_gas.IMPACTS", 400)
        patch.setattr(event_driver.SphereGas, "advance", interrupted)
        again = ar.simulate(model, 2.0, rule="event-driven", frames=4)
    assert len(asked) > 3
    assert np.array_equal(whole.q, again.q) and np.array_equal(whole.u, again.u)


def test_one_or_two_threads_give_the_same_bits() -> None:
    import numba

    before, ends = numba.get_num_threads(), []
    try:
        for threads in (1, min(2, numba.config.NUMBA_NUM_THREADS)):
            numba.set_num_threads(threads)
            ends.append(ar.simulate(fluid(), 1.0, rule="event-driven", frames=1).q)
    finally:
        numba.set_num_threads(before)
    assert np.array_equal(*ends)


def test_both_ways_to_take_impacts_agree() -> None:
    """Between two spheres steps of a rule find the same impact as the flight does."""
    places, speeds = [(0.0, 0.0, 0.0), (3.0, 0.4, 0.2)], [(1.0, 0.0, 0.0), (-0.5, 0.0, 0.1)]
    model = spheres(places, speeds, restitution=0.6)
    events = ar.simulate(model, 3.0, rule="event-driven", frames=3)
    steps = ar.simulate(model, 3.0, rule="dormand-prince", frames=3)
    np.testing.assert_allclose(events.u, steps.u, rtol=0, atol=1e-9)
    np.testing.assert_allclose(events.q, steps.q, rtol=0, atol=1e-9)
    assert events.observables["work_contact"][-1] == pytest.approx(steps.observables["work_contact"][-1], rel=1e-9)


PAIR = {"positions": [(0.0, 0.0, 0.0), (3.0, 0.0, 0.0)], "velocities": [(1.0, 0.0, 0.0), (-1.0, 0.0, 0.0)]}


def bodies(**given: Any) -> Any:
    return spheres(**{**PAIR, **given})


def small_box(*boundaries: str, lengths: tuple[float, float, float] = (8.0, 8.0, 8.0), **given: Any) -> Any:
    return ar.Box(lengths=lengths, boundaries=boundaries or ("periodic",) * 3, **given)


def mixed() -> Any:
    """Spheres with forces between them."""
    builder = ar.ModelBuilder(units="lj", box=small_box())
    builder.add_particles(2, mass=1.0, kind="A", radius=0.5, **PAIR)
    builder.add_force(ar.forces.Impacts())
    builder.add_force(ar.forces.LennardJones(parameters={"A": {"epsilon": 1.0, "sigma": 1.0}}, cutoff=2.0))
    return builder.build()


def turning() -> Any:
    """A sphere that turns, and one that does not."""
    builder = ar.ModelBuilder(units="lj")
    builder.add_body("ball", mass=1.0, inertia=0.1, joint=ar.Free())
    builder.add_site("ball", kind="A", radius=0.5)
    builder.add_particles(1, mass=1.0, kind="A", radius=0.5, positions=[(3.0, 0.0, 0.0)])
    builder.add_force(ar.forces.Impacts())
    return builder.build()


def without_impacts() -> Any:
    builder = ar.ModelBuilder(units="lj")
    builder.add_particles(2, mass=1.0, kind="A", radius=0.5, **PAIR)
    return builder.build()


FREELY = "goes from impact to impact: it computes when two smooth spheres in free flight meet"
WRONG = {
    "friction": (lambda: bodies(friction=0.3), {}, FREELY),
    "forces between them": (mixed, {}, FREELY),
    "a body that turns": (turning, {}, FREELY),
    "no impacts": (without_impacts, {}, r"integrator\.rule: 'event-driven' takes steps only from impact to impact"),
    "a step": (bodies, {"step": 0.1}, "this rule has no steps, it goes from impact to impact"),
    "a tolerance": (bodies, {"rtol": 1e-6}, "this rule finds impacts exactly"),
    "a thermostat": (
        bodies,
        {"thermostat": ar.thermostats.Langevin(temperature=1.0, friction=1.0)},
        "'event-driven' lets spheres fly freely between impacts, where 'langevin' would act",
    ),
    "a policy": (bodies, {"scaling": ar.scaling.Constant(a2=0.5)}, r"scaling"),
    "a barostat": (
        lambda: bodies(box=small_box()),
        {"barostat": ar.barostats.MonteCarlo(pressure=1.0, compressibility=0.1, every=1)},
        "barostat",
    ),
    "a solver": (bodies, {"solver": "kane"}, "choose the solver 'articulated'"),
    "impacts all at once": (lambda: bodies(simultaneous="complementarity"), {}, "set it to 'sequential'"),
    "rest under gravity": (
        lambda: bodies(gravity=(0.0, 0.0, -1.0), resting_speed=1e-3),
        {},
        r"resting_speed: 'event-driven' has no resting contacts",
    ),
    "a tilted box": (lambda: bodies(box=small_box(tilts=(1.0, 0.0, 0.0))), {}, r"box\.tilts"),
    "a box that is too small": (
        lambda: bodies(box=small_box(lengths=(8.0, 1.5, 8.0))),
        {},
        r"box\.lengths: 1\.5 along y is less than two diameters",
    ),
    "overlap": (
        lambda: bodies(positions=[(0.0, 0.0, 0.0), (0.9, 0.0, 0.0)]),
        {},
        r"'A-0' and 'A-1' overlap at the start, by 0\.1 of the sum of their radii",
    ),
    "overlap through a face": (
        lambda: bodies(box=small_box(), positions=[(0.1, 0.0, 0.0), (7.6, 0.0, 0.0)]),
        {},
        r"'A-0' and 'A-1' overlap at the start, by 0\.5 of the sum",
    ),
    "a sphere in a wall": (
        lambda: bodies(box=small_box("open", "open", "reflecting"), positions=[(0.0, 0.0, 0.4), (3.0, 0.0, 4.0)]),
        {},
        r"'A-0' begins in or behind a reflecting wall, at z = 0\.4, and its centre must lie between 0\.5 and 7\.5",
    ),
    "a restitution above 1": (lambda: bodies(restitution=1.5), {}, "restitution"),
    "a restitution below 0": (lambda: bodies(restitution=-0.5), {}, "restitution"),
    "a negative radius": (lambda: bodies(radius=-0.5), {}, "add_particles, radius: must not be negative"),
}


@pytest.mark.parametrize("what", WRONG)
def test_what_cannot_be_is_refused_by_name(what: str) -> None:
    make, options, said = WRONG[what]
    with pytest.raises((ar.CaseError, ar.ModelError), match=said):
        ar.simulate(make(), 1.0, rule="event-driven", frames=1, **options)


def test_impacts_without_end_are_named() -> None:
    places = [(-3.0, 0.0, 0.0), (0.0, 0.0, 0.0), (1.01, 0.0, 0.0)]
    speeds = [(1.0, 0.0, 0.0), (0.0, 0.0, 0.0), (-1.0, 0.0, 0.0)]
    model = spheres(places, speeds, restitution=0.06)
    with pytest.raises(
        ar.DivergenceError, match=r"endless impacts at ever shorter intervals.*inelastic collapse.*give resting_speed"
    ) as said:
        ar.simulate(model, 100.0, rule="event-driven", frames=1)
    assert re.search("around 'A-[012]'", str(said.value))
    run = ar.simulate(
        spheres(places, speeds, restitution=0.06, resting_speed=1e-6), 100.0, rule="event-driven", frames=1
    )
    assert np.ptp(run.u[-1].reshape(-1, 3)[:, 0]) < 1e-5


def test_a_stop_is_refused(tmp_path: Path) -> None:
    case = ar.load_case("hard-spheres").with_overrides(
        {"model.cells": 3, "run.stop": {"body": "particle-0", "direction": [1.0, 0.0, 0.0], "advance": 1.0}}
    )
    with pytest.raises(ar.CaseError, match=r"run\.stop: 'event-driven' goes from frame to frame"):
        ar.run(case, out=tmp_path / "run", progress=False)


def test_the_packing_of_a_lattice_is_that_which_is_asked_for() -> None:
    case = ar.load_case("hard-spheres").with_overrides({"model.cells": 3, "model.packing_fraction": 0.2})
    model = case.build_model()
    assert model.bodies * np.pi / 6.0 / model.box.volume == pytest.approx(0.2, rel=1e-12)
    assert (model.sites.radius == 0.5).all()
    without = case.with_overrides({"model.species.A.radius": 0.0})
    with pytest.raises(ar.CaseError, match=r"model\.packing_fraction: the species have no radius"):
        without.build_model()
