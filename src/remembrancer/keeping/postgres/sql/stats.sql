-- name: stats_units
SELECT layer, kind, COUNT(*) FROM unit WHERE bank_key = $1 GROUP BY layer, kind;

-- name: stats_links
SELECT l.type, u.kind, COUNT(*) FROM link l
JOIN unit u ON u.bank_key = $1 AND u.unit_id = l.source
WHERE l.bank_key = $1 GROUP BY l.type, u.kind;

-- name: stats_mentions
SELECT mention_count FROM entity WHERE bank_key = $1;

-- name: stats_distinct
SELECT COUNT(DISTINCT s.same) FROM sameness s
JOIN unit u ON u.bank_key = $1 AND u.unit_id = s.unit_id
WHERE s.bank_key = $1 AND u.layer = $2;

-- name: stats_jobs
SELECT state, COUNT(*) FROM job WHERE bank_key = $1 AND listed = 1 AND batch = 0 GROUP BY state;

-- name: stats_written
-- Ids are ordered by time, so the last one is the newest.
SELECT created_at FROM unit WHERE bank_key = $1 ORDER BY unit_id DESC LIMIT 1;

-- name: stats_created_at
SELECT (created_at - $2) / $4, kind, COUNT(*) FROM unit
WHERE bank_key = $1 AND created_at >= $2 AND created_at < $3 GROUP BY 1, 2;

-- name: stats_mentioned_at
SELECT (mentioned_at - $2) / $4, kind, COUNT(*) FROM unit
WHERE bank_key = $1 AND mentioned_at >= $2 AND mentioned_at < $3 GROUP BY 1, 2;

-- name: stats_occurred_start
SELECT (occurred_start - $2) / $4, kind, COUNT(*) FROM unit
WHERE bank_key = $1 AND occurred_start >= $2 AND occurred_start < $3 GROUP BY 1, 2;

-- name: stats_tags
-- One row at least, so that the total is known past the last page, too.
WITH counted (tag, number) AS MATERIALIZED (
    SELECT t COLLATE "C", COUNT(*) FROM unit u, json_array_elements_text(u.tags::json) t
    WHERE u.bank_key = $1 AND u.source_id IS NULL AND u.tags IS NOT NULL
        AND ($2::text IS NULL OR t COLLATE "C" ILIKE $2 ESCAPE '\')
    GROUP BY t COLLATE "C")
SELECT (SELECT COUNT(*) FROM counted), page.tag, page.number
FROM (SELECT 1) one LEFT JOIN
    (SELECT tag, number FROM counted ORDER BY number DESC, tag LIMIT $3 OFFSET $4) page ON true
ORDER BY page.number DESC, page.tag;

-- name: stats_scopes
SELECT tags, COUNT(*) FROM unit WHERE bank_key = $1 AND layer = 2 GROUP BY tags;

-- name: stats_ids
SELECT unit_id FROM unit
WHERE bank_key = $1 AND unit_id > $2
    AND CASE WHEN $3::bigint IS NULL THEN source_id IS NULL ELSE kind = $3 END
ORDER BY unit_id LIMIT $4;

-- name: stats_all_jobs
SELECT state, COUNT(*) FROM job WHERE listed = 1 AND batch = 0 GROUP BY state;

-- name: stats_memories
SELECT COALESCE(SUM(sources + observations), 0)::bigint FROM bank
WHERE $1::text IS NULL OR tenant = $1;

-- name: stats_tenants
SELECT tenant, SUM(sources + observations)::bigint, SUM(documents)::bigint FROM bank
WHERE tenant > $1 GROUP BY tenant ORDER BY tenant LIMIT $2;

-- name: stats_tenant
SELECT COALESCE(SUM(sources + observations), 0)::bigint, COALESCE(SUM(documents), 0)::bigint
FROM bank WHERE tenant = $1;

-- name: stats_all_units
SELECT COUNT(*), COALESCE(SUM(sources), 0)::bigint, COALESCE(SUM(facts), 0)::bigint,
    COALESCE(SUM(observations), 0)::bigint, COALESCE(SUM(documents), 0)::bigint
FROM bank WHERE tenant <> '';

-- name: database_size
SELECT pg_database_size(current_database());

-- name: commit_soon
SET LOCAL synchronous_commit = off;
