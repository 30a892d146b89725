-- name: document_columns
document_id, name, content_hash, created_at, updated_at, length, tags, metadata, params

-- name: document_named
SELECT {document_columns} FROM document WHERE bank_key = ?1 AND name = ?2;

-- name: document_list
SELECT {document_columns} FROM document WHERE bank_key = ?1
ORDER BY updated_at DESC, document_id DESC LIMIT ?2 OFFSET ?3;

-- name: document_names
SELECT document_id, name FROM document WHERE bank_key = ?1 AND document_id IN ({ids});

-- name: document_insert
INSERT INTO document (bank_key, document_id, name, content_hash, created_at, updated_at, length,
    tags, metadata, params)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?);

-- name: document_delete
DELETE FROM document WHERE bank_key = ?1 AND document_id = ?2;

-- name: document_empty
SELECT NOT EXISTS (SELECT 1 FROM unit WHERE bank_key = ?1 AND document_id = ?2);

-- name: document_unhash
UPDATE document SET content_hash = '' WHERE bank_key = ?1 AND document_id = ?2;

-- name: chunk_list
SELECT chunk_index, text FROM chunk WHERE bank_key = ?1 AND document_id = ?2
ORDER BY chunk_index;

-- name: chunk_insert
INSERT INTO chunk (bank_key, document_id, chunk_index, text) VALUES (?, ?, ?, ?);

-- name: chunk_text
SELECT text FROM chunk WHERE bank_key = ?1 AND document_id = ?2 AND chunk_index = ?3;

-- name: chunk_redact
UPDATE chunk SET text = ?4 WHERE bank_key = ?1 AND document_id = ?2 AND chunk_index = ?3;

-- name: chunk_delete
DELETE FROM chunk WHERE bank_key = ?1 AND document_id = ?2;
