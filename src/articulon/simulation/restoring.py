"""What a checkpoint must hold before a run goes on from it.

Kernels trust the arrays that they are given: one of another length would let them write beyond its end. So each is
looked at, by its type and shape before it is read, and by its values before it is used.
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
"""Arrays of a state that are NaN before their first values."""
ANY = -1
"""Stands for a length that changes along a run."""
LENGTHS = {"contacts.pairs": (ANY, 2), "contacts.memory": (ANY, None)}
"""Shapes of the arrays whose length changes; None stands for what it is at the start."""

Described = tuple[tuple[int, ...], str]


class Progress(NamedTuple):
    """What a run keeps beside its state."""

    frames: int
    """Frames that have been written."""
    last_step: int
    """Step of the last of them."""
    finished: bool
    """Whether the run has ended."""
    start_energy: float
    """Energy that the balance counts from [energy]."""
    stop_time: float
    """When what the case watches ended the run [time]; NaN where it did not."""


OWN: dict[str, Described] = {
    "case": ((32,), "u1"),
    "frames": ((), "i8"),
    "last_step": ((), "i8"),
    "finished": ((), "b1"),
    "start_energy": ((), "f8"),
    "stop_time": ((), "f8"),
    "threshold": ((ANY,), "f8"),
}
"""Shapes and types of the arrays that are not of the state."""


def saved_case(saved: Checkpoint) -> str:
    """Digest of the case that a checkpoint is of, in hexadecimal; raises CheckpointError where it has none."""
    _check(saved, {"case": OWN["case"]})
    return saved.array("case").tobytes().hex()


def saved_threshold(saved: Checkpoint) -> Threshold | None:
    """How the threshold of a scaling policy was found, where it was.

    Raises
    ------
    CheckpointError
        For numbers that no threshold can have.
    """
    _check(saved, {"threshold": OWN["threshold"]})
    row = saved.array("threshold")
    if row.size and not (row.size == 4 and np.isfinite(row).all() and row[1] in range(len(CHANNELS))):
        raise _fault(saved, "threshold", f"has the values {row[:4].tolist()}")
    return Threshold.of_row(row)


def saved_progress(saved: Checkpoint, prepared: Prepared) -> Progress:
    """What a run keeps beside its state.

    Raises
    ------
    CheckpointError
        Naming the array that is missing, has another type or shape, or values that it cannot have.
    """
    _check(saved, OWN)
    found = Progress(*(saved.array(name).item() for name in Progress._fields))
    most = len(prepared.case.run.frame_times())
    if not 1 <= found.frames <= most:
        raise _fault(saved, "frames", f"is {found.frames}, and the run has 1 to {most}")
    if found.last_step < 0:
        raise _fault(saved, "last_step", f"is {found.last_step}")
    if not math.isfinite(found.start_energy):
        raise _fault(saved, "start_energy", f"is {found.start_energy}")
    if math.isinf(found.stop_time) or found.stop_time < 0.0:
        raise _fault(saved, "stop_time", f"is {found.stop_time}")
    return found


def saved_state(saved: Checkpoint, start: State, prepared: Prepared) -> State:
    """The state of a checkpoint.

    Parameters
    ----------
    saved
        The checkpoint.
    start
        A state of the same run, which says what types and shapes there are.
    prepared
        The run.

    Raises
    ------
    CheckpointError
        Naming the array that is missing, has another type or shape, or values that it cannot have.
    """
    wanted = {STATE + name: _described(name, array) for name, array in start.arrays().items()}
    _check(saved, wanted)
    extra = sorted(saved.entries.keys() - wanted.keys() - OWN.keys())
    if extra:
        raise _fault(saved, extra[0], "is of no run of this case")
    # Copies of their own, for some arrays grow in place.
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
    """Raises CheckpointError for an array that is not there, or of another type or shape."""
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
    """Raises CheckpointError for numbers that kernels take for places in arrays, and are none."""
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
            saved, "state_contacts.memory", f"is of {len(state.contacts.memory)} contacts, and there are {count}"
        )
    if contacts is None or not count:
        return
    sites, features = prepared.model.sites.body.size, int(contacts.wall_tables.feature[-1])
    sphere = np.zeros(sites + features, dtype=bool)
    sphere[contacts.sites], sphere[sites:] = True, True
    first, second = state.contacts.pairs.T
    inside = (first >= 0) & (first < second) & (first < sites) & (second < sites + features)
    if not inside.all() or not (sphere[first] & sphere[second]).all():
        raise _fault(saved, "state_contacts.pairs", "names spheres or walls that are not there")
    ahead = (np.diff(first) > 0) | ((np.diff(first) == 0) & (np.diff(second) > 0))
    if not ahead.all():
        raise _fault(saved, "state_contacts.pairs", "is not in order")
    deepest = state.contacts.times[-2:]
    if not ((deepest >= 0) & (deepest < [contacts.spheres, contacts.spheres + features])).all():
        raise _fault(saved, "state_contacts.times", "names a sphere or wall that is not there")


def _fault(saved: Checkpoint, name: str, what: str) -> CheckpointError:
    return CheckpointError(
        f"{saved.path} cannot be continued from: its array '{name}' {what}. Put a good copy of the file back, or start "
        "the run again in another folder"
    )
