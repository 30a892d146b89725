"""The benches' own arithmetic, and each bench once, tiny, on made data."""

import json
import math
import os
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[2]))

from bench import __main__ as benches
from bench import (
    beam,
    encryption,
    ingest,
    intentions,
    latency,
    locomo,
    made,
    overhead,
    prime,
    speed,
)
from bench.bm25 import LUCENE_STOP, Bm25
from bench.datasets import load_chats
from bench.metrics import (
    Case,
    all_at,
    any_at,
    best_elsewhere,
    distinct,
    frac_at,
    group_sizes,
    latency_figures,
    percentile,
    retrieval_figures,
)
from bench.report import write
from bench.server import rss_mb, server_timing

PINNED = "Mutbrus me chandvimsti for the with I! I have a ces and a cuckpick."


def case(ranked, gold, *groups):
    return Case(ranked.split(), frozenset(gold.split()), groups)


def test_any_all_frac():
    found = case("a b c d e f", "b f x")
    assert [any_at(found, k) for k in (1, 2, 6)] == [0, 1, 1]
    assert [all_at(found, k) for k in (1, 2, 6)] == [0, 0, 0]
    assert [frac_at(found, k) for k in (1, 2, 6)] == [0, 1 / 3, 2 / 3]
    assert all_at(case("a b c", "c a"), 3) == 1
    assert all_at(case("a b c", "c a"), 2) == 0
    assert frac_at(case("", "a"), 10) == 0


def test_figures_are_means_over_each_group():
    cases = [
        case("a b c d e f", "a", "", "x"),
        case("a b c d e f", "f", "", "x"),
        case("a b c d e f", "a f", "", "y"),
    ]
    figures = retrieval_figures(cases, "p.")
    assert figures["p.frac@5"] == pytest.approx((1 + 0 + 0.5) / 3)
    assert figures["p.any@5"] == pytest.approx(2 / 3)
    assert figures["p.all@5"] == pytest.approx(1 / 3)
    assert figures["p.frac@5.x"] == 0.5
    assert figures["p.all@10.y"] == 1
    assert group_sizes(cases) == {"n": 3, "n.x": 2, "n.y": 1}


def test_distinct_keeps_the_first_of_each():
    assert distinct("b a b c a".split()) == ["b", "a", "c"]


def test_percentiles_are_linear_between_neighbours():
    assert percentile([4.0, 1.0, 3.0, 2.0], 50) == 2.5
    assert latency_figures("x", [float(i) for i in range(101)]) == {
        "x.p50_ms": 50,
        "x.p95_ms": 95,
        "x.p99_ms": 99,
    }


def test_weights_are_chosen_without_the_conversation_left_out():
    values = {"a": [[1.0, 1.0], [0.0], [0.2]], "b": [[0.0, 0.0], [0.5], [0.5]]}
    assert best_elsewhere(values, 0) == "b"
    assert best_elsewhere(values, 1) == "a"  # (1 + 1 + .2) / 3 against .5 / 3
    assert best_elsewhere({"a": [[0.5], [0.5]], "b": [[0.5], [0.5]]}, 0) == "a"


def test_bm25_is_the_formula():
    texts = ["The dogs barked", "A dog and a cat", "fish swim in the sea"]
    index = Bm25(texts, LUCENE_STOP)
    assert index.terms(texts[0]) == ["dog", "bark"]
    assert index.terms(texts[1]) == ["dog", "cat"]  # one letter is no word
    assert index.terms(texts[2]) == ["fish", "swim", "sea"]
    mean = (2 + 2 + 3) / 3
    weight = 2.5 / (1 + 1.5 * (0.25 + 0.75 * 2 / mean))
    dog = math.log(1 + (3 - 2 + 0.5) / (2 + 0.5)) * weight
    cat = math.log(1 + (3 - 1 + 0.5) / (1 + 0.5)) * weight
    scores = index.scores("Dog or cats?")
    assert set(scores) == {0, 1}
    assert scores[0] == pytest.approx(dog)
    assert scores[1] == pytest.approx(dog + cat)
    assert index.top("Dog or cats?", 10) == [1, 0]
    assert index.top("dog", 10) == [0, 1]  # equals in order
    assert index.top("the", 10) == []
    assert Bm25([], LUCENE_STOP).top("dog", 3) == []


def test_bm25_counts_a_word_that_repeats_less_and_less():
    once, twice = Bm25(["dog cat", "dog dog"]).scores("dog").values()
    assert once < twice < 2 * once


