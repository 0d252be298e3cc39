"""Whether a chain that locks what is quiet has the shapes of the chain with every joint free, and what it costs less.

    python -m validation.adaptive_chain

takes some twenty minutes on one thread of a quiet machine and rewrites its section of docs/validation.md. What a start
has shown is kept in adaptive_chain.json beside this file, so that it can be broken off and gone on with; remove it to
measure everything anew.

Every sample is a run of its own from a start of its own: the joints' rotations are drawn from the distribution that
springs give them, what is locked from that in which locking and releasing balance, the speeds from thermal motion.
"""

from __future__ import annotations

import json
import math
import sys
import textwrap
import time
from pathlib import Path
from typing import Any

import numpy as np
from scipy import stats

import articulon as ar
from articulon.cases.builders.link_chain import rotations
from articulon.kernels import one_blas_thread
from articulon.model.array_rotations import matrices, quaternion_product
from articulon.simulation.preparation import first_state, prepare
from validation.page import table, write_section

KEPT = Path(__file__).with_suffix(".json")
SAMPLES = 1000
"""Of each arm."""
ARMS = {"adaptive": 48.0, "all-active": 12.0}
"""And how long a run of it is; locked joints wait some sixty units for their release."""
BLOCK = 10
"""Links between the points that are kept of a chain."""
LOCKED = stats.chi2(3).cdf(2 * 1.5) / (stats.chi2(3).cdf(2 * 1.5) + 0.068)
"""Part of the joints that is locked where locks and releases balance: a lock is made where χ²₃ lies below 2·3/2, a
release by chance."""


def shape(model: Any, q: np.ndarray) -> dict[str, Any]:
    """Every tenth end of a link, its orientation, and the mean square of the joints' angles."""
    position, rotation = ar.body_poses(model, q)
    tip = position[-1] - matrices(rotation[-1:])[0][:, 2]
    ends = np.concatenate([position, tip[None]])[::BLOCK]
    frames = np.concatenate([rotation, rotation[-1:]])[::BLOCK]
    angle = 2.0 * np.arccos(np.clip(np.abs(q.reshape(-1, 4)[:, 0]), 0.0, 1.0))
    return {
        "ends": np.round(ends, 5).tolist(),
        "frames": np.round(frames, 6).tolist(),
        "angle": round(float(np.mean(angle**2)), 6),
    }


def sampled(arm: str, number: int) -> dict[str, Any]:
    """A run of an arm: shapes where it begins and where it ends, and what it has cost."""
    adaptive, duration = arm == "adaptive", ARMS[arm]
    # No start and no noise are shared by the arms.
    seed = 2 * number + (not adaptive)
    case = ar.load_case(
        "adaptive-chain", {"adaptive.on": adaptive, "run.seed": seed, "model.disorder_seed": seed, "checks": []}
    )
    prepared = prepare(case)
    driver, state = prepared.driver, first_state(prepared)
    if adaptive:
        driver.lock_now(state, np.random.default_rng([seed, 1]).random(prepared.model.forest.parent.size) < LOCKED)
    begin = shape(prepared.model, state.q)
    wall, spent = time.perf_counter(), time.thread_time()
    if driver.advance(state, duration, 2**40):
        raise FloatingPointError(f"{arm}, seed {seed}: {driver.failure}")
    wall, spent = time.perf_counter() - wall, time.thread_time() - spent
    active = driver.active_part(state) if adaptive else 1.0
    changes = driver.changes(state) if adaptive else (0, 0)
    return {
        "begin": begin,
        "end": shape(prepared.model, state.q),
        "wall": round(wall / duration, 7),
        "processor": round(spent / duration, 7),
        "active": round(active, 6),
        "changes": changes,
    }


def measured(until: float = math.inf) -> dict[str, list[dict[str, Any]]]:
    """All samples, those that are kept and those that are missing, as far as the time until a moment allows."""
    kept = json.loads(KEPT.read_text(encoding="utf-8")) if KEPT.exists() else {arm: [] for arm in ARMS}
    with one_blas_thread():
        for number in range(SAMPLES):
            for arm in ARMS:
                if len(kept[arm]) <= number and time.time() < until:
                    kept[arm].append(sampled(arm, number))
            if number % 50 == 49:
                KEPT.write_text(json.dumps(kept), encoding="utf-8")
                sys.stderr.write(f"{number + 1} of {SAMPLES}\n")
    KEPT.write_text(json.dumps(kept), encoding="utf-8")
    return kept


