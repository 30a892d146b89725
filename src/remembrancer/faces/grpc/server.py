"""The gRPC server: today the standard health service, `grpc.health.v1`, over plain HTTP/2."""

from __future__ import annotations

import grpc
from grpc_health.v1 import health, health_pb2, health_pb2_grpc

from ...nouns.errors import InvalidInput

_GRACE_S = 5.0  # for calls under way when the server stops


class GrpcServer:
    """Serves on one address; `stop` lets calls under way end.

    Args:
        address: HOST:PORT; port 0 takes a free one, see `port`.
    """

    def __init__(self, address: str) -> None:
        self._address = address
        self._health = health.aio.HealthServicer()
        self._server: grpc.aio.Server | None = None
        self.port = 0

    async def start(self) -> None:
        """Begin to serve.

        Raises:
            InvalidInput: the address cannot be bound.
        """
        server = grpc.aio.server()
        health_pb2_grpc.add_HealthServicer_to_server(self._health, server)
        try:
            self.port = server.add_insecure_port(self._address)
        except RuntimeError:
            raise InvalidInput(
                f"gRPC cannot listen on {self._address}: is another server running there? "
                "Choose another address with --grpc, or 'off'",
                field="grpc",
            ) from None
        await server.start()
        await self._health.set("", health_pb2.HealthCheckResponse.SERVING)
        self._server = server

    async def stop(self) -> None:
        """Say that no more calls are taken, then stop."""
        if self._server is not None:
            await self._health.enter_graceful_shutdown()
            await self._server.stop(_GRACE_S)
            self._server = None
