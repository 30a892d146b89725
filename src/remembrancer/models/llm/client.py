"""A language model behind HTTP: tries again where that may help, and counts every try."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from importlib import import_module
from typing import TYPE_CHECKING, Any

from ...nouns.errors import ModelUnavailable
from ...nouns.text import estimate_tokens
from ...nouns.turns import Turns
from ..endpoints import checked_key, checked_url, retry_after
from .types import LlmFailed, Prompt, Reply, Usage
from .wires import Told, Wire

if TYPE_CHECKING:
    import httpx

BACKOFF_S = 0.5  # doubles with each retry
MAX_BACKOFF_S = 20.0
MAX_ASKED_WAIT_S = 60.0  # what an endpoint may ask for with Retry-After; longer: it fails
MAX_ANSWER_BYTES = 8_000_000


class HttpLlm:
    """Asks one model of one endpoint; the key appears in no error, repr or log of ours.

    Args:
        name: how settings spell it.
        model: the model's name at the endpoint.
        wire: the kind of endpoint.
        base_url: with the version part where the kind wants it.
        api_key: None for endpoints without.
        timeout: seconds for one request.
        retries: further attempts after 429, 5xx and connection errors.
        concurrency: requests at once.
        sleep: waits between attempts; for tests.
        jitter: gives a factor in [0, 1) for each wait; for tests.

    Raises:
        ModelUnavailable: httpx is not installed.
        InvalidInput: the key or the URL cannot be sent.
    """

    def __init__(
        self,
        name: str,
        model: str,
        wire: Wire,
        *,
        base_url: str,
        api_key: str | None = None,
        timeout: float = 120.0,
        retries: int = 3,
        concurrency: int = 4,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
        jitter: Callable[[], float] = random.random,
    ) -> None:
        self._httpx: Any = _httpx()
        self._name = name
        self._model = model
        self._wire = wire
        self._url = checked_url(base_url, self._httpx, "llm_url") + wire.path(model)
        self._key = checked_key(api_key, "llm_key")
        self._timeout = timeout
        self._retries = retries
        self._slots = Turns(concurrency)
        self._sleep = sleep
        self._jitter = jitter
        self._client: httpx.AsyncClient | None = None

    @property
    def name(self) -> str:
        """How settings spell it."""
        return self._name

    @property
    def attempts(self) -> int:
        """How often one question is sent at most."""
        return self._retries + 1

    async def ask(self, prompt: Prompt) -> Reply:
        """Answer, after further attempts where they may help.

        Raises:
            LlmFailed: there was no answer.
        """
        body = self._wire.body(self._model, prompt)
        used = Usage()
        for attempt in range(self._retries + 1):
            try:
                async with self._slots:
                    reply = await self._once(body, prompt)
                return replace(reply, usage=used + reply.usage)
            except _Trouble as caught:
                trouble = caught
            used += trouble.usage
            hopeless = not trouble.again or trouble.asked_wait > MAX_ASKED_WAIT_S
            if hopeless or attempt == self._retries:
                break
            wait = min(BACKOFF_S * 2**attempt, MAX_BACKOFF_S) * (0.5 + self._jitter())
            await self._sleep(max(wait, trouble.asked_wait))
        times = "" if used.calls == 1 else f" {used.calls} times, last"
        raise LlmFailed(
            f"{self._name} failed{times}: {trouble.what}", reason=trouble.reason, usage=used
        )

    async def close(self) -> None:
        """Close the connections."""
        if self._client is not None:
            await self._client.aclose()
            self._client = None

    async def _once(self, body: Mapping[str, Any], prompt: Prompt) -> Reply:
        """Send once.

        Raises:
            _Trouble: there was no answer.
        """
        try:
            # The library's time-out is for each read; a trickle of bytes would never end.
            async with asyncio.timeout(self._timeout):
                response = await self._posted(body)
        except (TimeoutError, self._httpx.TimeoutException):
            what = f"no answer within {self._timeout:g} s"
            raise _Trouble("timeout", what, usage=_guessed(prompt)) from None
        except self._httpx.ConnectError as error:
            what = self._redacted(f"{type(error).__name__} {error}")
            raise _Trouble("unreachable", what, usage=Usage(calls=1, failed=1)) from None
        except self._httpx.RequestError as error:
            what = self._redacted(f"{type(error).__name__} {error}")
            raise _Trouble("unreachable", what, usage=_guessed(prompt)) from None
        if response.status_code != 200:
            raise self._refusal(response)
        try:
            text, usage, cut = self._wire.read(response.json())
        except (ValueError, Told, RecursionError) as error:
            what = f"its answer is none of this kind of endpoint: {error}"[:300]
            raise _Trouble("broken", what, usage=_guessed(prompt)) from None
        if usage is None:
            usage = Usage(estimate_tokens(prompt.rules + prompt.text), estimate_tokens(text))
            usage = replace(usage, guessed=1)
        return Reply(text, replace(usage, calls=1), cut)

    def _refusal(self, response: httpx.Response) -> _Trouble:
        """Return what a status other than 200 comes to; of 401 and 403 nothing is quoted."""
        status = response.status_code
        used = Usage(calls=1, failed=1)
        if status in {401, 403}:
            return _Trouble("auth", f"HTTP {status}, check the API key", usage=used, again=False)
        what = self._redacted(f"HTTP {status} {response.text[:4096]}")[:300].strip()
        if status == 429:
            asked = retry_after(response.headers)
            return _Trouble("limited", what, usage=used, asked_wait=asked)
        if status >= 500:
            return _Trouble("broken", what, usage=used, asked_wait=retry_after(response.headers))
        return _Trouble("refused", what, usage=used, again=False)

    async def _posted(self, body: Mapping[str, Any]) -> httpx.Response:
        """Post, and read the answer as far as it may be long."""
        async with self._connected().stream("POST", self._url, json=body) as response:
            found = bytearray()
            async for piece in response.aiter_bytes():
                found += piece
                if len(found) > MAX_ANSWER_BYTES:
                    break  # what is cut off is no JSON
            whole: httpx.Response = self._httpx.Response(
                response.status_code,
                headers={"retry-after": response.headers.get("retry-after", "")},
                content=bytes(found),
            )
            return whole

    def _connected(self) -> httpx.AsyncClient:
        if self._client is None:
            headers = self._wire.headers(self._key)
            self._client = self._httpx.AsyncClient(headers=headers, timeout=self._timeout)
        return self._client

    def _redacted(self, text: str) -> str:
        return text.replace(self._key, "***") if self._key else text


class _Trouble(Exception):
    def __init__(
        self, reason: str, what: str, *, usage: Usage, again: bool = True, asked_wait: float = 0.0
    ) -> None:
        super().__init__(what)
        self.reason, self.what, self.usage = reason, what, usage
        self.again, self.asked_wait = again, asked_wait


def _guessed(prompt: Prompt) -> Usage:
    """Return what a request used whose answer was lost: what was sent is paid for all the same."""
    sent = estimate_tokens(prompt.rules) + estimate_tokens(prompt.text)
    return Usage(input=sent, calls=1, failed=1, guessed=1)


def _httpx() -> Any:
    try:
        return import_module("httpx")
    except ImportError as error:
        raise ModelUnavailable(
            "a language model needs httpx: pip install 'remembrancer[llm]'"
        ) from error
