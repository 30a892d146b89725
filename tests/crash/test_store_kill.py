"""kill -9 in the middle of writes: nothing acknowledged is lost, and no batch is there by half."""

from __future__ import annotations

import asyncio
import random
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from store_victim import REF, TASKS, UNITS

from remembrancer.keeping.opening import open_store
from remembrancer.nouns.clock import SystemClock
from remembrancer.nouns.memory import LinkType, Op
from remembrancer.settings import Settings

VICTIM = Path(__file__).with_name("store_victim.py")
ROUNDS = 3  # times `prove`: 30 in full


def run_and_kill(folder: Path, first_version: int, after_s: float) -> list[tuple[int, ...]]:
    """Start a writer, kill it some time after its first acknowledgement, return all of them."""
    victim = subprocess.Popen(
        [sys.executable, str(VICTIM), str(folder), str(first_version)],
        stdout=subprocess.PIPE,
        text=True,
    )
    assert victim.stdout is not None
    first = victim.stdout.readline()
    timer = threading.Timer(after_s, victim.kill)
    timer.start()
    lines = [first, *victim.stdout]
    timer.join()
    victim.wait()
    victim.stdout.close()
    # The last line may have been cut by the kill.
    return [tuple(map(int, line.split())) for line in lines if line.endswith("\n")]


async def examine(
    folder: Path, possible: dict[int, set[int]], revision: int
) -> tuple[dict[int, int], int]:
    """Check the store against what may stand in it: each document's versions, the revision.

    Returns the versions found and the revision.
    """
    store = open_store(Settings(data=folder), SystemClock())
    await store.open()
    bank = await store.bank(REF)
    assert bank is not None
    assert revision <= bank.revision <= revision + TASKS
    versions: dict[int, int] = {}
    async with store.snapshot(REF) as view:
        rows = await view.scan(limit=100_000)
        documents = {d.name: d for d in await view.documents()}
        assert len(documents) == bank.document_count
        for task in range(TASKS):
            document = documents.get(f"doc {task}")
            found = versions[task] = int(document.content_hash) if document else 0
            assert found in possible[task]
            if document is None:
                continue
            units = await view.units_of(document.id)
            assert [unit.turn for unit in units] == list(range(UNITS))
            assert {unit.text.split()[2] for unit in units} == {str(found)}
            assert (await view.chunks(document.id))[0].text == f"doc {task} {found}"
            links = await view.neighbours([units[0].id], [LinkType.SEMANTIC])
            assert [link.target for link in links] == [units[1].id]
        assert len(rows) == bank.unit_count == UNITS * len(documents)
        entities = await view.entities()
        assert [entity.mention_count for entity in entities] == [UNITS] * len(documents)
        counts = await view.counts()
        assert (counts["entities"], counts["links"]) == (len(documents), len(documents))
        page = await view.changes(0, limit=1_000_000)
    assert page is not None
    assert sorted({change.revision for change in page.changes}) == list(range(1, bank.revision + 1))
    last = {change.unit_id: change.op for change in page.changes}
    ids = {row.unit_id for row in rows}
    assert {unit_id for unit_id, op in last.items() if op is Op.PUT} == ids
    waiting = {pending.unit_id for pending in await store.generation_pending(1, limit=10_000)}
    assert waiting == {row.unit_id for row in rows if row.codes is None}
    await store.close()
    return versions, bank.revision


@pytest.mark.usefixtures("kept_in")
def test_a_killed_writer_loses_nothing_it_acknowledged(tmp_path: Path, prove: int, record) -> None:
    chance = random.Random(11)
    folder = tmp_path / "data"
    versions = dict.fromkeys(range(TASKS), 0)
    revision = 0
    for _ in range(ROUNDS * prove):
        start = max(versions.values())
        # Until its first acknowledgement a task may have written its first new version, or none.
        possible = {task: {version, start + 1} for task, version in versions.items()}
        lines = run_and_kill(folder, start, chance.uniform(0.05, 0.4))
        assert lines
        for task, version, acknowledged in lines:
            possible[task] = {version, version + 1}
            revision = max(revision, acknowledged)
        versions, revision = asyncio.run(examine(folder, possible, revision))
    assert revision > TASKS
    record({"rounds": ROUNDS * prove, "lost": 0, "half_batches": 0})
