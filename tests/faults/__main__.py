"""`python tests/faults`: play seeded rounds, print what was found, and write it as JSON."""

from __future__ import annotations

import argparse
import json
import signal
import sys
from functools import partial
from pathlib import Path

from plan import POSTGRES, SQLITE
from stage import play_rounds, staged

from report import Report


def main() -> int:
    """Return 1 when anything was found that must not be."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=300)
    parser.add_argument("--postgres", type=int, default=0, metavar="ROUNDS")
    parser.add_argument("--seed", type=int, default=1, help="of the first round")
    parser.add_argument("--only", choices=SQLITE + POSTGRES, help="no other fault")
    parser.add_argument("--broken", action="append", default=[], help="take a guard out: see docs")
    parser.add_argument("--out", type=Path)
    given = parser.parse_args()
    found: dict[str, Report] = {}

    def kept(store: str, report: Report) -> None:
        """Write what there is by now: a run that is ended early has said what it found."""
        found[store] = report
        if given.out:
            given.out.parent.mkdir(parents=True, exist_ok=True)
            told = {name: each.figures() for name, each in found.items()}
            given.out.write_text(json.dumps(told, indent=2, sort_keys=True) + "\n")

    for store, rounds in (("sqlite", given.rounds), ("postgres", given.postgres)):
        if rounds:
            seeds = range(given.seed, given.seed + rounds)
            keep = partial(kept, store)
            with staged(store) as stage:
                report = play_rounds(stage, seeds, given.only, tuple(given.broken), after_each=keep)
            print(report.table(store), flush=True)
    return int(any(report.wrong for report in found.values()))


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # so that servers and folders go, too
    sys.exit(main())
