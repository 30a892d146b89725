"""Folds memories that say the same into one answer, and counts what proves it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True)
class Proof:
    """How well an answer is proven.

    `count` is how many memories of the bank say it, itself included, up to `MOST_PROOFS`;
    `same_ids` names those that would have been answers of their own.
    """

    count: int = 1
    same_ids: tuple[bytes, ...] = ()


ALONE = Proof()


class Sayings(Protocol):
    """Tells which units say the same; a `keeping.view.Reader` does."""

    def shared_keys(self, ids: Sequence[bytes]) -> Mapping[bytes, bytes]:
        """As `Reader.shared_keys`."""
        ...

    def proofs(self, keys: Sequence[bytes]) -> Mapping[bytes, int]:
        """As `Reader.proofs`."""
        ...


class Fold:
    """Follows which answers have been kept; the first that says something stands for the rest."""

    def __init__(self, reader: Sayings) -> None:
        self._reader = reader
        self._keys: dict[bytes, bytes] = {}
        # by key: the answer, then what it stands for
        self._kept: dict[bytes, dict[bytes, None]] = {}

    def look_up(self, ids: Sequence[bytes]) -> None:
        """Read what the next candidates say; each has to be looked up before the calls below."""
        self._keys.update(self._reader.shared_keys(ids))

    @property
    def idle(self) -> bool:
        """Whether no candidate says what another unit says: none repeats, none need be kept."""
        return not self._keys

    def twins(self, ids: Sequence[bytes]) -> list[list[bytes]]:
        """Return those of some candidates that say the same, in their order: two or more each."""
        found: dict[bytes, list[bytes]] = {}
        for unit_id in ids:
            if unit_id in self._keys:
                found.setdefault(self._keys[unit_id], []).append(unit_id)
        return [each for each in found.values() if len(each) > 1]

    def repeats(self, unit_id: bytes) -> bool:
        """Tell whether a kept answer says the same; the candidate is then counted with it."""
        kept = self._kept.get(self._keys.get(unit_id, b""))
        if kept is None:
            return False
        kept[unit_id] = None
        return True

    def keep(self, unit_id: bytes) -> None:
        """Take a candidate as an answer."""
        key = self._keys.get(unit_id)
        if key is not None:
            self._kept[key] = {unit_id: None}

    def proofs(self) -> dict[bytes, Proof]:
        """Return the proofs of the answers by id; those said once are left out."""
        if not self._kept:
            return {}
        found: dict[bytes, Proof] = {}
        for key, count in self._reader.proofs(list(self._kept)).items():
            first, *rest = self._kept[key]
            if count > 1:
                found[first] = Proof(count, tuple(rest))
        return found
