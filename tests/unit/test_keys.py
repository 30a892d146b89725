"""API keys: what is kept of them, how long they are valid, and what a caller with one may do."""

from __future__ import annotations

import asyncio
import hashlib
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import SecretStr

from remembrancer.faces.grpc.auth import caller_of
from remembrancer.keeping.sqlite import SqliteStore
from remembrancer.nouns.caller import EVERYTHING, Caller, Permission, Rate
from remembrancer.nouns.clock import FixedClock
from remembrancer.nouns.errors import (
    Conflict,
    Forbidden,
    InvalidInput,
    NotFound,
    RateLimited,
    Unauthenticated,
)
from remembrancer.nouns.ids import IdMaker
from remembrancer.settings import ALIASES, Settings
from remembrancer.verbs.access.gate import Gate
from remembrancer.verbs.access.key_options import KeyOptions, granted, may_hold
from remembrancer.verbs.access.keys import BANK, FRESH_US, Keys
from remembrancer.verbs.audit import Audit

NOW = 1_700_000_000_000_000
READ, WRITE, ADMIN, CROSS = Permission
FORM = re.compile(r"rmb_[A-Za-z0-9_-]{43}")


class Randomness:
    """Bytes that differ from call to call."""

    def __init__(self) -> None:
        self.drawn: list[int] = []

    def __call__(self, count: int) -> bytes:
        self.drawn.append(count)
        return hashlib.sha256(str(len(self.drawn)).encode()).digest()[:count]


@asynccontextmanager
async def opened(folder: Path, clock: FixedClock) -> AsyncIterator[Keys]:
    store = SqliteStore(folder, clock=clock)
    await store.open()
    ids = IdMaker(clock)
    keys = Keys(store, Audit(ids=ids, clock=clock), ids=ids, clock=clock, random_bytes=Randomness())
    try:
        yield keys
    finally:
        await keys.close()
        await store.close()


def all_bytes(folder: Path) -> bytes:
    return b"".join(path.read_bytes() for path in folder.rglob("*") if path.is_file())


@pytest.fixture
def clock() -> FixedClock:
    return FixedClock(NOW)


async def test_a_key_is_kept_as_a_hash_only(tmp_path: Path, clock: FixedClock) -> None:
    async with opened(tmp_path, clock) as keys:
        made = await keys.create(KeyOptions("laptop", "acme", banks=("a-*",), max_tier_rank=2.5))
        assert FORM.fullmatch(made.secret)
        assert made.secret not in repr(made)
        caller = await keys.verify(made.secret)
        assert caller == Caller(
            "acme", frozenset({READ, WRITE}), ("a-*",), 2.5, made.key.id, "laptop"
        )
    kept = all_bytes(tmp_path)
    assert hashlib.sha256(made.secret.encode()).hexdigest().encode() in kept
    assert made.secret[4:].encode() not in kept


async def test_no_tenant_lists_the_bank_of_keys(tmp_path: Path, clock: FixedClock) -> None:
    store = SqliteStore(tmp_path, clock=clock)
    await store.open()
    ids = IdMaker(clock)
    keys = Keys(store, Audit(ids=ids, clock=clock), ids=ids, clock=clock, random_bytes=Randomness())
    await keys.create(KeyOptions("a"))
    assert await store.bank(BANK) is not None
    assert await store.banks("default") == []
    assert (await store.totals()).banks == 0
    with pytest.raises(InvalidInput):
        await keys.create(KeyOptions("a", tenant=BANK.tenant))
    await store.close()


@pytest.mark.parametrize(
    "secret", ["", "rmb_", "x", "rmb_" + "A" * 43, "é", "\ud800", "a" * 10_000]
)
async def test_unknown_keys(tmp_path: Path, clock: FixedClock, secret: str) -> None:
    async with opened(tmp_path, clock) as keys:
        await keys.create(KeyOptions("a"))
        with pytest.raises(Unauthenticated, match="unknown"):
            await keys.verify(secret)


