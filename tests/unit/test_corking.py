"""The head of an answer leaves with the first of its body, and never later than its turn."""

from __future__ import annotations

import asyncio
from typing import cast

from remembrancer.faces.http.corking import Corked

HEAD = b"HTTP/1.1 200 OK\r\n\r\n"


class Wire:
    """A transport that notes what it is told."""

    def __init__(self) -> None:
        self.told: list[bytes | str] = []

    def write(self, data: bytes) -> None:
        self.told.append(data)

    def close(self) -> None:
        self.told.append("close")

    def abort(self) -> None:
        self.told.append("abort")

    def get_write_buffer_size(self) -> int:
        return 1

    def is_closing(self) -> bool:
        return "close" in self.told


def corked() -> tuple[Wire, Corked]:
    """Return a transport and what holds its heads back, on the running loop."""
    wire = Wire()
    return wire, Corked(cast(asyncio.Transport, wire), asyncio.get_running_loop())


async def test_head_and_body_leave_together_and_what_follows_alone() -> None:
    wire, held = corked()
    for data in (HEAD, b"body", b"more"):
        held.write(data)
    await asyncio.sleep(0)
    assert wire.told == [HEAD + b"body", b"more"]


async def test_a_head_waits_for_no_later_turn() -> None:
    wire, held = corked()
    held.write(HEAD)
    assert (wire.told, held.get_write_buffer_size()) == ([], len(HEAD) + 1)
    await asyncio.sleep(0)
    held.write(b"first event")
    assert wire.told == [HEAD, b"first event"]


async def test_what_is_held_is_sent_before_the_end() -> None:
    wire, held = corked()
    held.write(HEAD)
    held.close()
    assert wire.told == [HEAD, "close"]
    assert held.is_closing()


async def test_what_is_held_is_dropped_where_all_is() -> None:
    wire, held = corked()
    held.write(HEAD)
    held.abort()
    await asyncio.sleep(0)
    assert wire.told == ["abort"]


async def test_two_answers_in_one_turn_stand_in_order() -> None:
    wire, held = corked()
    for data in (HEAD, HEAD, b"body"):  # the first has no body
        held.write(data)
    await asyncio.sleep(0)
    assert b"".join(d for d in wire.told if isinstance(d, bytes)) == HEAD + HEAD + b"body"
