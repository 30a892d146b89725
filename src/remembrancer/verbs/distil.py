"""distil: insights made by the server's own language model, one question a cluster of memories.

What it says has to stand in the memories; without a model nothing is made. A cluster whose insights
are there is not asked about again, and ids follow from its memories, so nothing is kept twice.
"""

from __future__ import annotations

import hashlib
import logging
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

from ..keeping.store import Store
from ..models.llm.structured import ask_for
from ..models.llm.types import LlmFailed, Prompt
from ..nouns.caller import Caller
from ..nouns.clock import iso
from ..nouns.errors import BudgetSpent, InvalidInput, NotFound
from ..nouns.memory import BankRef
from ..reading.asking.fact_prompt import Passage
from ..reading.asking.grounding import ungrounded
from ..reading.asking.observation_prompt import MOST, RULES, ObservedAnswer, observation_prompt
from .insights import Cluster, Insight, Insights
from .noting import Note, unnoted
from .thinking.minds import REFLECT, Minds, Task

_MEMBERS = 60  # of a cluster, the newest, in one question
_CHARS = 400  # of each
_LEAST_BASIS = 2
_ANSWER_TOKENS = 1_000

log = logging.getLogger(__name__)


@dataclass(slots=True)
class Distilled:
    """What was found and made. `processed` clusters were asked about, or had been before."""

    clusters: int
    read: int
    processed: int = 0
    made: Mapping[BankRef, int] = field(default_factory=dict)

    @property
    def created(self) -> int:
        """Number of insights that were made."""
        return sum(self.made.values())


class Distil:
    """The verb; everything it needs is passed in."""

    def __init__(self, store: Store, insights: Insights, minds: Minds) -> None:
        self._store = store
        self._insights = insights
        self._minds = minds

    async def __call__(
        self,
        caller: Caller,
        bank: BankRef | None,
        since: int | None = None,
        note: Note = unnoted,
    ) -> Distilled:
        """Make insights of the clusters of a bank, or of all that the caller reaches.

        A cluster that the model fails on, or for which there is no budget, is left for next time.

        Args:
            caller: who asks.
            bank: the bank; None: all.
            since: microseconds; what was kept before is left out.
            note: is told how many were made, also when it fails half-way.

        Raises:
            Conflict: a bank changed too often meanwhile; insights made before it are kept.
        """
        clusters, read = await self._insights.clusters(caller, bank, since)
        done = Distilled(len(clusters), read)
        made: Counter[BankRef] = Counter()
        tasks: dict[BankRef, Task | None] = {}
        try:
            for cluster in clusters:
                if cluster.ref not in tasks:
                    tasks[cluster.ref] = self._minds.task(cluster.ref, REFLECT)
                task = tasks[cluster.ref]
                if task is not None and await self._tried(task, cluster, made):
                    done.processed += 1
        finally:
            done.made = {ref: count for ref, count in made.items() if count}
            for ref, count in done.made.items():
                note(ref, insights=count)
        return done

    async def _tried(self, task: Task, cluster: Cluster, made: Counter[BankRef]) -> bool:
        """Make the insights of a cluster; return whether the model was of use."""
        try:
            await self._one(task, cluster, made)
        except (LlmFailed, BudgetSpent, NotFound, InvalidInput) as failed:
            log.warning("a cluster was left as it is: %s", failed.message)
            return False
        return True

    async def _one(self, task: Task, cluster: Cluster, made: Counter[BankRef]) -> None:
        """Make the insights of a cluster, and count them."""
        units = [kept.unit for kept in cluster.members][-_MEMBERS:]
        ids = [_id_of(cluster, number) for number in range(MOST)]
        async with self._store.snapshot(cluster.ref) as view:
            if await view.units(ids):
                return
        shown = [
            Passage(u.text[:_CHARS], u.speaker, None, (iso(u.mentioned_at) or "")[:10])
            for u in units
        ]
        task.scope = "reflect_insights"
        schema = ObservedAnswer.model_json_schema()
        prompt = Prompt(RULES, observation_prompt(shown), schema, _ANSWER_TOKENS)
        answer = (await ask_for(task, prompt, ObservedAnswer, wasted=task.wasted)).value
        count = 0
        for each in answer.observations[:MOST]:
            basis = [units[n - 1] for n in dict.fromkeys(each.based_on) if 1 <= n <= len(units)]
            words = [t for u in basis for t in (u.text, u.speaker or "", iso(u.mentioned_at) or "")]
            text = " ".join(each.text.split())
            fault = ungrounded(text, words, counts_to=len(units), shared=0, free=True)
            if not text or len(basis) < _LEAST_BASIS or fault is not None:
                continue
            share = len(basis) / len(units)
            # The model was shown all of them: forgetting any takes the insight along.
            told = Insight(text, share, tuple(u.id for u in units))
            await self._insights.keep(cluster.ref, ids[count], told)
            made[cluster.ref] += 1
            count += 1


def _id_of(cluster: Cluster, number: int) -> bytes:
    """Return the id of a cluster's insight: the same as long as its memories are."""
    units = [kept.unit for kept in cluster.members]
    said = [(u.id.hex(), u.created_at, u.updated_at) for u in units]
    last = max(u.id for u in units)
    tail = hashlib.blake2b(repr((said, number)).encode(), digest_size=6, key=last).digest()
    return last[:10] + tail
