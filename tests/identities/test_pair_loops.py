"""Every loop over listed pairs finds the same forces, and a machine stays with the one that it has chosen."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import articulon as ar
from articulon import kernel_cache, kernels
from articulon.forces.sites import pair_loop_timing, pair_loops, site_evaluation
from articulon.forces.sites.neighbours import VECTOR
from articulon.forces.sites.pair_sums import LANES_OF, PARALLEL_SITES
from articulon.forces.sites.site_evaluation import SiteForces
from tests.support.pair_sums import Sums, coulomb, force_shifted, lennard_jones, pair_sums, pairs_within
from tests.support.particle_models import box_vectors, particles, scattered, wandered

LENGTHS, TILTS, CUTOFF = (6.0, 5.6, 5.2), (1.6, -1.1, 2.0), 2.3
WELL = {"A": {"epsilon": 1.0, "sigma": 1.0}}
TIMES = dict.fromkeys(pair_loops.CANDIDATES, 2.0)


@pytest.fixture(autouse=True)
def no_override(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(pair_loops.VARIABLE, raising=False)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The folder of the kernels in a cache without any."""
    monkeypatch.setenv("ARTICULON_CACHE_DIR", str(tmp_path / "cache"))
    kernel_cache.cache_folder.cache_clear()
    yield kernel_cache.cache_folder()
    monkeypatch.undo()
    kernel_cache.cache_folder.cache_clear()


