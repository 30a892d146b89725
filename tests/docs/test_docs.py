"""The user documentation: its code runs, its output is real, its commands and links exist."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from docs_kit import DOCS, ROOT, Block, anchors, blocks, links
from typer.main import get_command
from typer.testing import CliRunner
from wire_kit import Server

from remembrancer.faces.cli.main import app

PAUSE = "\x1e"  # printed between two blocks
CONSOLE = [path for path in DOCS if any(b.mark == "runs" for b in blocks(path))]
WITH_CURL = {
    "README.md",
    "banks.md",
    "browse.md",
    "entities.md",
    "http.md",
    "files.md",
    "intentions.md",
    "truth.md",
    "start.md",
    "cookbook.md",
    "webhooks.md",
}
SHORT = {"retain.md", "prime.md", "forget.md", "scale.md"}  # pages with an example or two
WIRE = [path for path in DOCS if path.name in WITH_CURL | SHORT]
CURL = re.compile(r"\bcurl\b")
IDS = re.compile(r"\.(id|key|operation_id|operation_ids\[\d+\]|webhook_id)$")
JQ = re.compile(r"\s*\|\s*jq\b[^\n]*")


def outer(**more: str) -> dict[str, str]:
    kept = {k: v for k, v in os.environ.items() if not k.startswith("REMEMBRANCER_")}
    return kept | more


@pytest.mark.parametrize("path", CONSOLE, ids=lambda path: path.name)
def test_python_blocks_run_and_print_what_is_shown(path: Path, tmp_path: Path) -> None:
    running = [b for b in blocks(path) if b.mark == "runs"]
    assert all(b.language == "python" for b in running)
    code = f"\nprint({PAUSE!r})\n".join(b.text for b in running)
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=tmp_path,
        env=outer(HOME=str(tmp_path)),
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    printed = done.stdout.split(f"{PAUSE}\n")
    shown = {b.line: _output(b) for b in running}
    real = {b.line: out for b, out in zip(running, printed, strict=True)}
    assert {line: real[line] for line, text in shown.items() if text is not None} == {
        line: text for line, text in shown.items() if text is not None
    }
    assert any(text is not None for text in shown.values())


def _output(block: Block) -> str | None:
    return block.answer.text if block.answer and not block.answer.language else None


class Shell:
    """Runs documented curl commands on a real server; ids shown become the real ones."""

    def __init__(self, server: Server, home: Path) -> None:
        self.server = server
        self._home = home
        self.ids: dict[str, str] = {}
        (home / ".curlrc").write_text('write-out = "%{stderr}%{http_code}"\n')
        self._env = outer(CURL_HOME=str(home), HOME=str(home), HEBBS_API_KEY="any")

    def __call__(self, command: str) -> tuple[int, Any]:
        """Return the status and the JSON that a command gets."""
        for shown, real in self.ids.items():
            command = command.replace(shown, real)
        for bank, operation in re.findall(r"banks/([\w-]+)/operations/([\w-]+)", command):
            self.server.finished(bank, operation)
        here = command.replace("http://localhost:6381", self.server.url)
        assert here != command
        if shutil.which("jq") is None:
            here = JQ.sub("", here)
        done = subprocess.run(
            ["bash", "-c", f"set -o pipefail\n{here}"],
            cwd=self._home,
            env=self._env,
            capture_output=True,
            text=True,
            check=False,
            timeout=60,
        )
        assert done.returncode == 0, done.stderr
        # An answer may go to a file.
        return int(done.stderr), json.loads(done.stdout) if done.stdout else {}

    def holds(self, shown: Any, real: Any, at: str) -> None:
        """Check that an answer has everything that is shown of it, and learn its ids."""
        assert type(real) is type(shown), f"{at}: {real!r} is shown as {shown!r}"
        if isinstance(shown, dict):
            assert shown.keys() <= real.keys(), at
            for key, value in shown.items():
                self.holds(value, real[key], f"{at}.{key}")
        elif isinstance(shown, list):
            assert len(shown) <= len(real), at
            for i, (value, other) in enumerate(zip(shown, real, strict=False)):
                self.holds(value, other, f"{at}[{i}]")
        elif isinstance(shown, str) and IDS.search(at):
            self.ids[shown] = real


@pytest.fixture
def shell(tmp_path: Path) -> Iterator[Shell]:
    with Server(tmp_path / "data", embedder="bge-small") as server:
        yield Shell(server, tmp_path)


@pytest.mark.parametrize("path", WIRE, ids=lambda path: path.name)
def test_curl_commands_answer_what_is_shown(path: Path, shell: Shell) -> None:
    commands = [b for b in blocks(path) if b.language == "sh" and CURL.search(b.text)]
    assert len(commands) >= (1 if path.name in SHORT else 5)
    for block in commands:
        expected = re.fullmatch(r"answers (\d+)", block.mark)
        status, answer = shell(block.text)
        where = f"{path.name}:{block.line}"
        assert status == int(expected[1]) if expected else 200 <= status < 300, where
        assert isinstance(answer, dict), where
        if block.answer is not None and block.answer.language == "json":
            shell.holds(json.loads(block.answer.text), answer, where)


def test_readme_retains_and_primes_in_the_documented_shapes(shell: Shell) -> None:
    texts = [b.text for b in blocks(ROOT / "README.md") if CURL.search(b.text)]
    retains = [text for text in texts if re.search(r"/memories \\\n", text)]
    primes = [text for text in texts if "/v1/prime" in text]
    assert (len(retains), len(primes)) == (2, 2)
    for text, count in zip(retains, (2, 1), strict=True):
        _, answer = shell(text)
        assert {k: answer[k] for k in ("success", "bank_id", "items_count", "async")} == {
            "success": True,
            "bank_id": "user123",
            "items_count": count,
            "async": False,
        }
    shell.server.retain("customer-42", "The account was opened in May.", "The bill is paid.")
    for text in primes:
        _, answer = shell(text)
        assert len(answer["results"]) == 2
        assert answer["temporal_count"] + answer["similarity_count"] == 2


@pytest.mark.parametrize("script", ["make_settings_doc.py", "make_benchmarks_doc.py"])
def test_generated_pages_are_up_to_date(script: str) -> None:
    done = subprocess.run(
        [sys.executable, str(ROOT / "scripts" / script), "--check"],
        env=outer(),
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr


def test_the_benchmarks_page_takes_any_figures(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "scripts"))
    made = import_module("make_benchmarks_doc")

    figures = {
        "locomo": {"n.all": 40, "frac@10.all": 0.7871, "bm25.frac@10.all": 0.6, "x.any@5": 1},
        "prove/test_kill": {"kills": 30, "loss": 0.01234},
        "odd": {"recall.p50_ms": 1.234, "recall.http.p99_ms": 150.4, "words": "none"},
    }
    for name, each in figures.items():
        path = tmp_path / f"{name}.json"
        path.parent.mkdir(exist_ok=True)
        path.write_text(json.dumps(each))
    told = {"command": "/a/b/bench/locomo.py /c/chats.json --json=/a/b/bench/results/locomo.json"}
    meta = {"date": "2026-05-08T10:00:00+00:00", "processor": "Chip", "cores": 2, **told}
    (tmp_path / "locomo.meta.json").write_text(json.dumps(meta))
    shown = {r.name: made.section(r) for r in made.results(tmp_path)}
    assert set(shown) == set(figures)
    command = "python -m bench.locomo chats.json --json=bench/results/locomo.json"
    for part in (f"`{command}`", "2026-05-08", "Chip, 2 cores", "| all | 40 | 0.787 |", "`x`"):
        assert part in shown["locomo"]
    assert "| `kills` | 30 |\n| `loss` | 0.0123 |" in shown["prove/test_kill"]
    assert "| `recall` | 1.23 |  |  |\n| `recall.http` |  |  | 150 |" in shown["odd"]


@pytest.mark.parametrize(
    "path", [*DOCS, *sorted((ROOT / "docs").glob("*/*.md"))], ids=lambda path: path.name
)
def test_relative_links_lead_somewhere(path: Path) -> None:
    for target in links(path):
        name, _, anchor = target.partition("#")
        file = path.parent / name if name else path
        assert file.exists(), f"{path.name} links to {target}"
        assert not anchor or anchor in anchors(file), f"{path.name} links to {target}"


def _shown_commands() -> list[list[str]]:
    """Return the words of each command shown as one, up to a pipe."""
    lines = [
        line.removeprefix("$ ")
        for path in (ROOT / "docs" / "command-line.md", ROOT / "README.md")
        for block in blocks(path)
        for line in block.text.replace("\\\n", " ").splitlines()
        if block.language == "sh" or (block.language == "console" and line.startswith("$ "))
    ]
    found = [re.search(r"(?:^|\| |\w=\S+ )remembrancer (.*)", line) for line in lines]
    return [shlex.split(match[1].partition(" | ")[0], comments=True) for match in found if match]


def test_every_command_shown_exists_with_its_options() -> None:
    commands = get_command(app).commands  # type: ignore[attr-defined]
    shown = _shown_commands()
    assert {words[0] for words in shown if not words[0].startswith("-")} == set(commands)
    for words in shown:
        if words[0] not in commands:
            assert words in (["--help"], ["--version"])
            continue
        named = words[:1]
        command = commands[words[0]]
        if hasattr(command, "commands"):
            named, command = words[:2], command.commands[words[1]]
        helped = CliRunner().invoke(app, [*named, "--help"], prog_name="remembrancer")
        assert helped.exit_code == 0
        known = {opt for param in command.params for opt in param.opts} | {"--help"}
        asked = {word for word in words[1:] if re.fullmatch(r"--?[a-z][a-z-]*", word)}
        assert asked <= known, words
