"""Documents from bank to bank: what arrives is what was there, and a forget reaches the archive."""

from __future__ import annotations

import io
import json
import zipfile
from pathlib import Path
from typing import Any

import httpx
import pytest
from wire_kit import IDLE, LATER, Server

from stores_kit import rows_of

CHAT = """Ida: The ferry to Oslo leaves at nine.
Ole: Then I will bring Nora her honey by noon.
Ida: She keeps bees behind the old mill, twelve hives of them."""


def fill(server: Server, bank: str) -> None:
    server.retain(
        bank,
        {
            "content": CHAT,
            "document_id": "chats/one",
            "timestamp": "2024-05-01T09:00:00+02:00",
            "context": "on the pier",
            "tags": ["sea", "bees"],
            "metadata": {"source": "phone"},
            "entities": [{"text": "Color Line"}],
        },
        {
            "content": "The mill was built in 1911 and stands by the river.",
            "document_id": "mill",
            "tags": ["land"],
        },
        {
            "content": "Its wheel was made of oak.",
            "document_id": "mill",
            "timestamp": "2023-01-02T03:04:05Z",
        },
    )


def export(server: Server, bank: str, *documents: str) -> dict[str, Any]:
    """Export and wait; return what the operation says."""
    answer = server.client.post(
        f"/v1/default/banks/{bank}/document-transfer/export",
        params={"document_id": list(documents)} if documents else None,
    )
    assert answer.status_code == 202, answer.text
    assert answer.json()["status"] == "pending"
    done = server.finished(bank, answer.json()["operation_id"])
    assert done["status"] == "completed", done
    return dict(done["result_metadata"])


def exported(server: Server, bank: str, *documents: str) -> bytes:
    answer = server.client.get(export(server, bank, *documents)["download_url"])
    assert answer.status_code == 200
    return answer.content


def submit(server: Server, bank: str, archive: bytes, **query: Any) -> httpx.Response:
    return server.client.post(
        f"/v1/default/banks/{bank}/document-transfer",
        files={"file": ("archive.zip", archive, "application/zip")},
        params=query,
    )


def imported(server: Server, bank: str, archive: bytes, **query: Any) -> dict[str, Any]:
    answer = submit(server, bank, archive, **query)
    assert answer.status_code == 202, answer.text
    done = server.finished(bank, answer.json()["operation_id"])
    assert done["status"] == "completed", done
    return dict(done["result_metadata"])


def answers(server: Server, bank: str) -> list[Any]:
    """Return what some questions find, without ids."""
    questions = ("When does the ferry leave?", "Who keeps bees?", "the mill", "an oak wheel")
    kept = ("text", "context", "tags", "metadata", "document_id", "entities")
    times = ("occurred_start", "occurred_end")
    return [
        [{key: row.get(key) for key in (*kept, *times)} for row in server.recall(bank, question)]
        for question in questions
    ]


def test_what_is_imported_is_what_was_exported(server: Server, bank: str) -> None:
    fill(server, bank)
    told = export(server, bank)
    assert told["key"] in told["download_url"] == told["url"]
    assert told["documents_count"] == 2
    answer = server.client.get(told["url"])
    assert answer.headers["Content-Type"] == "application/zip"
    assert answer.headers["Content-Disposition"] == f'attachment; filename="{told["filename"]}"'
    assert len(answer.content) == told["bytes"]
    with zipfile.ZipFile(io.BytesIO(answer.content)) as archive:
        assert archive.testzip() is None
        lines = archive.read("manifest.jsonl").decode().splitlines()
        first = json.loads(archive.read(json.loads(lines[1])["file"]))
    assert first["items"][0]["content"] == CHAT or first["items"][1]["content"]

    other = f"{bank}-copy"
    done = imported(server, other, answer.content)
    assert (done["documents_imported"], done["documents_skipped"]) == (2, 0)
    assert answers(server, other) == answers(server, bank)
    assert answers(server, other)[0][0]["text"] == "The ferry to Oslo leaves at nine."
    again = exported(server, other)
    assert _documents(again) == _documents(answer.content)


def _documents(archive: bytes) -> list[Any]:
    """Return the documents of an archive by name, without when they were put there."""
    with zipfile.ZipFile(io.BytesIO(archive)) as opened:
        names = [name for name in opened.namelist() if name.startswith("documents/")]
        found = [json.loads(opened.read(name)) for name in names]
    for document in found:
        assert document.pop("created_at") <= document.pop("updated_at")
    return sorted(found, key=lambda document: str(document["name"]))


def test_some_documents_can_be_exported(server: Server, bank: str) -> None:
    fill(server, bank)
    [document] = _documents(exported(server, bank, "mill"))
    assert document["name"] == "mill"
    assert [item["content"] for item in document["items"]] == [
        "The mill was built in 1911 and stands by the river.",
        "Its wheel was made of oak.",
    ]
    assert document["items"][0]["tags"] == ["land"]
    assert document["items"][1]["tags"] == []
    answer = server.client.post(
        f"/v1/default/banks/{bank}/document-transfer/export", params={"document_id": "none"}
    )
    assert answer.status_code == 404


def test_a_bank_without_documents_gives_an_empty_archive(server: Server, bank: str) -> None:
    archive = exported(server, bank)
    assert _documents(archive) == []
    assert imported(server, f"{bank}-copy", archive)["documents_imported"] == 0


