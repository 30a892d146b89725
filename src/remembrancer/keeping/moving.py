"""Moves everything from one store to another, of whatever dialects, table by table.

A page of rows and the place that it leads to are one transaction of the target, so a move that is
killed goes on where it was. Both sides are then read again and compared: the number of rows, and a
sum over a keyed hash of each row, which does not depend on the order they are read in.
"""

from __future__ import annotations

import hashlib
import json
import secrets
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol

from ..nouns.errors import Conflict, Corrupt, StoreError

Row = tuple[Any, ...]
Progress = Callable[[int, int], None]
"""Called with how many rows were copied and compared, and how many there are to do."""

KEYS: Mapping[str, Sequence[str]] = {
    "generation": ("number",),
    "tenant_key": ("tenant",),
    "bank": ("bank_key",),
    "document": ("bank_key", "document_id"),
    "chunk": ("bank_key", "document_id", "chunk_index"),
    "unit": ("bank_key", "unit_id"),
    "search": ("bank_key", "unit_id"),
    "vector": ("bank_key", "generation", "unit_id"),
    "pending": ("bank_key", "generation", "unit_id"),
    "access": ("bank_key", "unit_id"),
    "entity": ("bank_key", "entity_id"),
    "entity_alias": ("bank_key", "folded"),
    "mention": ("bank_key", "unit_id", "entity_id"),
    "link": ("bank_key", "source", "type", "target"),
    "change": ("bank_key", "revision", "seq"),
    "sameness": ("bank_key", "unit_id"),
    "curation": ("bank_key", "unit_id"),
    "claim": ("bank_key", "unit_id", "number"),
    "record": ("bank_key", "kind", "key"),
    "blob": ("bank_key", "key"),
    "due": ("bank_key", "trigger_id"),
    "intention": ("bank_key", "intention_id"),
    "occurrence": ("bank_key", "occurrence_id"),
    "event": ("bank_key", "event_id"),
    "job": ("bank_key", "job_id"),
}
"""The tables that are moved, in this order, and the columns of their primary keys."""

CARRIED = ("revision_floor", "last_generation")
"""Rows of `meta` that are moved; the others say how things stand with one database."""

_PAGE_ROWS = 5_000
_PAGE_BYTES = 8 << 20
_TOLD_ROWS = 2_000  # between two calls of `Progress` while comparing
_KEY_BYTES = 32
_SUM_BYTES = 32


class Checkpoint(NamedTuple):
    """How far a move is: the key of the last row copied of a table, and the rows copied so far."""

    origin: str
    table: str
    after: Row | None
    copied: int


class Tables(Protocol):
    """A store's tables as they are, for the length of a move; used by one thread.

    No other process writes to an origin meanwhile.
    """

    @property
    def shown(self) -> str:
        """Where the store is, for people."""
        ...

    @property
    def identity(self) -> str:
        """What tells the store from others."""
        ...

    def columns(self, table: str) -> Sequence[str]:
        """Return the names of a table's columns; none: there is no such table."""
        ...

    def tables(self) -> Sequence[str]:
        """Return the names of all tables but those of a move."""
        ...

    def count(self, table: str) -> int:
        """Count a table's rows."""
        ...

    def rows(self, table: str, columns: Sequence[str], after: Row | None) -> Iterator[Row]:
        """Yield rows in the order of the key, from after a key on, few of them in memory."""
        ...

    def meta(self) -> Mapping[str, int]:
        """Return the rows of `meta`."""
        ...

    def checkpoint(self) -> Checkpoint | None:
        """Return how far a move into this store is; None: none is under way."""
        ...

    def begin(self) -> None:
        """Keep servers away from this store until `finish`."""
        ...

    def put(
        self, table: str, columns: Sequence[str], rows: Sequence[Row], reached: Checkpoint
    ) -> None:
        """Add rows and say how far the move is, in one transaction."""
        ...

    def restart(self) -> None:
        """Delete all that was moved here, in one transaction."""
        ...

    def finish(self, meta: Mapping[str, int]) -> None:
        """Set rows of `meta` and forget the move, in one transaction."""
        ...


class Movable(Protocol):
    """A store that can be moved."""

    def moving_from(self) -> AbstractContextManager[Tables]:
        """Open its tables to read them, and keep writers out meanwhile."""
        ...

    def moving_into(self) -> AbstractContextManager[Tables]:
        """Open its tables to fill them, made when they are not there."""
        ...


@dataclass
class Moved:
    """What was moved: rows by table, and how many of them an earlier run had copied already."""

    tables: dict[str, int] = field(default_factory=dict)
    resumed: int = 0

    @property
    def rows(self) -> int:
        """All rows."""
        return sum(self.tables.values())


class Digest(NamedTuple):
    """Number of rows, and the sum over their hashes modulo 2^256."""

    rows: int
    total: int


