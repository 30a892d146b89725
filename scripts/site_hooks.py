"""Hooks of MkDocs: what the pages link to outside of docs/ comes along; pages nobody put into the
navigation are put under "More".
"""

from __future__ import annotations

import re
from pathlib import Path, PurePosixPath
from typing import Any
from urllib.parse import urlsplit

from mkdocs.structure.files import File, Files

_ROOT = Path(__file__).parents[1]
_OUTSIDE = re.compile(r"(\]\()((?:\.\./)+[^)\s#]+)")
_FOLDER = "source"
_MORE = "More"
_GROUPS = {"migrate": "Moving here"}


def on_config(config: Any) -> Any:
    """Put pages that the navigation leaves out into it, those of a folder together."""
    docs = Path(config.docs_dir)
    named = set(_pages(config.nav))
    groups: dict[str, list[str]] = {}
    for path in sorted(docs.rglob("*.md")):
        name = path.relative_to(docs).as_posix()
        if name not in named:
            groups.setdefault(_GROUPS.get(PurePosixPath(name).parts[0], _MORE), []).append(name)
    config.nav += [{title: pages} for title, pages in groups.items()]
    return config


def _pages(nav: Any) -> list[str]:
    if isinstance(nav, str):
        return [nav]
    parts = nav.values() if isinstance(nav, dict) else nav
    return [page for part in parts for page in _pages(part)]


def on_files(files: Files, config: Any) -> Files:
    """Add the files of the checkout that pages link to."""
    for page in files.documentation_pages():
        for _, target in _OUTSIDE.findall(page.content_string):
            path = _outside(page, target)
            if path is not None and files.get_file_from_path(_inside(path)) is None:
                files.append(_copied(config, path))
    return files


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Lead links out of docs/ to what came along."""

    def led(match: re.Match[str]) -> str:
        path = _outside(page.file, match[2])
        if path is None:
            return match[0]  # a dead link, which a strict build refuses
        up = "../" * (len(PurePosixPath(page.file.src_uri).parts) - 1)
        return f"{match[1]}{up}{_inside(path)}"

    return _OUTSIDE.sub(led, markdown)


def _outside(page: File, target: str) -> Path | None:
    """Return what a link out of docs/ leads to; None when it stays there or leads nowhere."""
    path = (_ROOT / "docs" / page.src_uri).parent / urlsplit(target).path
    path = path.resolve()
    outside = path.is_relative_to(_ROOT) and not path.is_relative_to(_ROOT / "docs")
    return path if outside and path.exists() else None


def _inside(path: Path) -> str:
    """Return the name under which something comes along: as text, so that browsers show it."""
    return f"{_FOLDER}/{path.relative_to(_ROOT).as_posix()}.txt"


def _copied(config: Any, path: Path) -> File:
    if path.is_dir():
        content = "\n".join(sorted(each.name for each in path.iterdir()))
    else:
        content = path.read_text(encoding="utf-8")
    return File.generated(config, _inside(path), content=content)
