"""Frames of a run for display, also of a run that has not ended."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property

import numpy as np

from articulon.adaptive.lockable import joints_of
from articulon.errors import ArticulonError
from articulon.forces.point_springs import PointSpring
from articulon.model import Model
from articulon.model.joints import UNBOUND
from articulon.report.readable_numbers import suited
from articulon.simulation.results import Run
from articulon.studio.scene import Scene, scene_of
from articulon.studio.stage import LOOKED_AT, Frame

FAR = 4.0
"""Displacement of the centre of all bodies, relative to their extent, above which the display follows the bodies."""


class RunFrames:
    """The frames of a run.

    Parameters
    ----------
    run
        The run, in memory or in a folder.
    opened
        Function that opens the run again to find new frames; None for a run that has ended.
    follows
        Whether positions are shown relative to the centre of all bodies if this centre moves far.

    Raises
    ------
    ArticulonError
        For a run without frames, or with positions that are not finite.
    """

    def __init__(self, run: Run, opened: Callable[[], Run] | None = None, *, follows: bool = True) -> None:
        self.run, self._opened, self._follows = run, opened, follows
        self.model = run.model
        self._take(run)

    def _take(self, run: Run) -> None:
        self.run = run
        self.times = np.asarray(run.times)
        self.positions, self.rotations = run.positions, run.rotations
        self._boxes = run.boxes
        self._q = run.q if self.model.modes else None
        self._shift = _drift(self.model, self.positions) if self._follows else None
        self._locked = locked_bodies(run.model, run.u) if "active_freedoms" in run.observables else None
        where = "the run" if run.in_memory else str(run.folder)
        if not len(self.times):
            raise ArticulonError(f"{where}: there is no frame yet; look again when the run has begun")
        if self.positions.shape[1] != self.model.bodies:
            raise ArticulonError(
                f"{where}: the trajectory is that of another model than case.toml; put the right files back"
            )
        whole = np.isfinite(self.positions).all(axis=(1, 2)) & np.isfinite(self.rotations).all(axis=(1, 2))
        if not whole.all():
            at = int(np.argmin(whole))
            raise ArticulonError(f"{where}: places in frame {at} (t = {self.times[at]:.6g}) are not numbers")

    def __len__(self) -> int:
        return len(self.times)

    def __getitem__(self, number: int) -> Frame:
        box = self.model.box
        edges = None if box is None else box.vectors if self._boxes is None else self._boxes[number]
        q, locked = (None if array is None else array[number] for array in (self._q, self._locked))
        positions = self.positions[number] if self._shift is None else self.positions[number] - self._shift[number]
        return Frame(positions, self.rotations[number], float(self.times[number]), edges, q, locked)

    def with_state(self, number: int) -> Frame:
        """Return a frame with its coordinates and speeds; forces are computed from them."""
        return self[number]._replace(state=np.concatenate([self.run.q[number], self.run.u[number]]))

    @property
    def followed(self) -> bool:
        """Whether positions are relative to the centre of all bodies, because this centre has moved far."""
        return self._shift is not None

    def some(self) -> list[Frame]:
        """Return some of the frames, including the first and the last. They determine the size of the scene."""
        numbers = np.unique(np.linspace(0, len(self) - 1, LOOKED_AT).round().astype(int))
        return [self[int(number)] for number in numbers]

    @cached_property
    def scene(self) -> Scene:
        """Scene that is drawn."""
        return scene_of(self.model, self[0].positions, self[0].rotations)

    @property
    def title(self) -> str:
        """Title of the page."""
        case = self.run.case
        return str(getattr(case, "title", "") or getattr(case, "name", "") or "articulon")

    def words(self, number: int) -> str:
        """Return the text of the page about a frame: its time, and the time of the last frame."""
        scale = suited(self.model.units, "time", float(self.times[-1]))
        return f"t = {scale.text(float(self.times[number]))} of {scale.text(float(self.times[-1]))}"

    def label(self, number: int) -> str:
        """Return the time of a frame as text for a replay."""
        scale = suited(self.model.units, "time", float(self.times[-1]))
        return f"t = {scale.text(float(self.times[number]), 3)}"

    @property
    def state(self) -> str:
        """Text of the page about the run: how it ended, and its verdict."""
        if self.run.in_memory:
            return "in memory"
        verdict = (self.run.summary.get("fidelity") or {}).get("verdict", "")
        return " · ".join(filter(None, (str(self.run.summary["status"]), verdict)))

    @property
    def going(self) -> bool:
        """Whether more frames may come."""
        return self._opened is not None and not self.run.in_memory and self.run.summary["status"] == "running"

    def look_again(self) -> bool:
        """Look for new frames; return whether there are any."""
        if self._opened is None:
            return False
        again = self._opened()
        again.model = self.model
        count = len(self)
        self._take(again)
        return len(self) != count


def floats(model: Model) -> bool:
    """Whether the bodies can drift away together: there are several, none is held, and no fixed object is drawn."""
    joints = [joint for joint, parent in zip(model.joints, model.parents.tolist(), strict=True) if parent < 0]
    held = any(joint.kind not in UNBOUND for joint in joints) or bool((model.sites.body < 0).any())
    held |= any(getattr(force, "walls", ()) or isinstance(force, PointSpring) for force in model.forces)
    return not held and model.box is None and model.bodies > 1


def _drift(model: Model, positions: np.ndarray) -> np.ndarray | None:
    """Return the displacement of the centre of all bodies since the first frame [length], shape (frames, 1, 3). None
    unless several bodies move together, by much more than their extent, and no fixed object is drawn."""
    if not floats(model):
        return None
    middle = positions.mean(axis=1, keepdims=True)
    extent = float(np.median(np.ptp(positions, axis=1).max(axis=1)))
    gone = float(np.ptp(middle, axis=0).max())
    return np.asarray(middle - middle[0]) if gone > FAR * extent > 0.0 else None


def locked_bodies(model: Model, u: np.ndarray) -> np.ndarray:
    """Return whether each body is locked to its parent, shape (frames, bodies), from the speeds of frames (frames, nu).
    A body is locked if the speeds of its joint and modes are exactly zero, and other speeds in the same frame are
    not."""
    joints = joints_of(model)
    moving = np.zeros((len(u), model.bodies), dtype=bool)
    owner = np.array([joints.body(model, part) for part in joints.u.tolist()])
    frames, speeds = np.nonzero(u)
    moving[frames, owner[speeds]] = True
    can_move = np.zeros(model.bodies, dtype=bool)
    can_move[owner] = True
    # A frame at rest, such as the first, does not mean that bodies are locked.
    return np.asarray(can_move & ~moving & (u != 0.0).any(axis=1, keepdims=True))
