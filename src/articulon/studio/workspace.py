"""The studio's page: a case in three dimensions, and its runs."""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING

import numpy as np

from articulon.dynamics import body_poses
from articulon.errors import ArticulonError
from articulon.model import Model
from articulon.simulation.observers import poses_at
from articulon.studio.case_source import CaseSource
from articulon.studio.page_server import stop
from articulon.studio.pull_tool import PullTool
from articulon.studio.run_panel import RunPanel
from articulon.studio.run_session import RunSession
from articulon.studio.scene import Scene, scene_of
from articulon.studio.stage import Frame, Stage, roots, stage_of
from articulon.studio.viser_scene import ViserScene

if TYPE_CHECKING:
    import viser

RATE = 60.0
"""How often the pages are brought up to date [1/s]."""


class Workspace:
    """The page.

    Parameters
    ----------
    server
        What serves it.
    source
        Where the case comes from.
    session
        The runs.
    """

    def __init__(self, server: viser.ViserServer, source: CaseSource, session: RunSession) -> None:
        self.server, self.source, self.session = server, source, session
        self._closing, self._changed = threading.Event(), threading.Event()
        self._view: ViserScene | None = None
        self._viewed: Model | None = None
        self._drawn: tuple[int, int | None] = (-1, None)
        self._watched: bool | None = None
        gui = server.gui
        gui.configure_theme(show_logo=False, show_share_button=False, brand_color=(0, 114, 178), control_width="large")
        gui.main_panel.dock_right()
        self.panel = RunPanel(server, session, self._begin)
        self.pull = PullTool(server, session)
        source.on_change(self._changed.set)
        self._look_at_case()

    def _look_at_case(self) -> None:
        """Show the case as it stands, or why there is none that can be run."""
        try:
            case = self.source.case()
            model = case.build_model(run_code=case.allow_code)
        except ArticulonError as error:
            self.panel.fault = str(error)
            self.server.gui.set_panel_label("articulon studio")
            return
        self.panel.fault = None
        self.server.gui.set_panel_label(case.title or case.name)
        if not self.session.going and self.session.state == "idle":
            self.session.case, self.session.model = case, model
        if self.session.frames:
            first = self.session.frames[0]
        else:
            first = first_frame(model)
        self._set_stage(model, first)

    def _set_stage(self, model: Model, first: Frame) -> None:
        if self._view is not None:
            self._view.remove()
        scene = scene_of(model, first.positions, first.rotations)
        known = self.session.frames.some() if self.session.model is model else []
        stage = live_stage(scene, first, known)
        with self.server.atomic():
            self._view = ViserScene(self.server, scene, stage, first)
            self.pull.attach(self._view)
        self._viewed = model

    def _begin(self, waits: bool) -> None:
        try:
            case = self.source.case()
            model = case.build_model()
            self.session.case = case
            self.session.rate = self.panel.rate()
            self.session.begin(case, model, waits)
        except ArticulonError as error:
            self.panel.fault = str(error)
            return
        self.panel.fault = None
        self._watched = None
        if not self.session.frames:
            self._set_stage(model, first_frame(model))

    def update(self, seconds: float) -> None:
        """Bring the pages up to date after some wall time [s]."""
        if self._changed.is_set() and not self.session.going:
            self._changed.clear()
            self._look_at_case()
        self.panel.follow_wishes()
        watched = bool(self.server.get_clients())
        if watched != self._watched:
            self._watched = watched
            self.session.tell("watch", watched=watched)
        fresh = self.session.poll()
        self.panel.play_on(seconds)
        self._show(fresh)
        latest = self.panel.shown is None and self.session.frames
        self.pull.update(self.session.frames[-1] if latest else None)
        self.panel.update()

    def _show(self, fresh: Frame | None) -> None:
        """The frame on show, where that is another one than before."""
        frames, number = self.session.frames, self.panel.shown
        if self._view is None or not frames:
            return
        if number is None:
            state = (len(frames), None)
            if fresh is not None or state != self._drawn:
                self._drawn = state
                self._view.show(frames[-1] if fresh is None else fresh)
        elif number < len(frames) and self._drawn != (number, number):
            self._drawn = (number, number)
            self._view.show(frames[number])

    def run(self) -> None:
        """Keep the pages up to date until Ctrl-C or :meth:`close`."""
        before = time.monotonic()
        while not self._closing.wait(1.0 / RATE):
            now = time.monotonic()
            self.update(now - before)
            before = now

    def close(self) -> str | None:
        """End the run, its state saved, and the pages; how to go on with it, where there is something left."""
        self._closing.set()
        how = self.session.close()
        stop(self.server)
        return how


def first_frame(model: Model) -> Frame:
    """The model at its initial coordinates."""
    positions, rotations = poses_at(model, model.q0) if model.bodies else body_poses(model, model.q0)
    return Frame(positions, rotations, 0.0, None if model.box is None else np.array(model.box.vectors))


def live_stage(scene: Scene, first: Frame, frames: list[Frame]) -> Stage:
    """A stage for a run of which only the beginning may be known: with room for trees on the ground to swing round to
    the other side."""
    model = scene.model
    root = roots(model.parents)
    held = np.array([model.joints[k].translations == 0 for k in root])
    shown = frames or [first]
    if held.any() and model.box is None:
        over = np.where(held[:, None], 2.0 * first.positions[root] - first.positions, first.positions)
        shown = [*shown, first._replace(positions=over)]
    return stage_of(scene, shown)
