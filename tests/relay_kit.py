"""A relay in front of a PostgreSQL server: what goes through it can be cut, as a network is."""

from __future__ import annotations

import socket
import threading
from contextlib import suppress
from pathlib import Path
from typing import Self

from psycopg import conninfo

from postgres_kit import Space


class Relay:
    """Listens on loopback and hands on what comes; `setting` leads through it."""

    def __init__(self, space: Space) -> None:
        given = conninfo.conninfo_to_dict(space.url)
        self._host, self._port = str(given.get("host", "localhost")), given.get("port", 5432)
        self._open: list[socket.socket] = []
        self._listener = self._listen(0)
        self.port: int = self._listener.getsockname()[1]
        who, database = given.get("user", "postgres"), given.get("dbname", "postgres")
        self.setting = (
            f"postgresql://{who}@127.0.0.1:{self.port}/{database}"
            f"?application_name={space.schema}&schema={space.schema}"
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.cut()

    def cut(self) -> None:
        """Hang up on everybody, and let nobody in."""
        for each in (self._listener, *self._open):
            with suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)
            each.close()
        self._open.clear()

    def mend(self) -> None:
        """Let everybody in again."""
        self._listener = self._listen(self.port)

    def _listen(self, port: int) -> socket.socket:
        listener = socket.create_server(("127.0.0.1", port))
        threading.Thread(target=self._serve, args=(listener,), daemon=True).start()
        return listener

    def _serve(self, listener: socket.socket) -> None:
        with suppress(OSError):
            while True:
                near, _ = listener.accept()
                far = self._reach()
                self._open += [near, far]
                for pair in ((near, far), (far, near)):
                    threading.Thread(target=_hand_on, args=pair, daemon=True).start()

    def _reach(self) -> socket.socket:
        if not self._host.startswith("/"):
            return socket.create_connection((self._host, int(self._port or 5432)))
        far = socket.socket(socket.AF_UNIX)
        far.connect(str(Path(self._host) / f".s.PGSQL.{self._port or 5432}"))
        return far


def _hand_on(source: socket.socket, target: socket.socket) -> None:
    with suppress(OSError):
        while block := source.recv(65_536):
            target.sendall(block)
    for each in (source, target):
        with suppress(OSError):
            each.shutdown(socket.SHUT_RDWR)
