-- name: unit_columns
u.unit_id, u.layer, u.text, u.created_at, u.mentioned_at, u.kind, u.document_id, u.chunk_index,
    u.turn, u.part, u.start_char, u.end_char, u.source_id, u.previous_id, u.speaker, u.role,
    u.subject, u.polarity, u.modality, u.note, u.attributes, u.metadata, u.tags, u.entities,
    u.occurred_start, u.occurred_end, u.precision, u.offset_min, u.valid_from, u.valid_until,
    u.updated_at, u.importance, a.count, a.last_at

-- name: unit_tables
unit u LEFT JOIN access a ON a.bank_key = $1 AND a.unit_id = u.unit_id

-- name: source
COALESCE(u.source_id, u.unit_id)

-- name: index_columns
u.unit_id, u.layer, u.kind, u.source_id, u.speaker, u.role, u.mentioned_at, u.occurred_start,
    u.occurred_end, u.tags, s.terms, COALESCE(s.window_terms, s.terms),
    v.codes, v.scale,
    CASE WHEN octet_length(v.window_codes) = 0 THEN v.codes ELSE v.window_codes END, v.window_scale

-- name: index_tables
unit u LEFT JOIN search s ON s.bank_key = $1 AND s.unit_id = u.unit_id
    LEFT JOIN vector v ON v.bank_key = $1 AND v.generation = $2 AND v.unit_id = u.unit_id

-- name: valid
NOT EXISTS (SELECT 1 FROM curation c
        WHERE c.bank_key = $1 AND c.unit_id = u.unit_id AND c.invalid = 1)

-- name: index_scan
SELECT {index_columns} FROM {index_tables}
WHERE u.bank_key = $1 AND u.unit_id > $3 AND u.source_id IS NULL
    AND {valid} ORDER BY u.unit_id LIMIT $4;

-- name: index_some
SELECT {index_columns} FROM {index_tables}
WHERE u.bank_key = $1 AND u.unit_id = ANY({ids}) AND u.source_id IS NULL
    AND {valid} ORDER BY u.unit_id;

-- name: unit_some
SELECT {unit_columns} FROM {unit_tables} WHERE u.bank_key = $1 AND u.unit_id = ANY({ids});

-- name: unit_search_some
SELECT u.unit_id, COALESCE(s.terms, ''::bytea), COALESCE(s.window_terms, s.terms, ''::bytea), v.codes, v.scale,
    CASE WHEN octet_length(v.window_codes) = 0 THEN v.codes ELSE v.window_codes END, v.window_scale,
    (SELECT same FROM sameness w WHERE w.bank_key = $1 AND w.unit_id = u.unit_id)
FROM {index_tables} WHERE u.bank_key = $1 AND u.unit_id = ANY({ids});

-- name: unit_facts
SELECT {unit_columns} FROM {unit_tables}
WHERE u.bank_key = $1 AND {source} = ANY({ids}) AND u.source_id IS NOT NULL AND u.layer = 1
    AND {valid};

-- name: unit_recalled
-- Units, each with the facts read from it; the document's name, and the key of what a unit says
-- where another unit says it too. The counters of the facts are not read.
WITH wanted (unit_id) AS (SELECT unnest({rows}))
SELECT {unit_columns}, CASE WHEN u.source_id IS NULL THEN (SELECT d.name FROM document d
    WHERE d.bank_key = $1 AND d.document_id = u.document_id) END,
    CASE WHEN u.source_id IS NULL THEN (SELECT s.same FROM sameness s
        WHERE s.bank_key = $1 AND s.unit_id = u.unit_id AND {shared}) END
FROM wanted w JOIN unit u ON u.bank_key = $1 AND {source} = w.unit_id
    LEFT JOIN access a ON a.bank_key = $1 AND a.unit_id = u.unit_id AND u.source_id IS NULL
WHERE {valid};

-- name: unit_of_document
SELECT {unit_columns} FROM {unit_tables}
WHERE u.bank_key = $1 AND u.document_id = $2 ORDER BY u.unit_id;

-- name: unit_newest
SELECT u.unit_id FROM unit u
WHERE u.bank_key = $1 AND u.mentioned_at >= $2 AND mentioned_at < $3
    AND ($4::bigint IS NULL OR layer = $4)
    AND {valid}
ORDER BY u.mentioned_at DESC, u.unit_id DESC LIMIT $5;

