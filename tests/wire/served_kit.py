"""A real server in a thread of this process: soon ready, and its memory is at hand."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Coroutine
from pathlib import Path
from typing import Any, Self

import grpc
import httpx
from grpc_kit import Client

from remembrancer.app import App
from remembrancer.faces.grpc.server import GrpcServer
from remembrancer.faces.http.server import HttpServer
from remembrancer.nouns.caller import Permission
from remembrancer.nouns.clock import Clock
from remembrancer.settings import Settings
from remembrancer.verbs.access.key_options import KeyOptions
from stores_kit import stored

WAIT_S = 60.0


class Served:
    """HTTP and gRPC over one folder, for who has a key.

    Nothing works in the background unless it is asked for.
    """

    def __init__(
        self, folder: Path, clock: Clock | None = None, background: bool = False, **settings: Any
    ) -> None:
        given = {"data": folder, "embedder": "hash:64", "auth": "on", **stored(folder)}
        self._settings = Settings(**{**given, **settings})
        self.clock = clock
        self._background = background
        self._ready = threading.Event()
        self._failed: BaseException | None = None
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()
        if not self._ready.wait(WAIT_S) or self._failed is not None:
            raise AssertionError("the server did not start") from self._failed
        self.address, self.url = f"127.0.0.1:{self._grpc.port}", self._http.url
        self.channel = grpc.insecure_channel(self.address)
        self.http = httpx.Client(base_url=self.url, timeout=WAIT_S)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.http.close()
        self.channel.close()
        self._loop.call_soon_threadsafe(self._http.stop)
        self._thread.join(WAIT_S)
        assert not self._thread.is_alive()

    def run(self, work: Coroutine[Any, Any, Any]) -> Any:
        """Do something with `app`, in its own thread, and return what comes of it."""
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(WAIT_S)

    def settle(self) -> None:
        """Have all written that waits to be: uses that were counted, entries of the audit log."""

        async def write() -> None:
            await self.app.audit_log.flush()
            await self.app.keys.close()
            await self.app.store.close()
            await self.app.store.open()

        self.run(write())

    def key(self, tenant: str, *permissions: str, **more: Any) -> str:
        """Make a key of a tenant; without permissions named, one that may all but cross it."""
        named = frozenset(map(Permission, permissions or ("read", "write", "admin")))
        options = KeyOptions("a test", tenant, named, **more)
        secret: str = self.run(self.app.keys.create(options)).secret
        return secret

    def calls(self, key: str) -> Client:
        """Return a gRPC client with a key, that names no tenant."""
        return Client(self.channel, "", f"Bearer {key}")

    def ask(self, key: str, method: str, path: str, body: Any = None) -> httpx.Response:
        """Send a request with a key."""
        headers = {"Authorization": f"Bearer {key}".strip()}
        return self.http.request(method, path, json=body, headers=headers)

    def _run(self) -> None:
        try:
            asyncio.run(self._serve())
        except BaseException as error:
            self._failed = error
            self._ready.set()

    async def _serve(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._http, self._grpc = HttpServer("127.0.0.1", 0), GrpcServer("127.0.0.1:0")
        self.app = await App.open(self._settings, clock=self.clock, background=self._background)
        try:
            await self._grpc.start(self.app)
            await self._http.serve(self.app, self._ready.set)
        finally:
            await self._grpc.stop()
            await self.app.close()
            self._http.close()
