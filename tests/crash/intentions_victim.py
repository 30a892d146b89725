"""Registers, fires, delivers and acknowledges until it is killed; one child a round.

The parent imports once and forks for each line that it reads: `FOLDER FIRST`. The child prints its
pid, then what is acknowledged to it.
"""

from __future__ import annotations

import asyncio
import os
import random
import sys
import time
from pathlib import Path

from remembrancer.app import App
from remembrancer.nouns.intention import TriggerType
from remembrancer.nouns.memory import BankRef
from remembrancer.settings import Settings
from remembrancer.verbs.check import CheckOptions
from remembrancer.verbs.remind import Reminder

PUSHED = BankRef("default", "pushed")
PULLED = BankRef("default", "pulled")
BATCH = 4
MOST = 2_000  # batches


def settings(folder: Path) -> Settings:
    """What all processes open the folder with."""
    return Settings(data=folder, embedder="none", webhook_allow_private=True, worker_lease_s=2)


def say(line: str) -> None:
    """Tell the test, in one piece."""
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


async def pull(app: App) -> None:
    """Lease what is due and acknowledge it, printing `acked OCCURRENCE` for each."""
    while True:
        found = await app.check(PULLED, CheckOptions(limit=2))
        for due in found.due:
            await app.occurrences.ack(PULLED, due.occurrence.id, due.occurrence.token, None)
            say(f"acked {due.occurrence.id.hex()}")
        await asyncio.sleep(0.01)


async def main(folder: Path, first: int) -> None:
    """Register from number `first`, printing `kept NUMBER DUE` once each is acknowledged."""
    dice = random.Random(first)
    app = await App.open(settings(folder), watch=True)
    pulling = asyncio.create_task(pull(app))
    for start in range(first, first + MOST * BATCH, BATCH):
        now = time.time_ns() // 1_000
        told = [
            Reminder(f"n{n}", TriggerType.TIME, trigger_at=now + dice.randrange(200_000))
            for n in range(start, start + BATCH)
        ]
        await app.remind(PUSHED, told)
        await app.remind(PULLED, told)
        for reminder in told:
            say(f"kept {reminder.content[1:]} {reminder.trigger_at}")
        await asyncio.sleep(dice.uniform(0, 0.03))
    await pulling


if __name__ == "__main__":
    for line in sys.stdin:
        where, number = line.split()
        if (child := os.fork()) == 0:
            say(f"pid {os.getpid()}")
            asyncio.run(main(Path(where), int(number)))
            os._exit(0)
        os.waitpid(child, 0)
        say("over")
