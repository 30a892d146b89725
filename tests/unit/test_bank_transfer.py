"""Banks out and in again without loss, imports that are run twice, and erasure with a receipt."""

from __future__ import annotations

import io
import json
import zipfile
from pathlib import Path

import pytest
from retain_kit import LINES, NOW, REF, item, opened, talk

from remembrancer.app import App
from remembrancer.keeping.batch import Batch, EntityChange
from remembrancer.nouns.clock import FixedClock
from remembrancer.nouns.errors import Conflict, InvalidInput, NotFound, TooLarge
from remembrancer.nouns.intention import TriggerType
from remembrancer.nouns.memory import BankRef, Document, UnitRow
from remembrancer.reading.importing.detect import Format
from remembrancer.verbs.curate import Edit
from remembrancer.verbs.erase import Erase
from remembrancer.verbs.reminding.reminders import Reminder
from remembrancer.verbs.transferring import given
from remembrancer.verbs.transferring.bank_in import BankIn
from remembrancer.verbs.transferring.bank_out import BankOut
from remembrancer.verbs.transferring.readable import Names, Readable, coded, fenced
from remembrancer.verbs.transferring.report import Report
from remembrancer.verbs.transferring.spelling import read, spell
from remembrancer.verbs.transferring.take import Take

OTHER = BankRef("default", "other")


async def fill(app: App) -> None:
    """A bank with all that a bank can hold."""
    await app.retain(REF, [item(talk(*LINES[:40]), "talk", tags=("trips",))])
    letter = "Ann lives in Oslo. Ann lives in Bergen now. Otto Brandt is the landlord of Ann."
    await app.retain(REF, [item(letter, "letter", note="a letter", metadata={"from": "Ann"})])
    await app.memories.remember(REF, "Ben keeps bees on the roof", importance=0.9)
    otto = await app.entities.which(REF, "Otto Brandt")
    await app.store.apply(REF, Batch(entity_edits=[EntityChange(otto, add=["the landlord"])]))
    async with app.store.snapshot(REF) as view:
        document = await view.document("talk")
        assert document is not None
        [first, *_] = await view.sources_of(document.id)
    await app.curate(REF, first.id, Edit(invalid=True, reason="not so"))
    await app.remind(
        REF,
        [
            Reminder("water the plants", TriggerType.TIME, trigger_at=NOW + 5_000_000),
            Reminder("praise Otto Brandt", TriggerType.EVENT, trigger_event="rent"),
            Reminder("ask for honey", TriggerType.CONTEXT, cue_text="bees and honey"),
        ],
    )
    assert isinstance(app.clock, FixedClock)
    app.clock.us = NOW + 6_000_000
    assert len((await app.check(REF)).due) == 1
    await app.store.bank_change(REF, lambda profile: {**profile, "name": "Ann's"})


async def written(app: App, ref: BankRef = REF) -> str:
    out = BankOut(app.store, clock=app.clock, language=app.settings.language)
    return "".join([line async for line in out(ref)])


def body(export: str) -> list[str]:
    return export.splitlines()[1:]


async def load(app: App, export: str, ref: BankRef = REF) -> None:
    await BankIn(app.store)(ref, io.BytesIO(export.encode()))


async def answers(app: App, ref: BankRef) -> list[list[tuple[bytes, str, float]]]:
    told = []
    for number in range(100):
        line = LINES[number % len(LINES)].split()
        question = " ".join(line[number % 3 : 6 + number % 5])
        found = await app.recall(ref, question)
        told.append([(a.unit.id, a.unit.text, a.score) for a in found.answers])
    return told


async def test_a_bank_comes_back_without_loss(tmp_path: Path) -> None:
    async with opened(tmp_path / "a") as app:
        await fill(app)
        export = await written(app)
        expected = await answers(app, REF)
    async with opened(tmp_path / "b") as app:
        await load(app, export, OTHER)
        assert body(await written(app, OTHER)) == body(export)
        assert await answers(app, OTHER) == expected
        await load(app, export, OTHER)  # once more: everything is there
        due = await app.store.offers(OTHER)
        counts = (await app.store.bank(OTHER), len(due))
        assert counts[1] == 1
        assert counts[0] is not None
        assert counts[0].document_count == 2
        assert json.loads(body(export)[-1])["lines"] == len(body(export)) - 1
        with pytest.raises(Conflict, match="other"):
            await load(app, export, REF)
        assert await app.store.bank(REF) is None


