"""`AsyncClient`: the verbs of a running server as async methods."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Iterable, Mapping, Sequence
from contextlib import aclosing
from datetime import datetime
from typing import Any, Self
from uuid import uuid4

try:
    import httpx
except ImportError as error:
    raise ImportError(
        "remembrancer.Client needs httpx: pip install 'remembrancer[client]'"
    ) from error

from ...nouns.errors import InvalidInput
from ...nouns.paths import path_part
from .answers import (
    Answers,
    Due,
    Erased,
    Intention,
    Kept,
    Operation,
    Primed,
    Reflected,
)
from .sending import Sender

_LONGEST_POLL_S = 2.0


class AsyncClient:
    """A server's memory. Use it as `async with AsyncClient("http://localhost:6381") as client:`.

    Every method takes `bank`, one mind such as a user or an agent; that of the client by default.
    Requests are sent again when the server is busy or the connection is lost, and make nothing
    twice: documents and intentions without a name get one here.

    Args:
        url: where the server listens.
        api_key: where it asks for one.
        bank: that methods use when none is named.
        timeout_s: for one try.
        retries: at most so many more tries.
        transport: for tests and proxies; see httpx.
    """

    def __init__(
        self,
        url: str = "http://localhost:6381",
        *,
        api_key: str | None = None,
        bank: str = "default",
        timeout_s: float = 30.0,
        retries: int = 4,
        transport: httpx.AsyncBaseTransport | None = None,
    ) -> None:
        self._bank = bank
        self._sender = Sender(
            url, api_key=api_key, timeout_s=timeout_s, retries=retries, transport=transport
        )

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def close(self) -> None:
        """Close the connections."""
        await self._sender.close()

    async def retain(
        self,
        /,
        content: str,
        *,
        bank: str | None = None,
        document_id: str | None = None,
        background: bool = False,
        **item: Any,
    ) -> Kept:
        """Keep a text or a chat.

        Args:
            content: what was said.
            bank: whose memory.
            document_id: your name for it; a new one by default.
            background: return once it is durably queued; see `wait`.
            item: further fields of the item: `timestamp`, `context`, `tags`, `metadata`,
                `entities`, `update_mode`, `facts` (those that you have extracted yourself; see
                `Kept.facts_refused`).
        """
        whole = {"content": content, "document_id": document_id, **item}
        return await self.retain_many([whole], bank=bank, background=background)

    async def retain_many(
        self,
        /,
        items: Iterable[Mapping[str, Any]],
        *,
        bank: str | None = None,
        background: bool = False,
    ) -> Kept:
        """Keep several items in one transaction; those that name the same document become one."""
        own = str(uuid4())
        told = [_item(item, own) for item in items]
        body: dict[str, Any] = {"items": told, "async": background}
        if background:
            body["operation_id"] = str(uuid4())
        found = await self._sender.send("POST", self._path(bank, "memories"), body)
        return Kept.model_validate(found)

    async def recall(
        self, /, query: str, *, bank: str | None = None, max_tokens: int = 4096, **options: Any
    ) -> Answers:
        """Find what answers a question, best first.

        Args:
            query: in plain words.
            bank: whose memory.
            max_tokens: of all memories' texts, at most.
            options: further fields of the request: `types`, `tags`, `tags_match`, `budget`,
                `query_timestamp`, `as_of`, `min_scores`, `trace` …
        """
        body = {"query": query, "max_tokens": max_tokens, **_plain(options)}
        found = await self._sender.send("POST", self._path(bank, "memories", "recall"), body)
        return Answers.model_validate(found)

    async def reflect(self, /, query: str, *, bank: str | None = None, **options: Any) -> Reflected:
        """Answer a question in words; `options` are further fields of the request."""
        body = {"query": query, **_plain(options)}
        found = await self._sender.send("POST", self._path(bank, "reflect"), body)
        return Reflected.model_validate(found)

    async def prime(
        self, /, cue: str | None = None, *, bank: str | None = None, **options: Any
    ) -> Primed:
        """Return the context that a conversation should start with, with a ready `text`."""
        body = {"entity_id": bank or self._bank, "format": "text", **_plain(options)}
        if cue is not None:
            body["similarity_cue"] = cue
        return Primed.model_validate(await self._sender.send("POST", "/v1/prime", body))

    async def forget(
        self,
        /,
        memory_ids: Sequence[str] = (),
        *,
        document_ids: Sequence[str] = (),
        bank: str | None = None,
    ) -> Erased:
        """Erase memories by id and documents by name, for good."""
        body: dict[str, Any] = {"entity_id": bank or self._bank}
        if memory_ids:
            body["memory_ids"] = list(memory_ids)
        if document_ids:
            body["document_ids"] = list(document_ids)
        if len(body) == 1:
            raise InvalidInput("name memories or documents to forget", field="memory_ids")
        return Erased.model_validate(await self._sender.send("POST", "/v1/forget", body))

    async def remind(self, /, content: str, *, bank: str | None = None, **item: Any) -> Intention:
        """Register something to do later.

        Args:
            content: what is to be done.
            bank: whose.
            item: when: `at` (words or ISO 8601) with `zone`, `triggerAt` (Unix ms), `recurrence`,
                `triggerEvent`, `cueText` …; see docs/intentions.md.
        """
        whole = {"id": str(uuid4()), "content": content, **_plain(item)}
        path = self._path(bank, "intentions")
        found = await self._sender.send("POST", path, {"items": [whole]})
        return Intention.model_validate(found["items"][0])

    async def check(
        self,
        /,
        events: Sequence[str] = (),
        *,
        topic: str | None = None,
        mode: str = "lease",
        bank: str | None = None,
        **options: Any,
    ) -> list[Due]:
        """Return what is to be done now, the most important first."""
        body = {"events": list(events), "queryText": topic, "mode": mode, **_plain(options)}
        path = self._path(bank, "intentions", "check")
        found = await self._sender.send("POST", path, body)
        return [Due.model_validate(each) for each in found["items"]]

    async def ack(self, /, due: Due | str, *, bank: str | None = None) -> None:
        """It was done: it is not offered again."""
        occurrence = due if isinstance(due, str) else due.occurrence.id
        token = None if isinstance(due, str) else due.occurrence.token
        body = {} if token is None else {"token": token}
        await self._sender.send("POST", self._path(bank, "occurrences", occurrence, "ack"), body)

    async def due(self, *, bank: str | None = None) -> AsyncGenerator[dict[str, Any], None]:
        """Yield what falls due, as it does, until you stop; acknowledge each."""
        path = self._path(bank, "intentions", "stream")
        async with aclosing(self._sender.events(path)) as events:
            async for event in events:
                yield event["data"]

    async def operation(self, /, operation_id: str, *, bank: str | None = None) -> Operation:
        """Return how something queued stands."""
        path = self._path(bank, "operations", operation_id)
        return Operation.model_validate(await self._sender.send("GET", path))

    async def wait(self, /, operation_id: str, *, bank: str | None = None) -> Operation:
        """Wait until something queued has ended, and return how."""
        pause = 0.05
        while not (found := await self.operation(operation_id, bank=bank)).ended:
            await asyncio.sleep(pause)
            pause = min(pause * 1.5, _LONGEST_POLL_S)
        return found

    async def status(self) -> dict[str, Any]:
        """Return what is there, and which models are in use."""
        found: dict[str, Any] = await self._sender.send("GET", "/v1/status")
        return found

    async def request(
        self,
        /,
        method: str,
        path: str,
        body: Mapping[str, Any] | None = None,
        query: Mapping[str, Any] | None = None,
    ) -> Any:
        """Send any request of docs/http.md, with the client's key and retries; return its JSON.

        A request that is not idempotent may be carried out twice when a connection is lost.
        """
        return await self._sender.send(method, path, body, query)

    def _path(self, bank: str | None, *parts: str) -> str:
        named = (bank or self._bank, *parts)
        return "/v1/default/banks/" + "/".join(map(path_part, named))


def _item(item: Mapping[str, Any], own: str) -> dict[str, Any]:
    """Return an item to send; without a name of its own it belongs to the call's document."""
    told = _plain(item)
    told.setdefault("document_id", own)
    return told


def _plain(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Return fields for JSON; what is None is left out.

    Raises:
        InvalidInput: a time has no zone.
    """
    return {name: _spelled(name, v) for name, v in fields.items() if v is not None}


def _spelled(name: str, value: Any) -> Any:
    if not isinstance(value, datetime):
        return value
    if value.tzinfo is None:
        raise InvalidInput(f"{name} must have a zone, such as timezone.utc", field=name)
    return value.isoformat()
