"""Guards what is taken in: personal data and secrets are let in, marked, taken out or refused."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from ...nouns.errors import InvalidInput
from ...reading.sensitive import KINDS, find, redacted
from .units import Item

Mode = Literal["off", "flag", "redact", "block"]
TAG = "sensitive:{kind}"
"""The tag of documents that were let in with something of a kind."""


@dataclass(frozen=True, slots=True)
class Guard:
    """What is done about it, and about which kinds; see `reading.sensitive.KINDS`."""

    mode: Mode = "off"
    kinds: Sequence[str] = KINDS

    def __post_init__(self) -> None:
        """Refuse kinds that nothing looks for."""
        for kind in self.kinds:
            if kind not in KINDS:
                raise InvalidInput(
                    f"sensitive_kinds names {kind!r}; there are {', '.join(KINDS)}",
                    field="sensitive_kinds",
                )

    def text(self, text: str, field: str) -> str:
        """Return a text as it may be kept.

        Raises:
            InvalidInput: it is refused; tells the kinds, and never what was found.
        """
        if self.mode not in ("redact", "block"):
            return text
        found = find(text, self.kinds)
        if found and self.mode == "block":
            kinds = ", ".join(sorted({f.kind for f in found}))
            raise InvalidInput(
                f"{field} holds what is not to be kept here ({kinds}): take it out", field=field
            )
        return redacted(text, found)

    def item(self, item: Item, where: str) -> Item:
        """Return an item of a retain as it may be kept; `where` names it, as `items[0]`.

        Raises:
            InvalidInput: see `text`.
        """
        if self.mode == "off":
            return item
        if self.mode == "flag":
            texts = (item.content, item.note or "", *(item.metadata or {}).values())
            kinds = {f.kind for text in texts for f in find(text, self.kinds)}
            tags = (*item.tags, *(TAG.format(kind=kind) for kind in sorted(kinds)))
            return replace(item, tags=tuple(dict.fromkeys(tags)))
        return replace(
            item,
            content=self.text(item.content, f"{where}.content"),
            note=self.text(item.note, f"{where}.context") if item.note else None,
            metadata={k: self.text(v, f"{where}.metadata") for k, v in item.metadata.items()}
            if item.metadata
            else None,
        )


OPEN = Guard()
"""Lets everything in."""
