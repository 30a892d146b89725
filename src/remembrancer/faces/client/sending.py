"""Sends requests to a server: the key, what is retried, and what errors become."""

from __future__ import annotations

import asyncio
import json
import random
from collections.abc import AsyncGenerator, Mapping
from typing import Any

import httpx

from ..._version import __version__
from ...nouns import errors
from ...nouns.errors import RemembrancerError

_RETRIED = frozenset({408, 429, 502, 503, 504})
_TIMEOUT = "X-Timeout-Ms"
_FIRST_PAUSE_S, _LONGEST_PAUSE_S = 0.2, 10.0

_KINDS: Mapping[int, type[RemembrancerError]] = {
    401: errors.Unauthenticated,
    403: errors.Forbidden,
    404: errors.NotFound,
    409: errors.Conflict,
    413: errors.TooLarge,
    503: errors.StoreBusy,
    507: errors.StoreFull,
}


class Sender:
    """One server.

    Args:
        url: such as `http://localhost:6381`.
        api_key: where the server asks for one.
        timeout_s: for one try.
        retries: how often a request is sent again when the server is busy, or the connection is
            lost. Every request may be sent twice: what it makes has an id from here.
        transport: for tests and proxies; see httpx.

    Raises:
        InvalidInput: the URL is none of HTTP.
    """

    def __init__(
        self,
        url: str,
        *,
        api_key: str | None = None,
        timeout_s: float = 30.0,
        retries: int = 4,
        transport: httpx.AsyncBaseTransport | None = None,
    ) -> None:
        if not url.startswith(("http://", "https://")):
            raise errors.InvalidInput(
                f"url must begin with http:// or https://, such as http://localhost:6381, and not "
                f"be {url[:80]!r}",
                field="url",
            )
        headers = {
            "User-Agent": f"remembrancer-python/{__version__}",
            _TIMEOUT: str(max(1, int(timeout_s * 1_000))),  # so that no work outlives its caller
        }
        if api_key:
            headers["Authorization"] = f"Bearer {api_key}"
        self._http = httpx.AsyncClient(
            base_url=url.rstrip("/"), headers=headers, timeout=timeout_s, transport=transport
        )
        self._retries = retries

    async def close(self) -> None:
        """Close the connections."""
        await self._http.aclose()

    async def send(
        self,
        method: str,
        path: str,
        body: Mapping[str, Any] | None = None,
        query: Mapping[str, Any] | None = None,
    ) -> Any:
        """Send a request and return the answer's JSON.

        Raises:
            RemembrancerError: of the kind of the status; its text is the server's.
        """
        params = {k: v for k, v in (query or {}).items() if v is not None}
        for attempt in range(self._retries + 1):
            last = attempt == self._retries
            try:
                answer = await self._http.request(method, path, json=body, params=params)
            except httpx.TransportError as error:
                if last:
                    raise self._unreachable(error) from None
                await asyncio.sleep(_pause(attempt, None))
                continue
            if answer.status_code not in _RETRIED or last:
                return _read(answer)
            await asyncio.sleep(_pause(attempt, answer.headers.get("retry-after")))
        raise AssertionError("unreachable")

    async def events(
        self, path: str, query: Mapping[str, Any] | None = None
    ) -> AsyncGenerator[dict[str, Any], None]:
        """Yield the data of server-sent events; a broken stream goes on where it ended."""
        params = {k: v for k, v in (query or {}).items() if v is not None}
        place: dict[str, str] = {}
        tries = 0
        while True:
            try:
                async with self._http.stream(
                    "GET", path, params=params, headers=place, timeout=httpx.Timeout(30, read=60)
                ) as answer:
                    if answer.status_code >= 400 and answer.status_code not in _RETRIED:
                        await answer.aread()
                        _read(answer)
                    async for line in answer.aiter_lines():
                        tries = 0
                        if line.startswith("id: "):
                            place = {"Last-Event-ID": line.removeprefix("id: ")}
                        elif line.startswith("data: "):
                            yield json.loads(line.removeprefix("data: "))
            except httpx.TransportError as error:
                if tries >= self._retries:
                    raise self._unreachable(error) from None
            tries += 1
            await asyncio.sleep(_pause(tries, None))

    def _unreachable(self, error: httpx.TransportError) -> RemembrancerError:
        mend = "is `remembrancer serve` running there?"
        if isinstance(error, httpx.RemoteProtocolError):
            mend += " Its port for HTTP is 6381 by default; 6380 is that for gRPC"
        return errors.StoreBusy(
            f"the server at {self._http.base_url} cannot be reached "
            f"({error or type(error).__name__}); {mend}"
        )


def _pause(attempt: int, told: str | None) -> float:
    """Return how long to wait, in seconds: what the server said, else longer each time."""
    if told is not None and told.isdigit():
        return min(float(told), _LONGEST_PAUSE_S)
    longest = min(_FIRST_PAUSE_S * 2.0**attempt, _LONGEST_PAUSE_S)
    return random.uniform(longest / 2, longest)  # nosec B311 # hides nothing


def _read(answer: httpx.Response) -> Any:
    try:
        body = answer.json() if answer.content else None
    except ValueError:
        body = answer.text
    if answer.status_code < 400:
        return body
    raise _error(body, answer)


def _error(body: Any, answer: httpx.Response) -> RemembrancerError:
    text = _said(body, answer.status_code)
    if answer.status_code == 429:
        wait = answer.headers.get("retry-after", "")
        return errors.RateLimited(text, retry_after_s=float(wait) if wait.isdigit() else 1.0)
    other = errors.InvalidInput if answer.status_code < 500 else errors.StoreError
    return _KINDS.get(answer.status_code, other)(text)


def _said(body: Any, status: int) -> str:
    detail = body.get("detail", body.get("message")) if isinstance(body, Mapping) else None
    if isinstance(detail, list):
        faults = [each for each in detail if isinstance(each, Mapping)]
        return "; ".join(map(_told, faults))
    return str(detail or body or f"the server answered {status}")


def _told(fault: Mapping[str, Any]) -> str:
    where = ".".join(str(part) for part in fault.get("loc", ())[1:])
    message = str(fault.get("msg", ""))
    return message if where in message else f"{where}: {message}"
