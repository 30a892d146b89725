"""Long contents: all of them is kept, in pieces that can be embedded, at a bounded cost."""

from __future__ import annotations

import asyncio
import json
import tracemalloc
from pathlib import Path

import pytest
from retain_kit import LINES, REF, item, opened, stored

from remembrancer.verbs.retaining.layout import lay_out

SAID = 1_700_000_000_000_000


def words(size: int) -> str:
    """Text of about this many characters, no two sentences of which are the same."""
    parts, length = [], 0
    while length < size:
        parts.append(f"Box {len(parts)} holds {len(parts) * 7} old coins from the cellar.")
        length += len(parts[-1]) + 1
    return " ".join(parts)


def test_a_turn_of_sixty_thousand_characters(tmp_path: Path) -> None:
    async def main() -> None:
        async with opened(tmp_path) as app:
            content = f"[2024-05-03 10:00] Ann: {words(60_000)}\n[2024-05-04 10:00] Bob: I see."
            done = await app.retain(REF, [item(content, timestamp=SAID)])
            state = await stored(app, "d")
            ann = [row for row in state.sources if row.unit.speaker == "Ann"]
            assert len(ann) > 60
            assert {row.unit.turn for row in ann} == {0}
            assert [row.unit.part for row in ann] == list(range(len(ann)))
            assert len({row.unit.mentioned_at for row in ann}) == 1
            assert ann[0].unit.mentioned_at != SAID  # the time that the turn tells
            assert max(len(row.unit.text) for row in ann) < 1_500
            assert all(row.vector is not None for row in state.sources)
            assert done.coverage == 1.0
            assert state.text == content

    asyncio.run(main())


@pytest.mark.parametrize("shape", ["prose", "chat", "json", "unbroken"])
def test_nothing_of_a_long_text_is_left_out(shape: str) -> None:
    text = words(300_000)
    content = {
        "prose": text.replace("cellar. ", "cellar.\n\n"),
        "chat": "Ann: " + text.replace("cellar. ", "cellar.\nBob: It is.\nAnn: "),
        "json": json.dumps([{"role": "user", "content": p} for p in text.split(". ")]),
        "unbroken": "x1" * 150_000,
    }[shape]
    layout = lay_out([content])
    assert "".join(chunk.text for chunk in layout.chunks) == content
    assert layout.covered == layout.characters > 0
    assert max(len(said.text) for said in layout.said) < 1_600
    if shape != "json":
        for said in layout.said:
            assert layout.chunks[said.chunk].text[said.start : said.end] == said.text


def test_what_is_beside_messages_does_not_count_as_kept() -> None:
    told = {"title": "y" * 100, "messages": [{"role": "user", "content": "I like figs."}]}
    layout = lay_out([json.dumps(told)])
    assert 0 < layout.covered < layout.characters - 100


def test_a_turn_of_a_megabyte_is_cut_in_time_that_grows_with_it() -> None:
    # a quadratic step would take minutes here
    layout = lay_out([f"Ann: {words(1_000_000)}\nBob: I see."])
    assert layout.covered == layout.characters
    assert len(layout.said) > 1_000


def test_reading_a_long_text_holds_little_at_once(tmp_path: Path) -> None:
    async def main() -> tuple[int, int]:
        async with opened(tmp_path, embedder="hash:256") as app:
            content = words(120_000)
            peaks: list[int] = []
            enrich = app.retain._enrich

            async def measured(ref, written, known, **more):
                tracemalloc.start()
                try:
                    done = await enrich(ref, written, known, **more)
                    peaks.append(tracemalloc.get_traced_memory()[1])
                finally:
                    tracemalloc.stop()
                return done

            app.retain._enrich = measured
            done = await app.retain(REF, [item(content)])
            return peaks[0], done.sources

    peak, sources = asyncio.run(main())
    assert sources > 150, peak
    # some megabytes for 128 sources at a time; all facts and vectors at once would be more
    assert peak < 6_000_000


def test_empty_chunks_are_told(tmp_path: Path) -> None:
    async def main() -> None:
        async with opened(tmp_path) as app:
            noise = "\n\n".join("hm hm hm " * 40 for _ in range(12))
            done = await app.retain(REF, [item(LINES[0], "a"), item(noise, "b")])
            assert done.empty_chunks == [("b", i) for i in range(done.chunks - 1)]

    asyncio.run(main())


def test_nobody_knows_when_it_was_said(tmp_path: Path) -> None:
    async def main() -> None:
        async with opened(tmp_path) as app:
            told = "I sold the boat yesterday.\n\nI bought the house on 5 May 2019."
            await app.retain(REF, [item(told, undated=True)])
            boat, house = [row.unit for row in (await stored(app, "d")).sources]
            assert boat.occurred_start is None
            assert house.occurred_start is not None
            await app.retain(REF, [item(told)])
            boat, _ = [row.unit for row in (await stored(app, "d")).sources]
            assert boat.occurred_start is not None

    asyncio.run(main())
