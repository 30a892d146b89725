"""Once: the same key makes the same intentions, however often a request is sent."""

from __future__ import annotations

from ...keeping.store import Store
from ...nouns.clock import DAY_US, Clock
from ...nouns.errors import Conflict, InvalidInput
from ...nouns.ids import IdMaker
from ...nouns.memory import BankRef

KEY_CHARS = 255
KEPT_US = 7 * DAY_US
"""How long a key is known."""
_BYTES = 16  # of an id


class Once:
    """Gives out ids under a key; everything it needs is passed in.

    The ids are kept before anything is made under them. So of two requests at the same time, or of
    one that is sent again after a crash, all make the same things.
    """

    def __init__(self, store: Store, *, ids: IdMaker, clock: Clock) -> None:
        self._store = store
        self._ids = ids
        self._clock = clock

    async def __call__(self, ref: BankRef, key: str, count: int) -> list[bytes]:
        """Return as many ids: those given out under the key before, or new ones.

        Raises:
            InvalidInput: the key is empty or too long.
            Conflict: another request, with another number of things, had this key.
        """
        if not 1 <= len(key) <= KEY_CHARS:
            raise InvalidInput(
                f"Idempotency-Key must have 1 to {KEY_CHARS} characters",
                field="Idempotency-Key",
                limit=KEY_CHARS,
            )
        name = f"once/{key}"
        now = self._clock.now_us()
        made = [self._ids.new() for _ in range(count)]
        if await self._store.blob_put(ref, name, b"".join(made), now + KEPT_US):
            return made
        kept = await self._store.blob_get(ref, name, now)
        if kept is None:  # it has expired in between
            return await self(ref, key, count)
        if len(kept) != count * _BYTES:
            raise Conflict(
                f"this Idempotency-Key was used for {len(kept) // _BYTES} intentions; "
                "use another one for another request",
                field="Idempotency-Key",
            )
        return [kept[i : i + _BYTES] for i in range(0, len(kept), _BYTES)]
