"""Which loop sums laws over listed neighbours on this machine, where several can.

Which is the fastest depends on what a processor takes for a gather and how it runs wide registers, which neither its
name nor what it says that it can do tells. It is measured when a model that has a choice is first made ready, and kept
beside the compiled kernels: which loop is taken decides the last digits of forces, so a machine must stay with its own.
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
"""Names the loop that a process takes, whatever has been measured."""
FILE = "pair-loop-1.json"
"""In the folder of the kernels. Who changes the loops so much that another may be the fastest counts the number on."""
DEFAULT = f"packed-{WIDTH}"
"""What is taken where nothing else is faster."""
CANDIDATES = tuple(loop for loop, lanes in LANES_OF.items() if lanes <= WIDTH)
"""What is measured: registers that a processor has not are none of them."""
MARGIN, OFTEN = 0.03, 0.75
"""What takes the place of the default must take so much less time in so many rounds: noise does not."""


class Choice(NamedTuple):
    """A loop, and why."""

    loop: str
    """Its name, as ``LANES_OF`` has it."""
    ns_per_pair: dict[str, float]
    """The best time of each loop for a listed pair when it was chosen [ns]; empty where nothing has been measured."""


def pair_loop() -> str:
    """Name of the loop to take; measured, which takes some seconds, where this machine has none yet.

    Raises
    ------
    ArticulonError
        Where ``ARTICULON_PAIR_LOOP`` names none.
    """
    wanted = os.environ.get(VARIABLE)
    return word(wanted, tuple(LANES_OF), VARIABLE, ArticulonError) if wanted else choice().loop


def choice() -> Choice:
    """What has been chosen on this machine, measured where nothing has."""
    return _choice(cache_folder())


def fastest(times: dict[str, np.ndarray]) -> str:
    """The loop to take by the times of all in each round, shape (rounds,): the default, unless another is faster by
    more than the noise."""
    ratios = {loop: times[loop] / times[DEFAULT] for loop in times}
    faster = [loop for loop in times if np.quantile(ratios[loop], OFTEN) < 1.0 - MARGIN]
    return min(faster, key=lambda loop: float(np.median(ratios[loop])), default=DEFAULT)


@cache
def _choice(folder: Path) -> Choice:
    """What is kept in a folder of kernels. Where nothing can be kept it is the default, for what is measured at every
    start is not the same at every start."""
    if cache_root().absolute() != folder.parent:  # one for this process alone
        return Choice(DEFAULT, {})
    file = folder / FILE
    found = _read(file)
    if found is not None:
        return found
    with suppress(OSError), _alone(folder):
        found = _read(file)  # of a process that was quicker
        if found is None:
            times = nanoseconds(CANDIDATES)
            _keep(file, Choice(fastest(times), {loop: float(ns.min()) for loop, ns in times.items()}))
            found = _read(file)
    return found or Choice(DEFAULT, {})


def _read(file: Path) -> Choice | None:
    """What a file says; None where there is none, or it is damaged."""
    try:
        content = json.loads(file.read_text(encoding="utf-8"))
        found = Choice(content["loop"], {str(loop): float(ns) for loop, ns in content["ns_per_pair"].items()})
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None
    whole = found.loop in CANDIDATES and set(found.ns_per_pair) == set(CANDIDATES)
    return found if whole and all(0.0 < ns < math.inf for ns in found.ns_per_pair.values()) else None


def _keep(file: Path, made: Choice) -> None:
    """Writes a choice, whole or not at all; one that is there already stays, unless it is damaged."""
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
        except OSError:  # a file system without hard links
            os.replace(name, file)
    finally:
        Path(name).unlink(missing_ok=True)


@contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """Waits for another process that is measuring, so that neither disturbs the other and both find the same."""
    with (folder / "pair-loop.lock").open("w") as lock:
        if os.name == "posix":
            with suppress(OSError):  # a file system without locks: the first that writes wins
                fcntl.flock(lock, fcntl.LOCK_EX)
        yield
