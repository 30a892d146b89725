"""Files on the wire: uploaded, read in the background, found."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from wire_kit import IDLE, Server

from stores_kit import rows_of

Part = tuple[str, tuple[str, bytes, str]]


def part(name: str, content: bytes | str, kind: str = "application/octet-stream") -> Part:
    data = content if isinstance(content, bytes) else content.encode()
    return ("files", (name, data, kind))


def upload(server: Server, bank: str, *files: Part, **told: Any) -> httpx.Response:
    return server.client.post(
        f"/v1/default/banks/{bank}/files/retain",
        files=list(files),
        data={"request": json.dumps(told)},
    )


def uploaded(server: Server, bank: str, *files: Part, **told: Any) -> list[dict[str, Any]]:
    """Upload and wait; return how the operations ended."""
    answer = upload(server, bank, *files, **told)
    assert answer.status_code == 200, answer.text
    assert list(answer.json()) == ["operation_ids"]
    return [server.finished(bank, each) for each in answer.json()["operation_ids"]]


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server with low limits."""
    limits = {"max_upload_bytes": "200000", "max_content_bytes": "50000"}
    with Server(tmp_path_factory.mktemp("small"), **limits) as running:
        yield running


def test_each_file_becomes_a_document_that_is_found(server: Server, bank: str) -> None:
    told = [
        {
            "document_id": "ferries",
            "context": "timetable",
            "tags": ["sea"],
            "metadata": {"page": "3"},
            "timestamp": "2024-03-05T10:00:00+01:00",
        },
        {},
    ]
    done = uploaded(
        server,
        bank,
        part("ferry.html", "<p>The ferry to <b>Oslo</b> leaves from pier nine.</p>"),
        part("bees.csv", "keeper,hives\nNora,12\nOle,7\n"),
        files_metadata=told,
        document_tags=["all"],
    )
    assert [each["status"] for each in done] == ["completed", "completed"]
    assert [each["operation_type"] for each in done] == ["file_retain"] * 2
    assert done[0]["result_metadata"]["document_ids"] == ["ferries"]
    assert done[1]["result_metadata"]["document_ids"][0].startswith("file_")
    rows = server.recall(bank, "Where does the ferry leave from?")
    found = next(row for row in rows if row["document_id"] == "ferries")
    assert found["text"] == "The ferry to Oslo leaves from pier nine."
    assert found["document_id"] == "ferries"
    assert (found["context"], sorted(found["tags"])) == ("timetable", ["all", "sea"])
    assert found["metadata"] == {"page": "3", "filename": "ferry.html"}
    assert found["mentioned_at"].startswith("2024-03-05T10:00:00")
    texts = [each["text"] for each in server.recall(bank, "How many hives has Nora?")]
    assert any("keeper = Nora; hives = 12" in text for text in texts)


def test_a_file_uploaded_again_replaces_its_document(server: Server, bank: str) -> None:
    meta = [{"document_id": "sign"}]
    for colour in ("red", "green"):
        text = f"The sign on the door is {colour}."
        uploaded(server, bank, part("sign.txt", text), files_metadata=meta)
    texts = [each["text"] for each in server.recall(bank, "sign on the door")]
    assert texts
    assert not [text for text in texts if "red" in text]


def test_nothing_needs_to_be_told(server: Server, bank: str) -> None:
    answer = server.client.post(
        f"/v1/default/banks/{bank}/files/retain", files=[part("a.md", "# Bees\n\nThey hum.")]
    )
    assert server.finished(bank, answer.json()["operation_ids"][0])["status"] == "completed"


def test_a_file_that_cannot_be_read_fails_alone_and_is_not_kept(
    folder: Path,
) -> None:
    with Server(folder) as server:
        bad, good = uploaded(
            server, "ada", part("a.txt", b"\0\1\2secret-word"), part("b.txt", "The bees hum.")
        )
        assert (bad["status"], good["status"]) == ("failed", "completed")
        assert "a.txt" in bad["error_message"]
        assert "secret" not in bad["error_message"]
    assert rows_of(folder, "SELECT COUNT(*) FROM blob") == [(0,)]


def test_an_upload_outlives_a_server_that_is_killed(folder: Path) -> None:
    large = "".join(f"Hive {n} stands under tree {n}.\n" for n in range(200_000))  # two parts
    with Server(folder, IDLE) as idle:
        answer = upload(idle, "ada", part("a.txt", "The bees hum."), part("b.txt", large))
        assert answer.status_code == 200
        idle.kill()
    assert rows_of(folder, "SELECT COUNT(*) FROM blob") == [(3,)]
    with Server(folder) as later:
        first = answer.json()["operation_ids"][0]
        assert later.finished("ada", first)["status"] == "completed"
        assert later.recall("ada", "What do the bees do?")[0]["text"] == "The bees hum."


FAKE = """
class MarkItDown:
    def __init__(self, *, enable_plugins):
        pass

    def convert_stream(self, stream, *, file_extension):
        self.markdown = stream.read().decode().removeprefix("%PDF ")
        return self
"""