def test_lucene_has_33_stop_words():
    assert len(LUCENE_STOP) == 33


def test_made_data_is_the_same_every_time():
    first = made.document("bank", 3, 50)
    assert first == made.document("bank", 3, 50)
    assert first != made.document("bank", 4, 50)
    assert first != made.document("other", 3, 50)
    # Pinned, so that figures of two machines or years are of the same data.
    assert first[0]["content"] == PINNED
    assert made.locomo(1, 2, 8) == made.locomo(1, 2, 8)
    assert made.beam(1, 8) == made.beam(1, 8)


def test_made_words_follow_their_law():
    words = made.words()
    assert len(words.all) == made.VOCABULARY == len(set(words.all))
    import random

    drawn = words.draw(random.Random(5), 50_000)
    law = [1 / (rank + made.FLATTEN) for rank in range(1, made.VOCABULARY + 1)]
    first = drawn.count(words.all[0]) / len(drawn)
    assert first == pytest.approx(law[0] / sum(law), rel=0.1)


def test_made_questions_are_distinct():
    asked = made.questions("bank", 1_000, 300)
    assert len(set(asked)) == 300
    assert asked == made.questions("bank", 1_000, 300)
    assert len(set(made.plain_questions(100))) == 100


LOCOMO = [
    {
        "sample_id": "pets",
        "conversation": {
            "speaker_a": "Ada",
            "speaker_b": "Ben",
            "session_1_date_time": "1:56 pm on 8 May, 2023",
            "session_1": [
                {"speaker": "Ada", "dia_id": "D1:1", "text": "Hello Ben, long time no see!"},
                {"speaker": "Ben", "dia_id": "D1:2", "text": "My parrot learned to whistle."},
                {"speaker": "Ada", "dia_id": "D1:3", "text": "  "},
                {
                    "speaker": "Ada",
                    "dia_id": "D1:4",
                    "text": "Look at this!",
                    "blip_caption": "a photo of a red kayak",
                },
            ],
            "session_2_date_time": "10:37 am on 27 June, 2023",
            "session_2": [
                {"speaker": "Ben", "dia_id": "D2:1", "text": "I moved to Lisbon in May."},
                {"speaker": "Ada", "dia_id": "D2:2", "text": "I am still in Oslo."},
            ],
        },
        "qa": [
            {"question": "What did the parrot learn?", "evidence": ["D1:2"], "category": 4},
            {"question": "Who has a kayak?", "evidence": ["D1:4; D2:2"], "category": 1},
            {"question": "Where is Lisbon?", "evidence": ["D:2:1", "D9:9"], "category": 3},
            {"question": "Why did Ada move to Lisbon?", "evidence": ["D2:1"], "category": 5},
        ],
    }
]


def test_locomo_is_read_with_captions_and_what_evidence_can_be_parsed(tmp_path):
    chat = load_chats(saved(tmp_path, LOCOMO))[0]
    assert [m.id for m in chat.messages] == ["D1:1", "D1:2", "D1:3", "D1:4", "D2:1", "D2:2"]
    assert chat.messages[3].text == "Look at this! [a photo of a red kayak]"
    assert chat.sessions[0].when.isoformat() == "2023-05-08T13:56:00+00:00"
    assert [sorted(q.gold) for q in chat.questions] == [["D1:2"], ["D1:4", "D2:2"], ["D2:1"]]
    assert [q.groups for q in chat.questions] == [
        ("all", "cat1-4", "cat4"),
        ("all", "cat1-4", "cat1"),
        ("all", "cat5"),
    ]


BEAM = [
    {
        "chat": 7,
        "turns": [
            {
                "id": 0,
                "role": "user",
                "content": "My parrot learned to whistle. ->-> 1,1",
                "time_anchor": "March-15-2024",
            },
            {
                "id": 1,
                "role": "assistant",
                "content": " ".join(f"Sentence {i} is about seeds and cages." for i in range(60)),
            },
            {"id": 2, "role": "user", "content": "I moved to Lisbon. ->-> 1,2"},
        ],
        "questions": [
            {"ability": "information_extraction", "question": "Seeds and cages?", "gold": [1]},
            {"ability": "temporal_reasoning", "question": "What did the parrot do?", "gold": [0]},
            {"ability": "abstention", "question": "Who is Bob?", "gold": []},
        ],
    }
]


