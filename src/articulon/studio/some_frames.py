"""Loading of some frames of a run from its folder; the other frames are not kept in memory."""

from __future__ import annotations

from contextlib import closing

import numpy as np

from articulon.simulation.observers import poses_of
from articulon.simulation.results import Run
from articulon.storage import h5md_layout
from articulon.storage.h5md_reading import TrajectoryFile, read_layout
from articulon.storage.trajectory_reading import is_sealed


def with_some_frames(run: Run, most: int) -> Run:
    """Return a run with at most ``most`` of its frames, equally spaced, and including the last frame.

    Parameters
    ----------
    run
        Run in a folder, with a known model.
    most
        Number of frames; at least 2.

    Raises
    ------
    ArticulonError
        For a trajectory that is missing or damaged.
    """
    observables = run.observables
    last = len(observables["time"]) - 1
    every = max(1, -(-last // (most - 1)))
    some = Run(run.folder, run.case, run.model)
    some.observables = {name: _rows(values, every) for name, values in observables.items()}
    path = run.folder / "trajectory.h5"
    is_sealed(path)
    with closing(TrajectoryFile(path)) as file:
        layout = read_layout(file)

        def read(name: str) -> np.ndarray:
            parts = file.values(name, slice(0, max(last, 0), every)), file.values(name, slice(max(last, 0), last + 1))
            return np.concatenate(parts)

        some.q, some.u = read(h5md_layout.COORDINATES), read(h5md_layout.SPEEDS)
        some.boxes = None if layout.box_edges is None else read(layout.frame_edges) / layout.length_factor
        if layout.atoms is None:
            some.positions = read(h5md_layout.POSITION) / layout.length_factor
            some.rotations = read(h5md_layout.ORIENTATION)
        else:
            some.positions, some.rotations = poses_of(run.model, some.q)
    return some


def _rows(values: np.ndarray, every: int) -> np.ndarray:
    """Return every n-th row, and the last row."""
    return np.concatenate([values[:-1][::every], values[-1:]])
