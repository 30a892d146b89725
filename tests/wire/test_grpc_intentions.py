"""Prospective memory over gRPC, `remembrancer.v1`: a real server, called with our own messages."""

from __future__ import annotations

import re
import sys
import time
from collections.abc import Callable, Iterator
from importlib.resources import files
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import grpc
import pytest
from google.protobuf import json_format
from grpc_health.v1 import health_pb2, health_pb2_grpc
from grpc_kit import TIMEOUT_S, new_tenant, refused
from grpc_reflection.v1alpha import reflection_pb2, reflection_pb2_grpc
from wire_kit import Server

from remembrancer.faces.grpc import proto
from remembrancer.verbs.reminding.streaming import MOST_STREAMS

SERVICE = f"{proto.OWN_PACKAGE}.IntentionService"
METHODS = {m.name: m for m in proto.service("IntentionService", proto.OWN_PACKAGE).methods}
INVALID, MISSING = grpc.StatusCode.INVALID_ARGUMENT, grpc.StatusCode.NOT_FOUND
DENIED, ABORTED = grpc.StatusCode.PERMISSION_DENIED, grpc.StatusCode.ABORTED
MASTER = "rm_of-the-settings-alone"


class Intentions:
    """Calls the service by the names of its methods, for one tenant and one bank."""

    def __init__(
        self, channel: grpc.Channel, tenant: str, bank: str, key: str | None = None
    ) -> None:
        self.channel, self.tenant, self.bank = channel, tenant, bank
        self.metadata = [("authorization", key)] if key is not None else []

    def request(self, method: str, fields: dict[str, Any]) -> Any:
        made = proto.message(METHODS[method].input_type.name, proto.OWN_PACKAGE)()
        return json_format.ParseDict({"tenant_id": self.tenant, "bank": self.bank, **fields}, made)

    def call(self, method: str, **fields: Any) -> Any:
        return self._call(self.channel.unary_unary, method, fields)

    def watch(self, **fields: Any) -> Any:
        return self._call(self.channel.unary_stream, "Watch", fields)

    def _call(self, kind: Any, method: str, fields: dict[str, Any]) -> Any:
        output = proto.message(METHODS[method].output_type.name, proto.OWN_PACKAGE)
        call = kind(
            f"/{SERVICE}/{method}",
            request_serializer=lambda message: message.SerializeToString(),
            response_deserializer=output.FromString,
        )
        request = self.request(method, fields)
        return call(request, timeout=TIMEOUT_S, metadata=self.metadata)

    def register(self, **fields: Any) -> Any:
        [made] = self.call("Register", intentions=[fields]).intentions
        return made

    def due(self, content: str, in_ms: int = -1, **fields: Any) -> Any:
        return self.register(content=content, trigger_at_ms=now_ms() + in_ms, **fields)

    def peek(self, **fields: Any) -> list[str]:
        found = self.call("Check", mode="peek", **fields)
        return [each.intention.content for each in found.due]


@pytest.fixture
def channel(server: Server) -> Iterator[grpc.Channel]:
    with grpc.insecure_channel(server.grpc) as channel:
        yield channel


@pytest.fixture
def client(channel: grpc.Channel, bank: str) -> Intentions:
    return Intentions(channel, new_tenant(), bank)


def now_ms() -> int:
    return time.time_ns() // 1_000_000


def take(stream: Any, count: int) -> list[Any]:
    """Read so many messages of a stream, then hang up."""
    found = [next(stream) for _ in range(count)]
    stream.cancel()
    return found


def has_room(client: Intentions) -> bool:
    """Tell whether one more watch can be opened."""
    try:
        return len(take(client.watch(), 1)) == 1
    except grpc.RpcError as error:
        if error.code() is not grpc.StatusCode.RESOURCE_EXHAUSTED:
            raise
        return False


def test_what_is_registered_is_leased_and_acknowledged(client: Intentions) -> None:
    at = now_ms() - 5
    made = client.register(content="call Bob", trigger_at_ms=at, importance=0.8)
    assert (made.trigger_type, made.trigger_at_ms, made.state) == ("time_based", at, "active")
    assert (made.importance, made.triggered, made.HasField("trigger_event")) == (0.8, False, False)
    checked = client.call("Check", lease_seconds=30)
    [due] = checked.due
    assert (checked.mode, checked.remaining) == ("lease", 0)
    assert (due.intention.id, due.occurrence.intention_id) == (made.id, made.id)
    assert (due.occurrence.state, due.occurrence.token) == ("leased", 1)
    assert 0 < due.occurrence.lease_until_ms - checked.now_ms <= 31_000
    assert len(client.call("Check").due) == 0
    done = client.call("Ack", occurrence_id=due.occurrence.id, token=1)
    assert (done.occurrence.state, done.intention.state) == ("acked", "done")
    again = client.call("Ack", occurrence_id=due.occurrence.id, token=1)
    assert again.occurrence.state == "acked"
    assert client.call("Get", intention_id=made.id).intention.triggered


