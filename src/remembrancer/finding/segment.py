"""Index parts on disk: one file a part, memory-mapped when read, and the manifest naming them.

A segment file is a JSON header (arrays with type, shape and offset), the arrays, each on a
64-byte boundary, and the CRC-32 of all of that, so that no bit that a disk has lost is searched. A
manifest names the segments of one bank, the rows dead in them, and the
revision they stand for; it is replaced atomically, so a crash leaves the old one or the new one.
Anything that does not read back as written is thrown away: the rows are the truth.
"""

from __future__ import annotations

import io
import json
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ..keeping.durable import sync
from ..keeping.sealing import FileKey
from ..nouns.errors import Corrupt
from . import index_files
from .part import Columns, Mask, Part, Postings

FORMAT = 5
_MAGIC = b"RMBSEG1\n"
_ALIGN = 64
_SUM = 8  # bytes of the checksum at the end
_AT_ONCE = 16 << 20  # bytes summed in one piece
MANIFEST = "manifest.json"


@dataclass(frozen=True, slots=True)
class Manifest:
    """The segments of a bank at one revision.

    `dead_file` holds the numbers of dead rows, one array a segment; `dead_sum` is its CRC-32, which
    is filled in when the manifest is written.
    """

    revision: int
    generation: int
    dim: int
    files: tuple[str, ...]
    dead_file: str
    dead_sum: int = 0