async def test_an_empty_bank_comes_back_with_its_profile(tmp_path: Path) -> None:
    async with opened(tmp_path / "a") as app:
        await app.store.bank_change(REF, lambda _: {"name": "Ann's"})
        export = await written(app)
    async with opened(tmp_path / "b") as app:
        await load(app, export)
        bank = await app.store.bank(REF)
        assert bank is not None
        assert bank.profile == {"name": "Ann's"}


async def test_single_documents_come_back(tmp_path: Path) -> None:
    async with opened(tmp_path / "a") as app:
        await fill(app)
        out = BankOut(app.store, clock=app.clock, language="english")
        export = "".join([line async for line in out(REF, documents=["letter"])])
        with pytest.raises(NotFound):
            [line async for line in out(REF, documents=["nothing"])]
    async with opened(tmp_path / "b") as app:
        await load(app, export)
        bank = await app.store.bank(REF)
        assert bank is not None
        assert bank.document_count == 1
        assert "landlord" in (await app.entities.find(REF, "Otto Brandt")).aliases[0]


async def test_vectors_of_another_embedder_are_left_to_this_one(tmp_path: Path) -> None:
    async with opened(tmp_path / "a") as app:
        await app.retain(REF, [item(talk(*LINES[:3]), "talk")])
        export = await written(app)
    async with opened(tmp_path / "b", embedder="hash:32") as app:
        await load(app, export)
        assert await app.store.generation_pending_count(1) == 3
        [best, *_] = (await app.recall(REF, "moved to Lisbon with my sister")).answers
        assert "sister" in best.unit.text


@pytest.mark.parametrize("harm", ["cut", "changed", "other"])
async def test_an_export_that_is_not_whole_changes_nothing(tmp_path: Path, harm: str) -> None:
    async with opened(tmp_path) as app:
        await app.retain(REF, [item("Ann moved to Oslo.", "d")])
        export = await written(app)
        if harm == "cut":
            export = "".join(export.splitlines(keepends=True)[:-1])
        elif harm == "changed":
            export = export.replace("moved to Oslo", "moved to Rome")
        else:
            export = export.replace('"version":1', '"version":99', 1)
        with pytest.raises(InvalidInput):
            await load(app, export, OTHER)
        assert await app.store.bank(OTHER) is None


def test_what_is_read_is_checked() -> None:
    document = Document(b"i" * 16, "name", "hash", 1, 2, 3, ("a",), {"k": "v"}, {"n": [1]})
    assert read(Document, json.loads(json.dumps(spell(document)))) == document
    for wrong in ({"id": 5}, {"id": "zz"}, {"nothing": 1}, {"tags": "a"}, {"metadata": {"k": 1}}):
        with pytest.raises(ValueError, match=r"."):
            read(Document, {**spell(document), **wrong})
    with pytest.raises(ValueError, match="lacks"):
        read(UnitRow, {})


async def take(app: App, path: Path, **more: object) -> Report:
    return await Take(app.store, app.retain, app.calendars)(REF, path, **more)  # type: ignore[arg-type]


async def test_an_import_run_twice_takes_nothing_twice(tmp_path: Path) -> None:
    vault = tmp_path / "vault"
    (vault / ".obsidian").mkdir(parents=True)
    (vault / ".obsidian" / "app.json").write_text("{}")
    (vault / "boat.md").write_text("The boat of [[Ann]] is called Heron.")
    (vault / "rope.md").write_text("Ropes lie in the shed.")
    (vault / "log.csv").write_text("id,text\n1,The mast is new\n2,The sail is red\n1,Again\n")
    (vault / "todo.ics").write_text(
        "BEGIN:VCALENDAR\nBEGIN:VTODO\nUID:x\nSUMMARY:Paint the hull\n"
        "DTSTART:20260701T090000Z\nEND:VTODO\nEND:VCALENDAR\n"
    )
    (vault / "photo.png").write_bytes(b"\x89PNG")
    (vault / "away.md").symlink_to("/etc/hostname")
    async with opened(tmp_path / "data") as app:
        trial = await take(app, vault, dry_run=True)
        assert (trial.documents, trial.intentions) == (4, 1)
        assert await app.store.bank(REF) is None
        first = await take(app, vault, tags=("boat",))
        assert (first.documents, first.unchanged, first.intentions) == (4, 0, 1)
        assert first.reasons == {
            "a link, or no plain file: not followed": 1,
            "a second document of that name": 1,
            "of no format that is known here": 1,
        }
        again = await take(app, vault, tags=("boat",))
        assert (again.documents, again.unchanged, again.intentions_there) == (0, 4, 1)
        (vault / "rope.md").write_text("Ropes lie in the attic.")
        changed = await take(app, vault, tags=("boat",))
        assert (changed.replaced, changed.unchanged) == (1, 3)
        [best, *_] = (await app.recall(REF, "ropes attic")).answers
        assert best.unit.tags == ("boat",)


