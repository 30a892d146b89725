"""Check that the licence of each locked package is one of those that we accept.

    scripts/check_licences.py [LOCK]…     (requirements/core.txt and requirements/dev.txt)

Reads what installed packages say of themselves; nothing is asked of the network. What users get
(core.txt) may be of permissive licences alone; what tests and tools need may also be of weak
copyleft ones. Exits with 1 and names the packages that are of none of these, or tell none.
"""

from __future__ import annotations

import re
import sys
from collections import Counter
from importlib.metadata import PackageNotFoundError, metadata
from pathlib import Path

PERMISSIVE = frozenset(
    "0BSD Apache-2.0 BSD BSD-2-Clause BSD-3-Clause CC0-1.0 CNRI-Python HPND ISC MIT MIT-0 "
    "MIT-CMU PSF-2.0 Python-2.0 Unlicense Unicode-3.0 Zlib".split()
)
WEAK_COPYLEFT = frozenset("LGPL-2.1 LGPL-3.0 LGPL-3.0-only LGPL-3.0-or-later MPL-2.0".split())

ACCEPTED = {
    "certifi": "MPL-2.0: a list of certificates, used as it is",
    "psycopg": "LGPL-3.0: an extra, used as a library that users may replace",
    "psycopg-binary": "LGPL-3.0: an extra, used as a library that users may replace",
    "tqdm": "MPL-2.0 AND MIT: used as it is",
}
"""Packages of users that are of weak copyleft licences, and why that does no harm."""

UNTOLD = {"axe-playwright-python": "MIT"}
"""Packages whose metadata tells none, and what the licence file that comes with them says."""

SPELLED = {
    "apache 2.0": "Apache-2.0",
    "apache license 2.0": "Apache-2.0",
    "apache license, version 2.0": "Apache-2.0",
    "apache license v2.0": "Apache-2.0",
    "apache software license": "Apache-2.0",
    "apache": "Apache-2.0",
    "bsd license": "BSD",
    "3-clause bsd license": "BSD-3-Clause",
    "bsd 3-clause": "BSD-3-Clause",
    "gnu lesser general public license v3 (lgplv3)": "LGPL-3.0",
    "gnu library or lesser general public license (lgpl)": "LGPL-2.1",
    "isc license (iscl)": "ISC",
    "isc license": "ISC",
    "mit license": "MIT",
    "mozilla public license 2.0 (mpl 2.0)": "MPL-2.0",
    "python software foundation license": "PSF-2.0",
    "the unlicense (unlicense)": "Unlicense",
    "dual license": "Apache-2.0 OR BSD-3-Clause",
}
"""How the same is spelled where there is no SPDX expression."""


def locked(lock: Path) -> list[str]:
    """Return the names of a lock's packages."""
    return re.findall(r"^([A-Za-z0-9][\w.-]*)==", lock.read_text(), re.MULTILINE)


def licence_of(name: str) -> str | None:
    """Return a package's licence as an SPDX expression, or as it is spelled; None: it tells none.

    Raises:
        PackageNotFoundError: it is not installed here, as one for another system is not.
    """
    told = metadata(name)
    if expression := told.get("License-Expression"):
        return expression
    classifiers = [
        each.rpartition(" :: ")[2]
        for each in told.get_all("Classifier") or ()
        if each.startswith("License :: ") and each != "License :: OSI Approved"
    ]
    spelled = classifiers or [(told.get("License") or "").strip().split("\n")[0]]
    found = {SPELLED.get(each.lower(), each) for each in spelled if each}
    return " OR ".join(sorted(found)) or UNTOLD.get(name)


def allowed(expression: str, licences: frozenset[str]) -> bool:
    """Whether an SPDX expression can be met with these licences: one of an OR, all of an AND."""
    bare = expression.replace("(", " ").replace(")", " ")
    return any(
        all(part.partition(" WITH ")[0].strip() in licences for part in either.split(" AND "))
        for either in bare.split(" OR ")
    )


def main(locks: list[Path]) -> int:
    """Print how many packages have which licence; return 1 when one has none of the accepted."""
    here = Path(__file__).parents[1] / "requirements"
    core, *_ = given = locks or [here / "core.txt", here / "dev.txt"]
    users = set(locked(core))
    counts: Counter[str] = Counter()
    faults, absent = [], 0
    for name in sorted({name for lock in given for name in locked(lock)}):
        try:
            found = licence_of(name)
        except PackageNotFoundError:
            absent += 1
            continue
        counts[found or "none told"] += 1
        licences = PERMISSIVE if name in users and name not in ACCEPTED else _all()
        if found is None or not allowed(found, licences):
            faults.append(f"{name}: {found or 'tells no licence'}")
    told = ", ".join(f"{number} {name}" for name, number in counts.most_common())
    print(f"licences of {counts.total()} packages: {told}; {absent} not installed here")
    for fault in faults:
        print(f"licence not accepted: {fault}", file=sys.stderr)
    return int(bool(faults))


def _all() -> frozenset[str]:
    return PERMISSIVE | WEAK_COPYLEFT


if __name__ == "__main__":
    sys.exit(main([Path(each) for each in sys.argv[1:]]))
