"""Fair clocks: several calls timed in turn, and the machine that they ran on."""

import gc
import math
import os
import platform
import time
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from articulon import __version__

BATCH_SECONDS = 5e-3
"""Long against the time that a look at the clock takes [s]."""
LEAST_ROUNDS = 3

PACKAGES = {"numpy": "numpy", "numba": "numba", "pinocchio": "pin", "mujoco": "mujoco"}
"""What the figures depend on, and the package that brings it."""


def interleaved(
    calls: Sequence[Callable[[], Any]],
    seconds: float,
    clock: Callable[[], float] = time.thread_time,
    batch: float = BATCH_SECONDS,
) -> list[float]:
    """Best time of each call [s], all of them timed in turn so that a machine that drifts drifts under all of them.

    Parameters
    ----------
    calls
        What is timed. Each has been called before, so that nothing is compiled here.
    seconds
        For how long, about [s]; every call is timed three times at least.
    clock
        By default the time that this thread has computed for, which other programs on the machine do not lengthen; for
        calls that use several threads, give ``time.perf_counter``.
    batch
        A call is repeated for about this long between two looks at the clock [s].
    """
    repeats, best, spent = [], [math.inf] * len(calls), [0.0] * len(calls)
    for call in calls:
        began = time.perf_counter()
        call()
        repeats.append(max(1, round(batch / max(time.perf_counter() - began, 1e-7))))
    collecting = gc.isenabled()
    gc.disable()
    try:
        start, rounds = time.perf_counter(), 0
        while rounds < LEAST_ROUNDS or time.perf_counter() - start < seconds:
            for k, call in enumerate(calls):
                if rounds >= LEAST_ROUNDS and spent[k] * len(calls) > seconds:
                    continue  # it has had its share
                entered = time.perf_counter()
                call()  # its data are in the caches again
                began = clock()
                for _ in range(repeats[k]):
                    call()
                best[k] = min(best[k], (clock() - began) / repeats[k])
                spent[k] += time.perf_counter() - entered
            rounds += 1
    finally:
        if collecting:
            gc.enable()
    return best


def in_turn(entrants: Mapping[str, Callable[[], float | None]], rounds: int) -> dict[str, float | None]:
    """Best of the times that each of several entrants returns [s], when they take turns.

    Parameters
    ----------
    entrants
        Each takes its own time, without what it needs to get ready, and returns it [s]; None where it cannot run, after
        which it has no further turn.
    rounds
        How often each has its turn.
    """
    best: dict[str, float | None] = {}
    for k in range(rounds):
        for name, run in entrants.items():
            if k and best[name] is None:
                continue
            taken, least = run(), best.get(name)
            best[name] = taken if least is None or taken is None else min(least, taken)
    return best


def machine(packages: Mapping[str, str] = PACKAGES) -> dict[str, Any]:
    """The processor, its cores, how busy they are, the date and the versions."""
    versions: dict[str, str | None] = {"articulon": __version__, "python": platform.python_version()}
    for name, package in packages.items():
        try:
            versions[name] = version(package)
        except PackageNotFoundError:
            versions[name] = None
    return {
        "processor": _processor(),
        "cores": os.cpu_count(),
        "system": f"{platform.system()} {platform.machine()}",
        "date": datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
        "load_average": round(os.getloadavg()[0], 2),
        "versions": versions,
    }


def _processor() -> str:
    listing = Path("/proc/cpuinfo")
    if listing.exists():
        for line in listing.read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()
