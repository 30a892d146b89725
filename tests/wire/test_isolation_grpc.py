"""Two tenants, three keys, every call of every gRPC service: nothing crosses.

The calls are those of the descriptor pool, so a new one is tried without being named here; requests
are drawn, with the names, ids and texts of tenant `alpha` among their values. As over HTTP
(`test_isolation.py`) tenant `beta` sends each of them to a server that holds alpha's data and to
one that holds nothing: the answers must be the same, and alpha's rows must stay as they are.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import grpc
import pytest
from google.protobuf import json_format
from google.protobuf.descriptor import FieldDescriptor
from grpc_kit import edge, make
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from isolation_kit import rows
from served_kit import Served

from remembrancer.faces.grpc import proto
from remembrancer.nouns.ids import to_uuid

BANK = "shared"
TEXT = "Ottilie saw a kestrel on the gearbox."
MARKS = ("kestrel", "Ottilie", "gearbox")
START = 1_750_000_000_000_000
UNHEARD = grpc.StatusCode.DEADLINE_EXCEEDED
WAIT_S, STREAM_S = 30.0, 0.2
FREE = {"rate_limit": False}  # how soon to come again would differ

METHODS = {
    f"{service.full_name}/{method.name}": method
    for file in ("hebbs.proto", "remembrancer.proto")
    for service in proto.pool().FindFileByName(file).services_by_name.values()
    for method in service.methods
}
OPEN = {"hebbs.v1.HealthService/Check"}
UNARY = [name for name, method in METHODS.items() if not method.server_streaming]
STREAMS = [name for name, method in METHODS.items() if method.server_streaming]

Values = dict[str, list[Any]]


class Ticking:
    """A clock that is a millisecond later each time it is looked at."""

    def __init__(self) -> None:
        self.us = START

    def now_us(self) -> int:
        self.us += 1_000
        return self.us


class World:
    """A server, and its keys by name; `values` are alpha's, by the names of fields."""

    def __init__(self, served: Served) -> None:
        self.served = served
        self.values: Values = {}
        self.keys = {
            "alpha": served.key("alpha"),
            "reader": served.key("alpha", "read"),
            "beta": served.key("beta"),
        }

    def ask(self, name: str, request: Any, key: str | None) -> tuple[grpc.StatusCode, str, Any]:
        """Make a call, and return status, message and answer; of a stream, a list of answers."""
        method = METHODS[name]
        answered = proto.message(method.output_type.name, method.output_type.file.package)
        channel = self.served.channel
        kind = channel.unary_stream if method.server_streaming else channel.unary_unary
        call = kind(
            f"/{name}",
            request_serializer=lambda message: message.SerializeToString(),
            response_deserializer=answered.FromString,
        )
        metadata = [] if key is None else [("authorization", self.keys.get(key, key))]
        told: list[Any] = []
        try:
            if not method.server_streaming:
                return grpc.StatusCode.OK, "", call(request, timeout=WAIT_S, metadata=metadata)
            for answer in call(request, timeout=STREAM_S, metadata=metadata):
                told.append(answer)  # what was told before it broke off counts
        except grpc.RpcError as error:
            return error.code(), error.details() or "", told
        return grpc.StatusCode.OK, "", told

    def rows(self) -> dict[str, str]:
        """Return hashes of alpha's rows, when all is written that waited to be."""
        self.served.settle()
        return rows(self.served.app.settings.data, "alpha")


@pytest.fixture(scope="module")
def worlds(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[World, World]]:
    """Yield a server with alpha's data, and one without."""
    folders = [tmp_path_factory.mktemp(name) / "data" for name in ("full", "bare")]
    with Served(folders[0], Ticking(), **FREE) as one, Served(folders[1], Ticking(), **FREE) as two:
        full, bare = World(one), World(two)
        fill(full)
        yield full, bare


