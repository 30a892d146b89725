"""Reflect's parts: schemas, statements, the composed text, and filling."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from remembrancer.finding.terms import Analyzer
from remembrancer.nouns.clock import DAY_US, to_us
from remembrancer.nouns.errors import InvalidInput
from remembrancer.nouns.ids import IdMaker
from remembrancer.nouns.memory import Layer, Modality, Polarity, Precision, Role, Unit
from remembrancer.nouns.text import estimate_tokens
from remembrancer.verbs.recalling.recollection import Answer, Arms
from remembrancer.verbs.reflecting.composing import compose
from remembrancer.verbs.reflecting.filling import Filler
from remembrancer.verbs.reflecting.response_schema import MAX_DEPTH, MAX_PARTS, read_schema
from remembrancer.verbs.reflecting.statements import Statement, relevant, statements_of

IDS = IdMaker()
TERMS = Analyzer().terms
MAY = to_us(datetime(2024, 5, 2, 12, tzinfo=UTC))
NOW = MAY + 400 * DAY_US


def unit(text: str, **more: Any) -> Unit:
    values: dict[str, Any] = {"layer": Layer.SOURCE, "created_at": MAY, "mentioned_at": MAY}
    return Unit(IDS.new(), text=text, **{**values, **more})


def answer(source: Unit, *facts: Unit, cosine: float | None = 0.9, **more: Any) -> Answer:
    arms = Arms(1.0, 1.0, cosine, cosine, 0, 0, 0)
    return Answer(source, facts, more.pop("document", None), 1.0, arms, **more)


def fact(text: str, **more: Any) -> Unit:
    return unit(text, layer=Layer.FACT, **more)


def told(source: Unit, *facts: Unit, **more: Any) -> Answer:
    """An answer with facts that stand in its source."""
    spans = [(source.text.find(f.text), f) for f in facts]
    placed = [replace(f, source_id=source.id, start=at, end=at + len(f.text)) for at, f in spans]
    return answer(source, *placed, **more)


def said(*texts: str, speaker: str | None = "Ann", **more: Any) -> list[Statement]:
    """Statements, each the only one of its memory."""
    answers = [told(unit(t, speaker=speaker), fact(t, **more)) for t in texts]
    return statements_of(answers, [], TERMS, NOW)


def fill(schema: dict[str, Any], statements: list[Statement], asked: str = "") -> Any:
    def dated(statement: Statement) -> list[tuple[int, int]]:
        at = statement.text.find("2024")
        return [(at, at + 4)] if at >= 0 else []

    filler = Filler(TERMS, dated, frozenset(TERMS(asked)))
    return filler.fill(read_schema(schema), statements), filler.missing


def prop(required: bool = False, **inner: Any) -> dict[str, Any]:
    """A schema of an object with properties given as keyword arguments."""
    return {"type": "object", "properties": inner, "required": list(inner) if required else []}


# What counts as an answer


def test_an_answer_is_near_or_shares_words_with_the_question() -> None:
    near = answer(unit("Something else"), cosine=0.7)
    shares = answer(unit("The cello has four strings"), cosine=0.1)
    neither = answer(unit("It rained"), cosine=0.5)
    bare = answer(unit("My cello is old"), cosine=None)
    found = relevant([near, shares, neither, bare], TERMS("cello strings"), TERMS)
    assert found == [near, shares, bare]
    assert relevant([neither], [], TERMS) == []


def test_what_fits_is_quoted_and_else_the_whole_memory() -> None:
    source = unit("Hello there! I play the cello. My bike is red.", speaker="Ann")
    both = [told(source, fact("I play the cello."))]
    found = statements_of(both, TERMS("play cello"), TERMS, NOW)
    assert [s.text for s in found] == ["I play the cello."]
    found = statements_of(both, TERMS("red bike"), TERMS, NOW)
    assert [s.text for s in found] == ["My bike is red."]
    found = statements_of(both, TERMS("loud music"), TERMS, NOW)
    assert [s.text for s in found] == [source.text]
    broad = statements_of(both, TERMS("cello"), TERMS, NOW)
    every = statements_of(both, TERMS("music"), TERMS, NOW, every=True)
    assert [s.text for s in every] == ["Hello there!", "I play the cello.", "My bike is red."]
    assert broad == every
    long = unit(" ".join(f"Sentence number {n} is here." for n in range(20)))
    assert len(statements_of([answer(long)], TERMS("music"), TERMS, NOW)) == 20


def test_each_thing_is_said_once_and_questions_are_no_statements() -> None:
    answers = [
        answer(unit("The bike is red", speaker="Ann")),
        answer(unit("the bike is red!", speaker="Ann")),
        answer(unit("The bike is red", speaker="Ben")),
        told(
            unit("Is the bike red? It is a bike", speaker="Cy"),
            fact("Is the bike red?", modality=Modality.ASKED),
        ),
        answer(unit("A red bike?", speaker="Di")),
    ]
    found = statements_of(answers, TERMS("bike"), TERMS, NOW)
    assert [(s.speaker, s.text) for s in found] == [
        ("Ann", "The bike is red"),
        ("Ben", "The bike is red"),
        ("Cy", "It is a bike"),
    ]


def test_what_no_longer_holds_is_left_out_unless_it_is_all_there_is() -> None:
    old = fact("I live in Bergen", valid_until=MAY)
    new = fact("I live in Oslo", valid_until=NOW + 1)
    answers = [told(unit(old.text), old), told(unit(new.text), new)]
    asked = TERMS("live")
    assert [s.text for s in statements_of(answers, asked, TERMS, NOW)] == ["I live in Oslo"]
    only = statements_of(answers[:1], asked, TERMS, NOW)
    assert [s.ended for s in only] == [MAY]
    assert "no longer so since 2024-05-02" in compose("live?", only, 100)[0]


# The text


def test_statements_are_grouped_by_day_newest_first() -> None:
    answers = [
        answer(unit("The boat is blue", speaker="Ann", mentioned_at=MAY)),
        answer(unit("The boat is green", speaker="Ben", mentioned_at=MAY + 3 * DAY_US)),
        answer(unit("The boat leaks", mentioned_at=MAY), document="log"),
        answer(unit("The boat floats", mentioned_at=MAY, role=Role.USER)),
    ]
    text, used = compose("Which\nboat?", statements_of(answers, [], TERMS, NOW), 500)
    assert text.splitlines() == [
        "What is known about “Which boat?”, newest first:",
        "",
        "2024-05-05",
        "- Ben: “The boat is green”",
        "",
        "2024-05-02",
        "- Ann: “The boat is blue”",
        "- from log: “The boat leaks”",
        "- user: “The boat floats”",
    ]
    assert [s.text for s in used] == [a.unit.text for a in answers]


@pytest.mark.parametrize(
    ("fact", "mark"),
    [
        ({"polarity": Polarity.NEGATED}, "denied"),
        ({"modality": Modality.PLANNED}, "planned"),
        (
            {"occurred_start": MAY, "occurred_end": MAY + 1, "precision": Precision.DAY},
            "2024-05-02",
        ),
        (
            {"occurred_start": MAY, "occurred_end": MAY + 2 * DAY_US, "precision": Precision.WEEK},
            "2024-05-02 to 2024-05-04",
        ),
        (
            {"occurred_start": MAY, "occurred_end": MAY + 1, "precision": Precision.MINUTE},
            "2024-05-02 12:00",
        ),
    ],
)
def test_marks_tell_how_it_was_meant_and_when(fact: dict[str, Any], mark: str) -> None:
    text, _ = compose("x", said("The boat sails", **fact), 100)
    assert text.endswith(f"- Ann: “The boat sails” ({mark})")


def test_days_are_those_of_the_speaker() -> None:
    late = to_us(datetime(2024, 5, 2, 23, 30, tzinfo=UTC))
    abroad = answer(unit("It is late", mentioned_at=late, offset_min=120))
    text, _ = compose("x", statements_of([abroad], [], TERMS, NOW), 100)
    assert "2024-05-03" in text


@pytest.mark.parametrize("budget", [1, 10, 30, 60, 200])
def test_the_text_stays_within_its_tokens(budget: int) -> None:
    long = "A very long story about a boat " * 20
    statements = said(long, *(f"The boat has mast number {n}" for n in range(20)))
    text, used = compose("Which boat?", statements, budget)
    assert text
    assert estimate_tokens(text) <= budget
    assert all(s.text in text for s in used) or len(used) == 1
    assert budget < 60 or "mast number 0" in text


def test_nothing_known_is_said_so() -> None:
    assert compose("Who is Zoe?", [], 100) == ("Nothing is known about “Who is Zoe?”.", [])
    assert estimate_tokens(compose("x" * 5_000, [], 5)[0]) <= 5


# Schemas


@pytest.mark.parametrize(
    ("schema", "field"),
    [
        ([], "response_schema"),
        ("object", "response_schema"),
        ({"type": "thing"}, "response_schema.type"),
        ({"type": "array", "items": {}}, "response_schema"),
        ({"type": "object", "properties": []}, "response_schema.properties"),
        ({"properties": {"a": 5}}, "response_schema.properties.a"),
        ({"properties": {"a": {"enum": []}}}, "response_schema.properties.a.enum"),
        ({"properties": {"a": {"$ref": "http://x"}}}, "response_schema.properties.a"),
        ({"properties": {"a": {"$ref": "#/gone"}}}, "response_schema.properties.a"),
        ({"required": "a", "properties": {}}, "response_schema.required"),
        ({"properties": {"a": {"anyOf": []}}}, "response_schema.properties.a.anyOf"),
        ({"properties": {"a": {"minimum": "low"}}}, "response_schema.properties.a.minimum"),
        ({"properties": {str(n): {} for n in range(MAX_PARTS)}}, "response_schema"),
        ({"properties": {"a": {"description": "x" * 70_000}}}, "response_schema"),
    ],
)
def test_what_is_no_schema_is_refused(schema: Any, field: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        read_schema(schema)
    assert caught.value.field == field


def test_deep_and_endless_schemas_are_refused() -> None:
    deep: dict[str, Any] = {"type": "string"}
    for _ in range(MAX_DEPTH + 1):
        deep = prop(a=deep)
    endless = {"$defs": {"n": {"properties": {"n": {"$ref": "#/$defs/n"}}}}, "$ref": "#/$defs/n"}
    circle = {"$defs": {"a": {"$ref": "#/$defs/a"}}, "properties": {"x": {"$ref": "#/$defs/a"}}}
    for schema in (deep, endless, circle):
        with pytest.raises(InvalidInput) as caught:
            read_schema(schema)
        assert caught.value.limit == MAX_DEPTH


def test_references_choices_and_merges_are_followed() -> None:
    schema = {
        "$defs": {"Pet": {"type": "object", "properties": {"colour": {"type": "string"}}}},
        "allOf": [prop(required=True, pet={"$ref": "#/$defs/Pet"})],
        "properties": {"age": {"anyOf": [{"type": "integer"}, {"type": "null"}]}},
    }
    shape = read_schema(schema)
    assert shape.required == {"pet"}
    assert shape.properties["pet"].properties["colour"].type == "string"
    assert (shape.properties["age"].type, shape.properties["age"].nullable) == ("integer", True)


# Filling


def test_texts_are_the_statements_that_share_words() -> None:
    statements = said("I ride a bike to work", "My cello is old")
    found, missing = fill(prop(cello={"type": "string"}, sister={"type": "string"}), statements)
    assert found == {"cello": "My cello is old"}
    assert missing == []
    told = {"x1": {"type": "string", "description": "How she gets to work"}}
    assert fill(prop(**told), statements)[0] == {"x1": "I ride a bike to work"}


def test_numbers_are_those_next_to_the_word_and_no_dates() -> None:
    statements = said("In 2024 I had 3 dogs and twelve cats, and paid 1,250.50 for food")
    schema = prop(
        dogs={"type": "integer"}, catCount={"type": "integer"}, food={"type": "number"},
        boats={"type": "integer"}, year={"type": "integer", "description": "the year of the dogs"},
    )  # fmt: skip
    found, _ = fill(schema, statements)
    assert found == {"dogs": 3, "catCount": 12, "food": 1250.5, "year": 2024}
    bounded = prop(dogs={"type": "integer", "minimum": 10})
    assert fill(bounded, statements)[0] == {"dogs": 12}


def test_booleans_follow_polarity() -> None:
    no = said("I don't eat meat", polarity=Polarity.NEGATED)
    yes = said("I drive a car")
    schema = prop(eats_meat={"type": "boolean"}, drives_car={"type": "boolean"})
    assert fill(schema, yes + no)[0] == {"eats_meat": False, "drives_car": True}


def test_dates_are_those_that_statements_speak_of() -> None:
    day = {"occurred_start": MAY, "occurred_end": MAY + 1, "precision": Precision.DAY}
    statements = said("We married in spring", **day) + said("The boat was sold")
    schema = prop(
        married={"type": "string", "format": "date"}, wedding_date={"type": "string"},
        at={"type": "string", "format": "date-time", "description": "when they married"},
        sold={"type": "string", "format": "date"},
    )  # fmt: skip
    assert fill(schema, statements)[0] == {
        "married": "2024-05-02",
        "at": "2024-05-02T12:00:00Z",
    }
    assert fill(prop(date={"type": "string"}), statements)[0] == {"date": "2024-05-02"}


def test_names_and_addresses_are_read() -> None:
    text = "I am Ann, ann@example.org, I moved to Oslo and work at Equinor"
    statements = said(text, entities=("Ann", "Oslo", "Equinor"))
    schema = prop(
        email={"type": "string"}, city={"type": "string"}, url={"type": "string", "format": "uri"},
        employer={"type": "string"}, person={"type": "string"},
    )  # fmt: skip
    assert fill(schema, statements, "Where is Ann?")[0] == {
        "email": "ann@example.org",
        "city": "Oslo",
        "employer": "Equinor",
        "person": "Oslo",
    }
    assert fill(prop(names={"type": "array"}), statements)[0] == {
        "names": ["Ann", "Oslo", "Equinor"]
    }
    assert fill(prop(city={"type": "string"}), said("Ann sings", entities=("Ann",)))[0] == {}


def test_enums_take_what_is_affirmed() -> None:
    statements = said("I never drink tea", polarity=Polarity.NEGATED) + said("I drink black coffee")
    drink = {"type": "string", "enum": ["tea", "coffee", "unknown"]}
    assert fill(prop(drink=drink), statements)[0] == {"drink": "coffee"}
    found, missing = fill(prop(required=True, drink=drink), statements[:1])
    assert (found, missing) == ({"drink": "unknown"}, ["drink"])
    assert fill(prop(kind={"const": "drink"}), [])[0] == {"kind": "drink"}


def test_lists_and_objects_are_filled_from_each_statement() -> None:
    statements = said("My dog Rex is 5 years old", "My dog Ada is 7 years old", "It rained")
    dogs = {"type": "array", "items": prop(age={"type": "integer", "description": "years old"})}
    assert fill(prop(dogs=dogs), statements)[0] == {"dogs": [{"age": 5}, {"age": 7}]}
    texts = {"type": "array", "items": {"type": "string"}, "maxItems": 1}
    assert fill(prop(dogs=texts), statements)[0] == {"dogs": ["My dog Rex is 5 years old"]}
    inner = {"dog": prop(age={"type": "integer", "description": "years"})}
    assert fill(prop(**inner), statements)[0] == {"dog": {"age": 5}}
    assert fill(prop(summary={"type": "string"}), statements)[0]["summary"].count("“") == 3


def test_required_properties_are_there_and_named_when_nothing_fits() -> None:
    schema = prop(
        required=True,
        text_of={"type": "string"}, maybe={"type": ["string", "null"]}, count={"type": "integer",
        "minimum": 1}, flag={"type": "boolean"}, several={"type": "array"},
        inner=prop(required=True, boat={"type": "string"}),
    )  # fmt: skip
    found, missing = fill(schema, [])
    assert found == {
        "text_of": "", "maybe": None, "count": 1, "flag": False, "several": [],
        "inner": {"boat": ""},
    }  # fmt: skip
    assert set(missing) >= {"text_of", "maybe", "count", "flag", "several", "inner"}


def test_texts_keep_their_bounds() -> None:
    statements = said("My cello is old and heavy")
    short = {"type": "string", "maxLength": 8}
    assert fill(prop(cello=short), statements)[0] == {"cello": "My cello"}
    long = {"type": "string", "minLength": 100}
    assert fill(prop(cello=long), statements)[0] == {}
