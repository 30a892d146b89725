"""What is sealed: which columns and how, and where they stand in each named query.

The one place to look at, and to add to when a query reads or writes one of these columns: a test
holds it against the texts of the queries of both dialects. Places are counted from 0: those of
parameters in the call, where the first is the bank's key, those of results in the row.

Plain on purpose: ids and times; tenants, names of banks and of documents, tags, kinds of entities,
keys and kinds of records, which SQL searches, sorts or joins by; and what is no text.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum


class How(Enum):
    """How a column's values are sealed and spelled; see `sealed_values`."""

    TEXT = "text"
    JSON = "json"
    BYTES = "bytes"
    NAME = "name"
    """A text that SQL looks up whole."""
    WORDS = "words"
    """A name that is also looked up by its first word."""
    KEY = "key"
    """Bytes that SQL looks up whole; their first bit stays."""


COLUMNS: Mapping[str, How] = {
    "bank.profile": How.JSON,
    "document.content_hash": How.NAME,
    "document.metadata": How.JSON,
    "document.params": How.JSON,
    "chunk.text": How.TEXT,
    "unit.speaker": How.TEXT,
    "unit.subject": How.TEXT,
    "unit.note": How.TEXT,
    "unit.attributes": How.JSON,
    "unit.metadata": How.JSON,
    "unit.entities": How.TEXT,
    "unit.text": How.TEXT,
    "search.terms": How.BYTES,
    "search.window_terms": How.BYTES,
    "vector.codes": How.BYTES,
    "vector.window_codes": How.BYTES,
    "entity.name": How.NAME,
    "entity.aliases": How.TEXT,
    "entity_alias.folded": How.WORDS,
    "sameness.same": How.KEY,
    "curation.data": How.JSON,
    "claim.slot": How.NAME,
    "claim.value": How.TEXT,
    "record.data": How.JSON,
    "blob.value": How.BYTES,
    "due.payload": How.JSON,
    "intention.event": How.NAME,
    "intention.data": How.JSON,
    "intention.cue": How.BYTES,
    "occurrence.data": How.JSON,
    "event.name": How.NAME,
    "event.data": How.JSON,
    "job.payload": How.JSON,
    "job.result": How.JSON,
    "job.error": How.TEXT,
    "job.progress": How.JSON,
}
"""Every sealed column."""

NAMES = frozenset({How.NAME, How.WORDS, How.KEY})
"""Those that are looked up: in one bank all of them are sealed, or none is (`bank.sealed`)."""

OPEN: Mapping[str, str] = {
    "bank.profile": "name",
    "document.params": "reading",
    "unit.attributes": "pinned",
    "unit.metadata": "pinned",
    "intention.data": "armed",
}
"""The members of JSON objects that SQL reads; they stay plain beside the sealed object."""

ONE: Mapping[str, str] = {
    "search.window_terms": "search.terms",
    "vector.window_codes": "vector.codes",
}
"""Columns that are read in place of each other, so they count as one where a value stands."""

Places = Mapping[int, str]


@dataclass(frozen=True, slots=True)
class Sealed:
    """Where sealed columns stand in a query.

    values: the column that `{ids}` or `{rows}` are of. owner: the results that are tenant and name
    of the bank, in a query over several banks. search: the query looks into sealed columns, so
    `sealed_search` does it. unlocked: runs without the bank's lock.
    """

    params: Places | None = None
    results: Places | None = None
    values: str | None = None
    owner: tuple[int, int] | None = None
    search: bool = False
    unlocked: bool = False


def _moved(places: Places, by: int) -> dict[int, str]:
    return {place + by: column for place, column in places.items()}


_UNIT = {
    2: "unit.text", 14: "unit.speaker", 16: "unit.subject", 19: "unit.note",
    20: "unit.attributes", 21: "unit.metadata", 23: "unit.entities",
}  # fmt: skip
_INDEX = {
    4: "unit.speaker", 10: "search.terms", 11: "search.window_terms", 12: "vector.codes",
    14: "vector.window_codes",
}  # fmt: skip
_DOCUMENT = {2: "document.content_hash", 7: "document.metadata", 8: "document.params"}
_ENTITY = {1: "entity.name", 3: "entity.aliases"}
_ALIASED = {0: "entity_alias.folded", **_moved(_ENTITY, 1)}
_CLAIM = {2: "claim.slot", 3: "claim.value"}
_JOB = {5: "job.payload", 6: "job.result", 7: "job.error", 20: "job.progress"}
_INTENTION = {5: "intention.event", 12: "intention.data", 13: "intention.cue"}
_OFFER = {11: "occurrence.data", **_moved(_INTENTION, 12)}
_EVENT = {1: "event.name", 4: "event.data"}
_RECORD = {4: "record.data"}
_CUE = {3: "intention.cue"}
_BANK = {5: "bank.profile"}

