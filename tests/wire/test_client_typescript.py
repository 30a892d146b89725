"""The TypeScript client against a running server, and its files against what they are made from.

`make client-ts` generates, type-checks and builds it, which needs npm. What is built is committed,
so these tests need no more than Node.js.
"""

from __future__ import annotations

import json
import os
import re
import runpy
import shutil
import subprocess
from pathlib import Path

import pytest
from wire_kit import Server

import remembrancer

ROOT = Path(__file__).parents[2]
CLIENT = ROOT / "clients" / "typescript"
OLDEST_NODE = 18

# AgentOS's type, with its comments left out.
ITEM = """
id: string;
content: string;
triggerType: ProspectiveTriggerType;
triggerAt?: number;
triggerEvent?: string;
cueEmbedding?: number[];
cueText?: string;
similarityThreshold?: number;
importance: number;
triggered: boolean;
recurring: boolean;
createdAt: number;
sourceTraceId?: string;
tierRank?: number;
"""


@pytest.fixture(scope="module")
def node() -> str:
    """The path of Node.js; without one, what to install."""
    found = shutil.which("node") or shutil.which("nodejs")
    if found is None:
        pytest.skip("no Node.js: install the Debian package nodejs (apt-get install nodejs)")
    told = subprocess.run([found, "--version"], capture_output=True, text=True, check=True).stdout
    if int(told.removeprefix("v").split(".")[0]) < OLDEST_NODE:
        pytest.skip(f"Node.js {told.strip()} is older than {OLDEST_NODE}: install a newer nodejs")
    return found


def run(*command: str, **environment: str) -> str:
    """Run a program in the client's folder and return what it prints."""
    done = subprocess.run(
        command,
        cwd=CLIENT,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_its_own_tests_pass_against_a_server(server: Server, node: str) -> None:
    told = run(node, "--test", "test/client.test.js", REMEMBRANCER_URL=server.url)
    assert re.search(r"^(#|ℹ) pass [1-9]\d*$", told, re.MULTILINE), told
    assert re.search(r"^(#|ℹ) skipped 0$", told, re.MULTILINE), told


def test_the_documented_example_prints_what_it_says(
    server: Server, bank: str, node: str, tmp_path: Path
) -> None:
    text = (ROOT / "docs" / "client-typescript.md").read_text()
    found = re.search(r"<!-- runs in node -->\n```ts\n(.*?)```\n\n```\n(.*?)```", text, re.DOTALL)
    assert found is not None
    code, output = found.groups()
    script = tmp_path / "example.mjs"
    for written, meant in {
        '"remembrancer"': json.dumps((CLIENT / "lib/index.js").as_uri()),
        "http://localhost:6381": server.url,
        '"ann"': json.dumps(bank),
    }.items():
        assert code.count(written) == 1
        code = code.replace(written, meant)
    script.write_text(code)
    assert run(node, str(script)) == output


def test_types_and_built_files_are_of_what_is_here(server: Server) -> None:
    made = runpy.run_path(str(ROOT / "scripts" / "client_ts.py"))["made"]
    today = made(server.client.get("/openapi.json").json())
    sealed = json.loads((CLIENT / "made.json").read_text())
    assert sealed == today, "the TypeScript client is out of date: run `make client-ts`"


def test_agentos_item_is_exported_as_it_is() -> None:
    for name in ("src/prospective.ts", "lib/prospective.d.ts"):
        text = re.sub(r"/\*\*.*?\*/", "", (CLIENT / name).read_text(), flags=re.DOTALL)
        found = re.search(r"export interface ProspectiveMemoryItem \{(.*?)\n\}", text, re.DOTALL)
        assert found is not None
        assert found[1].split() == ITEM.split()


def test_it_has_the_version_of_the_server() -> None:
    package = json.loads((CLIENT / "package.json").read_text())
    assert package["version"] == remembrancer.__version__
    assert f'VERSION = "{remembrancer.__version__}"' in (CLIENT / "lib/sending.js").read_text()
    assert not package.get("dependencies")
