"""Runs several server processes on one address, and another one for each that dies."""

from __future__ import annotations

import asyncio
import contextlib
import multiprocessing
import signal
import socket
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from multiprocessing.context import SpawnProcess
from typing import Any

from .._version import __version__
from ..nouns.errors import RemembrancerError, StoreError
from ..settings import Settings
from .exposure import check_before
from .http.server import HttpServer
from .serving import Beside, addresses_of, grpc_refused, serve, spelled
from .tls import tls_of

_FIRST_PAUSE_S = 0.1  # before a process that died is replaced; twice as long each further time
_MOST_PAUSE_S = 2.0
_WELL_AFTER_S = 10.0  # a process that lived so long was well
_STOP_S = 45.0  # for processes that were told to stop: longer than a server drains
_READY = "ready"

_SPAWN = multiprocessing.get_context("spawn")


@dataclass(eq=False)
class _Child:
    """A server process, and the end of the pipe on which it says that it is ready or why not."""

    process: SpawnProcess
    told: Connection
    ready: asyncio.Event = field(default_factory=asyncio.Event)
    error: RemembrancerError | None = None


def supervise(settings: Settings, number: int) -> None:
    """Serve with so many processes until SIGTERM or SIGINT.

    The HTTP socket is one that all inherit, so a connection that a killed process had not taken yet
    is taken by another. gRPC's are one a process, on one port (SO_REUSEPORT).

    Raises:
        InvalidInput, StoreError: an address cannot be used; and what `App.open` raises in the
            first processes.
    """
    addresses = addresses_of(settings)
    check_before(settings, addresses)
    http = HttpServer(*addresses["http"], tls=tls_of(settings))
    try:
        with _kept_port(addresses.get("grpc")) as grpc:
            chosen = settings.model_copy(update={"grpc": grpc or "off"})
            asyncio.run(_Supervisor(chosen, http, number).run())
    finally:
        http.close()


class _Supervisor:
    """Keeps so many children running."""

    def __init__(self, settings: Settings, http: HttpServer, number: int) -> None:
        self._settings = settings
        self._http = http
        self._number = number
        self._children: set[_Child] = set()
        self._stop = asyncio.Event()
        self._signals = 0

    async def run(self) -> None:
        """Run until told to stop; the first children must come up."""
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, self._signalled)
        keepers: list[asyncio.Task[None]] = []
        try:
            # The first one alone: it makes or migrates the store.
            found = [await self._started()]
            if not self._stop.is_set():
                more = (self._started() for _ in range(self._number - 1))
                found += await asyncio.gather(*more)
            keepers = [asyncio.create_task(self._keep(c)) for c in found if c is not None]
            if not self._stop.is_set():
                self._say_ready()
            await self._stop.wait()
        finally:
            for keeper in keepers:
                keeper.cancel()
            await asyncio.gather(*keepers, return_exceptions=True)
            await self._end()

    async def _started(self) -> _Child | None:
        """Start a child and wait until it is ready; None once told to stop.

        Raises:
            RemembrancerError: why it could not start.
        """
        child = self._spawn()
        ready = asyncio.create_task(child.ready.wait())
        stopped = asyncio.create_task(self._stop.wait())
        await asyncio.wait((ready, stopped), return_when=asyncio.FIRST_COMPLETED)
        for task in (ready, stopped):
            task.cancel()
        if self._stop.is_set():
            return None
        if child.error is not None:
            raise child.error
        return child

    async def _keep(self, child: _Child) -> None:
        """Replace a child whenever it dies."""
        loop = asyncio.get_running_loop()
        pause, since = _FIRST_PAUSE_S, loop.time()
        while True:
            await _ended(child.process)
            self._children.discard(child)
            _log(f"server process {child.process.pid} ended ({_code(child)}); starting another")
            pause = _FIRST_PAUSE_S if loop.time() - since > _WELL_AFTER_S else pause
            await asyncio.sleep(pause)
            pause = min(2 * pause, _MOST_PAUSE_S)
            child, since = self._spawn(), loop.time()

    def _spawn(self) -> _Child:
        here, there = _SPAWN.Pipe(duplex=False)
        arguments = (self._settings, self._http.listener, there)
        process = _SPAWN.Process(target=_serve_as_child, args=arguments, daemon=True)
        process.start()
        there.close()
        child = _Child(process, here)
        self._children.add(child)
        asyncio.get_running_loop().add_reader(here.fileno(), self._hear, child)
        return child

    def _hear(self, child: _Child) -> None:
        asyncio.get_running_loop().remove_reader(child.told.fileno())
        try:
            said: Any = child.told.recv()
        except (EOFError, OSError):
            said = StoreError(f"a server process ended while it started ({_code(child)})")
        child.told.close()
        if said != _READY:
            child.error = said
            if not self._stop.is_set():
                _log(f"a server process cannot start: {said}")
        child.ready.set()

    def _signalled(self) -> None:
        self._signals += 1
        for child in self._children:
            child.process.terminate()
        self._stop.set()

    async def _end(self) -> None:
        """Tell every child to stop; kill those that do not."""
        if not self._signals:
            for child in self._children:
                child.process.terminate()
        ends = [asyncio.create_task(_ended(child.process)) for child in self._children]
        if ends:
            await asyncio.wait(ends, timeout=_STOP_S)
        for child in self._children:
            child.process.kill()
            await _ended(child.process)

    def _say_ready(self) -> None:
        port = self._settings.grpc.rpartition(":")[2]
        also = f"gRPC on port {port}, " if self._settings.grpc != "off" else ""
        sys.stdout.write(
            f"Remembrancer {__version__}: {also}{self._number} processes, "
            f"ready at {self._http.url}\n"
        )
        sys.stdout.flush()


