"""kill -9 a server again and again while a policy's run erases memories.

What is forgotten is exactly what the policy says, each memory stands in one receipt, and the run
that ends counts all of them once.
"""

from __future__ import annotations

import asyncio
import subprocess
import sys
import time
from pathlib import Path

from remembrancer.app import App
from remembrancer.keeping.batch import Batch
from remembrancer.nouns.memory import BankRef, Layer, Unit, UnitRow
from remembrancer.settings import Settings

BANKS = [BankRef("default", name) for name in ("a", "b")]
WEAK = 900  # of each bank, times `prove`
KILLS = 2

VICTIM = """
import asyncio, sys
from remembrancer.app import App
from remembrancer.settings import Settings
from remembrancer.verbs import decay
decay._STEP = 20

async def main():
    settings = Settings(
        data=sys.argv[1], embedder="none", worker_lease_s=0.3, decay_interval_s=0, watch=False
    )
    app = await App.open(settings)
    print("ready", flush=True)
    while (await app.memories.decay.state("default")).running:
        await asyncio.sleep(0.02)
    await app.close()

asyncio.run(main())
"""


def settings(folder: Path) -> Settings:
    return Settings(data=folder, embedder="none", decay_interval_s=0)


async def filled(folder: Path, weak: int) -> tuple[str, dict[BankRef, set[bytes]]]:
    """Write memories, some without worth, and queue a run; return its id and those that stay."""
    app = await App.open(settings(folder), background=False)
    try:
        stay: dict[BankRef, set[bytes]] = {}
        ids = app.retain._ids
        now = app.clock.now_us()
        for ref in BANKS:
            rows = [
                UnitRow(
                    Unit(
                        ids.new(),
                        Layer.SOURCE,
                        f"Memory {number}.",
                        now,
                        now,
                        importance=0.9 if number % 10 == 0 else 0.0,
                    )
                )
                for number in range(weak * 10 // 9)
            ]
            stay[ref] = {row.unit.id for row in rows if row.unit.importance}
            await app.store.apply(ref, Batch(units=rows))
        await app.memories.policies.change("default", auto_forget_threshold=0.1)
        return await app.memories.decay.request("default"), stay
    finally:
        await app.close()


async def checked(folder: Path, run_id: str, stay: dict[BankRef, set[bytes]], weak: int) -> None:
    app = await App.open(settings(folder), background=False)
    try:
        state = await app.memories.decay.state("default")
        assert state.last is not None
        assert state.last.run_id == run_id
        total = len(BANKS) * (weak * 10 // 9)
        kept = sum(len(ids) for ids in stay.values())
        assert state.last.tally.examined == total
        assert state.last.tally.below_threshold == state.last.tally.forgotten == total - kept
        for ref, expected in stay.items():
            async with app.store.snapshot(ref) as view:
                assert set(await view.unit_ids()) == expected
            receipts, _ = await app.memories.decay.receipts(ref, 1_000)
            gone = [i for record in receipts for i, _ in record.data["memories"]]
            assert len(gone) == len(set(gone)) == weak * 10 // 9 - len(expected)
    finally:
        await app.close()


def test_a_run_that_is_killed_again_and_again_ends_right(tmp_path: Path, prove: int) -> None:
    weak = WEAK * prove
    run_id, stay = asyncio.run(filled(tmp_path, weak))
    for number in range(KILLS + 1):
        victim = subprocess.Popen(
            [sys.executable, "-c", VICTIM, str(tmp_path)], stdout=subprocess.PIPE, text=True
        )
        assert victim.stdout is not None
        assert victim.stdout.readline() == "ready\n"
        if number == KILLS:
            assert victim.wait(120) == 0
        else:
            time.sleep(0.3)
            victim.kill()
            victim.wait(30)
        victim.stdout.close()
    asyncio.run(checked(tmp_path, run_id, stay, weak))
