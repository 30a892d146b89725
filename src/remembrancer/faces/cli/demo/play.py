"""Does what the demo shows, and returns what came of it; prints nothing."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from ....app import App
from ....keeping.intentions import IntentionFilter
from ....nouns.clock import DAY_US
from ....nouns.intention import Intention
from ....nouns.memory import DEFAULT_TENANT, BankRef, Layer, Unit
from ....verbs.check import CheckOptions, Due
from ....verbs.forget import Receipt
from ....verbs.prime import PrimeOptions
from ....verbs.recall import RecallOptions
from ....verbs.retain import Progress
from ...library.results import Answers, Found, PrimedContext, answers_of, context_of
from ..sweep import sweep_now
from .script import Script

_TOP = 2
_PRIMED = 8
_READ = 1 << 20


@dataclass(frozen=True, slots=True)
class Kept:
    """What retaining did; the seconds are those of loading the model and of the retains."""

    turns: int
    facts: int
    entities: int
    warm_seconds: float
    seconds: float
    dated: list[Unit]
    intentions: list[Intention]


@dataclass(frozen=True, slots=True)
class Asked:
    """A question and its answers."""

    question: str
    answers: Answers


@dataclass(frozen=True, slots=True)
class Forgotten:
    """A memory before and after it was forgotten. Places: how often a string was in the files."""

    target: Found
    receipt: Receipt
    swept: bool
    seconds: float
    after: Asked
    places_before: dict[str, int] = field(default_factory=dict)
    places_after: dict[str, int] = field(default_factory=dict)


class Player:
    """Plays the script on an open memory."""

    def __init__(self, app: App, script: Script) -> None:
        self._app = app
        self._script = script
        self._ref = BankRef(DEFAULT_TENANT, script.bank)

    async def retain(self, progress: Progress | None) -> Kept:
        """Retain every session, each as a document of its own."""
        started = time.perf_counter()
        if self._app.embedder is not None:
            await self._app.embedder.warm()
        warm = time.perf_counter() - started
        total = sum(len(s.messages) for s in self._script.sessions)
        started = time.perf_counter()
        turns = facts = 0
        for session in self._script.sessions:
            done = await self._app.retain(self._ref, [session.item()])
            turns, facts = turns + done.sources, facts + done.facts
            if progress is not None:
                progress(turns, total)
        seconds = time.perf_counter() - started
        async with self._app.store.snapshot(self._ref) as view:
            counts = await view.counts()
            units = await view.newest(10 * total, layer=Layer.FACT)
        dated = sorted(
            (u for u in units if u.occurred_start is not None), key=lambda u: (u.mentioned_at, u.id)
        )
        intentions = await self._app.store.intentions(self._ref, IntentionFilter())
        return Kept(turns, facts, counts["entities"], warm, seconds, dated, intentions)

    async def ask(self, question: str, limit: int = _TOP) -> Asked:
        """Recall the best answers to one question."""
        options = RecallOptions(limit=limit, offset_min=self._offset())
        return Asked(question, answers_of(await self._app.recall(self._ref, question, options)))

    async def prime(self) -> PrimedContext:
        """Prime with the script's cue."""
        settings = self._app.settings
        options = PrimeOptions(
            max_memories=_PRIMED,
            cue=self._script.cue,
            temporal_ratio=settings.prime_temporal_ratio,
            window_us=int(settings.prime_window_days * DAY_US),
        )
        return context_of(await self._app.prime(self._ref, options))

    async def check(self, talk: str | None = None) -> list[Due]:
        """Ask what is due now, by the clock or by what is talked about, and acknowledge it."""
        found = await self._app.check(self._ref, CheckOptions(text=talk))
        for each in found.due:
            held = each.occurrence
            await self._app.occurrences.ack(self._ref, held.id, held.token, None)
        return list(found.due)

    async def said(self, unit_id: bytes | None) -> Unit | None:
        """Return the memory that something was read from."""
        async with self._app.store.snapshot(self._ref) as view:
            found = await view.units([unit_id] if unit_id else [])
        return found[0] if found else None

    async def forget(self, target: Found, folder: Path) -> Forgotten:
        """Forget one memory, sweep, and look for its words in all files before and after."""
        needles = [target.text, self._script.secret]
        before = {n: places(folder, n) for n in needles}
        started = time.perf_counter()
        receipt = await self._app.forget(self._ref, unit_ids=[bytes.fromhex(_hex(target.id))])
        swept = await sweep_now(self._app, self._ref)
        seconds = time.perf_counter() - started
        after = {n: places(folder, n) for n in needles}
        again = await self.ask(self._script.secret_question, limit=2)
        return Forgotten(target, receipt, swept.done, seconds, again, before, after)

    def _offset(self) -> int:
        offset = self._script.clock.utcoffset()
        return int(offset.total_seconds() // 60) if offset is not None else 0


def places(folder: Path, words: str) -> int:
    """Count where the bytes of `words` stand in any file below a folder."""
    needle = words.encode()
    return sum(_count(path, needle) for path in folder.rglob("*") if path.is_file())


def spread(units: Sequence[Unit], count: int) -> list[Unit]:
    """Return `count` units, evenly spread over the sequence."""
    if len(units) <= count:
        return list(units)
    return [units[i * (len(units) - 1) // (count - 1)] for i in range(count)]


def _count(path: Path, needle: bytes) -> int:
    found, held = 0, b""
    with path.open("rb") as file:
        while block := file.read(_READ):
            held += block
            found += held.count(needle)
            held = held[len(held) - len(needle) + 1 :] if len(needle) > 1 else b""
    return found


def _hex(unit_id: str) -> str:
    return unit_id.replace("-", "")
