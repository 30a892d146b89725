"""Files to text: what they are, and what is read from them."""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path

import pytest

from remembrancer.nouns.errors import InvalidInput, TooLarge
from remembrancer.reading import office
from remembrancer.reading.file_text import FileKind, kind_of, read_text
from remembrancer.reading.html_text import html_text


@pytest.mark.parametrize(
    ("name", "media_type", "head", "kind"),
    [
        ("notes.TXT", "application/octet-stream", b"\0", FileKind.TEXT),
        ("a.b.md", "", b"", FileKind.TEXT),
        ("rows.tsv", "", b"", FileKind.CSV),
        ("page.htm", "", b"", FileKind.HTML),
        ("log.ndjson", "", b"", FileKind.JSONL),
        ("paper.pdf", "", b"", FileKind.PDF),
        ("upload", "text/csv; charset=utf-8", b"", FileKind.CSV),
        ("upload", "application/pdf", b"", FileKind.PDF),
        ("upload", "", b"%PDF-1.7", FileKind.PDF),
        ("upload", "", "für alle".encode(), FileKind.TEXT),
        ("upload", "", b"\xff\xfea\0b\0", FileKind.TEXT),
        ("upload", "", "ü".encode()[:1], FileKind.TEXT),
        ("photo.jpeg", "image/jpeg", b"\xff\xd8\xff\xe0\0\x10JFIF", None),
        ("upload", "", b"\x89PNG\r\n", None),
    ],
)
def test_kinds_are_told_by_name_type_and_beginning(
    name: str, media_type: str, head: bytes, kind: FileKind | None
) -> None:
    assert kind_of(name, media_type, head) == kind


@pytest.mark.parametrize(
    "data",
    [
        "Grüße".encode(),
        b"\xef\xbb\xbf" + "Grüße".encode(),
        b"\xff\xfe" + "Grüße".encode("utf-16-le"),
        b"\xfe\xff" + "Grüße".encode("utf-16-be"),
        b"\xff\xfe\0\0" + "Grüße".encode("utf-32-le"),
        "Grüße".encode("cp1252"),
    ],
)
def test_texts_are_decoded_whatever_they_are_encoded_in(data: bytes) -> None:
    assert read_text(data, FileKind.TEXT) == "Grüße"


def test_bytes_that_are_no_text_are_refused() -> None:
    with pytest.raises(InvalidInput):
        read_text(b"\0\1\2", FileKind.TEXT)


def test_each_row_of_a_table_names_its_columns() -> None:
    table = 'plant,height,note\nOak,20,"old, and hollow"\n\nFern,,shade\n'
    assert read_text(table.encode(), FileKind.CSV).splitlines() == [
        "plant = Oak; height = 20; note = old, and hollow",
        "plant = Fern; note = shade",
    ]


def test_a_table_without_a_header_is_read_row_by_row() -> None:
    assert read_text(b"1;Oak\n2;Fern", FileKind.CSV) == "1; Oak\n2; Fern"


def test_a_table_of_messages_becomes_messages() -> None:
    table = "Speaker\tText\nIda\tThe ferry is late.\nOle\tThen we wait.\n"
    lines = read_text(table.encode(), FileKind.CSV).splitlines()
    assert [json.loads(line) for line in lines] == [
        {"speaker": "Ida", "text": "The ferry is late."},
        {"speaker": "Ole", "text": "Then we wait."},
    ]


def test_json_messages_stay_as_they_are() -> None:
    text = json.dumps([{"role": "user", "content": "The ferry is late."}])
    assert read_text(text.encode(), FileKind.JSON) == text
    lines = '{"role": "user", "content": "One."}\n{"role": "user", "content": "Two."}\n'
    assert read_text(lines.encode(), FileKind.JSONL) == lines


