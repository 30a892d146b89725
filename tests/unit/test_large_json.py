"""Large JSON read in pieces gives what the standard library gives, errors and positions too."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from remembrancer.faces.http import large_json

TEXTS = st.text(st.sampled_from('ab"\\/\n\té漢😀\ud83d\udc00, {}[]:'), max_size=60)
VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | TEXTS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXTS, inner, max_size=4),
    max_leaves=25,
)


@pytest.fixture(autouse=True, scope="module")
def small_pieces() -> Any:
    """Pieces so small that everything crosses their ends."""
    patch = pytest.MonkeyPatch()
    patch.setattr(large_json, "PIECE", 5)
    patch.setattr(large_json, "REST_S", 0.0)
    patch.setattr(
        large_json,
        "_CHARACTERS",
        re.compile(
            large_json._CHARACTERS.pattern.replace("{1,4096}", "{1,2}").replace("{1,64}", "{1,3}")
        ),
    )
    yield
    patch.undo()


def _refuse(name: str) -> Any:
    raise ValueError(name)


def _told(read: Any, text: str) -> Any:
    try:
        return "value", read(text)
    except json.JSONDecodeError as error:
        return "error", error.msg, error.pos
    except ValueError as error:
        return "other", str(error)


def _ours(text: str) -> Any:
    return _told(lambda t: large_json.loads(t, _refuse), text)


def _theirs(text: str) -> Any:
    return _told(lambda t: json.loads(t, strict=False, parse_constant=_refuse), text)


@settings(max_examples=80, deadline=None)
@given(VALUES, st.booleans(), st.sampled_from([None, 1]))
def test_values_are_the_same(value: Any, ascii_only: bool, indent: int | None) -> None:
    text = json.dumps(value, ensure_ascii=ascii_only, indent=indent)
    assert _ours(text) == _theirs(text)


@settings(max_examples=150, deadline=None)
@given(VALUES, st.data())
def test_errors_are_the_same(value: Any, data: st.DataObject) -> None:
    text = json.dumps(value, ensure_ascii=data.draw(st.booleans()))
    at = data.draw(st.integers(0, len(text)))
    put = data.draw(
        st.sampled_from(["", '"', "\\", "\\u12", ",", "}", "]", ":", "x", "NaN", "\x00"])
    )
    broken = text[:at] + put + text[at + data.draw(st.integers(0, 2)) :]
    assert _ours(broken) == _theirs(broken)


@pytest.mark.parametrize(
    "text",
    [
        "", " ", "[1,]", '{"a":1,}', '{"a" 1}', '{"a":}', "{a:1}", "[1 2]", "[", "{", '"abc',
        '["abcdefgh', '"abcdefg\\', '"abcdefg\\q"', '"abcdefg\\u12g4"', '"\\ud83dabcdef"', "1 2",
        '{"a":1,"a":2}', "[NaN]", "-", "[[[[[1,]]]]]", '{"a":{"b":{"c":{"d":[1,2],}}}}',
    ],
)  # fmt: skip
def test_odd_texts_are_the_same(text: str) -> None:
    assert _ours(text) == _theirs(text)


def test_what_is_nested_too_deeply_is_no_crash() -> None:
    with pytest.raises(RecursionError):
        large_json.loads("[" * 100_000, _refuse)


@settings(max_examples=60, deadline=None)
@given(st.text(max_size=30), st.binary(max_size=3), st.integers(0, 40), st.booleans())
def test_bytes_are_decoded_the_same(text: str, odd: bytes, at: int, marked: bool) -> None:
    whole = text.encode("utf-8", "surrogatepass")
    sent = (b"\xef\xbb\xbf" if marked else b"") + whole[:at] + odd + whole[at:]

    def told(read: Any) -> Any:
        try:
            return read()
        except UnicodeDecodeError as error:
            return error.start, error.reason

    assert told(lambda: large_json.decoded(bytearray(sent))) == told(
        lambda: sent.decode("utf-8-sig")
    )


@settings(max_examples=80, deadline=None)
@given(VALUES, st.booleans())
def test_structure_is_counted_outside_of_strings(value: Any, ascii_only: bool) -> None:
    text = json.dumps(value, ensure_ascii=ascii_only)
    sent = text.encode("utf-8", "surrogatepass")
    bare = re.sub(rb'"[^"\\]*(?:\\.[^"\\]*)*"', b"", sent, flags=re.DOTALL)
    assert large_json.values_in(sent, -1) == sum(map(bare.count, (b",", b"[", b"{")))
    assert large_json.spells_surrogate(sent) == bool(re.search(rb"\\u[dD]", sent))


def test_a_string_that_never_ends_is_counted_to_its_end() -> None:
    for sent in (b'[1,"abcdefgh\\', b'[1,"abcdefghij', b'[1,"a\\', b'[1,"\\\\\\\\\\\\\\"'):
        assert large_json.values_in(sent, -1) == 2
