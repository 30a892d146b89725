"""Brings the loopback up where it is down: in a network namespace that was just made."""

from __future__ import annotations

import socket
import struct
import sys

_GET_FLAGS, _SET_FLAGS, _UP = 0x8913, 0x8914, 0x1  # of linux/sockios.h and linux/if.h
_REQUEST = "16sh14x"  # struct ifreq with flags


def bring_up() -> None:
    """Let processes of this machine reach each other, as far as this one may see to it.

    `unshare -n` gives a namespace whose loopback is down, so that not even 127.0.0.1 answers.
    Does nothing where it is up, where that is not this process's to change, and elsewhere than on
    Linux.
    """
    if sys.platform != "linux":
        return
    import fcntl  # noqa: PLC0415 (Unix alone has it)

    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as control:
        request = struct.pack(_REQUEST, b"lo", 0)
        try:
            flags: int = struct.unpack(_REQUEST, fcntl.ioctl(control, _GET_FLAGS, request))[1]
            if not flags & _UP:
                fcntl.ioctl(control, _SET_FLAGS, struct.pack(_REQUEST, b"lo", flags | _UP))
        except OSError:
            return
