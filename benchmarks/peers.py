"""Particles in our engine and in others: speeds by number of threads, their ratios, and growth with size."""

import json
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from types import ModuleType
from typing import Any, Protocol

import numba

THREADS = (1, 2)

Speeds = dict[str, float | None]
"""Million particle-steps per second by number of threads; None where an engine cannot."""


class Way(Protocol):
    """A way to run a peer."""

    @property
    def threads(self) -> int:
        """Processor cores that it uses."""

    @property
    def name(self) -> str:
        """What to call it."""


def usable() -> list[int]:
    """The numbers of threads that this process may use."""
    return [threads for threads in THREADS if threads <= numba.config.NUMBA_NUM_THREADS]


def speeds(best: Mapping[str, float | None], particle_steps: int) -> Speeds:
    """Million particle-steps per second of each entrant, given the times in which it made so many of them [s]."""
    return {name: None if t is None else round(1e-6 * particle_steps / t, 3) for name, t in best.items()}


def by_threads(engine: str, found: Speeds) -> Speeds:
    """Those of the entrants ``engine 1``, ``engine 2``."""
    return {str(t): found.get(f"{engine} {t}") for t in THREADS}


def fastest(engine: str, ways: Sequence[Way], found: Speeds) -> tuple[Speeds, dict[str, str | None]]:
    """The highest speed of several ways of an engine, whose entrants are ``engine name``, and which it is."""
    highest: Speeds = {}
    names: dict[str, str | None] = {}
    for t in THREADS:
        able = [(s, w.name) for w in ways if w.threads == t and (s := found.get(f"{engine} {w.name}")) is not None]
        highest[str(t)], names[str(t)] = max(able, default=(None, None))
    return highest, names


def ratios(figures: dict[str, Any], engines: Sequence[str]) -> dict[str, Speeds]:
    """How many times as fast as each peer ours is, by number of threads, and as itself on one thread."""
    ours = figures["ours"]
    found = {e: {t: _over(ours[t], speed) for t, speed in figures[e].items()} for e in engines}
    return {**found, "one_thread": {t: _over(speed, ours["1"]) for t, speed in ours.items()}}


def _over(a: float | None, b: float | None) -> float | None:
    return None if a is None or b is None else round(a / b, 3)


def by_size(
    program: ModuleType,
    count: str,
    plan: Sequence[tuple[int, ...]],
    name: Callable[[int], str],
    say: Callable[[str], None],
) -> dict[str, Any]:
    """Figures by number of particles, each measured in a process of its own.

    Parameters
    ----------
    program
        A module whose ``main`` takes size, threads, and what else its plan says, from the command line, and prints
        figures as JSON.
    count
        Which of the figures is the number of particles.
    plan
        Size, steps, rounds and what else the program takes, of one process after another; of a size that comes again
        the lower figures count.
    name
        What to call a size.
    say
        Told which is being measured.
    """
    threads = max(usable())
    found: dict[int, dict[str, float]] = {}
    for size, *how in plan:
        say(name(size))
        figures = _in_a_process(program, size, threads, *how)
        particles = figures.pop(count)
        before = found.get(particles, figures)
        found[particles] = {what: min(value, before[what]) for what, value in figures.items()}
    counts = sorted(found)
    lists = {what: [round(found[n][what], 3) for n in counts] for what in found[counts[0]]}
    return {"threads": threads, count: counts, **lists}


def _in_a_process(program: ModuleType, *arguments: int) -> dict[str, Any]:
    line = [sys.executable, "-c", f"from {program.__name__} import main; main()", *map(str, arguments)]
    done = subprocess.run(line, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, check=True, text=True)
    return json.loads(done.stdout)


def growth(times: Sequence[float]) -> float | None:
    """How much longer a particle's step takes at the last size than at the first: 0.15 is 15 %."""
    return times[-1] / times[0] - 1.0 if len(times) > 1 else None
