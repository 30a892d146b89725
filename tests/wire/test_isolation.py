"""Two tenants, three keys, every route of the OpenAPI document: nothing crosses.

What a route does is not asked. Tenant `beta` sends each request, with the names and ids of tenant
`alpha`, to a server that holds alpha's data and to one that holds nothing; the answers must be the
same, to the last count, and hold nothing of alpha's that beta never named. And whatever is in the
database of alpha stays as it is, byte by byte. A route gets the request that its parameters' names
tell, then such as hypothesis draws.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from drawing_kit import each_drawn
from isolation_kit import MARKS, Worlds, filled, told, two_worlds
from routes_kit import Operation, document, operations

import remembrancer.faces.http as http_face
from remembrancer.faces.http.access import NEEDS, OPEN
from remembrancer.nouns.caller import Permission
from stores_kit import KeptIn

DOCUMENT = document()
OPERATIONS = list(operations(DOCUMENT))
SAFE = {"GET", "HEAD"}
# What asks of a tenant's rows, by as many queries as there are.
FOR_EACH_STORE = [
    each
    for each in OPERATIONS
    if each.name
    in {
        "recall_memories", "recall", "prime", "list_memories", "get_memory", "list_documents",
        "list_entities", "check_intentions", "list_operations", "get_graph", "list_banks", "forget",
    }
]  # fmt: skip
ADMINISTRATION = "/v1/keys"
NO_KEY = "rmb_" + "A" * 43


@pytest.fixture(scope="module")
def worlds(tmp_path_factory: pytest.TempPathFactory, kept_in: KeptIn) -> Iterator[Worlds]:
    folder, schemas = tmp_path_factory.mktemp("worlds"), DOCUMENT["components"]["schemas"]
    with two_worlds(folder, schemas, kept_in.kind) as made:
        yield made


def must_be_refused(operation: Operation) -> bool:
    """Return whether a key that may only read is refused a route."""
    if operation.name in NEEDS:
        return NEEDS[operation.name] not in {None, Permission.READ}
    return operation.method not in SAFE or operation.path.startswith(ADMINISTRATION)


@pytest.mark.parametrize("operation", OPERATIONS, ids=str)
def test_no_key_gets_nothing(worlds: Worlds, operation: Operation) -> None:
    full = worlds.full
    before = full.rows()
    for key in (None, NO_KEY):
        answer, text = full.ask(operation, filled(worlds.filler, operation), key)
        assert (answer.status_code == 401) is (operation.path not in OPEN), text
        assert not any(mark in text for mark in (*MARKS, *worlds.hidden))
    assert full.rows() == before


@pytest.mark.parametrize("operation", OPERATIONS, ids=str)
def test_a_reading_key_changes_nothing(worlds: Worlds, operation: Operation, prove: int) -> None:
    full = worlds.full
    before = full.rows()
    refused = must_be_refused(operation)

    def ask(url: str, request: dict[str, Any]) -> int:
        worlds.tick()
        answer, text = full.send(operation.method, url, request, "reader")
        assert answer.status_code < 500 or operation.path in OPEN, text
        assert answer.status_code == 403 or not refused, text
        assert full.rows() == before
        return answer.status_code

    filler = filled(worlds.filler, operation)
    assert (ask(filler.url(operation), filler.request(operation)) == 403) is refused
    each_drawn(filler, operation, prove if refused else 3 * prove, ask)


@pytest.mark.parametrize("operation", OPERATIONS, ids=str)
def test_nothing_of_another_tenant_is_told_or_changed(
    worlds: Worlds, operation: Operation, prove: int
) -> None:
    tells_and_changes_nothing(worlds, operation, 3 * prove)


@pytest.mark.both_stores
@pytest.mark.parametrize("operation", FOR_EACH_STORE, ids=str)
def test_nothing_of_another_tenant_on_each_store(worlds: Worlds, operation: Operation) -> None:
    tells_and_changes_nothing(worlds, operation, 1)


def tells_and_changes_nothing(worlds: Worlds, operation: Operation, drawn: int) -> None:
    """Send requests of the other tenant, so many of them drawn."""
    full, bare = worlds.full, worlds.bare
    before = full.rows()

    def ask(url: str, request: dict[str, Any]) -> None:
        worlds.tick()
        beside, text = full.send(operation.method, url, request, "beta")
        alone, text_alone = bare.send(operation.method, url, request, "beta")
        if operation.method not in SAFE:
            for world in (full, bare):
                world.write_log()
        assert beside.status_code == alone.status_code, f"{text}\n{text_alone}"
        assert beside.status_code != 401
        assert not [mark for mark in worlds.hidden if mark in text.lower()]
        if operation.path not in OPEN:
            assert beside.status_code < 500, text
            assert told(text) == told(text_alone)
        assert full.rows() == before

    filler = filled(worlds.filler, operation)
    ask(filler.url(operation), filler.request(operation))
    each_drawn(filler, operation, drawn, ask)


def test_the_requests_reach_what_there_is(worlds: Worlds) -> None:
    """Sent by a key of the owner's, they get the data: so others are refused for who they are."""
    full, filler = worlds.full, worlds.filler
    telling = set()
    for operation in OPERATIONS:
        if operation.method in SAFE or NEEDS.get(operation.name) is Permission.READ:
            key = "alpha" if must_be_refused(operation) else "reader"
            answer, text = full.ask(operation, filled(filler, operation), key)
            assert answer.status_code != 403 or operation.name == "metrics"
            if any(mark in text for mark in MARKS) or filler.values["memory_id"] in text:
                telling.add(operation.name)
            if operation.name == "download_file":
                assert answer.status_code == 200
    assert telling >= {
        "list_memories",
        "get_memory",
        "recall_memories",
        "reflect",
        "prime",
        "get_chunk",
        "get_document",
        "list_entities",
        "get_entity",
        "list_directives",
        "get_directive",
        "list_mental_models",
        "get_mental_model",
        "get_knowledge_tree",
        "get_knowledge_page",
        "export_knowledge_pages",
        "search_knowledge_pages",
        "get_intention",
        "list_intentions",
        "get_occurrence",
        "list_occurrences",
        "list_events",
        "get_graph",
        "list_entity_memories",
        "get_memory_by_id",
        "get_memories",
        "recall",
        "walk_graph",
    }


def test_exceptions_name_routes_that_exist() -> None:
    names = {operation.name for operation in OPERATIONS}
    assert NEEDS.keys() <= names
    assert len(OPERATIONS) > 80


def test_no_route_names_a_tenant_itself() -> None:
    """Routes get their tenant from the caller: `Caller.bank`, `Caller.tenant`."""
    folder = Path(http_face.__file__).parent
    bad = re.compile(r"\bDEFAULT_TENANT\b|\bbank_ref\(|(?<!def )\bBankRef\(")
    found = {path.name for path in folder.glob("*.py") if bad.search(path.read_text())}
    assert not found
