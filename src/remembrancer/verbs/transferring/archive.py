"""The archive that documents travel in: a ZIP of one JSON file a document, and a manifest.

`documents/000001.json` and so on hold a document each: its name, tags, metadata, when it was made
and changed, and its items in order, each with its content and what was told beside it.
`manifest.jsonl` begins with a line that names format and version; each further line names a file
and its document. Times are microseconds since 1970, UTC.
"""

from __future__ import annotations

import json
import struct
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import IO, Any, NamedTuple, TypeGuard, cast

from ...nouns.clock import to_us
from ...nouns.errors import InvalidInput, TooLarge
from ...nouns.text import clean
from ..retaining.given import MOST_FACTS, MOST_NAMES, TEXT_CHARS, GivenFact
from ..retaining.units import Item

FORMAT = "remembrancer-documents"
VERSION = 1
MANIFEST = "manifest.jsonl"
MAX_FILES = 100_000
MAX_BYTES = 512 * 1024 * 1024  # unpacked, in all
MAX_FILE_BYTES = 64 * 1024 * 1024  # unpacked
MAX_NAME_CHARS = 512
_MAX_ITEMS = 100_000  # of one document
_EPOCH = (1980, 1, 1, 0, 0, 0)  # a ZIP knows no earlier day; the same input gives the same bytes
_ENCRYPTED = 0x1
_FIRST_US, _LAST_US = to_us(datetime(2, 1, 1)), to_us(datetime(9998, 12, 31))
_END = struct.Struct("<4s4H2LH")
_END_MARK = b"PK\x05\x06"
_END64 = struct.Struct("<4sQ2H2L4Q")
_LOCATOR_MARK = b"PK\x06\x07"
_LOCATOR_BYTES = 20
_MAX_COMMENT = 65_535
_ENTRY_BYTES = 128  # of one entry of the list, on the mean; the names here take 67
# As retain has them on the wire: what stands beside a content is copied to each of its units.
_NOTE_CHARS = 10_000
_TAGS, _TAG_CHARS = 100, 256
_ENTITIES = 500
_METADATA_CHARS = 16_384


@dataclass(frozen=True, slots=True)
class Packed:
    """A document as it travels. Its items name it as their `document`."""

    name: str
    items: tuple[Item, ...]
    tags: tuple[str, ...] = ()
    metadata: Mapping[str, str] | None = None
    created_at: int = 0
    updated_at: int = 0


class Entry(NamedTuple):
    """A line of the manifest: a file of the archive and the document in it."""

    file: str
    name: str


class Buffer:
    """A file that is only written, and emptied from time to time."""

    def __init__(self) -> None:
        self._data = bytearray()

    def write(self, data: bytes) -> int:
        """Take bytes."""
        self._data += data
        return len(data)

    def flush(self) -> None:
        """Do nothing: there is nothing below."""

    def __len__(self) -> int:
        return len(self._data)

    def take(self, size: int) -> bytes:
        """Return and drop up to `size` bytes from the beginning."""
        part = bytes(self._data[:size])
        del self._data[:size]
        return part


class Writer:
    """Writes an archive into a buffer, which may be emptied between calls.

    Raises:
        TooLarge: (from `add`) it would not be read again: it unpacks to too much.
    """

    def __init__(self, buffer: Buffer, bank: str, now: int) -> None:
        self._zip = zipfile.ZipFile(
            cast(IO[bytes], buffer),  # it is neither read nor sought
            "w",
            zipfile.ZIP_DEFLATED,
        )
        head = {"format": FORMAT, "version": VERSION, "bank_id": bank, "exported_at": now}
        self._lines = [json.dumps(head, ensure_ascii=False)]
        self._left = MAX_BYTES
        self.count = 0

    def add(self, packed: Packed) -> None:
        """Add a document."""
        self.count += 1
        if self.count > MAX_FILES - 1:
            raise TooLarge(
                f"an archive holds at most {MAX_FILES - 1} documents: export some by document_id",
                field="document_id",
                limit=MAX_FILES - 1,
            )
        file = f"documents/{self.count:06}.json"
        self._put(file, json.dumps(_spelled(packed), ensure_ascii=False), packed.name)
        line = {"file": file, "name": packed.name, "items": len(packed.items)}
        self._lines.append(json.dumps(line, ensure_ascii=False))

    def close(self) -> None:
        """Write the manifest and the end."""
        self._put(MANIFEST, "\n".join(self._lines) + "\n", "the manifest")
        self._zip.close()

    def _put(self, file: str, text: str, what: str) -> None:
        data = text.encode("utf-8", "replace")
        self._left -= len(data)
        if self._left < 0 or len(data) > MAX_FILE_BYTES:
            limit = MAX_BYTES if self._left < 0 else MAX_FILE_BYTES
            raise TooLarge(
                f"the archive would unpack to more than {limit} bytes at {what!r}: export fewer "
                "documents, by document_id",
                field="document_id",
                limit=limit,
            )
        info = zipfile.ZipInfo(file, _EPOCH)
        info.compress_type = zipfile.ZIP_DEFLATED
        self._zip.writestr(info, data)


