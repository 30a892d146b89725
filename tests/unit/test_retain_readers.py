"""A document that is replaced over and over is never seen by half, or not at all."""

from __future__ import annotations

import asyncio
import re
from pathlib import Path

from retain_kit import REF, item, opened, talk

ROUNDS = 20  # times `prove`: 200 in full
READERS = 4
TURNS = 6


def version(number: int) -> str:
    """A chat of which some turns stay and others are new in each version."""
    said = [
        f"The lighthouse keeper painted door {turn}."
        if turn % 2 == 0
        else f"The lighthouse is {turn} meters high, says survey v{number}."
        for turn in range(TURNS)
    ]
    return talk(*said)


def test_readers_see_the_old_one_or_the_new_one(tmp_path: Path, prove: int, record) -> None:
    async def main() -> tuple[int, int]:
        async with opened(tmp_path) as app:
            await app.retain(REF, [item(version(0))])
            over = asyncio.Event()
            looks = [0] * READERS

            async def read(number: int) -> None:
                while not over.is_set() or not looks[number]:
                    found = await app.recall(REF, "How high is the lighthouse?")
                    texts = [answer.unit.text for answer in found.answers]
                    versions = {m for text in texts for m in re.findall(r"v\d+", text)}
                    assert len(texts) == TURNS, texts
                    assert len(versions) == 1, texts
                    async with app.store.snapshot(REF) as view:
                        document = await view.document("d")
                        assert document is not None
                        chunks = await view.chunks(document.id)
                        units = await view.sources_of(document.id)
                    text = "".join(chunk.text for chunk in chunks)
                    assert text == version(int(re.findall(r"v(\d+)", text)[0]))
                    assert [text[u.start : u.end] for u in units] == [u.text for u in units]
                    looks[number] += 1
                    await asyncio.sleep(0)

            async def write() -> int:
                kept = 0
                try:
                    for number in range(1, ROUNDS * prove + 1):
                        done = await app.retain(REF, [item(version(number))])
                        kept += TURNS - done.sources
                        await asyncio.sleep(0)
                finally:
                    over.set()
                return kept

            kept, *_ = await asyncio.gather(write(), *(read(n) for n in range(READERS)))
            return kept, sum(looks)

    kept, looks = asyncio.run(main())
    assert kept == ROUNDS * prove * TURNS // 2
    assert looks >= READERS
    record({"rounds": ROUNDS * prove, "looks": looks, "half_or_none": 0})
