"""The library, first as plain code, then async: keep a chat, ask it, prime from it, forget.

    python examples/library.py [FOLDER]

Without a folder a temporary one is used.
"""

from __future__ import annotations

import asyncio
import sys
import tempfile
from datetime import datetime

import remembrancer

CHAT = [
    {"role": "user", "name": "Ann", "content": "I moved to Berlin last Friday, to Kreuzberg."},
    {"role": "assistant", "content": "Welcome to Berlin! How is the new flat?"},
    {"role": "user", "name": "Ann", "content": "Small. My sister Eva stays until 20 June."},
    {"role": "assistant", "content": "Try the Markthalle Neun together on a Thursday evening."},
]
SAID = datetime.fromisoformat("2026-06-09T18:00:00+02:00")


def plain(folder: str) -> None:
    """Keep a chat and ask about it."""
    with remembrancer.open(folder) as memory:
        done = memory.retain(CHAT, bank="ann", timestamp=SAID, document="first chat")
        print(f"kept {done.sources} turns and {done.facts} facts")

        for question in ("Where did Ann move?", "Where to on a Thursday evening?"):
            best = memory.recall(question, bank="ann", limit=1)[0]
            print(f"\n{question}\n  {best.memory.said_at:%d %b %Y}: {best.text}")
            for fact in best.memory.facts:
                when = f" [{fact.occurred[0]:%a %d %b %Y}]" if fact.occurred else ""
                print(f"  - {fact.subject}: {fact.text}{when}")


async def in_an_event_loop(folder: str) -> None:
    """Prime from the same folder, forget one memory, and see that it is gone."""
    async with remembrancer.open_async(folder) as memory:
        context = await memory.prime(bank="ann", cue="visitors", max_memories=3)
        print("\nContext for the next conversation:")
        for primed in context.memories:
            print(f"  {primed.memory.speaker or primed.memory.role}: {primed.text}")

        sister = (await memory.recall("Who is Ann's sister?", bank="ann", limit=1))[0]
        receipt = await memory.forget([sister.id], bank="ann")
        left = await memory.recall("Who is Ann's sister?", bank="ann")
        print(f"\nForgot: {sister.text} ({len(receipt.ids)} erased)")
        print(f"Found again: {'yes' if sister.id in [found.id for found in left] else 'no'}")


def main() -> None:
    """Run both in one folder."""
    if len(sys.argv) > 1:
        plain(sys.argv[1])
        asyncio.run(in_an_event_loop(sys.argv[1]))
        return
    with tempfile.TemporaryDirectory() as folder:
        plain(folder)
        asyncio.run(in_an_event_loop(folder))


if __name__ == "__main__":
    main()
