-- Every table about a bank has the bank's key as the first column of its primary key, and no
-- foreign key leaves a bank. Tables with long rows keep a rowid, for their rows would make the
-- inner pages of a clustered tree hold few keys each; those with short rows do without.

CREATE TABLE meta (
    name TEXT PRIMARY KEY,
    value INTEGER NOT NULL
) WITHOUT ROWID;

-- revision_floor: no bank may ever stand again at a revision that a dropped bank has had.
-- deletions: commits that deleted texts since their leftovers were last wiped from the file.
INSERT INTO meta (name, value)
VALUES ('revision_floor', 0), ('last_generation', 0), ('deletions', 0);

CREATE TABLE generation (
    number INTEGER PRIMARY KEY,
    fingerprint TEXT NOT NULL,
    active INTEGER NOT NULL
);

CREATE TABLE bank (
    bank_key INTEGER PRIMARY KEY,
    tenant TEXT NOT NULL,
    name TEXT NOT NULL,
    revision INTEGER NOT NULL,
    trimmed_to INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    sources INTEGER NOT NULL DEFAULT 0,
    facts INTEGER NOT NULL DEFAULT 0,
    observations INTEGER NOT NULL DEFAULT 0,
    documents INTEGER NOT NULL DEFAULT 0,
    entities INTEGER NOT NULL DEFAULT 0,
    links INTEGER NOT NULL DEFAULT 0,
    profile TEXT NOT NULL DEFAULT '{}'
);
CREATE UNIQUE INDEX bank_by_name ON bank (tenant, name);

CREATE TABLE document (
    bank_key INTEGER NOT NULL,
    document_id BLOB NOT NULL,
    name TEXT NOT NULL,
    content_hash TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    length INTEGER NOT NULL,
    tags TEXT,
    metadata TEXT,
    params TEXT,
    PRIMARY KEY (bank_key, document_id)
);
CREATE UNIQUE INDEX document_by_name ON document (bank_key, name);
CREATE INDEX document_by_update ON document (bank_key, updated_at, document_id);

CREATE TABLE chunk (
    bank_key INTEGER NOT NULL,
    document_id BLOB NOT NULL,
    chunk_index INTEGER NOT NULL,
    text TEXT NOT NULL,
    PRIMARY KEY (bank_key, document_id, chunk_index)
);

-- NULL stands for the default of the noun. The text comes last, so that an index scan does not read
-- the overflow pages of long texts.
CREATE TABLE unit (
    bank_key INTEGER NOT NULL,
    unit_id BLOB NOT NULL,
    layer INTEGER NOT NULL,
    kind INTEGER NOT NULL,
    source_id BLOB,
    speaker TEXT,
    role INTEGER NOT NULL,
    mentioned_at INTEGER NOT NULL,
    occurred_start INTEGER,
    occurred_end INTEGER,
    tags TEXT,
    document_id BLOB,
    chunk_index INTEGER NOT NULL,
    turn INTEGER NOT NULL,
    part INTEGER NOT NULL,
    start_char INTEGER NOT NULL,
    end_char INTEGER NOT NULL,
    previous_id BLOB,
    subject TEXT,
    polarity INTEGER NOT NULL,
    modality TEXT,
    precision TEXT,
    offset_min INTEGER,
    valid_from INTEGER,
    valid_until INTEGER,
    created_at INTEGER NOT NULL,
    updated_at INTEGER,
    importance REAL,
    note TEXT,
    attributes TEXT,
    metadata TEXT,
    entities TEXT,
    text TEXT NOT NULL,
    PRIMARY KEY (bank_key, unit_id)
);
CREATE INDEX unit_by_id ON unit (unit_id, bank_key);
CREATE INDEX unit_by_time ON unit (bank_key, mentioned_at, unit_id, layer);
-- A source and what was read from it, side by side: one look-up finds both.
CREATE INDEX unit_by_source ON unit (bank_key, COALESCE(source_id, unit_id));
CREATE INDEX unit_by_document ON unit (bank_key, document_id) WHERE document_id IS NOT NULL;
CREATE INDEX unit_by_previous ON unit (bank_key, previous_id) WHERE previous_id IS NOT NULL;

-- What the index alone reads of a unit, so that the rows of `unit` are short and a page holds many.
-- A unit read from a source has no row unless it has terms. window_terms: NULL when they are the
-- same as terms.
CREATE TABLE search (
    bank_key INTEGER NOT NULL,
    unit_id BLOB NOT NULL,
    terms BLOB NOT NULL,
    window_terms BLOB,
    PRIMARY KEY (bank_key, unit_id)
);

-- window_codes: NULL when there is no window vector, empty when it equals the unit's own.
CREATE TABLE vector (
    bank_key INTEGER NOT NULL,
    generation INTEGER NOT NULL,
    unit_id BLOB NOT NULL,
    codes BLOB NOT NULL,
    scale REAL NOT NULL,
    window_codes BLOB,
    window_scale REAL,
    PRIMARY KEY (bank_key, generation, unit_id)
);

-- The units that have no vector of a generation: exactly unit x generation minus vector.
CREATE TABLE pending (
    bank_key INTEGER NOT NULL,
    generation INTEGER NOT NULL,
    unit_id BLOB NOT NULL,
    PRIMARY KEY (bank_key, generation, unit_id)
) WITHOUT ROWID;
CREATE INDEX pending_by_generation ON pending (generation, bank_key, unit_id);

