"""`remembrancer remind` and `remembrancer intentions`."""

from __future__ import annotations

from pathlib import Path

import pytest
from cli_kit import Cli


@pytest.fixture
def cli(tmp_path: Path) -> Cli:
    return Cli(tmp_path / "data")


def test_remind_list_check_remove(cli: Cli) -> None:
    said = cli.ok("remind", "call Bob", "--at", "friday 9:00", "--tz", "Europe/Berlin")
    assert "09:00 Europe/Berlin" in said.out
    made = cli.ok("remind", "logs", "--event", "deploy", "--tier", "1", "--json").json
    assert (made["triggerType"], made["triggerEvent"], made["tierRank"]) == (
        "event_based",
        "deploy",
        1,
    )
    cli.ok("remind", "pesto", "--about", "cooking recipes", "--importance", "0.9")
    listed = cli.ok("intentions", "list", "--json").json
    assert listed.keys() == {"bank", "total", "items"}
    assert [i["content"] for i in listed["items"]] == ["call Bob", "logs", "pesto"]
    shown = cli.ok("intentions", "list", "--state", "active", "-n", "2").out
    assert "when deploy happens" in shown
    assert "2 of 3 intentions" in shown
    looked = cli.ok(
        "intentions", "check", "--event", "deploy", "--about", "cooking recipes", "--peek", "--json"
    ).json
    assert [i["content"] for i in looked["items"]] == ["pesto", "logs"]
    assert looked["items"][0]["occurrence"]["state"] == "due"
    assert cli.ok("intentions", "check", "--event", "deploy").out == "logs\n"
    assert "nothing is due" in cli.ok("intentions", "check", "--event", "deploy").out
    assert cli.ok("intentions", "remove", made["id"], "--json").json == {
        "bank": "default",
        "removed": 1,
    }
    gone = cli("intentions", "remove", made["id"])
    assert (gone.code != 0, "nothing was removed" in gone.err) == (True, True)


def test_what_is_due_is_primed(cli: Cli) -> None:
    cli.ok("remind", "call Bob", "--event", "x")
    cli.ok("remind", "water the ferns", "--about", "ferns garden")
    primed = cli.ok("prime", "--cue", "ferns garden", "--json").json
    assert [d["content"] for d in primed["due"]] == ["water the ferns"]
    assert "to do: water the ferns" in cli.ok("prime", "--cue", "ferns garden").out


@pytest.mark.parametrize(
    "args",
    [
        ("x",),
        ("x", "--at", "one fine day"),
        ("x", "--at", "friday", "--event", "e"),
        ("x", "--at", "friday 9:00", "--tz", "Mars"),
        (" ", "--event", "e"),
    ],
)
def test_what_cannot_fire_is_refused(cli: Cli, args: tuple[str, ...]) -> None:
    ran = cli("remind", *args)
    assert ran.code != 0
    assert ran.err.startswith("error: ")
    assert ran.out == ""
