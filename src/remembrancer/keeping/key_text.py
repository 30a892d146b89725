"""Key-encryption keys as people write them."""

from __future__ import annotations

import base64
import binascii
import os

from ..nouns.errors import InvalidInput

KEY_BYTES = 32


def keys_of(text: str, field: str) -> list[bytes]:
    """Read key-encryption keys: base64 of 32 bytes each, by commas or lines, the newest first.

    Raises:
        InvalidInput: one is none; the message repeats nothing of it.
    """
    words = text.replace(",", " ").split()
    found = [_key(word) for word in words]
    if not found or None in found:
        raise InvalidInput(
            f"{field} must be {KEY_BYTES} bytes in base64, or several by commas, the newest first; "
            "make one with `remembrancer encryption-key`",
            field=field,
            limit=KEY_BYTES,
        )
    return [key for key in found if key is not None]


def new_key() -> str:
    """Make a key-encryption key and spell it."""
    return base64.b64encode(os.urandom(KEY_BYTES)).decode()


def _key(word: str) -> bytes | None:
    try:
        key = base64.b64decode(word.replace("-", "+").replace("_", "/"), validate=True)
    except (binascii.Error, ValueError):
        return None
    return key if len(key) == KEY_BYTES else None