def test_the_http_face_shows_the_same_intention(server: Server, client: Intentions) -> None:
    client.tenant = "default"
    made = client.register(
        content="stand-up",
        recurrence={"rrule": "FREQ=WEEKLY;BYDAY=MO", "start": "2031-03-03T09:00"},
        zone="Europe/Berlin",
        quiet_hours={"start": "22:00", "end": "07:00"},
        cooldown_seconds=60,
        tier_rank=2,
    )
    shown = server.client.get(f"/v1/default/banks/{client.bank}/intentions/{made.id}").json()
    assert (shown["recurrence"]["rrule"], shown["zone"]) == (made.recurrence.rrule, made.zone)
    assert shown["triggerAt"] == made.trigger_at_ms
    assert shown["quietHours"] == {"start": "22:00", "end": "07:00", "zone": "Europe/Berlin"}
    assert (made.quiet_hours.zone, made.cooldown_seconds) == ("Europe/Berlin", 60)
    assert shown["tierRank"] == made.tier_rank == 2
    nexts = client.call("Preview", intention_id=made.id, limit=2).next_ms
    assert nexts[1] - nexts[0] == 7 * 86_400_000
    assert nexts[0] == made.trigger_at_ms


def test_several_are_registered_at_once_or_none(client: Intentions) -> None:
    event = {"content": "read the log", "trigger_event": "deploy"}
    with refused(INVALID, "content is missing"):
        client.call("Register", intentions=[event, {"trigger_event": "deploy"}])
    assert client.call("List").total == 0
    for _ in range(2):
        made = client.call("Register", intentions=[event, event], idempotency_key="once")
        assert len({each.id for each in made.intentions}) == 2
    many = client.call("Register", intentions=[event] * 30).intentions
    listed = client.call("List", limit=5, offset=2, states=["active"])
    assert (listed.total, len(listed.intentions)) == (32, 5)
    assert listed.intentions[0].id == many[0].id
    assert client.call("List", states=["paused"]).total == 0


def test_a_context_is_recognized_by_text_and_by_vector(client: Intentions) -> None:
    made = client.register(content="offer the recipe", cue_text="pesto with basil")
    assert (made.trigger_type, len(made.cue_embedding)) == ("context_based", 0)
    client.register(content="by vector", cue_embedding=[1.0, 0.0], similarity_threshold=0.9)
    assert client.peek(query_text="pesto with basil") == ["offer the recipe"]
    assert client.peek(query_embedding=[2.0, 0.1]) == ["by vector"]
    assert client.peek(query_embedding=[0.1, 2.0]) == []
    listed = client.call("List", embeddings=True).intentions
    assert [len(each.cue_embedding) for each in listed] == [64, 2]


def test_changes_leave_the_rest_and_take_away_what_is_cleared(client: Intentions) -> None:
    made = client.due("water the plants", 86_400_000, tier_rank=3, channel="mail")
    changed = client.call(
        "Update",
        intention_id=made.id,
        changes={"importance": 0.9},
        clear=["tier_rank", "channel"],
    ).intention
    assert (changed.content, changed.importance) == ("water the plants", 0.9)
    assert (changed.trigger_at_ms, changed.version) == (made.trigger_at_ms, made.version + 1)
    assert not changed.HasField("tier_rank")
    assert not changed.HasField("channel")
    for fields, text in (
        ({"clear": ["colour"]}, "no field of the changes"),
        ({"clear": ["zone"], "changes": {"zone": "UTC"}}, "is set in changes and named"),
        ({"clear": ["content"]}, "content cannot be taken away"),
    ):
        with refused(INVALID, text):
            client.call("Update", intention_id=made.id, **fields)
    assert client.call("Remove", intention_id=made.id).removed == 1
    for method in ("Get", "Remove", "Preview", "Update"):
        with refused(MISSING, "there is no intention"):
            client.call(method, intention_id=made.id)


