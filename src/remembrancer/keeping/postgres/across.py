"""The queries that are not about one bank: on Citus they ask every node, so each needs a reason.

All other queries name the bank's key for each table that they touch, and run on the one node that
has the bank. `tests/unit/test_postgres_rules.py` holds both lists against the query texts.
"""

from __future__ import annotations

from collections.abc import Mapping

_WORK = "a worker looks for work in all banks; it takes each job by a change of its bank alone"
_LATER = "what is due is looked for in all banks; it is worked on bank by bank"
_PEOPLE = "asked by people and by dashboards, of a tenant or of everything"
_EMBEDDING = "upkeep after an outage of the embedder, or a move to another model"

ACROSS: Mapping[str, str] = {
    "job_due": _WORK,
    "job_first_priority": _WORK,
    "job_next_priority": _WORK,
    "job_first_tenant": _WORK,
    "job_next_tenant": _WORK,
    "job_first_bank": _WORK,
    "job_next_bank": _WORK,
    "job_elsewhere": "an id that a caller gives an operation is one in the whole tenant; "
    "a look-up by id on each node",
    "due_list": _LATER,
    "intention_banks_due": _LATER,
    "intention_next_due": _LATER,
    "intention_cues_stale": _EMBEDDING,
    "pending_page": _EMBEDDING,
    "pending_any": _EMBEDDING,
    "pending_count": _EMBEDDING,
    "settle_banks": _EMBEDDING,
    "blob_expired": "the sweep looks for what has expired; it deletes bank by bank",
    "record_everywhere": "what a process reads once when it starts: keys, webhooks",
    "unit_locate": "finds the bank of an id that comes alone, by an index on each node: "
    "a directory of ids would make every write one of two nodes",
    "bank_after": "a command of a person seals what was written before; it does so bank by bank",
    "tenant_banks": "when a person erases a tenant; that is done bank by bank",
    "banks_state": "a recall over a whole tenant asks first whether any bank has changed",
    "bank_marks": "and then which",
    "bank_list": _PEOPLE,
    "bank_count": _PEOPLE,
    "stats_tenants": _PEOPLE,
    "stats_tenant": _PEOPLE,
    "stats_all_jobs": _PEOPLE,
    "stats_all_units": _PEOPLE,
    "stats_memories": _PEOPLE,
}
"""Why each query asks all nodes."""

EVERYWHERE: Mapping[str, str] = {
    "generation_list": "read on each node from its own copy",
    "generation_get": "as generation_list",
    "generation_next": "when a generation begins",
    "generation_insert": "as generation_next",
    "generation_fill": "as generation_next; banks follow one by one",
    "generation_switch": "when a generation becomes the active one",
    "generation_forget": "as generation_switch",
    "generation_forget_vectors": "as generation_switch; banks follow one by one",
    "unsettled": "once a start",
    "unsettled_done": "as generation_next",
    "floor_raise": "when a bank is dropped",
    "tenant_key_of": "read on each node from its own copy, by stores that seal",
    "tenant_key_by_id": "as tenant_key_of",
    "tenant_key_insert": "when a tenant begins",
    "tenant_key_list": "once a start",
    "tenant_key_wrap": "when a person changes the key that wraps",
    "tenant_key_delete": "when a tenant is erased",
}
"""Queries of the tables that are small and everywhere, and when they run."""