def write_part(path: Path, part: Part, key: FileKey | None = None) -> None:
    """Write a part durably: to a temporary file, fsynced, then renamed; sealed with a key."""
    arrays = dict(_arrays(part))
    described: dict[str, Any] = {}
    offset = 0
    for name, array in arrays.items():
        described[name] = {"dtype": array.dtype.str, "shape": array.shape, "offset": offset}
        offset += -(-array.nbytes // _ALIGN) * _ALIGN
    header = json.dumps(
        {"format": FORMAT, "speakers": part.speakers, "arrays": described, "size": offset}
    ).encode()
    head = _MAGIC + len(header).to_bytes(8, "little") + header
    head += b"\0" * (-len(head) % _ALIGN)
    index_files.write(path, _pieces(head, arrays.values()), key)


def open_part(path: Path, key: FileKey | None = None) -> Part:
    """Map a segment file; its sign bits (96 bytes a row at 384 dimensions) are read into memory.

    All of it is read once, to check its sum: about a second for a gigabyte. A sealed one is read
    into memory whole.

    Raises:
        Corrupt: the file is missing, cut short, changed, or of another format.
    """
    mapped = index_files.read(path, key)
    if len(mapped) < 16 or bytes(mapped[:8]) != _MAGIC:
        raise Corrupt(f"index file {path.name} is not a segment")
    length = int.from_bytes(bytes(mapped[8:16]), "little")
    try:
        header = json.loads(bytes(mapped[16 : 16 + length]))
        header["size"] + 0
    except (ValueError, KeyError, TypeError) as error:
        raise Corrupt(f"index file {path.name} has a broken header") from error
    base = -(-(16 + length) // _ALIGN) * _ALIGN
    if header.get("format") != FORMAT or len(mapped) != base + header["size"] + _SUM:
        raise Corrupt(f"index file {path.name} is cut short or of another format")
    if _summed(mapped[:-_SUM]) != int.from_bytes(bytes(mapped[-_SUM:]), "little"):
        raise Corrupt(f"index file {path.name} is not as it was written")

    def array(name: str) -> Any:
        entry = header["arrays"][name]
        dtype = np.dtype(entry["dtype"])
        count = int(np.prod(entry["shape"], dtype=np.int64))
        if count == 0:
            return np.empty(entry["shape"], dtype=dtype)
        start = base + entry["offset"]
        flat = np.asarray(mapped[start : start + count * dtype.itemsize]).view(dtype)
        return flat.reshape(entry["shape"])

    def postings(field: str) -> Postings:
        return Postings(*(array(f"{field}.{name}") for name in Postings._fields))

    return Part(
        ids=array("ids"),
        columns=Columns(*(array(f"column.{name}") for name in Columns._fields)),
        speakers=tuple(header["speakers"]),
        # Every search reads these: in memory of our own they may lie in huge pages.
        bits=array("bits").copy(),
        more_bits=array("more_bits").copy(),
        codes=array("codes"),
        scales=array("scales"),
        text=postings("text"),
        window=postings("window"),
        tags=postings("tags"),
    )


def read_manifest(folder: Path) -> Manifest | None:
    """Return the manifest of a bank's index folder, or None when there is none that reads."""
    try:
        raw = json.loads((folder / MANIFEST).read_bytes())
        if raw["format"] != FORMAT or raw.pop("check") != _check(raw):
            return None
        return Manifest(
            int(raw["revision"]),
            int(raw["generation"]),
            int(raw["dim"]),
            tuple(raw["files"]),
            raw["dead_file"],
            raw["dead_sum"],
        )
    except (OSError, ValueError, KeyError, TypeError):
        return None


def read_dead(folder: Path, manifest: Manifest, parts: list[Part]) -> list[Mask | None]:
    """Return the masks of dead rows that a manifest records.

    Raises:
        Corrupt: the file does not fit the parts.
    """
    try:
        data = (folder / manifest.dead_file).read_bytes()
        if zlib.crc32(data) != manifest.dead_sum:
            raise Corrupt(f"index file {manifest.dead_file} is not as it was written")
        with np.load(io.BytesIO(data), allow_pickle=False) as saved:
            rows = [saved[str(i)] for i in range(len(parts))]
    except (OSError, ValueError, KeyError) as error:
        raise Corrupt(f"index file {manifest.dead_file} cannot be read: {error}") from error
    masks: list[Mask | None] = []
    for part, dead in zip(parts, rows, strict=True):
        if len(dead) and int(dead[-1]) >= part.n:
            raise Corrupt(f"index file {manifest.dead_file} does not fit its segments")
        mask = np.zeros(part.n, dtype=bool)
        mask[dead] = True
        masks.append(mask if len(dead) else None)
    return masks


def write_manifest(folder: Path, manifest: Manifest, dead: list[Mask | None]) -> None:
    """Write a manifest durably and delete the files that it no longer names."""
    rows = {
        str(i): np.flatnonzero(mask) if mask is not None else np.empty(0, np.int64)
        for i, mask in enumerate(dead)
    }
    packed = io.BytesIO()
    np.savez(packed, **rows)  # type: ignore[arg-type]  # numpy's stub takes the keywords for flags
    index_files.write(folder / manifest.dead_file, [packed.getvalue()], None)
    told = {
        "format": FORMAT,
        "revision": manifest.revision,
        "generation": manifest.generation,
        "dim": manifest.dim,
        "files": list(manifest.files),
        "dead_file": manifest.dead_file,
        "dead_sum": zlib.crc32(packed.getvalue()),
    }
    text = json.dumps({**told, "check": _check(told)})
    index_files.write(folder / MANIFEST, [text.encode()], None)
    sync(folder)
    tidy(folder)


def tidy(folder: Path) -> None:
    """Delete the files that no manifest names; whoever calls it holds the folder's lock."""
    keep = {MANIFEST, "lock"}
    if (manifest := read_manifest(folder)) is not None:
        keep |= {*manifest.files, manifest.dead_file}
    for path in folder.iterdir():
        if path.name not in keep:
            path.unlink(missing_ok=True)


def _pieces(head: bytes, arrays: Iterable[np.ndarray[Any, Any]]) -> Iterator[memoryview | bytes]:
    """Yield what a segment file holds, in order; the sum of it last."""
    checked = zlib.crc32(head)
    yield head
    for array in arrays:
        plain = np.ascontiguousarray(array).reshape(-1).view(np.uint8).data
        for piece in (plain, b"\0" * (-array.nbytes % _ALIGN)):
            checked = zlib.crc32(piece, checked)
            yield piece
    yield checked.to_bytes(_SUM, "little")


def _summed(mapped: np.ndarray[Any, Any]) -> int:
    found = 0
    for start in range(0, len(mapped), _AT_ONCE):
        found = zlib.crc32(mapped[start : start + _AT_ONCE].data, found)
    return found


def _check(told: dict[str, Any]) -> int:
    return zlib.crc32(json.dumps(told, sort_keys=True).encode())


def _arrays(part: Part) -> Iterator[tuple[str, np.ndarray[Any, Any]]]:
    yield "ids", part.ids
    for name in Columns._fields:
        yield f"column.{name}", getattr(part.columns, name)
    yield "bits", part.bits
    yield "more_bits", part.more_bits
    yield "codes", part.codes
    yield "scales", part.scales
    for field in ("text", "window", "tags"):
        postings = getattr(part, field)
        for name in Postings._fields:
            yield f"{field}.{name}", getattr(postings, name)
