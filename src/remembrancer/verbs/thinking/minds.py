"""The language models that verbs may ask, each within its budget, each question counted."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from ...models.llm.types import Llm, LlmFailed, Prompt, Reply, Usage
from ...nouns.clock import Clock
from ...nouns.errors import BudgetSpent
from ...nouns.ids import IdMaker
from ...nouns.memory import BankRef
from ...nouns.text import estimate_tokens
from ..meters import Meters
from .ledger import Ledger
from .traces import Traces

RETAIN, REFLECT, CONSOLIDATION = "retain", "reflect", "consolidation"
VERBS = (RETAIN, REFLECT, CONSOLIDATION)
CALLS, TOKENS = "llm_calls_total", "llm_tokens_total"
"""Names of the counters: calls by verb and outcome, tokens by verb and kind."""


class Minds:
    """Hands out tasks; everything it needs is passed in.

    Args:
        models: by verb; None: that verb does without.
        ledger: what may be used.
        traces: what was asked.
        meters: of this process.
    """

    def __init__(
        self,
        models: Mapping[str, Llm | None],
        ledger: Ledger,
        traces: Traces,
        meters: Meters,
        *,
        ids: IdMaker,
        clock: Clock,
    ) -> None:
        self._models = models
        self._meters = meters
        self._ids = ids
        self._clock = clock
        self.ledger = ledger
        self.traces = traces

    def of(self, verb: str) -> Llm | None:
        """Return the model of a verb, without its budget; None when it does without."""
        return self._models.get(verb)

    def task(self, ref: BankRef, verb: str, *, trace: bytes | None = None) -> Task | None:
        """Return what asks on behalf of one operation of a verb; None when it does without.

        Args:
            ref: the bank it is for.
            verb: one of `VERBS`.
            trace: names the operation in traces; a new id by default.
        """
        llm = self.of(verb)
        if llm is None:
            return None
        return Task(
            llm, self, self._meters, ref, verb, trace or self._ids.new(), self._clock, self._ids
        )

    async def close(self) -> None:
        """Close the connections."""
        for llm in {id(m): m for m in self._models.values() if m is not None}.values():
            await llm.close()


class Task:
    """A language model that is asked for one operation. It is an `Llm` itself."""

    def __init__(
        self,
        llm: Llm,
        minds: Minds,
        meters: Meters,
        ref: BankRef,
        verb: str,
        trace: bytes,
        clock: Clock,
        ids: IdMaker,
    ) -> None:
        self._llm = llm
        self._minds = minds
        self._meters = meters
        self._ref = ref
        self._verb = verb
        self._trace = trace
        self._clock = clock
        self._ids = ids
        self.usage = Usage()
        self.scope = verb  # what the next question is for, in traces
        self.times_ms: list[tuple[str, int]] = []  # of each question, with its scope

    @property
    def name(self) -> str:
        """The model's name."""
        return self._llm.name

    @property
    def attempts(self) -> int:
        """How often one question is sent at most."""
        return self._llm.attempts

    async def ask(self, prompt: Prompt) -> Reply:
        """Answer within the budget, counting what was used, whatever comes of it.

        Raises:
            BudgetSpent: a cap is reached; nothing was sent.
            LlmFailed: there was no answer.
        """
        asked = estimate_tokens(prompt.rules) + estimate_tokens(prompt.text)
        most = asked * self._llm.attempts + prompt.max_tokens
        self._check(most)
        day = await self._minds.ledger.set_aside(self._ref, most)
        begun = self._clock.now_us()
        used, reason = Usage(calls=1, failed=1), "broken"
        try:
            reply = await self._llm.ask(prompt)
            used, reason = reply.usage, ""
            return reply
        except LlmFailed as failed:
            used, reason = failed.usage, failed.reason
            raise
        finally:
            self.usage += used
            await self._minds.ledger.settle(self._ref, day, most, used)
            await self._note(begun, used, reason)

    async def close(self) -> None:
        """Do nothing: the model is everybody's."""

    def wasted(self) -> None:
        """Count the last answer as one that could not be used."""
        self.usage = replace(self.usage, failed=self.usage.failed + 1)
        self._meters.add(CALLS, 1, verb=self._verb, outcome="unusable")

    def _check(self, most: int) -> None:
        caps = self._minds.ledger.caps
        tokens, calls = caps.operation_tokens, caps.operation_calls
        over = tokens is not None and self.usage.total + most > tokens
        if over or (calls is not None and self.usage.calls + 1 > calls):
            cap = f"{tokens} tokens" if over else f"{calls} calls"
            raise BudgetSpent(
                f"the {cap} of language models that one operation may use are used up; what was "
                "done so far is kept, and a retry goes on from there",
                resumes_at=None,
            )

    async def _note(self, begun: int, used: Usage, reason: str) -> None:
        ended = self._clock.now_us()
        ok = used.calls - used.failed
        self._meters.add(CALLS, max(0, ok), verb=self._verb, outcome="answered")
        self._meters.add(CALLS, used.failed, verb=self._verb, outcome="failed")
        self._meters.add(TOKENS, used.input, verb=self._verb, kind="input")
        self._meters.add(TOKENS, used.output, verb=self._verb, kind="output")
        self.times_ms.append((self.scope, (ended - begun) // 1000))
        provider, _, model = self._llm.name.partition(":")
        told = {
            "operation": self._verb,
            "scope": self.scope,
            "trace_id": self._trace.hex(),
            "provider": provider,
            "model": model,
            "status": "error" if reason else "success",
            "error": reason or None,  # no more of it: an endpoint may quote what it was asked
            "input_tokens": used.input,
            "output_tokens": used.output,
            "cached_tokens": used.cached,
            "total_tokens": used.total,
            "calls": used.calls,
            "failed_calls": used.failed,
            "estimated": used.guessed > 0,
        }
        await self._minds.traces.add(self._ref, self._ids.new().hex(), begun, ended, told)
