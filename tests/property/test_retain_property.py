"""A document changed step by step is what it would be when retained afresh."""

from __future__ import annotations

import asyncio
import tempfile
from dataclasses import replace
from pathlib import Path

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from remembrancer.app import App
from remembrancer.nouns.memory import BankRef, Layer
from remembrancer.settings import Settings
from remembrancer.verbs.retaining.units import Item

SAID = 1_700_000_000_000_000
WORDS = "apple boat cello envelope forest garden harbour island jacket she it Monday".split()

line = st.one_of(
    st.lists(st.sampled_from(WORDS), min_size=1, max_size=6).map(" ".join),
    st.just("ok"),
    st.just(" ".join(["long"] * 170)),
)
turn = st.tuples(st.sampled_from(["Ann", "Bob"]), line).map(lambda t: f"{t[0]}: {t[1]}.")
chat = st.lists(turn, min_size=2, max_size=9)
edit = st.tuples(st.integers(0, 9), st.integers(0, 3), st.lists(turn, max_size=2))
tags = st.sampled_from([(), ("red",), ("red", "blue")])


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(first=chat, edits=st.lists(st.tuples(edit, tags), min_size=1, max_size=4))
def test_step_by_step_equals_afresh(first: list[str], edits: list[tuple]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(_run(Path(folder), first, edits))


async def _run(folder: Path, first: list[str], edits: list[tuple]) -> None:
    app = await App.open(Settings(data=folder, embedder="hash:64"), background=False)
    step, fresh = BankRef("default", "step"), BankRef("default", "fresh")
    try:
        lines = ["Ann: the first one.", "Bob: the second one.", *first]
        await _retain(app, step, lines, ())
        labels: tuple[str, ...] = ()
        for (at, size, new), told in edits:
            lines[at : at + size] = new
            labels = told
            await _retain(app, step, lines, labels)
        await _retain(app, fresh, lines, labels)
        assert await _said(app, step) == await _said(app, fresh)
    finally:
        await app.close()


async def _retain(app: App, ref: BankRef, lines: list[str], labels: tuple[str, ...]) -> None:
    content = "\n".join(lines) or "nothing is left."
    item = Item(content, document="d", timestamp=SAID, tags=labels, note="a chat")
    await app.retain(ref, [item])


async def _said(app: App, ref: BankRef) -> tuple:
    """All that is stored of the document, but for ids and when it was written."""
    async with app.store.snapshot(ref) as view:
        document = await view.document("d")
        assert document is not None
        chunks = await view.chunks(document.id)
        sources = await view.sources_of(document.id)
        rows = await view.rows([u.id for u in sources])
        units = await view.units_of(document.id)
        facts = await view.rows([u.id for u in units if u.layer is Layer.FACT])
        counts = await view.counts()
        entities = [(e.name, e.mention_count, e.last_seen) for e in await view.entities()]
    place = {u.id: n for n, u in enumerate(sources)}
    plain = {"id": b"", "document_id": None, "created_at": 0}
    return (
        replace(document, id=b"", created_at=0, updated_at=0),
        chunks,
        [
            (
                replace(row.unit, previous_id=place.get(row.unit.previous_id), **plain),
                row.terms,
                row.window_terms or row.terms,
                row.vector,
                row.window_vector or row.vector,
                row.same,
            )
            for row in rows
        ],
        sorted(
            (
                (place[row.unit.source_id], row.unit.start),
                repr(replace(row.unit, source_id=None, **plain)),
                row.same,
            )
            for row in facts
        ),
        counts,
        sorted(entities),
    )
