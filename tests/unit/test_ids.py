"""Identifiers: time-ordered, unique, and read in three spellings."""

from __future__ import annotations

import uuid

import pytest
from hypothesis import given
from hypothesis import strategies as st

from remembrancer.nouns.clock import FixedClock
from remembrancer.nouns.errors import InvalidInput
from remembrancer.nouns.ids import IdMaker, bank_key, parse_id, to_ulid, to_uuid


def test_ids_rise_and_are_uuid7() -> None:
    clock = FixedClock(1_700_000_000_000_000)
    ids = IdMaker(clock)
    made = [ids.new() for _ in range(5_000)]
    clock.us -= 60_000_000  # the clock steps back
    made += [ids.new() for _ in range(10)]
    assert made == sorted(set(made))
    first = uuid.UUID(bytes=made[0])
    assert (first.version, first.variant) == (7, uuid.RFC_4122)
    assert int.from_bytes(made[0][:6], "big") == 1_700_000_000_000


def test_the_same_randomness_gives_the_same_ids() -> None:
    def make() -> list[bytes]:
        ids = IdMaker(FixedClock(0), lambda n: b"\x5a" * n)
        return [ids.new() for _ in range(200)]

    assert make() == make()


@given(st.binary(min_size=16, max_size=16))
def test_three_spellings_of_one_id(value: bytes) -> None:
    alphabet = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
    number = int.from_bytes(value, "big")
    crockford = "".join(alphabet[(number >> shift) & 31] for shift in range(125, -1, -5))
    assert to_ulid(value) == crockford
    for text in (to_uuid(value), value.hex(), value.hex().upper(), crockford, crockford.lower()):
        assert parse_id(text) == value


@pytest.mark.parametrize("text", ["", "x", "g" * 32, "Z" * 26, "0" * 31, "é" * 26, "U" * 26])
def test_other_texts_are_refused_by_name(text: str) -> None:
    with pytest.raises(InvalidInput) as error:
        parse_id(text, "memory_id")
    assert error.value.field == "memory_id"


def test_bank_keys_tell_names_apart() -> None:
    keys = {bank_key(*names) for names in (("a", "bc"), ("ab", "c"), ("", "abc"), ("abc", ""))}
    assert len(keys) == 4
    assert all(-(2**63) <= key < 2**63 for key in keys)
