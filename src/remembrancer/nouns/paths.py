"""Parts of the path of a request."""

from __future__ import annotations

from urllib.parse import quote

from .errors import InvalidInput

_DOTS = frozenset({"", ".", ".."})


def path_part(text: str) -> str:
    """Return a name or an id as one part of a path, encoded.

    Raises:
        InvalidInput: it is empty, or dots alone, which on the way become another path: of a
            document `..` its bank.
    """
    if text in _DOTS:
        raise InvalidInput(f"{text!r} is no name or id that a path can hold", field="id")
    return quote(text, safe="")
