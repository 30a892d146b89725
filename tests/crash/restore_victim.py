"""Restores a copy into a folder, and kills itself at a step of it.

Arguments: the copy, the folder, and the function of the module `backup` at which it dies.
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from pathlib import Path

from remembrancer.keeping.sqlite import SqliteStore, backup
from remembrancer.nouns.clock import SystemClock


def die(*_: object) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def main(copy: Path, folder: Path, step: str) -> None:
    setattr(backup, step, die)
    asyncio.run(SqliteStore(folder, clock=SystemClock()).restore(copy))


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3])
