"""``ar.simulate`` and ``ar.run`` prepare a run in the same way, and both give a ``Run`` with the same names."""

from __future__ import annotations

import copy
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import articulon as ar
from tests.support.run_cases import CHAIN, case_of

ARRAYS = ("times", "q", "u", "positions", "rotations", "works", "kinetic_energy", "potential_energy")
SHORT = {"run.duration": "0.02 us", "run.frames": 4, "integrator": {"rule": "rk4", "step": "0.001 us"}}


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory) -> tuple[Any, Any]:
    """The same motion in memory and in a folder."""
    folder = tmp_path_factory.mktemp("door")
    case = case_of(folder, CHAIN, SHORT)
    options = {"rule": "rk4", "step": 0.001, "frames": 4, "seed": case.run.seed}
    return ar.simulate(case.build_model(), 0.02, **options), ar.run(case, folder / "run", report=False)


def test_both_doors_give_the_same_run_to_the_bit(both: tuple[Any, Any]) -> None:
    here, there = both
    assert type(here) is type(there) is ar.Run
    for name in ARRAYS:
        ours, theirs = getattr(here, name), getattr(there, name)
        # Files hold lengths and times in nanometres and nanoseconds.
        np.testing.assert_allclose(ours, theirs, rtol=4e-16, atol=0.0, err_msg=name)
    assert np.array_equal(here.q, there.q) and np.array_equal(here.u, there.u)
    assert here.observables.keys() == there.observables.keys()
    for name, values in here.observables.items():
        np.testing.assert_allclose(values, there.observables[name], rtol=4e-16, atol=0.0, err_msg=name)


def test_both_have_the_same_figures(both: tuple[Any, Any]) -> None:
    here, there = (run.summary for run in both)
    assert here.keys() == there.keys()
    of_the_case = {"title", "case", "digest", "wall_seconds", "notes"}
    for name in here.keys() - of_the_case:
        if name == "temperatures" or name.startswith("energy_balance") or name == "conservative_works":
            continue  # of numbers that went through the units of the file
        assert here[name] == there[name], name
    assert here["energy_balance_error"] == pytest.approx(there["energy_balance_error"], rel=1e-9)


def test_works_and_energies_are_those_of_the_observables(both: tuple[Any, Any]) -> None:
    for run in both:
        gained = run.kinetic_energy - run.kinetic_energy[0]
        assert run.observables["energy_balance"] == pytest.approx(gained - run.works.sum(axis=1), abs=1e-12)
        energies = [values for name, values in run.observables.items() if name in ENERGIES]
        np.testing.assert_allclose(run.potential_energy, np.sum(energies, axis=0), rtol=1e-15)


ENERGIES = ("energy_potential", "energy_conformational", "energy_external")


def test_a_run_is_copied_and_pickled(both: tuple[Any, Any]) -> None:
    for run in both:
        for other in (copy.deepcopy(run), pickle.loads(pickle.dumps(run))):
            assert type(other) is ar.Run and np.array_equal(other.q, run.q) and other.summary == run.summary


def test_what_only_one_kind_has_is_refused_by_name(both: tuple[Any, Any]) -> None:
    here, there = both
    with pytest.raises(ar.ArticulonError, match=r"is in memory and has no folder; write it into one with run\.save"):
        _ = here.folder
    with pytest.raises(ar.ArticulonError, match="only a run in memory has 'state'"):
        _ = there.state
    assert isinstance(there.folder, Path) and here.in_memory and not there.in_memory


def test_a_run_that_diverges_keeps_what_it_has() -> None:
    builder = ar.ModelBuilder(units="kg-m-s")
    builder.add_body("rod", mass=1, inertia=0.1, com=(0, 0, -0.5), joint=ar.Revolute(axis=(0, 1, 0)), q=1.0)
    builder.add_force(ar.forces.TorsionalSprings(stiffness={"rod": 3.5e5}))
    # ω h = 10: each step multiplies the angle by about 10⁴/24, so that it is beyond all numbers after 120 steps.
    with pytest.raises(ar.DivergenceError) as caught:
        ar.simulate(builder.build(), 4.0, rule="rk4", step=0.01, frames=40)
    run = caught.value.run  # type: ignore[attr-defined]
    assert isinstance(run, ar.Run) and not run.complete and run.summary["status"] == "failed"
    assert 5 < run.times.size < 15 and np.isfinite(run.q).all()


def test_frames_build_no_tables_of_forces(monkeypatch: pytest.MonkeyPatch) -> None:
    """However many there are: what a frame costs is what it looks at."""
    from articulon.forces import evaluation_tables as evaluation

    builder = ar.ModelBuilder(units="kg-m-s")
    builder.add_body("rod", mass=1, inertia=0.1, com=(0, 0, -0.5), joint=ar.Revolute(axis=(0, 1, 0)), q=1.0)
    builder.add_force(ar.forces.Gravity(acceleration=(0, 0, -9.81)))
    model, built, make = builder.build(), [], evaluation.force_tables
    monkeypatch.setattr(evaluation, "force_tables", lambda *arguments: built.append(1) or make(*arguments))
    counts = []
    for frames in (1, 50):
        run = ar.simulate(model, 1.0, rule="rk4", step=0.01, frames=frames)
        assert run.potential_energy.size == frames + 1 and run.summary["frames"] == frames + 1
        counts.append(len(built))
        built.clear()
    assert counts == [1, 1]


def test_both_say_what_the_parts_of_a_run_do_together(tmp_path: Path) -> None:
    """Two baths at once, and steps in which noise turns a body far."""
    builder = ar.ModelBuilder(units="fg-um-us")
    builder.add_body("ball", mass=1.0, inertia=1e-6, joint=ar.Free())
    builder.add_force(ar.forces.StokesDrag(translational=10.0, rotational=1e-4))
    builder.add_force(ar.forces.Brownian(temperature="300 K"))
    bath = ar.thermostats.Langevin(temperature="310 K", friction="1 1/us")
    options = {"rule": "friction-implicit", "step": 0.5, "frames": 1, "thermostat": bath, "seed": 1}
    here = ar.simulate(builder.build(), 1.0, **options)
    here.save(tmp_path / "run")
    for notes in (here.notes, here.summary["notes"], ar.open_run(tmp_path / "run").summary["notes"]):
        assert sum("are two heat baths" in note for note in notes) == 1, notes
        assert sum("rad in a step" in note for note in notes) == 1, notes
