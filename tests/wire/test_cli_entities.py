"""`remembrancer entities`, and the library's verbs about entities, which may not differ."""

from __future__ import annotations

from pathlib import Path

import pytest
from cli_kit import Cli

import remembrancer


@pytest.fixture
def cli(tmp_path: Path) -> Cli:
    cli = Cli(tmp_path / "data")
    texts = ("We met Robert Ekman in Oslo.", "Then Robbo sang in Oslo.", "We saw Otto Quay.")
    for n, text in enumerate(texts):
        cli.ok("retain", "-", "--document", f"d{n}", stdin=text)
    return cli


def names(cli: Cli) -> dict[str, list[str]]:
    listed = cli.ok("entities", "list", "--json").json["entities"]
    return {each["name"]: each["aliases"] for each in listed}


def test_list(cli: Cli) -> None:
    shown = cli.ok("entities", "list").out
    assert "also called" in shown
    assert "4 of 4 entities" in shown
    page = cli.ok("entities", "list", "-q", "EKM", "--json").json
    assert page.keys() == {"bank", "total", "entities"}
    assert page["total"] == 1
    assert page["entities"][0].keys() == {
        "id", "name", "kind", "aliases", "mentions", "first_seen", "last_seen",
    }  # fmt: skip
    assert "no entities" in cli.ok("entities", "list", "-q", "nobody").out
    assert len(cli.ok("entities", "list", "-n", "1", "--offset", "3", "--json").out) > 2


def test_merge_split_rename_alias(cli: Cli) -> None:
    merged = cli.ok("entities", "merge", "Robert Ekman", "Robbo", "--json").json
    assert (merged["name"], merged["aliases"]) == ("Robert Ekman", ["Robbo"])
    assert "Robbo" not in names(cli)
    [found] = cli.ok("recall", "Who sang?", "-n", "1", "--json").json["answers"]
    told = cli.ok("entities", "split", "robbo", "--name", "Robbo", found["id"]).out
    assert told.startswith("Robbo: ")
    assert names(cli)["Robert Ekman"] == []
    told = cli.ok("entities", "rename", "Otto Quay", "Otto Brandt").out
    assert told.startswith("Otto Brandt, also called Otto Quay: ")
    cli.ok("entities", "alias", "Otto Quay", "O. B.", "the boss", "--remove", "Otto Quay")
    assert names(cli)["Otto Brandt"] == ["O. B.", "the boss"]
    by_id = next(
        each["id"]
        for each in cli.ok("entities", "list", "--json").json["entities"]
        if each["name"] == "Otto Brandt"
    )
    left = cli.ok("entities", "alias", by_id, "--remove", "BOSS", "--json").json
    assert left["aliases"] == ["O. B."]


def test_an_entity_that_nothing_mentions_goes_with_its_last_alias(cli: Cli) -> None:
    cli.ok("entities", "alias", "Otto Quay", "Otto the Boss")
    cli.ok("retain", "-", "--document", "d2", stdin="Nothing of him.")
    assert names(cli)["Otto Quay"] == ["Otto the Boss"]
    told = cli.ok("entities", "alias", "Otto Quay", "--remove", "Otto the Boss").out
    assert "gone" in told
    assert "Otto Quay" not in names(cli)


@pytest.mark.parametrize(
    ("args", "code", "says"),
    [
        (("merge", "Robert Ekman", "Nobody"), 1, "there is no entity 'Nobody'"),
        (("merge", "Robert Ekman", "Robert Ekman"), 2, "into itself"),
        (("rename", "Robert Ekman", "Robbo"), 1, "merge the two"),
        (("rename", "Robert Ekman", " "), 2, "name must hold"),
        (("split", "Robbo", "--name", "Bo", "x"), 2, "must be an id"),
        (("alias", "Robbo"), 2, "give a name"),
        (("list", "--bank", ""), 2, "bank must hold"),
    ],
)
def test_what_cannot_be_done_is_told_in_one_line(
    cli: Cli, args: tuple[str, ...], code: int, says: str
) -> None:
    before = names(cli)
    ran = cli.here("entities", *args)
    assert (ran.code, ran.out) == (code, "")
    assert says in ran.err
    assert ran.err.count("\n") == 1
    assert names(cli) == before


def test_the_library_has_the_same_verbs(tmp_path: Path) -> None:
    with remembrancer.open(tmp_path, embedder="none") as memory:
        memory.retain("We met Robert Ekman in Oslo.", bank="b")
        sang = memory.retain("Then Robbo sang in Oslo.", bank="b").ids[0]
        robert = memory.merge_entities("robert ekman", "Robbo", bank="b")
        assert (robert.name, robert.aliases) == ("Robert Ekman", ("Robbo",))
        assert robert.first_seen is not None
        assert memory.entities(bank="b", containing="robb") == [robert]
        assert memory.entities(bank="none") == []
        pages = [memory.entities(bank="b", limit=1, offset=n)[0].name for n in range(2)]
        assert set(pages) == {"Oslo", "Robert Ekman"}
        robbo = memory.split_entity(robert.id, "Robbo", sang, bank="b")
        assert robbo.name == "Robbo"
        assert memory.rename_entity("Robbo", "Robin", bank="b").aliases == ("Robbo",)
        aliased = memory.alias_entity("Robbo", "Rob", remove="Robbo", bank="b")
        assert aliased is not None
        assert aliased.aliases == ("Rob",)
        with pytest.raises(remembrancer.NotFound):
            memory.merge_entities("Robin", ["Robbo"], bank="b")
        with pytest.raises(remembrancer.Conflict):
            memory.rename_entity("Robin", "Oslo", bank="b")
