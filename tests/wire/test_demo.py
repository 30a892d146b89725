"""The demo runs with the bundled model, and what it prints happened."""

from __future__ import annotations

import re
import tempfile
from pathlib import Path

import pytest
from cli_kit import Cli

from remembrancer.faces.cli.demo import script, stage

ANSWERS = {
    "What is Maya allergic to?": "peanuts",
    "Where did she travel in May?": "Porto",
    "neighbours don't hear the practice?": "rubber practice mute",
    "How much does she pay for her apartment?": "1,225 euros",
    "When is Nadia coming to Lisbon?": "10 July",
    "Which race did she skip because of her knee?": "half marathon",
}


def test_the_demo_shows_what_happened(tmp_path: Path) -> None:
    ran = Cli(tmp_path)("demo", TMPDIR=str(tmp_path))
    assert ran.code == 0, ran.err
    assert ran.err == ""
    assert list(tmp_path.glob("remembrancer-*")) == []  # the data folder is gone
    assert max(len(line) for line in ran.out.splitlines()) <= 80
    titles = ("1. retain", "2. recall", "3. prime", "4. remind", "5. forget", "6. timings")
    starts = [ran.out.index(title) for title in titles]
    assert starts == sorted(starts)
    ends = [*starts[1:], len(ran.out)]
    parts = [ran.out[start:end] for start, end in zip(starts, ends, strict=True)]
    checks = (
        check_retain,
        check_recall,
        check_prime,
        check_remind,
        check_forget,
        check_timings,
    )
    for check, part in zip(checks, parts, strict=True):
        check(part)


def check_retain(part: str) -> None:
    turns = sum(len(session.messages) for session in script.load().sessions)
    assert f"{turns} turns kept verbatim" in part
    assert re.search(r"“Remind me in \d+ seconds to take the tea out.”", part)
    assert "has stopped, with exit code 0" in part
    assert re.search(r"2026-02-10\s+Maya\s+I got a job offer from\s+Fri 6 Feb 2026", part)


def check_recall(part: str) -> None:
    for question, answer in ANSWERS.items():
        panel = part.partition(question)[2].partition("╯")[0]
        best = panel.partition("│ 2 ")[0]
        assert answer in " ".join(best.replace("│", " ").split()), question


def check_prime(part: str) -> None:
    assert "[2026-08-31]" in part
    assert "I rented a cello" in part
    assert re.search(r"8 memories: \d recent, \d similar", part)


def check_remind(part: str) -> None:
    """Nothing before its time; then what was asked for, also from a server that was not told."""
    found, early, due, topic, sent = part.split("─╮", maxsplit=1)[0], *part.split("╭─ ")[1:5]
    assert re.search(r"book the flight to Leeds\s+Fri 04 Sep 2026 09:00\s+active", found)
    assert "08:59:59" in early
    assert "nothing" in early
    assert "09:00:00" in due
    assert "book the flight to Leeds" in due
    assert "Maya said: Please remind me" in due
    assert "whether Nadia can come" in topic
    assert "another server is up at http://127.0.0.1:" in topic
    assert re.search(r"and sent, \d+\.\d\d s later; acknowledged there: acked", topic)
    assert "intention.due" in sent
    assert "take the tea out" in sent


def check_forget(part: str) -> None:
    secret = script.load().secret
    before, _, rest = part.partition("The same question again:")
    again, _, places = rest.partition("The bytes")
    assert secret in before
    assert "swept from disk  yes" in before
    assert secret not in again
    assert re.search(rf"{secret}\s+[1-9]\d* times\s+not found", places)
    assert places.count("not found") == 2


def check_timings(part: str) -> None:
    assert re.search(r"retain +\d+ turns/s", part)
    assert re.search(r"recall +\d+\.\d ms", part)
    assert re.search(r"prime +\d+\.\d ms", part)


def test_keep_leaves_the_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def perform(folder: Path) -> None:
        (folder / "memory").write_text("kept")

    monkeypatch.setattr(stage, "perform", perform)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    cli = Cli(tmp_path)
    cli.ok("demo")
    assert list(tmp_path.iterdir()) == []
    folder = Path(cli.ok("demo", "--keep").out.rsplit("The data is in ", 1)[1].strip())
    assert (folder / "memory").read_text() == "kept"
