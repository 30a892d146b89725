"""From spec to embedder, and the adapters of installed libraries (with stand-in libraries)."""

import asyncio
import sys
import threading
from types import ModuleType

import numpy as np
import pytest

from remembrancer.models.bge import BgeSmall
from remembrancer.models.cache import CachedQueries
from remembrancer.models.factory import make_embedder
from remembrancer.models.hashing import HashingEmbedder
from remembrancer.models.installed import InstalledEmbedder
from remembrancer.models.openai import OpenAIEmbedder
from remembrancer.nouns.errors import InvalidInput, ModelUnavailable


def test_default_is_the_bundled_model():
    made = make_embedder()
    assert isinstance(made, CachedQueries)
    assert isinstance(made.inner, BgeSmall)
    asyncio.run(made.close())


def test_none_is_no_embedder():
    assert make_embedder("none") is None


@pytest.mark.parametrize(
    ("spec", "kind"),
    [
        ("hash:32", HashingEmbedder),
        ("openai:text-embedding-3-small", OpenAIEmbedder),
        ("openai:org/model:tag", OpenAIEmbedder),
        ("fastembed:BAAI/bge-small-en-v1.5", InstalledEmbedder),
        ("sentence-transformers:all-MiniLM-L6-v2", InstalledEmbedder),
        (" bge-small ", BgeSmall),
    ],
)
def test_specs(spec, kind):
    made = make_embedder(spec)
    assert type(made.inner) is kind
    asyncio.run(made.close())


def test_settings_reach_the_endpoint():
    made = make_embedder("openai:a:b", base_url="http://h/v1", dimensions=256)
    assert made.dim == 256
    assert made.fingerprint["model"] == "openai:a:b"


@pytest.mark.parametrize(
    "spec",
    [
        "",
        "bge",
        "bge-small:x",
        "none:",
        "hash",
        "hash:",
        "hash:7",
        "hash:8193",
        "hash:-8",
        "hash:00000384",
        "hash:x",
        "openai:",
        "openai",
        "fastembed:",
        "cohere:x",
    ],
)
def test_unknown_spec_lists_the_choices(spec):
    with pytest.raises(InvalidInput, match=r"bge-small, hash:DIM, openai:MODEL.*none") as caught:
        make_embedder(spec)
    assert caught.value.field == "embedder"


@pytest.mark.parametrize(
    ("options", "field", "limit"),
    [
        ({"threads": 0}, "threads", 1),
        ({"threads": 65}, "threads", 64),
        ({"dimensions": 7}, "dimensions", 8),
        ({"dimensions": 9000}, "dimensions", 8192),
    ],
)
def test_settings_out_of_bounds(options, field, limit):
    with pytest.raises(InvalidInput) as caught:
        make_embedder("bge-small", **options)
    assert (caught.value.field, caught.value.limit) == (field, limit)


class FakeLibrary:
    """A model that notes its calls and threads and tells texts from questions."""

    def __init__(self, name=None, *, model_name=None, threads=None, local_files_only=False):
        assert local_files_only
        self.name = name or model_name
        if self.name == "absent":
            raise OSError("not in the cache")
        FakeLibrary.threads.append(threading.current_thread())

    threads = ()  # a list in each test, see `libraries`

    def rows(self, texts, first):
        FakeLibrary.threads.append(threading.current_thread())
        return [np.array([first, len(text), 0.0]) for text in texts]

    def passage_embed(self, texts, batch_size):
        assert batch_size == 1
        yield from self.rows(texts, 1)

    def query_embed(self, texts, batch_size):
        yield from self.rows(texts, -1)

    def encode_document(self, texts, batch_size, show_progress_bar, convert_to_numpy):
        assert (batch_size, show_progress_bar, convert_to_numpy) == (1, False, True)
        return np.stack(self.rows(texts, 1))

    def encode_query(self, texts, **options):
        return np.stack(self.rows(texts, -1))

    encode = None


@pytest.fixture
def libraries(monkeypatch):
    for module, name in (
        ("fastembed", "TextEmbedding"),
        ("sentence_transformers", "SentenceTransformer"),
    ):
        fake = ModuleType(module)
        setattr(fake, name, FakeLibrary)
        monkeypatch.setitem(sys.modules, module, fake)
    monkeypatch.setattr(FakeLibrary, "threads", [])


def run(spec, use):
    async def whole():
        embedder = make_embedder(spec)
        try:
            return await use(embedder)
        finally:
            await embedder.close()

    return asyncio.run(whole())


@pytest.mark.parametrize("kind", ["fastembed", "sentence-transformers"])
def test_installed_library_in_its_own_thread(libraries, kind):
    async def use(embedder):
        with pytest.raises(ModelUnavailable, match="warm"):
            assert embedder.dim
        texts = await embedder.embed(["a" * (n + 1) for n in range(70)])
        assert embedder.fingerprint["model"] == f"{kind}:some/model"
        assert embedder.dim == 3
        assert (await embedder.embed([])).shape == (0, 3)
        return texts, await embedder.embed_query("aa")

    texts, query = run(f"{kind}:some/model", use)
    assert texts.shape == (70, 3)
    assert texts[:, 1] / texts[:, 0] == pytest.approx(np.arange(1, 71))
    assert np.linalg.norm(texts, axis=1) == pytest.approx(1)
    assert query == pytest.approx(np.array([-1, 2, 0]) / 5**0.5)
    assert threading.main_thread() not in FakeLibrary.threads
    assert len(set(FakeLibrary.threads)) == 1


@pytest.mark.parametrize("kind", ["fastembed", "sentence-transformers"])
def test_absent_model_says_how_to_mend(libraries, kind):
    with pytest.raises(ModelUnavailable, match=r"not in the cache.*download it once"):
        run(f"{kind}:absent", lambda e: e.warm())


@pytest.mark.parametrize("kind", ["fastembed", "sentence-transformers"])
def test_missing_library_says_what_to_install(monkeypatch, kind):
    monkeypatch.setitem(sys.modules, kind.replace("-", "_"), None)
    with pytest.raises(ModelUnavailable, match=f"pip install {kind}"):
        run(f"{kind}:m", lambda e: e.embed(["a"]))


def test_unsound_vectors_are_refused(libraries, monkeypatch):
    monkeypatch.setattr(FakeLibrary, "rows", lambda self, texts, first: [[np.nan]] * len(texts))
    with pytest.raises(ModelUnavailable, match="no sound vectors"):
        run("fastembed:m", lambda e: e.embed_query("a"))
