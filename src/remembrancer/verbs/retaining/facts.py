"""Sources to facts: reads statements and names, what came of what, and who mentions whom."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from ...keeping.batch import EntityMention
from ...keeping.store import Store
from ...nouns.clock import DAY_US
from ...nouns.folding import fold_name
from ...nouns.ids import IdMaker
from ...nouns.memory import (
    BankRef,
    Claim,
    Entity,
    Layer,
    Link,
    LinkType,
    Precision,
    Role,
    Unit,
    UnitRow,
)
from ...reading.causes import find_causes
from ...reading.code import find_code
from ...reading.facts import read_statements
from ...reading.injected import find_injected
from ...reading.markup import find_fences
from ...reading.names import KnownNames
from ...reading.naming import Named, NameFinder, RuleNames
from ...reading.sameness import key_of, repeated
from ...reading.slots import Context, Table, standard
from ...reading.types import Span, Statement
from .claims import Contexts, Tables, placed
from .given import GIVEN_BY, PlacedFact, told_of
from .grounded import READ_BY, fact_row, near
from .units import Source

KNOWN_NAMES = 100  # names of the bank, most mentioned first, that reading looks out for
_BETWEEN = "\n\n"  # stands between two sources that are read together

log = logging.getLogger(__name__)


@dataclass(slots=True)
class ReadFacts:
    """What reading sources gave. `unread` sources failed and are kept without."""

    facts: list[UnitRow] = field(default_factory=list)
    mentions: list[EntityMention] = field(default_factory=list)
    links: list[Link] = field(default_factory=list)
    unread: int = 0


class FactReader:
    """Reads facts; everything it needs is passed in.

    Args:
        ids: makes those of facts.
        tables: gives the slots of a bank.
        names: finds names; the rules alone by default.
    """

    def __init__(
        self, ids: IdMaker, tables: Tables | None = None, names: NameFinder | None = None
    ) -> None:
        self._ids = ids
        self._tables = tables
        self._names = names or RuleNames()

    async def table(self, ref: BankRef) -> Table:
        """Return the slots that are read of a bank."""
        return standard() if self._tables is None else await self._tables(ref)

    def read(
        self,
        sources: Sequence[Source],
        known: KnownNames,
        table: Table | None = None,
        contexts: Contexts | None = None,
    ) -> ReadFacts:
        """Read facts and names; a source whose reading fails is kept without.

        Args:
            sources: of a document, in order.
            known: names to look out for.
            table: the bank's slots; the standard ones by default.
            contexts: what was said in the sources before these, when there were some.
        """
        read = ReadFacts()
        table, contexts = table or standard(), contexts or Contexts()
        mentioned: dict[str, list[bytes]] = {}
        kinds: dict[str, set[str]] = {}
        for source, told in zip(sources, pasted(sources), strict=True):
            unit = source.row.unit
            links: list[Link]
            try:
                context = contexts.of(unit)
                if source.given is not None:
                    mine = self._given(source, source.given, table)
                    links, named = [], []
                else:
                    named = self._named(source, known, told)
                    mine, links = self._read_one(source, known, told, table, context, named)
            except Exception:
                log.exception("reading a source failed; its text is kept")
                read.unread += 1
                continue
            read.facts += mine
            read.links += links
            for each in filter(lambda each: each.kind, named):
                kinds.setdefault(fold_name(each.name), set()).add(each.kind)
            for name in dict.fromkeys((*unit.entities, *_spoken_of(source, named, told))):
                mentioned.setdefault(name, []).append(unit.id)
            for row in mine:
                for name in row.unit.entities:
                    mentioned.setdefault(name, []).append(row.unit.id)
        read.mentions = [
            EntityMention(_entity(self._ids.new(), name, kinds), ids)
            for name, ids in mentioned.items()
        ]
        return read

    def names(self, text: str, known: KnownNames) -> tuple[str, ...]:
        """Return the names in a text, each once."""
        return tuple(dict.fromkeys(each.name for each in self._names.find(text, known)))

    def claims(self, fact: Unit, source: Source, table: Table) -> tuple[Claim, ...]:
        """Return what a fact claims whose words people have changed; `source` is made of it."""
        statements = read_statements(
            fact.text,
            speaker=fact.speaker,
            role=fact.role,
            known=(),
            dates=lambda _: list(source.dates),
            table=table,
        )
        told = [claim for statement in statements for claim in statement.claims]
        return placed(told, fact.mentioned_at, undated=source.undated)

    def _given(
        self, source: Source, placed_facts: Sequence[PlacedFact], table: Table
    ) -> list[UnitRow]:
        """Make facts of what the caller handed in; what they claim rules read in their words."""
        return [self._given_one(source, each, table) for each in placed_facts]

    def _given_one(self, source: Source, placed_fact: PlacedFact, table: Table) -> UnitRow:
        given, span = placed_fact.given, placed_fact.span
        attributes = {READ_BY: GIVEN_BY, **told_of(given)}
        row = fact_row(self._ids, source, given.text, span, given.entities, attributes)
        unit = row.unit
        if given.occurred_start is not None:
            start = given.occurred_start
            end = start + 1 if given.occurred_end is None else max(given.occurred_end, start + 1)
            precision = Precision.DAY if end - start >= DAY_US else Precision.SECOND
            unit = replace(unit, occurred_start=start, occurred_end=end, precision=precision)
        dates = [replace(d, span=Span(0, len(unit.text))) for d in near(source, span)[:1]]
        claims = self.claims(unit, replace(source, dates=tuple(dates)), table)
        return replace(row, unit=unit, claims=claims)

    def _named(self, source: Source, known: KnownNames, hidden: Sequence[Span]) -> list[Named]:
        """Return the names in a source; none in what a system or tool says."""
        unit = source.row.unit
        if unit.role in (Role.SYSTEM, Role.TOOL):
            return []
        return self._names.find(unit.text, known, hidden)

    def _read_one(
        self,
        source: Source,
        known: KnownNames,
        hidden: Sequence[Span],
        table: Table,
        context: Context,
        named: Sequence[Named],
    ) -> tuple[list[UnitRow], list[Link]]:
        unit = source.row.unit
        statements = read_statements(
            unit.text,
            speaker=unit.speaker,
            role=unit.role,
            known=known,
            dates=lambda _: list(source.dates),
            hidden=hidden,
            table=table,
            context=context,
            names=[(each.name, each.span) for each in named],
        )
        names = _spoken_of(source, named, hidden)
        facts = [
            Unit(
                id=self._ids.new(),
                layer=Layer.FACT,
                text=statement.text,
                created_at=unit.created_at,
                mentioned_at=unit.mentioned_at,
                kind=unit.kind,
                document_id=unit.document_id,
                chunk_index=unit.chunk_index,
                turn=unit.turn,
                part=unit.part,
                start=statement.span.start,
                end=statement.span.end,
                source_id=unit.id,
                speaker=unit.speaker,
                role=unit.role,
                subject=statement.subject,
                polarity=statement.polarity,
                modality=statement.modality,
                note=unit.note,
                metadata=unit.metadata,
                tags=unit.tags,
                entities=_names(statement, names, unit.speaker),
                occurred_start=statement.date.start if statement.date else None,
                occurred_end=statement.date.end if statement.date else None,
                precision=statement.date.precision if statement.date else None,
                offset_min=unit.offset_min,
            )
            for statement in statements
        ]
        rows = [
            UnitRow(
                fact,
                same=_key(fact, source),
                claims=placed(statement.claims, unit.mentioned_at, undated=source.undated),
            )
            for fact, statement in zip(facts, statements, strict=True)
        ]
        links = [
            Link(facts[effect].id, facts[cause].id, LinkType.CAUSED_BY)
            for effect, cause in find_causes(unit.text, statements)
        ]
        return rows, links


def pasted(sources: Sequence[Source]) -> list[list[Span]]:
    """Return for each of some sources of a document, in order, the spans that nobody told.

    A block may run over several sources: passages of one turn, or paragraphs of an item that is no
    chat. So these are looked at together.
    """
    found: list[list[Span]] = []
    start = 0
    for end in range(1, len(sources) + 1):
        if end < len(sources) and _goes_on(sources[end - 1], sources[end]):
            continue
        run = [source.row.unit for source in sources[start:end]]
        text = _BETWEEN.join(unit.text for unit in run)
        spans = [*find_injected(text), *find_code(text)]
        spans += find_fences(text) if len(run) > 1 else []
        at = 0
        for unit in run:
            stop = at + len(unit.text)
            mine = [s for s in spans if s.start < stop and s.end > at]
            found.append([Span(max(s.start - at, 0), min(s.end, stop) - at) for s in mine])
            at = stop + len(_BETWEEN)
        start = end
    return found


def _goes_on(one: Source, after: Source) -> bool:
    """Tell whether a source goes on with the text of the one before it."""
    last, unit = one.row.unit, after.row.unit
    if last.document_id != unit.document_id:
        return False
    if last.turn == unit.turn:
        return last.part + 1 == unit.part
    prose = (last.speaker, last.role) == (unit.speaker, unit.role) == (None, Role.NONE)
    together = one.item is not None and one.item == after.item
    return prose and together and last.turn + 1 == unit.turn


def _spoken_of(source: Source, named: Sequence[Named], hidden: Sequence[Span]) -> list[str]:
    """Return who speaks in a source, and whom its text names where somebody told it; each once."""
    unit = source.row.unit
    speaker = [unit.speaker] if unit.speaker else []
    told = (n.name for n in named if not any(_holds(h, n.span) for h in hidden))
    return list(dict.fromkeys((*speaker, *told)))


def _entity(entity_id: bytes, name: str, kinds: Mapping[str, set[str]]) -> Entity:
    """Return an entity with the kind that all say who said one."""
    said = list(kinds.get(fold_name(name), ()))
    return Entity(entity_id, name, said[0]) if len(said) == 1 else Entity(entity_id, name)


def _holds(outer: Span, inner: Span) -> bool:
    return outer.start <= inner.start and inner.end <= outer.end


async def count_known(store: Store, ref: BankRef, facts: Sequence[UnitRow]) -> int:
    """Count the facts, not yet written, that say what the bank or one before them says."""
    keys = [row.same for row in facts if row.same is not None]
    if not keys:
        return 0
    async with store.snapshot(ref) as view:
        return repeated(keys, await view.known_same(keys))


def _names(statement: Statement, spoken_of: Sequence[str], speaker: str | None) -> tuple[str, ...]:
    """Return the names in a statement, and the one that its "he" or "she" means."""
    who = statement.subject
    meant = who in spoken_of and who != speaker and who not in statement.names
    return (who, *statement.names) if meant and who else statement.names


def _key(fact: Unit, source: Source) -> bytes | None:
    """Return the key of what a fact says, from the dates in it and what was said before it."""
    dates = [d for d in source.dates if d.span.start >= fact.start and d.span.end <= fact.end]
    return key_of(fact, dates, f"{source.before}\n{source.row.unit.text[: fact.start]}")
