"""Banks on the wire: which one a path or a body names."""

from __future__ import annotations

from typing import Annotated
from urllib.parse import unquote, unquote_to_bytes

from fastapi import Depends, Path
from starlette.types import ASGIApp, Receive, Scope, Send

from ...nouns.errors import InvalidInput
from ...nouns.memory import BankRef
from ...nouns.names import MAX_BANK_CHARS, bank_ref

PREFIX = "/v1/default/banks/"


class EncodedBanks:
    """Keeps the bank's part of a path percent-encoded, so that a slash in a name is no border."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on."""
        if scope["type"] == "http" and scope["path"].startswith(PREFIX):
            raw = scope.get("raw_path") or b""
            if raw.startswith(PREFIX.encode()):
                bank, slash, rest = raw.decode("latin-1").removeprefix(PREFIX).partition("/")
                scope = {**scope, "path": f"{PREFIX}{bank}{slash}{unquote(rest)}"}
        await self._app(scope, receive, send)


async def _bank_of(bank_id: Annotated[str, Path(title="Bank Id")]) -> BankRef:
    try:
        name = unquote_to_bytes(bank_id).decode()
    except UnicodeDecodeError:
        raise InvalidInput(
            f"bank_id must be percent-encoded UTF-8 of 1 to {MAX_BANK_CHARS} characters",
            field="bank_id",
            limit=MAX_BANK_CHARS,
        ) from None
    return bank_ref(name, "bank_id")


NamedBank = Annotated[BankRef, Depends(_bank_of)]
