"""The SQLite store: the embedded default."""

from .store import SqliteStore

__all__ = ["SqliteStore"]
