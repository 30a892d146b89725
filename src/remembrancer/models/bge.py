"""The bundled default embedder: bge-small-en-v1.5, int8 ONNX, on the CPU, without network."""

from __future__ import annotations

import asyncio
import hashlib
import os
import threading
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from ..nouns.errors import ModelUnavailable
from ..nouns.turns import Turns
from .embedder import Floats
from .spread import spread
from .trim import trim
from .vectors import normalise

NAME = "bge-small-en-v1.5-int8"
DIM = 384
WINDOW = 512  # tokens, [CLS] and [SEP] among them: the model's position table
MODEL_FILE = "model_quantized.onnx"
SHA256 = {
    MODEL_FILE: "6c9c6101a956d62dfb5e7190c538226c0c5bb9cb27b651234b6df063ee7dbfe4",
    "tokenizer.json": "d241a60d5e8f04cc1b2b3e9ef7a4921b27bf526d9f6050ab90f9267a1f9e5c66",
}
BUNDLED = Path(__file__).parent / "data" / NAME

# Characters that reach the tokenizer, which would else read all of a long text to throw most away.
# English has 4 to 5 characters a token, so a window ends near 2,500; with 32 a token only text of
# long runs without words (blank space, encoded blobs) is cut earlier than the window would.
MAX_CHARS = WINDOW * 32

# A run this long is followed by returning its memory: some 4 % of its time.
TRIM_TOKENS = 192


class _Model:
    """The loaded session and tokenizer; `vector` may run in several threads at once."""

    def __init__(self, folder: Path) -> None:
        for name, sha256 in SHA256.items():
            verify(folder / name, sha256)
        # Imported here, in the loading thread: together they take 0.1 s and 25 MB.
        # onnxruntime reports usage over the network unless it is told not to before its import.
        os.environ["ORT_DISABLE_TELEMETRY"] = "1"
        ort: Any = import_module("onnxruntime")
        tokenizers: Any = import_module("tokenizers")
        options = ort.SessionOptions()
        options.intra_op_num_threads = 1
        options.inter_op_num_threads = 1
        # The arena keeps what the longest text ever needed (60 MB); without it, short texts are as
        # fast and full windows some 6 % slower.
        options.enable_cpu_mem_arena = False
        options.log_severity_level = 3
        try:
            self._session = ort.InferenceSession(
                str(folder / MODEL_FILE), options, providers=["CPUExecutionProvider"]
            )
            self._tokenizer = tokenizers.Tokenizer.from_file(str(folder / "tokenizer.json"))
        except Exception as error:  # both raise types of their own, without a common base
            raise ModelUnavailable(f"the embedding model in {folder} does not load: {error}") from (
                error
            )
        self._tokenizer.enable_truncation(WINDOW)
        self._tokenizer.no_padding()
        trim()  # loading leaves 20 MB behind

    def vector(self, text: str) -> Floats:
        """Embed one text: float32 of shape (DIM,), length 1.

        One text a run: int8 activations are quantised per tensor, so texts that shared a batch
        would change each other's vectors. The vector is the hidden state of [CLS], as the model
        was trained (C-Pack, arXiv:2309.07597).
        """
        sound = text[:MAX_CHARS].encode("utf-8", "replace").decode()  # no lone surrogates
        ids = np.array([self._tokenizer.encode(sound).ids], np.int64)
        feeds = {
            "input_ids": ids,
            "attention_mask": np.ones_like(ids),
            "token_type_ids": np.zeros_like(ids),
        }
        hidden = self._session.run(["last_hidden_state"], feeds)[0]
        if ids.size > TRIM_TOKENS:
            trim()
        row: Floats = normalise(hidden[:, 0])[0]
        return row


class BgeSmall:
    """bge-small-en-v1.5 in threads of its own; loads on first use or by `warm`.

    Args:
        folder: holds `model_quantized.onnx` and `tokenizer.json`; default: the bundled ones.
        threads: texts embedded at once; default min(2, CPUs).
    """

    def __init__(self, folder: Path | None = None, threads: int | None = None) -> None:
        self._folder = folder or BUNDLED
        self._threads = threads or min(2, os.cpu_count() or 1)
        self._texts = ThreadPoolExecutor(self._threads, thread_name_prefix="embed")
        # One more than the threads, so that none idles while the loop hands out the next text. Who
        # waits, waits here, and not in the pool, which knows no tenants.
        self._turns = Turns(self._threads + 1)
        # A thread apart, so that a question never waits behind a long list of texts.
        self._queries = ThreadPoolExecutor(1, thread_name_prefix="embed-query")
        self._asked = Turns(2)
        self._loading = threading.Lock()
        self._model: _Model | None = None

    @property
    def dim(self) -> int:
        """Components of a vector: 384."""
        return DIM

    @property
    def fingerprint(self) -> Mapping[str, Any]:
        """Identity of the vectors."""
        return {
            "model": NAME,
            "sha256": SHA256[MODEL_FILE],
            "dim": DIM,
            "pooling": "cls",
            "prefix": "",
        }

    async def embed(self, texts: Sequence[str]) -> Floats:
        """Embed texts, in order; each alone, so its vector does not depend on the others.

        Returns:
            float32 of shape (len(texts), 384), rows of length 1.

        Raises:
            ModelUnavailable: the model files are missing or not the pinned ones.
        """
        vectors = np.empty((len(texts), DIM), np.float32)

        async def work(row: int) -> None:
            async with self._turns:
                vectors[row] = await self._run(self._texts, texts[row])

        await spread(range(len(texts)), self._threads + 1, work)
        return vectors

    async def embed_query(self, text: str) -> Floats:
        """Embed a question: float32 of shape (384,), length 1.

        No instruction is put before it: on conversations it changed recall by less than the noise.

        Raises:
            ModelUnavailable: the model files are missing or not the pinned ones.
        """
        async with self._asked:
            return await self._run(self._queries, text)

    async def warm(self) -> None:
        """Load the model now, in a thread (about 0.2 s).

        Raises:
            ModelUnavailable: the model files are missing or not the pinned ones.
        """
        await asyncio.get_running_loop().run_in_executor(self._queries, self._load)

    async def close(self) -> None:
        """Wait for the texts being embedded, drop the queued ones, end the threads."""
        for pool in (self._texts, self._queries):
            pool.shutdown(wait=False, cancel_futures=True)
        for pool in (self._texts, self._queries):
            await asyncio.to_thread(pool.shutdown)
        self._model = None

    async def _run(self, pool: ThreadPoolExecutor, text: str) -> Floats:
        return await asyncio.get_running_loop().run_in_executor(pool, self._vector, text)

    def _vector(self, text: str) -> Floats:
        return self._load().vector(text)

    def _load(self) -> _Model:
        with self._loading:
            if self._model is None:
                self._model = _Model(self._folder)
            return self._model


def verify(path: Path, sha256: str) -> None:
    """Check that a file of the model is the pinned one.

    Raises:
        ModelUnavailable: it is not, or cannot be read.
    """
    mend = "run `make setup` in a checkout, or install the package again"
    try:
        with path.open("rb") as stream:
            found = hashlib.file_digest(stream, "sha256").hexdigest()
    except OSError as error:
        raise ModelUnavailable(f"embedding model file {path} cannot be read; {mend}") from error
    if found != sha256:
        raise ModelUnavailable(f"embedding model file {path} is not the pinned one; {mend}")
