-- name: job_columns
job_id, kind, state, created_at, updated_at, payload, result, error, attempts, run_after,
    lease_until, fence

-- name: job_insert
INSERT INTO job (bank_key, job_id, kind, state, created_at, updated_at, payload, result, error,
    attempts, run_after, lease_until, fence, ready_at)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (bank_key, job_id) DO NOTHING;

-- name: job_poll
SELECT bank_key, job_id FROM job
WHERE ready_at IS NOT NULL AND ready_at <= ?1 AND kind IN ({ids})
ORDER BY created_at, job_id LIMIT ?2;

-- name: job_claim
UPDATE job SET state = 'processing', fence = fence + 1, attempts = attempts + 1,
    lease_until = ?4, ready_at = ?4, updated_at = ?3
WHERE bank_key = ?1 AND job_id = ?2 AND ready_at <= ?3
RETURNING {job_columns};

-- name: job_heartbeat
UPDATE job SET lease_until = ?4, ready_at = ?4, updated_at = ?5
WHERE bank_key = ?1 AND job_id = ?2 AND fence = ?3 AND state = 'processing';

-- name: job_finish
-- A completed job needs its payload no more, and texts in it would outlive a forget.
UPDATE job SET state = ?4, updated_at = ?5, result = ?6, error = ?7, run_after = ?8,
    lease_until = NULL, ready_at = ?9,
    payload = CASE WHEN ?4 = 'completed' THEN '{}' ELSE payload END
WHERE bank_key = ?1 AND job_id = ?2 AND fence = ?3 AND state = 'processing';

-- name: job_cancel
UPDATE job SET state = 'cancelled', updated_at = ?3, ready_at = NULL
WHERE bank_key = ?1 AND job_id = ?2 AND state = 'pending';

-- name: job_held
SELECT EXISTS (SELECT 1 FROM job
    WHERE bank_key = ?1 AND job_id = ?2 AND fence = ?3 AND state = 'processing');

-- name: job_get
SELECT {job_columns} FROM job WHERE bank_key = ?1 AND job_id = ?2;

-- name: job_list
SELECT {job_columns} FROM job WHERE bank_key = ?1 AND (?2 IS NULL OR state = ?2)
ORDER BY created_at DESC, job_id DESC LIMIT ?3 OFFSET ?4;

-- name: job_count
SELECT COUNT(*) FROM job WHERE bank_key = ?1 AND (?2 IS NULL OR state = ?2);

-- name: due_put
INSERT INTO due (bank_key, trigger_id, due_at, payload) VALUES (?1, ?2, ?3, ?4)
ON CONFLICT (bank_key, trigger_id) DO UPDATE SET due_at = excluded.due_at,
    payload = excluded.payload;

-- name: due_list
SELECT d.trigger_id, b.tenant, b.name, d.due_at, d.payload
FROM due d JOIN bank b ON b.bank_key = d.bank_key
WHERE d.due_at <= ?1 ORDER BY d.due_at, d.trigger_id LIMIT ?2;

-- name: due_delete
DELETE FROM due WHERE bank_key = ?1 AND trigger_id = ?2;
