"""Makes the language model that the settings name."""

from __future__ import annotations

from dataclasses import dataclass

from ...nouns.errors import InvalidInput
from .client import HttpLlm
from .types import Llm
from .wires import AnthropicWire, GeminiWire, OpenAIWire, Wire


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Where a model is asked, and how long and how often."""

    url: str | None = None
    key: str | None = None
    timeout: float = 120.0
    retries: int = 3
    concurrency: int = 4


_BASE = {
    "openai": "https://api.openai.com/v1",
    "anthropic": "https://api.anthropic.com",
    "gemini": "https://generativelanguage.googleapis.com/v1beta",
    "ollama": "http://127.0.0.1:11434/v1",
}
KINDS = tuple(_BASE)


def make_llm(spec: str, endpoint: Endpoint) -> Llm | None:
    """Make a model from `KIND:MODEL`; None for `none` or nothing.

    With a base URL of its own `openai:` speaks to anything compatible with OpenAI.

    Raises:
        InvalidInput: it names no model that is known.
        ModelUnavailable: httpx is not installed.
    """
    spec = spec.strip()
    if spec in {"", "none"}:
        return None
    kind, _, model = spec.partition(":")
    if kind not in _BASE or not model:
        raise InvalidInput(
            f"llm is {spec[:100]!r}; give none, or KIND:MODEL with one of {', '.join(KINDS)}",
            field="llm",
        )
    return HttpLlm(
        spec,
        model,
        _wire(kind, endpoint.url),
        base_url=endpoint.url or _BASE[kind],
        api_key=endpoint.key,
        timeout=endpoint.timeout,
        retries=endpoint.retries,
        concurrency=endpoint.concurrency,
    )


def _wire(kind: str, url: str | None) -> Wire:
    if kind == "anthropic":
        return AnthropicWire()
    if kind == "gemini":
        return GeminiWire()
    return OpenAIWire(own=kind == "openai" and url is None)
