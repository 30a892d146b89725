"""Sends the head of an answer together with the first of its body.

uvicorn writes them apart, and each write of an idle transport is a system call that wakes the
client: together that is a tenth of a millisecond of a recall.
"""

from __future__ import annotations

import asyncio
from typing import Any

_HEAD = b"HTTP/1.1 "


class Corked:
    """A transport that holds the head of an answer back until more is written.

    Not beyond this turn of the loop: what comes later, as in a stream, finds the head sent.
    """

    def __init__(self, transport: asyncio.Transport, loop: asyncio.AbstractEventLoop) -> None:
        self._transport = transport
        self._loop = loop
        self._held = b""

    def __getattr__(self, name: str) -> Any:
        """Leave all else to the transport itself."""
        return getattr(self._transport, name)

    def write(self, data: bytes) -> None:
        """Write, or hold back what begins as a head does."""
        if self._held:
            held, self._held = self._held, b""
            self._transport.write(held + data)
        elif data.startswith(_HEAD):
            self._held = data
            self._loop.call_soon(self._flush)
        else:
            self._transport.write(data)

    def close(self) -> None:
        """Close once all is sent."""
        self._flush()
        self._transport.close()

    def abort(self) -> None:
        """Close at once."""
        self._held = b""
        self._transport.abort()

    def get_write_buffer_size(self) -> int:
        """Return the bytes that wait, what is held back among them."""
        return len(self._held) + self._transport.get_write_buffer_size()

    def _flush(self) -> None:
        if self._held:
            held, self._held = self._held, b""
            self._transport.write(held)
