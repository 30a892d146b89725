"""The two documented calls, word for word, and their documented shapes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from wire_kit import Server

RETAIN = r"""
curl -s -X POST http://localhost:6381/v1/default/banks/user123/memories \
  -H "Content-Type: application/json" \
  -d '{
    "async": false,
    "items": [
      {
        "content": "Alice works at Google",
        "context": "work",
        "document_id": "conversation_123"
      },
      {
        "content": "Bob went hiking yesterday",
        "document_id": "conversation_123",
        "timestamp": "2024-01-15T10:00:00Z"
      }
    ]
  }' | jq .
"""

PRIME = r"""
curl -s -X POST http://localhost:6381/v1/prime \
  -H "Content-Type: application/json" \
  -H "Authorization: Bearer $HEBBS_API_KEY" \
  -d '{"entity_id": "customer-42", "similarity_cue": "account history"}' | jq .
"""

PRIME_RECENT = r"""
curl -s -X POST http://localhost:6381/v1/prime \
  -H "Content-Type: application/json" \
  -H "Authorization: Bearer $HEBBS_API_KEY" \
  -d '{
    "entity_id": "customer-42",
    "similarity_cue": "recent interactions",
    "scoring_weights": {
      "w_relevance": 0.2,
      "w_recency": 0.6,
      "w_importance": 0.1,
      "w_reinforcement": 0.1
    }
  }' | jq .
"""


@pytest.fixture
def shell(server: Server, tmp_path: Path) -> Any:
    """Run a documented command as it stands; the port it names leads to the server."""
    port = urlsplit(server.url).port
    (tmp_path / ".curlrc").write_text(f'connect-to = "localhost:6381:127.0.0.1:{port}"\n')
    jq = tmp_path / "jq"
    jq.write_text(f"#!/bin/sh\nexec {sys.executable} -m json.tool\n")
    jq.chmod(0o755)
    env = {
        **os.environ,
        "CURL_HOME": str(tmp_path),
        "HOME": str(tmp_path),
        "HEBBS_API_KEY": "hb_any",
        "PATH": f"{tmp_path}:{os.environ['PATH']}",
    }

    def run(command: str) -> Any:
        script = f"set -o pipefail\n{command}"
        done = subprocess.run(["bash", "-c", script], env=env, capture_output=True, check=False)
        assert done.returncode == 0, f"is curl installed? {done.stderr.decode()}"
        return json.loads(done.stdout)

    return run


def test_retain_as_documented(server: Server, shell: Any) -> None:
    answer = shell(RETAIN)
    documented = {k: answer[k] for k in ("success", "bank_id", "items_count", "async")}
    assert documented == {
        "success": True,
        "bank_id": "user123",
        "items_count": 2,
        "async": False,
    }
    assert set(answer["usage"].values()) == {0}
    assert answer["document_ids"] == ["conversation_123"]
    assert answer["facts_count"] == 2
    assert len(answer["unit_ids"]) == 4
    assert answer["errors"] == []
    alice = server.recall("user123", "Where does Alice work?")[0]
    assert alice["text"] == "Alice works at Google"
    assert alice["context"] == "work"
    assert alice["document_id"] == "conversation_123"
    assert alice["chunk_id"] == "user123_conversation_123_0"


def test_retain_again_changes_nothing(server: Server, shell: Any) -> None:
    shell(RETAIN)
    before = server.banks()
    again = shell(RETAIN)
    assert again["unchanged_document_ids"] == ["conversation_123"]
    assert again["unit_ids"] == []
    assert server.banks() == before


@pytest.mark.parametrize("command", [PRIME, PRIME_RECENT])
def test_prime_as_documented(server: Server, shell: Any, command: str) -> None:
    texts = ("The account was opened in May.", "The last bill is not paid.")
    server.retain("customer-42", *({"content": t, "document_id": "notes"} for t in texts))
    answer = shell(command)
    assert {"results", "temporal_count", "similarity_count"} <= answer.keys()
    assert len(answer["results"]) == 2
    assert answer["temporal_count"] + answer["similarity_count"] == 2
    for result in answer["results"]:
        assert {"memory", "score", "relevance", "strategy_details"} <= result.keys()
    scores = [r["score"] for r in answer["results"]]
    assert scores == sorted(scores, reverse=True)


def test_the_schema_of_retain_holds_the_documented_one(server: Server) -> None:
    document = server.client.get("/openapi.json").json()
    parts = document["components"]["schemas"]
    operation = document["paths"]["/v1/default/banks/{bank_id}/memories"]["post"]
    assert operation["operationId"] == "retain_memories"
    assert operation["parameters"] == [
        {
            "name": "bank_id",
            "in": "path",
            "required": True,
            "schema": {"type": "string", "title": "Bank Id"},
        }
    ]
    assert {"200", "422"} <= operation["responses"].keys()

    request = parts["RetainRequest"]
    assert request["required"] == ["items"]
    assert request["properties"]["async"]["type"] == "boolean"
    assert request["properties"]["async"]["default"] is False
    item = parts["MemoryItem"]
    assert item["required"] == ["content"]
    assert item["properties"]["content"]["type"] == "string"
    text, null = {"type": "string"}, {"type": "null"}
    kinds = {name: each.get("anyOf") for name, each in item["properties"].items()}
    assert {**text, "format": "date-time"} in kinds["timestamp"]
    assert null in kinds["timestamp"]
    assert null in kinds["context"]
    assert kinds["metadata"] == [{"additionalProperties": text, "type": "object"}, null]
    assert null in kinds["document_id"]

    response = parts["RetainResponse"]
    assert response["required"] == ["success", "bank_id", "items_count", "async"]
    types = {name: each.get("type") for name, each in response["properties"].items()}
    assert types["success"] == types["async"] == "boolean"
    assert types["bank_id"] == "string"
    assert types["items_count"] == "integer"
    detail = parts["HTTPValidationError"]["properties"]["detail"]["items"]["$ref"]
    assert {"loc", "msg", "type"} <= parts[detail.rsplit("/", 1)[1]]["properties"].keys()
