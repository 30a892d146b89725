"""An endpoint like OpenAI's that answers by a script, in a thread of its own."""

from __future__ import annotations

import html
import json
import re
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self

KEY = "sk-not-a-secret"
SOURCE = re.compile(r'<source number="(\d+)"[^>]*>(.*?)</source>', re.DOTALL)


@dataclass
class Reply:
    """What the endpoint does: answers `text`, or fails as told."""

    text: str = ""
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    drop: bool = False  # hangs up without an answer
    wait_s: float = 0.0
    raw: bytes | None = None  # the whole body, whatever it is
    finish: str = "stop"
    usage: tuple[int, int] | None = (100, 10)


Script = Callable[[dict[str, Any]], Reply]


def facts_reply(facts: list[dict[str, Any]], **more: Any) -> Reply:
    return Reply(json.dumps({"facts": facts}), **more)


def sources_in(body: dict[str, Any]) -> list[tuple[int, str]]:
    """The sources that a request shows, as they stood before they were fenced."""
    text = body["messages"][1]["content"]
    return [(int(n), html.unescape(t)) for n, t in SOURCE.findall(text)]


def echo(body: dict[str, Any]) -> Reply:
    """Each source as one fact, word for word."""
    return facts_reply([{"source": n, "quote": t, "text": t} for n, t in sources_in(body)])


class Endpoint:
    """Answers with `script`, or with the next of `queue` while there is one; keeps the requests."""

    def __init__(self, script: Script = echo) -> None:
        self.script = script
        self.queue: list[Reply | Script] = []
        self.requests: list[dict[str, Any]] = []
        self.keys: list[str | None] = []
        self._lock = threading.Lock()
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["content-length"])))
                with outer._lock:
                    outer.requests.append(body)
                    outer.keys.append(self.headers.get("authorization"))
                    found = outer.queue.pop(0) if outer.queue else outer.script
                reply = found if isinstance(found, Reply) else found(body)
                time.sleep(reply.wait_s)
                if reply.drop:
                    self.close_connection = True
                    return
                data = reply.raw if reply.raw is not None else json.dumps(_said(reply)).encode()
                try:
                    self.send_response(reply.status)
                    for name, value in reply.headers.items():
                        self.send_header(name, value)
                    self.send_header("content-length", str(len(data)))
                    self.end_headers()
                    self.wfile.write(data)
                except OSError:
                    pass  # who asked has given up

            def log_message(self, *_: Any) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}/v1"
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,))

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    @property
    def settings(self) -> dict[str, Any]:
        """The settings that make a memory ask here."""
        return {"llm": "openai:scripted", "llm_url": self.url, "llm_key": KEY, "llm_retries": 1}


def _said(reply: Reply) -> dict[str, Any]:
    body: dict[str, Any] = {
        "choices": [
            {
                "message": {"role": "assistant", "content": reply.text},
                "finish_reason": reply.finish,
            }
        ]
    }
    if reply.usage is not None:
        body["usage"] = {"prompt_tokens": reply.usage[0], "completion_tokens": reply.usage[1]}
    return body
