"""`remembrancer eval` prints what a model finds, what is refused, and what it used."""

from __future__ import annotations

import json
from typing import Any

import pytest
from typer.testing import CliRunner

from llm_kit import KEY, Endpoint, Reply, facts_reply, sources_in
from remembrancer.faces.cli.main import app
from remembrancer.nouns.errors import InvalidInput
from remembrancer.verbs.evaluate import read_cases


def script(body: dict[str, Any]) -> Reply:
    """Reads a fact of each source and one that it makes up; answers nothing that can be used."""
    found = sources_in(body)
    told = [{"source": n, "quote": t, "text": t} for n, t in found]
    return (
        facts_reply([*told, {"source": 1, "quote": found[0][1], "text": "Zed has 99 cats."}])
        if found
        else Reply("?")
    )


def test_it_prints_quality_tokens_and_cost(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REMEMBRANCER_LLM_KEY", KEY)
    monkeypatch.setenv("REMEMBRANCER_EMBEDDER", "none")
    with Endpoint(script) as endpoint:
        told = ["eval", "--llm", "openai:scripted", "--llm-url", endpoint.url]
        prices = ["--input-price", "1", "--output-price", "10"]
        ran = CliRunner().invoke(app, [*told, *prices, "--json"])
        assert ran.exit_code == 0, ran.output
        found = json.loads(ran.output)
        plain = CliRunner().invoke(app, told)
    calls = found["tokens"]["calls"]
    assert found["tokens"]["input_tokens"] == 100 * calls
    assert found["cost"] == round((100 * calls + 10 * calls * 10) / 1e6, 6)
    assert found["facts"]["found_with_model"] >= found["facts"]["found_by_rules"]
    assert sum(found["refused"].values()) >= found["cases"]
    assert (found["answers"]["by_model"], found["answers"]["asked"]) == (0, 7)
    assert "a retained turn" in plain.output


def test_the_cases_that_come_along_can_be_read() -> None:
    assert all(case.facts and case.questions for case in read_cases())
    with pytest.raises(InvalidInput, match="line 2"):
        read_cases('{"chat": "a"}\n{"facts": []}')
