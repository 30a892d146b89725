"""What holds now, what held then, and what became of it, through the library."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path

import pytest

from remembrancer import AsyncMemory, NotFound
from remembrancer.faces.library.memory import make_settings
from remembrancer.nouns.memory import BankRef
from remembrancer.verbs.curate import Edit
from remembrancer.verbs.retaining.units import Item

REF = BankRef("default", "default")
ASK = "Where do I live?"


def day(month: int, number: int = 1) -> datetime:
    return datetime(2024, month, number, 12, tzinfo=UTC)


@asynccontextmanager
async def opened(folder: Path) -> AsyncIterator[AsyncMemory]:
    async with AsyncMemory(make_settings(folder, {"embedder": "hash:64"})) as memory:
        yield memory


async def moved(memory: AsyncMemory) -> None:
    await memory.retain("I live in Lisbon.", timestamp=day(1), document="old")
    await memory.retain("I live in Ghent now.", timestamp=day(6), document="new")


async def found(memory: AsyncMemory, ask: str = ASK, **options: datetime) -> list[tuple[str, bool]]:
    return [(a.text, a.holds) for a in await memory.recall(ask, **options)]


async def test_what_holds_comes_first_and_what_does_not_is_marked(tmp_path: Path) -> None:
    async with opened(tmp_path) as memory:
        await moved(memory)
        new, old = await memory.recall(ASK)
        assert (new.text, new.holds) == ("I live in Ghent now.", True)
        assert (old.holds, old.valid_until) == (False, day(6))
        assert old.superseded_by == (new.id,)
        assert old.memory.facts[0].valid_until == day(6)


@pytest.mark.parametrize("backwards", [False, True])
async def test_the_order_of_telling_does_not_count(tmp_path: Path, backwards: bool) -> None:
    told = [("I live in Lisbon.", day(1)), ("I live in Ghent.", day(6))]
    async with opened(tmp_path) as memory:
        for text, at in told[::-1] if backwards else told:
            await memory.retain(text, timestamp=at)
        assert await found(memory) == [("I live in Ghent.", True), ("I live in Lisbon.", False)]


async def test_as_of_answers_with_what_held_then(tmp_path: Path) -> None:
    async with opened(tmp_path) as memory:
        await moved(memory)
        assert await found(memory, as_of=day(3)) == [("I live in Lisbon.", True)]
        assert (await found(memory, as_of=day(7)))[0] == ("I live in Ghent now.", True)


async def test_what_was_said_later_of_then_is_seen_then(tmp_path: Path) -> None:
    async with opened(tmp_path) as memory:
        await memory.retain("I lived in Rome from 2010 to 2014.", timestamp=day(6))
        assert await found(memory, as_of=datetime(2012, 1, 1, tzinfo=UTC))
        assert not await found(memory, as_of=datetime(2016, 1, 1, tzinfo=UTC))


async def test_history_by_id_and_by_question(tmp_path: Path) -> None:
    async with opened(tmp_path) as memory:
        await moved(memory)
        old, new = await memory.history(ASK)
        assert [(v.value, v.holds) for v in (old, new)] == [("lisbon", False), ("ghent", True)]
        assert (old.superseded_by, old.valid_from, old.valid_until) == (new.id, day(1), day(6))
        assert await memory.history(old.id) == (old, new)
        assert await memory.history(new.memory_id) == (old, new)
        then = await memory.history(ASK, as_of=day(3))
        assert [v.holds for v in then] == [True, False]
        assert await memory.history("What is my shoe size?", bank="other") == ()
        with pytest.raises(NotFound):
            await memory.history(old.id, bank="other")


async def test_forgetting_what_superseded_opens_the_former_again(tmp_path: Path) -> None:
    async with opened(tmp_path) as memory:
        await moved(memory)
        await memory.forget(documents=["new"])
        assert await found(memory) == [("I live in Lisbon.", True)]


async def test_a_document_that_says_something_else_now_counts_as_it_is(tmp_path: Path) -> None:
    async with opened(tmp_path) as memory:
        await moved(memory)
        await memory.retain("I love Ghent.", timestamp=day(6), document="new")
        assert ("I live in Lisbon.", True) in await found(memory)
        await memory.retain("I live in Turin now.", timestamp=day(6), document="new")
        assert (await found(memory))[:2] == [
            ("I live in Turin now.", True),
            ("I live in Lisbon.", False),
        ]


async def test_a_document_told_another_time_moves_in_time(tmp_path: Path) -> None:
    async with opened(tmp_path) as memory:
        await memory.retain("I live in Lisbon.", timestamp=day(1), document="a")
        await memory.retain("I live in Ghent.", timestamp=day(6), document="b")
        await memory.retain("I live in Lisbon.", timestamp=day(9), document="a")
        assert (await found(memory))[0] == ("I live in Lisbon.", True)
        assert ("I live in Ghent.", False) in await found(memory)


async def test_what_people_take_out_or_correct_ends_nothing(tmp_path: Path) -> None:
    async with opened(tmp_path) as memory:
        await moved(memory)
        new = (await memory.history(ASK))[-1]
        memory_id = bytes.fromhex(new.memory_id.replace("-", ""))
        await memory.app.curate(REF, memory_id, Edit(invalid=True))
        assert await found(memory) == [("I live in Lisbon.", True)]
        await memory.app.curate(REF, memory_id, Edit(invalid=False))
        assert ("I live in Lisbon.", False) in await found(memory)
        await memory.app.curate(REF, memory_id, Edit(text="I love Ghent."))
        assert ("I live in Lisbon.", True) in await found(memory)


async def test_other_subjects_and_slots_are_left_alone(tmp_path: Path) -> None:
    others = ["Dana lives in Lisbon.", "I work at Lisbon Ferries.", "I love Lisbon."]
    async with opened(tmp_path) as memory:
        for text in others:
            await memory.retain(text, timestamp=day(1))
        await moved(memory)
        assert {(text, True) for text in others} <= set(await found(memory))


async def test_contradictions_are_answered_together(tmp_path: Path) -> None:
    async with opened(tmp_path) as memory:
        await memory.retain(
            "The tank holds water. The tank's capacity is 40 liters.", timestamp=day(1)
        )
        await memory.retain("The tank's capacity is 55 liters.", timestamp=day(1))
        one, two = await memory.recall("What is the tank's capacity?", limit=2)
        assert (one.holds, two.holds) == (True, True)
        assert (one.contradicts, two.contradicts) == ((two.id,), (one.id,))


async def test_undated_items_contradict_rather_than_supersede(tmp_path: Path) -> None:
    async with opened(tmp_path) as memory:
        await memory.retain_many([Item("I live in Lisbon.", undated=True)])
        await memory.retain_many([Item("I live in Ghent.", undated=True)])
        answers = await memory.recall(ASK)
        assert all(a.holds and a.contradicts for a in answers)


async def test_prime_puts_what_does_not_hold_last_and_says_so(tmp_path: Path) -> None:
    async with opened(tmp_path) as memory:
        await memory.retain("I live in Ghent now.", timestamp=day(6))
        await memory.retain("I live in Lisbon.", timestamp=day(1))
        context = await memory.prime(now=day(7), text=True, window=day(9) - day(1))
        assert [m.text for m in context.memories] == ["I live in Ghent now.", "I live in Lisbon."]
        assert [m.holds for m in context.memories] == [True, False]
        assert context.text is not None
        assert "I live in Lisbon. (no longer so)" in context.text


PARTLY = [
    ("Where do I work?", "I live in Rome and work at Google.", "I moved to Berlin."),
    ("Where do I live?", "I live in Rome and work at Google.", "I work at SAP now."),
    ("Wo wohne ich?", "Ich wohne in Rom und arbeite bei Siemens.", "Ich bin nach Ulm gezogen."),
    ("Does Mia have a cat?", "My sister Mia lives in Rome and has a cat.", "Mia moved to Oslo."),
    (
        "What am I allergic to?",
        "I'm allergic to nuts and shellfish.",
        "I'm no longer allergic to nuts.",
    ),
    ("What do I use?", "I use Vim and Git.", "I no longer use Vim."),
    ("Where do I live?", "I'm vegetarian and live in Rome.", "I eat fish again."),
    ("Where do I live?", "I drive a Golf and live in Rome.", "I sold my Golf."),
]


@pytest.mark.parametrize(("ask", "first", "then"), PARTLY)
async def test_a_memory_holds_while_anything_that_it_says_does(
    tmp_path: Path, ask: str, first: str, then: str
) -> None:
    async with opened(tmp_path) as memory:
        await memory.retain(then, timestamp=day(6))
        await memory.retain(first, timestamp=day(1))
        told = {each.text: each for each in await memory.recall(ask, min_relevance=0)}
        old, new = told[first], told[then]
        assert (old.holds, old.valid_until, new.holds) == (True, None, True)
        assert old.superseded_by == (new.id,)  # in part
        assert old.memory.facts[0].valid_until is None
        assert [m.holds for m in (await memory.prime(now=day(7))).memories] == [True, True]
        before = await memory.recall(ask, min_relevance=0, as_of=day(3))
        assert [(a.text, a.holds, a.superseded_by) for a in before] == [(first, True, ())]


@pytest.mark.parametrize(
    ("first", "then"),
    [
        ("I live in Rome.", ["I moved to Berlin."]),
        ("I live in Rome and work at Google.", ["I moved to Berlin.", "I work at SAP now."]),
        ("I use Helix as my editor.", ["My editor is Zed now."]),
        ("I'm married to Ann.", ["I divorced Ann."]),
        ("I left Google.", ["I work at Google again."]),
        ("I switched from Vim to Helix.", ["I gave up Helix."]),
        ("I eat meat and fish.", ["I don't eat meat any more."]),
        ("I'm vegetarian.", ["I eat fish again."]),
    ],
)
async def test_a_memory_ends_with_all_that_it_says(
    tmp_path: Path, first: str, then: list[str]
) -> None:
    async with opened(tmp_path) as memory:
        await memory.retain(first, timestamp=day(1))
        for number, text in enumerate(then):
            await memory.retain(text, timestamp=day(6 + number))
        told = {each.text: each for each in await memory.recall(first, min_relevance=0)}
        old = told[first]
        assert (old.holds, old.valid_until) == (False, day(5 + len(then)))
        assert old.memory.facts[0].valid_until == old.valid_until
        assert set(old.superseded_by) == {told[text].id for text in then}


async def test_what_took_the_place_of_a_part_is_found_with_it(tmp_path: Path) -> None:
    async with opened(tmp_path) as memory:
        await memory.retain("I live in Rome and work at Google.", timestamp=day(1))
        await memory.retain("I moved to Berlin.", timestamp=day(6))
        for number in range(20):
            await memory.retain(f"Tom told where I live to guest {number}.", timestamp=day(2))
        told = await found(memory, "Where do I live: Rome?")
        assert ("I moved to Berlin.", True) in told
        assert ("I live in Rome and work at Google.", True) in told


async def test_a_fact_that_stands_keeps_its_place_beside_one_that_ended(tmp_path: Path) -> None:
    text = "I live in Rome and work at Google. My shoe size is 44."
    async with opened(tmp_path) as memory:
        await memory.retain(text, timestamp=day(1))
        await memory.retain("I moved to Berlin.", timestamp=day(6))
        assert (await found(memory, text))[0] == (text, True)


@pytest.mark.parametrize(
    "first",
    ["I'm vegetarian. I live in Rome.", "I'm vegetarian and I live in Rome. My dog is called Rex."],
)
async def test_of_a_memory_with_several_facts_the_one_asked_of_counts(
    tmp_path: Path, first: str
) -> None:
    async with opened(tmp_path) as memory:
        await memory.retain(first, timestamp=day(1))
        await memory.retain("I moved to Berlin.", timestamp=day(6))
        told = await memory.recall("Where do I live?", min_relevance=0)
        assert [a.text for a in told] == ["I moved to Berlin.", first]
        assert told[1].superseded_by == (told[0].id,)
        held = await memory.history("Where do I live?")
        assert [(v.slot, v.value, v.holds) for v in held] == [
            ("home", "rome", False),
            ("home", "berlin", True),
        ]


async def test_a_question_does_not_outrank_what_answers_it(tmp_path: Path) -> None:
    async with opened(tmp_path) as memory:
        await memory.retain("Where do I live?", timestamp=day(1))
        await memory.retain("I live in Ghent.", timestamp=day(2))
        assert (await found(memory))[0] == ("I live in Ghent.", True)


async def test_a_bank_has_slots_of_its_own(tmp_path: Path) -> None:
    slot = {"name": "mentor", "phrases": ["am mentored by {value}"]}
    async with opened(tmp_path) as memory:
        await memory.app.banks.update(REF, updates={"slots": [slot]})
        await memory.retain("I am mentored by Ruth.", timestamp=day(1))
        await memory.retain("I am mentored by Ida.", timestamp=day(2))
        held = await memory.history("Who am I mentored by?")
        assert [(v.slot, v.value, v.holds) for v in held] == [
            ("mentor", "ruth", False),
            ("mentor", "ida", True),
        ]
