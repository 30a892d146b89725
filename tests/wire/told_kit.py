"""One bank of a tenant of its own over REST: what users do with it, and what they see."""

from __future__ import annotations

import json
from typing import Any
from uuid import uuid4

import httpx
from served_kit import Served


def chat(*turns: tuple[str, str], **more: Any) -> dict[str, Any]:
    """Return an item of messages, each a role and what is said."""
    messages = [{"role": role, "content": content} for role, content in turns]
    return {"content": json.dumps(messages), **more}


class Mind:
    """A bank, and the key of its tenant."""

    def __init__(self, served: Served, bank: str = "mind") -> None:
        self.served, self.bank = served, bank
        self.key = served.key(f"tenant-{uuid4()}")

    def answer(self, method: str, path: str, body: Any = None) -> httpx.Response:
        """Send a request to a path below the bank, or to one that begins with /v1 or /compat."""
        whole = path.startswith(("/v1", "/compat"))
        url = path if whole else f"/v1/default/banks/{self.bank}{path}"
        return self.served.ask(self.key, method, url, body)

    def ask(self, method: str, path: str, body: Any = None) -> Any:
        answer = self.answer(method, path, body)
        assert answer.status_code == 200, answer.text
        return answer.json()

    def retain(self, *items: Any, **more: Any) -> Any:
        full = [item if isinstance(item, dict) else {"content": item} for item in items]
        return self.ask("POST", "/memories", {"items": full, **more})

    def recall(self, query: str, **more: Any) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = self.ask(
            "POST", "/memories/recall", {"query": query, **more}
        )["results"]
        return found

    def texts(self, query: str, **more: Any) -> list[str]:
        return [each["text"] for each in self.recall(query, **more)]

    def memories(self) -> list[dict[str, Any]]:
        """Return the list of memories, newest first."""
        found: list[dict[str, Any]] = self.ask("GET", "/memories/list?limit=1000")["items"]
        return found

    def facts(self) -> list[dict[str, Any]]:
        """Return the facts of all memories, in the order in which they were told."""
        return [fact for memory in self.memories()[::-1] for fact in memory["facts"]]

    def entities(self) -> set[str]:
        """Return the names of who and what is known."""
        listed = self.ask("GET", "/entities?limit=1000")["items"]
        return {each["canonical_name"] for each in listed}

    def edges(self) -> set[frozenset[str]]:
        """Return the pairs of names that are mentioned together."""
        graph = self.ask("GET", "/entities/graph")
        names = {node["data"]["id"]: node["data"]["label"] for node in graph["nodes"]}
        return {
            frozenset((names[edge["data"]["source"]], names[edge["data"]["target"]]))
            for edge in graph["edges"]
        }

    def prime(self, cue: str | None = None, **more: Any) -> Any:
        body = {"entity_id": self.bank, **more} | ({"similarity_cue": cue} if cue else {})
        return self.ask("POST", "/v1/prime", body)

    def forget(self, **more: Any) -> Any:
        return self.ask("POST", "/v1/forget", {"entity_id": self.bank, **more})
