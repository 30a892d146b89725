"""The command line as a process: what it stores, prints and refuses, and its exit codes."""

from __future__ import annotations

import os
import pty
import subprocess
from pathlib import Path

import pytest
from cli_kit import ESCAPE, Cli, Ran

from stores_kit import bytes_of, chosen

CHAT = """Ann: I moved to Berlin last Friday.
Ben: How is the flat?
Ann: Small, but the landlord Otto is kind.
Ben: I will visit you in July.
"""


@pytest.fixture
def cli(tmp_path: Path) -> Cli:
    return Cli(tmp_path / "data")


@pytest.fixture
def chat(tmp_path: Path) -> str:
    path = tmp_path / "chat.txt"
    path.write_text(CHAT, encoding="utf-8")
    return str(path)


def one_red_line(ran: Ran, code: int) -> str:
    assert ran.code == code
    assert ran.out == ""
    assert ran.err.startswith("error: ")
    assert ran.err.count("\n") == 1
    return ran.err


def in_terminal(cli: Cli, *args: str, typed: str = "", code: int = 0, **environment: str) -> str:
    """Run on a terminal; return everything that appeared there."""
    main, side = pty.openpty()
    with subprocess.Popen(
        cli.command(args),
        stdin=side,
        stdout=side,
        stderr=side,
        env=cli.environment(TERM="xterm-256color", COLUMNS="80", **environment),
    ) as process:
        os.close(side)
        os.write(main, typed.encode())
        shown = b""
        while True:
            try:
                block = os.read(main, 4096)
            except OSError:  # the other end is closed
                break
            if not block:
                break
            shown += block
        os.close(main)
        assert process.wait() == code
    return shown.decode()


def test_retain_a_file_and_find_it_again(cli: Cli, chat: str) -> None:
    said = ("--timestamp", "2026-06-09T18:00+02:00", "--note", "a call", "--tag", "home")
    kept = cli("retain", chat, "--bank", "ann", *said, "--json").json
    assert set(kept) == {
        "bank", "documents", "unchanged", "sources", "facts", "entities", "unread", "unembedded",
        "revision", "seconds",
    }  # fmt: skip
    assert (kept["bank"], kept["documents"], kept["unchanged"]) == ("ann", ["chat.txt"], [])
    assert kept["sources"] == 4
    assert kept["facts"] > 0
    assert kept["seconds"] > 0

    found = cli("recall", "Where did Ann move?", "-b", "ann", "--limit", "2", "--json").json
    assert set(found) == {
        "question", "bank", "answers", "considered", "tokens", "revision", "timings", "degraded",
        "known", "cut_off",
    }  # fmt: skip
    assert len(found["answers"]) == 2
    best = found["answers"][0]
    assert best["rank"] == 1
    assert best["text"] == "I moved to Berlin last Friday."
    assert best["speaker"] == "Ann"
    assert best["said_at"] == "2026-06-09T18:00:00+02:00"
    assert best["occurred"] == ["2026-06-05T00:00:00+02:00", "2026-06-06T00:00:00+02:00"]
    assert (best["note"], best["tags"]) == ("a call", ["home"])
    assert best["facts"][0]["subject"] == "Ann"
    assert set(best["why"]) == {
        "keyword", "window_keyword", "cosine", "window_cosine", "speaker", "role", "time",
        "length", "standing",
    }  # fmt: skip
    assert set(found["timings"]) == {"embed_ms", "search_ms", "rows_ms", "total_ms"}


def test_retain_again_leaves_or_replaces(cli: Cli, chat: str) -> None:
    cli.ok("retain", chat)
    again = cli.ok("retain", chat)
    assert "chat.txt: unchanged" in again.out
    Path(chat).write_text("Ann: I moved to Oslo.\nBen: Why?\nAnn: Work.\n", encoding="utf-8")
    assert cli.ok("retain", chat, "--json").json["sources"] == 3
    texts = [a["text"] for a in cli.ok("recall", "Ann moved", "--json").json["answers"]]
    assert "I moved to Oslo." in texts
    assert not any("Berlin" in text for text in texts)
    cli.ok("retain", chat, "--as-new")
    (bank,) = cli.ok("status", "--json").json["banks"]
    assert bank["documents"] == 2


def test_retain_stdin_and_several_files(cli: Cli, chat: str, tmp_path: Path) -> None:
    messages = tmp_path / "talk.json"
    messages.write_text('[{"role": "user", "content": "My cat is called Miso."}]')
    done = cli("retain", chat, str(messages), "-", stdin="# Notes\n\nRent is 900 euros.\n")
    assert done.code == 0
    assert "chat.txt: 4 sources" in done.out
    assert "talk.json: 1 source," in done.out
    assert "6 sources" in done.out.splitlines()[-1]
    assert done.err == ""  # no progress where there is no terminal
    assert ESCAPE not in done.out
    shown = cli.ok("recall", "Rent 900 euros", "--explain", "-n", "6", "--min-relevance", "0")
    assert "Rent is 900 euros." in shown.out
    assert "because: shares words with the question" in shown.out
    assert "why: keyword" in shown.out
    assert "6 of 6 found" in shown.err
    assert ESCAPE not in shown.out + shown.err


