"""HEBBS's own tests of its engine, row by row, for two tenants: streams, insights, who may call.

The test id is the row's name; the rest of the table is in `test_hebbs_rows_memory.py`. Rates are of
a key here, not of a tenant.

Subscribe: subscribe_to_one_entity, subscribe_tells_once, subscribe_waits_for_its_reader,
subscribe_drops_the_oldest, subscribe_from_a_confidence, subscribe_is_bounded. Reflect:
reflect_insights, reflect_lineage, reflect_since, reflect_too_few. Tenants: tenant_get,
tenant_counts, tenant_recall, tenant_prime, tenant_forget. Keys: key_shape, key_unknown,
key_malformed, key_expired, key_revoked, key_of_another_process, key_permissions. Rates: rate_burst,
rate_of_each_key, rate_of_each_class, rate_turned_off, rate_says_when. Store:
hundred_survive_reopening.
"""

from __future__ import annotations

import re
from typing import Any

import grpc
import pytest
from grpc_kit import kind_of, make, refused, strategy
from hebbs_rows_kit import OTHERS, ROOM, Pair, Row, ids_of, texts_of

from remembrancer.app import App
from remembrancer.nouns.caller import Permission, Rate
from remembrancer.settings import Settings
from remembrancer.verbs import subscriptions
from remembrancer.verbs.access.gate import Gate

MISSING, UNKNOWN = grpc.StatusCode.NOT_FOUND, grpc.StatusCode.UNAUTHENTICATED
DENIED, EXHAUSTED = grpc.StatusCode.PERMISSION_DENIED, grpc.StatusCode.RESOURCE_EXHAUSTED
CUE = "Thing 0 of the room."
SAID = "the fleet has left the harbour"
WAIT_S = 30
ROWS: dict[str, Row] = {}


def row(test: Row) -> Row:
    ROWS[test.__name__] = test
    return test


def _stream(pair: Pair, **fields: Any) -> tuple[Any, int]:
    """Subscribe to the room, and return the stream and its number."""
    asked = {"entity_id": ROOM, "confidence_threshold": 0.9, **fields}
    stream = pair.one.subscribe(**asked)
    return stream, next(stream).subscription_id


def _feed(pair: Pair, number: int, text: str = SAID) -> None:
    pair.one.call("Feed", subscription_id=number, text=text)


def _rest(pair: Pair, stream: Any, number: int) -> list[Any]:
    """Close a stream and return what it still told."""
    pair.one.call("CloseSubscription", subscription_id=number)
    return list(stream)


@row
def subscribe_to_one_entity(pair: Pair) -> None:
    pair.one.remember(SAID, "hall")
    theirs = pair.two.remember(SAID, ROOM)
    mine = pair.one.remember(SAID, ROOM)
    stream, number = _stream(pair)
    _feed(pair, number)
    with refused(MISSING):
        pair.two.call("Feed", subscription_id=number, text=SAID)
    pair.two.call("CloseSubscription", subscription_id=number)
    assert [push.memory.memory_id for push in _rest(pair, stream, number)] == [mine.memory_id]
    pair.two.call("Forget", memory_ids=[theirs.memory_id])


@row
def subscribe_tells_once(pair: Pair) -> None:
    pair.one.remember(SAID, ROOM)
    stream, number = _stream(pair)
    for _ in range(3):
        _feed(pair, number)
    assert len(_rest(pair, stream, number)) == 1


@row
def subscribe_waits_for_its_reader(pair: Pair) -> None:
    for n in range(4):
        pair.one.remember(SAID, ROOM, context={"n": n})
    stream, number = _stream(pair)
    _feed(pair, number)
    pair.room(1)  # other calls go on
    assert [next(stream).sequence_number for _ in range(4)] == [1, 2, 3, 4]
    assert _rest(pair, stream, number) == []


