"""Advance a run in memory and return its results."""

import time
from dataclasses import replace
from signal import SIGINT

from articulon.errors import ArticulonError, CaseError, DivergenceError
from articulon.inputs import shown
from articulon.model import State
from articulon.simulation.interruption import Interruption
from articulon.simulation.loop import MemoryRecorder, advance
from articulon.simulation.memory_run import FAILED, INTERRUPTED, Memory, Setup
from articulon.simulation.preparation import Prepared
from articulon.simulation.results import Run
from articulon.simulation.run_request import Progress


def begun(setup: Setup, prepared: Prepared, state: State, progress: Progress) -> Run:
    """Advance a run from its start to its end.

    Parameters
    ----------
    setup
        The requested run.
    prepared
        The prepared run.
    state
        The state at time zero.
    progress
        Displays the progress.

    Raises
    ------
    DivergenceError
        If the state becomes non-finite; the exception's ``run`` holds the results up to then.
    KeyboardInterrupt
        After Ctrl-C; the exception's ``run`` holds the results up to then.
    """
    return _made(setup, prepared, MemoryRecorder(prepared, state, setup.times), progress)


def continued(setup: Setup, earlier: Memory, progress: Progress) -> Run:
    """Continue a run from its end. The last frame of the earlier part is the first of the continuation; the earlier run
    is not changed."""
    prepared, before = replace(earlier.prepared, case=setup.case), setup.times.first
    prepared.observer.start_energy = earlier.start_energy
    recorder = MemoryRecorder(prepared, earlier.state.copy(), setup.times, earlier.rows[-1:], before)
    recorder.last_step = earlier.rows[-1].number
    return _made(setup, prepared, recorder, progress)


def joined(first: Memory, second: Memory) -> Memory:
    """Join a run and its continuation into a single run with the frames of both."""
    return Memory(
        setup=second.setup,
        dimensions=second.dimensions,
        rows=[*first.rows, *second.rows[1:]],
        state=second.state,
        start_energy=first.start_energy,
        taken=second.taken,
        status=second.status,
        stop_time=second.stop_time,
        wall_seconds=first.wall_seconds + second.wall_seconds,
        _prepared=second._prepared,
    )


def _made(setup: Setup, prepared: Prepared, recorder: MemoryRecorder, progress: Progress) -> Run:
    began = time.monotonic()
    unit = "" if setup.model.units.time is None else setup.model.units.symbols[2]

    def run(status: str) -> Run:
        memory = Memory(
            setup=setup,
            dimensions=prepared.observer.dimensions,
            rows=recorder.rows,
            state=recorder.state,
            start_energy=prepared.observer.start_energy,
            taken=recorder.frames - 1,
            status=status,
            stop_time=recorder.stop_time,
            wall_seconds=time.monotonic() - began,
            _prepared=prepared,
        )
        return Run(case=setup.case, memory=memory)

    with Interruption((SIGINT,)) as interruption:
        progress.start(recorder.times[-1], unit, float(recorder.state.time[0]))
        try:
            status = advance(recorder, progress, interruption, lambda _: None)
        except ArticulonError as error:
            if isinstance(error, DivergenceError) and recorder.rows:
                error.run = run(FAILED)  # type: ignore[attr-defined]
            raise
    done = run(status)
    if status == INTERRUPTED or interruption.requested:
        raise interrupted(done)
    progress.finish()
    return done


def interrupted(done: Run) -> KeyboardInterrupt:
    """Return the exception that is raised after Ctrl-C; it holds the results so far."""
    assert done.memory is not None
    units, state = done.model.units, done.memory.state
    unit = "" if units.time is None else f" {units.symbols[2]}"
    error = KeyboardInterrupt(
        f"interrupted at t = {state.time[0]:.9g}{unit}; the results so far are the `run` of this exception, and "
        "articulon.resume(run) continues from there"
    )
    error.run = done  # type: ignore[attr-defined]
    return error


def check_to_resume(run: object) -> Memory:
    """Return the data of a run in memory; raise CaseError if the argument is not a run in memory, or if the run cannot
    continue."""
    if not isinstance(run, Run) or run.memory is None:
        raise CaseError(f"resume: expected a run of articulon.simulate, got {shown(run)}")
    return run.memory
