"""Facts that callers hand in: what stands in the content is kept in the place of what is read."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from retain_kit import REF, item, opened, stored

from llm_kit import Endpoint
from remembrancer.app import App
from remembrancer.nouns.clock import FixedClock
from remembrancer.nouns.errors import InvalidInput, TooLarge
from remembrancer.nouns.memory import JobState, Polarity
from remembrancer.verbs.retaining.given import MOST_FACTS, GivenFact
from remembrancer.verbs.transferring.export import stored_items

CHAT = (
    "Ann: I moved to Oslo in May 2024. My sister Marta lives in Ghent.\n"
    "Bob: Do you like it?\n"
    "Ann: I do not like the rain at all."
)
MOVED = GivenFact("Ann moved to Oslo.", entities=("Ann", "Oslo"))
SISTER = GivenFact("Ann's sister Marta lives in Ghent.", "My sister Marta lives in Ghent")
RAIN = GivenFact("Ann does not like the rain.", "I do not like the rain")
MAY, JUNE = 1_714_521_600_000_000, 1_717_200_000_000_000  # of 2024


async def facts(app: App) -> dict[str, Any]:
    return {fact.text: fact for fact in (await stored(app, "d")).facts}


async def test_they_are_kept_in_the_place_of_what_rules_and_models_read(tmp_path: Path) -> None:
    with Endpoint() as endpoint:
        async with opened(tmp_path, **endpoint.settings) as app:
            done = await app.retain(REF, [item(CHAT, facts=(MOVED, SISTER, RAIN))])
            assert (done.facts, done.given, done.refused, done.reading_jobs) == (3, 3, [], [])
            await app.thinker.drain()
            kept = await facts(app)
            assert set(kept) == {MOVED.text, SISTER.text, RAIN.text}
            sources = {row.unit.id: row.unit.text for row in (await stored(app, "d")).sources}
            spans = {f.text: sources[f.source_id][f.start : f.end] for f in kept.values()}
            assert spans[SISTER.text] == SISTER.quote
            assert spans[MOVED.text] == "I moved to Oslo in May 2024."
            moved = kept[MOVED.text]
            assert (moved.occurred_start, moved.occurred_end) == (MAY, JUNE)
            assert set(moved.entities) == {"Ann", "Oslo"}
            assert kept[RAIN.text].polarity is Polarity.NEGATED
            assert {e.name for e in await entities(app)} >= {"Ann", "Oslo"}
            found = await app.recall(REF, "Where does Marta live?")
            assert SISTER.text in [f.text for a in found.answers for f in a.facts]
    assert endpoint.requests == []


async def entities(app: App) -> Any:
    async with app.store.snapshot(REF) as view:
        return await view.entities(limit=100)


REFUSED = [
    ("invented_name", GivenFact("Marta lives in Paris.")),
    ("invented_name", GivenFact("Marta lives in Ghent.", entities=("Marta", "Wanda"))),
    ("invented_number", GivenFact("Ann moved to Oslo in May 2023.")),
    ("invented_date", GivenFact("Ann moved to Oslo.", occurred_start=MAY - 400 * 86_400_000_000)),
    ("no_quote", GivenFact("Ann moved to Oslo.", "I am glad to be in Oslo")),
    ("no_quote", GivenFact("Wanda plays chess.")),
    ("polarity", GivenFact("Ann likes the rain.", "like the rain")),
    ("question", GivenFact("Bob likes it.", "you like it")),
    ("other_words", GivenFact("Ann wanted sailing lessons before summer.", "I moved to Oslo")),
]


@pytest.mark.parametrize(("why", "fact"), REFUSED)
async def test_what_the_content_does_not_say_is_refused_and_told(
    tmp_path: Path, why: str, fact: GivenFact
) -> None:
    async with opened(tmp_path, embedder="none") as app:
        other = item("Ann: I like tea.", "other")
        done = await app.retain(REF, [other, item(CHAT, facts=(MOVED, fact))])
        assert [(r.item, r.fact, r.reason) for r in done.refused] == [(1, 1, why)]
        assert set(await facts(app)) == {MOVED.text}
        again = await app.retain(REF, [item(CHAT, facts=(MOVED, fact))])
        assert (again.unchanged, again.given) == (["d"], 2)
        assert [(r.item, r.fact, r.reason) for r in again.refused] == [(0, 1, why)]


async def test_a_given_date_is_kept_where_the_content_tells_it(tmp_path: Path) -> None:
    day = MAY + 9 * 86_400_000_000
    fact = GivenFact("Ann moved to Oslo.", None, (), day, day + 86_400_000_000)
    async with opened(tmp_path, embedder="none") as app:
        await app.retain(REF, [item(CHAT, facts=(fact,))])
        [kept] = (await facts(app)).values()
        assert (kept.occurred_start, kept.occurred_end) == (day, day + 86_400_000_000)


async def test_a_document_that_grows_reads_only_what_is_new(tmp_path: Path) -> None:
    async with opened(tmp_path) as app:
        await app.retain(REF, [item(CHAT, facts=(MOVED, SISTER, RAIN))])
        before = await stored(app, "d")
        ids = {text: fact.id for text, fact in (await facts(app)).items()}
        dog = GivenFact("Bob's dog is Rex.", "My dog is Rex")
        longer = f"{CHAT}\nBob: My dog is Rex."
        done = await app.retain(REF, [item(longer, facts=(MOVED, SISTER, RAIN, dog))])
        assert (done.sources, done.facts) == (1, 1)
        after = await facts(app)
        assert {text: after[text].id for text in ids} == ids
        # Another fact of one turn: that turn is read anew, the others stay.
        done = await app.retain(REF, [item(longer, facts=(MOVED, SISTER, dog))])
        assert done.sources == 1
        assert set(await facts(app)) == {MOVED.text, SISTER.text, dog.text}
        now = await stored(app, "d")
        gone = {r.unit.id for r in before.sources} - {r.unit.id for r in now.sources}
        assert gone == {before.ids["I do not like the rain at all."]}
        # Without facts of the caller rules read again, and the other way round.
        await app.retain(REF, [item(longer)])
        assert all(f.attributes is None for f in (await facts(app)).values())
        await app.retain(REF, [item(longer, facts=())])
        assert await facts(app) == {}


async def test_what_is_appended_or_queued_or_exported_keeps_them(tmp_path: Path) -> None:
    async with opened(tmp_path) as app:
        first = item(CHAT, facts=(MOVED,), append=True)
        job = await app.queued.enqueue(REF, [first])
        await app.worker.drain()
        done = await app.store.job(REF, job.id)
        assert done is not None
        assert done.state is JobState.COMPLETED
        assert done.result is not None
        assert (done.result["facts_given_count"], done.result["facts_refused"]) == (1, {})
        dog = GivenFact("Bob's dog is Rex.", "My dog is Rex")
        more = item("Bob: My dog is Rex. He is old.", facts=(dog, MOVED), append=True)
        refused = (await app.retain(REF, [more])).refused
        assert [(r.fact, r.reason) for r in refused] == [(1, "no_quote")]
        kept = {text: fact.id for text, fact in (await facts(app)).items()}
        assert set(kept) == {MOVED.text, dog.text}
        await app.reprocess.enqueue(REF, "d")
        await app.worker.drain()
        assert {text: fact.id for text, fact in (await facts(app)).items()} == kept
        async with app.store.snapshot(REF) as view:
            document = await view.document("d")
            assert document is not None
            out = await stored_items(view, document)
        assert [[f.text for f in each.facts or ()] for each in out] == [[MOVED.text], [dog.text]]
        await app.forget(REF, documents=["d"])
        async with app.store.snapshot(REF) as view:
            assert (await view.counts())["facts"] == 0


async def test_a_reading_that_broke_off_goes_on_with_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with opened(tmp_path) as app:
        enrich = app.retain._enrich

        async def broken(*_: Any, **__: Any) -> Any:
            raise RuntimeError("killed")

        for append in (False, True):
            given = item(CHAT, f"d{append}", facts=(MOVED, SISTER), append=append)
            job = await app.queued.enqueue(REF, [given])
            monkeypatch.setattr(app.retain, "_enrich", _Broken(enrich, broken))
            await app.worker.drain()
            assert (await stored(app, f"d{append}")).facts == []
            monkeypatch.setattr(app.retain, "_enrich", enrich)
            await app.store.job_retry(REF, job.id, app.clock.now_us())
            clock = app.clock
            assert isinstance(clock, FixedClock)
            clock.advance(timedelta(minutes=1))
            await app.worker.drain()
            texts = {fact.text for fact in (await stored(app, f"d{append}")).facts}
            assert texts == {MOVED.text, SISTER.text}


class _Broken:
    """An enricher that ends before it has read anything."""

    def __init__(self, enrich: Any, broken: Any) -> None:
        self.mail, self.__broken = enrich.mail, broken
        self.embedder_failed = enrich.embedder_failed

    async def __call__(self, *_: Any, **__: Any) -> Any:
        return await self.__broken()


async def test_slots_of_given_facts_hold_one_after_the_other(tmp_path: Path) -> None:
    async with opened(tmp_path) as app:
        old = GivenFact("I live in Oslo.")
        new = GivenFact("I live in Turin.")
        await app.retain(REF, [item("Ann: I live in Oslo.", "a", timestamp=MAY, facts=(old,))])
        later = item("Ann: I live in Turin.", "b", timestamp=JUNE, facts=(new,))
        await app.retain(REF, [later])
        found = await app.recall(REF, "Where does Ann live?")
        held = {a.unit.text: a.truth.holds for a in found.answers}
        assert held == {"I live in Turin.": True, "I live in Oslo.": False}


@pytest.mark.parametrize(
    ("given", "field"),
    [
        ((GivenFact(" "),), "items[0].facts[0].text"),
        ((GivenFact("x" * 601),), "items[0].facts[0].text"),
        ((MOVED, GivenFact("x", "y" * 2_001)), "items[0].facts[1].quote"),
        ((GivenFact("x", entities=("n",) * 1 + tuple(map(str, range(20)))),),
         "items[0].facts[0].entities"),
        ((GivenFact("x", occurred_end=5),), "items[0].facts[0].occurred_end"),
        ((MOVED,) * (MOST_FACTS + 1), "items[0].facts"),
    ],
)  # fmt: skip
async def test_what_cannot_be_a_fact_is_refused_whole(
    tmp_path: Path, given: tuple[GivenFact, ...], field: str
) -> None:
    async with opened(tmp_path, embedder="none") as app:
        with pytest.raises((InvalidInput, TooLarge)) as refused:
            await app.retain(REF, [item(CHAT, facts=given)])
        assert refused.value.field == field
        async with app.store.snapshot(REF) as view:
            assert (await view.counts())["documents"] == 0
