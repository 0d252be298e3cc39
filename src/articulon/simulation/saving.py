"""Save a run in memory into a folder, with the same files as a run that was made in a folder."""

from dataclasses import replace
from pathlib import Path

from articulon.errors import ArticulonError
from articulon.simulation.case_run import check_free
from articulon.simulation.folder_run import TOPOLOGY, TRAJECTORY
from articulon.simulation.kept_atoms import kept_atoms
from articulon.simulation.loop import FolderRecorder
from articulon.simulation.memory_run import Memory, Row
from articulon.simulation.observers import NO_POSES, poses_at
from articulon.simulation.results import CASE, Run
from articulon.simulation.summary import write_summary
from articulon.storage.atomic_writing import write_text
from articulon.storage.folder_claim import claimed
from articulon.storage.model_layout import trajectory_layout, write_model_topology
from articulon.storage.trajectory import Frame, TrajectoryWriter


def save(run: Run, folder: Path, atoms: str | None = None, atoms_every: int = 1) -> None:
    """Write the case, the frames, the state and the summary of a run in memory into a folder.

    Parameters
    ----------
    run
        The run.
    folder
        A folder that holds no run; it is created if missing.
    atoms, atoms_every
        Selection of atoms to store, and number of frames between stored atoms, as in ``[run]`` of a case.

    Raises
    ------
    CaseError
        For a model that no case file can describe, and for an empty selection.
    ArticulonError
        If the folder holds a run, if no case can describe the run's frames, or if the disk is full.
    """
    memory = run.memory
    assert memory is not None
    kept = kept_atoms(memory.model, atoms, atoms_every, "run.save")
    settings = run.case.run.model_copy(update={"atoms": atoms, "atoms_every": atoms_every})
    case = replace(run.case, run=settings)
    text = case.to_toml()
    _check_frames(memory)
    summary = run.summary
    with claimed(folder, lambda _: None):
        check_free(folder)
        write_text(folder / CASE, text, new=True)
        write_model_topology(folder / TOPOLOGY, memory.model, case.title, kept)
        prepared = replace(memory.prepared, case=case)
        prepared.observer.start_energy = memory.start_energy
        layout = trajectory_layout(memory.model, memory.dimensions, case.digest(), kept)
        recorder = FolderRecorder(folder, prepared, TrajectoryWriter(folder / TRAJECTORY, layout), memory.state)
        for row in memory.rows:
            recorder.keep(_frame(memory, row, recorder.keeps_poses))
        recorder.last_step, recorder.stop_time = memory.rows[-1].number, memory.stop_time
        recorder.finished = memory.complete
        recorder.finish()
        recorder.checkpoint()
        write_summary(folder, summary)


def _check_frames(memory: Memory) -> None:
    """Raise ArticulonError if no case can describe the frame times."""
    times = memory.setup.case.run.frame_times()
    for k, row in enumerate(memory.rows):
        here = k < len(times) and abs(row.time - times[k]) <= 1e-12 * times[-1]
        if not here and not (k == len(memory.rows) - 1 and memory.stop_time == memory.stop_time):
            raise ArticulonError(
                "run.save: the frames of this run are not equally spaced from its start, so no case can describe them; "
                "save the run that it continues, or make it in one simulation"
            )


def _frame(memory: Memory, row: Row, with_poses: bool) -> Frame:
    positions, rotations = poses_at(memory.model, row.q) if with_poses else NO_POSES
    observables = dict(zip(memory.dimensions, row.values.tolist(), strict=True))
    return Frame(
        step=row.number,
        time=row.time,
        positions=positions,
        rotations=rotations,
        q=row.q,
        u=row.u,
        observables=observables,
        box=row.box,
    )
