"""Plan file of a replica exchange: the case, the runs, and the exchanges so far."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from articulon import __version__
from articulon.cases.case import Case
from articulon.errors import ArticulonError
from articulon.runs.exchange_ladder import Ladder
from articulon.simulation.folder_run import TRAJECTORY
from articulon.simulation.results import CASE
from articulon.simulation.summary import plain
from articulon.storage.atomic_writing import write_text
from articulon.storage.checkpoint import NEWEST, PREVIOUS
from articulon.storage.file_reading import SUMMARY, read_record

PLAN = "exchange.json"
"""Name of the file with the runs and their exchanges."""
BASE = "exchange.toml"
"""Name of the file with the resolved case that all runs share."""


def write_plan(folder: Path, case: Case, ladder: Ladder) -> None:
    """Write the plan into the folder of an exchange."""
    # The case is written first, so that a plan never exists without its case.
    write_text(folder / BASE, case.to_toml())
    _write(folder, _plan(case, ladder))


def note_exchanges(folder: Path, found: dict[str, Any]) -> None:
    """Add the exchanges to the plan; raise ArticulonError if the plan cannot be read."""
    _write(folder, read_plan(folder) | found)


def read_plan(folder: Path) -> dict[str, Any]:
    """Read the plan with its exchanges; raise ArticulonError if it cannot be read."""
    return read_record(folder / PLAN, {})


def check_folder(folder: Path, case: Case, held: Case | None, ladder: Ladder, resume: bool) -> None:
    """Raise ArticulonError unless a folder is free for an exchange or contains the exchange that is to be continued."""
    run = next((name for name in (CASE, TRAJECTORY, SUMMARY) if os.path.lexists(folder / name)), None)
    if run is not None:
        raise ArticulonError(f"{folder} holds a run ({run}), not a replica exchange; choose another folder (out=...)")
    if not resume:
        there = next((name for name in (PLAN, BASE, NEWEST, PREVIOUS) if os.path.lexists(folder / name)), None)
        if there is not None:
            raise ArticulonError(
                f"{folder} holds another replica exchange ({there}); continue it (resume=True), or choose another "
                "folder (out=...)"
            )
        return
    if not os.path.lexists(folder / PLAN):
        return
    record, wanted = read_plan(folder), _plan(case, ladder)
    differing = [key for key in ("temperatures", "locked", "every", "seed") if record.get(key) != wanted[key]]
    if held is None:
        differing += case.differences(Case.read(folder / BASE, allow_code=case.allow_code))
    if differing:
        raise ArticulonError(
            f"{folder} holds another replica exchange: {', '.join(differing[:5])} differ; use the settings it was "
            "started with, or another folder (out=...)"
        )


def _plan(case: Case, ladder: Ladder) -> dict[str, Any]:
    """Return the plan in the form in which it is written."""
    return {
        "articulon": __version__,
        "case": case.name,
        "temperatures": list(ladder.temperatures),
        "locked": [list(names) for names in ladder.locked],
        "every": ladder.every,
        "exchanges": ladder.exchanges,
        "seed": ladder.seed,
    }


def _write(folder: Path, record: dict[str, Any]) -> None:
    write_text(folder / PLAN, json.dumps(plain(record), indent=2, ensure_ascii=False) + "\n")
