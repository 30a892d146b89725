"""Reranking: bounded in candidates and in time, and recall goes on without it."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import pytest

from remembrancer.models.reranker import EndpointReranker, OnnxReranker, make_reranker
from remembrancer.nouns.errors import InvalidInput, ModelUnavailable
from remembrancer.nouns.memory import Layer, Unit
from remembrancer.verbs.recalling.recollection import Answer, Arms
from remembrancer.verbs.recalling.reranking import Reranking, within


@dataclass
class ByLength:
    """Scores a text by its length; remembers how many it was given."""

    wait: float = 0.0
    fails: bool = False
    read: list[int] = field(default_factory=list)

    async def scores(self, question: str, texts: Sequence[str]) -> list[float]:
        self.read.append(len(texts))
        if self.fails:
            raise ModelUnavailable("the model is away")
        await asyncio.sleep(self.wait)
        return [float(len(text)) for text in texts]

    async def close(self) -> None:
        pass


def answers(*texts: str) -> list[Answer]:
    arms = Arms(0, 0, None, None, 0, 0, 0)
    return [
        Answer(Unit(bytes([i] * 16), Layer.SOURCE, text, 1, 1), (), None, 1.0 - i / 10, arms)
        for i, text in enumerate(texts, 1)
    ]


def texts_of(found: Sequence[Answer]) -> list[str]:
    return [answer.unit.text for answer in found]


def test_only_the_first_are_read_and_reordered() -> None:
    reranker = ByLength()
    found, why = asyncio.run(Reranking(reranker, 3, 1)("?", answers("a", "bbbb", "cc", "d" * 9)))
    assert texts_of(found) == ["bbbb", "a", "cc", "d" * 9]
    assert why is None
    assert reranker.read == [3]


@pytest.mark.parametrize(
    ("reranker", "said"),
    [(ByLength(wait=5), "more than 0.01 s"), (ByLength(fails=True), "the model is away")],
)
def test_without_it_the_order_stays_and_it_is_said(reranker: ByLength, said: str) -> None:
    found, why = asyncio.run(Reranking(reranker, 3, 0.01)("?", answers("a", "bbbb")))
    assert texts_of(found) == ["a", "bbbb"]
    assert why is not None
    assert said in why


def test_within_the_limit_and_the_budget() -> None:
    kept, tokens = within(answers("a" * 40, "b" * 4000, "c" * 40, "d"), 2, 100)
    assert [text[0] for text in texts_of(kept)] == ["a", "c"]
    assert 0 < tokens <= 100


def endpoint(answer: httpx.Response, asked: list[httpx.Request]) -> EndpointReranker:
    def handle(request: httpx.Request) -> httpx.Response:
        asked.append(request)
        return answer

    made = EndpointReranker("small", "http://127.0.0.1:1/v1/")
    made._client = httpx.AsyncClient(transport=httpx.MockTransport(handle))
    return made


def test_an_endpoint_is_asked_and_its_answer_put_in_order() -> None:
    asked: list[httpx.Request] = []
    results = [{"index": 1, "relevance_score": 0.9}, {"index": 0, "relevance_score": 0.1}]
    made = endpoint(httpx.Response(200, json={"results": results}), asked)
    assert asyncio.run(made.scores("q", ["a", "b"])) == [0.1, 0.9]
    assert str(asked[0].url) == "http://127.0.0.1:1/v1/rerank"


@pytest.mark.parametrize(
    "answer",
    [
        httpx.Response(500),
        httpx.Response(200, json={"results": [{"index": 0, "relevance_score": 1}]}),
        httpx.Response(200, json={"results": [{"index": 9, "relevance_score": 1}]}),
        httpx.Response(200, text="no JSON"),
    ],
)
def test_an_unsound_answer_is_an_error(answer: httpx.Response) -> None:
    with pytest.raises(ModelUnavailable):
        asyncio.run(endpoint(answer, []).scores("q", ["a", "b"]))


def test_specs(tmp_path: Path) -> None:
    assert make_reranker("none") is None
    wrong: list[dict[str, Any]] = [
        {"spec": "endpoint:small"}, {"spec": "endpoint:small", "url": "ftp://x"}, {"spec": "best"},
    ]  # fmt: skip
    for options in wrong:
        with pytest.raises(InvalidInput):
            make_reranker(**options)
    folder = make_reranker(f"onnx:{tmp_path}")
    assert isinstance(folder, OnnxReranker)
    with pytest.raises(ModelUnavailable, match="must hold"):
        asyncio.run(folder.scores("q", ["a", "b"]))
