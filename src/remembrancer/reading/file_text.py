"""Files to text: which kinds can be read without help, and what is read from them.

A file that holds messages (JSON, JSONL, or a table with columns for who and what) stays as it is or
becomes JSON messages, so that turns are told apart. Of other tables and JSON each record becomes
one line that names its fields, for a value alone says nothing.
"""

from __future__ import annotations

import codecs
import csv
import io
import json
from collections.abc import Iterator, Mapping
from enum import StrEnum
from typing import Any

from ..nouns.errors import InvalidInput
from ..nouns.memory import Role
from .format_json import json_turns
from .html_text import html_text

SNIFFED_BYTES = 4096  # of a file whose name and type say nothing


class FileKind(StrEnum):
    """What a file is. The first five are read here, the others by markitdown."""

    TEXT = "text"
    JSON = "json"
    JSONL = "jsonl"
    CSV = "csv"
    HTML = "html"
    PDF = "pdf"
    DOCX = "docx"
    PPTX = "pptx"
    XLSX = "xlsx"

    @property
    def plain(self) -> bool:
        """Whether it can be read here."""
        return self in _PLAIN


_PLAIN = frozenset((FileKind.TEXT, FileKind.JSON, FileKind.JSONL, FileKind.CSV, FileKind.HTML))
_ENDINGS = {
    **dict.fromkeys(("txt", "text", "md", "markdown", "rst", "log", "org"), FileKind.TEXT),
    "json": FileKind.JSON,
    **dict.fromkeys(("jsonl", "ndjson"), FileKind.JSONL),
    **dict.fromkeys(("csv", "tsv"), FileKind.CSV),
    **dict.fromkeys(("html", "htm", "xhtml"), FileKind.HTML),
    **{kind.value: kind for kind in FileKind if not kind.plain},
}
_OFFICE = "application/vnd.openxmlformats-officedocument."
_TYPES = {
    "application/json": FileKind.JSON,
    "application/x-ndjson": FileKind.JSONL,
    "application/jsonl": FileKind.JSONL,
    "text/csv": FileKind.CSV,
    "text/tab-separated-values": FileKind.CSV,
    "text/html": FileKind.HTML,
    "application/xhtml+xml": FileKind.HTML,
    "application/pdf": FileKind.PDF,
    f"{_OFFICE}wordprocessingml.document": FileKind.DOCX,
    f"{_OFFICE}presentationml.presentation": FileKind.PPTX,
    f"{_OFFICE}spreadsheetml.sheet": FileKind.XLSX,
}
# UTF-32's mark begins like UTF-16's, so it comes first.
_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_DELIMITERS = ",;\t|"
_WHO = frozenset(("role", "speaker", "name", "author", "from"))
_WHAT = frozenset(("content", "text", "message"))
_MAX_DEPTH = 8  # of a record's fields; what is deeper is spelled as JSON


def kind_of(name: str, media_type: str, head: bytes) -> FileKind | None:
    """Tell what a file is by its name, else its media type, else its first bytes; None: unknown."""
    ending = name.rpartition(".")[2].lower() if "." in name else ""
    found = _ENDINGS.get(ending) or _TYPES.get(media_type.partition(";")[0].strip().lower())
    if found is not None:
        return found
    if head.startswith(b"%PDF-"):
        return FileKind.PDF
    return FileKind.TEXT if _is_text(head[:SNIFFED_BYTES]) else None


def read_text(data: bytes, kind: FileKind) -> str:
    """Return what a file of a plain kind says.

    Raises:
        InvalidInput: it is no text.
    """
    text = _decoded(data)
    match kind:
        case FileKind.JSON:
            return _json(text)
        case FileKind.JSONL:
            return _jsonl(text)
        case FileKind.CSV:
            return _csv(text)
        case FileKind.HTML:
            return html_text(text)
    return text


