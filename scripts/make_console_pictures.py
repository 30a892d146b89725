#!/usr/bin/env python3
"""Take the pictures of the console in docs/pictures/ anew: the demo's bank, in the light theme.

Needs Debian's chromium and the Python package playwright. With --out DIR they go there instead.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from playwright.sync_api import Page

PICTURES = Path(__file__).parents[1] / "docs" / "pictures"
SIZE = {"width": 1280, "height": 760}
MOST_BYTES = 150_000
FLAGS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--force-color-profile=srgb",
    "--lang=en-GB",
]

# A process of its own: the demo's conversation is retained, then served with the demo's clock.
SERVE = """
import asyncio, sys
from pathlib import Path
from remembrancer.app import App
from remembrancer.faces.cli.demo.clock import StartedClock
from remembrancer.faces.cli.demo.script import load
from remembrancer.faces.serving import serve
from remembrancer.nouns.memory import DEFAULT_TENANT, BankRef
from remembrancer.settings import Settings

async def main():
    script = load()
    clock = StartedClock(script.clock)
    settings = Settings(
        data=Path(sys.argv[1]), store=None, embedder="bge-small", http="127.0.0.1:0", grpc="off"
    )
    app = await App.open(settings, clock=clock, background=False)
    for session in script.sessions:
        await app.retain(BankRef(DEFAULT_TENANT, script.bank), [session.item()])
    await app.close()
    await serve(settings, clock=clock)

asyncio.run(main())
"""


@dataclass(frozen=True)
class Shot:
    """A picture: its name, the page of the demo's bank, and text that is there once it is drawn."""

    name: str
    page: str
    shows: str


BANK = "maya"
SHOTS = (Shot("console-search", "search?q=Where%20did%20she%20travel%20in%20May%3F", "Porto"),)


@contextmanager
def served(folder: Path) -> Iterator[str]:
    """Serve the demo's bank from a folder; yield the address."""
    process = subprocess.Popen(
        [sys.executable, "-c", SERVE, str(folder)], stdout=subprocess.PIPE, text=True
    )
    try:
        assert process.stdout is not None
        line = process.stdout.readline()
        if "://" not in line:
            raise SystemExit("the server did not start")
        yield line.split()[-1]
    finally:
        process.terminate()
        process.wait(30)


def drawn(page: Page, url: str, shot: Shot) -> bytes:
    """Return the picture of a page once all of it is there."""
    for _ in range(2):  # the first one loads the model and builds the index
        page.goto("about:blank")
        page.goto(f"{url}/console/#/b/{BANK}/{shot.page}")
        page.get_by_role("heading", level=1).wait_for()
        page.wait_for_selector("main [aria-busy]", state="detached")
        page.get_by_text(shot.shows).first.wait_for()
    return page.screenshot()


def main() -> int:
    """Take them; return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=PICTURES, metavar="DIR")
    out: Path = parser.parse_args().out
    found = shutil.which("chromium") or shutil.which("chromium-browser")
    try:
        from playwright.sync_api import sync_playwright  # noqa: PLC0415
    except ImportError:
        found = None
    if found is None:
        print("needs chromium (apt-get install chromium) and playwright", file=sys.stderr)
        return 1
    out.mkdir(parents=True, exist_ok=True)
    options: dict[str, Any] = {"color_scheme": "light", "reduced_motion": "reduce"}
    with (
        tempfile.TemporaryDirectory() as folder,
        served(Path(folder)) as url,
        sync_playwright() as playwright,
    ):
        browser = playwright.chromium.launch(executable_path=found, args=FLAGS)
        context = browser.new_context(viewport=SIZE, locale="en-GB", **options)
        for shot in SHOTS:
            picture = drawn(context.new_page(), url, shot)
            if len(picture) > MOST_BYTES:
                print(f"{shot.name} has {len(picture):,} bytes: too many", file=sys.stderr)
                return 1
            (out / f"{shot.name}.png").write_bytes(picture)
            print(f"{shot.name}.png: {len(picture):,} bytes")
        browser.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
