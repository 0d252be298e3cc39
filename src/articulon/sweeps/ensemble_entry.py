"""The public function :func:`ensemble`: many runs of a case by one call, and their joint results."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from functools import cached_property
from pathlib import Path
from typing import Any

from articulon import __version__
from articulon.cases.case import Case
from articulon.cases.loading import given_case
from articulon.cases.overrides import checked_values
from articulon.errors import CaseError
from articulon.inputs import flag, number, path_of, shown, whole
from articulon.notebook_table import table_of_words
from articulon.runs.entry import open_run
from articulon.runs.run import Run
from articulon.simulation.interruption import Interruption
from articulon.storage.atomic_writing import write_text
from articulon.storage.folder_claim import claimed
from articulon.sweeps.member_figures import figures_of
from articulon.sweeps.member_folders import check_member, finished_summary, time_averages
from articulon.sweeps.member_statistics import alike, grouped
from articulon.sweeps.sweep_members import Member, seeds_of
from articulon.sweeps.sweep_page import page_of
from articulon.sweeps.sweep_plan import Plan, check_plan
from articulon.sweeps.sweep_progress import Shown, sweep_shown_by
from articulon.sweeps.sweep_workers import Workers, local_workers, remote_workers
from articulon.sweeps.sweeping import Sweeping

SWEEPS = Path("sweeps")
"""Default folder of results; each case gets a subfolder."""
RESULTS, PAGE = "ensemble.json", "ensemble.html"
MOST_WORKERS = 4096
"""Largest number of workers on one machine."""
DEFINITIONS = {
    "interval": "mean ± t s/√n over the n members, with Student's t for 95 %; members are independent",
    "averages": "for each member, the mean of an observable over its frames, without undefined values",
    "figures": "numbers in the summaries of the members, by dotted name",
    "first_passage": "times at which the stop condition ended runs, by Kaplan and Meier; a run that reached its "
    "duration is censored there. The band is 95 %, Greenwood's variance on the scale of ln(−ln S)",
}
"""Definitions of the reported quantities, as texts."""


class Sweep:
    """Completed members of a sweep and their joint results.

    Parameters
    ----------
    case
        Case of all members.
    folder
        Folder of the sweep, with a subfolder for each member.
    rows
        Results of all members, in order.
    summary
        Contents of ``ensemble.json``.
    """

    def __init__(self, case: Case, folder: Path, rows: Sequence[Mapping[str, Any]], summary: dict[str, Any]) -> None:
        self.case, self.folder, self.summary = case, folder, summary
        self._rows = rows

    def __repr__(self) -> str:
        return f"Sweep({str(self.folder)!r}: {len(self._rows)} members, {len(self.failed)} of them failed)"

    @cached_property
    def runs(self) -> tuple[Run, ...]:
        """The runs of the completed members, in the order of the table."""
        ended = (row for row in self._rows if row["error"] is None)
        return tuple(open_run(self.folder / row["name"], allow_code=self.case.allow_code) for row in ended)

    @property
    def table(self) -> list[dict[str, Any]]:
        """A row for each member, including failed members. The entries of a row are ``name``, ``seed``, the varied
        keys, ``status``, ``error``, and ``stop_time`` (None if no stop condition was met). Further entries are every
        number in the member's summary, by dotted name, and ``mean.<observable>``, the average over the member's frames.
        ``pandas.DataFrame`` accepts the table directly."""
        return [
            {
                "name": row["name"],
                "seed": row["seed"],
                **row["values"],
                "status": row["status"],
                "error": row["error"],
                "stop_time": row["stop_time"],
                **row["figures"],
                **{f"mean.{name}": value for name, value in row["averages"].items()},
            }
            for row in self._rows
        ]

    @property
    def failed(self) -> dict[str, str]:
        """Errors of the failed members, by name."""
        return {row["name"]: row["error"] for row in self._rows if row["error"] is not None}

    def _repr_html_(self) -> str:
        return table_of_words(
            f"Sweep of {self.case.name}",
            {
                "members": f"{len(self._rows)}, of which {len(self.failed)} have failed",
                "groups": str(len(self.summary["groups"])),
                "in": str(self.folder),
                "page": str(self.folder / PAGE),
            },
        )


def ensemble(
    case: Case | str | Path,
    seeds: int | Sequence[int] = 50,
    vary: Mapping[str, Sequence[Any]] | None = None,
    out: str | Path | None = None,
    workers: int = 2,
    scheduler: str | None = None,
    *,
    resume: bool = False,
    skip: float = 0.0,
    progress: Shown | bool | None = None,
    overrides: Mapping[str, Any] | None = None,
    allow_code: bool = False,
) -> Sweep:
    """Run a case for many seeds, and for values of its keys, in several processes, as ``articulon sweep`` does.

    Each member is a run in its own folder, on one thread. Its results are bitwise equal to the results of the same run
    outside a sweep. If a worker is killed, another worker continues its member from the last checkpoint. A member that
    fails is reported with its error and does not affect the others.

    Parameters
    ----------
    case
        A case from :func:`articulon.load_case`, the name of a built-in case, or the path of a case file.
    seeds
        Number of seeds, 1, 2, 3 …, or a list of seeds.
    vary
        Lists of values by dotted key. Every combination of the values is run with every seed.
    out
        Folder of the results; by default a folder in ``sweeps`` named after the case and its overrides. It must not
        hold a sweep, unless ``resume`` is True. It receives a subfolder for each member, ``ensemble.json`` and
        ``ensemble.html``.
    workers
        Number of processes on this machine.
    scheduler
        Address of a Dask scheduler, such as ``"tcp://10.0.0.1:8786"``. Its workers then run the members, instead of
        processes on this machine. They must see the folder under the same path, and have one thread each.
    resume
        Whether to continue the sweep in the folder. Members that have ended are not run again; members that were killed
        or failed continue from their last checkpoint. Additional seeds add members. If the folder holds no sweep, a new
        sweep starts.
    skip
        Fraction of the frames at the start that time averages leave out.
    progress
        True shows a table on standard error; False shows nothing. By default the table appears in interactive sessions.
    overrides
        Changes of the case by dotted key, as for :func:`articulon.load_case`.
    allow_code
        Whether Python functions that the case names may be run. They are code from the author of the case.

    Returns
    -------
    Sweep
        ``runs``, ``table`` (one row per run) and ``summary``: means with 95 % intervals (Student's t over the members),
        distributions, and first-passage statistics (Kaplan–Meier) if the case has a stop condition.

    Raises
    ------
    CaseError
        For an invalid case, key, value or seed.
    ArticulonError
        If another sweep is active in the folder, or if the folder holds another sweep, or a run of another case in
        place of a member. Also if Dask is not installed, if the scheduler does not answer, or if its workers cannot run
        articulon.
    KeyboardInterrupt
        After Ctrl-C or a request to terminate, once the states of the runs have been saved; continue with
        ``resume=True``.

    Examples
    --------
    ::

        hot = {"thermostat.temperature": ["300 K", "310 K"]}
        ensemble = ar.ensemble("molten-salt-100", seeds=20, vary=hot, out="sweeps/salt")
        ensemble.summary["groups"][0]["averages"]["temperature_kinetic"]["interval"]
    """
    resume = flag(resume, "ensemble, resume", CaseError)
    allow_code = flag(allow_code, "ensemble, allow_code", CaseError)
    first = number(skip, "ensemble, skip", CaseError)
    if not 0.0 <= first < 1.0:
        raise CaseError(f"ensemble, skip: must be a fraction of the frames, from 0 to less than 1, got {shown(skip)}")
    count = whole(workers, "ensemble, workers", least=1, most=MOST_WORKERS, error=CaseError)
    address = None if scheduler is None else checked_address(scheduler)
    plan = plan_of(case, seeds, vary, overrides, allow_code)
    folder = default_folder(plan.case) if out is None else path_of(out, "ensemble, out", CaseError)
    display = sweep_shown_by(progress)

    def workers_for(todo: int) -> AbstractContextManager[Workers]:
        return local_workers(min(count, todo), folder) if address is None else remote_workers(address, folder)

    with _sweep_in(folder, display) as interruption:
        waiting, ended = _open_members(plan, folder, resume)
        hired = min(count, len(waiting))
        here = f"{hired} worker{'s' * (hired != 1)} on this machine"
        where = here if address is None else f"workers of {address}"
        sweeping, stopped = Sweeping(plan.case, folder, first, display), False
        if waiting:
            with ExitStack() as stack:
                with interruption.at_once():  # an interruption before a member runs loses no results
                    hands = stack.enter_context(workers_for(len(waiting)))
                plan.write(folder)
                display.begin(len(plan.members), ended, where)
                stopped = sweeping.run(waiting, hands, interruption)
        if stopped:
            left = sum(finished_summary(folder / one.name, one.case_of(plan.case)) is None for one in waiting)
            raise KeyboardInterrupt(
                f"the sweep was stopped; {len(plan.members) - left} of {len(plan.members)} members have ended; "
                "continue with resume=True"
            )
        plan.write(folder)
        rows = [_row(plan.case, folder, member, first, sweeping) for member in plan.members]
        return _finished(plan, folder, rows, first)


def plan_of(
    case: Case | str | Path,
    seeds: int | Sequence[int],
    vary: Mapping[str, Sequence[Any]] | None,
    overrides: Mapping[str, Any] | None = None,
    allow_code: bool = False,
) -> Plan:
    """Check and return the plan of a sweep; see :func:`ensemble` for the arguments and errors."""
    case = given_case(case, overrides, allow_code)
    case.check_code()
    if vary is not None and not isinstance(vary, Mapping):
        raise CaseError(f"vary: expected lists of values by key, got {shown(vary)}")
    plan = Plan(case, seeds_of(seeds), checked_values({} if vary is None else vary))
    assert plan.members  # the property checks the members
    case.to_toml()  # workers receive the case as a file, which cannot hold Python objects
    return plan


def default_folder(case: Case) -> Path:
    """Default folder of a case's sweep."""
    return SWEEPS / case.folder_name


def checked_address(scheduler: Any) -> str:
    """Return the address of a scheduler; raise CaseError if it is invalid."""
    if not isinstance(scheduler, str) or not scheduler.startswith(("tcp://", "tls://")) or ":" not in scheduler[6:]:
        raise CaseError(
            f"scheduler: expected its address, such as 'tcp://10.0.0.1:8786' or 'tls://...', got {shown(scheduler)}"
        )
    return scheduler


@contextmanager
def _sweep_in(folder: Path, display: Shown) -> Iterator[Interruption]:
    """Lock a folder for one sweep, and handle requests to stop; at the end, close the display."""
    try:
        with Interruption() as interruption, claimed(folder, display.message, "sweep"):
            yield interruption
    finally:
        display.close()


def _open_members(plan: Plan, folder: Path, resume: bool) -> tuple[list[Member], int]:
    """Return the members that must still be run, and the number of members that have ended. Raise ArticulonError for a
    folder with other contents."""
    check_plan(folder, plan, resume)
    waiting = []
    for member in plan.members:
        place = folder / member.name
        if os.path.lexists(place):
            case = member.case_of(plan.case)
            if resume and finished_summary(place, case) is not None:
                continue
            check_member(place, case, resume)
        waiting.append(member)
    return waiting, len(plan.members) - len(waiting)


def _row(case: Case, folder: Path, member: Member, skip: float, sweeping: Sweeping) -> dict[str, Any]:
    """Return the row of a member, with its results or the reason why it failed."""
    place, errors = folder / member.name, sweeping.errors
    summary = None if member.name in errors else finished_summary(place, member.case_of(case))
    found: dict[str, Any] = {
        "name": member.name,
        "seed": member.seed,
        "values": dict(member.values),
        "group": member.group,
        "status": "failed" if summary is None else summary["status"],
        "error": None if summary is not None else errors.get(member.name, "its summary is missing"),
        "stop_time": None,
        "simulated_time": None,
        "wall_seconds": None,
        "worker_processor_seconds": sweeping.processor_seconds.get(member.name),
        "figures": {},
        "averages": {},
    }
    if summary is not None:
        found |= {name: summary.get(name) for name in ("stop_time", "simulated_time", "wall_seconds")}
        found["figures"], found["averages"] = figures_of(summary), time_averages(place, skip)
    return found


def _finished(plan: Plan, folder: Path, rows: Sequence[dict[str, Any]], skip: float) -> Sweep:
    case = plan.case
    groups = grouped(rows, case.run.stop is not None)
    notes = []
    if alike(groups):
        notes.append("all seeds gave the same numbers: nothing in this case is random")
    elif len(groups) > 1:
        notes.append(
            "members with the same seed draw the same random numbers in every group: each interval holds for its group "
            "alone, and two groups are not independent samples"
        )
    summary = {
        "case": case.name,
        "title": case.title,
        "articulon": __version__,
        "time_unit": case.units.label("time"),
        "energy_unit": case.units.label("energy"),
        "seeds": list(plan.seeds),
        "vary": {key: list(values) for key, values in plan.vary.items()},
        "skip": skip,
        "stops": None if case.run.stop is None else case.run.stop.label,
        "definitions": DEFINITIONS,
        "notes": notes,
        "groups": groups,
        "members": [{key: value for key, value in row.items() if key != "group"} for row in rows],
    }
    write_text(folder / RESULTS, json.dumps(summary, indent=2, ensure_ascii=False, allow_nan=False) + "\n")
    write_text(folder / PAGE, page_of(case, folder, summary))
    return Sweep(case, folder, rows, summary)
