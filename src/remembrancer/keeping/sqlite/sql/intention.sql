-- name: intention_columns
i.intention_id, i.version, i.state, i.trigger_type, i.next_due, i.event, i.source_id, i.tier_rank,
    i.importance, i.expires_at, i.threshold, i.cue_generation, i.data, i.cue

-- name: intention_put
INSERT INTO intention (bank_key, intention_id, place, version, state, trigger_type, next_due,
    event, source_id, tier_rank, importance, expires_at, threshold, cue_generation, standing, data,
    cue)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (bank_key, intention_id) DO UPDATE SET place = excluded.place,
    version = excluded.version, state = excluded.state, trigger_type = excluded.trigger_type,
    next_due = excluded.next_due, event = excluded.event, source_id = excluded.source_id,
    tier_rank = excluded.tier_rank, importance = excluded.importance,
    expires_at = excluded.expires_at, threshold = excluded.threshold,
    cue_generation = excluded.cue_generation, standing = excluded.standing,
    data = excluded.data, cue = excluded.cue;

-- The version and data alone: no index holds them.
-- name: intention_note
UPDATE intention SET version = ?3, data = ?4 WHERE bank_key = ?1 AND intention_id = ?2;

-- name: intention_stored
SELECT intention_id, place, version, state, trigger_type, next_due, event, source_id, tier_rank,
    importance, expires_at, threshold, cue_generation, standing, data, cue
FROM intention WHERE bank_key = ?1 AND intention_id IN ({ids});

-- name: intention_some
SELECT {intention_columns} FROM intention i
WHERE i.bank_key = ?1 AND i.intention_id IN ({ids});

-- name: intention_list
SELECT {intention_columns} FROM intention i
WHERE i.bank_key = ?1 AND (?2 IS NULL OR instr(?2, ' ' || i.state || ' '))
    AND (?3 IS NULL OR i.tier_rank IS NULL OR i.tier_rank <= ?3)
ORDER BY i.intention_id LIMIT ?4 OFFSET ?5;

-- name: intention_count
SELECT COUNT(*) FROM intention i
WHERE i.bank_key = ?1 AND (?2 IS NULL OR instr(?2, ' ' || i.state || ' '))
    AND (?3 IS NULL OR i.tier_rank IS NULL OR i.tier_rank <= ?3);

-- name: intention_of_sources
SELECT {intention_columns} FROM intention i
WHERE i.bank_key = ?1 AND i.source_id IN ({ids});

-- name: intention_is_due
SELECT {intention_columns} FROM intention i
WHERE i.bank_key = ?1 AND i.next_due IS NOT NULL AND i.state = 'active' AND i.next_due <= ?2
    AND (?3 IS NULL OR i.tier_rank IS NULL OR i.tier_rank <= ?3)
ORDER BY i.next_due, i.intention_id LIMIT ?4;

-- name: intention_waits
SELECT {intention_columns} FROM intention i
WHERE i.bank_key = ?1 AND i.event IN ({ids}) AND i.event IS NOT NULL AND i.state = 'active'
    AND (?2 IS NULL OR i.tier_rank IS NULL OR i.tier_rank <= ?2)
ORDER BY i.intention_id LIMIT ?3;

-- name: intention_unindexed
SELECT {intention_columns} FROM intention i INDEXED BY intention_unindexed
WHERE i.bank_key = ?1 AND i.state = 'active' AND (i.standing = 1 OR i.trigger_type = 'composite'
        OR (i.trigger_type = 'context_based' AND i.cue IS NULL))
    AND (?2 IS NULL OR i.tier_rank IS NULL OR i.tier_rank <= ?2)
ORDER BY i.intention_id LIMIT ?3;

-- name: cue_columns
place, intention_id, state = 'active', cue, cue_generation, threshold,
    json_extract(data, '$.armed') IS NULL

-- name: intention_cues
SELECT {cue_columns} FROM intention
WHERE bank_key = ?1 AND place > ?2 AND cue IS NOT NULL ORDER BY place, intention_id LIMIT ?3;

-- name: intention_cues_at
SELECT {cue_columns} FROM intention
WHERE bank_key = ?1 AND place = ?2 AND cue IS NOT NULL ORDER BY intention_id;

-- name: intention_cues_stale
SELECT b.tenant, b.name, i.intention_id FROM intention i JOIN bank b ON b.bank_key = i.bank_key
WHERE i.cue_generation <> 0 AND (i.cue_generation < ?1 OR i.cue_generation > ?1)
    AND i.state IN ('active', 'proposed', 'paused')
ORDER BY i.bank_key, i.intention_id LIMIT ?2;

-- name: intention_delete
DELETE FROM intention WHERE bank_key = ?1 AND intention_id IN ({ids});

-- name: intention_occurrences_delete
DELETE FROM occurrence WHERE bank_key = ?1 AND intention_id IN ({ids});

-- name: intention_banks_due
SELECT b.tenant, b.name FROM bank b JOIN (
    SELECT bank_key FROM (SELECT bank_key FROM intention
        WHERE next_due IS NOT NULL AND state = 'active' AND next_due <= ?1
        ORDER BY next_due LIMIT 10000)
    UNION
    SELECT bank_key FROM (SELECT bank_key FROM occurrence
        WHERE push_at IS NOT NULL AND push_at <= ?1 ORDER BY push_at LIMIT 10000)
) d ON d.bank_key = b.bank_key LIMIT ?2;

-- name: intention_next_due
SELECT MIN(at) FROM (
    SELECT MIN(next_due) AS at FROM intention WHERE next_due IS NOT NULL AND state = 'active'
    UNION ALL
    SELECT MIN(push_at) FROM occurrence WHERE push_at IS NOT NULL
);

