"""Lines that are gathered: as any others, in order, written at once when they warn, and bounded."""

from __future__ import annotations

import io
import json
import logging
import threading
from collections.abc import Iterator
from typing import Any

import pytest

from remembrancer.faces.log_queue import FIELDS, LogQueue, tell
from remembrancer.faces.logs import Lines
from remembrancer.faces.request_ids import current

JSON = Lines(as_json=True, with_text=False)


class Stream(io.StringIO):
    """A stream whose reader may stall, or whose disk may be full."""

    def __init__(self) -> None:
        super().__init__()
        self.taken = threading.Event()
        self.stalled = threading.Event()
        self.goes_on = threading.Event()
        self.goes_on.set()
        self.fails = 0
        self.writes = 0

    def write(self, text: str) -> int:
        self.stalled.set()
        assert self.goes_on.wait(10)
        self.writes += 1
        if self.fails:
            self.fails -= 1
            raise OSError("disk full")
        written = super().write(text)
        self.taken.set()
        return written

    def messages(self) -> list[str]:
        return [json.loads(line)["message"] for line in self.getvalue().splitlines()]


def _spelled(text: str, more: dict[str, Any] | None = None) -> tuple[str, dict[str, Any]]:
    return text, more or {}


@pytest.fixture
def stream() -> Stream:
    return Stream()


@pytest.fixture
def queue(stream: Stream) -> Iterator[LogQueue]:
    made = LogQueue(stream, JSON, waiting=4)
    yield made
    stream.goes_on.set()
    made.close()


@pytest.fixture
def log(queue: LogQueue) -> logging.Logger:
    """A logger that nobody else listens to, pytest neither."""
    made = logging.Logger("remembrancer.tests.queue", "INFO")
    made.addHandler(queue)
    return made


def test_a_line_told_is_as_one_logged(log: logging.Logger, queue: LogQueue, stream: Stream) -> None:
    more = {
        "bank": 'a"b\n\u2028ä',
        "ms": 0.07,
        "bad": float("inf"),
        "n": 3,
        "on": True,
        "x": [None],
    }
    token = current.set("order-7")
    tell(log, _spelled, "GET /x", more)
    log.info("GET /x", extra={FIELDS: more})
    current.reset(token)
    queue.flush()
    told, logged = (json.loads(line) for line in stream.getvalue().split("\n") if line)
    assert told.pop("time") <= logged.pop("time")
    assert told == logged
    assert told["request_id"] == "order-7"
    for line in stream.getvalue().rstrip("\n").split("\n"):
        assert json.dumps(json.loads(line), ensure_ascii=False) == line


def test_others_who_listen_hear_every_line(
    log: logging.Logger, queue: LogQueue, stream: Stream
) -> None:
    heard: list[logging.LogRecord] = []
    other = logging.Handler()
    other.emit = heard.append  # type: ignore[method-assign, assignment]
    log.addHandler(other)
    tell(log, _spelled, "one", {"n": 1})
    log.removeHandler(other)
    tell(log, _spelled, "two")
    quiet = logging.Logger(log.name, "WARNING")
    quiet.addHandler(queue)
    tell(quiet, _spelled, "three")
    queue.flush()
    assert [(r.getMessage(), getattr(r, FIELDS), r.funcName) for r in heard] == [
        ("one", {"n": 1}, "test_others_who_listen_hear_every_line")
    ]
    assert stream.messages() == ["one", "two"]


def test_lines_are_written_without_anybody_asking(log: logging.Logger, stream: Stream) -> None:
    for text in ("one", "two"):
        stream.taken.clear()
        tell(log, _spelled, text)
        assert stream.taken.wait(10)
    assert stream.messages() == ["one", "two"]


def test_a_warning_is_there_at_once_after_what_came_before(
    log: logging.Logger, stream: Stream
) -> None:
    tell(log, _spelled, "one")
    log.warning("two")
    assert stream.messages() == ["one", "two"]
    assert stream.writes == 1


def test_who_does_not_read_holds_nobody_up(
    log: logging.Logger, queue: LogQueue, stream: Stream
) -> None:
    stream.goes_on.clear()
    stream.stalled.clear()
    tell(log, _spelled, "zero")
    assert stream.stalled.wait(10)  # the thread is writing, and waits
    for text in ("one", "two", "three", "four", "five"):
        tell(log, _spelled, text)
    log.warning("six")
    assert queue.dropped == 2
    stream.goes_on.set()
    queue.flush()
    assert stream.messages() == ["zero", "two", "three", "four", "six"]


def test_a_line_that_cannot_be_written_does_not_end_the_log(
    log: logging.Logger, stream: Stream, capsys: pytest.CaptureFixture[str]
) -> None:
    stream.fails = 1
    log.warning("one")
    log.warning("two %d", "no number")
    log.warning("three")
    assert stream.messages() == ["three"]
    said = capsys.readouterr().err
    assert "disk full" in said
    assert "no number" in said


def test_nothing_is_left_at_the_end(stream: Stream) -> None:
    queue = LogQueue(stream, JSON)
    for text in ("one", "two"):
        queue.tell("x", _spelled, (text,))
    queue.close()
    assert stream.messages() == ["one", "two"]


def test_what_is_told_after_the_last_look_is_written_at_the_end(
    stream: Stream, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(LogQueue, "_run", lambda self: None)  # it has looked for the last time
    late = LogQueue(stream, JSON)
    late.tell("late", _spelled, ("the last line",))
    late.close()
    assert stream.messages() == ["the last line"]
