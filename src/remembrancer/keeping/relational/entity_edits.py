"""The part of `apply` that does what people do to entities: merge, split, change."""

from __future__ import annotations

from collections.abc import Sequence, Set

from ...nouns.errors import Conflict, InvalidInput, NotFound
from ...nouns.folding import fold_name
from ...nouns.ids import to_uuid
from ...nouns.memory import Entity
from ..batch import EntityChange, EntityEdit, EntityMerge, EntitySplit
from . import mentions, rows
from .work import Work

_PAGE = 500  # units whose names are looked at in one query
_FIRST = -(1 << 63)


def edit(work: Work, edits: Sequence[EntityEdit]) -> None:
    """Do each edit in turn; see `keeping.batch.EntityEdit` for what they raise."""
    for each in edits:
        match each:
            case EntityMerge():
                _merge(work, each)
            case EntitySplit():
                _split(work, each)
            case EntityChange():
                _change(work, each)


def _merge(work: Work, merge: EntityMerge) -> None:
    into = _get(work, merge.entity_id, "entity_id")
    for other_id in dict.fromkeys(merge.merged):
        if other_id == into.id:
            raise InvalidInput("an entity cannot be merged into itself", field="from")
        other = _get(work, other_id, "from")
        _respell_all(work, other, into.name)
        work.mentions[into.id] += work.db.run("mention_copy", work.key, other.id, into.id)
        work.db.run("mention_delete_all", work.key, other.id)
        work.mentions.pop(other.id, None)
        work.db.run("entity_delete", work.key, other.id)
        work.entities -= 1
        work.db.run("alias_move", work.key, other.id, into.id)
        kind = other.kind if into.kind == mentions.NO_KIND else into.kind
        aliases = (*into.aliases, other.name, *other.aliases)
        into = Entity(into.id, into.name, kind, aliases)
        work.db.run("entity_describe", work.key, into.id, kind, rows.dump_list(aliases))
        work.changed = work.deleted = True


def _split(work: Work, split: EntitySplit) -> None:
    db, key = work.db, work.key
    entity = _get(work, split.entity_id, "entity_id")
    folded = fold_name(split.to.name)
    if folded == fold_name(entity.name):
        raise InvalidInput(
            "what is split off needs a name of its own, other than the entity's", field="name"
        )
    read = db.all_in("unit_ids_of_source", split.unit_ids, key)
    wanted = list(dict.fromkeys((*split.unit_ids, *(unit_id for (unit_id,) in read))))
    moving = db.all_in("mention_by", wanted, key, entity.id)
    if not moving:
        raise NotFound("none of these memories mentions the entity", field="memory_ids")
    owner = mentions.called(work, folded)
    if owner is not None and owner.id == entity.id:
        db.run("alias_delete", key, folded)
        left = tuple(alias for alias in entity.aliases if fold_name(alias) != folded)
        db.run("entity_describe", key, entity.id, entity.kind, rows.dump_list(left))
    to = mentions.find_or_make(work, split.to)
    ids = [unit_id for unit_id, _, _ in moving]
    work.mentions[to.id] += db.many("mention_insert", ((key, i, to.id, *at) for i, *at in moving))
    work.mentions[entity.id] -= db.run_in("mention_delete_by", ids, key, entity.id)
    mentions.respell(work, ids, _folds(entity), to.name)
    work.changed = work.deleted = True


def _change(work: Work, change: EntityChange) -> None:
    db, key = work.db, work.key
    entity = _get(work, change.entity_id, "entity_id")
    name = entity.name if change.name is None else change.name
    kind = entity.kind if change.kind is None else change.kind
    aliases = (*entity.aliases, entity.name) if change.aliases is None else change.aliases
    dropped = {fold_name(alias) for alias in change.drop}
    names = {fold_name(name): name}
    for alias in (*aliases, *change.add):
        if fold_name(alias) not in dropped:
            names.setdefault(fold_name(alias), alias)
    others = tuple(names.values())[1:]
    if (name, kind, others) == (entity.name, entity.kind, entity.aliases):
        return
    _check_free(work, entity, names.keys(), "aliases" if change.name is None else "name")
    db.run("alias_delete_all", key, entity.id)
    for folded, spelled in names.items():
        db.run("alias_insert", key, folded, entity.id, spelled != name)
    db.run("entity_rename", key, entity.id, name, kind, rows.dump_list(others))
    if name != entity.name:
        _respell_all(work, entity, name)
    work.mentions[entity.id] += 0  # one that nobody mentions may have lost its last alias
    work.changed = work.deleted = True


def _get(work: Work, entity_id: bytes, field: str) -> Entity:
    row = work.db.one("entity_get", work.key, entity_id)
    if row is None:
        raise NotFound(f"there is no entity {to_uuid(entity_id)} in this bank", field=field)
    return rows.entity(row)


def _check_free(work: Work, entity: Entity, folds: Set[str], field: str) -> None:
    for folded in folds:
        owner = mentions.called(work, folded)
        if owner is not None and owner.id != entity.id:
            raise Conflict(
                f"the entity {owner.name!r} ({to_uuid(owner.id)}) has this name already: "
                "merge the two, or choose another name",
                field=field,
            )


def _folds(entity: Entity) -> set[str]:
    return {fold_name(name) for name in (entity.name, *entity.aliases)}


def _respell_all(work: Work, entity: Entity, name: str) -> None:
    """Put `name` in the rows of all units that mention an entity, page by page."""
    folds = _folds(entity)
    at, last = _FIRST, b""
    while page := work.db.all("mention_page", work.key, entity.id, at, last, _PAGE):
        at, last, _ = page[-1]
        mentions.respell_rows(work, [(unit_id, names) for _, unit_id, names in page], folds, name)
