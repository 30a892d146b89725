"""Embedding what is not embedded yet: after a crash, an outage, or a change of model.

One mechanism serves both: a generation is one model's vectors, and its pending units are those
without. `reembed` fills a new generation beside the active one, then switches; it may be stopped
and started at any time.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Sequence
from itertools import groupby

from ...keeping.batch import VectorPatch
from ...keeping.generations import Generation, PendingUnit
from ...keeping.store import Store
from ...keeping.view import View
from ...models.embedder import Embedder
from ...models.vectors import quantise
from ...nouns.errors import ModelMismatch, ModelUnavailable, RemembrancerError
from ...nouns.memory import BankRef, Unit

_BATCH = 128
RETRY_S = 30.0
"""Between tries when the embedder or the store cannot be used."""

MOVED = "the store was moved to another embedder: restart with that one to search by meaning"

Progress = Callable[[int, int], None]

log = logging.getLogger(__name__)


def spoken_text(unit: Unit) -> str:
    """Return the text to embed for a source: what was said, after who said it."""
    return f"{unit.speaker}: {unit.text}" if unit.speaker else unit.text


async def check_generation(store: Store, embedder: Embedder | None) -> Generation | None:
    """Make sure that the store's vectors are the embedder's; return the active generation.

    Raises:
        ModelMismatch: the store was written with another model.
    """
    active = next((g for g in await store.generations() if g.active), None)
    if embedder is None:
        return active
    if active is None:
        return await store.generation_begin(embedder.fingerprint)
    if dict(active.fingerprint) != dict(embedder.fingerprint):
        raise ModelMismatch(
            f"this store was embedded with {describe(active.fingerprint)}, but the configured "
            f"embedder is {describe(embedder.fingerprint)}; vectors of two models cannot be mixed. "
            "Set the former embedder again, or run `remembrancer reembed` to move the store to "
            "the new one."
        )
    return active


def describe(fingerprint: object) -> str:
    """Return a model's name and size for people."""
    if isinstance(fingerprint, dict):
        return f"{fingerprint.get('model')} ({fingerprint.get('dim')} dimensions)"
    return str(fingerprint)


async def embed_pending(
    store: Store, embedder: Embedder, number: int, progress: Progress | None = None
) -> int:
    """Embed every unit that generation `number` lacks; return how many."""
    total = await store.generation_pending_count(number)
    done = 0
    after: PendingUnit | None = None
    while pending := await store.generation_pending(number, _BATCH, after):
        after = pending[-1]
        for ref, group in groupby(pending, key=lambda p: p.ref):
            await _embed_units(store, embedder, number, ref, [p.unit_id for p in group])
        done += len(pending)
        if progress is not None:
            progress(done, max(done, total))
    return done


async def reembed(store: Store, embedder: Embedder, progress: Progress | None = None) -> int:
    """Move a store to another embedder; return how many units were embedded.

    Searches use the former vectors until the last one is done; then all change at once.
    """
    generation = await store.generation_begin(embedder.fingerprint)
    done = await embed_pending(store, embedder, generation.number, progress)
    while not generation.active and not await store.generation_activate(generation.number):
        done += await embed_pending(store, embedder, generation.number, progress)
    return done


async def _embed_units(
    store: Store, embedder: Embedder, number: int, ref: BankRef, ids: Sequence[bytes]
) -> None:
    async with store.snapshot(ref) as view:
        units = await view.units(ids)
        windows = await _window_texts(view, units)
    texts = [spoken_text(u) for u in units]
    wanted = [u.id for u in units if u.id in windows]
    vectors = quantise(await embedder.embed([*texts, *(windows[i] for i in wanted)]))
    window = dict(zip(wanted, vectors[len(texts) :], strict=True))
    patches = [
        VectorPatch(unit.id, vector, window.get(unit.id))
        for unit, vector in zip(units, vectors, strict=False)
    ]
    await store.generation_vectors(ref, number, patches)


async def _window_texts(view: View, units: Sequence[Unit]) -> dict[bytes, str]:
    """Return the window text of those units that follow a short turn directly."""
    wanted = [u.previous_id for u in units if u.previous_id is not None]
    before = {u.id: u for u in await view.units(wanted)}
    texts = {}
    for unit in units:
        previous = before.get(unit.previous_id) if unit.previous_id else None
        if previous is not None and previous.turn == unit.turn - 1:
            texts[unit.id] = f"{spoken_text(previous)}\n{spoken_text(unit)}"
    return texts


async def keep_embedded(
    store: Store, embedder: Embedder, generation: int, failed: asyncio.Event
) -> None:
    """Embed units that a crash or an outage left without vectors, now and whenever `failed` is set.

    Ends when it is cancelled.
    """
    while True:
        try:
            if done := await embed_pending(store, embedder, generation):
                log.info("embedded %d units that were waiting", done)
            await failed.wait()
            failed.clear()
        except ModelUnavailable:
            log.warning("the embedder cannot be used; trying again in %.0f s", RETRY_S)
        except RemembrancerError as error:  # the store is away, or its disk is full
            log.warning("waiting units stay so; trying again in %.0f s: %s", RETRY_S, error)
        await asyncio.sleep(RETRY_S)
