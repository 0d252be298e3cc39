"""Replica exchange in a folder, with a subfolder for each run. One checkpoint of all runs allows the exchange to
resume."""

from __future__ import annotations

import csv
import io
import os
import time
from collections.abc import Sequence
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import NamedTuple

import numpy as np

from articulon.cases.case import Case
from articulon.errors import ArticulonError, CheckpointError
from articulon.model import Model, State
from articulon.runs.exchange_ladder import Ladder, at_temperature, cases_of
from articulon.runs.exchange_plan import PLAN, check_folder, note_exchanges, write_plan
from articulon.runs.exchange_rule import Exchanges, Replica
from articulon.simulation import loop, restoring
from articulon.simulation.case_run import check_barely_begun, check_free, restore, wall_seconds
from articulon.simulation.checks import Check, prepared_checks
from articulon.simulation.chunks import Chunks
from articulon.simulation.folder_run import TRAJECTORY, FolderRun, announcing_once, on_threads
from articulon.simulation.interruption import Interruption
from articulon.simulation.loop import FolderRecorder, advance_a_chunk, begin
from articulon.simulation.preparation import Prepared, blank_state, first_state, prepare
from articulon.simulation.results import CASE, Run
from articulon.simulation.run_request import Progress
from articulon.storage.atomic_writing import write_text
from articulon.storage.checkpoint import NEWEST, PREVIOUS, Checkpoint, open_checkpoint, write_checkpoint
from articulon.storage.folder_claim import claimed

WALKERS = "walkers.csv"
"""Name of the file that lists which walker each run has after each exchange."""


class Found(NamedTuple):
    """Results of the runs in a folder."""

    runs: list[Run]
    walkers: np.ndarray
    tried: np.ndarray
    accepted: np.ndarray


def exchange_in_folder(
    case: Case, held: Case | None, model: Model, ladder: Ladder, folder: Path, resume: bool, shown: Progress
) -> Found:
    """Advance the runs of a ladder to their end, from the start or from their last checkpoint.

    Parameters
    ----------
    case
        Case of the runs, with the requested duration.
    held
        Case of the exchange that the folder contains, if its duration is shorter.
    model
        The model of the case.
    ladder
        The runs.
    folder
        Folder of the exchange.
    resume
        Whether to continue the exchange in the folder.
    shown
        Displays the progress.

    Raises
    ------
    CaseError
        If the case cannot be run.
    ArticulonError
        For a folder that contains a run or another exchange, or in which an exchange is active.
    DivergenceError
        If the state of a run becomes non-finite; the message names its folder.
    KeyboardInterrupt
        After Ctrl-C or a request to terminate, once the states have been saved.
    """
    with Interruption() as interruption, claimed(folder, shown.message, "replica exchange"), ExitStack() as stack:
        check_folder(folder, case, held, ladder, resume)
        stack.enter_context(announcing_once(shown))
        stack.enter_context(on_threads(case.run.threads, shown))
        with interruption.at_once():  # an interruption of the compilation loses no results
            cases = cases_of(case, model, ladder)
            shorter = None if held is None else cases_of(held, model, ladder)
            models = [at_temperature(model, temperature) for temperature in ladder.temperatures]
            prepared = [prepare(one, model=own) for one, own in zip(cases, models, strict=True)]
        saved = _saved(folder, shown, stack) if resume else None
        folders = [folder / name for name in ladder.names("" if case.units.time is None else "K")]
        for one, own in zip(folders, cases, strict=True):
            if not resume:
                check_free(one)
            elif saved is None and os.path.lexists(one / TRAJECTORY):
                check_barely_begun(one / TRAJECTORY, own)
        begun = [_Begun.of(one, saved, k) for k, one in enumerate(prepared)]
        # Nothing is written until all runs are known to be able to start.
        if not os.path.lexists(folder / PLAN):
            write_plan(folder, case, ladder)
        for one in folders:
            stack.enter_context(claimed(one, shown.message))
        going = _Going(folder, folders, ladder, prepared, begun, resume, saved, shorter, interruption, shown)
        if held is not None:
            # In this order, an exchange that is killed between the two writes can still be extended.
            if saved is not None:
                going.checkpoint()
            for one, own in zip(folders, cases, strict=True):
                write_text(one / CASE, own.to_toml())
            write_plan(folder, case, ladder)
        going.to_the_end()
    runs = [Run(one, own, each) for one, own, each in zip(folders, cases, models, strict=True)]
    return Found(runs, np.array(going.walkers), going.exchanges.tried, going.exchanges.accepted)


class _Recorder(FolderRecorder):
    """Records the frames of one of several runs; the states of all runs are saved together."""

    def checkpoint(self) -> None:
        """Write the trajectory; the state is saved with those of the other runs."""
        self.writer.flush()