def _is_text(head: bytes) -> bool:
    if any(head.startswith(mark) for mark, _ in _MARKS):
        return True
    if b"\0" in head:
        return False
    decoder = codecs.getincrementaldecoder("utf-8")()
    try:
        decoder.decode(head)  # a character cut off at the end is fine
    except UnicodeDecodeError:
        return False
    return True


def _decoded(data: bytes) -> str:
    for mark, encoding in _MARKS:
        if data.startswith(mark):
            return data[len(mark) :].decode(encoding, "replace")
    if b"\0" in data[:SNIFFED_BYTES]:
        raise InvalidInput("the file is no text: it holds NUL bytes", field="files")
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        return data.decode("cp1252", "replace")  # the usual one of texts that are not UTF-8


def _json(text: str) -> str:
    if json_turns(text, Role.NONE) is not None:
        return text
    try:
        value = json.loads(text, strict=False)
    except (ValueError, RecursionError):
        return text
    return "\n".join(_records(value))


def _jsonl(text: str) -> str:
    if json_turns(text, Role.NONE) is not None:
        return text
    lines: list[str] = []
    for line in text.splitlines():
        try:
            lines += _records(json.loads(line, strict=False)) if line.strip() else ()
        except (ValueError, RecursionError):
            lines.append(line)
    return "\n".join(lines)


def _records(value: Any) -> Iterator[str]:
    """Yield a line for each record of a list, or for each field of an object."""
    if isinstance(value, list):
        for each in value:
            yield _line(each)
    elif isinstance(value, dict):
        for key, inner in value.items():
            if isinstance(inner, list) and any(isinstance(each, dict) for each in inner):
                yield from (_line(each, str(key)) for each in inner)
            else:
                yield _line(inner, str(key))
    else:
        yield _line(value)


def _line(value: Any, path: str = "") -> str:
    return "; ".join(_fields(value, path, 0))


def _fields(value: Any, path: str, depth: int) -> Iterator[str]:
    if isinstance(value, dict) and depth < _MAX_DEPTH:
        for key, inner in value.items():
            yield from _fields(inner, f"{path}.{key}" if path else str(key), depth + 1)
        return
    if value is None or value == "":
        return
    if isinstance(value, list) and not any(isinstance(each, dict | list) for each in value):
        spelled = ", ".join(str(each) for each in value)
    elif isinstance(value, dict | list):
        spelled = json.dumps(value, ensure_ascii=False)
    else:
        spelled = str(value)
    yield f"{path} = {spelled}" if path else spelled


def _csv(text: str) -> str:
    first = text.lstrip("\n").partition("\n")[0]
    delimiter = max(_DELIMITERS, key=first.count)
    # A field may be as long as the file.
    rows = _rows(text, delimiter)
    try:
        header = next(rows, [])
        if not _is_header(header):
            return "\n".join("; ".join(filter(None, row)) for row in _again(header, rows))
        keys = [name.strip() for name in header]
        named = ({k: v for k, v in zip(keys, row, strict=False) if v} for row in rows)
        if {k.lower() for k in keys} & _WHO and {k.lower() for k in keys} & _WHAT:
            return "\n".join(json.dumps(_lower(r), ensure_ascii=False) for r in named if r)
        return "\n".join(_line(row) for row in named if row)
    except csv.Error:
        return text


def _rows(text: str, delimiter: str) -> Iterator[list[str]]:
    for row in csv.reader(io.StringIO(text, newline=""), delimiter=delimiter):
        if any(cell.strip() for cell in row):
            yield [cell.strip() for cell in row]


def _again(first: list[str], rest: Iterator[list[str]]) -> Iterator[list[str]]:
    yield first
    yield from rest


def _lower(row: Mapping[str, str]) -> dict[str, str]:
    return {key.lower(): value for key, value in row.items()}


def _is_header(row: list[str]) -> bool:
    """Tell whether a first row names columns: all filled, all different, none a number."""
    if len(row) < 2 or not all(row) or len({cell.lower() for cell in row}) < len(row):
        return False
    return not any(cell.replace(".", "").replace("-", "").isdecimal() for cell in row)