@row
def subscribe_drops_the_oldest(pair: Pair) -> None:
    for n in range(5):
        pair.one.remember(SAID, ROOM, context={"n": n})
    stream, number = _stream(pair, output_buffer_size=2)
    _feed(pair, number)
    numbers = [push.sequence_number for push in _rest(pair, stream, number)]
    assert numbers[-2:] == [4, 5]
    assert len(numbers) <= 3  # one may have been on its way


@row
def subscribe_from_a_confidence(pair: Pair) -> None:
    pair.one.remember(SAID, ROOM)
    pair.room(3)
    for least, count in ((0.99, 1), (0.0, 4)):
        stream, number = _stream(pair, confidence_threshold=least)
        _feed(pair, number)
        pushed = _rest(pair, stream, number)
        assert all(push.confidence >= least for push in pushed)
        assert 1 <= len(pushed) <= count


@row
def subscribe_is_bounded(pair: Pair) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(subscriptions, "MOST", 2)
        streams = [_stream(pair) for _ in range(2)]
        with refused(EXHAUSTED):
            next(pair.one.subscribe(entity_id=ROOM))
        for stream, number in streams:
            assert _rest(pair, stream, number) == []


def _scope(**fields: Any) -> Any:
    return make("ReflectScope", entity=make("EntityScope", entity_id=ROOM, **fields))


def _thought(pair: Pair) -> Any:
    """Remember six things alike, and commit an insight from them."""
    for n in range(6):
        pair.one.remember("The printer jams.", ROOM, context={"n": n})
    prepared = pair.one.call("ReflectPrepare", scope=_scope())
    insight = make(
        "ProducedInsightInput", content="The printer is worn.", confidence=0.9, cluster_id=0
    )
    call = {"session_id": prepared.session_id, "insights": [insight]}
    with refused(MISSING):
        pair.two.call("ReflectCommit", **call)
    assert pair.one.call("ReflectCommit", **call).insights_created == 1
    return prepared.clusters[0]


@row
def reflect_insights(pair: Pair) -> None:
    _thought(pair)
    [insight] = pair.one.call("GetInsights", entity_id=ROOM).insights
    assert (insight.content, kind_of(insight)) == ("The printer is worn.", "insight")
    assert len(pair.two.call("GetInsights").insights) == 0
    assert "The printer is worn." in texts_of(pair.prime())


@row
def reflect_lineage(pair: Pair) -> None:
    cluster = _thought(pair)
    [insight] = pair.one.call("GetInsights").insights
    sources = [each.hex() for each in insight.source_memory_ids]
    assert sorted(sources) == sorted(cluster.memory_ids)
    pair.one.call("Forget", memory_ids=[insight.source_memory_ids[0]])
    assert len(pair.one.call("GetInsights").insights) == 0


@row
def reflect_since(pair: Pair) -> None:
    made = pair.room(6)
    later = _scope(since_us=made[-1].created_at + 1)
    assert pair.one.call("Reflect", scope=_scope()).memories_processed == 6
    assert pair.one.call("Reflect", scope=later).memories_processed == 0


@row
def reflect_too_few(pair: Pair) -> None:
    pair.room(4)
    everything = make("ReflectScope", **{"global": make("GlobalScope")})
    for scope in (_scope(), everything):
        told = pair.one.call("Reflect", scope=scope)
        assert (told.memories_processed, told.clusters_found, told.insights_created) == (0, 0, 0)


@row
def tenant_get(pair: Pair) -> None:
    [mine] = pair.room(1)
    with refused(MISSING):
        pair.two.get(mine.memory_id)
    with refused(MISSING):
        pair.two.call("Get", memory_id=mine.memory_id, tenant_id=pair.tenants[0])


@row
def tenant_counts(pair: Pair) -> None:
    pair.room(5)
    assert pair.one.call("Check").memory_count == 5
    assert pair.two.call("Check").memory_count == len(OTHERS)


