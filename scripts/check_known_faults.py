"""Ask a vulnerability service about the packages of a lock, and say what could not be asked.

    scripts/check_known_faults.py PIP_AUDIT LOCK… [--strict]

Exits with 1 when a package has a known fault. Where no service can be reached, or it does not know
a package, that is told and is no fault; with `--strict`, as before a release, it is one.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from typing import Any

SERVICES = ("pypi", "osv")
TIMEOUT_S = 20


def asked(pip_audit: str, lock: str, service: str) -> list[dict[str, Any]] | str:
    """Return what a service says of each package of a lock; a text: why it says nothing."""
    done = subprocess.run(
        [
            *(pip_audit, "--disable-pip", "--require-hashes", "--progress-spinner=off"),
            *("--format=json", f"--timeout={TIMEOUT_S}", f"--vulnerability-service={service}"),
            f"--requirement={lock}",
        ],
        capture_output=True,
        text=True,
        check=False,
    )
    try:
        told: list[dict[str, Any]] = json.loads(done.stdout)["dependencies"]
    except (ValueError, KeyError, TypeError):
        return (done.stderr.strip().splitlines() or ["no answer"])[-1][:300]
    return told


def best(pip_audit: str, lock: str) -> tuple[str, list[dict[str, Any]]]:
    """Return the answers of the service that knows the most packages, and its name."""
    found: tuple[str, list[dict[str, Any]]] = ("", [])
    for service in SERVICES:
        told = asked(pip_audit, lock, service)
        if isinstance(told, str):
            print(f"{lock}: the service {service} could not be asked: {told}")
            continue
        if not found[0] or len(known(told)) > len(known(found[1])):
            found = service, told
        if len(known(told)) == len(told):
            break
    return found


def known(told: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the packages that were looked up."""
    return [each for each in told if "skip_reason" not in each]


def main() -> int:
    """Return 1 when something is known to be wrong, or, when strict, was not looked up."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("pip_audit")
    parser.add_argument("locks", nargs="+")
    parser.add_argument("--strict", action="store_true")
    given = parser.parse_args()
    faults = unasked = asked_of = 0
    for lock in given.locks:
        service, told = best(given.pip_audit, lock)
        looked_up = known(told)
        asked_of += len(looked_up)
        for each in looked_up:
            for fault in each["vulns"]:
                faults += 1
                mended = ", ".join(fault.get("fix_versions", ())) or "no version yet"
                print(f"{each['name']} {each['version']}: {fault['id']}, mended in {mended}")
        if not told:
            unasked += 1
            print(f"{lock}: NOT AUDITED: no service could be reached from here")
            continue
        missed = len(told) - len(looked_up)
        unasked += missed
        print(f"{lock}: {len(looked_up)} of {len(told)} packages looked up at {service}")
        if missed:
            some = ", ".join(e["name"] for e in told if "skip_reason" in e)[:200]
            print(f"{lock}: NOT AUDITED: {missed} that {service} does not know here: {some}")
    print(f"known faults: {faults}, of {asked_of} packages looked up, {unasked} not audited")
    return int(bool(faults or (given.strict and unasked)))


if __name__ == "__main__":
    sys.exit(main())
