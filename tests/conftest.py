"""What all tests share: how large the sized ones run, and where proofs leave their figures.

`make prove` sets REMEMBRANCER_PROVE to run the sized tests (kill rounds, soaks) in full, and
REMEMBRANCER_PROVE_OUT to the folder for their results; without them a tenth runs.
"""

from __future__ import annotations

import fcntl
import json
import os
import socket
import struct
from collections.abc import Callable
from pathlib import Path

import pytest

_GET_FLAGS, _SET_FLAGS, _UP = 0x8913, 0x8914, 0x1  # of linux/sockios.h and linux/if.h

Record = Callable[[dict[str, float]], None]


def pytest_configure() -> None:
    """Bring the loopback up where it is down: in a network namespace that was just made."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as control:
        request = struct.pack("16sh14x", b"lo", 0)
        try:
            flags = struct.unpack("16sh14x", fcntl.ioctl(control, _GET_FLAGS, request))[1]
            if not flags & _UP:
                fcntl.ioctl(control, _SET_FLAGS, struct.pack("16sh14x", b"lo", flags | _UP))
        except OSError:
            return  # not ours to change: tests that need it will say so


@pytest.fixture(scope="session")
def prove() -> int:
    """How many times a tenth of the full size a sized test runs: 1, or 10 when proving."""
    return int(os.environ.get("REMEMBRANCER_PROVE", "1"))


@pytest.fixture
def record(request: pytest.FixtureRequest) -> Record:
    """Write a proof's figures as one flat JSON object, named after the test, when proving."""

    def write(figures: dict[str, float]) -> None:
        folder = os.environ.get("REMEMBRANCER_PROVE_OUT")
        if folder:
            path = Path(folder)
            path.mkdir(parents=True, exist_ok=True)
            text = json.dumps(figures, indent=2, sort_keys=True) + "\n"
            (path / f"{request.node.originalname}.json").write_text(text)

    return write
