"""One immutable piece of a bank's index: columns, sign bits, int8 vectors and postings.

A part is a set of numpy arrays, in memory or mapped from a file; `build_part` makes one from rows
and `merge_parts` one from several. Both are pure functions, so an index kept up step by step and
one built afresh hold the same scores. Rows in a part are sorted by unit id.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..keeping.view import IndexRow as Row
from .terms import STANDING, hash_term, unpack_many

I64 = NDArray[np.int64]
Mask = NDArray[np.bool_]

NO_TIME = np.iinfo(np.int64).min
SLOTS = 2  # vector of the text alone, vector of the text after its predecessor
OWN, BOTH = 0, 1  # sign bits of the text's vector, and of the sum of its two vectors

# BM25 (Robertson and Zaragoza 2009) with the usual k1 and b. The pivot length is a constant a
# field instead of the collection's mean: a posting's weight is then a function of its row alone,
# which keeps incremental and fresh indexes equal. On chats it finds what the mean finds.
K1 = 1.5
B = 0.75
PIVOT_TEXT = 20.0
PIVOT_WINDOW = 40.0
_BLOCK_ROWS = 4_096


class Postings(NamedTuple):
    """An inverted index: for term i of `terms` (sorted), docs[starts[i]:starts[i+1]]."""

    terms: NDArray[np.uint64]
    starts: I64
    docs: NDArray[np.int32]
    weights: NDArray[np.float32]

    def find(self, terms: NDArray[np.uint64]) -> list[slice]:
        """Return the range of each term in `docs` and `weights`; empty for unknown ones."""
        if not len(self.terms):
            return [slice(0, 0)] * len(terms)
        at = np.searchsorted(self.terms, terms)
        at[at == len(self.terms)] = 0
        starts = self.starts[at].tolist()
        ends = np.where(self.terms[at] == terms, self.starts[at + 1], self.starts[at]).tolist()
        return [slice(start, end) for start, end in zip(starts, ends, strict=True)]

    def rows_with(self, term: int) -> I64:
        """Return the rows that have a term, rising."""
        (where,) = self.find(np.array([term], dtype=np.uint64))
        return self.docs[where].astype(np.int64)


class Columns(NamedTuple):
    """One value a row."""

    kind: NDArray[np.uint8]
    role: NDArray[np.uint8]
    speaker: NDArray[np.int32]  # number in `Part.speakers`, -1 for none
    mentioned: I64
    occurred_start: I64  # NO_TIME when unknown
    occurred_end: I64
    tag_count: NDArray[np.uint8]
    length: NDArray[np.uint16]  # words of the text that count in search, each as often as it stands
    embedded: Mask


@dataclass(frozen=True, slots=True)
class Part:
    """See the module. `n` rows; `dim` 0 when no row is embedded."""

    ids: NDArray[np.bytes_]  # (n,) of S16, sorted
    columns: Columns
    speakers: tuple[str, ...]
    # Sign bits, see OWN and BOTH: the first half of the words as (2, words, n), which a scan reads
    # straight on, and the rest as (2, n, words), which is looked up for the best rows only.
    bits: NDArray[np.uint64]
    more_bits: NDArray[np.uint64]
    codes: NDArray[np.int8]  # (n, SLOTS, dim): what is re-scored together lies together
    scales: NDArray[np.float32]  # (n, SLOTS)
    text: Postings
    window: Postings
    tags: Postings

    @property
    def n(self) -> int:
        """Number of rows, dead ones included."""
        return len(self.ids)

    @property
    def dim(self) -> int:
        """Components of a vector."""
        return int(self.codes.shape[2])

    @property
    def nbytes(self) -> int:
        """Bytes of all arrays, mapped or not."""
        arrays = (self.ids, *self.columns, self.bits, self.more_bits, self.codes, self.scales)
        return sum(a.nbytes for a in (*arrays, *self.text, *self.window, *self.tags))

    def locate(self, ids: Sequence[bytes]) -> I64:
        """Return the row numbers of those `ids` that stand in this part."""
        if not self.n or not ids:
            return np.empty(0, dtype=np.int64)
        wanted = np.array(ids, dtype="S16")
        at = np.searchsorted(self.ids, wanted).astype(np.int64)
        at, wanted = at[at < self.n], wanted[at < self.n]
        found: I64 = at[self.ids[at] == wanted]
        return found


def sign_bits(vectors: NDArray[np.int8] | NDArray[np.float32]) -> NDArray[np.uint64]:
    """Pack the signs of (n, dim) vectors into (n, words) 64-bit words, zero-padded."""
    n, dim = vectors.shape
    packed = np.packbits(vectors > 0, axis=1)
    wide = np.zeros((n, -(-dim // 64) * 8), dtype=np.uint8)
    wide[:, : packed.shape[1]] = packed
    return wide.view(np.uint64)


def first_words(words: int) -> int:
    """Return how many of a code's words the scan reads: half of them."""
    return max(1, words // 2)


def build_part(rows: Sequence[Row], dim: int) -> Part:
    """Build a part from rows.

    Args:
        rows: any order; at most one an id.
        dim: components of a vector; rows whose codes have another length count as not embedded.
    """
    rows = sorted(rows, key=lambda r: r.unit_id)
    names = sorted({r.speaker for r in rows if r.speaker})
    number = {name: i for i, name in enumerate(names)}
    codes, scales, embedded = _vectors(rows, dim)
    signs = np.stack([sign_bits(codes[:, 0]), _both_bits(codes, scales)])
    half = first_words(signs.shape[2])
    return Part(
        ids=np.array([r.unit_id for r in rows], dtype="S16"),
        columns=Columns(
            kind=np.array([r.kind for r in rows], dtype=np.uint8),
            role=np.array([r.role for r in rows], dtype=np.uint8),
            speaker=np.array([number[r.speaker] if r.speaker else -1 for r in rows], np.int32),
            mentioned=np.array([r.mentioned_at for r in rows], dtype=np.int64),
            occurred_start=_times([r.occurred_start for r in rows]),
            occurred_end=_times([r.occurred_end for r in rows]),
            tag_count=np.array([min(len(r.tags), 255) for r in rows], dtype=np.uint8),
            length=_lengths([r.terms for r in rows]),
            embedded=embedded,
        ),
        speakers=tuple(names),
        bits=np.ascontiguousarray(signs[:, :, :half].transpose(0, 2, 1)),
        more_bits=np.ascontiguousarray(signs[:, :, half:]),
        codes=codes,
        scales=scales,
        text=_word_postings([r.terms for r in rows], PIVOT_TEXT),
        window=_word_postings([r.window_terms or r.terms for r in rows], PIVOT_WINDOW),
        tags=_tag_postings([r.tags for r in rows]),
    )


def merge_parts(parts: Sequence[Part], dead: Sequence[Mask | None]) -> Part:
    """Merge parts into one without their dead rows.

    Args:
        parts: parts of one dimension (parts without vectors may stand among them).
        dead: for each part its mask of dead rows, or None.
    """
    keep = [
        np.flatnonzero(~d) if d is not None else np.arange(p.n)
        for p, d in zip(parts, dead, strict=True)
    ]
    ids = np.concatenate([p.ids[k] for p, k in zip(parts, keep, strict=True)])
    order = np.argsort(ids, kind="stable")
    rank = np.empty(len(order), dtype=np.int32)
    rank[order] = np.arange(len(order), dtype=np.int32)
    names = sorted({name for p in parts for name in p.speakers})
    number = {name: i for i, name in enumerate(names)}

    def column(pick: str) -> NDArray[np.generic]:
        pieces = []
        for p, k in zip(parts, keep, strict=True):
            values = getattr(p.columns, pick)[k]
            if pick == "speaker":
                table = np.array([*(number[name] for name in p.speakers), -1], dtype=np.int32)
                values = table[values]
            pieces.append(values)
        return np.concatenate(pieces)[order]

    def rows(pick: str, axis: int) -> NDArray[np.generic]:
        pieces = [np.take(getattr(p, pick), k, axis=axis) for p, k in zip(parts, keep, strict=True)]
        return np.take(np.concatenate(pieces, axis=axis), order, axis=axis)

    # Where each row of each part goes; -1 for the dead.
    targets, base = [], 0
    for p, k in zip(parts, keep, strict=True):
        target = np.full(p.n, -1, dtype=np.int32)
        target[k] = rank[base : base + len(k)]
        targets.append(target)
        base += len(k)
    return Part(
        ids=ids[order],
        columns=Columns(*(column(name) for name in Columns._fields)),  # type: ignore[arg-type]
        speakers=tuple(names),
        bits=rows("bits", 2),  # type: ignore[arg-type]
        more_bits=rows("more_bits", 1),  # type: ignore[arg-type]
        codes=rows("codes", 0),  # type: ignore[arg-type]
        scales=rows("scales", 0),  # type: ignore[arg-type]
        text=_merge_postings([p.text for p in parts], targets),
        window=_merge_postings([p.window for p in parts], targets),
        tags=_merge_postings([p.tags for p in parts], targets),
    )


def _both_bits(codes: NDArray[np.int8], scales: NDArray[np.float32]) -> NDArray[np.uint64]:
    """Return the sign bits of the sum of each row's two vectors, in blocks to bound memory."""
    pieces = []
    for start in range(0, len(codes), _BLOCK_ROWS):
        block = codes[start : start + _BLOCK_ROWS].astype(np.float32)
        block *= scales[start : start + _BLOCK_ROWS, :, None]
        pieces.append(sign_bits(block.sum(axis=1)))
    return np.concatenate(pieces) if pieces else sign_bits(codes[:, 0])


def _vectors(rows: Sequence[Row], dim: int) -> tuple[NDArray[np.int8], NDArray[np.float32], Mask]:
    """Stack the rows' codes; a row without a window vector has its own in that slot too."""
    blank = bytes(dim)
    embedded = np.array([r.codes is not None and len(r.codes) == dim > 0 for r in rows], dtype=bool)
    pieces, scales = [], []
    for row, ok in zip(rows, embedded, strict=True):
        own = row.codes if ok and row.codes else blank
        windowed = bool(ok and row.window_codes is not None and len(row.window_codes) == dim)
        pieces += [own, row.window_codes if windowed and row.window_codes else own]
        scale = row.scale if ok else 0.0
        scales += [scale, row.window_scale if windowed else scale]
    codes = np.frombuffer(b"".join(pieces), dtype=np.int8).reshape(len(rows), SLOTS, dim)
    return codes, np.array(scales, dtype=np.float32).reshape(len(rows), SLOTS), embedded


def _times(values: Sequence[int | None]) -> I64:
    return np.array([NO_TIME if v is None else v for v in values], dtype=np.int64)


def _lengths(blobs: list[bytes]) -> NDArray[np.uint16]:
    """Return how many words each row's packed terms hold, up to 65,535."""
    hashes, docs, counts = unpack_many(blobs)
    said = counts * (hashes != STANDING)
    length = np.bincount(docs, weights=said, minlength=len(blobs))
    return np.minimum(length, np.iinfo(np.uint16).max).astype(np.uint16)


def _word_postings(blobs: list[bytes], pivot: float) -> Postings:
    hashes, docs, counts = unpack_many(blobs)
    length = np.bincount(docs, weights=counts, minlength=len(blobs))
    tf = counts.astype(np.float64)
    weights = tf * (K1 + 1) / (tf + K1 * (1 - B + B * length[docs] / pivot))
    return _postings(hashes, docs, weights.astype(np.float32))


def _tag_postings(tags: Sequence[tuple[str, ...]]) -> Postings:
    pairs = [(hash_term(tag), i) for i, row in enumerate(tags) for tag in dict.fromkeys(row)]
    hashes = np.array([h for h, _ in pairs], dtype=np.uint64)
    docs = np.array([i for _, i in pairs], dtype=np.int32)
    return _postings(hashes, docs, np.ones(len(pairs), dtype=np.float32))


def _merge_postings(postings: Sequence[Postings], targets: Sequence[NDArray[np.int32]]) -> Postings:
    hashes, docs, weights = [], [], []
    for p, target in zip(postings, targets, strict=True):
        moved = target[p.docs]
        alive = moved >= 0
        hashes.append(np.repeat(p.terms, np.diff(p.starts))[alive])
        docs.append(moved[alive])
        weights.append(p.weights[alive])
    return _postings(np.concatenate(hashes), np.concatenate(docs), np.concatenate(weights))


def _postings(
    hashes: NDArray[np.uint64], docs: NDArray[np.int32], weights: NDArray[np.float32]
) -> Postings:
    """Group (hash, doc, weight) records by hash, docs rising within one."""
    order = np.lexsort((docs, hashes))
    hashes = hashes[order]
    terms, first = np.unique(hashes, return_index=True)
    starts = np.append(first, len(hashes)).astype(np.int64)
    return Postings(terms, starts, docs[order], weights[order])
