"""Runs the server: one open memory behind its HTTP and gRPC faces, until it is told to stop."""

from __future__ import annotations

import asyncio
import contextlib
import signal
import sys
from collections.abc import Callable
from urllib.parse import urlsplit

from .._version import __version__
from ..app import App
from ..nouns.clock import Clock
from ..nouns.errors import InvalidInput
from ..settings import Settings
from .exposure import check_before, check_keys
from .grpc.server import GrpcServer
from .http.server import HttpServer


def run(settings: Settings) -> None:
    """Serve until SIGTERM or SIGINT.

    Raises:
        InvalidInput: an address cannot be used; and what `App.open` raises.
    """
    with contextlib.suppress(asyncio.CancelledError):
        asyncio.run(serve(settings))


async def serve(settings: Settings, *, clock: Clock | None = None, background: bool = True) -> None:
    """Open the memory, serve it until SIGTERM or SIGINT, and close it.

    One line with the addresses is printed when it is ready. Port 0 takes a free one.

    Args:
        settings: where and how.
        clock: the time; the machine's by default.
        background: run queued work here, too.
    """
    addresses = {"http": address_of(settings.http, "http")}
    if settings.grpc != "off":
        addresses["grpc"] = address_of(settings.grpc, "grpc")
    check_before(settings, addresses)
    http = HttpServer(*addresses["http"])
    try:
        grpc = _grpc(addresses.get("grpc"))
        stop = _Stop()
        app = await App.open(settings, clock=clock, background=background, watch=True)
        try:
            await check_keys(app, addresses)
            if grpc is not None:
                await grpc.start(app)
            stop.calls(http.stop)
            await http.serve(app, lambda: _say_ready(http, grpc))
        finally:
            if grpc is not None:
                await grpc.stop()
            await app.close()
    finally:
        http.close()


def address_of(address: str, field: str) -> tuple[str, int]:
    """Read HOST:PORT.

    Raises:
        InvalidInput: it is not HOST:PORT; names `field`.
    """
    try:
        parts = urlsplit(f"//{address}")
        host, port = parts.hostname, parts.port
    except ValueError:
        host = port = None
    if not host or port is None:
        raise InvalidInput(
            f"{field} must be HOST:PORT, such as 127.0.0.1:6381, and not {address!r}", field=field
        )
    return host, port


class _Stop:
    """Ends this task on a signal while it opens; later calls what it was told to."""

    def __init__(self) -> None:
        self._task = asyncio.current_task()
        self._call: Callable[[], None] | None = None
        for number in (signal.SIGTERM, signal.SIGINT):
            asyncio.get_running_loop().add_signal_handler(number, self._stop)

    def calls(self, call: Callable[[], None]) -> None:
        """From now on a signal calls this."""
        self._call = call

    def _stop(self) -> None:
        if self._call is not None:
            self._call()
        elif self._task is not None:
            self._task.cancel()


def _grpc(address: tuple[str, int] | None) -> GrpcServer | None:
    if address is None:
        return None
    host, port = address
    return GrpcServer(f"[{host}]:{port}" if ":" in host else f"{host}:{port}")


def _say_ready(http: HttpServer, grpc: GrpcServer | None) -> None:
    also = f"gRPC on port {grpc.port}, " if grpc is not None else ""
    sys.stdout.write(f"Remembrancer {__version__}: {also}ready at {http.url}\n")
    sys.stdout.flush()
