"""The endpoint adapter against a stub server in this process."""

import asyncio
import contextlib
import json
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import numpy as np
import pytest

from remembrancer.models import openai
from remembrancer.models.openai import OpenAIEmbedder
from remembrancer.nouns.errors import InvalidInput, ModelUnavailable

KEY = "sk-very-secret-key"


def vectors_for(body):
    """Answer rightly: a vector that depends on the text, in reversed order."""
    data = [
        {"index": n, "embedding": [float(len(text)), 1.0, 2.0]}
        for n, text in enumerate(body["input"])
    ]
    return 200, {"data": data[::-1]}, {}


class Stub(ThreadingHTTPServer):
    """Answers from a script (functions of the request body), then rightly."""

    daemon_threads = True

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Handler)
        self.script = []
        self.requests = []
        self.flight = self.peak = 0
        self.lock = threading.Lock()

    @property
    def url(self):
        return f"http://127.0.0.1:{self.server_address[1]}/v1"


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        with self.server.lock:
            self.server.flight += 1
            self.server.peak = max(self.server.peak, self.server.flight)
            self.server.requests.append((self.path, dict(self.headers), body))
            answer = self.server.script.pop(0) if self.server.script else vectors_for
        if answer == "hang up":
            self.close_connection = True
            self.server.flight -= 1
            self.connection.close()
            return
        status, content, headers = answer(body)
        raw = content if isinstance(content, bytes) else json.dumps(content).encode()
        with self.server.lock:
            self.server.flight -= 1
        self.send_response(status)
        for name, value in {**headers, "Content-Length": str(len(raw))}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(raw)

    def log_message(self, *args):
        """Be quiet."""

    def handle(self):
        with contextlib.suppress(OSError, ValueError):
            super().handle()


@pytest.fixture
def stub():
    server = Stub()
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    yield server
    server.shutdown()
    thread.join()
    server.server_close()


def run(stub, use, **options):
    waits = []

    async def whole():
        async def sleep(seconds):
            waits.append(seconds)

        settings = {"api_key": KEY, "sleep": sleep, "jitter": lambda: 0.5} | options
        embedder = OpenAIEmbedder("m", base_url=stub.url, **settings)
        try:
            return await use(embedder), waits
        finally:
            await embedder.close()

    return asyncio.run(whole())


def answer(status, content, **headers):
    return lambda body: (status, content, headers)


def test_order_by_index_and_length_one(stub):
    texts = ["a" * (n + 1) for n in range(5)]
    vectors, _ = run(stub, lambda e: e.embed(texts))
    assert vectors.dtype == np.float32
    expected = np.array([[len(text), 1, 2] for text in texts], float)
    expected /= np.linalg.norm(expected, axis=1, keepdims=True)
    assert vectors == pytest.approx(expected, abs=1e-6)


def test_request_has_key_model_and_dimensions(stub):
    run(stub, lambda e: e.embed_query("hello"), dimensions=3)
    path, headers, body = stub.requests[0]
    assert path == "/v1/embeddings"
    assert headers["Authorization"] == f"Bearer {KEY}"
    assert body == {
        "model": "m",
        "input": ["hello"],
        "encoding_format": "float",
        "dimensions": 3,
    }


def test_without_key_no_header_is_sent(stub):
    run(stub, lambda e: e.embed_query("hello"), api_key=None)
    assert "Authorization" not in stub.requests[0][1]
    assert "dimensions" not in stub.requests[0][2]


def test_batches_of_64_a_few_at_once(stub):
    texts = ["a" * (n % 90 + 1) for n in range(300)]
    vectors, _ = run(stub, lambda e: e.embed(texts), dimensions=3, concurrency=2)
    assert sorted(len(body["input"]) for _, _, body in stub.requests) == [44, 64, 64, 64, 64]
    ratio = vectors[:, 0] / vectors[:, 1]
    assert ratio == pytest.approx([len(text) for text in texts], rel=1e-4)
    assert stub.peak <= 2


def test_retries_after_429_500_and_hang_up(stub):
    stub.script = [
        answer(429, {"error": "slow down"}, **{"Retry-After": "3"}),
        answer(503, b"busy"),
        "hang up",
    ]
    vectors, waits = run(stub, lambda e: e.embed(["ab"]), dimensions=3)
    assert vectors.shape == (1, 3)
    assert waits == [3.0, 1.0, 2.0]  # what was asked, then doubling


def test_gives_up_with_the_last_trouble(stub):
    stub.script = [answer(500, {"error": f"echo {KEY}"})] * 9
    with pytest.raises(ModelUnavailable, match=r"failed 3 times, last: HTTP 500") as caught:
        run(stub, lambda e: e.embed(["a"]), dimensions=3, retries=2)
    assert len(stub.requests) == 3
    assert KEY not in str(caught.value)
    assert "***" in str(caught.value)


def test_a_question_is_sent_again_once_at_most(stub):
    stub.script = [answer(503, b"busy")] * 9
    with pytest.raises(ModelUnavailable, match="failed 2 times, last: HTTP 503 busy"):
        run(stub, lambda e: e.embed_query("a"))
    with pytest.raises(ModelUnavailable, match="failed once: HTTP 503 busy"):
        run(stub, lambda e: e.embed_query("a"), retries=0)
    assert len(stub.requests) == 3


