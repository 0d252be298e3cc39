"""A page of the studio in Chromium, for tests that do what a user does."""

from __future__ import annotations

import base64
import io
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from typing import Any

import numpy as np
from matplotlib.image import imread

CHROMIUM = next((path for name in ("chromium", "chromium-browser") if (path := shutil.which(name))), None)
ARGUMENTS = [
    "--no-sandbox",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--use-gl=angle",
    "--use-angle=swiftshader",
    "--enable-unsafe-swiftshader",
]
NO_BROWSER = (
    None
    if CHROMIUM and find_spec("playwright")
    else "no browser: install Chromium (apt-get install chromium) and its driver (pip install playwright)"
)
"""Why there is none; None where there is one."""


KEEP_PICTURES = """
const given = HTMLCanvasElement.prototype.getContext;
HTMLCanvasElement.prototype.getContext = function (kind, options) {
  return given.call(this, kind, {...options, preserveDrawingBuffer: true});
};
"""
"""Canvases keep what they have drawn, so that :func:`canvas_picture` can read it at any moment."""


def canvas_picture(page: Any) -> np.ndarray:
    """What the largest canvas of a page shows, shape (height, width, 3), 0 to 255."""
    largest = "[...document.querySelectorAll('canvas')].sort((a, b) => b.width - a.width)[0]"
    data = page.evaluate(f"{largest}?.toDataURL() ?? ''")
    if len(data) < len("data:image/png;base64,") + 100:
        return np.full((1, 1, 3), 255)
    picture = imread(io.BytesIO(base64.b64decode(data.split(",", 1)[1])))
    # What is not drawn is clear, and white on the page.
    alpha = picture[:, :, 3:] if picture.shape[2] == 4 else 1.0
    return np.asarray(np.round(255.0 * (picture[:, :, :3] * alpha + 1.0 - alpha)).astype(int))


@contextmanager
def browser_page(address: str, width: int = 1400, height: int = 1000, script: str = "") -> Iterator[Any]:
    """A page that shows an address, closed at the end; ``script`` runs in it before anything else."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        try:
            page = browser.new_page(viewport={"width": width, "height": height})
            page.set_default_timeout(60_000)
            if script:
                page.add_init_script(script)
            page.goto(address)
            yield page
        finally:
            browser.close()


def field(page: Any, label: str) -> Any:
    """The first field with a label, which viser does not tie to it as browsers know it."""
    row = f"//label[normalize-space(.)='{label}']/ancestor::div[contains(@class, 'mantine-Flex-root')][1]"
    return page.locator(f"xpath={row}//input").first
