"""Reads the files that are to be retained, within bounds."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ...nouns.errors import InvalidInput, TooLarge

STDIN = "-"


@dataclass(frozen=True, slots=True)
class Input:
    """A file to read: what the caller called it, and its name as a document."""

    given: str
    document: str | None

    def read(self, limit: int) -> str:
        """Return the text.

        Raises:
            InvalidInput, TooLarge: it is no UTF-8 text, holds nothing, or is over `limit` bytes.
        """
        raw = self._bytes(limit + 1)
        if len(raw) > limit:
            raise TooLarge(
                f"{self._name} is over {limit:,} bytes: split it, or raise "
                "REMEMBRANCER_MAX_CONTENT_BYTES",
                field="file",
                limit=limit,
            )
        try:
            text = raw.decode("utf-8-sig")
        except UnicodeDecodeError as error:
            raise InvalidInput(
                f"{self._name} is not UTF-8 text (byte {error.start}): convert it first",
                field="file",
            ) from None
        if not text.strip():
            raise InvalidInput(f"{self._name} is empty: nothing to remember", field="file")
        return text

    @property
    def _name(self) -> str:
        return "standard input" if self.given == STDIN else self.given

    def _bytes(self, most: int) -> bytes:
        if self.given == STDIN:
            return sys.stdin.buffer.read(most)
        with Path(self.given).open("rb") as file:
            return file.read(most)


def checked(inputs: Sequence[Input], limit: int) -> str:
    """Read every input once, so that a bad one is known before anything is kept.

    Returns:
        What standard input held, which cannot be read again.

    Raises:
        InvalidInput, TooLarge, OSError: one of them cannot be taken.
    """
    given = ""
    for one in inputs:
        text = one.read(limit)
        if one.given == STDIN:
            given = text
    return given


def plan(files: Sequence[str], document: str | None, as_new: bool) -> list[Input]:
    """Return what to read; a document is called like its file unless it is named otherwise.

    Raises:
        InvalidInput: a file is not there, or two would become one document unasked.
    """
    if as_new and document is not None:
        raise InvalidInput("--as-new and --document exclude each other", field="document")
    for file in files:
        if file != STDIN and not Path(file).is_file():
            kind = "a folder" if Path(file).is_dir() else "not there"
            mend = "name files, or - for stdin"
            if " " in file and kind == "not there":  # words to keep, in place of a file's name
                mend += "; to keep these words: echo '...' | remembrancer retain -"
            raise InvalidInput(f"{file} is {kind}: {mend}", field="file")
    if list(files).count(STDIN) > 1:
        raise InvalidInput("standard input can be read once only", field="file")
    if as_new or document is not None:
        return [Input(file, document) for file in files]
    names = [None if file == STDIN else Path(file).name for file in files]
    twice = next((name for name in names if name and names.count(name) > 1), None)
    if twice:
        raise InvalidInput(
            f"two files are called {twice}, and the later would replace the former: retain them "
            "one at a time with --document, or use --as-new",
            field="file",
        )
    return [Input(file, name) for file, name in zip(files, names, strict=True)]
