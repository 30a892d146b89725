"""A memory that is used where it cannot answer says so, and never hangs."""

from __future__ import annotations

import os
import select
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

import remembrancer
from remembrancer import Client, InvalidInput, Memory

WAIT_S = 30.0


def _open(folder: Path) -> Memory:
    return remembrancer.open(folder, embedder="none")


def _in_child(work: Callable[[], object]) -> str:
    """Do it in a fork of this process, and return what came of it."""
    reads, writes = os.pipe()
    child = os.fork()
    if not child:
        try:
            told = repr(work())
        except BaseException as error:
            told = f"{type(error).__name__}: {error}"
        os.write(writes, told.encode())
        os._exit(0)
    os.close(writes)
    try:
        ready, _, _ = select.select([reads], [], [], WAIT_S)
        return os.read(reads, 4096).decode() if ready else "hangs"
    finally:
        os.close(reads)
        os.kill(child, 9)
        os.waitpid(child, 0)


def test_what_a_memory_calls_cannot_use_it(tmp_path: Path) -> None:
    told: list[Exception] = []
    with _open(tmp_path) as memory:

        def progress(*_: int) -> None:
            try:
                memory.recall("key")
            except InvalidInput as error:
                told.append(error)

        work = threading.Thread(
            target=lambda: memory.retain("One. Two.", progress=progress), daemon=True
        )
        work.start()
        work.join(WAIT_S)
        assert not work.is_alive()
        assert "progress" in str(told[0])
        assert memory.recall("One") is not None


@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")  # which is what this is about
def test_a_memory_from_before_a_fork_says_so(tmp_path: Path) -> None:
    with _open(tmp_path) as memory:
        memory.retain("The key hangs in the shed.")
        assert "opened before a fork" in _in_child(lambda: memory.recall("key"))
        assert "opened before a fork" in _in_child(memory.__enter__)
        assert _in_child(memory.close) == "None"
        assert "shed" in _in_child(lambda: _open(tmp_path).recall("key")[0].text)
        assert "shed" in memory.recall("key")[0].text


@pytest.mark.filterwarnings("error")
def test_a_closed_memory_says_so(tmp_path: Path) -> None:
    memory = _open(tmp_path)
    memory.close()
    memory.close()
    for use in (memory.status, memory.__enter__, lambda: memory.recall("key")):
        with pytest.raises(InvalidInput, match="this memory is not open"):
            use()


@pytest.mark.filterwarnings("error")
def test_a_closed_client_says_so() -> None:
    client = Client("http://localhost:1")
    client.close()
    for use in (client.status, client.__enter__):
        with pytest.raises(InvalidInput, match="this client is not open"):
            use()