def _serve_as_child(settings: Settings, listener: socket.socket, tell: Connection) -> None:
    """Serve on a socket that is there already, until SIGTERM or until the parent is gone."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # a terminal sends it to all; the parent acts

    def ready() -> None:
        tell.send(_READY)
        tell.close()

    try:
        asyncio.run(serve(settings, beside=Beside(listener, ready, _parent())))
    except asyncio.CancelledError:
        return
    except RemembrancerError as error:
        if not tell.closed:
            tell.send(error)
        sys.exit(1)


def _parent() -> int:
    """Return a file descriptor that can be read once the parent is gone."""
    parent = multiprocessing.parent_process()
    assert parent is not None
    return parent.sentinel


async def _ended(process: SpawnProcess) -> None:
    """Wait until a process has ended."""
    loop = asyncio.get_running_loop()
    gone = asyncio.Event()
    loop.add_reader(process.sentinel, gone.set)
    try:
        await gone.wait()
    finally:
        loop.remove_reader(process.sentinel)
    process.join()


def _code(child: _Child) -> str:
    child.process.join(1)
    code = child.process.exitcode
    return f"signal {-code}" if code is not None and code < 0 else f"code {code}"


def _log(line: str) -> None:
    sys.stderr.write(f"{line}\n")
    sys.stderr.flush()


@contextlib.contextmanager
def _kept_port(address: tuple[str, int] | None) -> Iterator[str | None]:
    """Keep a port for several gRPC servers; refused when another program has it.

    The socket that keeps it does not listen, so the kernel gives it no connection.
    """
    if address is None:
        yield None
        return
    family = socket.AF_INET6 if ":" in address[0] else socket.AF_INET
    try:
        with socket.socket(family, socket.SOCK_STREAM) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind(address)
            address = probe.getsockname()[:2]
        with socket.socket(family, socket.SOCK_STREAM) as keeper:
            keeper.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
            keeper.bind(address)
            yield spelled(*address)
    except OSError as error:
        raise grpc_refused(address, error) from None
