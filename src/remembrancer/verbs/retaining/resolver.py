"""Names to entities: finds for each name that was read or given the entity of the bank it means.

It runs between reading and writing. What it decides is a proposal: the store has the last word,
for in its transaction a name is looked up again, so that two writers never make two entities of
one name.

Within one call the order of names does not matter. Over several it does: a first name that comes
before any full name stays an entity of its own, and a name once decided is not decided again.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace

from ...keeping.batch import EntityMention
from ...keeping.store import Store
from ...keeping.view import View
from ...nouns.folding import fold_name
from ...nouns.memory import BankRef, Entity, UnitRow
from ...reading.resolution import (
    NO_KIND,
    PERSON,
    Known,
    Person,
    by_initial,
    choose,
    order,
    person,
)
from .units import Item, Source

_MOST_LIKE = 20  # names that begin with one first name; with more, none is meant


@dataclass(frozen=True, slots=True)
class Told:
    """What callers told about names.

    Attributes:
        kinds: by name, what it is.
        exact: ids of the sources whose names are taken as they are (`resolve_entities` false).
        speakers: who speaks in the document; no two of them are one.
    """

    kinds: Mapping[str, str] = field(default_factory=dict)
    exact: Set[bytes] = frozenset()
    speakers: Set[str] = frozenset()


def told_of(items: Sequence[Item], sources: Sequence[Source]) -> Told:
    """Return what the items of a document tell about the names in its sources."""
    plain = {number for number, item in enumerate(items) if not item.resolve_entities}
    return Told(
        kinds={name: kind for item in items for name, kind in (item.entity_kinds or {}).items()},
        exact=frozenset(s.row.unit.id for s in sources if s.item in plain),
        speakers=frozenset(s.row.unit.speaker for s in sources if s.row.unit.speaker),
    )


@dataclass(slots=True)
class _Name:
    """All that is known of the names with one fold."""

    spellings: Counter[str] = field(default_factory=Counter)  # by how many units
    units: set[bytes] = field(default_factory=set)
    told: str = ""  # its kind, by callers
    read: set[str] = field(default_factory=set)  # kinds that reading gave it
    exact: bool = False

    @property
    def kind(self) -> str:
        """What it is: as callers told, else as all say who read one; empty when that is unsure."""
        if self.told.casefold() not in NO_KIND:
            return self.told
        return next(iter(self.read)) if len(self.read) == 1 else self.told

    @property
    def spelling(self) -> str:
        """The spelling to go by: the usual one, with few capitals, but some; whatever the order."""

        def key(name: str) -> tuple[int, bool, int, str]:
            capitals = sum(char.isupper() for char in name)
            return -self.spellings[name], capitals == 0, capitals, name

        return min(self.spellings, key=key)


class Resolver:
    """Decides what names mean; the store is passed in."""

    def __init__(self, store: Store) -> None:
        self._store = store

    async def given(
        self, ref: BankRef, sources: Sequence[Source], told: Told
    ) -> tuple[list[Source], Told]:
        """Return sources whose `entities`, as their caller gave them, have canonical names.

        What was told of the names is returned with it, by those names.
        """
        names: dict[str, _Name] = {}
        for source in sources:
            unit = source.row.unit
            for name in unit.entities:
                _note(names, name, [unit.id], told, exact=unit.id in told.exact)
        if not names:
            return list(sources), told
        meant = await self._meant(ref, names, told)
        kinds = {meant.get(fold_name(name), name): kind for name, kind in told.kinds.items()}
        renamed = [replace(s, row=_renamed(s.row, meant)) for s in sources]
        return renamed, replace(told, kinds=kinds)

    async def read(
        self, ref: BankRef, mentions: Sequence[EntityMention], facts: Sequence[UnitRow], told: Told
    ) -> tuple[list[EntityMention], list[UnitRow]]:
        """Return mentions and facts with canonical names; mentions of one entity become one."""
        names: dict[str, _Name] = {}
        exact = told.exact | {f.unit.id for f in facts if f.unit.source_id in told.exact}
        for mention in mentions:
            as_is = not exact.isdisjoint(mention.unit_ids)
            for name in (mention.entity.name, *mention.spellings):
                noted = _note(names, name, mention.unit_ids, told, exact=as_is)
                if mention.entity.kind.casefold() not in NO_KIND:
                    noted.read.add(mention.entity.kind)
        for folded in map(fold_name, told.speakers):
            if folded in names:  # who speaks is no place, whatever was read
                names[folded].read &= {PERSON}
        meant = await self._meant(ref, names, told)
        return _joined(mentions, names, meant), [_renamed(row, meant) for row in facts]

    async def _meant(
        self, ref: BankRef, names: Mapping[str, _Name], told: Told
    ) -> Mapping[str, str]:
        """Return by fold the canonical name of what each name means."""
        async with self._store.snapshot(ref) as view:
            called = await view.entities_called(list(names))
            people = _people(names, called)
            bank = await _Bank.read(view, people.values())
        speakers = {fold_name(name) for name in told.speakers}
        decided = _Decided(names, called, speakers)
        for folded in order({f: n.kind for f, n in names.items() if f not in called}):
            decided.decide(folded, people.get(folded), bank)
        return decided.meant


@dataclass(frozen=True, slots=True)
class _Bank:
    """The entities of a bank that some people's names may mean."""

    called: Mapping[str, Entity]
    beginning: Mapping[str, list[tuple[str, Entity]]]

    @classmethod
    async def read(cls, view: View, people: Iterable[Person]) -> _Bank:
        people = list(people)
        called = await view.entities_called([name for p in people for name in p.like])
        words = [word for p in people for word in p.beginnings]
        return cls(called, await view.entities_beginning(words, _MOST_LIKE + 1))

    def like(self, name: Person) -> list[Known] | None:
        """Return what a name may mean; None when there is too much of it."""
        found = [(folded, self.called[folded]) for folded in name.like if folded in self.called]
        for word in name.beginnings:
            longer = self.beginning.get(word, [])
            if len(longer) > _MOST_LIKE:
                return None
            found += longer
        return [Known(e.id, e.name, folded, e.kind) for folded, e in found]