async def test_a_revoked_key_is_refused_at_once_here_and_soon_elsewhere(
    tmp_path: Path, clock: FixedClock
) -> None:
    async with opened(tmp_path, clock) as here, opened(tmp_path, clock) as there:
        made = await here.create(KeyOptions("a"))
        assert await here.verify(made.secret) == await there.verify(made.secret)
        await here.revoke(made.key.id)
        with pytest.raises(Unauthenticated):
            await here.verify(made.secret)
        clock.advance(timedelta(microseconds=FRESH_US))
        with pytest.raises(Unauthenticated):
            await there.verify(made.secret)
        again = await there.revoke(made.key.id)
        assert again.revoked_at == NOW
        with pytest.raises(Conflict, match="revoked"):
            await there.rotate(made.key.id)
        assert [each.revoked_at for each in await there.list()] == [NOW]


async def test_a_read_under_way_does_not_outlive_a_revocation(
    tmp_path: Path, clock: FixedClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with opened(tmp_path, clock) as keys:
        made = await keys.create(KeyOptions("a"))
        store: Any = keys._store
        read = store.record
        reached, go_on = asyncio.Event(), asyncio.Event()

        async def slow(ref: Any, kind: str, key: str) -> Any:
            found = await read(ref, kind, key)
            if kind == "api_key" and not reached.is_set():
                reached.set()
                await go_on.wait()
            return found

        monkeypatch.setattr(store, "record", slow)
        under_way = asyncio.create_task(keys.verify(made.secret))
        await reached.wait()
        await keys.revoke(made.key.id)
        go_on.set()
        await under_way  # it began before; no later one passes
        with pytest.raises(Unauthenticated):
            await keys.verify(made.secret)


async def test_rotation_keeps_the_old_one_for_a_while(tmp_path: Path, clock: FixedClock) -> None:
    async with opened(tmp_path, clock) as keys:
        first = await keys.create(KeyOptions("a"))
        second = await keys.rotate(first.key.id, 60)
        assert first.secret != second.secret
        assert await keys.verify(first.secret) == await keys.verify(second.secret)
        clock.advance(timedelta(seconds=59))
        third = await keys.rotate(first.key.id, 60)
        clock.advance(timedelta(seconds=1))
        with pytest.raises(Unauthenticated, match="expired"):  # not prolonged by the second one
            await keys.verify(first.secret)
        await keys.verify(second.secret)
        last = await keys.rotate(first.key.id)
        for old in (second, third):
            with pytest.raises(Unauthenticated):
                await keys.verify(old.secret)
        await keys.verify(last.secret)
        for grace in (-1, 31 * 86_400, float("nan")):
            with pytest.raises(InvalidInput, match="grace_seconds"):
                await keys.rotate(first.key.id, grace)


async def test_what_a_secret_has_opened_lasts_as_long_as_the_secret(
    tmp_path: Path, clock: FixedClock
) -> None:
    async with opened(tmp_path, clock) as here, opened(tmp_path, clock) as there:
        first = await here.create(KeyOptions("a"))
        gates = [Gate(keys, Settings()) for keys in (here, there)]
        old = await here.verify(first.secret)
        assert (old.digest or "x") not in repr(old)
        for gate in gates:
            await gate.recheck(old)
        second = await here.rotate(first.key.id, 60)
        new = await here.verify(second.secret)
        clock.advance(timedelta(seconds=59))
        for gate in gates:
            await gate.recheck(old)
            await gate.recheck(new)
        clock.advance(timedelta(seconds=1))
        for gate in gates:
            await gate.recheck(new)
            with pytest.raises(Unauthenticated, match="expired"):
                await gate.recheck(old)
        last = await here.verify((await here.rotate(first.key.id)).secret)
        clock.advance(timedelta(seconds=1))
        for gate in gates:
            await gate.recheck(last)
            with pytest.raises(Unauthenticated, match="revoked"):
                await gate.recheck(new)


async def test_a_key_ends_when_it_was_to(tmp_path: Path, clock: FixedClock) -> None:
    async with opened(tmp_path, clock) as keys:
        made = await keys.create(KeyOptions("a", expires_at=NOW + 1_000_000))
        clock.advance(timedelta(microseconds=999_999))
        await keys.verify(made.secret)
        clock.advance(timedelta(microseconds=1))
        with pytest.raises(Unauthenticated, match="expired"):
            await keys.verify(made.secret)


async def test_a_rotation_cannot_undo_a_revocation(
    tmp_path: Path, clock: FixedClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with opened(tmp_path, clock) as here, opened(tmp_path, clock) as there:
        made = await here.create(KeyOptions("a"))
        get = here.get

        async def get_then_lose(key_id: str, tenant: str | None = None) -> Any:
            found = await get(key_id, tenant)
            await there.revoke(made.key.id)
            return found

        monkeypatch.setattr(here, "get", get_then_lose)
        with pytest.raises(Conflict, match="revoked"):
            await here.rotate(made.key.id)


async def test_the_last_use_is_known_coarsely(tmp_path: Path, clock: FixedClock) -> None:
    async with opened(tmp_path, clock) as keys:
        made = await keys.create(KeyOptions("a"))
        assert [k.last_used_at for k in await keys.list()] == [None]
        for _ in range(3):
            await keys.verify(made.secret)
            await keys.close()
            clock.advance(timedelta(minutes=2))
        assert [k.last_used_at for k in await keys.list()] == [NOW]
        await keys.verify(made.secret)
        await keys.close()
        assert (await keys.get(made.key.id)).last_used_at == NOW + 360_000_000


async def test_tenants_see_their_own_and_changes_are_told(
    tmp_path: Path, clock: FixedClock
) -> None:
    async with opened(tmp_path, clock) as keys:
        acme, zeta = [await keys.create(KeyOptions("k", tenant)) for tenant in ("acme", "zeta")]
        assert [k.id for k in await keys.list("acme")] == [acme.key.id]
        for work in (keys.get, keys.revoke):
            with pytest.raises(NotFound):
                await work(zeta.key.id, tenant="acme")
        with pytest.raises(NotFound):
            await keys.rotate(zeta.key.id, tenant="acme")
        await keys.verify(zeta.secret)
        clock.advance(timedelta(seconds=1))
        await keys.revoke(zeta.key.id, by=acme.key.id, transport="http")
        newest = (await keys.log())[0].data
        assert (newest["action"], newest["transport"]) == ("key.revoke", "http")
        assert newest["metadata"]["by"] == acme.key.id
        assert [e.data["action"] for e in await keys.log()] == ["key.revoke", *["key.create"] * 2]


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"name": " "}, "name"),
        ({"name": "x" * 129}, "name"),
        ({"tenant": ""}, "tenant"),
        ({"tenant": "a b"}, "tenant"),
        ({"tenant": "x" * 129}, "tenant"),
        ({"permissions": frozenset()}, "permissions"),
        ({"banks": ("",)}, "banks[0]"),
        ({"banks": ("a", "x" * 257)}, "banks[1]"),
        ({"banks": ("a",) * 101}, "banks"),
        ({"expires_at": NOW}, "expires_at"),
        ({"max_tier_rank": float("nan")}, "max_tier_rank"),
        ({"rates": {READ: Rate(0, 1)}}, "rates.read"),
        ({"rates": {READ: Rate(1, 0.5)}}, "rates.read"),
        ({"rates": {CROSS: Rate(1, 1)}}, "rates.cross_tenant"),
    ],
)
async def test_options_that_cannot_be(
    tmp_path: Path, clock: FixedClock, change: dict[str, Any], field: str
) -> None:
    async with opened(tmp_path, clock) as keys:
        with pytest.raises(InvalidInput) as refused:
            await keys.create(replace(KeyOptions("a"), **change))
        assert refused.value.field == field
        assert await keys.list() == []


