"""Multipart bodies: files written to disk as they come, within limits."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from fastapi import Request
from starlette.datastructures import UploadFile
from starlette.formparsers import MultiPartException, MultiPartParser
from starlette.requests import ClientDisconnect

from ...nouns.turns import Turns
from .errors import Fault, Refused

_AT_ONCE = 4  # uploads; each may take the largest size on disk
_WAIT_S = 30.0  # for a place among them
_CHUNK_S = 30.0  # for the next piece of a body
_BODY_S = 900.0  # for a whole body
_DRAIN_BYTES = 64 * 1024 * 1024  # of a body that is too large, read on unkept
_DRAIN_S = 5.0
_FIELD_BYTES = 1024 * 1024
_ROOM = 64 * 1024  # for what stands between and before the files


@dataclass(slots=True)
class Form:
    """What a multipart body holds, by the names of its parts."""

    files: dict[str, list[UploadFile]] = field(default_factory=dict)
    fields: dict[str, str] = field(default_factory=dict)


class Forms:
    """Reads multipart bodies, a few at once.

    Args:
        max_bytes: of the files of one body, together.
    """

    def __init__(self, max_bytes: int) -> None:
        self.max_bytes = max_bytes
        self._places = Turns(_AT_ONCE)

    @asynccontextmanager
    async def read(self, request: Request, max_files: int) -> AsyncIterator[Form]:
        """Read a body; its files are gone when the block ends.

        Raises:
            Refused: 413 too large or too many, 408 too slow, 503 too much at once, 415 no multipart
                body, 403 from another site's page, 422 broken.
        """
        _check_type(request)
        _check_origin(request)
        try:
            async with asyncio.timeout(_WAIT_S):
                await self._places.take()
        except TimeoutError:
            raise Refused(503, Fault("too many uploads at once; try again", "busy")) from None
        opened: list[UploadFile] = []
        try:
            form = Form()
            # One file more than may come, so that too many are told apart from a broken body.
            parser = MultiPartParser(
                request.headers,
                self._stream(request),
                max_files=max_files + 1,
                max_fields=10,
                max_part_size=_FIELD_BYTES,
            )
            try:
                found = await parser.parse()
            except MultiPartException as error:
                raise Refused(*_broken(error, max_files), close=True) from None
            for name, value in found.multi_items():
                if isinstance(value, UploadFile):
                    opened.append(value)
                    form.files.setdefault(name.removesuffix("[]"), []).append(value)
                else:
                    form.fields[name] = value
            if len(opened) > max_files:
                raise Refused(*_too_many(max_files))
            yield form
        finally:
            for each in opened:
                await each.close()
            self._places.give()

    async def _stream(self, request: Request) -> AsyncGenerator[bytes, None]:
        declared = request.headers.get("content-length", "")
        most = self.max_bytes + _ROOM
        if declared.isdecimal() and int(declared) > most:
            raise await self._too_large(request.stream(), request)
        stream = request.stream()
        loop = asyncio.get_running_loop()
        deadline = loop.time() + _BODY_S
        seen = 0
        while True:
            try:
                async with asyncio.timeout(max(0.0, min(_CHUNK_S, deadline - loop.time()))):
                    chunk = await anext(stream, None)
            except ClientDisconnect:
                raise Refused(
                    400, Fault("the body broke off", "disconnected"), close=True
                ) from None
            except TimeoutError:
                raise Refused(
                    408, Fault("the body came too slowly; try again", "timeout"), close=True
                ) from None
            if chunk is None:
                return
            seen += len(chunk)
            if seen > most:
                raise await self._too_large(stream, request)
            yield chunk

    async def _too_large(self, stream: AsyncIterator[bytes], request: Request) -> Refused:
        """Return the refusal, after reading on for a while: see `body.Bodies`."""
        seen = 0
        if request.headers.get("expect", "").lower() != "100-continue":
            try:
                async with asyncio.timeout(_DRAIN_S):
                    async for chunk in stream:
                        seen += len(chunk)
                        if seen > _DRAIN_BYTES:
                            break
            except (TimeoutError, ClientDisconnect):
                pass
        return Refused(
            413,
            Fault(
                f"files: the upload is larger than {self.max_bytes} bytes in total: send the files "
                "in several requests",
                "too_large",
                path=("files",),
                limit=self.max_bytes,
            ),
            close=True,
        )


def takes(*, files: dict[str, bool], fields: tuple[str, ...] = ()) -> dict[str, Any]:
    """Return the part of a route's description that says which parts its body has.

    Args:
        files: names of file parts; True for those of which there may be several.
        fields: names of text parts.
    """
    one = {"type": "string", "format": "binary"}
    parts: dict[str, Any] = {
        name: {"type": "array", "items": one} if several else one for name, several in files.items()
    }
    parts |= {name: {"type": "string"} for name in fields}
    schema = {"type": "object", "properties": parts, "required": list(parts)}
    content = {"multipart/form-data": {"schema": schema}}
    return {"requestBody": {"required": True, "content": content}}


def _check_type(request: Request) -> None:
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "multipart/form-data":
        raise Refused(
            415,
            Fault("send the file with the header Content-Type: multipart/form-data", "media_type"),
        )


def _check_origin(request: Request) -> None:
    """Refuse what a page of another site sends.

    A page in a browser may send such a body to any server without asking it first. So nobody's
    page can write to a memory that listens on this machine without a key.
    """
    origin = request.headers.get("origin")
    if origin is not None and urlsplit(origin).netloc != request.headers.get("host"):
        raise Refused(403, Fault("uploads from pages of other sites are refused", "cross_site"))


def _broken(error: MultiPartException, max_files: int) -> tuple[int, Fault]:
    if error.message.startswith("Too many files"):
        return _too_many(max_files)
    return 422, Fault(f"the body is no multipart body that can be read: {error.message}")


def _too_many(max_files: int) -> tuple[int, Fault]:
    return 413, Fault(
        f"files: there are more than {max_files} files; the limit is {max_files} a request: send "
        "them in several",
        "too_large",
        path=("files",),
        limit=max_files,
    )
