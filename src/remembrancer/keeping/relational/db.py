"""What the shared code asks of a connection: named queries, and snapshots."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import Any
from uuid import uuid4

from ..sealing import FileKey

MAX_IN = 1024
"""Values bound into one list of a statement; a longer list runs in several statements."""

Row = tuple[Any, ...]
# A question's name, the values of its list (None: it has none), and its parameters.
Asked = tuple[str, Sequence[bytes | str] | None, tuple[Any, ...]]


class Db(ABC):
    """A connection with the named queries of its dialect; used by one thread at a time."""

    @cached_property
    def serial(self) -> int:
        """A number of this connection alone; an id of Python's may come again."""
        return uuid4().int

    @abstractmethod
    def all(self, name: str, *params: Any) -> list[Row]:
        """Run a query and return its rows."""

    @abstractmethod
    def run(self, name: str, *params: Any) -> int:
        """Run a change and return the number of rows it touched."""

    @abstractmethod
    def many(self, name: str, rows: Iterable[Sequence[Any]]) -> int:
        """Run a change once a row and return the number of rows touched."""

    @abstractmethod
    def later(self, name: str, rows: Iterable[Sequence[Any]]) -> None:
        """Run a change once a row, where nobody asks how many it touched.

        A database that is a round trip away runs it with the next question or change, before that,
        or at the end of the transaction.
        """

    @abstractmethod
    def all_in(self, name: str, values: Sequence[bytes | str], *params: Any) -> list[Row]:
        """Run a query whose `{ids}` stands for `values`; rows come list by list.

        `{rows}` in their place stands for `values` as rows of one column, filled up with NULL. To
        join those is faster than a list, which is sorted into a table first; but a value that
        stands twice brings its rows twice.
        """

    asks_ahead = False
    """Whether `ahead` asks; else each question is as good as any other when it comes."""

    def ahead(self, *asked: Asked) -> None:  # noqa: B027 - answering each when it comes is a way
        """Say what `all_in` will be asked next in this snapshot.

        A database that is a round trip away is then asked everything at once.
        """

    @abstractmethod
    def run_in(self, name: str, values: Sequence[bytes | str], *params: Any) -> int:
        """Run a change whose `{ids}` stands for `values`; return the number of rows touched."""

    def lock_bank(  # noqa: B027 - nothing to do is a way to do it
        self, key: int, *asked: Asked
    ) -> None:
        """Keep other writers of a bank out until this transaction ends.

        Each change of a bank that first reads it begins so. Where one writer holds the whole
        database there is nothing to do. `asked` says what will be asked next, as in `ahead`.
        """

    def file_key(self, key: int) -> FileKey | None:  # noqa: ARG002 - for those that seal
        """Return what seals files about a bank; None: nothing does."""
        return None

    def lock_generations(self) -> None:  # noqa: B027 - as above
        """Keep others out who would change which generations there are."""

    @abstractmethod
    def begin_snapshot(self, *asked: Asked) -> None:
        """Start a transaction that reads one state of the database throughout.

        `asked` says what will be asked first, as in `ahead`.
        """

    @abstractmethod
    def end_snapshot(self) -> None:
        """End the snapshot, if one is open."""

    @abstractmethod
    def commits(self) -> int:
        """Return a number that is another one once another connection has committed."""

    @abstractmethod
    def close(self) -> None:
        """Close the connection."""

    def one(self, name: str, *params: Any) -> Row | None:
        """Run a query and return its only row, or None."""
        rows = self.all(name, *params)
        return rows[0] if rows else None

    def value(self, name: str, *params: Any) -> Any:
        """Run a query that has exactly one row and return its first column."""
        return self.all(name, *params)[0][0]
