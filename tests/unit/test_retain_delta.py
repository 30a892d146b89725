"""A document retained again: what still says the same is kept, and only the rest is read."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest
from retain_kit import LINES, NOW, REF, item, opened, stored, talk

from remembrancer.keeping.batch import Batch
from remembrancer.nouns.memory import BankRef, Curation

OTHER = BankRef("default", "other")
SAID = 1_700_000_000_000_000


def words_of(state) -> list[tuple]:
    """All that a document's units say, but for ids and when they were written."""
    names = {row.unit.id: n for n, row in enumerate(state.sources)}
    told = [
        (
            replace(
                row.unit,
                id=b"",
                document_id=None,
                created_at=0,
                previous_id=names.get(row.unit.previous_id),
            ),
            row.terms,
            row.window_terms or row.terms,
            row.vector,
            row.window_vector or row.vector,
            row.same,
        )
        for row in state.sources
    ]
    facts = sorted(
        (names[f.source_id], f.start, f.text, f.chunk_index, f.turn, f.mentioned_at, f.tags, f.note)
        for f in state.facts
    )
    return [*told, *facts]


def test_the_same_document_twice_changes_nothing(tmp_path: Path) -> None:
    async def main() -> None:
        async with opened(tmp_path) as app:
            first = await app.retain(REF, [item(talk(*LINES), timestamp=SAID)])
            before = await stored(app, "d")
            again = await app.retain(REF, [item(talk(*LINES), timestamp=SAID)])
            assert again.unchanged == ["d"]
            assert again.revision == first.revision
            assert (again.sources, again.facts, again.unit_ids) == (0, 0, [])
            assert again.chunks == again.chunks_kept == first.chunks == first.chunks_read > 1
            assert again.coverage == 1.0
            assert await stored(app, "d") == before

    asyncio.run(main())


def test_one_changed_turn_is_all_that_is_read(tmp_path: Path) -> None:
    async def main() -> None:
        async with opened(tmp_path) as app:
            first = await app.retain(REF, [item(talk(*LINES))])
            before = await stored(app, "d")
            await app.recall(REF, "Lisbon")  # touches some
            await app.store.touch(REF, [before.sources[30].unit.id], NOW)
            lines = [*LINES]
            lines[30] = "I sold the blue boat to the harbour master in the year 2001, for good."
            done = await app.retain(REF, [item(talk(*lines))])
            assert (done.sources, done.chunks_read) == (1, 1)
            assert done.chunks_kept == done.chunks - 1 == first.chunks - 1
            after = await stored(app, "d")
            assert after.document.id == before.document.id
            assert after.document.created_at == before.document.created_at
            assert after.text == talk(*lines)
            kept = set(before.ids.values()) & set(after.ids.values())
            assert len(kept) == len(lines) - 1
            old = {row.unit.id: row for row in before.sources}
            for row in after.sources:
                if row.unit.id in kept:
                    assert row.vector == old[row.unit.id].vector
            facts = {f.id for f in before.facts if f.source_id in kept}
            assert facts < {f.id for f in after.facts}
            await app.retain(OTHER, [item(talk(*lines))])
            assert words_of(after) == words_of(await stored(app, "d", OTHER))

    asyncio.run(main())


def test_what_is_put_in_moves_the_rest_along(tmp_path: Path) -> None:
    async def main() -> None:
        async with opened(tmp_path) as app:
            await app.retain(REF, [item("\n\n".join(LINES[:20]), timestamp=SAID)])
            before = await stored(app, "d")
            text = "\n\n".join(["A whole new beginning stands here.", *LINES[5:20], LINES[0]])
            done = await app.retain(REF, [item(text, timestamp=SAID)])
            assert done.sources == 1
            after = await stored(app, "d")
            assert {t: i for t, i in after.ids.items() if t in before.ids} == {
                t: i for t, i in before.ids.items() if t in after.ids
            }
            assert [row.unit.turn for row in after.sources] == list(range(17))
            assert [row.unit.mentioned_at - SAID for row in after.sources] == list(range(17))
            await app.retain(OTHER, [item(text, timestamp=SAID)])
            assert words_of(after) == words_of(await stored(app, "d", OTHER))

    asyncio.run(main())


def test_a_turn_said_several_times_is_kept_in_order(tmp_path: Path) -> None:
    async def main() -> None:
        async with opened(tmp_path) as app:
            said = ["I like tea.", "Ok.", "I like figs.", "Ok.", "I like plums.", "Ok."]
            await app.retain(REF, [item(talk(*said), timestamp=SAID)])
            ids = [row.unit.id for row in (await stored(app, "d")).sources]
            del said[0:2]
            done = await app.retain(REF, [item(talk(*said), timestamp=SAID)])
            assert done.sources == 0
            assert [row.unit.id for row in (await stored(app, "d")).sources] == ids[2:]

    asyncio.run(main())


def test_a_growing_transcript_costs_what_was_added(tmp_path: Path) -> None:
    async def main() -> None:
        async with opened(tmp_path) as app:
            read = 0
            for count in range(2, 50):
                app.clock.advance(timedelta(minutes=1))
                done = await app.retain(REF, [item(talk(*LINES[:count]))])
                read += done.sources
                assert done.sources == (2 if count == 2 else 1)
                assert done.chunks_read == 1
            assert read == 49
            state = await stored(app, "d")
            assert state.text == talk(*LINES[:49])
            times = [row.unit.mentioned_at for row in state.sources]
            assert times == sorted(times)
            assert times[-1] - times[0] > 40 * 60 * 1_000_000  # each when it was first heard

    asyncio.run(main())


