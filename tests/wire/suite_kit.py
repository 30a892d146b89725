"""Suites that run in an environment of their own: what they may see, and what they report."""

from __future__ import annotations

import os
from collections import Counter
from pathlib import Path
from xml.etree import ElementTree

_OURS = ("PYTEST_", "PYTHON", "COV_", "VIRTUAL_ENV", "REMEMBRANCER_")


def installed(python: Path, lock: Path) -> bool:
    """Tell whether the environment was made from the lock as it is now."""
    made_from = python.parents[1] / "installed-lock.txt"
    return made_from.exists() and made_from.read_bytes() == lock.read_bytes()


def environment(client: str) -> dict[str, str]:
    """Return ours without what would change the other interpreter, its pytest, or the client.

    Args:
        client: how the client's own variables begin.
    """
    return {k: v for k, v in os.environ.items() if not k.startswith((*_OURS, client))}


def read_report(report: Path, parts: int) -> tuple[Counter[str], list[str]]:
    """Return how many tests of each class passed, and what each other one says.

    Args:
        report: as JUnit has it.
        parts: of a class's dotted name, from its end, that name it here.
    """
    passed: Counter[str] = Counter()
    failures = []
    for case in ElementTree.parse(report).iter("testcase"):
        wrong = [each for each in case if each.tag in ("failure", "error", "skipped")]
        owner = ".".join(case.get("classname", "").split(".")[-parts:])
        passed[owner] += not wrong
        failures += [
            f"{owner}.{case.get('name')}: {each.tag}: {each.get('message', '')}\n{each.text or ''}"
            for each in wrong
        ]
    return passed, failures
