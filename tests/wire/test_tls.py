"""TLS of both faces: what clients see, that a client certificate is needed, and that it reloads."""

from __future__ import annotations

import datetime
import ipaddress
import ssl
from collections.abc import Iterator
from pathlib import Path

import grpc
import httpx
import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID
from grpc_health.v1 import health_pb2, health_pb2_grpc
from wire_kit import Server

from remembrancer.faces.tls import tls_of
from remembrancer.nouns.errors import InvalidInput
from remembrancer.settings import Settings


def make(folder: Path, name: str) -> tuple[Path, Path]:
    """Write a certificate of a name, signed by itself, that may sign others; and its key."""
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
    now = datetime.datetime.now(datetime.UTC)
    names = [x509.DNSName("localhost"), x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]
    cert = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(days=1))
        .not_valid_after(now + datetime.timedelta(days=30))
        .add_extension(x509.SubjectAlternativeName(names), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .sign(key, hashes.SHA256())
    )
    pem = serialization.Encoding.PEM
    secret = key.private_bytes(pem, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    paths = folder / f"{name}.pem", folder / f"{name}.key"
    paths[0].write_bytes(cert.public_bytes(pem))
    paths[1].write_bytes(secret)
    return paths


@pytest.fixture
def served(tmp_path: Path) -> Iterator[tuple[Server, Path]]:
    for name in ("one", "two", "client"):
        make(tmp_path, name)
    for kind in ("pem", "key"):
        (tmp_path / f"served.{kind}").write_bytes((tmp_path / f"one.{kind}").read_bytes())
    with Server(
        tmp_path / "data",
        tls_cert=str(tmp_path / "served.pem"),
        tls_key=str(tmp_path / "served.key"),
        tls_client_ca=str(tmp_path / "client.pem"),
    ) as server:
        yield server, tmp_path


def live(server: Server, folder: Path, trusted: str, *, known: bool = True) -> int:
    context = ssl.create_default_context(cafile=str(folder / f"{trusted}.pem"))
    if known:
        context.load_cert_chain(folder / "client.pem", folder / "client.key")
    with httpx.Client(verify=context, timeout=60) as client:
        return client.get(f"{server.url}/health").status_code


def grpc_health(server: Server, folder: Path, trusted: str, *, known: bool = True) -> int:
    pair = [(folder / "client.key").read_bytes(), (folder / "client.pem").read_bytes()]
    root = (folder / f"{trusted}.pem").read_bytes()
    credentials = grpc.ssl_channel_credentials(root, *(pair if known else ()))
    with grpc.secure_channel(server.grpc, credentials) as channel:
        stub = health_pb2_grpc.HealthStub(channel)
        status: int = stub.Check(health_pb2.HealthCheckRequest(), timeout=10).status
        return status


def test_both_faces_ask_for_certificates_and_serve_new_ones(served: tuple[Server, Path]) -> None:
    server, folder = served
    assert server.url.startswith("https://")
    serving = health_pb2.HealthCheckResponse.SERVING
    assert live(server, folder, "one") == 200
    assert grpc_health(server, folder, "one") == serving
    with pytest.raises((httpx.TransportError, ssl.SSLError)):
        live(server, folder, "one", known=False)
    with pytest.raises(grpc.RpcError):
        grpc_health(server, folder, "one", known=False)
    with pytest.raises(httpx.TransportError):
        httpx.get(server.url.replace("https", "http") + "/health")

    (folder / "served.key").write_bytes((folder / "two.key").read_bytes())
    assert live(server, folder, "one") == 200  # which does not fit its certificate yet
    (folder / "served.pem").write_bytes((folder / "two.pem").read_bytes())
    assert live(server, folder, "two") == 200
    assert grpc_health(server, folder, "two") == serving
    with pytest.raises(httpx.ConnectError):
        live(server, folder, "one")


def test_files_that_cannot_be_used_are_named(tmp_path: Path) -> None:
    cert, key = make(tmp_path, "one")
    other = make(tmp_path, "two")[1]
    empty = tmp_path / "empty.pem"
    empty.write_text("")
    for wrong, field in (
        ({"tls_cert": cert}, "tls_key"),
        ({"tls_key": key}, "tls_cert"),
        ({"tls_client_ca": cert}, "tls_client_ca"),
        ({"tls_cert": cert, "tls_key": other}, "tls_cert"),
        ({"tls_cert": cert, "tls_key": tmp_path / "none"}, "tls_key"),
        ({"tls_cert": cert, "tls_key": key, "tls_client_ca": empty}, "tls_client_ca"),
    ):
        with pytest.raises(InvalidInput) as caught:
            tls_of(Settings(**wrong))
        assert caught.value.field == field
    assert tls_of(Settings()) is None
