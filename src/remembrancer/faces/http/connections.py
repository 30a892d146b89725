"""Connections of the HTTP face: how many there are, how long they may idle, stall or dawdle.

What uvicorn leaves open: a connection that never sends a whole head, and one whose client does not
take its answer. Each gets one timer; a request that is worked on has bounds of its own.
"""

from __future__ import annotations

import asyncio
import socket
import struct
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

_AT_ONCE = struct.pack("ii", 1, 0)
_FULL = (
    b"HTTP/1.1 503 Service Unavailable\r\nretry-after: 2\r\ncontent-type: application/json\r\n"
    b'connection: close\r\ncontent-length: 35\r\n\r\n{"detail":"too many connections"}\r\n'
)


class Connection(HttpToolsProtocol):
    """A connection with bounds; `bounded` makes the class of a server."""

    most = 16_384
    idle_s = 120.0
    stall_s = 30.0

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._head: asyncio.TimerHandle | None = None
        self._stalled: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Take a connection, or refuse it: there are as many as there may be."""
        super().connection_made(transport)
        if len(self.connections) > self.most:
            transport.write(_FULL)
            transport.close()
            return
        self._await_head()

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget the timers."""
        self._unset_head()
        self._unset_stalled()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Read on; the time for a head runs from its first byte."""
        if self.transport.is_closing():
            return
        super().data_received(data)
        if self._head is None and (self.cycle is None or self.cycle.response_complete):
            self._await_head()  # it was cut off by the end of the keep-alive time, which is over

    def on_headers_complete(self) -> None:
        """Begin a request."""
        self._unset_head()
        super().on_headers_complete()

    def pause_writing(self) -> None:
        """Wait for a client that takes its answer slowly, but not for ever."""
        super().pause_writing()
        if self._stalled is None:
            self._stalled = self.loop.call_later(self.stall_s, self._cut)

    def resume_writing(self) -> None:
        """Go on: the client has taken what was sent."""
        self._unset_stalled()
        super().resume_writing()

    def timeout_keep_alive_handler(self) -> None:
        """Close an idle connection; what its client has not taken by then is given some time."""
        super().timeout_keep_alive_handler()
        if self._stalled is None and self.transport.get_write_buffer_size():
            self._stalled = self.loop.call_later(self.stall_s, self._cut)

    def _await_head(self) -> None:
        self._head = self.loop.call_later(self.idle_s, self._idled)

    def _idled(self) -> None:
        self._head = None
        if not self.transport.is_closing():
            self.transport.close()

    def _cut(self) -> None:
        self._stalled = None
        sock = self.transport.get_extra_info("socket")
        if sock is not None:  # else the system keeps what it holds for the client
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _AT_ONCE)
        self.transport.abort()

    def _unset_head(self) -> None:
        if self._head is not None:
            self._head.cancel()
            self._head = None

    def _unset_stalled(self) -> None:
        if self._stalled is not None:
            self._stalled.cancel()
            self._stalled = None


def bounded(most: int, idle_s: float, stall_s: float) -> type[Connection]:
    """Return the class of connections with these bounds; see `max_connections` and others."""
    return type(
        "BoundedConnection",
        (Connection,),
        {"most": most, "idle_s": idle_s, "stall_s": stall_s},
    )
