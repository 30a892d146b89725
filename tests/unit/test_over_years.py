"""What retain keeps of times, names and letters, and what corrections leave findable."""

from __future__ import annotations

import asyncio
import time
from datetime import UTC, datetime
from pathlib import Path

import pytest
from retain_kit import NOW, REF, item, opened, stored

from remembrancer.nouns.clock import from_us, to_us
from remembrancer.nouns.memory import Layer, Precision
from remembrancer.verbs.curate import Edit
from remembrancer.verbs.recall import RecallOptions
from remembrancer.verbs.reflect import ReflectOptions

ASK = RecallOptions(limit=5)
_DAY_US = 86_400_000_000


def test_a_year_is_kept_as_a_year(tmp_path: Path) -> None:
    async def main() -> None:
        async with opened(tmp_path) as app:
            await app.retain(REF, [item("Ann: In 2031 we will open a second bakery.")])
            [row] = (await stored(app, "d")).sources
            unit = row.unit
            assert unit.precision is Precision.YEAR
            assert unit.occurred_start is not None
            assert unit.occurred_end is not None
            assert from_us(unit.occurred_start) == datetime(2031, 1, 1, tzinfo=UTC)
            assert from_us(unit.occurred_end) == datetime(2032, 1, 1, tzinfo=UTC)

    asyncio.run(main())


def test_what_names_no_time_was_said_now_and_what_does_was_said_then(tmp_path: Path) -> None:
    then = to_us(datetime(2019, 2, 10, 12, 0, tzinfo=UTC))

    async def main() -> None:
        async with opened(tmp_path) as app:
            await app.retain(REF, [item("Ann: I work at Veld.", "now")])
            await app.retain(REF, [item("Ann: I began at Veld yesterday.", "then", timestamp=then)])
            [now] = (await stored(app, "now")).sources
            [old] = (await stored(app, "then")).sources
            assert now.unit.mentioned_at == NOW
            assert old.unit.mentioned_at == then
            assert old.unit.occurred_start is not None
            assert from_us(old.unit.occurred_start).date().isoformat() == "2019-02-09"

    asyncio.run(main())


def test_the_zone_of_the_host_never_counts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def kept(folder: Path) -> tuple[int | None, int | None]:
        async with opened(folder) as app:
            at = to_us(datetime(2026, 5, 1, 0, 30, tzinfo=UTC))
            await app.retain(REF, [item("Ann: I saw the dentist today.", timestamp=at)])
            [row] = (await stored(app, "d")).sources
            return row.unit.occurred_start, row.unit.occurred_end

    found = []
    for zone in ("UTC", "Asia/Tokyo", "America/Lima"):
        monkeypatch.setenv("TZ", zone)
        time.tzset()
        found.append(asyncio.run(kept(tmp_path / zone.replace("/", "-"))))
    monkeypatch.undo()
    time.tzset()
    assert len(set(found)) == 1
    assert found[0][0] == to_us(datetime(2026, 5, 1, tzinfo=UTC))


def test_what_was_ahead_is_told_as_past_once_it_is_over(tmp_path: Path) -> None:
    said = to_us(datetime(2026, 3, 1, 9, 0, tzinfo=UTC))

    async def main() -> None:
        async with opened(tmp_path) as app:
            await app.retain(REF, [item("Ann: The choir sings on 5 March.", timestamp=said)])
            before = ReflectOptions(now=said + _DAY_US)
            after = ReflectOptions(now=said + 20 * _DAY_US)
            question = "When does the choir sing?"
            assert "past" not in (await app.reflect(REF, question, before)).text
            assert "2026-03-05, past" in (await app.reflect(REF, question, after)).text

    asyncio.run(main())


def test_now_says_what_last_week_was(tmp_path: Path) -> None:
    async def main() -> None:
        async with opened(tmp_path, embedder="none") as app:
            for day, what in ((3, "plums"), (20, "pears")):
                at = to_us(datetime(2024, 9, day, 9, 0, tzinfo=UTC))
                text = f"Ann: I picked a basket of {what} in the garden."
                await app.retain(REF, [item(text, what, timestamp=at)])
            for day, what in ((11, "plums"), (26, "pears")):
                now = to_us(datetime(2024, 9, day, 9, 0, tzinfo=UTC))
                options = RecallOptions(limit=1, now=now)
                found = await app.recall(REF, "What did Ann pick last week?", options)
                assert what in found.answers[0].unit.text

    asyncio.run(main())


LETTERS = (
    "小林さんは京都で抹茶を飲みました。",
    "Zoë café naïve Łódź ñandú Ελένη",
    "مرحبا، اسمي ليلى وأعيش في عمّان.",
    "Меня зовут Фёдор, я живу в Кёльне.",
    "Ann likes 🥐 and 👩🏽‍🚒 and ❤️‍🔥 with flags 🇳🇴",
    "The redacted line reads ███ secret ███ here.",
)


@pytest.mark.parametrize(
    "text", LETTERS, ids=["cjk", "accents", "arabic", "cyrillic", "emoji", "blocks"]
)
def test_letters_come_back_as_they_were(tmp_path: Path, text: str) -> None:
    async def main() -> None:
        async with opened(tmp_path) as app:
            await app.retain(REF, [item(text, "letters")])
            found = await app.recall(REF, text, ASK)
            assert found.answers[0].unit.text == text
            assert (await app.browse.document(REF, "letters")).text == text

    asyncio.run(main())


