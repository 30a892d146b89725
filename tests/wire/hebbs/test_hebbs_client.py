"""HEBBS's own client from PyPI against our server, without keys and with them.

The client stands in an environment of its own, made by `make setup` from a lock, so that it runs
with what it brings and nothing of ours. `suite` is what it runs: as much of each class as the
client's own live tests ask, and more.
"""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from served_kit import Served
from suite_kit import environment, installed, read_report

ROOT = Path(__file__).parents[3]
SUITE = Path(__file__).parent / "suite"
VERSION = "0.4.1"
TIMEOUT_S = 280

# Classes and numbers of tests of the client's own `test_integration.py`: 60.
INTEGRATION = {
    "Health": 2, "Remember": 6, "Get": 2, "Recall": 13, "RecallAdvanced": 13, "Revise": 4,
    "Prime": 4, "Forget": 5, "Reflect": 4, "Subscribe": 2, "SetPolicy": 2, "EndToEnd": 1,
    "Errors": 2,
}  # fmt: skip
# Sections of its `test_e2e_python_sdk.py`, 28 with the three on authentication, and four
# demonstrations.
END_TO_END = {
    "Connectivity": 2, "Remember": 2, "Get": 1, "Recall": 4, "RecallAdvanced": 4, "Prime": 2,
    "Revise": 1, "SetPolicy": 1, "Subscribe": 1, "Forget": 2, "Errors": 2, "Reflect": 2,
    "Persistence": 1, "Demonstrations": 4,
}  # fmt: skip
REST = {"RestClient": 6}
GUARDED = {"Authentication": 3, "Permissions": 2, "Tenants": 2}


@pytest.mark.parametrize(
    ("auth", "kept_in"), [("off", "sqlite"), ("on", "sqlite"), ("on", "postgres")]
)
def test_the_client_works_as_with_its_own_server(
    auth: str, kept_in: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    python = ROOT / f".venv/clients/hebbs-{VERSION}/bin/python"
    if not installed(python, ROOT / f"requirements/hebbs-{VERSION}.txt"):
        pytest.skip(f"hebbs {VERSION} is not installed: `make setup` with a network")
    report = tmp_path / "report.xml"
    parts = ["common", "guarded"] if auth == "on" else ["common"]
    more = {}
    if kept_in == "postgres":
        more["store"] = request.getfixturevalue("space").setting
    with Served(tmp_path / "data", embedder="bge-small", auth=auth, **more) as server:
        done = subprocess.run(
            [
                python, "-m", "pytest", "-c", SUITE / "pytest.ini", f"--junit-xml={report}",
                *(SUITE / part for part in parts),
            ],
            env={
                **environment("HEBBS_"),
                "HEBBS_ADDRESS": server.address,
                "HEBBS_REST_URL": server.url,
                **(_keys(server) if auth == "on" else {"HEBBS_API_KEY": ""}),
            },
            capture_output=True,
            text=True,
            check=False,
            timeout=TIMEOUT_S,
        )  # fmt: skip
    assert report.exists(), f"the suite did not run:\n{done.stdout}\n{done.stderr}"
    passed, failures = read_report(report, 2)
    for failure in failures:
        print(failure)
    assert not failures, f"{len(failures)} failed\n" + "\n".join(
        failure.splitlines()[0] for failure in failures
    )
    assert done.returncode == 0, done.stdout
    expected = {"integration": INTEGRATION, "end_to_end": END_TO_END, "rest_client": REST}
    expected |= {"guarded": GUARDED} if auth == "on" else {}
    assert passed == {
        f"test_{file}.Test{name}": count
        for file, classes in expected.items()
        for name, count in classes.items()
    }


def test_the_numbers_are_those_of_the_clients_own_tests() -> None:
    assert sum(INTEGRATION.values()) == 60
    assert sum(END_TO_END.values()) - END_TO_END["Demonstrations"] == 28 - GUARDED["Authentication"]


def _keys(server: Served) -> dict[str, str]:
    """Make the keys of two tenants, and return them by the suite's names."""
    return {
        "HEBBS_API_KEY": server.key("alpha"),
        "HEBBS_READING_KEY": server.key("alpha", "read"),
        "HEBBS_OTHER_KEY": server.key("beta"),
    }