class _Begun(NamedTuple):
    """Initial data of a run of the exchange, and the checks on its results."""

    state: State
    checks: tuple[Check, ...]

    @classmethod
    def of(cls, prepared: Prepared, saved: Checkpoint | None, k: int) -> _Begun:
        """Return the start of run k; raise CaseError, naming the key, if it cannot start."""
        case = prepared.case
        checks = prepared_checks(case.checks, prepared.model, prepared.observer.dimensions, case.source)
        if saved is None:
            return cls(first_state(prepared), checks)
        return cls(restoring.saved_state(saved.part(f"run{k}."), blank_state(prepared), prepared), checks)


class _Going:
    """Advances the runs of an exchange.

    Parameters
    ----------
    folder, folders
        Folder of the exchange, and those of its runs.
    ladder
        The runs.
    prepared
        The prepared runs.
    begun
        Starts of the runs.
    resume
        Whether the folders may contain earlier results.
    saved
        Checkpoint to continue from, or None.
    shorter
        Cases of the shorter runs that these runs extend, or None.
    interruption, shown
        Object that signals a stop, and object that displays the progress.
    """

    def __init__(
        self,
        folder: Path,
        folders: Sequence[Path],
        ladder: Ladder,
        prepared: Sequence[Prepared],
        begun: Sequence[_Begun],
        resume: bool,
        saved: Checkpoint | None,
        shorter: Sequence[Case] | None,
        interruption: Interruption,
        shown: Progress,
    ) -> None:
        self.folder, self.ladder, self.interruption, self.shown = folder, ladder, interruption, shown
        self.case = prepared[0].case
        self.per_exchange = round(ladder.every / float(self.case.run.interval))
        self.replicas = [Replica(one, where.state) for one, where in zip(prepared, begun, strict=True)]
        self.runs: list[FolderRun] = []
        for k, (one, where) in enumerate(zip(prepared, begun, strict=True)):
            digest = None if shorter is None else shorter[k].digest()
            done = None if saved is None else _progress(saved.part(f"run{k}."), one, digest)
            there, frames = (
                os.path.lexists(folders[k] / CASE),
                done.frames if done is not None else 0 if resume else None,
            )
            run = FolderRun(folders[k], one, where.state, there, (), where.checks, frames, digest, _Recorder)
            run.recorder.checkpoint_file = folder / NEWEST
            if done is not None:
                restore(run.recorder, done)
            self.runs.append(run)
        self.exchanges = Exchanges(prepared[0].model, ladder.temperatures, ladder.seed)
        self.walkers: list[np.ndarray] = []
        if saved is not None:
            self._restore(saved)
        self.wall = [wall_seconds(run.folder) for run in self.runs]

    def to_the_end(self) -> None:
        """Advance all runs to their end, with an exchange after each interval."""
        runs, unit = self.runs, self.case.units.symbols[2]
        if all(run.recorder.finished for run in runs):
            # An earlier process may have been killed before it wrote the figures.
            self.write_figures("complete")
            self.shown.message(f"the exchange in {self.folder} has already ended; there is nothing to do")
            return
        chunks = [Chunks(one.prepared.driver, loop.CHUNK_SECONDS) for one in self.replicas]
        now = min(float(one.state.time[0]) for one in self.replicas)
        self.shown.start(runs[0].recorder.times[-1], "" if self.case.units.time is None else unit, now)
        if any(run.recorder.frames == 0 for run in runs):
            for run in runs:
                if run.recorder.frames == 0:
                    begin(run.recorder)
            self.save("running")
        saved = time.monotonic()
        while len(self.walkers) < self.ladder.exchanges:
            target = (len(self.walkers) + 1) * self.per_exchange + 1
            for k, run in enumerate(runs):
                while run.recorder.frames < target:
                    if self.interruption.requested:
                        self.save("interrupted")
                        at = min(float(one.state.time[0]) for one in self.replicas)
                        raise KeyboardInterrupt(f"interrupted at t = {at:.9g} {unit}; continue with resume=True")
                    self._advance(k, chunks[k])
                    self._show(target, k)
                    due = time.monotonic() - saved >= self.case.run.checkpoint_interval
                    if due and all(one.recorder.checkpoint_is_cheap for one in runs):
                        self.save("running")
                        saved = time.monotonic()
            self.walkers.append(self.exchanges.attempt(self.replicas, len(self.walkers) + 1))
        for run in runs:
            run.recorder.finished = True
            run.recorder.finish()
        self.save("complete")
        self.shown.finish(f"complete: {float(self.replicas[0].state.time[0]):.6g} {unit}")

    def _advance(self, k: int, chunks: Chunks) -> None:
        """Advance a run by some steps. If it fails, write the failure to its folder and name the folder in the
        error."""
        run, began = self.runs[k], time.monotonic()
        try:
            advance_a_chunk(run.recorder, chunks, self.interruption)
        except ArticulonError as error:
            self.wall[k] += time.monotonic() - began
            error.args = (f"{run.folder}: {error}", *error.args[1:])
            with suppress(ArticulonError):  # the same failure may also prevent this write
                for one in self.runs:
                    one.recorder.checkpoint()
                self.write_figures("failed")
            raise
        self.wall[k] += time.monotonic() - began

    def _show(self, target: int, k: int) -> None:
        """Display the mean simulated time of the runs."""
        times = self.runs[k].recorder.times
        end, begun = times[target - 1], times[target - 1 - self.per_exchange]
        part = (k + (float(self.replicas[k].state.time[0]) - begun) / (end - begun)) / len(self.runs)
        state, fixed = self.replicas[k].state, self.replicas[k].prepared.observer.fixed_step
        steps = sum(int(one.state.counters[loop.STEPS]) for one in self.replicas)
        self.shown.update(begun + part * (end - begun), fixed or float(state.step[0]), steps)

    def checkpoint(self) -> None:
        """Write all trajectories, then one file with all states and the exchanges so far."""
        arrays: dict[str, np.ndarray] = {}
        for k, run in enumerate(self.runs):
            run.recorder.checkpoint()
            arrays |= {f"run{k}.{name}": array for name, array in run.recorder.saved().items()}
        held = np.array(self.walkers, dtype=np.int64).reshape(-1, self.ladder.runs)
        arrays |= {"walkers": held, "tried": self.exchanges.tried, "accepted": self.exchanges.accepted}
        arrays["every"] = np.array(self.ladder.every)
        write_checkpoint(self.folder, arrays)

    def save(self, status: str) -> None:
        """Write a checkpoint, and the figures of all runs and of their exchanges."""
        self.checkpoint()
        self.write_figures(status)

    def write_figures(self, status: str) -> None:
        """Write the figures of all runs and of their exchanges."""
        for run, wall in zip(self.runs, self.wall, strict=True):
            run.report(status, wall)
        tried, accepted = self.exchanges.tried.tolist(), self.exchanges.accepted.tolist()
        found = {
            "status": status,
            "exchanges": self.ladder.exchanges,
            "exchanges_made": len(self.walkers),
            "tried": tried,
            "accepted": accepted,
            "acceptance": [a / t if t else None for a, t in zip(accepted, tried, strict=True)],
            "runs": [run.folder.name for run in self.runs],
            "wall_seconds": sum(self.wall),
        }
        note_exchanges(self.folder, found)
        if status != "running":
            write_text(self.folder / WALKERS, self._walkers_text())

    def _walkers_text(self) -> str:
        """Walkers of the runs after each exchange, as comma-separated values."""
        stream = io.StringIO()
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow(["time", *(run.folder.name for run in self.runs)])
        times = self.runs[0].recorder.times
        for number, row in enumerate(self.walkers, 1):
            writer.writerow([times[number * self.per_exchange], *row.tolist()])
        return stream.getvalue()

    def _restore(self, saved: Checkpoint) -> None:
        """Restore the record of exchanges from a checkpoint; raise CheckpointError for arrays that do not match the
        runs."""
        runs = self.ladder.runs
        walkers, tried, accepted = (saved.array(name) for name in ("walkers", "tried", "accepted"))
        fine = walkers.ndim == 2 and walkers.shape[1] == runs and walkers.dtype.kind == "i"
        fine = fine and len(walkers) <= self.ladder.exchanges and bool((np.sort(walkers) == np.arange(runs)).all())
        for one in (tried, accepted):
            fine = fine and one.shape == (runs - 1,) and one.dtype.kind == "i" and bool((one >= 0).all())
        fine = fine and saved.array("every").tobytes() == np.float64(self.ladder.every).tobytes()
        if not fine or any(run.recorder.frames <= len(walkers) * self.per_exchange for run in self.runs):
            raise CheckpointError(
                f"{saved.path} cannot be continued: its record of exchanges does not fit these runs. Restore a good "
                "copy of the file, or start again in another folder"
            )
        self.walkers = list(walkers)
        self.exchanges.tried[:], self.exchanges.accepted[:] = tried, accepted
        if len(walkers):
            self.exchanges.walkers[:] = walkers[-1]


def _progress(part: Checkpoint, prepared: Prepared, shorter: str | None) -> restoring.Progress:
    """Return the data of a run other than its state; raise CheckpointError if the checkpoint belongs to another
    case."""
    digest, known = restoring.saved_case(part), prepared.case.digest()
    if digest not in (known, shorter):
        raise CheckpointError(
            f"{part.path} belongs to another exchange than the cases of its runs: restore the right files, or start "
            "again in another folder"
        )
    done = restoring.saved_progress(part, prepared)
    return done if digest == known else done._replace(finished=False)


def _saved(folder: Path, shown: Progress, stack: ExitStack) -> Checkpoint | None:
    """Return the last checkpoint, which ``stack`` closes; None if there is none yet."""
    if not any(os.path.lexists(folder / name) for name in (NEWEST, PREVIOUS)):
        begun = os.path.lexists(folder / PLAN)
        why = f"the exchange in {folder} has no checkpoint yet"
        shown.message(f"{why if begun else f'there is nothing to resume in {folder}'}: it starts from t = 0")
        return None
    saved = stack.enter_context(open_checkpoint(folder))
    if saved.note is not None:
        shown.message(saved.note)
    return saved
