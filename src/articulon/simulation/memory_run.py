"""What a run in memory keeps: how it was prepared, its frames, and the state that it goes on from."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from articulon.model import Model, State
from articulon.simulation.deformation_notes import deformation_notes
from articulon.simulation.frame_times import FrameTimes
from articulon.simulation.frames import Frames
from articulon.simulation.observers import poses_of
from articulon.simulation.preparation import Prepared, Scaling, prepare
from articulon.simulation.run_notes import notes_at
from articulon.simulation.run_request import Description
from articulon.simulation.summary import plain, summary
from articulon.storage.trajectory import Frame
from articulon.time_scales.contact_step_limit import with_unit
from articulon.time_scales.noise_windows import Windows

COMPLETE, INTERRUPTED, FAILED = "complete", "interrupted", "failed"


@dataclass(frozen=True)
class Setup:
    """How a run was prepared, so that it can be continued."""

    case: Description
    """What was asked for."""
    model: Model
    """What is integrated."""
    scaling: Scaling
    """The policy, its threshold found, and the drag of its core."""
    windows: Windows
    """Of noise, and the step of a rule of equal steps."""
    times: FrameTimes
    """When frames are taken."""
    notes: tuple[str, ...] = ()
    """What is to be known of it."""

    @property
    def step(self) -> float | None:
        """The step where all are equal [time]; None where they vary."""
        if self.windows.step is not None:
            return float(self.windows.step)
        step = getattr(self.case.integrator, "step", None)
        return None if step is None else float(step)

    def prepared(self) -> Prepared:
        """The run made ready once more; what is in the cache of kernels is not compiled again."""
        return prepare(self.case, self.scaling.threshold, self.windows, self.model)


class Row(NamedTuple):
    """One frame."""

    number: int
    """Of the step that led to it."""
    time: float
    """[time]."""
    q: np.ndarray
    u: np.ndarray
    bath: np.ndarray
    values: np.ndarray
    """Of the observables, in the order of their names."""
    box: np.ndarray | None = None
    """Edges of a box that changes [length], shape (3, 3)."""

    @classmethod
    def of(cls, frame: Frame, time: float, state: State, names: Sequence[str]) -> "Row":
        """What is kept of a frame, which is said to be at a time."""
        values = np.array([frame.observables[name] for name in names])
        return cls(frame.step, time, frame.q, frame.u, state.bath.copy(), values, frame.box)


@dataclass
class Memory:
    """The frames of a run and the state that it goes on from."""

    setup: Setup
    """How it was prepared."""
    dimensions: dict[str, str]
    """Dimension of every observable by name."""
    rows: list[Row]
    """The frames."""
    state: State
    """Of the last frame, or where it was interrupted."""
    start_energy: float
    """Kinetic energy from which the balance is counted [energy]."""
    taken: int
    """Number of the last frame, counted as by ``setup.times``."""
    status: str = COMPLETE
    """How it ended."""
    stop_time: float = float("nan")
    """When what the case watches ended it [time]."""
    wall_seconds: float = 0.0
    """What it has taken [s]."""
    _prepared: Prepared | None = field(default=None, repr=False, compare=False)

    def __getstate__(self) -> dict[str, Any]:
        """Compiled kernels stay in the process that has loaded them."""
        return {**self.__dict__, "_prepared": None}

    @property
    def model(self) -> Model:
        """What was integrated."""
        return self.setup.model

    @property
    def step(self) -> float | None:
        """See :attr:`Setup.step`."""
        return self.setup.step

    @property
    def complete(self) -> bool:
        """Whether it came to its end, or to what stops it."""
        return self.status not in (INTERRUPTED, FAILED)

    @property
    def prepared(self) -> Prepared:
        """All that the run needs beside its state; it is made again where it is gone."""
        if self._prepared is None:
            self._prepared = self.setup.prepared()
        return self._prepared

    def observables(self) -> dict[str, np.ndarray]:
        """ "time" and every observable by name, shape (frames,)."""
        values = np.array([row.values for row in self.rows]).reshape(len(self.rows), len(self.dimensions))
        times = np.array([row.time for row in self.rows])
        return {"time": times, **{name: values[:, k].copy() for k, name in enumerate(self.dimensions)}}

    def q(self) -> np.ndarray:
        """Coordinates, shape (frames, nq)."""
        return np.array([row.q for row in self.rows])

    def u(self) -> np.ndarray:
        """Speeds, shape (frames, nu)."""
        return np.array([row.u for row in self.rows])

    def bath(self) -> np.ndarray:
        """The thermostat's own variables, ζ of each member of its chain [1/time] and the energy of its reservoir
        [energy], shape (frames, variables)."""
        return np.array([row.bath for row in self.rows])

    def poses(self) -> tuple[np.ndarray, np.ndarray]:
        """Positions (frames, bodies, 3) [length] and Euler parameters (frames, bodies, 4) of the bodies."""
        return poses_of(self.model, self.q())

    def said(self, run: Frames) -> list[str]:
        """What is to be known of it."""
        return [*self._noted(), *deformation_notes(self.model, run.times, run.q, run.u)]

    def _noted(self) -> list[str]:
        """Notes on how it was prepared, and on what it did; only one that locks joints is made ready for that."""
        if self.setup.case.adaptive is None:
            return list(self.setup.notes)
        return [*self.setup.notes, *(f"simulate: {note}" for note in notes_at(self.prepared, self.state))]

    def words(self) -> str:
        """In one line: frames, time, bodies, and how it ended."""
        unit = "" if self.model.units.time is None else self.model.units.symbols[2]
        bodies = f"{self.model.bodies} bod{'y' if self.model.bodies == 1 else 'ies'}"
        end = with_unit(float(self.state.time[0]), unit, 6)
        many = f"{len(self.rows)} frame{'' if len(self.rows) == 1 else 's'}"
        return f"{many} to {end}, {bodies}, {self.status}, in memory"

    def summary(self, run: Frames) -> dict[str, Any]:
        """The figures of the run, as in ``summary.json``."""
        stop = self.stop_time if np.isfinite(self.stop_time) else None
        prepared = self.prepared
        prepared.observer.start_energy = self.start_energy
        return plain(
            summary(prepared, self.state, self.status, self.wall_seconds, self._noted(), run, stop, self.complete)
        )
