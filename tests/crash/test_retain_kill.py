"""kill -9 in the middle of 500 retains and of index compaction.

Nothing acknowledged is lost, no document is there by half, and the index agrees with the rows.
"""

from __future__ import annotations

import asyncio
import random
import subprocess
import sys
import threading
from pathlib import Path

from retain_victim import REF, TURNS, chat

from remembrancer.app import App
from remembrancer.finding.indexes import Indexes
from remembrancer.finding.state import IndexState
from remembrancer.nouns.memory import Layer
from remembrancer.settings import Settings

VICTIM = Path(__file__).with_name("retain_victim.py")
ROUNDS = 3  # times `prove`: 30 in full


def run_and_kill(folder: Path, first: int, after_s: float) -> int:
    """Start a victim, kill it some time after its first retain; return the last acknowledged."""
    victim = subprocess.Popen(
        [sys.executable, str(VICTIM), str(folder), str(first)], stdout=subprocess.PIPE, text=True
    )
    assert victim.stdout is not None
    lines = [victim.stdout.readline()]
    timer = threading.Timer(after_s, victim.kill)
    timer.start()
    lines += victim.stdout
    timer.join()
    victim.wait()
    victim.stdout.close()
    return max(int(line) for line in lines if line.endswith("\n") and line.strip().isdigit())


def live_ids(state: IndexState) -> set[bytes]:
    """The ids that a state can find."""
    ids: set[bytes] = set()
    for part, dead in zip(state.parts, state.dead, strict=True):
        alive = part.ids if dead is None else part.ids[~dead]
        raw = alive.tobytes()
        ids |= {raw[i : i + 16] for i in range(0, len(raw), 16)}
    return ids


async def examine(folder: Path, acknowledged: int) -> int:
    """Check everything up to `acknowledged`; return the number of the next document."""
    app = await App.open(Settings(data=folder, embedder="hash:64"), background=False)
    try:
        async with app.store.snapshot(REF) as view:
            documents = await view.documents(limit=1_000_000)
            numbers = {int(d.name[1:]) for d in documents}
            assert set(range(acknowledged + 1)) <= numbers
            for document in documents:
                units = await view.units_of(document.id)
                sources = [u for u in units if u.layer is Layer.SOURCE]
                assert len(sources) == TURNS
                text = "".join(c.text for c in await view.chunks(document.id))
                assert text == chat(int(document.name[1:]))
            # What the victim's files say, and what the rows say.
            index = folder / "index" / app.store.identity
            kept = await Indexes(index, 64, 1 << 30).state_for(REF, view)
            fresh = await Indexes(None, 64, 1 << 30).state_for(REF, view)
            assert kept is not None
            assert fresh is not None
            assert live_ids(kept) == live_ids(fresh)
            assert len(live_ids(fresh)) == len(numbers) * TURNS
        for number in {0, acknowledged // 2, acknowledged}:
            found = await app.recall(REF, f"Who saw boat{number}?")
            assert any(f"boat{number} " in answer.unit.text for answer in found.answers)
        return max(numbers) + 1
    finally:
        await app.close()


def test_nothing_acknowledged_is_lost(kept_in: str, tmp_path: Path, prove: int, record) -> None:
    dice = random.Random(20261130)
    rounds, last, kills = ROUNDS * prove, -1, 0
    upcoming = 0
    for number in range(rounds):
        # Five kills of one folder, then a new one; a database is one for all.
        folder = tmp_path / (str(number // 5) if kept_in == "sqlite" else "0")
        if number % 5 == 0 and kept_in == "sqlite":
            upcoming = 0
        last = run_and_kill(folder, upcoming, dice.uniform(0.05, 2.0))
        kills += 1
        upcoming = asyncio.run(examine(folder, last))
    assert kills == rounds
    record({"rounds": rounds, "lost": 0, "half_documents": 0, "index_differs": 0})
