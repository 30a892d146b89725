"""LangGraph's store: what its own one in memory does, ours does too; and what is ours alone."""

from __future__ import annotations

import asyncio
import sqlite3
import threading
import zlib
from collections.abc import Callable, Iterator
from contextlib import closing
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from langgraph.store.base import (
    BaseStore,
    GetOp,
    InvalidNamespaceError,
    ListNamespacesOp,
    MatchCondition,
    PutOp,
    SearchOp,
)
from langgraph.store.memory import InMemoryStore

import remembrancer
from remembrancer.compat.langgraph import RemembrancerStore
from remembrancer.faces.library.memory import make_settings
from remembrancer.nouns.clock import FixedClock

Run = Callable[[BaseStore, list[Any]], list[Any]]


def embed(texts: list[str]) -> list[list[float]]:
    """Return a vector of the words of each text, for LangGraph's own store."""
    vectors = []
    for text in texts:
        vector = [0.0] * 64
        for word in text.lower().replace('"', " ").replace(".", " ").split():
            vector[zlib.crc32(word.encode()) % 64] += 1.0
        vectors.append(vector)
    return vectors


@pytest.fixture(params=["theirs", "ours"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[BaseStore]:
    if request.param == "theirs":
        yield InMemoryStore(index={"dims": 64, "embed": embed, "fields": ["text"]})
        return
    with RemembrancerStore(tmp_path, index={"fields": ["text"]}, embedder="hash:64") as ours:
        yield ours


@pytest.fixture
def ours(tmp_path: Path) -> Iterator[RemembrancerStore]:
    with RemembrancerStore(tmp_path, embedder="hash:64") as opened:
        yield opened


def keys(found: list[Any]) -> list[str]:
    return [each.key for each in found]


class TestOneItem:
    def test_what_was_put_is_got(self, store: BaseStore) -> None:
        value = {"text": "A heron by the weir.", "n": 1.5, "deep": {"list": [1, None, {"x": True}]}}
        store.put(("birds", "seen"), "first", value)
        item = store.get(("birds", "seen"), "first")
        assert item is not None
        assert item.value == value
        assert (item.namespace, item.key) == (("birds", "seen"), "first")
        assert item.created_at.tzinfo is not None
        assert item.created_at <= item.updated_at

    def test_names_are_exact(self, store: BaseStore) -> None:
        store.put(("a%", "b_"), "k%", {"text": "odd"})
        for namespace, key in [
            (("a%", "b_"), "k"),
            (("a%", "bx"), "k%"),
            (("ax", "b_"), "k%"),
            (("a%",), "k%"),
            (("a%", "b_", "c"), "k%"),
        ]:
            assert store.get(namespace, key) is None
        assert store.get(("a%", "b_"), "k%") is not None

    def test_putting_again_replaces(self, store: BaseStore) -> None:
        store.put(("birds",), "k", {"text": "A heron.", "old": True})
        before = store.get(("birds",), "k")
        store.put(("birds",), "k", {"text": "An egret."})
        after = store.get(("birds",), "k")
        assert before is not None
        assert after is not None
        assert after.value == {"text": "An egret."}
        assert after.updated_at >= before.updated_at
        assert keys(store.search(("birds",))) == ["k"]

    def test_delete_and_putting_none_remove(self, store: BaseStore) -> None:
        store.put(("birds",), "a", {"text": "A heron."})
        store.put(("birds",), "b", {"text": "An egret."})
        store.delete(("birds",), "a")
        store.batch([PutOp(("birds",), "b", None)])
        store.delete(("birds",), "never-there")
        assert store.get(("birds",), "a") is None
        assert store.search(("birds",), query="heron") == []

    def test_namespaces_that_cannot_be_are_refused(self, store: BaseStore) -> None:
        for namespace in [(), ("",), ("a.b",), ("langgraph", "x")]:
            with pytest.raises(InvalidNamespaceError):
                store.put(namespace, "k", {"text": "x"})


class TestBatch:
    def test_results_come_in_the_order_of_the_operations(self, store: BaseStore) -> None:
        store.put(("n", "one"), "a", {"text": "old"})
        results = store.batch(
            [
                ListNamespacesOp(),
                PutOp(("n", "two"), "b", {"text": "new"}),
                GetOp(("n", "one"), "a"),
                GetOp(("n", "one"), "missing"),
                SearchOp(("n",)),
                PutOp(("n", "one"), "a", None),
            ]
        )
        assert results[0] == [("n", "one")]  # reads see what was there before the puts
        assert results[1] is None
        assert results[2].value == {"text": "old"}
        assert results[3] is None
        assert keys(results[4]) == ["a"]
        assert results[5] is None
        assert keys(store.search(("n",))) == ["b"]

    def test_the_last_put_of_a_name_counts(self, store: BaseStore) -> None:
        store.batch([PutOp(("n",), "k", {"text": str(number)}) for number in range(3)])
        item = store.get(("n",), "k")
        assert item is not None
        assert item.value == {"text": "2"}

    def test_async_calls_do_the_same(self, store: BaseStore) -> None:
        async def use() -> None:
            await asyncio.gather(*(store.aput(("n",), f"k{i}", {"text": f"{i}"}) for i in range(5)))
            item = await store.aget(("n",), "k3")
            assert item is not None
            assert item.value == {"text": "3"}
            assert sorted(keys(await store.asearch(("n",)))) == ["k0", "k1", "k2", "k3", "k4"]
            await store.adelete(("n",), "k3")
            assert await store.aget(("n",), "k3") is None
            assert await store.alist_namespaces(prefix=("n",)) == [("n",)]

        asyncio.run(use())

    def test_unknown_operations_are_refused(self, store: BaseStore) -> None:
        with pytest.raises(ValueError, match="nknown operation"):
            store.batch([("not", "an", "op")])  # type: ignore[list-item]


class TestSearch:
    @pytest.fixture(autouse=True)
    def _items(self, store: BaseStore) -> None:
        for key, namespace, value in [
            ("heron", ("u", "ann", "birds"), {"text": "grey heron wading", "n": 3, "c": "grey"}),
            (
                "egret",
                ("u", "ann", "birds"),
                {"text": "white egret standing", "n": 5, "c": "white"},
            ),
            (
                "otter",
                ("u", "ann", "beasts"),
                {"text": "brown otter swimming", "n": 8, "c": "brown"},
            ),
            ("heron2", ("u", "anna", "birds"), {"text": "grey heron flying", "n": 4, "c": "grey"}),
            ("deep", ("u", "bob"), {"text": "a map", "d": {"x": {"y": 1}, "l": [1, 2]}, "n": 0}),
        ]:
            store.put(namespace, key, value)

    def test_a_prefix_is_of_whole_labels(self, store: BaseStore) -> None:
        assert sorted(keys(store.search(("u", "ann")))) == ["egret", "heron", "otter"]
        assert sorted(keys(store.search(("u", "ann", "birds")))) == ["egret", "heron"]
        assert store.search(("u", "an")) == []
        assert store.search(("u", "a%")) == []
        assert store.search(("u", "___")) == []
        assert len(store.search(())) == 5

    @pytest.mark.parametrize(
        ("condition", "found"),
        [
            ({"c": "grey"}, ["heron", "heron2"]),
            ({"c": "grey", "n": 3}, ["heron"]),
            ({"n": {"$eq": 5}}, ["egret"]),
            ({"c": {"$ne": "grey"}}, ["deep", "egret", "otter"]),
            ({"n": {"$gt": 4}}, ["egret", "otter"]),
            ({"n": {"$gte": 4, "$lt": 8}}, ["egret", "heron2"]),
            ({"n": {"$lte": 0}}, ["deep"]),
            ({"d": {"x": {"y": 1}}}, ["deep"]),
            ({"d": {"x": {"y": {"$ne": 1}}}}, []),
            ({"d": {"l": [1, 2]}}, ["deep"]),
            ({"d": {"l": [1]}}, []),
            ({"missing": "x"}, []),
        ],
    )
    def test_filters(self, store: BaseStore, condition: dict[str, Any], found: list[str]) -> None:
        assert sorted(keys(store.search(("u",), filter=condition))) == found

    def test_an_unknown_operator_is_refused(self, store: BaseStore) -> None:
        with pytest.raises(ValueError, match=r"operator"):
            store.search(("u",), filter={"n": {"$near": 3}})

    def test_a_query_puts_what_is_like_it_first(self, store: BaseStore) -> None:
        found = store.search(("u", "ann"), query="white egret standing")
        assert keys(found)[0] == "egret"
        assert sorted(keys(found)) == ["egret", "heron", "otter"]
        assert found[0].score is not None
        assert found[0].score > 0.9

    def test_a_query_with_a_filter(self, store: BaseStore) -> None:
        found = store.search(("u",), query="white egret standing", filter={"c": "grey"}, limit=1)
        assert len(found) == 1
        assert found[0].value["c"] == "grey"

    def test_limit_and_offset_page_through_all(self, store: BaseStore) -> None:
        for more in ({}, {"query": "grey heron"}, {"filter": {"n": {"$gte": 0}}}):
            pages = [keys(store.search(("u",), limit=2, offset=at, **more)) for at in (0, 2, 4, 6)]
            assert [len(page) for page in pages] == [2, 2, 1, 0]
            assert sorted(key for page in pages for key in page) == [
                "deep", "egret", "heron", "heron2", "otter",
            ]  # fmt: skip

    def test_what_is_not_indexed_comes_after_and_without_a_score(self, store: BaseStore) -> None:
        store.put(("u", "ann", "birds"), "dark", {"text": "white egret standing"}, index=False)
        found = store.search(("u", "ann", "birds"), query="white egret standing")
        assert keys(found)[0] == "egret"
        assert keys(found)[-1] == "dark"
        assert found[-1].score is None

    def test_fields_of_one_item_can_be_named(self, store: BaseStore) -> None:
        value = {"text": "nothing of note", "parts": [{"say": "a kingfisher dived"}]}
        store.put(("u", "ann", "birds"), "king", value, index=["parts[*].say"])
        assert keys(store.search(("u", "ann"), query="a kingfisher dived"))[0] == "king"


class TestNamespaces:
    @pytest.fixture(autouse=True)
    def _items(self, store: BaseStore) -> None:
        for namespace in [
            ("a", "b", "c"),
            ("a", "b", "d", "e"),
            ("a", "x", "c"),
            ("b", "b", "c"),
            ("a%", "b_", "c"),
            ("z",),
        ]:
            store.put(namespace, "k", {"text": "x"})

    @pytest.mark.parametrize(
        ("conditions", "found"),
        [
            ([("prefix", ("a",))], [("a", "b", "c"), ("a", "b", "d", "e"), ("a", "x", "c")]),
            ([("prefix", ("a", "b"))], [("a", "b", "c"), ("a", "b", "d", "e")]),
            ([("prefix", ("a", "*", "c"))], [("a", "b", "c"), ("a", "x", "c")]),
            ([("prefix", ("a%",))], [("a%", "b_", "c")]),
            ([("prefix", ("%",))], []),
            ([("prefix", ("a", "_"))], []),
            (
                [("suffix", ("c",))],
                [("a", "b", "c"), ("a", "x", "c"), ("a%", "b_", "c"), ("b", "b", "c")],
            ),
            ([("suffix", ("b", "*"))], [("a", "b", "c"), ("b", "b", "c")]),
            ([("prefix", ("a",)), ("suffix", ("e",))], [("a", "b", "d", "e")]),
            ([("prefix", ("*", "*", "*", "*"))], [("a", "b", "d", "e")]),
            ([("prefix", ("z", "*"))], []),
        ],
    )
    def test_prefixes_suffixes_and_wildcards(
        self, store: BaseStore, conditions: list[Any], found: list[Any]
    ) -> None:
        matches = tuple(MatchCondition(kind, path) for kind, path in conditions)
        assert store.batch([ListNamespacesOp(match_conditions=matches)]) == [found]

    def test_depth_limit_and_offset(self, store: BaseStore) -> None:
        assert store.list_namespaces(max_depth=1) == [("a",), ("a%",), ("b",), ("z",)]
        assert store.list_namespaces(prefix=("a",), max_depth=2) == [("a", "b"), ("a", "x")]
        everything = store.list_namespaces()
        assert len(everything) == 6
        pages = [store.list_namespaces(limit=4, offset=at) for at in (0, 4, 8)]
        assert [len(page) for page in pages] == [4, 2, 0]
        assert [ns for page in pages for ns in page] == everything


class TestOurs:
    def test_everything_outlives_the_process_that_put_it(self, tmp_path: Path) -> None:
        with RemembrancerStore(tmp_path, embedder="hash:64") as store:
            store.put(("n",), "k", {"said": "The ferry leaves at ten."})
            made = store.get(("n",), "k")
        with RemembrancerStore(tmp_path, embedder="hash:64") as store:
            assert store.get(("n",), "k") == made
            assert keys(store.search(("n",), query="ferry")) == ["k"]

    def test_putting_again_keeps_when_it_was_made(self, ours: RemembrancerStore) -> None:
        ours.put(("n",), "k", {"said": "one"})
        first = ours.get(("n",), "k")
        ours.put(("n",), "k", {"said": "two"})
        second = ours.get(("n",), "k")
        assert first is not None
        assert second is not None
        assert first.created_at == second.created_at < second.updated_at

    def test_reads_make_nothing(self, tmp_path: Path) -> None:
        with RemembrancerStore(tmp_path, embedder="hash:64") as store:
            assert store.get(("n",), "k") is None
            assert store.search(("n",), query="anything") == []
            assert store.list_namespaces() == []
            store.delete(("n",), "k")
        with closing(sqlite3.connect(tmp_path / "memory.db")) as db:
            assert db.execute("SELECT count(*) FROM record").fetchone() == (0,)
            assert db.execute("SELECT count(*) FROM unit").fetchone() == (0,)

    def test_a_namespace_goes_with_its_last_item(self, ours: RemembrancerStore) -> None:
        ours.put(("n", "a"), "k", {"x": 1})
        ours.put(("n", "a"), "l", {"x": 1})
        ours.delete(("n", "a"), "k")
        assert ours.list_namespaces() == [("n", "a")]
        ours.batch([PutOp(("n", "a"), "l", None), PutOp(("n", "b"), "k", {"x": 1})])
        assert ours.list_namespaces() == [("n", "b")]

    def test_equal_texts_are_two_items(self, ours: RemembrancerStore) -> None:
        for key in "ab":
            ours.put(("n",), key, {"said": "The same words."})
        found = ours.search(("n",), query="The same words.")
        assert sorted(keys(found)) == ["a", "b"]
        assert all(each.score is not None for each in found)

    def test_a_rare_match_is_found_behind_many_others(self, ours: RemembrancerStore) -> None:
        puts = [PutOp(("n",), f"k{i}", {"say": f"the red boat {i}", "n": i}) for i in range(150)]
        ours.batch([*puts, PutOp(("n",), "rare", {"say": "a blue bus", "rare": True})])
        assert keys(ours.search(("n",), query="red boat", filter={"rare": True})) == ["rare"]
        assert keys(ours.search(("n",), filter={"n": 149})) == ["k149"]

    def test_banks_are_apart(self, tmp_path: Path) -> None:
        with remembrancer.open(tmp_path, embedder="hash:64") as memory:
            one, two = (RemembrancerStore(memory, bank=name) for name in ("one", "two"))
            one.put(("n",), "k", {"x": 1})
            assert two.get(("n",), "k") is None
            two.put(("n",), "k", {"x": 2})
            one.delete(("n",), "k")
            item = two.get(("n",), "k")
            assert item is not None
            assert item.value == {"x": 2}

    def test_forgetting_the_memory_erases_the_item(self, tmp_path: Path) -> None:
        with remembrancer.open(tmp_path, embedder="hash:64") as memory:
            store = RemembrancerStore(memory)
            store.put(("n",), "k", {"say": "The xylograph is in the loft."})
            [found] = memory.recall("xylograph", bank="langgraph")
            memory.forget([found.id], bank="langgraph")
            assert store.get(("n",), "k") is None
            assert store.search(("n",)) == []
        with closing(sqlite3.connect(tmp_path / "memory.db")) as db:
            assert not any("xylograph" in line for line in db.iterdump())

    def test_deleting_leaves_nothing_in_the_rows(self, tmp_path: Path) -> None:
        with RemembrancerStore(tmp_path, embedder="hash:64") as store:
            store.put(("n",), "k", {"say": "The xylograph is in the loft."})
            store.put(("n",), "l", {"say": "Another xylograph."}, index=False)
            store.put(("n",), "k", None)  # type: ignore[arg-type]
            store.delete(("n",), "l")
        with closing(sqlite3.connect(tmp_path / "memory.db")) as db:
            assert not any("xylograph" in line for line in db.iterdump())

    def test_many_threads_put_into_one_namespace(self, ours: RemembrancerStore) -> None:
        def put(number: int) -> None:
            for turn in range(5):
                ours.put(("n",), f"k{number}", {"say": f"{number} {turn}"})
                ours.put(("n",), "shared", {"say": f"by {number}"})

        threads = [threading.Thread(target=put, args=(n,)) for n in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        found = {item.key: item.value["say"] for item in ours.search(("n",), limit=20)}
        assert found.keys() == {"k0", "k1", "k2", "k3", "shared"}
        assert [found[f"k{n}"] for n in range(4)] == [f"{n} 4" for n in range(4)]

    def test_what_cannot_be_kept_is_refused(self, ours: RemembrancerStore) -> None:
        for value, more in [
            ({"x": float("nan")}, {}),
            ({"x": object()}, {}),
            ({"x": "y" * 1_100_000}, {}),
            ({"x": 1}, {"ttl": 0}),
        ]:
            with pytest.raises(ValueError) as refused:  # noqa: PT011 - any message
                ours.put(("n",), "k", value, **more)
            assert isinstance(refused.value, remembrancer.InvalidInput)
        with pytest.raises(ValueError, match="limit is 1000"):
            ours.put(("n",), "k" * 1_001, {"x": 1})
        assert ours.search(()) == []


class TestWhatIsNotToBeKept:
    VALUE = {  # noqa: RUF012 - never changed
        "text": "Write to mira@post.example.org",
        "password": "Tr0ub4dor&3x",
        "of": [{"mail": "mira@post.example.org"}],
    }

    def test_it_is_taken_out(self, tmp_path: Path) -> None:
        given = {"embedder": "hash:64", "sensitive": "redact"}
        with remembrancer.Memory(make_settings(tmp_path, given)) as memory:
            store = RemembrancerStore(memory)
            store.put(("n",), "found", self.VALUE)
            store.put(("n",), "aside", self.VALUE, index=False)
            for key in ("found", "aside"):
                item = store.get(("n",), key)
                assert item is not None
                assert item.value == {
                    "text": "Write to [email]",
                    "password": "[password]",
                    "of": [{"mail": "[email]"}],
                }
            assert keys(store.search(("n",), query="write to"))[:1] == ["found"]
        stored = b"".join(path.read_bytes() for path in tmp_path.rglob("*") if path.is_file())
        assert b"post.example.org" not in stored
        assert b"Tr0ub4dor" not in stored

    def test_it_is_refused(self, tmp_path: Path) -> None:
        given = {"embedder": "none", "sensitive": "block"}
        with remembrancer.Memory(make_settings(tmp_path, given)) as memory:
            store = RemembrancerStore(memory)
            with pytest.raises(ValueError, match=r"value holds .* \(email\)"):
                store.put(("n",), "k", {"text": "Write to mira@post.example.org"})
            store.put(("n",), "k", {1: "kept"})
            assert keys(store.search(("n",))) == ["k"]


class TestTimeToLive:
    @pytest.fixture
    def clock(self) -> FixedClock:
        return FixedClock(1_780_000_000_000_000)

    @pytest.fixture
    def timed(self, tmp_path: Path, clock: FixedClock) -> Iterator[RemembrancerStore]:
        with remembrancer.Memory(make_settings(tmp_path, {"embedder": "none"}), clock) as memory:
            yield RemembrancerStore(memory, ttl={"default_ttl": 10, "refresh_on_read": True})

    def test_it_is_gone_after_its_time(self, timed: RemembrancerStore, clock: FixedClock) -> None:
        timed.put(("n",), "short", {"say": "soon over"}, ttl=1)
        timed.put(("n", "d"), "default", {"say": "over later"})
        timed.put(("n",), "ever", {"say": "never over"}, ttl=None)
        clock.advance(timedelta(seconds=59))
        assert timed.get(("n",), "short", refresh_ttl=False) is not None
        clock.advance(timedelta(seconds=2))
        assert timed.get(("n",), "short") is None
        assert sorted(keys(timed.search((), refresh_ttl=False))) == ["default", "ever"]
        assert sorted(keys(timed.search((), query="over", refresh_ttl=False))) == [
            "default", "ever",
        ]  # fmt: skip
        clock.advance(timedelta(minutes=10))
        assert timed.list_namespaces() == [("n",)]
        assert timed.sweep_ttl() == 0  # what is listed was swept first
        assert keys(timed.search(())) == ["ever"]

    def test_reading_lets_it_live_on(self, timed: RemembrancerStore, clock: FixedClock) -> None:
        timed.put(("n",), "got", {"say": "a"})
        timed.put(("n",), "found", {"say": "b"})
        timed.put(("n",), "left", {"say": "c"})
        for _ in range(3):
            clock.advance(timedelta(minutes=6))
            assert timed.get(("n",), "got") is not None
            timed.search(("n",), filter={"say": "b"})
        assert sorted(keys(timed.search(("n",), refresh_ttl=False))) == ["found", "got"]
        clock.advance(timedelta(minutes=11))
        assert timed.sweep_ttl() == 3
        assert timed.search(()) == []

    def test_putting_again_starts_anew(self, timed: RemembrancerStore, clock: FixedClock) -> None:
        timed.put(("n",), "k", {"say": "a"}, ttl=1)
        timed.put(("n",), "k", {"say": "b"}, ttl=None)
        clock.advance(timedelta(days=400))
        item = timed.get(("n",), "k")
        assert item is not None
        assert item.value == {"say": "b"}
        assert timed.sweep_ttl() == 0

    def test_one_that_expired_is_made_anew(
        self, timed: RemembrancerStore, clock: FixedClock
    ) -> None:
        timed.put(("n",), "k", {"say": "a"}, ttl=1)
        clock.advance(timedelta(minutes=5))
        timed.put(("n",), "k", {"say": "b"}, ttl=1)
        item = timed.get(("n",), "k")
        assert item is not None
        assert item.created_at == item.updated_at