def test_beam_is_read_without_its_bookkeeping(tmp_path):
    chat = load_chats(saved(tmp_path, BEAM))[0]
    assert chat.messages[0].text == "My parrot learned to whistle."
    assert chat.messages[2].at.isoformat() == "2024-03-15T00:00:02+00:00"
    assert [q.groups for q in chat.questions] == [
        ("", "information_extraction"),
        ("", "temporal_reasoning"),
    ]


def test_other_files_are_refused(tmp_path):
    with pytest.raises(ValueError, match="neither LoCoMo nor BEAM"):
        load_chats(saved(tmp_path, [{"what": "else"}]))


def test_locomo_bench_finds_the_turns(tmp_path):
    figures = written(tmp_path, locomo, str(saved(tmp_path, LOCOMO)), "--embedder", "hash:64")
    assert figures["n.all"] == 3
    assert figures["n.cat1-4"] == 2
    # Six turns: all are found, so a wrong map from answers to turns would show.
    assert figures["any@5.cat4"] == 1
    assert figures["frac@10.cat5"] == 1
    assert figures["bm25.frac@10.cat4"] == 1
    assert figures["bm25-longstop.any@5.cat1"] == 1
    assert figures["retain.turns_per_s"] > 0
    assert "loo.frac@10.cat1-4" not in figures  # one conversation leaves nothing out


def test_locomo_bench_leaves_one_out_on_several(tmp_path):
    data = saved(tmp_path, made.locomo(2, 1, 12))
    figures = written(tmp_path, locomo, str(data), "--embedder", "none")
    assert 0 < figures["loo.frac@10.cat1-4"] <= 1


def test_beam_bench_counts_a_long_message_once(tmp_path):
    figures = written(tmp_path, beam, str(saved(tmp_path, BEAM)), "--embedder", "hash:64")
    assert figures["n"] == 2
    assert figures["frac@10"] == 1
    assert figures["frac@10.information_extraction"] == 1
    assert figures["bm25.any@5.temporal_reasoning"] == 1


def test_ingest_bench(tmp_path):
    data = saved(tmp_path, LOCOMO)
    figures = written(tmp_path, ingest, str(data), "--embedder", "hash:64")
    assert figures["ingest.turns"] == 5  # one says nothing
    assert figures["ingest.facts_per_turn"] > 0
    assert figures["ingest.bytes_per_unit"] > 100
    assert figures["ingest.embedding_share"] < 1


def test_latency_bench(tmp_path, monkeypatch):
    monkeypatch.setattr(latency, "_START_RUNS", 1)
    arguments = [
        *("--sizes", "100,200", "--queries", "20", "--stored", "300"),
        *("--data", str(tmp_path / "made"), "--embedder", "hash:64"),
        *("--parts", "inproc,rss,embed,retain,forget,start"),
    ]
    figures = written(tmp_path, latency, *arguments)
    for name in (
        "recall.inproc.100.p50_ms",
        "prime.inproc.200.p99_ms",
        "brute.200.p50_ms",
        "ratio.inproc.200",
        "rss.100.mb",
        "embed.p50_ms",
        "retain.one.p95_ms",
        "forget.20.s",
        "start.300.s",
        "load.200.turns_per_s",
    ):
        assert figures[name] > 0, name
    again = written(tmp_path, latency, *arguments[:8], "--parts", "rss")
    assert set(again) == {"rss.100.mb", "rss.200.mb"}  # the store was used again


def test_intentions_are_checked_registered_and_sent(tmp_path):
    arguments = ("--count", "1000", "--checks", "20", "--pushes", "40", "--data", str(tmp_path))
    figures = written(tmp_path, intentions, *arguments)
    for name in (
        "check.1000.p50_ms",
        "check.1000.p99_ms",
        "check.1000.returned",
        "register.per_s",
        "push.40.lag_p99_s",
    ):
        assert figures[name] > 0, name
    again = written(tmp_path, intentions, *arguments, "--parts", "check")
    assert "register.to_1000.per_s" not in again  # the bank was used again


def test_brute_force_finds_the_vector_itself():
    assert speed.BruteForce(100).search_ms() > 0


def test_unknown_parts_are_refused(capsys):
    with pytest.raises(SystemExit):
        latency.main(["--parts", "everything"])
    assert "unknown part 'everything'" in capsys.readouterr().err


