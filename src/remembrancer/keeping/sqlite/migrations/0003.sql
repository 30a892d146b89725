-- Jobs in families, one at a time for each document, and claimed in turns.
--
-- seq: the order in which a bank's jobs were queued.
-- batch: 1 for a parent, whose state is that of its children and which nobody claims.
-- kept: 0 once the payload was forgotten, or is to go when the job ends.
-- ready_at: 0: a worker may take the job now; a time: from then on; NULL: not at all, for it has
-- ended, is a parent, or waits for an earlier job of its document.
ALTER TABLE job ADD COLUMN tenant TEXT NOT NULL DEFAULT '';
ALTER TABLE job ADD COLUMN seq INTEGER NOT NULL DEFAULT 0;
ALTER TABLE job ADD COLUMN parent BLOB;
ALTER TABLE job ADD COLUMN part INTEGER NOT NULL DEFAULT 0;
ALTER TABLE job ADD COLUMN batch INTEGER NOT NULL DEFAULT 0;
ALTER TABLE job ADD COLUMN document TEXT;
ALTER TABLE job ADD COLUMN items INTEGER NOT NULL DEFAULT 0;
ALTER TABLE job ADD COLUMN priority INTEGER NOT NULL DEFAULT 0;
ALTER TABLE job ADD COLUMN listed INTEGER NOT NULL DEFAULT 1;
ALTER TABLE job ADD COLUMN kept INTEGER NOT NULL DEFAULT 1;
ALTER TABLE job ADD COLUMN progress TEXT;

UPDATE job SET
    tenant = COALESCE((SELECT b.tenant FROM bank b WHERE b.bank_key = job.bank_key), ''),
    seq = (SELECT n FROM (
            SELECT bank_key AS k, job_id AS i,
                ROW_NUMBER() OVER (PARTITION BY bank_key ORDER BY created_at, job_id) AS n
            FROM job)
        WHERE k = job.bank_key AND i = job.job_id),
    items = COALESCE(json_extract(result, '$.items'), json_array_length(payload, '$.items'), 0),
    priority = kind = 'sweep',
    listed = kind <> 'sweep';

DROP INDEX job_open;
DROP INDEX job_by_creation;
CREATE INDEX job_ready ON job (kind, priority, tenant, bank_key, seq, job_id) WHERE ready_at = 0;
CREATE INDEX job_later ON job (ready_at, bank_key, job_id) WHERE ready_at > 0;
CREATE INDEX job_by_seq ON job (bank_key, seq, state, kind, batch, listed, job_id, parent);
CREATE INDEX job_by_parent ON job (bank_key, parent, part, state, updated_at)
    WHERE parent IS NOT NULL;
CREATE INDEX job_by_document ON job (bank_key, document, state, seq, job_id)
    WHERE document IS NOT NULL;
CREATE INDEX job_by_id ON job (job_id, tenant, bank_key);

INSERT INTO sqlite_stat1 (tbl, idx, stat) VALUES
    ('job', 'sqlite_autoindex_job_1', '100000 10000 1'),
    ('job', 'job_ready', '10000 5000 5000 1000 100 1 1'),
    ('job', 'job_later', '1000 1 1 1'),
    ('job', 'job_by_seq', '100000 10000 1 1 1 1 1 1 1'),
    ('job', 'job_by_parent', '50000 5000 50 1 1 1'),
    ('job', 'job_by_document', '10000 1000 2 1 1 1'),
    ('job', 'job_by_id', '100000 1 1 1');
