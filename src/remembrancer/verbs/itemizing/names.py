"""How items are named: as records, as a unit, and by tags."""

from __future__ import annotations

import hashlib
import json

from ...nouns.errors import InvalidInput, TooLarge
from ...nouns.memory import BankRef
from ...nouns.text import clean

Namespace = tuple[str, ...]
"""A path of labels, from the root down."""

NAMESPACE = "item-namespace"
"""Kind of the records of namespaces that hold items."""

EXPIRY = "item-expiry"
"""Kind of the records of when items expire: they are made at that time."""

MAX_NAME_BYTES = 1_000
"""Of a key, and of the JSON of a namespace, in UTF-8."""

_KIND = "item:"
_TAG = "namespace:"
_VERSION, _VARIANT = 0x80, 0x80  # of a UUID whose bits are its maker's own


def checked_name(namespace: Namespace, key: str) -> None:
    """Check a name.

    Raises:
        InvalidInput: a part of it is empty or no text.
        TooLarge: it is too long.
    """
    if not namespace or not all(isinstance(p, str) and p for p in namespace):
        raise InvalidInput("namespace must hold texts that are not empty", field="namespace")
    if not isinstance(key, str) or not key:
        raise InvalidInput("key must be a text that is not empty", field="key", limit=1)
    for name, text in (("namespace", namespace_key(namespace)), ("key", key)):
        if clean(text) != text:
            raise InvalidInput(f"{name} must hold no control characters", field=name)
        size = len(text.encode())
        if size > MAX_NAME_BYTES:
            raise TooLarge(
                f"{name} has {size} bytes; the limit is {MAX_NAME_BYTES}",
                field=name,
                limit=MAX_NAME_BYTES,
            )


def namespace_key(namespace: Namespace) -> str:
    """Return a namespace as one text, from which `namespace_of` reads it back."""
    return json.dumps(namespace, ensure_ascii=False, separators=(",", ":"))


def namespace_of(key: str) -> Namespace:
    """Return the namespace of a text."""
    return tuple(json.loads(key))


def kind_of(namespace: Namespace) -> str:
    """Return the kind of the records of a namespace's items."""
    return f"{_KIND}{namespace_key(namespace)}"


def expiry_key(namespace: Namespace, key: str) -> str:
    """Return the key of the record of when an item expires."""
    return namespace_key((*namespace, key))


def named_by(expiry: str) -> tuple[Namespace, str]:
    """Return the namespace and key of an item, by the key of when it expires."""
    *namespace, key = json.loads(expiry)
    return tuple(namespace), key


def tag_of(prefix: Namespace) -> str:
    """Return the tag of everything in a namespace and below it."""
    return f"{_TAG}{namespace_key(prefix)}"


def tags_of(namespace: Namespace) -> tuple[str, ...]:
    """Return the tags of an item: one for its namespace, and one for each above it."""
    return tuple(tag_of(namespace[: depth + 1]) for depth in range(len(namespace)))


def unit_id_of(ref: BankRef, namespace: Namespace, key: str) -> bytes:
    """Return the id of an item's unit: a UUID of version 8, of its name alone.

    So two who put one item at the same time write one unit.
    """
    name = json.dumps([ref.tenant, ref.bank, namespace, key]).encode()
    made = bytearray(hashlib.blake2b(name, digest_size=16).digest())
    made[6] = made[6] & 0x0F | _VERSION
    made[8] = made[8] & 0x3F | _VARIANT
    return bytes(made)
