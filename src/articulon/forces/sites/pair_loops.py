"""Choice of the loop that sums laws over listed neighbours on this machine, if several are available.

The fastest loop depends on the cost of a gather and on the handling of wide registers, which cannot be derived from a
processor's name or features. It is therefore measured when a model with a choice is first prepared, and stored beside
the compiled kernels: the loop determines the last digits of forces, so a machine must keep its choice.
"""

import json
import math
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np

from articulon.errors import ArticulonError
from articulon.forces.sites.pair_loop_timing import nanoseconds
from articulon.forces.sites.pair_sums import LANES_OF
from articulon.inputs import word
from articulon.kernel_cache import cache_folder, cache_root
from articulon.lanes import WIDTH

if os.name == "posix":
    import fcntl

VARIABLE = "ARTICULON_PAIR_LOOP"
"""Environment variable that selects the loop of a process, in place of the measured choice."""
FILE = "pair-loop-1.json"
"""File in the kernel cache folder. Increase its number after changes of the loops that may make another one the
fastest."""
DEFAULT = f"packed-{WIDTH}"
"""Loop that is used unless another one is faster."""
CANDIDATES = tuple(loop for loop, lanes in LANES_OF.items() if lanes <= WIDTH)
"""Loops to measure: those whose registers the processor has."""
MARGIN, OFTEN = 0.03, 0.75
"""Relative gain that a loop needs over the default, and fraction of rounds in which it needs it, to exclude noise."""


class Choice(NamedTuple):
    """A loop, and the reason for its choice."""

    loop: str
    """Name of the loop, as in ``LANES_OF``."""
    ns_per_pair: dict[str, float]
    """Best time of each loop per listed pair when it was chosen [ns]; empty if nothing was measured."""


def pair_loop() -> str:
    """Return the name of the loop to use; it is measured, which takes some seconds, unless this machine has a choice
    already.

    Raises
    ------
    ArticulonError
        If ``ARTICULON_PAIR_LOOP`` names no known loop.
    """
    wanted = os.environ.get(VARIABLE)
    return word(wanted, tuple(LANES_OF), VARIABLE, ArticulonError) if wanted else choice().loop


def choice() -> Choice:
    """Return the choice on this machine, measured if there is none."""
    return _choice(cache_folder())


def fastest(times: dict[str, np.ndarray]) -> str:
    """Return the fastest loop by the times of all in each round, shape (rounds,): the default, unless another one is
    faster by more than the noise."""
    ratios = {loop: times[loop] / times[DEFAULT] for loop in times}
    faster = [loop for loop in times if np.quantile(ratios[loop], OFTEN) < 1.0 - MARGIN]
    return min(faster, key=lambda loop: float(np.median(ratios[loop])), default=DEFAULT)


@cache
def _choice(folder: Path) -> Choice:
    """Return the choice stored in a kernel cache folder. If nothing can be stored it is the default, because a
    measurement at every start would not always give the same result."""
    if cache_root().absolute() != folder.parent:  # a temporary folder of this process
        return Choice(DEFAULT, {})
    file = folder / FILE
    found = _read(file)
    if found is not None:
        return found
    with suppress(OSError), _alone(folder):
        found = _read(file)  # written by a faster process
        if found is None:
            times = nanoseconds(CANDIDATES)
            _keep(file, Choice(fastest(times), {loop: float(ns.min()) for loop, ns in times.items()}))
            found = _read(file)
    return found or Choice(DEFAULT, {})


def _read(file: Path) -> Choice | None:
    """Read the choice from a file; None if there is no file, or it is damaged."""
    try:
        content = json.loads(file.read_text(encoding="utf-8"))
        found = Choice(content["loop"], {str(loop): float(ns) for loop, ns in content["ns_per_pair"].items()})
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None
    whole = found.loop in CANDIDATES and set(found.ns_per_pair) == set(CANDIDATES)
    return found if whole and all(0.0 < ns < math.inf for ns in found.ns_per_pair.values()) else None


def _keep(file: Path, made: Choice) -> None:
    """Write a choice atomically; an existing one is kept, unless it is damaged."""
    descriptor, name = tempfile.mkstemp(dir=file.parent, prefix=f"{file.stem}-")
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8") as stream:
            json.dump(made._asdict(), stream, indent=1)
        if _read(file) is None:
            file.unlink(missing_ok=True)
        try:
            os.link(name, file)
        except FileExistsError:
            pass
        except OSError:  # file system without hard links
            os.replace(name, file)
    finally:
        Path(name).unlink(missing_ok=True)


@contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """Wait for another process that is measuring, so that they do not disturb each other and find the same choice."""
    with (folder / "pair-loop.lock").open("w") as lock:
        if os.name == "posix":
            with suppress(OSError):  # file system without locks: the first writer wins
                fcntl.flock(lock, fcntl.LOCK_EX)
        yield
