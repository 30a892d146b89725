"""The process that gets killed: several tasks replace their documents over and over.

Prints `task version revision` for each batch that was acknowledged.
"""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

from remembrancer.keeping.batch import Batch, DocumentWrite, EntityMention
from remembrancer.keeping.opening import open_store
from remembrancer.keeping.store import Store
from remembrancer.nouns.clock import SystemClock
from remembrancer.nouns.ids import IdMaker
from remembrancer.nouns.memory import (
    BankRef,
    Chunk,
    Document,
    Entity,
    Layer,
    Link,
    LinkType,
    Unit,
    UnitRow,
    Vector,
)
from remembrancer.settings import Settings

REF = BankRef("acme", "ada")
UNITS = 4
TASKS = 4


def batch(make: IdMaker, name: str, version: int, keep: int) -> Batch:
    """Return a document of `UNITS` units that all carry its version."""
    document = Document(make.new(), name, str(version), version, version, 1)
    rows = [
        UnitRow(
            Unit(
                make.new(),
                Layer.SOURCE,
                f"{name} {version} " + "words " * 40,
                version,
                version,
                document_id=document.id,
                turn=turn,
                entities=(name,),
            ),
            b"t" * 200,
            b"w" * 300,
            Vector(bytes(64), 1.0) if turn < keep else None,
        )
        for turn in range(UNITS)
    ]
    ids = [row.unit.id for row in rows]
    return Batch(
        documents=[DocumentWrite(document, [Chunk(0, f"{name} {version}")])],
        units=rows,
        mentions=[EntityMention(Entity(make.new(), name), ids)],
        links=[Link(ids[0], ids[1], LinkType.SEMANTIC, 0.5)],
    )


async def rewrite(store: Store, make: IdMaker, task: int, version: int) -> None:
    """Replace one document for ever."""
    while True:
        version += 1
        applied = await store.apply(REF, batch(make, f"doc {task}", version, version % UNITS))
        print(task, version, applied.revision, flush=True)


async def main(folder: Path, first_version: int) -> None:
    """Run the tasks until killed."""
    store = open_store(Settings(data=folder), SystemClock())
    await store.open()
    await store.generation_begin({"model": "m"})
    make = IdMaker()
    await asyncio.gather(*(rewrite(store, make, n, first_version) for n in range(TASKS)))


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1]), int(sys.argv[2])))
