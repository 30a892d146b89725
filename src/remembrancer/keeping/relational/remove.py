"""The parts of `apply` that delete and erase: units with what hangs on them, and documents."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence, Set

from ...nouns.memory import Layer, LinkType, Op
from ...nouns.text import ERASED, REDACTED
from ..records import FORGOTTEN, Record, forgotten_key
from . import intention_remove, mentions, records, reopening, rows, truth
from .work import Work


def units(work: Work, ids: Sequence[bytes], op: Op, kept: Set[bytes] = frozenset()) -> list[bytes]:
    """Delete units and everything read from them; return the ids that went.

    `kept` are units that the batch puts again and that are therefore spared.
    """
    return _gone(work, _with_derived(work, ids, kept), op)


def moved(work: Work, ids: Sequence[bytes]) -> list[bytes]:
    """Erase units that are kept elsewhere, with what was made of them and of nothing else."""
    going = set(ids)
    while True:
        resting: dict[bytes, set[bytes]] = defaultdict(set)
        for insight, target in _basis(work, _insights(work, sorted(going))):
            resting[insight].add(target)
        more = {each for each, basis in resting.items() if basis <= going} - going
        if not more:
            break
        going |= more
    return _gone(work, _with_derived(work, ids, resting.keys() - going), Op.ERASE)


def _gone(work: Work, going: list[bytes], op: Op) -> list[bytes]:
    if not going:
        return []
    db, key = work.db, work.key
    places = db.all_in("unit_places", going, key)
    if op is Op.ERASE:
        _redact(work, places)
        _unlean(work, going)
    _reset_windows(work, going)
    mentions.drop(work, going, erased=op is Op.ERASE)
    reopening.reopen(work, going)
    work.links -= _drop_links(work, going)
    vectors(work, going)
    db.run_in("access_delete", going, key)
    db.run_in("search_delete", going, key)
    db.run_in("sameness_delete", going, key)
    db.run_in("curation_delete", going, key)
    truth.drop(work, going)
    intention_remove.remove_of_sources(work, going)
    db.run_in("unit_delete", going, key)
    work.layers.subtract(layer for _, layer, *_ in places)
    work.gone.update(dict.fromkeys(going, op))
    for unit_id in going:
        work.put.pop(unit_id, None)
    work.changed = work.deleted = True
    return going


def vectors(work: Work, ids: Sequence[bytes]) -> None:
    """Delete the vectors of units, and their place among those that wait for one."""
    for generation in work.generations:
        work.db.run_in("vector_delete", ids, work.key, generation)
        work.db.run_in("pending_delete", ids, work.key, generation)


def documents(work: Work, names: Sequence[str]) -> list[bytes]:
    """Erase documents by name with their chunks and units; return the ids of the units."""
    erased: list[bytes] = []
    for name in names:
        row = work.db.one("document_named", work.key, name)
        if row is None:
            continue
        document_id = row[0]
        # The chunks first: there is nothing left to redact in them.
        document(work, document_id)
        _remember_gone(work, [name])
        ids = [r[0] for r in work.db.all("unit_ids_of_document", work.key, document_id)]
        erased += units(work, ids, Op.ERASE)
        work.touched.discard(document_id)
    return erased


def document(work: Work, document_id: bytes) -> None:
    """Delete a document's row and chunks."""
    work.db.run("chunk_delete", work.key, document_id)
    work.documents -= work.db.run("document_delete", work.key, document_id)
    work.changed = work.deleted = True


def empty_documents(work: Work) -> None:
    """Delete the documents whose last unit was erased."""
    empty = [d for d in work.touched if work.db.value("document_empty", work.key, d)]
    if not empty:
        return
    _remember_gone(work, [row[1] for row in work.db.all_in("document_names", empty, work.key)])
    for document_id in empty:
        document(work, document_id)


def _remember_gone(work: Work, names: Sequence[str]) -> None:
    """Note which documents were forgotten, so that no import brings them back by itself."""
    now = work.now
    records.put(work, [Record(FORGOTTEN, forgotten_key(name), now, now) for name in names])


