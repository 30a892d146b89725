"""Give back what deleted rows took: PostgreSQL's VACUUM, and what it does not do."""

from __future__ import annotations

from psycopg import sql

from .place import Place
from .spread import TABLES

_WORDS_IN_INDEXES = frozenset(
    "document entity entity_alias blob record sameness job event claim intention".split()
)
"""Tables whose indexes hold names or keys made of texts: these are cleaned whatever it costs."""


def vacuum(place: Place) -> None:
    """Free the rows that no transaction can see any more, and their places in indexes.

    The bytes of freed rows stay in their pages until others take the place: see docs/postgres.md.
    """
    connection = place.connect()
    try:
        for table in TABLES:
            how = "INDEX_CLEANUP ON" if table in _WORDS_IN_INDEXES else "INDEX_CLEANUP AUTO"
            connection.execute(
                sql.SQL("VACUUM ({}) {}").format(sql.SQL(how), sql.Identifier(table))
            )
    finally:
        connection.close()
