"""`RemembrancerToolset`: a Pydantic AI agent's tools over a memory, and what it knows at once."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from pydantic_ai import FunctionToolset, ModelRetry, RunContext
from pydantic_ai.tools import AgentDepsT

from ...nouns.errors import InvalidInput
from ..library.memory import AsyncMemory
from .errors import as_value_errors
from .holding import Held, Host

MAX_TOKENS = 1_500
"""Of what a run starts with, by default."""

Bank = str | Callable[[RunContext[AgentDepsT]], str]


class RemembrancerToolset(FunctionToolset[AgentDepsT]):
    """Tools `retain`, `recall` and `remind`; its instructions are what the memory primes.

    `Agent(model, toolsets=[RemembrancerToolset("./memory")])` has both. What a tool cannot take is
    told to the model, to be mended.

    Args:
        memory: an open `remembrancer.Memory`, a folder, or None for the folder of the settings.
        bank: whose memory, or what tells it from the run's context, such as
            `lambda ctx: ctx.deps.user_id`.
        prime: whether the toolset's instructions hold what is known; see `primed`.
        max_tokens: of those, estimated, at most.
        zone: IANA name of the zone in which the model and its user speak of times.
        id: of the toolset.
        settings: of the memory that is opened here, such as `embedder="none"`.
    """

    def __init__(
        self,
        memory: Host | str | Path | None = None,
        *,
        bank: Bank[AgentDepsT] = "default",
        prime: bool = True,
        max_tokens: int = MAX_TOKENS,
        zone: str = "UTC",
        id: str | None = "remembrancer",  # noqa: A002
        **settings: Any,
    ) -> None:
        super().__init__(id=id, instructions=self.primed if prime else None)
        self._bank = bank
        self._max_tokens = max_tokens
        self._zone = zone
        with as_value_errors():
            self._held = Held(memory, settings)
        for tool in (self._retain, self._recall, self._remind):
            self.add_function(tool, name=tool.__name__.removeprefix("_"))

    async def primed(self, ctx: RunContext[AgentDepsT]) -> str | None:
        """Return what a run should know from the start; None when nothing is known.

        Where the toolset is made with `prime=False`, it can be an agent's `instructions`.
        """
        cue = ctx.prompt if isinstance(ctx.prompt, str) and ctx.prompt.strip() else None
        context = await self._held.until(
            self._memory.prime(
                bank=self._of(ctx),
                cue=cue,
                max_tokens=self._max_tokens,
                zone=self._zone,
                reinforce=not any(message.kind == "response" for message in ctx.messages),
                text=True,
            )
        )
        return context.text or None

    async def _retain(
        self, ctx: RunContext[AgentDepsT], content: str, tags: list[str] | None = None
    ) -> str:
        """Keep something for later conversations: what the user is, wants, decided or did.

        Args:
            ctx: the run.
            content: what to keep, in whole sentences that say whom it is about.
            tags: labels to find it by.
        """
        work = self._memory.retain(content, bank=self._of(ctx), tags=tags or ())
        with _mendable():
            await self._held.until(work)
        return "kept"

    async def _recall(
        self, ctx: RunContext[AgentDepsT], question: str, limit: int = 5
    ) -> list[dict[str, str]]:
        """Look something up in what was said in earlier conversations, best first.

        Args:
            ctx: the run.
            question: in plain words; it may name a time, such as "last week".
            limit: how many memories at most.
        """
        work = self._memory.recall(question, bank=self._of(ctx), limit=limit)
        with _mendable():
            found = await self._held.until(work)
        return [
            {"text": answer.memory.text, "said_at": answer.memory.said_at.isoformat()}
            for answer in found
        ]

    async def _remind(
        self,
        ctx: RunContext[AgentDepsT],
        content: str,
        at: str | None = None,
        event: str | None = None,
        topic: str | None = None,
    ) -> str:
        """Remember to do something later: give one of a time, an event and a topic.

        Args:
            ctx: the run.
            content: what is to be done.
            at: when, in words or ISO 8601, such as "friday 9:00" or "every monday at 8".
            event: the name of an event after which it is due.
            topic: what the conversation has to turn to for it to be due.
        """
        ways = [
            {"trigger_type": kind, name: value}
            for kind, name, value in (
                ("time_based", "at", at),
                ("event_based", "trigger_event", event),
                ("context_based", "cue_text", topic),
            )
            if value is not None
        ]
        if len(ways) != 1:
            raise ModelRetry("give just one of at, event and topic")
        told = ways[0] if at is None else {**ways[0], "zone": self._zone}
        manager = self._memory.prospective(bank=self._of(ctx))
        with _mendable():
            made = await self._held.until(manager.register(content=content, **told))
        return f"registered as {made.id}"

    def close(self) -> None:
        """Close the memory that was opened here; safe to call twice."""
        self._held.close()

    @property
    def _memory(self) -> AsyncMemory:
        return self._held.memory

    def _of(self, ctx: RunContext[AgentDepsT]) -> str:
        return self._bank if isinstance(self._bank, str) else self._bank(ctx)


@contextmanager
def _mendable() -> Iterator[None]:
    """Tell the model of input that cannot be taken, so that it tries again."""
    try:
        yield
    except InvalidInput as error:
        raise ModelRetry(error.message) from None
