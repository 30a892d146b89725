"""What waits for the embedder is embedded in the end, whatever goes wrong meanwhile."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from retain_kit import REF, item, opened

from remembrancer.nouns.errors import Corrupt, ModelUnavailable, StoreBusy, StoreError
from remembrancer.verbs.retaining import embedding
from remembrancer.verbs.retaining.embedding import keep_embedded


@pytest.mark.parametrize(
    "error",
    [
        StoreError("the disk of memory.db is full; free some space and try again"),
        StoreBusy("locked"),
        Corrupt("damaged"),
        ModelUnavailable("away"),
    ],
)
async def test_what_waits_is_tried_again_after_any_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    monkeypatch.setattr(embedding, "RETRY_S", 0.01)
    async with opened(tmp_path) as app:
        assert app.embedder is not None
        real, put, failing = app.store.generation_vectors, asyncio.Event(), True

        async def away(*_: Any) -> Any:
            raise ModelUnavailable("away")

        with monkeypatch.context() as patched:
            patched.setattr(app.embedder, "embed", away)
            await app.retain(REF, [item("Ann: The cello is old.")])

        async def full(*given: Any) -> None:
            nonlocal failing
            if failing:
                failing = False
                raise error
            await real(*given)
            put.set()

        monkeypatch.setattr(app.store, "generation_vectors", full)
        [active] = [g for g in await app.store.generations() if g.active]
        assert await app.store.generation_pending_count(active.number) == 1
        failed = asyncio.Event()
        work = keep_embedded(app.store, app.embedder, active.number, failed)
        keeping = asyncio.create_task(work)
        await asyncio.wait_for(put.wait(), 10)
        assert await app.store.generation_pending_count(active.number) == 0
        keeping.cancel()
        await asyncio.gather(keeping, return_exceptions=True)
