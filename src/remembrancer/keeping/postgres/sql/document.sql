-- name: document_columns
document_id, name, content_hash, created_at, updated_at, length, tags, metadata, params

-- name: document_named
SELECT {document_columns} FROM document WHERE bank_key = $1 AND name = $2;

-- name: document_list
SELECT {document_columns} FROM document WHERE bank_key = $1
ORDER BY updated_at DESC, document_id DESC LIMIT $2 OFFSET $3;

-- name: document_names
SELECT document_id, name FROM document WHERE bank_key = $1 AND document_id = ANY({ids});

-- name: document_insert
INSERT INTO document (bank_key, document_id, name, content_hash, created_at, updated_at, length,
    tags, metadata, params)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10);

-- name: document_delete
DELETE FROM document WHERE bank_key = $1 AND document_id = $2;

-- name: document_empty
SELECT NOT EXISTS (SELECT 1 FROM unit WHERE bank_key = $1 AND document_id = $2);

-- name: document_unhash
UPDATE document SET content_hash = $3 WHERE bank_key = $1 AND document_id = $2;

-- name: document_update
UPDATE document SET content_hash = $3, updated_at = $4, length = $5, tags = $6, metadata = $7,
    params = $8
WHERE bank_key = $1 AND document_id = $2;

-- name: document_get
SELECT {document_columns} FROM document WHERE bank_key = $1 AND document_id = $2;

-- name: document_read_by
SELECT EXISTS (SELECT 1 FROM document d, json_array_elements_text(d.params::json -> 'reading') r
    WHERE d.bank_key = $1 AND d.document_id = $2 AND d.content_hash = $3 AND r = $4);

-- name: document_tell
UPDATE document SET params = $3 WHERE bank_key = $1 AND document_id = $2;

-- name: chunk_list
SELECT chunk_index, text FROM chunk WHERE bank_key = $1 AND document_id = $2
ORDER BY chunk_index;

-- name: chunk_put
INSERT INTO chunk (bank_key, document_id, chunk_index, text) VALUES ($1, $2, $3, $4)
ON CONFLICT (bank_key, document_id, chunk_index) DO UPDATE SET text = excluded.text
WHERE chunk.text <> excluded.text;

-- name: chunk_trim
DELETE FROM chunk WHERE bank_key = $1 AND document_id = $2 AND chunk_index > $3;

-- name: chunk_text
SELECT text FROM chunk WHERE bank_key = $1 AND document_id = $2 AND chunk_index = $3;

-- name: chunk_redact
UPDATE chunk SET text = $4 WHERE bank_key = $1 AND document_id = $2 AND chunk_index = $3;

-- name: chunk_delete
DELETE FROM chunk WHERE bank_key = $1 AND document_id = $2;

-- name: document_time
-- The time of a document t that $11 names: 0 when it was made, or else when it last changed.
CASE $11::bigint WHEN 0 THEN t.created_at ELSE t.updated_at END

-- name: document_fits
t.bank_key = $1 AND ($2::text IS NULL OR strpos({folded_name}, $2) > 0) AND {tags_fit}

-- name: document_lies
-- $5 and $6: from when until when the time of a document t lies that fits.
{document_fits} AND ($5::bigint IS NULL OR {document_time} >= $5)
    AND ($6::bigint IS NULL OR {document_time} < $6)

-- name: document_like
-- Parameters $5 and $6 are NULL, so that those of tags are numbered as for units.
SELECT {document_columns} FROM document t WHERE {document_fits}
    AND $5::bigint IS NULL AND $6::bigint IS NULL
ORDER BY t.updated_at DESC, t.document_id DESC LIMIT $3 OFFSET $4;

-- name: document_like_count
SELECT COUNT(*) FROM document t WHERE {document_fits}
    AND $3::bigint IS NULL AND $4::bigint IS NULL AND $5::bigint IS NULL AND $6::bigint IS NULL;

-- name: document_during
SELECT {document_columns} FROM document t WHERE {document_lies}
ORDER BY {document_time} DESC, t.document_id DESC LIMIT $3 OFFSET $4;

-- name: document_during_count
SELECT COUNT(*) FROM document t WHERE {document_lies}
    AND $3::bigint IS NULL AND $4::bigint IS NULL;

-- name: document_kinds
SELECT document_id, kind, COUNT(*) FROM unit
WHERE bank_key = $1 AND document_id = ANY({ids}) GROUP BY document_id, kind;

-- name: document_retag
UPDATE document SET tags = $3, updated_at = $4
WHERE bank_key = $1 AND document_id = $2 AND tags IS DISTINCT FROM $3;

-- name: unit_retag
UPDATE unit SET tags = $3 WHERE bank_key = $1 AND document_id = $2 AND tags IS DISTINCT FROM $3
RETURNING unit_id;

-- name: retag_keys
SELECT unit_id, same FROM sameness WHERE bank_key = $1 AND unit_id = ANY({ids});

-- name: chunk_page
SELECT chunk_index, text FROM chunk WHERE bank_key = $1 AND document_id = $2
ORDER BY chunk_index LIMIT $3 OFFSET $4;

-- name: chunk_count
SELECT COUNT(*) FROM chunk WHERE bank_key = $1 AND document_id = $2;
