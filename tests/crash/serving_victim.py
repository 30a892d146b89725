"""Serves a folder until it is told to stop; prints where."""

from __future__ import annotations

import sys
from pathlib import Path

from remembrancer.faces.serving import run
from remembrancer.settings import Settings

if __name__ == "__main__":
    run(
        Settings(
            data=Path(sys.argv[1]),
            http="127.0.0.1:0",
            grpc="off",
            embedder="none",
            webhook_allow_private=True,
        )
    )
