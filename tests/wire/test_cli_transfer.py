"""Importing, exporting, erasing, checking and watching from the command line."""

from __future__ import annotations

import asyncio
import json
import os
import stat
from pathlib import Path

import pytest
from cli_kit import Cli
from typer.main import get_command
from typer.testing import CliRunner
from wire_kit import Server

from remembrancer.app import App
from remembrancer.faces.cli import main
from remembrancer.faces.cli.watching import Watched, WatchedServer
from remembrancer.faces.mcp.reference_graph import GraphDocuments
from remembrancer.faces.mcp.ways import Ask, Remote
from remembrancer.finding.indexes import Indexes
from remembrancer.keeping.sqlite.integrity import fault_of
from remembrancer.nouns.intention import TriggerType
from remembrancer.nouns.memory import BankRef
from remembrancer.settings import Settings
from remembrancer.verbs.reminding.reminders import Reminder
from remembrancer.verbs.retaining.units import Item
from stores_kit import bytes_of, stored

TALK = "Ann: I moved to Porto.\nBen: Otto Brandt has the keys.\n"


@pytest.fixture
def cli(tmp_path: Path) -> Cli:
    return Cli(tmp_path / "data")


@pytest.fixture
def filled(cli: Cli, tmp_path: Path) -> Cli:
    (tmp_path / "talk.txt").write_text(TALK)
    cli.ok("retain", str(tmp_path / "talk.txt"), "--bank", "ann")
    return cli


def test_a_bank_goes_out_and_in(filled: Cli, tmp_path: Path) -> None:
    out, folder = tmp_path / "ann.jsonl", str(tmp_path / "new")
    shown = filled.ok("export", "--bank", "ann", "--to", str(out), "--json").json
    assert shown["files"][0]["bytes"] == shown["bytes"] == out.stat().st_size
    assert stat.S_IMODE(out.stat().st_mode) == 0o600
    taken = filled.ok("import", str(out), "--as-named", "--data", folder, "--json").json
    assert (taken["documents"], taken["formats"]) == (1, {"bank": 1})
    again = filled.ok("export", "--bank", "ann", "--to", "-", "--data", folder).out
    assert again.splitlines()[1:] == out.read_text().splitlines()[1:]
    assert not list(tmp_path.glob(".ann*"))


def test_all_banks_and_each_format(filled: Cli, tmp_path: Path) -> None:
    filled.ok("retain", "-", "--bank", "../ben", stdin="Ben sails.")
    filled.ok("export", "--all", "--to", str(tmp_path / "all"))
    assert sorted(p.name for p in (tmp_path / "all").iterdir()) == ["_ben.jsonl", "ann.jsonl"]
    filled.ok("export", "--bank", "ann", "-f", "obsidian", "--to", str(tmp_path / "vault"))
    assert (tmp_path / "vault" / "Documents" / "talk.txt.md").read_text().count("Porto") >= 1
    assert "Porto" in filled.ok("export", "--bank", "ann", "-f", "markdown", "--to", "-").out
    assert "VCALENDAR" in filled.ok("export", "--bank", "ann", "-f", "ics", "--to", "-").out
    assert filled.here("export", "--all", "--to", "-").code == 2


def test_a_node_that_cannot_be_kept_leaves_the_others(cli: Cli, tmp_path: Path) -> None:
    long = {"type": "entity", "name": "x" * 300, "entityType": "thing", "observations": []}
    good = {"type": "entity", "name": "Ann", "entityType": "person", "observations": ["Bakes"]}
    lines = [long, good, {"type": "relation", "from": "Ann", "to": "Porto", "relationType": "in"}]
    (tmp_path / "memory.jsonl").write_text("\n".join(map(json.dumps, lines)))
    taken = cli.ok("import", str(tmp_path / "memory.jsonl"), "--bank", "b", "--json").json
    assert (taken["graph"], taken["left_count"]) == (3, 1)


