"""A page that plays a run in three dimensions: a slider over its frames, play and pause, and the time."""

from __future__ import annotations

import html
import threading
import time
from typing import TYPE_CHECKING

from articulon.errors import ArticulonError
from articulon.studio import force_arrows
from articulon.studio.drawing_choice import AUTOMATIC, HINT, WISHES, Drawing, choosable, wish_of
from articulon.studio.energy_plot import EnergyPlot
from articulon.studio.file_frames import FileFrames
from articulon.studio.force_arrows import ForceArrows
from articulon.studio.page_server import drawn_by_software, stop, ticks
from articulon.studio.player import Player
from articulon.studio.run_frames import RunFrames
from articulon.studio.stage import stage_of
from articulon.studio.viser_scene import ViserScene

if TYPE_CHECKING:
    import viser

RATE = 60.0
"""Rate at which a page is updated [1/s]."""
PATIENCE = 2.0
"""Interval at which the page looks for new frames of a run in progress [s]."""
SPEEDS = {"¼": 0.25, "½": 0.5, "1": 1.0, "2": 2.0, "4": 4.0}
"""Playback speeds by the labels of their buttons."""


class Viewer:
    """A page that plays a run, or a file of frames.

    Parameters
    ----------
    frames
        The frames. Energies and forces are shown only for a run.
    server
        Server of the page.
    """

    def __init__(self, frames: RunFrames | FileFrames, server: viser.ViserServer) -> None:
        self.frames, self.server = frames, server
        self.player = Player(frames.times)
        self.scene = ViserScene(server, frames.scene, stage_of(frames.scene, frames.some()), frames[0])
        self._run = frames if isinstance(frames, RunFrames) else None
        self._shown = 0
        self._looked = time.monotonic()
        self._closing = threading.Event()
        self._add_controls()

    def _add_controls(self) -> None:
        gui, player = self.server.gui, self.player
        gui.set_panel_label(self.frames.title)
        gui.configure_theme(show_logo=False, show_share_button=False, brand_color=(0, 114, 178))
        gui.main_panel.dock_right()
        self._clock = gui.add_html(self._time_text())
        self._slider = gui.add_slider("frame", 0, max(len(self.frames) - 1, 0), 1, 0)
        self._play = gui.add_button("Play")
        steps = gui.add_button_group("step", ("first", "back", "on", "last"))
        speeds = gui.add_button_group("speed", tuple(SPEEDS))

        self._energies = EnergyPlot(gui, self._run) if self._run is not None and len(self._run) > 1 else None

        self._arrows = ForceArrows(self.server, self.scene)
        self._forces = None
        if self._run is not None and self._run.model.bodies <= force_arrows.MOST:
            self._forces = gui.add_checkbox("forces", False, hint="on bodies, without those of joints, unscaled")
            self._forces.on_update(lambda _: self._draw_forces())

        self._balls = gui.add_dropdown("balls", WISHES, initial_value=AUTOMATIC, hint=HINT)
        self._balls.visible = choosable(self.scene.scene.balls.number)

        @self._slider.on_update
        def _(event: viser.GuiEvent) -> None:
            # The slider also moves during playback.
            if event.client_id is not None:
                player.pause()
                player.seek(int(self._slider.value))

        @self._play.on_click
        def _(event: viser.GuiEvent) -> None:
            if player.playing:
                player.pause()
            else:
                player.play()

        @steps.on_click
        def _(event: viser.GuiEvent) -> None:
            far = len(self.frames)
            player.step({"first": -far, "back": -1, "on": 1, "last": far}[steps.value])

        @speeds.on_click
        def _(event: viser.GuiEvent) -> None:
            player.speed = SPEEDS[speeds.value]

    def _draw_forces(self) -> None:
        """Draw arrows for the shown frame, if they are requested and the forces can be evaluated."""
        run = self._run
        if run is None or self._forces is None or not self._forces.value:
            self._arrows.hide()
            return
        try:
            if self._arrows.strongest is None:  # all frames have the same scale
                self._arrows.look_at(run.with_state(k) for k in force_arrows.some_numbers(len(run)))
            self._arrows.show(run.with_state(self.player.frame))
        except ArticulonError as error:
            self._forces.value = False  # type: ignore[misc]
            self._forces.disabled = True
            self._forces.hint = str(error)

    def _time_text(self) -> str:
        """Return a text with the time of the shown frame, the time of the last frame, and how the run ended."""
        return (
            f'<div style="padding:0.4em 0.8em"><b>{html.escape(self.frames.words(self.player.frame))}</b><br>'
            f'<span style="color:#777">{html.escape(self.frames.state)}</span></div>'
        )

    def update(self, seconds: float) -> None:
        """Update the page after some wall time [s]."""
        if self.frames.going and time.monotonic() - self._looked > PATIENCE:
            self._looked = time.monotonic()
            if self.frames.look_again():
                self.player.lengthen(self.frames.times)
                self._slider.max = len(self.frames) - 1
                if self._energies is not None:
                    self._energies.look_again(self.player.frame)
            self._clock.content = self._time_text()
        self.scene.suit(Drawing(wish_of(self._balls), drawn_by_software(self.server)))
        self.player.go_on(seconds)
        label = "Pause" if self.player.playing else "Play"
        if self._play.label != label:
            self._play.label = label
        number = self.player.frame
        if number != self._shown:
            self._shown = number
            self.scene.show(self.frames[number])
            if self._forces is not None and self._forces.value:
                self._draw_forces()
            self._slider.value = number  # type: ignore[misc]
            self._clock.content = self._time_text()
            if self._energies is not None:
                self._energies.show(number)

    def run(self) -> None:
        """Keep the page up to date until Ctrl-C or :meth:`close`."""
        for seconds in ticks(self._closing, RATE):
            with self.server.atomic():
                self.update(seconds)
            self.server.flush()

    def close(self) -> None:
        """Close the page."""
        self._closing.set()
        stop(self.server)
