"""Checks a database file without changing it."""

from __future__ import annotations

import sqlite3
from pathlib import Path

_FAULTS = 3  # told


def fault_of(path: Path) -> str | None:
    """Return what is wrong with a database file, or None; others may use it meanwhile.

    It is SQLite's quick check: all pages, without comparing indexes with their tables.
    """
    try:
        connection = sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)
        try:
            told = [row[0] for row in connection.execute(f"PRAGMA quick_check({_FAULTS})")]
        finally:
            connection.close()
    except sqlite3.Error as error:
        return f"{path} cannot be read: {error}"
    return None if told == ["ok"] else f"{path}: {'; '.join(told)[:500]}"