def test_an_entry_that_is_wrong_leaves_the_others_of_a_calendar(cli: Cli, tmp_path: Path) -> None:
    entry = "BEGIN:VTODO\r\nUID:{n}\r\nSUMMARY:Oil hinge {n}\r\nDUE:{due}\r\nEND:VTODO\r\n"
    dues = ["29990101T090000Z", "no day at all", "29990102T090000Z"]
    told = "".join(entry.format(n=n, due=due) for n, due in enumerate(dues))
    path = tmp_path / "c.ics"
    path.write_bytes(f"BEGIN:VCALENDAR\r\nVERSION:2.0\r\n{told}END:VCALENDAR\r\n".encode())
    taken = cli.ok("import", str(path), "--bank", "b", "--json").json
    assert (taken["intentions"], taken["left_count"]) == (2, 1)
    assert cli.ok("import", str(path), "--bank", "b", "--json").json["intentions_there"] == 2


def test_an_import_says_what_it_left(cli: Cli, tmp_path: Path) -> None:
    notes = tmp_path / "notes"
    notes.mkdir()
    (notes / "a.md").write_text("The kiln is hot.")
    (notes / "b.png").write_bytes(b"\x89PNG")
    shown = cli.ok("import", str(notes), "--bank", "b").out
    assert "took into bank b: 1 document;" in shown
    assert "left 1: of no format that is known here" in shown
    assert "1 document there already" in cli.ok("import", str(notes), "--bank", "b").out
    assert cli.here("import", str(tmp_path / "nothing")).code == 1
    other = tmp_path / "scan.bin"
    other.write_bytes(bytes(range(256)))
    ran = cli.here("import", str(other), "--bank", "b")
    assert (ran.code, "left 1: of no format" in ran.out) == (1, True)


def test_a_knowledge_graph_is_shown_by_the_tools(server: Server, bank: str, tmp_path: Path) -> None:
    lines = [
        {"type": "entity", "name": "Ann", "entityType": "person", "observations": ["Bakes"]},
        {"type": "entity", "name": "Ann", "entityType": "person", "observations": ["Sails"]},
        {"type": "relation", "from": "Ann", "to": "Porto", "relationType": "lives_in"},
    ]
    (tmp_path / "memory.jsonl").write_text("\n".join(map(json.dumps, lines)))
    cli = Cli(tmp_path / "data")
    graph = ("import", str(tmp_path / "memory.jsonl"), "--bank", bank, "--json")
    assert (cli.ok(*graph).json["graph"], cli.ok(*graph).json["graph_there"]) == (4, 5)

    async def read() -> dict[str, object]:
        from remembrancer.faces.http.server import make_app
        from remembrancer.faces.mcp.ways import Inside

        settings = Settings(data=cli.folder, embedder="hash:64", auth="off", **stored(cli.folder))
        app = await App.open(settings, background=False)
        try:
            way = Inside(make_app(app))

            async def ask(ask: Ask) -> object:
                return (await way.call(ask, {})).body

            return (await GraphDocuments(bank, ask).read()).shape()
        finally:
            await app.close()

    assert asyncio.run(read()) == {
        "entities": [{"name": "Ann", "entityType": "person", "observations": ["Bakes", "Sails"]}],
        "relations": [{"from": "Ann", "to": "Porto", "relationType": "lives_in"}],
    }


def test_a_person_is_erased_with_a_receipt(filled: Cli, tmp_path: Path) -> None:
    receipt = tmp_path / "receipt.json"
    where = ("--bank", "ann", "--receipt", str(receipt), "--yes")
    shown = filled.ok("forget", "--entity", "Otto Brandt", *where, "--json").json
    assert shown == json.loads(receipt.read_text())
    assert shown["erased_count"] >= 1
    assert (shown["remaining"], shown["swept"]) == (0, True)
    assert not any(b"Otto" in data for _, data in bytes_of(filled.folder))
    assert filled.here("forget", "--all", *where).code == 2  # the receipt is there
    assert filled.here("forget", "--all", "--document", "x", "--bank", "ann").code == 2
    filled.ok("forget", "--all", "--bank", "ann", "--yes")
    assert not any(b"Porto" in data for _, data in bytes_of(filled.folder))