def test_an_occurrence_is_given_back_put_off_held_and_dismissed(client: Intentions) -> None:
    client.due("sign it")
    first = client.call("Check").due[0].occurrence
    back = client.call("Nack", occurrence_id=first.id, token=first.token).occurrence
    assert back.state == "due"
    second = client.call("Check").due[0].occurrence
    assert (second.id, second.token) == (first.id, 2)
    with refused(ABORTED, "has passed to another"):
        client.call("Ack", occurrence_id=first.id, token=first.token)
    held = client.call("Extend", occurrence_id=first.id, token=2, lease_seconds=600).occurrence
    assert held.lease_until_ms > second.lease_until_ms
    off = client.call("Snooze", occurrence_id=first.id, seconds=3_600).occurrence
    assert (off.state, off.HasField("lease_until_ms")) == ("snoozed", False)
    assert off.ready_at_ms > now_ms() + 3_000_000
    later = client.call("Snooze", occurrence_id=first.id, at="in 3 hours").occurrence
    assert later.ready_at_ms > off.ready_at_ms
    with refused(INVALID, "give one of until, seconds and at"):
        client.call("Snooze", occurrence_id=first.id)
    gone = client.call("Dismiss", occurrence_id=first.id)
    assert (gone.occurrence.state, gone.intention.state) == ("dismissed", "done")
    assert not gone.intention.triggered
    with refused(ABORTED, "is dismissed already"):
        client.call("Extend", occurrence_id=first.id)


def test_events_are_kept_once_and_make_what_waits_for_them_due(client: Intentions) -> None:
    client.register(content="read the log", trigger_event="deploy", where={"ok": False})
    told = {"id": "d-1", "name": "deploy", "payload": {"ok": False, "to": ["eu", 2]}}
    done = client.call("PostEvents", events=[told])
    assert (list(done.new_ids), len(done.occurrences)) == (["d-1"], 1)
    again = client.call("PostEvents", events=[told])
    assert (list(again.new_ids), len(again.occurrences)) == ([], 0)
    [due] = client.call("Check").due
    assert due.occurrence.id == done.occurrences[0].id
    assert due.occurrence.data["event_id"] == "d-1"
    assert json_format.MessageToDict(due.occurrence.data)["payload"] == told["payload"]
    client.call("PostEvents", events=[{"name": "login", "time_ms": 1_000}])
    [login] = client.call("ListEvents", names=["login"]).events
    assert (login.name, login.time_ms, login.HasField("payload")) == ("login", 1_000, False)
    [deploy] = client.call("ListEvents", since_ms=now_ms() - 600_000).events
    assert deploy.id == "d-1"


def test_payloads_that_structs_cannot_hold_are_told_as_text(
    server: Server, client: Intentions
) -> None:
    client.tenant = "default"
    deep: Any = "bottom"
    for _ in range(60):
        deep = {"in": deep}
    event = {"name": "odd", "payload": {"deep": deep, "large": 10**400}}
    assert server.post(f"/v1/default/banks/{client.bank}/events", event).status_code == 200
    [told] = client.call("ListEvents").events
    payload = json_format.MessageToDict(told.payload)
    assert payload["large"] == str(10**400)
    at = payload["deep"]
    while isinstance(at, dict):
        at = at["in"]
    assert at.endswith('{"in": "bottom"' + "}" * (at.count("{")))


def test_consuming_and_transient_events(client: Intentions) -> None:
    client.register(content="on login", trigger_event="login")
    assert client.peek(events=["logout"]) == []
    done = client.call("Check", mode="consume", events=["login"])
    assert [each.occurrence.state for each in done.due] == ["acked"]
    assert client.peek(events=["login"]) == []
    client.due("tomorrow", 86_400_000)
    ahead = client.call("Check", mode="peek", now_ms=now_ms() + 86_500_000)
    assert [each.intention.content for each in ahead.due] == ["tomorrow"]
    clamped = client.call("Check", now_ms=now_ms() + 86_500_000)
    assert (len(clamped.due), len(clamped.warnings)) == (0, 1)


def test_the_watch_streams_what_is_due_and_what_falls_due(client: Intentions) -> None:
    client.due("was due")
    stream = client.watch()
    first = next(stream)
    client.due("falls due", 300)
    second = next(stream)
    stream.cancel()
    contents = [each.intention.content for each in (first, second)]
    assert contents == ["was due", "falls due"]
    assert first.cursor.endswith(f"-{first.occurrence.id}")
    assert first.occurrence.state == "due"
    assert first.found_at_ms >= first.occurrence.due_at_ms
    client.call("Ack", occurrence_id=first.occurrence.id)
    assert take(client.watch(), 1)[0].intention.content == "falls due"


