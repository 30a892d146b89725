"""The documentation as a site: builds without a warning, has no dead link, needs no network."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest
from docs_kit import ROOT

# What a browser fetches by itself when it shows a page.
_FETCHED = {("script", "src"), ("img", "src"), ("link", "href"), ("iframe", "src")}
_IN_HEAD = {"canonical", "next", "prev"}  # relations of a link that nothing is fetched for


@dataclass
class Page(HTMLParser):
    """What a page links to, what it fetches, and its anchors."""

    path: Path
    links: list[str] = field(default_factory=list)
    fetched: list[str] = field(default_factory=list)
    anchors: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        super().__init__()
        self.feed(self.path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value for name, value in attrs if value is not None}
        self.anchors |= {given[name] for name in ("id", "name") if name in given}
        for name, value in given.items():
            if (tag, name) in _FETCHED and given.get("rel") not in _IN_HEAD:
                self.fetched.append(value)
            elif (tag, name) == ("a", "href"):
                self.links.append(value)


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> subprocess.CompletedProcess[str]:
    site = tmp_path_factory.mktemp("site")
    return subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(site)],
        cwd=ROOT,
        env=os.environ | {"NO_MKDOCS_2_WARNING": "1", "DISABLE_MKDOCS_2_WARNING": "true"},
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )


@pytest.fixture(scope="module")
def pages(built: subprocess.CompletedProcess[str]) -> dict[Path, Page]:
    assert built.returncode == 0, built.stderr
    site = Path(built.args[-1])
    return {path: Page(path) for path in sorted(site.rglob("*.html"))}


def test_it_builds_without_a_warning(built: subprocess.CompletedProcess[str]) -> None:
    assert built.returncode == 0, built.stderr
    assert "WARNING" not in built.stderr


def test_every_page_is_there(pages: dict[Path, Page]) -> None:
    named = {path.stem for path in pages}
    assert {path.stem for path in (ROOT / "docs").rglob("*.md")} <= named


def test_nothing_is_fetched_from_elsewhere(pages: dict[Path, Page]) -> None:
    for path, page in pages.items():
        assert [url for url in page.fetched if urlsplit(url).netloc] == [], path.name
    for sheet in next(iter(pages)).parent.rglob("*.css"):
        assert "url(http" not in sheet.read_text(encoding="utf-8"), sheet.name
        assert "@import" not in sheet.read_text(encoding="utf-8"), sheet.name


def test_no_link_is_dead(pages: dict[Path, Page]) -> None:
    checked = 0
    for path, page in pages.items():
        if path.name == "404.html":  # its links are those of the place that it stands in for
            continue
        for url in (*page.links, *page.fetched):
            parts = urlsplit(url)
            if parts.scheme or parts.netloc:
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            target = target / "index.html" if target.is_dir() else target
            assert target.exists(), f"{path.name} links to {url}"
            if parts.fragment and target in pages:
                anchors = pages[target].anchors
                assert unquote(parts.fragment) in anchors, f"{path.name} links to {url}"
            checked += 1
    assert checked > 1_000


def test_pictures_hold_no_script_and_nothing_from_elsewhere() -> None:
    pictures = sorted((ROOT / "docs/pictures").glob("*.svg"))
    assert len(pictures) >= 5
    for picture in pictures:
        text = picture.read_text(encoding="utf-8")
        assert "<script" not in text
        assert "href=" not in text
        assert text.count("http") == 1, "only the name of the format is a URL"
        assert "<title>" in text
