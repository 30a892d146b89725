"""How the tests call the server over gRPC: with our own messages, and no generated code."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from uuid import uuid4

import grpc
import pytest

from remembrancer.faces.grpc import proto
from remembrancer.faces.grpc.values import fill_struct

TIMEOUT_S = 30.0

CALLS = {
    method.name: (f"/{proto.PACKAGE}.{name}/{method.name}", method)
    for name in proto.SERVICES
    for method in proto.service(name).methods
}


def make(name: str, **fields: Any) -> Any:
    """Return a message; mappings in Struct fields become Structs."""
    made = proto.message(name)()
    for field, value in fields.items():
        kind = made.DESCRIPTOR.fields_by_name[field].message_type
        if kind is not None and kind.full_name == "google.protobuf.Struct":
            fill_struct(getattr(made, field), value)
        elif (kind is not None and isinstance(value, list)) or isinstance(value, list):
            getattr(made, field).extend(value)
        elif kind is not None:
            getattr(made, field).CopyFrom(value)
        else:
            setattr(made, field, value)
    return made


class Client:
    """Calls by method name, all for one tenant, and with one key."""

    def __init__(self, channel: grpc.Channel, tenant: str, key: str | None = None) -> None:
        self.channel = channel
        self.tenant = tenant
        self.metadata = [("authorization", key)] if key is not None else []

    def call(self, method: str, **fields: Any) -> Any:
        path, descriptor = CALLS[method]
        request = descriptor.input_type.name
        if "tenant_id" in descriptor.input_type.fields_by_name:
            fields.setdefault("tenant_id", self.tenant)
        call = self.channel.unary_unary(
            path,
            request_serializer=lambda message: message.SerializeToString(),
            response_deserializer=proto.message(descriptor.output_type.name).FromString,
        )
        return call(make(request, **fields), timeout=TIMEOUT_S, metadata=self.metadata)

    def remember(self, content: str, entity: str | None = None, **fields: Any) -> Any:
        if entity is not None:
            fields["entity_id"] = entity
        return self.call("Remember", content=content, **fields).memory

    def get(self, memory_id: bytes) -> Any:
        return self.call("Get", memory_id=memory_id).memory

    def subscribe(self, *, timeout: float = TIMEOUT_S, **fields: Any) -> Any:
        path, descriptor = CALLS["Subscribe"]
        call = self.channel.unary_stream(
            path,
            request_serializer=lambda message: message.SerializeToString(),
            response_deserializer=proto.message(descriptor.output_type.name).FromString,
        )
        fields.setdefault("tenant_id", self.tenant)
        return call(make("SubscribeRequest", **fields), timeout=timeout, metadata=self.metadata)


@contextmanager
def refused(status: grpc.StatusCode, text: str = "") -> Iterator[None]:
    """Expect a call to end with a status whose message holds a text."""
    with pytest.raises(grpc.RpcError) as caught:
        yield
    assert caught.value.code() is status, caught.value.details()
    assert text in caught.value.details()


def strategy(kind: str, **fields: Any) -> Any:
    """Return the configuration of a strategy, by its name in lower case."""
    number = proto.pool().FindEnumTypeByName("hebbs.v1.RecallStrategyType").values_by_name
    return make("RecallStrategyConfig", strategy_type=number[kind.upper()].number, **fields)


def edge(target: bytes, kind: str, confidence: float | None = None) -> Any:
    """Return an edge, by its type's name in lower case."""
    values = proto.pool().FindEnumTypeByName("hebbs.v1.EdgeType").values_by_name
    more = {} if confidence is None else {"confidence": confidence}
    number = values[f"EDGE_TYPE_{kind.upper()}"].number
    return make("Edge", target_id=target, edge_type=number, **more)


def kind_of(memory: Any) -> str:
    """Return the name of a memory's kind, in lower case."""
    values = proto.pool().FindEnumTypeByName("hebbs.v1.MemoryKind").values_by_number
    return values[memory.kind].name.removeprefix("MEMORY_KIND_").lower()


def kind(name: str) -> int:
    """Return the number of a memory kind."""
    values = proto.pool().FindEnumTypeByName("hebbs.v1.MemoryKind").values_by_name
    return values[f"MEMORY_KIND_{name.upper()}"].number


def new_tenant() -> str:
    return f"tenant-{uuid4()}"
