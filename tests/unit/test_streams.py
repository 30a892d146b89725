"""Streams over a store whose clock is set by hand: what is committed late, how many, the end."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from datetime import datetime, timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from remembrancer.faces.http.errors import Refused
from remembrancer.faces.http.intention_stream import AGAIN_US, Streams
from remembrancer.keeping.intentions import IntentionBatch
from remembrancer.keeping.sqlite import SqliteStore
from remembrancer.nouns.clock import FixedClock, to_us
from remembrancer.nouns.ids import IdMaker
from remembrancer.nouns.intention import Intention, Occurrence, TriggerType
from remembrancer.nouns.memory import BankRef

NOW = to_us(datetime(2026, 5, 4, 9))
REF = BankRef("default", "bank")
FIRST = (-(2**62), b"")


class House:
    def __init__(self, store: SqliteStore, clock: FixedClock, most: int) -> None:
        self.store, self.clock, self.ids = store, clock, IdMaker(clock)
        watch = SimpleNamespace(on_due=[])
        app: Any = SimpleNamespace(store=store, clock=clock, watch=watch)
        self.streams = Streams(app, most)
        self.told = watch.on_due

    async def due(self, *contents: str, ready_at: int = NOW) -> None:
        """Put occurrences that are to be offered from a time on."""
        made = [Intention(self.ids.new(), c, TriggerType.TIME, NOW, NOW) for c in contents]
        occurrences = [
            Occurrence(self.ids.new(), i.id, "1", NOW, NOW, NOW, ready_at=ready_at) for i in made
        ]
        await self.store.intend(REF, IntentionBatch(put=made, occurrences=occurrences))
        for told in self.told:
            told(REF)

    def open(self, place: tuple[int, bytes] = FIRST) -> AsyncIterator[bytes]:
        return self.streams.run(REF, place, None)


def run(folder: Path, scene: Any, most: int = 2) -> None:
    async def main() -> None:
        clock = FixedClock(NOW)
        store = SqliteStore(folder, clock=clock)
        await store.open()
        try:
            await scene(House(store, clock, most))
        finally:
            await store.close()

    asyncio.run(main())


async def content(stream: AsyncIterator[bytes]) -> str:
    event = await anext(stream)
    if event.startswith(b"retry"):
        event = await anext(stream)
    lines = dict(line.split(": ", 1) for line in event.decode().strip().split("\n"))
    told: str = json.loads(lines["data"])["data"]["content"]
    return told


def test_what_is_committed_a_little_late_is_not_skipped(tmp_path: Path) -> None:
    async def scene(h: House) -> None:
        stream = h.open()
        await h.due("first")
        assert await content(stream) == "first"
        h.clock.advance(timedelta(seconds=1))
        await h.due("later", ready_at=NOW + 900_000)
        assert await content(stream) == "later"
        await h.due("late", ready_at=NOW + 100_000)
        assert await content(stream) == "late"
        h.clock.advance(timedelta(microseconds=2 * AGAIN_US))
        await h.due("last", ready_at=NOW + 1_000_000 + 2 * AGAIN_US)
        assert await content(stream) == "last"
        await stream.aclose()  # type: ignore[attr-defined]

    run(tmp_path, scene)


def test_what_is_made_long_after_its_time_reaches_an_open_stream_once(tmp_path: Path) -> None:
    async def scene(h: House) -> None:
        stream = h.open()
        await h.due("first")
        assert await content(stream) == "first"
        h.clock.advance(timedelta(seconds=60))
        await h.due("now", ready_at=NOW + 60_000_000)
        assert await content(stream) == "now"
        await h.due("an hour late", ready_at=NOW - 3_600_000_000)
        assert await content(stream) == "an hour late"
        h.clock.advance(timedelta(seconds=60))
        await h.due("next", ready_at=NOW + 120_000_000)
        assert await content(stream) == "next"
        await h.due("late too", ready_at=NOW - 1)
        assert await content(stream) == "late too"

    run(tmp_path, scene)


def test_one_that_comes_back_is_not_sent_again_what_it_has_passed(tmp_path: Path) -> None:
    async def scene(h: House) -> None:
        await h.due("first", "second")
        h.clock.advance(timedelta(seconds=60))
        stream = h.open((NOW + 30_000_000, b""))
        assert (await anext(stream)).startswith(b"retry")
        await h.due("late", ready_at=NOW - 1)
        await h.due("now", ready_at=NOW + 60_000_000)
        assert await content(stream) == "now"
        await h.due("later still", ready_at=NOW - 2)
        assert await content(stream) == "later still"

    run(tmp_path, scene)


def test_each_is_sent_once_though_the_last_seconds_are_looked_at_again(tmp_path: Path) -> None:
    async def scene(h: House) -> None:
        stream = h.open()
        contents = [f"n{n}" for n in range(1_200)]  # more than a page
        await h.due(*contents)
        assert sorted([await content(stream) for _ in contents]) == sorted(contents)
        await h.due("one more")
        assert await content(stream) == "one more"
        await stream.aclose()  # type: ignore[attr-defined]

    run(tmp_path, scene)


def test_there_are_so_many_at_most_and_a_closed_one_makes_room(tmp_path: Path) -> None:
    async def scene(h: House) -> None:
        streams = [h.open(), h.open()]
        for stream in streams:
            h.streams.check_room()
            await anext(stream)
        with pytest.raises(Refused) as refused:
            h.streams.check_room()
        assert refused.value.status == 503
        await streams[0].aclose()  # type: ignore[attr-defined]
        h.streams.check_room()
        await streams[1].aclose()  # type: ignore[attr-defined]

    run(tmp_path, scene)


def test_streams_end_with_the_server(tmp_path: Path) -> None:
    async def scene(h: House) -> None:
        stream = h.open()
        await anext(stream)
        waiting = asyncio.ensure_future(anext(stream))
        await asyncio.sleep(0)
        h.streams.close()
        with pytest.raises(StopAsyncIteration):
            await waiting
        with pytest.raises(Refused):
            h.streams.check_room()

    run(tmp_path, scene)
