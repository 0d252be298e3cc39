"""Validation of a checkpoint before a run continues from it.

Kernels do not check their arrays: if an array had a wrong length, a kernel could write beyond its end. So the type and
shape of each array are checked before the array is read, and its values before it is used.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from articulon.array_files import Entry
from articulon.errors import CheckpointError
from articulon.model import CHANNELS, State
from articulon.model.state import ARRAYS, STEPS
from articulon.simulation.loop import STATE
from articulon.simulation.preparation import Prepared
from articulon.simulation.threshold_search import Threshold
from articulon.storage.checkpoint import Checkpoint

UNKNOWN_BEFORE = ("rebuild", "contacts.rebuild")
"""Arrays of a state that are NaN until their first values are known."""
ANY = -1
"""Marks a length that changes along a run."""
LENGTHS = {"contacts.pairs": (ANY, 2), "contacts.memory": (ANY, None)}
"""Shapes of the arrays with a length that changes; None means the length at the start."""

Described = tuple[tuple[int, ...], str]


class Progress(NamedTuple):
    """Data of a run, except its state."""

    frames: int
    """Number of frames written."""
    last_step: int
    """Step number of the last frame."""
    finished: bool
    """Whether the run has ended."""
    start_energy: float
    """Kinetic energy at which the energy balance starts [energy]."""
    stop_time: float
    """Time at which a stop condition ended the run [time]; NaN if no stop condition ended it."""


OWN: dict[str, Described] = {
    "case": ((32,), "u1"),
    "frames": ((), "i8"),
    "last_step": ((), "i8"),
    "finished": ((), "b1"),
    "start_energy": ((), "f8"),
    "stop_time": ((), "f8"),
    "threshold": ((ANY,), "f8"),
}
"""Shapes and types of the arrays that are not part of the state."""


def saved_case(saved: Checkpoint) -> str:
    """Return the digest of a checkpoint's case, in hexadecimal; raise CheckpointError if the checkpoint has no
    digest."""
    _check(saved, {"case": OWN["case"]})
    return saved.array("case").tobytes().hex()


def saved_threshold(saved: Checkpoint) -> Threshold | None:
    """Return the threshold of the scaling policy and how it was found; None if the run did not determine one.

    Raises
    ------
    CheckpointError
        If the stored numbers are not valid for a threshold.
    """
    _check(saved, {"threshold": OWN["threshold"]})
    row = saved.array("threshold")
    if row.size and not (row.size == 4 and np.isfinite(row).all() and row[1] in range(len(CHANNELS))):
        raise _fault(saved, "threshold", f"has the values {row[:4].tolist()}")
    return Threshold.of_row(row)


def saved_progress(saved: Checkpoint, prepared: Prepared) -> Progress:
    """Return the data of a run, except its state.

    Raises
    ------
    CheckpointError
        If an array is missing, or has a wrong type, shape or value; the message names it.
    """
    _check(saved, OWN)
    found = Progress(*(saved.array(name).item() for name in Progress._fields))
    most = len(prepared.case.run.frame_times())
    if not 1 <= found.frames <= most:
        raise _fault(saved, "frames", f"is {found.frames}, but the run has 1 to {most}")
    if found.last_step < 0:
        raise _fault(saved, "last_step", f"is {found.last_step}")
    if not math.isfinite(found.start_energy):
        raise _fault(saved, "start_energy", f"is {found.start_energy}")
    if math.isinf(found.stop_time) or found.stop_time < 0.0:
        raise _fault(saved, "stop_time", f"is {found.stop_time}")
    return found


def saved_state(saved: Checkpoint, start: State, prepared: Prepared) -> State:
    """Return the state of a checkpoint.

    Parameters
    ----------
    saved
        The checkpoint.
    start
        A state of the same run; it defines the types and shapes.
    prepared
        The run.

    Raises
    ------
    CheckpointError
        If an array is missing, or has a wrong type, shape or value; the message names it.
    """
    wanted = {STATE + name: _described(name, array) for name, array in start.arrays().items()}
    _check(saved, wanted)
    extra = sorted(saved.entries.keys() - wanted.keys() - OWN.keys())
    if extra:
        raise _fault(saved, extra[0], "belongs to no run of this case")
    # Copy the arrays, because some grow in place.
    state = State.of({name: np.array(saved.array(STATE + name), order="C") for name in ARRAYS})
    for name, array in state.arrays().items():
        fine = np.isfinite(array) | np.isnan(array) if name in UNKNOWN_BEFORE else np.isfinite(array)
        if not fine.all():
            place = np.argwhere(~fine)[0].tolist()
            raise _fault(saved, STATE + name, f"is not finite at {place}")
    _check_values(saved, state, prepared)
    return state


def _described(name: str, array: np.ndarray) -> Described:
    lengths = LENGTHS.get(name, array.shape)
    shape = tuple(size if length is None else length for length, size in zip(lengths, array.shape, strict=True))
    return shape, array.dtype.str[1:]


def _check(saved: Checkpoint, wanted: Mapping[str, Described]) -> None:
    """Raise CheckpointError if an array is missing, or has another type or shape."""
    entries = saved.entries
    for name, (shape, kind) in wanted.items():
        if name not in entries:
            raise _fault(saved, name, "is missing")
        found: Entry = entries[name]
        same = len(found.shape) == len(shape) and all(b in (ANY, a) for a, b in zip(found.shape, shape, strict=True))
        if not same or found.dtype.str[1:] != kind:
            expected = str(tuple("any" if size == ANY else size for size in shape)).replace("'", "")
            raise _fault(
                saved,
                name,
                f"has the shape {found.shape} and type {found.dtype}, expected {expected} and {np.dtype(kind)}",
            )


def _check_values(saved: Checkpoint, state: State, prepared: Prepared) -> None:
    """Raise CheckpointError if an array that kernels use as indices holds invalid indices."""
    if state.time[0] < 0.0:
        raise _fault(saved, "state_time", f"is {state.time[0]}")
    if (state.counters < 0).any() or state.counters[STEPS] > 2**62:
        raise _fault(saved, "state_counters", f"is {state.counters.tolist()}")
    if ((state.rule.dependent < 0) | (state.rule.dependent > 3)).any():
        raise _fault(saved, "state_rule.dependent", "has numbers beyond 0 to 3")
    contacts = prepared.evaluator.contacts
    count = len(state.contacts.pairs)
    if len(state.contacts.memory) != count or (count and contacts is None):
        raise _fault(
            saved, "state_contacts.memory", f"has {len(state.contacts.memory)} contacts, but there are {count}"
        )
    if contacts is None or not count:
        return
    sites, features = prepared.model.sites.body.size, int(contacts.wall_tables.feature[-1])
    sphere = np.zeros(sites + features, dtype=bool)
    sphere[contacts.sites], sphere[sites:] = True, True
    first, second = state.contacts.pairs.T
    inside = (first >= 0) & (first < second) & (first < sites) & (second < sites + features)
    if not inside.all() or not (sphere[first] & sphere[second]).all():
        raise _fault(saved, "state_contacts.pairs", "names spheres or walls that do not exist")
    ahead = (np.diff(first) > 0) | ((np.diff(first) == 0) & (np.diff(second) > 0))
    if not ahead.all():
        raise _fault(saved, "state_contacts.pairs", "is not sorted")
    deepest = state.contacts.times[-2:]
    if not ((deepest >= 0) & (deepest < [contacts.spheres, contacts.spheres + features])).all():
        raise _fault(saved, "state_contacts.times", "names a sphere or wall that does not exist")


def _fault(saved: Checkpoint, name: str, what: str) -> CheckpointError:
    return CheckpointError(
        f"{saved.path} cannot be continued: its array '{name}' {what}. Restore a good copy of the file, or start the "
        "run again in another folder"
    )
