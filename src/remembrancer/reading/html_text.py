"""HTML to text: what a reader of the page would see, with headings and lists as in Markdown."""

from __future__ import annotations

import re
from html.parser import HTMLParser

_UNSEEN = frozenset("script style noscript template svg math iframe object".split())
_BLOCKS = frozenset(
    """address article aside blockquote body caption dd details dialog div dl dt fieldset figcaption
    figure footer form h1 h2 h3 h4 h5 h6 header hr html legend li main nav ol p pre section summary
    table tbody tfoot thead title tr ul""".split()
)
_HEADINGS = {f"h{n}": n for n in range(1, 7)}
_LINES = frozenset(("li", "tr", "dd", "dt"))  # blocks without an empty line around them
_CELLS = ("td", "th")
_SPACE = re.compile(r"[ \t\r\n\f\u00a0]+")
_BLANK = re.compile(r"\n{3,}")


def html_text(page: str) -> str:
    """Return the text of a page; broken markup is read as far as it goes."""
    reader = _Reader()
    reader.feed(page)
    reader.close()
    return reader.text()


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self._parts: list[str] = []
        self._hidden = ""  # the element that hides what is in it
        self._depth = 0  # how many of the same name are open in it
        self._pre = 0
        self._ended = 0  # line feeds since the last words
        self._line = ""  # what stands on the line so far, to know where a space is needed

    def parse_html_declaration(self, i: int) -> int:
        """Read a declaration; one that nobody can read is a comment, as for browsers."""
        try:
            return super().parse_html_declaration(i)
        except AssertionError:  # before Python 3.13 "<![[" is one
            return self.parse_bogus_comment(i)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Begin an element."""
        if self._hidden:
            self._depth += tag == self._hidden
            return
        if tag in _UNSEEN:
            self._hidden, self._depth = tag, 1
            return
        if tag == "br":
            self._add("\n")
            self._line = ""
        elif tag in _BLOCKS:
            self._break(1 if tag in _LINES else 2)
            if tag in _HEADINGS:
                self._add("#" * _HEADINGS[tag] + " ")
            elif tag == "li":
                self._add("- ")
            self._pre += tag == "pre"
        elif tag in _CELLS and self._line.strip():
            self._add(" | ")
        elif tag == "img" and (alt := dict(attrs).get("alt")):
            self.handle_data(alt)

    def handle_endtag(self, tag: str) -> None:
        """End an element."""
        if self._hidden:
            self._depth -= tag == self._hidden
            if not self._depth:
                self._hidden = ""
        elif tag in _BLOCKS:
            self._pre -= tag == "pre" and self._pre > 0
            self._break(1 if tag in _LINES else 2)

    def handle_data(self, data: str) -> None:
        """Take a text."""
        if self._hidden:
            return
        if self._pre:
            self._add(data)
            return
        words = _SPACE.sub(" ", data)
        if not self._line or self._line.endswith(" "):
            words = words.lstrip(" ")
        self._add(words)

    def text(self) -> str:
        """Return what was read, with at most one empty line between paragraphs."""
        lines = (line.rstrip() for line in "".join(self._parts).split("\n"))
        return _BLANK.sub("\n\n", "\n".join(lines)).strip()

    def _break(self, lines: int = 1) -> None:
        if self._parts and lines > self._ended:
            self._parts.append("\n" * (lines - self._ended))
            self._ended = lines
        self._line = ""

    def _add(self, text: str) -> None:
        if text:
            self._parts.append(text)
            if text.strip():
                self._ended = 0
            self._line = (self._line + text).rpartition("\n")[2][-80:]
