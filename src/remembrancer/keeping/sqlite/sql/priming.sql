-- name: pinned
u.layer <> 1 AND (instr(u.tags, '["pinned"') > 0 OR instr(u.tags, ',"pinned"') > 0
        OR instr(u.tags, '["instruction"') > 0 OR instr(u.tags, ',"instruction"') > 0
        OR json_extract(u.attributes, '$.pinned') IN (1, 'true')
        OR json_extract(u.metadata, '$.pinned') = 'true')

-- name: priming_newest
-- The layers of units that are no facts of others; see `unit_by_time`.
SELECT u.unit_id FROM unit u
WHERE u.bank_key = ?1 AND u.mentioned_at < ?2 AND u.layer IN (0, 2) AND {valid}
ORDER BY u.mentioned_at DESC, u.unit_id DESC LIMIT ?3;

-- name: priming_pinned
SELECT u.unit_id FROM unit u
WHERE u.bank_key = ?1 AND {pinned} AND {valid}
ORDER BY u.mentioned_at DESC, u.unit_id DESC LIMIT ?2;

-- name: priming_accesses
SELECT a.unit_id, a.count, a.last_at FROM access a
WHERE a.bank_key = ?1 AND a.unit_id IN ({ids});

-- name: priming_intends
SELECT EXISTS (SELECT 1 FROM intention WHERE bank_key = ?1);
