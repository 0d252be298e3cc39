"""The studio: how long its page takes to come, how many frames a browser receives, and what pages cost a run."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

import psutil
from rich.console import Console

from articulon.cases.case import Case
from articulon.cases.loading import load_case
from articulon.studio.case_source import FixedCase
from articulon.studio.page_server import address, server_at
from articulon.studio.run_session import RunSession
from articulon.studio.workspace import Workspace
from benchmarks.studio_reader import shows
from benchmarks.tables import console, show_machine, show_table, show_targets, target
from benchmarks.timing import machine

DOCKING = "docking"
SPHERES = "20,000 spheres"
FRAMES_ASKED = {DOCKING: 60.0, SPHERES: 20.0}
"""Frames that a page is to receive in a second."""
SECONDS, ROUNDS = 4.0, 3
"""For how long each way of looking is measured, and how often, in turn [s]."""
LATEST = 0.3
"""Part of a run after which it is begun anew: the docking ends when it has docked."""
PACKAGES = {"viser": "viser", "numba": "numba", "playwright": "playwright"}
FLAGS = (
    *("--no-sandbox", "--disable-quic", "--no-first-run", "--disable-background-networking"),
    *("--disable-component-update", "--disable-sync"),
    *("--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader"),
)
NONE = {"wall": None, "work": None}
NOT_DRAWN = {"frames": None, "drawn": None, "page": None, "browser": None}
COUNT_DRAWN = """
window.framesDrawn = 0;
let draws = false;
for (const name of ["drawElements", "drawArrays", "drawElementsInstanced", "drawArraysInstanced"]) {
  const given = WebGL2RenderingContext.prototype[name];
  WebGL2RenderingContext.prototype[name] = function (...what) { draws = true; return given.apply(this, what); };
}
const count = () => { window.framesDrawn += draws; draws = false; requestAnimationFrame(count); };
requestAnimationFrame(count);
"""
"""Run before a page is opened: it counts the pictures that are drawn."""
DRAWN_FIRST = 3
"""Pictures that a page has drawn before it is measured: the first waits until the browser has compiled its shaders."""

Say = Callable[[str], None]


def cases() -> dict[str, Case]:
    """What is run."""
    wide = {
        "model.fills[0].count": 20_000,
        "model.fills[0].low": ["-0.3 m", "-0.3 m", 0],
        "model.fills[0].high": ["0.3 m", "0.3 m", "1.25 m"],
        "box.lengths": ["0.6 m", "0.6 m", "1.3 m"],
        "box.origin": ["-0.3 m", "-0.3 m", 0],
        "run.duration": "1.2 s",
        "checks": [],
    }
    return {
        DOCKING: load_case("nanoparticle-docking"),
        SPHERES: load_case("box-packing", wide),
    }


@contextmanager
def _studio(case: Case) -> Iterator[Workspace]:
    """A studio that shows a case, kept up to date by a thread."""
    with (
        tempfile.TemporaryDirectory() as folder,
        Workspace(server_at(None), FixedCase(case), RunSession(Path(folder))).in_background() as workspace,
    ):
        yield workspace


def _until(reached: Callable[[], bool], patience: float = 600.0) -> None:
    end = time.monotonic() + patience
    while not reached():
        if time.monotonic() > end:
            raise TimeoutError("the studio did not come so far")
        time.sleep(0.02)


def _set_out(workspace: Workspace) -> None:
    """Has a run go on that is far from its end."""
    session = workspace.session
    if session.going and session.case is not None and session.time > LATEST * float(session.case.run.duration):
        session.stop()
        _until(lambda: not session.going)
    if not session.going:
        session.summary = None  # it begins anew
        workspace.panel.press()
        _until(lambda: session.state == "running" and session.steps > 200)
        time.sleep(1.0)


class _Rate(NamedTuple):
    """How fast a run goes."""

    steps: float
    """Steps in a second."""
    work: float
    """Steps in a second of its processors: what other programs do on the machine counts less."""


class _Clock:
    """Counts steps, wall time and processor time of an engine from when it is made."""

    def __init__(self, workspace: Workspace) -> None:
        engine = workspace.session.engine
        if engine is None:
            raise RuntimeError(f"the run has ended: {workspace.session.error or workspace.session.notes}")
        self._session, self._process = workspace.session, psutil.Process(engine.process_id)
        self._began = self._now()

    def _now(self) -> tuple[int, float, float]:
        used = self._process.cpu_times()
        return self._session.steps, time.monotonic(), used.user + used.system

    def rate(self) -> _Rate:
        """Since then."""
        steps, wall, used = (now - then for now, then in zip(self._now(), self._began, strict=True))
        return _Rate(steps / wall, steps / used)

    @property
    def wall(self) -> float:
        """Seconds since then."""
        return time.monotonic() - self._began[1]


def _speed(workspace: Workspace, seconds: float) -> _Rate:
    """How fast the run goes in the next seconds."""
    return _speed_and_frames(workspace, seconds, lambda: 0)[0]


def _speed_and_frames(workspace: Workspace, seconds: float, frames: Callable[[], int]) -> tuple[_Rate, float]:
    """How fast the run goes in the next seconds, and how many frames a page receives in a second, by a function that
    counts them."""
    _set_out(workspace)
    time.sleep(0.6)  # what was looked at before is out of the way
    clock, before = _Clock(workspace), frames()
    time.sleep(seconds)
    return clock.rate(), (frames() - before) / clock.wall


class _Reader:
    """A page that draws nothing, in a process of its own."""

    def __init__(self, port: int) -> None:
        command = [sys.executable, "-m", "benchmarks.studio_reader", str(port)]
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
        self.process = subprocess.Popen(command, cwd=Path(__file__).parents[1], text=True, **pipes)

    @property
    def frames(self) -> int:
        """Frames that it has received."""
        assert self.process.stdin is not None and self.process.stdout is not None
        self.process.stdin.write("\n")
        self.process.stdin.flush()
        return int(self.process.stdout.readline())


@contextmanager
def _reading(workspace: Workspace) -> Iterator[_Reader]:
    """A page that draws nothing, while it is open."""
    reader = _Reader(workspace.server.get_port())
    with reader.process:
        try:
            _until(lambda: bool(workspace.server.get_clients()), 60.0)
            yield reader
        finally:
            reader.process.kill()
    _until(lambda: not workspace.server.get_clients(), 60.0)


class _Page:
    """The page in Chromium: when it came, and the packets that it receives."""

    def __init__(self, browser: Any, workspace: Workspace) -> None:
        self.packets: list[bytes] = []
        began = time.monotonic()
        self.page = browser.new_page(viewport={"width": 1200, "height": 800})
        self.page.add_init_script(COUNT_DRAWN)
        self.page.on("websocket", lambda line: line.on("framereceived", self._take))
        self.page.goto(address(workspace.server))
        self.page.locator("canvas").first.wait_for()
        self.page.locator("#articulon-light").first.wait_for()
        self.seconds = time.monotonic() - began

    def _take(self, packet: Any) -> None:
        self.packets.append(packet)

    @property
    def _drawn(self) -> int:
        """Pictures that have been drawn."""
        return int(self.page.evaluate("window.framesDrawn"))

    def watch(self, workspace: Workspace, seconds: float) -> tuple[_Rate, float, float]:
        """How fast the run goes, and how many frames come and are drawn in a second meanwhile."""
        _set_out(workspace)
        end = time.monotonic() + 60.0
        while self._drawn < DRAWN_FIRST and time.monotonic() < end:
            self.page.wait_for_timeout(200.0)
        self.page.wait_for_timeout(600.0)
        clock, first, before = _Clock(workspace), len(self.packets), self._drawn
        self.page.wait_for_timeout(1e3 * seconds)
        rate, wall, packets, drawn = clock.rate(), clock.wall, self.packets[first:], self._drawn - before
        self.packets.clear()
        return rate, sum(map(shows, packets)) / wall, drawn / wall


class _Costs:
    """What looking costs: each time between two times when nobody looks, for a bed of grains becomes denser meanwhile.

    Parameters
    ----------
    alone
        Measures the run with nobody looking.
    """

    def __init__(self, alone: Callable[[], _Rate]) -> None:
        self._alone = alone
        self.before = alone()
        self.parts: list[tuple[float, float]] = []

    def take(self, watched: _Rate) -> None:
        """Add how fast the run went with somebody looking."""
        after = self._alone()
        pairs = zip(watched, self.before, after, strict=True)
        wall, work = (1.0 - rate / (first * then) ** 0.5 for rate, first, then in pairs)
        self.parts.append((wall, work))
        self.before = after

    @property
    def parts_of_speed(self) -> dict[str, float]:
        """By wall time, and by the time of the engine's own processors."""
        wall, work = (median(part[k] for part in self.parts) for k in range(2))
        return {"wall": wall, "work": work}