def move(
    source: Tables,
    target: Tables,
    *,
    restart: bool = False,
    progress: Progress | None = None,
    complete: Callable[[], None] | None = None,
) -> Moved:
    """Copy everything and compare.

    Args:
        source: read only.
        target: empty, or what an earlier run of the same move has left.
        restart: delete what an earlier run has left, and begin anew.
        progress: told how far it is.
        complete: called once all is there, before servers may open the target.

    Raises:
        Conflict: the target holds something, or is the target of another move.
        StoreError: the two are of different schemas, or the source is not settled.
        Corrupt: the target does not hold what the source does; it stays closed to servers.
    """
    columns = _common(source, target)
    if source.meta().get("unsettled"):
        raise StoreError(
            f"{source.shown}: a change of the embedding model is not finished; start a server on "
            "it once, then move"
        )
    begun = target.checkpoint()
    if begun is None:
        _must_be_empty(target)
        target.begin()
    elif restart:
        target.restart()
        begun = None
    elif begun.origin != source.identity:
        raise Conflict(
            f"{target.shown} is the target of a move from another store that is not finished: "
            "finish that one, or delete what it left with --restart"
        )
    moved = Moved({table: source.count(table) for table in KEYS}, begun.copied if begun else 0)
    count = _Count(moved.rows * 3, progress, moved.resumed)
    for table, after in _left(begun):
        _copy(source, target, table, columns[table], after, count)
    key = secrets.token_bytes(_KEY_BYTES)
    for table in KEYS:
        here = digest(source, table, columns[table], key, count)
        if digest(target, table, columns[table], key, count) != here:
            raise Corrupt(
                f"{target.shown}: table {table} is not what {source.shown} holds: that was changed "
                "since the move began. Move again with --restart"
            )
    if complete is not None:
        complete()
    of_source = source.meta()
    target.finish({name: of_source[name] for name in CARRIED})
    return moved


def digest(
    tables: Tables,
    table: str,
    columns: Sequence[str],
    key: bytes,
    count: _Count | None = None,
) -> Digest:
    """Return the number of a table's rows and the sum of their keyed hashes.

    The sum of hashes modulo 2^256 is AdHash (Bellare and Micciancio 1997), a hash of a set of rows
    in any order.
    """
    total = number = 0
    for row in tables.rows(table, columns, None):
        made = hashlib.blake2b(repr(row).encode(), key=key, digest_size=_SUM_BYTES)
        total += int.from_bytes(made.digest())
        number += 1
        if count is not None and not number % _TOLD_ROWS:
            count.add(_TOLD_ROWS)
    if count is not None:
        count.add(number % _TOLD_ROWS)
    return Digest(number, total % (1 << 8 * _SUM_BYTES))


class _Count:
    """Adds up what was done."""

    def __init__(self, total: int, progress: Progress | None, done: int) -> None:
        self._total = total
        self._progress = progress
        self.done = done

    def add(self, rows: int) -> None:
        self.done += rows
        if self._progress is not None:
            self._progress(self.done, self._total)


def _common(source: Tables, target: Tables) -> dict[str, list[str]]:
    """Return the columns of each table; refuse stores that do not have the same."""
    known = {*KEYS, "meta"}
    for each in (source, target):
        if strange := sorted(set(each.tables()) ^ known):
            raise StoreError(
                f"{each.shown}: this version does not know the tables {', '.join(strange)}, or "
                "misses them: run `remembrancer migrate` on both stores"
            )
    found = {}
    for table in KEYS:
        here, there = sorted(source.columns(table)), sorted(target.columns(table))
        if here != there:
            raise StoreError(
                f"{source.shown} and {target.shown} have other columns in table {table}: run "
                "`remembrancer migrate` on both"
            )
        found[table] = here
    return found


def _must_be_empty(target: Tables) -> None:
    for table in KEYS:
        if next(target.rows(table, KEYS[table], None), None) is not None:
            raise Conflict(f"{target.shown} holds something already; name an empty store")


def _left(begun: Checkpoint | None) -> Iterator[tuple[str, Row | None]]:
    """Yield the tables that are to be copied, and after which key."""
    names = list(KEYS)
    if begun is None:
        yield from ((name, None) for name in names)
        return
    at = names.index(begun.table)
    yield begun.table, begun.after
    yield from ((name, None) for name in names[at + 1 :])


def _copy(
    source: Tables,
    target: Tables,
    table: str,
    columns: Sequence[str],
    after: Row | None,
    count: _Count,
) -> None:
    places = [columns.index(name) for name in KEYS[table]]
    for page in _pages(source.rows(table, columns, after)):
        last = tuple(page[-1][place] for place in places)
        reached = Checkpoint(source.identity, table, last, count.done + len(page))
        target.put(table, columns, page, reached)
        count.add(len(page))


def _pages(rows: Iterable[Row]) -> Iterator[list[Row]]:
    page: list[Row] = []
    size = 0
    for row in rows:
        page.append(row)
        size += sum(len(value) for value in row if isinstance(value, (str, bytes)))
        if size >= _PAGE_BYTES or len(page) >= _PAGE_ROWS:
            yield page
            page, size = [], 0
    if page:
        yield page


def spell(reached: Checkpoint) -> str:
    """Return a checkpoint as text; bytes in it as hexadecimal."""
    after = reached.after
    keys = None if after is None else [v if not isinstance(v, bytes) else [v.hex()] for v in after]
    return json.dumps([reached.origin, reached.table, keys, reached.copied])


def parse(text: str) -> Checkpoint:
    """Read what `spell` wrote."""
    origin, table, keys, copied = json.loads(text)
    after = None
    if keys is not None:
        after = tuple(bytes.fromhex(v[0]) if isinstance(v, list) else v for v in keys)
    return Checkpoint(origin, table, after, copied)


def unfinished(shown: str) -> StoreError:
    """Return the error of whoever opens a store that a move into it has not finished."""
    return StoreError(
        f"a move into {shown} is not finished, and what is there is not complete: run "
        "`remembrancer move` again with the same stores"
    )
