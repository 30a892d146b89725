"""Write intentions: what has changed of each, and no more."""

from __future__ import annotations

from collections.abc import Sequence

from ...nouns.errors import Conflict
from ...nouns.intention import Intention
from .intention_rows import intention_params, is_armed
from .put import existing
from .rows import Row
from .work import Work

# Where some values of `intention_stored` stand; they come in the order of `intention_put`.
_PLACE, _VERSION, _STATE, _DATA, _CUE = 0, 1, 2, 13, 14
_SEEN_BY_CUES = (_STATE, 10, 11, _CUE)  # with the threshold and the generation
_KEYS = 2  # values of `intention_put` before those


def put(work: Work, new: Sequence[Intention]) -> None:
    """Put intentions; those of a unit that is gone are left out.

    An intention keeps its place unless something has changed that the index of cues goes by, and
    where all that has changed stands in its data no index of the database is written.

    Raises:
        Conflict: one has another version.
    """
    if not new:
        return
    sources = [i.source_id for i in new if i.source_id is not None]
    present = existing(work, sources) if sources else set()
    kept = [i for i in new if i.source_id is None or i.source_id in present]
    ids = [i.id for i in kept]
    stored = {row[0]: row[1:] for row in work.db.all_in("intention_stored", ids, work.key)}
    whole: list[Row] = []
    noted: list[Row] = []
    for each in kept:
        was = stored.get(each.id)
        if (0 if was is None else was[_VERSION]) != each.version:
            raise Conflict(
                "the intention was changed meanwhile; read it again and retry", field="version"
            )
        params = intention_params(work.key, work.revision, each)
        if was is None or not _same_cue(was, params[_KEYS:], each):
            whole.append(params)
        elif _same_columns(was, params[_KEYS:]):
            noted.append((work.key, each.id, each.version + 1, params[_KEYS + _DATA]))
        else:
            whole.append((*params[:_KEYS], was[_PLACE], *params[_KEYS + 1 :]))
    work.db.later("intention_put", whole)
    work.db.later("intention_note", noted)
    work.changed = work.changed or bool(kept)


def _same_cue(was: Row, now: Row, new: Intention) -> bool:
    """Tell whether the index of cues has nothing to learn."""
    if any(was[n] != now[n] for n in _SEEN_BY_CUES):
        return False
    return new.cue is None or is_armed(was[_DATA]) == new.armed


def _same_columns(was: Row, now: Row) -> bool:
    return was[_STATE:_DATA] == now[_STATE:_DATA]
