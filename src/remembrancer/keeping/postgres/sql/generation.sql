-- name: generation_list
SELECT number, fingerprint, active FROM generation ORDER BY number;

-- name: generation_get
SELECT number, fingerprint, active FROM generation WHERE number = $1;

-- name: generation_next
UPDATE meta SET value = value + 1 WHERE name = 'last_generation' RETURNING value;

-- name: generation_insert
INSERT INTO generation (number, fingerprint, active) VALUES ($1, $2, $3);

-- name: generation_fill
-- What this means for the rows of each bank is done bank by bank afterwards: see `settling`.
UPDATE meta SET value = value + 1 WHERE name = 'unsettled' AND $1::bigint IS NOT NULL;

-- name: generation_switch
UPDATE generation SET active = CASE number WHEN $1 THEN 1 ELSE 0 END;

-- name: generation_forget
DELETE FROM generation WHERE number <> $1;

-- name: generation_forget_vectors
-- As generation_fill.
UPDATE meta SET value = value + 1 WHERE name = 'unsettled' AND $1::bigint IS NOT NULL;

-- name: generation_forget_pending
-- Nothing: they go with the vectors.

-- name: unsettled
SELECT value FROM meta WHERE name = 'unsettled';

-- name: unsettled_done
UPDATE meta SET value = 0 WHERE name = 'unsettled' AND value = $1;

-- name: settle_banks
SELECT bank_key FROM bank WHERE bank_key > $1 ORDER BY bank_key LIMIT $2;

-- name: settle_vectors
DELETE FROM vector
WHERE bank_key = $1 AND generation NOT IN (SELECT g.number FROM generation g);

-- name: settle_others
DELETE FROM pending
WHERE bank_key = $1 AND generation NOT IN (SELECT g.number FROM generation g);

-- name: settle_pending
INSERT INTO pending (bank_key, generation, unit_id)
SELECT u.bank_key, g.number, u.unit_id FROM unit u CROSS JOIN generation g
WHERE u.bank_key = $1 AND u.source_id IS NULL AND NOT EXISTS (SELECT 1 FROM vector v
    WHERE v.bank_key = $1 AND v.generation = g.number AND v.unit_id = u.unit_id)
ON CONFLICT (bank_key, generation, unit_id) DO NOTHING;

-- name: pending_any
-- Until all banks are settled, some units may not be here yet.
SELECT EXISTS (SELECT 1 FROM pending WHERE generation = $1)
    OR (SELECT value > 0 FROM meta WHERE name = 'unsettled');

-- name: pending_count
SELECT COUNT(*) FROM pending WHERE generation = $1;

-- name: pending_page
SELECT b.tenant, b.name, p.unit_id
FROM pending p JOIN bank b ON b.bank_key = p.bank_key
WHERE p.generation = $1 AND (p.bank_key, p.unit_id) > ($2, $3)
ORDER BY p.bank_key, p.unit_id LIMIT $4;

-- name: pending_insert
INSERT INTO pending (bank_key, generation, unit_id) VALUES ($1, $2, $3)
ON CONFLICT (bank_key, generation, unit_id) DO NOTHING;

-- name: pending_delete
DELETE FROM pending WHERE bank_key = $1 AND generation = $2 AND unit_id = ANY({ids});