def links(work: Work, ids: Sequence[bytes]) -> None:
    """Delete every link that touches some units."""
    truth.touch(work, ids)
    gone = _drop_links(work, ids)
    work.links -= gone
    work.changed = work.changed or gone > 0


def _with_derived(work: Work, ids: Sequence[bytes], kept: Set[bytes]) -> list[bytes]:
    """Return those of `ids` that exist and, to any depth, what was read from them.

    With them go the observations made from them, which may say the same: without its link an
    observation would outlive what it says when the rest of that is forgotten.
    """
    found = {row[0] for row in work.db.all_in("unit_known", list(set(ids)), work.key)}
    going = {unit_id: None for unit_id in ids if unit_id in found}
    edge = list(going)
    while edge:
        derived = sorted(r[0] for r in work.db.all_in("unit_ids_of_source", edge, work.key))
        derived += _insights(work, edge)
        edge = [i for i in dict.fromkeys(derived) if i not in going and i not in kept]
        going.update(dict.fromkeys(edge))
    return list(going)


def _insights(work: Work, ids: Sequence[bytes]) -> list[bytes]:
    """Return the observations that were made from units."""
    code = rows.LINK_CODES[LinkType.INSIGHT_FROM]
    found = work.db.all_in("link_insights", ids, work.key, code, Layer.OBSERVATION)
    return sorted(row[0] for row in found)


def _basis(work: Work, ids: Sequence[bytes]) -> list[tuple[bytes, bytes]]:
    """Return what observations were made from, as pairs with them."""
    code = rows.LINK_CODES[LinkType.INSIGHT_FROM]
    return [(row[0], row[1]) for row in work.db.all_in("link_superseded", ids, work.key, code)]


def _redact(work: Work, places: Sequence[tuple[bytes, int, bytes | None, int, int, int]]) -> None:
    """Take the words of erased sources out of their chunks.

    The document's content hash goes too: no unsalted hash of a text outlives it.
    """
    spans: dict[tuple[bytes, int], list[tuple[int, int]]] = defaultdict(list)
    for _, layer, document_id, chunk_index, start, end in places:
        if document_id is None:
            continue
        work.touched.add(document_id)
        if layer == Layer.SOURCE:
            spans[document_id, chunk_index].append((start, end))
    for (document_id, chunk_index), cuts in spans.items():
        row = work.db.one("chunk_text", work.key, document_id, chunk_index)
        if row is None:
            continue
        text = row[0]
        for start, end in cuts:
            hole = REDACTED * len(text[start:end])
            text = text[:start] + hole + text[end:]
        work.db.run("chunk_redact", work.key, document_id, chunk_index, text)
        mark = f"{ERASED}{work.revision}"
        work.db.run("document_unhash", work.key, document_id, mark)


def _unlean(work: Work, going: Sequence[bytes]) -> None:
    """Delete the keys that are made of the words of erased sources as well as of their own.

    A key leans on the source said just before, at most: `UnitRow.same`.
    """
    found = {row[0] for row in work.db.all_in("unit_ids_next", going, work.key)} - {None}
    work.db.run_in("sameness_unlean", sorted(found), work.key)


def _reset_windows(work: Work, going: Sequence[bytes]) -> None:
    """Take the words of units that go out of the windows of the two sources said after each."""
    db, key = work.db, work.key
    gone = set(going)
    first = _after(work, going, gone)
    second = _after(work, first, gone | set(first))
    db.run_in("unit_unchain", going, key)
    reset = [*first, *second]
    db.run_in("search_unwindow", reset, key)
    for generation in work.generations:
        db.run_in("vector_unwindow", reset, key, generation)
    work.put.update(dict.fromkeys(reset))


def _after(work: Work, ids: Sequence[bytes], without: Set[bytes]) -> list[bytes]:
    found = {row[0] for row in work.db.all_in("unit_ids_after", ids, work.key)}
    return sorted(found - without)


def _drop_links(work: Work, going: Sequence[bytes]) -> int:
    return work.db.run_in("link_delete", going, work.key)
