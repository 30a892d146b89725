"""What only the PostgreSQL store promises: parallel writers, lost connections, copies, upkeep."""

from __future__ import annotations

import asyncio
import json
import re
import threading

import psycopg
import pytest
from contract_kit import NOW, ids_of
from psycopg.conninfo import make_conninfo
from psycopg.pq import Trace

from remembrancer.keeping.batch import Batch
from remembrancer.keeping.postgres import PostgresStore
from remembrancer.keeping.postgres.folding import folded
from remembrancer.keeping.postgres.migrate import scripts
from remembrancer.keeping.postgres.place import Place
from remembrancer.keeping.postgres.spread import TABLES
from remembrancer.keeping.queries import Queries
from remembrancer.keeping.relational import generations
from remembrancer.nouns.errors import (
    Corrupt,
    InvalidInput,
    StoreBusy,
    StoreError,
    StoreTooNew,
    StoreUnreachable,
)
from remembrancer.nouns.memory import BankRef


@pytest.fixture
def sql(space):
    """Run a statement beside the store, and return its rows."""

    def run(statement, *params):
        where = make_conninfo(space.url, application_name="beside")
        with psycopg.connect(where, autocommit=True) as connection:
            connection.execute(f"SET search_path = {space.schema}")
            cursor = connection.execute(statement, params)
            return cursor.fetchall() if cursor.description else []

    return run


@pytest.fixture
def bare(postgres, clock):
    """Make a store in a space that has no tables yet; each call opens the same one."""
    empty = postgres.make()
    yield lambda: PostgresStore(empty.url, clock=clock, schema=empty.schema)
    postgres.drop(empty)


@pytest.fixture
def cut(sql, space):
    """Cut the connections of the store, as a server that restarts does."""
    return lambda: sql(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
        " WHERE application_name = %s AND pid <> pg_backend_pid()",
        space.schema,
    )


async def test_health_names_the_place_but_no_password(store, space, clock, ref, make):
    await store.apply(ref, Batch(units=make.rows(50)))
    health = await store.health()
    assert health["ok"] is True
    assert health["engine"].startswith("postgresql ")
    assert health["schema"] == len(scripts())
    assert health["size_bytes"] > 1_000_000
    secret = Place("postgresql://me:hush@db.example:5433/memory?sslmode=require")
    assert secret.shown == "postgresql://me@db.example:5433/memory"
    assert "hush" not in repr(secret)


async def test_many_may_make_the_tables_at_once(bare, ref, make, check):
    stores = [bare() for _ in range(4)]
    assert (await stores[0].schema())[0] in (0, len(scripts()))
    await asyncio.gather(*(store.open() for store in stores))
    assert await stores[0].schema() == (len(scripts()), len(scripts()))
    assert len({store.identity for store in stores}) == 1
    await asyncio.gather(*(s.generation_begin({"model": "m", "dim": 8}) for s in stores))
    assert len(await stores[1].generations()) == 1
    await asyncio.gather(*(s.apply(ref, Batch(units=[make.row()])) for s in stores))
    assert (await stores[0].bank(ref)).revision == 4
    await check(stores[2], ref)
    for store in stores:
        await store.close()


async def test_each_database_has_an_identity_of_its_own(store, bare):
    other = bare()
    await other.open()
    assert len(store.identity) == len(other.identity) == 16
    assert store.identity != other.identity
    await other.close()


async def test_a_newer_schema_is_refused_untouched(store, make_store, sql):
    sql("UPDATE meta SET value = 999 WHERE name = 'schema'")
    with pytest.raises(StoreTooNew, match="999"):
        await make_store().open()
    assert sql("SELECT value FROM meta WHERE name = 'schema'") == [(999,)]


# What undoes a migration, by its number: a store is brought back to what an older version made.
UNDONE = {
    2: "DROP TABLE tenant_key; ALTER TABLE bank DROP COLUMN sealed",
    3: "DROP INDEX claim_by_standing; DROP INDEX claim_by_dispute",
    4: "DROP INDEX unit_by_document; CREATE INDEX unit_by_document ON unit (bank_key, document_id)"
    " WHERE document_id IS NOT NULL",
}


