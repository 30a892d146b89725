"""What a document's row says of the facts that were handed in with its items."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ...nouns.memory import Document
from .delta import GIVEN
from .given import RefusedFact
from .layout import Extent, lay_out
from .placing import Placed, Placer
from .units import Item, Source


def with_note(row: Document, items: Sequence[Item], placed: Placed | None) -> Document:
    """Note at a document's last items how many facts were handed in with them, and which not taken.

    Their texts stand in the facts alone, where erasing reaches them.
    """
    if placed is None:
        return row
    params = dict(row.params or {})
    told = list(params["items"])
    for number, item in enumerate(items, len(told) - len(items)):
        if item.facts is not None:
            mine = number - len(told) + len(items)
            refused = [[each.fact, each.reason] for each in placed.refused if each.item == mine]
            note = {"facts": len(item.facts), "refused": refused}
            told[number] = {**told[number], GIVEN: note}
    return replace(row, params={**params, "items": told})


def given_in(document: Document, last: int) -> tuple[int, list[RefusedFact]]:
    """Return how many facts came with a document's last items, and which were not taken."""
    count, refused = 0, []
    for number, told in enumerate((document.params or {}).get("items", ())[-last:]):
        note = told.get(GIVEN) or {}
        count += note.get("facts", 0)
        refused += [RefusedFact(number, fact, why) for fact, why in note.get("refused", ())]
    return count, refused


def with_facts_again(
    placer: Placer,
    document: Document,
    sources: Sequence[Source],
    items: Sequence[Item],
    job: str | None,
) -> list[Source]:
    """Return sources that a job has appended with the facts of its items, placed once more."""
    layout = lay_out([item.content for item in items])
    told = list((document.params or {}).get("items", ()))
    mine = next((n for n, each in enumerate(told) if each.get("job") == job), len(told))
    before = [Extent(each["chunks"], each["turns"], each["sources"]) for each in told[:mine]]
    turns, first = sum(e.turns for e in before), sum(e.sources for e in before)
    began = min((s.row.unit.created_at for s in sources), default=0)
    placed = placer(items, layout.said, [began] * len(layout.said), first)
    if placed is None:
        return list(sources)
    by_turn = {
        (said.turn + turns, said.part): facts
        for said, facts in zip(layout.said, placed.facts, strict=True)
    }
    return [replace(s, given=by_turn.get((s.row.unit.turn, s.row.unit.part))) for s in sources]
