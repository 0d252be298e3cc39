"""Run cases by name, and open results together with their case."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from articulon.cases.case import Case
from articulon.cases.loading import load_case
from articulon.cases.run_extension import extended_case
from articulon.errors import CaseError
from articulon.inputs import flag, path_of
from articulon.lammps.rank_runs import by_lammps, follow_run, with_ranks
from articulon.simulation import case_run as simulate
from articulon.simulation.results import Run
from articulon.simulation.run_request import Progress
from articulon.simulation.steering import Steering

__all__ = ["Run", "open_run", "run"]


def run(
    case: Case | str | Path,
    out: str | Path | None = None,
    resume: bool = False,
    progress: Progress | None = None,
    overrides: Mapping[str, Any] | None = None,
    *,
    allow_code: bool = False,
    steering: Steering | None = None,
) -> Run:
    """Run a case, given as a case, a name or a path; see :func:`articulon.simulation.case_run.run`.

    With ``allow_code``, Python functions named in the case may be run; they are code of the author of the case. If
    several MPI ranks share the forces of LAMMPS, only the first rank returns.
    """
    if out is not None:
        out = path_of(out, "run, out", CaseError)
    resume, allow_code = flag(resume, "run, resume", CaseError), flag(allow_code, "run, allow_code", CaseError)
    if not isinstance(case, Case):
        case, overrides = load_case(case, overrides, allow_code=allow_code), None
    elif allow_code:
        case = replace(case, allow_code=True)
    if overrides:
        case = case.with_overrides(overrides)
    extends = None
    if resume:
        case, extends = extended_case(simulate.RUNS / case.folder_name if out is None else out, case)

    def here() -> Run:
        return simulate.run(case, out, resume, progress, extends=extends, steering=steering)

    if not by_lammps(case):
        return here()
    folder = simulate.RUNS / case.folder_name if out is None else Path(out)
    return with_ranks(here, lambda: follow_run(case, folder, resume))


def open_run(folder: str | Path, *, allow_code: bool = False) -> Run:
    """Open the results in the folder of a run, with the case that it was made from; see :func:`articulon.open_run`."""
    found = simulate.open_run(path_of(folder, "open_run, folder", CaseError))
    return Run(found.folder, Case.read(found.folder / simulate.CASE, allow_code=allow_code))
