"""Recall over an index kept up step by step equals recall over one built afresh."""

from __future__ import annotations

import asyncio
import tempfile
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from remembrancer.app import App
from remembrancer.finding import compaction
from remembrancer.finding.indexes import Indexes
from remembrancer.finding.search import TOP, Query, Search
from remembrancer.finding.tagging import TagFilter, TagMatch
from remembrancer.finding.terms import Analyzer, words
from remembrancer.nouns.memory import BankRef
from remembrancer.reading.dates.making import date_finder
from remembrancer.settings import Settings
from remembrancer.verbs.retaining.units import Item

WORDS = "apple boat cello Dana envelope forest garden harbour island jacket Lisbon May".split()
REF = BankRef("default", "bank")

text = st.lists(st.sampled_from(WORDS), min_size=1, max_size=8).map(" ".join)
turn = st.tuples(st.sampled_from(["Ann", "Bob"]), text).map(lambda t: f"{t[0]}: {t[1]}.")
content = st.lists(turn, min_size=2, max_size=12).map("\n".join)
tags = st.lists(st.sampled_from(["red", "blue"]), max_size=2, unique=True).map(tuple)
step = st.one_of(
    st.tuples(st.just("retain"), st.integers(0, 5), content, tags),
    st.tuples(st.just("change"), st.integers(0, 5), st.integers(0, 12), st.booleans(), turn),
    st.tuples(st.just("append"), st.integers(0, 5), content),
    st.tuples(st.just("forget"), st.integers(0, 10_000)),
    st.tuples(st.just("drop"), st.integers(0, 5)),
    st.tuples(st.just("recall"), text),
    st.tuples(st.just("compact"), st.booleans()),
    st.tuples(st.just("reopen")),
)


@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(steps=st.lists(step, min_size=1, max_size=14), question=text)
def test_incremental_equals_fresh(steps: list[tuple], question: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(_run(Path(folder), steps, question))


async def _run(folder: Path, steps: list[tuple], question: str) -> None:
    config = Settings(data=folder, embedder="hash:64")
    app = await App.open(config, background=False)
    indexes = Indexes(folder / "index", 64, 1 << 30)
    said: dict[int, list[str]] = {}  # by document, what was last retained
    try:
        for name, *arguments in steps:
            if name == "retain":
                number, whole, labels = arguments
                said[number] = whole.split("\n")
                await _retain(app, number, whole, tags=labels)
            elif name == "change":
                number, place, replaces, line = arguments
                lines = said.setdefault(number, ["Ann: apple.", "Bob: boat."])
                lines[place : place + replaces] = [line]
                await _retain(app, number, "\n".join(lines))
            elif name == "append":
                number, more = arguments
                await _retain(app, number, more, append=True)
            elif name == "forget":
                async with app.store.snapshot(REF) as view:
                    units = await view.newest(10_000)
                if units:
                    await app.forget(REF, unit_ids=[units[arguments[0] % len(units)].id])
            elif name == "drop":
                await app.forget(REF, documents=[f"d{arguments[0]}"])
            elif name == "compact":
                async with app.store.snapshot(REF) as view:
                    state = await indexes.state_for(REF, view)
                    assert state is not None
                    await asyncio.to_thread(
                        compaction.compact, state, indexes.folder_of(REF), arguments[0]
                    )
            elif name == "reopen":
                await indexes.close()
                indexes = Indexes(folder / "index", 64, 1 << 30)
            else:
                await _compare(app, indexes, arguments[0])
        await _compare(app, indexes, question)
    finally:
        await indexes.close()
        await app.close()


async def _retain(app: App, number: int, content: str, **more: Any) -> None:
    at = 1_700_000_000_000_000
    await app.retain(REF, [Item(content, document=f"d{number}", timestamp=at, **more)])


async def _compare(app: App, indexes: Indexes, question: str) -> None:
    assert app.embedder is not None
    fresh = Indexes(None, 64, 1 << 30)
    vector = await app.embedder.embed_query(question)
    window = date_finder(("en",))(question, 1_700_000_000_000_000, None)
    for wanted in (None, TagFilter(("red",)), TagFilter(("red", "blue"), TagMatch.ALL_STRICT)):
        query = Query(
            words(question),
            Analyzer().terms(question),
            vector,
            role=1,
            since=window[0].start if window else None,
            until=window[0].end if window else None,
            tags=wanted,
        )
        async with app.store.snapshot(REF) as view:
            kept, new = await indexes.state_for(REF, view), await fresh.state_for(REF, view)
            units = await view.newest(3)
        assert kept is not None
        assert new is not None
        assert kept.live == new.live
        extra = [unit.id for unit in units]
        one, other = Search(kept, query), Search(new, query)
        for top, more in ((TOP, []), (1, []), (1, extra)):
            a, b = one.found(top, more), other.found(top, more)
            assert a.id_list() == b.id_list()
            assert a.score.tolist() == b.score.tolist()
