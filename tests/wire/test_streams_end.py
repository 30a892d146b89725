"""A stream ends soon after its key was revoked or has expired, though nothing is told on it."""

from __future__ import annotations

import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import grpc
import pytest
from grpc_kit import Client
from wire_kit import Server

from remembrancer.faces.grpc import proto

MASTER = "hb_of-the-settings-alone"
SOON_S = 10.0  # a second or two, and the time of a machine that is busy
SHORT = timedelta(seconds=4)  # what a key is good for: a stream begins in time on such a machine


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("ending")


@pytest.fixture(scope="module")
def guarded(folder: Path) -> Iterator[Server]:
    with Server(folder, api_key=MASTER) as server:
        yield server


@pytest.fixture(scope="module")
def other(folder: Path, guarded: Server) -> Iterator[Server]:
    """A second server on the same folder."""
    with Server(folder, api_key=MASTER) as server:
        yield server


def made(server: Server, **fields: Any) -> dict[str, Any]:
    told = server.post(
        "/v1/keys",
        {"name": "a test", **fields},
        headers={"Authorization": f"Bearer {MASTER}"},
    )
    assert told.status_code == 201, told.text
    key: dict[str, Any] = told.json()
    return key


def revoke(server: Server, key: dict[str, Any]) -> None:
    done = server.client.delete(
        f"/v1/keys/{key['id']}", headers={"Authorization": f"Bearer {MASTER}"}
    )
    assert done.status_code == 200


def watching(channel: grpc.Channel, key: str) -> Any:
    call = channel.unary_stream(
        f"/{proto.OWN_PACKAGE}.IntentionService/Watch",
        request_serializer=lambda message: message.SerializeToString(),
        response_deserializer=proto.message("WatchMessage", proto.OWN_PACKAGE).FromString,
    )
    request = proto.message("WatchRequest", proto.OWN_PACKAGE)(bank="b")
    return call(request, timeout=60, metadata=[("authorization", key)])


def ended(stream: Any) -> tuple[grpc.StatusCode, float]:
    """Wait for a stream to end; return how, and after how many seconds."""
    began = time.monotonic()
    with pytest.raises(grpc.RpcError) as caught:
        next(stream)
    return caught.value.code(), time.monotonic() - began


def test_grpc_streams_end_when_the_key_is_revoked(guarded: Server, other: Server) -> None:
    for revoking in (guarded, other):
        key = made(guarded)
        with grpc.insecure_channel(guarded.grpc) as channel:
            stream = Client(channel, "", f"Bearer {key['key']}").subscribe(timeout=60)
            assert next(stream).subscription_id
            watch = watching(channel, key["key"])
            revoke(revoking, key)
            for each in (stream, watch):
                status, seconds = ended(each)
                assert status is grpc.StatusCode.UNAUTHENTICATED
                assert seconds < SOON_S


def test_a_grpc_stream_ends_with_the_secret_that_opened_it(guarded: Server) -> None:
    key = made(guarded)
    with grpc.insecure_channel(guarded.grpc) as channel:
        old = Client(channel, "", f"Bearer {key['key']}").subscribe(timeout=60)
        next(old)
        turned = guarded.post(
            f"/v1/keys/{key['id']}/rotate", {}, headers={"Authorization": f"Bearer {MASTER}"}
        )
        assert turned.status_code == 200, turned.text
        client = Client(channel, "", f"Bearer {turned.json()['key']}")
        new = client.subscribe()
        number = next(new).subscription_id
        assert ended(old)[0] is grpc.StatusCode.UNAUTHENTICATED
        client.remember("The tide has turned.", "pilot")
        client.call("Feed", subscription_id=number, text="The tide has turned.")
        assert next(new).memory.content


def test_a_grpc_stream_ends_when_the_key_expires(guarded: Server) -> None:
    until = datetime.now(UTC) + SHORT
    key = made(guarded, expires_at=until.isoformat())
    with grpc.insecure_channel(guarded.grpc) as channel:
        stream = Client(channel, "", f"Bearer {key['key']}").subscribe(timeout=60)
        next(stream)
        status, seconds = ended(stream)
        assert status is grpc.StatusCode.UNAUTHENTICATED
        assert seconds < SOON_S
        assert datetime.now(UTC) >= until


def test_a_stream_of_one_key_outlives_anothers(guarded: Server) -> None:
    mine, theirs = made(guarded), made(guarded)
    with grpc.insecure_channel(guarded.grpc) as channel:
        client = Client(channel, "", f"Bearer {mine['key']}")
        kept, gone = client.subscribe(), Client(channel, "", theirs["key"]).subscribe()
        number = next(kept).subscription_id
        next(gone)
        revoke(guarded, theirs)
        assert ended(gone)[0] is grpc.StatusCode.UNAUTHENTICATED
        client.remember("The tide is turning.", "pilot")
        client.call("Feed", subscription_id=number, text="The tide is turning.")
        assert next(kept).memory.content == "The tide is turning."


@pytest.mark.parametrize(
    ("method", "path"),
    [("POST", "/v1/subscribe"), ("GET", "/v1/default/banks/b/intentions/stream")],
)
@pytest.mark.parametrize("how", ["revoked", "expired"])
def test_sse_streams_end_too(guarded: Server, method: str, path: str, how: str) -> None:
    until = datetime.now(UTC) + SHORT
    key = made(guarded, **({"expires_at": until.isoformat()} if how == "expired" else {}))
    with guarded.client.stream(
        method,
        path,
        json={} if method == "POST" else None,
        headers={"Authorization": f"Bearer {key['key']}"},
    ) as stream:
        pieces = stream.iter_text()
        assert next(pieces)  # it has begun
        if how == "revoked":
            revoke(guarded, key)
        began = time.monotonic()
        assert "memory_id" not in "".join(pieces)
        assert time.monotonic() - began < SOON_S
