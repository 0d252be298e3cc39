"""Arrows of the forces on bodies, at the frame of a run that is shown."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from articulon.forces.evaluation import forces_on_bodies
from articulon.model.array_rotations import matrices
from articulon.studio import colours
from articulon.studio.run_frames import RunFrames
from articulon.studio.stage import SIZE, shown_places
from articulon.studio.viser_scene import ViserScene

if TYPE_CHECKING:
    import viser

MOST = 2_000
"""Bodies of a model whose forces are drawn."""
LONGEST = 0.2
"""Of an arrow, by the size of all that is shown, for the strongest force in some frames."""
LOOKED_AT = 8
"""Frames in which that is looked for."""
SHORTEST = 0.01
"""Of an arrow, by the longest: weaker forces are not drawn."""


class ForceArrows:
    """Arrows from the centres of mass of bodies, along the sum of the forces on each but those of joints. Their
    lengths are to one scale in all frames.

    Parameters
    ----------
    server
        Where they are shown.
    frames
        Those of the run.
    scene
        In which they stand.
    """

    def __init__(self, server: viser.ViserServer, frames: RunFrames, scene: ViserScene) -> None:
        self._server, self._frames, self._scene = server, frames, scene
        self._handle: Any = None
        self._scale: float | None = None

    def show(self, number: int) -> None:
        """Draw those of a frame.

        Raises
        ------
        ArticulonError
            For forces that cannot be evaluated: functions of a user that the run may not load, say.
        """
        if self._scale is None:
            some = np.unique(np.linspace(0, len(self._frames) - 1, LOOKED_AT).round().astype(int)).tolist()
            strongest = max(float(np.linalg.norm(self._forces(k), axis=1).max()) for k in some)
            self._scale = LONGEST * SIZE / strongest if strongest > 0.0 else 0.0
        points = self.arrows(number)
        if self._handle is None:
            self._handle = self._server.scene.add_arrows(
                "/forces",
                points,
                colours.FORCE,
                shaft_radius=0.004 * SIZE,
                head_radius=0.010 * SIZE,
                head_length=0.022 * SIZE,
            )
        else:
            self._handle.points = points

    def arrows(self, number: int) -> np.ndarray:
        """Their ends on the page at a frame, from tail to tip, shape (arrows, 2, 3)."""
        model, frame = self._frames.model, self._frames[number]
        along = (self._scale or 0.0) * self._forces(number)
        seen = np.linalg.norm(along, axis=1) > SHORTEST * LONGEST * SIZE
        turns = matrices(frame.rotations[seen])
        centres = np.einsum("kij,kj->ki", turns, model.centres[seen])
        tails = self._scene.stage.places(shown_places(self._scene.scene, frame)[seen] + centres)
        return np.stack([tails, tails + along[seen]], axis=1).astype(np.float32)

    def _forces(self, number: int) -> np.ndarray:
        run = self._frames.run
        return forces_on_bodies(self._frames.model, run.q[number], run.u[number], float(self._frames.times[number]))

    def hide(self) -> None:
        """Take them off the page."""
        if self._handle is not None:
            self._handle.remove()
            self._handle = None