@pytest.mark.parametrize("schema", range(1, len(scripts())))
async def test_every_schema_is_brought_up_to_date_with_all_rows(
    store, make_store, sql, make, ref, check, schema
):
    rows = make.rows(20)
    await store.apply(ref, Batch(units=rows))
    async with store.snapshot(ref) as view:
        before = await view.units(ids_of(rows))
    await store.close()
    tables = sql("SELECT tablename FROM pg_tables WHERE schemaname = current_schema() ORDER BY 1")
    for number in range(len(scripts()), schema, -1):
        sql(UNDONE[number])
    sql("UPDATE meta SET value = %s WHERE name = 'schema'", schema)
    newer = make_store()
    await newer.open()
    assert await newer.schema() == (len(scripts()), len(scripts()))
    found = sql("SELECT tablename FROM pg_tables WHERE schemaname = current_schema() ORDER BY 1")
    assert found == tables
    async with newer.snapshot(ref) as view:
        assert await view.units(ids_of(rows)) == before
        assert len(before) == 20
    await newer.apply(ref, Batch(erase=ids_of(rows)[:1]))
    await check(newer, ref)


async def test_places_that_cannot_be_used(postgres, space, clock):
    def opened(url):
        return PostgresStore(url, clock=clock).open()

    with pytest.raises(StoreUnreachable, match=r"127\.0\.0\.1:1/memory cannot be reached") as one:
        await opened("postgresql://me:hush@127.0.0.1:1/memory")
    assert "hush" not in str(one.value)
    with pytest.raises(InvalidInput, match="does not parse") as two:
        await opened("postgresql://me:hu%sh@db/memory")
    assert "hu%" not in str(two.value)
    missing = make_conninfo(space.url, dbname="none")
    with pytest.raises(StoreError, match="createdb"):
        await opened(missing)
    with pytest.raises(InvalidInput, match="name of a schema"):
        PostgresStore(space.url, clock=clock, schema="a b; DROP TABLE x")


def _round_trips(connection, path, ask):
    """Return how often the client waited for the server while it asked."""
    with path.open("wb") as file:
        connection.pgconn.trace(file.fileno())
        connection.pgconn.set_trace_flags(Trace.SUPPRESS_TIMESTAMPS)
        ask()
        connection.pgconn.untrace()
    sides = [line[0] for line in path.read_text().splitlines()]  # F: sent, B: come back
    return "".join(sides).count("FB")


async def test_a_snapshot_and_what_is_asked_ahead_take_a_round_trip_each(
    store, ref, make, tmp_path
):
    ids = ids_of(rows := make.rows(3))
    await store.apply(ref, Batch(units=rows))

    def look(reader):
        db, found = reader._db, []

        def begin():
            db.begin_snapshot(("bank_state", None, (ref.key,)))

        def read():
            found.extend(reader.recalled(ids))
            found.extend(reader.truths(ids))

        db.end_snapshot()
        trips = [_round_trips(db.connection, tmp_path / "wire", ask) for ask in (begin, read)]
        return trips, len(found)

    for _ in range(3):  # statements are prepared when they are run again
        trips, found = await store.read(ref, look)
    assert (trips, found) == ([1, 1], 3)


async def test_changes_that_nobody_asks_about_go_with_the_next_question(
    store, ref, make, sql, tmp_path
):
    await store.apply(ref, Batch(units=make.rows(1)))

    def write(db, bank):
        db.lock_bank(bank.key, ("bank_state", None, (bank.key,)))

        def ask():
            for number in range(3):
                db.later("bank_profile", [(bank.key, f'{{"told": {number}}}', NOW)])
            db.all("bank_state", bank.key)  # the new one: not what was asked with the lock

        trips = _round_trips(db.connection, tmp_path / "wire", ask)
        db.later("bank_profile", [(bank.key, '{"told": "last"}', NOW)])
        return trips

    for _ in range(3):
        assert await store._write(write, ref) == 1
    assert [(row[0]) for row in sql("SELECT profile FROM bank")] == ['{"told": "last"}']


