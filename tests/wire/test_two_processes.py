"""A library process and the command line write one folder at once: both see everything."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from cli_kit import Cli

from stores_kit import chosen, rows_of

LIBRARY, FILES, CALLS = 40, 12, 2


def test_nothing_is_lost_and_both_see_it(tmp_path: Path) -> None:
    cli = Cli(tmp_path / "data")
    files = []
    for number in range(FILES * CALLS):
        path = tmp_path / f"file-{number}.txt"
        path.write_text(f"The parcel of street{number} weighs {number} stones{number}.")
        files.append(str(path))

    with subprocess.Popen(
        [sys.executable, Path(__file__).with_name("library_process.py"), cli.folder, str(LIBRARY)],
        env=cli.environment(),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as library:
        assert library.stdin is not None
        assert library.stdout is not None
        assert library.stdout.readline() == "open\n"
        calls = [
            subprocess.Popen(
                cli.command(("retain", "--bank", "shared", *files[i * FILES : (i + 1) * FILES])),
                env=cli.environment(),
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
            )
            for i in range(CALLS)
        ]
        assert calls[0].stdout is not None
        library.stdin.write("go\n")
        library.stdin.flush()
        for call in calls:
            out, err = call.communicate(timeout=120)
            assert call.returncode == 0, err
            assert f"retained in bank shared: {FILES} sources" in out
        acknowledged = []
        while (line := library.stdout.readline()) != "ready\n":
            acknowledged.append(line.split()[1])
        assert acknowledged == [f"library-{n}" for n in range(LIBRARY)]

        # The open process sees what the commands wrote, the command what the process wrote.
        for number in range(0, FILES * CALLS, 5):
            library.stdin.write(f"parcel street{number} stones{number}\n")
            library.stdin.flush()
            assert f"stones{number}." in library.stdout.readline()
        found = cli.ok("recall", "Which colour is the locker of box17?", "-b", "shared", "-n", "1")
        assert "painted green17." in found.out
        library.stdin.close()
        assert library.wait(timeout=60) == 0

    (bank,) = cli.ok("status", "--json").json["banks"]
    assert bank["documents"] == LIBRARY + FILES * CALLS
    if chosen() == "sqlite":
        assert rows_of(cli.folder, "PRAGMA integrity_check") == [("ok",)]
    named = {name for (name,) in rows_of(cli.folder, "SELECT name FROM document")}
    assert named == {*acknowledged, *(Path(file).name for file in files)}
