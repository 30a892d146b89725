"""The gRPC server itself: health, reflection, bad requests, statuses, stopping."""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path
from typing import Any

import grpc
import pytest
from grpc_health.v1 import health_pb2, health_pb2_grpc
from grpc_kit import CALLS, Client, new_tenant, refused
from grpc_reflection.v1alpha import reflection_pb2, reflection_pb2_grpc
from wire_kit import Server

import remembrancer
from remembrancer.app import App
from remembrancer.faces.grpc import proto
from remembrancer.faces.grpc.server import GrpcServer
from remembrancer.nouns.errors import InvalidInput
from remembrancer.settings import Settings

OPTIONS = [("grpc.max_receive_message_length", -1)]


@pytest.fixture
def client(server: Server) -> Iterator[Client]:
    with grpc.insecure_channel(server.grpc, options=OPTIONS) as channel:
        yield Client(channel, new_tenant())


def test_the_standard_health_service_says_serving(client: Client) -> None:
    stub = health_pb2_grpc.HealthStub(client.channel)
    for name in ("", "hebbs.v1.MemoryService"):
        answer = stub.Check(health_pb2.HealthCheckRequest(service=name), timeout=10)
        assert answer.status == health_pb2.HealthCheckResponse.SERVING


def test_health_counts_memories_and_names_the_version(folder: Path) -> None:
    with Server(folder) as server, grpc.insecure_channel(server.grpc) as channel:
        client = Client(channel, new_tenant())
        assert client.call("Check").memory_count == 0
        for number in range(3):
            client.remember(f"The lamp number {number} was lit.", "keeper")
        told = client.call("Check")
        assert (told.status, told.memory_count) == (1, 3)
        assert told.version == remembrancer.__version__
        assert told.uptime_seconds < 600


def test_reflection_lists_the_services_and_shows_a_message(client: Client) -> None:
    stub = reflection_pb2_grpc.ServerReflectionStub(client.channel)
    asked = [
        reflection_pb2.ServerReflectionRequest(list_services=""),
        reflection_pb2.ServerReflectionRequest(file_containing_symbol="hebbs.v1.PrimeRequest"),
    ]
    listed, file = stub.ServerReflectionInfo(iter(asked), timeout=10)
    names = {each.name for each in listed.list_services_response.service}
    assert {f"hebbs.v1.{name}" for name in proto.SERVICES} < names
    assert "grpc.health.v1.Health" in names
    assert any(
        b"temporal_ratio" in each for each in file.file_descriptor_response.file_descriptor_proto
    )


def test_every_call_of_the_protocol_has_a_handler(client: Client) -> None:
    assert len(CALLS) == 17
    for method, (_, descriptor) in CALLS.items():
        if descriptor.server_streaming:
            continue
        try:
            client.call(method)
        except grpc.RpcError as error:
            message = error.details()
            unanswered = error.code() is grpc.StatusCode.UNIMPLEMENTED
            assert not unanswered or "contradictions" in message, (method, message)


def test_bytes_that_are_no_message_are_invalid(client: Client) -> None:
    call = client.channel.unary_unary("/hebbs.v1.MemoryService/Prime")
    with refused(grpc.StatusCode.INVALID_ARGUMENT, "invalid input for prime: the request is no"):
        call(b"\xff\xff\xff", timeout=10)


def test_a_request_above_four_mebibytes_is_refused(client: Client) -> None:
    with refused(grpc.StatusCode.RESOURCE_EXHAUSTED):
        client.remember("x" * (4 * 1024 * 1024 + 1))


def test_a_deadline_ends_a_call_here_and_there(client: Client) -> None:
    stream = client.subscribe(entity_id="one", timeout=0.5)
    number = next(stream).subscription_id
    with refused(grpc.StatusCode.DEADLINE_EXCEEDED):
        next(stream)
    deadline = time.monotonic() + 20
    while True:
        try:
            client.call("Feed", subscription_id=number, text="still there?")
        except grpc.RpcError as error:
            ended = error.code() is grpc.StatusCode.NOT_FOUND
            break
        assert time.monotonic() < deadline
        time.sleep(0.02)
    assert ended