def test_a_watch_goes_on_from_its_cursor(client: Intentions) -> None:
    client.due("first")
    [first] = take(client.watch(), 1)
    time.sleep(2.1)  # what is older than two seconds is not looked at again
    client.due("second")
    [second] = take(client.watch(cursor=first.cursor), 1)
    assert second.intention.content == "second"
    assert [m.intention.content for m in take(client.watch(), 2)] == ["first", "second"]
    with refused(INVALID, "cursor must be the id"):
        next(client.watch(cursor="7"))


def test_there_are_so_many_watches_at_most_and_they_end_with_the_server(folder: Path) -> None:
    with Server(folder) as server, grpc.insecure_channel(server.grpc) as channel:
        client = Intentions(channel, new_tenant(), "one")
        client.due("now")
        streams = [client.watch() for _ in range(MOST_STREAMS)]
        assert {next(stream).intention.content for stream in streams} == {"now"}
        with refused(grpc.StatusCode.RESOURCE_EXHAUSTED, "streams are open"):
            next(client.watch())
        streams.pop().cancel()
        deadline = time.monotonic() + TIMEOUT_S
        while not has_room(client):
            assert time.monotonic() < deadline
        server.process.terminate()
        assert server.process.wait(30) == 0
        assert [list(stream) for stream in streams] == [[]] * len(streams)


def test_a_lower_ceiling_hides_and_consumes_nothing(client: Intentions) -> None:
    made = client.due("secret", tier_rank=5)
    assert client.peek(max_tier_rank=4.9) == []
    assert len(client.call("Check", mode="consume", max_tier_rank=1).due) == 0
    assert client.call("List", max_tier_rank=1).total == 0
    for method in ("Get", "Preview", "Remove", "Update"):
        with refused(MISSING):
            client.call(method, intention_id=made.id, max_tier_rank=1)
    client.due("open")
    [seen] = take(client.watch(max_tier_rank=1), 1)
    assert seen.intention.content == "open"
    due = client.call("Check", max_tier_rank=5).due
    assert {each.intention.content for each in due} == {"secret", "open"}
    [hidden] = [each.occurrence.id for each in due if each.intention.id == made.id]
    for method in ("Ack", "Nack", "Dismiss", "Extend"):
        with refused(MISSING, "there is no occurrence"):
            client.call(method, occurrence_id=hidden, max_tier_rank=1)
    with refused(INVALID, "max_tier_rank must be a finite number"):
        client.call("List", max_tier_rank="NaN")


def test_two_tenants_have_nothing_in_common(channel: grpc.Channel, bank: str) -> None:
    mine, theirs = (Intentions(channel, new_tenant(), bank) for _ in range(2))
    made = mine.due("of mine")
    theirs.due("of theirs")
    assert (mine.peek(), theirs.peek()) == (["of mine"], ["of theirs"])
    assert take(theirs.watch(), 1)[0].intention.content == "of theirs"
    mine.call("PostEvents", events=[{"name": "mine"}])
    assert len(theirs.call("ListEvents").events) == 0
    occurrence = mine.call("Check").due[0].occurrence.id
    for method, fields in (
        ("Get", {"intention_id": made.id}),
        ("Remove", {"intention_id": made.id}),
        ("Update", {"intention_id": made.id, "changes": {"content": "x"}}),
        ("Ack", {"occurrence_id": occurrence}),
        ("Snooze", {"occurrence_id": occurrence, "seconds": 60}),
    ):
        with refused(MISSING):
            theirs.call(method, **fields)
    assert mine.call("Ack", occurrence_id=occurrence).occurrence.state == "acked"


