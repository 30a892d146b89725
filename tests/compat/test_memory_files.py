"""Anthropic's memory tool: what the SDK's own one on files answers, ours does; and beyond."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from anthropic.tools import ToolError
from anthropic.tools.memory import BetaAbstractMemoryTool, BetaLocalFilesystemMemoryTool

import remembrancer
from remembrancer.compat.anthropic import AsyncRemembrancerMemoryTool, RemembrancerMemoryTool

Do = Callable[..., str]


@pytest.fixture(params=["theirs", "ours"])
def tool(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[BetaAbstractMemoryTool]:
    if request.param == "theirs":
        yield BetaLocalFilesystemMemoryTool(str(tmp_path))
        return
    with RemembrancerMemoryTool(tmp_path, embedder="hash:64") as ours:
        yield ours


@pytest.fixture
def do(tool: BetaAbstractMemoryTool) -> Do:
    def call(command: str, **given: Any) -> str:
        return str(tool.call({"command": command, **given}))

    return call


def numbered(*lines: str, first: int = 1) -> str:
    return "\n".join(f"{number:>6}\t{line}" for number, line in enumerate(lines, first))


def test_the_tool_is_declared_as_the_sdk_has_it(tool: BetaAbstractMemoryTool) -> None:
    assert tool.to_dict() == {"type": "memory_20250818", "name": "memory"}


def test_a_file_is_made_and_shown_with_numbered_lines(do: Do) -> None:
    path = "/memories/notes/tide.md"
    assert do("create", path=path, file_text="low\nhigh\n\nslack") == (
        f"File created successfully at: {path}"
    )
    head = f"Here's the content of {path} with line numbers:\n"
    assert do("view", path=path) == head + numbered("low", "high", "", "slack")
    assert do("view", path=path, view_range=[2, 3]) == head + numbered("high", "", first=2)
    assert do("view", path=path, view_range=[3, -1]) == head + numbered("", "slack", first=3)
    with pytest.raises(ToolError, match="already exists"):
        do("create", path=path, file_text="x")


def test_a_text_is_kept_to_the_last_character(do: Do) -> None:
    for number, text in enumerate(["", "\n", "a\r\nb\n", "  é 🙂\t|", "e\u0301", "{}"]):
        path = f"/memories/{number}.txt"
        do("create", path=path, file_text=text)
        assert do("view", path=path).partition(":\n")[2] == numbered(*text.split("\n"))


def test_str_replace_wants_one_place(do: Do) -> None:
    path = "/memories/crew.txt"
    do("create", path=path, file_text="Ann\nBo\nCy\nDi\nBo\nEd\n")
    told = do("str_replace", path=path, old_str="Cy", new_str="Cyd")
    assert told.endswith(numbered("Ann", "Bo", "Cyd", "Di", "Bo"))
    with pytest.raises(ToolError, match="in lines: 2, 5"):
        do("str_replace", path=path, old_str="Bo", new_str="x")
    with pytest.raises(ToolError, match="did not appear verbatim"):
        do("str_replace", path=path, old_str="Zoe", new_str="x")
    with pytest.raises(ToolError, match="does not exist"):
        do("str_replace", path="/memories/no.txt", old_str="a", new_str="b")
    assert "Cyd" in do("view", path=path)


def test_insert_puts_a_line_after_another(do: Do) -> None:
    path = "/memories/list.txt"
    do("create", path=path, file_text="one\ntwo\n")
    do("insert", path=path, insert_line=0, insert_text="zero\n")
    do("insert", path=path, insert_line=3, insert_text="three")
    shown = do("view", path=path).partition(":\n")[2]
    assert shown == numbered("zero", "one", "two", "three", "")
    for line in (-1, 9):
        with pytest.raises(ToolError, match=r"\[0, 4\]"):
            do("insert", path=path, insert_line=line, insert_text="x")


def test_delete_takes_files_and_directories(do: Do) -> None:
    for name in ("a/x.md", "a/b/y.md", "ab.md"):
        do("create", path=f"/memories/{name}", file_text="text")
    assert do("delete", path="/memories/a/x.md") == "Successfully deleted /memories/a/x.md"
    do("delete", path="/memories/a")
    for gone in ("/memories/a/x.md", "/memories/a/b/y.md", "/memories/a"):
        with pytest.raises(ToolError, match="does not exist"):
            do("view", path=gone)
        with pytest.raises(ToolError, match="does not exist"):
            do("delete", path=gone)
    assert "text" in do("view", path="/memories/ab.md")
    with pytest.raises(ToolError, match="directory itself"):
        do("delete", path="/memories")


def test_rename_moves_files_and_directories(do: Do) -> None:
    for name in ("a/x.md", "a/b/y.md", "c.md"):
        do("create", path=f"/memories/{name}", file_text=f"text of {name}")
    do("rename", old_path="/memories/c.md", new_path="/memories/deep/er/c.md")
    do("rename", old_path="/memories/a", new_path="/memories/z")
    assert "text of c.md" in do("view", path="/memories/deep/er/c.md")
    assert "text of a/b/y.md" in do("view", path="/memories/z/b/y.md")
    with pytest.raises(ToolError, match="does not exist"):
        do("view", path="/memories/a")
    with pytest.raises(ToolError, match="already exists"):
        do("rename", old_path="/memories/z/x.md", new_path="/memories/deep/er/c.md")
    with pytest.raises(ToolError, match="does not exist"):
        do("rename", old_path="/memories/no.md", new_path="/memories/yes.md")
    with pytest.raises(ToolError, match="directory itself"):
        do("rename", old_path="/memories", new_path="/memories/x")


@pytest.mark.parametrize(
    "path",
    [
        "/etc/passwd",
        "notes.md",
        "/memories/../secret",
        "/memories/a/../../secret",
        "/memories/..",
    ],
)
def test_paths_that_lead_elsewhere_are_refused(do: Do, path: str) -> None:
    for command, given in [
        ("view", {}),
        ("create", {"file_text": "x"}),
        ("delete", {}),
    ]:
        with pytest.raises(ToolError, match="/memories"):
            do(command, path=path, **given)
    do("create", path="/memories/a.md", file_text="x")
    with pytest.raises(ToolError, match="/memories"):
        do("rename", old_path="/memories/a.md", new_path=path)


def test_a_listing_has_two_levels_without_what_is_hidden(do: Do) -> None:
    for name, text in [
        ("b.md", "four"),
        ("a/one.md", "x" * 1536),
        ("a/sub/two.md", "x" * 2048),
        (".hidden", "x"),
        ("a/.hidden.md", "x"),
        ("a/sub/deep/three.md", "x"),
    ]:
        do("create", path=f"/memories/{name}", file_text=text)
    lines = do("view", path="/memories").split("\n")
    assert lines[0] == (
        "Here're the files and directories up to 2 levels deep in /memories, excluding hidden "
        "items:"
    )
    shown = dict(reversed(line.split("\t")) for line in lines[1:])  # type: ignore[misc]
    assert list(shown) == [
        "/memories",
        "/memories/a/",
        "/memories/a/one.md",
        "/memories/a/sub/",
        "/memories/b.md",
    ]
    assert (shown["/memories/b.md"], shown["/memories/a/one.md"]) == ("4B", "1.5K")
    inner = do("view", path="/memories/a/sub").split("\n")
    assert "2K\t/memories/a/sub/two.md" in inner


class TestOurs:
    @pytest.fixture
    def ours(self, tmp_path: Path) -> Iterator[RemembrancerMemoryTool]:
        with RemembrancerMemoryTool(tmp_path, embedder="hash:64") as opened:
            yield opened

    def test_an_empty_memory_is_an_empty_directory(self, ours: RemembrancerMemoryTool) -> None:
        assert str(ours.call({"command": "view", "path": "/memories"})).endswith("\n0B\t/memories")

    def test_sizes_of_directories_are_those_of_their_files(
        self, ours: RemembrancerMemoryTool
    ) -> None:
        for name in ("a/x.md", "a/b/c/y.md"):
            ours.call({"command": "create", "path": f"/memories/{name}", "file_text": "é" * 256})
        shown = str(ours.call({"command": "view", "path": "/memories"}))
        assert shown.split("\n")[1:] == [
            "1K\t/memories",
            "1K\t/memories/a/",
            "512B\t/memories/a/b/",
            "512B\t/memories/a/x.md",
        ]

    @pytest.mark.parametrize(
        "path",
        [
            "/memories/%2e%2e/secret",
            "/memories/%252e%252e/secret",
            "/memories/..%2fsecret",
            "/memories/..\\secret",
            "/memories/./a",
            "/memories/a\x00b",
            "/memoriesx/a",
        ],
    )
    def test_disguised_paths_are_refused(self, ours: RemembrancerMemoryTool, path: str) -> None:
        with pytest.raises(ToolError):
            ours.call({"command": "create", "path": path, "file_text": "x"})

    def test_a_path_is_a_file_or_a_directory(self, ours: RemembrancerMemoryTool) -> None:
        ours.call({"command": "create", "path": "/memories/a/b.md", "file_text": "x"})
        for path in ("/memories/a", "/memories/a/b.md/c.md", "/memories/", "/memories/x/"):
            with pytest.raises(ToolError):
                ours.call({"command": "create", "path": path, "file_text": "x"})
        with pytest.raises(ToolError, match="into itself"):
            ours.call({"command": "rename", "old_path": "/memories/a", "new_path": "/memories/a/c"})

    def test_files_outlive_the_process_and_are_recalled(self, tmp_path: Path) -> None:
        with RemembrancerMemoryTool(tmp_path, embedder="hash:64") as tool:
            command = {"path": "/memories/a.md", "file_text": "The skipper sails on Tuesdays."}
            tool.call({"command": "create", **command})
        with remembrancer.open(tmp_path, embedder="hash:64") as memory:
            tool = RemembrancerMemoryTool(memory)
            assert "Tuesdays" in str(tool.call({"command": "view", "path": "/memories/a.md"}))
            assert len(memory.recall("skipper", bank="anthropic-memory")) == 1
            tool.clear_all_memory()
            assert len(memory.recall("skipper", bank="anthropic-memory")) == 0

    def test_no_edit_is_lost_between_threads(self, ours: RemembrancerMemoryTool) -> None:
        ours.call({"command": "create", "path": "/memories/n.md", "file_text": ""})

        def insert(name: str) -> None:
            for turn in range(4):
                line = {"insert_line": 0, "insert_text": f"{name}{turn}"}
                ours.call({"command": "insert", "path": "/memories/n.md", **line})

        threads = [threading.Thread(target=insert, args=(name,)) for name in "abc"]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        shown = str(ours.call({"command": "view", "path": "/memories/n.md"}))
        assert all(f"{name}{turn}" in shown for name in "abc" for turn in range(4))

    def test_too_much_for_one_file_is_refused(self, ours: RemembrancerMemoryTool) -> None:
        text = "x" * 250_001
        with pytest.raises(ToolError, match="use more files"):
            ours.call({"command": "create", "path": "/memories/a.md", "file_text": text})

    def test_the_async_tool_does_the_same(self, tmp_path: Path) -> None:
        tool = AsyncRemembrancerMemoryTool(tmp_path, embedder="hash:64")

        async def use() -> None:
            given = {"path": "/memories/a.md", "file_text": "x"}
            await tool.call({"command": "create", **given})
            assert "x" in str(await tool.call({"command": "view", "path": "/memories/a.md"}))
            with pytest.raises(ToolError, match="already exists"):
                await tool.call({"command": "create", **given})

        asyncio.run(use())
        tool.close()
