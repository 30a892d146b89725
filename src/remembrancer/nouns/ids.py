"""Identifiers: time-ordered UUIDv7, 16 bytes, spelled as UUID, hex or Crockford base32."""

from __future__ import annotations

import hashlib
import os
import threading
from collections.abc import Callable

from .clock import Clock, SystemClock
from .errors import InvalidInput

_CROCKFORD = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
_DECODE = {c: i for i, c in enumerate(_CROCKFORD)} | {"O": 0, "I": 1, "L": 1}

_RANDOM_BYTES = 8  # of one id
_DRAW = 64  # ids whose random bytes are drawn at once


class IdMaker:
    """Makes UUIDv7 (RFC 9562, method 1): 48 bits of Unix ms, a 12-bit counter, 62 random bits.

    Ids of one maker rise strictly, also within a millisecond and when the clock steps back.
    Clock and randomness are passed in, so tests can fix both.
    """

    def __init__(
        self, clock: Clock | None = None, random_bytes: Callable[[int], bytes] = os.urandom
    ) -> None:
        self._clock = clock or SystemClock()
        self._random = random_bytes
        self._lock = threading.Lock()
        self._drawn = b""
        self._ms = 0
        self._counter = 0

    def new(self) -> bytes:
        """Return the next id: 16 bytes."""
        with self._lock:
            ms = max(self._clock.now_us() // 1000, self._ms)
            self._counter = self._counter + 1 if ms == self._ms else 0
            if self._counter > 0xFFF:
                ms, self._counter = ms + 1, 0
            self._ms = ms
            if len(self._drawn) < _RANDOM_BYTES:
                self._drawn = self._random(_DRAW * _RANDOM_BYTES)
            tail = int.from_bytes(self._drawn[:_RANDOM_BYTES], "big") & ((1 << 62) - 1)
            self._drawn = self._drawn[_RANDOM_BYTES:]
            value = (ms << 80) | (0x7 << 76) | (self._counter << 64) | (0b10 << 62) | tail
        return value.to_bytes(16, "big")


def to_uuid(value: bytes) -> str:
    """Spell a 16-byte id as a lower-case UUID.

    Raises:
        ValueError: it has not 16 bytes.
    """
    if len(value) != 16:
        raise ValueError(f"an id has 16 bytes, and not {len(value)}")
    plain = value.hex()  # a quarter of what `uuid.UUID` takes, and an answer has dozens
    return f"{plain[:8]}-{plain[8:12]}-{plain[12:16]}-{plain[16:20]}-{plain[20:]}"


def to_ulid(value: bytes) -> str:
    """Spell a 16-byte id as 26 characters of Crockford base32."""
    number = int.from_bytes(value, "big")
    return "".join(_CROCKFORD[(number >> shift) & 31] for shift in range(125, -1, -5))


def parse_id(text: str, field: str = "id") -> bytes:
    """Read an id spelled as UUID, 32 hex digits or 26 Crockford characters (ULID).

    Raises:
        InvalidInput: when `text` is none of the three; names `field`.
    """
    plain = text.strip().replace("-", "")
    try:
        if len(plain) == 32:
            return bytes.fromhex(plain)
        if len(plain) == 26:
            number = 0
            for char in plain.upper():
                number = number * 32 + _DECODE[char]
            return number.to_bytes(16, "big")
    except (KeyError, ValueError, OverflowError):
        pass
    raise InvalidInput(
        f"{field} must be an id: a UUID, 32 hex digits, or 26 Crockford base32 characters",
        field=field,
    )


def bank_key(tenant: str, bank: str) -> int:
    """Return the signed 64-bit key of a bank: the first column of every primary key.

    It is the first 8 bytes of blake2b over both names, each with its length before it, so that
    ("a", "bc") and ("ab", "c") differ.
    """
    hasher = hashlib.blake2b(digest_size=8)
    for part in (tenant.encode(), bank.encode()):
        hasher.update(len(part).to_bytes(4, "big"))
        hasher.update(part)
    return int.from_bytes(hasher.digest(), "big", signed=True)
