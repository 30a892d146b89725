"""How each kind of endpoint is spoken to: OpenAI and its likes, Anthropic, Gemini.

Each takes an answer in JSON only as far as it must: what a model wrote is checked elsewhere.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

from .types import Prompt, Usage

ANTHROPIC_VERSION = "2023-06-01"


class Told(Exception):
    """An answer is not what this kind of endpoint answers."""


class Wire(Protocol):
    """One kind of endpoint."""

    def path(self, model: str) -> str:
        """Return where to post, after the base URL."""
        ...

    def headers(self, key: str | None) -> dict[str, str]:
        """Return the headers that carry the key."""
        ...

    def body(self, model: str, prompt: Prompt) -> dict[str, Any]:
        """Return the request."""
        ...

    def read(self, answer: Any) -> tuple[str, Usage | None, bool]:
        """Return text, usage (None: not told), and whether the text was cut off.

        Raises:
            Told: it is no such answer.
        """
        ...


class OpenAIWire:
    """`POST /chat/completions`: OpenAI, and vLLM, Ollama, Groq, OpenRouter and others like it."""

    def __init__(self, *, own: bool) -> None:
        self._own = own  # OpenAI itself, which has renamed a parameter

    def path(self, model: str) -> str:  # noqa: ARG002
        """Return where to post."""
        return "/chat/completions"

    def headers(self, key: str | None) -> dict[str, str]:
        """Return a bearer token, if there is a key."""
        return {"Authorization": f"Bearer {key}"} if key else {}

    def body(self, model: str, prompt: Prompt) -> dict[str, Any]:
        """Return a chat of two messages; JSON is asked for in the way that most endpoints know."""
        limit = "max_completion_tokens" if self._own else "max_tokens"
        body: dict[str, Any] = {
            "model": model,
            "messages": [
                {"role": "system", "content": prompt.rules},
                {"role": "user", "content": prompt.text},
            ],
            limit: prompt.max_tokens,
        }
        if prompt.schema is not None:
            body["response_format"] = {"type": "json_object"}
        return body

    def read(self, answer: Any) -> tuple[str, Usage | None, bool]:
        """Read the first choice."""
        choice = _first(answer, "choices")
        text = _map(choice.get("message")).get("content")
        if not isinstance(text, str):
            raise Told("no text in choices[0].message.content")
        told = answer.get("usage")
        usage = None
        if isinstance(told, dict):
            usage = Usage(
                input=_count(told, "prompt_tokens"),
                output=_count(told, "completion_tokens"),
                cached=_count(_map(told.get("prompt_tokens_details")), "cached_tokens"),
                thoughts=_count(_map(told.get("completion_tokens_details")), "reasoning_tokens"),
            )
        return text, usage, choice.get("finish_reason") == "length"


class AnthropicWire:
    """`POST /v1/messages`."""

    def path(self, model: str) -> str:  # noqa: ARG002
        """Return where to post."""
        return "/v1/messages"

    def headers(self, key: str | None) -> dict[str, str]:
        """Return the key and the version of the API."""
        return {"anthropic-version": ANTHROPIC_VERSION, **({"x-api-key": key} if key else {})}

    def body(self, model: str, prompt: Prompt) -> dict[str, Any]:
        """Return a message; the rules are marked to be cached."""
        rules = {"type": "text", "text": prompt.rules, "cache_control": {"type": "ephemeral"}}
        return {
            "model": model,
            "system": [rules],
            "messages": [{"role": "user", "content": prompt.text}],
            "max_tokens": prompt.max_tokens,
        }

    def read(self, answer: Any) -> tuple[str, Usage | None, bool]:
        """Read the blocks of text; `input` counts what came from the cache, too."""
        blocks = _map(answer).get("content")
        if not isinstance(blocks, list):
            raise Told("no list in content")
        texts = [_map(b).get("text") for b in blocks if _map(b).get("type") == "text"]
        told = _map(answer).get("usage")
        usage = None
        if isinstance(told, dict):
            cached = _count(told, "cache_read_input_tokens")
            fresh = _count(told, "input_tokens") + _count(told, "cache_creation_input_tokens")
            usage = Usage(fresh + cached, _count(told, "output_tokens"), cached)
        return "".join(map(str, texts)), usage, _map(answer).get("stop_reason") == "max_tokens"


class GeminiWire:
    """`POST /models/MODEL:generateContent`."""

    def path(self, model: str) -> str:
        """Return where to post."""
        return f"/models/{model}:generateContent"

    def headers(self, key: str | None) -> dict[str, str]:
        """Return the key."""
        return {"x-goog-api-key": key} if key else {}

    def body(self, model: str, prompt: Prompt) -> dict[str, Any]:  # noqa: ARG002
        """Return the contents."""
        config: dict[str, Any] = {"maxOutputTokens": prompt.max_tokens}
        if prompt.schema is not None:
            config["responseMimeType"] = "application/json"
        return {
            "systemInstruction": {"parts": [{"text": prompt.rules}]},
            "contents": [{"role": "user", "parts": [{"text": prompt.text}]}],
            "generationConfig": config,
        }

    def read(self, answer: Any) -> tuple[str, Usage | None, bool]:
        """Read the first candidate without its thoughts."""
        candidate = _first(answer, "candidates")
        parts = _map(candidate.get("content")).get("parts")
        if not isinstance(parts, list):
            raise Told("no list in candidates[0].content.parts")
        texts = [str(_map(p).get("text", "")) for p in parts if not _map(p).get("thought")]
        told = answer.get("usageMetadata")
        usage = None
        if isinstance(told, dict):
            thoughts = _count(told, "thoughtsTokenCount")
            usage = Usage(
                _count(told, "promptTokenCount"),
                _count(told, "candidatesTokenCount") + thoughts,
                _count(told, "cachedContentTokenCount"),
                thoughts,
            )
        return "".join(texts), usage, candidate.get("finishReason") == "MAX_TOKENS"


def _first(answer: Any, name: str) -> Mapping[str, Any]:
    found = _map(answer).get(name)
    if not isinstance(found, list) or not found or not isinstance(found[0], dict):
        raise Told(f"nothing in {name}")
    return found[0]


def _map(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def _count(told: Mapping[str, Any], name: str) -> int:
    value = told.get(name)
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else 0
