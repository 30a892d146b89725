"""Retains chats one after the other and recalls now and then, until it is killed."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

from remembrancer.app import App
from remembrancer.finding import compaction
from remembrancer.nouns.memory import BankRef
from remembrancer.settings import Settings
from remembrancer.verbs.retaining.units import Item

REF = BankRef("default", "bank")
TURNS = 4
RETAINS = 500


def chat(number: int) -> str:
    """A chat whose turns each hold its number, so that a half of it would be seen."""
    return "\n".join(
        f"{name}: I saw boat{number} with {name.lower()}{number} and took picture {i}."
        for i, name in enumerate(["Ann", "Bob"] * (TURNS // 2))
    )


async def main(folder: Path, first: int) -> None:
    """Retain from number `first`, printing each once it is acknowledged."""
    compaction.TAIL_ROWS = 40  # compact all the time
    app = await App.open(Settings(data=folder, embedder="hash:64"))
    for number in range(first, first + RETAINS):
        await app.retain(REF, [Item(chat(number), document=f"d{number}")])
        print(number, flush=True)
        if number % 3 == 0:
            await app.recall(REF, f"Who saw boat{number}?")
    print("all", flush=True)


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1]), int(sys.argv[2])))
