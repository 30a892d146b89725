"""kill -9 while intentions are registered, fire, are delivered, leased and acknowledged.

None that was acknowledged to its caller is lost, none comes before its time, and what comes twice
comes under the same occurrence.
"""

from __future__ import annotations

import asyncio
import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections import defaultdict
from pathlib import Path

from intentions_victim import PULLED, PUSHED, settings
from sink import Call, Sink

from remembrancer.app import App
from remembrancer.keeping.worker import Worker
from remembrancer.nouns.clock import SystemClock
from remembrancer.nouns.intention import OccurrenceState
from remembrancer.nouns.memory import BankRef
from remembrancer.verbs.check import CheckOptions, Mode
from remembrancer.verbs.telling.webhooks import INTENTION_DUE, Webhook

VICTIM = Path(__file__).with_name("intentions_victim.py")
ROUNDS = 20  # times `prove`: 200 in full
ROUNDS_A_FOLDER = 10


class Later:
    """A clock a minute ahead, when the leases of the dead have run out."""

    def now_us(self) -> int:
        return SystemClock().now_us() + 60_000_000


class Victims:
    """Starts and kills them, and gathers what they said."""

    def __init__(self) -> None:
        self._parent = subprocess.Popen(
            [sys.executable, str(VICTIM)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        self.kept: dict[int, int] = {}
        self.acked: set[bytes] = set()

    def run_and_kill(self, folder: Path, first: int, after_s: float) -> None:
        """Kill a victim some time after its first intention was acknowledged."""
        assert self._parent.stdin is not None
        assert self._parent.stdout is not None
        self._parent.stdin.write(f"{folder} {first}\n")
        self._parent.stdin.flush()
        pid = int(self._parent.stdout.readline().split()[1])
        timer = threading.Timer(after_s, os.kill, (pid, signal.SIGKILL))
        started = False
        while (line := self._parent.stdout.readline()) != "over\n":
            assert line, "the victims' parent ended"
            if not started:
                timer.start()
                started = True
            self._take(line.removesuffix("over\n"))
            if line.endswith("over\n"):  # after a line that was cut short
                break
        timer.join()

    def _take(self, line: str) -> None:
        words = line.split()
        if not line.endswith("\n"):
            return
        if words[0] == "kept":
            self.kept[int(words[1])] = int(words[2])
        elif words[0] == "acked":
            self.acked.add(bytes.fromhex(words[1]))

    def close(self) -> None:
        assert self._parent.stdin is not None
        assert self._parent.stdout is not None
        self._parent.stdin.close()
        self._parent.wait(30)
        self._parent.stdout.close()


async def subscribe(folder: Path, url: str) -> None:
    app = await App.open(settings(folder), background=False)
    await app.webhooks.create(PUSHED, Webhook("", url, "key", (INTENTION_DUE,)))
    await app.close()


async def finish(folder: Path) -> dict[BankRef, dict[str, list[OccurrenceState]]]:
    """Deliver and take what is left; return the states of what each intention was due by."""
    app = await App.open(settings(folder), clock=Later(), background=False)
    try:
        courier: Worker = app.courier
        while await app.watch.look() or await courier.drain():
            pass
        while (await app.check(PULLED, CheckOptions(mode=Mode.CONSUME, limit=1_000))).due:
            pass
        found: dict[BankRef, dict[str, list[OccurrenceState]]] = {}
        for ref in (PUSHED, PULLED):
            states: dict[str, list[OccurrenceState]] = defaultdict(list)
            for offer in await app.store.offers(ref, limit=1_000_000):
                states[offer.intention.content].append(offer.occurrence.state)
            found[ref] = dict(states)
        return found
    finally:
        await app.close()


async def states_of(folder: Path, ids: set[bytes]) -> set[OccurrenceState]:
    app = await App.open(settings(folder), background=False)
    try:
        offers = await app.store.offers_by_id(PULLED, sorted(ids))
        assert len(offers) == len(ids)
        return {o.occurrence.state for o in offers}
    finally:
        await app.close()


def check_calls(kept: dict[int, int], calls: list[Call]) -> int:
    """Return how many came more than once."""
    occurrences: dict[str, set[str]] = defaultdict(set)
    for call in calls:
        assert call.at >= call.due_at
        occurrences[call.content].add(call.occurrence)
        number = int(call.content[1:])
        assert kept.get(number, call.due_at) == call.due_at
    assert {f"n{number}" for number in kept} <= set(occurrences)
    assert all(len(ids) == 1 for ids in occurrences.values())
    return len(calls) - len(occurrences)


def test_nothing_is_lost_early_or_twice_under_two_names(tmp_path: Path, prove: int, record) -> None:
    dice = random.Random(20261130)
    rounds, done, kept, acked, twice = ROUNDS * prove, 0, 0, 0, 0
    while done < rounds:
        folder = tmp_path / str(done)
        victims = Victims()
        with Sink(slow_s=0.03) as sink:
            asyncio.run(subscribe(folder, sink.url))
            for number in range(min(ROUNDS_A_FOLDER, rounds - done)):
                victims.run_and_kill(folder, number * 100_000, dice.uniform(0, 0.5))
                if victims.acked:
                    states = asyncio.run(states_of(folder, victims.acked))
                    assert states == {OccurrenceState.ACKED}
                done += 1
            victims.close()
            time.sleep(0.3)  # until what was registered last is due by every clock
            found = asyncio.run(finish(folder))
            calls = list(sink.calls)
        names = {f"n{number}" for number in victims.kept}
        for ref in (PUSHED, PULLED):
            assert names <= set(found[ref])
            assert {s for states in found[ref].values() for s in states} == {OccurrenceState.ACKED}
            assert all(len(states) == 1 for states in found[ref].values())
        twice += check_calls(victims.kept, calls)
        kept += len(victims.kept)
        acked += len(victims.acked)
    assert kept > rounds
    figures = {"rounds": rounds, "registered": kept, "pulled": acked, "sent_twice": twice}
    print(figures)
    record({**figures, "lost": 0, "early": 0, "under_two_ids": 0})
