"""A real browser for the console: Debian's Chromium, driven by Playwright."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

SHOTS = Path(__file__).parents[2] / "build" / "screenshots"
SIZES = {"wide": (1280, 860), "phone": (390, 844)}
FLAGS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
_WAIT_MS = 15_000
_WORST = {"serious", "critical"}


@contextmanager
def chromium() -> Iterator[Browser]:
    """Run the browser with a profile of its own, or skip and say what is missing."""
    found = shutil.which("chromium") or shutil.which("chromium-browser")
    if found is None:
        pytest.skip("no browser: install the Debian package chromium (apt-get install chromium)")
    sync_api = pytest.importorskip(
        "playwright.sync_api", reason="no Playwright: install the Python package playwright"
    )
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=found, args=FLAGS)
        try:
            yield browser
        finally:
            browser.close()


class Visitor:
    """Somebody who looks at the console of a server, in a fresh window.

    `faults` gathers what a page must not do: errors, dialogs, refusals of the security policy.
    """

    def __init__(self, browser: Browser, url: str, size: str, scheme: str = "light") -> None:
        width, height = SIZES[size]
        self.size, self.scheme = size, scheme
        self._url = f"{url}/console/"
        self._context = browser.new_context(
            viewport={"width": width, "height": height},
            color_scheme="dark" if scheme == "dark" else "light",
            locale="en-GB",
            timezone_id="Europe/Berlin",
            reduced_motion="reduce",
        )
        self.faults: list[str] = []
        self.page: Page = self._context.new_page()
        self.page.set_default_timeout(_WAIT_MS)
        self.page.on("pageerror", lambda error: self.faults.append(str(error)))
        self.page.on("dialog", self._dialog)
        self.page.on("console", self._console)

    def close(self) -> None:
        self._context.close()

    def open(self, path: str, heading: str | None = None) -> None:
        """Go to a page of the console and wait until it is drawn."""
        self.page.goto(self._url + path)
        if heading is None:
            self.page.get_by_role("heading", level=1).wait_for()
        else:
            self.page.get_by_role("heading", level=1, name=heading).wait_for()
        # Not wait_for_function: it makes code of text, which the page's policy forbids.
        self.page.wait_for_selector("main [aria-busy]", state="detached")

    def check_reading(self) -> None:
        """Check with axe that everybody can read and use this page."""
        from axe_playwright_python.sync_playwright import Axe

        found = Axe().run(self.page).response["violations"]
        told = [
            f"{each['id']} ({each['impact']}): {[n['html'] for n in each['nodes'][:3]]}"
            for each in found
            if each["impact"] in _WORST
        ]
        assert not told, f"{self.page.url}: " + "\n".join(told)

    def check_width(self) -> None:
        """Check that nothing reaches beyond the edge of the window."""
        assert self.page.evaluate("document.documentElement.scrollWidth <= innerWidth")

    def shoot(self, name: str) -> None:
        SHOTS.mkdir(parents=True, exist_ok=True)
        self.page.screenshot(path=SHOTS / f"{name}-{self.size}-{self.scheme}.png")

    def main_text(self) -> str:
        text: str = self.page.locator("main").inner_text()
        return text

    def _dialog(self, dialog: Any) -> None:
        self.faults.append(f"a dialog: {dialog.message}")
        dialog.dismiss()

    def _console(self, message: Any) -> None:
        if message.type == "error" and "status of 4" not in message.text:  # a refusal is an answer
            self.faults.append(message.text)
