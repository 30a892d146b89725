"""status: what is here, which models are in use, and whether all is well."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ..finding.indexes import Indexes
from ..keeping.store import Store
from ..models.embedder import Embedder
from ..nouns.memory import Bank

BANKS_SHOWN = 100


@dataclass(frozen=True, slots=True)
class Status:
    """A report. `notes` are things that the operator should know, for people.

    `banks` are a page of the tenant's banks by name, `bank_count` says how many there are.
    """

    version: str
    store: Mapping[str, Any]
    embedder: Mapping[str, Any] | None
    pending_vectors: int
    banks: tuple[Bank, ...]
    bank_count: int
    index_memory_bytes: int
    notes: tuple[str, ...]


async def status(
    store: Store,
    indexes: Indexes,
    embedder: Embedder | None,
    version: str,
    tenant: str,
    limit: int = BANKS_SHOWN,
    offset: int = 0,
) -> Status:
    """Gather the report for one tenant, with a page of its banks."""
    generations = await store.generations()
    active = next((g for g in generations if g.active), None)
    pending = await store.generation_pending_count(active.number) if active else 0
    notes = []
    if embedder is None:
        notes.append("no embedder: recall works by words alone")
    elif str(embedder.fingerprint.get("model", "")).startswith("hash"):
        notes.append("the embedder is a stand-in for tests: its vectors know no meaning")
    if pending:
        notes.append(f"{pending} units wait for the embedder")
    if len(generations) > 1:
        notes.append("a change of embedder is under way: run `remembrancer reembed` to finish it")
    return Status(
        version=version,
        store=await store.health(),
        embedder=dict(embedder.fingerprint) if embedder else None,
        pending_vectors=pending,
        banks=tuple(await store.banks(tenant, limit, offset)),
        bank_count=await store.bank_count(tenant),
        index_memory_bytes=indexes.memory_bytes,
        notes=tuple(notes),
    )