async def test_an_import_that_was_stopped_goes_on_where_it_was(tmp_path: Path) -> None:
    lines = [json.dumps({"id": n, "content": f"Lamp {n} is lit."}) for n in range(40)]
    (tmp_path / "lamps.jsonl").write_text("\n".join(lines))

    def stop(seen: int, where: str) -> None:
        if seen == 21:
            raise KeyboardInterrupt(where)

    async with opened(tmp_path / "data") as app:
        with pytest.raises(KeyboardInterrupt):
            await take(app, tmp_path / "lamps.jsonl", progress=stop)
        report = await take(app, tmp_path / "lamps.jsonl")
        assert (report.documents, report.unchanged) == (19, 21)


async def test_what_was_forgotten_does_not_come_back_by_itself(tmp_path: Path) -> None:
    (tmp_path / "n.md").write_text("Ann: I sold the boat.\nBen: I bought a kite.\n")
    async with opened(tmp_path / "data") as app:
        await take(app, tmp_path / "n.md")
        [best, *_] = (await app.recall(REF, "bought a kite")).answers
        await app.forget(REF, unit_ids=[best.unit.id])
        left = await take(app, tmp_path / "n.md")
        assert (left.replaced, left.left_count) == (0, 1)
        assert (await take(app, tmp_path / "n.md", anew=True)).replaced == 1


async def test_a_document_that_was_forgotten_whole_does_not_come_back_either(
    tmp_path: Path,
) -> None:
    texts = ["Ben Ode lives in Oslo.", "Ann keeps bees.", "Ann has a kite."]
    lines = [json.dumps({"id": n, "content": text}) for n, text in enumerate(texts)]
    (tmp_path / "all.jsonl").write_text("\n".join(lines))
    async with opened(tmp_path / "data") as app:
        await take(app, tmp_path / "all.jsonl")
        found = (await app.recall(REF, "Ben Ode lives in Oslo.")).answers
        [ben] = [a.unit.id for a in found if "Ben" in a.unit.text]
        await app.forget(REF, unit_ids=[ben])
        await app.forget(REF, documents=["all.jsonl/1"])
        again = await take(app, tmp_path / "all.jsonl")
        assert (again.documents, again.unchanged, again.left_count) == (0, 1, 2)
        assert (await take(app, tmp_path / "all.jsonl", anew=True)).documents == 2
        assert (await take(app, tmp_path / "all.jsonl")).unchanged == 3


async def test_a_document_of_the_same_name_with_other_contents_is_told(tmp_path: Path) -> None:
    async with opened(tmp_path / "a") as app:
        await app.retain(REF, [item("Ann moved to Oslo.", "d")])
        (tmp_path / "b.jsonl").write_text(await written(app))
        same = await take(app, tmp_path / "b.jsonl")
        assert (same.unchanged, same.left_count) == (1, 0)
    async with opened(tmp_path / "b") as app:
        await app.retain(REF, [item("Ben moved to Rome.", "d")])
        report = await take(app, tmp_path / "b.jsonl")
        assert (report.documents, report.unchanged, report.left_count) == (0, 0, 1)
        assert "forget it first" in report.left[0].why


async def test_exports_are_recognised_when_they_are_imported(tmp_path: Path) -> None:
    async with opened(tmp_path / "a") as app:
        await app.retain(REF, [item("Ann moved to Oslo.", "d")])
        (tmp_path / "b.jsonl").write_text(await written(app))
    async with opened(tmp_path / "b") as app:
        report = await take(app, tmp_path / "b.jsonl", as_named=True)
        assert report.formats == {"bank": 1}
        assert report.documents == 1
        with pytest.raises(NotFound):
            await take(app, tmp_path / "nothing")


def bomb(path: Path, name: str, data: bytes, *, link: bool = False) -> None:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as opened_zip:
        info = zipfile.ZipInfo(name)
        info.compress_type = zipfile.ZIP_DEFLATED
        if link:
            info.external_attr = 0o120777 << 16
        opened_zip.writestr(info, data)
        opened_zip.writestr("fine.md", "A fine note.")


