"""Webhooks of a bank: who is told of what, and how; kept as records."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from ...keeping.batch import Batch
from ...keeping.records import Record
from ...keeping.store import Store
from ...models.outbound import Outbound
from ...nouns.clock import Clock
from ...nouns.errors import InvalidInput, NotFound
from ...nouns.ids import IdMaker, parse_id, to_uuid
from ...nouns.memory import BankRef
from ..reminding.occurrences import withheld

WEBHOOK = "webhook"
"""The kind of their records."""

CONSOLIDATION_COMPLETED = "consolidation.completed"
RETAIN_COMPLETED = "retain.completed"
MEMORY_DEFENSE_TRIGGERED = "memory_defense.triggered"
INTENTION_DUE = "intention.due"
EVENTS = (CONSOLIDATION_COMPLETED, RETAIN_COMPLETED, MEMORY_DEFENSE_TRIGGERED, INTENTION_DUE)
METHODS = ("POST", "PUT", "PATCH", "GET")
MAX_WEBHOOKS = 100  # of one bank
MAX_TIMEOUT_S = 60
MAX_SECRET_CHARS = 1024
MAX_PAIRS = 50  # headers, and parameters
MAX_PAIR_CHARS = 4096

_TOKEN = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")  # RFC 9110, 5.6.2
_VALUE = re.compile(r"[\t\x20-\x7e\xa0-\xff]*")
_OWN_HEADERS = frozenset(
    "host content-length transfer-encoding connection keep-alive te trailer upgrade expect"
    " proxy-connection webhook-id webhook-timestamp webhook-signature".split()
)
_OWN_PREFIXES = ("x-hindsight-", "x-remembrancer-")
_CURSOR = re.compile(r"(\d{1,18})\.(\d{1,9})")
_MASK = "****"
_SHOWN_CHARS = 4  # of a secret that is long enough
_LONG_SECRET = 12


@dataclass(frozen=True, slots=True)
class HttpConfig:
    """How a webhook is called."""

    method: str = "POST"
    timeout_seconds: int = 30
    headers: Mapping[str, str] = field(default_factory=dict)
    params: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Webhook:
    """Who is told of what. `secret` signs what is sent; None: nothing is signed.

    `acknowledges`: a 2xx answer to a due intention acknowledges it. `ceiling`: intentions ranked
    higher are not sent; that of who set the webhook up or changed it last.
    """

    id: str
    url: str
    secret: str | None = None
    event_types: tuple[str, ...] = (CONSOLIDATION_COMPLETED,)
    enabled: bool = True
    http: HttpConfig = HttpConfig()
    acknowledges: bool = True
    ceiling: float | None = None
    created_at: int = 0
    updated_at: int = 0

    @property
    def masked_secret(self) -> str | None:
        """What may be shown of the secret: its end, when it is long enough to keep the rest."""
        if self.secret is None:
            return None
        return _MASK + (self.secret[-_SHOWN_CHARS:] if len(self.secret) >= _LONG_SECRET else "")


class DeliveryPage(NamedTuple):
    """A page of a webhook's deliveries, newest first, and where the next one begins."""

    records: list[Record]
    next_cursor: str | None


