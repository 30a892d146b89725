-- name: claim_insert
INSERT INTO claim (bank_key, unit_id, number, slot, value, stance, at, since, until, flags)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10);

-- name: claim_delete
DELETE FROM claim WHERE bank_key = ?1 AND unit_id IN ({ids});

-- name: claim_slots
SELECT DISTINCT slot FROM claim WHERE bank_key = ?1 AND unit_id IN ({ids});

-- name: claim_tell
-- What is told another time stands there, unless its text names its own. 4: dated.
UPDATE claim SET at = ?3 WHERE bank_key = ?1 AND unit_id = ?2 AND (flags & 4) = 0;

-- name: claim_columns
c.unit_id, c.number, c.slot, c.value, c.stance, c.at, c.since, c.until, c.flags, c.begins, c.ends,
    c.ended_by, c.against, u.mentioned_at, u.document_id, u.start_char

-- name: claim_tables
claim c JOIN unit u ON u.bank_key = c.bank_key AND u.unit_id = c.unit_id

-- name: claim_slot
SELECT {claim_columns} FROM {claim_tables}
WHERE c.bank_key = ?1 AND c.slot = ?2 AND {valid}
ORDER BY c.at DESC, c.unit_id DESC, c.number DESC LIMIT ?3;

-- name: claim_since
SELECT {claim_columns} FROM {claim_tables}
WHERE c.bank_key = ?1 AND c.slot = ?2 AND c.at >= ?3 AND {valid}
ORDER BY c.at DESC, c.unit_id DESC, c.number DESC LIMIT ?4;

-- name: claim_disputed
SELECT 1 FROM claim
WHERE bank_key = ?1 AND slot = ?2 AND against IS NOT NULL LIMIT 1;

-- name: claim_open
-- What nothing has ended and what has no end of its own, of one or two stances.
SELECT {claim_columns} FROM {claim_tables}
WHERE c.bank_key = ?1 AND c.slot = ?2 AND c.ends IS NULL AND c.stance IN (?3, ?4)
    AND {valid}
ORDER BY c.at DESC, c.unit_id DESC, c.number DESC LIMIT ?5;

-- name: claim_of
SELECT {claim_columns} FROM {claim_tables}
WHERE c.bank_key = ?1 AND c.unit_id IN ({ids}) ORDER BY c.unit_id, c.number;

-- name: claim_settle
UPDATE claim SET begins = ?4, ends = ?5, ended_by = ?6, against = ?7
WHERE bank_key = ?1 AND unit_id = ?2 AND number = ?3;

-- name: unit_validity
SELECT unit_id, valid_from, valid_until FROM unit WHERE bank_key = ?1 AND unit_id IN ({ids});

-- name: unit_validate
UPDATE unit SET valid_from = ?3, valid_until = ?4 WHERE bank_key = ?1 AND unit_id = ?2;

-- name: link_cut
DELETE FROM link WHERE bank_key = ?1 AND source = ?2 AND type = ?3 AND target = ?4;

-- name: truth_of
WITH wanted (unit_id) AS (VALUES {rows})
SELECT w.unit_id, c.unit_id, c.slot, c.value, c.stance, c.flags, c.begins, c.ends, c.ended_by,
    (SELECT COALESCE(h.source_id, h.unit_id) FROM unit h
        WHERE h.bank_key = ?1 AND h.unit_id = c.ended_by),
    c.against, (SELECT COALESCE(h.source_id, h.unit_id) FROM unit h
        WHERE h.bank_key = ?1 AND h.unit_id = c.against)
FROM wanted w CROSS JOIN unit u CROSS JOIN claim c
WHERE u.bank_key = ?1 AND {source} = w.unit_id AND u.layer = 1
    AND c.bank_key = ?1 AND c.unit_id = u.unit_id AND {valid}
ORDER BY c.unit_id, c.number;

-- name: truth_of_facts
-- As truth_of, of facts that are known to be valid: half its time.
WITH wanted (unit_id) AS (VALUES {rows})
SELECT w.unit_id, c.unit_id, c.slot, c.value, c.stance, c.flags, c.begins, c.ends, c.ended_by,
    (SELECT COALESCE(h.source_id, h.unit_id) FROM unit h
        WHERE h.bank_key = ?1 AND h.unit_id = c.ended_by),
    c.against, (SELECT COALESCE(h.source_id, h.unit_id) FROM unit h
        WHERE h.bank_key = ?1 AND h.unit_id = c.against)
FROM wanted w CROSS JOIN claim c
WHERE c.bank_key = ?1 AND c.unit_id = w.unit_id
ORDER BY c.unit_id, c.number;

-- name: claim_holder
-- By slot the source that said last what holds at a time, else the one that last denied. 1, 2: the
-- stances of these. Claims are read newest first, up to the first that fits.
WITH wanted (slot) AS (VALUES {rows})
SELECT w.slot, COALESCE((SELECT COALESCE(u.source_id, u.unit_id)
        FROM claim c CROSS JOIN unit u
        WHERE c.bank_key = ?1 AND c.slot = w.slot AND c.at <= ?2 AND c.stance = 1
            AND u.bank_key = ?1 AND u.unit_id = c.unit_id
            AND (c.begins IS NULL OR c.begins <= ?2) AND (c.ends IS NULL OR c.ends > ?2)
            AND {valid}
        ORDER BY c.at DESC, c.unit_id DESC, c.number DESC LIMIT 1),
    (SELECT COALESCE(u.source_id, u.unit_id)
        FROM claim c CROSS JOIN unit u
        WHERE c.bank_key = ?1 AND c.slot = w.slot AND c.at <= ?2 AND c.stance = 2
            AND u.bank_key = ?1 AND u.unit_id = c.unit_id
            AND (c.begins IS NULL OR c.begins <= ?2) AND (c.ends IS NULL OR c.ends > ?2)
            AND {valid}
        ORDER BY c.at DESC, c.unit_id DESC, c.number DESC LIMIT 1))
FROM wanted w WHERE w.slot IS NOT NULL;
