"""Index files that are sealed: read back as written, and refused when anything is not."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from remembrancer.finding import index_files
from remembrancer.finding.part import Part, build_part
from remembrancer.finding.segment import open_part, write_part
from remembrancer.finding.terms import Analyzer, pack
from remembrancer.keeping.aes import AesSealer
from remembrancer.keeping.relational.vault import BankFiles, Place
from remembrancer.keeping.view import IndexRow
from remembrancer.nouns.clock import FixedClock
from remembrancer.nouns.errors import Corrupt
from remembrancer.nouns.ids import IdMaker
from remembrancer.nouns.memory import BankRef

SEALER = AesSealer([bytes(range(32))])
KEPT = SEALER.new_key("acme")
MARK, LENGTH = 8, 8


def key_of(bank: str, tenant: str = "acme") -> BankFiles:
    return BankFiles(SEALER.unwrap("acme", KEPT), Place(tenant, BankRef(tenant, bank).key, True))


@pytest.fixture
def part() -> Part:
    ids, terms = IdMaker(FixedClock(1_700_000_000_000_000)), Analyzer().terms
    rows = [
        IndexRow(
            ids.new(), 0, 0, None, "Imogen", 0, 5, None, None, ("a",), pack(terms(text)), b"",
            bytes([n] * 16), 1.0, None, 0.0,
        )
        for n, text in enumerate(("the cello is old", "the drum is new"))
    ]  # fmt: skip
    return build_part(rows, 16)


def test_a_sealed_segment_reads_back_as_written(
    tmp_path: Path, part: Part, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(index_files, "_BLOCK", 100)  # several blocks
    plain, sealed = tmp_path / "plain.seg", tmp_path / "sealed.seg"
    write_part(plain, part)
    write_part(sealed, part, key_of("kim"))
    assert b"Imogen" in plain.read_bytes()
    assert b"Imogen" not in sealed.read_bytes()
    assert bytes([1] * 16) not in sealed.read_bytes()
    one, other = open_part(plain), open_part(sealed, key_of("kim"))
    assert other.speakers == one.speakers == ("Imogen",)
    assert np.array_equal(other.ids, one.ids)
    assert np.array_equal(other.codes, one.codes)
    assert all(np.array_equal(a, b) for a, b in zip(other.text, one.text, strict=True))


def swapped(held: bytes) -> bytes:
    """Exchange the first two blocks."""
    first = LENGTH + int.from_bytes(held[MARK : MARK + LENGTH], "little")
    at = MARK + first
    second = LENGTH + int.from_bytes(held[at : at + LENGTH], "little")
    return held[:MARK] + held[at : at + second] + held[MARK:at] + held[at + second :]


def without_last(held: bytes) -> bytes:
    """Leave out the last block."""
    at = MARK
    while (after := at + LENGTH + int.from_bytes(held[at : at + LENGTH], "little")) < len(held):
        at = after
    return held[:at]


HARM: dict[str, Callable[[bytes], bytes]] = {
    "a bit": lambda held: held[:50] + bytes([held[50] ^ 1]) + held[51:],
    "the end": lambda held: held[:-1],
    "the last block": without_last,
    "the order": swapped,
    "everything": lambda held: b"",
    "the mark": lambda held: b"RMBSEG1\n" + held[8:],
    "a length": lambda held: held[:MARK] + bytes(LENGTH) + held[MARK + LENGTH :],
}


@pytest.mark.parametrize("what", HARM)
def test_a_harmed_file_is_refused(
    tmp_path: Path, part: Part, what: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(index_files, "_BLOCK", 100)
    path = tmp_path / "one.seg"
    write_part(path, part, key_of("kim"))
    path.write_bytes(HARM[what](path.read_bytes()))
    with pytest.raises(Corrupt):
        open_part(path, key_of("kim"))


def test_a_file_opens_for_its_bank_under_its_name_alone(tmp_path: Path, part: Part) -> None:
    path = tmp_path / "one.seg"
    write_part(path, part, key_of("kim"))
    for key in (key_of("lee"), key_of("kim", "other"), None):
        with pytest.raises(Corrupt):
            open_part(path, key)
    renamed = path.rename(tmp_path / "two.seg")
    with pytest.raises(Corrupt):
        open_part(renamed, key_of("kim"))
    plain = tmp_path / "plain.seg"
    write_part(plain, part)
    with pytest.raises(Corrupt, match="is not sealed"):
        open_part(plain, key_of("kim"))
