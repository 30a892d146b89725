"""What is said again a few turns later is registered once."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from remembrancer.app import App
from remembrancer.keeping.worker import Worker
from remembrancer.nouns.clock import FixedClock, to_us
from remembrancer.nouns.memory import BankRef
from remembrancer.settings import Settings
from remembrancer.verbs.reprocess import REPROCESS
from remembrancer.verbs.retaining.units import Item

NOW = to_us(datetime(2026, 5, 4, 9, tzinfo=UTC))  # a Monday
REF = BankRef("default", "chat")
FILLER = ["User: Thanks.\nAssistant: You are welcome."] * 3


def registered(folder: Path, parts: Sequence[str], *, again: bool = False) -> list[str]:
    """Return what is to be done after a chat that came in parts; `again`: and was reprocessed."""

    async def main() -> list[str]:
        clock = FixedClock(NOW)
        settings = Settings(data=folder, embedder="none")
        app = await App.open(settings, clock=clock, background=False)
        try:
            for part in parts:
                said = clock.now_us()
                item = Item(part, document="chat", timestamp=said, offset_min=0, append=True)
                await app.retain(REF, [item])
                clock.advance(timedelta(seconds=40))
            if again:
                await app.reprocess.enqueue(REF, "chat")
                await Worker(app.store, {REPROCESS: app.reprocess.run}, clock=clock).drain()
            return sorted(i.content for i in (await app.remind.listing(REF, None, 100))[0])
        finally:
            await app.close()

    return asyncio.run(main())


@pytest.mark.parametrize(
    ("ask", "answer", "kept"),
    [
        ("Remind me to call my mum at 5 pm.", "Sure, I'll remind you to call your mum at 5 pm.", 1),
        ("Remind me in 20 minutes to air the room.", "I've set a reminder to air the room.", 1),
        (
            "Remind me in 20 minutes to air the room.",
            "Done! I've set a reminder to air the room in 20 minutes.",
            1,
        ),
        ("Remind me every Friday to water it.", "I'll remind you every Friday to water it.", 1),
        ("Remind me to call Ann when the deploy is done.", "I'll call Ann at noon.", 2),
        ("Remind me to call Ann tomorrow at 5 pm.", "I'll remind you to call Ann at 5 pm.", 2),
        ("Remind me to call Ann at 5 pm.", "I'll remind you to call Bob at 5 pm.", 2),
        ("I moved to Bonn.", "I'll remind you to call Ann at 5 pm.", 1),
        # what is sure stands beside what was only proposed
        ("I need to call Ann at 5 pm.", "I'll remind you to call Ann at 5 pm.", 2),
    ],
)
@pytest.mark.parametrize("apart", [False, True])
def test_an_answer_that_repeats_the_ask(
    tmp_path: Path, ask: str, answer: str, kept: int, apart: bool
) -> None:
    parts = [f"User: {ask}\nAssistant: All right.", f"User: Please.\nAssistant: {answer}"]
    found = registered(tmp_path, parts if apart else ["\n".join(parts)])
    assert len(found) == kept, found


def test_reading_again_adds_no_repeat(tmp_path: Path) -> None:
    chat = "User: Remind me to call mum at 5 pm.\nAssistant: I'll remind you to call mum at 5 pm."
    assert registered(tmp_path, [chat], again=True) == ["call mum"]


def test_what_is_said_much_later_is_an_ask_of_its_own(tmp_path: Path) -> None:
    ask = "User: Remind me to call mum at 5 pm.\nAssistant: All right."
    assert registered(tmp_path, [ask, *FILLER, ask]) == ["call mum", "call mum"]


def test_one_turn_may_say_it_twice(tmp_path: Path) -> None:
    chat = (
        "User: It is about mum.\nAssistant: I'll remind you to call mum at 5 pm. So: "
        "I've set a reminder to call your mum at 5 pm."
    )
    assert registered(tmp_path, [chat]) == ["call mum"]
