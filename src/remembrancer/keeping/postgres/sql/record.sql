-- name: record_columns
kind, key, created_at, updated_at, data

-- name: record_put
INSERT INTO record (bank_key, kind, key, created_at, updated_at, data)
VALUES ($1, $2, $3, $4, $5, $6)
ON CONFLICT (bank_key, kind, key) DO UPDATE SET updated_at = excluded.updated_at,
    data = excluded.data;

-- name: record_delete
DELETE FROM record WHERE bank_key = $1 AND kind = $2 AND key = $3;

-- name: record_get
SELECT {record_columns} FROM record WHERE bank_key = $1 AND kind = $2 AND key = $3;

-- name: record_list
SELECT {record_columns} FROM record
WHERE bank_key = $1 AND kind = $2 AND created_at >= $3 AND created_at < $4
ORDER BY created_at DESC, key DESC LIMIT $5 OFFSET $6;

-- name: record_count
SELECT COUNT(*) FROM record
WHERE bank_key = $1 AND kind = $2 AND created_at >= $3 AND created_at < $4;

-- name: record_everywhere
SELECT b.tenant, b.name, r.kind, r.key, r.created_at, r.updated_at, r.data
FROM record r JOIN bank b ON b.bank_key = r.bank_key
WHERE r.kind = $1 ORDER BY r.created_at, r.bank_key, r.key LIMIT $2;

-- name: record_trim
DELETE FROM record WHERE bank_key = $1 AND kind = $2 AND key IN (
    SELECT key FROM record WHERE bank_key = $1 AND kind = $2
    ORDER BY created_at DESC, key DESC OFFSET $3);

-- name: blob_expire
DELETE FROM blob WHERE bank_key = $1 AND key = $2 AND expires_at <= $3;

-- name: blob_insert
INSERT INTO blob (bank_key, key, expires_at, value) VALUES ($1, $2, $3, $4)
ON CONFLICT (bank_key, key) DO NOTHING;

-- name: blob_get
SELECT value FROM blob
WHERE bank_key = $1 AND key = $2 AND (expires_at IS NULL OR expires_at > $3);

-- name: blob_expired
SELECT bank_key, key FROM blob WHERE expires_at IS NOT NULL AND expires_at <= $1;

-- name: blob_put
INSERT INTO blob (bank_key, key, expires_at, value) VALUES ($1, $2, $3, $4)
ON CONFLICT (bank_key, key) DO UPDATE SET expires_at = excluded.expires_at, value = excluded.value;

-- name: blob_erase
DELETE FROM blob WHERE bank_key = $1 AND key >= $2 AND key < $3;