@row
def tenant_recall(pair: Pair) -> None:
    mine = {made.memory_id for made in pair.room(5)}
    kinds = ("similarity", "temporal", "analogical", "causal")
    for kind in kinds:
        asked = [strategy(kind)]
        own, theirs = [
            set(ids_of(client.call("Recall", cue=CUE, strategies=asked, reinforce=False)))
            for client in (pair.one, pair.two)
        ]
        assert own <= mine
        assert not theirs & mine
        assert bool(own) is bool(theirs) is (kind != "causal")


@row
def tenant_prime(pair: Pair) -> None:
    mine = {made.memory_id for made in pair.room(5)}
    for cue in ({}, {"similarity_cue": "Thing 0 of the room."}):
        own = pair.prime(**cue)
        theirs = pair.two.call("Prime", entity_id=ROOM, reinforce=False, **cue)
        assert set(ids_of(own)) == mine
        assert set(texts_of(theirs)) == set(OTHERS)
    assert pair.prime().temporal_count == 5


@row
def tenant_forget(pair: Pair) -> None:
    mine = [made.memory_id for made in pair.room(3)]
    assert pair.two.call("Forget", memory_ids=mine).forgotten_count == 0
    assert pair.one.call("Forget", entity_id=ROOM).forgotten_count == 3
    pair.room(2)
    assert pair.one.call("Forget", access_count_floor=1).forgotten_count == 2


@row
def key_shape(pair: Pair) -> None:
    assert re.fullmatch(r"rmb_[\w-]{43}", pair.keys[0])
    assert pair.keys[0] != pair.keys[1]


@row
def key_unknown(pair: Pair) -> None:
    with refused(UNKNOWN, "unknown API key"):
        pair.served.calls("rmb_" + "A" * 43).call("Prime", entity_id=ROOM)


@row
def key_malformed(pair: Pair) -> None:
    for key in ("", "hb_", "rmb_", "no key at all", pair.keys[0][:-1], pair.keys[0] + "A"):
        with refused(UNKNOWN):
            pair.served.calls(key).call("Prime", entity_id=ROOM)
        assert pair.served.ask(key, "GET", "/v1/memories").status_code == 401


@row
def key_expired(pair: Pair) -> None:
    ends = pair.hands.now_us() + 60_000_000
    client = pair.served.calls(pair.served.key(pair.tenants[0], expires_at=ends))
    assert len(client.call("Prime", entity_id=ROOM).results) == 0
    pair.hands.ahead_us = 61_000_000
    with refused(UNKNOWN, "expired"):
        client.call("Prime", entity_id=ROOM)


@row
def key_revoked(pair: Pair) -> None:
    key = pair.served.key(pair.tenants[0])
    client, app = pair.served.calls(key), pair.served.app
    assert len(client.call("Prime", entity_id=ROOM).results) == 0
    caller = pair.served.run(app.keys.verify(key))
    pair.served.run(app.keys.revoke(caller.key_id))
    with refused(UNKNOWN):
        client.call("Prime", entity_id=ROOM)
    assert len(pair.prime().results) == 0  # the other key of the tenant


@row
def key_of_another_process(pair: Pair) -> None:
    """What another memory on the same folder does to keys counts within five seconds."""
    key = pair.served.key(pair.tenants[0])
    client, app = pair.served.calls(key), pair.served.app
    assert len(client.call("Prime", entity_id=ROOM).results) == 0

    async def revoke() -> None:
        other = await App.open(app.settings, clock=pair.hands, background=False)
        try:
            await other.keys.revoke((await other.keys.verify(key)).key_id)
        finally:
            await other.close()

    pair.served.run(revoke())
    pair.hands.ahead_us = 6_000_000
    with refused(UNKNOWN):
        client.call("Prime", entity_id=ROOM)


