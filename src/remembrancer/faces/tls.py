"""TLS of both faces: certificate, key and the authority of clients, read anew when files change."""

from __future__ import annotations

import logging
import ssl
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import grpc

from ..nouns.errors import InvalidInput
from ..settings import Settings

log = logging.getLogger(__name__)

_Stamp = tuple[tuple[int, int, int], ...]


@dataclass(frozen=True)
class _Files:
    """What was read together: the files' bytes, and a context made of them."""

    cert: bytes
    key: bytes
    client_ca: bytes | None
    context: ssl.SSLContext


class Tls:
    """The files that the settings name.

    New connections get what the files hold by then. Files that do not fit together, as while they
    are being replaced, are left alone until they do; what was read last is used on.
    """

    def __init__(self, cert: Path, key: Path, client_ca: Path | None) -> None:
        """Read the files.

        Raises:
            InvalidInput: one cannot be used; names the setting.
        """
        self._cert, self._key, self._client_ca = cert, key, client_ca
        self._stamp = self._stamped()
        self._files = self._read()

    @property
    def asks_clients(self) -> bool:
        """Whether clients need a certificate of their own."""
        return self._client_ca is not None

    def current(self) -> _Files:
        """Return the files as they are, or as they last fitted together."""
        stamp = self._stamped()
        if stamp != self._stamp:
            self._stamp = stamp
            try:
                self._files = self._read()
            except InvalidInput as error:
                log.warning("the TLS files were changed and cannot be used yet: %s", error)
        return self._files

    def context(self) -> ssl.SSLContext:
        """Return a context for asyncio whose connections use the files of the time."""
        context = _Current(ssl.PROTOCOL_TLS_SERVER)
        context.tls = self
        return context

    def grpc_credentials(self) -> Any:
        """Return credentials for a gRPC port whose connections use the files of the time."""
        first = self.current()
        given = [first]

        def fetch() -> Any:
            found = self.current()
            if found is given[0]:
                return None  # as before
            given[0] = found
            return _configuration(found)

        return grpc.dynamic_ssl_server_credentials(
            _configuration(first), fetch, require_client_authentication=self.asks_clients
        )

    def _read(self) -> _Files:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.minimum_version = ssl.TLSVersion.TLSv1_2
        context.set_alpn_protocols(["http/1.1"])
        read = {
            "tls_cert": _bytes(self._cert, "tls_cert"),
            "tls_key": _bytes(self._key, "tls_key"),
        }
        try:
            # Without a password, for there is nobody to ask.
            context.load_cert_chain(self._cert, self._key, password=lambda: b"")
        except (ssl.SSLError, OSError, ValueError) as error:
            raise InvalidInput(
                f"tls_cert {self._cert} and tls_key {self._key} do not go together "
                f"({getattr(error, 'reason', None) or error}): give a PEM certificate chain and "
                "its key, unencrypted",
                field="tls_cert",
            ) from None
        if self._client_ca is not None:
            read["tls_client_ca"] = _bytes(self._client_ca, "tls_client_ca")
            context.verify_mode = ssl.CERT_REQUIRED
            try:
                context.load_verify_locations(self._client_ca)
            except (ssl.SSLError, OSError) as error:
                raise InvalidInput(
                    f"tls_client_ca {self._client_ca} holds no certificate in PEM ({error})",
                    field="tls_client_ca",
                ) from None
        return _Files(read["tls_cert"], read["tls_key"], read.get("tls_client_ca"), context)

    def _stamped(self) -> _Stamp:
        files = (self._cert, self._key, self._client_ca)
        return tuple(_stamp(path) for path in files if path is not None)


class _Current(ssl.SSLContext):
    """Hands each connection to the context that is current when it comes."""

    tls: Tls

    def wrap_bio(self, *args: Any, **named: Any) -> ssl.SSLObject:
        """See `ssl.SSLContext.wrap_bio`; asyncio calls this for each connection."""
        return self.tls.current().context.wrap_bio(*args, **named)


def tls_of(settings: Settings) -> Tls | None:
    """Return what the settings name, or None without TLS.

    Raises:
        InvalidInput: a file cannot be used, or one is named without the other.
    """
    if settings.tls_cert is None and settings.tls_key is None:
        if settings.tls_client_ca is not None:
            raise InvalidInput(
                "tls_client_ca is set without TLS: set tls_cert and tls_key, too",
                field="tls_client_ca",
            )
        return None
    if settings.tls_cert is None or settings.tls_key is None:
        missing = "tls_key" if settings.tls_key is None else "tls_cert"
        raise InvalidInput(
            f"{missing} is not set: TLS needs a certificate and its key", field=missing
        )
    ca = settings.tls_client_ca
    return Tls(
        settings.tls_cert.expanduser(),
        settings.tls_key.expanduser(),
        ca.expanduser() if ca else None,
    )


def _configuration(files: _Files) -> Any:
    pair = [(files.key, files.cert)]
    return grpc.ssl_server_certificate_configuration(pair, root_certificates=files.client_ca)


def _bytes(path: Path, field: str) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise InvalidInput(
            f"{field} {path} cannot be read ({error.strerror}): give the path of a PEM file that "
            "the server may read",
            field=field,
        ) from None


def _stamp(path: Path) -> tuple[int, int, int]:
    try:
        found = path.stat()
    except OSError:
        return (0, 0, 0)
    return (found.st_mtime_ns, found.st_size, found.st_ino)
