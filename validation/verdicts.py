"""The table of verdicts: scaled runs with laws of force chosen to break them, each beside its unscaled run.

    python -m validation.verdicts [--seed 20000] [--count 160] [--noise-free]

takes about ten minutes on two cores and rewrites its section of docs/validation.md. What is *within* is within the
tolerance of 2 % in truth, by the unscaled run that is integrated with a thousandth of the tolerances and ten times the
frames; under noise, in the same windows of the same noise. A verdict is wrong where it trusts what is beyond, or does
not trust what is within.
"""

from __future__ import annotations

import argparse
import multiprocessing
import sys
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np

import articulon as ar
from articulon.errors import DivergenceError
from articulon.fidelity.motion import compare, motion_of
from articulon.fidelity.paths import path_of, rough_path
from articulon.fidelity.record import Settings
from articulon.fidelity.verdict import ORDER, TOLERANCE
from articulon.simulation.memory_verdict import record_in_memory
from validation.page import table, write_section
from validation.verdict_known import KNOWN
from validation.verdict_problems import Problem, random_problems

DURATION = 1.0
RULE: dict[str, Any] = {"rule": "kutta-merson", "rtol": 1e-6, "atol": 1e-8}
TRUE: dict[str, Any] = {"rule": "dormand-prince", "rtol": 1e-9, "atol": 1e-11}
TRUE_FRAMES = 2000
SEED = 7
PREMISES = ("lag", "drift", "paired")


class Row(NamedTuple):
    """A run that was judged, beside the truth."""

    problem: Problem
    """What was run."""
    error: float
    """True relative error in time of the motion that is worst."""
    what: str
    """That motion."""
    verdict: str
    """On the run."""
    premises: dict[str, str | None]
    """By premise."""
    estimate: float | None
    """The error that was found."""
    half_width: float | None
    """What it was said to be known to."""
    cost: float
    """Evaluations of the unscaled run beside it, over those of the run."""
    told: str
    """What the verdict says is worst."""

    @property
    def within(self) -> bool:
        """Whether the run is within the tolerance."""
        return self.error < TOLERANCE

    @property
    def right(self) -> bool:
        """Whether it is trusted just where it is within."""
        return self.within == (self.verdict == "trusted")


def judged(problem: Problem) -> Row | None:
    """A problem's verdict beside the truth; None where its run does not stay finite."""
    model = problem.build(None)
    try:
        run = ar.simulate(model, DURATION, frames=problem.frames, scaling=problem.policy, seed=SEED, **RULE)
    except DivergenceError:
        return None
    found = run.fidelity()
    record = record_in_memory(run, run.memory, Settings(TOLERANCE, "time", 0.0))
    motion = motion_of(record)
    if problem.noise:
        held = problem.build(record.window)
        true = ar.simulate(held, DURATION, frames=problem.frames, seed=SEED, **TRUE)
        truth = rough_path(motion.groups, true.times, true.q, motion.width)
    else:
        true = ar.simulate(model, DURATION, frames=TRUE_FRAMES, **TRUE)
        truth = path_of(motion.groups, true.times, true.q, true.u)
    wrong = compare(record, motion, truth)
    paired = found["premises"].get("paired") or {}
    return Row(
        problem,
        wrong[0].time if wrong else 0.0,
        wrong[0].what if wrong else "",
        str(found["verdict"]),
        {name: (found["premises"].get(name) or {}).get("verdict") for name in PREMISES},
        paired.get("relative_error"),
        paired.get("half_width"),
        float(paired.get("evaluations", 0)) / max(record.evaluations, 1),
        str((found.get("worst") or {}).get("words", "")),
    )


