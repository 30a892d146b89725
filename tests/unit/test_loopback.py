"""Where the loopback is down, it is brought up; elsewhere nothing changes."""

from __future__ import annotations

import fcntl
import struct

import pytest

from remembrancer.faces import loopback

GET, SET = 0x8913, 0x8914
RUNNING, UP = 0x40, 0x1


class Kernel:
    """Answers for the loopback as the kernel does, and notes what is set."""

    def __init__(self, flags: int, *, forbids: bool = False) -> None:
        self.flags = flags
        self.set: list[int] = []
        self._forbids = forbids

    def ioctl(self, _: object, request: int, given: bytes) -> bytes:
        name, flags = struct.unpack("16sh14x", given)
        assert name.rstrip(b"\0") == b"lo"
        if request == GET:
            return struct.pack("16sh14x", b"lo", self.flags)
        assert request == SET
        if self._forbids:
            raise PermissionError
        self.flags = flags
        self.set.append(flags)
        return given


def test_what_is_down_is_brought_up_and_keeps_its_other_flags(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    kernel = Kernel(RUNNING)
    monkeypatch.setattr(fcntl, "ioctl", kernel.ioctl)
    loopback.bring_up()
    assert kernel.set == [RUNNING | UP]


def test_what_is_up_is_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    kernel = Kernel(RUNNING | UP)
    monkeypatch.setattr(fcntl, "ioctl", kernel.ioctl)
    loopback.bring_up()
    assert kernel.set == []


def test_who_may_not_leaves_it_down(monkeypatch: pytest.MonkeyPatch) -> None:
    kernel = Kernel(0, forbids=True)
    monkeypatch.setattr(fcntl, "ioctl", kernel.ioctl)
    loopback.bring_up()
    assert kernel.flags == 0
