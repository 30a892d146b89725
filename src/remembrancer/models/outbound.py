"""Requests to addresses that callers name: to the public Internet alone, within bounds.

A server that fetches what it is told to can be used to reach what only it can reach. So a host is
resolved once, each of its addresses is checked, and the connection goes to an address that was
checked: a name that answers differently the second time gains nothing. Redirects are not followed.
"""

from __future__ import annotations

import asyncio
import contextlib
import ipaddress
import re
import socket
import ssl
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from urllib.parse import SplitResult, urlencode, urlsplit

from ..nouns.errors import InvalidInput, RemembrancerError, TooLarge

MAX_URL_CHARS = 2048
KEPT_BYTES = 1024  # of an answer's body
_HEAD_BYTES = 64 * 1024  # of an answer's head
_BODY_S = 5.0  # for the body, which is only kept to be looked at
_RESOLVE_S = 5.0
_TRIED = 3  # addresses of one host
_PORTS = {"http": 80, "https": 443}
_HOST = re.compile(r"[A-Za-z0-9._-]+|[0-9A-Fa-f:.]+")
_STATUS = re.compile(rb"HTTP/1\.[01] (\d{3})(?: |\r?\n)")
_LENGTH = re.compile(rb"\r\ncontent-length:[ \t]*(\d{1,15})[ \t]*\r", re.IGNORECASE)
_CHUNKED = re.compile(rb"\r\ntransfer-encoding:[^\r]*chunked", re.IGNORECASE)
_CHUNK = re.compile(rb"([0-9A-Fa-f]{1,8})[^\r\n]*\r\n")
# RFC 6052: an IPv4 address inside an IPv6 one, which a gateway reaches.
_NAT64 = ipaddress.ip_network("64:ff9b::/96")

Address = ipaddress.IPv4Address | ipaddress.IPv6Address
Resolver = Callable[[str, int], Awaitable[Sequence[str]]]
"""Returns the addresses of a host; raises OSError when it has none."""


class Forbidden(InvalidInput):
    """The address is none that may be reached."""

    code = "forbidden_address"


class NotReached(RemembrancerError):
    """The other side could not be reached, was too slow, or did not answer in HTTP."""

    code = "not_reached"


@dataclass(frozen=True, slots=True)
class Target:
    """Where a request goes."""

    https: bool
    host: str
    port: int
    path: str  # with the query


@dataclass(frozen=True, slots=True)
class Outgoing:
    """A request. Header names and values must be fit for HTTP."""

    method: str
    url: str
    body: bytes = b""
    headers: Mapping[str, str] = field(default_factory=dict)
    params: Mapping[str, str] = field(default_factory=dict)
    timeout_s: float = 30.0


@dataclass(frozen=True, slots=True)
class Answer:
    """What came back: the status and the body's beginning."""

    status: int
    body: str


def target_of(url: str, params: Mapping[str, str] | None = None) -> Target:
    """Read a URL; `params` are added to its query.

    Raises:
        InvalidInput: it is no http or https URL, or holds a user's name or password.
    """
    if len(url) > MAX_URL_CHARS:
        raise TooLarge(
            f"url has {len(url)} characters; the limit is {MAX_URL_CHARS}",
            field="url",
            limit=MAX_URL_CHARS,
        )
    if not url.isascii() or any(c <= " " or c == "\x7f" for c in url):
        raise InvalidInput(
            "url must hold printable ASCII characters alone; percent-encode others", field="url"
        )
    try:
        parts = urlsplit(url)
        host, port = parts.hostname, parts.port
    except ValueError as error:
        raise InvalidInput(f"url is no URL: {error}", field="url") from None
    if parts.scheme not in _PORTS or not host or not _HOST.fullmatch(host):
        raise InvalidInput("url must be like https://example.com/hook", field="url")
    if "@" in parts.netloc:
        raise InvalidInput(
            "url must hold no user name or password; put them into a header", field="url"
        )
    if port == 0:
        raise InvalidInput("url names port 0, which nobody listens on", field="url")
    return Target(
        parts.scheme == "https", host, port or _PORTS[parts.scheme], _path(parts, params or {})
    )


def _path(parts: SplitResult, params: Mapping[str, str]) -> str:
    query = "&".join(each for each in (parts.query, urlencode(params)) if each)
    return (parts.path or "/") + (f"?{query}" if query else "")


def is_public(address: str) -> bool:
    """Tell whether an address is one of the public Internet, whatever it is wrapped in."""
    try:
        found: Address = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return False
    if isinstance(found, ipaddress.IPv6Address):
        inner = found.ipv4_mapped or found.sixtofour
        if inner is None and found in _NAT64:
            inner = ipaddress.IPv4Address(int(found) & 0xFFFFFFFF)
        if inner is not None:
            return is_public(str(inner))
        if found.teredo is not None or found.is_site_local:
            return False
    return found.is_global and not (found.is_multicast or found.is_reserved)


async def resolve(host: str, port: int) -> list[str]:
    """Return a host's addresses as the machine resolves them."""
    loop = asyncio.get_running_loop()
    found = await loop.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(info[4][0]) for info in found))