def measure_case(case: Case, seconds: float, rounds: int, say: Say) -> dict[str, Any]:
    """Steps in a second with nobody looking, with a page that draws nothing, and with one in Chromium; frames that
    these receive; and how long the latter takes to come."""
    chromium = next((shutil.which(name) for name in ("chromium", "chromium-browser", "google-chrome")), None)
    figures: dict[str, Any] = {"bodies": case.build_model().bodies, **NOT_DRAWN}
    with _studio(case) as workspace:
        _until(lambda: workspace.session.case is not None)
        read = _Costs(lambda: _speed(workspace, seconds))
        sent = []
        for _ in range(rounds):
            with _reading(workspace) as reader:
                rate, received = _speed_and_frames(workspace, seconds, lambda reader=reader: reader.frames)
            sent.append(received)
            read.take(rate)
        say(
            f"{read.before.steps:.0f} steps/s alone, {rate.steps:.0f} with a page that gets {median(sent):.0f} frames/s"
        )
        if chromium is not None:
            figures |= _in_chromium(chromium, workspace, seconds, rounds)
    return figures | {"steps": read.before.steps, "reader": read.parts_of_speed, "sent": median(sent)}


def _in_chromium(chromium: str, workspace: Workspace, seconds: float, rounds: int) -> dict[str, Any]:
    """Frames that Chromium receives in a second, when its page is there, and what it costs the run."""
    from playwright.sync_api import sync_playwright

    drawn = _Costs(lambda: _speed(workspace, seconds))
    frames, pictures, page_seconds = [], [], []
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=chromium, args=list(FLAGS))
        for _ in range(rounds):
            page = _Page(browser, workspace)
            page_seconds.append(page.seconds)
            rate, received, seen = page.watch(workspace, seconds)
            frames.append(received)
            pictures.append(seen)
            page.page.close()
            _until(lambda: not workspace.server.get_clients(), 60.0)
            drawn.take(rate)
        browser.close()
    return {
        "frames": median(frames),
        "drawn": median(pictures),
        "page": min(page_seconds),
        "browser": drawn.parts_of_speed,
    }


