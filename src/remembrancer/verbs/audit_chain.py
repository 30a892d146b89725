"""Verifies an audit log: that no entry was changed, put in between, or taken out."""

from __future__ import annotations

from dataclasses import dataclass, field

from ..keeping.chain import AUDIT, CHAIN, HEAD_KEY, HEAD_KIND, hash_of
from ..keeping.records import Record
from ..keeping.store import Store
from ..nouns.memory import BankRef

_PAGE = 1_000
_MOST = 20  # faults that are told


@dataclass
class Verified:
    """What was found of a bank's audit log.

    Attributes:
        entries: how many there are that are chained.
        older: entries from before there was a chain; nothing can be told of them.
        trimmed: entries dropped for age, which the log keeps 10,000 of.
        head: number and hash of the newest entry, to be kept elsewhere: who can write to the
            database can make a whole new chain, but not one with this hash.
        faults: what is wrong, in words.
    """

    entries: int = 0
    older: int = 0
    trimmed: int = 0
    head: tuple[int, str] = (0, "")
    faults: list[str] = field(default_factory=list)

    @property
    def ok(self) -> bool:
        """Whether nothing is wrong."""
        return not self.faults


async def verify(store: Store, ref: BankRef, expected: tuple[int, str] | None = None) -> Verified:
    """Check the audit log of a bank.

    Args:
        store: that holds it.
        ref: the bank.
        expected: the head of an earlier check; it must still be part of the chain.
    """
    found, entries = Verified(), await _entries(store, ref)
    head = await store.record(ref, HEAD_KIND, HEAD_KEY)
    chain = sorted(
        (entry for entry in entries if CHAIN in entry.data), key=lambda e: int(e.data[CHAIN]["n"])
    )
    found.entries, found.older = len(chain), len(entries) - len(chain)
    if head is None:
        if chain:
            found.faults.append("the head of the chain is gone")
        return found
    found.head = int(head.data["n"]), str(head.data["hash"])
    found.trimmed = int(head.data["trimmed"])
    _check_entries(found, chain)
    if found.older != head.data["older"]:
        found.faults.append(
            f"{head.data['older']} entries are older than the chain, and {found.older} are there"
        )
    if expected is not None:
        _check_expected(found, chain, expected)
    del found.faults[_MOST:]
    return found


def _check_entries(found: Verified, chain: list[Record]) -> None:
    number, last = found.head
    before: Record | None = None
    for entry in chain:
        place = entry.data[CHAIN]
        if hash_of(entry, place["n"], place["prev"]) != place["hash"]:
            found.faults.append(f"entry {place['n']} ({entry.key}) was changed")
        if before is not None:
            old = before.data[CHAIN]
            if place["n"] == old["n"] or (
                place["n"] == old["n"] + 1 and place["prev"] != old["hash"]
            ):
                found.faults.append(f"entry {place['n']} ({entry.key}) does not follow the last")
        before = entry
    missing = number - len(chain)
    if missing != found.trimmed:
        found.faults.append(
            f"{missing} of {number} entries are gone, and {found.trimmed} were dropped for age"
        )
    newest = (chain[-1].data[CHAIN]["n"], chain[-1].data[CHAIN]["hash"]) if chain else None
    if newest is not None and newest != (number, last):
        found.faults.append(f"the newest entry is {newest[0]}, and the head says {number}")


def _check_expected(found: Verified, chain: list[Record], expected: tuple[int, str]) -> None:
    number, told = expected
    held = {entry.data[CHAIN]["n"]: entry.data[CHAIN]["hash"] for entry in chain}
    held[found.head[0]] = found.head[1]
    if number > found.head[0]:
        found.faults.append(f"the chain ends at {found.head[0]}, before {number}")
    elif held.get(number, told) != told:
        found.faults.append(f"entry {number} has another hash than it had")


async def _entries(store: Store, ref: BankRef) -> list[Record]:
    entries: list[Record] = []
    while True:
        page = await store.records(ref, AUDIT, limit=_PAGE, offset=len(entries))
        entries += page
        if len(page) < _PAGE:
            return entries