def timed(rounds: int = 5) -> dict[str, dict[str, float]]:
    """Least time of each arm for a unit of simulated time [s], in rounds of one run of each."""
    found = {arm: {"wall": math.inf, "processor": math.inf} for arm in ARMS}
    with one_blas_thread():
        for _ in range(rounds):
            for arm in ARMS:
                sample = sampled(arm, 0)
                found[arm] = {key: min(found[arm][key], sample[key]) for key in found[arm]}
    return found


def distances(samples: list[dict[str, Any]], when: str, blocks: int) -> np.ndarray:
    """Distances of the ends of so many blocks of the chains, shape (samples, blocks)."""
    ends = np.array([sample[when]["ends"] for sample in samples])
    return np.linalg.norm(np.diff(ends[:, :: (ends.shape[1] - 1) // blocks], axis=1), axis=2)


def exact(count: int, links: int = 200) -> np.ndarray:
    """End-to-end distances of chains whose joints' rotations are drawn from the distribution that springs give them."""
    q = rotations(links * count, math.sqrt(0.5), 99).reshape(count, links, 4)
    rotation, end = np.tile([1.0, 0.0, 0.0, 0.0], (count, 1)), np.zeros((count, 3))
    for k in range(links):
        rotation = quaternion_product(rotation, q[:, k])
        end -= matrices(rotation)[:, :, 2]
    return np.linalg.norm(end, axis=1)


TESTS = {"Kolmogorov–Smirnov": stats.ks_2samp, "Mann–Whitney": stats.mannwhitneyu}


def power(together: np.ndarray, sizes: tuple[int, int], factor: float, test: Any, draws: int = 200) -> float:
    """Part of two samples drawn with replacement from one, one of them scaled, of which a test at 5 % says that they
    differ."""
    random = np.random.default_rng(4)
    a, b = ([random.choice(together, size) for _ in range(draws)] for size in sizes)
    return float(np.mean([test(x, factor * y).pvalue < 0.05 for x, y in zip(a, b, strict=True)]))


def compared(ends: dict[str, np.ndarray]) -> str:
    """The tests of each arm against the other and against exact draws, with their power."""
    arms, rows = list(ends), []
    drawn = exact(20_000)
    for a, b in ((ends[arms[0]], ends[arms[1]]), (ends[arms[0]], drawn), (ends[arms[1]], drawn)):
        names = [next((name for name, values in ends.items() if values is x), "exact draws") for x in (a, b)]
        together, sizes = np.concatenate([a, b]) if b is not drawn else drawn, (a.size, b.size)
        for name, test in TESTS.items():
            planted = [power(together, sizes, factor, test) for factor in (1.0, 1.05, 0.95)]
            rows.append(
                [f"{names[0]} ({sizes[0]:,}) against {names[1]} ({sizes[1]:,})", name, f"{test(a, b).pvalue:.2f}"]
                + [f"{part:.0%}" for part in planted]
            )
    means = ", ".join(f"{x.mean():.2f} ± {x.std() / math.sqrt(x.size):.2f} {name}" for name, x in ends.items())
    head = [
        "samples",
        "test",
        "p",
        "difference found in equal samples",
        "in samples 5 % longer",
        "in samples 5 % shorter",
    ]
    truth = f"{drawn.mean():.2f} ± {drawn.std() / math.sqrt(drawn.size):.2f} exact"
    return f"{table(head, rows)}\n\nMean end-to-end distances: {means}, {truth}."


def with_starts(kept: dict[str, list[dict[str, Any]]]) -> str:
    """The same by the changes from the start, which is an exact draw in both arms: they scatter much less."""
    pairs = {arm: [distances(s, when, 1)[:, 0] for when in ("begin", "end")] for arm, s in kept.items()}
    found = stats.ttest_ind(*(end - begin for begin, end in pairs.values()), equal_var=False)
    random, seen = np.random.default_rng(5), []
    for factor in (1.0, 1.05, 0.95):
        differ = 0
        for _ in range(400):
            chosen = [random.integers(begin.size, size=begin.size) for begin, _ in pairs.values()]
            changes = [
                scale * end[k] - begin[k] - (end - begin).mean()
                for (begin, end), k, scale in zip(pairs.values(), chosen, (1.0, factor), strict=True)
            ]
            differ += stats.ttest_ind(*changes, equal_var=False).pvalue < 0.05
        seen.append(differ / 400)
    return textwrap.fill(
        "Both arms begin with exact draws, so it is sufficient to compare changes during the runs. The change of a "
        "chain's end-to-end distance during a run scatters less than the distance itself. Welch's test of these "
        f"changes gives p = {found.pvalue:.2f}. The test finds a difference in {seen[0]:.0%} of the trials with equal "
        f"samples, in {seen[1]:.0%} of those with one sample 5 % longer, and in {seen[2]:.0%} of those with one sample "
        "5 % shorter.",
        118,
        break_on_hyphens=False,
    )


def remembered(kept: dict[str, list[dict[str, Any]]]) -> str:
    """How far parts of the chains have changed from the start to the end of a run, and what they remember of it."""
    rows = []
    for blocks in (20, 10, 4, 2, 1):
        row = [f"{200 // blocks} links"]
        for samples in kept.values():
            begin, end = (distances(samples, when, blocks) for when in ("begin", "end"))
            change = (end - begin).mean(axis=1)
            error = change.std() / math.sqrt(change.size)
            row += [f"{begin.mean():.2f}", f"{change.mean():+.3f} ± {error:.3f}"]
            row += [f"{np.corrcoef(begin.ravel(), end.ravel())[0, 1]:.2f}"]
        rows.append(row)
    head = ["distance over", *(f"{arm}: {what}" for arm in kept for what in ("start", "change", "memory"))]
    return table(head, rows)


def main() -> None:
    kept = {arm: samples[:SAMPLES] for arm, samples in measured().items()}
    times = timed()
    ends = {arm: distances(samples, "end", 1)[:, 0] for arm, samples in kept.items()}
    active = np.mean([sample["active"] for sample in kept["adaptive"]])
    changes = np.mean([sum(sample["changes"]) for sample in kept["adaptive"]]) - 200 * LOCKED
    middle = {arm: float(np.median([sample["processor"] for sample in samples])) for arm, samples in kept.items()}
    least = min(len(samples) for samples in kept.values())
    rows = [["degrees of freedom that move", f"{active:.1%}", "100 %", f"{1 / active:.1f}"]]
    for name, values in (
        ("wall time of a unit, best of five [ms]", {arm: times[arm]["wall"] for arm in ARMS}),
        ("processor time of a unit, best of five [ms]", {arm: times[arm]["processor"] for arm in ARMS}),
        ("processor time, median of all runs [ms]", middle),
    ):
        pair = [values[arm] for arm in ARMS]
        rows.append([name, *(f"{1e3 * value:.2f}" for value in pair), f"{pair[1] / pair[0]:.1f}"])
    cost = table(["", *ARMS, "ratio"], rows)
    write_section(
        "adaptive-chain",
        f"""
## A chain that locks its quiet joints

`python -m validation.adaptive_chain` runs `adaptive-chain`, a chain of 200 links, in two arms: with joints that lock
and release ("adaptive"), and with every joint free ("all-active"). Each arm has {least:,} runs on one thread. Every run
has its own start, noise and transitions, so all samples are independent. The start of a run is drawn from exact
distributions: the rotations of the joints from the thermal distribution of the springs, the set of locked joints from
the distribution in which locks and releases balance, and the speeds from the thermal distribution. Adaptive runs last
{ARMS["adaptive"]:g} units of time, in which {changes:.0f} joints lock or release. The all-active runs last
{ARMS["all-active"]:g}.

The first table compares the end-to-end distances at the ends of the runs by two-sample tests. The last columns show how
sensitive a test is. For this purpose both samples are pooled, and two new samples are drawn from the pool with
replacement. The distances of one new sample are then left unchanged, or made 5 % longer or shorter. The columns give
how often the test finds a difference between the two new samples at the level of 5 %.

{compared(ends)}

{with_starts(kept)}

These tests can show only changes that develop within the length of a run. The next table therefore gives the mean
distances over parts of the chain at the start, their change with one standard error, and the correlation of the end of
a run with its start ("memory"):

{remembered(kept)}

At the end of a run, the end-to-end distance of the whole chain is still correlated with its start. By Rouse's theory,
its relaxation time is 4 γ m N⟨R²⟩/3π²kT, about twenty thousand units of time. Here γ is the friction, m the mass of a
link, N the number of links, and R the end-to-end distance. On the length scales that can change within a run, neither
arm moves the distribution away from the exact one.

{cost}
""",
    )


if __name__ == "__main__":
    main()
