"""`RemembrancerMemoryBlock`: LlamaIndex's long-term memory block over a memory of ours."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, Self

from llama_index.core.base.llms.types import ChatMessage
from llama_index.core.memory import BaseMemoryBlock, Memory
from pydantic import PrivateAttr

from ...nouns.names import bank_ref
from .errors import as_value_errors
from .holding import Held, Host

MAX_TOKENS = 1_500
"""Of what a block gives, by default."""

_SESSION = "session_id"  # where LlamaIndex puts it, among a message's additional_kwargs
_TOKEN_CHARS = 6  # rather too many: what is still too long is left out whole


class RemembrancerMemoryBlock(BaseMemoryBlock[str]):  # type: ignore[misc, unused-ignore]
    """Keeps what leaves the short-term memory; gives what is known of what is talked about.

    Put it into `Memory.from_defaults(memory_blocks=[...])`. It primes on the last message of the
    user. What users and assistants say is kept, each session as a document; calls of tools are not.

    Args:
        memory: an open `remembrancer.Memory`, a folder, or None for the folder of the settings.
        bank: whose memory.
        name: of the block, which stands as a tag around its text.
        description: of the block.
        priority: of the block; 0 is never shortened.
        max_tokens: of what it gives, estimated, at most.
        accept_short_term_memory: whether what leaves the short-term memory is kept.
        settings: of the memory that is opened here, such as `embedder="none"`.

    Raises:
        ValueError: input that cannot be taken (`remembrancer.InvalidInput`).
    """

    bank: str
    max_tokens: int
    _held: Held = PrivateAttr()

    def __init__(
        self,
        memory: Host | str | Path | None = None,
        *,
        bank: str = "default",
        name: str = "long_term_memory",
        description: str | None = None,
        priority: int = 1,
        max_tokens: int = MAX_TOKENS,
        accept_short_term_memory: bool = True,
        **settings: Any,
    ) -> None:
        super().__init__(
            name=name,
            description=description,
            priority=priority,
            accept_short_term_memory=accept_short_term_memory,
            bank=bank,
            max_tokens=max_tokens,
        )
        with as_value_errors():
            bank_ref(bank)
            self._held = Held(memory, settings)

    async def akeep(self, memory: Memory) -> None:
        """Keep a session whole: also what has not left the short-term memory yet.

        What is known of it already is left as it is, so this may be called after every turn. Make
        the block with `accept_short_term_memory=False` then, so that nothing is kept twice.
        """
        await self._retain(memory.session_id, await memory.aget_all(), whole=True)

    async def atruncate(self, content: str, tokens_to_truncate: int) -> str | None:
        """Leave out lines from the end, where what counts least stands."""
        left = len(content) - tokens_to_truncate * _TOKEN_CHARS
        lines = content.split("\n")
        while lines and sum(len(line) + 1 for line in lines) - 1 > left:
            lines.pop()
        return "\n".join(lines) or None

    def close(self) -> None:
        """Close the memory that was opened here; safe to call twice."""
        self._held.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        self.close()

    async def _aget(
        self,
        messages: list[ChatMessage] | None = None,
        **_: Any,
    ) -> str:
        cues = [m.content for m in messages or () if m.role.value == "user" and m.content]
        with as_value_errors():
            context = await self._held.until(
                self._held.memory.prime(
                    bank=self.bank,
                    cue=cues[-1] if cues else None,
                    max_tokens=self.max_tokens,
                    text=True,
                )
            )
        return context.text or ""

    async def _aput(self, messages: list[ChatMessage]) -> None:
        for session, said in _sessions(messages):
            await self._retain(session, said, whole=False)

    async def _retain(
        self, session: str | None, messages: Sequence[ChatMessage], *, whole: bool
    ) -> None:
        turns = [
            {"role": message.role.value, "content": message.content}
            for message in messages
            if message.role.value in {"user", "assistant"} and message.content
        ]
        if not turns:
            return
        append = session is not None and not whole
        with as_value_errors():
            await self._held.until(
                self._held.memory.retain(
                    turns,
                    bank=self.bank,
                    document=session,
                    update_mode="append" if append else "replace",
                )
            )


def _sessions(messages: Iterable[ChatMessage]) -> list[tuple[str | None, list[ChatMessage]]]:
    """Return messages by the session that they are of, in their order."""
    found: dict[str | None, list[ChatMessage]] = {}
    for message in messages:
        found.setdefault(message.additional_kwargs.get(_SESSION), []).append(message)
    return list(found.items())
