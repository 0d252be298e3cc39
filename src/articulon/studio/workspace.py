"""The studio's page: a case in three dimensions, and its runs."""

from __future__ import annotations

import sys
import threading
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Self

import numpy as np

from articulon.dynamics import body_poses
from articulon.errors import ArticulonError
from articulon.model import Model
from articulon.simulation.observers import poses_at
from articulon.studio.broken_file import BrokenFile
from articulon.studio.case_source import CaseSource
from articulon.studio.drawing_choice import Drawing, choosable
from articulon.studio.editing.case_document import CaseDocument
from articulon.studio.editing.editor_panel import EditorPanel
from articulon.studio.force_arrows import ForceArrows, some_numbers
from articulon.studio.page_server import drawn_by_software, stop, ticks
from articulon.studio.pull_tool import PullTool
from articulon.studio.run_frames import floats
from articulon.studio.run_panel import RunPanel
from articulon.studio.run_session import RunSession
from articulon.studio.scene import Scene, scene_of
from articulon.studio.stage import Frame, Stage, roots, stage_of
from articulon.studio.viser_scene import ViserScene

if TYPE_CHECKING:
    import viser

OFTEN = 1.0
"""Interval at which the studio checks whether a broken file has been corrected [s]."""
RATE = 66.0
"""Rate at which the pages are updated [1/s]. It is a tenth higher than the rate of a screen, because some updates come
late."""