async def test_lost_connections_are_opened_again(store, cut, ref, make, check):
    await store.apply(ref, Batch(units=make.rows(2)))
    assert (await store.bank(ref)).unit_count == 2
    async with store.snapshot(ref) as view:
        cut()
        with pytest.raises(StoreUnreachable, match="cannot be reached"):
            await view.scan()
        with pytest.raises(StoreUnreachable):  # never another state than the one begun
            await view.scan()
    cut()
    await store.apply(ref, Batch(units=make.rows(2)))
    assert (await store.bank(ref)).unit_count == 4
    async with store.snapshot(ref) as view:
        assert len(await view.scan()) == 4
    await check(store, ref)


async def test_a_transaction_that_lost_its_connection_is_done_once(store, cut, ref, make, check):
    from remembrancer.keeping.relational.apply import apply

    batch, tries = Batch(units=make.rows(3)), []

    def interrupted(db, bank, now):
        done = apply(db, bank, batch, now)
        tries.append(done.revision)
        if len(tries) == 1:
            cut()
            db.value("bank_count", bank.tenant, None)
        return done

    assert (await store._write(interrupted, ref, NOW)).revision == 1
    assert tries == [1, 1]
    await check(store, ref)


async def test_a_commit_nobody_knows_of_is_told_as_such(store, cut, ref, make):
    from remembrancer.keeping.relational.apply import apply

    def cut_at_the_end(db, bank, now):
        done = apply(db, bank, Batch(units=make.rows(3)), now)
        db.value("bank_count", bank.tenant, None)  # nothing waits to be sent before the commit
        cut()
        return done

    with pytest.raises(StoreUnreachable, match="may have been kept or not"):
        await store._write(cut_at_the_end, ref, NOW)
    await store.apply(ref, Batch(units=make.rows(1)))


async def test_what_others_got_in_the_way_of_is_tried_again(store, ref, make):
    banks = [BankRef("acme", name) for name in ("a", "b")]
    for bank in banks:
        await store.apply(bank, Batch(units=make.rows(1)))
    meet = threading.Barrier(2, timeout=10)
    tries = []

    def both(db, first, second):
        db.lock_bank(first.key)
        tries.append(first)
        if len(tries) <= 2:
            meet.wait()
        db.lock_bank(second.key)
        return db.run("bank_profile", first.key, '{"tried":1}', NOW)

    done = await asyncio.gather(store._write(both, *banks), store._write(both, *banks[::-1]))
    assert done == [1, 1]
    assert len(tries) > 2  # one of the two was the victim


async def test_banks_are_written_side_by_side(store, make, space):
    held, free = BankRef("acme", "held"), BankRef("acme", "free")
    for bank in (held, free):
        await store.apply(bank, Batch(units=make.rows(1)))
    with psycopg.connect(space.url) as other:
        other.execute(
            f"SELECT 1 FROM {space.schema}.bank WHERE bank_key = %s FOR UPDATE", [held.key]
        )
        waiting = [
            asyncio.create_task(store.apply(held, Batch(units=make.rows(1)))) for _ in range(9)
        ]
        await asyncio.sleep(0)
        for _ in range(3):
            await store.apply(free, Batch(units=make.rows(1)))
        assert not any(task.done() for task in waiting)
        other.rollback()
    assert sorted([(await task).revision for task in waiting]) == list(range(2, 11))


async def test_a_bank_that_stays_held_is_reported(make_store, space, ref, make):
    store = make_store(lock_timeout_s=0.2)
    await store.open()
    await store.apply(ref, Batch(units=make.rows(1)))
    with psycopg.connect(space.url) as other:
        other.execute(f"SELECT 1 FROM {space.schema}.bank FOR UPDATE")
        both = (store.apply(ref, Batch(units=make.rows(1))) for _ in range(2))
        for result in await asyncio.gather(*both, return_exceptions=True):
            assert isinstance(result, StoreBusy)
            assert result.limit == 0.2
        other.rollback()
    await store.apply(ref, Batch(units=make.rows(1)))
    assert (await store.bank(ref)).revision == 2
    await store.close()


