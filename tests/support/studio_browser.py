"""A page of the studio in Chromium, for tests that do what a user does."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from typing import Any

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


@contextmanager
def browser_page(address: str, width: int = 1400, height: int = 1000) -> Iterator[Any]:
    """A page that shows an address, closed at the end."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        try:
            page = browser.new_page(viewport={"width": width, "height": height})
            page.set_default_timeout(60_000)
            page.goto(address)
            yield page
        finally:
            browser.close()


def field(page: Any, label: str) -> Any:
    """The first field with a label, which viser does not tie to it as browsers know it."""
    row = f"//label[normalize-space(.)='{label}']/ancestor::div[contains(@class, 'mantine-Flex-root')][1]"
    return page.locator(f"xpath={row}//input").first
