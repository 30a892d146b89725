"""Personal data and secrets: what is found, what is not, and what retain does about it."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest

from remembrancer.app import App
from remembrancer.nouns.caller import Caller
from remembrancer.nouns.errors import InvalidInput
from remembrancer.nouns.memory import BankRef
from remembrancer.reading.sensitive import find, redacted
from remembrancer.settings import Settings
from remembrancer.verbs.curate import Edit
from remembrancer.verbs.insights import Insight
from remembrancer.verbs.retaining.guarding import Guard
from remembrancer.verbs.retaining.units import Item
from remembrancer.verbs.revise import Revision

REF = BankRef("default", "b")


def kinds(text: str) -> list[str]:
    return [found.kind for found in find(text)]


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("Write to mira.o-neill+x@post.example.org, please.", "email"),
        ("She pays with 4242 4242 4242 4242 as always.", "card"),
        ("The account is DE89 3704 0044 0532 0130 00 now.", "iban"),
        ("His number there was 219-09-9999.", "ssn"),
        ("Ring +49 30 901820 after six.", "phone"),
        ("Ring (212) 555-0147 after six.", "phone"),
        ("Use " + "AKIA" + "QWERTYUIOPASDFGH in the job.", "token"),
        ("Use ghp_" + "a1B2c3D4e5F6" * 3 + " there.", "token"),
        ("The password is Tr0ub4dor&3x.", "password"),
        ("api_key=9f8a7b6c5d4e3f2a", "password"),
        (
            "-----BEGIN EC PRIVATE KEY-----\nMHcCAQEE\n-----END EC PRIVATE KEY-----",
            "private_key",
        ),
    ],
)
def test_what_is_found(text: str, kind: str) -> None:
    assert kinds(text) == [kind]
    assert kinds(redacted(text, find(text))) == []
    assert f"[{kind}]" in redacted(text, find(text))


@pytest.mark.parametrize(
    "text",
    [
        "We meet on 2026-05-08 at 10:00 in room 4242.",
        "The order 4242 4242 4242 4243 has a wrong digit.",
        "DE00 3704 0044 0532 0130 00 is no account.",
        "Say it with @mira and not by mail.",
        "The password is not known to anybody.",
        "It grew from 1 000 to 2 000 000 in 10-12 years.",
        "Version 1.2.3-4 of 555-1234.",
    ],
)
def test_what_is_not(text: str) -> None:
    assert kinds(text) == []


PIECES = ["a@", "1 ", "-----BEGIN PRIVATE KEY-----", "eyJaaaaaaaa.", "+1(", "a@b.co "]


@pytest.mark.parametrize("piece", PIECES)
def test_long_texts_of_one_piece_come_to_an_end(piece: str) -> None:
    text = piece * (1_000_000 // len(piece))  # what is squared in this would not
    found = find(text)
    assert all(a.end <= b.start for a, b in pairwise(found))


async def kept(folder: Path, item: Item, **settings: str) -> tuple[list[str], tuple[str, ...]]:
    app = await App.open(Settings(data=folder, embedder="none", **settings), background=False)
    try:
        await app.retain(REF, [item])
        async with app.store.snapshot(REF) as view:
            [document] = await view.documents(limit=2)
            units = await view.units_of(document.id)
            return [unit.text for unit in units], document.tags
    finally:
        await app.close()


ITEM = Item(
    "Mira's address is mira@post.example.org.", document="d", metadata={"by": "x@y.example"}
)


def test_redacted_it_is_in_no_byte_of_the_folder(tmp_path: Path) -> None:
    texts, _ = asyncio.run(kept(tmp_path, ITEM, sensitive="redact"))
    assert all("[email]" in text for text in texts)
    for path in tmp_path.rglob("*"):
        assert not path.is_file() or b"post.example" not in path.read_bytes()
        assert not path.is_file() or b"y.example" not in path.read_bytes()


def test_flagged_it_is_tagged_and_kept(tmp_path: Path) -> None:
    texts, tags = asyncio.run(kept(tmp_path, ITEM, sensitive="flag"))
    assert any("mira@post" in text for text in texts)
    assert tags == ("sensitive:email",)


def test_blocked_it_is_refused_without_being_told(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput) as caught:
        asyncio.run(kept(tmp_path, ITEM, sensitive="block"))
    assert caught.value.field == "items[0].content"
    assert "email" in caught.value.message
    assert "mira@" not in caught.value.message


def test_off_by_default_and_kinds_are_checked(tmp_path: Path) -> None:
    texts, tags = asyncio.run(kept(tmp_path, ITEM))
    assert any("mira@post" in text for text in texts)
    assert tags == ()
    assert Guard("redact", ("card",)).text("Ask a@b.example.", "x") == "Ask a@b.example."
    with pytest.raises(InvalidInput):
        Guard("redact", ("names",))


def test_memories_told_singly_are_guarded(tmp_path: Path) -> None:
    async def tell() -> str:
        settings = Settings(data=tmp_path, embedder="none", sensitive="redact")
        app = await App.open(settings, background=False)
        try:
            return (await app.memories.remember(REF, "Ask mira@post.example.org.")).text
        finally:
            await app.close()

    assert asyncio.run(tell()) == "Ask [email]."


CARD = "4111 1111 1111 1111"
CONTEXT = {
    "mail": "bob@example.com",
    "deep": [{"note": f"pays with {CARD}"}, 4111111111111111, 4111111111111111.0],
    "bob@example.com": True,
    "password": "Tr0ub4dor&3x",
    "count": 41,
    "none": None,
}
REDACTED = {
    "mail": "[email]",
    "deep": [{"note": "pays with [card]"}, "[card]", "[card]"],
    "[email]": True,
    "password": "[password]",
    "count": 41,
    "none": None,
}


def test_attributes_are_guarded_at_any_depth() -> None:
    assert Guard("redact").attributes(CONTEXT, "context") == REDACTED
    assert Guard("redact").attributes(REDACTED, "context") == REDACTED
    for mode in (Guard(), Guard("flag"), Guard("redact", ("iban",))):
        assert mode.attributes(CONTEXT, "context") == CONTEXT
    for name, value in CONTEXT.items():
        if name in {"count", "none"}:
            continue
        with pytest.raises(InvalidInput) as caught:
            Guard("block").attributes({name: value}, "context")
        assert caught.value.field == "context"
        assert str(value) not in caught.value.message


def guarded(folder: Path, mode: str, work: Callable[[App], Awaitable[None]]) -> None:
    async def main() -> None:
        settings = Settings(data=folder, embedder="hash:64", sensitive=mode)
        app = await App.open(settings, background=False)
        try:
            await work(app)
        finally:
            await app.close()

    asyncio.run(main())


async def insights_of(app: App, *insights: Insight) -> None:
    """Remember five notes, and commit insights that rest on them."""
    basis = tuple([(await app.memories.remember(REF, "The lock leaks.")).id for _ in range(5)])
    prepared = await app.memories.insights.prepare(Caller(), REF)
    told = [replace(each, basis=basis) for each in insights]
    await app.memories.insights.commit(Caller(), prepared.session, told)


def test_whatever_is_told_of_a_memory_is_redacted(tmp_path: Path) -> None:
    async def work(app: App) -> None:
        unit = await app.memories.remember(REF, "A note.", attributes=CONTEXT)
        assert unit.attributes == REDACTED
        revision = Revision(attributes={"more": {"mail": "cy@example.com"}})
        kept = await app.memories.revise(Caller(), unit.id, revision)
        assert kept.unit.attributes == {**REDACTED, "more": {"mail": "[email]"}}
        await app.curate(REF, unit.id, Edit(text="Ask dora@example.com."))
        [kept] = await app.memories.lookup.several(REF, [unit.id])
        assert kept.unit.text == "Ask [email]."
        told = Insight("Ask eve@example.com.", 0.9, tags=("fay@example.com",))
        await insights_of(app, told)
        [insight] = await app.memories.insights.listed(Caller(), REF)
        assert insight.unit.text == "Ask [email]."
        assert (insight.unit.attributes or {})["reflect_tags"] == ["[email]"]

    guarded(tmp_path, "redact", work)
    for path in tmp_path.rglob("*"):
        assert not path.is_file() or b"@example.com" not in path.read_bytes()


def test_whatever_is_told_of_a_memory_may_be_refused(tmp_path: Path) -> None:
    async def work(app: App) -> None:
        with pytest.raises(InvalidInput, match="context holds"):
            await app.memories.remember(REF, "A note.", attributes=CONTEXT)
        unit = await app.memories.remember(REF, "A note.")
        for revision in (Revision(attributes=CONTEXT), Revision(content=f"Pay with {CARD}.")):
            with pytest.raises(InvalidInput, match="holds what is not to be kept"):
                await app.memories.revise(Caller(), unit.id, revision)
        with pytest.raises(InvalidInput, match="text holds"):
            await app.curate(REF, unit.id, Edit(text=f"Pay with {CARD}."))
        fine = Insight("Locks leak.", 0.9)
        for insight in (Insight(f"Pay with {CARD}.", 0.9), Insight("Pay.", 0.9, tags=(CARD,))):
            with pytest.raises(InvalidInput, match="insights"):
                await insights_of(app, fine, insight)
        assert await app.memories.insights.listed(Caller(), REF) == []

    guarded(tmp_path, "block", work)
