"""Names by the rules, with what a recogniser marks beside them."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Sequence
from typing import Any

import pytest

from remembrancer.finding.terms import Analyzer
from remembrancer.nouns.clock import FixedClock
from remembrancer.nouns.ids import IdMaker
from remembrancer.reading.names import prepare
from remembrancer.reading.naming import (
    PIECE,
    Named,
    Recognised,
    RecognisedNames,
    RuleNames,
    pieces,
)
from remembrancer.reading.types import Span
from remembrancer.verbs.retaining.facts import FactReader
from remembrancer.verbs.retaining.layout import lay_out
from remembrancer.verbs.retaining.units import Drafter, Item

NOBODY = prepare(())


class Marks:
    """A recogniser that marks some words wherever they stand, and keeps what it was shown."""

    def __init__(self, **labels: str) -> None:
        self.labels = {words.replace("_", " "): label for words, label in labels.items()}
        self.shown: list[str] = []

    def __call__(self, text: str) -> Sequence[Recognised]:
        self.shown.append(text)
        found = []
        for words, label in self.labels.items():
            at = text.find(words)
            while at >= 0:
                found.append(Recognised(at, at + len(words), label))
                at = text.find(words, at + len(words))
        return sorted(found)


def find(text: str, marks: Callable[[str], Sequence[Recognised]], **more: Any) -> list[Named]:
    found = RecognisedNames(marks).find(text, more.pop("known", NOBODY), **more)
    ends = [each.span.end for each in found]
    assert all(end <= after.span.start for end, after in zip(ends, found[1:], strict=False))
    return found


def told(text: str, **labels: str) -> list[tuple[str, str]]:
    """Return names and kinds; each name must stand in the text where its span says."""
    found = find(text, Marks(**labels))
    assert all(text[each.span.start : each.span.end] == each.name for each in found)
    return [(each.name, each.kind) for each in found]


TAKEN: list[tuple[str, dict[str, str], list[tuple[str, str]]]] = [
    # the first word of a sentence, which the rules leave alone
    ("Zalando called. Then I slept.", {"Zalando": "ORG"}, [("Zalando", "organization")]),
    ("🎉 Ghent was cold.", {"Ghent": "GPE"}, [("Ghent", "place")]),
    # a text without capitals
    ("we took the train to ghent", {"ghent": "GPE"}, [("ghent", "place")]),
    ("i saw sarah in may", {"sarah": "PERSON"}, [("sarah", "person")]),
    ("the red cross helped us", {"the_red_cross": "ORG"}, [("red cross", "organization")]),
    ("we fly to new ghent", {"new_ghent": "GPE"}, [("new ghent", "place")]),
    ("I'm off. i live in ghent.", {"ghent": "GPE"}, [("ghent", "place")]),
    # a possessive is no part of a name
    ("Ikea's sofa broke.", {"Ikea's": "ORG"}, [("Ikea", "organization")]),
    # with other models' labels
    ("wir waren in gent", {"gent": "LOC"}, [("gent", "place")]),
]


@pytest.mark.parametrize(("text", "labels", "expected"), TAKEN)
def test_what_is_recognised_is_taken(
    text: str, labels: dict[str, str], expected: list[tuple[str, str]]
) -> None:
    assert RuleNames().find(text, NOBODY) == []
    assert told(text, **labels) == expected


DOUBTED: list[tuple[str, dict[str, str]]] = [
    ("Awww, so sweet.", {"Awww": "PERSON"}),
    ("Lemme know.", {"Lemme": "PERSON"}),
    ("Proud of this.", {"Proud": "PERSON"}),  # no given name
    ("Catch it!", {"Catch": "ORG"}),  # a verb
    ("That is kinda odd.", {"kinda": "GPE"}),  # small in a text with capitals
    ("tacos for dinner", {"tacos": "PERSON"}),  # small, and no given name
    ("nah dunno", {"nah_dunno": "ORG"}),
    ("my new gym is far", {"new_gym": "ORG"}),
    ("we met on friday", {"friday": "GPE"}),
    ("It cost 30 dollars last May.", {"30_dollars": "MONEY", "last_May": "DATE"}),
    ("It was 42 to 7.", {"42": "PRODUCT"}),
    ("THE GHENT SHOP IS CLOSED", {"GHENT": "GPE"}),  # capitals tell nothing
    ("we took the ferry to\nghent", {"to\nghent": "GPE"}),
]


@pytest.mark.parametrize(("text", "labels"), DOUBTED)
def test_what_models_mistake_is_not_taken(text: str, labels: dict[str, str]) -> None:
    assert told(text, **labels) == []


OWN_FIRST: list[tuple[str, dict[str, str], list[tuple[str, str]]]] = [
    ("We met Anna Lee.", {"Anna_Lee": "PERSON"}, [("Anna Lee", "person")]),
    ("We met Dr. Brno Quay.", {"Brno_Quay": "PERSON"}, [("Dr. Brno Quay", "person")]),
    (
        "I work at the Royal Society.",
        {"the_Royal_Society": "ORG"},
        [("Royal Society", "organization")],
    ),
    # another extent: the rules' name, and nothing is known of its kind
    ("We saw Tesla Model 3.", {"Model_3": "PRODUCT"}, [("Tesla Model 3", "")]),
    ("We ate at Anna's Diner.", {"Anna's_Diner": "ORG"}, [("Anna", ""), ("Diner", "")]),
    # a model's word on an unusual name is not taken for who is a person, or is none
    ("We know Harbour Robotics.", {"Harbour_Robotics": "PERSON"}, [("Harbour Robotics", "")]),
    ("We saw Anna Lee.", {"Anna_Lee": "ORG"}, [("Anna Lee", "")]),
]


@pytest.mark.parametrize(("text", "labels", "expected"), OWN_FIRST)
def test_the_rules_come_first(
    text: str, labels: dict[str, str], expected: list[tuple[str, str]]
) -> None:
    own = [each.name for each in RuleNames().find(text, NOBODY)]
    assert own == [name for name, _ in expected]
    assert told(text, **labels) == expected


def test_a_known_name_keeps_how_it_is_known() -> None:
    found = find("Today BOB came.", Marks(BOB="PERSON"), known=prepare(["Bob"]))
    assert found == [Named("Bob", Span(6, 9), "person")]


HIDDEN = [
    "```\nghent\n```",
    "see `ghent` here",
    "see https://ghent.example/ghent",
    "    ghent = 1\n",
    "| ghent | 3 |",
    "<memories>\nhe lives in ghent\n</memories>",
    "Relevant memories:\n- he lives in ghent\n",
    "dear [your name], greetings from ghent",
    "## ghent",
]


@pytest.mark.parametrize("text", HIDDEN)
def test_what_the_rules_pass_over_stays_so(text: str) -> None:
    assert told(text, ghent="GPE") == []
    after = f"{text}\n\nwe live in ghent now"
    assert told(after, ghent="GPE") == [("ghent", "place")]


def test_what_nobody_told_is_not_shown_to_the_recogniser() -> None:
    marks = Marks(ghent="GPE")
    text = "we like ghent. old words of ghent. and ghent again"
    found = find(text, marks, hidden=[Span(15, 35)])
    assert [each.span.start for each in found] == [8, 39]
    assert marks.shown == [text[:15], text[35:]]


def test_offsets_are_characters_of_the_whole_text() -> None:
    text = "🎉 née ﬁ\n" + "so we went on. " * 400 + "then we saw ghent"
    marks = Marks(ghent="GPE")
    (found,) = find(text, marks)
    assert text[found.span.start : found.span.end] == "ghent"
    assert len(marks.shown) > 1
    assert "".join(marks.shown) == text


@pytest.mark.parametrize("unit", ["word ", "Sentence one. ", "line\n", "x"])
def test_pieces_are_bounded_and_lose_nothing(unit: str) -> None:
    text = unit * (5 * PIECE // len(unit))
    found = list(pieces(text, []))
    assert all(0 < piece.end - piece.start <= PIECE for piece in found)
    assert "".join(text[piece.start : piece.end] for piece in found) == text
    if unit != "x":  # cut between words
        assert all(text[piece.start : piece.end].endswith(unit[-1]) for piece in found)


def test_without_letters_nothing_is_asked() -> None:
    marks = Marks(ghent="GPE")
    assert find("12 + 4 = 16!", marks) == []
    assert marks.shown == []


def test_when_it_fails_the_rules_read_alone_and_it_is_said_once(
    caplog: pytest.LogCaptureFixture,
) -> None:
    def broken(text: str) -> Sequence[Recognised]:
        raise RuntimeError("no")

    names = RecognisedNames(broken)
    with caplog.at_level(logging.ERROR):
        for _ in range(3):
            assert names.find("I met Anna.", NOBODY) == RuleNames().find("I met Anna.", NOBODY)
    assert len(caplog.records) == 1


def read(
    turns: list[dict[str, str]], **labels: str
) -> tuple[dict[str, str], list[tuple[str, ...]]]:
    """Return the kinds of entities by name, and the names in facts, of a chat."""
    text = json.dumps(turns)
    ids = IdMaker(FixedClock(0))
    drafter = Drafter(Analyzer("en"), ids, lambda *_: [])
    draft = drafter.draft(b"d" * 16, [Item(text)], lay_out([text]).said, 0)
    found = FactReader(ids, names=RecognisedNames(Marks(**labels))).read(draft.sources, NOBODY)
    assert found.unread == 0
    kinds = {mention.entity.name: mention.entity.kind for mention in found.mentions}
    return kinds, [row.unit.entities for row in found.facts]


def test_facts_and_entities_get_names_and_kinds() -> None:
    kinds, facts = read([{"role": "user", "content": "we moved to ghent last year"}], ghent="GPE")
    assert kinds["ghent"] == "place"
    assert facts == [("ghent",)]


def test_kinds_that_differ_are_none() -> None:
    turns = [{"role": "user", "content": f"we saw zalando {n} times"} for n in ("two", "nine")]
    kinds, _ = read(turns, zalando_two="ORG", zalando="GPE")
    assert kinds["zalando"] == "place"
    turns[0]["content"] = "Zalando came. Zalando left."
    turns[1]["content"] = "zalando came"
    assert read(turns, Zalando="ORG", zalando="GPE")[0] == {"Zalando": "thing", "zalando": "thing"}


def test_systems_and_tools_name_nobody() -> None:
    turns = [{"role": role, "content": "we went to ghent"} for role in ("system", "tool")]
    assert read(turns, ghent="GPE") == ({}, [])