@pytest.fixture
def measured(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Has the gathering loop measured as the fastest; what has been measured, one after another."""
    asked: list[str] = []

    def nanoseconds(loops: tuple[str, ...]) -> dict[str, np.ndarray]:
        asked.extend(loops)
        return rounds({**TIMES, "gather": 1.0})

    monkeypatch.setattr(pair_loops, "nanoseconds", nanoseconds)
    return asked


def rounds(times: dict[str, float]) -> dict[str, np.ndarray]:
    """Four rounds, each on another clock."""
    return {loop: ns * np.array([1.0, 1.3, 1.1, 1.5]) for loop, ns in times.items()}


def forces_of(law: str) -> list[Any]:
    wells = ar.forces.LennardJones(parameters=WELL, cutoff=CUTOFF)
    charges = ar.forces.Coulomb(cutoff=CUTOFF, truncation="force-shifted")
    return {"lennard-jones": [wells], "coulomb": [charges], "both": [wells, charges]}[law]


def expected(law: str, positions: np.ndarray, charges: np.ndarray, vectors: np.ndarray) -> Sums:
    """The sums over every pair, without lists."""
    pairs = pairs_within(positions, CUTOFF, vectors)
    none = pair_sums(len(positions), pairs, coulomb(0.0 * pairs.first), CUTOFF)
    plain = pair_sums(len(positions), pairs, lennard_jones(1.0, 1.0), CUTOFF)
    products = charges[pairs.first] * charges[pairs.second]
    charged = pair_sums(len(positions), pairs, force_shifted(coulomb(products), CUTOFF), CUTOFF)
    return (none if law == "coulomb" else plain) + (none if law == "lennard-jones" else charged)


@pytest.mark.parametrize("loop", LANES_OF)
@pytest.mark.parametrize("law", ["lennard-jones", "coulomb", "both"])
def test_every_loop_finds_the_forces_of_the_sum_over_all_pairs(
    law: str, loop: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where the neighbours of a site do not fill the lanes. The undamped law of charges does what lanes need,
    although it does not say so."""
    monkeypatch.setenv(pair_loops.VARIABLE, loop)
    terms_of = site_evaluation.terms_of
    monkeypatch.setattr(
        site_evaluation, "terms_of", lambda model: [replace(term, side_by_side=True) for term in terms_of(model)]
    )
    rng, vectors = np.random.default_rng(7), box_vectors(LENGTHS, TILTS)
    positions, charges = scattered(rng, 40, vectors, 0.85), rng.normal(size=40)
    box = ar.Box(lengths=LENGTHS, tilts=TILTS)
    sites = SiteForces(particles(wandered(rng, positions, vectors), *forces_of(law), box=box, charges=charges))
    found, sums = sites.evaluate(sites.model.q0.reshape(-1, 3)), expected(law, positions, charges, vectors)
    lanes = LANES_OF[loop]
    assert sites.forces[0].__name__.startswith(f"packed_{lanes}_forces_serial" if lanes else "forces_serial")
    assert len(set(sites.system.neighbours.number % 4)) == 4
    # A force is a sum of some thirty terms of its size or less, each of some ten operations.
    assert np.abs(found - sums.forces).max() <= 300 * np.finfo(float).eps * np.abs(sums.forces).max()


@pytest.mark.slow
def test_every_loop_finds_the_same_forces_where_threads_share_the_sites(monkeypatch: pytest.MonkeyPatch) -> None:
    rng, edge = np.random.default_rng(8), 13
    assert edge**3 >= PARALLEL_SITES
    positions = 1.06 * (np.indices((edge,) * 3).reshape(3, -1).T + rng.uniform(-0.1, 0.1, (edge**3, 3)))
    model = particles(positions, *forces_of("lennard-jones"), box=ar.Box(lengths=(1.06 * edge,) * 3))
    found = {}
    for loop in LANES_OF:
        monkeypatch.setenv(pair_loops.VARIABLE, loop)
        sites = SiteForces(model)
        assert "forces_parallel" in sites.forces[0].__name__
        found[loop] = sites.evaluate(positions)
    for forces in found.values():
        assert np.abs(forces - found["gather"]).max() <= 300 * np.finfo(float).eps * np.abs(found["gather"]).max()


def test_lists_are_filled_up_to_whole_vectors_of_every_loop() -> None:
    assert all(VECTOR % lanes == 0 for lanes in LANES_OF.values() if lanes)


def test_a_word_that_names_no_loop_is_refused_with_those_that_do(monkeypatch: pytest.MonkeyPatch) -> None:
    model = particles(np.array([[0.0, 0.0, 0.0], [1.2, 0.0, 0.0]]), *forces_of("lennard-jones"))
    monkeypatch.setenv(pair_loops.VARIABLE, "packed")
    with pytest.raises(
        ar.ArticulonError, match="ARTICULON_PAIR_LOOP: expected one of 'gather', 'packed-4', 'packed-8', got 'packed'"
    ):
        ar.potential_energy(model, model.q0)


# What is chosen


def test_noise_does_not_choose() -> None:
    """Neither what is in all rounds, if it is small, nor what is large, if it is in some rounds."""
    default = pair_loops.DEFAULT
    assert pair_loops.fastest(rounds(TIMES)) == default
    assert pair_loops.fastest(rounds({**TIMES, "gather": 1.96})) == default
    assert pair_loops.fastest(rounds({**TIMES, "gather": 1.9})) == "gather"
    assert pair_loops.fastest(rounds({**TIMES, default: 3.0, "gather": 1.95})) == "gather"
    disturbed = rounds({**TIMES, "gather": 2.2})
    disturbed[default][:2] *= 2.0
    assert pair_loops.fastest(disturbed) == default


def test_a_machine_keeps_what_it_has_measured_once(folder: Path, measured: list[str]) -> None:
    assert pair_loops.pair_loop() == "gather"
    assert measured == list(pair_loops.CANDIDATES)
    pair_loops._choice.cache_clear()  # as in another process
    assert pair_loops.choice() == pair_loops.Choice("gather", {**TIMES, "gather": 1.0}), "the best times"
    assert measured == list(pair_loops.CANDIDATES)
    assert [path.name for path in folder.iterdir() if path.name.startswith("pair-loop-")] == [pair_loops.FILE]


def test_who_names_a_loop_has_nothing_measured_and_nothing_kept(
    folder: Path, measured: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for loop in LANES_OF:
        monkeypatch.setenv(pair_loops.VARIABLE, loop)
        assert pair_loops.pair_loop() == loop
    assert measured == [] and list(folder.iterdir()) == []


@pytest.mark.parametrize(
    "content",
    [
        *("", "{", "[]", "null", '{"loop": "gather"}', '{"loop": 3, "ns_per_pair": {}}'),
        json.dumps({"loop": "packed-16", "ns_per_pair": TIMES}),
        json.dumps({"loop": "gather", "ns_per_pair": {"gather": 1.0}}),
        json.dumps({"loop": "gather", "ns_per_pair": {**TIMES, "gather": float("nan")}}),
        json.dumps({"loop": "gather", "ns_per_pair": {**TIMES, "gather": "soon"}}),
        b"\xff\xfe",
    ],
)
def test_a_damaged_choice_is_measured_anew(folder: Path, measured: list[str], content: str | bytes) -> None:
    file = folder / pair_loops.FILE
    file.write_bytes(content if isinstance(content, bytes) else content.encode())
    assert pair_loops.choice().loop == "gather"
    assert json.loads(file.read_text())["loop"] == "gather" and measured == list(pair_loops.CANDIDATES)


def test_the_first_that_writes_wins_where_a_file_system_has_no_locks(
    folder: Path, measured: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    quicker = pair_loops.Choice(pair_loops.DEFAULT, TIMES)
    slower = pair_loops.nanoseconds

    def overtaken(loops: tuple[str, ...]) -> dict[str, np.ndarray]:
        (folder / pair_loops.FILE).write_text(json.dumps(quicker._asdict()))
        return slower(loops)

    def refused(*_: Any) -> None:
        raise OSError(37, "No locks available")

    monkeypatch.setattr(pair_loops, "nanoseconds", overtaken)
    monkeypatch.setattr(pair_loops.fcntl, "flock", refused)
    assert pair_loops.choice() == quicker and measured == list(pair_loops.CANDIDATES)


def test_without_hard_links_a_choice_is_kept_as_well(
    folder: Path, measured: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(*_: Any) -> None:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(os, "link", refused)
    assert pair_loops.choice().loop == "gather"
    pair_loops._choice.cache_clear()
    assert pair_loops.choice().loop == "gather" and measured == list(pair_loops.CANDIDATES)


def test_a_choice_that_cannot_be_kept_is_not_made(
    folder: Path, measured: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The next process could choose otherwise: where the cache is of this process alone, and where the disk is full."""
    monkeypatch.setattr(pair_loops, "cache_root", lambda: folder.parent / "elsewhere")
    assert pair_loops.choice() == pair_loops.Choice(pair_loops.DEFAULT, {}) and measured == []
    monkeypatch.setattr(pair_loops, "cache_root", lambda: folder.parent)
    pair_loops._choice.cache_clear()

    def full(**_: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(pair_loops.tempfile, "mkstemp", full)
    assert pair_loops.choice() == pair_loops.Choice(pair_loops.DEFAULT, {})


AT_ONCE = """
import sys, time
import numpy as np
from articulon.forces.sites import pair_loops

def nanoseconds(loops):
    time.sleep(1.0)  # so that both want to measure
    print("measured")
    return {loop: np.array([1.0 if loop == sys.argv[1] else 2.0]) for loop in loops}

pair_loops.nanoseconds = nanoseconds
print("ready", flush=True)
sys.stdin.readline()
print(pair_loops.pair_loop())
"""


@pytest.mark.slow
def test_processes_that_measure_at_once_end_with_the_same_choice(tmp_path: Path) -> None:
    """Although each would choose another."""
    environment = {**os.environ, "ARTICULON_CACHE_DIR": str(tmp_path / "cache")}
    pipes: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True, "env": environment}
    running = [subprocess.Popen([sys.executable, "-c", AT_ONCE, loop], **pipes) for loop in ("gather", "packed-4")]
    for one in running:
        assert one.stdout.readline() == "ready\n"
    for one in running:
        one.stdin.write("\n")
        one.stdin.flush()
    said = sorted((one.communicate()[0].split() for one in running), key=len)
    assert [len(words) for words in said] == [1, 2] and said[0][-1] == said[1][-1] in ("gather", "packed-4")
    assert said[1][0] == "measured"


STORED = """
import articulon as ar
from articulon import kernels
from articulon.forces.sites.site_evaluation import SiteForces

builder = ar.ModelBuilder(units="lj")
builder.add_particles(2, mass=1.0, positions=[[0.0, 0.0, 0.0], [1.2, 0.0, 0.0]], kind="A")
builder.add_force(ar.forces.LennardJones(parameters={"A": {"epsilon": 1.0, "sigma": 1.0}}, cutoff=2.5))
SiteForces(builder.build())
print(*{function.__name__ for function in kernels._READY.values()})
"""


@pytest.mark.slow
def test_where_a_choice_is_kept_nothing_is_compiled_for_the_other_loops(folder: Path) -> None:
    (folder / pair_loops.FILE).write_text(json.dumps(pair_loops.Choice("packed-4", TIMES)._asdict()))
    done = subprocess.run([sys.executable, "-c", STORED], capture_output=True, text=True, check=True)
    expected = {"no_forces", "no_measure"}
    expected |= {f"{what}_list_lennard-jones_none_one_kind" for what in ("packed_4_forces_serial", "measure")}
    assert set(done.stdout.split()) == expected
    compiled = [path.name.partition(".")[2] for path in folder.rglob("*.nbc")]
    assert len(compiled) == 4 and all(name.startswith(tuple(expected)) for name in compiled)


# What is measured


def test_the_liquid_that_is_timed_is_listed_as_one_in_a_run_would_be() -> None:
    particles_, neighbours = pair_loop_timing.liquid()
    sites, packed = pair_loop_timing.EDGE**3, particles_.packed
    assert neighbours.number.size == sites and neighbours.number.mean() == pytest.approx(
        pair_loop_timing.DENSITY * 4.0 / 3.0 * np.pi * pair_loop_timing.REACH**3, rel=0.02
    )
    assert neighbours.places.max() == len(packed) - 1 and np.abs(packed[-1, :3]).min() > 1e6
    for i in (0, sites // 2, sites - 1):
        apart = ((packed[:, :3] - packed[i, :3]) ** 2).sum(axis=1)
        near = np.flatnonzero((apart < pair_loop_timing.REACH**2) & (np.arange(len(packed)) != i))
        count = neighbours.number[i]
        assert sorted(neighbours.places[i, :count]) == near.tolist()
        assert (neighbours.places[i, count : count + VECTOR] == len(packed) - 1).all()


@pytest.mark.slow
def test_every_candidate_is_timed_while_other_kernels_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Any] = []
    now = kernels.prepare_all
    monkeypatch.setattr(kernels, "prepare_all", lambda wanted: asked.append(list(wanted)) or now(asked[-1]))
    with kernels.preparing_together():
        kernels.prepare(pair_loop_timing.sum_pairs, "what waits")  # type: ignore[arg-type]
        times = pair_loop_timing.nanoseconds(pair_loops.CANDIDATES)
        assert ("what waits" not in str(asked)) and kernels.is_awaited(pair_loop_timing.sum_pairs)
        monkeypatch.setattr(kernels, "prepare_all", lambda wanted: None)
    assert set(times) == set(pair_loops.CANDIDATES)
    # Between a pair in a single cycle of 10 GHz and a microsecond.
    assert all((ns > 0.1).all() and (ns < 1000.0).all() for ns in times.values())
