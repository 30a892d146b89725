"""The archive that documents travel in: what was written is read, and nothing else."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Callable
from typing import Any

import pytest

from remembrancer.nouns.errors import InvalidInput, TooLarge
from remembrancer.verbs.retaining.units import Item
from remembrancer.verbs.transferring import archive
from remembrancer.verbs.transferring.archive import Buffer, Packed, Reader, Writer

NOW = 1_700_000_000_000_000
HEAD = {"format": archive.FORMAT, "version": archive.VERSION}
DOCUMENT = {
    "name": "log",
    "tags": ["sea"],
    "metadata": None,
    "created_at": NOW,
    "updated_at": NOW,
    "items": [
        {
            "content": "The ferry is late.",
            "timestamp": NOW,
            "offset_min": 60,
            "context": None,
            "metadata": {"port": "Kiel"},
            "tags": [],
            "entities": ["Nora"],
        }
    ],
}


def written(*documents: Packed, pieces: int = 100) -> io.BytesIO:
    """Write an archive, emptying its buffer piece by piece."""
    buffer, file = Buffer(), io.BytesIO()
    writer = Writer(buffer, "bank", NOW)
    for document in documents:
        writer.add(document)
        while len(buffer) >= pieces:
            file.write(buffer.take(pieces))
    writer.close()
    file.write(buffer.take(len(buffer)))
    return file


def zipped(files: dict[str, Any], **more: Any) -> io.BytesIO:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED, **more) as made:
        for name, value in files.items():
            made.writestr(name, value if isinstance(value, str | bytes) else json.dumps(value))
    return file


def with_document(**changes: Any) -> io.BytesIO:
    lines = [HEAD, {"file": "documents/1.json", "name": "log"}]
    manifest = "\n".join(json.dumps(line) for line in lines)
    return zipped({"manifest.jsonl": manifest, "documents/1.json": {**DOCUMENT, **changes}})


def with_item(**changes: Any) -> io.BytesIO:
    items: list[Any] = DOCUMENT["items"]  # type: ignore[assignment]
    return with_document(items=[{**items[0], **changes}])


def read(file: io.BytesIO) -> list[Packed]:
    reader = Reader(file)
    return [reader.read(entry) for entry in reader.entries]


def test_what_was_written_is_read() -> None:
    documents = [
        Packed(
            name=f"läge {n}/log",
            items=(
                Item("One.\n\nTwo ⚓.", NOW, -90, "at sea", {"a": "b"}, f"läge {n}/log", ("t",)),
                Item("Three.", document=f"läge {n}/log", entities=("Nora",)),
            ),
            tags=("sea",),
            metadata={"k": "v"},
            created_at=NOW,
            updated_at=NOW + 1,
        )
        for n in range(3)
    ]
    assert read(written(*documents)) == documents
    assert read(with_document())[0].items[0].offset_min == 60


def test_the_same_documents_give_the_same_bytes() -> None:
    document = Packed("log", (Item("One.", NOW, document="log"),))
    assert written(document).getvalue() == written(document, pieces=7).getvalue()


@pytest.mark.parametrize(
    "make",
    [
        lambda: io.BytesIO(b"no archive"),
        lambda: io.BytesIO(b""),
        lambda: zipped({}),
        lambda: zipped({"manifest.jsonl": ""}),
        lambda: zipped({"manifest.jsonl": "[]"}),
        lambda: zipped({"manifest.jsonl": {"format": "other", "version": 1}}),
        lambda: zipped({"manifest.jsonl": {**HEAD, "version": 2}}),
        lambda: zipped({"manifest.jsonl": json.dumps(HEAD) + "\n[]"}),
        lambda: zipped({"manifest.jsonl": json.dumps(HEAD) + '\n{"file": "gone", "name": "a"}'}),
        lambda: zipped({"manifest.jsonl": json.dumps(HEAD), "../out": "x"}),
        lambda: zipped({"manifest.jsonl": json.dumps(HEAD), "/etc/out": "x"}),
        lambda: zipped({"manifest.jsonl": json.dumps(HEAD), "a\\..\\out": "x"}),
        lambda: with_document(name="another"),
        lambda: with_document(items=[]),
        lambda: with_document(items={}),
        lambda: with_document(tags="sea"),
        lambda: with_document(tags=["t" * 257]),
        lambda: with_document(metadata={"a": 1}),
        lambda: with_document(created_at=True),
        lambda: with_item(content=None),
        lambda: with_item(timestamp=1 << 62),
        lambda: with_item(timestamp=1.5),
        lambda: with_item(offset_min=5_000),
        lambda: with_item(context="n" * 10_001),
        lambda: with_item(metadata={"k": "v" * 16_384}),
        lambda: with_item(entities=["e"] * 501),
    ],
)
def test_archives_that_are_not_fit_are_refused(make: Callable[[], io.BytesIO]) -> None:
    with pytest.raises(InvalidInput) as refused:
        read(make())
    assert refused.value.field == "file"


def test_two_documents_of_one_name_are_refused() -> None:
    lines = [HEAD, *({"file": f"documents/{n}.json", "name": "log"} for n in (1, 2))]
    files = {f"documents/{n}.json": DOCUMENT for n in (1, 2)}
    manifest = "\n".join(json.dumps(line) for line in lines)
    with pytest.raises(InvalidInput, match="two documents of the name 'log'"):
        read(zipped({"manifest.jsonl": manifest, **files}))


def test_a_damaged_file_is_told() -> None:
    data = bytearray(with_document().getvalue())
    at = data.index(b"documents/1.json") + len("documents/1.json") + 20
    data[at : at + 8] = b"\0" * 8
    with pytest.raises(InvalidInput, match="cannot be unpacked"):
        read(io.BytesIO(bytes(data)))


def test_a_bomb_is_refused_before_it_goes_off(monkeypatch: pytest.MonkeyPatch) -> None:
    file = zipped({"manifest.jsonl": json.dumps(HEAD), **{f"{n}": b"0" * 1_000 for n in range(9)}})
    monkeypatch.setattr(archive, "MAX_BYTES", 5_000)
    with pytest.raises(TooLarge) as refused:
        Reader(file)
    assert refused.value.limit == 5_000
    monkeypatch.setattr(archive, "MAX_BYTES", 50_000)
    monkeypatch.setattr(archive, "MAX_FILE_BYTES", 999)
    with pytest.raises(TooLarge):
        Reader(file)


def test_a_file_that_lies_about_its_size_is_refused() -> None:
    data = bytearray(with_document(note="x" * 5_000).getvalue())
    at = data.index(b"PK\x01\x02", data.index(b"PK\x01\x02") + 1)
    data[at + 24 : at + 28] = (9).to_bytes(4, "little")  # the size that it unpacks to
    with pytest.raises(InvalidInput):
        read(io.BytesIO(bytes(data)))


@pytest.mark.parametrize("count", [20, 70_000])  # the second list is told in ZIP64
def test_too_many_files_are_refused_before_their_list_is_read(
    count: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as made:
        for n in range(count):
            made.writestr(zipfile.ZipInfo(f"{n:05}"), b"")
    with monkeypatch.context() as patched:
        patched.setattr(archive, "MAX_FILES", count // 10)
        patched.setattr(zipfile, "ZipFile", None)  # it is not opened
        with pytest.raises(TooLarge, match="too many files"):
            Reader(file)
    monkeypatch.setattr(archive, "MAX_FILES", count - 1)
    monkeypatch.setattr(archive, "_ENTRY_BYTES", 1_000)
    with pytest.raises(TooLarge, match=f"holds {count} files"):
        Reader(file)


def test_an_archive_that_could_not_be_read_again_is_not_written(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(archive, "MAX_BYTES", 5_000)
    with pytest.raises(TooLarge, match="by document_id"):
        written(*(Packed(f"d{n}", (Item("x" * 1_000, NOW),)) for n in range(9)))
    monkeypatch.setattr(archive, "MAX_FILES", 5)
    with pytest.raises(TooLarge, match="at most 4 documents"):
        written(*(Packed(f"d{n}", (Item("x", NOW),)) for n in range(9)))
