-- name: bank_columns
tenant, name, revision, created_at, updated_at, profile,
    sources + facts + observations, documents,
    (SELECT MAX(d.updated_at) FROM document d WHERE d.bank_key = bank.bank_key),
    (SELECT u.created_at FROM unit u WHERE u.bank_key = bank.bank_key
        ORDER BY u.unit_id DESC LIMIT 1)

-- name: bank_containing
(?2 IS NULL OR instr(lower(name), lower(?2))
    OR instr(lower(COALESCE(json_extract(profile, '$.name'), '')), lower(?2)))

-- name: bank_named
SELECT tenant, name FROM bank WHERE bank_key = ?1;

-- name: bank_get
SELECT {bank_columns} FROM bank WHERE bank_key = ?1;

-- name: bank_list
-- Names that begin with a control character are the house's own.
SELECT {bank_columns} FROM bank WHERE tenant = ?1 AND name >= ' ' AND {bank_containing}
ORDER BY name LIMIT ?3 OFFSET ?4;

-- name: bank_count
SELECT COUNT(*) FROM bank WHERE tenant = ?1 AND name >= ' ' AND {bank_containing};

-- name: banks_state
SELECT COUNT(*), COALESCE(SUM(revision), 0) FROM bank WHERE tenant = ?1;

-- name: bank_marks
SELECT name, bank_key, revision, updated_at, sources + observations FROM bank
WHERE tenant = ?1 AND (name >= ' ' OR name = ?2) ORDER BY name LIMIT ?3;

-- name: bank_vectors
SELECT codes, scale FROM vector WHERE bank_key = ?1 AND generation = ?2;

-- name: bank_state
-- The bank with the active generation, in one read; the bank's columns are NULL without a bank.
SELECT b.tenant, b.name, b.revision, b.trimmed_to,
    COALESCE((SELECT number FROM generation WHERE active = 1), 0),
    b.sources, b.facts, b.observations, b.documents, b.entities, b.links
FROM (SELECT 1) LEFT JOIN bank b ON b.bank_key = ?1;

-- name: bank_insert
-- A new bank begins above every revision a dropped bank has had, its feed trimmed up to there,
-- so that an index of a dropped bank can never take the new one's feed for a continuation.
INSERT INTO bank (bank_key, tenant, name, revision, trimmed_to, created_at, updated_at)
SELECT ?1, ?2, ?3, value, value, ?4, ?4 FROM meta WHERE name = 'revision_floor';

-- name: bank_profile
UPDATE bank SET profile = ?2, updated_at = ?3 WHERE bank_key = ?1;

-- name: bank_advance
UPDATE bank SET revision = revision + 1, updated_at = ?2, sources = sources + ?3,
    facts = facts + ?4, observations = observations + ?5, documents = documents + ?6,
    entities = entities + ?7, links = links + ?8
WHERE bank_key = ?1;

-- name: floor_raise
UPDATE meta SET value = MAX(value, ?1)
WHERE name = 'revision_floor';

-- name: drop_document
DELETE FROM document WHERE bank_key = ?1;

-- name: drop_chunk
DELETE FROM chunk WHERE bank_key = ?1;

-- name: drop_unit
DELETE FROM unit WHERE bank_key = ?1;

-- name: drop_search
DELETE FROM search WHERE bank_key = ?1;

-- name: drop_vector
DELETE FROM vector WHERE bank_key = ?1;

-- name: drop_pending
DELETE FROM pending WHERE bank_key = ?1;

-- name: drop_access
DELETE FROM access WHERE bank_key = ?1;

-- name: drop_entity
DELETE FROM entity WHERE bank_key = ?1;

-- name: drop_entity_alias
DELETE FROM entity_alias WHERE bank_key = ?1;

-- name: drop_mention
DELETE FROM mention WHERE bank_key = ?1;

-- name: drop_link
DELETE FROM link WHERE bank_key = ?1;

-- name: drop_change
DELETE FROM change WHERE bank_key = ?1;

-- name: drop_job
DELETE FROM job WHERE bank_key = ?1;

-- name: drop_due
DELETE FROM due WHERE bank_key = ?1;

-- name: drop_blob
DELETE FROM blob WHERE bank_key = ?1;

-- name: drop_record
DELETE FROM record WHERE bank_key = ?1;

-- name: drop_sameness
DELETE FROM sameness WHERE bank_key = ?1;

-- name: drop_curation
DELETE FROM curation WHERE bank_key = ?1;

-- name: drop_claim
DELETE FROM claim WHERE bank_key = ?1;

-- name: drop_bank
DELETE FROM bank WHERE bank_key = ?1;

-- name: change_insert
INSERT INTO change (bank_key, revision, seq, op, unit_id) VALUES (?1, ?2, ?3, ?4, ?5);

-- name: change_page
SELECT revision, op, unit_id FROM change
WHERE bank_key = ?1 AND revision > ?2 ORDER BY revision, seq LIMIT ?3;

-- name: change_of
SELECT revision, op, unit_id FROM change WHERE bank_key = ?1 AND revision = ?2 ORDER BY seq;

-- name: change_after
SELECT EXISTS (SELECT 1 FROM change WHERE bank_key = ?1 AND revision > ?2);

-- name: change_newest
-- The revision of the entry that so many are newer than.
SELECT revision FROM change WHERE bank_key = ?1
ORDER BY revision DESC, seq DESC LIMIT 1 OFFSET ?2;

-- name: change_oldest
-- The revision of the entry that so many are older than.
SELECT revision FROM change WHERE bank_key = ?1 ORDER BY revision, seq LIMIT 1 OFFSET ?2;

-- name: change_trim
DELETE FROM change WHERE bank_key = ?1 AND revision <= ?2;

-- name: change_trimmed
UPDATE bank SET trimmed_to = MAX(trimmed_to, MIN(revision, ?2)) WHERE bank_key = ?1;

-- name: deletions
SELECT value FROM meta WHERE name = 'deletions';

-- name: deletions_note
UPDATE meta SET value = value + 1 WHERE name = 'deletions';

-- name: deletions_wiped
UPDATE meta SET value = MAX(value - ?1, 0) WHERE name = 'deletions';
