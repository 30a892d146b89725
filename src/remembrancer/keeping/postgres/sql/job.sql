-- name: job_columns
job_id, kind, state, created_at, updated_at, payload, result, error, attempts, run_after,
    lease_until, fence, parent, part, batch, document, items, priority, listed, kept, progress

-- name: job_derived
-- The state of a parent's children taken together; NULL without any.
(SELECT CASE
        WHEN COUNT(*) = 0 THEN NULL
        WHEN COUNT(*) FILTER (WHERE c.state <> 'pending') = 0 THEN 'pending'
        WHEN COUNT(*) FILTER (WHERE c.state IN ('pending', 'processing')) > 0 THEN 'processing'
        WHEN COUNT(*) FILTER (WHERE c.state = 'failed') > 0 THEN 'failed'
        WHEN COUNT(*) FILTER (WHERE c.state = 'cancelled') > 0 THEN 'cancelled'
        ELSE 'completed' END
    FROM job c WHERE c.bank_key = $1 AND c.parent = j.job_id)

-- name: job_state
CASE j.batch WHEN 0 THEN j.state ELSE COALESCE({job_derived}, j.state) END

-- name: job_shown
-- As `job_columns`, for a parent with what its children say; the payload only when $3 is 1.
j.job_id, j.kind, {job_state}, j.created_at,
    CASE j.batch WHEN 0 THEN j.updated_at ELSE GREATEST(j.updated_at, COALESCE(
        (SELECT MAX(c.updated_at) FROM job c
        WHERE c.bank_key = $1 AND c.parent = j.job_id), 0)) END,
    CASE $3::bigint WHEN 1 THEN j.payload ELSE '{}' END, j.result,
    CASE j.batch WHEN 0 THEN j.error ELSE COALESCE(
        (SELECT c.error FROM job c
        WHERE c.bank_key = $1 AND c.parent = j.job_id AND c.state = 'failed'
        ORDER BY c.part LIMIT 1), j.error) END,
    j.attempts, j.run_after, j.lease_until, j.fence, j.parent, j.part, j.batch, j.document,
    j.items, j.priority, j.listed, j.kept, j.progress

-- name: job_insert
INSERT INTO job (bank_key, tenant, seq, ready_at, {job_columns})
SELECT $1::bigint, $2::text,
    (SELECT COALESCE(MAX(seq), 0) + 1 FROM job WHERE bank_key = $1),
    $3::bigint, $4::bytea, $5::text, $6::text, $7::bigint, $8::bigint, $9::text, $10::text,
    $11::text, $12::bigint, $13::bigint, $14::bigint, $15::bigint, $16::bytea, $17::bigint,
    $18::bigint, $19::text, $20::bigint, $21::bigint, $22::bigint, $23::bigint, $24::text
ON CONFLICT (bank_key, job_id) DO NOTHING;

-- name: job_known
SELECT job_id FROM job WHERE bank_key = $1 AND job_id = ANY({ids});

-- name: job_elsewhere
SELECT job_id FROM job WHERE tenant = $1 AND bank_key <> $2 AND job_id = ANY({ids});

-- name: job_last
SELECT COALESCE(MAX(seq), 0) FROM job WHERE bank_key = $1;

-- name: job_next
-- Lets a document's first pending job be taken, unless another one of it runs.
UPDATE job SET ready_at = CASE WHEN run_after > $3 THEN run_after ELSE 0 END
WHERE bank_key = $1 AND ready_at IS NULL
    AND job_id = (SELECT job_id FROM job
        WHERE bank_key = $1 AND document = $2 AND state = 'pending' ORDER BY seq LIMIT 1)
    AND NOT EXISTS (SELECT 1 FROM job
        WHERE bank_key = $1 AND document = $2 AND state = 'processing');

-- name: job_hold_back
-- Lets the pending job after an earlier one of its document wait for that.
UPDATE job SET ready_at = NULL
WHERE bank_key = $1 AND document = $2 AND state = 'pending' AND seq = (SELECT MIN(seq) FROM job
    WHERE bank_key = $1 AND document = $2 AND state = 'pending' AND seq > $3);

-- name: job_first_priority
SELECT MAX(priority) FROM job WHERE ready_at = 0 AND kind = $1;

