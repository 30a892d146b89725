"""What is kept for a time alone goes by itself, though nothing is ever forgotten."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from retain_kit import NOW, REF, opened

from remembrancer.nouns.errors import StoreBusy
from remembrancer.verbs import expiry


async def test_keys_of_requests_go_when_they_have_expired(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(expiry, "EVERY_S", 0.01)
    async with opened(tmp_path) as app:
        real, asked, done = app.store.drop_expired, 0, asyncio.Event()

        async def busy_at_first(now: int) -> None:
            nonlocal asked
            asked += 1
            if asked == 1:
                raise StoreBusy("locked")
            await real(now)
            done.set()

        monkeypatch.setattr(app.store, "drop_expired", busy_at_first)
        await app.store.blob_put(REF, "once/old", b"id", NOW - 1)
        await app.store.blob_put(REF, "once/new", b"id", NOW + 1)
        keeping = asyncio.create_task(expiry.keep_expiring(app.store, clock=app.clock))
        await asyncio.wait_for(done.wait(), 10)
        keeping.cancel()
        await asyncio.gather(keeping, return_exceptions=True)
        assert asked >= 2
        assert await app.store.blob_get(REF, "once/old", 0) is None
        assert await app.store.blob_get(REF, "once/new", NOW) == b"id"
