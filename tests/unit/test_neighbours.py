"""Turns before and after answers: whose, how many, in which order, within which budget."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path

import pytest

from remembrancer import AsyncMemory, InvalidInput
from remembrancer.faces.library.memory import make_settings
from remembrancer.faces.library.results import Found
from remembrancer.finding.tagging import AllOf, AnyOf, NoneOf, TagFilter, TagMatch
from remembrancer.nouns.ids import parse_id
from remembrancer.nouns.memory import BankRef
from remembrancer.verbs.curate import Edit
from remembrancer.verbs.recalling.neighbours import MOST, has_tags

REF = BankRef("default", "default")

LINES = (
    "The ferry is late again.",
    "Aksel mended the green kite.",
    "It flew over the harbour.",
    "Then the rain began.",
    "We drank tea at home.",
)
KITE = "Who mended the green kite?"


@asynccontextmanager
async def told(folder: Path) -> AsyncIterator[AsyncMemory]:
    async with AsyncMemory(make_settings(folder, {"embedder": "none"})) as memory:
        chat = [{"role": "user", "content": line} for line in LINES]
        await memory.retain(chat, document="kite")
        await memory.retain("Snow fell in March.", document="other", bank="else")
        yield memory


async def first(memory: AsyncMemory, near: int, query: str = KITE, **more: object) -> Found:
    found = await memory.recall(query, limit=1, neighbours=near, **more)  # type: ignore[arg-type]
    answer: Found = found[0]
    return answer


def texts(found: Found) -> tuple[list[str], list[str]]:
    return [m.text for m in found.before], [m.text for m in found.after]


async def test_so_many_turns_on_either_side_in_order(tmp_path: Path) -> None:
    async with told(tmp_path) as memory:
        assert texts(await first(memory, 0)) == ([], [])
        assert texts(await first(memory, 1)) == ([LINES[0]], [LINES[2]])
        assert texts(await first(memory, 3)) == ([LINES[0]], list(LINES[2:5]))
        with pytest.raises(InvalidInput, match="neighbours must be from 0 to 10"):
            await first(memory, MOST + 1)


async def test_an_answer_is_no_neighbour_and_a_neighbour_stands_once(tmp_path: Path) -> None:
    async with told(tmp_path) as memory:
        found = await memory.recall("green kite, rain began", limit=2, neighbours=2)
        assert sorted(each.text for each in found) == sorted((LINES[1], LINES[3]))
        shown = [near.text for each in found for near in (*each.before, *each.after)]
        assert sorted(shown) == sorted((LINES[0], LINES[2], LINES[4]))


async def test_what_is_forgotten_or_taken_out_is_not_there(tmp_path: Path) -> None:
    async with told(tmp_path) as memory:
        found = await first(memory, 1)
        await memory.forget(ids=[found.after[0].id])
        found = await first(memory, 1)
        assert texts(found) == ([LINES[0]], [])
        gone = Edit(invalid=True)
        await memory.app.curate(REF, parse_id(found.before[0].id), gone)
        assert texts(await first(memory, 1)) == ([], [])


async def test_the_budget_is_kept_the_nearest_first(tmp_path: Path) -> None:
    async with told(tmp_path) as memory:
        bare = await memory.recall(KITE, limit=1)
        whole = await memory.recall(KITE, limit=1, neighbours=3)
        assert whole.tokens > bare.tokens
        tight = await memory.recall(KITE, limit=1, neighbours=3, max_tokens=bare.tokens + 15)
        assert bare.tokens < tight.tokens <= bare.tokens + 15
        assert texts(tight[0]) == ([LINES[0]], [])
        none = await memory.recall(KITE, limit=1, neighbours=3, max_tokens=bare.tokens)
        assert texts(none[0]) == ([], [])


async def test_tags_and_the_time_asked_about_bind_neighbours_too(tmp_path: Path) -> None:
    async with told(tmp_path) as memory:
        said = "[2024-01-02 10:00] Bo: {}\n[2024-03-02 10:00] Bo: {}"
        await memory.retain(said.format("The lamp broke.", "It works again."), document="lamp")
        then = datetime(2024, 2, 1, tzinfo=UTC)
        assert texts(await first(memory, 1, "lamp broke")) == ([], ["It works again."])
        assert texts(await first(memory, 1, "lamp broke", as_of=then)) == ([], [])
        await memory.retain("Blue paint is out.", bank="paint", document="paint", tags=["shed"])
        await memory.retain("Get more.", bank="paint", document="paint", update_mode="append")
        asked = {"bank": "paint", "tags": ["shed"]}
        for match, shown in (("any", ["Get more."]), ("any_strict", [])):
            found = await first(memory, 1, "blue paint", tags_match=match, **asked)
            assert texts(found) == ([], shown)


async def test_several_banks(tmp_path: Path) -> None:
    snow = "Snow fell in March."
    async with told(tmp_path) as memory:
        found = {
            each.text: texts(each)
            for each in await memory.recall("snow", banks=["default", "else"], neighbours=1)
        } | {
            each.text: texts(each)
            for each in await memory.recall(KITE, banks=["else", "default"], limit=1, neighbours=1)
        }
        assert found == {snow: ([], []), LINES[1]: ([LINES[0]], [LINES[2]])}


def test_tags_are_met_as_the_index_has_it() -> None:
    one, both, none = ("a",), ("a", "b"), ()
    met = {
        TagMatch.ANY: (True, True, True),
        TagMatch.ALL: (False, True, True),
        TagMatch.ANY_STRICT: (True, True, False),
        TagMatch.ALL_STRICT: (False, True, False),
        TagMatch.EXACT: (False, True, False),
    }
    for match, expected in met.items():
        wanted = TagFilter(("a", "b"), match)
        assert tuple(has_tags(tags, wanted) for tags in (one, both, none)) == expected
    strict = TagFilter(("b",), TagMatch.ANY_STRICT)
    assert not has_tags(both, NoneOf(strict))
    assert has_tags(both, AllOf([strict, TagFilter(("a",))]))
    assert not has_tags(one, AnyOf([strict]))
