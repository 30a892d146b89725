"""A flood in a process of its own: many clients that each ask again when they have an answer.

It prints a line when it has its first answer, ends when its standard input is closed, and then
prints what came of it, as JSON: answers by status, refused ones without Retry-After, broken
connections, seconds, and those that its own processor took.
"""

from __future__ import annotations

import argparse
import asyncio
import itertools
import json
import os
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from . import made
from .wires import Wire, recall_of, retain_of

KINDS = ("recall", "retain", "huge")
_QUESTIONS = 500
_RETAINED, _RETAINED_TURNS = 100, 20
_PAUSE_S = 0.01  # after a broken connection
_END_S = 30.0


class Flood:
    """A flood under way; `told` is what came of it once its block has ended."""

    def __init__(self) -> None:
        self.told: dict[str, Any] = {}

    @property
    def shed(self) -> float:
        """Share of the answers that were refusals."""
        answers = {k: v for k, v in self.told["answers"].items() if k != "broken"}
        total = sum(answers.values())
        refused = sum(n for status, n in answers.items() if status in {"429", "503"})
        return float(refused / total) if total else 0.0

    @property
    def done_per_s(self) -> float:
        """Requests a second that were done."""
        done: int = self.told["answers"].get("200", 0)
        return done / float(self.told["seconds"])

    @property
    def processor(self) -> float:
        """Share of a processor that the flood itself took: server and victim lacked it."""
        return float(self.told["processor_s"]) / float(self.told["seconds"])


@contextmanager
def flood(
    port: int, key: str, kind: str, bank: str, turns: int, clients: int, megabytes: int = 0
) -> Iterator[Flood]:
    """Flood for the length of the block."""
    command = [sys.executable, "-m", "bench.flooding", str(port), kind, bank]
    command += ["--turns", str(turns), "--clients", str(clients), "--megabytes", str(megabytes)]
    process = subprocess.Popen(
        command,
        env=os.environ | {"FLOOD_KEY": key},
        cwd=Path(__file__).parents[1],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    made_here = Flood()
    try:
        assert process.stdout is not None
        if not process.stdout.readline():
            raise RuntimeError("the flood did not begin")
        yield made_here
        out, _ = process.communicate(timeout=_END_S)
        made_here.told = json.loads(out)
    finally:
        if process.poll() is None:
            process.kill()
            process.wait()


def main(argv: Sequence[str] | None = None) -> None:
    """Run a flood until standard input ends."""
    parser = argparse.ArgumentParser(prog="python -m bench.flooding", description=__doc__)
    parser.add_argument("port", type=int)
    parser.add_argument("kind", choices=KINDS)
    parser.add_argument("bank")
    parser.add_argument("--turns", type=int, default=1_000)
    parser.add_argument("--clients", type=int, default=64)
    parser.add_argument("--megabytes", type=int, default=0, help="of a huge body")
    options = parser.parse_args(argv)
    print(json.dumps(asyncio.run(_run(options))))


async def _run(options: argparse.Namespace) -> dict[str, Any]:
    answers: Counter[str] = Counter()
    unsaid = 0
    answered = asyncio.Event()
    requests = _requests(options)

    async def client() -> None:
        nonlocal unsaid
        async with Wire(options.port, os.environ["FLOOD_KEY"]) as wire:
            while True:
                path, body = next(requests)
                try:
                    told = await wire.post(path, body)
                except OSError:
                    answers["broken"] += 1
                    await asyncio.sleep(_PAUSE_S)
                    continue
                answers[str(told.status)] += 1
                answered.set()
                unsaid += told.status in {429, 503} and told.retry_after is None

    started, worked = time.monotonic(), time.process_time()
    clients = [asyncio.create_task(client()) for _ in range(options.clients)]
    await answered.wait()
    print("begun", flush=True)
    await asyncio.to_thread(sys.stdin.read)
    for each in clients:
        each.cancel()
    await asyncio.gather(*clients, return_exceptions=True)
    return {
        "answers": dict(answers),
        "unsaid": unsaid,
        "seconds": time.monotonic() - started,
        "processor_s": time.process_time() - worked,
    }


def _requests(options: argparse.Namespace) -> Iterator[tuple[str, bytes]]:
    """Yield what is sent, for ever."""
    if options.kind == "recall":
        asked = made.questions(options.bank, options.turns, _QUESTIONS, "flood")
        yield from itertools.cycle([recall_of(options.bank, each) for each in asked])
    elif options.kind == "retain":
        texts = [
            json.dumps(made.document(f"flood-{number}", number, _RETAINED_TURNS))
            for number in range(_RETAINED)
        ]
        for number in itertools.count():
            yield retain_of("flooded", texts[number % _RETAINED], f"flood-{number}")
    else:
        line = "The kettle of the neighbour is blue, and so is the gate. "
        content = line * (options.megabytes * 1_000_000 // len(line))
        # No document can be so long: it is read, parsed and refused.
        sent = retain_of("flooded", content, "huge")
        yield from itertools.repeat(sent)


if __name__ == "__main__":
    main()
