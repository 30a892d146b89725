"""What prime reads of one bank in one snapshot, beside what every reader does."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import NamedTuple, Protocol

from ..nouns.memory import Unit


class Access(NamedTuple):
    """How often a unit was used, and when last."""

    uses: int
    last_at: int | None


class PrimingReader(Protocol):
    """The part of a snapshot's reader that prime uses. Its methods block."""

    @property
    def moment(self) -> Hashable:
        """A token of what the whole store holds in this snapshot.

        Snapshots with the same token show the same; those that show the same may have others.
        """
        ...

    @property
    def intends(self) -> bool:
        """Whether the bank has any intention at all, in whatever state."""
        ...

    def latest(self, limit: int, *, until: int | None = None) -> list[Unit]:
        """Return sources and observations by `mentioned_at` descending (id descending on ties).

        `until` is exclusive.
        """
        ...

    def pinned(self, limit: int) -> list[Unit]:
        """Return the pinned sources and observations, in the order of `latest`.

        Pinned is what has the tag `pinned` or `instruction`, or `pinned: true` among its
        attributes or its metadata.
        """
        ...

    def accesses(self, ids: Sequence[bytes]) -> Mapping[bytes, Access]:
        """Return how often units were used; those never used are left out."""
        ...
