"""What a language model is sent for each retained turn, however a transcript comes in.

No model is asked: an endpoint on this machine answers by a script, and what it is sent is
estimated at four bytes a token. So the figures are those of the prompts, not of any model.

    python bench/llm_tokens.py [TURNS]
"""

from __future__ import annotations

import asyncio
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from llm_kit import Endpoint, sources_in
from remembrancer.app import App
from remembrancer.nouns.memory import BankRef
from remembrancer.settings import Settings
from remembrancer.verbs.retaining.units import Item

REF = BankRef("default", "bench")
TURNS = 500
WAYS = {"whole": "at once", "append": "appended, one turn a call", "again": "sent whole each time"}


def turns(count: int) -> list[str]:
    """Return a chat of two, one line a turn."""
    return [
        f"{'Ann' if n % 2 else 'Ben'}: In week {n} I moved shelf {n * 7 % 101} of the archive to "
        f"room {n * 3 % 47}, and the label now says lot {n}."
        for n in range(count)
    ]


async def sent(way: str, lines: Sequence[str]) -> tuple[int, int, int]:
    """Retain a chat in one way; return requests, tokens, and turns shown to be read."""
    with Endpoint() as endpoint, tempfile.TemporaryDirectory() as folder:
        told: dict[str, Any] = {**endpoint.settings, "embedder": "none"}
        app = await App.open(Settings(data=Path(folder), **told), background=False)
        try:
            for number in range(1 if way == "whole" else len(lines)):
                text = {"whole": "\n".join(lines), "append": lines[number]}.get(
                    way, "\n".join(lines[: number + 1])
                )
                item = Item(text, document="chat", append=way == "append")
                await app.retain(REF, [item])
                await app.thinker.drain()
        finally:
            await app.close()
        texts = [m["content"] for body in endpoint.requests for m in body["messages"]]
        shown = sum(len(sources_in(body)) for body in endpoint.requests)
        return len(endpoint.requests), sum(len(t.encode()) for t in texts) // 4, shown


async def main(count: int) -> None:
    """Print the table."""
    lines = turns(count)
    size = sum(len(line.encode()) for line in lines) // 4
    print(f"{count} turns, {size} tokens of text\n")
    print("| way | requests | tokens sent | turns read | tokens a turn |")
    print("|---|---|---|---|---|")
    for way, name in WAYS.items():
        requests, tokens, shown = await sent(way, lines)
        print(f"| {name} | {requests} | {tokens} | {shown} | {tokens / count:.0f} |")


if __name__ == "__main__":
    asyncio.run(main(int(sys.argv[1]) if len(sys.argv) > 1 else TURNS))