def test_an_export_removes_what_a_killed_one_left_and_replaces_files_alone(
    filled: Cli, tmp_path: Path
) -> None:
    old = tmp_path / "ann.jsonl.4711.part"
    old.write_text("what was forgotten since")
    filled.ok("export", "--bank", "ann", "--to", str(tmp_path / "ann.jsonl"))
    assert not old.exists()
    os.mkfifo(tmp_path / "pipe")
    for place in (tmp_path, tmp_path / "pipe"):
        ran = filled.here("export", "--bank", "ann", "--to", str(place))
        assert ran.code == 2
        assert "is no file" in ran.err
    assert (tmp_path / "pipe").is_fifo()
    assert not list(tmp_path.glob("*.part"))


@pytest.mark.parametrize("what", [("--all", "--bank", "ann"), ("--tenant", "default")])
def test_a_receipt_is_written_though_the_index_stays_on_disk(
    filled: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, what: tuple[str, ...]
) -> None:
    async def denied(*_: object) -> None:
        raise PermissionError(13, "Permission denied", "index/0001")

    monkeypatch.setattr(Indexes, "drop", denied)
    receipt = tmp_path / "receipt.json"
    ran = filled.here("forget", *what, "--receipt", str(receipt), "--yes")
    assert ran.code == 1
    assert "index/0001: Permission denied; mend that" in ran.err
    told = json.loads(receipt.read_text())
    assert told["whole"]
    assert told["erased_count"] >= 1
    assert not told["swept"]
    assert not filled.ok("status", "--json").json["banks"]


@pytest.mark.of_folders
def test_doctor_tells_what_is_wrong(filled: Cli, tmp_path: Path) -> None:
    free = {"REMEMBRANCER_HTTP": "127.0.0.1:0", "REMEMBRANCER_GRPC": "off"}
    found = filled.ok("doctor", "--json", **free).json
    states = {each["name"]: each["state"] for each in found["findings"]}
    assert states["integrity"] == states["store"] == states["exposure"] == "ok"
    assert found["state"] == "warn"  # the embedder is a stand-in
    assert all(each["mend"] for each in found["findings"] if each["state"] != "ok")
    bad = filled.here("doctor", REMEMBRANCER_HTTP="0.0.0.0:0", REMEMBRANCER_GRPC="off")
    assert bad.code == 1
    assert "keys create" in bad.out
    (filled.folder / "memory.db").chmod(0o644)
    assert "chmod go-rwx" in filled.ok("doctor", **free).out
    broken = tmp_path / "memory.db"
    broken.write_bytes(b"no database " * 400)
    assert fault_of(broken) is not None
    assert filled.here("doctor", "--store", "nothing://x", **free).code == 1


def test_doctor_knows_the_names_of_settings(cli: Cli) -> None:
    wrong = {"REMEMBRANCER_HTTPS": "127.0.0.1:0", "REMEMBRANCER_URL": "http://localhost:6381"}
    found = cli.ok("doctor", "--json", REMEMBRANCER_GRPC="off", **wrong).json["findings"][0]
    assert (found["name"], found["state"]) == ("settings", "warn")
    assert "REMEMBRANCER_HTTPS" in found["seen"]
    assert "REMEMBRANCER_URL" not in found["seen"]
    assert found["mend"] == "did you mean REMEMBRANCER_HTTP?"


def test_doctor_knows_a_server_that_runs(cli: Cli, server: Server) -> None:
    assert server.client.get("/version").status_code == 200  # it is up
    address = server.url.removeprefix("http://")
    at = {"REMEMBRANCER_HTTP": address, "REMEMBRANCER_GRPC": server.grpc}
    told = cli.ok("doctor", "--json", **at).json
    http, grpc = (
        next(each for each in told["findings"] if each["name"] == name) for name in ("http", "grpc")
    )
    assert "serves remembrancer" in http["seen"]
    assert (grpc["state"], "by that server" in grpc["seen"]) == ("ok", True)