@pytest.mark.parametrize(
    ("method", "fields", "text"),
    [
        ("Register", {}, "give at least one intention"),
        ("Register", {"intentions": [{"content": "x"}]}, "triggerType is missing"),
        ("Register", {"intentions": [{"content": "x", "at": "someday"}]}, "is no time to come"),
        (
            "Register",
            {"intentions": [{"content": "x", "trigger_type": "daily"}]},
            "trigger_type: ",
        ),
        (
            "Register",
            {"intentions": [{"content": "x", "cue_embedding": ["NaN"]}]},
            "cue_embedding.0: ",
        ),
        (
            "Register",
            {"intentions": [{"content": "x", "trigger_at_ms": 2**62}]},
            "trigger_at: ",
        ),
        ("Register", {"bank": "", "intentions": [{"content": "x", "at": "in 1 hour"}]}, "bank"),
        ("Get", {"intention_id": "one"}, "intention_id must be an id"),
        ("List", {"states": ["asleep"]}, "there is no state 'asleep'"),
        ("List", {"limit": 1_001}, "limit must be 1 to 1000"),
        ("Preview", {"limit": 0}, "limit must be 1 to 100"),
        ("Check", {"mode": "steal"}, "mode: "),
        ("Check", {"lease_seconds": 0.5}, "lease_seconds: "),
        ("Check", {"lease_seconds": "NaN"}, "lease_seconds: "),
        ("Check", {"limit": 1_001}, "limit: "),
        ("Check", {"query_text": "x" * 100_000}, "query_text has 100000 characters"),
        ("Ack", {"occurrence_id": "x"}, "occurrence_id must be an id"),
        ("Extend", {"occurrence_id": "0" * 32, "lease_seconds": 1e9}, "lease_seconds: "),
        ("PostEvents", {}, "give 1 to 1000 events"),
        ("PostEvents", {"events": [{"id": "x"}]}, "name must have 1 to"),
        ("ListEvents", {"since_ms": 2**62}, "since_ms"),
    ],
)
def test_bad_input_is_refused_and_named(
    client: Intentions, method: str, fields: dict[str, Any], text: str
) -> None:
    with refused(INVALID, text):
        client.call(method, **fields)


Make = Callable[..., Intentions]


@pytest.fixture(scope="module")
def guarded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with Server(tmp_path_factory.mktemp("guarded"), api_key=MASTER) as server:
        yield server


@pytest.fixture
def keyed(guarded: Server, bank: str) -> Iterator[Make]:
    """Return a function that makes a key and returns a client with it, which names no tenant."""
    with grpc.insecure_channel(guarded.grpc) as channel:

        def make_key(**fields: Any) -> Intentions:
            made = guarded.post(
                "/v1/keys",
                {"name": "a test", **fields},
                headers={"Authorization": f"Bearer {MASTER}"},
            )
            assert made.status_code in {200, 201}, made.text
            return Intentions(channel, "", bank, f"Bearer {made.json()['key']}")

        yield make_key


def test_the_ceiling_is_the_keys_whatever_a_call_asks_for(keyed: Make) -> None:
    whole, low = keyed(tenant="tiers"), keyed(tenant="tiers", max_tier_rank=1)
    whole.due("secret", tier_rank=2)
    low.due("open", tier_rank=1)
    assert low.peek(max_tier_rank=9) == low.peek() == ["open"]
    assert low.call("List", max_tier_rank=9).total == 1
    assert take(low.watch(max_tier_rank=9), 1)[0].intention.content == "open"
    assert low.peek(max_tier_rank=0) == []
    assert sorted(whole.peek()) == ["open", "secret"]
    low.register(content="seen", trigger_event="boot")
    whole.register(content="unseen", trigger_event="boot", tier_rank=2)
    assert len(low.call("PostEvents", events=[{"name": "boot"}]).occurrences) == 1


def test_each_call_needs_its_permission(keyed: Make) -> None:
    reader = keyed(tenant="rights", permissions=["read"])
    writer = keyed(tenant="rights", permissions=["write"])
    nobody = Intentions(reader.channel, "", reader.bank)
    writer.due("now")
    assert reader.peek() == ["now"]
    assert take(reader.watch(), 1)[0].intention.content == "now"
    nowhere = "0" * 32
    writes: list[tuple[str, dict[str, Any]]] = [
        ("Register", {"intentions": [{"content": "x", "at": "in 1 hour"}]}),
        ("Update", {"intention_id": nowhere}),
        ("Remove", {"intention_id": nowhere}),
        ("Check", {}),
        ("Check", {"mode": "consume"}),
        *((name, {"occurrence_id": nowhere}) for name in ("Ack", "Nack", "Snooze", "Dismiss")),
        ("Extend", {"occurrence_id": nowhere}),
        ("PostEvents", {"events": [{"name": "x"}]}),
    ]
    for method, fields in writes:
        with refused(DENIED, "requires write"):
            reader.call(method, **fields)
    for method in ("Get", "List", "Preview", "ListEvents"):
        with refused(DENIED, "requires read"):
            writer.call(method)
    with refused(DENIED, "requires read"):
        next(writer.watch())
    with refused(grpc.StatusCode.UNAUTHENTICATED):
        nobody.call("List")


