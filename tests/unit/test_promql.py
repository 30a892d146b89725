"""The evaluator that the dashboard is tested with says what Prometheus would."""

from __future__ import annotations

import pytest

from promql_kit import Scrape, Unknown, Value, evaluate, scraped, sides

FIRST = """# HELP a_total What was done.
# TYPE a_total counter
a_total{work="x",status="200"} 10
a_total{work="x",status="503"} 0
a_total{work="y",status="200"} 5
t_bucket{le="1"} 0
t_bucket{le="2"} 0
t_bucket{le="+Inf"} 0
up_s 100
held 7
"""
LAST = """a_total{work="x",status="200"} 40
a_total{work="x",status="503"} 10
a_total{work="y",status="200"} 2
t_bucket{le="1"} 10
t_bucket{le="2"} 30
t_bucket{le="+Inf"} 40
up_s 3
held 4
"""
SCRAPES = [scraped(0, FIRST, instance="one"), scraped(10, LAST, instance="one")]


def value(text: str, scrapes: list[Scrape] = SCRAPES) -> Value:
    return evaluate(text, scrapes, {"w": "1m", "i": ".*"})


def of(text: str) -> dict[str, float]:
    """Return the values, each by its labels but the name, in order."""
    found = value(text)
    assert isinstance(found, dict)
    return {
        " ".join(f"{k}={v}" for k, v in sorted(labels) if k not in {"__name__", "instance"}): float(
            each  # type: ignore[arg-type]
        )
        for labels, each in found.items()
    }


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("held", {"": 4}),
        ('held{instance=~"$i"}', {"": 4}),
        ('held{instance="two"}', {}),
        ('up{instance="one"} == 0', {}),
        ("delta(held[$w])", {"": -3}),
        ("resets(up_s[$w])", {"": 1}),
        ('rate(a_total{work="x",status="200"}[$w])', {"status=200 work=x": 3}),
        ('rate(a_total{work="y"}[$w])', {"status=200 work=y": 0.2}),  # it began anew
        ('sum by (work) (rate(a_total{status!~"5.."}[$w]))', {"work=x": 3, "work=y": 0.2}),
        ('sum(rate(a_total{status=~"5.."}[$w])) / sum(rate(a_total[$w]))', {"": 1 / 4.2}),
        ("60 * rate(a_total[1s])", {}),  # one scrape alone tells no rate
        (
            "a_total > 3 and delta(a_total[$w]) > 0",
            {"status=200 work=x": 40, "status=503 work=x": 10},
        ),
        ("histogram_quantile(0.5, sum by (le) (rate(t_bucket[$w])))", {"": 1.5}),
        ("histogram_quantile(0.95, sum by (le) (rate(t_bucket[$w])))", {"": 2}),
        ("sum(none) or vector(0)", {"": 0}),
        ("sum(held) or vector(0)", {"": 4}),
    ],
)
def test_an_expression_is_worked_out(text: str, expected: dict[str, float]) -> None:
    assert of(text) == pytest.approx(expected)


def test_a_quantile_of_nothing_is_no_number() -> None:
    still = [SCRAPES[0], Scrape(10, SCRAPES[0].series)]
    found = value("histogram_quantile(0.5, rate(t_bucket[$w]))", still)
    assert isinstance(found, dict)
    assert [str(each) for each in found.values()] == ["nan"]


def test_a_target_that_does_not_answer_is_down() -> None:
    down = [*SCRAPES, scraped(20, None, instance="one")]
    assert value("up == 0", down)
    assert not value("held", down)


@pytest.mark.parametrize(
    "text", ["avg(held)", "held[1m", "held offset 5m", "held unless held", "1 +* 2"]
)
def test_what_it_does_not_know_it_refuses(text: str) -> None:
    with pytest.raises((Unknown, IndexError, KeyError, ValueError)):
        value(text)


def test_a_rule_is_taken_apart_at_its_thresholds() -> None:
    assert sides("a / b > 0.01") == ["a / b"]
    assert sides('x{s="p"} > 100 and delta(x[3m]) > 0') == ['x{s="p"}', "delta(x[3m])"]
    assert sides("rate(a[5m]) > 2e9\n") == ["rate(a[5m])"]
