"""erase: everything of a bank or a tenant, or all that mentions one person, with a receipt.

What `forget` does for single memories, for all of them: gone from rows and indexes when it
returns, from the bytes on disk after the sweep. The receipt says what went, in ids and counts, and
what still holds the name; it repeats no text of a memory.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from ..keeping.browse import UnitFilter
from ..keeping.intentions import IntentionFilter
from ..keeping.store import Store
from ..keeping.view import Reader
from ..nouns.clock import Clock
from ..nouns.errors import NotFound
from ..nouns.intention import Intention
from ..nouns.memory import BankRef, Entity, Layer
from .banks import Banks
from .forget import Forget
from .remind import Remind
from .transferring.bank_out import mentioning

_TOGETHER = 500
_PAGE = 1_000


@dataclass(frozen=True, slots=True)
class Erased:
    """What went.

    `remaining`: memories whose text still holds the name or an alias, though they are not known to
    mention this entity: look at them with `recall` or the list of memories. `whole`: `banks` went
    with everything in them.
    """

    units: tuple[bytes, ...]
    unit_count: int
    intentions: tuple[bytes, ...]
    remaining: int
    at: int
    whole: bool = False
    banks: tuple[BankRef, ...] = ()


class Erase:
    """The verb; everything it needs is passed in."""

    def __init__(
        self, store: Store, forget: Forget, banks: Banks, remind: Remind, *, clock: Clock
    ) -> None:
        self._store = store
        self._forget = forget
        self._banks = banks
        self._remind = remind
        self._clock = clock

    async def bank(self, ref: BankRef) -> Erased:
        """Erase a bank with everything in it.

        Raises:
            NotFound: there is no such bank.
        """
        if await self._store.bank(ref) is None:
            raise NotFound(f"there is no bank {ref.bank!r}", field="bank")
        intentions = await self._store.intention_count(ref, IntentionFilter())
        found = await self._store.intentions(ref, IntentionFilter(), intentions or 1)
        gone = await self._banks.delete(ref)
        now = self._clock.now_us()
        return Erased((), gone, tuple(i.id for i in found), 0, now, whole=True, banks=(ref,))

    async def tenant(self, name: str) -> Erased:
        """Erase a tenant's data key, and then all its banks with everything in them.

        What was sealed with the key opens nowhere any more once that is deleted, not even in the
        files of before; where nothing is sealed there is none. Stopped half-way, it can be called
        again. API keys are the house's: they stay until they are revoked.

        Raises:
            NotFound: there is no such tenant.
        """
        if not name:
            raise NotFound("name the tenant to erase", field="tenant")  # "" is the house's own
        key = await self._store.tenant_key_erase(name)
        gone = 0
        banks: list[BankRef] = []
        refs = await self._store.tenant_banks(name)
        if not refs and not key:
            raise NotFound(f"there is no tenant {name!r}", field="tenant")
        while refs:
            for ref in refs:
                gone += await self._banks.delete(ref)
            banks += refs
            refs = await self._store.tenant_banks(name)
        now = self._clock.now_us()
        return Erased((), gone, (), 0, now, whole=True, banks=tuple(banks))

    async def person(self, ref: BankRef, entity_id: bytes) -> Erased:
        """Erase what mentions an entity, and intentions that name it.

        A memory that mentions several people goes whole.

        Raises:
            NotFound: there is no such entity.
        """
        async with self._store.snapshot(ref) as view:
            entity = await view.entity(entity_id)
            if entity is None:
                raise NotFound("there is no such entity", field="entity")
            ids = await view.run(lambda reader: mentioning(reader, entity_id))
        named = [i.id for i in await self._naming(ref, entity)]
        # Those that were read from the memories go with them.
        if named:
            await self._remind.remove(ref, named)
        erased: list[bytes] = []
        for start in range(0, len(ids), _TOGETHER):
            part = ids[start : start + _TOGETHER]
            erased += (await self._forget(ref, unit_ids=part)).erased
        names = (entity.name, *entity.aliases)
        remaining = await self._store.read(ref, lambda reader: _holding(reader, names))
        now = self._clock.now_us()
        return Erased(tuple(erased), len(erased), tuple(named), remaining, now)

    async def _naming(self, ref: BankRef, entity: Entity) -> list[Intention]:
        """Return the intentions that name an entity as whole words."""
        told = "|".join(re.escape(name) for name in (entity.name, *entity.aliases))
        pattern = re.compile(rf"(?<!\w)(?:{told})(?!\w)", re.IGNORECASE)
        found: list[Intention] = []
        offset = 0
        while page := await self._store.intentions(ref, IntentionFilter(), _PAGE, offset):
            offset += len(page)
            found += [i for i in page if pattern.search(f"{i.content}\n{i.cue_text or ''}")]
        return found


def _holding(reader: Reader, names: Sequence[str]) -> int:
    """Count the memories whose text holds one of some names."""
    held: set[bytes] = set()
    for name in names:
        wanted = UnitFilter(layers=tuple(Layer), invalid=None, text=name, folded=False)
        offset = 0
        while page := reader.browse(wanted, _PAGE, offset).units:
            offset += len(page)
            held.update(unit.source_id or unit.id for unit in page)
    return len(held)
