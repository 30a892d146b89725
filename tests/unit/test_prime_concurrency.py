"""Prime, revise and forget of one memory at once: no use lost, no revision undone, no return.

Rounds run in one process over the library's verbs; `tests/crash/test_prime_two_servers.py` does
the same over gRPC with two servers.
"""

from __future__ import annotations

import asyncio
import random
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from prime_kit import opened

from remembrancer.app import App
from remembrancer.nouns.caller import Caller
from remembrancer.nouns.errors import NotFound
from remembrancer.nouns.memory import BankRef
from remembrancer.verbs.prime import PrimeOptions
from remembrancer.verbs.revise import Revision

ROUNDS = 100  # times `prove`: 1,000 in full
PRIMES, REVISIONS = 4, 3
CALLER = Caller()

Record = Callable[[dict[str, float]], None]


@dataclass
class Expected:
    """What must be there in the end. `told`: a text that was acknowledged last."""

    uses: Counter[bytes] = field(default_factory=Counter)
    homes: dict[bytes, BankRef] = field(default_factory=dict)
    revised: dict[bytes, set[str]] = field(default_factory=dict)
    gone: dict[bytes, BankRef] = field(default_factory=dict)


async def one_round(app: App, number: int, rng: random.Random, expected: Expected) -> None:
    """Prime and revise one memory at once, and forget it in every other round."""
    ref = BankRef("default", f"entity-{number}")
    unit = await app.memories.remember(ref, f"Memory {number}, as told.")
    forgets = number % 2 == 0

    async def prime(cue: str | None) -> None:
        context = await app.prime(ref, PrimeOptions(cue=cue))
        for memory in context.memories:
            assert memory.unit.id == unit.id
            expected.uses[unit.id] += 1

    async def revise(n: int) -> None:
        try:
            await app.memories.revise(CALLER, unit.id, Revision(attributes={f"k{n}": n}))
            await app.memories.revise(CALLER, unit.id, Revision(content=f"{number}: text {n}."))
        except NotFound:
            assert forgets

    async def forget() -> None:
        receipt = await app.forget(ref, unit_ids=[unit.id])
        assert unit.id in receipt.erased
        # From here on nobody may see it, whoever is still at work with it.
        with pytest.raises(NotFound):
            await app.memories.lookup(CALLER, unit.id)
        assert (await app.prime(ref)).memories == ()

    work = [prime(None if n % 2 else f"Memory {number}") for n in range(PRIMES)]
    work += [revise(n) for n in range(REVISIONS)]
    if forgets:
        work.append(forget())
    rng.shuffle(work)
    await asyncio.gather(*work)
    if forgets:
        expected.gone[unit.id] = ref
    else:
        expected.homes[unit.id] = ref
        expected.revised[unit.id] = {f"{number}: text {n}." for n in range(REVISIONS)}


async def test_nothing_is_lost_undone_or_brought_back(
    tmp_path: Path, prove: int, record: Record
) -> None:
    rng, expected = random.Random(7), Expected()
    rounds = ROUNDS * prove
    async with opened(tmp_path) as app:
        for number in range(rounds):
            await one_round(app, number, rng, expected)
    counted = 0
    async with opened(tmp_path) as app:  # what was counted is written by now
        for unit_id, ref in expected.homes.items():
            kept = await app.memories.lookup(CALLER, unit_id)
            assert kept.unit.access_count == expected.uses[unit_id] == PRIMES
            assert kept.unit.attributes == {f"k{n}": n for n in range(REVISIONS)}
            assert kept.unit.text in expected.revised[unit_id]
            assert kept.edits == len(kept.earlier) == 2 * REVISIONS
            states = {each["was"].get("text") for each in kept.earlier} | {kept.unit.text}
            assert expected.revised[unit_id] < states  # each was made, and none undone
            counted += kept.unit.access_count
            context = await app.prime(ref, PrimeOptions(reinforce=False))
            assert [m.unit.text for m in context.memories] == [kept.unit.text]
        for unit_id, ref in expected.gone.items():
            with pytest.raises(NotFound):
                await app.memories.lookup(CALLER, unit_id)
            assert (await app.prime(ref)).memories == ()
        async with app.store.snapshot(next(iter(expected.gone.values()))) as view:
            assert (await view.counts())["units"] == 0
        assert await app.store.memory_count() == len(expected.homes)
    record(
        {
            "rounds": rounds,
            "memories_revised": len(expected.homes),
            "memories_forgotten": len(expected.gone),
            "uses_counted": counted,
            "uses_lost": PRIMES * len(expected.homes) - counted,
        }
    )
