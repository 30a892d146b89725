"""Guards what is taken in: personal data and secrets are let in, marked, taken out or refused."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from ...nouns.errors import InvalidInput
from ...reading.sensitive import KINDS, Found, find, redacted
from .units import Item

Attributes = Mapping[str, Any]
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

    def text(self, text: str, field: str, label: str = "") -> str:
        """Return a text as it may be kept; `label` is what it is called where it stands.

        Raises:
            InvalidInput: it is refused; tells the kinds, and never what was found.
        """
        if self.mode not in ("redact", "block"):
            return text
        found = find(text, self.kinds) or self._under(label, text)
        if found and self.mode == "block":
            kinds = ", ".join(sorted({f.kind for f in found}))
            raise InvalidInput(
                f"{field} holds what is not to be kept here ({kinds}): take it out", field=field
            )
        return redacted(text, found)

    def attributes(self, given: Attributes | None, field: str) -> Attributes | None:
        """Return JSON as it may be kept, its names and what stands in it at any depth.

        Raises:
            InvalidInput: see `text`.
        """
        if given is None or self.mode not in ("redact", "block"):
            return given
        return {self.text(str(k), field): self._value(v, field, str(k)) for k, v in given.items()}

    def _under(self, label: str, text: str) -> list[Found]:
        """Return what is seen by what a text is called alone, as a password is."""
        head = f"{label}: "
        found = find(head + text, self.kinds) if label else ()
        return [
            f._replace(start=f.start - len(head), end=f.end - len(head))
            for f in found
            if f.start >= len(head)
        ]

    def _value(self, value: Any, field: str, label: str) -> Any:
        if isinstance(value, str):
            return self.text(value, field, label)
        if isinstance(value, Mapping):
            return self.attributes(value, field)
        if isinstance(value, list | tuple):
            return [self._value(each, field, label) for each in value]
        if isinstance(value, int | float) and not isinstance(value, bool):
            told = _spelled(value)  # the number of a card may come as one
            kept = self.text(told, field, label)
            return value if kept == told else kept
        return value

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
            metadata=self.attributes(item.metadata, f"{where}.metadata"),
        )


def _spelled(number: float) -> str:
    whole = isinstance(number, float) and number.is_integer()
    return str(int(number)) if whole else str(number)


OPEN = Guard()
"""Lets everything in."""
