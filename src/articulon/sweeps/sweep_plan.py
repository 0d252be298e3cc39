"""The plan of a sweep: the case, the seeds and the values. It is stored in the folder, so that the sweep can be
resumed."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from articulon import __version__
from articulon.cases.case import Case
from articulon.cases.folder_names import SEED
from articulon.errors import ArticulonError, CaseError
from articulon.inputs import shown
from articulon.simulation.case_run import HELD
from articulon.storage.atomic_writing import write_text
from articulon.storage.file_reading import read_record
from articulon.sweeps.sweep_members import Member, members_of

PLAN = "sweep.json"
"""File with seeds, values and the digest of the case."""
BASE = "sweep.toml"
"""File of the resolved case that all members share."""
KEYS: dict[str, tuple[type, ...]] = {"digest": (str,), "seeds": (list,), "vary": (dict,)}
"""Entries of a plan and their types."""
KEYS_SHOWN = 5
"""Largest number of differing keys in a message."""


@dataclass(frozen=True)
class Plan:
    """The plan of a sweep."""

    case: Case
    """Case of all members."""
    seeds: tuple[int, ...]
    """Seeds of each combination of values."""
    vary: Mapping[str, Sequence[Any]]
    """Values by dotted key."""

    @cached_property
    def members(self) -> list[Member]:
        """The members; raises CaseError for a key or value that the case cannot have."""
        return members_of(self.case, self.seeds, self.vary)

    @cached_property
    def digest(self) -> str:
        """Digest of all data that determine the results of the runs, except the seeds and values."""
        return _unseeded(self.case).digest()

    def write(self, folder: Path) -> None:
        """Write the plan into the folder of the sweep; raise CaseError for a case that cannot be written to a file."""
        record = {
            "articulon": __version__,
            "case": self.case.name,
            "digest": self.digest,
            "seeds": list(self.seeds),
            "vary": {key: list(values) for key, values in self.vary.items()},
        }
        # The case is written first, so that a plan never exists without its case.
        write_text(folder / BASE, self.case.to_toml())
        write_text(folder / PLAN, json.dumps(record, indent=2, ensure_ascii=False) + "\n")


def check_plan(folder: Path, plan: Plan, resume: bool) -> None:
    """Raise ArticulonError unless a folder is free for a sweep, or holds the sweep that is continued.

    A sweep continues with its original case and values; seeds may be added.

    Parameters
    ----------
    folder
        The folder, which need not exist.
    plan
        The requested plan.
    resume
        Whether to continue the sweep in the folder.
    """
    held = [name for name in HELD if os.path.lexists(folder / name)]
    if held:
        raise ArticulonError(f"{folder} holds a run ({held[0]}), not a sweep; choose another folder (out=...)")
    if not os.path.lexists(folder / PLAN):
        return
    if not resume:
        raise ArticulonError(
            f"{folder} holds another sweep ({PLAN}); continue it (resume=True), or choose another folder (out=...)"
        )
    record = read_record(folder / PLAN, KEYS, "; remove it to start the sweep again")
    differing = _differing(folder, record, plan)
    if differing:
        raise ArticulonError(
            f"{folder} holds another sweep: {differing}; use its original case, seeds and values (seeds may be "
            "added), or another folder (out=...)"
        )


def _differing(folder: Path, record: Mapping[str, Any], plan: Plan) -> str:
    """Describe the differences between a plan and the recorded plan; empty if the plan can continue the recorded
    sweep."""
    if record["digest"] != plan.digest:
        try:
            keys = _unseeded(plan.case).differences(
                _unseeded(Case.read(folder / BASE, allow_code=plan.case.allow_code))
            )
        except CaseError as error:
            return f"its case differs, and cannot be read ({error})"
        return f"{', '.join(keys[:KEYS_SHOWN]) or 'something'} differ from {folder / BASE}"
    values, now = record["vary"], {key: list(values) for key, values in plan.vary.items()}
    for key in dict.fromkeys([*values, *now]):
        if _sorted(values.get(key, [])) != _sorted(now.get(key, [])):
            return f"it varies {key} over {shown(values.get(key))}, but the request is {shown(now.get(key))}"
    missing = [seed for seed in record["seeds"] if seed not in set(plan.seeds)]
    if missing:
        return f"it has {len(record['seeds'])} seeds, but the request lacks {shown(missing)}"
    return ""


def _sorted(values: Sequence[Any]) -> list[str]:
    return sorted(json.dumps(value, sort_keys=True) for value in values)


def _unseeded(case: Case) -> Case:
    """Return the case without its own seed, because each member has another seed."""
    return case.with_overrides({SEED: 0})
