"""Slips on the command line: what is told, and that nothing is done by halves or made unasked."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest
from cli_kit import Cli, Ran


@pytest.fixture
def cli(tmp_path: Path) -> Cli:
    return Cli(tmp_path / "data")


def _file(folder: Path, name: str, text: str) -> str:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return str(path)


def _refused(ran: Ran, code: int) -> str:
    assert ran.code == code, ran.err
    assert ran.err.startswith("error: ")
    assert ran.err.count("\n") == 1, ran.err
    return ran.err


def test_a_bad_file_is_known_before_anything_is_kept(cli: Cli, tmp_path: Path) -> None:
    good = _file(tmp_path, "good.txt", "The key hangs in the shed.")
    bad = _file(tmp_path, "bad.txt", "  \n")
    assert "bad.txt is empty" in _refused(cli("retain", good, bad), 2)
    assert "good.txt" not in cli("documents", "list").out


@pytest.mark.of_folders
def test_a_folder_that_backup_wrote_is_restored(cli: Cli, tmp_path: Path) -> None:
    copy, anew = tmp_path / "copy", tmp_path / "anew"
    copy.mkdir()
    assert cli("retain", _file(tmp_path, "a.txt", "The key hangs in the shed.")).code == 0
    assert cli("backup", str(copy)).code == 0
    assert cli("restore", str(copy), "--data", str(anew)).code == 0
    assert "shed" in cli("recall", "key", "--data", str(anew)).out
    (copy / "memory.db-wal").write_bytes(b"")
    told = _refused(cli("restore", str(copy), "--data", str(tmp_path / "third")), 1)
    assert "is the folder of a store" in told


def test_a_mistyped_store_is_not_made(cli: Cli, tmp_path: Path) -> None:
    typo = tmp_path / "typo"
    told = _refused(cli("status", "--store", f"sqlite:///{typo}"), 1)
    assert f"no memory in {typo}" in told
    assert "--store URL" in told
    told = _refused(cli("move", f"sqlite:///{typo}", f"sqlite:///{tmp_path}/there"), 1)
    assert f"there is no store in {typo}" in told
    assert not typo.exists()
    assert not (tmp_path / "there").exists()


def test_addresses_that_cannot_be_had_are_one_line(cli: Cli) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        held = "{}:{}".format(*taken.getsockname())
        for args in (
            ("--http", "127.0.0.1:0", "--grpc", held),
            ("--http", held, "--grpc", "off"),
        ):
            assert held in _refused(cli("serve", *args), 1)
    told = _refused(cli("serve", "--http", held, "--grpc", held), 2)
    assert f"HTTP and gRPC are both to listen on {held}" in told


def test_an_address_without_its_scheme_says_what_is_missing(cli: Cli) -> None:
    for args in (("watch", "--url", "localhost:6381"), ("mcp", "--url", "localhost:6381")):
        assert "must begin with http:// or https://" in _refused(cli(*args), 2)


@pytest.mark.parametrize("asked", [("documents", "list"), ("entities", "list"), ("history", "x?")])
def test_a_mistyped_bank_is_told_of(cli: Cli, tmp_path: Path, asked: tuple[str, ...]) -> None:
    assert cli("retain", _file(tmp_path, "a.txt", "Ann lives in Rome."), "--bank", "ann").code == 0
    ran = cli(*asked, "--bank", "an")
    assert (ran.code, "there is no bank 'an' in" in ran.err, "ann" in ran.err) == (0, True, True)
    assert "no bank" not in cli(*asked, "--bank", "ann").err
