"""The gRPC server: `hebbs.v1`, `remembrancer.v1`, health and reflection, over HTTP/2."""

from __future__ import annotations

from typing import Any

import grpc
from google.protobuf.descriptor_pool import DescriptorPool
from grpc_health.v1 import health, health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha import reflection, reflection_pb2, reflection_pb2_grpc

from ...app import App
from ...nouns.errors import InvalidInput
from ...verbs.reminding.streaming import Streams
from ..tls import Tls
from . import proto
from .answer_service import AnswerService
from .calls import Calls
from .health_service import HealthService
from .intention_service import IntentionService
from .memory_service import MemoryService
from .overload import Turnstile
from .reflect_service import ReflectService
from .subscribe_service import SubscribeService
from .watching import watched

_GRACE_S = 5.0  # for calls under way when the server stops
_MAX_REQUEST_BYTES = 4 * 1024 * 1024
_OPTIONS = (("grpc.max_receive_message_length", _MAX_REQUEST_BYTES),)


class GrpcServer:
    """Serves on one address; `stop` lets calls under way end.

    Args:
        address: HOST:PORT; port 0 takes a free one, see `port`.
        shared: other processes serve on it, too; otherwise a second server is refused.
        tls: the certificate to serve with; without one, connections are plain.
    """

    def __init__(self, address: str, *, shared: bool = False, tls: Tls | None = None) -> None:
        self._address = address
        self._tls = tls
        self._options = (*_OPTIONS, ("grpc.so_reuseport", int(shared)))
        self._health = health.aio.HealthServicer()
        self._server: grpc.aio.Server | None = None
        self._app: App | None = None
        self._streams: Streams | None = None
        self.port = 0

    async def start(self, app: App) -> None:
        """Begin to serve an open memory.

        Raises:
            InvalidInput: the address cannot be bound.
        """
        server = grpc.aio.server(options=self._options)
        streams = Streams(app.store, app.watch, clock=app.clock)
        services = _services(app, streams)
        for full, handlers in services.items():
            counted = {name: watched(app.meters, full, name, h) for name, h in handlers.items()}
            generic = grpc.method_handlers_generic_handler(full, counted)
            server.add_generic_rpc_handlers((generic,))
        health_pb2_grpc.add_HealthServicer_to_server(self._health, server)
        reflection_pb2_grpc.add_ServerReflectionServicer_to_server(_reflection(), server)
        try:
            self.port = (
                server.add_insecure_port(self._address)
                if self._tls is None
                else server.add_secure_port(self._address, self._tls.grpc_credentials())
            )
        except RuntimeError:
            raise InvalidInput(
                f"gRPC cannot listen on {self._address}: is another server running there? "
                "Choose another address with --grpc, or 'off'",
                field="grpc",
            ) from None
        await server.start()
        for name in ("", *services):
            await self._health.set(name, health_pb2.HealthCheckResponse.SERVING)
        self._server, self._app, self._streams = server, app, streams

    async def drain(self) -> None:
        """Say that no more calls should come, and go on serving."""
        await self._health.enter_graceful_shutdown()

    async def stop(self) -> None:
        """Say that no more calls are taken, end subscriptions, then stop."""
        if self._server is not None and self._app is not None:
            await self._health.enter_graceful_shutdown()
            await self._app.memories.subscriptions.stop()
            if self._streams is not None:
                self._streams.close()
            await self._server.stop(_GRACE_S)
            self._server = self._app = self._streams = None


def _services(app: App, streams: Streams) -> dict[str, dict[str, Any]]:
    """Return the handlers by the full names of services and the names of calls."""
    made = app.gate, app.audit_log, app.clock, Turnstile(app.desk, app.meters)
    calls, own = Calls(*made), Calls(*made, proto.OWN_PACKAGE)
    return {
        f"{proto.PACKAGE}.MemoryService": MemoryService(app).handlers(calls),
        f"{proto.PACKAGE}.SubscribeService": SubscribeService(app).handlers(calls),
        f"{proto.PACKAGE}.ReflectService": ReflectService(app).handlers(calls),
        f"{proto.PACKAGE}.HealthService": HealthService(app).handlers(calls),
        f"{proto.OWN_PACKAGE}.IntentionService": IntentionService(app, streams).handlers(own),
        f"{proto.OWN_PACKAGE}.AnswerService": AnswerService(app).handlers(own),
    }


def _reflection() -> Any:
    """Return the reflection service, over our own messages and those of the standard services."""
    pool: DescriptorPool = proto.pool()
    for module in (health_pb2, reflection_pb2):
        pool.AddSerializedFile(module.DESCRIPTOR.serialized_pb)
    names = [f"{proto.PACKAGE}.{each}" for each in proto.SERVICES]
    names += [f"{proto.OWN_PACKAGE}.{each}" for each in proto.OWN_SERVICES]
    names += [health.SERVICE_NAME, reflection.SERVICE_NAME]
    return reflection.aio.ReflectionServicer(names, pool=pool)