def test_other_json_is_told_field_by_field() -> None:
    value = {
        "boat": {"name": "Nora", "built": 1911, "sold": None},
        "ports": ["Kiel", "Oslo"],
        "trips": [{"to": "Oslo", "days": 2}, {"to": "Kiel"}],
    }
    assert read_text(json.dumps(value).encode(), FileKind.JSON).splitlines() == [
        "boat.name = Nora; boat.built = 1911",
        "ports = Kiel, Oslo",
        "trips.to = Oslo; trips.days = 2",
        "trips.to = Kiel",
    ]
    lines = b'{"to": "Oslo"}\nnot json\n[{"to": "Kiel"}]'
    assert read_text(lines, FileKind.JSONL) == "to = Oslo\nnot json\nto = Kiel"


@pytest.mark.parametrize("text", ["{broken", "[" * 5_000 + "]" * 5_000])
def test_json_that_cannot_be_read_is_kept_as_text(text: str) -> None:
    assert read_text(text.encode(), FileKind.JSON) == text


def test_a_page_is_read_as_it_is_seen() -> None:
    page = """<!doctype html><html><head><title>Ferries</title><style>p {color: red}</style>
    <script>if (1 < 2) alert("no")</script></head><body>
    <h1>Lines &amp; times</h1><p>The ferry   to <b>Oslo</b>
    leaves daily.<br>From pier&nbsp;3.</p>
    <ul><li>adults: 40</li><li>children: 20</li></ul>
    <table><tr><th>Day</th><th>Hour</th></tr><tr><td>Monday</td><td>9</td></tr></table>
    <svg><text>hidden</text><svg></svg>also</svg><pre>a  b
c</pre></body></html>"""
    assert html_text(page) == (
        "Ferries\n\n# Lines & times\n\nThe ferry to Oslo leaves daily.\nFrom pier 3.\n\n"
        "- adults: 40\n- children: 20\n\nDay | Hour\nMonday | 9\n\na  b\nc"
    )


@pytest.mark.parametrize(
    ("page", "text"),
    [
        ("<p>one<p>two", "one\n\ntwo"),
        ("</div></p>one</pre>", "one"),
        ("a < b and c > d", "a < b and c > d"),
        ("one<script>never closed", "one"),
        ("one <![[]][[> two", "one two"),
        ("", ""),
    ],
)
def test_broken_pages_are_read_as_far_as_they_go(page: str, text: str) -> None:
    assert html_text(page) == text


FAKE = """
class _Done:
    def __init__(self, markdown):
        self.markdown = markdown

class MarkItDown:
    def __init__(self, *, enable_plugins):
        assert enable_plugins is False

    def convert_stream(self, stream, *, file_extension):
        print("noise that is no text of the file")
        text = stream.read().decode()
        if text == "broken":
            raise ValueError("words of the file")
        if text == "deadly":
            import os
            os._exit(9)
        return _Done(f"# {file_extension}\\n\\n{text}")
"""


@pytest.fixture
def fake_markitdown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Stands for the package, which is large: here and in the process that reads."""
    (tmp_path / "markitdown.py").write_text(FAKE)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    monkeypatch.syspath_prepend(str(tmp_path))


async def read(text: bytes, max_bytes: int = 1_000) -> str:
    with tempfile.TemporaryFile() as file:
        file.write(text)
        return await office.read_office(file, "docx", max_bytes)


async def test_office_files_are_read_in_a_process_of_their_own(fake_markitdown: None) -> None:
    assert await read(b"a letter") == "# .docx\n\na letter"
    assert "markitdown" not in sys.modules


async def test_a_reader_that_fails_tells_the_kind_of_error_alone(fake_markitdown: None) -> None:
    with pytest.raises(InvalidInput) as refused:
        await read(b"broken")
    assert refused.value.message == "markitdown cannot read the file (ValueError)"


async def test_a_reader_that_dies_is_no_fault_of_the_input(fake_markitdown: None) -> None:
    with pytest.raises(Exception, match="ended with status 9") as failed:
        await read(b"deadly")
    assert not isinstance(failed.value, InvalidInput)


async def test_a_file_that_says_too_much_is_refused(fake_markitdown: None) -> None:
    with pytest.raises(TooLarge) as refused:
        await read(b"a letter", 10)
    assert refused.value.limit == 10


def test_without_the_package_nothing_is_promised(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(office, "NAME", "a_package_that_nobody_has")
    assert not office.installed()