def test_watching_shows_changes_and_what_is_due(tmp_path: Path) -> None:
    ref = BankRef("default", "ann")

    async def play() -> list[list[tuple[str, str]]]:
        app = await App.open(
            Settings(data=tmp_path, embedder="none", **stored(tmp_path)), background=False
        )
        try:
            await app.retain(ref, [Item("Before.", document="old")])
            watched = Watched(app, ref)
            await watched.begin()
            await app.retain(ref, [Item("The cat is called Mio.", document="cat")])
            due = app.clock.now_us() + 1_000
            remind = Reminder("feed Mio", TriggerType.TIME, trigger_at=due)
            await app.remind(ref, [remind])
            await asyncio.sleep(0.01)
            first = await watched.news()
            await app.forget(ref, documents=["cat"])
            return [
                [(each["kind"], each["text"]) for each in told]
                for told in (first, await watched.news(), await watched.news())
            ]
        finally:
            await app.close()

    first, second, third = asyncio.run(play())
    assert first == [("remembered", "The cat is called Mio."), ("due", "feed Mio")]
    assert set(second) == {("forgotten", "")}
    assert third == []


def test_watching_a_server(server: Server, bank: str) -> None:
    async def play() -> list[dict[str, object]]:
        server.retain(bank, "Before.")
        watched = WatchedServer(server.url, None, bank)
        try:
            await watched.begin()
            server.retain(bank, "The owl is back.")
            way = Remote(server.url)
            path = f"/v1/default/banks/{bank}/intentions"
            await way.call(Ask("POST", path, body={"content": "look up", "trigger_at": 1}), {})
            await way.close()
            return await watched.news()
        finally:
            await watched.close()

    told = asyncio.run(play())
    assert [each["text"] for each in told if each["kind"] == "remembered"] == ["The owl is back."]


def test_looking_at_what_is_there(filled: Cli) -> None:
    ann = ("--bank", "ann")
    assert "Porto" in filled.ok("reflect", "Where did Ann move?", *ann, "--json").json["text"]
    [value] = filled.ok("history", "Where does Ann live?", *ann, "--json").json["values"]
    assert (value["value"], value["holds"]) == ("porto", True)
    assert filled.ok("documents", "list", *ann, "--json").json["total"] == 1
    assert filled.ok("documents", "show", "talk.txt", *ann).out.startswith(TALK)
    assert filled.ok("operations", "list", *ann, "--json").json["operations"] == []
    assert filled.here("operations", "retry", "0" * 32, *ann).code == 1


def commands() -> list[tuple[str, ...]]:
    found: list[tuple[str, ...]] = []
    for name, command in get_command(main.app).commands.items():  # type: ignore[attr-defined]
        inner = getattr(command, "commands", {})
        found += [(name, each) for each in inner] or [(name,)]
    return found


# These print no result of their own, or one word alone.
WITHOUT_JSON = {"serve", "mcp", "worker", "version", "demo"}


@pytest.mark.parametrize("command", commands(), ids=" ".join)
def test_every_command_that_answers_has_json_and_an_example(command: tuple[str, ...]) -> None:
    shown = CliRunner().invoke(main.app, [*command, "--help"], prog_name="remembrancer").output
    assert f"remembrancer {command[0]}" in shown.partition("Examples")[2]
    assert ("--json" in shown) or command[0] in WITHOUT_JSON


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_shells_complete_commands(cli: Cli, shell: str) -> None:
    told = {"_TYPER_COMPLETE_ARGS": "remembrancer exp", "COMP_WORDS": "remembrancer exp"}
    told |= {"COMP_CWORD": "1", "_TYPER_COMPLETE_FISH_ACTION": "get-args"}
    ran = cli.here(**told, _REMEMBRANCER_COMPLETE=f"complete_{shell}")
    assert "export" in ran.out
