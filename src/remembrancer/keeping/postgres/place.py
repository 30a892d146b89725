"""Where a PostgreSQL database is: its URL, how it is told to people, how it is connected to."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

import psycopg
from psycopg import RawCursor, conninfo, sql

from ...nouns.errors import InvalidInput, StoreError
from ..relational.db import Row

SCHEMA = "remembrancer"
"""Name of the schema that holds the tables, so that a database may be shared with others."""

OLDEST = 150_000
"""The oldest server that is connected to: PostgreSQL 15. The tests run on 18."""

_NAME = re.compile(r"[a-z_][a-z0-9_]{0,62}")

# Unless the URL says otherwise: a dead host is noticed within seconds.
_DEFAULTS: dict[str, Any] = {
    "application_name": "remembrancer",
    "connect_timeout": 5,
    "keepalives_idle": 20,
    "keepalives_interval": 5,
    "keepalives_count": 3,
    "tcp_user_timeout": 20_000,
}

# A statement is planned once for all values, since to plan it takes longer than to run it. Not with
# Citus, which chooses shards when it plans. Nearly all is read by keys, from memory or solid state
# disks: PostgreSQL's own guess at the cost of a page out of order (4) is that of a turning disk, by
# which it walks a table of a few pages once for each row.
_SETTLE = """SELECT set_config('client_encoding', 'UTF8', false),
    set_config('jit', 'off', false),
    set_config('plan_cache_mode', CASE WHEN current_setting('plan_cache_mode') = 'auto'
        AND NOT EXISTS (SELECT 1 FROM pg_extension WHERE extname = 'citus')
        THEN 'force_generic_plan' ELSE current_setting('plan_cache_mode') END, false),
    set_config('random_page_cost', CASE WHEN current_setting('random_page_cost') = '4'
        THEN '1.1' ELSE current_setting('random_page_cost') END, false),
    set_config('lock_timeout', $1, false),
    set_config('synchronous_commit', CASE current_setting('synchronous_commit')
        WHEN 'off' THEN 'on' ELSE current_setting('synchronous_commit') END, false),
    current_setting('server_encoding'), current_setting('transaction_read_only')"""


@dataclass(frozen=True)
class Place:
    """A database and the schema in it that holds the tables.

    `lock_timeout_s` bounds how long a statement waits for another transaction.
    """

    url: str = field(repr=False)
    schema: str = SCHEMA
    lock_timeout_s: float = 30.0

    @classmethod
    def of(cls, url: str, schema: str | None, lock_timeout_s: float) -> Place:
        """Return the place of a URL, which may itself name a schema: `?schema=NAME`."""
        address, mark, query = url.partition("?")
        given = [pair.partition("=") for pair in query.split("&") if pair]
        named = next((value for name, _, value in given if name == "schema"), None)
        rest = "&".join("".join(pair) for pair in given if pair[0] != "schema")
        plain = f"{address}{mark}{rest}" if rest else address
        return cls(plain, schema or named or SCHEMA, lock_timeout_s)

    def __post_init__(self) -> None:
        if not _NAME.fullmatch(self.schema):
            raise InvalidInput(
                f"{self.schema!r} is no name of a schema: use letters, digits and '_'",
                field="schema",
            )

    @property
    def shown(self) -> str:
        """The place as a URL without user's password."""
        try:
            given = conninfo.conninfo_to_dict(self.url)
        except psycopg.ProgrammingError:
            return "postgresql://…"
        host = given.get("host") or given.get("hostaddr") or "localhost"
        port = f":{given['port']}" if given.get("port") else ""
        user = f"{given['user']}@" if given.get("user") else ""
        return f"postgresql://{user}{host}{port}/{given.get('dbname') or ''}"

    def connect(self) -> psycopg.Connection[Row]:
        """Return a new connection, outside a transaction.

        Raises:
            InvalidInput: the URL does not parse.
            StoreError: the server cannot keep a store.
        """
        try:
            given = conninfo.conninfo_to_dict(self.url)
        except psycopg.ProgrammingError:  # its text may hold the password
            raise InvalidInput(
                "store does not parse as a URL of PostgreSQL: write "
                "postgresql://USER:PASSWORD@HOST:PORT/DATABASE, special characters as %XX",
                field="store",
            ) from None
        connection: psycopg.Connection[Row] = psycopg.connect(
            **{**_DEFAULTS, **given}, autocommit=True, cursor_factory=RawCursor
        )
        try:
            self._settle(connection)
        except BaseException:
            connection.close()
            raise
        return connection

    def _settle(self, connection: psycopg.Connection[Row]) -> None:
        wait_ms = str(max(1, int(self.lock_timeout_s * 1_000)))
        row = connection.execute(_SETTLE, [wait_ms]).fetchone()
        assert row is not None
        *_, encoding, read_only = row
        version = connection.info.server_version
        if version < OLDEST:
            raise StoreError(
                f"{self.shown} is PostgreSQL {version // 10_000}; "
                f"version {OLDEST // 10_000} or later is needed",
                limit=OLDEST // 10_000,
            )
        if encoding != "UTF8":
            raise StoreError(
                f"{self.shown} keeps texts in {encoding}; create a database with "
                "ENCODING 'UTF8' TEMPLATE template0 and name that"
            )
        if read_only == "on":
            raise StoreError(
                f"{self.shown} only reads: it is a standby, or set to read only; "
                "name the primary, or add target_session_attrs=read-write to the URL"
            )
        connection.execute(sql.SQL("SET search_path = {}").format(sql.Identifier(self.schema)))
