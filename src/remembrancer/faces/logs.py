"""What servers and workers log on stderr: lines of text or of JSON, without what was said.

An error's own words may quote a memory, so of errors the kind and the place are written alone,
unless the setting `log_text` allows the words or they come from the system.
"""

from __future__ import annotations

import json
import logging
import sqlite3
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Any, TextIO

from ..nouns.spans import current_ids
from ..settings import Settings
from .request_ids import current

FIELDS = "fields"
"""The key of `extra` under which a call of a logger hands over values of its own."""

_SYSTEM = (OSError, MemoryError, sqlite3.Error)
_FRAMES = 20


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
        """Return the line."""
        told: dict[str, Any] = {
            "time": _spelled(record.created),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
        }
        if (request := current.get()) is not None:
            told["request_id"] = request
        if (ids := current_ids()) is not None:
            told["trace_id"], told["span_id"] = ids
        told |= getattr(record, FIELDS, {})
        if record.exc_info and record.exc_info[1] is not None:
            told["error"] = self._error(record.exc_info[1])
        return json.dumps(told, ensure_ascii=False, default=str) if self._as_json else _text(told)

    def _error(self, error: BaseException) -> dict[str, Any]:
        frames = traceback.extract_tb(error.__traceback__)[-_FRAMES:]
        told: dict[str, Any] = {"type": type(error).__name__}
        if self._with_text or isinstance(error, _SYSTEM):
            told["message"] = str(error)
        told["at"] = [f"{f.filename}:{f.lineno} {f.name}" for f in frames]
        return told


def _spelled(seconds: float) -> str:
    said = datetime.fromtimestamp(seconds, UTC).isoformat(timespec="milliseconds")
    return said.replace("+00:00", "Z")


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
    handler = logging.StreamHandler(stream)
    lines = Lines(as_json=settings.log_format == "json", with_text=settings.log_text)
    handler.setFormatter(lines)
    root, ours = logging.getLogger(), logging.getLogger("remembrancer")
    before = ours.level
    ours.setLevel(settings.log_level.upper())
    root.addHandler(handler)
    try:
        yield
    finally:
        root.removeHandler(handler)
        ours.setLevel(before)