def test_office_files_are_read_by_a_package_that_is_installed(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The package itself is too large to be installed for tests: another one stands for it."""
    (tmp_path / "markitdown.py").write_text(FAKE)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    with Server(folder) as server:
        told = {"files_metadata": [{"document_id": "bees"}], "parser": ["builtin", "markitdown"]}
        [done] = uploaded(server, "ada", part("a.pdf", "%PDF Nora keeps bees."), **told)
        assert done["status"] == "completed"
        assert server.recall("ada", "bees")[0]["text"] == "Nora keeps bees."
        [empty] = uploaded(server, "ada", part("a.pdf", "%PDF "))
        assert "no text" in empty["error_message"]


def test_a_large_upload_takes_little_memory(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "markitdown.py").write_text(FAKE)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    with Server(folder, IDLE) as idle:
        upload(idle, "ada", part("small.pdf", "%PDF small"))
        before = idle.memory_mb()
        answer = upload(idle, "ada", part("large.pdf", b"%PDF " + b"x" * 80_000_000))
        assert answer.status_code == 200
        assert idle.memory_mb() - before < 50


def refused(answer: httpx.Response, status: int = 422) -> dict[str, Any]:
    assert answer.status_code == status, answer.text
    detail = answer.json()["detail"]
    return detail[0] if status == 422 else {"msg": detail}


def test_limits_are_named(small: Server, bank: str) -> None:
    many = [part(f"{n}.txt", "x") for n in range(11)]
    assert "10 files" in refused(upload(small, bank, *many), 413)["msg"]
    large = [part(f"{n}.txt", "x" * 40_000) for n in range(9)]
    assert "200000 bytes" in refused(upload(small, bank, *large), 413)["msg"]
    long = part("a.txt", "x" * 60_000)
    assert "50000" in refused(upload(small, bank, long), 413)["msg"]
    assert small.client.get(f"/v1/default/banks/{bank}/operations").json()["total"] == 0


def test_a_body_without_a_length_is_bounded_too(small: Server, bank: str) -> None:
    def pieces() -> Iterator[bytes]:
        yield b'--b\r\nContent-Disposition: form-data; name="files"; filename="a.txt"\r\n\r\n'
        for _ in range(100):
            yield b"x" * 10_000

    answer = small.client.post(
        f"/v1/default/banks/{bank}/files/retain",
        content=pieces(),
        headers={"Content-Type": "multipart/form-data; boundary=b"},
    )
    assert "200000 bytes" in refused(answer, 413)["msg"]


@pytest.mark.parametrize(
    ("files", "told", "word"),
    [
        ([part("a.jpeg", b"\xff\xd8\xff\xe0\0", "image/jpeg")], {}, "PDF"),
        ([part("a.txt", "")], {}, "empty"),
        ([part("a.txt", "x")], {"parser": "iris"}, "builtin, markitdown"),
        ([part("a.txt", "x")], {"files_metadata": [{}, {}]}, "2 entries for 1 files"),
        ([part("a.txt", "x")], {"files_metadata": [{"metadata": {"a": 1}}]}, "string"),
        ([part("a.txt", "x")], {"files_metadata": [{"timestamp": "soon"}]}, "ISO 8601"),
        ([part("a.txt", "x")], {"files_metadata": [{"update_mode": "append"}]}, "not taken"),
        ([part("a.txt", "x")], {"update_mode": "replace"}, "not taken"),
        (
            [part("a.txt", "x"), part("b.txt", "x")],
            {"files_metadata": [{"document_id": "d"}, {"document_id": "d"}]},
            "two files",
        ),
        ([part("a.pdf", "%PDF-1.4")], {"parser": ["builtin"]}, "PDF files"),
    ],
)
def test_what_cannot_be_read_is_refused_at_once(
    server: Server, bank: str, files: list[Part], told: dict[str, Any], word: str
) -> None:
    assert word in refused(upload(server, bank, *files, **told))["msg"]
    assert server.client.get(f"/v1/default/banks/{bank}/operations").json()["total"] == 0


def test_bodies_that_are_no_uploads_are_refused(server: Server, bank: str) -> None:
    path = f"/v1/default/banks/{bank}/files/retain"
    assert server.post(path, {}).status_code == 415
    headers = {"Content-Type": "multipart/form-data; boundary=b"}
    for body in (b"", b"--b\r\n", b"--b\r\nContent-Disposition: form-data\r\n\r\nx\r\n--b--"):
        refused(server.client.post(path, content=body, headers=headers))
    refused(server.client.post(path, content=b"x", headers={"Content-Type": "multipart/form-data"}))
    answer = server.client.post(path, files=[part("a.txt", "x")], data={"request": "{"})
    assert "JSON" in refused(answer)["msg"]


def test_pages_of_other_sites_may_not_upload(server: Server, bank: str) -> None:
    path = f"/v1/default/banks/{bank}/files/retain"
    for origin, status in (
        ("https://evil.example", 403),
        ("null", 403),
        (server.url, 200),
    ):
        answer = server.client.post(path, files=[part("a.txt", "x")], headers={"Origin": origin})
        assert answer.status_code == status


def test_what_is_told_in_vain_is_named(server: Server, bank: str) -> None:
    told = {"files_metadata": [{"strategy": "fast", "colour": "red"}], "more": 1}
    answer = upload(server, bank, part("a.txt", "x"), **told)
    names = answer.headers["X-Ignored-Params"].split(", ")
    assert set(names) == {
        "request.more",
        "request.files_metadata.colour",
        "request.files_metadata.strategy",
    }
