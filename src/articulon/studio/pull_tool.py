"""Pulls on bodies of a run on the page. A user drags a body while the control key is pressed, or drags a handle on a
body that has been clicked on.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from articulon.model.array_rotations import matrices
from articulon.report import palette
from articulon.studio.colours import rgb
from articulon.studio.run_session import RunSession
from articulon.studio.stage import Frame, shown_places
from articulon.studio.viser_scene import ViserScene

if TYPE_CHECKING:
    import viser

HANDLE, LINE = "/pull/handle", "/pull/line"
HANDLE_SIZE = 1.2
"""Size of the handle, in units of the page."""
STRENGTHS = -2.0, 3.0
"""Range of the strength of a pull, as exponents of ten."""
HINT = (
    '<div style="padding:0.2em 0.8em;font-size:0.82em;color:#555">Hold Ctrl (Cmd) and drag a body, or click on one and '
    "drag its handle.</div>"
)


@dataclass(frozen=True)
class Grip:
    """A point of a body that a user holds."""

    body: int
    """The body."""
    point: np.ndarray
    """Point in the body's frame [length], shape (3,)."""
    by_handle: bool
    """Whether the point is dragged by a handle; otherwise the body itself is dragged."""
    target: np.ndarray | None = None
    """Point on the page to which the body's point is pulled, shape (3,); None while there is no pull."""