def test_permissions_are_read_by_name() -> None:
    assert may_hold(["read", "read", "admin"]) == {READ, ADMIN}
    with pytest.raises(InvalidInput) as refused:
        may_hold(["read", "root"])
    assert refused.value.field == "permissions[1]"


permissions = st.frozensets(st.sampled_from(list(Permission)))
banks = st.lists(st.sampled_from(["a-*", "b", "*"]), unique=True).map(tuple)
ranks = st.none() | st.integers(0, 3).map(float)
ends = st.none() | st.integers(NOW, NOW + 3)
callers = st.builds(
    Caller,
    tenant=st.sampled_from(["acme", "zeta"]),
    permissions=permissions,
    banks=banks,
    max_tier_rank=ranks,
    expires_at=ends,
)
asked = st.builds(
    KeyOptions,
    name=st.just("k"),
    tenant=st.sampled_from(["acme", "zeta"]),
    permissions=permissions,
    banks=banks,
    max_tier_rank=ranks,
    expires_at=ends,
)


@given(callers, asked)
def test_nobody_gives_more_than_they_have(caller: Caller, options: KeyOptions) -> None:
    try:
        given_away = granted(caller, options)
    except Forbidden:
        wants = options.permissions - caller.permissions
        leaves = options.tenant != caller.tenant and CROSS not in caller.permissions
        assert (
            wants
            or leaves
            or (caller.banks and not set(options.banks) <= set(caller.banks))
            or (caller.banks and not options.banks)
        )
        return
    assert given_away.permissions <= caller.permissions
    assert given_away.tenant == caller.tenant or CROSS in caller.permissions
    for bank in ("a-1", "b", "c"):
        reached = Caller(banks=given_away.banks).reaches(bank)
        assert caller.reaches(bank) or not reached
    if caller.max_tier_rank is not None:
        assert given_away.max_tier_rank is not None
        assert given_away.max_tier_rank <= caller.max_tier_rank
    if caller.expires_at is not None:
        assert given_away.expires_at is not None
        assert given_away.expires_at <= caller.expires_at


