"""What is asked of a language model, what it answers, what that used, and how it fails."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from ...nouns.errors import ModelUnavailable


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens and requests. `failed` counts requests that gave no answer, or none of use.

    `guessed`: requests whose tokens the endpoint did not tell, so that what was sent is estimated.
    """

    input: int = 0
    output: int = 0
    cached: int = 0  # of the input: read from the endpoint's cache
    thoughts: int = 0  # of the output: reasoning that is not shown
    calls: int = 0
    failed: int = 0
    guessed: int = 0

    @property
    def total(self) -> int:
        """Tokens sent and received."""
        return self.input + self.output

    def __add__(self, other: Usage) -> Usage:
        return Usage(
            self.input + other.input,
            self.output + other.output,
            self.cached + other.cached,
            self.thoughts + other.thoughts,
            self.calls + other.calls,
            self.failed + other.failed,
            self.guessed + other.guessed,
        )


NONE = Usage()


@dataclass(frozen=True, slots=True)
class Prompt:
    """What is asked. `rules` are fixed for a kind of work, so that endpoints can cache them.

    `schema` is the JSON Schema of the object to answer with; None: an answer in words.
    """

    rules: str
    text: str
    schema: Mapping[str, Any] | None = None
    max_tokens: int = 2048  # of the answer


@dataclass(frozen=True, slots=True)
class Reply:
    """What came back. `cut`: it ends because `max_tokens` was reached."""

    text: str
    usage: Usage
    cut: bool = False


class Llm(Protocol):
    """A language model."""

    @property
    def name(self) -> str:
        """How settings spell it, as `openai:gpt-5-mini`."""
        ...

    @property
    def attempts(self) -> int:
        """How often one question is sent at most."""
        ...

    async def ask(self, prompt: Prompt) -> Reply:
        """Answer once.

        Raises:
            LlmFailed: there was no answer; it holds what was used all the same.
        """
        ...

    async def close(self) -> None:
        """Close the connections."""
        ...


class LlmFailed(ModelUnavailable):
    """A language model gave no answer, or none that can be used.

    Attributes:
        reason: `auth`, `refused`, `timeout`, `unreachable`, `limited`, `broken` or `unsound`.
        usage: what was used on the way.
    """

    code = "llm_failed"

    def __init__(self, message: str, *, reason: str, usage: Usage = NONE) -> None:
        super().__init__(message)
        self.reason = reason
        self.usage = usage