def test_a_question_does_not_wait_for_an_endpoint_that_hangs(stub):
    asked_again = threading.Event()

    def hang(body):
        asked_again.wait(10)
        return vectors_for(body)

    async def use(embedder):
        with pytest.raises(ModelUnavailable, match=r"/embeddings did not answer .* within 0.05 s"):
            await embedder.embed_query("a")
        asked_again.set()
        embedder._question_s = 10
        return await embedder.embed_query("a")

    stub.script = [hang]
    vector, waits = run(stub, use, question_s=0.05)
    assert vector.shape == (3,)
    assert waits == []


@pytest.mark.parametrize("status", [400, 401, 403, 404])
def test_refusal_is_not_retried_and_does_not_leak_the_key(stub, status):
    stub.script = [answer(status, {"error": {"message": f"bad {KEY[:8]} {KEY}"}})]
    with pytest.raises(ModelUnavailable, match=f"refused: HTTP {status}") as caught:
        run(stub, lambda e: e.embed(["a"] * 200), dimensions=3, concurrency=1)
    assert len(stub.requests) == 1
    assert KEY not in str(caught.value)


def data(*embeddings):
    return {"data": [{"index": n, "embedding": e} for n, e in enumerate(embeddings)]}


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (data([1.0, 2.0]), "2 dimensions instead of 3"),
        (data([1.0, float("nan"), 2.0]), "not finite"),
        (data([1.0, float("inf"), 2.0]), "not finite"),
        (data([0, 0, 0]), "vector of zeros"),
        (data(), "fewer vectors"),
        (data([1, 2, 3], [1, 2, 3]), "bad index"),
        ({"data": [{"index": 7, "embedding": [1, 2, 3]}]}, "bad index"),
        ({"data": [{"index": 0, "embedding": "AAAA"}]}, "no list of vectors"),
        ({"data": [{"embedding": [1, 2, 3]}]}, "no list of vectors"),
        ({"error": "what"}, "no list of vectors"),
        ([], "no list of vectors"),
        (b"<html>", "not JSON"),
    ],
)
def test_unsound_answers_are_refused(stub, content, message):
    stub.script = [answer(200, content)]
    with pytest.raises(ModelUnavailable, match=message):
        run(stub, lambda e: e.embed_query("a"), dimensions=3)


def test_ragged_vectors_are_refused(stub):
    stub.script = [answer(200, data([1, 2, 3], [1, 2]))]
    with pytest.raises(ModelUnavailable, match="no list of vectors of one length"):
        run(stub, lambda e: e.embed(["a", "b"]), dimensions=3)


def test_dimension_is_learnt_and_then_required(stub):
    stub.script = [vectors_for, answer(200, data([1.0, 2.0]))]

    async def use(embedder):
        with pytest.raises(ModelUnavailable, match="warm"):
            assert embedder.dim
        await embedder.warm()
        assert embedder.dim == 3
        assert embedder.fingerprint["model"] == "openai:m"
        assert embedder.fingerprint["dim"] == 3
        with pytest.raises(ModelUnavailable, match="2 dimensions instead of 3"):
            await embedder.embed_query("a")

    run(stub, use)


def test_long_and_empty_texts_are_made_sendable(stub):
    run(stub, lambda e: e.embed(["", "é" * 1_000_000, "\ud800"]), dimensions=3)
    sent = stub.requests[0][2]["input"]
    assert sent == [" ", "é" * (openai.MAX_BYTES // 2), "?"]


def test_no_texts(stub):
    vectors, _ = run(stub, lambda e: e.embed([]), dimensions=3)
    assert vectors.shape == (0, 3)
    assert stub.requests == []


def test_connection_refused_names_the_endpoint():
    class Gone:
        url = "http://127.0.0.1:9/v1"

    with pytest.raises(ModelUnavailable, match=r"127.0.0.1:9/v1/embeddings failed 2 times"):
        run(Gone, lambda e: e.embed_query("a"), retries=1)


@pytest.mark.parametrize("key", ["bad\nkey-secret", "schlüssel-secret", "a\x00-secret"])
def test_unsendable_key_is_refused_without_quoting_it(key):
    with pytest.raises(InvalidInput) as caught:
        OpenAIEmbedder("m", api_key=key)
    assert caught.value.field == "api_key"
    assert "secret" not in str(caught.value)
    assert caught.value.__cause__ is None


@pytest.mark.parametrize(
    "url",
    ["localhost:11434/v1", "ftp://h/v1", "http://", "http://u:p@h/v1", "http://h:x", "http://h/?a"],
)
def test_bad_url_is_refused(url):
    with pytest.raises(InvalidInput) as caught:
        OpenAIEmbedder("m", base_url=url)
    assert caught.value.field == "base_url"


def test_without_httpx_names_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "httpx", None)
    with pytest.raises(ModelUnavailable, match=r"pip install 'remembrancer\[llm\]'"):
        OpenAIEmbedder("m")
