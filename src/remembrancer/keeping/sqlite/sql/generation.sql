-- name: generation_list
SELECT number, fingerprint, active FROM generation ORDER BY number;

-- name: generation_get
SELECT number, fingerprint, active FROM generation WHERE number = ?1;

-- name: generation_next
UPDATE meta SET value = value + 1 WHERE name = 'last_generation' RETURNING value;

-- name: generation_insert
INSERT INTO generation (number, fingerprint, active) VALUES (?1, ?2, ?3);

-- name: generation_fill
INSERT INTO pending (bank_key, generation, unit_id) SELECT bank_key, ?1, unit_id FROM unit
WHERE source_id IS NULL;

-- name: generation_switch
UPDATE generation SET active = (number = ?1);

-- name: generation_forget
DELETE FROM generation WHERE number <> ?1;

-- name: generation_forget_vectors
DELETE FROM vector WHERE generation <> ?1;

-- name: generation_forget_pending
DELETE FROM pending WHERE generation <> ?1;

-- name: pending_any
SELECT EXISTS (SELECT 1 FROM pending WHERE generation = ?1);

-- name: pending_count
SELECT COUNT(*) FROM pending WHERE generation = ?1;

-- name: pending_page
SELECT b.tenant, b.name, p.unit_id
FROM pending p INDEXED BY pending_by_generation JOIN bank b ON b.bank_key = p.bank_key
WHERE p.generation = ?1 AND (p.bank_key, p.unit_id) > (?2, ?3)
ORDER BY p.bank_key, p.unit_id LIMIT ?4;

-- name: pending_insert
INSERT INTO pending (bank_key, generation, unit_id) VALUES (?1, ?2, ?3)
ON CONFLICT (bank_key, generation, unit_id) DO NOTHING;

-- name: pending_delete
DELETE FROM pending WHERE bank_key = ?1 AND generation = ?2 AND unit_id IN ({ids});
