"""What seals texts at rest: a data key for each tenant, and the key that wraps all of these.

An envelope: the data key seals, the key-encryption key wraps the data key, and only the wrapped
form is kept. Whoever deletes that has erased what was sealed with it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, Protocol

from ..nouns.errors import StoreError
from ..nouns.memory import BankRef

KEY_ID_BYTES = 8

SealProgress = Callable[[int, int], None]
"""Called with how many rows were looked at, and how many there are."""


class KeyErased(StoreError):
    """What is kept was sealed with a data key that is gone."""


class WrappedKey(NamedTuple):
    """A data key as it is kept."""

    id: bytes
    wrapped: bytes


class DataKey(Protocol):
    """The key of one tenant. `about` says where a value stands: it opens nowhere else."""

    @property
    def id(self) -> bytes:
        """What tells it from others: `KEY_ID_BYTES` random bytes."""
        ...

    def seal(self, plain: bytes, about: bytes) -> bytes:
        """Seal a value; the same one looks another way each time."""
        ...

    def open(self, sealed: bytes, about: bytes) -> bytes:
        """Open what `seal` made.

        Raises:
            Corrupt: it was changed, or made for another place.
        """
        ...

    def seal_name(self, plain: bytes, about: bytes) -> bytes:
        """Seal a value, not empty, so that it looks the same each time and can be looked up."""
        ...

    def open_name(self, sealed: bytes, about: bytes) -> bytes:
        """Open what `seal_name` made.

        Raises:
            Corrupt: as `open`.
        """
        ...


class FileKey(Protocol):
    """Seals files of one bank; `where` tells the file and the place in it."""

    def seal(self, plain: bytes, where: str) -> bytes:
        """Seal a block of a file."""
        ...

    def open(self, sealed: bytes, where: str) -> bytes:
        """Open what `seal` made.

        Raises:
            Corrupt: it was changed, or stands elsewhere.
        """
        ...


class Sealer(Protocol):
    """Holds key-encryption keys: the newest wraps, any of them unwraps."""

    def new_key(self, tenant: str) -> WrappedKey:
        """Make a data key for a tenant."""
        ...

    def knows(self, key: WrappedKey) -> bool:
        """Tell whether a data key was wrapped by one of the keys held."""
        ...

    def unwrap(self, tenant: str, key: WrappedKey) -> DataKey:
        """Return a data key ready for use.

        Raises:
            StoreError: none of the keys held has wrapped it.
            Corrupt: it was changed, or is another tenant's.
        """
        ...

    def rewrap(self, tenant: str, key: WrappedKey) -> WrappedKey | None:
        """Wrap a data key by the newest key; None when it is.

        Raises:
            StoreError, Corrupt: as `unwrap`.
        """
        ...


class SealedStore(Protocol):
    """What a store does about its own sealing; without a sealer all of it is refused."""

    @property
    def seals(self) -> bool:
        """Whether it seals what it writes."""
        ...

    async def seal_all(self, progress: SealProgress | None = None) -> int:
        """Seal what was written before; return how many rows were. Goes on where it was stopped.

        What was plain is on disk until the next `sweep`.
        """
        ...

    async def rewrap_keys(self) -> int:
        """Wrap each data key by the newest key, in one transaction; return how many were."""
        ...

    async def tenant_key_erase(self, tenant: str) -> bool:
        """Delete a tenant's data key: what it sealed opens nowhere any more. False: there is none.

        Works without a sealer, too.
        """
        ...

    async def tenant_banks(self, tenant: str, limit: int = 1_000) -> list[BankRef]:
        """Return banks of a tenant, hidden ones too, whether or not their rows can be opened."""
        ...