@pytest.mark.parametrize(
    ("name", "data", "why"),
    [
        ("../../evil.md", b"x", "a path that leads out of the archive"),
        ("/etc/evil.md", b"x", "a path that leads out of the archive"),
        ("C:/evil.md", b"x", "a path that leads out of the archive"),
        ("bomb.md", b"a" * 20_000_000, "it unpacks to more than 200 times its size"),
        ("link.md", b"/etc/hostname", "a link: not followed"),
    ],
)
async def test_of_a_zip_file_only_what_is_safe_is_read(
    tmp_path: Path, name: str, data: bytes, why: str
) -> None:
    bomb(tmp_path / "a.zip", name, data, link=name == "link.md")
    async with opened(tmp_path / "data") as app:
        report = await take(app, tmp_path / "a.zip")
    assert dict(report.reasons) == {why: 1}
    assert report.documents == 1


async def test_a_zip_file_may_not_unpack_to_more_than_it_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bomb(tmp_path / "a.zip", "long.md", b"words and more words " * 1_000)
    monkeypatch.setattr(given, "MAX_UNPACKED", 1_000)
    async with opened(tmp_path / "data") as app:
        with pytest.raises(TooLarge, match="unpacks"):
            await take(app, tmp_path / "a.zip")


@pytest.mark.parametrize("text", ["plain", "a ``` b", "`````\n# Not a heading\n`````", "`", "~~~"])
def test_no_text_breaks_out_of_its_block(text: str) -> None:
    lines = fenced(text).splitlines()
    fence = lines[0].removesuffix("text")
    assert lines[-1] == fence
    assert "\n".join(lines[1:-1]) == text
    assert all(fence not in line for line in lines[1:-1])
    line = coded(text + "\n# more")
    run = line[: len(line) - len(line.lstrip("`"))]
    assert "\n" not in line
    assert line.endswith(run)
    assert run not in line[len(run) : -len(run)]


def test_names_of_files_lead_nowhere() -> None:
    names = Names()
    made = [names(n) for n in ("../../x", "a/b", "A_b", "", "..", "con", "é" * 200, "[[x]]|#^")]
    assert made == ["_.._x".lstrip("."), "a_b", "A_b 2", "_", "_ 2", "_con", "é" * 60, "_x_"]


async def test_a_bank_is_readable(tmp_path: Path) -> None:
    async with opened(tmp_path) as app:
        await fill(app)
        text = "".join([part async for part in Readable(app.store).markdown(REF)])
        assert "## `letter`" in text
        assert "`Ben keeps bees on the roof`" in text
        notes = {note.path: note.text async for note in Readable(app.store).obsidian(REF)}
    assert "the landlord" in notes["Entities/Otto Brandt.md"]
    assert "[[Entities/Otto Brandt|Otto Brandt]]" in notes["Documents/letter.md"]


async def test_a_person_is_exported_and_erased(tmp_path: Path) -> None:
    async with opened(tmp_path / "data") as app:
        await fill(app)
        otto = await app.entities.which(REF, "Otto Brandt")
        out = BankOut(app.store, clock=app.clock, language="english")
        export = "".join([line async for line in out.person(REF, otto)])
        assert "landlord of Ann" in export
        assert "bees" not in export
        await load(app, export)  # all there: nothing changes
        async with opened(tmp_path / "other") as other:
            await load(other, export)
            [best, *_] = (await other.recall(REF, "who is the landlord of Ann")).answers
            assert "Otto Brandt" in best.unit.text
        erase = Erase(app.store, app.forget, app.banks, app.remind, clock=app.clock)
        done = await erase.person(REF, otto)
        assert done.unit_count >= 1
        assert len(done.intentions) == 1
        assert done.remaining == 0
        assert "Otto" not in await written(app)
        with pytest.raises(NotFound):
            await erase.person(REF, otto)
        whole = await erase.bank(REF)
        assert whole.whole
        assert whole.unit_count > 40
        assert await app.store.bank(REF) is None


async def test_an_archive_of_documents_is_taken(tmp_path: Path) -> None:
    from remembrancer.verbs.transferring.archive import Buffer, Packed, Writer

    buffer = Buffer()
    writer = Writer(buffer, "bank", NOW)
    writer.add(Packed("d", (item("Ann moved to Oslo."),)))
    writer.close()
    (tmp_path / "a.zip").write_bytes(buffer.take(len(buffer)))
    async with opened(tmp_path / "data") as app:
        assert (await take(app, tmp_path / "a.zip")).formats == {Format.ARCHIVE.value: 1}
        assert (await take(app, tmp_path / "a.zip")).unchanged == 1
