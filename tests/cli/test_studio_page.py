"""The studio in a real browser: a case is run, paused and looked at again, on two pages, one of which is closed."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest
from matplotlib.image import imread

import articulon as ar
from articulon.cases.case import Case
from articulon.cases.loading import load_case
from articulon.studio.editing.case_document import CaseDocument
from articulon.studio.workspace import Workspace
from tests.support.browser import WITHOUT_WEBGL, chromium, needs_browser, opened, picture
from tests.support.live_studio import address_of, live_studio

if TYPE_CHECKING:
    from playwright.sync_api import Locator, Page

pytestmark = [pytest.mark.slow, needs_browser]
"""A browser and an engine are processes that take seconds to start, and software draws some frames a second."""

TRIES = 12
"""Times that a page that draws seldom is looked at, 1.5 s apart, before its picture counts as wrong."""


@contextmanager
def pendulum(tmp_path: Path, duration: str) -> Iterator[Workspace]:
    """A studio that shows a double pendulum, which swings for so long."""
    file = tmp_path / "pendulum.toml"
    changes = {"run.duration": duration, "run.frames": 600, "checks": []}
    file.write_text(load_case("double-pendulum", changes).to_toml())
    with live_studio(CaseDocument.open(file), tmp_path / "runs") as workspace:
        yield workspace


@pytest.fixture
def studio(tmp_path: Path) -> Iterator[Workspace]:
    """A studio that shows a double pendulum, which swings for a minute."""
    with pendulum(tmp_path, "60 s") as workspace:
        yield workspace


def light(page: Page, words: str) -> Locator:
    """The words beside the light, once they are these."""
    return page.locator("#articulon-light", has_text=words)


def rods_at(picture: Path) -> tuple[np.ndarray, np.ndarray]:
    """Middles of what is blue and of what is orange on a picture [pixels], rows and columns."""
    red, green, blue = np.moveaxis(imread(picture)[:, :, :3], -1, 0)
    colours = (blue > red + 0.3) & (green < blue), (red > blue + 0.3) & (green < red)
    for colour in colours:
        assert np.count_nonzero(colour) > 100
    middles = [np.argwhere(colour).mean(axis=0) for colour in colours]
    return middles[0], middles[1]


def is_level(rods: tuple[np.ndarray, np.ndarray]) -> bool:
    """Whether the orange rod continues the blue one to the left, as it does at first: it is looked at a little from
    above. Later their middles may be at one height too, but with the orange one to the right."""
    down, aside = rods[1] - rods[0]
    return bool(abs(down) < -0.15 * aside)


def test_a_run_on_two_pages_one_of_which_is_closed(studio: Workspace, tmp_path: Path) -> None:
    with chromium() as browser:
        page, other = (opened(browser, address_of(studio), "not run yet") for _ in range(2))
        page.locator("canvas").first.wait_for()
        page.wait_for_timeout(1500.0)
        assert is_level(rods_at(picture(page, tmp_path / "rest.png")))
        # In real time, so that there is something to see on its way.
        page.get_by_label("speed", exact=True).click()
        page.get_by_role("option", name="real time", exact=True).click()
        page.get_by_role("button", name="Run", exact=True).click()
        for one in (page, other):
            light(one, "running").wait_for()
            one.get_by_role("button", name="Pause", exact=True).wait_for()
        page.get_by_text("× real time").wait_for()
        page.wait_for_timeout(2000.0)
        other.get_by_role("button", name="Pause", exact=True).click()
        for one in (page, other):
            light(one, "paused").wait_for()
        # Both pages show the same state, and not that of the beginning, once each has drawn it.
        for _ in range(TRIES):
            page.wait_for_timeout(1500.0)
            here, there = (rods_at(picture(one, tmp_path / f"{k}.png")) for k, one in enumerate((page, other)))
            if np.abs(np.array(here) - np.array(there)).max() < 2.0:
                break
        assert np.abs(np.array(here) - np.array(there)).max() < 2.0
        assert not is_level(here)
        time_shown = studio.session.time
        page.wait_for_timeout(500.0)
        assert studio.session.time == time_shown
        # Back to the first frame that has been kept, by the slider's field.
        field = page.locator("label:text-is('frame')").locator("xpath=following::input[@type='text'][1]")
        field.fill("0")
        field.press("Enter")
        other.get_by_text("shown: ").wait_for()
        for _ in range(TRIES):
            other.wait_for_timeout(1500.0)
            if level := is_level(rods_at(picture(other, tmp_path / "first.png"))):
                break
        assert level
        # On, as fast as possible, with nobody left to look.
        page.get_by_label("speed", exact=True).click()
        page.get_by_role("option", name="as fast as possible").click()
        page.get_by_role("button", name="Go on", exact=True).click()
        # The rest takes a second, within which a page that draws by software may not say that it is running.
        end = time.monotonic() + 60.0
        while studio.session.state == "waiting" and time.monotonic() < end:
            page.wait_for_timeout(20.0)
        page.close()
        other.close()
    end = time.monotonic() + 120.0
    while studio.session.state != "ended" and time.monotonic() < end:
        time.sleep(0.1)
    folder = studio.session.folder
    assert folder is not None and studio.session.error is None
    assert json.loads((folder / "summary.json").read_text())["status"] == "complete"
    plain = ar.run(Case.read(folder / "case.toml"), tmp_path / "plain", report=False)
    assert np.array_equal(ar.open_run(folder).q, plain.q)


def test_a_body_is_pulled_by_the_hand(tmp_path: Path) -> None:
    """Dragged with the control key held: the folder of the run knows, and its energies balance. The pendulum moves so
    slowly that it is still there when it is reached for."""
    with pendulum(tmp_path, "2 s") as studio, chromium() as browser:
        page = opened(browser, address_of(studio), "not run yet")
        page.locator("canvas").first.wait_for()
        page.get_by_label("speed", exact=True).click()
        page.get_by_role("option", name="the run in 10 min").click()
        page.get_by_role("button", name="Run", exact=True).click()
        page.get_by_text("× real time").wait_for()
        page.wait_for_timeout(1000.0)
        row, column = rods_at(picture(page, tmp_path / "before.png"))[1]
        page.keyboard.down("Control")
        page.mouse.move(column, row)
        page.mouse.down()
        page.mouse.move(column + 60.0, row - 60.0, steps=5)
        page.get_by_text("· pulled").first.wait_for()
        page.wait_for_timeout(500.0)
        page.mouse.up()
        page.keyboard.up("Control")
        # A handle on a body that is clicked on.
        page.wait_for_timeout(500.0)
        page.mouse.click(column, row)
        page.wait_for_timeout(1000.0)
        assert studio.pull.held is not None
        page.get_by_role("button", name="Stop", exact=True).click()
        light(page, "stopped; Run continues from here").wait_for()
        folder = studio.session.folder
    assert folder is not None
    figures = ar.open_run(folder).summary
    assert figures["status"] == "interrupted" and figures["pulls"]["bodies"] == ["lower"]
    assert figures["energy_balance_error_relative"] < 1e-9


def test_a_browser_without_webgl_is_told_so(studio: Workspace) -> None:
    with chromium(*WITHOUT_WEBGL) as browser:
        page = opened(browser, address_of(studio), "articulon draws with WebGL 2")
        assert "Switch on hardware acceleration" in page.locator("#articulon-no-webgl").inner_text()


def test_pages_that_can_draw_are_not_told_so(studio: Workspace) -> None:
    with chromium() as browser:
        page = opened(browser, address_of(studio), "not run yet")
        assert page.locator("#articulon-no-webgl").count() == 0
