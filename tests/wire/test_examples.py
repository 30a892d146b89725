"""The examples run as they stand, and the server that the command starts serves them."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

from cli_kit import Cli

EXAMPLES = Path(__file__).parents[2] / "examples"


def run(cli: Cli, *args: str) -> str:
    done = subprocess.run(
        [sys.executable, *args],
        env=cli.environment(REMEMBRANCER_EMBEDDER="bge-small"),
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_library_example(tmp_path: Path) -> None:
    shown = run(Cli(tmp_path), str(EXAMPLES / "library.py"), str(tmp_path / "memory"))
    assert "kept 4 turns" in shown
    assert "Where did Ann move?\n  09 Jun 2026: I moved to Berlin" in shown
    assert "[Fri 05 Jun 2026]" in shown
    assert "09 Jun 2026: Try the Markthalle Neun" in shown
    assert "Forgot: Small. My sister Eva" in shown
    assert "Found again: no" in shown


def test_the_http_example_on_a_server_beside_the_command_line(tmp_path: Path) -> None:
    cli = Cli(tmp_path / "data")
    with subprocess.Popen(
        cli.command(("serve", "--http", "127.0.0.1:0", "--grpc", "off")),
        env=cli.environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as server:
        try:
            assert server.stdout is not None
            url = server.stdout.readline().split()[-1]
            shown = run(cli, str(EXAMPLES / "over_http.py"), url)
            assert "kept 1 item" in shown
            assert "2026-06-09: Small. My sister Eva stays until 20 June." in shown
            assert "Found again: no" in shown
            # The command line sees what the server wrote and the server what it writes.
            found = cli.ok("recall", "Berlin", "-b", "ann-example", "--json").json["answers"]
            assert "I moved to Berlin last Friday, to Kreuzberg." in [a["text"] for a in found]
            cli.ok("retain", "-", "-b", "ann-example", stdin="Eva returns in October.")
            assert "Eva returns in October." in run(cli, str(EXAMPLES / "over_http.py"), url)
        finally:
            server.send_signal(signal.SIGINT)
            _, err = server.communicate(timeout=60)
        assert server.returncode == 0, err
        assert "Traceback" not in err
