"""Arrows of the forces on bodies, for the shown frame of a run."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from articulon.forces.evaluation import forces_on_bodies
from articulon.model.array_rotations import matrices
from articulon.studio import colours
from articulon.studio.stage import SIZE, Frame, shown_places
from articulon.studio.viser_scene import ViserScene

if TYPE_CHECKING:
    import viser

MOST = 2_000
"""Largest number of bodies of a model for which forces are drawn."""
LONGEST = 0.2
"""Length of the arrow of the strongest force in the examined frames, as a fraction of the size of the scene."""
LOOKED_AT = 8
"""Number of frames in which the strongest force is searched."""
SHORTEST = 0.01
"""Length of the shortest arrow that is drawn, as a fraction of the longest arrow."""


class ForceArrows:
    """Arrows from the centres of mass of bodies. Each is along the total force on its body, without joint forces.

    Parameters
    ----------
    server
        Server of the page.
    scene
        Scene that contains the arrows.

    Attributes
    ----------
    strongest
        Force with the longest arrow [force]; None before forces have been evaluated.
    """

    def __init__(self, server: viser.ViserServer, scene: ViserScene) -> None:
        self._server, self._scene = server, scene
        self._handle: Any = None
        self.strongest: float | None = None

    def look_at(self, frames: Iterable[Frame]) -> None:
        """Set the scale of the arrows from the strongest force in some frames.

        Raises
        ------
        ArticulonError
            For forces that cannot be evaluated, such as forces of a user's functions without permission to run code.
        """
        self.strongest = self.strongest or 0.0
        for frame in frames:
            self._take(self._forces(frame))

    def _take(self, forces: np.ndarray) -> None:
        found = np.linalg.norm(forces, axis=1)
        self.strongest = max(self.strongest or 0.0, float(found[np.isfinite(found)].max(initial=0.0)))

    def show(self, frame: Frame, *, rescales: bool = False) -> None:
        """Draw the arrows of a frame. If the state of the frame is not known, no arrows are drawn.

        Parameters
        ----------
        frame
            The frame.
        rescales
            Whether the scale is changed if the frame has the strongest force so far.

        Raises
        ------
        ArticulonError
            For forces that cannot be evaluated; see :meth:`look_at`.
        """
        forces = self._forces(frame)
        if rescales:
            self._take(forces)
        points = self._arrows(frame, forces)
        if self._handle is None:
            self._handle = self._server.scene.add_arrows(
                "/forces",
                points,
                colours.linear(colours.FORCE),
                shaft_radius=0.004 * SIZE,
                head_radius=0.010 * SIZE,
                head_length=0.022 * SIZE,
            )
        else:
            self._handle.points = points

    def _arrows(self, frame: Frame, forces: np.ndarray) -> np.ndarray:
        """Return the ends of the arrows on the page, from tail to tip, shape (arrows, 2, 3)."""
        along = (LONGEST * SIZE / self.strongest if self.strongest else 0.0) * forces
        seen = np.linalg.norm(along, axis=1) > SHORTEST * LONGEST * SIZE
        turns = matrices(frame.rotations[seen])
        centres = np.einsum("kij,kj->ki", turns, self._scene.scene.model.centres[seen])
        tails = self._scene.stage.places(shown_places(self._scene.scene, frame)[seen] + centres)
        return np.stack([tails, tails + along[seen]], axis=1).astype(np.float32)

    def _forces(self, frame: Frame) -> np.ndarray:
        model = self._scene.scene.model
        if frame.state is None:
            return np.zeros((model.bodies, 3))
        return forces_on_bodies(model, frame.state[: model.nq], frame.state[model.nq :], frame.time)

    def hide(self) -> None:
        """Remove the arrows from the page."""
        if self._handle is not None:
            self._handle.remove()
            self._handle = None


def some_numbers(count: int) -> list[int]:
    """Return the numbers of some of ``count`` frames, including the first and the last, in which the strongest force is
    searched."""
    return [int(k) for k in np.unique(np.linspace(0, count - 1, min(count, LOOKED_AT)).round())]
