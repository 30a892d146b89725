-- name: tags_fit
-- Whether the JSON list of tags `t.tags` meets a rule: $7 the tags (NULL: any will do), $8 how many
-- of them at least, $9 whether none at all will do, $10 how many tags at most.
($7::text IS NULL OR ($9::bigint = 1 AND t.tags IS NULL)
    OR (t.tags IS NOT NULL AND (SELECT COUNT(*) FROM json_array_elements_text(t.tags::json) h
            WHERE h IN (SELECT w FROM json_array_elements_text($7::json) w)) >= $8::bigint
        AND ($10::bigint IS NULL OR json_array_length(t.tags::json) <= $10)))

-- name: browse_time
-- The time of a unit t that $14 names, by its place in `UnitTime`; when it was said without one.
CASE $14::bigint WHEN 0 THEN t.created_at WHEN 1 THEN COALESCE(t.updated_at, t.created_at)
    WHEN 3 THEN t.occurred_start WHEN 4 THEN t.occurred_end ELSE t.mentioned_at END

-- name: browse_fits
-- What is asked of a unit t: $2 its layers as bits, $3 whether invalid, $4 whether folded (used by
-- the queries), $5 its kind, $6 what its text holds, $11 and $12 its document and chunk, $13 an
-- entity that it mentions, $15 and $16 from when until when its time lies.
($2::bigint >> t.layer) & 1 = 1
    AND ($3::bigint IS NULL OR ($3 = 1) = EXISTS (SELECT 1 FROM curation c
        WHERE c.bank_key = $1 AND c.unit_id = t.unit_id AND c.invalid = 1))
    AND ($5::bigint IS NULL OR t.kind = $5) AND {tags_fit}
    AND ($11::bytea IS NULL OR t.document_id = $11)
    AND ($12::bigint IS NULL OR t.chunk_index = $12)
    AND ($13::bytea IS NULL OR EXISTS (SELECT 1 FROM mention m
        WHERE m.bank_key = $1 AND m.unit_id = t.unit_id AND m.entity_id = $13))
    AND ($14::bigint IS NULL OR ({browse_time} IS NOT NULL
        AND ($15::bigint IS NULL OR {browse_time} >= $15)
        AND ($16::bigint IS NULL OR {browse_time} < $16)))
    AND ($6::text IS NULL OR strpos({folded_text}, $6) > 0)

-- name: browse_columns
t.unit_id, {browse_time} AS at, first_value(t.unit_id) OVER (PARTITION BY t.layer, COALESCE(
    (SELECT s.same FROM sameness s WHERE s.bank_key = $1 AND s.unit_id = t.unit_id),
    t.unit_id) ORDER BY t.unit_id) AS root

-- name: browse_page
SELECT unit_id, COUNT(*) OVER () FROM hit WHERE $4::bigint = 0 OR unit_id = root
ORDER BY at DESC, unit_id DESC LIMIT $17 OFFSET $18

-- name: browse_narrow
WITH hit AS (SELECT {browse_columns} FROM unit t WHERE t.bank_key = $1 AND {browse_fits})
{browse_page};

-- name: browse_document
WITH hit AS (SELECT {browse_columns} FROM unit t
    WHERE t.bank_key = $1 AND t.document_id = $11 AND {browse_fits})
{browse_page};

-- name: browse_entity
WITH hit AS (SELECT {browse_columns} FROM mention e JOIN unit t
    ON t.bank_key = $1 AND t.unit_id = e.unit_id
    WHERE e.bank_key = $1 AND e.entity_id = $13 AND {browse_fits})
{browse_page};

-- name: browse_newest
-- As the narrow ones when nothing but layer and state is asked for: walks the units in order of
-- time and leaves out each that has an older one saying the same.
SELECT t.unit_id FROM unit t
WHERE t.bank_key = $1 AND ($2::bigint >> t.layer) & 1 = 1
    AND ($3::bigint IS NULL OR ($3 = 1) = EXISTS (SELECT 1 FROM curation c
        WHERE c.bank_key = $1 AND c.unit_id = t.unit_id AND c.invalid = 1))
    AND ($4::bigint = 0 OR NOT EXISTS (SELECT 1 FROM sameness a
        JOIN sameness b ON b.bank_key = $1 AND b.same = a.same AND b.unit_id < a.unit_id
        JOIN unit u ON u.bank_key = $1 AND u.unit_id = b.unit_id
        WHERE a.bank_key = $1 AND a.unit_id = t.unit_id AND u.layer = t.layer
            AND ($3 IS NULL OR {valid})))
ORDER BY t.mentioned_at DESC, t.unit_id DESC LIMIT $5 OFFSET $6;

-- name: browse_invalid
SELECT COUNT(*) FROM curation c
JOIN unit u ON u.bank_key = $1 AND u.unit_id = c.unit_id
WHERE c.bank_key = $1 AND c.invalid = 1 AND ($2::bigint >> u.layer) & 1 = 1;

-- name: browse_repeats
-- How many units say what an older one of their layer says; $3: whether invalid ones count too.
SELECT COALESCE(SUM(n - 1), 0)::bigint FROM (
    SELECT COUNT(*) AS n
    FROM (SELECT same FROM sameness WHERE bank_key = $1 GROUP BY same HAVING COUNT(*) > 1) d
    JOIN sameness s ON s.bank_key = $1 AND s.same = d.same
    JOIN unit u ON u.bank_key = $1 AND u.unit_id = s.unit_id
    WHERE ($2::bigint >> u.layer) & 1 = 1 AND ($3::bigint = 1 OR {valid})
    GROUP BY s.same, u.layer
) repeated;

-- name: browse_counts
SELECT sources, facts, observations, documents FROM bank WHERE bank_key = $1;

-- name: browse_read_from
SELECT {unit_columns} FROM {unit_tables}
WHERE u.bank_key = $1 AND {source} = ANY({ids}) AND u.source_id IS NOT NULL AND u.layer = 1;

-- name: browse_links
SELECT source, target, type, weight FROM link
WHERE bank_key = $1 AND (source = ANY({ids}) OR target = ANY({ids}));

-- name: browse_texts
-- What a store that seals looks for a part of a text in.
SELECT t.unit_id, t.layer, t.text,
    (SELECT s.same FROM sameness s WHERE s.bank_key = $1 AND s.unit_id = t.unit_id)
FROM unit t WHERE t.bank_key = $1 AND t.unit_id = ANY({ids});