QUERIES: Mapping[str, Sealed] = {
    # bank.sql
    "bank_get": Sealed(results=_BANK),
    "bank_list": Sealed(results=_BANK, owner=(0, 1)),
    "bank_vectors": Sealed(results={0: "vector.codes"}),
    "bank_profile": Sealed(params={1: "bank.profile"}),
    # document.sql
    "document_named": Sealed(results=_DOCUMENT),
    "document_list": Sealed(results=_DOCUMENT),
    "document_like": Sealed(results=_DOCUMENT),
    "document_during": Sealed(results=_DOCUMENT),
    "document_get": Sealed(results=_DOCUMENT),
    "document_insert": Sealed(
        params={3: "document.content_hash", 8: "document.metadata", 9: "document.params"}
    ),
    "document_unhash": Sealed(params={2: "document.content_hash"}),
    "document_update": Sealed(
        params={2: "document.content_hash", 6: "document.metadata", 7: "document.params"}
    ),
    "document_read_by": Sealed(params={2: "document.content_hash"}),
    "document_tell": Sealed(params={2: "document.params"}),
    "chunk_list": Sealed(results={1: "chunk.text"}),
    "chunk_page": Sealed(results={1: "chunk.text"}),
    "chunk_put": Sealed(params={3: "chunk.text"}),
    "chunk_text": Sealed(results={0: "chunk.text"}),
    "chunk_redact": Sealed(params={3: "chunk.text"}),
    "retag_keys": Sealed(results={1: "sameness.same"}),
    # unit.sql
    "index_scan": Sealed(results=_INDEX),
    "index_some": Sealed(results=_INDEX),
    "unit_some": Sealed(results=_UNIT),
    "unit_facts": Sealed(results=_UNIT),
    "unit_recalled": Sealed(results={**_UNIT, 35: "sameness.same"}),
    "unit_of_document": Sealed(results=_UNIT),
    "unit_said_between": Sealed(results=_UNIT),
    "unit_sources_of": Sealed(results=_UNIT),
    "unit_search_some": Sealed(
        results={
            1: "search.terms",
            2: "search.window_terms",
            3: "vector.codes",
            5: "vector.window_codes",
            7: "sameness.same",
        }
    ),
    "unit_newest_of": Sealed(params={5: "entity.name"}),
    "unit_insert": Sealed(
        params={
            5: "unit.speaker",
            18: "unit.subject",
            28: "unit.note",
            29: "unit.attributes",
            30: "unit.metadata",
            31: "unit.entities",
            32: "unit.text",
        }
    ),
    "unit_tell": Sealed(params={3: "unit.note", 4: "unit.metadata"}),
    "unit_place": Sealed(params={5: "unit.entities"}),
    "search_insert": Sealed(params={2: "search.terms", 3: "search.window_terms"}),
    "search_window": Sealed(params={2: "search.window_terms"}),
    "vector_put": Sealed(params={3: "vector.codes", 5: "vector.window_codes"}),
    "vector_window": Sealed(params={3: "vector.window_codes"}),
    "sameness_insert": Sealed(params={2: "sameness.same"}),
    "sameness_shared": Sealed(results={1: "sameness.same"}),
    "sameness_known": Sealed(values="sameness.same", results={0: "sameness.same"}),
    "sameness_proofs": Sealed(values="sameness.same", results={0: "sameness.same"}),
    "curation_put": Sealed(params={3: "curation.data"}),
    "curation_some": Sealed(results={2: "curation.data"}),
    # browse.sql
    "browse_narrow": Sealed(search=True),
    "browse_document": Sealed(search=True),
    "browse_entity": Sealed(search=True),
    "browse_texts": Sealed(results={2: "unit.text", 3: "sameness.same"}),
    "browse_read_from": Sealed(results=_UNIT),
    # graph.sql and entity.sql
    "entity_list": Sealed(results=_ENTITY),  # of equally often mentioned ones in no order of names
    "entity_get": Sealed(results=_ENTITY),
    "entity_by_ids": Sealed(results=_ENTITY),
    "entity_some": Sealed(values="entity.name", results=_ENTITY),
    "entity_insert": Sealed(params={2: "entity.name", 4: "entity.aliases"}),
    "entity_describe": Sealed(params={3: "entity.aliases"}),
    "entity_rename": Sealed(params={2: "entity.name", 4: "entity.aliases"}),
    "entity_called": Sealed(values="entity_alias.folded", results=_ALIASED),
    "entity_beginning": Sealed(search=True, results=_ALIASED),
    "entity_search": Sealed(search=True),
    "entity_search_count": Sealed(search=True),
    "alias_list": Sealed(results={0: "entity_alias.folded"}),
    "alias_insert": Sealed(params={1: "entity_alias.folded"}),
    "alias_delete": Sealed(params={1: "entity_alias.folded"}),
    "mention_some": Sealed(results={2: "entity.name"}),
    "mention_named": Sealed(results={1: "entity.name", 2: "entity.aliases"}),
    "mention_page": Sealed(results={2: "unit.entities"}),
    "unit_entities": Sealed(results={1: "unit.entities"}),
    "unit_name_entities": Sealed(params={2: "unit.entities"}),
    # truth.sql
    "claim_insert": Sealed(params={3: "claim.slot", 4: "claim.value"}),
    "claim_slots": Sealed(results={0: "claim.slot"}),
    "claim_slot": Sealed(params={1: "claim.slot"}, results=_CLAIM),
    "claim_since": Sealed(params={1: "claim.slot"}, results=_CLAIM),
    "claim_disputed": Sealed(params={1: "claim.slot"}),
    "claim_open": Sealed(params={1: "claim.slot"}, results=_CLAIM),
    "claim_holder": Sealed(values="claim.slot", results={0: "claim.slot"}),
    "claim_of": Sealed(results=_CLAIM),
    "truth_of": Sealed(results=_CLAIM),
    "truth_of_facts": Sealed(results=_CLAIM),
    # job.sql
    "job_insert": Sealed(
        params={8: "job.payload", 9: "job.result", 10: "job.error", 23: "job.progress"}
    ),
    "job_claim": Sealed(results=_JOB),
    "job_heartbeat": Sealed(params={5: "job.progress"}, unlocked=True),
    "job_finish": Sealed(params={5: "job.result", 6: "job.error"}),
    "job_get": Sealed(results=_JOB),
    "job_children": Sealed(results=_JOB),
    "job_list": Sealed(results=_JOB),
    "due_put": Sealed(params={3: "due.payload"}),
    "due_list": Sealed(results={4: "due.payload"}, owner=(1, 2)),
    # record.sql
    "record_put": Sealed(params={5: "record.data"}),
    "record_get": Sealed(results=_RECORD),
    "record_list": Sealed(results=_RECORD),
    "record_everywhere": Sealed(results={6: "record.data"}, owner=(0, 1)),
    "blob_insert": Sealed(params={3: "blob.value"}),
    "blob_put": Sealed(params={3: "blob.value"}),
    "blob_get": Sealed(results={0: "blob.value"}),
    # intention.sql
    "intention_put": Sealed(
        params={7: "intention.event", 15: "intention.data", 16: "intention.cue"}
    ),
    "intention_note": Sealed(params={3: "intention.data"}),
    "intention_stored": Sealed(
        results={6: "intention.event", 14: "intention.data", 15: "intention.cue"}
    ),
    "intention_some": Sealed(results=_INTENTION),
    "intention_list": Sealed(results=_INTENTION),
    "intention_of_sources": Sealed(results=_INTENTION),
    "intention_is_due": Sealed(results=_INTENTION),
    "intention_waits": Sealed(values="intention.event", results=_INTENTION),
    "intention_unindexed": Sealed(results=_INTENTION),
    "intention_cues": Sealed(results=_CUE),
    "intention_cues_at": Sealed(results=_CUE),
    "occurrence_insert": Sealed(params={12: "occurrence.data"}),
    "occurrence_to_send": Sealed(results=_OFFER),
    "occurrence_since": Sealed(results=_OFFER),
    "occurrence_some": Sealed(results=_OFFER),
    "occurrence_offered": Sealed(results=_OFFER),
    "occurrence_list": Sealed(results=_OFFER),
    "occurrence_of_intentions": Sealed(results=_OFFER),
    "event_insert": Sealed(params={2: "event.name", 5: "event.data"}),
    "event_named": Sealed(values="event.name", results=_EVENT),
    "event_list": Sealed(results=_EVENT),
    "event_some": Sealed(results=_EVENT),
}
"""Where sealed columns stand in the named queries; a query that is not here touches none."""
