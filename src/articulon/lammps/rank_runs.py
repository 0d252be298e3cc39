"""Run on several MPI ranks: rank 0 writes and prints, and the other ranks take the same steps silently."""

import os
import signal
import sys
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any, TypeVar

from articulon.forces.sites.lammps_instance import Instance
from articulon.forces.sites.lammps_ranks import RanksEnd, world
from articulon.kernels import one_blas_thread
from articulon.model import State
from articulon.simulation import restoring
from articulon.simulation.interruption import Interruption
from articulon.simulation.loop import advance
from articulon.simulation.preparation import Prepared, blank_state, first_state, prepare
from articulon.simulation.recorder import Recorder
from articulon.simulation.run_request import Description, Silent
from articulon.storage.checkpoint import NEWEST, PREVIOUS, open_checkpoint
from articulon.storage.trajectory import Frame

R = TypeVar("R")


def is_first_rank() -> bool:
    """Whether this is the rank that writes and prints; on any other rank, this call silences all output until the
    process ends."""
    first = world().rank == 0
    if not first:
        sys.stdout = sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115 - until the process ends
    return first


def by_lammps(case: Any) -> bool:
    """Whether LAMMPS computes any forces of a case."""
    return case.run.engine == "lammps" or any(getattr(force, "kind", None) == "lammps" for force in case.forces)


def with_ranks(run: Callable[[], R], follow: Callable[[], None]) -> R:
    """Return the result of ``run`` on rank 0. On another rank, call ``follow`` and take part in later evaluations of
    rank 0. When rank 0 ends, end this rank with SystemExit."""
    if is_first_rank():
        return run()
    ranks = world()
    for number in (signal.SIGINT, signal.SIGTERM):  # rank 0 decides when to stop
        signal.signal(number, signal.SIG_IGN)
    try:
        follow()
        ranks.serve(Instance)
    except RanksEnd:
        pass
    except Exception as error:
        # An error on all ranks is reported by rank 0, which ends with it.
        if not ranks.end():
            ranks.abort(error)
    raise SystemExit(0)


def follow_run(case: Description, folder: Path, resume: bool) -> None:
    """Take the steps of a run without writing anything.

    Parameters
    ----------
    case
        Case of the run.
    folder
        Folder in which rank 0 keeps the run; this rank reads it if the run is resumed.
    resume
        Whether to continue from the last checkpoint in the folder, if there is one.
    """
    with ExitStack() as stack, one_blas_thread():
        held = resume and any((folder / name).exists() for name in (NEWEST, PREVIOUS))
        saved = stack.enter_context(open_checkpoint(folder)) if held else None
        prepared = prepare(case, None if saved is None else restoring.saved_threshold(saved))
        done = None if saved is None else restoring.saved_progress(saved, prepared)
        state = (
            first_state(prepared) if saved is None else restoring.saved_state(saved, blank_state(prepared), prepared)
        )
        recorder = Follower(prepared, state, 0 if done is None else done.frames)
        if done is not None:
            prepared.observer.start_energy = done.start_energy
            recorder.last_step = done.last_step
        advance(recorder, Silent(), Interruption(), lambda _: None)


class Follower(Recorder):
    """Takes the frames of a run without keeping them; all ranks evaluate the forces of a frame."""

    keeps_poses = False

    def __init__(self, prepared: Prepared, state: State, frames: int) -> None:
        super().__init__(prepared, state, [float(time) for time in prepared.case.run.frame_times()])
        self._frames = frames

    @property
    def frames(self) -> int:
        """See :class:`Recorder`."""
        return self._frames

    def keep(self, frame: Frame) -> None:
        """See :class:`Recorder`."""
        self._frames += 1
