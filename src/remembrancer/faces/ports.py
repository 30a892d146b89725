"""Whether an address can be listened on."""

from __future__ import annotations

import socket


def trouble(host: str, port: int) -> OSError | None:
    """Return why an address cannot be taken; None: it can."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError as error:
            return error
    return None
