"""Putting text after the end of a document, by many at once, once each."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path

import pytest
from retain_kit import LINES, REF, item, opened, stored, talk

from remembrancer.nouns.errors import Conflict, InvalidInput
from remembrancer.nouns.memory import Job, JobState
from remembrancer.nouns.text import BLACKED, REDACTED, shown
from remembrancer.verbs.retaining.units import content_hash

SAID = 1_700_000_000_000_000


def more(content: str, name: str | None = "d", **rest):
    return item(content, name, append=True, **rest)


def test_what_is_appended_comes_after_and_the_rest_stays(tmp_path: Path) -> None:
    async def main() -> None:
        async with opened(tmp_path) as app:
            first = item(talk(*LINES[:4]), timestamp=SAID, tags=("red",), metadata={"a": "1"})
            await app.retain(REF, [first])
            before = await stored(app, "d")
            added = more(talk(*LINES[4:6]), timestamp=SAID + 10**9, tags=("blue",), note="later")
            done = await app.retain(REF, [added])
            assert (done.sources, done.chunks, done.chunks_read) == (2, 2, 1)
            after = await stored(app, "d")
            assert after.text == talk(*LINES[:4]) + "\n" + talk(*LINES[4:6])
            assert after.document.length == len(after.text)
            assert after.sources[:4] == before.sources
            assert [row.unit.turn for row in after.sources] == list(range(6))
            for row in after.sources[4:]:
                unit = row.unit
                chunk = after.text[len(talk(*LINES[:4])) :]
                assert chunk[unit.start : unit.end] == unit.text
                assert 0 <= unit.mentioned_at - SAID - 10**9 < 10
                assert (unit.tags, unit.note, unit.chunk_index) == (("blue",), "later", 1)
            assert after.document.tags == ("red", "blue")
            assert after.document.metadata == {"a": "1"}
            assert after.document.created_at == before.document.created_at
            # told as a whole, it is the same document
            assert after.document.content_hash == content_hash([first, replace(added)])
            whole = await app.retain(REF, [first, replace(added, append=False)])
            assert whole.unchanged == ["d"]

    asyncio.run(main())


def test_appending_to_what_is_not_there_makes_it(tmp_path: Path) -> None:
    async def main() -> None:
        async with opened(tmp_path) as app:
            await app.retain(REF, [more("I like figs."), more("I like plums.")])
            assert (await stored(app, "d")).text == "I like figs.\nI like plums."

    asyncio.run(main())


def test_many_at_once_all_come_in_once(tmp_path: Path) -> None:
    async def main() -> None:
        async with opened(tmp_path) as app:
            await app.retain(REF, [item("It begins.")])
            works = [app.retain(REF, [more(f"Number {n} was here today.")]) for n in range(8)]
            await asyncio.gather(*works)
            state = await stored(app, "d")
            assert state.text.split("\n")[0] == "It begins."
            said = sorted(row.unit.text for row in state.sources[1:])
            assert said == [f"Number {n} was here today." for n in range(8)]
            assert sorted(state.text.split("\n")[1:]) == said
            assert [row.unit.turn for row in state.sources] == list(range(9))
            assert "reading" not in state.document.params

    asyncio.run(main())


def test_after_three_tries_it_is_a_conflict(tmp_path: Path, monkeypatch) -> None:
    async def main() -> None:
        async with opened(tmp_path) as app:
            await app.retain(REF, [item("It begins.")])
            plan = app.retain._planner.append
            tries = 0

            async def late(ref, name, items, **rest):
                nonlocal tries
                tries += 1
                made = await plan(ref, name, items, **rest)
                other = await plan(ref, name, [more(f"Somebody else, {tries}.")])
                await app.store.apply(ref, other.batch)
                return made

            monkeypatch.setattr(app.retain._planner, "append", late)
            with pytest.raises(Conflict) as caught:
                await app.retain(REF, [more("Never there.")])
            assert tries == 3
            assert caught.value.field == "document_id"
            state = await stored(app, "d")
            assert "Never there" not in state.text
            assert len(state.sources) == 4

    asyncio.run(main())


def test_replacing_wins_whatever_others_do(tmp_path: Path, monkeypatch) -> None:
    async def main() -> None:
        async with opened(tmp_path) as app:
            await app.retain(REF, [item("It begins.")])
            plan = app.retain._planner.replace
            count = 0

            async def late(ref, name, items, **rest):
                nonlocal count
                count += 1
                made = await plan(ref, name, items, **rest)
                other = await plan(ref, name, [item(f"Somebody else, {count}.")])
                await app.store.apply(ref, other.batch)
                return made

            monkeypatch.setattr(app.retain._planner, "replace", late)
            await app.retain(REF, [item("I have the last word.")])
            assert (await stored(app, "d")).text == "I have the last word."

    asyncio.run(main())


def test_a_job_that_runs_again_appends_nothing_more(tmp_path: Path, monkeypatch) -> None:
    async def main() -> None:
        async with opened(tmp_path) as app:
            await app.retain(REF, [item("It begins.")])
            queued = await app.queued.enqueue(REF, [more(talk(*LINES[:5]))])
            fence = await _claimed(app, queued)

            async def killed(*_, **__):
                raise RuntimeError("killed here")

            items = [more(talk(*LINES[:5]))]
            with monkeypatch.context() as patch:
                patch.setattr(app.retain, "_enrich", killed)
                with pytest.raises(RuntimeError):
                    await app.retain(REF, items, fence=fence)
            assert (await stored(app, "d")).facts == []
            done = await app.retain(REF, items, fence=fence)
            assert done.facts >= 5
            assert (await app.retain(REF, items, fence=fence)).unchanged == ["d"]
            state = await stored(app, "d")
            assert state.text == "It begins.\n" + talk(*LINES[:5])
            assert len(state.facts) == done.facts

    asyncio.run(main())


async def _claimed(app, queued: Job) -> tuple[bytes, int]:
    [job] = await app.store.claim([queued.kind], app.clock.now_us(), 10**9)
    assert job.id == queued.id
    assert job.state is JobState.PROCESSING
    return job.id, job.fence


def test_what_was_forgotten_stays_so(tmp_path: Path) -> None:
    async def main() -> None:
        async with opened(tmp_path) as app:
            await app.retain(REF, [item(talk(*LINES[:4]))])
            gone = (await stored(app, "d")).sources[1].unit
            await app.forget(REF, unit_ids=[gone.id])
            await app.retain(REF, [more(talk(*LINES[4:6]))])
            state = await stored(app, "d")
            assert gone.text not in state.text
            assert REDACTED * len(gone.text) in state.text
            assert len(state.sources) == 5
            # and when somebody hands the document back as it is
            done = await app.retain(REF, [item(shown(state.text))])
            assert done.sources <= 2  # the last turns, which were an item of their own
            again = await stored(app, "d")
            assert all(BLACKED not in row.unit.text for row in again.sources)
            assert shown(again.text) == shown(state.text)

    asyncio.run(main())


def test_a_message_that_was_forgotten_is_none(tmp_path: Path) -> None:
    async def main() -> None:
        async with opened(tmp_path) as app:
            messages = (
                '[{"role": "user", "content": "I like figs."}, '
                '{"role": "user", "content": "I like plums."}, '
                '{"role": "user", "content": "I like pears."}]'
            )
            await app.retain(REF, [item(messages)])
            gone = (await stored(app, "d")).sources[1].unit
            await app.forget(REF, unit_ids=[gone.id])
            left = (await stored(app, "d")).text
            assert "plums" not in left
            done = await app.retain(REF, [item(shown(left))])
            assert done.sources == 0
            said = [row.unit.text for row in (await stored(app, "d")).sources]
            assert said == ["I like figs.", "I like pears."]

    asyncio.run(main())


def test_what_cannot_be_meant_is_refused(tmp_path: Path) -> None:
    async def main() -> None:
        async with opened(tmp_path) as app:
            with pytest.raises(InvalidInput) as caught:
                await app.retain(REF, [more("No name.", None)])
            assert caught.value.field == "items[0].document_id"
            with pytest.raises(InvalidInput) as caught:
                await app.retain(REF, [item("One."), more("Two.")])
            assert caught.value.field == "items[1].update_mode"
            done = await app.retain(REF, [item("One.", "a"), more("Two.", "b")])
            assert done.documents == ["a", "b"]

    asyncio.run(main())
