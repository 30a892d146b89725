-- name: link_insert
INSERT INTO link (bank_key, source, type, target, weight) VALUES (?1, ?2, ?3, ?4, ?5)
ON CONFLICT (bank_key, source, type, target) DO NOTHING;

-- name: link_weigh
UPDATE link SET weight = ?5
WHERE bank_key = ?1 AND source = ?2 AND type = ?3 AND target = ?4 AND weight <> ?5;

-- name: link_delete
DELETE FROM link WHERE bank_key = ?1 AND (source IN ({ids}) OR target IN ({ids}));

-- name: link_insights
SELECT k.source FROM link k
JOIN unit u ON u.bank_key = k.bank_key AND u.unit_id = k.source
WHERE k.bank_key = ?1 AND k.target IN ({ids}) AND k.type = ?2 AND u.layer = ?3;

-- name: link_superseded
SELECT source, target, weight FROM link WHERE bank_key = ?1 AND source IN ({ids}) AND type = ?2;

-- name: link_superseding
SELECT source, target, weight FROM link WHERE bank_key = ?1 AND target IN ({ids}) AND type = ?2;

-- name: link_near
-- The strongest links that touch each of some units, in either direction.
SELECT near, source, target, type, weight FROM (
    SELECT near, source, target, type, weight,
        row_number() OVER (PARTITION BY near ORDER BY weight DESC, source, target, type) AS place
    FROM (
        SELECT source AS near, source, target, type, weight FROM link
        WHERE bank_key = ?1 AND source IN ({ids}) AND (?3 >> type) & 1
        UNION ALL
        SELECT target AS near, source, target, type, weight FROM link
        WHERE bank_key = ?1 AND target IN ({ids}) AND (?3 >> type) & 1
    )
)
WHERE place <= ?2
ORDER BY near, place;

-- name: entity_columns
entity_id, name, kind, aliases, mention_count, first_seen, last_seen

-- name: entity_list
SELECT {entity_columns} FROM entity WHERE bank_key = ?1
ORDER BY mention_count DESC, name LIMIT ?2 OFFSET ?3;

-- name: entity_some
SELECT {entity_columns} FROM entity WHERE bank_key = ?1 AND name IN ({ids});

-- name: entity_insert
INSERT INTO entity (bank_key, entity_id, name, kind, aliases, mention_count)
VALUES (?1, ?2, ?3, ?4, ?5, 0);

-- name: entity_describe
UPDATE entity SET kind = ?3, aliases = ?4 WHERE bank_key = ?1 AND entity_id = ?2;

-- name: entity_count
UPDATE entity SET mention_count = mention_count + ?3,
    first_seen = (SELECT MIN(m.mentioned_at) FROM mention m
        WHERE m.bank_key = ?1 AND m.entity_id = ?2),
    last_seen = (SELECT MAX(m.mentioned_at) FROM mention m
        WHERE m.bank_key = ?1 AND m.entity_id = ?2)
WHERE bank_key = ?1 AND entity_id = ?2;

-- name: mention_insert
INSERT INTO mention (bank_key, unit_id, entity_id, mentioned_at, layer)
VALUES (?1, ?2, ?3, ?4, ?5) ON CONFLICT (bank_key, unit_id, entity_id) DO NOTHING;

-- name: mention_some
SELECT m.unit_id, m.entity_id, e.name FROM mention m
JOIN entity e ON e.bank_key = m.bank_key AND e.entity_id = m.entity_id
WHERE m.bank_key = ?1 AND m.unit_id IN ({ids});

-- name: mention_named
SELECT m.entity_id, e.name, e.aliases FROM mention m
JOIN entity e ON e.bank_key = m.bank_key AND e.entity_id = m.entity_id
WHERE m.bank_key = ?1 AND m.unit_id = ?2;

-- name: mention_drop
DELETE FROM mention WHERE bank_key = ?1 AND unit_id = ?2 AND entity_id = ?3;

-- name: mention_move
UPDATE mention SET mentioned_at = ?3 WHERE bank_key = ?1 AND unit_id = ?2 RETURNING entity_id;

-- name: mention_delete
DELETE FROM mention WHERE bank_key = ?1 AND unit_id IN ({ids}) RETURNING entity_id;
