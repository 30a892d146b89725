"""An embedder behind any OpenAI-compatible `/embeddings` endpoint."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable, Mapping, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np

from ..nouns.errors import ModelUnavailable
from ..nouns.turns import Turns
from .embedder import Floats
from .endpoints import checked_key, checked_url, retry_after
from .spread import spread
from .vectors import normalise

if TYPE_CHECKING:
    import httpx

DEFAULT_BASE_URL = "https://api.openai.com/v1"
BATCH = 64  # texts a request
# UTF-8 bytes of a text that are sent: some 6,000 tokens of English, 8,000 of CJK, which keeps
# below the 8,191 that OpenAI's models take; an endpoint refuses a longer text instead of cutting.
MAX_BYTES = 24_000
RETRIES = 4
QUESTION_S = 2.0  # many times what an endpoint takes that is up
QUESTION_RETRIES = 1
BACKOFF_S = 0.5  # doubles with each retry
MAX_BACKOFF_S = 20.0


class OpenAIEmbedder:
    """Calls `POST {base_url}/embeddings`; the key appears in no error, repr or log of ours.

    Without `dimensions` the dimension is learnt from the first answer, so `warm` comes before
    `dim` and `fingerprint`.

    Args:
        model: the model's name at the endpoint.
        base_url: with the version part, such as `http://localhost:11434/v1`.
        api_key: sent as a bearer token; None for endpoints without.
        dimensions: asked of the endpoint and required of its answers.
        timeout: seconds for one request.
        retries: further attempts after 429, 5xx and connection errors; a question gets one at most.
        question_s: seconds that a question waits in all, so that whoever asks is not held up by an
            endpoint that is down.
        concurrency: requests at once.
        sleep: waits between attempts; for tests.
        jitter: gives a factor in [0, 1) for each wait; for tests.

    Raises:
        ModelUnavailable: httpx is not installed.
        InvalidInput: the key or the URL cannot be sent.
    """

    def __init__(
        self,
        model: str,
        *,
        base_url: str | None = None,
        api_key: str | None = None,
        dimensions: int | None = None,
        timeout: float = 30.0,
        retries: int = RETRIES,
        question_s: float = QUESTION_S,
        concurrency: int = 4,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
        jitter: Callable[[], float] = random.random,
    ) -> None:
        self._httpx: Any = _httpx()
        self._model = model
        base = checked_url(base_url or DEFAULT_BASE_URL, self._httpx, "base_url")
        self._url = f"{base}/embeddings"
        self._key = checked_key(api_key, "api_key")
        self._asked = dimensions
        self._dim = dimensions
        self._timeout = timeout
        self._retries = retries
        self._question_s = question_s
        self._concurrency = concurrency
        self._slots = Turns(concurrency)
        self._sleep = sleep
        self._jitter = jitter
        self._client: httpx.AsyncClient | None = None

    @property
    def dim(self) -> int:
        """Components of a vector.

        Raises:
            ModelUnavailable: not known yet.
        """
        if self._dim is None:
            raise ModelUnavailable(
                f"the dimension of openai:{self._model} is not known yet:"
                " await warm() first, or configure the dimensions"
            )
        return self._dim

    @property
    def fingerprint(self) -> Mapping[str, Any]:
        """Identity of the vectors: the model's name is all that an endpoint tells.

        Raises:
            ModelUnavailable: the dimension is not known yet.
        """
        return {
            "model": f"openai:{self._model}",
            "sha256": "",
            "dim": self.dim,
            "pooling": "by the endpoint",
            "prefix": "",
        }

    async def embed(self, texts: Sequence[str]) -> Floats:
        """Embed texts, in order: float32 of shape (len(texts), dim), rows of length 1.

        Raises:
            ModelUnavailable: the endpoint fails, refuses, or its answer is not sound.
        """
        await self.warm()
        vectors = np.empty((len(texts), self.dim), np.float32)

        async def work(start: int) -> None:
            batch = [_sendable(text) for text in texts[start : start + BATCH]]
            vectors[start : start + len(batch)] = await self._request(batch, self._retries)

        await spread(range(0, len(texts), BATCH), self._concurrency, work)
        return vectors

    async def embed_query(self, text: str) -> Floats:
        """Embed a question: float32 of shape (dim,), length 1.

        Raises:
            ModelUnavailable: the endpoint fails, refuses, does not answer in time, or its answer is
                not sound.
        """
        retries = min(self._retries, QUESTION_RETRIES)
        try:
            async with asyncio.timeout(self._question_s):
                row: Floats = (await self._request([_sendable(text)], retries))[0]
        except TimeoutError:
            raise ModelUnavailable(
                f"{self._url} did not answer a question within {self._question_s:g} s"
            ) from None
        return row

    async def warm(self) -> None:
        """Learn the dimension by one small request, unless it is known.

        Raises:
            ModelUnavailable: the endpoint fails, refuses, or its answer is not sound.
        """
        if self._dim is None:
            await self._request(["dimension"], self._retries)

    async def close(self) -> None:
        """Close the connections."""
        if self._client is not None:
            await self._client.aclose()
            self._client = None

    async def _request(self, batch: list[str], retries: int) -> Floats:
        body: dict[str, Any] = {"model": self._model, "input": batch, "encoding_format": "float"}
        if self._asked is not None:
            body["dimensions"] = self._asked
        async with self._slots:
            answer = await self._post(body, retries)
        vectors = self._read(answer, len(batch))
        self._dim = vectors.shape[1]
        return vectors

    async def _post(self, body: dict[str, Any], retries: int) -> Any:
        """Send, again while it may help; return the answer's JSON."""
        for attempt in range(retries + 1):
            try:
                response = await self._connected().post(self._url, json=body)
            except self._httpx.RequestError as error:
                trouble, asked_wait = self._redacted(f"{type(error).__name__} {error}"), 0.0
            else:
                if response.status_code == 200:
                    try:
                        return response.json()
                    except ValueError:
                        raise self._unsound("it is not JSON") from None
                trouble, asked_wait = self._complaint(response), retry_after(response.headers)
                if response.status_code != 429 and response.status_code < 500:
                    raise ModelUnavailable(f"{self._url} refused: {trouble}")
            if attempt < retries:
                wait = min(BACKOFF_S * 2**attempt, MAX_BACKOFF_S) * (0.5 + self._jitter())
                await self._sleep(max(wait, min(asked_wait, MAX_BACKOFF_S)))
        times = f"{retries + 1} times, last" if retries else "once"
        raise ModelUnavailable(f"{self._url} failed {times}: {trouble}")

    def _connected(self) -> httpx.AsyncClient:
        if self._client is None:
            headers = {"Authorization": f"Bearer {self._key}"} if self._key else {}
            self._client = self._httpx.AsyncClient(headers=headers, timeout=self._timeout)
        return self._client

    def _read(self, answer: Any, count: int) -> Floats:
        """Check an answer and put its vectors in the order of the texts."""
        rows: list[Any] = [None] * count
        try:
            for item in answer["data"]:
                index = item["index"]
                if not isinstance(index, int) or not 0 <= index < count or rows[index] is not None:
                    raise self._unsound(f"bad index among {count} texts")
                rows[index] = item["embedding"]
            if any(row is None for row in rows):
                raise self._unsound(f"fewer vectors than the {count} texts")
            vectors = np.array(rows, np.float64)
        except (KeyError, TypeError, ValueError, OverflowError):
            raise self._unsound("no list of vectors of one length") from None
        if vectors.ndim != 2 or not np.isfinite(vectors).all():
            raise self._unsound("numbers that are not finite")
        if not vectors.any(axis=1).all():
            raise self._unsound("a vector of zeros")
        if self._dim is not None and vectors.shape[1] != self._dim:
            raise self._unsound(f"{vectors.shape[1]} dimensions instead of {self._dim}")
        return normalise(vectors / np.abs(vectors).max(axis=1, keepdims=True))

    def _unsound(self, what: str) -> ModelUnavailable:
        return ModelUnavailable(f"{self._url} gave an answer that cannot be used: {what}")

    def _complaint(self, response: httpx.Response) -> str:
        """Say what an error answer says; of 401 and 403 nothing, since they may quote the key."""
        if response.status_code in {401, 403}:
            return f"HTTP {response.status_code}, check the API key"
        return self._redacted(f"HTTP {response.status_code} {response.text[:4096]}")[:300].strip()

    def _redacted(self, text: str) -> str:
        return text.replace(self._key, "***") if self._key else text


def _httpx() -> Any:
    try:
        return import_module("httpx")
    except ImportError as error:
        raise ModelUnavailable(
            "an embedding endpoint needs httpx: pip install 'remembrancer[llm]'"
        ) from error


def _sendable(text: str) -> str:
    """Cut to MAX_BYTES on a whole character; endpoints refuse empty texts, so those are a space."""
    cut = text[:MAX_BYTES].encode("utf-8", "replace")[:MAX_BYTES].decode("utf-8", "ignore")
    return cut or " "