class Reader:
    """Reads an archive, and trusts nothing in it.

    Raises:
        InvalidInput, TooLarge: it is none, or not one that is fit to be read; says why.
    """

    def __init__(self, file: IO[bytes]) -> None:
        try:
            check_directory(file)
            self._zip = zipfile.ZipFile(file)
        except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError) as error:
            raise _unfit(f"it is no ZIP file ({error})") from None
        self._sizes = _checked(self._zip.infolist())
        self.entries = list(self._manifest())

    def read(self, entry: Entry) -> Packed:
        """Read one document.

        Raises:
            InvalidInput: the file is damaged, or says something else than it should.
        """
        try:
            return _packed(json.loads(self._bytes(entry.file)), entry.name)
        except (KeyError, TypeError, ValueError, RecursionError) as error:
            why = str(error) if type(error) is ValueError else type(error).__name__
            raise _unfit(f"{entry.file} does not describe a document ({why})") from None

    def _manifest(self) -> Iterator[Entry]:
        lines = self._bytes(MANIFEST).splitlines()
        try:
            head = json.loads(lines[0])
            known = head["format"] == FORMAT
            version = head["version"]
            entries = [json.loads(line) for line in lines[1:]]
        except (IndexError, KeyError, TypeError, ValueError, RecursionError):
            raise _unfit(f"its {MANIFEST} cannot be read") from None
        if not known or version != VERSION:
            raise _unfit(f"it is not of the format {FORMAT}, version {VERSION}")
        seen: set[str] = set()
        for each in entries:
            file = each.get("file") if isinstance(each, dict) else None
            name = each.get("name") if isinstance(each, dict) else None
            if not isinstance(file, str) or file not in self._sizes or not _is_name(name):
                raise _unfit(f"its {MANIFEST} names a file that is not there, or no document")
            if name in seen:
                raise _unfit(f"it holds two documents of the name {name!r}")
            seen.add(name)
            yield Entry(file, name)

    def _bytes(self, file: str) -> bytes:
        if file not in self._sizes:
            raise _unfit(f"it has no {file}")
        try:
            with self._zip.open(file) as opened:
                data = opened.read(self._sizes[file] + 1)
        except Exception as error:  # those of the unpackers have no common base
            raise _unfit(f"{file} cannot be unpacked ({type(error).__name__})") from None
        if len(data) > self._sizes[file]:
            raise _unfit(f"{file} unpacks to more than it says")
        return data


def check_directory(file: IO[bytes]) -> None:
    """Refuse a ZIP file whose list of files is too long, before it is read into memory.

    See APPNOTE.TXT of PKWARE, 4.3.14 to 4.3.16: the end record, before it maybe that of ZIP64.
    """
    end = file.seek(0, 2)
    start = max(0, end - _END.size - _MAX_COMMENT)
    file.seek(start)
    tail = file.read()
    at = len(tail) - _END.size
    if not (tail[at:].startswith(_END_MARK) and tail.endswith(b"\0\0")):
        at = tail.rfind(_END_MARK)
    size = _END.unpack_from(tail, at)[5] if 0 <= at <= len(tail) - _END.size else 0
    before = start + at - _LOCATOR_BYTES - _END64.size
    if before >= 0:
        file.seek(before)
        record = file.read(_END64.size)
        if file.read(4) == _LOCATOR_MARK:
            size = max(size, _END64.unpack(record)[8])
    file.seek(0)
    if size > MAX_FILES * _ENTRY_BYTES:
        raise TooLarge(
            f"file: the archive holds too many files; the limit is {MAX_FILES}",
            field="file",
            limit=MAX_FILES,
        )


def _checked(infos: Sequence[zipfile.ZipInfo]) -> dict[str, int]:
    """Return the size of each file, when all of them are fit to be unpacked."""
    if len(infos) > MAX_FILES:
        raise TooLarge(
            f"file: the archive holds {len(infos)} files; the limit is {MAX_FILES}",
            field="file",
            limit=MAX_FILES,
        )
    total = sum(info.file_size for info in infos)
    largest = max((info.file_size for info in infos), default=0)
    if total > MAX_BYTES or largest > MAX_FILE_BYTES:
        limit = MAX_BYTES if total > MAX_BYTES else MAX_FILE_BYTES
        raise TooLarge(
            f"file: the archive unpacks to more than {limit} bytes"
            + (" in one file" if limit == MAX_FILE_BYTES else ""),
            field="file",
            limit=limit,
        )
    sizes: dict[str, int] = {}
    for info in infos:
        parts = info.filename.split("/")
        if info.filename.startswith("/") or "\\" in info.filename or ".." in parts:
            raise _unfit(f"it holds a path that leads out of it: {info.filename[:100]!r}")
        if info.filename in sizes:
            raise _unfit(f"it holds two files {info.filename[:100]!r}")
        if info.flag_bits & _ENCRYPTED:
            raise _unfit("it is encrypted")
        sizes[info.filename] = info.file_size
    return sizes


