"""What servers and workers log on stderr: lines of text or of JSON, without what was said.

An error's own words may quote a memory, so of errors the kind and the place are written alone,
unless the setting `log_text` allows the words or they come from the system.
"""

from __future__ import annotations

import json
import logging
import sqlite3
import traceback
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from functools import lru_cache
from math import isfinite
from typing import Any, TextIO

from ..nouns.errors import StoreError, StoreRefused
from ..nouns.spans import current_ids
from ..settings import Settings
from .log_queue import FIELDS, LogQueue, Moment
from .request_ids import current

__all__ = ["FIELDS", "Lines", "logging_to"]

_SYSTEM = (OSError, MemoryError, sqlite3.Error, StoreError)
"""Of the machine and its disks: what they say quotes no memory."""
_FRAMES = 20
_quoted = json.encoder.encode_basestring
_JSON = json.JSONEncoder(ensure_ascii=False, default=str)


class Lines(logging.Formatter):
    """Writes a record as one line of JSON, or as text.

    Args:
        as_json: JSON rather than text.
        with_text: also write the words of errors, which may quote memories.
    """

    def __init__(self, *, as_json: bool, with_text: bool) -> None:
        super().__init__()
        self._as_json = as_json
        self._with_text = with_text

    def format(self, record: logging.LogRecord) -> str:
        """Return the line of a record, of the request and span that this is called in."""
        more = getattr(record, FIELDS, {})
        if record.exc_info and record.exc_info[1] is not None:
            more = {**more, "error": self._error(record.exc_info[1])}
        moment = Moment(record.created, current.get(), current_ids())
        return self.line(moment, record.levelname, record.name, record.getMessage(), more)

    def line(
        self, moment: Moment, level: str, name: str, message: str, more: Mapping[str, Any]
    ) -> str:
        """Return the line of what a logger of this name was told."""
        told: dict[str, Any] = {
            "time": _spelled(moment.seconds),
            "level": level.lower(),
            "logger": name,
            "message": message,
        }
        if moment.request is not None:
            told["request_id"] = moment.request
        if moment.ids is not None:
            told["trace_id"], told["span_id"] = moment.ids
        told |= more
        return _json(told) if self._as_json else _text(told)

    def _error(self, error: BaseException) -> dict[str, Any]:
        frames = traceback.extract_tb(error.__traceback__)[-_FRAMES:]
        told: dict[str, Any] = {"type": type(error).__name__}
        known = isinstance(error, _SYSTEM) and not isinstance(error, StoreRefused)
        if self._with_text or known:
            told["message"] = str(error)
        told["at"] = [f"{f.filename}:{f.lineno} {f.name}" for f in frames]
        return told


def _spelled(seconds: float) -> str:
    whole = int(seconds)
    return f"{_second(whole)}.{int((seconds - whole) * 1e3):03}Z"


@lru_cache(maxsize=8)  # many lines of one second
def _second(whole: int) -> str:
    return datetime.fromtimestamp(whole, UTC).isoformat(timespec="seconds").removesuffix("+00:00")


def _json(told: Mapping[str, Any]) -> str:
    """Return what the module `json` does, in half the time where values are texts and numbers."""
    return (
        "{" + ", ".join([f"{_quoted(key)}: {_value(value)}" for key, value in told.items()]) + "}"
    )


def _value(value: Any) -> str:
    kind = type(value)
    if kind is str:
        return _quoted(value)
    if kind is int or (kind is float and isfinite(value)):
        return repr(value)
    return _JSON.encode(value)


def _text(told: dict[str, Any]) -> str:
    error = told.pop("error", None)
    head = [told.pop(key) for key in ("time", "level", "logger", "message")]
    line = " ".join([head[0], head[1].upper(), f"{head[2]}:", head[3]])
    line += "".join(f" {key}={value}" for key, value in told.items())
    if error is not None:
        said = f": {error['message']}" if "message" in error else ""
        line += "".join(f"\n  {each}" for each in (*error["at"], f"{error['type']}{said}"))
    return line


@contextmanager
def logging_to(settings: Settings, stream: TextIO | None = None) -> Iterator[None]:
    """Log as the settings say meanwhile; on stderr by default.

    The level is that of our own lines; of other packages warnings are written.
    """
    lines = Lines(as_json=settings.log_format == "json", with_text=settings.log_text)
    handler = LogQueue(stream, lines)
    root, ours = logging.getLogger(), logging.getLogger("remembrancer")
    before = ours.level
    ours.setLevel(settings.log_level.upper())
    root.addHandler(handler)
    try:
        yield
    finally:
        root.removeHandler(handler)
        handler.close()
        ours.setLevel(before)
