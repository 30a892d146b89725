-- The names of entities as they are compared (see `nouns.folding`): in a bank each belongs to one
-- entity. explicit: 1 for another name that people gave it, 0 for its own.
CREATE TABLE entity_alias (
    bank_key INTEGER NOT NULL,
    folded TEXT NOT NULL,
    entity_id BLOB NOT NULL,
    explicit INTEGER NOT NULL,
    PRIMARY KEY (bank_key, folded)
) WITHOUT ROWID;
CREATE INDEX entity_alias_by_entity ON entity_alias (bank_key, entity_id, folded);

INSERT INTO sqlite_stat1 (tbl, idx, stat) VALUES
    ('entity_alias', 'entity_alias', '100000 10000 1'),
    ('entity_alias', 'entity_alias_by_entity', '100000 10000 1 1');

-- Of entities whose names are the same when compared, the most mentioned one gets the others'
-- mentions. fold_name is `nouns.folding.fold_name`.
INSERT INTO entity_alias (bank_key, folded, entity_id, explicit)
SELECT bank_key, fold_name(name), entity_id, 0 FROM entity WHERE true
ORDER BY mention_count DESC, name
ON CONFLICT (bank_key, folded) DO NOTHING;

CREATE TEMP TABLE same_name AS
SELECT e.bank_key, e.entity_id, a.entity_id AS into_id FROM entity e
JOIN entity_alias a ON a.bank_key = e.bank_key AND a.folded = fold_name(e.name)
WHERE a.entity_id <> e.entity_id;

INSERT INTO mention (bank_key, unit_id, entity_id, mentioned_at, layer)
SELECT m.bank_key, m.unit_id, s.into_id, m.mentioned_at, m.layer FROM same_name s
JOIN mention m ON m.bank_key = s.bank_key AND m.entity_id = s.entity_id WHERE true
ON CONFLICT (bank_key, unit_id, entity_id) DO NOTHING;

DELETE FROM mention WHERE (bank_key, entity_id) IN (SELECT bank_key, entity_id FROM same_name);

DELETE FROM entity WHERE (bank_key, entity_id) IN (SELECT bank_key, entity_id FROM same_name);

UPDATE entity SET
    mention_count = (SELECT COUNT(*) FROM mention m
        WHERE m.bank_key = entity.bank_key AND m.entity_id = entity.entity_id),
    first_seen = (SELECT MIN(m.mentioned_at) FROM mention m
        WHERE m.bank_key = entity.bank_key AND m.entity_id = entity.entity_id),
    last_seen = (SELECT MAX(m.mentioned_at) FROM mention m
        WHERE m.bank_key = entity.bank_key AND m.entity_id = entity.entity_id)
WHERE (bank_key, entity_id) IN (SELECT bank_key, into_id FROM same_name);

UPDATE bank SET entities = (SELECT COUNT(*) FROM entity e WHERE e.bank_key = bank.bank_key)
WHERE bank_key IN (SELECT bank_key FROM same_name);

DROP TABLE temp.same_name;