CREATE TABLE access (
    bank_key INTEGER NOT NULL,
    unit_id BLOB NOT NULL,
    count INTEGER NOT NULL,
    last_at INTEGER,
    PRIMARY KEY (bank_key, unit_id)
) WITHOUT ROWID;

CREATE TABLE entity (
    bank_key INTEGER NOT NULL,
    entity_id BLOB NOT NULL,
    name TEXT NOT NULL,
    kind TEXT NOT NULL,
    aliases TEXT,
    mention_count INTEGER NOT NULL,
    first_seen INTEGER,
    last_seen INTEGER,
    PRIMARY KEY (bank_key, entity_id)
) WITHOUT ROWID;
CREATE UNIQUE INDEX entity_by_name ON entity (bank_key, name);
CREATE INDEX entity_by_count ON entity (bank_key, mention_count DESC, name);

CREATE TABLE mention (
    bank_key INTEGER NOT NULL,
    unit_id BLOB NOT NULL,
    entity_id BLOB NOT NULL,
    mentioned_at INTEGER NOT NULL,
    layer INTEGER NOT NULL,
    PRIMARY KEY (bank_key, unit_id, entity_id)
) WITHOUT ROWID;
CREATE INDEX mention_by_time ON mention (bank_key, entity_id, mentioned_at, unit_id, layer);

CREATE TABLE link (
    bank_key INTEGER NOT NULL,
    source BLOB NOT NULL,
    type INTEGER NOT NULL,
    target BLOB NOT NULL,
    weight REAL NOT NULL,
    PRIMARY KEY (bank_key, source, type, target)
) WITHOUT ROWID;
CREATE INDEX link_by_target ON link (bank_key, target, type, weight);

CREATE TABLE change (
    bank_key INTEGER NOT NULL,
    revision INTEGER NOT NULL,
    seq INTEGER NOT NULL,
    op INTEGER NOT NULL,
    unit_id BLOB NOT NULL,
    PRIMARY KEY (bank_key, revision, seq)
) WITHOUT ROWID;

-- ready_at: when a worker may take the job; NULL once it has ended.
CREATE TABLE job (
    bank_key INTEGER NOT NULL,
    job_id BLOB NOT NULL,
    kind TEXT NOT NULL,
    state TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    payload TEXT NOT NULL,
    result TEXT,
    error TEXT,
    attempts INTEGER NOT NULL,
    run_after INTEGER NOT NULL,
    lease_until INTEGER,
    fence INTEGER NOT NULL,
    ready_at INTEGER,
    PRIMARY KEY (bank_key, job_id)
);
CREATE INDEX job_open ON job (created_at, job_id, kind, ready_at, bank_key)
    WHERE ready_at IS NOT NULL;
CREATE INDEX job_by_creation ON job (bank_key, created_at, job_id, state);

-- "trigger" is a reserved word.
CREATE TABLE due (
    bank_key INTEGER NOT NULL,
    trigger_id BLOB NOT NULL,
    due_at INTEGER NOT NULL,
    payload TEXT NOT NULL,
    PRIMARY KEY (bank_key, trigger_id)
);
CREATE INDEX due_by_time ON due (due_at, trigger_id);

CREATE TABLE blob (
    bank_key INTEGER NOT NULL,
    key TEXT NOT NULL,
    expires_at INTEGER,
    value BLOB NOT NULL,
    PRIMARY KEY (bank_key, key)
);
CREATE INDEX blob_by_expiry ON blob (expires_at) WHERE expires_at IS NOT NULL;

-- What the planner is told instead of counting: a bank may hold 100,000 rows, everything after the
-- bank's key narrows to a few. Without it, a bank's key alone is taken to be as good as an id, and
-- a look-up of 20 ids walks the whole bank.
ANALYZE;
DELETE FROM sqlite_stat1;
INSERT INTO sqlite_stat1 (tbl, idx, stat) VALUES
    ('document', 'sqlite_autoindex_document_1', '100000 10000 1'),
    ('document', 'document_by_name', '100000 10000 1'),
    ('document', 'document_by_update', '100000 10000 2 1'),
    ('chunk', 'sqlite_autoindex_chunk_1', '1000000 100000 10 1'),
    ('unit', 'sqlite_autoindex_unit_1', '1000000 100000 1'),
    ('unit', 'unit_by_id', '1000000 1 1'),
    ('unit', 'unit_by_time', '1000000 100000 4 1 1'),
    ('unit', 'unit_by_source', '1000000 100000 3'),
    ('unit', 'unit_by_document', '1000000 100000 10'),
    ('unit', 'unit_by_previous', '500000 50000 1'),
    ('search', 'sqlite_autoindex_search_1', '1000000 100000 1'),
    ('vector', 'sqlite_autoindex_vector_1', '1000000 100000 100000 1'),
    ('access', 'access', '1000000 100000 1'),
    ('pending', 'pending', '1000 100 100 1'),
    ('pending', 'pending_by_generation', '1000 1000 100 1'),
    ('entity', 'entity', '100000 10000 1'),
    ('entity', 'entity_by_name', '100000 10000 1'),
    ('entity', 'entity_by_count', '100000 10000 10 1'),
    ('mention', 'mention', '1000000 100000 2 1'),
    ('mention', 'mention_by_time', '1000000 100000 20 2 1 1'),
    ('link', 'link', '1000000 100000 10 3 1'),
    ('link', 'link_by_target', '1000000 100000 10 3 1'),
    ('change', 'change', '1000000 100000 20 1');