-- name: job_next_priority
SELECT MAX(priority) FROM job
WHERE ready_at = 0 AND kind = $1 AND priority < $2;

-- name: job_first_tenant
SELECT MIN(tenant) FROM job
WHERE ready_at = 0 AND kind = $1 AND priority = $2;

-- name: job_next_tenant
SELECT MIN(tenant) FROM job
WHERE ready_at = 0 AND kind = $1 AND priority = $2 AND tenant > $3;

-- name: job_first_bank
SELECT MIN(bank_key) FROM job
WHERE ready_at = 0 AND kind = $1 AND priority = $2 AND tenant = $3;

-- name: job_next_bank
SELECT MIN(bank_key) FROM job
WHERE ready_at = 0 AND kind = $1 AND priority = $2 AND tenant = $3 AND bank_key > $4;

-- name: job_poll
SELECT seq, job_id FROM job
WHERE ready_at = 0 AND kind = $1 AND priority = $2 AND tenant = $3 AND bank_key = $4
ORDER BY seq LIMIT $5;

-- name: job_due
SELECT bank_key, job_id FROM job
WHERE ready_at > 0 AND ready_at <= $1 ORDER BY ready_at LIMIT $2;

-- name: job_make_ready
UPDATE job SET ready_at = 0
WHERE bank_key = $1 AND job_id = $2 AND ready_at > 0 AND ready_at <= $3;

-- name: job_claim
UPDATE job SET state = 'processing', fence = fence + 1, attempts = attempts + 1,
    lease_until = $4, ready_at = $4, updated_at = $3, progress = NULL
WHERE bank_key = $1 AND job_id = $2 AND ready_at = 0
RETURNING {job_columns};

-- name: job_heartbeat
UPDATE job SET lease_until = $4, ready_at = $4, updated_at = $5, progress = COALESCE($6, progress)
WHERE bank_key = $1 AND job_id = $2 AND fence = $3 AND state = 'processing';

-- name: job_values
-- Values of a job (`records.of_job`) are a part of its payload that is too large for a row: they go
-- with it. '0' comes after '/'.
DELETE FROM blob b USING spent s WHERE b.bank_key = $1 AND s.payload = '{}'
    AND b.key >= 'job/' || encode(s.job_id, 'hex') || '/'
    AND b.key < 'job/' || encode(s.job_id, 'hex') || '0'

-- name: job_finish
-- A completed job needs its payload no more, and texts in it would outlive a forget.
WITH spent AS (
    UPDATE job SET state = $4, updated_at = $5, result = $6, error = $7, run_after = $8,
        lease_until = NULL, ready_at = $9, attempts = GREATEST(attempts - $10, 0),
        progress = CASE $4 WHEN 'failed' THEN progress END,
        payload = CASE WHEN $4 = 'completed' OR (kept = 0 AND $4 <> 'pending')
            THEN '{}' ELSE payload END
    WHERE bank_key = $1 AND job_id = $2 AND fence = $3 AND state = 'processing'
    RETURNING job_id, payload, document
), gone AS ({job_values})
SELECT document FROM spent;

-- name: job_held
SELECT EXISTS (SELECT 1 FROM job
    WHERE bank_key = $1 AND job_id = $2 AND fence = $3 AND state = 'processing');

-- name: job_cancelled
state = 'cancelled', fence = fence + 1, updated_at = $3, ready_at = NULL, lease_until = NULL,
    payload = CASE kept WHEN 0 THEN '{}' ELSE payload END

-- name: job_cancel
WITH spent AS (
    UPDATE job SET {job_cancelled}
    WHERE bank_key = $1 AND job_id = $2 AND state IN ('pending', 'processing')
    RETURNING job_id, payload, document
), gone AS ({job_values})
SELECT document FROM spent;

-- name: job_cancel_children
WITH spent AS (
    UPDATE job SET {job_cancelled}
    WHERE bank_key = $1 AND parent = $2 AND state IN ('pending', 'processing')
    RETURNING job_id, payload, document
), gone AS ({job_values})
SELECT document FROM spent;

-- name: job_renewed
state = 'pending', attempts = 0, error = NULL, run_after = 0, progress = NULL, updated_at = $3,
    ready_at = CASE WHEN document IS NULL THEN 0 END

