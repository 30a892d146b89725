"""Where a memory comes from: told, retained, read from another, derived, or corrected since."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Any

from ...nouns.memory import Curation, Layer, Unit

EDITS = "edits"
"""In a curation's data: how often the memory was corrected."""


class Origin(StrEnum):
    """Where a memory comes from."""

    REMEMBERED = "remembered"  # one memory, as it was told
    RETAINED = "retained"  # a turn or passage of a document
    REVISED = "revised"  # one of the two above, corrected since
    READ = "read"  # a statement read from one of them
    DERIVED = "derived"  # made from several


def edits_in(data: Mapping[str, Any]) -> int:
    """Return how often a memory was corrected, from the data of its curation."""
    counted: int | None = data.get(EDITS)
    if counted is not None:
        return counted
    return sum(each["action"] == "edit" for each in data.get("history", ()))


def edits_of(curation: Curation | None) -> int:
    """Return how often a memory was corrected."""
    return edits_in(curation.data) if curation is not None else 0


def origin_of(unit: Unit, curation: Curation | None) -> Origin:
    """Return where a memory comes from."""
    if unit.layer is Layer.FACT:
        return Origin.READ
    if unit.layer is Layer.OBSERVATION:
        return Origin.DERIVED
    if edits_of(curation):
        return Origin.REVISED
    return Origin.REMEMBERED if unit.document_id is None else Origin.RETAINED
