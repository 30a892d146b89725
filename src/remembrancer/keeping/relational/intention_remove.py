"""Delete intentions: by id, and with the units that they were read from."""

from __future__ import annotations

from collections.abc import Sequence

from .work import Work


def remove(work: Work, ids: Sequence[bytes]) -> int:
    """Delete intentions with their occurrences; return how many went."""
    if not ids:
        return 0
    work.db.run_in("intention_occurrences_delete", ids, work.key)
    gone = work.db.run_in("intention_delete", ids, work.key)
    work.changed = work.changed or gone > 0
    work.deleted = work.deleted or gone > 0
    return gone


def remove_of_sources(work: Work, unit_ids: Sequence[bytes]) -> None:
    """Delete the intentions that were read from some units, but for those linked to others."""
    found = work.db.all_in("intention_of_sources", unit_ids, work.key)
    remove(work, [row[0] for row in found if row[0] not in work.relinked])
