"""A connection that seals and opens by the way: the named queries see sealed values, callers plain.

`SealingDb` stands before a dialect's own connection (`class SealedX(SealingDb, XDb)`); without
encryption it is not there at all. What is sealed is told in `sealed_columns`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import suppress
from typing import Any

from ...nouns.memory import BankRef
from ..sealing import DataKey, FileKey, KeyErased, WrappedKey
from . import sealed_search
from .db import Asked, Db, Row
from .sealed_columns import COLUMNS, NAMES, QUERIES, Places, Sealed
from .sealed_values import open_value, seal
from .vault import BankFiles, Place, Vault

# mypy cannot know that a dialect's connection comes after this class.
# mypy: disable-error-code="safe-super"


class SealingDb(Db):
    """See the module; used by one thread at a time, as any `Db`.

    Which key a tenant has is read once in each snapshot, and in each transaction that writes:
    `lock_bank`, with which that begins, forgets it. So nothing is sealed with a key that another
    process has erased, or that went with a transaction.
    """

    _vault: Vault

    def seal_with(self, vault: Vault) -> None:
        """Set what holds the keys; once, before use."""
        self._vault = vault
        self._current: dict[str, DataKey] = {}
        self._inside_any = False

    def all(self, name: str, *params: Any) -> list[Row]:
        """Run a query and return its rows."""
        what = QUERIES.get(name)
        if what is None:
            return super().all(name, *params)
        if what.search:
            return sealed_search.run(self, name, params)
        if what.owner is not None:
            return self._opened_by_owner(what, super().all(name, *params), what.owner)
        place = self.place(params[0])
        given = self._sealed(what, place, params, make=_writes(what))
        return self._opened(what.results, place, super().all(name, *given))

    def run(self, name: str, *params: Any) -> int:
        """Run a change and return the number of rows it touched."""
        what = QUERIES.get(name)
        if what is None:
            count = super().run(name, *params)
            if name == "bank_insert":
                super().run("bank_sealed", params[0])
            return count
        return super().run(name, *self._sealed(what, self.place(params[0]), params, make=True))

    def many(self, name: str, rows: Iterable[Sequence[Any]]) -> int:
        """Run a change once a row and return the number of rows touched."""
        what = QUERIES.get(name)
        if what is not None:
            rows = [self._sealed(what, self.place(row[0]), row, make=True) for row in rows]
        return super().many(name, rows)

    def later(self, name: str, rows: Iterable[Sequence[Any]]) -> None:
        """See `Db.later`; sealed at once."""
        what = QUERIES.get(name)
        if what is not None:
            rows = [self._sealed(what, self.place(row[0]), row, make=True) for row in rows]
        super().later(name, rows)

    def all_in(self, name: str, values: Sequence[bytes | str], *params: Any) -> list[Row]:
        """See `Db.all_in`."""
        what = QUERIES.get(name)
        if what is None or not values:
            return super().all_in(name, values, *params)
        place = self.place(params[0])
        rows = super().all_in(name, self._sealed_values(what, place, values), *params)
        return self._opened(what.results, place, rows)

    def lock_bank(self, key: int, *asked: Asked) -> None:
        """Keep other writers of a bank out; see the class."""
        self._note_inside(True)
        super().lock_bank(key, *asked)

    def file_key(self, key: int) -> FileKey | None:
        """Return what seals files about a bank; None: there is no key of its tenant yet."""
        place = self.place(key)
        found = None if place is None else self.key_of(place, make=False)
        return None if place is None or found is None else BankFiles(found, place)

    def ahead(self, *asked: Asked) -> None:
        """See `Db.ahead`."""
        super().ahead(*map(self._asked, asked))

    def begin_snapshot(self, *asked: Asked) -> None:
        """Start a transaction that reads one state of the database throughout."""
        self._note_inside(True)
        super().begin_snapshot(*asked)

    def end_snapshot(self) -> None:
        """End the snapshot, if one is open."""
        self._note_inside(False)
        super().end_snapshot()

    def plain_all(self, name: str, *params: Any) -> list[Row]:
        """Run a query as it is: sealed values stay so."""
        return super().all(name, *params)

    def opened(self, name: str, key: int, rows: Sequence[Row]) -> list[Row]:
        """Open the rows that a query brought."""
        return self._opened(QUERIES[name].results, self.place(key), rows)

    def place(self, key: int) -> Place | None:
        """Return a bank by its key; None: there is none."""
        place = self._vault.place(key)
        if place is None:
            found = super().all("bank_place", key)
            if not found:
                return None
            place = Place(found[0][0], key, bool(found[0][1]))
            if place.named:
                self._vault.keep(place)
        return place

    def key_of(self, place: Place, *, make: bool) -> DataKey | None:
        """Return the data key that a tenant has now; None: none, and none is to be made."""
        key = self._current.get(place.tenant)
        if key is not None:
            return key
        kept = self._kept_key(place.tenant)
        if kept is None and make:
            super().run(
                "tenant_key_insert", place.tenant, *self._vault.sealer.new_key(place.tenant)
            )
            kept = self._kept_key(place.tenant)
        if kept is None:
            return None
        key = self._vault.key(place.tenant, kept)
        if self._inside_any:
            self._current[place.tenant] = key
        return key

    def _asked(self, asked: Asked) -> Asked:
        name, values, params = asked
        what = QUERIES.get(name)
        if what is None or not values:
            return asked
        return name, self._sealed_values(what, self.place(params[0]), values), params

    def _sealed_values(
        self, what: Sealed, place: Place | None, values: Sequence[Any]
    ) -> Sequence[Any]:
        """Return what values are looked up as; without a key of the tenant nothing is there."""
        if what.values is None or place is None or not place.named:
            return values
        key, about = self.key_of(place, make=False), place.about(what.values)
        return values if key is None else [seal(key, what.values, v, about) for v in values]

    def _note_inside(self, inside: bool) -> None:
        """Note whether this connection is in a transaction, in which keys stay what they are."""
        self._current.clear()
        self._inside_any = inside

    def _kept_key(self, tenant: str) -> WrappedKey | None:
        found = super().all("tenant_key_of", tenant)
        return WrappedKey(*found[0]) if found else None

    def _find(self, key_id: bytes) -> DataKey:
        key = self._vault.known(key_id)
        if key is not None:
            return key
        found = super().all("tenant_key_by_id", key_id)
        if not found:
            raise KeyErased(
                "what is kept here was sealed with a data key that is gone: it was erased with its "
                "tenant, and nothing opens it any more"
            )
        tenant, wrapped = found[0]
        return self._vault.key(tenant, WrappedKey(key_id, wrapped))

    def _sealed(
        self, what: Sealed, place: Place | None, params: Sequence[Any], *, make: bool
    ) -> Sequence[Any]:
        """Return parameters as the query gets them.

        Without the bank there is no row that they could be for, and nothing goes there plain.
        """
        if not what.params:
            return params
        if what.unlocked:
            self._current.clear()
        values = list(params)
        for n, column in what.params.items():
            if values[n] is None:
                continue
            if place is None:
                values[n] = None
            elif COLUMNS[column] not in NAMES or place.named:
                key = self.key_of(place, make=make)
                if key is not None:
                    values[n] = seal(key, column, values[n], place.about(column))
        return values

    def _opened(self, places: Places | None, place: Place | None, rows: Sequence[Row]) -> list[Row]:
        if not places or place is None:
            return list(rows)
        find = self._find
        wanted = [(n, column, place.about(column)) for n, column in places.items()]
        found = []
        for row in rows:
            values = list(row)
            for n, column, about in wanted:
                value = values[n]
                if value:
                    values[n] = open_value(find, column, value, about)
            found.append(tuple(values))
        return found

    def _opened_by_owner(
        self, what: Sealed, rows: Sequence[Row], owner: tuple[int, int]
    ) -> list[Row]:
        """Open rows of several banks; those of a tenant that is just being erased are left out."""
        found: list[Row] = []
        for row in rows:
            ref = BankRef(row[owner[0]], row[owner[1]])
            with suppress(KeyErased):
                found += self._opened(what.results, Place(ref.tenant, ref.key, named=True), [row])
        return found


def _writes(what: Sealed) -> bool:
    """Tell whether a query with results also changes something: then a key may be made."""
    return any(COLUMNS[column] not in NAMES for column in (what.params or {}).values())