-- name: job_retry
UPDATE job SET {job_renewed}
WHERE bank_key = $1 AND job_id = $2 AND batch = 0 AND kept = 1
    AND state IN ('failed', 'cancelled')
RETURNING document, seq;

-- name: job_retry_children
UPDATE job SET {job_renewed}
WHERE bank_key = $1 AND parent = $2 AND kept = 1 AND state IN ('failed', 'cancelled')
RETURNING document, seq;

-- name: job_settle
-- What a parent says of itself counts once it has no children any more.
UPDATE job SET state = $3, updated_at = $4 WHERE bank_key = $1 AND job_id = $2 AND batch = 1;

-- name: job_delete
WITH spent AS (
    DELETE FROM job WHERE bank_key = $1 AND job_id = $2 RETURNING job_id, '{}' AS payload
), gone AS ({job_values})
SELECT job_id FROM spent;

-- name: job_delete_children
WITH spent AS (
    DELETE FROM job WHERE bank_key = $1 AND parent = $2 RETURNING job_id, '{}' AS payload
), gone AS ({job_values})
SELECT job_id FROM spent;

-- name: job_forget_open
WITH spent AS (
    UPDATE job SET state = 'cancelled', fence = fence + 1, updated_at = $3, ready_at = NULL,
        lease_until = NULL, payload = '{}', kept = 0, error = $4
    WHERE bank_key = $1 AND document = $2 AND state IN ('pending', 'processing') AND job_id <> $5
    RETURNING job_id, payload
), gone AS ({job_values})
SELECT job_id FROM spent;

-- name: job_forget_ended
WITH spent AS (
    UPDATE job SET payload = '{}', kept = 0, error = $3
    WHERE bank_key = $1 AND document = $2 AND state IN ('failed', 'cancelled') AND kept = 1
    RETURNING job_id, payload
), gone AS ({job_values})
SELECT job_id FROM spent;

-- name: job_forget_later
UPDATE job SET kept = 0
WHERE bank_key = $1 AND document = $2 AND state IN ('pending', 'processing') AND kept = 1;

-- name: job_document_name
SELECT name FROM document WHERE bank_key = $1 AND document_id = $2;

-- name: job_holding
SELECT DISTINCT document FROM job
WHERE bank_key = $1 AND document = ANY({ids}) AND document IS NOT NULL AND kept = 1
    AND state <> 'completed';

-- name: job_cutoff
SELECT seq FROM job WHERE bank_key = $1 AND state IN ('completed', 'failed', 'cancelled')
ORDER BY seq DESC LIMIT 1 OFFSET $2;

-- name: job_old
-- A family goes whole or not at all.
SELECT j.job_id FROM job j WHERE j.bank_key = $1 AND j.seq <= $2 AND j.parent IS NULL
    AND {job_state} IN ('completed', 'failed', 'cancelled')
ORDER BY j.seq LIMIT $3;

-- name: job_get
SELECT {job_shown} FROM job j WHERE j.bank_key = $1 AND j.job_id = $2;

-- name: job_children
SELECT {job_shown} FROM job j WHERE j.bank_key = $1 AND j.parent = $2 ORDER BY j.part, j.seq;

-- name: job_matches
j.bank_key = $1 AND ($2::text IS NULL OR {job_state} = $2)
    AND (CASE WHEN $4::text IS NULL THEN j.listed = 1 ELSE j.kind = $4 END) AND ($5::bigint = 1 OR j.batch = 0)

-- name: job_list
SELECT {job_shown} FROM job j WHERE {job_matches} ORDER BY j.seq DESC LIMIT $6 OFFSET $7;

-- name: job_count
SELECT COUNT(*) FROM job j WHERE {job_matches} AND $3::bigint = 0;

-- name: due_put
INSERT INTO due (bank_key, trigger_id, due_at, payload) VALUES ($1, $2, $3, $4)
ON CONFLICT (bank_key, trigger_id) DO UPDATE SET due_at = excluded.due_at,
    payload = excluded.payload;

-- name: due_list
SELECT d.trigger_id, b.tenant, b.name, d.due_at, d.payload
FROM due d JOIN bank b ON b.bank_key = d.bank_key
WHERE d.due_at <= $1 ORDER BY d.due_at, d.trigger_id LIMIT $2;

-- name: due_delete
DELETE FROM due WHERE bank_key = $1 AND trigger_id = $2;
