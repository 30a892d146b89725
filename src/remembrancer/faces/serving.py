"""Runs the server: one open memory behind its HTTP and gRPC faces, until it is told to stop."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import gc
import signal
import socket
import sys
from collections.abc import Callable
from dataclasses import dataclass
from urllib.parse import urlsplit

from .._version import __version__
from ..app import App
from ..nouns.clock import Clock
from ..nouns.errors import InvalidInput, StoreError
from ..settings import Settings
from .exposure import check_before, check_keys
from .fair_threads import FairThreads
from .grpc.server import GrpcServer
from .http.server import HttpServer
from .logs import logging_to
from .ports import trouble
from .tls import Tls, tls_of
from .tracing import traces_sent

# Python's own 5 ms are what each step of an answer waits for while a thread reads a text.
_SWITCH_S = 0.001
# Collections of the middle generation for each full one. Python's own 10 are a full one every few
# seconds while hundreds of requests wait, each of which it goes through.
_FULL_AFTER = 50


def run(settings: Settings) -> None:
    """Serve until SIGTERM or SIGINT.

    Raises:
        InvalidInput, StoreError: an address cannot be used; and what `App.open` raises.
    """
    with contextlib.suppress(asyncio.CancelledError):
        asyncio.run(serve(settings))


async def serve(
    settings: Settings,
    *,
    clock: Clock | None = None,
    background: bool = True,
    beside: Beside | None = None,
) -> None:
    """Open the memory, serve it until SIGTERM or SIGINT, and close it.

    A line with the addresses is printed when it is ready, and one that says where the memory and
    the console are. Port 0 takes a free one. Told to stop,
    it says that it is not ready for `settings.drain_s` while it still answers; told again, it stops
    at once.

    Args:
        settings: where and how.
        clock: the time; the machine's by default.
        background: run queued work here, too.
        beside: how it serves as one of several processes.
    """
    addresses = addresses_of(settings)
    check_before(settings, addresses)
    tls = tls_of(settings)
    listener = beside.listener if beside else None
    http = HttpServer(*addresses["http"], listener=listener, tls=tls)
    try:
        if beside is None and "grpc" in addresses:
            _check_free(*addresses["grpc"])
        asyncio.get_running_loop().set_default_executor(FairThreads())
        sys.setswitchinterval(_SWITCH_S)
        with logging_to(settings), traces_sent():
            grpc = _grpc(addresses.get("grpc"), tls, shared=beside is not None)
            stop = _Stop()
            if beside is not None:
                stop.when_readable(beside.parent)
            app = await App.open(settings, clock=clock, background=background, watch=True)
            try:
                await check_keys(app, addresses)
                if grpc is not None:
                    await grpc.start(app)
                drain = _Drain(http, grpc, settings.drain_s)
                stop.calls(drain.begin)
                ready = beside.ready if beside else lambda: _say_ready(settings, http, grpc)
                await http.serve(app, lambda: _begin(ready))
            finally:
                if grpc is not None:
                    await grpc.stop()
                await app.close()
    finally:
        http.close()


def addresses_of(settings: Settings) -> dict[str, tuple[str, int]]:
    """Read the addresses of both faces, by their names.

    Raises:
        InvalidInput: one is not HOST:PORT, or both are the same.
    """
    addresses = {"http": address_of(settings.http, "http")}
    if settings.grpc != "off":
        addresses["grpc"] = address_of(settings.grpc, "grpc")
        if addresses["grpc"] == addresses["http"] and addresses["grpc"][1]:
            raise InvalidInput(
                f"HTTP and gRPC are both to listen on {settings.grpc}: give --grpc another "
                "address, or 'off'",
                field="grpc",
            )
    return addresses


def grpc_refused(address: tuple[str, int], error: OSError) -> StoreError:
    """Return what says that the port of gRPC cannot be had."""
    return StoreError(
        f"gRPC cannot listen on {spelled(*address)} ({error.strerror}): choose another address "
        "with --grpc, or 'off'",
        field="grpc",
    )


def _check_free(host: str, port: int) -> None:
    """Refuse a port that is taken; gRPC's own library would print lines of its own about it."""
    error = trouble(host, port)
    if error is not None and error.errno == errno.EADDRINUSE:  # all else is gRPC's to tell
        raise grpc_refused((host, port), error)


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


@dataclass(frozen=True)
class Beside:
    """How a process serves beside others on the same addresses.

    Attributes:
        listener: the HTTP socket that all of them have.
        ready: called once it serves.
        parent: a file descriptor that can be read once nobody supervises it any more.
    """

    listener: socket.socket
    ready: Callable[[], None]
    parent: int


class _Drain:
    """Ends a server: first it only says that it does, then it takes no more requests."""

    def __init__(self, http: HttpServer, grpc: GrpcServer | None, seconds: float) -> None:
        self._http = http
        self._grpc = grpc
        self._seconds = seconds
        self._telling: asyncio.Task[None] | None = None

    def begin(self) -> None:
        """Stop after the time that others need to notice; said twice, stop now."""
        if self._telling is not None or not self._seconds:
            self._http.stop()
            return
        self._http.drain()
        self._telling = asyncio.create_task(self._tell())

    async def _tell(self) -> None:
        if self._grpc is not None:
            await self._grpc.drain()
        await asyncio.sleep(self._seconds)
        self._http.stop()


class _Stop:
    """Ends this task on a signal while it opens; later calls what it was told to."""

    def __init__(self) -> None:
        self._task = asyncio.current_task()
        self._call: Callable[[], None] | None = None
        for number in (signal.SIGTERM, signal.SIGINT):
            asyncio.get_running_loop().add_signal_handler(number, self._stop)

    def when_readable(self, descriptor: int) -> None:
        """Do as on a signal once this can be read."""
        loop = asyncio.get_running_loop()

        def gone() -> None:
            loop.remove_reader(descriptor)
            self._stop()

        loop.add_reader(descriptor, gone)

    def calls(self, call: Callable[[], None]) -> None:
        """From now on a signal calls this."""
        self._call = call

    def _stop(self) -> None:
        if self._call is not None:
            self._call()
        elif self._task is not None:
            self._task.cancel()


def spelled(host: str, port: int) -> str:
    """Return an address as HOST:PORT."""
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def _begin(ready: Callable[[], None]) -> None:
    """Say that it serves, and from now on spare the garbage collector what is there already.

    A full collection holds Python's lock: a quarter of a second and more for the modules and routes
    alone, in which nobody is answered.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(*gc.get_threshold()[:2], _FULL_AFTER)
    ready()


def _grpc(address: tuple[str, int] | None, tls: Tls | None, *, shared: bool) -> GrpcServer | None:
    return None if address is None else GrpcServer(spelled(*address), shared=shared, tls=tls)


def _say_ready(settings: Settings, http: HttpServer, grpc: GrpcServer | None) -> None:
    also = f"gRPC on port {grpc.port}, " if grpc is not None else ""
    sys.stdout.write(f"Remembrancer {__version__}: {also}ready at {http.url}\n")
    kept = f"memory in {settings.folder}, " if settings.store is None else ""
    sys.stdout.write(f"{kept}console at {http.url}{settings.base_path}/console\n")
    sys.stdout.flush()