def fill(world: World) -> None:
    """Give alpha something of each kind."""
    client = world.served.calls(world.keys["alpha"])
    first = client.remember(TEXT, BANK, context={"seen": "kestrel"}, importance=0.9)
    second = client.remember(f"{TEXT} Again.", BANK, edges=[edge(first.memory_id, "caused_by")])
    client.call("Revise", memory_id=second.memory_id, content=f"{TEXT} Once more.")
    loose = client.remember(f"{TEXT} Of nobody.")
    for n in range(6):
        client.remember(TEXT, BANK, context={"n": n})
    for hour in ("nine", "ten"):
        client.remember(f"The kestrel comes to the gearbox at {hour}.", BANK)
    pending = [each.pending_id for each in client.call("ContradictionPrepare").candidates]
    assert pending
    client.remember(TEXT, BANK, kind=2, edges=[edge(first.memory_id, "insight_from")])
    entity = make("ReflectScope", entity=make("EntityScope", entity_id=BANK))
    session = client.call("ReflectPrepare", scope=entity).session_id

    def own(method: str, **fields: Any) -> Any:
        name = f"remembrancer.v1.IntentionService/{method}"
        request = proto.message(METHODS[name].input_type.name, proto.OWN_PACKAGE)()
        json_format.ParseDict({"bank": BANK, **fields}, request)
        status, message, answer = world.ask(name, request, "alpha")
        assert status is grpc.StatusCode.OK, message
        return answer

    registered = own(
        "Register",
        intentions=[{"content": TEXT, "trigger_at_ms": START // 1000 - n} for n in (1, 2)],
    )
    [offered, *_] = own("Check", mode="lease", limit=1).due
    own("PostEvents", events=[{"id": "event-of-alpha", "name": "kestrel"}])
    memories = [first.memory_id, second.memory_id, loose.memory_id]
    world.values = {
        "memory_id": memories,
        "target_id": memories,
        "seed_memory_id": memories,
        "memory_ids": memories,
        "entity_id": [BANK],
        "bank": [BANK],
        "tenant_id": ["alpha"],
        "session_id": [session],
        "source_memory_ids": [each.hex() for each in memories],
        "pending_id": pending,
        "intention_id": [each.id for each in registered.intentions],
        "occurrence_id": [offered.occurrence.id],
        "token": [offered.occurrence.token],
        "id": ["event-of-alpha", registered.intentions[0].id],
        "mode": ["peek", "lease"],
        "verdict": ["contradiction", "revision", "dismiss"],
        "name": ["kestrel"],
        "names": ["kestrel"],
        "offset": [0],
        "max_candidates": [10],
        "strategy_type": [1, 2, 3, 4],
        "edge_type": [1, 2, 5],
        "edge_types": [1, 2, 5],
        "lease_seconds": [60, 30],
        "trigger_at_ms": [START // 1000 + 3_600_000],
    }


@contextmanager
def streaming(world: World) -> Iterator[None]:
    """Have a stream of alpha's open meanwhile, its number among the values."""
    stream = world.served.calls(world.keys["alpha"]).subscribe(entity_id=BANK)
    world.values["subscription_id"] = [next(stream).subscription_id]
    yield
    stream.cancel()


def canonical(values: Values, descriptor: Any) -> Any:
    """Return a message with alpha's value in each field that has one, and a plain one in others."""
    return _filled(descriptor, lambda field: _candidates(values, field)[0], lambda field: True)


def drawn(values: Values, descriptor: Any, draw: Callable[[Any], Any]) -> Any:
    """Return a message with fields and values drawn."""
    return _filled(
        descriptor,
        lambda field: draw(st.sampled_from(_candidates(values, field))),
        lambda field: draw(st.booleans()),
    )


def _filled(
    descriptor: Any, value: Callable[[Any], Any], wanted: Callable[[Any], bool], depth: int = 0
) -> Any:
    made = proto.message(
        descriptor.full_name.removeprefix(f"{descriptor.file.package}."), descriptor.file.package
    )()
    for field in descriptor.fields:
        if field.name in _PLAIN or not wanted(field):
            continue
        inner = field.message_type
        if inner is not None and inner.full_name.startswith("google."):
            if inner.name == "Struct" and not field.is_repeated:
                getattr(made, field.name).update({"seen": "kestrel"})
        elif inner is not None and depth < 3:
            part = _filled(inner, value, wanted, depth + 1)
            if field.is_repeated:
                getattr(made, field.name).append(part)
            else:
                getattr(made, field.name).CopyFrom(part)
        elif inner is None and field.is_repeated:
            getattr(made, field.name).append(value(field))
        elif inner is None:
            setattr(made, field.name, value(field))
    return made


# What would be refused for a reason of its own, or would make answers differ by the time.
_PLAIN = {
    "now_us", "now_ms", "query_embedding", "cue_embedding", "recurrence", "quiet_hours", "zone",
    "at", "expires_at_ms", "condition", "state", "states", "trigger_type", "misfire", "channel",
    "clear", "since_us", "since_ms", "time_range", "cursor", "order", "format", "until_ms",
    "run", "auto_forget_threshold", "max_age_days", "scoring_weights", "kind", "memory_kind",
    "kind_filter", "staleness_threshold_us", "time_scope_us", "recency_window_us",
}  # fmt: skip


def _candidates(values: Values, field: Any) -> list[Any]:
    known = values.get(field.name, [])
    match field.type:
        case FieldDescriptor.TYPE_BYTES:
            return [*known, bytes(16), b"short"]
        case FieldDescriptor.TYPE_STRING:
            return [*known, *((TEXT, "kestrel", "") if not known else ("other", ""))]
        case FieldDescriptor.TYPE_BOOL:
            return [False, True]
        case FieldDescriptor.TYPE_FLOAT | FieldDescriptor.TYPE_DOUBLE:
            return [*known, 0.5, 0.0, 1.0]
        case FieldDescriptor.TYPE_ENUM:
            return [*known, *(value.number for value in field.enum_type.values)]
    return [*known, 10, 1, 0, 1000]


_FORMS = (
    (re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}"), "UUID"),
    (re.compile(r"\b[0-9a-f]{32}\b"), "HEX"),
    (re.compile(r"\b[0-9A-HJKMNP-TV-Z]{26}\b"), "ULID"),
    (re.compile(r"\d{4}-\d\d-\d\dT[\d:.]+(Z|[+-]\d\d:\d\d)?"), "TIME"),
)
_QUIET = {"subscriptionId", "uptimeSeconds", "accessCount", "cursor"}


def normal(value: Any) -> Any:
    """Return an answer without what differs from server to server by itself."""
    if isinstance(value, dict):
        return {k: normal(v) for k, v in value.items() if k not in _QUIET}
    if isinstance(value, list):
        return [normal(each) for each in value]
    if isinstance(value, float):
        return round(value, 3)
    if isinstance(value, str):
        if value.isdecimal() and len(value) > 11:
            return "MOMENT"
        if re.fullmatch(r"[A-Za-z0-9+/]{22}==", value):
            return "ID"
        for form, word in _FORMS:
            value = form.sub(word, value)
    return value


def told(answered: tuple[grpc.StatusCode, str, Any]) -> Any:
    status, message, answer = answered
    shown = json_format.MessageToDict(answer) if hasattr(answer, "DESCRIPTOR") else answer
    return status, normal(message), normal(shown)


def each_request(name: str, values: Values, examples: int, test: Callable[[Any], None]) -> None:
    """Run a test with the canonical request of a call, then with some that are drawn."""
    descriptor = METHODS[name].input_type
    test(canonical(values, descriptor))

    @settings(
        max_examples=examples,
        deadline=None,
        database=None,
        derandomize=True,
        suppress_health_check=list(HealthCheck),
    )
    @given(data=st.data())
    def more(data: st.DataObject) -> None:
        test(drawn(values, descriptor, data.draw))

    more()


def says_nothing_of_alpha(answer: Any, values: Values) -> None:
    raw = b"".join(each.SerializeToString() for each in answer)
    ids = [each for each in values["memory_id"] if each in raw]
    spelled = [each for each in values["memory_id"] if to_uuid(each).encode() in raw]
    assert not ids
    assert not spelled
    assert not [mark for mark in MARKS if mark.encode() in raw]


@pytest.mark.parametrize("name", METHODS)
def test_no_key_gets_nothing(worlds: tuple[World, World], name: str) -> None:
    full, _ = worlds
    before = full.rows()
    request = canonical(full.values, METHODS[name].input_type)
    for key in (None, "rmb_" + "A" * 43):
        status, _, answer = full.ask(name, request, key)
        if name in OPEN:
            assert status is grpc.StatusCode.OK
            assert answer.memory_count == 0
        else:
            assert status is grpc.StatusCode.UNAUTHENTICATED
    assert full.rows() == before


@pytest.mark.parametrize("name", METHODS)
def test_a_reading_key_changes_nothing(worlds: tuple[World, World], prove: int, name: str) -> None:
    full, _ = worlds
    before = full.rows()

    def ask(request: Any) -> None:
        status, message, _ = full.ask(name, request, "reader")
        assert status not in {grpc.StatusCode.INTERNAL, grpc.StatusCode.UNKNOWN}, message

    each_request(name, full.values, 5 * prove if name in UNARY else prove, ask)
    assert full.rows() == before


@pytest.mark.parametrize("name", UNARY)
def test_nothing_of_another_tenant_is_told_or_changed(
    worlds: tuple[World, World], prove: int, name: str
) -> None:
    full, bare = worlds
    before = full.rows()

    def ask(request: Any) -> None:
        beside, alone = (told(world.ask(name, request, "beta")) for world in (full, bare))
        assert beside == alone, request
        assert beside[0] is not grpc.StatusCode.UNAUTHENTICATED

    with streaming(full):
        each_request(name, full.values, 6 * prove, ask)
    assert full.rows() == before


@pytest.mark.parametrize("name", STREAMS)
def test_no_stream_tells_of_another_tenant(
    worlds: tuple[World, World], prove: int, name: str
) -> None:
    full, _ = worlds
    before = full.rows()

    def ask(request: Any) -> None:
        _, _, answer = full.ask(name, request, "beta")
        says_nothing_of_alpha(answer, full.values)

    each_request(name, full.values, prove, ask)
    assert full.rows() == before


def test_the_requests_reach_what_there_is(worlds: tuple[World, World]) -> None:
    """Sent by who may read, they get the data: so the others are refused it for who they are."""
    full, _ = worlds
    telling = set()
    for name, method in METHODS.items():
        request = canonical(full.values, method.input_type)
        status, _, answer = full.ask(name, request, "reader")
        raw = b"".join(
            each.SerializeToString() for each in (answer if isinstance(answer, list) else [answer])
        )
        if status is grpc.StatusCode.OK and any(mark.encode() in raw for mark in MARKS):
            telling.add(name.rpartition(".")[2])
    assert telling >= {
        "MemoryService/Get",
        "MemoryService/Recall",
        "MemoryService/Prime",
        "ReflectService/GetInsights",
        "ReflectService/ContradictionPrepare",
        "IntentionService/Get",
        "IntentionService/List",
        "IntentionService/Check",
        "IntentionService/ListEvents",
    }


def test_all_calls_are_tried() -> None:
    assert len(METHODS) >= 32
    named = {(proto.PACKAGE, each) for each in proto.SERVICES}
    named |= {(proto.OWN_PACKAGE, each) for each in proto.OWN_SERVICES}
    assert {name.rpartition("/")[0] for name in METHODS} == {".".join(each) for each in named}
