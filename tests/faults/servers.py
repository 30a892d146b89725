"""Server processes that can be hurt: started by a parent that forks, spoken to over HTTP."""

from __future__ import annotations

import http.client
import json
import os
import select
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

from shim import Control

_HERE = Path(__file__).parent
_READY_S = 40.0
_ANSWER_S = 15.0
_IMPORTED_S = 180.0  # on a machine with much else to do


class Answer(NamedTuple):
    """What came back. `status` 0: nothing did, and what was asked may be done or not."""

    status: int
    body: Any

    @property
    def ok(self) -> bool:
        """Whether it was acknowledged."""
        return 200 <= self.status < 300


class Server:
    """One server process over a folder at a time, in a slot of its own (`name`)."""

    def __init__(self, base: Path, name: str, library: Path | None) -> None:
        self.undo = base / f"undo-{name}"
        self.errors = base / f"errors-{name}.txt"
        control = base / f"control-{name}"
        self.control = Control(control)
        self.pid: int | None = None
        self._port = 0
        self._has_library = library is not None
        told = {
            "FAULTS_CONTROL": str(control),
            "FAULTS_UNDO": str(self.undo),
            "FAULTS_FOLDER": str(base / "rounds"),
            "OPENBLAS_NUM_THREADS": "1",
            "OMP_NUM_THREADS": "1",
        }
        if library is not None:
            told["LD_PRELOAD"] = str(library)
        with self.errors.open("ab") as errors:
            self._parent = subprocess.Popen(
                [sys.executable, "-W", "ignore", str(_HERE / "victim.py")],
                env={k: v for k, v in os.environ.items() if not k.startswith("REMEMBRANCER_")}
                | told,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=errors,
            )
        self._read = b""

    @property
    def limits_files(self) -> bool:
        """Whether writes are made to fail by a limit, for want of the library."""
        return not self._has_library

    def start(self, folder: Path, store: str | None, broken: tuple[str, ...]) -> bool:
        """Start a process; False when it ends before it serves, as when its disk fails."""
        assert self._parent.stdin is not None
        if self.undo.exists():
            os.truncate(self.undo, 0)
        order = {"folder": str(folder), "store": store, "broken": broken}
        self._parent.stdin.write(json.dumps(order).encode() + b"\n")
        self._parent.stdin.flush()
        self.pid = int(self._line(_IMPORTED_S).split()[1])
        while line := self._line(_READY_S):
            if line.startswith("over"):
                self.pid = None
                return False
            if "ready at" in line:
                self._port = int(line.rsplit(":", 1)[1])
                return True
        raise AssertionError("a server neither came up nor ended")

    def ask(
        self, method: str, path: str, body: Any = None, *, drop: Callable[[], None] | None = None
    ) -> Answer:
        """Send a request. `drop`: waits, then the connection is cut with the answer unread."""
        if self.pid is None:
            return Answer(0, None)
        connection = http.client.HTTPConnection("127.0.0.1", self._port, timeout=_ANSWER_S)
        try:
            text = None if body is None else json.dumps(body)
            connection.request(method, path, text, {"Content-Type": "application/json"})
            if drop is not None:
                drop()
                return Answer(0, None)
            found = connection.getresponse()
            raw = found.read()
            is_json = "json" in found.headers.get("Content-Type", "")
            return Answer(found.status, json.loads(raw) if is_json else raw)
        except (OSError, http.client.HTTPException, ValueError):
            return Answer(0, None)
        finally:
            connection.close()

    def reap(self, wait_s: float = 0.0) -> bool:
        """Return whether the process has ended, within so long."""
        deadline = time.monotonic() + wait_s
        while self.pid is not None:
            line = self._line(max(0.0, deadline - time.monotonic()))
            if line.startswith("over"):
                self.pid = None
            elif not line:
                return False
        return True

    def kill(self) -> None:
        """Kill the process, if it runs."""
        if self.pid is not None:
            with suppress(ProcessLookupError):
                os.kill(self.pid, signal.SIGKILL)
            assert self.reap(_READY_S)

    def stop(self) -> bool:
        """Tell the process to end; False when it must be killed."""
        if self.pid is None:
            return True
        self.resume()
        with suppress(ProcessLookupError):
            os.kill(self.pid, signal.SIGTERM)
        well = self.reap(_READY_S)
        self.kill()
        return well

    def resume(self) -> None:
        """Let a process that was stopped go on."""
        if self.pid is not None:
            with suppress(ProcessLookupError):
                os.kill(self.pid, signal.SIGCONT)

    @property
    def stalled(self) -> bool:
        """Whether the process stands still."""
        if self.pid is None:
            return False
        with suppress(OSError):
            text = Path(f"/proc/{self.pid}/stat").read_text()
            return text.rpartition(")")[2].split()[0] == "T"
        return False

    def close(self) -> None:
        """End all."""
        self.resume()
        self.kill()
        assert self._parent.stdin is not None
        assert self._parent.stdout is not None
        self._parent.stdin.close()
        self._parent.wait(_READY_S)
        self._parent.stdout.close()

    def _line(self, wait_s: float) -> str:
        """Return the next line that is not empty; nothing when none comes in time."""
        assert self._parent.stdout is not None
        deadline = time.monotonic() + wait_s
        while True:
            while b"\n" in self._read:
                line, _, self._read = self._read.partition(b"\n")
                if line.strip():
                    return line.decode(errors="replace")
            left = max(0.0, deadline - time.monotonic())
            if not select.select([self._parent.stdout], [], [], left)[0]:
                return ""
            more = os.read(self._parent.stdout.fileno(), 65536)
            if not more:
                raise AssertionError("the parent of the servers ended")
            self._read += more
