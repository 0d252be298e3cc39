"""Controls of a run on the page: run, pause, step, stop, speed, a slider over the frames, plots and the ledger."""

from __future__ import annotations

import time
from collections.abc import Callable
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, Any

from articulon.cases.case import Case
from articulon.studio.drawing_choice import AUTOMATIC, HINT, WISHES, wish_of
from articulon.studio.force_arrows import MOST
from articulon.studio.live_plots import LivePlot, ledger_table
from articulon.studio.player import Player
from articulon.studio.run_session import RunSession
from articulon.studio.run_words import clock_box, light_box, light_of, note_box, pace_text

if TYPE_CHECKING:
    import viser

FORCES = f"on bodies, without those of joints, unscaled; of models of at most {MOST:,} bodies"
"""Hint for the arrows of forces."""
SLOWLY = 0.1
"""Interval of updates of texts and the slider [s]."""
SLOWER = 0.5
"""Interval of updates of plots and the ledger [s]."""
FASTEST, REAL = "as fast as possible", "real time"
SPEEDS: dict[str, float | None] = {
    FASTEST: None,
    REAL: None,
    "real time / 10": None,
    "the run in 10 s": 10.0,
    "the run in 1 min": 60.0,
    "the run in 10 min": 600.0,
}
"""Wall time in which a whole run is shown, for each entry of the menu [s]."""