def rows(problems: Iterable[Problem], tell: bool = False) -> Iterator[Row]:
    """The rows of problems whose runs stay finite."""
    for problem in problems:
        row = judged(problem)
        if row is None:
            if tell:
                sys.stderr.write(f"{problem.name}: not finite\n")
            continue
        if tell:
            mark = "" if row.right else "  WRONG"
            estimate = "none" if row.estimate is None else f"{row.estimate:.2%} ± {row.half_width or 0.0:.2%}"
            sys.stderr.write(
                f"{problem.name} ({problem.kind}): {row.verdict}, true {row.error:.2%} ({row.what}), found {estimate}"
                f"{mark}\n"
            )
        yield row


_problems: list[Problem] = []


def _row(k: int) -> Row | None:
    row = next(rows(_problems[k : k + 1], tell=True), None)
    return None if row is None else row._replace(problem=None)  # type: ignore[arg-type]  # functions do not travel


def in_parallel(problems: list[Problem]) -> list[Row]:
    """The same on all processors."""
    _problems[:] = problems
    with multiprocessing.get_context("fork").Pool() as pool:
        found = pool.map(_row, range(len(problems)), chunksize=1)
    return [row._replace(problem=problem) for row, problem in zip(found, problems, strict=True) if row is not None]


def confusion(found: list[Row]) -> str:
    """Verdicts by premise, within the tolerance and beyond it."""
    names = [*reversed(ORDER), "none"]
    lines = []
    for name in ("verdict", *PREMISES):
        counts = Counter(
            (row.within, row.verdict if name == "verdict" else row.premises[name] or "none") for row in found
        )
        for within in (True, False):
            cells = [str(counts[within, verdict]) for verdict in names]
            lines.append([name, "within" if within else "beyond", *cells])
    return table(["premise", "in truth", *names], lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=20000)
    parser.add_argument("--count", type=int, default=160)
    parser.add_argument("--noise-free", action="store_true")
    given = parser.parse_args()
    began = time.perf_counter()
    problems = [*KNOWN, *random_problems(given.seed, given.count)]
    found = in_parallel([one for one in problems if not (given.noise_free and one.noise)])
    trusted = [row for row in found if row.verdict == "trusted" and not row.within]
    doubted = [row for row in found if row.verdict != "trusted" and row.within]
    within, known = sum(row.within for row in found), [row for row in found if row.estimate is not None]
    covered = sum(abs(row.error - float(row.estimate or 0.0)) <= float(row.half_width or 0.0) + 2e-4 for row in known)
    costs = np.array([row.cost for row in known])
    wrong = "".join(
        f"- {row.problem.name} ({row.problem.kind}): `{row.verdict}`, true error {row.error:.2%} ({row.what}), "
        f"{'no estimated error' if row.estimate is None else f'estimated error {row.estimate:.2%}'}\n"
        for row in (*trusted, *doubted)
    )
    write_section(
        "verdicts",
        f"""
## The table of verdicts

`python -m validation.verdicts --seed {given.seed} --count {given.count}`, {time.perf_counter() - began:.0f} s.
{len(found)} scaled runs are compared with unscaled runs. The runs belong to a fixed list of problems and to random
problems. The true error of {within} runs is within the tolerance of {TOLERANCE:.0%}, and the true error of
{len(found) - within} runs is beyond it. The table gives the numbers of runs with each verdict. The rows "verdict" are
for the verdict of the whole run. The other rows are for the verdict that follows from one
[premise](fidelity.md#how-it-is-known) alone.

{confusion(found)}

Runs beyond the tolerance that are called trusted: {len(trusted)}. Runs within the tolerance that are not called
trusted: {len(doubted)}, which is {len(doubted) / max(within, 1):.1%} of all runs within the tolerance. In {covered} of
{len(known)} runs the true error is within the interval of the estimated error. To find a verdict, a part of the
unscaled motion is computed. Its cost is {np.median(costs):.0%} of the force evaluations of the run (median). This share
is high because the runs here are as short as scaled runs can be. The verdicts of these runs are wrong or inconclusive;
each line gives the true error, and the error that the fidelity report estimated:

{wrong}""",
    )


if __name__ == "__main__":
    main()