class _Decided:
    """The names of one call, decided one by one."""

    def __init__(
        self, names: Mapping[str, _Name], called: Mapping[str, Entity], speakers: Set[str]
    ) -> None:
        self._names = names
        self._speakers = speakers
        self._new: dict[str, list[Known]] = {}  # by first word: names that are new in this call
        self._units: dict[bytes, dict[str, set[bytes]]] = {}  # by entity, by first word
        self._spoken: set[bytes] = set()  # entities that speak
        self._said: list[Known] = []  # what the names of this call mean, in the words they said
        self.meant: dict[str, str] = {}
        for folded, entity in called.items():
            self._take(folded, entity.id, entity.name)
        for folded, name in names.items():
            if name.exact and folded not in called:
                self._add(folded)

    def decide(self, folded: str, name: Person | None, bank: _Bank) -> None:
        """Decide what a name means that the bank does not have."""
        if folded in self.meant:
            return
        found = None if name is None else bank.like(name)
        if name is None or found is None:
            self._add(folded)
            return
        for first in {name.first, *(like.partition(" ")[0] for like in name.like)}:
            found += self._new.get(first, ())
        found = [self._as_person(known) for known in found]
        one = choose(name, self._kind(folded), found) or by_initial(name, self._said)
        if one is None or self._contradicts(folded, name, one):
            self._add(folded)
        else:
            self._take(folded, one.id, one.name)

    def _kind(self, folded: str) -> str:
        """Return the kind of a name; who speaks is a person unless somebody said otherwise."""
        kind = self._names[folded].kind
        return PERSON if folded in self._speakers and kind.casefold() in NO_KIND else kind

    def _as_person(self, known: Known) -> Known:
        unsaid = known.kind.casefold() in NO_KIND
        return replace(known, kind=PERSON) if unsaid and known.folded in self._speakers else known

    def _contradicts(self, folded: str, name: Person, known: Known) -> bool:
        """Two who speak in one document, or stand as Bob and Robert in one memory, are two."""
        if folded in self._speakers and known.id in self._spoken:
            return True
        mine = self._names[folded].units
        beside = self._units.get(known.id, {})
        return any(
            first != name.first and not units.isdisjoint(mine) for first, units in beside.items()
        )

    def _add(self, folded: str) -> None:
        name = self._names[folded]
        new = Known(folded.encode(), name.spelling, folded, name.kind)
        self._new.setdefault(folded.partition(" ")[0], []).append(new)
        self._take(folded, new.id, new.name)

    def _take(self, folded: str, entity_id: bytes, canonical: str) -> None:
        self.meant[folded] = canonical
        self._said.append(Known(entity_id, canonical, folded, self._kind(folded)))
        beside = self._units.setdefault(entity_id, {})
        beside.setdefault(folded.partition(" ")[0], set()).update(self._names[folded].units)
        if folded in self._speakers:
            self._spoken.add(entity_id)


def _people(names: Mapping[str, _Name], called: Mapping[str, Entity]) -> dict[str, Person]:
    """Take apart the names that are to be decided and may be people's."""
    found: dict[str, Person] = {}
    for folded, name in names.items():
        if folded in called or name.exact:
            continue
        one = person(folded, name.kind)
        if one is not None:
            found[folded] = one
    return found


def _note(
    names: dict[str, _Name], name: str, unit_ids: Sequence[bytes], told: Told, *, exact: bool
) -> _Name:
    noted = names.setdefault(fold_name(name), _Name())
    noted.spellings[name] += len(unit_ids)
    noted.units.update(unit_ids)
    noted.exact = noted.exact or exact
    if noted.told.casefold() in NO_KIND:
        noted.told = told.kinds.get(name, "")
    return noted


def _joined(
    mentions: Sequence[EntityMention], names: Mapping[str, _Name], meant: Mapping[str, str]
) -> list[EntityMention]:
    """Join the mentions of each entity."""
    joined: dict[str, EntityMention] = {}
    for mention in mentions:
        folded = fold_name(mention.entity.name)
        canonical = meant[folded]
        said = (mention.entity.name, *mention.spellings)
        one = joined.get(canonical)
        if one is None:
            entity = Entity(mention.entity.id, canonical, aliases=mention.entity.aliases)
            one = EntityMention(entity, ())
        kind = names[folded].kind
        if one.entity.kind.casefold() in NO_KIND and kind.casefold() not in NO_KIND:
            one = replace(one, entity=replace(one.entity, kind=kind))
        joined[canonical] = replace(
            one,
            unit_ids=list(dict.fromkeys((*one.unit_ids, *mention.unit_ids))),
            spellings=tuple(n for n in dict.fromkeys((*one.spellings, *said)) if n != canonical),
        )
    return list(joined.values())


def _renamed(row: UnitRow, meant: Mapping[str, str]) -> UnitRow:
    """Return a unit with canonical names."""
    old = row.unit.entities
    new = tuple(dict.fromkeys(meant.get(fold_name(name), name) for name in old))
    return row if new == old else replace(row, unit=replace(row.unit, entities=new))