@pytest.mark.parametrize("tenant", ["a b", "x" * 129, "a/b", "\u00e9"])
def test_a_tenant_that_is_no_name_is_invalid(client: Client, tenant: str) -> None:
    with refused(grpc.StatusCode.INVALID_ARGUMENT, "tenant_id"):
        client.call("Get", memory_id=bytes(16), tenant_id=tenant)


def test_without_a_tenant_it_is_the_default_one(client: Client, bank: str) -> None:
    kept = client.remember("The default tenant keeps this.", bank, tenant_id="")
    again = client.call("Get", memory_id=kept.memory_id, tenant_id="default").memory
    assert again.content == "The default tenant keeps this."


def test_an_address_that_cannot_be_bound_is_refused(folder: Path) -> None:
    async def main() -> None:
        app = await App.open(Settings(data=folder, embedder="none"), background=False)
        try:
            await GrpcServer("256.0.0.1:1").start(app)
        finally:
            await app.close()

    with pytest.raises(InvalidInput, match="--grpc"):
        asyncio.run(main())


def test_stopping_ends_streams_with_all_that_was_asked(folder: Path) -> None:
    with Server(folder) as server, grpc.insecure_channel(server.grpc) as channel:
        stream = Client(channel, new_tenant()).subscribe(entity_id="keeper")
        assert next(stream).subscription_id > 0
        server.process.terminate()
        assert server.process.wait(30) == 0
        assert list(stream) == []


# What the protocol's file says, read without a compiler.

_TYPES = {
    "double": 1, "float": 2, "int64": 3, "uint64": 4, "int32": 5, "bool": 8, "string": 9,
    "bytes": 12, "uint32": 13,
}  # fmt: skip


def declared() -> dict[str, dict[int, tuple[str, str, str]]]:
    """Return the fields of each message of the file by number: label, type, name."""
    text = files(proto).joinpath("hebbs.proto").read_text()
    text = re.sub(r"//.*", "", text)
    found: dict[str, dict[int, tuple[str, str, str]]] = {}
    for name, body in re.findall(r"^message (\w+) \{(\}|.*?^\})", text, re.M | re.S):
        plain = re.sub(r"enum \w+ \{.*?\}", "", body, flags=re.S)
        fields = re.findall(r"(optional |repeated )?([\w.]+) (\w+) = (\d+);", plain)
        found[name] = {int(n): (label.strip(), kind, field) for label, kind, field, n in fields}
    return found


def compiled(field: Any) -> tuple[str, str]:
    """Return label and type of a field as the file would say them."""
    label = "repeated" if field.is_repeated else ""
    kind = field.message_type or field.enum_type
    one_of = field.containing_oneof
    if one_of is not None and len(one_of.fields) == 1 and one_of.name == f"_{field.name}":
        label = "optional"
    if kind is not None:
        return label, kind.full_name.removeprefix("hebbs.v1.")
    return label, next(name for name, number in _TYPES.items() if number == field.type)


def test_the_shipped_descriptor_is_what_the_file_says() -> None:
    file = proto.pool().FindFileByName("hebbs.proto")
    messages = declared()
    assert set(messages) == set(file.message_types_by_name)
    for name, fields in messages.items():
        theirs = file.message_types_by_name[name].fields_by_number
        assert set(theirs) == set(fields), name
        for number, (label, kind, field) in fields.items():
            assert theirs[number].name == field, name
            found = compiled(theirs[number])
            assert found[0] == label, (name, field)
            assert found[1].rpartition(".")[2] == kind.rpartition(".")[2], (name, field)
    text = files(proto).joinpath("hebbs.proto").read_text()
    for name, enum in file.enum_types_by_name.items():
        body = re.search(rf"enum {name} \{{(.*?)\}}", text, re.S)
        assert body is not None
        values = re.findall(r"(\w+) = (\d+);", body.group(1))
        assert {n: int(v) for n, v in values} == {v.name: v.number for v in enum.values}
    calls = re.findall(r"rpc (\w+)\((\w+)\) returns \((stream )?(\w+)\)", text)
    assert {name: (one, bool(many), other) for name, one, many, other in calls} == {
        name: (d.input_type.name, d.server_streaming, d.output_type.name)
        for name, (_, d) in CALLS.items()
    }
