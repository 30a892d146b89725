-- name: pinned
u.layer <> 1 AND (strpos(u.tags, '["pinned"') > 0 OR strpos(u.tags, ',"pinned"') > 0
        OR strpos(u.tags, '["instruction"') > 0 OR strpos(u.tags, ',"instruction"') > 0
        OR CASE WHEN strpos(u.attributes, '"pinned":') > 0 AND strpos(u.attributes, '\u0000') = 0
            THEN u.attributes::json ->> 'pinned' IN ('true', '1') ELSE false END
        OR CASE WHEN strpos(u.metadata, '"pinned":"true"') > 0 AND strpos(u.metadata, '\u0000') = 0
            THEN u.metadata::json ->> 'pinned' = 'true' ELSE false END)

-- name: priming_newest
-- The layers of units that are no facts of others; see `unit_by_time`.
SELECT u.unit_id FROM unit u
WHERE u.bank_key = $1 AND u.mentioned_at < $2 AND u.layer IN (0, 2) AND {valid}
ORDER BY u.mentioned_at DESC, u.unit_id DESC LIMIT $3;

-- name: priming_pinned
SELECT u.unit_id FROM unit u
WHERE u.bank_key = $1 AND {pinned} AND {valid}
ORDER BY u.mentioned_at DESC, u.unit_id DESC LIMIT $2;

-- name: priming_accesses
SELECT a.unit_id, a.count, a.last_at FROM access a
WHERE a.bank_key = $1 AND a.unit_id = ANY({ids});

-- name: priming_intends
SELECT EXISTS (SELECT 1 FROM intention WHERE bank_key = $1);