-- name: unit_newest_of
SELECT u.unit_id FROM mention u
WHERE u.bank_key = $1
    AND u.entity_id = (SELECT entity_id FROM entity WHERE bank_key = $1 AND name = $6)
    AND mentioned_at >= $2 AND mentioned_at < $3
    AND ($4::bigint IS NULL OR layer = $4)
    AND {valid}
ORDER BY u.mentioned_at DESC, u.unit_id DESC LIMIT $5;

-- name: unit_locate
SELECT u.unit_id, b.name FROM unit u JOIN bank b ON b.bank_key = u.bank_key
WHERE b.tenant = $1 AND u.unit_id = ANY({ids});

-- name: unit_known
SELECT unit_id, layer, mentioned_at FROM unit WHERE bank_key = $1 AND unit_id = ANY({ids});

-- name: unit_insert
INSERT INTO unit (bank_key, unit_id, layer, kind, source_id, speaker, role, mentioned_at,
    occurred_start, occurred_end, tags, document_id, chunk_index, turn, part, start_char, end_char,
    previous_id, subject, polarity, modality, precision, offset_min,
    valid_from, valid_until, created_at, updated_at, importance, note, attributes, metadata,
    entities, text)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22, $23, $24, $25, $26, $27, $28, $29, $30,
    $31, $32, $33);

-- name: unit_delete
DELETE FROM unit WHERE bank_key = $1 AND unit_id = ANY({ids});

-- name: unit_ids_of_document
SELECT unit_id FROM unit WHERE bank_key = $1 AND document_id = $2;

-- name: unit_sources_of
SELECT {unit_columns} FROM {unit_tables}
WHERE u.bank_key = $1 AND u.document_id = $2 AND u.source_id IS NULL AND u.layer = 0
ORDER BY u.turn, u.part, u.unit_id;

-- name: unit_said_between
SELECT {unit_columns} FROM {unit_tables}
WHERE u.bank_key = $1 AND u.document_id = $2 AND u.turn BETWEEN $3 AND $4
    AND u.source_id IS NULL AND u.layer = 0 AND {valid}
ORDER BY u.turn, u.part, u.unit_id;

-- name: unit_roots_of_document
SELECT u.unit_id, {source} FROM unit u WHERE u.bank_key = $1 AND u.document_id = $2;

-- name: unit_carry
-- A source and what was read from it, at their new place.
UPDATE unit AS u SET chunk_index = $3, turn = $4, part = $5
WHERE u.bank_key = $1 AND {source} = $2;

-- name: unit_tell
UPDATE unit AS u SET mentioned_at = $3, note = $4, metadata = $5, tags = $6
WHERE u.bank_key = $1 AND {source} = $2 RETURNING unit_id;

-- name: unit_ids_of_root
SELECT u.unit_id FROM unit u WHERE u.bank_key = $1 AND {source} = $2;

-- name: unit_place
UPDATE unit SET start_char = $3, end_char = $4, previous_id = $5, entities = $6
WHERE bank_key = $1 AND unit_id = $2;

-- name: unit_ids_of_source
SELECT u.unit_id FROM unit u
WHERE u.bank_key = $1 AND {source} = ANY({ids}) AND u.source_id IS NOT NULL;

-- name: unit_ids_after
SELECT unit_id FROM unit WHERE bank_key = $1 AND previous_id = ANY({ids}) AND layer = 0;

-- name: unit_ids_next
-- Of sources in documents, the source said next after each; NULL after the last.
SELECT (SELECT n.unit_id FROM unit n
    WHERE n.bank_key = $1 AND n.document_id = u.document_id AND n.layer = 0
        AND (n.turn, n.part) > (u.turn, u.part)
    ORDER BY n.turn, n.part LIMIT 1)
FROM unit u
WHERE u.bank_key = $1 AND u.unit_id = ANY({ids}) AND u.layer = 0 AND u.document_id IS NOT NULL;

-- name: unit_places
SELECT unit_id, layer, document_id, chunk_index, start_char, end_char FROM unit
WHERE bank_key = $1 AND unit_id = ANY({ids});

-- name: unit_unchain
UPDATE unit SET previous_id = NULL WHERE bank_key = $1 AND previous_id = ANY({ids});

-- name: unit_reopen
UPDATE unit SET valid_until = NULL
WHERE bank_key = $1 AND unit_id = ANY({ids}) AND valid_until IS NOT NULL;

-- name: search_insert
INSERT INTO search (bank_key, unit_id, terms, window_terms) VALUES ($1, $2, $3, $4);

-- name: search_delete
DELETE FROM search WHERE bank_key = $1 AND unit_id = ANY({ids});

