"""The gRPC face, from outside."""

from __future__ import annotations

import asyncio

import grpc
import pytest
from grpc_health.v1 import health_pb2, health_pb2_grpc

from remembrancer.faces.grpc.server import GrpcServer
from remembrancer.nouns.errors import InvalidInput


def test_health_says_serving() -> None:
    async def main() -> int:
        server = GrpcServer("127.0.0.1:0")
        await server.start()
        try:
            async with grpc.aio.insecure_channel(f"127.0.0.1:{server.port}") as channel:
                stub = health_pb2_grpc.HealthStub(channel)
                answer = await stub.Check(health_pb2.HealthCheckRequest())
                return answer.status
        finally:
            await server.stop()

    assert asyncio.run(main()) == health_pb2.HealthCheckResponse.SERVING


def test_an_address_that_cannot_be_bound_is_refused() -> None:
    async def main() -> None:
        await GrpcServer("256.0.0.1:1").start()

    with pytest.raises(InvalidInput, match="--grpc"):
        asyncio.run(main())