def test_names_that_are_taken(server: Server, bank: str) -> None:
    fill(server, bank)
    archive = exported(server, bank, "mill")
    other = f"{bank}-other"
    server.retain(other, {"content": "A mill is a place for grain.", "document_id": "mill"})
    assert imported(server, other, archive)["documents_skipped"] == 1
    assert "grain" in server.recall(other, "mill")[0]["text"]
    refused = submit(server, other, archive, on_conflict="error")
    assert refused.status_code == 409
    assert "'mill'" in refused.json()["detail"]
    assert imported(server, other, archive, on_conflict="replace")["documents_replaced"] == 1
    texts = [row["text"] for row in server.recall(other, "mill")]
    assert not [text for text in texts if "grain" in text]
    assert imported(server, other, archive, on_conflict="error")["documents_count"] == 1
    assert submit(server, other, archive, on_conflict="ask").status_code == 422


def test_an_archive_goes_when_something_is_forgotten(server: Server, bank: str) -> None:
    fill(server, bank)
    url = export(server, bank)["url"]
    assert server.client.get(url).status_code == 200
    [row] = [r for r in server.recall(bank, "old mill hives") if "hives" in r["text"]][:1]
    forgotten = server.post("/v1/forget", {"entity_id": bank, "memory_ids": [row["id"]]})
    assert forgotten.status_code == 200, forgotten.text
    assert server.client.get(url).status_code == 404
    archive = exported(server, bank)
    texts = json.dumps(_documents(archive))
    assert "hives" not in texts
    assert "\\u2588" not in texts
    assert "ferry to Oslo" in texts


def test_keys_cannot_be_guessed_and_expire(server: Server, bank: str) -> None:
    fill(server, bank)
    key = export(server, bank)["key"]
    name, job, token = key.split(".")
    for wrong in (
        "",
        "a",
        "a.b.c",
        f"{name}.{job}.",
        f"{name}.{job}.{token[:-1]}",
        f"{name}.{job}.{token[::-1]}",
        f"Ym9i.{job}.{token}",
        f"!.{job}.{token}",
        f"{name}.{job}.ü",
        f"{name}.{job}/0.{token}",
    ):
        answer = server.client.get(f"/v1/default/files/download/{wrong}")
        assert answer.status_code == 404, wrong


def test_an_export_runs_after_a_kill_and_its_archive_is_gone_after_a_day(folder: Path) -> None:
    with Server(folder, IDLE) as idle:
        fill(idle, "ada")
        answer = idle.client.post("/v1/default/banks/ada/document-transfer/export")
        idle.kill()
    with Server(folder) as server:
        done = server.finished("ada", answer.json()["operation_id"])
        url = done["result_metadata"]["url"]
        assert server.client.get(url).status_code == 200
    with Server(folder, LATER.replace("3_600", "90_000")) as tomorrow:
        assert tomorrow.client.get(url).status_code == 404


def test_an_import_outlives_a_server_that_is_killed(
    server: Server, bank: str, folder: Path
) -> None:
    fill(server, bank)
    archive = exported(server, bank)
    with Server(folder, IDLE) as idle:
        operation = submit(idle, "ada", archive).json()["operation_id"]
        idle.kill()
    with Server(folder) as later:
        assert later.finished("ada", operation)["status"] == "completed"
        assert answers(later, "ada") == answers(server, bank)
    assert rows_of(folder, "SELECT COUNT(*) FROM blob") == [(0,)]


@pytest.mark.parametrize("archive", [b"", b"no archive", b"PK\x05\x06" + b"\0" * 18])
def test_what_is_no_archive_is_refused(server: Server, bank: str, archive: bytes) -> None:
    answer = submit(server, bank, archive)
    assert answer.status_code == 422
    assert answer.json()["detail"][0]["field"] == "file"
    missing = server.client.post(
        f"/v1/default/banks/{bank}/document-transfer", files={"other": ("a", b"x")}
    )
    assert missing.status_code == 422


def test_an_archive_larger_than_may_be_uploaded_is_not_made(folder: Path) -> None:
    with Server(folder, max_upload_bytes="2000") as server:
        words = (f"{n * 7919 % 100_003:x}" for n in range(3_000))
        server.retain("ada", {"content": " ".join(words), "document_id": "numbers"})
        answer = server.client.post("/v1/default/banks/ada/document-transfer/export")
        done = server.finished("ada", answer.json()["operation_id"])
        assert done["status"] == "failed"
        assert "2000 bytes" in done["error_message"]


def test_the_former_way_says_where_to_go(server: Server, bank: str) -> None:
    answer = server.client.get(f"/v1/default/banks/{bank}/document-transfer")
    assert answer.status_code == 410
    assert "document-transfer/export" in answer.json()["detail"]


LETTERS = (
    "小林さんは京都で抹茶を飲みました。",
    "Zoë met naïve Łukasz at the café in Ñuñoa.",
    "مرحبا، اسمي ليلى وأعيش في عمّان.",
    "Меня зовут Фёдор, я живу в Кёльне.",
    "Ann likes 🥐, 👩🏽‍🚒 and ❤️‍🔥 under 🇳🇴",
    "The form reads ██ name ██ and nothing else.",
)


def test_letters_of_any_script_arrive_byte_for_byte(server: Server, bank: str) -> None:
    server.retain(bank, *({"content": t, "document_id": f"d{n}"} for n, t in enumerate(LETTERS)))
    archive = exported(server, bank)
    kept = [item["content"] for document in _documents(archive) for item in document["items"]]
    assert sorted(kept) == sorted(LETTERS)
    other = f"{bank}-copy"
    imported(server, other, archive)
    for place in (bank, other):
        for number, text in enumerate(LETTERS):
            assert server.recall(place, text)[0]["text"] == text
            url = f"/v1/default/banks/{place}/documents/d{number}"
            assert server.client.get(url).json()["original_text"] == text
