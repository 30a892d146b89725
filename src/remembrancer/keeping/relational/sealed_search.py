"""Queries that look into sealed columns: SQL brings what may be meant, here it is sifted.

Lists of memories by a part of their text, and entities by a part or the beginning of their names.
Both cost opening all texts or names of the bank; neither stands in the way of recall.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from .db import Row
from .sealed_values import first_word

if TYPE_CHECKING:
    from .sealing_db import SealingDb

_FOLDED, _TEXT = 3, 5
"""Where a search in units is told whether repeats are folded, and the part of a text."""
_NAME, _MENTIONS = 1, 4
"""Where `entity_columns` have these."""
_ALL = (1 << 62, 0)
"""Limit and offset of all rows."""
_AT_ONCE = 1_000
_LIKE = 10_000
"""Names with one first word that are looked at."""


def run(db: SealingDb, name: str, params: Sequence[Any]) -> list[Row]:
    """Run one of the queries that are marked `search`."""
    return _SEARCHES[name](db, name, params)


def _browse(db: SealingDb, name: str, params: Sequence[Any]) -> list[Row]:
    """Return id and number of hits, as the query does; its part of a text is looked for here."""
    part = params[_TEXT]
    if part is None:
        return db.plain_all(name, *params)
    *asked, limit, offset = params
    asked[_FOLDED], asked[_TEXT] = 0, None
    ids = [row[0] for row in db.plain_all(name, *asked, *_ALL)]
    hits = list(_holding(db, params[0], ids, part))
    if params[_FOLDED]:
        first: dict[tuple[int, bytes], bytes] = {}
        for unit_id, layer, same in hits:
            group = layer, same or unit_id
            first[group] = min(first.get(group, unit_id), unit_id)
        hits = [hit for hit in hits if first[hit[1], hit[2] or hit[0]] == hit[0]]
    return [(unit_id, len(hits)) for unit_id, _, _ in hits[offset : offset + limit]]


def _holding(
    db: SealingDb, key: int, ids: Sequence[bytes], part: str
) -> Iterator[tuple[bytes, int, bytes | None]]:
    """Yield id, layer and key of the units whose text holds a part, in the order of `ids`."""
    for start in range(0, len(ids), _AT_ONCE):
        some = ids[start : start + _AT_ONCE]
        found = {row[0]: row[1:] for row in db.all_in("browse_texts", some, key)}
        for unit_id in some:
            layer, text, same = found[unit_id]
            if part in text.casefold():
                yield unit_id, layer, same


def _beginning(db: SealingDb, name: str, params: Sequence[Any]) -> list[Row]:
    key, word, limit = params
    place = db.place(key)
    data_key = None if place is None else db.key_of(place, make=False)
    if place is None or not place.named or data_key is None:
        return db.opened(name, key, db.plain_all(name, *params))
    first = first_word(data_key, word, place.about("entity_alias.folded"))
    rows = db.opened(name, key, db.plain_all(name, key, first, _LIKE))
    longer = [row for row in rows if row[0].startswith(f"{word} ")]
    return sorted(longer, key=lambda row: str(row[0]))[:limit]


def _entities(db: SealingDb, _: str, params: Sequence[Any]) -> list[Row]:
    key, limit, offset, part = params
    found = db.all_in("entity_by_ids", _named(db, key, part), key)
    found.sort(key=_by_mentions)
    return found[offset : offset + limit]


def _entity_count(db: SealingDb, _: str, params: Sequence[Any]) -> list[Row]:
    return [(len(_named(db, *params)),)]


def _by_mentions(row: Row) -> tuple[int, str]:
    return -row[_MENTIONS], row[_NAME]


def _named(db: SealingDb, key: int, part: str) -> list[bytes]:
    """Return the entities that have a name with a part in it."""
    return sorted({entity_id for folded, entity_id in db.all("alias_list", key) if part in folded})


_SEARCHES: Mapping[str, Callable[[SealingDb, str, Sequence[Any]], list[Row]]] = {
    "browse_narrow": _browse,
    "browse_document": _browse,
    "browse_entity": _browse,
    "entity_beginning": _beginning,
    "entity_search": _entities,
    "entity_search_count": _entity_count,
}