class RunPanel:
    """Controls of a run. Requests come from many threads; only :meth:`follow_wishes` carries them out.

    Parameters
    ----------
    server
        Server of the pages.
    session
        The run.
    begin
        Function that starts the run; its argument says whether to wait before the first step.
    """

    def __init__(self, server: viser.ViserServer, session: RunSession, begin: Callable[[bool], None]) -> None:
        self.server, self.session, self._begin = server, session, begin
        self.fault: str | None = None
        """Reason why the case cannot be run; None if it can be run."""
        self._wishes: SimpleQueue[Callable[[], Any]] = SimpleQueue()
        self._slow = self._slower = -1.0
        # The time is stored, because the frame's number changes when other frames are dropped.
        self._shown_time: float | None = None
        self._written: dict[str, str] = {}
        self._player: Player | None = None
        self._add_controls()

    @property
    def shown(self) -> int | None:
        """Number of the shown frame; None for the latest frame."""
        frames = self.session.frames
        return None if self._shown_time is None or not len(frames) else frames.number_at(self._shown_time)

    def show(self, number: int | None) -> None:
        """Show a frame, and stay at its time even if frames around it are dropped. None shows the latest frame."""
        frames = self.session.frames
        if number is None or not len(frames):
            self._shown_time = None
        else:
            self._shown_time = frames[min(max(number, 0), len(frames) - 1)].time

    @property
    def wish(self) -> str:
        """Requested way to draw balls, one of ``drawing_choice.WISHES``."""
        return wish_of(self.balls)

    def _add_controls(self) -> None:
        gui = self.server.gui
        self._clock = gui.add_html("")
        self._light = gui.add_html("")
        self._run = gui.add_button("Run", color="blue")
        self._more = gui.add_button_group("", ("Step", "Stop", "Play"))
        self._speed = gui.add_dropdown("speed", tuple(SPEEDS), initial_value=FASTEST)
        self._slider = gui.add_slider("frame", 0, 1, 1, 0, disabled=True)
        self.forces = gui.add_checkbox("forces", False, hint=FORCES)
        self.balls = gui.add_dropdown("balls", WISHES, initial_value=AUTOMATIC, hint=HINT, visible=False)
        self._faults = gui.add_html("", visible=False)
        observed = self.session.observed
        self._plots = [LivePlot(gui, observed, "energies"), LivePlot(gui, observed, "works", "temperatures")]
        self._ledger_folder = gui.add_folder("Ledger", expand_by_default=True, visible=False)
        with self._ledger_folder:
            self._ledger = gui.add_html("")
        with gui.add_folder("Messages", expand_by_default=True):
            self._notes = gui.add_html("")

        @self._run.on_click
        def _(event: viser.GuiEvent) -> None:
            self._wishes.put(self.press)

        @self._more.on_click
        def _(event: viser.GuiEvent) -> None:
            wish = {"Step": self._step, "Stop": self.session.stop, "Play": self._play}[self._more.value]
            self._wishes.put(wish)

        @self._speed.on_update
        def _(event: viser.GuiEvent) -> None:
            if event.client_id is not None:
                self._wishes.put(self._set_speed)

        @self._slider.on_update
        def _(event: viser.GuiEvent) -> None:
            # The slider also moves as the run advances.
            if event.client_id is not None:
                number = int(self._slider.value)
                self._wishes.put(lambda: self._seek(number))

    def press(self) -> None:
        """Run, pause or continue."""
        session = self.session
        if session.state == "running":
            session.tell("pause")
        elif session.state == "waiting":
            session.tell("go")
            self._to_latest()
        elif not session.going:
            self._to_latest()
            self._begin(False)

    def _step(self) -> None:
        self._to_latest()
        if self.session.going:
            self.session.tell("step")
        else:
            self._begin(True)
            self.session.tell("step")

    def _to_latest(self) -> None:
        self._shown_time, self._player = None, None

    def _play(self) -> None:
        """Play the kept frames from the beginning, or stop at the shown frame."""
        if self._player is not None:
            self._player = None
        elif len(self.session.frames) > 1:
            player = Player(self.session.frames.times)
            player.seek(self.shown or 0)
            player.play()
            self._player = player

    def play_on(self, seconds: float) -> None:
        """Advance playback by wall time [s]."""
        player = self._player
        if player is None:
            return
        if not len(self.session.frames):
            self._to_latest()
            return
        player.lengthen(self.session.frames.times)
        player.go_on(seconds)
        self.show(player.frame)
        if not player.playing:
            self._to_latest()

    def _seek(self, number: int) -> None:
        self._player = None
        last = len(self.session.frames) - 1
        self.show(None if number >= last and self.session.state == "running" else number)

    def _set_speed(self) -> None:
        if self.session.case is not None:
            self.session.set_rate(self.rate(self.session.case))

    def rate(self, case: Case) -> float | None:
        """Return the speed selected in the menu, as simulated time per second [time]; None for as fast as possible."""
        choice = self._speed.value
        if choice not in SPEEDS:  # a page may send an unknown choice
            self._speed.value = FASTEST  # type: ignore[misc]
            choice = FASTEST
        if choice == FASTEST:
            return None
        wall = SPEEDS[choice]
        if wall is not None:
            return float(case.run.duration) / wall
        second = 1.0 / (case.units.time or 1.0)
        return second if choice == REAL else 0.1 * second

    def follow_wishes(self) -> None:
        """Carry out the requests of the pages."""
        while True:
            try:
                wish = self._wishes.get_nowait()
            except Empty:
                return
            wish()

    def update(self) -> None:
        """Update the texts, the slider and the plots."""
        now = time.monotonic()
        if now - self._slow >= SLOWLY:
            self._slow = now
            self._write_words()
            self._move_slider()
        if now - self._slower >= SLOWER:
            self._slower = now
            self._draw()

    def _write_words(self) -> None:
        session = self.session
        fault = self.fault if session.state == "idle" else session.error
        self._write(self._light, "light", light_box(light_of(session.state, session.summary, fault)))
        self._write(self._notes, "notes", note_box(session.notes))
        if session.case is not None:
            number = self.shown
            shown = None if number is None else session.frames[number].time
            figures = [
                pace_text(session.case.units, session.pace),
                f"{session.steps:,} steps" if session.steps else "",
                "pulled" if session.pulled else "",
            ]
            words = clock_box(session.case.units, session.time, float(session.case.run.duration), shown, figures)
            self._write(self._clock, "clock", words)
        label = {"running": "Pause", "waiting": "Go on", "starting": "Starting …"}.get(session.state, "Run")
        if session.state == "ended":
            label = "Go on" if session.can_go_on else "Run again"
        if self._run.label != label:
            self._run.label = label
        ready = session.state != "starting" and (session.going or self.fault is None)
        if self._run.disabled == ready:
            self._run.disabled = not ready
        faults = "" if self.fault is None else note_box([("error", self.fault)])
        if self._faults.visible != bool(faults):
            self._faults.visible = bool(faults)
        self._write(self._faults, "faults", faults)

    def _write(self, handle: viser.GuiHtmlHandle, name: str, text: str) -> None:
        if self._written.get(name) != text:
            self._written[name] = handle.content = text

    def _move_slider(self) -> None:
        count = len(self.session.frames)
        last = max(count - 1, 1)
        if self._slider.max != last:
            self._slider.max = last
        if self._slider.disabled == (count > 1):
            self._slider.disabled = count <= 1
        shown = self.shown
        value = max(count - 1, 0) if shown is None else shown
        if self._slider.value != value:
            self._slider.value = value  # type: ignore[misc]

    def _draw(self) -> None:
        session = self.session
        if session.case is None:
            return
        for plot in self._plots:
            plot.draw(session.case.units, session.dimensions, self.server)
        table = ledger_table(session.observed, session.case.units)
        if self._ledger_folder.visible != bool(table):
            self._ledger_folder.visible = bool(table)
        self._write(self._ledger, "ledger", table)
