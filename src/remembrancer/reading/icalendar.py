"""iCalendar (RFC 5545): lines to components and back, within limits.

Only the syntax: folding, parameters, escapes, nesting. What properties mean is for the caller.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from ..nouns.errors import InvalidInput, TooLarge
from ..nouns.text import clean

MOST_BYTES = 5_000_000
MOST_LINES = 200_000
MOST_LINE_CHARS = 200_000  # unfolded
MOST_DEPTH = 4
_FOLD_BYTES = 75

_NAME = re.compile(r"[A-Za-z0-9-]{1,64}")
_PARAM = re.compile(
    r';([A-Za-z0-9-]{1,64})=("[^"\x00-\x1f]*"|[^";:,\x00-\x1f]*)((?:,(?:"[^"]*"|[^";:,]*))*)'
)
_ESCAPED = re.compile(r"\\([nN,;\\])")


@dataclass(frozen=True, slots=True)
class Property:
    """One line: a name in upper case, parameters by name in upper case, a value as it stands."""

    name: str
    value: str
    params: Mapping[str, str] = field(default_factory=dict)

    @property
    def text(self) -> str:
        """The value with its escapes resolved."""
        return _ESCAPED.sub(lambda m: "\n" if m[1] in "nN" else m[1], self.value)


@dataclass(slots=True)
class Component:
    """What stands between BEGIN and END."""

    name: str
    properties: list[Property] = field(default_factory=list)
    parts: list[Component] = field(default_factory=list)

    def first(self, name: str) -> Property | None:
        """Return the first property of a name."""
        return next((p for p in self.properties if p.name == name), None)

    def all(self, name: str) -> list[Property]:
        """Return the properties of a name, in order."""
        return [p for p in self.properties if p.name == name]


def parse(data: bytes) -> list[Component]:
    """Return the calendars of a file.

    Raises:
        InvalidInput, TooLarge: it is no iCalendar file, or breaks a limit.
    """
    if len(data) > MOST_BYTES:
        raise TooLarge(
            f"the calendar has {len(data)} bytes; the limit is {MOST_BYTES}",
            field="ics",
            limit=MOST_BYTES,
        )
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise _refused(f"it is not UTF-8 text: see byte {error.start}") from None
    calendars: list[Component] = []
    open_ones: list[Component] = []
    for number, line in _lines(text):
        found = _property(line, number)
        if found.name == "BEGIN":
            if len(open_ones) == MOST_DEPTH:
                raise _refused(f"line {number} nests deeper than {MOST_DEPTH} components")
            made = Component(found.value.strip().upper())
            (open_ones[-1].parts if open_ones else calendars).append(made)
            open_ones.append(made)
        elif found.name == "END":
            if not open_ones or open_ones.pop().name != found.value.strip().upper():
                raise _refused(f"line {number} ends what has not begun")
        elif not open_ones:
            raise _refused(f"line {number} stands outside BEGIN:VCALENDAR")
        else:
            open_ones[-1].properties.append(found)
    if open_ones or not calendars or any(c.name != "VCALENDAR" for c in calendars):
        raise _refused("it must begin with BEGIN:VCALENDAR and end with END:VCALENDAR")
    return calendars


def write(calendar: Component) -> str:
    """Return a calendar as text: lines of at most 75 bytes, ended by CRLF."""
    return "".join(f"{line}\r\n" for each in _written(calendar) for line in _folded(each))


def escaped(text: str) -> str:
    """Return a text as the value of a property."""
    text = clean(text).replace("\\", "\\\\").replace(";", "\\;").replace(",", "\\,")
    return text.replace("\n", "\\n")


def _lines(text: str) -> Iterator[tuple[int, str]]:
    """Yield unfolded lines with the number of the first of each; empty ones are passed over."""
    held, begun = "", 0
    for number, line in enumerate(re.split(r"\r?\n", text), 1):
        if number > MOST_LINES:
            raise TooLarge(
                f"the calendar has more than {MOST_LINES} lines", field="ics", limit=MOST_LINES
            )
        if line[:1] in (" ", "\t") and begun:
            held += line[1:]
            if len(held) > MOST_LINE_CHARS:
                raise TooLarge(
                    f"line {begun} is longer than {MOST_LINE_CHARS} characters",
                    field="ics",
                    limit=MOST_LINE_CHARS,
                )
            continue
        if held.strip():
            yield begun, held
        held, begun = line, number
    if held.strip():
        yield begun, held


def _property(line: str, number: int) -> Property:
    name = _NAME.match(line)
    if name is None:
        raise _refused(f"line {number} has no name")
    at = name.end()
    params: dict[str, str] = {}
    while match := _PARAM.match(line, at):
        params.setdefault(match[1].upper(), match[2].strip('"'))
        at = match.end()
    if line[at : at + 1] != ":":
        raise _refused(f"line {number} has no value")
    return Property(name[0].upper(), clean(line[at + 1 :]), params)


def _written(component: Component) -> Iterator[str]:
    yield f"BEGIN:{component.name}"
    for each in component.properties:
        params = "".join(f";{name}={_quoted(value)}" for name, value in each.params.items())
        yield f"{each.name}{params}:{each.value}"
    for part in component.parts:
        yield from _written(part)
    yield f"END:{component.name}"


def _quoted(value: str) -> str:
    value = value.replace('"', "'")
    return f'"{value}"' if re.search(r"[;:,]", value) else value


def _folded(line: str) -> Sequence[str]:
    """Cut a line into pieces of at most 75 bytes, each but the first after a space."""
    pieces: list[str] = []
    held, size = "", 0
    for char in line:
        width = len(char.encode())
        if size + width > _FOLD_BYTES:
            pieces.append(held)
            held, size = " ", 1
        held += char
        size += width
    return [*pieces, held]


def _refused(why: str) -> InvalidInput:
    return InvalidInput(f"this is no iCalendar file: {why}", field="ics")