def measure(seconds: float = SECONDS, rounds: int = ROUNDS, say: Say = lambda _: None) -> dict[str, Any]:
    """The figures by case, targets, and the machine."""
    figures: dict[str, Any] = {"machine": machine(PACKAGES), "cases": {}}
    for name, case in cases().items():
        say(f"{name} in the studio")
        figures["cases"][name] = measure_case(case, seconds, rounds, say)
    found = figures["cases"]
    figures["targets"] = [
        target("first page of the docking, warm [s]", found[DOCKING]["page"], 3.0),
        *(
            target(f"frames/s sent to a page, {name}", found[name]["sent"], n, at_least=True)
            for name, n in FRAMES_ASKED.items()
        ),
        *(
            target(
                f"frames/s received by Chromium drawing by software, {name}",
                found[name]["frames"],
                n,
                at_least=True,
            )
            for name, n in FRAMES_ASKED.items()
        ),
        *(
            target(f"part of the run's speed that a page costs, {name}", found[name]["reader"]["work"], 0.05)
            for name in found
        ),
    ]
    return figures


def show(figures: dict[str, Any], out: Console | None = None) -> None:
    """Print the figures as tables."""
    out = console() if out is None else out
    show_machine(out, figures["machine"])
    rows = [
        (
            name,
            f["bodies"],
            f["steps"],
            *f["reader"].values(),
            *(f["browser"] or NONE).values(),
            f["sent"],
            f["frames"],
            f["drawn"],
            f["page"],
        )
        for name, f in figures["cases"].items()
    ]
    columns = (
        *("case", "bodies", "steps/s", "a page costs", "of its processors"),
        *("with Chromium here", "of its processors", "frames/s sent", "in Chromium", "pictures/s", "first page [s]"),
    )
    show_table(out, "The studio", columns, rows, words=1)
    show_targets(out, figures["targets"])
