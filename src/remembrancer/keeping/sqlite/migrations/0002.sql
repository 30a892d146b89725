-- Small JSON rows beside memories: webhooks, audit entries and the like.
CREATE TABLE record (
    bank_key INTEGER NOT NULL,
    kind TEXT NOT NULL,
    key TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    data TEXT NOT NULL,
    PRIMARY KEY (bank_key, kind, key)
);
CREATE INDEX record_by_creation ON record (bank_key, kind, created_at, key);
CREATE INDEX record_by_kind ON record (kind, created_at, bank_key, key);

-- What a unit says, as a key: units of one bank with the same key say the same.
CREATE TABLE sameness (
    bank_key INTEGER NOT NULL,
    unit_id BLOB NOT NULL,
    same BLOB NOT NULL,
    PRIMARY KEY (bank_key, unit_id)
) WITHOUT ROWID;
CREATE INDEX sameness_by_key ON sameness (bank_key, same, unit_id);

-- What people have done to units: invalid ones are kept and no longer found. data: why, when, and
-- what stood there before.
CREATE TABLE curation (
    bank_key INTEGER NOT NULL,
    unit_id BLOB NOT NULL,
    invalid INTEGER NOT NULL,
    data TEXT NOT NULL,
    PRIMARY KEY (bank_key, unit_id)
);
CREATE INDEX curation_invalid ON curation (bank_key, unit_id) WHERE invalid = 1;

INSERT INTO sqlite_stat1 (tbl, idx, stat) VALUES
    ('record', 'sqlite_autoindex_record_1', '100000 10000 1000 1'),
    ('record', 'record_by_creation', '100000 10000 1000 2 1'),
    ('record', 'record_by_kind', '100000 10000 2 1 1'),
    ('sameness', 'sameness', '1000000 100000 1'),
    ('sameness', 'sameness_by_key', '1000000 100000 2 1'),
    ('curation', 'sqlite_autoindex_curation_1', '1000 100 1'),
    ('curation', 'curation_invalid', '1000 100 1');