def test_what_is_told_beside_the_text_changes_without_reading(tmp_path: Path) -> None:
    async def main() -> None:
        async with opened(tmp_path) as app:
            text = talk(*LINES[:6])
            about = {"note": "a call", "metadata": {"a": "1"}, "tags": ("red",)}
            await app.retain(REF, [item(text, entities=("Carol", "Ann"), timestamp=SAID, **about)])
            before = await stored(app, "d")
            more = {"note": "a visit", "metadata": {"b": "2"}, "tags": ("blue", "green")}
            done = await app.retain(REF, [item(text, entities=("Dan",), timestamp=SAID, **more)])
            assert (done.sources, done.facts, done.unit_ids, done.chunks_read) == (0, 0, [], 0)
            after = await stored(app, "d")
            assert after.ids == before.ids
            for unit in (*(row.unit for row in after.sources), *after.facts):
                assert (unit.note, unit.metadata, unit.tags) == tuple(more.values())
            assert after.document.tags == ("blue", "green")
            async with app.store.snapshot(REF) as view:
                names = {e.name: e.mention_count for e in await view.entities()}
            assert "Carol" not in names
            assert names["Dan"] == 6
            assert names["Ann"] >= 3  # she speaks
            await app.retain(OTHER, [item(text, entities=("Dan",), timestamp=SAID, **more)])
            assert words_of(after) == words_of(await stored(app, "d", OTHER))
            async with app.store.snapshot(REF) as view:
                ids = [f.id for f in after.facts]
                assert ids
                assert await view.same(ids)

    asyncio.run(main())


def test_another_time_is_another_reading(tmp_path: Path) -> None:
    async def main() -> None:
        async with opened(tmp_path) as app:
            text = talk("I sold the boat yesterday.", "I bought it today.")
            await app.retain(REF, [item(text, timestamp=SAID)])
            before = await stored(app, "d")
            done = await app.retain(REF, [item(text, timestamp=SAID + 86_400_000_000)])
            assert done.sources == 2
            after = await stored(app, "d")
            day = after.sources[0].unit.occurred_start - before.sources[0].unit.occurred_start
            assert day == 86_400_000_000

    asyncio.run(main())


def test_what_people_did_to_a_memory_stays_with_it(tmp_path: Path) -> None:
    async def main() -> None:
        async with opened(tmp_path) as app:
            await app.retain(REF, [item(talk(*LINES[:4]))])
            before = await stored(app, "d")
            unit_id = before.sources[1].unit.id
            await app.store.apply(REF, Batch(curations=[Curation(unit_id, True, {"why": "x"})]))
            await app.retain(REF, [item(talk(*LINES[:5]))])
            after = await stored(app, "d")
            assert after.sources[1].unit.id == unit_id
            async with app.store.snapshot(REF) as view:
                assert (await view.curations([unit_id]))[unit_id].invalid

    asyncio.run(main())


def test_a_reading_that_was_broken_off_is_taken_up_again(tmp_path: Path, monkeypatch) -> None:
    async def main() -> None:
        async with opened(tmp_path) as app:
            text = talk(*LINES[:9])

            async def broken(*_, **__):
                raise RuntimeError("killed here")

            with monkeypatch.context() as patch:
                patch.setattr(app.retain, "_enrich", broken)
                with pytest.raises(RuntimeError):
                    await app.retain(REF, [item(text)])
            broken_off = await stored(app, "d")
            assert len(broken_off.sources) == 9
            assert broken_off.facts == []
            done = await app.retain(REF, [item(text)])
            assert done.unchanged == []
            state = await stored(app, "d")
            assert state.ids == broken_off.ids
            assert len(state.facts) == done.facts >= 9
            assert all(row.vector is not None for row in state.sources)
            again = await app.retain(REF, [item(text)])
            assert again.unchanged == ["d"]

    asyncio.run(main())


def test_what_was_forgotten_while_it_is_read_comes_not_back(tmp_path: Path, monkeypatch) -> None:
    async def main() -> None:
        async with opened(tmp_path) as app:
            read = app.retain._enrich._facts.read
            gone: list[bytes] = []

            def slow(sources, known, table):
                if not gone:
                    gone.append(sources[3].row.unit.id)
                    work = app.forget(REF, unit_ids=gone)
                    asyncio.run_coroutine_threadsafe(work, loop).result()
                return read(sources, known, table)

            loop = asyncio.get_running_loop()
            monkeypatch.setattr(app.retain._enrich._facts, "read", slow)
            done = await app.retain(REF, [item(talk(*LINES[:9]))])
            state = await stored(app, "d")
            assert gone[0] not in state.ids.values()
            assert len(state.sources) == 8
            assert len(state.facts) == done.facts
            # the turn after it is found by its own words and meaning alone
            after = next(row for row in state.sources if row.unit.turn == 4)
            assert (after.window_terms or after.terms) == after.terms
            assert (after.window_vector or after.vector) == after.vector

    asyncio.run(main())
