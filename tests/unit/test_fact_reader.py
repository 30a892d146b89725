"""From a document to its facts: who said them, of what kind they are, when, and what they cause."""

from __future__ import annotations

import json
from typing import Any

import pytest

from remembrancer.finding.terms import Analyzer
from remembrancer.nouns.clock import FixedClock, from_us
from remembrancer.nouns.ids import IdMaker
from remembrancer.nouns.memory import Kind, LinkType, Modality, Polarity, Unit
from remembrancer.reading.dates import find_dates
from remembrancer.reading.names import prepare
from remembrancer.reading.types import DateSpan
from remembrancer.verbs.retaining.facts import FactReader, ReadFacts
from remembrancer.verbs.retaining.layout import lay_out
from remembrancer.verbs.retaining.units import Drafter, Item, Source

NOW = 1_750_000_000_000_000  # 2025-06-15T15:06:40Z
DAY = 86_400_000_000


def dates_of(text: str, reference: int, offset_min: int | None) -> list[DateSpan]:
    return find_dates(text, from_us(reference))


def read(content: Any, *known: str, **more: Any) -> tuple[list[Source], ReadFacts]:
    """Return the sources of a document of one item, and what is read from them."""
    text = content if isinstance(content, str) else json.dumps(content)
    ids = IdMaker(FixedClock(NOW))
    drafter = Drafter(Analyzer("en"), ids, dates_of)
    draft = drafter.draft(b"d" * 16, [Item(text, **more)], lay_out([text]).said, NOW)
    speakers = [s.row.unit.speaker for s in draft.sources if s.row.unit.speaker]
    found = FactReader(ids).read(draft.sources, prepare([*known, *speakers]))
    assert found.unread == 0
    texts = {s.row.unit.id: s.row.unit.text for s in draft.sources}
    for fact in facts(found):  # every fact stands in its source, word for word
        assert texts[fact.source_id or b""][fact.start : fact.end] == fact.text
    return draft.sources, found


def facts(found: ReadFacts) -> list[Unit]:
    return [row.unit for row in found.facts]


def names(found: ReadFacts) -> set[str]:
    return {mention.entity.name for mention in found.mentions}


def test_what_a_user_did_is_about_the_world_and_what_the_agent_did_its_experience() -> None:
    _, found = read(
        [
            {"role": "user", "content": "I bought a tent yesterday."},
            {"role": "assistant", "content": "I've ordered the map. You should buy a stove."},
            {"role": "user", "content": "You ordered the map for Lyon."},
        ]
    )
    tent, map_ = facts(found)
    assert (tent.subject, tent.kind) == ("user", Kind.WORLD)
    day = NOW - NOW % DAY
    assert (tent.occurred_start, tent.occurred_end) == (day - DAY, day)
    assert (map_.text, map_.subject) == ("I've ordered the map.", "assistant")
    assert map_.kind is Kind.EXPERIENCE


@pytest.mark.parametrize(
    "advice",
    [
        "You should move to Lyon.",
        "I recommend a flat in Lyon.",
        "Lyon is a lovely town with 2 rivers.",
        "Anna lives in Lyon.",
        "I know that you live in Lyon.",
        "I'd suggest the blue one for 40 euros.",
        "As you told me, your sister lives in Lyon.",
    ],
)
def test_the_advice_of_an_assistant_is_no_fact(advice: str) -> None:
    assert facts(read([{"role": "assistant", "content": advice}])[1]) == []


def test_every_part_of_a_long_turn_is_its_speaker_s() -> None:
    tale = " ".join(f"I painted house number {n} in the old street of Lyon." for n in range(120))
    sources, found = read(f"Ann: Tell me about it.\nBob: {tale}")
    parts = [s.row.unit for s in sources if s.row.unit.turn == 1]
    assert len(parts) > 5
    assert {part.speaker for part in parts} == {"Bob"}
    assert {fact.subject for fact in facts(found)} == {"Bob"}
    assert len(facts(found)) == 120


def test_labels_of_the_caller_are_no_actors() -> None:
    _, found = read("deploy failed", note="slack:#Infra-Team", metadata={"bank": "Team"})
    assert (facts(found), names(found)) == ([], set())
    _, found = read("I own a canoe.", note="slack:#Infra-Team", tags=("Ops",))
    assert [fact.subject for fact in facts(found)] == [None]
    assert names(found) == set()


@pytest.mark.parametrize(
    "text",
    ["Mi chiamo Piero e lavoro a Bari.", "我住在上海，喜欢喝茶。", "Ich koche seit Mai in Ulm."],
)
def test_what_is_not_english_stays_as_it_was_said(text: str) -> None:
    sources, found = read(text)
    assert [s.row.unit.text for s in sources] == [text]
    assert facts(found) == []


def test_names_in_code_are_no_entities() -> None:
    code = "I wrote this for Clara:\n\n```java\nclass Handler { String Node; Vec Total; }\n```"
    sources, found = read([{"role": "user", "content": code}])
    assert names(found) == {"Clara"}
    assert "class Handler" in " ".join(s.row.unit.text for s in sources)


def test_a_relation_is_of_the_one_it_is_told_of() -> None:
    _, found = read([{"role": "user", "content": "My friend Paul is a nurse. He knows Rita."}])
    nurse, knows = facts(found)
    assert (nurse.subject, knows.subject) == ("Paul", "Paul")
    assert knows.entities == ("Paul", "Rita")


def test_a_denial_and_what_is_affirmed_are_two_facts() -> None:
    _, found = read("The user does not drink beer and drinks cider")
    assert [(f.text, f.subject, f.polarity) for f in facts(found)] == [
        ("The user does not drink beer", "user", Polarity.NEGATED),
        ("drinks cider", "user", Polarity.AFFIRMED),
    ]


@pytest.mark.parametrize(
    "text",
    [
        "Do you know anything about Rita?",
        "do you remember Rita from Lyon",
        "Who is Rita",
        "when did I move to Rome",
        "hi",
    ],
)
def test_a_question_says_nothing(text: str) -> None:
    assert facts(read(text)[1]) == []


def test_the_words_of_others_are_quoted() -> None:
    _, found = read("Ann: Bob told me that he sold the boat.\nBob: I never sold it in Lyon.")
    assert [(f.subject, f.modality) for f in facts(found)] == [
        ("Bob", Modality.QUOTED),
        ("Bob", Modality.ASSERTED),
    ]


def test_causes_are_links_between_facts() -> None:
    _, found = read("Ann: I sold the boat because my knee hurts.\nBob: I own a canoe.")
    sold, hurts, _ = facts(found)
    [link] = found.links
    assert (link.source, link.target, link.type) == (sold.id, hurts.id, LinkType.CAUSED_BY)


def test_facts_and_sources_know_what_they_say() -> None:
    sources, found = read("Ann: I sold the boat. It was old.\n\nBob: ok")
    again, more = read("Ann: I really sold the boat! It was old.\n\nBob: ok")
    keys = [[row.same for row in read.facts] for read in (found, more)]
    assert keys[0] == keys[1]
    assert None not in keys[0]
    assert [s.row.same for s in sources] == [s.row.same for s in again]
    assert [s.row.same is None for s in sources] == [False, True]
