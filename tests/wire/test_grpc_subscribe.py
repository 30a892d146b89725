"""SubscribeService over gRPC: handshake, pushes, what is new, filters, owners."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import grpc
import pytest
from grpc_kit import Client, kind, new_tenant, refused
from wire_kit import Server

FED = "the tide is turning"


@pytest.fixture
def client(server: Server) -> Iterator[Client]:
    with grpc.insecure_channel(server.grpc) as channel:
        yield Client(channel, new_tenant())


def begun(client: Client, **fields: Any) -> tuple[Any, int]:
    """Subscribe, and return the stream and its id from the handshake."""
    stream = client.subscribe(**fields)
    first = next(stream)
    assert not first.HasField("memory")
    assert (first.confidence, first.sequence_number, first.push_timestamp_us) == (0, 0, 0)
    assert 0 < first.subscription_id < 1 << 63
    return stream, first.subscription_id


def test_what_is_fed_calls_memories_to_mind_once(client: Client) -> None:
    for place in ("harbour", "bay", "strait"):
        client.remember(FED, "pilot", context={"place": place})
    client.remember("Of no concern.", "other")
    stream, number = begun(client, entity_id="pilot", confidence_threshold=0.9)
    client.call("Feed", subscription_id=number, text=FED)
    pushed = [next(stream) for _ in range(3)]
    assert [push.sequence_number for push in pushed] == [1, 2, 3]
    assert {push.memory.context["place"] for push in pushed} == {"harbour", "bay", "strait"}
    assert all(push.confidence == pytest.approx(1, abs=0.01) for push in pushed)
    assert all(push.subscription_id == number and push.push_timestamp_us for push in pushed)
    client.call("Feed", subscription_id=number, text="")
    client.call("CloseSubscription", subscription_id=number)
    assert list(stream) == []


def test_words_fed_one_by_one_count_together(client: Client) -> None:
    client.remember(FED, "pilot")
    stream, number = begun(client, entity_id="pilot", confidence_threshold=0.9)
    for word in FED.split():
        client.call("Feed", subscription_id=number, text=word)
    assert next(stream).memory.content == FED


def test_what_is_written_later_is_pushed(client: Client) -> None:
    stream, number = begun(client, entity_id="pilot", confidence_threshold=0.9)
    client.call("Feed", subscription_id=number, text=FED)
    client.remember(FED, "pilot")
    push = next(stream)
    assert (push.memory.content, push.sequence_number) == (FED, 1)


def test_without_an_entity_all_of_the_tenant_are_followed(client: Client) -> None:
    client.remember(FED, "pilot")
    stream, number = begun(client, confidence_threshold=0.9)
    client.call("Feed", subscription_id=number, text=FED)
    assert next(stream).memory.entity_id == "pilot"
    client.remember(FED, "made later")
    assert next(stream).memory.entity_id == "made later"


def test_a_filter_and_a_threshold_hold_back(client: Client) -> None:
    client.remember(FED, "pilot")
    client.remember("Nothing alike at all.", "pilot")
    insight = client.remember(FED, "pilot", kind=kind("insight"))
    stream, number = begun(
        client, entity_id="pilot", kind_filter=[kind("insight")], confidence_threshold=0.9
    )
    client.call("Feed", subscription_id=number, text=FED)
    client.call("CloseSubscription", subscription_id=number)
    assert [push.memory.memory_id for push in stream] == [insight.memory_id]
    stream, number = begun(client, entity_id="pilot", confidence_threshold=0.9, time_scope_us=1)
    client.call("Feed", subscription_id=number, text=FED)
    client.call("CloseSubscription", subscription_id=number)
    assert list(stream) == []


def test_a_slow_reader_loses_the_oldest(client: Client) -> None:
    made = [client.remember(FED, "pilot", importance=n / 10) for n in range(5)]
    stream, number = begun(
        client, entity_id="pilot", confidence_threshold=0.9, output_buffer_size=1
    )
    client.call("Feed", subscription_id=number, text=FED)
    push = next(stream)
    assert push.memory.memory_id in {memory.memory_id for memory in made}
    assert push.sequence_number == 5


def test_a_stream_belongs_to_its_tenant(server: Server, client: Client) -> None:
    client.remember(FED, "pilot")
    stream, number = begun(client, entity_id="pilot", confidence_threshold=0.9)
    other = Client(client.channel, new_tenant())
    with refused(grpc.StatusCode.NOT_FOUND, f"subscription {number} not found"):
        other.call("Feed", subscription_id=number, text=FED)
    other.call("CloseSubscription", subscription_id=number)
    client.call("Feed", subscription_id=number, text=FED)
    assert next(stream).memory.content == FED


def test_feeding_nobody_is_not_found_and_closing_nobody_is_fine(client: Client) -> None:
    with refused(grpc.StatusCode.NOT_FOUND, "subscription 7 not found"):
        client.call("Feed", subscription_id=7, text="x")
    client.call("CloseSubscription", subscription_id=7)


def test_a_stream_that_the_client_cancels_is_closed(client: Client) -> None:
    stream, number = begun(client, entity_id="pilot")
    stream.cancel()
    deadline = time.monotonic() + 20
    while fed(client, number) and time.monotonic() < deadline:
        time.sleep(0.02)
    assert not fed(client, number)


def fed(client: Client, number: int) -> bool:
    """Feed, and tell whether the subscription is still there."""
    try:
        client.call("Feed", subscription_id=number, text="still there?")
    except grpc.RpcError as error:
        return error.code() is not grpc.StatusCode.NOT_FOUND
    return True


@pytest.mark.parametrize("threshold", [-0.1, 1.1, float("nan")])
def test_a_threshold_that_is_no_share_is_invalid(client: Client, threshold: float) -> None:
    with refused(grpc.StatusCode.INVALID_ARGUMENT, "confidence_threshold"):
        next(client.subscribe(confidence_threshold=threshold))
