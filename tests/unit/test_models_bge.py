"""The bundled model: same vectors always, unit length, sense, bounded work, clear failure."""

import asyncio
import shutil

import numpy as np
import pytest

from remembrancer.models import bge, trim
from remembrancer.models.bge import BgeSmall
from remembrancer.nouns.errors import ModelUnavailable

TEXTS = [
    "Clara adopted a puppy from the shelter last week.",
    "Our quarterly revenue grew by eight percent.",
    "",
    "The trains to Kraków leave at 7:40 and 9:10. " * 20,
    "yes",
]


def run(use, **options):
    """Run `use(embedder)` on a fresh embedder and close it."""

    async def whole():
        embedder = BgeSmall(**options)
        try:
            return await use(embedder)
        finally:
            await embedder.close()

    return asyncio.run(whole())


def test_vectors_do_not_depend_on_order_company_threads_or_run():
    together = run(lambda e: e.embed(TEXTS), threads=2)
    turned = run(lambda e: e.embed(TEXTS[::-1]), threads=1)[::-1]
    assert together.dtype == np.float32
    assert together.shape == (len(TEXTS), 384)
    assert np.array_equal(together, turned)

    async def alone(embedder):
        return [await embedder.embed_query(text) for text in TEXTS]

    assert np.array_equal(together, np.stack(run(alone)))


def test_rows_have_length_one():
    vectors = run(lambda e: e.embed(TEXTS))
    assert np.linalg.norm(vectors, axis=1) == pytest.approx(1, abs=1e-5)


def test_pooling_is_the_cls_position_without_padding_or_prefix():
    import onnxruntime as ort
    from tokenizers import Tokenizer

    ids = Tokenizer.from_file(str(bge.BUNDLED / "tokenizer.json")).encode(TEXTS[0]).ids
    assert (ids[0], ids[-1]) == (101, 102)
    options = ort.SessionOptions()
    options.intra_op_num_threads = 1
    session = ort.InferenceSession(str(bge.BUNDLED / bge.MODEL_FILE), options)
    feeds = {"input_ids": [ids], "attention_mask": [[1] * len(ids)]}
    feeds["token_type_ids"] = [[0] * len(ids)]
    hidden = session.run(None, {k: np.array(v, np.int64) for k, v in feeds.items()})[0]
    cls = hidden[0, 0] / np.linalg.norm(hidden[0, 0])
    assert run(lambda e: e.embed_query(TEXTS[0])) == pytest.approx(cls, abs=1e-6)


@pytest.mark.parametrize(
    ("question", "right", "wrong"),
    [
        ("What pet does she have?", "Clara adopted a puppy.", "Clara repaired the boiler."),
        ("Where does he live?", "Tom moved to Lisbon in May.", "Tom dislikes olives."),
        ("allergic reaction to food", "Peanuts make me ill.", "The server needs a new disk."),
    ],
)
def test_related_text_is_nearer(question, right, wrong):
    async def cosines(embedder):
        return await embedder.embed([right, wrong]) @ await embedder.embed_query(question)

    near, far = run(cosines)
    assert near > far + 0.05


def test_only_the_window_of_a_long_text_counts():
    long = "The cat sat on the mat near the door. " * 30_000  # 1.1 MB
    assert len(long) > 1_000_000
    window, whole = run(lambda e: e.embed([long[: bge.MAX_CHARS], long]))
    assert np.array_equal(window, whole)


def test_the_tokenizer_never_sees_more_than_the_bound(monkeypatch):
    seen = []

    class Spy:
        def __init__(self, inner):
            self.inner = inner

        def encode(self, text):
            seen.append(len(text))
            return self.inner.encode(text)

    async def use(embedder):
        await embedder.warm()
        monkeypatch.setattr(embedder._model, "_tokenizer", Spy(embedder._model._tokenizer))
        return await embedder.embed(["x" * 1_000_000, " " * 1_000_000, "漢" * 1_000_000])

    assert np.isfinite(run(use)).all()
    assert seen == [bge.MAX_CHARS] * 3


def test_at_most_threads_and_one_texts_are_in_flight(monkeypatch):
    flight, peak = 0, 0
    inner = BgeSmall._run

    async def counted(self, pool, text):
        nonlocal flight, peak
        flight += 1
        peak = max(peak, flight)
        try:
            return await inner(self, pool, text)
        finally:
            flight -= 1

    monkeypatch.setattr(BgeSmall, "_run", counted)
    run(lambda e: e.embed([str(n) for n in range(40)]), threads=2)
    assert peak == 3


def test_lone_surrogate_is_taken():
    assert np.isfinite(run(lambda e: e.embed(["half a \ud83d face"]))).all()


def test_no_texts():
    assert run(lambda e: e.embed([])).shape == (0, 384)


def test_fingerprint_names_the_file():
    fingerprint = BgeSmall().fingerprint
    assert fingerprint == {
        "model": "bge-small-en-v1.5-int8",
        "sha256": bge.SHA256["model_quantized.onnx"],
        "dim": 384,
        "pooling": "cls",
        "prefix": "",
    }


def test_missing_files_say_how_to_mend(tmp_path):
    with pytest.raises(ModelUnavailable, match="make setup"):
        run(lambda e: e.warm(), folder=tmp_path)


def test_changed_file_is_refused(tmp_path):
    for name in bge.SHA256:
        shutil.copy(bge.BUNDLED / name, tmp_path / name)
    with (tmp_path / "tokenizer.json").open("r+b") as file:
        file.write(b"}")
    with pytest.raises(ModelUnavailable, match=r"tokenizer.json is not the pinned one"):
        run(lambda e: e.embed(["a", "b", "c", "d"]), folder=tmp_path)
    shutil.copy(bge.BUNDLED / "tokenizer.json", tmp_path)
    assert run(lambda e: e.embed(["a"]), folder=tmp_path).shape == (1, 384)


def test_memory_is_given_back_after_loading_and_long_runs_only(monkeypatch):
    trims = []
    monkeypatch.setattr(bge, "trim", lambda: trims.append(1))

    async def use(embedder):
        counts = []
        for text in ("short", "the house by the lake " * 100, "short"):
            await embedder.embed_query(text)
            counts.append(len(trims))
        return counts

    assert run(use) == [1, 2, 2]


def test_trim_does_nothing_without_glibc(monkeypatch):
    monkeypatch.setattr(trim.ctypes, "CDLL", lambda name: object())
    trim._malloc_trim.cache_clear()
    assert trim._malloc_trim() is None
    trim.trim()
    monkeypatch.undo()
    trim._malloc_trim.cache_clear()
    trim.trim()
