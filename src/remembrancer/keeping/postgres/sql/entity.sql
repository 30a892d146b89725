-- name: entity_joined
entity e ON e.bank_key = $1 AND e.entity_id = a.entity_id

-- name: entity_e
e.entity_id, e.name, e.kind, e.aliases, e.mention_count, e.first_seen, e.last_seen

-- name: entity_get
SELECT {entity_columns} FROM entity WHERE bank_key = $1 AND entity_id = $2;

-- name: entity_called
SELECT a.folded, {entity_e} FROM entity_alias a JOIN {entity_joined}
WHERE a.bank_key = $1 AND a.folded = ANY({ids});

-- name: entity_beginning
SELECT a.folded, {entity_e} FROM entity_alias a JOIN {entity_joined}
WHERE a.bank_key = $1 AND a.folded > $2 || ' ' AND a.folded < $2 || '!'
ORDER BY a.folded LIMIT $3;

-- name: entity_search
SELECT {entity_columns} FROM entity WHERE bank_key = $1 AND entity_id IN (
    SELECT entity_id FROM entity_alias WHERE bank_key = $1 AND strpos(folded, $4) > 0)
ORDER BY mention_count DESC, name LIMIT $2 OFFSET $3;

-- name: entity_search_count
SELECT COUNT(DISTINCT entity_id) FROM entity_alias WHERE bank_key = $1 AND strpos(folded, $2) > 0;

-- name: entity_rename
UPDATE entity SET name = $3, kind = $4, aliases = $5 WHERE bank_key = $1 AND entity_id = $2;

-- name: entity_delete
DELETE FROM entity WHERE bank_key = $1 AND entity_id = $2;

-- name: entity_delete_unused
-- $3: whether the last mention was erased; then its aliases keep it no longer.
DELETE FROM entity WHERE bank_key = $1 AND entity_id = $2 AND mention_count <= 0
    AND ($3::bigint = 1 OR NOT EXISTS (SELECT 1 FROM entity_alias a
        WHERE a.bank_key = $1 AND a.entity_id = $2 AND a.explicit = 1));

-- name: alias_insert
INSERT INTO entity_alias (bank_key, folded, entity_id, explicit) VALUES ($1, $2, $3, $4)
ON CONFLICT (bank_key, folded) DO NOTHING;

-- name: alias_move
UPDATE entity_alias SET entity_id = $3, explicit = 1 WHERE bank_key = $1 AND entity_id = $2;

-- name: alias_delete
DELETE FROM entity_alias WHERE bank_key = $1 AND folded = $2;

-- name: alias_delete_all
DELETE FROM entity_alias WHERE bank_key = $1 AND entity_id = $2;

-- name: mention_copy
INSERT INTO mention (bank_key, unit_id, entity_id, mentioned_at, layer)
SELECT bank_key, unit_id, $3::bytea, mentioned_at, layer FROM mention
WHERE bank_key = $1 AND entity_id = $2
ON CONFLICT (bank_key, unit_id, entity_id) DO NOTHING;

-- name: mention_delete_all
DELETE FROM mention WHERE bank_key = $1 AND entity_id = $2;

-- name: mention_by
SELECT unit_id, mentioned_at, layer FROM mention
WHERE bank_key = $1 AND unit_id = ANY({ids}) AND entity_id = $2;

-- name: mention_delete_by
DELETE FROM mention WHERE bank_key = $1 AND unit_id = ANY({ids}) AND entity_id = $2;

-- name: mention_page
-- The next units that mention an entity, with the names in their rows.
SELECT m.mentioned_at, m.unit_id, u.entities FROM mention m
JOIN unit u ON u.bank_key = $1 AND u.unit_id = m.unit_id
WHERE m.bank_key = $1 AND m.entity_id = $2 AND (m.mentioned_at, m.unit_id) > ($3, $4)
ORDER BY m.mentioned_at, m.unit_id LIMIT $5;

-- name: mention_units
SELECT unit_id FROM mention WHERE bank_key = $1 AND entity_id = $2 AND layer <> 1
ORDER BY mentioned_at DESC, unit_id DESC LIMIT $3;

-- name: mention_latest
-- As mention_units, but only units that hold.
SELECT u.unit_id FROM mention u WHERE u.bank_key = $1 AND u.entity_id = $2 AND u.layer <> 1
    AND {valid}
ORDER BY u.mentioned_at DESC, u.unit_id DESC LIMIT $3;

-- name: unit_entities
SELECT unit_id, entities FROM unit
WHERE bank_key = $1 AND unit_id = ANY({ids}) AND entities IS NOT NULL;

-- name: unit_name_entities
UPDATE unit SET entities = $3 WHERE bank_key = $1 AND unit_id = $2;

-- name: entity_total
SELECT entities FROM bank WHERE bank_key = $1;

-- name: alias_list
SELECT folded, entity_id FROM entity_alias WHERE bank_key = $1;

-- name: entity_by_ids
SELECT {entity_columns} FROM entity WHERE bank_key = $1 AND entity_id = ANY({ids});
