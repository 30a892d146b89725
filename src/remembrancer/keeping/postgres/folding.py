"""How texts are compared without regard to case, as far as a server can."""

from __future__ import annotations

from collections.abc import Mapping

_FULL = 180_000  # casefold() came with PostgreSQL 18
_FOLDED = {"folded_text": "t.text", "folded_name": "t.name"}


def folded(queries: Mapping[str, str], server_version: int) -> dict[str, str]:
    """Fill `{folded_text}` and `{folded_name}` into queries.

    From PostgreSQL 18 on that is the Unicode case folding that Python's `casefold` does. Older
    servers only make small letters, by the rules of the database's locale: there ß is not ss.
    """
    how = 'casefold({} COLLATE "pg_unicode_fast")'
    if server_version < _FULL:
        how = 'lower({} COLLATE "default")'
    filled = dict(queries)
    for word, column in _FOLDED.items():
        for name, text in filled.items():
            filled[name] = text.replace(f"{{{word}}}", how.format(column))
    return filled
