"""The server over HTTP with httpx: keep a chat, ask it, prime from it, forget.

    remembrancer serve --data ./data        # in another terminal
    python examples/over_http.py [URL]

It prints what the server answers. It writes to the bank `ann-example`.
"""

from __future__ import annotations

import json
import sys
from typing import Any

import httpx

BANK = "ann-example"
CHAT = [
    {"role": "user", "name": "Ann", "content": "I moved to Berlin last Friday, to Kreuzberg."},
    {"role": "assistant", "content": "Welcome to Berlin! How is the new flat?"},
    {"role": "user", "name": "Ann", "content": "Small. My sister Eva stays until 20 June."},
]


def main() -> None:
    """Talk to a server."""
    url = sys.argv[1] if len(sys.argv) > 1 else "http://127.0.0.1:6381"
    with httpx.Client(base_url=url, timeout=60) as server:
        memories = f"/v1/default/banks/{BANK}/memories"
        item = {
            "content": json.dumps(CHAT),
            "timestamp": "2026-06-09T18:00:00+02:00",
            "document_id": "first chat",
        }
        kept = said(server.post(memories, json={"items": [item]}))
        print(f"kept {kept['items_count']} item: {kept['facts_count']} facts read")

        question = "When does Eva leave?"
        found = said(server.post(f"{memories}/recall", json={"query": question}))
        print(f"\n{question}")
        for result in found["results"][:2]:
            print(f"  {result['mentioned_at'][:10]}: {result['text']}")

        primed = said(server.post("/v1/prime", json={"entity_id": BANK, "max_memories": 3}))
        print("\nContext for the next conversation:")
        for one in primed["results"]:
            print(f"  {one['memory']['content']}")

        first = found["results"][0]
        gone = said(server.post("/v1/forget", json={"memory_ids": [first["id"]]}))
        print(f"\nForgot: {first['text']} (and {gone['cascade_count']} facts read from it)")
        left = said(server.post(f"{memories}/recall", json={"query": question}))
        still = any(result["id"] == first["id"] for result in left["results"])
        print(f"Found again: {'yes' if still else 'no'}")


def said(response: httpx.Response) -> dict[str, Any]:
    """Return the JSON of an answer; the server's own words when it refuses."""
    if response.is_error:
        sys.exit(f"{response.status_code}: {response.text}")
    answer: dict[str, Any] = response.json()
    return answer


if __name__ == "__main__":
    main()
