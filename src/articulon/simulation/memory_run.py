"""Data of a run in memory: its setup, its frames, and the state from which it continues."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from articulon.model import Model, State
from articulon.simulation.deformation_notes import deformation_notes
from articulon.simulation.frame_times import FrameTimes
from articulon.simulation.frames import Frames
from articulon.simulation.impact_summary import restitution_reduced
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
    """The setup of a run, from which it can be continued."""

    case: Description
    """The requested run."""
    model: Model
    """The model that is integrated."""
    scaling: Scaling
    """The scaling policy with its threshold and the drag of its core."""
    windows: Windows
    """Noise windows and, for integrators with equal steps, the step."""
    times: FrameTimes
    """Times of the frames."""
    notes: tuple[str, ...] = ()
    """Notes from the preparation."""

    @property
    def step(self) -> float | None:
        """Length of the steps if all are equal [time], otherwise None."""
        if self.windows.step is not None:
            return float(self.windows.step)
        step = getattr(self.case.integrator, "step", None)
        return None if step is None else float(step)

    def prepared(self) -> Prepared:
        """Prepare the run again; cached kernels are not recompiled."""
        return prepare(self.case, self.scaling.threshold, self.windows, self.model)


class Row(NamedTuple):
    """Data of one frame."""

    number: int
    """Number of steps taken."""
    time: float
    """Time of the frame [time]."""
    q: np.ndarray
    u: np.ndarray
    bath: np.ndarray
    values: np.ndarray
    """Values of the observables, in the order of their names."""
    box: np.ndarray | None = None
    """Edges of a variable box [length], shape (3, 3)."""

    @classmethod
    def of(cls, frame: Frame, time: float, state: State, names: Sequence[str]) -> "Row":
        """Return the data of a frame, with ``time`` as the time of the frame."""
        values = np.array([frame.observables[name] for name in names])
        return cls(frame.step, time, frame.q, frame.u, state.bath.copy(), values, frame.box)


@dataclass
class Memory:
    """The frames of a run and the state from which it continues."""

    setup: Setup
    """The setup of the run."""
    dimensions: dict[str, str]
    """Dimension of every observable, by name."""
    rows: list[Row]
    """The frames."""
    state: State
    """State at the last frame, or where the run was interrupted."""
    start_energy: float
    """Kinetic energy at which the energy balance starts [energy]."""
    taken: int
    """Number of the last frame, in the numbering of ``setup.times``."""
    status: str = COMPLETE
    """Final status of the run."""
    stop_time: float = float("nan")
    """Time at which a stop condition ended the run [time]."""
    wall_seconds: float = 0.0
    """Wall time of the run [s]."""
    _prepared: Prepared | None = field(default=None, repr=False, compare=False)

    def __getstate__(self) -> dict[str, Any]:
        """Return the data to pickle, without the compiled kernels, which cannot be passed to another process."""
        return {**self.__dict__, "_prepared": None}

    @property
    def model(self) -> Model:
        """The model that was integrated."""
        return self.setup.model

    @property
    def step(self) -> float | None:
        """See :attr:`Setup.step`."""
        return self.setup.step

    @property
    def complete(self) -> bool:
        """Whether the run reached its end or its stop condition."""
        return self.status not in (INTERRUPTED, FAILED)

    @property
    def prepared(self) -> Prepared:
        """The prepared run: all that the run needs, except its state. It is prepared again if it is no longer in
        memory."""
        if self._prepared is None:
            self._prepared = self.setup.prepared()
        return self._prepared

    def observables(self) -> dict[str, np.ndarray]:
        """ "time" and every observable, by name, shape (frames,)."""
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
        """Variables of the thermostat, shape (frames, variables): ζ of each member of its chain [1/time], and the
        energy of its reservoir [energy]."""
        return np.array([row.bath for row in self.rows])

    def poses(self) -> tuple[np.ndarray, np.ndarray]:
        """Positions (frames, bodies, 3) [length] and Euler parameters (frames, bodies, 4) of the bodies."""
        return poses_of(self.model, self.q())

    def notes(self, run: Frames) -> list[str]:
        """Notes on the run."""
        return [*self._noted(), *deformation_notes(self.model, run.times, run.q, run.u)]

    def _noted(self) -> list[str]:
        """Return notes on the preparation and on the final state. The run is prepared again only if these notes need
        it."""
        if self.setup.case.adaptive is None and not restitution_reduced(self.model, self.state):
            return list(self.setup.notes)
        return [*self.setup.notes, *(f"simulate: {note}" for note in notes_at(self.prepared, self.state))]

    def words(self) -> str:
        """Describe the run in a line: frames, time, bodies and status."""
        unit = "" if self.model.units.time is None else self.model.units.symbols[2]
        bodies = f"{self.model.bodies} bod{'y' if self.model.bodies == 1 else 'ies'}"
        end = with_unit(float(self.state.time[0]), unit, 6)
        many = f"{len(self.rows)} frame{'' if len(self.rows) == 1 else 's'}"
        return f"{many} to {end}, {bodies}, {self.status}, in memory"

    def summary(self, run: Frames) -> dict[str, Any]:
        """Compute the entries of the run's summary, as in ``summary.json``."""
        stop = self.stop_time if np.isfinite(self.stop_time) else None
        prepared = self.prepared
        prepared.observer.start_energy = self.start_energy
        return plain(
            summary(prepared, self.state, self.status, self.wall_seconds, self._noted(), run, stop, self.complete)
        )
