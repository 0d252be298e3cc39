"""Run a case into a folder with trajectory, checkpoints and summary, and resume an interrupted run."""

import os
import time
from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import numpy as np

from articulon.errors import ArticulonError, CaseError, CheckpointError, DivergenceError
from articulon.model.state import STEPS
from articulon.simulation import restoring
from articulon.simulation.checks import prepared_checks
from articulon.simulation.folder_run import HELD, TOPOLOGY, TRAJECTORY, FolderRun, announcing_once, on_threads
from articulon.simulation.interruption import Interruption
from articulon.simulation.loop import advance
from articulon.simulation.preparation import blank_state, first_state, prepare
from articulon.simulation.pull_record import continue_pulls
from articulon.simulation.recorder import Recorder
from articulon.simulation.results import CASE, Run, check_run
from articulon.simulation.run_request import Description, Progress, Silent
from articulon.simulation.spinning import spins
from articulon.simulation.steering import Steering
from articulon.storage.atomic_writing import write_text
from articulon.storage.checkpoint import NEWEST, PREVIOUS, Checkpoint, open_checkpoint
from articulon.storage.folder_claim import claimed
from articulon.storage.trajectory import TrajectoryReader

__all__ = ["CASE", "HELD", "RUNS", "TOPOLOGY", "TRAJECTORY", "Run", "open_run", "run"]

RUNS = Path("runs")
"""Default folder of results; each case gets a subfolder."""


def run(
    case: Description,
    out: str | Path | None = None,
    resume: bool = False,
    progress: Progress | None = None,
    overrides: Mapping[str, Any] | None = None,
    extends: Description | None = None,
    steering: Steering | None = None,
) -> Run:
    """Run a case and keep its results in a folder; see :func:`articulon.run` for the arguments and errors.

    ``progress`` None shows nothing. ``extends`` is for a longer duration: it is the case of the run that the folder
    holds, and ``case`` is the same case with a longer duration and the same frame interval. The run in the folder is
    then continued, with bitwise the results of a run that had the longer duration from the start. ``steering`` gets
    control between chunks of steps.
    """
    if isinstance(case, str | Path):
        raise TypeError(f"expected a case, got the name {str(case)!r}: read it with articulon.load_case")
    if overrides:
        case = case.with_overrides(overrides)
    case.check_code()
    folder = RUNS / case.folder_name if out is None else Path(out)
    shown = Silent() if progress is None else progress
    with Interruption() as interruption, claimed(folder, shown.message), ExitStack() as stack:
        begun = _check_folder(folder, case, resume, extends)
        stack.enter_context(announcing_once(shown))
        stack.enter_context(on_threads(case.run.threads, shown))
        began, earlier = time.monotonic(), wall_seconds(folder)
        saved, notes = _saved(folder, case, shown, stack, extends) if resume else (None, [])
        with interruption.at_once():  # an interruption during the compilation loses no results
            prepared = prepare(case, None if saved is None else restoring.saved_threshold(saved))
        checks = prepared_checks(case.checks, prepared.model, prepared.observer.dimensions, case.source)
        done = None if saved is None else restoring.saved_progress(saved, prepared)
        shorter = None if extends is None else extends.digest()
        if saved is not None and done is not None and restoring.saved_case(saved) == shorter:
            done = done._replace(finished=False)
        state = (
            first_state(prepared) if saved is None else restoring.saved_state(saved, blank_state(prepared), prepared)
        )
        for spin in spins(prepared.model, state.time, state.q[None], state.u[None]):
            shown.message(spin.note(prepared.model))
        frames = done.frames if done is not None else 0 if resume else None
        here = FolderRun(folder, prepared, state, begun, notes, checks, frames, shorter)
        recorder = here.recorder

        def report(status: str, wall: float | None = None) -> None:
            # The wall time of the run does not include the time of an analysis after its end.
            here.report(status, wall or taken(), with_pairs=wall is not None)

        def taken() -> float:
            idle = 0.0 if steering is None else steering.idle_seconds
            return earlier + time.monotonic() - began - idle

        if resume:
            continue_pulls(folder, int(state.counters[STEPS]), float(state.time[0]))
        if done is not None:
            restore(recorder, done)
            if extends is not None:
                # In this order: if the run is killed between the two writes, it can be extended again.
                recorder.checkpoint()
                write_text(folder / CASE, case.to_toml())
            if recorder.finished:
                reached = np.isfinite(recorder.stop_time)
                report(case.run.stop.label if reached else "complete", earlier)
                shown.message(f"the run in {folder} has already ended; there is nothing to do")
                return Run(folder, case, prepared.model)
        unit = "" if case.units.time is None else case.units.symbols[2]
        shown.start(recorder.times[-1], unit, float(state.time[0]))
        try:
            status = advance(recorder, shown, interruption, report, steering)
        except ArticulonError as error:
            if recorder.writer.frames_on_disk:
                # The verdict says whether the scaling may have caused the divergence.
                judged = isinstance(error, DivergenceError) and prepared.policy.scales
                _attempt(report, "failed", taken() if judged else None)
            raise
        if status == "interrupted":
            report(status)
            raise KeyboardInterrupt(f"interrupted at t = {state.time[0]:.9g} {unit}; continue with resume=True")
        wall = Run(folder).summary["wall_seconds"]
        shown.finish(_ending(status, recorder, unit))
        if prepared.policy.scales:
            report(status, wall)
    return Run(folder, case, prepared.model)