class PullTool:
    """Controls of a pull, with the handle and the drawn spring.

    Parameters
    ----------
    server
        Server of the pages.
    session
        The run.
    """

    def __init__(self, server: viser.ViserServer, session: RunSession) -> None:
        self.server, self.session = server, session
        self._view: ViserScene | None = None
        self._frame: Frame | None = None
        self._grip: Grip | None = None
        self._lock = threading.Lock()
        self._handle: Any = None
        self._line: Any = None
        self._last_request: tuple[Any, ...] | None = None
        self._folder = server.gui.add_folder("Pull", visible=False, expand_by_default=False)
        with self._folder:
            server.gui.add_html(HINT)
            self._strength = server.gui.add_slider("strength", *STRENGTHS, 0.25, 0.0, hint="powers of ten")
            release = server.gui.add_button("Let go")

        @release.on_click
        def _(event: viser.GuiEvent) -> None:
            self._set_grip(None)

    @property
    def held(self) -> Grip | None:
        """Point that a user holds, or could drag by its handle; None if there is no such point."""
        with self._lock:
            return self._grip

    def attach(self, view: ViserScene) -> None:
        """Make the bodies of a scene draggable."""
        self._view = view
        self._set_grip(None)
        for handle in view.batches:
            handle.on_drag("left", modifier="cmd/ctrl")(self._drag)
            handle.on_click(self._click)

    def _set_grip(self, grip: Grip | None) -> None:
        with self._lock:
            self._grip = grip

    async def _drag(self, event: viser.SceneNodeDragEvent[Any]) -> None:
        """Process a drag. The server awaits this function, so that drags are processed in order."""
        if event.phase == "start" and event.instance_index is not None:
            place = np.array(event.start_position)
            self._set_grip(self._grip_at(event.target, event.instance_index, place, by_handle=False))
        grip = self._grip
        if grip is not None:
            self._set_grip(None if event.phase == "end" else replace(grip, target=np.array(event.end_position)))

    async def _click(self, event: viser.SceneNodePointerEvent[Any]) -> None:
        if self._view is None or self._frame is None or event.instance_index is None:
            return
        middle = self._view.middle(event.target, event.instance_index, self._frame)
        origin, along = np.array(event.ray_origin), np.array(event.ray_direction)
        along = along / np.linalg.norm(along)
        place = origin + ((middle - origin) @ along) * along
        self._set_grip(self._grip_at(event.target, event.instance_index, place, by_handle=True))

    def _grip_at(self, handle: Any, instance: int, place: np.ndarray, *, by_handle: bool) -> Grip | None:
        """Return a grip at a place on the page; None if no body there can be pulled."""
        view, frame = self._view, self._frame
        if view is None or frame is None or not self.session.going:
            return None
        body = view.pick(handle, instance)
        if body < 0:
            return None
        origin, turn = self._pose(view, frame, body)
        return Grip(body, turn.T @ (place / view.stage.factor + view.stage.middle - origin), by_handle)

    def _pose(self, view: ViserScene, frame: Frame, body: int) -> tuple[np.ndarray, np.ndarray]:
        """Return the position of a shown body [length], and its rotation matrix."""
        return shown_places(view.scene, frame)[body], matrices(frame.rotations[body][None])[0]

    def update(self, frame: Frame | None) -> None:
        """Send the pull to the engine and draw it. ``frame`` is the shown frame; None if this is not the latest frame
        of a run in progress."""
        self._frame = frame
        if self._folder.visible != self.session.going:
            self._folder.visible = self.session.going
        if frame is None or not self.session.going:
            self._set_grip(None)
        with self._lock:
            grip = self._grip
        self._tell(grip, frame)
        self._draw(grip, frame)

    def _tell(self, grip: Grip | None, frame: Frame | None) -> None:
        if grip is None or grip.target is None or frame is None or self._view is None:
            if self._last_request is not None:
                self._last_request = None
                self.session.tell("let_go")
            return
        stage = self._view.stage
        # The shown place of a tree may be wrapped into the box, or relative to the centre of all bodies: shift the
        # target back.
        actual = self.session.frames[-1].positions[grip.body]
        apart = actual - shown_places(self._view.scene, frame)[grip.body]
        target = grip.target / stage.factor + stage.middle + apart
        if not np.isfinite([*target, *grip.point]).all():  # a page may send invalid numbers
            self._set_grip(None)
            return
        strength = strength_of(self._strength.value)
        asked = (grip.body, *grip.point.tolist(), *grip.target.tolist(), strength)
        if asked != self._last_request:
            self._last_request = asked
            self.session.tell(
                "pull", body=grip.body, point=grip.point.tolist(), target=target.tolist(), strength=strength
            )

    def _draw(self, grip: Grip | None, frame: Frame | None) -> None:
        """Draw the handle on the body, and a line from the held point to its target."""
        if grip is None or frame is None or self._view is None:
            for one in (self._handle, self._line):
                if one is not None:
                    one.remove()
            self._handle = self._line = None
            return
        view = self._view
        origin, turn = self._pose(view, frame, grip.body)
        place = view.stage.places(origin + turn @ grip.point)
        if self._handle is None and grip.by_handle:
            self._handle = self.server.scene.add_transform_controls(
                HANDLE, scale=HANDLE_SIZE, disable_rotations=True, depth_test=False, position=place
            )
            self._handle.on_update(self._move)
        if grip.target is None:
            if self._handle is not None:
                self._handle.position = place
            if self._line is not None:
                self._line.remove()
                self._line = None
            return
        ends = np.array([[place, grip.target]], dtype=np.float32)
        if self._line is None:
            self._line = self.server.scene.add_line_segments(LINE, ends, rgb(palette.VERMILION), thickness=0.06)
        else:
            self._line.points = ends

    async def _move(self, event: viser.TransformControlsEvent) -> None:
        """Process a drag of the handle."""
        grip = self._grip
        if grip is not None:
            target = None if event.phase == "end" else np.array(event.target.position, dtype=float)
            self._set_grip(replace(grip, target=target))


def strength_of(power: Any) -> float:
    """Return the strength of a pull from the power of ten that a page sends. It is the usual strength if the page sends
    no number, or a number outside the bounds."""
    weakest, strongest = STRENGTHS
    fits = isinstance(power, int | float) and weakest <= power <= strongest
    return 10.0 ** float(power) if fits else 1.0
