"""The banks that a caller reaches, for questions that name none."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence

from ..keeping.store import Store, Tenant
from ..nouns.caller import Caller
from ..nouns.errors import Forbidden, NotFound
from ..nouns.memory import BankRef
from ..nouns.names import OF_TENANT, UNNAMED

MOST_BANKS = 256
"""Banks that one question is put to."""

_PAGE = 1_000
_ALL = (1 << 31) - 1


def unnamed_of(caller: Caller) -> BankRef:
    """Return the bank of a tenant's memories that belong to none.

    Raises:
        Forbidden: the caller's key does not reach it.
    """
    if not caller.reaches(UNNAMED):
        raise Forbidden(
            f"this key reaches entities named {', '.join(caller.banks)} alone: give entity_id",
            field="entity_id",
        )
    return BankRef(caller.tenant, UNNAMED)


def own_of(caller: Caller) -> BankRef:
    """Return the bank of what is kept about a tenant itself, for a caller that changes it.

    Raises:
        Forbidden: the caller's key does not reach all banks, and what holds for a tenant is about
            those that are hidden from it as well.
    """
    if not caller.reaches_all:
        raise Forbidden(
            f"this key reaches banks named {', '.join(caller.banks)} alone, and what is asked for "
            "is about all banks of the tenant: it needs a key that reaches them all"
        )
    return BankRef(caller.tenant, OF_TENANT)


async def memory_count_of(store: Store, caller: Caller) -> int:
    """Count the sources and observations of a tenant that a caller reaches."""
    if caller.reaches_all:
        return await store.memory_count(caller.tenant)
    marks = await store.bank_marks(caller.tenant, _ALL)
    return sum(mark.memories for mark in marks if caller.reaches(mark.ref.bank))


async def holding_of(store: Store, caller: Caller) -> Tenant:
    """Return what of a tenant a caller reaches."""
    if caller.reaches_all:
        return await store.tenant(caller.tenant)
    documents = 0
    async for ref in all_banks_of(store, caller):
        async with store.snapshot(ref) as view:
            documents += (await view.counts())["documents"]
    return Tenant(caller.tenant, await memory_count_of(store, caller), documents)


async def banks_of(store: Store, caller: Caller) -> tuple[list[BankRef], bool]:
    """Return the banks that a caller reaches, up to `MOST_BANKS`, and whether these are all.

    The bank of memories that belong to none leads, where there is one; the others come by name.
    """
    refs: list[BankRef] = []
    async for ref in all_banks_of(store, caller):
        if len(refs) == MOST_BANKS:
            return refs, False
        refs.append(ref)
    return refs, True


async def all_banks_of(store: Store, caller: Caller) -> AsyncIterator[BankRef]:
    """Yield every bank that a caller reaches, that of memories that belong to none included."""
    unnamed = BankRef(caller.tenant, UNNAMED)
    if caller.reaches(UNNAMED) and await store.bank(unnamed) is not None:
        yield unnamed
    offset = 0
    while page := await store.banks(caller.tenant, _PAGE, offset):
        for bank in page:
            if caller.reaches(bank.ref.bank):
                yield bank.ref
        offset += len(page)


async def reached(
    store: Store, caller: Caller, unit_ids: Sequence[bytes]
) -> Mapping[bytes, BankRef]:
    """Return the banks of memories by id; those that the caller does not reach are left out."""
    places = await store.locate(caller.tenant, unit_ids)
    return {unit_id: ref for unit_id, ref in places.items() if caller.reaches(ref.bank)}


def no_memory(unit_id: bytes) -> NotFound:
    """Return the error for an id that is not there, or is not the caller's to see."""
    return NotFound(f"there is no memory {unit_id.hex()}", field="memory_id")
