"""With a model that errs as models do: what was said stays as it was said, and is found."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from served_kit import Served
from told_kit import Mind

from llm_kit import Endpoint, Reply, facts_reply

TEA = "我每天早上喝龙井茶。"
HOME = "Mi chiamo Piero e lavoro in un forno a Bari."
BOAT = "Ann: I sold the old boat to Kerstin for 900 euros."


@pytest.fixture(scope="module")
def endpoint() -> Iterator[Endpoint]:
    with Endpoint(lambda _: facts_reply([])) as found:
        yield found


@pytest.fixture(scope="module")
def thinking(endpoint: Endpoint, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    folder = tmp_path_factory.mktemp("thinking") / "data"
    told = {**endpoint.settings, "embedder": "none", "rate_limit": False}
    with Served(folder, **told) as running:
        yield running


def read(mind: Mind, endpoint: Endpoint, text: str, reply: Reply) -> dict[str, Any]:
    """Retain a text that the model answers so, and return its operation once it was asked."""
    endpoint.script = lambda _: reply
    mind.retain(text)
    mind.served.run(mind.served.app.thinker.drain())
    [operation] = mind.ask("GET", "/operations?type=read_with_model")["operations"]
    told: dict[str, Any] = mind.ask("GET", f"/operations/{operation['id']}")
    return told


def fact(quote: str, text: str) -> dict[str, Any]:
    return {"source": 1, "quote": quote, "text": text}


@pytest.mark.parametrize(
    ("text", "made_up"),
    [
        (TEA, fact(TEA, "The user drinks Longjing tea every morning.")),
        (TEA, fact(TEA, "Maya flew to Lisbon on 3 June 2024.")),
        (HOME, fact(HOME, "Piero works in a bakery in Bari.")),
        (HOME, fact(HOME, "皮耶罗在巴里的一家面包店工作。")),
        (BOAT, fact("I sold the old boat", "Ann lives at 12 Rua Nova and works as a pilot.")),
    ],
    ids=["translated", "example", "translated-latin", "to-chinese", "invented"],
)
def test_what_nobody_said_is_not_kept_and_what_was_said_is(
    thinking: Served, endpoint: Endpoint, text: str, made_up: dict[str, Any]
) -> None:
    mind = Mind(thinking)
    before = read(mind, endpoint, text, facts_reply([made_up]))
    assert before["status"] == "completed"
    spoken = text.removeprefix("Ann: ")
    assert [memory["text"] for memory in mind.memories()] in ([text], [spoken])
    assert all(each["text"] in text for each in mind.facts())
    assert made_up["text"] not in str(mind.prime(format="text"))
    assert sum(before["result_metadata"]["refused"].values()) == 1


GOOD = json.dumps(
    {"facts": [fact("sold the old boat to Kerstin", "Ann sold the boat to Kerstin.")]}
)


@pytest.mark.parametrize(
    "answer",
    [
        f"Sure! Here is the JSON you asked for: {GOOD} Tell me if you need more.",
        f"```json\n{GOOD}\n```\nExplanation: one fact was found.",
        GOOD.replace('{"facts"', '{"confidence": "high", "thoughts": {"n": 1}, "facts"'),
        GOOD.replace('"source"', '"emotion": "proud", "source"'),
    ],
    ids=["prose", "fence", "more-keys", "more-keys-inside"],
)
def test_what_stands_around_an_answer_loses_no_fact(
    thinking: Served, endpoint: Endpoint, answer: str
) -> None:
    mind = Mind(thinking)
    told = read(mind, endpoint, BOAT, Reply(answer))
    assert told["status"] == "completed"
    assert "Ann sold the boat to Kerstin." in [each["text"] for each in mind.facts()]
    usage = told["result_metadata"]["usage"]
    assert (usage["total_tokens"], usage["calls"]) == (110, 1)


@pytest.mark.parametrize(
    "answer", ["I am sorry.", '{"facts": [{"sour', '{"answer": 5}', '{"facts": "none"}', ""]
)
def test_an_answer_that_is_none_loses_nothing_of_what_was_said(
    thinking: Served, endpoint: Endpoint, answer: str
) -> None:
    mind = Mind(thinking)
    read(mind, endpoint, BOAT, Reply(answer))
    assert BOAT.removeprefix("Ann: ") in str(mind.memories())
    assert mind.facts() != []
    assert "Kerstin" in mind.texts("Who bought the old boat? Kerstin")[0]
