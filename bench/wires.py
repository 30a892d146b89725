"""A small HTTP/1.1 client over one connection that is kept open: many of them cost little."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from typing import Any, NamedTuple, Self
from urllib.parse import quote


class Told(NamedTuple):
    """An answer; `retry_after` in seconds, None where it said nothing."""

    status: int
    body: bytes
    retry_after: float | None


class Wire:
    """A connection to the server of this machine; it is opened again when the server closes it."""

    def __init__(self, port: int, key: str) -> None:
        self._port = port
        self._key = key
        self._streams: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the connection."""
        if self._streams is not None:
            self._streams[1].close()
            self._streams = None

    async def post(self, path: str, body: bytes) -> Told:
        """Send JSON and read the answer whole.

        Raises:
            OSError: the connection broke; the next call opens another one.
        """
        head = (
            f"POST {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer {self._key}\r\n"
            f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
        ).encode()
        if self._streams is None or self._streams[0].at_eof():
            self.close()
            self._streams = await asyncio.open_connection("127.0.0.1", self._port)
        reader, writer = self._streams
        try:
            writer.write(head)
            writer.write(body)
            await writer.drain()
            return await self._answer(reader)
        except (asyncio.IncompleteReadError, ValueError, IndexError) as error:
            self.close()
            raise ConnectionError("the answer broke off") from error
        except BaseException:
            self.close()
            raise

    async def _answer(self, reader: asyncio.StreamReader) -> Told:
        status = int((await reader.readline()).split()[1])
        headers: dict[str, str] = {}
        while (line := await reader.readline()).strip():
            name, _, value = line.decode("latin-1").partition(":")
            headers[name.lower()] = value.strip()
        body = await reader.readexactly(int(headers.get("content-length", "0")))
        if headers.get("connection") == "close":
            self.close()
        wait = headers.get("retry-after")
        return Told(status, body, float(wait) if wait is not None else None)


def recall_of(bank: str, question: str) -> tuple[str, bytes]:
    """Return path and body of a recall of ten answers."""
    path = f"/v1/default/banks/{quote(bank)}/memories/recall"
    return path, spelled({"query": question, "budget": "low"})


def retain_of(bank: str, content: str, document: str) -> tuple[str, bytes]:
    """Return path and body of a retain of one document."""
    path = f"/v1/default/banks/{quote(bank)}/memories"
    return path, spelled({"items": [{"content": content, "document_id": document}]})


def spelled(body: Mapping[str, Any]) -> bytes:
    """Return JSON."""
    return json.dumps(body).encode()
