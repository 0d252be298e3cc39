"""What a page holds of a run in the browser: the frame on show, however many have gone by."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import articulon as ar
from articulon.cases.loading import load_case
from articulon.studio import run_session
from articulon.studio.case_source import FixedCase
from articulon.studio.pose_exchange import Look
from articulon.studio.stage import Frame
from tests.support.browser import chromium, needs_browser, opened
from tests.support.live_studio import address_of, live_studio
from tests.support.scripted_engine import ScriptedEngine

if TYPE_CHECKING:
    from playwright.sync_api import CDPSession

BODIES = 500
FRAME = BODIES * 4 * (3 + 4)
"""Places and rotations of a frame on its way, in single precision [bytes]."""


class Shaken(ScriptedEngine):
    """Shows another state as often as it is asked."""

    shown = 0

    def latest(self) -> Look:
        """Bodies on a grid, each a little elsewhere."""
        type(self).shown += 1
        number = self.shown
        grid = np.stack(np.unravel_index(np.arange(BODIES), (10, 10, 5)), axis=1) + 0.0
        places = grid + 0.2 * np.random.default_rng(number).normal(size=(BODIES, 3))
        return Look(number, number, Frame(places, np.tile([1.0, 0.0, 0.0, 0.0], (BODIES, 1)), 1e-3 * number, None))


def bricks() -> ar.Model:
    """Free bodies that are drawn as boxes, so that each frame brings their rotations too."""
    b = ar.ModelBuilder(units="kg-m-s")
    for k in range(BODIES):
        b.add_body(f"brick {k}", mass=1.0, inertia=0.1, joint=ar.Free(), shape=ar.shapes.Box(size=(0.4, 0.3, 0.2)))
    return b.build()


def held(browser: CDPSession) -> float:
    """What the page's scripts hold after their garbage is collected, with the arrays outside of their heap [bytes]."""
    browser.send("HeapProfiler.collectGarbage")
    used: dict[str, Any] = browser.send("Runtime.getHeapUsage")
    return float(used["usedSize"] + used["backingStorageSize"])


@pytest.mark.slow
@needs_browser
def test_what_a_page_holds_does_not_grow_with_the_frames_that_it_has_shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Over a thousand frames and more, which software draws in half a minute. A page that kept one array of each
    would hold ten times as much more as is allowed."""
    monkeypatch.setattr(run_session, "Engine", Shaken)
    case = load_case("double-pendulum", {"checks": []})
    with live_studio(FixedCase(case), tmp_path / "runs") as studio, chromium() as browser:
        page = opened(browser, address_of(studio), "not run yet")
        studio.session.begin(case, bricks())
        assert studio.session.engine is not None
        studio.session.engine.said = [{"kind": "started", "resumed_from": 0.0}]  # type: ignore[attr-defined]
        tools = page.context.new_cdp_session(page)

        def after(frames: int) -> tuple[float, int]:
            first, end = Shaken.shown, time.monotonic() + 100.0
            while Shaken.shown < first + frames and time.monotonic() < end:
                page.wait_for_timeout(100.0)
            return held(tools), Shaken.shown

        (before, first), (later, last) = after(300), after(1200)
    assert last - first >= 1200
    assert later - before < 0.1 * FRAME * (last - first)
