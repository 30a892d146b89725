"""With encryption on, no word of what was told stands in any file; a tenant's key erases it all."""

from __future__ import annotations

import asyncio
import json
import shutil
import sqlite3
import sys
from collections.abc import Awaitable, Callable
from contextlib import closing
from pathlib import Path

import pytest
from typer.testing import CliRunner

from remembrancer.app import App
from remembrancer.faces.cli import main
from remembrancer.finding import compaction
from remembrancer.keeping.key_text import new_key
from remembrancer.keeping.opening import rewrap_store, seal_store
from remembrancer.keeping.sealing import KeyErased
from remembrancer.nouns.caller import Caller
from remembrancer.nouns.errors import Corrupt, InvalidInput, NotFound, StoreError
from remembrancer.nouns.intention import TriggerType
from remembrancer.nouns.memory import BankRef
from remembrancer.settings import Settings
from remembrancer.verbs.curate import Edit
from remembrancer.verbs.erase import Erase
from remembrancer.verbs.remind import Reminder
from remembrancer.verbs.reminding.events import NewEvent
from remembrancer.verbs.retaining.units import Item
from remembrancer.verbs.revise import Revision

REF = BankRef("default", "kim")
OTHER = BankRef("acme", "kim")

TOLD = """Imogen: My sister Philippa moved to Trondheim last Friday.
Benedikt: Does Philippa like the lighthouse there?
Imogen: She adores it. I work as a cartographer at Vellum. Remind me to water the orchids tomorrow.
Benedikt: I dislike marzipan."""
WORDS = """imogen philippa trondheim benedikt lighthouse adores cartographer vellum orchids marzipan
backgammon saxophone regatta thimble umbrella wainscot zeppelin juniper kayak lavender mandolin
nectarine obelisk paprika quartz rhubarb""".split()
# Each is told somewhere below; names of documents, tags and ids are no texts.


def settings_of(folder: Path, key: str | None) -> Settings:
    return Settings(data=folder, embedder="hash:64", encryption_key=key, worker=False)


def with_app(folder: Path, key: str | None, work: Callable[[App], Awaitable[None]]) -> None:
    async def main() -> None:
        app = await App.open(settings_of(folder, key), background=False)
        try:
            await work(app)
        finally:
            await app.close()

    asyncio.run(main())


async def tell_everything(app: App) -> None:
    """Tell a text to each part of the house that keeps any."""
    item = Item(TOLD, document="d1", note="while playing backgammon", metadata={"topic": "regatta"})
    await app.retain(REF, [item])
    await app.retain(OTHER, [Item("Somebody plays the saxophone.", document="d2")])
    await app.queued.enqueue(REF, [Item("The thimble is in the drawer.", document="d3")])
    unit = await app.memories.remember(
        REF, "My umbrella is broken.", attributes={"why": "wainscot"}
    )
    await app.memories.revise(Caller(), unit.id, Revision(content="The zeppelin is broken."))
    await app.curate(REF, unit.id, Edit(text="The juniper is broken.", reason="a kayak told so"))
    await app.remind(
        REF,
        [
            Reminder("Bring lavender", TriggerType.EVENT, trigger_event="mandolin played"),
            Reminder("Buy a nectarine", TriggerType.CONTEXT, cue_text="an obelisk is mentioned"),
        ],
    )
    await app.events(REF, [NewEvent("mandolin played", data={"spice": "paprika"})])
    await app.directives.create(REF, "tone", "Never mention quartz.")
    await app.sessions.add(REF, "s", [{"role": "user", "content": "rhubarb, please"}])
    await app.banks.update(REF, updates={"reflect_mission": "Look after Imogen"})


def words_in(folder: Path) -> dict[str, list[str]]:
    """Return which of the words stand in which files."""
    found: dict[str, list[str]] = {}
    for path in sorted(p for p in folder.rglob("*") if p.is_file()):
        held = path.read_bytes().lower()
        for word in WORDS:
            if word.encode() in held:
                found.setdefault(path.name, []).append(word)
    return found


def segments_in(folder: Path) -> list[Path]:
    return list(folder.rglob("*.seg"))


async def compacted(app: App) -> None:
    async with app.store.snapshot(REF) as view:
        assert await app.indexes.compact(REF, view)


async def in_segments(app: App) -> bool:
    """Whether the index came out of sealed files, rather than of rows."""
    async with app.store.snapshot(REF) as view:
        state = await app.indexes.state_for(REF, view)
        return state is not None and state.segments == len(state.parts) > 0 and state.in_memory


async def recalled(app: App, question: str) -> list[str]:
    return [answer.unit.text for answer in (await app.recall(REF, question)).answers]