class Workspace:
    """The page: a tab that runs a case and, if the case can be edited, a tab that builds it. The scene shows either the
    case or its run.

    Parameters
    ----------
    server
        Server of the page.
    source
        Source of the case. A document is edited on the page; a broken file can be edited after it has been corrected.
    session
        The runs.
    home
        The only folder from which the page reads cases and to which it writes cases.
    """

    def __init__(
        self,
        server: viser.ViserServer,
        source: CaseSource | CaseDocument | BrokenFile,
        session: RunSession,
        home: Path | None = None,
    ) -> None:
        self.server, self.session = server, session
        self._closing, self._changed = threading.Event(), threading.Event()
        self._view: ViserScene | None = None
        self._middle: np.ndarray | None = None
        self._drawn: tuple[str, float, bool] | None = None
        self._arrows: ForceArrows | None = None
        self._watched: bool | None = None
        self._by_software = False
        self._wrong = ""
        self._looked = -np.inf
        self.editor: EditorPanel | None = None
        gui = server.gui
        gui.configure_theme(show_logo=False, show_share_button=False, brand_color=(0, 114, 178), control_width="large")
        gui.main_panel.dock_right()
        self._broken = source if isinstance(source, BrokenFile) else None
        if isinstance(source, CaseDocument | BrokenFile):
            tabs = gui.add_tab_group()
            with tabs.add_tab("Run"):
                self._add_run()
            self._build, self._home = tabs.add_tab("Build"), home
            with self._build:
                if isinstance(source, BrokenFile):
                    self._broken_text = gui.add_html(source.box())
        else:
            self._add_run()
        if isinstance(source, CaseDocument):
            self._edit(source)
        else:
            self.source: CaseSource = source
            source.on_change(self._changed.set)
            self._look_at_case()
        if session.frames and session.model is not None:
            self._show_run(session.model, session.frames[0])

    def _edit(self, document: CaseDocument) -> None:
        """Start editing a document on the page."""
        with self._build:
            self.source = self.editor = EditorPanel(self.server, document, self._home)
        self.source.on_change(self._changed.set)
        self._look_at_case()

    def _look_at_broken(self, broken: BrokenFile) -> None:
        """Open a broken file if it has been corrected, otherwise show its present text."""
        self._looked = time.monotonic()
        if not broken.changed:
            return
        document = broken.mended()
        if document is None:
            self._broken_text.content = broken.box()
            self._look_at_case()
        else:
            self._broken = None
            self._broken_text.remove()
            self._edit(document)

    def _add_run(self) -> None:
        self.panel = RunPanel(self.server, self.session, self._begin)
        self.pull = PullTool(self.server, self.session)

    def _look_at_case(self) -> None:
        """Show the current case, or the reason why it cannot be run."""
        try:
            case = self.source.case()
            model = case.build_model(run_code=case.allow_code)
        except ArticulonError as error:
            self.panel.fault = str(error)
            self.server.gui.set_panel_label("articulon studio")
            self._show_case(None)
            return
        self.panel.fault = None
        self.server.gui.set_panel_label(case.title or case.name)
        if self.session.state == "idle":
            self.session.case, self.session.model = case, model
        self._show_case(model)

    def _show_case(self, model: Model | None) -> None:
        """Show the case in the scene. If the case can be edited, its joints can be moved there."""
        if self.editor is not None:
            self._clear()
            self.editor.show(True)
        elif model is not None:
            self._set_stage(model, first_frame(model))

    def _show_run(self, model: Model, first: Frame) -> None:
        """Show the run in the scene, starting with the given frame."""
        if self.editor is not None:
            self.editor.show(False)
        self._set_stage(model, first)
        self._drawn = None
        assert self._view is not None
        stage = self._view.stage
        for client in self.server.get_clients().values():
            with client.atomic():
                client.camera.up_direction = tuple(stage.up)
                client.camera.position, client.camera.look_at = tuple(stage.camera), (0.0, 0.0, 0.0)

    def _drawing(self) -> Drawing:
        return Drawing(self.panel.wish, drawn_by_software(self.server))

    def _clear(self) -> None:
        if self._arrows is not None:
            self._arrows.hide()
        if self._view is not None:
            self._view.remove()
            self._view = None

    def _set_stage(self, model: Model, first: Frame) -> None:
        scene = scene_of(model, first.positions, first.rotations)
        stage = live_stage(scene, first, self.session.frames.some() if self.session.model is model else [])
        with self.server.atomic():
            self._clear()
            self._view = ViserScene(self.server, scene, stage, first, drawing=self._drawing())
            self.panel.balls.visible = choosable(scene.balls.number)
            self._arrows = ForceArrows(self.server, self._view)
            self._middle = first.positions.mean(axis=0) if floats(model) else None
            self.pull.attach(self._view)

    def _begin(self, waits: bool) -> None:
        try:
            case = self.source.case()
            model = case.build_model()
            self.session.rate = self.panel.rate(case)
            self.session.begin(case, model, waits)
        except ArticulonError as error:
            self.panel.fault = str(error)
            return
        except OSError as error:
            where = f"{error.filename}: " if error.filename else ""
            self.session.note("error", f"the run cannot be started: {where}{error.strerror or error}")
            return
        self.panel.fault = None
        self._watched = None
        frames = self.session.frames
        if self._view is None or not frames:
            self._show_run(model, frames[0] if frames else first_frame(model))

    def update(self, seconds: float) -> None:
        """Update the pages after some wall time [s]. Errors are reported on the pages: invalid input from a page, or an
        error in the display, must not end a run."""
        with self.server.atomic():
            self._unless_wrong(lambda: self._go_on(seconds))
            self._unless_wrong(self.panel.update)
        # Without this, viser would collect messages for another sixtieth of a second before it sends them.
        self.server.flush()

    def _unless_wrong(self, does: Callable[[], object]) -> None:
        try:
            does()
        except Exception as error:
            # An error in a page must not end a run or lose unsaved changes. The same error often recurs at every
            # update.
            said = f"{type(error).__name__}: {error}"
            if said != self._wrong:
                self._wrong = said
                self.session.note("error", f"an error in the studio, not in the run: {said}; the terminal shows where")
                traceback.print_exc(file=sys.stderr)

    def _go_on(self, seconds: float) -> None:
        session = self.session
        if self._broken is not None and time.monotonic() - self._looked >= OFTEN:
            self._look_at_broken(self._broken)
        if self._changed.is_set() and not session.going:
            self._changed.clear()
            self._look_at_case()
        self.panel.follow_wishes()
        if self._view is None and self.panel.shown is not None and session.frames and session.model is not None:
            # A user has selected a frame of the run again.
            self._show_run(session.model, session.frames[0])
        watched = bool(self.server.get_clients())
        if watched != self._watched:
            self._watched = watched
            session.tell("watch", watched=watched)
        drawing = self._drawing()
        if self._view is not None and self._view.suit(drawing):
            self.pull.attach(self._view)
        if drawing.by_software != self._by_software:
            self._by_software = drawing.by_software
            if self.editor is not None:
                self.editor.act(lambda: None)  # this makes the editor show its scene again
        fresh = session.poll()
        self.panel.play_on(seconds)
        self._show(fresh)
        latest = self.panel.shown is None and self._view is not None and session.frames
        self.pull.update(self._followed(session.frames[-1]) if latest else None)

    def _show(self, fresh: Frame | None) -> None:
        """Show the selected or the latest frame, if it has changed."""
        frames, number = self.session.frames, self.panel.shown
        if self._view is None or not frames:
            return
        forces = bool(self.panel.forces.value)
        if number is None:
            frame, state = frames[-1] if fresh is None else fresh, ("latest", frames[-1].time, forces)
        else:
            frame, state = frames[number], ("earlier", frames[number].time, forces)
        if state != self._drawn or (number is None and fresh is not None):
            self._drawn = state
            frame = self._followed(frame)
            self._view.show(frame)
            self._draw_forces(frame, forces)

    def _draw_forces(self, frame: Frame, asked: bool) -> None:
        """Draw arrows for the shown frame, if they are requested and the forces can be evaluated. Their scale is set by
        the strongest force so far, because the strongest force of a run in progress is not known yet."""
        assert self._arrows is not None
        if not asked or frame.state is None:
            self._arrows.hide()
            return
        try:
            if self._arrows.strongest is None:
                frames = self.session.frames
                self._arrows.look_at(frames[k] for k in some_numbers(len(frames)))
            self._arrows.show(frame, rescales=True)
        except ArticulonError as error:
            self.panel.forces.value = False  # type: ignore[misc]
            self._arrows.hide()
            self.session.note("forces", str(error))

    def _followed(self, frame: Frame) -> Frame:
        """Return a frame for display. If no body is held, the bodies are shifted so that their centre stays at its
        initial place."""
        if self._middle is None:
            return frame
        return frame._replace(
            positions=frame.positions - (frame.positions.mean(axis=0, dtype=np.float64) - self._middle)
        )

    def run(self) -> None:
        """Keep the pages up to date until Ctrl-C or :meth:`end`."""
        for seconds in ticks(self._closing, RATE):
            self.update(seconds)

    @contextmanager
    def in_background(self) -> Iterator[Self]:
        """Return a context in which a thread keeps the pages up to date; at its end, the pages are closed."""
        thread = threading.Thread(target=self.run)
        thread.start()
        try:
            yield self
        finally:
            self.end()
            thread.join()
            self.close()

    def end(self) -> None:
        """Make :meth:`run` return."""
        self._closing.set()

    def close(self) -> str | None:
        """End the run, save its state, and close the pages. Return a message on how to continue the run; None if there
        is no run to continue."""
        self.end()
        how = self.session.close()
        if self.editor is not None:
            self.editor.close()
        stop(self.server)
        return how


def first_frame(model: Model) -> Frame:
    """Return the model at its initial coordinates as a frame."""
    positions, rotations = poses_at(model, model.q0) if model.bodies else body_poses(model, model.q0)
    return Frame(positions, rotations, 0.0, None if model.box is None else np.array(model.box.vectors))


def live_stage(scene: Scene, first: Frame, frames: list[Frame]) -> Stage:
    """Return a stage for a run that may have just begun. It has enough space for trees on the ground to swing to the
    other side of their root joints."""
    model = scene.model
    root = roots(model.parents)
    held = np.array([model.joints[k].translations == 0 for k in root])
    shown = frames or [first]
    if held.any() and model.box is None:
        over = np.where(held[:, None], 2.0 * first.positions[root] - first.positions, first.positions)
        shown = [*shown, first._replace(positions=over)]
    return stage_of(scene, shown)