def test_a_key_for_some_banks_reaches_no_others(keyed: Make) -> None:
    some = keyed(tenant="some", banks=["customer-*"])
    for method in ("List", "Check", "ListEvents"):
        with refused(DENIED, "this key reaches"):
            some.call(method)
    with refused(DENIED, "this key reaches"):
        next(some.watch())
    some.bank = "customer-1"
    assert some.due("allowed").content == "allowed"


def test_the_service_is_healthy_and_can_be_asked_for(channel: grpc.Channel) -> None:
    health = health_pb2_grpc.HealthStub(channel)
    told = health.Check(health_pb2.HealthCheckRequest(service=SERVICE), timeout=10)
    assert told.status == health_pb2.HealthCheckResponse.SERVING
    asked = [
        reflection_pb2.ServerReflectionRequest(list_services=""),
        reflection_pb2.ServerReflectionRequest(file_containing_symbol=SERVICE),
    ]
    stub = reflection_pb2_grpc.ServerReflectionStub(channel)
    listed, file = stub.ServerReflectionInfo(iter(asked), timeout=10)
    assert SERVICE in {each.name for each in listed.list_services_response.service}
    assert any(
        b"WatchMessage" in each for each in file.file_descriptor_response.file_descriptor_proto
    )


class Stub:
    """Stands for the generated stub: its methods are the service's."""

    def __init__(self, channel: grpc.Channel) -> None:
        for name, method in METHODS.items():
            kind = channel.unary_stream if method.server_streaming else channel.unary_unary
            output = proto.message(method.output_type.name, proto.OWN_PACKAGE)
            call = kind(
                f"/{SERVICE}/{name}",
                request_serializer=lambda message: message.SerializeToString(),
                response_deserializer=output.FromString,
            )
            setattr(self, name, call)


def test_the_documented_client_prints_what_is_shown(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    page = (Path(__file__).parents[2] / "docs" / "grpc.md").read_text()
    found = re.search(
        r"<!-- runs with remembrancer_pb2 -->\n```python\n(.*?)```\n\n```\n(.*?)```", page, re.S
    )
    assert found is not None
    names = proto.pool().FindFileByName("remembrancer.proto").message_types_by_name
    messages = SimpleNamespace(**{n: proto.message(n, proto.OWN_PACKAGE) for n in names})
    monkeypatch.setitem(sys.modules, "remembrancer_pb2", messages)
    stubs = SimpleNamespace(IntentionServiceStub=Stub)
    monkeypatch.setitem(sys.modules, "remembrancer_pb2_grpc", stubs)
    with Server(folder) as server:
        code = found[1].replace("localhost:6380", server.grpc)
        assert code != found[1]
        exec(compile(code, "grpc.md", "exec"), {})
    assert capsys.readouterr().out == found[2]


def test_the_shipped_descriptor_is_what_the_file_says() -> None:
    text = re.sub(r"//.*", "", files(proto).joinpath("remembrancer.proto").read_text())
    file = proto.pool().FindFileByName("remembrancer.proto")
    bodies = dict(re.findall(r"^message (\w+) \{(.*?)^\}", text, re.M | re.S))
    assert set(bodies) == set(file.message_types_by_name)
    for name, body in bodies.items():
        declared = re.findall(r"(optional |repeated )?([\w.]+) (\w+) = (\d+);", body)
        shipped = file.message_types_by_name[name].fields
        assert [(f, int(n)) for _, _, f, n in declared] == [(f.name, f.number) for f in shipped]
        for (label, kind, _, _), field in zip(declared, shipped, strict=True):
            assert (label == "repeated ") == field.is_repeated, (name, field.name)
            if field.message_type is not None:
                assert field.message_type.name == kind.rpartition(".")[2], (name, field.name)
            else:
                code = getattr(field, f"TYPE_{kind.upper()}")
                assert (field.type, field.has_presence) == (code, label == "optional ")
    calls = re.findall(r"rpc (\w+)\((\w+)\) returns \((stream )?(\w+)\)", text)
    assert {name: (one, bool(many), other) for name, one, many, other in calls} == {
        m.name: (m.input_type.name, m.server_streaming, m.output_type.name)
        for service in file.services_by_name.values()
        for m in service.methods
    }
