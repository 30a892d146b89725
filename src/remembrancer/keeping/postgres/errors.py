"""PostgreSQL's errors to ours, which say where and how to mend; a password is in none of them."""

from __future__ import annotations

import re

import psycopg
from psycopg import errors as pg

from ...nouns.errors import StoreBusy, StoreError, StoreFull, StoreRefused, StoreUnreachable
from .place import Place

_IN_THE_WAY = (pg.SerializationFailure, pg.DeadlockDetected, pg.UniqueViolation)
_FULL = (pg.DiskFull, pg.OutOfMemory)
_NO_DATABASE = re.compile(r'database "[^"]*" does not exist')
_REFUSED = (pg.InvalidPassword, pg.InvalidAuthorizationSpecification)


class Unknown(Exception):
    """The connection was lost while a transaction was being committed."""


def in_the_way(error: psycopg.Error) -> bool:
    """Tell whether another transaction is why this one failed.

    A unique key counts: two transactions have made the same new bank.
    """
    return isinstance(error, _IN_THE_WAY)


def translated(error: Exception, place: Place) -> Exception:
    """Turn a database error into one of ours; leave others alone."""
    if isinstance(error, Unknown):
        return StoreUnreachable(
            f"the connection to {place.shown} was lost while a change was committed: it may have "
            "been kept or not; send it again, that does not do it twice"
        )
    if not isinstance(error, psycopg.Error):
        return error
    if isinstance(error, pg.LockNotAvailable):
        return StoreBusy(
            f"another transaction in {place.shown} held what was needed for longer than "
            f"{place.lock_timeout_s:g} s; try again later",
            limit=place.lock_timeout_s,
        )
    if in_the_way(error):
        return StoreBusy(f"others in {place.shown} kept getting in the way; try again later")
    if isinstance(error, _FULL):
        return StoreFull(f"{place.shown} has no room left; free some disk and try again")
    # An error of connecting has no code, only words.
    if isinstance(error, pg.InvalidCatalogName) or _NO_DATABASE.search(str(error)):
        return StoreError(f"{place.shown} does not exist; create it: createdb DATABASE")
    if isinstance(error, pg.InsufficientPrivilege):
        return StoreError(
            f"{place.shown}: {_said(error)}; let the user own schema {place.schema!r}: "
            f"CREATE SCHEMA {place.schema} AUTHORIZATION <user>"
        )
    if isinstance(error, _REFUSED) or "authentication failed" in str(error):
        return StoreError(f"{place.shown} refused the user; check name and password in the URL")
    if isinstance(error, psycopg.OperationalError):
        return StoreUnreachable(
            f"{place.shown} cannot be reached ({_said(error)}); check that it runs and that this "
            "host may connect to it: what is asked meanwhile may be asked again"
        )
    return StoreRefused(f"{place.shown} cannot be used: {_said(error)}")


def _said(error: psycopg.Error) -> str:
    """Return the server's own words: the values of a row that it may quote are not among them."""
    text = error.diag.message_primary or str(error).partition("\n")[0]
    return text.strip().rstrip(".")
