"""`AsyncMemory`: the verbs as async methods with plain arguments."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from ...app import App
from ...finding.composite import ScoringWeights
from ...finding.search import Weights
from ...models.embedder import Floats
from ...nouns.clock import MICROSECOND, Clock
from ...nouns.errors import InvalidInput
from ...nouns.ids import parse_id
from ...nouns.names import bank_ref
from ...reading.recurrence.zones import zone_of
from ...settings import Settings, fault_of
from ...verbs.answering import Asking
from ...verbs.prime import defaults
from ...verbs.priming.text import compose
from ...verbs.recall import RecallOptions
from ...verbs.reflect import ReflectOptions
from ...verbs.retain import Progress
from ...verbs.retaining.units import Item
from ...verbs.status import Status
from .arguments import (
    Messages,
    appends,
    filter_of,
    kind_of,
    labels_of,
    least_of,
    offset_of,
    order_of,
    question_of,
    said_at,
    scopes_of,
    strings_of,
    text_of,
    us_of,
)
from .entities import EntityVerbs
from .facts import facts_of
from .results import (
    Answers,
    Erased,
    HeldValue,
    Kept,
    PrimedContext,
    Reflected,
    answers_of,
    context_of,
    erased_of,
    held_of,
    kept_of,
    reflected_of,
)

if TYPE_CHECKING:
    from .prospective import AsyncProspectiveMemoryManager


class AsyncMemory(EntityVerbs):
    """An open memory. Use it as `async with remembrancer.open_async(folder) as memory:`.

    Every method takes `bank`: one mind, such as a user or an agent. Banks come into being when
    something is retained. Errors are `remembrancer.RemembrancerError` and its kinds.
    """

    def __init__(self, settings: Settings, clock: Clock | None = None) -> None:
        self._settings = settings
        self._clock = clock
        self._app: App | None = None

    async def open(self) -> Self:
        """Open the memory; `async with` does it."""
        if self._app is None:
            self._app = await App.open(self._settings, clock=self._clock)
        return self

    async def close(self) -> None:
        """Close it; what was acknowledged stays."""
        if self._app is not None:
            app, self._app = self._app, None
            await app.close()

    async def __aenter__(self) -> Self:
        return await self.open()

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def retain(
        self,
        content: str | Messages,
        *,
        bank: str = "default",
        timestamp: datetime | None = None,
        document: str | None = None,
        note: str | None = None,
        metadata: Mapping[str, str] | None = None,
        tags: Iterable[str] = (),
        entities: Iterable[str] = (),
        update_mode: str = "replace",
        observation_scopes: str | Sequence[Sequence[str]] | None = None,
        facts: Iterable[Mapping[str, Any]] | None = None,
        progress: Progress | None = None,
    ) -> Kept:
        """Keep one thing: a text, a chat as text, Markdown, or a list of messages.

        Args:
            content: text, or messages such as `{"role": "user", "content": "…"}`; a message may
                have a `name` and a `timestamp`.
            bank: whose memory.
            timestamp: when it was said; now by default. Its offset is kept.
            document: your own name for it; retaining the same name again replaces it, and only
                what is new in it is read.
            note: what the text is about or where it is from.
            metadata: strings to keep with it.
            tags: labels to filter by.
            entities: names that it mentions, beside those that are found.
            update_mode: `append` puts it after the end of the document instead of replacing it.
            observation_scopes: which observations it counts for: `combined` (those with all of its
                tags; the default), `per_tag`, `all_combinations`, `shared`, or sets of tags.
            facts: those that you have extracted yourself, in the place of those that would be read:
                mappings with `text`, and `quote` (the words of the content that state it),
                `entities`, `occurred_start` and `occurred_end` (datetimes) as you have them. What
                does not stand in the content is not taken, and told in `Kept.refused`.
            progress: called with the units done and the units in all; a `Memory` cannot be used
                by it.

        Raises:
            InvalidInput, TooLarge: nothing was stored.
        """
        item = Item(
            text_of(content),
            note=note,
            metadata=strings_of(metadata),
            document=document,
            tags=labels_of(tags),
            entities=labels_of(entities),
            append=appends(update_mode),
            observation_scopes=scopes_of(observation_scopes),
            facts=None if facts is None else facts_of(facts),
        )
        return await self.retain_many([said_at(item, timestamp)], bank=bank, progress=progress)

    async def retain_many(
        self, items: Sequence[Item], *, bank: str = "default", progress: Progress | None = None
    ) -> Kept:
        """Keep several items; those that name the same document become one."""
        return kept_of(await self._open.retain(bank_ref(bank), items, progress))

    async def recall(
        self,
        question: str,
        *,
        bank: str = "default",
        limit: int = 10,
        max_tokens: int | None = None,
        kinds: Iterable[str] | None = None,
        tags: Sequence[str] | None = None,
        tags_match: str = "any",
        tag_groups: Sequence[Mapping[str, Any]] | None = None,
        min_scores: Mapping[str, float] | None = None,
        banks: Iterable[str] | None = None,
        now: datetime | None = None,
        since: datetime | None = None,
        until: datetime | None = None,
        weights: Weights | None = None,
        vector: Floats | None = None,
        as_of: datetime | None = None,
        min_relevance: float | None = None,
        neighbours: int = 0,
    ) -> Answers:
        """Find what answers a question, best first.

        Args:
            question: in plain words. A time that it names ("in May", "last week") is preferred.
            bank: whose memory.
            limit: answers at most.
            max_tokens: estimated tokens of all answers' texts at most (4,096 by default).
            kinds: `world`, `experience`, `observation`; all by default.
            tags: labels to filter by, see `tags_match`.
            tags_match: any, all, any_strict, all_strict, exact; the strict ones leave out what
                has no tags.
            tag_groups: trees of filters instead of `tags`, all of which must be met: leaves
                `{"tags": [...], "match": "any_strict"}`, joined by `and`, `or`, `not`.
            min_scores: lowest `semantic` (cosine), `keyword` (BM25) and `final` scores.
            banks: search these instead of `bank`, as one; 100 at most.
            now: when the question is asked, for "yesterday" and the like; now by default.
            since: prefer what happened or was said from here, instead of a time in the question.
            until: and before here.
            weights: how much each arm counts; for measuring.
            vector: a question vector to use instead of embedding the question.
            as_of: answer with what held then: what was said later is left out, unless it tells of
                then.
            min_relevance: leave out answers that are less likely than this to bear on the question,
                0 to 1; .2 for the few that surely do. By default nothing is answered when the bank
                seems to know nothing of it, and else all but what is hopeless; 0 turns that off.
            neighbours: so many turns before and after each answer come along in its `before` and
                `after`, as far as `max_tokens` goes; 10 at most.

        Raises:
            InvalidInput: an empty or over-long question, an unknown kind or match.
        """
        options = RecallOptions(
            limit=limit,
            max_tokens=self._settings.recall_max_tokens if max_tokens is None else max_tokens,
            kinds=None if kinds is None else [kind_of(k) for k in kinds],
            tags=filter_of(tags, tags_match, tag_groups),
            least=None if min_scores is None else least_of(min_scores),
            now=us_of(now, "now"),
            offset_min=offset_of(now),
            since=us_of(since, "since"),
            until=us_of(until, "until"),
            weights=weights or Weights(),
            vector=vector,
            as_of=us_of(as_of, "as_of"),
            min_relevance=min_relevance,
            neighbours=neighbours,
        )
        if banks is None:
            return answers_of(
                await self._open.recall(bank_ref(bank), question_of(question), options)
            )
        refs = [bank_ref(name, "banks") for name in labels_of(banks)]
        return answers_of(await self._open.across(refs, question_of(question), options))

    async def history(
        self,
        what: str,
        *,
        bank: str = "default",
        as_of: datetime | None = None,
    ) -> tuple[HeldValue, ...]:
        """Return the values that an attribute had, one after the other, oldest first.

        Args:
            what: the id of a memory or a fact about it, or a question ("Where do I live?"): then it
                is what the best answer that tells of any attribute is about.
            bank: whose memory.
            as_of: the time at which `HeldValue.holds` is told; now by default.

        Raises:
            NotFound: there is no memory of that id.
            InvalidInput: an empty or over-long question.
        """
        app, ref = self._open, bank_ref(bank)
        what = question_of(what, "what")
        at = us_of(as_of, "as_of")
        try:
            unit_id = parse_id(what)
        except InvalidInput:
            found = await app.truth.asked(ref, what, RecallOptions(limit=5, as_of=at))
        else:
            found = await app.truth.history(ref, unit_id, at)
        return tuple(map(held_of, found))

    async def reflect(
        self,
        question: str,
        *,
        bank: str = "default",
        limit: int = 10,
        max_tokens: int = 4096,
        kinds: Iterable[str] | None = None,
        tags: Sequence[str] | None = None,
        tags_match: str = "any",
        tag_groups: Sequence[Mapping[str, Any]] | None = None,
        schema: Mapping[str, Any] | None = None,
        now: datetime | None = None,
    ) -> Reflected:
        """Answer a question in words: quoted, or, with a language model, in its own.

        What a model says is held against what was found; what does not hold, or a model that
        fails, gives way to the quoted answer, and `Reflected.degraded` says why.

        Args:
            question: in plain words.
            bank: whose memory.
            limit: memories looked at, at most.
            max_tokens: estimated tokens of the text at most.
            kinds, tags, tags_match, tag_groups: as for `recall`.
            schema: JSON Schema of an object to fill from what is known.
            now: when it is asked; now by default. What has passed by then is told as past.

        Raises:
            InvalidInput: an empty or over-long question, or a schema that is none.
        """
        options = ReflectOptions(
            limit=limit,
            max_tokens=max_tokens,
            kinds=None if kinds is None else [kind_of(k) for k in kinds],
            tags=filter_of(tags, tags_match, tag_groups),
            schema=schema,
            now=us_of(now, "now"),
            offset_min=offset_of(now),
        )
        asking = Asking(labels_of(tags or ()))
        return reflected_of(
            await self._open.answering(bank_ref(bank), question_of(question), options, asking)
        )

    async def prime(
        self,
        *,
        bank: str = "default",
        cue: str | None = None,
        max_memories: int | None = None,
        temporal_ratio: float | None = None,
        window: timedelta | None = None,
        weights: ScoringWeights | None = None,
        reinforce: bool = True,
        order: str = "score",
        max_tokens: int | None = None,
        now: datetime | None = None,
        zone: str | None = None,
        text: bool = False,
    ) -> PrimedContext:
        """Return the context that a conversation should start with.

        What has the tag `pinned` or `instruction`, or `pinned: true` among its attributes or
        metadata, comes first whatever else there is.

        Args:
            bank: whose memory.
            cue: what the conversation is about; without it the most recent memories come.
            max_memories: at most; 200 at most. What the bank is set to (20) by default, as are:
            temporal_ratio: share of recent ones with a cue, 0 to 1 (.5);
            window: how far back is recent (7 days). Older ones only fill up.
            weights: of the composite score.
            reinforce: count this as a use of the memories returned.
            order: `score`, or `blocks`: recent ones, oldest first, then similar ones by score.
            max_tokens: estimated tokens of all texts at most.
            now: the time that ages are counted from; now by default.
            zone: IANA name of the zone that `text` spells dates in; that of `now` by default.
            text: make `PrimedContext.text`, too: one string to put into a prompt.

        Raises:
            InvalidInput: a value out of bounds, an unknown order or zone.
        """
        app, ref = self._open, bank_ref(bank)
        where = zone_of(zone) if zone is not None else now.tzinfo if now else None
        config = await app.configs.of(ref)
        options = replace(
            defaults(
                config,
                max_memories,
                temporal_ratio,
                None if window is None else window // MICROSECOND,
            ),
            cue=cue,
            weights=weights or ScoringWeights(),
            reinforce=reinforce,
            order=order_of(order),
            max_tokens=max_tokens,
            now=us_of(now, "now"),
            facts=text,
        )
        context = await app.prime(ref, options)
        due = await app.due(ref, cue) if context.intends else []
        whole = compose(context, due, zone=where, max_tokens=max_tokens) if text else None
        return context_of(context, due, whole)

    async def forget(
        self, ids: Iterable[str] = (), *, documents: Iterable[str] = (), bank: str = "default"
    ) -> Erased:
        """Erase memories by id, or whole documents by name; see `verbs.forget`."""
        receipt = await self._open.forget(
            bank_ref(bank), unit_ids=[parse_id(i) for i in ids], documents=list(documents)
        )
        self._open.worker.wake()
        return erased_of(receipt)

    def prospective(self, bank: str = "default", **options: Any) -> AsyncProspectiveMemoryManager:
        """Return what the agent means to do later, of one bank.

        Args:
            bank: whose intentions.
            options: `mode`, `lease_s`, `compat`; see `AsyncProspectiveMemoryManager`.
        """
        from .prospective import AsyncProspectiveMemoryManager  # noqa: PLC0415

        return AsyncProspectiveMemoryManager(bank=bank, memory=self, **options)

    async def status(self) -> Status:
        """Report what is here, which models are in use, and what should be known."""
        return await self._open.status()

    @property
    def opened(self) -> bool:
        """Whether it is open."""
        return self._app is not None

    @property
    def app(self) -> App:
        """The verbs themselves.

        Raises:
            InvalidInput: the memory is not open.
        """
        return self._open

    @property
    def _open(self) -> App:
        if self._app is None:
            raise InvalidInput("this memory is not open: use it in a `with` block")
        return self._app


def make_settings(folder: str | Path | None, options: Mapping[str, Any]) -> Settings:
    """Return settings for a folder and further settings by name."""
    try:
        settings = Settings(**options)
    except ValueError as error:
        field, what = fault_of(error)
        raise InvalidInput(f"setting {field}: {what}" if field else what, field=field) from None
    return settings if folder is None else settings.model_copy(update={"data": Path(folder)})