async def test_a_generation_that_a_crash_left_half_begun_is_made_whole(
    store, make_store, ref, make, check
):
    await store.apply(ref, Batch(units=make.rows(3, embedded=True)))
    second = {"model": "second", "dim": 8}
    begun = await store._write(generations.begin, second)  # and the process dies here
    assert await store.generation_pending_count(begun.number) == 0
    other = make_store()
    await other.open()
    assert (await other.generation_begin(second)).number == begun.number
    assert await other.generation_pending_count(begun.number) == 3
    assert not await other.generation_activate(begun.number)
    await other.close()
    await check(store, ref)


async def test_a_change_of_model_leaves_no_vector_of_the_former_one(store, sql, ref, make, check):
    rows = make.rows(3, embedded=True)
    await store.apply(ref, Batch(units=rows))
    second = await store.generation_begin({"model": "second", "dim": 8})
    from remembrancer.keeping.batch import VectorPatch

    patches = [VectorPatch(row.unit.id, make.vector(), None) for row in rows]
    await store.generation_vectors(ref, second.number, patches)
    assert await store.generation_activate(second.number)
    assert sql("SELECT DISTINCT generation FROM vector") == [(second.number,)]
    assert sql("SELECT COUNT(*) FROM pending") == [(0,)]
    assert sql("SELECT value FROM meta WHERE name = 'unsettled'") == [(0,)]
    await check(store, ref)


async def test_a_backup_taken_while_writing_is_whole_and_comes_back(
    store, bare, tmp_path, ref, make, check
):
    await store.apply(ref, make.document("d\t\\N\n", ["one\ttwo", "th\0ree\\"]))
    await store.bank_drop(BankRef("acme", "gone"))
    target = tmp_path / "copies" / "one"
    backup, *_ = await asyncio.gather(
        store.backup(target), *(store.apply(ref, Batch(units=make.rows(5))) for _ in range(10))
    )
    assert backup["path"] == str(target)
    assert backup["bytes"] == sum(file.stat().st_size for file in target.iterdir())
    assert {file.name for file in target.iterdir()} == {
        "manifest.json", *(f"{table}.copy" for table in TABLES)
    }  # fmt: skip
    with pytest.raises(StoreError, match="not empty"):
        await store.backup(target)
    with pytest.raises(StoreError, match="something already"):
        await store.restore(target)

    copy = bare()
    assert (await copy.restore(target))["units"] == backup["units"]
    await copy.open()
    assert copy.identity != store.identity
    bank = await copy.bank(ref)
    assert bank.unit_count == backup["units"] == 2 + 5 * (bank.revision - 1)
    async with copy.snapshot(ref) as there, store.snapshot(ref) as here:
        ids = ids_of(await there.scan())
        assert await there.rows(ids) == await here.rows(ids)
        assert (await there.documents())[0].name == "d\t\\N\n"
    await check(copy, ref)
    await copy.apply(ref, Batch(units=make.rows(1)))
    await copy.close()


async def test_a_backup_removes_what_a_killed_one_left(store, tmp_path, ref, make):
    await store.apply(ref, Batch(units=[make.row("words")]))
    old = tmp_path / "copy.4711.part"
    old.mkdir()
    (old / "unit.copy").write_bytes(b"what was forgotten since")
    await store.backup(tmp_path / "copy")
    assert not old.exists()
    assert not list(tmp_path.glob("*.part"))


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (lambda told: told["tables"].pop("unit"), "names no unit"),
        (lambda told: told.pop("schema"), "does not read"),
        (lambda told: told.update(tables=[]), "does not read"),
        (lambda told: told["tables"]["chunk"].pop("columns"), "does not read"),
    ],
)
async def test_a_copy_whose_manifest_lacks_something_is_refused(
    store, bare, tmp_path, ref, make, change, why
):
    await store.apply(ref, Batch(units=[make.row("words")]))
    await store.backup(tmp_path / "copy")
    manifest = tmp_path / "copy" / "manifest.json"
    told = json.loads(manifest.read_text())
    change(told)
    manifest.write_text(json.dumps(told))
    copy = bare()
    with pytest.raises(Corrupt, match=why):
        await copy.restore(tmp_path / "copy")
    await copy.open()
    assert await copy.banks(ref.tenant) == []
    await copy.close()


