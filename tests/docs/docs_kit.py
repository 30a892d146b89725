"""Reads Markdown files: the fenced blocks with what stands before and after them, and links."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
DOCS = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]

_FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_MARK = re.compile(r"<!-- ([^>]*?) -->\s*\Z")
_LINK = re.compile(r"(?<!!)\[[^\]]*\]\(([^)\s]+)\)")
_NOT_IN_SLUGS = re.compile(r"[^\w\- ]")


@dataclass(frozen=True)
class Block:
    """A fenced block: its language, its text, the comment just before it, and its line."""

    language: str
    text: str
    mark: str
    line: int
    answer: Block | None = None  # the block that follows with nothing but space between


def blocks(path: Path) -> list[Block]:
    """Return the fenced blocks of a file, each with the one that directly follows it."""
    text = path.read_text(encoding="utf-8")
    found: list[Block] = []
    after, begins = None, len(text)
    for match in reversed(list(_FENCE.finditer(text))):
        mark = _MARK.search(text, 0, match.start())
        close = not text[match.end() : begins].strip()
        block = Block(
            language=match[1],
            text=match[2],
            mark=mark[1] if mark else "",
            line=text.count("\n", 0, match.start()) + 1,
            answer=after if close else None,
        )
        found.append(block)
        after, begins = block, match.start()
    return found[::-1]


def links(path: Path) -> list[str]:
    """Return the targets of a file's relative links."""
    text = _FENCE.sub("", path.read_text(encoding="utf-8"))
    return [target for target in _LINK.findall(text) if "://" not in target]


def anchors(path: Path) -> set[str]:
    """Return the anchors of a file's headings, as GitHub makes them."""
    text = _FENCE.sub("", path.read_text(encoding="utf-8"))
    headings = re.findall(r"^#+ (.*)$", text, re.MULTILINE)
    return {_NOT_IN_SLUGS.sub("", h.lower()).strip().replace(" ", "-") for h in headings}
