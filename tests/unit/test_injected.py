"""Text that nobody told is kept, and no fact or name is read from it."""

from __future__ import annotations

import json

import pytest

from remembrancer.finding.terms import Analyzer
from remembrancer.nouns.clock import FixedClock, from_us
from remembrancer.nouns.ids import IdMaker
from remembrancer.nouns.memory import Role
from remembrancer.reading.dates import find_dates
from remembrancer.reading.facts import read_statements
from remembrancer.reading.names import prepare
from remembrancer.reading.types import DateSpan
from remembrancer.verbs.retaining.facts import FactReader
from remembrancer.verbs.retaining.layout import lay_out
from remembrancer.verbs.retaining.units import Drafter, Item

NOW = 1_750_000_000_000_000
LINES = "- Petra lives in Lyon\n- Petra has two cats"


def dates_of(text: str, reference: int, offset_min: int | None) -> list[DateSpan]:
    return find_dates(text, from_us(reference))


def facts(*contents: str) -> tuple[list[str], list[str]]:
    """Return the facts and the names that are read from a document of these items."""
    ids = IdMaker(FixedClock(NOW), bytes)
    items = [Item(content) for content in contents]
    drafter = Drafter(Analyzer("en"), ids, dates_of)
    draft = drafter.draft(b"d" * 16, items, lay_out(contents).said, NOW)
    read = FactReader(ids).read(draft.sources, prepare(()))
    assert read.unread == 0
    names = sorted(mention.entity.name for mention in read.mentions)
    return [row.unit.text for row in read.facts], names


ALONE = [
    f"<memories>\n{LINES}\n</memories>",
    f"<memory>{LINES}</memory>",
    f"<recalled_memories>\n{LINES}",
    f"<user_context>\n{LINES}\n</user_context>",
    f"<system-reminder>\n{LINES}\n</system-reminder>",
    f"<tool_result>\n{LINES}\n</tool_result>",
    f"[MEMORIES]\n{LINES}\n[/MEMORIES]",
    f"--- BEGIN MEMORY ---\n{LINES}\n--- END MEMORY ---",
    f"=== Recalled memories ===\n{LINES}\n=== End of memories ===",
    f"Relevant memories:\n{LINES}",
    f"Relevant memories:\n\n{LINES}",
    f"User memories (2):\n{LINES}",
    f"Here is what I remember:\n\n{LINES}",
    f"Here are some relevant memories from earlier chats:\n{LINES}",
    f"The following memories may help:\n{LINES}",
    f"## Memory\n{LINES}",
    f"### Recalled context\n{LINES}",
    f"Context from memory:\n{LINES}",
    f"MEMORY CONTEXT (injected):\n{LINES}",
    "You are a helpful assistant. Petra lives in Lyon.",
    "You are Nova, a friendly assistant. Petra lives in Lyon.",
    "You are an expert baker's guide. You must answer shortly. Petra lives in Lyon.",
    "You are a helpful assistant.\n\nPetra lives in Lyon.\n\nPetra has two cats.",
    "System: Petra lives in Lyon.",
    "Extract the facts from the text below.\nPetra lives in Lyon.",
    "Input: Petra lives in Lyon.\nOutput: [lives in Lyon]",
    "2025-03-04 05:06:07 INFO worker: The job moved 12 files",
    "[ERROR] The door was closed on Friday.",
    "Mar  4 05:06:07 host cron[77]: The job moved 12 files",
    "[cron] The job moved 12 files. The disk has 3 errors.",
    "The scheduled task sweep was run at 5.\nThe disk has 3 errors.",
    "Tool output:\nThe disk has 3 errors.",
    "$ ls\n",
    "As an AI language model, I have no home in Lyon.",
]


@pytest.mark.parametrize("text", ALONE)
def test_nothing_is_read_from_what_nobody_told(text: str) -> None:
    assert facts(text)[0] == []
    assert read_statements(text, speaker=None, role=Role.USER, known=(), dates=lambda _: []) == []
    as_chat = json.dumps([{"role": "user", "content": text}])
    assert facts(as_chat)[0] == []


@pytest.mark.parametrize("text", [text for text in ALONE[:19] if not text.endswith("s>\n" + LINES)])
def test_what_is_told_after_a_block_is_read(text: str) -> None:
    said = f"{text}\n\nI bought a canoe from Clara."
    if text.startswith("<recalled"):  # never closed
        assert facts(said) == ([], [])
    else:
        assert facts(said) == (["I bought a canoe from Clara."], ["Clara"])


def test_a_block_may_run_over_paragraphs_and_passages() -> None:
    apart = (
        "<memories>\n- Petra lives in Lyon\n\n- Petra has two cats\n</memories>\n\nI own a canoe."
    )
    assert facts(apart)[0] == ["I own a canoe."]
    long = "\n".join(f"- Petra bought {n} maps of Lyon from her friend Bob" for n in range(90))
    told = f"Relevant memories:\n{long}\n\nI own a canoe."
    assert facts(json.dumps([{"role": "user", "content": told}]))[0] == ["I own a canoe."]
    code = "\n".join(f"The node {n} was moved to Lyon on Friday." for n in range(90))
    assert facts(json.dumps([{"role": "user", "content": f"```\n{code}\n```"}])) == ([], [])


def test_a_block_ends_with_its_item() -> None:
    assert facts("<memories>\nPetra lives in Lyon.", "I own a canoe.")[0] == ["I own a canoe."]
    assert facts("You are a helpful assistant.", "I own a canoe.")[0] == ["I own a canoe."]


def test_no_names_are_read_from_what_nobody_told() -> None:
    told = "Relevant memories:\n- I met Petra in Lyon\n\nI met Clara in Bern."
    assert facts(told)[1] == ["Bern", "Clara"]
    turns = [{"role": r, "content": "We met Petra in Lyon."} for r in ("system", "tool")]
    assert facts(json.dumps(turns)) == ([], [])


@pytest.mark.parametrize(
    "text",
    [
        "You are a great coach! I ran five miles in Lyon.",
        "You are such a role model to me. I moved to Lyon.",
        "Warning signs were everywhere. I left Lyon on Friday.",
        "I keep memories of Lyon: I met Clara there in 2019.",
        "My memory is bad. I forgot the keys in Lyon.",
        "I use a memory foam mattress from Lyon.",
        "- I bought a memory card in Lyon",
        "As an AI engineer, I work in Lyon.",
        "The system at my job in Lyon is old. I work with Clara.",
    ],
)
def test_what_people_tell_is_read(text: str) -> None:
    assert facts(text)[0] != []


def test_what_an_example_says_is_never_read_into_other_text() -> None:
    for text in ("随便说的一句话", "Mi chiamo Piero e vivo a Modena", "hi"):
        assert facts(text)[0] == []