async def test_a_damaged_copy_is_refused_and_changes_nothing(store, bare, tmp_path, ref, make):
    await store.apply(ref, Batch(units=[make.row("words")]))
    await store.backup(tmp_path / "copy")
    file = tmp_path / "copy" / "unit.copy"
    file.write_bytes(file.read_bytes().replace(b"words", b"sword"))
    copy = bare()
    with pytest.raises(Corrupt, match=r"unit\.copy"):
        await copy.restore(tmp_path / "copy")
    (tmp_path / "copy" / "manifest.json").write_text("{}")
    with pytest.raises(Corrupt, match=r"manifest\.json"):
        await copy.restore(tmp_path / "copy")
    assert (await copy.schema())[0] == 0
    await copy.open()
    assert await copy.bank(ref) is None
    await copy.close()


async def test_sweeping_gives_space_back(store, sql, ref, make):
    sql("TRUNCATE unit")  # indexes keep the size that the largest test before gave them
    rows = [make.row("".join(make.random.choices("abcdefgh", k=9_000))) for _ in range(100)]
    await store.apply(ref, Batch(units=rows))
    size = "SELECT pg_total_relation_size('unit')"
    [(full,)] = sql(size)
    await store.apply(ref, Batch(erase=ids_of(rows)))
    for _ in range(400):  # a snapshot of anybody in the database holds it up
        await store.sweep(NOW)
        if sql(size)[0][0] < full / 4:
            return
        await asyncio.sleep(0.1)
    holding = sql(
        "SELECT application_name, state, now() - xact_start, query FROM pg_stat_activity"
        " WHERE backend_xmin IS NOT NULL OR backend_xid IS NOT NULL"
    )
    raise AssertionError(f"the space was not given back: {sql(size)} of {full}, held by {holding}")


async def test_case_is_folded_as_in_python_from_version_18_on(store, ref, make):
    from remembrancer.keeping.browse import UnitFilter

    await store.apply(ref, Batch(units=[make.row("Große STRAẞE, ΟΔΌΣ")]))
    for needle in ("grosse", "strasse", "οδός", "große"):
        wanted = UnitFilter(text=needle)
        found = await store.read(ref, lambda reader, w=wanted: reader.browse(w, 9))
        assert found.total == 1
    old = folded({"q": "strpos({folded_text}, $1)"}, 170_004)
    assert old == {"q": 'strpos(lower(t.text COLLATE "default"), $1)'}


async def test_every_query_is_one_the_server_takes(store, sql, space):
    """Without its values: each of them has one type that follows from the query."""
    queries = folded(Queries.load("remembrancer.keeping.postgres"), 180_000)
    with psycopg.connect(space.url) as connection:
        connection.execute(f"SET search_path = {space.schema}")
        for name, text in queries.items():
            if not text.startswith(("SELECT", "WITH", "INSERT", "UPDATE", "DELETE")):
                continue
            if name in ("browse_page", "job_values"):  # parts of others
                continue
            last = max(map(int, re.findall(r"\$(\d+)", text)), default=0)
            ids = f"${last + 1}"
            whole = text.replace("{ids}", ids).replace("{rows}", f"{ids}::bytea[]")
            try:
                connection.execute(f"PREPARE {name} AS {whole}")
            except psycopg.Error as error:
                raise AssertionError(name) from error


def test_the_manifest_of_a_copy_says_what_is_in_it(store, tmp_path, ref, make):
    async def copy():
        await store.open()
        await store.apply(ref, Batch(units=make.rows(4)))
        await store.backup(tmp_path / "copy")
        await store.close()

    asyncio.run(copy())
    manifest = json.loads((tmp_path / "copy" / "manifest.json").read_text())
    assert manifest["schema"] == len(scripts())
    assert manifest["tables"]["unit"]["rows"] == 4