class Outbound:
    """Sends requests.

    Args:
        allow_private: reach addresses of this machine and its network, too.
        resolver: finds the addresses of a host.
    """

    def __init__(self, *, allow_private: bool = False, resolver: Resolver = resolve) -> None:
        self._allow_private = allow_private
        self._resolver = resolver
        self._tls: ssl.SSLContext | None = None

    async def check(self, url: str) -> None:
        """Refuse a URL that could not be reached; a host that has no address now is let pass.

        Raises:
            InvalidInput: see `target_of`.
            Forbidden: it leads to an address that is not public.
        """
        target = target_of(url)
        with contextlib.suppress(NotReached, TimeoutError):
            async with asyncio.timeout(_RESOLVE_S):
                await self._addresses(target)

    async def send(self, request: Outgoing) -> Answer:
        """Send a request and return the answer, whatever its status.

        Raises:
            InvalidInput, Forbidden: as `check`.
            NotReached: there was no answer within `timeout_s`.
        """
        target = target_of(request.url, request.params)
        try:
            async with asyncio.timeout(request.timeout_s):
                reader, writer = await self._connect(target, await self._addresses(target))
                try:
                    status, head = await _answered(reader, writer, _spelled(target, request))
                except BaseException:
                    writer.transport.abort()
                    raise
        except TimeoutError:
            raise NotReached(f"no answer within {request.timeout_s:g} s") from None
        except (OSError, asyncio.IncompleteReadError, asyncio.LimitOverrunError) as error:
            raise NotReached(f"the connection failed: {_reason(error)}") from None
        try:
            return Answer(status, (await _beginning(reader, head)).decode("utf-8", "replace"))
        finally:
            writer.transport.abort()

    async def _addresses(self, target: Target) -> Sequence[str]:
        try:
            found = await self._resolver(target.host, target.port)
        except (OSError, UnicodeError):
            found = ()
        if not found:
            raise NotReached(f"the host {target.host} has no address")
        if not self._allow_private and not all(map(is_public, found)):
            raise Forbidden(
                f"url leads to {target.host}, which is not an address of the public Internet; "
                "set REMEMBRANCER_WEBHOOK_ALLOW_PRIVATE=true to allow that",
                field="url",
            )
        return found[:_TRIED]

    async def _connect(
        self, target: Target, addresses: Sequence[str]
    ) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        tls = await self._tls_context() if target.https else None
        name = target.host if tls else None
        failed: OSError | None = None
        for address in addresses:
            try:
                return await asyncio.open_connection(
                    address, target.port, ssl=tls, server_hostname=name, limit=_HEAD_BYTES
                )
            except OSError as error:
                failed = error
        assert failed is not None
        raise failed

    async def _tls_context(self) -> ssl.SSLContext:
        if self._tls is None:  # reading the certificates takes some ten milliseconds
            self._tls = await asyncio.to_thread(ssl.create_default_context)
        return self._tls


def _spelled(target: Target, request: Outgoing) -> bytes:
    host = f"[{target.host}]" if ":" in target.host else target.host
    if target.port != _PORTS["https" if target.https else "http"]:
        host = f"{host}:{target.port}"
    headers = {
        **request.headers,
        "Host": host,
        "Content-Length": str(len(request.body)),
        "Connection": "close",
    }
    lines = [f"{request.method} {target.path} HTTP/1.1", *(f"{k}: {v}" for k, v in headers.items())]
    return "\r\n".join([*lines, "", ""]).encode("latin-1") + request.body


async def _answered(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter, request: bytes
) -> tuple[int, bytes]:
    """Send a request; return the status of the answer and its head."""
    writer.write(request)
    await writer.drain()
    while True:
        head = await reader.readuntil(b"\r\n\r\n")
        match = _STATUS.match(head)
        if match is None:
            raise NotReached("the answer is not HTTP/1.1")
        if int(match[1]) >= 200:  # a 1xx comes before the answer
            return int(match[1]), head


async def _beginning(reader: asyncio.StreamReader, head: bytes) -> bytes:
    """Read the beginning of a body, as far as it comes soon."""
    length = _LENGTH.search(head)
    wanted = min(int(length[1]), KEPT_BYTES) if length else KEPT_BYTES
    chunked = _CHUNKED.search(head) is not None
    found = b""
    with contextlib.suppress(TimeoutError, OSError):
        async with asyncio.timeout(_BODY_S):
            while len(found) < wanted and not (chunked and found.endswith(b"\r\n0\r\n\r\n")):
                part = await reader.read(KEPT_BYTES)
                if not part:
                    break
                found += part
    return (_joined(found) if chunked else found)[:wanted]


def _joined(framed: bytes) -> bytes:
    """Return the content of chunks (RFC 9112, 7.1), the last of which may be cut short."""
    found = b""
    while match := _CHUNK.match(framed):
        end = match.end() + int(match[1], 16)
        found += framed[match.end() : end]
        framed = framed[end + 2 :]
    return found


def _reason(error: Exception) -> str:
    if isinstance(error, ssl.SSLCertVerificationError):
        return f"the certificate is not valid: {error.verify_message}"
    if isinstance(error, asyncio.IncompleteReadError):
        return "it was closed before the answer"
    if isinstance(error, asyncio.LimitOverrunError):
        return f"the answer's head is larger than {_HEAD_BYTES} bytes"
    return getattr(error, "strerror", None) or type(error).__name__
