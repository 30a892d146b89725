"""What a language model is sent for each retained turn, however a transcript comes in.

No model is asked: an endpoint on this machine answers by a script, and what it is sent is
estimated at four bytes a token. So the figures are those of the prompts, not of any model.

    python -m bench.llm_tokens [TURNS] [--json llm_tokens.json]
"""

from __future__ import annotations

import asyncio
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from bench import report
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


async def main(count: int) -> dict[str, float]:
    """Print the table; return its figures by name."""
    lines = turns(count)
    size = sum(len(line.encode()) for line in lines) // 4
    figures: dict[str, float] = {"llm.turns": count, "llm.text_tokens": size}
    print(f"{count} turns, {size} tokens of text\n")
    print("| way | requests | tokens sent | turns read | tokens a turn |")
    print("|---|---|---|---|---|")
    for way, name in WAYS.items():
        requests, tokens, shown = await sent(way, lines)
        print(f"| {name} | {requests} | {tokens} | {shown} | {tokens / count:.0f} |")
        figures |= {
            f"llm.{way}.requests": requests,
            f"llm.{way}.tokens": tokens,
            f"llm.{way}.turns_read": shown,
            f"llm.{way}.tokens_a_turn": round(tokens / count, 1),
        }
    return figures


if __name__ == "__main__":
    parser = report.parser("llm_tokens", __doc__ or "", "python -m bench.llm_tokens 100")
    parser.add_argument("turns", nargs="?", type=int, default=TURNS, help="of the chat")
    options = parser.parse_args()
    report.write(options.json, asyncio.run(main(options.turns)))