@pytest.fixture
def segments(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the smallest index go to files."""
    monkeypatch.setattr(compaction, "TAIL_ROWS", 0)
    monkeypatch.setattr(compaction, "TAIL_SHARE", 0.0)


@pytest.mark.usefixtures("segments")
def test_no_word_of_the_texts_is_in_any_file(tmp_path: Path) -> None:
    key = new_key()

    async def work(app: App) -> None:
        await tell_everything(app)
        await compacted(app)
        assert segments_in(tmp_path)
        assert words_in(tmp_path) == {}, "while it is open"

    with_app(tmp_path, key, work)
    assert words_in(tmp_path) == {}

    async def again(app: App) -> None:
        assert await in_segments(app)
        assert any("Trondheim" in text for text in await recalled(app, "Where is Philippa?"))
        await app.worker.drain()
        assert any("thimble" in text for text in await recalled(app, "Where is the thimble?"))

    with_app(tmp_path, key, again)
    assert words_in(tmp_path) == {}


@pytest.mark.usefixtures("segments")
def test_a_plain_store_is_sealed_and_wiped(tmp_path: Path) -> None:
    plain, key = tmp_path / "plain", new_key()

    async def before(app: App) -> None:
        await tell_everything(app)
        await compacted(app)

    with_app(plain, None, before)
    there = {word for words in words_in(plain).values() for word in words}
    assert there == set(WORDS), "each word is kept by something"

    async def between(app: App) -> None:
        await app.retain(REF, [Item("Imogen took up the oboe.", document="d4")])
        assert any("oboe" in text for text in await recalled(app, "What did Imogen take up?"))
        assert any("marzipan" in text for text in await recalled(app, "Who dislikes marzipan?"))

    with_app(plain, key, between)
    assert b"oboe" not in (plain / "memory.db").read_bytes()
    told: list[tuple[int, int]] = []
    assert asyncio.run(seal_store(settings_of(plain, key), lambda *at: told.append(at))) > 20
    assert told[-1][0] == told[-1][1] > 20
    assert words_in(plain) == {}
    assert asyncio.run(seal_store(settings_of(plain, key))) == 0

    async def after(app: App) -> None:
        assert any("marzipan" in text for text in await recalled(app, "Who dislikes marzipan?"))
        async with app.store.snapshot(REF) as view:
            assert [e.name for e in await view.entities(containing="philip")] == ["Philippa"]

    with_app(plain, key, after)


def test_a_tenant_goes_with_its_key(tmp_path: Path) -> None:
    """Whoever copied the files before has the rows, but nothing that opens them."""
    folder, copy, key = tmp_path / "data", tmp_path / "copy", new_key()

    async def work(app: App) -> None:
        await tell_everything(app)
        await app.store.sweep(app.clock.now_us())
        shutil.copytree(folder, copy)
        erase = Erase(app.store, app.forget, app.banks, app.remind, clock=app.clock)
        done = await erase.tenant("acme")
        assert done.whole
        assert done.unit_count >= 1
        assert await app.store.bank(OTHER) is None
        assert any("Trondheim" in text for text in await recalled(app, "Where is Philippa?"))
        with pytest.raises(NotFound):
            await erase.tenant("acme")
        await app.retain(OTHER, [Item("A new beginning.", document="d9")])

        await app.store.sweep(app.clock.now_us())

    with_app(folder, key, work)
    with closing(sqlite3.connect(folder / "memory.db")) as left:
        kept = left.execute("SELECT tenant, key_id, wrapped FROM tenant_key").fetchall()
    with closing(sqlite3.connect(copy / "memory.db")) as old, old:
        before = {row[0]: row[1:] for row in old.execute("SELECT * FROM tenant_key")}
        assert before["acme"][0] not in [key_id for _, key_id, _ in kept]
        assert before["acme"][1] not in (folder / "memory.db").read_bytes()
        assert before["default"][1] in (folder / "memory.db").read_bytes()
        old.execute("DELETE FROM tenant_key")
        old.executemany("INSERT INTO tenant_key VALUES (?, ?, ?)", kept)

    async def with_the_keys_of_today(app: App) -> None:
        assert any("Trondheim" in text for text in await recalled(app, "Where is Philippa?"))
        async with app.store.snapshot(OTHER) as view:
            with pytest.raises(KeyErased):
                await view.newest(10)

    with_app(copy, key, with_the_keys_of_today)


def test_a_wrong_key_is_refused_at_once(tmp_path: Path) -> None:
    old, new, strange = new_key(), new_key(), new_key()

    async def work(app: App) -> None:
        await app.retain(REF, [Item("The thimble is in the drawer.", document="d")])

    async def look(app: App) -> None:
        assert await recalled(app, "thimble")

    with_app(tmp_path, old, work)
    for wrong, says in ((None, "is sealed"), (strange, "another encryption key")):
        with pytest.raises(StoreError, match=says):
            with_app(tmp_path, wrong, look)
    with pytest.raises(StoreError, match="another encryption key"):
        asyncio.run(rewrap_store(settings_of(tmp_path, new)))
    both = f"{new},{old}"
    with_app(tmp_path, both, look)
    assert asyncio.run(rewrap_store(settings_of(tmp_path, both))) == 2  # the house and `default`
    assert asyncio.run(rewrap_store(settings_of(tmp_path, both))) == 0
    with_app(tmp_path, new, look)
    with pytest.raises(StoreError, match="another encryption key"):
        with_app(tmp_path, old, look)


def test_a_key_is_checked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for wrong in ("short", "", f"{new_key()},short", new_key()[:-4]):
        with pytest.raises(InvalidInput, match="32 bytes in base64") as caught:
            with_app(tmp_path, wrong, lambda _: asyncio.sleep(0))
        assert not wrong or wrong not in caught.value.message
    held = tmp_path / "key"
    held.write_text(f"{new_key()}\n")
    settings = Settings(data=tmp_path / "data", encryption_key_file=held, encryption_key=new_key())
    with pytest.raises(InvalidInput, match="not both"):
        asyncio.run(App.open(settings))
    missing = Settings(data=tmp_path / "data", encryption_key_file=tmp_path / "none")
    with pytest.raises(InvalidInput, match="cannot be read"):
        asyncio.run(App.open(missing))
    good = Settings(data=tmp_path / "data", encryption_key_file=held, embedder="none")

    async def opened() -> bool:
        app = await App.open(good, background=False)
        await app.close()
        return app.store.seals

    assert asyncio.run(opened())
    with monkeypatch.context() as without:
        without.setitem(sys.modules, "remembrancer.keeping.aes", None)
        with pytest.raises(InvalidInput, match=r"pip install 'remembrancer\[encryption\]'"):
            asyncio.run(opened())
    assert held.read_text().strip() not in repr(settings_of(tmp_path, held.read_text()))


def test_a_value_opens_only_where_it_was_written(tmp_path: Path) -> None:
    key = new_key()

    async def work(app: App) -> None:
        for ref in (REF, OTHER, BankRef("default", "lee")):
            item = Item("The thimble is in the drawer.", document="d", note="a note")
            await app.retain(ref, [item])

    with_app(tmp_path, key, work)
    path = tmp_path / "memory.db"

    def swapped(change: str) -> None:
        kept = path.read_bytes()
        with closing(sqlite3.connect(path)) as db, db:
            db.create_function("fold_name", 1, str)
            assert db.execute(change, {"key": REF.key, "other": OTHER.key}).rowcount > 0

        async def look(app: App) -> None:
            async with app.store.snapshot(REF) as view:
                with pytest.raises(Corrupt, match="does not open"):
                    await view.newest(10)

        with_app(tmp_path, key, look)
        for log in tmp_path.glob("memory.db-*"):
            log.unlink()
        path.write_bytes(kept)

    elsewhere = (
        "UPDATE unit SET text = (SELECT text FROM unit WHERE bank_key = {}) WHERE bank_key = :key"
    )
    lee = BankRef("default", "lee").key
    swapped("UPDATE unit SET text = note, note = text WHERE bank_key = :key")
    swapped(elsewhere.format(":other"))  # of another tenant
    swapped(elsewhere.format(lee))  # of another bank
    swapped(
        "UPDATE unit SET text = substr(text, 1, 60) || "
        "CASE substr(text, 61, 1) WHEN 'A' THEN 'B' ELSE 'A' END || substr(text, 62) "
        "WHERE bank_key = :key"
    )


def test_the_commands_make_change_and_erase(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, held = tmp_path / "data", tmp_path / "key"

    def told(*arguments: str) -> str:
        done = CliRunner().invoke(main.app, [*arguments], prog_name="remembrancer")
        assert done.exit_code == 0, done.output
        return done.stdout

    async def work(app: App) -> None:
        await app.retain(OTHER, [Item("The thimble is in the drawer.", document="d")])

    with_app(folder, None, work)
    old = told("encryption-key")
    held.write_text(old)
    monkeypatch.setenv("REMEMBRANCER_ENCRYPTION_KEY_FILE", str(held))
    assert json.loads(told("encrypt", "--json", "--data", str(folder)))["sealed"] > 3
    held.write_text(told("encryption-key") + old)
    assert json.loads(told("rotate-key", "--json", "--data", str(folder))) == {"rewrapped": 2}
    monkeypatch.setenv("REMEMBRANCER_EMBEDDER", "none")
    gone = told("forget", "--tenant", "acme", "--yes", "--json", "--data", str(folder))
    receipt = json.loads(gone)
    assert (receipt["tenant"], receipt["whole"], receipt["swept"]) == ("acme", True, True)
    assert receipt["erased_count"] >= 1
    again = ["forget", "--tenant", "acme", "--yes", "--data", str(folder)]
    assert CliRunner().invoke(main.app, again, prog_name="remembrancer").exit_code == 1
