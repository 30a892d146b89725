-- What facts say of attributes of subjects, by slot: which value holds when follows from these rows
-- alone. begins, ends, ended_by and against are what follows.
CREATE TABLE claim (
    bank_key INTEGER NOT NULL,
    unit_id BLOB NOT NULL,
    number INTEGER NOT NULL,
    slot TEXT NOT NULL,
    value TEXT NOT NULL,
    stance INTEGER NOT NULL,
    at INTEGER NOT NULL,
    since INTEGER,
    until INTEGER,
    flags INTEGER NOT NULL,
    begins INTEGER,
    ends INTEGER,
    ended_by BLOB,
    against BLOB,
    PRIMARY KEY (bank_key, unit_id, number)
) WITHOUT ROWID;
CREATE INDEX claim_by_slot ON claim (bank_key, slot, at, unit_id, number);

INSERT INTO sqlite_stat1 (tbl, idx, stat) VALUES
    ('claim', 'claim', '1000000 100000 2 1'),
    ('claim', 'claim_by_slot', '1000000 100000 3 1 1 1');
