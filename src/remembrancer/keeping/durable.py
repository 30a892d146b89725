"""Makes what was written stay: a file, or which files a folder holds."""

from __future__ import annotations

import os
from pathlib import Path


def sync(path: Path) -> None:
    """Make a file, or which files a folder holds, durable.

    Raises:
        OSError: it could not be.
    """
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
