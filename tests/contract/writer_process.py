"""A process of its own that writes batches and prints `revision:ids` for each acknowledged one."""

from __future__ import annotations

import asyncio
import random
import sys
from pathlib import Path

from contract_kit import Maker

from remembrancer.keeping.batch import Batch
from remembrancer.keeping.postgres import PostgresStore
from remembrancer.keeping.sqlite import SqliteStore
from remembrancer.keeping.store import Store
from remembrancer.nouns.clock import FixedClock, SystemClock
from remembrancer.nouns.memory import BankRef


def store_at(place: str, schema: str) -> Store:
    """Return the store of a URL and a schema, or of a folder."""
    if place.startswith("postgresql:"):
        return PostgresStore(place, clock=SystemClock(), schema=schema)
    return SqliteStore(Path(place), clock=SystemClock())


async def main(store: Store, seed: int, batches: int) -> None:
    make = Maker(FixedClock(SystemClock().now_us()), random.Random(seed))
    await store.open()
    for _ in range(batches):
        rows = make.rows(3)
        applied = await store.apply(BankRef("acme", "ada"), Batch(units=rows))
        print(f"{applied.revision}:{','.join(row.unit.id.hex() for row in rows)}", flush=True)
    await store.close()


asyncio.run(main(store_at(sys.argv[1], sys.argv[2]), int(sys.argv[3]), int(sys.argv[4])))