class Webhooks:
    """The verbs about webhooks; everything they need is passed in."""

    def __init__(self, store: Store, outbound: Outbound, *, ids: IdMaker, clock: Clock) -> None:
        self._store = store
        self._outbound = outbound
        self._ids = ids
        self._clock = clock

    async def create(self, ref: BankRef, webhook: Webhook) -> Webhook:
        """Keep a new webhook; `id` and times are set here.

        Raises:
            InvalidInput: names the field; or the bank has as many as it may have.
        """
        await self._check(webhook)
        if await self._store.record_count(ref, WEBHOOK) >= MAX_WEBHOOKS:
            raise InvalidInput(
                f"a bank has at most {MAX_WEBHOOKS} webhooks; delete one first",
                field="url",
                limit=MAX_WEBHOOKS,
            )
        now = self._clock.now_us()
        kept = replace(webhook, id=to_uuid(self._ids.new()), created_at=now, updated_at=now)
        await self._store.apply(ref, Batch(records=[record_of(kept)]))
        return kept

    async def list(self, ref: BankRef) -> list[Webhook]:
        """Return a bank's webhooks, newest first."""
        return await webhooks_of(self._store, ref)

    async def get(self, ref: BankRef, webhook_id: str) -> Webhook:
        """Return a webhook.

        Raises:
            NotFound: there is none of that id.
        """
        record = None
        if key := _key(webhook_id):
            record = await self._store.record(ref, WEBHOOK, key)
        if record is None:
            raise NotFound(f"webhook {webhook_id!r} does not exist", field="webhook_id")
        return webhook_of(record)

    async def update(self, ref: BankRef, webhook_id: str, changes: Mapping[str, Any]) -> Webhook:
        """Change fields of a webhook; a secret that is given as it is shown stays as it is.

        Raises:
            NotFound, InvalidInput: as `get` and `create`.
        """
        old = await self.get(ref, webhook_id)
        if "secret" in changes and changes["secret"] == old.masked_secret:
            changes = {**changes, "secret": old.secret}
        new = replace(old, **changes, updated_at=self._clock.now_us())
        await self._check(new)
        await self._store.apply(ref, Batch(records=[record_of(new)]))
        return new

    async def delete(self, ref: BankRef, webhook_id: str) -> None:
        """Delete a webhook with the record of its deliveries; what waits is not sent any more.

        Raises:
            NotFound: there is none of that id.
        """
        webhook = await self.get(ref, webhook_id)
        await self._store.apply(ref, Batch(erase_records=[(WEBHOOK, webhook.id)]))
        await self._store.record_trim(ref, delivery_kind(webhook.id), 0)

    async def deliveries(
        self,
        ref: BankRef,
        webhook_id: str,
        limit: int,
        cursor: str | None = None,
        ceiling: float | None = None,
    ) -> DeliveryPage:
        """Return deliveries, newest first, from where a cursor points.

        Those of intentions ranked above the ceiling are left out; with a ceiling those of
        intentions that are gone, too, of which nobody knows the rank any more.

        Raises:
            NotFound: there is no such webhook.
            InvalidInput: the cursor is none that was given out.
        """
        webhook = await self.get(ref, webhook_id)
        until, skip = _place(cursor)
        read: list[Record] = []
        shown: list[int] = []  # places of what may be seen among those
        more = True
        while more and len(shown) <= limit:
            found = await self._store.records(
                ref,
                delivery_kind(webhook.id),
                until=until,
                limit=limit + 1,
                offset=skip + len(read),
            )
            hidden = await self.hidden(ref, found, ceiling)
            shown += [len(read) + n for n, each in enumerate(found) if each.key not in hidden]
            read += found
            more = len(found) > limit
        page = [read[n] for n in shown[:limit]]
        if len(shown) <= limit:
            return DeliveryPage(page, None)
        passed = read[: shown[limit]]
        last = passed[-1].created_at
        same = sum(record.created_at == last for record in passed)
        # A page that holds nothing but one moment goes on where the one before began.
        before = skip if until == last + 1 else 0
        return DeliveryPage(page, f"{last}.{same + before}")

    async def hidden(
        self, ref: BankRef, found: Sequence[Record], ceiling: float | None
    ) -> set[str]:
        """Return the keys of deliveries that a caller with a ceiling may not see."""
        if ceiling is None:
            return set()
        due = {r.key: parse_id(r.data["occurrence_id"]) for r in found if _tells_due(r)}
        offers = await self._store.offers_by_id(ref, list(due.values())) if due else []
        seen = {o.occurrence.id for o in offers if not withheld(o.intention, ceiling)}
        return {key for key, occurrence_id in due.items() if occurrence_id not in seen}

    async def _check(self, webhook: Webhook) -> None:
        unknown = [name for name in webhook.event_types if name not in EVENTS]
        if unknown or not webhook.event_types:
            named = ", ".join(name[:100] for name in unknown[:10]) or "none"
            raise InvalidInput(
                f"event_types names {named}; there are {', '.join(EVENTS)}", field="event_types"
            )
        if webhook.secret is not None and len(webhook.secret) > MAX_SECRET_CHARS:
            raise InvalidInput(
                f"secret has {len(webhook.secret)} characters; the limit is {MAX_SECRET_CHARS}",
                field="secret",
                limit=MAX_SECRET_CHARS,
            )
        _check_http(webhook.http)
        await self._outbound.check(webhook.url)