-- name: search_window
UPDATE search SET window_terms = CASE WHEN terms = $3 THEN NULL ELSE $3 END
WHERE bank_key = $1 AND unit_id = $2;

-- name: search_unwindow
UPDATE search SET window_terms = NULL WHERE bank_key = $1 AND unit_id = ANY({ids});

-- name: vector_window
UPDATE vector SET window_codes = CASE WHEN codes = $4 THEN ''::bytea ELSE $4 END, window_scale = $5
WHERE bank_key = $1 AND generation = $2 AND unit_id = $3;

-- name: vector_unwindow
UPDATE vector SET window_codes = ''::bytea, window_scale = scale
WHERE bank_key = $1 AND generation = $2 AND unit_id = ANY({ids});

-- name: sameness_insert
INSERT INTO sameness (bank_key, unit_id, same) VALUES ($1, $2, $3);

-- name: sameness_delete
DELETE FROM sameness WHERE bank_key = $1 AND unit_id = ANY({ids});

-- name: sameness_unlean
-- Of sources and the facts read from them, the keys that lean on what was said before.
DELETE FROM sameness WHERE bank_key = $1 AND same >= '\x80'::bytea AND unit_id IN (
    SELECT u.unit_id FROM unit u WHERE u.bank_key = $1 AND {source} = ANY({ids}));

-- name: sameness_some
SELECT a.unit_id, b.unit_id FROM sameness a
JOIN sameness b ON b.bank_key = $1 AND b.same = a.same
WHERE a.bank_key = $1 AND a.unit_id = ANY({ids}) ORDER BY a.unit_id, b.unit_id;

-- name: shared
-- Whether another unit says what the unit of `s` does.
EXISTS (SELECT 1 FROM sameness o
    WHERE o.bank_key = $1 AND o.same = s.same AND o.unit_id <> s.unit_id)

-- name: sameness_shared
WITH wanted (unit_id) AS (SELECT unnest({rows}))
SELECT s.unit_id, s.same FROM wanted w JOIN sameness s ON s.bank_key = $1 AND s.unit_id = w.unit_id
WHERE {shared};

-- name: sameness_known
WITH wanted (same) AS (SELECT unnest({rows}))
SELECT w.same FROM wanted w
WHERE EXISTS (SELECT 1 FROM sameness s WHERE s.bank_key = $1 AND s.same = w.same);

-- name: sameness_proofs
WITH wanted (same) AS (SELECT unnest({rows}))
SELECT w.same, (SELECT COUNT(*) FROM (
    SELECT 1 FROM sameness u WHERE u.bank_key = $1 AND u.same = w.same AND {valid} LIMIT $2
) proofs)
FROM wanted w WHERE w.same IS NOT NULL;

-- name: curation_put
INSERT INTO curation (bank_key, unit_id, invalid, data) VALUES ($1, $2, $3, $4)
ON CONFLICT (bank_key, unit_id) DO UPDATE SET invalid = excluded.invalid, data = excluded.data;

-- name: curation_some
SELECT unit_id, invalid, data FROM curation WHERE bank_key = $1 AND unit_id = ANY({ids});

-- name: curation_delete
DELETE FROM curation WHERE bank_key = $1 AND unit_id = ANY({ids});

-- name: vector_put
INSERT INTO vector (bank_key, generation, unit_id, codes, scale, window_codes, window_scale)
VALUES ($1, $2, $3, $4, $5, $6, $7)
ON CONFLICT (bank_key, generation, unit_id) DO UPDATE SET codes = excluded.codes,
    scale = excluded.scale, window_codes = excluded.window_codes,
    window_scale = excluded.window_scale;

-- name: vector_delete
DELETE FROM vector WHERE bank_key = $1 AND generation = $2 AND unit_id = ANY({ids});

-- name: access_seed
INSERT INTO access (bank_key, unit_id, count, last_at) VALUES ($1, $2, $3, $4)
ON CONFLICT (bank_key, unit_id) DO NOTHING;

-- name: access_add
INSERT INTO access (bank_key, unit_id, count, last_at)
SELECT $1::bigint, $2::bytea, $3::bigint, $4::bigint
WHERE EXISTS (SELECT 1 FROM unit WHERE bank_key = $1 AND unit_id = $2)
ON CONFLICT (bank_key, unit_id) DO UPDATE SET count = access.count + excluded.count,
    last_at = GREATEST(access.last_at, excluded.last_at);

-- name: access_delete
DELETE FROM access WHERE bank_key = $1 AND unit_id = ANY({ids});