def _spelled(packed: Packed) -> dict[str, Any]:
    return {
        "name": packed.name,
        "tags": list(packed.tags),
        "metadata": packed.metadata,
        "created_at": packed.created_at,
        "updated_at": packed.updated_at,
        "items": [
            {
                "content": item.content,
                "timestamp": item.timestamp,
                "offset_min": item.offset_min,
                "context": item.note,
                "metadata": item.metadata,
                "tags": list(item.tags),
                "entities": list(item.entities),
                "resolve_entities": item.resolve_entities,
                "undated": item.undated,
                "observation_scopes": item.observation_scopes,
                "strategy": item.strategy,
                **({} if item.facts is None else {"facts": [asdict(f) for f in item.facts]}),
            }
            for item in packed.items
        ],
    }


def _packed(raw: Any, name: str) -> Packed:
    if raw["name"] != name or not raw["items"] or len(raw["items"]) > _MAX_ITEMS:
        raise ValueError("not the document that the manifest names")
    return Packed(
        name=name,
        items=tuple(_item(each, name) for each in raw["items"]),
        tags=_texts(raw["tags"], _TAGS),
        metadata=_metadata(raw["metadata"]),
        created_at=_time(raw["created_at"]) or 0,
        updated_at=_time(raw["updated_at"]) or 0,
    )


def _item(raw: Any, name: str) -> Item:
    return Item(
        content=_text(raw["content"], MAX_FILE_BYTES),
        timestamp=_time(raw["timestamp"]),
        offset_min=_int(raw["offset_min"], -24 * 60, 24 * 60),
        note=None if raw["context"] is None else _text(raw["context"], _NOTE_CHARS),
        metadata=_metadata(raw["metadata"]),
        document=name,
        tags=_texts(raw["tags"], _TAGS),
        entities=_texts(raw["entities"], _ENTITIES),
        resolve_entities=_flag(raw.get("resolve_entities", True)),
        undated=_flag(raw.get("undated", False)),
        observation_scopes=_scopes(raw.get("observation_scopes")),
        strategy=None if raw.get("strategy") is None else _text(raw["strategy"], MAX_NAME_CHARS),
        facts=None if raw.get("facts") is None else _facts(raw["facts"]),
    )


def _facts(value: Any) -> tuple[GivenFact, ...]:
    if not isinstance(value, list) or len(value) > MOST_FACTS:
        raise ValueError(f"facts are none, or more than {MOST_FACTS}")
    return tuple(
        GivenFact(
            _text(each["text"], TEXT_CHARS),
            None if each["quote"] is None else _text(each["quote"], MAX_FILE_BYTES),
            _texts(each["entities"], MOST_NAMES),
            _time(each["occurred_start"]),
            _time(each["occurred_end"]),
        )
        for each in value
    )


def _is_name(value: Any) -> TypeGuard[str]:
    return (
        isinstance(value, str)
        and 0 < len(value) <= MAX_NAME_CHARS
        and clean(value).strip() == value
    )


def _text(value: Any, most: int) -> str:
    if not isinstance(value, str) or len(value) > most:
        raise ValueError(f"a text is none, or longer than {most} characters")
    return value


def _texts(value: Any, most: int) -> tuple[str, ...]:
    if not isinstance(value, list) or len(value) > most:
        raise ValueError(f"a list is none, or longer than {most}")
    return tuple(_text(each, _TAG_CHARS) for each in value)


def _metadata(value: Any) -> dict[str, str] | None:
    if value is None:
        return None
    if not isinstance(value, dict):
        raise ValueError("metadata is no object")
    found = {k: _text(v, _METADATA_CHARS) for k, v in value.items()}
    if sum(len(k) + len(v) for k, v in found.items()) > _METADATA_CHARS:
        raise ValueError(f"metadata is longer than {_METADATA_CHARS} characters")
    return found


def _scopes(value: Any) -> str | list[tuple[str, ...]] | None:
    if value is None or isinstance(value, str):
        return value if value is None else _text(value, _TAG_CHARS)
    if not isinstance(value, list) or len(value) > _TAGS:
        raise ValueError("no scopes, or too many")
    return [_texts(each, _TAGS) for each in value]


def _flag(value: Any) -> bool:
    if not isinstance(value, bool):
        raise ValueError("neither true nor false")
    return value


def _time(value: Any) -> int | None:
    return _int(value, _FIRST_US, _LAST_US)


def _int(value: Any, least: int, most: int) -> int | None:
    if value is None:
        return None
    if type(value) is not int or not least < value < most:
        raise ValueError("no number, or out of bounds")
    return value


def _unfit(why: str) -> InvalidInput:
    return InvalidInput(f"file: this archive cannot be imported: {why}", field="file")
