"""A process of its own that writes batches and prints `revision:ids` for each acknowledged one."""

from __future__ import annotations

import asyncio
import random
import sys
from pathlib import Path

from contract_kit import Maker

from remembrancer.keeping.batch import Batch
from remembrancer.keeping.sqlite import SqliteStore
from remembrancer.nouns.clock import FixedClock, SystemClock
from remembrancer.nouns.memory import BankRef


async def main(folder: Path, seed: int, batches: int) -> None:
    make = Maker(FixedClock(SystemClock().now_us()), random.Random(seed))
    store = SqliteStore(folder, clock=SystemClock())
    await store.open()
    for _ in range(batches):
        rows = make.rows(3)
        applied = await store.apply(BankRef("acme", "ada"), Batch(units=rows))
        print(f"{applied.revision}:{','.join(row.unit.id.hex() for row in rows)}", flush=True)
    await store.close()


asyncio.run(main(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])))
