"""The PostgreSQL store: one server, or Citus over many."""

from .store import PostgresStore

__all__ = ["PostgresStore"]
