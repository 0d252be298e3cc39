"""A browser for tests: the distribution's Chromium, driven by Playwright, which draws by software where there is no
graphics card."""

from __future__ import annotations

import base64
import io
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest
from matplotlib.image import imread

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
CHROMIUM = next((found for name in NAMES if (found := shutil.which(name))), "")
"""Where it is; empty where there is none."""
NO_BROWSER = "no Chromium: make browser installs it (apt-get install chromium)"
FLAGS = (
    *("--no-sandbox", "--disable-quic", "--no-first-run", "--disable-background-networking"),
    *("--disable-component-update", "--disable-sync"),
    *("--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader"),
)
WITHOUT_WEBGL = ("--disable-3d-apis", "--disable-gpu")
SIZE = {"width": 960, "height": 600}
PANEL = 400
"""Width of what stands beside the picture [pixels]."""
PATIENCE = 60_000
"""For what a slow machine draws [ms]."""

needs_browser = pytest.mark.skipif(not CHROMIUM or find_spec("playwright") is None, reason=NO_BROWSER)
"""Marks a test that needs one."""


SELDOM = """
const frame = window.requestAnimationFrame.bind(window);
window.requestAnimationFrame = (draw) => window.setTimeout(() => frame(draw), 150);
window.cancelAnimationFrame = (number) => window.clearTimeout(number);
"""
"""Run before a page is opened: it draws some frames a second. Software that draws all the time leaves no processor to
what is tested."""


@contextmanager
def chromium(*flags: str) -> Iterator[Browser]:
    """A browser, with further flags."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=CHROMIUM, args=[*FLAGS, *flags])
        try:
            yield browser
        finally:
            browser.close()


def opened(browser: Browser, address: str, until: str) -> Page:
    """A page of an address, once a text stands on it."""
    page = browser.new_page(viewport=SIZE)  # type: ignore[arg-type]
    page.set_default_timeout(PATIENCE)
    page.add_init_script(SELDOM)
    page.goto(address)
    # The note that software draws would hide a part of the picture.
    page.add_style_tag(content=".mantine-Notifications-root { display: none }")
    page.get_by_text(until).first.wait_for()
    return page


def picture(page: Page, file: Path) -> Path:
    """What is drawn, without what stands beside it."""
    page.screenshot(path=file, clip={"x": 0, "y": 0, "width": SIZE["width"] - PANEL, "height": SIZE["height"]})
    return file


KEEP_PICTURES = """
const given = HTMLCanvasElement.prototype.getContext;
HTMLCanvasElement.prototype.getContext = function (kind, options) {
  return given.call(this, kind, {...options, preserveDrawingBuffer: true});
};
"""
"""Run before a page is opened: canvases keep what they have drawn, so that :func:`canvas_picture` can read it."""


def canvas_picture(page: Page) -> np.ndarray:
    """What the largest canvas of a page shows, shape (height, width, 3), 0 to 255."""
    largest = "[...document.querySelectorAll('canvas')].sort((a, b) => b.width - a.width)[0]"
    data = page.evaluate(f"{largest}?.toDataURL() ?? ''")
    if len(data) < len("data:image/png;base64,") + 100:
        return np.full((1, 1, 3), 255)
    drawn = imread(io.BytesIO(base64.b64decode(data.split(",", 1)[1])))
    # What is not drawn is clear, and white on the page.
    alpha = drawn[:, :, 3:] if drawn.shape[2] == 4 else 1.0
    return np.asarray(np.round(255.0 * (drawn[:, :, :3] * alpha + 1.0 - alpha)).astype(int))
