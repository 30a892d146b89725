"""truth: which values an attribute had, one after the other, and which it has now."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ..keeping.store import Store
from ..keeping.timeline import Placed
from ..keeping.view import Reader
from ..nouns.clock import Clock
from ..nouns.errors import NotFound
from ..nouns.ids import to_uuid
from ..nouns.memory import ASIDE, BankRef, Layer, Stance, Unit
from ..reading.slots.intake import TAKES
from .recall import Recall, RecallOptions
from .recalling.truth import facts_asked

_LOOKED_AT = 5  # answers of a question, to find one that claims something


@dataclass(frozen=True, slots=True)
class Held:
    """One value of an attribute, as one fact tells it.

    `fact` is the fact, `memory_id` the source that it was read from. `stance` tells what it says of
    `value`: it holds, is denied, or held once. Times in microseconds, None as far as is known;
    `superseded_by` is the fact that ended it, `contradicts` one of another value that time does not
    tell from it. `holds`: at the time asked about.
    """

    subject: str
    slot: str
    value: str
    stance: Stance
    fact: Unit
    memory_id: bytes
    valid_from: int | None
    valid_until: int | None
    superseded_by: bytes | None
    contradicts: bytes | None
    holds: bool


class Truth:
    """The verb; everything it needs is passed in."""

    def __init__(self, store: Store, recall: Recall, *, clock: Clock) -> None:
        self._store = store
        self._recall = recall
        self._clock = clock

    async def history(self, ref: BankRef, unit_id: bytes, at: int | None = None) -> list[Held]:
        """Return all values of what a memory or a fact is about, oldest first.

        Args:
            ref: the bank.
            unit_id: of a fact, or of a memory: then of the facts read from it.
            at: the time at which `holds` is told, in microseconds; None: now.

        Raises:
            NotFound: it is not in this bank.
        """
        now = self._clock.now_us() if at is None else at
        return await self._store.read(ref, lambda reader: _history(reader, unit_id, now))

    async def asked(
        self, ref: BankRef, question: str, options: RecallOptions | None = None
    ) -> list[Held]:
        """Return all values of the attribute that a question asks for, oldest first.

        It is that of the best answer that tells of any; empty when none does.

        Raises:
            InvalidInput: what a recall refuses.
        """
        options = options or RecallOptions(limit=_LOOKED_AT)
        at = options.as_of if options.as_of is not None else options.now
        found = (await self._recall(ref, question, options)).answers
        best = next((answer for answer in found if answer.truth.facts), None)
        if best is None:
            return []
        now = self._clock.now_us() if at is None else at
        ids = facts_asked(best.truth, best.facts, self._recall.asks(question))
        return await self._store.read(ref, lambda reader: _told(reader, ids, now))


def _history(reader: Reader, unit_id: bytes, at: int) -> list[Held]:
    found = reader.units([unit_id])
    if not found:
        raise NotFound(f"there is no memory {to_uuid(unit_id)}", field="memory_id")
    if found[0].layer is Layer.FACT:
        ids = [unit_id]
    else:
        ids = [fact.id for row in reader.recalled([unit_id]) for fact in row.facts]
    return _told(reader, ids, at)


def _told(reader: Reader, ids: Sequence[bytes], at: int) -> list[Held]:
    """Return all values of what facts tell of, oldest first."""
    slots = list(dict.fromkeys(p.claim.slot for p in reader.claims_of(ids)))
    shown = [s for s in slots if not s.partition("\n")[2].startswith(ASIDE)] or slots
    claims = [p for slot in shown for p in reversed(reader.slot_claims(slot))]
    known = {p.unit_id for p in claims}
    for slot in slots:  # a habit that ended a diet, and the other way round
        if slot.partition("\n")[2].startswith(TAKES):
            told = reader.slot_claims(slot)
            if not known.issuperset(p.unit_id for p in told):
                claims += reversed(told)
    facts = {u.id: u for u in reader.units(list({p.unit_id for p in claims}))}
    held = [_held(p, facts[p.unit_id], at) for p in claims if p.unit_id in facts]
    return sorted(held, key=_in_time)


def _held(placed: Placed, fact: Unit, at: int) -> Held:
    subject, _, slot = placed.claim.slot.partition("\n")
    begins, ends, ended_by, against = placed.settled
    return Held(
        subject,
        slot,
        placed.claim.value,
        placed.claim.stance,
        fact,
        fact.source_id or fact.id,
        begins,
        ends,
        ended_by,
        against,
        (begins is None or begins <= at) and (ends is None or at < ends),
    )


def _in_time(held: Held) -> tuple[int, Sequence[int], bytes]:
    begins = held.valid_from if held.valid_from is not None else held.fact.mentioned_at
    return begins, (held.fact.mentioned_at, held.fact.start), held.fact.id
