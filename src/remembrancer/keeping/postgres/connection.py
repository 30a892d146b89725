"""One PostgreSQL connection: how it is opened, found lost and opened again, and runs queries."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypeVar

import psycopg
from psycopg.pq import TransactionStatus

from ..relational.db import Asked, Db, Row
from ..relational.sealing_db import SealingDb
from ..relational.vault import Vault
from ..relational.work import Unchanged
from . import errors, types
from .place import Place

T = TypeVar("T")

TRIES = 12
"""How often a transaction that others got in the way of is tried."""

_PAUSE_S = 0.002  # before the second try; twice as long before each further one
_MOST_PAUSE_S = 0.25
_PREPARE_AFTER = 2  # runs of a statement
_MOST_PREPARED = 1_000
_MOST_WAITING = 200  # changes that wait to be sent with a question

_WRITE = "BEGIN ISOLATION LEVEL READ COMMITTED"
_BEGINNING: tuple[str, Sequence[Any]] = (_WRITE, ())
_SNAPSHOT = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"

# The end of a pipeline on a lost connection: the error that comes of that tells of it.
logging.getLogger("psycopg").addFilter(
    lambda record: not str(record.msg).startswith("error ignored terminating")
)


class PgDb(Db):
    """A PostgreSQL connection with the named queries; opened when first needed.

    One that was lost is opened again by the next transaction, or by the next read outside of one.
    What was begun on a lost one fails to its end: a snapshot never goes on in another state.
    """

    def __init__(self, place: Place, queries: Mapping[str, str]) -> None:
        self._place = place
        self._queries = queries
        self._lists: dict[tuple[str, int], str] = {}
        self._connection: psycopg.Connection[Row] | None = None
        self._cursor: psycopg.Cursor[Row] | None = None
        self._inside = False
        self._moment = 0
        # what was asked ahead: by name and parameters, the values and the rows
        self._known: dict[tuple[Any, ...], tuple[Sequence[bytes | str] | None, list[Row]]] = {}
        # what is sent before the next question, in its round trip
        self._waiting: list[tuple[str, Sequence[Any]]] = []

    @property
    def connection(self) -> psycopg.Connection[Row]:
        """The connection; outside a transaction a lost one is replaced."""
        self._live()
        self._send()
        assert self._connection is not None
        return self._connection

    def all(self, name: str, *params: Any) -> list[Row]:
        """Run a query and return its rows."""
        known = self._known.pop((name, *params), None) if self._known else None
        if known is not None:
            return known[1]
        return self._run(self._queries[name], params).fetchall()

    def run(self, name: str, *params: Any) -> int:
        """Run a change and return the number of rows it touched; an empty query does nothing."""
        self._known.clear()
        query = self._queries[name]
        return self._run(query, params).rowcount if query else 0

    def many(self, name: str, rows: Iterable[Sequence[Any]]) -> int:
        """Run a change once a row, all sent at once; return the number of rows touched."""
        given = list(rows)
        if len(given) < 2:
            return sum(PgDb.run(self, name, *params) for params in given)  # sealed already
        self._known.clear()
        self._send()
        cursor = self._live()
        cursor.executemany(self._queries[name], given)
        return cursor.rowcount

    def later(self, name: str, rows: Iterable[Sequence[Any]]) -> None:
        """See `Db.later`."""
        given = list(rows)
        if not self._inside or len(self._waiting) + len(given) > _MOST_WAITING:
            PgDb.many(self, name, given)  # sealed already
            return
        self._known.clear()
        self._waiting += [(self._queries[name], params) for params in given]

    def all_in(self, name: str, values: Sequence[bytes | str], *params: Any) -> list[Row]:
        """See `Db.all_in`; the list is one array."""
        if not values:
            return []
        known = self._known.pop((name, *params), None) if self._known else None
        if known is not None and known[0] == values:
            return known[1]
        return self._run(self._listed(name, len(params)), (*params, list(values))).fetchall()

    asks_ahead = True

    def ahead(self, *asked: Asked) -> None:
        """See `Db.ahead`; in one round trip."""
        wanted = [each for each in asked if each[1]]
        if wanted and self._inside:
            self._ahead(wanted)

    def run_in(self, name: str, values: Sequence[bytes | str], *params: Any) -> int:
        """Run a change whose `{ids}` stands for `values`; return the number of rows touched."""
        if not values:
            return 0
        self._known.clear()
        return self._run(self._listed(name, len(params)), (*params, list(values))).rowcount

    def lock_bank(self, key: int, *asked: Asked) -> None:
        """See `Db.lock_bank`; in one round trip."""
        self._ahead([("bank_lock", None, (key,)), *asked])

    def lock_generations(self) -> None:
        """Keep others out who would change the generations, until the transaction ends.

        Those who write by them are not: see `settling`.
        """
        self._run("LOCK TABLE generation IN EXCLUSIVE MODE", ())

    def begin_snapshot(self, *asked: Asked) -> None:
        """Start a transaction that reads one state of the database throughout."""
        self._begin(_SNAPSHOT, asked)
        self._moment = time.monotonic_ns()

    def end_snapshot(self) -> None:
        """End the snapshot, if one is open."""
        self._end("ROLLBACK")

    def commits(self) -> int:
        """Return a number of this snapshot alone: what others commit cannot be seen cheaply."""
        return self._moment

    def write(self, work: Callable[[Db], T]) -> T:
        """Run work in a transaction and return what it returns once that is durable.

        It is begun anew when another transaction got in its way, or when the connection was lost
        before it was committed.
        """
        pause = _PAUSE_S
        for left in range(TRIES - 1, -1, -1):
            try:
                return self._write(work)
            except psycopg.Error as exc:
                lost = self._connection is not None and self._lost()
                if not left or not (errors.in_the_way(exc) or lost):
                    raise
            time.sleep(pause)
            pause = min(2 * pause, _MOST_PAUSE_S)
        raise AssertionError("the last try returns or raises")

    def close(self) -> None:
        """Close the connection."""
        if self._connection is not None:
            self._connection.close()

    def _write(self, work: Callable[[Db], T]) -> T:
        self._begin(_WRITE)
        try:
            result = work(self)
            if self._waiting != [_BEGINNING]:
                self._send()
        except Unchanged as unchanged:
            self._end("ROLLBACK")
            kept: T = unchanged.result
            return kept
        except BaseException:
            self._end("ROLLBACK")
            raise
        try:
            self._end("COMMIT")
        except psycopg.OperationalError as exc:
            if self._lost():
                raise errors.Unknown from exc
            raise
        return result

    def _begin(self, how: str, asked: Sequence[Asked] = ()) -> None:
        """Start a transaction, on a new connection when the old one was lost meanwhile."""
        self._inside = False
        try:
            self._start(how, asked)
        except psycopg.OperationalError:
            if not self._lost():
                raise
            self._start(how, asked)
        self._inside = True

    def _start(self, how: str, asked: Sequence[Asked]) -> None:
        """Start a transaction and ask its first questions, in one round trip."""
        self._live()  # a new one, where the old one is known to be lost
        self._known.clear()
        self._waiting = [(how, ())]
        if asked:
            self._ahead(asked)

    def _ahead(self, asked: Sequence[Asked]) -> None:
        """Send what waits, then questions; keep what is answered until it is asked for.

        It is read after the end of the pipeline: to read within it would cost a round trip more.
        """
        connection = self._live().connection
        with connection.pipeline():
            self._flush(connection)
            sent = [connection.cursor(binary=True).execute(*self._spelled(each)) for each in asked]
        self._keep(asked, sent)

    def _send(self) -> None:
        """Send what waits, if anything does."""
        if self._waiting:
            connection = self._live().connection
            with connection.pipeline():
                self._flush(connection)

    def _flush(self, connection: psycopg.Connection[Row]) -> None:
        """Put what waits into a pipeline."""
        waiting, self._waiting = self._waiting, []
        for query, params in waiting:
            connection.cursor(binary=True).execute(query, params)

    def _keep(self, asked: Sequence[Asked], sent: Sequence[psycopg.Cursor[Row]]) -> None:
        """Keep what was answered until it is asked for."""
        for (name, values, params), cursor in zip(asked, sent, strict=True):
            self._known[name, *params] = (values, cursor.fetchall())

    def _spelled(self, asked: Asked) -> tuple[str, tuple[Any, ...]]:
        name, values, params = asked
        if values is None:
            return self._queries[name], params
        return self._listed(name, len(params)), (*params, list(values))

    def _end(self, how: str) -> None:
        self._known.clear()
        self._waiting.clear()
        if not self._inside:
            return
        self._inside = False
        connection = self._connection
        if connection is None or connection.closed:
            if how == "COMMIT":
                raise psycopg.OperationalError("the connection was lost")
            return
        if connection.info.transaction_status != TransactionStatus.IDLE:
            try:
                connection.execute(how)
            except psycopg.OperationalError:
                if how == "COMMIT" or not self._lost():
                    raise

    def _run(self, query: str, params: Sequence[Any]) -> psycopg.Cursor[Row]:
        try:
            return self._sent(query, params)
        except psycopg.OperationalError:
            if self._inside or not self._lost() or not query.startswith("SELECT"):
                raise
            return self._live().execute(query, params)

    def _sent(self, query: str, params: Sequence[Any]) -> psycopg.Cursor[Row]:
        """Send a query after what waits, in one round trip."""
        cursor = self._live()
        if not self._waiting:
            return cursor.execute(query, params)
        with cursor.connection.pipeline():
            self._flush(cursor.connection)
            return cursor.execute(query, params)

    def _live(self) -> psycopg.Cursor[Row]:
        """Return the cursor; outside a transaction, of a new connection when the old one is lost.

        Inside, the lost one is used, and fails.
        """
        if self._cursor is None or (self._lost() and not self._inside):
            self.close()
            connection = self._place.connect()
            types.register(connection)
            connection.prepare_threshold = _PREPARE_AFTER
            connection.prepared_max = _MOST_PREPARED
            self._connection = connection
            self._cursor = connection.cursor(binary=True)
        return self._cursor

    def _lost(self) -> bool:
        return self._connection is None or self._connection.closed

    def _listed(self, name: str, before: int) -> str:
        text = self._lists.get((name, before))
        if text is None:
            mark = f"${before + 1}"
            text = self._queries[name].replace("{ids}", mark).replace("{rows}", mark)
            self._lists[name, before] = text
        return text


class SealedPgDb(SealingDb, PgDb):
    """A PostgreSQL connection that seals and opens by the way."""


def make_db(place: Place, queries: Mapping[str, str], vault: Vault | None) -> PgDb:
    """Make a connection; with the keys of a store that seals one that does."""
    if vault is None:
        return PgDb(place, queries)
    db = SealedPgDb(place, queries)
    db.seal_with(vault)
    return db