def test_server_timing_is_read():
    header = "embed;dur=1.5, search;dur=0.4, total;dur=2.25"
    assert server_timing(header) == {"embed": 1.5, "search": 0.4, "total": 2.25}
    assert server_timing("") == {}


def test_rss_of_this_process():
    assert rss_mb() == pytest.approx(rss_mb(os.getpid()), rel=0.2)


def test_the_figures_file_holds_names_and_numbers_alone(tmp_path):
    write(tmp_path / "new" / "f.json", {"a.b": 1, "c": 0.123456789})
    assert json.loads((tmp_path / "new" / "f.json").read_text()) == {"a.b": 1, "c": 0.123457}
    assert {"date", "command"} <= set(json.loads((tmp_path / "new/f.meta.json").read_text()))


def test_every_bench_has_a_small_run_and_an_example(tmp_path, capsys):
    assert set(benches.small(tmp_path)) == set(benches.BENCHES)
    for name, (run, _) in benches.BENCHES.items():
        with pytest.raises(SystemExit):
            run(["--help"])
        assert f"example:\n  python -m bench.{name}" in capsys.readouterr().out


def saved(folder, data):
    path = folder / "data.json"
    path.write_text(json.dumps(data))
    return path


def written(folder, bench, *arguments):
    """Run a bench and return the figures that it wrote."""
    out = folder / "figures.json"
    figures = bench.main([*arguments, "--json", str(out)])
    read = json.loads(out.read_text())
    assert set(read) == set(figures)
    assert all(isinstance(value, int | float) for value in read.values())
    return read


def test_prime_is_measured_in_the_process_and_over_both_wires(tmp_path):
    figures = written(
        tmp_path,
        prime,
        *("--memories", "300", "--sizes", "50,60", "--clients", "1,3"),
        *("--runs", "5", "--wire-runs", "4"),
    )
    names = [
        f"{name}{cue}"
        for name in (
            *("prime.inproc.entity_50", "prime.inproc.entity_60"),
            *(f"prime.{w}.{n}{e}" for w in ("rest", "grpc") for n in (1, 3)
              for e in (".entity_50", "")),
        )
        for cue in ("", ".cue")
    ]  # fmt: skip
    names += ["prime.inproc.300", "prime.inproc.300.d384"]
    measures = ("p50_ms", "p95_ms", "p99_ms", "best_ms", "cpu_ms")
    assert set(figures) == {f"{name}.{m}" for name in names for m in measures}
    for name in names:
        times = [figures[f"{name}.{m}"] for m in ("best_ms", "p50_ms", "p95_ms", "p99_ms")]
        assert times == sorted(times)
        assert times[0] > 0
    assert prime.figures_of("x", [n / 1e3 for n in range(200, 0, -1)], 1.0) == {
        "x.p50_ms": 101,
        "x.p95_ms": 191,
        "x.p99_ms": 199,
        "x.best_ms": 1,
        "x.cpu_ms": 5,
    }


def test_encryption_is_measured_beside_none(tmp_path):
    figures = written(tmp_path, encryption, "--turns", "100", "--calls", "3", "--openings", "1")
    for mode in ("off", "on"):
        assert all(
            figures[f"encryption.{mode}.{name}"] > 0
            for name in ("retain.p95_ms", "recall.p50_ms", "first.rows_ms", "first.files_ms")
        )
    assert figures["encryption.encrypt.rows"] > 100


def test_overhead_compares_the_same_requests_with_and_without(tmp_path):
    figures = written(tmp_path, overhead, "--turns", "100", "--queries", "20")
    for name in ("recall", "prime"):
        assert {f"overhead.{name}_on.p50_ms", f"overhead.{name}_off.p50_ms"} <= set(figures)
    assert figures["overhead.metrics_logs.ratio"] > 0
    # One memory is four times as slow as the other, which makes no difference.
    on, off = [overhead.Spent(3.0, 2.0)], [overhead.Spent(2.0, 1.0)]
    slow_on, slow_off = [overhead.Spent(12.0, 8.0)], [overhead.Spent(8.0, 4.0)]
    told = overhead.figures(
        [
            {("recall", "on"): on, ("recall", "off"): slow_off},
            {("recall", "on"): slow_on, ("recall", "off"): off},
        ]
    )
    assert told["overhead.metrics_logs.ratio"] == pytest.approx(2)
    assert told["overhead.waited.ratio"] == pytest.approx(1.5)
    assert told["overhead.recall_on.p50_ms"] == 7.5
