"""Sealing with AES: AES-256-GCM for values and wrapped keys, AES-SIV for names that are looked up.

GCM: NIST SP 800-38D, with a random nonce of 96 bits a value; so one key may seal 2^32 values (8.3).
SIV: RFC 5297 with keys of 256 bits. The keys of both are made from the data key by HMAC.
"""

from __future__ import annotations

import hashlib
import hmac
import os
from collections.abc import Sequence

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM, AESSIV

from ..nouns.errors import Corrupt, StoreError
from .key_text import KEY_BYTES
from .sealing import KEY_ID_BYTES, WrappedKey

_NONCE_BYTES = 12
_WRAPPER_ID_BYTES = 8
_LABEL = b"remembrancer data key\0"


class AesKey:
    """A `keeping.sealing.DataKey`."""

    def __init__(self, key_id: bytes, secret: bytes) -> None:
        self._id = key_id
        self._gcm = AESGCM(hmac.digest(secret, b"values", hashlib.sha256))
        self._siv = AESSIV(hmac.digest(secret, b"names", hashlib.sha512))

    @property
    def id(self) -> bytes:
        """What tells it from others."""
        return self._id

    def seal(self, plain: bytes, about: bytes) -> bytes:
        """Return nonce, sealed value and tag."""
        nonce = os.urandom(_NONCE_BYTES)
        return nonce + self._gcm.encrypt(nonce, plain, about)

    def open(self, sealed: bytes, about: bytes) -> bytes:
        """Open what `seal` made."""
        try:
            return self._gcm.decrypt(sealed[:_NONCE_BYTES], sealed[_NONCE_BYTES:], about)
        except (InvalidTag, ValueError) as exc:
            raise _changed() from exc

    def seal_name(self, plain: bytes, about: bytes) -> bytes:
        """Return the synthetic nonce and the sealed value: the same for the same."""
        return self._siv.encrypt(plain, [about])

    def open_name(self, sealed: bytes, about: bytes) -> bytes:
        """Open what `seal_name` made."""
        try:
            return self._siv.decrypt(sealed, [about])
        except (InvalidTag, ValueError) as exc:
            raise _changed() from exc


class AesSealer:
    """A `keeping.sealing.Sealer` over keys of 32 bytes, the newest first.

    A wrapped key: 8 bytes that tell which key has wrapped it, the nonce, the sealed key, the tag.
    The tenant is associated data, so that the key of one is of no use to another.
    """

    def __init__(self, keys: Sequence[bytes]) -> None:
        self._newest = _wrapper_id(keys[0])
        self._wrappers = {_wrapper_id(key): AESGCM(key) for key in keys}

    def new_key(self, tenant: str) -> WrappedKey:
        """Make a data key for a tenant."""
        return self._wrap(tenant, os.urandom(KEY_ID_BYTES), AESGCM.generate_key(8 * KEY_BYTES))

    def knows(self, key: WrappedKey) -> bool:
        """Tell whether a data key was wrapped by one of the keys held."""
        return key.wrapped[:_WRAPPER_ID_BYTES] in self._wrappers

    def unwrap(self, tenant: str, key: WrappedKey) -> AesKey:
        """Return a data key ready for use."""
        return AesKey(key.id, self._unwrap(tenant, key))

    def rewrap(self, tenant: str, key: WrappedKey) -> WrappedKey | None:
        """Wrap a data key by the newest key; None when it is."""
        if key.wrapped[:_WRAPPER_ID_BYTES] == self._newest:
            return None
        return self._wrap(tenant, key.id, self._unwrap(tenant, key))

    def _wrap(self, tenant: str, key_id: bytes, secret: bytes) -> WrappedKey:
        nonce = os.urandom(_NONCE_BYTES)
        sealed = self._wrappers[self._newest].encrypt(nonce, secret, _about(tenant, key_id))
        return WrappedKey(key_id, self._newest + nonce + sealed)

    def _unwrap(self, tenant: str, key: WrappedKey) -> bytes:
        wrapper = self._wrappers.get(key.wrapped[:_WRAPPER_ID_BYTES])
        if wrapper is None:
            raise StoreError(
                "a data key was wrapped by another encryption key than those given: give that one, "
                "too, after the newest"
            )
        rest = key.wrapped[_WRAPPER_ID_BYTES:]
        nonce, sealed = rest[:_NONCE_BYTES], rest[_NONCE_BYTES:]
        try:
            return wrapper.decrypt(nonce, sealed, _about(tenant, key.id))
        except (InvalidTag, ValueError) as exc:
            raise Corrupt(
                f"the data key of tenant {tenant!r} was changed, or is another tenant's: restore "
                "the store from a backup"
            ) from exc


def _wrapper_id(key: bytes) -> bytes:
    return hmac.digest(key, b"which key is it", hashlib.sha256)[:_WRAPPER_ID_BYTES]


def _about(tenant: str, key_id: bytes) -> bytes:
    return _LABEL + key_id + tenant.encode()


def _changed() -> Corrupt:
    return Corrupt(
        "a sealed value does not open: it was changed, or stands where it was not written; restore "
        "the store from a backup"
    )
