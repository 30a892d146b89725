"""A store without room: writes are refused whole and say why, what is asked is answered."""

from __future__ import annotations

from collections.abc import Iterator

import grpc
import httpx
import pytest
from grpc_kit import Client, refused
from wire_kit import MAIN, Server

pytestmark = pytest.mark.of_folders

# To SQLite a file that may not grow is on a full disk.
SMALL = f"""
from remembrancer.keeping.sqlite import connection
connection._WRITE_PRAGMAS += ("max_page_count = 320",)
{MAIN}
"""
BANK = "/v1/default/banks/full"
LONG = "\n\n".join(f"Passage {number} of a log of birds." for number in range(6_000))


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with Server(tmp_path_factory.mktemp("small"), SMALL, embedder="none") as running:
        running.retain("full", "Ann lives in Berlin.")
        yield running


@pytest.fixture(scope="module")
def answer(small: Server) -> httpx.Response:
    return small.post(f"{BANK}/memories", {"items": [{"content": LONG}]})


def test_a_write_is_refused_and_leaves_nothing(small: Server, answer: httpx.Response) -> None:
    assert answer.status_code == 507, answer.text
    assert "free some space" in answer.json()["detail"]
    assert small.client.get(f"{BANK}/memories/list").json()["total"] == 1
    assert small.client.get(f"{BANK}/documents").json()["total"] == 1


def test_what_is_asked_is_answered_and_what_fits_is_kept(
    small: Server, answer: httpx.Response
) -> None:
    assert answer.status_code == 507
    (found,) = small.recall("full", "Where does Ann live?")
    assert found["text"] == "Ann lives in Berlin."
    assert small.client.get("/health").status_code == 200
    small.retain("full", "Bob lives in Rome.")
    assert small.recall("full", "Who lives in Rome?")[0]["text"] == "Bob lives in Rome."


def test_the_other_wires_tell_it_too(small: Server) -> None:
    passage = {"content": LONG[:30_000], "entity_id": "bird"}
    told = next(
        t for _ in range(200) if (t := small.post("/v1/memories", passage)).status_code != 201
    )
    assert (told.status_code, told.json()["error_code"]) == (507, "store_full")
    with (
        grpc.insecure_channel(small.grpc) as channel,
        refused(grpc.StatusCode.RESOURCE_EXHAUSTED, "free some space"),
    ):
        Client(channel, "default").call("Remember", **passage)
