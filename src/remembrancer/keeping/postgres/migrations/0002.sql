-- The data keys of tenants, each wrapped in a key that is kept elsewhere; see `keeping.sealing`.
CREATE TABLE tenant_key (
    tenant text COLLATE "C" PRIMARY KEY,
    key_id bytea NOT NULL,
    wrapped bytea NOT NULL
);
CREATE INDEX tenant_key_by_id ON tenant_key (key_id);

-- sealed: 1 once the names in the bank's rows, by which SQL looks things up, are sealed.
ALTER TABLE bank ADD COLUMN sealed bigint NOT NULL DEFAULT 0;
