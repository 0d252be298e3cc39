"""A run in a folder: the files written at its start, its frames, and its summary."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import numba
import numpy as np

from articulon.announcements import BATCH, announcing, tell_the_terminal
from articulon.kernels import one_blas_thread
from articulon.model import State
from articulon.simulation.checks import Check, Frames
from articulon.simulation.kept_atoms import atoms_of_case
from articulon.simulation.loop import FolderRecorder
from articulon.simulation.preparation import Prepared
from articulon.simulation.pull_record import pull_figures, pull_notes
from articulon.simulation.results import CASE, Run
from articulon.simulation.run_notes import notes_at, notes_on
from articulon.simulation.run_request import Progress
from articulon.simulation.summary import FILE as SUMMARY
from articulon.simulation.summary import summary, write_summary
from articulon.storage.atomic_writing import write_text
from articulon.storage.checkpoint import NEWEST, PREVIOUS
from articulon.storage.model_layout import trajectory_layout, write_model_topology
from articulon.storage.trajectory import TrajectoryWriter

TRAJECTORY, TOPOLOGY = "trajectory.h5", "topology.pdb"
HELD = (CASE, TRAJECTORY, NEWEST, PREVIOUS, SUMMARY)
"""Files that show that a folder holds a run."""


class FolderRun:
    """A run whose results are kept in a folder. It starts at the first frame or continues at a later frame.

    Parameters
    ----------
    folder
        Existing folder of the run.
    prepared
        The prepared run.
    state
        State at which the run begins or continues; the state is advanced in place.
    begun
        Whether the folder already holds the case. If not, the case is written, unless another process has written it.
    notes
        Notes on the run, in addition to the notes from its preparation.
    checks
        Checks on the results.
    frames
        Number of existing frames of the trajectory that are kept; None for a new trajectory.
    shorter
        Digest of the case of the shorter run that this run extends; None if there is no such run.
    recorder
        Class of the recorder that keeps the frames.
    """

    def __init__(
        self,
        folder: Path,
        prepared: Prepared,
        state: State,
        begun: bool,
        notes: Sequence[str] = (),
        checks: Sequence[Check] = (),
        frames: int | None = None,
        shorter: str | None = None,
        recorder: type[FolderRecorder] = FolderRecorder,
    ) -> None:
        self.folder, self.prepared, self.state, self.checks = folder, prepared, state, checks
        self.notes = [*_notes(prepared), *notes]
        case = prepared.case
        if not begun:
            write_text(folder / CASE, case.to_toml(), new=True)
        atoms = atoms_of_case(case, prepared.model)
        write_model_topology(folder / TOPOLOGY, prepared.model, case.title, atoms)
        layout = trajectory_layout(prepared.model, prepared.observer.dimensions, case.digest(), atoms)
        writer = TrajectoryWriter(folder / TRAJECTORY, layout, frames, shorter=shorter)
        self.recorder = recorder(folder, prepared, writer, state)

    def report(self, status: str, wall: float, with_pairs: bool = False) -> None:
        """Write the summary with the status and the wall time [s]. For a scaled run, the summary contains a verdict;
        with ``with_pairs``, unscaled reference runs are made for this verdict."""
        recorder, pulls = self.recorder, pull_figures(self.folder)
        figures = summary(
            self.prepared,
            self.state,
            status,
            wall,
            self.notes,
            None if status == "running" else Run(self.folder),
            recorder.stop_time if np.isfinite(recorder.stop_time) else None,
            with_pairs and pulls is None,
            pulls is not None,
        )
        figures["notes"] = [*figures["notes"], *notes_at(self.prepared, self.state)]
        if pulls is not None:
            figures["pulls"] = pulls
            figures["notes"] += pull_notes(pulls, str(figures["time_unit"]))
        if recorder.finished and self.checks:
            frames = self._frames()
            figures["checks"] = [check.outcome(frames).record() for check in self.checks]
        write_summary(self.folder, figures)

    def _frames(self) -> Frames:
        """The frames that checks read."""
        done, prepared = Run(self.folder), self.prepared
        arrays = done.times, done.q, done.u, done.observables
        return Frames(prepared.model, *arrays, prepared.observer.dimensions, prepared.policy.varies)


@contextmanager
def announcing_once(shown: Progress) -> Iterator[None]:
    """Show announcements. If several batches of kernels are compiled, only the announcement of the first batch is
    shown."""
    tell = tell_the_terminal if getattr(shown, "announces", False) else shown.message
    said: list[str] = []

    def once(text: str) -> None:
        if text.startswith(BATCH):
            if said:
                return
            said.append(text)
        tell(text)

    with announcing(once):
        yield


@contextmanager
def on_threads(wanted: int | None, progress: Progress) -> Iterator[None]:
    """Run with a given number of threads, at most the number available; None keeps the number that Numba uses."""
    before, most = numba.get_num_threads(), numba.config.NUMBA_NUM_THREADS
    if wanted is not None and wanted > most:
        progress.message(f"run.threads is {wanted}, but this machine has {most}; the results are the same")
    numba.set_num_threads(min(wanted or before, most))
    try:
        with one_blas_thread():
            yield
    finally:
        numba.set_num_threads(before)


def _notes(prepared: Prepared) -> list[str]:
    case, notes = prepared.case, [*prepared.windows.notes, *(f"model: {line}" for line in prepared.case.inferred)]
    unit, end, duration = case.units.symbols[2], case.run.frame_times()[-1], float(case.run.duration)
    if end < duration * (1.0 - 1e-9):
        notes.append(
            f"run.duration: the run ends at its last frame, {end:.9g} {unit}, since {duration:.9g} {unit} is not a "
            "whole number of frame intervals"
        )
    if prepared.threshold is not None:
        notes.append(prepared.threshold.note(case.units))
    return [*notes, *notes_on(prepared)]
