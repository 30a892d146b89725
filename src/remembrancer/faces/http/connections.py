"""Connections of the HTTP face: how many there are, how long they may idle, stall or dawdle.

What uvicorn leaves open: a connection that never sends a whole head, one whose head never ends, and
one whose client does not take its answer. A request that is worked on has bounds of its own.
"""

from __future__ import annotations

import asyncio
import socket
import struct
from typing import Any, cast

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from .corking import Corked

_AT_ONCE = struct.pack("ii", 1, 0)
_FULL = (
    b"HTTP/1.1 503 Service Unavailable\r\nretry-after: 2\r\ncontent-type: application/json\r\n"
    b'connection: close\r\ncontent-length: 35\r\n\r\n{"detail":"too many connections"}\r\n'
)
_HEAD_BYTES = 64 * 1024
_STEP = 16 * 1024
_LONG = (
    b"HTTP/1.1 431 Request Header Fields Too Large\r\ncontent-type: application/json\r\n"
    b"connection: close\r\ncontent-length: 65\r\n\r\n"
    b'{"detail":"the head of a request may have 65,536 bytes at most"}\n'
)
_LINGER_S = 1.0  # what comes meanwhile is passed over: a reset would take the answer away


class _TooLong(Exception):
    """The head is longer than it may be; ends the work of the parser."""


class Connection(HttpToolsProtocol):
    """A connection with bounds; `bounded` makes the class of a server."""

    most = 16_384
    idle_s = 120.0
    stall_s = 30.0

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._head: asyncio.TimerHandle | None = None
        self._stalled: asyncio.TimerHandle | None = None
        self._head_bytes = 0  # of the request that is read: its target and headers, trailers, too
        self._unread_bytes = 0  # came since the parser last made something of what came
        self._in_body = False
        self._over = False

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Take a connection, or refuse it: there are as many as there may be."""
        super().connection_made(cast(asyncio.Transport, Corked(transport, self.loop)))
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
        """Read on; what may be of a head a bit at a time, so that its length is known."""
        step = len(data) if self._in_body else _STEP
        for start in range(0, len(data), step):
            if self.transport.is_closing() or self._over:
                return
            self._read(data[start : start + step])

    def _read(self, data: bytes) -> None:
        """Read some bytes; the time for a head runs from its first one."""
        self._unread_bytes += len(data)
        super().data_received(data)
        if self._unread_bytes > _HEAD_BYTES and not self._over:
            self._refuse()  # one header without an end, say
        if self._head is None and (self.cycle is None or self.cycle.response_complete):
            self._await_head()  # it was cut off by the end of the keep-alive time, which is over

    def on_message_begin(self) -> None:
        """Count anew: each request that comes on a connection has a head of its own."""
        self._head_bytes = self._unread_bytes = 0
        super().on_message_begin()

    def on_url(self, url: bytes) -> None:
        """Take a piece of the target."""
        self._count(len(url))
        super().on_url(url)

    def on_header(self, name: bytes, value: bytes) -> None:
        """Take a header, or a trailer."""
        self._count(len(name) + len(value) + 4)
        super().on_header(name, value)

    def on_headers_complete(self) -> None:
        """Begin a request."""
        self._unread_bytes = 0
        self._in_body = True
        self._unset_head()
        super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        """Take a piece of the body, which has bounds of its own."""
        self._unread_bytes = 0
        super().on_body(body)

    def on_message_complete(self) -> None:
        """End a request."""
        self._unread_bytes = 0
        self._in_body = False
        super().on_message_complete()

    def on_response_complete(self) -> None:
        """Go on with the next request; one that is too long has its answer after the others."""
        super().on_response_complete()
        if self._over and self.cycle.response_complete:
            self._refuse()

    def send_400_response(self, msg: str) -> None:
        """Answer what does not read as a request."""
        if self._head_bytes > _HEAD_BYTES:
            self._refuse()
        else:
            super().send_400_response(msg)

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

    def _count(self, size: int) -> None:
        self._unread_bytes = 0
        self._head_bytes += size
        if self._head_bytes > _HEAD_BYTES:
            raise _TooLong

    def _refuse(self) -> None:
        """Answer a head that is too long, once what came before it is answered, and close."""
        self._over = True
        if self.transport.is_closing():
            return
        cycle = self.cycle
        answered = cycle is None or cycle.response_complete
        if not answered and not cycle.more_body:
            return  # `on_response_complete` comes here again
        if not answered and cycle.response_started:
            self.transport.close()
            return
        self._unset_keepalive_if_required()
        self._unset_head()
        self.transport.write(_LONG)
        self._head = self.loop.call_later(_LINGER_S, self._idled)

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
