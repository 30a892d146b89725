"""What a process keeps of data keys and of whose bank is whose, beside a store that seals."""

from __future__ import annotations

from dataclasses import dataclass, field

from ..sealing import DataKey, Sealer, WrappedKey
from .sealed_columns import ONE

_MOST_KEYS = 10_000
_MOST_PLACES = 100_000


@dataclass(slots=True)
class Place:
    """A bank as far as sealing goes. `named`: its names are sealed, which they then stay."""

    tenant: str
    key: int
    named: bool
    _about: dict[str, bytes] = field(default_factory=dict)

    def about(self, column: str) -> bytes:
        """Return what binds a value to its tenant, its bank and its column."""
        found = self._about.get(column)
        if found is None:
            text = f"{self.tenant}\0{self.key}\0{ONE.get(column, column)}"
            found = self._about[column] = text.encode()
        return found


@dataclass(frozen=True, slots=True)
class BankFiles:
    """A `keeping.sealing.FileKey`."""

    key: DataKey
    place: Place

    def seal(self, plain: bytes, where: str) -> bytes:
        """Seal a block of a file."""
        return self.key.seal(plain, self._about(where))

    def open(self, sealed: bytes, where: str) -> bytes:
        """Open what `seal` made."""
        return self.key.open(sealed, self._about(where))

    def _about(self, where: str) -> bytes:
        return f"{self.place.tenant}\0{self.place.key}\0file\0{where}".encode()


class Vault:
    """Data keys by their ids, and banks by their keys; shared by all connections of a store.

    Both are bounded and made again from the tables. A bank's tenant never changes, for its key is
    a hash of both; a data key in use is looked up anew in each transaction that writes.
    """

    def __init__(self, sealer: Sealer) -> None:
        self.sealer = sealer
        self._keys: dict[bytes, DataKey] = {}
        self._places: dict[int, Place] = {}

    def key(self, tenant: str, kept: WrappedKey) -> DataKey:
        """Return a data key that stands in the tables."""
        found = self._keys.get(kept.id)
        if found is None:
            found = self.sealer.unwrap(tenant, kept)
            if len(self._keys) >= _MOST_KEYS:
                self._keys.clear()
            self._keys[kept.id] = found
        return found

    def known(self, key_id: bytes) -> DataKey | None:
        """Return a data key that was used before."""
        return self._keys.get(key_id)

    def place(self, key: int) -> Place | None:
        """Return a bank whose names are sealed."""
        return self._places.get(key)

    def keep(self, place: Place) -> None:
        """Keep a bank whose names are sealed."""
        if len(self._places) >= _MOST_PLACES:
            self._places.clear()
        self._places[place.key] = place

    def forget(self) -> None:
        """Forget all of it."""
        self._keys.clear()
        self._places.clear()