@row
def key_permissions(pair: Pair) -> None:
    [made] = pair.room(1)
    calls: dict[str, tuple[str, dict[str, Any]]] = {
        "read": ("Prime", {"entity_id": ROOM}),
        "write": ("Revise", {"memory_id": made.memory_id, "importance": 0.5}),
        "admin": ("SetPolicy", {}),
    }
    rest = {
        "read": ("POST", "/v1/prime", {"entity_id": ROOM}),
        "write": ("POST", "/v1/forget", {"entity_id": "nobody"}),
        "admin": ("PUT", "/v1/policy", {}),
    }
    for name in calls:
        key = pair.served.key(pair.tenants[0], name)
        for needed, (method, fields) in calls.items():
            allowed = needed == name
            assert (pair.served.ask(key, *rest[needed]).status_code == 200) is allowed
            if allowed:
                pair.served.calls(key).call(method, **fields)
            else:
                with refused(DENIED, needed):
                    pair.served.calls(key).call(method, **fields)


def _slow(pair: Pair, tenant: int = 0, **rates: Rate) -> Any:
    named = {Permission(name): rate for name, rate in rates.items()}
    return pair.served.calls(pair.served.key(pair.tenants[tenant], rates=named))


@row
def rate_burst(pair: Pair) -> None:
    client = _slow(pair, read=Rate(0.001, 3))
    for _ in range(3):
        client.call("Prime", entity_id=ROOM)
    with refused(EXHAUSTED, "rate limit exceeded, retry after"):
        client.call("Prime", entity_id=ROOM)


@row
def rate_of_each_key(pair: Pair) -> None:
    slow = _slow(pair, read=Rate(0.001, 1))
    slow.call("Prime", entity_id=ROOM)
    with refused(EXHAUSTED):
        slow.call("Prime", entity_id=ROOM)
    other = _slow(pair, 1, read=Rate(0.001, 1))
    other.call("Prime", entity_id="nobody")
    pair.prime()


@row
def rate_of_each_class(pair: Pair) -> None:
    client = _slow(pair, read=Rate(0.001, 1), write=Rate(0.001, 1))
    client.call("Prime", entity_id=ROOM)
    client.remember("Writing is counted by itself.", ROOM)
    client.call("SetPolicy")
    for method, fields in (("Prime", {"entity_id": ROOM}), ("Remember", {"content": "x"})):
        with refused(EXHAUSTED):
            client.call(method, **fields)


@row
def rate_turned_off(pair: Pair) -> None:
    rates = {Permission.READ: Rate(0.001, 1)}
    key = pair.served.key(pair.tenants[0], "read", rates=rates)
    app = pair.served.app
    caller = pair.served.run(app.keys.verify(key))
    gate = Gate(app.keys, Settings(data=app.settings.data, embedder="none", rate_limit=False))
    for _ in range(100):
        gate.spend(caller, Permission.READ)


@row
def rate_says_when(pair: Pair) -> None:
    rates = {Permission.READ: Rate(0.5, 1)}
    key = pair.served.key(pair.tenants[0], "read", rates=rates)
    asked = ("POST", "/v1/prime", {"entity_id": ROOM})
    assert pair.served.ask(key, *asked).status_code == 200
    told = pair.served.ask(key, *asked)
    assert (told.status_code, told.json()["error_code"]) == (429, "rate_limited")
    assert 1 <= int(told.headers["Retry-After"]) <= 2


@row
def hundred_survive_reopening(pair: Pair) -> None:
    mine = {made.memory_id: made.content for made in pair.room(100)}
    pair.served.settle()
    primed = pair.prime(max_memories=200)
    assert {r.memory.memory_id: r.memory.content for r in primed.results} == mine
    found = pair.recall("Thing 42 of the room.", "similarity", top_k=1)
    assert texts_of(found) == ["Thing 42 of the room."]


@pytest.mark.parametrize("name", ROWS)
def test_row(pair: Pair, name: str) -> None:
    ROWS[name](pair)


def test_no_row_is_missing() -> None:
    assert len(ROWS) == 28
    assert all(name in (__doc__ or "") for name in ROWS)