def test_a_terminal_sees_progress_and_colour_unless_told_not_to(cli: Cli, chat: str) -> None:
    coloured = in_terminal(cli, "retain", chat)
    assert "━" in coloured  # the bar
    assert f"{ESCAPE}[1m" in coloured
    plain = in_terminal(cli, "recall", "Ann Berlin", "-n", "1", NO_COLOR="1")
    assert "I moved to Berlin" in plain
    assert f"{ESCAPE}[3" not in plain  # no foreground colours


def test_prime_prints_a_context(cli: Cli, chat: str) -> None:
    cli.ok("retain", chat, "--timestamp", "2026-06-09T18:00+02:00")
    shown = cli.ok("prime", "--cue", "Berlin", "--max", "3")
    assert len(shown.out.splitlines()) == 3
    assert all(line.startswith("[2026-06-09] ") for line in shown.out.splitlines())
    primed = cli.ok("prime", "--cue", "Berlin", "--max", "2", "--ratio", "0", "--json").json
    assert set(primed) >= {
        "bank", "cue", "memories", "temporal_count", "similarity_count", "embed_ms", "total_ms",
        "degraded", "due",
    }  # fmt: skip
    assert primed["temporal_count"] == 0
    assert primed["similarity_count"] == 2
    assert {m["strategy"] for m in primed["memories"]} == {"similarity"}


def test_forget_erases_and_says_so(cli: Cli, chat: str) -> None:
    cli.ok("retain", chat)
    best = cli.ok("recall", "the landlord Otto", "-n", "1", "--json").json["answers"][0]
    assert "Otto" in best["text"]
    assert "add --yes" in one_red_line(cli.here("forget", best["id"]), 2)
    receipt = cli.ok("forget", best["id"], "--yes", "--json").json
    assert set(receipt) == {
        "bank", "erased", "documents", "missing", "missing_documents", "revision", "swept",
    }  # fmt: skip
    assert best["id"] in receipt["erased"]
    assert receipt["swept"] is True
    kept = dict(bytes_of(cli.folder))
    assert kept
    assert not any(best["text"].encode() in data for data in kept.values())
    again = cli.ok("recall", "the landlord Otto", "--json").json["answers"]
    assert not any("Otto" in answer["text"] for answer in again)
    assert "nothing was forgotten" in one_red_line(cli.here("forget", best["id"], "--yes"), 1)

    whole = cli.ok("forget", "--document", "chat.txt", "--yes")
    assert "forgot document chat.txt" in whole.out
    where = "bytes on disk" if chosen() == "sqlite" else "tables; freed places on disk"
    assert f"removed from the {where}" in whole.out
    assert cli.ok("recall", "Berlin", "--json").json["answers"] == []


def test_forget_asks_on_a_terminal(cli: Cli, chat: str) -> None:
    cli.ok("retain", chat)
    assert "Aborted" in in_terminal(cli, "forget", "-d", "chat.txt", typed="n\n", code=1)
    assert len(cli.ok("recall", "Ann", "--json").json["answers"]) == 4
    shown = in_terminal(cli, "forget", "-d", "chat.txt", typed="y\n")
    assert "document chat.txt with" in shown
    assert "forgot document chat.txt" in shown


def test_status_backup_and_reembed(cli: Cli, chat: str, tmp_path: Path) -> None:
    cli.ok("retain", chat, "--bank", "ann")
    status = cli.ok("status", "--json").json
    assert set(status) == {
        "version", "store", "embedder", "pending_vectors", "banks", "bank_count", "notes",
    }  # fmt: skip
    assert status["store"]["ok"] is True
    assert status["embedder"]["model"] == "hash:64"
    (bank,) = status["banks"]
    assert (bank["bank"], bank["documents"]) == ("ann", 1)
    assert bank["units"] > 4

    target = tmp_path / "copy"
    target.mkdir()
    made = cli.ok("backup", str(target), "--json").json
    assert made["units"] == bank["units"]
    if chosen() != "sqlite":  # a copy of a folder is a folder to be used, one of tables is not
        cli.ok("restore", str(target), "--data", str(tmp_path / "again"))
        target = tmp_path / "again"
    copy = cli.ok("recall", "Where did Ann move?", "-b", "ann", "-n", "1", "--data", str(target))
    assert "I moved to Berlin last Friday." in copy.out

    moved = cli.ok("reembed", "--embedder", "hash:32", "--json").json
    assert (moved["embedder"], moved["embedded"]) == ("hash:32", 4)
    refused = one_red_line(cli.here("recall", "Ann", "-b", "ann"), 1)
    assert "remembrancer reembed" in refused
    shown = cli.ok("status", "--embedder", "hash:32")
    assert "hash:32, 32 dimensions" in shown.out
    assert "ann" in shown.out