-- name: occurrence_columns
o.occurrence_id, o.intention_id, o.slot, o.due_at, o.created_at, o.updated_at, o.state, o.ready_at,
    o.token, o.attempts, o.missed, o.data

-- name: occurrence_insert
INSERT INTO occurrence (bank_key, occurrence_id, intention_id, slot, due_at, created_at, updated_at,
    state, ready_at, push_at, token, attempts, missed, data)
SELECT ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?9, ?10, ?11, ?12, ?13
WHERE EXISTS (SELECT 1 FROM intention WHERE bank_key = ?1 AND intention_id = ?3)
ON CONFLICT DO NOTHING;

-- name: occurrence_move
UPDATE occurrence AS o SET state = ?3, ready_at = ?4, push_at = ?4, updated_at = ?5, token = token + ?6,
    attempts = attempts + ?6, missed = missed + ?9
WHERE bank_key = ?1 AND occurrence_id = ?2 AND instr(?7, ' ' || state || ' ')
    AND (?8 IS NULL OR token = ?8);

-- name: occurrence_sent
UPDATE occurrence SET push_at = NULL WHERE bank_key = ?1 AND occurrence_id = ?2 AND push_at <= ?3;

-- name: occurrence_to_send
SELECT {occurrence_columns}, {intention_columns} FROM occurrence o
JOIN intention i ON i.bank_key = o.bank_key AND i.intention_id = o.intention_id
WHERE o.bank_key = ?1 AND o.push_at IS NOT NULL AND o.push_at <= ?2
ORDER BY o.push_at, o.occurrence_id LIMIT ?3;

-- name: occurrence_since
SELECT {occurrence_columns}, {intention_columns} FROM occurrence o
JOIN intention i ON i.bank_key = o.bank_key AND i.intention_id = o.intention_id
WHERE o.bank_key = ?1 AND (o.ready_at, o.occurrence_id) > (?2, ?3) AND o.ready_at <= ?4
    AND (?5 IS NULL OR i.tier_rank IS NULL OR i.tier_rank <= ?5)
ORDER BY o.ready_at, o.occurrence_id LIMIT ?6;

-- name: occurrence_places
SELECT ready_at, occurrence_id FROM occurrence
WHERE bank_key = ?1 AND ready_at IS NOT NULL AND ready_at <= ?2
ORDER BY ready_at, occurrence_id LIMIT ?3;

-- name: occurrence_some
SELECT {occurrence_columns}, {intention_columns} FROM occurrence o
JOIN intention i ON i.bank_key = o.bank_key AND i.intention_id = o.intention_id
WHERE o.bank_key = ?1 AND o.occurrence_id IN ({ids});

-- name: occurrence_offered
SELECT {occurrence_columns}, {intention_columns} FROM occurrence o
JOIN intention i ON i.bank_key = o.bank_key AND i.intention_id = o.intention_id
WHERE o.bank_key = ?1 AND o.ready_at IS NOT NULL AND o.ready_at <= ?2
    AND (?3 IS NULL OR instr(?3, ' ' || o.state || ' '))
    AND (?4 IS NULL OR i.tier_rank IS NULL OR i.tier_rank <= ?4)
ORDER BY i.importance DESC, o.intention_id, o.due_at LIMIT ?5 OFFSET ?6;

-- name: occurrence_count
SELECT COUNT(*) FROM occurrence o
JOIN intention i ON i.bank_key = o.bank_key AND i.intention_id = o.intention_id
WHERE o.bank_key = ?1 AND o.ready_at IS NOT NULL AND o.ready_at <= ?2
    AND (?3 IS NULL OR i.tier_rank IS NULL OR i.tier_rank <= ?3);

-- name: occurrence_list
SELECT {occurrence_columns}, {intention_columns} FROM occurrence o
JOIN intention i ON i.bank_key = o.bank_key AND i.intention_id = o.intention_id
WHERE o.bank_key = ?1 AND (?2 IS NULL OR instr(?2, ' ' || o.state || ' '))
    AND (?3 IS NULL OR i.tier_rank IS NULL OR i.tier_rank <= ?3)
ORDER BY o.occurrence_id DESC LIMIT ?4 OFFSET ?5;

-- name: occurrence_of_intentions
SELECT {occurrence_columns}, {intention_columns} FROM occurrence o
JOIN intention i ON i.bank_key = o.bank_key AND i.intention_id = o.intention_id
WHERE o.bank_key = ?1 AND o.intention_id IN ({ids})
    AND (?2 IS NULL OR instr(?2, ' ' || o.state || ' '))
    AND (?3 IS NULL OR i.tier_rank IS NULL OR i.tier_rank <= ?3)
ORDER BY o.occurrence_id DESC LIMIT ?4;

-- name: event_insert
INSERT INTO event (bank_key, event_id, name, at, received_at, data) VALUES (?1, ?2, ?3, ?4, ?5, ?6)
ON CONFLICT (bank_key, event_id) DO NOTHING;

-- name: event_named
SELECT event_id, name, at, received_at, data FROM event
WHERE bank_key = ?1 AND name IN ({ids}) AND at >= ?2 ORDER BY at, event_id LIMIT ?3;

-- name: event_list
SELECT event_id, name, at, received_at, data FROM event
WHERE bank_key = ?1 AND at >= ?2 ORDER BY at, event_id LIMIT ?3;

-- name: event_some
SELECT event_id, name, at, received_at, data FROM event
WHERE bank_key = ?1 AND event_id IN ({ids});

-- name: event_trim
DELETE FROM event WHERE bank_key = ?1 AND received_at < ?2;

-- name: drop_intention
DELETE FROM intention WHERE bank_key = ?1;

-- name: drop_occurrence
DELETE FROM occurrence WHERE bank_key = ?1;

-- name: drop_event
DELETE FROM event WHERE bank_key = ?1;
