"""The gRPC server: `hebbs.v1`, the standard health service, and reflection, over plain HTTP/2."""

from __future__ import annotations

from typing import Any

import grpc
from google.protobuf.descriptor_pool import DescriptorPool
from grpc_health.v1 import health, health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha import reflection, reflection_pb2, reflection_pb2_grpc

from ...app import App
from ...nouns.errors import InvalidInput
from . import proto
from .calls import Calls
from .health_service import HealthService
from .memory_service import MemoryService
from .reflect_service import ReflectService
from .subscribe_service import SubscribeService

_GRACE_S = 5.0  # for calls under way when the server stops
_MAX_REQUEST_BYTES = 4 * 1024 * 1024
_OPTIONS = (
    ("grpc.max_receive_message_length", _MAX_REQUEST_BYTES),
    ("grpc.so_reuseport", 0),  # else two servers share a port, and the second one is not refused
)


class GrpcServer:
    """Serves on one address; `stop` lets calls under way end.

    Args:
        address: HOST:PORT; port 0 takes a free one, see `port`.
    """

    def __init__(self, address: str) -> None:
        self._address = address
        self._health = health.aio.HealthServicer()
        self._server: grpc.aio.Server | None = None
        self._app: App | None = None
        self.port = 0

    async def start(self, app: App) -> None:
        """Begin to serve an open memory.

        Raises:
            InvalidInput: the address cannot be bound.
        """
        server = grpc.aio.server(options=_OPTIONS)
        calls = Calls(app.gate)
        services = {
            "MemoryService": MemoryService(app).handlers(calls),
            "SubscribeService": SubscribeService(app).handlers(calls),
            "ReflectService": ReflectService(app).handlers(calls),
            "HealthService": HealthService(app).handlers(calls),
        }
        for name, handlers in services.items():
            full = f"{proto.PACKAGE}.{name}"
            generic = grpc.method_handlers_generic_handler(full, handlers)
            server.add_generic_rpc_handlers((generic,))
        health_pb2_grpc.add_HealthServicer_to_server(self._health, server)
        reflection_pb2_grpc.add_ServerReflectionServicer_to_server(_reflection(), server)
        try:
            self.port = server.add_insecure_port(self._address)
        except RuntimeError:
            raise InvalidInput(
                f"gRPC cannot listen on {self._address}: is another server running there? "
                "Choose another address with --grpc, or 'off'",
                field="grpc",
            ) from None
        await server.start()
        for name in ("", *(f"{proto.PACKAGE}.{each}" for each in services)):
            await self._health.set(name, health_pb2.HealthCheckResponse.SERVING)
        self._server, self._app = server, app

    async def stop(self) -> None:
        """Say that no more calls are taken, end subscriptions, then stop."""
        if self._server is not None and self._app is not None:
            await self._health.enter_graceful_shutdown()
            await self._app.memories.subscriptions.stop()
            await self._server.stop(_GRACE_S)
            self._server = self._app = None


def _reflection() -> Any:
    """Return the reflection service, over our own messages and those of the standard services."""
    pool: DescriptorPool = proto.pool()
    for module in (health_pb2, reflection_pb2):
        pool.AddSerializedFile(module.DESCRIPTOR.serialized_pb)
    names = [f"{proto.PACKAGE}.{each}" for each in proto.SERVICES]
    names += [health.SERVICE_NAME, reflection.SERVICE_NAME]
    return reflection.aio.ReflectionServicer(names, pool=pool)
