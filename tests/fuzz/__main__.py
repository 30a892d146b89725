"""`python tests/fuzz`: feed readers, importers and date rules, and print how much they took."""

from __future__ import annotations

import argparse
import sys
import time
import traceback
from collections import Counter
from pathlib import Path

from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis.errors import HypothesisException
from seeds import INPUTS
from targets import TARGETS

from remembrancer.nouns.errors import RemembrancerError

_SLOW_S = 5.0  # of processor time, for inputs of a few kilobytes


def fuzz(name: str, examples: int, number: int) -> tuple[Counter[str], float, str]:
    """Feed a target; return what it did, its slowest input in seconds, and what went wrong."""
    counts: Counter[str] = Counter()
    slowest = 0.0

    @seed(number)
    @settings(
        max_examples=examples,
        deadline=None,
        database=None,
        phases=(Phase.generate, Phase.shrink),
        suppress_health_check=list(HealthCheck),
    )
    @given(INPUTS)
    def feed(data: bytes) -> None:
        nonlocal slowest
        counts["inputs"] += 1
        began = time.process_time()
        try:
            TARGETS[name](data)
            counts["taken"] += 1
        except RemembrancerError:
            counts["refused"] += 1
        took = time.process_time() - began
        slowest = max(slowest, took)
        assert took < _SLOW_S, f"{took:.1f} s"

    try:
        feed()
    except HypothesisException:
        raise
    except Exception as error:
        counts["faults"] += 1
        return counts, slowest, "".join(traceback.format_exception(error)[-6:])
    return counts, slowest, ""


def main() -> int:
    """Return 1 when any input broke a target."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--examples", type=int, default=2_000, help="a target")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", choices=list(TARGETS))
    given_ = parser.parse_args()
    total: Counter[str] = Counter()
    told = []
    print(f"{'':22}{'inputs':>9}{'taken':>9}{'refused':>9}{'faults':>8}{'slowest':>10}")
    for name in [given_.only] if given_.only else TARGETS:
        counts, slowest, fault = fuzz(name, given_.examples, given_.seed)
        total += counts
        told += [f"{name}:\n{fault}"] if fault else []
        row = "".join(f"{counts[k]:>9,}" for k in ("inputs", "taken", "refused"))
        print(f"{name:22}{row}{counts['faults']:>8}{slowest * 1e3:>7.0f} ms", flush=True)
    row = "".join(f"{total[k]:>9,}" for k in ("inputs", "taken", "refused"))
    print(f"{'all':22}{row}{total['faults']:>8}")
    for each in told:
        print(each)
    return int(bool(told))


if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parent))
    sys.exit(main())
