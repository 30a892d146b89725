-- The data keys of tenants, each wrapped in a key that is kept elsewhere; see `keeping.sealing`.
CREATE TABLE tenant_key (
    tenant TEXT PRIMARY KEY,
    key_id BLOB NOT NULL,
    wrapped BLOB NOT NULL
) WITHOUT ROWID;
CREATE UNIQUE INDEX tenant_key_by_id ON tenant_key (key_id);

-- sealed: 1 once the names in the bank's rows, by which SQL looks things up, are sealed.
ALTER TABLE bank ADD COLUMN sealed INTEGER NOT NULL DEFAULT 0;

INSERT INTO sqlite_stat1 (tbl, idx, stat) VALUES
    ('tenant_key', 'tenant_key', '1000 1'),
    ('tenant_key', 'tenant_key_by_id', '1000 1');