def open_run(folder: str | Path) -> Run:
    """Return the results in a run's folder, finished or not; raise ArticulonError if it holds no run."""
    folder = Path(folder)
    check_run(folder)
    return Run(folder)


def check_free(folder: Path) -> None:
    """Raise ArticulonError if a folder holds a run."""
    held = [name for name in HELD if os.path.lexists(folder / name)]
    if held:
        raise ArticulonError(
            f"{folder} holds another run ({held[0]}); continue it (resume=True), or choose another folder (out=...)"
        )


def _check_folder(folder: Path, case: Description, resume: bool, extends: Description | None) -> bool:
    """Return whether the folder already holds this run; raise ArticulonError if it holds a run that must not be
    continued."""
    if not resume:
        check_free(folder)
    begun = os.path.lexists(folder / CASE)
    if begun:
        try:
            case.check_continues(folder / CASE)
        except CaseError:
            if extends is None:
                raise
            extends.check_continues(folder / CASE)
    return begun


def _saved(
    folder: Path, case: Description, progress: Progress, stack: ExitStack, extends: Description | None
) -> tuple[Checkpoint | None, list[str]]:
    """Return the last checkpoint and notes on it; ``stack`` closes the checkpoint. It is None if there is no run yet,
    or if the run was interrupted before its first checkpoint.

    Raises
    ------
    CheckpointError
        If frames exist but no checkpoint does, so that a restart would lose them; if no checkpoint can be read; or if
        the checkpoint belongs to another case.
    """
    if not any(os.path.lexists(folder / name) for name in (NEWEST, PREVIOUS)):
        if not any(os.path.lexists(folder / name) for name in HELD):
            progress.message(f"there is nothing to resume in {folder}: the run starts from t = 0")
            return None, []
        if os.path.lexists(folder / TRAJECTORY):
            check_barely_begun(folder / TRAJECTORY, case)
        progress.message(f"the run in {folder} has no checkpoint yet: it restarts from t = 0")
        return None, []
    saved = stack.enter_context(open_checkpoint(folder))
    known = [one.digest() for one in (case, extends) if one is not None]
    if restoring.saved_case(saved) not in known:
        raise CheckpointError(
            f"{saved.path} belongs to another case than {folder / CASE}: restore the right files, or start the run "
            "again in another folder"
        )
    if saved.note is not None:
        progress.message(saved.note)
    return saved, [] if saved.note is None else [saved.note]


def check_barely_begun(trajectory: Path, case: Description) -> None:
    """Raise CheckpointError if a trajectory without checkpoint holds more than one frame, or belongs to another case.
    Only the first frame is written before the first checkpoint."""
    with TrajectoryReader(trajectory) as reader:
        frames, own = len(reader), reader.layout.case == case.digest()
    if frames > 1 or not own:
        what = f"holds {frames} frames" if own else "belongs to another case or seed"
        raise CheckpointError(
            f"{trajectory} {what}, and there is no checkpoint to continue from: restore {NEWEST}, or start the run "
            "again in another folder"
        )


def restore(recorder: Recorder, done: restoring.Progress) -> None:
    """Restore the data of a run into a recorder, except for its state."""
    recorder.prepared.observer.start_energy = done.start_energy
    recorder.last_step, recorder.stop_time, recorder.finished = done.last_step, done.stop_time, done.finished


def wall_seconds(folder: Path) -> float:
    """Return the wall time that a run has taken so far, from its summary [s]; 0 if there is no summary."""
    try:
        return float(Run(folder).summary["wall_seconds"])
    except (ArticulonError, KeyError, TypeError, ValueError):
        return 0.0


def _ending(status: str, recorder: Recorder, unit: str) -> str:
    if np.isfinite(recorder.stop_time):
        return f"{status} at {recorder.stop_time:.6g} {unit}"
    return f"{status}: {recorder.state.time[0]:.6g} {unit}"


def _attempt(report: Any, status: str, wall: float | None) -> None:
    """Write the summary of a failed run; a failure to do so is ignored."""
    try:
        report(status, wall)
    except ArticulonError:
        return
