"""Which of the entities already known a name means, when that can be told for certain.

Names are compared by their folds (`nouns.folding`). Beside the same fold there are three ways to be
the same person: a nickname with all other words the same, a first name of exactly one known full
name, and an initial before the last name of exactly one person who is named beside it. Likeness of
spelling is no way: "Room 101" and "Room 102", "Tom Smith" and "Tim Smith",
"Oman" and "Roman" are different things, however close their letters.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from .lexicon import CALENDAR, COMMON, NAME_JOINERS, NOT_NAMES, TITLES
from .nicknames import GIVEN, stand_for

NO_KIND = frozenset({"", "thing", "concept"})
"""Kinds that say nothing, case-folded: what an entity has when nobody named its kind."""
PERSON = "person"
_PERSON = frozenset({PERSON, "per", "people", "human"})
_PARTICLES = NAME_JOINERS - {"of", "the"}
_NO_FIRST = COMMON | TITLES | CALENDAR | NOT_NAMES
_MOST_WORDS = 4  # of a person's full name
# Last words of names that are no person's, though a given name may stand before them.
_THINGS = frozenset(
    """academy account accounts agency air airlines airport alley alliance analytics api app apps
    arena association avenue award awards bakery band bank bar bay beach bistro blog board book
    books bot boulevard bridge building burger burgers cafe capital care castle cathedral cave
    center centre challenge channel checking church cinema city clinic cloud club code coffee
    college community company computer conference consulting corp corporation council county cup
    database day days deli dental design diner district drive entertainment estate falls farm
    farms fest festival field films financial fitness florist forest forum foundation fund gallery
    games garage garden gardens gmbh grill group gym hall health hill hills holdings home homes
    hospital hotel house housing inc industries inn institute international island islands jewelers
    kitchen lab laboratory labs lake lakes lane law league library lighthouse limited llc lodge ltd
    magazine mall manor maps market markets media memorial monument motel motors mountain mountains
    museum music network news office opera orchestra palace paper papers park partners party pass
    pay peak pharmacy philharmonic pizza place plan plaza plc podcast point police pool port post
    press prize pro problem programme program project properties pub publishing race radio railway
    ranch realty records report resort restaurant restaurants river road room rooms salon savings
    school schools scholarship service services shelter shop show shows sports square stadium
    station store stores street studio studios suite summit supermarket syndrome system systems
    tavern team tech technologies technology telecom temple theater theatre theorem times tour
    tower towers town trail train training trust tv university valley van village web week wharf
    winery wines works workshop zone zoo""".split()
)


@dataclass(frozen=True, slots=True)
class Known:
    """A name of an entity that is known. `id` tells entities apart, `name` is its canonical one."""

    id: bytes
    name: str
    folded: str
    kind: str = ""


@dataclass(frozen=True, slots=True)
class Person:
    """A name that may be a person's, taken apart: the first word and the words after it."""

    first: str
    rest: str

    @property
    def like(self) -> tuple[str, ...]:
        """The names it may be said as, folded, with another form of its first word; sorted."""
        tail = f" {self.rest}" if self.rest else ""
        return tuple(f"{first}{tail}" for first in sorted(stand_for(self.first)))

    @property
    def beginnings(self) -> tuple[str, ...]:
        """The first words, folded, of full names that it may mean; none when it is one itself."""
        return () if self.rest else (self.first, *sorted(stand_for(self.first)))


def person(folded: str, kind: str = "") -> Person | None:
    """Take a name apart when it may be a person's: up to four words, letters only."""
    kind = kind.casefold()
    if kind not in NO_KIND | _PERSON:
        return None
    words = folded.split(" ")
    if len(words) > _MOST_WORDS or not all(map(_is_word, words)):
        return None
    first, *rest = words
    if first.rstrip(".") in _NO_FIRST:
        return None
    if len(first) < 2 or (rest and (rest[-1] in _THINGS or rest[-1] in NAME_JOINERS)):
        return None
    if any(word in COMMON and word not in _PARTICLES for word in rest[:-1]):
        return None
    return Person(first, " ".join(rest))


def choose(name: Person, kind: str, found: Iterable[Known]) -> Known | None:
    """Return the one entity among those found that a name can mean; None unless it is just one.

    `found` are entities with names that are `name.like` or begin with `name.beginnings`.
    """
    one: Known | None = None
    for known in found:
        if not _may_mean(name, kind, known):
            continue
        if one is not None and one.id != known.id:
            return None
        one = known
    return one


def is_initial(name: Person) -> bool:
    """Tell whether a name is an initial before a last name: "j. smith"."""
    bare = name.first.rstrip(".")
    return bool(name.rest) and len(bare) == 1 and bare.isalpha()


def by_initial(name: Person, beside: Iterable[Known]) -> Known | None:
    """Return the one person that a name with an initial means among those named beside it.

    Being named in the same text is the evidence: elsewhere "J. Smith" may be anybody.
    """
    if not is_initial(name):
        return None
    one: Known | None = None
    for known in beside:
        other = person(known.folded, known.kind)
        if other is None or other.rest != name.rest or is_initial(other):
            continue
        if not other.first.startswith(name.first.rstrip(".")):
            continue
        if one is not None and one.id != known.id:
            return None
        one = known
    return one


def order(names: Mapping[str, str]) -> list[str]:
    """Return the keys of names to be decided (fold to kind) in an order that they do not set.

    Full names come before first names, which may mean them, and formal ones before short ones.
    """
    return sorted(names, key=lambda folded: (-folded.count(" "), _is_short(folded), folded))


def same_kind(one: str, other: str) -> bool:
    """Tell whether two kinds do not contradict each other."""
    one, other = one.casefold(), other.casefold()
    if one in NO_KIND or other in NO_KIND or one == other:
        return True
    return one in _PERSON and other in _PERSON


def _may_mean(name: Person, kind: str, known: Known) -> bool:
    other = person(known.folded, known.kind)
    if other is None or not same_kind(kind, known.kind):
        return False
    if name.rest == other.rest:
        # Bare, "Elizabeth" and "Libby" may be anything: one must be known to be a person.
        certain = bool(name.rest) or kind.casefold() in _PERSON or known.kind.casefold() in _PERSON
        return certain and other.first in stand_for(name.first)
    if name.rest or not (name.first == other.first or other.first in stand_for(name.first)):
        return False
    # A first name: that it is one must be known, else "Delta" would mean "Delta Dawn".
    return name.first in GIVEN or known.kind.casefold() in _PERSON


def _is_word(word: str) -> bool:
    return word[:1].isalpha() and all(char.isalpha() or char in "-'." for char in word)


def _is_short(folded: str) -> bool:
    """Tell a short form: an initial, or one that stands for longer names only."""
    first = folded.partition(" ")[0]
    if len(first.rstrip(".")) == 1:
        return True
    near = stand_for(first)
    return bool(near) and all(len(first) < len(formal) for formal in near)
