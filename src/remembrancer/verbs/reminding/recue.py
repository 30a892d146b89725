"""Embeds the cues of context triggers that wait: after an outage, or a change of model.

A cue without a vector of the model in use is compared by its words until then.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Sequence
from dataclasses import replace
from itertools import groupby

from ...keeping.intentions import IntentionBatch
from ...keeping.store import Store
from ...models.embedder import Embedder
from ...nouns.errors import Conflict, RemembrancerError
from ...nouns.memory import BankRef
from .reminders import packed

RETRY_S = 30.0
"""Between tries while the embedder cannot be used."""
POLL_S = 60.0
"""Between looks for cues that other processes have left."""
_BATCH = 128

log = logging.getLogger(__name__)


async def recue(store: Store, embedder: Embedder, generation: int) -> int:
    """Embed every cue that is not of this generation; return how many were.

    Raises:
        ModelUnavailable: what is left waits on.
    """
    done = 0
    while stale := await store.cues_stale(generation, _BATCH):
        for ref, group in groupby(stale, key=lambda each: each[0]):
            done += await _embed(store, embedder, generation, ref, [i for _, i in group])
    return done


async def keep_cued(
    store: Store, embedder: Embedder, generation: int, failed: asyncio.Event
) -> None:
    """Embed what waits now and whenever `failed` is set; ends when it is cancelled."""
    while True:
        try:
            failed.clear()
            if done := await recue(store, embedder, generation):
                log.info("embedded %d cues that were waiting", done)
            with contextlib.suppress(TimeoutError):  # another process may have left some
                await asyncio.wait_for(failed.wait(), POLL_S)
        except RemembrancerError:
            log.warning("cues could not be embedded; trying again in %.0f s", RETRY_S)
            await asyncio.sleep(RETRY_S)


async def _embed(
    store: Store, embedder: Embedder, generation: int, ref: BankRef, ids: Sequence[bytes]
) -> int:
    """Embed cues of a bank; one that is changed meanwhile is found stale again."""
    found = await store.intentions_by_id(ref, ids)
    vectors = await embedder.embed([i.cue_text or i.content for i in found])
    put = [
        replace(i, cue=packed(vector), cue_generation=generation)
        for i, vector in zip(found, vectors, strict=True)
    ]
    try:
        await store.intend(ref, IntentionBatch(put=put))
    except Conflict:
        return 0
    return len(put)
