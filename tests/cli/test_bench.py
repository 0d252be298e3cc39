"""The benchmarks: that they measure the same problem in every engine, and print what they say they print. No timing is
checked here: that is what ``articulon bench`` is for."""

from __future__ import annotations

import io
import json
import subprocess
import tracemalloc
from functools import partial
from typing import Any

import numpy as np
import pytest
from rich.console import Console

import articulon as ar
import benchmarks
from articulon.forces.sites import pair_loops
from articulon.forces.sites.pair_sums import LANES_OF
from benchmarks import (
    accuracy,
    algorithms,
    batches,
    chains,
    docking,
    ensembles,
    lammps_melt,
    melt,
    memory,
    molten_salt,
    openmm_melt,
    pairs,
    peers,
    solver,
    tables,
    timing,
)
from tests.support import bounds

SIZES = (2, 9)
KINDS = pytest.mark.parametrize("kind", solver.KINDS)


@pytest.fixture(scope="module")
def solver_figures() -> dict[str, Any]:
    """Everything that the command measures, on short chains, and few calls of each: fifty thousand calls of divide and
    conquer on two threads take minutes where the threads wait for each other."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(algorithms, "REPEATED_BODIES", 256)
        patch.setattr(algorithms, "measure_mixed", partial(algorithms.measure_mixed, sizes=(16, 64), seconds=0.0))
        return solver.measure(sizes=SIZES, seconds=0.0, trees=3, algorithm_sizes=(4, 64))


@pytest.fixture(scope="module")
def docking_figures() -> dict[str, Any]:
    return docking.measure(friction_implicit=0.001, scaled=0.0005, seconds=0.01, explicit=0.0002)


def printed(show: Any, figures: dict[str, Any]) -> str:
    out = Console(file=io.StringIO(), width=tables.LEAST_WIDTH, highlight=False, markup=False)
    show(figures, out)
    return out.file.getvalue()  # type: ignore[attr-defined]


@KINDS
def test_all_engines_are_given_the_same_chain(kind: str) -> None:
    c = chains.chain(kind, 7)
    model = chains.our_model(c)
    matrix = ar.mass_matrix(model, c.q)
    exact = np.linalg.solve(matrix, -accuracy.bias(model, c))
    bound = bounds.forward(np.linalg.cond(matrix), exact)
    for make in (lambda c: chains.ours(c, model), chains.pinocchio, chains.mujoco):
        found = make(c)
        assert found is not None
        found.call()
        assert np.linalg.norm(found.accelerations() - exact) <= bound


@KINDS
def test_the_residual_is_the_relative_error_of_accelerations_that_are_all_wrong_by_one_factor(kind: str) -> None:
    # M (1 + d) u' + bias = −d bias.
    c = chains.chain(kind, 20)
    model = chains.our_model(c)
    found = chains.ours(c, model)
    found.call()
    udot = found.accelerations()
    assert accuracy.residual(model, c, udot) <= 1e-14 * c.bodies
    for d in (1e-6, 0.5, np.nan):
        np.testing.assert_allclose(accuracy.residual(model, c, (1 + d) * udot), d, rtol=1e-6)
    # ... and the backward error sets the same forces against ‖M‖ ‖u'‖ + ‖bias‖.
    matrix, bias = ar.mass_matrix(model, c.q), accuracy.bias(model, c)
    size = np.linalg.norm(matrix, np.inf) * 1.5 * np.abs(udot).max() + np.abs(bias).max()
    error = accuracy.backward_error(model, c, 1.5 * udot)
    np.testing.assert_allclose(error, 0.5 * np.abs(bias).max() / size, rtol=1e-9)


def test_the_mass_matrix_of_a_long_chain_is_not_formed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(accuracy, "DENSE_FREEDOMS", 3)
    c = chains.chain("revolute", 4)
    assert accuracy.backward_error(chains.our_model(c), c, np.zeros(4)) is None


def test_peers_give_up_chains_that_they_cannot_hold() -> None:
    assert chains.pinocchio(chains.chain("spherical", 134)) is None
    assert chains.mujoco(chains.chain("revolute", 513)) is None


def test_an_engine_that_is_not_installed_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str) -> None:
        raise ImportError(name)

    monkeypatch.setattr("importlib.import_module", missing)
    figures = solver.measure_chains("revolute", (2,), 0.0)
    for engine in ("pinocchio", "mujoco"):
        assert [figures[f"{engine}_{what}"] for what in solver.FIGURES] == [[None]] * 3
    assert figures["ours_ns_per_body"][0] > 0.0
    assert solver.ratios(figures) == [None]


@pytest.mark.slow
@KINDS
def test_a_model_and_its_workspace_take_less_than_2_kb_per_body_also_while_it_is_built(kind: str) -> None:
    c = chains.chain(kind, 20_000)
    chains.ours(c, chains.our_model(c)).call()
    tracemalloc.start()
    try:
        model = chains.our_model(c)
        found = chains.ours(c, model)
        found.call()
        held, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    counted = memory.bytes_of(model, chains.scratch(model))
    assert peak < 2000 * c.bodies
    # Beside what is counted there are what a call is given and finds, zeros for what it is not given, its result, and
    # where Euler parameters are.
    call = 8 * (c.q.size + 6 * c.bodies + 5 * c.degrees_of_freedom + 2 * len(model.euler_parameters[0]))
    np.testing.assert_allclose(held, counted + call, rtol=0.01)
    assert found.accelerations().size == c.degrees_of_freedom


def test_what_is_shared_is_counted_once() -> None:
    array = np.zeros(100)
    assert memory.bytes_of(array) == 800
    assert memory.bytes_of((array, array)) - memory.bytes_of((array,)) < 100


def test_calls_are_timed_in_turn_and_the_best_is_kept() -> None:
    now, order = 0.0, []

    def call(name: str, durations: list[float]) -> None:
        nonlocal now
        order.append(name)
        now += durations.pop(0)

    # Of each round, the first call is not timed; the very first call of all sets the number of repeats.
    a = [9.0, 9.0, 3.0, 9.0, 2.0, 9.0, 4.0]
    b = [9.0, 9.0, 0.5, 9.0, 0.7, 9.0, 0.6]
    best = timing.interleaved([lambda: call("a", a), lambda: call("b", b)], 0.0, lambda: now, batch=0.0)
    np.testing.assert_allclose(best, [2.0, 0.5], rtol=1e-12)
    assert order == ["a", "b"] + ["a", "a", "b", "b"] * timing.LEAST_ROUNDS


@pytest.mark.slow
def test_figures_of_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    figures = batches.measure(sizes=(3,), states=50, seconds=0.0, cases=(("nanoparticle-docking", 9, 2),))
    (row,) = figures["ensembles"]
    assert row["states"] == 9 and all(row[way] > 0.0 for way in ensembles.WAYS)
    assert all(figures[engine][0] > 0.0 for engine in batches.ENGINES)
    assert figures["difference"][0] < 1e-12
    assert [t["limit"] for t in figures["targets"]] == [6.0, 11.0]
    text = printed(batches.show, figures)
    assert "50 states of a revolute chain" in text and "nanoparticle-docking" in text
    monkeypatch.setattr(batches, "installed", lambda _: None)
    monkeypatch.setattr(ensembles, "installed", lambda _: None)
    alone = batches.measure(sizes=(3,), states=9, seconds=0.0, cases=(("trp-zipper", 9, 2),))
    assert alone["ensembles"][0]["a run, 1 thread"] is None
    assert alone["aba"] == [None] and [t["met"] for t in alone["targets"]] == [None, None]


@pytest.mark.slow
def test_figures_of_the_solver(solver_figures: dict[str, Any]) -> None:
    for kind in solver.KINDS:
        of = solver_figures[kind]
        assert of["n"] == list(SIZES)
        for engine in solver.ENGINES:
            for what in solver.FIGURES:
                assert len(of[f"{engine}_{what}"]) == len(SIZES)
            assert all(value > 0.0 for value in of[f"{engine}_ns_per_body"])
            assert all(0.0 <= value <= 1e-14 * n for n, value in zip(SIZES, of[f"{engine}_residual"], strict=True))
            assert all(0.0 <= value <= 1e-14 for value in of[f"{engine}_backward_error"])
        assert 0 < of["bytes_per_body"] < 10_000
    forest = solver_figures["forest"]
    assert forest["trees"] == 3
    assert forest["one_thread_ns_per_body"] > 0.0
    assert [t["met"] for t in solver_figures["targets"][:4]] == [None] * 4  # these chains are too short to tell
    text = printed(solver.show, solver_figures)
    assert "Spherical chains" in text
    assert "not measured" in text


def test_growth_is_from_128_to_100_000_bodies() -> None:
    assert solver.growth({"n": [8, 128, 100_000], "ours_ns_per_body": [900.0, 100.0, 115.0]}) == pytest.approx(0.15)
    assert solver.growth({"n": [8, 128], "ours_ns_per_body": [900.0, 100.0]}) is None


@pytest.mark.parametrize(
    "measured, at_least, met", [(2.0, False, True), (2.1, False, False), (2.1, True, True), (1.9, True, False)]
)
def test_a_target_is_met_or_missed(measured: float, at_least: bool, met: bool) -> None:
    assert tables.target("x", measured, 2.0, at_least)["met"] is met


def test_figures_of_docking(docking_figures: dict[str, Any]) -> None:
    f = docking_figures
    assert f["evaluation_us"] > 0.0
    assert f["evaluation_with_new_noise_us"] > 0.0
    assert f["friction_implicit_5us_s"] > 0.0
    assert f["scaled_5us_s"] > 0.0
    assert f["friction_implicit_extrapolated_from_us"] == 0.001
    assert f["scaled_extrapolated_from_us"] == 0.0005
    assert f["friction_implicit_steps_per_us"] == 125_000
    assert f["paper_scaled_min"] == 837.0
    text = printed(docking.show, f)
    assert "extrapolated from 0.001 μs" in text
    assert "50,220" in text


def test_each_published_time_of_the_docking_stands_beside_the_same_method(docking_figures: dict[str, Any]) -> None:
    """837 minutes are those of the adaptive rule, 32,310 those without scaling; a constant factor has none (5.7)."""
    f = docking_figures
    assert (f["paper_unscaled_min"], f["paper_scaled_min"]) == (32310.0, 837.0)
    assert docking.ADAPTIVE["scaling"]["policy"] == "threshold-adaptive" and docking.ADAPTIVE["scaling"]["threshold"]
    assert f["adaptive_steps_per_us"] > 0 and f["explicit_steps_per_us"] > 10 * f["adaptive_steps_per_us"]
    lines = printed(docking.show, f).splitlines()
    guy = [line for line in lines if "Guy (2018)" in line]
    assert len(guy) == 2 and "1,938,600" in guy[0] and "unscaled" in guy[0]
    assert "50,220" in guy[1] and "threshold-adaptive" in guy[1]
    assert not any("a2" in line for line in guy), "chapter 5 prints no factor"
    ours = " ".join(lines)
    assert "Kutta–Merson, threshold-adaptive, a2 = 0.01" in ours and "Kutta–Merson, unscaled" in ours


def test_a_time_is_extrapolated_without_the_time_to_get_ready() -> None:
    timed = docking.Timed(simulated=0.25, ready=(2.0, 1.0), advancing=(3.0, 2.5), steps=1, evaluations=1)
    assert timed.wall(5.0) == 62.0
    assert timed.processor(5.0) == 51.0


def test_the_docking_runs_under_the_published_conditions_and_to_its_end() -> None:
    case = docking.published(docking.SCALED)
    assert case.run.stop is None
    assert case.scaling.a2 == 0.01
    assert case.integrator.rule == "kutta-merson"
    assert (case.integrator.rtol, case.integrator.atol) == (1e-5, 1e-6)
    brownian = next(force for force in case.forces if force.kind == "brownian")
    assert brownian.temperature == 300.0


@pytest.mark.slow
@pytest.mark.parametrize("name", ["solver", "docking", None])
def test_json_is_all_that_is_on_the_standard_output(
    name: str | None,
    solver_figures: dict[str, Any],
    docking_figures: dict[str, Any],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    def measured(figures: dict[str, Any], say: Any) -> dict[str, Any]:
        say("what takes time")
        return figures

    every = {"solver": solver_figures, "docking": docking_figures}
    for known, figures in every.items():
        _, show = benchmarks.BENCHMARKS[known]
        monkeypatch.setitem(benchmarks.BENCHMARKS, known, (partial(measured, figures), show))
    benchmarks.main(name, json=True)
    out, err = capsys.readouterr()
    assert json.loads(out) == (every if name is None else every[name])
    assert "measuring what takes time" in err
    benchmarks.main(name, json=False)
    out, _ = capsys.readouterr()
    assert out.count("**Targets**") == (2 if name is None else 1)


def test_entrants_take_turns_and_one_that_cannot_run_has_no_further_turn() -> None:
    order: list[str] = []
    times = {"a": [3.0, 1.0, 2.0], "b": [None], "c": [5.0, None, 4.0]}

    def entrant(name: str) -> float | None:
        order.append(name)
        return times[name].pop(0)

    best = timing.in_turn({name: partial(entrant, name) for name in times}, 3)
    assert best == {"a": 1.0, "b": None, "c": None}
    assert order == ["a", "b", "c", "a", "c", "a"]


def test_the_melt_is_that_of_lammps() -> None:
    start = melt.melt(5)
    assert start.atoms == 500
    np.testing.assert_allclose(start.atoms / start.length**3, 0.8442, rtol=1e-12)
    np.testing.assert_allclose(start.velocities.sum(axis=0), 0.0, atol=1e-10)
    np.testing.assert_allclose(np.vdot(start.velocities, start.velocities) / (3 * 500 - 3), 1.44, rtol=1e-12)
    # An fcc lattice: twelve neighbours at a/√2, a being the edge of the cube with four atoms.
    away = start.positions - start.positions[0]
    away -= start.length * np.rint(away / start.length)
    distance = np.sort(np.linalg.norm(away, axis=1))[1:]
    np.testing.assert_allclose(distance[:12], (4 / 0.8442) ** (1 / 3) / np.sqrt(2.0), rtol=1e-12)
    assert distance[12] > 1.4 * distance[0]


def lammps_says(monkeypatch: pytest.MonkeyPatch, text: str, status: int = 0) -> tuple[float | None, list[str]]:
    said: list[str] = []
    done = subprocess.CompletedProcess([], status, stdout=text, stderr="")
    monkeypatch.setattr(lammps_melt, "executable", lambda name: f"/bin/{name}")
    monkeypatch.setattr(subprocess, "run", lambda *_, **__: done)
    return lammps_melt.runner(lammps_melt.RANKS, said.append)(200), said


def test_the_time_of_lammps_is_that_of_its_last_loop(monkeypatch: pytest.MonkeyPatch) -> None:
    line = "Loop time of {} on 2 procs for {} steps with 32000 atoms\n\nPerformance: 1 tau/day\n"
    assert lammps_says(monkeypatch, line.format(0.7, 100) + line.format(1.25, 200)) == (1.25, [])


@pytest.mark.parametrize("text, status", [("ERROR: Unknown command", 1), ("", 0), ("Loop time of 1 on 1 procs", 0)])
def test_lammps_that_does_not_run_is_left_out(monkeypatch: pytest.MonkeyPatch, text: str, status: int) -> None:
    taken, said = lammps_says(monkeypatch, text, status)
    assert taken is None
    assert "did not run" in said[0]


def test_peers_that_are_not_installed_are_said(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str) -> None:
        raise ImportError(name)

    said: list[str] = []
    monkeypatch.setattr(lammps_melt, "executable", lambda name: None if name == "mpirun" else "/bin/true")
    monkeypatch.setattr("importlib.import_module", missing)
    assert lammps_melt.runner(lammps_melt.RANKS, said.append)(1) is None
    assert openmm_melt.runner(melt.melt(2), 1, said.append)(1) is None
    assert ["not installed" in text for text in said] == [True, True]


def test_ratios_and_targets_of_pairs() -> None:
    figures = {
        "ours": {"1": 7.5, "2": 15.0},
        "lammps": {"1": 3.0, "2": 6.0},
        "lammps_checked": {"1": 2.5, "2": None},
        "openmm": {"1": None, "2": 3.0},
    }
    figures["ratios"] = peers.ratios(figures, pairs.ENGINES[1:])
    assert figures["ratios"]["lammps"] == {"1": 2.5, "2": 2.5}
    assert figures["ratios"]["openmm"] == {"1": None, "2": 5.0}
    assert figures["ratios"]["one_thread"] == {"1": 1.0, "2": 2.0}
    figures["scaling"] = {"atoms": [10, 1000], "ns_per_atom_step": [100.0, 120.0], "bytes_per_atom": [9e9, 1000.0]}
    assert [t["met"] for t in pairs.targets(figures)] == [True, True, True, True, False, True]
    figures["ratios"]["lammps"]["1"] = None
    assert pairs.targets(figures)[0]["met"] is None


def test_the_melt_has_the_energy_that_lammps_prints_for_in_lj() -> None:
    start = melt.melt(6)
    model = melt.our_model(start)
    # The first line of the output of bench/in.lj, whatever the size: E_pair = -6.7733681.
    np.testing.assert_allclose(ar.potential_energy(model, model.q0) / start.atoms, -6.7733681, rtol=1e-8)


def test_sizes_are_in_order_and_the_lower_figures_of_each_count(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    taken = {(8, 30): 2.0, (5, 30): 3.0, (5, 60): 1.5}

    def measured(program: Any, size: int, threads: int, steps: int) -> dict[str, Any]:
        assert program is melt and threads == max(peers.usable())
        return {"atoms": 4 * size**3, "ns": taken[size, steps], "bytes": 100.0 * steps}

    monkeypatch.setattr(peers, "_in_a_process", measured)
    said: list[str] = []
    found = peers.by_size(melt, "atoms", list(taken), lambda n: f"{n} cells", said.append)
    assert found == {"threads": max(peers.usable()), "atoms": [500, 2048], "ns": [1.5, 2.0], "bytes": [3000.0, 3000.0]}
    assert said == ["8 cells", "5 cells", "5 cells"]


@pytest.mark.slow
def test_figures_of_pairs() -> None:
    said: list[str] = []
    f = pairs.measure(cells=5, steps=3, rounds=1, scaling=((5, 3, 1),), say=said.append)
    for engine in pairs.ENGINES:
        assert all(f[engine][str(threads)] > 0.0 for threads in peers.usable()), said
    assert f["lammps_way"]["1"] == "-sf opt"
    assert f["scaling"]["atoms"] == [500]
    assert all(value > 0.0 for what in ("ns_per_atom_step", "bytes_per_atom") for value in f["scaling"][what])
    assert json.loads(json.dumps(f, allow_nan=False)) == f
    text = printed(pairs.show, f)
    assert "500 atoms" in text
    assert "LAMMPS, list of in.lj" in text
    assert set(f["ns_per_pair"]) == set(pair_loops.CANDIDATES) and f["pair_loop"] in LANES_OF


def test_the_loop_that_is_taken_is_marked() -> None:
    figures = {"pair_loop": "packed-4", "ns_per_pair": {"gather": 2.0, "packed-4": 1.25}}
    lines = [line.split() for line in printed(lambda f, out: pairs.show_loops(out, f), figures).splitlines()]
    assert ["|", "gather", "|", "|", "2.00", "|"] in lines
    assert ["|", "packed-4", "|", "taken", "|", "1.25", "|"] in lines


def test_figures_of_the_molten_salt() -> None:
    figures: dict[str, Any] = {"machine": timing.machine(), "extrapolated_from_ps": None, "paper_h": 64.0}
    for name, seconds in (("published", 300.0), ("velocity_verlet", 50.0)):
        figures[f"{name}_20ps_s"] = figures[f"{name}_20ps_processor_s"] = seconds
        figures[f"{name}_steps_per_ps"] = figures[f"{name}_evaluations_per_ps"] = 1000
    figures["targets"] = molten_salt.targets(figures)
    assert [t["met"] for t in figures["targets"]] == [True, True]
    text = printed(molten_salt.show, figures)
    assert "in full" in text
    assert "230,400" in text


@pytest.mark.slow
def test_the_molten_salt_is_timed_as_published_and_by_velocity_verlet() -> None:
    rules = {name: molten_salt.unscaled(rule, 1.0) for name, rule in molten_salt.WAYS.items()}
    assert rules["published"].integrator.rule == "kutta-merson"
    assert (rules["published"].integrator.rtol, rules["published"].integrator.atol) == (1e-6, 1e-7)
    assert rules["velocity_verlet"].integrator.rule == "velocity-verlet"
    for case in rules.values():
        assert case.scaling.policy == "none"
        assert case.thermostat.kind == "modified-nose-hoover"
        assert case.build_model().bodies == 1025
    figures = molten_salt.measure(duration=0.01)
    assert figures["extrapolated_from_ps"] == 0.01
    assert figures["published_20ps_s"] > 0.0
    assert "extrapolated from 0.01 ps" in printed(molten_salt.show, figures)


def test_a_benchmark_that_does_not_exist() -> None:
    with pytest.raises(ar.ArticulonError, match="no benchmark 'sovler'; did you mean 'solver'"):
        benchmarks.main("sovler", json=False)