@pytest.mark.parametrize(
    ("patterns", "bank", "reached"),
    [
        ((), "anything", True),
        (("customer-*",), "customer-42", True),
        (("customer-*",), "Customer-42", False),
        (("customer-*",), "my-customer-42", False),
        (("a", "b?"), "b1", True),
        (("a", "b?"), "b", False),
        (("[ab]",), "c", False),
    ],
)
def test_patterns(patterns: tuple[str, ...], bank: str, reached: bool) -> None:
    caller = Caller("acme", banks=patterns)
    assert caller.reaches(bank) is reached
    if reached:
        assert caller.bank(bank).tenant == "acme"
    else:
        with pytest.raises(Forbidden) as refused:
            caller.bank(bank, "entity_id")
        assert refused.value.field == "entity_id"


class Steady:
    """A clock in seconds, moved by hand."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def gate_of(keys: Keys, now: Steady | None = None, **settings: Any) -> Gate:
    return Gate(keys, Settings(data=Path("unused"), **settings), monotonic=now or Steady())


async def test_auth_begins_with_the_first_key_and_stays(tmp_path: Path, clock: FixedClock) -> None:
    async with opened(tmp_path, clock) as here, opened(tmp_path, clock) as there:
        gate, other = gate_of(here), gate_of(there)
        anybody = await gate.caller("whatever")
        assert (anybody.tenant, anybody.permissions) == ("default", EVERYTHING)
        assert (await gate.caller(None, "acme")).tenant == "acme"
        with pytest.raises(InvalidInput, match="tenant_id"):
            await gate.caller(None, "a/b")
        assert not await other.asks()
        made = await here.create(KeyOptions("a"))
        assert await gate.asks()
        clock.advance(timedelta(microseconds=FRESH_US))
        assert await other.asks()
        with pytest.raises(Unauthenticated, match="needed"):
            await gate.caller(None)
        assert (await gate.caller(made.secret)).key_id == made.key.id
        await here.revoke(made.key.id)
        assert await gate.asks()
        assert not await gate_of(here, auth="off").asks()


async def test_the_key_of_the_settings(tmp_path: Path, clock: FixedClock) -> None:
    async with opened(tmp_path, clock) as keys:
        gate = gate_of(keys, api_key=SecretStr("one two three".replace(" ", "-")))
        assert await gate.asks()
        caller = await gate.caller("one-two-three")
        assert (caller.tenant, caller.permissions) == ("default", EVERYTHING)
        assert (await gate.caller("one-two-three", "acme")).tenant == "acme"
        with pytest.raises(Unauthenticated):
            await gate.caller("one-two-thre")
    for bad in ("", "a b", "é", "a\n"):
        with pytest.raises(ValueError, match="api_key"):
            Settings(api_key=SecretStr(bad))


async def test_a_named_tenant_counts_for_cross_tenant_alone(
    tmp_path: Path, clock: FixedClock
) -> None:
    async with opened(tmp_path, clock) as keys:
        gate = gate_of(keys)
        plain = await keys.create(KeyOptions("a", "acme", frozenset({READ, WRITE, ADMIN})))
        root = await keys.create(KeyOptions("a", "acme", EVERYTHING))
        default = await keys.create(KeyOptions("a", "default", frozenset({READ})))
        for secret, tenant in (
            (plain.secret, "acme"),
            (default.secret, "default"),
            (root.secret, "zeta"),
        ):
            assert (await gate.caller(secret, "zeta")).tenant == tenant
            for value in (secret, f"Bearer {secret}", f"bearer  {secret} "):
                metadata = (("user-agent", "x"), ("authorization", value))
                assert (await caller_of(gate, metadata, "zeta")).tenant == tenant
        for metadata in (None, (), (("authorization", "Bearer "),)):
            with pytest.raises(Unauthenticated, match="missing authorization metadata"):
                await caller_of(gate, metadata, "zeta")
        with pytest.raises(Unauthenticated, match="unknown API key"):
            await caller_of(gate, (("authorization", "Bearer rmb_x"),), None)


async def test_a_call_that_lasts_is_checked_again(tmp_path: Path, clock: FixedClock) -> None:
    async with opened(tmp_path, clock) as here, opened(tmp_path, clock) as there:
        gate, other = gate_of(here, api_key=SecretStr("k")), gate_of(there)
        anybody = await other.caller(None)
        await other.recheck(anybody)
        await gate.recheck(await gate.caller("k"))
        lasting = await here.create(KeyOptions("a"))
        ending = await here.create(KeyOptions("a", expires_at=NOW + 60_000_000))
        callers = [await gate.caller(made.secret) for made in (lasting, ending)]
        for caller in callers:
            await gate.recheck(caller)
            await other.recheck(caller)
        clock.advance(timedelta(microseconds=FRESH_US))
        with pytest.raises(Unauthenticated, match="by now"):
            await other.recheck(anybody)
        await here.revoke(lasting.key.id)
        with pytest.raises(Unauthenticated, match="revoked"):
            await gate.recheck(callers[0])
        clock.advance(timedelta(minutes=1))
        for each, caller in ((other, callers[0]), (gate, callers[1]), (other, callers[1])):
            with pytest.raises(Unauthenticated, match="revoked or has expired"):
                await each.recheck(caller)


async def test_rates(tmp_path: Path, clock: FixedClock) -> None:
    async with opened(tmp_path, clock) as keys:
        now = Steady()
        gate = gate_of(keys, now, rate_read=2, rate_read_burst=3)
        caller = Caller(key_id="k")
        for _ in range(3):
            gate.spend(caller, READ)
        with pytest.raises(RateLimited, match="retry after 500ms") as refused:
            gate.spend(caller, READ)
        assert refused.value.retry_after_s == pytest.approx(0.5)
        gate.spend(caller, WRITE)  # another class
        gate.spend(Caller(key_id="other"), READ)
        now.now += 0.5
        gate.spend(caller, READ)
        with pytest.raises(RateLimited):
            gate.spend(caller, READ)
        now.now += 1_000
        for _ in range(3):
            gate.spend(caller, READ)
        with pytest.raises(RateLimited):
            gate.spend(caller, READ)
        own = Caller(key_id="own", rates={READ: Rate(1, 1)})
        gate.spend(own, READ)
        with pytest.raises(RateLimited, match="1000ms"):
            gate.spend(own, READ)
        free = gate_of(keys, now, rate_read=1, rate_read_burst=1, rate_limit=False)
        for _ in range(5):
            free.spend(caller, READ)
            gate.spend(Caller(), READ)  # nobody was asked for a key


def test_names_of_other_servers(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ALIASES:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HEBBS_AUTH_ENABLED", "false")
    monkeypatch.setenv("HEBBS_API_KEY", "hb_abc")
    monkeypatch.setenv("HEBBS_RATE_LIMIT_READ_RATE", "7")
    found = Settings()
    assert (found.auth, found.rate_read) == ("off", 7)
    assert found.api_key is not None
    assert found.api_key.get_secret_value() == "hb_abc"
    monkeypatch.setenv("HEBBS_AUTH_ENABLED", "true")
    monkeypatch.setenv("HINDSIGHT_API_TENANT_API_KEY", "hs")
    monkeypatch.delenv("HEBBS_API_KEY")
    found = Settings()
    assert found.auth == "on"
    assert found.api_key is not None
    assert found.api_key.get_secret_value() == "hs"
    assert Settings(auth="off").auth == "off"