def _tells_due(record: Record) -> bool:
    return bool(record.data["event_type"] == INTENTION_DUE)


async def webhooks_of(store: Store, ref: BankRef) -> list[Webhook]:
    """Return a bank's webhooks, newest first."""
    return [webhook_of(r) for r in await store.records(ref, WEBHOOK, limit=MAX_WEBHOOKS)]


def delivery_kind(webhook_id: str) -> str:
    """Return the kind of the records of a webhook's deliveries."""
    return f"delivery/{webhook_id}"


def record_of(webhook: Webhook) -> Record:
    """Spell a webhook as a record."""
    data = {
        "url": webhook.url,
        "secret": webhook.secret,
        "event_types": list(webhook.event_types),
        "enabled": webhook.enabled,
        "method": webhook.http.method,
        "timeout_seconds": webhook.http.timeout_seconds,
        "headers": dict(webhook.http.headers),
        "params": dict(webhook.http.params),
        "acknowledges": webhook.acknowledges,
        "ceiling": webhook.ceiling,
    }
    return Record(WEBHOOK, webhook.id, webhook.created_at, webhook.updated_at, data)


def webhook_of(record: Record) -> Webhook:
    """Read a webhook from its record."""
    data = record.data
    return Webhook(
        id=record.key,
        url=data["url"],
        secret=data["secret"],
        event_types=tuple(data["event_types"]),
        enabled=data["enabled"],
        http=HttpConfig(data["method"], data["timeout_seconds"], data["headers"], data["params"]),
        acknowledges=data.get("acknowledges", True),
        ceiling=data.get("ceiling"),
        created_at=record.created_at,
        updated_at=record.updated_at,
    )


def _check_http(http: HttpConfig) -> None:
    if http.method not in METHODS:
        raise InvalidInput(
            f"http_config.method is {http.method[:20]!r}; it can be {', '.join(METHODS)}",
            field="http_config.method",
        )
    if not 1 <= http.timeout_seconds <= MAX_TIMEOUT_S:
        raise InvalidInput(
            f"http_config.timeout_seconds must lie between 1 and {MAX_TIMEOUT_S}",
            field="http_config.timeout_seconds",
            limit=MAX_TIMEOUT_S,
        )
    for name in ("headers", "params"):
        _check_pairs(f"http_config.{name}", getattr(http, name))
    for header, value in http.headers.items():
        _check_header(header, value)


def _check_pairs(field_name: str, pairs: Mapping[str, str]) -> None:
    if len(pairs) > MAX_PAIRS:
        raise InvalidInput(
            f"{field_name} holds {len(pairs)} entries; the limit is {MAX_PAIRS}",
            field=field_name,
            limit=MAX_PAIRS,
        )
    if any(len(name) + len(value) > MAX_PAIR_CHARS for name, value in pairs.items()):
        raise InvalidInput(
            f"an entry of {field_name} has more than {MAX_PAIR_CHARS} characters",
            field=field_name,
            limit=MAX_PAIR_CHARS,
        )


def _check_header(name: str, value: str) -> None:
    shown = name[:50]
    if not _TOKEN.fullmatch(name):
        raise InvalidInput(
            f"http_config.headers: {shown!r} is no name of a header", field="http_config.headers"
        )
    if name.lower() in _OWN_HEADERS or name.lower().startswith(_OWN_PREFIXES):
        raise InvalidInput(
            f"http_config.headers: {shown} is set by the server", field="http_config.headers"
        )
    if not _VALUE.fullmatch(value):
        raise InvalidInput(
            f"http_config.headers: the value of {shown} holds a line break or a character that no "
            "header may hold",
            field="http_config.headers",
        )


def _key(webhook_id: str) -> str | None:
    try:
        return to_uuid(parse_id(webhook_id, "webhook_id"))
    except InvalidInput:
        return None


def _place(cursor: str | None) -> tuple[int | None, int]:
    """Return before which time to look, and how many of the newest there to leave out."""
    if cursor is None:
        return None, 0
    match = _CURSOR.fullmatch(cursor)
    if match is None:
        raise InvalidInput("cursor must be a next_cursor of an earlier answer", field="cursor")
    return int(match[1]) + 1, int(match[2])
