"""The plan of a sweep, in its folder: the case, the seeds and the values, so that what was killed can go on."""

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
"""Seeds and values, and the digest of the case."""
BASE = "sweep.toml"
"""The case as resolved, which every member is made of."""
KEYS: dict[str, tuple[type, ...]] = {"digest": (str,), "seeds": (list,), "vary": (dict,)}
"""What a plan has."""
KEYS_SHOWN = 5
"""Differing keys that a message lists."""


@dataclass(frozen=True)
class Plan:
    """What a sweep is to run."""

    case: Case
    """What every member is made of."""
    seeds: tuple[int, ...]
    """Seeds of the members of each combination of values."""
    vary: Mapping[str, Sequence[Any]]
    """Values by dotted key."""

    @cached_property
    def members(self) -> list[Member]:
        """The runs; raises CaseError for a key or value that the case cannot have."""
        return members_of(self.case, self.seeds, self.vary)

    @cached_property
    def digest(self) -> str:
        """Of what determines the numbers of the runs, but for the seeds and values."""
        return _unseeded(self.case).digest()

    def write(self, folder: Path) -> None:
        """Write the plan into the folder of the sweep; raises CaseError for a case that no file can hold."""
        record = {
            "articulon": __version__,
            "case": self.case.name,
            "digest": self.digest,
            "seeds": list(self.seeds),
            "vary": {key: list(values) for key, values in self.vary.items()},
        }
        # The case first: where there is a plan, there is its case.
        write_text(folder / BASE, self.case.to_toml())
        write_text(folder / PLAN, json.dumps(record, indent=2, ensure_ascii=False) + "\n")


def check_plan(folder: Path, plan: Plan, resume: bool) -> None:
    """Raises ArticulonError unless a folder is free for a sweep, or holds the one that is to go on.

    A sweep goes on with the case and the values that it began with; seeds may be added.

    Parameters
    ----------
    folder
        The folder; it need not be there.
    plan
        What is asked for.
    resume
        Whether to go on with what the folder holds.
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
    record = read_record(folder / PLAN, KEYS, "; remove it to begin the sweep anew")
    differing = _differing(folder, record, plan)
    if differing:
        raise ArticulonError(
            f"{folder} holds another sweep: {differing}; give the case, seeds and values that it was started with, to "
            "which seeds may be added, or another folder (out=...)"
        )


def _differing(folder: Path, record: Mapping[str, Any], plan: Plan) -> str:
    """In what a plan is not that of a record; nothing where it goes on with it."""
    if record["digest"] != plan.digest:
        try:
            keys = _unseeded(plan.case).differences(
                _unseeded(Case.read(folder / BASE, allow_code=plan.case.allow_code))
            )
        except CaseError as error:
            return f"its case is another one, which cannot be read ({error})"
        return f"{', '.join(keys[:KEYS_SHOWN]) or 'something'} differ from {folder / BASE}"
    values, now = record["vary"], {key: list(values) for key, values in plan.vary.items()}
    for key in dict.fromkeys([*values, *now]):
        if _sorted(values.get(key, [])) != _sorted(now.get(key, [])):
            return f"it varies {key} over {shown(values.get(key))}, and {shown(now.get(key))} are asked for"
    missing = [seed for seed in record["seeds"] if seed not in set(plan.seeds)]
    if missing:
        return f"it has {len(record['seeds'])} seeds, of which {shown(missing)} are not asked for"
    return ""


def _sorted(values: Sequence[Any]) -> list[str]:
    return sorted(json.dumps(value, sort_keys=True) for value in values)


def _unseeded(case: Case) -> Case:
    """The case without the seed of its own, which no member takes."""
    return case.with_overrides({SEED: 0})
