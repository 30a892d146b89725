"""The words of a sentence, as the rule reader sees them."""

from __future__ import annotations

import re

# a number keeps the commas between its thousands, and the sign before it: "-$1,200.50"
_TOKEN = re.compile(
    r"(?:(?<![^\s(\[$£€¥])(?<!\d )(?P<sign>[-−][$£€¥]?)(?=\d))?"
    r"(?:(?<!\d)\d{1,3}(?:,\d{3})+(?!,?\d)[^\W_]*|[^\W_]+)(?:[’'.\-/&][^\W_]+)*"
    r"|[’'](?:s|m|re|ve|ll|d)\b"
)
_SUFFIXES = ("'m", "'re", "'s", "'ve", "'ll", "'d")


class Tokens:
    """The words of a sentence: as written, in lower case, and where they stand in the text."""

    __slots__ = ("ends", "lows", "raws", "starts", "text")

    def __init__(self, text: str, start: int, end: int) -> None:
        self.text = text
        raws: list[str] = []
        starts: list[int] = []
        ends: list[int] = []
        for match in _TOKEN.finditer(text, start, end):
            raw = match.group()
            at, stop = match.span()
            if match["sign"]:
                raw = f"-{raw[len(match['sign']) :]}"
            tail = _suffix(raw) if "'" in raw or "’" in raw else 0
            if tail and tail < len(raw):
                raws.append(raw[:-tail])
                starts.append(at)
                at = stop - tail
                ends.append(at)
                raw = raw[-tail:]
            raws.append(raw)
            starts.append(at)
            ends.append(stop)
        self.raws, self.starts, self.ends = raws, starts, ends
        self.lows = [raw.lower() for raw in raws]
        if "’" in text:
            self.lows = [low.replace("’", "'") for low in self.lows]

    def __len__(self) -> int:
        return len(self.lows)

    def gap(self, at: int) -> str:
        """Return what stands between word `at` and the one before."""
        return self.text[self.ends[at - 1] : self.starts[at]] if at else ""


def _suffix(raw: str) -> int:
    """Return the length of the contracted verb ("'m", "'ll") at the end of a word, or 0."""
    word = raw.lower().replace("’", "'")
    return next((len(suffix) for suffix in _SUFFIXES if word.endswith(suffix)), 0)
