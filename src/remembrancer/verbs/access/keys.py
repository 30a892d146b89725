"""keys: make, list, revoke, rotate and verify API keys.

A key is `rmb_` and 43 characters: 32 random bytes in base64url. Of it only the SHA-256 is kept, for
random bytes as many need no slower hash. It is shown once, when it is made.

Rows stand in a bank of no tenant, so no caller comes to them: a key under its id, with the hashes
of its secrets (a rotated one has two for a while), and its id under each hash. Whoever changes a
key expects the bank's revision, so that a revocation is never overwritten.
"""

from __future__ import annotations

import asyncio
import hmac
from base64 import urlsafe_b64encode
from collections import OrderedDict
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

from ...keeping.batch import Batch
from ...keeping.chain import AUDIT
from ...keeping.records import Record
from ...keeping.store import Store
from ...nouns.caller import Caller
from ...nouns.clock import Clock
from ...nouns.errors import Conflict, NotFound, RemembrancerError, Unauthenticated
from ...nouns.ids import IdMaker, parse_id, to_uuid
from ...nouns.memory import BankRef
from ..audit import Audit
from .key_options import KeyOptions, checked, checked_grace
from .key_rows import KEY, SECRET, USED, Key, NewKey, digest_of, key_row, read_key, secret_row

BANK = BankRef("", "keys")
"""Where keys are kept; no caller can name this tenant."""

PREFIX = "rmb_"
SECRET_BYTES = 32
FRESH_US = 5_000_000
"""How long what was read of a key counts; what this process changes counts at once."""

_HELD_US = 1_000_000  # as FRESH_US, for streams: they ask once a second, other calls much oftener
MOST_KEYS = 10_000  # shown by one listing
_CACHED = 4_096
_USED_US = 300_000_000  # how exactly the last use is known
_ATTEMPTS = 10
_KEPT_AUDIT = 10_000


@dataclass(frozen=True, slots=True)
class _Known:
    key: Key
    read_at: int


