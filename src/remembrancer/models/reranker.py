"""Rerankers: how well texts answer a question, by a model that reads both together. Off by default.

Either an endpoint that speaks `POST /rerank` as Cohere, Jina, vLLM and llama.cpp have it, or a
cross-encoder in ONNX that the user has put into a folder. Nothing is downloaded.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from importlib import import_module
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from ..nouns.errors import InvalidInput, ModelUnavailable

CHOICES = "none, endpoint:MODEL (with reranker_url) or onnx:FOLDER"
WINDOW = 512  # tokens of a question and a text together
MAX_CHARS = 8_000  # of a text that is read

_MODEL_FILES = ("model_quantized.onnx", "model.onnx")


class Reranker(Protocol):
    """Scores texts against a question; higher is better, on a scale of its own."""

    async def scores(self, question: str, texts: Sequence[str]) -> list[float]:
        """Return a score for each text, in their order.

        Raises:
            ModelUnavailable: the model or its endpoint cannot be used.
        """
        ...

    async def close(self) -> None:
        """Release threads and connections."""
        ...


def make_reranker(
    spec: str, *, url: str | None = None, api_key: str | None = None
) -> Reranker | None:
    """Make the reranker that `spec` names; nothing is loaded yet.

    Args:
        spec: one of `CHOICES`.
        url: base URL of the endpoint, with the version part, such as `http://localhost:8012/v1`.
        api_key: of the endpoint, sent as a bearer token.

    Returns:
        The reranker, or None for `none`.

    Raises:
        InvalidInput: the spec or the URL is none that can be used.
    """
    kind, _, name = spec.strip().partition(":")
    if spec.strip() == "none":
        return None
    if kind == "endpoint" and name:
        return EndpointReranker(name, url or "", api_key)
    if kind == "onnx" and name:
        return OnnxReranker(Path(name).expanduser())
    raise InvalidInput(
        f"unknown reranker {spec.strip()[:80]!r}; choose {CHOICES}", field="reranker"
    )


class EndpointReranker:
    """Calls `POST {url}/rerank`; the key appears in no error of ours.

    Args:
        model: the model's name at the endpoint.
        url: its base URL.
        api_key: sent as a bearer token; None for endpoints without.

    Raises:
        InvalidInput: the URL is none of http or https.
    """

    def __init__(self, model: str, url: str, api_key: str | None = None) -> None:
        if not url.startswith(("http://", "https://")):
            raise InvalidInput(
                "reranker_url must be http(s)://host[:port]/path", field="reranker_url"
            )
        self._model = model
        self._url = f"{url.rstrip('/')}/rerank"
        self._key = api_key
        self._client: Any = None

    async def scores(self, question: str, texts: Sequence[str]) -> list[float]:
        """As `Reranker.scores`."""
        body = {
            "model": self._model,
            "query": question,
            "documents": [text[:MAX_CHARS] or " " for text in texts],
            "top_n": len(texts),
        }
        httpx = _imported("httpx", "remembrancer[llm]")
        if self._client is None:
            headers = {"Authorization": f"Bearer {self._key}"} if self._key else {}
            self._client = httpx.AsyncClient(headers=headers)
        try:
            answer = await self._client.post(self._url, json=body)
        except httpx.RequestError as error:
            raise ModelUnavailable(f"{self._url} failed: {type(error).__name__}") from None
        if answer.status_code != 200:
            raise ModelUnavailable(f"{self._url} refused: HTTP {answer.status_code}")
        return self._read(answer, len(texts))

    async def close(self) -> None:
        """Close the connections."""
        if self._client is not None:
            await self._client.aclose()
            self._client = None

    def _read(self, answer: Any, count: int) -> list[float]:
        found: list[float | None] = [None] * count
        try:
            for each in answer.json()["results"]:
                found[each["index"]] = float(each["relevance_score"])
        except (KeyError, TypeError, ValueError, IndexError):
            found = [None] * count
        known = [score for score in found if score is not None and np.isfinite(score)]
        if len(known) != count:
            raise ModelUnavailable(f"{self._url} gave an answer that cannot be used")
        return known


class OnnxReranker:
    """A cross-encoder in a folder with `model.onnx` (or `model_quantized.onnx`) and its tokenizer.

    Runs in a thread of its own, a text at a time; loads on first use.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._pool = ThreadPoolExecutor(1, thread_name_prefix="rerank")
        self._loaded: tuple[Any, Any] | None = None

    async def scores(self, question: str, texts: Sequence[str]) -> list[float]:
        """As `Reranker.scores`."""
        loop = asyncio.get_running_loop()
        # One text a hop, so that a caller that has waited enough can leave.
        return [
            await loop.run_in_executor(self._pool, self._score, question, text[:MAX_CHARS])
            for text in texts
        ]

    async def close(self) -> None:
        """End the thread."""
        self._pool.shutdown(wait=False, cancel_futures=True)

    def _score(self, question: str, text: str) -> float:
        session, tokenizer = self._model()
        encoded = tokenizer.encode(question, text)
        wanted = {each.name for each in session.get_inputs()}
        feeds = {
            name: np.array([values], np.int64)
            for name, values in (
                ("input_ids", encoded.ids),
                ("attention_mask", encoded.attention_mask),
                ("token_type_ids", encoded.type_ids),
            )
            if name in wanted
        }
        logits = np.asarray(session.run(None, feeds)[0], np.float64).ravel()
        # One logit is the score; of two, the second is that of "relevant".
        return float(logits[0] if logits.size == 1 else logits[1] - logits[0])

    def _model(self) -> tuple[Any, Any]:
        if self._loaded is None:
            os.environ["ORT_DISABLE_TELEMETRY"] = "1"
            ort = _imported("onnxruntime", "remembrancer")
            tokenizers = _imported("tokenizers", "remembrancer")
            file = next((f for f in _MODEL_FILES if (self._folder / f).is_file()), None)
            if file is None or not (self._folder / "tokenizer.json").is_file():
                raise ModelUnavailable(
                    f"{self._folder} must hold tokenizer.json and one of {', '.join(_MODEL_FILES)}"
                )
            try:
                options = ort.SessionOptions()
                options.intra_op_num_threads = 1
                session = ort.InferenceSession(
                    str(self._folder / file), options, providers=["CPUExecutionProvider"]
                )
                tokenizer = tokenizers.Tokenizer.from_file(str(self._folder / "tokenizer.json"))
            except Exception as error:  # both raise types of their own, without a common base
                raise ModelUnavailable(f"{self._folder} does not load: {error}") from error
            tokenizer.enable_truncation(WINDOW, strategy="longest_first")
            tokenizer.no_padding()
            self._loaded = session, tokenizer
        return self._loaded


def _imported(module: str, package: str) -> Any:
    try:
        return import_module(module)
    except ImportError as error:
        raise ModelUnavailable(f"a reranker needs {module}: pip install '{package}'") from error
