"""Tables on Citus: those of banks are spread over the nodes by bank, the small ones are everywhere.

Citus is used where somebody has installed it in the database, and never asked for.
"""

from __future__ import annotations

from typing import Any

import psycopg

from .place import Place

Connection = psycopg.Connection[Any]

BY_BANK = (
    "bank document chunk unit search vector pending access entity entity_alias mention link change"
    " job due blob record sameness curation intention occurrence event claim"
).split()
"""Tables of banks; the first column of their keys, `bank_key`, says on which node a row is."""

EVERYWHERE = ("meta", "generation", "tenant_key")
"""Small tables, a copy of which is on every node."""

TABLES = (*EVERYWHERE, *BY_BANK)


def wanting(connection: Connection, place: Place) -> list[str]:
    """Return the tables that are still to be spread: none where there is no Citus."""
    row = connection.execute("SELECT 1 FROM pg_extension WHERE extname = 'citus'").fetchone()
    if row is None:
        return []
    found = connection.execute(
        "SELECT c.relname FROM pg_dist_partition p JOIN pg_class c ON c.oid = p.logicalrelid"
        " JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = $1",
        [place.schema],
    )
    known = {row[0] for row in found}
    return [table for table in TABLES if table not in known]


def spread(connection: Connection, place: Place) -> None:
    """Spread the tables that are not yet."""
    tables = wanting(connection, place)
    if tables:
        # Reference tables and distributed ones in one transaction: Citus wants one connection.
        connection.execute("SELECT set_config('citus.multi_shard_modify_mode', 'sequential', true)")
    for table in tables:
        name = f"{place.schema}.{table}"
        if table in EVERYWHERE:
            connection.execute("SELECT create_reference_table($1::text::regclass)", [name])
        else:
            beside = "none" if table == BY_BANK[0] else f"{place.schema}.{BY_BANK[0]}"
            connection.execute(
                "SELECT create_distributed_table("
                "$1::text::regclass, 'bank_key', colocate_with => $2::text)",
                [name, beside],
            )
