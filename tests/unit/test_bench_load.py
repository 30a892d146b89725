"""The benches of load, each once, tiny."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[2]))

from bench import imports, overload, soak


def test_overload_bench(tmp_path, monkeypatch):
    monkeypatch.setattr(overload, "_WARM_UP", 2)
    out = tmp_path / "overload.json"
    arguments = ["--turns", "20", "--seconds", "0.5", "--clients", "4", "--idle", "30"]
    overload.main([*arguments, "--parts", "recall,idle", "--json", str(out)])
    figures = json.loads(out.read_text())
    assert figures["overload.recall.ratio"] > 0
    assert figures["overload.recall.flood.done_per_s"] > 0
    assert figures["overload.recall.flood.no_retry_after"] == 0
    assert figures["overload.recall.beside.work.p99_ms"] > 0
    assert figures["idle.connections"] == 30


def test_unknown_parts_are_refused(capsys):
    with pytest.raises(SystemExit):
        overload.main(["--parts", "everything"])
    assert "unknown part 'everything'" in capsys.readouterr().err


def test_soak_bench(tmp_path, monkeypatch):
    monkeypatch.setattr(soak, "_KEPT", 4)
    out = tmp_path / "soak.json"
    soak.main(["--minutes", "0.04", "--json", str(out)])
    figures = json.loads(out.read_text())
    assert figures["soak.failed"] == 0
    assert figures["soak.requests"] > 0
    assert figures["soak.load.per_s"] < figures["soak.capacity.per_s"]
    assert figures["soak.files.start"] > 0
    assert "soak.rss.growth_mb_a_minute" in figures


def test_growth_leaves_out_the_time_when_caches_fill():
    samples = [soak.Sample(at / 10, 50.0 if at == 0 else 100.0 + at, 10) for at in range(11)]
    found = soak._growth(samples, 1.0)
    assert found["soak.rss.start_mb"] == 101
    assert found["soak.rss.growth_mb_a_minute"] == pytest.approx(10)
    assert found["soak.files.growth_a_minute"] == pytest.approx(0)


def test_imports_bench(tmp_path):
    out = tmp_path / "imports.json"
    imports.main(["--megabytes", "0.05", "--embedder", "none", "--json", str(out)])
    figures = json.loads(out.read_text())
    assert figures["import.mb"] >= 0.05
    assert figures["import.taken"] == figures["import.conversations"] > 0
    assert figures["import.again.taken"] == 0
    assert 0 < figures["import.peak_mb"] < 300
    with pytest.raises(SystemExit):
        imports.main(["--megabytes", "0"])
