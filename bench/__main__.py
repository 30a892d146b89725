"""All benches, small, on made data: `python -m bench`. Figures go to bench/results/."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

from . import (
    beam,
    encryption,
    imports,
    ingest,
    intentions,
    latency,
    locomo,
    made,
    overhead,
    overload,
    prime,
    report,
    soak,
    tenants,
)
from .metrics import Figures

RESULTS = Path(__file__).parent / "results"

BENCHES: dict[str, tuple[Callable[[Sequence[str]], Figures], str]] = {
    "locomo": (locomo.main, "turns found on chats between people, beside BM25"),
    "beam": (beam.main, "messages found on chats with an assistant, beside BM25"),
    "latency": (latency.main, "recall, prime, start, retain, forget: time and memory"),
    "prime": (prime.main, "prime in the process, over REST and gRPC, at 1 to 64 clients"),
    "ingest": (ingest.main, "turns a second, bytes a unit, share of embedding"),
    "imports": (imports.main, "a long export taken in: megabytes a second, memory"),
    "intentions": (intentions.main, "check among many, register, send when due"),
    "overhead": (overhead.main, "what metrics and logs cost, on and off in one run"),
    "encryption": (encryption.main, "what sealing texts at rest costs, on and off in one run"),
    "tenants": (tenants.main, "a recall over a tenant of many small banks, on both stores"),
    "overload": (overload.main, "a tenant alone and beside a flood; idle and slow connections"),
    "soak": (soak.main, "a mixed load for long: growth of memory, files, latency"),
}


def small(folder: Path) -> dict[str, list[str]]:
    """Return the arguments of each bench for a small run on made data put into `folder`."""
    chats, talks = folder / "chats.json", folder / "talks.json"
    chats.write_text(json.dumps(made.locomo()), encoding="utf-8")
    talks.write_text(json.dumps(made.beam()), encoding="utf-8")
    return {
        "locomo": [str(chats)],
        "beam": [str(talks)],
        "latency": [
            *("--sizes", "1000", "--queries", "200", "--stored", "5000"),
            *("--data", str(folder / "data")),
        ],
        "prime": ["--sizes", "50,2000", "--wire-runs", "100"],
        "ingest": [str(chats)],
        "imports": ["--megabytes", "1"],
        "tenants": ["--banks", "300", "--queries", "10", "--data", str(folder / "data")],
        "overload": ["--turns", "200", "--seconds", "2", "--idle", "1000"],
        "soak": ["--minutes", "0.5"],
        "overhead": ["--turns", "1000", "--queries", "200", "--data", str(folder / "data")],
        "encryption": ["--turns", "1000", "--calls", "100"],
        "intentions": [
            *("--count", "10000", "--checks", "200", "--pushes", "500"),
            *("--data", str(folder / "data")),
        ],
    }


def main() -> None:
    """List the benches and run each one, small."""
    report.console.print("The benches; each is run as `python -m bench.NAME`, see its --help:")
    for name, (_, about) in BENCHES.items():
        report.console.print(f"  {name:8} {about}")
    report.console.print(f"Now all of them, small, on made data; figures go to {RESULTS}.\n")
    with tempfile.TemporaryDirectory(prefix="bench-") as folder:
        for name, arguments in small(Path(folder)).items():
            BENCHES[name][0]([*arguments, "--json", str(RESULTS / f"{name}.json")])


if __name__ == "__main__":
    main()
