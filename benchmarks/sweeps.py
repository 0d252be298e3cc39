"""Sweeps: what two workers save beside one, and what a member costs besides its run."""

import tempfile
from collections.abc import Callable
from pathlib import Path
from time import perf_counter, process_time
from typing import Any

import articulon as ar
from articulon.cases import Case
from benchmarks.tables import console, show_machine, show_table, show_targets, target
from benchmarks.timing import machine

MEMBERS = 16
"""Of each sweep."""
SECONDS = 1.0
"""What the run of a member is to take, about [s]."""
CASE = "double-pendulum"
LONGEST = 2000.0
"""Of the runs of members [s]: the pendulum then turns without end."""
LAWS = {"checks": [], "integrator.rtol": 1e-10, "integrator.atol": 1e-10, "run.frames": 20}
"""Of the case: no checks, as its references are those of its own duration."""


class Workers:
    """Notes when the first member begins and the last one ends, which leaves out what starts workers."""

    def __init__(self) -> None:
        self.began = self.ended_at = 0.0
        self.each: list[float] = []

    def begin(self, members: int, ended: int, where: str) -> None:
        """The workers are there."""
        self.began = perf_counter()

    def ended(self, member: str, status: str, seconds: float, error: str | None) -> None:
        """A member has ended."""
        self.ended_at = perf_counter()
        self.each.append(seconds)

    def running(self, member: str, part: float) -> None:
        """A member goes on."""

    def stopped(self, member: str) -> None:
        """A member is at no worker."""

    def message(self, text: str, once: str | None = None) -> None:
        """Something is said."""

    def close(self) -> None:
        """It is over."""


def measure(
    members: int = MEMBERS, seconds: float = SECONDS, say: Callable[[str], None] = lambda _: None
) -> dict[str, Any]:
    """The figures: wall times of a sweep by one worker and by two, and of its runs in this process one after another.

    Parameters
    ----------
    members
        Of each sweep.
    seconds
        What the run of a member is to take, about [s].
    say
        Told what is measured next.
    """
    figures: dict[str, Any] = {"machine": machine(), "members": members}
    with tempfile.TemporaryDirectory() as scratch:
        case = _case(Path(scratch), seconds)
        say(f"{members} runs one after another")
        figures["alone"] = _alone(case, Path(scratch), members)
        for workers in (1, 2):
            say(f"{members} members by {workers} worker{'s' * (workers > 1)}")
            # The first member of a worker loads what all its later ones have: so many begin before anything counts.
            figures[f"{workers} workers"] = _sweep(case, Path(scratch) / f"sweep-{workers}", members, workers)
    alone, one, two = figures["alone"], figures["1 workers"], figures["2 workers"]
    figures["speed-up"] = one["running"] / two["running"]
    figures["overhead"] = (one["running"] - alone["running"]) / members
    figures["overhead_processor"] = one["processor"] - alone["processor"]
    figures["targets"] = targets(figures)
    return figures


def _case(folder: Path, seconds: float) -> Case:
    """The case, with a duration that takes about so long."""
    case = ar.load_case(CASE, LAWS)
    trial = 20.0
    for part in range(2):  # the first one loads kernels
        began = perf_counter()
        _run(case, folder / f"trial-{part}", trial)
    spent = perf_counter() - began
    began = perf_counter()
    _run(case, folder / "none", trial / 20.0)
    once = perf_counter() - began
    per_second = max(spent - once, 1e-3) / (0.95 * trial)
    return case.with_overrides({"run.duration": round(min(LONGEST, max(1.0, (seconds - once) / per_second)))})


def _run(case: Case, folder: Path, duration: float) -> None:
    ar.run(case.with_overrides({"run.duration": duration}), folder, report=False, progress=False)


def _alone(case: Case, folder: Path, members: int) -> dict[str, float]:
    """Wall time of the runs one after another in this process, on one thread, and that of each, by the clock and of
    the processor [s]."""
    began, computed = perf_counter(), process_time()
    for seed in range(1, members + 1):
        one = case.with_overrides({"run.seed": seed, "run.threads": 1})
        ar.run(one, folder / f"alone-{seed}", report=False, progress=False)
    wall, processor = perf_counter() - began, process_time() - computed
    return {"running": wall, "each": wall / members, "processor": processor / members}


def _sweep(case: Case, folder: Path, members: int, workers: int) -> dict[str, float]:
    """Wall times of a sweep [s]: all of it, from the first member that begins to the last that ends once every worker
    has had one, and that of a member at its worker, by the clock and of the processor."""
    warm, watch = Workers(), Workers()
    began = perf_counter()
    done = ar.ensemble(case, members + workers, None, folder, workers, progress=_Both(warm, watch, workers))
    wall = perf_counter() - began
    assert not done.failed
    later = [row["worker_processor_seconds"] for row in done.summary["members"]][workers:]
    return {
        "wall": wall,
        "running": watch.ended_at - watch.began,
        "each": sum(watch.each) / len(watch.each),
        "processor": sum(later) / len(later),
    }


class _Both(Workers):
    """The first members, one for each worker, are the first's, and the others the second's."""

    def __init__(self, first: Workers, later: Workers, count: int) -> None:
        super().__init__()
        self.first, self.later, self.left = first, later, count

    def ended(self, member: str, status: str, seconds: float, error: str | None) -> None:
        """A member has ended."""
        if self.left:
            self.left -= 1
            self.first.ended(member, status, seconds, error)
            self.later.began = perf_counter()
        else:
            self.later.ended(member, status, seconds, error)


def targets(figures: dict[str, Any]) -> list[dict[str, Any]]:
    """What a sweep should reach."""
    return [
        target("throughput of two workers relative to one", figures["speed-up"], 1.9, at_least=True),
        target("time of a member besides its run [s]", figures["overhead"], 0.5),
        target("the same in processor time of its worker [s]", figures["overhead_processor"], 0.5),
    ]


def show(figures: dict[str, Any], out: Any = None) -> None:
    """Prints the figures as tables."""
    out = console() if out is None else out
    title = f"Times of {figures['members']} members that run for about a second each [s]"
    columns = ["", "all members", "one member", "its processor time", "with start and report"]
    one, two, alone = figures["1 workers"], figures["2 workers"], figures["alone"]
    rows = [
        ("one after another, in one process", alone["running"], alone["each"], alone["processor"], None),
        ("by one worker", one["running"], one["each"], one["processor"], one["wall"]),
        ("by two workers", two["running"], two["each"], two["processor"], two["wall"]),
    ]
    show_table(out, title, columns, rows, words=1)
    show_targets(out, figures["targets"])
    show_machine(out, figures["machine"])
