"""Two servers with nothing in common but a PostgreSQL database, as on two hosts."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from cli_kit import Cli
from wire_kit import LATER, Server

from relay_kit import Relay

DOCUMENTS = 30


@pytest.fixture(scope="module")
def hosts(
    postgres: Any, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[Server, Server]]:
    space, folder = postgres.migrated(), tmp_path_factory.mktemp("hosts")
    with (
        Server(folder / "one", store=space.setting) as one,
        Server(folder / "two", store=space.setting) as two,
    ):
        yield one, two
    postgres.drop(space)


def told(number: int) -> dict[str, str]:
    return {"content": f"The lamp of room{number} is colour{number}.", "document_id": f"d{number}"}


def test_what_both_write_at_once_is_whole_and_both_see_it(
    hosts: tuple[Server, Server], bank: str
) -> None:
    with ThreadPoolExecutor(8) as many:
        list(many.map(lambda n: hosts[n % 2].retain(bank, told(n)), range(DOCUMENTS)))
    for host in hosts:
        [found] = [b for b in host.banks() if b["bank_id"] == bank]
        assert found["documents"] == DOCUMENTS
        for number in (0, 7, DOCUMENTS - 1):
            results = host.recall(bank, f"Which colour is the lamp of room{number}?")
            assert any(f"colour{number}." in result["text"] for result in results)


def test_what_one_forgets_the_other_does_not_find(hosts: tuple[Server, Server], bank: str) -> None:
    one, two = hosts
    one.retain(bank, told(1), told(2))
    assert any("colour1." in r["text"] for r in two.recall(bank, "the lamp of room1"))
    gone = one.client.delete(f"/v1/default/banks/{bank}/documents/d1")
    assert gone.status_code == 200
    for host in hosts:
        results = host.recall(bank, "Which colour is the lamp of room1?")
        assert results
        assert not any("colour1." in result["text"] for result in results)


def test_another_host_ends_what_a_dead_one_began(space: Any, tmp_path: Path, bank: str) -> None:
    items = [told(n) for n in range(8)]
    body = {"items": items, "async": True}
    with Server(tmp_path / "one", store=space.setting) as host:
        queued = host.post(f"/v1/default/banks/{bank}/memories", body).json()
        host.kill()
    with Server(tmp_path / "three", LATER, store=space.setting) as other:
        assert other.finished(bank, queued["operation_id"])["status"] == "completed"
        [found] = [b for b in other.banks() if b["bank_id"] == bank]
        assert found["documents"] == len(items)


def test_a_server_says_so_while_the_database_is_away_and_goes_on_after(
    space: Any, tmp_path: Path, bank: str
) -> None:
    path = f"/v1/default/banks/{bank}/memories"
    with Relay(space) as relay, Server(tmp_path / "one", store=relay.setting) as one:
        one.retain(bank, told(1))
        relay.cut()
        for answer in (one.client.get(f"{path}/list"), one.post(path, {"items": [told(2)]})):
            assert answer.status_code == 503
            assert answer.headers["Retry-After"]
            assert f"127.0.0.1:{relay.port}/" in answer.text
            assert "cannot be reached" in answer.text
        assert one.client.get("/health").json()["status"] != "healthy"
        relay.mend()
        one.retain(bank, told(2))
        assert any("colour2." in r["text"] for r in one.recall(bank, "the lamp of room2"))
        assert one.client.get("/health").json()["status"] == "healthy"


def test_the_documented_commands_run(
    postgres: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("note.txt").write_text("The lamp of room5 is green.")
    text = (Path(__file__).parents[2] / "docs" / "postgres.md").read_text()
    lines = re.findall(r"^\$ remembrancer (.*)$(?=\n(.*))", text, re.MULTILINE)
    assert len(lines) == 6
    spaces = {host: postgres.make() for host in ("db", "other")}
    try:
        for line, shown in lines:
            said = line
            for host, space in spaces.items():
                said = said.replace(f"postgresql://me:secret@{host}.example/memory", space.setting)
            ran = Cli(tmp_path / "data").ok(*shlex.split(said))
            assert not shown.startswith("schema") or ran.out.strip() == shown
    finally:
        for space in spaces.values():
            postgres.drop(space)


def test_the_command_line_makes_the_tables_copies_and_restores(
    postgres: Any, tmp_path: Path
) -> None:
    first, second = postgres.make(), postgres.make()
    cli = Cli(tmp_path / "data")
    try:
        where = ("--store", first.setting)
        assert cli("migrate", "--check", *where).code == 1
        assert cli.ok("migrate", *where).out.startswith("schema 0 -> ")
        assert "up to date" in cli.ok("migrate", "--check", *where).out
        text = tmp_path / "note.txt"
        text.write_text("The lamp of room5 is green.")
        cli.ok("retain", str(text), "--bank", "ann", *where)
        assert cli.ok("backup", str(tmp_path / "copy"), "--json", *where).json["units"] > 0
        cli.ok("restore", str(tmp_path / "copy"), "--store", second.setting)
        found = cli.ok("recall", "the lamp of room5", "-b", "ann", "--store", second.setting)
        assert "room5 is green" in found.out
        again = cli("restore", str(tmp_path / "copy"), "--store", second.setting)
        assert again.code == 1
        assert "something already" in again.err
        refused = cli("restore", str(tmp_path / "copy"), "--store", f"sqlite:///{cli.folder}")
        assert refused.code == 2
    finally:
        for space in (first, second):
            postgres.drop(space)