class Keys:
    """The verbs; everything they need is passed in.

    Args:
        store: where they are kept.
        random_bytes: of the operating system's generator, as `os.urandom`.
    """

    def __init__(
        self,
        store: Store,
        audit: Audit,
        *,
        ids: IdMaker,
        clock: Clock,
        random_bytes: Callable[[int], bytes],
    ) -> None:
        self._store = store
        self._audit = audit
        self._ids = ids
        self._clock = clock
        self._random = random_bytes
        self._known: OrderedDict[str, _Known] = OrderedDict()
        self._held: OrderedDict[str, _Known] = OrderedDict()
        self._changes = 0  # what was read before the last one is not kept
        self._used: OrderedDict[str, int] = OrderedDict()
        self._notes: set[asyncio.Task[None]] = set()
        self._any: tuple[bool, int] | None = None

    async def create(
        self, options: KeyOptions, *, by: str | None = None, transport: str = "internal"
    ) -> NewKey:
        """Make a key; durable when it returns.

        Args:
            options: what it is for.
            by: the id of the key that asks for it.
            transport: how it came in.

        Raises:
            InvalidInput: names the field at fault.
        """
        now = self._clock.now_us()
        options = checked(options, now)
        secret = self._secret()
        digest = digest_of(secret)
        key = Key(to_uuid(self._ids.new()), options, now, hashes={digest: None})
        entry = self._entry("key.create", key, by, transport)
        rows = [key_row(key, now), secret_row(digest, key.id, now), entry]
        await self._store.apply(BANK, Batch(records=rows))
        await self._changed()
        return NewKey(key, secret)

    async def list(self, tenant: str | None = None) -> Sequence[Key]:
        """Return the keys of a tenant, or of all, newest first; revoked ones too."""
        rows = await self._store.records(BANK, KEY, limit=MOST_KEYS)
        used = {r.key: r.updated_at for r in await self._store.records(BANK, USED, limit=MOST_KEYS)}
        keys = [replace(read_key(row), last_used_at=used.get(row.key)) for row in rows]
        return [key for key in keys if tenant is None or key.options.tenant == tenant]

    async def get(self, key_id: str, tenant: str | None = None) -> Key:
        """Return a key, of a tenant or of any.

        Raises:
            NotFound: there is none of that id.
            InvalidInput: it is no id.
        """
        wanted = to_uuid(parse_id(key_id, "key_id"))
        row = await self._store.record(BANK, KEY, wanted)
        key = None if row is None else read_key(row)
        if key is None or tenant not in {None, key.options.tenant}:
            raise NotFound(f"there is no key {wanted}", field="key_id")
        used = await self._store.record(BANK, USED, wanted)
        return replace(key, last_used_at=used.updated_at if used else None)

    async def revoke(
        self,
        key_id: str,
        *,
        tenant: str | None = None,
        by: str | None = None,
        transport: str = "internal",
    ) -> Key:
        """Refuse a key from now on; again it changes nothing.

        Raises:
            NotFound: there is none of that id.
        """

        def change(key: Key, now: int) -> tuple[Key, Batch]:
            if key.revoked_at is not None:
                return key, Batch()
            gone = [(SECRET, digest) for digest in key.hashes]
            key = replace(key, revoked_at=now, hashes={})
            entry = self._entry("key.revoke", key, by, transport)
            return key, Batch(erase_records=gone, records=[key_row(key, now), entry])

        return await self._change(key_id, tenant, change)

    async def rotate(
        self,
        key_id: str,
        grace_s: float = 0,
        *,
        tenant: str | None = None,
        by: str | None = None,
        transport: str = "internal",
    ) -> NewKey:
        """Give a key another secret; the old one is valid for `grace_s` seconds more.

        Raises:
            NotFound: there is none of that id.
            InvalidInput: the time of grace is out of bounds.
            Conflict: it was revoked.
        """
        grace = checked_grace(grace_s)
        secret = self._secret()
        digest = digest_of(secret)

        def change(key: Key, now: int) -> tuple[Key, Batch]:
            if key.revoked_at is not None:
                raise Conflict(f"key {key.id} was revoked: make a new one", field="key_id")
            kept = {
                old: min(now + grace, until or now + grace)
                for old, until in key.hashes.items()
                if grace and (until is None or until > now)
            }
            gone = [(SECRET, old) for old in key.hashes if old not in kept]
            key = replace(key, rotated_at=now, hashes={**kept, digest: None})
            entry = self._entry("key.rotate", key, by, transport, grace_s=grace_s)
            new = [key_row(key, now), secret_row(digest, key.id, now), entry]
            return key, Batch(erase_records=gone, records=new)

        return NewKey(await self._change(key_id, tenant, change), secret)

    async def verify(self, secret: str) -> Caller:
        """Return who calls with a key.

        Raises:
            Unauthenticated: it is unknown, revoked or has expired.
        """
        digest = digest_of(secret)
        now = self._clock.now_us()
        known = self._known.get(digest)
        if known is None or not 0 <= now - known.read_at < FRESH_US:
            known = await self._look_up(digest, now)
        if known is None:
            raise Unauthenticated("authentication failed: unknown API key")
        if known.key.ended(digest, now):
            raise Unauthenticated("authentication failed: API key has expired")
        self._note_use(known.key.id, now)
        return known.key.caller(digest)

    async def holds(self, key_id: str, digest: str) -> bool:
        """Return whether a secret of a key is valid still: none of the two has ended."""
        now = self._clock.now_us()
        known = self._held.get(key_id)
        if known is None or not 0 <= now - known.read_at < _HELD_US:
            changes = self._changes
            row = await self._store.record(BANK, KEY, key_id)
            if row is None:
                return False
            known = _Known(read_key(row), now)
            if changes == self._changes:
                self._held[key_id] = known
                while len(self._held) > _CACHED:
                    self._held.popitem(last=False)
        return not known.key.ended(digest, now)

    async def exist(self) -> bool:
        """Return whether there is a key, be it revoked; once there was, there is."""
        now = self._clock.now_us()
        known = self._any
        if known is not None and (known[0] or 0 <= now - known[1] < FRESH_US):
            return known[0]
        found = await self._store.record_count(BANK, KEY) > 0
        self._any = found, now
        return found

    async def log(self, limit: int = 100) -> Sequence[Record]:
        """Return who made, rotated and revoked which keys, newest first."""
        return await self._store.records(BANK, AUDIT, limit=limit)

    async def close(self) -> None:
        """Write what waits."""
        await asyncio.gather(*self._notes, return_exceptions=True)

    def _secret(self) -> str:
        return PREFIX + urlsafe_b64encode(self._random(SECRET_BYTES)).decode().rstrip("=")

    async def _look_up(self, digest: str, now: int) -> _Known | None:
        changes = self._changes
        row = await self._store.record(BANK, SECRET, digest)
        self._known.pop(digest, None)
        if row is None:
            return None
        key_row = await self._store.record(BANK, KEY, row.data["key"])
        key = None if key_row is None else read_key(key_row)
        if key is None or not any(hmac.compare_digest(digest, own) for own in key.hashes):
            return None
        found = _Known(key, now)
        if changes == self._changes:  # else it may have been read before a revocation
            self._known[digest] = found
            self._known.move_to_end(digest)
            while len(self._known) > _CACHED:
                self._known.popitem(last=False)
        return found

    async def _change(
        self,
        key_id: str,
        tenant: str | None,
        change: Callable[[Key, int], tuple[Key, Batch]],
    ) -> Key:
        for attempt in range(_ATTEMPTS):
            bank = await self._store.bank(BANK)
            key = await self.get(key_id, tenant)
            key, batch = change(key, self._clock.now_us())
            try:
                await self._store.apply(
                    BANK, replace(batch, expect_revision=bank.revision if bank else 0)
                )
            except Conflict:
                if attempt == _ATTEMPTS - 1:
                    raise
                continue
            await self._changed()
            return key
        raise AssertionError

    async def _changed(self) -> None:
        self._changes += 1
        self._known.clear()
        self._held.clear()
        self._any = None
        with suppress(RemembrancerError):  # what was to be done is done
            await self._store.record_trim(BANK, AUDIT, _KEPT_AUDIT)

    def _note_use(self, key_id: str, now: int) -> None:
        """Write down that a key was used, at most every five minutes, and make nobody wait."""
        last = self._used.get(key_id)
        if last is not None and 0 <= now - last < _USED_US:
            return
        self._used[key_id] = now
        self._used.move_to_end(key_id)
        while len(self._used) > _CACHED:
            self._used.popitem(last=False)
        task = asyncio.create_task(self._write_use(key_id, now))
        self._notes.add(task)
        task.add_done_callback(self._notes.discard)

    async def _write_use(self, key_id: str, now: int) -> None:
        try:
            await self._store.record_add([(BANK, Record(USED, key_id, now, now))])
        except RemembrancerError:
            self._used.pop(key_id, None)

    def _entry(self, action: str, key: Key, by: str | None, transport: str, **more: Any) -> Record:
        told: dict[str, Any] = {
            "key_id": key.id,
            "tenant": key.options.tenant,
            "permissions": sorted(key.options.permissions),
            "by": by,
        }
        return self._audit.entry(action, told | more, transport=transport)
