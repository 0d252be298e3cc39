"""What a frame with all atoms costs beside the steps of a run of a molecule."""

import tempfile
import time
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

from articulon.integrate.base import Driver
from articulon.model import State
from articulon.model.state import STEPS
from articulon.simulation.loop import with_atoms
from articulon.simulation.observers import Observer
from articulon.storage.atom_columns import atom_columns
from articulon.storage.model_layout import trajectory_layout
from articulon.storage.trajectory import TrajectoryWriter

FRAMES = 10
"""That are taken; the median counts."""


def frame_costs(driver: Driver, state: State, step: float) -> dict[str, Any]:
    """Milliseconds that a frame takes to look at what is observed, to place all atoms, and to keep them until the file
    is written; and that writing takes, by frame, where all are written at once.

    Parameters
    ----------
    driver
        What advances the state.
    state
        A state after the first step.
    step
        Its length [time].
    """
    evaluator, model = driver.evaluator, driver.evaluator.model
    assert model.atoms is not None
    observer = Observer(evaluator, step)
    columns = atom_columns(model, np.arange(len(model.atoms)))
    looked, kept = [], []
    with tempfile.TemporaryDirectory() as folder:
        layout = trajectory_layout(model, observer.dimensions, "0", columns)
        writer = TrajectoryWriter(Path(folder) / "trajectory.h5", layout, interval=np.inf)
        for _ in range(FRAMES + 1):  # the first of all compiles, and is written at once
            began = time.perf_counter()
            frame = observer.frame(state, with_poses=False)
            looked.append(time.perf_counter() - began)
            began = time.perf_counter()
            writer.append(with_atoms(frame, model, writer))
            kept.append(time.perf_counter() - began)
            state.counters[STEPS] += 1
        began = time.perf_counter()
        writer.flush()
        written = (time.perf_counter() - began) / FRAMES
    return {
        "observed": 1e3 * median(looked[1:]),
        "atoms": 1e3 * median(kept[1:]),
        "written": 1e3 * written,
    }
