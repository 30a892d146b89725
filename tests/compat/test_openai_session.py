"""The Agents SDK's session: what its own SQLite session does, ours does; and what is ours alone."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from agents.memory import Session, SessionABC, SessionSettings, SQLiteSession

import remembrancer
from remembrancer.compat.openai_agents import RemembrancerSession

ITEMS: list[Any] = [
    {"role": "user", "content": "What is the draught? é 🙂"},
    {"type": "function_call", "call_id": "c1", "name": "gauge", "arguments": '{"at": "bow"}'},
    {"type": "function_call_output", "call_id": "c1", "output": "1.2 m"},
    {"role": "assistant", "content": [{"type": "output_text", "text": "1.2 m", "annotations": []}]},
    {"role": "user", "content": "", "extra": {"n": 1.5, "none": None, "yes": True, "list": [[]]}},
]


@pytest.fixture(params=["theirs", "ours"])
def session(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[SessionABC]:
    if request.param == "theirs":
        theirs = SQLiteSession("talk", tmp_path / "theirs.db")
        yield theirs
        theirs.close()
        return
    ours = RemembrancerSession("talk", tmp_path, embedder="none")
    yield ours
    ours.close()


def test_items_come_back_exactly_and_in_order(session: SessionABC) -> None:
    async def use() -> None:
        assert isinstance(session, Session)
        assert await session.get_items() == []
        await session.add_items(ITEMS[:2])
        await session.add_items([])
        await session.add_items(ITEMS[2:])
        assert await session.get_items() == ITEMS
        for limit in (1, 3, 5, 9):
            assert await session.get_items(limit) == ITEMS[-limit:]
        assert await session.get_items(limit=0) == []

    asyncio.run(use())


def test_pop_takes_the_last(session: SessionABC) -> None:
    async def use() -> None:
        assert await session.pop_item() is None
        await session.add_items(ITEMS)
        assert await session.pop_item() == ITEMS[-1]
        assert await session.pop_item() == ITEMS[-2]
        await session.add_items(ITEMS[:1])
        assert await session.get_items() == [*ITEMS[:3], ITEMS[0]]

    asyncio.run(use())


def test_clear_leaves_nothing(session: SessionABC) -> None:
    async def use() -> None:
        await session.add_items(ITEMS)
        await session.clear_session()
        assert await session.get_items() == []
        assert await session.pop_item() is None
        await session.add_items(ITEMS[:1])
        assert await session.get_items() == ITEMS[:1]

    asyncio.run(use())


def test_long_conversations_come_whole(session: SessionABC) -> None:
    async def use() -> None:
        many: list[Any] = [{"role": "user", "content": str(number)} for number in range(1_203)]
        await session.add_items(many)
        assert await session.get_items() == many
        assert await session.get_items(700) == many[-700:]
        await session.clear_session()
        assert await session.get_items() == []

    asyncio.run(use())


class TestOurs:
    def test_sessions_and_banks_are_apart_and_durable(self, tmp_path: Path) -> None:
        async def use() -> None:
            with remembrancer.open(tmp_path, embedder="none") as memory:
                one = RemembrancerSession("a", memory)
                await one.add_items(ITEMS[:1])
                for other in (
                    RemembrancerSession("b", memory),
                    RemembrancerSession("a", memory, bank="x"),
                ):
                    assert await other.get_items() == []
                    await other.add_items(ITEMS[1:2])
                    await other.clear_session()
            with remembrancer.open(tmp_path, embedder="none") as memory:
                assert await RemembrancerSession("a", memory).get_items() == ITEMS[:1]

        asyncio.run(use())

    def test_items_added_at_once_keep_their_order_and_none_is_lost(self, tmp_path: Path) -> None:
        async def use() -> None:
            with remembrancer.open(tmp_path, embedder="none") as memory:
                sessions = [RemembrancerSession("a", memory) for _ in range(4)]
                pairs: list[list[Any]] = [
                    [{"role": "user", "content": f"{i}"}, {"role": "assistant", "content": f"{i}"}]
                    for i in range(12)
                ]
                await asyncio.gather(*(sessions[i % 4].add_items(p) for i, p in enumerate(pairs)))
                found: list[Any] = await sessions[0].get_items()
                assert len(found) == 24
                for first, second in zip(found[::2], found[1::2], strict=True):
                    assert first["content"] == second["content"]
                    assert (first["role"], second["role"]) == ("user", "assistant")

        asyncio.run(use())

    def test_what_is_taken_or_cleared_is_gone_from_the_rows(self, tmp_path: Path) -> None:
        async def use() -> None:
            async with RemembrancerSession("a", tmp_path, embedder="none") as session:
                await session.add_items([{"role": "user", "content": "xylograph one"}])
                await session.add_items([{"role": "user", "content": "xylograph two"}])
                await session.pop_item()
                await session.clear_session()

        asyncio.run(use())
        with closing(sqlite3.connect(tmp_path / "memory.db")) as db:
            assert not any("xylograph" in line for line in db.iterdump())

    def test_the_settings_limit_what_is_read(self, tmp_path: Path) -> None:
        async def use() -> None:
            settings = SessionSettings(limit=2)
            async with RemembrancerSession(
                "a", tmp_path, session_settings=settings, embedder="none"
            ) as session:
                await session.add_items(ITEMS)
                assert await session.get_items() == ITEMS[-2:]
                assert await session.get_items(limit=3) == ITEMS[-3:]

        asyncio.run(use())

    def test_what_cannot_be_kept_is_refused_whole(self, tmp_path: Path) -> None:
        async def use() -> None:
            async with RemembrancerSession("a", tmp_path, embedder="none") as session:
                bad: list[Any] = [ITEMS[0], {"n": float("nan")}]
                with pytest.raises(ValueError, match=r"items\[1\]"):
                    await session.add_items(bad)
                assert await session.get_items() == []
            async with RemembrancerSession("", tmp_path, embedder="none") as nameless:
                with pytest.raises(ValueError, match="session_id"):
                    await nameless.get_items()

        asyncio.run(use())