def test_blocks_that_people_wrote_are_not_what_was_forgotten(tmp_path: Path) -> None:
    async def main() -> None:
        async with opened(tmp_path) as app:
            content = "Ann: The sign says ██ keep out.\nBob: I painted the fence green."
            await app.retain(REF, [item(content)])
            fence = next(r for r in (await stored(app, "d")).sources if "fence" in r.unit.text)
            await app.forget(REF, unit_ids=[fence.unit.id])
            shown = (await app.browse.document(REF, "d")).text
            assert shown is not None
            assert shown.startswith("Ann: The sign says ██ keep out.\n")
            assert "fence" not in shown
            assert shown.endswith("█")

    asyncio.run(main())


def test_a_corrected_fact_is_found_by_its_new_words(tmp_path: Path) -> None:
    async def main() -> None:
        async with opened(tmp_path, embedder="none") as app:
            await app.retain(REF, [item("Ann: I moved to Ghent with my sister.")])
            await app.retain(REF, [item("Bob: I paint boats.", "other")])
            kept = await stored(app, "d")
            [fact] = kept.facts
            await app.curate(REF, fact.id, Edit(text="Ann moved to Bruges with a walrus."))
            found = await app.recall(REF, "walrus", ASK)
            assert [f.text for f in found.answers[0].facts] == [
                "Ann moved to Bruges with a walrus."
            ]
            await app.curate(REF, fact.id, Edit(text="Ann moved to Bruges with a heron."))
            assert (await app.recall(REF, "walrus", ASK)).answers == ()
            assert len((await app.recall(REF, "heron", ASK)).answers) == 1
            # the words stay findable when the turn itself is corrected elsewhere
            source = kept.sources[0].unit.id
            await app.curate(REF, source, Edit(note="letters"))
            assert len((await app.recall(REF, "heron", ASK)).answers) == 1

    asyncio.run(main())


def test_a_retagged_document_still_says_the_same_as_others(tmp_path: Path) -> None:
    async def main() -> None:
        async with opened(tmp_path) as app:
            text = "Ann: The boiler needs a new valve before winter."
            await app.retain(REF, [item(text, "one", tags=("home",))])
            await app.retain(REF, [item(text, "two")])
            asked = "What does the boiler need?"
            assert len((await app.recall(REF, asked, ASK)).answers) == 2
            await app.curate.retag(REF, "two", ["home"])
            [answer] = (await app.recall(REF, asked, ASK)).answers
            assert answer.proof.count == 2
            await app.curate.retag(REF, "two", ["work"])
            assert len((await app.recall(REF, asked, ASK)).answers) == 2

    asyncio.run(main())


def test_what_is_said_very_often_does_not_crowd_out_the_rest(tmp_path: Path) -> None:
    async def main() -> None:
        async with opened(tmp_path) as app:
            often = [item("The boiler valve in the cellar leaks.", f"r{n}") for n in range(120)]
            rare = [
                item(f"Boiler log, day {n}: the {what} was checked and found in order.", f"x{n}")
                for n, what in enumerate(("pump", "gauge", "filter", "burner"))
            ]
            await app.retain(REF, [*often, *rare])
            found = await app.recall(REF, "boiler valve cellar leaks", RecallOptions(limit=5))
            texts = [answer.unit.text for answer in found.answers]
            assert texts[0].startswith("The boiler valve")
            assert len(set(texts)) == 5

    asyncio.run(main())


def test_the_same_again_adds_no_entity(tmp_path: Path) -> None:
    async def main() -> None:
        async with opened(tmp_path) as app:
            text = "Ann: My neighbour Tarek Aziz works at Globex in Rotterdam."
            counts = []
            for _ in range(2):
                await app.retain(REF, [item(text)])
                async with app.store.snapshot(REF) as view:
                    entities = sorted(e.name for e in await view.entities())
                    counts.append((entities, len((await stored(app, "d")).facts)))
            assert counts[0] == counts[1]
            await app.retain(REF, [item(text, "again"), item(text, "and-again")])
            async with app.store.snapshot(REF) as view:
                assert sorted(e.name for e in await view.entities()) == counts[0][0]

    asyncio.run(main())


def test_a_greeting_says_nothing(tmp_path: Path) -> None:
    async def main() -> None:
        async with opened(tmp_path) as app:
            await app.retain(REF, [item("Hello there!")])
            assert (await stored(app, "d")).facts == []

    asyncio.run(main())


def test_what_the_user_bought_is_the_user_s_with_its_day(tmp_path: Path) -> None:
    at = to_us(datetime(2025, 8, 4, 10, 0, tzinfo=UTC))

    async def main() -> None:
        async with opened(tmp_path) as app:
            content = '[{"role": "user", "content": "I bought a cargo bike yesterday."}]'
            await app.retain(REF, [item(content, timestamp=at)])
            [fact] = (await stored(app, "d")).facts
            assert fact.layer is Layer.FACT
            assert fact.kind.name == "WORLD"
            assert fact.occurred_start is not None
            assert from_us(fact.occurred_start).date().isoformat() == "2025-08-03"

    asyncio.run(main())
