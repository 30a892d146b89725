"""Gathers lines of log and writes them together, from a thread of its own.

So a request neither spells its line nor waits for whoever reads the log. What warns is written at
once, with all that came before it.
"""

from __future__ import annotations

import logging
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, Protocol, TextIO

from ..nouns.spans import current_ids, tracing
from .request_ids import current

FIELDS = "fields"
"""The key of `extra` under which a call of a logger hands over values of its own."""

WAITING = 10_000
"""Lines that wait at most; what comes while nobody takes them is dropped, and counted."""

Spell = Callable[..., tuple[str, dict[str, Any]]]
"""Makes a line's message and its own values of what was handed over."""

_GATHER_S = 0.2  # for which lines are gathered
_TOGETHER = 50  # lines a write
_LEAVE_S = 5.0  # for which the end waits for a reader that has stalled


Told = tuple[float, str | None, tuple[str, str] | None, str, Spell, tuple[Any, ...]]
"""A line at the level info that is to be spelled: the seconds since 1970, the ids of the request
and of trace and span that it was told in, the logger's name, what spells it, and of what."""


class Moment(NamedTuple):
    """When and under which request and span (trace, span) a line was told."""

    seconds: float
    request: str | None
    ids: tuple[str, str] | None


class Liner(Protocol):
    """Spells lines."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the line of a record."""
        ...

    def line(
        self, moment: Moment, level: str, name: str, message: str, more: Mapping[str, Any]
    ) -> str:
        """Return the line of what a logger of this name was told."""
        ...


class LogQueue(logging.Handler):
    """A handler that writes to a stream, in the order in which it was told.

    Args:
        stream: what is written to; default: stderr.
        liner: spells the lines.
        waiting: lines that wait at most.
    """

    def __init__(self, stream: TextIO | None, liner: Liner, *, waiting: int = WAITING) -> None:
        super().__init__()
        self._stream = stream or sys.stderr
        self._liner = liner
        self._most = waiting
        self._waiting: deque[Told | str] = deque()
        self._wake = threading.Event()
        self._sleeps = True
        self._leave = threading.Event()
        self._writing = threading.Lock()
        self._thread = threading.Thread(target=self._run, name="log", daemon=True)
        self._thread.start()
        self.dropped = 0

    def tell(self, name: str, spell: Spell, args: tuple[Any, ...]) -> None:
        """Take a line at the level info, which is spelled later; `args` must not change."""
        waiting = self._waiting
        if len(waiting) >= self._most:
            self.dropped += 1
            return
        ids = current_ids() if tracing() else None
        waiting.append((time.time(), current.get(), ids, name, spell, args))
        if self._sleeps:
            self._sleeps = False
            self._wake.set()

    def emit(self, record: logging.LogRecord) -> None:
        """Take a record, and write it at once if it warns."""
        try:
            line = self._liner.format(record)
        except Exception:  # as logging's own handlers
            self.handleError(record)
            return
        warns = record.levelno >= logging.WARNING
        if len(self._waiting) >= self._most:
            self.dropped += 1
            if not warns:
                return
            self._waiting.popleft()
        self._waiting.append(line)
        self._wake.set()
        # Whoever writes now, takes this line as well.
        if warns and self._writing.acquire(blocking=False):
            try:
                self._write()
            finally:
                self._writing.release()

    def flush(self) -> None:
        """Write what waits; a reader that has stalled is waited for, but not for ever."""
        if self._writing.acquire(timeout=_LEAVE_S):
            try:
                self._write()
            finally:
                self._writing.release()

    def close(self) -> None:
        """Write what waits, and end the thread."""
        self._leave.set()
        self._wake.set()
        self._thread.join(_LEAVE_S)
        if not self._thread.is_alive():  # what came after its last look
            self.flush()
        super().close()

    def _run(self) -> None:
        while not self._leave.is_set():
            self._wake.wait()
            self._leave.wait(_GATHER_S)
            self._wake.clear()
            self._sleeps = True  # before the lines are taken: what comes later wakes again
            with self._writing:
                self._write()

    def _write(self) -> None:
        """Write what waits; the caller holds `_writing`."""
        while self._waiting:
            count = min(len(self._waiting), _TOGETHER)
            told = [self._waiting.popleft() for _ in range(count)]
            try:
                self._stream.write("".join(f"{self._spelled(each)}\n" for each in told))
                self._stream.flush()
            except Exception:  # a full disk, a stream that was closed: the next lines may pass
                self.handleError(logging.makeLogRecord({"msg": "lines of log are lost"}))

    def _spelled(self, told: Told | str) -> str:
        if isinstance(told, str):
            return told
        seconds, request, ids, name, spell, args = told
        message, more = spell(*args)
        return self._liner.line(Moment(seconds, request, ids), "INFO", name, message, more)


def tell(log: logging.Logger, spell: Spell, *args: Any) -> None:
    """Log a line at the level info, for as little as can be: it is spelled when it is written.

    Where others than a `LogQueue` listen to the logger, it is logged as any other line.

    Args:
        log: the logger.
        spell: makes the message and values of the line's own.
        args: what `spell` gets; they must not change.
    """
    if not log.isEnabledFor(logging.INFO):
        return
    queue = _alone(log)
    if queue is not None:
        queue.tell(log.name, spell, args)
        return
    message, more = spell(*args)
    log.info(message, extra={FIELDS: more}, stacklevel=2)


def dropped() -> int:
    """Return how many lines this process has dropped since nobody took them."""
    queues = logging.getLogger().handlers
    return sum(each.dropped for each in queues if isinstance(each, LogQueue))


def _alone(log: logging.Logger) -> LogQueue | None:
    """Return the queue that gets what a logger is told, if nothing else does or looks at it."""
    if log.filters or log.disabled:
        return None
    found: LogQueue | None = None
    at: logging.Logger | None = log
    while at is not None:
        for handler in at.handlers:
            if found is not None or not isinstance(handler, LogQueue) or handler.filters:
                return None
            found = handler
        at = at.parent if at.propagate else None
    return found