@pytest.mark.parametrize(
    ("args", "says"),
    [
        (("retain", "missing.txt"), "missing.txt is not there"),
        (("retain", "-", "--timestamp", "yesterday"), "timestamp 'yesterday' is no time"),
        (("retain", "-"), "standard input is empty"),
        (("retain", "-", "--document", "a", "--as-new"), "exclude each other"),
        (("retain", "-", "--embedder", "word2vec"), "unknown embedder"),
        (("retain", "-", "--store", "mysql://x"), "use sqlite:///FOLDER"),
    ],
)
def test_bad_input_is_one_line_and_exit_code_2(cli: Cli, args: tuple[str, ...], says: str) -> None:
    assert says in one_red_line(cli.here(*args), 2)


def test_bad_input_to_a_process(cli: Cli) -> None:
    assert "missing.txt is not there" in one_red_line(cli("retain", "missing.txt"), 2)


@pytest.mark.of_folders
def test_a_process_that_finds_no_memory(cli: Cli) -> None:
    assert "there is no memory in" in one_red_line(cli("status"), 1)


def test_words_in_place_of_a_file_are_told_how_to_go_in(cli: Cli) -> None:
    assert "| remembrancer retain -" in one_red_line(cli.here("retain", "I live in Rome"), 2)


@pytest.mark.of_folders
def test_the_folder_that_make_serve_uses_is_hinted_at(
    cli: Cli, chat: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cli.ok("retain", chat, "--bank", "ann")
    monkeypatch.chdir(cli.folder.parent)
    other = str(tmp_path / "nowhere")
    assert cli.folder.name == "data"
    assert "--data ./data" in one_red_line(cli.here("recall", "Where?", "--data", other), 1)
    assert "./data" not in cli.ok("recall", "Where?", "--bank", "bob").err


def test_help_wraps_paragraphs_and_names_no_type_of_a_flag(cli: Cli) -> None:
    shown = cli.ok("remind", "--help").out
    [flag] = [line for line in shown.splitlines() if "--recurring" in line]
    assert "<bool>" not in flag
    text = " ".join(shown.split())
    assert "`remembrancer intentions check` or a server hands it over when it is due." in text


def test_more_bad_input(cli: Cli, chat: str, tmp_path: Path) -> None:
    binary = tmp_path / "picture.png"
    binary.write_bytes(b"\x89PNG\xff\xfe")
    assert "not UTF-8" in one_red_line(cli.here("retain", str(binary)), 2)
    large = cli.here("retain", chat, REMEMBRANCER_MAX_CONTENT_BYTES="50")
    assert "over 50 bytes" in one_red_line(large, 2)
    bad = cli.here("retain", chat, REMEMBRANCER_MAX_ITEMS="none")
    assert "REMEMBRANCER_MAX_ITEMS" in one_red_line(bad, 2)
    (tmp_path / "other").mkdir()
    twin = tmp_path / "other" / "chat.txt"
    twin.write_text("Other words.")
    assert "two files are called chat.txt" in one_red_line(cli.here("retain", chat, str(twin)), 2)
    cli.ok("retain", chat)
    assert "at least one word" in one_red_line(cli.here("recall", "?!"), 2)
    assert "temporal_ratio" in one_red_line(cli.here("prime", "--ratio", "2"), 2)
    assert "must be an id" in one_red_line(cli.here("forget", "abc", "--yes"), 2)
    assert "name what to forget" in one_red_line(cli.here("forget", "--yes"), 2)


def test_unknown_options_and_commands_exit_2(cli: Cli) -> None:
    for args in (("recall", "x", "--nonsense"), ("nonsense",), ("retain",)):
        ran = cli.here(*args)
        assert ran.code == 2
        assert "Traceback" not in ran.err


@pytest.mark.of_folders
def test_a_folder_that_is_not_there_is_not_made(cli: Cli) -> None:
    assert "there is no memory in" in one_red_line(cli.here("recall", "Where?"), 1)
    assert not cli.folder.exists()


def test_an_unknown_bank_is_empty_and_named(cli: Cli, chat: str) -> None:
    cli.ok("retain", chat, "--bank", "ann")
    ran = cli.ok("recall", "Where?", "--bank", "bob", "--json")
    assert ran.json["answers"] == []
    assert "no bank 'bob' in" in ran.err
    assert "; banks: ann (--bank names one)" in ran.err


def test_a_closed_pipe_is_quiet(cli: Cli, chat: str) -> None:
    cli.ok("retain", chat)
    reader, writer = os.pipe()
    os.close(reader)
    done = subprocess.run(
        cli.command(("recall", "Ann", "--json")),
        env=cli.environment(),
        stdout=writer,
        stderr=subprocess.PIPE,
        check=False,
    )
    os.close(writer)
    assert done.returncode == 1
    assert done.stderr == b""


def test_versions(cli: Cli) -> None:
    assert cli("version").out == cli.ok("--version").out != ""
